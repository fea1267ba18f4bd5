"""The C header of a GPU solution: entries, grids, blocks, shared memory, and functions that load and launch them.

C99 and C++11, for the CUDA driver API or, on AMD, for HIP: both differ in names only. The text itself is `header.h.in`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..lowering.gpu.launch import Launch
from ..machine.gpu_target import GpuTarget
from ..native.whole_file import filled
from ..problem import names
from ..problem.dtypes import DType, Kind
from ..problem.problem import Problem
from ..problem.wording import in_c_order

TEMPLATE = Path(__file__).with_name("header.h.in")
# The names of a driver's interface. POINTER: type of device addresses; NUMBER: the cast of one to an integer.
CUDA = {
    "INCLUDE": "cuda.h", "STATUS": "CUresult", "SUCCESS": "CUDA_SUCCESS", "MODULE": "CUmodule",
    "FUNCTION": "CUfunction", "POINTER": "CUdeviceptr", "NUMBER": "", "STREAM": "CUstream", "LOAD": "cuModuleLoad",
    "LOADDATA": "cuModuleLoadData", "GET": "cuModuleGetFunction", "UNLOAD": "cuModuleUnload",
    "LAUNCH": "cuLaunchKernel", "INDENT": " " * 26,
}  # fmt: skip
HIP = {
    "INCLUDE": "hip/hip_runtime_api.h", "STATUS": "hipError_t", "SUCCESS": "hipSuccess", "MODULE": "hipModule_t",
    "FUNCTION": "hipFunction_t", "POINTER": "hipDeviceptr_t", "NUMBER": "(size_t)", "STREAM": "hipStream_t",
    "LOAD": "hipModuleLoad", "LOADDATA": "hipModuleLoadData", "GET": "hipModuleGetFunction",
    "UNLOAD": "hipModuleUnload", "LAUNCH": "hipModuleLaunchKernel", "INDENT": " " * 8,
}  # fmt: skip


def text(
    problem: Problem, target: GpuTarget, plan: str, launches: Sequence[Launch], version: str, gibs: float | None
) -> str:
    """The header. launches: per kind of scalars the plan's own kernel, then the one for single elements."""
    stem, compute = names.stem(problem), problem.compute
    source = "a" if not problem.conjugate else "conj(a)"
    told = {
        "STEM": stem,
        "GUARD": names.guard(stem),
        "VERSION": version,
        "CODE": f"{stem}{'.ptx or .cubin' if target.is_nvidia else '.hsaco'}",
        "RULE": "b <- a" if compute.kind is Kind.OPAQUE else f"b <- alpha * {source} + beta * b",
        "TYPES": f"{problem.a} and {problem.b}",
        "FACTS": "\n".join(_facts(problem, target, plan, gibs)),
        "COUNT": str(len(launches)),
        "CONSTANTS": "\n".join(line for launch in launches for line in _constants(launch)),
        "ENTRIES": "\n".join(f"        {launch.entry}_ENTRY," for launch in launches),
        "KERNELS": "\n".join(map(_kernel, launches)),
        "SCALARS": scalar_parameters(compute),
        "LOCALS": scalar_copies(compute),
        "CHOICE": chosen_kind(compute),
        "PASSED": passed_scalars(compute),
    }
    return filled(TEMPLATE, told | (CUDA if target.is_nvidia else HIP))


def _facts(problem: Problem, target: GpuTarget, plan: str, gibs: float | None) -> list[str]:
    columns = {"perm": problem.perm, "size": problem.size, "lda": problem.outer_a, "ldb": problem.outer_b}
    facts = {name: ",".join(map(str, values)) for name, values in columns.items()}
    facts |= {"C order": in_c_order(problem)} if problem.is_row_major else {}
    facts |= {"target": str(target), "plan": plan}
    facts |= {} if gibs is None else {"measured": f"{gibs:.1f} GiB/s"}
    return [f" * {name}: {fact}".rstrip() for name, fact in facts.items()]


def _constants(launch: Launch) -> list[str]:
    """Of a kernel, under its own name."""
    facts = {"ENTRY": f'"{launch.entry}"', "GRID": launch.grid, "BLOCK": launch.block, "SHARED": launch.shared}
    return [f"#define {launch.entry}_{name} {value}" for name, value in facts.items()]


def _kernel(launch: Launch) -> str:
    numbers = (launch.grid, launch.block, launch.align_a, launch.align_b)
    return f"        {{{''.join(f'{number}u, ' for number in numbers)}{scalars_taken(launch)}}},"


def scalars_taken(launch: Launch) -> str:
    """1 or 0 for alpha, and for beta: which of them a kernel takes."""
    return ", ".join(str(int(any(p.name == name for p in launch.parameters))) for name in ("alpha", "beta"))


def _real(compute: DType) -> str:
    return "double" if compute.real_bits == 64 else "float"


def scalar_parameters(compute: DType) -> str:
    """Parameters of the function that launches, for alpha and beta."""
    if compute.kind is Kind.OPAQUE:
        return ""
    kind = f"const {_real(compute)} *" if compute.kind is Kind.COMPLEX else f"{_real(compute)} "
    return f"{kind}alpha, {kind}beta, "


def scalar_copies(compute: DType) -> str:
    """Copies of complex scalars, whose addresses the launch takes."""
    if compute.kind is not Kind.COMPLEX:
        return ""
    return f"    {_real(compute)} alphas[2] = {{alpha[0], alpha[1]}}, betas[2] = {{beta[0], beta[1]}};\n"


def chosen_kind(compute: DType) -> str:
    """Statements that choose the kind of kernel: copy, scale, update, clear, rescale, two kernels each."""
    if compute.kind is Kind.OPAQUE:
        return "    int k = 0;"
    if compute.kind is Kind.COMPLEX:
        alpha_zero, beta_zero = (f"({name}[0] == 0 && {name}[1] == 0)" for name in ("alphas", "betas"))
        one = "(alphas[0] == 1 && alphas[1] == 0)"
    else:
        alpha_zero, beta_zero, one = "alpha == 0", "beta == 0", "alpha == 1"
    return (
        f"    int unread = {alpha_zero}, unkept = {beta_zero};\n"
        f"    int k = 2 * (unread ? (unkept ? 3 : 4) : !unkept ? 2 : {one} ? 0 : 1);"
    )


def passed_scalars(compute: DType) -> str:
    """Statements that add alpha and beta to a launch's parameters, where its kernel takes them."""
    if compute.kind is Kind.OPAQUE:
        return "    (void)count;"
    lines = []
    for name in ("alpha", "beta"):
        parts = (f"&{name}s[0]", f"&{name}s[1]") if compute.kind is Kind.COMPLEX else (f"&{name}",)
        lines += [f"    if (kernels[k].{name}) {{"]
        lines += [f"        parameters[count++] = {part};" for part in parts]
        lines += ["    }"]
    return "\n".join(lines)

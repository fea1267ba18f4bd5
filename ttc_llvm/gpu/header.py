"""The C header of a GPU solution: entries, grids, blocks, shared memory, and functions that load and launch them.

C99 and C++11, for the CUDA driver API or, on AMD, for HIP: both differ in names only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..lowering.gpu.launch import Launch
from ..machine.gpu_target import GpuTarget
from ..problem import names
from ..problem.dtypes import DType, Kind
from ..problem.problem import Problem


@dataclass(frozen=True, slots=True)
class Api:
    """The names of a driver's interface. pointer: type of device addresses; number: one of them as an integer."""

    include: str
    status: str
    success: str
    invalid: str
    module: str
    function: str
    pointer: str
    number: str
    stream: str
    load: str
    load_data: str
    get: str
    launch: str
    unload: str


CUDA = Api(
    "cuda.h", "CUresult", "CUDA_SUCCESS", "CUDA_ERROR_INVALID_VALUE", "CUmodule", "CUfunction", "CUdeviceptr",
    "{}", "CUstream", "cuModuleLoad", "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel", "cuModuleUnload",
)  # fmt: skip
HIP = Api(
    "hip/hip_runtime_api.h", "hipError_t", "hipSuccess", "hipErrorInvalidValue", "hipModule_t", "hipFunction_t",
    "hipDeviceptr_t", "(size_t){}", "hipStream_t", "hipModuleLoad", "hipModuleLoadData", "hipModuleGetFunction",
    "hipModuleLaunchKernel", "hipModuleUnload",
)  # fmt: skip


def text(
    problem: Problem, target: GpuTarget, plan: str, launches: Sequence[Launch], version: str, gibs: float | None
) -> str:
    """The header. launches: per kind of scalars the plan's own kernel, then the one for single elements."""
    api, stem = (CUDA if target.is_nvidia else HIP), names.stem(problem)
    guard = names.guard(stem)
    parts = [
        _comment(problem, target, plan, version, gibs),
        f"#ifndef {guard}\n#define {guard}\n",
        f"#include <stddef.h>\n#include <{api.include}>\n",
        _constants(launches),
        _types(stem, api, launches),
        _loading(stem, api, launches),
        _launching(problem, stem, api, launches),
        f"#endif /* {guard} */\n",
    ]
    return "\n".join(parts)


def _comment(problem: Problem, target: GpuTarget, plan: str, version: str, gibs: float | None) -> str:
    stem = names.stem(problem)
    source = "a" if not problem.conjugate else "conj(a)"
    rule = "b <- a" if problem.compute.kind is Kind.OPAQUE else f"b <- alpha * {source} + beta * b"
    columns = {
        "perm": problem.perm, "size": problem.size, "lda": problem.outer_a, "ldb": problem.outer_b,
    }  # fmt: skip
    code = f"{stem}{'.ptx or .cubin' if target.is_nvidia else '.hsaco'}"
    lines = [
        f"{stem}.h: kernels of {code}, written by ttc_llvm {version}",
        f"{rule}, a = A[i], b = B[perm(i)], column-major, types {problem.a} and {problem.b}",
        *(f"{name}: {','.join(map(str, values))}" for name, values in columns.items()),
        f"target: {target}",
        f"plan: {plan}",
        *(() if gibs is None else (f"measured: {gibs:.1f} GiB/s",)),
        "",
        f"{stem}_load reads a file of code, {stem}_load_data an image in memory; a context must be current.",
        f"{stem}_launch enqueues the transposition and returns: A and B must not overlap and stay until the",
        "stream has come so far. alpha = 0: A is not read. beta = 0: B is not read. Padding is never written.",
        "Complex scalars are passed by pointer: real part, imaginary part. Those that equal 1 do not multiply.",
    ]
    return "/* " + "\n".join(f" * {line}".rstrip() for line in lines).removeprefix(" * ") + "\n */"


def _constants(launches: Sequence[Launch]) -> str:
    """Of every kernel, under its own name."""
    lines = []
    for launch in launches:
        facts = {"ENTRY": f'"{launch.entry}"', "GRID": launch.grid, "BLOCK": launch.block, "SHARED": launch.shared}
        lines += [f"#define {launch.entry}_{name} {value}" for name, value in facts.items()]
    return "\n".join(lines) + "\n"


def _types(stem: str, api: Api, launches: Sequence[Launch]) -> str:
    return "\n".join(
        [
            f"typedef struct {stem}_module {{",
            f"    {api.module} module;",
            f"    {api.function} kernels[{len(launches)}];",
            f"}} {stem}_module;\n",
        ]
    )


def _loading(stem: str, api: Api, launches: Sequence[Launch]) -> str:
    count = len(launches)
    bound = "\n".join(
        [
            f"static inline {api.status} {stem}_bound({stem}_module *loaded)",
            "{",
            f"    static const char *const entries[{count}] = {{",
            *(f"        {launch.entry}_ENTRY," for launch in launches),
            "    };",
            f"    {api.status} status = {api.success};",
            "    int k;",
            f"    for (k = 0; k < {count} && status == {api.success}; ++k)",
            f"        status = {api.get}(&loaded->kernels[k], loaded->module, entries[k]);",
            f"    if (status != {api.success})",
            f"        (void){api.unload}(loaded->module);",
            "    return status;",
            "}\n",
        ]
    )
    loaders = [
        "\n".join(
            [
                f"static inline {api.status} {stem}_{name}({stem}_module *loaded, const {kind} *{what})",
                "{",
                f"    {api.status} status = {call}(&loaded->module, {what});",
                f"    return status == {api.success} ? {stem}_bound(loaded) : status;",
                "}\n",
            ]
        )
        for name, kind, what, call in (
            ("load", "char", "path", api.load),
            ("load_data", "void", "image", api.load_data),
        )
    ]
    unload = "\n".join(
        [
            f"static inline {api.status} {stem}_unload({stem}_module *loaded)",
            "{",
            f"    return {api.unload}(loaded->module);",
            "}\n",
        ]
    )
    return "\n".join([bound, *loaders, unload])


# --- launching ------------------------------------------------------------------------------------------


def _launching(problem: Problem, stem: str, api: Api, launches: Sequence[Launch]) -> str:
    compute = problem.compute
    arguments = "".join(f", {kind}{name}" for kind, name in _scalars(compute))
    rows = [
        f"        {{{x.grid}u, {x.block}u, {x.align_a}u, {x.align_b}u, {_takes(x, 'alpha')}, {_takes(x, 'beta')}}},"
        for x in launches
    ]
    number_a, number_b = (api.number.format(name) for name in "AB")
    body = [
        f"static inline {api.status} {stem}_launch(",
        f"    const {stem}_module *loaded, {api.pointer} A, {api.pointer} B{arguments}, {api.stream} stream)",
        "{",
        "    static const struct {",
        "        unsigned grid, block, align_a, align_b;",
        "        int alpha, beta;",
        f"    }} kernels[{len(launches)}] = {{",
        *rows,
        "    };",
        *_locals(compute),
        "    void *parameters[6];",
        "    int count = 2;",
        *_choice(compute),
        f"    if ({number_a} % kernels[k].align_a || {number_b} % kernels[k].align_b)",
        "        ++k;",
        "    if (kernels[k].grid == 0)",
        f"        return {api.success};",
        "    parameters[0] = &A;",
        "    parameters[1] = &B;",
        *_passed(compute),
        f"    return {api.launch}(loaded->kernels[k], kernels[k].grid, 1, 1, kernels[k].block, 1, 1, 0, stream,",
        "                          parameters, NULL);" if api is CUDA else "        parameters, NULL);",
        "}\n",
    ]
    return "\n".join(body)


def _takes(launch: Launch, scalar: str) -> int:
    return int(any(parameter.name == scalar for parameter in launch.parameters))


def _real(compute: DType) -> str:
    return "double" if compute.real_bits == 64 else "float"


def _scalars(compute: DType) -> list[tuple[str, str]]:
    if compute.kind is Kind.OPAQUE:
        return []
    kind = f"const {_real(compute)} *" if compute.kind is Kind.COMPLEX else f"{_real(compute)} "
    return [(kind, "alpha"), (kind, "beta")]


def _locals(compute: DType) -> list[str]:
    """Copies of complex scalars, whose addresses the launch takes."""
    if compute.kind is not Kind.COMPLEX:
        return []
    return [f"    {_real(compute)} alphas[2] = {{alpha[0], alpha[1]}}, betas[2] = {{beta[0], beta[1]}};"]


def _choice(compute: DType) -> list[str]:
    """Which kind of kernel: copy, scale, update, clear, rescale, two kernels each."""
    if compute.kind is Kind.OPAQUE:
        return ["    int k = 0;"]
    if compute.kind is Kind.COMPLEX:
        zero = {name: f"({name}[0] == 0 && {name}[1] == 0)" for name in ("alphas", "betas")}
        alpha_zero, beta_zero, one = zero["alphas"], zero["betas"], "(alphas[0] == 1 && alphas[1] == 0)"
    else:
        alpha_zero, beta_zero, one = "alpha == 0", "beta == 0", "alpha == 1"
    return [
        f"    int unread = {alpha_zero}, unkept = {beta_zero};",
        f"    int k = 2 * (unread ? (unkept ? 3 : 4) : !unkept ? 2 : {one} ? 0 : 1);",
    ]


def _passed(compute: DType) -> list[str]:
    if compute.kind is Kind.OPAQUE:
        return ["    (void)count;"]
    lines = []
    for name in ("alpha", "beta"):
        parts = (f"&{name}s[0]", f"&{name}s[1]") if compute.kind is Kind.COMPLEX else (f"&{name}",)
        lines += [f"    if (kernels[k].{name}) {{"]
        lines += [f"        parameters[count++] = {part};" for part in parts]
        lines += ["    }"]
    return lines

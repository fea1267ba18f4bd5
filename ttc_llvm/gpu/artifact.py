"""The files of a solution for a GPU: PTX, cubin, AMD code objects, LLVM IR, and the header that launches them.

One file of code holds a kernel for each kind of alpha and beta, and each of them once more for tensors at addresses
that its vectors do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__, arguments
from ..errors import OptionError
from ..lazy_dataclasses import dataclass
from ..lowering.gpu import lower as gpu_lower
from ..lowering.gpu.launch import GpuImage
from ..native.marks import MARK, check, marked
from ..native.publish import publish
from ..problem import names
from ..problem.canonical import canonicalise
from ..problem.dtypes import Kind
from ..problem.kinds import COPY, UPDATE, Alpha, Beta, Kinds
from ..problem.problem import Problem
from ..runtime import backend
from . import header, tools
from . import kernel as gpu_kernel

if TYPE_CHECKING:
    from ..compiling.gpu_solution import GpuSolution

OWN = "kernel"  # the kind that means the machine's own form
KINDS: dict[str, Kinds] = {
    "copy": COPY,
    "scale": Kinds(Alpha.ANY, Beta.ZERO),
    "update": UPDATE,
    "clear": Kinds(Alpha.ZERO, Beta.ZERO),
    "rescale": Kinds(Alpha.ZERO, Beta.ANY),
}  # in the order in which the header's launch function counts them
ENDINGS = {
    "ptx": ".ptx", "cubin": ".cubin", "hsaco": ".hsaco", "header": ".h", "obj": ".o", "llvm": ".ll", "asm": ".s",
}  # fmt: skip
EACH = ("obj", "llvm", "asm")  # kinds of which every kernel has a file of its own
SINGLE = "_single"  # ends the entry that takes tensors at any addresses of whole elements


@dataclass(frozen=True, slots=True)
class Bundle:
    """All kernels of a solution: per kind of scalars the plan's own and the one for single elements."""

    solution: GpuSolution
    images: tuple[GpuImage, ...]

    @property
    def stem(self) -> str:
        """The C name."""
        return names.stem(self.solution.problem)


def bundle(solution: GpuSolution) -> Bundle:
    """Build all kernels of a solution."""
    problem, target = solution.problem, solution.target
    images = []
    for word in _kinds_of(problem):
        canonical = canonicalise(problem, KINDS[word]).canonical
        plan = solution.plan_for(KINDS[word])
        entry = f"{names.stem(problem)}_{word}"
        images.append(gpu_kernel.build(canonical, plan, target, entry, marked))
        single = gpu_lower.unaligned(canonical, plan)
        images.append(gpu_kernel.build(canonical, single, target, entry + SINGLE, marked))
    return Bundle(solution, tuple(images))


def _kinds_of(problem: Problem) -> tuple[str, ...]:
    return ("copy",) if problem.compute.kind is Kind.OPAQUE else tuple(KINDS)


def write(
    solution: GpuSolution, directory: Path, emit: Sequence[str] | None = None, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write the wanted files, all or none, and return their paths in the order of `emit`.

    OptionError for an unknown kind, a directory that cannot be written and, without `overwrite`, another's file in the
    place of one of these; ArtifactError where a tool is missing.
    """
    nvidia = solution.target.is_nvidia
    wanted = checked(emit, nvidia)
    check(directory, file_names(solution.problem, nvidia, wanted), overwrite)
    made = bundle(solution)
    return publish(directory, [file for kind in wanted for file in _KINDS[nvidia][kind](made)], overwrite)


def file_names(problem: Problem, nvidia: bool, emit: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the files of these kinds."""
    stem = names.stem(problem)
    entries = [f"{stem}_{word}{end}" for word in _kinds_of(problem) for end in ("", SINGLE)]
    found: list[str] = []
    for kind in checked(emit, nvidia):
        found += [f"{name}{ENDINGS[kind]}" for name in (entries if kind in EACH else [stem])]
    return tuple(found)


def checked(emit: Sequence[str] | None, nvidia: bool, subject: str = "emit ") -> tuple[str, ...]:
    """The kinds of files that are meant, by default code and header. subject: of messages, before a kind."""
    wanted = (OWN, "header") if emit is None else arguments.texts("emit", emit)
    for kind in wanted:
        if kind != OWN and kind not in _KINDS[nvidia]:
            which = f"the choices for {'an NVIDIA' if nvidia else 'an AMD'} GPU are {', '.join(kinds(nvidia))}"
            raise OptionError(f"{subject}{arguments.cut(kind)}: {which}")
    return tuple(dict.fromkeys(own(nvidia) if kind == OWN else kind for kind in wanted))


def own(nvidia: bool) -> str:
    """The kind of file that programs load."""
    return "ptx" if nvidia else "hsaco" if tools.linker() else "obj"


def kinds(nvidia: bool) -> tuple[str, ...]:
    """The words that `emit` accepts."""
    return tuple(_KINDS[nvidia])


# --- contents -------------------------------------------------------------------------------------------

Files = list[tuple[str, bytes]]

def ptx(made: Bundle) -> bytes:
    """One PTX text of all kernels: what stands before the first kernel is the same in each."""
    return one_text(made.stem, f"// plan: {made.solution.plan}\n", made.images)


def one_text(stem: str, words: str, images: Sequence[GpuImage], data: str = "") -> bytes:
    """The PTX text of these kernels. words: lines behind the mark; data: what stands before the kernels."""
    texts = [image.code.decode("ascii").partition(".address_size 64\n") for image in images]
    head = f"// {stem}.ptx: {MARK}\n{words}"
    return (head + texts[0][0] + texts[0][1] + data + "".join(body for _, _, body in texts)).encode("ascii")


def _ptx(made: Bundle) -> Files:
    return [(f"{made.stem}.ptx", ptx(made))]


def _cubin(made: Bundle) -> Files:
    return [(f"{made.stem}.cubin", tools.cubin(ptx(made), made.solution.target))]


def _hsaco(made: Bundle) -> Files:
    return [
        (f"{made.stem}.hsaco", tools.code_object([image.code for image in made.images], made.solution.target))
    ]


def _objects(made: Bundle) -> Files:
    return [(f"{image.launch.entry}.o", image.code) for image in made.images]


def _header(made: Bundle) -> Files:
    solution = made.solution
    gibs = None if solution.measurement is None else solution.measurement.gibs
    launches = [image.launch for image in made.images]
    described = header.text(solution.problem, solution.target, str(solution.plan), launches, __version__, gibs)
    return [(f"{made.stem}.h", described.encode())]


def _llvm(made: Bundle) -> Files:
    return [(f"{image.launch.entry}.ll", image.llvm_ir.encode()) for image in made.images]


def _assembly(made: Bundle) -> Files:
    target = made.solution.target
    head = f"// {MARK}\n" if target.is_nvidia else ""  # PTX has no directive for it
    return [
        (f"{image.launch.entry}.s", (head + backend.assembly(image.llvm_ir, target)).encode())
        for image in made.images
    ]


_Make = Callable[[Bundle], Files]
_COMMON: dict[str, _Make] = {"header": _header, "llvm": _llvm, "asm": _assembly}
_KINDS: dict[bool, dict[str, _Make]] = {
    True: {"ptx": _ptx, "cubin": _cubin, **_COMMON},
    False: {"hsaco": _hsaco, "obj": _objects, **_COMMON},
}

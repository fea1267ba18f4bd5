"""The launch of a GPU kernel: entry, grid, block, parameters in order, and its code."""

from __future__ import annotations

from enum import Enum

from ...lazy_dataclasses import dataclass
from ...machine.gpu_target import GpuTarget
from ...problem.canonical import Canonical
from ...problem.dtypes import DType, Kind
from ...problem.kinds import Alpha, Beta
from ...problem.reference_loops import ReferenceLoops

BLOCK = 256  # threads of a block of the naive nest


class Slot(Enum):
    """The machine type of one parameter."""

    POINTER = "pointer"  # 8 bytes: a device address
    F32 = "f32"
    F64 = "f64"


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """One parameter of a kernel. name: `A`, `B`, `alpha`, `alpha_imag`, `beta` or `beta_imag`."""

    name: str
    slot: Slot


@dataclass(frozen=True, slots=True)
class Launch:
    """The launch of a kernel.

    entry: its symbol; grid: blocks along x, 0 = there is nothing to do and nothing may be launched; block: threads
    along x; shared: bytes of shared memory of one block, which the code reserves itself (none at the launch);
    parameters: in order, A and B being the addresses of the canonical form's element 0; align_a, align_b: bytes of
    which these addresses must be multiples.
    """

    entry: str
    grid: int
    block: int
    shared: int
    parameters: tuple[KernelParameter, ...]
    align_a: int
    align_b: int

    def fits(self, a: int, b: int) -> bool:
        """True where a kernel may be launched on tensors at these addresses."""
        return a % self.align_a == 0 and b % self.align_b == 0


@dataclass(frozen=True, slots=True)
class GpuImage:
    """A compiled kernel. plan: the text of its plan; llvm_ir: the module as built; code: PTX text (ASCII) for NVIDIA,
    a relocatable object for AMD, which ld.lld turns into a code object."""

    target: GpuTarget
    plan: str
    launch: Launch
    llvm_ir: str
    code: bytes


def scalar_slots(compute: DType) -> tuple[Slot, ...]:
    """The parts of a scalar of this type as parameters: real, then imaginary where there is one."""
    if compute.kind is Kind.OPAQUE:
        return ()
    slot = Slot.F64 if compute.real_bits == 64 else Slot.F32
    return (slot, slot) if compute.kind is Kind.COMPLEX else (slot,)


def parameters(canonical: Canonical) -> tuple[KernelParameter, ...]:
    """A kernel's parameters: both tensors, then the parts of those scalars that its kinds leave open."""
    kinds = canonical.kinds
    return arguments(kinds.alpha is Alpha.ANY, kinds.beta is Beta.ANY, canonical.compute)


def arguments(alpha: bool, beta: bool, compute: DType) -> tuple[KernelParameter, ...]:
    """Parameters of a kernel that takes these scalars, in the type of the arithmetic."""
    return (
        KernelParameter("A", Slot.POINTER),
        KernelParameter("B", Slot.POINTER),
        *(
            KernelParameter(name + suffix, slot)
            for name, needed in (("alpha", alpha), ("beta", beta))
            if needed
            for suffix, slot in zip(("", "_imag"), scalar_slots(compute), strict=False)
        ),
    )


# --- the naive loop nest: one thread an element, numbered in the order in which the nest would reach them --


def reference_blocks(nest: ReferenceLoops) -> int:
    """The grid: so many blocks of BLOCK threads."""
    return -(-nest.elements // BLOCK)


def reference_parameters(nest: ReferenceLoops) -> tuple[KernelParameter, ...]:
    """Its kernel's parameters: both tensors, and the parts of those scalars that take part."""
    return arguments(nest.scales, nest.reads_b, nest.compute)


def reference_launch(nest: ReferenceLoops, entry: str) -> Launch:
    """The launch of its kernel."""
    return Launch(entry, reference_blocks(nest), BLOCK, 0, reference_parameters(nest), nest.a.itemsize, nest.b.itemsize)

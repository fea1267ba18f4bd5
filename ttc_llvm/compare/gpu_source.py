"""The naive loop nest in CUDA C++: one thread an element, numbered in the order in which the nest would reach them."""

from __future__ import annotations

from ..lowering.gpu.launch import BLOCK, Slot, reference_parameters
from ..problem.dtypes import Kind
from ..problem.reference_loops import ReferenceLoops
from . import source

_SLOTS = {Slot.F32: "float", Slot.F64: "double"}


def reference(nest: ReferenceLoops, entry: str) -> str:
    """A whole source: the kernel `entry`, to be launched as `reference_launch` says."""
    scalars = [f"{_SLOTS[p.slot]} {p.name}" for p in reference_parameters(nest)[2:]]
    tensors = ["const type_a *__restrict__ from", "type_b *__restrict__ into"]
    counter = "unsigned" if nest.fits_int else "uint64_t"
    return "\n".join(
        [
            _DEFINITIONS,
            *source.types(nest),
            "",
            f'extern "C" __global__ void __launch_bounds__({BLOCK}) {entry}({", ".join([*tensors, *scalars])})',
            "{",
            f"    {counter} rest = static_cast<{counter}>(blockIdx.x) * {BLOCK} + threadIdx.x;",
            f"    if (rest >= {nest.elements})",
            "        return;",
            *_indices(nest, counter),
            *(f"    const wide {short} = {_scalar(nest, name)};" for short, name in source.taken(nest)),
            *source.element(nest, "    "),
            "}",
            "",
        ]
    )


_DEFINITIONS = """#include <stdint.h>

namespace {
template <typename T> struct __align__(2 * sizeof(T)) complex_of { T re, im; };
template <int N> struct item { unsigned char byte[N]; };
}"""


def _indices(nest: ReferenceLoops, counter: str) -> list[str]:
    """The innermost loop's index first; what is left in the end is the outermost one's."""
    lines = []
    for loop in reversed(nest.loops[1:]):
        lines += [f"    const {counter} i{loop.number} = rest % {loop.extent};", f"    rest /= {loop.extent};"]
    return [*lines, f"    const {counter} i{nest.loops[0].number} = rest;"]


def _scalar(nest: ReferenceLoops, name: str) -> str:
    return f"{{{name}, {name}_imag}}" if nest.compute.kind is Kind.COMPLEX else name

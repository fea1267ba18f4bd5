"""Our own contenders: the solution, the ceilings (the same bytes without permutation), and the tiles' own limits."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import replace

from .. import kernel
from ..canonical import UPDATE, Beta, Canonical, Placed, canonicalise
from ..dtypes import Kind
from ..executable import Executable
from ..plan import CpuPlan
from ..stored_plans import Planned
from ..trial import scalars
from ..tuning import buffers, peak
from ..tuning.peak import Ceiling
from .stand import Contender, Stand, foreign, native

OURS = "ttc"
MEMCPY, TILED, PATTERN = "memcpy", "tiled copy", "pattern"
CEILING_SCALARS = (2.0, 0.5)  # repeated, y <- 2 x + y / 2 neither grows nor vanishes


def solution(stand: Stand, planned: Planned) -> Contender:
    """Our plan: as Python calls it where cold, in a native loop where hot."""
    addresses = stand.a.address, stand.b.address
    if stand.case.hot:
        code = planned.objects.get(str(planned.plan))
        built = kernel.cache.obtain(stand.canonical, planned.plan, stand.target, code)
        return native(OURS, stand.canonical, built, addresses, stand.scalars, stand.threads)
    executable = Executable(Placed(stand.canonical, 0, 0), planned.plan, stand.target, planned.objects)
    values = scalars(stand.canonical, *stand.scalars)
    at = 0 if values is None else int(values.ctypes.data)

    def run(repeats: int, keep: object = values) -> None:
        for _ in range(repeats):
            executable.run(*addresses, at, stand.threads)

    return Contender(OURS, stand.canonical.bytes_moved, run)


def main_ceiling(stand: Stand) -> str:
    """The name of the ceiling that the case is compared with."""
    if stand.case.hot and stand.canonical.kinds.beta is Beta.ZERO and stand.threads == 1:
        return MEMCPY
    return peak.of(stand.canonical, hot=stand.case.hot).value


def ceilings(stand: Stand) -> list[Contender]:
    """SAXPY, streaming and ordinary copy of as many elements, of the problem's own types; memcpy where hot."""
    found = [contender for which in Ceiling for contender in _walks(stand, which)]
    if stand.case.hot and stand.threads == 1:
        found += _memcpy(stand)
    return found


def _walks(stand: Stand, which: Ceiling) -> Iterator[Contender]:
    problem = stand.case.problem
    if which is Ceiling.SAXPY and problem.compute.kind is Kind.OPAQUE:
        return
    kinds = UPDATE if which is Ceiling.SAXPY else None
    form = canonicalise(replace(problem, alpha=1.0, beta=0.0), kinds).canonical
    addresses = _starts(stand)
    for variant, (flat, plan) in enumerate(peak.walks(form, which, stand.target)):
        if _fits(stand, flat):
            built = kernel.cache.obtain(flat, plan, stand.target)
            if addresses[1] % built.alignment:  # hot tensors begin where the case has them
                built = kernel.cache.obtain(flat, plan.ordinary, stand.target)
            yield native(which.value, flat, built, addresses, CEILING_SCALARS, stand.threads, variant)


def _starts(stand: Stand) -> tuple[int, int]:
    """Where copies begin: aligned, unless the case is hot and its tensors are kept apart."""
    if stand.case.hot:
        return stand.base("a"), stand.base("b")
    return int(stand.a.memory.ctypes.data), int(stand.b.memory.ctypes.data)


def _fits(stand: Stand, flat: Canonical) -> bool:
    """True where both buffers hold what a form addresses."""
    ends = [int(tensor.memory.ctypes.data) + len(tensor.memory) for tensor in (stand.a, stand.b)]
    sides = zip(("a", "b"), (flat.a, flat.b), _starts(stand), ends, strict=True)
    return all(end - start >= buffers.span(flat, side).elements * t.itemsize > 0 for side, t, start, end in sides)


def _memcpy(stand: Stand) -> Iterator[Contender]:
    """The C library's memcpy of A's bytes, called by the native loop that calls our kernels."""
    try:
        address = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value
    except (AttributeError, OSError, TypeError):
        return
    size = stand.canonical.elements * min(stand.canonical.a.itemsize, stand.canonical.b.itemsize)
    if address:
        a, b = _starts(stand)
        copy = foreign(MEMCPY, stand, address, (b, a, size), None)
        yield replace(copy, bytes_moved=2 * size, foreign=False)


def tiled(stand: Stand, plan: CpuPlan) -> Iterator[Contender]:
    """The plan's own tiles walked in the same order, but over tensors of one layout: nothing is permuted."""
    for side in ("b", "a"):
        steps = stand.canonical.strides(side)
        axes = tuple(
            replace(axis, stride_a=step, stride_b=step) for axis, step in zip(stand.canonical.axes, steps, strict=True)
        )
        flat = replace(stand.canonical, axes=axes)
        if _fits(stand, flat):
            wanted = plan if side == "b" else plan.ordinary
            built = kernel.cache.obtain(flat, wanted, stand.target)
            yield native(TILED, flat, built, _starts(stand), CEILING_SCALARS, stand.threads)
            return


def pattern(stand: Stand, plan: CpuPlan) -> Iterator[Contender]:
    """The plan's own tiles on the problem's own layouts: the same rows read and written, nothing permuted inside."""
    from . import pattern as patterns

    addresses = stand.a.address, stand.b.address
    aligned = addresses[1] % (stand.target.vector_bits // 8) == 0
    built = patterns.build(stand.canonical, plan if aligned else plan.ordinary, stand.target)
    yield native(PATTERN, stand.canonical, built, addresses, CEILING_SCALARS, stand.threads)

"""Runs that A and B share: axes that are contiguous in both tensors, forwards or backwards, such as mirrored pixels.

Where nothing goes backwards, canonical forms merge such axes into one.
"""

from __future__ import annotations

from ..problem.canonical import Canonical, Param, static

LONG_ROW = 64  # bytes: rows of a vector are moved as they are
OFF = 16  # bytes behind a line where NumPy's and malloc's large arrays begin


def shared_run(canonical: Canonical) -> int:
    """The number of axes, from the innermost, that make up a run of B and one of A, each forwards or backwards. No axis
    goes on from rows that are long enough by themselves."""
    return _run(canonical, shared=True)


def short_rows(canonical: Canonical, block: tuple[int, ...]) -> int:
    """The same of B alone, where its rows lie across those of A: several axes where rows are short and follow each
    other, such as interleaved channels, or longer ones that micro-tiles have whole, as those of narrow matrices, if
    some steps of them lead from 16 bytes behind a line to a boundary. 1 where A and B share the contiguous axis."""
    if canonical.axes[0].stride_a in (1, -1):
        return 1
    row = canonical.bounds[0] * canonical.b.itemsize
    is_whole = block[0] == canonical.bounds[0] and row % (2 * OFF) > 0
    return _run(canonical, shared=False, longest=max(LONG_ROW, row + 1) if is_whole else LONG_ROW)


def _run(canonical: Canonical, shared: bool, longest: int = LONG_ROW) -> int:
    length = 1
    for found, axis in enumerate(canonical.axes):
        if axis.stride_b != length or (shared and axis.stride_a not in (length, -length)):
            return found
        if isinstance(axis.extent, Param) or length * axis.extent * canonical.b.itemsize >= longest:
            return found + 1
        length *= axis.extent
    return len(canonical.axes)


def mirrored_axis(canonical: Canonical) -> int | None:
    """The outermost axis of the shared run, if it goes backwards in A."""
    outermost = shared_run(canonical) - 1
    return outermost if outermost >= 0 and static(canonical.axes[outermost].stride_a) < 0 else None


def is_mirrored(canonical: Canonical) -> bool:
    """True where some axis of the shared run goes backwards in A."""
    return any(static(axis.stride_a) < 0 for axis in canonical.axes[: shared_run(canonical)])

"""Kernels of copies that permute nothing, as functions for `integer_code`: bytes of one array become those of another.

The C library knows what its machine copies fastest, as long as both arrays are in the caches; lines of larger results
are written past them. Parameters: bytes in all, bytes of a task, the address of memcpy.
"""

from __future__ import annotations

from .words import call, copy_line_past, fence, load64

SIZE, STEP, COPY = 0, 8, 16
LINE = 64


def copy_bytes(a: int, b: int, scalars: int, params: int, scratch: int, begin: int, end: int) -> None:
    """The tasks from `begin` up to `end`, by memcpy, one by one, which is faster than 1 MiB and more at once where B
    begins on a line, and slower where it does not: what comes before one of several is copied apart."""
    step, copy = load64(params + STEP), load64(params + COPY)
    first, last = begin * step, min(end * step, load64(params + SIZE))
    if last - first > step:
        head = min(-(b + first) & LINE - 1, last - first)
        call(copy, b + first, a + first, head)
        first += head
    while first < last:
        call(copy, b + first, a + first, min(step, last - first))
        first += step


def copy_bytes_past(a: int, b: int, scalars: int, params: int, scratch: int, begin: int, end: int) -> None:
    """The same, whole lines of B past the caches."""
    first, last = begin * load64(params + STEP), min(end * load64(params + STEP), load64(params + SIZE))
    if first < last:
        copy_past(a + first, b + first, last - first, load64(params + COPY))
        fence(0)


def copy_past(of: int, to: int, size: int, copy: int) -> None:
    """Copy some bytes, whole lines past the caches, which only `fence` puts in order. copy: the address of memcpy."""
    stop, head = to + size, min(-to & LINE - 1, size)
    call(copy, to, of, head)
    of, to = of + head, to + head
    while to + 4 * LINE <= stop:
        copy_line_past(to, of)
        copy_line_past(to + LINE, of + LINE)
        copy_line_past(to + 2 * LINE, of + 2 * LINE)
        copy_line_past(to + 3 * LINE, of + 3 * LINE)
        of, to = of + 4 * LINE, to + 4 * LINE
    while to + LINE <= stop:
        copy_line_past(to, of)
        of, to = of + LINE, to + LINE
    call(copy, to, of, stop - to)

"""The blocks that large results lie in: mapped by the system, each with a head before it.

These are functions for `integer_code`; `state` is the address of the words that `result_fields` describes.
"""

from __future__ import annotations

from .result_fields import CHUNK, FRESH, HEAD, HUGE, LEAST_HUGE, LIBC, SIZE
from .words import call, call32, load64, store64

# The same numbers on x86-64 and AArch64.
READ_WRITE, PRIVATE_ANONYMOUS = 0x3, 0x22
ADVISE_HUGE, ADVISE_POPULATE = 14, 23


def size_class(size: int) -> int:
    """The size of the blocks that serve requests of a size: an eighth more at most."""
    step = HEAD
    while step * 16 <= size:
        step *= 2
    return (size + step - 1) & -step


def tag(size: int) -> int:
    """The size of a class in a few bits."""
    shift = 16
    while size >> shift > 16:
        shift += 1
    return shift << 5 | size >> shift


def tagged_size(word: int) -> int:
    """The size of the class whose tag a word has in its lowest bits."""
    tag = word & (HEAD - 1)
    return (tag & 31) << (tag >> 5)


def mapped(state: int, asked: int) -> int:
    """A block for a request, of which no page has been touched; 0 where the system refuses."""
    size = size_class(asked)
    align = HUGE if size >= LEAST_HUGE else HEAD
    start = call(load64(state + LIBC["mmap"]), 0, size + HEAD + align, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0)
    if start == -1:
        return 0
    block = (start + HEAD + align - 1) & -align
    _unmap(state, start, block - HEAD - start)
    _unmap(state, block + size, start + HEAD + align - block)
    if align == HUGE:
        call32(load64(state + LIBC["madvise"]), block, _huge_part(asked), ADVISE_HUGE)
    store64(block - SIZE, size)
    store64(block - FRESH, 1)
    return block


def _huge_part(asked: int) -> int:
    """The bytes of a request to be in huge pages: all, where the last one wastes a sixteenth at most."""
    whole = (asked + HUGE - 1) & -HUGE
    return whole if (whole - asked) * 16 <= asked else whole - HUGE


def _unmap(state: int, start: int, size: int) -> None:
    if size:
        call32(load64(state + LIBC["munmap"]), start, size)


def unmap_block(state: int, block: int, size: int) -> None:
    """Give a block, with its head, back to the system."""
    _unmap(state, block - HEAD, HEAD + size)


def populate(block: int, size: int, state: int, _params: int, _scratch: int, begin: int, end: int) -> None:
    """A kernel, whose tasks are chunks of a fresh block: has the system give their pages, in one go."""
    start = begin * CHUNK
    call32(load64(state + LIBC["madvise"]), block + start, min(end * CHUNK, size) - start, ADVISE_POPULATE)

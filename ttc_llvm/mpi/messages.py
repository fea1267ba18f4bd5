"""Messages between ranks for a permutation, from the two distributions alone: of boxes, cut into chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import prod

from ..lazy_dataclasses import NamedTuple, dataclass
from .distribution import Distribution
from .shared_parts import Piece, partners, pieces

Box = tuple[Piece, ...]  # one piece of each axis, in A's order: all combinations of their indices
Perm = tuple[int, ...]


class Message(NamedTuple):
    """The elements that one rank sends another. peer: the other rank; chunks: of boxes, in the order of sending."""

    peer: int
    chunks: tuple[tuple[Box, ...], ...]

    @property
    def size(self) -> int:
        """Elements."""
        return sum(size(box) for chunk in self.chunks for box in chunk)


@dataclass(frozen=True, slots=True)
class Traffic:
    """One rank's part of a permutation: what it sends, what it receives, and what it keeps."""

    sends: tuple[Message, ...]
    receives: tuple[Message, ...]
    kept: tuple[Box, ...]


def size(box: Box) -> int:
    """The number of elements."""
    return prod(piece.extent * piece.blocks for piece in box)


def traffic(a: Distribution, perm: Perm, b: Distribution, rank: int, most: int) -> Traffic:
    """The part of a rank in B = A.transpose(perm). most: elements of a chunk.

    Where several ranks have copies of a part, the receiver takes its own; else copies serve the receivers in turn.
    """
    sends = {q: boxes for q, boxes in _shared(a, perm, b, rank, of_b=False)}
    receives = {p: boxes for p, boxes in _shared(a, perm, b, rank, of_b=True)}
    kept = sends.pop(rank, ())
    receives.pop(rank, None)
    return Traffic(_messages(sends, perm, rank, a, most), _messages(receives, perm, rank, a, most), kept)


def _shared(
    a: Distribution, perm: Perm, b: Distribution, rank: int, of_b: bool
) -> Iterator[tuple[int, tuple[Box, ...]]]:
    """The ranks that a rank sends to (of_b: receives from), and what."""
    axes_b = [b.axes[perm.index(k)] for k in range(len(perm))]  # in A's order, as all that follows
    pairs = list(zip(a.axes, axes_b, strict=True))
    parts_b = b.parts(rank)
    mine = [parts_b[perm.index(k)] for k in range(len(perm))] if of_b else list(a.parts(rank))
    choices = [partners(x, y, part, of_b) for (x, y), part in zip(pairs, mine, strict=True)]
    for others in product(*choices):
        in_a, in_b = (others, mine) if of_b else (mine, others)
        sources = a.owners(in_a)
        targets = [rank] if of_b else b.owners([in_b[k] for k in perm])
        served = [q for q in targets if of_b or _source(sources, q) == rank]
        if served:
            each = (pieces(x, y, p, q) for (x, y), p, q in zip(pairs, in_a, in_b, strict=True))
            boxes = tuple(product(*each))
            yield from ((_source(sources, rank) if of_b else q, boxes) for q in served)


def _source(sources: Sequence[int], target: int) -> int:
    return target if target in sources else sources[target % len(sources)]


def _messages(
    found: dict[int, tuple[Box, ...]], perm: Perm, rank: int, a: Distribution, most: int
) -> tuple[Message, ...]:
    """The messages, those to the next rank first: so that not all ranks begin with the same one."""
    ranks = a.ranks
    order = sorted(found, key=lambda peer: (peer - rank) % ranks)
    return tuple(Message(peer, chunked(found[peer], perm, most)) for peer in order)


# --- chunks ----------------------------------------------------------------------------------------------


def chunked(boxes: Sequence[Box], perm: Perm, most: int) -> tuple[tuple[Box, ...], ...]:
    """The boxes, cut where they are larger, in chunks of at most so many elements."""
    chunks: list[list[Box]] = []
    filled = most
    for box in (part for whole in boxes for part in _cut(whole, perm, most)):
        if filled + size(box) > most:
            chunks.append([])
            filled = 0
        chunks[-1].append(box)
        filled += size(box)
    return tuple(map(tuple, chunks))


def _cut(box: Box, perm: Perm, most: int) -> Iterator[Box]:
    """A box in parts of about equal extents, cut first along the axes that are contiguous in neither tensor: kernels
    read and write long runs of the others."""
    wanted = -(-size(box) // most)
    if wanted <= 1:
        yield box
        return
    last = len(box) - 1
    k = max(range(len(box)), key=lambda k: (_most_parts(box[k]) > 1, k not in (last, perm[-1]), _most_parts(box[k])))
    for piece in _parts(box[k], min(wanted, _most_parts(box[k]))):
        yield from _cut((*box[:k], piece, *box[k + 1 :]), perm, most)


def _most_parts(piece: Piece) -> int:
    return piece.blocks if piece.blocks > 1 else piece.extent


def _parts(piece: Piece, parts: int) -> Iterator[Piece]:
    """A piece cut into so many: between its blocks, or inside the only one."""
    total = _most_parts(piece)
    bounds = [total * k // parts for k in range(parts + 1)]
    for begin, end in pairwise(bounds):
        if piece.blocks == 1:
            yield Piece(end - begin, piece.first_a + begin, piece.first_b + begin)
            continue
        first = piece.first_a + begin * piece.step_a, piece.first_b + begin * piece.step_b
        one = end - begin == 1
        yield Piece(piece.extent, *first, end - begin, 0 if one else piece.step_a, 0 if one else piece.step_b)

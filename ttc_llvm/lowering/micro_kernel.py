"""Micro-kernels of matrix products: the tile of C that a machine keeps in registers, and blocks for its caches."""

from __future__ import annotations

from ..lazy_dataclasses import dataclass
from ..machine.target import Target
from ..problem import dtypes
from ..problem.dtypes import DType, Kind

# Registers of the machine -> registers of a column, and columns. What is left holds rows of A and an element of B.
_TILES = {16: (3, 4), 32: (3, 8), 64: (4, 8)}
_UNFUSED = (2, 4)  # products have to be held, too
SHARED = 4 << 20  # bytes of packed columns: a share of the last cache
SOME = 3  # tiles of rows that are worth an own pass over all columns


@dataclass(frozen=True, slots=True)
class MicroKernel:
    """A tile of C in registers, of rows that follow each other in memory: C[i, j] = sum A[k, i] * B[k, j].

    Complex numbers are two rows of A, and two columns of B: both products with a number of A side by side.
    lanes: real numbers in a register; vectors: registers of a column; width: columns, of real numbers; fused: multiply
    and add are one instruction; by_lanes: which takes its factor out of a register of several; way: bytes of the second
    cache beside which its sets begin anew.
    """

    dtype: DType
    lanes: int
    vectors: int
    width: int
    fused: bool
    by_lanes: bool
    way: int

    @classmethod
    def of(cls, dtype: str, target: Target) -> MicroKernel:
        """The micro-kernel of a machine."""
        kind = dtypes.dtype(dtype)
        lanes = max(1, target.vector_bits // kind.real_bits)
        vectors, width = _TILES[min(64, target.registers)] if target.fused else _UNFUSED
        return cls(kind, lanes, vectors, width, target.fused, target.by_lanes, target.l2 // target.l2_ways)

    @property
    def parts(self) -> int:
        """Real numbers in an element."""
        return 2 if self.dtype.kind is Kind.COMPLEX else 1

    @property
    def rows(self) -> int:
        """Rows of the tile, in elements."""
        return self.lanes * self.vectors // self.parts

    @property
    def columns(self) -> int:
        """Columns of the tile, in elements."""
        return self.width // self.parts

    @property
    def group(self) -> int:
        """Elements of a register."""
        return self.lanes // self.parts

    @property
    def piece(self) -> int:
        """Elements of a register that are written at an offset of their own."""
        return piece(self.group)

    @property
    def tile_bytes(self) -> int:
        """Bytes of the registers of a tile."""
        return self.lanes * self.dtype.real_bits // 8 * self.vectors * self.width

    def streams(self, target: Target) -> bool:
        """True where a machine has non-temporal stores, and joins registers to lines wherever these begin."""
        return target.streams and target.joins(4)


def piece(group: int) -> int:
    """Half a register of so many elements, where that has two."""
    return group // 2 if group > 2 else group


@dataclass(frozen=True, slots=True)
class Blocks:
    """Rows, columns and terms that are packed at a time."""

    rows: int
    columns: int
    terms: int


def blocks(
    kernel: MicroKernel, target: Target, sizes: tuple[int, int, int], streams: bool = False, share: int = 4
) -> Blocks:
    """The blocks of a product of m, n and k. A tile's columns of B take a third of L1, or half of it where the terms
    are one block then: C is written once; rows of A this share of L2, columns of B one of the last cache.

    streams: C is written by non-temporal stores, which share their buffers with loads from L2: rows of A take three
    quarters of L1, if these are some tiles.
    """
    m, n, k = sizes
    size = kernel.dtype.itemsize
    third, half = (target.l1 // share // (size * kernel.columns) for share in (3, 2))
    terms = k if 0 < k <= half else -(-k // max(1, -(-k // third)))
    near = target.l1 * 3 // 4 // (size * terms)
    most = near if streams and near >= SOME * kernel.rows else target.l2 // share // (size * terms)
    rows = _whole(most, kernel.rows, m)
    columns = _whole(SHARED // (size * terms), kernel.columns, n)
    return Blocks(rows, columns, terms)


def _whole(most: int, tile: int, extent: int) -> int:
    """The largest multiple of a tile below a limit, if the extent needs so much."""
    return min(max(1, most // tile), -(-extent // tile)) * tile

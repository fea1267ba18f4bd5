"""The functions of registers that `macro_kernel` calls, and ways to write C.

They are given to `integer_code` as IR; here are their signatures."""

from __future__ import annotations

SET, ADD, STREAM, KEEP = range(4)
"""C becomes the product; is scaled and added to; becomes the product by non-temporal stores (`stream_tile`). KEEP: the
tile's registers are stored one behind the other."""
TURNED = 4
"""More than SET or ADD where alpha or beta are complex: for tiles that are scattered."""
PIECES = 8
"""More than SET where each half of a register has an offset of its own (`lowering.micro_kernel.piece`)."""


def multiply_tile(depth: int, a: int, b: int, c: int, rows: int, columns: int, scalars: int, way: int) -> int:
    """See `micro_kernel.add_micro_kernel`."""
    raise NotImplementedError


BY_LINES, BY_ROWS, BY_COLUMNS, BY_HALVES = range(1, 5)
"""Ways of non-temporal stores: each line by itself; lines that begin anywhere, and go on with the next tile of rows; of
which a tile's columns follow each other; of which the first halves of columns do, and the second ones."""


def stream_tile(
    depth: int, a: int, b: int, c: int, rows: int, columns: int, scalars: int, how: int, carry: int
) -> int:
    """See `streaming.add_stream`."""
    raise NotImplementedError


def flush_tile(c: int, rows: int, columns: int, how: int, carry: int) -> int:
    """See `streaming.add_flush`."""
    raise NotImplementedError


def multiply_part(
    registers: int, depth: int, a: int, b: int, c: int, rows: int, columns: int, scalars: int, way: int
) -> int:
    """The same of so many registers of each column. See `micro_kernel.add_micro_kernels`."""
    raise NotImplementedError


def scatter_tile(
    tile: int, c: int, rows: int, columns: int, scalars: int, way: int, m: int, n: int, flags: int
) -> int:
    """See `scatter.add_scatter`."""
    raise NotImplementedError


def pack_rows(panel: int, source: int, rows: int, terms: int, depth: int) -> int:
    """See `pack.add_packer`: a register's rows of A."""
    raise NotImplementedError


def pack_turned(
    places: int, source: int, rows: int, terms: int, depth: int, width: int, height: int, first: int, ahead: int,
    later: int,
) -> int:
    """See `pack.add_turned_packer`: rows of A, to as many places as there are of those that follow each other in it."""
    raise NotImplementedError


def pack_runs(
    places: int, source: int, rows: int, terms: int, depth: int, width: int, count: int, step: int
) -> int:
    """See `pack.add_run_packer`: runs of rows or columns, to a place each."""
    raise NotImplementedError


def pack_columns(panel: int, source: int, rows: int, terms: int, depth: int) -> int:
    """See `pack.add_packer`: a tile's columns of B."""
    raise NotImplementedError

"""What LLVM makes of micro-tiles: full-width accesses, no spills, no gathers, bounded shuffles, real streaming.

Everything is compiled for named machines, so that it runs wherever LLVM has an x86 back end.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache

import pytest
from emissions import shared_text

from ttc_llvm.ir_builders import module
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.machine import lookup
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.kinds import COPY, Alpha, Beta, Kinds
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend

UPDATE = Kinds(Alpha.ANY, Beta.ANY)
SCALE = Kinds(Alpha.ANY, Beta.ZERO)
SHUFFLE = re.compile(r"v?p?(unpck|shuf|perm|blend|insert|extract|align|broadcast|movlh|movhl|movddup)")
SPILL = re.compile(r"\(%rsp\).*%[xyz]mm|%[xyz]mm.*\(%rsp\)")


@dataclass(frozen=True)
class Code:
    """Assembly, instruction by instruction, in blocks between labels."""

    blocks: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, text: str) -> Code:
        blocks: list[list[str]] = [[]]
        for line in text.splitlines():
            stripped = line.partition("#")[0].strip()
            if re.match(r"[.\w]+:", stripped):
                blocks.append([])
            elif stripped and not stripped.startswith("."):
                blocks[-1].append(" ".join(stripped.split()))
        return cls(tuple(map(tuple, blocks)))

    @property
    def every(self) -> tuple[str, ...]:
        """All instructions."""
        return tuple(line for block in self.blocks for line in block)

    @property
    def tile(self) -> tuple[str, ...]:
        """The block that moves most vectors: the micro-tile's loop."""
        return max(self.blocks, key=lambda block: sum("mm" in line for line in block))

    def spills(self) -> list[str]:
        """Vector moves to and from the stack."""
        return [line for line in self.every if SPILL.search(line)]


def mnemonic(line: str) -> str:
    return line.split()[0]


def loads(lines: tuple[str, ...], register: str) -> int:
    """Instructions that read memory into, or together with, a register of this width."""
    return sum(bool(re.search(rf"\(%r.*\), ?(%{register}\d+, ?)?%{register}\d+$", line)) for line in lines)


def stores(lines: tuple[str, ...], register: str) -> int:
    """Instructions that write a register of this width to memory."""
    return sum(bool(re.search(rf"^\S*mov\S* %{register}\d+, [^%]*\(%r", line)) for line in lines)


def shuffles(lines: tuple[str, ...]) -> int:
    return sum(bool(SHUFFLE.match(mnemonic(line)) and not INSERT.match(line)) for line in lines)


def inserts(lines: tuple[str, ...]) -> int:
    """Pieces of registers that are loaded into place."""
    return sum(bool(INSERT.match(line)) for line in lines)


@lru_cache(maxsize=128)
def compiled(
    machine: str,
    dtype: str,
    block: tuple[int, int],
    kinds: Kinds = COPY,
    store: Store = Store.CACHED,
    size: tuple[int, int] = (256, 256),
    prefetch: int = 0,
    pieces: bool = True,
) -> Code:
    """A 2-D transposition of this size in tiles of 4 x 4 blocks. pieces: rows may be loaded in pieces."""
    wanted = lookup.find(machine) if pieces else replace(lookup.find(machine), insert_bits=0)
    c = canonicalise(Problem((1, 0), size, dtype), kinds).canonical
    tile = (4 * block[0], 4 * block[1])
    plan = CpuPlan(tile, block, (1, 0), (1, 0), 1, prefetch, store)
    return Code.parse(backend.assembly(str(module.build(lower(c, plan, wanted), wanted)), wanted))


def shared_edges(machine: str, dtype: str, edge: int, kinds: Kinds = COPY) -> Code:
    """Three axes with remainders, whose edges share one micro-tile."""
    wanted = lookup.find(machine)
    return Code.parse(backend.assembly(shared_text(wanted, dtype, edge, kinds), wanted))


INSERT = re.compile(r"vinsert[fi](128|32x4|64x2|32x8|64x4) \$\d, [^%]*\(%r")
SQUARES = [
    # machine, dtype, edge, register, shuffles of a plain copy where whole registers are loaded
    ("avx512", "s", 16, "zmm", 64),
    ("avx512", "d", 8, "zmm", 24),
    ("avx512", "c", 8, "zmm", 24),
    ("avx512", "z", 4, "zmm", 8),
    ("avx512", "i16", 16, "ymm", 64),
    ("knl", "s", 16, "zmm", 64),
    ("knl", "d", 8, "zmm", 24),
    ("avx2", "s", 8, "ymm", 24),
    ("avx2", "d", 4, "ymm", 8),
    ("avx2", "c", 4, "ymm", 8),
    ("avx2", "z", 2, "ymm", 2),
    ("avx2", "i32", 8, "ymm", 24),
    ("avx2", "i16", 8, "xmm", 24),
    ("sse2", "s", 4, "xmm", 8),
    ("sse2", "d", 2, "xmm", 2),
    ("sse2", "i16", 8, "xmm", 24),
]
IDS = [f"{machine}-{dtype}-{edge}x{edge}" for machine, dtype, edge, _, _ in SQUARES]


@pytest.mark.parametrize(("machine", "dtype", "edge", "register", "count"), SQUARES, ids=IDS)
def test_a_square_copy_of_whole_rows_is_loads_shuffles_and_stores(
    machine: str, dtype: str, edge: int, register: str, count: int
) -> None:
    code = compiled(machine, dtype, (edge, edge), pieces=False)
    assert loads(code.tile, register) == edge
    assert stores(code.tile, register) == edge
    assert shuffles(code.tile) <= count
    assert not code.spills()
    vectors = sum("mm" in line for line in code.tile)
    copies = edge * 2 if machine == "sse2" else 0  # two-operand instructions overwrite their left side
    assert vectors <= 2 * edge + count + copies


IN_PIECES = [
    # machine, dtype, edge, register, shuffles and inserts of a plain copy
    ("avx512", "s", 16, "zmm", 48, 16),
    ("avx512", "d", 8, "zmm", 16, 8),
    ("avx512", "c", 8, "zmm", 16, 8),
    ("avx512", "z", 4, "zmm", 4, 4),
    ("avx512", "i16", 32, "zmm", 96, 96),
    ("avx512", "i8", 64, "zmm", 256, 192),
    ("knl", "s", 16, "zmm", 48, 16),
    ("avx2", "s", 8, "ymm", 16, 8),
    ("avx2", "d", 4, "ymm", 4, 4),
    ("avx2", "z", 2, "ymm", 0, 2),
    ("avx512", "s", 8, "ymm", 24, 0),
    ("avx512", "i16", 16, "ymm", 48, 16),
    ("avx2", "i16", 16, "ymm", 48, 16),
    ("sse2", "s", 4, "xmm", 8, 0),
]


@pytest.mark.parametrize(
    ("machine", "dtype", "edge", "register", "count", "pieces"),
    IN_PIECES,
    ids=[f"{r[0]}-{r[1]}-{r[2]}x{r[2]}" for r in IN_PIECES],
)
def test_pieces_of_rows_are_inserted_by_their_loads(
    machine: str, dtype: str, edge: int, register: str, count: int, pieces: int
) -> None:
    """Every piece is one load, alone or with its insertion, and no insertion is a shuffle of registers."""
    code = compiled(machine, dtype, (edge, edge))
    assert inserts(code.tile) == pieces
    assert shuffles(code.tile) <= count
    assert stores(code.tile, register) == edge
    assert not code.spills()
    vectors = sum("mm" in line for line in code.tile)
    copies = edge * 2 if machine == "sse2" else 0
    assert vectors <= 2 * edge + count + pieces + copies


@pytest.mark.parametrize(("rows", "pieces"), [(1024, 0), (1024 + 16, 16)])
def test_rows_that_crowd_a_cache_set_are_loaded_once(rows: int, pieces: int) -> None:
    """Sixteen rows 4 KiB apart fall into one set of eight lines: a second piece would find its line gone."""
    assert inserts(compiled("avx512", "s", (16, 16), size=(rows, 256)).tile) == pieces


def test_edges_known_at_run_time_are_loaded_whole() -> None:
    """The masks of one ragged body say which elements exist: in pieces they would be sixty-four."""
    code = shared_edges("avx512", "s", 16)
    assert inserts(code.every) == 32
    assert inserts(code.tile) == 0


ARITHMETIC = [row for row in SQUARES if row[1] in "sdcz"]


@pytest.mark.parametrize("kinds", [SCALE, UPDATE], ids=str)
@pytest.mark.parametrize(
    ("machine", "dtype", "edge", "register", "count"), ARITHMETIC, ids=[f"{r[0]}-{r[1]}" for r in ARITHMETIC]
)
def test_scaling_and_updating_need_no_spills_and_no_narrow_accesses(
    machine: str, dtype: str, edge: int, register: str, count: int, kinds: Kinds
) -> None:
    code = compiled(machine, dtype, (edge, edge), kinds, pieces=False)
    reads = edge * (2 if kinds.beta is Beta.ANY else 1)
    assert loads(code.tile, register) == reads
    assert stores(code.tile, register) == edge
    assert not code.spills()
    swaps = reads if dtype in "cz" else 0  # real and imaginary parts change places
    assert shuffles(code.tile) <= count + swaps
    assert not [line for line in code.every if "fmadd" in line or "fmsub" in line or "fmaddsub" in line]


MIXED = [("sd", 8, "zmm", 1), ("ds", 8, "ymm", 2), ("cz", 4, "zmm", 1), ("zc", 4, "ymm", 2)]


@pytest.mark.parametrize(("pair", "edge", "register", "of_b"), MIXED)
def test_mixed_types_convert_whole_registers(pair: str, edge: int, register: str, of_b: int) -> None:
    """The narrower side converts: A once on the way in; B on the way out, and on the way in if it is read."""
    for kinds, times in ((COPY, 1), (UPDATE, of_b)):
        code = compiled("avx512", pair, (edge, edge), kinds)
        assert stores(code.tile, register) == edge
        assert sum("cvt" in line for line in code.tile) == edge * times
        assert not code.spills()


@pytest.mark.parametrize(
    ("machine", "dtype", "edge", "per_element"),
    [("avx512", "i8", 64, 0.2), ("avx512", "i8", 32, 0.25), ("avx512", "i16", 32, 0.26), ("avx2", "i8", 32, 0.3),
     ("avx2", "i8", 16, 0.45), ("avx2", "i16", 16, 0.45), ("sse2", "i8", 16, 0.6)],
)  # fmt: skip
def test_tiles_of_more_rows_than_registers_stay_cheap(
    machine: str, dtype: str, edge: int, per_element: float
) -> None:
    """Small elements fill whole registers with more rows than there are registers: some spills, no collapse."""
    code = compiled(machine, dtype, (edge, edge))
    assert len(code.tile) <= per_element * edge * edge
    rows = max(edge - lookup.find(machine).registers, 2)
    assert len(code.spills()) <= 4 * rows


@pytest.mark.parametrize("kinds", [COPY, UPDATE], ids=str)
@pytest.mark.parametrize("machine", ["sse2", "avx", "avx2", "avx512", "knl"])
@pytest.mark.parametrize("size", [(256, 256), (253, 250), (3, 1000)])
def test_no_gathers_and_no_calls_to_libraries(machine: str, size: tuple[int, int], kinds: Kinds) -> None:
    lanes = lookup.find(machine).lanes(4)
    block = (min(lanes, size[1]), min(lanes, size[0]))
    code = compiled(machine, "s", block, kinds, size=size)
    assert not [line for line in code.every if "gather" in line or "scatter" in line]
    assert all("ragged" in line for line in code.every if line.startswith("call"))


STREAMS = [
    ("avx512", "s", 16, "zmm"),
    ("avx512", "d", 8, "zmm"),
    ("avx512", "z", 4, "zmm"),
    ("avx512", "i8", 64, "zmm"),
    ("avx2", "s", 8, "ymm"),
    ("avx2", "d", 4, "ymm"),
    ("avx2", "i16", 16, "ymm"),
    ("avx", "s", 8, "ymm"),
    ("sse2", "s", 4, "xmm"),
]


def streaming_stores(lines: tuple[str, ...], register: str) -> int:
    return sum(bool(re.match(rf"v?movnt\w+ %{register}\d+,", line)) for line in lines)


@pytest.mark.parametrize(("machine", "dtype", "edge", "register"), STREAMS)
def test_streaming_stores_are_full_width_and_fenced(
    machine: str, dtype: str, edge: int, register: str
) -> None:
    code = compiled(machine, dtype, (edge, edge), store=Store.ALIGNED)
    assert streaming_stores(code.tile, register) == edge
    assert sum("movnt" in line for line in code.every) == edge
    assert code.every.count("sfence") == 1
    plain = compiled(machine, dtype, (edge, edge))
    assert not [line for line in plain.every if "movnt" in line or "sfence" in line]


@pytest.mark.parametrize(
    ("machine", "block", "columns", "register", "count"),
    [
        ("avx2", (8, 8), 256, "ymm", 8),
        ("avx2", (8, 8), 250, "ymm", 0),  # only every fourth row starts on 32 bytes: mixed rows do not pay
        ("avx2", (4, 8), 256, "xmm", 8),
        ("avx2", (4, 8), 252, "xmm", 0),
        ("avx512", (16, 16), 264, "zmm", 0),
        ("avx512", (8, 16), 264, "ymm", 0),
        ("avx512", (8, 16), 272, "ymm", 16),
        ("avx512", (12, 16), 20, "zmm", 0),  # the remainder of 8 starts at 12 x 4 bytes
        ("avx512", (32, 8), 320, "zmm", 16),
        ("avx512", (32, 8), 304, "zmm", 24),  # and a remainder of 16
    ],
)
def test_rows_stream_if_all_of_them_start_on_a_vector_boundary(
    machine: str, block: tuple[int, int], columns: int, register: str, count: int
) -> None:
    """B has `columns` floats per row, and the block covers block[0] of them in block[1] rows."""
    code = compiled(machine, "s", block, store=Store.ALIGNED, size=(256, columns))
    assert streaming_stores(code.every, register) == count
    assert sum("movnt" in line for line in code.every) == count


@pytest.mark.parametrize("kinds", [COPY, UPDATE], ids=str)
def test_masked_edges_use_mask_registers_on_avx512(kinds: Kinds) -> None:
    code = shared_edges("avx512", "s", 16, kinds)
    masked = [line for line in code.every if re.search(r"\{%k\d\}", line)]
    assert len(masked) >= 16
    assert all("zmm" in line for line in masked if "mov" in line)
    narrow = [line for line in code.every if re.match(r"v?movss|v?movd |v?pinsr|v?pextr|vextractps", line)]
    assert len(narrow) <= 4  # alpha and beta


@pytest.mark.parametrize(("dtype", "edge"), [("s", 8), ("d", 4)])
def test_masked_edges_use_vector_masks_on_avx2(dtype: str, edge: int) -> None:
    code = shared_edges("avx2", dtype, edge)
    assert sum(mnemonic(line).startswith(("vmaskmov", "vpmaskmov")) for line in code.every) == 4 * edge


def test_copies_have_no_edges() -> None:
    """The last micro-tile begins early: one body, whatever the extents, and no masks."""
    whole, odd = (compiled("avx512", "s", (16, 16), COPY, size=(n, n)) for n in (256, 249))
    assert stores(odd.every, "zmm") == stores(whole.every, "zmm") == 16
    assert not [line for line in odd.every if "{%k" in line or line.startswith("call")]


def test_two_axes_with_remainders_have_edges_of_their_own() -> None:
    """No calls, no masks computed: fewer instructions per line, so more lines are on their way."""
    code = compiled("avx512", "s", (16, 16), UPDATE, size=(249, 249))
    assert not [line for line in code.every if line.startswith(("call", "vpcmp"))]
    shared = shared_edges("avx512", "s", 16, UPDATE)
    assert [line for line in shared.every if line.startswith("call")]
    assert [line for line in shared.every if line.startswith("vpcmp")]


def test_no_load_waits_for_the_store_of_a_row_that_is_not_there() -> None:
    """Old elements of absent rows come from A's address: that of the row stored just before would make them wait."""
    text = shared_text(lookup.find("avx512"), "s", 16, UPDATE)
    elsewhere = re.findall(r'(%"\S+") = select\s+i1 \S+, ptr \S+, ptr \S+', text)
    assert len(elsewhere) == 2 * 15 + 16  # rows that may be absent along the one axis and along the other
    stores = re.findall(r'@"llvm.masked.store\S+\(<16 x float> \S+, ptr (\S+),', text)
    assert len(stores) >= 32 and not {*stores} & {*elsewhere}


@pytest.mark.parametrize(
    ("machine", "dtype", "edge"), [("sse2", "s", 4), ("sse2", "i8", 16), ("avx2", "i8", 16)]
)
def test_edges_without_masks_are_narrower_micro_tiles(machine: str, dtype: str, edge: int) -> None:
    """Three tails for two ragged axes, each vectorised: element by element, each would need 2 moves per element."""
    code = compiled(machine, dtype, (edge, edge), size=(256 + edge - 1, 256 + edge - 1))
    loops = 160  # instructions that count, compare and compute addresses
    assert len(code.every) < 4 * edge * edge + loops
    assert sum("mm" in line for line in code.every) > 4 * edge


def test_prefetch_asks_for_both_ends_of_every_row() -> None:
    """Rows of one line's length may begin anywhere in a line."""
    copy = compiled("avx512", "s", (16, 16), prefetch=2)
    update = compiled("avx512", "s", (16, 16), UPDATE, prefetch=2)
    assert sum(line.startswith("prefetch") for line in copy.tile) == 64  # ordinary stores read B's lines, too
    assert sum(line.startswith("prefetch") for line in update.tile) == 64
    assert not copy.spills()
    assert not update.spills()


def test_edges_ask_for_whole_micro_tiles() -> None:
    """What lies ahead of an edge is whole again, as a rule: each of the four bodies asks for both sides' rows."""
    code = compiled("avx512", "s", (16, 16), UPDATE, size=(249, 249), prefetch=2)
    assert sum(line.startswith("prefetch") for line in code.every) == 4 * 64


def test_a_small_leading_extent_is_permuted_in_registers() -> None:
    """perm 1,0 with an extent of 3: whole vectors on both sides, no element by element copies."""
    code = compiled("avx512", "s", (16, 3), size=(3, 1024))
    assert stores(code.tile, "zmm") + stores(code.tile, "zmm") >= 3
    assert len(code.tile) <= 3 * 16
    counts = Counter(map(mnemonic, code.tile))
    assert not [name for name in counts if name in ("vmovss", "vpinsrd", "vextractps", "vinsertps")]


@pytest.mark.parametrize(("size", "block"), [((12, 1024), (16, 12)), ((1024, 12), (12, 16))])
def test_rows_of_twelve_are_no_trees(size: tuple[int, int], block: tuple[int, int]) -> None:
    """Twelve registers out of twelve by trees would be 132 shuffles."""
    code = compiled("avx512", "s", block, size=size)
    assert shuffles(code.tile) <= 64
    assert not code.spills()

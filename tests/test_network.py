"""Shuffle networks, simulated on element numbers: every lane of B gets its element, and at what price."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ttc_llvm.ir_builders import network
from ttc_llvm.ir_builders.network import WHOLE, Loads, Network
from ttc_llvm.lowering.layout import HOLE, RegisterLayout, register_layout, sources

Block = tuple[int, ...]


def built(
    block: Block, strides_a: Block, strides_b: Block, width: int, group: int = 4, loads: Loads = WHOLE,
    gaps: bool = False,
) -> tuple[Network, RegisterLayout, RegisterLayout]:  # fmt: skip
    """The network of a block between two tensors, with registers of `width` lanes."""
    a, b = register_layout(block, strides_a, width, gaps=gaps), register_layout(block, strides_b, width)
    return network.build(block, a, b, sources(block, strides_a), group, loads), a, b


def inputs(net: Network, a: RegisterLayout) -> list[Block]:
    """The element in every lane of what is loaded: A's registers, or registers made of full pieces of them."""
    if not net.pieces:
        return [r.elements + (HOLE,) * (a.lanes - len(r.elements)) for r in a.registers]
    found = []
    for pieces in net.pieces:
        size = net.lanes // len(pieces)
        content: Block = ()
        for piece in pieces:
            part = (HOLE,) * size if piece is None else a.registers[piece[0]].elements[piece[1] :][:size]
            assert len(part) == size
            content += part
        found.append(content)
    return found


def simulate(net: Network, a: RegisterLayout) -> list[Block]:
    """The element in every lane of every value."""
    values = inputs(net, a)
    assert len(values) == net.inputs
    for number, step in enumerate(net.steps, net.inputs):
        assert max(step.left, step.right) < number
        both = values[step.left] + values[step.right]
        assert len(values[step.left]) == len(values[step.right])
        values.append(tuple(HOLE if m == HOLE else both[m] for m in step.mask))
    return values


def check(
    block: Block, strides_a: Block, strides_b: Block, width: int, group: int = 4, loads: Loads = WHOLE,
    gaps: bool = False,
) -> tuple[int, int]:  # fmt: skip
    """Simulate the network; the number of its shuffles and of pieces that loads insert."""
    net, a, b = built(block, strides_a, strides_b, width, group, loads, gaps)
    values, wanted = simulate(net, a), sources(block, strides_a)
    for register, output in zip(b.registers, net.outputs, strict=True):
        assert len(values[output]) == b.lanes
        for lane, element in enumerate(register.elements):
            assert values[output][lane] == wanted[element], (block, strides_a, strides_b)
    return len(net.steps), net.inserts


ROWS = 1000
COUNTS = [
    ("4x4", (4, 4), (ROWS, 1), (1, ROWS), 4, 8),
    ("8x8", (8, 8), (ROWS, 1), (1, ROWS), 8, 24),
    ("16x16", (16, 16), (ROWS, 1), (1, ROWS), 16, 64),
    ("64x64", (64, 64), (ROWS, 1), (1, ROWS), 64, 384),
    ("7 of 8 rows", (8, 7), (1, ROWS), (ROWS, 1), 8, 24),
    ("16 wide to 8 wide", (8, 16), (ROWS, 1), (1, ROWS), 16, 40),
    ("8 wide to 16 wide", (16, 8), (ROWS, 1), (1, ROWS), 16, 32),
    ("a copy is free", (16, 4), (1, 16), (1, 16), 16, 0),
    ("rows of a copy are free", (16, 4), (1, ROWS), (1, ROWS), 16, 0),
    ("reversed rows fold into the last stage", (16, 16), (ROWS, -1), (1, ROWS), 16, 64),
    ("a reversed vector", (16,), (-1,), (1,), 16, 1),
    ("a broadcast element", (16,), (0,), (1,), 16, 1),
    ("a strided vector is a tree", (16,), (3,), (1,), 16, 15),
    ("rows of 20 without gaps", (20, 16), (ROWS, 1), (1, 20), 16, 120),
    ("rows of 10 without gaps", (10, 8), (ROWS, 1), (1, 10), 8, 50),
    ("rows of 3 without gaps are a tree", (3, 16), (ROWS, 1), (1, 3), 16, 6),
    ("complex pairs of 3", (2, 3, 8), (1, 16, 2), (3, 1, 6), 16, 6),
    ("rows of 3 bytes are spread, and put together again", (3, 16, 16), (1, ROWS, 3), (1, 3, ROWS), 64, 96),
    ("the same rows backwards", (3, 16, 16), (1, ROWS, -3), (1, 3, ROWS), 64, 96),
    ("rows of 3 in registers of four rows are trees", (3, 4, 4), (1, ROWS, 3), (1, 3, ROWS), 16, 12),
    ("rows of 5", (5, 8, 8), (1, ROWS, 5), (1, 5, ROWS), 64, 40),
    (
        "8 bits reversed",
        (2,) * 8,
        tuple(1 << k for k in range(8)),
        tuple(1 << (7 - k) for k in range(8)),
        16,
        64,
    ),
]


@pytest.mark.parametrize(
    ("block", "strides_a", "strides_b", "width", "count"), [r[1:] for r in COUNTS], ids=[r[0] for r in COUNTS]
)
def test_shuffles_of_known_blocks(
    block: Block, strides_a: Block, strides_b: Block, width: int, count: int
) -> None:
    assert check(block, strides_a, strides_b, width) == (count, 0)


GAPS = [
    ("every second of 32 bytes", (64, 32), (ROWS, 2), (1, ROWS), 64, 32 + 5 * 32),
    ("every third of 16", (16, 16), (ROWS, 3), (1, ROWS), 16, 2 * 16 + 4 * 16),
    ("every fourth of 8, backwards", (8, 8), (ROWS, -4), (1, ROWS), 8, 3 * 8 + 3 * 8),
    ("7 of 8 rows, of every second", (7, 8), (ROWS, 2), (1, ROWS), 8, 7 + 24),
    ("longer rows than a register", (8, 16), (ROWS, 2), (1, ROWS), 8, 16 + 48),
    ("rows of 20 bytes without gaps in B", (20, 16), (ROWS, 2), (1, 20), 16, 140),
]


@pytest.mark.parametrize(
    ("block", "strides_a", "strides_b", "width", "count"), [r[1:] for r in GAPS], ids=[r[0] for r in GAPS]
)
def test_gaps_are_left_out_before_registers_exchange_elements(
    block: Block, strides_a: Block, strides_b: Block, width: int, count: int
) -> None:
    assert check(block, strides_a, strides_b, width, gaps=True) == (count, 0)


IN_PIECES = [
    # block, strides, lanes, lanes in 128 bits, other operations -> shuffles, inserts
    ("16x16 in halves", (16, 16), (ROWS, 1), (1, ROWS), 16, 4, 0, 48, 16),
    ("8x8 in halves", (8, 8), (ROWS, 1), (1, ROWS), 8, 4, 0, 16, 8),
    ("8x8 pairs of floats", (8, 8), (ROWS, 1), (1, ROWS), 8, 2, 0, 16, 8),
    ("4x4 pairs of doubles", (4, 4), (ROWS, 1), (1, ROWS), 4, 1, 0, 4, 4),
    ("64x64 in quarters", (64, 64), (ROWS, 1), (1, ROWS), 64, 16, 0, 256, 192),
    ("an update leaves no time to insert", (16, 16), (ROWS, 1), (1, ROWS), 16, 4, 4, 64, 0),
    ("an update of 8x8 loads whole registers", (8, 8), (ROWS, 1), (1, ROWS), 8, 4, 4, 24, 0),
    ("12 of 16 rows", (16, 12), (1, ROWS), (ROWS, 1), 16, 4, 0, 48, 8),
    ("12 of 16 columns in quarters", (12, 16), (1, ROWS), (ROWS, 1), 16, 4, 0, 24, 36),
    ("13 of 16 columns: no full pieces", (13, 16), (1, ROWS), (ROWS, 1), 16, 4, 0, 61, 0),
    ("reversed rows fold into the last stage", (16, 16), (ROWS, -1), (1, ROWS), 16, 4, 0, 48, 16),
    ("rows of 8 become rows of 16", (16, 8), (ROWS, 1), (1, ROWS), 16, 4, 0, 24, 8),
    ("rows of 16 become rows of 8", (8, 16), (ROWS, 1), (1, ROWS), 16, 4, 0, 32, 16),
    ("rows of 4 joined need no shuffle at all", (4, 16), (1, 8), (1, 4), 16, 4, 0, 0, 12),
    ("rows of 2 are too short", (2, 32), (1, 4), (1, 2), 16, 4, 0, 28, 0),
    ("a copy is free", (16, 4), (1, ROWS), (1, ROWS), 16, 4, 0, 0, 0),
    ("a broadcast element", (16, 4), (0, 1), (1, 16), 16, 4, 0, 4, 0),
]


@pytest.mark.parametrize(
    ("block", "strides_a", "strides_b", "width", "group", "others", "shuffles", "inserts"),
    [r[1:] for r in IN_PIECES],
    ids=[r[0] for r in IN_PIECES],
)
def test_shuffles_and_inserts_of_known_blocks(
    block: Block,
    strides_a: Block,
    strides_b: Block,
    width: int,
    group: int,
    others: int,
    shuffles: int,
    inserts: int,
) -> None:
    loads = Loads(group, others)
    assert check(block, strides_a, strides_b, width, group, loads) == (shuffles, inserts)


@pytest.mark.parametrize(("length", "width", "most"), [(12, 16, 60), (15, 16, 64), (7, 8, 24), (24, 16, 120)])
def test_rows_of_odd_lengths_apart_need_no_trees(length: int, width: int, most: int) -> None:
    """Rows that follow each other, into columns and out of them: trees take nearly a step per element of a row."""
    block = (width, length)
    for strides in (((length, 1), (1, ROWS)), ((1, ROWS), (length, 1))):
        a, b = (register_layout(block, s, width, rows_apart=True) for s in strides)
        for register in (*a.registers, *b.registers):
            columns, rows = ({e % width for e in register.elements}, {e // width for e in register.elements})
            assert 1 in (len(columns), len(rows))
        net = network.build(block, a, b, sources(block, strides[0]), 4)
        values = simulate(net, a)
        for register, output in zip(b.registers, net.outputs, strict=True):
            assert values[output][: len(register.elements)] == register.elements
        assert len(net.steps) <= most


@pytest.mark.parametrize(("width", "group"), [(8, 4), (16, 4), (8, 2), (64, 16)])
def test_every_piece_is_loaded_once(width: int, group: int) -> None:
    net, _, _ = built((width, width), (ROWS, 1), (1, ROWS), width, group, Loads(group))
    loaded = [piece for pieces in net.pieces for piece in pieces if piece is not None]
    assert len(set(loaded)) == len(loaded)
    size = net.lanes // len(net.pieces[0])
    assert size >= group
    assert len(loaded) * size == width * width


@pytest.mark.parametrize("loads", [WHOLE, Loads(4)], ids=["whole", "pieces"])
@pytest.mark.parametrize("width", [4, 8, 16])
def test_a_square_needs_every_value_twice_and_pairs_them(width: int, loads: Loads) -> None:
    """Partners free both operands: no more registers than rows are ever live."""
    net, _, _ = built((width, width), (ROWS, 1), (1, ROWS), width, 4, loads)
    assert len(net.partners) == len(net.steps)
    assert all(net.partners[net.partners[value]] == value for value in net.partners)


@pytest.mark.parametrize("loads", [WHOLE, Loads(4)], ids=["whole", "pieces"])
@pytest.mark.parametrize("width", [8, 16])
def test_stages_of_a_square_stay_in_128_bit_lanes_or_move_whole_ones(width: int, loads: Loads) -> None:
    """What x86 does in one instruction without an index register: unpacks, and shuffles of 128-bit groups."""
    net, _, _ = built((width, width), (ROWS, 1), (1, ROWS), width, 4, loads)
    for step in net.steps:
        groups = [step.mask[i : i + 4] for i in range(0, width, 4)]
        whole = all(g == tuple(range(g[0], g[0] + 4)) and g[0] % 4 == 0 for g in groups)
        local = all({m % width // 4 for m in g} == {i} for i, g in enumerate(groups))
        assert whole or local, step
        if whole:  # vshuff64x2: half of the groups from the left operand, then half from the right one
            origin = [g[0] >= width for g in groups]
            assert origin == sorted(origin)


@st.composite
def blocks(draw: st.DrawFn) -> tuple[Block, Block, Block, int, int]:
    """A block between two tensors: A may be reversed, strided or broadcast along an axis."""
    block = tuple(draw(st.lists(st.sampled_from((1, 2, 3, 4, 5, 7, 8, 16)), min_size=1, max_size=4)))
    while len(block) > 1 and _product(block) > 512:
        block = block[1:]
    a = list(draw(_strides(block)))
    odd = draw(st.integers(0, 3 * len(block)))
    if odd < len(block):
        a[odd] = draw(st.sampled_from((0, -1 if 1 not in a else 0, 5000)))
    width = draw(st.sampled_from((1, 2, 4, 8, 16, 64)))
    return block, tuple(a), draw(_strides(block)), width, draw(st.sampled_from((1, 2, 4, 8, 16)))


@st.composite
def _strides(draw: st.DrawFn, block: Block) -> Block:
    strides, step = [0] * len(block), draw(st.sampled_from((1, 1, 1, 2)))
    for k in draw(st.permutations(range(len(block)))):
        strides[k] = step
        step = step * block[k] + draw(st.sampled_from((0, 0, 0, 100)))
    return tuple(strides)


def _product(block: Block) -> int:
    total = 1
    for extent in block:
        total *= extent
    return total


@examples(300)
@given(blocks())
def test_any_block_arrives(given_block: tuple[Block, Block, Block, int, int]) -> None:
    check(*given_block)


@examples(300)
@given(blocks(), st.integers(0, 3))
def test_any_block_arrives_in_pieces(given_block: tuple[Block, Block, Block, int, int], others: int) -> None:
    check(*given_block, Loads(given_block[-1], others))

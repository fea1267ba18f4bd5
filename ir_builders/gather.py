"""The gathering tree: each register of B collects its lanes from the registers of A that hold them."""

from __future__ import annotations

from ttc_llvm.lowering.layout import HOLE

from .shuffles import Mask, Network, Program, fits


def gather(start: list[Mask], wanted: list[Mask], lanes_a: int, lanes_b: int) -> Network:
    """The network from registers that hold `start` to registers that hold `wanted`, of these widths in elements."""
    program = Program(start)
    where = {e: (v, lane) for v, content in enumerate(start) for lane, e in enumerate(content) if e != HOLE}
    outputs = tuple(_gather(program, content, where, lanes_a == lanes_b) for content in wanted)
    return program.network(lanes_b, outputs)


def _gather(program: Program, content: Mask, where: dict[int, tuple[int, int]], same_width: bool) -> int:
    needed = sorted({where[e][0] for e in content if e != HOLE})
    if len(needed) == 1 and same_width and fits(program.contents[needed[0]], content):
        return needed[0]
    odd = needed.pop() if same_width and len(needed) > 1 and len(needed) % 2 else None
    level = [_pick(program, needed[i : i + 2], content, where) for i in range(0, len(needed), 2)]
    while len(level) > 1:
        level = [_blend(program, level[i : i + 2]) for i in range(0, len(level), 2)]
    return level[0] if odd is None else _add(program, level[0], odd, content, where)


def _pick(program: Program, pair: list[int], content: Mask, where: dict[int, tuple[int, int]]) -> int:
    left, right = pair[0], pair[-1]
    width = len(program.contents[left])
    base = {right: width, left: 0}
    mask = tuple(
        base[where[e][0]] + where[e][1] if e != HOLE and where[e][0] in base else HOLE for e in content
    )
    return program.shuffle(left, right, mask)


def _add(program: Program, value: int, source: int, content: Mask, where: dict[int, tuple[int, int]]) -> int:
    """One more source joins a value whose other lanes are in place already."""
    have = program.contents[value]
    lanes = len(have)
    mask = tuple(
        i if have[i] != HOLE else lanes + where[e][1] if e != HOLE else HOLE for i, e in enumerate(content)
    )
    return program.shuffle(value, source, mask)


def _blend(program: Program, pair: list[int]) -> int:
    if len(pair) == 1:
        return pair[0]
    left, right = (program.contents[v] for v in pair)
    lanes = len(left)
    mask = tuple(i if left[i] != HOLE else lanes + i if right[i] != HOLE else HOLE for i in range(lanes))
    return program.shuffle(pair[0], pair[1], mask)

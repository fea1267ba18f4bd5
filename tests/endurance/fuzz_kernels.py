"""Kernels of random plans, run as they are: every node of a nest, every target, B's base anywhere in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import gcd, prod
from random import Random

import machine
from case import Case, windows
from fuzz_draw import LINE, MIXED, TYPES, Met, asked, case
from fuzz_plans import LOADS, free_plan, plan
from machine import Run

from ttc_llvm.ir_builders.micro_tile import MicroTile
from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.nodes import Loop, Micro, Node, Peeled, Row, every
from ttc_llvm.lowering.operands import Prefetch, Space
from ttc_llvm.machine import lookup, table
from ttc_llvm.machine.table import CPUS, X86
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.kinds import Kinds
from ttc_llvm.runtime import backend

TRIES = 80  # draws for a goal: what is rare comes in one of twenty or so
RUNS = 3
PLACES = 12  # runs where B's place is the goal
KINDS = tuple(dict.fromkeys(str(Kinds.of(alpha, beta)) for alpha, beta in product((0, 1, 2), (0, 1, 2))))
PARTS = (1, 2, 3, 4)
# Which machines have most of what some goals ask for: masks for all types, or long loads that are slow across lines.
MASKED = ("edges=mask", "stores=joined", "stores=peeled", "fallback=peeled", "fallback=combined", "stores=off-boundary")
ACROSS = ("loads=off-lines",)


@lru_cache(maxsize=1)
def targets() -> dict[str, Target]:
    """Every CPU of the tables whose code runs here, and three of them without vectors."""
    names = [cpu for row, cpus in CPUS.items() if table.row(row).triple == X86 for cpu in (row, *cpus)]
    rows = [lookup.find(name) for name in dict.fromkeys(names)]
    rows += [lookup.scalar(lookup.find(name)) for name in ("sse2", "avx2", "avx512")]
    here = [backend.host_target(), *(t for t in rows if backend.runs_here(t))]
    return {t.name: t for t in here}


def goals() -> tuple[str, ...]:
    """Every feature that rounds are made for."""
    values = {
        "type": TYPES,
        "kinds": KINDS,
        "rank": range(9),
        "strides": ("backward", "broadcast", "padded"),
        "extent": (0, 1, "ragged", "power"),
        "target": targets(),
        "stores": (
            "cached", "aligned", "rows", "buffered", "buffered-tiles", "combined", "joined", "peeled", "peeled-on",
        ),
        "prefetch": [f"{kind}-{far}" for kind in ("blocks", "far", "rows", "row") for far in ("next", "ahead")],
        "edges": ("back", "tail", "mask1", "mask2", "mask3"),
        "micro": ("element", "row", "square", "oblong", "several", "odd", "pieces"),
        "loads": (16, 32),
        "plan": ("panel", "any-size", "conjugate"),
        "grid": range(4),
        "parts": PARTS,
        "residue": range(LINE),
    }
    return tuple(f"{what}={value}" for what, choices in values.items() for value in choices)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A case, how it runs, and the nest that comes of it."""

    case: Case
    run: Run
    nest: LoopNest

    @property
    def tasks(self) -> int:
        """What parts can share."""
        return machine.tasks(self.nest, machine.form(self.case, self.run)[1])

    def may_begin(self, residue: int) -> bool:
        """Whether the kernel serves a B that begins so many bytes, a number of elements, behind a line."""
        boundary = self.nest.alignment
        return boundary <= self.nest.canonical.b.itemsize or residue % boundary == 0


def attack(rng: Random, goal: str, types: Sequence[str] = MIXED) -> Met:
    """Compile one kernel that has what the goal asks for, if chance gives one, and run it in several places."""
    for _ in range(TRIES):
        drawn = _drawn(rng, goal, types)
        found = {*of_case(drawn.case), *of_nest(drawn), *_reached(drawn, goal)}
        if goal.startswith(("micro=", "loads=")):
            found.update(of_registers(drawn))
        if goal in ("", *found):
            break
    met = [*{*of_case(drawn.case), *of_nest(drawn), *of_registers(drawn)}]
    for number in range(PLACES if asked(goal, "residue") else RUNS):
        run = _placed(rng, drawn, goal if number == 0 else "")
        machine.check(replace(drawn.case, seed=rng.getrandbits(30)), run)
        met += [f"parts={run.parts}"] * (run.parts <= drawn.tasks)
        met += [f"residue={run.shift * drawn.case.b.itemsize % LINE}"] * bool(run.shift)
    return Met(tuple(met))


def _drawn(rng: Random, goal: str, types: Sequence[str]) -> Drawn:
    chosen, wanted = case(rng, goal, types=types), machine_for(rng, goal)
    c = chosen.placed.canonical
    parametric = goal == "plan=any-size" or rng.random() < 0.1
    decided = free_plan(rng, c, wanted, parametric=True) if parametric else plan(rng, c, wanted, goal)
    loads = int(asked(goal, "loads") or rng.choice(LOADS))
    run = Run(decided, wanted, parametric=parametric, loads=loads)
    return Drawn(chosen, run, machine.nest_of(chosen, run))


def machine_for(rng: Random, goal: str) -> Target:
    """The target that a goal names, one that is likely to meet it, or any."""
    here = list(targets().values())
    masked = [t for t in here if goal.startswith(MASKED) and t.vector_bits == 512]
    across = [t for t in here if goal.startswith(ACROSS) and t.across_lines]
    named = [t for t in here if t.name == asked(goal, "target")]
    return rng.choice(named or masked or across or here)


def _placed(rng: Random, drawn: Drawn, goal: str) -> Run:
    """Where the tensors lie, and how many parts do the work."""
    item = drawn.case.b.itemsize
    shifts = [n for n in range(1, LINE + 1) if drawn.may_begin(n * item % LINE)]
    wanted = [n for n in shifts if goal == f"residue={n * item % LINE}"]
    shift = rng.choice(wanted or shifts) if wanted or rng.random() < 0.7 else 0
    parts = int(asked(goal, "parts") or rng.choice(PARTS))
    flush = rng.choice(("start", "end")), rng.choice(("start", "end"))
    return replace(drawn.run, parts=parts, flush_a=flush[0], flush_b=flush[1], shift=shift)


def _reached(drawn: Drawn, goal: str) -> Iterable[str]:
    """The goal itself, where a run of this kernel can reach it."""
    residue, parts = asked(goal, "residue"), asked(goal, "parts")
    if residue and int(residue) % gcd(drawn.case.b.itemsize, LINE) == 0:
        return [goal] if drawn.may_begin(int(residue)) else []
    return [goal] if parts and int(parts) <= drawn.tasks else []


# --- what is there --------------------------------------------------------------------------------------


def of_case(found: Case) -> Iterator[str]:
    """Features of a problem."""
    name = found.a.name if found.a == found.b else found.a.name + found.b.name
    yield f"type={name}"
    yield f"kinds={found.kinds}"
    yield f"rank={len(found.axes)}"
    yield from ("plan=conjugate",) * found.conjugate
    for window in windows(found):
        steps = [step for extent, step in zip(window.extents, window.strides, strict=True) if extent > 1]
        yield from ("strides=backward",) * any(step < 0 for step in steps)
        yield from ("strides=broadcast",) * (0 in steps)
        yield from ("strides=padded",) * (window.span > prod(window.extents))
    for extent in windows(found)[0].extents:
        yield f"extent={extent}" if extent < 2 else "extent=ragged" if extent & (extent - 1) else "extent=power"


def of_nest(drawn: Drawn) -> Iterator[str]:
    """Features of its loops and leaves."""
    run = drawn.run
    yield f"target={run.target.name}"
    yield f"grid={min(3, len(drawn.nest.grid))}"
    yield from ("plan=any-size",) * run.parametric
    loops = [node for node in every(drawn.nest.body) if isinstance(node, Loop)]
    panels = run.plan.panel and any(loop.step > run.plan.tile[loop.axis] for loop in loops)
    yield from ("plan=panel",) * bool(panels)
    for node in every(drawn.nest.body):
        yield from _of_node(node, run)


def _of_node(node: Node, run: Run) -> Iterator[str]:
    if isinstance(node, Loop):
        yield from ("edges=back",) * node.back
        yield from ("edges=tail",) * (node.tail is not None)
    elif isinstance(node, Peeled):
        yield "stores=peeled-on" if node.following else "stores=peeled"
    elif isinstance(node, Row):
        alone = "rows" if node.source.space is Space.A else "buffered"
        yield "stores=combined" if node.partial_line else f"stores={alone}"
        yield from _of_prefetch(node.prefetch, "row")
    elif isinstance(node, Micro):
        yield from _of_micro(node, run.target)


def _of_micro(node: Micro, wanted: Target) -> Iterator[str]:
    streams = node.non_temporal and MicroTile.of(node, wanted).stored_together
    direct = "joined" if node.partial_line else "aligned" if streams else "cached"
    store = direct if node.source.space is Space.A else "buffered-tiles"
    yield from (f"stores={store}",) * (node.target.space is Space.B)
    yield from (f"edges=mask{len(node.remainder_axes)}",) * bool(node.remainder_axes)
    yield from _of_prefetch(node.prefetch, "")


def _of_prefetch(prefetch: Prefetch | None, kind: str) -> Iterator[str]:
    if prefetch:
        kind = kind or ("rows" if prefetch.tile else "far" if prefetch.far else "blocks")
        yield f"prefetch={kind}-{'next' if prefetch.distance == 1 else 'ahead'}"


def of_registers(drawn: Drawn) -> Iterator[str]:
    """Features of micro-tiles that only their networks of shuffles tell."""
    leaves = [node for node in every(drawn.nest.body) if isinstance(node, Micro)]
    for leaf in leaves:
        sides, tile = [n for n in leaf.block if n > 1], MicroTile.of(leaf, drawn.run.target)
        shape = "square" if len(set(sides)) == 1 else "oblong"
        if len(sides) < 2:
            yield f"micro={'row' if sides else 'element'}"
        else:
            odd = any(n & (n - 1) for n in sides)
            yield f"micro={'odd' if odd else 'several' if len(sides) > 2 else shape}"
        pieces = tile.network.pieces
        yield from ("micro=pieces",) * bool(pieces)
        length = tile.a.lanes // (len(pieces[0]) if pieces else 1) * leaf.source.dtype.itemsize
        whole = any(len(register.elements) == tile.a.lanes for register in tile.a.registers)
        short = leaf.loads and whole and not leaf.remainder_axes and length > leaf.loads
        yield from (f"loads={leaf.loads}",) * bool(short)

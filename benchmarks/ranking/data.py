"""The stored timings of plans, and what fits want to know of them."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from ttc_llvm import Problem
from ttc_llvm.lowering import plan as plans
from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.machine import lookup as targets
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.dtypes import parse_pair
from ttc_llvm.tuning.cost.cost import Model
from ttc_llvm.tuning.cost.features import Features, Owned, kind
from ttc_llvm.tuning.space.choices import FREE
from ttc_llvm.tuning.space.neighbours import settled

DATA = Path(__file__).with_name("timings.jsonl.xz")
CONVERSIONS = DATA.with_name("conversions.jsonl.xz")  # those that the model of conversions has seen beside them
SHARED = DATA.with_name("shared.jsonl.xz")  # of two threads that share the memory, which the networks have seen last
FIRST = {"cpu": "graniterapids", "l1": 48 << 10, "l2": 2 << 20, "ways": 12}  # where a row names no machine
LEAST = 20  # plans of a problem: the others were measured while the machine kept changing its speed
PLANS = 300  # kept of a problem: the best third, and others by lot
# Of what was timed: since 2, chained runs are joined without scratch where the machine can do so; since 3, also where a
# micro-tile has more than one line of each.
KERNELS = 3
GOOD = 2.0  # in a fit, a plan's weight is its speed relative to the best, to this power

Row = dict[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class Timings:
    """One problem: its name and class, and of each of its plans the facts, the networks' inputs (columns: their names),
    log(time) free of what needs no fit, the speed, and what needs none. copies: in a fit; two of conversions, which are
    few."""

    name: str
    kind: str
    copies: int
    facts: list[list[Owned]]
    columns: tuple[str, ...]
    inputs: np.ndarray
    fitted: np.ndarray
    speeds: np.ndarray
    rest: np.ndarray


def read(path: Path) -> list[Row]:
    """Rows of a file, compressed or not."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def training(converts: bool) -> list[Row]:
    """What the model is fitted to. converts: that of problems between two types, some of which were timed once more."""
    rows = {_name(row): row for path in (DATA, CONVERSIONS)[: 1 + converts] for row in read(path)}
    return [*rows.values()]


def add(more: Iterable[Row]) -> None:
    """Store further rows, thinned out, in the place of those of the same problem."""
    sorted_out: dict[Path, list[Row]] = {DATA: [], CONVERSIONS: [], SHARED: []}
    for row in more:
        if len(row["plans"]) >= LEAST:  # type: ignore[arg-type]
            a, b = parse_pair(str(row["dtype"]))
            sorted_out[CONVERSIONS if a != b else DATA if row["threads"] == 1 else SHARED].append(row)
    for path, others in sorted_out.items():
        found = {_name(row): _thin(row) for row in (*read(path), *others)}
        with lzma.open(path, "wt", preset=9 | lzma.PRESET_EXTREME) as output:
            output.writelines(json.dumps(row) + "\n" for row in found.values())


def _name(row: Row) -> str:
    return f"{row['perm']} {row['size']} {row['dtype']} beta={row['beta']:g} {_machine(row).cpu}"


def _thin(row: Row) -> Row:
    found: dict[str, float] = row["plans"]  # type: ignore[assignment]
    ranked = sorted(found, key=lambda plan: -found[plan])
    best, others = ranked[: PLANS // 3], ranked[PLANS // 3 :]
    kept = {*best, *random.Random(0).sample(others, min(len(others), PLANS - len(best)))}
    return {**row, "plans": {plan: speed for plan, speed in found.items() if plan in kept}}


@dataclass(frozen=True, slots=True)
class _Timed(CpuPlan):
    """A plan, and the model's words for the way in which it wrote B when it was timed: kernels of that time may have
    done so in ways that are no plan's any more. loads: the most bytes of a load, "" = a register's."""

    stored: str = ""
    staged: str = ""
    loads: str = ""


class _Recorded(Features):
    """Features of plans as they were timed, by these kernels."""

    def __init__(self, canonical: Canonical, target: Target, threads: int, kernels: int) -> None:
        super().__init__(canonical, target, threads)
        self.kernels = kernels

    def store(self, plan: CpuPlan) -> Store:
        """The store strategy that served."""
        found = super().store(plan)
        short = plan.block[0] * self.canonical.b.itemsize == self.target.line
        return Store.COMBINED if found is Store.JOINED and self.kernels < KERNELS and not short else found

    def recorded(self, text: str) -> _Timed:
        """The plan of a stored text."""
        said = dict(decision.split("=") for decision in text.split()[1:])
        plan = settled(self.canonical.extents, FREE, plans.parse(text))
        if "store" in said:
            stored, staged = super().written(plan)
        else:
            staged = said["staging"]
            chained = "joined" if self.store(plan) is Store.JOINED else "carry"
            past = chained if staged == "carry" else self.past
            stored = past if said["streaming"] == "1" else "stores"
        decisions = {field.name: getattr(plan, field.name) for field in fields(plan)}
        return _Timed(**decisions, stored=stored, staged=staged, loads=said.get("loads", ""))

    def written(self, plan: CpuPlan) -> tuple[str, str]:
        """The words of when it was timed."""
        return (plan.stored, plan.staged) if isinstance(plan, _Timed) else super().written(plan)


def timings(row: Row) -> Timings:
    """A row as the fit wants it."""
    beta: float = row["beta"]  # type: ignore[assignment]
    problem = Problem(
        tuple(row["perm"]),  # type: ignore[arg-type]
        tuple(row["size"]),  # type: ignore[arg-type]
        str(row["dtype"]),
        alpha=2 if beta else 1,
        beta=beta,
    )
    c = canonicalise(problem).canonical
    threads: int = row["threads"]  # type: ignore[assignment]
    machine = _machine(row)
    kernels: int = row.get("kernels", 1)  # type: ignore[assignment]
    model, features = Model(c, machine, threads), _Recorded(c, machine, threads, kernels)
    found: dict[str, float] = row["plans"]  # type: ignore[assignment]
    known = {features.recorded(text): speed for text, speed in found.items()}
    if kernels < 2:
        known = {plan: speed for plan, speed in known.items() if plan.stored != "joined"}
    tried, speeds = list(known), np.array(list(known.values()))
    added = [model.crowding(plan.block) + model.long(plan.block) for plan in tried]
    rest = np.array([log(threads / model.balance(plan)) for plan in tried]) + added
    facts, inputs = [features.owned(plan) for plan in tried], np.array([features.numbers(plan) for plan in tried])
    columns = features.columns(tried[0]) if tried else ()
    copies = 1 if c.a == c.b else 2
    return Timings(_name(row), kind(c), copies, facts, columns, inputs, -np.log(speeds) - rest, speeds, rest)


def _machine(row: Row) -> Target:
    found: dict[str, Any] = row.get("machine", FIRST)  # type: ignore[assignment]
    return replace(targets.find(found["cpu"]), **{name: found[name] for name in ("l1", "l2", "ways")})

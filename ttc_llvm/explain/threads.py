"""The division of a plan's tasks among threads: evenness, lines and pages of B, memory nodes; nothing is run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..lowering.division import Division
from ..lowering.sharing import PAGE, remote, shared, units
from ..problem.tables import aligned
from ..problem.wording import count

if TYPE_CHECKING:
    from .explanation import Explanation

NODES = (2, 4, 8)  # memory nodes of machines with many cores


def lines(e: Explanation) -> Iterator[str]:
    """The division of the plan's tasks among its threads, for a page-aligned A and B."""
    division = Division(e.canonical, e.plan.grid(e.canonical.extents), e.threads)
    if e.threads == 1 or not e.canonical.elements:
        yield f"one thread runs all tasks: {division.tasks:,}"
        return
    tasks = count(division.tasks, "task")
    yield (
        f"{e.threads} threads share {tasks}; the largest share has {division.imbalance:.3f} of an even one, where whole"
        f" tasks allow {division.least:.3f}"
    )
    kinds = (("lines", e.target.line), (f"pages of {PAGE} bytes", PAGE))
    yield "of B, several threads write " + ", ".join(
        f"{shared(division, size) / units(division, size):.3%} of the {name}" for name, size in kinds
    )
    yield from _nodes(division)


def _nodes(division: Division) -> Iterator[str]:
    """What threads move to and from other memory nodes than their own."""
    elements, nodes = division.canonical.elements, [n for n in NODES if n <= division.threads]
    yield "moved from or to another memory node, if every thread touched an equal part of A and of B first:"
    yield from aligned(
        [
            ("nodes", "of A", "of B"),
            *((str(n), *(f"{remote(division, side, n) / elements:.1%}" for side in "ab")) for n in nodes),
        ]
    )

"""The setting of a result: effort, affinity, day and machine. Results that differ in these are never pooled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .contraction_results import ContractionResult
from .results import Result

Measured = Result | ContractionResult
Fact = Callable[[Measured], str]


def effort(result: Measured) -> int:
    """The most candidates that the search might try."""
    options = result.facts.get("options")
    found = options.get("max_implementations") if isinstance(options, dict) else None
    return found if isinstance(found, int) else result.candidates


def effort_name(number: int) -> str:
    """A search's size in words."""
    names = {1: "1 (cost model)", -1: "the whole space"}
    return names.get(number, f"{number:,} candidates")


def by_size(number: int) -> tuple[bool, int]:
    """The order of efforts: -1, the whole space, is the last."""
    return number == -1, number


def affinity(result: Measured) -> str:
    """The placement of threads; "" where the result does not say."""
    return str(result.facts.get("affinity", ""))


def day(result: Measured) -> str:
    """The day on which it was measured; "" where the result does not say."""
    return str(result.facts.get("date", ""))[:10]


def machine(result: Measured) -> str:
    """The machine's processor and its name."""
    return f"{result.facts.get('cpu', 'unknown CPU')} ({result.facts.get('machine', 'unnamed')})"


FACTS: tuple[Fact, ...] = (
    lambda one: effort_name(effort(one)),
    lambda one: f"affinity {affinity(one) or 'unknown'}",
    lambda one: day(one) or "unknown day",
    machine,
)


def differing(results: Sequence[Measured], facts: Sequence[Fact] = FACTS) -> Fact:
    """Names a result among others by those facts in which they differ; "" where they differ in none."""
    found = [fact for fact in facts if len({fact(one) for one in results}) > 1]
    return lambda one: ", ".join(fact(one) for fact in found)

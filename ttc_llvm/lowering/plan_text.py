"""Plans as text: a version, then every decision as name=value; and what became of the decisions of earlier versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import arguments
from ..errors import PlanError
from ..lazy_dataclasses import dataclass

NOTHING = "none"  # an empty tuple

Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of some decisions in the next version. was, now: their names, and those without one now are left out;
    values: what they have now by what they had, None = the same. A plan that decided none of them is as it was."""

    was: Texts
    now: Texts
    values: Mapping[Texts, Texts] | None = None

    def __call__(self, decisions: dict[str, str]) -> dict[str, str]:
        """The decisions of a plan after this change; PlanError where one had a value that nothing became of, or is of a
        later version."""
        later = next((name for name in self.now if name in decisions and name not in self.was), None)
        if later is not None:
            raise PlanError(f"plan decision {later!r} is of a later version than the plan")
        if self.was and not any(name in decisions for name in self.was):
            return decisions
        had = tuple(decisions.get(name, "") for name in self.was)
        if self.values is not None and had not in self.values:
            shown = " ".join(f"{name}={value}" for name, value in zip(self.was, had, strict=True))
            raise PlanError(f"plan decision {arguments.shown(shown)} has no successor")
        values = had if self.values is None else self.values[had]
        place = next((number for number, name in enumerate(decisions) if name in self.was), len(decisions))
        others = [(name, value) for name, value in decisions.items() if name not in self.was]
        return dict([*others[:place], *zip(self.now, values, strict=False), *others[place:]])


_STORES: dict[Texts, Texts] = {
    **{("0", staging): ("cached",) for staging in ("none", "a", "b", "carry", "shift")},
    ("1", "none"): ("aligned",),
    ("1", "a"): ("aligned",),  # scratch in A's order was never faster
    ("1", "b"): ("combined",),
    ("1", "carry"): ("combined",),
    ("1", "shift"): ("peeled",),
}
_FALLBACKS: dict[Texts, Texts] = {
    ("none",): ("cached",),
    ("b",): ("buffered",),
    ("carry",): ("combined",),
    ("shift",): ("peeled",),
}
_FALLBACK = Change(("unaligned",), ("fallback",), _FALLBACKS)
_LOADS = Change(("loads",), (), {("16",): (), ("32",): ()})  # short loads follow from where A begins

# By version: the next one, and what changed in it.
FORMER: dict[str, tuple[str, tuple[Change, ...]]] = {
    "cpu1": ("cpu2", (Change((), ("fetch", "panel"), {(): ("blocks", NOTHING)}),)),
    "cpu2": ("cpu3", (Change(("streaming", "staging"), ("store",), _STORES), _FALLBACK, _LOADS)),
}


def today(text: str) -> tuple[str, dict[str, str]]:
    """Version and decisions of a plan's text: those of an earlier version in words of today. PlanError where a decision
    has no equal today, or is taken twice."""
    version, *parts = text.split() or [""]
    decisions: dict[str, str] = {}
    for part in parts:
        name, _, value = part.partition("=")
        if name in decisions:
            raise PlanError(f"plan decides {arguments.cut(name)} twice")
        decisions[name] = value
    while version in FORMER:
        version, changes = FORMER[version]
        for change in changes:
            decisions = change(decisions)
    return version, decisions


def modern(text: str) -> str:
    """The text in words of today; the same text where it is of no earlier version, or where it cannot be read."""
    if text.partition(" ")[0] not in FORMER:
        return text
    try:
        version, decisions = today(text)
    except PlanError:
        return text
    return " ".join((version, *(f"{name}={value}" for name, value in decisions.items())))


def read(text: str, wanted: str, readers: Mapping[str, Callable[[str], Any]], optional: Texts = ()) -> dict[str, Any]:
    """The decisions in the text of a plan of this version or an earlier one; PlanError for others, an unknown decision
    or a malformed value."""
    version, decisions = today(text)
    if version != wanted:
        raise PlanError(f"plan version {arguments.shown(version)} is not {wanted!r}, with which plans begin")
    values: dict[str, Any] = {}
    for name, value in decisions.items():
        if name not in readers:
            raise PlanError(f"unknown decision {arguments.shown(name)} in plan: the choices are {', '.join(readers)}")
        try:
            values[name] = readers[name](value)
        except ValueError:
            raise PlanError(f"plan decision {name}={arguments.shown(value)} is malformed") from None
    missing = [name for name in readers if name not in values and name not in optional]
    if missing:
        raise PlanError(f"plan lacks {', '.join(missing)}")
    return values


def shown(value: Any) -> str:
    """The text of one decision's value."""
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or NOTHING
    return str(int(value)) if isinstance(value, int) else str(value.value)


def tuple_of(text: str) -> tuple[int, ...]:
    """The integers of a decision's text; ValueError where it is malformed."""
    return tuple(int(part) for part in text.split(",")) if text not in ("", NOTHING) else ()

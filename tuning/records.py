"""What the solutions database holds, and which solution answers which request."""

from __future__ import annotations

import hashlib
import json
import math
import reprlib
from collections.abc import Callable
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from ttc_llvm.errors import DatabaseError

MODES = ("cold", "hot-a", "hot-b", "hot-ab")
EXHAUSTIVE = -1  # the effort of a search through the whole space


@dataclass(frozen=True, slots=True)
class Request:
    """The key of a solution. Every text is canonical: equal requests have equal texts.

    problem: the canonical form; target: triple, CPU and features; threads: at least 1; mode: one of MODES,
    what the caches hold when timed; options: forced decisions ("" = none); versions: of plans and of LLVM.
    """

    problem: str
    target: str
    threads: int
    mode: str
    options: str
    versions: str

    def __post_init__(self) -> None:
        for name in ("problem", "target", "options", "versions"):
            _check(name, getattr(self, name), _is_text, "is not text")
        _check("threads", self.threads, _is_count, "is not a count of at least 1")
        _check("mode", self.mode, MODES.__contains__, f"is not one of {', '.join(MODES)}")

    @property
    def id(self) -> str:
        """32 hexadecimal digits that name this request in listings and in the file."""
        return hashlib.sha256(json.dumps(astuple(self)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Timing:
    """Every measured run of one candidate, in seconds."""

    plan: str
    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        _check("timings.plan", self.plan, _is_text, "is not text")
        _check("timings.seconds", self.seconds, _are_seconds, "are not finite, non-negative numbers")


def now() -> str:
    """The time in UTC, ISO 8601, to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Record:
    """The best known solution of one request.

    effort: candidates considered, EXHAUSTIVE for the whole space; plan: the winner's text; seconds: its best
    run, None where nothing was timed; objects: object files by name, for this very target and version;
    ceiling_gibs: the bandwidth ceiling (GiB/s) of the same run. Raises DatabaseError for a malformed field.
    """

    request: Request
    effort: int
    plan: str
    seconds: float | None = None
    timings: tuple[Timing, ...] = ()
    objects: tuple[tuple[str, bytes], ...] = ()
    created: str = field(default_factory=now)
    ceiling_gibs: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        _check("effort", self.effort, _is_effort, "is neither a count of at least 1 nor -1 (the whole space)")
        _check("plan", self.plan, _is_text, "is not text")
        _check("seconds", self.seconds, _is_optional, "is not a finite, non-negative number")
        _check("ceiling_gibs", self.ceiling_gibs, _is_optional, "is not a finite, non-negative number")
        _check("created", self.created, _is_time, "is not an ISO 8601 time")
        _check("note", self.note, _is_text, "is not text")
        _check("timings", self.timings, _are_timings, "are not timings of candidates")
        _check("objects", self.objects, _are_objects, "are not bytes under distinct names")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the database knows of a request.

    record: the row of this very request, if any; sufficient: no new search is needed; hints: where it is not
    sufficient, plans worth a try, those of related requests included, most promising first.
    """

    record: Record | None = None
    sufficient: bool = False
    hints: tuple[str, ...] = ()


def covers(effort: int, wanted: int) -> bool:
    """True where a solution found with this effort answers a request of the wanted effort."""
    return effort == EXHAUSTIVE or effort >= wanted > EXHAUSTIVE


def merge(old: Record | None, new: Record) -> Record:
    """Which of two records of one request to keep: more effort wins, then speed, then the newer.

    Objects of the loser survive in the winner where both have the same plan and the winner has none.
    """
    if old is None:
        return new
    winner, loser = (new, old) if _replaces(new, old) else (old, new)
    if loser.objects and not winner.objects and loser.plan == winner.plan:
        return replace(winner, objects=loser.objects)
    return winner


def _replaces(new: Record, old: Record) -> bool:
    if new.effort != old.effort:
        return covers(new.effort, old.effort)
    if old.seconds is None or new.seconds is None:
        return old.seconds is None
    return new.seconds <= old.seconds


def _check(name: str, value: Any, holds: Callable[[Any], bool], otherwise: str) -> None:
    if not holds(value):
        raise DatabaseError(f"{name} = {reprlib.repr(value)} {otherwise}")


def _is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value < 1 << 63


def _is_count(value: Any) -> bool:
    return _is_integer(value) and value >= 1


def _is_effort(value: Any) -> bool:
    return _is_count(value) or (_is_integer(value) and value == EXHAUSTIVE)


def _is_number(value: Any) -> bool:
    number = isinstance(value, float) or _is_integer(value)
    return number and math.isfinite(value) and value >= 0


def _is_optional(value: Any) -> bool:
    return value is None or _is_number(value)


def _are_seconds(value: Any) -> bool:
    return isinstance(value, tuple) and all(map(_is_number, value))


def _are_timings(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(timing, Timing) for timing in value)


def _are_objects(value: Any) -> bool:
    if not isinstance(value, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        return False
    distinct = len({name for name, _ in value if _is_text(name)}) == len(value)
    return distinct and all(isinstance(data, bytes) for _, data in value)


def _is_time(value: Any) -> bool:
    if not _is_text(value):
        return False
    try:
        datetime.fromisoformat(value.removesuffix("Z"))
    except ValueError:
        return False
    return True

"""Records of the solutions database, and the choice of the one that answers a request."""

from __future__ import annotations

import hashlib
import json
import math
import reprlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import lru_cache, reduce
from typing import Any

from ttc_llvm.errors import DatabaseError

MODES = ("cold", "hot-a", "hot-b", "hot-ab")
EXHAUSTIVE = -1  # the effort of a search through the whole space
KIND = "transposition"
MAX_TEXT = 1 << 16  # bytes of one text, timings and `extra` aside
MAX_TIMINGS = 4 << 20  # characters of all timings in JSON
MAX_EXTRA = 1 << 20  # bytes, and as many in ASCII
_DEEPER = 100  # how much deeper than on its own `extra` may be nested in a line of an export, and a caller be
_INTEGERS = 1 << 63  # SQLite's: from minus this to this, exclusive


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a solution. Every text is canonical: equal requests have equal texts.

    problem: the canonical form; target: triple, CPU and features; threads: at least 1; mode: one of MODES,
    what the caches hold when timed; options: forced decisions ("" = none); versions: of plans and of LLVM, whose
    object code the asker can run; kind: of the problem. All but the versions are the key of a solution.
    """

    problem: str
    target: str
    threads: int
    mode: str
    options: str
    versions: str
    kind: str = KIND

    def __post_init__(self) -> None:
        for name in ("problem", "target", "options", "versions", "kind"):
            _check_text(name, getattr(self, name))
        _check("threads", self.threads, _is_count, "is not a count of at least 1")
        _check("mode", self.mode, MODES.__contains__, f"is not one of {', '.join(MODES)}")

    @property
    def id(self) -> str:
        """32 hexadecimal digits that name this request in listings and in the file, whatever the versions."""
        return digits(self.kind, self.problem, self.target, self.threads, self.mode, self.options)


@lru_cache(maxsize=256)
def digits(*key: str | int) -> str:
    """32 hexadecimal digits that name a key."""
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Timing:
    """Every measured run of one candidate, in seconds."""

    plan: str
    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_text("timings.plan", self.plan)
        _check("timings.seconds", self.seconds, _are_seconds, "are not finite, non-negative numbers")


def timings_text(timings: tuple[Timing, ...]) -> str:
    """Timings in JSON, as rows have them."""
    return json.dumps([{"plan": t.plan, "seconds": t.seconds} for t in timings])


def now() -> str:
    """The time in UTC, ISO 8601, to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Record:
    """The best known solution of one request.

    effort: candidates considered, EXHAUSTIVE for the whole space; plan: the winner's text; seconds: its best
    run, None where nothing was timed; objects: object files by name, for the request's very target and versions;
    ceiling_gibs: the bandwidth ceiling (GiB/s) of the same run; made_by: the versions that found the plan, by default
    the request's; provisional: how often it was timed while the machine was disturbed, 0 = well founded; extra: a JSON
    object, what other kinds of problems have besides. Raises DatabaseError for a malformed field.
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
    made_by: str = ""
    provisional: int = 0
    extra: str = "{}"

    def __post_init__(self) -> None:
        if self.made_by == "":
            object.__setattr__(self, "made_by", self.request.versions)
        _check("effort", self.effort, _is_effort, "is neither a count of at least 1 nor -1 (the whole space)")
        for name in ("plan", "note", "made_by"):
            _check_text(name, getattr(self, name))
        _check("seconds", self.seconds, _is_optional, "is not a finite, non-negative number")
        _check("ceiling_gibs", self.ceiling_gibs, _is_optional, "is not a finite, non-negative number")
        _check("created", self.created, _is_time, "is not an ISO 8601 time")
        _check("provisional", self.provisional, _is_tally, "is not a count")
        _check("extra", self.extra, _is_object, f"is not a JSON object of at most {MAX_EXTRA} bytes")
        _check("timings", self.timings, _are_timings, "are not timings of candidates")
        _check("timings", self.timings, _are_short, f"have more than {MAX_TIMINGS} characters in JSON")
        _check("objects", self.objects, are_objects, "are not bytes under distinct names")


@dataclass(frozen=True, slots=True)
class Answer:
    """The database's answer to a request.

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
    """The one of two records of one request that is kept: more effort wins, then speed, then the newer.

    Objects of the loser survive in the winner where both have the same plan and the winner has none.
    """
    if old is None:
        return new
    winner, loser = (new, old) if _replaces(new, old) else (old, new)
    if loser.objects and not winner.objects and loser.plan == winner.plan:
        return replace(winner, request=loser.request, objects=loser.objects)
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


def _check_text(name: str, value: Any) -> None:
    _check(name, value, _is_text, f"is not text of at most {MAX_TEXT} bytes")


def _is_text(value: Any, most: int = MAX_TEXT) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return len(value.encode()) <= most
    except UnicodeEncodeError:
        return False


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_INTEGERS <= value < _INTEGERS


def _is_tally(value: Any) -> bool:
    return _is_integer(value) and value >= 0


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


def _are_short(value: tuple[Timing, ...]) -> bool:
    at_most = sum(40 + 6 * len(timing.plan) + 26 * len(timing.seconds) for timing in value)  # and known at once
    return at_most <= MAX_TIMINGS or len(timings_text(value)) <= MAX_TIMINGS


def are_objects(value: Any) -> bool:
    """True for pairs of a name and bytes, the names distinct."""
    if not isinstance(value, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        return False
    distinct = len({name for name, _ in value if _is_text(name)}) == len(value)
    return distinct and all(isinstance(data, bytes) for _, data in value)


def _is_object(value: Any) -> bool:
    if value == "{}":  # nearly always
        return True
    if not _is_text(value, MAX_EXTRA):
        return False
    try:
        found = json.loads(value)
        text = json.dumps(reduce(lambda inner, _: [inner], range(_DEEPER), found), allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and len(text) <= MAX_EXTRA


def _is_time(value: Any) -> bool:
    if not _is_text(value):
        return False
    try:
        datetime.fromisoformat(value.removesuffix("Z"))
    except ValueError:
        return False
    return True

"""Records of the solutions database, and the choice of the one that answers a request."""

from __future__ import annotations

from datetime import datetime, timezone
from functools import lru_cache
from typing import Any

from ttc_llvm import locks
from ttc_llvm.errors import DatabaseError
from ttc_llvm.lazy_dataclasses import dataclass, field, replace
from ttc_llvm.tuning.database import field_rules as rules
from ttc_llvm.tuning.database.digests import sha256

MODES = ("cold", "hot-a", "hot-b", "hot-ab")
KIND = "transposition"
MAX_TIMINGS = 4 << 20  # characters of all timings in JSON
TIMED = "timed"  # of `extra`: how many candidates were, of which a row keeps the first
RETIMED = 2  # times that a provisional solution is timed again, at most


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
            rules.check_text(name, getattr(self, name))
        rules.check("threads", self.threads, rules.is_count, "is not a count of at least 1")
        rules.check("mode", self.mode, MODES.__contains__, f"is not one of {', '.join(MODES)}")

    @property
    def id(self) -> str:
        """32 hexadecimal digits that name this request in listings and in the file, whatever the versions."""
        return digits(self.kind, self.problem, self.target, self.threads, self.mode, self.options)


@lru_cache(maxsize=256)
def digits(*key: str | int) -> str:
    """32 hexadecimal digits that name a key."""
    text = ", ".join(str(one) if isinstance(one, int) else _quoted(one) for one in key)  # as JSON's list
    return str(sha256(f"[{text}]".encode()).hexdigest()[:32])


def _quoted(text: str) -> str:
    """A text as JSON has it."""
    if text.isascii() and text.isprintable() and not {"\\", '"'} & {*text}:  # nearly always: `json` takes long to load
        return f'"{text}"'
    return str(locks.imported("json").dumps(text))


@dataclass(frozen=True, slots=True)
class Timing:
    """Every measured run of one candidate, in seconds."""

    plan: str
    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        rules.check_text("timings.plan", self.plan)
        rules.check("timings.seconds", self.seconds, rules.are_seconds, "are not finite, non-negative numbers")


def timings_text(timings: tuple[Timing, ...]) -> str:
    """Timings in JSON, as rows have them."""
    if not timings:
        return "[]"
    return str(locks.imported("json").dumps([{"plan": t.plan, "seconds": t.seconds} for t in timings]))


def timings(given: Any) -> tuple[Timing, ...]:
    """Timings out of JSON's lists; DatabaseError where they have another shape."""
    try:
        return tuple(Timing(item["plan"], tuple(item["seconds"])) for item in given)
    except (TypeError, KeyError, IndexError):
        raise DatabaseError("timings are not a list of {plan, seconds}") from None


def now() -> str:
    """The time in UTC, ISO 8601, to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Record:
    """The best known solution of one request.

    effort: candidates considered, EXHAUSTIVE for the whole space; plan: the winner's text; seconds: its best
    run, None where nothing was timed; objects: object files by name, for the request's very target and versions;
    ceiling_gibs: the bandwidth ceiling (GiB/s) of the same run; made_by: the versions that found the plan, by default
    the request's; provisional: how often it was timed while the machine was busy, 0 = well founded; extra: a JSON
    object: `timed`, and what other kinds of problems have besides. Raises DatabaseError for a malformed field.
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
        rules.check("effort", self.effort, rules.is_effort, "is neither a count of at least 1 nor -1 (the whole space)")
        for name in ("plan", "note", "made_by"):
            rules.check_text(name, getattr(self, name))
        rules.check("seconds", self.seconds, rules.is_optional, "is not a finite, non-negative number")
        rules.check("ceiling_gibs", self.ceiling_gibs, rules.is_optional, "is not a finite, non-negative number")
        rules.check("created", self.created, rules.is_time, "is not an ISO 8601 time")
        rules.check("provisional", self.provisional, rules.is_tally, "is not a count")
        rules.check("extra", self.extra, rules.is_object, f"is not a JSON object of at most {rules.MAX_EXTRA} bytes")
        rules.check("timings", self.timings, _are_timings, "are not timings of candidates")
        rules.check("timings", self.timings, _are_short, f"have more than {MAX_TIMINGS} characters in JSON")
        rules.check("objects", self.objects, rules.are_objects, "are not bytes under distinct names")

    @property
    def timed(self) -> int | None:
        """The number of candidates that were timed; None where the row does not tell, being older."""
        found = locks.imported("json").loads(self.extra).get(TIMED)
        return found if rules.is_tally(found) and found >= len(self.timings) else None

    @property
    def is_due(self) -> bool:
        """True where it is to be timed again before it answers."""
        return 0 < self.provisional <= RETIMED


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
    return effort == rules.EXHAUSTIVE or effort >= wanted > rules.EXHAUSTIVE


def merge(old: Record | None, new: Record) -> Record:
    """The one of two records of one request that is kept: more effort wins, then what is well founded, then speed, then
    the newer. What is well founded and as fast also replaces a provisional one of more effort.

    Objects of the loser survive in the winner where both have the same plan and the winner has none. Of two provisional
    records the count of the higher stays: timing is not repeated for ever.
    """
    if old is None:
        return new
    winner, loser = (new, old) if _replaces(new, old) else (old, new)
    if winner.provisional and winner.effort == loser.effort:
        winner = replace(winner, provisional=max(winner.provisional, loser.provisional))
    if loser.objects and not winner.objects and loser.plan == winner.plan:
        return replace(winner, request=loser.request, objects=loser.objects)
    return winner


def _replaces(new: Record, old: Record) -> bool:
    known, found = old.seconds, new.seconds
    faster = known is not None and found is not None and found <= known
    better = bool(old.provisional) and not new.provisional
    if new.effort != old.effort:
        return covers(new.effort, old.effort) or (better and faster)
    if known is None or found is None:
        return known is None
    return better or (faster and not (new.provisional and not old.provisional))


def _are_timings(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(timing, Timing) for timing in value)


def _are_short(value: tuple[Timing, ...]) -> bool:
    at_most = sum(40 + 6 * len(timing.plan) + 26 * len(timing.seconds) for timing in value)  # and known at once
    return at_most <= MAX_TIMINGS or len(timings_text(value)) <= MAX_TIMINGS

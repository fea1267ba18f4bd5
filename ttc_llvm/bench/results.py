"""The measurement of one case: a frozen value, and one line of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from math import isfinite
from statistics import median
from typing import Any

from ..errors import OptionError
from ..problem.wording import printable
from ..tuning.measurement import GIB

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Timing:
    """The runs of one contender. bytes: moved by one; seconds: of each, in the order of the rounds."""

    bytes: int
    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The fastest run."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """Half of the runs took no longer."""
        return median(self.seconds)

    @property
    def gibs(self) -> float:
        """GiB/s of the fastest run."""
        return self.bytes / self.best / GIB


@dataclass(frozen=True, slots=True)
class Reference:
    """The origin of a case's reference: the naive loop nest by a compiler, or a source file of the user's own.

    compiler: its name in tables; version: as it tells itself; flags: as they were given to it; traverse: `output`
    (B is written linearly), `input` (A is read linearly), or the source file's name; compile_s: seconds that compiling
    took; cached: in an earlier run; message: why there is no timing, "" where there is one.
    """

    compiler: str
    version: str
    flags: tuple[str, ...]
    traverse: str
    compile_s: float
    cached: bool = False
    message: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """One case, measured.

    key: of the case, the options and the versions, for resuming; case: what was measured, in one line;
    run_bytes: what lies together in both tensors, at least; source: tuned, database or cost model;
    ceiling: which of the ceilings counts; before: its GiB/s before the search (0 = not measured);
    ceilings, peers: by name; facts: machine, versions, options, affinity, date; references: by name, how those peers
    were compiled, and what could not be compiled or was wrong, which is not among the peers.
    """

    key: str
    suite: str
    name: str
    kind: str
    mode: str
    threads: int
    case: str
    problem: Mapping[str, Any]
    canonical: str
    run_bytes: int
    plan: str
    source: str
    candidates: int
    verified: bool
    elapsed: float
    ours: Timing
    ceiling: str
    before: float
    ceilings: Mapping[str, Timing]
    peers: Mapping[str, Timing]
    facts: Mapping[str, Any] = field(default_factory=dict)
    references: Mapping[str, Reference] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The case's name: suite, name and kind."""
        return f"{self.suite}/{self.name}/{self.kind}"

    @property
    def bound(self) -> Timing | None:
        """The runs of the ceiling that counts; None where it could not be measured."""
        return self.ceilings.get(self.ceiling)

    @property
    def ratio(self) -> float | None:
        """Our bandwidth as a share of the ceiling's; None where the ceiling could not be measured."""
        return self.ratio_to(self.ceiling)

    def ratio_to(self, ceiling: str) -> float | None:
        """Our bandwidth as a share of this ceiling's, None where it was not measured."""
        timing = self.ceilings.get(ceiling)
        return None if timing is None else self.ours.gibs / timing.gibs

    @property
    def drift(self) -> float | None:
        """The ceiling in the final rounds by what it was before the search."""
        return self.bound.gibs / self.before if self.bound is not None and self.before else None

    def speedup(self, peer: str) -> float | None:
        """The speedup over a peer, best run by best run; None where it did not take part."""
        return self.peers[peer].best / self.ours.best if peer in self.peers else None

    def pairs(self, peer: str) -> float | None:
        """The same, as the median over the rounds in which both ran one after the other."""
        if peer not in self.peers:
            return None
        return median(p / o for p, o in zip(self.peers[peer].seconds, self.ours.seconds, strict=False))


# --- JSON -------------------------------------------------------------------------------------------------


BEGINNING = f'{{"format": {FORMAT}, "{fields(Result)[0].name}": '.encode()  # of every line


def to_line(result: Result) -> str:
    """One line of JSON, without its end; what follows from the rest is spelled out for other readers."""
    values: dict[str, Any] = {"format": FORMAT}
    values |= {one.name: _plain(getattr(result, one.name)) for one in fields(result)}
    values["ratio"] = _rounded(result.ratio)
    values["ratios"] = {name: _rounded(result.ratio_to(name)) for name in result.ceilings}
    values["drift"] = _rounded(result.drift)
    for name in result.peers:
        values["peers"][name] |= {"speedup": _rounded(result.speedup(name)), "pairs": _rounded(result.pairs(name))}
    return json.dumps(values)


def _plain(value: Any) -> Any:
    if isinstance(value, Timing):
        seconds = [_rounded(s) for s in value.seconds]
        return {"gibs": _rounded(value.gibs), "bytes": value.bytes, "seconds": seconds}
    if isinstance(value, Reference):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return _rounded(value) if isinstance(value, float) else value


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


def from_line(line: str) -> Result:
    """The inverse of `to_line`. OptionError for what is no result."""
    try:
        values = json.loads(line)
        if values["format"] != FORMAT:
            raise OptionError(f"a result has format {values['format']!r}: this version reads {FORMAT}")
        values.setdefault("references", {})  # lines of 0.1.0 have none
        found = {one.name: values[one.name] for one in fields(Result)}
        found["ours"] = _timing(found["ours"])
        for group in ("ceilings", "peers"):
            found[group] = {name: _timing(one) for name, one in found[group].items()}
        found["references"] = {name: _reference(one) for name, one in found["references"].items()}
        for names, holds in _RULES.items():
            _require(*(holds(found[name]) for name in names))
        return Result(**found)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(f"a line is no result of a benchmark: {line[:60]!r}") from None


def _timing(value: Any) -> Timing:
    found = Timing(value["bytes"], tuple(value["seconds"]))
    _require(_is_count(found.bytes), found.bytes > 0, found.seconds, *map(_is_duration, found.seconds))
    return found


def _reference(value: Any) -> Reference:
    found = Reference(**value)
    texts = (found.compiler, found.version, found.traverse, found.message, *found.flags)
    _require(*(isinstance(text, str) for text in texts), isinstance(found.flags, list), _is_number(found.compile_s))
    shown = {name: printable(getattr(found, name)) for name in ("compiler", "version", "traverse", "message")}
    flags = tuple(map(printable, found.flags))
    return replace(found, flags=flags, compile_s=float(found.compile_s), cached=bool(found.cached), **shown)


def _require(*facts: object) -> None:
    if not all(facts):
        raise ValueError


def _is_text(value: Any) -> bool:
    """True for what may be printed: names go to terminals."""
    return isinstance(value, str) and value.isprintable()


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def _is_number(value: Any) -> bool:
    return _is_count(value) or (isinstance(value, float) and value >= 0 and isfinite(value))


def _is_duration(value: Any) -> bool:
    """True for seconds of a run, so that no ratio of two overflows."""
    return _is_number(value) and 1e-15 < value < 1e15


def _is_problem(value: Any) -> bool:
    """True for the fields of `wording.problem_fields` that name a case."""
    lists = (value["perm"], value["size"], value.get("lda") or [], value.get("ldb") or [])
    return _is_text(value["dataType"]) and all(isinstance(one, list) and all(map(_is_count, one)) for one in lists)


def _are_named(value: Any) -> bool:
    return all(map(_is_text, value))


_RULES: Mapping[tuple[str, ...], Callable[[Any], bool]] = {
    ("key", "suite", "name", "mode", "case", "canonical", "plan", "source", "ceiling"): _is_text,
    ("kind",): lambda value: value in ("copy", "update"),
    ("threads", "run_bytes", "candidates"): _is_count,
    ("elapsed", "before"): _is_number,
    ("verified",): lambda value: isinstance(value, bool),
    ("problem",): _is_problem,
    ("facts",): lambda value: isinstance(value, dict),
    ("ceilings", "peers", "references"): _are_named,
}

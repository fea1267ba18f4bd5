"""What was measured for one case: a frozen value, and one line of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from math import isfinite
from statistics import median
from typing import Any

from ..errors import OptionError

FORMAT = 1
GIB = 1 << 30


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
    """How a reference of a case was made: the naive loop nest by a compiler, or a source file of the user's own.

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
        timing = self.ceilings.get(self.ceiling)
        return timing.gibs / self.before if timing is not None and self.before else None

    def speedup(self, peer: str) -> float:
        """How many times as fast as a peer we are, best run by best run."""
        return self.peers[peer].best / self.ours.best

    def pairs(self, peer: str) -> float:
        """The same, as the median over the rounds in which both ran one after the other."""
        return median(p / o for p, o in zip(self.peers[peer].seconds, self.ours.seconds, strict=False))


# --- JSON -------------------------------------------------------------------------------------------------


def to_line(result: Result) -> str:
    """One line of JSON, without its end; what follows from the rest is spelled out for other readers."""
    values: dict[str, Any] = {"format": FORMAT}
    for one in fields(result):
        value = getattr(result, one.name)
        values[one.name] = _plain(value)
    values["ratio"] = _rounded(result.ratio)
    values["ratios"] = {name: _rounded(result.ratio_to(name)) for name in result.ceilings}
    values["drift"] = _rounded(result.drift)
    for name in result.peers:
        values["peers"][name] |= {"speedup": _rounded(result.speedup(name)), "pairs": _rounded(result.pairs(name))}
    return json.dumps(values)


def _plain(value: Any) -> Any:
    if isinstance(value, Timing):
        return {
            "gibs": _rounded(value.gibs),
            "bytes": value.bytes,
            "seconds": [_rounded(s) for s in value.seconds],
        }
    if isinstance(value, Reference):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return _rounded(value) if isinstance(value, float) else value


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


def from_line(line: str) -> Result:
    """The inverse of `to_line`. OptionError for what is no result, or one whose fields are of other types."""
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
        _check_types(found)
        return Result(**found)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(f"a line is no result of a benchmark: {line[:60]!r}") from None


_TYPES: Mapping[type | tuple[type, ...], tuple[str, ...]] = {
    str: ("key", "suite", "name", "kind", "mode", "case", "ceiling", "canonical", "plan", "source"),
    int: ("threads", "run_bytes", "candidates"),
    (int, float): ("elapsed", "before"),
    dict: ("problem", "facts"),
}


def _check_types(found: Mapping[str, Any]) -> None:
    for kind, names in _TYPES.items():
        for name in names:
            if not isinstance(found[name], kind):
                raise TypeError(name)
    if not (found["elapsed"] >= 0 and isfinite(found["elapsed"])):
        raise ValueError("elapsed")


def _timing(value: Any) -> Timing:
    seconds, moved = tuple(float(s) for s in value["seconds"]), int(value["bytes"])
    if not seconds or not all(s > 0 and isfinite(s) for s in seconds) or moved < 1:
        raise ValueError("seconds")
    return Timing(moved, seconds)


def _reference(value: Any) -> Reference:
    found = Reference(**value)
    texts = (found.compiler, found.version, found.traverse, found.message, *found.flags)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("reference")
    return replace(found, flags=tuple(found.flags), compile_s=float(found.compile_s))

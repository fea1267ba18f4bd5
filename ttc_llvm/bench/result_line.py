"""Results as lines of JSON, and back. Lines may be hostile."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from math import isfinite
from typing import Any

from ..errors import OptionError
from ..lazy_dataclasses import replace
from ..tuning.database.notices import printable
from .results import Reference, Result, Timing

FORMAT = 1
_SINCE = {"references": {}, "provisional": 0}  # fields that older lines lack
BEGINNING = f'{{"format": {FORMAT}, "{fields(Result)[0].name}": '.encode()  # of every line


def to_line(result: Result) -> str:
    """One line of JSON, without its end; what follows from the rest is spelled out for other readers."""
    values: dict[str, Any] = {"format": FORMAT}
    values |= {one.name: _plain(getattr(result, one.name)) for one in fields(result)}
    values["ratio"] = _rounded(result.ratio)
    values["ratios"] = {name: _rounded(result.ratio_to(name)) for name in result.ceilings}
    values |= {"drift": _rounded(result.drift), "busy": result.busy}
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
        values = _SINCE | values
        found = {one.name: values[one.name] for one in fields(Result)}
        found["ours"] = _timing(found["ours"])
        for group in ("ceilings", "peers"):
            found[group] = {name: _timing(one) for name, one in found[group].items()}
        found["references"] = {name: _reference(one) for name, one in found["references"].items()}
        for names, holds in _RULES.items():
            require(*(holds(found[name]) for name in names))
        return Result(**found)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(f"a line is no result of a benchmark: {line[:60]!r}") from None


def _timing(value: Any) -> Timing:
    found = Timing(value["bytes"], tuple(value["seconds"]))
    require(is_count(found.bytes), found.bytes > 0, found.seconds, *map(is_duration, found.seconds))
    return found


def _reference(value: Any) -> Reference:
    found = Reference(**value)
    texts = (found.compiler, found.version, found.traverse, found.message, *found.flags)
    require(*(isinstance(text, str) for text in texts), isinstance(found.flags, list), is_number(found.compile_s))
    shown = {name: printable(getattr(found, name)) for name in ("compiler", "version", "traverse", "message")}
    flags = tuple(map(printable, found.flags))
    return replace(found, flags=flags, compile_s=float(found.compile_s), cached=bool(found.cached), **shown)


def require(*facts: object) -> None:
    """ValueError unless all of them hold."""
    if not all(facts):
        raise ValueError


def is_text(value: Any) -> bool:
    """True for what may be printed: names go to terminals."""
    return isinstance(value, str) and value.isprintable()


def is_count(value: Any) -> bool:
    """True for an integer that is not negative, of at most 63 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def is_number(value: Any) -> bool:
    """True for a finite number that is not negative."""
    return is_count(value) or (isinstance(value, float) and value >= 0 and isfinite(value))


def is_duration(value: Any) -> bool:
    """True for seconds of a run, so that no ratio of two overflows."""
    return is_number(value) and 1e-15 < value < 1e15


def _is_problem(value: Any) -> bool:
    """True for the fields of `wording.problem_fields` that name a case."""
    lists = (value["perm"], value["size"], value.get("lda") or [], value.get("ldb") or [])
    return is_text(value["dataType"]) and all(isinstance(one, list) and all(map(is_count, one)) for one in lists)


def are_named(value: Any) -> bool:
    """True for a mapping whose names may be printed."""
    return all(map(is_text, value))


_RULES: Mapping[tuple[str, ...], Callable[[Any], bool]] = {
    ("key", "suite", "name", "mode", "case", "canonical", "plan", "source", "ceiling"): is_text,
    ("kind",): lambda value: value in ("copy", "update"),
    ("threads", "run_bytes", "candidates", "provisional"): is_count,
    ("elapsed", "before"): is_number,
    ("verified",): lambda value: isinstance(value, bool),
    ("problem",): _is_problem,
    ("facts",): lambda value: isinstance(value, dict),
    ("ceilings", "peers", "references"): are_named,
}

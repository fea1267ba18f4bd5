"""The setting in which the results of a report were measured, and the meaning of its numbers, in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from ..bench.report import KINDS
from ..bench.results import Result
from ..bench.setting import Measured, affinity, effort, effort_name, machine
from ..tuning.measurement import BUSY
from .groups import RULES
from .inputs import Inputs

MODES = {
    "cold": "neither tensor is in the caches when a run starts",
    "hot": "both tensors are in the caches; times are of one call out of many",
}


def setting(inputs: Inputs) -> Iterator[str]:
    """Machines, versions, dates, and what the numbers mean."""
    settings: dict[tuple[tuple[str, str], ...], list[Measured]] = {}
    for one in inputs.measured:
        settings.setdefault(tuple(_machine(one)), []).append(one)
    for facts, results in settings.items():
        yield _definitions([*facts, *_varying(results), ("Results", str(len(results)))])
    yield "<h3>What the numbers mean</h3>"
    yield _definitions([*_meanings(inputs.results), *_of_contractions(inputs)])


def _machine(one: Measured) -> Iterator[tuple[str, str]]:
    yield "Machine", machine(one)
    for name in ("target", "system"):
        yield name.capitalize(), str(one.facts.get(name, "none"))
    yield "Versions", _pairs(one.facts.get("versions"))
    blas = one.facts.get("blas")
    yield "BLAS", "; ".join(map(str, blas)) or "none" if isinstance(blas, list) else "none"


def _varying(results: Sequence[Measured]) -> Iterator[tuple[str, str]]:
    """What may differ between results of one machine: every value once."""
    yield "Threads", _distinct(str(one.threads) for one in results)
    yield "Affinity", _distinct(affinity(one) for one in results)
    yield "Candidates", _distinct(effort_name(effort(one)) for one in results)
    yield "Other libraries", _distinct(_libraries(one) for one in results)
    yield "Compilers", _distinct(
        " ".join([made.version or made.compiler, *made.flags]) for one in results for made in one.references.values()
    )
    failed = {f"{name}: {made.message}" for one in results for name, made in one.references.items() if made.message}
    yield "Left out", _distinct(sorted(failed))
    dates = sorted(str(one.facts["date"]) for one in results if "date" in one.facts)
    yield "Measured", f"{dates[0]} to {dates[-1]}" if dates else "none"


def _libraries(one: Measured) -> str:
    peers = _mapping(one.facts.get("peers"))
    return _pairs({name: version for name, version in peers.items() if name not in one.references}, "")


def _distinct(values: Iterable[str]) -> str:
    return "; ".join(value for value in dict.fromkeys(values) if value) or "none"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _pairs(value: Any, nothing: str = "none") -> str:
    return ", ".join(f"{name} {one}" for name, one in _mapping(value).items()) or nothing


def _of_contractions(inputs: Inputs) -> Iterator[tuple[str, str]]:
    if inputs.contractions:
        yield "GFlop/s", "10^9 additions and multiplications of real numbers per second, of the best run"
        yield "Plain product", "a matrix product of the same m, n and k by the same BLAS, in the same run"
        yield "Flop", "of one run: 2 for each product of real numbers that is added, 8 of complex ones"
        yield "Bytes", "of A, B and C, each once; scratch: what our plan needs besides"


def _meanings(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    if not results:
        return
    yield "Bandwidth", "GiB/s = 2^30 bytes per second, of the best run"
    for kind in dict.fromkeys(one.kind for one in results):
        if kind in RULES:
            yield f"{kind} ({KINDS[kind]})", RULES[kind]
    for mode in dict.fromkeys(one.mode for one in results):
        yield mode, MODES.get(mode, mode)
    yield "Ceiling", "the same bytes without a permutation, in the same run: a copy for beta = 0, SAXPY otherwise"
    yield "Ratio", "our bandwidth by the ceiling's of the same run: 1 = as fast as a plain copy"
    yield "Candidates", "plans that a search may time; 1 = the cost model's first plan, untimed"
    yield "Geomean", "geometric mean over cases of one run: of one search size, affinity and day"
    busy = sum(one.busy for one in results)
    if busy:
        words = "the ceiling changed by more than 1.25 before, during or after, or threads waited for CPUs"
        yield BUSY.capitalize(), f"{busy} of {len(results)} results: {words}"


def _definitions(pairs: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in pairs if b != "none") + "</dl>"

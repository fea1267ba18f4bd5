"""The figures of contractions: GFlop/s below the plain product's, other libraries, and the roofline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..bench.contraction_results import CEILING, ContractionResult, summary
from ..tuning.measurement import GIB
from . import groups
from .case_series import busy_words, by_case, contenders
from .charts import Cases, Cloud
from .inputs import Inputs

COMMAND = "ttc bench --suite=tccg,networks,attention --effort=20 --output=here.jsonl"
GFLOPS = "GFlop/s"
PLAIN = "The plain product: a matrix product of the same m, n and k, in the same run."


def speeds(inputs: Inputs) -> Iterator[Cases]:
    """GFlop/s of every case of one run below those of a plain matrix product of the same run."""
    for group in groups.groups(inputs.contractions):
        run = group.main()
        if run is None:
            continue
        bound = by_case("plain product", group, run.results, lambda r: r.gflops(CEILING))
        ours = by_case(run.label, group, run.results, lambda r: r.gflops())
        mean, least, whose = summary([*run.results.values()], CEILING)
        words = f"{run.label}. Best runs. {PLAIN} Of its speed, medians of pairs: geometric mean {mean:.2f}, least"
        words += f" {least:.2f} ({whose}).{busy_words([ours])}"
        yield Cases(group.title, words, GFLOPS, group.names, (ours,), bound)


def libraries(inputs: Inputs) -> Iterator[Cases]:
    """Times as fast as each other library."""
    return contenders(
        inputs.contractions, groups.libraries, "Speedup over other libraries, which fill the same array"
    )


def rooflines(inputs: Inputs) -> Iterator[Cloud]:
    """Flop a byte of A, B and C against GFlop/s, below the memory's speed and the fastest product."""
    for group in groups.groups(inputs.contractions):
        run = group.main()
        if run is not None:
            found = [*run.results.values()]
            roof, words = _roof(found)
            clouds = tuple(_clouds(found))
            words = f"{run.label}. Best runs. {words} {PLAIN}"
            yield Cloud(group.title, words, GFLOPS, clouds, "Flop a byte of A, B and C", roof)


def _clouds(found: Sequence[ContractionResult]) -> Iterator[tuple[str, tuple[tuple[float, float], ...]]]:
    """Ours by the kind of plan, what was predicted of them, and plain products."""
    for is_fused, label in ((True, "ttc, fused"), (False, "ttc, products by BLAS")):
        ours = [one for one in found if one.is_fused == is_fused]
        if ours:
            yield label, tuple((one.flops / one.bytes, one.gflops()) for one in ours)
            known = [(one, one.predicted) for one in ours if one.predicted is not None]
            points = tuple((one.flops / one.bytes, one.flops / seconds / 1e9) for one, seconds in known)
            yield from [(f"{label}, predicted", points)] * bool(points)
    yield "plain product", tuple((one.flops / one.bytes, one.gflops(CEILING)) for one in found)


def _roof(found: Sequence[ContractionResult]) -> tuple[tuple[tuple[float, float], ...], str]:
    """The corners of the roof from left to right, and its words."""
    at = [one.flops / one.bytes for one in found]
    peak = max(max(one.gflops(), one.gflops(CEILING)) for one in found)
    gibs = max(float(one.facts.get("memory_gibs", 0)) for one in found)
    words = f"Roofs: the fastest product, ours or a plain one, {peak:.3g} {GFLOPS}"
    if not gibs:
        return ((min(at), peak), (max(at), peak)), f"{words}; the memory's speed was not measured."
    slope = gibs * GIB / 1e9  # GFlop/s at one Flop a byte
    corners = (min(*at, peak / slope / 2), peak / slope, max(*at, peak / slope * 2))
    words += f"; the fastest copy of tensors that fit no cache, {gibs:.3g} GiB/s; tensors in caches may lie above it."
    return tuple((x, min(peak, slope * x)) for x in corners), words

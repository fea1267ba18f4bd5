"""The measurement of one contraction as a frozen value, as a line of JSON, and back. Lines may be hostile."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from statistics import geometric_mean, median
from typing import Any

from ..errors import OptionError
from ..lazy_dataclasses import dataclass
from .result_line import are_named, is_count, is_duration, is_number, is_text, require
from .results import OFF, Reference, Timing, rounds_off

FORMAT = 1
BEGINNING = f'{{"contraction": {FORMAT}, "id": '.encode()  # of every line
OURS, CEILING = "ttc", "gemm"


@dataclass(frozen=True, slots=True)
class ContractionResult:
    """One case, measured. flops: of one run; bytes: of A, B and C; seconds: of each round, by name: ours, the ceiling's
    and the peers'; scratch: bytes that our plan needs; facts: of the machine and its memory's speed, versions, the
    largest tensor of a case in bytes, date; predicted: seconds of ours, by which it was chosen, None in older lines."""

    id: str
    spec: str
    size: Mapping[str, int]
    dtype: str
    sizes: tuple[int, int, int]
    flops: int
    bytes: int
    plan: str
    scratch: int
    effort: int
    threads: int
    seconds: Mapping[str, tuple[float, ...]]
    facts: Mapping[str, Any]
    predicted: float | None = None

    @property
    def suite(self) -> str:
        """Before the first slash of the id."""
        return self.id.partition("/")[0]

    @property
    def name(self) -> str:
        """The case's name, which its suite holds once for each type."""
        return self.id.partition("/")[2].removesuffix(f"/{self.dtype}")

    @property
    def kind(self) -> str:
        """The type: no figure pools several."""
        return self.dtype

    @property
    def mode(self) -> str:
        """The size of the largest tensors of the run."""
        return f"tensors of {self.facts.get('largest', 0) / 2**20:.3g} MiB"

    @property
    def case(self) -> str:
        """The contraction in one line."""
        return (
            f"{self.spec} {' '.join(f'{index}:{extent}' for index, extent in self.size.items())} {self.dtype}"
        )

    @property
    def key(self) -> str:
        """Two results of equal keys are measurements of the same, of which the last counts."""
        facts = [self.facts.get(name) for name in ("machine", "cpu", "date")]
        return json.dumps(
            [self.case, self.mode, self.effort, self.threads, *(str(fact)[:10] for fact in facts)]
        )

    @property
    def candidates(self) -> int:
        """The plans that might be timed."""
        return self.effort

    @property
    def is_fused(self) -> bool:
        """True where our plan calls no BLAS."""
        return self.plan.startswith("fused")

    @property
    def ours(self) -> Timing:
        """Our runs."""
        return Timing(self.bytes, self.seconds[OURS])

    @property
    def bound(self) -> Timing:
        """The runs of a plain matrix product of the same m, n and k."""
        return Timing(self.bytes, self.seconds[CEILING])

    @property
    def peers(self) -> tuple[str, ...]:
        """Who else was measured."""
        return tuple(name for name in self.seconds if name not in (OURS, CEILING))

    @property
    def references(self) -> Mapping[str, Reference]:
        """None of them was compiled for the case."""
        return {}

    @property
    def busy(self) -> bool:
        """True where the plain product's speed changed from round to round: other work has touched the figures."""
        return rounds_off(self.bound) > OFF * len(self.bound.seconds)

    def gflops(self, name: str = OURS) -> float:
        """GFlop/s in the fastest run, ours or another's."""
        return self.flops / min(self.seconds[name]) / 1e9

    def pairs(self, name: str) -> float:
        """Times as fast as another: median of the rounds in which both ran."""
        return median(x / y for x, y in zip(self.seconds[name], self.seconds[OURS], strict=False))

    @property
    def line(self) -> str:
        """The result in JSON."""
        own = {one.name: getattr(self, one.name) for one in fields(ContractionResult)}
        ratios = {name: round(self.pairs(name), 4) for name in self.seconds if name != OURS}
        return json.dumps({"contraction": FORMAT, **own, "gflops": round(self.gflops(), 3), "pairs": ratios})


def from_line(line: str) -> ContractionResult:
    """The inverse of `ContractionResult.line`. OptionError for what is no result."""
    try:
        values = {"predicted": None} | json.loads(line)
        if values["contraction"] != FORMAT:
            raise OptionError(
                f"a contraction has format {values['contraction']!r}: this version reads {FORMAT}"
            )
        found = {one.name: values[one.name] for one in fields(ContractionResult)}
        for names, holds in _RULES.items():
            require(*(holds(found[name]) for name in names))
        found["seconds"] = {name: tuple(seconds) for name, seconds in found["seconds"].items()}
        return ContractionResult(**found | {"sizes": tuple(found["sizes"])})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(f"a line is no result of a contraction: {line[:60]!r}") from None


def _are_rounds(value: Mapping[str, Sequence[float]]) -> bool:
    return {OURS, CEILING} <= value.keys() and all(
        is_text(name) and isinstance(seconds, list) and seconds and all(map(is_duration, seconds))
        for name, seconds in value.items()
    )


_RULES: Mapping[tuple[str, ...], Callable[[Any], bool]] = {
    ("id", "spec", "dtype", "plan"): is_text,
    ("flops", "bytes", "threads"): lambda value: is_count(value) and value > 0,
    ("scratch",): is_count,
    ("effort",): lambda value: value == -1 or is_count(value),
    ("size",): lambda value: are_named(value) and all(map(is_count, value.values())),
    ("sizes",): lambda value: len(value) == 3 and all(map(is_count, value)),
    ("seconds",): _are_rounds,
    ("predicted",): lambda value: value is None or is_duration(value),
    ("facts",): lambda value: all(is_number(value.get(name, 0)) for name in ("largest", "memory_gibs")),
}


def summary(results: Sequence[ContractionResult], name: str) -> tuple[float, float, str]:
    """Times as fast as another: geometric mean of the medians of pairs, the least and whose it is."""
    pairs = [(result.pairs(name), result.id) for result in results if name in result.seconds]
    return geometric_mean(x for x, _ in pairs), *min(pairs)

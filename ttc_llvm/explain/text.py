"""An explanation as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from .. import arguments
from ..problem.tables import aligned, columns, wrapped
from ..problem.wording import bandwidth_rule, count, problem_line
from ..tuning.cost.cost import Terms
from ..tuning.measurement import GIB
from . import geometry, pseudo, threads, words
from .machine_code import Class, MachineCode

if TYPE_CHECKING:
    from .explanation import Explanation, RankedPlan

EXCERPT = 24  # lines of a long form in the overview; its stage has them all

Section = Callable[["Explanation"], Iterable[str]]


def render(e: Explanation) -> str:
    """All stages, one below the other; long ones cut, with the stage that has them whole."""
    parts: list[str] = []
    for name, (title, _) in STAGES.items():
        found = _lines(e, name)
        if name in LONG and len(found) > EXCERPT:
            rest = len(found) - EXCERPT
            found = [*found[:EXCERPT], f".. {rest} more lines: --stage={name}"]
        parts += ["", *_heading(title), *found] if parts else [*_heading(title), *found]
    return "\n".join(parts)


def stage(e: Explanation, name: str) -> str:
    """One stage, whole, without its title. OptionError for a name that is none."""
    return "\n".join(_lines(e, arguments.one_of("stage", name, STAGES)))


def _lines(e: Explanation, name: str) -> list[str]:
    """The lines of a stage, as wide as the terminal unless they are code of other languages."""
    lines = STAGES[name][1](e)
    return list(lines) if name in CODE else [part for line in lines for part in _fitted(line)]


def _fitted(line: str) -> list[str]:
    pad = line[: len(line) - len(line.lstrip())]
    return wrapped(line.lstrip(), pad, f"{pad}    ") if len(line) > columns() else [line]


def _heading(title: str) -> tuple[str, str]:
    return title, "-" * len(title)


# --- problem, axes ------------------------------------------------------------------------------------------


def _problem(e: Explanation) -> Iterator[str]:
    yield problem_line(e.problem)
    size = e.canonical.bytes_moved
    yield f"moves {size:,} bytes ({bandwidth_rule(e.canonical)})"
    yield f"target {e.target} ({e.target.cpu}, {e.target.vector_bits}-bit vectors), {count(e.threads, 'thread')}"


def _merged(e: Explanation) -> Iterator[str]:
    before = len(e.problem.size)
    yield f"{count(before, 'index', 'indices')} -> {count(len(e.canonical.axes), 'axis', 'axes')}, by stride in B"
    further = [f"in term {number}" for number in range(1, len(e.canonical.terms) + 1)]
    head = ("axis", "extent", "stride in A", "stride in B", *further)
    rows = [
        (str(k), f"{a.extent}", f"{a.stride_a}", f"{a.stride_b}", *(f"{x.strides[k]}" for x in e.canonical.terms))
        for k, a in enumerate(e.canonical.axes)
    ]
    yield from aligned([head, *rows])
    item, element = e.canonical.a.itemsize, e.problem.a.itemsize
    if item > element:
        yield f"rows of {item // element} elements are moved as items of {item} bytes"
    kinds = e.canonical.kinds
    yield f"elements {e.canonical.a} -> {e.canonical.b}, alpha {kinds.alpha.value}, beta {kinds.beta.value}"
    yield from words.conversion_lines(e)


# --- plans --------------------------------------------------------------------------------------------------


def _plans(e: Explanation) -> Iterator[str]:
    yield f"chosen, {words.source(e)}:"
    yield from words.plan_lines(e.plan)
    yield f"B is written {words.written(e)}"
    for when, other in words.other_plans(e):
        yield f"{when}:"
        yield from words.plan_lines(other)
    if e.chosen is None:
        return
    yield from _terms(e.chosen.terms, e)
    if e.ranked:
        yield ""
        yield (
            "The cost model's first plans, the fastest expected first; turn: when it would be tried; ms: the longer of"
            " memory and instructions (ms on one thread), by the threads that share the work; * = chosen:"
        )
        yield ""
        yield "turn      ms    GiB/s     memory  instructions  threads"
        for number, one in words.by_cost(e):
            yield from _ranked(number, one, e)
        yield from _note(words.choice_of_ranked(e))


def _note(text: str) -> list[str]:
    return ["", text] if text else []


def _terms(terms: Terms, e: Explanation) -> Iterator[str]:
    yield f"expected {_gibs(terms.seconds, e):.1f} GiB/s, {terms.seconds * 1e3:.4g} ms:"
    yield f"  memory       {terms.memory * 1e3:10.4g} ms on one thread"
    yield f"  instructions {terms.compute * 1e3:10.4g} ms on one thread; the longer of both counts"
    yield f"  threads      {terms.balance:10.2f} that share the work"
    if terms.cached:
        yield "  both tensors fit the caches: memory time is theirs"
        if terms.waiting:
            yield f"  L2           {words.factor(terms.waiting):>10} for micro-tiles that wait for it"
        return
    yield f"  cache sets   {words.factor(terms.crowding):>10} for lines that crowd one set"
    lines, rounding = "non-temporal stores of single lines", "long ones that round numbers to bytes"
    added = ("lines", terms.single, lines), ("micro-tiles", terms.long, rounding)
    yield from (f"  {name:12} {words.factor(cost):>10} for {why}" for name, cost, why in added if cost)
    yield f"  networks     {words.factor(terms.networks):>10} their part of the estimate; the facts' part:"
    kind = f"of plans with prefetch and stores of the kind '{words.mode(terms)}':"
    yield f"  what counts most of the plan's facts, as factors on memory time; {kind}"
    for (name, bucket), weight in words.main_facts(terms):
        fact = f"{name} = {bucket}"
        yield f"   {words.factor(weight):>8}  {fact:22} {words.meaning(name)}"


def _ranked(number: int, one: RankedPlan, e: Explanation) -> Iterator[str]:
    t = one.terms
    mark = "*" if one.plan == e.plan.without_fallback else " "
    times = f"{t.memory * 1e3:11.4g}{t.compute * 1e3:14.4g}{t.balance:9.2f}"
    yield f"{number:2}{mark} {t.seconds * 1e3:8.4g}{_gibs(t.seconds, e):9.1f}{times}"
    yield from words.plan_lines(one.plan, 5)


def _gibs(seconds: float, e: Explanation) -> float:
    return e.canonical.bytes_moved / seconds / GIB if seconds else 0.0


# --- code ---------------------------------------------------------------------------------------------------


def _loops(e: Explanation) -> Iterator[str]:
    yield from pseudo.lines(e.nest)
    if e.nest.scratch:
        yield f"scratch: {e.nest.scratch} bytes per thread"
    if e.canonical.elements:
        yield ""
        yield "One tile's memory, in runs of neighbours:"
        for name in "AB":
            found = geometry.runs(e.canonical, e.plan.tile, name, e.target, 1)
            yield f"  {name}: {runs_line(found)}"


def runs_line(runs: geometry.Runs) -> str:
    """The runs of a box in one tensor, in words."""
    return (
        f"{count(runs.count, 'run')} of {runs.run} bytes, {count(runs.lines, 'line')} of {runs.line},"
        f" {runs.used:.0%} of their bytes used"
    )


def _ir(e: Explanation) -> list[str]:
    return e.ir.rstrip().splitlines()


def _assembly(e: Explanation) -> Iterator[str]:
    if e.code is None:
        yield f"Instructions of {e.target.triple.partition('-')[0]} are not counted; the whole kernel:"
        yield ""
        yield from e.assembly.rstrip().splitlines()
        return
    yield from counts(e.code)
    yield ""
    yield f"{e.code.label}:"
    yield from (f"    {line}" for line in e.code.micro.lines)


def counts(code: MachineCode) -> list[str]:
    """Instructions by class, of the micro-tile's loop and of the whole kernel."""
    micro, whole = code.micro, code.whole
    rows = [("instructions", "micro-tile", "kernel")]
    rows += [
        (kind.value, str(micro.counts.get(kind, 0)), str(whole.counts.get(kind, 0)))
        for kind in Class
        if whole.counts.get(kind)
    ]
    rows += [("of these reading memory themselves", str(micro.folded), str(whole.folded))]
    rows += [("all", str(micro.total), str(whole.total))]
    return aligned(rows, texts=1)


# --- what was timed -----------------------------------------------------------------------------------------


def _candidates(e: Explanation) -> Iterator[str]:
    if not e.tried:
        yield "none was timed: `ttc` with these options tunes the problem and remembers it"
        return
    count = "" if e.measurement is None else e.measurement.count
    yield (
        f"{len(e.tried)} kept of {count} timed, the fastest run first, * = chosen; expected: by the cost model as it is"
        " now; runs: of which the fastest counts"
    )
    yield from _note(words.choice_of_candidates(e))
    yield ""
    yield "          ms    GiB/s  expected ms   runs"
    for number, tried in enumerate(words.by_time(e), 1):
        expected = "-" if tried.expected is None else f"{tried.expected * 1e3:.4g}"
        mark = "*" if tried.plan == str(e.plan) else " "
        gibs = words.measured_gibs(tried, e)
        yield f"{number:2}{mark} {tried.seconds * 1e3:8.4g}{gibs:9.1f}{expected:>13}{tried.runs:7}"
        yield from words.plan_lines(tried.plan, 5)


STAGES: Mapping[str, tuple[str, Section]] = {
    "problem": ("Problem", _problem),
    "merged": ("Merged axes", _merged),
    "plans": ("Plans", _plans),
    "loops": ("Loops", _loops),
    "threads": ("Threads", threads.lines),
    "ir": ("LLVM IR", _ir),
    "assembly": ("Assembly of the micro-tile", _assembly),
    "candidates": ("Candidates timed", _candidates),
}
LONG = ("ir", "assembly", "candidates")
CODE = ("ir", "assembly")

"""An explanation as HTML: a page of its own, or its body for notebooks. No scripts, nothing from outside."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from .. import __version__
from ..native.marks import MARK
from . import drawing, tiles, words
from .machine_code import Class

if TYPE_CHECKING:
    from .explanation import Explanation, RankedPlan, Tried

FRAME = """body{margin:0}main.ttc{max-width:52em;margin:0 auto;padding:1.2em;min-height:100vh;box-sizing:border-box}
@media (prefers-color-scheme:dark){body{background:#161616}}
"""


def page(e: Explanation) -> str:
    """A complete document."""
    title = escape(f"B[{','.join(map(str, e.problem.perm))}] of {'x'.join(map(str, e.problem.size)) or 'one element'}")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="{MARK}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>ttc explain: {title}</title><style>{FRAME}{_style()}</style></head>"
        f'<body><main class="ttc">{_body(e)}</main></body></html>\n'
    )


def fragment(e: Explanation) -> str:
    """The same for a notebook's cell."""
    return f'<style>{_style()}</style><div class="ttc" style="padding:.6em">{_body(e)}</div>'


def _style() -> str:
    return files(__package__).joinpath("page.css").read_text("utf-8")


def _body(e: Explanation) -> str:
    return "".join(
        [
            "<h1>From problem to instructions</h1>",
            _pre(e.stage("problem"), "words"),
            "<h2>Merged axes</h2>",
            _pre(e.stage("merged")),
            *_pictures(e),
            *_plans(e),
            "<h2>Loops</h2>",
            _pre(e.stage("loops")),
            "<h2>Threads</h2>",
            _pre(e.stage("threads")),
            *_code(e),
            *_candidates(e),
            f"<p><small>ttc_llvm {escape(__version__)}; nothing was timed for this page.</small></p>",
        ]
    )


def _pre(words: str, name: str = "") -> str:
    kind = f" class={name}" if name else ""
    return f"<pre{kind}>{escape(words)}</pre>"


def _pair(pictures: tuple[str, ...]) -> str:
    return f'<div class="pair">{"".join(pictures)}</div>'


def _pictures(e: Explanation) -> Iterator[str]:
    if not e.canonical.elements:
        return
    found = tiles.macro(e)
    if found:
        yield "<h2>Tiles</h2><p>The plane of the two axes along which A and B are contiguous. Shaded: the first"
        yield " macro-tile; orange: its first micro-tile, which is permuted in registers. Sides of very different"
        yield " lengths are not to scale.</p>"
        yield _pair(found)
    found = tiles.micro(e)
    if found:
        yield "<p>The first macro-tile: micro-tiles are read from their place in A and written to their place in B, in"
        yield " the order of their numbers.</p>"
        yield _pair(found)
    line = e.target.line
    yield "<h2>One tile in cache lines</h2><p>The runs of consecutive memory that one macro-tile touches; a box is"
    yield f" a line of {line} bytes, filled where it belongs to the tile. Numbers are byte offsets.</p>"
    yield _pair(drawing.runs(e))


# --- plans --------------------------------------------------------------------------------------------------


def _plans(e: Explanation) -> Iterator[str]:
    yield f"<h2>Plan</h2><p>Chosen, {escape(words.source(e))}:</p>{_pre(chr(10).join(words.plan_lines(e.plan, 0)))}"
    yield f"<p>B is written {escape(words.written(e))}.</p>"
    for when, other in words.other_plans(e):
        yield f"<p>And {escape(when)}:</p>{_pre(chr(10).join(words.plan_lines(other, 0)))}"
    if e.chosen is None:
        return
    terms = e.chosen.terms
    yield "<p>What the cost model expects. Factors are on memory time: the networks' is part of the estimate, the"
    yield " others are the facts that count most, of plans with prefetch and stores of the kind"
    yield f" &lsquo;{escape(words.mode(terms))}&rsquo;.</p>"
    yield "<table><tr><th class=left>cost</th><th></th><th class=left>what it is</th></tr>"
    rows = [("expected", f"{terms.seconds * 1e3:.4g} ms", "the longer of both below, by the threads")]
    rows += [("memory", f"{terms.memory * 1e3:.4g} ms", "on one thread")]
    rows += [("instructions", f"{terms.compute * 1e3:.4g} ms", "on one thread")]
    rows += [("threads", f"{terms.balance:.2f}", "that share the work")]
    rows += [] if terms.cached else [("networks", words.factor(terms.networks), "their part of the estimate")]
    for (name, bucket), weight in words.main_facts(terms):
        rows.append((f"{name} = {bucket}", words.factor(weight), words.meaning(name)))
    for cells in rows:
        name, value, meaning = map(escape, cells)
        yield f"<tr><td class=left>{name}</td><td>{value}</td><td class=left>{meaning}</td></tr>"
    yield "</table>"
    if not e.ranked:
        return
    yield "<h2>The cost model's first plans</h2><p>The fastest expected first; turn: when it would be tried."
    yield f" {escape(words.choice_of_ranked(e))}</p><div class=wide><table><tr><th>turn</th><th>ms</th>"
    yield "<th>memory ms</th><th>instr. ms</th><th>threads</th><th class=left>plan</th></tr>"
    yield from (_ranked_row(number, one, e) for number, one in words.by_cost(e))
    yield "</table></div>"


def _ranked_row(number: int, one: RankedPlan, e: Explanation) -> str:
    t = one.terms
    cells = (f"{t.seconds * 1e3:.4g}", f"{t.memory * 1e3:.4g}", f"{t.compute * 1e3:.4g}", f"{t.balance:.2f}")
    return _row(number, cells, str(one.plan), one.plan == e.plan.without_fallback)


def _row(number: int, cells: tuple[str, ...], plan: str, marked: bool) -> str:
    head = "<tr class=mark>" if marked else "<tr>"
    return f"{head}<td>{number}</td>{''.join(f'<td>{c}</td>' for c in cells)}<td class=plan>{escape(plan)}</td></tr>"


# --- code and candidates ------------------------------------------------------------------------------------


def _code(e: Explanation) -> Iterator[str]:
    if e.code is not None:
        micro, whole = e.code.micro.counts, e.code.whole.counts
        yield "<h2>Instructions</h2><table><tr><th class=left>class</th><th>micro-tile</th><th>kernel</th></tr>"
        for kind in (kind for kind in Class if whole.get(kind)):
            yield f"<tr><td class=left>{kind.value}</td><td>{micro.get(kind, 0)}</td><td>{whole[kind]}</td></tr>"
        yield f"<tr class=mark><td class=left>all</td><td>{e.code.micro.total}</td><td>{e.code.whole.total}</td></tr>"
        yield "</table>"
    yield f"<details><summary>Assembly of the micro-tile</summary>{_pre(e.stage('assembly'))}</details>"
    yield f"<details><summary>LLVM IR as built, {len(e.ir.splitlines())} lines</summary>{_pre(e.ir)}</details>"


def _candidates(e: Explanation) -> Iterator[str]:
    yield "<h2>Candidates timed</h2>"
    if not e.tried:
        yield "<p>None: <code>ttc</code> with these options tunes the problem and remembers it.</p>"
        return
    picture = drawing.candidates(e)
    if picture:
        yield f"<p>Orange: the plan above. On the line, the model would be right.</p>{picture}"
    yield "<p>By the fastest run of each; expected: by the cost model as it is now."
    yield f" {escape(words.choice_of_candidates(e))}</p>"
    yield "<div class=wide><table><tr><th>#</th><th>ms</th><th>GiB/s</th><th>expected ms</th><th>runs</th>"
    yield "<th class=left>plan</th></tr>"
    yield from (_tried_row(number, tried, e) for number, tried in enumerate(words.by_time(e), 1))
    yield "</table></div>"


def _tried_row(number: int, tried: Tried, e: Explanation) -> str:
    expected = "-" if tried.expected is None else f"{tried.expected * 1e3:.4g}"
    cells = (f"{tried.seconds * 1e3:.4g}", f"{words.measured_gibs(tried, e):.1f}", expected, str(tried.runs))
    return _row(number, cells, tried.plan, tried.plan == str(e.plan))

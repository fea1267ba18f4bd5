"""An explanation as HTML: a page of its own, or its body for notebooks. No scripts, nothing from outside."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from .. import __version__
from . import drawing, text
from .explanation import Explanation, Ranked, Tried
from .machine_code import Class

STYLE = """
.ttc{--ink:#1b1b1b;--back:#fff;--soft:#f3f3f0;--rule:#c9c9c4;--blue:#0072b2;--orange:#e69f00;
font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back)}
@media (prefers-color-scheme:dark){.ttc{--ink:#e8e8e4;--back:#161616;--soft:#232323;--rule:#4a4a4a;--blue:#56b4e9}}
.ttc h1{font-size:1.5em;line-height:1.25;margin:0 0 .5em}.ttc h2{font-size:1.15em;margin:1.8em 0 .5em}
.ttc p{margin:.5em 0}.ttc svg{display:block;width:100%;height:auto;margin:.5em 0}
.ttc pre{background:var(--soft);color:var(--ink);padding:.7em;overflow-x:auto;font:13px/1.45 ui-monospace,monospace;margin:.5em 0}
.ttc details pre{max-height:32em;overflow:auto}.ttc summary{cursor:pointer}
.ttc .wide{overflow-x:auto}.ttc .wide svg{min-width:560px}
.ttc table{border-collapse:collapse;font-size:.9em;font-variant-numeric:tabular-nums}
.ttc th,.ttc td{padding:.25em .7em;text-align:right;border-bottom:1px solid var(--rule);background:none;color:inherit}
.ttc th{vertical-align:bottom}.ttc .left{text-align:left}.ttc .mark td{font-weight:600}
.ttc td.plan{text-align:left;font:12px/1.4 ui-monospace,monospace;min-width:22em;white-space:normal}
.ttc text{font:13px system-ui,sans-serif;fill:var(--ink)}.ttc text.small{font-size:12px}.ttc text.strong{font-weight:600}
.ttc .plane{fill:var(--soft);stroke:var(--ink)}.ttc .tile{fill:var(--blue);fill-opacity:.25}
.ttc .micro{stroke:var(--blue);stroke-width:.8}.ttc .edge{stroke:var(--ink);stroke-width:1}
.ttc .first{fill:var(--orange);stroke:var(--ink)}.ttc .arrow{stroke:var(--ink);stroke-width:2}.ttc .head{fill:var(--ink)}
.ttc .used{fill:var(--blue)}.ttc .line{fill:none;stroke:var(--ink);stroke-width:1}
.ttc .tried{fill:var(--blue);fill-opacity:.7}.ttc .chosen{fill:var(--orange);stroke:var(--ink)}
@media print{.ttc{--ink:#000;--back:#fff;--soft:#f3f3f0;--rule:#bbb;--blue:#0072b2}.ttc details pre{max-height:none}
.ttc pre{white-space:pre-wrap}.ttc svg,.ttc tr{break-inside:avoid}}
"""
FRAME = "body{margin:0}main.ttc{max-width:52em;margin:0 auto;padding:1.2em;min-height:100vh;box-sizing:border-box}"


def page(e: Explanation) -> str:
    """A complete document."""
    title = escape(f"B[{','.join(map(str, e.problem.perm))}] of {'x'.join(map(str, e.problem.size)) or 'one element'}")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>ttc explain: {title}</title><style>{FRAME}@media (prefers-color-scheme:dark){{body{{background:#161616}}}}"
        f'{STYLE}</style></head><body><main class="ttc">{_body(e)}</main></body></html>\n'
    )


def fragment(e: Explanation) -> str:
    """The same for a notebook's cell."""
    return f'<style>{STYLE}</style><div class="ttc" style="padding:.6em">{_body(e)}</div>'


def _body(e: Explanation) -> str:
    return "".join(
        [
            "<h1>From problem to instructions</h1>",
            _pre(e.stage("problem")),
            "<h2>Merged axes</h2>",
            _pre(e.stage("merged")),
            *_pictures(e),
            *_plans(e),
            "<h2>Loops</h2>",
            _pre(e.stage("loops")),
            *_code(e),
            *_candidates(e),
            f"<p><small>ttc_llvm {escape(__version__)}; nothing was timed for this page.</small></p>",
        ]
    )


def _pre(words: str) -> str:
    return f"<pre>{escape(words)}</pre>"


def _figure(picture: str) -> str:
    return f'<div class="wide">{picture}</div>'


def _pictures(e: Explanation) -> Iterator[str]:
    if not e.canonical.elements:
        return
    tiles = drawing.tiles(e)
    if tiles:
        yield "<h2>Tiles</h2><p>The plane of the two axes along which A and B are contiguous. Shaded: the first"
        yield " macro-tile; orange: its first micro-tile, which is permuted in registers. Sides of very different"
        yield " lengths are not to scale.</p>"
        yield _figure(tiles)
    line = e.target.line
    yield f"<h2>One tile in cache lines</h2><p>The runs of consecutive memory that one macro-tile touches; a box is"
    yield f" a line of {line} bytes, filled where it belongs to the tile. Numbers are byte offsets.</p>"
    yield _figure(drawing.runs(e))


# --- plans --------------------------------------------------------------------------------------------------


def _plans(e: Explanation) -> Iterator[str]:
    yield f"<h2>Plan</h2><p>Chosen, {escape(text.source(e))}:</p>{_pre(chr(10).join(text.plan_lines(e.plan, 0)))}"
    if e.chosen is None:
        return
    terms = e.chosen.terms
    yield "<table><tr><th class=left>cost</th><th></th></tr>"
    rows = [("expected", f"{terms.seconds * 1e3:.4g} ms"), ("memory, one thread", f"{terms.memory * 1e3:.4g} ms")]
    rows += [("instructions, one thread", f"{terms.compute * 1e3:.4g} ms"), ("threads sharing", f"{terms.balance:.2f}")]
    rows += [(f"{name} = {bucket}", text.factor(weight)) for (name, bucket), weight in text.main_facts(terms)]
    yield from (f"<tr><td class=left>{escape(name)}</td><td>{value}</td></tr>" for name, value in rows)
    yield "</table>"
    if not e.ranked:
        return
    yield "<h2>The cost model's first plans</h2><div class=wide><table><tr><th>#</th><th>ms</th><th>memory ms</th>"
    yield "<th>instr. ms</th><th>threads</th><th class=left>plan</th></tr>"
    yield from (_ranked_row(number, one, e) for number, one in enumerate(e.ranked, 1))
    yield "</table></div>"


def _ranked_row(number: int, one: Ranked, e: Explanation) -> str:
    t = one.terms
    cells = (f"{t.seconds * 1e3:.4g}", f"{t.memory * 1e3:.4g}", f"{t.compute * 1e3:.4g}", f"{t.balance:.2f}")
    return _row(number, cells, str(one.plan), one.plan == e.plan)


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
        yield f"</table><details><summary>Assembly of the micro-tile</summary>{_pre(e.stage('assembly'))}</details>"
    yield f"<details><summary>LLVM IR as built, {len(e.ir.splitlines())} lines</summary>{_pre(e.ir)}</details>"


def _candidates(e: Explanation) -> Iterator[str]:
    yield "<h2>Candidates timed</h2>"
    if not e.tried:
        yield "<p>None: <code>ttc</code> with these options tunes the problem and remembers it.</p>"
        return
    picture = drawing.candidates(e)
    if picture:
        yield f"<p>Orange: the plan above. On the line, the model would be right.</p>{picture}"
    yield "<div class=wide><table><tr><th>#</th><th>ms</th><th>GiB/s</th><th>expected ms</th><th>runs</th>"
    yield "<th class=left>plan</th></tr>"
    yield from (_tried_row(number, tried, e) for number, tried in enumerate(e.tried, 1))
    yield "</table></div>"


def _tried_row(number: int, tried: Tried, e: Explanation) -> str:
    expected = "-" if tried.expected is None else f"{tried.expected * 1e3:.4g}"
    cells = (f"{tried.seconds * 1e3:.4g}", f"{text.measured_gibs(tried, e):.1f}", expected, str(tried.runs))
    return _row(number, cells, tried.plan, tried.plan == str(e.plan))

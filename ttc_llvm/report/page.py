"""The report's page: one HTML file with style, script, pictures and data inside; nothing is fetched from anywhere."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from .. import __version__
from ..bench.report import KINDS, Value
from ..bench.result_line import to_line
from ..bench.results import Result
from ..native.marks import MARK
from ..tuning.database import exchange
from .charts import Chart
from .figures import Figure, effort_name
from .groups import RULES, affinity, effort, machine
from .inputs import Inputs
from .rows import Rows, rows

PLAIN_BYTES = 256 << 10  # data that is larger is embedded packed
MODES = {
    "cold": "neither tensor is in the caches when a run starts",
    "hot": "both tensors are in the caches; times are of one call out of many",
}


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart drawn: SVG elements for wide and for narrow pages, and the names of its files."""

    chart: Chart
    wide: str
    narrow: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A kind of figure and its pictures, none where data is lacking."""

    figure: Figure
    pictures: tuple[Picture, ...]


def page(inputs: Inputs, drawn: Sequence[Drawn], title: str) -> str:
    """The whole document."""
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    body = [
        f"<h1>{escape(title)}</h1>",
        _lead(inputs),
        _navigation(inputs, drawn),
        '<section id="setting"><h2>How this was measured</h2>',
        *_setting(inputs),
        "</section>",
        *(_section(one) for one in drawn if one.pictures),
        *_missing([one.figure for one in drawn if not one.pictures]),
        *_table(inputs.results),
        *_data(inputs),
        f"<p><small>Made by ttc_llvm {escape(__version__)} from {escape(', '.join(inputs.files))}.</small></p>",
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="{MARK}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>\n{style}</style></head><body><main>\n"
        + "\n".join(body)
        + f"\n</main><script>\n{script}</script></body></html>\n"
    )


def _lead(inputs: Inputs) -> str:
    machines = ", ".join(dict.fromkeys(map(machine, inputs.results)))
    counted = f"{len(inputs.results)} results" + (f" on {machines}" if machines else "")
    if inputs.solutions:
        counted += f", {len(inputs.solutions)} stored solutions"
    return f"<p>{escape(counted)}. Tensor transpositions B &larr; &alpha;&middot;A + &beta;&middot;B.</p>"


def _navigation(inputs: Inputs, drawn: Sequence[Drawn]) -> str:
    links = [(one.figure.name, one.figure.title) for one in drawn if one.pictures]
    links += [("table", "All results")] if inputs.results else []
    items = "".join(f'<li><a href="#{name}">{escape(words)}</a></li>' for name, words in links)
    return f'<nav aria-label="Sections"><ul>{items}<li><a href="#data">Data</a></li></ul></nav>'


# --- how it was measured ------------------------------------------------------------------------------------


def _setting(inputs: Inputs) -> Iterator[str]:
    settings: dict[tuple[tuple[str, str], ...], list[Result]] = {}
    for one in inputs.results:
        settings.setdefault(tuple(_machine(one)), []).append(one)
    for facts, results in settings.items():
        yield _definitions([*facts, *_varying(results), ("Results", str(len(results)))])
    yield "<h3>What the numbers mean</h3>"
    yield _definitions(_meanings(inputs.results))


def _machine(one: Result) -> Iterator[tuple[str, str]]:
    yield "Machine", machine(one)
    for name in ("target", "system"):
        yield name.capitalize(), str(one.facts.get(name, "none"))
    yield "Versions", _pairs(one.facts.get("versions"))


def _varying(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
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


def _libraries(one: Result) -> str:
    peers = _mapping(one.facts.get("peers"))
    return _pairs({name: version for name, version in peers.items() if name not in one.references}, "")


def _distinct(values: Iterable[str]) -> str:
    return "; ".join(value for value in dict.fromkeys(values) if value) or "none"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _pairs(value: Any, nothing: str = "none") -> str:
    return ", ".join(f"{name} {one}" for name, one in _mapping(value).items()) or nothing


def _meanings(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    yield "Bandwidth", "GiB/s = 2^30 bytes per second, of the best run"
    for kind in dict.fromkeys(one.kind for one in results):
        if kind in RULES:
            yield f"{kind} ({KINDS[kind]})", RULES[kind]
    for mode in dict.fromkeys(one.mode for one in results):
        yield mode, MODES.get(mode, mode)
    yield "Ceiling", "the same bytes without a permutation, in the same run: a copy for beta = 0, SAXPY otherwise"
    yield "Ratio", "our bandwidth by the ceiling's"


def _definitions(pairs: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in pairs if b != "none") + "</dl>"


# --- pictures -----------------------------------------------------------------------------------------------


def _section(one: Drawn) -> str:
    pictures = "".join(map(_picture, one.pictures))
    return f'<section id="{one.figure.name}"><h2>{escape(one.figure.title)}</h2>{pictures}</section>'


def _picture(one: Picture) -> str:
    links = ", ".join(f'<a href="{escape(name)}">{escape(name.rpartition(".")[2].upper())}</a>' for name in one.files)
    links = f" <small>{links}</small>" if links else ""
    return (
        f'<figure><div class="wide">{one.wide}</div><div class="narrow">{one.narrow}</div>'
        f"<figcaption>{escape(one.chart.caption)}{links}</figcaption></figure>"
    )


def _missing(lacking: Sequence[Figure]) -> Iterator[str]:
    if not lacking:
        return
    yield '<section id="missing"><h2>Not shown</h2><ul class="missing">'
    for one in lacking:
        yield f"<li><b>{escape(one.title)}</b> needs {escape(one.lacks)}: <code>{escape(one.command)}</code></li>"
    yield "</ul></section>"


# --- table and data -----------------------------------------------------------------------------------------


def _table(results: Sequence[Result]) -> Iterator[str]:
    if not results:
        return
    table = rows(results)
    yield '<section id="table"><h2>All results</h2><div class="filter"><label for="filter">Only rows with</label>'
    yield f'<input id="filter" type="search"><output id="shown">{len(results)} rows</output></div>'
    yield '<div class="scroll" tabindex="0" role="region" aria-label="All results"><table class="sortable">'
    yield "<caption>x NAME: speedup of ttc over NAME, median over the rounds in which both ran.</caption>"
    yield "<thead><tr>"
    texts = [_is_text(table, k) for k in range(len(table.columns))]
    for column, text in zip(table.columns, texts, strict=True):
        kind = ' class="text"' if text else ""
        yield f'<th scope="col"{kind}><button type="button">{escape(column.head)}</button></th>'
    yield "</tr></thead><tbody>"
    digits = [column.digits for column in table.columns]
    for row in table.values:
        yield f"<tr>{''.join(map(_cell, row, digits))}</tr>"
    left = ",".join(f"td:nth-child({k})" for k, text in enumerate(texts, 1) if text)
    yield f"</tbody></table></div><style>{left}{{text-align:left}}</style></section>"


def _is_text(table: Rows, k: int) -> bool:
    return all(isinstance(row[k], str) for row in table.values)


def _cell(value: Value, digits: int) -> str:
    """A cell; data-v is what it is sorted by where the text is rounded."""
    if value is None:
        return '<td data-v="">-</td>'
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    shown = f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"
    exact = f"{value:.5g}"
    return f"<td>{shown}</td>" if float(shown) == float(exact) else f'<td data-v="{exact}">{shown}</td>'


def _data(inputs: Inputs) -> Iterator[str]:
    found: list[tuple[str, bytes]] = []
    if inputs.results:
        found += [("results.jsonl", "".join(f"{to_line(one)}\n" for one in inputs.results).encode())]
    if inputs.solutions:
        found += [("solutions.jsonl", b"".join(exchange.to_line(one, objects=False) for one in inputs.solutions))]
    links = "".join(f"<li>{_link(name, data)}</li>" for name, data in found)
    links += '<li><button type="button" id="csv">Table as CSV</button></li>' if inputs.results else ""
    yield '<section id="data" class="downloads"><h2>Data</h2><p>Everything that is shown, as it was measured:</p>'
    yield f"<ul>{links}</ul></section>"


def _link(name: str, data: bytes) -> str:
    """A link that saves data embedded in the page."""
    kind = "application/x-ndjson"
    if len(data) > PLAIN_BYTES:
        name, kind, data = f"{name}.gz", "application/gzip", gzip.compress(data, mtime=0)
    text = base64.b64encode(data).decode()
    size = f"{len(data) / 1024:,.0f} KiB"
    return f'<a download="{escape(name)}" href="data:{kind};base64,{text}">{escape(name)}</a> ({size})'

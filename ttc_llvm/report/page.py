"""The report's page: one HTML file with style, script, pictures and data inside; nothing is fetched from anywhere."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from .. import __version__
from ..bench.report import Value
from ..bench.result_line import to_line
from ..bench.setting import machine
from ..lazy_dataclasses import dataclass
from ..native.marks import MARK
from ..tuning.database import exchange
from . import changes
from .changes import Changes
from .charts import Chart
from .figures import Figure
from .inputs import Inputs
from .rows import Rows, contraction_rows, rows
from .setting_section import setting

PLAIN_BYTES = 256 << 10  # data that is larger is embedded packed


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


def page(inputs: Inputs, drawn: Sequence[Drawn], title: str = "") -> str:
    """The whole document. title: "" = what was measured."""
    title = title or f"{inputs.subject}: measured"
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    tables = [one for one in _tables(inputs) if one[2].values]
    body = [
        f"<h1>{escape(title)}</h1>",
        _lead(inputs),
        _navigation([(prefix, heading) for prefix, heading, _ in tables], drawn),
        '<section id="setting"><h2>How this was measured</h2>',
        *setting(inputs),
        "</section>",
        *(_section(one) for one in drawn if one.pictures),
        *_changes(inputs.changes),
        *_missing([one.figure for one in drawn if not one.pictures]),
        *(line for prefix, heading, table in tables for line in _table(prefix, heading, table)),
        *_data(inputs, [(prefix, heading) for prefix, heading, _ in tables]),
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
    machines = ", ".join(dict.fromkeys(map(machine, inputs.measured)))
    counted = f"{len(inputs.measured)} results" + (f" on {machines}" if machines else "")
    if inputs.solutions:
        counted += f", {len(inputs.solutions)} stored solutions"
    formula = " B &larr; &alpha;&middot;A + &beta;&middot;B" if not inputs.contractions else ""
    return f"<p>{escape(counted)}. {inputs.subject}{formula}.</p>"


def _navigation(tables: Sequence[tuple[str, str]], drawn: Sequence[Drawn]) -> str:
    links = [(one.figure.name, one.figure.title) for one in drawn if one.pictures]
    links += [(f"{prefix}table", heading) for prefix, heading in tables]
    items = "".join(f'<li><a href="#{name}">{escape(words)}</a></li>' for name, words in links)
    return f'<nav aria-label="Sections"><ul>{items}<li><a href="#data">Data</a></li></ul></nav>'


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


def _changes(found: Changes | None) -> Iterator[str]:
    """The cases of two runs that are compared, what changed most first."""
    if found is None:
        return
    head, *rows = changes.table(found)
    yield '<section id="cases"><h2>Two runs, case by case</h2><div class="scroll" tabindex="0" role="region"'
    yield f' aria-label="Two runs, case by case"><table><caption>{escape(found.summary)}.</caption><thead><tr>'
    yield f"{''.join(f'<th scope=col>{escape(text)}</th>' for text in head)}</tr></thead><tbody>"
    yield from (f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    for name, ids in zip(found.names, found.alone, strict=True):
        yield f"<tr><td colspan={len(head)}>only in {escape(name)}: {escape(', '.join(ids))}</td></tr>" if ids else ""
    yield f"</tbody></table></div><p>{escape(changes.RULE)}</p></section>"


def _missing(lacking: Sequence[Figure]) -> Iterator[str]:
    if not lacking:
        return
    yield '<section id="missing"><h2>Not shown</h2><ul class="missing">'
    for one in lacking:
        yield f"<li><b>{escape(one.title)}</b> needs {escape(one.lacks)}: <code>{escape(one.command)}</code></li>"
    yield "</ul></section>"


# --- table and data -----------------------------------------------------------------------------------------


def _tables(inputs: Inputs) -> Iterator[tuple[str, str, Rows]]:
    """Tables of results: what their names begin with, their headings, their rows."""
    yield "", "All results" if not inputs.contractions else "All transpositions", rows(inputs.results)
    yield "contraction-", "All contractions", contraction_rows(inputs.contractions)


def _table(prefix: str, heading: str, table: Rows) -> Iterator[str]:
    yield f'<section id="{prefix}table"><h2>{heading}</h2><div class="filter">'
    yield f'<label for="{prefix}filter">Only rows with</label><input id="{prefix}filter" type="search">'
    yield f'<output id="{prefix}shown">{len(table.values)} rows</output></div><div class="scroll" tabindex="0"'
    yield f' role="region" aria-label="{heading}"><table class="sortable" data-prefix="{prefix}">'
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
    left = ",".join(f"#{prefix}table td:nth-child({k})" for k, text in enumerate(texts, 1) if text)
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


def _data(inputs: Inputs, tables: Sequence[tuple[str, str]]) -> Iterator[str]:
    found: list[tuple[str, bytes]] = []
    if inputs.results:
        found += [("results.jsonl", "".join(f"{to_line(one)}\n" for one in inputs.results).encode())]
    if inputs.contractions:
        found += [("contractions.jsonl", "".join(f"{one.line}\n" for one in inputs.contractions).encode())]
    if inputs.solutions:
        found += [("solutions.jsonl", b"".join(exchange.to_line(one, objects=False) for one in inputs.solutions))]
    links = "".join(f"<li>{_link(name, data)}</li>" for name, data in found)
    for prefix, heading in tables:
        links += f'<li><button type="button" id="{prefix}csv">{heading} as CSV</button></li>'
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

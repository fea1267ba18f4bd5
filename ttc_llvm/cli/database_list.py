"""The listing of stored solutions: each problem in the words in which it was asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..arguments import cut
from ..errors import ProblemError
from ..problem import canonical_text, wording
from ..problem.tables import aligned, wrapped
from ..problem.wording import count
from ..tuning.database.field_rules import EXHAUSTIVE
from ..tuning.database.notices import printable
from ..tuning.database.outcomes import Listed
from ..tuning.database.records import Record
from ..tuning.measurement import WAS_BUSY

ID_DIGITS, LONGEST = 10, 60
HEADINGS = ("id", "perm", "size", "type", "with", "mode", "options", "cpu", "threads", "effort", "ms", "remark")
TEXTS = HEADINGS.index("threads")
# Columns that are left out where no row says anything else.
USUAL = {"with": "", "mode": "cold", "options": "", "remark": ""}


def lines(rows: Sequence[Listed], everything: bool = False) -> list[str]:
    """A table of solutions. everything: also of what serves arrays of any extents, which otherwise is counted."""
    chosen = [row for row in rows if everything or not _is_for_any_size(row.record)]
    found = _table(chosen) if chosen else []
    if len(chosen) < len(rows):
        found += [""] if found else []
        kernels = count(len(rows) - len(chosen), "kernel")
        found += wrapped(f"{kernels} for arrays of any extents, which transpose keeps: --all lists them, too.")
    return found


def _is_for_any_size(record: Record) -> bool:
    """True where extents are names, as in `s>s any-zero n0:1:1`."""
    return any(axis[:1].isalpha() for axis in record.request.problem.split() if axis.count(":") == 2)


def _table(rows: Sequence[Listed]) -> list[str]:
    """A row a solution. with: outer sizes and conjugation, where there are any."""
    found = [HEADINGS, *(tuple(map(printable, _cells(row.record))) for row in rows)]
    dull = {k for k, name in enumerate(HEADINGS) if name in USUAL and {row[k] for row in found[1:]} <= {USUAL[name]}}
    kept = [tuple(cell for k, cell in enumerate(row) if k not in dull) for row in found]
    remark = HEADINGS.index("remark")
    return aligned(kept, TEXTS - len(dull - {remark}), int(remark not in dull))


def problem_line(record: Record) -> str:
    """The problem of a solution as it was asked for, in one line."""
    perm, size, type, more = _problem(record)
    name = "spec" if "->" in perm else "perm"
    return printable(f"{name} {perm}, size {size}, type {type}{f', {more}' if more else ''}")


def _cells(record: Record) -> tuple[str, ...]:
    request = record.request
    effort = "all" if record.effort == EXHAUSTIVE else str(record.effort)
    best, remark = milliseconds(record.seconds), WAS_BUSY if record.provisional else ""
    decided = request.mode, request.options, _cpu(request.target), str(request.threads)
    perm, size, type, more = _problem(record)
    asked = (cut(text, LONGEST) for text in (perm, size, type, more))
    return (request.id[:ID_DIGITS], *asked, *decided, effort, best, remark)


def _problem(record: Record) -> tuple[str, str, str, str]:
    """Perm, size, type and what else there is: as typed; where a row does not tell, an equal problem of merged indices;
    of rows that state none of these, the text."""
    asked, text = json.loads(record.extra).get(wording.ASKED), record.request.problem
    try:
        return _typed(asked if isinstance(asked, dict) else wording.merged_fields(canonical_text.parse(text)))
    except (ProblemError, KeyError, TypeError, ValueError):
        return "-", text, "-", ""


def _typed(fields: dict[str, Any]) -> tuple[str, str, str, str]:
    more = [f"{key} {_joined(fields[key], 'x')}" for key in ("lda", "ldb", *wording.STRIDES) if fields.get(key)]
    more += [str(key) for key, value in fields.items() if value is True]
    more += [f"order {fields['order']}"] if fields.get("order", "F") != "F" else []
    type = str(fields["dataType"])
    if "spec" in fields:  # a contraction
        return str(fields["spec"]), " ".join(f"{x}:{int(n)}" for x, n in fields["size"].items()), type, " ".join(more)
    perm = _terms(fields["terms"]) if "terms" in fields else _joined(fields["perm"], ",")
    return perm, _joined(fields["size"], "x"), type, " ".join(more)


def _terms(terms: Sequence[Any]) -> str:
    """Those of a sum, as `--terms` takes them."""
    factors = (complex(*x) if isinstance(x, list) else complex(x) for x, _ in terms)
    return ";".join(f"{wording.number(x)}:{_joined(perm, ',')}" for x, (_, perm) in zip(factors, terms, strict=True))


def _joined(values: Sequence[int], by: str) -> str:
    return by.join(str(int(value)) for value in values) or "-"


def _cpu(target: str) -> str:
    """The CPU of a target; its registers and features, some hundred, are left to `show`."""
    return target.split(" ")[1] if " " in target else target


def milliseconds(seconds: float | None) -> str:
    """Seconds in ms, `-` for none."""
    return "-" if seconds is None else f"{seconds * 1e3:.4g}"

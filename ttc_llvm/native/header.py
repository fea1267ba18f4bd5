"""The C header of one or many objects: what holds for all entries once, then a block per problem."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from ..lazy_dataclasses import dataclass
from ..problem import dtypes, interface, names, wording
from ..problem.dtypes import DType, Kind
from ..problem.interface import PLAIN, Symbols
from ..problem.problem import Problem
from . import declarations
from .whole_file import filled

MEANINGS = {
    "c": "float complex", "z": "double complex", "f16": "16-bit floats", "bf16": "bfloat16",
    "e4m3fn": "8-bit floats (e4m3fn)", "e5m2": "8-bit floats (e5m2)",
}  # fmt: skip
WIDTH = 100
TEMPLATE = Path(__file__).with_name("header.h.in")
ABI = Path(__file__).with_name("abi.h.in")  # macros and types that all headers share


@dataclass(frozen=True, slots=True)
class Described:
    """A problem and what its block tells of it. target, plan: as text; gibs: measured bandwidth in GiB/s;
    stack: bytes of scratch that a call needs; note: free text; symbols: how its entries are named."""

    problem: Problem
    target: str
    plan: str
    gibs: float | None = None
    stack: int = 0
    note: str = ""
    symbols: Symbols = PLAIN


def text(name: str, home: str, described: Sequence[Described], version: str, plans: str = "") -> str:
    """A whole header. name: of the file, without its ending; home: of the object or library with the entries; plans:
    the declarations of a library's plans."""
    included = declarations.includes([one.problem for one in described], bool(plans))
    title = lines_of([f"{name}.h: entries of {home}, written by ttc_llvm {version}."], {})
    values = {
        "TITLE": "\n * ".join(title),
        "GUARD": names.guard(name),
        "INCLUDES": included,
        "ABI": ABI.read_text(),
        "BLOCKS": "".join(block(one, version) for one in described) + plans,
    }
    return filled(TEMPLATE, values)


def block(described: Described, version: str) -> str:
    """One problem: what it computes, its entries, and inline functions that spread them over threads."""
    problem, symbols = described.problem, described.symbols
    guard = names.block_guard(symbols.stem(problem))  # another header of the same program may hold the same problem
    parts = [
        comment(_description(described), _facts(described)),
        f"#ifndef {guard}\n#define {guard}\n",
        declarations.macros(problem, symbols.stem(problem), described.stack, version),
        *map(declarations.prototype, interface.entries(problem, symbols)),
        *map(declarations.with_threads, interface.threaded(problem, symbols)),
        declarations.cpp(problem, symbols),
        f"#endif /* {guard} */\n",
    ]
    return "\n".join(part for part in parts if part) + "\n"


# --- comments -------------------------------------------------------------------------------------------


def told(described: Described) -> list[str]:
    """The lines that tell of a problem, without comment signs."""
    return lines_of(_description(described), _facts(described))


def _facts(described: Described) -> dict[str, str]:
    gibs, counted = described.gibs, _bytes_counted(described.problem)
    return {
        "C order": wording.in_c_order(described.problem),
        "target": described.target,
        "plan": described.plan,
        "measured": "" if gibs is None else f"{gibs:.1f} GiB/s ({counted}, per second)",
        "stack": f"{described.stack} bytes of scratch per call" if described.stack else "",
        "note": described.note,
    }


def _description(described: Described) -> list[str]:
    """Paragraphs; lines that start with a space are not filled."""
    problem = described.problem
    lines = "\n    ".join(_sizes(problem))
    return [described.symbols.stem(problem), f"    {_formula(problem)}", f"    {lines}", *_scalars(problem)]


def _formula(problem: Problem) -> str:
    a = f"A[{','.join(f'i{k}' for k in range(len(problem.perm)))}]"
    b = f"{'A' if problem.inplace else 'B'}[{','.join(f'i{k}' for k in problem.perm)}]"
    if problem.compute.kind is Kind.OPAQUE:
        return f"{b} <- {a}"
    return f"{b} <- alpha * {f'conj({a})' if problem.conjugate else a} + beta * {b}"


def _sizes(problem: Problem) -> list[str]:
    columns = {"perm": problem.perm, "size": problem.size, "lda": problem.outer_a}
    sides = {"A": problem.a}
    if not problem.inplace:
        columns, sides = columns | {"ldb": problem.outer_b}, sides | {"B": problem.b}
    lines = [f"{name:<5}{','.join(map(str, values))}" for name, values in columns.items()]
    kinds = [f"{name:<5}{_meaning(t, declarations.element_type(problem, t))}" for name, t in sides.items()]
    return [*lines, *kinds, *(["in place: A becomes its own permutation"] if problem.inplace else [])]


def _meaning(t: DType, known: str) -> str:
    if t.swapped:
        return f"{_meaning(dtypes.unswapped(t), known)}, bytes in reverse order"
    return MEANINGS.get(t.stored) or (known if known != "void" else f"items of {t.itemsize} bytes")


def _scalars(problem: Problem) -> list[str]:
    compute = problem.compute
    if compute.kind is Kind.OPAQUE:
        return ["Every item is copied bit for bit."]
    kind = f"{_meaning(compute, declarations.c_type(compute))}{', by pointer' if compute.kind is Kind.COMPLEX else ''}"
    exact = problem.a == problem.b and not problem.conjugate
    beyond = "A number beyond the range of B's type becomes its nearest one." if problem.b.saturates else ""
    copy = " alpha = 1 and beta = 0 copies bit for bit." if exact else ""
    ones = " Those that equal 1 do not multiply." if compute.kind is Kind.COMPLEX else ""
    unread = "alpha = 0: A is not read. beta = 0: B is not read."
    unread = "What is scaled by 0 is not read." if problem.inplace else unread
    return [
        f"alpha and beta: {kind}; entries without beta take it as 0. {unread}{copy}{ones}",
        *([beyond] if beyond else []),
    ]


def _bytes_counted(problem: Problem) -> str:
    if problem.inplace:
        return wording.IN_PLACE
    return "bytes of A + bytes of B" if problem.beta == 0 else "bytes of A + 2 x bytes of B"


def comment(paragraphs: list[str], facts: dict[str, str]) -> str:
    """Paragraphs and labelled facts as a comment of C."""
    lines = lines_of(paragraphs, facts)
    safe = (line.replace("*/", "* /").replace("/*", "/ *") for line in lines)
    return "/* " + "\n".join(f" * {line}".rstrip() for line in safe).removeprefix(" * ") + "\n */"


def lines_of(paragraphs: list[str], facts: dict[str, str]) -> list[str]:
    """The same as lines without comment signs."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [*_filled(paragraph), ""]
    for label, fact in facts.items():
        lines += textwrap.wrap(fact, WIDTH, initial_indent=f"{label + ':':<10}", subsequent_indent=" " * 10)
    return lines if facts else lines[:-1]


def _filled(paragraph: str) -> list[str]:
    indent = " " * (len(paragraph) - len(paragraph.lstrip()))
    return [line for part in paragraph.splitlines() for line in _wrapped(part, indent)]


def _wrapped(line: str, indent: str) -> list[str]:
    breakable = line.replace(",", ", ") if indent and len(line) > WIDTH else line
    deeper = f"{indent}  " if indent else ""
    return textwrap.wrap(
        breakable.strip(),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=deeper,
        break_long_words=False,
        break_on_hyphens=False,
    )

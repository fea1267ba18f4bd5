"""The C header of one or many objects: what holds for all entries once, then a block per problem."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from ..lazy_dataclasses import dataclass
from ..problem import names
from ..problem.contraction_interface import AnyEntry
from . import declarations
from .whole_file import filled

WIDTH = 100
TEMPLATE = Path(__file__).with_name("header.h.in")
ABI = Path(__file__).with_name("abi.h.in")  # macros and types that all headers share


@dataclass(frozen=True, slots=True)
class Block:
    """The part of a header or a module on one problem. stem: the plain entry; about, in_fortran: what holds for all
    entries of its kind; paragraphs: lines that start with a space are not filled; facts: by label, of which empty ones
    are left out; macros: values by name; entries: all in the object; threaded: those that OpenMP's threads run."""

    stem: str
    about: str
    in_fortran: str
    paragraphs: list[str]
    facts: dict[str, str]
    macros: dict[str, object]
    entries: tuple[AnyEntry, ...]
    threaded: tuple[AnyEntry, ...]


def text(name: str, home: str, described: Sequence[Block], version: str, plans: str = "") -> str:
    """A whole header. name: of the file, without its ending; home: of the object or library with the entries; plans:
    the declarations of a library's plans."""
    included = declarations.includes((entry for one in described for entry in one.threaded), bool(plans))
    about = "\n".join(dict.fromkeys(one.about for one in described))
    title = lines_of([f"{name}.h: entries of {home}, written by ttc_llvm {version}."], {})
    values = {
        "TITLE": "\n * ".join(title),
        "GUARD": names.guard(name),
        "INCLUDES": included,
        "ABI": ABI.read_text(),
        "ABOUT": "\n".join(f" * {line}".rstrip() for line in about.splitlines()),
        "BLOCKS": "".join(block(one, version) for one in described) + plans,
    }
    return filled(TEMPLATE, values)


def block(described: Block, version: str) -> str:
    """One problem: what it computes, its entries, and inline functions that spread them over threads."""
    guard = names.block_guard(described.stem)  # another header of the same program may hold the same problem
    parts = [
        comment(described.paragraphs, described.facts),
        f"#ifndef {guard}\n#define {guard}\n",
        declarations.macros(described.stem, described.macros, version),
        *map(declarations.prototype, described.entries),
        *map(declarations.with_threads, described.threaded),
        declarations.cpp((*described.entries, *described.threaded)),
        f"#endif /* {guard} */\n",
    ]
    return "\n".join(part for part in parts if part) + "\n"


# --- comments -------------------------------------------------------------------------------------------


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

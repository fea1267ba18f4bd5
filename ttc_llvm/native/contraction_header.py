"""The C header and the Fortran module of emitted contractions."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from ..ir_builders.fused.object_calls import SLOTS
from ..ir_builders.fused.object_calls import STACK as SMALL
from ..lazy_dataclasses import dataclass
from ..problem import contraction_interface as interface
from ..problem import names
from ..problem.contraction import OPERANDS, Contraction
from ..problem.dtypes import Kind
from . import contraction_declarations as declarations
from .declarations import OPENMP_HEADER, c_type
from .header import ABI, MEANINGS, WIDTH, comment, lines_of
from .whole_file import filled

TEMPLATE = Path(__file__).with_name("contraction.h.in")
MODULE = Path(__file__).with_name("contraction.f90.in")
STACK = 40 << 10  # bytes of the stack that a call takes at most, with a block for small contractions


@dataclass(frozen=True, slots=True)
class Described:
    """A contraction and what its block tells of it. target, plan: as text; speed: what was measured, "" = nothing;
    scratch: bytes for packed blocks; parts: that pay."""

    stated: Contraction
    target: str
    plan: str
    speed: str
    scratch: int
    parts: int


def text(name: str, home: str, described: Sequence[Described], version: str) -> str:
    """A whole header. name: of the file, without its ending; home: of the object or library with the entries."""
    has_complex = any(one.stated.element.kind is Kind.COMPLEX for one in described)
    cpp = "#ifdef __cplusplus\n#include <complex>\n#endif\n" if has_complex else ""
    values = {
        "TITLE": "\n * ".join(lines_of([f"{name}.h: entries of {home}, written by ttc_llvm {version}."], {})),
        "GUARD": names.guard(name),
        "INCLUDES": "#include <stdint.h>\n" + cpp + OPENMP_HEADER,
        "ABI": ABI.read_text(),
        "STACK": str(SMALL),
        "SLOTS": str(SLOTS),
        "BLOCKS": "".join(block(one, version) for one in described),
    }
    return filled(TEMPLATE, values)


def block(one: Described, version: str) -> str:
    """One contraction: what it computes, and its entries."""
    stated = one.stated
    guard = f"TTC_{names.contraction_stem(stated)}_ENTRIES"
    numbers = {"PARTS": one.parts, "SCRATCH": one.scratch, "STACK": STACK}
    parts = [
        comment(_description(stated), _facts(one)),
        f"#ifndef {guard}\n#define {guard}\n",
        declarations.macros(stated, numbers, version),
        *map(declarations.prototype, interface.entries(stated)),
        f"void {interface.release(stated)}(void);\n",
        *(declarations.with_threads(entry, one.parts) for entry in interface.threaded(stated)),
        declarations.cpp(stated),
        f"#endif /* {guard} */\n",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def module(name: str, home: str, described: Sequence[Described], version: str) -> str:
    """A whole Fortran module. Arguments as for `text`."""
    title = f"{name}.f90: entries of {home}, written by ttc_llvm {version}."
    public, lines = list[str](), list[str]()
    for one in described:
        entries = interface.entries(one.stated)
        public += [names.fortran(label) for label in (*(x.name for x in entries), interface.release(one.stated))]
        lines += [f"! {line}".rstrip() for line in lines_of(_description(one.stated), _facts(one))]
        bodies = [*map(declarations.fortran, entries), declarations.fortran_release(one.stated)]
        lines += [*(f"  {line}" for body in bodies for line in body), ""]
    values = {
        "TITLE": "\n! ".join(textwrap.wrap(title, WIDTH)),
        "MODULE": names.fortran(f"ttc_{name}"),
        "PUBLIC": "".join(f"  public :: {label}\n" for label in public),
        "BLOCKS": "".join(f"  {line}".rstrip() + "\n" for line in lines),
    }
    return filled(MODULE, values)


def _description(stated: Contraction) -> list[str]:
    """Paragraphs; lines that start with a space are not filled."""
    tensors = [f"{name.upper()}[{','.join(stated.indices(name))}]" for name in OPERANDS]
    a, b = (
        f"conj({x})" if flag else x
        for x, flag in zip(tensors, (stated.conjugate_a, stated.conjugate_b), strict=False)
    )
    summed = [letter for letter in stated.extents if letter not in stated.indices("c")]
    total = f"sum({','.join(summed)}) " if summed else ""
    meaning = MEANINGS.get(stated.element.name) or c_type(stated.element)
    rows = [("size", ",".join(f"{letter}:{extent}" for letter, extent in stated.size)), ("type", meaning)]
    rows += [(f"strides_{name}", ",".join(map(str, stated.strides(name)))) for name in OPERANDS]
    listed = "\n    ".join(f"{label:<10}{value}" for label, value in rows)
    by = ", by pointer" if stated.element.kind is Kind.COMPLEX else ""
    return [
        names.contraction_stem(stated),
        f"    {tensors[2]} <- alpha * {total}{a} * {b} + beta * {tensors[2]}",
        f"    {listed}",
        f"alpha and beta: {meaning}{by}.",
    ]


def _facts(one: Described) -> dict[str, str]:
    return {"target": one.target, "plan": one.plan, "measured": one.speed, "scratch": f"{one.scratch} bytes at best"}

"""The words of headers and modules on emitted contractions."""

from __future__ import annotations

from pathlib import Path

from ..ir_builders.fused.object_calls import SLOTS
from ..ir_builders.fused.object_calls import STACK as SMALL
from ..problem import contraction_interface as interface
from ..problem.contraction import OPERANDS, Contraction
from ..problem.dtypes import Kind
from ..problem.interface import Symbols
from .declarations import c_type
from .header import Block
from .transposition_words import MEANINGS
from .whole_file import filled

ABOUT = Path(__file__).with_name("contractions.txt.in")
ABOUT_FORTRAN = Path(__file__).with_name("contractions.f90.in")
STACK = 40 << 10  # bytes of the stack that a call takes at most, with a block for small contractions


def described(
    stated: Contraction, target: str, plan: str, speed: str, scratch: int, tasks: int, symbols: Symbols
) -> Block:
    """The block of a contraction. target, plan: as text; speed: what was measured, "" = nothing; scratch: bytes for
    packed blocks; tasks: into which the work can be cut; symbols: how its entries are named."""
    stem, size = symbols.stem(stated), stated.extents
    entries, threaded = interface.entries(stated, symbols), interface.threaded(stated, symbols, tasks)
    facts = {"target": target, "plan": plan, "measured": speed, "scratch": f"{scratch} bytes at best"}
    macros: dict[str, object] = {
        "INDICES": f'"{"".join(size)}"', "SIZE": tuple(size.values()),
        **{f"STRIDES_{name.upper()}": stated.strides(name) for name in OPERANDS},
        "PARTS": threaded[0].work.most_threads, "SCRATCH": scratch, "STACK": STACK,
    }  # fmt: skip
    meaning = MEANINGS.get(stated.element.name) or c_type(stated.element)
    rows = [("size", ",".join(f"{letter}:{extent}" for letter, extent in stated.size)), ("type", meaning)]
    rows += [(f"strides_{name}", ",".join(map(str, stated.strides(name)))) for name in OPERANDS]
    listed = "\n    ".join(f"{label:<10}{value}" for label, value in rows)
    by = ", by pointer" if stated.element.kind is Kind.COMPLEX else ""
    paragraphs = [stem, f"    {_formula(stated)}", f"    {listed}", f"alpha and beta: {meaning}{by}."]
    about = filled(ABOUT, {"STACK": str(SMALL), "SLOTS": str(SLOTS)})
    return Block(stem, about, ABOUT_FORTRAN.read_text(), paragraphs, facts, macros, entries, threaded)


def _formula(stated: Contraction) -> str:
    tensors = [f"{name.upper()}[{','.join(stated.indices(name))}]" for name in OPERANDS]
    a, b = (
        f"conj({x})" if flag else x
        for x, flag in zip(tensors, (stated.conjugate_a, stated.conjugate_b), strict=False)
    )
    summed = [letter for letter in stated.extents if letter not in stated.indices("c")]
    total = f"sum({','.join(summed)}) " if summed else ""
    return f"{tensors[2]} <- alpha * {total}{a} * {b} + beta * {tensors[2]}"

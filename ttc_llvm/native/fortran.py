"""The Fortran module of one or many objects: `iso_c_binding` interfaces of all entries.

Fortran 2018: lda and ldb are optional, and an absent one arrives as NULL. Arrays of any rank can be passed: they
arrive as they lie in memory. Small and swapped floats are integers of their size; items of other sizes are `type(*)`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from ..lazy_dataclasses import dataclass
from ..problem import names
from ..problem.contraction_interface import AnyEntry
from ..problem.dtypes import DType, Kind
from ..problem.interface import Parameter, Role, Sizes
from .header import Block, lines_of
from .whole_file import filled

TYPES = {
    "s": "real(c_float)", "d": "real(c_double)", "c": "complex(c_float_complex)", "z": "complex(c_double_complex)",
}  # fmt: skip
_WORDS = {Role.WIDE: "integer(c_int64_t)", Role.BYTES: "integer(c_int64_t)", Role.MEMORY: "type(c_ptr)"}
WIDTH = 100  # of comments; lines may have 132 characters
PIECE = 96  # characters of a name in one line
TEMPLATE = Path(__file__).with_name("module.f90.in")


@dataclass(frozen=True, slots=True)
class Plans:
    """The part of a module on a library's plans: comment, declarations and interfaces, in whole lines."""

    about: str = ""
    declared: str = ""
    interfaces: str = ""


NO_PLANS = Plans()


def text(name: str, home: str, described: Sequence[Block], version: str, plans: Plans = NO_PLANS) -> str:
    """A whole module. name: of the file, without its ending; home: of the object or library with the entries; plans:
    of the library."""
    title = f"{name}.f90: entries of {home}, written by ttc_llvm {version}."
    entries = [entry for one in described for entry in _entries(one)]
    values = {
        "TITLE": "\n! ".join(textwrap.wrap(title, WIDTH)),
        "MODULE": names.fortran(f"ttc_{name}"),  # an entry's name cannot be a module's, too
        "ABOUT": "".join(dict.fromkeys(one.in_fortran for one in described)) + plans.about,
        "PUBLIC": "".join(f"  public :: {names.fortran(entry.name)}\n" for entry in entries) + plans.declared,
        "BLOCKS": "".join(f"  {line}".rstrip() + "\n" for one in described for line in _block(one)) + plans.interfaces,
    }
    return filled(TEMPLATE, values)


def _entries(one: Block) -> tuple[AnyEntry, ...]:
    return (*one.entries, *one.threaded)


def _block(described: Block) -> list[str]:
    told = [f"! {line}".rstrip() for line in lines_of(described.paragraphs, described.facts)]
    declared = [line for entry in _entries(described) for line in _interface(entry)]
    return [*told, *(f"  {line}" for line in declared), ""]


def _interface(entry: AnyEntry) -> list[str]:
    """The interface body of one entry."""
    name = names.fortran(entry.name)
    kinds = sorted({kind for p in entry.parameters for kind in _kinds(_type(entry, p.role))})
    return [
        f"subroutine {name}( &",
        f"    {', '.join(p.name for p in entry.parameters)}) &",
        f'    bind(c, name="{split(entry.name)}")',
        f"  import :: {', '.join(kinds)}" if kinds else "",
        *(f"  {_declared(entry, p)}" for p in entry.parameters),
        f"end subroutine {name}",
    ]


def split(name: str) -> str:
    """A long name goes on in the next line."""
    return "&\n      &".join(name[at : at + PIECE] for at in range(0, len(name), PIECE))


def _declared(entry: AnyEntry, parameter: Parameter) -> str:
    kind = _type(entry, parameter.role)
    by_pointer = entry.types[-1].kind is Kind.COMPLEX
    declared = {
        Role.READ: f"{kind}, intent(in) :: {parameter.name}(*)",
        **dict.fromkeys((Role.WRITTEN, Role.BOTH), f"{kind}, intent(inout) :: {parameter.name}(*)"),
        Role.SCALAR: f"{kind}, {'intent(in)' if by_pointer else 'value'} :: {parameter.name}",
        Role.SIZES: f"{kind}, intent(in){_optional(entry, parameter)} :: {parameter.name}(*)",
        Role.WIDE: f"{kind}, intent(in){_optional(entry, parameter)} :: {parameter.name}(*)",
        **dict.fromkeys((Role.NUMBER, Role.MEMORY, Role.BYTES), f"{kind}, value :: {parameter.name}"),
    }
    return declared[parameter.role]


def _optional(entry: AnyEntry, parameter: Parameter) -> str:
    return "" if parameter.name == "size" and entry.sizes is Sizes.ANY else ", optional"


def _type(entry: AnyEntry, role: Role) -> str:
    read, written, scalar = entry.types
    types = {Role.READ: read, Role.WRITTEN: written, Role.BOTH: written, Role.SCALAR: scalar}
    return _of(types[role]) if role in types else _WORDS.get(role, "integer(c_int)")


def _of(t: DType) -> str:
    return TYPES.get(t.stored, "type(*)" if t.format is None else f"integer(c_int{8 * t.itemsize}_t)")


def _kinds(declared: str) -> list[str]:
    inside = declared.partition("(")[2].rstrip(")")
    return [inside] if inside.startswith("c_") else []

"""The Fortran module of one or many objects: `iso_c_binding` interfaces of all entries.

Fortran 2018: lda and ldb are optional, and an absent one arrives as NULL. Arrays of any rank can be passed: they
arrive as they lie in memory. Small and swapped floats are integers of their size; items of other sizes are `type(*)`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from ..problem import interface, names
from ..problem.dtypes import DType, Kind
from ..problem.interface import Entry, Parameter, Role, Sizes
from ..problem.problem import Problem
from . import header
from .header import Described
from .whole_file import filled

TYPES = {
    "s": "real(c_float)", "d": "real(c_double)", "c": "complex(c_float_complex)", "z": "complex(c_double_complex)",
}  # fmt: skip
WIDTH = 100  # of comments; lines may have 132 characters
PIECE = 96  # characters of a name in one line
TEMPLATE = Path(__file__).with_name("module.f90.in")


def text(name: str, home: str, described: Sequence[Described], version: str) -> str:
    """A whole module. name: of the file, without its ending; home: of the object or library with the entries."""
    title = f"{name}.f90: entries of {home}, written by ttc_llvm {version}."
    entries = [entry for one in described for entry in _entries(one)]
    values = {
        "TITLE": "\n! ".join(textwrap.wrap(title, WIDTH)),
        "MODULE": names.fortran(f"ttc_{name}"),  # an entry's name cannot be a module's, too
        "PUBLIC": "".join(f"  public :: {names.fortran(entry.name)}\n" for entry in entries),
        "BLOCKS": "".join(f"  {line}".rstrip() + "\n" for one in described for line in _block(one)),
    }
    return filled(TEMPLATE, values)


def _entries(one: Described) -> tuple[Entry, ...]:
    return (*interface.entries(one.problem, one.symbols), *interface.threaded(one.problem, one.symbols))


def _block(described: Described) -> list[str]:
    told = [f"! {line}".rstrip() for line in header.told(described)]
    declared = [line for entry in _entries(described) for line in _interface(entry)]
    return [*told, *(f"  {line}" for line in declared), ""]


def _interface(entry: Entry) -> list[str]:
    """The interface body of one entry."""
    name = names.fortran(entry.name)
    problem = entry.problem
    kinds = sorted({kind for p in entry.parameters for kind in _kinds(_type(problem, p.role))})
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


def _declared(entry: Entry, parameter: Parameter) -> str:
    problem = entry.problem
    kind = _type(problem, parameter.role)
    by_pointer = problem.compute.kind is Kind.COMPLEX
    declared = {
        Role.A: f"{kind}, intent(in) :: {parameter.name}(*)",
        Role.B: f"{kind}, intent(inout) :: {parameter.name}(*)",
        Role.BOTH: f"{kind}, intent(inout) :: {parameter.name}(*)",
        Role.SCALAR: f"{kind}, {'intent(in)' if by_pointer else 'value'} :: {parameter.name}",
        Role.SIZES: f"{kind}, intent(in){_optional(entry, parameter)} :: {parameter.name}(*)",
        Role.WIDE: f"{kind}, intent(in){_optional(entry, parameter)} :: {parameter.name}(*)",
        Role.NUMBER: f"{kind}, value :: {parameter.name}",
    }
    return declared[parameter.role]


def _optional(entry: Entry, parameter: Parameter) -> str:
    return "" if parameter.name == "size" and entry.sizes is Sizes.ANY else ", optional"


def _type(problem: Problem, role: Role) -> str:
    types = {Role.A: problem.a, Role.B: problem.b, Role.BOTH: problem.b, Role.SCALAR: problem.compute}
    return _of(types[role]) if role in types else f"integer({'c_int64_t' if role is Role.WIDE else 'c_int'})"


def _of(t: DType) -> str:
    return TYPES.get(t.stored, "type(*)" if t.format is None else f"integer(c_int{8 * t.itemsize}_t)")


def _kinds(declared: str) -> list[str]:
    inside = declared.partition("(")[2].rstrip(")")
    return [inside] if inside.startswith("c_") else []

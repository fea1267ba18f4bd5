"""The part of a library's Fortran module that declares its plans: interfaces of the functions in plan.h.in."""

from __future__ import annotations

import re
from pathlib import Path

from ..ir_builders.plan_objects import fields
from ..problem import names
from .fortran import Plans, split
from .plan_header import TEMPLATE

ABOUT = Path(__file__).with_name("plans.f90.in")
PROTOTYPE = re.compile(r"^(\w[\w ]*[ *])@NAME@_(\w+)\((.*)\);$", re.MULTILINE)
RESULTS = {"int": "integer(c_int)", "const char *": "type(c_ptr)", "ttc_plan_function": "type(c_funptr)"}
# How Fortran declares a parameter of C's, where @NAME@_ is left out.
PARAMETERS = {
    **dict.fromkeys(("plan **plan", "group **group"), "type(c_ptr), intent(out) :: {}"),
    **dict.fromkeys(("plan *plan", "const plan *plan"), "type(c_ptr), value :: {}"),
    **dict.fromkeys(("group *group", "const group *group"), "type(c_ptr), value :: {}"),
    **dict.fromkeys(
        ("const plan *const *plans", "const void *const *A", "void *const *B"), "type(c_ptr), intent(in) :: {}(*)"
    ),
    **dict.fromkeys(
        ("int rank", "int threads", "int part", "int parts", "int code"), "integer(c_int), value :: {}"
    ),
    "int64_t count": "integer(c_int64_t), value :: {}",
    "const int *perm": "integer(c_int), intent(in) :: {}(*)",
    "const int64_t *size": "integer(c_int64_t), intent(in) :: {}(*)",
    **dict.fromkeys(
        ("const int64_t *strides_a", "const int64_t *strides_b"), "integer(c_int64_t), intent(in), optional :: {}(*)"
    ),
    "const char *types": "character(kind=c_char), intent(in) :: {}(*)",
    "const void *A": "type(*), intent(in) :: {}(*)",
    "void *B": "type(*), intent(inout) :: {}(*)",
    **dict.fromkeys(("const void *alpha", "const void *beta"), "type(*), intent(in), optional :: {}"),
    "int64_t *wrong": "integer(c_int64_t), intent(out), optional :: {}",
}


def part(name: str) -> Plans:
    """The lines on plans whose names begin so."""
    found = dict.fromkeys(PROTOTYPE.findall(TEMPLATE.read_text()))
    functions = [(result.strip(), f"{name}_{function}", given.split(", ")) for result, function, given in found]
    code = "integer(c_int), parameter, public :: TTC_PLAN_{} = {}"
    codes = [code.format(error, number) for number, (error, _) in enumerate(fields.ERRORS)]
    public = [f"public :: {names.fortran(function)}" for _, function, _ in functions]
    return Plans(
        about=ABOUT.read_text(),
        declared="".join(f"  {line}\n" for line in (*public, *codes)),
        interfaces="".join(f"    {line}\n" for one in functions for line in _interface(*one)),
    )


def _interface(result: str, function: str, given: list[str]) -> list[str]:
    """The interface body of one function."""
    name, parameters = names.fortran(function), [one.replace("@NAME@_", "") for one in given]
    dummies = [re.split(r"\W+", one)[-1] for one in parameters]
    kind = "function" if result in RESULTS else "subroutine"
    return [
        f"{kind} {name}( &",
        f"    {', '.join(dummies)}) &",
        f'    bind(c, name="{split(function)}")',
        "  import",
        *(f"  {PARAMETERS[one].format(dummy)}" for one, dummy in zip(parameters, dummies, strict=True)),
        *([f"  {RESULTS[result]} :: {name}"] if result in RESULTS else []),
        f"end {kind} {name}",
    ]

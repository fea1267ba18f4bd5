"""The fields of a manifest's problem: the options that it admits, and their values in JSON."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from typing import Any

from ..errors import OptionError
from ..lazy_dataclasses import dataclass
from ..tuning.efforts import EFFORTS
from .options import GROUPS, OPTIONS, Option, spellings_of

# What holds for a whole run: the groups of the machine, of the files and of references, and these.
_RUN_GROUPS = (
    "the machine", "what comes out", "libraries of many problems", "references that the solution is compared with",
)  # fmt: skip
_RUN_FIELDS = {"affinity", "ignore_database", "database"}
RUN_WIDE = _RUN_FIELDS | {option.field for title in _RUN_GROUPS for option in GROUPS[title]}
PER_PROBLEM = {
    flag[2:]: option for option in OPTIONS if option.field not in RUN_WIDE for flag in spellings_of(option.flag)
}


def refusal(option: Option, name: str) -> str:
    """The sentence on an option that no problem of a manifest has."""
    return f"{name} holds for a whole run: give it on the command line"


def option(key: str) -> Option:
    """The option of a key; OptionError for keys that are none of a problem."""
    if key in PER_PROBLEM:
        return PER_PROBLEM[key]
    wide = next((one for one in OPTIONS if key == one.flag[2:]), None)
    if wide is not None:
        raise OptionError(refusal(wide, key))
    known = {name.lower(): name for name in PER_PROBLEM}
    near = [known[name] for name in difflib.get_close_matches(key.lower(), known, n=3, cutoff=0.6)]
    hint = f"near matches are {', '.join(near)}" if near else f"keys are {', '.join(PER_PROBLEM)}"
    raise OptionError(f"unknown key {shown(key)}: {hint}")


def shown(value: object) -> str:
    """A JSON value as errors quote it."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True, slots=True)
class _Form:
    """How a value is written in JSON. fits: is it one; text: as the command line writes it; words: for errors."""

    words: str
    fits: Callable[[Any], bool]
    text: Callable[[Any], str] = str


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _all(test: Callable[[Any], bool], count: int | None = None) -> Callable[[Any], bool]:
    """A test for lists (of so many) whose items all pass the given one."""
    return lambda value: isinstance(value, list) and count in (None, len(value)) and all(map(test, value))


def _comma(value: list[int]) -> str:
    return ",".join(map(str, value))


def _is_scalar(value: Any) -> bool:
    """A number, or its parts."""
    return _is_number(value) or _all(_is_number, 2)(value)


def _is_term(value: Any) -> bool:
    """A scalar and a perm."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and _is_scalar(value[0])
        and _all(_is_integer)(value[1])
    )


def _number(value: Any) -> str:
    return ",".join(map(repr, value)) if isinstance(value, list) else repr(value)


_INTEGERS = _Form("a list of integers", _all(_is_integer), _comma)
FORMS = {  # by the option's metavar
    "P,..": _INTEGERS,
    "N,..": _INTEGERS,
    "D,..": _INTEGERS,
    "N": _Form("an integer", _is_integer),
    "EFFORT": _Form(f"an integer, or one of {', '.join(EFFORTS)}", lambda v: _is_integer(v) or isinstance(v, str)),
    "S": _Form("a number", _is_number, repr),
    "X": _Form("a number, or [real, imaginary]", _is_scalar, _number),
    "TYPE": _Form("a string", lambda v: isinstance(v, str)),
    "SPEC": _Form("a string", lambda v: isinstance(v, str)),
    "TEXT": _Form("a string", lambda v: isinstance(v, str)),
    "ORDER": _Form("a string", lambda v: isinstance(v, str)),
    "X:P,..;..": _Form("a list of pairs of a number and a list of integers", _all(_is_term),
                       lambda v: ";".join(f"{_number(factor)}:{_comma(perm)}" for factor, perm in v)),
    "AxB,..": _Form("a list of pairs of integers", _all(_all(_is_integer, 2)),
                    lambda v: ",".join("x".join(map(str, pair)) for pair in v)),
}  # fmt: skip
_EXTENTS = _Form("an object of letters and integers", lambda v: _all(_is_integer)(list(v.values())),
                 lambda v: ",".join(f"{letter}:{extent}" for letter, extent in v.items()))  # fmt: skip
_ORDERS = _Form("a list of lists of integers", _all(_all(_is_integer)), lambda v: "-".join(map(_comma, v)))


def converted(option: Option, name: str, value: Any) -> str | bool:
    """A JSON value as the command line writes it; a switch as it is. OptionError for values of another form. name: the
    option's, as the manifest has it."""
    if not option.metavar:
        if not isinstance(value, bool):
            raise OptionError(f"{name} is {shown(value)}: true or false is expected")
        return value
    form = FORMS[option.metavar]
    if option.field == "size" and isinstance(value, dict):
        form = _EXTENTS
    elif option.field == "loop_perm" and _ORDERS.fits(value):
        form = _ORDERS
    if not form.fits(value):
        raise OptionError(f"{name} is {shown(value)}: {form.words} is expected")
    return form.text(value)

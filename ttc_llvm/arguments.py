"""Checks of what callers pass: one rule for each kind of argument, which raises the caller's own sort of error.

A rule takes the argument's name, its value and the class of the error, and returns the value as it is used from there.
What a caller's object raises when it is asked for its value breaks the rule, too; what its class raises is not caught.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from itertools import islice
from typing import Any

from .errors import OptionError, ProblemError, TtcError, pass_on

Error = type[TtcError]
Rule = Callable[[str, Any, Error], Any]

SHOWN = 80  # characters of a value in a message
DIGITS, _BEYOND = 40, 10**40  # of an integer, as on the command line, and what has more
MOST = 1 << 20  # items of a sequence: what has more may never end
COUNT = (1 << 31) - 1  # of whatever is counted
_UNORDERED = (str, bytes, bytearray, memoryview, Set, Mapping)


def shown(value: object) -> str:
    """A value as its caller may have spelled it, for a message: one line, cut short; of some only the type is told."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # nested too deep, more digits than Python prints, a __repr__ that fails
        return f"of type {type(value).__name__}"
    return cut(text)


def cut(text: str, most: int = SHOWN) -> str:
    """A text as messages quote it: of bounded length."""
    return text if len(text) <= most else f"{text[:most - 3]}..."


def count(number: int, one: str, many: str = "") -> str:
    """A number and its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def reason(error: BaseException) -> str:
    """The message of another library's error, as part of a message: one line of bounded length."""
    try:
        return cut(" ".join(str(error).split()), 3 * SHOWN) or type(error).__name__
    except Exception:
        return type(error).__name__


# --- numbers ---------------------------------------------------------------------------------------------


def integer(name: str, value: Any, error: Error = OptionError) -> int:
    """Whatever Python takes for an integer, of at most 40 digits."""
    try:
        number = operator.index(value)
    except Exception as raised:
        pass_on(raised, value)
        raise error(f"{name} {shown(value)} is not an integer") from None
    if not -_BEYOND < number < _BEYOND:
        raise error(f"{name} is an integer of more than {DIGITS} digits")
    return number


def _between(least: int, most: int, name: str, value: Any, error: Error) -> int:
    number = integer(name, value, error)
    if not least <= number <= most:
        raise error(f"{name} {number} is {f'less than {least}' if number < least else f'more than {most}'}")
    return number


def between(least: int, most: int = COUNT) -> Rule:
    """The rule of integers within these bounds."""
    return partial(_between, least, most)


def real(name: str, value: Any, error: Error = OptionError) -> float:
    """Any real number, also an array of no axes, as a float."""
    return float(_as_number(float, name, value, error))


def number(name: str, value: Any, error: Error = ProblemError) -> complex:
    """Any number, also an array of no axes, as a complex one."""
    return complex(_as_number(complex, name, value, error))


def is_fraction(value: Any) -> bool:
    """True for a `fractions.Fraction`, which has not been rounded yet."""
    known = sys.modules.get("fractions")
    return known is not None and isinstance(value, known.Fraction)


def _as_number(kind: Callable[[Any], Any], name: str, value: Any, error: Error) -> Any:
    try:
        if not isinstance(value, (str, bytes, bytearray)) and getattr(value, "ndim", 0) == 0:  # kind() would read texts
            return kind(value)
    except OverflowError:
        raise error(f"{name} is beyond the range of floating-point numbers") from None
    except Exception as raised:
        pass_on(raised, value)
    raise error(f"{name} = {shown(value)} is not a number") from None


def flag(name: str, value: Any, error: Error = OptionError) -> bool:
    """True or False, NumPy's too, or 1 or 0."""
    if isinstance(value, bool):
        return value
    try:
        if getattr(value, "dtype", None) == "bool" or operator.index(value) in (0, 1):
            return bool(value)
    except Exception as raised:
        pass_on(raised, value)
    raise error(f"{name} = {shown(value)} is neither True nor False") from None


# --- texts -----------------------------------------------------------------------------------------------


def text(name: str, value: Any, error: Error = OptionError) -> str:
    """A text that files and C can hold: no NUL, nothing that UTF-8 has no bytes for."""
    if not isinstance(value, str):
        raise error(f"{name} {shown(value)} is not a text")
    if "\0" in value or (not value.isascii() and any("\ud800" <= one <= "\udfff" for one in value)):
        raise error(f"{name} {shown(value)} holds a NUL or half of a surrogate pair")
    return value


def word(name: str, value: Any, error: Error = OptionError) -> str:
    """A text that the system can hand over: no NUL; undecodable bytes as Python escapes them, but no other halves of
    surrogate pairs."""
    if not isinstance(value, str):
        raise error(f"{name} {shown(value)} is not a text")
    try:
        if b"\0" not in os.fsencode(value):
            return value
    except UnicodeEncodeError:
        pass
    raise error(f"{name} {shown(value)} holds a NUL, or a character that the system cannot encode") from None


def one_of(name: str, value: Any, choices: Iterable[str], error: Error = OptionError) -> str:
    """One of these texts."""
    known = tuple(choices)
    if isinstance(value, str) and value in known:
        return value
    raise error(f"{name} {shown(value)} is unknown: the choices are {', '.join(known)}")


# --- what is made of others ------------------------------------------------------------------------------


def sequence(name: str, values: Any, error: Error = OptionError, what: str = "values") -> tuple[Any, ...]:
    """The items of a list, tuple, array or whatever is iterated in an order of its own; of no text, set or mapping."""
    try:
        if isinstance(values, Iterable) and not isinstance(values, _UNORDERED):
            found = tuple(islice(values, MOST + 1))
            if len(found) <= MOST:
                return found
    except Exception as raised:
        pass_on(raised, values)
    raise error(f"{name} {shown(values)} is not a sequence of {what}") from None


def integers(name: str, values: Any, error: Error = OptionError) -> tuple[int, ...]:
    """A sequence of integers."""
    if type(values) is tuple:
        for value in values:  # plans have many: a generator would take three times as long
            if type(value) is not int or not -_BEYOND < value < _BEYOND:
                break
        else:
            return values
    return _each(integer, "integers", None, name, values, error)


def permutation(name: str, values: Any, rank: int, error: Error = OptionError) -> tuple[int, ...]:
    """The axes of an array in another order; negative ones count from the end, None reverses them all."""
    given = integers(name, range(rank)[::-1] if values is None else values, error)
    if sorted(k % rank if -rank <= k < rank else k for k in given) != [*range(rank)]:
        raise error(f"{name} {shown(values)} does not name each of the {rank} axes once")
    return tuple(k % rank for k in given)


def texts(name: str, values: Any, error: Error = OptionError) -> tuple[str, ...]:
    """A sequence of texts, or one text alone."""
    if isinstance(values, str):
        return (values,)
    return _each(text, "texts", None, name, values, error)


def _each(rule: Rule, what: str, count: int | None, name: str, values: Any, error: Error) -> tuple[Any, ...]:
    found = sequence(name, values, error, what)
    if count not in (None, len(found)):
        raise error(f"{name} {shown(found)} is not a sequence of {count} {what}")
    try:
        return tuple(rule(f"{name}[{k}]", value, error) for k, value in enumerate(found))
    except TtcError as one:
        raise error(f"{name} {shown(found)} is not a sequence of {what}: {one}") from None


def each(rule: Rule, what: str, count: int | None = None) -> Rule:
    """The rule of sequences, of so many, whose items keep a rule. what: a word for them."""
    return partial(_each, rule, what, count)


def _optional(rule: Rule, name: str, value: Any, error: Error) -> Any:
    return None if value is None else rule(name, value, error)


def optional(rule: Rule) -> Rule:
    """The rule of what may also be None."""
    return partial(_optional, rule)


def _instance(kind: type, name: str, value: Any, error: Error) -> Any:
    if isinstance(value, kind):
        return value
    raise error(f"{name} is a {type(value).__name__}: it must be a {kind.__name__}")


def instance(kind: type) -> Rule:
    """The rule of values of a class."""
    return partial(_instance, kind)


def _texts_to(kind: type, name: str, value: Any, error: Error) -> dict[str, Any]:
    found: dict[str, Any] = {} if value is None else dict(_instance(Mapping, name, value, error))
    for key, one in found.items():
        instance(str)(f"a key of {name}", key, error)
        instance(kind)(f"an item of {name}", one, error)
    return found


def texts_to(kind: type) -> Rule:
    """The rule of mappings of texts to values of a class, which are copied; None is an empty one."""
    return partial(_texts_to, kind)


def put(owner: object, rules: Mapping[str, Rule], error: Error, subject: str = "") -> None:
    """Check the fields of a value as it is made, and keep each as its rule has it. subject: before their names."""
    for name, rule in rules.items():
        given = getattr(owner, name)
        found = rule(f"{subject}{name.lstrip('_')}", given, error)
        if found is not given:
            object.__setattr__(owner, name, found)

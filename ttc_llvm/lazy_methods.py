"""Methods of the classes of `lazy_dataclasses`: those for all of them, which answer the first calls, and those that are
compiled for a class which is used more often."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from . import locks

EARLY = 8  # calls of a method that one for all classes answers: compiling one's own takes as long as twenty of them
Fields = dict[str, "Field"]
Made = dict[str, Any]


class _Missing:
    """No default; in signatures, one that is made by a function."""

    def __repr__(self) -> str:
        return "<factory>"


MISSING: Any = _Missing()


class Field:
    """A field: its default, or the function that makes it; init: it is an argument; compare: values that differ in it
    are not equal."""

    __slots__ = ("compare", "default", "factory", "init", "type")

    def __init__(self, default: Any, factory: Any = MISSING, init: bool = True, compare: bool = True) -> None:
        self.default, self.factory, self.init, self.compare, self.type = default, factory, init, compare, Any


def _values(names: list[str], value: Any) -> tuple[Any, ...]:
    return tuple([getattr(value, name) for name in names])


def compared_early(names: list[str], early: Callable[[Any, Any], bool], value: Any, other: Any) -> Any:
    """Do what a compiled `__eq__` does with `operator.eq`, or `__lt__` with `operator.lt`."""
    same = other.__class__ is value.__class__
    return early(_values(names, value), _values(names, other)) if same else NotImplemented


def hashed_early(names: list[str], value: Any) -> int:
    """Do what a compiled `__hash__` does."""
    return hash(_values(names, value))


def initialised_early(fields: Fields, value: Any, /, *given: Any, **named: Any) -> None:
    """Do what a compiled `__init__` does, which is left to say what is wrong with arguments."""
    owner = next(cls for cls in type(value).__mro__ if cls.__dict__.get("_own_fields") is fields)
    arguments = [name for name, one in fields.items() if one.init]
    found = dict(zip(arguments, given, strict=False)) | named
    if len(found) != len(given) + len(named) or not found.keys() <= {*arguments}:
        owner.__init__(value, *given, **named)  # type: ignore[misc]
    for name, one in fields.items():
        if name in found:
            object.__setattr__(value, name, found[name])
        elif one.factory is not MISSING:
            object.__setattr__(value, name, one.factory())
        elif one.default is not MISSING:
            object.__setattr__(value, name, one.default)
        elif one.init:
            owner.__init__(value, *given, **named)  # type: ignore[misc]
    if hasattr(owner, "__post_init__"):
        value.__post_init__()


class Compiled:
    """A method that gives way to one of its own class after a few calls. text: of the class, the method's arguments,
    its lines, and what they refer to; early: what answers those calls, None = there are none."""

    def __init__(
        self, text: Callable[[Any], tuple[list[str], list[str], Made]], early: Callable[..., Any] | None = None
    ) -> None:
        self._text, self._early, self._left = text, early, EARLY if early else 0

    def __set_name__(self, owner: Any, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, value: object, cls: object) -> Any:
        if value is not None and self._early is not None and self._left > 0:
            self._left -= 1
            return partial(self._early, value)
        owner, name = self._owner, self._name
        arguments, lines, names = self._text(owner)
        body = "\n  ".join(lines or ["pass"])
        exec(f"def {name}({', '.join(arguments)}):\n  {body}", names)  # as `dataclasses` does
        made = names[name]
        made.__qualname__, made.__module__ = f"{owner.__qualname__}.{name}", owner.__module__
        if name == "__init__":
            made.__annotations__ = {key: one.type for key, one in owner._own_fields.items() if one.init}
        setattr(owner, name, made)
        return made if value is None else made.__get__(value)


def initialiser(owner: Any, fields: Fields, frozen: bool) -> tuple[list[str], list[str], Made]:
    """An `__init__`, as `Compiled` takes it."""
    arguments, lines = ["self"], []
    names: Made = {"_missing": MISSING, "_set": object.__setattr__}
    for name, one in fields.items():
        argument, value = _assigned(name, one, names)
        if one.init:
            arguments.append(argument)
        if value:
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    return arguments, lines, names


def copier(owner: Any, fields: Fields) -> tuple[list[str], list[str], Made]:
    """A method that makes another object of the same values without checks, in a fifth of the time of `replace`."""
    names: Made = {"_new": object.__new__, "_owner": owner, **{f"_put_{name}": _slot(owner, name) for name in fields}}
    puts = [f"_put_{name}(made, self.{name})" for name in fields]
    return ["self"], ["made = _new(_owner)", *puts, "return made"], names


def _slot(owner: Any, name: str) -> Callable[[Any, Any], None]:
    return getattr(owner, name).__set__  # type: ignore[no-any-return]


def _assigned(name: str, one: Field, names: Made) -> tuple[str, str]:
    """A field as an argument, and the value that it gets, "" for none; what they refer to is put among the names."""
    names[f"_of_{name}"] = one.default if one.factory is MISSING else one.factory
    if one.factory is not MISSING:
        return f"{name}=_missing", f"_of_{name}() if {name} is _missing else {name}" if one.init else f"_of_{name}()"
    if one.default is not MISSING:
        return f"{name}=_of_{name}", name if one.init else f"_of_{name}"
    return name, name if one.init else ""


class Standard:
    """The answer of `dataclasses` about a class of these fields under this name."""

    def __init__(self, name: str, fields: Fields, frozen: bool) -> None:
        self._name, self._fields, self._frozen = name, fields, frozen
        self._told = list[Any]()

    def __get__(self, value: object, cls: object) -> Any:
        if not self._told:
            self._told.append(self._made())
        return self._told[0]

    def _made(self) -> Any:
        standard = locks.imported("dataclasses")
        space: Made = {"__annotations__": {name: one.type for name, one in self._fields.items()}}
        for name, one in self._fields.items():
            told = {"default": one.default, "default_factory": one.factory}
            given = {key: found for key, found in told.items() if found is not MISSING}
            space[name] = standard.field(init=one.init, compare=one.compare, **given)
        return getattr(standard.dataclass(frozen=self._frozen)(type("Fields", (), space)), self._name)

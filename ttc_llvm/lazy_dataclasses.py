"""Dataclasses whose code is made when it is first needed.

`dataclasses` compiles six functions for every class when the class is made, which was half of the time that the import
of this package took. Here functions that serve all classes do what `dataclasses` says, and `__init__` alone is compiled
for each class, by its first call. The functions of `dataclasses` know these classes, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from . import locks

Fields = dict[str, "_Field"]
Made = dict[str, Any]


class _Missing:
    """No default; in signatures, one that is made by a function."""

    def __repr__(self) -> str:
        return "<factory>"


_MISSING: Any = _Missing()


class _Field:
    """A field: its default, or the function that makes it; init: it is an argument; compare: values that differ in it
    are not equal."""

    __slots__ = ("compare", "default", "factory", "init", "type")

    def __init__(self, default: Any, factory: Any = _MISSING, init: bool = True, compare: bool = True) -> None:
        self.default, self.factory, self.init, self.compare, self.type = default, factory, init, compare, Any


def _field(
    *, default: Any = _MISSING, default_factory: Any = _MISSING, init: bool = True, compare: bool = True
) -> Any:
    return _Field(default, default_factory, init, compare)


def _replace(value: Any, /, **changes: Any) -> Any:
    cls = type(value)
    for name, one in cls._own_fields.items():
        if one.init and name not in changes:
            changes[name] = getattr(value, name)
    return cls(**changes)


def _dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, order: bool = False, repr: bool = True
) -> Callable[[type], Any]:
    def decorated(cls: type) -> Any:
        return _made(cls, frozen, slots, eq, order, repr)

    return decorated


def _made(cls: Any, frozen: bool, slots: bool, eq: bool, order: bool, repr: bool) -> Any:
    inherited: Fields = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= base.__dict__.get("_own_fields", {})
    space = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    space["__qualname__"] = cls.__qualname__
    own = _fields(cls.__annotations__, space)
    if slots:
        space["__slots__"] = tuple(name for name in own if name not in inherited)
    for name, one in own.items():
        if slots or one.default is _MISSING:
            space.pop(name, None)
        else:
            space[name] = one.default
    if space.get("__hash__") is None:  # also where a class has an __eq__ of its own
        space.pop("__hash__", None)
    fields = inherited | own
    for name, value in (*_common(fields, frozen, slots), *_comparing(fields, frozen, eq, order)):
        space.setdefault(name, value)
    if repr:
        space.setdefault("__repr__", _repr)
    return type(cls)(cls.__name__, cls.__bases__, space)


def _fields(annotations: Made, space: Made) -> Fields:
    """The fields that a class declares."""
    found: Fields = {}
    for name, kind in annotations.items():
        if not str(kind).startswith("ClassVar"):
            given = space.get(name, _MISSING)
            found[name] = given if isinstance(given, _Field) else _Field(given)
            found[name].type = kind
    return found


# --- what all classes share -----------------------------------------------------------------------------------------


def _common(fields: Fields, frozen: bool, slots: bool) -> list[tuple[str, Any]]:
    found = [
        ("_own_fields", fields),
        ("__init__", _Compiled(partial(_initialiser, fields=fields, frozen=frozen))),
        ("__match_args__", tuple(name for name, one in fields.items() if one.init)),
        ("__replace__", _replace),  # for `copy.replace`
        ("__dataclass_fields__", _Standard("__dataclass_fields__", fields, frozen)),
        ("__dataclass_params__", _Standard("__dataclass_params__", fields, frozen)),
    ]
    found += [("__setattr__", _set), ("__delattr__", _delete)] if frozen else ()
    found += [("__getstate__", _state), ("__setstate__", _restore)] if frozen and slots else ()
    found += [("_copied", _Compiled(partial(_copier, fields=fields)))] if frozen and slots else ()
    return found


def _comparing(fields: Fields, frozen: bool, eq: bool, order: bool) -> list[tuple[str, Any]]:
    if not eq:
        return []
    names = [name for name, one in fields.items() if one.compare]
    own, others = (f"({''.join(f'{side}.{name}, ' for name in names)})" for side in ("self", "other"))

    def compared(operator: str) -> _Compiled:
        found = f"{own} {operator} {others} if other.__class__ is self.__class__ else NotImplemented"
        return _Compiled(lambda _: (["self", "other"], [f"return {found}"], {}))

    digest = _Compiled(lambda _: (["self"], [f"return hash({own})"], {}))
    return [
        ("__eq__", compared("==")),
        *([("__hash__", digest)] if frozen else ()),
        *([("__lt__", compared("<"))] if order else ()),
    ]


def _repr(self: Any) -> str:
    told = (f"{name}={getattr(self, name)!r}" for name in self._own_fields)
    return f"{type(self).__qualname__}({', '.join(told)})"


def _set(self: Any, name: str, value: Any) -> None:
    raise locks.imported("dataclasses").FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> None:
    raise locks.imported("dataclasses").FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self._own_fields]


def _restore(self: Any, state: list[Any]) -> None:
    for name, value in zip(self._own_fields, state, strict=True):
        object.__setattr__(self, name, value)


# --- what is made for a class when it is asked for ------------------------------------------------------------------


class _Compiled:
    """A method that gives way to one of its own class when it is first looked up. text: of the class, the method's
    arguments, its lines, and what they refer to."""

    def __init__(self, text: Callable[[Any], tuple[list[str], list[str], Made]]) -> None:
        self._text = text

    def __set_name__(self, owner: Any, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, value: object, cls: object) -> Any:
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


def _initialiser(owner: Any, fields: Fields, frozen: bool) -> tuple[list[str], list[str], Made]:
    arguments, lines = ["self"], []
    names: Made = {"_missing": _MISSING, "_set": object.__setattr__}
    for name, one in fields.items():
        argument, value = _assigned(name, one, names)
        if one.init:
            arguments.append(argument)
        if value:
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    return arguments, lines, names


def _copier(owner: Any, fields: Fields) -> tuple[list[str], list[str], Made]:
    """A method that makes another object of the same values without checks: in a fifth of the time of `replace`."""
    names: Made = {"_new": object.__new__, "_owner": owner, **{f"_put_{name}": _slot(owner, name) for name in fields}}
    puts = [f"_put_{name}(made, self.{name})" for name in fields]
    return ["self"], ["made = _new(_owner)", *puts, "return made"], names


def _slot(owner: Any, name: str) -> Callable[[Any, Any], None]:
    return getattr(owner, name).__set__  # type: ignore[no-any-return]


def _assigned(name: str, one: _Field, names: Made) -> tuple[str, str]:
    """A field as an argument, and the value that it gets, "" for none; what they refer to is put among the names."""
    names[f"_of_{name}"] = one.default if one.factory is _MISSING else one.factory
    if one.factory is not _MISSING:
        return f"{name}=_missing", f"_of_{name}() if {name} is _missing else {name}" if one.init else f"_of_{name}()"
    if one.default is not _MISSING:
        return f"{name}=_of_{name}", name if one.init else f"_of_{name}"
    return name, name if one.init else ""


class _Standard:
    """What `dataclasses` says of a class of these fields under this name."""

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
            given = {key: found for key, found in told.items() if found is not _MISSING}
            space[name] = standard.field(init=one.init, compare=one.compare, **given)
        return getattr(standard.dataclass(frozen=self._frozen)(type("Fields", (), space)), self._name)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    dataclass, field, replace = _dataclass, _field, _replace

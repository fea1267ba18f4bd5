"""Dataclasses whose code is made when it is first needed.

`dataclasses` compiles six functions for every class when the class is made, which was half of the time that the import
of this package took. Here functions that serve all classes do what `dataclasses` says, until some are called so often
that they are compiled for a class (`lazy_methods`). The functions of `dataclasses` know these classes, too.

`NamedTuple` is that of `typing`, which compiles every annotation to look at it: of two thirds of its time.
"""

from __future__ import annotations

import operator
from collections import namedtuple
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from . import locks
from .errors import PlanError
from .lazy_methods import (
    MISSING,
    Compiled,
    Field,
    Fields,
    Made,
    Standard,
    compared_early,
    copier,
    hashed_early,
    initialised_early,
    initialiser,
)


def _field(
    *, default: Any = MISSING, default_factory: Any = MISSING, init: bool = True, compare: bool = True
) -> Any:
    return Field(default, default_factory, init, compare)


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
        if slots or one.default is MISSING:
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
            given = space.get(name, MISSING)
            found[name] = given if isinstance(given, Field) else Field(given)
            found[name].type = kind
    return found


# --- what all classes share -----------------------------------------------------------------------------------------


def _common(fields: Fields, frozen: bool, slots: bool) -> list[tuple[str, Any]]:
    found = [
        ("_own_fields", fields),
        ("__init__", Compiled(partial(initialiser, fields=fields, frozen=frozen), partial(initialised_early, fields))),
        ("__match_args__", tuple(name for name, one in fields.items() if one.init)),
        ("__replace__", _replace),  # for `copy.replace`
        ("__dataclass_fields__", Standard("__dataclass_fields__", fields, frozen)),
        ("__dataclass_params__", Standard("__dataclass_params__", fields, frozen)),
    ]
    found += [("__setattr__", _set), ("__delattr__", _delete)] if frozen else ()
    found += [("__getstate__", _state), ("__setstate__", _restore)] if frozen and slots else ()
    found += [("_copied", Compiled(partial(copier, fields=fields)))] if frozen and slots else ()
    return found


def _comparing(fields: Fields, frozen: bool, eq: bool, order: bool) -> list[tuple[str, Any]]:
    if not eq:
        return []
    names = [name for name, one in fields.items() if one.compare]
    own, others = (f"({''.join(f'{side}.{name}, ' for name in names)})" for side in ("self", "other"))

    def compared(sign: str, early: Callable[[Any, Any], bool]) -> Compiled:
        found = f"{own} {sign} {others} if other.__class__ is self.__class__ else NotImplemented"
        return Compiled(lambda _: (["self", "other"], [f"return {found}"], {}), partial(compared_early, names, early))

    digest = Compiled(lambda _: (["self"], [f"return hash({own})"], {}), partial(hashed_early, names))
    return [
        ("__eq__", compared("==", operator.eq)),
        *([("__hash__", digest)] if frozen else ()),
        *([("__lt__", compared("<", operator.lt))] if order else ()),
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


def _restore(self: Any, state: Any) -> None:
    count = len(self._own_fields)
    if not isinstance(state, list) or len(state) != count:
        given = f"{len(state)} values" if isinstance(state, list) else f"a {type(state).__name__}"
        name = type(self).__name__
        raise PlanError(
            f"this pickle was made by another version of ttc_llvm: its {name} is {given}, and must be a list of {count}"
        )
    for name, value in zip(self._own_fields, state, strict=True):
        object.__setattr__(self, name, value)


class _Named(type):
    """Named tuples in the form of classes."""

    def __new__(cls, name: str, bases: tuple[type, ...], space: Made) -> Any:
        fields = space["__annotations__"]
        defaults = [space.pop(field) for field in fields if field in space]
        made = namedtuple(name, fields, defaults=defaults, module=space["__module__"])  # type: ignore[misc]
        made.__new__.__annotations__ = fields
        for key, value in space.items():
            setattr(made, key, value)
        return made


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
    from typing import NamedTuple as NamedTuple
else:
    dataclass, field, replace = _dataclass, _field, _replace
    NamedTuple = type.__new__(_Named, "NamedTuple", (), {})

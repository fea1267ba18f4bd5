"""Our dataclasses are those of the standard library: every statement is made of both."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import sys
import threading
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pytest
from processes import together

from ttc_llvm import lazy_dataclasses as lazy
from ttc_llvm import lazy_methods
from ttc_llvm.problem.problem import Problem

T = TypeVar("T")


def classes(by: ModuleType) -> dict[str, Any]:
    """The same classes, made by either module."""
    dataclass, field = by.dataclass, by.field

    @dataclass(frozen=True, slots=True)
    class Point:
        """A point."""

        x: int
        y: int = 2
        kind: ClassVar[str] = "point"
        names: tuple[str, ...] = ("a", "b")

        @property
        def total(self) -> int:
            return self.x + self.y

    @dataclass(frozen=True, slots=True)
    class Weighted(Point):
        weight: float = 1.0

    @dataclass(slots=True)
    class Box(Generic[T]):
        held: T
        seen: dict[str, int] = field(default_factory=dict)
        size: int = field(init=False)
        open: bool = field(init=False, default=False)
        notes: list[int] = field(init=False, default_factory=list)

        def __post_init__(self) -> None:
            self.size = len(self.seen)

    @dataclass(frozen=True)
    class Loose:
        a: int
        b: int = 5
        note: str = field(default="", compare=False)

    @dataclass(frozen=True, slots=True, eq=False)
    class Own:
        a: int

    @dataclass(frozen=True, slots=True, order=True)
    class Ordered:
        a: int
        b: str = "b"

    @dataclass(frozen=True, slots=True, repr=False)
    class Said:
        a: int

        def __repr__(self) -> str:
            return "said"

        def __eq__(self, other: object) -> bool:
            return True

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    return {one.__name__: one for one in (Point, Weighted, Box, Loose, Own, Ordered, Said, Empty)}


OURS, THEIRS = classes(lazy), classes(dataclasses)
for method in ("__init__", "__eq__", "__hash__", "__lt__"):
    for made in OURS.values():
        getattr(made, method)  # compiled from the beginning


def raised(call: Callable[[], Any]) -> tuple[str, bool]:
    with pytest.raises(Exception) as caught:
        call()
    return type(caught.value).__name__, isinstance(caught.value, AttributeError)


def both(statement: Callable[[dict[str, Any]], Any]) -> None:
    """By the methods that serve all classes, and by those that are compiled after a few calls."""
    assert statement(classes(lazy)) == statement(OURS) == statement(THEIRS)


@pytest.mark.parametrize(
    "statement",
    [
        lambda c: repr([c["Point"](1), c["Point"](x=1, y=3), c["Weighted"](1, 2, (), 3.5)]),
        lambda c: repr([c["Loose"](1), c["Empty"]()]),
        lambda c: repr([c["Box"](1), c["Box"](1, {"a": 2}), c["Own"](3), c["Ordered"](1), c["Said"](1)]),
        lambda c: [c["Point"](1) == c["Point"](1), c["Point"](1) == c["Point"](2), c["Point"](1) == (1, 2)],
        lambda c: [c["Point"](1) == c["Weighted"](1), c["Own"](1) == c["Own"](1), c["Said"](1) == c["Said"](2)],
        lambda c: [hash(c["Point"](1, 7)), hash(c["Weighted"](1)), hash(c["Loose"](1)), hash(c["Empty"]())],
        lambda c: hash(c["Said"](1)),
        lambda c: [c["Loose"](1, 2, "a") == c["Loose"](1, 2, "b"), c["Loose"](1, 2, "a") == c["Loose"](1, 3, "a")],
        lambda c: hash(c["Loose"](1, 2, "a")),
        lambda c: [c["Box"].__hash__, c["Box"](1) == c["Box"](1), c["Box"](1) != c["Box"](2)],
        lambda c: repr(sorted(c["Ordered"](a, b) for a, b in ((2, "a"), (1, "c"), (1, "a")))),
        lambda c: c["Point"](1).total + c["Weighted"](4).total,
        lambda c: [vars(c["Loose"](1)), hasattr(c["Point"](1), "__dict__"), c["Loose"].b],
        lambda c: [c["Point"].__slots__, c["Box"].__slots__, c["Point"].kind],
        # Python 3.10 repeats the slots of the class that it is derived from.
        lambda c: sys.version_info < (3, 11) or c["Weighted"].__slots__,
        lambda c: [c["Point"].__match_args__, c["Box"].__match_args__, c["Point"].__doc__, c["Point"].__qualname__],
        lambda c: [str(inspect.signature(c[name])).replace(" -> None", "") for name in ("Point", "Weighted", "Empty")],
        lambda c: list(inspect.signature(c["Box"]).parameters),
        lambda c: [raised(lambda: c["Point"]()), raised(lambda: c["Point"](1, 2, (), 4))],
        lambda c: raised(lambda: c["Own"](b=1)),
        lambda c: [raised(lambda: setattr(c["Point"](1), "names", 2)), raised(lambda: setattr(c["Own"](1), "a", 2))],
        lambda c: [raised(lambda: delattr(c["Point"](1), "x")), raised(lambda: setattr(c["Loose"](1), "a", 2))],
        lambda c: repr(dataclasses.replace(c["Weighted"](1), y=9, weight=2.0)),
        lambda c: [dataclasses.asdict(c["Weighted"](1)), dataclasses.astuple(c["Box"](1))],
        lambda c: [dataclasses.is_dataclass(one) for one in (c["Own"], c["Own"](1))],
        lambda c: [(f.name, f.type, f.init, f.default) for f in dataclasses.fields(c["Weighted"])],
        lambda c: [f.default_factory for f in dataclasses.fields(c["Box"](1)) if f.name in ("seen", "notes")],
        lambda c: repr([copy.copy(c["Point"](1)), copy.deepcopy(c["Weighted"](1)), copy.copy(c["Box"](1))]),
        lambda c: c["Point"].__reduce_ex__(c["Point"](1), 4)[2],
        lambda c: c["Point"].__init__.__qualname__,
    ],
)  # fmt: skip
def test_it_is_as_in_the_standard_library(statement: Callable[[dict[str, Any]], Any]) -> None:
    both(statement)


def test_methods_that_are_called_often_are_compiled() -> None:
    point = classes(lazy)["Point"]
    early = [point(1, 5) for _ in range(lazy_methods.EARLY)]
    assert not isinstance(vars(point)["__init__"], FunctionType)
    assert point(1, 5) == early[-1] and isinstance(vars(point)["__init__"], FunctionType)


def test_replace_checks_names_and_calls_post_init() -> None:
    box = lazy.replace(OURS["Box"](1, {"a": 1}), seen={"a": 1, "b": 2})
    assert (box.held, box.size) == (1, 2)
    assert lazy.replace(OURS["Point"](1), x=5) == OURS["Point"](5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        lazy.replace(OURS["Point"](1), z=5)


def test_defaults_are_not_shared() -> None:
    first, second = OURS["Box"](1), OURS["Box"](1)
    first.seen["a"] = 1
    first.notes.append(1)
    assert (second.seen, second.notes) == ({}, [])


def test_the_standard_decorator_extends_them() -> None:
    @dataclasses.dataclass(frozen=True)
    class More(Problem):
        note: str = "none"

    made = More((1, 0), (3, 4), note="some")
    assert (made.note, made.size) == ("some", (3, 4))
    assert "note" in {f.name for f in dataclasses.fields(made)}


class Ours(lazy.NamedTuple):
    """Two values."""

    a: int
    b: str = "b"

    @property
    def both(self) -> str:
        """Both."""
        return f"{self.a}{self.b}"


def test_named_tuples_are_those_of_typing() -> None:
    class Theirs(NamedTuple):
        """Two values."""

        a: int
        b: str = "b"

    one = Ours(1)
    assert {(*one,), (*Theirs(1),)} == {(1, "b")}
    assert (repr(one), one.both, one._replace(a=2)) == ("Ours(a=1, b='b')", "1b", (2, "b"))
    assert pickle.loads(pickle.dumps(one)) == copy.copy(one) == one
    assert str(inspect.signature(Ours)) == "(a: 'int', b: 'str' = 'b')"
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__module__"):
        assert getattr(Ours, name) == getattr(Theirs, name)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        Ours()  # type: ignore[call-arg]


def test_pickles() -> None:
    problem = Problem((1, 0), (3, 4))
    assert pickle.loads(pickle.dumps(problem)) == problem


def test_methods_are_made_once_whoever_comes_first() -> None:
    """Threads that make the first instances, compare and hash them at the same time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(30):
            point = classes(lazy)["Weighted"]
            barrier, wrong = threading.Barrier(6), list[str]()

            def work(point: Any = point, barrier: Any = barrier, wrong: list[str] = wrong) -> None:
                barrier.wait()
                one = point(1, 2, (), 3.0)
                if hash(one) != hash(point(1, 2, (), 3.0)) or one != point(1, 2, (), 3.0):
                    wrong.append(repr(one))

            together(lambda _: work(), range(6))
            assert not wrong
    finally:
        sys.setswitchinterval(before)

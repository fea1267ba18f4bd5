"""Wrong calls of Python's names: callables and parameters by inspection, values from the tables of `wrong_values`."""

from __future__ import annotations

import inspect
import io
import random
import traceback
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from typing import Any

import numpy as np
from wrong_outcome import LONGEST, Outcome, Stuck, watched, where
from wrong_values import BAD, GOOD, good, nouns

import ttc_llvm
from ttc_llvm.errors import TtcError
from ttc_llvm.runtime import runtime

MACHINES = ("Target", "GpuTarget")  # which are changed in few fields: of those made up, code is hardly ever made


@lru_cache(maxsize=1)
def callables() -> Mapping[str, tuple[str, ...]]:
    """Every public callable, `Class.method` too, and the names of its parameters; "property" stands for any of them."""
    found: dict[str, tuple[str, ...]] = {"Explanation.stage": ("name",), "property": ()}
    for name in ttc_llvm.__all__:
        value = getattr(ttc_llvm, name)
        if not callable(value) or (isinstance(value, type) and issubclass(value, Exception)):
            continue
        found[name] = tuple(inspect.signature(value).parameters)
        for method, code in inspect.getmembers(value if isinstance(value, type) else None, inspect.isfunction):
            if method == "__call__" or not method.startswith("_"):
                found[f"{name}.{method}"] = tuple(inspect.signature(code).parameters)[1:]
    return found


class Call:
    """A call of one callable with some of its parameters, some of them wrong."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.name = draw.choice(tuple(callables()))
        self.given: dict[str, Any] = {}
        self._spelled: list[str] = []
        parameters = callables()[self.name]
        wrong = set(draw.sample(parameters, min(draw.choice((0, 1, 1, 1, 2, 9)), len(parameters))))
        if self.name in MACHINES:
            self.given |= {field: getattr(nouns()[self.name], field) for field in parameters}
        for parameter in parameters:
            if parameter in wrong or (parameter in GOOD and draw.random() < 0.7):
                self._give(parameter, parameter in wrong)

    def _give(self, parameter: str, wrong: bool) -> None:
        draw = self._draw
        if wrong:
            table: Mapping[str, Any] = nouns() if draw.random() < 0.15 else BAD
            label = draw.choice(tuple(table))
            value = table[label]() if table is BAD else table[label]
        else:
            chosen = draw.choice(GOOD[parameter])
            label, value = str(chosen)[:40], good(chosen)
        if parameter in ("a", "b") and _is_address(value):
            return
        self._spelled.append(f"{parameter}={label}")
        self.given[parameter] = value

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self._spelled)})"

    def outcome(self) -> Outcome:
        """Make the call, and use what it returns."""
        try:
            with watched(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                self._make()
        except TtcError as error:
            return Outcome(type(error).__name__, _message_fault(str(error)))
        except (Exception, Stuck) as error:
            if isinstance(error, TypeError) and _is_of_signature(error):
                return Outcome("signature")
            return Outcome("fault", where(error))
        finally:
            runtime._chosen[:] = [1]
        return Outcome("accepted")

    def _make(self) -> None:
        owner, _, method = self.name.partition(".")
        if self.name == "property":
            self._look(nouns()[self._draw.choice(("Solution", "GpuSolution", "CpuPlan", "Library"))])
        elif owner == "Explanation":
            _explanation().stage(**self.given)
        elif method:
            getattr(nouns()[owner], method)(**self.given)
        else:
            operands = self.given.pop("operands", ())  # of `einsum`, which are given by position
            listed = operands if isinstance(operands, tuple) else (operands,)
            self._use(getattr(ttc_llvm, owner)(*listed, **self.given))

    def _use(self, made: Any) -> None:
        """What was accepted can be used: it has a text, plans and decisions serve a problem or are refused."""
        problem = nouns()["Problem"]
        if not isinstance(made, np.ndarray):
            str(made), repr(made)
        if isinstance(made, ttc_llvm.CpuPlan):
            made = ttc_llvm.Solution(problem, nouns()["Target"], made, 1)
        elif isinstance(made, ttc_llvm.GpuPlan):
            made = ttc_llvm.GpuSolution(problem, nouns()["GpuTarget"], made)
        elif isinstance(made, ttc_llvm.Forced):
            ttc_llvm.compile(problem, 2, 1, time_limit=0.01, forced=made)
        elif isinstance(made, ttc_llvm.GpuForced):
            ttc_llvm.compile(problem, 1, target="sm_80", forced=made)
        elif isinstance(made, (ttc_llvm.Target, ttc_llvm.GpuTarget)):
            made = ttc_llvm.compile(problem, 1, 1, made)
        if isinstance(made, (ttc_llvm.Solution, ttc_llvm.GpuSolution)):
            self._look(made)

    def _look(self, made: Any) -> None:
        every = inspect.getmembers(type(made), lambda member: isinstance(member, property))
        getattr(made, self._draw.choice([name for name, _ in every if not name.startswith("_")]))


@lru_cache(maxsize=1)
def _explanation() -> Any:
    return nouns()["Solution"].explain()


def _is_address(value: Any) -> bool:
    """True for integers: addresses of tensors, by contract, of which nothing can be checked."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 < int(value) < 1 << 64


def _is_of_signature(error: TypeError) -> bool:
    """True where the call itself failed: an argument is missing or unknown, as Python says."""
    frames = traceback.extract_tb(error.__traceback__)
    return all(frame.filename == __file__ or frame.name == "stated" for frame in frames)  # stated: `states_memory`'s


def _message_fault(message: str) -> str:
    if message and "\n" not in message and len(message) <= LONGEST:
        return ""
    return f"not one sentence: {message[:200]!r} ({len(message)} characters)"

"""Everything that ttc_llvm raises on purpose.

A message states the fact, the value and the rule it breaks, in one line, so that the command line can
print it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class TtcError(Exception):
    """Root of all errors raised by ttc_llvm."""


class ProblemError(TtcError, ValueError):
    """The transposition asked for is not a valid one (perm, size, lda, ldb, dtype, alpha, beta)."""


class ArrayError(TtcError, ValueError):
    """An array handed over does not fit the problem (shape, dtype, memory, overlap); a TypeError, too, where the place
    of a result is no array, or what is given as a dtype is none."""


class NoArrayError(ArrayError, TypeError):
    """The place of a result is no array, nor another buffer that can be written to."""


class NoDtypeError(ArrayError, TypeError):
    """NumPy makes no dtype of what is given as one."""


class OrderWarning(UserWarning):
    """A C-ordered array is read by its strides, whose memory would also do as storage: said once in a process."""


class PlanError(TtcError, ValueError):
    """A plan's text cannot be read, or the plan does not fit its problem or target."""


class TargetError(TtcError, ValueError):
    """A machine, CPU or architecture is unknown or cannot be used here."""


class OptionError(TtcError, ValueError):
    """An option of the command line or of an API call is malformed or out of range."""


class CompileError(TtcError, RuntimeError):
    """LLVM refused a module: a defect of ttc_llvm, reported with the problem and plan that caused it."""


class ArtifactError(TtcError, RuntimeError):
    """A library cannot be put together: no linker, objects of a kind that archives cannot index, names that clash."""


class VerificationError(TtcError, RuntimeError):
    """A compiled kernel computed a wrong element."""


class DatabaseError(TtcError, RuntimeError):
    """The solutions database cannot be used."""


class ModelError(TtcError, RuntimeError):
    """The cost model's data file is missing or damaged, or made for another version of the program."""


class OutOfMemoryError(TtcError, MemoryError):
    """The system gives this process no more memory: its limits, those of its group, or the machine's own."""


class GpuError(TtcError, RuntimeError):
    """A GPU cannot be used: no driver, no device, no pycuda, too little memory, or the driver refuses something."""


@contextmanager
def os_errors(fact: str, kind: type[TtcError] = OptionError) -> Iterator[None]:
    """Inside, an OSError becomes an error of ours: the fact, and the system's reason."""
    try:
        yield
    except OSError as error:
        raise kind(f"{fact}: {' '.join(str(error.strerror or error).split())}") from error


def pass_on(error: Exception, value: object) -> None:
    """Raise an error that the check of a value cannot have raised, where the value is of Python's own types: a signal's
    handler has raised it, which strikes anywhere."""
    items = value if type(value) in (tuple, list) else (value,)
    if _PLAIN.issuperset(map(type, items)) and not isinstance(error, _OF_VALUES):  # type: ignore[call-overload]
        raise error


_PLAIN = frozenset((int, bool, float, complex, str, type(None)))
_OF_VALUES = (TypeError, ValueError, ArithmeticError, LookupError)


def out_of_memory(error: MemoryError, where: str) -> OutOfMemoryError:
    """The error that a public function raises for one of Python's or NumPy's. where: the function."""
    if isinstance(error, OutOfMemoryError):
        return error
    return OutOfMemoryError(f"{where}: out of memory{f': {error}' if str(error) else ''}")


def states_memory(function: Callable[P, R]) -> Callable[P, R]:
    """A public function that raises OutOfMemoryError where it runs out of memory, wherever that is."""

    @wraps(function)
    def stated(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except MemoryError as error:
            raise out_of_memory(error, function.__qualname__) from error

    return stated

"""A solution of a contraction: the chosen plan, ready to be called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import arguments, locks, paths
from ..arrays import checks, overlaps
from ..errors import ArrayError, OptionError, out_of_memory, states_memory
from ..lazy_dataclasses import replace
from ..machine.target import Target
from ..operands.addresses import data_address
from ..problem import dtypes
from ..problem.contraction import OPERANDS, Contraction
from ..runtime import runtime
from ..tuning.measurement import Measurement
from . import kept
from .fused.plan import FusedPlan
from .fused.run import FusedRun
from .merged import merge
from .plan import ContractionPlan
from .plans import Plan, check, parse
from .public import einsum

if TYPE_CHECKING:
    from ..compiling.machines import Wanted
    from ..native.contraction_artifact import ContractionSpec
    from .blocks import Runs
    from .explaining import ContractionExplanation

PICKLED = "ttc_llvm contraction 1"  # what the state in a pickle begins with


class ContractionSolution:
    """A planned contraction: call it, inspect it. Safe to call from several threads; pickles.

    contraction, plan, threads: what was solved, and for how many threads of copies; measurement: None where nothing was
    timed. Its bandwidths are the bytes of A, B and C by the time of a run, and of a plain product of the same size.
    """

    def __init__(
        self, contraction: Contraction, plan: Plan, threads: int, measurement: Measurement | None = None
    ) -> None:
        self.contraction, self.plan, self.threads, self.measurement = contraction, plan, threads, measurement
        arguments.put(self, _RULES, OptionError)
        check(plan, merge(contraction))
        self._runs: dict[int, Runs | FusedRun] = {}
        self._dtype = dtypes.to_numpy(contraction.element)
        size = self._dtype.itemsize
        self._shapes = [contraction.shape(name) for name in OPERANDS]
        self._strides = [tuple(step * size for step in contraction.strides(name)) for name in OPERANDS]

    def __repr__(self) -> str:
        return f"ContractionSolution({self.contraction!r}, plan='{self.plan}')"

    def __reduce__(self) -> tuple[Callable[..., ContractionSolution], tuple[Any, ...]]:
        state = (self.contraction, str(self.plan), self.threads, self.measurement)
        return _unpickled, ((PICKLED, *state),)

    def __call__(
        self,
        a: Any,
        b: Any,
        c: Any = None,
        alpha: complex | None = None,
        beta: complex | None = None,
        threads: int | None = None,
    ) -> Any:
        """`C <- alpha * sum A * B + beta * C`; returns c.

        a, b, c: arrays of the contraction's shapes and type, of NumPy or any library that `ttc_llvm.einsum` takes.
        Where they have other strides than the contraction, `einsum` serves the call. Without c the result is new.
        alpha, beta: by default the contraction's; threads: by default the solution's. Raises ArrayError for what does
        not fit, ProblemError for scalars, OptionError for threads.
        """
        scalars = self._scalar("alpha", alpha), self._scalar("beta", beta)
        most = self.threads if threads is None else runtime.thread_count(threads)
        if c is None:
            checks.check_beta(scalars[1], "c")
        try:
            return self._called(a, b, c, scalars, most)
        except MemoryError as error:
            raise out_of_memory(error, "ContractionSolution") from error

    def _called(self, a: Any, b: Any, c: Any, scalars: tuple[complex, complex], threads: int) -> Any:
        stated = self.contraction
        to = np.empty(self._shapes[2], self._dtype) if c is None and stated.strides_c is None else c
        if all(map(self._lies_so, (a, b, to), range(3))) and to.flags.writeable:
            for x, name in ((a, "a"), (b, "b")):
                if overlaps.share(x, to):
                    raise ArrayError(f"c shares memory with {name}: contractions are out of place")
            self._execution(threads).run(a, b, to, *scalars)
            return to
        if c is not None:
            _reading().result_place(c, "c")
        a, b = (x if hasattr(x, "conj") else _reading().operand(x, name).view for x, name in ((a, "a"), (b, "b")))
        for x, name, shape in zip((a, b, c), OPERANDS, self._shapes, strict=True):
            if x is not None:
                self._check(x, name, shape)
        left, right = (x.conj() if flag else x for x, flag in ((a, stated.conjugate_a), (b, stated.conjugate_b)))
        return einsum(stated.spec, left, right, out=to, alpha=scalars[0], beta=scalars[1], threads=threads)

    def _lies_so(self, x: Any, operand: int) -> bool:
        """True for an array that lies as the contraction says."""
        is_like = type(x) is np.ndarray and x.shape == self._shapes[operand] and x.dtype == self._dtype
        return is_like and x.strides == self._strides[operand] and data_address(x) % self._dtype.alignment == 0

    def _check(self, x: Any, name: str, shape: tuple[int, ...]) -> None:
        """ArrayError where an operand is of another shape or type."""
        if tuple(np.shape(x)) != shape:
            raise ArrayError(f"{name} has shape {tuple(np.shape(x))}: the contraction has {shape}")
        if isinstance(x, np.ndarray) and x.dtype != self._dtype:
            raise ArrayError(f"{name} has dtype {x.dtype}: the contraction has {self._dtype}")

    def _scalar(self, name: str, value: complex | None) -> complex:
        stated: complex = getattr(self.contraction, name)
        if value is None:
            return stated
        read: complex = locks.imported("..problem.scalars", __package__).scalar(
            name, value, self.contraction.element, str(self._dtype)
        )
        return read

    def _execution(self, threads: int) -> Runs | FusedRun:
        found = self._runs.get(threads)
        return self._runs.setdefault(threads, self._prepared(threads)) if found is None else found

    def _prepared(self, threads: int) -> Runs | FusedRun:
        """What runs the plan: as an earlier process has left it, or by the modules that plan."""
        key = repr(self.contraction), str(self.plan)
        known = kept.find(key, threads) if isinstance(self.plan, FusedPlan) else None
        if known is not None:
            return FusedRun(known[0], threads)
        made: Runs = locks.imported(".solving", __package__).execution(self.contraction, self.plan, threads)
        if isinstance(made, FusedRun):
            kept.keep(key, threads, made.prepared, lambda: ())
        return made

    @property
    def scratch(self) -> int:
        """Bytes that a call needs for copies."""
        return self._execution(self.threads).scratch

    @states_memory
    def write(
        self,
        directory: str | Path,
        emit: Sequence[str] = ("obj", "header"),
        *,
        target: Wanted = None,
        overwrite: bool = False,
        prefix: str = "",
        visibility: str = "default",
    ) -> tuple[Path, ...]:
        """Write the contraction as files for C, C++ and Fortran, under its C name; returns their paths.

        emit, overwrite, prefix, visibility: as for `Solution.write`. target: as for `ttc_llvm.compile`; None = this
        machine, and a version for all others of its kind.
        Objects call no BLAS and copy no tensor: if the plan does, theirs is the first other one by what is
        predicted. Raises OptionError for other words and directories that cannot be written, TargetError.
        """
        with locks.IMPORTS:
            from ..compiling import machines
            from ..native import artifact
            from ..problem import interface

        folder = paths.checked("directory", directory)
        symbols = interface.symbols(prefix, visibility)
        made = replace(self.spec_for(machines.chosen(target)), symbols=symbols)
        return artifact.write(made, folder, emit, arguments.flag("overwrite", overwrite))

    @property
    def problem(self) -> Contraction:
        """The contraction, by the name that solutions of transpositions have for theirs."""
        return self.contraction

    @property
    def targets(self) -> tuple[Target, ...]:
        """None: objects are for the machines that are asked for."""
        return ()

    def spec_for(self, targets: Sequence[Target]) -> ContractionSpec:
        """The description of its artifacts for these machines."""
        given = arguments.each(arguments.instance(Target), "targets")("targets", targets, OptionError)
        if not given:
            raise OptionError(f"targets {arguments.shown(targets)} are none: there has to be one")
        with locks.IMPORTS:
            from . import emission

        return emission.spec(self.contraction, self.plan, given, self.measurement)

    @states_memory
    def explain(self, count: int = 10) -> ContractionExplanation:
        """The indices by class, the plan, its work and speed, and the first plans by what is predicted; str() is text.

        count: plans to list. Nothing is timed.
        """
        most = arguments.between(0)("count", count, OptionError)
        explaining = locks.imported(".explaining", __package__)
        explained: ContractionExplanation = explaining.explained(
            self.contraction, self.plan, self.threads, self.measurement, most
        )
        return explained


def _reading() -> Any:
    return locks.imported("..operands.reading", __package__)


def _plan(name: str, value: Any, error: arguments.Error) -> Plan:
    """The rule of plans."""
    return value if isinstance(value, FusedPlan) else arguments.instance(ContractionPlan)(name, value, error)


_RULES = {
    "contraction": arguments.instance(Contraction),
    "plan": _plan,
    "threads": arguments.between(1),
    "measurement": arguments.optional(arguments.instance(Measurement)),
}


def _unpickled(*given: Any) -> ContractionSolution:
    pickles = locks.imported("..compiling.pickles", __package__)
    stated, text, threads, measurement = pickles.unmarked(given, 4, PICKLED)
    return ContractionSolution(stated, check(parse(text), merge(stated)).plan, threads, measurement)

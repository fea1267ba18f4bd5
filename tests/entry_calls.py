"""Calls of C entries: pass NULL or arrays, values or pointers; compare all of B with the oracle."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from case import Case
from guarded_case import GuardedCase, Place

from ttc_llvm.problem.canonical import Axis
from ttc_llvm.problem.dtypes import Kind
from ttc_llvm.problem.interface import Entry, Sizes
from ttc_llvm.problem.layouts import column_major
from ttc_llvm.problem.problem import Problem

Addresses = Callable[[str], int]

ALPHAS = (1.0, 0.0, 2.5, -0.0)
BETAS = (0.0, -1.5)


@dataclass(frozen=True, slots=True)
class Call:
    """One use of an object. lda, ldb: as passed, None = NULL; parts: how many `_part` calls do the work,
    0 = the entry without `_part`; flush_a, flush_b: which guard page each tensor touches; size: run-time extents
    for the entries of any size, None = the other entries; wide: the same through entries of 64 bits, by strides;
    steps: strides of A and of B in their own orders, for these entries; residue: bytes from a line to B, which then
    lies near its page."""

    alpha: complex = 1.0
    beta: complex = 0.0
    lda: tuple[int, ...] | None = None
    ldb: tuple[int, ...] | None = None
    parts: int = 0
    through_beta: bool = False
    flush_a: str = "end"
    flush_b: str = "end"
    seed: int = 0
    size: tuple[int, ...] | None = None
    residue: int | None = None
    wide: bool = False
    steps: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    def entry(self, generated: Problem) -> Entry:
        """The entry that is called."""
        sizes = Sizes.WIDE if self.wide else Sizes.OWN if self.size is None else Sizes.ANY
        return Entry(generated, self.through_beta, self.parts > 0, sizes)

    def case(self, generated: Problem) -> Case:
        """What the call moves, of an object generated for this problem."""
        size = generated.size if self.size is None else self.size
        known = generated if self.size is None else replace(generated, size=size, lda=None, ldb=None)
        lda, ldb = self.lda or known.lda, self.ldb or known.ldb
        ldb = lda if known.inplace else ldb
        case = Case.of(replace(known, alpha=self.alpha, beta=self.beta, lda=lda, ldb=ldb), self.seed)
        if self.steps is None:
            return case
        steps_a, steps_b = (self.steps[0],) * 2 if known.inplace else self.steps
        return replace(case, axes=tuple(Axis(size[q], steps_a[q], steps_b[k]) for k, q in enumerate(known.perm)))


def every_kind(problem: Problem) -> list[tuple[complex, complex, bool]]:
    """(alpha, beta, through the entry that takes beta) of every body and every way to it."""
    if problem.compute.kind is Kind.OPAQUE:
        return [(1.0, 0.0, False)]
    turn = 1 - 0.5j if problem.compute.kind is Kind.COMPLEX else 1.0
    pairs = [(alpha if alpha in (0, 1) else alpha * turn, beta * turn) for alpha in ALPHAS for beta in BETAS]
    pairs += [(1.0, 1.0), (2.5 * turn, 1.0)]  # complex ones do not multiply
    return [(a, b, True) for a, b in pairs] + [(a, b, False) for a, b in pairs if b == 0]


def other_outer(extents: tuple[int, ...], by: int) -> tuple[int, ...]:
    """Outer sizes that pad the first two indices."""
    return tuple(e + by + k if k < 2 else e for k, e in enumerate(extents))


def check(addresses: Addresses, generated: Problem, call: Call) -> None:
    """Run a call of the object generated for a problem; AssertionError names what was wrong with it."""
    made = GuardedCase.of(call.case(generated), Place(call.flush_a), Place(call.flush_b, call.residue))
    a, b = made.origins
    invoke(addresses, generated, call, None if call.alpha == 0 else a, b)
    made.check(f"\n{generated}\n{call}")


def invoke(addresses: Addresses, problem: Problem, call: Call, a: int | None, b: int) -> None:
    """Call the entry that the call asks for; parts run backwards, with invalid ones in between."""
    name = call.entry(problem).name
    tensors = (b,) if problem.inplace else (a, b)
    shape = _shape(call)[: -1 if problem.inplace else None]  # lda or strides of B are those of A
    shape = [] if problem.terms else shape  # sums have one
    arguments: list[Any] = [*map(ctypes.c_void_p, tensors), *_scalars(problem, call), *shape]
    if not call.parts:
        _function(addresses(name), arguments)(*arguments)
        return
    for part in range(call.parts, -2, -1):
        full = [*arguments, ctypes.c_int(part), ctypes.c_int(call.parts)]
        _function(addresses(name), full)(*full)


def _function(address: int, arguments: list[Any]) -> Any:
    types = [ctypes.c_void_p if isinstance(x, ctypes.Array) else type(x) for x in arguments]
    return ctypes.CFUNCTYPE(None, *types)(address)


def _scalars(problem: Problem, call: Call) -> list[Any]:
    compute = problem.compute
    given = [call.alpha, call.beta] if call.through_beta else [call.alpha]
    if compute.kind is Kind.OPAQUE:
        return []
    real = ctypes.c_float if compute.real_bits == 32 else ctypes.c_double
    if compute.kind is Kind.REAL:
        return [real(complex(x).real) for x in given]
    return [(real * 2)(complex(x).real, complex(x).imag) for x in given]


def _shape(call: Call) -> list[Any]:
    if call.wide:
        strides = call.steps or [outer and column_major(outer) for outer in (call.lda, call.ldb)]
        return [_array(values, np.int64) for values in (call.size, *strides)]
    return [_array(values, np.intc) for values in (call.size, call.lda, call.ldb)[call.size is None :]]


def _array(values: tuple[int, ...] | None, kind: type[np.integer[Any]]) -> Any:
    if values is None:
        return ctypes.c_void_p(None)
    return np.ctypeslib.as_ctypes(np.array(values or (0,), kind))

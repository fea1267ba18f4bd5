"""Calls of C entries: pass NULL or arrays, values or pointers; compare all of B with the oracle."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from case import Case
from guarded_case import GuardedCase, Place

from ttc_llvm.problem.dtypes import Kind
from ttc_llvm.problem.interface import Entry
from ttc_llvm.problem.problem import Problem

Addresses = Callable[[str], int]

ALPHAS = (1.0, 0.0, 2.5, -0.0)
BETAS = (0.0, -1.5)


@dataclass(frozen=True, slots=True)
class Call:
    """One use of an object. lda, ldb: as passed, None = NULL; parts: how many `_part` calls do the work,
    0 = the entry without `_part`; flush_a, flush_b: which guard page each tensor touches; size: run-time extents
    for the entries of any size, None = the other entries; residue: bytes from a line to B,
    which then lies near its page."""

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
    known = generated if call.size is None else replace(generated, size=call.size, lda=None, ldb=None)
    actual = replace(
        known, alpha=call.alpha, beta=call.beta, lda=call.lda or known.lda, ldb=call.ldb or known.ldb
    )
    made = GuardedCase.of(Case.of(actual, call.seed), Place(call.flush_a), Place(call.flush_b, call.residue))
    a, b = made.origins
    invoke(addresses, generated, call, None if call.alpha == 0 else a, b)
    made.check(f"\n{generated}\n{call}")


def invoke(addresses: Addresses, problem: Problem, call: Call, a: int | None, b: int) -> None:
    """Call the entry that the call asks for; parts run backwards, with invalid ones in between."""
    name = Entry(problem, call.through_beta, call.parts > 0, call.size is not None).name
    scalars = _scalars(problem, call)
    outer = [_int_array(sizes) for sizes in (call.size, call.lda, call.ldb)[call.size is None :]]
    arguments: list[Any] = [ctypes.c_void_p(a), ctypes.c_void_p(b), *scalars, *outer]
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


def _int_array(values: tuple[int, ...] | None) -> Any:
    if values is None:
        return ctypes.c_void_p(None)
    return np.ctypeslib.as_ctypes(np.array(values or (0,), np.intc))

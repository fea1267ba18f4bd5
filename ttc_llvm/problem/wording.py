"""Problems, canonical forms and targets in words: lines for people, fields of JSON for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..arguments import count as count
from ..machine.target import Target
from . import dtypes, type_names
from .canonical import Canonical, static
from .contraction import Contraction
from .kinds import Alpha, Beta
from .problem import Problem

STRIDES = ("strides_a", "strides_b", "strides_c")
IN_PLACE = "2 x bytes of A"  # read and written, also with beta
ASKED = "asked"  # of a stored solution: the problem in the words of who asked


def bandwidth_rule(canonical: Canonical | Contraction) -> str:
    """The numerator of the problem's bandwidth, in words."""
    if isinstance(canonical, Contraction):
        return "bytes of A + bytes of B + " + ("bytes of C" if canonical.beta == 0 else "2 x bytes of C")
    if canonical.in_place:
        return IN_PLACE
    read_a = [] if canonical.kinds.alpha is Alpha.ZERO else ["bytes of A"]
    return " + ".join([*read_a, "2 x bytes of B" if canonical.kinds.beta is Beta.ANY else "bytes of B"])


def sum_formula(problem: Problem) -> str:
    """The computation of a problem of several terms, by the indices of B."""
    rank, terms = len(problem.perm), []
    for factor, perm in problem.terms:
        a = f"A[{','.join(f'i{perm.index(k)}' for k in range(rank))}]"
        terms.append(f"{number(factor)} * {f'conj({a})' if problem.conjugate else a}")
    b = f"B[{','.join(f'i{k}' for k in range(rank))}]"
    return f"{b} <- alpha * ({' + '.join(terms)}) + beta * {b}"


def _summed(problem: Problem, name: str) -> str:
    terms = [f"{number(factor)} * {name} by {_join(perm, ',')}" for factor, perm in problem.terms]
    return f"({' + '.join(terms)})"


def problem_line(problem: Problem) -> str:
    """The computation in one line, with permutation, sizes and type."""
    name = "conj(A)" if problem.conjugate else "A"
    written = "A" if problem.inplace else "B"
    update = "" if problem.beta == 0 else f" + {number(problem.beta)} * {written}"
    parts = [*_shape_parts(problem), f"type {_types(problem)}", *_outer_parts(problem)]
    parts += ["in place"] if problem.inplace else []
    parts += [f"in C order {in_c_order(problem)}"] if problem.is_row_major else []
    read = _summed(problem, name) if problem.terms else name
    return f"{written} <- {number(problem.alpha)} * {read}{update}: " + ", ".join(parts)


def _types(problem: Problem) -> str:
    return f"{problem.spelled}{' saturating' if problem.saturate else ''}"


def in_c_order(problem: Problem) -> str:
    """The numbers that a problem was stated with in C order; none for any other."""
    if not problem.is_row_major:
        return ""
    given = problem.row_major
    return ", ".join([*_shape_parts(given), *_outer_parts(given)])


def _shape_parts(problem: Problem) -> list[str]:
    perm = [] if problem.terms else [f"perm {_join(problem.perm, ',')}"]
    return [*perm, f"size {_join(problem.size, 'x')}"]


def _outer_parts(problem: Problem) -> list[str]:
    given = ("lda", problem.lda), ("ldb", None if problem.inplace else problem.ldb)
    return [f"{key} {_join(outer, 'x')}" for key, outer in given if outer]


def merged_line(canonical: Canonical) -> str:
    """The axes that are left after merging."""
    axes = " ".join(map(str, canonical.axes))
    return f"{count(len(canonical.axes), 'axis', 'axes')} (extent:stride in A:stride in B) {axes}"


def target_line(target: Target, others: tuple[Target, ...] = ()) -> str:
    """A target in one line. others: further machines that the object serves."""
    also = f"; objects also serve {', '.join(map(str, others))}" if others else ""
    return f"{target} ({target.cpu}, {target.vector_bits}-bit vectors){also}"


def _join(values: Sequence[int], by: str) -> str:
    return by.join(map(str, values)) or "()"


def number(value: complex) -> str:
    """A scalar as the command line takes it."""
    if isinstance(value, complex) and value.imag != 0:
        return str(value)
    return f"{value.real:.12g}"


def problem_fields(problem: Problem) -> dict[str, Any]:
    """A problem under the command line's own names."""
    fields = {
        "perm": problem.perm,
        "size": problem.size,
        "dataType": problem.dtype,
        "lda": problem.lda,
        "ldb": problem.ldb,
        "alpha": _scalar_field(problem.alpha),
        "beta": _scalar_field(problem.beta),
        "conjugate": problem.conjugate,
    }
    if problem.terms:
        del fields["perm"]
        fields["terms"] = [[_scalar_field(factor), list(perm)] for factor, perm in problem.terms]
    return fields | {name: True for name in ("saturate", "inplace") if getattr(problem, name)}


def stated_fields(problem: Problem) -> dict[str, Any]:
    """`problem` and, where it was stated in C order, `stated`: the same as it was given."""
    fields = {"problem": problem_fields(problem)}
    if problem.is_row_major:
        fields["stated"] = {"order": "C"} | problem_fields(problem.row_major)
    return fields


def asked_fields(problem: Problem) -> dict[str, Any]:
    """A problem as it was stated, without the scalars, which do not tell stored solutions apart."""
    order, given = ("C", problem.row_major) if problem.is_row_major else ("F", problem)
    fields = problem_fields(given) | {"dataType": problem.spelled, "order": order}
    return {name: value for name, value in fields.items() if name not in ("alpha", "beta")}


def contraction_fields(stated: Contraction) -> dict[str, Any]:
    """A contraction as it was stated, without the scalars."""
    spelled = type_names.read(stated.dtype).spelled
    fields: dict[str, Any] = {"spec": stated.spec, "size": dict(stated.size), "dataType": spelled}
    fields |= {name: list(given) for name in STRIDES if (given := getattr(stated, name)) is not None}
    return fields | {name: True for name in ("conjugate_a", "conjugate_b") if getattr(stated, name)}


def merged_fields(canonical: Canonical) -> dict[str, Any]:
    """The fields of a problem that has this canonical form, whose indices are its axes."""
    order = sorted(range(len(canonical.axes)), key=lambda k: (abs(static(canonical.axes[k].stride_a)), k))
    types = dtypes.pair_name(canonical.a, canonical.b).removesuffix("sat")
    size = [canonical.axes[k].extent for k in order]
    perm = [order.index(k) for k in range(len(order))]
    fields = {"perm": perm, "size": size, "dataType": types, "conjugate": canonical.conjugate}
    flags = {"saturate": canonical.b.saturates, "inplace": canonical.in_place}
    return fields | {name: True for name, is_set in flags.items() if is_set}


def target_fields(target: Target) -> dict[str, Any]:
    """The facts of a target that name it."""
    names = ("name", "triple", "cpu", "features", "vector_bits", "registers", "masked")
    return {name: getattr(target, name) for name in names}


def _scalar_field(value: complex) -> Any:
    """A number, [real, imaginary], or text for what JSON has no number for."""
    if isinstance(value, complex) and value.imag != 0:
        return [_scalar_field(value.real), _scalar_field(value.imag)]
    return value.real if math.isfinite(value.real) else str(value.real)

"""The words of headers and modules on transpositions."""

from __future__ import annotations

from pathlib import Path

from ..problem import dtypes, interface, wording
from ..problem.dtypes import DType, Kind
from ..problem.interface import PLAIN, Entry, Symbols
from ..problem.layouts import column_major
from ..problem.problem import Problem
from . import declarations
from .header import Block

ABOUT = Path(__file__).with_name("transpositions.txt.in")
ABOUT_FORTRAN = Path(__file__).with_name("transpositions.f90.in")
MEANINGS = {
    "c": "float complex", "z": "double complex", "f16": "16-bit floats", "bf16": "bfloat16",
    "e4m3fn": "8-bit floats (e4m3fn)", "e5m2": "8-bit floats (e5m2)",
}  # fmt: skip


def described(
    problem: Problem, target: str, plan: str, gibs: float | None = None, stack: int = 0, note: str = "",
    symbols: Symbols = PLAIN,
) -> Block:  # fmt: skip
    """The block of a problem. target, plan: as text; gibs: measured bandwidth in GiB/s; stack: bytes of scratch that a
    call needs; note: free text; symbols: how its entries are named."""
    stem, counted = symbols.stem(problem), _bytes_counted(problem)
    facts = {
        "C order": wording.in_c_order(problem),
        "target": target,
        "plan": plan,
        "measured": "" if gibs is None else f"{gibs:.1f} GiB/s ({counted}, per second)",
        "stack": f"{stack} bytes of scratch per call" if stack else "",
        "note": note,
    }
    sides = {"A": problem.outer_a} | ({} if problem.inplace else {"B": problem.outer_b})
    macros: dict[str, object] = {"RANK": len(problem.perm), "PERM": problem.perm, "SIZE": problem.size}
    if problem.terms:
        macros = {name: value for name, value in macros.items() if name != "PERM"} | {"TERMS": len(problem.terms)}
    macros |= {f"STRIDES_{side}": column_major(outer) for side, outer in sides.items()}
    macros |= {f"ELEMENTS_{side}": problem.storage(side.lower()) for side in sides}
    macros |= {"PARTS": Entry(problem).work.most_threads, "STACK": stack}
    lines = "\n    ".join(_sizes(problem))
    paragraphs = [stem, f"    {_formula(problem)}", f"    {lines}", *_scalars(problem)]
    entries, threaded = interface.entries(problem, symbols), interface.threaded(problem, symbols)
    return Block(stem, ABOUT.read_text(), ABOUT_FORTRAN.read_text(), paragraphs, facts, macros, entries, threaded)


def _formula(problem: Problem) -> str:
    if problem.terms:
        return wording.sum_formula(problem)
    a = f"A[{','.join(f'i{k}' for k in range(len(problem.perm)))}]"
    b = f"{'A' if problem.inplace else 'B'}[{','.join(f'i{k}' for k in problem.perm)}]"
    if problem.compute.kind is Kind.OPAQUE:
        return f"{b} <- {a}"
    return f"{b} <- alpha * {f'conj({a})' if problem.conjugate else a} + beta * {b}"


def _sizes(problem: Problem) -> list[str]:
    columns = {"perm": problem.perm, "size": problem.size, "lda": problem.outer_a}
    if problem.terms:
        del columns["perm"]
    sides = {"A": problem.a}
    if not problem.inplace:
        columns, sides = columns | {"ldb": problem.outer_b}, sides | {"B": problem.b}
    lines = [f"{name:<5}{','.join(map(str, values))}" for name, values in columns.items()]
    kinds = [f"{name:<5}{_meaning(t, declarations.element_type(problem.dtype, t))}" for name, t in sides.items()]
    return [*lines, *kinds, *(["in place: A becomes its own permutation"] if problem.inplace else [])]


def _meaning(t: DType, known: str) -> str:
    if t.swapped:
        return f"{_meaning(dtypes.unswapped(t), known)}, bytes in reverse order"
    return MEANINGS.get(t.stored) or (known if known != "void" else f"items of {t.itemsize} bytes")


def _scalars(problem: Problem) -> list[str]:
    compute = problem.compute
    if compute.kind is Kind.OPAQUE:
        return ["Every item is copied bit for bit."]
    kind = f"{_meaning(compute, declarations.c_type(compute))}{', by pointer' if compute.kind is Kind.COMPLEX else ''}"
    exact = problem.a == problem.b and not problem.conjugate and not problem.terms
    beyond = "A number beyond the range of B's type becomes its nearest one." if problem.b.saturates else ""
    copy = " alpha = 1 and beta = 0 copies bit for bit." if exact else ""
    ones = " Those that equal 1 do not multiply." if compute.kind is Kind.COMPLEX else ""
    unread = "alpha = 0: A is not read. beta = 0: B is not read."
    unread = "What is scaled by 0 is not read." if problem.inplace else unread
    return [
        f"alpha and beta: {kind}; entries without beta take it as 0. {unread}{copy}{ones}",
        *([beyond] if beyond else []),
    ]


def _bytes_counted(problem: Problem) -> str:
    if problem.inplace:
        return wording.IN_PLACE
    return "bytes of A + bytes of B" if problem.beta == 0 else "bytes of A + 2 x bytes of B"

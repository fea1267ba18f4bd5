"""C declarations of entries, and inline functions that spread them over OpenMP's threads.

C99 and C++98. Complex scalars and arrays are `void` pointers, as in CBLAS; f16 and bf16 are their bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import interface
from .dtypes import DType, Kind
from .interface import Entry, Parameter, Role
from .problem import Problem

_C_TYPES = {
    "s": "float", "d": "double", "c": "void", "z": "void", "f16": "uint16_t", "bf16": "uint16_t",
    "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
}  # fmt: skip


def c_type(t: DType) -> str:
    """The C type of elements, or of a real scalar."""
    return _C_TYPES.get(t.name, "void")


def includes(problems: Sequence[Problem]) -> str:
    """What the declarations of these problems need, "" for nothing."""
    fixed_width = any(c_type(t).endswith("_t") for p in problems for t in (p.a, p.b))
    threaded = any(entry.most_threads > 1 for p in problems for entry in interface.threaded(p))
    standard = "#include <stdint.h>\n" if fixed_width else ""
    return standard + ("#ifdef _OPENMP\n#include <omp.h>\n#endif\n" if threaded else "")


def prototype(entry: Entry) -> str:
    """The entry's declaration."""
    return f"{signature(entry)};\n"


def signature(entry: Entry) -> str:
    """The entry's result, name and parameters."""
    taken = ", ".join(_kind(entry.problem, p) + p.name for p in entry.parameters)
    return f"void {entry.name}({taken})"


def _kind(problem: Problem, parameter: Parameter) -> str:
    """The type of a parameter, with its star or a blank behind."""
    by_pointer = problem.compute.kind is Kind.COMPLEX
    return {
        Role.A: f"const {c_type(problem.a)} *",
        Role.B: f"{c_type(problem.b)} *",
        Role.SCALAR: "const void *" if by_pointer else f"{c_type(problem.compute)} ",
        Role.SIZES: "const int *",
        Role.NUMBER: "int ",
    }[parameter.role]


def inline_threads(entry: Entry) -> str:
    """The inline function that runs the parts on as many threads as pay."""
    given = ", ".join(p.name for p in entry.parameters)
    whole, part = (Entry(entry.problem, entry.beta, parted, entry.any_size) for parted in (False, True))
    serial = [f"    {whole.name}({given});"]
    threaded = [
        "#ifdef _OPENMP",
        "    int part, parts = omp_get_max_threads();",
        f"    if (parts > {entry.most_threads}) parts = {entry.most_threads};",
        "#pragma omp parallel for num_threads(parts) schedule(static, 1)",
        "    for (part = 0; part < parts; ++part)",
        f"        {part.name}({given}, part, parts);",
        "#else",
        *serial,
        "#endif",
    ]
    body = threaded if entry.most_threads > 1 else serial
    return "\n".join([f"static inline {signature(entry)}", "{", *body, "}\n"])

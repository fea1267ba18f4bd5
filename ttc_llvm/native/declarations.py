"""C declarations of entries, and inline functions that spread them over OpenMP's threads.

C99 and C++98. Complex scalars and arrays are `void` pointers, as in CBLAS; f16 and bf16 are their bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lazy_dataclasses import replace
from ..problem import interface, type_names
from ..problem.dtypes import DType, Kind
from ..problem.interface import BYTES_PER_THREAD, MAX_INT, Entry, Parameter, Role
from ..problem.problem import Problem

_C_TYPES = {
    "s": "float", "d": "double", "c": "void", "z": "void", "f16": "uint16_t", "bf16": "uint16_t",
    "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
}  # fmt: skip


STRONG = "TTC_OMP_OBJECT"  # defined where a program links the second object


def c_type(t: DType) -> str:
    """The C type of elements, or of a real scalar."""
    return _C_TYPES.get(t.name, "void")


def element_type(problem: Problem, t: DType) -> str:
    """The C type of A's or B's elements: unsigned where the problem's data type was written so."""
    plain = c_type(t)
    return f"u{plain}" if type_names.read(problem.dtype).unsigned else plain


def includes(problems: Sequence[Problem]) -> str:
    """The #include lines that the declarations of these problems need, "" for none."""
    fixed_width = any(c_type(t).endswith("_t") for p in problems for t in (p.a, p.b))
    threaded = any(entry.may_thread for p in problems for entry in interface.threaded(p))
    standard = "#include <stdint.h>\n" if fixed_width else ""
    return standard + ("#ifdef _OPENMP\n#include <omp.h>\n#endif\n" if threaded else "")


def prototype(entry: Entry) -> str:
    """The entry's declaration."""
    return f"{signature(entry)};\n"


def signature(entry: Entry) -> str:
    """The entry's result, name and parameters."""
    taken = ", ".join(_kind(entry.problem, p) + p.name for p in entry.parameters)
    return f"void {entry.name}({taken})"


def arguments(entry: Entry) -> str:
    """The entry's parameters as they are passed on."""
    return ", ".join(p.name for p in entry.parameters)


def _kind(problem: Problem, parameter: Parameter) -> str:
    """The type of a parameter, with its star or a blank behind."""
    by_pointer = problem.compute.kind is Kind.COMPLEX
    return {
        Role.A: f"const {element_type(problem, problem.a)} *",
        Role.B: f"{element_type(problem, problem.b)} *",
        Role.SCALAR: "const void *" if by_pointer else f"{c_type(problem.compute)} ",
        Role.SIZES: "const int *",
        Role.NUMBER: "int ",
    }[parameter.role]


# --- threads --------------------------------------------------------------------------------------------


def with_threads(entry: Entry) -> str:
    """A threaded entry: inline, running the parts on as many threads as pay, or as the second object has it."""
    return f"#ifdef {STRONG}\n{prototype(entry)}#else\n{_inline(entry)}#endif\n"


def _inline(entry: Entry) -> str:
    whole, part = (Entry(entry.problem, entry.beta, parted, entry.any_size) for parted in (False, True))
    given = arguments(entry)
    serial = [f"    {whole.name}({given});"]
    threaded = [
        "#ifdef _OPENMP",
        "    int part, parts = omp_get_max_threads();",
        *_bounded(entry),
        "#pragma omp parallel for num_threads(parts) schedule(static, 1)",
        "    for (part = 0; part < parts; ++part)",
        f"        {part.name}({given}, part, parts);",
        "#else",
        *serial,
        "#endif",
    ]
    body = threaded if entry.may_thread else serial
    return "\n".join([f"static inline {signature(entry)}", "{", *body, "}\n"])


def _bounded(entry: Entry) -> list[str]:
    """No more threads than pay: a number that is known, or follows from the extents."""
    if not entry.any_size:
        return [f"    if (parts > {entry.most_threads}) parts = {entry.most_threads};"]
    return [
        f"    double pay = {entry.bytes_per_element}.0 / {BYTES_PER_THREAD};",
        *(f"    pay *= size[{k}];" for k in range(len(entry.problem.size))),
        "    while (parts > 1 && parts > pay) --parts;",
    ]


# --- C++ ------------------------------------------------------------------------------------------------


def templates(problem: Problem) -> str:
    """The paper's spelling, extents as template arguments: the specialised kernel at its own, else that for any."""
    if not problem.size:
        return ""
    ways = [e for e in (*interface.entries(problem), *interface.threaded(problem)) if not e.any_size]
    return "\n".join(['#ifdef __cplusplus\nextern "C++" {', *map(_template, ways), "}\n#endif\n"])


def _template(entry: Entry) -> str:
    size = entry.problem.size
    labels = [f"size{k}" for k in range(len(size))]
    general = replace(entry, any_size=True)
    lines = [
        f"template<{', '.join(f'int {label}' for label in labels)}>",
        f"static inline {signature(entry)}",
        "{",
        *_own_size(entry, labels),
        f"    const int size[] = {{{', '.join(labels)}}};",
        f"    {general.name}({arguments(general)});",
        "}",
    ]
    return "\n".join(lines)


def _own_size(entry: Entry, labels: Sequence[str]) -> list[str]:
    if any(extent > MAX_INT for extent in entry.problem.size):
        return []  # no template argument reaches it
    same = " && ".join(f"{label} == {extent}" for label, extent in zip(labels, entry.problem.size, strict=True))
    return [f"    if ({same}) {{", f"        {entry.name}({arguments(entry)});", "        return;", "    }"]

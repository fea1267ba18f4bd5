"""C declarations of entries, inline functions that spread them over OpenMP's threads, overloads for C++.

C99 and C++98. Complex elements and scalars are C99's `_Complex` in C, and `void` in C++, beside overloads for
`std::complex`; floats of 16 and 8 bits, and swapped ones, are their bits, items of other sizes `void`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..lazy_dataclasses import replace
from ..problem import interface, type_names
from ..problem.dtypes import DType, Kind
from ..problem.formats import Integer
from ..problem.interface import BYTES_PER_THREAD, MAX_INT, Entry, Parameter, Role, Sizes, Symbols
from ..problem.layouts import column_major
from ..problem.problem import Problem

_C_TYPES = {"s": "float", "d": "double", "c": "void", "z": "void"}
COMPLEX = {"c": "ttc_complex_float", "z": "ttc_complex_double"}
CPP_TYPES = {"c": "std::complex<float>", "z": "std::complex<double>"}


STRONG = "TTC_OMP_OBJECT"  # defined where a program links the second object
# clang has OpenMP without its header, where only the run time of another compiler is installed.
OPENMP_HEADER = """\
#ifdef _OPENMP
#  if defined(__has_include)
#    if !__has_include(<omp.h>)
#      define TTC_NO_OMP_H
#    endif
#  endif
#  ifdef TTC_NO_OMP_H
#    ifdef __cplusplus
extern "C"
#    endif
int omp_get_max_threads(void);
#  else
#    include <omp.h>
#  endif
#endif
"""


def c_type(t: DType) -> str:
    """The C++ type of elements or of a scalar, C's as well but for complex ones."""
    if t.stored in _C_TYPES or t.format is None:
        return _C_TYPES.get(t.stored, "void")
    sign = "" if isinstance(t.format, Integer) and t.format.signed else "u"
    return f"{sign}int{8 * t.itemsize}_t"


def element_type(problem: Problem, t: DType) -> str:
    """The same of A's or B's elements: unsigned where the problem's data type was written so."""
    plain = c_type(t)
    return f"u{plain}" if type_names.read(problem.dtype).unsigned else plain


def includes(problems: Sequence[Problem], plans: bool) -> str:
    """The #include lines that the declarations of these problems need, and those of plans."""
    threaded = plans or any(entry.may_thread for p in problems for entry in interface.threaded(p))
    has_complex = any(map(is_complex, problems))
    cpp = "#ifdef __cplusplus\n#include <complex>\n#endif\n" if has_complex else ""
    return "#include <stdint.h>\n" + cpp + (OPENMP_HEADER if threaded else "")


def is_complex(problem: Problem) -> bool:
    """True where alpha and beta are complex, as A and B are."""
    return problem.compute.kind is Kind.COMPLEX


def prototype(entry: Entry) -> str:
    """The entry's declaration."""
    return f"{signature(entry)};\n"


def signature(entry: Entry) -> str:
    """The entry's result, name and parameters, in terms of the header."""
    taken = ", ".join(_kind(entry.problem, p) + p.name for p in entry.parameters)
    return f"void {entry.name}({taken})"


def cpp_signature(entry: Entry) -> str:
    """The same in C++ alone."""
    return re.sub("TTC_RESTRICT ", "", re.sub("|".join(COMPLEX.values()), "void", signature(entry)))


def arguments(entry: Entry) -> str:
    """The entry's parameters as they are passed on."""
    return ", ".join(p.name for p in entry.parameters)


def _kind(problem: Problem, parameter: Parameter) -> str:
    """The type of a parameter, with its star or a blank behind."""
    a, b = (COMPLEX.get(t.stored, element_type(problem, t)) for t in (problem.a, problem.b))
    scalar = COMPLEX.get(problem.compute.name, c_type(problem.compute))
    return {
        Role.A: f"const {a} *TTC_RESTRICT ",
        Role.B: f"{b} *TTC_RESTRICT ",
        Role.BOTH: f"{b} *",
        Role.SCALAR: f"const {scalar} *" if is_complex(problem) else f"{scalar} ",
        Role.SIZES: "const int *",
        Role.WIDE: "const int64_t *",
        Role.NUMBER: "int ",
    }[parameter.role]


# --- facts ----------------------------------------------------------------------------------------------


def macros(problem: Problem, stem: str, stack: int, version: str) -> str:
    """Definitions of what programs can ask of the problem's entries when they are compiled."""
    sides = {"A": problem.outer_a} | ({} if problem.inplace else {"B": problem.outer_b})
    lists = {"PERM": problem.perm, "SIZE": problem.size}
    lists |= {f"STRIDES_{side}": column_major(outer) for side, outer in sides.items()}
    facts: dict[str, object] = {"RANK": len(problem.perm)}
    if problem.perm:
        facts |= {name: f"{{{', '.join(map(str, values))}}}" for name, values in lists.items()}
    facts |= {f"ELEMENTS_{side}": problem.storage(side.lower()) for side in sides}
    facts |= {
        "PARTS": Entry(problem).most_threads, "STACK": stack, "GENERATOR": f'"ttc_llvm {version}"',
    }  # fmt: skip
    return "".join(f"#define {stem}_{name} {value}\n" for name, value in facts.items())


# --- threads --------------------------------------------------------------------------------------------


def with_threads(entry: Entry) -> str:
    """A threaded entry: inline, running the parts on as many threads as pay, or as the second object has it."""
    return f"#ifdef {STRONG}\n{prototype(entry)}#else\n{_inline(entry)}#endif\n"


def _inline(entry: Entry) -> str:
    whole, part = (replace(entry, part=parted, threaded=False) for parted in (False, True))
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
    known = f"    if (parts > {entry.most_threads}) parts = {entry.most_threads};"
    if entry.sizes is Sizes.OWN:
        return [known]
    moved = " * ".join(f"(double)size[{k}]" for k in range(len(entry.problem.size)))
    bounded = [
        f"    double pay = {moved} * {entry.bytes_per_element}.0 / {BYTES_PER_THREAD};",
        "    if (parts > pay) parts = pay < 1 ? 1 : (int)pay;",
    ]
    if entry.sizes is Sizes.ANY:
        return bounded
    return ["    if (size) {", *(f"    {line}" for line in bounded), f"    }} else {known.strip()}"]


# --- C++ ------------------------------------------------------------------------------------------------


def cpp(problem: Problem, symbols: Symbols) -> str:
    """Declarations for C++ alone: overloads for std::complex, and the paper's spelling, extents as template arguments,
    which stands for the specialised kernel at its own extents and else for that of any."""
    every = (*interface.entries(problem, symbols), *interface.threaded(problem, symbols))
    overloads = [_overload(entry) for entry in every] if is_complex(problem) else []
    templates = [_template(entry) for entry in every if entry.sizes is Sizes.OWN] if problem.size else []
    found = [*overloads, *templates]
    return "\n".join(['#ifdef __cplusplus\nextern "C++" {', *found, "}\n#endif\n"]) if found else ""


def _overload(entry: Entry) -> str:
    problem = entry.problem
    a, b, compute = (CPP_TYPES.get(t.stored, c_type(t)) for t in (problem.a, problem.b, problem.compute))
    kinds = {
        Role.A: f"const {a} *TTC_RESTRICT ", Role.B: f"{b} *TTC_RESTRICT ", Role.BOTH: f"{b} *",
        Role.SCALAR: f"{compute} ",
    }  # fmt: skip
    written = "static_cast<void *>({})"
    passed = {Role.A: "static_cast<const void *>({})", Role.B: written, Role.BOTH: written, Role.SCALAR: "&{}"}
    taken = ", ".join((kinds[p.role] if p.role in kinds else _kind(problem, p)) + p.name for p in entry.parameters)
    given = ", ".join(passed.get(p.role, "{}").format(p.name) for p in entry.parameters)
    return f"static inline void {entry.name}({taken})\n{{\n    {entry.name}({given});\n}}"


def _template(entry: Entry) -> str:
    size = entry.problem.size
    labels = [f"size{k}" for k in range(len(size))]
    general = replace(entry, sizes=Sizes.ANY)
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

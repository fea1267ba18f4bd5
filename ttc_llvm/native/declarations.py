"""C declarations of entries, inline functions that spread them over OpenMP's threads, overloads for C++.

C99 and C++98. Complex elements and scalars are C99's `_Complex` in C, and `void` in C++, beside overloads for
`std::complex`; floats of 16 and 8 bits, and swapped ones, are their bits, items of other sizes `void`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..lazy_dataclasses import replace
from ..problem import type_names
from ..problem.contraction_interface import AnyEntry, may_thread, parted, serial
from ..problem.dtypes import DType, Kind
from ..problem.formats import Integer
from ..problem.interface import MAX_INT, Entry, Parameter, Role, Sizes

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
#  elif defined(__cplusplus)
extern "C++" {
#    include <omp.h>
}
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


def element_type(dtype: str, t: DType) -> str:
    """The same of a tensor's elements: unsigned where the problem's data type was written so."""
    plain = c_type(t)
    return f"u{plain}" if type_names.read(dtype).unsigned else plain


def includes(every: Iterable[AnyEntry], plans: bool) -> str:
    """The #include lines that the declarations of these threaded entries need, and those of plans. What these bring has
    the linkage of C++ also where a program includes the header in a block of `extern "C"`, as it does with C's."""
    found = list(every)
    threaded = plans or any(may_thread(entry) for entry in found)
    has_complex = any(map(is_complex, found))
    cpp = '#ifdef __cplusplus\nextern "C++" {\n#include <complex>\n}\n#endif\n' if has_complex else ""
    return "#include <stddef.h>\n#include <stdint.h>\n" + cpp + (OPENMP_HEADER if threaded else "")


def is_complex(entry: AnyEntry) -> bool:
    """True where alpha and beta are complex, as tensors are."""
    return entry.types[-1].kind is Kind.COMPLEX


def prototype(entry: AnyEntry) -> str:
    """The entry's declaration."""
    return f"{signature(entry)};\n"


def signature(entry: AnyEntry) -> str:
    """The entry's result, name and parameters, in terms of the header."""
    taken = ", ".join(_kind(entry, p) + p.name for p in entry.parameters)
    return f"void {entry.name}({taken or 'void'})"


def cpp_signature(entry: AnyEntry) -> str:
    """The same in C++ alone."""
    return re.sub("TTC_RESTRICT ", "", re.sub("|".join(COMPLEX.values()), "void", signature(entry)))


def arguments(entry: AnyEntry) -> str:
    """The entry's parameters as they are passed on."""
    return ", ".join(p.name for p in entry.parameters)


def _kind(entry: AnyEntry, parameter: Parameter) -> str:
    """The type of a parameter, with its star or a blank behind."""
    *tensors, compute = entry.types
    read, written = (COMPLEX.get(t.stored, element_type(entry.dtype, t)) for t in tensors)
    scalar = COMPLEX.get(compute.name, c_type(compute))
    return {
        Role.READ: f"const {read} *TTC_RESTRICT ",
        Role.WRITTEN: f"{written} *TTC_RESTRICT ",
        Role.BOTH: f"{written} *",
        Role.SCALAR: f"const {scalar} *" if is_complex(entry) else f"{scalar} ",
        Role.SIZES: "const int *",
        Role.WIDE: "const int64_t *",
        Role.NUMBER: "int ",
        Role.MEMORY: "void *",
        Role.BYTES: "int64_t ",
    }[parameter.role]


# --- facts ----------------------------------------------------------------------------------------------


def macros(stem: str, facts: Mapping[str, object], version: str) -> str:
    """Definitions of what programs can ask of a problem's entries when they are compiled, none of empty lists."""
    texts = {name: f"{{{', '.join(map(str, x))}}}" if isinstance(x, tuple) else str(x) for name, x in facts.items()}
    texts["GENERATOR"] = f'"ttc_llvm {version}"'
    return "".join(f"#define {stem}_{name} {text}\n" for name, text in texts.items() if text != "{}")


# --- threads --------------------------------------------------------------------------------------------


def with_threads(entry: AnyEntry) -> str:
    """A threaded entry: inline, running the parts on as many threads as pay, or as the second object has it."""
    return f"#ifdef {STRONG}\n{prototype(entry)}#else\n{_inline(entry)}#endif\n"


def _inline(entry: AnyEntry) -> str:
    given = arguments(entry)
    alone = [f"    {serial(entry).name}({given});"]
    threaded = [
        "#ifdef _OPENMP",
        "    int part, parts = omp_get_max_threads();",
        *_bounded(entry),
        "#pragma omp parallel for num_threads(parts) schedule(static, 1)",
        "    for (part = 0; part < parts; ++part)",
        f"        {parted(entry).name}({given}, part, parts{', NULL, 0' if entry.zeros else ''});",
        "#else",
        *alone,
        "#endif",
    ]
    body = threaded if may_thread(entry) else alone
    return "\n".join([f"static inline {signature(entry)}", "{", *body, "}\n"])


def _bounded(entry: AnyEntry) -> list[str]:
    """No more threads than pay: a number that is known, or follows from the extents."""
    work = entry.work
    known = f"    if (parts > {work.most_threads}) parts = {work.most_threads};"
    if entry.sizes is Sizes.OWN:
        return [known]
    elements = " * ".join(f"(double)size[{k}]" for k in range(len(entry.extents)))
    bounded = [
        f"    double pay = {elements} * {work.per_element}.0 / {work.per_thread};",
        "    if (parts > pay) parts = pay < 1 ? 1 : (int)pay;",
    ]
    if entry.sizes is Sizes.ANY:
        return bounded
    return ["    if (size) {", *(f"    {line}" for line in bounded), f"    }} else {known.strip()}"]


# --- C++ ------------------------------------------------------------------------------------------------


def cpp(every: Sequence[AnyEntry]) -> str:
    """Declarations for C++ alone: overloads for std::complex, and of transpositions the paper's spelling, extents as
    template arguments, which stands for the specialised kernel at its own extents and else for that of any."""
    found = [_overload(entry) for entry in every if is_complex(entry) and entry.parameters]
    for entry in every:
        if isinstance(entry, Entry) and _has_template(entry):
            found.append(_template(entry, signature(entry)))
            found += [_template(entry, _typed_signature(entry))] if is_complex(entry) else []
    return "\n".join(['#ifdef __cplusplus\nextern "C++" {', *found, "}\n#endif\n"]) if found else ""


def _typed_signature(entry: AnyEntry) -> str:
    """The entry's result, name and parameters with std::complex."""
    a, b, compute = (CPP_TYPES.get(t.stored, c_type(t)) for t in entry.types)
    kinds = {
        Role.READ: f"const {a} *TTC_RESTRICT ", Role.WRITTEN: f"{b} *TTC_RESTRICT ", Role.BOTH: f"{b} *",
        Role.SCALAR: f"{compute} ",
    }  # fmt: skip
    taken = ", ".join((kinds[p.role] if p.role in kinds else _kind(entry, p)) + p.name for p in entry.parameters)
    return f"void {entry.name}({taken})"


def _overload(entry: AnyEntry) -> str:
    written = "static_cast<void *>({})"
    passed = {Role.READ: "static_cast<const void *>({})", Role.WRITTEN: written, Role.BOTH: written, Role.SCALAR: "&{}"}
    given = ", ".join(passed.get(p.role, "{}").format(p.name) for p in entry.parameters)
    return f"static inline {_typed_signature(entry)}\n{{\n    {entry.name}({given});\n}}"


def _has_template(entry: Entry) -> bool:
    return bool(entry.extents) and entry.sizes is Sizes.OWN and not entry.problem.terms


def _template(entry: Entry, declared: str) -> str:
    size = entry.problem.size
    labels = [f"size{k}" for k in range(len(size))]
    general = replace(entry, sizes=Sizes.ANY)
    lines = [
        f"template<{', '.join(f'int {label}' for label in labels)}>",
        f"static inline {declared}",
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

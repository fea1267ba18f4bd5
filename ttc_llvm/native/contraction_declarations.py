"""C and Fortran declarations of the entries of emitted contractions."""

from __future__ import annotations

from ..problem import contraction_interface as interface
from ..problem import names
from ..problem.contraction import OPERANDS, Contraction
from ..problem.contraction_interface import MULTIPLICATIONS_PER_THREAD, Entry, Role
from ..problem.dtypes import Kind
from .declarations import COMPLEX, CPP_TYPES, c_type
from .fortran import TYPES as FORTRAN_TYPES
from .fortran import split


def prototype(entry: Entry) -> str:
    """The entry's declaration in C."""
    return f"{_signature(entry)};\n"


def _signature(entry: Entry) -> str:
    """The entry's result, name and parameters, in terms of the header."""
    kinds = _kinds(entry.stated)
    return f"void {entry.name}({', '.join(kinds[role] + name for name, role in entry.parameters)})"


def _kinds(stated: Contraction) -> dict[Role, str]:
    """Types of parameters, with their star or a blank behind."""
    element = COMPLEX.get(stated.element.name, c_type(stated.element))
    return {
        Role.READ: f"const {element} *TTC_RESTRICT ",
        Role.WRITTEN: f"{element} *TTC_RESTRICT ",
        Role.SCALAR: f"const {element} *" if stated.element.kind is Kind.COMPLEX else f"{element} ",
        Role.WORDS: "const int64_t *",
        Role.NUMBER: "int ",
        Role.MEMORY: "void *",
        Role.BYTES: "int64_t ",
    }


def macros(stated: Contraction, numbers: dict[str, int], version: str) -> str:
    """Definitions of what programs can ask when they are compiled. numbers: further ones."""
    size = dict(stated.size)
    facts: dict[str, object] = {"INDICES": f'"{"".join(size)}"'}
    lists = {"SIZE": tuple(size.values())} | {f"STRIDES_{name.upper()}": stated.strides(name) for name in OPERANDS}
    facts |= {name: f"{{{', '.join(map(str, values))}}}" for name, values in lists.items() if values}
    facts |= {**numbers, "GENERATOR": f'"ttc_llvm {version}"'}
    return "".join(f"#define {names.contraction_stem(stated)}_{name} {value}\n" for name, value in facts.items())


def with_threads(entry: Entry, most: int) -> str:
    """A threaded entry, inline: the parts on as many threads as pay. most: at the contraction's own extents."""
    whole, part = Entry(entry.stated, entry.sizes), Entry(entry.stated, entry.sizes, part=True)
    given = ", ".join(name for name, _ in whole.parameters)
    serial = f"    {whole.name}({given});"
    return "\n".join([
        f"static inline {_signature(entry)}", "{", "#ifdef _OPENMP",
        "    int part, parts = omp_get_max_threads();", *_bounded(entry, most),
        "#pragma omp parallel for num_threads(parts) schedule(static, 1)",
        "    for (part = 0; part < parts; ++part)",
        f"        {part.name}({given}, part, parts, 0, 0);",
        "#else", serial, "#endif", "}\n",
    ])  # fmt: skip


def _bounded(entry: Entry, most: int) -> list[str]:
    """No more threads than pay: a number that is known, or follows from the extents."""
    known = f"    if (parts > {most}) parts = {most};"
    if not entry.sizes:
        return [known]
    work = " * ".join(f"(double)size[{k}]" for k in range(len(entry.stated.size))) or "1.0"
    return [
        "    if (size) {",
        f"        double pay = {work} / {MULTIPLICATIONS_PER_THREAD};",
        "        if (parts > pay) parts = pay < 1 ? 1 : (int)pay;",
        f"    }} else {known.strip()}",
    ]


def cpp(stated: Contraction) -> str:
    """Overloads for std::complex, for C++ alone."""
    if stated.element.kind is not Kind.COMPLEX:
        return ""
    every = (*interface.entries(stated), *interface.threaded(stated))
    return "\n".join(['#ifdef __cplusplus\nextern "C++" {', *map(_overload, every), "}\n#endif\n"])


def _overload(entry: Entry) -> str:
    element = CPP_TYPES[entry.stated.element.name]
    kinds = _kinds(entry.stated) | {
        Role.READ: f"const {element} *TTC_RESTRICT ", Role.WRITTEN: f"{element} *TTC_RESTRICT ",
        Role.SCALAR: f"{element} ",
    }  # fmt: skip
    passed = {Role.READ: "static_cast<const void *>({})", Role.WRITTEN: "static_cast<void *>({})", Role.SCALAR: "&{}"}
    taken = ", ".join(kinds[role] + name for name, role in entry.parameters)
    given = ", ".join(passed.get(role, "{}").format(name) for name, role in entry.parameters)
    return f"static inline void {entry.name}({taken})\n{{\n    {entry.name}({given});\n}}"


# --- Fortran --------------------------------------------------------------------------------------------


def fortran(entry: Entry) -> list[str]:
    """The interface body of one entry."""
    name, kind = names.fortran(entry.name), FORTRAN_TYPES[entry.stated.element.name]
    by_pointer = entry.stated.element.kind is Kind.COMPLEX
    words = "integer(c_int64_t)"
    declared = {
        Role.READ: kind + ", intent(in) :: {}(*)",
        Role.WRITTEN: kind + ", intent(inout) :: {}(*)",
        Role.SCALAR: f"{kind}, {'intent(in)' if by_pointer else 'value'} :: {{}}",
        Role.WORDS: words + ", intent(in), optional :: {}(*)",
        Role.NUMBER: "integer(c_int), value :: {}",
        Role.MEMORY: "type(c_ptr), value :: {}",
        Role.BYTES: words + ", value :: {}",
    }
    kinds = [kind.partition("(")[2].rstrip(")"), "c_int64_t", *(("c_int", "c_ptr") if entry.part else ())]
    return [
        f"subroutine {name}( &",
        f"    {', '.join(name for name, _ in entry.parameters)}) &",
        f'    bind(c, name="{split(entry.name)}")',
        f"  import :: {', '.join(sorted(kinds))}",
        *(f"  {declared[role].format(name)}" for name, role in entry.parameters),
        f"end subroutine {name}",
    ]


def fortran_release(stated: Contraction) -> list[str]:
    """The same of the function that gives back memory."""
    name = interface.release(stated)
    short = names.fortran(name)
    return [f"subroutine {short}() &", f'    bind(c, name="{split(name)}")', f"end subroutine {short}"]

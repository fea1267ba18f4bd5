"""The C header of an object: what it computes, its entries, and inline functions that spread it over threads.

C99 and C++98. Complex scalars and arrays are `void` pointers, as in CBLAS; f16 and bf16 are their bits.
"""

from __future__ import annotations

import textwrap

from . import names
from .dtypes import DType, Kind
from .plan import CpuPlan
from .problem import Problem
from .target import Target

_C_TYPES = {
    "s": "float", "d": "double", "c": "void", "z": "void", "f16": "uint16_t", "bf16": "uint16_t",
    "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
}  # fmt: skip
_MEANINGS = {"c": "float complex", "z": "double complex", "f16": "16-bit floats", "bf16": "bfloat16"}
BYTES_PER_THREAD = 64 << 10  # with less, starting a thread takes longer than the work that it takes over
MAX_THREADS = 1024
WIDTH = 100


def text(
    problem: Problem,
    target: Target,
    plan: CpuPlan,
    *,
    version: str,
    gibs: float | None = None,
    stack: int = 0,
    note: str = "",
) -> str:
    """The header. gibs: measured bandwidth; stack: bytes of scratch that a call needs; note: free text."""
    facts = {
        "target": f"{target.cpu} ({target.triple})",
        "plan": str(plan),
        "measured": "" if gibs is None else f"{gibs:.1f} GiB/s ({_bytes_counted(problem)}, per second)",
        "stack": f"{stack} bytes of scratch per call" if stack else "",
        "note": note,
    }
    guard = names.guard(problem)
    parts = [
        _comment(_description(problem, version), facts),
        f"#ifndef {guard}\n#define {guard}\n",
        _includes(problem),
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        *(prototype(problem, beta, part) + ";\n" for beta, part in names.variants(problem)),
        *(_threaded(problem, beta) for beta, part in names.variants(problem) if not part),
        f"#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */",
    ]
    return "\n".join(part for part in parts if part) + "\n"


# --- the comment ----------------------------------------------------------------------------------------


def _description(problem: Problem, version: str) -> list[str]:
    """Paragraphs; lines that start with a space are not filled."""
    stem = names.stem(problem)
    return [
        f"{stem}.h: entries of {stem}.o, written by ttc_llvm {version}.",
        "    " + _formula(problem),
        "Column-major tensors: index 0 of A and index 0 of B have stride 1.",
        "    " + "\n    ".join(_sizes(problem)),
        *_scalars(problem),
        "A and B must not overlap. Padding is never written.",
        "lda, ldb: one outer size per index, in A's and in B's order, each at least the extent; NULL stands"
        " for the values above, which the code is specialised for. Code for any sizes honours others.",
        "_part runs one of `parts` parts, 0 <= part < parts, and nothing for other values. Parts write"
        " disjoint elements and may run at the same time; together they do what the plain entry does.",
        "_omp runs all parts on OpenMP's threads where this header is compiled with OpenMP, else the entry"
        " itself.",
    ]


def _formula(problem: Problem) -> str:
    a = f"A[{','.join(f'i{k}' for k in range(len(problem.perm)))}]"
    b = f"B[{','.join(f'i{k}' for k in problem.perm)}]"
    if problem.compute.kind is Kind.OPAQUE:
        return f"{b} <- {a}"
    return f"{b} <- alpha * {f'conj({a})' if problem.conjugate else a} + beta * {b}"


def _sizes(problem: Problem) -> list[str]:
    columns = {"perm": problem.perm, "size": problem.size, "lda": problem.outer_a, "ldb": problem.outer_b}
    lines = [f"{name:<5}{','.join(map(str, values))}" for name, values in columns.items()]
    return [*lines, f"{'A':<5}{_meaning(problem.a)}", f"{'B':<5}{_meaning(problem.b)}"]


def _meaning(t: DType) -> str:
    return _MEANINGS.get(t.name) or _C_TYPES.get(t.name) or f"items of {t.itemsize} bytes"


def _scalars(problem: Problem) -> list[str]:
    compute = problem.compute
    if compute.kind is Kind.OPAQUE:
        return ["Every item is copied bit for bit."]
    kind = f"{_meaning(compute)}{', by pointer' if compute.kind is Kind.COMPLEX else ''}"
    exact = problem.a == problem.b and not problem.conjugate
    copy = " alpha = 1 and beta = 0 copies bit for bit." if exact else ""
    return [
        f"alpha and beta: {kind}; entries without beta take it as 0. alpha = 0: A is not read."
        f" beta = 0: B is not read.{copy}"
    ]


def _bytes_counted(problem: Problem) -> str:
    return "bytes of A + bytes of B" if problem.beta == 0 else "bytes of A + 2 x bytes of B"


def _comment(paragraphs: list[str], facts: dict[str, str]) -> str:
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [*_filled(paragraph), ""]
    for label, fact in facts.items():
        lines += textwrap.wrap(fact, WIDTH, initial_indent=f"{label + ':':<10}", subsequent_indent=" " * 10)
    safe = (line.replace("*/", "* /").replace("/*", "/ *") for line in lines)
    return "/* " + "\n".join(f" * {line}".rstrip() for line in safe).removeprefix(" * ") + "\n */"


def _filled(paragraph: str) -> list[str]:
    indent = " " * (len(paragraph) - len(paragraph.lstrip()))
    return [line for part in paragraph.splitlines() for line in _wrapped(part, indent)]


def _wrapped(line: str, indent: str) -> list[str]:
    breakable = line.replace(",", ", ") if indent and len(line) > WIDTH else line
    deeper = f"{indent}  " if indent else ""
    return textwrap.wrap(
        breakable.strip(),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=deeper,
        break_long_words=False,
        break_on_hyphens=False,
    )


# --- the code -------------------------------------------------------------------------------------------


def _includes(problem: Problem) -> str:
    fixed_width = any(c_type(t).endswith("_t") for t in (problem.a, problem.b))
    threaded = any(_most_threads(problem, beta) > 1 for beta, _ in names.variants(problem))
    standard = "#include <stdint.h>\n" if fixed_width else ""
    return standard + ("#ifdef _OPENMP\n#include <omp.h>\n#endif\n" if threaded else "")


def c_type(t: DType) -> str:
    """The type behind a pointer to elements; `void` for complex numbers and for items of other sizes."""
    return _C_TYPES.get(t.name, "void")


def _parameters(problem: Problem, beta: bool, part: bool) -> list[tuple[str, str]]:
    """(type with its star, name) of an entry's parameters."""
    kind = problem.compute.kind
    scalar = "const void *" if kind is Kind.COMPLEX else f"{c_type(problem.compute)} "
    labels = [] if kind is Kind.OPAQUE else ["alpha", "beta"] if beta else ["alpha"]
    return [
        (f"const {c_type(problem.a)} *", "A"),
        (f"{c_type(problem.b)} *", "B"),
        *((scalar, label) for label in labels),
        ("const int *", "lda"),
        ("const int *", "ldb"),
        *((("int ", "part"), ("int ", "parts")) if part else ()),
    ]


def _signature(name: str, parameters: list[tuple[str, str]]) -> str:
    return f"void {name}({', '.join(kind + label for kind, label in parameters)})"


def prototype(problem: Problem, beta: bool, part: bool = False) -> str:
    """The declaration of one entry, without its semicolon."""
    return _signature(names.entry(problem, beta, part), _parameters(problem, beta, part))


def _most_threads(problem: Problem, beta: bool) -> int:
    return min(MAX_THREADS, problem.bytes_moved(beta=1 if beta else 0) // BYTES_PER_THREAD)


def _threaded(problem: Problem, beta: bool) -> str:
    """The inline function that runs the parts on as many threads as pay."""
    parameters = _parameters(problem, beta, False)
    given = ", ".join(label for _, label in parameters)
    serial = f"    {names.entry(problem, beta)}({given});"
    most = _most_threads(problem, beta)
    threaded = [
        "#ifdef _OPENMP",
        "    int part, parts = omp_get_max_threads();",
        f"    if (parts > {most}) parts = {most};",
        "#pragma omp parallel for num_threads(parts) schedule(static, 1)",
        "    for (part = 0; part < parts; ++part)",
        f"        {names.entry(problem, beta, True)}({given}, part, parts);",
        "#else",
        serial,
        "#endif",
    ]
    head = f"static inline {_signature(names.entry(problem, beta) + '_omp', parameters)}"
    return "\n".join([head, "{", *(threaded if most > 1 else [serial]), "}\n"])

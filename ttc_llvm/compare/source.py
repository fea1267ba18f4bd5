"""The naive loop nest in C++, behind the prototype of our own headers; pure texts.

f16 and bf16 are moved as `uint16_t`, as in the headers: plain moves need no `_Float16`, which not every compiler has.
"""

from __future__ import annotations

from pathlib import Path

from ..native import declarations
from ..native.whole_file import filled
from ..problem.dtypes import DType, Kind
from ..problem.interface import Entry
from ..problem.problem import Problem
from ..problem.reference_loops import INT_MAX, Index, ReferenceLoops, Traverse, of

SHIM = Path(__file__).with_name("shim.cpp.in")
RUN, THREADS = "ttc_reference_run", "ttc_reference_threads"
THREADED = """void run(void (*work)(void))
{
#pragma omp parallel
    work();
}
"""  # what needs an OpenMP library, where a compiler is told to use one


def entry(problem: Problem) -> str:
    """The function that a reference of this problem exports: with beta only where beta != 0."""
    return Entry(problem, beta=problem.beta != 0).name


def prototype(problem: Problem) -> str:
    """That function's declaration in our headers, without its semicolon."""
    return declarations.cpp_signature(Entry(problem, beta=problem.beta != 0))


def reference(problem: Problem, traverse: Traverse) -> str:
    """A whole source: the nest, and what calls it."""
    nest = of(problem, traverse)
    return "\n".join([_DEFINITIONS, *types(nest), _function(problem, nest), shim(problem)])


def own(problem: Problem, path: str) -> str:
    """A source that takes in a file of the user's own behind the declaration that it has to agree with."""
    return f'#include <stdint.h>\n\nextern "C" {prototype(problem)};\n\n#include "{path}"\n'


def shim(problem: Problem) -> str:
    """The source of the functions that call a problem's entry, declared here: RUN(A, B, alpha and beta), and
    THREADS(number, where)."""
    arguments = ["static_cast<const {0} *>(a)", "static_cast<{1} *>(b)", *_scalars(problem), "lda", "ldb"]
    a, b = (declarations.element_type(problem.dtype, t) for t in (problem.a, problem.b))
    call = ", ".join(arguments).format(a, b)
    outer = [_ints(name, sizes) for name, sizes in (("lda", problem.outer_a), ("ldb", problem.outer_b))]
    values = {"PROTOTYPE": prototype(problem), "OUTER": "\n".join(outer), "ENTRY": entry(problem), "CALL": call}
    return filled(SHIM, values)


def _scalars(problem: Problem) -> list[str]:
    kind, t = problem.compute.kind, problem.compute
    if kind is Kind.OPAQUE:
        return []
    real = "float" if t.real_bits == 32 else "double"
    slots = range(2 if problem.beta != 0 else 1)
    if kind is Kind.COMPLEX:
        return [f"static_cast<const {real} *>(scalars) + {2 * slot}" for slot in slots]
    return [f"static_cast<const {real} *>(scalars)[{slot}]" for slot in slots]


def _ints(name: str, sizes: tuple[int, ...]) -> str:
    """Outer sizes; NULL, which means the same, where one is no int or there are none."""
    if not sizes or max(sizes) > INT_MAX:
        return f"static const int *const {name} = 0;"
    return f"static const int {name}[] = {{{', '.join(map(str, sizes))}}};"


_DEFINITIONS = """#include <stdint.h>

namespace {
template <typename T> struct complex_of { T re, im; };
template <int N> struct item { unsigned char byte[N]; };
}"""

# --- the nest ---------------------------------------------------------------------------------------------


def types(nest: ReferenceLoops) -> list[str]:
    """The names of both tensors' elements and of the arithmetic's type."""
    named = {"type_a": nest.a, "type_b": nest.b, "wide": nest.compute}
    return [f"typedef {_cpp_type(t)} {name};" for name, t in named.items()]


def _cpp_type(t: DType) -> str:
    if t.kind is Kind.COMPLEX:
        return f"complex_of<{'float' if t.real_bits == 32 else 'double'}>"
    plain = declarations.c_type(t)
    return f"item<{t.itemsize}>" if plain == "void" else plain


def _function(problem: Problem, nest: ReferenceLoops) -> str:
    opaque = nest.compute.kind is Kind.OPAQUE
    lines = [
        f'extern "C" {prototype(problem)}',
        "{",
        "    const type_a *__restrict__ from = reinterpret_cast<const type_a *>(A);",
        "    type_b *__restrict__ into = reinterpret_cast<type_b *>(B);",
        *(f"    const wide {short} = {_scalar(nest, given)};" for short, given in taken(nest)),
        *("    " + line for line in _loops(nest)),
        "}",
    ]  # fmt: skip
    unused = [name for name in ("alpha",) if not opaque and not nest.scales]
    lines[2:2] = [f"    (void){name};" for name in (*unused, "lda", "ldb")]
    return "\n".join(lines)


def taken(nest: ReferenceLoops) -> list[tuple[str, str]]:
    """The scalars that take part: what the body calls them, and their names."""
    wanted = (("p", "alpha", nest.scales), ("q", "beta", nest.reads_b))
    return [(short, name) for short, name, needed in wanted if needed and nest.compute.kind is not Kind.OPAQUE]


def _scalar(nest: ReferenceLoops, name: str) -> str:
    return f"*static_cast<const wide *>({name})" if nest.compute.kind is Kind.COMPLEX else name


def _loops(nest: ReferenceLoops) -> list[str]:
    """`parallel for` on the outermost loop, `simd` on the innermost, which may be the same."""
    count, counter = len(nest.loops), "int" if nest.fits_int else "int64_t"
    outer = f"omp parallel for collapse({count - 1})" if count > 2 else "omp parallel for"
    pragmas = {0: outer if count > 1 else f"{outer} simd"} | ({count - 1: "omp simd"} if count > 1 else {})
    lines = []
    for depth, loop in enumerate(nest.loops):
        if depth in pragmas:
            lines.append(f"#pragma {pragmas[depth]}")
        i = f"i{loop.number}"
        lines.append(f"{'  ' * depth}for ({counter} {i} = 0; {i} < {loop.extent}; ++{i})")
    return [*lines, *element(nest, "  " * count)]


def element(nest: ReferenceLoops, indent: str) -> list[str]:
    """The innermost body, of tensors `from` and `into` at the indices `i0`, `i1` ..; scalars are `p` and `q`."""
    source = f"from[{_offset(nest.loops, 'stride_a')}]"
    sink = f"into[{_offset(nest.loops, 'stride_b')}]"
    lines = _complex(nest) if nest.compute.kind is Kind.COMPLEX else [_real(nest)]
    return [indent + line for line in ("{", f"  const type_a x = {source};", f"  type_b &y = {sink};", *lines, "}")]


def _real(nest: ReferenceLoops) -> str:
    if nest.compute.kind is Kind.OPAQUE:
        return "  y = x;"
    old = " + q * static_cast<wide>(y)" if nest.reads_b else ""
    return f"  y = static_cast<type_b>({'p * ' if nest.scales else ''}static_cast<wide>(x){old});"


def _complex(nest: ReferenceLoops) -> list[str]:
    """By its parts: std::complex asks whether every product is a NaN, which no compiler vectorises."""
    real = "float" if nest.compute.real_bits == 32 else "double"
    narrow = "float" if nest.b.real_bits == 32 else "double"
    lines = [f"  const {real} re = x.re, im = {'-' if nest.conjugate else ''}x.im;"]
    re, im = ("p.re * re - p.im * im", "p.re * im + p.im * re") if nest.scales else ("re", "im")
    if nest.reads_b:
        lines.append(f"  const {real} old_re = y.re, old_im = y.im;")
        re, im = f"{re} + q.re * old_re - q.im * old_im", f"{im} + q.re * old_im + q.im * old_re"
    return [*lines, f"  y.re = static_cast<{narrow}>({re});", f"  y.im = static_cast<{narrow}>({im});"]


def _offset(loops: tuple[Index, ...], side: str) -> str:
    terms = []
    for loop in loops:
        stride = getattr(loop, side)
        terms.append(f"i{loop.number}" if stride == 1 else f"i{loop.number} * {stride}")
    return " + ".join(terms)

"""C names of objects, headers and functions.

A's and B's type letters (one if equal), `Transpose`, perm, `_`, the extents joined by `x`, then everything else
that distinguishes two kernels; `interface` has the suffixes of entries.
"""

from __future__ import annotations

import hashlib
import re

from . import dtypes
from .contraction import OPERANDS, Contraction
from .problem import Problem

_SIGNS = str.maketrans({"-": "m", ".": "p", "+": None})
LONGEST_FORTRAN = 63  # characters of a name, in Fortran 2003 and later
LONGEST = 200  # characters: with `_any_beta_part`, a suffix and a temporary's name still within a file name's 255


def stem(problem: Problem | Contraction) -> str:
    """The name of a problem's files and of its plain C entry: a C identifier of at most `LONGEST` characters.

    Two problems share a name only if they differ in nothing but the values of alpha and beta. A longer name
    is cut and ends in a digest of the whole, so that it stays distinct.
    """
    return _bounded("".join(_parts(problem) if isinstance(problem, Problem) else _contraction_parts(problem)))


def _parts(problem: Problem) -> list[str]:
    if problem.terms:
        terms = "_".join(f"{_factor(factor)}_{_perm(perm)}" for factor, perm in problem.terms)
        computed = f"Sum{terms}"
    else:
        computed = f"Transpose{_perm(problem.perm)}"
    return [
        f"{_types(problem)}{computed}_{_sizes(problem.size)}",
        _outer("lda", problem.lda, problem.size),
        "" if problem.inplace else _outer("ldb", problem.ldb, problem.size_b),
        "_conj" if problem.conjugate else "",
        "_inplace" if problem.inplace else "",
    ]


def _contraction_parts(stated: Contraction) -> list[str]:
    """As in `dContract_ijk_kl_ijl_40x50x30x64`: the extents in the order of the spec's indices.

    Languages that do not tell capitals from small letters need the digest that a spec of both has.
    """
    indices = [stated.indices(name) for name in OPERANDS]
    given = zip("abc", (stated.strides_a, stated.strides_b, stated.strides_c), strict=True)
    flags = zip("ab", (stated.conjugate_a, stated.conjugate_b), strict=True)
    spec = "_".join(x or "0" for x in indices)
    return [
        f"{stated.element.name}Contract_{spec}_{_sizes(tuple(extent for _, extent in stated.size))}",
        *(f"_s{name}{_sizes(strides).replace('-', 'm')}" for name, strides in given if strides is not None),
        *(f"_conj{name}" for name, is_set in flags if is_set),
        "" if spec in (spec.lower(), spec.upper()) else f"_h{_digest(spec)}",
    ]


def fortran(name: str) -> str:
    """The name that Fortran code uses for this one: of at most `LONGEST_FORTRAN` characters."""
    return _bounded(name, LONGEST_FORTRAN)


def identifier(library: str) -> str:
    """The C name that functions of a library begin with; libraries have it in common if they differ in punctuation."""
    return re.sub("[^A-Za-z0-9_]", "_", library)


def guard(header: str) -> str:
    """The include guard of a header of this name, without its ending."""
    plain = identifier(header)
    told_apart = "" if plain == header else f"_h{_digest(header)}"
    return f"TTC_{plain}{told_apart}_H"


def block_guard(entry: str) -> str:
    """The guard of a problem's part of any header, by its plain entry: never that of a whole header."""
    return f"TTC_{entry}_ENTRIES"


def _types(problem: Problem) -> str:
    return dtypes.pair_name(problem.a, problem.b).replace(",", "_")


def _perm(perm: tuple[int, ...]) -> str:
    return ("_" if len(perm) > 10 else "").join(map(str, perm))


def _factor(factor: complex) -> str:
    """A number as part of a name: m for minus, p for a point, i before an imaginary part."""
    parts = complex(factor).real, complex(factor).imag
    real, imaginary = (repr(x).removesuffix(".0").translate(_SIGNS) for x in parts)
    return f"{real}i{imaginary}" if parts[1] else real


def _sizes(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))


def _outer(label: str, given: tuple[int, ...] | None, extents: tuple[int, ...]) -> str:
    return "" if given is None or given == extents else f"_{label}{_sizes(given)}"


def _bounded(name: str, longest: int = LONGEST) -> str:
    if len(name) <= longest:
        return name
    digest = _digest(name)
    return f"{name[: longest - len(digest) - 2]}_h{digest}"


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]

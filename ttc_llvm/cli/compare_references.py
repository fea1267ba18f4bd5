"""Options that choose references, for `ttc compare` and for `ttc` itself."""

from __future__ import annotations

import argparse

from ..compare.builds import LIMIT_SECONDS
from ..compare.compilers import NAMES, parse_flags
from ..compare.references import Wanted
from ..errors import OptionError
from ..problem.reference_loops import Traverse
from .bench_options import seconds, words

AUTO, BOTH, NONE = "auto", "both", "none"


def add_references(parser: argparse.ArgumentParser) -> None:
    """The options of `ttc compare`."""
    add = parser.add_argument_group("references").add_argument
    add("--compiler", metavar="NAME,..", default=AUTO,
        help=f"of {', '.join(NAMES)}, g++-13, a path; auto = all that are here, and llvm (default)")  # fmt: skip
    add("--compilerFlags", metavar="FLAGS",
        help="in place of the usual ones: '-O2 -march=native', or 'g++=-O2 -fopenmp;clang++=-Ofast'")  # fmt: skip
    add("--traverse", metavar="WHICH", default=Traverse.OUTPUT.value,
        help="output (B is written linearly, default), input (A is read linearly) or both")  # fmt: skip
    add("--against", metavar="FILE", help="a C++ source that defines the functions of our headers")
    add("--compile-limit", metavar="S", default=f"{LIMIT_SECONDS:g}",
        help=f"seconds that one compilation may take, default {LIMIT_SECONDS:g}")  # fmt: skip


def wanted(
    compiler: str, flags: str | None, traverse: str, against: str | None, limit: str = f"{LIMIT_SECONDS:g}"
) -> Wanted:
    """The references that these texts name. OptionError for what is malformed."""
    allowed = seconds("--compile-limit", limit)
    if not 0 < allowed < 1e6:
        raise OptionError(f"--compile-limit={limit}: a positive number of seconds is expected")
    return Wanted(
        None if compiler == AUTO else () if compiler == NONE else words("--compiler", compiler),
        parse_flags(flags or "") if flags is not None else {},
        _traverse(traverse),
        against,
        allowed,
    )


def _traverse(text: str) -> tuple[Traverse, ...]:
    choices = {one.value: (one,) for one in Traverse} | {BOTH: tuple(Traverse)}
    if text not in choices:
        raise OptionError(f"--traverse={text[:40]}: the choices are {', '.join(choices)}")
    return choices[text]

"""The options of `ttc` without a sub-command, as one table; its help follows it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..arguments import cut
from ..errors import OptionError
from ..lazy_dataclasses import dataclass
from ..problem.dtypes import spellings
from ..tuning.efforts import EFFORTS
from . import values

LONGEST = 300  # characters of a sentence of argparse's, which repeats what it was given
COMPILE = "compile"  # the name of what ttc does without a sub-command
VERSION = "1.0.0"  # of a library, where none is given
SUBCOMMANDS = ("bench", "compare", "report", "explain", "info", "database")


ALIASES = {
    "--dataType": ("--dtype", "--floatType"),
    "--maxImplementations": ("--effort",),
    "--numThreads": ("--threads",),
    "--streamingStores": ("--use-streamingStores",),
}
"""Further spellings of options, on every command that has them."""
CANONICAL = {name: flag for flag, aliases in ALIASES.items() for name in (flag, *aliases)}
IDLE = {
    "--updateDatabase": "every result is stored",
    "--dontCompile": "the original TTC had no use for it, either",
    "--papi": "no hardware counters are read",
    "--mpi": "kernels run in one process",
}
"""Options of the original TTC that are taken and do nothing, and why."""


def spellings_of(flag: str) -> tuple[str, ...]:
    """An option's name and its aliases."""
    return (flag, *ALIASES.get(flag, ()))


def typed(arguments: Sequence[str]) -> dict[str, str]:
    """The last spelling of options that have aliases, by their first name."""
    words = (argument.partition("=")[0] for argument in arguments)
    return {CANONICAL[word]: word for word in words if word in CANONICAL}


class Help(argparse.HelpFormatter):
    """argparse's, but lines of a description or epilog that begin with blanks, as examples do, stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        return "\n".join(line if line.startswith(" ") else fill(line, width, indent) for line in text.split("\n"))


def with_examples(text: str, *lines: str) -> str:
    """The end of a help: a sentence or more, and command lines to try."""
    heading = "Examples:" if len(lines) > 1 else "Example:"
    return "\n".join([*([text] if text else []), heading, *(f"  {line}" for line in lines)])


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises OptionError instead of printing and exiting, and guesses no abbreviations."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **dict[str, Any](allow_abbrev=False, formatter_class=Help) | kwargs)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, which takes the value of `--option=--` for none at all."""
        for argument in args or ():
            if argument.startswith("--") and argument.endswith("=--"):
                raise OptionError(f"{cut(argument)}: -- is no value")
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise OptionError with argparse's sentence, and where to read on."""
        said = " ".join(message.split()).replace("ignored explicit argument", "no value is expected, not")
        raise OptionError(f"{cut(said, LONGEST)}: {self.prog} --help shows what is expected")


@dataclass(frozen=True, slots=True)
class Option:
    """One option. metavar: "" for a switch; field: of `reading.Command`; read: ValueError says which rule is broken."""

    flag: str
    field: str
    metavar: str
    help: str
    read: Callable[[str], Any] = str
    default: Any = None
    short: str = ""


def _switch(flag: str, field: str, help: str, short: str = "") -> Option:
    return Option(flag, field, "", help, default=False, short=short)


CONTRACTION = "the contraction C <- alpha * sum A * B + beta * C, in place of a transposition"
GROUPS: dict[str, tuple[Option, ...]] = {
    "the transposition, in column-major order unless --order=C says otherwise": (
        Option("--perm", "perm", "P,..", "perm[k] = the index of A that is index k of B", values.integers),
        Option("--size", "size", "N,..", "extents of A's indices (required), of a contraction's as a:24,i:16",
               values.extents),
        Option("--dataType", "data_type", "TYPE", f"{' '.join(spellings())}, v<bytes>; or in full, as"
               " float32, uint8, bool, >i2; or two, which are converted, as uint8,float32; default s", default="s"),
        Option("--alpha", "alpha", "X", "default 1; complex: 1+2j or 1,2; 1/255 is rounded once", values.scalar, 1.0),
        Option("--beta", "beta", "X", "default 0: B is not read", values.scalar, 0.0),
        Option("--lda", "lda", "N,..", "outer sizes of A, lda[k] >= size[k]", values.integers),
        Option("--ldb", "ldb", "N,..", "outer sizes of B, ldb[k] >= size[perm[k]]", values.integers),
        Option("--strides-a", "strides_a", "N,..", "strides of A's indices in elements, in place of --lda",
               values.integers),
        Option("--strides-b", "strides_b", "N,..", "strides of B's indices in elements, in place of --ldb",
               values.integers),
        Option("--order", "order", "ORDER", "F (default, but of contractions C): perm, size, lda, ldb, strides and"
               " loopPerm are column-major, index 0 of A has stride 1; C: row-major, the last one has, as in"
               " np.transpose(a, perm)",
               values.order),
        _switch("--conjugate", "conjugate", "conjugate A (complex types)"),
        _switch("--saturate", "saturate", "numbers beyond the range of B's type become its nearest"),
        _switch("--inplace", "inplace", "A and B are one tensor, whose shape the permutation keeps"),
        Option("--terms", "terms", "X:P,..;..", "a sum of permutations in place of --perm: '2:0,1;-1:1,0' is"
               " 2 * A - its transpose", values.terms, ()),
    ),
    CONTRACTION: (
        Option("--einsum", "einsum", "SPEC", "the indices of A, B and C, as in np.einsum: 'aibj,bjck->aick'"),
        Option("--strides-c", "strides_c", "N,..", "strides of C's indices in elements; default: C order",
               values.integers),
        _switch("--conjugate-b", "conjugate_b", "conjugate B (complex types)"),
    ),
    "the search": (
        Option("--maxImplementations", "max_implementations", "EFFORT", "candidates to consider, default 200;"
               " 1 = the cost model's choice, -1 = the paper's whole space; or"
               f" {' '.join(EFFORTS)} ({' '.join(map(str, EFFORTS.values()))})", values.effort, 200),
        Option("--time-limit", "time_limit", "S", "seconds of tuning; default: none", values.seconds),
        _switch("--generateOnly", "generate_only", "time and run nothing: the best stored plan, or the cost model's"),
        _switch("--noTest", "no_test", "do not check the winner's result element by element"),
        _switch("--hotA", "hot_a", "A is in the caches when a timed run starts"),
        _switch("--hotB", "hot_b", "B is in the caches when a timed run starts"),
        Option("--numThreads", "num_threads", "N", "default, and 0: OMP_NUM_THREADS, or the CPUs at hand",
               values.threads),
        Option("--affinity", "affinity", "WHERE", "compact (default), scatter, none, or CPUs such as 0,2,4-7;"
               " compact,1 = a thread a core first, as KMP_AFFINITY has it", values.place),
        _switch("--ignoreDatabase", "ignore_database", "look nothing up; the result is still stored"),
        Option("--database", "database", "PATH", "default: $TTC_DATABASE, or the user's cache"),
    ),
    "the machine": (
        Option("--architecture", "architecture", "NAME", "instruction set (sse2 avx avx2 avx512 knl neon sve vsx rvv"
               " wasm ...), triple or GPU (cuda hip); default: this machine, and objects run on every x86-64"),
        Option("--cpu", "cpu", "NAME,..", "a CPU as LLVM names it (ttc info --targets lists them), or native; several:"
               " one object for all; or a GPU: sm_90, gfx90a ..., default: the device at hand, else sm_80"),
        _switch("--no-vec", "no_vec", "no explicit vectors: at most two elements at a time"),
        _switch("--no-align", "no_align", "nothing that needs an aligned B: no streaming stores"),
    ),
    "references that the solution is compared with": (
        Option("--compiler", "compiler", "NAME,..", "print the speedup over the naive loop nest by g++, clang++, icpx,"
               " icpc, nvc++ or llvm (LLVM's own vectorisers); auto = all that are here"),
        Option("--compilerFlags", "compiler_flags", "FLAGS", "in place of the usual ones, as '-O2 -fopenmp'"),
        Option("--traverse", "traverse", "WHICH", "output (B is written linearly, default), input or both",
               default="output"),
        Option("--against", "against", "FILE", "a C++ source of your own that defines the header's functions"),
    ),
    "decisions taken for the search": (
        _switch("--streamingStores", "streaming_stores", "always use non-temporal stores (beta = 0, aligned rows)"),
        Option("--prefetchDistances", "prefetch_distances", "D,..", "micro-tiles ahead, 0 = none", values.distances),
        Option("--blockings", "blockings", "AxB,..", "tile sides along A's and B's stride-1 index", values.blockings),
        Option("--loopPerm", "loop_perm", "P,..", "loop order over A's indices, outermost first", values.orders),
        Option("--plan", "plan", "TEXT", "exactly this plan, as summaries and ttc explain print it: no other is timed,"
               " nothing is stored"),
        Option("--threadsPerBlock", "threads_per_block", "N,..", "of a GPU's kernel, to choose from", values.counts),
    ),
    "what comes out": (
        Option("--output-dir", "output_dir", "DIR", "where files are written; default: here", default="."),
        Option("--emit", "emit", "KIND,..", "of obj, header, fortran, omp, asm, llvm, bitcode, static, shared, plan;"
               " default obj,header, with --manifest static; may be empty; GPUs: ptx, cubin, hsaco, obj, header, llvm,"
               " asm", values.words),
        Option("--prefix", "prefix", "TEXT", "what the names of entries and files begin with; default: nothing",
               default=""),
        Option("--visibility", "visibility", "HOW", "of entries: default, or hidden, not exported by shared"
               " libraries that objects are linked into", default="default"),
        _switch("--force", "force", "replace files of these names, also those that ttc has not written"),
        _switch("--keep", "keep", "keep what was generated: every candidate's LLVM IR and a list of their plans"),
        _switch("--json", "json", "print one JSON object instead of the summary"),
        _switch("--quiet", "quiet", "print nothing but errors"),
        _switch("--verbose", "verbose", "log to stderr, and show the ten best candidates", short="-v"),
    ),
    "libraries of many problems": (
        Option("--manifest", "manifest", "FILE", "one problem a line, in these options, or a JSON list of objects;"
               " options beside it hold for every problem"),
        Option("--name", "name", "NAME", "the library's name; default: the manifest's, or the problem's"),
        Option("--library-version", "library_version", "X.Y.Z",
               f"what find_package and pkg-config see; default {VERSION}", default=VERSION),
        _switch("--list-files", "list_files", "print which files would be written, one a line, and write none"),
        _switch("--print-target", "print_target", "print the triple that objects would be for, and write none"),
    ),
}  # fmt: skip
OPTIONS = tuple(option for group in GROUPS.values() for option in group)


def parser() -> Parser:
    """The parser of a command line without sub-command; its values are texts."""
    made = Parser(
        prog="ttc",
        usage="ttc --perm=P,.. --size=N,.. [options]\n       ttc --einsum=SPEC --size=X:N,.. [options]"
        "\n       ttc --manifest=FILE [options]"
        "\n       ttc bench | compare | report | explain | info | database ...",
        description="Generate, tune and remember the transposition B[perm(i)] <- alpha * A[i] + beta * B[perm(i)].",
        epilog=with_examples(
            "Other commands: ttc bench (what this machine can do), ttc compare (how far compilers are from it),"
            " ttc report (their results as a page), ttc explain (every stage of one problem), ttc info (this machine),"
            " ttc database (stored solutions); ttc help COMMAND tells more.",
            "ttc --perm=2,1,0 --size=8,16,16 --dtype=float64 --effort=measure",
            "ttc --einsum='aibj,bjck->aick' --size=a:24,i:16,b:8,j:12,c:20,k:10 --dtype=d",
            "ttc --manifest=transposes.txt --emit=static,shared --output-dir=build",
        ),
        formatter_class=lambda prog: Help(prog, max_help_position=30),
    )
    made.add_argument("--version", action="store_true", help="show the version and exit")
    made.add_argument("--cmake-dir", action="store_true", help="print where CMake finds ttc_llvm and exit")
    for title, options in GROUPS.items():
        group = made.add_argument_group(title)
        for option in options:
            _add(group, option)
    return made


def _add(group: Any, option: Option) -> None:
    flags = [option.short, option.flag] if option.short else spellings_of(option.flag)
    help = option.help.replace("%", "%%")
    if option.metavar:
        group.add_argument(*flags, dest=option.field, metavar=option.metavar, help=help)
    else:
        group.add_argument(*flags, dest=option.field, action="store_true", help=help)

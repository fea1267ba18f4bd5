"""`ttc compare`: how far compilers are from our solutions, on the loop nest that one would write."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..bench import suites
from ..bench.cpu_runner import Settings
from ..bench.gpu_runner import GpuSettings
from ..bench.results import Result
from ..compare import gpu_references, references, table
from ..compare.references import FoundReferences
from ..compiling.display import Display, is_terminal
from ..errors import OptionError, os_errors
from ..native import marks, whole_file
from ..problem.problem import Problem
from . import bench_options as cli_options
from . import bench_run as cli_run
from .compare_references import add_references, wanted
from .options import with_examples

SUITES = {False: cli_options.DEFAULT, True: cli_options.DEFAULT}
CPU_ONLY = ("time_limit", "ignoreDatabase")


def add_parser(subparsers: Any) -> None:
    """Add `compare` to the sub-commands of a parser."""
    parser = subparsers.add_parser(
        "compare",
        help="set solutions beside naive loop nests by other compilers, and by LLVM's own vectorisers",
        description="Set tuned solutions beside the naive loop nest (perfectly nested, OpenMP parallel for and simd),"
        " built by the compilers that are here and by LLVM's own optimiser in this process. All are checked, and"
        " timed in turns on the same memory. --architecture=cuda does so on a GPU, with nvcc and LLVM's PTX.",
        epilog=with_examples(
            f"Suites: {', '.join(suites.SUITES)}. Results in a file given by --output are not measured again.",
            "ttc compare --bytes=8M --cases=::8 --compiler=g++,llvm --effort=measure",
            "ttc compare --suite=ttc57 --threads=4 --output=compare.jsonl --csv=compare.csv",
        ),
    )
    cli_options.add_cases(parser, "update")
    add_references(parser)
    cli_options.add_search(parser)
    cli_options.add_gpu(parser)
    add = cli_options.add_output(parser).add_argument
    add("--csv", metavar="FILE", help="write the results as comma-separated values")
    add("--force", action="store_true", help="replace that file, also where ttc has not written it")


def run(args: argparse.Namespace) -> int:
    """Carry out what `add_parser` has parsed; returns the exit status. Raises TtcError subclasses."""
    if args.csv is not None and args.report is None and not args.list:
        _check_csv(Path(args.csv), args.force)
    results = cli_run.results(args, SUITES, CPU_ONLY, _find, _build)
    if results is not None:
        _finish(args, results)
    return 0


def _find(args: argparse.Namespace, how: Settings | GpuSettings) -> FoundReferences:
    asked = wanted(args.compiler, args.compilerFlags, args.traverse, args.against, args.compile_limit)
    found = gpu_references.find(asked, how.target) if isinstance(how, GpuSettings) else references.find(asked)
    if not found.peers:
        raise OptionError(f"--compiler={args.compiler}: no reference is left to compare with")
    return found


def _build(found: FoundReferences, problems: Sequence[Problem]) -> None:
    """Compile everything first: nothing else runs while something is timed. OptionError for problems in place."""
    if any(problem.inplace for problem in problems):
        raise OptionError("problems in place cannot be compared with: references are loops out of place")
    with Display(is_terminal(), None, label="compiling") as display:
        found.prepare(problems, lambda done, total: display.draw(done=done, total=total))
    found.check_own(problems)


def _finish(args: argparse.Namespace, results: Sequence[Result]) -> None:
    if args.csv is not None:
        with os_errors(f"--csv={args.csv} cannot be written"):
            whole_file.write(args.csv, table.to_csv(results))
    print("\n".join(table.lines(results)))


def _check_csv(path: Path, force: bool) -> None:
    """Hours of measuring must not end at a mistyped folder, or at another's file."""
    marks.check_file(path, force, lambda data: data.startswith(table.to_csv(()).encode()))
    with os_errors(f"--csv={path} cannot be written"):
        is_new = not os.path.exists(path)
        with open(path, "ab"):
            pass
        if is_new:
            os.unlink(path)

"""`ttc compare`: how far compilers are from our solutions, on the loop nest that one would write."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..bench import cli_run
from ..bench import gpu_cli as bench_gpu
from ..bench.result_file import ResultFile
from ..bench.results import Result
from ..bench.runner import run
from ..bench.suites import SUITES
from ..cli.progress import Display
from ..errors import OptionError
from ..native import marks, whole_file
from . import gpu_cli, references, table
from .cli_references import add_references, wanted


def add_parser(subparsers: Any) -> None:
    """Add `compare` to the sub-commands of a parser."""
    parser = subparsers.add_parser(
        "compare",
        help="set solutions beside naive loop nests by other compilers, and by LLVM's own vectorisers",
        description="Set tuned solutions beside the naive loop nest (perfectly nested, OpenMP parallel for and simd),"
        " built by the compilers that are here and by LLVM's own optimiser in this process. All are checked, and"
        " timed in turns on the same memory. --architecture=cuda does so on a GPU, with nvcc and LLVM's PTX.",
        epilog=f"Suites: {', '.join(SUITES)}. Results in a file given by --output are not measured again.",
    )
    cli_run.add_cases(parser, "update")
    add_references(parser)
    cli_run.add_search(parser)
    bench_gpu.add_gpu(parser)
    add = cli_run.add_output(parser).add_argument
    add("--csv", metavar="FILE", help="write the results as comma-separated values")
    add("--force", action="store_true", help="replace that file, also where ttc has not written it")


def run_command(args: argparse.Namespace) -> int:
    """Carry out what `add_parser` has parsed; returns the exit status. Raises TtcError subclasses."""
    if args.report is not None:
        _finish(args, ResultFile(args.report).read())
        return 0
    if bench_gpu.wanted(args):
        _check_csv(args)
        results = gpu_cli.measured(args)
        if results is not None:
            _finish(args, results)
        return 0
    bench_gpu.refuse(args, bench_gpu.GPU_ONLY, bench_gpu.FOR_GPUS)
    asked = wanted(args.compiler, args.compilerFlags, args.traverse, args.against, args.compile_limit)
    found = references.find(asked) if not args.list else None
    if found is not None and not found.peers:
        raise OptionError(f"--compiler={args.compiler}: no reference is left to compare with")
    settings = cli_run.settings(args, () if found is None else found.peers)
    chosen = cli_run.chosen(args, settings)
    if found is None:
        cli_run.print_list(chosen)
        return 0
    _check_csv(args)
    keys = settings.keys(chosen)
    file, there = cli_run.known(keys, args.output)
    cli_run.notify(found.notices)
    done = {result.key for result in there}
    _build(found, [case.problem for key, case in keys.items() if key not in done])
    _finish(args, cli_run.measure(len(chosen), file, there, partial(run, chosen, settings)))
    return 0


def _build(found: references.Found, problems: Sequence[Any]) -> None:
    """Compile everything first: nothing else runs while something is timed."""
    with Display(sys.stderr.isatty(), None, label="compiling") as display:
        found.prepare(problems, lambda done, total: display.draw(completed=done, total=total))
    found.check_own(problems)


def _finish(args: argparse.Namespace, results: Sequence[Result]) -> None:
    if args.csv is not None:
        try:
            whole_file.write(args.csv, table.to_csv(results))
        except OSError as error:
            raise OptionError(f"--csv={args.csv} cannot be written: {error.strerror or error}") from None
    print("\n".join(table.lines(results)))


def _check_csv(args: argparse.Namespace) -> None:
    """Hours of measuring must not end at a mistyped folder, or at another's file."""
    if args.csv is None:
        return
    path = Path(args.csv)
    marks.check_file(path, args.force, lambda data: data.startswith(table.to_csv(()).encode()))
    try:
        is_new = not os.path.exists(path)
        with open(path, "ab"):
            pass
        if is_new:
            os.unlink(path)
    except OSError as error:
        raise OptionError(f"--csv={path} cannot be written: {error.strerror or error}") from None

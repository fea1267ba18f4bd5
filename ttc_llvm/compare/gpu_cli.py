"""`ttc compare --architecture=cuda`: kernels for a GPU beside the naive one, by nvcc and by LLVM."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from ..bench import cli_run, gpu_cli
from ..bench.results import Result
from ..errors import OptionError
from . import gpu_references
from .cli_references import wanted

SUITES = ("ttc57",)
CPU_ONLY = ("numThreads", "affinity", "pattern", "database", "time_limit", "ignoreDatabase")


def measured(args: argparse.Namespace) -> Sequence[Result] | None:
    """Measure what is asked for; None where cases were listed only. Raises TtcError subclasses."""
    gpu_cli.refuse(args, CPU_ONLY, gpu_cli.FOR_CPUS)
    cases = gpu_cli.chosen(args, SUITES)
    if args.list:
        cli_run.print_list(cases)
        return None
    asked = wanted(args.compiler, args.compilerFlags, args.traverse, args.against, args.compile_limit)
    how = gpu_cli.settings(args)
    found = gpu_references.find(asked, how.target)
    if not found.references:
        raise OptionError(f"--compiler={args.compiler}: no reference is left to compare with")
    found.prepare([case.problem for case in cases])
    return gpu_cli.measured(cases, replace(how, references=found.references), args.output, found.notices)

"""`ttc bench`: what this machine can do, beside its own ceilings and beside other libraries."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

from . import cli_run, gpu_cli, peers, report
from .cli_values import words
from .result_file import ResultFile
from .results import Result
from .runner import run
from .suites import SUITES


def add_parser(subparsers: Any) -> None:
    """Add `bench` to the sub-commands of a parser."""
    parser = subparsers.add_parser(
        "bench",
        help="measure suites of transpositions beside this machine's ceilings and other libraries",
        description="Measure suites of transpositions, each beside plain copies of the same bytes in the same run, and"
        " beside other libraries where they are present. Sizes are about 200 MiB a tensor: a suite takes a while.",
        epilog=f"Suites: {', '.join(SUITES)}. Results in a file given by --output are not measured again.",
    )
    cli_run.add_cases(parser, cli_run.BOTH)
    cli_run.add_search(parser)
    gpu_cli.add_gpu(parser)
    _add_peers(parser)
    cli_run.add_output(parser)


def _add_peers(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("other libraries")
    add = group.add_argument
    add("--peers", metavar="NAME,..", help=f"of {', '.join(peers.NAMES)}, or none; default: all that are present,"
        " save hptt-measure, which plans up to 10 s a case")  # fmt: skip
    add("--hptt", metavar="PATH", help="a shared library of HPTT")
    add("--mkl", metavar="PATH", help="libmkl_rt, where it is not found by itself")


def run_command(args: argparse.Namespace) -> int:
    """Carry out what `add_parser` has parsed; returns the exit status. Raises TtcError subclasses."""
    if args.report is not None:
        _print(ResultFile(args.report).read())
        return 0
    if gpu_cli.wanted(args):
        return gpu_cli.run_command(args)
    gpu_cli.refuse(args, gpu_cli.GPU_ONLY, gpu_cli.FOR_GPUS)
    found = peers.find(_peer_names(args.peers), args.hptt, args.mkl) if not args.list else peers.Found((), ())
    settings = cli_run.settings(args, found.peers)
    chosen = cli_run.chosen(args, settings)
    if args.list:
        cli_run.print_list(chosen)
        return 0
    file, there = cli_run.known(settings.keys(chosen), args.output)
    cli_run.notify(found.notices)
    _print(cli_run.measure(len(chosen), file, there, partial(run, chosen, settings)))
    return 0


def _print(results: Sequence[Result]) -> None:
    print("\n".join(report.lines(results)))


def _peer_names(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return () if text == "none" else words("--peers", text)

"""`ttc bench`: what this machine can do, beside its own ceilings and beside other libraries."""

from __future__ import annotations

import argparse
from typing import Any

from ..bench import contraction_cases, peers, report
from ..bench.contender import FoundPeers
from ..bench.cpu_runner import Settings
from ..bench.gpu_runner import GpuSettings
from ..bench.suites import GPU_SUITES, SUITES
from . import bench_contractions
from . import bench_options as cli_options
from . import bench_run as cli_run
from .bench_options import option, words
from .options import with_examples

DEFAULT = {False: cli_options.DEFAULT, True: tuple(GPU_SUITES)}
CPU_ONLY = ("hptt", "mkl")


def add_parser(subparsers: Any) -> None:
    """Add `bench` to the sub-commands of a parser."""
    parser = subparsers.add_parser(
        "bench",
        help="measure suites of transpositions beside this machine's ceilings and other libraries",
        description="Measure suites of transpositions, each beside plain copies of the same bytes in the same run, and"
        " beside other libraries where they are present. Sizes are about 200 MiB a tensor: a suite takes a while.",
        epilog=with_examples(
            f"Suites: {', '.join(SUITES)}; of contractions: {', '.join(contraction_cases.SUITES)}. Results of"
            " transpositions in a file given by --output are not measured again.",
            "ttc bench --bytes=8M --cases=::8 --effort=measure",
            "ttc bench --suite=ttc57 --dtype=float32 --threads=4 --output=here.jsonl",
        ),
    )
    cli_options.add_cases(parser, cli_options.BOTH)
    cli_options.add_search(parser)
    cli_options.add_gpu(parser)
    _add_peers(parser)
    cli_options.add_output(parser)


def _add_peers(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("other libraries")
    add = group.add_argument
    add("--peers", metavar="NAME,..", help=f"of {', '.join(peers.NAMES)}, or none; default: all that are present,"
        " save hptt-measure, which plans up to 10 s a case")  # fmt: skip
    add("--hptt", metavar="PATH", help="a shared library of HPTT")
    add("--mkl", metavar="PATH", help="libmkl_rt, where it is not found by itself")


def run(args: argparse.Namespace) -> int:
    """Carry out what `add_parser` has parsed; returns the exit status. Raises TtcError subclasses."""
    if bench_contractions.is_asked_for(args):
        return bench_contractions.run(args)
    results = cli_run.results(args, DEFAULT, CPU_ONLY, _find)
    if results is not None:
        print("\n".join(report.lines(results)))
    return 0


def _find(args: argparse.Namespace, how: Settings | GpuSettings) -> FoundPeers:
    names = option(args, "peers", lambda flag, text: () if text == "none" else words(flag, text))
    return peers.find(names, args.hptt, args.mkl) if isinstance(how, Settings) else peers.find_gpu(names)

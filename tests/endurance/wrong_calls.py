"""Wrong calls of public names, and wrong command lines: each ends with a result, or with one sentence of a TtcError.

Nothing is written outside a temporary folder, and nothing is timed for long.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import wrong_lines
import wrong_values
from campaign import Campaign, options
from wrong_python import Call

from ttc_llvm.cli import bench_run as cli_run
from ttc_llvm.cli import compare as compare_cli
from ttc_llvm.cli import compare_single as cli_single
from ttc_llvm.cli import info
from ttc_llvm.cli.options import SUBCOMMANDS
from ttc_llvm.compiling import compiler
from ttc_llvm.runtime import runtime

SMALL = 1 << 12  # elements of a problem that is timed


@contextmanager
def ground() -> Iterator[Path]:
    """A temporary current folder, home and database; searches time few candidates, benches nothing."""
    before = Path.cwd()
    folder = Path(tempfile.mkdtemp(prefix="wrong_calls"))
    environment = {"HOME": str(folder), "TTC_DATABASE": str(folder / "solutions.sqlite3")}
    os.chdir(folder)
    try:
        (folder / "file").write_bytes(bytes(range(256)))
        (folder / "json").write_text('[{"perm": [1, 0], "size": [4, 5], "alpha": 1e999}]')
        (folder / "deep.json").write_text("[" * 100_000)
        (folder / "lines").write_text('{"suite": 1, "ours": 2}\n{"effort": 1, "versions": 2}\n\n')
        with mock.patch.dict(os.environ, environment), _quick():
            wrong_values.nouns()
            yield folder
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _quick() -> Iterator[None]:
    """Behind all checks less is done: two candidates in 10 ms for a small problem, none for others, and no bench."""
    plan_canonical = compiler.plan_canonical

    def bounded(canonical: Any, given: Any, *rest: Any) -> Any:
        most = 1 if canonical.elements > SMALL else min(given.max_implementations, 2)
        return plan_canonical(canonical, replace(given, max_implementations=most, threads=1, time_limit=0.01), *rest)

    with (
        mock.patch.object(compiler, "plan_canonical", bounded),
        mock.patch.object(runtime, "_chosen", [1]),
        mock.patch.object(cli_run, "measure", lambda *_: ()),
        mock.patch.object(compare_cli, "_build", lambda *_: None),
        mock.patch.object(cli_single, "compare", lambda *_: None),
        mock.patch.object(info, "measure_ceilings", lambda *_: ({}, False)),
    ):
        yield


def attack(campaign: Campaign, count: int, seconds: float = float("inf")) -> None:
    """Rounds of the campaign, a wrong call each."""
    with ground() as folder:
        for number in campaign.rounds(count, seconds):
            draw = random.Random(f"{campaign.seed} {number}")
            if draw.random() < 0.6:
                call = Call(draw)
                subject, outcome = str(call), call.outcome()
                campaign.met(f"python {outcome.word}", f"call {call.name}")
            else:
                wrong_values.write_files(folder, draw)
                argv = wrong_lines.command_line(draw)
                subject, outcome = ascii(argv)[:300], wrong_lines.outcome(argv)
                campaign.met(f"ttc {outcome.word}", f"ttc {argv[0] if argv and argv[0] in SUBCOMMANDS else 'compiles'}")
            if outcome.fault:
                campaign.fail(number, f"{subject}: {outcome.fault!a}")


def main() -> int:
    """Run the campaign that the arguments ask for."""
    args = options("wrong_calls", 20_000).parse_args()
    campaign = Campaign.resumed("wrong_calls", args.seed, args.state)
    attack(campaign, args.count, args.seconds)
    return campaign.finish()


if __name__ == "__main__":
    raise SystemExit(main())

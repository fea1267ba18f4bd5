"""Wrong command lines: the options of every sub-command, from the program's own tables, with wrong values."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from typing import Any
from unittest import mock

from wrong_outcome import LONGEST, Outcome, Stuck, watched, where
from wrong_values import TEXTS

from ttc_llvm import cli
from ttc_llvm.cli import bench as bench_cli
from ttc_llvm.cli import compare as compare_cli
from ttc_llvm.cli import database as database_cli
from ttc_llvm.cli import explain as explain_cli
from ttc_llvm.cli import info
from ttc_llvm.cli import report_pages as report_cli
from ttc_llvm.cli.options import OPTIONS, SUBCOMMANDS, Parser

UNPUBLISHED = ("internal error", "Traceback")
FIXED = {  # what a sub-command ("" = none) mostly gets, so that it does something
    "": ("--perm=1,0", "--size=4,5", "--maxImplementations=1"), "explain": ("--perm=1,0", "--size=4,5"),
    "bench": ("--bytes=4K", "--cases=0"), "compare": ("--bytes=4K", "--cases=0", "--compiler=llvm"),
    "info": (), "database": (), "report": (),
}  # fmt: skip
ACTIONS = ("list", "show", "export", "import", "clear", "path", "", "x")


@lru_cache(maxsize=1)
def flags() -> Mapping[str, tuple[tuple[str, bool], ...]]:
    """The options of every sub-command, and whether they take a value."""
    subparsers = Parser(prog="ttc").add_subparsers(dest="command")
    for module in (info, database_cli, bench_cli, compare_cli, report_cli):
        module.add_parser(subparsers)
    explain = Parser(add_help=False)
    explain_cli._add_own(explain)
    own = tuple((option.flag, bool(option.metavar)) for option in OPTIONS)
    alone = tuple((flag, False) for flag in ("--version", "--cmake-dir", "-v", "--help"))
    found = {name: _flags(parser) for name, parser in subparsers.choices.items()}
    return found | {"": own + alone, "explain": own + _flags(explain)}


def _flags(parser: Any) -> tuple[tuple[str, bool], ...]:
    return tuple((flag, action.nargs != 0) for action in parser._actions for flag in action.option_strings)


def command_line(draw: random.Random) -> list[str]:
    """A command line of one sub-command, some of its options, most of them with wrong values."""
    name = draw.choice(("", "", *SUBCOMMANDS))
    found = [name] if name else []
    if name == "database":
        found.append(draw.choice(ACTIONS))
    found += FIXED[name] if draw.random() < 0.85 else ()
    for _ in range(draw.choice((1, 1, 2, 3))):
        flag, valued = draw.choice(flags()[name])
        text = draw.choice(TEXTS)
        found += [flag] if not valued else draw.choice(([f"{flag}={text}"], [f"{flag}={text}"], [flag, text]))
    if name in ("report", "database") or draw.random() < 0.1:
        found.append(draw.choice(TEXTS))
    if draw.random() < 0.1:
        draw.shuffle(found)
    return found


def outcome(argv: Sequence[str]) -> Outcome:
    """Run a command line in this process."""
    out, err, given = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(3))
    try:
        with watched(), redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "stdin", given):
            status = cli.main(argv)
    except (Exception, SystemExit, Stuck) as error:
        return Outcome("fault", where(error))
    err.flush()
    text = bytes(err.buffer.getvalue()).decode()
    return Outcome(f"exit {status}", _status_fault(status, text))


def _status_fault(status: int, text: str) -> str:
    lines = text.splitlines()
    errors = [line for line in lines if line.startswith("ttc: error: ")]
    if status not in (0, 2) or any(word in text for word in UNPUBLISHED):
        return f"status {status}: {text[:300]!r}"
    if any(not line.startswith("ttc: ") for line in lines):
        return f"stderr holds more than our lines: {text[:300]!r}"
    if len(errors) != (status == 2) or any(len(line) > LONGEST for line in errors):
        return f"status {status} with {len(errors)} errors: {text[:300]!r}"
    return ""

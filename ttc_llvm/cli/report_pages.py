"""`ttc report`: a page with pictures out of what was measured."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..native import publish
from ..report import changes, inputs, writer
from .messages import say
from .options import with_examples
from .report import print_lines

OUTPUT = "report"


def add_parser(subparsers: Any) -> None:
    """Add `report` to the sub-commands of a parser."""
    parser = subparsers.add_parser(
        "report",
        help="a page with pictures out of results of bench and compare",
        description="Write one self-contained page, and its pictures as PNG and SVG: bandwidth, speedups, affinity,"
        " ranking quality, planning time, a table that can be sorted, and the data. Figures that lack data are left"
        " out; the page says which command measures it. Of two files of results, the second is also compared with the"
        " first, case by case. Needs matplotlib: pip install 'ttc_llvm[report]'.",
        epilog=with_examples("", "ttc report here.jsonl compare.jsonl --output=page"),
    )
    help = "results of ttc bench or ttc compare, an export of ttc database, or the database itself"
    parser.add_argument("files", metavar="FILE", nargs="+", help=help)
    parser.add_argument("--output", metavar="DIR", help=f"where files are written; default: {OUTPUT}/")
    parser.add_argument("--page-only", action="store_true", help="no picture files beside the page")
    parser.add_argument("--force", action="store_true", help="replace files of these names that ttc has not written")
    parser.add_argument("--title", metavar="TEXT", default="", help="of the page; default: what was measured")


def run(args: argparse.Namespace) -> int:
    """Carry out what `add_parser` has parsed; returns the exit status. Raises TtcError subclasses."""
    found = inputs.read(args.files)
    if found.changes is not None:
        print_lines([*changes.lines(found.changes), ""])
        if args.output is None and not writer.can_draw():  # the comparison is there, and no page was asked for
            say(f"warning: {writer.MISSING}")
            return 0
    elif len(found.runs) == len(found.files) == 2:
        say(f"{' and '.join(found.files)} have no case in common: they are not compared")
    folder = Path(OUTPUT if args.output is None else args.output)
    publish.made(folder, "--output")
    written = writer.write(found, folder, args.title, args.page_only, args.force)
    print(f"{written[0]}: {len(found.measured)} results, {len(written) - 1} picture files")
    return 0

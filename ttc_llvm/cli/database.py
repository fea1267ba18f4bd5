"""`ttc database`: list, show, export, import and clear the stored solutions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from math import inf
from typing import Any, cast

from ..compiling.exports import Imported, export_solutions, import_solutions
from ..errors import OptionError
from ..lowering.plan_text import modern
from ..problem.tables import wrapped
from ..problem.wording import count
from ..runtime import here, kernel
from ..tuning.database import exchange
from ..tuning.database.exchange import lines_of
from ..tuning.database.field_rules import EXHAUSTIVE
from ..tuning.database.folders import choose_path
from ..tuning.database.notices import printable
from ..tuning.database.outcomes import Cleared, Listed
from ..tuning.database.records import Record
from ..tuning.database.solution_file import SolutionFile
from ..tuning.measurement import WAS_BUSY
from ..tuning.search.leaderboard import CHOICE
from . import database_list
from .database_list import milliseconds
from .options import with_examples
from .report import print_lines, print_object

Subparsers = Any  # argparse's own type of it is private
Action = Callable[[SolutionFile, argparse.Namespace], "int | None"]

_LABEL = 14  # columns


def add_parser(subparsers: Subparsers) -> None:
    """Add `database` and its actions to the sub-commands of a parser."""
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--database", metavar="PATH", help="default: $TTC_DATABASE, or the user's cache")
    top = subparsers.add_parser("database", parents=[common], help="list, export, import, clear solutions",
        epilog=with_examples("", "ttc database list", "ttc help database export"))  # fmt: skip
    actions = top.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, help: str, carry_out: Action, example: str = "") -> Callable[..., Any]:
        epilog = with_examples("", f"ttc database {name} {example}".rstrip())
        parser = actions.add_parser(name, parents=[common], help=help, description=help, epilog=epilog)
        parser.set_defaults(carry_out=carry_out)
        return cast(Callable[..., Any], parser.add_argument)

    add = action("list", "list solutions", _list, "--json")
    add("--json", action="store_true", help="all, as JSON, with timings")
    add("--all", action="store_true", help="also code for arrays of any extents")
    add = action("show", "show one solution with its timings", _show, "4f1c09")
    add("id", help="of a solution; its first digits suffice")
    add("--json", action="store_true", help="as JSON")
    add = action("export", "write all solutions to a file", _export, "solutions.jsonl --no-objects")
    add("file", metavar="FILE", help="JSON lines; - is the standard output")
    add("--no-objects", action="store_true", help="leave the machine code out")
    add("--force", action="store_true", help="replace FILE, also where it is no export")
    add = action("import", "merge an export: plans and timings", _import, "solutions.jsonl")
    add("file", metavar="FILE", help="an export; - is the standard input")
    add("--with-code", action="store_true", help="machine code, too: it will run here as yours")
    add("--no-objects", action="store_true", help=argparse.SUPPRESS)
    add = action("clear", "remove solutions", _clear, "--older --yes")
    add("ids", metavar="ID", nargs="*", help="remove these; first digits suffice")
    add("--all", action="store_true", help="remove all; a damaged file is moved aside")
    add("--older", action="store_true", help="remove what other versions of ttc or LLVM made")
    add("--yes", action="store_true", help="do not ask")
    action("path", "print the path of the database", lambda file, args: print(file.path))


def run(args: argparse.Namespace) -> int:
    """Carry out what `add_parser` has parsed and return the exit status. Raises DatabaseError or OptionError."""
    file = SolutionFile(choose_path(getattr(args, "database", None)))
    carry_out: Action = args.carry_out
    return carry_out(file, args) or 0


def _list(file: SolutionFile, args: argparse.Namespace) -> None:
    rows = file.rows()
    if args.json:
        print_object("solutions", {"solutions": [_summary(row) for row in rows]})
    elif not rows:
        print(f"no solutions in {file.path}")
    else:
        print_lines(database_list.lines(rows, args.all))


def _summary(row: Listed) -> dict[str, Any]:
    fields = {"id": row.record.request.id, "packed_object_bytes": row.packed_bytes}
    return fields | exchange.to_fields(row.record, objects=False)


def _show(file: SolutionFile, args: argparse.Namespace) -> None:
    record = file.show(args.id, kernel.versions())
    fields = {"id": record.request.id} | exchange.to_fields(record, objects=False)
    sizes = {name: len(data) for name, data in record.objects}
    if args.json:
        print_object("solution", fields | {"object_bytes": sizes})
        return
    del fields["timings"], fields["format"], fields["extra"]
    fields |= {"plan": modern(record.plan), "effort": _effort(record), "provisional": _foundation(record)}
    _line("asked", database_list.problem_line(record))
    for name, value in fields.items():
        _line(name, printable("" if value is None else str(value)))
    for name, size in sizes.items():
        _line("object", f"{printable(modern(name))} ({size} bytes)")
    _print_timings(record)


def _line(name: str, text: str) -> None:
    print_lines(wrapped(text, f"{name + ':':{_LABEL}}", " " * _LABEL))


def _effort(record: Record) -> str:
    """The candidates of a search: allowed, and timed."""
    if record.seconds is None:
        return f"{record.effort}, nothing was timed"
    timed = "an unknown number" if record.timed is None else str(record.timed)
    allowed = "the whole space" if record.effort == EXHAUSTIVE else f"up to {record.effort} candidates"
    return f"{allowed}, {timed} timed"


def _foundation(record: Record) -> str:
    if not record.provisional:
        return "0"
    again = "the next request times it again" if record.is_due else "not timed again"
    return f"{record.provisional} ({WAS_BUSY}: {again})"


def _print_timings(record: Record) -> None:
    """The timings that are stored, the fastest run first, and how the plan was chosen where that is not the first."""
    timings = sorted(record.timings, key=lambda t: min(t.seconds, default=inf))
    if not timings:
        return
    kept = f"{len(timings)} kept of {record.timed}" if record.timed else f"{len(timings)} kept"
    _line("timings", f"{kept}, by the fastest run; * = the plan above")
    for timing in timings:
        best, mark = milliseconds(min(timing.seconds, default=None)), "*" if timing.plan == record.plan else " "
        runs = count(len(timing.seconds), "run")
        _line("timing", f"{mark} {best} ms (best of {runs}) {printable(modern(timing.plan))}")
    if timings[0].plan != record.plan:
        _line("choice", CHOICE)


def _export(file: SolutionFile, args: argparse.Namespace) -> None:
    if args.file == "-":
        file.export(sys.stdout.buffer, kernel.versions(), objects=not args.no_objects)
        sys.stdout.buffer.flush()
        return
    count = export_solutions(args.file, database=file.path, with_code=not args.no_objects, overwrite=args.force)
    print(f"exported {_solutions(count)} to {args.file}")


def _import(file: SolutionFile, args: argparse.Namespace) -> None:
    if args.no_objects:
        raise OptionError("import takes no machine code any more, unless --with-code is given: leave --no-objects out")
    if args.file == "-":
        found = Imported.of(file.import_(lines_of(sys.stdin.buffer), "standard input", objects=args.with_code))
    else:
        found = import_solutions(args.file, database=file.path, with_code=args.with_code)
    coded = f", {found.coded} stored with code" if args.with_code else ""
    print(f"read {_solutions(found.read)}, {found.changed} of them new or better than what was stored{coded}")


def _clear(file: SolutionFile, args: argparse.Namespace) -> int:
    if [bool(args.ids), args.all, args.older].count(True) != 1:
        raise OptionError("clear needs exactly one of --all, --older and IDs: nothing was removed")
    what = "all solutions" if args.all else "those of other versions" if args.older else " ".join(args.ids)
    if not args.yes and sys.stdin.isatty() and not _confirmed(f"remove {what} from {file.path}?"):
        print("nothing was removed")
        return 1
    print(_outcome(file, _cleared(file, args)))
    return 0


def _cleared(file: SolutionFile, args: argparse.Namespace) -> Cleared:
    if args.all:
        return file.clear()
    return file.clear_older(kernel.versions(), here.VERSIONS) if args.older else file.delete(args.ids)


def _outcome(file: SolutionFile, cleared: Cleared) -> str:
    if cleared.moved is not None:
        return f"{file.path} was damaged and is now {cleared.moved}"
    return f"removed {_solutions(cleared.rows)} from {file.path}"


def _confirmed(question: str) -> bool:
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _solutions(number: int) -> str:
    return count(number, "solution")

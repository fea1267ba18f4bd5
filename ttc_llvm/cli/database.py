"""`ttc database`: list, show, export, import and clear the stored solutions."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DatabaseError, OptionError
from ..native import marks
from ..native.whole_file import whole_file
from ..problem.wording import printable
from ..tuning import exchange
from ..tuning.database import SolutionFile, choose_path
from ..tuning.exchange import lines_of
from ..tuning.records import EXHAUSTIVE, Record
from ..tuning.solution_file import Cleared, Listed

Subparsers = Any  # argparse's own type of it is private
Versions = Callable[[], str]

_ID_DIGITS = 10
_HEADINGS = ("id", "problem", "target", "threads", "mode", "options", "effort", "ms", "KiB", "created")


def add_parser(subparsers: Subparsers) -> None:
    """Add `database` and its actions to the sub-commands of a parser."""
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--database", metavar="PATH", help="default: $TTC_DATABASE, or the user's cache")
    top = subparsers.add_parser("database", parents=[common], help="list, export, import, clear solutions")
    actions = top.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, action in _ACTIONS.items():
        parser = actions.add_parser(name, parents=[common], help=action.help, description=action.help)
        action.configure(parser)


def run(args: argparse.Namespace, versions: Versions) -> int:
    """Carry out what `add_parser` has parsed and return the exit status.

    versions: gives the text that requests of the running program carry. Raises DatabaseError or OptionError.
    """
    file = SolutionFile(choose_path(getattr(args, "database", None)))
    return _ACTIONS[args.action].run(file, args, versions)


def _configure_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON, with timings")


def _list(file: SolutionFile, args: argparse.Namespace, versions: Versions) -> int:
    rows = file.rows()
    if args.json:
        print(json.dumps([_summary(row) for row in rows], indent=1))
    elif not rows:
        print(f"no solutions in {file.path}")
    else:
        _print_table([_cells(row) for row in rows])
    return 0


def _summary(row: Listed) -> dict[str, Any]:
    fields = {"id": row.record.request.id, "packed_object_bytes": row.packed_bytes}
    return fields | exchange.to_fields(row.record, objects=False)


def _cells(row: Listed) -> tuple[str, ...]:
    record, request = row.record, row.record.request
    cells = (
        request.id[:_ID_DIGITS],
        request.problem,
        _machine(request.target),
        str(request.threads),
        request.mode,
        request.options,
        _effort(record),
        _milliseconds(record.seconds),
        f"{row.packed_bytes / 1024:.1f}",
        record.created,
    )
    return tuple(map(printable, cells))


def _print_table(rows: list[tuple[str, ...]]) -> None:
    if not sys.stdout.isatty():
        print("\n".join("\t".join(cells) for cells in (_HEADINGS, *rows)))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None)
    for heading in _HEADINGS:  # problems may fold, but a shortened ID would be of no use
        table.add_column(heading, overflow="fold", min_width=_ID_DIGITS if heading == "id" else None)
    for cells in rows:
        table.add_row(*map(Text, cells))
    Console().print(table)


def _configure_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="of a solution; its first digits suffice")
    parser.add_argument("--json", action="store_true", help="as JSON")


def _show(file: SolutionFile, args: argparse.Namespace, versions: Versions) -> int:
    record = file.show(args.id, versions())
    fields = {"id": record.request.id} | exchange.to_fields(record, objects=False)
    sizes = {name: len(data) for name, data in record.objects}
    if args.json:
        print(json.dumps(fields | {"object_bytes": sizes}, indent=1))
        return 0
    del fields["timings"], fields["format"]
    for name, value in fields.items():
        print(f"{name + ':':14}{printable('' if value is None else str(value))}".rstrip())
    for name, size in sizes.items():
        print(f"{'object:':14}{printable(name)} ({size} bytes)")
    for timing in sorted(record.timings, key=lambda t: min(t.seconds, default=float("inf"))):
        best = _milliseconds(min(timing.seconds, default=None))
        print(f"{'timing:':14}{best} ms (best of {len(timing.seconds)}) {printable(timing.plan)}")
    return 0


def _configure_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="JSON lines; - is the standard output")
    parser.add_argument("--no-objects", action="store_true", help="leave the machine code out")
    parser.add_argument("--force", action="store_true", help="replace FILE, also where it is no export")


def _export(file: SolutionFile, args: argparse.Namespace, versions: Versions) -> int:
    if args.file == "-":
        file.export(sys.stdout.buffer, versions(), objects=not args.no_objects)
        sys.stdout.buffer.flush()
        return 0
    if os.path.exists(args.file) and file.path.exists() and os.path.samefile(args.file, file.path):
        raise OptionError(f"{args.file} is the database itself: export to another file")
    marks.check_file(Path(args.file), args.force, exchange.is_export)
    with _failing(f"export to {args.file}"), whole_file(args.file) as stream:
        count = file.export(stream, versions(), objects=not args.no_objects)
    print(f"exported {_count(count)} to {args.file}")
    return 0


def _configure_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="an export; - is the standard input")
    parser.add_argument("--with-code", action="store_true", help="machine code, too: it will run here as yours")
    parser.add_argument("--no-objects", action="store_true", help=argparse.SUPPRESS)


def _import(file: SolutionFile, args: argparse.Namespace, versions: Versions) -> int:
    if args.no_objects:
        raise OptionError("import takes no machine code any more, unless --with-code is given: leave --no-objects out")
    if args.file == "-":
        found = file.import_(lines_of(sys.stdin.buffer), "standard input", objects=args.with_code)
    else:
        with _failing(f"import of {args.file}"), open(args.file, "rb") as stream:
            found = file.import_(lines_of(stream), args.file, objects=args.with_code)
    coded = f", {sum(one.coded for one in found)} stored with code" if args.with_code else ""
    changed = sum(one.changed for one in found)
    print(f"read {_count(len(found))}, {changed} of them new or better than what was stored{coded}")
    return 0


@contextmanager
def _failing(what: str) -> Iterator[None]:
    """Files that cannot be opened, read or written are errors of the database's own kind."""
    try:
        yield
    except OSError as error:
        raise DatabaseError(f"{what} failed: {error.strerror}") from None


def _configure_clear(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", metavar="ID", nargs="*", help="remove these; first digits suffice")
    parser.add_argument("--all", action="store_true", help="remove all; a damaged file is moved aside")
    parser.add_argument("--older", action="store_true", help="remove what other versions of ttc or LLVM made")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _clear(file: SolutionFile, args: argparse.Namespace, versions: Versions) -> int:
    if [bool(args.ids), args.all, args.older].count(True) != 1:
        raise OptionError("clear needs exactly one of --all, --older and IDs: nothing was removed")
    what = "all solutions" if args.all else "those of other versions" if args.older else " ".join(args.ids)
    if not args.yes and sys.stdin.isatty() and not _confirmed(f"remove {what} from {file.path}?"):
        print("nothing was removed")
        return 1
    print(_outcome(file, _cleared(file, args, versions)))
    return 0


def _cleared(file: SolutionFile, args: argparse.Namespace, versions: Versions) -> Cleared:
    if args.all:
        return file.clear()
    return file.clear_older(versions()) if args.older else file.delete(args.ids)


def _outcome(file: SolutionFile, cleared: Cleared) -> str:
    if cleared.moved is not None:
        return f"{file.path} was damaged and is now {cleared.moved}"
    return f"removed {_count(cleared.rows)} from {file.path}"


def _confirmed(question: str) -> bool:
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _path(file: SolutionFile, args: argparse.Namespace, versions: Versions) -> int:
    print(file.path)
    return 0


def _count(number: int) -> str:
    return "1 solution" if number == 1 else f"{number} solutions"


def _machine(target: str) -> str:
    """A target's CPU and vector bits; its features, some hundred, are left to `show`."""
    words = target.split(" ")
    return " ".join((words[1], words[-1])) if len(words) > 2 else target


def _effort(record: Record) -> str:
    return "all" if record.effort == EXHAUSTIVE else str(record.effort)


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.4g}"


@dataclass(frozen=True, slots=True)
class _Action:
    help: str
    run: Callable[[SolutionFile, argparse.Namespace, Versions], int]
    configure: Callable[[argparse.ArgumentParser], None] = lambda parser: None


_ACTIONS = {
    "list": _Action("list all solutions", _list, _configure_list),
    "show": _Action("show one solution with its timings", _show, _configure_show),
    "export": _Action("write all solutions to a file", _export, _configure_export),
    "import": _Action("merge an export: plans and timings", _import, _configure_import),
    "clear": _Action("remove solutions", _clear, _configure_clear),
    "path": _Action("print the path of the database", _path),
}

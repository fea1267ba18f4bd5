"""The command line: `ttc` compiles, `ttc bench` and `ttc compare` measure, `ttc report` and `ttc explain` show, and
`ttc info` and `ttc database` tell what is there.

Exit status: 0 for a result (also where Ctrl-C cut the tuning short: the best so far is the result), 2 for
what cannot be done, said in one line on stderr, 130 for Ctrl-C before any result, 141 for a reader that
went away, 1 for a defect of ttc itself.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ..arguments import cut, word
from ..errors import OptionError, TtcError
from .messages import say

if TYPE_CHECKING:
    from .options import Parser

LONGEST = 1000  # characters of an error, which may hold a path of any length
_log = logging.getLogger(__name__)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (default: the process' own) and return its exit status; raises only KeyboardInterrupt."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:  # NumPy's: a process of ours multiplies nothing, and each thread takes 32 MiB
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name, access in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller: no file of ours may take its number
            setattr(sys, name, open(os.devnull, access))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a path may hold anything
            stream.reconfigure(errors="backslashreplace")
    with _logging(verbose="--verbose" in argv or "-v" in argv):
        return _guarded(lambda: _command(argv))


def _command(argv: list[str]) -> int:
    from .options import COMPILE, SUBCOMMANDS, parser
    from .reading import read

    for argument in argv:
        word("argument", argument)
    if argv[:1] == ["help"]:
        argv = _help(argv[1:])
    if argv[:1] == [COMPILE]:
        argv = argv[1:]
    if argv and argv[0] in SUBCOMMANDS:
        return _subcommand(argv)
    if "--version" in argv:
        from .. import __version__

        print(f"ttc {__version__}")
        return 0
    if "--help" in argv or "-h" in argv:
        print(parser().format_help(), end="")  # argparse's own print hides a broken pipe
        return 0
    if "--cmake-dir" in argv:
        print(Path(__file__).parent.parent.absolute() / "cmake")
        return 0
    if not argv:
        raise OptionError("--perm and --size are missing: ttc --help shows how they are given")
    command = read(argv)
    from . import compile as cli_compile  # NumPy and the rest, not needed for help and mistakes
    from . import contract as cli_contract
    from . import gpu as gpu_cli
    from . import gpu_group as cli_group
    from . import library as cli_library

    if gpu_cli.wanted(command) and command.einsum is None:
        return gpu_cli.run(command) if command.manifest is None else cli_group.run(command)
    if cli_library.wanted(command):
        return cli_library.run(command)
    return cli_compile.run(command) if command.einsum is None else cli_contract.run(command)


def _help(argv: list[str]) -> list[str]:
    """The arguments that ask for the help which `ttc help` and what follows it mean."""
    from .options import COMPILE, SUBCOMMANDS

    if argv and argv[0] not in (COMPILE, *SUBCOMMANDS):
        raise OptionError(f"help {cut(argv[0])}: the commands are {', '.join((COMPILE, *SUBCOMMANDS))}")
    return [*argv, "--help"]


def _subcommand(argv: list[str]) -> int:
    from .options import typed

    if argv[0] == "explain":
        from . import explain as explain_cli  # takes the options of a compilation, by their own table

        return explain_cli.run(argv[1:])
    parsers = subcommands()
    args, others = parsers.parse_known_args(argv)
    if others:
        parsers.prog = f"ttc {args.command}"
        parsers.error(f"unrecognized arguments: {' '.join(others)}")
    args.flags, args.words = typed(argv), argv
    return int(_commands()[args.command].run(args))


def subcommands() -> Parser:
    """The parser of all sub-commands but `explain`."""
    from .options import Parser

    top = Parser(
        prog="ttc", description="Sub-commands; without one, ttc compiles: see ttc --help.", add_help=False
    )
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in _commands().values():
        command.add_parser(subparsers)
    return top


def _commands() -> dict[str, ModuleType]:
    """The modules of sub-commands: each has `add_parser` and `run`."""
    from . import bench, compare, database, info, report_pages

    return {"info": info, "database": database, "bench": bench, "compare": compare, "report": report_pages}


def _guarded(work: Callable[[], int]) -> int:
    try:
        status = work()
        sys.stdout.flush()
        return status
    except SystemExit as stop:  # argparse, after it has printed its help
        return stop.code if isinstance(stop.code, int) else 0
    except BrokenPipeError:
        _forget_stdout()
        return 141
    except (TtcError, OSError) as error:
        return _fail(f"error: {error}")
    except MemoryError:
        return _fail("error: out of memory")
    except ImportError as error:
        return _fail(f"error: {_first_cause(error)}")
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # so Python up to 3.11 wraps one that strikes __set_name__
            raise error.__cause__ from None
        _log.info("the defect, for a report", exc_info=True)
        hint = "please report it; --verbose shows where"
        return _fail(f"internal error: {type(error).__name__}: {error} ({hint})", 1)


def _first_cause(error: BaseException) -> BaseException:
    """NumPy explains at length that it cannot be imported; the loader's reason is behind it."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _fail(message: str, status: int = 2) -> int:
    say(cut(" ".join(message.split()), LONGEST))
    return status


def _forget_stdout() -> None:
    """Nobody reads any more: what is still buffered must not fail again when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


class _ToStderr(logging.Handler):
    """Log lines for people, to whatever sys.stderr is now: a progress bar may have replaced it."""

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError):
            level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
            print(f"ttc: {level}{self.format(record)}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _logging(verbose: bool) -> Iterator[None]:
    logger, handler = logging.getLogger("ttc_llvm"), _ToStderr()
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]

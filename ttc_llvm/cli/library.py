"""`ttc --manifest=FILE`, `ttc --emit=static`: many problems checked, compiled one after the other, written as one."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..compiling import library
from ..compiling.library import Library
from ..errors import OptionError, TtcError
from ..lazy_dataclasses import dataclass
from ..native import library_files
from ..native.package_files import LIBRARIES
from ..problem import names, wording
from ..runtime import interrupts, runtime
from . import compile as cli_compile
from . import contract as cli_contract
from . import library_report as cli_library_report
from . import manifest, reading
from .compile import CheckedCommand
from .contract import CheckedContraction
from .manifest import ManifestEntry
from .options import OPTIONS, VERSION, Option
from .reading import Command
from .report import Compilation

_log = logging.getLogger(__name__)

# What every problem has of its own, and what states none.
IN_MANIFEST = ("perm", "size", "lda", "ldb", "strides_a", "strides_b", "plan", "einsum", "strides_c")


Job = CheckedCommand | CheckedContraction


@dataclass(frozen=True, slots=True)
class LibraryMember:
    """A problem of a library, checked. stem: its C name; entry: where it stands, None for the command line."""

    job: Job
    stem: str
    entry: ManifestEntry | None = None


def wanted(command: Command) -> bool:
    """True where a command asks for a library."""
    if command.manifest is not None or not {*LIBRARIES, library_files.PLAN}.isdisjoint(command.emit):
        return True
    needed = "it needs --manifest, or --emit=static, shared or plan"
    if command.name is not None:
        raise OptionError(f"--name={command.name} names a library: {needed}")
    if command.library_version != VERSION:
        raise OptionError(f"--library-version={command.library_version} is of a library: {needed}")
    return False


def run(command: Command) -> int:
    """Check everything, compile problem by problem, write all files at once, report; returns the exit status."""
    listed = prepare(command)
    name = _name(command, listed)
    problems, target = [one.job.problem for one in listed], listed[0].job.machines[0]
    names = library_files.file_names(name, problems, command.emit, command.library_version, command.symbols)
    if cli_compile.asked_only(command, names, target.triple):
        return 0
    library_files.check(problems, target, command.symbols, command.emit)
    cli_compile.check_folder(command, names)
    for one in listed:
        if isinstance(one.job, CheckedCommand):
            cli_compile.check_kept(one.job)
    start = time.perf_counter()
    outcomes = _compiled(listed)
    made = Library(name, tuple(outcome.solution for outcome in outcomes), command.library_version)
    written = made.write(command.output_dir, command.emit, **cli_compile.asked(command)) if command.emit else ()
    kept = [path for one, outcome in zip(listed, outcomes, strict=True) if isinstance(one.job, CheckedCommand)
            for path in cli_compile.kept(one.job, outcome.solution)]  # fmt: skip
    finished = cli_library_report.Finished(made, tuple(outcomes), (*written, *kept), time.perf_counter() - start)
    if command.json:
        cli_library_report.print_json(finished)
    elif not command.quiet:
        cli_library_report.print_summary(finished)
    return 0


# --- checking ---------------------------------------------------------------------------------------------


def prepare(command: Command) -> tuple[LibraryMember, ...]:
    """The problems of a command, each once; nothing is written. Raises TtcError subclasses."""
    library.check_version(command.library_version)
    for flag, value in (("--compiler", command.compiler), ("--against", command.against)):
        if value is not None:
            raise OptionError(f"{flag} compares a single problem's solution: a library has none; see ttc compare")
    if command.name is not None:
        library.check_name(command.name)
    if command.manifest is None:
        job = _checked(command)
        return (LibraryMember(job, names.stem(job.problem)),)
    return _distinct(of_manifest(command, command.manifest, _checked))


def of_manifest(command: Command, path: str, checked: Callable[[Command], Any]) -> list[tuple[ManifestEntry, Any]]:
    """Check each problem of a manifest by a function: its results. Errors begin with file and line."""
    for field in IN_MANIFEST:
        if getattr(command, field) is not None:
            raise OptionError(f"--{field} contradicts --manifest: every problem stands in the manifest")
    found = []
    for entry in manifest.read(path):
        with placed(entry):
            found.append((entry, checked(reading.command(entry.given, command, entry.flags))))
    return found


def _checked(command: Command) -> Job:
    return (cli_compile.prepare if command.einsum is None else cli_contract.prepare)(command)


@contextlib.contextmanager
def placed(entry: ManifestEntry | None) -> Iterator[None]:
    """Let errors begin with file and line of the entry."""
    try:
        yield
    except TtcError as error:
        if entry is None:
            raise
        raise type(error)(f"{entry.place(str(error))}: {error}") from error


def _distinct(found: Sequence[tuple[ManifestEntry, Job]]) -> tuple[LibraryMember, ...]:
    """Each problem once: the same one again is said and left out. OptionError for others of one name."""
    kept: dict[str, tuple[ManifestEntry, Job]] = {}
    for entry, job in found:
        stem = names.stem(job.problem)
        first, earlier = kept.setdefault(stem, (entry, job))
        if first is entry:
            continue
        option = _difference(earlier.command, job.command)
        if option is not None:
            key = job.command.flag(option.flag)[2:]
            given, before = (_shown(getattr(command, option.field)) for command in (job.command, earlier.command))
            raise OptionError(
                f"{entry.place(key)}: {key} = {given} clashes with line {first.line}, where {stem} has {before}:"
                " one kernel serves all values, so a library holds one"
            )
        _log.warning("%s: %s is already on line %d: it is built once", entry.place(), stem, first.line)
    return tuple(LibraryMember(job, stem, entry) for stem, (entry, job) in kept.items())


def _difference(first: Command, second: Command) -> Option | None:
    """An option in which two problems of one name differ."""
    named = {*IN_MANIFEST, "data_type"}
    if first.loop_perm is None:  # which is read in that order, as what the name tells is
        named.add("order")
    for option in OPTIONS:
        differs = getattr(first, option.field) != getattr(second, option.field)
        if differs and option.field not in named:
            return option
    return None


def _shown(value: object) -> str:
    if isinstance(value, (int, float, complex)):
        return wording.number(value)
    return "no value" if value is None else str(value)


def _name(command: Command, listed: tuple[LibraryMember, ...]) -> str:
    if command.name is not None:
        return command.name
    name = listed[0].stem if command.manifest is None else Path(command.manifest).stem
    try:
        library.check_name(name)
    except OptionError as error:
        raise OptionError(f"{error}: give --name") from None
    return name


# --- compiling --------------------------------------------------------------------------------------------


def _compiled(listed: tuple[LibraryMember, ...]) -> list[Compilation]:
    """Solutions in the order of the manifest. Ctrl-C ends the run: what is finished is in the database."""
    runtime.set_affinity(listed[0].job.affinity)
    outcomes: list[Compilation] = []
    with interrupts.raised(), interrupts.noted() as seen:
        for number, one in enumerate(listed, 1):
            _log.info("problem %d of %d: %s", number, len(listed), one.stem)
            try:
                with placed(one.entry):
                    outcomes.append(_outcome(one.job, f"{number}/{len(listed)} {one.stem}"))
                if seen:
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"interrupted, nothing is written: {number - 1} of {len(listed)} problems are done and stored,"
                    " the same command continues there"
                ) from None
    return outcomes


def _outcome(job: Job, label: str) -> Compilation:
    if isinstance(job, CheckedContraction):
        return cli_contract.compiled(job, label)
    return cli_compile.compiled(job, label)

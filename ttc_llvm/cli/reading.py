"""Reading an argument list by the table of options: what it gives, and the command that it makes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import OptionError
from ..machine.gpu_target import is_gpu
from .options import OPTIONS, SUBCOMMANDS, Option, parser

OBJECT_EMIT = ("obj", "header")
LIBRARY_EMIT = ("static",)
GPU_EMIT = ("kernel", "header")  # kernel: PTX, or a code object for AMD


@dataclass(frozen=True, slots=True)
class Command:
    """The options of a command line, read but not yet checked against each other; None = not given."""

    perm: tuple[int, ...] | None
    size: tuple[int, ...] | None
    data_type: str
    alpha: complex
    beta: complex
    lda: tuple[int, ...] | None
    ldb: tuple[int, ...] | None
    order: str
    conjugate: bool
    max_implementations: int
    time_limit: float | None
    num_threads: int | None
    affinity: str | None
    architecture: str | None
    cpu: str | None
    compiler: str | None
    compiler_flags: str | None
    traverse: str
    against: str | None
    streaming_stores: bool
    prefetch_distances: tuple[int, ...] | None
    blockings: tuple[tuple[int, int], ...] | None
    loop_perm: tuple[tuple[int, ...], ...] | None
    threads_per_block: int | None
    no_align: bool
    no_vec: bool
    generate_only: bool
    no_test: bool
    hot_a: bool
    hot_b: bool
    ignore_database: bool
    database: str | None
    output_dir: str
    emit: tuple[str, ...]
    force: bool
    keep: bool
    json: bool
    verbose: bool
    quiet: bool
    manifest: str | None
    name: str | None
    library_version: str
    list_files: bool


def read(arguments: Sequence[str]) -> Command:
    """The command of an argument list. OptionError for unknown options, missing and malformed values."""
    return command(given(arguments))


def given(arguments: Sequence[str]) -> dict[str, Any]:
    """The options in an argument list: texts by field, True for switches. OptionError for unknown options."""
    texts, unknown = parser().parse_known_args(joined(arguments))
    if unknown:
        raise OptionError(_unknown(unknown[0]))
    found = ((option.field, getattr(texts, option.field)) for option in OPTIONS)
    return {field: value for field, value in found if value is not None and value is not False}


def command(given: Mapping[str, Any], base: Command | None = None) -> Command:
    """The command of what is given; the rest is the base's, by default the options' defaults.

    OptionError for malformed values.
    """
    checked = {option.field: _value(option, given[option.field]) for option in OPTIONS if option.field in given}
    if base is not None:
        return replace(base, **checked)
    on_gpu = any(is_gpu(given.get(field, "")) for field in ("architecture", "cpu"))
    emit = LIBRARY_EMIT if "manifest" in given else GPU_EMIT if on_gpu else OBJECT_EMIT
    defaults = {option.field: option.default for option in OPTIONS} | {"emit": emit}
    return Command(**defaults | checked)


def joined(arguments: Sequence[str]) -> list[str]:
    """`--opt value` as `--opt=value`, so that values such as -1,2 are not taken for options."""
    valued = {option.flag for option in OPTIONS if option.metavar}
    found: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        value = next(rest, None) if argument in valued else None
        if value is not None and value.startswith("--"):
            raise OptionError(f"{argument} lacks its value: {value} follows")
        found.append(argument if value is None else f"{argument}={value}")
    return found


def _value(option: Option, text: Any) -> Any:
    if not option.metavar:
        return text
    try:
        return option.read(text)
    except OverflowError:
        raise OptionError(f"{option.flag}={text[:80]}: the number is out of range") from None
    except ValueError as error:
        raise OptionError(f"{option.flag}={text[:80]}: {error}") from None


def _unknown(argument: str) -> str:
    name = argument.partition("=")[0]
    if not name.startswith("-"):
        return f"unexpected argument {name[:40]!r}: options begin with --, sub-commands are {', '.join(SUBCOMMANDS)}"
    flags = {option.flag.lower(): option.flag for option in OPTIONS}
    flags |= {flag: flag for flag in ("--help", "--version", "--cmake-dir")}
    begun = [flag for flag in flags if len(name) > 3 and flag.startswith(name.lower())]
    near = begun or difflib.get_close_matches(name.lower(), flags, n=3, cutoff=0.6)
    hint = f"near matches are {', '.join(flags[flag] for flag in near)}" if near else "ttc --help lists all"
    return f"unknown option {name[:40]}: {hint}"

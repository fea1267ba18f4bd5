"""Reading an argument list by the table of options: what it gives, and the command that it makes."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..errors import OptionError
from ..lazy_dataclasses import dataclass, field, replace
from ..machine.gpu_target import is_gpu
from ..problem import interface
from ..problem.interface import Symbols
from .options import IDLE, OPTIONS, SUBCOMMANDS, Option, parser, spellings_of, typed

_log = logging.getLogger(__name__)

OBJECT_EMIT = ("obj", "header")
LIBRARY_EMIT = ("static",)
GPU_EMIT = ("kernel", "header")  # kernel: PTX, or a code object for AMD


@dataclass(frozen=True, slots=True)
class Command:
    """The options of a command line, read but not yet checked against each other; None = not given.

    flags: how options that have aliases were written, by their first name.
    """

    perm: tuple[int, ...] | None
    terms: tuple[tuple[complex, tuple[int, ...]], ...]
    size: tuple[int, ...] | None
    data_type: str
    alpha: complex
    beta: complex
    lda: tuple[int, ...] | None
    ldb: tuple[int, ...] | None
    strides_a: tuple[int, ...] | None
    strides_b: tuple[int, ...] | None
    order: str | None
    conjugate: bool
    saturate: bool
    inplace: bool
    einsum: str | None
    strides_c: tuple[int, ...] | None
    conjugate_b: bool
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
    plan: str | None
    threads_per_block: tuple[int, ...] | None
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
    prefix: str
    visibility: str
    force: bool
    keep: bool
    json: bool
    verbose: bool
    quiet: bool
    manifest: str | None
    name: str | None
    library_version: str
    list_files: bool
    print_target: bool
    flags: Mapping[str, str] = field(default_factory=dict)

    @property
    def symbols(self) -> Symbols:
        """The names and visibility of entries. OptionError for what cannot be a prefix or a visibility."""
        return interface.symbols(self.prefix, self.visibility)

    def flag(self, name: str) -> str:
        """An option as it was written."""
        return self.flags.get(name, name)


def read(arguments: Sequence[str]) -> Command:
    """The command of an argument list. OptionError for unknown options, missing and malformed values."""
    return command(given(arguments), flags=typed(arguments))


def given(arguments: Sequence[str]) -> dict[str, Any]:
    """The options in an argument list: texts by field, True for switches. OptionError for unknown options."""
    for argument in arguments:
        if argument in IDLE:
            _log.warning("%s does nothing: %s", argument, IDLE[argument])
    words = joined([one for one in arguments if one not in IDLE])
    plain = [_plain(word) for word in words]
    if all(plain):  # as in lines of manifests, of which there may be many
        return dict(one for one in plain if one)
    texts, unknown = _parser().parse_known_args(words)
    if unknown:
        raise OptionError(_unknown(unknown[0]))
    found = ((option.field, getattr(texts, option.field)) for option in OPTIONS)
    return {field: value for field, value in found if value is not None and value is not False}


_parser = lru_cache(maxsize=1)(parser)
_BY_FLAG = {flag: option for option in OPTIONS for flag in spellings_of(option.flag)}


def _plain(word: str) -> tuple[str, Any] | None:
    """The field and value of a word that is an option in full with what it takes; None where argparse has to look."""
    flag, equals, text = word.partition("=")
    option = _BY_FLAG.get(flag)
    if option is None or bool(option.metavar) != bool(equals) or text == "--":
        return None
    return option.field, text if equals else True


def command(given: Mapping[str, Any], base: Command | None = None, flags: Mapping[str, str] | None = None) -> Command:
    """The command of what is given; the rest is the base's, by default the options' defaults. flags: as in `Command`.

    OptionError for malformed values.
    """
    flags = flags or {}
    checked = {
        option.field: _value(option, flags.get(option.flag, option.flag), given[option.field])
        for option in OPTIONS
        if option.field in given
    }
    if base is not None:
        return replace(base, **checked, flags={**base.flags, **flags})
    if given.get("compiler") == "nvcc" and not {"architecture", "cpu"} & set(given):  # as in the original TTC
        given, checked = {**given, "architecture": "cuda"}, {**checked, "architecture": "cuda"}
    on_gpu = any(is_gpu(given.get(field, "")) for field in ("architecture", "cpu"))
    emit = GPU_EMIT if on_gpu else LIBRARY_EMIT if "manifest" in given else OBJECT_EMIT
    defaults = {option.field: option.default for option in OPTIONS} | {"emit": emit}
    return Command(**defaults | checked, flags=flags)


def joined(arguments: Sequence[str]) -> list[str]:
    """`--opt value` as `--opt=value`, so that values such as -1,2 are not taken for options."""
    found: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        value = next(rest, None) if argument in _BY_FLAG and _BY_FLAG[argument].metavar else None
        if value is not None and value.startswith("--"):
            raise OptionError(f"{argument} lacks its value: {value} follows")
        found.append(argument if value is None else f"{argument}={value}")
    return found


def _value(option: Option, flag: str, text: Any) -> Any:
    if not option.metavar:
        return text
    try:
        return option.read(text)
    except OverflowError:
        raise OptionError(f"{flag}={text[:80]}: the number is out of range") from None
    except ValueError as error:
        raise OptionError(f"{flag}={text[:80]}: {error}") from None


def _unknown(argument: str) -> str:
    name = argument.partition("=")[0]
    if not name.startswith("-"):
        fact = f"unexpected argument {name[:40]!r}: options begin with --"
        return f"{fact}; sub-commands, which come before options, are {', '.join(SUBCOMMANDS)}"
    flags = {flag.lower(): flag for option in OPTIONS for flag in spellings_of(option.flag)}
    flags |= {flag: flag for flag in ("--help", "--version", "--cmake-dir")}
    begun = [flag for flag in flags if len(name) > 3 and flag.startswith(name.lower())]
    near = begun or difflib.get_close_matches(name.lower(), flags, n=3, cutoff=0.6)
    hint = f"near matches are {', '.join(flags[flag] for flag in near)}" if near else "ttc --help lists all"
    return f"unknown option {name[:40]}: {hint}"

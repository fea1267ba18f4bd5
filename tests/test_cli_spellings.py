"""The command line takes what its users write: aliases, efforts by name, the original TTC's options, `ttc help`."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Ttc

import ttc_llvm
from ttc_llvm import Problem, cli
from ttc_llvm.cli import command, explain, manifest, options, reading, values
from ttc_llvm.errors import OptionError
from ttc_llvm.problem import type_names
from ttc_llvm.tuning.efforts import EFFORTS, effort

TINY = ("--perm=1,0", "--size=48,32")
UNTIMED = "--effort=estimate"

pytestmark = pytest.mark.usefixtures("own_place")


def told(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 2) -> str:
    """What a command line of this status says on stderr."""
    assert cli.main(arguments) == status
    return capsys.readouterr().err


# --- aliases ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("--dtype=float64", "--dataType=d"), ("--floatType=d", "--dataType=d"),
        ("--dtype=float32,float64", "--dataType=sd"),
        ("--dtype=>i2", "--dataType=i16"), ("--threads=1", "--numThreads=1"), ("--effort=1", "--maxImplementations=1"),
        ("--effort=measure", "--maxImplementations=20"), ("--maxImplementations=exhaustive", "--maxImplementations=-1"),
        ("--use-streamingStores", "--streamingStores"), ("--numThreads=0", ""), ("--affinity=", ""),
    ],
)  # fmt: skip
def test_an_alias_means_the_same(written: str, first: str) -> None:
    commands = [reading.read([*TINY, *filter(None, [one])]) for one in (written, first)]
    fields = [{option.field: getattr(one, option.field) for option in options.OPTIONS} for one in commands]
    types = [Problem((), (), found.pop("data_type")) for found in fields]
    assert fields[0] == fields[1] and types[0] == types[1]


def test_a_result_by_aliases(ttc: Ttc) -> None:
    found = ttc(*TINY, "--dtype", "float64", "--threads", "1", "--effort", "measure", "--affinity=compact,1,0")
    assert (found["problem"]["dataType"], found["threads"], found["affinity"]) == ("d", 1, "compact,1")
    assert 1 < found["measurement"]["candidates"] <= EFFORTS["measure"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("--effort=0", "--effort=0: a count from 1"), ("--effort=hard", "--effort=hard: a count from 1"),
        ("--maxImplementations=hard", "--maxImplementations=hard: a count"),
        ("--threads=two", "--threads=two: 'two' is"),
        ("--dtype=float", "data type 'float' is float32 to some and float64 to others"),
        ("--dtype=>f4 --alpha=2", "data type >f4 admits plain moves only"),
        ("--floatType=bool --conjugate", "conjugate needs a complex data type, not bool"),
        ("--use-streamingStores --beta=1", "--use-streamingStores cannot be had with beta = 1: B"),
        ("--use-streamingStores --no-align", "--use-streamingStores contradicts --no-align"),
        ("--cpu=sm_90 --threads=2 --generateOnly", "--threads is for CPUs"),
        ("--cpu=sm_90 --numThreads=2 --generateOnly", "--numThreads is for CPUs"),
        ("--dtpe=s", "near matches are --dtype"), ("--thread=2", "near matches are --threads"),
    ],
)  # fmt: skip
def test_messages_have_the_option_as_it_was_written(
    capsys: pytest.CaptureFixture[str], written: str, said: str
) -> None:
    message = told(capsys, *TINY, *written.split())
    assert said in message
    assert message.count("\n") == 1


@pytest.mark.parametrize("name", ["bench", "compare"])
@pytest.mark.parametrize("words", ["--threads=0 --effort=estimate --dtype=float32", "--numThreads=0 --dataType=<f4,d",
                                   "--effort=measure --floatType=s --affinity="])  # fmt: skip
def test_benchmarks_take_them_too(capsys: pytest.CaptureFixture[str], name: str, words: str) -> None:
    assert cli.main([name, *words.split(), "--bytes=8K", "--cases=0", "--list"]) == 0
    assert " s " in capsys.readouterr().out


@pytest.mark.parametrize("name", ["bench", "compare"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--threads=-1", "--threads=-1: a number"), ("--effort=x", "--effort=x: a count"),
        ("--budget=1", "--budget is for"),
        ("--architecture=cuda --threads=1", "--threads is for CPUs"), ("--dtype=q", "unknown data type 'q'"),
        ("--time-limit=0", "--time-limit=0: a positive number of seconds"),
        ("--dtype=complex", "data type 'complex' is complex64 to some"),
    ],
)  # fmt: skip
def test_benchmarks_refuse_in_the_words_of_their_user(
    capsys: pytest.CaptureFixture[str], name: str, words: str, said: str
) -> None:
    assert said in told(capsys, name, *words.split(), "--cases=0", "--list")


def test_explain_takes_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", *TINY, "--dtype=float64", "--threads=1", UNTIMED, "--stage=problem"]) == 0
    assert "type float64" in capsys.readouterr().out
    assert "--effort=no: a count" in told(capsys, "explain", *TINY, "--effort=no")


# --- manifests -------------------------------------------------------------------------------------------------


def entries(text: str, name: str = "p.txt") -> tuple[manifest.ManifestEntry, ...]:
    """The problems of a manifest of this text."""
    Path(name).write_text(text)
    return manifest.read(name)


def test_manifests_take_aliases() -> None:
    lines = "--perm=1,0 --size=3,4 --dtype=float64 --threads=1 --effort=measure --use-streamingStores\n"
    items = '[{"perm": [1, 0], "size": [3, 4], "dtype": "float64", "threads": 1, "effort": "measure",' \
            ' "use-streamingStores": true}]'  # fmt: skip
    for found in (*entries(lines), *entries(items, "p.json")):
        made = reading.command(found.given, None, found.flags)
        assert (made.data_type, made.num_threads, made.max_implementations) == ("float64", 1, 20)
        assert made.streaming_stores and made.flag("--numThreads") == "--threads"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--perm=1,0 --size=3,4 --dtype=s --dataType=d", "p.txt:1: --dtype and --dataType are two names of one option"),
        ("--perm=1,0 --size=3,4 --dtype=s --dtype=d", "p.txt:1: --dtype is given twice"),
        ('[{"perm": [1,0], "dtype": "s",\n"dataType": "d"}]', "p.txt:2: dataType and dtype are two names"),
        ('[{"perm": [1,0], "size": [3,4],\n"dtype": "float"}]', "p.txt:2: data type 'float' is float32 to some"),
        ('[{"perm": [1,0], "size": [3,4],\n"dtype": "q"}]', "p.txt:2: unknown data type 'q'"),
        ('[{"perm": [1,0], "size": [3,4],\n"effort": "x"}]', "p.txt:2: --effort=x: a count"),
        ('[{"perm": [1,0], "size": [3,4],\n"effort": 0}]', "p.txt:2: --effort=0: a count"),
        ('[{"perm": [1,0], "size": [3,4],\n"effort": [1]}]', "p.txt:2: effort is [1]: an integer, or one of"),
        ('[{"perm": [1,0], "size": [3,4],\n"threads": "x"}]', 'p.txt:2: threads is "x": an integer is expected'),
        ("--perm=1,0 --size=3,4 --effort=3\n--perm=1,0 --size=3,4 --effort=4", "p.txt:2: effort = 4 clashes"),
    ],
)
def test_mistakes_of_manifests_have_the_key_as_it_was_written(
    capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    Path("p.txt").write_text(text)
    assert said in told(capsys, "--manifest=p.txt")


# --- efforts by name ---------------------------------------------------------------------------------------------


def test_efforts_are_the_same_everywhere() -> None:
    assert list(EFFORTS) == ["estimate", "measure", "patient", "exhaustive"]
    for name, count in EFFORTS.items():
        assert values.effort(name) == effort("effort", name) == count
    assert reading.read(TINY).max_implementations == EFFORTS["patient"]


def test_efforts_by_name_in_python() -> None:
    problem = Problem((1, 0), (48, 32))
    assert ttc_llvm.compile(problem, "estimate", ignore_database=True).measurement is None
    assert ttc_llvm.compile(problem, effort="estimate", ignore_database=True).measurement is None
    measured = ttc_llvm.compile(problem, effort="measure", threads=1).measurement
    assert measured is not None and 1 < len(measured.timings) <= 20
    import numpy as np

    x = np.arange(48 * 32, dtype="f4").reshape(48, 32)
    assert (ttc_llvm.transpose(x, effort="estimate") == x.T).all()
    assert (ttc_llvm.transpose(x, effort="measure") == x.T).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"effort": "hard"}, "effort 'hard' is unknown: the choices are estimate, measure, patient, exhaustive, or"),
        ({"effort": 0}, "effort 0 is neither a count"),
        ({"max_implementations": "hard"}, "max_implementations 'hard' is unknown"),
        ({"max_implementations": 1 << 40}, "max_implementations 1099511627776 is more than"),
        ({"max_implementations": 5, "effort": 5}, "max_implementations and effort are two names of one option"),
        ({"time_limit": -1}, "time_limit -1 s is not positive"),
        ({"target": "sm_90", "effort": 0}, "effort 0 is neither a count"),
    ],
)
def test_wrong_efforts_in_python_have_the_parameters_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=re.escape(said)):
        ttc_llvm.compile(Problem((1, 0), (48, 32)), **given)


# --- the original TTC --------------------------------------------------------------------------------------------


def test_a_command_line_of_its_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--beta=1.0 --maxImplementations=3 --numThreads=0 --compiler=icpc --affinity=compact,1 --floatType=s -v"
    assert cli.main(["--perm=1,0,2", "--size=10,12,16", *words.split(), "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["affinity"], found["measurement"]["candidates"]) == ("compact,1", 3)
    if shutil.which("icpc") is None:
        assert "ttc: warning: compiler icpc: it is not found, or no program: it is left out" in err
        assert found["comparison"] is None


def test_an_absent_compiler_beside_one_that_is_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*TINY, UNTIMED, "--compiler=llvm,nvc++-99.9", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == "ttc: warning: compiler nvc++-99.9: it is not found, or no program: it is left out\n"
    assert list(json.loads(out)["comparison"]["references"]) == ["llvm"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--compiler=llvm --generateOnly", "--compiler=llvm compares nothing: --generateOnly times nothing"),
        ("--compiler=llvm --hotA", "--compiler=llvm compares nothing: references run cold or hot"),
        ("--compiler=ibm", "--compiler=ibm compares nothing: IBM's compiler is none"),
        ("--updateDatabase", "--updateDatabase does nothing: every result is stored"),
        ("--papi", "--papi does nothing"), ("--mpi", "--mpi does nothing"),
        ("--dontCompile", "--dontCompile does nothing"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_here_is_said(capsys: pytest.CaptureFixture[str], words: str, said: str) -> None:
    err = told(capsys, *TINY, UNTIMED, *words.split(), status=0)
    assert err.startswith(f"ttc: warning: {said}") and err.count("\n") == 1


def test_threads_of_a_block_are_chosen_from_a_list(ttc: Ttc) -> None:
    for given, choices in (("128,512", (128, 512)), ("256", (256,))):
        found = ttc("--perm=1,0", "--size=999,777", "--cpu=sm_90", "--generateOnly", f"--threadsPerBlock={given}")
        assert found["launch"]["block"] in choices
        assert f"threads={found['launch']['block']}" in found["plan"]
    with pytest.raises(OptionError, match="forced threads 0 is less than 1"):
        ttc_llvm.GpuForced((128, 0))
    assert ttc_llvm.GpuForced((128, 128)) == ttc_llvm.GpuForced(128)
    shown = str(ttc_llvm.GpuForced()), str(ttc_llvm.GpuForced(128)), str(ttc_llvm.GpuForced((64, 128), (1, 0)))
    assert shown == ("", "threads=128", "threads=(64, 128) order=(1, 0)")  # what `ttc database list` prints


# --- help ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        ("help", "--help"), ("help compile", "--help"), ("compile --help", "--help"), ("help bench", "bench --help"),
        ("help explain", "explain -h"), ("help database", "database --help"),
        ("help database list", "database list -h"),
    ],
)  # fmt: skip
def test_help_is_a_command(capsys: pytest.CaptureFixture[str], asked: str, same: str) -> None:
    printed = []
    for words in (asked, same):
        assert cli.main(words.split()) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert printed[0].startswith("usage: ttc")


def test_help_on_what_is_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert "help benhc: the commands are compile, bench, compare, report" in told(capsys, "help", "benhc")


def test_compile_names_what_ttc_does_without_a_sub_command(ttc: Ttc) -> None:
    assert ttc("compile", *TINY, UNTIMED)["files"] == ttc(*TINY, UNTIMED, "--force")["files"]


def parsers(made: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser and those of its sub-commands."""
    yield made
    for action in made._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from parsers(one)


EVERY = (options.parser(), explain.explain_parser(), *list(parsers(command.subcommands()))[1:])


@pytest.mark.parametrize("made", EVERY, ids=[one.prog for one in EVERY])
def test_every_help_has_examples_that_can_be_read(made: argparse.ArgumentParser) -> None:
    lines = [line.strip() for line in made.format_help().splitlines() if line.startswith("  ttc ")]
    assert lines
    for line in lines:
        _, *words = shlex.split(line)
        assert line.startswith(made.prog) or words[0] == "help"
        if words[0] == "help":
            assert command._help(words[1:])[-1] == "--help"
        elif words[0] == "explain":
            read = reading.read([word for word in words[1:] if not word.startswith(("--stage", "--html"))])
            assert read.perm or read.einsum
        elif words[0].startswith("--"):
            reading.read(words)
        else:
            assert command.subcommands().parse_args(words).command == words[0]


# --- the page ----------------------------------------------------------------------------------------------------


def test_the_page_of_spellings_has_every_name() -> None:
    page = (Path(__file__).parent.parent / "docs" / "reference" / "spellings.md").read_text()
    lines = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("|")]
    rows = [[cell.strip().strip("`").split() for cell in line] for line in lines]
    table = {row[0][0]: row[1:] for row in rows}
    for canonical in ("s", "d", "c", "z", "f16", "bf16", "i8", "i16", "i32", "i64"):
        full, short = table[canonical]
        assert set(full) == {name for name, found in type_names.FULL.items() if found == canonical}
        assert {canonical, *short} == {canonical, *(name for name, one in type_names.SHORT.items() if one in full)}
    assert {name: [str(count)] for name, count in EFFORTS.items()} == {name: table[name][0] for name in EFFORTS}
    for flag, aliases in options.ALIASES.items():
        assert table[flag] == [list(aliases)]
    for word in (*type_names.AMBIGUOUS, *options.IDLE):
        assert word in page

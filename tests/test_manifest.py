"""Manifests: both forms mean the same, and whatever is wrong is one line with file, line and field."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ttc_llvm import cli
from ttc_llvm.cli import library as cli_library
from ttc_llvm.cli import manifest, manifest_fields, reading
from ttc_llvm.cli import options as cli_options
from ttc_llvm.cli.manifest import ManifestEntry
from ttc_llvm.errors import OptionError
from ttc_llvm.problem.contraction import Contraction
from ttc_llvm.problem.problem import Problem


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a database and a current directory of its own."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path.parent / f"{tmp_path.name}.sqlite3"))
    monkeypatch.chdir(tmp_path)


def entries(text: str, name: str = "p.txt") -> tuple[ManifestEntry, ...]:
    """The entries of a manifest with this text."""
    Path(name).write_text(text)
    return manifest.read(name)


def problems(text: str, *options: str, name: str = "p.txt") -> list[Problem | Contraction]:
    """The checked problems of a manifest with this text, with options beside it."""
    Path(name).write_text(text)
    listed = cli_library.prepare(reading.read([f"--manifest={name}", *options]))
    return [one.job.problem for one in listed]


TEXT = """\
# a comment, then a blank line

--perm=2,1,0 --size=8,16,16 --lda=32,32,32   # behind a problem, too
  --perm 1,0 --size "48, 32" --dataType=z --alpha=1,2 --beta -1.5 --conjugate
--perm=0,2,1 --size=9,33,40 --maxImplementations=7 --prefetchDistances=0,2 --loopPerm=0,1,2-2,1,0 --hotA
--perm=1,0 --size=256,256 --blockings=32x32,64x64 --time-limit=2.5 --numThreads=1 --streamingStores
"""
JSON = """\
[
  {"perm": [2, 1, 0], "size": [8, 16, 16], "lda": [32, 32, 32], "ldb": null, "conjugate": false},
  {"perm": [1, 0], "size": [48, 32], "dataType": "z",
   "alpha": [1, 2], "beta": -1.5, "conjugate": true},
  {"perm": [0, 2, 1], "size": [9, 33, 40], "maxImplementations": 7, "prefetchDistances": [0, 2],
   "loopPerm": [[0, 1, 2], [2, 1, 0]], "hotA": true},
  {"perm": [1, 0], "size": [256, 256], "blockings": [[32, 32], [64, 64]], "time-limit": 2.5, "numThreads": 1,
   "streamingStores": true}
]
"""


# --- what manifests mean ----------------------------------------------------------------------------------


def test_both_forms_mean_the_same() -> None:
    commands = [
        [reading.command(entry.given) for entry in entries(text, name)]
        for text, name in ((TEXT, "p.txt"), (JSON, "p.json"))
    ]
    assert commands[0] == commands[1]
    first, second, third, fourth = commands[0]
    assert (first.perm, first.lda, first.conjugate) == ((2, 1, 0), (32, 32, 32), False)
    assert (second.size, second.alpha, second.beta, second.conjugate) == ((48, 32), 1 + 2j, -1.5, True)
    assert (third.max_implementations, third.prefetch_distances, third.hot_a) == (7, (0, 2), True)
    assert third.loop_perm == ((0, 1, 2), (2, 1, 0))
    assert (fourth.blockings, fourth.time_limit, fourth.num_threads) == (((32, 32), (64, 64)), 2.5, 1)


def test_lines_are_counted() -> None:
    assert [entry.line for entry in entries(TEXT)] == [3, 4, 5, 6]
    found = entries(JSON, "p.json")
    assert [entry.line for entry in found] == [2, 3, 5, 7]
    assert found[1].place("alpha = 3 is") == "p.json:4" and found[1].place("--conjugate x") == "p.json:4"
    assert found[1].place("perm 1,1 is") == found[1].place("") == found[1].place("nothing") == "p.json:3"


def test_json_is_known_by_its_beginning_or_its_name() -> None:
    one = '[{"perm": [1, 0], "size": [3, 4]}]'
    assert entries(one, "plain") and entries("\n  " + one, "p.txt") and entries("\ufeff" + one, "bom")
    with pytest.raises(OptionError, match=r"p\.json:1: '-' stands|p\.json:1: a JSON manifest is a list"):
        entries("--perm=1,0 --size=3,4", "p.json")


def test_options_on_the_command_line_hold_for_every_problem() -> None:
    text = "--perm=1,0 --size=48,32\n--perm=1,0 --size=48,33 --dataType=s --alpha=3\n"
    assert problems(text, "--dataType=d", "--alpha=2") == [
        Problem((1, 0), (48, 32), "d", alpha=2),
        Problem((1, 0), (48, 33), "s", alpha=3),
    ]
    listed = cli_library.prepare(reading.read(["--manifest=p.txt", "--maxImplementations=5", "--cpu=haswell"]))
    assert [(one.job.options.max_implementations, one.job.options.target.cpu) for one in listed] == [(5, "haswell")] * 2


def test_false_in_json_undoes_a_switch() -> None:
    text = '[{"perm": [1, 0], "size": [4, 5], "dataType": "c", "conjugate": false}]'
    (found,) = problems(text, "--conjugate", name="p.json")
    assert isinstance(found, Problem) and not found.conjugate


def test_what_json_prints_can_be_a_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    """The `problem` of `ttc --json` is an object of a manifest."""
    assert cli.main(["--perm=1,0", "--size=9,8", "--dataType=c", "--beta=1j", "--generateOnly", "--json"]) == 0
    problem = json.loads(capsys.readouterr().out)["problem"]
    assert problems(json.dumps([problem]), name="p.json") == [Problem((1, 0), (9, 8), "c", beta=1j)]


def test_every_option_of_a_problem_has_a_form_in_json() -> None:
    """Adding an option with a new metavar without saying how JSON writes it fails here."""
    options = [o for o in cli_options.OPTIONS if o.field not in manifest_fields.RUN_WIDE and o.metavar]
    assert len(options) > 10
    assert all(option.metavar in manifest_fields.FORMS for option in options)


def test_contractions_are_in_manifests() -> None:
    """Beside transpositions, as text and as JSON."""
    size = {"i": 2, "k": 3, "j": 4}
    wanted = [
        Contraction("ik,kj->ij", size, "s"),
        Contraction("ik,kj->ij", size, "z", (3, 1), None, (1, 2), 2, 1j, False, True),
        Problem((1, 0), (3, 4)),
    ]  # fmt: skip
    text = """\
--einsum=ik,kj->ij --size=i:2,k:3,j:4
--einsum='ik,kj->ij' --size=i:2,k:3,j:4 --dtype=z --strides-a=3,1 --strides-c=1,2 --alpha=2 --beta=0,1 --conjugate-b
--perm=1,0 --size=3,4
"""
    assert problems(text) == wanted
    first: dict[str, Any] = {"einsum": "ik,kj->ij", "size": size}
    second = first | {"dataType": "z", "strides-a": [3, 1], "strides-c": [1, 2], "alpha": 2, "beta": [0, 1]}
    second["conjugate-b"] = True
    assert problems(json.dumps([first, second, {"perm": [1, 0], "size": [3, 4]}]), name="p.json") == wanted


def test_what_is_wrong_of_contractions_in_manifests(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {
        "--einsum=ik,kj->ij --size=i:2,k:3": "p.txt:1: size ",
        "--einsum=ik,kj->ij --size=i:2,k:3,j:4 --hotA": "p.txt:1: --hotA is an option of transpositions",
        "--einsum=ik,kj->ij --size=2,3,4": "p.txt:1: --einsum needs the extent of each index",
        "--perm=1,0 --size=3,4 --conjugate-b": "p.txt:1: --conjugate-b is an option of contractions",
    }
    for text, message in wrong.items():
        Path("p.txt").write_text(text)
        assert cli.main(["--manifest=p.txt"]) == 2
        assert message in capsys.readouterr().err
    sizes = {
        '{"i": "2"}': 'size is {"i": "2"}: an object of letters and integers is expected',
        '{"i": 2, "i": 3}': "i is given twice",
    }
    for size, message in sizes.items():
        Path("p.json").write_text(f'[{{"einsum": "ik,kj->ij",\n "size": {size}}}]')
        assert cli.main(["--manifest=p.json"]) == 2
        assert f"p.json:2: {message}" in capsys.readouterr().err


def test_the_schema_of_the_page_takes_each_form_of_a_problem() -> None:
    page = (Path(__file__).parent.parent / "docs" / "reference" / "manifests.md").read_text()
    found: dict[str, Any] = {}
    for code in re.findall(r"```{executed} python\n(.*?)```", page, re.DOTALL):
        exec(re.sub(r"(?m)^:\w.*$", "", code), found)
    one = found["schema"]["items"]
    keys = [form["required"][0] for form in one["oneOf"]]
    assert keys == ["perm", "terms", "einsum"]
    assert set(keys) <= set(one["properties"])


def test_a_duplicate_is_said_and_built_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.txt").write_text("--perm=1,0 --size=9,8\n\n--perm=1,0 --size=9,8 --lda=9,8\n--perm=0,1 --size=9,8\n")
    assert cli.main(["--manifest=p.txt", "--generateOnly", "--list-files"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "lib/libp.a"
    assert err == "ttc: warning: p.txt:3: sTranspose10_9x8 is already on line 1: it is built once\n"


# --- what is wrong ----------------------------------------------------------------------------------------

GOOD = "--perm=1,0 --size=3,4\n"
TEXT_FAULTS: list[tuple[str, int, str]] = [
    ("", 0, "there is no problem in this manifest"),
    ("# nothing\n\n", 0, "there is no problem in this manifest"),
    (f"{GOOD}--size=3,4\n", 2, "--perm is missing"),
    (f"{GOOD}--perm=1,0\n", 2, "--size is missing"),
    (f"{GOOD}\n--perm=1,1 --size=3,4\n", 3, "perm 1,1 is not a permutation"),
    (f"{GOOD}--perm=1,0 --size=3\n", 2, "size 3 has 1 extents"),
    ("--perm=1,0 --size=3,-4\n", 1, "size[1] = -4 is negative"),
    ("--perm=1,0 --size=3,x\n", 1, "--size=3,x: 'x' is not an integer"),
    ("--perm=1,0 --size=3,4 --lda=2,4\n", 1, "lda[0] = 2 is less than size[0] = 3"),
    ("--perm=1,0 --size=3,4 --dataType=q\n", 1, "unknown data type"),
    ("--prem=1,0 --size=3,4\n", 1, "unknown option --prem: near matches are --perm"),
    ("1,0 3,4\n", 1, "unexpected argument '1,0'"),
    ("--perm=1,0 --size=3,4 --perm=0,1\n", 1, "--perm is given twice"),
    ("--perm 1,0 --size=3,4 --hotA --hotA\n", 1, "--hotA is given twice"),
    ("--perm=1,0 --size\n", 1, "argument --size: expected one argument"),
    (f"{GOOD}--perm='1,0 --size=3,4\n", 2, "a quotation mark is missing at the end of the line"),
    (f"{GOOD}--perm=1,0 \\\n--size=3,4\n", 2, "a character behind the backslash is missing at the end of the line"),
    ("--perm=1,0 --size=3,4 --cpu=haswell\n", 1, "--cpu holds for a whole run"),
    ("--perm=1,0 --size=3,4 --output-dir=x\n", 1, "--output-dir holds for a whole run"),
    ("--perm=1,0 --size=3,4 --manifest=x\n", 1, "--manifest holds for a whole run"),
    ("--perm=1,0 --size=3,4 --database=x\n", 1, "--database holds for a whole run"),
    ("--perm=1,0 --size=3,4 --help\n", 1, "--help is no option of a problem"),
    ("--perm=1,0 --size=3,4 --version\n", 1, "--version is no option of a problem"),
    ("--perm=1,0 --size=3,4 --maxImplementations=0\n", 1, "--maxImplementations=0: a count from 1"),
    ("--perm=1,0 --size=3,4 --numThreads=-1\n", 1, "--numThreads=-1: a number from 1"),
    ("--perm=1,0 --size=3,4 --loopPerm=0\n", 1, "not a permutation"),
    (f"{GOOD}--perm=1,0 --size=3,4 --beta=2\n", 2, "beta = 2 clashes with line 1, where sTranspose10_3x4 has 0:"),
    (f"{GOOD}--perm=1,0 --size=3,4 --maxImplementations=5\n", 2, "maxImplementations = 5 clashes with line 1"),
    ("--perm=1,0 --size=4,3 --strides-a=2,8\n", 1, "strides_a 2,8 of extents 4,3 is stated by no outer sizes"),
]  # fmt: skip
JSON_FAULTS: list[tuple[str, int, str]] = [
    ("[]", 0, "there is no problem in this manifest"),
    ("", 1, "a JSON manifest is a list of objects"),
    ("{}", 1, "a JSON manifest is a list of objects"),
    ("[\n 3]", 2, "3 stands where an object"),
    ("[\n[]]", 2, "[] stands where an object"),
    ('[{"perm": [1,0], "size": [3,4]}\n', 2, "the text ends where JSON wants ',' or ']'"),
    ('[{"perm": [1,0], "size": [3,4]},]', 1, "Expecting value"),
    ('[{"perm": [1,0], "size": [3,4]}]\n\nx', 3, "'x' follows the end of the list"),
    ('[\n{"perm": [1,0],\n "size" [3,4]}]', 3, "'[' stands where JSON wants ':'"),
    ('[\n{"perm": [1,0],\n "size": [3,4],\n "size": [4,3]}]', 4, "size is given twice"),
    ('[\n{"perm": [1,0],\n "size": [3,4],\n "lad": [4,3]}]', 4, 'unknown key "lad": near matches are ldb'),
    ('[{"perm": [1,0],\n "size": [3,4],\n "beta": NaN}]', 3, "NaN is no number in JSON"),
    ('[{"perm": [1,0],\n "size": [3,4],\n "dataType": "q"}]', 3, "unknown data type 'q'"),
    ('[{"perm": [1,0],\n "size": [3,4],\n "threads": -1}]', 3, "--threads=-1: a number from 1"),
    ('[{"perm": [1,0],\n "size": [3,4],\n "time-limit": -1}]', 3, "--time-limit=-1: a positive number"),
    ('[{"perm": [1,0], "size": [3,4], "datatype": "d"}]', 1, 'unknown key "datatype": near matches are dataType'),
    ('[{"perm": [1,0], "size": [3,4], "%%": 3}]', 1, 'unknown key "%%": keys are perm, size, dataType'),
    ('[{"perm": [1,0], "size": [3,4], "cpu": "haswell"}]', 1, "cpu holds for a whole run"),
    ('[{"perm": [1,0], "size": [3,4], "emit": "obj"}]', 1, "emit holds for a whole run"),
    ('[{"size": [3,4]}]', 1, "--perm is missing"),
    ('[{}]', 1, "--perm is missing"),
    ('[{"perm": null, "size": [3,4]}]', 1, "--perm is missing"),
    ('[{"perm": "1,0", "size": [3,4]}]', 1, 'perm is "1,0": a list of integers is expected'),
    ('[{"perm": [1,0],\n"size": [3,4.0]}]', 2, "size is [3, 4.0]: a list of integers is expected"),
    ('[{"perm": [true,false], "size": [3,4]}]', 1, "perm is [true, false]: a list of integers is expected"),
    ('[{"perm": [1,0], "size": 12}]', 1, "size is 12: a list of integers is expected"),
    ('[{"perm": [1,0], "size": [3,4],\n"alpha": "2"}]', 2, 'alpha is "2": a number, or [real, imaginary] is expected'),
    ('[{"perm": [1,0], "size": [3,4], "alpha": [1,2,3]}]', 1, "a number, or [real, imaginary] is expected"),
    ('[{"perm": [1,0], "size": [3,4], "alpha": {"re": 1}}]', 1, 'alpha is {"re": 1}: a number'),
    ('[{"perm": [1,0], "size": [3,4], "hotA": 1}]', 1, "hotA is 1: true or false is expected"),
    ('[{"perm": [1,0], "size": [3,4], "dataType": 5}]', 1, "dataType is 5: a string is expected"),
    ('[{"perm": [1,0], "size": [3,4], "maxImplementations": 2.5}]', 1, "is 2.5: an integer, or one of estim"),
    ('[{"perm": [1,0], "size": [3,4], "time-limit": "1"}]', 1, 'time-limit is "1": a number is expected'),
    ('[{"perm": [1,0], "size": [3,4], "blockings": [[1]]}]', 1, "a list of pairs of integers is expected"),
    ('[{"perm": [1,0],\n\n"size": [3,-4]}]', 3, "size[1] = -4 is negative"),
    ('[{"perm": [1,0], "size": [3,4],\n"alpha": 1e300}]', 2, "alpha = (1e+300+0j) is beyond the range"),
    ('[{"perm": [1,0], "size": [3,4]},\n{"perm": [1,0], "size": [3,4],\n"beta": 1}]', 3, "beta = 1 clashes"),
    ("[" * 100000, 1, "lists are nested too deep"),
    ('[{"perm": [1,0], "size": [3,' + "9" * 5000 + "]}]", 1, "Exceeds the limit|not an integer"),
    ('[{3: 4}]', 1, "3 stands where a key is expected"),
    ('[{"perm": [1,0], "size": [3,4], "beta": 1,}]', 1, "Expecting value"),
]  # fmt: skip


def refusal(capsys: pytest.CaptureFixture[str], name: str) -> str:
    """What `ttc --manifest=NAME` says; it must be one line, exit 2 and nothing written."""
    before = sorted(Path().rglob("*"))
    assert cli.main([f"--manifest={name}", "--output-dir=out", "--emit=static,header,obj"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("ttc: error: ") and err.count("\n") == 1, err
    assert sorted(Path().rglob("*")) == before
    return err


def check_refusal(said: str, name: str, line: int, reason: str) -> None:
    """File, line (0: none) and the reason, one of several parted by |."""
    place = f"{name}:{line}: " if line else f"{name}: "
    assert said.startswith(f"ttc: error: {place}"), said
    assert any(part in said for part in reason.split("|")), said


@pytest.mark.parametrize(("text", "line", "reason"), TEXT_FAULTS, ids=[f"{r[:40]}" for _, _, r in TEXT_FAULTS])
def test_faults_of_texts(capsys: pytest.CaptureFixture[str], text: str, line: int, reason: str) -> None:
    Path("bad.txt").write_text(text)
    check_refusal(refusal(capsys, "bad.txt"), "bad.txt", line, reason)


@pytest.mark.parametrize(("text", "line", "reason"), JSON_FAULTS, ids=[f"{r[:40]}" for _, _, r in JSON_FAULTS])
def test_faults_of_json(capsys: pytest.CaptureFixture[str], text: str, line: int, reason: str) -> None:
    Path("bad.json").write_text(text)
    check_refusal(refusal(capsys, "bad.json"), "bad.json", line, reason)


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"# fine\n--perm=1,0 --size=3,4 # \xff\n", 2, "byte 0xff is not UTF-8 text"),
        ("--perm=1,0\n".encode("utf-16"), 1, "byte 0xff is not UTF-8 text"),
        (b"# fine\n\n--perm=1,0\0 --size=3,4", 3, "a NUL byte is not text"),
        (b"\x7fELF\x02\x01\x01\0\0\0", 1, "a NUL byte is not text"),
    ],
)
def test_bytes_that_are_no_text(capsys: pytest.CaptureFixture[str], data: bytes, line: int, reason: str) -> None:
    Path("bad.txt").write_bytes(data)
    check_refusal(refusal(capsys, "bad.txt"), "bad.txt", line, reason)


def test_files_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder").mkdir()
    for name, reason in (("missing", "No such file"), ("folder", "Is a directory"), ("", "No such file")):
        assert f"--manifest={name} cannot be read: {reason}" in refusal(capsys, name)
    assert "holds a NUL" in refusal(capsys, "nul\0byte")


def test_python_values_of_every_kind_are_refused_or_meant(capsys: pytest.CaptureFixture[str]) -> None:
    """No value of JSON, under no key, ends in a defect."""
    values: list[Any] = [None, True, 0, -1, 1.5, 10**30, "", "x", [], [0], [[]], [[1, 2]], {}, [None], ["1"], [1e400]]
    for option in cli_options.OPTIONS:
        for value in values:
            row = {"perm": [1, 0], "size": [3, 4]} | {option.flag[2:]: value}
            Path("p.json").write_text(json.dumps([row]))
            status = cli.main(["--manifest=p.json", "--list-files"])
            said = capsys.readouterr().err
            assert status in (0, 2) and said.count("\n") == (status == 2), (row, said)
            assert status == 0 or "p.json:1: " in said, (row, said)

"""Results: JSON lines that come back as they were, files that survive kills, and what is made of them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from ttc_llvm.bench import report
from ttc_llvm.bench.result_file import ResultFile
from ttc_llvm.bench.result_line import from_line, to_line
from ttc_llvm.bench.results import Reference, Result, Timing
from ttc_llvm.errors import OptionError
from ttc_llvm.tuning.measurement import GIB


def result(name: str = "00", seconds: float = 0.02, **changes: object) -> Result:
    """A result of 1 GiB moved: 50 GiB/s, and a ceiling of 62.5."""
    made = Result(
        key=f"key {name}",
        suite="ttc57",
        name=name,
        kind="update",
        mode="cold",
        threads=2,
        case=f"1,0 {name} s update cold",
        problem={"perm": [1, 0], "size": [4, 3], "dataType": "s"},
        canonical="s>s any-any 3:4:1 4:1:3",
        run_bytes=12,
        plan="cpu1 ...",
        source="tuned",
        candidates=100,
        verified=True,
        elapsed=3.5,
        ours=Timing(GIB, (2 * seconds, seconds, 4 * seconds)),
        ceiling="SAXPY",
        before=60.0,
        ceilings={"SAXPY": Timing(GIB, (0.016, 0.017)), "ordinary copy": Timing(GIB, (0.04,))},
        peers={"hptt": Timing(GIB, (0.06, 0.03, 0.04)), "numpy": Timing(GIB, (0.1,))},
        facts={"cpu": "a CPU", "versions": {"ttc_llvm": "0.1.0"}},
    )
    return replace(made, **changes)  # type: ignore[arg-type]


# --- a busy machine ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "busy"),
    [
        ({}, False),
        ({"before": 82.0}, True),  # the ceiling before the search and in the rounds
        ({"before": 48.0}, True),
        ({"before": 0.0}, False),
        ({"provisional": 1}, True),  # the search
        ({"facts": {"options": {"rounds": 4}}}, False),  # three of four rounds counted
        ({"facts": {"options": {"rounds": 5}}}, True),
        ({"facts": {"options": None}}, False),
        ({"ceilings": {"SAXPY": Timing(GIB, (0.016, 0.017, 0.03))}}, True),  # a device's rounds all count
        ({"ceilings": {}, "before": 0.0}, False),
    ],
)
def test_a_result_tells_whether_other_work_has_touched_it(changes: dict[str, object], busy: bool) -> None:
    one = replace(result(), **changes)  # type: ignore[arg-type]
    assert one.busy == busy
    assert json.loads(to_line(one))["busy"] == busy
    assert from_line(to_line(one)) == one
    notes = [line for line in report.lines([one, result("01")]) if line.endswith("this machine is busy")]
    assert len(notes) == (1 if busy else 0)


def test_lines_of_older_versions_are_read() -> None:
    fields = json.loads(to_line(result()))
    del fields["references"], fields["provisional"], fields["busy"]
    assert from_line(json.dumps(fields)) == result()


# --- values -----------------------------------------------------------------------------------------------


def test_ratios_come_from_the_best_runs_and_pairs_from_the_rounds() -> None:
    one = result()
    assert one.ours.gibs == pytest.approx(50)
    assert one.ratio == pytest.approx(0.016 / 0.02)
    assert one.ratio_to("ordinary copy") == pytest.approx(2)
    assert one.ratio_to("memcpy") is None
    assert one.drift == pytest.approx(62.5 / 60)
    assert one.speedup("hptt") == pytest.approx(1.5)
    assert one.pairs("hptt") == pytest.approx(1.5)  # the median of 0.06/0.04, 0.03/0.02 and 0.04/0.08
    assert one.pairs("numpy") == pytest.approx(2.5)


def test_a_ceiling_that_is_not_there_gives_no_ratio() -> None:
    bare = result(ceilings={}, before=0.0)
    assert (bare.ratio, bare.drift) == (None, None)
    assert from_line(to_line(bare)) == bare


def test_json_round_trip() -> None:
    one = result()
    assert from_line(to_line(one)) == one
    fields = json.loads(to_line(one))
    assert fields["ratio"] == 0.8
    assert fields["ratios"] == {"SAXPY": 0.8, "ordinary copy": 2.0}
    assert fields["peers"]["hptt"] == {
        "gibs": 33.333, "bytes": GIB, "seconds": [0.06, 0.03, 0.04], "speedup": 1.5, "pairs": 1.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    "line", ["", "{}", "[1]", "null", '{"format": 1}', to_line(result())[:-9], to_line(result()).replace("0.02", '"x"')]
)
def test_other_lines_are_no_results(line: str) -> None:
    with pytest.raises(OptionError, match="no result of a benchmark"):
        from_line(line)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("problem",), 1), (("problem", "perm"), "10"), (("problem", "size"), [1.5]), (("problem", "dataType"), None),
        (("kind",), "beta"), (("suite",), "\x1b[31m"), (("threads",), -1), (("run_bytes",), 1 << 63),
        (("candidates",), True), (("elapsed",), float("nan")), (("elapsed",), -1.0), (("verified",), "yes"),
        (("facts",), []), (("plan",), None), (("threads",), "two"),
        (("ours", "bytes"), 0), (("ours", "bytes"), float("inf")), (("ours", "seconds"), []),
        (("ours", "seconds"), [0.0]), (("ours", "seconds"), [1e300]), (("ceiling",), []),
        (("peers",), {"\t": {"bytes": 1, "seconds": [1]}}), (("references",), {"g++": {}}),
    ],
)  # fmt: skip
def test_results_that_no_report_could_show_are_refused(place: tuple[str, ...], value: object) -> None:
    fields = json.loads(to_line(result()))
    inner = fields
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    with pytest.raises(OptionError, match="no result of a benchmark"):
        from_line(json.dumps(fields))


def test_what_references_say_reaches_a_terminal_as_text() -> None:
    made = Reference("g++", "13\x1b[31m", ("-O3\n",), "output", 1.0, False, "failed\t")
    read = from_line(to_line(result(references={"g++": made}))).references["g++"]
    assert (read.version, read.flags, read.message) == ("13?[31m", ("-O3?",), "failed?")


def test_other_formats_are_refused() -> None:
    with pytest.raises(OptionError, match="format 2: this version reads 1"):
        from_line(to_line(result()).replace('"format": 1', '"format": 2'))


# --- files ------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> ResultFile:
    """A file that does not exist yet."""
    return ResultFile(tmp_path / "results.jsonl")


def test_what_is_appended_is_read(file: ResultFile) -> None:
    assert file.known() == ()
    file.prepare()
    for name in ("00", "01"):
        file.append(result(name))
    assert [one.name for one in file.read()] == ["00", "01"]
    assert file.known() == file.read()


def test_what_is_shown_at_once_is_what_a_report_shows_later(file: ResultFile) -> None:
    """A file holds five digits, of which a table shows four: rounded twice, 0.01119496 ms is 0.0112, once 0.01119."""
    measured = result(seconds=1.119496e-05)
    shown = file.append(measured)
    assert shown != measured
    assert (shown,) == file.read()


@pytest.mark.parametrize("kept", [1, 30, -1])
def test_a_torn_last_line_is_as_if_it_were_not_there(file: ResultFile, kept: int) -> None:
    file.append(result("00"))
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + whole[:kept])
    assert [one.name for one in file.read()] == ["00"]
    file.prepare()
    assert file.path.read_bytes() == whole
    file.append(result("01"))
    assert [one.name for one in file.read()] == ["00", "01"]


def test_a_file_of_something_else_is_left_alone(file: ResultFile) -> None:
    file.path.write_text("dear diary\nno newline")
    with pytest.raises(OptionError, match=r"results.jsonl, line 1: a line is no result of a benchmark: 'dear diary'"):
        file.known()
    assert file.path.read_text() == "dear diary\nno newline"


@pytest.mark.parametrize("text", ["my only copy, one line without newline", '{"format": 1, "mine": 2}'])
def test_one_line_of_something_else_is_left_alone(file: ResultFile, text: str) -> None:
    """It has no end, as the last line of a run that was killed."""
    file.path.write_text(text)
    for asked in (file.known, file.prepare, file.read):
        with pytest.raises(OptionError, match=f"line 1: a line is no result of a benchmark: {text[:12]!r}"[:-1]):
            asked()
    assert file.path.read_text() == text


def test_pipes_are_refused_as_they_are(tmp_path: Path) -> None:
    """Reading one that this process holds itself would never end."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(OptionError, match=f"{path.name} is no file"):
            ResultFile(path).known()


def test_folders_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cannot be written"):
        ResultFile(tmp_path / "missing" / "results.jsonl").prepare()
    with pytest.raises(OptionError, match="cannot be written"):
        ResultFile(tmp_path).prepare()
    with pytest.raises(OptionError, match="cannot be read"):
        ResultFile(tmp_path / "missing.jsonl").read()


# --- reports ----------------------------------------------------------------------------------------------


def test_summaries_are_geometric_means_and_the_least() -> None:
    group = [result("00"), result("01", 0.04), result("02", kind="copy")]
    first, second = report.summaries(group)
    assert first.title == "ttc57, beta != 0, cold, 2 threads"
    assert second.title == "ttc57, beta = 0, cold, 2 threads"
    ratios = dict(first.ratios)
    assert list(ratios) == ["of SAXPY", "x hptt", "x hptt, pairs", "x numpy", "x numpy, pairs"]
    assert ratios["of SAXPY"].geomean == pytest.approx((0.8 * 0.4) ** 0.5)
    assert ratios["of SAXPY"].least == pytest.approx(0.4)
    assert ratios["of SAXPY"].worst == "01"
    assert ratios["x hptt"].count == 2


def test_a_peer_counts_where_it_took_part() -> None:
    group = [result("00"), result("01", peers={})]
    assert dict(report.summaries(group)[0].ratios)["x hptt"].count == 1


def test_sub_tensors_are_summed_up_by_their_runs() -> None:
    group = [result("00", suite="ld", run_bytes=128), result("01", suite="ld", run_bytes=127)]
    titles = [summary.title for summary in report.summaries(group)]
    assert titles == [
        "ld, beta != 0, cold, 2 threads, runs of 128 bytes or more",
        "ld, beta != 0, cold, 2 threads, runs below 128 bytes",
    ]


def test_the_table_has_a_row_a_case_and_a_column_a_peer() -> None:
    head, first, second = report.table([result("00"), result("01", peers={})])
    assert head == ("case", "perm", "size", "type", "ms", "GiB/s", "ceiling", "ratio", "x hptt", "x numpy")
    assert first == ("ttc57/00/update", "1,0", "4x3", "s", "20", "50.0", "62.5", "0.80", "1.50", "2.50")
    assert second[-2:] == ("-", "-")


def test_hot_results_show_every_copy() -> None:
    ceilings = {"memcpy": Timing(GIB, (0.01,)), "tiled copy": Timing(GIB, (0.016,))}
    hot = result(mode="hot", kind="copy", threads=1, ceiling="memcpy", ceilings=ceilings)
    head, row = report.table([hot])
    assert dict(zip(head, row, strict=True)) | {"us": "2e+04", "ratio": "0.50", "of tiled copy": "0.80"} == dict(
        zip(head, row, strict=True)
    )
    names = [name for name, _ in report.summaries([hot])[0].ratios]
    assert names[:2] == ["of memcpy", "of tiled copy"]


def test_long_shapes_are_cut() -> None:
    perm, size = report.shape(tuple(range(26)), (2,) * 26)
    assert (len(perm), len(size)) == (28, 28)
    assert perm.endswith("..")


def test_nothing_measured_is_said() -> None:
    assert report.lines([]) == ["no results"]


def test_the_text_is_aligned() -> None:
    lines = report.lines([result("00"), result("long-name")])
    assert lines[0].index("perm") == lines[1].index("1,0") == lines[2].index("1,0")
    assert "  of SAXPY        0.800, least 0.800 (00), 2 cases" in lines

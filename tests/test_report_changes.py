"""`ttc report A.jsonl B.jsonl`: two runs case by case, with noise bands of their own rounds."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from made_results import made, write

from ttc_llvm import cli
from ttc_llvm.bench.results import Result, Timing
from ttc_llvm.report import changes
from ttc_llvm.report.changes import RULE, Verdict, band, compared

FIRST = tuple(made(kinds=("update",), efforts=(100,), affinities=("compact",), step=8))


def timed(one: Result, shares: Sequence[float], machine: float = 1.0) -> Result:
    """The result with these shares of the ceiling, round by round, on a machine of another speed."""
    bound = one.bound
    assert bound is not None
    own = Timing(one.ours.bytes, tuple(machine / share for share in shares))
    ceiling = Timing(one.ours.bytes, (machine,) * len(shares))
    return replace(one, ours=own, ceilings={one.ceiling: ceiling}, before=one.ours.bytes / machine / (1 << 30))


ROUNDS = (0.80, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86, 0.87, 0.88, 0.20)


def shifted(by: float, rounds: Sequence[float] = ROUNDS) -> list[float]:
    return [share * by for share in rounds]


# --- bands ------------------------------------------------------------------------------------------------


def test_bands_are_of_the_rounds_themselves() -> None:
    found = band(ROUNDS)
    assert (found.low, found.high) == (0.80, 0.87)  # the second and the ninth of ten
    assert found.middle == pytest.approx(0.835)
    assert [(band(range(n)).low, band(range(n)).high) for n in (1, 3, 5, 6, 9, 20)] == [
        (0, 0), (0, 2), (0, 4), (0, 5), (1, 7), (5, 14),
    ]  # fmt: skip


def test_bands_hold_the_median_as_often_as_they_say() -> None:
    draw = random.Random(1)
    for n in (6, 10, 25):
        held = sum(found.low <= 1 <= found.high for found in (band([draw.lognormvariate(0, 1) for _ in range(n)])
                                                              for _ in range(2000)))  # fmt: skip
        assert held >= 0.94 * 2000


def test_equal_runs_are_within_noise() -> None:
    draw = random.Random(2)
    told = 0
    for _ in range(300):
        pair = [timed(FIRST[0], [draw.gauss(0.8, 0.05) for _ in range(10)]) for _ in range(2)]
        found = compared(("a", "b"), pair[:1], pair[1:])
        assert found is not None
        told += found.found[0].verdict is not Verdict.NOISE
    assert told <= 6  # bands that lie apart by chance are rarer than 5 %


# --- verdicts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "verdict"),
    [(1.0, Verdict.NOISE), (1.05, Verdict.NOISE), (0.95, Verdict.NOISE), (1.2, Verdict.FASTER), (0.8, Verdict.SLOWER)],
)
def test_cases_are_told_apart_beyond_their_bands(by: float, verdict: Verdict) -> None:
    a, b = timed(FIRST[0], ROUNDS), timed(FIRST[0], shifted(by), machine=2.0)  # twice as slow, which does not count
    found = compared(("a", "b"), [a], [b])
    assert found is not None
    (change,) = found.found
    assert change.verdict is verdict and change.factor == pytest.approx(by)
    assert change.band[0] <= change.factor <= change.band[1]
    assert not change.busy


def test_fewer_than_three_rounds_tell_nothing() -> None:
    found = compared(("a", "b"), [timed(FIRST[0], ROUNDS)], [timed(FIRST[0], (2.0, 2.0))])
    assert found is not None and found.found[0].verdict is Verdict.NOISE


def test_without_a_ceiling_times_are_compared() -> None:
    a, b = (replace(timed(FIRST[0], shifted(by)), ceilings={}, before=0.0) for by in (1.0, 1.5))
    found = compared(("a", "b"), [a], [b])
    assert found is not None
    assert found.found[0].verdict is Verdict.FASTER and found.found[0].factor == pytest.approx(1.5)


def test_what_is_compared_has_equal_efforts_and_affinities_where_files_have_several() -> None:
    others = made(kinds=("update",), efforts=(1, 10), affinities=("scatter",), step=8)
    several = [timed(one, shifted(0.5)) for one in others]
    mine = [timed(one, ROUNDS) for one in FIRST]
    found = compared(("a", "b"), [*several, *mine], mine)
    assert found is not None
    assert len(found.found) == len(FIRST) and {c.verdict for c in found.found} == {Verdict.NOISE}
    assert "100 candidates; affinity compact; 2026-11-21" in found.names[0]
    other = [timed(one, ROUNDS) for one in made(kinds=("update",), efforts=(10,), affinities=("compact",), step=8)]
    single = compared(("a", "b"), mine, other)
    assert single is not None  # one size each: they are compared, and both are named
    assert "100 candidates" in single.names[0] and "10 candidates" in single.names[1]


# --- the command ------------------------------------------------------------------------------------------


def two(folder: Path) -> tuple[Path, Path]:
    """Files of two runs: the first case is slower, the second faster on a busy machine, and both lack one."""
    factors = [0.7, 1.4, *[1.0] * len(FIRST)]
    after = [timed(one, shifted(by)) for one, by in zip(FIRST, factors, strict=False)]
    after[1] = replace(after[1], provisional=1)
    before = [timed(one, ROUNDS) for one in FIRST]
    return write(folder / "A.jsonl", before[:-1]), write(folder / "B.jsonl", after[:3] + after[4:])


def test_the_terminal_shows_what_changed_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("COLUMNS", "80")
    a, b = two(tmp_path)
    assert cli.main(["report", str(a), str(b), f"--output={tmp_path / 'out'}"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and max(map(len, out.splitlines()[:-1])) <= 80  # the last line is a path
    text = " ".join(out.split())
    head = next(line for line in out.splitlines() if line.startswith("case"))
    rows = out.splitlines()[out.splitlines().index(head) + 1 :]
    assert head.split() == ["case", "verdict", "change", "A", "B"]
    assert rows[0].split()[:3] == [FIRST[0].id, "slower", "0.700"]
    assert rows[1].split()[:3] == [FIRST[1].id, "faster", "(this"] and "machine is busy)" in rows[2]
    assert "[0.80, 0.87]" in rows[0] and "0.58 [0.56, 0.61]" in rows[0]
    common = len(FIRST) - 2
    assert f"{common} cases: 1 slower, 1 faster, {common - 2} within noise; geometric mean of the changes" in text
    assert "1 of them while this machine is busy" in text
    assert f"only in A: {FIRST[3].id}" in text and f"only in B: {FIRST[-1].id}" in text
    assert RULE in text
    page = (tmp_path / "out" / "index.html").read_text()
    assert '<section id="changes">' in page and '<section id="cases">' in page
    assert RULE.replace("'", "&#x27;") in page
    assert re.search(rf"<td>{FIRST[0].id}</td><td>slower</td><td>0.700</td>", page)
    assert list((tmp_path / "out").glob("changes-1-*.png"))


def test_the_picture_has_bands_and_a_colour_for_each_verdict(tmp_path: Path) -> None:
    a, b = ([timed(one, shifted(by)) for one in FIRST[:3]] for by in (1.0, 1.3))
    found = compared(("a", "b"), a, [*b[:2], a[2]])
    assert found is not None
    chart = changes.chart(found)
    assert [series.label for series in chart.series] == ["faster", "within noise"]
    assert chart.names == tuple(one.name for one in FIRST[:3]) and chart.base == 1
    faster = chart.series[0]
    assert [v is None for v in faster.values] == [band is None for band in faster.bands] == [False, False, True]
    low, high = faster.bands[0] or (0, 0)
    assert 1 < low < (faster.values[0] or 0) < high


def test_other_numbers_of_files_are_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    a, b = two(tmp_path)
    for files in ((a,), (a, b, a)):
        assert cli.main(["report", *map(str, files), f"--output={tmp_path / 'out'}"]) == 0
        assert "within noise" not in capsys.readouterr().out
        assert 'id="cases"' not in (tmp_path / "out" / "index.html").read_text()


def test_runs_without_a_common_case_make_a_page_and_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    a = write(tmp_path / "A.jsonl", [timed(one, ROUNDS) for one in FIRST[:2]])
    b = write(tmp_path / "B.jsonl", [timed(one, ROUNDS) for one in FIRST[2:4]])
    assert cli.main(["report", str(a), str(b), f"--output={tmp_path / 'out'}"]) == 0
    assert "A.jsonl and B.jsonl have no case in common: they are not compared" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "{}\n", "no JSON\n", None])
def test_bad_input_is_refused_in_one_line(
    tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    a, _ = two(tmp_path)
    bad = tmp_path / "bad.jsonl"
    if content is not None:
        bad.write_text(content)
    assert cli.main(["report", str(a), str(bad), f"--output={tmp_path / 'out'}"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and "bad.jsonl" in err

"""Reports: what is read, what is drawn, what is left out, and what is refused; without a browser."""

from __future__ import annotations

import json
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_results import AFFINITIES, COMPILERS, EFFORTS, LIBRARIES, made, write

from ttc_llvm import cli
from ttc_llvm.bench import report, results, setting
from ttc_llvm.bench.result_line import to_line
from ttc_llvm.bench.results import Result
from ttc_llvm.bench.suites import SUITES
from ttc_llvm.errors import OptionError, ProblemError
from ttc_llvm.problem import canonical_text as forms
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.report import figures, groups, inputs, ranking, rows, writer
from ttc_llvm.report.charts import Bars, Cases
from ttc_llvm.report.inputs import Inputs
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.cost.cost import Model
from ttc_llvm.tuning.cost.model import ranked
from ttc_llvm.tuning.database import exchange
from ttc_llvm.tuning.database.records import Record, Request, Timing

RESULTS = tuple(made(step=8))
OF_CONTRACTIONS = ("gflops", "libraries", "roofline")


def of(*results: Any, solutions: tuple[Record, ...] = ()) -> Inputs:
    return Inputs(("here.jsonl",), results or RESULTS, solutions)


def solution(noise: float = 0.0) -> Record:
    """Stored timings of the model's first plans: just what it expects, or the other way round."""
    canonical = canonicalise(Problem((1, 0), (4000, 3000), "d")).canonical
    target = backend.host_target()
    model = Model(canonical, target, 2)
    plans = [plan for plan, _ in zip(ranked(canonical, target, 2), range(12), strict=False)]
    costs = [model(plan) for plan in plans]
    order = sorted(range(12), key=costs.__getitem__)
    seconds = {k: 0.01 * (1 + (order[::-1] if noise else order).index(k)) for k in range(12)}
    timings = tuple(Timing(str(plan), (seconds[k], seconds[k] * 2)) for k, plan in enumerate(plans))
    request = Request(str(canonical), target.key, 2, "cold", "", "cpu2")
    return Record(request, 12, str(plans[0]), 0.01, timings)


# --- reading ------------------------------------------------------------------------------------------------


def test_files_of_both_kinds_are_read_and_later_results_win(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", RESULTS)
    again = replace(RESULTS[0], elapsed=77.0)
    second = write(tmp_path / "b.jsonl", [again])
    stored = tmp_path / "s.jsonl"
    stored.write_bytes(exchange.to_line(solution(), objects=False))
    found = inputs.read([first, second, stored])
    assert len(found.results) == len(RESULTS)
    assert found.results[0].elapsed == 77.0
    assert len(found.solutions) == 1


def test_a_database_is_read_as_it_is(tmp_path: Path) -> None:
    from ttc_llvm.tuning.database.solution_file import SolutionFile

    path = tmp_path / "solutions.sqlite3"
    SolutionFile(path).put([solution()])
    assert inputs.read([path]).solutions[0].timings == solution().timings


LINE = to_line(RESULTS[0]) + "\n"
STORED = exchange.to_line(solution(), objects=False).decode()
BAD = {
    "nothing": ("", r"is empty"),
    "blanks": ("\n \n", r"is empty"),
    "no JSON": ("hello\n", r"is neither results .* nor an export"),
    "another JSON": ('{"a": 1}\n', r"is neither"),
    "a list": ("[1]\n", r"is neither"),
    "mixed": (LINE + STORED, r"line 2: solutions among results: a file holds one kind"),
    "mixed, the other way": (STORED + LINE, r"line 2: results among solutions"),
    "another format": (LINE.replace('"format": 1', '"format": 99'), r"line 1: a result has format 99"),
    "a damaged line": (LINE + LINE.replace('"seconds"', '"second"') + LINE, r"line 2: a line is no result"),
    "a damaged solution": (STORED.replace('"effort": 12', '"effort": "x"'), r"line 1: effort = 'x'"),
    "a torn line": (LINE[:-1], r"holds no result"),
    "binary": ("\x00\x01\n", r"is neither"),
}


@pytest.mark.parametrize("text, message", BAD.values(), ids=BAD)
def test_bad_files_are_refused_in_one_line(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    assert cli.main(["report", str(path), f"--output={tmp_path / 'out'}"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(rf"ttc: error: .*bad\.jsonl.*{message}.*\n", err), err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [["report"], ["report", "missing.jsonl"], ["report", "."]])
def test_bad_arguments_are_refused_in_one_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 2
    assert re.fullmatch(r"ttc: error: [^\n]+\n", capsys.readouterr().err)


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("ttc_llvm.report.writer.write", lambda *_: pytest.fail("it was drawn"))
    results = write(tmp_path / "a.jsonl", RESULTS)
    assert cli.main(["report", str(results), f"--output={results}/out"]) == 2
    assert f"--output={results}/out cannot be made" in capsys.readouterr().err
    monkeypatch.setattr("ttc_llvm.native.publish.os.access", lambda *_: False)  # which root may always
    assert cli.main(["report", str(results), f"--output={tmp_path}/out"]) == 2
    assert f"--output={tmp_path}/out cannot be written" in capsys.readouterr().err


def test_cases_have_the_order_of_their_suite_whenever_they_were_measured() -> None:
    found = tuple(made(efforts=(1,), kinds=("copy",), affinities=("compact",), step=9))
    late = tuple(replace(one, name="of another version") for one in found[:1])
    (group,) = groups.groups((*late, *reversed(found)))
    assert group.names == (*(one.name for one in found), "of another version")


def test_without_matplotlib_one_sentence_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ttc_llvm.report.plots", "matplotlib"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    import ttc_llvm.report as room

    monkeypatch.delattr(room, "plots", raising=False)
    results = str(write(tmp_path / "a.jsonl", RESULTS))
    for files in ((results,), (results, results)):
        assert cli.main(["report", *files, f"--output={tmp_path / 'out'}"]) == 2
        assert "pip install 'ttc_llvm[report]'" in capsys.readouterr().err
    assert cli.main(["report", results]) == 2
    capsys.readouterr()
    monkeypatch.chdir(tmp_path)
    again = str(write(tmp_path / "b.jsonl", RESULTS))
    assert cli.main(["report", results, again]) == 0, "the terminal has what was asked for"
    out, err = capsys.readouterr()
    assert " within noise; geometric mean of the changes" in " ".join(out.split())
    assert err == f"ttc: warning: {writer.MISSING}\n"


# --- numbers ------------------------------------------------------------------------------------------------


def test_bandwidth_is_that_of_one_run_below_its_own_ceiling() -> None:
    charts = list(figures.bandwidth(of()))
    assert [chart.title for chart in charts] == [
        f"ttc57, beta {b}, cold, 2 threads, affinity {place}" for place in AFFINITIES for b in ("= 0", "!= 0")
    ]
    chart = charts[1]
    assert [s.label for s in chart.series] == ["1,000 candidates"]
    shown = [one for one in RESULTS if one.kind == "update" and one.facts["affinity"] == "compact"]
    shown = [one for one in shown if one.facts["options"]["max_implementations"] == 1000]
    assert list(chart.series[0].values) == pytest.approx([one.ours.gibs for one in shown])
    assert chart.bound is not None and chart.bound.label == "ceiling: SAXPY"
    assert list(chart.bound.values) == pytest.approx([one.bound.gibs for one in shown if one.bound])
    assert "2 x bytes of B" in chart.caption and figures.CEILING in chart.caption


def test_shares_are_of_each_series_own_ceiling() -> None:
    """The machine was twice as fast while the largest searches were measured: their shares are not those of others."""
    fast = tuple(faster(one) if one.facts["options"]["max_implementations"] == 1000 else one for one in RESULTS)
    chart = list(figures.shares(of(*fast)))[1]
    assert [s.label for s in chart.series] == ["1 (cost model)", "10 candidates", "100 candidates", "1,000 candidates"]
    wanted = [one.ratio for one in RESULTS if one.kind == "update" and one.facts["affinity"] == "compact"]
    assert [v for s in chart.series for v in s.values] == pytest.approx(wanted)
    assert chart.base == 1 and chart.unit == "share of the ceiling"
    assert max(v or 0 for s in chart.series for v in s.values) < 1.2


def faster(one: Result) -> Result:
    """The same result on a machine that was twice as fast."""

    def half(timing: results.Timing) -> results.Timing:
        return replace(timing, seconds=tuple(s / 2 for s in timing.seconds))

    ceilings = {name: half(timing) for name, timing in one.ceilings.items()}
    return replace(one, ours=half(one.ours), ceilings=ceilings, before=98.0)


def on(one: Result, day: str) -> Result:
    """The same result of another day."""
    return replace(one, key=f"{day} {one.key}", facts=dict(one.facts) | {"date": f"{day}T10:00:00Z"})


def test_runs_of_different_effort_affinity_or_day_are_never_pooled() -> None:
    few = [one for one in RESULTS if one.kind == "update"]
    later = [on(one, "2026-11-25") for one in few if one.facts["options"]["max_implementations"] == 100]
    count = len({one.name for one in few})
    found = report.summaries([*few, *later])
    assert len(found) == len(EFFORTS) * len(AFFINITIES) + len(AFFINITIES)
    assert {figure.count for summary in found for _, figure in summary.ratios} == {count}
    assert len({summary.title for summary in found}) == len(found)
    assert "100 candidates, affinity scatter, 2026-11-25" in found[-1].title
    labels = [series.label for series in next(figures.shares(of(*few, *later))).series]
    assert labels[2:4] == ["100 candidates, 2026-11-21", "100 candidates, 2026-11-25"]
    planned = next(figures.planning(of(*few, *later)))
    assert {len(values) for values in planned.values} == {count}
    assert f"({count} cases)" in next(figures.shares(of(*few))).caption


def test_summaries_of_one_run_have_short_titles() -> None:
    (summary,) = report.summaries([one for one in RESULTS if one.key.startswith("compact 10 ")][:4])
    assert summary.title == "ttc57, beta = 0, cold, 2 threads"


def test_a_busy_machine_is_seen_in_figures_and_tables() -> None:
    calm = [one for one in RESULTS if one.key.startswith("compact 10 ") and one.kind == "update"]
    found = [replace(calm[0], provisional=1), *calm[1:]]
    for make in (figures.bandwidth, figures.shares, figures.speedup):
        (chart,) = make(of(*found))
        assert [k for k, hollow in enumerate(chart.series[0].hollow) if hollow] == [0]
        assert "Hollow: this machine is busy (1 case)" in chart.caption
        (chart,) = make(of(*calm))
        assert not any(chart.series[0].hollow) and "busy" not in chart.caption
    table = rows.rows(found)
    assert table.columns[-1].head == "remark"
    assert [row[-1] for row in table.values] == ["this machine is busy", *[""] * (len(calm) - 1)]
    assert "remark" not in [column.head for column in rows.rows(calm).columns]
    assert "1 case of" in report.legend(found) and "busy" not in report.legend(calm)


def test_speedups_are_of_compilers_and_peers_of_libraries() -> None:
    compilers, libraries = list(figures.speedup(of())), list(figures.peers(of()))
    assert [s.label.split()[0] for s in compilers[0].series] == list(COMPILERS)
    assert [s.label.split()[0] for s in libraries[0].series] == list(LIBRARIES)
    largest = next(one for one in RESULTS if one.facts["options"]["max_implementations"] == max(EFFORTS))
    assert compilers[0].series[0].values[0] == pytest.approx(largest.pairs("g++"))
    assert compilers[0].base == 1


def test_a_bench_without_compilers_does_not_hide_a_comparison_of_the_same_effort() -> None:
    """Files of `ttc compare` and of `ttc bench` together: each figure takes the results that have what it shows."""
    compared = [one for one in RESULTS if one.kind == "update"]
    benched = [replace(one, key=f"bench {one.key}", peers={}, references={}) for one in compared]
    alone, both = of(*compared), of(*compared, *benched)
    assert list(figures.speedup(both)) == list(figures.speedup(alone))
    assert list(figures.affinities(both)) == list(figures.affinities(alone))


def test_affinities_are_compared_on_the_cases_that_they_share() -> None:
    lone = [one for one in RESULTS if not (one.facts["affinity"] == "scatter" and one.name == RESULTS[0].name)]
    chart = next(figures.affinities(of(*lone)))
    assert isinstance(chart, Bars)
    assert chart.names == ("ttc", *COMPILERS, *LIBRARIES)
    assert [series.label for series in chart.series] == list(AFFINITIES)
    ours = [series.values[0] for series in chart.series]
    assert ours[0] is not None and ours[1] == pytest.approx(0.9 * ours[0])
    count = len({one.name for one in RESULTS if one.kind == "copy"}) - 1
    assert f"over {count} cases" in chart.caption


def test_searches_are_shares_of_the_ceiling() -> None:
    chart = next(figures.searches(of()))
    assert chart.at == tuple(map(float, EFFORTS))
    means, least = (series.values for series in chart.series)
    assert means[-1] is not None and [value / means[-1] for value in means if value is not None] == pytest.approx(
        list(EFFORTS.values()), rel=0.01
    )
    assert all(low is not None and mean is not None and low < mean < 1 for low, mean in zip(least, means, strict=True))


def test_planning_leaves_out_what_the_database_answered() -> None:
    stored = [replace(one, source="database") for one in RESULTS]
    assert [chart.title for chart in figures.planning(of(*stored))] == ["Compiling one reference"]
    searched, compiling = figures.planning(of())
    assert searched.names[:2] == ("1 (cost model), affinity compact", "1 (cost model), affinity scatter")
    assert compiling.names == tuple(COMPILERS)


def test_figures_without_data_are_not_made() -> None:
    plain = [replace(one, references={}, peers={}, facts={}) for one in RESULTS if one.key.startswith("compact 10 ")]
    lacking = {figure.name for figure in figures.FIGURES if not list(figure.make(of(*plain)))}
    assert lacking == {"changes", "speedup", "affinity", "peers", "search", "ranking", *OF_CONTRACTIONS}


def test_ranking_tells_a_good_model_from_a_bad_one() -> None:
    good, bad = ranking.ranked(solution()), ranking.ranked(solution(noise=1.0))
    assert good is not None and bad is not None
    assert good.correlation is not None and good.correlation > 0.95
    assert bad.correlation is not None and bad.correlation < -0.5
    assert good.first == 1.0
    assert bad.first < 0.5
    chart = next(ranking.clouds(of(solutions=(solution(),))))
    assert [name for name, _ in chart.series] == ["columns copy"]
    assert len(chart.series[0][1]) == 12


def test_solutions_of_unknown_machines_and_stand_ins_are_left_out() -> None:
    known = solution()
    elsewhere = replace(known.request, target="riscv64 some cpu 128/128")
    assert ranking.ranked(replace(known, request=elsewhere)) is None
    assert ranking.ranked(replace(known, note="proxy 123")) is None
    assert ranking.ranked(replace(known, timings=known.timings[:2])) is None
    assert ranking.ranked(replace(known, request=replace(known.request, mode="hot-ab"))) is None
    tiny = replace(known.request, problem="i32>i32 one-zero 8:8:1 8:1:8")
    assert ranking.ranked(replace(known, request=tiny)) is None


def test_candidates_are_compared_within_their_problem() -> None:
    chart = list(ranking.clouds(of(solutions=(solution(),))))[1]
    points = chart.series[0][1]
    assert max(x for x, _ in points) == max(y for _, y in points) == 1.0
    assert all(0 < value <= 1 for point in points for value in point)


def test_rank_correlation_with_ties() -> None:
    assert ranking.spearman([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1)
    assert ranking.spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert ranking.spearman([1, 1, 2, 2], [1, 2, 3, 4]) == pytest.approx(0.8944, abs=1e-3)
    assert ranking.spearman([1, 1], [1, 2]) is None


def test_the_table_shows_what_differs() -> None:
    everything = rows.rows(RESULTS)
    heads = [column.head for column in everything.columns]
    assert heads[:5] == ["case", "kind", "perm", "size", "type"]
    assert "affinity" in heads and "candidates" in heads
    assert "threads" not in heads and "machine" not in heads
    single = rows.rows(RESULTS[:1])
    assert "affinity" not in [column.head for column in single.columns]


@pytest.mark.parametrize("problem", [Problem((2, 0, 1), (3, 70, 5), "zc", alpha=2.0, beta=1.0, conjugate=True),
                                     Problem((1, 0), (3, 4), "v3")])  # fmt: skip
def test_canonical_texts_are_read_back(problem: Problem) -> None:
    form = canonicalise(problem).canonical
    assert forms.parse(str(form)) == form


@pytest.mark.parametrize("text", ["", "s>s", "s>s one-zero", "s>s one-zero 1:2", "q>q one-zero 1:1:1", "s>s a-b 1:1:1"])
def test_other_texts_are_no_canonical_forms(text: str) -> None:
    with pytest.raises(ProblemError):
        forms.parse(text)


# --- files --------------------------------------------------------------------------------------------------


def test_a_page_alone_has_no_files_and_no_links_to_them(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results = write(tmp_path / "a.jsonl", RESULTS[:4])
    assert cli.main(["report", str(results), f"--output={tmp_path / 'out'}", "--page-only"]) == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["index.html"]
    page = (tmp_path / "out" / "index.html").read_text()
    assert "<svg" in page and ".png" not in page


def test_the_page_is_one_file_with_pictures_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    results = write(tmp_path / "a.jsonl", [one for one in RESULTS if one.kind == "update"])  # half of the pictures
    stored = tmp_path / "s.jsonl"
    stored.write_bytes(exchange.to_line(solution(), objects=False))
    out = tmp_path / "out"
    title = "Mine & <yours>"
    assert cli.main(["report", str(results), str(stored), f"--output={out}", f"--title={title}"]) == 0
    page = (out / "index.html").read_text()
    assert "<h1>Mine &amp; &lt;yours&gt;</h1>" in page
    assert "A CPU &lt;of&gt; 2 cores" in page
    assert not re.search(r"""(src|href)=["'](https?:)?//|@import|url\((?!#)""", page)
    drawn = {re.sub(r"-.*", "", path.stem) for path in out.glob("*.png")}
    assert drawn == {figure.name for figure in figures.FIGURES} - {"changes", *OF_CONTRACTIONS}
    for path in out.glob("*.svg"):
        assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
        assert path.read_text().startswith("<?xml")
        assert f'href="{path.name}"' in page
    assert page.count("<code>ttc report before.jsonl after.jsonl</code>") == 1
    assert page.count("<code>ttc bench --suite=tccg") == len(OF_CONTRACTIONS) == page.count("<code>") - 1
    again = tmp_path / "again"
    assert cli.main(["report", str(results), str(stored), f"--output={again}", f"--title={title}"]) == 0
    assert {p.name: p.read_bytes() for p in out.iterdir()} == {p.name: p.read_bytes() for p in again.iterdir()}


def test_what_is_missing_is_said_with_the_command_that_measures_it(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    few = [replace(one, references={}, peers={}) for one in RESULTS[:3]]
    results = write(tmp_path / "a.jsonl", few)
    assert cli.main(["report", str(results), f"--output={tmp_path / 'out'}"]) == 0
    page = (tmp_path / "out" / "index.html").read_text()
    assert "ttc compare --suite=ttc57 --compiler=auto --output=compare.jsonl" in page
    assert "ttc database export" in page


def test_threads_that_were_not_placed_are_a_fact_like_others(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    facts = RESULTS[0].facts
    placed = [replace(RESULTS[0], key=to, facts={**facts, "affinity": to}) for to in ("none", "0,1")]
    results = write(tmp_path / "a.jsonl", placed)
    assert cli.main(["report", str(results), "--page-only", f"--output={tmp_path / 'out'}"]) == 0
    assert "none; 0,1" in (tmp_path / "out" / "index.html").read_text()


def test_solutions_alone_make_a_report(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    stored = tmp_path / "s.jsonl"
    stored.write_bytes(exchange.to_line(solution(), objects=False))
    assert cli.main(["report", str(stored), f"--output={tmp_path / 'out'}"]) == 0
    page = (tmp_path / "out" / "index.html").read_text()
    assert 'id="ranking"' in page
    assert "<table" not in page


@pytest.mark.full
def test_a_full_run_takes_seconds_and_fits_in_five_megabytes(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    every = list(made(tuple(SUITES), efforts=(100,), affinities=("compact",)))
    every += made(efforts=(1, 10, 1000), affinities=("compact",))
    every += made(efforts=(100,), affinities=("scatter",))
    results = write(tmp_path / "a.jsonl", every)
    start = time.process_time()
    assert cli.main(["report", str(results), f"--output={tmp_path / 'out'}"]) == 0
    assert time.process_time() - start < 10
    assert (tmp_path / "out" / "index.html").stat().st_size < 5_000_000


def test_titles_say_what_differs_and_nothing_else() -> None:
    alone = [one for one in RESULTS if one.facts["affinity"] == "compact"]
    assert groups.groups(alone)[0].title == "ttc57, beta = 0, cold, 2 threads"
    other = replace(alone[0], facts={**alone[0].facts, "machine": "elsewhere"})
    assert "(somewhere)" in groups.groups([*alone, other])[0].title
    assert isinstance(next(figures.bandwidth(of(*alone))), Cases)


def test_facts_may_be_missing() -> None:
    bare = replace(RESULTS[0], facts={})
    assert setting.effort(bare) == bare.candidates
    assert setting.machine(bare) == "unknown CPU (unnamed)"
    with pytest.raises(OptionError, match="there is no file"):
        inputs.read([])
    assert json.loads(to_line(bare))["facts"] == {}

"""`ttc report` of contractions: lines that the command line has written, read, drawn, compared and refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pytest
from made_results import made, write

from ttc_llvm import cli
from ttc_llvm.bench import contraction_results
from ttc_llvm.bench.contraction_results import ContractionResult, from_line
from ttc_llvm.cli import bench_contractions, info
from ttc_llvm.report import changes, contraction_figures, inputs, rows
from ttc_llvm.report.charts import Cloud
from ttc_llvm.report.inputs import Inputs

MEMORY = 20.0  # GiB/s


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `ttc bench` writes."""
    path = tmp_path_factory.mktemp("contractions") / "here.jsonl"
    flags = ["--bytes=16K", "--rounds=4", "--peers=numpy", "--dtype=d,z", "--threads=1", f"--output={path}"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(bench_contractions.CHILD, "1")
        patch.setattr(info, "measure_ceilings", lambda *_: ({"SAXPY": MEMORY, "streaming copy": MEMORY / 2}, False))
        assert cli.main(["bench", "--suite=tccg,attention", "--cases=08,09,attention/*", *flags]) == 0
    return path


@pytest.fixture(scope="module")
def found(file: Path) -> Inputs:
    return inputs.read([file])


def of(*contractions: ContractionResult) -> Inputs:
    return Inputs(("here.jsonl",), (), (), (), contractions)


def faster(one: ContractionResult, by: float) -> ContractionResult:
    return replace(one, seconds={**one.seconds, "ttc": tuple(s / by for s in one.seconds["ttc"])})


def test_lines_are_read_as_they_were_measured(file: Path, found: Inputs) -> None:
    lines = file.read_text().splitlines()
    assert [one.line for one in found.contractions] == lines
    assert len(lines) == 2 * (2 + 4)
    assert found.results == ()
    assert {one.facts["memory_gibs"] for one in found.contractions} == {MEMORY}
    assert {one.facts["largest"] for one in found.contractions} == {16 << 10}


def test_speeds_are_below_the_plain_product_of_the_same_run(found: Inputs) -> None:
    charts = list(contraction_figures.speeds(found))
    assert [chart.title for chart in charts] == [
        f"{suite}, {kind}, tensors of 0.0156 MiB, 1 thread" for kind in "dz" for suite in ("tccg", "attention")
    ]
    first = [one for one in found.contractions if one.suite == "tccg" and one.dtype == "d"]
    assert charts[0].series[0].values == tuple(one.flops / min(one.seconds["ttc"]) / 1e9 for one in first)
    assert charts[0].bound is not None
    assert charts[0].bound.values == tuple(one.flops / min(one.seconds["gemm"]) / 1e9 for one in first)


def test_other_libraries_have_means_and_the_least(found: Inputs) -> None:
    chart = next(contraction_figures.libraries(found))
    (series,) = chart.series
    values = [value for value in series.values if value is not None]
    assert values == [one.pairs("numpy") for one in found.contractions[: len(values)]]
    assert series.label == f"numpy (geomean {geometric_mean(values):.2f}, least {min(values):.2f})"


def test_the_roof_is_memory_and_then_the_fastest_product(found: Inputs) -> None:
    chart = next(contraction_figures.rooflines(found))
    first = [one for one in found.contractions if one.suite == "tccg" and one.dtype == "d"]
    peak, slope = max(one.gflops(name) for one in first for name in ("ttc", "gemm")), MEMORY * 2**30 / 1e9
    (x, y), ridge, (_, last) = chart.roof
    assert y == pytest.approx(slope * x)
    assert ridge == pytest.approx((peak / slope, peak))
    assert last == pytest.approx(peak)
    found_points = {label: {*points} for label, points in chart.series}
    kinds = {"ttc, fused": True, "ttc, products by BLAS": False}
    assert {*found_points} <= {"plain product", *kinds, *(f"{label}, predicted" for label in kinds)}
    for label, is_fused in kinds.items():
        ours = [one for one in first if one.plan.startswith("fused") == is_fused]
        assert found_points.get(label, set()) == {(one.flops / one.bytes, one.gflops()) for one in ours}
        predicted = {(one.flops / one.bytes, one.flops / (one.predicted or 1) / 1e9) for one in ours}
        assert found_points.get(f"{label}, predicted", set()) == predicted


@pytest.mark.parametrize("layout", ["wide", "narrow"])
def test_the_legend_of_the_roofline_is_inside_the_picture(layout: str) -> None:
    labels = [f"ttc, {what} (48)" for what in ("fused", "fused, predicted", "by BLAS", "products by BLAS, predicted")]
    series = tuple((label, ((1.0, 10.0), (4.0, 20.0))) for label in (*labels, "plain product (48)"))
    plots = pytest.importorskip("ttc_llvm.report.plots", exc_type=ImportError)
    figure = plots.draw(Cloud("tccg", "", "GFlop/s", series, "Flop a byte", ((0.5, 5.0), (8.0, 40.0))), layout)
    plots.png(figure)
    (x0, y0), (x1, y1) = figure.legends[0].get_window_extent().get_points()
    assert 0 <= x0 < x1 <= figure.bbox.width
    assert 0 <= y0 < y1 < figure.axes[0].get_window_extent().y0


def test_without_the_memorys_speed_the_roof_is_flat(found: Inputs) -> None:
    one = found.contractions[0]
    chart = next(contraction_figures.rooflines(of(replace(one, facts={"date": one.facts["date"]}))))
    assert {y for _, y in chart.roof} == {max(one.gflops(), one.gflops("gemm"))}
    assert "was not measured" in chart.caption


@pytest.mark.parametrize(
    "other",
    [{"effort": 20}, {"threads": 2}, {"dtype": "s"}, {"date": "1999-01-01"}, {"largest": 1 << 20}, {"machine": "x"}],
    ids=lambda other: next(iter(other)),
)
def test_runs_that_differ_are_never_pooled(other: dict[str, Any], found: Inputs) -> None:
    both = [one for one in found.contractions if one.suite == "tccg" and one.dtype == "d"]
    fields = {name: value for name, value in other.items() if name in ("effort", "threads", "dtype")}
    facts = {name: value for name, value in other.items() if name not in fields}
    changed = [replace(faster(one, 2), **fields, facts={**one.facts, **facts}) for one in both]
    changed = [replace(one, id=f"tccg/{one.name.removesuffix('/d')}/{one.dtype}") for one in changed]
    assert not {one.key for one in both} & {one.key for one in changed}
    runs = [{one.gflops() for one in both}, {one.gflops() for one in changed}]
    for chart in contraction_figures.speeds(of(*both, *changed)):
        assert any(set(chart.series[0].values) == run for run in runs)


def test_the_table_has_work_plan_and_scratch(found: Inputs) -> None:
    table = rows.contraction_rows(found.contractions)
    heads = [column.head for column in table.columns]
    for one, row in zip(found.contractions, table.values, strict=True):
        shown = dict(zip(heads, row, strict=True))
        assert (shown["Flop"], shown["bytes"], shown["plan"]) == (one.flops, one.bytes, one.plan)
        assert (shown["scratch"], shown["x numpy"]) == (one.scratch, one.pairs("numpy"))
    assert "threads" not in heads


def test_two_files_are_compared(file: Path, found: Inputs, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    steady = [replace(one, seconds=dict.fromkeys(one.seconds, (1.0, 1.01, 0.99))) for one in found.contractions]
    first.write_text("".join(f"{one.line}\n" for one in steady))
    second.write_text("".join(f"{faster(one, 100).line}\n" for one in steady))
    compared = inputs.read([first, second]).changes
    assert compared is not None
    assert [one.verdict for one in compared.found] == [changes.Verdict.FASTER] * len(steady)
    assert all(one.factor == pytest.approx(100) for one in compared.found)
    other = tmp_path / "other.jsonl"
    sizes = [replace(one, facts={**one.facts, "largest": 1 << 20}) for one in found.contractions]
    other.write_text("".join(f"{one.line}\n" for one in sizes))
    assert inputs.read([file, other]).changes is None


def test_a_file_may_hold_transpositions_too(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    mixed = write(tmp_path / "mixed.jsonl", tuple(made(efforts=(1,), kinds=("copy",), step=20)))
    torn = file.read_text() + file.read_text().splitlines()[0][:50]  # a run that was killed
    mixed.write_text(mixed.read_text() + torn)
    out = tmp_path / "out"
    assert cli.main(["report", str(mixed), f"--output={out}"]) == 0
    read = inputs.read([mixed])
    assert f"{len(read.results) + 12} results" in capsys.readouterr().out
    page = (out / "index.html").read_text()
    assert "<h1>Tensor transpositions and contractions: measured</h1>" in page
    for name in ("bandwidth", "gflops", "libraries", "roofline", "table", "contraction-table"):
        assert page.count(f'<section id="{name}"') == 1
    identities = re.findall(r'\sid="([^"]+)"', page)
    assert len(identities) == len(set(identities))
    assert list(out.glob("roofline-*.svg"))


LINE = {"contraction": 1, "id": "tccg/a/d", "spec": "ij,jk->ik", "size": {"i": 2, "j": 3, "k": 4}, "dtype": "d",
        "sizes": [2, 4, 3], "flops": 48, "bytes": 208, "plan": "gemm1", "scratch": 0, "effort": 1, "threads": 1,
        "seconds": {"ttc": [1e-6], "gemm": [1e-6]}, "facts": {}}  # fmt: skip
BAD: dict[str, dict[str, Any]] = {
    "another format": {"contraction": 2},
    "no ceiling": {"seconds": {"ttc": [1e-6]}},
    "no rounds": {"seconds": {"ttc": [], "gemm": []}},
    "no time": {"seconds": {"ttc": [0.0], "gemm": [1e-6]}},
    "text": {"flops": "48"},
    "none": {"bytes": 0},
    "an escape": {"plan": "\x1b[2J"},
    "facts": {"facts": []},
    "a speed": {"facts": {"memory_gibs": "fast"}},
    "sizes": {"sizes": [1, 2]},
}


def test_a_line_without_facts_is_a_result() -> None:
    assert from_line(json.dumps(LINE)).gflops() == pytest.approx(0.048)


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_bad_lines_are_refused_in_one_line(
    change: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(LINE) + "\n" + json.dumps(LINE | change) + "\n")
    assert cli.main(["report", str(path), f"--output={tmp_path / 'out'}"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"ttc: error: .*bad\.jsonl, line 2: a (line is no result of a )?contraction.*\n", err), err
    assert not (tmp_path / "out").exists()


def test_other_work_is_seen_in_the_plain_products_rounds() -> None:
    one = from_line(json.dumps(LINE | {"seconds": {"ttc": [1e-3] * 4, "gemm": [1e-3, 1e-3, 2e-3, 3e-3]}}))
    assert one.busy
    assert not replace(one, seconds={**one.seconds, "gemm": (1e-3, 1.1e-3, 1e-3, 2e-3)}).busy
    assert contraction_results.summary([one], "gemm")[1:] == (one.pairs("gemm"), "tccg/a/d")

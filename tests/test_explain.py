"""`ttc explain` and `solution.explain()`: every form is there and says what is true; nothing is timed or stored."""

from __future__ import annotations

import html
import operator
import re
import sqlite3
import xml.etree.ElementTree as ET
from contextlib import closing
from dataclasses import replace
from html import escape
from itertools import islice
from pathlib import Path

import pytest

import ttc_llvm
from ttc_llvm import cli
from ttc_llvm.compiling import trial
from ttc_llvm.compiling.solution import Solution
from ttc_llvm.explain import Explanation, geometry, machine_code, pseudo, words
from ttc_llvm.explain.machine_code import SYNTAX, Class
from ttc_llvm.explain.text import STAGES
from ttc_llvm.lowering.items import placed
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.machine.lookup import find
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.cost.cost import Model
from ttc_llvm.tuning.cost.model import model_plan, ranked
from ttc_llvm.tuning.cost.vocabulary import FACTS
from ttc_llvm.tuning.database.schema import SOLUTIONS
from ttc_llvm.tuning.measurement import Measurement
from ttc_llvm.tuning.search.leaderboard import CHOICE

PROBLEM = Problem((1, 0), (301, 203), "s", beta=1.0)
PLAN = CpuPlan((64, 64), (16, 8), (0, 1), (1, 0), prefetch=2)
COPY = Problem((2, 1, 0), (64, 5, 128), "s")
OPTIONS = ("explain", "--perm=1,0", "--size=301,203", "--beta=1", "--numThreads=1")


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database and a directory for every test, a terminal of 80 columns, and an alarm for whoever times anything."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.sqlite3"))
    monkeypatch.chdir(tmp_path)


def solved(problem: Problem, target: str = "avx512", plan: CpuPlan | None = None) -> Solution:
    machine = find(target)
    chosen = plan or model_plan(placed(problem, machine).canonical, machine, 1)
    return Solution(problem, machine, chosen, 1)


# --- pseudo-code --------------------------------------------------------------------------------------------


def test_loops_are_written_as_somebody_would_write_them() -> None:
    nest = lower(canonicalise(PROBLEM).canonical, PLAN, find("avx2"))
    assert pseudo.lines(nest)[:8] == (
        "parallel for (i0 = 0; i0 < 203; i0 += 64)",
        "  for (i1 = 0; i1 < 301; i1 += 64)",
        "    for (j1 = i1; j1 + 8 <= min(i1 + 64, 301); j1 += 8)",
        "      for (j0 = i0; j0 + 16 <= min(i0 + 64, 203); j0 += 16)",
        "        prefetch what comes 2 micro-tiles later, into L1",
        "        micro-tile 16x8 = 128 elements, in registers:",
        "          B[j0 + 203*j1] = alpha * A[301*j0 + j1] + beta * B[j0 + 203*j1]",
        "      if fewer than 16 are left: j0 once more, shorter",
    )


def test_scratch_and_streaming_are_told() -> None:
    form = canonicalise(COPY).canonical
    plan = CpuPlan((64, 1, 64), (16, 1, 16), (1, 0, 2), (1, 0, 2), 2, store=Store.COMBINED)
    text = "\n".join(pseudo.lines(lower(form, plan, find("avx512"))))
    assert re.search(r"tile -> scratch \(\d+ x i32, \d+ bytes\)", text)
    assert "scratch[..] = A[" in text
    assert "= scratch[..]" in text
    assert "fence: non-temporal stores are complete" in text


@pytest.mark.parametrize(
    ("machine", "parts"),
    [
        ("avx512", ("joined to the partial line: whole lines, a run's first one in part, non-temporal",
                    "runs end with it",
                    "the row's partial line -> B, ordinary stores")),
        ("avx2", ("from the row's slot", "whole lines non-temporal", "elements to its slot")),
    ],
)  # fmt: skip
def test_a_carry_is_told(machine: str, parts: tuple[str, ...]) -> None:
    form = canonicalise(COPY).canonical
    plan = CpuPlan((64, 1, 64), (16, 1, 16), (1, 0, 2), (1, 0, 2), 1, store=Store.COMBINED)
    text = "\n".join(pseudo.lines(lower(form, plan, find(machine))))
    for part in ("slots for the partial lines", *parts):
        assert part in text


def test_a_shift_is_told() -> None:
    form = canonicalise(Problem((2, 1, 0), (48, 7, 64))).canonical
    plan = CpuPlan((64, 1, 48), (16, 1, 16), (1, 0, 2), (1, 0, 2), 1, store=Store.PEELED)
    text = "\n".join(pseudo.lines(lower(form, plan, find("avx512"))))
    for part in ("from B's next boundary on, one every 16 elements", "non-temporal", "ordinary stores"):
        assert part in text


# --- machine code -------------------------------------------------------------------------------------------

X86 = {
    "vmovups 64(%rdi,%rax), %zmm4": Class.LOAD,
    "vinsertf64x4 $1, 4362240(%r13), %zmm4, %zmm4": Class.LOAD,
    "vbroadcastss (%rdx), %zmm0": Class.LOAD,
    "vmovups (%rsi), %zmm1 {%k1} {z}": Class.LOAD,
    "movups (%rdi), %xmm0": Class.LOAD,
    "vunpcklps %zmm5, %zmm4, %zmm9": Class.SHUFFLE,
    "vpermt2pd %zmm11, %zmm2, %zmm12": Class.SHUFFLE,
    "vshuff64x2 $68, %zmm1, %zmm0, %zmm2": Class.SHUFFLE,
    "unpcklps %xmm1, %xmm0": Class.SHUFFLE,
    "vmovups %zmm12, 545280(%rbp)": Class.STORE,
    "vmovups %zmm12, (%rbp) {%k2}": Class.STORE,
    "vextractf128 $1, %ymm0, (%rsi)": Class.STORE,
    "vmaskmovps %ymm1, %ymm0, (%rdi)": Class.STORE,
    "vmaskmovps (%rdi), %ymm1, %ymm0": Class.LOAD,
    "vmovntps %zmm0, (%rdi)": Class.STREAM,
    "movntps %xmm0, (%rdi)": Class.STREAM,
    "sfence": Class.STREAM,
    "prefetcht1 64(%rcx,%rsi)": Class.PREFETCH,
    "vmulps (%rbp), %zmm1, %zmm13": Class.ARITHMETIC,
    "vaddps %zmm13, %zmm12, %zmm12": Class.ARITHMETIC,
    "vcvtps2pd (%rdi), %zmm0": Class.ARITHMETIC,
    "vmovaps %zmm6, %zmm12": Class.MOVE,
    "kmovd %eax, %k1": Class.MASK,
    "vpcmpgtd %zmm1, %zmm3, %k1": Class.MASK,
    "vmovd %r8d, %xmm0": Class.MOVE,
    "vfmadd231ps %zmm1, %zmm0, %zmm2": Class.ARITHMETIC,
    "vmovups %zmm1, -64(%rsp)": Class.STACK,
    "pushq %rbp": Class.STACK,
    "movq -56(%rsp), %rax": Class.STACK,
    "movl (%rdi), %eax": Class.SCALAR_LOAD,
    "movb %al, (%rsi)": Class.SCALAR_STORE,
    "leaq 64(%r12), %rcx": Class.ADDRESS,
    "imulq $545280, %r14, %rcx": Class.ADDRESS,
    "cmovgeq %rcx, %r14": Class.ADDRESS,
    "cmpq $384, %rcx": Class.CONTROL,
    "jle .LBB0_12": Class.CONTROL,
    "retq": Class.CONTROL,
}
ARM = {
    "ldp q0, q1, [x0]": Class.LOAD,
    "ldr x22, [x2, x22, lsl #3]": Class.SCALAR_LOAD,
    "str b3, [x22, #269]": Class.STORE,
    "umov w28, v15.b[3]": Class.SHUFFLE,
    "ld1 { v0.4s }, [x1]": Class.LOAD,
    "zip1 v2.4s, v0.4s, v1.4s": Class.SHUFFLE,
    "fmul v0.4s, v0.4s, v1.4s": Class.ARITHMETIC,
    "str q0, [x1, #16]": Class.STORE,
    "stnp q0, q1, [x1]": Class.STREAM,
    "prfm pldl1keep, [x3]": Class.PREFETCH,
    "add x0, x0, x1": Class.ADDRESS,
    "b.lt .LBB0_2": Class.CONTROL,
}


@pytest.mark.parametrize("line", X86)
def test_x86_instructions_have_their_class(line: str) -> None:
    assert machine_code.classify(line, SYNTAX["x86_64"]) is X86[line]


@pytest.mark.parametrize("line", ARM)
def test_arm_instructions_have_their_class(line: str) -> None:
    assert machine_code.classify(line, SYNTAX["aarch64"]) is ARM[line]


@pytest.mark.parametrize("target", ["sse2", "avx", "avx2", "avx512"])
def test_the_micro_tiles_counts_follow_from_its_block(target: str) -> None:
    """Streaming a block of full registers: a non-temporal store per register of B, and no instruction unknown."""
    machine = find(target)
    lanes = machine.vector_bits // 32
    plan = CpuPlan((4 * lanes, 1, 64), (lanes, 1, lanes), (1, 0, 2), (1, 0, 2), store=Store.ALIGNED)
    code = solved(COPY, target, plan).explain().code
    assert code is not None
    assert code.micro.counts[Class.STREAM] == lanes
    assert code.micro.counts[Class.LOAD] >= lanes
    assert code.micro.counts[Class.SHUFFLE] >= lanes
    assert Class.OTHER not in code.whole.counts
    assert Class.STACK not in code.micro.counts or code.micro.counts[Class.STACK] < lanes
    assert sum(code.micro.counts.values()) == code.micro.total <= code.whole.total


# --- costs and geometry -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cpu", ["avx2", "znver4", "znver5", "cascadelake"])
@pytest.mark.parametrize("problem", [PROBLEM, Problem((1, 0), (5000, 4000), "d"), Problem((0, 2, 1), (9, 30, 31), "c")])
def test_terms_add_up_to_the_models_cost(problem: Problem, cpu: str) -> None:
    canonical, machine = canonicalise(problem).canonical, find(cpu)
    model, plan = Model(canonical, machine, 2), model_plan(canonical, machine, 2)
    terms = model.terms(plan)
    assert terms.seconds == model(plan)
    assert terms.balance == model.balance(plan)
    if not terms.cached:
        assert terms.seconds == pytest.approx(max(terms.memory, terms.compute) / terms.balance)
        other = replace(plan, prefetch=0, inner=plan.inner[::-1])
        said = [found.networks + sum(weight for _, weight in found.facts) for found in (terms, model.terms(other))]
        assert terms.facts
        assert said[0] - said[1] == pytest.approx(operator.sub(*model.scores([plan, other])), abs=2e-4)


STREAMING = CpuPlan((16, 1, 16), (16, 1, 16), (0, 1, 2), (0, 1, 2), 2, 1, Store.ALIGNED, fetch=Fetch.ROWS)


FALLBACKS = [(None, "by rule"), (Store.CACHED, "as the plan decides"), (Store.PEELED, "by rule")]


@pytest.mark.parametrize(("store", "why"), FALLBACKS)
def test_what_runs_off_the_boundary_is_told(store: Store | None, why: str) -> None:
    plan = replace(STREAMING, fallback=store)
    explained = solved(Problem((2, 1, 0), (384, 5, 384)), plan=plan).explain(1)
    (when, other), *_ = words.other_plans(explained)
    assert when == f"where B is misaligned to 64 bytes, {why}"
    assert f"store={(store or Store.PEELED).value} " in other
    for told in (explained.stage("plans"), explained.html()):
        assert f"{when}:" in told
        assert f"store={(store or Store.PEELED).value}" in told


WRITTEN = {
    Store.CACHED: ("by ordinary stores", "avx512", COPY, (64, 1, 64), Store.CACHED, 0),
    Store.ALIGNED: ("an aligned B", "avx512", COPY, (64, 1, 64), Store.ALIGNED, 0),
    Store.ROWS: ("row by row", "avx512", Problem((0, 2, 1), (37, 9, 11)), (37, 4, 4), Store.ALIGNED, 0),
    Store.PEELED: ("from B's first boundary on", "avx512", COPY, (64, 1, 64), Store.PEELED, 0),
    Store.BUFFERED: ("from which rows leave", "avx512", COPY, (64, 1, 64), Store.COMBINED, 2),
    Store.COMBINED: ("pass on to the next tile", "avx2", COPY, (64, 1, 64), Store.COMBINED, 1),
    Store.JOINED: ("joined in registers", "avx512", COPY, (64, 1, 64), Store.COMBINED, 1),
}


@pytest.mark.parametrize("store", Store)
def test_how_b_is_written_is_told(store: Store) -> None:
    part, machine, problem, tile, decided, parallel = WRITTEN[store]
    block = (16, 1, 1) if store is Store.ROWS else (16, 1, 16)
    plan = CpuPlan(tile, block, (1, 0, 2), (1, 0, 2), parallel, store=decided)
    explained = Solution(problem, find(machine), plan, 1).explain(1)
    (line,) = [line for line in explained.stage("plans").splitlines() if line.startswith("B is written ")]
    assert part in line and len(line) <= 80
    assert escape(words.written(explained)) in explained.html()


def test_what_runs_off_the_lines_is_told() -> None:
    problem = Problem((2, 1, 0), (384, 5, 384))
    for machine, told in (("znver4", True), ("znver5", False)):
        explained = Solution(problem, find(machine), STREAMING, 1).explain(1)
        words = "where A alone is misaligned to 64 bytes:"
        for page in (explained.stage("plans"), explained.html()):
            assert (words in page) is told
            assert ("loads=16" in page) is told


def test_the_chosen_plan_is_marked_whatever_it_decides_off_the_boundary() -> None:
    problem = Problem((2, 1, 0), (384, 5, 384))
    best = next(ranked(canonicalise(problem).canonical, find("avx512"), 1))
    explained = solved(problem, plan=replace(best, fallback=Store.CACHED)).explain(1)
    assert " 1*" in explained.stage("plans")


@pytest.mark.parametrize("plan", [PLAN, STREAMING.ordinary])
def test_nothing_is_told_of_boundaries_where_none_matters(plan: CpuPlan) -> None:
    problem = PROBLEM if plan is PLAN else Problem((2, 1, 0), (384, 5, 384))
    assert list(words.other_plans(Solution(problem, find("avx512"), plan, 1).explain(1))) == []


def test_runs_are_counted_in_lines() -> None:
    canonical, machine = canonicalise(Problem((1, 0), (100, 50), "s")).canonical, find("avx2")
    a = geometry.runs(canonical, (16, 16), "A", machine, 4)
    b = geometry.runs(canonical, (16, 16), "B", machine, 4)
    assert (a.run, a.count, a.starts) == (64, 16, (0, 400, 800, 1200))
    assert a.lines == sum((s + 63) // 64 - s // 64 + 1 for s in range(0, 6400, 400))
    assert (b.run, b.count, b.starts[:2]) == (64, 16, (0, 200))
    assert a.used == 16 * 64 / (a.lines * 64)


def test_planes_are_those_of_both_contiguous_axes() -> None:
    canonical = canonicalise(COPY).canonical
    plan = CpuPlan((32, 1, 64), (16, 1, 16), (1, 0, 2), (1, 0, 2))
    a, b = geometry.planes(canonical, plan)
    assert (a.across, a.down, a.tile, a.block) == (2, 0, (64, 32), (16, 16))
    assert (b.across, b.down, b.tile, b.extents) == (0, 2, (32, 64), (128, 64))
    assert geometry.planes(canonicalise(Problem((0,), (99,), "s")).canonical, CpuPlan((9,), (9,), (0,), (0,))) == ()


# --- the whole ----------------------------------------------------------------------------------------------

CASES = {
    "matrix": PROBLEM,
    "copy": COPY,
    "merged": Problem((0, 1, 2), (8, 9, 10), "s"),
    "rows": Problem((0, 2, 1), (33, 70, 51), "z", beta=1.0),
    "one element": Problem((), (), "s"),
    "nothing": Problem((1, 0), (0, 5), "s"),
    "mixed": Problem((1, 0), (40, 30), "sd", alpha=2.0),
    "odd items": Problem((1, 0), (40, 30), "v3"),
    "alpha 0": Problem((1, 0), (40, 30), "s", alpha=0.0, beta=2.0),
    "padded": Problem((1, 0), (40, 30), "c", lda=(41, 33), ldb=(37, 40), conjugate=True),
    "many axes": Problem(tuple(range(9, -1, -1)), (2, 3) * 5, "d"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", ["avx512", "sse2"])
def test_every_problem_has_its_text_and_its_page(name: str, target: str) -> None:
    explanation = solved(CASES[name], target).explain(3)
    text = str(explanation)
    for title, _ in STAGES.values():
        assert f"\n{title}\n" in f"\n{text}"
    for stage in set(STAGES) - {"ir", "assembly"}:
        assert max(map(len, explanation.stage(stage).splitlines())) <= 80, stage
    page = explanation.html()
    for picture in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ET.fromstring(picture)
    assert "<script" not in page
    assert not re.search(r"""(src|href)=["']https?:""", page)


def test_lines_fit_a_terminal_of_80_columns() -> None:
    explanation = solved(Problem((1, 0), (5000, 4000), "d")).explain(3)
    for stage in ("problem", "merged", "plans", "loops", "candidates"):
        assert max(map(len, explanation.stage(stage).splitlines())) <= 80, stage


def test_columns_of_the_ranking_stay_apart() -> None:
    """Times of tiny problems are long figures, as 7.456e-06."""
    text = solved(Problem((0, 1), (8, 3), "ds", ldb=(9, 4), alpha=2.0)).explain(3).stage("plans")
    _, _, table = text.partition("chosen:\n\n")
    table, _, _ = table.partition("\n\n")  # how the plan was chosen
    head, *rows = [line for line in table.splitlines() if not line.startswith("     ") or "GiB/s" in line]
    assert head.split() == ["turn", "ms", "GiB/s", "memory", "instructions", "threads"]
    assert len(rows) == 3
    for row in rows:
        assert len([float(figure) for figure in row[3:].split()]) == 5


def test_notebooks_get_pictures_and_print_gets_text() -> None:
    explanation = solved(COPY).explain()
    shown = explanation._repr_html_()
    assert shown.count("<svg") == 6
    assert "<html" not in shown
    assert str(explanation).startswith("Problem\n-------\n")


def test_long_forms_are_cut_in_the_overview_and_whole_by_name() -> None:
    explanation = solved(COPY).explain()
    assert ".. " in str(explanation) and "more lines: --stage=ir" in str(explanation)
    assert explanation.stage("ir") == explanation.ir.rstrip()
    assert explanation.code is not None
    for line in explanation.code.micro.lines:
        assert line in explanation.stage("assembly")


# --- the command line ---------------------------------------------------------------------------------------


def test_nothing_is_timed_and_nothing_is_stored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("something was timed")

    monkeypatch.setattr(trial.Trial, "__post_init__", refuse)
    assert cli.main(list(OPTIONS)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "chosen, not timed" in out
    for path in tmp_path.glob("*.sqlite3"):  # what LLVM says of the machine, where nobody has asked before
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute(f"SELECT count(*) FROM {SOLUTIONS}").fetchone() == (0,)


def test_what_was_tuned_is_explained_with_its_candidates(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    solution = ttc_llvm.compile(PROBLEM, 4, threads=1)
    assert cli.main([*OPTIONS, "--stage=plans,candidates", f"--html={tmp_path / 'page.html'}"]) == 0
    out = capsys.readouterr().out
    assert f"chosen, best of {len(solution.measurement.timings) if solution.measurement else 0} timed" in out
    assert "* " in out.partition("timed, the fastest run first")[2]
    page = (tmp_path / "page.html").read_text()
    assert page.count("<circle") == 4
    assert page.count('class="chosen"') == 1
    own = solution.explain()
    assert own.plan == solution.plan
    assert next(tried.plan for tried in own.tried) == str(solution.plan)


def timed(seconds: dict[int, float], plan: int = 0) -> Explanation:
    """An explanation of one of the model's plans, the first of which won a search with these best runs."""
    model = list(islice(ranked(canonicalise(PROBLEM).canonical, find("avx512"), 1), len(seconds)))
    timings = tuple((str(model[k]), (s, 2 * s)) for k, s in seconds.items())
    measured = Measurement(min(timings[0][1]), 10.0, 20.0, "copy", timings, timed=92)
    return Solution(PROBLEM, find("avx512"), model[plan], 1, measured).explain(len(seconds))


def test_candidates_are_sorted_by_what_they_rank_and_the_choice_is_explained() -> None:
    explained = timed({0: 2e-3, 1: 3e-3, 2: 1e-3})  # the second row of the search was faster in one run
    shown = explained.stage("candidates")
    rows = re.findall(r"^ ?(\d+)([* ]) +([\d.]+) ", shown, re.MULTILINE)
    assert rows == [("1", " ", "1"), ("2", "*", "2"), ("3", " ", "3")]
    assert "3 kept of 92 timed" in shown and CHOICE in " ".join(shown.split())
    assert "best of 92 timed" in explained.stage("plans")
    page = html.unescape(explained.html())
    assert CHOICE in page
    assert page.index("<td>1</td><td>1</td>") < page.index("<td>2</td><td>2</td>") < page.index("<td>3</td><td>3</td>")


def test_no_rule_is_told_where_the_chosen_plan_is_the_fastest() -> None:
    explained = timed({0: 1e-3, 1: 3e-3, 2: 2e-3})
    assert "The winner was" not in explained.stage("candidates")
    assert "The winner was" not in explained.html()


def test_a_given_plan_is_not_said_to_have_won() -> None:
    explained = timed({0: 1e-3, 1: 3e-3}, plan=1)
    assert "a given plan: another is the best of 92 timed" in explained.stage("plans")
    assert words.NOT_CHOSEN in " ".join(explained.stage("candidates").split())


def test_the_models_plans_are_sorted_by_what_it_expects() -> None:
    problem = Problem((2, 1, 3, 0), (96, 75, 96, 75), beta=1)
    explained = Solution(problem, find("znver4"), model_plan(canonicalise(problem).canonical, find("znver4"), 2), 2)
    found = explained.explain(10)
    shown = found.stage("plans")
    rows = re.findall(r"^ ?(\d+)([* ]) +([\d.]+) ", shown, re.MULTILINE)
    expected = [float(ms) for _, _, ms in rows]
    assert len(rows) == 10 and expected == sorted(expected)
    assert sorted(int(turn) for turn, _, _ in rows) == list(range(1, 11))
    (chosen,) = [k for k, (_, mark, _) in enumerate(rows) if mark == "*"]
    assert (words.CHOSEN_BY_MODEL in " ".join(shown.split())) == (chosen > 0)
    assert chosen > 0, "this problem is the example of an order that is not the expectation's"
    assert words.CHOSEN_BY_MODEL in html.unescape(found.html())


@pytest.mark.parametrize("fact", FACTS)
def test_every_fact_of_the_model_is_explained(fact: str) -> None:
    assert 10 < len(words.meaning(fact)) <= 44


def test_a_plan_can_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*OPTIONS, "--cpu=haswell", f"--plan={PLAN}", "--stage=loops"]) == 0
    nest = lower(canonicalise(PROBLEM).canonical, PLAN, find("haswell"))
    assert capsys.readouterr().out.startswith("\n".join(pseudo.lines(nest)))


def test_other_machines_are_explained_without_running_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*OPTIONS, "--architecture=knl", "--stage=assembly"]) == 0
    assert "%zmm" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["neon", "power9", "rvv", "wasm"])
def test_other_families_are_explained_with_their_own_assembly(name: str) -> None:
    explanation = solved(Problem((1, 0), (64, 48), "s"), name).explain(1)
    shown = explanation.stage("assembly")
    if name == "neon":
        assert explanation.code is not None
        assert explanation.code.micro.counts[Class.SHUFFLE] > 4
    else:
        assert "are not counted; the whole kernel:" in shown
        assert explanation.assembly.strip() in shown


def test_help_lists_both_kinds_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "--help"]) == 0
    out = capsys.readouterr().out
    assert "--stage" in out and "--perm" in out and "--html" in out


BAD = {
    "stage": ([*OPTIONS, "--stage=nothing"], "the choices are problem, merged"),
    "no stage": ([*OPTIONS, "--stage=,"], "at least one name"),
    "plans": ([*OPTIONS, "--plans=-1"], "a number from 0"),
    "digits": ([*OPTIONS, f"--plans={'1' * 5000}"], "a number from 0"),
    "plan": ([*OPTIONS, "--plan=cpu0 tile=1"], "plan version 'cpu0'"),
    "plan of another problem": ([*OPTIONS, f"--plan={replace(PLAN, tile=(64,))}"], "needs 2 positive extents"),
    "page": ([*OPTIONS, "--html=/nowhere/page.html"], "cannot be written"),
    "files": ([*OPTIONS, "--keep"], "--keep says what a compilation writes"),
    "perm": (["explain", "--size=3,4"], "--perm is missing"),
    "unknown": ([*OPTIONS, "--stages=ir"], "unknown option --stages"),
    "problem": (["explain", "--perm=0,0", "--size=3,4"], "perm"),
}


@pytest.mark.parametrize("arguments, message", BAD.values(), ids=BAD)
def test_mistakes_are_refused_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"ttc: error: [^\n]+\n", err) and message in err, err


def test_code_of_unknown_machines_is_not_guessed_at() -> None:
    assert machine_code.read("add r1, r2", "powerpc64le-linux") is None
    assert machine_code.read("", "x86_64-linux") is None
    assert backend.host_target().triple.partition("-")[0] in SYNTAX

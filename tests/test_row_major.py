"""C order: arrays as problems, `--order=C` everywhere, and docs/row_major.md."""

from __future__ import annotations

import itertools
import json
import random
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numpy.lib.stride_tricks import as_strided

import ttc_llvm
from ttc_llvm import ArrayError, Problem, ProblemError, cli
from ttc_llvm.cli import decisions, reading
from ttc_llvm.cli import library as cli_library
from ttc_llvm.cli.compile import problem_of
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.layouts import column_major, layout

PAGE = (Path(__file__).parent.parent / "docs" / "row_major.md").read_text()
HWC = ("--perm=2,0,1", "--size=720,1280,3")
Array = npt.NDArray[Any]


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path.parent / f"{tmp_path.name}.sqlite3"))
    monkeypatch.chdir(tmp_path)


def tensor(x: Array, size: tuple[int, ...], outer: tuple[int, ...]) -> Array:
    """The tensor of a problem that begins at x's first element: an array whose axes are its indices."""
    return as_strided(x, size, tuple(step * x.itemsize for step in column_major(outer)))


def carried_out(problem: Problem, x: Array, out: Array) -> None:
    """The problem's transposition by NumPy, from x's memory into out's."""
    a = tensor(x, problem.size, problem.outer_a)
    tensor(out, problem.size_b, problem.outer_b)[...] = a.transpose(problem.perm)


# --- layouts ------------------------------------------------------------------------------------------------


def fits(shape: tuple[int, ...], steps: list[int]) -> bool:
    """Whether some order of indices and some outer sizes lead to these strides, by trying them all."""
    least = [max(1, max(shape, default=1))] * max(0, len(shape) - 1)
    for order in itertools.permutations(range(len(shape))):
        for outer in itertools.product(*(range(1, 17) for _ in least)):
            if any(got < shape[k] for got, k in zip(outer, order, strict=False)):
                continue
            strides = column_major((*outer, *(shape[k] for k in order[-1:])))
            if all(shape[k] == 1 or steps[k] == step for k, step in zip(order, strides, strict=True)):
                return True
    return False


def test_layouts_are_those_that_some_outer_sizes_lead_to() -> None:
    draw = random.Random(3)
    found = 0
    for _ in range(1500):
        rank = draw.randint(0, 3)
        shape = tuple(draw.choice((0, 1, 1, 2, 3)) for _ in range(rank))
        strides = tuple(draw.choice((-4, 0, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64)) for _ in range(rank))
        whole = all(stride % 4 == 0 for stride, extent in zip(strides, shape, strict=True) if extent > 1)
        wanted = 0 in shape or (whole and fits(shape, [stride // 4 for stride in strides]))
        got = layout(shape, strides, 4)
        assert (got is not None) == wanted, (shape, strides)
        if got is not None and 0 not in shape:
            found += 1
            assert got.size == tuple(shape[k] for k in got.axes)
            assert all(a >= b for a, b in zip(got.outer, got.size, strict=True))
            steps = zip(got.axes, column_major(got.outer), strict=True)
            assert all(shape[k] == 1 or 4 * step == strides[k] for k, step in steps)
    assert found > 300


# --- Problem.from_arrays --------------------------------------------------------------------------------------


def placed(shape: tuple[int, ...], dtype: str) -> Iterator[Array]:
    """Arrays of a shape: in both orders, as views of other axes, as parts of larger arrays."""
    rank = len(shape)
    yield np.empty(shape, dtype)
    yield np.empty(shape, dtype, order="F")
    larger = np.empty(tuple(extent + 2 for extent in shape), dtype)
    inner: tuple[Any, ...] = (..., *(slice(1, extent + 1) for extent in shape))
    yield larger[inner]
    for order in ((1, 0, *range(2, rank)), (*range(1, rank), 0)) if rank > 1 else ():
        back = tuple(np.argsort(order))
        yield np.empty(tuple(shape[k] for k in order), dtype).transpose(back)


@pytest.mark.parametrize("rank", [0, 1, 2, 3, 4])
def test_a_problem_of_arrays_is_what_numpy_does_to_them(rank: int) -> None:
    draw = np.random.default_rng(rank)
    for shape in {tuple(map(int, draw.integers(0, 5, rank))) for _ in range(8)}:
        for axes in list(itertools.permutations(range(rank)))[:8]:
            for x, out in itertools.product(placed(shape, "f4"), placed(tuple(shape[k] for k in axes), "f4")):
                x[...] = draw.random(shape)
                out[...] = np.nan
                problem = Problem.from_arrays(x, axes, out)
                carried_out(problem, x, out)
                assert np.array_equal(out, x.transpose(axes))
                assert problem.axes_a is None or tuple(x.shape[k] for k in problem.axes_a) == problem.size


def test_from_arrays_takes_what_np_transpose_takes() -> None:
    x = np.empty((4, 5, 6))
    assert Problem.from_arrays(x) == Problem((2, 1, 0), (4, 5, 6), "d").row_major
    assert Problem.from_arrays(x, (-1, 0, 1)) == Problem.from_arrays(x, [2, 0, 1], np.empty((6, 4, 5)))
    assert Problem.from_arrays(x, (2, 0, 1), np.empty((6, 4, 5), "f4")).dtype == "ds"
    made = Problem.from_arrays(np.empty((4, 5, 6), "c8"), (1, 0, 2), alpha=2j, beta=1, conjugate=True)
    assert (made.dtype, made.alpha, made.beta, made.conjugate) == ("c", 2j, 1, True)
    column = np.empty((4, 5, 6), order="F")
    assert Problem.from_arrays(column, (2, 0, 1), np.empty((6, 4, 5), order="F")) == Problem((2, 0, 1), (4, 5, 6), "d")


def test_from_arrays_reads_arrays_on_devices() -> None:
    class OnDevice:
        """As CuPy's and Numba's arrays say what they are; whoever reads an element fails."""

        __cuda_array_interface__ = {  # noqa: RUF012
            "version": 3, "shape": (720, 1280, 3), "typestr": "<f4", "data": (1 << 40, False), "strides": None,
            "stream": 1,
        }  # fmt: skip

    assert Problem.from_arrays(OnDevice(), (2, 0, 1)) == Problem((2, 0, 1), (720, 1280, 3)).row_major


def test_from_arrays_keeps_the_types_that_numpy_lacks() -> None:
    torch = pytest.importorskip("torch")
    x = torch.zeros(720, 1280, 3, dtype=torch.bfloat16)
    made = Problem.from_arrays(x, (2, 0, 1))
    assert made == Problem((2, 0, 1), (720, 1280, 3), "bfloat16").row_major
    assert Problem.from_arrays(x.permute(2, 0, 1), (1, 2, 0), x).perm == (0, 1, 2)


def test_from_arrays_looks_at_no_gradient_and_at_conjugation() -> None:
    torch = pytest.importorskip("torch")
    x = torch.zeros(5, 6, 7, dtype=torch.complex64, requires_grad=True)
    made = Problem.from_arrays(x, (2, 0, 1))
    assert made == Problem.from_arrays(x.detach(), (2, 0, 1)) == Problem((2, 0, 1), (5, 6, 7), "c").row_major
    assert Problem.from_arrays(torch.nn.Parameter(x), (2, 0, 1), x.new_empty(7, 5, 6)) == made
    view = x.detach().conj()
    assert Problem.from_arrays(view.conj(), (2, 0, 1)) == made
    assert Problem.from_arrays(view.resolve_conj(), (2, 0, 1)) == made
    for given, advice in (
        ((view,), "x is a lazily conjugated view, which no solution takes: pass x.resolve_conj(), or x.conj() with"),
        ((x, (0, 1, 2), view), "out is a lazily conjugated view, which no solution takes: pass out.resolve_conj()"),
    ):
        with pytest.raises(ArrayError, match=re.escape(advice)):
            Problem.from_arrays(*given)


PLAIN = np.empty((4, 6))
REFUSED: list[tuple[tuple[Any, ...], type[Exception], str]] = [
    ((PLAIN[:, ::2],), ArrayError, "x has shape (4, 3) and strides (48, 16) of 8-byte elements: a Problem states"),
    ((PLAIN[::-1],), ArrayError, "ttc_llvm.transpose takes any strides"),
    ((np.broadcast_to(np.empty(6), (4, 6)),), ArrayError, "x has shape (4, 6) and strides (0, 8)"),
    ((PLAIN, (1, 0), np.empty((6, 8))[:, ::2]), ArrayError, "out has shape (6, 4) and strides (64, 16)"),
    ((PLAIN, (1, 0), np.empty((4, 6))), ArrayError, "out has shape (4, 6): the transposed array has (6, 4)"),
    ((PLAIN, (1, 1)), ArrayError, "axes (1, 1) do not permute the 2 axes of the array"),
    ((PLAIN, (0,)), ArrayError, "axes (0,) do not permute the 2 axes"),
    ((PLAIN, "10"), ArrayError, "axes '10' is not a sequence of integers"),
    ((PLAIN, (1.0, 0)), ArrayError, "axes[0] 1.0 is not an integer"),
    ((PLAIN, (1, 0), np.empty((6, 4), ">f8")), ProblemError, "data types float64 -> >f8 cannot be combined"),
    ((PLAIN.astype("c16"), (1, 0), np.empty((6, 4))), ProblemError, "data types complex128 -> float64"),
    ((np.empty((4, 6), object),), ProblemError, "holds Python objects"),
]


@pytest.mark.parametrize(("given", "error", "sentence"), REFUSED, ids=[sentence[:50] for *_, sentence in REFUSED])
def test_what_no_problem_states_is_refused(given: tuple[Any, ...], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as refusal:
        Problem.from_arrays(*given)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_rows_are_columns_backwards() -> None:
    given = Problem((2, 0, 1), (4, 5, 6), lda=(4, 7, 8), ldb=(9, 4, 5))
    made = given.row_major
    assert (made.perm, made.size, made.lda, made.ldb) == ((1, 2, 0), (6, 5, 4), (8, 7, 4), (5, 4, 9))
    assert made.row_major == given and made.is_row_major and not given.is_row_major
    x, out = np.random.default_rng(0).random((4, 7, 8)), np.full((9, 4, 5), np.nan)
    carried_out(made, x, out)
    assert np.array_equal(out[:6], x[:4, :5, :6].transpose(2, 0, 1))
    assert np.isnan(out[6:]).all()
    with pytest.raises(ProblemError, match=re.escape("axes_a 0,0 is not a permutation of 0..1")):
        Problem((1, 0), (2, 3), axes_a=(0, 0))


# --- the command line -------------------------------------------------------------------------------------------


def stated(*options: str) -> Problem:
    """The problem of a command line."""
    return problem_of(reading.read(options))


def test_order_c_reads_the_numbers_as_numpy_has_them() -> None:
    image = np.empty((720, 1280, 3), np.float32)
    assert stated(*HWC, "--order=C") == stated(*HWC, "--order=c") == Problem.from_arrays(image, (2, 0, 1))
    assert stated(*HWC, "--order=F") == stated(*HWC) == Problem((2, 0, 1), (720, 1280, 3))
    padded = np.empty((4, 7, 8), np.float32)[:, :5, :6]
    out = np.empty((6, 9, 10), np.float32)[:, :4, :5]
    lines = ("--perm=2,0,1", "--size=4,5,6", "--lda=4,7,8", "--ldb=6,9,10", "--order=C")
    assert stated(*lines) == Problem.from_arrays(padded, (2, 0, 1), out)


def test_mistakes_are_told_with_the_numbers_as_typed() -> None:
    for options, sentence in (
        (("--perm=1,0", "--size=-4,5", "--order=C"), "size[0] = -4 is negative"),
        (("--perm=1,0", "--size=4,5", "--lda=4,3", "--order=C"), "lda[1] = 3 is less than size[1] = 5"),
        (("--perm=1,0", "--size=4,5", "--ldb=3,9", "--order=C"), "ldb[0] = 3 is less than size[perm[0]] = 5"),
    ):
        with pytest.raises(ProblemError, match=re.escape(sentence)):
            stated(*options)
    with pytest.raises(ttc_llvm.OptionError, match=re.escape("--order=R: F (column-major) or C (row-major)")):
        stated(*HWC, "--order=R")


def test_loop_orders_name_the_indices_as_typed() -> None:
    typed, turned = Problem((2, 1, 0), (8, 9, 10)).row_major, Problem((2, 1, 0), (10, 9, 8))
    canonical = canonicalise(typed).canonical
    assert canonical == canonicalise(turned).canonical
    for order in itertools.permutations(range(3)):
        other = tuple(2 - index for index in order)
        assert decisions.to_axes(order, typed, canonical) == decisions.to_axes(other, turned, canonical)
    merged = Problem((2, 0, 1), (8, 9, 10)).row_major
    with pytest.raises(ttc_llvm.OptionError, match=r"loopPerm 1,2,0 cannot be had: indices 0,1 are contiguous"):
        decisions.to_axes((1, 2, 0), merged, canonicalise(merged).canonical)


def test_manifests_take_the_order(tmp_path: Path) -> None:
    image = Problem((2, 0, 1), (720, 1280, 3)).row_major
    plain = Problem((1, 0), (48, 32))
    text = f"{' '.join(HWC)} --order=C\n--perm=1,0 --size=48,32\n"
    entries = [{"perm": [2, 0, 1], "size": [720, 1280, 3], "order": "C"}, {"perm": [1, 0], "size": [48, 32]}]
    for name, content in (("p.txt", text), ("p.json", json.dumps(entries))):
        Path(name).write_text(content)
        listed = cli_library.prepare(reading.read([f"--manifest={name}"]))
        assert [one.job.problem for one in listed] == [image, plain]
    listed = cli_library.prepare(reading.read(["--manifest=p.txt", "--order=C"]))
    assert [one.job.problem for one in listed] == [image, plain.row_major]
    Path("p.txt").write_text(f"{' '.join(HWC)} --order=C\n--perm=1,2,0 --size=3,1280,720\n")
    (one,) = cli_library.prepare(reading.read(["--manifest=p.txt"]))
    assert one.job.problem == image  # the same problem, stated twice


def test_reports_show_the_numbers_as_typed(capsys: pytest.CaptureFixture[str]) -> None:
    tiny = ("--perm=2,0,1", "--size=6,5,4", "--lda=6,5,8", "--order=C", "--generateOnly")
    name = "sTranspose120_4x5x6_lda8x5x6"
    words = "in C order perm 2,0,1, size 6x5x4, lda 6x5x8"
    assert cli.main([*tiny]) == 0
    summary = capsys.readouterr().out
    assert f"perm 1,2,0, size 4x5x6, type s, lda 8x5x6, {words}" in summary
    assert "C order:  perm 2,0,1, size 6x5x4, lda 6x5x8" in Path(f"{name}.h").read_text()
    assert cli.main(["explain", *tiny[:-1], "--stage=problem"]) == 0
    assert words in " ".join(capsys.readouterr().out.split())
    assert cli.main([*tiny, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["problem"]["perm"], found["problem"]["size"]) == ([1, 2, 0], [4, 5, 6])
    for entry in (found["problem"], found["stated"]):  # both are entries of a manifest, of one problem
        Path("m.json").write_text(json.dumps([entry]))
        (listed,) = cli_library.prepare(reading.read(["--manifest=m.json"]))
        assert listed.stem == name
    assert cli.main(["--perm=1,0", "--size=4,5", "--json", "--generateOnly"]) == 0
    assert "stated" not in json.loads(capsys.readouterr().out)


# --- the page -----------------------------------------------------------------------------------------------------


def blocks(language: str) -> list[str]:
    """The page's code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_examples_of_the_page() -> None:
    names: dict[str, Any] = {}
    for block in blocks("python"):
        exec(compile(block, "docs/row_major.md", "exec"), names)
    assert names["y"].shape == (3, 720, 1280)


def test_the_command_of_the_page_and_its_object() -> None:
    (block,) = blocks("console")
    command = shlex.split(block.removeprefix("$ "))
    assert cli.main(command[1:]) == 0
    (named,) = {name for name in re.findall(r"`(\w+)\.o`", PAGE)}
    assert Path(f"{named}.o").exists() and Path(f"{named}.h").exists()


def test_the_table_of_the_page() -> None:
    image = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)  # H, W, C
    rows = re.findall(r"^\| `--perm=(\S+) --size=3,1280,720` \| H x W x C to (\w x \w x \w) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 3
    for perm, result in rows:
        axes = tuple("HWC".index(letter) for letter in result.split(" x "))
        out = np.empty(tuple(image.shape[k] for k in axes), np.float32)
        carried_out(Problem(tuple(map(int, perm.split(","))), (4, 3, 2)), image, out)
        assert np.array_equal(out, image.transpose(axes)), perm

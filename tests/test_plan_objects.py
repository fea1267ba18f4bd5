"""Plans of emitted libraries: shapes of run time, from C, C++ and other languages."""

from __future__ import annotations

import ctypes
import random
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import plan_calls
import pytest
import wrong_plan_calls
from native_build import STANDARDS, STRICT, building, compiler, has_openmp, run
from plan_calls import Plans, ints, words
from processes import together

import ttc_llvm
from ttc_llvm import cli
from ttc_llvm.compiling.library import Library
from ttc_llvm.errors import OptionError
from ttc_llvm.ir_builders import layout_fields
from ttc_llvm.ir_builders.plan_objects import fields, overlaps, tables
from ttc_llvm.machine.target import Target
from ttc_llvm.native import elf, plan_header
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend

TYPES = ("s", "c*", "sd", "i8", "v12")
NAME = "planned"
OWN = Problem((2, 0, 1), (20, 33, 6), lda=(20, 40, 6))

pytestmark = pytest.mark.usefixtures("own_place")


def library(folder: Path, types: tuple[str, ...], target: Target | str, emit: tuple[str, ...]) -> Path:
    """A library of one problem for each pair of types, and of `OWN`."""
    problems = [Problem((1, 0), (5, 7), one.rstrip("*"), conjugate="*" in one) for one in types]
    solutions = [ttc_llvm.compile(problem, 1, target=target) for problem in (*problems, OWN)]
    Library(NAME, solutions).write(folder, emit)
    return folder


def test_the_header_lists_the_types_that_plans_take() -> None:
    """Conversions that no any-size kernel knows are entries of the library, and no plans."""
    problems = [Problem((1, 0), (5, 7), name) for name in ("s", "f16,s", "i8", "u8,d", "sd")]
    text = plan_header.block("library", problems)
    assert '"s", "i8", "sd"' in text and "f16" not in text and "u8" not in text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library whose tensors of any size are written past the caches, by threads that pay early."""
    with building(tmp_path_factory) as (folder, patch):
        patch.setattr(tables, "STREAMED_CACHES", 0)
        patch.setattr(fields, "BYTES_PER_PART", 1 << 10)
        return library(folder, TYPES, backend.host_target(), ("shared", "static", "plan"))


@pytest.fixture(scope="module")
def plans(folder: Path) -> Plans:
    return Plans(folder / "lib" / f"lib{NAME}.so", NAME)


def created(plans: Plans, problem: Problem, types: str = "s", threads: int = 1, **strides: Any) -> Any:
    """A plan of a problem's shape."""
    plan = ctypes.c_void_p()
    given = (strides.get("a"), strides.get("b"))
    code = plans.create(
        ctypes.byref(plan), len(problem.perm), ints(problem.perm), words(problem.size), *map(words, given),
        types.encode(), threads,
    )  # fmt: skip
    assert code == fields.OK
    return plan


def test_random_calls(plans: Plans) -> None:
    draw = random.Random(1)
    for number in range(400):
        plan_calls.check(plans, plan_calls.drawn(draw, TYPES, 1 << 14), number)


@pytest.mark.parametrize(
    ("perm", "size"),
    [
        ((1, 0), (700, 611)), ((1, 0), (704, 640)), ((2, 1, 0), (39, 20, 45)), ((0, 2, 1), (300, 15, 17)),
        ((4, 3, 2, 1, 0), (39, 7, 6, 5, 39)), ((0, 2, 1), (512, 9, 8)), ((1, 3, 0, 4, 2), (55, 17, 18, 5, 4)),
        ((1, 0), (100_000, 3)), ((1, 0), (2, 70_000)), ((5, 1, 4, 0, 3, 2), (64, 3, 2, 4, 3, 48)),
        ((1, 2, 0), (21, 48, 9)), ((3, 0, 2, 1), (37, 5, 4, 80)), ((0, 2, 1), (48, 9, 7)),
        ((1, 0), (37, 64)), ((1, 0), (1, 4096)), ((2, 1, 0), (48, 5, 32)), ((2, 1, 0), (40, 7, 80)),
        ((3, 2, 5, 1, 0, 4), (32, 3, 2, 48, 4, 3)), ((1, 0, 2), (130, 16, 5)), ((2, 1, 0), (1100, 5, 383)),
        ((6, 5, 4, 3, 2, 1, 0), (20, 2, 3, 2, 3, 2, 32)), ((6, 5, 4, 3, 2, 1, 0), (64, 2, 3, 2, 3, 2, 97)),
        ((2, 1, 0), (70, 6, 101)), ((2, 1, 0), (600, 3, 97)), ((3, 2, 1, 0), (65, 3, 4, 99)),
        ((2, 3, 1, 0), (81, 3, 111, 2)), ((3, 2, 0, 1), (62, 40, 3, 65)), ((3, 2, 5, 1, 0, 4), (33, 15, 3, 33, 2, 3)),
        ((3, 2, 1, 0), (62, 5, 30, 129)), ((2, 4, 1, 0, 3, 5), (24, 20, 12, 4, 16, 2)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("offset", [0, 4])
def test_every_way_to_write(plans: Plans, perm: tuple[int, ...], size: tuple[int, ...], offset: int) -> None:
    """Rows of B on lines and off them, long and short ones that go on from row to row."""
    n = int(np.prod(size))
    a = np.random.default_rng(3).standard_normal(n).astype("f4")
    memory = np.full(4 * n + 512, 77, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    b = memory[start : start + 4 * n].view("f4")
    plan = created(plans, Problem(perm, size), threads=3)
    for parts in (1, 3):
        memory[:] = 77
        for part in range(parts):
            assert plans.execute_part(plan, a.ctypes.data, b.ctypes.data, None, None, part, parts) == fields.OK
        wanted = a.reshape(size, order="F").transpose(perm).reshape(-1, order="F")
        assert b.tobytes() == wanted.tobytes()
        assert np.all(memory[:start] == 77) and np.all(memory[start + 4 * n :] == 77)
    plans.destroy(plan)


@pytest.mark.parametrize("offset", range(4))
def test_runs_whose_pieces_are_shorter_than_a_line(plans: Plans, offset: int) -> None:
    """The first piece of a run of B ends within the line that it begins in; what is before is left as it was."""
    size, perm = (8, 4, 5, 6), (1, 0, 3, 2)
    a = np.random.default_rng(3).integers(0, 100, int(np.prod(size)), "u1")
    memory = np.full(a.size + 192, 77, np.uint8)
    b = memory[-memory.ctypes.data % 64 + 64 + offset :][: a.size]
    plan = created(plans, Problem(perm, size, "i8"), "i8")
    assert plans.execute(plan, a.ctypes.data, b.ctypes.data, None, None) == fields.OK
    assert b.tobytes() == a.reshape(size, order="F").transpose(perm).tobytes(order="F")
    assert np.all(memory[: 64 + offset + -memory.ctypes.data % 64] == 77)
    plans.destroy(plan)


@pytest.mark.parametrize(
    ("perm", "size", "threads", "wanted_parts"),
    [((1, 0), (700, 611), 2, 2), ((1, 0), (80, 20_000), 16, 9), ((2, 1, 0), (130, 20, 45), 12, 12),
     ((2, 1, 0), (45, 20, 130), 12, 12), ((0, 2, 1), (16, 30, 3000), 12, 12),
     ((1, 0), (3000, 601), 64, 46), ((0,), (300_000,), 9, 9), ((0, 1), (3000, 500), 40, 40),
     ((1, 0), (9, 11), 4, 1), ((1, 0), (31, 4097), 7, 7)],
)  # fmt: skip
@pytest.mark.parametrize("offset", [0, 1])
def test_many_threads_have_parts(
    plans: Plans, perm: tuple[int, ...], size: tuple[int, ...], threads: int, wanted_parts: int, offset: int
) -> None:
    """Axes are divided until every thread has tasks; all elements are written, some by each part."""
    n = int(np.prod(size))
    a = np.random.default_rng(3).standard_normal(n).astype("f4")
    memory = np.full(n + 32, -5, "f4")
    b = memory[-memory.ctypes.data % 64 // 4 + offset :][:n]
    wanted = a.reshape(size, order="F").transpose(perm).reshape(-1, order="F")
    plan = created(plans, Problem(perm, size), threads=threads)
    parts = plans.parts(plan)
    assert parts == wanted_parts
    for part in reversed(range(parts)):
        before = b.tobytes()
        assert plans.execute_part(plan, a.ctypes.data, b.ctypes.data, None, None, part, parts) == fields.OK
        assert b.tobytes() != before
    assert np.array_equal(b, wanted) and (memory == -5).sum() == 32
    plans.destroy(plan)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sse2", "haswell"])
def test_other_instruction_sets(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not backend.runs_here(backend.resolve(target)):
        return
    compiler("cc")
    monkeypatch.setattr(tables, "STREAMED_CACHES", 0)
    found = Plans(library(tmp_path, ("s", "z"), target, ("shared", "plan")) / "lib" / f"lib{NAME}.so", NAME)
    draw = random.Random(2)
    for number in range(200):
        plan_calls.check(found, plan_calls.drawn(draw, ("s", "z"), 1 << 15), number)


def test_a_plan_serves_many_threads_at_once(plans: Plans) -> None:
    plan = created(plans, Problem((2, 1, 0), (61, 40, 50)))
    inputs = [np.random.default_rng(k).standard_normal(61 * 40 * 50).astype("f4") for k in range(6)]
    outputs, start, wrong = [np.empty_like(x) for x in inputs], threading.Barrier(6), []

    def work(k: int) -> None:
        wanted = inputs[k].reshape((61, 40, 50), order="F").transpose().reshape(-1, order="F")
        start.wait()
        for _ in range(30):
            outputs[k][:] = -1
            code = plans.execute(plan, inputs[k].ctypes.data, outputs[k].ctypes.data, None, None)
            if code or not np.array_equal(outputs[k], wanted):
                wrong.append(k)

    together(work, range(6))
    plans.destroy(plan)
    assert not wrong


def test_the_librarys_own_problems(plans: Plans) -> None:
    """They are found by their shape, however strides are spelled; a plan of them runs their code."""
    perm, size = ints(OWN.perm), words(OWN.size)
    dense = words((1, 6, 120))
    strides = [(words((1, 20, 800)), None), (words((1, 20, 800)), dense)]
    found = {plans.lookup(3, perm, size, *pair, b"s") for pair in strides}
    assert len(found) == 1 and None not in found
    for other in ((3, perm, size, None, None, b"s"), (3, perm, size, words((1, 21, 840)), None, b"s"),
                  (3, perm, size, words((1, 20, 800)), None, b"d"), (-1, perm, size, None, None, b"s"),
                  (2, perm, size, None, None, b"s"), (3, ints((0, 1, 1)), size, None, None, b"s")):  # fmt: skip
        assert plans.lookup(*other) is None
    kinds = (*[ctypes.c_void_p] * 4, ctypes.c_int, ctypes.c_int)
    entry = ctypes.CFUNCTYPE(None, *kinds)(found.pop())
    a = np.random.default_rng(5).standard_normal((6, 40, 20)).astype("f4")
    b, alpha, beta = np.full((33, 20, 6), 3, "f4"), np.array([2], "f4"), np.array([1], "f4")
    entry(a.ctypes.data, b.ctypes.data, None, None, 0, 1)
    assert np.array_equal(b, a[:, :33].transpose(1, 2, 0))
    plan = created(plans, OWN, a=(1, 20, 800))
    assert plans.execute(plan, a.ctypes.data, b.ctypes.data, alpha.ctypes.data, beta.ctypes.data) == fields.OK
    assert np.array_equal(b, 3 * a[:, :33].transpose(1, 2, 0))
    plans.destroy(plan)


CREATED: dict[int, tuple[Any, ...]] = {
    fields.RANK: (65, ints((0,) * 65), words((1,) * 65), None, None, b"s", 1),
    fields.NULL: (2, None, words((2, 3)), None, None, b"s", 1),
    fields.PERM: (2, ints((0, 2)), words((2, 3)), None, None, b"s", 1),
    fields.SIZE: (2, ints((1, 0)), words((2, -3)), None, None, b"s", 1),
    fields.STRIDES: (2, ints((1, 0)), words((2, 3)), None, words((1, 2)), b"s", 1),
    fields.OVERFLOW: (2, ints((1, 0)), words((1 << 40, 1 << 40)), None, None, b"s", 1),
    fields.TYPES: (2, ints((1, 0)), words((2, 3)), None, None, b"z", 1),
    fields.THREADS: (2, ints((1, 0)), words((2, 3)), None, None, b"s", 0),
}


@pytest.mark.parametrize("code", CREATED, ids=lambda code: fields.ERRORS[code][0])
def test_what_create_refuses(plans: Plans, code: int) -> None:
    plan = ctypes.c_void_p(1)
    assert plans.create(ctypes.byref(plan), *CREATED[code]) == code and plan.value is None
    assert plans.create(None, *CREATED[code]) == fields.NULL
    assert plans.error_text(code).decode() == fields.ERRORS[code][1]


def test_what_execute_refuses(plans: Plans) -> None:
    plan, memory = created(plans, Problem((1, 0), (4, 6))), np.zeros(400, "f4")
    a, b = memory.ctypes.data, memory.ctypes.data + 4 * 200
    for code, given in (
        (fields.NULL, (None, b, None, None, 0, 1)), (fields.NULL, (a, None, None, None, 0, 1)),
        (fields.ALIGNMENT, (a + 1, b, None, None, 0, 1)), (fields.ALIGNMENT, (a, b + 2, None, None, 0, 1)),
        (fields.OVERLAP, (a, a, None, None, 0, 1)), (fields.OVERLAP, (a, a + 4 * 23, None, None, 0, 1)),
        (fields.PART, (a, b, None, None, -1, 1)), (fields.PART, (a, b, None, None, 1, 1)),
        (fields.PART, (a, b, None, None, 0, 0)), (fields.OK, (a, a + 4 * 24, None, None, 0, 1)),
    ):  # fmt: skip
        assert plans.execute_part(plan, *given) == code
    zero = np.zeros(1, "f4")
    assert plans.execute(plan, None, b, zero.ctypes.data, None) == fields.OK
    assert plans.execute(None, a, b, None, None) == fields.NULL
    assert plans.parts(None) == 0 and plans.destroy(None) is None
    plans.destroy(plan)
    moved = created(plans, Problem((1, 0), (4, 6)), "i8")
    assert plans.execute(moved, a, b, a, None) == fields.SCALARS
    plans.destroy(moved)
    assert plans.error_text(-5) == plans.error_text(1000) == b"a number that is no code of these functions"


def test_tensors_may_interleave(plans: Plans) -> None:
    """Halves of the rows of one matrix, and every other element: no element is shared."""
    x = np.arange(40 * 20, dtype="f4")
    wanted = x.reshape(20, 40)[:10, :20].copy()
    halves = created(plans, Problem((0, 1), (20, 10)), a=(1, 40), b=(1, 40))
    assert plans.execute(halves, x.ctypes.data, x.ctypes.data + 80, None, None) == fields.OK
    assert np.array_equal(x.reshape(20, 40)[:10, 20:], wanted)
    assert plans.execute(halves, x.ctypes.data, x.ctypes.data + 76, None, None) == fields.OVERLAP
    plans.destroy(halves)
    every_other = created(plans, Problem((0,), (300,)), a=(2,), b=(2,))
    assert plans.execute(every_other, x.ctypes.data, x.ctypes.data + 4, None, None) == fields.OK
    assert plans.execute(every_other, x.ctypes.data, x.ctypes.data + 8, None, None) == fields.OVERLAP
    plans.destroy(every_other)


def test_sharing_is_found_by_search() -> None:
    """The search in Python, against the bytes of all elements."""
    draw, seen = random.Random(4), Counter[int]()
    for _ in range(600):
        rank, sizes = draw.randint(0, 3), draw.choice(((4, 4), (4, 8), (16, 8)))
        layout, places = ctypes.create_string_buffer(layout_fields.LAYOUT_BYTES), []
        axes = [(draw.randint(1, 4), draw.choice((4, 8, -8, 20, 0)), draw.choice((4, 8, -12, 40))) for _ in range(rank)]
        ctypes.c_int64.from_buffer(layout, layout_fields.RANK).value = rank
        for k, words_of_axis in enumerate(axes):
            at = layout_fields.AXES + layout_fields.AXIS_BYTES * k
            (ctypes.c_int64 * 3).from_buffer(layout, at)[:] = [*words_of_axis]
        distance = draw.randint(-60, 60)
        for side, start, size in ((1, 0, sizes[0]), (2, distance, sizes[1])):
            found = {start}
            for axis in axes:
                found = {place + i * axis[side] for place in found for i in range(axis[0])}
            places.append({byte for place in found for byte in range(place, place + size)})
        shared = overlaps.share(ctypes.addressof(layout), distance, *sizes)
        assert shared == (not places[0].isdisjoint(places[1])), (axes, distance, sizes)
        seen[shared] += 1
    assert min(seen[0], seen[1]) > 100


def test_wrong_calls_return_codes(plans: Plans) -> None:
    draw, memory = random.Random(6), np.zeros(1 << 18, np.uint8)
    seen = Counter(wrong_plan_calls.fuzz(plans, draw, memory) for _ in range(3000))
    refused = {fields.NULL, fields.RANK, fields.PERM, fields.SIZE, fields.STRIDES, fields.OVERFLOW, fields.TYPES}
    assert refused | {fields.OK, fields.THREADS} <= set(seen)


# --- files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("driver", "language", "standard"), STANDARDS)
def test_headers_have_no_warnings(driver: str, language: str, standard: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "use.c").write_text(f'#include "{NAME}.h"\nint main(void) {{ return {NAME}_plan_parts(0); }}\n')
    strict = (*STRICT, "-Wconversion", "-Wno-unknown-pragmas")
    for threads in ([], ["-fopenmp"] if has_openmp(compiler(driver), tmp_path) else []):
        options = [f"-std={standard}", "-x", language, *threads, *strict, f"-I{folder}/include", "-fsyntax-only"]
        run(compiler(driver), *options, tmp_path / "use.c")


def test_symbols_are_those_of_the_header(folder: Path) -> None:
    symbols = elf.defined_symbols((folder / "lib" / f"lib{NAME}.so").read_bytes())
    header = (folder / "include" / f"{NAME}.h").read_text()
    planned = {one.partition("@")[0] for one in symbols if "_plan_" in one}
    grouped = {one.partition("@")[0] for one in symbols if "_group_" in one}
    assert (len(planned), len(grouped)) == (7, 6)
    assert all(f" {one}(" in header or f"*{one}(" in header for one in planned | grouped)
    own = ttc_llvm.compile(OWN, 1, target="sse2")
    Library(NAME, [own]).write(folder, ("shared", "static"))  # all that was there counts as ours


def test_without_a_library_it_is_an_object_of_its_own(tmp_path: Path) -> None:
    wanted = ("--perm=1,0", "--size=6,7", "--emit=obj,header,plan", "--cpu=sse2")
    assert cli.main([*wanted, "--generateOnly", "--quiet"]) == 0
    assert Path("sTranspose10_6x7_plan.o").exists()
    assert "sTranspose10_6x7_plan_create" in Path("sTranspose10_6x7.h").read_text()


@pytest.mark.parametrize("cpu", ["neon", "rvv", "sve256", "vsx-be"])
def test_other_machines_have_them(cpu: str, tmp_path: Path) -> None:
    solution = ttc_llvm.compile(Problem((1, 0), (6, 7), "i8"), 1, target=cpu)
    (path,) = (one for one in Library("other", [solution]).write(tmp_path, ("obj", "plan")) if "plan" in one.name)
    assert {"other_plan_create", "other_plan_execute"} <= set(elf.defined_symbols(path.read_bytes()))


def test_single_solutions_have_none(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="unknown kind of artifact 'plan'"):
        ttc_llvm.compile(OWN, 1).write(tmp_path, ("plan",))

"""Any-size kernels of strided layouts: right for every layout of a family, shared, stored, and left when it pays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import machine
import numpy as np
import pytest
import reference_layouts
import strategies
from case import Case, scaling, windows
from guarded_case import GuardedCase, Place
from hypothesis import given
from hypothesis import strategies as st
from known_layouts import forget, forgotten, served_by
from processes import together
from tiers import examples

import ttc_llvm
from ttc_llvm.arrays import family, family_kernels, scalings, strided
from ttc_llvm.arrays.family import Family, Form
from ttc_llvm.arrays.layouts import PAYBACK_BYTES, Layouts, layouts
from ttc_llvm.arrays.native_entry import NO_MOVES
from ttc_llvm.arrays.overlaps import overlaps_itself
from ttc_llvm.ir_builders import planner_fields as fields
from ttc_llvm.ir_builders.pool_layout import SERIAL_BYTES
from ttc_llvm.ir_builders.prepared_calls import LEAST_BYTES
from ttc_llvm.lowering.lower import lower
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Axis, Canonical, from_axes
from ttc_llvm.problem.dtypes import dtype
from ttc_llvm.problem.kinds import COPY
from ttc_llvm.runtime import backend, kernel, linking, mapping

RNG = np.random.default_rng(11)
NEVER, ALWAYS = 1 << 50, 0


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nothing is remembered from other tests, and nothing is left to them."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions"))
    monkeypatch.setattr(strided, "REST", 0)
    with forgotten():
        yield


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes the table, and with it the families' kernels, those of a process that begins."""

    def make() -> None:
        table = Layouts()
        monkeypatch.setattr(strided, "layouts", lambda: table)
        monkeypatch.setattr(strided, "native_moves", lambda: NO_MOVES)  # which have the table of this process

    return make


# --- families ---------------------------------------------------------------------------------------------


def family_of(*axes: tuple[int, int, int], t: str = "s") -> Family | None:
    item = dtype(t)
    return reference_layouts.family_of(from_axes([Axis(*axis) for axis in axes], item, item, COPY).canonical)


@pytest.mark.parametrize(
    ("axes", "form", "step", "rank"),
    [
        ([(9, 1, 1)], Form.ROWS, 1, 2),
        ([(9, -1, 1)], Form.ROWS, -1, 2),
        ([(9, 1, 1), (5, 20, 10)], Form.ROWS, 1, 2),
        ([(16, 0, 1), (5, 1, 16)], Form.COLUMNS, 1, 2),
        ([(16, 10, 1), (9, -1, 16), (3, 160, 160)], Form.COLUMNS, -1, 4),
        ([(2, 9, 1), (9, 1, 2)], Form.ELEMENTS, 1, 2),
        ([(16, 18, 1), (9, 2, 16)], Form.COLUMNS, 2, 2),
        ([(16, 27, 1), (9, -3, 16)], Form.COLUMNS, -3, 2),
        ([(16, 45, 1), (9, 5, 16)], Form.ELEMENTS, 1, 2),
        ([(9, 2, 1), (9, 20, 9)], Form.ELEMENTS, 1, 2),
        ([(9, 9, 2), (9, 1, 18)], Form.ELEMENTS, 1, 2),
        ([(2, 2 << k, 1 << (7 - k)) for k in range(8)], Form.ELEMENTS, 1, 8),
        ([(1, 7, 7)], Form.ROWS, 1, 2),
    ],
)
def test_layouts_have_the_family_of_their_contiguous_axes(axes: Any, form: Form, step: int, rank: int) -> None:
    found = family_of(*axes)
    assert found is not None
    assert (found.form, found.step, found.rank) == (form, step, rank)


def test_layouts_of_many_axes_have_no_family() -> None:
    assert family_of(*[(2, 1 << k, 1 << (8 - k)) for k in range(9)]) is None


def test_one_kernel_serves_all_extents_and_strides() -> None:
    first, second = family_of((100, 30, 1), (30, 1, 100)), family_of((17, 900, 1), (9, 1, 40), (3, 50, 999))
    assert first is not None and second is not None
    assert first.rank < second.rank
    assert family_of((64, 999, 1), (77, 1, 64)) == first


def run_family(case: Case, target: Target, flush: str) -> None:
    """The family's kernel on guarded memory, tasks in two halves; compares every byte of B's storage."""
    placed = case.placed
    canonical = placed.canonical
    shared = reference_layouts.family_of(canonical)
    if shared is None or 0 in canonical.extents:
        return
    form, plan = family.canonical_form(shared), family.plan(shared, target)
    numbers = np.array(reference_layouts.values(shared, canonical), np.int64)
    loaded = linking.load(_object(form, target), (kernel.NAME,))
    made = GuardedCase.of(case, Place(flush), Place(flush))
    factors = machine.scalars(canonical.compute, case.alpha, case.beta)
    entry = machine.SIGNATURE(loaded.address(kernel.NAME))
    tasks = reference_layouts.tasks(form, plan, numbers.tolist())
    for begin, end in ((tasks // 2, tasks), (0, tasks // 2)):
        entry(*made.bases, factors.ctypes.data, numbers.ctypes.data, 0, begin, end)
    made.check(f": {case} {shared}")


_objects: dict[tuple[Canonical, str], bytes] = {}


def _object(form: Canonical, target: Target) -> bytes:
    key = (form, target.key)
    if key not in _objects:
        shared = Family(form.a, form.b, form.kinds, form.conjugate, *_structure(form))
        plan = family.plan(shared, target)
        assert lower(form, plan, target).scratch == 0
        _objects[key] = backend.compile_object(kernel.ir_text(form, plan, target), target)
    return _objects[key]


def _structure(form: Canonical) -> tuple[Form, int, int]:
    """What `canonical_form` made of a family, read back."""
    first, second = form.axes[:2]
    rank = len(form.axes)
    if isinstance(first.stride_b, int) and isinstance(first.stride_a, int):
        return Form.ROWS, first.stride_a, rank
    if isinstance(first.stride_b, int):
        assert isinstance(second.stride_a, int)
        return Form.COLUMNS, second.stride_a, rank
    return Form.ELEMENTS, 1, rank


@examples(125)
@given(strategies.cases(3000), st.sampled_from(machine.runnable()[:1] * 3 + machine.runnable()), st.booleans())
def test_kernels_of_families_are_right_for_any_layout(case: Case, target: Target, at_start: bool) -> None:
    run_family(case, target, "start" if at_start else "end")


@pytest.mark.parametrize("step", fields.COLUMN_STEPS)
@pytest.mark.parametrize("target", machine.runnable(), ids=str)
def test_columns_with_gaps_are_right_on_every_machine(step: int, target: Target) -> None:
    t = dtype(("i8", "i16", "s", "z")[abs(step) - 1])
    for rows, columns in ((16, 9), (5, 70)):
        case = Case((Axis(rows, columns * abs(step) + 1, 1), Axis(columns, step, rows + 2)), t, t)
        found = reference_layouts.family_of(case.placed.canonical)
        assert found is not None and (found.form, found.step) == (Form.COLUMNS, step)
        run_family(case, target, "end")


# --- functions of arrays ------------------------------------------------------------------------------------


@examples(60)
@given(st.data())
def test_both_paths_give_the_same_bits(data: st.DataObject) -> None:
    """General strides on both sides, all kinds of scalars, types and conjugation, into guarded memory."""
    case = data.draw(strategies.cases(2000))
    found = []
    for payback in (NEVER, ALWAYS):
        forget(payback)
        made, (window_a, window_b) = GuardedCase.of(case, Place(), Place()), windows(case)
        view = window_b.view(made.b)
        scale = scaling(case)
        if overlaps_itself(view):
            return
        strided.assign(window_a.view(made.a), view, scale, data.draw(st.integers(1, 2)), 1)
        made.check(f": {payback} {case}")
        found.append(made.b.tobytes())
    assert found[0] == found[1]


def runner(x: Any, axes: Any = None, threads: int | None = None, effort: int = 1) -> str:
    """What serves x's layout after one more call."""
    assert (ttc_llvm.transpose(x, axes, threads=threads, effort=effort) == x.transpose(axes)).all()
    return served_by(x, axes, threads, effort)


def test_new_layouts_run_on_their_familys_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    x = RNG.random((20, 30))
    assert runner(x) == "family"
    ttc_llvm.transpose(x)  # so that the native way in is there, too
    with monkeypatch.context() as patch:  # no compiler needed for a family that is known
        patch.setattr(backend, "compile_object", lambda *_: pytest.fail("compiled"))
        for shape in ((21, 30), (100, 9), (64, 64), (9, 300)):
            x = RNG.random(shape)
            assert runner(x) == "family"


def test_what_is_large_or_tuned_or_of_many_axes_gets_a_kernel_of_its_own() -> None:
    big = np.zeros(PAYBACK_BYTES // 8, np.float32).reshape(-1, 1024)
    assert runner(big, threads=1) == "own"
    assert runner(RNG.random((20, 30)), effort=2) == "own"
    assert runner(RNG.random((2,) * 10)) == "own"
    assert runner(big[:-9], threads=1) == "family"


def test_layouts_that_return_get_a_kernel_of_their_own() -> None:
    x = RNG.random((50, 60))
    forget(5 * 2 * x.nbytes)
    kinds = [runner(x, axes=[1, 0]) for _ in range(8)]
    assert kinds == ["family"] * 5 + ["own"] * 3


def test_small_calls_count_for_more_than_their_bytes() -> None:
    x = RNG.random((3, 4))
    forget(3 * LEAST_BYTES)
    assert [runner(x, axes=[1, 0]) for _ in range(5)] == ["family"] * 3 + ["own"] * 2


def test_hardly_filled_micro_tiles_count_in_full() -> None:
    x = RNG.integers(0, 99, (64, 48, 4), np.uint8)
    forget(3 * 64 * 48 // 8 * reference_layouts.STEP_BYTES[Form.COLUMNS])
    columns = Family(dtype("i8"), dtype("i8"), COPY, False, Form.COLUMNS, 1, 2)
    if family.plan(columns, backend.host_target()).block == (8, 8):
        assert [runner(x, axes=[2, 0, 1]) for _ in range(5)] == ["family"] * 3 + ["own"] * 2


def test_odd_addresses_are_promoted_too() -> None:
    raw = np.frombuffer(RNG.bytes(8 * 300 + 3), np.uint8)
    x = raw[3:].view(np.float64).reshape(15, 20)
    forget(3 * LEAST_BYTES)
    kinds = []
    for _ in range(6):
        assert (ttc_llvm.transpose(x) == x.T).all()
        kinds.append(served_by(x, odd=3))
    assert kinds == ["family"] * 3 + ["own"] * 3


def test_threads_share_a_layout_while_it_is_promoted() -> None:
    x = RNG.random((70, 300))
    forget(40 * 2 * x.nbytes)
    wrong: list[int] = []

    def work() -> None:
        for turn in range(40):
            if not (ttc_llvm.transpose(x, threads=1 + turn % 2) == x.T).all():
                wrong.append(turn)

    together(lambda _: work(), range(6))
    assert not wrong


def test_several_threads_run_one_general_call() -> None:
    forget(NEVER)
    for shape, axes in (((900, 700), None), ((40, 50, 60, 7), (2, 0, 3, 1)), ((60, 70, 90), (1, 0, 2))):
        x = RNG.random(shape)
        assert runner(x, axes, threads=3) == "family"
        assert x.nbytes >= 2 * SERIAL_BYTES


# --- stored code ------------------------------------------------------------------------------------------


def assign(x: Any) -> None:
    out = np.empty(x.shape[::-1])
    strided.assign(x.T, out, scalings.PLAIN, 1, 1)
    assert (out == x.T).all()


def test_kernels_of_families_are_stored_for_later_processes(
    monkeypatch: pytest.MonkeyPatch, anew: Callable[[], None]
) -> None:
    x = RNG.random((20, 30))
    anew()
    assign(x)
    anew()
    monkeypatch.setattr(backend, "compile_object", lambda *_: pytest.fail("compiled"))
    assign(x)


def test_what_is_stored_of_families_has_a_revision() -> None:
    """Their code is found by their number alone: raise `family_kernels.REVISION` with the digest below."""
    told = sha256()
    for number in range(fields.MOVE_TYPES * fields.FORMS * len(fields.RANKS) + 60):
        made = family.numbered(number)
        plans = [str(family.plan(made, lookup.find(name))) for name in ("sse2", "avx", "avx2", "avx512", "neon", "sve")]
        told.update(f"{number} {family.canonical_form(made)} {plans}\n".encode())
    assert (family_kernels.REVISION, told.hexdigest()[:16]) == (2, "9e2f943d6bffdd7e")


def test_stored_code_that_cannot_be_linked_is_made_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, anew: Callable[[], None]
) -> None:
    x = RNG.random((20, 30))
    anew()
    assign(x)
    load, failures = mapping.mapped, [ttc_llvm.CompileError("no image")] * 2

    def failing(*given: Any) -> mapping.Loaded:
        if failures:
            raise failures.pop()
        return load(*given)

    monkeypatch.setattr(mapping, "mapped", failing)
    anew()
    assign(x)
    assert not failures
    assert re.search("stored code of any-size kernel [0-9]+ is ignored: no image", caplog.text)


# --- calls again and again ----------------------------------------------------------------------------------


@pytest.mark.parametrize("payback", [NEVER, ALWAYS, 40 * LEAST_BYTES])
def test_short_and_long_ways_agree(payback: int) -> None:
    forget(payback)
    base = RNG.integers(0, 1 << 40, (6, 7, 8))
    views = (base, base[::-1], base[:, ::2], base.T, base[1:, 1:, 1:], base[:, None, :, 3], base.astype("i1"))
    for _ in range(50):
        for x in views:
            for axes in (None, tuple(range(x.ndim)), (1, 2, 0), (-1, 0, 1)):
                assert (ttc_llvm.transpose(x, axes) == x.transpose(axes)).all()


def test_layouts_that_are_known_hide_no_error() -> None:
    x = RNG.random((5, 6))
    for _ in range(3):
        ttc_llvm.transpose(x)
        ttc_llvm.transpose(x, (1, 0))
    for wrong in ({"threads": 0}, {"threads": "2"}, {"effort": 0}, {"order": "Z"}, {"beta": 1}, {"axes": (0, 0)}):
        with pytest.raises(ttc_llvm.TtcError):
            ttc_llvm.transpose(x, **wrong)


def test_layouts_that_are_known_serve_other_calls() -> None:
    x = RNG.random((5, 6))
    for _ in range(3):
        ttc_llvm.transpose(x)
    assert (ttc_llvm.transpose(x, alpha=2) == 2 * x.T).all()
    assert (ttc_llvm.transpose(x, alpha=True) == x.T).all()
    assert ttc_llvm.transpose(x, order="F").flags.f_contiguous
    masked = np.ma.masked_array(x, x > 0.5)
    assert (ttc_llvm.transpose(masked).mask == masked.mask.T).all()
    out = np.empty((6, 5))
    assert ttc_llvm.transpose(x, out=out) is out


def test_small_layouts_are_promoted() -> None:
    x = RNG.random((8, 9))
    forget(10 * LEAST_BYTES)
    kinds = [runner(x) for _ in range(25)]
    assert (*kinds[:9], kinds[-1]) == (*("family",) * 9, "own")


def test_memory_of_code_goes_with_its_layouts() -> None:
    layouts().reset(payback=ALWAYS, most_owned=4)
    for n in range(2, 30):
        for _ in range(3):
            ttc_llvm.transpose(np.zeros((n, 3)))
    assert len(layouts()) <= 4

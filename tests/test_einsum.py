"""`einsum` and `tensordot` compute what NumPy's do, for random specs, layouts, types and scalars."""

from __future__ import annotations

import math
import random
import string
import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttc_llvm
from ttc_llvm.contractions import blas, known, pairwise, products
from ttc_llvm.runtime.once import Recent

Array = npt.NDArray[Any]
ROUNDS = 250


@pytest.fixture(params=["blas", "numpy"])
def _either_product(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products by SciPy's BLAS, and by NumPy as where SciPy is not installed."""
    if request.param == "numpy":
        monkeypatch.setattr(blas, "scipy_blas", lambda: None)
        monkeypatch.setattr(blas, "is_published", lambda: False)
    elif blas.scipy_blas() is None:
        pytest.skip("SciPy is not installed")
    for owner, name in ((pairwise, "_prepared"), (pairwise, "_placed"), (known, "_known")):
        monkeypatch.setattr(owner, name, Recent(64))


class Drawn:
    """A random spec and operands for it."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = random.Random(seed)
        self.rng = np.random.default_rng(seed)
        extents, count = draw.choice([*[((2, 3, 4, 5), 6)] * 7, *[((0, 1, 2, 3), 6)] * 2, ((1, 7, 16, 24, 33), 3)])
        letters = draw.sample(string.ascii_letters, count)  # the fewer, the longer
        self.extents = {x: draw.choice(extents) for x in letters}
        self.kind = draw.choice("fdFD")
        self.dots = [draw.randint(1, 3) for _ in range(2)] if draw.random() < 0.2 else []
        parts: list[str] = []
        self.arrays: list[Array] = []
        for _ in range(draw.choice([1, 2, 2, 2, 3, 4])):
            labels = [draw.choice(letters) for _ in range(draw.randint(0, 4))]
            parts.append(self._operand(labels))
        self.spec = ",".join(parts) + self._result(parts)

    def _operand(self, labels: list[str]) -> str:
        draw = self.draw
        ones = [labels.count(x) == 1 and draw.random() < 0.07 for x in labels]
        shape = [1 if one else self.extents[x] for x, one in zip(labels, ones, strict=True)]
        if self.dots and draw.random() < 0.7:
            at, count = draw.randint(0, len(labels)), draw.randint(0, 2)
            labels = [*labels[:at], "...", *labels[at:]]
            wide = [extent if draw.random() < 0.8 else 1 for extent in self.dots[2 - count :]]
            shape = [*shape[:at], *wide, *shape[at:]]
        self.arrays.append(self._laid_out(shape, draw.choice([self.kind] * 3 + ["f", "d"])))
        return "".join(labels)

    def _result(self, parts: list[str]) -> str:
        known = sorted(set("".join(parts).replace(".", "")))
        chosen = self.draw.sample(known, self.draw.randint(0, len(known)))
        if any("..." in part for part in parts):
            chosen.insert(self.draw.randint(0, len(chosen)), "...")
        return "->" + "".join(chosen) if self.draw.random() < 0.8 else ""

    def _laid_out(self, shape: list[int], kind: str) -> Array:
        """Random elements in any order of axes, padded, and some axes backwards."""
        order = self.draw.sample(range(len(shape)), len(shape))
        memory = np.asarray(self.rng.standard_normal([shape[k] + self.draw.choice([0, 0, 1]) for k in order]))
        if kind in "FD":
            memory = memory + 1j * self.rng.standard_normal(memory.shape)
        inside = (..., *map(slice, shape))
        turned = (..., *(slice(None, None, self.draw.choice([1, 1, 1, -1])) for _ in shape))
        view: Array = memory.astype(kind).transpose(np.argsort(order))[inside][turned]
        return view

    def like(self, x: Array) -> Array:
        """An array of x's shape and type, laid out at random."""
        return self._laid_out([*x.shape], x.dtype.char)

    def bound(self) -> Array:
        """The most by which a result may differ from NumPy's: each rounds each sum of products of each element."""
        sizes = np.einsum(self.spec, *(np.abs(x).astype("d") for x in self.arrays), optimize=True)
        coarsest = max(np.finfo(x.dtype).eps for x in self.arrays)
        terms = math.prod(max(extent, 1) for extent in (*self.extents.values(), *self.dots))
        return np.asarray(4 * coarsest * (terms + 8) * sizes)

    def close(self, got: Array, wanted: Array, bound: Array) -> bool:
        """True within the bound."""
        alike = got.shape == wanted.shape and got.dtype == wanted.dtype
        return alike and bool((np.abs(got - wanted) <= bound + 1e-30).all())


@pytest.mark.usefixtures("_either_product")
@pytest.mark.parametrize("seed", range(4))
def test_random_specs(seed: int) -> None:
    _check_specs(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4, 84))
def test_20_000_random_specs(seed: int) -> None:
    _check_specs(seed)


def _check_specs(seed: int) -> None:
    done = 0
    for k in range(ROUNDS):
        drawn = Drawn(1000 * seed + k)
        try:
            wanted = np.asarray(np.einsum(drawn.spec, *drawn.arrays, optimize=True))
        except ValueError:
            with pytest.raises(ValueError, match=r"."):
                ttc_llvm.einsum(drawn.spec, *drawn.arrays)
            continue
        bound = drawn.bound()
        for turn in range(2):  # the second call finds what the first one left
            got = ttc_llvm.einsum(drawn.spec, *drawn.arrays)
            assert drawn.close(np.asarray(got), wanted, bound), (drawn.spec, turn)
        placed = ttc_llvm.einsum(drawn.spec, *drawn.arrays, order="C", optimize=drawn.draw.choice([True, False]))
        assert drawn.close(np.asarray(placed), wanted, bound)
        if len(drawn.arrays) > 1:
            assert np.asarray(placed).flags.c_contiguous
        _check_out(drawn, wanted, bound)
        done += 1
    assert done > ROUNDS // 2


def _check_out(drawn: Drawn, wanted: Array, bound: Array) -> None:
    out = drawn.like(wanted)
    alpha, beta = drawn.draw.choice([(1, 0), (2, 0), (0.5, -1), (0, 2)])
    after = alpha * wanted + beta * out
    if beta == 0:
        out[...] = np.nan
    assert ttc_llvm.einsum(drawn.spec, *drawn.arrays, out=out, alpha=alpha, beta=beta) is out
    bound = 2 * bound + 1e-6 * np.abs(after) * (out.dtype.char in "fF") + 1e-14 * np.abs(after)
    assert drawn.close(out, after.astype(out.dtype), bound), (drawn.spec, alpha, beta)


@pytest.mark.usefixtures("_either_product")
def test_timed_plans_compute_the_same() -> None:
    a, b = np.random.rand(7, 8, 9), np.random.rand(9, 5, 7)
    wanted = np.einsum("ijk,kli->jl", a, b)
    for effort in (2, "measure", -1):
        assert np.allclose(ttc_llvm.einsum("ijk,kli->jl", a, b, effort=effort), wanted)


def test_lists_of_labels() -> None:
    a, b = np.random.rand(3, 4), np.random.rand(4, 2, 5)
    assert np.allclose(ttc_llvm.einsum(a, [0, 1], b, [1, ..., 51], [..., 0, 51]), np.einsum("ij,j...k->...ik", a, b))
    assert np.allclose(ttc_llvm.einsum(a, [0, 1], b, [1, 2, 3]), np.tensordot(a, b, 1))


@pytest.mark.parametrize("kind", "dli")
def test_specs_are_texts_or_bytes(kind: str) -> None:
    a, b = A.astype(kind), B.astype(kind)
    assert (ttc_llvm.einsum(b"ij,jk->ki", a, b) == ttc_llvm.einsum(np.str_("ij,jk->ki"), a, b)).all()
    assert (ttc_llvm.einsum(b"ij,jk->ki", a, b) == (a @ b).T).all()


def test_a_single_operand_is_viewed() -> None:
    a = np.random.rand(4, 4, 3)
    for spec in ("iij->ji", "ijk->kji", "iik"):
        got = ttc_llvm.einsum(spec, a)
        assert np.shares_memory(got, a) == np.shares_memory(np.einsum(spec, a), a)
        assert np.array_equal(got, np.einsum(spec, a))


def test_other_types_are_numpys() -> None:
    a = np.arange(12).reshape(3, 4)
    got = ttc_llvm.einsum("ij,kj->ik", a, a)
    assert got.dtype == a.dtype
    assert np.array_equal(got, a @ a.T)
    objects = np.array([[1, 2], [3, 4]], object)
    assert ttc_llvm.einsum("ij,jk->ik", objects, objects).tolist() == (objects @ objects).tolist()
    with pytest.raises(ValueError, match=r"contractions of dtype int64 are NumPy's, which has no alpha and beta"):
        ttc_llvm.einsum("ij,kj->ik", a, a, alpha=2)


def test_results_without_axes_are_of_numpys_kinds() -> None:
    """Scalars of `einsum`, of objects too; arrays of `tensordot`."""
    a, whole = np.random.rand(3, 4), np.arange(3)
    for spec, x in (("ij,ij", a), ("i,i", whole), ("i,i", whole.astype(object))):
        assert type(ttc_llvm.einsum(spec, x, x)) is type(np.einsum(spec, x, x))
    assert type(ttc_llvm.einsum("ij,->", a, np.float64(2))) is np.float64
    for x in (a, a.astype("F"), whole):
        for _ in range(2):  # the second call finds what the first one left
            got = ttc_llvm.tensordot(x, x, x.ndim)
            assert isinstance(got, np.ndarray)
            assert np.allclose(got, np.tensordot(x, x, x.ndim))


def test_no_order_is_the_usual_one() -> None:
    a, b = np.random.rand(3, 4), np.random.rand(4, 5)
    assert np.allclose(ttc_llvm.einsum("ij,jk", a, b, order=None), a @ b)  # type: ignore[arg-type]


def test_types_are_promoted_and_cast() -> None:
    a, b = np.random.rand(3, 4).astype("f"), np.random.rand(4, 5) + 1j
    got = ttc_llvm.einsum("ij,jk->ik", a, b)
    assert got.dtype == "D"
    assert np.allclose(got, a @ b)
    assert ttc_llvm.einsum("ij,jk->ik", a, b.real, dtype="f", casting="same_kind").dtype == "f"
    assert np.allclose(ttc_llvm.einsum("ij,jk->ik", a, b.real.astype(">f8")), a @ b.real)
    out = np.empty((3, 5), "D")
    ttc_llvm.einsum("ij,jk->ik", a, b.real, out=out)
    assert np.allclose(out, a @ b.real)


def test_beta_zero_never_reads_out_and_an_empty_sum_is_beta_c() -> None:
    a, b, out = np.empty((3, 0)), np.empty((0, 4)), np.full((3, 4), np.nan)
    ttc_llvm.einsum("ij,jk->ik", a, b, out=out)
    assert not out.any()
    out += 5
    ttc_llvm.einsum("ij,jk->ik", a, b, out=out, beta=-2)
    assert (out == -10).all()


A, B = np.ones((3, 4)), np.ones((4, 5))
OTHER = np.ones((6, 5))
REFUSED = [
    (("ij,jk->ik", A, OTHER), {}, r"index j has extent 4 in a and 6 in b"),
    (("ij,jk->ik", A), {}, r"spec 'ij,jk->ik' has 2 operands, but 1 is given"),
    (("ij", A, B), {}, r"spec 'ij' has 1 operand, but 2 are given"),
    (("", A), {}, r"a has 2 axes, but 0 labels"),
    (("ij,jk", A, A[0]), {}, r"b has 1 axis, but 2 labels"),
    (("ijk,jk->ik", A, B), {}, r"a has 2 axes, but 3 labels"),
    (("ij,jk->il", A, B), {}, r"index l of the result stands in no operand"),
    (("ij,jk->ii", A, B), {}, r"index i stands more than once in the result"),
    (("i1,1k", A, B), {}, r"spec 'i1,1k' has '1': labels are letters of ASCII, '...' or '->'"),
    (("i......,jk", A, B), {}, r"spec .* has more than one ellipsis in"),
    (("...j,jk->k", A, B), {}, r"the result has no ellipsis"),
    (("ii->i", A), {}, r"index i has extents 3 and 4 in a"),
    (("ii", np.ones((4, 1))), {}, r"index i has extents 4 and 1 in a"),
    (("ii->i", np.ones((1, 4))), {}, r"index i has extents 1 and 4 in a"),
    (("i,ii", np.ones(4), np.ones((1, 4))), {}, r"index i has extents 1 and 4 in b"),
    (("ij,jk,ka->ia", A, B, A), {}, r"index k has extent 5 in b and 3 in c"),
    ((A, [0, 7], OTHER, [7, 2]), {}, r"index 7 has extent 4 in a and 6 in b"),
    ((A, [0, 1], B, [1, 2], [0, 3]), {}, r"index 3 of the result stands in no operand"),
    ((A, [0, 1], B, [1, 52]), {}, r"label 52 of b is not in 0\.\.51"),
    ((A, [0, 1.5], B, [1, 2]), {}, r"a label of a 1\.5 is not an integer"),
    ((A, [True, False]), {}, r"a label of a True is not an integer"),
    ((b"i\xe4,jk", A, B), {}, r"spec 'i\xe4,jk' has '\xe4': labels are letters of ASCII"),
    ((), {}, r"einsum takes a spec and operands"),
    ((A,), {}, r"einsum takes operands behind a spec"),
    (("ij,jk->ik", A, B), {"out": np.empty((3, 4))}, r"out has shape \(3, 4\): the result has \(3, 5\)"),
    (("ij,jk->ik", A, B), {"out": np.empty((3, 5), "f")}, r"out has dtype float32, to which float64 is not cast"),
    (("ij,jk->ik", A, B), {"beta": 1}, r"beta = 1 without out"),
    (("ij,jk->ik", A, B), {"alpha": 1j}, r"alpha = 1j is complex, but the dtype float64 is real"),
    (("ij,jk->ik", A, B), {"order": "Z"}, r"order 'Z' is unknown"),
    (("ij,jk->ik", A, B), {"casting": "maybe"}, r"casting 'maybe' is unknown"),
    (("ij,jk->ik", A, B), {"dtype": "f"}, r"a has dtype float64, which is not cast to float32 by casting 'safe'"),
    (("ij,jk->ik", A, B), {"threads": 0}, r"threads 0 is less than 1"),
    (("ij,jk,kl", A, B, B.T), {"optimize": [(0, 5)]}, r"optimize \[\(0, 5\)\] is no path for 3 operands"),
    (("ij,jk,kl", A, B, B.T), {"optimize": [(0, 1)]}, r"optimize \[\(0, 1\)\] is no path for 3 operands: it leaves 2"),
    (("ij,jk,kl", A, B, B.T), {"optimize": "fast"}, r"optimize 'fast' leads to no path"),
    (("ij,jk", A, B), {"optimize": [(0, 5)]}, r"optimize \[\(0, 5\)\] is no path for 2 operands: step \(0, 5\)"),
    (("ij,jk", A, B), {"optimize": 5}, r"optimize 5 leads to no path"),
    (("ij,jk->ik", A, B.astype("m8[s]")), {}, r"dtypes float64 and timedelta64\[s\] have none in common"),
    (("ij->ji", A), {"optimize": [(0, 1)]}, r"optimize \[\(0, 1\)\] is no path for 1 operand: step \(0, 1\)"),
]


@pytest.mark.parametrize(("operands", "options", "message"), REFUSED)
def test_bad_calls_are_told_in_one_sentence(operands: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as told:
        ttc_llvm.einsum(*operands, **options)
    assert "\n" not in str(told.value)
    assert isinstance(told.value, ttc_llvm.TtcError)


def test_paths_of_two_operands_are_taken_as_numpy_takes_them() -> None:
    for path in (None, "greedy", "anything", [(1, 0)], ["einsum_path", (0,), (np.int64(0), 1)]):
        assert np.allclose(ttc_llvm.einsum("ij,jk", A, B, optimize=path), A @ B), path
        counted = ttc_llvm.einsum("ij,jk,kl", *(x.astype(int) for x in (A, B, B.T)), optimize=[(1, 2), (0, 1)])
        assert (counted == A @ B @ B.T).all()


def test_a_path_may_hold_steps_of_one_operand() -> None:
    for path in ([(0,), (0, 1), (1, 0)], [(0, 1), (0, 1), (0,)], [(0, 1, 2), (0,)]):
        out = np.full((3, 4), np.nan)
        assert ttc_llvm.einsum("ij,jk,lk->il", A, B, B, out=out, optimize=path) is out
        assert np.allclose(out, A @ B @ B.T), path
    one: list[Any] = [[], [(0,)], ["einsum_path"], [(0,), (0,)]]
    for steps in one:
        assert (ttc_llvm.einsum("ij->ji", A, optimize=steps) == A.T).all(), steps


@pytest.mark.parametrize("out", ["test", 5, [[0.0] * 5] * 3])
def test_a_place_that_is_no_array_is_a_type_error_as_numpys(out: Any) -> None:
    for kind in (float, int):  # NumPy multiplies integers
        with pytest.raises(TypeError, match="out is a"):
            ttc_llvm.einsum("ij,jk->ik", A.astype(kind), B.astype(kind), out=out)
    with pytest.raises(ttc_llvm.ArrayError, match="out is a"):
        ttc_llvm.tensordot(A, B, 1, out=out)


def test_a_dtype_that_is_none_is_a_type_error_as_numpys() -> None:
    with pytest.raises(TypeError, match="dtype 'nothing' is none that NumPy knows") as told:
        ttc_llvm.einsum("ij,jk->ik", A, B, dtype="nothing")
    assert isinstance(told.value, ttc_llvm.ArrayError)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["D", ">f8", "g", ">c16"])
def test_out_of_another_type_is_scaled_in_that_type(kind: str) -> None:
    for spec, operands in (("ij,jk->ik", (A, B)), ("ij->ji", (A,)), ("ij,jk,lk->il", (A, B, OTHER))):
        few = [x.astype("f") for x in operands]
        wanted = 0.5 * np.einsum(spec, *operands)
        held = np.full(wanted.shape, 1 + 2**-40 + (3j if np.dtype(kind).kind == "c" else 0), kind)
        for out in (held.copy(), np.asfortranarray(held)):
            assert ttc_llvm.einsum(spec, *few, out=out, alpha=0.5, beta=-2) is out
            assert (out == wanted - 2 * held).all()


def test_out_must_not_overlap() -> None:
    x = np.random.rand(4, 4)
    with pytest.raises(ttc_llvm.ArrayError, match=r"out shares memory with a"):
        ttc_llvm.einsum("ij,jk->ik", x, np.ones((4, 4)), out=x)
    with pytest.raises(ttc_llvm.ArrayError, match=r"elements of out share memory"):
        ttc_llvm.einsum("ij,jk->ik", x, x, out=np.lib.stride_tricks.as_strided(np.empty(4), (4, 4), (0, 8)))


@pytest.mark.parametrize("axes", [0, 1, 2, ([1, 0], [0, 1]), ((-1, 0), (1, 0)), (1, 0), ([], []), ((2,), (0,))])
def test_tensordot(axes: Any) -> None:
    a, b = np.random.rand(4, 3, 4), np.random.rand(3, 4, 4)
    if axes in (1, (1, 0)):
        b = np.random.rand(4, 5) if axes == 1 else np.random.rand(3, 2)
    if axes == ((2,), (0,)) or axes == ((-1, 0), (1, 0)):
        b = np.random.rand(4, 4)
    if axes == ([1, 0], [0, 1]):
        b = np.random.rand(3, 4, 2)
    wanted = np.tensordot(a, b, axes)
    assert np.allclose(ttc_llvm.tensordot(a, b, axes), wanted)
    out = np.full(wanted.shape, np.nan)
    assert ttc_llvm.tensordot(a, b, axes, out=out) is out
    assert np.allclose(out, wanted)


def test_spans_of_time_are_numpys() -> None:
    spans, numbers = A.astype(int).astype("m8[s]"), np.arange(20).reshape(4, 5)
    wanted = np.tensordot(spans, numbers, 1)
    out = np.zeros(wanted.shape, wanted.dtype)
    for found in (ttc_llvm.tensordot(spans, numbers, 1), ttc_llvm.tensordot(spans, numbers, 1, out=out), out):
        assert found.dtype == wanted.dtype and (found == wanted).all()
    assert (ttc_llvm.tensordot(spans, B, 1) == np.tensordot(spans, B, 1)).all()  # objects
    with pytest.raises(ttc_llvm.ArrayError, match=r"out has shape \(3, 4\): the result has \(3, 5\)"):
        ttc_llvm.tensordot(spans, numbers, 1, out=np.zeros((3, 4), wanted.dtype))
    for dates, place in ((A.astype("M8[s]"), None), (spans, np.zeros(wanted.shape))):
        with pytest.raises(ttc_llvm.ArrayError, match=r"numpy\.tensordot says"):
            ttc_llvm.tensordot(dates, numbers, 1, out=place)


def test_arrays_name_axes() -> None:
    for axes in (np.array([[1], [0]]), ([1], np.array([0])), (np.array(1), np.int8(0)), np.array(1)):
        assert np.allclose(ttc_llvm.tensordot(A, B, axes), A @ B)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (4, r"axes 4 is not in 0\.\.2, the axes of a"),
        (-1, r"axes -1 is not in 0\.\.2, the axes of a"),
        (([0], [0, 1]), r"name 1 axis of a, but 2 of b"),
        (([2], [0]), r"axis 2 of a is not in -2\.\.1"),
        (([0, 0], [0, 1]), r"name an axis of a twice"),
        ("ab", r"axes 'ab' is not a sequence"),
        ((1, 2, 3), r"is neither a number nor a list of a's axes"),
        (np.ones((2, 1)), r"the axes of a .* is not a sequence of integers"),
        ([[1], [1]], r"axis 1 of a has extent 4, axis 1 of b 5: axes that are summed over together have one extent"),
    ],
)
def test_bad_axes_are_told(axes: Any, message: str) -> None:
    with pytest.raises(ttc_llvm.TtcError, match=message):
        ttc_llvm.tensordot(A, B, axes)


def test_tensordot_does_not_broadcast() -> None:
    """As NumPy's, which refuses extents of 1 beside others; `einsum` broadcasts them, as NumPy's does."""
    with pytest.raises(ttc_llvm.TtcError, match="axis 1 of a has extent 1, axis 0 of b 5"):
        ttc_llvm.tensordot(np.ones((3, 1)), np.ones((5, 4)), 1)
    with pytest.raises(ttc_llvm.TtcError, match="axis 1 of a has extent 5, axis 0 of b 1"):
        ttc_llvm.tensordot(np.ones((3, 5)), [[1.0, 2.0]], 1)


def test_scipy_is_imported_where_its_blas_runs_alone() -> None:
    """Whether it has one is known before."""
    assert blas.is_published() == (blas.scipy_blas() is not None)
    program = "import sys; from ttc_llvm.contractions import blas; print(blas.settings().split()[0])"
    told = subprocess.run(
        [sys.executable, "-c", f"{program}; assert 'scipy.linalg' not in sys.modules"], capture_output=True, text=True
    )
    assert (told.stdout, told.stderr) == (("numpy\n", "scipy\n")[blas.is_published()], "")


def test_scipy_s_blas_is_loaded_alone_and_imported_as_ever() -> None:
    """SciPy's linear algebra takes long to import. Whoever wants it finds it whole."""
    if not blas.is_published():
        pytest.skip("SciPy is not installed")
    program = """
import sys
from ttc_llvm.contractions import blas
found = blas.scipy_blas()
assert "scipy.linalg" not in sys.modules and "scipy.linalg.cython_blas" not in sys.modules
import scipy.linalg, scipy.linalg.cython_blas
assert scipy.linalg.cython_blas.__pyx_capi__.keys() >= {f"{x}gemm" for x in found.addresses}
assert (scipy.linalg.inv([[2.0]]) == 0.5).all() and blas._published() is scipy.linalg.cython_blas
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_products_use_the_blas_that_scipy_publishes(monkeypatch: pytest.MonkeyPatch) -> None:
    if blas.scipy_blas() is None:
        pytest.skip("SciPy is not installed")
    called: list[Any] = []
    run = products.BlasLoops.__call__
    monkeypatch.setattr(products.BlasLoops, "__call__", lambda *given: called.append(run(*given)))
    a, b = np.random.rand(8, 9), np.random.rand(9, 7)
    assert np.allclose(ttc_llvm.einsum("ij,jk->ik", a, b), a @ b)
    assert called


def test_tensors_of_pytorch_come_back() -> None:
    torch = pytest.importorskip("torch")
    a, b = torch.rand(3, 4, dtype=torch.complex64), torch.rand(4, 5, dtype=torch.complex64)
    got = ttc_llvm.einsum("ij,jk->ki", a.conj(), b)
    assert isinstance(got, torch.Tensor)
    assert torch.allclose(got, torch.einsum("ij,jk->ki", a.conj(), b))
    out = torch.zeros(5, 3, dtype=torch.complex64)
    assert ttc_llvm.einsum("ij,jk->ki", a, b, out=out, alpha=2) is out
    assert torch.allclose(out, 2 * torch.einsum("ij,jk->ki", a, b))


def test_lazily_conjugated_tensors_are_conjugated_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.Tensor, "resolve_conj", None)  # which would copy
    draw = random.Random(7)
    extents = dict(zip("ijklm", (5, 4, 6, 3, 2), strict=True))
    for spec in ("ijl,jkl->ikl", "ijkl,lkm->mij", "ij,jk,kl->li", "ii->i", "ij->ji", "ijk->", "ij,jk->"):
        inputs, _, output = spec.partition("->")
        for _ in range(12):
            drawn = [_complex(torch, [extents[x] for x in part], draw) for part in inputs.split(",")]
            tensors, arrays = [x for x, _ in drawn], [x for _, x in drawn]
            wanted = torch.from_numpy(np.asarray(np.einsum(spec, *arrays)))
            assert torch.allclose(ttc_llvm.einsum(spec, *tensors), wanted), spec
            alpha, beta = draw.choice([(1, 0), (2 - 1j, 0), (1j, 0.5 + 1j)])
            out, _ = _complex(torch, [extents[x] for x in output], draw, lazy=False)
            after = alpha * wanted + beta * out
            if beta == 0:
                out.fill_(torch.nan)
            assert ttc_llvm.einsum(spec, *tensors, out=out, alpha=alpha, beta=beta) is out
            assert torch.allclose(out, after), (spec, alpha, beta)


def _complex(torch: Any, shape: list[int], draw: random.Random, lazy: bool = True) -> tuple[Any, Array]:
    """A random tensor, its axes in any order, perhaps lazily conjugated, and the array that it stands for."""
    order = draw.sample(range(len(shape)), len(shape))
    found = torch.randn([shape[k] for k in order], dtype=torch.complex128).permute(list(np.argsort(order)))
    if not lazy or draw.random() < 0.4:
        return found, found.numpy().copy()
    return found.conj(), found.numpy().conj()


CHILD = """
import threading, numpy as np, ttc_llvm
a, b = np.random.rand(6, 7, 8), np.random.rand(8, 5, 7)
wanted = np.einsum("ijk,klj->li", a, b)
barrier, wrong = threading.Barrier(8), []
def work():
    barrier.wait()
    for _ in range(20):
        out = np.full((5, 6), np.nan)
        ttc_llvm.einsum("ijk,klj->li", a, b, out=out)
        if not (np.allclose(out, wanted) and np.allclose(ttc_llvm.einsum("ijk,klj->li", a, b), wanted)):
            wrong.append(1)
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
assert not wrong
print("right")
"""


@pytest.mark.parametrize("_round", range(3))
def test_threads_from_cold(_round: int) -> None:
    run = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "right\n"), run.stderr

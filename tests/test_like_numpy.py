"""`transpose` and its like in the place of NumPy's: names of parameters, axes, objects, NumPy's own protocols."""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import layouts
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from processes import PATIENCE
from tiers import examples

import ttc_llvm
from ttc_llvm.errors import ArrayError, OptionError, ProblemError
from ttc_llvm.problem import dtypes

RNG = np.random.default_rng(8)
CONTIGUOUS = ((ttc_llvm.ascontiguousarray, np.ascontiguousarray), (ttc_llvm.asfortranarray, np.asfortranarray))

pytestmark = pytest.mark.usefixtures("module_database")


# --- parameters -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "names"),
    [
        (ttc_llvm.transpose, ("a", "axes")),
        (ttc_llvm.ascontiguousarray, ("a", "dtype", "like")),
        (ttc_llvm.asfortranarray, ("a", "dtype", "like")),
    ],
)
def test_parameters_have_numpy_s_names(ours: Any, names: tuple[str, ...]) -> None:
    own = inspect.signature(ours).parameters
    assert [name for name in own if name in names] == list(names)
    try:
        theirs = inspect.signature(getattr(np, ours.__name__)).parameters
    except ValueError:  # before NumPy 2.4
        return
    assert tuple(theirs) == names
    for name in names:
        assert own[name].kind in (theirs[name].kind, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        assert own[name].default == theirs[name].default


def test_axes_one_by_one_are_refused_with_the_right_call() -> None:
    x: Any = np.zeros((2, 3, 4))
    unpacked: Any = ttc_llvm.transpose
    with pytest.raises(ArrayError, match=r"axes are one argument: transpose\(a, \(2, 0, 1\)\)"):
        unpacked(x, 2, 0, 1)
    with pytest.raises(ArrayError, match=r"axes are one argument: transpose\(a, \(0, 0\)\)"):
        unpacked(x[0, 0], 0, 0)
    with pytest.raises(ArrayError, match=r"only a and axes are given by position: say transpose\(a, axes, out=out\)"):
        unpacked(x, (2, 0, 1), np.zeros((4, 2, 3)))


@pytest.mark.parametrize("letter", "CFAKcfak")
def test_letters_of_orders_in_any_case(letter: Any) -> None:
    x = RNG.random((3, 4, 5)).transpose(1, 0, 2)
    got = ttc_llvm.transpose(x, order=letter)
    assert got.strides == x.T.copy(letter).strides
    with pytest.raises(ArrayError, match="order 'fc' is unknown"):
        ttc_llvm.transpose(x, order="fc")  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "u1", "?", ">f4", "longdouble"])
def test_real_numbers_are_their_own_conjugates(dtype: str) -> None:
    x = RNG.integers(0, 9, (4, 5)).astype(dtype)
    assert np.array_equal(ttc_llvm.transpose(x, conjugate=True), x.T)
    out = np.zeros((5, 4), dtype)
    assert np.array_equal(ttc_llvm.transpose(x, out=out, conjugate=True), np.conjugate(x).T)


def test_what_has_no_conjugate() -> None:
    for dtype in ("S3", "M8[s]", "u1,f4", ">c8"):
        with pytest.raises(ProblemError, match="conjugate needs a complex"):
            ttc_llvm.transpose(np.zeros((2, 3), dtype), conjugate=True)


# --- out is the transposed array itself -------------------------------------------------------------------


@examples(60)
@given(st.data())
def test_an_out_that_is_the_transposed_array_is_scaled_in_place(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(layouts.ARITHMETIC))
    shape = data.draw(layouts.shapes(3000, 4))
    x = data.draw(layouts.windows(shape, dtype, broadcast=False)).array
    layouts.soften(x, 3)
    axes = tuple(data.draw(st.permutations(range(len(shape)))))
    alpha, beta = data.draw(st.sampled_from(((1, 0), (2, 0), (0, 0), (-0.5, 2), (1, 1))))
    out = x.transpose(axes)
    types = (dtypes.from_numpy(dtype),) * 2
    wanted = reference.combine(out.copy(), out.copy(), types, alpha, beta, False)
    assert ttc_llvm.transpose(x, axes, out=out, alpha=alpha, beta=beta) is out
    assert reference.same(out.flatten(), np.asarray(wanted).flatten(), types[1], (alpha, beta) == (1, 0))


def test_conjugates_in_place_and_all_other_overlaps() -> None:
    x = RNG.random((4, 4)) + 1j * RNG.random((4, 4))
    before = x.copy()
    ttc_llvm.transpose(x, out=x.T, conjugate=True)
    assert np.array_equal(x, before.conj())
    moved = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert np.array_equal(ttc_llvm.transpose(moved, out=moved.T), np.arange(12).reshape(3, 4).T)
    for out in (x[::-1], x.T[::-1], x.view("f8")[:, ::2]):
        with pytest.raises(ArrayError, match=r"shares memory|out has dtype"):
            ttc_llvm.transpose(x, out=out)


def test_the_page_of_arrays_tells_the_truth() -> None:
    page = (Path(__file__).parent.parent / "docs" / "arrays.md").read_text()
    first, rest = page.split("```python\n")[1].split("```")[0].split("\ny = ")
    names: dict[str, Any] = {}
    exec(first, names)
    before = names["x"].copy()
    exec(f"y = {rest}", names)
    assert np.array_equal(names["y"], 2 * before.transpose(2, 0, 1))
    assert np.array_equal(names["x"], before)


# --- in NumPy's place -------------------------------------------------------------------------------------


def test_numpy_s_names_may_be_given_to_ours() -> None:
    program = """
        import numpy as np
        import ttc_llvm
        theirs = np.transpose, np.ascontiguousarray, np.asfortranarray
        np.transpose, np.ascontiguousarray = ttc_llvm.transpose, ttc_llvm.ascontiguousarray
        np.asfortranarray = ttc_llvm.asfortranarray
        x = np.random.default_rng(1).random((30, 40, 5))
        assert np.array_equal(np.transpose(x, (2, 0, 1)), theirs[0](x, (2, 0, 1)))
        for ours, their in ((np.ascontiguousarray, theirs[1]), (np.asfortranarray, theirs[2])):
            for given in (x, x.T, [1, 2], 5, x.astype(object), x.astype("i2").T):
                assert np.array_equal(ours(given), their(given))
                assert np.array_equal(ours(given, "f4"), their(given, "f4"))
        assert (np.transpose(np.array([["a", None]], object)) == [["a"], [None]]).all()
        ttc_llvm.compile(ttc_llvm.Problem((1, 0), (16, 24)), 3, 1)
        ttc_llvm.transpose(x, effort=3)
        print("done")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.stdout, done.stderr) == ("done\n", "")


class Own:
    """An array that implements NumPy's functions itself: what np.transpose makes of it is recorded."""

    def __init__(self, done: tuple[Any, ...] = ()) -> None:
        self.done = done

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function.__name__ == "transpose" and args[1:] == ((9,),):
            raise ZeroDivisionError("no such axis")
        return Own((*self.done, function.__name__, *args[1:], *kwargs))

    def copy(self) -> Own:
        """Another one."""
        return Own((*self.done, "copy"))


def test_objects_with_numpy_s_functions_copy_themselves() -> None:
    assert ttc_llvm.transpose(Own(), (1, 0), threads=1).done == ("transpose", (1, 0), "copy")
    assert ttc_llvm.transpose(Own()).done == ("transpose", None, "copy")
    with pytest.raises(ArrayError, match="a is a test_like_numpy Own, which transposes itself, and fails: no"):
        ttc_llvm.transpose(Own(), (9,))
    options: tuple[dict[str, Any], ...] = ({"out": np.zeros(3)}, {"order": "F"}, {"stream": 3})
    for option in options:
        with pytest.raises(ArrayError, match="out, order and stream are for arrays in memory"):
            ttc_llvm.transpose(Own(), **option)
    for option in ({"alpha": 2}, {"beta": 1}, {"conjugate": True}):
        with pytest.raises(ProblemError, match=r"transposes itself: (alpha = 2|beta = 1|conjugate)"):
            ttc_llvm.transpose(Own(), **option)
    with pytest.raises(ArrayError, match="out is a Own, which NumPy's functions make: take the result"):
        ttc_llvm.transpose(np.zeros(3), out=Own())
    with pytest.raises(OptionError, match="threads 0"):
        ttc_llvm.transpose(Own(), threads=0)


def test_arrays_are_made_like_others() -> None:
    ours: Any
    theirs: Any
    for ours, theirs in CONTIGUOUS:
        assert ours([1, 2], like=Own()).done == theirs([1, 2], like=Own()).done
        assert np.array_equal(ours([[1, 2]], "f4", like=np.zeros(1)), np.array([[1, 2]], "f4"))
        with pytest.raises(ArrayError, match=r"cannot be converted.*like"):
            ours([1, 2], like=5)


def test_classes_of_dtypes_are_numpy_s() -> None:
    for ours, theirs in CONTIGUOUS:
        for kind in (np.dtypes.Float32DType, np.dtypes.StrDType):
            got, wanted = ours(np.ones((2, 3)).T, kind), theirs(np.ones((2, 3)).T, kind)
            assert (got.dtype, got.strides, got.tobytes()) == (wanted.dtype, wanted.strides, wanted.tobytes())


# --- what NumPy copies ------------------------------------------------------------------------------------


def objects() -> tuple[Any, ...]:
    """Arrays whose elements are, or hold, references."""
    mixed = np.array([["a", None, 3], [(), {}, 1.5]], object)
    fields = np.zeros((2, 3), "i4,O")
    fields["f1"] = mixed
    made = [mixed, fields, np.ma.array(mixed, mask=[[True, False, False], [False, False, True]])]
    if hasattr(np.dtypes, "StringDType"):
        made.append(np.array([["a", "b" * 50, ""], ["x", "y", "z"]], np.dtypes.StringDType()))
    return tuple(made)


@pytest.mark.parametrize("x", objects(), ids=lambda x: type(x.dtype).__name__ + type(x).__name__)
def test_references_are_copied_by_numpy(x: Any) -> None:
    order: Any
    for order in "CFAK":
        got, wanted = ttc_llvm.transpose(x, order=order), x.T.copy(order)
        assert (type(got), got.dtype, got.strides) == (type(wanted), wanted.dtype, wanted.strides)
        assert got.tolist() == wanted.tolist()
        assert not np.shares_memory(got, x)
    with pytest.raises(ProblemError, match="holds Python objects: alpha = 2 is for floating-point arrays"):
        ttc_llvm.transpose(x, alpha=2)
    with pytest.raises(ProblemError, match="conjugate is for floating-point arrays"):
        ttc_llvm.transpose(x, conjugate=True)
    with pytest.raises(ArrayError, match="do not permute"):
        ttc_llvm.transpose(x, (0, 0))


def test_references_go_into_arrays_of_their_type() -> None:
    x = np.array([["a", None, 3], [(), {}, 1.5]], object)
    out = np.zeros((3, 2), object)
    assert ttc_llvm.transpose(x, out=out) is out
    assert out.tolist() == x.T.tolist()
    read_only = out.copy()
    read_only.flags.writeable = False
    square = np.zeros((2, 2), object)
    for given_, to, message in (
        (x, np.zeros((3, 2)), "out is no array of dtype object"),
        (x, x, r"out has shape \(2, 3\)"),
        (x, read_only, "out is read-only"),
        (square, square[::-1], "out shares memory"),
        (np.zeros((2, 3)), out, "out has dtype object, which holds Python objects: the array has float64"),
    ):
        with pytest.raises(ArrayError, match=message):
            ttc_llvm.transpose(given_, out=to)

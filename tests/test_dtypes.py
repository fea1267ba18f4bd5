"""Element types: names, NumPy's types, pairs, carriers."""

from __future__ import annotations

import numpy as np
import pytest

from ttc_llvm.errors import ProblemError
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.dtypes import Kind

SIZES = {"s": 4, "d": 8, "c": 8, "z": 16, "f16": 2, "bf16": 2, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "v3": 3}


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_sizes_agree_with_numpy(name: str, size: int) -> None:
    t = dtypes.dtype(name)
    assert t.itemsize == size == dtypes.to_numpy(t).itemsize
    assert str(t) == name


@pytest.mark.parametrize("name", dtypes.spellings())
def test_every_spelling_parses_and_names_itself(name: str) -> None:
    assert dtypes.pair_name(*dtypes.parse_pair(name)) == name


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("f4", "s"), ("f8", "d"), ("c8", "c"), ("c16", "z"), ("f2", "f16"), ("i1", "i8"), ("i8", "i64"),
        ("u4", "i32"), ("?", "i8"), ("M8[s]", "i64"), (">f4", "i32"), (">c16", "v16"), ("S3", "v3"), ("U2", "i64"),
        ("f4,f8", "v12"), ("V24", "v24"), ("(3,)f4", "v12"),
    ],
)  # fmt: skip
def test_numpy_types_map_to_arithmetic_or_plain_moves(spelling: str, name: str) -> None:
    assert dtypes.from_numpy(np.dtype(spelling)).name == name


@pytest.mark.parametrize(
    ("spelling", "rule"), [("O", "Python objects"), ("S0", "0 bytes"), ("i4,O", "Python objects")]
)
def test_types_that_cannot_be_moved_are_refused(spelling: str, rule: str) -> None:
    with pytest.raises(ProblemError, match=rule):
        dtypes.from_numpy(np.dtype(spelling))


def test_mixed_pairs_convert_numbers() -> None:
    s, d, c = (dtypes.dtype(n) for n in "sdc")
    assert dtypes.pair_name(s, d) == "sd"
    assert dtypes.compute_type(s, d) == dtypes.compute_type(d, s) == d
    assert dtypes.pair_name(s, c) == "s,c"
    assert dtypes.compute_type(d, c).name == "z"
    for a, b in ((c, s), (s, dtypes.dtype("v3")), (s, dtypes.dtype("sr"))):
        with pytest.raises(ProblemError, match=f"{a} -> {b} cannot be combined: integers and real numbers convert"):
            dtypes.pair_name(a, b)


@pytest.mark.parametrize(
    ("a", "b", "compute"),
    [("u8", "s", "s"), ("i64", "s", "d"), ("s", "i32", "d"), ("f16", "u16", "s"), ("u32", "c", "z")],
)
def test_the_type_of_the_arithmetic_holds_both(a: str, b: str, compute: str) -> None:
    assert dtypes.compute_type(dtypes.dtype(a), dtypes.dtype(b)).name == compute


@pytest.mark.parametrize(
    ("itemsize", "name", "native"), [(1, "i8", True), (8, "i64", True), (16, "v16", True), (3, "v3", False)]
)
def test_carriers_move_items_of_their_size(itemsize: int, name: str, native: bool) -> None:
    t = dtypes.carrier(itemsize)
    assert (t.name, t.itemsize, t.kind, dtypes.is_native(t)) == (name, itemsize, Kind.OPAQUE, native)

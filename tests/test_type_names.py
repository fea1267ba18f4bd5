"""Names of data types: every spelling means what its language says, is kept for messages, and changes no problem."""

from __future__ import annotations

import copy
import ctypes
import dataclasses
import pickle
import re
from typing import Any

import numpy as np
import pytest

import ttc_llvm
from ttc_llvm import Problem
from ttc_llvm.errors import ArrayError, ProblemError
from ttc_llvm.problem import dtypes, names, type_names, wording
from ttc_llvm.problem.canonical import canonicalise

SPELLINGS: dict[str, list[Any]] = {  # canonical name -> what means the same
    "s": ["s", "float32", "f4", "f32", "<f4", "=f4", "single", np.float32, np.dtype("f4"), ctypes.c_float],
    "d": ["d", "float64", "f8", "f64", "<f8", "double", float, np.float64, np.dtype(float), ctypes.c_double,
          np.dtypes.Float64DType],
    "c": ["c", "complex64", "c8", "c64", "<c8", "csingle", np.complex64],
    "z": ["z", "complex128", "c16", "c128", "<c16", "cdouble", complex, np.complex128],
    "f16": ["f16", "float16", "f2", "<f2", "half", np.float16],
    "bf16": ["bf16", "bfloat16"],
    "i8": ["i8", "u8", "i1", "u1", "|i1", "|u1", "int8", "uint8", "bool", "?", "|b1", bool, np.bool_, np.uint8,
           "float8_e4m3fn", "float8_e5m2"],
    "i16": ["i16", "u16", "i2", "u2", "<i2", ">i2", ">u2", "int16", "uint16", "short", np.int16, ">f2",
            np.dtype(">i2")],
    "i32": ["i32", "u32", "i4", "u4", ">f4", np.dtype(">f4"), "int32", "uint32", "intc", "complex32", np.uint32],
    "i64": ["i64", "u64", "<i8", ">u8", ">f8", ">c8", "int64", "uint64", "datetime64[s]", "M8[us]", np.int64, int],
    "v3": ["v3", "S3", "|S3", "|V3", np.dtype("S3"), np.dtype("(3,)u1")],
    "v12": ["v12", np.dtype("i4,f8")],
    "sd": ["sd", "float32,float64", "float32, float64", "f4,f8", "s,d", "<f4,double", (np.float32, "float64")],
    "ds": ["ds", "float64,float32", (float, np.dtype("f4"))],
    "cz": ["cz", "complex64,complex128", "c8,c16"],
    "zc": ["zc", "complex128,complex64"],
    "u8,s": ["u8,s", "uint8,float32", "u1,f4", (np.uint8, "f4"), "bool,float32", ("uint8", np.dtype("f4"))],
    "i64,e5m2": ["int64,float8_e5m2", "i64,e5m2"],
    "sr,s": [">f4,<f4", (np.dtype(">f4"), np.float32)],
    "s,c": ["float32,complex64"],
}  # fmt: skip
EVERY = [(name, spelling) for name, spellings in SPELLINGS.items() for spelling in spellings]
REFUSED = {
    "float": "data type 'float' is float32 to some and float64 to others: write one of the two",
    "int": "data type 'int' is int32 to some and int64 to others",
    "long": "data type 'long' is int32 to some and int64 to others",
    "complex": "data type 'complex' is complex64 to some and complex128 to others",
    "float,double": "data type 'float' is float32 to some",
    "Float32": "unknown data type 'Float32': near matches are float32",
    "int31": "unknown data type 'int31': near matches are int",
    "<z3": "unknown data type '<z3': NumPy has none of this name",
    "|O": "dtype |O holds Python objects",
    "S0": "dtype S0 has items of 0 bytes",
    "S2000000": "dtype S2000000 has items of 2000000 bytes: at most 1048576 are supported",
    ">f4,>i4": "data types >f4 -> >i4 cannot be combined",
    "uint8,bool": "data types uint8 -> bool cannot be combined",
    "complex64,float32": "data types complex64 -> float32 cannot be combined: integers and real numbers convert to",
    "s,d,s": "more than two parts",
    "float32,": "unknown data type ''",
}


@pytest.mark.parametrize(("name", "spelling"), EVERY, ids=[repr(spelling) for _, spelling in EVERY])
def test_every_spelling_means_its_type(name: str, spelling: Any) -> None:
    made, plain = Problem((1, 0), (3, 4), spelling), Problem((1, 0), (3, 4), name)
    assert made == plain
    assert hash(made) == hash(plain)
    assert made.dtype == name
    assert names.stem(made) == names.stem(plain)
    assert str(canonicalise(made).canonical) == str(canonicalise(plain).canonical)
    assert wording.problem_fields(made) == wording.problem_fields(plain)


@pytest.mark.parametrize("text", [s for _, s in EVERY if isinstance(s, str) and s[0] in "<>|=" and "," not in s])
def test_texts_with_a_byte_order_mark_are_read_as_numpy_reads_them(text: str) -> None:
    assert type_names.read(text) == dtypes.from_numpy(np.dtype(text)).name


@pytest.mark.parametrize("text", ["f4", "f8", "c8", "c16", "i1", "i2", "i4", "u1", "u2", "u4"])
def test_short_names_that_numpy_counts_in_bytes(text: str) -> None:
    assert type_names.read(text) == type_names.read(np.dtype(text))


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_of_so_many_bits(bits: int) -> None:
    for letter in "iu":
        assert dtypes.parse_pair(type_names.read(f"{letter}{bits}"))[0].itemsize == bits // 8


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items())
def test_other_names_are_refused_with_what_to_write(text: str, sentence: str) -> None:
    with pytest.raises(ProblemError, match=re.escape(sentence)):
        Problem((1, 0), (3, 4), text)


NO_TYPES = [None, 3, ["s"], b"s", np.floating, np.generic, object, str, np.zeros(2), ("s",), ctypes.c_char_p, np.dtype]


@pytest.mark.parametrize("given", NO_TYPES)
def test_what_is_no_type_is_refused(given: Any) -> None:
    with pytest.raises(ProblemError, match=r"data type .* is none: a name such as"):
        Problem((1, 0), (3, 4), given)


def test_the_spelling_survives_copies_of_a_problem() -> None:
    made = Problem((1, 0), (3, 4), "float32,float64")
    for again in (
        pickle.loads(pickle.dumps(made)), pickle.loads(pickle.dumps(made, 0)), copy.deepcopy(made), copy.copy(made),
        dataclasses.replace(made, size=(4, 4)), Problem((1, 0), (3, 4), made.dtype),
    ):  # fmt: skip
        assert (again.dtype, again.spelled) == ("sd", "float32,float64")
        assert [again.spelled_of(side) for side in "ab"] == ["float32", "float64"]
    for given, unsigned in (("uint8", True), (np.uint16, True), ("u4", True), ("int8", False), ("sd", False)):
        made = Problem((1, 0), (3, 4), given)
        for again in (made, pickle.loads(pickle.dumps(made)), copy.deepcopy(made), made.row_major):
            assert type_names.read(again.dtype).unsigned is unsigned


def test_the_summary_has_the_type_as_it_was_given() -> None:
    assert wording.problem_line(Problem((1, 0), (3, 4), "uint8")).endswith("type uint8")


def test_jax_has_numpys_as_its_own() -> None:
    jnp = pytest.importorskip("jax.numpy")
    assert Problem((1, 0), (3, 4), jnp.float32).dtype == "s"
    assert Problem((1, 0), (3, 4), jnp.bfloat16).dtype == "bf16"


def test_torchs_dtypes_go_by_their_names() -> None:
    torch = pytest.importorskip("torch")
    for given, name in ((torch.float, "s"), (torch.bfloat16, "bf16"), (torch.bool, "i8"), (torch.complex32, "i32")):
        made = Problem((1, 0), (3, 4), given)
        assert (made.dtype, made.spelled) == (name, str(given))


# --- arrays --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i8", "u8", "f8", "int", "float", "long", "complex", ">f4", "b", float, np.int16])
def test_functions_of_arrays_read_dtypes_as_numpy_does(dtype: Any) -> None:
    x = np.arange(12).reshape(3, 4)
    for ours, numpys in (
        (ttc_llvm.ascontiguousarray, np.ascontiguousarray), (ttc_llvm.asfortranarray, np.asfortranarray),
    ):  # fmt: skip
        assert ours(x, dtype).dtype == numpys(x, dtype).dtype == np.dtype(dtype)


@pytest.mark.parametrize("dtype", [">f4", "bool", "uint16", "float16", "datetime64[s]"])
def test_scaling_what_is_only_moved_is_refused_by_the_arrays_own_dtype(dtype: str) -> None:
    with pytest.raises(ProblemError, match=re.escape(f"data type {np.dtype(dtype)} admits plain moves only")):
        ttc_llvm.transpose(np.zeros((3, 4), dtype), alpha=2)


def test_a_complex_scalar_for_reals_is_refused_by_the_arrays_own_dtype() -> None:
    with pytest.raises(ProblemError, match="alpha = 1j is complex, but the data type float32 is real"):
        ttc_llvm.transpose(np.zeros((3, 4), "f4"), alpha=1j)


def test_arrays_of_other_elements_are_refused_by_the_problems_spelling() -> None:
    solution = ttc_llvm.compile(Problem((1, 0), (3, 4), "float32,float64"), 1)
    x, y = np.zeros((3, 4), "f4", "F"), np.zeros((4, 3), "f8", "F")
    solution(x, y)
    with pytest.raises(ArrayError, match="A has dtype float64: the problem's type is float32"):
        solution(y, y)
    with pytest.raises(ArrayError, match="B has dtype float32: the problem's type is float64"):
        solution(x, x)

"""Problem: what is valid, and the sentence that refuses everything else."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from ttc_llvm.errors import ProblemError, TtcError
from ttc_llvm.problem.layouts import column_major
from ttc_llvm.problem.problem import Problem

HUGE = 1 << 62

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"perm": (0, 0)}, "perm 0,0 is not a permutation of 0..1: each index must occur exactly once"),
    ({"perm": (1, 2)}, "perm 1,2 is not a permutation of 0..1"),
    ({"perm": (-1, 0)}, "perm -1,0 is not a permutation"),
    ({"perm": (1, 0, 2)}, "size 2,3 has 2 extents, but perm has 3 indices"),
    ({"perm": ()}, "size 2,3 has 2 extents, but perm has 0 indices"),
    ({"perm": "10"}, "perm '10' is not a sequence of integers"),
    ({"perm": 5}, "perm 5 is not a sequence of integers"),
    ({"perm": (0.0, 1.0)}, "perm (0.0, 1.0) is not a sequence of integers"),
    ({"perm": tuple(range(65)), "size": (1,) * 65}, "perm has 65 indices: at most 64 are supported"),
    ({"size": (2,)}, "size 2 has 1 extents, but perm has 2 indices"),
    ({"size": None}, "size None is not a sequence of integers"),
    ({"size": (2, -3)}, "size[1] = -3 is negative: extents are 0 or more"),
    ({"lda": (2,)}, "lda 2 has 1 entries, but perm has 2 indices"),
    ({"lda": (2, 2)}, "lda[1] = 2 is less than size[1] = 3"),
    ({"lda": (-2, 3)}, "lda[0] = -2 is less than size[0] = 2"),
    ({"ldb": (3, 2, 1)}, "ldb 3,2,1 has 3 entries, but perm has 2 indices"),
    ({"ldb": (2, 2)}, "ldb[0] = 2 is less than size[perm[0]] = 3"),
    ({"ldb": ("3", 2)}, "ldb ('3', 2) is not a sequence of integers"),
    ({"dtype": "q"}, "unknown data type 'q': the choices are s, d, c, z, f16, bf16"),
    ({"dtype": "sc"}, "unknown data type 'sc'"),
    ({"dtype": "v0"}, "unknown data type 'v0'"),
    ({"dtype": "v03"}, "unknown data type 'v03'"),
    ({"dtype": "v1048577"}, "v<bytes> up to v1048576"),
    ({"dtype": "v" + "9" * 5000}, "unknown data type 'v999"),
    ({"dtype": ["s"]}, "data type ['s'] is none: a name such as 's', 'zc' or 'float32', or a NumPy dtype is expected"),
    ({"dtype": None}, "data type None is none: a name"),
    ({"dtype": "float", "alpha": 2}, "data type 'float' is float32 to some and float64 to others"),
    ({"alpha": 1j, "dtype": "float32"}, "alpha = 1j is complex, but the data type float32 is real"),
    ({"alpha": 1e300, "dtype": np.complex64}, "beyond the range of the data type complex64"),
    ({"beta": 1, "dtype": ">f4"}, "data type >f4 admits plain moves only"),
    ({"beta": 1, "dtype": np.dtype(">i2")}, "data type >i2 admits plain moves only"),
    ({"conjugate": True, "dtype": float}, "conjugate needs a complex data type, not float"),
    ({"beta": 1j, "dtype": "float32, float64"}, "but the data type float32, float64 is real"),
    ({"size": (HUGE, 2)}, f"A of outer sizes {HUGE},2 exceeds 2^63 - 1 bytes"),
    ({"size": (1 << 31, 1 << 30)}, "A of outer sizes 2147483648,1073741824 exceeds 2^63 - 1 bytes"),
    ({"size": (0, 3), "lda": (HUGE, 3)}, f"A of outer sizes {HUGE},3 exceeds"),
    ({"ldb": (HUGE, 2)}, f"B of outer sizes {HUGE},2 exceeds 2^63 - 1 bytes"),
    ({"alpha": "2"}, "alpha = '2' is not a number"),
    ({"beta": None}, "beta = None is not a number"),
    ({"alpha": 10**400}, "alpha is beyond the range of floating-point numbers"),
    ({"alpha": (2 - 2**-24) * 2.0**127}, "is beyond the range of the data type s"),
    ({"alpha": 1j}, "alpha = 1j is complex, but the data type s is real"),
    ({"beta": 1 + 1j, "dtype": "sd"}, "beta = (1+1j) is complex, but the data type sd is real"),
    ({"conjugate": True}, "conjugate needs a complex data type, not s"),
    ({"conjugate": True, "dtype": "v16"}, "conjugate needs a complex data type, not v16"),
    ({"alpha": 2, "dtype": "i32"}, "data type i32 admits plain moves only: alpha must be 1 and beta 0"),
    ({"beta": 1, "dtype": "f16"}, "data type f16 admits plain moves only"),
    ({"alpha": 0, "dtype": "v3"}, "data type v3 admits plain moves only"),
    ({"terms": 5}, "terms 5 is not a sequence of pairs of a factor and a perm"),
    ({"terms": [(1, (0, 1), 2)]}, "terms holds 3 values where a pair of a factor and a perm belongs"),
    ({"terms": [(1, (1, 0)), ("x", (0, 1))]}, "factor = 'x' is not a number"),
    ({"terms": [(1, (1, 0)), (1j, (0, 1))]}, "factor = 1j is complex, but the data type s is real"),
    ({"terms": [(1, (1, 0)), (1, (1, 1))]}, "perm 1,1 of a term is not a permutation of 0..1"),
    ({"terms": [(1, (1, 0)), (1, (0, 1))]}, "terms give the sizes 3,2 and 2,3: a sum's are all the same"),
    ({"terms": [(1, (0, 1)), (1, (1, 0))]}, "perm 1,0 is not that of the first term, 0,1"),
    ({"terms": [(1, (1, 0)), (1, (0, 1))], "size": (3, 3), "dtype": "f16"}, "data type f16: sums are of float32"),
    ({"terms": [(1, (1, 0)), (1, (0, 1))], "size": (3, 3), "inplace": True}, "inplace must be False"),
]


def test_terms_of_equal_perms_add_up_and_those_of_0_go() -> None:
    terms = [(2, (0, 1)), (1, (1, 0)), (0, (0, 1)), (-1, (1, 0)), (0.5, (0, 1))]
    assert Problem(size=(3, 3), terms=terms) == Problem((0, 1), (3, 3), alpha=2.5)
    made = Problem(size=(3, 4, 3), dtype="d", terms=[(0, (0, 1, 2)), (1, (2, 1, 0)), (2, (0, 1, 2))], alpha=3)
    assert (made.perm, made.alpha, made.terms) == ((0, 1, 2), 3, ((2, (0, 1, 2)), (1, (2, 1, 0))))
    assert made.row_major.terms == made.terms and made.row_major.row_major == made
    assert pickle.loads(pickle.dumps(made)) == made


@pytest.mark.parametrize(("change", "sentence"), REFUSED, ids=[sentence[:40] for _, sentence in REFUSED])
def test_bad_input_is_refused_with_one_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ProblemError) as refusal:
        Problem(**{"perm": (1, 0), "size": (2, 3)} | change)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


def test_refusals_are_value_errors_of_our_own() -> None:
    assert issubclass(ProblemError, ValueError)
    assert issubclass(ProblemError, TtcError)


@pytest.mark.parametrize(
    ("perm", "size", "dtype"),
    [
        ((), (), "s"),
        ((0,), (0,), "d"),
        ((0, 1), (0, 1 << 40), "z"),
        (tuple(range(26))[::-1], (2,) * 26, "s"),
        (tuple(range(64)), (1,) * 64, "v1048576"),
        ((1, 0), (1, 1), "zc"),
    ],
)
def test_extreme_problems_are_valid(perm: tuple[int, ...], size: tuple[int, ...], dtype: str) -> None:
    p = Problem(perm, size, dtype)
    assert p.size_b == tuple(size[q] for q in perm)


def test_the_largest_storage_is_accepted_and_one_more_byte_is_not() -> None:
    assert Problem((0,), ((1 << 63) - 1,), "i8").elements == (1 << 63) - 1
    with pytest.raises(ProblemError, match="exceeds"):
        Problem((0,), (1 << 63,), "i8")


def test_any_sequence_of_integers_is_taken_and_kept_as_tuple() -> None:
    p = Problem([np.int64(1), 0], np.array([2, 3]), "c", lda=iter((4, 5)), alpha=np.complex64(2j), beta=1)
    assert (p.perm, p.size, p.lda, p.alpha, p.beta) == ((1, 0), (2, 3), (4, 5), 2j, 1)
    assert {type(v) for v in (*p.perm, *p.size, *(p.lda or ()))} == {int}
    assert hash(p) == hash(pickle.loads(pickle.dumps(p)))
    assert p == pickle.loads(pickle.dumps(p))


def test_types_and_sizes_of_the_two_sides() -> None:
    p = Problem((2, 0, 1), (3, 4, 5), "sd", lda=(3, 6, 5), ldb=(7, 3, 4))
    assert (p.a.name, p.b.name, p.compute.name) == ("s", "d", "d")
    assert (p.outer_a, p.outer_b, p.size_b) == ((3, 6, 5), (7, 3, 4), (5, 3, 4))
    assert p.storage("a") == 1 + 2 + 3 * 3 + 4 * 18
    assert p.storage("b") == 1 + 4 + 2 * 7 + 3 * 21
    assert Problem((0,), (0,), lda=(9,)).storage("a") == 0


@pytest.mark.parametrize(("beta", "passes"), [(0.0, 1), (1.0, 2), (float("nan"), 2)])
def test_bytes_moved_count_b_twice_when_it_is_read(beta: float, passes: int) -> None:
    p = Problem((1, 0), (3, 5), "ds", beta=beta)
    assert p.bytes_moved() == 15 * (8 + passes * 4)
    assert p.bytes_moved(beta=0) == 15 * 12


def test_column_major_strides() -> None:
    assert column_major((3, 4, 5)) == (1, 3, 12)
    assert column_major(()) == ()

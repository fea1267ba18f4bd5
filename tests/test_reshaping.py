"""`reshape`, `permute_reshape` and `rearrange`: views where NumPy has them, else the same elements in one copy."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttc_llvm
from ttc_llvm.arrays import reshaping

Array = npt.NDArray[Any]


def drawn(draw: random.Random) -> Array:
    """A random array in any order of axes, some of them backwards."""
    shape = [draw.choice([1, 2, 3, 4, 6]) for _ in range(draw.randint(0, 5))]
    if draw.random() < 0.05 and shape:
        shape[0] = 0
    order = draw.sample(range(len(shape)), len(shape))
    kind = draw.choice(["u1", "f4", "f8", "c16", "S3", "O"])
    memory = np.random.default_rng(draw.randrange(1 << 30)).integers(0, 250, [shape[k] for k in order])
    view: Array = np.asarray(memory.astype(kind)).transpose(np.argsort(order))
    turned: Any = (..., *(slice(None, None, draw.choice([1, 1, 1, -1])) for _ in shape))
    result: Array = view[turned]
    return result


def other_shape(draw: random.Random, total: int) -> list[int]:
    """A random shape of so many elements."""
    shape: list[int] = []
    while total > 1 and len(shape) < 4:
        divisors = [k for k in range(1, total + 1) if total % k == 0]
        shape.append(draw.choice(divisors))
        total //= shape[-1]
    return [*shape, total]


@pytest.mark.parametrize("old", [False, True])
def test_the_elements_are_numpys_and_so_are_views(old: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reshaping, "_COPIES", old or reshaping._COPIES)
    draw = random.Random(7)
    views = 0
    for _ in range(400):
        x = drawn(draw)
        shape: Any = other_shape(draw, x.size)
        if draw.random() < 0.2 and x.size:
            shape[draw.randrange(len(shape))] = -1
        make: Any = draw.choice([list, tuple, np.array])
        shape = make(shape)
        axes = draw.choice([None, draw.sample(range(x.ndim), x.ndim)])
        wanted, permuted = np.reshape(x, shape), np.reshape(np.transpose(x, axes), shape)
        for got, by_numpy in (
            (ttc_llvm.reshape(x, shape), wanted),
            (ttc_llvm.permute_reshape(x, axes, shape), permuted),
        ):
            assert got.dtype == x.dtype
            assert np.array_equal(got, by_numpy)
            assert np.shares_memory(got, x) == np.shares_memory(by_numpy, x)
            views += np.shares_memory(got, x)
    assert 50 < views < 700


PATTERNS = [
    ("b (h p) (w q) c -> b (h w) (p q c)", (2, 6, 8, 3), {"p": 2, "q": 4}),
    ("b c h w -> b h w c", (2, 3, 4, 5), {}),
    ("b h w c -> b h w c", (2, 3, 4, 5), {}),
    ("(b c) h -> c (h b)", (6, 4), {"b": 2}),
    ("... c -> c ...", (2, 3, 4), {}),
    ("a ... (b c) -> (... b) c a", (2, 3, 4, 6), {"c": 3}),
    ("a b ... -> (...) b a", (2, 3, 4, 5), {}),
    ("a ... b -> b (...) a", (2, 3), {}),
    ("a ... -> ... 1 a", (2, 3, 4), {}),
    ("a 1 b () -> b () a 1", (2, 1, 3, 1), {}),
    ("a b -> (a b)", (0, 3), {}),
    (" -> ", (), {}),
    ("a_1 b2->b2 a_1", (2, 3), {}),
    ("(a 1) b -> b (1 a)", (2, 3), {}),
]


@pytest.mark.parametrize(("pattern", "shape", "lengths"), PATTERNS)
def test_patterns_mean_what_einops_says(pattern: str, shape: tuple[int, ...], lengths: dict[str, int]) -> None:
    einops = pytest.importorskip("einops")
    for x in (np.random.random_sample(shape), np.random.random_sample(shape[::-1]).T):
        wanted = einops.rearrange(x, pattern, **lengths)
        got = ttc_llvm.rearrange(x, pattern, **lengths)
        assert got.shape == wanted.shape
        assert np.array_equal(got, wanted)


def test_a_list_is_stacked() -> None:
    parts = [np.random.rand(2, 3) for _ in range(4)]
    wanted = np.stack(parts).transpose(1, 0, 2).reshape(2, 12)
    assert np.array_equal(ttc_llvm.rearrange(parts, "n a b -> a (n b)"), wanted)


def test_tensors_of_pytorch_stay_tensors() -> None:
    torch = pytest.importorskip("torch")
    x = torch.rand(2, 6, 4)
    assert ttc_llvm.reshape(x, (12, -1)).data_ptr() == x.data_ptr()
    assert torch.equal(ttc_llvm.permute_reshape(x, (2, 0, 1), 48), x.permute(2, 0, 1).reshape(48))
    got = ttc_llvm.rearrange(x, "a (b c) d -> (b d) (a c)", b=3)
    assert torch.equal(got, x.reshape(2, 3, 2, 4).permute(1, 3, 0, 2).reshape(12, 4))


X = np.ones((2, 6))
REFUSED: list[tuple[Any, tuple[Any, ...], dict[str, Any], str]] = [
    (ttc_llvm.reshape, (X, (5, 2)), {}, r"shape \(5, 2\) does not fit an array of shape \(2, 6\), 12 elements"),
    (ttc_llvm.reshape, (X, (-1, -1)), {}, r"shape \(-1, -1\) does not fit"),
    (ttc_llvm.reshape, (X, -2), {}, r"shape -2 does not fit"),
    (ttc_llvm.reshape, (X, "ab"), {}, r"shape 'ab' is not a sequence of integers"),
    (ttc_llvm.reshape, (X, (2.5, 1)), {}, r"shape.* 2\.5 is not an integer"),
    (ttc_llvm.permute_reshape, (X, (0, 0), 12), {}, r"axes \(0, 0\) do not permute the 2 axes of the array"),
    (ttc_llvm.rearrange, (X, "a b c -> a b c"), {}, r"has 3 axes, but the array has 2"),
    (ttc_llvm.rearrange, (X, "a b ... c -> a b c ..."), {}, r"has more axes than the array"),
    (ttc_llvm.rearrange, (X, "a (... b) -> a b ..."), {"b": 2}, r"splits an axis into an ellipsis"),
    (ttc_llvm.rearrange, (X, "a (b c) -> a b c"), {}, r"leaves the lengths of b and c open"),
    (ttc_llvm.rearrange, (X, "a (b c) -> a b c"), {"b": 4}, r"an axis of 6 elements is no \(b c\) .*: known are 4"),
    (ttc_llvm.rearrange, (X, "a b -> b"), {}, r"has a on one side only"),
    (ttc_llvm.rearrange, (X, "a a -> a"), {}, r"has a more than once on one side"),
    (ttc_llvm.rearrange, (X, "a b"), {}, r"is not of the form 'a b c -> c \(a b\)'"),
    (ttc_llvm.rearrange, (X, "a (b -> a b"), {}, r"has a parenthesis that is not closed"),
    (ttc_llvm.rearrange, (X, "a b) -> a b"), {}, r"has '\)', which is no axis"),
    (ttc_llvm.rearrange, (X, "a 2 -> 2 a"), {}, r"has '2', which is no axis"),
    (ttc_llvm.rearrange, (X, "a, b -> b a"), {}, r"has ', b', which is no axis"),
    (ttc_llvm.rearrange, (X, "a b -> b a"), {"c": 2}, r"has no c, whose length is given"),
    (ttc_llvm.rearrange, (X, "a b -> b a"), {"a": 3}, r"an axis of 2 elements is no \(a\)"),
    (ttc_llvm.rearrange, (X, "a b -> b a"), {"a": 1.5}, r"the length of a 1\.5 is not an integer"),
    (ttc_llvm.rearrange, (X, 5), {}, r"pattern 5 is not a text"),
]


@pytest.mark.parametrize(("function", "arguments", "options", "message"), REFUSED)
def test_bad_calls_are_told(function: Any, arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ttc_llvm.ArrayError, match=message):
        function(*arguments, **options)

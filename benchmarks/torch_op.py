"""How long a call of the operator for PyTorch takes beside an empty one: `python benchmarks/torch_op.py`.

Operators in Python cost what PyTorch's dispatcher and its wrappers cost. Both kinds of empty operators return an
uninitialised tensor of the right shape: one takes what ours takes, the other a tensor and its axes alone. All are timed
in turns, and the best of many rounds is shown, in microseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

import ttc_llvm.torch

SHAPE, AXES = (3, 4, 5), (1, 2, 0)
RESULT = tuple(SHAPE[k] for k in AXES)
ROUNDS, CALLS = 100, 200


def like_ours(x: Any, axes: Sequence[int], real: float, imag: float, conjugate: bool) -> Any:
    """An operator with our parameters that does nothing."""
    return x.new_empty(RESULT)


def least(x: Any, axes: Sequence[int]) -> Any:
    """An operator of two parameters that does nothing."""
    return x.new_empty(RESULT)


def empty(name: str, body: Callable[..., Any], schema: str) -> Any:
    """An operator of PyTorch that has a gradient, too."""
    made = torch.library.custom_op(f"benchmark::{name}", body, mutates_args=(), schema=schema)
    made.register_autograd(lambda ctx, gradient: (gradient, *[None] * body.__code__.co_argcount))
    return made


def best(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Microseconds of each call."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            found[name] = min(found[name], (time.perf_counter() - start) / CALLS * 1e6)
    return found


def main() -> None:
    """Time all of them, and print one line each."""
    x = torch.rand(SHAPE)
    array = x.numpy()
    same = empty("same", like_ours, "(Tensor x, int[] axes, float real, float imag, bool conjugate) -> Tensor")
    two = empty("two", least, "(Tensor x, int[] axes) -> Tensor")
    found = best(
        {
            "ttc_llvm.torch.transpose(x, axes)": lambda: ttc_llvm.torch.transpose(x, AXES),
            "an empty operator of the same parameters": lambda: same(x, AXES, 1.0, 0.0, False),
            "an empty operator of a tensor and axes": lambda: two(x, AXES),
            "x.permute(axes).contiguous()": lambda: x.permute(AXES).contiguous(),
            "ttc_llvm.transpose(x, axes)": lambda: ttc_llvm.transpose(x, AXES),
            "ttc_llvm.transpose(array, axes)": lambda: ttc_llvm.transpose(array, AXES),
        }
    )
    for name, microseconds in found.items():
        print(f"{microseconds:7.2f} us  {name}")


if __name__ == "__main__":
    main()

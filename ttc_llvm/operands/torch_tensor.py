"""Tensors of PyTorch, by their own attributes: their interfaces refuse gradients, lazy views and small types."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..errors import ArrayError
from . import streams
from .operand import Array, Back, Operand, described
from .types import is_numpys, named

DEVICES = ("cpu", "cuda")
CONJUGABLE = ("c8", "c16")  # whose conjugates kernels make as they move the elements
_LAZY = {"is_conj": "conjugated", "is_neg": "negated"}
_CARRIERS = {1: "uint8", 2: "int16", 4: "int32"}  # of the types that NumPy lacks
_LOCKED = "is a lazily {} view: pass the tensor that it is a view of"
_GRADIENT = (
    "{name} requires a gradient, which would be lost: pass {name}.detach(), or call ttc_llvm.torch.transpose(a, axes),"
    " which has one"
)


def shared(x: Any) -> Array | None:
    """The memory of a tensor on the host as an array of its own type, which PyTorch makes in no time; None for anything
    else, and where PyTorch refuses: tensors with gradients, lazy views, sparse ones."""
    if type(x).__module__ != "torch" or type(x).__name__ != "Tensor" or x.is_cuda:
        return None
    dtype = _dtype(x.dtype)
    if dtype is None:
        return None
    try:
        carrier = _carrier(x.dtype)
        array: Array = x.numpy() if carrier is None else x.view(carrier).numpy().view(dtype)
    except (RuntimeError, TypeError):
        return None
    return array


def read(x: Any, name: str) -> Operand | None:
    """A tensor on the host or on a CUDA device; None for what is none. ArrayError says why it cannot be used."""
    array = shared(x)
    if array is not None:
        return Operand(array, "torch", back=back(x.dtype), written=partial(written, x), keep=x)
    if not is_tensor(x):
        return None
    torch = sys.modules["torch"]
    _check(torch, x, name)
    dtype = _dtype(x.dtype)
    if dtype is None:
        raise ArrayError(f"{name} has dtype {x.dtype}, which is not supported")
    lazy = tuple(word for test, word in _LAZY.items() if getattr(x, test)())
    locked = _LOCKED.format(" and ".join(lazy)) if lazy else ""
    conjugated = lazy == ("conjugated",) and dtype.str[1:] in CONJUGABLE
    plain = x.resolve_conj().resolve_neg() if lazy and not conjugated else x
    steps = tuple(step * dtype.itemsize for step in plain.stride())
    view = described(_address(plain, name), tuple(plain.shape), steps, dtype, plain)
    stream = streams.of_torch(x.get_device()) if x.is_cuda else None
    return Operand(
        view, "torch", x.is_cuda, stream, locked, conjugated, back(x.dtype),
        written=partial(written, x), keep=x,
    )  # fmt: skip


def is_tensor(x: Any) -> bool:
    """True for tensors, also of classes that other packages derive."""
    base = getattr(sys.modules.get("torch"), "Tensor", None)
    return base is not None and issubclass(type(x), base)


def _check(torch: Any, x: Any, name: str) -> None:
    """ArrayError for tensors without plain memory of their own, or with a gradient to be kept."""
    if type(x).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        raise ArrayError(f"{name} is a {type(x).__name__}, which has no memory of its own")
    if x.is_nested:
        raise ArrayError(f"{name} is nested: transpose its tensors one by one")
    if x.layout is not torch.strided:
        kind = "sparse" if "sparse" in str(x.layout) else str(x.layout)
        raise ArrayError(f"{name} is {kind}: pass {name}.to_dense()")
    if x.device.type not in DEVICES:
        raise ArrayError(f"{name} is on device {x.device}: the CPU or a CUDA device is expected")
    if x.requires_grad and torch.is_grad_enabled():
        raise ArrayError(_GRADIENT.format(name=name))


def _address(x: Any, name: str) -> int:
    address = int(x.data_ptr())
    if not address and x.numel():
        raise ArrayError(f"{name} is a {type(x).__name__} without memory")
    return address


def _name(of: Any) -> str:
    return str(of).removeprefix("torch.")


@lru_cache(maxsize=64)
def _dtype(of: Any) -> np.dtype[Any] | None:
    return named(_name(of))


def written(x: Any) -> None:
    """Tell autograd: a gradient that needs what was there before is refused, and not wrong."""
    sys.modules["torch"].autograd.graph.increment_version(x)


# --- results ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def back(of: Any) -> Back:
    """A function that makes tensors of this type of NumPy arrays, whose memory they take over."""
    made: Callable[[Array], Any] = sys.modules["torch"].from_numpy
    if is_numpys(_name(of)):
        return made
    carrier = np.dtype(_CARRIERS[of.itemsize])
    return lambda result: made(result.view(carrier)).view(of)


@lru_cache(maxsize=64)
def _carrier(of: Any) -> Any:
    """PyTorch's type of the same size that NumPy has, too; None where it has the type itself."""
    return None if is_numpys(_name(of)) else getattr(sys.modules["torch"], _CARRIERS[of.itemsize])

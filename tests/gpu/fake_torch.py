"""PyTorch as far as calls on tensors of a device ask for it; the fake device has its tensors' memory."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from fake_gpu import FakeGpu


@dataclass(frozen=True)
class DType:
    """PyTorch's spelling of a type."""

    name: str

    def __str__(self) -> str:
        return f"torch.{self.name}"


class Tensor:
    """A tensor on the device. requires_grad, conjugated: as of PyTorch's; version: how often it was written to."""

    __module__ = "torch"
    __torch_dispatch__, layout, is_nested, is_cuda = None, "strided", False, True
    device: Any = types.SimpleNamespace(type="cuda", index=0)

    def __init__(self, array: npt.NDArray[Any], requires_grad: bool = False, conjugated: bool = False) -> None:
        self.array, self.requires_grad, self.conjugated, self.version = array, requires_grad, conjugated, 0
        self.shape, self.dtype = array.shape, DType(array.dtype.name)

    def stride(self) -> tuple[int, ...]:
        """In elements."""
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def get_device(self) -> int:
        """The device's number."""
        return 0

    def is_conj(self) -> bool:
        """Whether memory has the conjugates."""
        return self.conjugated

    def is_neg(self) -> bool:
        """Whether memory has the negative values."""
        return False

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self.array.ctypes.data

    def numel(self) -> int:
        """Elements in all."""
        return self.array.size


class Torch:
    """The module, in place of PyTorch's for one test. stream: the current one."""

    def __init__(self, gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gpu, self.stream = gpu, 0x70
        found: Any = types.ModuleType("torch")
        found.Tensor, found.strided, found.is_grad_enabled = Tensor, "strided", lambda: True
        found.from_numpy = lambda array: array
        found.empty = lambda shape, dtype, device: self.tensor(np.full(shape, 77, dtype.name))
        found._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda ordinal: self.stream)
        found.autograd = types.SimpleNamespace(graph=types.SimpleNamespace(increment_version=_written))
        monkeypatch.setitem(sys.modules, "torch", found)

    def tensor(self, array: npt.NDArray[Any], **options: bool) -> Tensor:
        """A tensor that shares an array's memory."""
        return Tensor(self.gpu.on_device(array), **options)


def _written(x: Tensor) -> None:
    x.version += 1

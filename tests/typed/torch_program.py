"""The same for PyTorch: tensors stay tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

import ttc_llvm
import ttc_llvm.torch

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: Any, kind: Any) -> Any:
        return value


x = torch.ones(3, 4, 5)
assert_type(ttc_llvm.torch.transpose(x, (2, 0, 1)), torch.Tensor)
assert_type(ttc_llvm.torch.transpose(x, [2, 0, 1], alpha=2.5), torch.Tensor)
assert_type(ttc_llvm.torch.transpose(x * 1j, conjugate=True), torch.Tensor)
assert_type(ttc_llvm.transpose(x, (2, 0, 1)), torch.Tensor)
assert_type(ttc_llvm.transpose(x, out=torch.ones(5, 4, 3), beta=1), torch.Tensor)
assert_type(ttc_llvm.ascontiguousarray(x.permute(2, 1, 0)), torch.Tensor)

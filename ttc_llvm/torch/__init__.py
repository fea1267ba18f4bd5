"""The operator for PyTorch: `ttc_llvm.torch.transpose`, known to autograd, `torch.compile`, `vmap` and `torch.export`.

Importing it registers `torch.ops.ttc_llvm.transpose`. It needs PyTorch 2.5 or later.
"""

try:
    import torch as _torch
except ImportError:
    _torch = None
if not hasattr(getattr(_torch, "library", None), "register_vmap"):
    raise ImportError("ttc_llvm.torch needs PyTorch 2.5 or later: pip install torch", name="torch")

from .public import transpose

__all__ = ["transpose"]

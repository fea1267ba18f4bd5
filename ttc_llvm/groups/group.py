"""A group of blocks as all its plans see it, wherever the blocks are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import locks
from ..arguments import shown
from ..arrays.checks import scaled
from ..arrays.scalings import Scaling
from ..errors import ArrayError
from ..operands.types import spelled
from .blocks import Blocks
from .ragged import Words
from .reading import Reader

MIB = 1 << 20


class Group:
    """Blocks that are transposed together. scalars: alpha, beta and conjugate of calls that have no others; on_device:
    where their arrays are."""

    def __init__(self, blocks: Blocks, scalars: tuple[Any, Any, Any], on_device: bool = False) -> None:
        if type(blocks) is not Blocks:
            raise ArrayError(f"{shown(blocks)} is no description of blocks: ttc_llvm.grouped makes plans of groups")
        _check_pair(blocks)
        self._blocks, self._scalars, self._nbytes = blocks, scalars, blocks.nbytes
        self._lists = Reader(blocks, False, on_device), Reader(blocks, True, on_device)

    def __len__(self) -> int:
        """The number of blocks."""
        return self._blocks.total

    def __repr__(self) -> str:
        """A line that says what it transposes."""
        types = dict.fromkeys(map(spelled, (self._blocks.of, self._blocks.to)))
        return f"<{type(self).__name__}: {len(self)} blocks of {' to '.join(types)}, {self.nbytes / MIB:.1f} MiB>"

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks of A and B."""
        return self._nbytes

    def _scaling(self, *given: Any) -> Scaling:
        alpha, beta, conjugate = (
            own if one is None else one for own, one in zip(self._scalars, given, strict=True)
        )  # fmt: skip
        return scaled(self._blocks.of, self._blocks.to, alpha, beta, conjugate)

    def _addresses(self, side: str, given: Any) -> Words:
        """A copy: others may change the caller's."""
        name = f"addresses_{side}"
        try:
            found = np.array(given)
        except Exception:
            raise ArrayError(f"{name} {shown(given)} are no integers") from None
        if found.shape != (len(self),) or (found.dtype.kind not in "iu" and len(self)):
            raise ArrayError(
                f"{name} have dtype {found.dtype} and shape {found.shape}: the plan takes {len(self)} integers"
            )
        return found.astype(np.int64, copy=False)


def _check_pair(blocks: Blocks) -> None:
    if blocks.of == blocks.to:
        return
    try:
        locks.imported("..arrays.pairs", __package__).pair_of(blocks.of, blocks.to)
    except ArrayError:
        raise ArrayError(
            f"groups do not convert {spelled(blocks.of)} to {spelled(blocks.to)}: a pair of dtypes is float32 and"
            " float64, or complex64 and complex128"
        ) from None

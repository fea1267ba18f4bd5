"""NumPy's own functions, as they are when ours are first asked for: programs may put ours in their places."""

from __future__ import annotations

import numpy as np

TRANSPOSE = np.transpose
CONTIGUOUS = {"C": np.ascontiguousarray, "F": np.asfortranarray}
EINSUM = np.einsum
TENSORDOT = np.tensordot

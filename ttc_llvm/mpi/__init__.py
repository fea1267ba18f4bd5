"""Tensors distributed over the ranks of an MPI communicator: layouts, and plans that permute from one into another.

Needs mpi4py 4 or later (the extra `mpi`), and an MPI library. `mpiexec -n 4 python -m mpi4py program.py` runs programs:
then a rank that dies ends the others, which would wait for it for ever.
"""

try:
    import mpi4py.MPI  # noqa: F401
except ImportError as error:
    raise ImportError(f"ttc_llvm.mpi needs mpi4py 4 or later and an MPI library: {error}", name="mpi4py") from error

from .layout import Layout
from .permute import permute_plan
from .plan import PermutePlan
from .prediction import Prediction
from .splits import block, cyclic
from .transfer import Transfer

__all__ = ["Layout", "PermutePlan", "Prediction", "Transfer", "block", "cyclic", "permute_plan"]

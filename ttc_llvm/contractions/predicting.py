"""Predictions of the time that plans of both kinds take, by the speeds of this machine."""

from __future__ import annotations

from ..lazy_dataclasses import dataclass
from . import measuring
from .fused import rates as fused_rates
from .fused.plan import Fused
from .plans import Applied
from .splitting import Gains


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions for a data type and so many threads of ours, by speeds that are measured at first use."""

    dtype: str
    threads: int

    def seconds(self, applied: Applied) -> float:
        """The predicted time of a plan."""
        if isinstance(applied, Fused):
            copied = [tensor for tensor, order in enumerate(applied.plan.copies) if order is not None]
            speeds = measuring.measured(self.dtype, self.threads) if copied else None
            copies = sum(speeds.copy(applied.merged, tensor) for tensor in copied) if speeds is not None else 0.0
            return copies + fused_rates.measured(self.dtype).seconds(applied, self.threads)
        return measuring.measured(self.dtype, self.threads).seconds(applied)

    @property
    def gains(self) -> Gains:
        """The gains of long products that are cut."""
        return measuring.measured(self.dtype, self.threads).gains

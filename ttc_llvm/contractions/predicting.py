"""Predictions of the time that plans of both kinds take, by the speeds of this machine."""

from __future__ import annotations

from collections.abc import Iterator

from ..lazy_dataclasses import dataclass
from . import stored_speeds
from .blocking import blocked
from .fused import stored_speeds as fused_speeds
from .fused.plan import Fused
from .fused.space import plans as fused_plans
from .merged import Form
from .plans import Applied
from .space import plans
from .splitting import Gains
from .stored_speeds import is_settled as is_settled


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions for a data type and so many threads of ours, by speeds that are measured at first use."""

    dtype: str
    threads: int

    def seconds(self, applied: Applied) -> float:
        """The predicted time of a plan."""
        if isinstance(applied, Fused):
            copied = [tensor for tensor, order in enumerate(applied.plan.copies) if order is not None]
            speeds = stored_speeds.measured(self.dtype, self.threads) if copied else None
            copies = sum(speeds.copy(applied.merged, tensor) for tensor in copied) if speeds is not None else 0.0
            return copies + fused_speeds.measured(self.dtype).seconds(applied, self.threads)
        return stored_speeds.measured(self.dtype, self.threads).seconds(applied)

    @property
    def gains(self) -> Gains:
        """The gains of long products that are cut."""
        return stored_speeds.measured(self.dtype, self.threads).gains


def ranked(form: Form, threads: int, emitted: bool = False) -> list[tuple[float, Applied]]:
    """All plans of a contraction, by the seconds that this machine's speeds predict. emitted: those that objects can
    hold alone."""
    speeds = Predictions(str(form.stated.dtype), threads)
    return sorted(((speeds.seconds(x), x) for x in every(form, emitted)), key=lambda pair: pair[0])


def every(form: Form, emitted: bool = False) -> Iterator[Applied]:
    """All plans, those with blocks too."""
    for products in () if emitted else plans(form.merged):
        yield products
        pieces = blocked(form.stated, products)
        if pieces is not None:
            yield pieces
    for fused in fused_plans(form.merged):
        if not (emitted and any(order is not None for order in fused.plan.copies)):
            yield fused

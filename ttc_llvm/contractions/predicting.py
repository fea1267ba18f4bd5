"""Predictions of the time that plans of both kinds take, by the speeds of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from ..lazy_dataclasses import dataclass
from . import stored_speeds
from .blocking import blocked
from .fused import stored_speeds as fused_speeds
from .fused.plan import Fused
from .fused.space import plans as fused_plans
from .merged import Form
from .plan import Products
from .plans import Applied
from .rates import Rates
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
            copied = [(tensor, order) for tensor, order in enumerate(applied.plan.copies) if order is not None]
            speeds = stored_speeds.measured(self.dtype, self.threads) if copied else None
            copies = sum(speeds.copy(applied.merged, *each) for each in copied) if speeds is not None else 0.0
            return copies + fused_speeds.measured(self.dtype).seconds(applied, self.threads)
        return stored_speeds.measured(self.dtype, self.threads).seconds(applied, self.threads)

    @property
    def gains(self) -> Gains:
        """The gains of long products that are cut."""
        return stored_speeds.measured(self.dtype, self.threads).gains


def ranked(form: Form, threads: int, emitted: bool = False) -> list[tuple[float, Applied]]:
    """All plans of a contraction, by the seconds that this machine's speeds predict. emitted: those that objects can
    hold alone."""
    speeds = Predictions(str(form.stated.dtype), threads)
    return sorted(((speeds.seconds(x), x) for x in every(form, emitted)), key=lambda pair: pair[0])


@dataclass(slots=True)
class First:
    """The fastest of some plans, by its predicted seconds; None: all take that long, or longer."""

    seconds: float
    applied: Applied | None = None

    def offer(self, seconds: float, applied: Applied) -> None:
        """Take a plan that is faster, or as fast as a fused one, before which others come."""
        as_fast = seconds == self.seconds and isinstance(self.applied, Fused) and isinstance(applied, Products)
        if seconds < self.seconds or as_fast:
            self.seconds, self.applied = seconds, applied


def first(form: Form, threads: int, limit: float = inf) -> First:
    """The first of the ranked plans, if it takes less than so many seconds. Those whose copies and calls alone take
    longer than others do in all are not looked at."""
    speeds, best = Predictions(str(form.stated.dtype), threads), First(limit)
    rates, start = stored_speeds.measured(speeds.dtype, threads), fused_speeds.measured(speeds.dtype).start
    _offer_products(form, speeds, rates, best, False)
    for fused in fused_plans(form.merged) if start < best.seconds else ():
        copied = [order is not None for order in fused.plan.copies]
        if start + rates.copies(form.merged, copied) < best.seconds:
            best.offer(speeds.seconds(fused), fused)
    _offer_products(form, speeds, rates, best, True)
    return best


def _offer_products(form: Form, speeds: Predictions, rates: Rates, best: First, copying: bool) -> None:
    """Those by a BLAS, with copies or without."""

    def admits(copied: Sequence[bool], repeats: int = 1) -> bool:
        return any(copied) == copying and rates.at_least(form.merged, copied, repeats, speeds.threads) <= best.seconds

    for products in plans(form.merged, admits):
        if admits([order is not None for order in products.plan.copies], products.repeats):
            for one in filter(None, (products, blocked(form.stated, products))):
                best.offer(speeds.seconds(one), one)


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

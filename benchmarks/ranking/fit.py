"""Fits the cost model, weights and networks, to timings of plans; checks it on problems left out.

    python benchmarks/ranking/collect.py --seed=1 --problems=48 --output=timings.jsonl   # on a quiet machine
    python benchmarks/ranking/fit.py --add=timings.jsonl     # into timings.jsonl.xz, at most 300 plans a problem; those
                                                             # of problems between two types into conversions.jsonl.xz
    python benchmarks/ranking/fit.py                         # the check: five folds over problems
    python benchmarks/ranking/fit.py --write                 # fit to everything, into tuning/cost/cost_model.npz
    python benchmarks/ranking/fit.py --converts --write      # with all conversions, into tuning/cost/conversions.npz
    python benchmarks/ranking/fit.py --further               # beside the networks of cost_model.npz come as many that
                                                             # are trained on, with timings of two threads as well
    python benchmarks/ranking/show.py                        # what that file holds, as text

Networks need PyTorch (`pip install ttc_llvm[ranking]`); `nets.py` tells how they are trained, `regression.py`
how weights are fitted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import geometric_mean

import numpy as np
from data import SHARED, Row, Timings, add, read, timings, training
from regression import Fit

from ttc_llvm.tuning.cost import fitted
from ttc_llvm.tuning.cost.cost import NETWORKS_SHARE
from ttc_llvm.tuning.cost.vocabulary import KINDS

FOLDS = 5
OFTEN = 4  # how many times timings of two threads, which are few, are seen


class Both:
    """Weights and networks fitted to the same timings, and the cost model made of both."""

    def __init__(self, data: Sequence[Timings]) -> None:
        import nets  # with PyTorch, which adding timings does not need

        self.data, self.fit = data, Fit(data)
        several = [d for d in data for _ in range(d.copies)]
        self.networks = nets.trained(data[0].columns, [(d.inputs, d.fitted, d.speeds, d.rest) for d in several])

    def predict(self, d: Timings) -> np.ndarray:
        """Estimated log(time) of a problem's plans, up to a constant."""
        said, share = np.array(self.networks(d.inputs)), NETWORKS_SHARE[d.kind]
        return share * said + (1 - share) * self.fit.predict(d) + d.rest

    def store(self, path: Path) -> None:
        """Write the package's file."""
        tables, plans = self.fit.tables(KINDS), sum(len(d.facts) for d in self.data)
        fitted.write(path, tables, self.networks, plans, len(self.data))


def known(rows: Iterable[Row]) -> list[Timings]:
    """What the fit wants of rows; of some, no plan's code is as it was."""
    return [found for found in map(timings, rows) if len(found.speeds) > 1]


def further() -> None:
    """Store as many networks more, trained on with what two threads took that share the memory; the weights of facts
    stay as they are, which do not know of threads."""
    import nets

    stored = fitted.fitted()
    data = [*known(training(False)), *OFTEN * known(read(SHARED))]
    networks = nets.trained_on(stored.networks, [(d.inputs, d.fitted, d.speeds, d.rest) for d in data])
    tables = {owner: stored.tables[owner] for owner in stored.tables}
    fitted.write(fitted.FILE, tables, networks, stored.plans, stored.problems)


def check(data: list[Timings]) -> None:
    """Print what the best of the first 1, 8 and 40 plans of problems left out reach of the best known."""
    reached: dict[str, list[tuple[float, ...]]] = {}
    for fold in range(FOLDS):
        both = Both([d for i, d in enumerate(data) if i % FOLDS != fold])
        for d in data[fold::FOLDS]:
            reached.setdefault(d.kind, []).append(report(d, both.predict(d)))
    summary(reached)


def report(d: Timings, predicted: np.ndarray) -> tuple[float, ...]:
    """Shares of the best known speed among the first 1, 8 and 40 plans by a prediction; printed."""
    speeds = d.speeds[np.argsort(predicted, kind="stable")] / d.speeds.max()
    found = tuple(float(speeds[:n].max()) for n in (1, 8, 40))
    print(f"{d.kind:15} {d.name:60} {found[0]:.2f} {found[1]:.2f} {found[2]:.2f}  best {d.speeds.max():.2f}")
    return found


def summary(reached: dict[str, list[tuple[float, ...]]]) -> None:
    """Print geometric means and minima."""
    reached["all"] = [shares for found in list(reached.values()) for shares in found]
    for name, found in reached.items():
        columns = list(zip(*found, strict=True))
        means = " ".join(f"{geometric_mean(column):.3f}" for column in columns)
        least = " ".join(f"{min(column):.2f}" for column in columns)
        print(f"{name:15} {len(found):3} problems: geomean {means}, least {least}")


def main() -> None:
    """Add data, check, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--add", type=Path, action="append", default=[], help="further timings to store")
    parser.add_argument(
        "--test", type=Path, help="check on these timings instead, fitting to all of the stored"
    )
    parser.add_argument("--converts", action="store_true", help="the model of problems between two types")
    parser.add_argument("--write", action="store_true", help="store what is fitted in tuning/cost/")
    parser.add_argument("--further", action="store_true", help="add networks that are trained on, with all timings")
    args = parser.parse_args()
    for path in args.add:
        add(read(path))
    if args.further:
        further()
        return
    data = known(training(args.converts))
    if args.test:
        both = Both(data)
        reached: dict[str, list[tuple[float, ...]]] = {}
        for d in known(read(args.test)):
            reached.setdefault(d.kind, []).append(report(d, both.predict(d)))
        summary(reached)
    elif not (args.write or args.add):
        check(data)
    if args.write:
        Both(data).store(fitted.CONVERSIONS if args.converts else fitted.FILE)


if __name__ == "__main__":
    main()

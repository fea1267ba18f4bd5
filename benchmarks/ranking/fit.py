"""Fits the cost model, weights (`tuning/weights.py`) and networks, to timings of plans; checks it on problems left out.

    python benchmarks/ranking/collect.py --seed=1 --problems=48 --output=timings.jsonl   # on a quiet machine
    python benchmarks/ranking/fit.py --add=timings.jsonl     # into timings.jsonl.xz, at most 300 plans a problem
    python benchmarks/ranking/fit.py                         # the check: five folds over problems
    python benchmarks/ranking/fit.py --write                 # fit to everything; tuning/weights.py and networks.npz

Networks need PyTorch (`pip install ttc_llvm[ranking]`); `nets.py` tells how they are trained. OpenBLAS, which NumPy
brings, crashed with several threads at this many weights: OPENBLAS_NUM_THREADS=1 avoids it.

The weights' fit is a ridge regression of log(time) on the facts of `groups.py`, centred per problem, good plans
weighted more. A weight is the sum of one that all plans share, one of those that fetch and store alike, one of the
class of problems, and one of both; neighbouring buckets of a size are pulled together: few data then say no more than
they know. What the cost model knows without a fit, how evenly threads share tasks and which rows crowd one cache set,
is taken off the timings first.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import geometric_mean

import numpy as np
from data import DATA, GOOD, Row, Timings, add, read, timings

from ttc_llvm.plan import Fetch
from ttc_llvm.tuning.cost import NETWORKS
from ttc_llvm.tuning.groups import STORES, Fact

WEIGHTS = Path(__file__).parent.parent.parent / "tuning" / "weights.py"
RIDGE = (8.0, 24.0, 40.0)  # penalty of a weight that all plans share, and of those of ever fewer plans
SMOOTH = 2.0  # of a step between neighbouring buckets, relative to that
FOLDS = 5
GLUE = "\0"  # a blank at which no line ends

Column = tuple[str, str, int | str]  # whose weight, fact, bucket
Weights = dict[str, dict[str, dict[int | str, float]]]


class Fit:
    """Weights fitted to the timings of some problems."""

    def __init__(self, data: Sequence[Timings]) -> None:
        self.columns: dict[Column, int] = {}
        self.seen: set[str] = set()  # names of facts; of others nothing is known
        for d in data:
            for fact in {fact for facts in d.facts for fact in facts}:
                self.seen.add(fact[0])
                for column in levels(d.kind, fact):
                    self.columns.setdefault(column, len(self.columns))
        size = len(self.columns)
        normal, target = self._penalties(), np.zeros(size)
        for d in data:
            used, x = self._matrix(d)
            w = (d.speeds / d.speeds.max()) ** GOOD
            w = w / w.sum() * 100  # every problem counts the same
            x -= w @ x / w.sum()
            y = d.fitted - w @ d.fitted / w.sum()
            normal[np.ix_(used, used)] += x.T @ (x * w[:, None])
            target[used] += x.T @ (w * y)
        self.solution = np.linalg.solve(normal, target)
        self.base = self._bases(data)

    def _bases(self, data: Sequence[Timings]) -> dict[str, float]:
        """Per class, what is left of log(time) beside the weights: of good plans, in the mean over problems."""
        left: dict[str, list[float]] = {}
        for d in data:
            good = d.speeds > 0.8 * d.speeds.max()
            used, x = self._matrix(d)
            left.setdefault(d.kind, []).append(float(np.mean((d.fitted - x @ self.solution[used])[good])))
        return {kind: sum(values) / len(values) for kind, values in left.items()}

    def _penalties(self) -> np.ndarray:
        penalty = np.diag([RIDGE[len(level.split())] for level, _, _ in self.columns]).astype(float)
        for (level, name, bucket), i in self.columns.items():
            after = self.columns.get((level, name, bucket + 1)) if isinstance(bucket, int) else None
            if after is not None:
                step = SMOOTH * RIDGE[len(level.split())]
                penalty[[i, after], [i, after]] += step
                penalty[[i, after], [after, i]] -= step
        return penalty

    def _matrix(self, d: Timings) -> tuple[np.ndarray, np.ndarray]:
        """The columns that count for a problem's plans, and how often each counts for each plan."""
        places: dict[int, int] = {}
        entries = []
        for row, facts in enumerate(d.facts):
            for fact in facts:
                for column in levels(d.kind, fact):
                    if column in self.columns:
                        entries.append((row, places.setdefault(self.columns[column], len(places))))
        x = np.zeros((len(d.facts), len(places)))
        np.add.at(x, tuple(np.array(entries).T), 1.0)
        return np.array(list(places)), x

    def predict(self, d: Timings) -> np.ndarray:
        """What the weights say of log(time) of a problem's plans, free of what needs no fit, up to a constant."""
        used, x = self._matrix(d)
        found: np.ndarray = x @ self.solution[used]
        return found

    def weights(self, kinds: Iterable[str]) -> Weights:
        """The weights by class, fact and bucket."""
        facts = {(name, bucket) for _, name, bucket in self.columns}
        return {name: {"base": {"": self.base[name]}, **self._tables(name, facts)} for name in kinds}

    def _tables(self, kind: str, facts: set[Fact]) -> dict[str, dict[int | str, float]]:
        found: dict[str, dict[int | str, float]] = {}
        for of in Fetch:
            for stores in STORES[:1] if "update" in kind else STORES:
                for name, bucket in sorted(facts, key=str):
                    fact = f"{of.value} {stores}: {name}"
                    if fact not in self.seen:
                        continue
                    columns = [c for c in levels(kind, (fact, bucket)) if c in self.columns]
                    value = sum(float(self.solution[self.columns[c]]) for c in columns)
                    found.setdefault(fact, {})[bucket] = value
        return found


@cache
def levels(kind: str, fact: Fact) -> list[Column]:
    """The columns that a fact counts for: of all plans, those that fetch and store alike, its class, and both."""
    of, _, name = fact[0].partition(": ")
    mode, own = of.replace(" ", "-"), kind.replace(" ", "-")
    wheres = ("", mode, own, f"{own} {mode}")
    return [(where, name, fact[1]) for where in wheres]


class Both:
    """Weights and networks fitted to the same timings, and the cost model made of both."""

    def __init__(self, data: Sequence[Timings]) -> None:
        import nets  # with PyTorch, which adding timings does not need

        self.fit = Fit(data)
        self.networks = nets.trained([(d.inputs, d.fitted, d.speeds, d.rest) for d in data])

    def predict(self, d: Timings) -> np.ndarray:
        """Estimated log(time) of a problem's plans, up to a constant."""
        said = np.array(self.networks(d.inputs))
        return NETWORKS * said + (1 - NETWORKS) * self.fit.predict(d) + d.rest

    def store(self) -> None:
        """Write the package's networks."""
        import nets

        nets.store(self.networks)


def known(rows: Iterable[Row]) -> list[Timings]:
    """What the fit wants of rows; of some, no plan's code is as it was."""
    return [found for found in map(timings, rows) if len(found.speeds) > 1]


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


HEAD = '''"""Weights of facts that make plans slower or faster, in log(time), by class of problem, fact and bucket.

Generated by benchmarks/ranking/fit.py --write from {plans} plans of {problems} random problems.
"""

from __future__ import annotations

from collections.abc import Mapping

# fmt: off
WEIGHTS: Mapping[str, Mapping[str, Mapping[int | str, float]]] = {{
'''


def source(data: list[Timings], fit: Fit) -> str:
    """The text of tuning/weights.py."""
    head = HEAD.format(plans=sum(len(d.facts) for d in data), problems=len(data))
    lines = []
    for name, facts in fit.weights(sorted({d.kind for d in data})).items():
        lines.append(f'    "{name}": {{')
        for fact, table in facts.items():
            ordered = sorted(table.items(), key=lambda item: (str(type(item[0])), item[0]))
            items = [f"{json.dumps(bucket)}: {value:.3f},".replace(" ", GLUE) for bucket, value in ordered]
            text = f'"{fact.replace(chr(32), GLUE)}":{GLUE}{{{chr(32).join(items)}}},'.replace(",}", "}")
            lines += textwrap.wrap(text, 110, initial_indent=8 * " ", subsequent_indent=12 * " ")
        lines.append("    },")
    return head + "\n".join(lines).replace(GLUE, " ") + "\n}\n"


def main() -> None:
    """Add data, check, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--add", type=Path, action="append", default=[], help="further timings to store")
    parser.add_argument(
        "--test", type=Path, help="check on these timings instead, fitting to all of the stored"
    )
    parser.add_argument("--write", action="store_true", help="generate tuning/weights.py and networks.npz")
    args = parser.parse_args()
    rows = read(DATA) if DATA.exists() else []
    for path in args.add:
        add(rows, read(path))
        rows = read(DATA)
    data = known(rows)
    if args.test:
        both = Both(data)
        reached: dict[str, list[tuple[float, ...]]] = {}
        for d in known(read(args.test)):
            reached.setdefault(d.kind, []).append(report(d, both.predict(d)))
        summary(reached)
    elif not (args.write or args.add):
        check(data)
    if args.write:
        both = Both(data)
        WEIGHTS.write_text(source(data, both.fit))
        both.store()


if __name__ == "__main__":
    main()

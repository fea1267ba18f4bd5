"""Prints what was fitted of the cost model as text, a line a table: for people, and for `git diff`.

    python benchmarks/ranking/show.py                          # the package's file
    python benchmarks/ranking/show.py --only="distance on Zen 5"   # tables whose names hold this
    git config diff.cost_model.textconv "python benchmarks/ranking/show.py"   # differences as such lines
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ttc_llvm.errors import ModelError
from ttc_llvm.tuning.cost import fitted
from ttc_llvm.tuning.cost.fitted import Fitted
from ttc_llvm.tuning.cost.networks import Networks
from ttc_llvm.tuning.cost.vocabulary import VERSION, named


def lines(model: Fitted) -> Iterator[str]:
    """All of it."""
    yield f"vocabulary {VERSION}; fitted to {model.plans} plans of {model.problems} problems"
    for owner in model.tables:
        kind, *name = owner
        entries = " ".join(f"{bucket}: {weight:.3f}" for bucket, weight in model.tables[owner].items())
        yield f"table {kind} | {named(*name)} | {entries}"
    yield from _network_lines(model.networks)


def _network_lines(networks: Networks) -> Iterator[str]:
    for name, mean, scale in zip(networks.columns, networks.mean, networks.scale, strict=True):
        yield f"input {name} | mean {mean:.6g} scale {scale:.6g}"
    for what, layers in (("weights", networks.weights), ("biases", networks.biases)):
        for layer, values in enumerate(layers):
            for network, one in enumerate(values):
                for row, numbers in enumerate(np.atleast_2d(one)):
                    yield f"network {network} {what}{layer}[{row}] | {' '.join(f'{x:.6g}' for x in numbers)}"


def main() -> None:
    """Print the lines that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=fitted.FILE)
    parser.add_argument("--only", default="", help="lines that hold this text")
    given = parser.parse_args()
    try:
        model = fitted.read(given.file)
    except ModelError as error:
        parser.exit(2, f"{error}\n")
    for line in lines(model):
        if given.only in line:
            print(line)


if __name__ == "__main__":
    main()

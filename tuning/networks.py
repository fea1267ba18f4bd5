"""A few small neural networks that know what the weights of single facts cannot: how facts act together.

They see the numbers of `features.Features` and say how long a plan takes, as the weights do, in log(time). Where they
disagree, little is known: half of the spread is added to their mean. `benchmarks/ranking/fit.py --write` trains them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("networks.npz")
DOUBT = 0.5  # of the networks' spread that counts as time
FAR = 4.0  # standard deviations: numbers further from what was seen count as no further
DIGITS = 4  # of log(time): a matrix product rounds rows differently, and equal plans must tie
TOGETHER = 32  # plans at a time: a BLAS library would wake its threads for more


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """Networks of two hidden layers, all of one shape. mean, scale: of the inputs [inputs]; weights, biases: per layer
    [networks, from, to] and [networks, 1, to]."""

    mean: np.ndarray
    scale: np.ndarray
    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]

    def __call__(self, plans: Sequence[Sequence[float]]) -> list[float]:
        """log(time) of plans by their inputs."""
        found: list[float] = []
        for start in range(0, len(plans), TOGETHER):
            found += self._some(np.array(plans[start : start + TOGETHER], np.float32)).tolist()
        return [round(value, DIGITS) for value in found]

    def _some(self, inputs: np.ndarray) -> np.ndarray:
        values = np.clip((inputs - self.mean) / self.scale, -FAR, FAR)
        *hidden, last = zip(self.weights, self.biases, strict=True)
        for weight, bias in hidden:
            values = values @ weight + bias
            values = values / (1 + np.exp(-values))  # SiLU
        said = (values @ last[0] + last[1])[..., 0]
        mean = said.sum(0) / len(said)  # NumPy's own mean and std take as long as a layer
        total: np.ndarray = mean + DOUBT * np.sqrt(np.square(said - mean).sum(0) / len(said))
        return total


@cache
def networks() -> Networks:
    """The networks that are part of this package."""
    with np.load(FILE) as stored:
        arrays = {name: stored[name].astype(np.float32) for name in stored.files}
    layers = range(sum(name.startswith("weight") for name in arrays))
    weights, biases = (tuple(arrays[f"{name}{i}"] for i in layers) for name in ("weight", "bias"))
    return Networks(arrays["mean"], arrays["scale"], weights, biases)

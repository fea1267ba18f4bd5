"""A few small neural networks that know what the weights of single facts cannot: how facts act together.

They see the numbers of `features.Features` and say how long a plan takes, as the weights do, in log(time). Where they
disagree, little is known: half of the spread is added to their mean. `benchmarks/ranking/fit.py --write` trains them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ttc_llvm.errors import ModelError
from ttc_llvm.lazy_dataclasses import dataclass, replace

DOUBT = 0.5  # of the networks' spread that counts as time
FAR = 4.0  # standard deviations: numbers further from what was seen count as no further
DIGITS = 4  # of log(time): a matrix product rounds rows differently, and equal plans must tie
TOGETHER = 32  # plans at a time: a BLAS library would wake its threads for more


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """Networks of two hidden layers, all of one shape. columns: names of the inputs; mean, scale: of the inputs
    [inputs]; weights, biases: per layer [networks, from, to] and [networks, 1, to]."""

    columns: tuple[str, ...]
    mean: np.ndarray
    scale: np.ndarray
    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]

    def __call__(self, plans: Sequence[Sequence[float]] | np.ndarray) -> list[float]:
        """log(time) of plans by their inputs."""
        found: list[float] = []
        for start in range(0, len(plans), TOGETHER):
            found += self._some(np.asarray(plans[start : start + TOGETHER], np.float32)).tolist()
        return [round(value, DIGITS) for value in found]

    def _some(self, inputs: np.ndarray) -> np.ndarray:
        values = inputs - self.mean
        values /= self.scale
        np.minimum(np.maximum(values, -FAR, out=values), FAR, out=values)  # np.clip takes twice as long
        *hidden, last = zip(self.weights, self.biases, strict=True)
        for weight, bias in hidden:
            values = values @ weight
            values += bias
            gate = np.negative(values)
            np.exp(gate, out=gate)
            gate += 1
            values /= gate  # SiLU
        said = (values @ last[0] + last[1])[..., 0]
        mean = np.add.reduce(said, 0) / len(said)  # NumPy's own mean and std take as long as a layer
        total: np.ndarray = mean + DOUBT * np.sqrt(np.add.reduce(np.square(said - mean), 0) / len(said))
        return total

    def reading(self, columns: tuple[str, ...]) -> Networks:
        """The same networks for inputs that come in this order; ModelError unless they are those that these know."""
        if columns == self.columns:
            return self
        unlike = sorted({*columns} ^ {*self.columns})
        if unlike or len(columns) != len(self.columns):
            raise ModelError(
                f"the cost model's networks know {len(self.columns)} inputs, and plans have {len(columns)}: "
                f"{', '.join(map(repr, unlike[:3])) or 'some twice'} in one of them only"
            )
        order = [self.columns.index(name) for name in columns]
        first, *others = self.weights
        weights = (first[:, order], *others)
        return replace(self, columns=columns, mean=self.mean[order], scale=self.scale[order], weights=weights)

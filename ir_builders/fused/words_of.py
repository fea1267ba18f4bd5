"""Contractions and machines as the words that native code reads."""

from __future__ import annotations

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.micro_kernel import MicroKernel
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.contraction import OPERANDS, Contraction, IndexClass

from .planning import INDICES

_CLASSES = (IndexClass.BATCH, IndexClass.M, IndexClass.N, IndexClass.K)  # by the numbers of `planning`


@dataclass(frozen=True, slots=True)
class Version:
    """The code for one machine. job: the words of the contraction's own job there, see `fields`."""

    target: Target
    job: tuple[int, ...]


def machine_words(kernel: MicroKernel, target: Target) -> tuple[int, ...]:
    """The words of a machine and data type, see `planning`."""
    streams = int(kernel.streams(target))
    return (
        kernel.rows, kernel.columns, kernel.group, kernel.dtype.itemsize, kernel.tile_bytes, target.l1, target.l2,
        streams, kernel.way,
    )  # fmt: skip


def contraction_words(stated: Contraction) -> tuple[int, ...]:
    """The words of a stated contraction, see `planning`."""
    letters = [letter for letter, _ in stated.size]
    tensors: list[int] = []
    starts = []
    for name in OPERANDS:
        starts.append(INDICES + 16 * len(letters) + 8 * len(tensors))
        numbers = [letters.index(letter) for letter in stated.indices(name)]
        tensors += [len(numbers), *numbers, *stated.strides(name)]
    indices = [word for x, extent in stated.size for word in (_CLASSES.index(stated.class_of(x)), extent)]
    return (len(letters), *starts, *indices, *tensors)

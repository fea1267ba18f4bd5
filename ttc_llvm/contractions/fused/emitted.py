"""Fused plans as objects have them: the words of a contraction's own job on each machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir_builders.fused import fields as f
from ...ir_builders.fused.planning import planned
from ...ir_builders.fused.words_of import Version, contraction_words, machine_words
from ...lowering.micro_kernel import MicroKernel
from ...machine.target import Target
from ...operands.addresses import data_address
from ...problem.contraction import OPERANDS, Contraction
from .job import job
from .plan import Fused


def version(stated: Contraction, target: Target, fused: Fused | None = None) -> Version:
    """The code for a machine. fused: the plan of the contraction's own extents and strides, which copies nothing;
    None = as calls with other ones are planned."""
    words = _planned(stated, target) if fused is None else _of_plan(stated, target, fused)
    return Version(target, (*words, *[0] * (f.JOB_BYTES // 8 - len(words))))


def _planned(stated: Contraction, target: Target) -> list[int]:
    """The job that native code would plan."""
    made = np.zeros(f.JOB_BYTES // 8, np.int64)
    kernel = MicroKernel.of(str(stated.dtype), target)
    of, facts = (np.array(words, np.int64) for words in (contraction_words(stated), machine_words(kernel, target)))
    planned(data_address(made), data_address(of), data_address(facts), 0, 0, 0, 0)
    return [int(word) for word in made]


def _of_plan(stated: Contraction, target: Target, fused: Fused) -> list[int]:
    words = [*job(fused, MicroKernel.of(str(stated.dtype), target))]
    for tensor, name in enumerate(OPERANDS):
        steps = zip(stated.indices(name), stated.shape(name), stated.strides(name), strict=True)
        shift = sum((n - 1) * step for letter, n, step in steps if letter in fused.merged.reversed)
        words[f.SHIFT_A // 8 + tensor] = shift * stated.element.itemsize
    return words


def scratch(versions: Sequence[Version]) -> int:
    """Bytes of memory that a call at the contraction's own extents works best with, on the machine that needs most."""
    return max(one.job[f.SCRATCH // 8] for one in versions) + f.LINE


def tasks(versions: Sequence[Version]) -> int:
    """Into how many pieces the work can be cut, at least 1."""
    return max(1, versions[0].job[f.TASKS // 8])

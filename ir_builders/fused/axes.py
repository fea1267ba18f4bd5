"""The axes of a job's classes of indices (rows, columns, terms), as functions of integers. An axis is an extent, and
the strides of its two tensors in bytes."""

from __future__ import annotations

from ..words import load64
from . import fields as f


def axis_of(job: int, axes: int, number: int) -> int:
    """The place of an axis. axes: the field of its class."""
    return job + load64(job + axes + f.PLACE) + f.AXIS * number


def last_of(job: int, axes: int) -> int:
    """The place of the innermost axis of a class that has some."""
    return axis_of(job, axes, load64(job + axes) - 1)


def innermost(job: int, axes: int) -> int:
    """The extent of the innermost axis of a class, 1 where there is none."""
    return load64(last_of(job, axes)) if load64(job + axes) > 0 else 1

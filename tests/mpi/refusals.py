"""Refusals of plans, the same on every rank, before any message: prints each sentence once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from ttc_llvm import TtcError, mpi
from ttc_llvm.mpi import plan as plans

COMM = MPI.COMM_WORLD
LAST = COMM.rank == COMM.size - 1  # where something is wrong


def layout(*shape: int, **given: Any) -> mpi.Layout:
    """Split along axis 0 unless something else is said."""
    return mpi.Layout(COMM, shape, **given)


def wrong(argument: Any) -> Any:
    """An argument that no type checker lets pass."""
    return argument


def refused(name: str, call: Callable[[], Any]) -> None:
    """All ranks raise the same."""
    try:
        call()
    except TtcError as error:
        texts = COMM.allgather(f"{type(error).__name__}: {error}")
        assert len(set(texts)) == 1, texts
        if COMM.rank == 0:
            print(f"{name}: {texts[0]}")
        return
    raise AssertionError(name)


def interrupted(of: mpi.Layout, to: mpi.Layout, a: np.ndarray) -> None:
    """Messages that a call left behind reach no other plan."""
    plan = mpi.permute_plan(of, (1, 0), to)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    moved, plans._Move.__call__ = plans._Move.__call__, stop  # type: ignore[assignment, method-assign]
    try:
        plan(a)
        raise AssertionError("not interrupted")
    except KeyboardInterrupt:
        plans._Move.__call__ = moved  # type: ignore[method-assign]
    refused("interrupted", lambda: plan(a))
    assert (mpi.permute_plan(of, (1, 0), to)(3 * a) == 3).all()


def main() -> None:
    """Afterwards the plan still works: nobody has a message that another never sent."""
    of, to = layout(6, 4), layout(4, 6)
    plan = mpi.permute_plan(of, (1, 0), to)
    a, b = np.ones(of.local_shape), to.empty()
    locked = to.empty()
    locked.setflags(write=False)
    memory = np.empty(2 * b.size + a.size)
    shared = memory[: a.size].reshape(a.shape), memory[: b.size].reshape(b.shape)
    other = COMM.Split(0, -COMM.rank)
    gone = COMM.Dup()
    on_gone = [mpi.Layout(gone, shape) for shape in ((6, 4), (4, 6))]
    its_plan = mpi.permute_plan(on_gone[0], (1, 0), on_gone[1])
    gone.Free()
    for name, call in {
        "shapes": lambda: mpi.permute_plan(of, (1, 0), layout(6, 4)),
        "perm": lambda: mpi.permute_plan(of, (0, 0), to),
        "other perm": lambda: mpi.permute_plan(layout(4, 4), (1, 0) if LAST else (0, 1), layout(4, 4)),
        "other dtype": lambda: mpi.permute_plan(of, (1, 0), to, "f4" if LAST else "f8"),
        "other split": lambda: mpi.permute_plan(
            of, (1, 0), layout(4, 6, splits={0: mpi.cyclic(1) if LAST else mpi.block})
        ),
        "objects": lambda: mpi.permute_plan(of, (1, 0), to, object),
        "no layout": lambda: mpi.permute_plan(of, (1, 0), wrong(None) if LAST else to),
        "no layouts": lambda: mpi.permute_plan(wrong(None) if LAST else of, (1, 0), to),
        "ranks": lambda: mpi.permute_plan(of, (1, 0), mpi.Layout(other, (4, 6))),
        "freed": lambda: its_plan(a, b),
        "freed layouts": lambda: mpi.permute_plan(on_gone[0], (1, 0), on_gone[1]),
        "threads": lambda: mpi.permute_plan(of, (1, 0), to, threads=0),
        "a's shape": lambda: plan(a[:-1] if LAST else a, b),
        "a's dtype": lambda: plan(a.astype("f4") if LAST else a, b),
        "b's shape": lambda: plan(a, b.T if LAST else b),
        "locked": lambda: plan(a, locked if LAST else b),
        "overlap": lambda: plan(*(shared if LAST else (a, b))),
        "alpha": lambda: plan(a, b, alpha=2 if LAST else 1),
        "beta": lambda: plan(a, beta=1),
        "complex": lambda: plan(a, b, alpha=1j),
        "not a number": lambda: plan(a, b, alpha=wrong("x") if LAST else 1),
        "root": lambda: of.gather(a, root=COMM.size),
        "part": lambda: of.gather(a[:-1] if LAST else a),
        "whole": lambda: of.scatter(np.ones((6, 5)), root=COMM.size - 1),
    }.items():
        refused(name, call)
    assert (plan(a, b) == 1).all()
    interrupted(of, to, a)


if __name__ == "__main__":
    main()

"""Plans of permutations between two distributions, as one rank has them: its messages, and the calls."""

from __future__ import annotations

from threading import Lock
from time import perf_counter_ns
from typing import Any

import numpy as np

from ..arguments import number, shown
from ..arrays import result_memory
from ..arrays.overlaps import check_once, share
from ..arrays.public import transpose
from ..errors import ArrayError
from ..locks import imported
from ..operands.addresses import data_address
from ..operands.operand import Array, Operand
from ..operands.reading import operand
from . import communicators
from .agreement import Facts, agreed_with
from .choice import Choice
from .costs import costs
from .distribution import Distribution, Places
from .exchange import Exchange, Moves
from .messages import Message, Perm, traffic
from .prediction import Prediction, predicted
from .redistribution import Redistribution

CHUNK = 16 << 20  # bytes that are packed, sent and unpacked at once
MEMORY = 256 << 20  # bytes of B's part that a plan may keep once more
_NUMBERS = frozenset((int, float, complex))
_ABANDONED: list[Any] = []  # memory of interrupted calls, which messages may still be written to
Types = tuple[np.dtype[Any], np.dtype[Any]]  # of A and of B


class PermutePlan:
    """`B = alpha * A.transpose(perm) + beta * B` of distributed tensors, made by `permute_plan`.

    Calls are collective. Every rank passes its parts: `plan(a, b, alpha=1, beta=0)` fills `b` and returns it, `plan(a)`
    returns a new part. alpha and beta are the same on all ranks. The plan's buffers serve every call, one at a time.

    perm, types: as given, the types of A and of B. order: of A's axes on their way: B's, where senders transpose, or
    A's own, where receivers do.
    """

    def __init__(
        self, comm: Any, a: Distribution, perm: Perm, b: Distribution, types: Types, threads: int | None
    ) -> None:
        self._comm, tag = communicators.private(comm)
        self._a, self._b, self._threads = a, b, threads
        self.perm, self.types = perm, types
        most = max(1, CHUNK // types[0].itemsize)
        self._traffic = traffic(a, perm, b, comm.rank, most)
        self.order = self._agreed_order()
        self._ways: list[Exchange | Redistribution] = [
            Exchange(self._comm, tag, self._traffic, perm, self.order, types[0])
        ]
        if comm.size > 1 and b.largest * types[0].itemsize <= MEMORY:
            self._ways.append(Redistribution(self._comm, self._traffic, perm, types[0]))
        self._choice = Choice(len(self._ways))
        self._interrupted = False
        self._repeated: tuple[Any, ...] = (None,)
        self._lock = Lock()

    def _agreed_order(self) -> Perm:
        own = costs(self._traffic, self._a, self.perm, self._b, self._comm.rank, self.types[0].itemsize)
        mine = np.rint(own).astype(np.int64)  # whose sums are the same on all ranks, unlike those of floats
        total = np.empty_like(mine)
        self._comm.Allreduce(mine, total)
        return tuple(range(len(self.perm))) if total[0] <= total[1] else self.perm

    def __repr__(self) -> str:
        side = "receivers" if self.order != self.perm else "senders"
        return (
            f"<PermutePlan {self.perm} of {self._a} into {self._b}: {side} transpose;"
            f" {self.bytes_sent} bytes in {self.messages_sent} messages from this rank>"
        )

    @property
    def bytes_sent(self) -> int:
        """By this rank, to others, in a call."""
        return self._bytes(self._traffic.sends)

    @property
    def bytes_received(self) -> int:
        """By this rank, from others, in a call."""
        return self._bytes(self._traffic.receives)

    @property
    def messages_sent(self) -> int:
        """The ranks that this one sends something."""
        return len(self._traffic.sends)

    def _bytes(self, messages: tuple[Message, ...]) -> int:
        return sum(message.size for message in messages) * self.types[0].itemsize

    def predict(self, ranks: int | None = None, *, latency: float, bandwidth: float) -> Prediction:
        """The time of a call from its messages. ranks: by default the communicator's; for others the grids are scaled.

        latency: of a message, seconds; bandwidth: of one rank to all others, bytes a second. Raises OptionError.
        """
        return predicted(self._a, self.perm, self._b, self.types[0].itemsize, ranks, latency, bandwidth)

    def __call__(self, a: Any, b: Any = None, *, alpha: complex = 1, beta: complex = 0) -> Any:
        """B's part on this rank, of A's parts on all. Collective; raises ArrayError or ProblemError on all ranks.

        a, b: arrays of any strides, of the layouts' local shapes and the plan's types. b is written to, and read only
        where beta is not 0.
        """
        with self._lock:
            choice = self._choice
            (of, to, given, moves), slowest = agreed_with(
                self._comm, lambda: self._sound(a, b, alpha, beta), choice.last
            )
            way, start = self._ways[choice.next(slowest)], perf_counter_ns()
            try:
                way.run(of, to, moves)
            except BaseException:
                self._interrupted = True
                _ABANDONED.append((way, of, to))
                raise
            choice.took(perf_counter_ns() - start)
        if given is not None and given.written is not None:
            given.written()
        return to if b is None else b

    def _sound(self, a: Any, b: Any, alpha: Any, beta: Any) -> tuple[tuple[Any, ...], Facts]:
        """What a way takes, and what has to be the same on all ranks: known where a call is repeated."""
        if self._interrupted:
            raise ArrayError("an earlier call of the plan was interrupted: only another plan can be used")
        key = _key(a, b, alpha, beta)
        if key is not None and key == self._repeated[0]:
            moves, facts = self._repeated[1:]
            return (a, b, None, moves), facts
        found, facts = self._checked(a, b, alpha, beta)
        self._repeated = key, found[-1], facts
        return found, facts

    def _checked(self, a: Any, b: Any, alpha: Any, beta: Any) -> tuple[tuple[Any, ...], Facts]:
        rank = self._comm.rank
        of = self._part("a", operand(a, "a"), self._a.shape_of(rank), self.types[0])
        given = None if b is None else operand(b, "b")
        if given is None:
            to = result_memory.empty(self._b.shape_of(rank), self.types[1], threads=self._threads)
        else:
            to = given.view
        if given is not None:
            self._part("b", given, self._b.shape_of(rank), self.types[1])
            if given.locked:
                raise ArrayError(f"b {given.locked}")
            check_once(to)
            if share(of, to):
                raise ArrayError("b shares memory with a: the permutation is out of place")
        elif number("beta", beta) != 0:
            raise ArrayError(f"beta = {shown(beta)} without b: there is nothing to be scaled")
        moved = is_move(self.types, alpha, beta)
        moves = Moves(_Move(self._threads), _Move(self._threads, alpha=alpha, beta=beta), moved)
        return (of, to, given, moves), {"alpha": _scalar("alpha", alpha), "beta": _scalar("beta", beta)}

    def _part(self, name: str, given: Operand, shape: Places, dtype: np.dtype[Any]) -> Array:
        view = given.view
        if given.on_device or given.conjugated:
            raise ArrayError(f"{name} {'lies on a device' if given.on_device else 'is conjugated lazily'}: pass a copy")
        if view.shape != shape or view.dtype != dtype:
            raise ArrayError(f"{name} has shape {view.shape} and dtype {view.dtype}: its part has {shape} and {dtype}")
        return view


def is_move(types: Types, alpha: Any = 1, beta: Any = 0) -> bool:
    """True where items are moved as they are. Raises as `scaled` does, whose module takes 5 ms to load."""
    if types[0] == types[1] and _NUMBERS.issuperset((type(alpha), type(beta))) and alpha == 1 and beta == 0:
        return True
    return imported("..arrays.checks", __package__).scaled(*types, alpha, beta, False).values is None


def _key(a: Any, b: Any, alpha: Any, beta: Any) -> tuple[Any, ...] | None:
    """All that a call's checks depend on; None where that is more than NumPy's arrays and Python's numbers have."""
    if not type(a) is type(b) is np.ndarray or not _NUMBERS.issuperset((type(alpha), type(beta))):
        return None
    places = ((data_address(x), x.shape, x.strides, x.dtype) for x in (a, b))
    return *places, b.flags.writeable, type(alpha), alpha, type(beta), beta


def _scalar(name: str, given: Any) -> str:
    """The same for equal numbers of any type."""
    value = number(name, given)
    return repr(value if value.imag else value.real)


class _Move:
    """Elements from one array into another of its shape, by a kernel."""

    def __init__(self, threads: int | None, **scalars: Any) -> None:
        self.given = {"threads": threads, **scalars}

    def __call__(self, of: Array, to: Array) -> None:
        transpose(of, tuple(range(of.ndim)), out=to, **self.given)

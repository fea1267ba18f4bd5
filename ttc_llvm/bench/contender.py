"""The parts of a measurement, on a CPU and on a GPU: contenders, the workspace in which they are timed,
and the peers that they come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ..lazy_dataclasses import dataclass
from ..problem.canonical import Canonical
from .cases import Case
from .results import Reference

OURS = "ttc"


@dataclass(frozen=True, slots=True)
class Contender:
    """One of those that are timed in a workspace.

    name: in reports; bytes_moved: by one call; run: makes so many calls, on a GPU one on a set of tensors; variant:
    contenders of one name are ways to the same, of which the best counts; foreign: another library's, which may have
    threads of its own; output: its result where it cannot write into B, with B's indices reversed (C order); reads:
    memory of its own to be flushed; reference: how it was compiled, if it is a reference.
    """

    name: str
    bytes_moved: int
    run: Callable[[Any], None]
    variant: int = 0
    foreign: bool = False
    output: Callable[[], npt.NDArray[np.generic]] | None = None
    reads: tuple[npt.NDArray[np.uint8], ...] = ()
    reference: Reference | None = None


Agrees = Callable[[Contender], bool]  # run once: whether a contender computes what it should


class PreparedCase(Protocol):
    """One case ready to be measured: a workspace, its tensors in the same prepared state for every contender."""

    @property
    def case(self) -> Case:
        """The case."""

    @property
    def canonical(self) -> Canonical:
        """Its canonical form, as plans see it."""

    def seconds(self, contender: Contender) -> float:
        """One measurement from the case's prepared state."""


W = TypeVar("W", contravariant=True)


class Peer(Protocol[W]):
    """A library or compiler that can do some of the cases in workspaces of a kind."""

    @property
    def name(self) -> str:
        """In reports."""

    @property
    def version(self) -> str:
        """Of the library, as far as it tells, or of the compiler with its flags; part of a result's key."""

    def contender(self, workspace: W) -> Contender | None:
        """Make it ready to run in a workspace, everything planned; None for what it cannot do. NotBuilt where it had to
        be compiled and could not be."""


@dataclass(frozen=True, slots=True)
class FoundPeers:
    """The peers that are here, and one sentence for each that was wanted and is not."""

    peers: tuple[Peer[Any], ...]
    notices: tuple[str, ...]


class Absent(Exception):
    """Why a peer cannot take part. named: the user pointed at it, so that this is a mistake."""

    def __init__(self, why: str, named: bool = False) -> None:
        super().__init__(why)
        self.named = named


class NotBuilt(Exception):
    """A reference that cannot take part in a case; its message says why."""

    def __init__(self, reference: Reference) -> None:
        super().__init__(reference.message)
        self.reference = reference

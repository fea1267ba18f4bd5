"""The peers present in a case: those who can do it, and do it right."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import TtcError
from .contender import Agrees, Contender, NotBuilt, Peer, Timed
from .results import Reference

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Present:
    """The peers present in a case. references: how they were compiled, and why some could not be."""

    contenders: tuple[Contender, ...]
    references: dict[str, Reference]

    @classmethod
    def of(
        cls, peers: Sequence[Peer[Any]], workspace: Timed, check: Callable[[], Agrees] | None, full: bool = False
    ) -> Present:
        """Those who can do the case and do it right. check: makes the check of their results, None = there is none;
        full: made also where there is no peer, to check our own result."""
        references: dict[str, Reference] = {}
        found = [made for peer in peers if (made := _made(peer, workspace, references)) is not None]
        references |= {made.name: made.reference for made in found if made.reference is not None}
        if check is None or not (found or full):
            return cls(tuple(found), references)
        agrees = check()
        agreed = tuple(peer for peer in found if agrees(peer))
        for peer in (peer for peer in found if peer not in agreed):
            _log.warning("%s is left out of %s: its result differs", peer.name, workspace.case.id)
            if peer.name in references:
                references[peer.name] = replace(references[peer.name], message="its result differs")
        return cls(agreed, references)


def _made(peer: Peer[Any], workspace: Timed, references: dict[str, Reference]) -> Contender | None:
    try:
        return peer.contender(workspace)
    except (TtcError, KeyboardInterrupt):
        raise
    except NotBuilt as failed:
        _log.info("%s is left out of %s: %s", peer.name, workspace.case.id, failed)
        references[peer.name] = failed.reference
    except Exception as error:  # another library's: whatever it is, the others go on
        _log.warning("%s is left out of %s: %s: %s", peer.name, workspace.case.id, type(error).__name__, error)
    return None

"""Who of the peers takes part in a case: those who can do it, and do it right."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..errors import TtcError
from .check import Check
from .peers import NotBuilt, Peer
from .results import Reference
from .stand import Contender, Stand

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Guests:
    """The peers at work on a case. references: how they were compiled, and why some could not be."""

    contenders: tuple[Contender, ...]
    references: dict[str, Reference]

    @classmethod
    def of(cls, peers: Sequence[Peer], stand: Stand, mine: Contender, verify: bool, full: bool) -> Guests:
        """Those who can do the case and, where asked to verify, do it right. full: check our own result, too."""
        references: dict[str, Reference] = {}
        found = [made for peer in peers if (made := _made(peer, stand, references)) is not None]
        references |= {made.name: made.reference for made in found if made.reference is not None}
        if not verify or not (found or full):
            return cls(tuple(found), references)
        check = Check(stand, mine, full)
        agreed = tuple(peer for peer in found if check.agrees(peer))
        for peer in (peer for peer in found if peer not in agreed):
            _log.warning("%s is left out of %s: its result differs", peer.name, stand.case.id)
            if peer.name in references:
                references[peer.name] = replace(references[peer.name], message="its result differs")
        return cls(agreed, references)


def _made(peer: Peer, stand: Stand, references: dict[str, Reference]) -> Contender | None:
    try:
        return peer.contender(stand)
    except (TtcError, KeyboardInterrupt):
        raise
    except NotBuilt as failed:
        _log.info("%s is left out of %s: %s", peer.name, stand.case.id, failed)
        references[peer.name] = failed.reference
    except Exception as error:  # another library's: whatever it is, the others go on
        _log.warning("%s is left out of %s: %s: %s", peer.name, stand.case.id, type(error).__name__, error)
    return None

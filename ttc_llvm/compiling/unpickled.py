"""The function that pickles of solutions name: what they need is loaded at once, without collections of garbage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import locks

if TYPE_CHECKING:
    from .solution import Solution

_module = locks.imported(".solution", __package__)


def solution(*given: Any) -> Solution:
    """A solution from its pickled state."""
    return _module._unpickled(*given)  # type: ignore[no-any-return]

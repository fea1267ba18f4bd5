"""The words through which native code finds the process' pool of workers: `ir_builders.pool_layout.Shared`."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any

from ..ir_builders.pool_layout import ANYWHERE, BURST_SECONDS, MASK_BYTES, SHARED_BYTES, WAKING_BYTES, Shared
from . import affinity
from .once import once

if TYPE_CHECKING:
    from .pool import Pool

_words = (ctypes.c_int64 * (SHARED_BYTES // 8))()
_kept: list[Any] = []  # objects that the words refer to
_published: list[Pool] = []
_noted: list[Any] = []  # threads, and the CPUs with which they were counted


def address() -> int:
    """The address of the words, for good."""
    _describe()
    return ctypes.addressof(_words)


def publish(pool: Pool, lock: threading.Lock) -> None:
    """Let native code use a pool. lock: which its caller holds."""
    if not _published or _published[0] is not pool:
        if not _describe():
            return
        _kept[:] = [lock.acquire, lock.release, (False,), pool, *_kept[:3]]
        for word, thing in zip((Shared.ACQUIRE, Shared.RELEASE, Shared.AT_ONCE), _kept, strict=False):
            _set(word, id(thing))
        _set(Shared.SUBMIT, pool.native.address)
        _set(Shared.KEPT_OFF, 0 if pool.placement == affinity.NONE else ANYWHERE)
        _set(Shared.POOL, pool.start)
        _published[:] = [pool]
    _set(Shared.PARTICIPANTS, len(pool.threads) + 1)


def withdraw() -> None:
    """There is no pool until one is published."""
    _set(Shared.POOL, 0)
    _published.clear()


def note_kept_off(cpu: int, participants: int) -> None:
    """Workers of so many participants are kept off a CPU."""
    _set(Shared.KEPT, participants)
    _set(Shared.KEPT_OFF, 1 + cpu)


def note_threads(count: int, mask: frozenset[int]) -> None:
    """The default number of threads with these CPUs; 0 = it is to be asked again."""
    if _noted == [count, mask]:
        return
    _noted[:] = [count, mask]
    bits = sum(1 << cpu for cpu in mask)
    written = bits.to_bytes(MASK_BYTES, "little") if bits.bit_length() <= 8 * MASK_BYTES else bytes(MASK_BYTES)
    ctypes.memmove(ctypes.addressof(_words) + Shared.MASK, written, MASK_BYTES)
    _set(Shared.THREADS, count)
    if _words[Shared.KEPT_OFF // 8] != ANYWHERE:
        _set(Shared.KEPT_OFF, 0)


@once
def _describe() -> bool:
    """Set what does not change in a process; False where the system or the interpreter lacks a function."""
    try:
        system, python = ctypes.CDLL(None), ctypes.pythonapi
        found: dict[int, Any] = {
            Shared.CALL: python.PyObject_CallObject, Shared.DROP: python.Py_DecRef, Shared.CLEAR: python.PyErr_Clear,
            Shared.CLOCK: system.clock_gettime, Shared.GET_MASK: system.sched_getaffinity,
            Shared.GET_CPU: system.sched_getcpu,
        }  # fmt: skip
    except (AttributeError, OSError, TypeError):
        return False
    addresses = {word: ctypes.cast(function, ctypes.c_void_p).value or 0 for word, function in found.items()}
    constants = {Shared.TRUE: id(True), Shared.BURST: int(BURST_SECONDS * 1e9), Shared.WAKING: WAKING_BYTES}
    for word, value in (addresses | constants).items():
        _set(word, value)
    return True


def _set(word: int, value: int) -> None:
    _words[word // 8] = value

"""Machines by name: one table of spellings (architectures, CPUs, triples), near matches for the rest."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .. import locks
from ..arguments import cut, shown
from ..errors import TargetError
from ..lazy_dataclasses import replace
from .table import ABSENT, ABSENT_FAMILIES, ALIASES, CPUS, DIFFERENCES, ROWS, TRIPLES, X86, row
from .target import Exchange, Target, family_of

# Every spelling that --architecture, --cpu and `target=` accept -> (row, LLVM's CPU name, "" = the row's).
_SPELLINGS = (
    {name: (name, "") for name in ROWS}
    | ALIASES
    | {cpu: (name, cpu) for name, names in CPUS.items() for cpu in names}
)


def spellings() -> tuple[str, ...]:
    """Every architecture and CPU that `find` accepts; it accepts `triples` as well."""
    return tuple(_SPELLINGS)


def triples() -> tuple[str, ...]:
    """Every triple that `find` accepts."""
    return tuple(TRIPLES)


def cpus(family: str) -> frozenset[str]:
    """The CPU names of one of LLVM's back ends that our tables hold: LLVM ends the process on others."""
    return frozenset(cpu or row(name).cpu for name, cpu in _SPELLINGS.values() if row(name).family == family)


@lru_cache(maxsize=256)
def find(name: str) -> Target:
    """The target of that name. TargetError lists near matches, so that LLVM never sees an unknown name."""
    key = name.strip().lower()
    absent = ABSENT.get(key) or next((why for prefix, why in ABSENT_FAMILIES.items() if key.startswith(prefix)), None)
    if absent:
        raise TargetError(f"architecture {cut(key)} cannot be used: {absent}")
    if key in TRIPLES:
        return replace(row(TRIPLES[key]), name=key, triple=key)
    if key not in _SPELLINGS:
        raise TargetError(_unknown(name, key))
    found, cpu = _SPELLINGS[key]
    known = cpu or row(found).cpu
    return replace(row(found), name=key, cpu=known, **DIFFERENCES.get(known, {}))


def _unknown(name: str, key: str) -> str:
    every = (*_SPELLINGS, *locks.imported(".gpu_target", __package__).spellings(), *TRIPLES)
    near = locks.imported("difflib").get_close_matches(key, every, n=4, cutoff=0.5)
    if near[0] in TRIPLES if near else key.count("-") >= 2:
        near = [match for match in near if match in TRIPLES] or [t for t in TRIPLES if "unknown" in t]
        return f"unknown triple {shown(name)}: near matches are {', '.join(near)}"
    near = [match for match in near if match not in TRIPLES]
    choices = f"near matches are {', '.join(near)}"
    if not near:
        choices = f"the choices are {', '.join(ROWS)}, and the CPUs of ttc info --targets"
    return f"unknown architecture or CPU {shown(name)}: {choices}"


def is_triple(name: str) -> bool:
    """True where the name says a machine and its system, and not which CPU."""
    return name.strip().lower() in TRIPLES


@lru_cache(maxsize=256)
def on_triple(machine: Target, triple: str) -> Target:
    """The same CPU with another system or byte order. TargetError where the triple is another back end's."""
    other = find(triple)
    if other.family != machine.family:
        raise TargetError(f"{machine} is no CPU of {triple}: that is {other.family}, not {machine.family}")
    return replace(machine, triple=other.triple)


def for_features(
    cpu: str, enabled: frozenset[str], features: str, triple: str = X86, **caches: Any
) -> Target:
    """The target of a machine that reports this CPU name, these enabled features and cache sizes (bytes)."""
    family = family_of(triple)
    typical = row(next(name for name, wanted in _NEEDS[family] if wanted <= enabled))
    named = any(cpu in names and row(name).family == family for name, names in CPUS.items())
    known = cpu if named else typical.cpu
    own = {**DIFFERENCES.get(known, {}), **caches}
    return replace(typical, name="host", triple=triple, cpu=known, features=features, **own)


# Rows by what they need, for machines that kernels run on.
_NEEDS: dict[str, tuple[tuple[str, frozenset[str]], ...]] = {
    "x86": (
        ("avx512", frozenset({"avx512f", "avx512bw", "avx512vl", "avx512dq"})),
        ("knl", frozenset({"avx512f"})),
        ("avx2", frozenset({"avx2"})),
        ("avx", frozenset({"avx"})),
        ("sse2", frozenset()),
    ),
    "aarch64": (
        ("sve512", frozenset({"sve", "sve512"})),
        ("sve256", frozenset({"sve", "sve256"})),
        ("sve", frozenset({"sve"})),
        ("neon", frozenset()),
    ),
}


def scalar(target: Target) -> Target:
    """The same machine with no vectors wider than one element's natural pair: what `--no-vec` compiles for."""
    return replace(
        target, name=f"{target.name}-novec", vector_bits=64, small_vector_bits=8, masked=(),
        insert_bits=0, exchange=Exchange.UNPACK, scalable=False,
    )  # fmt: skip

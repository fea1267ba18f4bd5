"""Selection of cases from the suites: by number, by name, as a random sample, and of which size."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from ..errors import OptionError
from .cases import Case, shrunk

_SLICE = re.compile(r"(-?[0-9]{1,9})?(:(-?[0-9]{1,9})?(:([0-9]{1,9})?)?)?")


def select(
    given: Sequence[Case],
    wanted: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    limit: int | None = None,
) -> tuple[Case, ...]:
    """Some of the cases, in their order.

    wanted: numbers or slices such as `3`, `::10`, `5:8` of every suite and kind, names, or patterns such as
    `bits*` and `*/copy`; none = all. sample: at most so many, drawn with this seed; limit: bytes of a tensor, at most.
    Raises OptionError for what is malformed or matches nothing.
    """
    names = _wanted(given, wanted)
    chosen = [case for case in given if not wanted or case.id in names]
    if sample is not None:
        if sample < 1:
            raise OptionError(f"sample {sample} is less than 1")
        lots = random.Random(seed).sample(range(len(chosen)), min(sample, len(chosen)))
        chosen = [chosen[k] for k in sorted(lots)]
    if limit is not None:
        if limit < 1:
            raise OptionError(f"bytes {limit} is less than 1")
        chosen = [shrunk(case, limit) for case in chosen]
    return tuple(chosen)


def _wanted(given: Sequence[Case], wanted: Sequence[str]) -> frozenset[str]:
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in given:
        groups.setdefault((case.suite, case.kind), []).append(case)
    found: set[str] = set()
    for text in wanted:
        matches = {case.id for group in groups.values() for case in _matches(group, text)}
        if not matches:
            raise OptionError(f"cases {text[:60]!r} match nothing: numbers, slices as ::10, names and patterns do")
        found |= matches
    return frozenset(found)


def _matches(group: Sequence[Case], text: str) -> Sequence[Case]:
    """The cases of one suite and kind that a text means; a name goes before a number."""
    named = [case for case in group if any(fnmatchcase(name, text) for name in _names(case))]
    numbers = _SLICE.fullmatch(text)
    if named or not text or numbers is None:
        return named
    first, colon, last, _, step = numbers.groups()
    if colon is None:
        return group[int(first) :][:1] if abs(int(first)) <= len(group) else ()
    if step is not None and int(step) == 0:
        raise OptionError(f"cases {text!r}: the step of a slice is 1 or more")
    return group[slice(*(None if part is None else int(part) for part in (first, last, step)))]


def _names(case: Case) -> tuple[str, ...]:
    return case.name, f"{case.suite}/{case.name}", f"{case.name}/{case.kind}", case.id

"""Patterns of einops for `rearrange`: which axes are split, how they are permuted, which are merged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

from ..arguments import between, shown, text
from ..errors import ArrayError
from ..lazy_dataclasses import dataclass

DOTS = "..."
_TOKEN = re.compile(r"\s*(\.\.\.|[A-Za-z_][A-Za-z_0-9]*|[0-9]+|[()])")
Groups = tuple[tuple[str, ...], ...]  # of one side: the names that each axis is made of
Side = tuple[tuple[str, ...] | None, ...]  # the same, None for an ellipsis that is not merged into one axis


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A pattern for arrays of one shape: `x.reshape(split).transpose(axes).reshape(merged)`."""

    split: tuple[int, ...]
    axes: tuple[int, ...]
    merged: tuple[int, ...]


def arrangement(pattern: str, shape: Sequence[int], lengths: Mapping[str, Any]) -> Arrangement:
    """The arrangement of a pattern, "b (h p) c -> b h (p c)". lengths: of names that the shape leaves open.

    Raises ArrayError for patterns that are none, and where shape and lengths do not fit.
    """
    sides = _sides(text("pattern", pattern, ArrayError))
    left, right = (_expanded(side, len(shape) - len(sides[0]) + 1, pattern) for side in sides)
    if len(left) != len(shape):
        raise ArrayError(f"pattern {shown(pattern)} has {len(left)} axes, but the array has {len(shape)}")
    known = _lengths(pattern, left, shape, lengths)
    before = [name for group in left for name in group]
    after = [name for group in right for name in group]
    return Arrangement(
        tuple(known[name] for name in before),
        tuple(before.index(name) for name in after),
        tuple(prod(known[name] for name in group) for group in right),
    )


@lru_cache(maxsize=256)
def _sides(pattern: str) -> tuple[Side, Side]:
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ArrayError(f"pattern {shown(pattern)} is not of the form 'a b c -> c (a b)'")
    left, right = (_groups(pattern, side) for side in sides)
    if any(group is not None and DOTS in group for group in left):
        raise ArrayError(f"pattern {shown(pattern)} splits an axis into an ellipsis, whose axes have no lengths")
    names = [[name for group in side for name in ((DOTS,) if group is None else group)] for side in (left, right)]
    for side in names:
        twice = next((name for name in side if side.count(name) > 1), None)
        if twice is not None:
            raise ArrayError(f"pattern {shown(pattern)} has {twice} more than once on one side")
    for name in (*names[0], *names[1]):
        if (name in names[0]) != (name in names[1]):
            raise ArrayError(f"pattern {shown(pattern)} has {name} on one side only")
    return left, right


def _groups(pattern: str, side: str) -> Side:
    """The axes of one side; those of extent 1, which need no name, are empty groups."""
    groups: list[tuple[str, ...] | None] = []
    inside: list[str] | None = None
    at = 0
    side = side.rstrip()
    while at < len(side):
        found = _TOKEN.match(side, at)
        token = found[1] if found else ""
        misplaced = token in ("(", ")") and (token == "(") == (inside is not None)
        if not token or misplaced or (token.isdigit() and token != "1"):
            raise ArrayError(f"pattern {shown(pattern)} has {shown(side[at:].strip()[:12])}, which is no axis")
        at = found.end() if found else len(side)
        if token == "(":
            inside = []
        elif token == ")":
            groups.append(tuple(inside or ()))
            inside = None
        elif inside is not None:
            inside += [token] if token != "1" else []
        else:
            groups.append(None if token == DOTS else (token,) if token != "1" else ())
    if inside is not None:
        raise ArrayError(f"pattern {shown(pattern)} has a parenthesis that is not closed")
    return tuple(groups)


def _expanded(groups: Side, count: int, pattern: str) -> Groups:
    """The same with names for the axes of an ellipsis, so many where the left side has one."""
    found: list[tuple[str, ...]] = []
    names = tuple(f"{DOTS}{k}" for k in range(count))
    for group in groups:
        if group is not None and DOTS not in group:
            found.append(group)
        elif count < 0:
            raise ArrayError(f"pattern {shown(pattern)} has more axes than the array")
        elif group is None:
            found += [(name,) for name in names]
        else:
            at = group.index(DOTS)
            found.append((*group[:at], *names, *group[at + 1 :]))
    return tuple(found)


def _lengths(pattern: str, left: Groups, shape: Sequence[int], given: Mapping[str, Any]) -> dict[str, int]:
    """The length of every name."""
    known = {name: between(0)(f"the length of {name}", length, ArrayError) for name, length in given.items()}
    names = {name for group in left for name in group}
    for name in known:
        if name not in names:
            raise ArrayError(f"pattern {shown(pattern)} has no {name}, whose length is given")
    for group, extent in zip(left, shape, strict=True):
        open_names = [name for name in group if name not in known]
        rest = prod(known[name] for name in group if name in known)
        if len(open_names) > 1:
            raise ArrayError(f"pattern {shown(pattern)} leaves the lengths of {' and '.join(open_names)} open")
        if open_names and rest and extent % rest == 0:
            known[open_names[0]] = extent // rest
        elif open_names or rest != extent:
            spelled = " ".join(group) or "1"
            fact = f"an axis of {extent} elements is no ({spelled}) of pattern {shown(pattern)}"
            raise ArrayError(f"{fact}: known are {rest}")
    return known

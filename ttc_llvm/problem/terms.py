"""The further terms of a sum of permutations: how each of them walks A."""

from __future__ import annotations

from ..lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A permutation of A that is added to the first one. strides: of A along the canonical axes; offset: elements from
    the first element that the first term reads to that of this one."""

    strides: tuple[int, ...]
    offset: int = 0

    def __str__(self) -> str:
        return f"+{':'.join(map(str, self.strides))}{f'@{self.offset}' if self.offset else ''}"

    @classmethod
    def parse(cls, text: str) -> Term:
        """The inverse of `str(term)`; ValueError for any other text."""
        strides, _, offset = text.removeprefix("+").partition("@")
        return cls(tuple(map(int, strides.split(":"))), int(offset or 0))

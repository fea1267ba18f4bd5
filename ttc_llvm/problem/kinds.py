"""Kinds of alpha and beta: which of their values a compiled body serves."""

from __future__ import annotations

from enum import Enum

from ..lazy_dataclasses import dataclass


class Alpha(Enum):
    """Kinds of alpha that inner bodies are compiled for."""

    ZERO = "zero"  # A is never read
    ONE = "one"  # plain copy or conversion
    ANY = "any"

    __hash__ = object.__hash__  # canonical forms are hashed often, and Enum's own is Python code


class Beta(Enum):
    """Kinds of beta that inner bodies are compiled for."""

    ZERO = "zero"  # B is never read
    ONE = "one"  # B is added to as it is: sums in scratch, never a problem's
    ANY = "any"

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Kinds:
    """The pair of compiled-in scalar kinds; the values themselves stay run-time arguments."""

    alpha: Alpha
    beta: Beta

    @classmethod
    def of(cls, alpha: complex, beta: complex) -> Kinds:
        """The kinds that serve these values. With beta != 0, alpha = 1 takes the general body, where 1 * x is x."""
        kind_beta = Beta.ZERO if beta == 0 else Beta.ANY
        if alpha == 0:
            return cls(Alpha.ZERO, kind_beta)
        return cls(Alpha.ONE if alpha == 1 and beta == 0 else Alpha.ANY, kind_beta)

    def __str__(self) -> str:
        return f"{self.alpha.value}-{self.beta.value}"


COPY = Kinds(Alpha.ONE, Beta.ZERO)
UPDATE = Kinds(Alpha.ANY, Beta.ANY)

"""The decisions of a GPU's plan that a caller may make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, SupportsIndex

from ttc_llvm import arguments
from ttc_llvm.errors import OptionError
from ttc_llvm.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GpuForced:
    """Decisions that the caller has made. threads: per block, or those to choose from; order: of the loops over tiles;
    None = free."""

    threads: int | tuple[int, ...] | None = None
    order: tuple[int, ...] | None = None

    if TYPE_CHECKING:  # what is taken; the fields say what is kept

        def __init__(
            self, threads: int | Sequence[int] | None = None, order: Iterable[SupportsIndex] | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        arguments.put(self, _RULES, OptionError, "forced ")

    def __str__(self) -> str:
        fields = {"threads": self.threads, "order": self.order}
        return " ".join(f"{name}={value}" for name, value in fields.items() if value is not None)


def _counts(name: str, value: object, error: arguments.Error) -> int | tuple[int, ...]:
    """A count, or several, each once; one alone is no tuple."""
    rule, given = arguments.between(1), value if isinstance(value, (tuple, list)) and value else (value,)
    found = tuple(dict.fromkeys(int(rule(name, one, error)) for one in given))
    return found if len(found) > 1 else found[0]


_RULES = {
    "threads": arguments.optional(_counts),
    "order": arguments.optional(arguments.integers),
}
FREE = GpuForced()

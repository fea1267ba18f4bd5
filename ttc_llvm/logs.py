"""Loggers of this package, which do not load `logging`: a program that has not loaded it has set up no handler, and
what `logging` then does with a warning, a line on stderr, takes none of it."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

DEBUG, INFO, WARNING = 10, 20, 30  # as `logging` has them


class Log:
    """The logger of this name, to the extent that this package uses it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def debug(self, message: str, *values: object) -> None:
        """Log a detail."""
        self._log(DEBUG, message, values)

    def info(self, message: str, *values: object) -> None:
        """Log a stage of what is done."""
        self._log(INFO, message, values)

    def warning(self, message: str, *values: object) -> None:
        """Log what was worked around."""
        self._log(WARNING, message, values)

    def is_enabled_for(self, level: int) -> bool:
        """True where messages of this level go somewhere."""
        logger = self._logger()
        return level >= WARNING if logger is None else bool(logger.isEnabledFor(level))

    def _logger(self) -> Any:
        find = getattr(sys.modules.get("logging"), "getLogger", None)  # another thread may be loading it
        return None if find is None else find(self._name)

    def _log(self, level: int, message: str, values: tuple[object, ...]) -> None:
        logger = self._logger()
        if logger is not None:
            logger.log(level, message, *values, stacklevel=3)
        elif level >= WARNING and sys.stderr is not None:
            with suppress(OSError, ValueError):  # it is closed
                sys.stderr.write(f"{message % values}\n")

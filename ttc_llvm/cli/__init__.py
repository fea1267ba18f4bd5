"""The command line, and the only room that prints: a module per sub-command, the table of options, reports."""

from .entry import main

__all__ = ["main"]

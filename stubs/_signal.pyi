# What the command's first lines take of the built-in module behind `signal`, whose import takes longer.
from collections.abc import Callable
from types import FrameType
from typing import Any

SIGINT: int

def default_int_handler(number: int, frame: FrameType | None, /) -> None: ...
def getsignal(number: int, /) -> Any: ...
def signal(number: int, handler: Callable[[int, FrameType | None], object], /) -> Any: ...

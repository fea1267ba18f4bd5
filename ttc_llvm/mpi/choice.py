"""The choice of one of several ways for the calls of a plan: by their times, on which all ranks agree."""

from __future__ import annotations

TRIED = 5  # calls of each way: the first of them makes what the others reuse, and does not count


class Choice:
    """Each of so many ways in turn, then for ever the one whose slowest rank was the fastest in one of its calls.

    last: nanoseconds of this rank's last call, while they count, else 0; the most of them on any rank is what `next`
    takes, on all ranks.
    """

    def __init__(self, ways: int) -> None:
        self.last = 0
        self.way: int | None = 0 if ways == 1 else None
        self._times: list[list[int]] = [[] for _ in range(ways)]
        self._calls = 0

    def next(self, slowest: int) -> int:
        """The way of the next call. slowest: what the ranks' `last` came to."""
        if self.way is not None:
            return self.way
        ways = len(self._times)
        if slowest and self._calls > ways:
            self._times[(self._calls - 1) % ways].append(slowest)
        if self._calls == ways * TRIED:
            self.way = min(range(ways), key=lambda way: min(self._times[way], default=0))
            return self.way
        self._calls += 1
        return (self._calls - 1) % ways

    def took(self, nanoseconds: int) -> None:
        """A call ended."""
        self.last = nanoseconds if self.way is None else 0

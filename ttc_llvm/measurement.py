"""What a search has measured of its winner."""

from __future__ import annotations

from dataclasses import dataclass

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured.

    seconds: the winner's best run; gibs: its bandwidth (GiB/s, bytes of A + B, B twice where it is read);
    ceiling_gibs: the same bytes without permutation, same run; ceiling: which; timings: all plans, the fastest
    first, with the seconds of every run; proxy: timed on a smaller stand-in of a huge problem.
    """

    seconds: float
    gibs: float
    ceiling_gibs: float | None
    ceiling: str
    timings: tuple[tuple[str, tuple[float, ...]], ...] = ()
    proxy: bool = False
    interrupted: bool = False

    @property
    def ratio(self) -> float | None:
        """gibs / ceiling_gibs."""
        return self.gibs / self.ceiling_gibs if self.ceiling_gibs else None

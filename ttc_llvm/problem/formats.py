"""Formats of numbers: integers of a width, and binary floating-point ones, which conversions read."""

from __future__ import annotations

from ..lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Integer:
    """Two's complement if signed."""

    bits: int
    signed: bool

    @property
    def least(self) -> int:
        """The smallest integer."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def greatest(self) -> int:
        """The largest integer."""
        return (1 << (self.bits - self.signed)) - 1


@dataclass(frozen=True, slots=True)
class Float:
    """A sign, so many bits of exponent and of mantissa, from the highest bit on.

    infinite: infinities and NaNs have the largest exponent, as in IEEE 754; otherwise there is one NaN, all ones, and
    no infinity.
    """

    exponent: int
    mantissa: int
    infinite: bool = True

    @property
    def bits(self) -> int:
        """Of a number."""
        return 1 + self.exponent + self.mantissa

    @property
    def bias(self) -> int:
        """The number that is added to exponents."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def beyond(self) -> int:
        """The bits of what follows the largest number: infinity, or NaN where there is none."""
        return ((1 << self.exponent) - 1 << self.mantissa) if self.infinite else (1 << (self.bits - 1)) - 1

    @property
    def greatest(self) -> float:
        """The largest number."""
        bits = self.beyond - 1
        power = (bits >> self.mantissa) - self.bias - self.mantissa
        return float((1 << self.mantissa | bits & (1 << self.mantissa) - 1) * 2.0**power)

    @property
    def quantum(self) -> float:
        """The smallest number above 0."""
        return float(2.0 ** (1 - self.bias - self.mantissa))


Format = Integer | Float
INTEGERS = {f"{sign}{bits}": Integer(bits, sign == "i") for bits in (8, 16, 32, 64) for sign in "iu"}
SINGLE, DOUBLE = Float(8, 23), Float(11, 52)
FLOATS = {
    "f16": Float(5, 10), "bf16": Float(8, 7), "s": SINGLE, "d": DOUBLE,
    "e4m3fn": Float(4, 3, infinite=False), "e5m2": Float(5, 2),
}  # fmt: skip
FORMATS: dict[str, Format] = {**INTEGERS, **FLOATS}
"""By the name of the element type."""

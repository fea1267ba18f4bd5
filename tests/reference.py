"""What a transposition must compute: a NumPy oracle made of separate real operations, without contraction.

A complex factor of 1 does not multiply: 1 * inf + 0j would be inf + nanj.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ttc_llvm.problem import dtypes
from ttc_llvm.problem.conversion import converted, values
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.formats import Float

Array = npt.NDArray[Any]

SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, -1e300)


def numpy_type(t: DType) -> np.dtype[Any]:
    """The NumPy dtype in which the oracle holds elements of this type."""
    return dtypes.to_numpy(t)


def sample(rng: np.random.Generator, shape: tuple[int, ...], t: DType) -> Array:
    """Random elements: any bits for plain moves, else normal numbers with a few zeros, infinities and NaNs."""
    if t.kind is Kind.OPAQUE:
        return random_bits(rng, shape, t)
    parts = rng.standard_normal((*shape, 2 if t.kind is Kind.COMPLEX else 1))
    if rng.random() < 0.5:
        rare = rng.random(parts.shape) < 0.05
        parts[rare] = rng.choice(SPECIAL, size=int(rare.sum()))
    with np.errstate(all="ignore"):
        real = parts.astype(f"f{t.real_bits // 8}")
    return real.view(numpy_type(t)).reshape(shape)


def random_bits(rng: np.random.Generator, shape: tuple[int, ...], t: DType) -> Array:
    """Elements of random bytes, signalling NaNs with payloads among them."""
    raw = rng.integers(0, 256, size=(*shape, t.itemsize), dtype=np.uint8)
    return raw.view(numpy_type(t)).reshape(shape)


def is_plain(a: DType, b: DType, alpha: complex, beta: complex, conjugate: bool) -> bool:
    """True where the contract promises a bit-exact copy."""
    return a == b and alpha == 1 and beta == 0 and not conjugate


def combine(
    x: Array, old: Array, types: tuple[DType, DType], alpha: complex, beta: complex, conjugate: bool = False
) -> Array:
    """alpha * x + beta * old, rounded once into B's type. x and old have one shape; types: A's and B's."""
    a, b = types
    if is_plain(a, b, alpha, beta, conjugate):
        return x
    compute = dtypes.compute_type(a, b)
    wide = numpy_type(compute)
    if alpha == 1 and beta == 0 and not conjugate:
        return converted(x, a, b)
    with np.errstate(all="ignore"):
        terms = []
        if alpha != 0:
            value = converted(x, a, compute)
            value = value.conj() if conjugate else value
            terms.append(times(value, alpha, compute))
        if beta != 0:
            terms.append(times(converted(old, b, compute), beta, compute))
        total = sum(terms[1:], terms[0]) if terms else np.zeros(x.shape, wide)
        return converted(np.asarray(total), compute, b)


def times(x: Array, scalar: complex, t: DType) -> Array:
    """scalar * x with every product and sum rounded by itself; NumPy's complex product may contract."""
    if t.kind is Kind.REAL:
        return np.asarray(x * numpy_type(t).type(scalar))
    part = np.dtype(f"f{t.real_bits // 8}").type
    re, im = part(complex(scalar).real), part(complex(scalar).imag)
    if re == 1 and im == 0:
        return x
    product = np.empty_like(x)
    product.real = x.real * re + x.imag * -im
    product.imag = x.imag * re + x.real * im
    return product


def same(got: Array, wanted: Array, t: DType, plain: bool) -> bool:
    """Bit for bit equal; where arithmetic ran, any NaN equals any other. Both are flat arrays of t's elements."""
    if plain or (t.kind is Kind.OPAQUE and not (isinstance(t.format, Float) and got.dtype == numpy_type(t))):
        return got.tobytes() == wanted.tobytes()
    if t.kind is Kind.OPAQUE:  # a small float
        x, y = values(got, t), values(wanted, t)
        return bool(np.all(((x == y) & (np.signbit(x) == np.signbit(y))) | (np.isnan(x) & np.isnan(y))))
    real, bits = f"f{t.real_bits // 8}", f"u{t.real_bits // 8}"
    x, y = got.view(real), wanted.view(real)
    return bool(np.all((x.view(bits) == y.view(bits)) | (np.isnan(x) & np.isnan(y))))

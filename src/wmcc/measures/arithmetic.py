"""Ratios and roots of exact integers, rounded once at the end.

The sums of a table are exact integers in a common unit, and there are only O(K) of them in a measure: so
the formulas are evaluated in Python's integers. Nothing cancels, overflows or underflows; quotients of
integers are rounded correctly by Python, and roots carry guard bits enough that the result is the float64
nearest to the true value, or in very rare cases its neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isfinite, isqrt

GUARD = 70  # bits of a root before it is rounded to 53


def over_root(n: int, d: int) -> float:
    """``n / √d`` for d > 0."""
    shift = max(0, 2 * GUARD + d.bit_length() - 2 * n.bit_length())
    shift += shift % 2
    root = isqrt((n * n << shift) // d) / (1 << shift // 2)
    return root if n >= 0 else -root


def over_roots(n: int, ds: Sequence[int]) -> float:
    """``n / Σ √d`` for d >= 0, not all zero; more bits are taken if those of the guard do not decide."""
    low, half = 0, 0
    most = max(ds).bit_length()
    for guard in (GUARD, 3 * GUARD):
        half = guard - most // 2
        low = sum([isqrt(d << 2 * half) for d in ds] if half >= 0 else [isqrt(d >> -2 * half) for d in ds])
        if _scaled(n, half, low) == _scaled(n, half, low + len(ds)):  # each root is less than one unit too small
            break
    return _scaled(n, half, low)


def _scaled(n: int, shift: int, d: int) -> float:
    """``n * 2**shift / d``."""
    return (n << shift) / d if shift >= 0 else n / (d << -shift)


def mean(terms: Callable[[int], Iterable[int]], count: int) -> float:
    """Mean of ``count`` terms given in units of ``2**-p``, each truncated; p grows until they decide the result.

    At p = 1200 the truncation lies below the smallest float64, so there the sum is as good as exact.
    """
    total, unit = 0, 1
    for bits in (80, 128, 1200):
        total, unit = sum(terms(bits)), count << bits
        if (total - count) / unit == (total + count) / unit:  # each term is less than one unit off
            break
    return total / unit


def mean_of_terms(terms: Callable[[int], list[int]], defined: int, classes: int, zero: Callable[[str], float]) -> float:
    """Mean over the classes that occur of terms, some of which may be undefined.

    ``terms`` has those that are defined, as `mean` takes them; the others count as ``zero`` says.
    """
    absent = classes - defined
    substitute = zero(f"{absent} of {classes} classes lack weight in y_true or y_pred") if absent else 0.0
    return mean_with(terms, absent, substitute, classes)


def mean_with(terms: Callable[[int], list[int]], others: int, substitute: float, count: int) -> float:
    """Mean of ``count`` terms, of which so many others are all the same number, which need not be finite."""
    if not isfinite(substitute):
        return substitute
    numerator, denominator = substitute.as_integer_ratio()
    return mean(lambda bits: [*terms(bits), others * ((numerator << bits) // denominator)], count)


def root_ratio(n: int, d: int, bits: int) -> int:
    """``n / √d`` in units of ``2**-bits``, truncated."""
    root = isqrt((n * n << 2 * bits) // d)
    return root if n >= 0 else -root

"""Ratios and roots of exact integers, rounded once at the end.

The sums of a table are exact integers in a common unit, and there are only O(K) of them in a measure: so
the formulas are evaluated in Python's integers. Nothing cancels, overflows or underflows; quotients of
integers are rounded correctly by Python, and roots carry guard bits enough that the result is the float64
nearest to the true value, or in very rare cases its neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isqrt

GUARD = 70  # bits of a root before it is rounded to 53


def over_root(n: int, d: int) -> float:
    """``n / √d`` for d > 0."""
    shift = max(0, 2 * GUARD + d.bit_length() - 2 * n.bit_length())
    shift += shift % 2
    root = isqrt((n * n << shift) // d) / (1 << shift // 2)
    return root if n >= 0 else -root


def over_roots(n: int, ds: Sequence[int]) -> float:
    """``n / Σ √d`` for d >= 0, not all zero."""
    shift = max(0, 2 * GUARD - max(d.bit_length() for d in ds)) + 2 * len(ds).bit_length()
    shift += shift % 2
    return (n << shift // 2) / sum(isqrt(d << shift) for d in ds)


def mean(terms: Callable[[int], Iterable[int]], count: int) -> float:
    """Mean of ``count`` terms given in units of ``2**-p``, each truncated; p grows if they nearly cancel.

    At p = 1200 the truncation lies below the smallest float64, so there the sum is as good as exact.
    """
    total, bits = 0, 0
    for bits in (128, 1200):
        total = sum(terms(bits))
        if abs(total) >> GUARD > count:
            break
    return total / (count << bits)


def root_ratio(n: int, d: int, bits: int) -> int:
    """``n / √d`` in units of ``2**-bits``, truncated."""
    root = isqrt((n * n << 2 * bits) // d)
    return root if n >= 0 else -root


def fixed(x: float, bits: int) -> int:
    """A finite float in units of ``2**-bits``, truncated."""
    numerator, denominator = x.as_integer_ratio()
    return (numerator << bits) // denominator

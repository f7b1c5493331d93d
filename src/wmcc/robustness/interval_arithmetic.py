"""Arrays of intervals whose ends are rounded outward.

IEEE 754 rounds +, −, ×, ÷ and √ to the nearest number, so the true result lies within the neighbours of the
computed one: each operation moves its ends by one number. What comes out contains every value that the
operation can take on its operands, in real arithmetic, whatever was rounded on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..measures.stacks import sums_from_both_ends

UNIT = 2.0**-52
"""Twice the largest relative error of one operation."""

STEP = 2.0**-53 * (1 + UNIT)
"""Just above half a unit in the last place, as a share of a power of two: added to a number it leads to the next."""

LEAST, MOST = 2.0**-1074, float(np.finfo(np.float64).max)

SMALL = 400
"""Numbers that `numpy.nextafter` rounds in one call sooner than arithmetic does in five."""


def down(x: Any) -> Any:
    """Next number below, or one a little further down where numbers are subnormal."""
    if np.size(x) < SMALL:
        return np.nextafter(x, -np.inf)
    x = np.minimum(x, MOST)  # a number beyond float64 is only known to be that large
    return np.subtract(x, _step(x), out=x)


def up(x: Any) -> Any:
    """Next number above, or one a little further up where numbers are subnormal."""
    if np.size(x) < SMALL:
        return np.nextafter(x, np.inf)
    x = np.maximum(x, -MOST)
    return np.add(x, _step(x), out=x)


def _step(x: FloatArray) -> FloatArray:
    """More than half of what separates numbers from their neighbours."""
    step = np.abs(x)
    step *= STEP
    step += LEAST
    return step


class Span:
    """Intervals [lo, hi] in two arrays of one shape; ``inf`` where nothing is known.

    A factor [0, 0] times an unbounded one is 0, as the numbers inside are finite. So what may really be
    infinite (a quotient by [0, 0]) must not be multiplied; the callers set such classes aside.
    """

    __slots__ = ("hi", "lo")
    __array_ufunc__ = None  # arrays leave the arithmetic with intervals to this class

    def __init__(self, lo: Any, hi: Any) -> None:
        self.lo: Any = lo
        self.hi: Any = hi

    @classmethod
    def exactly(cls, x: Any) -> Span:
        """Intervals of one number each."""
        return cls(x, x)

    def __add__(self, other: Any) -> Span:
        other = _interval(other)
        return Span(down(self.lo + other.lo), up(self.hi + other.hi))

    def __sub__(self, other: Any) -> Span:
        other = _interval(other)
        return Span(down(self.lo - other.hi), up(self.hi - other.lo))

    def __rsub__(self, other: Any) -> Span:
        return _interval(other) - self

    def __neg__(self) -> Span:
        return Span(-self.hi, -self.lo)

    def __mul__(self, other: Any) -> Span:
        other = _interval(other)
        # fmin and fmax pass over the NaN of 0 · ∞; it is 0, and stands for nothing new unless all of them are.
        first, last = self.lo * other.lo, self.hi * other.lo
        lo, hi = np.fmin(first, last), np.fmax(first, last)
        if other.hi is not other.lo:  # else it is one number
            first, last = self.lo * other.hi, self.hi * other.hi
            lo, hi = np.fmin(lo, np.fmin(first, last)), np.fmax(hi, np.fmax(first, last))
        if np.isnan(lo).any():
            lo, hi = np.nan_to_num(lo, nan=0.0, neginf=-np.inf), np.nan_to_num(hi, nan=0.0, posinf=np.inf)
        return Span(down(lo), up(hi))

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Span:
        return self * _interval(other).inverse()

    def inverse(self) -> Span:
        """1/x of intervals of numbers that are not negative; unbounded where they may be 0."""
        with np.errstate(divide="ignore"):
            return Span(down(1.0 / self.hi), np.where(self.lo > 0, up(1.0 / self.lo), np.inf))

    def sqrt(self) -> Span:
        """√x of numbers that are not negative, though the intervals may reach below 0."""
        lo, hi = np.sqrt(np.maximum(self.lo, 0.0)), np.sqrt(np.maximum(self.hi, 0.0))
        return Span(np.maximum(down(lo), 0.0), up(hi))

    def log(self) -> Span:
        """Natural logarithm of positive numbers. IEEE 754 does not round it; libraries err by up to 4 units, not 16."""
        lo, hi = np.log(self.lo), np.log(self.hi)
        return Span(down(lo - 16 * UNIT * np.abs(lo)), up(hi + 16 * UNIT * np.abs(hi)))

    def square(self) -> Span:
        """x² (tighter than x · x, whose factors do not know of each other)."""
        a, b = self.lo * self.lo, self.hi * self.hi
        straddles = (self.lo < 0) & (self.hi > 0)
        return Span(np.where(straddles, 0.0, np.maximum(down(np.minimum(a, b)), 0.0)), up(np.maximum(a, b)))

    def sum(self) -> Span:
        """Sum over the last axis, which stays with length one."""
        pad = self.lo.shape[-1] * UNIT
        lo, hi = self.lo.sum(-1, keepdims=True), self.hi.sum(-1, keepdims=True)
        slack = pad * np.abs(self.lo).sum(-1, keepdims=True), pad * np.abs(self.hi).sum(-1, keepdims=True)
        return Span(down(lo - slack[0]), up(hi + slack[1]))

    def __and__(self, other: Span) -> Span:
        """Intersection, of two enclosures of the same number."""
        return Span(np.maximum(self.lo, other.lo), np.minimum(self.hi, other.hi))

    within = __and__

    def between(self, least: float, most: float) -> Span:
        """Cut off what the number is known not to be."""
        return Span(np.maximum(self.lo, least), np.minimum(self.hi, most))

    def at_least(self, least: float) -> Span:
        """Raise the lower end to what the number is known not to fall below."""
        return Span(np.maximum(self.lo, least), self.hi)

    def with_inverse(self) -> Span:
        """Sum x + 1/x of positive numbers, which is least at 1."""
        with np.errstate(divide="ignore"):
            a, b = self.lo + 1.0 / np.maximum(self.lo, 0.0), self.hi + 1.0 / self.hi
        lo = np.where((self.lo < 1) & (self.hi > 1), 2.0, down(np.minimum(a, b) * (1 - 2 * UNIT)))
        return Span(lo, np.maximum(a, b) * (1 + 2 * UNIT))

    def others(self) -> Span:
        """For each entry of the last axis the sum of the others."""
        everything = Span(sums_from_both_ends(self.lo), sums_from_both_ends(self.hi))
        return everything._padded(self)

    def without_two(self, row: Any, column: Any) -> Span:
        """For pairs of entries, given by their places, the sum of those that are neither."""

        def sums(v: FloatArray) -> FloatArray:
            return np.asarray(sums_from_both_ends(v)[..., row] - v[..., column] * (row != column))

        with np.errstate(invalid="ignore"):
            lo, hi = sums(self.lo), sums(self.hi)
        if not np.isfinite(self.hi).all() or not np.isfinite(self.lo).all():  # ∞ − ∞
            lo, hi = np.nan_to_num(lo, nan=-np.inf, posinf=np.inf), np.nan_to_num(hi, nan=np.inf, neginf=-np.inf)
        return Span(lo, hi)._padded(self)

    def _padded(self, terms: Span) -> Span:
        """Allow for the rounding of a sum of terms."""
        pad = (terms.lo.shape[-1] + 2) * UNIT
        slack = [pad * np.abs(x).sum(-1, keepdims=True) for x in (terms.lo, terms.hi)]
        return Span(down(self.lo - slack[0]), up(self.hi + slack[1]))

    def __getitem__(self, index: Any) -> Span:
        return Span(self.lo[index], self.hi[index])

    def where(self, condition: Any, other: Any) -> Span:
        """Keep the intervals where a condition holds; take others elsewhere."""
        other = _interval(other)
        return Span(np.where(condition, self.lo, other.lo), np.where(condition, self.hi, other.hi))

    def unless(self, doubtful: Any, least: float = -np.inf, most: float = np.inf) -> Span:
        """Keep the intervals, but know nothing (or a range) where something is in doubt."""
        return Span(np.where(doubtful, least, self.lo), np.where(doubtful, most, self.hi))

    def may_vanish(self) -> Any:
        """Where 0 is not excluded."""
        return ~(self.lo > 0)

    def ever_positive(self) -> Any:
        """Where more than 0 is possible."""
        return self.hi > 0

    def may_vanish_or_not(self) -> Any:
        """Where both 0 and more are possible."""
        return self.may_vanish() & self.ever_positive()

    @property
    def middle(self) -> FloatArray:
        """A number of each interval (of a bounded one), near its middle."""
        return np.asarray(self.lo / 2 + self.hi / 2)

    def __repr__(self) -> str:
        return f"Span({self.lo!r}, {self.hi!r})"


def _interval(x: Any) -> Span:
    return x if isinstance(x, Span) else Span(x, x)


# ---- sums whose terms know of each other ------------------------------------------------------------


def simplex_max(c: FloatArray, r: Span) -> FloatArray:
    """Bound Σ c_k r_k from above for shares r_k within their intervals that add up to 1.

    For any number μ the sum is μ + Σ (c_k − μ) r_k; the best μ is the c of the share that is neither at its
    lower nor at its upper end when the shares of the largest c are filled first. A stack of c's may be given.
    """
    order = np.argsort(-c, axis=-1)
    room = np.cumsum(np.take_along_axis(np.broadcast_to(r.hi - r.lo, c.shape), order, -1), -1)
    left = 1.0 - r.lo.sum(-1, keepdims=True)
    last = np.minimum((room < left).sum(-1, keepdims=True), c.shape[-1] - 1)
    mu = np.take_along_axis(c, np.take_along_axis(order, last, -1), -1)
    rest = up(c - mu)
    terms = up(np.where(rest > 0, rest * r.hi, rest * r.lo))
    return np.asarray((Span.exactly(terms).sum() + mu).hi)


def dot(r: Span, q: Span) -> Span:
    """Σ r_k q_k of two sets of shares that each add up to 1: products of sums, and McCormick's planes."""
    # (r_k − x_k)(q_k − y_k) is at most 0 for every k, x at one end and y at the other, so Σ r_k q_k is at most
    # Σ (y_k r_k + x_k q_k − x_k y_k); and likewise at least, with both at one end. The four are bounded in one go.
    x, y = np.stack([r.hi, r.lo, r.lo, r.hi]), np.stack([q.lo, q.hi, q.lo, q.hi])
    sign = np.array([1.0, 1.0, -1.0, -1.0]).reshape(4, *(1,) * r.lo.ndim)
    both = Span(*(np.stack([a, b])[:, np.newaxis] for a, b in ((r.lo, q.lo), (r.hi, q.hi))))
    parts = simplex_max(np.stack([sign * y, sign * x]), both)
    products = (Span.exactly(x) * Span.exactly(y)).sum()
    planes = (Span.exactly(parts[0]) + parts[1] - products * sign).hi
    hi, lo = np.minimum(planes[0], planes[1]), np.maximum(-planes[2], -planes[3])
    return (r * q).sum() & Span(lo, hi)


def squares(r: Span) -> Span:
    """Σ r_k² of shares that add up to 1: below the secants, above the tangents."""
    at = r.middle
    most = simplex_max(np.stack([up(r.lo + r.hi), -2.0 * at]), r)
    secant = Span.exactly(most[0]) - (Span.exactly(r.lo) * r.hi).sum()
    tangent = -Span.exactly(most[1]) - Span.exactly(at).square().sum()
    return r.square().sum() & Span(tangent.lo, secant.hi)


def fraction_max(c: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Bound Σ c_k C_k / Σ C_k from above over the box low <= C <= high; over the last axis.

    With ρ the quotient at the best corner, Σ c C = ρ Σ C + Σ (c − ρ) C, and the last sum is at most 0 up to
    rounding. Any ρ gives a bound; Dinkelbach's iteration finds the best in a few steps.
    """
    rho = np.zeros((*np.broadcast_shapes(c.shape, low.shape)[:-1], 1))
    for _ in range(4):
        C = np.where(c > rho, high, low)
        total = C.sum(-1, keepdims=True)
        rho = np.divide((c * C).sum(-1, keepdims=True), total, out=np.zeros_like(rho), where=total > 0)
    rest = up(c - rho)
    terms = up(rest * np.where(rest > 0, high, low))
    F = Span.exactly(terms).sum().hi
    pad = terms.shape[-1] * UNIT
    least, most = low.sum(-1, keepdims=True) * (1 - pad), high.sum(-1, keepdims=True) * (1 + pad)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(up(rho + up(np.where(F > 0, F / least, F / most))))

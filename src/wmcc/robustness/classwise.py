"""A bound for wide boxes: MPC2 from below, by planes that touch convex functions of the shares.

With t the share of TP, r and q those of the true and the predicted class, each class contributes

    φ = t / √(r (1−r) q (1−q)) − √(o(r) o(q)),    o(r) = r / (1−r).

The first term is Γ e^u with u = log t − ½ log r − ½ log (1−r) − ½ log q − ½ log (1−q) − log Γ, and e^u >= 1 + u for
any number Γ > 0. In u every −log y is convex, above its tangent 1 − log y₀ − y/y₀ at any y₀ > 0; and log t, which is
concave, is above its chord over the range of t. In the second term √(o(r) o(q)) <= ½ (τ o(r) + o(q)/τ) for any τ > 0,
and o is convex, below its chord σ (r − r₋ r₊), σ = 1 / ((1−r₋)(1−r₊)), over the range [r₋, r₊].

What remains is linear in the shares of the cells, holds for all classes at once, and has a known least value over the
box of tables. Γ, y₀ and τ are free; those of the point where the planes touch are best there, and that point is moved
towards the least value (Frank and Wolfe). Seen from the other side, with TN, 1−r and 1−q for t, r and q, φ is the same
number: that is used for classes of more than half the weight, where o is steep.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray
from .aggregates import Aggregates
from .interval_arithmetic import Span, fraction_max
from .relaxation import corner

ROUNDS = 8
"""Steps of Frank and Wolfe towards the best planes."""


class _Touch(NamedTuple):
    """Numbers that choose the planes, per class: any positive ones give a bound."""

    gamma: Any
    tau: Any
    r: Any
    not_r: Any
    q: Any
    not_q: Any


def classwise_bound(z: Aggregates) -> FloatArray:
    """Bound −MPC2 from above over each box of a stack."""
    planes = _Planes(z)
    middle = (z.low + z.high) / 2
    x = middle / middle.sum(-1, keepdims=True)
    for _ in range(ROUNDS):
        flat = planes.cells(planes.touch(x))
        step = corner(-flat, z.low, z.high) - x
        gain = -(flat * step).sum(-1, keepdims=True)
        if not (gain > 1e-12).any():
            break
        x = x + planes.length(x, step, gain) * step
    return planes.bound(planes.touch(x))


class _Planes:
    """Linear functions of the cells' shares below Σ φ, over each box of a stack."""

    def __init__(self, z: Aggregates) -> None:
        self.z = z
        self.mirrored: Array = z.r.middle + z.q.middle > 1
        r, not_r = z.not_r.where(self.mirrored, z.r), z.r.where(self.mirrored, z.not_r)
        q, not_q = z.not_q.where(self.mirrored, z.q), z.q.where(self.mirrored, z.not_q)
        t = z.rejected.where(self.mirrored, z.hit)
        positive = [(x.lo > 0) & (y.hi < 1) for x, y in ((r, r), (q, q), (not_r, r), (not_q, q))]
        self.used = np.logical_and.reduce(positive) & z.present
        self.filled = self.used & (t.lo > 0)  # else the first term is at least 0
        self.r, self.q = r.where(self.used, 0.5), q.where(self.used, 0.5)
        self.t = t.where(self.filled, 0.5)
        width = self.t.hi - self.t.lo
        wide = width > 1e-9 * self.t.hi
        rise = np.log(self.t.hi) - np.log(self.t.lo)
        self.m = np.divide(rise, width, out=1 / self.t.hi, where=wide)
        self.slope_r, self.slope_q = _chord(self.r), _chord(self.q)

    def touch(self, x: FloatArray) -> _Touch:
        """Return the planes that touch at shares x of the cells."""
        t, missed, taken = np.moveaxis(self.z.cells.kinds(x), -2, 0)
        r, q = t + missed, t + taken
        t = np.where(self.mirrored, 1 - r - q + t, t)
        r, q = (np.where(self.mirrored, 1 - y, y) for y in (r, q))
        r, q, t = (np.clip(y, box.lo, box.hi) for y, box in ((r, self.r), (q, self.q), (t, self.t)))
        log_t = np.log(self.t.lo) + self.m * (t - self.t.lo)
        gamma = np.exp(log_t) / np.sqrt(r * (1 - r) * q * (1 - q))
        odds = [s.hi * (y - box.lo * box.hi) for s, y, box in ((self.slope_r, r, self.r), (self.slope_q, q, self.q))]
        return _Touch(np.where(self.filled, gamma, 0.0), np.sqrt(odds[1] / odds[0]), r, 1 - r, q, 1 - q)

    def cells(self, at: _Touch) -> FloatArray:
        """Coefficients of the cells, not rounded outward."""
        by_row, by_column, by_hit = self._margins(at, self.slope_r.hi, self.slope_q.hi)
        row, column = (np.where(self.mirrored, -c - by_hit, c) for c in (by_row, by_column))
        return np.asarray(self._on_cells(row, column, by_hit))

    def _margins(self, at: _Touch, slope_r: Any, slope_q: Any) -> tuple[Any, Any, Any]:
        """Coefficients of r, q and t."""
        half, tau = at.gamma * 0.5, at.tau
        return (
            (half / at.not_r - half / at.r - slope_r * tau * 0.5) * self.used,
            (half / at.not_q - half / at.q - slope_q / tau * 0.5) * self.used,
            at.gamma * self.m,
        )

    def length(self, x: FloatArray, step: FloatArray, gain: FloatArray) -> FloatArray:
        """How far to go along a step: to where the slope along it vanishes, by false position."""
        far = np.ones_like(gain)
        for _ in range(2):
            slope = (self.cells(self.touch(x + far * step)) * step).sum(-1, keepdims=True)
            far = np.divide(far * gain, gain + slope, out=far, where=(slope > 0) & (gain > 0))
        return np.asarray(far)

    def bound(self, at: _Touch) -> FloatArray:
        """Bound −(Σ φ)/K from above by the planes, rounded outward."""
        exact = _Touch(*(Span.exactly(x) for x in at))
        by_row, by_column, by_hit = self._margins(exact, self.slope_r, self.slope_q)
        half = exact.gamma * 0.5
        logs = exact.r.log() + exact.not_r.log() + exact.q.log() + exact.not_q.log()
        ends = [Span.exactly(x) for x in (self.t.lo, self.t.hi)]
        chord = [x.log() - x * self.m for x in ends]
        intercept = Span.exactly(np.minimum(chord[0].lo, chord[1].lo))
        log_gamma = exact.gamma.where(self.filled, 1.0).log()
        first = exact.gamma * (intercept - log_gamma + 3.0) - half * logs - half / exact.not_r - half / exact.not_q
        second = (
            self.slope_r * exact.tau * (Span.exactly(self.r.lo) * self.r.hi)
            + self.slope_q / exact.tau * (Span.exactly(self.q.lo) * self.q.hi)
        ) * 0.5
        constant = (first + second).where(self.used, self.z.phi.where(self.z.present, 0.0))
        constant = constant + (by_row + by_column + by_hit).where(self.mirrored, 0.0)
        row, column = ((-c - by_hit).where(self.mirrored, c) for c in (by_row, by_column))
        least = -self._on_cells(row, column, by_hit)
        found = Span.exactly(fraction_max(least.hi, self.z.low, self.z.high)) - constant.sum()
        return np.asarray((found / self.z.classes).hi)

    def _on_cells(self, row: Any, column: Any, hit: Any) -> Any:
        """Coefficients of the cells of those of r, q and TP."""
        z = self.z
        return z.row(row) + z.column(column) + z.row(hit) * z.identity


def _chord(r: Span) -> Span:
    """1 / ((1 − r₋)(1 − r₊)), the slope of r/(1−r) over its range."""
    return ((1.0 - Span.exactly(r.lo)) * (1.0 - Span.exactly(r.hi))).inverse()

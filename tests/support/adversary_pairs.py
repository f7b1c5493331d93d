"""The adversary of rankings: weights within their limits whose difference of a measure lies beyond the certified range.

The cells are those of a joint table (true, first and second prediction) of the rows, and the rest is the search of
`adversary.Attack`. `hunt.py` sets it on predictions of every kind of trouble.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import oracle
from adversary import Array, Attack, slopes, values


class JointLimits(NamedTuple):
    """The smallest and the largest sum of each joint cell, exactly."""

    cells: Array
    K: int
    low: list[Fraction]
    high: list[Fraction]
    classes: list[list[int]]
    """Those that a mean runs over, of the first and of the second: they occur with the weights as they are."""

    def sums(self, position: Array) -> list[Fraction]:
        """Cells at a position: 0 at the smallest, 1 at the largest sum."""
        return [a + Fraction(float(t)) * (b - a) for a, b, t in zip(self.low, self.high, position, strict=True)]

    def table(self, sums: list[Fraction], column: int) -> list[list[Fraction]]:
        """The table of one prediction: column 1 is the first, 2 the second."""
        C = [[Fraction(0)] * self.K for _ in range(self.K)]
        for cell, c in zip(self.cells.tolist(), sums, strict=True):
            C[cell[0]][cell[column]] += c
        return C

    def exact(self, name: str, position: Array) -> Decimal:
        """First − second at a position, in rational arithmetic; undefined values count as 0."""
        sums = self.sums(position)
        if not any(sums):
            return Decimal(0)
        first, second = (
            oracle.exact(name, self.table(sums, column), classes) or Decimal(0)
            for column, classes in enumerate(self.classes, 1)
        )
        with oracle.precision():
            return first - second


def joint_limits(t: Array, a: Array, b: Array, w: Any, K: int, model: str, eps: float) -> JointLimits:
    """Limits of the joint cells, summed from rows with labels 0 … K − 1."""
    e, weights = Fraction(eps), list(map(Fraction, w))
    steps = [e * x if model == "relative" else e for x in weights]
    least = [max(x - step, Fraction(0)) for x, step in zip(weights, steps, strict=True)]
    most = [x + step for x, step in zip(weights, steps, strict=True)]
    return joint_between(t, a, b, w, least, most, K)


def joint_between(t: Array, a: Array, b: Array, w: Any, lower: Any, upper: Any, K: int) -> JointLimits:
    """Limits of the joint cells, of rows whose weights have bounds of their own."""
    low: dict[tuple[int, int, int], Fraction] = {}
    high: dict[tuple[int, int, int], Fraction] = {}
    rows = zip(zip(t.tolist(), a.tolist(), b.tolist(), strict=True), lower, upper, strict=True)
    for cell, least, most in rows:
        low[cell] = low.get(cell, Fraction(0)) + Fraction(least)
        high[cell] = high.get(cell, Fraction(0)) + Fraction(most)
    weighing = np.array([x > 0 for x in w])
    classes = [sorted({int(k) for column in (t, own) for k in column[weighing]}) for own in (a, b)]
    return JointLimits(np.array(list(low)), K, list(low.values()), list(high.values()), classes)


class PairAttack(Attack):
    """Search for the largest (side 1) or smallest (side −1) difference within limits."""

    def __init__(self, limits: JointLimits, name: str, side: int, seed: int = 0) -> None:
        super().__init__(limits, name, side, seed)  # type: ignore[arg-type]
        t, a, b = limits.cells.T
        self.where = (t * limits.K + a, t * limits.K + b)

    @property
    def kinds(self) -> Array:
        """Corner that favours a side: the cells where one of the two is right at their largest."""
        t, a, b = self.limits.cells.T
        return ((a == t) * 1 - (b == t)) * self.side > 0

    def _pair(self, positions: Array) -> list[Array]:
        cells = self.low + positions * (self.high - self.low)
        K, out = self.limits.K, []
        for codes in self.where:
            tables = np.zeros((len(cells), K * K))
            np.add.at(tables, (slice(None), codes), cells)
            out.append(tables.reshape(-1, K, K))
        return out

    def values(self, positions: Array) -> Array:
        both = zip(self._pair(positions), self.limits.classes, strict=True)
        first, second = (values(self.name, tables, classes) for tables, classes in both)
        return first - second

    def slopes(self, positions: Array) -> Array:
        first, second = (
            slopes(self.name, tables, classes).reshape(len(positions), -1)[:, codes]
            for tables, codes, classes in zip(self._pair(positions), self.where, self.limits.classes, strict=True)
        )
        return first - second

    def favoured(self, count: int) -> Array:
        """Corners that favour one of the two, but for some truths."""
        some = (self.random.random((count, self.limits.K)) < 0.5)[:, self.limits.cells[:, 0]]
        return np.where(some, self.kinds * 1.0, (self.random.random((count, self.cells)) < 0.5) * 1.0)

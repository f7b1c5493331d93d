"""The scale of artanh, on which scores are nearly normal, and the intervals that are made there."""

from __future__ import annotations

from math import atanh, inf, isqrt, tanh
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..measures.base import Measure, Shares
from ..measures.stacks import by_class, root
from .cells import CellSums, Precision
from .pivot import Pivot

CLOSELY = 64
"""Moves in one table for which the place where the score turns round is looked for."""

TRIED = 32
"""Classes between which weight is moved to see how far it could move a score that no row varied."""

AT_ONCE = 1 << 21
"""Margins of moved tables that are held at once: beyond 2,048 classes fewer moves are tried."""

ALMOST = 1 - 1e-9
"""How much of a class is moved at most: one that is gone altogether would be left out of some scores."""

PARTS = ALMOST * np.array([0.0, 0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0])
"""Parts of a class at which scores are compared, to see where they turn round. They do not depend on the level."""

GOLDEN = (5**0.5 - 1) / 2
SECTIONS = 60
"""Golden sections by which the place where a score turns round is found, to 3e-13 of where it was looked for."""

MOST = 1 - 1e-15
"""Where a score is taken to be at the end of its range."""


class Scale:
    """The scale of artanh, on which scores are nearly normal: Fisher's, stretched to the range of a measure."""

    def __init__(self, low: float, high: float) -> None:
        self._middle, self._half = (low + high) / 2, (high - low) / 2

    def ends(self, value: Any, found: Precision, tail: float) -> tuple[Any, Any]:
        """Return the ends of an interval of a score, by the chance beyond each: ± Student's quantile · se, here."""
        se = root(found.variance) * found.stretch * self.rate(value)
        low, high = Pivot(self.of(value), se, found.df).ends(tail)
        return self.back(low), self.back(high)

    def inside(self, value: Any) -> Any:
        """Whether the value is not at an end of the range."""
        return abs(value - self._middle) < self._half * MOST

    def of(self, value: Any) -> Any:
        """From a score, which is kept away from the ends of the range."""
        y = (value - self._middle) / self._half
        if isinstance(y, float):
            return atanh(min(max(y, -MOST), MOST))
        return np.arctanh(np.minimum(np.maximum(y, -MOST), MOST))

    def back(self, z: Any) -> Any:
        """To a score."""
        return self._middle + self._half * (tanh(z) if isinstance(z, float) else np.tanh(z))

    def rate(self, value: Any) -> Any:
        """Derivative of `of`."""
        y = (value - self._middle) / self._half
        return 1 / (self._half * (1 - y * y))


def unseen_ends(
    measure: Measure, value: FloatArray, moves: Moves, tail: float, n_eff: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Ends of intervals where no row was seen that would vary the score, such as a perfect one; of a stack of tables.

    What was not seen in n_eff draws holds at most a share 1 − tail^(1/n_eff) of the weight, with confidence 1 − tail.
    The ends are the scores if that share, or less, had been predicted otherwise: of the true class and as the class
    where it counts most. A higher level allows a larger share, so its interval holds that of a lower level.
    """
    share = 1 - tail ** (1 / n_eff)
    ends = []
    for side, end in zip((1, -1), measure.range, strict=True):
        least = np.where(value == end, side * end, inf)
        if (value != end).any():
            np.minimum.at(least, moves.table, moves.least(measure, share[moves.table], side))
        ends.append(side * np.minimum(side * value, least))
    return ends[0], ends[1]


class Moves(NamedTuple):
    """Ways to move weight of a true class from the prediction that most of it has to another one, one each."""

    table: IntArray  # which table of a stack it is in
    sums: FloatArray  # what `by_class` makes of the table's shares of the weight; the second axis is that of the moves
    true: IntArray
    source: IntArray  # the prediction that is taken from
    target: IntArray  # the prediction that is given to
    held: FloatArray  # how much of the true class has the prediction that is taken from

    @classmethod
    def between(cls, cells: CellSums) -> Moves:
        """All moves in a table; if it has many classes, those between classes spread evenly over their sizes."""
        (t, p), K = cells.codes, max(cells.classes, 2)  # beside a single class there may be one that was not seen
        sums = by_class(cells.w, cells.codes, K)
        r, q = sums[0] + sums[1], sums[0] + sums[2]
        order = np.lexsort((-p, cells.w, t))
        last = np.append(np.flatnonzero(np.diff(t[order])), len(t) - 1)  # of each class, its heaviest cell
        source, largest = np.zeros(K, dtype=np.int64), np.zeros(K)
        source[t[order[last]]], largest[t[order[last]]] = p[order[last]], cells.w[order[last]]
        tried = min(TRIED, max(2, isqrt(AT_ONCE // K)))
        true, target = (
            a.reshape(-1) for a in np.meshgrid(spread_over_sizes(r, tried), spread_over_sizes(q, tried), indexing="ij")
        )
        sums = np.broadcast_to(sums[:, np.newaxis], (3, len(true), K))
        return cls(np.zeros_like(true), sums, true, source[true], target, largest[true])._possible()

    @classmethod
    def of_two_classes(cls, cells: CellSums) -> Moves:
        """All moves in a stack of tables of two classes, given by all of their cells."""
        w, sums = cells.w.reshape(-1, 2, 2), by_class(cells.w, cells.codes, 2)
        table, true = (a.reshape(-1) for a in np.indices((len(w), 2)))
        source = w.argmax(axis=2).reshape(-1)
        return cls(table, sums[:, table], true, source, 1 - source, w.max(axis=2).reshape(-1))._possible()

    def _possible(self) -> Moves:
        """Return those that move something."""
        return self._some((self.target != self.source) & (self.held > 0))

    def _some(self, which: Any) -> Moves:
        table, sums, *others = self
        return Moves(table[which], sums[:, which], *(x[which] for x in others))

    def scores(self, measure: Measure, part: Any) -> FloatArray:
        """Score after each move, of this part of what is held. What is left may be very little, and is not lost."""
        each, moved, left = np.arange(len(self.held)), self.held * part, self.held * (1 - part)
        d, fn, fp = sums = np.array(self.sums)
        right, wrong = self.source == self.true, self.source != self.true
        d[each[right], self.true[right]] = left[right]
        fn[each[right], self.true[right]] += moved[right]
        self._leave(fp, wrong, self.source, left)
        gained, other = self.target == self.true, self.target != self.true
        d[each[gained], self.true[gained]] += moved[gained]
        self._leave(fn, gained, self.true, left)
        fp[each[other], self.target[other]] += moved[other]
        return measure.near(Shares.of_classes(sums))

    def _leave(self, sums: FloatArray, which: Array, classes: IntArray, left: FloatArray) -> None:
        """Replace what is held by what is left of it, in some sums of classes."""
        at = np.flatnonzero(which), classes[which]
        sums[at] = (sums[at] - self.held[which]) + left[which]

    def least(self, measure: Measure, share: FloatArray, side: int) -> FloatArray:
        """Smallest score times ``side`` after each move of at most this share."""
        of_parts, most = np.array([side * self.scores(measure, part) for part in PARTS]), share / self.held
        turn = self._turn(measure, side, of_parts, most)
        allowed = np.where(PARTS[:, np.newaxis] <= most, of_parts, inf)
        ends = side * self.scores(measure, np.minimum(turn, most))
        return np.asarray(np.minimum(ends, allowed.min(axis=0)))

    def _turn(self, measure: Measure, side: int, of_parts: FloatArray, most: FloatArray) -> FloatArray:
        """Parts with the smallest score times ``side``, near the best of `PARTS`, by golden sections.

        Where even the part before the best is more than the most that may be moved, the largest will do. Of many moves
        in one table those with the smallest scores are looked at so closely.
        """
        best = np.argmin(of_parts, axis=0)
        before, after = np.maximum(best - 1, 0), np.minimum(best + 1, len(PARTS) - 1)
        turn = np.full(len(best), PARTS[-1])
        close = np.full(len(best), len(best) <= CLOSELY or bool(self.table.any()))
        close[np.argsort(of_parts.min(axis=0), kind="stable")[:CLOSELY]] = True
        inner = np.flatnonzero((PARTS[before] < most) & close)
        some = self._some(inner)
        low, high = PARTS[before[inner]], PARTS[after[inner]]
        for _ in range(SECTIONS if len(inner) else 0):
            left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            smaller = side * some.scores(measure, left) < side * some.scores(measure, right)
            low, high = np.where(smaller, low, left), np.where(smaller, right, high)
        turn[inner] = (low + high) / 2
        return turn


def spread_over_sizes(sizes: FloatArray, tried: int) -> IntArray:
    """Which of these to try: all or, of many, those of evenly spread ranks, the smallest and the largest included."""
    ranks = np.unique(np.linspace(0, len(sizes) - 1, min(tried, len(sizes))).round().astype(int))
    return np.sort(np.argsort(sizes, kind="stable")[ranks])

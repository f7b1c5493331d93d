"""The scale of artanh, on which scores are nearly normal, and the intervals that are made there."""

from __future__ import annotations

from collections.abc import Sequence
from math import atanh, inf, tanh
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..measures.base import Measure, Shares
from ..measures.stacks import by_class, by_class_of_all, others, total
from .cells import CellSums, Precision
from .pivot import Pivot

CLOSELY = 64
"""Moves in one table for which the place where the score turns round is looked for."""

TRIED = 32
"""Classes between which weight is moved to see how far it could move a score that no row varied."""

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

    def ends(self, value: Any, precision: Precision, tail: float) -> tuple[Any, Any]:
        """Return the ends of an interval of a score, by the chance beyond each: ± Student's quantile · se, here."""
        se = np.sqrt(precision.variance) * precision.stretch * self.rate(value)
        low, high = Pivot(self.of(value), se, precision.df).ends(tail)
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
    """Ways to move weight of a true class from the prediction that most of it has to another one, one each.

    A move changes the columns of two classes. The others are added up once, however many there are.
    """

    table: IntArray  # which table of a stack it is in
    whole: Shares  # of those tables
    own: FloatArray  # hits, misses, alarms, 1 − r and 1 − q of both classes, in their order: 5 × move × 2
    gains: IntArray  # which of these grow by what is moved, and which lose it: 1 and −1
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
        known, counted = np.flatnonzero(r + q > 0), cells.counted
        if len(known) < 2:
            known, counted = np.arange(K), 2
        some = (known[spread_over_sizes(x[known], TRIED)] for x in (r, q))
        true, target = (x.reshape(-1) for x in np.meshgrid(*some, indexing="ij"))
        none = np.zeros_like(true)
        return cls._made(sums[:, np.newaxis], counted, none, true, source[true], target, largest[true])

    @classmethod
    def of_two_classes(cls, cells: CellSums) -> Moves:
        """All moves in a stack of tables of two classes, given by all of their cells."""
        w = cells.w.reshape(-1, 2, 2)
        table, true = (a.reshape(-1) for a in np.indices((len(w), 2)))
        source = w.argmax(axis=2).reshape(-1)
        return cls._made(by_class_of_all(w), 2, table, true, source, 1 - source, w.max(axis=2).reshape(-1))

    @classmethod
    def _made(cls, sums: FloatArray, counted: int, table: IntArray, *moves: Array) -> Moves:
        """Return those that move something: true class, prediction taken from, prediction given to, and what is held.

        Tables are given by what `by_class` makes of their shares.
        """
        possible = (moves[1] != moves[2]) & (moves[3] > 0)
        table, true, source, target, held = (x[possible] for x in (table, *moves))
        each, pair = [*sums, *others(sums[0] + sums[1:])], np.sort([source, target], axis=0).T
        both = np.array(each)[:, table[:, np.newaxis], pair]
        more, right = np.where(pair == target[:, np.newaxis], 1, -1), pair == true[:, np.newaxis]
        gains = np.array([more * right, -more * right, more * ~right, 0 * more, -more])
        return cls(table, Shares.of_each(*each, counted=counted), both, gains, held)

    def _some(self, which: Any) -> Moves:
        """Return some of the moves."""
        return Moves(self.table[which], self.whole, self.own[:, which], self.gains[:, which], self.held[which])

    def rest(self, measure: Measure) -> list[FloatArray]:
        """Totals of the terms of a measure over the classes that a move leaves as they are."""
        whole, own = measure.terms(self.whole), measure.terms(self._shares(0.0))
        return [total(x)[self.table] - total(y) for x, y in zip(whole, own, strict=True)]

    def _shares(self, part: Any) -> Shares:
        """Shares of both classes after each move of this part of what is held.

        What is left may be very little, and is not lost.
        """
        held = self.held[:, np.newaxis]
        moved, left = ((self.held * x)[:, np.newaxis] for x in (part, 1 - part))
        lost = np.where(self.gains < 0, (self.own - held) + left, self.own)
        return Shares.of_each(*np.where(self.gains > 0, self.own + moved, lost), counted=self.whole.classes)

    def scores(self, measure: Measure, part: Any, rest: Sequence[FloatArray]) -> FloatArray:
        """Score after each move of this part of what is held."""
        terms = measure.terms(self._shares(part))
        totals = (total(x) + y for x, y in zip(terms, rest, strict=True))
        return np.asarray(measure.of_totals(self.whole.classes, *totals))

    def least(self, measure: Measure, share: FloatArray, side: int) -> FloatArray:
        """Smallest score times ``side`` after each move of at most this share."""
        rest = self.rest(measure)
        of_parts, most = np.array([side * self.scores(measure, part, rest) for part in PARTS]), share / self.held
        turn = self._turn(measure, side, of_parts, most, rest)
        allowed = np.where(PARTS[:, np.newaxis] <= most, of_parts, inf)
        ends = side * self.scores(measure, np.minimum(turn, most), rest)
        return np.asarray(np.minimum(ends, allowed.min(axis=0)))

    def _turn(
        self, measure: Measure, side: int, of_parts: FloatArray, most: FloatArray, rest: Sequence[FloatArray]
    ) -> FloatArray:
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
        some, rest = self._some(inner), [x[inner] for x in rest]
        low, high = PARTS[before[inner]], PARTS[after[inner]]
        for _ in range(SECTIONS if len(inner) else 0):
            left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            smaller = side * some.scores(measure, left, rest) < side * some.scores(measure, right, rest)
            low, high = np.where(smaller, low, left), np.where(smaller, right, high)
        turn[inner] = (low + high) / 2
        return turn


def spread_over_sizes(sizes: FloatArray, tried: int) -> IntArray:
    """Which of these to try: all or, of many, those of evenly spread ranks, the smallest and the largest included."""
    ranks = np.unique(np.linspace(0, len(sizes) - 1, min(tried, len(sizes))).round().astype(int))
    return np.sort(np.argsort(sizes, kind="stable")[ranks])

"""What a sample may have missed in strata where all sampled units moved the score alike.

There the standard error is 0, however few units were drawn. If shares p of the units of strata would have moved the
score otherwise, the chance to draw none of them is Π (1 − p)^m. With confidence 1 − tail it is at least tail, and the
ends of an interval are the smallest and the largest score that such shares allow. Derived in
docs/understand/inference.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import log
from typing import NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..measures.base import Measure, Shares
from ..measures.stacks import by_class, over
from .cells import CellSums
from .fisher import ALMOST, TRIED, spread_over_sizes
from .strata import LOOKED_AT, StratifiedSample

EQUAL = 1e-12
"""How much scores may differ that are equal but for rounding."""

USUAL = 0.025
"""Tail probability at which the worst cell for missed errors is chosen, for intervals of all levels: that of 95 %."""

AT_ONCE = 1 << 21
"""Margins of moved tables that are looked at: of many classes or strata, fewer moves are tried."""

HELD = 1 << 18
"""Sums of moved tables that are held at once."""

LESS = np.linspace(0.1, 1.0, 10)
"""Parts of the largest shares that are tried: a score may turn round before."""


class MovedCells(NamedTuple):
    """The cells to which weight of each stratum would be moved for the lower or the upper end."""

    moved: FloatArray  # sums if all of the stratum were in that cell, less those it has: prediction × 3 × strata × K
    gain: FloatArray  # by how much the end moves outward per share of the stratum


class Predicted(NamedTuple):
    """The table of a prediction, in strata."""

    cells: CellSums
    strata: StratifiedSample


class MissedErrors:
    """Strata of a sample in which nothing varied a score or a difference, and how far weight in them could move it.

    Parameters
    ----------
    measure, value
        The score, or the difference of two.
    predicted
        The table of the prediction; of a difference, those of the first and of the second.
    constant
        Which of the strata have no variance, and should have.
    part
        How much of a unit is moved: see `StratifiedSample.wrong_part`.
    """

    def __init__(
        self, measure: Measure, value: float, predicted: Sequence[Predicted], constant: Array, part: float
    ) -> None:
        cells, strata = predicted[0]
        self._measure, self._value, self._predicted, self._strata = measure, value, predicted, strata
        self._part, size = part, strata.size_in_sample
        order = np.argsort(-over(size, strata.draws) * constant, kind="stable")
        self.strata: IntArray = np.sort(order[: min(int(constant.sum()), LOOKED_AT)])
        self._size, self._draws = size[self.strata], strata.draws[self.strata]
        self._classes = max(cells.classes, 2)  # beside a single class there may be one that was not seen
        self._sums = np.array([by_class(cells_of.w, cells_of.codes, self._classes) for cells_of, _ in predicted])

    def ends(self, tail: float) -> tuple[float, float]:
        """Return the smallest and the largest score that was not ruled out, by the chance beyond each."""
        low, high = (self._end(side, tail) for side in self._sides)
        return min(low, self._value), max(high, self._value)

    def _end(self, side: MovedCells, tail: float) -> float:
        sign = 1 if side is self._sides[0] else -1
        most = _among_undrawn(_largest_shares(side.gain, self._draws, tail), self._strata, self.strata)
        moved = np.einsum("s,jcsk->jck", most, side.moved)
        sums = self._sums[:, :, np.newaxis] + LESS[:, np.newaxis] * moved[:, :, np.newaxis]
        return sign * float((sign * self._scores(sums)).min())

    def _scores(self, sums: FloatArray) -> FloatArray:
        """Score of sums by class, or first less second."""
        each = zip(np.maximum(sums, 0.0), self._predicted, strict=True)
        first, *second = (self._measure.near(Shares.of_classes(own, x.cells.counted)) for own, x in each)
        return np.asarray(first - second[0] if second else first)

    @cached_property
    def _sides(self) -> tuple[MovedCells, MovedCells]:
        """Where weight of each stratum would be moved, for the lower and for the upper end.

        Any true class is possible, and the predictions that occur in the stratum: of two, at least one of them. Of a
        cluster as much is moved as is wrong in clusters with an error.
        """
        moves = self._moves
        share = _among_undrawn(1 - USUAL ** (1 / self._draws), self._strata, self.strata)
        sums, step = self._sums[:, :, np.newaxis], max(1, HELD // self._classes)
        parts = [moves[:, k : k + step] for k in range(0, moves.shape[1], step)]
        scores = np.concatenate([self._scores(sums + share[x[0], np.newaxis] * self._moved(x)) for x in parts])
        starts = np.flatnonzero(np.diff(moves[0], prepend=-1))
        low, high = (self._side(sign, moves, sign * scores, starts, share) for sign in (1, -1))
        return low, high

    @property
    def _moves(self) -> IntArray:
        """Stratum, true class and prediction or predictions of cells to which weight may be moved, by stratum."""
        of_true = self._sums[0, 0] + self._sums[0, 1]
        true = np.flatnonzero(self._sums.sum(axis=(0, 1)) > 0)
        true = np.arange(self._classes) if len(true) < 2 else true
        several = len(self._predicted)
        room = several * 2 * AT_ONCE / (self._classes * len(self.strata))
        tried = max(2, min(TRIED, int(room ** (1 / (1 + several)))))
        true = true[spread_over_sizes(of_true[true], tried)]
        of_strata = [self._predictions(j, tried) for j in range(several)]
        if several == 1:
            stratum, t, p = np.nonzero(np.repeat(of_strata[0][:, np.newaxis], len(true), axis=1))
            return np.array([stratum, true[t], p])
        q = self._sums[:, 0] + self._sums[:, 2]
        anywhere = [np.flatnonzero(own > 0)[spread_over_sizes(own[own > 0], tried)] for own in q]
        out = []
        for h, (first, second) in enumerate(zip(*of_strata, strict=True)):
            a, b = np.flatnonzero(first), np.flatnonzero(second)
            pairs = np.concatenate([_product(a, anywhere[1]), _product(anywhere[0], b)], axis=1)
            t, pair = _product(true, np.arange(pairs.shape[1]))
            out.append(np.array([np.full(len(t), h), t, *pairs[:, pair]]))
        return np.concatenate(out, axis=1)

    @cached_property
    def _own(self) -> FloatArray:
        """Sums by class of each stratum: prediction × 3 × strata × K."""
        each = self._predicted
        return np.array([strata.by_class(self.strata, cells.codes, self._classes) for cells, strata in each])

    def _predictions(self, which: int, tried: int) -> Array:
        """Which classes of one of the predictions are tried in each stratum: those that occur there, or so many."""
        q = self._own[which, 0] + self._own[which, 2]
        out = q > 0
        for h in np.flatnonzero(out.sum(axis=1) > tried):
            met = np.flatnonzero(out[h])
            out[h] = False
            out[h, met[spread_over_sizes(q[h, met], tried)]] = True
        return np.asarray(out)

    def _moved(self, moves: IntArray) -> FloatArray:
        """Sums by class of each move's stratum if all of it were in the move's cell, less those it has."""
        (stratum, t, *predictions), each = moves, np.arange(moves.shape[1])
        out, size = -self._own[:, :, stratum], self._size[stratum]
        for sums, p in zip(out, predictions, strict=True):
            right = t == p
            wrong = ~right
            sums[0, each[right], t[right]] += size[right]
            sums[1, each[wrong], t[wrong]] += size[wrong]
            sums[2, each[wrong], p[wrong]] += size[wrong]
        return np.asarray(self._part * out)

    def _side(self, sign: int, moves: IntArray, scores: FloatArray, starts: IntArray, share: FloatArray) -> MovedCells:
        """Return the move of each stratum with the smallest score times a sign; the first, if some are equal.

        Equal but for rounding, that is: or else the last bit of another machine would choose another cell.
        """
        least = np.minimum.reduceat(scores, starts)
        where = np.flatnonzero(scores <= least[moves[0]] + EQUAL)
        best = where[np.flatnonzero(np.diff(moves[0, where], prepend=-1))]
        return MovedCells(self._moved(moves[:, best]), over(np.maximum(sign * self._value - least, 0.0), share))


def missed_ends(
    measure: Measure, value: float, predicted: Sequence[Predicted], constant: Array, part: float
) -> Callable[[float], tuple[float, float]]:
    """Return what gives the ends that strata allow for, by the chance beyond each; the value where none is constant."""
    return (
        MissedErrors(measure, value, predicted, constant, part).ends if constant.any() else lambda tail: (value, value)
    )


def _product(a: IntArray, b: IntArray) -> IntArray:
    """All pairs of one of these and one of those, in two rows."""
    return np.array([np.repeat(a, len(b)), np.tile(b, len(a))])


def reach_of_missed(strata: StratifiedSample, constant: Array, gain: FloatArray, tail: float) -> float:
    """How far units of constant strata that were not drawn may move a score that is linear in their shares.

    ``gain`` is by how much more a unit of each stratum may count than those that were drawn there count on average.
    """
    where = np.flatnonzero(constant)
    each = strata.wrong_part * (strata.size_in_sample * gain)[where]
    shares = _among_undrawn(_largest_shares(each, strata.draws[where], tail), strata, where)
    return float(each @ shares)


def _among_undrawn(share: FloatArray, strata: StratifiedSample, where: IntArray) -> FloatArray:
    """Shares of strata, of a finite population those that it may have among units that were not drawn."""
    f, m = strata.fraction[where], strata.m[where]
    return np.asarray(np.minimum(share * (1 - f * (m - 1) / (2 * m)), np.minimum(1 - f, ALMOST)))


def _largest_shares(gain: FloatArray, draws: FloatArray, tail: float) -> FloatArray:
    """Shares p of the strata with the largest Σ gain·p of which nothing was seen: Π (1 − p)^draws ≥ tail.

    By Lagrange, 1 − p = λ·draws/gain where that is below 1, and p = 0 elsewhere.
    """
    out, rate = np.zeros(len(gain)), gain / draws
    order = np.argsort(-rate, kind="stable")
    order = order[rate[order] > 0]
    if not len(order):
        return out
    logs, m = np.log(rate[order]), draws[order]
    level = (log(tail) + np.cumsum(m * logs)) / np.cumsum(m)  # log λ, if so many of them are above 0
    last = int(np.argmax(level >= np.append(logs[1:], -np.inf)))
    used = order[: last + 1]
    out[used] = -np.expm1(level[last] - logs[: last + 1])
    return out

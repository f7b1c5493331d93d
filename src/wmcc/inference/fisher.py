"""The scale of artanh, on which scores are nearly normal, and the intervals that are made there."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from ..arraytypes import FloatArray
from ..measures.base import Measure, Shares
from .influence import Cells, Influence
from .pivot import Pivot

TRIED = 16
"""Cells to which weight is moved to see how far it could move a score that no row varied."""

ALMOST = 1 - 1e-9
"""How much of a class is moved at most: one that is gone altogether would be left out of some scores."""

PARTS = (0.25, 0.5, 0.75, 1.0)
"""Parts of the most that may be moved, at which scores are compared first."""

STEPS = np.array([-0.1, 0.0, 0.1])
"""Where the data are moved to, in standard errors, to find a score's curvature."""

MOST = 1 - 1e-15
"""Where a score is taken to be at the end of its range."""


def decisive_rows(slope: FloatArray, cells: Cells, variance: Any) -> FloatArray:
    """How many rows of usual weight, in the cell where a row matters most, would have this variance.

    If they are few, the variance hangs on single rows and may have missed some. Leading axes are a stack.
    """
    usual = cells.w2.sum(axis=-1) / cells.n.sum(axis=-1)
    return np.asarray(variance / ((slope * slope).max(axis=-1) * usual))


def fisher(
    measure: Measure, value: FloatArray, cells: Cells, found: Influence, level: float
) -> tuple[FloatArray, FloatArray]:
    """Ends of the interval that is made on the scale of artanh. Leading axes are a stack of tables."""
    scale = Scale(measure)
    se_z = np.sqrt(found.variance) * scale.rate(value)
    pivot = Pivot(scale.of(value), se_z, found.skewness, _curvature(scale, cells, found, se_z), found.df)
    low, high = pivot.ends(level)
    return scale.back(low), scale.back(high)


class Scale:
    """The scale of artanh, on which scores are nearly normal: Fisher's, stretched to the measure's range."""

    def __init__(self, measure: Measure) -> None:
        low, high = measure.range
        self.near, self._middle, self._half = measure.near, (low + high) / 2, (high - low) / 2

    def inside(self, value: float) -> bool:
        """Whether the value is not at an end of the range."""
        return abs(value - self._middle) < self._half * MOST

    def of(self, value: FloatArray) -> FloatArray:
        """From a score, which is kept away from the ends of the range."""
        y = (value - self._middle) / self._half
        return np.asarray(np.arctanh(np.minimum(np.maximum(y, -MOST), MOST)))

    def back(self, z: FloatArray) -> FloatArray:
        """To a score."""
        return self._middle + self._half * np.tanh(z)

    def rate(self, value: Any) -> Any:
        """Derivative of `of`."""
        y = (value - self._middle) / self._half
        return 1 / (self._half * (1 - y * y))


def _curvature(scale: Scale, cells: Cells, found: Influence, se_z: FloatArray) -> FloatArray:
    """Half the second derivative of z along the influences, in units of its standard error."""
    K = isqrt(cells.w.shape[-1])
    moved = cells.w + np.multiply.outer(STEPS, found.direction / np.sqrt(found.variance)[..., np.newaxis])
    z = scale.of(scale.near(Shares.of_cells(moved.reshape(*moved.shape[:-1], K, K))))
    return np.asarray((z[0] - 2 * z[1] + z[2]) / (2 * STEPS[2] ** 2 * se_z))


def unvaried(
    measure: Measure, value: float, slope: FloatArray, cells: Cells, level: float, n_eff: float
) -> tuple[float, float]:
    """Ends of the interval where no row was seen that would vary the score, such as a perfect one.

    What was not seen in n_eff draws holds at most a share 1 − (α/2)^(1/n_eff) of the weight, with confidence 1 − α/2.
    The ends are the scores if that share had been predicted otherwise, of the true class and to the class where it
    counts most.
    """
    K = isqrt(len(cells.w))
    w, slope = cells.w.reshape(K, K), slope.reshape(K, K)
    if K == 1:  # another class can only be one that was not seen
        K, w, slope = 2, np.pad(w, (0, 1)), np.pad(slope, (0, 1))
    share = 1 - ((1 - level) / 2) ** (1 / n_eff)
    source = np.argmax(w, axis=1)  # of each true class, the prediction it has
    held = w[np.arange(K), source] * ALMOST
    change = (slope - slope[np.arange(K), source][:, np.newaxis]) * np.minimum(held, share)[:, np.newaxis]
    order = np.argsort(change, axis=None)
    tried = np.unique(np.concatenate([order[:TRIED], order[-TRIED:]]))
    a, b = np.unravel_index(tried, w.shape)
    most = np.minimum(held[a], share)

    def scores(amounts: FloatArray, pairs: Any) -> FloatArray:
        """Score if an amount of weight were moved, for each pair of cells."""
        moved, each = np.repeat(w[np.newaxis], len(amounts), axis=0), np.arange(len(amounts))
        np.add.at(moved, (each, a[pairs], source[a[pairs]]), -amounts)
        np.add.at(moved, (each, a[pairs], b[pairs]), amounts)
        return measure.near(Shares.of_cells(moved))

    return min(value, _least(scores, most, 1)), max(value, -_least(scores, most, -1))


def _least(scores: Any, most: FloatArray, side: int) -> float:
    """Smallest score times ``side`` for any amounts up to the most: some scores turn round on the way."""
    from scipy.optimize import minimize_scalar

    found = np.array([side * scores(part * most, slice(None)) for part in PARTS])
    pair = [int(np.argmin(found.min(axis=0)))]
    end = float(most[pair[0]])
    best = minimize_scalar(lambda x: side * scores(np.array([x]), pair)[0], bounds=(0.0, end), method="bounded")
    return min(float(best.fun), float(found.min()))

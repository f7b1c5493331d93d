"""A confidence band over all thresholds: it holds the scores of the population at all of them together.

A threshold that was chosen on the data has the score that looks best there. An ordinary interval at it does not know of
the choice, and misses the true score too often. A band holds at every threshold, so it holds at the chosen one, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.arraytypes import Array, FloatArray
from ...measures.base import Measure
from ..estimate import quietly
from ..fisher import Scale
from ..pivot import student
from ..reliability import NOTHING
from .draws import draws_above, moved_scores
from .grid import Errors, ThresholdGrid


class Simulated(NamedTuple):
    """How far the scores of all thresholds are off together."""

    moved: FloatArray  # draws × thresholds
    spread: FloatArray  # its standard deviation at each threshold
    usable: Array  # thresholds at which it is nearly normal

    @classmethod
    @quietly
    def of(cls, grid: ThresholdGrid, measure: Measure, values: FloatArray) -> Simulated:
        """Draw the sampling errors of a measure."""
        moved = np.nan_to_num(moved_scores(grid.slopes(measure, values), draws_above(grid)))
        spread = moved.std(axis=0)
        inside = Scale(*measure.range).inside(values)
        return cls(moved, spread, grid.usable & inside & (spread**2 > NOTHING))

    def critical(self, among: Array, level: float) -> float:
        """Return how many standard errors the scores of some thresholds are off at most, with this probability."""
        among = among & self.usable
        if not among.any():
            return float("nan")
        return float(np.quantile(np.abs(self.moved[:, among] / self.spread[among]).max(axis=1), level))

    def critical_difference(self, best: int, level: float) -> tuple[FloatArray, float]:
        """Standard errors of differences to one threshold, and how many of them all differences are off at most."""
        apart = self.moved[:, [best]] - self.moved
        se = apart.std(axis=0)
        among = self.usable & (se**2 > NOTHING)
        if not among.any():
            return se, 0.0
        return se, float(np.quantile(np.abs(apart[:, among] / se[among]).max(axis=1), level))


@quietly
def band_ends(measure: Measure, values: Any, errors: Errors, critical: float, level: float) -> tuple[Any, Any]:
    """Ends of the band at some thresholds, on the scale of artanh.

    Few degrees of freedom make it longer, as they make an ordinary interval longer. It is never shorter than that.
    """
    _, stdtrit = student()
    scale, tail = Scale(*measure.range), (1 - level) / 2
    longer = stdtrit(errors.df, tail) / _normal(tail)
    far = critical * np.where(np.isfinite(longer), longer, 1.0) * errors.se * scale.rate(values)
    z = scale.of(values)
    return np.fmin(scale.back(z - far), errors.low), np.fmax(scale.back(z + far), errors.high)


def _normal(tail: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(tail))

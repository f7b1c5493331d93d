"""The MCC–F1 curve: both measures at every threshold, and how far the best of them is from perfect.

Cao, Chicco and Hoffman (2020), *The MCC-F1 curve: a performance evaluation technique for binary classification*. MCC is
brought to 0 to 1 there, as (MCC + 1) / 2. Here all rows have weights.
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple

import numpy as np

from ...core.arraytypes import FloatArray
from ...core.score_table import ScoreTable
from ...measures import MEASURES
from ..classes import OWN
from .grid import ThresholdGrid
from .measures import undefined

RANGES = 100
"""Ranges of MCC on each side of the best threshold, over which distances are averaged."""


class MccF1(NamedTuple):
    """The MCC–F1 curve of a score table.

    Parameters
    ----------
    thresholds, mcc, f1
        Thresholds in ascending order, (MCC + 1) / 2 and F1 of the positive class at each.
    best
        Place of the threshold that is nearest to the perfect corner, (1, 1).
    metric
        1 less the mean distance to the perfect corner in units of √2: 1 is perfect, 0 the worst. NaN where a class has
        no weight, so that both measures are undefined.
    """

    thresholds: FloatArray
    mcc: FloatArray
    f1: FloatArray
    best: int
    metric: float


def mcc_f1(scores: ScoreTable) -> MccF1:
    """Compute the MCC–F1 curve and its metric.

    Examples
    --------
    >>> import wmcc
    >>> from wmcc.inference.scores.mcc_f1 import mcc_f1
    >>> round(mcc_f1(wmcc.tabulate([0, 0, 1, 1], score=[0.1, 0.6, 0.4, 0.9])).metric, 4)
    0.6567
    """
    scores._check_single()
    grid = ThresholdGrid(scores, scores.steps)
    mcc, f1 = (grid.values(MEASURES["mcc"]) + 1) / 2, grid.values(OWN["f1"])
    distance = np.hypot(1 - mcc, 1 - f1)
    most = int(mcc.argmax())
    edges = np.linspace(mcc.min(), mcc.max(), RANGES + 1)
    means = [
        mean
        for side in (slice(0, most + 1), slice(most, None))
        for mean in _means(np.clip(np.searchsorted(edges, mcc[side], side="right") - 1, 0, RANGES - 1), distance[side])
    ]
    metric = nan if undefined(scores) else 1 - float(np.mean(means)) / 2**0.5
    return MccF1(grid.thresholds, mcc, f1, int(distance.argmin()), metric)


def _means(ranges: FloatArray, distance: FloatArray) -> list[float]:
    """Mean distance in each range that has a threshold."""
    sums, counts = np.bincount(ranges, distance), np.bincount(ranges)
    means: list[float] = (sums[counts > 0] / counts[counts > 0]).tolist()
    return means

"""Ranges of a measure at every threshold of two classes, if each weight may be off by a share ε of itself.

A threshold makes four cells, which move on their own. Most measures never fall when hits or others rise, and never rise
when misses or alarms do: their ends are at two corners of the box, and exact integers give them for each of many
thousands of thresholds. docs/understand/thresholds.md says why that is so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import inf, lcm, nextafter
from operator import mul
from typing import NamedTuple

from ..core.score_table import ScoreTable
from ..core.table import Margins
from ..measures.base import Measure
from .enclosures import AS_MCC, MONOTONE

RISING = AS_MCC | MONOTONE | {"accuracy", "balanced_accuracy", "precision", "recall", "f1", "iou"}
"""Measures of two classes that never fall when a right cell rises, and never rise when a wrong one does."""

RIGHT = (True, False, False, True)
"""Which of hits, misses, alarms and others are right."""

Cells = Sequence[int]
"""Hits, misses, alarms and others."""


class ProvedRange(NamedTuple):
    """Bounds of a measure at a threshold, for all weights within ε, and a low value that some of them attain."""

    low: float
    high: float
    attained: float


class WeightShares(NamedTuple):
    """How far each weight may be off: from ``less`` to ``more`` times itself, in a common unit."""

    less: int
    more: int

    @classmethod
    def of(cls, eps: float) -> WeightShares:
        """Return those of a share ε."""
        p, q = eps.as_integer_ratio()
        return cls(q - p, q + p)

    def corner(self, cells: Cells, raised: Sequence[bool]) -> list[int]:
        """Return the cells with some of them at their largest, and the others at their smallest."""
        return [c * (self.more if up else self.less) for c, up in zip(cells, raised, strict=True)]


def proved_ranges(scores: ScoreTable, measure: Measure, eps: float) -> list[ProvedRange]:
    """Return the range at each step of a score table. A measure that is undefined there is 0, whatever the weights."""
    positive, negative, _ = scores.counts
    off, P, N = WeightShares.of(eps), positive[0], negative[0]
    range_of = _of_gains(measure) if measure.name == "expected_gain" else partial(_rising, measure)
    return [
        range_of((hits, P - hits, alarms, N - alarms), off) for hits, alarms in zip(positive, negative, strict=True)
    ]


def _value(measure: Measure, cells: Cells) -> float | None:
    """Value at four cells, correctly rounded; None where it is undefined."""
    hits, misses, alarms, others = cells
    margins = Margins.of([hits + misses, alarms + others], [hits + alarms, misses + others], [hits, others], 2)
    value, problem = measure.of_margins(margins)
    return None if problem else value


def _outward(measure: Measure, low: float, high: float) -> ProvedRange:
    least, most = measure.range
    return ProvedRange(max(least, nextafter(low, -inf)), min(most, nextafter(high, inf)), low)


def _rising(measure: Measure, cells: Cells, off: WeightShares) -> ProvedRange:
    """Range of a measure that is monotone in each cell, wherever it is not below 0 in the case of kappa."""
    lower, upper = off.corner(cells, [not right for right in RIGHT]), off.corner(cells, RIGHT)
    low, high = _value(measure, lower), _value(measure, upper)
    if low is None or high is None:
        return ProvedRange(0.0, 0.0, 0.0)
    found = _outward(measure, low, high)
    if measure.name in RISING:
        return found
    if _covariance(lower) < 0:  # monotone only where it is at least 0
        found = found._replace(low=measure.range[0])
    return found._replace(high=0.0) if _covariance(upper) < 0 else found


def _covariance(cells: Cells) -> int:
    hits, misses, alarms, others = cells
    return hits * others - misses * alarms


def _of_gains(measure: Measure) -> Callable[[Cells, WeightShares], ProvedRange]:
    """Return the range of a weighted mean of gains.

    It is largest where the weights of the gains above some gain are at their largest, and the others at their smallest.
    """
    gains = [Fraction(_value(measure, [int(j == k) for j in range(4)]) or 0.0) for k in range(4)]
    unit = lcm(*(gain.denominator for gain in gains))
    whole, cuts = [int(gain * unit) for gain in gains], sorted({*gains})[1:]
    above = [[gain >= cut for gain in gains] for cut in cuts]

    def mean(cells: Cells) -> float:
        gained: int = sum(map(mul, whole, cells))
        return gained / (unit * sum(cells))

    def range_of(cells: Cells, off: WeightShares) -> ProvedRange:
        low = min(mean(off.corner(cells, [not x for x in raised])) for raised in above)
        return _outward(measure, low, max(mean(off.corner(cells, raised)) for raised in above))

    return range_of

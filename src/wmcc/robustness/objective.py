"""A measure of one table as something to search: the largest value, or minus the smallest."""

from __future__ import annotations

import numpy as np

from ..arraytypes import FloatArray
from ..measures.base import Measure, Shares
from .aggregates import Aggregates
from .box import Box
from .classwise import classwise_bound
from .enclosures import Slopes, enclosure
from .interval import UNIT, Interval
from .relaxation import relaxed_bound


class MeasureObjective:
    """σM over a box: σ = 1 to find the largest value, −1 the smallest."""

    rounding = 0.0

    def __init__(self, box: Box, measure: Measure, side: int) -> None:
        self.box, self.measure, self.side = box, measure, side
        self.enclosure = enclosure(measure.name, box.size)
        self.size = box.size**2

    def _aggregates(self, low: FloatArray, high: FloatArray) -> Aggregates:
        shape = (*low.shape[:-1], self.box.size, self.box.size)
        return Aggregates(low.reshape(shape), high.reshape(shape))

    def slopes(self, low: FloatArray, high: FloatArray, target: Interval | None) -> Slopes:
        """Enclose σ times the slopes, and σM."""
        if target is not None and self.side < 0:
            target = -target
        cells, value = self.enclosure.slopes(self._aggregates(low, high), target)
        cells = Interval(cells.lo.reshape(low.shape), cells.hi.reshape(low.shape))
        return Slopes(cells, value) if self.side > 0 else Slopes(-cells, -value)

    def whole(self) -> Slopes:
        """Slopes and values over the whole box."""
        with np.errstate(all="ignore"):
            return self.slopes(self.box.floor[np.newaxis], self.box.ceiling[np.newaxis], None)

    def total(self, low: FloatArray) -> FloatArray:
        """Lower bound of the total weight."""
        return np.asarray(low.sum(-1, keepdims=True) * (1 - low.shape[-1] * UNIT))

    def bound(self, low: FloatArray, high: FloatArray, level: FloatArray) -> FloatArray:
        """Bound σM by a relaxation, where there is one."""
        if self.measure.name == "mpc2" and self.side < 0:
            return classwise_bound(self._aggregates(low, high))
        if not self.enclosure.relaxed:
            return np.full((len(low), 1), np.inf)
        return relaxed_bound(self._aggregates(low, high), self.side, level, by_class=self.measure.name == "mpc1")

    def at_corners(self, found: float) -> bool:
        """Whether the extreme value is at a corner, given one that was found."""
        return self.enclosure.corners(self.side, self.side * found)

    def near(self, point: FloatArray) -> tuple[float, FloatArray]:
        """σM and its slopes at a table, nearly."""
        value, slopes = near(self.measure, point.reshape(self.box.size, -1))
        return self.side * value, self.side * slopes.ravel()

    def exact(self, position: FloatArray) -> float:
        """σM at a position of the box, the outer one where it is not exact."""
        return self.side * self.box.value(self.measure, position.tolist(), reached=False)


def near(measure: Measure, cells: FloatArray) -> tuple[float, FloatArray]:
    """Value and slopes (times the total) of a measure at a table, in plain float64."""
    shares = Shares.of_cells(cells)
    value = measure.near(shares)
    return float(value), measure.slope(shares, value).dense()

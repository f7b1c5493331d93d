"""A measure of one table as something to search: the largest value, or minus the smallest."""

from __future__ import annotations

import numpy as np

from ..core.arraytypes import FloatArray
from ..measures.base import Measure, Shares, on_zero
from .aggregates import Aggregates
from .box import Box
from .cells import Cells
from .classwise import classwise_bound
from .enclosures import Slopes, enclosure
from .relaxation import relaxed_bound
from .span import UNIT, Interval, others


class MeasureObjective:
    """σM over a box: σ = 1 to find the largest value, −1 the smallest."""

    rounding = 0.0

    def __init__(self, box: Box, cells: Cells, measure: Measure, side: int) -> None:
        self.box, self.cells, self.measure, self.side = box, cells, measure, side
        self.enclosure = enclosure(measure.name, cells.K)
        self.size = cells.size

    def slopes(self, low: FloatArray, high: FloatArray, target: Interval | None) -> Slopes:
        """Enclose σ times the slopes, and σM."""
        if target is not None and self.side < 0:
            target = -target
        cells, value = self.enclosure.slopes(Aggregates(self.cells, low, high), target)
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
            return classwise_bound(Aggregates(self.cells, low, high))
        if not self.enclosure.relaxed:
            return np.full((len(low), 1), np.inf)
        z = Aggregates(self.cells, low, high)
        return relaxed_bound(z, self.side, level, by_class=self.measure.name == "mpc1")

    def at_corners(self, found: float) -> bool:
        """Whether the extreme value is at a corner, given one that was found."""
        return self.enclosure.corners(self.side, self.side * found)

    def near(self, point: FloatArray) -> tuple[float, FloatArray]:
        """σM and its slopes at a table, nearly."""
        value, slopes = near(self.measure, self.cells, point)
        return self.side * value, self.side * slopes

    def exact(self, position: FloatArray) -> float:
        """σM at a position of the box, the outer one where it is not exact."""
        return self.side * self.value(position, reached=False)

    def value(self, position: FloatArray, reached: bool = True) -> float:
        """M at a position of the box: the float64 nearest to it, or in rare cases its neighbour."""
        return exact_value(self.measure, self.cells, self.box.cells(position.tolist(), reached)[0])


def exact_value(measure: Measure, cells: Cells, sums: list[int]) -> float:
    """Measure of a table with these sums in its cells; 0 where it is undefined."""
    at = cells.margins(sums)
    return measure.value(at, on_zero(0.0, measure.title)) + 0.0 if at.s else 0.0


def near(measure: Measure, cells: Cells, sums: FloatArray) -> tuple[float, FloatArray]:
    """Value and slopes (times the total) of a measure at a table with these sums in its cells, in plain float64."""
    d, fn, fp = kinds = cells.kinds(sums / sums.sum())
    r, q = margins = kinds[1:] + d
    not_r, not_q = others(margins)
    tn = np.where(fp < fn, not_r - fp, not_q - fn)  # less is lost where less is taken away
    shares = Shares.made(r, q, d, not_r, not_q, d * tn - fn * fp)
    value = measure.near(shares)
    return float(value), measure.slope(shares, value).at(cells.t, cells.p)

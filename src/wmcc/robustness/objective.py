"""A measure of one table as something to search: the largest value, or minus the smallest."""

from __future__ import annotations

import numpy as np

from ..core.arraytypes import FloatArray
from ..measures.base import Measure, Shares, on_zero
from ..measures.stacks import sums_from_both_ends
from .aggregates import Aggregates
from .box import Box
from .cells import BoxedCells
from .classwise import classwise_bound
from .enclosures import Slopes
from .interval_arithmetic import Span
from .relaxation import relaxed_bound
from .search import Objective


class MeasureObjective(Objective):
    """A measure of one table."""

    cells: BoxedCells

    def __init__(self, box: Box, cells: BoxedCells, measure: Measure, side: int) -> None:
        super().__init__(box, cells, measure, side)
        self.size: int = cells.size

    def _slopes(self, low: FloatArray, high: FloatArray, target: Span | None) -> Slopes:
        return self.enclosure.slopes(Aggregates(self.cells, low, high), target)

    def whole(self) -> Slopes:
        """Slopes and values over the whole box."""
        with np.errstate(all="ignore"):
            return self.slopes(self.box.floor[np.newaxis], self.box.ceiling[np.newaxis], None)

    def bound(self, low: FloatArray, high: FloatArray, level: FloatArray) -> FloatArray:
        """Bound σM by a relaxation, where there is one."""
        if self.measure.name == "mpc2" and self.side < 0:
            return classwise_bound(Aggregates(self.cells, low, high))
        if not self.enclosure.relaxed:
            return super().bound(low, high, level)
        z = Aggregates(self.cells, low, high)
        return relaxed_bound(z, self.side, level, by_class=self.measure.name == "mpc1")

    def at_corners(self, found: float) -> bool:
        """Whether the extreme value is at a corner, given one that was found."""
        return found >= self.enclosure.corners

    def near(self, point: FloatArray) -> tuple[float, FloatArray]:
        """σM and its slopes at a table, nearly."""
        value, slopes = near(self.measure, self.cells, point)
        return self.side * value, self.side * slopes

    def value(self, position: FloatArray, reached: bool = True) -> float:
        """M at a position of the box: the float64 nearest to it, or in rare cases its neighbour."""
        return exact_value(self.measure, self.cells, self.box.cells(position.tolist(), reached)[0])

    def outer(self, bound: float) -> float:
        """Return a bound of M, within its range."""
        return float(np.clip(bound, *self.measure.range))


def exact_value(measure: Measure, cells: BoxedCells, sums: list[int]) -> float:
    """Measure of a table with these sums in its cells; 0 where it is undefined."""
    at = cells.margins(sums)
    return measure.value(at, on_zero(0.0, measure.title)) + 0.0 if at.s else 0.0


def near(measure: Measure, cells: BoxedCells, sums: FloatArray) -> tuple[float, FloatArray]:
    """Value and slopes (times the total) of a measure at a table with these sums in its cells, in plain float64."""
    d, fn, fp = kinds = cells.kinds(sums / sums.sum())
    shares = Shares.of_each(d, fn, fp, *sums_from_both_ends(kinds[1:] + d), counted=cells.classes)
    value = measure.near(shares)
    return float(value), measure.slope(shares, value).at(cells.t, cells.p)

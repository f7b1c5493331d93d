"""The difference of a measure between two predictions of the same rows, as something to search."""

from __future__ import annotations

from ..core.arraytypes import FloatArray
from ..measures.base import Measure
from .box import Box
from .enclosures import Slopes
from .interval_arithmetic import Span, down, up
from .objective import exact_value, near
from .paired_intervals import JointCells, TwinAggregates
from .search import Objective


class PairObjective(Objective):
    """M of the first − M of the second, over a box of joint cells."""

    cells: JointCells
    rounding: float = 2.0**-51
    """Two values of at most 1, each within a unit of the last place, are subtracted."""

    def __init__(self, box: Box, cells: JointCells, measure: Measure, side: int) -> None:
        super().__init__(box, cells, measure, side)
        self.size: int = len(cells) + cells.pairs.size

    def _slopes(self, low: FloatArray, high: FloatArray, target: Span | None) -> Slopes:
        pair, value = self.enclosure.slopes(TwinAggregates(self.cells, low, high), target)  # type: ignore[arg-type]
        return Slopes(pair.delta, value.delta)

    def at_corners(self, found: float) -> bool:
        """Whether the extreme difference is at a corner: a quotient of linear functions is, others may not be."""
        return self.measure.name == "accuracy"

    def near(self, point: FloatArray) -> tuple[float, FloatArray]:
        """σ times the difference and its slopes at a table, nearly."""
        first, second = (near(self.measure, cells, point) for cells in (self.cells.first, self.cells.second))
        return self.side * (first[0] - second[0]), self.side * (first[1] - second[1])

    def value(self, position: FloatArray, reached: bool = True) -> float:
        """M of the first − M of the second at a position of the box."""
        first, second = self.values(position, reached)
        return first - second + 0.0

    def outer(self, bound: float) -> float:
        """Return a bound of the difference, rounded outward, and within what differences there are."""
        most = self.measure.range[1] - self.measure.range[0]
        return float(min(max(up(bound) if self.side > 0 else down(bound), -most), most))

    def crossed(self, position: FloatArray) -> bool:
        """Whether σ times the difference is certainly not negative: values are rounded, but one of 0 is 0."""
        first, second = self.values(position)
        return first == second == 0.0 or self.side * (first - second) > self.rounding

    def values(self, position: FloatArray, reached: bool = True) -> tuple[float, float]:
        """M of the first and of the second at a position of the box."""
        sums, _ = self.box.cells(position.tolist(), reached)
        first, second = (exact_value(self.measure, cells, sums) for cells in (self.cells.first, self.cells.second))
        return first, second

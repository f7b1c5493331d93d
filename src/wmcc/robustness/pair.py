"""The difference of a measure between two predictions of the same rows, as something to search."""

from __future__ import annotations

import numpy as np

from ..core.arraytypes import FloatArray
from ..measures.base import Measure
from .box import Box
from .enclosures import Slopes, enclosure
from .objective import exact_value, near
from .span import UNIT, Interval
from .twin import JointCells, TwinAggregates


class PairObjective:
    """σ (M of the first − M of the second) over a box of joint cells."""

    rounding = 2.0**-51
    """Two values of at most 1, each within a unit of the last place, are subtracted."""

    def __init__(self, box: Box, cells: JointCells, measure: Measure, side: int) -> None:
        self.box, self.cells, self.measure, self.side = box, cells, measure, side
        self.enclosure = enclosure(measure.name, cells.K)
        self.size = len(cells) + cells.pairs.size
        self._known: tuple[bytes, bool, tuple[float, float]] | None = None

    def slopes(self, low: FloatArray, high: FloatArray, target: Interval | None) -> Slopes:
        """Enclose σ times the slopes, and σ times the difference."""
        if target is not None and self.side < 0:
            target = -target
        z = TwinAggregates(self.cells, low, high)
        pair, value = self.enclosure.slopes(z, target)  # type: ignore[arg-type]
        cells = pair.delta
        return Slopes(cells, value.delta) if self.side > 0 else Slopes(-cells, -value.delta)

    def total(self, low: FloatArray) -> FloatArray:
        """Lower bound of the total weight."""
        return np.asarray(low.sum(-1, keepdims=True) * (1 - low.shape[-1] * UNIT))

    def bound(self, low: FloatArray, high: FloatArray, level: FloatArray) -> FloatArray:
        """Return nothing better than the slopes tell."""
        return np.full((len(low), 1), np.inf)

    def at_corners(self, found: float) -> bool:
        """Whether the extreme difference is at a corner: a quotient of linear functions is, others may not be."""
        return self.measure.name == "accuracy"

    def near(self, point: FloatArray) -> tuple[float, FloatArray]:
        """σ times the difference and its slopes at a table, nearly."""
        first, second = (near(self.measure, cells, point) for cells in (self.cells.first, self.cells.second))
        return self.side * (first[0] - second[0]), self.side * (first[1] - second[1])

    def exact(self, position: FloatArray) -> float:
        """σ times the difference at a position of the box."""
        return self.side * self.difference(position, reached=False)

    def difference(self, position: FloatArray, reached: bool = True) -> float:
        """M of the first − M of the second at a position of the box."""
        first, second = self.values(position, reached)
        return first - second + 0.0

    def crossed(self, position: FloatArray) -> bool:
        """Whether σ times the difference is certainly not negative: values are rounded, but one of 0 is 0."""
        first, second = self.values(position)
        return first == second == 0.0 or self.side * (first - second) > self.rounding

    def values(self, position: FloatArray, reached: bool = True) -> tuple[float, float]:
        """M of the first and of the second at a position of the box; those of the last one are kept."""
        inner = reached and self.box.reached is not None
        at = position.tobytes()
        if self._known is None or self._known[:2] != (at, inner):
            self._known = at, inner, self._values(position, inner)
        return self._known[2]

    def _values(self, position: FloatArray, reached: bool) -> tuple[float, float]:
        sums, _ = self.box.cells(position.tolist(), reached)
        first, second = (exact_value(self.measure, cells, sums) for cells in (self.cells.first, self.cells.second))
        return first, second

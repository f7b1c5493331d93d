"""Branch and bound: the largest or smallest value of a measure over a box of tables.

A cell whose slope has one sign throughout a box goes to its end: at a maximum it cannot be elsewhere. Slopes need
to be enclosed only at tables whose value may be the maximum, between the best found and the bound so far. The
cells that stay open are split, the box with the highest bound first, and the smaller boxes pruned again.
"""

from __future__ import annotations

import heapq
import itertools
import time
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..arraytypes import Array, FloatArray
from .enclosures import Slopes
from .interval import Interval, down, up

PASSES = 12
"""Times a box is pruned before what is left of it is bounded."""

WORK = 200_000
"""Cells of all boxes looked at, unless the caller says otherwise: some seconds."""

STACK = 8192
"""Cells of boxes worked on at once, so that small tables do not spend their time in Python."""


ROUNDING = 1e-13
"""Gap at an extreme inside a box that is about what bounds lose to rounding: splitting hardly narrows it."""


class Limits(NamedTuple):
    """When to stop."""

    gap: float = 0.0
    nodes: int | None = None
    seconds: float | None = None

    def boxes(self, cells: int) -> int:
        """Number of boxes to look at; by default fewer of large tables, as each costs more."""
        return self.nodes if self.nodes is not None else min(2000, max(20, WORK // cells))


class Objective(Protocol):
    """What is searched for its maximum; tables are vectors of cells, boxes are stacks of them."""

    def slopes(self, low: FloatArray, high: FloatArray, target: Interval | None) -> Slopes:
        """Slopes times the total weight, per cell; and the value, with a last axis of one."""

    def total(self, low: FloatArray) -> FloatArray:
        """Lower bound of the total weight."""

    def bound(self, low: FloatArray, high: FloatArray, level: FloatArray) -> FloatArray:
        """Another upper bound, from a guess at it; infinite if there is none."""

    def at_corners(self, found: float) -> bool:
        """Whether the largest value over any box, if at least ``found``, is at a corner."""

    def exact(self, position: FloatArray) -> float:
        """The value at a position in the box, correct to one unit in the last place."""


class Found(NamedTuple):
    """Best position, its value, and a bound that no position exceeds."""

    position: FloatArray
    value: float
    bound: float
    closed: bool
    nodes: int


class Search:
    """The search in one box."""

    def __init__(self, objective: Objective, low: FloatArray, high: FloatArray, fixed: Array, limits: Limits) -> None:
        self.objective, self.low, self.high, self.limits = objective, low, high, limits
        self.first: Slopes | None = None
        self.movable = ~fixed & (high > low)
        self.value = -np.inf
        self.position = np.zeros_like(low)
        self.nodes = 0

    def whole(self) -> Slopes:
        """Slopes and values over the whole box."""
        with np.errstate(all="ignore"):
            return self.objective.slopes(self.low[np.newaxis], self.high[np.newaxis], None)

    def run(self, whole: Slopes | None = None) -> Found:
        """Search until the bound meets the best value, or a limit is met; ``whole`` if it is known already."""
        self.first = whole
        start = time.monotonic()
        batch = max(1, STACK // (2 * self.low.size))
        most = self.limits.boxes(self.low.size)
        order = itertools.count()
        heap: list[tuple[float, int, FloatArray, FloatArray, int]] = []
        boxes = self.low[np.newaxis], self.high[np.newaxis]
        with np.errstate(all="ignore"):
            while True:
                self.nodes += len(boxes[0])
                for bound, low, high, cell in zip(*self._examined(*boxes), strict=True):
                    heapq.heappush(heap, (-float(bound), next(order), low, high, int(cell)))
                bound = -heap[0][0] if heap else -np.inf
                least = 0.0 if self.objective.at_corners(self.value) else ROUNDING
                done = bound <= up(self.value) or bound - self.value <= max(self.limits.gap, least)
                late = self.limits.seconds is not None and time.monotonic() - start > self.limits.seconds
                if done or late or self.nodes >= most:
                    break
                boxes = self._split([heapq.heappop(heap) for _ in range(min(batch, len(heap)))])
        closed = bound <= up(self.value)
        return Found(self.position, self.value, float(max(bound, up(self.value))), bool(closed), self.nodes)

    def _examined(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, Array]:
        """Boxes that may hold more than the best found: their bounds, what is left of them, the cell to split."""
        low, high, ceiling = self._pruned(low, high)
        is_open = (high > low) & self.movable
        keep = is_open.any(-1)
        for point in low[~keep]:
            self._offer(point)
        low, high, ceiling, is_open = low[keep], high[keep], ceiling[keep], is_open[keep]
        if not len(low):
            return ceiling, low, high, np.zeros(0, dtype=np.intp)
        slopes, _ = self.objective.slopes(low, high, None)
        corner = np.where(slopes.middle > 0, high, low)
        corner = np.where(is_open, corner, low)
        value = self.objective.slopes(corner, corner, None)[1]
        self._climb(corner[int(np.argmax(value.middle[..., 0]))])
        wrong = np.where(corner == high, -slopes.lo, slopes.hi) * (high - low)
        wrong = np.where(is_open, np.maximum(wrong, 0.0), 0.0)
        fixed_slack = np.where(is_open, 0.0, np.maximum(slopes.hi, -slopes.lo) * (high - low))
        spare = Interval.exactly(up(up(wrong) + up(fixed_slack))).sum().hi
        bounds = np.fmin(ceiling, up(value.hi + up(spare / self.objective.total(low)))[..., 0])
        undecided = bounds > up(self.value)
        if undecided.any():
            level = np.full((int(undecided.sum()), 1), self.value)
            other = self.objective.bound(low[undecided], high[undecided], level)[..., 0]
            bounds[undecided] = np.fmin(bounds[undecided], other)
        cell = np.argmax(np.where(is_open, np.nan_to_num(wrong, posinf=1e300) + (high - low) * 1e-9, -1.0), -1)
        keep = bounds > up(self.value)
        return bounds[keep], low[keep], high[keep], cell[keep]

    def _pruned(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Boxes with the cells that have one sign of slope at their ends, and what they can hold at most."""
        ceiling = np.full(len(low), np.inf)
        for _ in range(PASSES):
            if self.first is not None:
                (slopes, value), self.first = self.first, None
            else:
                target = Interval(np.full((len(low), 1), down(self.value)), ceiling[:, np.newaxis])
                slopes, value = self.objective.slopes(low, high, target)
            possible = (value.lo <= value.hi)[..., 0]
            ceiling = np.fmin(ceiling, value.hi[..., 0])
            keep = possible & (ceiling > up(self.value))
            low, high, ceiling, slopes = low[keep], high[keep], ceiling[keep], slopes[keep]
            is_open = (high > low) & self.movable
            rises, falls = is_open & (slopes.lo >= 0), is_open & (slopes.hi <= 0) & ~(slopes.lo >= 0)
            if not (rises.any() or falls.any()):
                break
            low, high = np.where(rises, high, low), np.where(falls, low, high)
            if not (is_open & ~rises & ~falls).any():
                break
        return low, high, ceiling

    def _split(self, taken: list[Any]) -> tuple[FloatArray, FloatArray]:
        """Two boxes for each: at the ends of the cell if the maximum is at a corner, else its halves."""
        low, high = (np.repeat(np.stack([t[i] for t in taken]), 2, axis=0) for i in (2, 3))
        cell = np.repeat([t[4] for t in taken], 2)
        rows = np.arange(len(low))
        a, b = low[rows, cell], high[rows, cell]
        upper = rows % 2 == 1
        if self.objective.at_corners(self.value):
            low[rows, cell] = high[rows, cell] = np.where(upper, b, a)
        else:
            middle = a + (b - a) / 2
            low[rows, cell], high[rows, cell] = np.where(upper, middle, a), np.where(upper, b, middle)
        return low, high

    def _climb(self, point: FloatArray) -> None:
        """Go from a table to the corner that its slopes point to, as long as that is higher."""
        best = -np.inf
        for _ in range(PASSES):
            slopes, value = self.objective.slopes(point[np.newaxis], point[np.newaxis], None)
            if not value.middle[0, 0] > best:
                break
            best, highest = float(value.middle[0, 0]), point
            ahead = np.where(slopes.middle[0] > 0, self.high, self.low)
            point = np.where(self.movable, ahead, point)
        if best > self.value:
            self._offer(highest)

    def _offer(self, point: FloatArray) -> None:
        """Keep a table if it is the best so far."""
        width = self.high - self.low
        position = np.divide(point - self.low, width, out=np.zeros_like(width), where=self.movable)
        value = self.objective.exact(position)
        if value > self.value:
            self.value, self.position = value, position

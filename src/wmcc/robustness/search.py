"""Branch and bound: the largest or smallest value of a measure over a box of tables.

A cell whose slope has one sign throughout a box goes to its end: at a maximum it cannot be elsewhere. Slopes need
to be enclosed only at tables whose value may be the maximum, between the best found and the bound so far. The
cells that stay open are split, the box with the highest bound first, and the smaller boxes pruned again.
"""

from __future__ import annotations

import heapq
import itertools
import time
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray
from ..measures.base import Measure
from .box import Box
from .enclosures import Enclosure, Slopes, enclosure
from .interval_arithmetic import UNIT, Span, down, up

PASSES = 12
"""Times a box is pruned before what is left of it is bounded."""

WORK = 200_000
"""Numbers of all boxes looked at, one for each cell, unless the caller says otherwise: a second or two."""

MOST, LEAST = 2000, 5
"""Boxes of small and of large tables."""

STACK = 8192
"""Cells of boxes worked on at once, so that small tables do not spend their time in Python."""


ROUNDING = 1e-13
"""Gap at an extreme inside a box that is about what bounds lose to rounding: splitting hardly narrows it."""


class Limits(NamedTuple):
    """When to stop."""

    gap: float = 0.0
    nodes: int | None = None
    seconds: float | None = None
    goal: float | None = None
    """Stop when it is known whether the largest value is above this."""
    most: int = MOST
    """Boxes of a small table, where ``nodes`` is None."""

    def boxes(self, size: int) -> int:
        """Number of boxes to look at; by default fewer of large tables, as each costs more."""
        return self.nodes if self.nodes is not None else max(LEAST, min(self.most, WORK // size))


class Objective(ABC):
    """σM over a box, searched for its maximum: σ = 1 finds the largest value of M, −1 the smallest.

    Tables are vectors of cells, boxes are stacks of them.
    """

    rounding: float = 0.0
    """Error of `exact` beyond one unit in the last place."""

    size: int
    """Numbers that a box takes, for how long it takes."""

    box: Box
    cells: Any
    measure: Measure
    side: int

    def __init__(self, box: Box, cells: Any, measure: Measure, side: int) -> None:
        self.box, self.cells, self.measure, self.side = box, cells, measure, side
        self.enclosure: Enclosure = enclosure(measure.name, cells.K)

    def slopes(self, low: FloatArray, high: FloatArray, target: Span | None) -> Slopes:
        """Slopes of σM times the total weight, per cell; and σM, with a last axis of one."""
        slopes = self._slopes(low, high, -target if target is not None and self.side < 0 else target)
        return slopes if self.side > 0 else -slopes

    @abstractmethod
    def _slopes(self, low: FloatArray, high: FloatArray, target: Span | None) -> Slopes:
        """The same of M."""

    def total(self, low: FloatArray) -> FloatArray:
        """Lower bound of the total weight."""
        return np.asarray(low.sum(-1, keepdims=True) * (1 - low.shape[-1] * UNIT))

    def bound(self, low: FloatArray, high: FloatArray, level: FloatArray) -> FloatArray:
        """Another upper bound, from a guess at it; infinite if there is none."""
        return np.full((len(low), 1), np.inf)

    @abstractmethod
    def at_corners(self, found: float) -> bool:
        """Whether the largest value over any box, if at least ``found``, is at a corner."""

    @abstractmethod
    def near(self, point: FloatArray) -> tuple[float, FloatArray]:
        """The value and the slopes at a table, in plain float64: where to look, nothing to rely on."""

    @abstractmethod
    def value(self, position: FloatArray, reached: bool = True) -> float:
        """M at a position in the box, correct to one unit in the last place."""

    @abstractmethod
    def outer(self, bound: float) -> float:
        """Return a bound of M, no further out than M can be."""

    def exact(self, position: FloatArray) -> float:
        """σM at a position in the box, the outer one where it is not exact."""
        return self.side * self.value(position, reached=False)


class Optimum(NamedTuple):
    """Best position, its value, and a bound that no position exceeds."""

    position: FloatArray
    value: float
    bound: float
    closed: bool
    nodes: int
    stopped: bool
    """Whether a limit ended the search, before it had an answer."""


class Boxes(NamedTuple):
    """A stack of boxes, and a bound for each."""

    low: FloatArray
    high: FloatArray
    ceiling: FloatArray

    def take(self, index: Array) -> Boxes:
        """Return some of them."""
        return Boxes(*(x[index] for x in self))


class Search:
    """The search in the box of an objective."""

    objective: Objective
    low: FloatArray
    high: FloatArray
    limits: Limits

    def __init__(self, objective: Objective, limits: Limits) -> None:
        box = objective.box
        self.objective, self.low, self.high, self.limits = objective, box.floor, box.ceiling, limits
        self.first: Slopes | None = None
        self.movable: Array = ~box.fixed & (self.high > self.low)
        self.value: float = -np.inf
        self.position: FloatArray = np.zeros_like(self.low)
        self.nodes: int = 0

    def run(self, whole: Slopes | None = None) -> Optimum:
        """Search until the bound meets the best value, or a limit is met; ``whole`` if it is known already."""
        self.first = whole
        if whole is None:  # with something to beat, pruning is sharper
            self.glance()
        start = time.monotonic()
        batch = max(1, STACK // (2 * self.low.size))
        most = self.limits.boxes(self.objective.size)
        order = itertools.count()
        heap: list[tuple[float, int, FloatArray, FloatArray, int]] = []
        boxes = Boxes(self.low[np.newaxis], self.high[np.newaxis], np.array([np.inf]))
        with np.errstate(all="ignore"):
            while True:
                self.nodes += len(boxes.low)
                for low, high, bound, cell in zip(*self._examine(boxes), strict=True):
                    heapq.heappush(heap, (-float(bound), next(order), low, high, int(cell)))
                bound = -heap[0][0] if heap else -np.inf
                near = bound - self.value <= max(self.limits.gap, self._least_gap())
                goal, least = self.limits.goal, down(self.value - self.objective.rounding)
                decided = goal is not None and (bound <= goal or least > goal)
                done = near or bound <= self._above() or decided
                late = self.limits.seconds is not None and time.monotonic() - start > self.limits.seconds
                if done or late or self.nodes >= most:
                    break
                boxes = self._split([heapq.heappop(heap) for _ in range(min(batch, len(heap)))])
        closed = bound <= self._above()
        return Optimum(self.position, self.value, float(max(bound, self._above())), bool(closed), self.nodes, not done)

    def glance(self) -> Optimum:
        """Look for a large value only, without a bound: climb from the middle of the box."""
        with np.errstate(all="ignore"):
            self._climb(self.low + (self.high - self.low) / 2)
        return Optimum(self.position, self.value, np.inf, False, 0, False)

    def _least_gap(self) -> float:
        """Gap that splitting would hardly narrow."""
        return 0.0 if self.objective.at_corners(self.value) else ROUNDING

    def _above(self) -> float:
        """A number that the best value is certainly not above, though it was rounded."""
        return float(up(self.value + self.objective.rounding))

    def _examine(self, boxes: Boxes) -> tuple[FloatArray, FloatArray, FloatArray, Array]:
        """What is left of boxes that may hold more than the best found: their ends, their bounds, the cell to split."""
        boxes = self._prune(boxes)
        if self.value == -np.inf and self._open(boxes).any():
            self.glance()
            boxes = self._prune(boxes)
        keep = self._undecided(boxes)
        for point in boxes.low[~keep]:
            self._offer(point)
        low, high, ceiling = boxes = boxes.take(keep)
        is_open = self._open(boxes)
        if not len(low):
            return low, high, ceiling, np.zeros(0, dtype=np.intp)
        slopes, centre, lost = self._from_centre(self.objective.slopes(low, high, None).cells, boxes)
        value = self.objective.slopes(centre, centre, None)[1]
        highest = int(np.argmax(value.middle[..., 0]))
        if value.hi[highest, 0] > self.value:
            self._climb(centre[highest])
        rise, fall = up(up(high - centre) * slopes.hi), up(up(centre - low) * -slopes.lo)
        wrong = np.maximum(np.maximum(rise, fall), 0.0)
        spare = up(Span.exactly(wrong).sum().hi + lost)
        bounds = np.fmin(ceiling, up(value.hi + up(spare / self.objective.total(low)))[..., 0])
        undecided = bounds > self._above()
        if undecided.any():
            level = np.full((int(undecided.sum()), 1), self.value)
            other = self.objective.bound(low[undecided], high[undecided], level)[..., 0]
            bounds[undecided] = np.fmin(bounds[undecided], other)
        cell = np.argmax(np.where(is_open, np.nan_to_num(wrong, posinf=1e300) + (high - low) * 1e-9, -1.0), -1)
        keep = bounds > self._above()
        return low[keep], high[keep], bounds[keep], cell[keep]

    def _open(self, boxes: Boxes) -> Array:
        """Cells that may still move."""
        return np.asarray((boxes.high > boxes.low) & self.movable)

    def _undecided(self, boxes: Boxes) -> Array:
        """Boxes that hold more than one table."""
        return np.asarray(self._open(boxes).any(-1))

    def _from_centre(self, slopes: Span, boxes: Boxes) -> tuple[Span, FloatArray, Any]:
        """Return slopes, a table of each box from which to bound by them, and what that bound leaves out."""
        low, high, _ = boxes
        centre = low + (high - low) * np.nan_to_num(np.clip(slopes.hi / (slopes.hi - slopes.lo), 0.0, 1.0), nan=0.5)
        return slopes, np.where(self._open(boxes), np.clip(centre, low, high), low), 0.0

    def _narrowed(self, boxes: Boxes, slopes: Span) -> tuple[Boxes, Array]:
        """Return what is left of boxes in which slopes are so, and which of them lost much."""
        is_open = self._open(boxes)
        rises, falls = is_open & (slopes.lo >= 0), is_open & (slopes.hi <= 0) & ~(slopes.lo >= 0)
        low, high = np.where(rises, boxes.high, boxes.low), np.where(falls, boxes.low, boxes.high)
        return Boxes(low, high, boxes.ceiling), np.asarray((rises | falls).any(-1))

    def _prune(self, boxes: Boxes) -> Boxes:
        """Boxes with the cells that have one sign of slope at their ends, and what they can hold at most."""
        done: list[Boxes] = []
        for _ in range(PASSES):
            if self.first is not None:
                (slopes, value), self.first = self.first, None
            else:
                floor = np.full((len(boxes.low), 1), down(self.value - self.objective.rounding))
                target = Span(floor, boxes.ceiling[:, np.newaxis])
                slopes, value = self.objective.slopes(boxes.low, boxes.high, target)
            boxes = boxes._replace(ceiling=np.fmin(boxes.ceiling, value.hi[..., 0]))
            keep = ~(value.lo > value.hi)[..., 0] & (boxes.ceiling > self._above())
            boxes, slopes = boxes.take(keep), slopes[keep]
            boxes, moved = self._narrowed(boxes, slopes)
            again = moved & self._undecided(boxes)
            done.append(boxes.take(~again))
            boxes = boxes.take(again)
            if not len(boxes.low):
                break
        done.append(boxes)
        return Boxes(*(np.concatenate(parts) for parts in zip(*done, strict=True)))

    def _split(self, taken: list[Any]) -> Boxes:
        """Two boxes for each: at the ends of the cell if the maximum is at a corner, else its halves."""
        low, high = (np.repeat(np.stack([t[i] for t in taken]), 2, axis=0) for i in (2, 3))
        cell, ceiling = (np.repeat([t[i] for t in taken], 2) for i in (4, 0))
        rows = np.arange(len(low))
        a, b = low[rows, cell], high[rows, cell]
        upper = rows % 2 == 1
        if self.objective.at_corners(self.value):
            low[rows, cell] = high[rows, cell] = np.where(upper, b, a)
        else:
            middle = a + (b - a) / 2
            low[rows, cell], high[rows, cell] = np.where(upper, middle, a), np.where(upper, b, middle)
        return Boxes(low, high, -ceiling)

    def _climb(self, point: FloatArray) -> None:
        """Go from a table to the corner that its slopes point to, as long as that is higher."""
        best, highest = -np.inf, point
        for _ in range(PASSES):
            value, slopes = self.objective.near(point)
            if not value > best:
                break
            best, highest = value, point
            point = np.where(self.movable, np.where(slopes > 0, self.high, self.low), point)
        if best > self.value or self.value == -np.inf:
            self._offer(highest)

    def _offer(self, point: FloatArray) -> None:
        """Keep a table if it is the best so far."""
        width = self.high - self.low
        position = np.divide(point - self.low, width, out=np.zeros_like(width), where=self.movable)
        value = self.objective.exact(position)
        if value > self.value:
            self.value, self.position = value, position

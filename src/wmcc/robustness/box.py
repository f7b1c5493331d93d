"""The set of tables that can be reached when the weights move: a box, with exact ends.

Each observation is in one cell and moves on its own, so the cells move independently, each between the sum of
the smallest and the sum of the largest weights that its observations may have. The ends are exact integers
in a common unit; the search works on float64 numbers rounded outward from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray
from ..core.exact import Exact
from ..core.joint import JointTable
from ..core.table import Table
from .span import down, up


class Condition(NamedTuple):
    """Something that a statement rests on, and whether it holds here."""

    sentence: str
    met: bool


class Box:
    """Occupied cells between ``low`` and ``high``, as lists of integers in a common unit.

    Parameters
    ----------
    low, high
        Every table that can be reached has its cells between these.
    reached
        Lower ends that are certainly reached, where ``low`` may lie beyond what can be; None if it does not.
    step
        By how much each weight of a cell is lowered to get there, where that is not ε.
    conditions
        What the box rests on.
    """

    def __init__(
        self,
        low: list[int],
        high: list[int],
        exponent: int,
        reached: list[int] | None = None,
        step: FloatArray | None = None,
        conditions: tuple[Condition, ...] = (),
    ) -> None:
        self.low, self.high, self.exponent = low, high, exponent
        self.reached, self.step, self.conditions = reached, step, conditions

    # ---- making ------------------------------------------------------------------------------------

    @classmethod
    def relative(cls, cells: list[int], exponent: int, eps: float) -> Box:
        """Every weight between (1 − ε) and (1 + ε) times its own."""
        p, q = eps.as_integer_ratio()
        low, high = q - p, q + p
        return cls([low * c for c in cells], [high * c for c in cells], exponent - q.bit_length() + 1)

    @classmethod
    def absolute(cls, sums: list[int], unit: int, n: Array, w_min: FloatArray, w_max: FloatArray, eps: float) -> Box:
        """Every weight within ε of its own, and not negative."""
        p, q = eps.as_integer_ratio()
        shift = 1 - q.bit_length()
        # Σ max(w − ε, 0) is not known from the sums where some weights of a cell are above ε and some below.
        mixed = (w_min < eps) & (w_max > eps)
        exponent = min(unit, shift, *(1 - x.as_integer_ratio()[1].bit_length() for x in w_min[mixed].tolist()))
        cells = [c << (unit - exponent) for c in sums]
        step = p << (shift - exponent)
        counts: list[int] = n.tolist()
        high = [c + k * step for c, k in zip(cells, counts, strict=True)]
        low = [max(c - k * step, 0) for c, k in zip(cells, counts, strict=True)]
        condition = Condition(
            "no cell has weights both above and below ε, so its smallest sum is known", not mixed.any()
        )
        if condition.met:
            return cls(low, high, exponent, conditions=(condition,))
        reached = [
            low[i] if not mixed[i] else c - k * _whole(least, exponent)
            for i, (c, k, least) in enumerate(zip(cells, counts, w_min.tolist(), strict=True))
        ]
        return cls(low, high, exponent, reached, np.where(mixed, w_min, eps), (condition,))

    @classmethod
    def between(cls, lower: Exact, upper: Exact) -> Box:
        """Cells between sums, as vectors, that were made from bounds for each weight."""
        exponent = min(lower.exponent, upper.exponent)
        low, high = ([c << (x.exponent - exponent) for c in x.integers()] for x in (lower, upper))
        return cls(low, high, exponent)

    # ---- reading ------------------------------------------------------------------------------------

    @cached_property
    def _unit(self) -> int:
        return max(sum(self.high), 1)

    @cached_property
    def floor(self) -> FloatArray:
        """Lower ends as shares of the largest total, rounded down."""
        unit = self._unit
        shares = np.array([c / unit for c in self.low])
        return np.asarray(np.where(shares > 0, down(shares), 0.0))

    @cached_property
    def ceiling(self) -> FloatArray:
        """Upper ends as shares of the largest total, rounded up."""
        unit = self._unit
        shares = np.array([c / unit for c in self.high])
        return np.asarray(np.where([c > 0 for c in self.high], up(shares), 0.0))

    @cached_property
    def fixed(self) -> Array:
        """Cells that do not move."""
        return np.array([a == b for a, b in zip(self.low, self.high, strict=True)])

    def cells(self, position: Sequence[float], reached: bool = True) -> tuple[list[int], int]:
        """Exact sums at a position (0 at the lower, 1 at the upper end of each cell), and their power of two."""
        low = self.reached if reached and self.reached is not None else self.low
        if {0.0, 1.0}.issuperset(position):
            return [b if t else a for a, b, t in zip(low, self.high, position, strict=True)], self.exponent
        # As it stands, not rounded to some bits: a cell that may be 0 can matter at any small part of its largest sum.
        parts = [float(t).as_integer_ratio() for t in position]
        bits = max(q for _, q in parts).bit_length() - 1
        cells = [
            (a << bits) + (p << bits - q.bit_length() + 1) * (b - a)
            for a, b, (p, q) in zip(low, self.high, parts, strict=True)
        ]
        return cells, self.exponent - bits


def boxes_of(table: Table | JointTable, model: str) -> Callable[[float], Box]:
    """Return the boxes of a table, or of the cells of a joint one, by ε, for a model: relative or absolute."""
    sums: Any = table.stack.sums if isinstance(table, Table) else table  # which lists its occupied cells itself
    cells, exponent = sums.w_exact.integers(), sums.w_exact.exponent
    if model == "relative":
        return partial(Box.relative, cells, exponent)
    return partial(Box.absolute, cells, exponent, sums.n, sums.w_min, sums.w_max)


def box_of(table: Table | JointTable, eps: float, model: str) -> Box:
    """Return one of them."""
    return boxes_of(table, model)(eps)


def _whole(x: float, exponent: int) -> int:
    """A float in units of 2**exponent, which divide it."""
    p, q = x.as_integer_ratio()
    return p << (1 - q.bit_length() - exponent)

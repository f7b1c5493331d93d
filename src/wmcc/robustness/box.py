"""The set of tables that can be reached when the weights move: a box, with exact ends.

Each observation is in one cell and moves on its own, so the cells move independently, each between the sum of
the smallest and the sum of the largest weights that its observations may have. The ends are exact integers
in a common unit; the search works on float64 numbers rounded outward from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf, nan
from typing import Any, NamedTuple, cast

import numpy as np

from ..core.arraytypes import Array, FloatArray
from ..core.exact import Exact
from ..core.joint import JointTable, several_predictions
from ..core.labels import listed
from ..core.table import Table, one_table
from ..errors import InputError, InputTypeError, WeightError, WmccError
from ..measures.base import Measure
from ..measures.checks import Model, checked_eps, checked_model
from .interval_arithmetic import down, up


class Condition(NamedTuple):
    """Something that a statement rests on, and whether it holds here."""

    sentence: str
    met: bool


@dataclass(frozen=True, eq=False)
class Box:
    """Occupied cells between ``low`` and ``high``, as lists of integers in a common unit.

    Every table that can be reached has its cells between these.
    """

    low: list[int]
    high: list[int]
    exponent: int
    reached: list[int] | None = None  # lower ends that are certainly reached, where ``low`` may lie beyond what can be
    step: FloatArray | None = None  # by how much each weight of a cell is lowered to get there, where that is not ε
    conditions: tuple[Condition, ...] = ()

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
            "in each cell all weights are above ε or all are below, so its smallest sum is known", not mixed.any()
        )
        if condition.met:
            return cls(low, high, exponent, conditions=(condition,))
        reached = [
            low[i] if not mixed[i] else c - k * whole(least, exponent)
            for i, (c, k, least) in enumerate(zip(cells, counts, w_min.tolist(), strict=True))
        ]
        return cls(low, high, exponent, reached, np.where(mixed, w_min, eps), (condition,))

    @classmethod
    def between(cls, lower: Exact, upper: Exact) -> Box:
        """Cells between sums, as vectors, that were made from bounds for each weight."""
        exponent = min(lower.exponent, upper.exponent)
        return cls(lower.integers(exponent), upper.integers(exponent), exponent)

    # ---- reading ------------------------------------------------------------------------------------

    @cached_property
    def _unit(self) -> int:
        return max(sum(self.high), 1)

    @cached_property
    def floor(self) -> FloatArray:
        """Lower ends as shares of the largest total, rounded down."""
        shares = np.array([c / self._unit for c in self.low])
        return np.asarray(np.where(shares > 0, down(shares), 0.0))

    @cached_property
    def ceiling(self) -> FloatArray:
        """Upper ends as shares of the largest total, rounded up."""
        shares = np.array([c / self._unit for c in self.high])
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
    sums: Any = table.cells.sums if isinstance(table, Table) else table  # which lists its occupied cells itself
    cells, exponent = sums.w_exact.integers(), sums.w_exact.exponent
    if model == "relative":
        return partial(Box.relative, cells, exponent)
    return partial(Box.absolute, cells, exponent, sums.n, sums.w_min, sums.w_max)


def box_of(table: Table | JointTable, eps: float, model: str) -> Box:
    """Return one of them."""
    return boxes_of(table, model)(eps)


EPS = 0.1
"""How far weights may be off, unless the caller says otherwise."""


class WeightBounds(NamedTuple):
    """How far the weights of a table may be off: by ε, or between bounds of their own.

    Parameters
    ----------
    model
        ``"relative"``, ``"absolute"``, or ``"bounds"``.
    eps
        NaN for bounds.
    lower, upper
        Tables of the same rows with the smallest and with the largest weight of each; None is the table itself.
    """

    model: str
    eps: float
    lower: Table | JointTable | None = None
    upper: Table | JointTable | None = None

    @classmethod
    def of(cls, table: Table | JointTable, eps: float | None, model: Model, lower: Any, upper: Any) -> WeightBounds:
        """Read what the caller said of it; bounds that do not fit the table are refused."""
        kind = checked_model(model)
        if lower is None and upper is None:
            return cls(kind, checked_eps(EPS if eps is None else eps, kind))
        if eps is not None or kind != "relative":
            name = "model" if eps is None else "eps"
            raise InputTypeError(
                f"`{name}` and bounds of the weights were given; expected one of them.",
                f"leave out `{name}`: `lower` and `upper` say how far each weight may be off.",
                name,
            )
        bounds = {name: _bound(table, name, x) for name, x in (("lower", lower), ("upper", upper)) if x is not None}
        return cls("bounds", nan, **bounds)

    def box(self, table: Table | JointTable) -> Box:
        """Return the tables that can be reached from this one, of all predictions or of two of them."""
        if self.model != "bounds":
            return box_of(table, self.eps, self.model)
        ends: list[Any] = [table if x is None else x for x in (self.lower, self.upper)]
        if isinstance(table, JointTable):
            ends = [x if x.names == table.names else x.pair(*table.names) for x in ends]
        return Box.between(*(x.cells.sums.w_exact for x in ends))


def _bound(table: Table | JointTable, name: str, given: Any) -> Table | JointTable:
    """Return a table of bounds, if it is one of the same rows and on the right side of their weights."""
    try:
        alone = isinstance(table, Table)
        bound: Any = (
            one_table(given) if alone else given if isinstance(given, JointTable) else several_predictions(given)
        )
    except WmccError as problem:
        raise problem.about(name) from None
    preds = "y_pred" if alone else "predictions"
    hint = f"tabulate the same rows with other weights: {name}=wmcc.tabulate(y_true, {preds}, {name}_weights)."
    if isinstance(table, JointTable) and bound.names != table.names:
        raise InputError(
            f"`{name}` has the predictions {listed(bound.names)}; expected {listed(table.names)}.", hint, name
        )
    cells, bound_cells = table.cells, bound.cells
    if bound.labels != table.labels or bound.rows != table.rows:
        raise InputError(
            f"the table of `{name}` is of other rows: its labels are {listed(bound.labels)} "
            f"and it has {bound.rows:,} rows; expected {listed(table.labels)} and {table.rows:,}.",
            hint,
            name,
        )
    if not (np.array_equal(bound_cells.codes, cells.codes) and np.array_equal(bound_cells.sums.n, cells.sums.n)):
        raise InputError(
            f"the table of `{name}` is of other rows: as many, but with other true or predicted labels.", hint, name
        )
    pair = (bound_cells, cells) if name == "lower" else (cells, bound_cells)
    between = Box.between(*(x.sums.w_exact for x in pair))
    wrong = next((i for i, (a, b) in enumerate(zip(between.low, between.high, strict=True)) if a > b), None)
    if wrong is not None:
        true, *preds_of = (repr(table.labels[k]) for k in cells.codes[:, wrong])
        side = "above" if name == "lower" else "below"
        raise WeightError(
            f"`{name}` is {side} the weights in the cell of true {true}, predicted {', '.join(preds_of)}.",
            "bounds must be such that lower <= weight <= upper.",
            name,
        )
    return cast("Table | JointTable", bound)


def changing_classes(table: Table | JointTable, box: Box, measure: Measure) -> str | None:
    """Say so if weights of the box take a class out of a mean over classes, or bring one in."""
    if measure.has_terms is None:
        return None
    least = box.low if box.reached is None else box.reached  # above 0 where a weight of the cell is
    for has, always, ever in zip(*(_weighty(table, w) for w in (table._weights, least, box.high)), strict=True):
        for k in sorted(ever - always):
            gains = "has rows but no weight, and other weights could give it some"
            how, fewer = ("could lose all its weight", "fewer") if k in has else (gains, "more")
            return f"class {table.labels[k]!r} {how}; then {measure.title} would be a mean over {fewer} classes"
    return None


def _weighty(table: Table | JointTable, weights: Sequence[int]) -> list[set[int]]:
    """Return the classes that have weight in the truth or in a prediction, for each prediction."""
    codes = table.cells.codes[:, np.array([x > 0 for x in weights], dtype=bool)]
    known = len(table.labels) - len(table.void)
    return [{k for k in np.unique(codes[[0, axis]]).tolist() if k < known} for axis in range(1, len(codes))]


def steady_eps(table: Table | JointTable, measure: Measure) -> float:
    """Return the smallest ε of the absolute model with which a mean over classes may lose a class; ∞ if it is none."""
    if measure.has_terms is None:
        return inf
    codes, most = table.cells.codes, table.cells.sums.w_max
    weighty = enumerate(_weighty(table, table._weights), 1)
    return min(float(most[(codes[0] == k) | (codes[axis] == k)].max()) for axis, classes in weighty for k in classes)


def whole(x: float, exponent: int) -> int:
    """A float in units of 2**exponent, which divide it."""
    p, q = x.as_integer_ratio()
    return p << (1 - q.bit_length() - exponent)

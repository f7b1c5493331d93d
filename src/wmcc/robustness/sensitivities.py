"""Which weights matter: the gradient of a measure, cell by cell, and the slope of its worst change."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.labels import Label
from ..core.table import Table, Tabulated, check_matrix, one_table
from ..measures import MEASURES
from ..measures.base import Measure, MeasureName, Shares, TotalWeight, for_tabulated
from ..measures.checks import Model, checked_model, named_measure
from ..measures.stacks import PerCell
from ..present.blocks import Block
from ..present.json_csv import Record, plain
from ..present.result import Result
from ..present.text import decimal, number, percent
from .cells import BoxedCells

SHOWN = 10


class CellInfluence(NamedTuple):
    """What the weights of one cell do.

    Parameters
    ----------
    true, pred
        The cell.
    n, total
        Its rows, and their weight.
    gradient
        Change of the measure per unit of weight added to the cell: the influence of each observation in it.
    effect
        Change of the measure per 100 % more weight of the cell, to first order: total times gradient.
    share
        Its part of the slope of the relative model.
    """

    true: Label
    pred: Label
    n: int
    total: float
    gradient: float
    effect: float
    share: float


@dataclass(frozen=True, repr=False)
class Sensitivity(Result):
    """What `wmcc.sensitivity` returns.

    Parameters
    ----------
    measure, value
        Name of the measure, and its value.
    slope_relative, slope_absolute
        Σ C_ab |∂M/∂C_ab| and Σ n_ab |∂M/∂C_ab|: the largest change of the measure over ε, as ε goes to 0. The second
        is NaN where a class has observations but no weight in truth or prediction: giving it some may be a jump.
    cells
        The cells with observations, those whose weights matter most first.
    labels
        Classes, in the order of the gradient's rows and columns.
    n, total
        Number of rows, and their weight.
    per_total, scale
        The gradient times the total weight, as vectors over the classes; and that weight.
    problem
        Why there is no gradient: the measure is undefined. None if there is one; else slopes are NaN.
    """

    measure: str
    value: float
    slope_relative: float
    slope_absolute: float
    cells: tuple[CellInfluence, ...]
    labels: tuple[Label, ...] = field(repr=False)
    n: int
    total: float
    per_total: PerCell = field(repr=False, compare=False)
    scale: TotalWeight = field(repr=False)
    problem: str | None = None

    @property
    def gradient(self) -> FloatArray:
        """∂M/∂C_ab, K x K."""
        K = len(self.labels)
        check_matrix(K, "read `cells`, which has the slopes of occupied cells, or ask `influence` for those of rows.")
        return self.scale.per_unit(self.per_total.dense())

    def slope(self, model: Model = "relative") -> float:
        """Return the slope for a model."""
        return self.slope_relative if checked_model(model) == "relative" else self.slope_absolute

    def influence(self, y_true: Any, y_pred: Any) -> FloatArray:
        """Return ∂M/∂w for each row: the gradient of its cell; NaN for rows whose labels are not in the table.

        Examples
        --------
        >>> import wmcc
        >>> y_true, y_pred = [0, 1, 1, 2], [0, 1, 2, 2]
        >>> wmcc.sensitivity(wmcc.tabulate(y_true, y_pred)).influence(y_true, y_pred).round(3)
        array([ 0.08,  0.05, -0.18,  0.05])
        """
        from .rows import row_codes  # what reads rows is loaded by who has them

        rows = row_codes(self.labels, y_true, y_pred)
        return np.where((rows >= 0).all(axis=0), self.scale.per_unit(self.per_total.at(*rows)), np.nan)

    _kind = "sensitivity"
    _stored = ("measure", "value", "slope_relative", "slope_absolute", "n", "total", "cells", "problem")

    def blocks(self) -> list[Block]:
        """Return the cells that matter most first, and the slopes of the measure."""
        if self.problem:
            return [Block(notes=[f"{MEASURES[self.measure].title} {decimal(self.value)}; no gradient: {self.problem}"])]
        title = (
            f"{MEASURES[self.measure].title} {decimal(self.value)}; if all weights are off by a small ε it moves by "
            f"up to {number(self.slope_relative)} ε (relative) or {number(self.slope_absolute)} ε (absolute)"
        )
        head = ["True", "Predicted", "Rows", "Weight", "Per unit", "Per 100 %", "Share"]
        rows = []
        for c in self.cells[:SHOWN]:
            numbers = f"{c.n:,}", number(c.total), number(c.gradient), decimal(c.effect), percent(c.share)
            rows.append([str(c.true), str(c.pred), *numbers])
        more = len(self.cells) - SHOWN
        return [Block(title, head, rows, [f"… and {more:,} more cells; CSV and JSON have all."] * (more > 0), texts=2)]

    def records(self) -> list[Record]:
        """Return a row for each cell."""
        return [{"measure": self.measure, **plain(c)} for c in self.cells]


@for_tabulated()
def sensitivity(table: Tabulated, measure: MeasureName | Measure = "ecc") -> Sensitivity:
    """Say which cells' weights a measure depends on most, and how much.

    Parameters
    ----------
    table
        A `wmcc.Table`.
    measure
        As in `wmcc.certify`.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.sensitivity(wmcc.Table.from_counts([[50, 3], [2, 45]]), "mcc")
    MCC 0.8999; if all weights are off by a small ε it moves by up to 0.18972 ε (relative) or 0.18972 ε (absolute)
    True  Predicted  Rows  Weight  Per unit  Per 100 %  Share
    0             1     3       3  -0.01867    -0.0560  29.5 %
    1             1    45      45    0.0011     0.0497  26.2 %
    0             0    50      50    0.0009     0.0452  23.8 %
    1             0     2       2  -0.01943    -0.0389  20.5 %
    """
    given, chosen = one_table(table), named_measure(measure)
    value, problem = chosen.value_or_reason(given)
    if problem is not None:
        none = PerCell(*(np.full(len(given.labels), nan) for _ in range(3)))
        sizes = given.labels, given.rows, given.total
        return Sensitivity(chosen.name, value, nan, nan, (), *sizes, none, TotalWeight(1.0, 0), problem)
    return _sensitivity(given, chosen, value)


@np.errstate(over="ignore", invalid="ignore")
def _sensitivity(table: Table, measure: Measure, value: float) -> Sensitivity:
    labels = table.labels
    cells, sums = BoxedCells.of(table), table.cells.sums
    per_total = measure.slope(Shares.of(table), value)
    slopes, w, n = per_total.at(cells.t, cells.p), sums.w_exact.floats(), sums.n
    scale = TotalWeight.of(table)
    gradient = scale.per_unit(slopes)
    effect = w * gradient
    if not np.isfinite(effect).all():  # weights, or what a unit of them does, are beyond float64; what they do is not
        effect = np.array([x / table.margins.s for x in sums.w_exact.integers()]) * slopes
    slope = float(np.abs(effect).sum())
    shares = np.abs(effect) / slope if slope else np.zeros(len(cells))
    order = np.argsort(-np.abs(effect), kind="stable")
    columns = (x[order].tolist() for x in (cells.t, cells.p, n, w, gradient, effect, shares))
    influences = tuple(CellInfluence(labels[t], labels[p], *rest) for t, p, *rest in zip(*columns, strict=True))
    absolute = float((n * np.abs(gradient)).sum())
    if (table.true_sums[cells.t] == 0).any() or (table.pred_sums[cells.p] == 0).any():
        absolute = nan
    sizes = table.rows, table.total
    return Sensitivity(measure.name, value, slope, absolute, influences, labels, *sizes, per_total, scale)

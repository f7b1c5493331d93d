"""Which weights matter: the gradient of a measure, cell by cell, and the slope of its worst change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..arraytypes import FloatArray
from ..labels import Label
from ..measures import MEASURES
from ..measures.base import Measure, Shares
from ..table import Table
from ..text import decimal, grid, html, number
from .request import Model, checked_model, request
from .witness import row_values

SHOWN = 10


class CellInfluence(NamedTuple):
    """What the weights of one cell do.

    Parameters
    ----------
    true, pred
        The cell.
    n, weight
        Its observations, and their total weight.
    gradient
        Change of the measure per unit of weight added to the cell: the influence of each observation in it.
    effect
        Change of the measure per 100 % more weight of the cell, to first order: weight times gradient.
    share
        Its part of the slope of the relative model.
    """

    true: Label
    pred: Label
    n: int
    weight: float
    gradient: float
    effect: float
    share: float


@dataclass(frozen=True, repr=False)
class Sensitivity:
    """What `wmcc.sensitivity` returns.

    Parameters
    ----------
    measure, value
        Name of the measure, and its value.
    gradient
        ∂M/∂C_ab, K x K.
    slope_relative, slope_absolute
        Σ C_ab |∂M/∂C_ab| and Σ n_ab |∂M/∂C_ab|: the largest change of the measure over ε, as ε goes to 0. The second
        is NaN where a class has observations but no weight in truth or prediction: giving it some may be a jump.
    cells
        The cells with observations, those whose weights matter most first.
    """

    measure: str
    value: float
    gradient: FloatArray
    slope_relative: float
    slope_absolute: float
    cells: tuple[CellInfluence, ...]
    labels: tuple[Label, ...] = field(repr=False)

    def slope(self, model: Model = "relative") -> float:
        """Return the slope for a model."""
        return self.slope_relative if checked_model(model) == "relative" else self.slope_absolute

    def influence(self, y_true: Any, y_pred: Any) -> FloatArray:
        """Return ∂M/∂w for each row: the gradient of its cell; NaN for rows whose labels are not in the table.

        Examples
        --------
        >>> import wmcc
        >>> y_true, y_pred = [0, 1, 1, 2], [0, 1, 2, 2]
        >>> wmcc.sensitivity(y_true, y_pred, measure="ecc").influence(y_true, y_pred).round(3)
        array([ 0.08,  0.05, -0.18,  0.05])
        """
        return row_values(self.gradient, self.labels, y_true, y_pred)

    def _rows(self) -> list[list[str]]:
        head = ["True", "Predicted", "Rows", "Weight", "Per unit", "Per 100 %", "Share"]
        body = [
            [
                str(c.true),
                str(c.pred),
                f"{c.n:,}",
                number(c.weight),
                number(c.gradient),
                decimal(c.effect),
                f"{c.share:.1%}",
            ]
            for c in self.cells[:SHOWN]
        ]
        return [head, *body]

    def _notes(self) -> list[str]:
        slopes = (
            f"{MEASURES[self.measure].title} {decimal(self.value)}; if all weights are off by a small ε it moves by "
            f"up to {number(self.slope_relative)} ε (relative) or {number(self.slope_absolute)} ε (absolute)"
        )
        more = len(self.cells) - SHOWN
        return [slopes] + ([f"… and {more} more cells"] if more > 0 else [])

    def __repr__(self) -> str:
        notes = self._notes()
        return "\n".join([notes[0], "", grid(self._rows()), *notes[1:]])

    def _repr_html_(self) -> str:
        title, *notes = self._notes()
        return html({title: self._rows()}, notes)


def sensitivity(
    y_true: Any,
    y_pred: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    measure: str | Measure = "ecc",
    **options: Any,
) -> Sensitivity:
    """Say which cells' weights a measure depends on most, and how steeply.

    Parameters
    ----------
    y_true, y_pred, sample_weight, weight, **options
        A table, and then maybe the measure; or what `wmcc.tabulate` takes.
    measure
        As in `wmcc.certify`.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.sensitivity(wmcc.Table.from_counts([[50, 3], [2, 45]]), "mcc")
    MCC 0.8999; if all weights are off by a small ε it moves by up to 0.18972 ε (relative) or 0.18972 ε (absolute)
    <BLANKLINE>
    True  Predicted  Rows  Weight  Per unit  Per 100 %  Share
    0             1     3       3  -0.01867    -0.0560  29.5%
    1             1    45      45    0.0011     0.0497  26.2%
    0             0    50      50    0.0009     0.0452  23.8%
    1             0     2       2  -0.01943    -0.0389  20.5%
    """
    table, named = request(y_true, y_pred, sample_weight, weight, options, {"measure": measure})
    return _sensitivity(table, named["measure"])


@np.errstate(over="ignore", invalid="ignore")
def _sensitivity(table: Table, measure: Measure) -> Sensitivity:
    gradient = measure.gradient(table)
    effect = table.w * gradient
    if not np.isfinite(effect).all():  # weights, or what a unit of them does, are beyond float64; what they do is not
        shares = [[x / table.margins.s for x in row] for row in table.w_exact.integers()]
        effect = np.array(shares) * measure.slope(Shares.of(table), measure(table)).dense()
    slope = float(np.abs(effect).sum())
    order = np.argsort(-np.abs(effect), axis=None, kind="stable")
    occupied = [divmod(int(i), len(table.labels)) for i in order if table.n.flat[i]]
    cells = tuple(
        CellInfluence(
            table.labels[a],
            table.labels[b],
            int(table.n[a, b]),
            float(table.w[a, b]),
            float(gradient[a, b]),
            float(effect[a, b]),
            float(abs(effect[a, b]) / slope) if slope else 0.0,
        )
        for a, b in occupied
    )
    absolute = float((table.n * np.abs(gradient)).sum())
    for axis, weights in ((1, table.true_sums), (0, table.pred_sums)):
        if ((table.n.sum(axis) > 0) & (weights == 0)).any():
            absolute = np.nan
    return Sensitivity(measure.name, measure(table), gradient, slope, absolute, cells, table.labels)

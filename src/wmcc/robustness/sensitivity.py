"""Which weights matter: the gradient of a measure, cell by cell, and the slope of its worst change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.labels import Label
from ..core.table import Table, check_matrix
from ..measures import MEASURES
from ..measures.base import Measure, Shares
from ..measures.stacks import PerCell
from ..present.text import decimal, grid, html, number
from .cells import Cells
from .request import Model, checked_model, request
from .witness import row_codes

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
    slope_relative, slope_absolute
        Σ C_ab |∂M/∂C_ab| and Σ n_ab |∂M/∂C_ab|: the largest change of the measure over ε, as ε goes to 0. The second
        is NaN where a class has observations but no weight in truth or prediction: giving it some may be a jump.
    cells
        The cells with observations, those whose weights matter most first.
    labels
        Classes, in the order of the gradient's rows and columns.
    per_total, total
        The gradient times the total weight, as vectors over the classes; and that weight as a float and a power of two.
    """

    measure: str
    value: float
    slope_relative: float
    slope_absolute: float
    cells: tuple[CellInfluence, ...]
    labels: tuple[Label, ...] = field(repr=False)
    per_total: PerCell = field(repr=False, compare=False)
    total: tuple[float, int] = field(repr=False)

    @property
    def gradient(self) -> FloatArray:
        """∂M/∂C_ab, K x K."""
        K = len(self.labels)
        check_matrix(K, "read `cells`, which has the slopes of occupied cells, or ask `influence` for those of rows.")
        return _per_unit(self.per_total.dense(), self.total)

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
        rows = row_codes(self.labels, y_true, y_pred)
        return np.where((rows >= 0).all(axis=0), _per_unit(self.per_total.at(*rows), self.total), np.nan)

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
    value, s, labels = measure(table), table.margins.s, table.labels
    cells, sums = Cells.of(table), table.stack.sums
    per_total = measure.slope(Shares.of(table), value)
    slopes, w, n = per_total.at(cells.t, cells.p), sums.w_exact.floats(), sums.n
    bits = s.bit_length()
    total = s / (1 << bits), bits + sums.w_exact.exponent
    gradient = _per_unit(slopes, total)
    effect = w * gradient
    if not np.isfinite(effect).all():  # weights, or what a unit of them does, are beyond float64; what they do is not
        effect = np.array([x / s for x in sums.w_exact.integers()]) * slopes
    steepness = float(np.abs(effect).sum())
    shares = np.abs(effect) / steepness if steepness else np.zeros(len(cells))
    order = np.argsort(-np.abs(effect), kind="stable")
    columns = (x[order].tolist() for x in (cells.t, cells.p, n, w, gradient, effect, shares))
    influences = tuple(CellInfluence(labels[t], labels[p], *rest) for t, p, *rest in zip(*columns, strict=True))
    absolute = float((n * np.abs(gradient)).sum())
    if (table.true_sums[cells.t] == 0).any() or (table.pred_sums[cells.p] == 0).any():
        absolute = np.nan
    return Sensitivity(measure.name, value, steepness, absolute, influences, labels, per_total, total)


def _per_unit(slopes: FloatArray, total: tuple[float, int]) -> FloatArray:
    """Slopes per unit of weight; divided in two steps, since the total itself may be beyond the largest float64."""
    size, power = total
    return np.asarray(np.ldexp(slopes / size, -power))

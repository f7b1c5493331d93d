"""Numbers of a map with their sampling errors, under the names of the trade."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import isnan, nan
from typing import Any, Literal

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.labels import Label
from ..core.table import Margins, Table
from ..inference.estimate import Interval, estimate
from ..inference.influence import Sample
from ..inference.pivot import student
from ..measures import MEASURES
from ..measures.base import Measure, OnZero, Shares
from ..measures.stacks import PerCell, itself, per_table
from ..present.text import decimal, number

TITLES = {
    **{name: measure.title for name, measure in MEASURES.items()},
    "overall_accuracy": "Overall accuracy",
    "users_accuracy": "User's accuracy",
    "producers_accuracy": "Producer's accuracy",
    "f1": "F1",
    "area": "Area",
    "area_share": "Share of the area",
    "quantity": "Quantity disagreement",
    "allocation": "Allocation disagreement",
    "exchange": "Exchange",
    "shift": "Shift",
}
"""What numbers of a map are called."""

CLASSIFIER_NAMES = {"overall_accuracy": "accuracy", "users_accuracy": "precision", "producers_accuracy": "recall"}
"""Measures of a map that have another name in `wmcc.measures.MEASURES` or among the measures of a class."""


@dataclass(frozen=True, repr=False)
class Estimate(Interval):
    """A number of a map, with its standard error and interval: part of what `wmcc.map_accuracy` returns.

    Parameters
    ----------
    measure
        What it is: ``"overall_accuracy"``, ``"users_accuracy"``, ``"producers_accuracy"``, ``"f1"``, ``"area"``,
        ``"area_share"``, ``"quantity"``, ``"allocation"``, ``"exchange"``, ``"shift"``, or a name in
        `wmcc.measures.MEASURES`.
    value, low, high, se
        The number, the ends of its interval and its standard error, in `unit` if it is an area.
    unit
        The unit of an area, if it was given.
    known
        Whether it was counted on a whole map, and not estimated from a sample: then its standard error is 0, and both
        ends of the interval are the number.
    confidence_level, method, df, n, n_eff, total, clusters, clusters_eff, strata, warnings, problem, label
        As in `wmcc.results.Interval`.
    """

    unit: str | None = None
    known: bool = False

    _kind = "estimate"
    _stored = (*Interval._stored, "margin", "unit")

    @classmethod
    def of(
        cls, found: Interval, measure: str, label: Label | None = None, factor: float = 1.0, unit: str | None = None
    ) -> Estimate:
        """Make one of an interval; an area is a share times the area of the map."""
        known: dict[str, Any] = {own.name: getattr(found, own.name) for own in fields(Interval)}
        known |= {"measure": measure, "label": label, "unit": unit}
        known |= {name: factor * known[name] for name in ("value", "low", "high", "se")}
        return cls(**known)

    def counted(self) -> Estimate:
        """Return the same number without a sampling error."""
        exact: dict[str, Any] = {"se": 0.0, "low": self.value, "high": self.value, "df": nan}
        return replace(self, **exact, warnings=(), problem=None, known=True)

    @property
    def status(self) -> Literal["reliable", "unreliable", "not estimable", "known"]:  # type: ignore[override]
        """``"reliable"``, ``"unreliable"`` or ``"not estimable"``; ``"known"`` if it was counted."""
        return "known" if self.known else super().status

    @property
    def margin(self) -> float:
        """Margin of error: the standard error times the quantile of Student's distribution.

        It is half the width of the symmetric interval, value ± margin, that is usual in reports on maps. `low` and
        `high` are not symmetric, as estimates near 0 or 1 are skewed.
        """
        if self.known:
            return 0.0
        _, quantile = student()
        return float(-quantile(self.df, (1 - self.confidence_level) / 2)) * self.se

    @property
    def title(self) -> str:
        """What it is, and of which class."""
        return TITLES[self.measure] + ("" if self.label is None else f" of {self.label}")

    def text(self, x: float) -> str:
        """Write a number of this kind."""
        return number(x) if self.measure == "area" else decimal(x)

    @property
    def ends(self) -> str:
        """The ends for a table of numbers, with an asterisk where there is a warning or a problem."""
        if self.problem:
            return "not estimable *"
        return f"{self.text(self.low)} to {self.text(self.high)}" + " *" * bool(self.warnings)

    def sentences(self) -> list[str]:
        """Return the number and its interval in a sentence."""
        value = self.text(self.value) + (f" {self.unit}" if self.unit else "")
        if self.known:
            return [f"{self.title} {value}, counted on the whole map"]
        if self.problem:
            return [f"{self.title} {value}, interval not estimable: {self.problem}"]
        error = "" if isnan(self.se) else f" (se {self.text(self.se)})"
        level = f"{number(100 * self.confidence_level)} % interval"
        return [f"{self.title} {value}, {level} {self.text(self.low)} to {self.text(self.high)}{error}"]


def _share(letter: str) -> Measure:
    """Return the share of the first of two classes in the rows of their table, r, or in the columns, q."""
    axis = "rq".index(letter)

    def value(m: Margins, zero: OnZero) -> float:
        return (m.r, m.q)[axis][0] / m.s

    def terms(x: Shares) -> tuple[FloatArray, ...]:
        return ((x.r, x.q)[axis][..., :1],)

    def slope(x: Shares, value: Any) -> PerCell:
        none, first = np.zeros_like(x.r), np.array([1.0, 0.0])
        whole = none - per_table(value)
        return PerCell(whole + first, none, none) if axis == 0 else PerCell(whole, none + first, none)

    about = "Share of the weight that the first of two classes has."
    title = TITLES["area_share"]
    return Measure(
        "area_share", title, f"{letter} / s", (0.0, 1.0), value, terms, itself, slope, about, symmetric=False
    )


SHARE_OF_TRUE, SHARE_OF_PRED = _share("r"), _share("q")


def share_interval(two: Sample[Table], level: float) -> Interval:
    """Interval of the share of a class in the reference labels, from the table of the class and the rest.

    What a sample may have missed is places of another reference class. In strata, inference looks for them there. Of
    other samples it looks for other *predictions* of a true class, so map and reference change their places.
    """
    if two.strata is not None:
        return estimate(two, SHARE_OF_TRUE, level)
    table = two.table
    axes = [1, 0, *range(2, len(table.raw_cells.codes))]
    by_map = Table(table.labels, table.raw_cells.along(axes), table.ignored, None, table.drawn)
    return estimate(Sample.of(by_map), SHARE_OF_PRED, level)

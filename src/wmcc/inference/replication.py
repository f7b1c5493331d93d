"""The sampling error by replicate weights: how a score varies when each column of them replaces the weights.

V = Σ a·(θ_r − θ)² over the replicates r, with factors a that follow from how they were made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.design import ROWS
from ..core.joint import JointTable
from ..core.stack import Stack
from ..core.sums import Sums
from ..core.table import Table
from ..measures.base import Measure, Shares
from .cells import CellSums, Precision, Unit

if TYPE_CHECKING:
    from .influence import Sample

JACKKNIFE = ("jk1", "jkn")
"""Replicates that each leave out one unit, so that a unit that decides the score is seen in how far it moves it."""


class Replication:
    """A table with each of its columns of replicate weights in place of the weights."""

    def __init__(self, table: Table | JointTable) -> None:
        replicates, sums = table.drawn.replicates, table.cells.sums
        assert replicates is not None
        self._sums = sums.replicates
        self.method: str = replicates.method
        self.df: float = replicates.df
        self.scales: FloatArray = np.array(replicates.scales)
        self.count: int = len(self.scales)
        self._known = len(table.classes)
        totals = [replicate.total() for replicate in self._sums]
        self._empty = [r for r, total in enumerate(totals, 1) if total == 0]
        self.shares: FloatArray = np.array([Unit.of(replicate).shares(replicate) for replicate in self._sums])
        self._uneven = 0.0 if self._empty else self._variance_of_total(totals)

    @property
    def problem(self) -> str | None:
        """Why there is no standard error, whatever the measure; None if there is one."""
        if not self._empty:
            return None
        return f"no row of the table has weight in replicate {self._empty[0]:,} of {self.count:,}"

    def moved(self, measure: Measure, sample: Sample[Table], value: float) -> tuple[FloatArray, str | None]:
        """By how much each of the replicates moves a score; and why the score is undefined with one, or None."""
        scores = self.values(measure, sample.cells)
        return scores - value, self._undefined(measure, sample.table, scores)

    def values(self, measure: Measure, cells: CellSums) -> FloatArray:
        """Return the score with each of the replicates; a mean over classes is over those that have weight there."""
        x = Shares.of_some_cells(self.shares, cells.codes, cells.classes, cells.counted)
        known = slice(self._known)
        there: Any = np.maximum(((x.r[:, known] > 0) | (x.q[:, known] > 0)).sum(axis=1), 1)
        return measure.near(x._replace(classes=there))

    def _undefined(self, measure: Measure, table: Table, values: FloatArray) -> str | None:
        """Say so if the measure is undefined with the weights of a replicate: there it is 0 by convention."""
        for r in np.flatnonzero((values == 0) | ~np.isfinite(values)).tolist():
            n, *_, low, high, _ = table.cells.sums
            replicate = self._sums[r]
            cells = Stack(table.cells.codes, Sums(n, replicate, replicate, low, high))
            _, reason = measure.value_or_reason(replace(table, raw_cells=cells, drawn=ROWS))
            if reason is not None:
                return f"with the weights of replicate {r + 1:,} of {self.count:,}, {reason}"
        return None

    def _variance_of_total(self, totals: list[int]) -> float:
        """Variance of the total weight, as a share of its square: 0 where units of a stratum are of equal weight."""
        least = min(replicate.exponent for replicate in self._sums)
        same = [
            total << (replicate.exponent - least) for total, replicate in zip(totals, self._sums, strict=True)
        ]  # in one unit
        whole = sum(same)
        apart = np.array([(len(same) * total - whole) / whole for total in same])
        return float(self.scales @ apart**2)

    def precision(self, moved: FloatArray) -> Precision:
        """Variance and degrees of freedom, from how far each replicate moves the score.

        Uneven units leave fewer degrees of freedom than there are units, and pull the score towards themselves. How
        uneven they are is seen in the total weight, which varies with them. Replicates that were drawn at random add
        an error of their own.
        """
        parts = self.scales * moved**2
        variance = float(parts.sum())
        lost = 1 / self.df + self._uneven + (1 / (self.count - 1) if self.method == "bootstrap" else 0.0)
        df = 1 / lost
        if self.method in JACKKNIFE:
            noise = float((parts**2).sum()) - variance**2 / self.count
            df = min(df, 2 * variance**2 / noise) if noise > 0 else df
        return Precision(variance, max(df, 1.0), (1 + 2 * self._uneven) ** 0.5)

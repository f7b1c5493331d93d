"""How much each row, or each cluster of rows, moved a score: what standard errors are made of.

A score M of a table does not change when all weights are scaled, so a row of weight w in a cell where the slope of M is
g moved it by u = w·g, and the u of all rows add up to zero. Var(M) ≈ Σu². Everything is in units of the total weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ..core.arraytypes import FloatArray, IndexArray, IntArray
from ..core.joint import JointTable
from ..core.keys import Key
from ..core.stack import numbered
from ..core.table import Table
from ..measures.base import Shares, check_scorable
from ..measures.stacks import total
from ..present.result import Delegate
from .cells import TINY, CellSums, Precision, Unit
from .fisher import Moves
from .reliability import LIGHTEST, PAIRED, TOO_LIGHT, doubts_of, too_few
from .replication import Replication
from .strata import StratifiedSample

ENOUGH_FREE = 20.0
"""Degrees of freedom below which the estimate of their number is not used.

The estimate is made of fourth powers of weights, and is mostly noise where a few heavy rows decide it. Of the limits
that were tried this one has the least interval score among those whose coverage stays at its level:
docs/understand/coverage.md.
"""


def free(estimate: Any, n_eff: Any) -> Any:
    """Degrees of freedom of a variance: as estimated or `ENOUGH_FREE`, and fewer only where rows or clusters are."""
    if isinstance(n_eff, float):  # of one table
        return min(max(estimate, ENOUGH_FREE), max(n_eff - 1, 1.0))
    return np.minimum(np.maximum(estimate, ENOUGH_FREE), np.maximum(n_eff - 1, 1.0))


def dense_shares(table: Table) -> FloatArray:
    """Shares of the total weight, K x K."""
    cells, K = CellSums.of(table), len(table.labels)
    out = np.zeros((K, K))
    out[tuple(cells.codes)] = cells.w
    return out


def class_shares(table: Table, axis: int) -> FloatArray:
    """Shares of the weight of each true class (axis 1) or predicted class (0); NaN where it has none."""
    w = table.w if np.isfinite(table.w).all() else dense_shares(table)
    most = w.max(axis=axis, keepdims=True)  # divided by first: a sum may be too large or too small
    w = np.divide(w, most, out=np.full_like(w, np.nan), where=most > 0)
    return np.asarray(w / w.sum(axis=axis, keepdims=True))


def of_rows(slope: FloatArray, cells: CellSums) -> Precision:
    """Precision of a score of independent rows, from the sums of their cells. Leading axes are a stack of tables."""
    n, squares, fourths = cells.powers
    u = slope * cells.w_max  # of the heaviest row
    square = u * u
    part = square * squares * n
    variance = total(part)
    # The transformation of the score takes care of the numbers of rows, which vary; their weights make Σu² vary more.
    excess = total(part * square * (fourths - squares))
    return Precision(variance, free(2 * variance * variance / np.maximum(excess, TINY), cells.n_eff))


def of_clusters(slope: FloatArray, clusters: Clusters) -> Precision:
    """Precision of a score of independent clusters: the variance of the jackknife, whatever happens within them.

    A cluster pulls the score towards itself. Without it the score would be other by u / (1 − p), to first order, where
    p is its share of the weight; the jackknife adds up the squares of that, times (G − 1) / G. For clusters of equal
    weight that is Σu² G / (G − 1), as usual.
    """
    u = clusters.influences(slope)
    G, square = len(u), (u * u).sum()
    noise = max((u**4).sum() - square**2 / G, TINY)
    without = u / (1 - clusters.shares)
    variance = (without * without).sum() * (G - 1) / G
    return Precision(variance, free(2 * square**2 / noise, clusters.n_eff))


class Clusters:
    """Clusters of the rows of a table, which has so many occupied cells.

    ``places`` are those of the table's clusters that have weight; the others do not count. Each cell of each cluster
    has its cluster's number, ``owner``, the place of ``cell`` among the table's, and its share ``w`` of the weight.
    """

    def __init__(self, cells: int, places: IndexArray, owner: IntArray, cell: IntArray, w: FloatArray) -> None:
        self.places: IndexArray = places
        self.count: int = len(places)
        self._cells = cells
        self._owner, self._cell, self._w = owner, cell, w

    @classmethod
    def of(cls, table: Table | JointTable) -> Clusters:
        """Clusters of a table that was drawn in clusters."""
        stack = table.raw_cells
        owner, sums = stack.codes[-1], stack.sums
        _, cell = numbered(stack.codes[:-1])
        weighing = np.zeros(int(owner.max(initial=-1)) + 1, dtype=bool)
        weighing[owner[sums.w_max > 0]] = True
        number = np.cumsum(weighing) - 1
        kept = weighing[owner]
        w = Unit.of(sums.w_exact).shares(sums.w_exact)
        return cls(len(table.cells), np.flatnonzero(weighing), number[owner[kept]], cell[kept], w[kept])

    def within(self, places: IntArray, cells: int) -> Clusters:
        """Return the clusters of a part of the rows, in units of its weight.

        ``places`` says which of its cells each of the whole table's is in, −1 for those that are in none.
        """
        cell = places[self._cell]
        kept = (cell >= 0) & (self._w > 0)
        owners, owner = np.unique(self._owner[kept], return_inverse=True)
        w = self._w[kept]
        return Clusters(cells, self.places[owners], owner, cell[kept], w / w.sum())

    @cached_property
    def shares(self) -> FloatArray:
        """Share of the weight of each cluster."""
        return np.asarray(np.bincount(self._owner, self._w, self.count), dtype=np.float64)

    @property
    def n_eff(self) -> float:
        """Effective number of clusters, (Σw)² / Σw² of their weights."""
        w = self.shares
        return float(w.sum() ** 2 / (w * w).sum()) if self.count else 0.0

    def influences(self, slope: FloatArray) -> FloatArray:
        """Σ w·slope over the rows of each cluster."""
        return np.asarray(np.bincount(self._owner, slope[self._cell] * self._w, self.count), dtype=np.float64)

    def sum_of(self, factors: FloatArray) -> FloatArray:
        """Return the sum of the clusters' cells, each times its factor; a stack of sums for a stack of factors."""
        stack = np.atleast_2d(factors)
        out = [np.bincount(self._cell, f[self._owner] * self._w, self._cells) for f in stack]
        return np.array(out, dtype=np.float64).reshape(*np.shape(factors)[:-1], self._cells)


T = TypeVar("T", Table, JointTable)


@dataclass(frozen=True)
class Sample(Generic[T]):
    """A table, which has weight, and what was drawn for it: its rows, clusters of them, or either in strata."""

    table: T
    cells: CellSums
    clusters: Clusters | None  # if clusters were drawn, and there are no strata
    n_eff: float  # effective number of what was drawn: (Σw)² / Σw²
    strata: StratifiedSample | None = None
    replication: Replication | None = None  # if replicate weights say how precise it is

    @classmethod
    def of(cls, table: T) -> Sample[T]:
        """Return the sample of a table; one of a single prediction without weight is refused."""
        if isinstance(table, Table):
            check_scorable(table)
        cells, kind = CellSums.of(table), table.drawn.kind
        if kind == "clusters":
            clusters = Clusters.of(table)
            return cls(table, cells, clusters, clusters.n_eff)
        if kind == "strata":
            strata = StratifiedSample(table)
            return cls(table, cells, None, strata.n_eff, strata)
        n_eff = float(1 / total(cells.w2))
        return cls(table, cells, None, n_eff, None, Replication(table) if kind == "replicates" else None)

    @cached_property
    def shares(self) -> Shares:
        """Shares of the classes, in a table of one prediction: the same for all measures."""
        assert isinstance(self.table, Table)
        return Shares.of(self.table)

    @cached_property
    def moves(self) -> Moves:
        """How weight may be moved in a table of one prediction: the same for all measures."""
        return Moves.between(self.cells)

    @cached_property
    def count(self) -> int:
        """How many rows or clusters were drawn."""
        if self.strata is not None:
            return self.strata.count
        return self.table.rows if self.clusters is None else self.clusters.count

    @cached_property
    def what(self) -> str:
        """What they are called."""
        return "clusters" if self.drawn_clusters is not None else "rows"

    by_design: ClassVar[Delegate[bool]] = Delegate(
        "table.drawn.by_design", "Whether a design says what was drawn, of the table or not."
    )

    @cached_property
    def drawn_clusters(self) -> int | None:
        """How many clusters were drawn; None if rows were."""
        nested = self.strata is not None and self.strata.nested
        return self.count if nested or self.clusters is not None else None

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Why no sampling error of the table can be relied on, whatever is estimated; a sentence at most."""
        return doubts_of(self.table.drawn)

    @cached_property
    def sizes(self) -> tuple[int, float, float, int | None, int | None, int | None]:
        """What an interval has of it: rows, effective rows, weight, clusters, strata, replicates."""
        n_eff = self.n_eff if self.drawn_clusters is None else self.table.n_eff
        n_eff = nan if self.table.drawn.kind == "pairs" else n_eff
        return self.table.rows, n_eff, self.table.total, self.drawn_clusters, self.drawn_strata, self.drawn_replicates

    @property
    def clusters_eff(self) -> float | None:
        """Effective number of clusters; None if rows were drawn."""
        return None if self.drawn_clusters is None else self.n_eff

    @cached_property
    def problem(self) -> str | None:
        """Why nothing that is estimated from the sample has a standard error; None if it may have one."""
        if self.strata is not None:
            return self.strata.problem
        return self.few if self.replication is None else self.replication.problem

    @cached_property
    def few(self) -> str | None:
        """Say so if there are too few rows or clusters to see how they vary; a design has reasons of its own."""
        return None if self.by_design else too_few(self.count, self.what, self.n_eff)

    @cached_property
    def problem_of_scores(self) -> str | None:
        """Why no score of the table of one prediction has a standard error; None if it may have one."""
        assert isinstance(self.table, Table)
        if self.table.drawn.kind == "pairs":
            return PAIRED
        m = self.table.margins
        # Where no class is too light, all but one are not either. The total is a number of units, and mostly of few.
        light = m.s > LIGHTEST and any(0 < x * LIGHTEST < m.s for margin in (m.r, m.q) for x in margin)
        of_design = self.problem if self.by_design else None
        return of_design or (TOO_LIGHT if light else self.problem)

    @cached_property
    def draws(self) -> float:
        """How many independent draws of equal weight there were, at most."""
        return self.n_eff if self.replication is None else min(self.n_eff, self.replication.df + 1)

    @cached_property
    def drawn_strata(self) -> int | None:
        """How many strata they were drawn in; None if there are none."""
        design = self.table.drawn.design
        return None if design is None or design.strata == ((),) else len(design.strata)

    @cached_property
    def drawn_replicates(self) -> int | None:
        """How many replicate weights there are; None if there are none."""
        replicates = self.table.drawn.replicates
        return None if replicates is None else len(replicates.scales)

    def without_each(self, slope: FloatArray) -> dict[Key, float]:
        """By how much the score would be lower without each cluster, to first order, by their keys."""
        clusters, keys = self.clusters, self.table.drawn.clusters
        if clusters is None:
            return {}
        u = clusters.influences(slope) / (1 - clusters.shares)
        return dict(zip((keys[k] for k in clusters.places.tolist()), u.tolist(), strict=True))

    def precision(self, slope: FloatArray) -> Precision:
        """How precise a score is, from the slopes of the occupied cells."""
        if self.strata is not None:
            return self.strata.precision(self.strata.moments(slope))
        if self.replication is not None:
            return self.replication.precision(self.replication.shares @ slope)
        return of_rows(slope, self.cells) if self.clusters is None else of_clusters(slope, self.clusters)

    def precision_of_difference(self, slope: FloatArray) -> Precision:
        """How precise a difference of two scores is, from the differences of the slopes of the occupied cells.

        Heavy rows move the difference and its standard error alike, which makes their quotient less extreme, not more:
        so the degrees of freedom are those of the rows or clusters, and no fewer.
        """
        precision = self.precision(slope)
        return precision if self.by_design else precision._replace(df=max(self.n_eff - 1, 1.0))

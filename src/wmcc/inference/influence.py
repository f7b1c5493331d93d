"""How much each row, or each cluster of rows, moved a score: what standard errors are made of.

A score M of a table does not change when all weights are scaled, so a row of weight w in a cell where the slope of M is
g moved it by u = w·g, and the u of all rows add up to zero. Var(M) ≈ Σu². Everything is in units of the total weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..core.arraytypes import FloatArray, IndexArray, IntArray
from ..core.exact import FEW, Exact
from ..core.joint import JointTable
from ..core.keys import Key
from ..core.table import Table
from ..measures.base import check_scorable
from ..measures.stacks import at_least, over, root, total

TINY = 1e-300


class Unit(NamedTuple):
    """The total weight, as an integer times a power of two."""

    s: int
    exponent: int

    @classmethod
    def of(cls, w: Exact) -> Unit:
        """Return the sum of all; 1 if there is none."""
        return cls(w.total() or 1, w.exponent)

    def shares(self, x: Exact, power: int = 1) -> FloatArray:
        """Return a vector of sums of weights, or of a power of them, as shares of the total, whatever its size."""
        whole = self.s**power
        bits = whole.bit_length()
        return x.times((1 << bits) / whole, -power * self.exponent - bits)

    def of_few(self, x: list[int], exponent: int, power: int = 1) -> FloatArray:
        """As `shares`, of integers: Python rounds their quotients correctly, and once."""
        whole, shift = self.s**power, exponent - power * self.exponent
        if shift > 0:
            x = [own << shift for own in x]
        elif shift < 0:
            whole <<= -shift
        return np.array([own / whole for own in x])

    def largest(self, x: FloatArray) -> FloatArray:
        """Return single weights as shares of the total."""
        bits = self.s.bit_length()
        return np.asarray(np.ldexp(x, -self.exponent - bits) * ((1 << bits) / self.s))


class CellSums(NamedTuple):
    """Sums of the occupied cells of a table, in units of its total weight. Leading axes are a stack of tables."""

    n: IntArray
    w: FloatArray
    w2: FloatArray
    w_max: FloatArray
    codes: IntArray  # positions of the classes of each cell: a row for the true class, and for each prediction
    classes: int
    counted: int  # how many of the classes a mean over classes runs over

    @classmethod
    def of(cls, table: Table | JointTable) -> CellSums:
        """Return those of a table, in the order of its stack."""
        codes, sums = table.stack.codes, table.stack.sums
        exact, squares = sums.w_exact, sums.w2_exact
        if len(sums.n) <= FEW:
            unit = Unit(sum(table._weights) or 1, exact.exponent)
            w = unit.of_few(table._weights, exact.exponent)
            w2 = unit.of_few(squares.integers(), squares.exponent, 2)
        else:
            unit = Unit.of(exact)
            w, w2 = unit.shares(exact), unit.shares(squares, 2)
        counted = table.margins.classes if isinstance(table, Table) else len(table.labels)
        return cls(sums.n, w, w2, unit.largest(sums.w_max), codes, len(table.labels), counted)

    def some(self, which: Any) -> CellSums:
        """Return some tables of a stack."""
        return self._replace(n=self.n[which], w=self.w[which], w2=self.w2[which], w_max=self.w_max[which])


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


class Influence(NamedTuple):
    """What the influences u of all rows or clusters add up to."""

    variance: Any  # Σu²
    skewness: Any  # Σu³ / (Σu²)^{3/2}
    df: Any  # degrees of freedom of the variance, as far as uneven weights limit them
    direction: FloatArray  # where cells move if each row or cluster counts more in proportion to its u: Σ u·(its cells)


def balance(slope: FloatArray, cells: CellSums) -> FloatArray:
    """Return slopes of which the heaviest cell's follows from the others', since Σ w·slope = 0.

    Where a cell holds nearly all of the weight, its own slope is what rounding left of large numbers.
    """
    out, w = np.array(slope), cells.w
    heaviest: Any = w.argmax(axis=-1)
    if w.ndim > 1:
        heaviest = np.arange(len(w)), heaviest
    out[heaviest] = 0.0
    out[heaviest] = -total(out * w) / w[heaviest]
    return out


def of_rows(slope: FloatArray, cells: CellSums) -> Influence:
    """Influence of rows, from the sums of their cells. Leading axes are a stack of tables.

    A table has no Σw³ and no Σw⁴. Per cell they are taken to be those of log-normal weights of the same n, Σw and Σw²,
    and are kept within what n, Σw, Σw² and the largest weight allow.
    """
    most, n = cells.w_max, np.maximum(cells.n, 1.0)  # in float64: powers of a number of rows go beyond 64 bits
    unit = np.maximum(most, TINY)
    w = np.maximum(cells.w, unit)  # which it is, but for rounding
    mean = w / unit / n
    # n Σw² / (Σw)²: the Σw² of weights that hardly count may be lost, and is as small as it can be.
    uneven = np.maximum(cells.w2 / w / w * n, 1.0)
    twofold, least = uneven * uneven, mean * mean * uneven
    squares = least * n  # Σw² of weights that are at most 1; Σw³ and Σw⁴ are parts of it
    cubes = np.minimum(mean * twofold, 1.0)
    fourths = np.minimum(least * twofold * twofold, 1.0)
    u = slope * most  # of the heaviest row
    square, moved = u * u, u * squares
    part = u * moved
    variance = total(part)
    skewness = total(part * u * cubes) / (variance * root(variance) + TINY)
    # The transformation of the score takes care of the numbers of rows, which vary; their weights make Σu² vary more.
    excess, twice = total(part * square * (fourths - least)), 2 * variance * variance
    limit = at_least(total(cells.n) - 1, 1.0)
    df = at_least(twice / at_least(excess, twice / limit + TINY), 1.0)
    return Influence(variance, skewness, df, moved * most)


def of_clusters(slope: FloatArray, clusters: Clusters) -> Influence:
    """Influence of whole clusters: the variance of the jackknife, whatever happens within them.

    A cluster pulls the score towards itself. Without it the score would be other by u / (1 − p), to first order, where
    p is its share of the weight; the jackknife adds up the squares of that, times (G − 1) / G. For clusters of equal
    weight that is Σu² G / (G − 1), as usual. Of uneven clusters no more than n_eff − 1 can be counted as free.
    """
    u = clusters.influences(slope)
    G, square = len(u), (u * u).sum()
    skewness = over((u**3).sum(), square * np.sqrt(square))
    free = max(min(G, clusters.n_eff) - 1, 1.0)
    noise = max((u**4).sum() - square**2 / G, 2 * square**2 / free + TINY)
    without = u / (1 - clusters.shares)
    variance = (without * without).sum() * (G - 1) / G
    return Influence(variance, skewness, max(2 * square**2 / noise, 1.0), clusters.sum_of(u))


class Clusters:
    """Clusters of the rows of a table, which has so many occupied cells.

    ``places`` are those of the table's clusters that have weight; the others do not count. Each cell of each cluster
    has its cluster's number, ``owner``, the place of ``cell`` among the table's, and its share ``w`` of the weight.
    """

    def __init__(self, cells: int, places: IndexArray, owner: IntArray, cell: IntArray, w: FloatArray) -> None:
        self._cells, self.places, self.count = cells, places, len(places)
        self._owner, self._cell, self._w = owner, cell, w

    @classmethod
    def of(cls, table: Table | JointTable) -> Clusters:
        """Clusters of a table that was drawn in clusters."""
        stack = table.parts
        owner, sums = stack.codes[-1], stack.sums
        cell = np.zeros(len(stack), dtype=np.int64)
        np.cumsum((np.diff(stack.codes[:-1], axis=1) != 0).any(axis=0), out=cell[1:])
        weighing = np.zeros(int(owner.max(initial=-1)) + 1, dtype=bool)
        weighing[owner[sums.w_max > 0]] = True
        number = np.cumsum(weighing) - 1
        kept = weighing[owner]
        w = Unit.of(sums.w_exact).shares(sums.w_exact)
        return cls(len(table.stack), np.flatnonzero(weighing), number[owner[kept]], cell[kept], w[kept])

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
    """A table, which has weight, and what was drawn independently for it: its rows, or clusters of them."""

    table: T
    cells: CellSums
    clusters: Clusters | None  # None if the rows themselves were drawn
    n_eff: float  # effective number of what was drawn: (Σw)² / Σw²

    @classmethod
    def of(cls, table: T) -> Sample[T]:
        """Return the sample of a table; one of a single prediction without weight is refused."""
        if isinstance(table, Table):
            check_scorable(table)
        cells = CellSums.of(table)
        clusters = Clusters.of(table) if table.drawn.kind == "clusters" else None
        return cls(table, cells, clusters, float(1 / total(cells.w2)) if clusters is None else clusters.n_eff)

    @property
    def count(self) -> int:
        """How many rows or clusters were drawn."""
        return self.table.rows if self.clusters is None else self.clusters.count

    @property
    def what(self) -> str:
        """What they are called."""
        return "rows" if self.clusters is None else "clusters"

    def without_each(self, slope: FloatArray) -> dict[Key, float]:
        """By how much the score would be lower without each cluster, to first order, by their keys."""
        clusters, keys = self.clusters, self.table.drawn.clusters
        if clusters is None:
            return {}
        u = clusters.influences(slope) / (1 - clusters.shares)
        return dict(zip((keys[k] for k in clusters.places.tolist()), u.tolist(), strict=True))

    def influence(self, slope: FloatArray) -> Influence:
        """Influence of what was drawn, from the slopes of the occupied cells."""
        return of_rows(slope, self.cells) if self.clusters is None else of_clusters(slope, self.clusters)

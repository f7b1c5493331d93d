"""How much each row, or each cluster of rows, moved a score: what standard errors are made of.

A score M of a table does not change when all weights are scaled, so a row of weight w in a cell where the slope of M is
g moved it by u = w·g, and the u of all rows add up to zero. Var(M) ≈ Σu². Everything is in units of the total weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ..arraytypes import FloatArray, IntArray
from ..exact import Exact
from ..joint import JointTable
from ..measures.stacks import over
from ..sums import Summed, positions
from ..table import Table

TINY = 1e-300

SAFE = (1e-100, 1e100)
"""Totals of which the squares and their sums are neither beyond float64 nor below."""


class Cells(NamedTuple):
    """Sums of the occupied cells of a table, in units of its total weight."""

    n: IntArray
    w: FloatArray
    w2: FloatArray
    w_max: FloatArray

    @classmethod
    def of(cls, table: Summed) -> Cells:
        """Return them as vectors, in the order of the table."""
        n, most = table.n.reshape(-1), np.where(table.n > 0, table.w_max, 0.0).reshape(-1)
        w = table.w.reshape(-1)
        with np.errstate(over="ignore"):  # an infinite total is not safe either
            total = float(w.sum())
        if SAFE[0] < total < SAFE[1]:
            return cls(n, w / total, table.w2.reshape(-1) / total**2, most / total)
        bits, unit = _unit(table)
        w, w2 = (_shifted(x, -k * bits).reshape(-1) / unit**k for k, x in ((1, table.w_exact), (2, table.w2_exact)))
        return cls(n, w, w2, np.ldexp(most, -bits) / unit)


def class_shares(table: Table, axis: int) -> FloatArray:
    """Shares of the weight of each true class (axis 1) or predicted class (0); NaN where it has none."""
    w = table.w if np.isfinite(table.w).all() else Cells.of(table).w.reshape(table.n.shape)
    most = w.max(axis=axis, keepdims=True)  # divided by first: a sum may be too large or too small
    w = np.divide(w, most, out=np.full_like(w, np.nan), where=most > 0)
    return np.asarray(w / w.sum(axis=axis, keepdims=True))


def _unit(table: Summed) -> tuple[int, float]:
    """Return the total weight as a number near 1 times a power of two."""
    total = table.w_exact.sum()
    bits = int(total.integers()).bit_length() + total.exponent
    return bits, float(_shifted(total, -bits))


def _shifted(x: Exact, bits: int) -> FloatArray:
    return Exact.trusted(x.digits, x.exponent + bits).floats()


class Influence(NamedTuple):
    """What the influences u of all rows or clusters add up to.

    Parameters
    ----------
    variance
        Σu².
    skewness
        Σu³ / (Σu²)^{3/2}.
    df
        Degrees of freedom of the variance, as far as uneven weights limit them.
    direction
        Where all cells move if each row or cluster counts more in proportion to its u: Σ u·(its cells).
    """

    variance: Any
    skewness: Any
    df: Any
    direction: FloatArray


def balanced(slope: FloatArray, cells: Cells) -> FloatArray:
    """Return slopes of which the heaviest cell's follows from the others', since Σ w·slope = 0.

    Where a cell holds nearly all of the weight, its own slope is what rounding left of large numbers.
    """
    heaviest = int(np.argmax(cells.w))
    out = np.array(slope)
    out[heaviest] = 0.0
    out[heaviest] = -float((out * cells.w).sum()) / cells.w[heaviest]
    return out


def of_data(slope: FloatArray, cells: Cells, data: Summed | Clusters) -> Influence:
    """Influence of the rows of a table, or of the clusters if that is what the data are."""
    return of_clusters(slope, data) if isinstance(data, Clusters) else of_rows(slope, cells)


def of_rows(slope: FloatArray, cells: Cells) -> Influence:
    """Influence of rows, from the sums of their cells. Leading axes are a stack of tables.

    A table has no Σw³ and no Σw⁴. Per cell they are taken to be those of log-normal weights of the same n, Σw and Σw²,
    and are kept within what n, Σw, Σw² and the largest weight allow.
    """
    most, n = cells.w_max, np.maximum(cells.n, 1.0)  # in float64: powers of a number of rows go beyond 64 bits
    unit = np.maximum(most, TINY)
    a = np.maximum(cells.w / unit, 1.0)  # Σ and Σ² of weights that are at most 1
    b = np.maximum(cells.w2 / unit / unit, a * a / n)  # which it is; Σw² of weights that hardly count may be lost
    ratio, least = b / a, b * b / n
    guess = n * ratio * ratio * ratio
    cubes = np.minimum(np.maximum(guess, b * ratio), b)
    fourths = np.minimum(np.maximum(guess * guess * n / (a * a), least), b)
    u = slope * most  # of the heaviest row
    square = u * u
    variance = (square * b).sum(axis=-1)
    skewness = (u * square * cubes).sum(axis=-1) / (variance * np.sqrt(variance) + TINY)
    # The transformation of the score takes care of the numbers of rows, which vary; their weights make Σu² vary more.
    excess = (square * square * (fourths - least)).sum(axis=-1)
    limit = np.maximum(cells.n.sum(axis=-1) - 1, 1)
    df = np.maximum(2 * variance**2 / np.maximum(excess, 2 * variance**2 / limit + TINY), 1.0)
    return Influence(variance, skewness, df, u * b * most)


def of_clusters(slope: FloatArray, clusters: Clusters) -> Influence:
    """Influence of whole clusters: the variance of the jackknife, whatever happens within them.

    A cluster pulls the score towards itself. Without it the score would be other by u / (1 − p), to first order, where
    p is its share of the weight; the jackknife adds up the squares of that, times (G − 1) / G. For clusters of equal
    weight that is Σu² G / (G − 1), as usual. Of uneven clusters no more than n_eff − 1 can be counted as free.
    """
    u = clusters.added(slope)
    G, square = len(u), (u * u).sum()
    skewness = over((u**3).sum(), square * np.sqrt(square))
    free = max(min(G, clusters.n_eff) - 1, 1.0)
    noise = max((u**4).sum() - square**2 / G, 2 * square**2 / free + TINY)
    without = u / (1 - clusters.shares)
    variance = (without * without).sum() * (G - 1) / G
    return Influence(variance, skewness, max(2 * square**2 / noise, 1.0), clusters.moved(u))


class Clusters:
    """Tables of clusters of rows, and the table of all of them.

    Parameters
    ----------
    tables
        One per cluster, all of one prediction or all of two.
    """

    def __init__(self, tables: Mapping[Any, Table] | Mapping[Any, JointTable]) -> None:
        self.whole: Any = merged(list(tables.values()))
        weighing = with_weight(tables)
        bits, unit = _unit(self.whole)
        places, weights, owners = [], [], []
        for number, table in enumerate(weighing):
            cells = table.cells if isinstance(table, JointTable) else np.argwhere(table.n)
            places.append(positions(self.whole.labels, table.labels)[cells])
            w = _shifted(table.w_exact, -bits)
            weights.append(w if isinstance(table, JointTable) else w[tuple(cells.T)])
            owners.append(np.full(len(cells), number))
        self.count = len(weighing)
        self._owner = np.concatenate(owners) if owners else np.zeros(0, dtype=np.int64)
        self._w = np.concatenate(weights) / unit if weights else np.zeros(0)
        self._cell = self._places(np.concatenate(places)) if places else np.zeros(0, dtype=np.int64)
        self._cells = self.whole.n.size

    def _places(self, cells: IntArray) -> Any:
        """Which of the whole table's cells, as a vector, each of these is."""
        K = len(self.whole.labels)
        flat = np.ravel_multi_index(tuple(cells.T), (K,) * cells.shape[1])
        if isinstance(self.whole, JointTable):
            known = np.ravel_multi_index(tuple(self.whole.cells.T), (K,) * 3)
            return np.searchsorted(known, flat)
        return flat

    def within(self, part: Table, places: IntArray) -> Clusters:
        """Return the clusters of a part of the rows.

        Parameters
        ----------
        part
            Their table.
        places
            Which of its cells, as a vector, each cell of the whole table is in; −1 for those that are in none.
        """
        out, cell = Clusters.__new__(Clusters), places[self._cell]
        kept = (cell >= 0) & (self._w > 0)
        bits, unit = _unit(part)
        own_bits, own_unit = _unit(self.whole)
        owners, owner = np.unique(self._owner[kept], return_inverse=True)
        out.whole, out.count, out._cells = part, len(owners), part.n.size
        out._owner, out._cell = owner, cell[kept]
        out._w = np.ldexp(self._w[kept] * (own_unit / unit), own_bits - bits)
        return out

    @cached_property
    def shares(self) -> FloatArray:
        """Share of the weight of each cluster."""
        return np.asarray(np.bincount(self._owner, self._w, self.count), dtype=np.float64)

    @property
    def n_eff(self) -> float:
        """Effective number of clusters, (Σw)² / Σw² of their weights."""
        w = self.shares
        return float(w.sum() ** 2 / (w * w).sum()) if self.count else 0.0

    def added(self, of_cells: FloatArray) -> FloatArray:
        """Σ w·x over the rows of each cluster, where x depends on the cell."""
        return np.asarray(np.bincount(self._owner, of_cells[self._cell] * self._w, self.count), dtype=np.float64)

    def moved(self, factors: FloatArray) -> FloatArray:
        """Return the sum of the clusters' cells, each times its factor; a stack of sums for a stack of factors."""
        stack = np.atleast_2d(factors)
        out = [np.bincount(self._cell, f[self._owner] * self._w, self._cells) for f in stack]
        return np.array(out, dtype=np.float64).reshape(*np.shape(factors)[:-1], self._cells)


def with_weight(tables: Mapping[Any, Any]) -> list[Any]:
    """Tables of the clusters that count: those without weight, or of rows that were all ignored, do not."""
    return [table for table in tables.values() if (table.w_max > 0).any()]


def merged(tables: list[Any]) -> Any:
    """Sum of tables; of joint ones in pairs, since their sum grows with each and would be copied once per table."""
    while isinstance(tables[0], JointTable) and len(tables) > 1:
        tables = [a + b for a, b in zip(tables[::2], tables[1::2], strict=False)] + tables[len(tables) // 2 * 2 :]
    return reduce(add, tables)

"""What is known of each of some cells: the number of rows, exact sums, the smallest and the largest weight."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from . import possible
from .arraytypes import FloatArray, IndexArray, IntArray
from .exact import Exact

MOST_ROWS = 1 << 62
"""Counts are 64-bit integers; this leaves room to add two tables and to compare in float64."""


class Sums(NamedTuple):
    """Five arrays of one shape, with an entry per cell; NaN is the smallest and the largest weight of no rows."""

    n: IntArray
    w_exact: Exact
    w2_exact: Exact
    w_min: FloatArray
    w_max: FloatArray

    @classmethod
    def from_counts(cls, n: IntArray) -> Sums:
        """Of rows that all weigh one."""
        one, exact = np.where(n > 0, 1.0, np.nan), Exact.from_counts(n)
        return cls(n, exact, exact, one, one.copy())

    @classmethod
    def from_floats(
        cls,
        n: IntArray,
        w: FloatArray,
        w2: FloatArray,
        w_min: FloatArray,
        w_max: FloatArray,
        *,
        name: possible.Names = possible.by_number,
    ) -> Sums:
        """Of sums that something else computed, and rounded; those that no rows can have are refused, by name."""
        low, high = (np.where(n > 0, x, np.nan) for x in (w_min, w_max))
        possible.check_floats(n, w, w2, high, name)
        sums = cls(n, Exact.from_floats(w), Exact.from_floats(w2), low, high)
        possible.check_cells(*sums, name)
        return sums

    def __add__(self, other: Sums) -> Sums:  # type: ignore[override]
        _check_rows(int(self.n.sum()) + int(other.n.sum()))
        return Sums(
            self.n + other.n,
            self.w_exact + other.w_exact,
            self.w2_exact + other.w2_exact,
            np.fmin(self.w_min, other.w_min),
            np.fmax(self.w_max, other.w_max),
        )

    def take(self, at: Any) -> Sums:
        """Return some of the cells, by any index of NumPy."""
        return Sums(self.n[at], self.w_exact.take(at), self.w2_exact.take(at), self.w_min[at], self.w_max[at])

    def placed(self, shape: tuple[int, ...], at: Any) -> Sums:
        """Return an array of empty cells in which these stand at ``at``, each at a place of its own."""
        n, low, high = np.zeros(shape, dtype=np.int64), np.full(shape, np.nan), np.full(shape, np.nan)
        n[at], low[at], high[at] = self.n, self.w_min, self.w_max
        return Sums(n, self.w_exact.placed(shape, at), self.w2_exact.placed(shape, at), low, high)

    def runs(self, starts: IndexArray) -> Sums:
        """Add up runs of neighbouring cells, of vectors; each begins at one of ``starts``, the first at 0."""
        _check_rows(float(self.n.sum(dtype=np.float64)))  # of many tables, together
        return Sums(
            np.add.reduceat(self.n, starts),
            self.w_exact.runs(starts),
            self.w2_exact.runs(starts),
            np.fmin.reduceat(self.w_min, starts),
            np.fmax.reduceat(self.w_max, starts),
        )

    def same(self, other: Sums) -> bool:
        """Whether all numbers are equal."""
        ends = ((self.w_min, other.w_min), (self.w_max, other.w_max))
        return (
            np.array_equal(self.n, other.n)
            and self.w_exact == other.w_exact
            and self.w2_exact == other.w2_exact
            and all(np.array_equal(a, b, equal_nan=True) for a, b in ends)
        )


def beside(several: list[Sums]) -> Sums:
    """Cells of several vectors, one after the other."""
    n, w, w2, low, high = zip(*several, strict=True)
    return Sums(np.concatenate(n), Exact.beside(w), Exact.beside(w2), np.concatenate(low), np.concatenate(high))


def _check_rows(count: float) -> None:
    if count >= MOST_ROWS:
        raise InputError("the merged table would have 2**62 rows or more, which its counts cannot hold.")

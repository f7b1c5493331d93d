"""What is known of each of some cells: the number of rows, exact sums, the smallest and the largest weight."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, WeightError
from . import consistency
from .arraytypes import FloatArray, IndexArray, IntArray
from .exact import Exact

MOST_ROWS = 1 << 62
"""Counts are 64-bit integers; this leaves room to add two tables and to compare in float64."""


SMALL = 1e-150
"""Factors between this and its inverse have squares that float64 holds to the last bit."""


class Sums(NamedTuple):
    """Arrays of one shape, with an entry per cell; NaN is the smallest and the largest weight of no rows."""

    n: IntArray
    w_exact: Exact
    w2_exact: Exact
    w_min: FloatArray
    w_max: FloatArray
    replicates: tuple[Exact, ...] = ()
    """Σw of each column of replicate weights; none if the rows have no such."""

    @classmethod
    def from_counts(cls, n: IntArray) -> Sums:
        """Of rows that all weigh one."""
        one, exact = np.where(n > 0, 1.0, np.nan), Exact.from_counts(n)
        return cls(n, exact, exact, one, one)

    @classmethod
    def from_floats(
        cls, n: IntArray, w: FloatArray, w2: FloatArray, w_min: FloatArray, w_max: FloatArray,
        *, name: consistency.Names = consistency.by_number,
    ) -> Sums:  # fmt: skip
        """Of sums that something else computed, and rounded; those that no rows can have are refused, by name."""
        low, high = (np.where(n > 0, x, np.nan) for x in (w_min, w_max))
        consistency.check_sums(w, "w", name)
        consistency.check_sums(w2, "w2", name, (n > 0) & (w2 == 0) & (high > 0))
        sums = cls(n, Exact.from_floats(w), Exact.from_floats(w2), low, high)
        consistency.check_cells(*sums[:5], name)
        return sums

    def __add__(self, other: Sums) -> Sums:  # type: ignore[override]
        _check_rows(int(self.n.sum()) + int(other.n.sum()))
        w, w2 = self.w_exact + other.w_exact, self.w2_exact + other.w2_exact
        ends = np.fmin(self.w_min, other.w_min), np.fmax(self.w_max, other.w_max)
        return Sums(self.n + other.n, w, w2, *ends, tuple(a + b for a, b in _side_by_side([self, other])))

    def take(self, at: Any) -> Sums:
        """Return some of the cells, by any index of NumPy."""
        n, w, w2, low, high, replicates = self
        return Sums(n[at], w.take(at), w2.take(at), low[at], high[at], tuple(w.take(at) for w in replicates))

    def scaled(self, factors: FloatArray) -> Sums:
        """Return vectors of cells in which each row weighs more by a factor of its cell.

        Sums of rows of weight one are then those of rows that weigh the factor, to the last bit.
        """
        low, high = self.w_min * factors, self.w_max * factors
        replicates = tuple(own.scaled(factors) for own in self.replicates)
        used = factors[factors > 0]
        if used.min(initial=1.0) > SMALL and used.max(initial=1.0) < 1 / SMALL:
            squares = self.w2_exact.scaled(factors * factors)
        else:  # whose squares are beyond float64
            squares = self.w2_exact.scaled(factors).scaled(factors)
        return Sums(self.n, self.w_exact.scaled(factors), squares, low, high, replicates)

    def placed(self, shape: tuple[int, ...], at: Any) -> Sums:
        """Return an array of empty cells in which these stand at ``at``, each at a place of its own."""
        n, low, high = np.zeros(shape, dtype=np.int64), np.full(shape, np.nan), np.full(shape, np.nan)
        n[at], low[at], high[at] = self.n, self.w_min, self.w_max
        replicates = tuple(own.placed(shape, at) for own in self.replicates)
        return Sums(n, self.w_exact.placed(shape, at), self.w2_exact.placed(shape, at), low, high, replicates)

    def runs(self, starts: IndexArray) -> Sums:
        """Add up runs of neighbouring cells, of vectors; each begins at one of ``starts``, the first at 0."""
        _check_rows(float(self.n.sum(dtype=np.float64)))  # of many tables, together
        n, w, w2 = np.add.reduceat(self.n, starts), self.w_exact.runs(starts), self.w2_exact.runs(starts)
        ends = np.fmin.reduceat(self.w_min, starts), np.fmax.reduceat(self.w_max, starts)
        return Sums(n, w, w2, *ends, tuple(w.runs(starts) for w in self.replicates))

    def same(self, other: Sums) -> bool:
        """Whether all numbers are equal."""
        (n, *exact, low, high, replicates), (m, *others, least, most, more) = self, other
        ends = all(np.array_equal(a, b, equal_nan=True) for a, b in ((low, least), (high, most)))
        return np.array_equal(n, m) and exact == others and ends and replicates == more


def beside(several: list[Sums]) -> Sums:
    """Cells of several vectors, one after the other."""
    n, w, w2, low, high, _ = zip(*several, strict=True)
    replicates = tuple(map(Exact.beside, _side_by_side(several)))
    ends = np.concatenate(low), np.concatenate(high)
    return Sums(np.concatenate(n), Exact.beside(w), Exact.beside(w2), *ends, replicates)


def added_by_code(codes: IntArray, numbers: Any, size: int) -> IntArray:
    """Add up integers that have the same code, of so many codes: `numpy.bincount` would do so in float64."""
    out = np.zeros(size, dtype=np.int64)
    np.add.at(out, codes, numbers)
    return out


def _side_by_side(several: list[Sums]) -> list[tuple[Exact, ...]]:
    """The sums of each replicate, of all; as many replicates in each."""
    counts = sorted({len(sums.replicates) for sums in several})
    if len(counts) > 1:
        raise cannot_merge(
            f"one table has {counts[0]} replicate weights, and another {counts[-1]}", "the same `wmcc.Replicates`"
        )
    return list(zip(*(sums.replicates for sums in several), strict=True))


def cannot_merge(why: str, by_what: str) -> InputError:
    """Return the error that tables differ in something that must be the same: tabulate all of them with it."""
    return InputError(f"{why}; they cannot be merged.", f"tabulate all with {by_what}.")


def _check_rows(count: float) -> None:
    if count >= MOST_ROWS:
        raise InputError("the merged table would have 2**62 rows or more, which its counts cannot hold.")


def bad_weight(
    where: str, weight: float, hint: str = "a weight of 0 leaves a row out.", word: str = "weight", more: str = ""
) -> WeightError:
    """Say that a weight cannot be one."""
    came = "nan (missing)" if weight != weight else repr(weight)
    return WeightError(f"{where} is {came}; a {word} must be a finite number of at least 0.{more}", hint)

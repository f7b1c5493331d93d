"""Sums of the cells of a table in units of its total weight, and what influences on a score add up to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..core.exact import FEW, Exact, integers
from ..core.joint import JointTable
from ..core.table import Table
from ..measures.stacks import largest, over, total

FEW_SHARES = 1 << 12
"""Quotients that Python computes, which rounds them once."""

TINY = 1e-300
"""Added to what may be 0 and is divided by."""


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

    def rounded(self, x: Exact) -> FloatArray:
        """As `shares`, of an array of any shape, rounded once; of very many, numbers are rounded first."""
        if prod(x.shape) <= FEW_SHARES:
            return self.of_few(integers(x._vectors()), x.exponent).reshape(x.shape)
        bits = self.s.bit_length()
        return np.asarray(x.floats(-self.exponent - bits) / (self.s / (1 << bits)))

    def of_few(self, x: list[int], exponent: int, power: int = 1) -> FloatArray:
        """As `shares`, of integers: Python rounds their quotients correctly, and once."""
        whole, shift = self.s**power, exponent - power * self.exponent
        if shift > 0:
            x = [number << shift for number in x]
        elif shift < 0:
            whole <<= -shift
        return np.array([number / whole for number in x])

    def largest(self, x: FloatArray) -> FloatArray:
        """Return single weights as shares of the total."""
        bits = self.s.bit_length()
        return np.asarray(np.ldexp(x, -self.exponent - bits) * ((1 << bits) / self.s))


@dataclass(frozen=True, eq=False)
class CellSums:
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
        if cls not in table.computed:
            table.computed[cls] = cls._of_cells(table)
        return table.computed[cls]  # type: ignore[no-any-return]

    @classmethod
    def _of_cells(cls, table: Table | JointTable) -> CellSums:
        codes, sums = table.cells.codes, table.cells.sums
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
        return replace(self, n=self.n[which], w=self.w[which], w2=self.w2[which], w_max=self.w_max[which])

    @cached_property
    def n_eff(self) -> Any:
        """Effective number of rows, (Σw)² / Σw², of each table."""
        whole = total(self.w)
        return over(whole * whole, total(self.w2))

    @cached_property
    def heaviest(self) -> Any:
        """Weight of the heaviest row of each table."""
        return largest(self.w_max)

    @cached_property
    def usual_square(self) -> Any:
        """Squared weight of a row of each table, on average."""
        return total(self.w2) / total(self.n)

    @cached_property
    def powers(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of the weights of each cell divided by its largest: their number, the mean square, and Σw⁴ / Σw².

        A table has no Σw⁴. Per cell it is taken to be that of log-normal weights of the same n, Σw and Σw², and is
        kept within what n, Σw, Σw² and the largest weight allow.
        """
        n = np.maximum(self.n, 1.0)  # in float64: powers of a number of rows go beyond 64 bits
        unit = np.maximum(self.w_max, TINY)
        w = np.maximum(self.w, unit)  # which it is, but for rounding
        mean = w / unit / n
        # n Σw² / (Σw)²: the Σw² of weights that hardly count may be lost, and is as small as it can be.
        uneven = np.maximum(self.w2 / w / w * n, 1.0)
        squares = mean * mean * uneven
        return n, squares, np.minimum(squares * uneven**4, 1.0)


class Precision(NamedTuple):
    """How precise a score is, or a difference of scores. Numbers may be arrays, for a stack of tables."""

    variance: Any
    df: Any  # degrees of freedom of the variance
    stretch: Any = 1.0  # by what the standard error is multiplied for ends of intervals, and for tests


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

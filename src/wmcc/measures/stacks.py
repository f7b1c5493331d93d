"""Arrays over the cells of a table, or of a stack of tables, and over its classes."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray

FEW = 64
"""Classes of which all pairs are looked at faster than one after the other."""

SMALL = 6
"""Classes of which all sums are one product with a matrix."""

FEW_ROWS, MANY = 16, 1024
"""Rows of a matrix that are added one after the other, and numbers that are multiplied with it from which on."""


def over(x: Any, y: Any) -> Any:
    """x/y, and 0 where that is undefined."""
    if isinstance(y, float):  # of one table
        return x / y if y > 0 else 0.0 * x
    return np.asarray(x / np.where(y > 0, y, np.inf))


def total(x: Array) -> Any:
    """Sum over the last axis, of classes or of cells; of a few numbers it is Python's own, which is faster."""
    return float(sum(x.tolist())) if x.ndim == 1 and x.size <= FEW else np.add.reduce(x, -1)


def quotient(classes: Any, x: Any, y: Any) -> Any:
    """Return the quotient of two totals: a measure that does not count classes."""
    return over(x, y)


def itself(classes: Any, x: Any) -> Any:
    """Return a total: a measure that is one."""
    return x


def mean_over(classes: Any, x: Any) -> Any:
    """Return a total divided by the number of classes that count: a measure that is a mean over these."""
    return x / classes


def largest(x: FloatArray) -> Any:
    """Largest over the last axis, as `total` is the sum."""
    return max(x.tolist()) if x.ndim == 1 and x.size <= FEW else np.maximum.reduce(x, -1)


def furthest(x: FloatArray) -> Any:
    """Return the number that is furthest from 0 over the last axis, with its sign."""
    most, least = largest(x), -largest(-x)
    return (least if -least > most else most) if isinstance(most, float) else np.where(-least > most, least, most)


def per_table(x: Any) -> Any:
    """A number per table, to be combined with what is per class."""
    return x if isinstance(x, float) else np.asarray(x)[..., np.newaxis]


def totals(x: Array) -> Any:
    """Sum over the last axis, to be combined with what is per class."""
    return per_table(total(x))


class PerCell(NamedTuple):
    """Numbers of all K x K cells of a table: row[a] + column[b], and diagonal[a] more where a = b.

    Each is a vector over the classes; leading axes are a stack of tables. The diagonal may be the same for all classes.
    """

    row: FloatArray
    column: FloatArray
    diagonal: Any

    def dense(self) -> FloatArray:
        """Return the K x K array, or a stack of them."""
        cells, K = self._flat(), self.row.shape[-1]
        return cells.reshape(*cells.shape[:-1], K, K)

    def at(self, true: IntArray, pred: IntArray) -> FloatArray:
        """Return the numbers of some cells, in any order; a cell may come more than once."""
        out = self.row.take(true, -1)
        out += self.column.take(pred, -1)
        correct = (true == pred).nonzero()[0]
        one = np.ndim(self.diagonal) == 0 or self.diagonal.shape[-1] == 1
        out[..., correct] += self.diagonal if one else self.diagonal[..., true[correct]]
        return out

    def of_table(self, codes: IntArray) -> FloatArray:
        """Return the numbers of the cells of a table, which are in lexicographic order and each there once."""
        K = self.row.shape[-1]
        return self.at(*codes) if codes.shape[1] < K * K else self._flat()

    def _flat(self) -> FloatArray:
        square, K = self.row[..., np.newaxis] + self.column[..., np.newaxis, :], self.row.shape[-1]
        out: FloatArray = square.reshape(*square.shape[:-2], K * K)
        out[..., :: K + 1] += self.diagonal
        return out

    def extreme_slope(self, true: int) -> Any:
        """Return the number of the first ``true`` rows that is furthest from 0; no more than O(K) are computed."""
        K = self.row.shape[-1]
        if K <= FEW:
            return furthest(self._flat()[..., : true * K])
        correct = (self.row + self.column + self.diagonal)[..., :true]
        rows = (np.where(np.arange(K) < true, sign * self.row, -np.inf) for sign in (1, -1))
        ends = [sign * _most_apart(row, sign * self.column) for row, sign in zip(rows, (1, -1), strict=True)]
        return furthest(np.stack([furthest(correct), *ends], axis=-1))


def _most_apart(row: FloatArray, column: FloatArray) -> FloatArray:
    """Return the largest row[a] + column[b] of different a and b.

    One of them is where the row is largest: else that one would be as good as a, unless it is b.
    """
    best: Any = per_table(row.argmax(axis=-1))
    own = [np.take_along_axis(x, best, axis=-1)[..., 0] for x in (row, column)]
    others = [np.where(np.arange(row.shape[-1]) == best, -np.inf, x).max(axis=-1) for x in (row, column)]
    return np.asarray(np.maximum(own[0] + others[1], own[1] + others[0]))


# ---- sums per class ---------------------------------------------------------------------------------


def by_class(cells: FloatArray, codes: IntArray, classes: int) -> FloatArray:
    """Sums of each class: of its correct cell, of the others in its row, and of the others in its column.

    Parameters
    ----------
    cells
        Numbers of the cells of a table, a vector; leading axes are a stack of tables.
    codes
        True and predicted class of each cell, in lexicographic order and each once.
    classes
        How many there are.
    """
    K, leading = classes, cells.shape[:-1]
    if cells.shape[-1] == K * K:
        return by_class_of_all(cells.reshape(*leading, K, K))
    if K <= FEW:  # tables are worked on together, which is faster than counting in each
        dense = np.zeros((*leading, K * K))
        dense[..., codes[0] * K + codes[1]] = cells
        return by_class_of_all(dense.reshape(*leading, K, K))
    out = np.empty((3, *leading, K))
    right = codes[0] == codes[1]
    wrong = ~right
    for place in np.ndindex(leading):
        own = cells[place]
        for sums, axis, which in zip(out, (0, 0, 1), (right, wrong, wrong), strict=True):
            sums[place] = np.bincount(codes[axis][which], own[which], K)
    return out


def by_class_of_all(cells: FloatArray) -> FloatArray:
    """As `by_class`, of a K x K array, or of a stack of them."""
    wrong = cells * _others(cells.shape[-1])
    out = np.empty((3, *cells.shape[:-1]))
    out[0] = np.diagonal(cells, axis1=-2, axis2=-1)
    np.add.reduce(wrong, -1, out=out[1])
    np.add.reduce(wrong, -2, out=out[2])
    return out


def product(x: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return x @ matrix, added up in one order: that of a library of linear algebra depends on where numbers lie."""
    if len(matrix) <= FEW_ROWS and x.size >= MANY:  # the same order, without an array of all products
        out = x[..., :1] * matrix[0]
        for k in range(1, len(matrix)):
            out += x[..., k : k + 1] * matrix[k]
        return np.asarray(out)
    return np.asarray(np.add.reduce(x[..., np.newaxis] * matrix, -2))


def others(x: FloatArray) -> FloatArray:
    """Return the sum of all classes but each; nothing is subtracted, as one may hold nearly all."""
    K = x.shape[-1]
    return product(x, _others(K)) if K <= SMALL else sums_from_both_ends(x)


def sums_from_both_ends(x: FloatArray) -> FloatArray:
    """Σ over the other entries of the last axis, by sums from both ends: nothing is subtracted."""
    out = np.zeros(x.shape)
    np.cumsum(x[..., :-1], axis=-1, out=out[..., 1:])
    out[..., :-1] += np.cumsum(x[..., :0:-1], axis=-1)[..., ::-1]
    return out


@cache
def sums_of(classes: int) -> FloatArray:
    """Matrix from all cells of a table to sums of each class, and to the total, none of which is a difference.

    They are r, q, d and what is missed of a class; s − r, s − q, what is truly negative and what is false, by which
    those are multiplied; and the total.
    """
    K, t, p = classes, *np.indices((classes, classes)).reshape(2, -1, 1)
    true, pred = t == np.arange(K), p == np.arange(K)
    sums = true, pred, true & pred, true & ~pred
    factors = ~true, ~pred, ~true & ~pred, ~true & pred
    return np.hstack([*sums, *factors, np.ones_like(t, dtype=bool)]).astype(np.float64)


@cache
def _others(classes: int) -> FloatArray:
    """Matrix that sums over the other classes."""
    return 1 - np.eye(classes)

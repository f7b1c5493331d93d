"""Which classes the occupied cells of a table belong to, and sums over the cells of a class.

Weights move only where there are observations. So boxes, slopes and witnesses are vectors over the occupied cells, and
what they cost grows with these and with the classes, not with the square of the classes.
"""

from __future__ import annotations

from functools import cached_property
from math import prod

import numpy as np

from ..core.arraytypes import Array, FloatArray, IndexArray, IntArray
from ..core.table import Margins, Table, check_matrix, class_totals

PER_CLASS = 8
"""Cells that take as long as a class, which is sorted in several orders for the sums over all classes."""


class BoxedCells:
    """The classes of each cell, as positions t and p among K; a pair of classes may come more than once.

    A mean over classes runs over ``classes`` of them, which is the number of the table, wherever weights move. Labels
    after the first ``known`` are void.
    """

    t: IndexArray
    p: IndexArray
    K: int
    classes: int
    known: int

    def __init__(self, t: Array, p: Array, K: int, classes: int | None = None, known: int | None = None) -> None:
        self.t, self.p, self.K = np.asarray(t, dtype=np.intp), np.asarray(p, dtype=np.intp), K
        self.classes, self.known = K if classes is None else classes, K if known is None else known
        self.same: Array = self.t == self.p

    @classmethod
    def of(cls, table: Table) -> BoxedCells:
        """The occupied cells of a table."""
        t, p = table.cells.codes
        return cls(t, p, len(table.labels), table.margins.classes, table.margins.known)

    def __len__(self) -> int:
        return len(self.t)

    @property
    def size(self) -> int:
        """For how long a box takes: the number of cells, or of classes where these are most of the work."""
        return max(len(self), PER_CLASS * self.K)

    @cached_property
    def identity(self) -> FloatArray:
        """1 where the classes are the same, 0 elsewhere."""
        return self.same * 1.0

    @property
    def codes(self) -> IntArray:
        """Both classes, a row each."""
        return np.stack([self.t, self.p])

    # ---- float64 ------------------------------------------------------------------------------------

    def rows(self, x: FloatArray) -> FloatArray:
        """Sum over the cells of each true class."""
        return class_sums(x, self.t, self.K)

    def columns(self, x: FloatArray) -> FloatArray:
        """Sum over the cells of each predicted class."""
        return class_sums(x, self.p, self.K)

    def kinds(self, x: FloatArray) -> FloatArray:
        """TP, FN and FP of each class, as three rows."""
        pick, codes = self._kinds
        return class_sums(x.take(pick, -1), codes, 3 * self.K).reshape(*x.shape[:-1], 3, self.K)

    @cached_property
    def _kinds(self) -> tuple[Array, Array]:
        """A correct cell is one of TP; a wrong one is one of FN, and once more one of FP."""
        wrong = np.flatnonzero(~self.same)
        pick = np.concatenate([np.arange(len(self)), wrong])
        return pick, np.concatenate([self.t + self.K * ~self.same, 2 * self.K + self.p[wrong]])

    def laid_out(self, x: FloatArray) -> FloatArray:
        """Numbers of the cells as a K x K array, 0 where there is no cell."""
        check_matrix(self.K, "read `sums`, `at` and `codes`, which list the occupied cells.")
        out = np.zeros((self.K, self.K))
        out[self.t, self.p] = x
        return out

    # ---- integers of any size -----------------------------------------------------------------------

    def margins(self, sums: list[int]) -> Margins:
        """Margins of a table with these sums in its cells."""
        r, q, d = class_totals(sums, *self._lists, self.K)
        return Margins(sum(r), r, q, d, self.classes, self.known)

    @cached_property
    def _lists(self) -> tuple[list[int], list[int]]:
        return self.t.tolist(), self.p.tolist()


def class_sums(x: FloatArray, codes: Array, size: int) -> FloatArray:
    """Sum a stack of vectors over the cells of each code."""
    count = prod(x.shape[:-1])
    index = codes if count == 1 else (codes + size * np.arange(count)[:, np.newaxis]).ravel()
    total = np.bincount(index, x.ravel(), size * count)
    return np.asarray(total, dtype=np.float64).reshape(*x.shape[:-1], size)

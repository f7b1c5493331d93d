"""The joint table of two predictions for the same rows: what comparisons of two classifiers read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import labels as _labels
from .arraytypes import FloatArray, IndexArray, IntArray
from .exact import Exact
from .labels import Label
from .sums import Summed, Sums, merged_labels, positions
from .table import Table
from .text import number


@dataclass(frozen=True, eq=False, repr=False)
class JointTable(Summed):
    """Weighted table of three labels per row: the true one, and those of two classifiers.

    Whether one classifier beats another under the same weights is a matter of the rows on which they differ, and
    two confusion tables do not tell which those are. This table does, and has both of them as its margins, exactly.
    Most of its K x K x K cells are empty where there are many classes, so it lists those that are not.

    It is made by `wmcc.joint_table` and merges with ``+``, as a `Table` does.

    Parameters
    ----------
    labels
        The K classes, in common for the truth and both predictions.
    cells
        The m cells that hold observations, one per row, in lexicographic order: positions in ``labels`` of the true
        class, of the first prediction and of the second.
    n
        Number of observations per cell: a vector of m, as are the following.
    w_exact, w2_exact
        Σw and Σw² per cell, not rounded. `w` and `w2` are the float64 numbers nearest to them.
    w_min, w_max
        Smallest and largest weight per cell.
    ignored
        Rows left out because the caller named one of their labels in ``ignore``.

    Examples
    --------
    >>> import wmcc
    >>> truth, a, b = ["elm", "oak", "oak"], ["elm", "oak", "elm"], ["elm", "elm", "oak"]
    >>> joint = wmcc.joint_table(truth, a, b, [2.0, 300.0, 5.5])
    >>> joint
    JointTable of 2 classes: 3 rows, total weight 307.5
    true  first  second  n    w
    elm     elm     elm  1    2
    oak     elm     oak  1  5.5
    oak     oak     elm  1  300
    >>> joint.cells
    array([[0, 0, 0],
           [1, 0, 1],
           [1, 1, 0]])
    >>> joint.second == wmcc.tabulate(truth, b, [2.0, 300.0, 5.5])
    True
    """

    labels: tuple[Label, ...]
    cells: IntArray
    n: IntArray
    w_exact: Exact
    w2_exact: Exact
    w_min: FloatArray
    w_max: FloatArray
    ignored: int = 0

    _listed_by = "cells"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.cells.flags.writeable = False

    @classmethod
    def empty(cls, labels: Sequence[Label] = ()) -> JointTable:
        """Return a table without observations; with no labels it is the unit of ``+``."""
        none = np.zeros((0, 3), dtype=np.int64)
        return cls(_labels.given(labels), none, *Sums.from_counts(none[:, 0]))

    # ---- the two tables of one prediction ---------------------------------------------------------------

    @cached_property
    def first(self) -> Table:
        """Table of the true class and the first prediction: what `wmcc.tabulate` makes of the same rows."""
        return self._margin(1)

    @cached_property
    def second(self) -> Table:
        """Table of the true class and the second prediction: what `wmcc.tabulate` makes of the same rows."""
        return self._margin(2)

    def _margin(self, axis: int) -> Table:
        return Table._of_cells(self.labels, self.cells[:, [0, axis]], self._sums, self.ignored)

    def swapped(self) -> JointTable:
        """Return the table with the two predictions in the other order."""
        return self._of_cells(self.labels, self.cells[:, [0, 2, 1]], self._sums, self.ignored)

    # ---- merging ------------------------------------------------------------------------------------

    def __add__(self, other: JointTable) -> JointTable:
        if not isinstance(other, JointTable):
            return NotImplemented
        names = merged_labels(self.labels, other.labels)
        sides = self._aligned(names), other._aligned(names)
        cells, where = _distinct(np.concatenate([side.cells for side in sides]), len(names))
        places = np.split(where, [len(sides[0].cells)])
        a, b = (side._sums.scatter((len(cells),), at) for side, at in zip(sides, places, strict=True))
        return JointTable(names, cells, *(a + b), self.ignored + other.ignored)

    @classmethod
    def _of_cells(cls, labels: tuple[Label, ...], cells: IntArray, sums: Sums, ignored: int) -> JointTable:
        """Joint table from a list of cells in any order; one that comes more than once is one."""
        cells, where = _distinct(cells, len(labels))
        return cls(labels, cells, *sums.scatter((len(cells),), where), ignored)

    def _take(self, classes: Sequence[int]) -> JointTable:
        """Return the table of some of the classes, by position: of rows with no other label."""
        place = np.full(len(self.labels), -1, dtype=np.int64)
        place[list(classes)] = np.arange(len(classes))
        cells = place[self.cells]
        kept = (cells >= 0).all(axis=1)
        return self._of_cells(tuple(self.labels[k] for k in classes), cells[kept], self._sums.take(kept), self.ignored)

    def _placed(self, names: tuple[Label, ...], mine: Sequence[Label]) -> JointTable:
        """Return the table over the classes ``names``, where its own are called ``mine``."""
        return self._of_cells(names, positions(names, mine)[self.cells], self._sums, self.ignored)

    def _met(self) -> IntArray:
        """How often each class occurs, as any of the three labels."""
        count = np.zeros(len(self.labels), dtype=np.int64)
        for codes in self.cells.T:
            np.add.at(count, codes, self.n)
        return count

    # ---- showing ------------------------------------------------------------------------------------

    def _cells(self, most: int) -> tuple[list[list[str]], int]:
        rows = [["true", "first", "second", "n", "w"]]
        for cell, n, w in zip(self.cells[:most].tolist(), self.n.tolist(), self.w, strict=False):
            rows.append([*(str(self.labels[k]) for k in cell), f"{n:,}", number(w)])
        return rows, len(self.n)


def _distinct(cells: IntArray, classes: int) -> tuple[IntArray, IndexArray]:
    """Return the cells in lexicographic order, each once, and where each of those given is among them."""
    shape = (max(classes, 1),) * 3
    flat, where = np.unique(np.ravel_multi_index(tuple(cells.T), shape), return_inverse=True)
    return np.stack(np.unravel_index(flat, shape), axis=1).astype(np.int64), where

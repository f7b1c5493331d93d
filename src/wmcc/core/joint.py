"""The joint table of two predictions for the same rows: what comparisons of two classifiers read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..present.text import number
from . import labels as _labels
from .arraytypes import IntArray
from .labels import Label
from .stack import Stack
from .summed import ROWS, Drawn, Summed, no_cells
from .sums import Sums
from .table import Table


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
    parts
        The cells that occur: positions in ``labels`` of the true class and of the two predictions, the cluster if rows
        come in clusters, and the sums of each.
    ignored
        Rows left out because the caller named one of their labels in ``ignore``.
    drawn
        How the rows were drawn: independently, or in clusters.

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
    parts: Stack
    ignored: int = 0
    drawn: Drawn = ROWS

    _kind = "joint table"
    _listed_by = "cells"

    @classmethod
    def empty(cls, labels: Sequence[Label] = ()) -> JointTable:
        """Return a table without observations; with no labels it is the unit of ``+``."""
        return cls(_labels.given(labels), no_cells(3))

    # ---- the cells, one by one ------------------------------------------------------------------------

    @property
    def cells(self) -> IntArray:
        """The m cells that hold observations, one per row: true class, first and second prediction, by position."""
        return self.stack.codes.T

    @property
    def _sums(self) -> Sums:
        """The sums of the cells that hold observations, as vectors."""
        return self.stack.sums

    # ---- the two tables of one prediction ---------------------------------------------------------------

    @cached_property
    def first(self) -> Table:
        """Table of the true class and the first prediction: what `wmcc.tabulate` makes of the same rows."""
        return self._of_prediction(1)

    @cached_property
    def second(self) -> Table:
        """Table of the true class and the second prediction: what `wmcc.tabulate` makes of the same rows."""
        return self._of_prediction(2)

    def _of_prediction(self, axis: int) -> Table:
        cluster = range(3, len(self.parts.codes))
        return Table(self.labels, self.parts.along([0, axis, *cluster]), self.ignored, drawn=self.drawn)

    def swapped(self) -> JointTable:
        """Return the table with the two predictions in the other order."""
        cluster = range(3, len(self.parts.codes))
        return JointTable(self.labels, self.parts.along([0, 2, 1, *cluster]), self.ignored, self.drawn)

    # ---- showing ------------------------------------------------------------------------------------

    def _shown(self, most: int) -> tuple[list[list[str]], int]:
        rows = [["true", "first", "second", "n", "w"]]
        top = self.stack.take(slice(most))
        for cell, n, w in zip(top.codes.T.tolist(), top.sums.n.tolist(), top.sums.w_exact.floats(), strict=True):
            rows.append([*(str(self.labels[k]) for k in cell), f"{n:,}", number(w)])
        return rows, len(self.stack)

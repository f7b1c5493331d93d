"""The joint table of several predictions of the same rows: what comparisons of classifiers read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..errors import InputError, InputTypeError
from ..present.text import brief
from . import labels as _labels
from .base_table import BaseTable, no_cells
from .design import ROWS, SampleDesign
from .form import StoredJointTable
from .labels import Label
from .stack import Stack
from .sums import Sums, cannot_merge
from .table import Table, names_file, of_file


@dataclass(frozen=True, eq=False, repr=False)
class JointTable(BaseTable):
    """Weighted table of the labels of a row: the true one, and those that several classifiers predict.

    Two classifiers are compared on the rows on which they differ. Two separate confusion tables do not say which rows
    those are; this table does. The table of each prediction is ``joint[name]``, exactly as `wmcc.tabulate` makes it of
    the same rows. Most cells are empty where there are many classes, so the table lists those that are not.

    `wmcc.tabulate` makes one where the predictions are given as a mapping from names. Joint tables merge with ``+``.

    Parameters
    ----------
    labels
        The K classes, in common for the truth and all predictions.
    names
        What the predictions are called, each different.
    raw_cells
        The cells that occur: positions in ``labels`` of the true class and of each prediction, the cluster if rows come
        in clusters, and the sums of each.
    ignored
        Rows left out because the caller named their true label in ``ignore``, or because a label is missing.
    drawn
        How the rows were drawn: independently, or in clusters.
    void
        The last of ``labels``, if they are no classes; see `wmcc.Table`.

    Examples
    --------
    >>> import wmcc
    >>> truth, a, b = ["elm", "oak", "oak"], ["elm", "oak", "elm"], ["elm", "elm", "oak"]
    >>> joint = wmcc.tabulate(truth, {"old": a, "new": b}, [2.0, 300.0, 5.5])
    >>> joint
    Joint table of 2 classes: 3 rows, total weight 307.5
    true  old  new  rows  weight
    oak   oak  elm     1     300
    oak   elm  oak     1     5.5
    elm   elm  elm     1       2
    >>> joint.cells.codes.T
    array([[0, 0, 0],
           [1, 0, 1],
           [1, 1, 0]])
    >>> joint["new"] == wmcc.tabulate(truth, b, [2.0, 300.0, 5.5])
    True
    """

    labels: tuple[Label, ...]
    names: tuple[str, ...]
    raw_cells: Stack
    ignored: int = 0
    drawn: SampleDesign = ROWS
    void: tuple[Label, ...] = ()

    _kind = "joint table"
    _form = StoredJointTable
    _title = "Joint table"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.names)) != self.axes - 1 or len(self.names) != self.axes - 1 or not self.names:
            raise InputError(
                f"`names` is {list(self.names)!r}; expected {self.axes - 1} different names of predictions."
            )

    @classmethod
    def empty(cls, names: Sequence[str], labels: Sequence[Label] = ()) -> JointTable:
        """Return a table without observations; with no labels it is the unit of ``+``."""
        return cls(_labels.given(labels), tuple(names), no_cells(1 + len(names)))

    @property
    def _sums(self) -> Sums:
        """The sums of the cells that hold observations, as vectors."""
        return self.cells.sums

    # ---- tables of fewer predictions ----------------------------------------------------------------------

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The table of each prediction, by its name: what `wmcc.tabulate` makes of the same rows."""
        fields = self.ignored, None, self.drawn, self.void
        return {name: Table(self.labels, self._along([name]), *fields) for name in self.names}

    def __getitem__(self, name: str) -> Table:
        self._check(name)
        return self.tables[name]

    def _check(self, name: str) -> None:
        if name not in self.names:
            raise InputError(f"there is no prediction {name!r}; the predictions are {_labels.listed(self.names)}.")

    __iter__ = None  # or else Python would try joint[0], joint[1] …

    def pair(self, a: str, b: str) -> JointTable:
        """Return the joint table of two of the predictions, in this order.

        Examples
        --------
        >>> import wmcc
        >>> joint = wmcc.tabulate([0, 1, 1], {"a": [0, 1, 1], "b": [0, 1, 0], "c": [0, 0, 0]})
        >>> joint.pair("c", "a")
        Joint table of 2 classes: 3 rows, total weight 3
        true  c  a  rows  weight
        1     0  1     2       2
        0     0  0     1       1
        """
        for name in (a, b):
            self._check(name)
        return replace(self, names=(a, b), raw_cells=self._along([a, b]))

    def _along(self, names: Sequence[str]) -> Stack:
        """Return the cells of some of the predictions."""
        axes = [1 + self.names.index(name) for name in names]
        return self.raw_cells.along([0, *axes, *range(self.axes, len(self.raw_cells.codes))])

    @classmethod
    def _merged(cls, tables: Sequence[JointTable]) -> JointTable:
        check_names([table.names for table in tables])
        return super()._merged(tables)

    # ---- showing ------------------------------------------------------------------------------------

    def _axis_names(self) -> list[str]:
        return ["true", *self.names]


def check_names(several: Sequence[tuple[str, ...]]) -> None:
    """Refuse to merge tables of different predictions."""
    for names in several[1:]:
        if names != several[0]:
            a, b = (", ".join(map(repr, x)) or "one prediction without a name" for x in (several[0], names))
            raise cannot_merge(f"one table has the predictions {a}, the other {b}", "the same names, in the same order")


def several_predictions(given: JointTable) -> JointTable:
    """Return the joint table that was given, if it has two predictions or more; refuse anything else."""
    joint: Any = given if isinstance(given, (JointTable, Table)) else getattr(given, "table", given)
    together = 'wmcc.tabulate(y_true, {"A": pred_a, "B": pred_b}, sample_weight)'
    if not isinstance(joint, JointTable):
        kind, hint = type(joint).__name__, f"tabulate the predictions of the same rows together: {together}."
        if kind == "Tables":
            hint = (
                "for each group: {key: wmcc.compare(joint) for key, joint in tables.items()}; for all: tables.total()."
            )
        came = f"a {kind}"
        if names_file(joint):
            came, hint = brief(os.fspath(joint)), of_file(joint, several=True)
        raise InputTypeError(f"expected a JointTable of two predictions or more; got {came}.", hint)
    if len(joint.names) < 2:
        raise InputError(f"the JointTable has one prediction, {joint.names[0]!r}; expected two or more.")
    return joint

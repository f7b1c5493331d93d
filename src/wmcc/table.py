"""The waist of the library: the weighted confusion table that every source makes and every reader reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from . import labels as _labels
from . import possible, storage
from .arraytypes import Array, ArrayLike, FloatArray, IntArray
from .errors import InputError
from .exact import Exact, integers
from .labels import Label
from .stack import Stack
from .sums import MOST_ROWS, Summed, Sums, frozen, merged_labels, positions
from .text import number

REST = "all other classes"
"""Their name where they are taken as one."""


class Margins(NamedTuple):
    """What the measures need of a table, as exact integers in one common unit.

    The measures do not change when all weights are scaled, so the unit does not matter.
    """

    s: int
    """Total weight."""
    r: list[int]
    """Weight per true class: the row sums."""
    q: list[int]
    """Weight per predicted class: the column sums."""
    d: list[int]
    """Weight of the correct rows per class: the diagonal."""


@dataclass(frozen=True, eq=False, repr=False)
class Table(Summed):
    r"""Weighted confusion table: row = true class, column = predicted class.

    Tables are made by `wmcc.tabulate`, merged with ``+`` (label sets are aligned; the sums stay exact, so
    the order of merging does not matter) and read by everything else. A table computes no measure.

    Parameters
    ----------
    labels
        The K classes, in the order of rows and columns.
    n
        Number of observations per cell, K x K.
    w_exact, w2_exact
        Σw and Σw² per cell, not rounded. `w` and `w2` are the float64 numbers nearest to them.
    w_min, w_max
        Smallest and largest weight per cell; NaN where there is no observation.
    ignored
        Rows left out because the caller named their label in ``ignore``.
    positive
        The positive class of a two-class table, if the caller named one.

    Examples
    --------
    >>> import wmcc
    >>> a = wmcc.tabulate(["oak", "elm", "oak"], ["oak", "oak", "oak"], [300.0, 2.0, 5.5])
    >>> a
    Table of 2 classes: 3 rows, total weight 307.5
    true \ predicted  elm    oak
    elm                 0      2
    oak                 0  305.5
    >>> a.n
    array([[0, 1],
           [0, 2]])
    >>> (a + a).w
    array([[  0.,   4.],
           [  0., 611.]])
    """

    labels: tuple[Label, ...]
    n: IntArray
    w_exact: Exact
    w2_exact: Exact
    w_min: FloatArray
    w_max: FloatArray
    ignored: int = 0
    positive: Label | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.positive is not None and (len(self.labels) > 2 or self.positive not in self.labels):
            raise InputError(
                f"positive={self.positive!r} must be one of the labels of a two-class table; "
                f"the labels are {_labels.listed(self.labels)}."
            )

    # ---- making ------------------------------------------------------------------------------------

    @classmethod
    def empty(cls, labels: Sequence[Label] = ()) -> Table:
        """Return a table without observations; with no labels it is the unit of ``+``."""
        labels = _labels.given(labels)
        return cls.from_counts(np.zeros((len(labels), len(labels)), dtype=np.int64), labels)

    @classmethod
    def from_counts(
        cls, n: ArrayLike, labels: Sequence[Label] | None = None, *, ignored: int = 0, positive: Label | None = None
    ) -> Table:
        """Table of observations that all weigh one, from a plain confusion matrix.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.mcc(wmcc.Table.from_counts([[50, 3], [2, 45]]))
        0.8999402959126063
        """
        counts = _counts(n)
        names = tuple(range(len(counts))) if labels is None else _labels.given(labels)
        if counts.shape != (len(names), len(names)):
            raise InputError(f"a matrix of shape {counts.shape} for {len(names)} labels; it must be square.")
        _labels.check_count(len(names))
        return cls(names, *Sums.from_counts(counts), ignored, positive)

    @classmethod
    def from_cells(
        cls,
        labels: Sequence[Label],
        n: ArrayLike,
        w: ArrayLike,
        w2: ArrayLike,
        w_min: ArrayLike,
        w_max: ArrayLike,
        *,
        ignored: int = 0,
        positive: Label | None = None,
    ) -> Table:
        """Table from K x K arrays of per-cell sums that something else computed."""
        names, counts = _labels.given(labels), _counts(n)
        floats = {name: _floats(x, name) for name, x in (("w", w), ("w2", w2), ("w_min", w_min), ("w_max", w_max))}
        for name, array in (("n", counts), *floats.items()):
            if array.shape != (len(names), len(names)):
                raise InputError(f"{name} has shape {array.shape}; {len(names)} labels need {(len(names),) * 2}.")
        return cls(names, *Sums.from_floats(counts, **floats, name=possible.by_labels(names)), ignored, positive)

    # ---- reading ------------------------------------------------------------------------------------

    @cached_property
    def true_sums(self) -> FloatArray:
        """Weight per true class: row sums."""
        return frozen(self.w_exact.sum(axis=1).floats())

    @cached_property
    def pred_sums(self) -> FloatArray:
        """Weight per predicted class: column sums."""
        return frozen(self.w_exact.sum(axis=0).floats())

    @cached_property
    def margins(self) -> Margins:
        """Exact margins in a common unit; see `Margins`."""
        digits, K = self.w_exact.digits, len(self.labels)
        sums = (np.add.reduce(digits, axis=2), np.add.reduce(digits, axis=1), digits.diagonal(axis1=1, axis2=2))
        whole = integers(np.concatenate(sums, axis=1))
        return Margins(sum(whole[:K]), whole[:K], whole[K : 2 * K], whole[2 * K :])

    @cached_property
    def stack(self) -> Stack:
        """The occupied cells: positions in ``labels`` of the true and of the predicted class, and their sums."""
        codes = np.stack(np.nonzero(self.n)).astype(np.int64)
        return Stack(codes, self._sums.take(tuple(codes)))

    def against_rest(self, label: Label) -> Table:
        r"""Return the table of two classes: this one, and all others as one.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.Table.from_counts([[5, 1, 0], [2, 7, 1], [0, 3, 4]], ["ash", "elm", "oak"]).against_rest("elm")
        Table of 2 classes: 23 rows, total weight 23
        true \ predicted   elm  all other classes
        elm                  7                  3
        all other classes    4                  9
        """
        if label not in self.labels:
            raise InputError(f"there is no class {label!r}; the labels are {_labels.listed(self.labels)}.")
        rest = REST if label != REST else f"{REST} but it"  # a class may be called so
        return Table((label, rest), *self._each_against_rest.take(self.labels.index(label)), self.ignored)

    @cached_property
    def _each_against_rest(self) -> Sums:
        """Sums of K tables of two classes each, from margins: adding up cells class by class would take K times K²."""

        def cells(both: Any, rows: Any, columns: Any, total: Any) -> Any:
            top, bottom = (both, rows - both), (columns - both, total - rows - columns + both)
            return np.stack([np.stack(top, axis=-1), np.stack(bottom, axis=-1)], axis=-2)

        def exact(x: Exact) -> Exact:
            planes = x.digits
            margins = planes.sum(axis=2), planes.sum(axis=1), planes.sum(axis=(1, 2))[:, np.newaxis]
            return Exact(cells(planes.diagonal(axis1=1, axis2=2), *margins), x.exponent)

        n = cells(self.n.diagonal(), self.n.sum(axis=1), self.n.sum(axis=0), self.n.sum())
        ends = (_ends_against_rest(x, f) for x, f in ((self.w_min, np.fmin), (self.w_max, np.fmax)))
        return Sums(n, exact(self.w_exact), exact(self.w2_exact), *ends)

    def _part(self, kept: Array) -> Table:
        """Return the table of the cells that are kept, the others empty."""
        cells = np.argwhere(kept)
        return self._of_cells(self.labels, cells, self._sums.take(tuple(cells.T)), 0)

    # ---- merging ------------------------------------------------------------------------------------

    def __add__(self, other: Table) -> Table:
        if not isinstance(other, Table):
            return NotImplemented
        names = merged_labels(self.labels, other.labels)
        if None not in (self.positive, other.positive) and self.positive != other.positive:
            raise InputError(
                f"one table has positive class {self.positive!r}, the other {other.positive!r}; they cannot be merged.",
                "tabulate both with the same positive=.",
            )
        positive = self.positive if self.positive is not None else other.positive
        if positive is not None and len(names) > 2:
            raise InputError(
                f"the merged table has {len(names)} classes; with positive={positive!r} it can have two.",
                "tabulate without positive=.",
            )
        sums = self._aligned(names)._sums + other._aligned(names)._sums
        return Table(names, *sums, self.ignored + other.ignored, positive)

    def __sub__(self, other: Table) -> Table:
        """Return what remains when the rows of ``other``, a part of this table, are taken away.

        The sums are exact: nothing drifts. `w_min` and `w_max` are bounds where the tables do not tell them.
        """
        if not isinstance(other, Table):
            return NotImplemented
        seen = [k for k in range(len(other.labels)) if other.n[k].any() or other.n[:, k].any()]
        try:
            if not {other.labels[k] for k in seen} <= set(self.labels):
                raise ValueError("it has other classes")
            part, ignored = other._take(seen)._aligned(self.labels), self.ignored - other.ignored
            n, w, w2 = self.n - part.n, self.w_exact - part.w_exact, self.w2_exact - part.w2_exact
            if n.min(initial=0) < 0 or ignored < 0:
                raise ValueError("it has more rows")
            if (part.w_min < self.w_min).any() or (part.w_max > self.w_max).any():
                raise ValueError("it has smaller or larger weights")
            low, high = (np.where(n > 1, x, np.where(n == 1, w.floats(), np.nan)) for x in (self.w_min, self.w_max))
            possible.check_cells(n, w, w2, low, high, possible.by_labels(self.labels))
        except ValueError as problem:
            reason = str(problem).partition("\n")[0].rstrip(".")
            raise InputError(f"the table taken away is no part of this one: {reason}.") from None
        return Table(self.labels, n, w, w2, low, high, ignored, self.positive)

    def _faded(self, factor: float) -> Table:
        """Return the table of the same rows, all weights multiplied by a factor and the sums rounded."""
        w, w2 = self.w_exact.faded(factor), self.w2_exact.faded(factor).faded(factor)
        return replace(self, w_exact=w, w2_exact=w2, w_min=self.w_min * factor, w_max=self.w_max * factor)

    def _take(self, classes: Sequence[int]) -> Table:
        """Return the table of some of the classes, by position: theirs are the rows and columns that remain."""
        where = np.array(classes, dtype=np.intp)
        labels = tuple(self.labels[k] for k in classes)
        return Table(labels, *self._sums.take(np.ix_(where, where)), self.ignored)

    def _placed(self, names: tuple[Label, ...], mine: Sequence[Label]) -> Table:
        """Return the table over the classes ``names``, where its own are called ``mine``."""
        where = positions(names, mine)
        return Table(names, *self._sums.scatter((len(names),) * 2, np.ix_(where, where)), self.ignored)

    @classmethod
    def _of_cells(cls, labels: tuple[Label, ...], cells: IntArray, sums: Sums, ignored: int) -> Table:
        """Table from a list of cells: positions of their classes, a row each, and their sums."""
        return cls(labels, *sums.scatter((len(labels),) * 2, tuple(cells.T)), ignored)

    def _met(self) -> IntArray:
        """How often each class occurs, as a true label or as a predicted one."""
        count: IntArray = np.add.reduce(self.n, axis=0) + np.add.reduce(self.n, axis=1)
        return count

    # ---- storing ------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings: what `to_json` writes.

        Cells are listed one by one, empty ones left out. ``w_exact`` and ``w2_exact`` hold the unrounded sums
        as ``0x<integer>p<exponent>``; ``w`` and ``w2`` are the same rounded, for readers in other languages.
        """
        return storage.pack({field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Table:
        """Read what `to_dict` made; anything else is refused with a `SchemaError`."""
        return cls(**storage.unpack(data))

    def to_json(self) -> str:
        """JSON text of `to_dict`."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Table:
        """Read what `to_json` wrote.

        Examples
        --------
        >>> import wmcc
        >>> table = wmcc.tabulate([0, 1, 1], [0, 1, 0], [0.1, 0.2, 0.3])
        >>> wmcc.Table.from_json(table.to_json()) == table
        True
        """
        return cls.from_dict(storage.parse(text))

    # ---- showing ------------------------------------------------------------------------------------

    def _summary(self) -> str:
        one = f", positive class {self.positive!r}" if self.positive is not None else ""
        return super()._summary() + one

    def _cells(self, most: int) -> tuple[list[list[str]], int]:
        shown = list(range(len(self.labels)))[:most]
        names = [str(self.labels[k]) for k in shown]
        rows = [["true \\ predicted", *names]]
        rows += [[name, *(number(self.w[a, b]) for b in shown)] for a, name in zip(shown, names, strict=True)]
        return rows, len(self.labels)


def _counts(n: ArrayLike) -> IntArray:
    """Numbers of observations, as a new array."""
    array = _array(n, "n")
    if array.size and (array.dtype.kind not in "iu" or array.min() < 0 or array.sum(dtype=np.float64) >= MOST_ROWS):
        raise InputError(
            f"n must hold counts: integers of at least 0, fewer than 2**62 together; its dtype is {array.dtype}.",
            "sums of weights need the number of rows as well: see Table.from_cells.",
        )
    return array.astype(np.int64)


def _floats(x: ArrayLike, name: str) -> FloatArray:
    array = _array(x, name)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} must hold real numbers; its dtype is {array.dtype}.")
    return array.astype(np.float64) + 0.0


def _array(x: ArrayLike, name: str) -> Array:
    if np.ma.is_masked(x):
        raise InputError(f"{name} has masked entries.")
    try:
        return np.array(x)
    except ValueError as problem:
        raise InputError(f"{name} is no matrix: {problem}") from None


def _ends_against_rest(x: FloatArray, end: Any) -> FloatArray:
    """Smallest or largest entry of the four parts of a matrix, for each row and column of the same number."""
    K, others = len(x), x.copy()
    np.fill_diagonal(others, np.nan)
    none = np.full((K, 1), np.nan)
    before = np.hstack([none, end.accumulate(x, axis=1)[:, :-1]])
    after = np.hstack([end.accumulate(x[:, ::-1], axis=1)[:, -2::-1], none])
    rest = end(before, after)  # of each row, without a column
    np.fill_diagonal(rest, np.nan)
    parts = x.diagonal(), end.reduce(others, axis=1), end.reduce(others, axis=0), end.reduce(rest, axis=0)
    return np.stack(parts, axis=-1).reshape(K, 2, 2)

"""What is known of the cells of a table, whatever its axes: counts, exact sums, smallest and largest weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from . import labels as _labels
from . import possible
from .arraytypes import FloatArray, IndexArray, IntArray
from .errors import InputError
from .exact import Exact
from .labels import Label
from .text import grid, html, number

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
        if int(self.n.sum()) + int(other.n.sum()) >= MOST_ROWS:
            raise InputError("the merged table would have 2**62 rows or more, which its counts cannot hold.")
        return Sums(
            self.n + other.n,
            self.w_exact + other.w_exact,
            self.w2_exact + other.w2_exact,
            np.fmin(self.w_min, other.w_min),
            np.fmax(self.w_max, other.w_max),
        )

    def beside(self, other: Sums) -> Sums:
        """Return the cells of both, these first."""
        n, low, high = (np.concatenate([a, b]) for a, b in zip(self._plain(), other._plain(), strict=True))
        return Sums(n, self.w_exact.beside(other.w_exact), self.w2_exact.beside(other.w2_exact), low, high)

    def runs(self, starts: IndexArray) -> Sums:
        """Add up runs of neighbouring cells, of vectors; each begins at one of ``starts``, the first at 0."""
        if int(self.n.sum(dtype=np.float64)) >= MOST_ROWS:
            raise InputError("the merged table would have 2**62 rows or more, which its counts cannot hold.")
        return Sums(
            np.add.reduceat(self.n, starts),
            self.w_exact.runs(starts),
            self.w2_exact.runs(starts),
            np.fmin.reduceat(self.w_min, starts),
            np.fmax.reduceat(self.w_max, starts),
        )

    def same(self, other: Sums) -> bool:
        """Whether all numbers are equal."""
        exact = self.w_exact == other.w_exact and self.w2_exact == other.w2_exact
        return exact and all(_same(a, b) for a, b in zip(self._plain(), other._plain(), strict=True))

    def _plain(self) -> tuple[IntArray, FloatArray, FloatArray]:
        return self.n, self.w_min, self.w_max

    def take(self, at: Any) -> Sums:
        """Return some of the cells, by any index of NumPy."""
        return Sums(self.n[at], self.w_exact.take(at), self.w2_exact.take(at), self.w_min[at], self.w_max[at])

    def scatter(self, shape: tuple[int, ...], at: Any) -> Sums:
        """Return an array of empty cells to which these were added at ``at``; several may come to one place."""
        n, low, high = np.zeros(shape, dtype=np.int64), np.full(shape, np.nan), np.full(shape, np.nan)
        for add, out, own in ((np.add, n, self.n), (np.fmin, low, self.w_min), (np.fmax, high, self.w_max)):
            add.at(out, at, own)
        return Sums(n, self.w_exact.scatter(shape, at), self.w2_exact.scatter(shape, at), low, high)


class Summed:
    """What tables of two and of three labels have in common: classes, and the sums of their cells."""

    labels: tuple[Label, ...]
    n: IntArray
    w_exact: Exact
    w2_exact: Exact
    w_min: FloatArray
    w_max: FloatArray
    ignored: int

    _listed_by = "classes"
    """What is counted where a table is too long to be shown."""

    def __post_init__(self) -> None:
        for array in (self.n, self.w_min, self.w_max):
            array.flags.writeable = False
        if type(self.ignored) is not int or self.ignored < 0:
            raise InputError(f"ignored is {self.ignored!r}; expected a number of rows.")

    @property
    def _sums(self) -> Sums:
        """The sums of all cells, together."""
        return Sums(self.n, self.w_exact, self.w2_exact, self.w_min, self.w_max)

    @cached_property
    def w(self) -> FloatArray:
        """Σw per cell: the float64 nearest to the exact sum."""
        return frozen(self.w_exact.floats())

    @cached_property
    def w2(self) -> FloatArray:
        """Σw² per cell: the float64 nearest to the exact sum of the rounded squares."""
        return frozen(self.w2_exact.floats())

    @cached_property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.w_exact.sum().floats())

    @property
    def rows(self) -> int:
        """Number of observations."""
        return int(self.n.sum())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(_same(mine, its) for mine, its in zip(self._values(), other._values(), strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that a copy is as frozen as the original.
        return type(self), self._values()

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented  # so that sum(tables) works

    def _aligned(self, names: tuple[Label, ...]) -> Self:
        """Return the table over the classes ``names``, which include its own."""
        return self if names == self.labels else self._placed(names, self.labels)

    def _relabelled(self, names: Sequence[Label]) -> Self:
        """Return the table with other names for its classes, sorted; classes of one name become one."""
        return self._placed(_labels.ordered(names), names)

    def _placed(self, names: tuple[Label, ...], mine: Sequence[Label]) -> Self:
        """Return the table over the classes ``names``, where its own are called ``mine``."""
        raise NotImplementedError

    def _summary(self) -> str:
        out = f"{self.ignored:,} ignored, " if self.ignored else ""
        K = len(self.labels)
        classes = "1 class" if K == 1 else f"{K:,} classes"
        return f"{type(self).__name__} of {classes}: {self.rows:,} rows, {out}total weight {number(self.total)}"

    def _cells(self, most: int) -> tuple[list[list[str]], int]:
        """Return a heading and as many rows to show, and how many there are."""
        raise NotImplementedError

    def _left_out(self, most: int, there: int) -> list[str]:
        return [f"… the first {most} of {there:,} {self._listed_by}"] if there > most else []

    def __repr__(self) -> str:
        rows, there = self._cells(10)
        return "\n".join([self._summary(), *([] if len(rows) == 1 else [grid(rows)]), *self._left_out(10, there)])

    def _repr_html_(self) -> str:
        rows, there = self._cells(50)
        if len(rows) == 1:
            return html({}, [self._summary()])
        return html({self._summary(): rows}, self._left_out(50, there))


def positions(names: tuple[Label, ...], mine: Sequence[Label]) -> IndexArray:
    """Where each of some classes is among ``names``."""
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[name] for name in mine], dtype=np.intp)


def merged_labels(a: tuple[Label, ...], b: tuple[Label, ...]) -> tuple[Label, ...]:
    """Classes of two tables together."""
    names = _labels.merged(a, b)
    _labels.check_count(len(names))
    return names


def frozen(array: FloatArray) -> FloatArray:
    """Return the array, not to be written to."""
    array.flags.writeable = False
    return array


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return bool(a == b)

"""Rows into cells, through the kernel: all cells of a table, or those of a joint table that occur."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .. import tally
from ..arraytypes import Array, IntArray
from ..exact import Exact, check_digits
from ..joint import JointTable
from ..labels import MAX_CLASSES
from ..sums import Sums
from ..table import Table
from ..tally._numpy import codes
from .blocks import BLOCK
from .encoders import Encoder
from .problems import MOST_CELLS, too_many_cells

FEW_CELLS, MANY_CELLS = 1 << 12, 1 << 20
"""Joint tables of few cells have a place for each, and those of many have not; between, it depends on the rows. With
2**20 cells there is memory for weights of any size, whether they occur or not (`wmcc.exact.MOST_DIGITS`)."""

CODES = tuple(range(MAX_CLASSES))
_KEYS = (MAX_CLASSES,) * 3  # a cell as one integer, whatever the number of classes is or will be
_IGNORED, _UNKNOWN = -1, -2  # keys of rows that belong to no cell


class Part(NamedTuple):
    """What a kernel found: a table over codes, and how many rows it could not place there."""

    table: Any
    unknown: int
    bad_weights: int

    def __add__(self, other: Part) -> Part:  # type: ignore[override]
        return Part(self.table + other.table, self.unknown + other.unknown, self.bad_weights + other.bad_weights)


def begun(classes: int, weighted: bool, axes: int, rows: int) -> Whole | Occupied:
    """Return what rows, so many in all, are to be added to."""
    sparse = axes == 3 and classes**axes > max(FEW_CELLS, min(rows, MANY_CELLS))
    return Occupied(weighted) if sparse else Whole(classes, weighted, axes)


class Whole:
    """A table of two or three labels with a place for each cell."""

    def __init__(self, classes: int, weighted: bool, axes: int) -> None:
        self.classes, self._weighted, self._axes = classes, weighted, axes
        self._tally = tally.active.Tally(classes, weighted, axes)

    def add(self, coders: Sequence[Encoder], blocks: list[Array], weights: Array | None) -> None:
        """Add rows: their labels as the encoders prepared them."""
        scales = (self.classes**k for k in reversed(range(self._axes)))
        with _bounded(self.classes**self._axes):
            self._tally.add(*(e.argument(x, k) for e, x, k in zip(coders, blocks, scales, strict=True)), weights)

    def parts(self) -> list[Part]:
        """Return what was found."""
        sums, ignored, *bad = _read(self._tally, (self.classes,) * self._axes, self._weighted)
        if self._axes == 2:
            return [Part(Table(CODES[: self.classes], *sums, ignored), *bad)]
        cells = np.argwhere(sums.n)
        return [Part(JointTable(CODES[: self.classes], cells, *sums.take(tuple(cells.T)), ignored), *bad)]


class Occupied:
    """A joint table of any number of classes, with a place for each cell that occurs."""

    classes = MAX_CLASSES

    def __init__(self, weighted: bool) -> None:
        self._weighted, self._done = weighted, list[Part]()
        self._known = tally.active.Dictionary(8)
        self._keys: IntArray = np.zeros(0, dtype=np.int64)
        self._begin(1 << 12)

    def _begin(self, room: int) -> None:
        self._room, self._tally = room, tally.active.Tally(room, self._weighted, 1)

    def add(self, coders: Sequence[Encoder], blocks: list[Array], weights: Array | None) -> None:
        """Add rows: their labels as the encoders prepared them."""
        arguments = [e.argument(x, 1) for e, x in zip(coders, blocks, strict=True)]
        for start in range(0, len(blocks[0]), BLOCK):
            rows = slice(start, start + BLOCK)
            column = self._column([codes(x, rows) for x in arguments])
            if len(self._keys) > self._room:
                self._done.append(self._part())
                self._begin(max(2 * self._room, len(self._keys)))
            with _bounded(self._room):
                self._tally.add(column, None if weights is None else weights[rows])

    def _column(self, labels: list[IntArray]) -> tuple[Any, ...]:
        """What the kernel takes for a column, made of the codes of three labels: codes of cells as they turn up."""
        flags = np.bitwise_or.reduce(labels)
        t, a, b = labels
        keys = np.where(flags < tally.IGNORED, (t * MAX_CLASSES + a) * MAX_CLASSES + b, _UNKNOWN)
        keys[flags & tally.IGNORED != 0] = _IGNORED
        cells = np.empty(len(keys), dtype=np.int32)
        if self._known.encode(keys.view("V8"), cells, MOST_CELLS) < len(keys):
            raise too_many_cells(MOST_CELLS)
        self._keys = np.frombuffer(self._known.keys(), np.int64)
        places = np.arange(len(self._keys), dtype=np.uint32)
        places[self._keys == _IGNORED], places[self._keys == _UNKNOWN] = tally.IGNORED, tally.UNKNOWN
        return (cells, 0, len(places), 0, places)

    def _part(self) -> Part:
        sums, ignored, *bad = _read(self._tally, (self._room,), self._weighted)
        used = np.flatnonzero(sums.n)
        cells = np.stack(np.unravel_index(self._keys[used], _KEYS), axis=1)
        return Part(JointTable._of_cells(CODES, cells, sums.take(used), ignored), *bad)

    def parts(self) -> list[Part]:
        """Return what was found."""
        return [*self._done, self._part()]


@contextmanager
def _bounded(cells: int) -> Iterator[None]:
    """Say what it means that sums have too many planes of digits, which the compiled kernel counts."""
    try:
        yield
    except OverflowError as problem:
        check_digits(problem.args[0], cells)
        raise


def _read(kernel_tally: Any, shape: tuple[int, ...], weighted: bool) -> tuple[Sums, int, int, int]:
    """Sums of the cells of a kernel's tally, and the numbers of ignored and unknown rows and of bad weights."""
    with _bounded(math.prod(shape)):
        n, least, most, w, w2, *counts = kernel_tally.result()
    n = np.frombuffer(n, np.int64).reshape(shape)
    if not weighted:
        return Sums.from_counts(n), *counts
    least, most = (np.frombuffer(x, np.float64).reshape(shape) for x in (least, most))
    planes = [len(x) // 8 // max(1, math.prod(shape)) for _, x in (w, w2)]
    w, w2 = (
        Exact.trusted(np.frombuffer(x, np.int64).reshape(count, *shape), exponent)
        for (exponent, x), count in zip((w, w2), planes, strict=True)
    )
    return Sums(n, w, w2, least, most), *counts

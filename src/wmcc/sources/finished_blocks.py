"""Cells of blocks of a raster that is read from top to bottom, which end with the windows of their rows.

They are put aside in a few bytes each, and put in order once, at the end: nobody adds to them, and those of blocks
further down come after them, so that their places follow from how many there are.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any

import numpy as np

from ..core import labels as _labels
from ..core.arraytypes import Array, IntArray
from ..core.base_table import no_cells, positions
from ..core.design import SampleDesign
from ..core.stack import Stack
from ..core.sums import Sums
from ..core.tables import merge

MOST_PAIRS = 1 << 22
"""Combinations of classes that are counted for each part; tables of more are merged as others are."""


class FinishedBlocks:
    """Tables of blocks that no later pixel is in: of one raster, and from top to bottom."""

    def __init__(self) -> None:
        self._parts: list[tuple[Any, Any]] = []  # tables without cells, and their cells

    def __bool__(self) -> bool:
        return bool(self._parts)

    def taken_from(self, table: Any, row: int | None = None) -> Any:
        """Take the blocks above a row of blocks, or all; return the table of the others."""
        units, cells = table.drawn.units, table.raw_cells
        count = len(units)
        if row is not None and count:
            count = bisect_left(units, (*units[0][:-2], row))  # the row and the column of a block come last
        done = cells.codes[-1] < count
        self._parts.append((_without_cells(table, units[:count], table.ignored), _packed(cells.take(done))))
        rest = cells.take(~done)
        codes = np.concatenate([rest.codes[:-1], rest.codes[-1:] - count])
        return replace(_without_cells(table, units[count:], 0), raw_cells=Stack(codes, rest.sums))

    def table(self) -> Any:
        """Return the table of all that was taken, which is forgotten."""
        tables, cells = zip(*self._parts, strict=True)
        labels, void = _labels.merged((table.labels, table.void) for table in tables)
        axes = tables[0].axes
        self._parts = []
        if not all(isinstance(own, list) for own in cells) or len(labels) ** axes > MOST_PAIRS:
            return merge([replace(t, raw_cells=_unpacked(own)) for t, own in zip(tables, cells, strict=True)])
        units = tuple(chain.from_iterable(table.drawn.units for table in tables))
        firsts = accumulate((len(table.drawn.units) for table in tables), initial=0)
        places = [positions(labels, table.labels) for table in tables]
        made = _in_order(cells, places, list(firsts)[:-1], len(labels))
        ignored = sum(table.ignored for table in tables)
        return tables[0]._over(labels, made, void, drawn=SampleDesign("clusters", units), ignored=ignored)


def _without_cells(table: Any, units: tuple[Any, ...], ignored: int) -> Any:
    none = no_cells(len(table.raw_cells.codes))
    return replace(table, raw_cells=none, drawn=SampleDesign("clusters", units), ignored=ignored)


def _packed(cells: Stack) -> Stack | list[Array]:
    """Codes and numbers of rows in the smallest integers that hold them, if all rows weigh one; else the cells."""
    sums = cells.sums
    if not ((sums.w_min == 1).all() and (sums.w_max == 1).all()):
        return cells
    return [own.astype(np.min_scalar_type(int(own.max(initial=0)))) for own in (*cells.codes, sums.n)]


def _unpacked(cells: Stack | list[Array]) -> Stack:
    if isinstance(cells, Stack):
        return cells
    *codes, n = (own.astype(np.int64) for own in cells)
    return Stack(np.stack(codes), Sums.from_counts(n))


def _in_order(parts: tuple[list[Array], ...], places: list[Any], firsts: list[int], classes: int) -> Stack:
    """Return the cells of all parts; ``places`` has the classes of each among all, ``firsts`` its first unit."""
    axes = len(parts[0]) - 2
    pairs = []
    counts = np.zeros(classes**axes, dtype=np.int64)
    for own, place in zip(parts, places, strict=True):
        pair = np.zeros(len(own[0]), dtype=np.min_scalar_type(len(counts)))
        for codes in own[:axes]:
            pair = pair * pair.dtype.type(classes) + place.astype(pair.dtype)[codes]
        pairs.append(pair)
        counts += np.bincount(pair, minlength=len(counts))
    starts: IntArray = np.cumsum(counts) - counts
    out = np.empty((axes + 2, int(counts.sum())), dtype=np.int64)
    for own, place, first, pair in zip(parts, places, firsts, pairs, strict=True):
        order = np.argsort(pair, kind="stable")  # mostly in order already; units of a pair are
        here = np.bincount(pair, minlength=len(counts))
        at = np.empty(len(pair), dtype=np.int64)
        at[order] = np.arange(len(pair)) + np.repeat(starts - (np.cumsum(here) - here), here)
        starts += here
        for line, codes in zip(out, own[:axes], strict=False):
            line[at] = place[codes]
        out[axes, at] = own[axes].astype(np.int64) + first
        out[-1, at] = own[-1]
    return Stack(out[:-1], Sums.from_counts(out[-1]))

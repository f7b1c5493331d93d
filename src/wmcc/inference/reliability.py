"""Whether an interval or a comparison can be relied on: on how few rows its standard error rests.

All numbers may be stacks, for many tables at once. The limits were chosen by simulation: docs/coverage.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arraytypes import FloatArray, IntArray
from ..measures.base import Measure
from ..measures.stacks import over
from ..text import number
from .influence import Cells

FEW_ROWS = 5.0
"""Influential rows below which an interval is called unreliable."""

HEAVY = 0.3
"""Share of the variance that the heaviest rows may have before it is."""

FEW_CLUSTERS = 5 - 1e-9
"""Effective clusters below which it is; five of equal weight are five, whatever rounding says."""

FEW_DIFFERENT = 10.0
"""Effective rows on which two predictions differ, below which their comparison is called unreliable."""


SHORT = "the interval may be too short"
ROWS_ARE_FEW = f"fewer than about {number(FEW_ROWS)} influential rows determine the standard error; {SHORT}"
ROW_IS_HEAVY = f"a row as heavy as the heaviest would make up more than {100 * HEAVY:.0f} % of the variance; {SHORT}"
CLASSES_ARE_HEAVY = f"the heaviest row of each class makes up more than {100 * HEAVY:.0f} % of the variance; {SHORT}"
CLUSTERS_ARE_FEW = f"the clusters are worth fewer than {FEW_CLUSTERS:.0f} of equal weight; {SHORT}"
FEW_DIFFER = f"the predictions differ on fewer than {number(FEW_DIFFERENT)} effective rows; {SHORT}"


def influential_rows(slope: FloatArray, cells: Cells, variance: Any) -> FloatArray:
    """How many rows of usual weight, in the cell where a row matters most, would have this variance.

    That cell may be empty: if few rows there would make up the variance, some may well have been missed.
    """
    usual = cells.w2.sum(axis=-1) / cells.n.sum(axis=-1)
    return np.asarray(variance / ((slope * slope).max(axis=-1) * usual))


def heaviest_row(slope: FloatArray, cells: Cells, variance: Any) -> FloatArray:
    """Share of the variance that a row as heavy as the heaviest has, on average over the weight of the table.

    It need not be the share of that row itself: the next heavy row may fall into a cell where it matters more.
    """
    most = cells.w_max.max(axis=-1)
    return np.asarray((slope * slope * cells.w).sum(axis=-1) * most * most / variance)


def heaviest_of_classes(slope: FloatArray, cells: Cells, variance: Any, true: IntArray) -> FloatArray:
    """Share of the heaviest row in the squared weights of its true class, averaged by the variance of the classes.

    ``true`` is the true class of each cell, in ascending order.
    """
    starts = np.flatnonzero(np.diff(true, prepend=-1))
    of_class = np.add.reduceat(slope * slope * cells.w2, starts, axis=-1)
    squares = np.add.reduceat(cells.w2, starts, axis=-1)
    most = np.maximum.reduceat(cells.w_max, starts, axis=-1)
    return np.asarray((of_class * over(most * most, squares)).sum(axis=-1) / variance)


def differing(cells: Cells, differ: Any) -> FloatArray:
    """Effective number of rows on which two predictions differ; ``differ`` says in which cells they do."""
    w, w2 = (x[..., differ].sum(axis=-1) for x in (cells.w, cells.w2))
    return over(w * w, w2)


def interval_doubts(
    measure: Measure, slope: FloatArray, cells: Cells, variance: Any, true: IntArray, clusters: Any = None
) -> dict[str, Any]:
    """Sentences that speak against intervals, and for which of them each holds.

    ``clusters`` is the effective number of clusters, if rows come in clusters: then it is they that may be heavy.
    """
    out = {ROWS_ARE_FEW: influential_rows(slope, cells, variance) < FEW_ROWS}
    if clusters is not None:
        return {CLUSTERS_ARE_FEW: clusters < FEW_CLUSTERS, **out}
    out[ROW_IS_HEAVY] = heaviest_row(slope, cells, variance) > HEAVY
    return {**out, **_of_classes(measure, slope, cells, variance, true)}


def comparison_doubts(
    measure: Measure, slope: FloatArray, cells: Cells, variance: Any, true: IntArray, differ: Any, clusters: Any = None
) -> dict[str, Any]:
    """Sentences that speak against comparisons, and for which of them each holds; ``differ`` as in `differing`.

    A heavy row moves a difference and its standard error alike, so it is no reason by itself.
    """
    out = {
        FEW_DIFFER: differing(cells, differ) < FEW_DIFFERENT,
        ROWS_ARE_FEW: influential_rows(slope, cells, variance) < FEW_ROWS,
    }
    if clusters is not None:
        return {CLUSTERS_ARE_FEW: clusters < FEW_CLUSTERS, **out}
    return {**out, **_of_classes(measure, slope, cells, variance, true)}


def _of_classes(measure: Measure, slope: FloatArray, cells: Cells, variance: Any, true: IntArray) -> dict[str, Any]:
    """In a mean over classes a few heavy rows may decide the score of a class, though not that of the whole table."""
    if not measure.over_classes:
        return {}
    return {CLASSES_ARE_HEAVY: heaviest_of_classes(slope, cells, variance, true) > HEAVY}


def that_hold(doubts: dict[str, Any]) -> tuple[str, ...]:
    """Sentences that hold, of those about one table."""
    return tuple(why for why, holds in doubts.items() if holds)

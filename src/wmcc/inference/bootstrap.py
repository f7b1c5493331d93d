"""Intervals from resampled tables: a check of those from one table, which are faster and no worse."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.design import WORDS
from ..core.table import Table
from ..errors import InputTypeError
from ..measures.base import Measure, Shares
from ..measures.checks import whole_number
from .cells import balance
from .estimate import Interval, doubts, quietly, value_or_problem, within_range
from .influence import Sample

FEWEST = 100
"""Resamples below which the ends of an interval mean nothing."""


@quietly
def bootstrap_interval(
    sample: Sample[Table], measure: Measure, level: float, resample: Callable[[], FloatArray]
) -> Interval:
    """Percentile interval of a measure; ``resample`` gives the occupied cells of resampled tables, up to a factor."""
    cells = sample.cells
    value, problem = value_or_problem(measure, sample)

    def answer(low: float, high: float, se: float, *warnings: str, problem: str | None = None) -> Interval:
        why = () if problem else (*sample.doubts, *warnings)
        sizes = *sample.sizes, why, problem, None, sample.clusters_eff
        return Interval(measure.name, level, "bootstrap", value, low, high, se, nan, *sizes)

    if problem is not None:
        return answer(nan, nan, nan, problem=problem)
    tables = resample()
    tables = tables[tables.any(axis=1)]  # of few rows none may be drawn
    values = measure.near(Shares.of_some_cells(tables, cells.codes, cells.classes, cells.counted))
    low, high = within_range(measure, value, *np.quantile(values, [(1 - level) / 2, (1 + level) / 2]))
    se = float(values.std(ddof=1))
    if se < 1e-14:
        return answer(low, high, se, "all resamples have the same score, so they show no sampling error")
    of_all = measure.slope(Shares.of(sample.table), value)
    slope = balance(of_all.of_table(cells.codes), cells)
    variance = np.float64(sample.precision(slope).variance)  # which may be 0, and is divided by
    return answer(low, high, se, *doubts(sample, measure, slope, of_all, variance))


def resample_table(sample: Sample[Table], resamples: int, seed: int) -> FloatArray:
    """Resample the clusters of a table, or its cells where all rows of a cell have the same weight."""
    count = whole_number(resamples, "resamples", FEWEST)
    source = np.random.default_rng(whole_number(seed, "seed", 0))
    sums, clusters = sample.table.cells.sums, sample.clusters
    if sample.by_design:
        raise InputTypeError(
            f"the bootstrap draws rows or clusters of one population, and the rows of this table are "
            f"{WORDS[sample.table.drawn.kind]}.",
            "use `method` 'fisher' or 'delta', which use the design.",
            "method",
        )
    if clusters is not None:
        drawn = source.multinomial(clusters.count, np.full(clusters.count, 1 / clusters.count), size=count)
        return clusters.sum_of(drawn.astype(np.float64))
    if not has_equal_weights(sample.table):
        raise InputTypeError(
            "the bootstrap needs the rows, and this table has only sums of rows with unequal weights.",
            "resample the rows: wmcc.bootstrap(y_true, y_pred, sample_weight); or use another method.",
        )
    drawn = source.multinomial(sample.count, sums.n / sample.count, size=count)
    return np.asarray(drawn * (sample.cells.w / sums.n))


def has_equal_weights(table: Table) -> bool:
    """Whether all rows of a cell have the same weight, in every cell."""
    sums = table.cells.sums
    return bool((sums.w_min == sums.w_max).all())

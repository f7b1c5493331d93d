"""Intervals from resampled tables: a check of those from one table, which are faster and no worse."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.table import Table
from ..errors import InputError, InputTypeError
from ..measures.base import Measure, Shares
from ..sources.options import whole_number
from ..sources.resample import resampled_rows
from .diagnostics import effective_sample_size
from .influence import Cells, Clusters, balanced, of_data
from .interval import Interval, contained, counted, doubts, quietly, scored, too_few

FEWEST = 100
"""Resamples below which the ends of an interval mean nothing."""


@quietly
def bootstrap_interval(
    data: Table | Clusters, measure: Measure, level: float, rows: Any, resamples: Any, seed: Any, progress: Any
) -> Interval:
    """Percentile interval of a measure; ``rows`` are what the table was made of, if they are at hand."""
    table = data.whole if isinstance(data, Clusters) else data
    value, undefined = scored(measure, table)
    count = whole_number(resamples, "resamples")
    if count is None or count < FEWEST:
        raise InputError(f"resamples is {resamples!r}; expected a whole number of at least {FEWEST}.")
    clusters = data.count if isinstance(data, Clusters) else None
    cells = Cells.of(table)
    n_eff = data.n_eff if isinstance(data, Clusters) else effective_sample_size(table)

    def answer(low: float, high: float, se: float, *warnings: str, problem: str | None = None) -> Interval:
        return Interval(measure.name, level, "bootstrap", value, low, high, se, nan, n_eff, clusters, warnings, problem)

    problem = undefined or too_few(*counted(data), n_eff)
    if problem is not None:
        return answer(nan, nan, nan, problem=problem)
    tables = resampled_tables(data, rows, count, seed, progress)
    tables = tables[tables.any(axis=1)]  # of few rows none may be drawn
    values = measure.near(Shares.of_some_cells(tables, cells.codes, cells.classes))
    low, high = contained(measure, value, *np.quantile(values, [(1 - level) / 2, (1 + level) / 2]))
    se = float(values.std(ddof=1))
    if se < 1e-14:
        return answer(low, high, se, "all resamples have the same score: what could vary it was not seen")
    of_all = measure.slope(Shares.of(table), value)
    slope = balanced(of_all.of_table(cells.codes), cells)
    variance = np.float64(of_data(slope, cells, data).variance)  # which may be 0, and is divided by
    return answer(low, high, se, *doubts(data, measure, slope, of_all, cells, variance))


def resampled_tables(data: Table | Clusters, rows: Any, resamples: int, seed: Any, progress: Any) -> FloatArray:
    """Occupied cells of resampled tables, up to a factor: of clusters, of cells of equal weights, or of rows."""
    table = data.whole if isinstance(data, Clusters) else data
    sums = table.stack.sums
    if isinstance(data, Clusters):
        drawn = _source(seed).multinomial(data.count, np.full(data.count, 1 / data.count), size=resamples)
        return data.moved(drawn.astype(np.float64))
    if (sums.w_min == sums.w_max).all():
        drawn = _source(seed).multinomial(table.rows, sums.n / table.rows, size=resamples)
        return np.asarray(drawn * (Cells.of(table).w / sums.n))
    if rows is None:
        raise InputTypeError(
            "the bootstrap resamples rows, and a table whose cells hold unequal weights does not have them.",
            "give y_true, y_pred and sample_weight; or a table made with cluster=, of which clusters are resampled.",
        )
    y_true, y_pred, sample_weight, _, options = rows
    given = (y_true, y_pred, sample_weight)
    codes, ignore = table.stack.codes, options.get("ignore")
    return resampled_rows(table.labels, codes, given, ignore, resamples, _checked(seed), progress)


def _source(seed: Any) -> np.random.Generator:
    return np.random.default_rng(_checked(seed))


def _checked(seed: Any) -> int:
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0:
        return int(seed)
    raise InputError(f"seed is {seed!r}; expected a whole number of at least 0.")

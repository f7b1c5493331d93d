"""The one interval that needs rows: the bootstrap of rows of unequal weights."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..measures.base import Measure, MeasureName, for_tabulated
from ..measures.checks import checked_level, named_measure, whole_number
from ..sources import tabulate
from ..sources.resample import resample_rows
from .bootstrap import FEWEST, bootstrap_interval, has_equal_weights, resample_table
from .estimate import Interval
from .influence import Sample


@for_tabulated("wmcc.interval")
def bootstrap(
    y_true: Any,
    y_pred: Any,
    sample_weight: Any = None,
    *,
    measure: MeasureName | Measure = "ecc",
    cluster: Any = None,
    confidence_level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> Interval:
    """Percentile interval of a score from resampled rows, or from resampled clusters of them.

    It is the one interval that needs the rows themselves. `wmcc.interval` needs their table only, is faster and
    covers the true score as often: see docs/understand/coverage.md. This one is a check of it.

    Parameters
    ----------
    y_true, y_pred, sample_weight
        Labels and weights, as for `wmcc.tabulate`, in memory.
    measure, confidence_level
        As in `wmcc.interval`.
    cluster
        A key per row: rows of one cluster (image, scene, patient) are drawn together.
    resamples, seed
        How many, and from which random numbers. The same seed gives the same interval on any number of threads.
    progress
        Whether to show a bar; by default on a terminal, where it takes long.

    Examples
    --------
    >>> import wmcc
    >>> truth, guess, hectares = [0, 0, 0, 1, 1, 1] * 20, [0, 0, 1, 1, 1, 0] * 20, [3.5, 1.0, 2.0] * 40
    >>> wmcc.bootstrap(truth, guess, hectares, measure="mcc")
    MCC 0.3846, 95 % interval 0.2045 to 0.5502 (bootstrap, se 0.0867)
    """
    chosen, level = named_measure(measure), checked_level(confidence_level)
    count, source = whole_number(resamples, "resamples", FEWEST), whole_number(seed, "seed", 0)
    sample = Sample.of(tabulate(y_true, y_pred, sample_weight, cluster=cluster))
    if sample.clusters is not None or has_equal_weights(sample.table):
        return bootstrap_interval(sample, chosen, level, lambda: resample_table(sample, count, source))
    table, rows = sample.table, (y_true, y_pred, sample_weight)
    resample = partial(resample_rows, table.labels, table.cells.codes, rows, count, source, progress)
    return bootstrap_interval(sample, chosen, level, resample)

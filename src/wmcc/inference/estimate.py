"""What a confidence interval is, and how it is made of one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from math import hypot, inf, isfinite, isnan, nan, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.labels import Label
from ..core.table import Table
from ..measures.base import Measure
from ..measures.stacks import PerCell, furthest
from ..present.text import decimal, number
from . import reliability
from .answer import Answer, measure_title, said_units
from .cells import balance
from .fisher import Scale, unseen_ends
from .influence import Sample
from .pivot import Pivot
from .reliability import FAR_APART, NOTHING
from .strata import StratifiedSample
from .zero_error_strata import Predicted, missed_ends

quietly: np.errstate = np.errstate(over="ignore", invalid="ignore", divide="ignore")
"""For what is looked at afterwards: whether it is finite."""

TAIL = (1 - 0.95) / 2
"""The chance beyond an end of the interval that is looked at to see whether there is one, and what to warn of."""

FEW_DF = 30.0
"""Degrees of freedom below which they are shown beside an interval: it is longer for them than a normal quantile."""


@dataclass(frozen=True, repr=False)
class Interval(Answer):
    """What `wmcc.interval` returns.

    Parameters
    ----------
    measure, confidence_level, method
        What was asked.
    value, low, high
        The score and the ends of its interval; ends are NaN where there is a `problem`.
    se
        Standard error of the score.
    df
        Degrees of freedom of the standard error, as far as uneven weights or few clusters limit them.
    n, total
        Number of rows, and their weight; of a class's own score, of the rows that it is about.
    n_eff
        Effective number of rows: (Σw)² / Σw².
    clusters, clusters_eff
        How many clusters of rows were drawn, and their effective number, (Σw)² / Σw² of their weights; None if rows
        were drawn.
    strata
        How many strata the rows or clusters were drawn in; None without strata.
    replicates
        How many replicate weights the standard error rests on; None without any.
    warnings
        Why the interval may cover the true score less often than it says, a sentence each.
    problem
        Why there is no interval; None if there is one.
    label
        The class whose own score it is; None for a score of the whole table.

    Examples
    --------
    >>> import wmcc
    >>> found = wmcc.interval(wmcc.Table.from_counts([[80, 12], [9, 99]]), "mcc")
    >>> found
    MCC 0.7885, 95 % interval 0.6859 to 0.8604 (fisher, se 0.0436)
    >>> found.reliable
    True
    """

    measure: str
    confidence_level: float
    method: str
    value: float
    low: float
    high: float
    se: float
    df: float
    n: int
    n_eff: float
    total: float
    clusters: int | None = None
    strata: int | None = None
    replicates: int | None = None
    warnings: tuple[str, ...] = ()
    problem: str | None = None
    label: Label | None = None
    clusters_eff: float | None = None

    _kind = "interval"
    _stored: ClassVar[tuple[str, ...]] = (
        "measure", "label", "value", "low", "high", "se", "df", "n", "total", "n_eff", "clusters",
        "clusters_eff", "strata", "replicates", "method", "confidence_level", "status", "warnings", "problem",
    )  # fmt: skip

    def sentences(self) -> list[str]:
        """Return the score and its interval in a sentence."""
        title = measure_title(self.measure, self.label)
        if self.problem:
            return [f"{title} {decimal(self.value)}, interval not estimable: {self.problem}"]
        error = [] if isnan(self.se) else [f"se {decimal(self.se)}"]
        error += [f"{number(self.df, 2)} df"] if self.df < FEW_DF else []
        how = ", ".join([self.method, *said_units(self.clusters, self.strata, self.replicates), *error])
        level = f"{number(100 * self.confidence_level)} % interval"
        return [f"{title} {decimal(self.value)}, {level} {decimal(self.low)} to {decimal(self.high)} ({how})"]


class Spread(NamedTuple):
    """How far a score may be off."""

    value: float
    problem: str | None  # why nothing is known; then the rest means nothing
    se: float = nan
    df: float = nan
    warnings: tuple[str, ...] = ()
    ends: Callable[[float], tuple[float, float]] = lambda tail: (nan, nan)  # from the chance beyond each end


@quietly
def spread(sample: Sample[Table], measure: Measure) -> Spread:
    """Find how far the score of a table may be off."""
    cells, clusters = sample.cells, sample.clusters
    value, problem = value_or_problem(measure, sample)
    if problem is not None:
        return Spread(value, problem)
    of_all = measure.slope(sample.shares, value)
    slope = balance(of_all.of_table(cells.codes), cells)
    if sample.strata is not None:
        return _in_strata(sample, sample.strata, measure, value, of_all, slope)
    precision = sample.precision(slope)
    if sample.replication is not None:
        moved, problem = sample.replication.moved(measure, sample, value)
        if problem is not None:
            return Spread(value, problem)
        precision = sample.replication.precision(moved)
    if not isfinite(precision.variance):
        return Spread(value, FAR_APART)
    scale = Scale(*measure.range)
    inside = scale.inside(value)
    if not (precision.variance > NOTHING and inside):
        if clusters is not None and inside:
            return Spread(value, reliability.same_influence(clusters.count))

        def unseen(tail: float) -> tuple[float, float]:
            low, high = unseen_ends(measure, np.array([value]), sample.moves, tail, np.array([sample.draws]))
            return within_range(measure, value, low[0], high[0])

        return Spread(value, None, 0.0, nan, (reliability.nothing_varied(measure, value),), quietly(unseen))
    ends = cache(partial(scale.ends, value, precision))
    if not all(map(isfinite, ends(TAIL))):
        return Spread(value, FAR_APART)
    warnings = doubts(sample, measure, slope, of_all, precision.variance)
    if sample.replication is not None:
        warnings += that_hold({reliability.FREEDOM_IS_LITTLE: precision.df < reliability.FEW_FREE})

    def seen(tail: float) -> tuple[float, float]:
        return within_range(measure, value, *ends(tail))

    return Spread(value, None, sqrt(precision.variance), float(precision.df), warnings, seen)


def _in_strata(
    sample: Sample[Table], strata: StratifiedSample, measure: Measure, value: float, of_all: PerCell, slope: FloatArray
) -> Spread:
    """Find how far a score may be off, of a sample in strata: by what varied, and by what may have been missed."""
    moments = strata.moments(slope)
    precision = strata.precision(moments)
    if not isfinite(precision.variance):
        return Spread(value, FAR_APART)
    scale = Scale(*measure.range)
    varied = bool(precision.variance > NOTHING and scale.inside(value))
    influence = strata.row_influence(slope, of_all, sample.cells.codes)
    constant = strata.constant(moments, strata.row_variance(influence), NOTHING) if varied else strata.varying

    def seen(tail: float) -> tuple[float, float]:
        return scale.ends(value, precision, tail) if varied else (value, value)

    if not all(map(isfinite, seen(TAIL))):
        return Spread(value, FAR_APART)
    missed = missed_ends(measure, value, [Predicted(sample.cells, strata)], constant, strata.wrong_part)

    @cache
    def ends(tail: float) -> tuple[float, float]:
        return within_range(measure, value, *widened(value, seen(tail), missed(tail)))

    if not varied:
        certain = bool(strata.lonely.any()) and strata.lonely_option == "certainty"
        why = reliability.taken_for_certain(strata.nested) if certain else reliability.nothing_varied(measure, value)
        return Spread(value, None, 0.0, nan, (why,) * bool(constant.any()), quietly(ends))
    warnings = that_hold(reliability.strata_doubts(slope, influence, strata, precision.variance, precision.df))
    if reliability.matters(seen(TAIL), ends(TAIL), value):
        warnings += (reliability.constant_strata_note(strata, constant, "score"),)
    return Spread(value, None, sqrt(precision.variance), float(precision.df), warnings, quietly(ends))


def widened(value: float, seen: tuple[float, float], missed: tuple[float, float]) -> tuple[float, float]:
    """Return ends for two errors that are independent: squares of their distances from the value add up."""
    (a, b), (c, d) = seen, missed
    return value - hypot(value - a, value - c), value + hypot(b - value, d - value)


def estimate(sample: Sample[Table], measure: Measure, level: float, method: str = "fisher") -> Interval:
    """Return the interval of a measure, by the method ``"fisher"`` or ``"delta"``."""
    value, problem, se, df, warnings, ends = spread(sample, measure)
    tail = (1 - level) / 2
    if problem is not None:
        low, high = nan, nan
    elif method == "delta" and se > 0:
        df = inf
        low, high = within_range(measure, value, *Pivot(value, se, inf).ends(tail))
    else:
        low, high = ends(tail)
    warnings = () if problem else (*sample.doubts, *warnings)
    sizes = *sample.sizes, warnings, problem, None, sample.clusters_eff
    return Interval(measure.name, level, method, value, low, high, se, df, *sizes)


def doubts(
    sample: Sample[Table], measure: Measure, slope: FloatArray, of_all: PerCell, variance: Any
) -> tuple[str, ...]:
    """Say why an interval may cover less often than it says, from the slopes of its cells and those of all cells."""
    cells, clusters = sample.cells, None if sample.drawn_clusters is None else sample.n_eff
    true = cells.classes - len(sample.table.void)  # rows whose true label is void are not in the table
    extreme_slope = furthest(slope) if len(slope) == cells.classes**2 else of_all.extreme_slope(true)
    return that_hold(reliability.interval_doubts(measure, slope, extreme_slope, cells, variance, clusters))


def that_hold(doubts: dict[str, Any]) -> tuple[str, ...]:
    """Sentences that hold, of those about one table."""
    return tuple(why for why, holds in doubts.items() if holds)


def value_or_problem(measure: Measure, sample: Sample[Table]) -> tuple[float, str | None]:
    """Return the value of a measure, and why there is no standard error, if so."""
    value, undefined = measure.value_or_reason(sample.table)
    return value, undefined or sample.problem_of_scores


def within_range(measure: Measure, value: float, low: Any, high: Any) -> tuple[float, float]:
    """Return ends that lie in the measure's range and hold the score, as they need not at low confidence levels."""
    least, most = measure.range
    return max(least, min(float(low), value)), min(most, max(float(high), value))

"""What a confidence interval is, and how it is made of one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, isnan, nan
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.labels import Label
from ..core.table import Table
from ..measures.base import Measure, Shares
from ..measures.checks import value_or_reason
from ..measures.stacks import PerCell, largest, root
from ..present.text import decimal, number
from .answer import Answer, measure_title
from .fisher import Moves, Scale, fisher_ends, unseen_ends
from .influence import Sample, balance
from .pivot import Pivot
from .reliability import below, interval_doubts, that_hold

PAIRED = "the weights are a matrix over pairs of rows, so the rows are not an independent sample"
FAR_APART = "the weights differ too much in size to compute a standard error in float64"
TOO_LIGHT = "a class, or all classes but one, holds less than 1e-140 of the weight, too little to compute with"

quietly = np.errstate(over="ignore", invalid="ignore", divide="ignore")
"""For what is looked at afterwards: whether it is finite."""

FEWEST = 2 - 1e-9
"""Effective rows or clusters that an interval needs; two of equal weight are two, whatever rounding says."""

NOTHING = 1e-28
"""Variances that may be but rounding."""

LIGHTEST = 10**140
"""The total weight in units of the least that a class may have: squares of lighter ones are lost in float64."""


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
        Effective sample size, of clusters if there are any: (Σw)² / Σw².
    clusters
        How many clusters of rows there are; None if rows are independent.
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
    MCC 0.7885, 95 % interval 0.6908 to 0.8632 (fisher, se 0.0436)
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
    warnings: tuple[str, ...] = ()
    problem: str | None = None
    label: Label | None = None

    _kind = "interval"
    _stored = (
        "measure", "label", "value", "low", "high", "se", "df", "n", "total", "n_eff", "clusters", "method",
        "confidence_level", "status", "warnings", "problem",
    )  # fmt: skip

    def sentences(self) -> list[str]:
        """Return the score and its interval in a sentence."""
        title = measure_title(self.measure, self.label)
        if self.problem:
            return [f"{title} {decimal(self.value)}, interval not estimable: {self.problem}"]
        how = self.method if self.clusters is None else f"{self.method}, {self.clusters:,} clusters"
        error = "" if isnan(self.se) else f", se {decimal(self.se)}"
        level = f"{number(100 * self.confidence_level)} % interval"
        return [f"{title} {decimal(self.value)}, {level} {decimal(self.low)} to {decimal(self.high)} ({how}{error})"]


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
    table, cells, clusters = sample.table, sample.cells, sample.clusters
    value, problem = value_or_problem(measure, sample)
    if problem is not None:
        return Spread(value, problem)
    of_all = measure.slope(Shares.of(table), value)
    slope = balance(of_all.of_table(cells.codes), cells)
    found = sample.influence(slope)
    if not isfinite(found.variance):
        return Spread(value, FAR_APART)
    inside = Scale(measure).inside(value)
    if not (found.variance > NOTHING and inside):
        if clusters is not None and inside:
            return Spread(value, same_influence(clusters.count))
        moves = Moves.between(cells)

        def unseen(tail: float) -> tuple[float, float]:
            low, high = unseen_ends(measure, np.array([value]), moves, tail, np.array([sample.n_eff]))
            return within_range(measure, value, low[0], high[0])

        return Spread(value, None, 0.0, nan, (nothing_varied(measure, value),), quietly(unseen))
    ends = fisher_ends(measure, value, cells, found)
    if not all(map(isfinite, ends(0.025))):
        return Spread(value, FAR_APART)
    warnings = doubts(sample, measure, slope, of_all, found.variance)

    def seen(tail: float) -> tuple[float, float]:
        return within_range(measure, value, *ends(tail))

    return Spread(value, None, float(root(found.variance)), float(found.df), warnings, seen)


def estimate(sample: Sample[Table], measure: Measure, level: float, method: str = "fisher") -> Interval:
    """Return the interval of a measure, by the method ``"fisher"`` or ``"delta"``."""
    value, problem, se, df, warnings, ends = spread(sample, measure)
    tail = (1 - level) / 2
    if problem is not None:
        low, high = nan, nan
    elif method == "delta" and se > 0:
        df = inf
        low, high = within_range(measure, value, *Pivot(value, se, 0.0, 0.0, inf).ends(tail))
    else:
        low, high = ends(tail)
    return Interval(measure.name, level, method, value, low, high, se, df, *sizes(sample), warnings, problem)


def sizes(sample: Sample[Table]) -> tuple[int, float, float, int | None]:
    """Return the numbers of a sample that an interval has: rows, effective size, weight and clusters."""
    n_eff = nan if sample.table.drawn.kind == "pairs" else sample.n_eff
    return sample.table.rows, n_eff, sample.table.total, None if sample.clusters is None else sample.clusters.count


def same_influence(clusters: int) -> str:
    """Say why there is no interval where clusters do not vary the score."""
    return f"all {clusters:,} clusters have the same influence on the score, so its variance cannot be estimated"


def nothing_varied(measure: Measure, value: float) -> str:
    """Say what an interval is where nothing varied the score."""
    moves = "lowers" if value == measure.range[1] else "moves"
    return (
        f"no row of the sample {moves} the score, so its standard error is 0; "
        "the interval allows for rows that the sample may have missed"
    )


def doubts(
    sample: Sample[Table], measure: Measure, slope: FloatArray, of_all: PerCell, variance: Any
) -> tuple[str, ...]:
    """Say why an interval may cover less often than it says, from the slopes of its cells and those of all cells."""
    cells, clusters = sample.cells, None if sample.clusters is None else sample.n_eff
    steepest = largest(slope * slope) if len(slope) == cells.classes**2 else of_all.largest_square()
    return that_hold(interval_doubts(measure, slope, steepest, cells, variance, clusters))


def value_or_problem(measure: Measure, sample: Sample[Table]) -> tuple[float, str | None]:
    """Return the value of a measure, and why there is no standard error, if so."""
    table = sample.table
    value, reason = value_or_reason(measure, table)
    if reason is not None or table.drawn.kind == "pairs":
        return value, reason or PAIRED
    m = table.margins
    # Where no class is too light, all but one are not either. The total is a number of units, and mostly of too few.
    if m.s > LIGHTEST and any(0 < x * LIGHTEST < m.s for own in (m.r, m.q) for x in own):
        return value, TOO_LIGHT
    return value, too_few(sample.count, sample.what, sample.n_eff)


def within_range(measure: Measure, value: float, low: Any, high: Any) -> tuple[float, float]:
    """Return ends that lie in the measure's range and hold the score, as they need not at low confidence levels."""
    least, most = measure.range
    return max(least, min(float(low), value)), min(most, max(float(high), value))


def too_few(count: int, what: str, n_eff: float) -> str | None:
    """Say so if there are too few rows or clusters to see how they vary."""
    if count < 2:
        there = f"only {count}" if count else "none"
        return f"a standard error needs at least two {what} with weight, and there {'is' if count else 'are'} {there}"
    if n_eff < FEWEST:
        worth = below(n_eff, 2)
        return f"the effective number of {what} is {worth}, of {count:,}; at least 2 are needed"
    return None

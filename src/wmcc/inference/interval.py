"""Confidence intervals of scores, from one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, isnan, nan
from typing import Any, Literal

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.joint import JointTable
from ..core.labels import Label
from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputError, InputTypeError
from ..measures import CLASS_MEASURES, MEASURES
from ..measures.base import Measure, Shares
from ..measures.checks import checked_number, requested, value_or_reason
from ..measures.stacks import PerCell, largest, root, total
from ..present.text import decimal, number
from .answer import Answer
from .fisher import Moves, Scale, fisher, unvaried
from .influence import Cells, Clusters, balanced, of_data, sampled
from .pivot import Pivot
from .reliability import interval_doubts, that_hold

Method = Literal["fisher", "delta", "bootstrap"]
METHODS = ("fisher", "delta", "bootstrap")

PAIRED = "a weight matrix pairs rows, and its entries are no independent observations: there is no interval"
FAR_APART = "the weights are too far apart in size for float64 to tell how much each row counts"

quietly = np.errstate(over="ignore", invalid="ignore", divide="ignore")
"""For what is looked at afterwards: whether it is finite."""

FEWEST = 2 - 1e-9
"""Effective rows or clusters that an interval needs."""

TOO_LIGHT = "a class, or all but one, holds less than 1e-140 of the weight, too little to compute with"

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
    n_eff
        Effective sample size, of clusters if there are any: (Σw)² / Σw².
    clusters
        How many clusters of rows there are; None if rows are independent.
    warnings
        Why the interval may cover less often than it says, a sentence each.
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
    n_eff: float
    clusters: int | None = None
    warnings: tuple[str, ...] = ()
    problem: str | None = None
    label: Label | None = None

    def _sentences(self) -> list[str]:
        of_class = self.label is not None
        title = f"{CLASS_MEASURES[self.measure].title} of {self.label}" if of_class else MEASURES[self.measure].title
        if self.problem:
            return [f"{title} {decimal(self.value)}, interval not estimable: {self.problem}"]
        how = self.method if self.clusters is None else f"{self.method}, {self.clusters:,} clusters"
        error = "" if isnan(self.se) else f", se {decimal(self.se)}"
        level = f"{number(100 * self.confidence_level)} % interval"
        return [f"{title} {decimal(self.value)}, {level} {decimal(self.low)} to {decimal(self.high)} ({how}{error})"]


def interval(
    y_true: Any,
    y_pred: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    measure: Any = "ecc",
    confidence_level: float = 0.95,
    method: Method = "fisher",
    cluster: Any = None,
    resamples: int = 2000,
    seed: Any = 0,
    progress: bool | None = None,
    **options: Any,
) -> Interval:
    """Say how far a score may be off because the rows are a sample.

    It takes a table, and then measure, confidence level and method; or what makes one::

        interval(table, "mcc", 0.95)
        interval(y_true, y_pred, sample_weight, measure="mcc", cluster=image)
        interval(frame, "label", "pred", "area", measure="mcc", cluster="scene")
        interval(tabulate(frame, "label", "pred", "area", cluster="scene"), "mcc")

    Parameters
    ----------
    y_true, y_pred, sample_weight, weight, **options
        A table, or what `wmcc.tabulate` takes; or tables by key, one per cluster. A table knows how its rows were
        drawn: one that was made with ``cluster=`` needs none here, and one of a weight matrix has no interval.
    measure
        A measure, or its name.
    confidence_level
        How often intervals made this way are to hold the true score.
    method
        ``"fisher"``: on the scale of artanh, where scores are nearly normal, corrected for what skewness is left and
        with degrees of freedom that uneven weights leave. ``"delta"``: the score ± a normal quantile of standard
        errors, within the measure's range. ``"bootstrap"``: percentiles of resampled rows or clusters, as a check; it
        needs rows, or a table whose cells hold equal weights.
    cluster
        What rows belong together (image, scene, patient): a key per row, or a column. Rows of one cluster need not be
        independent of each other; clusters are.
    resamples, seed, progress
        Of the bootstrap: how many, from which random numbers, and whether to show a bar; by default on a terminal.

    Returns
    -------
    Interval
        Where it cannot be relied on it says why, and where there is none it says why not.

    Notes
    -----
    The standard error is √(Σ g²·Σw²), with g the gradient over the cells of the table: no row is needed. Rows, with
    their weights, are taken to be drawn independently. See docs/inference.md: derivation, measured coverage.

    Examples
    --------
    >>> import wmcc
    >>> truth, guess = [0, 0, 0, 1, 1, 1] * 20, [0, 0, 1, 1, 1, 0] * 20
    >>> wmcc.interval(truth, guess, measure="mcc")
    MCC 0.3333, 95 % interval 0.1565 to 0.4941 (fisher, se 0.0861)
    >>> wmcc.interval(truth, guess, measure="mcc", cluster=[k // 6 for k in range(120)])
    MCC 0.3333, interval not estimable: all 20 clusters moved it alike, so how clusters vary cannot be seen
    """
    asked = {"measure": measure, "confidence_level": confidence_level, "method": method}
    table, asked = requested(clustered(y_true), y_pred, sample_weight, weight, with_cluster(options, cluster), asked)
    data = sampled(refuse_pairs(table))
    level = checked_level(asked["confidence_level"])
    if asked["method"] not in METHODS:
        raise InputError(f"method is {str(asked['method'])[:40]!r}; expected 'fisher', 'delta' or 'bootstrap'.")
    if asked["method"] == "bootstrap":
        from .bootstrap import bootstrap_interval

        rows = None if isinstance(y_true, (Table, Mapping)) else (y_true, y_pred, sample_weight, weight, options)
        return bootstrap_interval(data, asked["measure"], level, rows, resamples, seed, progress)
    return estimated(data, asked["measure"], level, asked["method"])


def refuse_pairs(table: Any) -> Any:
    """Return the table, unless its rows are entries of a weight matrix, which are no sample."""
    if table.drawn.kind == "pairs":
        raise InputTypeError(f"{PAIRED}.", "give a weight per row.")
    return table


def with_cluster(options: dict[str, Any], cluster: Any) -> dict[str, Any]:
    """Return what belongs to the making of a table, clusters included if there are any."""
    return options if cluster is None else {**options, "cluster": cluster}


def clustered(data: Any, kind: Any = Table) -> Any:
    """Return one table of tables by cluster, which knows its clusters; anything else as it is."""
    if not isinstance(data, Mapping):
        return data
    tables = data if isinstance(data, Tables) else Tables.of(data) if _all_are(data, kind) else None
    if tables is None or tables.kind is not kind or not len(tables):
        of = "joint tables" if kind is JointTable else "tables"
        made = "joint_table" if kind is JointTable else "tabulate"
        raise InputTypeError(
            f"expected a dict of {of}, one per cluster, as wmcc.{made}(..., by=...) makes it.",
            f"give cluster= to wmcc.{made}: its table knows its clusters.",
        )
    return tables.as_clusters()


def is_of(data: Any, kind: Any) -> bool:
    """Whether this is such a table, or tables of that kind by cluster."""
    if isinstance(data, Tables):
        return data.kind is kind
    return isinstance(next(iter(data.values()), None) if isinstance(data, Mapping) else data, kind)


def _all_are(data: Mapping[Any, Any], kind: Any) -> bool:
    return bool(data) and all(isinstance(table, kind) for table in data.values())


def checked_level(level: Any) -> float:
    """Return a confidence level, if it is one."""
    found = checked_number(level, "confidence_level")
    if not 0 < found < 1:
        raise InputError(f"confidence_level is {found!r}; expected a number between 0 and 1, such as 0.95.")
    return found


@quietly
def estimated(data: Table | Clusters, measure: Measure, level: float, method: str) -> Interval:
    """Interval of a measure of a table that can be scored."""
    table = data.whole if isinstance(data, Clusters) else data
    clusters = data.count if isinstance(data, Clusters) else None
    value, undefined = scored(measure, table)
    cells = Cells.of(table)
    n_eff = data.n_eff if isinstance(data, Clusters) else 1 / total(cells.w2)

    def answer(low: float, high: float, se: float, df: float, *warnings: str, problem: str | None = None) -> Interval:
        return Interval(measure.name, level, method, value, low, high, se, df, n_eff, clusters, warnings, problem)

    problem = undefined or too_few(*counted(data), n_eff)
    if problem is not None:
        return answer(nan, nan, nan, nan, problem=problem)
    of_all = measure.slope(Shares.of(table), value)
    slope = balanced(of_all.of_table(cells.codes), cells)
    found = of_data(slope, cells, data)
    if not isfinite(found.variance):
        return answer(nan, nan, nan, nan, problem=FAR_APART)
    inside = Scale(measure).inside(value)
    if not (found.variance > NOTHING and inside):
        if clusters is not None and inside:
            return answer(nan, nan, nan, nan, problem=alike(clusters))
        ends = unvaried(measure, np.array([value]), Moves.between(cells), level, np.array([n_eff]))
        low, high = contained(measure, value, *(float(x[0]) for x in ends))
        return answer(low, high, 0.0, nan, unseen(measure, value))
    se = float(root(found.variance))
    warnings = doubts(data, measure, slope, of_all, cells, found.variance)
    if method == "delta":
        low, high = contained(measure, value, *Pivot(value, se, 0.0, 0.0, inf).ends(level))
        return answer(low, high, se, inf, *warnings)
    low, high = contained(measure, value, *fisher(measure, value, cells, found, level))
    if isnan(low) or isnan(high):
        return answer(nan, nan, se, nan, problem=FAR_APART)
    return answer(low, high, se, float(found.df), *warnings)


def alike(clusters: int) -> str:
    """Say why there is no interval where clusters do not vary the score."""
    return f"all {clusters:,} clusters moved it alike, so how clusters vary cannot be seen"


def unseen(measure: Measure, value: float) -> str:
    """Say what an interval is where nothing varied the score."""
    seen = "no row that would lower it was seen" if value == measure.range[1] else "no row was seen that would move it"
    return f"{seen}; the interval is what chance could have kept from sight"


def doubts(
    data: Table | Clusters, measure: Measure, slope: FloatArray, of_all: PerCell, cells: Cells, variance: Any
) -> tuple[str, ...]:
    """Say why an interval may cover less often than it says, from the slopes of its cells and those of all cells."""
    clusters = data.n_eff if isinstance(data, Clusters) else None
    steepest = largest(slope * slope) if len(slope) == cells.classes**2 else of_all.largest_square()
    return that_hold(interval_doubts(measure, slope, steepest, cells, variance, clusters))


def scored(measure: Measure, table: Table) -> tuple[float, str | None]:
    """Return the value of a measure, and why it has no slope that float64 can hold, if so."""
    value, reason = value_or_reason(measure, table)
    m = table.margins
    # Where no class is too light, all but one are not either. The total is a number of units, and mostly of too few.
    if reason is None and m.s > LIGHTEST and any(0 < x * LIGHTEST < m.s for own in (m.r, m.q) for x in own):
        reason = TOO_LIGHT
    return value, reason


def contained(measure: Measure, value: float, low: Any, high: Any) -> tuple[float, float]:
    """Return ends that lie in the measure's range and hold the score, as they need not at low confidence levels."""
    least, most = measure.range
    return max(least, min(float(low), value)), min(most, max(float(high), value))


def why_unsure(found: Mapping[str, Any]) -> list[str]:
    """What to know of intervals or comparisons by title: each sentence once, with the titles unless it is of all."""
    titles: dict[str, list[str]] = {}
    for title, x in found.items():
        for why in (*x.warnings, *((x.problem,) if x.problem else ())):
            titles.setdefault(why, []).append(title)
    return [
        f"* Intervals{'' if len(these) == len(found) else ' of ' + ', '.join(these)}: {why}."
        for why, these in titles.items()
    ]


def counted(data: Any) -> tuple[int, str]:
    """What was drawn: how many, and whether rows or clusters."""
    return (data.count, "clusters") if isinstance(data, Clusters) else (data.rows, "rows")


def too_few(count: int, what: str, n_eff: float) -> str | None:
    """Say so if there are too few rows or clusters to see how they vary."""
    if count < 2:
        return f"at least two {what} with weight are needed to see how they vary, and there is {count}"
    if n_eff < FEWEST:
        return f"the weights leave {number(n_eff, 3)} effective {what} of {count:,}, and at least 2 are needed"
    return None

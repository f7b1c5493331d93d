"""Measures of scores over all thresholds: the area under the ROC curve, and average precision.

Both are computed from the weights of each score and class. Their standard errors are linearised like those of all
measures: a row of weight w, of a class and with a score where the slope is g, moved the measure by w·g. The slopes are
derived in docs/understand/thresholds.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from ...core.arraytypes import FloatArray
from ...core.score_table import ScoreTable
from ...core.stack import Stack
from ...core.table import Table
from ...errors import InputError
from ...measures.stacks import over
from ...present.blocks import Block
from ...present.text import brief, listed, number
from ..cells import balance
from ..estimate import Interval, quietly
from ..fisher import Scale
from ..influence import Sample
from ..reliability import NOTHING


class ScoreMeasure(NamedTuple):
    """A measure of a score table as a whole.

    Parameters
    ----------
    name
        Its name in code.
    value
        From the exact weights of the positive and the negative class at and above each step, to the value.
    slope
        From the weights of both classes at each step, in units of the total, and the value, to the slopes of both.
    range
        Smallest and largest possible value.
    """

    name: str
    value: Callable[[list[int], list[int]], float]
    slope: Callable[[FloatArray, FloatArray, float], tuple[FloatArray, FloatArray]]
    range: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, repr=False)
class ScoreInterval(Interval):
    """What `wmcc.interval` returns of scores that were put together between edges.

    An `Interval` with `notes`, a sentence each, that say so.

    Examples
    --------
    >>> import wmcc
    >>> scores = wmcc.tabulate([0, 0, 1, 1] * 9, score=[0.1, 0.6, 0.4, 0.9] * 9, thresholds=[0.3, 0.5])
    >>> wmcc.interval(scores, "roc_auc").notes[0].partition(":")[0]
    'scores were put together between 2 edges'
    """

    notes: tuple[str, ...] = ()

    _kind = "interval of scores"
    _stored = (*Interval._stored, "notes")

    def blocks(self) -> list[Block]:
        """Return the interval, and the notes below it."""
        (block,) = super().blocks()
        return [replace(block, notes=[*block.notes, *(f"note: {note}" for note in self.notes)])]


def _auc(positive: list[int], negative: list[int]) -> float:
    """P(score of a positive > that of a negative) + ½ P(equal), an exact fraction that is rounded once."""
    P, N = positive[0], negative[0]
    won = 0
    for here, above, alarms, further in zip(positive, [*positive[1:], 0], negative, [*negative[1:], 0], strict=True):
        won += (here - above) * (2 * N - alarms - further)  # twice the negatives below, and those that are equal
    return won / (2 * P * N)


def _auc_slope(p: FloatArray, q: FloatArray, value: float) -> tuple[FloatArray, FloatArray]:
    P, N = p.sum(), q.sum()
    below = np.cumsum(q) - q / 2
    above = np.cumsum(p[::-1])[::-1] - p / 2
    return below / (P * N) - value / P, above / (P * N) - value / N


def _precision(positive: list[int], negative: list[int]) -> float:
    """Mean of the precision at each step, weighted by the positives of the step."""
    total, P = 0.0, positive[0]
    parts = [
        ((hits - above) / P) * (hits / (hits + alarms))
        for hits, above, alarms in zip(positive, [*positive[1:], 0], negative, strict=True)
        if hits > above
    ]
    total = float(np.sum(np.sort(parts)))
    return min(total, 1.0)


def _precision_slope(p: FloatArray, q: FloatArray, value: float) -> tuple[FloatArray, FloatArray]:
    P = p.sum()
    hits, alarms = np.cumsum(p[::-1])[::-1], np.cumsum(q[::-1])[::-1]
    called = hits + alarms
    gained = np.cumsum(over(p * alarms, called * called)) / P  # by more positives above the steps below
    lost = np.cumsum(over(p * hits, called * called)) / P
    return over(hits, called) / P - value / P + gained, -lost


SCORE_MEASURES = {
    "roc_auc": ScoreMeasure("roc_auc", _auc, _auc_slope),
    "average_precision": ScoreMeasure("average_precision", _precision, _precision_slope),
}
"""Measures of scores by name."""


def named_score_measure(measure: Any) -> ScoreMeasure:
    """Return a measure of scores by its name."""
    name = getattr(measure, "name", measure)
    if isinstance(name, str) and name in SCORE_MEASURES:
        return SCORE_MEASURES[name]
    raise InputError(
        f"`measure` is {brief(name)}, and the table has scores; expected {listed(list(SCORE_MEASURES), 'or')}.",
        "for other measures choose a threshold: wmcc.interval(scores.at(0.5), …), or wmcc.best_threshold(scores, …).",
        "measure",
    )


def score_value(scores: ScoreTable, measure: ScoreMeasure) -> float:
    """Return the measure of a score table."""
    positive, negative, _ = scores.counts
    return measure.value(positive, negative)


def undefined(scores: ScoreTable) -> str | None:
    """Say so if a class has no weight."""
    positive, negative, _ = scores.counts
    lacking = [label for label, side in ((scores.positive, positive), (scores.negative, negative)) if not side[0]]
    return f"the class {lacking[0]!r} has no weight" if lacking else None


def as_table(scores: ScoreTable) -> Table:
    """Return the cells of classes and steps as those of a table, so that its sampling errors are found as usual."""
    raw = scores.tables.raw_cells
    codes = np.concatenate([raw.codes[1:2], raw.codes[:1], raw.codes[3:]])
    labels = tuple(range(max(len(scores.steps), 2)))
    return Table(labels, Stack.gathered(codes, raw.sums), scores.ignored, None, scores.drawn)


def slope_of_cells(scores: ScoreTable, measure: ScoreMeasure, value: float) -> FloatArray:
    """Return the slopes of each class and step, the classes in the order of the table: 2 × steps."""
    positive, negative, _ = scores.counts
    whole = positive[0] + negative[0]
    p, q = (np.append(-np.diff([x / whole for x in side]), side[-1] / whole) for side in (positive, negative))
    slopes = measure.slope(p, q, value)
    order = (0, 1) if scores._place(scores.positive) == 0 else (1, 0)
    return np.stack([slopes[k] for k in order])


@quietly
def score_interval(scores: ScoreTable, measure: ScoreMeasure, level: float) -> Interval:
    """Return the interval of a measure of scores."""
    scores._check_single()
    problem = undefined(scores)
    value = nan if problem else score_value(scores, measure)
    table = as_table(scores)
    sample = Sample.of(table)
    se, df, low, high = nan, nan, nan, nan
    problem = problem or sample.problem
    if problem is None:
        true, step = table.cells.codes
        slope = balance(slope_of_cells(scores, measure, value)[true, step], sample.cells)
        precision, scale = sample.precision(slope), Scale(*measure.range)
        se = sqrt(precision.variance) if isfinite(precision.variance) else nan
        df = float(precision.df)
        if not (precision.variance > NOTHING and scale.inside(value)):
            problem, se = "no two rows of different classes are in the wrong order, or all are", nan
            if len(scores.steps) == 1:
                problem = f"all scores are the same, {number(float(scores.steps[0]))}"
            problem += ", so its error is not known"
        else:
            low, high = within_range_of(measure, value, *scale.ends(value, precision, (1 - level) / 2))
    warnings = () if problem else sample.doubts
    found = measure.name, level, "fisher", value, low, high, se, df, *sample.sizes, warnings, problem, None
    of_clusters = sample.clusters_eff
    return ScoreInterval(*found, of_clusters, notes=scores.notes) if scores.notes else Interval(*found, of_clusters)


def within_range_of(measure: ScoreMeasure, value: float, low: float, high: float) -> tuple[float, float]:
    """Return ends that lie in the measure's range and hold the value."""
    least, most = measure.range
    return max(least, min(float(low), value)), min(most, max(float(high), value))

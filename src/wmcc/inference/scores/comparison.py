"""Compare several scores of the same rows: their areas under curves, or the labels of the best threshold of each."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import nan
from typing import Any

import numpy as np

from ...core.arraytypes import FloatArray
from ...core.joint import JointTable
from ...core.score_table import ScoreTable
from ...core.stack import Stack
from ...errors import InputError
from ...measures.base import Measure
from ...present.pairs import Pair
from ...present.text import brief
from .. import reliability
from ..cells import balance
from ..comparison import Comparison, Difference, with_holm
from ..contrasts import Contrast
from ..estimate import quietly
from ..influence import Sample
from .crossfit import Constraints, cross_fitted
from .draws import DRAWS, SEED, draws_of_steps, moved_scores
from .grid import ThresholdGrid, asked_measure, check_weight
from .measures import SCORE_MEASURES, ScoreMeasure, score_value, slope_of_cells, undefined

MOST = 60
"""Thresholds of each score that a comparison of best thresholds looks at together."""


def compare_scores(scores: ScoreTable, measure: Any, level: float, margin: float | None, threshold: Any) -> Comparison:
    """Compare several scores: over all thresholds, or at the best threshold of each."""
    check_weight(scores)
    if threshold == "best":
        return compare_best(scores, asked_measure(measure), level, margin)
    name = getattr(measure, "name", measure)
    if isinstance(name, str) and name in SCORE_MEASURES:
        return compare_measures(scores, SCORE_MEASURES[name], level, margin)
    raise InputError(
        f"`measure` is {brief(name)}, and the predictions are scores.",
        "give `threshold`: a number, one for each score, or 'best'; or compare 'roc_auc' or 'average_precision'.",
        "threshold",
    )


def compare_measures(scores: ScoreTable, measure: ScoreMeasure, level: float, margin: float | None) -> Comparison:
    """Compare a measure over all thresholds, such as the area under the ROC curve, of several scores."""
    contrast = Contrast(measure, None, level, margin)  # type: ignore[arg-type]  # of which name and range are asked
    return _compared(
        scores, measure.name, level, [_of_pair(scores, measure, contrast, pair) for pair in _pairs(scores)]
    )


def _pairs(scores: ScoreTable) -> list[Pair]:
    if len(scores.names) < 2:
        raise InputError(
            "expected several scores of the same rows; there is one.",
            'write wmcc.tabulate(y_true, score={"A": a, "B": b}).',
            "predictions",
        )
    return list(combinations(scores.names, 2))


def _compared(scores: ScoreTable, name: str, level: float, differences: list[Difference]) -> Comparison:
    doubts = reliability.doubts_of(scores.drawn)
    pairs = with_holm(x if x.problem else replace(x, warnings=(*doubts, *x.warnings)) for x in differences)
    kind = "clusters" if scores.drawn.clusters else "rows"
    tables = {own: scores[own].at(-np.inf) for own in scores.names}
    return Comparison(scores.names, name, level, kind, pairs, scores.rows, scores.ignored, tables)  # type: ignore[arg-type]


def _steps_of(scores: ScoreTable, name: str) -> tuple[FloatArray, Any]:
    """Steps of one of several scores, and the place of each group's among them."""
    k = scores.names.index(name)
    keys = np.array([float(key[k]) for key in scores.tables.groups])
    steps, place = np.unique(keys, return_inverse=True)
    return steps, place


def joint_cells(scores: ScoreTable, pair: Pair) -> JointTable:
    """Return the cells of classes and of the steps of two scores, as those of a joint table."""
    raw, places = scores.tables.raw_cells, [_steps_of(scores, name) for name in pair]
    codes = np.stack([raw.codes[1], *(place[raw.codes[0]] for _, place in places), *raw.codes[3:]])
    labels = tuple(range(max(2, *(len(steps) for steps, _ in places))))
    return JointTable(labels, pair, Stack.gathered(codes, raw.sums), scores.ignored, scores.drawn)


@quietly
def _of_pair(scores: ScoreTable, measure: ScoreMeasure, contrast: Contrast, pair: Pair) -> Difference:
    both = [scores[name] for name in pair]
    problem = next((f"{name}: {why}" for name, x in zip(pair, both, strict=True) if (why := undefined(x))), None)
    values = tuple(float("nan") if problem else score_value(x, measure) for x in both)
    sample = Sample.of(joint_cells(scores, pair))
    none = _untested(scores, sample, contrast, pair, values)  # type: ignore[arg-type]
    problem = problem or sample.problem
    if problem is not None:
        return replace(none, problem=problem)
    true, first, second = sample.cells.codes
    slopes = [slope_of_cells(x, measure, value) for x, value in zip(both, values, strict=True)]
    slope = balance(slopes[0][true, first] - slopes[1][true, second], sample.cells)
    return contrast._test(none, sample.precision_of_difference(slope), ())


def _untested(
    scores: ScoreTable, sample: Sample[JointTable], contrast: Contrast, pair: Pair, values: tuple[float, float]
) -> Difference:
    measure, level, value = contrast.measure.name, contrast.level, values[0] - values[1]
    none = Difference(
        pair, measure, level, values, value, *(nan,) * 5, n=scores.rows, n_eff=sample.n_eff, total=scores.total
    )
    return replace(
        none,
        ignored=scores.ignored,
        clusters=sample.drawn_clusters,
        strata=sample.drawn_strata,
        replicates=sample.drawn_replicates,
        margin=contrast.margin,
    )


# ---- the best threshold of each ------------------------------------------------------------------------------


def compare_best(scores: ScoreTable, measure: Measure, level: float, margin: float | None) -> Comparison:
    """Compare the best thresholds of several scores, and allow for their having been chosen on the same rows.

    Values are those to expect, by cross-fitting. The interval of a difference is that of a band over all pairs of
    thresholds of the two scores, around the difference of the apparent values.
    """
    contrast = Contrast(measure, None, level, margin)
    differences = [_of_best(scores, measure, contrast, pair) for pair in _pairs(scores)]
    return _compared(scores, measure.name, level, differences)


@quietly
def _of_best(scores: ScoreTable, measure: Measure, contrast: Contrast, pair: Pair) -> Difference:
    grids, places, values, expected = [], [], [], []
    for name in pair:
        every = ThresholdGrid(scores[name], scores[name].steps)
        of_every = every.values(measure)
        best = every.best(measure, of_every, np.ones(len(every), dtype=bool))
        threshold = float(every.thresholds[best])
        grid = ThresholdGrid.with_threshold(scores[name], threshold, MOST)
        place = int(np.searchsorted(grid.thresholds, threshold))
        grids.append(grid)
        places.append(place)
        values.append(grid.values(measure))
        expected.append(cross_fitted(scores[name], measure, Constraints({})))
    sample = Sample.of(joint_cells(scores, pair))
    none = _untested(scores, sample, contrast, pair, (expected[0], expected[1]))
    problem = sample.problem
    if problem is not None:
        return replace(none, problem=problem)
    moved = _moved_together(scores, measure, pair, grids, values)
    usable = [grid.usable | (np.arange(len(grid)) == place) for grid, place in zip(grids, places, strict=True)]
    apart = moved[0][:, usable[0], np.newaxis] - moved[1][:, np.newaxis, usable[1]]
    spread = apart.std(axis=0)
    most = np.nan_to_num(np.abs(apart) / np.where(spread > 0, spread, np.inf)).reshape(len(apart), -1).max(axis=1)
    se = float((moved[0][:, places[0]] - moved[1][:, places[1]]).std())
    if not se > 0:
        return replace(none, problem="nothing was seen that would vary the difference")
    apparent = float(values[0][places[0]] - values[1][places[1]])
    far = float(np.quantile(most, contrast.level)) * se
    low, high = contrast._within((min(apparent - far, none.value), max(apparent + far, none.value)))
    p = float((1 + (most >= abs(apparent) / se).sum()) / (1 + len(most)))
    worse = None
    if contrast.margin is not None:
        worse = float((1 + (most >= (apparent + contrast.margin) / se).sum()) / (1 + len(most)))
    return replace(none, low=low, high=high, se=se, df=float("inf"), p_value=p, p_noninferior=worse)


def _moved_together(
    scores: ScoreTable, measure: Measure, pair: Pair, grids: list[ThresholdGrid], values: list[FloatArray]
) -> list[FloatArray]:
    """Draw how far both scores are off at their thresholds, from the same draws of the same rows."""
    steps = []
    for name, grid in zip(pair, grids, strict=True):
        known, place = _steps_of(scores, name)
        of_grid = np.searchsorted(grid.thresholds, known, side="right") - 1
        steps.append(np.maximum(of_grid, 0)[place])
    draws = draws_of_steps(scores, steps, [len(grid) for grid in grids], DRAWS, SEED)
    return [
        np.nan_to_num(moved_scores(grid.slopes(measure, own), x))
        for grid, own, x in zip(grids, values, draws, strict=True)
    ]

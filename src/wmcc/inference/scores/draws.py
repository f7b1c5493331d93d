"""Draws of the sampling error of a score table at all of its thresholds together.

To first order a score moves by Σ g·δ, with g its slopes in the four cells of a threshold, and δ how far the weight of
each cell is off. The weights of all thresholds are sums of those of the steps above them. So a draw is of the weights
of steps and classes: a Gaussian number for each cell or for each sampled unit, with the variances and covariances of
the design. What it means for a threshold are sums along the score. No row is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.arraytypes import FloatArray, IntArray
from ...core.exact import Exact
from ...core.score_table import ScoreTable
from ..cells import Unit
from ..strata import StratifiedSample
from .grid import ThresholdGrid

DRAWS = 1000
"""How many draws a band is made of."""

SEED = 20_201
"""Draws are the same each time."""

AT_ONCE = 1 << 22
"""Numbers that are drawn at a time."""

LARGEST_SHARE = 0.5
"""Share of the weight above which a cluster's part in the jackknife does not grow."""

Draw = Callable[[int], FloatArray]
"""From a number of draws to draws × units, or cells: what the sampling error makes of each."""


def draws_above(grid: ThresholdGrid, count: int = DRAWS, seed: int = SEED) -> FloatArray:
    """Draw how far the weight at and above each threshold is off: draws × thresholds × (positive, negative).

    Everything is in units of the total weight.
    """
    draw, to_steps, size = _sampler(grid.scores, len(grid), np.random.default_rng(seed))
    some = max(1, AT_ONCE // max(size, 1))
    parts = [to_steps(draw(min(some, count - done))) for done in range(0, count, some)]
    return _above(np.concatenate(parts).reshape(count, len(grid), 2))


def _above(of_steps: FloatArray) -> FloatArray:
    """Sums over each step and all above it, from draws, or folds, × steps × classes."""
    return np.ascontiguousarray(of_steps[:, ::-1].cumsum(axis=1)[:, ::-1])


def _sampler(
    scores: ScoreTable, steps: int, rng: np.random.Generator
) -> tuple[Draw, Callable[[FloatArray], FloatArray], int]:
    """Return how errors are drawn, what they mean for the weights of steps, and how many numbers a draw has."""
    stack, drawn, column = scores.tables.design_cells, scores.drawn, step_columns(scores)
    w, w2 = _shares(stack.sums.w_exact), Unit.of(stack.sums.w_exact).shares(stack.sums.w2_exact, 2)
    columns = 2 * steps
    if drawn.replicates is not None:
        apart = np.array([_shares(replicate) for replicate in stack.sums.replicates]) - w
        matrix, spread = _sparse(np.arange(len(w)), column, np.ones(len(w)), (len(w), columns)), drawn.replicates.scales
        moved = apart @ matrix
        return (lambda count: rng.normal(size=(count, len(moved))) * np.sqrt(spread)), (lambda e: e @ moved), len(moved)
    if drawn.kind == "clusters":
        units, unit = np.unique(stack.codes[-1], return_inverse=True)
        G = len(units)
        without = 1 - np.minimum(np.bincount(unit, w), LARGEST_SHARE)
        by_unit = _sparse(unit, column, w, (G, columns))
        return (lambda count: rng.normal(size=(count, G)) * np.sqrt((G - 1) / G) / without), by_unit.__rmatmul__, G
    if drawn.kind == "strata":
        return _in_strata(scores, columns, rng)
    by_cell = _sparse(np.arange(len(w)), column, np.sqrt(w2), (len(w), columns))
    return (lambda count: rng.normal(size=(count, len(w)))), by_cell.__rmatmul__, len(w)


def _in_strata(
    scores: ScoreTable, columns: int, rng: np.random.Generator
) -> tuple[Draw, Callable[[FloatArray], FloatArray], int]:
    """Draws of rows, or clusters of rows, that were drawn in strata; totals of post-strata are known."""
    stack, column = scores.tables.design_cells, step_columns(scores)
    strata = StratifiedSample(scores.at(np.inf))
    m, of_units, unit = strata.m, strata.stratum_of_units, stack.codes[-1]
    factor = np.sqrt((1 - strata.fraction) * m / np.maximum(m - 1, 1))
    w, w2, n = _shares(stack.sums.w_exact), Unit.of(stack.sums.w_exact).shares(stack.sums.w2_exact, 2), stack.sums.n
    if strata.nested:
        h, size, cell_of, weight = of_units, len(of_units), unit, w
    else:
        h, size, cell_of, weight = of_units[unit], len(w), np.arange(len(w)), np.ones(len(w))
    in_stratum = _sparse(np.arange(size), h, np.ones(size), (size, len(m)))
    several = (m > 1)[h]

    def draw(count: int) -> FloatArray:
        ones = rng.normal(size=(count, size))
        if strata.nested:
            return (ones - np.where(several, (ones @ in_stratum / np.maximum(m, 1))[:, h], 0.0)) * factor[h]
        ones *= np.sqrt(n)  # Σξ over the rows of a cell; Σwξ goes with it
        weighted = ones * (w / n) + rng.normal(size=ones.shape) * np.sqrt(np.maximum(w2 - w * w / n, 0.0))
        centre = np.where(several, (ones @ in_stratum / np.maximum(m, 1))[:, h], 0.0)
        return (weighted - centre * w) * factor[h]

    to_steps = _sparse(cell_of, column, weight, (size, columns))
    design = scores.drawn.design
    if design is None or design.poststrata is None:
        return draw, to_steps.__rmatmul__, size
    post = stack.codes[-2]
    count = int(post.max()) + 1
    to_posts = _sparse(cell_of, post, weight, (size, count))
    shared = _sparse(post, column, w / np.bincount(post, w, count)[post], (count, columns))
    return draw, (lambda e: e @ to_steps - (e @ to_posts) @ shared), size


def _shares(weights: Exact) -> FloatArray:
    return Unit.of(weights).shares(weights)


def step_columns(scores: ScoreTable) -> IntArray:
    """Number of the step and class of each cell of the design: 2·step, and 1 more for the negative class."""
    codes = scores.tables.design_cells.codes
    return np.asarray(2 * codes[0] + (codes[1] != scores._place(scores.positive)))


def _sparse(rows: Any, columns: Any, values: Any, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array

    return csr_array((values, (rows, columns)), shape=shape)


def moved_scores(slope: FloatArray, draws: FloatArray) -> FloatArray:
    """Return how far a score is off at each threshold, in each draw, from its slopes in the four cells.

    ``draws`` are those of weights at and above thresholds, of which the first has all rows.
    """
    hits, alarms = draws[..., 0], draws[..., 1]
    misses, others = hits[:, :1] - hits, alarms[:, :1] - alarms
    return np.asarray(slope[:, 0] * hits + slope[:, 1] * misses + slope[:, 2] * alarms + slope[:, 3] * others)


def fold_weights(grid: ThresholdGrid, folds: int, rng: np.random.Generator) -> FloatArray:
    """Divide the sample by chance, and return the weight at and above each threshold: fold × threshold × class.

    Clusters stay together. The rows of a cell are taken to be of equal weight.
    """
    scores, stack = grid.scores, grid.scores.tables.design_cells
    w, n, column, design = _shares(stack.sums.w_exact), stack.sums.n, step_columns(scores), scores.drawn.design
    if scores.drawn.kind == "clusters" or (design is not None and design.nested):
        units, unit = np.unique(stack.codes[-1], return_inverse=True)
        parts = np.eye(folds)[(rng.permutation(len(units)) % folds)[unit]]
    else:
        parts = np.zeros((len(n), folds))
        for k in (0, 1):  # single rows of a class are dealt out evenly
            single = np.flatnonzero((n == 1) & (column % 2 == k))
            parts[single, rng.permutation(len(single)) % folds] = 1.0
        several = np.flatnonzero(n > 1)
        parts[several] = rng.multinomial(n[several], np.full(folds, 1 / folds)) / n[several, np.newaxis]
    of_steps = (parts * w[:, np.newaxis]).T @ _sparse(
        np.arange(len(w)), column, np.ones(len(w)), (len(w), 2 * len(grid))
    )
    return _above(np.asarray(of_steps).reshape(folds, len(grid), 2))

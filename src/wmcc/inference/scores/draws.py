"""Draws of the sampling error of a score table at all of its thresholds together.

To first order a score moves by Σ g·δ, with g its slopes in the four cells of a threshold, and δ how far the weight of
each cell is off. The weights of all thresholds are sums of those of the steps above them. So a draw is of the weights
of steps and classes: a Gaussian number for each cell or for each sampled unit, with the variances and covariances of
the design. What it means for a threshold are sums along the score. No row is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

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


class Sampler(NamedTuple):
    """How sampling errors are drawn.

    Parameters
    ----------
    draw
        From a number of draws to draws × units: what the sampling error makes of each unit, or of each cell.
    weights
        From these to draws × columns: by how much the weight of each column is off.
    size
        How many numbers a draw has.
    """

    draw: Callable[[int], FloatArray]
    weights: Callable[[FloatArray], FloatArray]
    size: int


def draws_above(grid: ThresholdGrid, count: int = DRAWS, seed: int = SEED) -> FloatArray:
    """Draw how far the weight at and above each threshold is off: draws × thresholds × (positive, negative).

    Everything is in units of the total weight.
    """
    (draws,) = draws_of_steps(grid.scores, [np.arange(len(grid))], [len(grid)], count, seed)
    return draws


def draws_of_steps(
    scores: ScoreTable, steps: Sequence[IntArray], sizes: Sequence[int], count: int, seed: int
) -> list[FloatArray]:
    """Draw the same for several ways to divide the rows into steps, such as several scores, from the same errors.

    ``steps`` says for each of them in which of so many steps each group of the table is.
    """
    codes, starts = scores.tables.design_cells.codes, np.cumsum([0, *sizes])
    negative = codes[1] != scores._place(scores.positive)
    columns = np.stack([2 * (start + step[codes[0]]) + negative for start, step in zip(starts, steps, strict=False)])
    sampler = _sampler(scores, columns, 2 * int(starts[-1]), np.random.default_rng(seed))
    some = max(1, AT_ONCE // max(sampler.size, 1))
    parts = [sampler.weights(sampler.draw(min(some, count - done))) for done in range(0, count, some)]
    whole = np.concatenate(parts).reshape(count, -1, 2)
    return [_above(whole[:, start:end]) for start, end in pairwise(starts)]


def _above(of_steps: FloatArray) -> FloatArray:
    """Sums over each step and all above it, from draws, or folds, × steps × classes."""
    return np.ascontiguousarray(of_steps[:, ::-1].cumsum(axis=1)[:, ::-1])


def _sampler(scores: ScoreTable, columns: IntArray, count: int, rng: np.random.Generator) -> Sampler:
    """Return how errors are drawn; ``columns`` says which columns each cell of the design adds to."""
    stack, drawn = scores.tables.design_cells, scores.drawn
    w, w2 = _shares(stack.sums.w_exact), Unit.of(stack.sums.w_exact).shares(stack.sums.w2_exact, 2)
    cells = np.arange(len(w))
    if drawn.replicates is not None:
        apart = np.array([_shares(replicate) for replicate in stack.sums.replicates]) - w
        moved = apart @ _matrix(cells, columns, np.ones(len(w)), (len(w), count))
        scale = np.sqrt(drawn.replicates.scales)
        return Sampler(lambda some: rng.normal(size=(some, len(moved))) * scale, lambda e: e @ moved, len(moved))
    if drawn.kind == "strata":
        return _in_strata(scores, columns, count, rng)
    if drawn.kind == "clusters":
        units, unit = np.unique(stack.codes[-1], return_inverse=True)
        G = len(units)
        factor = np.sqrt((G - 1) / G) / (1 - np.minimum(np.bincount(unit, w), LARGEST_SHARE))
        of_clusters = _matrix(unit, columns, w, (G, count))
        return Sampler(lambda some: rng.normal(size=(some, G)) * factor, lambda e: e @ of_clusters, G)
    of_cells = _matrix(cells, columns, np.sqrt(w2), (len(w), count))
    return Sampler(lambda some: rng.normal(size=(some, len(w))), lambda e: e @ of_cells, len(w))


def _in_strata(scores: ScoreTable, columns: IntArray, count: int, rng: np.random.Generator) -> Sampler:
    """Return how errors of rows, or clusters of rows, are drawn in strata; totals of post-strata are known."""
    stack, strata = scores.tables.design_cells, StratifiedSample(scores.at(np.inf))
    m, unit, n = strata.m, stack.codes[-1], stack.sums.n
    w, w2 = _shares(stack.sums.w_exact), Unit.of(stack.sums.w_exact).shares(stack.sums.w2_exact, 2)
    if strata.nested:
        stratum, of, weight = strata.stratum_of_units, unit, w
    else:
        stratum, of, weight = strata.stratum_of_units[unit], np.arange(len(w)), np.ones(len(w))
    size = len(stratum)
    factor = np.sqrt((1 - strata.fraction) * m / np.maximum(m - 1, 1))[stratum]
    to_strata = _matrix(np.arange(size), stratum, np.ones(size), (size, len(m)))
    centred = (m > 1)[stratum]

    def centre(errors: FloatArray) -> FloatArray:
        """Mean of the errors of a stratum, which no sample of it can show."""
        return np.where(centred, (errors @ to_strata / np.maximum(m, 1))[:, stratum], 0.0)

    def draw(some: int) -> FloatArray:
        ones = rng.normal(size=(some, size))
        if strata.nested:
            return np.asarray((ones - centre(ones)) * factor)
        ones *= np.sqrt(n)  # Σξ over the rows of a cell; Σwξ goes with it
        weighted = ones * (w / n) + rng.normal(size=ones.shape) * np.sqrt(np.maximum(w2 - w * w / n, 0.0))
        return np.asarray((weighted - centre(ones) * w) * factor)

    to_columns, design = _matrix(of, columns, weight, (size, count)), scores.drawn.design
    if design is None or design.poststrata is None:
        return Sampler(draw, lambda e: e @ to_columns, size)
    post = stack.codes[-2]
    posts = int(post.max()) + 1
    to_posts = _matrix(of, post, weight, (size, posts))
    shared = _matrix(post, columns, w / np.bincount(post, w, posts)[post], (posts, count))
    return Sampler(draw, lambda e: e @ to_columns - (e @ to_posts) @ shared, size)


def _shares(weights: Exact) -> FloatArray:
    return Unit.of(weights).shares(weights)


def step_columns(scores: ScoreTable) -> IntArray:
    """Number of the step and class of each cell of the design: 2·step, and 1 more for the negative class."""
    codes = scores.tables.design_cells.codes
    return np.asarray(2 * codes[0] + (codes[1] != scores._place(scores.positive)))


def _matrix(rows: IntArray, columns: IntArray, values: FloatArray, shape: tuple[int, int]) -> Any:
    """Return a sparse matrix; ``columns`` may have several for each row, all of which get the value."""
    from scipy.sparse import csr_array

    several = np.atleast_2d(columns)
    repeated = (np.tile(x, len(several)) for x in (values, rows))
    data, row = repeated
    return csr_array((data, (row, several.reshape(-1))), shape=shape)


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
    of_steps = (parts * w[:, np.newaxis]).T @ _matrix(
        np.arange(len(w)), column, np.ones(len(w)), (len(w), 2 * len(grid))
    )
    return _above(np.asarray(of_steps).reshape(folds, len(grid), 2))

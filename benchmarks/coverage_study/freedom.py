"""Limits on the degrees of freedom, of which `wmcc.inference.influence.ENOUGH_FREE` is one: what each would give."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from wmcc.inference import influence

from . import clusters
from .grid import LEVELS, Setting, batches, measured, seeded, tables
from .intervals import Found, class_intervals, intervals
from .markdown import percent, table
from .population import EQUAL, LOG_NORMAL, PARETO, THREE_LEVELS
from .report import BAR

LIMITS = 1.0, 6.0, 12.0, 20.0, 30.0, 50.0, float("inf")
WEIGHTS = EQUAL, LOG_NORMAL[1.0], LOG_NORMAL[1.5], THREE_LEVELS, PARETO[2.5]


class Outcome(NamedTuple):
    """What became of the intervals of one measure in one setting under one limit: of those without a flag."""

    limit: float
    coverage: float
    width: float
    score: float
    unflagged: float


def settings() -> list[Setting | clusters.Images]:
    """Some of the grid's settings, those between them where weights are heavy, and images."""
    grid = [
        Setting(classes, n, 0.3, weights, 0, level)
        for classes, n, weights, level in product((2, 3), (100, 300, 1000, 3000), WEIGHTS, (*LEVELS, 0.85))
    ]
    return [*grid, *clusters.scenarios()]


def simulate(setting: Setting | clusters.Images, runs: int) -> list[Outcome]:
    """Make the intervals of the same samples under each limit."""
    before, out = influence.ENOUGH_FREE, []
    try:
        for limit in LIMITS:
            influence.ENOUGH_FREE = limit
            out += [_outcome(limit, *x) for x in _found(setting, runs)]
    finally:
        influence.ENOUGH_FREE = before
    return out


def _found(setting: Setting | clusters.Images, runs: int) -> list[tuple[Found, float]]:
    if isinstance(setting, Setting):
        drawn, population = tables(setting, runs), setting.population
        names = ("mcc" if setting.classes == 2 else "ecc", "mpc2", "accuracy", "mean_iou")
        out = [(intervals(name, drawn), population.truth(name)) for name in names]
        return [*out, *((class_intervals(name, drawn), population.truth(name)) for name in ("recall", "iou"))]
    rng, parts = seeded(setting), []
    for some in batches(runs, setting.clusters * clusters.CLASSES**3):
        whole, held = clusters.together(clusters.summed(rng, setting.weights, setting.draw(rng, some)))
        parts.append(intervals(setting.measure, clusters.of_first(whole), clusters.first_of(held)))
    return [(Found(*(np.concatenate(x) for x in zip(*parts, strict=True))), setting.truth)]


def _outcome(limit: float, found: Found, truth: float) -> Outcome:
    width, score = measured(found, truth)
    quiet = found.estimable & ~found.flagged
    if not quiet.any():
        return Outcome(limit, *[float("nan")] * 3, 0.0)
    covered = (found.low <= truth) & (truth <= found.high)
    figures = (float(x[quiet].mean()) for x in (100 * covered, width, score))
    return Outcome(limit, *figures, float(quiet.mean()))


def text(found: list[list[Outcome]]) -> str:
    """Table of the limits: coverage, width and interval score of intervals without a flag."""
    rows = []
    for limit in LIMITS:
        own = [x for some in found for x in some if x.limit == limit and x.unflagged >= 0.5]
        coverage, width, score = (np.array([getattr(x, name) for x in own]) for name in ("coverage", "width", "score"))
        within = (coverage >= BAR[0]) & (coverage <= BAR[1])
        rows.append(
            [
                "as estimated" if limit == 1 else "n_eff − 1" if limit == float("inf") else f"at least {limit:g}",
                f"{len(own):,}",
                f"{coverage.mean():.2f}",
                f"{coverage.min():.1f}",
                percent(within.sum(), len(own)),
                percent((coverage < BAR[0]).sum(), len(own)),
                f"{width.mean():.3f}",
                f"{width.max():.2f}",
                f"{score.mean():.4f}",
            ]
        )
    head = [
        "degrees of freedom", "points", "coverage", "lowest", "% in 93–97", "% below", "width", "widest",
        "interval score",
    ]  # fmt: skip
    return table(head, rows)

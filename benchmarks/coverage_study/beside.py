"""Intervals of random tables beside SciPy's BCa bootstrap of the same rows, the farthest apart first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import wmcc
from wmcc.measures.base import Shares

from .grid import seeded
from .intervals import LEVEL
from .markdown import table, title
from .population import LOG_NORMAL, PARETO, THREE_LEVELS, Population, Weights, cell_of_rows, row_weights

RESAMPLES = 2000
TABLES = 400
LISTED = 12

FACTOR = 2.0
"""By how much an end may be nearer or farther than the bootstrap's before the two contradict each other."""


class Sampled(NamedTuple):
    """Rows of a random population, and by what they are scored."""

    measure: str
    population: Population
    n: int
    clusters: int | None

    @classmethod
    def number(cls, k: int) -> Sampled:
        """Return the k-th, of any number of classes and rows, with weights and scores of any kind."""
        rng = seeded("beside", k)
        classes = int(rng.integers(2, 6))
        own = Weights("log-normal", sigma=float(rng.uniform(0, 2)) or 1.0)
        weights = [own, own, own, THREE_LEVELS, LOG_NORMAL[1.0], PARETO[2.5], Weights("equal")][rng.integers(7)]
        population = Population.of(classes, float(rng.uniform(0.03, 0.5)), weights, float(rng.uniform(0, 0.97)))
        names = [name for name in wmcc.measures.MEASURES if name != "mcc" or classes == 2]
        clusters = int(rng.integers(8, 60)) if k % 4 == 3 else None
        return cls(str(rng.choice(names)), population, int(np.exp(rng.uniform(np.log(60), np.log(1500)))), clusters)


class Beside(NamedTuple):
    """Both intervals of one table; NaN where there is none."""

    sampled: Sampled
    value: float
    ours: tuple[float, float]
    theirs: tuple[float, float]
    reliable: bool

    @property
    def ratios(self) -> np.ndarray:
        """How far our ends are from the score, as multiples of how far the bootstrap's are."""
        ours, theirs = (np.abs(np.array(ends) - self.value) for ends in (self.ours, self.theirs))
        return ours / np.maximum(theirs, 1e-9)

    @property
    def apart(self) -> float:
        """By what factor the end differs that differs most: of an end at the edge of the range nothing is said."""
        return float(np.exp(np.abs(np.log(np.maximum(self.ratios, 1e-9))).max()))


def simulate(k: int) -> Beside | None:
    """Make both intervals of one table; None where either cannot be."""
    sampled = Sampled.number(k)
    rng, own = seeded("rows", k), sampled.population
    counts = own.draw(rng, 1, sampled.n)[0]
    K = len(own.shares)
    cell, w = cell_of_rows(counts), row_weights(rng, own.weights, counts)
    cluster = None if sampled.clusters is None else rng.integers(0, sampled.clusters, sampled.n)
    truth, pred = divmod(cell, K)
    found = wmcc.interval(wmcc.tabulate(truth, pred, w, cluster=cluster, labels=range(K)), sampled.measure)
    if found.problem is not None or not found.se > 0:
        return None
    theirs = bca(wmcc.measures.MEASURES[sampled.measure].near, cell, w, cluster, K)
    if not np.isfinite(theirs).all():
        return None
    return Beside(sampled, found.value, (found.low, found.high), theirs, found.reliable)


def bca(near: Any, cell: np.ndarray, w: np.ndarray, cluster: np.ndarray | None, K: int) -> tuple[float, float]:
    """Return SciPy's BCa interval, of resampled rows or clusters."""
    owner = np.arange(len(w)) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    held = np.zeros((owner.max() + 1, K * K))
    np.add.at(held, (owner, cell), w)

    def score(units: np.ndarray, axis: int = -1) -> np.ndarray:
        units = np.moveaxis(units, axis, -1)
        flat = units.reshape(-1, units.shape[-1]).astype(np.int64)
        times = np.apply_along_axis(np.bincount, 1, flat, minlength=len(held))
        with np.errstate(invalid="ignore"):
            return near(Shares.of_cells((times @ held).reshape(-1, K, K))).reshape(units.shape[:-1])

    units = np.arange(len(held))
    with np.errstate(all="ignore"):
        found = stats.bootstrap(
            (units,), score, n_resamples=RESAMPLES, batch=200, confidence_level=LEVEL, method="BCa",
            rng=np.random.default_rng(0),
        )  # fmt: skip
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def described(sampled: Sampled) -> str:
    """Rows in words, for a table."""
    own = sampled.population
    spread = f" {own.weights.sigma:.1f}" if own.weights.name == "log-normal" else ""
    rows = f"{sampled.n:,} rows" + (f" in {sampled.clusters} clusters" if sampled.clusters else "")
    return (
        f"{title(sampled.measure)}, {rows}, {len(own.shares)} classes, the smallest {own.shares.min():.2f}, "
        f"{own.weights.name}{spread}, λ = {own.level:.2f}"
    )


def text(found: list[Beside | None]) -> str:
    """Say how far the two are apart, and list the farthest."""
    known = [x for x in found if x is not None]
    quiet = sorted((x for x in known if x.reliable), key=lambda x: -x.apart)
    loud = [x for x in known if not x.reliable]
    parts = [
        f"{len(known)} of {len(found)} random tables have both intervals. {len(quiet)} of ours have no flag: their "
        f"ends are {_spread(quiet)} times as far from the score as the bootstrap's (5th, 50th and 95th percentile), "
        f"and {sum(x.apart > FACTOR for x in quiet)} have an end that is nearer or farther by a factor of more than "
        f"{FACTOR:g}. Of the {len(loud)} with a flag {sum(x.apart > FACTOR for x in loud)} have.",
        "Without a flag, the farthest apart first:",
    ]
    rows = [
        [
            described(x.sampled),
            f"{x.value:.3f}",
            f"{x.ours[0]:.3f} to {x.ours[1]:.3f}",
            f"{x.theirs[0]:.3f} to {x.theirs[1]:.3f}",
            f"{x.apart:.2f}",
        ]
        for x in quiet[:LISTED]
    ]
    return "\n\n".join([*parts, table(["table", "score", "interval", "BCa", "factor"], rows)])


def _spread(some: list[Beside]) -> str:
    at = np.quantile([x.ratios for x in some], [0.05, 0.5, 0.95])
    return ", ".join(f"{x:.2f}" for x in at)

"""`wmcc.interval` and `wmcc.compare` of thousands of tables at once, through the functions that they are made of.

The tests hold every answer against `wmcc.interval` and `wmcc.compare` themselves.
"""

from __future__ import annotations

from math import isqrt
from typing import Any, NamedTuple

import numpy as np

import wmcc
from wmcc.inference.cells import Precision
from wmcc.inference.classes import PARTS
from wmcc.inference.fisher import Scale
from wmcc.inference.influence import CellSums, of_clusters, of_rows
from wmcc.inference.pivot import Pivot
from wmcc.inference.reliability import comparison_doubts, interval_doubts
from wmcc.measures.base import Measure, Shares
from wmcc.measures.stacks import furthest

from .population import Samples, in_shares

LEVEL = 0.95
VARIES = 1e-20
"""Variances that are certainly more than rounding; tables with less are left to the library, one by one."""


class Found(NamedTuple):
    """Intervals of many tables; where one is not estimable its ends are NaN."""

    low: np.ndarray
    high: np.ndarray
    flagged: np.ndarray
    value: np.ndarray
    se: np.ndarray  # NaN where nothing varied

    @property
    def estimable(self) -> np.ndarray:
        """Whether there is an interval."""
        return ~np.isnan(self.low)


class Tests(NamedTuple):
    """Comparisons of many pairs; where one is not estimable its p-value is NaN."""

    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    flagged: np.ndarray

    @property
    def estimable(self) -> np.ndarray:
        """Whether there is a test."""
        return ~np.isnan(self.p)


class Groups(NamedTuple):
    """Cells of the clusters of one sample, in units of its total weight: what `of_clusters` asks of its clusters."""

    cells: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """Share of the weight of each cluster."""
        return self.cells.sum(axis=-1)

    @property
    def n_eff(self) -> float:
        """Effective number of clusters."""
        return 1 / float(np.square(self.shares).sum())

    def influences(self, slope: np.ndarray) -> np.ndarray:
        """Σ w·slope over the rows of each cluster."""
        return self.cells @ slope


def _precision(slope: np.ndarray, cells: CellSums, clusters: np.ndarray | None) -> tuple[Precision, np.ndarray]:
    """Precision by rows or, if there are any, of clusters (run × cluster × cell), and the effective number of them."""
    if clusters is None:
        return of_rows(slope, cells), 1 / cells.w2.sum(axis=-1)
    each: list[Any] = [of_clusters(own, Groups(held)) for own, held in zip(slope, clusters, strict=True)]
    weight = clusters.sum(axis=-1)
    return Precision(*(np.array(x) for x in zip(*each, strict=True))), 1 / (weight * weight).sum(axis=-1)


def _any(doubts: dict[str, np.ndarray]) -> np.ndarray:
    """Where one of the doubts holds."""
    return np.any(list(doubts.values()), axis=0)


def intervals(name: str, drawn: Samples, clusters: np.ndarray | None = None) -> Found:
    """Intervals of a measure, of tables given by their cells in units of the total weight (run × cell)."""
    K = isqrt(drawn.w.shape[-1])
    # By counts: where one class holds all the weight, rounding may leave a share of 1 ± 2e-16.
    n = drawn.n.reshape(-1, K, K)
    several = np.all([(n.sum(axis=axis) > 0).sum(axis=-1) > 1 for axis in (1, 2)], axis=0)
    found = _plain(wmcc.measures.MEASURES[name], drawn, several, clusters)
    if clusters is None:
        _one_by_one(name, drawn, found)
    return found


def class_intervals(name: str, drawn: Samples) -> Found:
    """Intervals of the last class's own score, from tables of all classes: those of a part of its table."""
    measure, kept = PARTS[name]
    four = of_last_class(drawn)
    about = np.isin(np.arange(4), kept)
    with np.errstate(invalid="ignore"):  # of samples without a row that the score is about
        part = in_shares(Samples(*(np.where(about, x, 0) for x in four)))
    found = _plain(measure, part, (four.n[:, kept].sum(axis=-1) > 0), None)
    _one_by_one(name, four, found, of=0)
    return found


def of_last_class(drawn: Samples) -> Samples:
    """Put together the cells of the last class and the rest: hits, misses, alarms and others."""
    K = isqrt(drawn.w.shape[-1])
    own = np.arange(K) != K - 1  # 0 is the class

    def put(x: np.ndarray, merge: np.ufunc) -> np.ndarray:
        x = x.reshape(-1, K, K)
        parts = [x[:, own == t][:, :, own == p] for t in (False, True) for p in (False, True)]
        return np.stack([merge.reduce(part, axis=(1, 2)) for part in parts], axis=-1)

    return Samples(*(put(x, np.add) for x in drawn[:3]), put(drawn.w_max, np.maximum))


def _plain(measure: Measure, drawn: Samples, defined: np.ndarray, clusters: np.ndarray | None) -> Found:
    """Intervals where something varied; of the others there is nothing but the value."""
    K = isqrt(drawn.w.shape[-1])
    x = Shares.of_cells(drawn.w.reshape(-1, K, K))
    with np.errstate(invalid="ignore"):
        value = measure.near(x)
    slope = measure.slope(x, value).dense().reshape(drawn.w.shape)
    found, n_eff = _precision(slope, drawn.cells(K), clusters)
    scale = Scale(*measure.range)
    plain = defined & (found.variance > VARIES) & (n_eff >= 2) & scale.inside(value)
    low, high, se = (np.full(len(value), np.nan) for _ in range(3))
    flagged = np.ones(len(value), dtype=bool)
    kept, slope = Samples(*(x[plain] for x in drawn)).cells(K), slope[plain]
    own = Precision(found.variance[plain], found.df[plain])
    low[plain], high[plain] = scale.ends(value[plain], own, (1 - LEVEL) / 2)
    se[plain] = np.sqrt(own.variance)
    effective = None if clusters is None else n_eff[plain]
    flagged[plain] = _any(interval_doubts(measure, slope, furthest(slope), kept, own.variance, effective))
    return Found(low, high, flagged, value, se)


def _one_by_one(name: str, cells: Samples, found: Found, of: int | None = None) -> None:
    """Let the library answer for tables that nothing varies, that are undefined, or that rest on a row or two."""
    odd = np.flatnonzero(np.isnan(found.se))
    same, where = np.unique(np.hstack([x[odd] for x in cells]), axis=0, return_inverse=True)
    answers = [
        wmcc.interval(table_of(Samples(*np.split(row, len(cells)))), name, of=of, confidence_level=LEVEL)
        for row in same
    ]
    for field in ("low", "high"):
        getattr(found, field)[odd] = np.array([getattr(x, field) for x in answers], dtype=float)[where]
    found.flagged[odd] = np.array([not x.reliable for x in answers], dtype=bool)[where]


def table_of(cells: CellSums) -> wmcc.Table:
    """Table of one sample; its smallest weights are not known, nor asked for by intervals."""
    K = isqrt(len(cells.w))
    n, w, w2, w_max = (x.reshape(K, K) for x in cells)
    return wmcc.Table.from_cells(range(K), n.astype(int), w, w2, np.zeros((K, K)), w_max)


def differences(name: str, first: Samples, second: Samples) -> tuple[Found, Found]:
    """Intervals of the difference of two independent samples, and what variances that add up would give for them."""
    both = [intervals(name, drawn) for drawn in (first, second)]
    a, b = (_score(name, drawn) for drawn in (first, second))
    gap, flagged = a.value - b.value, both[0].flagged | both[1].flagged
    low = gap - np.hypot(a.value - both[0].low, both[1].high - b.value)
    high = gap + np.hypot(both[0].high - a.value, b.value - both[1].low)
    se = np.hypot(a.se, b.se)
    with np.errstate(invalid="ignore", divide="ignore"):
        df = se**4 / (a.se**4 / a.df + b.se**4 / b.df)
    ends = Pivot(gap, se, df).ends((1 - LEVEL) / 2)
    return Found(low, high, flagged, gap, se), Found(*ends, flagged, gap, se)


class Score(NamedTuple):
    """Scores of many tables, their standard errors and degrees of freedom."""

    value: np.ndarray
    se: np.ndarray
    df: np.ndarray


def _score(name: str, drawn: Samples) -> Score:
    measure, K = wmcc.measures.MEASURES[name], isqrt(drawn.w.shape[-1])
    x = Shares.of_cells(drawn.w.reshape(-1, K, K))
    value = measure.near(x)
    found = of_rows(measure.slope(x, value).dense().reshape(drawn.w.shape), drawn.cells(K))
    return Score(value, np.sqrt(found.variance), found.df)


def comparisons(name: str, drawn: Samples, classes: int, clusters: np.ndarray | None = None) -> Tests:
    """Comparisons by a measure, of joint tables given by their cells (run × cell: true, first, second)."""
    measure, K, runs = wmcc.measures.MEASURES[name], classes, len(drawn.w)
    joint, cube = drawn.cells(K, axes=3), drawn.w.reshape(runs, K, K, K)
    shares = [Shares.of_cells(cube.sum(axis=axis)) for axis in (3, 2)]
    a, b = (measure.near(x) for x in shares)
    first, second = (measure.slope(x, value).dense() for x, value in zip(shares, (a, b), strict=True))
    slope = (first[:, :, :, np.newaxis] - second[:, :, np.newaxis, :]).reshape(runs, -1)
    found, n_eff = _precision(slope, joint, clusters)
    # Tables without sampling error, or undefined, are too rare here to be worth the library's own answer.
    defined = np.all([(x.r.max(axis=-1) < 1) & (x.q.max(axis=-1) < 1) for x in shares], axis=0)
    good = defined & (found.variance > VARIES) & (n_eff >= 2)
    se = np.sqrt(np.where(good, found.variance, np.nan))
    pivot = Pivot(a - b, se, np.maximum(n_eff - 1, 1.0))
    effective = None if clusters is None else n_eff
    with np.errstate(invalid="ignore", divide="ignore"):
        flagged = _any(comparison_doubts(measure, slope, joint, found.variance, effective))
    return Tests(*pivot.ends((1 - LEVEL) / 2), pivot.p_value(), flagged)

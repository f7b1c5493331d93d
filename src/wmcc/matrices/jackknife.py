"""How scores under a weight matrix vary over clusters of observations: each is left out once, with all its pairs.

The score is a smooth function of sums over pairs, Σ S_ij h(i, j). If clusters are independent of each other, the
jackknife that leaves out one cluster at a time, and with it each pair that has an observation there, estimates the
variance of such a function, pairs of different clusters included: docs/understand/matrices.md has why.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..inference.cells import Precision
from ..inference.comparison import Difference
from ..inference.estimate import Interval
from ..inference.fisher import Scale
from ..inference.influence import free
from ..inference.pivot import Pivot
from ..inference.reliability import CLUSTERS_ARE_FEW, FEW_CLUSTERS, NOTHING, same_influence, too_few
from ..present.text import percent
from ..sources.matrix import entries_of

METHOD = "jackknife"
"""What the method of such intervals is called."""

ROUNDING = 1e-12
"""A variance of a class that is a smaller share of the largest that may be is 0, but for rounding."""

MOST_ACROSS = 0.2
"""Share of a matrix between different clusters above which a warning says so."""


class PairSums(NamedTuple):
    """Sums over pairs of observations, of all of them, or without each cluster in turn; the last axis has classes.

    Parameters
    ----------
    s
        Of all pairs.
    r, q
        Of those whose first observation has the class in the truth, or in the prediction.
    tc, tt, cc
        Of those whose observations both have the class: the first in the truth and the second in the prediction; both
        in the truth; both in the prediction.
    """

    s: FloatArray
    r: FloatArray
    q: FloatArray
    tc: FloatArray
    tt: FloatArray
    cc: FloatArray

    @classmethod
    def zeros(cls, groups: int, classes: int) -> PairSums:
        """Return the sums of no pairs."""
        return cls(np.zeros(groups), *(np.zeros((groups, classes)) for _ in range(5)))

    @classmethod
    def by(cls, owner: IntArray, groups: int, classes: int, labels: Sequence[IntArray], w: FloatArray) -> PairSums:
        """Return the sums of pairs by the group of each.

        ``labels`` are true classes of the first and of the second observation, then predicted ones.
        """
        true, its_true, own_pred, pred = labels

        def of_class(code: IntArray, kept: Any = slice(None)) -> FloatArray:
            size = groups * classes
            found = np.bincount(owner[kept] * classes + code[kept], w[kept], size).astype(np.float64)
            return found.reshape(groups, classes)

        right, alike, called = true == pred, true == its_true, own_pred == pred
        margins = of_class(true), of_class(pred)
        return cls(np.bincount(owner, w, groups).astype(np.float64), *margins, *(of_class(*x) for x in (
            (true, right), (true, alike), (pred, called)
        )))  # fmt: skip

    def __add__(self, other: Any) -> PairSums:
        return PairSums(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: Any) -> PairSums:
        return PairSums(*(a - b for a, b in zip(self, other, strict=True)))

    def scores(self) -> dict[str, FloatArray]:
        """Return the normalised scores; terms that are undefined count as 0."""
        s = self.s[..., np.newaxis]
        n, p, q = s * self.tc - self.r * self.q, s * self.tt - self.r**2, s * self.cc - self.q**2
        p, q = (np.where(x > ROUNDING * s * s, x, 0.0) for x in (p, q))
        occur = ((self.r > 0) | (self.q > 0)).sum(axis=-1)
        return {
            "ecc": _ratio(n.sum(axis=-1), np.sqrt(p.sum(axis=-1) * q.sum(axis=-1))),
            "mpc1": _ratio(n.sum(axis=-1), np.sqrt(p * q).sum(axis=-1)),
            "mpc2": _ratio(_ratio(n, np.sqrt(p * q)).sum(axis=-1), occur),
        }


def _ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a quotient, or 0 where the denominator is 0: what undefined terms count as."""
    return np.divide(a, b, out=np.zeros(np.shape(a)), where=np.asarray(b) > 0)


class LeftOut(NamedTuple):
    """Scores without each cluster in turn, by measure, and what is known of the clusters.

    Parameters
    ----------
    scores
        A score for each cluster that is left out.
    shares
        The share of each cluster in the weight.
    across
        The share of the weight that is between observations of different clusters.
    n, total
        Observations, and the sum of the matrix.
    """

    scores: dict[str, FloatArray]
    shares: FloatArray
    across: float
    n: int
    total: float

    @classmethod
    def of(cls, truth: IntArray, pred: IntArray, classes: int, weights: Any, clusters: IntArray) -> LeftOut:
        """Compute them from the codes of labels and of clusters, in one pass over the entries of S."""
        G = int(clusters.max(initial=-1)) + 1
        whole, gone = PairSums.zeros(1, classes), PairSums.zeros(G, classes)
        across = 0.0
        for i, j, w in entries_of(weights, len(truth)):
            labels = truth[i], truth[j], pred[i], pred[j]
            first, second = clusters[i], clusters[j]
            apart = first != second
            whole += PairSums.by(np.zeros_like(first), 1, classes, labels, w)
            gone += PairSums.by(first, G, classes, labels, w)
            gone += PairSums.by(second[apart], G, classes, tuple(x[apart] for x in labels), w[apart])
            across += float(w[apart].sum())
        total = float(whole.s[0])
        shares = gone.s / gone.s.sum()
        return cls((whole - gone).scores(), shares, across / total, len(truth), total)

    @property
    def n_eff(self) -> float:
        """Effective number of clusters."""
        return float(1 / (self.shares**2).sum())


class JackknifeSpread(NamedTuple):
    """How far a score, or a difference of scores, may be off."""

    precision: Precision
    warnings: tuple[str, ...]
    problem: str | None

    @property
    def se(self) -> float:
        """Standard error."""
        return nan if self.problem else sqrt(self.precision.variance)


def spread(found: LeftOut, without: FloatArray) -> JackknifeSpread:
    """Return the jackknife's variance of a number, which was computed without each cluster in turn."""
    G, n_eff = len(without), found.n_eff
    u = without - without.mean()
    squares, fourths = float((u * u).sum()), float((u**4).sum())
    problem = too_few(G, "clusters", n_eff) or (None if squares > NOTHING else same_influence(G))
    noise = max(fourths - squares**2 / G, np.finfo(float).tiny)
    precision = Precision(squares * (G - 1) / G, free(2 * squares**2 / noise, n_eff))
    warnings = [CLUSTERS_ARE_FEW] * (n_eff < FEW_CLUSTERS)
    if found.across > MOST_ACROSS:
        warnings.append(
            f"{percent(found.across)} of the weight is between neighbours in different clusters, which count as "
            "independent; the interval may be too short. Larger clusters help"
        )
    return JackknifeSpread(precision, () if problem else tuple(warnings), problem)


def interval(found: LeftOut, name: str, value: float, level: float, undefined: str | None) -> Interval:
    """Return the interval of a score."""
    own = spread(found, found.scores["ecc" if name == "mcc" else name])
    problem, low, high = undefined or own.problem, nan, nan
    if problem is None:
        low, high = Scale(-1.0, 1.0).ends(value, own.precision, (1 - level) / 2)
    df = nan if problem else float(own.precision.df)
    sizes = found.n, nan, found.total, len(found.shares)  # entries of a matrix have no effective number
    more: Any = {"warnings": () if problem else own.warnings, "problem": problem, "clusters_eff": found.n_eff}
    se = nan if problem else own.se
    return Interval(name, level, METHOD, value, low, high, se, df, *sizes, **more)


def difference(
    names: tuple[str, str], name: str, values: tuple[float, float], both: tuple[LeftOut, LeftOut], level: float,
    undefined: str | None,
) -> Difference:  # fmt: skip
    """Compare two predictions: the difference of their scores without each cluster in turn."""
    key = "ecc" if name == "mcc" else name
    own, found = spread(both[0], both[0].scores[key] - both[1].scores[key]), both[0]
    value, problem = values[0] - values[1], undefined or own.problem
    if problem and value == 0 and not undefined:
        problem = "both score the same in every cluster, so the difference has no sampling error"
    low, high, p, df, se = nan, nan, nan, nan, nan
    if problem is None:
        se, df = own.se, float(own.precision.df)
        pivot = Pivot(value, se, df)
        low, high = (float(np.clip(end, -2.0, 2.0)) for end in pivot.ends((1 - level) / 2))
        p = float(pivot.p_value())
    sizes = found.n, found.n_eff, found.total
    more: Any = {"clusters": len(found.shares), "warnings": () if problem else own.warnings, "problem": problem}
    return Difference(names, name, level, values, value, low, high, se, df, p, *sizes, **more)

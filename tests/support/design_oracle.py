"""Standard errors under a sampling design, from rows and independent of the library: the judge of its designs.

Every row of the sample is kept, with its weight, stratum and cluster, and every sum runs over rows or clusters as the
textbooks write it: no table per stratum, no sums of squares, no slopes. Gradients come from complex steps: a function
of the table is evaluated at C + ih in one cell, and its imaginary part over h is the derivative, to rounding. The
jackknife deletes clusters and computes the score again. Tables have the truth in rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]
"""Score of a table, or of a cube (true, first, second); real or complex."""
STEP = 1e-150


class LonelyError(ValueError):
    """Strata of which one cluster was drawn, and more could have been."""


class Estimate(NamedTuple):
    """A score, its standard error, and the clusters less the strata."""

    value: float
    se: float
    df: int


# --- what is scored: functions of the table ---------------------------------------------------------------------------


def accuracy(C):
    return np.trace(C) / C.sum()


def ecc(C):
    s, r, q = C.sum(), C.sum(1), C.sum(0)
    return (s * np.trace(C) - r @ q) / np.sqrt((s * s - r @ r) * (s * s - q @ q))


def kappa(C):
    s, r, q = C.sum(), C.sum(1), C.sum(0)
    return (s * np.trace(C) - r @ q) / (s * s - r @ q)


def mpc1(C):
    s, r, q = C.sum(), C.sum(1), C.sum(0)
    return (s * np.trace(C) - r @ q) / np.sqrt(_varies(r * (s - r) * q * (s - q))).sum()


def mcc_of(C, k):
    s, r, q, d = C.sum(), C.sum(1)[k], C.sum(0)[k], C[k, k]
    return (s * d - r * q) / np.sqrt(r * (s - r) * q * (s - q))


def mcc(C):
    assert C.shape == (2, 2)
    return mcc_of(C, 1)


def mpc2(C):
    """Mean over the classes that occur; a class of one side only counts as 0."""
    s, r, q = C.sum(), C.sum(1), C.sum(0)
    occurs = (r.real > 0) | (q.real > 0)
    varies = (r * (s - r) * q * (s - q)).real > 0
    return sum(mcc_of(C, k) for k in np.flatnonzero(varies)) / occurs.sum()


def _varies(x):
    """Leave out the classes of one side only, whose root is 0 whatever the others do."""
    return x[x.real > 0]


def precision_of(C, k):
    return C[k, k] / C[:, k].sum()


def recall_of(C, k):
    return C[k, k] / C[k].sum()


def f1_of(C, k):
    return 2 * C[k, k] / (C[k].sum() + C[:, k].sum())


def iou_of(C, k):
    return C[k, k] / (C[k].sum() + C[:, k].sum() - C[k, k])


def area_of(C, k):
    """Share of the weight whose truth is the class."""
    return C[k].sum() / C.sum()


def mean_recall(C):
    occurs = (C.sum(1).real > 0) | (C.sum(0).real > 0)
    return sum(recall_of(C, k) for k in np.flatnonzero(C.sum(1).real > 0)) / occurs.sum()


def balanced_accuracy(C):
    some = np.flatnonzero(C.sum(1).real > 0)
    return sum(recall_of(C, k) for k in some) / len(some)


def mean_f1(C):
    some = np.flatnonzero((C.sum(1).real > 0) | (C.sum(0).real > 0))
    return sum(f1_of(C, k) for k in some) / len(some)


def mean_iou(C):
    some = np.flatnonzero((C.sum(1).real > 0) | (C.sum(0).real > 0))
    return sum(iou_of(C, k) for k in some) / len(some)


MEASURES: dict[str, Function] = {
    f.__name__: f for f in (mcc, ecc, mpc1, mpc2, accuracy, balanced_accuracy, kappa, mean_iou, mean_f1, mean_recall)
}
CLASS_MEASURES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "precision": precision_of,
    "recall": recall_of,
    "f1": f1_of,
    "iou": iou_of,
    "mcc": mcc_of,
}


def own(name: str, k: int) -> Function:
    """Score of one class, as a function of the table."""
    return lambda C: CLASS_MEASURES[name](C, k)


def area(k: int) -> Function:
    """Share of the weight whose truth is class k, as a function of the table."""
    return lambda C: area_of(C, k)


def gap(function: Function) -> Function:
    """First less second score, as a function of the cube (true, first, second)."""
    return lambda cube: function(cube.sum(2)) - function(cube.sum(1))


def gradient(function: Function, C: np.ndarray) -> np.ndarray:
    """Derivative by each cell, from complex steps."""
    size = C.sum()
    shares, out = C / size, np.zeros(C.shape)
    for cell in np.ndindex(C.shape):
        moved = shares.astype(complex)
        moved[cell] += 1j * STEP
        out[cell] = np.imag(function(moved)) / STEP / size
    return out


# --- the sample -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Rows of a sample and how they were drawn.

    Parameters
    ----------
    labels
        Truth and one or more predictions: a column each, as codes from 0.
    classes
        How many classes there are.
    weight
        Of each row, as the design made it.
    stratum, cluster
        Key of each row. Clusters are nested in strata; without them each row is one.
    fpc
        How many clusters (or rows) each stratum has, of all that could have been drawn.
    lonely
        What becomes of a stratum of which one cluster was drawn: see `variance`.
    domain
        Which rows are asked about; the others stay in the design.
    poststratum, totals
        Key of each row, and the known weight of each post-stratum.
    """

    labels: Sequence[np.ndarray]
    classes: int
    weight: np.ndarray
    stratum: np.ndarray | None = None
    cluster: np.ndarray | None = None
    fpc: Mapping[Hashable, float] | None = None
    lonely: str = "error"
    domain: np.ndarray | None = None
    poststratum: np.ndarray | None = None
    totals: Mapping[Hashable, float] | None = None

    @property
    def n(self) -> int:
        return len(self.weight)

    def strata(self) -> np.ndarray:
        return np.zeros(self.n, dtype=int) if self.stratum is None else np.asarray(self.stratum)

    def units(self) -> dict[Hashable, list[np.ndarray]]:
        """Rows of each cluster (or each row by itself), by stratum in the order of the keys."""
        strata, out = self.strata(), {}
        for h in sorted(set(strata.tolist())):
            rows = np.flatnonzero(strata == h)
            if self.cluster is None:
                out[h] = [rows[i : i + 1] for i in range(len(rows))]
            else:
                names = np.asarray(self.cluster)[rows]
                out[h] = [rows[names == name] for name in sorted(set(names.tolist()))]
        return out

    def calibrated(self, weight: np.ndarray) -> np.ndarray:
        """Weights that add up to the known totals of the post-strata."""
        if self.poststratum is None:
            return weight
        out = np.zeros(self.n)
        for p, total in self.totals.items():
            inside = np.asarray(self.poststratum) == p
            out[inside] = weight[inside] * total / weight[inside].sum()
        return out

    def table(self, weight: np.ndarray | None = None) -> np.ndarray:
        """Sums of weights per cell, of the domain's rows."""
        w = self.calibrated(self.weight) if weight is None else weight
        C = np.zeros((self.classes,) * len(self.labels))
        inside = np.ones(self.n, dtype=bool) if self.domain is None else self.domain
        np.add.at(C, tuple(np.asarray(x)[inside] for x in self.labels), w[inside])
        return C

    def influences(self, function: Function) -> np.ndarray:
        """Weight times derivative of each row; 0 outside of the domain; less the mean of its post-stratum."""
        w = self.calibrated(self.weight)
        g = gradient(function, self.table())
        u = w * g[tuple(np.asarray(x) for x in self.labels)]
        if self.domain is not None:
            u = np.where(self.domain, u, 0.0)
        if self.poststratum is not None:
            for p in self.totals:
                inside = np.asarray(self.poststratum) == p
                u[inside] -= w[inside] * u[inside].sum() / w[inside].sum()
        return u


def linearised(rows: Rows, function: Function) -> Estimate:
    """Value and standard error by linearisation."""
    u = rows.influences(function)
    z = {h: np.array([u[one].sum() for one in units]) for h, units in rows.units().items()}
    drawn = sum(map(len, z.values()))
    return Estimate(
        float(function(rows.table()).real), float(np.sqrt(variance(z, rows.fpc, rows.lonely))), drawn - len(z)
    )


def variance(z: Mapping[Hashable, np.ndarray], fpc: Mapping[Hashable, float] | None, lonely: str) -> float:
    """Σ_h (1 − f_h) m_h/(m_h − 1) Σ_c (z − z̄_h)².

    A stratum that was drawn wholly has variance 0. Where one cluster of several was drawn, ``"error"`` refuses;
    ``"certainty"`` takes the stratum for drawn wholly; ``"adjust"`` takes the square of its distance from the mean of
    all clusters; ``"average"`` gives it the mean variance of the strata that are not lonely; ``"collapse"`` joins it to
    the stratum that follows it in the order of the keys, and a pair of lonely strata is joined no further; the last
    stratum, if it is lonely and in no pair, joins the stratum before it and what that is joined with.
    """
    left = {h: 1.0 if fpc is None else 1 - len(x) / fpc[h] for h, x in z.items()}
    alone = [h for h, x in z.items() if len(x) == 1 and left[h] > 0]
    if alone and lonely == "error":
        raise LonelyError(alone)
    if alone and lonely == "collapse":
        return _joined(z, fpc, left, alone)
    mean = np.concatenate(list(z.values())).mean()
    each = {}
    for h, x in z.items():
        if h not in alone:
            each[h] = left[h] * len(x) / (len(x) - 1) * np.square(x - x.mean()).sum() if left[h] > 0 else 0.0
        elif lonely == "adjust":
            each[h] = left[h] * float((x[0] - mean) ** 2)
        elif lonely == "certainty":
            each[h] = 0.0
    if not each:
        raise LonelyError(alone)
    factor = len(z) / len(each) if lonely == "average" else 1.0
    return float(factor * sum(each.values()))


def _joined(z, fpc, left, alone) -> float:
    """Variance where each lonely stratum is joined to its neighbour; strata drawn wholly are nobody's neighbour."""
    order = [h for h in z if left[h] > 0]
    if len(order) == 1:
        raise LonelyError(alone)
    group = {h: h for h in order}
    for h, following in pairwise(order):
        if h in alone and group[h] == h:  # not the second of a pair
            group[following] = h
    last = order[-1]
    if last in alone and group[last] == last:
        group[last] = group[order[-2]]
    joined, sizes = {}, {}
    for h, name in group.items():
        joined[name] = np.concatenate([joined.get(name, np.empty(0)), z[h]])
        sizes[name] = sizes.get(name, 0) + (0 if fpc is None else fpc[h])
    return variance(joined, None if fpc is None else sizes, "error")


# --- replicates -------------------------------------------------------------------------------------------------------


class Replicates(NamedTuple):
    """Weights of each row in each replicate (n × R), and what the squared deviation of each counts."""

    weights: np.ndarray
    scales: np.ndarray


def replicated(rows: Rows, function: Function, replicates: Replicates) -> Estimate:
    """Value and standard error from replicate weights."""
    value = function(rows.table()).real
    each = [function(rows.table(rows.calibrated(w))).real for w in replicates.weights.T]
    V = float(replicates.scales @ np.square(np.array(each) - value))
    return Estimate(float(value), float(np.sqrt(V)), len(replicates.scales) - 1)


def jackknife(rows: Rows) -> Replicates:
    """JKn: each cluster is left out in turn, and the others of its stratum take its weight."""
    weights, scales = [], []
    for h, units in rows.units().items():
        m = len(units)
        left = 1.0 if rows.fpc is None else 1 - m / rows.fpc[h]
        for gone in units:
            w = rows.weight.astype(float).copy()
            for one in units:
                w[one] *= m / (m - 1)
            w[gone] = 0
            weights.append(w)
            scales.append((m - 1) / m * left)
    return Replicates(np.array(weights).T, np.array(scales))


def balanced(rows: Rows, fay: float = 0.0) -> Replicates:
    """BRR, or Fay's: of each stratum's two clusters one is weighted 2 − k and the other k, by a Hadamard matrix."""
    units = rows.units()
    assert all(len(x) == 2 for x in units.values())
    size = 1
    while size <= len(units):
        size *= 2
    H = np.array([[1]])
    while len(H) < size:
        H = np.block([[H, H], [H, -H]])
    weights = np.repeat(rows.weight.astype(float)[:, np.newaxis], size, axis=1)
    for column, (first, second) in zip(H.T[1:], units.values(), strict=False):
        weights[first] *= np.where(column > 0, 2 - fay, fay)
        weights[second] *= np.where(column > 0, fay, 2 - fay)
    return Replicates(weights, np.full(size, 1 / (size * (1 - fay) ** 2)))


def bootstrapped(rows: Rows, rng: np.random.Generator, number: int) -> Replicates:
    """Rao and Wu's: m − 1 of the m clusters of each stratum are drawn with replacement, rescaled."""
    weights = np.repeat(rows.weight.astype(float)[:, np.newaxis], number, axis=1)
    for units in rows.units().values():
        m = len(units)
        times = rng.multinomial(m - 1, np.full(m, 1 / m), size=number)
        for one, drawn in zip(units, times.T, strict=True):
            weights[one] *= drawn * m / (m - 1)
    return Replicates(weights, np.full(number, 1 / (number - 1)))


# --- worked examples of the literature --------------------------------------------------------------------------------


def from_map(counts: Sequence[Sequence[int]], sizes: Sequence[float]) -> Rows:
    """Rows of an error matrix whose rows are the map's classes and the strata."""
    counts = np.asarray(counts)
    mapped, reference = (np.repeat(i.ravel(), counts.ravel()) for i in np.indices(counts.shape))
    weight = (np.asarray(sizes, dtype=float) / counts.sum(1))[mapped]
    return Rows((reference, mapped), len(counts), weight, stratum=mapped)


OLOFSSON_2014 = [[66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]]
OLOFSSON_2014_PIXELS = [200_000, 150_000, 3_200_000, 6_450_000]
HECTARES_PER_PIXEL = 0.09
OLOFSSON_2013 = [[97, 0, 3], [3, 279, 18], [2, 1, 97]]
OLOFSSON_2013_PIXELS = [22_353, 1_122_543, 610_228]
STEHMAN_SIZES = {"A": 40_000, "B": 30_000, "C": 20_000, "D": 10_000}
STEHMAN = {
    "stratum": "AAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDDDDDDDDD",
    "map": "AAAAAAABBBABBBBBBBBBBBCCCCCCBBDDDDDDDDDD",
    "ref": "AAAAACBABCABBBBBAABBCCCCCDDBBADDDDDDDCCB",
}


def stehman(fpc: bool = False, pairs: bool = False) -> Rows:
    """Stehman's (2014) sample, of rows or of pairs of them that follow one another."""
    codes = {name: np.array(["ABCD".index(x) for x in text]) for name, text in STEHMAN.items()}
    sizes = list(STEHMAN_SIZES.values())
    return Rows(
        (codes["ref"], codes["map"]),
        4,
        np.array(sizes)[codes["stratum"]] / 10.0,
        stratum=codes["stratum"],
        cluster=np.arange(40) // 2 if pairs else None,
        fpc=dict(enumerate(sizes)) if fpc else None,
    )


EXAMPLES: dict[str, Rows] = {
    "Olofsson 2014": from_map(OLOFSSON_2014, OLOFSSON_2014_PIXELS),
    "Olofsson 2013": from_map(OLOFSSON_2013, OLOFSSON_2013_PIXELS),
    "Stehman 2014": stehman(),
    "Stehman 2014, fpc": stehman(fpc=True),
    "Stehman 2014, pairs": stehman(pairs=True),
    "Stehman 2014, pairs, jackknife": stehman(pairs=True),
}
EXPECTED = {
    "Olofsson 2014": """
        accuracy    .9465118881                       .0094304172
        precision   .88 .7333333 .9272727 .9630769    .0377760 .0514066 .0202782 .0104763
        recall      .7486614 .8471564 .9345089 .9616090   .1088316 .1298002 .0175125 .0093681
        hectares    21157.762 11686.154 285769.930 581386.154   3141.650 1916.238 7913.182 8306.968
        ecc         .8888355127   .0194577982
        mpc1        .8890232393   .0194140813
        mpc2        .8462785652   .0273478416
        kappa       .8888137986   .0194672899
    """,
    "Olofsson 2013": """
        accuracy    .9444167819   .0111643995
        recall      .4806308 .9941887 .8969259   .1145585 .0057783 .0210236
        pixels      45112.40 - -   10751.405 - -
        ecc         .8885708282   .0214268289
    """,
    "Stehman 2014, fpc": """
        accuracy    .63   .084642188062455
        share       .35 .34 .20 .11   .0822478 .0758531 .0642798 .0307222
        precision   .7419355 .5744681 .5 .7   .1645420 .1247822 .2151119 .1526761
        recall      .6571429 .7941176 .3 .6363636   .1477101 .1165479 .1504108 .1622797
        ecc         .4778265462   .1162171080
        mpc1        .4798241632   .1160469810
        mpc2        .4805980807   .1065510508
    """,
    "Stehman 2014": """
        accuracy    .63   .08465616732800196
        f1          .6969697 .6666667 .375 .6666667   .1282960 .1002029 .1613113 .1287357
    """,
    "Stehman 2014, pairs": """
        accuracy    .63   .10488088481701516
        precision   - .5744681 - -   - .14077531353971434 - -
        recall      - .7941176 - -   - .12216235900763331 - -
        ecc         .4778265462   .1496855688
        mpc1        .4798241632   .1501116910
        mpc2        .4805980807   .1330924685
    """,
    "Stehman 2014, pairs, jackknife": """
        accuracy    .63   .1048808848
        precision   - .5744681 - -   - .1435997466 - -
        recall      - .7941176 - -   - .1300881193 - -
        ecc         .4778265462   .1523637188
    """,
}
"""Scores and then their standard errors, of each class if there are several: as printed, "-" where nothing is."""


class Quantity(NamedTuple):
    """One printed number and its standard error: of which example, what, and of which class."""

    example: str
    name: str
    of: int | None
    value: str
    se: str

    def __str__(self) -> str:
        return f"{self.example}: {self.name}" + ("" if self.of is None else f" {self.of}")


def quantities() -> list[Quantity]:
    """Every printed number that has a standard error."""
    out = []
    for example, text in EXPECTED.items():
        for line in text.split("\n"):
            if not line.strip():
                continue
            name, *numbers = line.split()
            half = len(numbers) // 2
            for k, (value, se) in enumerate(zip(numbers[:half], numbers[half:], strict=True)):
                if value != "-":
                    out.append(Quantity(example, name, None if half == 1 else k, value, se))
    return out


def as_printed(number: float, text: str) -> bool:
    """Whether a number rounds to what is printed; the last of 16 digits and more may be off, as float64 ends there."""
    digits = len(text.split(".")[1])
    return abs(number - float(text)) <= max(0.5 * 10.0**-digits, 4e-16) * (1 + 1e-6)

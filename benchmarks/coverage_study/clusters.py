"""Images whose pixels are alike: intervals and tests that take pixels for independent, and those that do not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from .grid import batches, mean, measured, seeded
from .intervals import LEVEL, Found, comparisons, intervals
from .markdown import against, table, title
from .pairs import joint_chances
from .population import EQUAL, LOG_NORMAL, Samples, Weights, class_shares, in_shares, summed

PIXELS = 40
CLASSES = 3


class Images(NamedTuple):
    """How images are drawn. Each has λ of its own for either classifier, from a beta distribution.

    Parameters
    ----------
    clusters
        How many there are.
    correlation
        Intra-class correlation of being right: the variance of λ is this share of λ(1 − λ).
    uneven
        Whether the number of pixels varies.
    patchy
        Whether the classes of an image are alike too: its shares are then Dirichlet, of the same correlation. What is
        guessed has the shares of all images, so λ is the score still.
    weights
        Of pixels.
    level
        Mean λ of both classifiers.
    measure
        By which they are scored.
    sigma
        Of the log-normal sizes of images, where they are uneven.
    tie
        Whether λ of images larger than the median is larger by 0.25 or 0.9 (1 − λ) and that of others smaller (1), or
        the reverse (−1).
    """

    clusters: int
    correlation: float
    uneven: bool = False
    patchy: bool = False
    weights: Weights = EQUAL
    level: float = 0.6
    measure: str = "ecc"
    sigma: float = 0.8
    tie: int = 0

    @property
    def _apart(self) -> float:
        return self.tie * min(0.25, 0.9 * (1 - self.level))

    @property
    def truth(self) -> float:
        """Score of all images that there are: λ by their size."""
        return self.level + self._apart * (2 * float(ndtr(self.sigma)) - 1)

    def draw(self, rng: np.random.Generator, runs: int) -> np.ndarray:
        """Numbers of pixels: run × image × stratum × cell, where a cell is (true, first, second)."""
        shares, many = class_shares(CLASSES, 0.5), (runs, self.clusters)
        spread = 1 / self.correlation - 1
        z = rng.standard_normal(many)
        mean = self.level + self._apart * np.sign(z)
        a, b = (rng.beta(mean * spread, (1 - mean) * spread, many) for _ in range(2))
        truth = rng.dirichlet(shares * spread, many) if self.patchy else shares
        chances = joint_chances(truth, shares, a, b, shared=0.5)
        strata = len(self.weights.levels)
        chances = np.repeat(chances[..., np.newaxis, :], strata, axis=-2) / strata
        sizes = np.full(many, PIXELS)
        if self.uneven:
            sizes = np.maximum(2, np.rint(PIXELS * np.exp(self.sigma * z - self.sigma**2 / 2))).astype(int)
        counts = rng.multinomial(sizes, chances.reshape(*many, -1))
        return counts.reshape(*many, strata, -1)


class Outcome(NamedTuple):
    """What became of intervals and tests, in per cent: taking pixels for independent, and by cluster.

    ``width`` is that of the intervals by cluster without a flag, as in `grid.Point`.
    """

    images: Images
    runs: int
    naive: float
    covered: float
    flagged: float
    naive_size: float
    size: float
    width: float


def simulate(images: Images, runs: int) -> Outcome:
    """Count how often intervals hold λ, and how often equal classifiers are told apart."""
    rng, K = seeded(images), CLASSES
    found, by_cluster = [], []
    for some in batches(runs, images.clusters * K**3):
        apart = summed(rng, images.weights, images.draw(rng, some))
        whole, held = together(apart)
        first = of_first(whole)
        rows, own = intervals(images.measure, first), intervals(images.measure, first, first_of(held))
        tests = comparisons(images.measure, whole, K), comparisons(images.measure, whole, K, held)
        # A p-value that is NaN is none that tells apart, and NaN is no end that holds anything.
        covered = [(x.low <= images.truth) & (images.truth <= x.high) for x in (rows, own)]
        found.append([*covered, own.flagged, *(x.p < 1 - LEVEL for x in tests)])
        by_cluster.append(own)
    own = Found(*(np.concatenate(x) for x in zip(*by_cluster, strict=True)))
    width, _ = measured(own, images.truth)
    rates = (100 * float(np.concatenate(x).mean()) for x in zip(*found, strict=True))
    return Outcome(images, runs, *rates, mean(width[own.estimable & ~own.flagged]))


def together(apart: Samples) -> tuple[Samples, np.ndarray]:
    """Cells of samples, from those of their clusters, and the weights of the clusters' cells; in units of the total."""
    whole = Samples(*(x.sum(axis=1) for x in apart[:3]), apart.w_max.max(axis=1))
    return in_shares(whole), apart.w / apart.w.sum(axis=(1, 2), keepdims=True)


def of_first(joint: Samples) -> Samples:
    """Cells of the first classifier's tables, from those of joint tables."""
    return Samples(*(first_of(x) for x in joint[:3]), first_of(joint.w_max, np.maximum))


def first_of(x: np.ndarray, merge: np.ufunc = np.add) -> np.ndarray:
    """Put together the cells that differ in the second prediction only."""
    return merge.reduce(x.reshape(*x.shape[:-1], CLASSES**2, CLASSES), axis=-1)


def scenarios() -> list[Images]:
    """Few and many images, hardly and very much alike, equal and uneven; then what else images may be."""
    main = [
        Images(count, correlation, uneven)
        for correlation in (0.05, 0.15, 0.3)
        for uneven in (False, True)
        for count in (10, 20, 50, 200)
    ]
    hard = [
        Images(50, 0.15, patchy=True),
        Images(50, 0.3, True, patchy=True),
        Images(50, 0.15, weights=LOG_NORMAL[1.0]),
        Images(50, 0.3, True, True, LOG_NORMAL[1.0]),
        Images(50, 0.15, True, level=0.9),
        Images(50, 0.15, True, True, level=0.9, measure="mpc2"),
    ]
    hard += [
        Images(count, 0.15, True, level=level, sigma=sigma, tie=tie)
        for count, sigma in ((20, 1.2), (50, 1.2), (100, 1.5), (200, 1.2), (400, 2.0))
        for level, tie in ((0.6, 0), (0.6, -1), (0.9, -1))
    ]
    return main + hard


def text(found: list[Outcome]) -> str:
    """Table of all scenarios, and what it says."""
    rows = [
        [
            described(x.images),
            f"{x.images.clusters}",
            f"{x.naive:.1f}",
            against(x.covered, 92) if x.images.clusters >= 50 else f"{x.covered:.1f}",
            f"{x.width:.2f}",
            f"{x.flagged:.1f}",
            f"{x.naive_size:.1f}",
            f"{x.size:.1f}",
        ]
        for x in found
    ]
    enough = [x for x in found if x.images.clusters >= 50]
    met = sum(x.covered >= 92 for x in enough)
    said = (
        f"{found[0].runs:,} samples each. With 50 clusters or more {met} of {len(enough)} cover 92 % or more, "
        f"the lowest {min(x.covered for x in enough):.1f} %; taking pixels for independent they cover "
        f"{min(x.naive for x in enough):.0f} to {max(x.naive for x in enough):.0f} %."
    )
    head = [
        "images", "clusters", "coverage, naive", "by cluster", "width", "% flagged", "test's size, naive", "by cluster",
    ]  # fmt: skip
    return said + "\n\n" + table(head, rows)


def described(images: Images) -> str:
    """Images in words, for a table."""
    words = [
        f"{title(images.measure)}, λ = {images.level:g}",
        f"correlation {images.correlation:g}",
        (f"uneven (σ = {images.sigma:g})" if images.sigma != Images(0, 0).sigma else "uneven")
        if images.uneven
        else "equal",
        *(["larger ones worse"] if images.tie < 0 else []),
        *(["patchy"] if images.patchy else []),
        *([f"weights {images.weights.name}"] if images.weights != EQUAL else []),
    ]
    return ", ".join(words)

"""Populations in strata whose scores are known, and samples from them: rows, clusters, replicate weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

import wmcc

from .pairs import joint_chances

ROWS = 40
"""Rows of a cluster."""


class Sampled(NamedTuple):
    """Labels of the rows of a sample: true and of two predictions; their weights; and keywords that tell the design.

    Without weights, rows weigh what the sizes of the strata say.
    """

    labels: tuple[np.ndarray, np.ndarray, np.ndarray]
    weight: np.ndarray | None
    design: dict[str, Any]
    plain: np.ndarray  # the weights as numbers, for the table without a design


class Plan(Protocol):
    """A population and how samples are drawn from it."""

    @property
    def kind(self) -> str:
        """What is drawn: ``"strata"``, ``"clusters"`` or ``"replicates"``."""

    @property
    def truth(self) -> np.ndarray:
        """Shares of the population: true class by predicted class."""

    def sample(self, rng: np.random.Generator) -> Sampled:
        """Draw a sample."""


class Strata(NamedTuple):
    """Rows drawn in strata.

    Parameters
    ----------
    name
        Of the population, in `MAPS` or `REGIONS`.
    n
        Rows.
    allocation
        ``"proportional"`` to the sizes of the strata, ``"equal"``, or ``"optimal"`` for the accuracy (Neyman's).
    """

    name: str
    n: int
    allocation: str

    kind = "strata"

    @property
    def _cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Sizes of the strata, and chances of (true, first, second) in each."""
        return MAPS[self.name] if self.name in MAPS else REGIONS[self.name]

    @property
    def truth(self) -> np.ndarray:
        """Shares of the population: true class by predicted class."""
        sizes, chances = self._cells
        return np.tensordot(sizes, chances, 1).sum(axis=-1)

    @property
    def rows(self) -> np.ndarray:
        """Rows of each stratum; at least two."""
        sizes, chances = self._cells
        right = np.einsum("haab->h", chances)
        parts = {
            "proportional": sizes,
            "equal": np.full(len(sizes), 1 / len(sizes)),
            "optimal": sizes * np.sqrt(right * (1 - right)),
        }[self.allocation]
        return np.maximum(2, np.rint(self.n * parts / parts.sum())).astype(int)

    def sample(self, rng: np.random.Generator) -> Sampled:
        """Draw a sample."""
        sizes, chances = self._cells
        rows = self.rows
        stratum = np.repeat(np.arange(len(sizes)), rows)
        counts = [rng.multinomial(n, own.ravel()) for n, own in zip(rows, chances, strict=True)]
        labels = _labels(np.array(counts), chances.shape[-1])
        design = wmcc.Strata(stratum, population=dict(enumerate(sizes.tolist())))
        return Sampled(labels, None, {"design": design}, (sizes / rows)[stratum])


class Clusters(NamedTuple):
    """Clusters of forty rows, drawn in strata. A row of a cluster stands for a fortieth of its size.

    Parameters
    ----------
    strata, clusters
        How many there are, and clusters in each.
    correlation
        Intra-class correlation of being right, and of the classes where the clusters are patchy.
    sigma
        Of the log-normal sizes of clusters; 0 if they are equal.
    patchy
        Whether each cluster has class shares of its own.
    replicates
        How the design is told: None for strata and clusters, else the kind of replicate weights that are made of it.
    apart
        By how much the λ of the first prediction is larger in the first of two strata and smaller in the second; that
        of the second prediction is the reverse, so that both are equally good.
    """

    strata: int
    clusters: int
    correlation: float = 0.15
    sigma: float = 0.0
    patchy: bool = False
    replicates: str | None = None
    apart: float = 0.0

    @property
    def kind(self) -> str:
        """What is drawn."""
        return "clusters" if self.replicates is None else "replicates"

    @property
    def _sizes(self) -> np.ndarray:
        """Sizes of the strata: the largest is twice the smallest; pairs of strata are equal."""
        sizes = np.linspace(1, 2, (self.strata + 1) // 2).repeat(2)[: self.strata]
        return sizes / sizes.sum()

    @property
    def _quality(self) -> np.ndarray:
        """λ of each stratum, before it is moved apart; pairs of strata are equal."""
        return np.linspace(0.5, 0.9, max(2, (self.strata + 1) // 2)).repeat(2)[: self.strata]

    @property
    def _shares(self) -> np.ndarray:
        """Class shares of each stratum."""
        first, last = np.array([0.6, 0.3, 0.1]), np.array([0.3, 0.4, 0.3])
        along = np.linspace(0, 1, max(2, (self.strata + 1) // 2)).repeat(2)[: self.strata, np.newaxis]
        return (1 - along) * first + along * last

    def _moved(self) -> tuple[np.ndarray, np.ndarray]:
        """λ of the two predictions in each stratum."""
        sign = np.where(np.arange(self.strata) % 2 == 0, 1, -1) * self.apart
        return self._quality + sign, self._quality - sign

    @property
    def truth(self) -> np.ndarray:
        """Shares of the population: true class by predicted class."""
        first, _ = self._moved()
        return sum(
            size * shares[:, np.newaxis] * (own * np.eye(3) + (1 - own) * shares)
            for size, shares, own in zip(self._sizes, self._shares, first, strict=True)
        )

    def sample(self, rng: np.random.Generator) -> Sampled:
        """Draw a sample."""
        stratum = np.repeat(np.arange(self.strata), self.clusters)
        shares, spread = self._shares[stratum], 1 / self.correlation - 1
        a, b = (rng.beta(own[stratum] * spread, (1 - own[stratum]) * spread) for own in self._moved())
        truth = shares
        if self.patchy:  # Dirichlet's, each with its own mean
            gamma = rng.standard_gamma(shares * spread)
            truth = gamma / gamma.sum(axis=1, keepdims=True)
        own = [slice(h * self.clusters, (h + 1) * self.clusters) for h in range(self.strata)]
        chances = [joint_chances(truth[x], shares[x.start], a[x], b[x], shared=0.5) for x in own]
        counts = rng.multinomial(ROWS, np.concatenate(chances))
        labels = _labels(counts, 3)
        size = np.exp(self.sigma * rng.standard_normal(len(stratum)) - self.sigma**2 / 2)
        each = (self._sizes / self.clusters)[stratum] * size / ROWS
        cluster = np.repeat(np.arange(len(stratum)), ROWS)
        weight = each[cluster]
        if self.replicates is None:
            design = {"design": wmcc.Strata(stratum[cluster]), "cluster": cluster % self.clusters}
        else:
            factors, how = REPLICATES[self.replicates](rng, self.strata, self.clusters)
            free = self.strata * (self.clusters - 1)  # as the documentation of a survey says
            design = {"design": wmcc.Replicates(weight[:, np.newaxis] * factors[cluster], df=free, **how)}
        return Sampled(labels, weight, design, weight)


def _labels(counts: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels of rows, from their numbers in each cell of each unit."""
    cells = np.repeat(np.broadcast_to(np.arange(classes**3), counts.shape).ravel(), counts.ravel())
    true, first, second = np.unravel_index(cells, (classes,) * 3)
    return true, first, second


# ---- populations -----------------------------------------------------------------------------------------


def _of_map(sizes: list[float], users: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """A map whose classes are the strata, by their user's accuracy; what is wrong is of the other classes by size."""
    W, K = np.array(sizes), len(sizes)
    chances = np.zeros((K, K, K, K))
    for h, right in enumerate(users):
        others = np.where(np.arange(K) == h, 0.0, W)
        chances[h, :, h, h] = (1 - right) * others / others.sum() + right * (np.arange(K) == h)
    return W, chances


def _of_regions(sizes: list[float], shares: list[list[float]], quality: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Regions with class shares and a λ of their own."""
    chances = [
        joint_chances(np.array(own), np.array(own), np.array(good), np.array(good), shared=0.5)
        for own, good in zip(shares, quality, strict=True)
    ]
    K = len(shares[0])
    return np.array(sizes), np.array(chances).reshape(-1, K, K, K)


MAPS = {
    "map classes, one of 1 %": _of_map([0.01, 0.05, 0.30, 0.64], [0.8, 0.75, 0.9, 0.95]),
    "map classes": _of_map([0.15, 0.25, 0.60], [0.7, 0.8, 0.9]),
}
RARELY = [[0.69, 0.30, 0.01], [0.30, 0.69, 0.01], [0.50, 0.49, 0.01], [0.20, 0.78, 0.02], [0.10, 0.90, 0.0]]
EVENLY = [[0.4, 0.4, 0.2], [0.3, 0.4, 0.3], [0.5, 0.2, 0.3], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]]
REGIONS = {
    "regions, a class of 1 %": _of_regions([0.4, 0.3, 0.15, 0.1, 0.05], RARELY, [0.95, 0.8, 0.7, 0.6, 0.9]),
    "regions": _of_regions([0.4, 0.3, 0.15, 0.1, 0.05], EVENLY, [0.9, 0.6, 0.7, 0.3, 0.8]),
}


# ---- replicate weights -----------------------------------------------------------------------------------


def _jackknife(rng: np.random.Generator, strata: int, clusters: int) -> tuple[np.ndarray, dict[str, Any]]:
    """JKn, or JK1 where there is one stratum: factors of each cluster in each replicate, and keywords."""
    number = strata * clusters
    same = np.arange(number)[:, np.newaxis] // clusters == np.arange(number) // clusters
    factors = np.where(same, clusters / (clusters - 1), 1.0)
    np.fill_diagonal(factors, 0)
    if strata == 1:
        return factors, {"method": "jk1"}
    return factors, {"method": "jkn", "scales": [(clusters - 1) / clusters] * number}


def _balanced(
    rng: np.random.Generator, strata: int, clusters: int, fay: float = 0.0
) -> tuple[np.ndarray, dict[str, Any]]:
    """Balanced half-samples of strata of two, by a Hadamard matrix."""
    H = np.array([[1]])
    while len(H) <= strata:
        H = np.block([[H, H], [H, -H]])
    sign = H[1 : strata + 1].repeat(2, axis=0) * np.tile([1, -1], strata)[:, np.newaxis]
    factors = 1 + (1 - fay) * sign
    return factors, {"method": "fay", "fay": fay} if fay else {"method": "brr"}


def _fay(rng: np.random.Generator, strata: int, clusters: int) -> tuple[np.ndarray, dict[str, Any]]:
    return _balanced(rng, strata, clusters, 0.5)


def _bootstrap(rng: np.random.Generator, strata: int, clusters: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Rao and Wu's: one cluster fewer than there are is drawn in each stratum, with replacement; a hundred times."""
    m = clusters
    times = [rng.multinomial(m - 1, np.full(m, 1 / m), size=100).T * m / (m - 1) for _ in range(strata)]
    return np.concatenate(times), {"method": "bootstrap"}


REPLICATES = {"jackknife": _jackknife, "BRR": _balanced, "Fay's BRR": _fay, "bootstrap": _bootstrap}


# ---- what is simulated -----------------------------------------------------------------------------------


def plans() -> Iterator[Plan]:
    """Rows in strata; clusters in strata, few and many, even and uneven; replicate weights of such."""
    for name in (*MAPS, *REGIONS):
        for n in (200, 500, 1000, 3000):
            for allocation in ("proportional", "equal", "optimal"):
                yield Strata(name, n, allocation)
    for strata, clusters in ((1, 10), (5, 2), (2, 10), (10, 2), (5, 10), (2, 25), (10, 10), (50, 2)):
        for sigma, patchy in ((0.0, False), (0.8, False), (0.8, True), (1.2, True)):
            yield Clusters(strata, clusters, sigma=sigma, patchy=patchy)
    for strata, clusters, kind in (
        (1, 20, "jackknife"), (1, 50, "jackknife"), (5, 10, "jackknife"), (20, 2, "jackknife"),
        (10, 2, "BRR"), (30, 2, "BRR"), (30, 2, "Fay's BRR"),
        (1, 50, "bootstrap"), (5, 10, "bootstrap"), (10, 2, "bootstrap"), (30, 2, "bootstrap"),
    ):  # fmt: skip
        for sigma in (0.0, 0.8):
            yield Clusters(strata, clusters, sigma=sigma, replicates=kind)


def pairs() -> Iterator[tuple[Plan, str]]:
    """Plans for two predictions that are equally good."""
    for name in REGIONS:
        for n, allocation in ((500, "proportional"), (500, "equal"), (1000, "optimal")):
            yield Strata(name, n, allocation), "ecc"
    yield Strata("regions", 1000, "equal"), "mpc2"
    yield Strata("regions", 1000, "equal"), "accuracy"
    for strata, clusters, sigma in ((5, 10, 0.0), (10, 2, 0.0), (2, 25, 0.8), (10, 10, 0.8), (50, 2, 0.8)):
        yield Clusters(strata, clusters, sigma=sigma), "ecc"
    yield Clusters(10, 10, apart=0.08), "ecc"
    yield Clusters(10, 10, apart=0.08, sigma=0.8), "mpc2"
    for strata, clusters, kind in ((5, 10, "jackknife"), (30, 2, "BRR"), (5, 10, "bootstrap")):
        yield Clusters(strata, clusters, replicates=kind), "ecc"


def described(plan: Plan) -> str:
    """A plan in words, for a table."""
    if isinstance(plan, Strata):
        return f"{plan.name}, {plan.allocation} allocation, n = {plan.n:,}"
    assert isinstance(plan, Clusters)
    strata = "1 stratum" if plan.strata == 1 else f"{plan.strata} strata"
    words = [
        *([plan.replicates] if plan.replicates else []),
        f"{strata} of {plan.clusters} clusters",
        f"uneven (σ = {plan.sigma:g})" if plan.sigma else "equal",
        *(["patchy"] if plan.patchy else []),
        *(["each better in some strata"] if plan.apart else []),
    ]
    return ", ".join(words)

"""Populations whose scores are known, and tables of samples from them, thousands at once.

A row has a true class, drawn from the class shares. With probability λ its prediction is the true class, else it is
drawn from the same shares. Then MCC, ECC, MPC1, MPC2 and kappa of the population are all λ; where λ depends on the
weight, they are the mean of λ by weight.

Rows of one cell and one stratum of weights are alike, so it is their numbers that are drawn, and weights one by one
only where they are log-normal or Pareto's.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from wmcc.inference.influence import CellSums


class Samples(NamedTuple):
    """Sums of all cells of many tables, occupied or not: number of rows, Σw, Σw² and the largest weight of each."""

    n: np.ndarray
    w: np.ndarray
    w2: np.ndarray
    w_max: np.ndarray

    def cells(self, classes: int, axes: int = 2) -> CellSums:
        """Return them as `wmcc.inference` takes them: tables of so many classes, of two labels per row or of three."""
        return CellSums(*self, np.indices((classes,) * axes).reshape(axes, -1), classes, classes)


class Weights(NamedTuple):
    """How weights are spread: over strata that are equally likely, of which the last is the heaviest.

    Parameters
    ----------
    name
        For tables and pictures.
    levels
        The weight of every row of a stratum, unless ``sigma`` is given.
    sigma
        Of log-normal weights; their strata are the rows lighter and heavier than the median.
    tail
        α of Pareto's weights, with the same strata: a weight exceeds x ≥ 1 with probability x^−α. With 2 or less their
        variance is infinite.
    """

    name: str
    levels: tuple[float, ...] = (1.0, 1.0)
    sigma: float = 0.0
    tail: float = 0.0

    @property
    def held(self) -> np.ndarray:
        """Share of the weight in each stratum."""
        if self.sigma:
            return ndtr(np.array([-self.sigma, self.sigma]))
        if self.tail:
            heavy = 0.5 ** (1 - 1 / self.tail)
            return np.array([1 - heavy, heavy])
        return np.array(self.levels) / sum(self.levels)

    def design_effect(self, n: int) -> float:
        """E[w²] / E[w]²: rows per effective row. Pareto's weights count up to the size that one of n rows exceeds."""
        if self.sigma:
            return exp(self.sigma**2)
        if self.tail:
            a = self.tail
            return a / (2 - a) * (n ** (2 / a - 1) - 1) * ((a - 1) / a) ** 2
        return float(np.mean(np.square(self.levels)) / np.mean(self.levels) ** 2)


EQUAL = Weights("equal")
LOG_NORMAL = {sigma: Weights(f"log-normal {sigma:g}", sigma=sigma) for sigma in (0.5, 1.0, 1.5)}
THREE_LEVELS = Weights("1/100/10000", (1.0, 100.0, 10000.0))
PARETO = {tail: Weights(f"Pareto {tail:g}", tail=tail) for tail in (2.5, 1.5, 1.2)}


MANY = 10
"""Classes from which on shares are Zipf's."""


def class_shares(classes: int, smallest: float) -> np.ndarray:
    """Return shares of which the last is ``smallest``, or no larger than the others, which are equal.

    Of many classes each is the less frequent the later it comes, by Zipf's law.
    """
    if classes >= MANY:
        shares = 1 / np.arange(1.0, classes + 1)
        return shares / shares.sum()
    last = min(smallest, 1 / classes)
    return np.array([*[(1 - last) / (classes - 1)] * (classes - 1), last])


class Population(NamedTuple):
    """Where rows come from.

    Parameters
    ----------
    shares
        Of the classes.
    weights
        How they are spread.
    quality
        λ in each stratum of weights.
    """

    shares: np.ndarray
    weights: Weights
    quality: np.ndarray

    @classmethod
    def of(cls, classes: int, smallest: float, weights: Weights, level: float, tie: int = 0) -> Population:
        """Population whose λ is ``level`` or, where ``tie`` is 1 or −1, larger or smaller for the heaviest rows.

        It is as much smaller or larger for the others, and never 1: errors of heavy rows are rare, but there are some.
        """
        heaviest = np.arange(len(weights.levels)) == len(weights.levels) - 1
        apart = tie * min(0.25, 0.9 * (1 - level))
        return cls(class_shares(classes, smallest), weights, np.clip(level + np.where(heaviest, apart, -apart), 0, 1))

    @property
    def level(self) -> float:
        """λ by weight."""
        return float(self.weights.held @ self.quality)

    def truth(self, measure: str) -> float:
        """Return the population's score."""
        recall = self.level + (1 - self.level) * self.shares  # precision is the same, and so is F1
        last = float(recall[-1])
        of_class = {"recall": last, "iou": last / (2 - last), "class mcc": self.level}
        if measure in of_class:
            return of_class[measure]
        means = {
            "mean_iou": recall / (2 - recall),
            "mean_f1": recall,
            "mean_recall": recall,
            "balanced_accuracy": recall,
        }
        if measure in means:
            return float(means[measure].mean())
        return float(self.shares @ recall) if measure == "accuracy" else self.level

    def smallest_class(self, n: int) -> float:
        """Effective rows of the smallest class to be expected in a sample."""
        return n * float(self.shares.min()) / self.weights.design_effect(n)

    def draw(self, rng: np.random.Generator, runs: int, n: int) -> np.ndarray:
        """Numbers of rows in samples of n: run × stratum × cell."""
        return drawn(rng, cell_chances(self.shares, self.shares, self.quality), runs, n)


def cell_chances(truth: np.ndarray, guess: np.ndarray, quality: np.ndarray) -> np.ndarray:
    """Probabilities of the cells, as vectors, from the shares of true classes and of those guessed at, for each λ."""
    right = np.asarray(quality)[..., np.newaxis, np.newaxis]
    chances = truth[..., :, np.newaxis] * (right * np.eye(len(guess)) + (1 - right) * guess)
    return chances.reshape(*chances.shape[:-2], -1)


def drawn(rng: np.random.Generator, chances: np.ndarray, runs: int, n: int) -> np.ndarray:
    """Numbers of rows of samples, from the probabilities of cells in each stratum; strata are equally likely."""
    return rng.multinomial(n, (chances / len(chances)).reshape(-1), size=runs).reshape(runs, *chances.shape)


def row_weights(rng: np.random.Generator, weights: Weights, counts: np.ndarray) -> np.ndarray:
    """Weights of rows, in the order of their counts, of which the last axes are stratum and cell."""
    if not (weights.sigma or weights.tail):
        levels = np.broadcast_to(np.array(weights.levels)[:, np.newaxis], counts.shape)
        return np.repeat(levels.reshape(-1), counts.reshape(-1))
    sizes = counts.sum(axis=-1)
    if weights.tail:
        least = np.broadcast_to([0.5, 0.0], sizes.shape)  # chances of heavier rows: the light half has the larger ones
        u = np.repeat(least.reshape(-1), sizes.reshape(-1)) + 0.5 * (1 - rng.random(int(sizes.sum())))
        return u ** (-1 / weights.tail)
    sides = np.broadcast_to([-weights.sigma, weights.sigma], sizes.shape)  # strata are the halves of the bell
    z = np.abs(rng.standard_normal(int(sizes.sum())))
    return np.exp(z * np.repeat(sides.reshape(-1), sizes.reshape(-1)))


def cell_of_rows(counts: np.ndarray) -> np.ndarray:
    """Cell of each row, in the order of `row_weights`."""
    cells = np.broadcast_to(np.arange(counts.shape[-1]), counts.shape)
    return np.repeat(cells.reshape(-1), counts.reshape(-1))


def summed(rng: np.random.Generator, weights: Weights, counts: np.ndarray) -> Samples:
    """Sums of the cells of samples, in the unit of the weights; ``counts`` is … × stratum × cell."""
    n = counts.sum(axis=-2)
    if not (weights.sigma or weights.tail):
        levels = np.array(weights.levels)
        w, w2 = levels @ counts, levels**2 @ counts
        return Samples(n, w, w2, ((counts > 0) * levels[:, np.newaxis]).max(axis=-2))
    w = row_weights(rng, weights, counts)
    sizes = counts.reshape(-1)
    used = np.flatnonzero(sizes)
    starts = np.cumsum(sizes[used]) - sizes[used]

    def per_cell(ufunc: np.ufunc, x: np.ndarray) -> np.ndarray:
        out = np.zeros(sizes.shape)
        out[used] = ufunc.reduceat(x, starts)
        return ufunc.reduce(out.reshape(counts.shape), axis=-2)

    return Samples(n, per_cell(np.add, w), per_cell(np.add, w * w), per_cell(np.maximum, w))


def in_shares(cells: Samples) -> Samples:
    """Return the cells in units of the total weight, as the functions of `wmcc.inference` take them."""
    total = cells.w.sum(axis=-1, keepdims=True)
    return Samples(cells.n, cells.w / total, cells.w2 / total**2, cells.w_max / total)


def samples(rng: np.random.Generator, population: Population, runs: int, n: int) -> Samples:
    """Tables of samples of n rows: sums of cells in units of the total weight, run × cell."""
    return in_shares(summed(rng, population.weights, population.draw(rng, runs, n)))

"""How often the interval of a mean over images holds the true mean: the table of docs/understand/coverage.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from wmcc.results.images import mean_interval

IMAGES = (5, 10, 20, 50, 200)
RUNS = 4_000
MANY = 4_000_000


class Population(NamedTuple):
    """Scores of images: what they are like, and how to draw them."""

    title: str
    draw: Callable[[Generator, tuple[int, ...]], np.ndarray]


def _mixture(share: float, some: Callable[..., np.ndarray]) -> Callable[[Generator, tuple[int, ...]], np.ndarray]:
    """Draw a share of the images from ``some``, and the others from a good model's: Beta(20, 2)."""
    return lambda rng, size: np.where(rng.random(size) < share, some(rng, size), rng.beta(20, 2, size))


def _failed(rng: Generator, size: tuple[int, ...]) -> np.ndarray:
    return rng.beta(2, 8, size)


POPULATIONS = {
    "good": Population("good, mean 0.80: Beta(8, 2)", lambda rng, size: rng.beta(8, 2, size)),
    "uneven": Population("uneven, mean 0.67: Beta(2, 1)", lambda rng, size: rng.beta(2, 1, size)),
    "rare": Population("a hard class, mean 0.20: Beta(0.5, 2)", lambda rng, size: rng.beta(0.5, 2, size)),
    "near one": Population("near 1, mean 0.97: Beta(30, 1)", lambda rng, size: rng.beta(30, 1, size)),
    "failures": Population(
        "every tenth image fails, Beta(2, 8)", _mixture(0.1, lambda rng, size: rng.beta(2, 8, size))
    ),
    "zeros": Population("every twentieth image scores 0", _mixture(0.05, lambda rng, size: np.zeros(size))),
}


class Coverage(NamedTuple):
    """Shares of the samples, in per cent."""

    held: float  # intervals that hold the true mean
    truth_below: float
    truth_above: float


def simulate(population: Population, images: int, runs: int = RUNS, seed: int = 0) -> Coverage:
    """Draw samples of images, and see how often their intervals hold the true mean."""
    rng = np.random.default_rng([seed, images])
    truth = float(population.draw(rng, (MANY,)).mean())
    drawn = population.draw(rng, (runs, images))
    found = [mean_interval("mean_iou", (0.0, 1.0), x, images, 1.0, 0.95) for x in drawn]
    low, high = (np.array([getattr(x, end) for x in found]) for end in ("low", "high"))
    held = (low <= truth) & (truth <= high)
    return Coverage(*(100 * float(x.mean()) for x in (held, truth < low, truth > high)))


def main() -> None:
    """Print the table."""
    print("| scores of images |", *(f"{m} images |" for m in IMAGES))
    print("|---|" + "---|" * len(IMAGES))
    for population in POPULATIONS.values():
        found = [simulate(population, m) for m in IMAGES]
        print(f"| {population.title} |", *(f"{x.held:.1f} |" for x in found))


if __name__ == "__main__":
    main()

"""How often intervals and tests of one map are right that take pixels, or blocks of them, for independent draws.

Prints the table of docs/understand/coverage.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

import wmcc

SIDE = 512
SPREADS = (1, 2, 4, 8)
"""Standard deviations of the smoothing, in pixels: errors come in patches about four times as wide."""
BLOCKS = (None, 16, 32, 64, 128)
WRONG = 0.15
RUNS = 500


class Found(NamedTuple):
    """What was found of maps whose errors come in patches, with one kind of clusters."""

    held: float  # % of the 95 % intervals that hold the true score
    length: float  # of the intervals, on average
    significant: float  # % of the tests of two maps that are equally good with p < 0.05


def patches(rng: Generator, spread: float, count: int, side: int = SIDE) -> np.ndarray:
    """Draw normal random fields whose neighbouring pixels are alike."""
    frequency = np.fft.fftfreq(side)[:, np.newaxis] ** 2 + np.fft.rfftfreq(side) ** 2
    smooth = np.exp(-2 * (np.pi * spread) ** 2 * frequency)
    fields = np.fft.irfft2(np.fft.rfft2(rng.standard_normal((count, side, side))) * smooth, s=(side, side))
    scale = np.sqrt((np.fft.irfft2(smooth, s=(side, side)) ** 2).sum())
    return np.asarray(fields / scale)


def draw(rng: Generator, spread: float, side: int = SIDE) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Draw a truth of three classes, and two maps that are wrong in patches, each in its own."""
    land, *errors = patches(rng, spread, 3, side)
    truth = np.digitize(land, (-0.43, 0.43)).astype(np.uint8)
    wrong = (field > 1.0364334 for field in errors)  # 15 % of a normal distribution
    return truth, {name: (truth + own) % 3 for name, own in zip("AB", wrong, strict=True)}


def simulate(spread: float, runs: int = RUNS, blocks: tuple[int | None, ...] = BLOCKS, side: int = SIDE) -> list[Found]:
    """Draw maps, and see how often intervals hold the true accuracy, and how often equal maps seem to differ."""
    rng = np.random.default_rng([int(10 * spread), runs])
    intervals: list[list[tuple[float, float, float]]] = [[] for _ in blocks]
    for _ in range(runs):
        truth, maps = draw(rng, spread, side)
        for own, size in zip(intervals, blocks, strict=True):
            joint = wmcc.tabulate(truth, maps, cluster=size and wmcc.Blocks(size))
            found = wmcc.interval(joint["A"], "accuracy")
            own.append((found.low, found.high, wmcc.compare(joint, "accuracy").p_value))
    out = []
    for own in intervals:
        low, high, p = np.array(own).T
        held = (low <= 1 - WRONG) & (high >= 1 - WRONG)
        out.append(Found(100 * float(held.mean()), float((high - low).mean()), 100 * float((p < 0.05).mean())))
    return out


def main() -> None:
    """Print the table."""
    print("| patches | clusters | coverage | length | test's size |")
    print("|---|---|---:|---:|---:|")
    for spread in SPREADS:
        for size, x in zip(BLOCKS, simulate(spread), strict=True):
            what = "none: pixels" if size is None else f"{(SIDE // size) ** 2:,} blocks of {size} × {size}"
            print(f"| {4 * spread} pixels wide | {what} | {x.held:.1f} | {x.length:.4f} | {x.significant:.1f} |")


if __name__ == "__main__":
    main()

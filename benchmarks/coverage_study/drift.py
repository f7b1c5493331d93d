"""`wmcc.compare` of independent samples: how often its intervals hold the true difference, and how often it errs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .grid import Setting, batches, seeded
from .intervals import differences
from .markdown import against, table, title
from .population import EQUAL, LOG_NORMAL, THREE_LEVELS, Weights, samples


class Drift(NamedTuple):
    """Two samples of rows of their own: each of so many rows, from a population of its own."""

    measure: str
    before: Setting
    after: Setting

    @property
    def gap(self) -> float:
        """By how much the score was truly higher before."""
        first, second = (x.population.truth(self.measure) for x in (self.before, self.after))
        return first - second


class Outcome(NamedTuple):
    """What became of the intervals, in per cent: of those that are estimable, and of those without a flag."""

    drift: Drift
    runs: int
    estimable: float
    missed: float
    welch: float
    flagged: float


def simulate(drift: Drift, runs: int) -> Outcome:
    """Compare so many pairs of samples; where there is no gap, what is missed is the size of the test."""
    rng, found = seeded(drift), []
    for some in batches(runs, drift.before.n + drift.after.n):
        both = [samples(rng, x.population, some, x.n) for x in (drift.before, drift.after)]
        tests, plain = differences(drift.measure, *both)
        beyond = [(x.low > drift.gap) | (x.high < drift.gap) for x in (tests, plain)]
        found.append([tests.estimable, *beyond, tests.flagged])
    known, missed, welch, flagged = (np.concatenate(x) for x in zip(*found, strict=True))
    return Outcome(drift, runs, *(100 * float(x.mean()) for x in (known, missed[known], welch[known], flagged[known])))


def cases() -> list[Drift]:
    """Samples of equal score, alike or not in size and weights; and samples between which the score moved."""
    half, one = LOG_NORMAL[0.5], LOG_NORMAL[1.0]

    def pair(
        measure: str,
        share: float,
        sizes: tuple[int, int],
        levels: tuple[float, float],
        weights: tuple[Weights, Weights] = (EQUAL, EQUAL),
    ) -> Drift:
        classes, ends = 2 if measure == "mcc" else 3, zip(sizes, weights, levels, strict=True)
        return Drift(measure, *(Setting(classes, n, share, own, 0, level) for n, own, level in ends))

    return [
        pair("mcc", 0.5, (200, 200), (0.6, 0.6)),
        pair("mcc", 0.5, (500, 100), (0.6, 0.6)),
        pair("mcc", 0.1, (500, 500), (0.6, 0.6)),
        pair("mcc", 0.5, (200, 200), (0.9, 0.9)),
        pair("mcc", 0.5, (1000, 100), (0.9, 0.9)),
        pair("ecc", 0.3, (300, 300), (0.8, 0.8)),
        pair("ecc", 0.3, (300, 300), (0.95, 0.8)),
        pair("ecc", 0.3, (300, 300), (0.8, 0.8), (half, half)),
        pair("ecc", 0.3, (1000, 300), (0.8, 0.8), (EQUAL, half)),
        pair("ecc", 0.3, (500, 500), (0.6, 0.6), (one, one)),
        pair("ecc", 0.3, (500, 500), (0.9, 0.9), (one, one)),
        pair("ecc", 0.3, (2000, 500), (0.9, 0.9), (one, one)),
        pair("mpc2", 0.1, (1000, 1000), (0.9, 0.9)),
        pair("mpc2", 0.1, (3000, 1000), (0.9, 0.8), (one, one)),
        pair("mean_iou", 0.3, (500, 300), (0.8, 0.8), (half, half)),
        pair("mcc", 0.3, (1000, 1000), (0.6, 0.6), (THREE_LEVELS, THREE_LEVELS)),
    ]


def described(drift: Drift) -> str:
    """Two samples in words, for a table."""
    a, b = drift.before, drift.after
    weights = a.weights.name if a.weights == b.weights else f"{a.weights.name} and {b.weights.name}"
    levels = f"{a.level:g}" if a.level == b.level else f"{a.level:g} and {b.level:g}"
    rows = f"{a.n:,} and {b.n:,} rows, smallest class {a.share:g}"
    return f"{title(drift.measure)}, {rows}, {weights}, λ = {levels}"


def text(found: list[Outcome]) -> str:
    """Table of all cases, and what it says."""
    rows = [
        [
            described(x.drift),
            against(100 - x.missed, 93, 97),
            against(x.missed, 4, 6),
            f"{x.welch:.1f}",
            f"{x.flagged:.1f}",
        ]
        for x in found
    ]
    sizes, others = [x.missed for x in found], [x.welch for x in found]
    said = (
        f"{found[0].runs:,} pairs of samples each. {sum(4 <= x <= 6 for x in sizes)} of {len(found)} miss the true "
        f"difference 4–6 % of the time, from {min(sizes):.1f} to {max(sizes):.1f}; with variances that add up and "
        f"Welch's degrees of freedom they would from {min(others):.1f} to {max(others):.1f}."
    )
    return said + "\n\n" + table(["two samples", "coverage", "missed (%)", "Welch's (%)", "% flagged"], rows)

"""Coverage of `wmcc.interval` over measures, sample sizes, class balance, weights and scores."""

from __future__ import annotations

import csv
import itertools
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, get_type_hints

import numpy as np

from .intervals import LEVEL, Found, class_intervals, intervals
from .population import EQUAL, LOG_NORMAL, PARETO, THREE_LEVELS, Population, Samples, Weights, class_shares, samples

CORRELATIONS = {2: ("mcc",), 3: ("ecc", "mpc1", "mpc2"), 20: ("ecc", "mpc2")}
COMPANIONS = "kappa", "accuracy", "balanced_accuracy"
OF_A_CLASS = "recall", "iou", "class mcc"
"""Scores of the smallest class."""
SIZES = 50, 200, 1000, 3000, 10000
SHARES = 0.5, 0.2, 0.05, 0.02
WEIGHTS = EQUAL, *LOG_NORMAL.values(), THREE_LEVELS, *PARETO.values()
LEVELS = 0.0, 0.5, 0.9
TIES = {0: "independent", 1: "heavy rows better", -1: "heavy rows worse"}

FAR = 6.0
"""Standard errors beyond which an end is far away."""

AT_ONCE = 1 << 19
"""Rows that are drawn together: few enough for the processor's own memory."""


class Setting(NamedTuple):
    """A population, and how many rows are drawn from it."""

    classes: int
    n: int
    share: float
    weights: Weights
    tie: int
    level: float

    @property
    def population(self) -> Population:
        """What rows are drawn from."""
        return Population.of(self.classes, self.share, self.weights, self.level, self.tie)

    @property
    def measures(self) -> tuple[str, ...]:
        """The correlations; and what is read beside them, of three classes and weights that are tied to nothing."""
        beside = COMPANIONS + (OF_A_CLASS if self.classes == 3 else ()) if self.classes > 2 and not self.tie else ()
        return CORRELATIONS[self.classes] + beside


class Point(NamedTuple):
    """What became of the intervals of one measure in one setting: a row of docs/understand/coverage.csv.

    ``truth_below`` and ``truth_above`` count intervals that lie beside the true score, ``missed_flagged`` those among
    them that are called unreliable. All counts are of estimable intervals. Widths and scores are means over those
    without a flag, as multiples of the range that holds 95 % of the estimates; ``all_score`` is that of all. An
    interval's score is its width and, where it misses, 40 times the distance. ``far`` counts intervals without a flag
    that end more than six standard errors from the estimate.
    """

    measure: str
    classes: int
    n: int
    share: float
    weights: str
    tie: int
    level: float
    truth: float
    class_n_eff: float
    runs: int
    estimable: int
    flagged: int
    truth_below: int
    truth_above: int
    missed_flagged: int
    far: int
    width: float
    score: float
    all_score: float

    @property
    def missed(self) -> int:
        """Intervals beside the true score."""
        return self.truth_below + self.truth_above

    @property
    def reliable(self) -> int:
        """Intervals that are not called unreliable."""
        return self.estimable - self.flagged

    @property
    def missed_reliable(self) -> int:
        """Those of them beside the true score."""
        return self.missed - self.missed_flagged


def settings() -> Iterator[Setting]:
    """All settings; scores of 0 have no λ to take from light rows, and equal weights nothing to be tied to.

    Heavy tails and many classes are looked at in fewer combinations.
    """
    for classes, n, share, weights, level in itertools.product((2, 3), SIZES, SHARES, WEIGHTS, LEVELS):
        if weights.tail and (share not in (0.5, 0.05) or not level or n < 200):
            continue
        for tie in TIES if level and weights != EQUAL else (0,):
            yield Setting(classes, n, share, weights, tie, level)
    least = round(float(class_shares(20, 0).min()), 4)
    some = EQUAL, LOG_NORMAL[0.5], LOG_NORMAL[1.0], PARETO[1.5]
    for n, weights, level in itertools.product((200, 1000, 3000), some, LEVELS):
        yield Setting(20, n, least, weights, 0, level)


def seeded(*what: object) -> np.random.Generator:
    """Random numbers that depend on what is simulated, and not on what was simulated before."""
    return np.random.Generator(np.random.SFC64(zlib.crc32(repr(what).encode())))


def batches(runs: int, n: int) -> Iterator[int]:
    """Runs of n rows to be drawn together, so that there are not too many rows."""
    most = max(1, AT_ONCE // n)
    for start in range(0, runs, most):
        yield min(most, runs - start)


def tables(setting: Setting, runs: int) -> Samples:
    """Tables of samples."""
    rng = seeded(setting)
    parts = [samples(rng, setting.population, some, setting.n) for some in batches(runs, setting.n)]
    return Samples(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def simulate(setting: Setting, runs: int) -> list[Point]:
    """Count how often the intervals of each measure hold the true score."""
    cells, population = tables(setting, runs), setting.population
    points = []
    for measure in setting.measures:
        of_class = measure in OF_A_CLASS
        found = class_intervals(measure.removeprefix("class "), cells) if of_class else intervals(measure, cells)
        truth = population.truth(measure)
        below, above = truth < found.low, truth > found.high
        known = found.estimable
        quiet = known & ~found.flagged
        farthest = np.fmax(found.value - found.low, found.high - found.value)
        counts = (known, found.flagged & known, below, above, (below | above) & found.flagged)
        counts += (quiet & (farthest > FAR * found.se),)
        width, score = measured(found, truth)
        points.append(
            Point(
                measure,
                *setting._replace(weights=setting.weights.name),
                round(truth, 5),
                round(population.smallest_class(setting.n), 2),
                runs,
                *(int(x.sum()) for x in counts),
                *(round(mean(x), 4) for x in (width[quiet], score[quiet], score[known])),
            )
        )
    return points


def measured(found: Found, truth: float) -> tuple[np.ndarray, np.ndarray]:
    """Width and score of each interval, as multiples of the range that holds 95 % of the estimates."""
    known = found.estimable
    low, high = np.quantile(found.value[known], [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if known.any() else (0.0, 1.0)
    unit = (high - low) or np.nan
    missed = np.maximum(np.maximum(found.low - truth, truth - found.high), 0)
    width = (found.high - found.low) / unit
    return width, width + 2 / (1 - LEVEL) * missed / unit


def mean(x: np.ndarray) -> float:
    """Mean; NaN of none."""
    return float(x.mean()) if len(x) else float("nan")


def write(points: Iterable[Point], path: Path) -> None:
    """Write points as CSV."""
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(Point._fields)
        out.writerows(points)


def read(path: Path) -> list[Point]:
    """Read points that were written."""
    kinds = get_type_hints(Point).values()
    with path.open(newline="") as file:
        _, *rows = csv.reader(file)
    return [Point(*(kind(x) for kind, x in zip(kinds, row, strict=True))) for row in rows]

"""`wmcc.compare`: how often it finds a difference that is not there, and one that is, beside other tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

import wmcc
from wmcc.measures.base import Shares
from wmcc.sources.resample import DRAWS

from .grid import batches, seeded
from .intervals import LEVEL, comparisons
from .markdown import against, table, title
from .population import (
    EQUAL,
    LOG_NORMAL,
    THREE_LEVELS,
    Weights,
    cell_of_rows,
    class_shares,
    drawn,
    in_shares,
    row_weights,
    summed,
)

RESAMPLES = 500


class Pair(NamedTuple):
    """Two classifiers of the same rows.

    Parameters
    ----------
    measure, classes, n, share, weights
        As in the grid.
    level
        λ of the second classifier, by weight.
    shared
        Share of the rows on which both have the same luck: they are right or wrong together, as far as λ allows.
    swing
        How much worse the first is on light rows, and better on heavy ones so that its score is the same; the second
        is the other way round.
    gap
        By how much the first scores higher.
    on_heavy
        Whether it does on heavy rows only, or on all alike.
    """

    measure: str
    classes: int
    n: int
    share: float
    weights: Weights
    level: float
    shared: float = 0.5
    swing: float = 0.0
    gap: float = 0.0
    on_heavy: bool = False

    @property
    def qualities(self) -> tuple[np.ndarray, np.ndarray]:
        """λ of both in each stratum of weights."""
        held = self.weights.held
        heavy = np.arange(len(held)) == len(held) - 1
        swing = np.where(heavy, self.swing * (1 - held[-1]) / held[-1], -self.swing)
        gain = np.where(heavy, self.gap / held[-1], 0.0) if self.on_heavy else self.gap
        return self.level + swing + gain, self.level - swing

    def draw(self, rng: np.random.Generator, runs: int) -> np.ndarray:
        """Numbers of rows of samples: run × stratum × cell."""
        shares = class_shares(self.classes, self.share)
        return drawn(rng, joint_chances(shares, shares, *self.qualities, self.shared), runs, self.n)


def joint_chances(truth: np.ndarray, guess: np.ndarray, a: np.ndarray, b: np.ndarray, shared: float) -> np.ndarray:
    """Probabilities of (true, first, second), as vectors, for each λ of the first and the second."""
    K, same = len(guess), np.eye(len(guess))
    a, b = (np.asarray(x)[..., np.newaxis, np.newaxis, np.newaxis] for x in (a, b))
    right_a, right_b = same[:, :, np.newaxis], same[:, np.newaxis, :]
    alone = (a * right_a + (1 - a) * guess[:, np.newaxis]) * (b * right_b + (1 - b) * guess)
    # With the same luck both are right up to the smaller λ, one up to the larger, and beyond both have the same guess.
    one = np.maximum(a - b, 0) * right_a * guess + np.maximum(b - a, 0) * guess[:, np.newaxis] * right_b
    both = np.minimum(a, b) * right_a * right_b + (1 - np.maximum(a, b)) * guess * same
    chances = truth[..., :, np.newaxis, np.newaxis] * (shared * (both + one) + (1 - shared) * alone)
    return chances.reshape(*chances.shape[:-3], K**3)


def mcnemar(n: np.ndarray, classes: int) -> np.ndarray:
    """P-values of McNemar's test: whether the two are equally often right, rows counted and not weighed."""
    K, correct = classes, np.eye(classes, dtype=bool)
    cube = n.reshape(-1, K, K, K)
    first, second = correct[:, :, np.newaxis], correct[:, np.newaxis, :]
    only_a, only_b = (cube[:, own & ~other].sum(axis=-1) for own, other in ((first, second), (second, first)))
    return chdtrc(1, (only_a - only_b) ** 2 / np.maximum(only_a + only_b, 1))


def bootstrapped(pair: Pair, rng: np.random.Generator, w: np.ndarray, counts: np.ndarray) -> bool:
    """Whether the percentile interval of the difference, of resampled rows of one sample, leaves out 0."""
    K, cells = pair.classes, counts.shape[-1]
    weighed = np.zeros((len(w), cells), dtype=np.float32)
    weighed[np.arange(len(w)), cell_of_rows(counts)] = w
    times = DRAWS.take(np.frombuffer(rng.bytes(RESAMPLES * len(w)), np.uint8)).reshape(RESAMPLES, len(w))
    cube = (times @ weighed).astype(np.float64).reshape(RESAMPLES, K, K, K)
    near = wmcc.measures.MEASURES[pair.measure].near
    gaps = near(Shares.of_cells(cube.sum(axis=3))) - near(Shares.of_cells(cube.sum(axis=2)))
    low, high = np.quantile(gaps, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return bool(low > 0 or high < 0)


class Outcome(NamedTuple):
    """What became of the tests of a pair: per cent of the runs, or of those with a test."""

    pair: Pair
    runs: int
    estimable: float
    rejected: float
    covered: float
    flagged: float
    mcnemar: float
    bootstrap: float | None = None


def simulate(pair: Pair, runs: int, resampled: int = 0) -> Outcome:
    """Test so many samples, and the first ``resampled`` of them by the bootstrap too."""
    rng, found = seeded(pair), []
    rejected: list[bool] = []
    for some in batches(runs, pair.n):
        counts = pair.draw(rng, some)
        state = rng.bit_generator.state
        joint = summed(rng, pair.weights, counts)
        found.append((comparisons(pair.measure, in_shares(joint), pair.classes), mcnemar(joint.n, pair.classes)))
        if left := min(some, resampled - len(rejected)):
            rng.bit_generator.state = state  # the same weights again, row by row
            w = row_weights(rng, pair.weights, counts).reshape(some, pair.n)
            rejected += [bootstrapped(pair, rng, w[k], counts[k]) for k in range(left)]
    low, high, p, flagged = (np.concatenate(x) for x in zip(*(tests for tests, _ in found), strict=True))
    known = ~np.isnan(p)

    def rate(x: np.ndarray) -> float:
        return 100 * float(np.mean(x))

    return Outcome(
        pair,
        runs,
        rate(known),
        rate(p[known] < 1 - LEVEL),
        rate(((low <= pair.gap) & (pair.gap <= high))[known]),
        rate(flagged[known]),
        rate(np.concatenate([own for _, own in found]) < 1 - LEVEL),
        rate(np.array(rejected)) if rejected else None,
    )


def nulls() -> list[Pair]:
    """Pairs of equal weighted scores, alike on all rows or each better on some."""
    one, half, wide = (LOG_NORMAL[sigma] for sigma in (1.0, 0.5, 1.5))
    return [
        Pair("mcc", 2, 200, 0.5, EQUAL, 0.6),
        Pair("mcc", 2, 1000, 0.1, EQUAL, 0.6, shared=0.8),
        Pair("ecc", 3, 300, 0.5, EQUAL, 0.8, shared=0.8),
        Pair("mpc2", 3, 1000, 0.1, EQUAL, 0.9),
        Pair("mcc", 2, 500, 0.3, EQUAL, 0.0),
        Pair("mcc", 2, 1000, 0.5, EQUAL, 0.6, swing=0.2),
        Pair("ecc", 3, 500, 0.2, half, 0.6),
        Pair("mpc1", 3, 500, 0.2, half, 0.6, swing=0.2),
        Pair("mcc", 2, 500, 0.5, one, 0.6),
        Pair("mcc", 2, 500, 0.5, one, 0.6, swing=0.3),
        Pair("mpc2", 3, 3000, 0.1, one, 0.8, shared=0.8),
        Pair("mpc2", 3, 3000, 0.1, one, 0.7, swing=0.25),
        Pair("ecc", 3, 3000, 0.5, wide, 0.6),
        Pair("ecc", 3, 3000, 0.5, wide, 0.6, swing=0.3),
        Pair("mcc", 2, 1000, 0.3, THREE_LEVELS, 0.6),
        Pair("mcc", 2, 1000, 0.3, THREE_LEVELS, 0.6, swing=0.3),
    ]  # fmt: skip


GAPS = 0.0, 0.03, 0.06, 0.09, 0.12, 0.16, 0.2
CURVES = {
    "equal weights": Pair("ecc", 3, 500, 0.5, EQUAL, 0.6),
    "log-normal 1, gap on all rows": Pair("ecc", 3, 500, 0.5, LOG_NORMAL[1.0], 0.6),
    "log-normal 1, gap on heavy rows": Pair("ecc", 3, 500, 0.5, LOG_NORMAL[1.0], 0.6, on_heavy=True),
}


def curves() -> list[Pair]:
    """Pairs with gaps, a curve after the other."""
    return [pair._replace(gap=gap) for pair in CURVES.values() for gap in GAPS]


def described(pair: Pair) -> str:
    """A pair in words, for a table."""
    sides = f", each better on some rows (±{pair.swing:g})" if pair.swing else ""
    return (
        f"{title(pair.measure)}, n = {pair.n:,}, smallest class {pair.share:g}, "
        f"{pair.weights.name}, λ = {pair.level:g}, {100 * pair.shared:.0f} % shared{sides}"
    )


def null_table(found: list[Outcome]) -> str:
    """Table of pairs of equal scores."""
    rows = [
        [described(x.pair), against(x.rejected, 4, 6), f"{x.covered:.1f}", f"{x.flagged:.1f}", f"{x.mcnemar:.1f}"]
        for x in found
    ]
    sizes = [x.rejected for x in found]
    met = sum(4 <= size <= 6 for size in sizes)
    spread = f"from {min(sizes):.1f} to {max(sizes):.1f}"
    said = f"{found[0].runs:,} samples each. {met} of {len(found)} within 4–6 %, {spread}."
    return said + "\n\n" + table(["two of equal score", "size (%)", "coverage", "% flagged", "McNemar's (%)"], rows)


def power_table(found: list[Outcome]) -> str:
    """Table of the power curves."""
    rows = []
    for name, curve in by_curve(found).items():
        for what, figures in (
            ("wmcc.compare", [x.rejected for x in curve]),
            ("paired bootstrap", [x.bootstrap for x in curve]),
            ("McNemar's", [x.mcnemar for x in curve]),
        ):
            rows.append([f"{name}: {what}", *("—" if x is None else f"{x:.1f}" for x in figures)])
    return table(["% told apart, by gap", *(f"{gap:g}" for gap in GAPS)], rows)


def by_curve(found: list[Outcome]) -> dict[str, list[Outcome]]:
    """Outcomes of each curve."""
    return {name: [x for x in found if x.pair._replace(gap=0.0) == pair] for name, pair in CURVES.items()}

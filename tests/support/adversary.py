"""An adversary of certificates: it looks for weights within their limits whose measure lies beyond the certified range.

It shares nothing with the search that it attacks. The measures and their slopes are written here once more, in
float64 and over many tables at once; the limits of the cells are fractions, summed from the rows; and what it
claims is confirmed in rational arithmetic by the oracle. `hunt.py` sets it on tables of every kind of trouble.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import oracle

Array = Any
INTERIOR = np.array([0.0, 0.001, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.999, 1.0])


# ---- measures over stacks of margins ------------------------------------------------------------------


def _over(n: Array, d: Array) -> Array:
    """Quotient, 0 where the denominator is."""
    good = d != 0
    return np.where(good, n / np.where(good, d, 1.0), 0.0)


def _root(x: Array) -> Array:
    return np.sqrt(x * (x.real > 0))


def _ecc(r: Array, q: Array, d: Array) -> Array:
    s = r.sum(-1, keepdims=True)
    P, Q = (r * (s - r)).sum(-1), (q * (s - q)).sum(-1)
    return _over((s * d - r * q).sum(-1), _root(P) * _root(Q))


def _terms(r: Array, q: Array, d: Array) -> tuple[Array, Array]:
    s = r.sum(-1, keepdims=True)
    return s * d - r * q, _root(r) * _root(s - r) * _root(q) * _root(s - q)


def _mpc1(r: Array, q: Array, d: Array) -> Array:
    n, root = _terms(r, q, d)
    return _over(n.sum(-1), root.sum(-1))


def _mpc2(r: Array, q: Array, d: Array) -> Array:
    return _over(*_terms(r, q, d))


def _mean_iou(r: Array, q: Array, d: Array) -> Array:
    return _over(d, r + q - d)


def _mean_f1(r: Array, q: Array, d: Array) -> Array:
    return _over(2 * d, r + q)


def _mean_recall(r: Array, q: Array, d: Array) -> Array:
    return _over(d, r)


def _accuracy(r: Array, q: Array, d: Array) -> Array:
    return _over(d.sum(-1), r.sum(-1))


def _balanced_accuracy(r: Array, q: Array, d: Array) -> Array:
    return _over(_over(d, r).sum(-1), (r.real > 0).sum(-1))


def _kappa(r: Array, q: Array, d: Array) -> Array:
    s = r.sum(-1, keepdims=True)
    return _over((s * d - r * q).sum(-1), (r * (s - q)).sum(-1))


FORMULAS: dict[str, Callable[[Array, Array, Array], Array]] = {
    "mcc": _ecc,
    "ecc": _ecc,
    "mpc1": _mpc1,
    "mpc2": _mpc2,
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "kappa": _kappa,
    "mean_iou": _mean_iou,
    "mean_f1": _mean_f1,
    "mean_recall": _mean_recall,
}
"""From r, q and d to the measure, or to the terms of a mean over classes."""


def formula(name: str, r: Array, q: Array, d: Array, classes: list[int] | None = None) -> Array:
    """Return a measure; a mean is over these classes, or over all."""
    found = FORMULAS[name](r, q, d)
    if name not in oracle.MEANS:
        return found
    return (found if classes is None else found[..., classes]).mean(-1)


def _margins(C: Array) -> tuple[Array, Array, Array]:
    return C.sum(-1), C.sum(-2), np.diagonal(C, axis1=-2, axis2=-1)


def values(name: str, C: Array, classes: list[int] | None = None) -> Array:
    """Measure of each table of a stack (m, K, K), 0 where it is undefined; a guide, not a judge."""
    with np.errstate(all="ignore"):
        return np.nan_to_num(formula(name, *_margins(C), classes))


def slopes(name: str, C: Array, classes: list[int] | None = None) -> Array:
    """∂M/∂C of each table, by steps too small to round, along the imaginary axis."""
    K, h = C.shape[-1], 1e-30
    step = 1j * h * np.eye(K)
    margins = [x[..., np.newaxis, :] for x in _margins(C)]
    parts = []
    with np.errstate(all="ignore"):
        for i in range(3):
            moved = [x + step if j == i else x + 0j * step for j, x in enumerate(margins)]
            parts.append(np.nan_to_num(formula(name, *moved, classes).imag / h))
    by_row, by_column, diagonal = parts
    return by_row[..., :, np.newaxis] + by_column[..., np.newaxis, :] + np.eye(K) * diagonal[..., np.newaxis]


# ---- what the weights may be ------------------------------------------------------------------------


class Limits(NamedTuple):
    """The smallest and the largest sum of each cell, exactly; K x K lists of fractions.

    ``classes`` are those that a mean runs over: the ones that occur with the weights as they are.
    """

    low: list[list[Fraction]]
    high: list[list[Fraction]]
    classes: list[int] | None = None

    def table(self, position: Array) -> list[list[Fraction]]:
        """Cells at a position: 0 at the smallest, 1 at the largest sum."""
        return [
            [a + Fraction(float(t)) * (b - a) for a, b, t in zip(*row, strict=True)]
            for row in zip(self.low, self.high, np.reshape(position, (len(self.low), -1)), strict=True)
        ]

    def exact(self, name: str, position: Array) -> Decimal:
        """Value of a measure at a position, in rational arithmetic; undefined ones count as 0."""
        cells = self.table(position)
        if not any(map(any, cells)):
            return Decimal(0)
        value = oracle.exact(name, cells, self.classes)
        return Decimal(0) if value is None else value

    def contain(self, cells: list[list[Fraction]]) -> bool:
        return all(
            a <= c <= b for rows in zip(self.low, cells, self.high, strict=True) for a, c, b in zip(*rows, strict=True)
        )


def limits(t: Any, p: Any, w: Any, K: int, model: str = "relative", eps: float = 0.0) -> Limits:
    """Limits of the cells, summed from rows with labels 0 … K − 1."""
    e = Fraction(eps)
    if model == "relative":
        least, most = [Fraction(x) * (1 - e) for x in w], [Fraction(x) * (1 + e) for x in w]
    else:
        least, most = [max(Fraction(x) - e, Fraction(0)) for x in w], [Fraction(x) + e for x in w]
    return between(t, p, w, least, most, K)


def between(t: Any, p: Any, w: Any, least: Any, most: Any, K: int) -> Limits:
    classes = oracle.classes_of(oracle.matrix(t, p, w, range(K)))
    return Limits(*(oracle.matrix(t, p, x, range(K)) for x in (least, most)), classes)


# ---- the search ---------------------------------------------------------------------------------------


def _flat(m: list[Any]) -> list[Fraction]:
    return [x for row in m for x in row] if isinstance(m[0], list) else m


class Attack:
    """Search for the largest (side 1) or smallest (side −1) value within limits."""

    def __init__(self, limits: Limits, name: str, side: int, seed: int = 0) -> None:
        self.limits, self.name, self.side = limits, name, side
        low, high = (_flat(m) for m in (limits.low, limits.high))
        unit = max(sum(high), Fraction(1, 1 << 1100))
        self.low, self.high = (np.array([float(x / unit) for x in m]) for m in (low, high))
        self.cells = len(low)
        self.free = np.array([a < b for a, b in zip(low, high, strict=True)])
        self.random = np.random.default_rng(seed)
        self.weightings = 0
        self.best = np.zeros((0, self.cells))
        self.score = np.zeros(0)

    def scores(self, positions: Array) -> Array:
        """Score a stack of positions (m, K²), and remember the best."""
        self.weightings += len(positions)
        score = self.side * self.values(positions)
        order = np.argsort(-np.concatenate([self.score, score]), kind="stable")[:8]
        self.best = np.concatenate([self.best, positions])[order]
        self.score = np.concatenate([self.score, score])[order]
        return score

    def _tables(self, positions: Array) -> Array:
        K = len(self.limits.low)
        return (self.low + positions * (self.high - self.low)).reshape(-1, K, K)

    def values(self, positions: Array) -> Array:
        """What is attacked, at each of a stack of positions."""
        return values(self.name, self._tables(positions), self.limits.classes)

    def slopes(self, positions: Array) -> Array:
        """Its slopes in the cells."""
        return slopes(self.name, self._tables(positions), self.limits.classes).reshape(len(positions), -1)

    def corners(self, count: int) -> None:
        """Every corner if there are few; else corners at random, and those that favour some classes."""
        free = np.flatnonzero(self.free)
        if len(free) <= 9:
            every = np.zeros((1 << len(free), self.cells))
            every[:, free] = np.arange(1 << len(free))[:, np.newaxis] >> np.arange(len(free)) & 1
            self.scores(every)
            return
        share = self.random.beta(0.5, 0.5, (count // 2, 1))
        self.scores((self.random.random((count // 2, self.cells)) < share) * 1.0)
        self.scores(self.favoured(count // 2))
        self.scores(np.stack([self.kinds * 1.0, 1.0 - self.kinds, 0.0 * self.kinds, 0.0 * self.kinds + 1.0]))

    @property
    def kinds(self) -> Array:
        """Corner that favours a side: the correct cells at their largest, or at their smallest."""
        return (np.eye(len(self.limits.low)) > 0).ravel() == (self.side > 0)

    def favoured(self, count: int) -> Array:
        """Corners that favour some classes."""
        K = len(self.limits.low)
        rows, columns = (self.random.random((2, count, K)) < 0.5) * 1.0
        kinds = self.kinds.reshape(K, K) * 1.0
        both = np.stack([np.broadcast_to(kinds, (count, K, K)), rows[:, :, None] + 0 * kinds])
        pick = self.random.random((count, K, K)) < columns[:, None, :]
        return np.where(pick, both[0], both[1]).reshape(-1, K * K)

    def follow(self, rounds: int = 12) -> None:
        """From the best and from random tables to the corners that their slopes point to."""
        points = np.concatenate([self.best, self.random.random((8, self.cells))])
        for _ in range(rounds):
            ahead = (self.side * self.slopes(points) > 0) * 1.0
            some = self.random.random(points.shape) < self.random.random((len(points), 1))
            self.scores(ahead)
            points = np.where(some, ahead, points)
            self.scores(points)

    def ascend(self, rounds: int = 40) -> None:
        """From the best table, one cell at a time."""
        cells = np.flatnonzero(self.free)
        for _ in range(rounds):
            if not len(cells):
                return
            before = self.score[0]
            trials = np.repeat(self.best[:1], len(cells) * len(INTERIOR), axis=0)
            trials[np.arange(len(trials)), np.repeat(cells, len(INTERIOR))] = np.tile(INTERIOR, len(cells))
            self.scores(trials)
            if not self.score[0] > before:
                return

    def climb(self, count: int = 16, rounds: int = 30) -> None:
        """Projected gradients from random tables, with steps of many sizes."""
        points = np.concatenate([self.best, self.random.random((count, self.cells))])
        width = self.high - self.low
        steps = np.array([1e-3, 1e-2, 0.1, 0.5])
        for _ in range(rounds):
            ahead = self.side * self.slopes(points) * width
            ahead = _over(ahead, np.abs(ahead).max(-1, keepdims=True))
            trials = np.clip(points[:, None] + steps[:, None] * ahead[:, None], 0.0, 1.0)
            scores = self.scores(trials.reshape(-1, self.cells)).reshape(len(points), -1)
            points = trials[np.arange(len(points)), scores.argmax(-1)]

    def evolve(self, count: int = 64, rounds: int = 40) -> None:
        """Differential evolution."""
        points = np.clip(self.random.random((count, self.cells)) * 1.4 - 0.2, 0.0, 1.0)
        points[: len(self.best)] = self.best
        scores = self.scores(points)
        for _ in range(rounds):
            a, b, c = (points[self.random.permutation(count)] for _ in range(3))
            base = np.where(self.random.random((count, 1)) < 0.5, self.best[0], a)
            trials = np.clip(base + self.random.uniform(0.3, 1.0, (count, 1)) * (b - c), 0.0, 1.0)
            trials = np.where(self.random.random(points.shape) < 0.8, trials, points)
            new = self.scores(trials)
            points[new > scores], scores = trials[new > scores], np.maximum(new, scores)

    def run(self, size: int = 1) -> tuple[Decimal, Array]:
        """Search, and confirm the best finds: the most extreme value, exactly, and its position."""
        self.corners(256 * size)
        for _ in range(size):
            self.follow()
            self.ascend()
            self.climb()
            self.evolve()
        self.ascend()
        exact = [self.side * self.limits.exact(self.name, x) for x in self.best[: 4 if self.cells < 100 else 2]]
        top = max(range(len(exact)), key=exact.__getitem__)
        return self.side * exact[top], self.best[top]


class Verdict(NamedTuple):
    """What an attack on both ends of a certificate found, exactly."""

    low: Decimal
    high: Decimal
    weightings: int

    def beyond(self, low: float, high: float) -> Decimal:
        """How far the finds lie beyond a range; negative if they are within."""
        return max(Decimal(low) - self.low, self.high - Decimal(high))


def attack(limits: Any, name: str, size: int = 1, seed: int = 0, kind: type[Attack] = Attack) -> Verdict:
    """Attack both ends."""
    ends, count = [], 0
    for side in (-1, 1):
        one = kind(limits, name, side, seed)
        ends.append(one.run(size)[0])
        count += one.weightings
    return Verdict(ends[0], ends[1], count)

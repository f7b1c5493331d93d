"""Slopes of a measure as three vectors: what a cell's true class, its predicted class and being correct each add."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arraytypes import Array, FloatArray
from ..measures.base import Measure, Shares
from ..measures.stacks import over


class Slope(NamedTuple):
    """s · ∂M/∂C_ab = row_a + column_b + [a = b] · correct_a."""

    row: FloatArray
    column: FloatArray
    correct: FloatArray

    def at(self, t: Array, p: Array) -> FloatArray:
        """Slopes at cells, given by the positions of their classes."""
        return np.asarray(self.row[t] + self.column[p] + self.correct[t] * (t == p))


def slope(measure: Measure, x: Shares, value: float) -> Slope:
    """Slope of a measure at a table, given by its shares and the value there."""
    row, column, correct = _SLOPES[measure.name](x, value)
    every = np.zeros(len(x.r))
    return Slope(row + every, column + every, correct + every)


_Parts = tuple[FloatArray | float, FloatArray | float, FloatArray | float]


def _ecc(x: Shares, value: float) -> _Parts:
    P, Q = (x.r * x.not_r).sum(), (x.q * x.not_q).sum()
    scale = over(1.0, np.sqrt(P) * np.sqrt(Q))
    return (
        (x.d.sum() - x.q) * scale - value * over(x.not_r, P),
        -x.r * scale - value * over(x.not_q, Q),
        scale,
    )


def _mpc1(x: Shares, value: float) -> _Parts:
    a, b = np.sqrt(x.r * x.not_r), np.sqrt(x.q * x.not_q)
    u, v = over(b, a) / 2, over(a, b) / 2
    rows, columns = (u * x.r).sum() + u * (x.not_r - x.r), (v * x.q).sum() + v * (x.not_q - x.q)
    scale = over(1.0, (a * b).sum())
    return (x.d.sum() - x.q - value * rows) * scale, (-x.r - value * columns) * scale, scale


def _mpc2(x: Shares, value: float) -> _Parts:
    K = len(x.r)
    a, b = np.sqrt(x.r * x.not_r), np.sqrt(x.q * x.not_q)
    c = over(over(1.0, a), b)
    phi = x.covariance * c
    u, v = over(phi, a * a) / 2, over(phi, b * b) / 2
    rows = (c * x.d).sum() - c * x.q - (u * x.r).sum() - u * (x.not_r - x.r)
    columns = -c * x.r - (v * x.q).sum() - v * (x.not_q - x.q)
    return rows / K, columns / K, c / K


def _accuracy(x: Shares, value: float) -> _Parts:
    return -value, 0.0, 1.0


def _balanced_accuracy(x: Shares, value: float) -> _Parts:
    inverse = over(1.0, x.r) / np.count_nonzero(x.r)
    return -over(x.d, x.r) * inverse, 0.0, inverse


def _kappa(x: Shares, value: float) -> _Parts:
    chance, rest = (x.r * x.q).sum(), (x.r * x.not_q).sum()
    lost = 1 - value
    return over(lost * (2 * chance - x.q) - x.d.sum(), rest), over(-lost * x.r, rest), over(1.0, rest)


_SLOPES: dict[str, Callable[[Shares, float], _Parts]] = {
    "mcc": _ecc,
    "ecc": _ecc,
    "mpc1": _mpc1,
    "mpc2": _mpc2,
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "kappa": _kappa,
}

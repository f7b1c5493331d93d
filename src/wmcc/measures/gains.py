"""What predictions are worth on average, if each kind of right and wrong has a gain."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.table import Margins
from ..errors import InputError
from .base import Measure, OnZero, Shares
from .stacks import PerCell, itself, per_table


@dataclass(frozen=True)
class ExpectedGain:
    """Mean gain of a row, by its weight: a measure for `wmcc.curve`, `wmcc.best_threshold` and comparisons.

    Of labels `wmcc.interval` and `wmcc.compare` take it, with ``of``, the positive class, where it is not known.

    Parameters
    ----------
    hit, miss
        Gain of a row of the positive class that is predicted so, and of one that is not; losses are negative.
    alarm, rejection
        Gain of a row of the other class that is predicted positive, and of one that is not.

    Examples
    --------
    A check costs 1, and finding a fault saves 20:

    >>> import wmcc
    >>> from wmcc.measures import ExpectedGain
    >>> scores = wmcc.tabulate([0, 0, 0, 1, 1] * 20, score=[0.1, 0.3, 0.6, 0.4, 0.9] * 20)
    >>> wmcc.best_threshold(scores, ExpectedGain(hit=19, miss=0, alarm=-1, rejection=0)).threshold
    0.4
    """

    hit: float
    miss: float
    alarm: float
    rejection: float

    def __post_init__(self) -> None:
        for name, gain in vars(self).items():
            if isinstance(gain, bool) or not isinstance(gain, (int, float)) or not isfinite(gain):
                raise InputError(f"`{name}` is {gain!r}; expected a number.", argument=name)
        if len({*vars(self).values()}) == 1:
            raise InputError("all gains are the same, so no threshold is better than another.", argument="hit")

    @property
    def measure(self) -> Measure:
        """It as a measure of tables of two classes, the positive one first."""
        gains = [self.hit, self.miss, self.alarm, self.rejection]
        rows, right = np.array([self.miss, self.alarm]), np.array([self.hit - self.miss, self.rejection - self.alarm])

        def value(m: Margins, zero: OnZero) -> float:
            hits, others = m.d
            cells = [hits, m.r[0] - hits, m.r[1] - others, others]
            return float(sum(Fraction(gain) * cell for gain, cell in zip(gains, cells, strict=True)) / m.s)

        def terms(x: Shares) -> tuple[FloatArray, ...]:
            return (rows * x.r + right * x.d,)

        def slope(x: Shares, value: Any) -> PerCell:
            return PerCell(rows - per_table(value), np.zeros_like(x.r), right + np.zeros_like(x.r))

        ends = float(min(gains)), float(max(gains))
        formula = "Σ gain · C / s"
        return Measure("expected_gain", "Expected gain", formula, ends, value, terms, itself, slope, self.__doc__ or "")

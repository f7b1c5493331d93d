"""The studentised statistic (estimate − truth) / se, and what is known of its distribution.

All numbers may be arrays of one shape, for many estimates at once. Derived in docs/inference.md.
"""

from __future__ import annotations

from functools import cache
from math import cbrt
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray


@cache
def student() -> Any:
    """Student's distribution and its inverse; SciPy is slow to import, and loaded when it is needed."""
    from scipy.special import stdtr, stdtrit

    return stdtr, stdtrit


class Pivot(NamedTuple):
    """An estimate on a scale where it is nearly normal, its standard error, and how it departs from normal."""

    estimate: Any
    se: Any
    skewness: Any  # Σu³ / (Σu²)^{3/2} of the influences u of rows or clusters
    curvature: Any  # half the second derivative along the influences of the data, in units of se
    df: Any  # degrees of freedom of se²

    @property
    def _bend(self) -> Any:
        return self.skewness / 3 + self.curvature

    def ends(self, tail: float) -> tuple[Any, Any]:
        """Return the values that a two-sided test does not reject, if it rejects with this chance on either side."""
        _, stdtrit = student()
        q = -stdtrit(self.df, tail)  # of the lower tail, as 1 − a small one would be rounded
        q = float(q) if isinstance(q, float) else q
        return self.estimate - self._studentise(q) * self.se, self.estimate - self._studentise(-q) * self.se

    def upper_tail(self, value: Any) -> FloatArray:
        """Return the chance of so large an estimate, or a larger one, if ``value`` were the truth."""
        stdtr, _ = student()
        return np.asarray(stdtr(self.df, -self._from(value)))

    def p_value(self, value: Any = 0.0) -> FloatArray:
        """Return the chance of an estimate so far from ``value`` on either side, if ``value`` were the truth."""
        stdtr, _ = student()
        return np.asarray(2 * stdtr(self.df, -np.abs(self._from(value))))  # 1 − a tail would lose the small ones

    def _from(self, value: Any) -> Any:
        """How far the estimate is from ``value``, on the scale of Student's distribution."""
        return self._normalise((self.estimate - value) / self.se)

    def _normalise(self, t: Any) -> Any:
        """Hall's transformation t + bend t² + bend² t³/3 + skewness/6, which has Student's distribution."""
        b = self._bend
        return t + b * t * t + b * b * t * t * t / 3 + self.skewness / 6

    def _studentise(self, x: Any) -> Any:
        """Return the t at which `_normalise` is x: (∛(1 + 3bx) − 1)/b, in a form that is good for b = 0 too."""
        x = x - self.skewness / 6
        cube = 1 + 3 * self._bend * x
        root = cbrt(cube) if isinstance(cube, float) else np.cbrt(cube)
        return 3 * x / (root * root + root + 1)

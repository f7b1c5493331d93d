"""The studentised statistic (estimate − truth) / se, which has Student's distribution.

All numbers may be arrays of one shape, for many estimates at once. Derived in docs/understand/inference.md.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray


@cache
def student() -> Any:
    """Student's distribution and its inverse; SciPy is slow to import, and loaded when it is needed."""
    from scipy.special import stdtr, stdtrit

    return stdtr, stdtrit


class Pivot(NamedTuple):
    """An estimate on a scale where it is nearly normal, and its standard error."""

    estimate: Any
    se: Any
    df: Any  # degrees of freedom of se²

    def ends(self, tail: float) -> tuple[Any, Any]:
        """Return the values that a two-sided test does not reject, if it rejects with this chance on either side."""
        _, stdtrit = student()
        # Of the lower tail, as 1 − a small one would be rounded. SciPy's infinite quantiles have the wrong sign.
        far = abs(stdtrit(self.df, tail)) * self.se
        far = float(far) if isinstance(far, float) else far
        return self.estimate - far, self.estimate + far

    def upper_tail(self, value: Any) -> FloatArray:
        """Return the chance of so large an estimate, or a larger one, if ``value`` were the truth."""
        stdtr, _ = student()
        return np.asarray(stdtr(self.df, (value - self.estimate) / self.se))

    def p_value(self, value: Any = 0.0) -> FloatArray:
        """Return the chance of an estimate so far from ``value`` on either side, if ``value`` were the truth."""
        stdtr, _ = student()
        # 1 − a tail would lose the small ones
        return np.asarray(2 * stdtr(self.df, -np.abs((self.estimate - value) / self.se)))

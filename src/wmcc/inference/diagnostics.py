"""Effective sample size."""

from __future__ import annotations

from ..measures.base import check_scorable
from ..table import Table, check_table


def effective_sample_size(table: Table) -> float:
    """(Σw)² / Σw²: how many equally weighted observations would be as informative about a mean.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.effective_sample_size(wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 97]))
    1.062586...
    """
    check_scorable(check_table(table))
    w, w2 = table.w_exact.sum(), table.w2_exact.sum()
    shift = 2 * w.exponent - w2.exponent
    n, d = w.integers() ** 2, w2.integers()
    return float((n << shift) / d if shift >= 0 else n / (d << -shift))

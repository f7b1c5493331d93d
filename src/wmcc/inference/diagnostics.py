"""Effective sample size."""

from __future__ import annotations

from ..measures.base import as_table, check_scorable
from ..table import Table


def effective_sample_size(table: Table) -> float:
    """(Σw)² / Σw²: how many equally weighted observations would be as informative about a mean.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.effective_sample_size(wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 97]))
    1.062473438164046
    """
    check_scorable(as_table(table))
    w, w2 = table.w_exact.sum(), table.w2_exact.sum()
    shift = 2 * w.exponent - w2.exponent
    n, d = w.integers() ** 2, w2.integers()
    ratio: float = (n << shift) / d if shift >= 0 else n / (d << -shift)
    return ratio

"""Samples that intervals and comparisons can be made of, and derivatives that do not come from the library."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

import wmcc
import wmcc.measures

MULTICLASS = [name for name, measure in wmcc.measures.MEASURES.items() if not measure.two_classes]


class Sample(NamedTuple):
    t: Any
    p: Any
    w: Any

    @property
    def table(self) -> wmcc.Table:
        return wmcc.tabulate(*self)

    def only(self, kept: Any) -> Sample:
        return Sample(*(x[kept] for x in self))


def sample(
    seed: int, n: int = 120, classes: int = 3, right: float = 0.7, spread: float = 0.5, keep: float = 0.0
) -> Any:
    """Rows with one prediction, or with a second one that is the first's with chance ``keep``, then the weights."""
    rng = np.random.default_rng(seed)
    t = rng.permutation(np.arange(n) % classes)
    p, b = (np.where(rng.random(n) < right, t, rng.integers(0, classes, n)) for _ in range(2))
    w = np.exp(rng.normal(0, spread, n))
    return (t, p, np.where(rng.random(n) < keep, p, b), w) if keep else Sample(t, p, w)


samples = st.builds(
    sample,
    st.integers(0, 10**6),
    st.sampled_from([40, 120, 400]),
    st.integers(2, 4),
    st.sampled_from([0.3, 0.7, 0.95]),
    st.sampled_from([0.0, 0.5, 2.0]),
)


def applicable(name: str, table: wmcc.Table) -> bool:
    return len(table.labels) <= 2 or not wmcc.measures.MEASURES[name].two_classes


def alike(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two intervals are the same but for rounding."""
    same = (a.problem is None) == (b.problem is None) and len(a.warnings) == len(b.warnings)
    numbers = [(x.value, x.low, x.high, x.se, x.df, x.n_eff) for x in (a, b)]
    return same and numbers[0] == pytest.approx(numbers[1], rel=tolerance, abs=tolerance, nan_ok=True)


# ---- measures over stacks of complex numbers, cell by cell ------------------------------------------------


def phi(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


def macro_phi(C: Any) -> Any:
    """Mean of the one-vs-rest MCCs, as it is defined by Tamura et al."""
    terms = []
    for k in range(C.shape[-1]):
        tp, fp, fn = C[..., k, k], C[..., :, k].sum(axis=-1) - C[..., k, k], C[..., k, :].sum(axis=-1) - C[..., k, k]
        terms.append(phi(tp, fp, fn, C.sum(axis=(-2, -1)) - tp - fp - fn))
    return sum(terms) / len(terms)


def multinomial_variance(function: Any, counts: Any) -> float:
    """Delta method for a function of multinomial counts: (1/n)(Σ p h² − (Σ p h)²), h by complex steps."""
    n = counts.sum()
    p = (counts / n).astype(complex)
    steps = np.eye(p.size).reshape(p.size, *p.shape) * 1e-30j
    h = function(p + steps).imag.reshape(p.shape) / 1e-30
    return float(((p.real * h * h).sum() - (p.real * h).sum() ** 2) / n)

"""The four correlations: MCC for two classes; ECC (R_K), MPC1 and MPC2 for any number."""

from __future__ import annotations

from operator import mul
from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.table import Margins
from .arithmetic import mean_of_terms, over_root, over_roots, root_ratio
from .base import Measure, OnZero, Shares
from .stacks import PerCell, mean_over, over, per_table, quotient, totals


def _covariance(m: Margins) -> int:
    """Return N = s·T − Σ r_k q_k."""
    return m.s * sum(m.d) - sum(a * b for a, b in zip(m.r, m.q, strict=True))


def _spread(s: int, margin: list[int]) -> int:
    """Return s² − Σ x_k²."""
    return s * s - sum(x * x for x in margin)


def _why(m: Margins) -> str:
    side = "y_true" if _spread(m.s, m.r) == 0 else "y_pred"
    return f"all the weight of {side} is in one class"


def _ecc(m: Margins, zero: OnZero) -> float:
    product = _spread(m.s, m.r) * _spread(m.s, m.q)
    return over_root(_covariance(m), product) if product else zero(_why(m))


def _products(m: Margins) -> list[int]:
    """A_k B_k = r_k (s − r_k) q_k (s − q_k) per class."""
    A, B = ([x * (m.s - x) for x in margin] for margin in (m.r, m.q))
    return list(map(mul, A, B))


def _mpc1(m: Margins, zero: OnZero) -> float:
    products = _products(m)
    return over_roots(_covariance(m), products) if any(products) else zero(_why_all(m))


def _why_all(m: Margins) -> str:
    if _spread(m.s, m.r) and _spread(m.s, m.q):
        return "no class has weight both in y_true and in y_pred"
    return _why(m)


def _mpc2(m: Margins, zero: OnZero) -> float:
    covariances = [m.s * d - a * b for d, a, b in zip(m.d, m.r, m.q, strict=True)]
    defined = [(n, p) for n, p in zip(covariances, _products(m), strict=True) if p]
    return mean_of_terms(lambda bits: [root_ratio(n, p, bits) for n, p in defined], len(defined), m.classes, zero)


def _ecc_terms(x: Shares) -> tuple[FloatArray, ...]:
    return x.covariance, x.A, x.B


def _ecc_of_totals(classes: Any, covariance: Any, P: Any, Q: Any) -> Any:
    return over(covariance, np.sqrt(P) * np.sqrt(Q))


def _ecc_slope(x: Shares, value: Any) -> PerCell:
    P, Q, value = totals(x.A), totals(x.B), per_table(value)
    scale = over(1.0, np.sqrt(P) * np.sqrt(Q))
    return _covariance_slope(x, scale, x.not_r * over(value, P), x.not_q * over(value, Q))


def _covariance_slope(x: Shares, scale: Any, rows: FloatArray, columns: FloatArray) -> PerCell:
    """s·∂N/∂C over s², T + s[a=b] − q_a − r_b, times a scale; less what is given of rows and columns."""
    return PerCell((totals(x.d) - x.q) * scale - rows, -x.r * scale - columns, scale)


def _roots(x: Shares) -> tuple[FloatArray, FloatArray]:
    """√A_k and √B_k."""
    return np.sqrt(x.A), np.sqrt(x.B)


def _mpc1_terms(x: Shares) -> tuple[FloatArray, ...]:
    a, b = _roots(x)
    return x.covariance, a * b


def _mpc1_slope(x: Shares, value: Any) -> PerCell:
    a, b = _roots(x)
    u, v = over(b, a) / 2, over(a, b) / 2
    # d√(A_k B_k) = u_k dA_k + v_k dB_k, where dA_k is s − r_k for a cell of row k and r_k for the others
    rows = totals(u * x.r) + u * (x.not_r - x.r)
    columns = totals(v * x.q) + v * (x.not_q - x.q)
    scale = over(1.0, totals(a * b))
    lost = per_table(value) * scale
    return _covariance_slope(x, scale, rows * lost, columns * lost)


def _mpc2_terms(x: Shares) -> tuple[FloatArray, ...]:
    a, b = _roots(x)
    return (over(over(x.covariance, a), b),)


def _mpc2_slope(x: Shares, value: Any) -> PerCell:
    a, b = _roots(x)
    c = over(over(1.0, a), b)
    phi = x.covariance * c
    u, v = over(phi, a * a) / 2, over(phi, b * b) / 2
    rows = totals(c * x.d - u * x.r) - c * x.q - u * (x.not_r - x.r)
    columns = -c * x.r - totals(v * x.q) - v * (x.not_q - x.q)
    return PerCell(rows / x.classes, columns / x.classes, c / x.classes)


def _has_a_correlation(m: Margins) -> bool:
    return any(0 < a < m.s and 0 < b < m.s for a, b in zip(m.r, m.q, strict=True))


# fmt: off
mcc: Measure = Measure(
    "mcc", "MCC", "(TP·TN − FP·FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN))", (-1.0, 1.0),
    _ecc, _ecc_terms, _ecc_of_totals, _ecc_slope,  # for two classes N, P and Q of R_K are each twice those of MCC
    """Weighted Matthews correlation coefficient, for two classes.

It is the correlation between truth and prediction, in which every observation counts by its weight. It is 1 if all
predictions are right, 0 if they say nothing about the truth, and −1 if all are wrong. It does not depend on which class
is called positive.
For more than two classes use `wmcc.ecc`, `wmcc.mpc1` or `wmcc.mpc2`.""",
    two_classes=True,
)
ecc: Measure = Measure(
    "ecc", "ECC (R_K)", "(s·T − Σ r_k q_k) / √((s² − Σ r_k²)(s² − Σ q_k²))", (-1.0, 1.0),
    _ecc, _ecc_terms, _ecc_of_totals, _ecc_slope,
    """Weighted extended correlation coefficient R_K, for any number of classes.

It is the correlation between truth and prediction as vectors of class indicators. Classes count by their weight. It is
1 if all predictions are right and 0 if they say nothing about the truth. For two classes it is MCC; scikit-learn's
``matthews_corrcoef`` is the same number.""",
)
mpc1: Measure = Measure(
    "mpc1", "MPC1", "Σ (s·C_kk − r_k q_k) / Σ √(r_k (s−r_k) q_k (s−q_k))", (-1.0, 1.0),
    _mpc1, _mpc1_terms, quotient, _mpc1_slope,
    """First weighted multiclass Pearson correlation, for any number of classes.

It is the sum of the covariances of the classes over the sum of their largest possible values. Classes that have no
weight in truth or prediction contribute nothing. For two classes it is MCC.""",
)
mpc2: Measure = Measure(
    "mpc2", "MPC2", "mean of (s·C_kk − r_k q_k) / √(r_k (s−r_k) q_k (s−q_k)) over the classes with r_k + q_k > 0",
    (-1.0, 1.0), _mpc2, _mpc2_terms, mean_over, _mpc2_slope,
    """Second weighted multiclass Pearson correlation, for any number of classes.

It is the mean of each class's own MCC against the rest, so a rare class counts as much as a common one. The mean runs
over the classes that have weight in truth or prediction. A class that has weight in only one of them counts as 0, by
the paper's convention. A class that occurs in neither does not count. For two classes it is MCC.""",
    has_terms=_has_a_correlation, over_classes=True,
)
# fmt: on

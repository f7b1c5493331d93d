"""The four correlations: MCC for two classes; ECC (R_K), MPC1 and MPC2 for any number."""

from __future__ import annotations

from math import isfinite

import numpy as np

from ..arraytypes import FloatArray
from ..table import Margins
from .arithmetic import fixed, mean, over_root, over_roots, root_ratio
from .base import Measure, OnZero, Shares


def _covariance(m: Margins) -> int:
    """Return N = s·T − Σ r_k q_k."""
    return m.s * sum(m.d) - sum(a * b for a, b in zip(m.r, m.q, strict=True))


def _spread(s: int, margin: list[int]) -> int:
    """Return s² − Σ x_k², without subtracting nearly equal numbers: the sum of x_k (s − x_k)."""
    return sum(x * (s - x) for x in margin)


def _why(m: Margins) -> str:
    side = "y_true" if _spread(m.s, m.r) == 0 else "y_pred"
    return f"all the weight of {side} is in one class"


def _ecc(m: Margins, zero: OnZero) -> float:
    product = _spread(m.s, m.r) * _spread(m.s, m.q)
    return over_root(_covariance(m), product) if product else zero(_why(m))


def _products(m: Margins) -> list[int]:
    """A_k B_k = r_k (s − r_k) q_k (s − q_k) per class."""
    return [a * (m.s - a) * b * (m.s - b) for a, b in zip(m.r, m.q, strict=True)]


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
    absent = len(m.r) - len(defined)
    substitute = zero(f"{absent} of {len(m.r)} classes lack weight in y_true or y_pred") if absent else 0.0
    if not isfinite(substitute):
        return substitute
    return mean(
        lambda bits: [root_ratio(n, p, bits) for n, p in defined] + [absent * fixed(substitute, bits)], len(m.r)
    )


def _cells(by_row: FloatArray, by_column: FloatArray, diagonal: FloatArray | float) -> FloatArray:
    """K x K array from what depends on a cell's row, on its column, and on being correct."""
    return by_row[:, np.newaxis] + by_column + np.eye(len(by_row)) * diagonal


def _covariance_slope(x: Shares) -> FloatArray:
    """s·∂N/∂C over s²: T + s[a=b] − q_a − r_b."""
    return _cells(x.d.sum() - x.q, -x.r, 1.0)


def _ecc_slope(x: Shares, value: float) -> FloatArray:
    P, Q = float(x.r @ x.not_r), float(x.q @ x.not_q)
    return np.asarray(_covariance_slope(x) / (np.sqrt(P) * np.sqrt(Q)) - value * _cells(x.not_r / P, x.not_q / Q, 0.0))


def _inverse(x: FloatArray) -> FloatArray:
    """1/x, and 0 for the terms that are undefined."""
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)


def _mpc1_slope(x: Shares, value: float) -> FloatArray:
    A, B = x.r * x.not_r, x.q * x.not_q
    u, v = np.sqrt(B) * _inverse(np.sqrt(A)) / 2, np.sqrt(A) * _inverse(np.sqrt(B)) / 2
    # d√(A_k B_k) = u_k dA_k + v_k dB_k, where dA_k is s − r_k for a cell of row k and r_k for the others
    denominator = _cells(u @ x.r + u * (x.not_r - x.r), v @ x.q + v * (x.not_q - x.q), 0.0)
    return np.asarray((_covariance_slope(x) - value * denominator) / (np.sqrt(A) * np.sqrt(B)).sum())


def _mpc2_slope(x: Shares, value: float) -> FloatArray:
    A, B = x.r * x.not_r, x.q * x.not_q
    c = _inverse(np.sqrt(A)) * _inverse(np.sqrt(B))
    phi = x.covariance * c
    a, b = phi * _inverse(A) / 2, phi * _inverse(B) / 2
    by_row = c @ x.d - c * x.q - a @ x.r - a * (x.not_r - x.r)
    by_column = -c * x.r - b @ x.q - b * (x.not_q - x.q)
    return _cells(by_row, by_column, c) / len(c)


mcc = Measure(
    "mcc",
    "MCC",
    "(TP·TN − FP·FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN))",
    (-1.0, 1.0),
    _ecc,  # for two classes N, P and Q of R_K are each twice those of MCC
    _ecc_slope,
    two_classes=True,
)
ecc = Measure("ecc", "ECC (R_K)", "(s·T − Σ r_k q_k) / √((s² − Σ r_k²)(s² − Σ q_k²))", (-1.0, 1.0), _ecc, _ecc_slope)
mpc1 = Measure("mpc1", "MPC1", "Σ (s·C_kk − r_k q_k) / Σ √(r_k (s−r_k) q_k (s−q_k))", (-1.0, 1.0), _mpc1, _mpc1_slope)
mpc2 = Measure(
    "mpc2",
    "MPC2",
    "(1/K) Σ (s·C_kk − r_k q_k) / √(r_k (s−r_k) q_k (s−q_k))",
    (-1.0, 1.0),
    _mpc2,
    _mpc2_slope,
    termwise=True,
)

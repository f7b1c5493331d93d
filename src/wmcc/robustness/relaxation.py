"""A bound for wide boxes: ECC and MPC1 as quadratic functions, split into convex and concave squares.

To show that σM <= λ everywhere (σ = 1 for the largest value, −1 for the smallest) is to show that
σN − λD <= 0. With u = √τ r and v = q/√τ per class,

    σN − λD <= σT − (λ/2) Σ (τ r + q/τ) + (λ+σ)/4 Σ (u − v)² + (λ−σ)/4 Σ (u + v)² + λδ,

since D is at most the mean of τA and B/τ (and, where λ > 0, at least that mean less δ). Convex squares lie below
their secants, concave ones below their tangents: what remains is linear in the shares, and its largest value
over the box of tables is known. docs/understand/theory.md has the proof.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray
from .aggregates import Aggregates
from .interval_arithmetic import Span, fraction_max, up

ROUNDS = 12
"""Steps of Frank and Wolfe towards the best tangents."""


def relaxed_bound(z: Aggregates, side: int, level: FloatArray, by_class: bool) -> FloatArray:
    """Bound σM from above over each box of a stack; σ is ``side``.

    ``level`` is λ, a guess at the answer, per box (with a last axis of one): any guess gives a bound. ``by_class`` says
    whether D is Σ √(A_k B_k), as in MPC1, or √(Σ A_k · Σ B_k), as in ECC.
    """
    A, B = z.r * z.not_r, z.q * z.not_q
    if by_class:
        used = np.broadcast_to(z.present, A.lo.shape) * 1.0
        D = (A * B).sqrt().where(z.present, 0.0).sum().at_least(0.0)  # a quotient by less than 0 would turn over
        ratio = (z.q_over_r * z.nq_over_nr).sqrt()
    else:
        used = np.ones(A.lo.shape)
        D = (z.P * z.Q).sqrt()
        ratio = (z.Q / z.P).sqrt()
    root_tau = np.sqrt(np.clip(np.nan_to_num(np.sqrt(ratio.lo * ratio.hi), nan=1.0), 1e-6, 1e6)) * np.ones(A.lo.shape)
    tau = Span.exactly(root_tau) * root_tau
    unequal_by = _unequal(A if by_class else z.P, tau if by_class else tau[..., :1], ratio)
    unequal_by = (unequal_by.where(z.present, 0.0) if by_class else unequal_by).sum()
    best = np.full(level.shape, np.inf)
    x = None
    for _ in range(2):
        excess, x = _largest(z, side, level, root_tau, used, x)
        excess = up(excess + up(unequal_by.hi * np.maximum(level, 0.0)))
        best = np.fmin(best, up(level + up(np.where(excess > 0, excess / D.lo, excess / D.hi))))
        level = np.where(np.isfinite(excess), level + excess / D.hi, level)  # near the root of the excess
    return best


def _unequal(A: Span, tau: Span, ratio: Span) -> Span:
    """(τA + B/τ)/2 − √(AB) = (A τ/2) (1 − √(B/A)/τ)²."""
    return A * tau * 0.5 * (1.0 - ratio / tau).square()


def _largest(
    z: Aggregates, side: int, level: FloatArray, root_tau: FloatArray, used: FloatArray, x: Any
) -> tuple[FloatArray, Any]:
    """Bound the quadratic over each box; and shares at which its tangents were taken."""
    low, high = z.low, z.high
    if x is None:
        middle = (low + high) / 2
        x = middle / middle.sum(-1, keepdims=True)
    half = Span.exactly(level * used) * 0.5  # Σ of it times (τ r + q/τ) is subtracted
    linear = Span.exactly(side * z.identity) - (
        z.row(half * root_tau * root_tau) + z.column(half / root_tau / root_tau)
    )
    constant = Span.exactly(np.zeros(level.shape))
    concave = []
    for sign in (-1, 1):
        weight = (Span.exactly(level) - sign * side) * 0.25 * used
        is_convex = level - sign * side > 0  # a difference of two numbers is rounded, but its sign is right
        convex = weight.where(is_convex, 0.0).at_least(0.0)
        square = _range(z, root_tau, sign)
        linear = linear + _on_cells(z, convex * (Span.exactly(square.lo) + square.hi), root_tau, sign)
        constant = constant - (convex * (Span.exactly(square.lo) * square.hi)).sum()
        concave.append((weight.where(~is_convex, 0.0).between(-np.inf, 0.0), sign))
    for _ in range(ROUNDS):
        flat = linear.hi
        for weight, sign in concave:
            m = 2.0 * weight.lo * _square_root(z, x, root_tau, sign)
            flat = flat + z.row(m * root_tau) + z.column(sign * m / root_tau)
        step = corner(flat, low, high) - x
        gain = (flat * step).sum(-1, keepdims=True)
        bend = -sum(
            (2.0 * weight.lo * _square_root(z, step, root_tau, sign) ** 2).sum(-1, keepdims=True)
            for weight, sign in concave
        )
        if not (gain > 1e-12).any():
            break
        length = np.clip(np.divide(gain, bend, out=np.ones_like(gain), where=bend > 0), 0.0, 1.0)
        x = x + length * step
    for weight, sign in concave:  # whatever x is, a tangent at it bounds the concave square
        at = _square_root(z, x, root_tau, sign)
        linear = linear + _on_cells(z, weight * 2.0 * at, root_tau, sign)
        constant = constant - (weight * Span.exactly(at).square()).sum()
    return (constant + fraction_max(linear.hi, low, high)).hi, x


def _square_root(z: Aggregates, x: FloatArray, root_tau: FloatArray, sign: int) -> FloatArray:
    """The root of a square, u + sign · v, of shares."""
    return np.asarray(root_tau * z.cells.rows(x) + sign * z.cells.columns(x) / root_tau)


def _on_cells(z: Aggregates, m: Span, root_tau: FloatArray, sign: int) -> Span:
    """Coefficients of Σ m (u + sign · v) in the cells' shares."""
    found: Span = z.row(m * root_tau) + z.column(m / root_tau * float(sign))
    return found


def _range(z: Aggregates, root_tau: FloatArray, sign: int) -> Span:
    """Range of u + sign · v per class: a quotient of sums of its four kinds of cells."""
    kinds = z.TP, z.FN, z.FP, z.TN
    low, high = np.stack([x.lo for x in kinds], -1), np.stack([x.hi for x in kinds], -1)
    row, column = Span.exactly(root_tau), Span.exactly(np.ones_like(root_tau)) / root_tau * float(sign)
    both, none = row + column, np.zeros_like(root_tau)

    least = -fraction_max(-np.stack([both.lo, row.lo, column.lo, none], -1), low, high)
    most = fraction_max(np.stack([both.hi, row.hi, column.hi, none], -1), low, high)
    return Span(least[..., 0], most[..., 0])


def corner(c: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Shares of the corner where Σ c C / Σ C is (nearly) largest."""
    rho = np.zeros((*c.shape[:-1], 1))
    for _ in range(3):
        C = np.where(c > rho, high, low)
        total = C.sum(-1, keepdims=True)
        rho = (c * C).sum(-1, keepdims=True) / total
    return np.asarray(C / total)

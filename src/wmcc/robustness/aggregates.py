"""What the measures need of a box of tables, as intervals: shares, their differences, and second moments.

A measure does not change when a table is scaled, so all is written in shares of the total, which move far
less than sums do. Numbers that move together are enclosed together: a share's quotient knows that what
is in the numerator is in the denominator, the shares of all classes add up to one, and the difference
r_k − q_k knows that the diagonal cell cancels.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..core.arraytypes import Array, FloatArray
from ..measures.stacks import sums_from_both_ends
from .cells import BoxedCells
from .interval_arithmetic import UNIT, Span, dot, down, fraction_max, squares, up


class Aggregates:
    """Enclosures over the box low <= C <= high; the last axis is that of the occupied cells.

    Vectors over classes, or numbers (with a last axis of one); each is computed when it is first asked for.
    `TwinAggregates` has the same for two predictions of the same rows.
    """

    cells: BoxedCells
    low: FloatArray
    high: FloatArray
    classes: float
    same: Array
    identity: FloatArray
    TP: Span
    FN: Span
    FP: Span
    TN: Span
    true: Span
    pred: Span
    not_true: Span
    not_pred: Span

    def __init__(self, cells: BoxedCells, low: FloatArray, high: FloatArray) -> None:
        self.cells, self.low, self.high = cells, low, high
        self.classes, self.same, self.identity = float(cells.classes), cells.same, cells.identity
        C = np.stack([low, high])  # the same sums of both, in one go
        kinds = cells.kinds(C)
        margins = kinds[..., 1:, :] + kinds[..., :1, :]
        rest = sums_from_both_ends(margins)
        TP, FN, FP = (kinds[..., i, :] for i in range(3))
        true, pred, not_true, not_pred = (x[..., i, :] for x in (margins, rest) for i in range(2))
        TN = _rejected(cells, C, FN, FP, not_true, not_pred)
        # Sums of numbers of one sign, and differences of which half is left: all have a relative error of a few units.
        pad = (2 * (len(cells) + cells.K) + 8) * UNIT
        sums = TP, FN, FP, TN, true, pred, not_true, not_pred
        self.TP, self.FN, self.FP, self.TN, self.true, self.pred, self.not_true, self.not_pred = (
            Span(x[0] * (1 - pad), x[1] * (1 + pad)) for x in sums
        )

    # ---- from classes to cells --------------------------------------------------------------------------

    def row(self, x: Any) -> Any:
        """Give each cell the number of its true class."""
        return x[..., self.cells.t]

    def column(self, x: Any) -> Any:
        """Give each cell the number of its predicted class."""
        return x[..., self.cells.p]

    def without_two(self, x: Span) -> Span:
        """Give each cell the sum over the classes that are neither its true nor its predicted one."""
        return x.without_two(self.cells.t, self.cells.p)

    # ---- of classes and tables --------------------------------------------------------------------------

    r: cached_property[Span] = cached_property(lambda self: _part(self.true, self.not_true))  # share of each true class
    # share of each predicted class
    q: cached_property[Span] = cached_property(lambda self: _part(self.pred, self.not_pred))
    # 1 − r, as the share of the other classes
    not_r: cached_property[Span] = cached_property(lambda self: _part(self.not_true, self.true))
    not_q: cached_property[Span] = cached_property(lambda self: _part(self.not_pred, self.pred))
    T: cached_property[Span] = cached_property(lambda self: _part(self.TP.sum(), self.FN.sum()))  # correct share
    # 1 − T, the share of errors
    o: cached_property[Span] = cached_property(lambda self: _part(self.FN.sum(), self.TP.sum()))
    # share of TP, of each class
    hit: cached_property[Span] = cached_property(lambda self: _part(self.TP, self.FN + self.not_true))
    # share of TN, of each class
    rejected: cached_property[Span] = cached_property(lambda self: _part(self.TN, self.FN + self.FP + self.TP))
    # share of TP, FN and FP together
    union: cached_property[Span] = cached_property(lambda self: _part(self.TP + self.FN + self.FP, self.TN))
    recall: cached_property[Span] = cached_property(lambda self: _part(self.TP, self.FN))
    iou: cached_property[Span] = cached_property(lambda self: _part(self.TP, self.FN + self.FP))
    f1: cached_property[Span] = cached_property(lambda self: _part(self.TP, (self.FN + self.FP) * 0.5))
    rq: cached_property[Span] = cached_property(lambda self: dot(self.r, self.q))  # Σ r q
    # Quotients mean nothing for classes that are not `present`.
    q_over_r: cached_property[Span] = cached_property(lambda self: _quotient(self.TP, self.FP, self.FN))
    # (1 − q) / (1 − r)
    nq_over_nr: cached_property[Span] = cached_property(lambda self: _quotient(self.TN, self.FN, self.FP))

    @cached_property
    def x(self) -> Span:
        """Difference r − q = (FN − FP)/s: the diagonal cancels, and is in the denominator alone."""
        rest = self.TP + self.TN

        def largest(more: Span, less: Span) -> FloatArray:
            v = more.hi - less.lo
            share = _share(v, np.where(v > 0, rest.lo, rest.hi) + more.hi + less.lo)
            return np.asarray(up(share + 8 * UNIT * np.abs(share)))

        return Span(-largest(self.FP, self.FN), largest(self.FN, self.FP))

    @cached_property
    def _spread(self) -> Span:
        both = Span(np.stack([self.r.lo, self.q.lo]), np.stack([self.r.hi, self.q.hi]))
        return (1.0 - squares(both)).at_least(0.0)

    P = property(lambda self: self._spread[0])  # 1 − Σ r²
    Q = property(lambda self: self._spread[1])  # 1 − Σ q²
    # P − N = Σ over a ≠ b of x_ab (1 − r_a + r_b): never negative, and small where there are few errors.
    alpha: cached_property[Any] = cached_property(lambda self: self._weighted_errors(self.r))
    # Q − N = Σ of x_ab (1 + q_a − q_b)
    beta: cached_property[Any] = cached_property(lambda self: self._weighted_errors(-self.q))
    # T − Σ r q
    N: cached_property[Span] = cached_property(
        lambda self: (self.T - self.rq) & (self.P - self.alpha) & (self.Q - self.beta)
    )

    def _weighted_errors(self, r: Span) -> Span:
        """Σ over a ≠ b of x_ab (1 − r_a + r_b)."""
        wrong = 1.0 - self.identity
        gap = (1.0 - (self.row(r) - self.column(r))).at_least(0.0)
        least, most = fraction_max(np.stack([-wrong * gap.lo, wrong * gap.hi]), self.low, self.high)
        return Span(-least, most).at_least(0.0)

    @cached_property
    def phi(self) -> Span:
        """MCC of each class against the rest: its range, as it never falls in TP and TN, nor rises in FP and FN."""
        low = _mcc(self.TP.lo, self.TN.lo, self.FP.hi, self.FN.hi)
        high = _mcc(self.TP.hi, self.TN.hi, self.FP.lo, self.FN.lo)
        return Span(low.lo, high.hi).between(-1.0, 1.0)

    # Classes that have weight in the box: in truth and prediction somewhere; in truth somewhere; in truth everywhere.
    present: cached_property[Array] = cached_property(lambda self: np.asarray((self.true.hi > 0) & (self.pred.hi > 0)))
    ever_in_truth: cached_property[Array] = cached_property(lambda self: np.asarray(self.true.hi > 0))
    in_truth: cached_property[Array] = cached_property(lambda self: np.asarray(self.true.lo > 0))

    @cached_property
    def vanishing(self) -> Array:
        """Whether a margin of a class that is present may vanish: its MCC against the rest is undefined there."""
        margins = (self.r, self.not_r, self.q, self.not_q)
        vanishing = np.logical_or.reduce([x.may_vanish() for x in margins]) & self.present
        return np.asarray(vanishing.any(-1, keepdims=True))

    @property
    def jumps(self) -> Array:
        """Cells in which MPC2 may jump, down or up: not those of the diagonal, as its terms never fall in them."""
        return np.asarray(self.vanishing & ~self.same)


def _rejected(
    cells: BoxedCells, C: FloatArray, FN: FloatArray, FP: FloatArray, not_true: FloatArray, not_pred: FloatArray
) -> FloatArray:
    """TN of each class: of the other rows, or of the other columns, what is left when FP, or FN, is taken away.

    Where less is left than was taken, its cells are added up instead. There FP is more than half of the other rows. A
    wrong cell is in FP of one class, so FP of all classes is at most the total: there are at most two such classes.
    """
    TN = np.where(FP < FN, not_true - FP, not_pred - FN)
    at = np.nonzero(np.minimum(FP, FN) > TN)
    if at[-1].size:
        k = at[-1][:, np.newaxis]
        TN[at] = (C[at[:-1]] * ((cells.t != k) & (cells.p != k))).sum(-1)
    return TN


def _share(part: FloatArray, total: FloatArray) -> FloatArray:
    return np.divide(part, total, out=np.zeros_like(total), where=total > 0)


def _part(part: Span, rest: Span) -> Span:
    """Share part / (part + rest), where the two move independently of each other."""
    least, most = _share(part.lo, part.lo + rest.hi), _share(part.hi, part.hi + rest.lo)
    return Span(np.maximum(down(least * (1 - 4 * UNIT)), 0.0), np.minimum(up(most * (1 + 4 * UNIT)), 1.0))


def _quotient(common: Span, over: Span, under: Span) -> Span:
    """(common + over) / (common + under); rises in ``over``, falls in ``under``, is monotone in ``common``."""
    hi = [(c + over.hi) / (c + under.lo) for c in (common.lo, common.hi)]
    lo = [(c + over.lo) / (c + under.hi) for c in (common.lo, common.hi)]
    least = np.maximum(down(np.nan_to_num(np.fmin(*lo), nan=0.0) * (1 - 8 * UNIT)), 0.0)  # beyond float64: the largest
    most = np.where(common.lo + under.lo > 0, np.fmax(*hi), np.inf) * (1 + 8 * UNIT)
    return Span(least, most)


def _mcc(TP: Any, TN: Any, FP: Any, FN: Any) -> Span:
    """MCC of four sums; 0 where it is undefined, which at an extreme corner of a box is also its limit."""
    TP, TN, FP, FN = (Span.exactly(x) for x in (TP, TN, FP, FN))
    margins = (TP + FP, TP + FN, TN + FP, TN + FN)
    roots = [margin.sqrt() for margin in margins]
    zero = np.logical_or.reduce([a.hi + b.hi == 0 for a in (TP, TN) for b in (FP, FN)])
    value = (TP / (roots[0] * roots[1])) * (TN / (roots[2] * roots[3])) - (FP / (roots[0] * roots[2])) * (
        FN / (roots[1] * roots[3])
    )
    return Span(np.where(zero, 0.0, value.lo), np.where(zero, 0.0, value.hi))

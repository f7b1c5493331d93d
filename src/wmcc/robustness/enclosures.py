"""How steep each measure can be within a box of tables, and which values it can have there.

For every measure the slopes s · ∂M/∂C_ab, per cell, and the value, both enclosed from the `Aggregates` of the
box. The formulas are those of the gradients, written so that quantities that nearly cancel are enclosed as one:
see docs/understand/theory.md, where each line is derived. They use nothing but the arithmetic that `Span` and
`Twin` have in common, and `row` and `column` of the aggregates, which turn numbers of a cell's true class and of its
predicted class into numbers per cell. Numbers of the whole table have a last axis of one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..core.table import Margins
from .aggregates import Aggregates
from .interval_arithmetic import Span


class Slopes(NamedTuple):
    """Enclosures over a box: s · ∂M/∂C_ab per cell, and M."""

    cells: Any
    value: Any

    def __neg__(self) -> Slopes:
        return Slopes(-self.cells, -self.value)


Target = Span | None
"""Values of interest: where the search is for a maximum, those between the best found and the bound."""


@dataclass(frozen=True)
class Enclosure:
    """What the search knows of a measure."""

    slopes: Callable[[Aggregates, Target], Slopes]
    """With a target, only tables whose value is in the target are enclosed."""
    corners: float
    """The largest σM over any box is at a corner, if it is at least this."""
    defined: Callable[[Margins, Margins], bool]
    """Whether nothing that the measure, or one of its terms, divides by becomes zero in a box whose smallest and
    largest tables have these margins. A certificate says so, in words."""
    relaxed: bool = False
    """Whether the quadratic relaxation is for this measure."""


def _aimed(N: Any, D: Any, target: Target) -> tuple[Any, Any]:
    """Enclose N and M = N/D, as far as M is in the target."""
    value = (N / D).unless(D.may_vanish()).between(-1.0, 1.0)
    if target is not None:
        value = value.within(target)
        N = N.within(value * D)
    return N, value


def _ecc(z: Aggregates, target: Target = None) -> Slopes:
    D = (z.P * z.Q).sqrt()
    N, value = _aimed(z.N, D, target)
    by_row, by_column = z.not_r / z.P, z.not_q / z.Q
    steep = 1.0 - z.row(by_row) - z.column(by_column)
    plain = N * steep + z.rq - z.row(z.q) - z.column(z.r)
    alpha, beta = (z.alpha / z.P) & (1.0 - N / z.P), (z.beta / z.Q) & (1.0 - N / z.Q)
    few_errors = _unlike(z) + z.row(z.not_r * alpha) + z.column(z.not_q * beta)
    return Slopes(_slopes(z, plain & few_errors, D), value)


def _slopes(z: Aggregates, h: Any, D: Any) -> Any:
    """(h + [a = b]) / D; nothing is known in a box where the measure may be undefined, as it may jump there."""
    return ((h + z.identity) / D).unless(D.may_vanish())


def _unlike(z: Aggregates) -> Any:
    """−1 − o + x_a − x_b, where x_a − x_a is 0."""
    return (z.row(z.x) - z.column(z.x)) * (1.0 - z.identity) - 1.0 - z.o


def _mpc1(z: Aggregates, target: Target = None) -> Slopes:
    A, B = _spread(z.r, z.not_r), _spread(z.q, z.not_q)
    rho = (z.q_over_r * z.nq_over_nr).sqrt()  # √(B/A)
    rho_inverse = rho.inverse()
    unequal = (A * (rho - 1.0).square()) & (B * (rho_inverse - 1.0).square())  # (√A − √B)²
    unequal = unequal.where(z.present, A + B)
    D = ((z.P + z.Q - unequal.sum()) * 0.5) & (A * B).sqrt().where(z.present, 0.0).sum()
    D = D.at_least(0.0)
    N, value = _aimed(z.N, D, target)
    # 2 ∂D = 4 − 2 r_a − 2 q_b + bend, where bend is of second order in r − q for the cells of the diagonal
    root = z.q_over_r.sqrt()
    apart = (z.r * (root - 1.0).square()) & (z.q * (root.inverse() - 1.0).square())  # (√r − √q)²
    common = (z.r * z.q).sqrt() * (z.nq_over_nr.sqrt().with_inverse() - 2.0) - apart
    common = common.where(z.present, -(z.r + z.q)).sum()
    eta, zeta = (rho - 1.0).where(z.present, -1.0), (rho_inverse - 1.0).where(z.present, -1.0)
    thin_r, thin_q = z.not_r - z.r, z.not_q - z.q
    bend = z.row(eta * thin_r) + z.column(zeta * thin_q)
    both = (rho.with_inverse() - 2.0).where(z.present, -2.0)
    same = (both * thin_r + 2.0 * zeta * z.x) & (both * thin_q - 2.0 * eta * z.x)
    bend = z.row(same).where(z.same, bend)
    bend = (bend + common) * 0.5
    dD = 2.0 - z.row(z.r) - z.column(z.q) + bend
    plain = N * (1.0 - dD / D) + z.rq - z.row(z.q) - z.column(z.r)
    lost = (((z.alpha + z.beta - unequal.sum()) * 0.5) / D) & (1.0 - value)  # 1 − M
    few_errors = _unlike(z) + lost * dD - bend
    return Slopes(_slopes(z, plain & few_errors, D), value)


def _spread(r: Any, not_r: Any) -> Any:
    """Enclose r (1 − r); the second form knows that the factors are one number, the first is exact for small ones."""
    return (r * not_r) & (0.25 - (r - 0.5).square())


def _mpc2(z: Aggregates, target: Target = None) -> Slopes:
    K = z.classes
    phi = z.phi.where(z.present, 0.0)
    value = phi.sum() / K
    if target is not None:
        value = value.within(target)
        phi = phi.within(value * K - phi.others())
    half = phi * 0.5
    a, b = z.r / z.not_r, z.q / z.not_q  # odds
    a_inverse, b_inverse = a.inverse(), b.inverse()
    root = (z.q_over_r / z.nq_over_nr).sqrt()  # √(b/a)
    root_inverse = root.inverse()
    lost = 0.5 - half
    # √(ab) − φ (a + b)/2 is also (1 − φ)(a + b)/2 − (√a − √b)²/2, of which little is left where there are few errors
    apart = (a * (root - 1.0).square()) & (b * (root_inverse - 1.0).square())
    apart_inverse = (a_inverse * (root_inverse - 1.0).square()) & (b_inverse * (root - 1.0).square())
    TN = ((a * b).sqrt() - half * (a + b)) & (lost * (a + b) - apart * 0.5)
    TP = ((a_inverse * b_inverse).sqrt() - half * (a_inverse + b_inverse)) & (
        lost * (a_inverse + b_inverse) - apart_inverse * 0.5
    )
    TN, TP = TN.at_least(0.0), TP.at_least(0.0)
    FN = (root + half * (a_inverse + b)).at_least(0.0)
    FP = (root_inverse + half * (a + b_inverse)).at_least(0.0)
    TN, TP, FN, FP = (x.where(z.present, 0.0) for x in (TN, TP, FN, FP))
    wrong = z.without_two(TN) - z.row(FN) - z.column(FP)
    right = z.row(TN.others() + TP)
    cells = right.where(z.same, wrong) / K
    return Slopes(cells.unless(z.jumps), value)


def _accuracy(z: Aggregates, target: Target = None) -> Slopes:
    value = z.T if target is None else z.T.within(target)
    return Slopes(z.identity - value, value)


def _balanced_accuracy(z: Aggregates, target: Target = None) -> Slopes:
    counted = z.ever_in_truth
    K = counted.sum(-1, keepdims=True).astype(float)
    recall = z.recall.where(counted, 0.0)
    per_row = (z.r * K).inverse()
    cells = z.row((1.0 - recall) * per_row).where(z.same, -z.row(recall * per_row))
    # A class that may vanish from the truth leaves the mean with a jump: then nothing is known.
    jumps = np.asarray((counted & ~z.in_truth).any(-1, keepdims=True))
    value = (recall.sum() / K).unless(jumps, 0.0, 1.0).between(0.0, 1.0)
    return Slopes(cells.unless(jumps), value if target is None else value.within(target))


def _mean_overlap(z: Aggregates, overlap: Any, size: Any, missed: float, false: float, target: Target) -> Slopes:
    """Mean over classes of TP / (TP + missed · FN + false · FP), whose denominator has the share ``size``."""
    K = z.classes
    overlap = overlap.where(size.ever_positive(), 0.0)
    value = (overlap.sum() / K).between(0.0, 1.0)
    if target is not None:
        value = value.within(target)
    per_unit = size.inverse()
    wrong = z.row(overlap * per_unit) * -missed - z.column(overlap * per_unit) * false
    cells = z.row((1.0 - overlap) * per_unit).where(z.same, wrong) / K
    # A class that may vanish counts as 0 there, with a jump: then nothing is known of slopes.
    vanishing = np.asarray(size.may_vanish_or_not().any(-1, keepdims=True))
    return Slopes(cells.unless(vanishing), value)


def _kappa(z: Aggregates, target: Target = None) -> Slopes:
    e = (1.0 - z.rq).at_least(0.0)
    _, value = _aimed(z.N, e, None)
    value = value & (1.0 - z.o / e).unless(e.may_vanish())
    if target is not None:
        value = value.within(target)
    lost = (z.o / e) & (1.0 - value)
    h = lost * (1.0 + z.rq - z.row(z.q) - z.column(z.r)) - 1.0
    return Slopes(_slopes(z, h, e), value)


ALWAYS, NEVER = -inf, inf

AS_MCC = {"mcc", "ecc", "mpc1", "mpc2"}
"""Measures that are MCC for two classes."""

MONOTONE = {"mean_iou", "mean_f1", "mean_recall"}
"""Measures that never fall when a right cell rises, and never rise when a wrong one does."""


def enclosure(name: str, K: int) -> Enclosure:
    """Return the enclosure of a measure for tables of K classes; of the four that are MCC for two, the tightest."""
    return ENCLOSURES["mpc2" if K == 2 and name in AS_MCC else name]


# ---- whether it is defined throughout a box, of which the smallest and the largest margins are given -----------------


def has_weight(least: Margins, most: Margins) -> bool:
    """Whether the total is above zero."""
    return least.s > 0


def _two_classes_a_side(least: Margins, most: Margins) -> bool:
    return all(sum(x > 0 for x in margin) > 1 for margin in (least.r, least.q))


def _correlated(least: Margins) -> list[bool]:
    """Whether each class always has a correlation of its own: neither nothing nor all is of it, on both sides."""
    return [0 < r < least.s and 0 < q < least.s for r, q in zip(least.r, least.q, strict=True)]


def _one_correlation(least: Margins, most: Margins) -> bool:
    return any(_correlated(least))


def _all_correlations(least: Margins, most: Margins) -> bool:
    return all(always for always, r, q in zip(_correlated(least), most.r, most.q, strict=True) if r and q)


def _same_classes(least: Margins, most: Margins) -> bool:
    """Whether a class that ever has weight, in truth or prediction, always has."""
    never, ever = ([r > 0 or q > 0 for r, q in zip(x.r, x.q, strict=True)] for x in (least, most))
    return never == ever


def _same_classes_in_truth(least: Margins, most: Margins) -> bool:
    never, ever = ([r > 0 for r in x.r] for x in (least, most))
    return never == ever


ENCLOSURES = {
    "mcc": Enclosure(_ecc, ALWAYS, _two_classes_a_side),
    "ecc": Enclosure(_ecc, 0.0, _two_classes_a_side, relaxed=True),
    "mpc1": Enclosure(_mpc1, 0.0, _one_correlation, relaxed=True),
    "mpc2": Enclosure(_mpc2, NEVER, _all_correlations),
    "accuracy": Enclosure(_accuracy, ALWAYS, has_weight),
    "balanced_accuracy": Enclosure(_balanced_accuracy, ALWAYS, has_weight),
    "kappa": Enclosure(_kappa, NEVER, _two_classes_a_side),
    "mean_iou": Enclosure(lambda z, target: _mean_overlap(z, z.iou, z.union, 1.0, 1.0, target), ALWAYS, _same_classes),
    "mean_f1": Enclosure(
        lambda z, target: _mean_overlap(z, z.f1, (z.r + z.q) * 0.5, 0.5, 0.5, target), ALWAYS, _same_classes
    ),
    "mean_recall": Enclosure(
        lambda z, target: _mean_overlap(z, z.recall, z.r, 1.0, 0.0, target), ALWAYS, _same_classes_in_truth
    ),
}
"""By the name of the measure."""

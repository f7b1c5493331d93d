"""What is usually read beside the correlations, from the same table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np

from ..core.arraytypes import FloatArray, Labels, Weights
from ..core.table import Margins, Tabulated
from .arithmetic import mean, mean_of_terms, over_root
from .base import Measure, OnZero, Shares, ZeroDivision, on_zero, registered, scorable_table
from .stacks import PerCell, itself, mean_over, over, per_table, quotient, totals


def _accuracy(m: Margins, zero: OnZero) -> float:
    return sum(m.d) / m.s


def _accuracy_terms(x: Shares) -> tuple[FloatArray, ...]:
    return (x.d,)


def _accuracy_slope(x: Shares, value: Any) -> PerCell:
    none = np.zeros_like(x.r)
    return PerCell(none - per_table(value), none, none + 1.0)


def _balanced_accuracy(m: Margins, zero: OnZero) -> float:
    recalls = [(d, r) for d, r in zip(m.d, m.r, strict=True) if r]
    return mean(lambda bits: [(d << bits) // r for d, r in recalls], len(recalls))


def _kappa(m: Margins, zero: OnZero) -> float:
    chance, square = sum(a * b for a, b in zip(m.r, m.q, strict=True)), m.s * m.s
    if chance == square:
        return zero("y_true and y_pred have all their weight in one and the same class")
    return (m.s * sum(m.d) - chance) / (square - chance)


def _kappa_terms(x: Shares) -> tuple[FloatArray, ...]:
    return x.covariance, x.r * x.not_q


def _kappa_slope(x: Shares, value: Any) -> PerCell:
    scale = over(1.0, totals(x.r * x.not_q))  # 1 / (1 − chance)
    lost = per_table(1 - value)
    rows = lost * (2 * totals(x.r * x.q) - x.q) - totals(x.d)
    return PerCell(rows * scale, -lost * x.r * scale, scale)


class _Overlap(NamedTuple):
    """A mean over classes of TP / (TP + missed · FN + false · FP)."""

    missed: float
    false: float

    def value(self, m: Margins, zero: OnZero) -> float:
        """From margins, exactly."""
        missed, false = int(2 * self.missed), int(2 * self.false)
        classes = list(zip(m.r, m.q, m.d, strict=True))[: m.known]  # void labels are none
        terms = [(2 * d, 2 * d + missed * (r - d) + false * (q - d)) for r, q, d in classes]
        defined = [(n, size) for n, size in terms if size]
        return mean_of_terms(lambda bits: [(n << bits) // size for n, size in defined], len(defined), m.classes, zero)

    def sizes(self, x: Shares) -> FloatArray:
        """TP + missed · FN + false · FP of each class."""
        return np.asarray(x.d + self.missed * (x.r - x.d) + self.false * (x.q - x.d))

    def terms(self, x: Shares) -> tuple[FloatArray, ...]:
        """TP over that, of each class."""
        return (over(x.d, self.sizes(x)),)

    def slope(self, x: Shares, value: Any) -> PerCell:
        """A wrong row of a cell (a, b) is missed in class a and false in class b; a right one adds to both sums."""
        inverse = over(1.0, self.sizes(x)) / x.classes
        lost = over(x.d, self.sizes(x)) * inverse
        return PerCell(-self.missed * lost, -self.false * lost, inverse - (1 - self.missed - self.false) * lost)


def _mean_over_classes(name: str, title: str, formula: str, overlap: _Overlap, about: str) -> Measure:
    about += " The mean runs over the classes that have weight in truth or prediction; each counts alike."
    return Measure(
        name, title, f"mean of {formula} over the classes with r_k + q_k > 0", (0.0, 1.0),
        overlap.value, overlap.terms, mean_over, overlap.slope, about,
        symmetric=overlap.missed == overlap.false, has_terms=lambda m: m.s > 0, over_classes=True,
    )  # fmt: skip


_recall = _Overlap(1.0, 0.0)


def _balanced_accuracy_terms(x: Shares) -> tuple[FloatArray, ...]:
    return *_recall.terms(x), np.sign(x.r)


def _balanced_accuracy_slope(x: Shares, value: Any) -> PerCell:
    return _recall.slope(x._replace(classes=totals(x.r != 0)), value)


# fmt: off
accuracy: Measure = Measure(
    "accuracy", "Accuracy", "T / s", (0.0, 1.0), _accuracy, _accuracy_terms, itself, _accuracy_slope,
    "Share of the weight that is predicted right: overall accuracy.",
)
balanced_accuracy: Measure = Measure(
    "balanced_accuracy", "Balanced accuracy", "mean of C_kk / r_k over the classes with r_k > 0", (0.0, 1.0),
    _balanced_accuracy, _balanced_accuracy_terms, quotient, _balanced_accuracy_slope,
    "Mean recall (producer's accuracy) over the classes that have weight in the truth; each counts alike.",
    symmetric=False, over_classes=True,
)
kappa: Measure = Measure(
    "kappa", "Cohen's kappa", "(s·T − Σ r_k q_k) / (s² − Σ r_k q_k)", (-1.0, 1.0),
    _kappa, _kappa_terms, quotient, _kappa_slope,
    "Cohen's kappa: accuracy beyond that of independent guesses with the same margins, as a share of what is possible.",
)
mean_iou: Measure = _mean_over_classes(
    "mean_iou", "Mean IoU", "C_kk / (r_k + q_k − C_kk)", _Overlap(1.0, 1.0),
    "Mean intersection over union (Jaccard index).",
)
mean_f1: Measure = _mean_over_classes(
    "mean_f1", "Mean F1", "2 C_kk / (r_k + q_k)", _Overlap(0.5, 0.5), "Mean F1 score (Dice coefficient), or macro F1."
)
mean_recall: Measure = _mean_over_classes(
    "mean_recall", "Mean recall", "C_kk / r_k", _recall,
    "Mean recall, or macro recall. A class that is predicted and never true counts as 0; "
    "`wmcc.measures.balanced_accuracy` leaves it out.",
)
# fmt: on


# ---- one number per class ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassMeasure:
    """One number per class, each class against the rest.

    Parameters
    ----------
    name, title, formula
        As in `wmcc.measures.Measure`; r, q and d are the class's row sum, column sum and diagonal cell.
    value
        From (s, r, q, d) of one class to a float64, or None where it is undefined.
    """

    name: str
    title: str
    formula: str
    value: Callable[[int, int, int, int], float | None]

    @overload
    def __call__(self, table: Tabulated, /, *, zero_division: ZeroDivision = ...) -> FloatArray: ...
    @overload
    def __call__(
        self, y_true: Labels, y_pred: Labels, *, sample_weight: Weights = ..., zero_division: ZeroDivision = ...
    ) -> FloatArray: ...
    def __call__(
        self, y_true: Any, y_pred: Any = None, *, sample_weight: Any = None, zero_division: ZeroDivision = 0.0
    ) -> FloatArray:
        """Value per class, in the order of ``table.labels``; the arguments are those of a `wmcc.measures.Measure`."""
        table = scorable_table(y_true, y_pred, sample_weight)
        m, value_for = table.margins, on_zero(zero_division, self.title)
        out = []
        for label, r, q, d in zip(table.labels, m.r, m.q, m.d, strict=True):
            value = self.value(m.s, r, q, d)
            out.append(value_for(f"class {label!r} lacks weight in y_true or y_pred") if value is None else value)
        return np.array(out)

    def __reduce__(self) -> tuple[Any, ...]:
        return registered, ("CLASS_MEASURES", self.name)


def _class_mcc(s: int, r: int, q: int, d: int) -> float | None:
    product = r * (s - r) * q * (s - q)
    return over_root(s * d - r * q, product) + 0.0 if product else None


precision: ClassMeasure = ClassMeasure("precision", "Precision", "d / q", lambda s, r, q, d: d / q if q else None)
recall: ClassMeasure = ClassMeasure("recall", "Recall", "d / r", lambda s, r, q, d: d / r if r else None)
f1: ClassMeasure = ClassMeasure("f1", "F1", "2d / (r + q)", lambda s, r, q, d: 2 * d / (r + q) if r + q else None)
iou: ClassMeasure = ClassMeasure("iou", "IoU", "d / (r + q − d)", lambda s, r, q, d: d / (r + q - d) if r + q else None)
class_mcc: ClassMeasure = ClassMeasure("mcc", "MCC", "(s·d − r q) / √(r (s−r) q (s−q))", _class_mcc)

"""The measures once more, in exact rationals and independent of the library: the judge of its numbers.

Written from the definitions (the paper, Section 2), cell by cell; only the last step leaves the rationals,
for one square root per term in 900 digits.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from decimal import Decimal, localcontext
from fractions import Fraction

DIGITS = 900
Matrix = list[list[Fraction]]


def matrix(y_true, y_pred, weights, labels) -> Matrix:
    """Exact sums of weights per cell."""
    place = {label: k for k, label in enumerate(labels)}
    C = [[Fraction(0)] * len(labels) for _ in labels]
    for t, p, w in zip(y_true, y_pred, weights, strict=True):
        C[place[t]][place[p]] += Fraction(w)
    return C


def squares(y_true, y_pred, weights, labels) -> Matrix:
    """Exact sums of the squares, each rounded to 53 bits without limits on the exponent."""
    return matrix(y_true, y_pred, [_rounded_square(float(w)) for w in weights], labels)


def _rounded_square(w: float) -> Fraction:
    fraction, exponent = math.frexp(w)
    return Fraction(fraction * fraction) * Fraction(2) ** (2 * exponent)


@contextmanager
def precision():
    """Decimals of DIGITS digits and any size."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = DIGITS, -(10**9), 10**9
        yield


def real(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def _sums(C: Matrix):
    K = range(len(C))
    s = sum(sum(row) for row in C)
    r = [sum(C[k]) for k in K]
    q = [sum(C[a][k] for a in K) for k in K]
    return s, r, q, [C[k][k] for k in K]


def _one_vs_rest(C: Matrix, k: int):
    """TP, FP, FN, TN of class k."""
    K = range(len(C))
    tp = C[k][k]
    fp = sum(C[a][k] for a in K if a != k)
    fn = sum(C[k][b] for b in K if b != k)
    tn = sum(C[a][b] for a in K for b in K if a != k and b != k)
    return tp, fp, fn, tn


def _phi(tp, fp, fn, tn) -> Decimal | None:
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return None if product == 0 else real(tp * tn - fp * fn) / real(product).sqrt()


def mcc(C: Matrix) -> Decimal | None:
    if len(C) == 1:
        return None
    (tn, fp), (fn, tp) = C
    return _phi(tp, fp, fn, tn)


def ecc(C: Matrix) -> Decimal | None:
    s, r, q, d = _sums(C)
    product = (s * s - sum(x * x for x in r)) * (s * s - sum(x * x for x in q))
    if product == 0:
        return None
    return real(s * sum(d) - sum(a * b for a, b in zip(r, q, strict=True))) / real(product).sqrt()


def mpc1(C: Matrix) -> Decimal | None:
    s, r, q, d = _sums(C)
    roots = [real(a * (s - a) * b * (s - b)).sqrt() for a, b in zip(r, q, strict=True)]
    if not any(roots):
        return None
    return real(sum(s * c - a * b for c, a, b in zip(d, r, q, strict=True))) / sum(roots)


def classes_of(C: Matrix) -> list[int]:
    """Classes with weight in truth or prediction."""
    return [k for k in range(len(C)) if any(C[k]) or any(row[k] for row in C)]


def _mean_over_classes(C: Matrix, of_class, classes: list[int] | None) -> Decimal:
    """Over the classes with weight in truth or prediction, or over these; a term that is undefined counts as 0."""
    classes = classes_of(C) if classes is None else classes
    terms = [of_class(*_one_vs_rest(C, k)) for k in classes]
    return sum((x for x in terms if x is not None), Decimal(0)) / len(classes)


def mpc2(C: Matrix, classes: list[int] | None = None) -> Decimal:
    return _mean_over_classes(C, _phi, classes)


def mean_iou(C: Matrix, classes: list[int] | None = None) -> Decimal:
    return _mean_over_classes(C, CLASS_MEASURES["iou"], classes)


def mean_f1(C: Matrix, classes: list[int] | None = None) -> Decimal:
    return _mean_over_classes(C, CLASS_MEASURES["f1"], classes)


def mean_recall(C: Matrix, classes: list[int] | None = None) -> Decimal:
    return _mean_over_classes(C, CLASS_MEASURES["recall"], classes)


def accuracy(C: Matrix) -> Decimal:
    s, _, _, d = _sums(C)
    return real(sum(d) / s)


def balanced_accuracy(C: Matrix) -> Decimal:
    recalls = [d / r for d, r in zip(_sums(C)[3], _sums(C)[1], strict=True) if r]
    return real(sum(recalls) / len(recalls))


def kappa(C: Matrix) -> Decimal | None:
    s, r, q, d = _sums(C)
    observed, chance = sum(d) / s, sum(a * b for a, b in zip(r, q, strict=True)) / (s * s)
    return None if chance == 1 else real((observed - chance) / (1 - chance))


MEASURES = {
    f.__name__: f for f in (mcc, ecc, mpc1, mpc2, accuracy, balanced_accuracy, kappa, mean_iou, mean_f1, mean_recall)
}


def _quotient(n: Fraction, d: Fraction) -> Decimal | None:
    return real(n / d) if d else None


CLASS_MEASURES = {
    "precision": lambda tp, fp, fn, tn: _quotient(tp, tp + fp),
    "recall": lambda tp, fp, fn, tn: _quotient(tp, tp + fn),
    "f1": lambda tp, fp, fn, tn: _quotient(2 * tp, 2 * tp + fp + fn),
    "iou": lambda tp, fp, fn, tn: _quotient(tp, tp + fp + fn),
    "mcc": _phi,
}


MEANS = {"mpc2", "mean_iou", "mean_f1", "mean_recall"}


def exact(name: str, C: Matrix, classes: list[int] | None = None) -> Decimal | None:
    """Value of a measure to DIGITS digits; None where it is undefined. A mean may be over given classes."""
    with precision():
        return MEASURES[name](C, classes) if name in MEANS else MEASURES[name](C)


def exact_class(name: str, C: Matrix, k: int) -> Decimal | None:
    with precision():
        return CLASS_MEASURES[name](*_one_vs_rest(C, k))


def ulps(got: float, true: Decimal) -> float:
    """Distance in units of the last place of the true value."""
    with precision():
        return float(abs(Decimal(got) - true) / Decimal(math.ulp(float(true))))

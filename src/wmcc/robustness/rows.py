"""What needs rows: weights of each row that reach a certified end, and the influence of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..core.labels import Label
from ..errors import InputError
from ..sources.columns import check_shapes, fitted, label_column, weight_array
from .span import down, up

if TYPE_CHECKING:
    from .certificate import Certificate

LARGEST = float(np.finfo(np.float64).max)


def row_codes(labels: tuple[Label, ...], y_true: Any, y_pred: Any) -> IntArray:
    """Positions of the true and the predicted label of each row, −1 where they are unknown; each in the rows' shape."""
    read = [label_column(column, name) for column, name in ((y_true, "y_true"), (y_pred, "y_pred"))]
    check_shapes(read)
    place = {label: k for k, label in enumerate(labels)}
    codes = [[place.get(x, -1) for x in column.labels(slice(None))] for column in read]
    return np.array(codes, dtype=np.int64).reshape(2, *read[0].values.shape)


def witness_weights(
    certificate: Certificate, end: str, y_true: Any, y_pred: Any, sample_weight: Any, lower: Any, upper: Any
) -> FloatArray:
    """Return a weight for each row with which the measure has the value attained at an end: `Certificate.weights`."""
    if end not in ("low", "high"):
        raise InputError(f"end is {str(end)[:40]!r}; expected 'low' or 'high'.")
    witness = certificate.lower if end == "low" else certificate.upper
    rows = row_codes(certificate.labels, y_true, y_pred)
    position = cell_values(witness.at, witness.codes, rows)
    given = np.ones(position.shape) if sample_weight is None else weight_array(sample_weight)
    w = np.asarray(fitted(given, position.shape, matrix=False), dtype=np.float64)
    if certificate.model == "relative":
        least, most = share_limits(w, certificate.eps)
    elif certificate.model == "absolute":
        step = witness.box.step
        less = certificate.eps if step is None else cell_values(step, witness.codes, rows)
        least, most = amount_limits(w, less, certificate.eps)
    else:
        least, most = (w if x is None else np.asarray(x, dtype=np.float64).reshape(w.shape) for x in (lower, upper))
    at = np.clip(least + np.nan_to_num(position) * (most - least), least, most)
    return np.asarray(np.where(np.isnan(position), w, at))


def cell_values(of_cells: FloatArray, codes: IntArray, rows: IntArray) -> FloatArray:
    """Look up the number of each row's cell among cells in the order of their codes; rows are given by codes, too.

    NaN where there is no such cell.
    """
    K = int(codes.max()) + 1
    key, wanted = codes[0] * K + codes[1], rows[0] * K + rows[1]
    place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    found = (codes[0][place] == rows[0]) & (codes[1][place] == rows[1])
    return np.where(found, of_cells[place], np.nan)


def share_limits(w: FloatArray, eps: float) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest float64 that is no further from each weight than a share ε < 1 of it."""
    if eps < 2.0**-60:  # no other number is that near
        return w, w
    size, exponent = np.frexp(w)
    product = eps * size
    least, most = _limits(size, product, _lost(eps, size, product))
    if eps >= 0.5:  # little may be left of a difference; but 1 − ε is not rounded
        product = (1 - eps) * size
        least = np.where(_lost(1 - eps, size, product) > 0, up(product), product)
    low, high = (np.ldexp(x, exponent) for x in (least, most))  # rounded where weights are subnormal
    low = np.where(np.ldexp(low, -exponent) < least, up(low), low)
    high = np.where(np.ldexp(np.minimum(high, LARGEST), -exponent) > most, down(high), np.minimum(high, LARGEST))
    return low, high


def amount_limits(w: FloatArray, less: Any, more: float) -> tuple[FloatArray, FloatArray]:
    """Smallest float64 that is not below w − less, nor below 0, and largest that is not above w + more."""
    with np.errstate(over="ignore", invalid="ignore"):
        least, most = _limits(w, less, 0.0)[0], _limits(w, more, 0.0)[1]
    return np.maximum(least, 0.0), np.where(np.isfinite(most), most, LARGEST)


def _limits(w: FloatArray, step: Any, lost: Any) -> tuple[FloatArray, FloatArray]:
    """Return w − (step + lost) and w + (step + lost), rounded towards w; rounding took ``lost`` from the step."""
    low, high = w - step, w + step
    return (
        np.where(_rest(w, -step, low) > lost, up(low), low),
        np.where(_rest(w, step, high) < -lost, down(high), high),
    )


def _rest(a: FloatArray, b: Any, total: FloatArray) -> FloatArray:
    """Return a + b − total, exactly, for the rounded sum of two numbers."""
    part = total - a
    return np.asarray((a - (total - part)) + (b - part))


def _lost(a: Any, b: FloatArray, product: FloatArray) -> FloatArray:
    """Return a b − product, exactly, for the rounded product of two numbers of ordinary size."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return np.asarray(((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low)


def _halves(x: Any) -> tuple[Any, Any]:
    """A number as the sum of two of 26 bits."""
    most = 134217729.0 * x
    high = most - (most - x)
    return high, x - high

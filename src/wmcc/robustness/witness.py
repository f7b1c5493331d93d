"""From what is known of cells to the rows in them: a number for each row, and the weights that it may have."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arraytypes import FloatArray
from ..labels import Label
from ..sources.columns import label_column
from ..sources.shapes import check_shapes
from .interval import down, up

LARGEST = float(np.finfo(np.float64).max)


def row_values(of_cells: FloatArray, labels: tuple[Label, ...], *columns: Any) -> FloatArray:
    """Look up a number for each row by its labels, one column per axis of ``of_cells``; NaN if they are unknown."""
    names = ("y_true", "y_pred", "the second prediction")
    read = [label_column(column, name) for column, name in zip(columns, names, strict=False)]
    check_shapes(read, None)
    place = {label: k for k, label in enumerate(labels)}
    codes = [np.array([place.get(x, -1) for x in column.labels(slice(None))], dtype=np.intp) for column in read]
    known = np.logical_and.reduce([code >= 0 for code in codes])
    return np.where(known, of_cells[tuple(codes)], np.nan).reshape(read[0].values.shape)


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

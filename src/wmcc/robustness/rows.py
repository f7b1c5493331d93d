"""What needs rows: weights of each row that reach a certified end, and the influence of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..core.exact import nearest_float
from ..core.labels import Label, listed
from ..core.stack import Beside
from ..core.table import Table
from ..errors import InputError, WmccError
from ..present.text import counted, number
from ..sources import tabulate_part
from ..sources.columns import check_shapes, fitted, label_column, weight_array
from ..sources.request import Request
from .interval_arithmetic import UNIT, down, up

if TYPE_CHECKING:
    from .certificate import Certificate

LARGEST = float(np.finfo(np.float64).max)


def row_codes(labels: tuple[Label, ...], y_true: Any, y_pred: Any) -> IntArray:
    """Positions of the true and the predicted label of each row, −1 where they are unknown; each in the rows' shape."""
    given = (y_true, "y_true"), (y_pred, "y_pred")
    read = [label_column(column, name, skip_missing=True) for column, name in given]
    check_shapes(read)
    place = {label: k for k, label in enumerate(labels)}
    codes = [[place.get(x, -1) for x in column.labels(slice(None))] for column in read]
    return np.array(codes, dtype=np.int64).reshape(2, *read[0].values.shape)


def witness_weights(
    certificate: Certificate, end: str, y_true: Any, y_pred: Any, sample_weight: Any, lower: Any, upper: Any
) -> FloatArray:
    """Return a weight for each row with which the measure has the value attained at an end: `Certificate.weights`."""
    if end not in ("low", "high"):
        raise InputError.of("end", end, "'low' or 'high'")
    if certificate.problem is not None:
        raise InputError(f"there is no range, so no weights reach an end of it: {certificate.problem}.")
    if certificate.model == "missing" or certificate.fixed == "poststrata":
        what = "labels are missing" if certificate.model == "missing" else "totals of post-strata are fixed"
        raise InputError(f"there are no weights for single rows where {what}.", "an end has the sums of its cells.")
    table, box = certificate.certified, certificate.lower.box
    witness = certificate.lower if end == "low" else certificate.upper
    rows = row_codes(certificate.labels, y_true, y_pred)
    w = np.ones(rows.shape[1:]) if sample_weight is None else _per_row(sample_weight, rows, "sample_weight")
    sums = table.cells.sums.w_exact.floats()
    _check_rows(table, rows, w, sums, "sample_weight")
    position = cell_values(witness.at, witness.codes, rows)
    if certificate.model == "relative":
        least, most = share_limits(w, certificate.eps)
    elif certificate.model == "absolute":
        step = witness.box.step
        less = certificate.eps if step is None else cell_values(step, witness.codes, rows)
        least, most = amount_limits(w, less, certificate.eps)
    else:
        least, most = (w if x is None else _per_row(x, rows, name) for x, name in ((lower, "lower"), (upper, "upper")))
        for bound, ends, name in ((least, box.low, "lower"), (most, box.high, "upper")):
            _check_rows(table, rows, bound, np.array([nearest_float(x, box.exponent) for x in ends]), name)
    at = np.clip(least + np.nan_to_num(position) * (most - least), least, most)
    return np.asarray(np.where(np.isnan(position), w, at))


def _per_row(given: Any, rows: IntArray, name: str) -> FloatArray:
    """Return a weight for each row as float64."""
    try:
        return np.asarray(fitted(weight_array(given, name), rows.shape[1:], matrix=False), dtype=np.float64)
    except WmccError as problem:
        raise problem if name == "sample_weight" else problem.about(name) from None


def _check_rows(table: Table, rows: IntArray, w: FloatArray, sums: FloatArray, name: str) -> None:
    """Refuse rows that do not make the cells of a table, with these sums of their weights, which have a name."""
    there = (rows >= 0).all(axis=0) & (rows[0] < len(table.classes))
    unknown = int(there.size - there.sum())
    if unknown > table.ignored:
        row = int(np.argmin(there.reshape(-1)))
        raise InputError(
            f"{counted(unknown, 'row')} ({row} is the first) {'has' if unknown == 1 else 'have'} a label that is no "
            f"class of the certified table; its classes are {listed(table.classes)}, and "
            f"{counted(table.ignored, 'row')} had such a label when it was made.",
            "give the rows that were tabulated, with labels as the table has them.",
        )
    try:
        made = tabulate_part(Request(np.where(there, rows[0], -1), np.where(there, rows[1], 0), w, ignore=-1))
    except WmccError as problem:
        raise problem if name == "sample_weight" else problem.about(name) from None
    assert isinstance(made, Table)
    place = np.array(made.labels, dtype=np.int64)
    both = Beside.of(table.cells, made.cells.recoded({0: place, 1: place}))
    both.w[0, both.n[0] > 0] = sums
    differ = both.differ((both.n[0] + 8) * UNIT)  # engines round each addition
    if differ.any():
        raise _other_rows(table, both, int(np.argmax(differ)), name)


def _other_rows(table: Table, both: Beside, cell: int, name: str) -> InputError:
    """Say in which cell rows do not make a table, and what may be the reason."""
    (n, m), (x, y) = both.n[:, cell].tolist(), both.w[:, cell].tolist()
    true, pred = (table.labels[k] for k in both.codes[:, cell])
    keys = list(map(tuple, both.codes.T.tolist()))
    rows, given = ({key: count for key, count in zip(keys, counts, strict=True) if count} for counts in both.n.tolist())
    hint = "give all rows that were tabulated, and no others."
    if rows == given:
        design = name == "sample_weight" and table.drawn.factors is not None
        hint = f"give {name}= {'the weights that rows have by the design' if design else 'as it was for the table'}."
    elif rows == {(p, t): count for (t, p), count in given.items()}:
        hint = "y_true and y_pred seem to be exchanged."
    digits = 6 if number(x) != number(y) else 17
    return InputError(
        f"the rows do not make the table that was certified: true {true!r}, predicted {pred!r} has "
        f"{counted(n, 'row')} of weight {number(x, digits)} there, and {m:,} of weight {number(y, digits)} in what was "
        "given.",
        hint,
        name if rows == given else None,
    )


def cell_values(of_cells: FloatArray, codes: IntArray, rows: IntArray) -> FloatArray:
    """Look up the number of each row's cell among cells in the order of their codes; rows are given by codes, too.

    NaN where there is no such cell.
    """
    K = int(codes.max()) + 1
    key, wanted = codes[0] * K + codes[1], rows[0] * K + rows[1]
    place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    known = (codes[0][place] == rows[0]) & (codes[1][place] == rows[1])
    return np.where(known, of_cells[place], np.nan)


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

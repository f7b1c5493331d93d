"""Whether sums can be those of any rows: what holds for every cell of every table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .arraytypes import Array, FloatArray, IntArray
from .exact import Exact, integers
from .labels import Label

if TYPE_CHECKING:
    from fractions import Fraction  # imported where something is wrong: it takes a while

Names = Callable[[tuple[int, ...]], str]
"""What to call a cell, from its index."""

HINT = "w is the sum of the weights of a cell's rows, and w2 the sum of the squares of these weights."


def by_number(cell: tuple[int, ...]) -> str:
    """Name a cell whose labels are not known here."""
    return f"cell {list(cell)}"


def by_labels(labels: Sequence[Label]) -> Names:
    """Name the cells of a confusion table of these classes."""
    return lambda cell: f"the cell of true {labels[cell[0]]!r} and predicted {labels[cell[1]]!r}"


def by_codes(labels: Sequence[Label], codes: IntArray) -> Names:
    """Name listed cells, whose first codes are those of the true class and of a prediction."""
    return lambda cell: by_labels(labels)((codes[0, cell[0]], codes[1, cell[0]]))


def check_sums(sums: FloatArray, what: str, name: Names = by_number, vanished: Any = False) -> None:
    """Refuse sums of one kind that are negative, NaN or beyond the range of float64."""
    _refuse(~(sums >= 0), name, lambda at: f"{what} is {sums[at]}; expected a number of at least 0")
    beyond = (sums == np.inf) | vanished
    _refuse(beyond, name, lambda at: f"{what} is {sums[at]}, beyond the range of float64", "scale the weights.")


def check_cells(n: IntArray, w: Exact, w2: Exact, low: FloatArray, high: FloatArray, name: Names = by_number) -> None:
    """Refuse sums that no rows can have.

    Of n weights from a to b, with the sum s and the sum of squares q, it is true that

        n a ≤ s ≤ n b    and    s² / n ≤ q ≤ (a + b) s − n a b

    the latter since Σ(w − s/n)² and Σ(w − a)(b − w) are not negative. It includes a s ≤ q ≤ b s. The ends a and b may
    lie further out than the weights do, as they may in a difference of tables.

    Parameters
    ----------
    n
        Number of rows per cell.
    w, w2
        Sums of their weights, and of the squares of these.
    low, high
        Smallest and largest weight; NaN where there are no rows.
    name
        What to call a cell, for messages.
    """
    used = n > 0
    _refuse(
        ~used & (w.digits.any(axis=0) | w2.digits.any(axis=0)),
        name,
        lambda at: f"n is 0, w is {_text(_at(w, at))} and w2 is {_text(_at(w2, at))}; the sums of no rows are 0",
    )
    ordered = (low >= 0) & (low <= high) & (high < np.inf)
    _refuse(
        used & ~ordered,
        name,
        lambda at: f"w_min is {low[at]} and w_max is {high[at]}; expected finite numbers of at least 0, in this order",
    )
    # In units of a power of two near the largest weight: there nothing overflows, and what underflows is nothing.
    power = np.frexp(np.where(used, high, 0.0))[1].astype(np.int64)
    with np.errstate(over="ignore", under="ignore"):
        rows, s, q = n.astype(np.float64), w.floats(-power), w2.floats(-2 * power)
        a, b = (np.ldexp(np.where(used, x, 0.0), -power) for x in (low, high))
        # Lazy engines sum in float64: each of n additions is off by 2**-53 of the sum at most, and up to three such
        # sums stand in a bound. Squares are rounded to 53 bits, too, and sums and ends that fade are at each update:
        # 1e-6 is room for a billion of these. Below the normal numbers of float64 there are no digits to rely on,
        # neither in ends that fade nor in squares that an engine made.
        near = 1e-6 + 4 * rows * 2.0**-53
        tiny, tiny2 = (rows * (np.ldexp(1.0, -1022 - k * power) + 2.0**-1022) for k in (1, 2))
        wrong = {
            "low": s < rows * a * (1 - near) - tiny,
            "high": s > rows * b * (1 + near) + tiny,
            "even": q < s * s / np.maximum(rows, 1) * (1 - near) - tiny2,
            "uneven": q > (a + b) * s - rows * a * b + near * b * s + tiny2,
        }
    for which, cells in wrong.items():
        _refuse(cells & used, name, partial(_said, which, n, w, w2, low, high), HINT)


def _said(which: str, n: IntArray, w: Exact, w2: Exact, low: FloatArray, high: FloatArray, at: Any) -> str:
    """Say what a cell's sums are and why they cannot be."""
    from fractions import Fraction

    rows, s, q, a, b = Fraction(int(n[at])), _at(w, at), _at(w2, at), Fraction(low[at]), Fraction(high[at])
    why = {
        "low": f"each row weighs at least w_min, so w is at least {_text(rows * a)}",
        "high": f"each row weighs at most w_max, so w is at most {_text(rows * b)}",
        "even": f"w2 is smallest where all rows weigh the same, and then it is w² / n = {_text(s * s / rows)}",
        "uneven": f"w2 is largest where rows weigh w_min or w_max, and then it is {_text((a + b) * s - rows * a * b)}",
    }
    sums = {"n": rows, "w": s, "w2": q, "w_min": a, "w_max": b}
    return f"{', '.join(f'{key} = {_text(x)}' for key, x in sums.items())}; but {why[which]}"


def _refuse(wrong: Array, name: Names, say: Callable[[Any], str], hint: str | None = None) -> None:
    """Refuse the first cell that is wrong, if there is one."""
    if wrong.any():
        at = tuple(int(k) for k in np.argwhere(wrong)[0])
        raise InputError(f"{name(at)} has impossible sums: {say(at)}.", hint)


def _at(x: Exact, at: Any) -> Fraction:
    from fractions import Fraction

    return Fraction(integers(x.digits[(slice(None), *at)])) * Fraction(2) ** x.exponent


def _text(x: Fraction) -> str:
    """Write a number, of any size: as float64 has it, and shorter where it has not."""
    if x.denominator == 1 and x < 1 << 53:
        return str(x.numerator)
    if not x or 1e-300 < x < 1e300:
        return repr(float(x))
    return f"{Decimal(x.numerator) / Decimal(x.denominator):.6g}"

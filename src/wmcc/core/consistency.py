"""Whether sums can be those of any rows: what holds for every cell of every table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..errors import InputError
from .arraytypes import Array, FloatArray, IntArray
from .exact import Exact
from .labels import Label

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

    def broken(why: str, at: Any) -> str:
        numbers = {"n": n, "w": w.floats(), "w2": w2.floats(), "w_min": low, "w_max": high}
        return ", ".join(f"{what} = {float(x[at]):.12g}" for what, x in numbers.items()) + f"; but {why}"

    weighty = w.digits.any(axis=0) | w2.digits.any(axis=0)
    _refuse(~used & weighty, name, partial(broken, "the sums of no rows are 0"))
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
            "each row weighs at least w_min, so w is at least n · w_min": s < rows * a * (1 - near) - tiny,
            "each row weighs at most w_max, so w is at most n · w_max": s > rows * b * (1 + near) + tiny,
            "w2 is smallest where all rows weigh the same, and then it is w² / n": (
                q < s * s / np.maximum(rows, 1) * (1 - near) - tiny2
            ),
            "w2 is largest where rows weigh w_min or w_max, and then it is (w_min + w_max) · w − n · w_min · w_max": (
                q > (a + b) * s - rows * a * b + near * b * s + tiny2
            ),
        }
    for why, cells in wrong.items():
        _refuse(cells & used, name, partial(broken, why), HINT)


def _refuse(wrong: Array, name: Names, say: Callable[[Any], str], hint: str | None = None) -> None:
    """Refuse the first cell that is wrong, if there is one."""
    if wrong.any():
        at = tuple(int(k) for k in np.argwhere(wrong)[0])
        raise InputError(f"{name(at)} has impossible sums: {say(at)}.", hint)

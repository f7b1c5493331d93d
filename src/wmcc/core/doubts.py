"""What looks like a mistake of the caller's and may be none: it is warned of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import warn
from .labels import MISSING, listed

FEW_OUTPUTS, MOST_OUTPUTS = 8, 100
"""Columns: no image has as few as the one, and outputs are seldom more than the other."""


def warn_of_void(table: Any, truth: str, pred: str, order: str) -> None:
    """Warn if an ignored label is predicted and never true, as it is when truth and prediction are swapped.

    Several predictions have names, and are not swapped.
    """
    void = tuple(label for label in table.void if label != MISSING)
    if void and not getattr(table, "names", ()) and not np.any(table.ignored):
        several = len(void) > 1
        warn(
            f"`{pred}` has the ignored label{'s' * several} {listed(void)} and `{truth}` never has "
            f"{'one' if several else 'it'}, so all these predictions count as wrong. If truth and prediction were "
            f"swapped, the whole table is wrong: {order}."
        )


def look_like_outputs(rows: int, columns: int) -> bool:
    """Whether labels of two axes are rows with several outputs each, rather than the pixels of an image.

    An image is seldom narrow and high: there are at most 100 columns, and more than twice as many rows; more rows than
    columns are enough if there are at most 8.
    """
    return 1 < columns <= MOST_OUTPUTS and rows > columns * (1 if columns <= FEW_OUTPUTS else 2)


def warn_of_outputs(columns: int, truth: str, pred: str, flat: str, image: str = "", loss: bool = False) -> None:
    """Warn that columns of 0 and 1 are counted together; ``flat`` and ``image`` make vectors and an image of them."""
    what, found, good = ("loss", "1 minus the", "low") if loss else ("score", "the", "high")
    as_image = f" If this is one image, pass {truth}{image} and {pred}{image}." if image else ""
    warn(
        f"`{truth}` and `{pred}` have {columns} columns of 0 and 1, and all of them are counted together, as one "
        f"table: the {what} is {found} micro average over {columns} outputs. It can be {good} where no column is "
        "predicted better than by chance, if some have more ones than others. "
        f"For a {what} of each output pass {truth}[:, k] and {pred}[:, k]. "
        f"If all are one output, pass {truth}{flat} and {pred}{flat}, and weights likewise.{as_image}"
    )

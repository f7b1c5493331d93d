"""Arrays over the cells of a table, or of a stack of tables."""

from __future__ import annotations

import numpy as np

from ..arraytypes import FloatArray


def over(x: FloatArray | float, y: FloatArray) -> FloatArray:
    """x/y, and 0 where that is undefined."""
    return np.asarray(x / np.where(y > 0, y, np.inf))


def per_cell(by_row: FloatArray, by_column: FloatArray, diagonal: FloatArray | float | None = None) -> FloatArray:
    """K x K array, or a stack, from what depends on a cell's row, on its column, and on being correct."""
    cells = np.asarray(by_row[..., :, np.newaxis] + by_column[..., np.newaxis, :])
    if diagonal is not None:
        correct = np.arange(by_row.shape[-1])
        cells[..., correct, correct] += diagonal
    return cells


def per_table(x: FloatArray) -> FloatArray:
    """A number per table, to be multiplied by what is per cell."""
    return np.asarray(x)[..., np.newaxis, np.newaxis]

"""From what is known of cells to the rows in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arraytypes import FloatArray
from ..labels import Label
from ..sources.columns import label_column
from ..sources.shapes import check_shapes


def row_values(of_cells: FloatArray, labels: tuple[Label, ...], *columns: Any) -> FloatArray:
    """Look up a number for each row by its labels, one column per axis of ``of_cells``; NaN if they are unknown."""
    names = ("y_true", "y_pred", "the second prediction")
    read = [label_column(column, name) for column, name in zip(columns, names, strict=False)]
    check_shapes(read, None)
    place = {label: k for k, label in enumerate(labels)}
    codes = [np.array([place.get(x, -1) for x in column.labels(slice(None))], dtype=np.intp) for column in read]
    known = np.logical_and.reduce([code >= 0 for code in codes])
    return np.where(known, of_cells[tuple(codes)], np.nan).reshape(read[0].values.shape)

"""From a witness, which is about cells, to the rows in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arraytypes import FloatArray
from ..labels import Label
from ..sources.columns import label_column, weight_array
from ..sources.shapes import check_shapes


def row_positions(
    position: FloatArray, labels: tuple[Label, ...], y_true: Any, y_pred: Any, sample_weight: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the position of each row's cell (NaN for rows whose labels are not in the table) and its weight."""
    truth, pred = label_column(y_true, "y_true"), label_column(y_pred, "y_pred")
    weights = None if sample_weight is None else weight_array(sample_weight)
    check_shapes(truth.values, pred.values, weights)
    place = {label: k for k, label in enumerate(labels)}
    everything = slice(None)
    codes = [np.array([place.get(x, -1) for x in column.labels(everything)], dtype=np.intp) for column in (truth, pred)]
    known = (codes[0] >= 0) & (codes[1] >= 0)
    found = np.where(known, position[codes[0], codes[1]], np.nan)
    w = np.ones(found.shape) if weights is None else np.asarray(weights, dtype=np.float64).reshape(-1)
    return found.reshape(truth.values.shape), w.reshape(truth.values.shape)

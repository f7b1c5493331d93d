"""What the shapes of labels and weights tell about a mistake."""

from __future__ import annotations

from ..core.arraytypes import Array
from ..errors import InputError
from .columns import Column


def check_shapes(columns: list[Column], weights: Array | None) -> None:
    """Refuse shapes that differ, no rows, and one-hot rows."""
    for name, array in [*((x.name, x.values) for x in columns), ("sample_weight", weights)]:
        if array is not None and array.ndim == 0:
            raise InputError(f"{name} is a single value ({array.item()!r}); expected one per observation.")
    (_, truth, *_), *predictions = columns
    for name, pred, *_ in predictions:
        if truth.shape != pred.shape:
            raise InputError(
                f"y_true and {name} must have the same shape; they have {truth.shape} and {pred.shape}.",
                _shape_hint(truth, pred),
            )
    if weights is not None and weights.shape != truth.shape:
        matrix = ", or for N labels a matrix of N x N" if len(predictions) == 1 else ""
        raise InputError(
            f"sample_weight must have the shape of the labels, {truth.shape}; it has {weights.shape}.",
            f"give one weight per observation{matrix}.",
        )
    if truth.size == 0:
        raise InputError(f"there are no rows: {' and '.join(column.name for column in columns)} are empty.")
    for name, pred, *_ in predictions:
        if _is_one_hot(truth) and _is_one_hot(pred):
            raise InputError(
                f"y_true and {name} of shape {truth.shape} look like one-hot rows: a single 1 in each.",
                "pass y.argmax(axis=1); if they are label maps of an image, pass y.ravel().",
            )


def _shape_hint(truth: Array, pred: Array) -> str | None:
    a, b = sorted((truth, pred), key=lambda x: x.ndim)
    if b.ndim == a.ndim + 1 and b.shape[:-1] == a.shape:
        if b.shape[-1] == 1:
            return "drop the last axis with y[..., 0]."
        return f"an axis of {b.shape[-1]} looks like one-hot rows or probabilities; pass y.argmax(axis=-1)."
    if b.ndim == a.ndim + 1 and b.shape[:1] + b.shape[2:] == a.shape:
        return f"an axis of {b.shape[1]} looks like one channel per class; pass y.argmax(axis=1)."
    return None


def _is_one_hot(values: Array) -> bool:
    if values.ndim != 2 or values.shape[1] < 2 or values.dtype.kind not in "biu":
        return False
    head = values[:64]  # an image whose first rows all hold a single 1 is rare; a look at a few rows is cheap
    if not (((head == 0) | (head == 1)).all() and (head.sum(axis=1) == 1).all()):
        return False
    return bool(((values == 0) | (values == 1)).all() and (values.sum(axis=1) == 1).all())

"""Everything that makes a Table. `tabulate` is the one front door."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import labels as _labels
from ..arraytypes import Array
from ..errors import InputError
from ..table import Table
from .arrays import tabulate_arrays
from .codebook import Rules
from .columns import label_column, weight_array


def tabulate(
    y_true: Any,
    y_pred: Any,
    sample_weight: Any = None,
    *,
    labels: Any = None,
    ignore: Any = None,
    positive: Any = None,
    threads: int | None = None,
) -> Table:
    r"""Tabulate true and predicted labels, with a weight per observation.

    Parameters
    ----------
    y_true, y_pred
        Labels: integers, booleans or strings, in arrays of any shape (two label maps of one image will do),
        lists, series of pandas, polars or PyArrow, CPU tensors, or anything that speaks NumPy's array protocols
        or DLPack. Categorical series are read as their codes.
    sample_weight
        One finite number of at least 0 per observation, in the shape of the labels; None counts each once.
        float32 and float64 are read as they are; other numbers are converted to float64.
    labels
        The classes and their order. A label that is not among them is an error, unless ``ignore`` names it.
        Without it the classes are the labels that occur, sorted.
    ignore
        A label, or several (255 in segmentation): rows whose true or predicted label is one of them are left
        out, and their number is kept in `Table.ignored`. Their weights are not looked at.
    positive
        The positive class of a two-class problem, for reports. The measures do not depend on it.
    threads
        Number of threads, 256 at most; by default one per processor, and one for short inputs. The table is
        the same to the last bit for any number, and for any order of the rows.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        Lengths or shapes that differ, no rows, missing or unknown labels, weights that are negative or not
        finite, more than 2,048 classes. The message names the first bad row and its value.
    InputTypeError
        Containers, labels or weights of a kind that cannot be scored, or labels of mixed kinds.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.tabulate(["oak", "elm", "elm"], ["oak", "elm", "oak"], [300, 2, 7.5])
    Table of 2 classes: 3 rows, total weight 309.5
    true \ predicted  elm  oak
    elm                 2  7.5
    oak                 0  300
    >>> wmcc.tabulate([[0, 1], [255, 1]], [[0, 1], [0, 0]], ignore=255).ignored
    1
    """
    truth, pred = label_column(y_true, "y_true"), label_column(y_pred, "y_pred")
    weights = None if sample_weight is None else weight_array(sample_weight)
    _check_shapes(truth.values, pred.values, weights)
    rules = Rules(
        None if labels is None else _labels.given(labels),
        () if ignore is None else _labels.given(ignore, "ignore"),
        None if positive is None else _labels.as_label(positive, "positive"),
    )
    both = set(rules.labels or ()) & set(rules.ignore)
    if both:
        raise InputError(f"{next(iter(both))!r} is in labels and in ignore; it cannot be both.")
    if threads is not None:
        threads = _whole_number(threads, "threads")
    return tabulate_arrays(truth, pred, weights, rules, threads)


def _whole_number(value: Any, name: str) -> int:
    if isinstance(value, (int, np.integer)) and value >= 1 and not isinstance(value, bool):
        return int(value)
    raise InputError(f"{name} is {value!r}; expected a whole number of at least 1, or None.")


def _check_shapes(truth: Array, pred: Array, weights: Array | None) -> None:
    for name, array in (("y_true", truth), ("y_pred", pred), ("sample_weight", weights)):
        if array is not None and array.ndim == 0:
            raise InputError(f"{name} is a single value ({array.item()!r}); expected one per observation.")
    if truth.shape != pred.shape:
        raise InputError(
            f"y_true and y_pred must have the same shape; they have {truth.shape} and {pred.shape}.",
            _shape_hint(truth, pred),
        )
    if weights is not None and weights.shape != truth.shape:
        raise InputError(
            f"sample_weight must have the shape of the labels, {truth.shape}; it has {weights.shape}.",
            "give one weight per observation.",
        )
    if truth.size == 0:
        raise InputError("there are no rows: y_true and y_pred are empty.")
    if _is_one_hot(truth) and _is_one_hot(pred):
        raise InputError(
            f"y_true and y_pred of shape {truth.shape} look like one-hot rows: a single 1 in each.",
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
    if values.ndim != 2 or not 2 <= values.shape[1] <= _labels.MAX_CLASSES or values.dtype.kind not in "biu":
        return False
    head = values[:64]  # an image whose first rows all hold a single 1 is rare; a look at a few rows is cheap
    if not (((head == 0) | (head == 1)).all() and (head.sum(axis=1) == 1).all()):
        return False
    return bool(((values == 0) | (values == 1)).all() and (values.sum(axis=1) == 1).all())


__all__ = ["tabulate"]

"""Any container a caller may hold, turned into a NumPy array: label columns and weights."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from ..arraytypes import Array
from ..errors import InputError, InputTypeError, LabelError, WeightError
from ..labels import Label, as_label


class Column(NamedTuple):
    """One column of labels.

    Parameters
    ----------
    name
        ``"y_true"`` or ``"y_pred"``, for messages.
    values
        Labels as integers, booleans, fixed-width strings or objects; any shape, strides and byte order.
    categories
        What the integers stand for, where a data frame had coded the labels already.
    """

    name: str
    values: Array
    categories: dict[int, Label] | None = None


def place(name: str, array: Array, row: int) -> str:
    """``y_true[7]``, or ``y_true[0, 3]`` for an image."""
    index = np.unravel_index(row, array.shape)
    return f"{name}[{', '.join(str(int(i)) for i in index)}]"


def label_column(data: Any, name: str) -> Column:
    """Label column of a list, array, tensor or series."""
    if not isinstance(data, (np.ndarray, list)):
        from . import series  # brings narwhals, which arrays and lists do without

        coded = series.labels(data, name)
        if coded is not None:
            data, categories = coded
            if categories is not None:
                return Column(name, data, categories)
    values = _as_array(data, name)
    kind = values.dtype.kind
    if kind in "biuUO":
        return Column(name, values)
    if kind in "ST":  # bytes, and strings of variable width
        return Column(name, values.astype(object))
    if kind == "f":
        return Column(name, _whole(values, name))
    if kind in "mM":
        raise InputTypeError(
            f"{name} holds dates or times ({values.dtype}), which are not labels.", "use str() of them."
        )
    raise InputTypeError(f"{name} has dtype {values.dtype}; labels must be integers, booleans or strings.")


def _whole(values: Array, name: str) -> Array:
    """Floats that are whole numbers, as integers."""
    with np.errstate(invalid="ignore"):
        whole = (np.abs(values) < 2.0**63) & (np.trunc(values) == values)
    if not whole.all():
        row = int(np.argmin(whole.reshape(-1)))
        as_label(values.flat[row], place(name, values, row))  # says what is wrong with it
        raise LabelError(f"{place(name, values, row)} is {values.flat[row]!r}, too large for a label.")
    return values.astype(np.int64)


def weight_array(data: Any) -> Array:
    """Weights as an array of real numbers; whether each is finite and not negative is the tally's business."""
    name = "sample_weight"
    if not isinstance(data, (np.ndarray, list)):
        from . import series

        data = series.weights(data, name)
    values = _as_array(data, name)
    kind = values.dtype.kind
    if kind in "biuf":
        return values
    if kind == "O":
        return _real(values, name)
    what = {"c": "complex numbers", "U": "text", "S": "text", "T": "text", "M": "dates", "m": "durations"}
    raise InputTypeError(
        f"{name} holds {what.get(kind, 'values')} ({values.dtype}); a weight must be a real number."
        + (f" The first is {values.flat[0].item()!r}." if kind in "cUS" and values.size else ""),
        "convert it, for instance with .astype(float), if that is what you mean.",
    )


def _real(values: Array, name: str) -> Array:
    """Floats from objects: numbers, decimals and fractions, but neither text nor None."""
    out = np.empty(values.shape)
    for row, value in enumerate(values.flat):
        if isinstance(value, (str, bytes, complex, type(None))) or not hasattr(value, "__float__"):
            raise InputTypeError(f"{place(name, values, row)} is {value!r}; a weight must be a real number.")
        try:
            out.flat[row] = float(value)
        except (TypeError, ValueError, OverflowError):
            raise WeightError(f"{place(name, values, row)} is {value!r}; a weight must fit a float64.") from None
    return out


def _as_array(data: Any, name: str) -> Array:
    """Return ``data`` as an array, without a copy where it already is one."""
    if isinstance(data, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(data)
        if mask.any():
            row = int(np.argmax(mask.reshape(-1)))
            raise InputError(f"{place(name, mask, row)} is masked.", "leave such rows out, or fill them, first.")
        return np.asarray(data.data)
    if isinstance(data, np.ndarray):
        return np.asarray(data)
    if isinstance(data, (list, tuple, range)):
        return _from_list(data, name)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(data, torch.Tensor):
        return _from_torch(data, name)
    if isinstance(data, (str, bytes, dict, set, frozenset)) or not _speaks_array(data):
        raise InputTypeError(
            f"{name} is {_what(data)}; expected an array, a list, a series or a tensor of labels"
            f"{' or weights' if name == 'sample_weight' else ''}.",
            "wrap iterators in list(...)." if hasattr(data, "__next__") else None,
        )
    try:
        if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
            return np.asarray(data)
        return np.asarray(np.from_dlpack(data))
    except Exception as problem:
        raise InputTypeError(
            f"{name} is {_what(data)}, which NumPy cannot read: {problem}",
            "copy it to the CPU first (.cpu(), .get(), .numpy()).",
        ) from problem


def _speaks_array(data: Any) -> bool:
    return any(hasattr(data, attribute) for attribute in ("__array__", "__array_interface__", "__dlpack__"))


def _what(data: Any) -> str:
    short = repr(data)
    kind = type(data).__name__
    return f"{short} ({kind})" if len(short) <= 40 and "\n" not in short else f"of type {kind}"


def _from_list(data: Any, name: str) -> Array:
    # NumPy turns [1, "a"] into strings and [1, None] into objects; only a list that it reads as numbers
    # is left to it, and everything else keeps its own types to be looked at one by one.
    if len(data) and isinstance(data[0], str):
        return _objects(data, name)
    try:
        values = np.asarray(data)
    except (ValueError, OverflowError):
        return _objects(data, name)
    return values if values.dtype.kind in "biuf" else _objects(data, name)


def _objects(data: Any, name: str) -> Array:
    try:
        return np.array(data, dtype=object)
    except ValueError:
        raise InputError(f"{name} is a ragged nested list; its rows differ in length.") from None


def _from_torch(data: Any, name: str) -> Array:
    if data.device.type != "cpu":
        raise InputTypeError(
            f"{name} is a tensor on {data.device}; wmcc reads tensors on the CPU.", "pass tensor.cpu()."
        )
    if data.is_sparse:
        raise InputTypeError(f"{name} is a sparse tensor.", "pass tensor.to_dense().")
    data = data.detach().resolve_conj().resolve_neg()
    if str(data.dtype) == "torch.bfloat16":  # NumPy has none; float32 holds every value
        data = data.float()
    return np.asarray(data.numpy())

"""Any container a caller may hold, turned into a NumPy array: labels and weights; and whether they fit together."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array
from ..core.labels import NOTHING, SKIP_MISSING, Label, as_label, is_missing
from ..errors import InputError, InputTypeError, LabelError, WeightError, WmccError

BLOCK = 1 << 16  # rows converted at a time where the kernel cannot read the caller's memory as it is

First = int | tuple[int, ...]
"""The number of the first row; or, of a part of an image, its place on each axis."""


class Column(NamedTuple):
    """One column of labels.

    Parameters
    ----------
    name
        ``"y_true"``, ``"y_pred"`` or another, for messages.
    values
        Labels as integers, booleans, fixed-width strings or objects; any shape, strides and byte order.
    categories
        What the integers stand for, where a data frame had coded the labels already: a mapping or a sequence, in
        the engine's own types, and maybe with categories that do not occur.
    first
        The number of its first row, for messages: a part of a file need not begin at 0. Of a part of an image, the row
        and the column of its first pixel.
    skip_missing
        Whether a missing label leaves its row out, rather than being an error.
    """

    name: str
    values: Array
    categories: Any = None
    first: First = 0
    skip_missing: bool = False

    def label(self, raw: Any, row: int) -> Label:
        """What a raw value of ``values`` stands for; its row, for messages."""
        value = raw if self.categories is None else self.categories[raw]
        return NOTHING if self.skip_missing and is_missing(value) else as_label(value, self.place(row))

    def place(self, row: int) -> str:
        """``y_true[7]``, or ``y_true[0, 3]`` for an image."""
        return place(self.name, self.values, row, self.first)

    def labels(self, rows: slice) -> list[Label]:
        """Labels of some rows, in the order of ``values.flat``. Slow."""
        raw = self.values.flat[rows].tolist()
        if self.categories is not None:
            raw = [self.categories[k] for k in raw]
        skipped = self.skip_missing
        return [
            x if type(x) in (bool, int, str) else NOTHING if skipped and is_missing(x) else as_label(x, self.name)
            for x in raw
        ]


def place(name: str, array: Array, row: int, first: First = 0) -> str:
    """``sample_weight[7]``, or ``sample_weight[0, 3]`` for an image; the first row has the number ``first``."""
    if isinstance(first, int):
        first = (first,) if array.ndim == 1 else (0,) * array.ndim
    index = np.unravel_index(row, array.shape)
    return f"{name}[{', '.join(str(int(i) + k) for i, k in zip(index, first, strict=True))}]"


class _Filled:
    """Integers that stand for themselves, but for one, which stands for a missing label."""

    def __init__(self, missing: int) -> None:
        self._missing = missing

    def __getitem__(self, value: int) -> int | None:
        return None if value == self._missing else value


def label_column(data: Any, name: str, first: First = 0, skip_missing: bool = False) -> Column:
    """Label column of a list, array, tensor or series, whose first row has the number ``first``."""
    if not isinstance(data, (np.ndarray, list)):
        from . import series  # brings narwhals, which arrays and lists do without

        start = first if isinstance(first, int) else 0  # a series is no image
        data, categories = _read(lambda x, y: series.labels(x, y, start, skip_missing), data, name)
        if categories is not None:
            return Column(name, data, categories, first, skip_missing)
    mask = None
    if type(data) is not np.ndarray and np.ma.is_masked(data):
        mask = np.ma.getmaskarray(data)
        if not skip_missing:
            row = int(np.argmax(mask.reshape(-1)))
            raise LabelError(f"{place(name, mask, row, first)} is masked; every row needs a label.", SKIP_MISSING)
        if data.dtype.kind not in "iuf":
            data = np.where(mask, None, data.data)
    values = as_array(data, name)
    kind = values.dtype.kind
    if kind == "f" or (kind in "iu" and mask is not None):
        return _whole(values, mask, name, first, skip_missing)
    if kind == "b" and values.view(np.uint8).max(initial=0) > 1:
        values = values.view(np.uint8) != 0  # a view of other bytes as booleans: what is not 0 is true
    if kind in "ST":  # bytes, and strings of variable width
        values = values.astype(object)
    if kind in "biuUOST":
        return Column(name, values, None, first, skip_missing)
    if kind in "mM":
        raise InputTypeError(
            f"{name} holds dates or times ({values.dtype}), which are not labels.", "convert them to strings first."
        )
    raise InputTypeError(f"{name} has dtype {values.dtype}; labels must be integers, booleans or strings.")


def _whole(values: Array, mask: Array | None, name: str, first: First, skip_missing: bool) -> Column:
    """Floats that are whole numbers, or integers some of which are masked, as integers."""
    missing = np.zeros(values.shape, dtype=bool) if mask is None else mask
    if values.dtype.kind == "f":
        if values.dtype.itemsize < 8:
            values = values.astype(np.float64)  # not a long double, whose last digits would be lost
        if skip_missing:
            missing = missing | np.isnan(values)
        with np.errstate(invalid="ignore"):  # beyond 2**53 neighbouring integers are one float
            whole = missing | ((np.abs(values) <= 2.0**53) & (np.trunc(values) == values))
        if not whole.all():
            row = int(np.argmin(whole.reshape(-1)))
            as_label(values.flat[row], place(name, values, row, first))  # says what is wrong with it
        values = np.where(missing, 0, values) if missing.any() else values
        values = values.astype(np.int64)
    if not missing.any():
        return Column(name, values, None, first)
    other = int(values.max(where=~missing, initial=np.iinfo(values.dtype).min)) + 1
    fits = other <= np.iinfo(values.dtype).max
    filled: Array = values.astype(values.dtype if fits else np.int64 if other < 1 << 63 else object)
    filled[missing] = None if filled.dtype.kind == "O" else other
    return Column(name, filled, None if filled.dtype.kind == "O" else _Filled(other), first, True)


def weight_array(data: Any, name: str = "sample_weight", first: int = 0) -> Array:
    """Weights as an array of real numbers; whether each is finite and not negative is the tally's business."""
    if not isinstance(data, (np.ndarray, list)):
        from . import series

        data = _read(series.weights, data, name)
    values = as_array(data, name, "weights")
    kind = values.dtype.kind
    if type(data) is not np.ndarray and np.ma.is_masked(data) and kind in "biufO":
        # Missing, as NaN is: it matters only if its row counts.
        values = np.where(np.ma.getmaskarray(data), values.dtype.type(np.nan) if kind == "f" else np.nan, values)
        kind = values.dtype.kind
    if kind in "biuf":
        return values
    if kind == "O":
        return _real(values, name, first)
    what = {"c": "complex numbers", "U": "text", "S": "text", "T": "text", "M": "dates", "m": "durations"}
    raise InputTypeError(
        f"{name} holds {what.get(kind, 'values')} ({values.dtype}); a weight must be a real number."
        + (f" The first is {values.flat[0].item()!r}." if kind in "cUS" and values.size else ""),
        "if these are meant as numbers, convert them, for instance with .astype(float).",
    )


def _real(values: Array, name: str, first: int) -> Array:
    """Floats from objects: numbers, decimals and fractions, but neither text nor None."""
    out = np.empty(values.shape)
    no_number = (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64, type(None))
    for row, value in enumerate(values.flat):
        value = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value  # else it would be converted
        if isinstance(value, no_number) or not hasattr(value, "__float__"):
            raise InputTypeError(f"{place(name, values, row, first)} is {value!r}; a weight must be a real number.")
        try:
            out.flat[row] = float(value)
        except (TypeError, ValueError, OverflowError):
            raise WeightError(f"{place(name, values, row, first)} is {value!r}; a weight must fit a float64.") from None
    return out


def as_array(data: Any, name: str, what_for: str = "labels") -> Array:
    """Return ``data`` as an array, without a copy where it already is one."""
    if isinstance(data, np.ma.MaskedArray):
        return np.asarray(data.data)
    if isinstance(data, np.ndarray):
        return np.asarray(data)
    if isinstance(data, (list, tuple, range)):
        return _from_list(data, name, what_for)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(data, torch.Tensor):
        return np.asarray(_read(_from_torch, data, name))
    numpys_own = isinstance(data, _BUFFERS) or hasattr(data, "__array__") or hasattr(data, "__array_interface__")
    if isinstance(data, (str, bytes)) or not (numpys_own or hasattr(data, "__dlpack__")):
        raise InputTypeError(
            f"{name} is {what(data)}; expected an array, a list, a series or a tensor of {what_for}.",
            "wrap iterators in list(...)." if hasattr(data, "__next__") else None,
        )
    read = np.asarray if numpys_own else np.from_dlpack
    return np.asarray(_read(lambda x, _: read(x), data, name))


_BUFFERS = (memoryview, bytearray, array)


def _read(reader: Callable[[Any, str], Any], data: Any, name: str) -> Any:
    """Call another library to read what it made; what it cannot do gets a sentence of ours."""
    try:
        return reader(data, name)
    except WmccError:
        raise
    except Exception as problem:
        raise InputTypeError(
            f"{name} is {what(data)}, which cannot be read: {problem}",
            "convert it to a NumPy array first (for tensors .cpu() and .numpy() may help).",
        ) from problem


def what(data: Any) -> str:
    """Say what came: itself if it is short, or else its type."""
    short = repr(data)
    kind = type(data).__name__
    return f"{short} ({kind})" if len(short) <= 40 and "\n" not in short else f"of type {kind}"


def _from_list(data: Any, name: str, what_for: str) -> Array:
    # NumPy turns [1, "a"] into strings and [1, None] into objects; only a list that it reads as numbers
    # is left to it, and everything else keeps its own types to be looked at one by one.
    if len(data) and isinstance(data[0], str):
        return _objects(data, name)
    try:
        values = np.asarray(data)
    except (ValueError, OverflowError):
        return _objects(data, name)
    if values.dtype.kind == "f" and what_for == "labels" and np.abs(values).max(initial=0) >= 2.0**53:
        return _objects(data, name)  # integers that a float cannot tell apart
    return values if values.dtype.kind in "biuf" else _objects(data, name)


def _objects(data: Any, name: str) -> Array:
    try:
        return np.array(data, dtype=object)
    except ValueError:
        raise InputError(f"{name} is a ragged nested list; its rows differ in length.") from None


def _from_torch(data: Any, name: str) -> Array:
    if data.device.type != "cpu":
        raise InputTypeError(
            f"{name} is a tensor on {data.device}; wmcc reads tensors on the CPU.",
            "a meta tensor has no values; run the model on a real device."
            if data.device.type == "meta"
            else "pass tensor.cpu(); or count on the device, with wmcc.adapters.torch.Tally.",
        )
    if data.is_sparse:
        raise InputTypeError(f"{name} is a sparse tensor.", "pass tensor.to_dense().")
    data = data.detach().resolve_conj().resolve_neg()
    if str(data.dtype) == "torch.bfloat16":  # NumPy has none; float32 holds every value
        data = data.float()
    return np.asarray(data.numpy())


# ---- whether they fit together ---------------------------------------------------------------------------


def no_array(weights: Any) -> bool:
    """Whether weights can only be those of a matrix: SciPy's sparse ones."""
    return type(weights).__module__.startswith("scipy.sparse")


def is_matrix(weights: Any, labels: Array) -> bool:
    """Whether there is a weight for each pair of observations, rather than for each observation."""
    return no_array(weights) or (weights is not None and weights.shape == labels.shape * 2)


def check_shapes(columns: list[Column], names: Sequence[Any] = ()) -> None:
    """Refuse labels whose shapes differ, and one-hot rows; ``names`` are columns of a frame, if it is one."""
    (_, truth, *_), *predictions = columns
    for name, values, *_ in columns:
        if values.ndim == 0:
            raise InputError(f"{name} is a single value ({values.item()!r}); expected one per observation.")
    for name, pred, *_ in predictions:
        if truth.shape != pred.shape:
            raise InputError(
                f"y_true and {name} must have the same shape; they have {truth.shape} and {pred.shape}.",
                _shape_hint("y_true", truth, name, pred, names),
            )
        if truth.ndim == 2 and _is_one_hot(truth, 1) and _is_one_hot(pred, 1):
            raise InputError(
                f"y_true and {name} of shape {truth.shape} look like one-hot rows: a single 1 in each.",
                "pass y.argmax(axis=1); if they are label maps of an image, pass y.ravel().",
            )


def _shape_hint(a: str, one: Array, b: str, other: Array, names: Sequence[Any]) -> str | None:
    if one.ndim > other.ndim:
        a, one, b, other = b, other, a, one
    if other.ndim != one.ndim + 1:
        return None
    for axis, length in enumerate(other.shape):
        if length == 1 and other.shape[:axis] + other.shape[axis + 1 :] == one.shape:
            return f"drop the axis of length 1 with np.squeeze({b}, {axis})."
    for axis in (-1, 1):
        if np.delete(other.shape, axis).tolist() == list(one.shape) and _is_one_hot(other, axis):
            return f"an axis of {other.shape[axis]} looks one-hot, a single 1 each; pass np.argmax({b}, axis={axis})."
    if b.startswith("y_pred"):
        several = ", ".join(f"{name!r}: …" for name in (names or ["A", "B"])[:3])
        return f"if these are several predictions, give a mapping from names: {{{several}}}."
    return None


def _is_one_hot(values: Array, axis: int) -> bool:
    """Whether all numbers along an axis are 0 but for a single 1."""
    if values.shape[axis] < 2 or not values.size or values.dtype.kind not in "biu":
        return False
    # An image whose first rows all hold a single 1 is rare; a look at a few rows is cheap.
    return all(((x == 0) | (x == 1)).all() and (x.sum(axis=axis) == 1).all() for x in (values[:64], values))


def fitted(weights: Array, shape: tuple[int, ...], matrix: bool = True) -> Array:
    """Weights in the shape of the labels: repeated, without copies, along axes that have one weight for all.

    ``matrix`` if a weight for each pair of labels would do as well.
    """
    if weights.shape == shape:
        return weights
    if weights.ndim == 0:
        raise InputError(f"sample_weight is a single value ({weights.item()!r}); expected one per observation.")
    below = len(shape) - weights.ndim
    fits = [
        weights.ndim > 1 and below >= 0 and all(n in (1, m) for n, m in zip(weights.shape, own, strict=True))
        for own in (shape[below:], shape[: weights.ndim])
    ]
    if below > 0 and all(fits) and weights.size > 1:
        none = ", ".join(["None"] * below)
        raise InputError(
            f"sample_weight has shape {weights.shape}, which fits the first and the last axes of the labels, {shape}.",
            f"pass w[..., {none}] for the first axes, or w[{none}] for the last.",
        )
    if fits[0]:
        return np.broadcast_to(weights, shape)
    pairs = ", or for N labels a matrix of N x N" if matrix else ""
    along = (
        " For one weight per image row pass w[:, None], for one per image of a stack w[:, None, None]."
        if weights.ndim == 1 < len(shape)
        else ""
    )
    raise InputError(
        f"sample_weight must have the shape of the labels, {shape}; it has {weights.shape}.",
        f"give one weight per observation{pairs}.{along}",
    )


def check_aligned(named: dict[str, Any]) -> None:
    """Refuse series of pandas whose indexes differ, and arrays of xarray whose dimensions or coordinates do.

    They would be paired by position. ``named`` are the arguments, by their names; others than these have neither.
    """
    for marks, check in ((_index, _check_index), (_dims, _check_dims)):
        marked = [(name, data) for name, data in named.items() if marks(data) is not None]
        for name, data in marked[1:]:
            check(*marked[0], name, data)


def _index(data: Any) -> Any:
    """The index of a series or frame of pandas."""
    found = getattr(data, "index", None)
    return found if hasattr(found, "equals") and hasattr(data, "iloc") else None


def _check_index(a: str, one: Any, b: str, other: Any) -> None:
    if one.index is not other.index and len(one) == len(other) and not one.index.equals(other.index):
        raise InputError(
            f"{a} and {b} have different indexes, so pairing their rows by position could be wrong.",
            f"bring them into the same order with {b}.reindex({a}.index); "
            f"or, if their order is the same already, pass {a}.to_numpy() and {b}.to_numpy().",
        )


def _dims(data: Any) -> tuple[Any, ...] | None:
    """Names of the dimensions of an array of xarray."""
    found = getattr(data, "dims", None)
    return found if isinstance(found, tuple) and hasattr(data, "indexes") else None


def _check_dims(a: str, one: Any, b: str, other: Any) -> None:
    common = [name for name in one.dims if name in other.dims]
    if [name for name in other.dims if name in common] != common or not common:
        raise InputError(
            f"{a} has the dimensions {one.dims}, and {b} {other.dims}; pairing them by position could be wrong.",
            f"bring them into the same order with {b}.transpose(*{a}.dims).",
        )
    for name in common:
        marks = [x.indexes[name] for x in (one, other) if name in x.indexes]
        if len(marks) == 2 and len(marks[0]) == len(marks[1]) and not marks[0].equals(marks[1]):
            raise InputError(
                f"the coordinates of {name!r} differ between {a} and {b}, so pairing them by position could be wrong.",
                f"align them with {b}.reindex_like({a}), or with xarray.align({a}, {b}, join='inner').",
            )


def along_dims(weights: Any, labels: Any, array: Array) -> Array:
    """Weights of xarray with an axis of length 1 for each dimension that only the labels have."""
    own, all_of = _dims(weights), _dims(labels)
    if own is None or all_of is None or not {*own} <= {*all_of}:
        return array
    return array.reshape([n for name in all_of for n in ([array.shape[own.index(name)]] if name in own else [1])])

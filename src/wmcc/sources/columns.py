"""Any container a caller may hold, turned into a NumPy array: label columns and weights."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array
from ..core.labels import Label, as_label
from ..errors import InputError, InputTypeError, LabelError, WeightError, WmccError

BLOCK = 1 << 16  # rows converted at a time where the kernel cannot read the caller's memory as it is

LABELS = ("y_true", "y_pred", "pred_a", "pred_b")
"""What arguments that hold labels are called."""


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
        The number of its first row, for messages: a part of a file need not begin at 0.
    """

    name: str
    values: Array
    categories: Any = None
    first: int = 0

    def label(self, raw: Any, row: int) -> Label:
        """What a raw value of ``values`` stands for; its row, for messages."""
        return as_label(raw if self.categories is None else self.categories[raw], self.place(row))

    def place(self, row: int) -> str:
        """``y_true[7]``, or ``y_true[0, 3]`` for an image."""
        return place(self.name, self.values, row, self.first)

    def plain(self, raw: Array) -> list[Any]:
        """Some of the values as Python's own; text with numbers that are no characters is refused with its row."""
        if not_text(raw) is not None:
            row = not_text(self.values) or 0
            raise LabelError(
                f"{self.place(row)} is not text: it holds a number above 0x10FFFF; Unicode ends there.",
                f"the memory of an array of dtype {raw.dtype} must hold characters; look at how it was made or read.",
            )
        plain: list[Any] = raw.tolist()
        return plain

    def labels(self, rows: slice) -> list[Label]:
        """Labels of some rows, in the order of ``values.flat``. Slow."""
        raw = self.plain(self.values.flat[rows])
        if self.categories is not None:
            raw = [self.categories[k] for k in raw]
        return [x if type(x) in (bool, int, str) else as_label(x, self.name) for x in raw]


def place(name: str, array: Array, row: int, first: int = 0) -> str:
    """``sample_weight[7]``, or ``sample_weight[0, 3]`` for an image; the first row has the number ``first``."""
    if array.ndim == 1:
        return f"{name}[{row + first}]"
    index = np.unravel_index(row, array.shape)
    return f"{name}[{', '.join(str(int(i)) for i in index)}]"


def not_text(values: Array) -> int | None:
    """Return the first string of an array that holds a number beyond Unicode, which Python cannot make a string of."""
    if values.dtype.kind != "U" or not values.dtype.itemsize:
        return None
    for start in range(0, values.size, BLOCK):
        part = values.flat[start : start + BLOCK]
        points = part.astype(part.dtype.newbyteorder("=")).view(np.uint32).reshape(len(part), -1)
        if points.max() > 0x10FFFF:
            return start + int(np.argmax(points.max(axis=1) > 0x10FFFF))
    return None


def label_column(data: Any, name: str, first: int = 0) -> Column:
    """Label column of a list, array, tensor or series, whose first row has the number ``first``."""
    if not isinstance(data, (np.ndarray, list)):
        from . import series  # brings narwhals, which arrays and lists do without

        data, categories = _read(lambda x, y: series.labels(x, y, first), data, name)
        if categories is not None:
            return Column(name, data, categories, first)
    values = _as_array(data, name)
    kind = values.dtype.kind
    if kind == "b" and values.view(np.uint8).max(initial=0) > 1:
        values = values.view(np.uint8) != 0  # a view of other bytes as booleans: what is not 0 is true
    if kind in "biuUO":
        return Column(name, values, None, first)
    if kind in "ST":  # bytes, and strings of variable width
        return Column(name, values.astype(object), None, first)
    if kind == "f":
        return Column(name, _whole(values, name, first), None, first)
    if kind in "mM":
        raise InputTypeError(
            f"{name} holds dates or times ({values.dtype}), which are not labels.", "use str() of them."
        )
    raise InputTypeError(f"{name} has dtype {values.dtype}; labels must be integers, booleans or strings.")


def _whole(values: Array, name: str, first: int) -> Array:
    """Floats that are whole numbers, as integers; beyond 2**53 neighbouring integers are one float."""
    if values.dtype.itemsize < 8:
        values = values.astype(np.float64)  # not a long double, whose last digits would be lost
    with np.errstate(invalid="ignore"):
        whole = (np.abs(values) <= 2.0**53) & (np.trunc(values) == values)
    if not whole.all():
        row = int(np.argmin(whole.reshape(-1)))
        as_label(values.flat[row], place(name, values, row, first))  # says what is wrong with it
    return values.astype(np.int64)


def weight_array(data: Any, name: str = "sample_weight", first: int = 0) -> Array:
    """Weights as an array of real numbers; whether each is finite and not negative is the tally's business."""
    if not isinstance(data, (np.ndarray, list)):
        from . import series

        data = _read(series.weights, data, name)
    values = _as_array(data, name)
    kind = values.dtype.kind
    if kind in "biuf":
        return values
    if kind == "O":
        return _real(values, name, first)
    what = {"c": "complex numbers", "U": "text", "S": "text", "T": "text", "M": "dates", "m": "durations"}
    raise InputTypeError(
        f"{name} holds {what.get(kind, 'values')} ({values.dtype}); a weight must be a real number."
        + (
            f" The first is {values.flat[0].item()!r}."
            if kind in "cUS" and values.size and not_text(values[:1]) is None
            else ""
        ),
        "convert it, for instance with .astype(float), if that is what you mean.",
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
        return np.asarray(_read(_from_torch, data, name))
    if isinstance(data, (str, bytes, dict, set, frozenset)) or not _speaks_array(data):
        raise InputTypeError(
            f"{name} is {what(data)}; expected an array, a list, a series or a tensor of labels"
            f"{'' if name in LABELS else ' or weights'}.",
            "wrap iterators in list(...)." if hasattr(data, "__next__") else None,
        )
    numpys_own = isinstance(data, _BUFFERS) or hasattr(data, "__array__") or hasattr(data, "__array_interface__")
    read = np.asarray if numpys_own else np.from_dlpack
    return np.asarray(_read(lambda x, _: read(x), data, name))


_BUFFERS = (memoryview, bytearray, array)


def _speaks_array(data: Any) -> bool:
    protocols = ("__array__", "__array_interface__", "__dlpack__")
    return isinstance(data, _BUFFERS) or any(hasattr(data, protocol) for protocol in protocols)


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


def _from_list(data: Any, name: str) -> Array:
    # NumPy turns [1, "a"] into strings and [1, None] into objects; only a list that it reads as numbers
    # is left to it, and everything else keeps its own types to be looked at one by one.
    if len(data) and isinstance(data[0], str):
        return _objects(data, name)
    try:
        values = np.asarray(data)
    except (ValueError, OverflowError):
        return _objects(data, name)
    if values.dtype.kind == "f" and name != "sample_weight" and np.abs(values).max(initial=0) >= 2.0**53:
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
            f"{name} is a tensor on {data.device}; wmcc reads tensors on the CPU.", "pass tensor.cpu()."
        )
    if data.is_sparse:
        raise InputTypeError(f"{name} is a sparse tensor.", "pass tensor.to_dense().")
    data = data.detach().resolve_conj().resolve_neg()
    if str(data.dtype) == "torch.bfloat16":  # NumPy has none; float32 holds every value
        data = data.float()
    return np.asarray(data.numpy())

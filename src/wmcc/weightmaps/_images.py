"""Label maps as they come, NumPy arrays or torch tensors, one image or a batch, and their weights as they go."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from math import inf, isfinite
from operator import index
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError
from ..present.text import brief

Values = TypeVar("Values", bound=NDArray[Any])
Keywords = ParamSpec("Keywords")
Made = TypeVar("Made", bound=NDArray[Any])
MadeOut = TypeVar("MadeOut", bound=NDArray[Any], covariant=True)


class Tensor(Protocol):
    """As much of a torch tensor as tells it from an array: its own type is known only where torch is installed."""

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are kept."""
        ...


TensorOf = TypeVar("TensorOf", bound=Tensor)


class OfMaps(Protocol[Keywords, MadeOut]):
    """A function of label maps, of arrays and of tensors."""

    @overload
    def __call__(self, labels: NDArray[Any], *args: Keywords.args, **keywords: Keywords.kwargs) -> MadeOut: ...
    @overload
    def __call__(self, labels: TensorOf, *args: Keywords.args, **keywords: Keywords.kwargs) -> TensorOf: ...


def of_tensors_too(function: Callable[Concatenate[NDArray[Any], Keywords], Made]) -> OfMaps[Keywords, Made]:
    """Tell type checkers that a function of arrays takes tensors, too, and returns a tensor then."""
    return cast(OfMaps[Keywords, Made], function)


Codes = NDArray[np.int32]
Weights = NDArray[np.float32]
Bools = NDArray[np.bool_]
Labels = int | Collection[int]
"""One label, or several."""

DENSE_RANGE = 1 << 20
"""Integers that are no further apart are counted in a table; others are sorted, which takes longer."""


class Image(NamedTuple):
    """The truth of one image.

    Attributes
    ----------
    codes
        The class of each pixel: 0 for void, and 1 … K for the labels that occur.
    labels
        Those labels.
    spacing
        The size of a pixel along each axis.
    instances
        The instance of each pixel, 0 for none; None if none are given.
    """

    codes: Codes
    labels: NDArray[Any]
    spacing: tuple[float, ...]
    instances: Codes | None

    def codes_of(self, labels: tuple[int, ...]) -> Bools:
        """Return which codes 0 … K stand for one of the labels."""
        chosen: Bools = np.r_[False, _among(self.labels, labels)]
        return chosen


def weight_map(
    labels: NDArray[Any],
    weigh: Callable[[Image], Weights],
    *,
    ignore: Labels | None,
    ndim: int | None,
    spacing: float | Iterable[float] | None = None,
    instances: Any = None,
) -> Weights:
    """Return the weights of each image, as float32 of the kind that came; void pixels get 0."""
    values = _label_array(labels, "labels")
    sides = _spacing(values, ndim, spacing)
    void = () if ignore is None else several(ignore, "ignore")
    numbers = None if instances is None else _instance_array(instances, values.shape)
    out = np.zeros(values.shape, dtype=np.float32)
    if values.size:
        for place in np.ndindex(values.shape[: values.ndim - len(sides)]):
            codes, names = coded(values[place], void)
            objects = None if numbers is None else coded(numbers[place], (0,))[0]
            weights = weigh(Image(codes, names, sides, objects))
            weights[codes == 0] = 0
            out[place] = weights
    return like(labels, out)


def coded(values: NDArray[Any], void: tuple[int, ...]) -> tuple[Codes, NDArray[Any]]:
    """Return integers as 1 … K in the order of their values, and 0 for those in ``void``; and the K values."""
    low, high = int(values.min()), int(values.max())
    if high - low < DENSE_RANGE:
        whole = np.int64 if high < 1 << 63 else np.uint64
        places = np.subtract(values, low, dtype=whole).astype(np.intp, copy=False)
        found = np.flatnonzero(np.bincount(places.ravel()))
        names = np.add(found, low, dtype=whole, casting="unsafe")
    else:
        names, places = np.unique(values, return_inverse=True)
        places = places.reshape(values.shape)
        found = np.arange(len(names))
    kept = ~_among(names, void)
    table = np.zeros(found[-1] + 1, dtype=np.int32)
    table[found[kept]] = np.arange(1, kept.sum() + 1)
    return table[places], names[kept]


def _among(names: NDArray[Any], labels: tuple[int, ...]) -> Bools:
    """Return which names are among some labels, exactly: NumPy would compare large ones as floats."""
    limits = np.iinfo(names.dtype)
    return np.isin(names, np.array([x for x in labels if limits.min <= x <= limits.max], dtype=names.dtype))


def like(labels: Any, values: Values) -> Values:
    """Return an array as what the labels are: itself, or a tensor on their device."""
    torch = _torch_of(labels)
    return values if torch is None else cast(Values, torch.from_numpy(values).to(labels.device))


def array_of(data: Any, name: str) -> NDArray[Any]:
    """Return an array, or a tensor from whatever device, as an array."""
    torch = _torch_of(data)
    if torch is not None:
        if data.device.type == "meta":
            raise InputTypeError(
                f"`{name}` is a meta tensor, which has no values.", "give a tensor on a real device.", name
            )
        if data.layout != torch.strided:
            raise InputTypeError(f"`{name}` is a sparse tensor.", f"give {name}.to_dense().", name)
        data = data.detach().cpu()
        return np.asarray((data.float() if data.dtype == torch.bfloat16 else data).numpy())
    if isinstance(data, np.ma.MaskedArray):
        hint = "give masked pixels a label that is ignored: labels.filled(255), and `ignore` 255."
        raise InputTypeError(f"`{name}` is a masked array.", hint, name)
    try:
        return np.asarray(data)
    except (TypeError, ValueError) as problem:
        raise InputTypeError(f"`{name}` is {brief(data)}, which is no array: {problem}", None, name) from problem


def several(labels: Any, name: str) -> tuple[int, ...]:
    """Return one label or several as plain integers."""
    if hasattr(labels, "__array__"):
        labels = array_of(labels, name).reshape(-1).tolist()
    found = list(labels) if isinstance(labels, Collection) and not isinstance(labels, str) else [labels]
    if not found:
        raise InputError(f"`{name}` names no label.", "give an integer, or several: (11, 12).", name)
    try:
        return tuple(map(index, found))
    except TypeError:
        hint = "labels in an image are integers: 255 or (0, 255)."
        raise InputTypeError.of(name, labels, "an integer or several", hint) from None


def number(value: Any, name: str, *, positive: bool = False, most: float = inf) -> float:
    """Return a number of at least 0, or above it."""
    try:
        x = float(value)
    except (TypeError, ValueError):
        x = float("nan")
    if isinstance(value, str) or not isfinite(x) or x < 0 or (positive and x == 0) or x > most:
        bound = ("above 0" if positive else "of at least 0") + (f" and at most {most:g}" if x > most else "")
        raise InputError.of(name, value, f"a finite number {bound}")
    return x


def _torch_of(data: Any) -> Any:
    """Return torch, if that is where the data come from."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(data, torch.Tensor) else None


def _label_array(labels: Any, name: str) -> NDArray[Any]:
    values = array_of(labels, name)
    if values.dtype.kind in "biu":
        return values.view(np.uint8) if values.dtype.kind == "b" else values
    hint = (
        "of scores take argmax first; resize a label map by nearest neighbours, since other ways mix labels; "
        "whole numbers are converted by astype(int), or long() of a tensor."
    )
    kind = f"of type {values.dtype}" if values.ndim else brief(labels)
    expected = "expected an array or a tensor of integers, one label for each pixel"
    raise InputTypeError(f"`{name}` is {kind}; {expected}.", hint if values.dtype.kind == "f" else None, name)


def _instance_array(instances: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    values = _label_array(instances, "instances")
    if values.shape != shape:
        shapes = f"`instances` has the shape {values.shape} and `labels` {shape}"
        raise InputError(f"{shapes}; expected one instance for each pixel.", argument="instances")
    if values.size and values.min() < 0:
        expected = "expected 0 where there is no object, and numbers above 0 for objects"
        raise InputError(f"`instances` holds {values.min()}; {expected}.", argument="instances")
    return values


def _spacing(values: NDArray[Any], ndim: int | None, spacing: Any) -> tuple[float, ...]:
    """Return the size of a pixel along each axis of an image: the last axes, and those before them are of a batch."""
    if ndim is not None and (not isinstance(ndim, (int, np.integer)) or ndim not in (2, 3)):
        raise InputError.of("ndim", ndim, "2 for images or 3 for volumes")
    several_sides = isinstance(spacing, Iterable) and not isinstance(spacing, str)
    given = tuple(spacing) if several_sides else (1.0 if spacing is None else spacing,)
    if len(given) > 3 or not given:
        expected = "expected one, or one for each axis of an image: 2 or 3"
        raise InputError(f"`spacing` has {len(given)} numbers; {expected}.", argument="spacing")
    sides = tuple(number(x, "spacing", positive=True) for x in given)
    if ndim is not None and len(sides) not in (1, ndim):
        said = f"`spacing` has {len(sides)} numbers and `ndim` is {ndim}."
        raise InputError(said, "give one number for each axis of an image.", "spacing")
    axes = ndim or (len(sides) if len(sides) > 1 else 2 if values.ndim == 2 else None)
    if values.ndim < (axes or 2):
        expected = f"{axes or 2} axes or more: {'depth, height' if axes == 3 else 'height'} and width"
        raise InputError(f"`labels` has the shape {values.shape}; expected {expected}.", argument="labels")
    if axes is None:
        colours = values.ndim == 3 and values.shape[2] in (3, 4) and values.dtype == np.uint8
        hint = "give `ndim`, 2 for images (height, width) or 3 for volumes; axes before those are a batch."
        if colours:
            hint = "a colour image is no label map: read it with its palette, as one label for each pixel."
        said = f"`labels` has the shape {values.shape}, which is a volume or a batch of images."
        raise InputError(said, hint, "labels" if colours else "ndim")
    return sides * axes if len(sides) == 1 else sides

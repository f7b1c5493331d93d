"""The weight maps themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import hypot, inf, log, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError
from ..present.text import listed
from ._distances import to_nearest, to_others, to_two_nearest
from ._images import Bools, Image, Labels, Weights, array_of, like, number, of_tensors_too, several, weight_map
from ._objects import objects_of

Spacing = float | Iterable[float]
ClassWeights = Mapping[int, float] | Literal["balanced"]


@of_tensors_too
def border(
    labels: NDArray[Any],
    *,
    instances: Any = None,
    foreground: Labels | None = None,
    w0: float = 10.0,
    sigma: float = 5.0,
    class_weight: ClassWeights | None = None,
    ignore: Labels | None = None,
    spacing: Spacing | None = None,
    ndim: int | None = None,
) -> Weights:
    r"""Weigh the gaps between objects that are close together, as U-Net does.

    ::

        w = w_c + w₀ · exp(−(d₁ + d₂)² / (2σ²))

    d₁ is the distance of a pixel to the nearest object, 0 inside one, and d₂ that to the second nearest. With fewer
    than two objects there is no d₂, and the weight is w_c.

    Parameters
    ----------
    labels
        The truth: integers, one for each pixel, as a NumPy array or a torch tensor on any device; (height, width), or a
        volume or a batch, see ``ndim``.
    instances
        Number of the object at each pixel, 0 where there is none, shaped like ``labels``. Pixels of one class with one
        number are an object. By default an object is a connected component of a class; pixels that touch at a corner
        are connected.
    foreground
        Labels of classes that have objects. By default all but 0, or, with ``instances``, all.
    w0
        Weight that the narrowest gap gets on top of w_c: w₀.
    sigma
        Width of gaps that are heavy, σ: in pixels, or in the unit of ``spacing``.
    class_weight
        w_c, the weight of each class: a mapping from labels to numbers, ``"balanced"`` (pixels / (classes · pixels of
        the class), counted in this image) or None for 1.
    ignore
        Void labels. Void pixels are no object and get the weight 0; name the same labels in ``wmcc.tabulate(ignore=)``,
        so that they are no rows.
    spacing
        Size of a pixel, such as millimetres: a number, or one for each axis.
    ndim
        2 for images, 3 for volumes; axes before those are a batch. It can be left out for one image, (height,
        width), or if ``spacing`` has a number for each axis.

    Returns
    -------
    array or tensor
        float32 weights, shaped like ``labels``; a tensor on their device if they are a tensor.

    Notes
    -----
    The distances are exact. They are looked for up to where the term changes no digit of a float32 any more.

    Examples
    --------
    The gap between two cells weighs more than their surroundings:

    >>> import numpy as np
    >>> from wmcc import weightmaps
    >>> cells = np.array([[0, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0]] * 2)
    >>> weightmaps.border(cells, w0=10, sigma=2).round(1)[0]
    array([1. , 1.4, 4.2, 7.1, 7.1, 7.1, 4.2, 1.4, 1. , 1. , 1. ], dtype=float32)
    """
    w0, sigma = number(w0, "w0", most=MOST_WEIGHT), number(sigma, "sigma", positive=True)
    weights = _class_weights(class_weight)
    chosen = None if foreground is None else _classes(foreground, ignore, "foreground")

    def weigh(image: Image) -> Weights:
        by_class = weights(image)
        out = by_class[image.codes]
        objects, classes = objects_of(image, chosen)
        if len(classes) <= 2:  # one of them stands for no object
            return out
        for part, sums in to_two_nearest(objects, image.spacing, _border_reach(w0, sigma, by_class[1:])):
            near = sums < inf
            heavier = out[part][near] + w0 * np.exp(-((sums[near] / sigma) ** 2) / 2)  # in float64
            out[part][near] = heavier
        return out

    return weight_map(labels, weigh, ignore=ignore, ndim=ndim, spacing=spacing, instances=instances)


@of_tensors_too
def distance(
    labels: NDArray[Any],
    *,
    to: Labels,
    scale: float | None = None,
    radius: float | None = None,
    factor: float | None = None,
    floor: float | None = None,
    ignore: Labels | None = None,
    spacing: Spacing | None = None,
    ndim: int | None = None,
) -> Weights:
    r"""Weigh pixels by their distance d to the nearest pixel of some classes: the road beside a car.

    ::

        w = max(floor, exp(−d / scale))          with scale
        w = 1 + factor · [d ≤ radius]            with radius

    Pixels of the classes themselves have d = 0. Where an image has no pixel of them, every pixel is infinitely far
    away: the weights are ``floor`` or 1.

    Parameters
    ----------
    labels
        The truth, see `border`.
    to
        Labels of the classes.
    scale
        Distance at which the weight has fallen to 1/e = 0.37.
    radius
        Distance up to which pixels weigh more.
    factor
        What they weigh more; 1 by default. Only with ``radius``.
    floor
        The least weight; 0 by default. Only with ``scale``.
    ignore, spacing, ndim
        See `border`; distances are in pixels, or in the unit of ``spacing``.

    Returns
    -------
    array or tensor
        float32 weights, see `border`.

    Examples
    --------
    >>> import numpy as np
    >>> from wmcc import weightmaps
    >>> road = np.array([[2, 2, 0, 0, 0, 0, 0]])
    >>> weightmaps.distance(road, to=2, scale=2, floor=0.1).round(2)
    array([[1.  , 1.  , 0.61, 0.37, 0.22, 0.14, 0.1 ]], dtype=float32)
    >>> weightmaps.distance(road, to=2, radius=2, factor=4)
    array([[5., 5., 5., 5., 1., 1., 1.]], dtype=float32)
    """
    chosen = _classes(to, ignore, "to")
    if (scale is None) == (radius is None):
        said = (
            f"distance() takes either `scale` or `radius`, and {'neither is' if scale is None else 'both are'} given."
        )
        hint = (
            "a `scale` of 20 lets weights fall with the distance; a `radius` of 20 doubles those of all pixels within."
        )
        raise InputError(said, hint, "scale")
    fall, least, more = 1.0, 0.0, 0.0
    if radius is None:
        _unused(factor, "factor", "radius")
        fall, least = number(scale, "scale", positive=True), number(floor or 0, "floor", most=MOST_WEIGHT)
        reach = fall * (UNDERFLOW if least == 0 else -log(least) if least < 1 else 0)
    else:
        _unused(floor, "floor", "scale")
        reach, more = number(radius, "radius"), number(1 if factor is None else factor, "factor", most=MOST_WEIGHT)

    def weigh(image: Image) -> Weights:
        d = to_nearest(image.codes_of(chosen)[image.codes], image.spacing, reach)
        weights = np.maximum(np.exp(d / -fall), least) if radius is None else np.where(d < inf, 1 + more, 1)
        return weights.astype(np.float32)

    return weight_map(labels, weigh, ignore=ignore, ndim=ndim, spacing=spacing)


@of_tensors_too
def boundary_band(
    labels: NDArray[Any],
    *,
    radius: float,
    ignore: Labels | None = None,
    spacing: Spacing | None = None,
    ndim: int | None = None,
) -> Weights:
    r"""Weigh pixels near a boundary between classes 1, and all others 0.

    A pixel is near a boundary if a pixel of another class is within ``radius`` of it, from centre to centre. With
    ``radius=1`` the band is the pixels on both sides of each boundary. Void is no class, and the edge of the image is
    no boundary.

    Pixels of weight 0 count in no score, but they are rows of the table and count in its ``n``. `mask` makes them void.

    Parameters
    ----------
    labels
        The truth, see `border`.
    radius
        Half the width of the band, in pixels or in the unit of ``spacing``.
    ignore, spacing, ndim
        See `border`.

    Returns
    -------
    array or tensor
        float32 weights, see `border`.

    Examples
    --------
    >>> import numpy as np
    >>> from wmcc import weightmaps
    >>> weightmaps.boundary_band(np.array([[0, 0, 0, 0, 1, 1, 1, 1]]), radius=2)
    array([[0., 0., 1., 1., 1., 1., 0., 0.]], dtype=float32)
    """
    reach = number(radius, "radius", positive=True)

    def weigh(image: Image) -> Weights:
        return (to_others(image.codes, image.spacing, reach) < inf).astype(np.float32)

    return weight_map(labels, weigh, ignore=ignore, ndim=ndim, spacing=spacing)


@of_tensors_too
def boundary_iou_band(
    labels: NDArray[Any], *, ratio: float = 0.02, ignore: Labels | None = None, ndim: int | None = None
) -> Weights:
    r"""Weigh the pixels that Boundary IoU looks at 1, and all others 0.

    The band of a class is what an erosion of its mask takes away: d steps of a 3 × 3 square, after the image is padded
    by one pixel of no class, with d = max(1, round(ratio · diagonal)). A pixel is in the band if it is in that of its
    own class. So pixels near the edge of the image and near void are in it, unlike those of `boundary_band`.

    Parameters
    ----------
    labels
        The truth, see `border`.
    ratio
        Half the width of the band over the diagonal of the image. The paper has 0.02; for large images
        people take less, such as 0.005.
    ignore, ndim
        See `border`. In a volume the square is a cube.

    Returns
    -------
    array or tensor
        float32 weights, see `border`.

    Notes
    -----
    Boundary IoU needs the band of the prediction as well, so it is no score under these weights. It is the IoU of two
    label maps, see docs/understand/weightmaps.md.

    Examples
    --------
    >>> import numpy as np
    >>> from wmcc import weightmaps
    >>> square = np.pad(np.ones((5, 5), dtype=int), 2)
    >>> weightmaps.boundary_iou_band(square).astype(int)
    array([[1, 1, 1, 1, 1, 1, 1, 1, 1],
           [1, 1, 1, 1, 1, 1, 1, 1, 1],
           [1, 1, 1, 1, 1, 1, 1, 1, 1],
           [1, 1, 1, 0, 0, 0, 1, 1, 1],
           [1, 1, 1, 0, 0, 0, 1, 1, 1],
           [1, 1, 1, 0, 0, 0, 1, 1, 1],
           [1, 1, 1, 1, 1, 1, 1, 1, 1],
           [1, 1, 1, 1, 1, 1, 1, 1, 1],
           [1, 1, 1, 1, 1, 1, 1, 1, 1]])
    """
    ratio = number(ratio, "ratio")

    def weigh(image: Image) -> Weights:
        from scipy.ndimage import maximum_filter, minimum_filter

        # A class survives d erosions where all labels of the square around a pixel are its own.
        steps = max(1, round(ratio * hypot(*image.codes.shape)))
        width = 2 * min(steps, max(image.codes.shape)) + 1
        lowest = minimum_filter(image.codes, width, mode="constant", cval=-1)
        band: Bools = lowest != maximum_filter(image.codes, width, mode="constant", cval=-1)
        return band.astype(np.float32)

    return weight_map(labels, weigh, ignore=ignore, ndim=ndim)


@of_tensors_too
def instance_size(
    labels: NDArray[Any],
    *,
    instances: Any = None,
    foreground: Labels | None = None,
    mean_size: Mapping[int, float] | None = None,
    ignore: Labels | None = None,
    ndim: int | None = None,
) -> Weights:
    r"""Weigh small objects as much as large ones of their class.

    A pixel of an object weighs the mean size of the objects of its class over the size of its own. So every object of a
    class has the same total weight, and the class as a whole weighs as much as before. Pixels of no object weigh 1.

    Parameters
    ----------
    labels
        The truth, see `border`.
    instances, foreground
        What the objects are, see `border`.
    mean_size
        Mean size of the objects of each class, in pixels, over the whole data set: a mapping from labels. By default it
        is the mean over the objects of the same image.
    ignore, ndim
        See `border`. Void pixels do not count in sizes.

    Returns
    -------
    array or tensor
        float32 weights, see `border`.

    Notes
    -----
    This is not the iIoU of Cityscapes. There, only pixels of the truth are weighted so, and false positives count 1
    each: iIoU = iTP / (iTP + FP + iFN).

    Examples
    --------
    Objects of 3 pixels and of 1:

    >>> import numpy as np
    >>> from wmcc import weightmaps
    >>> weightmaps.instance_size(np.array([[1, 1, 1, 0, 0, 1]])).round(3)
    array([[0.667, 0.667, 0.667, 1.   , 1.   , 2.   ]], dtype=float32)
    """
    chosen = None if foreground is None else _classes(foreground, ignore, "foreground")
    means = None if mean_size is None else _mapping(mean_size, "mean_size", positive=True)

    def weigh(image: Image) -> Weights:
        objects, classes = objects_of(image, chosen)
        sizes = np.bincount(objects.ravel(), minlength=len(classes))
        if means is None:
            counts = np.bincount(classes[1:], minlength=len(image.labels) + 1)
            totals = np.bincount(classes[1:], sizes[1:], minlength=len(image.labels) + 1)
            mean = totals / np.maximum(counts, 1)
        else:
            mean = _looked_up(means, "mean_size", image, np.unique(classes[1:]))
        weights = np.ones(len(classes), dtype=np.float32)
        weights[1:] = mean[classes[1:]] / sizes[1:]
        return weights[objects]

    return weight_map(labels, weigh, ignore=ignore, ndim=ndim, instances=instances)


@of_tensors_too
def mask(labels: NDArray[Any], weights: Any, *, void: int = 255) -> NDArray[Any]:
    r"""Return the labels where the weight is not 0, and ``void`` elsewhere.

    A row of weight 0 is still a row of the table and counts in its ``n``. What does not count at all should be void.

    Parameters
    ----------
    labels
        The truth.
    weights
        A weight for each pixel, such as a band.
    void
        The label of pixels that do not count, to be named in ``wmcc.tabulate(ignore=)``.

    Returns
    -------
    array or tensor
        Labels of the type that came.

    Examples
    --------
    The score near boundaries alone, a trimap:

    >>> import numpy as np
    >>> import wmcc
    >>> from wmcc import weightmaps
    >>> truth = np.array([[0, 0, 0, 0, 1, 1, 1, 1]])
    >>> near = weightmaps.mask(truth, weightmaps.boundary_band(truth, radius=2))
    >>> near
    array([[255, 255,   0,   0,   1,   1, 255, 255]])
    >>> wmcc.tabulate(near, np.array([[1, 0, 0, 0, 0, 1, 1, 1]]), ignore=255)
    Table of 2 classes: 4 rows, 4 ignored, total weight 4
    true \ predicted  0  1
    0                 2  0
    1                 1  1
    """
    values, kept = array_of(labels, "labels"), array_of(weights, "weights")
    if not isinstance(void, (int, np.integer)):
        raise InputTypeError.of("void", void, "one label, an integer")
    if kept.dtype.kind not in "biuf":
        raise InputTypeError(f"`weights` is of type {kept.dtype}; expected numbers.", argument="weights")
    if kept.shape != values.shape:
        shapes = f"`weights` has the shape {kept.shape} and `labels` {values.shape}"
        raise InputError(f"{shapes}; expected one for each pixel.", argument="weights")
    if values.dtype.kind not in "iu" or not np.iinfo(values.dtype).min <= void <= np.iinfo(values.dtype).max:
        hint = "convert them to integers that can, such as int32, or give `void` another label."
        raise InputTypeError(f"`labels` is of type {values.dtype}, which cannot hold the label {void}.", hint, "void")
    return like(labels, np.where(kept != 0, values, values.dtype.type(void)))


# ---- parameters ----------------------------------------------------------------------------------------------------

MOST_WEIGHT = 1e30
"""Larger weights come close to the largest float32."""

UNDERFLOW = 150 * log(2)
"""exp(−x) is 0 in float32 for larger x."""


def _border_reach(w0: float, sigma: float, by_class: Weights) -> float:
    """Return the sum of distances beyond which w₀ exp(−s²/2σ²) changes no float32 w_c, or is 0 itself."""
    least = float(by_class.min())
    ratio = w0 / (least * 2.0**-25 if least >= 2.0**-120 else 2.0**-150)  # half a unit in the last place is more
    return sigma * sqrt(2 * log(ratio)) if ratio > 1 else 0.0


def _classes(labels: Labels, ignore: Labels | None, name: str) -> tuple[int, ...]:
    """Return labels of classes, none of which may be void."""
    chosen = several(labels, name)
    both = set(chosen) & set(() if ignore is None else several(ignore, "ignore"))
    if both:
        raise InputError(f"`{name}` names {min(both)}, and so does `ignore`.", "a label is a class or void.", name)
    return chosen


def _unused(value: float | None, name: str, wants: str) -> None:
    if value is not None:
        raise InputError(f"`{name}` is for `{wants}`, which is not given.", f"leave it out, or give `{wants}`.", name)


def _mapping(given: Any, name: str, *, positive: bool = False) -> dict[int, float]:
    if not isinstance(given, Mapping) or not all(isinstance(label, (int, np.integer)) for label in given):
        expected = "a mapping from labels, which are integers, to numbers"
        raise InputTypeError.of(name, given, expected, "such as {0: 1, 1: 5}.")
    return {int(x): number(w, f"{name}[{x}]", positive=positive, most=MOST_WEIGHT) for x, w in given.items()}


def _looked_up(given: Mapping[int, float], name: str, image: Image, codes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the numbers of some classes, by code."""
    out = np.ones(len(image.labels) + 1)
    for code in codes:
        label = int(image.labels[code - 1])
        if label not in given:
            said = f"`{name}` has no number for class {label}, which is in the image; it has "
            hint = "add the class, or name it in `ignore` if it is void."
            raise InputError(f"{said}{listed([*map(str, given)])}.", hint, name)
        out[code] = given[label]
    return out


def _class_weights(given: ClassWeights | None) -> Callable[[Image], Weights]:
    """Return what makes w_c of an image: the weight of each code, as float32."""
    if given is None:
        return lambda image: np.ones(len(image.labels) + 1, dtype=np.float32)
    if isinstance(given, str):
        if given != "balanced":
            raise InputError.of("class_weight", given, "'balanced' or a mapping from labels to weights")
        return _balanced
    known = _mapping(given, "class_weight")
    return lambda image: _looked_up(known, "class_weight", image, np.arange(1, len(image.labels) + 1)).astype(
        np.float32
    )


def _balanced(image: Image) -> Weights:
    counts = np.bincount(image.codes.ravel(), minlength=len(image.labels) + 1)[1:]
    weights: Weights = np.r_[1, counts.sum() / (len(counts) * counts)].astype(np.float32)
    return weights

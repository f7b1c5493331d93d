"""Distances within an image, up to a reach. SciPy measures them; here is where it has to look.

SciPy's transform of a small window takes an eighth of the time per pixel that a large image takes, and most weights
need distances up to some reach only. So an image is cut into tiles. What lies within the reach of a pixel of a tile
lies in the tile with a margin as wide as the reach, its window, and the transform of the window has the same distances.

"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import ceil, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._images import Bools, Codes

Slices = tuple[slice, ...]
Distances = NDArray[np.float64]

LEAST_TILE = 128
"""Pixels along the side of a tile, if the reach is short."""

ROUNDING = 1 + 1e-9
"""Three pixels of 0.1 mm are 0.30000000000000004 mm, which is within 0.3 mm."""


def transform(elsewhere: Bools, spacing: tuple[float, ...], **options: Any) -> Any:
    """Return SciPy's Euclidean distance of each pixel to the nearest one that is False."""
    from scipy.ndimage import distance_transform_edt

    return distance_transform_edt(elsewhere, None if set(spacing) == {1.0} else spacing, **options)


def to_nearest(sources: Bools, spacing: tuple[float, ...], reach: float = inf) -> Distances:
    """Return the distance of each pixel to the nearest source; infinite where there is none within the reach."""
    out = np.full(sources.shape, inf)
    for tile, window, inner in _tiles(sources.shape, spacing, reach):
        if sources[window].any():
            found = transform(~sources[window], spacing)[inner]
            out[tile] = np.where(found <= reach * ROUNDING, found, inf)
    return out


def to_others(classes: Codes, spacing: tuple[float, ...], reach: float) -> Distances:
    """Return the distance of each pixel to the nearest pixel of another class; infinite beyond the reach.

    Class 0 is void: neither one nor another.
    """
    out = np.full(classes.shape, inf)
    for tile, window, inner in _tiles(classes.shape, spacing, reach):
        around = classes[window]
        if _several(around):
            out[tile] = _to_others(classes[tile], around, inner, spacing, reach)
    return out


def to_two_nearest(objects: Codes, spacing: tuple[float, ...], reach: float) -> Iterator[tuple[Slices, Distances]]:
    """Yield for parts of the image the distance to the nearest object plus that to the second nearest.

    Sums that exceed the reach may be left out or infinite. Where the sum is within the reach, the second object is
    within the reach of the pixel, and the first within half of it.
    """
    half = reach / 2 * ROUNDING
    for tile, window, inner in _tiles(objects.shape, spacing, reach):
        around = objects[window]
        if not _several(around):
            continue
        close = _grown(inner, _margin(spacing, half), around.shape)
        if not around[close].any():
            continue
        own = _within(inner, close)
        first, places = transform(around[close] == 0, spacing, return_indices=True)
        nearest = around[close][tuple(axis[own] for axis in places)]
        first = first[own]
        nearest[first > half] = 0
        yield tile, first + _to_others(nearest, around, inner, spacing, reach)


def _several(classes: Codes) -> bool:
    """Whether there is more than one class, besides 0."""
    highest = classes.max()
    return bool(((classes != highest) & (classes != 0)).any())


def _to_others(own: Codes, around: Codes, inner: Slices, spacing: tuple[float, ...], reach: float) -> Distances:
    """Return the distance of each pixel of a tile to the nearest pixel around that is of another class than its own.

    The own class of a pixel is the class of the pixel, or of the nearest one that has a class. ``reach`` bounds the
    distance, or its sum with the distance to the own class: what is within it is also within the reach of the class.

    There are two exact ways. One looks from each class in turn, in a window around it. The other numbers the classes,
    and looks from those whose number has a given bit, and from those without it: two different numbers differ in some
    bit, so the smallest distance over all bits is the one. That takes 2 log₂ K transforms of the whole instead of K
    of windows.
    """
    from scipy.ndimage import find_objects

    out = np.full(own.shape, inf)
    margin = _margin(spacing, reach)
    boxes = find_objects(around)
    parts = []
    for k, place in enumerate(find_objects(own), 1):
        if place is not None:
            here = tuple(slice(p.start + i.start, p.stop + i.start) for p, i in zip(place, inner, strict=True))
            grown = zip(*(_grown(x, margin, around.shape) for x in (here, boxes[k - 1])), strict=True)
            window = tuple(slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in grown)
            parts.append((k, place, window, _within(here, window)))
    there = np.array([False, *(box is not None for box in boxes)])
    bits = int(there.sum()).bit_length()
    if sum(around[window].size for _, _, window, _ in parts) <= 2 * bits * around.size:
        for k, place, window, here in parts:
            seen = around[window]
            elsewhere = (seen == k) | (seen == 0)
            if not elsewhere.all():
                found = transform(elsewhere, spacing)[here]
                np.copyto(out[place], found, where=(own[place] == k) & (found <= reach * ROUNDING))
        return out
    numbers = np.cumsum(there) * there  # those that occur here, from 1 on
    own, around = numbers[own], numbers[around]
    for bit, value in product(range(bits), (0, 1)):
        elsewhere = ((around >> bit & 1) == value) | (around == 0)
        if not elsewhere.all():
            found = transform(elsewhere, spacing)[inner]
            here_too = ((own >> bit & 1) == value) & (own != 0) & (found <= reach * ROUNDING)
            np.minimum(out, found, out=out, where=here_too)
    return out


def _margin(spacing: tuple[float, ...], reach: float) -> tuple[int, ...]:
    """Return the pixels along each axis that are within the reach; -1 for all of them."""
    return tuple(ceil(reach * ROUNDING / side) if reach / side < 1e9 else -1 for side in spacing)


def _tiles(shape: tuple[int, ...], spacing: tuple[float, ...], reach: float) -> Iterator[tuple[Slices, Slices, Slices]]:
    """Yield each tile, its window, and the tile within the window."""
    axes = []
    for length, margin in zip(shape, _margin(spacing, reach), strict=True):
        side = max(LEAST_TILE, 4 * margin)
        if margin < 0 or side >= length:
            axes.append([(slice(0, length),) * 3])
            continue
        parts = []
        for start in range(0, length, side):
            stop = min(start + side, length)
            low, high = max(0, start - margin), min(length, stop + margin)
            parts.append((slice(start, stop), slice(low, high), slice(start - low, stop - low)))
        axes.append(parts)
    for chosen in product(*axes):
        tile, window, inner = zip(*chosen, strict=True)
        yield tile, window, inner


def _grown(place: Slices, margin: tuple[int, ...], shape: tuple[int, ...]) -> Slices:
    """Return a part of an image with a margin around it."""
    return tuple(
        slice(max(0, p.start - m), min(length, p.stop + m)) if m >= 0 else slice(0, length)
        for p, m, length in zip(place, margin, shape, strict=True)
    )


def _within(place: Slices, window: Slices) -> Slices:
    """Return where a place is in a window that holds it."""
    return tuple(slice(p.start - w.start, p.stop - w.start) for p, w in zip(place, window, strict=True))

"""The objects of an image: instances that are given, or the connected components of its foreground."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._images import Codes, Image, coded


def objects_of(image: Image, foreground: tuple[int, ...] | None) -> tuple[Codes, NDArray[np.intp]]:
    """Return the object of each pixel, 0 for none, and the code of the class of each object from 1 on.

    An object is of one class. Where instances are given, it is the pixels of a class with the same number; else those
    that are connected, be it at a corner. ``foreground`` are the labels of classes that have objects.
    """
    if image.instances is not None:
        inside = image.codes_of(foreground)[image.codes] if foreground is not None else image.codes != 0
        width = int(image.codes.max(initial=0)) + 1
        pairs = np.where(inside & (image.instances != 0), image.instances.astype(np.int64) * width + image.codes, 0)
        objects, names = coded(pairs, (0,))
        return objects, np.r_[0, names % width].astype(np.intp)
    chosen = np.r_[False, image.labels != 0] if foreground is None else image.codes_of(foreground)
    return _components(image.codes, chosen)


def _components(codes: Codes, chosen: NDArray[np.bool_]) -> tuple[Codes, NDArray[np.intp]]:
    from scipy.ndimage import find_objects, generate_binary_structure, label

    objects = np.zeros(codes.shape, dtype=np.int32)
    touching = generate_binary_structure(codes.ndim, codes.ndim)
    classes = [0]
    for code, place in enumerate(find_objects(codes), 1):
        if place is not None and chosen[code]:
            found, count = label(codes[place] == code, touching)
            found[found > 0] += len(classes) - 1
            objects[place] += found
            classes += [code] * count
    return objects, np.array(classes, dtype=np.intp)

"""Weight maps of 1024 x 2048 pixels, beside SciPy's own distance transforms of the same image.

``--write`` puts the figures into docs/understand/weightmaps.md.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from common import Bars, median, spread, write_section
from scipy import ndimage

from wmcc import weightmaps

SHAPE = (1024, 2048)
REPEAT = 9


def cells() -> np.ndarray:
    """A thousand small objects: 0 background, 1 cell."""
    rng = np.random.default_rng(0)
    labels = np.zeros(SHAPE, dtype=np.uint8)
    for y, x in rng.integers(0, SHAPE, (1500, 2)):
        height, width = rng.integers(8, 24, 2)
        labels[y : y + height, x : x + width] = 1
    return labels


def street() -> np.ndarray:
    """Eighteen classes in patches, and sixty objects of class 18."""
    rng = np.random.default_rng(1)
    smooth = [ndimage.gaussian_filter(rng.normal(size=(128, 256)), 6) for _ in range(18)]
    labels = np.argmax([ndimage.zoom(values, 8, order=1) for values in smooth], axis=0).astype(np.uint8)
    for y, x in rng.integers(0, SHAPE, (60, 2)):
        height, width = rng.integers(15, 90, 2)
        labels[y : y + height, x : x + width] = 18
    return labels


def border_by_hand(objects: np.ndarray) -> np.ndarray:
    """One transform for each object, as the formula says."""
    first, second = np.full(objects.shape, np.inf), np.full(objects.shape, np.inf)
    for k in range(1, objects.max() + 1):
        d = ndimage.distance_transform_edt(objects != k)
        second = np.minimum(second, np.maximum(first, d))
        first = np.minimum(first, d)
    return 1 + 10 * np.exp(-((first + second) ** 2) / 50)


def check(cell: np.ndarray, scene: np.ndarray) -> None:
    """Assert the answers, each against what one writes by hand."""
    whole = np.ones((3, 3))
    part = cell[:400, :500]
    assert np.allclose(weightmaps.border(part), border_by_hand(ndimage.label(part, whole)[0]), rtol=1e-6)
    by_hand = border_by_hand(ndimage.label(scene == 18, whole)[0])
    assert np.allclose(weightmaps.border(scene, foreground=18), by_hand, rtol=1e-6)
    d = ndimage.distance_transform_edt(scene != 18)
    assert np.allclose(weightmaps.distance(scene, to=18, scale=20), np.exp(-d / 20), rtol=1e-6)
    assert np.array_equal(weightmaps.distance(scene, to=18, radius=10), 1 + (d <= 10))
    near = np.zeros(SHAPE, dtype=bool)
    for label in range(19):
        near |= (scene == label) & (ndimage.distance_transform_edt(scene == label) <= 5)
    assert np.array_equal(weightmaps.boundary_band(scene, radius=5), near)
    objects, _ = ndimage.label(scene == 18, whole)
    sizes = np.bincount(objects.ravel())
    by_hand = np.where(objects > 0, sizes[1:].mean() / sizes[objects], 1)
    assert np.allclose(weightmaps.instance_size(scene, foreground=18), by_hand, rtol=1e-6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/understand/weightmaps.md")
    arguments = parser.parse_args()
    cell, scene = cells(), street()
    check(cell, scene)
    kinds = {
        "border, cells": (lambda: weightmaps.border(cell), cell == 0, 2),
        "border, street": (lambda: weightmaps.border(scene, foreground=18), scene != 18, 2),
        "distance with scale, street": (lambda: weightmaps.distance(scene, to=18, scale=20), scene != 18, 1),
        "distance with radius, street": (lambda: weightmaps.distance(scene, to=18, radius=10), scene != 18, 1),
        "boundary_band of 5 pixels, street": (lambda: weightmaps.boundary_band(scene, radius=5), scene != 18, 1),
        "boundary_iou_band, street": (lambda: weightmaps.boundary_iou_band(scene), scene != 18, 1),
        "instance_size, street": (lambda: weightmaps.instance_size(scene, foreground=18), scene != 18, 1),
    }
    bars = Bars()
    for name, (make, elsewhere, transforms) in kinds.items():
        ours, ratios = [], []
        for _ in range(REPEAT):  # in turn, since the speed of a shared machine drifts
            start = time.perf_counter()
            for _ in range(transforms):
                ndimage.distance_transform_edt(elsewhere)
            middle = time.perf_counter()
            make()
            ours.append(time.perf_counter() - middle)
            ratios.append(ours[-1] / (middle - start))
        note = f"{median(ours) * 1e3:.0f} ms; ratios {spread(ratios)} of the median"
        over = "two transforms" if transforms == 2 else "one transform"
        bars.add(f"{name}, over {over}", median(ratios), 2, "times", False, note)
    print(bars.markdown())
    if arguments.write:
        write_section("weightmaps", bars.markdown(), "understand/weightmaps.md")


if __name__ == "__main__":
    main()

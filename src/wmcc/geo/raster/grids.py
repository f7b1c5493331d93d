"""Whether two rasters have the same grid of pixels, and one brought onto the grid of another."""

from __future__ import annotations

import numpy as np

from ...core.arraytypes import Array
from ...errors import InputError
from .base import OpenRaster, Transform
from .crs import crs_name, same_crs

TOLERANCE = 1e-6
"""By how many pixels a corner may be off: what different programs make of one grid by rounding."""

HALF_TURN = 180
"""The largest longitude, unless they count from 0 to 360."""


def check_grid(truth: OpenRaster, other: OpenRaster) -> None:
    """Refuse rasters whose pixels do not lie on each other, with the sentence that says how they differ."""
    nearest = (
        f"`resample` 'nearest' of `wmcc.Raster` brings {other.name} onto the grid of {truth.name} by nearest neighbour."
    )
    if (truth.transform is None) != (other.transform is None):
        placed, free = (truth, other) if other.transform is None else (other, truth)
        raise InputError(
            f"{free.name} is not georeferenced, and {placed.name} is; whether their pixels match is not known.",
            f"give {free.name} the transform and CRS of its grid. If the pixels do match, give arrays of both.",
        )
    if truth.transform is None or other.transform is None:
        _check_shapes(truth, other)
        return
    check_systems(truth, other)
    if truth.crs is not None and other.crs is not None and not same_crs(truth.crs, other.crs):
        raise InputError(
            f"{truth.name} has the coordinate reference system {crs_name(truth.crs)}, and {other.name} "
            f"{crs_name(other.crs)}; expected the same.",
            f"{nearest} {OTHERWISE}",
        )
    near = TOLERANCE + truth.precision + other.precision
    a, b, c, d, e, f = other.transform
    if truth.shape == other.shape and _corners_apart(truth, other.transform, other.shape) <= near:
        return
    if truth.shape == other.shape[::-1] and _corners_apart(truth, (b, a, c, e, d, f), truth.shape) <= near:
        raise InputError(
            f"{truth.name} and {other.name} have the same grid, but rows and columns are exchanged: {_size(truth)} and "
            f"{_size(other)}.",
            nearest,
        )
    _check_steps(truth, other, near, nearest)
    _check_places(truth, other, near, nearest)


OTHERWISE = "To resample it in another way, use rio.reproject_match of rioxarray, for example."


def check_systems(truth: OpenRaster, other: OpenRaster) -> None:
    """Refuse two rasters of which one has no coordinate reference system."""
    if (truth.crs is None) != (other.crs is None):
        known, free = (truth, other) if other.crs is None else (other, truth)
        raise InputError(
            f"{free.name} has no coordinate reference system, and {known.name} has {crs_name(known.crs)}.",
            f"if it is the same, say so: `crs` {crs_name(known.crs)!r} of `wmcc.Raster`.",
            "crs",
        )


def _size(of: OpenRaster) -> str:
    return f"{of.shape[0]:,} x {of.shape[1]:,}"


def _check_shapes(truth: OpenRaster, other: OpenRaster) -> None:
    if truth.shape == other.shape:
        return
    turned = truth.shape == other.shape[::-1]
    raise InputError(
        f"{truth.name} has {_size(truth)} pixels, and {other.name} {_size(other)}"
        + ("; one of them seems to be transposed." if turned else "; expected the same."),
        "give arrays of both, and transpose one: array.T." if turned else
        "neither is georeferenced, so they cannot be aligned; cut both to the same part of the map.",
    )  # fmt: skip


def between(truth: Transform, other: Transform) -> Array:
    """The matrix from columns, rows and 1 of one grid to columns and rows of another."""
    a, b, c, d, e, f = truth
    theirs, origin = np.array([[other[0], other[1]], [other[3], other[4]]]), np.array([c - other[2], f - other[5]])
    ours = np.column_stack([np.array([[a, b], [d, e]]), origin])  # from corner to corner, so that no digits are lost
    steps: Array = np.linalg.solve(theirs, ours)
    return steps


def _corners_apart(truth: OpenRaster, transform: Transform, shape: tuple[int, int]) -> float:
    """How far the corners of another raster lie from where they lie on the grid of the truth, in pixels at most."""
    assert truth.transform is not None
    height, width = shape
    corners = np.array([[0, width, 0, width], [0, 0, height, height], [1, 1, 1, 1]], dtype=np.float64)
    return float(np.abs(between(transform, truth.transform) @ corners - corners[:2]).max())


def _check_steps(truth: OpenRaster, other: OpenRaster, near: float, nearest: str) -> None:
    """Refuse pixels of another size or direction."""
    assert truth.transform is not None
    assert other.transform is not None
    steps = between(other.transform, truth.transform)[:, :2]
    reach = np.maximum(truth.shape, other.shape)[::-1]
    if (np.abs(steps - np.eye(2)) @ reach).max() <= near:
        return
    mirrored = np.sign(np.diag(steps))
    if (np.abs(steps - np.diag(mirrored)) @ reach).max() <= near:
        what, dim = ("rows", "y") if mirrored[1] < 0 else ("columns", "x")
        raise InputError(
            f"the {what} of {truth.name} and those of {other.name} run in opposite directions.",
            f"turn an array round with sortby({dim!r}). For files, {nearest}",
        )
    rotated = [of.name for of in (truth, other) if of.transform is not None and (of.transform[1] or of.transform[3])]
    if rotated:
        raise InputError(f"{rotated[0]} is rotated, and the grids of {truth.name} and {other.name} differ.", nearest)
    texts = [""]
    for digits in range(6, 18):  # as many as it takes to see that they differ
        texts = [f"{abs(of[0]):.{digits}g} x {abs(of[4]):.{digits}g}" for of in (truth.transform, other.transform)]
        if texts[0] != texts[1]:
            break
    raise InputError(
        f"the pixels of {truth.name} are {texts[0]} units of its coordinates, and those of {other.name} {texts[1]}; "
        "expected the same size.",
        f"{nearest} {OTHERWISE}",
    )


def _check_places(truth: OpenRaster, other: OpenRaster, near: float, nearest: str) -> None:
    """Refuse pixels of the same size at other places."""
    assert truth.transform is not None
    assert other.transform is not None
    right, down = (float(x) for x in between(other.transform, truth.transform)[:, 2])
    if truth.crs is not None and truth.crs.is_geographic and _beyond(truth) != _beyond(other):
        ranges = ["0 to 360" if _beyond(of) else "-180 to 180" for of in (truth, other)]
        raise InputError(
            f"the longitudes of {truth.name} run from {ranges[0]} degrees, and those of {other.name} from {ranges[1]}.",
            f"{nearest} Longitudes that differ by 360 degrees are the same to it.",
        )
    if right >= truth.shape[1] or down >= truth.shape[0] or right <= -other.shape[1] or down <= -other.shape[0]:
        raise InputError(
            f"{truth.name} and {other.name} do not overlap: the second begins {_offset(right, down)} from the corner "
            f"of the first, which has {_size(truth)} pixels.",
            "check that both are of the same place, and that their coordinate reference systems are the right ones.",
        )
    if max(abs(x - round(x)) for x in (right, down)) > near:
        raise InputError(
            f"{other.name} is shifted by {_offset(right, down)} against {truth.name}; expected the same grid.",
            f"{nearest} {OTHERWISE}",
        )
    apart = _offset(round(right), round(down))
    exchanged = " If rows and columns are exchanged, write it again from the transposed array."
    raise InputError(
        f"{truth.name} has {_size(truth)} pixels, and {other.name} has {_size(other)} and begins {apart or 'at'}"
        f"{' from' * bool(apart)} its corner: the grid is the same, but the extent is not.",
        f"{nearest} Here that is exact; pixels outside of {other.name} are not known."
        + exchanged * (truth.shape == other.shape[::-1]),
    )


def _beyond(of: OpenRaster) -> bool:
    """Whether longitudes count from 0 to 360."""
    assert of.transform is not None
    step, first = of.transform[0], of.transform[2]
    return max(first, first + of.shape[1] * step) > HALF_TURN + abs(step)


def _offset(right: float, down: float) -> str:
    """How many pixels lie between two corners, and in which direction: ``0.5 pixels to the right, 2 pixels up``."""
    parts = []
    for x, ways in ((round(right, 6), ("to the left", "to the right")), (round(down, 6), ("up", "down"))):
        if x:
            parts.append(f"{abs(x):,.6g} pixel{'' if abs(x) == 1 else 's'} {ways[x > 0]}")
    return " and ".join(parts)

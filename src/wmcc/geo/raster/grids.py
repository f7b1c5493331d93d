"""Whether two rasters have the same grid of pixels, and one brought onto the grid of another."""

from __future__ import annotations

from math import hypot

import numpy as np

from ...core.arraytypes import Array
from ...errors import InputError
from .base import OpenRaster, Transform
from .crs import crs_name, same_crs

TOLERANCE = 1e-6
"""By how many pixels a corner may be off without a word: what different programs make of one grid by rounding."""

NOTED = 1e-3
"""By how many pixels a corner may be off at all; no label changes by that, and it is said."""

HALF_TURN = 180
"""The largest longitude, unless they count from 0 to 360."""


def check_grid(truth: OpenRaster, other: OpenRaster) -> str | None:
    """Refuse rasters whose pixels do not lie on each other, with the sentence that says how they differ.

    A sentence comes back if they differ by so little that they are taken to lie on each other.
    """
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
        return None
    check_systems(truth, other)
    if truth.crs is not None and other.crs is not None and not same_crs(truth.crs, other.crs):
        raise InputError(
            f"{truth.name} has the coordinate reference system {crs_name(truth.crs)}, and {other.name} "
            f"{crs_name(other.crs)}; expected the same.",
            f"{nearest} {OTHERWISE}",
        )
    near = TOLERANCE + truth.precision + other.precision
    change = between(other.transform, truth.transform)
    height, width = other.shape
    corners = np.array([[0, width, 0, width], [0, 0, height, height], [1, 1, 1, 1]], dtype=np.float64)
    off = float(np.abs(change @ corners - corners[:2]).max())
    if truth.shape == other.shape and off <= max(near, NOTED):
        if off <= near:
            return None
        return (
            f"{other.name} lies up to {off:.2g} pixels off the grid of {truth.name}. That is taken for rounding: their "
            "pixels are taken to lie on each other."
        )
    near = max(near, NOTED)
    reach = np.maximum(truth.shape, other.shape)[::-1]
    if (np.abs(change[:, :2] - np.eye(2)) @ reach).max() > near:
        raise _other_pixels(truth, other, nearest)
    right, down = change[:, 2].tolist()
    raise _other_place(truth, other, right, down, near, nearest)


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


def _other_pixels(truth: OpenRaster, other: OpenRaster, nearest: str) -> InputError:
    """Say that pixels have another size or direction."""
    for digits in range(6, 18):  # as many as it takes to see that they differ
        ours, theirs = (
            f"{hypot(a, d):.{digits}g} x {hypot(b, e):.{digits}g}" for a, b, _, d, e, _ in (truth.grid, other.grid)
        )
        if ours != theirs:
            return InputError(
                f"the pixels of {truth.name} are {ours} units of its coordinates, and those of {other.name} {theirs}; "
                "expected the same size.",
                f"{nearest} {OTHERWISE}",
            )
    return InputError(
        f"the rows or columns of {truth.name} and those of {other.name} run in different directions.",
        f"turn an array round with sortby('y') or sortby('x'). For files, {nearest}",
    )


def _other_place(
    truth: OpenRaster, other: OpenRaster, right: float, down: float, near: float, nearest: str
) -> InputError:
    """Say that pixels of the same size are at other places."""
    if truth.crs is not None and truth.crs.is_geographic and _beyond(truth) != _beyond(other):
        ranges = ["0 to 360" if _beyond(of) else "-180 to 180" for of in (truth, other)]
        return InputError(
            f"the longitudes of {truth.name} run from {ranges[0]} degrees, and those of {other.name} from {ranges[1]}.",
            f"{nearest} Longitudes that differ by 360 degrees are the same to it.",
        )
    if right >= truth.shape[1] or down >= truth.shape[0] or right <= -other.shape[1] or down <= -other.shape[0]:
        return InputError(
            f"{truth.name} and {other.name} do not overlap: the second begins {_offset(right, down)} from the corner "
            f"of the first, which has {_size(truth)} pixels.",
            "check that both are of the same place, and that their coordinate reference systems are the right ones.",
        )
    if max(abs(x - round(x)) for x in (right, down)) > near:
        return InputError(
            f"{other.name} is shifted by {_offset(right, down)} against {truth.name}; expected the same grid.",
            f"{nearest} {OTHERWISE}",
        )
    apart = _offset(round(right), round(down))
    return InputError(
        f"{truth.name} has {_size(truth)} pixels, and {other.name} has {_size(other)} and begins {apart or 'at'}"
        f"{' from' * bool(apart)} its corner: the grid is the same, but the extent is not.",
        f"{nearest} Here that is exact; pixels outside of {other.name} are not known: if it is the map, they count as "
        "errors, unless `missing` is 'ignore'.",
    )


def _beyond(of: OpenRaster) -> bool:
    """Whether longitudes count from 0 to 360."""
    step, first = of.grid[0], of.grid[2]
    return max(first, first + of.shape[1] * step) > HALF_TURN + abs(step)


def _offset(right: float, down: float) -> str:
    """How many pixels lie between two corners, and in which direction: ``0.5 pixels to the right, 2 pixels up``."""
    parts = []
    for x, ways in ((round(right, 6), ("to the left", "to the right")), (round(down, 6), ("up", "down"))):
        if x:
            parts.append(f"{abs(x):,.6g} pixel{'' if abs(x) == 1 else 's'} {ways[x > 0]}")
    return " and ".join(parts)

"""A raster on the grid of another, by nearest neighbour."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ... import optional
from ...core.arraytypes import Array
from ...errors import InputError
from ...present.text import listed, percent
from .base import OpenRaster
from .crs import crs_name, same_crs
from .grids import between, check_systems

TIE = 1e-6
"""A centre this near to the border of two pixels, in pixels, is in the right or lower one, whatever rounding does."""

FEW_TIES = 0.05
"""Share of ties that is not worth a word: grids that have nothing to do with each other have some by chance."""

MOST = 1 << 24
"""Pixels that are read at once; more are read in parts."""

PLANE = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
"""The grid whose columns and rows are coordinates."""

SAMPLE = 64
"""Rows and columns of the centres that tell whether rasters of different systems overlap."""


def aligned(other: OpenRaster, truth: OpenRaster) -> OpenRaster:
    """Return a raster on the grid of another one: each pixel has the value of the pixel its centre lies in.

    Centres are transformed one by one, without interpolation. What lies outside of ``other`` is not known. Longitudes
    that differ by 360 degrees are the same.

    Parameters
    ----------
    other
        The raster to read.
    truth
        The raster that has the grid.

    Returns
    -------
    OpenRaster
        It is read window by window, and nothing is read yet.

    Examples
    --------
    >>> import xarray as xr, wmcc
    >>> from wmcc.geo.raster import aligned
    >>> fine = xr.DataArray([[1, 2, 3, 4], [5, 6, 7, 8]], {"y": [1.5, 0.5], "x": [0.5, 1.5, 2.5, 3.5]}, ("y", "x"))
    >>> wide = xr.DataArray([[0, 0, 0], [0, 0, 0]], {"y": [1.4, -0.6], "x": [0.8, 2.8, 4.8]}, ("y", "x"))
    >>> values, known = aligned(wmcc.Raster(fine), wmcc.Raster(wide)).read(slice(0, 2), slice(0, 3))
    >>> values[known], known[0]
    (array([1, 3]), array([ True,  True, False]))
    """
    for each in (other, truth):
        if each.transform is None:
            raise InputError(
                f"{each.name} is not georeferenced, so {other.name} and {truth.name} cannot be aligned.",
                "give it a transform or coordinates, and a coordinate reference system.",
            )
    check_systems(truth, other)
    source = _Nearest(other, truth)
    if not source.overlaps():
        raise InputError(
            f"{truth.name} and {other.name} do not overlap.",
            "check that both are of the same place, and that their coordinate reference systems are the right ones.",
        )
    return replace(
        other, shape=truth.shape, crs=truth.crs, transform=truth.transform, block_shape=truth.block_shape,
        precision=truth.precision, source=source,
    )  # fmt: skip


def ties(found: OpenRaster, truth: OpenRaster) -> str | None:
    """Say if centres of pixels lie on borders of the pixels that they are brought from; ``found`` is `aligned`."""
    assert isinstance(found.source, _Nearest)
    shares = found.source.ties()
    share = 1 - (1 - shares[0]) * (1 - shares[1])
    if share <= FEW_TIES:
        return None
    side = listed([way for way, own in zip(("to the right", "below"), shares, strict=True) if own > FEW_TIES])
    return (
        f"{percent(share)} of the pixels of {truth.name} have their centre on a border of two pixels of {found.name}: "
        f"which one is nearest is a toss, and the one {side} is taken. If the two grids should lie on each other, one "
        "of them is placed wrong, as when coordinates of corners are taken for those of centres: correct its place."
    )


class _Places(NamedTuple):
    """Rows and columns in the other raster, and which of them it has; they broadcast, and are small where they can."""

    rows: Array
    cols: Array
    down: Array
    across: Array

    def inside(self) -> Array:
        return np.asarray(self.down & self.across)


class _Nearest:
    """The pixels of one raster that the centres of another's pixels lie in."""

    def __init__(self, other: OpenRaster, truth: OpenRaster) -> None:
        self.other, self.truth = other, truth
        self.direct = between(truth.grid, other.grid)
        self.transformer: Any = None
        if truth.crs is not None and other.crs is not None and not same_crs(truth.crs, other.crs):
            pyproj = optional.module("pyproj", "raster")
            try:
                self.transformer = pyproj.Transformer.from_crs(truth.crs, other.crs, always_xy=True)
            except pyproj.exceptions.ProjError as problem:
                raise InputError(
                    f"coordinates of {truth.name} ({crs_name(truth.crs)}) cannot be transformed to those of "
                    f"{other.name} ({crs_name(other.crs)}): {problem}"
                ) from None
            self.to_coordinates = between(truth.grid, PLANE)
            self.to_pixels = between(PLANE, other.grid)
        self.separable = self.transformer is None and self.direct[0, 1] == 0 == self.direct[1, 0]
        self.turn: Array | None = None  # how many columns and rows lie between a place and the same place, once round
        if other.crs is not None and other.crs.is_geographic:
            self.circle = 2 * np.pi / other.crs.axis_info[0].unit_conversion_factor
            self.turn = between(PLANE, other.grid)[:, 0] * self.circle
            self.separable = self.separable and other.grid[1] == 0 == other.grid[3]

    def places(self, rows: Array, cols: Array) -> _Places:
        """Where the centres of some rows and columns of the truth lie."""
        j, i = cols[np.newaxis, :] + 0.5, rows[:, np.newaxis] + 0.5
        if self.separable:
            x, y = self.direct[0, 0] * j + self.direct[0, 2], self.direct[1, 1] * i + self.direct[1, 2]
        elif self.transformer is None:
            x, y = (row[0] * j + row[1] * i + row[2] for row in self.direct)
        else:
            east, north = (row[0] * j + row[1] * i + row[2] for row in self.to_coordinates)
            east, north = self.transformer.transform(*np.broadcast_arrays(east, north))
            with np.errstate(invalid="ignore"):  # infinite where a projection has no such place
                x, y = (row[0] * east + row[1] * north + row[2] for row in self.to_pixels)
        x, y = np.asarray(x) + TIE, np.asarray(y) + TIE
        height, width = self.other.shape
        with np.errstate(invalid="ignore"):
            if self.turn is not None:
                x, y = self._turned_round(x, y)
            across, down = (x >= 0) & (x < width), (y >= 0) & (y < height)
            x, y = np.where(across, x, 0).astype(np.int64), np.where(down, y, 0).astype(np.int64)
        return _Places(y, x, down, across)

    def _turned_round(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Columns and rows of places that are outside, by as many turns round the earth as bring them nearest."""
        assert self.turn is not None
        (height, width), (a, b, _, d, _, _) = self.other.shape, self.other.grid
        outside, east = (x < 0) | (x >= width), a * (x - width / 2)
        if b or d:
            outside, east = outside | (y < 0) | (y >= height), east + b * (y - height / 2)
        times = np.where(outside, np.round(east / self.circle), 0)
        return x - times * self.turn[0], y - times * self.turn[1] if b or d else y

    def ties(self) -> tuple[float, float]:
        """The share of columns and of rows whose centres lie on borders of pixels; 0 where that happens by chance."""
        if not self.separable:
            return 0.0, 0.0
        height, width = self.truth.shape
        found = []
        for axis, count in enumerate((width, height)):
            at = self.direct[axis, axis] * (np.arange(count) + 0.5) + self.direct[axis, 2]
            at = at[(at > TIE) & (at < self.other.shape[1 - axis] - TIE)]
            found.append(float((np.abs(at - np.round(at)) <= TIE).mean()) if len(at) else 0.0)
        return found[0], found[1]

    def overlaps(self) -> bool:
        """Whether some centre of the truth lies in the other raster."""
        if self.separable:
            every = self.places(*map(np.arange, self.truth.shape))
            return bool(every.down.any() and every.across.any())
        return self._meets_sample() or _Nearest(self.truth, self.other)._meets_sample()

    def _meets_sample(self) -> bool:
        """Whether some of a sample of centres lies in the other raster."""
        rows, cols = (np.unique(np.linspace(0, n - 1, SAMPLE).round()) for n in self.truth.shape)
        return bool(self.places(rows, cols).inside().any())

    def read(self, rows: slice, cols: slice) -> tuple[Array, Array | None]:
        """Read what lies under a window of the truth."""
        found = self.places(np.arange(rows.start, rows.stop), np.arange(cols.start, cols.stop))
        shape = (rows.stop - rows.start, cols.stop - cols.start)
        inside = np.broadcast_to(found.inside(), shape)
        if not inside.any():
            return np.zeros(shape, self.other.dtype), np.zeros(shape, np.bool_)
        down, across = (found.down, found.across) if self.separable else (inside, inside)
        i, j = found.rows[down], found.cols[across]
        top, bottom, left, right = int(i.min()), int(i.max()) + 1, int(j.min()), int(j.max()) + 1
        if (bottom - top) * (right - left) > MOST and max(shape) > 1:
            return self._in_halves(rows, cols)
        values, known = self.other.source.read(slice(top, bottom), slice(left, right))
        i, j = np.clip(found.rows - top, 0, bottom - top - 1), np.clip(found.cols - left, 0, right - left - 1)
        if self.separable:  # row by row, which is much faster than pixel by pixel
            i, j = i[:, 0], j[0]
            values = values.take(i, axis=0).take(j, axis=1)
            known = None if known is None else known.take(i, axis=0).take(j, axis=1)
        else:
            values, known = values[i, j], None if known is None else known[i, j]
        return values, inside if known is None else inside & known

    def _in_halves(self, rows: slice, cols: slice) -> tuple[Array, Array]:
        """The same in two parts, where the pixels that lie under the window are many."""
        tall = rows.stop - rows.start >= cols.stop - cols.start
        whole = rows if tall else cols
        middle = (whole.start + whole.stop) // 2
        halves = slice(whole.start, middle), slice(middle, whole.stop)
        parts = [self.read(half, cols) if tall else self.read(rows, half) for half in halves]
        axis = 0 if tall else 1
        every = [np.ones(values.shape, np.bool_) if known is None else known for values, known in parts]
        return np.concatenate([values for values, _ in parts], axis), np.concatenate(every, axis)

    def close(self) -> None:
        self.other.close()

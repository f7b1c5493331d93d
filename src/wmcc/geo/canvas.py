"""The ground of a picture of a map: its cells, where they lie, and how long a metre is on it."""

from __future__ import annotations

from math import ceil, cos, hypot, radians
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import IntArray
from ..optional import module

PAIRS = 2_000_000
"""Pairs of a polygon and a cell in its bounds that are looked at at a time."""

MANY = 32
"""Cells in the bounds of a polygon beyond which it pays to prepare it."""

Extent = tuple[float, float, float, float]
"""Left, right, bottom and top of a picture, in the units of its coordinate reference system."""


class Ground(NamedTuple):
    """How a plane lies on the earth at its middle."""

    metres: tuple[float, float] | None  # per unit of x and of y, if that is known
    north: float  # degrees from up to north, clockwise


NO_GROUND = Ground(None, 0.0)
"""Where nothing is known of it."""


def ground(
    crs: Any, x: float, y: float, right: tuple[float, float] = (1.0, 0.0), up: tuple[float, float] = (0.0, 1.0)
) -> Ground:
    """Measure the ground at a place, along two directions; unknown without a system, or where its projection ends.

    Examples
    --------
    >>> from pyproj import CRS
    >>> found = ground(CRS("EPSG:4326"), 10, 60)
    >>> [round(x) for x in found.metres], round(found.north)
    ([55800, 111412], 0)
    """
    if crs is None or crs.geodetic_crs is None:
        return NO_GROUND
    degrees = module("pyproj").Transformer.from_crs(crs, crs.geodetic_crs, always_xy=True)
    geod, step, found = crs.get_geod(), 1e-4 if crs.is_geographic else 10.0, []
    for dx, dy in (right, up):
        length = hypot(dx, dy)
        dx, dy = step * dx / length, step * dy / length
        lon, lat = degrees.transform([x - dx, x + dx], [y - dy, y + dy])
        if not np.isfinite([*lon, *lat]).all():
            return NO_GROUND
        azimuth, _, metres = geod.inv(lon[0], lat[0], lon[1], lat[1])
        found.append((azimuth, metres / (2 * step) * length))
    (_, wide), (azimuth, high) = found
    return Ground((wide, high), (180 - azimuth) % 360 - 180) if wide > 0 and high > 0 else NO_GROUND


def crs_title(crs: Any) -> str:
    """Name of a coordinate reference system, with its number if it has one.

    Examples
    --------
    >>> from pyproj import CRS
    >>> crs_title(CRS("EPSG:25832"))
    'ETRS89 / UTM zone 32N (EPSG:25832)'
    """
    number = crs.to_authority()
    name = "a coordinate reference system without a name" if crs.name in ("", "undefined", "unknown") else crs.name
    return f"{name} ({':'.join(number)})" if number else name


class Canvas(NamedTuple):
    """Cells of a picture: so many rows and columns over an extent, the first row on top."""

    extent: Extent
    shape: tuple[int, int]

    @classmethod
    def over(cls, extent: Extent, crs: Any, size: int) -> Canvas:
        """Divide an extent into cells that are about square on the ground, ``size`` along the longer side."""
        left, right, bottom, top = extent
        narrow = cos(radians(min(89.0, abs(bottom + top) / 2))) if crs is not None and crs.is_geographic else 1.0
        wide, high = (right - left) * narrow, top - bottom
        side = max(wide, high) / size
        return cls(extent, (min(size, max(1, ceil(high / side))), min(size, max(1, ceil(wide / side)))))

    def polygons(self, geometry: Any) -> IntArray:
        """Return the number of the polygon that the centre of each cell lies in; −1 where there is none.

        The first counts where several meet or overlap.

        Examples
        --------
        >>> import shapely
        >>> Canvas((0, 3, 0, 2), (2, 3)).polygons([shapely.box(0, 0, 2, 1), shapely.box(2, 0, 3, 2)])
        array([[-1, -1,  1],
               [ 0,  0,  1]])
        """
        shapely = module("shapely")
        parts, of = shapely.get_parts(geometry, return_index=True)
        there = ~shapely.is_empty(parts)
        parts, of = parts[there], of[there]
        left, right, bottom, top = self.extent
        dx, dy = (right - left) / self.shape[1], (top - bottom) / self.shape[0]
        x0, y0, x1, y1 = shapely.bounds(parts).T
        cols, rows = _centres(x0 - left, x1 - left, dx, self.shape[1]), _centres(top - y1, top - y0, dy, self.shape[0])
        pairs = cols[1] * rows[1]
        some = np.flatnonzero(pairs)
        parts, of, pairs = parts[some], of[some], pairs[some]
        (col, width), (row, _) = ((first[some], count[some]) for first, count in (cols, rows))
        found = np.full(self.shape[0] * self.shape[1], len(geometry), dtype=np.int64)
        ends = np.cumsum(pairs)
        start = 0
        while start < len(parts):
            stop = max(start + 1, int(np.searchsorted(ends, ends[start] - pairs[start] + PAIRS, side="right")))
            own = slice(start, stop)
            which = np.repeat(np.arange(start, stop), pairs[own])
            place = np.arange(len(which)) - np.repeat(ends[own] - pairs[own] - (ends[start] - pairs[start]), pairs[own])
            c, r = col[which] + place % width[which], row[which] + place // width[which]
            cell = r * self.shape[1] + c
            open_ = np.flatnonzero(found[cell] > of[which])
            which, c, r, cell = which[open_], c[open_], r[open_], cell[open_]
            large = parts[own][pairs[own] > MANY]
            shapely.prepare(large)
            inside = shapely.intersects_xy(parts[which], left + (c + 0.5) * dx, top - (r + 0.5) * dy)
            shapely.destroy_prepared(large)
            np.minimum.at(found, cell[inside], of[which[inside]])
            start = stop
        found[found == len(geometry)] = -1
        return found.reshape(self.shape)


def _centres(low: Any, high: Any, step: float, count: int) -> tuple[IntArray, IntArray]:
    """First cell whose centre lies between two distances from the edge, and how many there are."""
    first = np.clip(np.ceil(low / step - 0.5), 0, count).astype(np.int64)
    last = np.clip(np.floor(high / step - 0.5), -1, count - 1).astype(np.int64)
    return first, np.maximum(last - first + 1, 0)

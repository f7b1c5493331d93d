"""The ground of a picture of a map: its cells, where they lie, and how long a metre is on it."""

from __future__ import annotations

from math import ceil, cos, hypot, radians
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import IntArray
from ..optional import module

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
        shapely, (left, right, bottom, top), (high, wide) = module("shapely"), self.extent, self.shape
        parts, of = shapely.get_parts(geometry, return_index=True)
        x = left + (np.arange(wide) + 0.5) * ((right - left) / wide)
        y = top - (np.arange(high) + 0.5) * ((top - bottom) / high)
        x0, y0, x1, y1 = shapely.bounds(parts).T
        first, last = np.searchsorted(x, x0), np.searchsorted(x, x1, "right")
        up, down = np.searchsorted(-y, -y1), np.searchsorted(-y, -y0, "right")
        found: IntArray = np.full(self.shape, -1, dtype=np.int64)
        for k in np.flatnonzero((first < last) & (up < down))[::-1]:  # the first comes last
            rows, cols = slice(up[k], down[k]), slice(first[k], last[k])
            shapely.prepare(parts[k])
            found[rows, cols][shapely.intersects_xy(parts[k], x[cols], y[rows, np.newaxis])] = of[k]
            shapely.destroy_prepared(parts[k])
        return found

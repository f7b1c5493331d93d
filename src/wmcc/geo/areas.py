"""Areas of polygons and of pixels, on the ellipsoid of their coordinate reference system.

A CRS in degrees has no areas of its own, and those in the plane of a projection may be far off: twice too large at 45°
in Web Mercator. So vertices are brought to longitude and latitude on the ellipsoid of their CRS, and areas are
computed there.

The area below an edge, down to the equator, is Δλ (Y₁ + Y₂) / 2 if Y(φ) is the area of a zone from the equator to φ,
one radian wide, and the edge is straight in (λ, Y). A geodesic bulges from that line towards the pole, by an area of
Δλ sin φ / 12 ((p Δλ)² + 3 (ΔY / p)²), with p the radius of the parallel. What remains is of the fifth order in the
length of the edge: `REMAINDER` bounds it. Edges that are too long for that are left to GeographicLib (pyproj).
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.threads import in_order, processors
from ..errors import InputError, MapWarning
from ..optional import module
from .raster.crs import called

Floats = NDArray[np.float64]
S = TypeVar("S")
U = TypeVar("U")
T = TypeVar("T", bound=np.generic)

METRES: dict[str, float] = {"ha": 1e4, "km2": 1e6, "m2": 1.0}
"""Units of area, in square metres."""

PRECISION = 1e-10
"""Largest relative error of an area that comes from edges being long; 1 cm² is never too much."""

REMAINDER = 0.006
"""The area that the formula of an edge of length L misses is at most this × L⁵ (1 + tan⁴ φ) / a³."""

LONGEST = 1e6
"""The longest edge, in metres, whose area on a projection is within about 0.1 % of that with a geodesic."""

BLOCK = 1 << 16
"""Vertices that are measured at once."""

ELSEWHERE = 1e-3
"""Pixels that a corner is off, once it was taken to longitude and latitude and back, if it is no place of the map."""

UNEVEN, TOO_UNEVEN = 1e-3, 1e-2
"""How far areas of pixels may be from the mean of their row, which they get: without a word, and with a warning."""


# ---- polygons ------------------------------------------------------------------------------------------


def polygon_areas(geometry: Any, crs: Any, unit: str = "ha") -> Floats:
    """Return the areas of polygons on the ellipsoid of their CRS, with geodesics between the vertices.

    Parameters
    ----------
    geometry
        An array of polygons and multipolygons of shapely. Rings may run either way; holes are left out of the area. All
        that is no polygon has the area 0.
    crs
        Their coordinate reference system, as pyproj takes it. x comes first, whatever the CRS says of its axes.
    unit
        ``"ha"``, ``"km2"`` or ``"m2"``.

    Examples
    --------
    >>> import shapely
    >>> polygon_areas([shapely.box(9, 45, 9.1, 45.1)], "EPSG:4326", unit="km2").round(2)
    array([87.55])
    """
    crs = module("pyproj").CRS.from_user_input(crs)
    jumps: list[int] = []

    def areas_of(ellipsoid: Ellipsoid, geodetic: Any, part: Rings) -> Floats:
        lon, lat = lonlat(crs, geodetic, part)
        if in_degrees(crs):
            jumps.extend(_jumps(lon, part))
        return _geodesic(ellipsoid, lon, lat, part)

    areas = _by_rings(geometry, crs, areas_of)
    if jumps:
        which = f"the polygon of row {jumps[0]} has"
        if len(set(jumps)) > 1:
            which = f"{len(set(jumps)):,} polygons (the first in row {min(jumps)}) have"
        warnings.warn(
            f"{which} edges through more than 180° of longitude. They are taken as edges over the antimeridian, the "
            "shorter way round. If they are meant to go the longer way, give them vertices in between: "
            "data.geometry.segmentize(1).",
            MapWarning,
            stacklevel=2,
        )
    return areas / METRES[unit]


def plane_areas(geometry: Any, crs: Any, unit: str = "ha") -> Floats:
    """Return the areas of polygons on the ellipsoid, if their edges are straight in the plane of their CRS.

    They are then as additive as those in the plane, since what is cut has the same edges. In an equal-area projection
    they are those in the plane. In others, edges are measured on Lambert's projection, with and without a vertex in the
    middle; what a curve encloses follows from the two.

    Examples
    --------
    >>> import shapely
    >>> plane_areas([shapely.box(9, 45, 9.1, 45.1), shapely.box(9, 45, 9.05, 45.1)], "EPSG:4326", "km2").round(4)
    array([87.5484, 43.7742])
    """
    crs = module("pyproj").CRS.from_user_input(crs)
    if _keeps_areas(crs):
        plane: Floats = module("shapely").area(geometry) * crs.axis_info[0].unit_conversion_factor ** 2
        return plane / METRES[unit]

    def areas_of(ellipsoid: Ellipsoid, geodetic: Any, part: Rings) -> Floats:
        halves = part.halved()
        xy = _lambert(ellipsoid, *lonlat(crs, geodetic, halves), halves)
        vertices = 2 * np.arange(len(part.xy)) - np.repeat(np.arange(len(part.start)), part.size)
        fine, coarse = _enclosed(xy, halves), _enclosed(xy[vertices], part)
        return np.abs(fine + (fine - coarse) / 3)

    return _by_rings(geometry, crs, areas_of) / METRES[unit]


def _by_rings(geometry: Any, crs: Any, areas_of: Callable[[Ellipsoid, Any, Rings], Floats]) -> Floats:
    """Areas of polygons in square metres, from those of their rings on the ellipsoid of a CRS."""
    geometry, geodetic = np.asarray(geometry, dtype=object), _geodetic(crs)
    ellipsoid, rings = Ellipsoid.of(geodetic), rings_of(geometry)
    if not len(rings.xy):
        return np.zeros(len(geometry))
    areas = rings.in_blocks(lambda part: areas_of(ellipsoid, geodetic, part))
    return np.maximum(np.bincount(rings.owner, np.where(rings.hole, -areas, areas), len(geometry)), 0.0)


def _keeps_areas(crs: Any) -> bool:
    """Whether areas in the plane of a CRS are those on its ellipsoid."""
    operation = crs.coordinate_operation if crs.is_projected else None
    method = "" if operation is None else operation.method_name
    return ("Equal Area" in method or method == "Equal Earth") and "Spherical" not in method


class Rings(NamedTuple):
    """Vertices of the rings of polygons, one ring after the other; the last of a ring is its first once more."""

    xy: Floats
    start: NDArray[np.intp]
    """Where each ring starts."""
    owner: NDArray[np.intp]
    """Place of the geometry that each ring belongs to."""
    hole: NDArray[np.bool_]

    @property
    def size(self) -> NDArray[np.intp]:
        """How many vertices each ring has."""
        return np.diff(np.append(self.start, len(self.xy)))

    @property
    def last(self) -> NDArray[np.intp]:
        """Where each ring ends."""
        return np.append(self.start[1:], len(self.xy)) - 1

    def row(self, vertex: Any) -> Any:
        """Return the place of the geometry that a vertex belongs to."""
        return self.owner[np.searchsorted(self.start, vertex, "right") - 1]

    def halved(self) -> Rings:
        """Return the same rings with a vertex in the middle of each edge."""
        xy = np.empty((2 * len(self.xy) - 1, 2))
        xy[::2], xy[1::2] = self.xy, (self.xy[1:] + self.xy[:-1]) / 2
        start = 2 * self.start - np.arange(len(self.start))
        return Rings(np.delete(xy, 2 * self.last[:-1] + 1, axis=0), start, self.owner, self.hole)

    def in_blocks(self, compute: Callable[[Rings], NDArray[T]]) -> NDArray[T]:
        """Return what is computed of each ring, by a function of some that stay in the processor's cache."""
        ends = np.searchsorted(self.start, np.arange(BLOCK, len(self.xy), BLOCK))
        bounds = np.unique([0, *ends, len(self.start)])
        blocks = [self._between(low, high) for low, high in itertools.pairwise(bounds)] or [self]
        return np.concatenate(in_threads(compute, blocks))

    def _between(self, low: int, high: int) -> Rings:
        begin, end = self.start[low], self.start[high] if high < len(self.start) else len(self.xy)
        some = slice(low, high)
        return Rings(self.xy[begin:end], self.start[some] - begin, self.owner[some], self.hole[some])


def in_threads(compute: Callable[[S], U], several: Sequence[S]) -> list[U]:
    """Return what is computed of each, in threads if there is enough to do."""
    return list(in_order(compute, several, processors() if len(several) > 3 else 1))


def rings_of(geometry: NDArray[np.object_]) -> Rings:
    """Take polygons apart; those of one ring, which most are, need no new geometry for it."""
    shapely = module("shapely")
    single = (shapely.get_type_id(geometry) == 3) & (shapely.get_num_interior_rings(geometry) == 0)
    plain, others = np.flatnonzero(single), np.flatnonzero(~single)
    parts, whole = shapely.get_parts(geometry[others], return_index=True)
    polygons = shapely.get_type_id(parts) == 3
    rings, part = shapely.get_rings(parts[polygons], return_index=True)
    hole = np.append(np.zeros(len(plain), dtype=bool), part == np.append(-1, part[:-1]))
    owner = np.append(plain, others[whole[polygons][part]])
    rings = np.append(geometry[plain], rings)
    size = shapely.get_num_coordinates(rings)
    full = size > 0
    start = np.cumsum(size) - size
    return Rings(shapely.get_coordinates(rings), start[full], owner[full], hole[full])


class Ellipsoid(NamedTuple):
    """An ellipsoid of revolution: its equatorial radius in metres, and the square of its eccentricity."""

    a: float
    e2: float

    @classmethod
    def of(cls, geodetic: Any) -> Ellipsoid:
        """Return the ellipsoid of a geographic CRS."""
        a, flattening = geodetic.ellipsoid.semi_major_metre, geodetic.ellipsoid.inverse_flattening
        f = 1 / flattening if flattening else 0.0
        return cls(a, f * (2 - f))

    def zone(self, south: Any, north: Any) -> Floats:
        """Area between two latitudes, for each radian of longitude."""
        half = (north - south) / 2
        return self.above(np.sin(south), 2 * np.cos(south + half) * np.sin(half))

    def above(self, sine: Any, rise: Any) -> Floats:
        """Area between two latitudes, from the sine of one and how much larger that of the other is."""
        a, e2 = self
        other = sine + rise
        product = e2 * sine * other
        ratio = rise / (1 - product)
        squared = e2 * ratio * ratio
        if np.max(squared, initial=0.0) < 1e-5:  # the series of artanh
            bent = ratio * (1 + squared * (1 / 3 + squared * (1 / 5 + squared / 7)))
        else:
            bent = np.arctanh(np.sqrt(e2) * ratio) / np.sqrt(e2)
        found: Floats = rise * (1 + product) / ((1 - e2 * sine * sine) * (1 - e2 * other * other)) + bent
        return found * (a * a * (1 - e2) / 2)


def lonlat(crs: Any, geodetic: Any, rings: Rings) -> tuple[Floats, Floats]:
    """Longitude and latitude of vertices, in radians."""
    xy = rings.xy
    if in_degrees(crs):
        unit = geodetic.axis_info[0].unit_conversion_factor  # to radians: from degrees as a rule, some have grads
        return xy[:, 0] * unit, np.clip(xy[:, 1] * unit, -np.pi / 2, np.pi / 2)  # the poles, but for rounding
    lon, lat = _transformed(crs, geodetic, xy[:, 0], xy[:, 1])
    if not np.isfinite(lon.sum() + lat.sum()):
        at = int(np.argmin(np.isfinite(lon) & np.isfinite(lat)))
        raise InputError(
            f"the geometry of row {rings.row(at)} has the coordinates ({xy[at][0]:.10g}, {xy[at][1]:.10g}), which are "
            f"outside of what {called(crs)} can show.",
            "look whether this is the CRS that the coordinates are in.",
            "crs",
        )
    return lon, lat


def _transformed(crs: Any, geodetic: Any, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Longitude and latitude in radians; infinite where a projection shows no place of the earth."""
    unit = geodetic.axis_info[0].unit_conversion_factor
    lon, lat = module("pyproj").Transformer.from_crs(crs, geodetic, always_xy=True).transform(x, y)
    return lon * unit, lat * unit


def in_degrees(crs: Any) -> bool:
    """Whether coordinates are longitude and latitude, about the earth's own poles."""
    return bool(crs.is_geographic and not crs.is_derived)


def _geodetic(crs: Any) -> Any:
    """The geographic CRS in two dimensions that a CRS rests on."""
    found = None if crs.is_geocentric else crs.geodetic_crs
    if found is not None and found.is_derived:  # longitude and latitude about another pole
        found = found.source_crs
    if found is None or found.ellipsoid is None:
        raise InputError(
            f"{called(crs)} does not say where on earth its coordinates are, so that areas cannot be computed.",
            "give the CRS of the coordinates, or weights of your own.",
            "crs",
        )
    return found.to_2d()


def _turn(lon: Floats) -> Floats:
    """Differences of longitude, the shorter way round."""
    return lon - 2 * np.pi * np.round(lon / (2 * np.pi))


def _geodesic(ellipsoid: Ellipsoid, lon: Floats, lat: Floats, rings: Rings) -> Floats:
    """Areas of rings with geodesics for edges."""
    a, e2 = ellipsoid
    start, last = rings.start, rings.last
    base = np.repeat(lat[start], rings.size)  # a latitude nearby, so that large areas below edges do not cancel
    low, half = np.repeat(np.sin(lat[start]), rings.size), (lat - base) / 2
    rise = 2 * np.cos(base + half) * np.sin(half)
    under, sine = ellipsoid.above(low, rise), low + rise
    across, turn, mean, step = _turn(np.diff(lon)), np.diff(lat), (under[1:] + under[:-1]) / 2, np.diff(under)
    across[last[:-1]] = step[last[:-1]] = 0.0  # from one ring to the next there is no edge
    sine = (sine[1:] + sine[:-1]) / 2 * (1 + turn * turn / 8)  # of the middle
    sine2 = np.minimum(sine * sine, 1 - 1e-15)
    p2 = a * a * (1 - sine2) / (1 - e2 * sine2)
    east2, north2 = p2 * across * across, step * step / p2
    area = across * (mean + sine / 12 * (east2 + 3 * north2))
    areas: Floats = np.abs(np.add.reduceat(area, start))
    long2 = east2 + north2
    missed = long2 * long2 * np.sqrt(long2) * (1 + (sine2 / (1 - sine2)) ** 2)
    uncertain = np.add.reduceat(missed, start) * (REMAINDER / a**3) > np.maximum(PRECISION * areas, 1e-4)
    turned = np.abs(np.add.reduceat(across, start)) > np.pi
    for each in np.flatnonzero(uncertain | turned):
        areas[each] = _by_geographiclib(ellipsoid, lon, lat, start[each], last[each], areas[each])
    return areas


def _jumps(lon: Floats, rings: Rings) -> list[int]:
    """Rows with edges through more than 180° of longitude; edges all around the earth, without length, are refused."""
    raw = np.diff(lon)
    raw[rings.last[:-1]] = 0.0
    far = np.abs(raw)
    if np.max(far, initial=0.0) <= np.pi * (1 + 1e-12):
        return []
    around = far > 2 * np.pi * (1 - 1e-9)
    turned = np.abs(np.add.reduceat(_turn(raw), rings.start)) > np.pi
    bad = around & ~np.repeat(turned, rings.size)[:-1]  # a ring around a pole may close along it
    if bad.any():
        raise InputError(
            f"the polygon of row {rings.row(np.argmax(bad))} has an edge through all 360° of longitude; its ends are "
            "one point of the earth.",
            "give it vertices in between: data.geometry.segmentize(1).",
        )
    return [int(x) for x in np.unique(rings.row(np.flatnonzero((far > np.pi * (1 + 1e-12)) & ~around)))]


def _by_geographiclib(ellipsoid: Ellipsoid, lon: Floats, lat: Floats, start: int, end: int, about: float) -> float:
    """Area of one ring; of the two sides that it has on the earth, the one whose area is ``about`` this."""
    geod = module("pyproj").Geod(a=ellipsoid.a, es=ellipsoid.e2)
    area = abs(geod.polygon_area_perimeter(lon[start:end], lat[start:end], radians=True)[0])
    rest = 4 * np.pi * float(ellipsoid.zone(0.0, np.pi / 2)) - area
    return float(min(area, rest, key=lambda x: abs(x - about)))


def _enclosed(xy: Floats, rings: Rings) -> Floats:
    """Areas of rings in a plane, negative if they run clockwise."""
    (x0, y0), (x1, y1) = xy[:-1].T, xy[1:].T
    cross = x0 * y1 - x1 * y0
    cross[rings.last[:-1]] = 0.0
    areas: Floats = np.add.reduceat(cross, rings.start) / 2
    return areas


def _lambert(ellipsoid: Ellipsoid, lon: Floats, lat: Floats, rings: Rings) -> Floats:
    """Vertices on Lambert's azimuthal equal-area projection, centred at each ring (Snyder 1987, p. 187)."""
    pole = float(ellipsoid.zone(0.0, np.pi / 2))
    sine = ellipsoid.zone(0.0, lat) / pole
    beta = np.arcsin(np.clip(sine, -1.0, 1.0))
    cosine = np.cos(beta)
    x, y, z = (np.add.reduceat(v, rings.start) for v in (cosine * np.cos(lon), cosine * np.sin(lon), np.sin(beta)))
    lon0, beta0 = (np.repeat(v, rings.size) for v in (np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))))
    east = lon - lon0
    near = 1 + np.sin(beta0) * np.sin(beta) + np.cos(beta0) * cosine * np.cos(east)  # 0 at the antipode
    scale = np.sqrt(2 * pole / np.maximum(near, 1e-9))
    xy = np.stack(
        [
            scale * cosine * np.sin(east),
            scale * (np.sin(beta - beta0) + 2 * np.sin(beta0) * cosine * np.sin(east / 2) ** 2),
        ],
        axis=1,
    )
    length = np.hypot(*np.diff(xy, axis=0).T)
    length[rings.last[:-1]] = 0.0
    large = (length > LONGEST) | (near[1:] < 1)
    if large.any():
        raise InputError(
            f"the polygon of row {rings.row(np.argmax(large))} is too large for a projection: an edge is longer than "
            f"{LONGEST / 1000:,.0f} km, or it spans more than half of the earth.",
            "cut it into smaller ones.",
        )
    return xy


# ---- pixels --------------------------------------------------------------------------------------------


def pixel_row_areas(crs: Any, transform: Any, shape: tuple[int, int], unit: str = "ha") -> Floats:
    """Return the area of a pixel in each row of a raster, on the ellipsoid of its CRS.

    Rows that follow parallels (longitude and latitude, Mercator, other cylindrical projections) have the exact areas of
    the zones of the ellipsoid. Pixels of other projections have the areas that `polygon_areas` gives them. Where those
    of a row differ, they have the mean of the row. It may be off by 0.1 %, with a warning by 1 %; more is refused.

    Parameters
    ----------
    crs
        The coordinate reference system of the raster.
    transform
        The affine transform from columns and rows to coordinates: a, b, c, d, e, f with x = a·column + b·row + c and
        y = d·column + e·row + f, of the corners of pixels.
    shape
        Rows and columns.
    unit
        ``"ha"``, ``"km2"`` or ``"m2"``.

    Returns
    -------
    ndarray
        Of shape (rows, 1); (1, 1) if all pixels have the same area.

    Examples
    --------
    >>> pixel_row_areas("EPSG:4326", (0.1, 0, 0, 0, -0.1, 60.1), (2, 5), "km2").round(2)
    array([[62.07],
           [62.26]])
    >>> pixel_row_areas("EPSG:3035", (10, 0, 4e6, 0, -10, 3e6), (100, 100), "m2").round(4)
    array([[100.]])
    """
    if unit not in METRES:
        raise InputError(f"`unit` is {unit!r}; expected 'ha', 'km2' or 'm2'.", argument="unit")
    a, b, c, d, e, f = (float(x) for x in tuple(transform)[:6])
    if b or d or not a or not e:
        raise InputError(
            f"the raster is rotated or skewed: its transform is ({a:g}, {b:g}, {c:g}, {d:g}, {e:g}, {f:g}). Areas of "
            "pixels need rows that run along the x axis.",
            "warp it to a grid that runs along the axes, for instance with gdalwarp -r near.",
        )
    crs = module("pyproj").CRS.from_user_input(crs)
    rows, columns = shape
    if 0 in shape:
        return np.zeros((rows, 1))
    zones = _zones(crs, (a, c, e, f), rows, columns)
    areas = _sampled(crs, (a, c, e, f), rows, columns) if zones is None else zones
    if len(areas) and np.ptp(areas) <= 1e-8 * areas.max():
        areas = areas.mean(keepdims=True)
    return areas[:, None] / METRES[unit]


def _zones(crs: Any, grid: tuple[float, float, float, float], rows: int, columns: int) -> Floats | None:
    """Areas of pixels in square metres, if rows follow parallels and columns meridians."""
    a, c, e, f = grid
    geodetic = _geodetic(crs)
    ellipsoid = Ellipsoid.of(geodetic)
    y = f + e * np.arange(rows + 1)
    if in_degrees(crs):
        unit = crs.axis_info[0].unit_conversion_factor
        over = np.abs(y * unit) - np.pi / 2
        if over.max() > abs(e * unit) * (0.5 + 1e-6):
            raise InputError(
                f"the rows of the raster reach from {y[0]:g} to {y[-1]:g} in latitude; its CRS is {called(crs)}.",
                "look whether this is the CRS of the raster, and whether its first axis is longitude.",
                "crs",
            )
        lat = np.clip(y * unit, -np.pi / 2, np.pi / 2)  # pixels whose centres are on a pole reach beyond it
        return float(abs(a * unit)) * np.abs(ellipsoid.zone(lat[:-1], lat[1:]))
    x, y = np.meshgrid(c + a * columns * np.array([0.0, 0.5, 1.0]), y)
    lon, lat = (v.T for v in _transformed(crs, geodetic, x, y))
    if not np.isfinite(lon + lat).all():
        return None
    step = _turn(np.diff(lon, axis=0))
    if np.ptp(lat, axis=0).max() > 1e-11 or np.ptp(step) > 1e-9 * np.abs(step).max():
        return None
    return float(2 * abs(step.mean()) / columns) * np.abs(ellipsoid.zone(lat[1, :-1], lat[1, 1:]))


def _sampled(crs: Any, grid: tuple[float, float, float, float], rows: int, columns: int) -> Floats:
    """Areas of pixels of each row in square metres, from a sample of pixels that are measured as polygons."""
    a, c, e, f = grid
    row, column = (np.unique(np.linspace(0, n - 1, min(n, 33)).round()) for n in (rows, columns))
    x, y = np.meshgrid(c + a * column, f + e * row)
    # the corners of a map of the world are often no place of it: infinite, or a place that is elsewhere on the map
    there = module("pyproj").Transformer.from_crs(crs, _geodetic(crs), always_xy=True)
    shown = np.ones(x.shape, dtype=bool)
    for right, down in ((0, 0), (0, e), (a, 0), (a, e)):
        back = there.transform(*there.transform(x + right, y + down), direction="INVERSE")
        with np.errstate(invalid="ignore"):
            shown &= np.hypot((back[0] - x - right) / a, (back[1] - y - down) / e) < ELSEWHERE
    if not shown.any():
        raise InputError(
            f"no pixel of the raster is in a place that {called(crs)} shows.",
            "look whether this is the CRS of the raster.",
            "crs",
        )
    areas = np.full(x.shape, np.nan)
    boxes = module("shapely").box(x[shown], y[shown], x[shown] + a, y[shown] + e)
    boxes = module("shapely").segmentize(boxes, max(abs(a), abs(e)) / 8)  # sides of large pixels are no geodesics
    areas[shown] = polygon_areas(boxes, crs, unit="m2")
    full = shown.any(axis=1)
    mean = np.nanmean(areas[full], axis=1)
    off = float(np.nanmax(np.abs(areas[full] / mean[:, None] - 1)))
    if off > TOO_UNEVEN:
        raise InputError(
            f"pixels in one row of this raster are up to {100 * off:.1f} % larger or smaller than the mean of the row: "
            f"its CRS, {called(crs)}, does not keep areas.",
            "warp the rasters to an equal-area CRS such as EPSG:6933 (gdalwarp -r near), or give weights of your own.",
        )
    if off > UNEVEN:
        warnings.warn(
            f"the areas of pixels are up to {100 * off:.1f} % too large or too small: pixels of one row have the same "
            f"weight, and {called(crs)} does not keep areas. Warp the rasters to an equal-area CRS if this matters.",
            MapWarning,
            stacklevel=3,
        )
    return np.asarray(np.interp(np.arange(rows), row[full], mean))

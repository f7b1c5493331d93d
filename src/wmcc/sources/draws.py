"""DrawnPlaces that are drawn at random on a map: pixels of a raster, or points in polygons, by their area.

A pixel is drawn with a probability in proportion to its area on the ellipsoid, without replacement. Pixels of a row
have the same area, so that numbers of pixels by row and class are enough to draw from. They are looked up afterwards,
in the rows that were met. Pixels are drawn one after the other, and one that comes twice is drawn anew. That alone
would favour small pixels where many of few are drawn; so pixels are not drawn by their area a but by −log(1 − λ), with
λ = n a / A the chance that they should have (Rosén 1997). Where all pixels are equal, it is a simple random sample.

Points in polygons, and lattices, are made on a cylindrical equal-area projection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from math import sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..errors import InputError
from ..geo.areas import METRES, in_degrees, polygon_areas
from ..geo.layers import OpenLayer
from ..geo.overlay import at_pixels, at_points
from ..geo.raster import OpenRaster
from ..optional import module
from ..present.text import counted, number
from .map_classes import MapClasses, PixelClasses, PolygonClasses
from .raster_inputs import Scene
from .values import Blocks

FLAT = "EPSG:6933"
"""An equal-area projection of the whole earth, whose x is in proportion to longitude."""

ROUNDS = 200
"""How often points are drawn anew that were too close to others."""

MOST_PLACES = 20_000_000
"""The largest lattice."""

EQUATOR, E2 = 6378137.0, 0.00669437999014
"""The ellipsoid of WGS 84."""


class DrawnPlaces(NamedTuple):
    """DrawnPlaces on a map: the class of each, as its place among the labels; coordinates; the block that it is in."""

    codes: IntArray
    x: FloatArray
    y: FloatArray
    unit: IntArray | None = None

    def take(self, which: Any) -> DrawnPlaces:
        """Some of them."""
        return DrawnPlaces(*(None if own is None else own[which] for own in self))  # type: ignore[arg-type]


def joined(parts: Sequence[DrawnPlaces]) -> DrawnPlaces:
    """Return all places of several lists."""
    codes, x, y = (np.concatenate([own[k] for own in parts]) for k in range(3))
    units = [own.unit for own in parts if own.unit is not None]
    return DrawnPlaces(codes, x, y, np.concatenate(units) if units else None)


class PlaceSource(Protocol):
    """A part of a map that places are drawn from, one after the other."""

    def draw(self, count: int) -> Array:
        """Return addresses of so many places that were not drawn before; fewer if there are no more."""


# ---- pixels ------------------------------------------------------------------------------------------------


class PixelSource:
    """Pixels of some classes, drawn without replacement by their area.

    Parameters
    ----------
    classes
        The pixels of the map.
    among
        Which entries of ``classes`` belong to it.
    n
        How many are to be drawn.
    what
        What to call them in a message.
    rng
        Where random numbers come from.
    """

    def __init__(self, classes: PixelClasses, among: IntArray, n: int, what: str, rng: np.random.Generator) -> None:
        counts, pixel = classes.counts[among], classes.pixel[among]
        self._rows, self._codes, self._counts, self._rng = classes.rows[among], classes.codes[among], counts, rng
        self._ends = np.cumsum(counts)
        check_chances(n, counts, pixel, what)
        self._sums = np.cumsum(counts * intensities(n, counts, pixel))
        self._seen: set[int] = set()

    def draw(self, count: int) -> Array:
        """Return row, class and number among the pixels of this class in the row, of so many pixels more."""
        new: list[int] = []
        while len(new) < count and len(self._seen) < self._ends[-1]:
            u = self._rng.random((count - len(new), 2))
            entry = np.minimum(np.searchsorted(self._sums, u[:, 0] * self._sums[-1], "right"), len(self._sums) - 1)
            within = np.minimum((u[:, 1] * self._counts[entry]).astype(np.int64), self._counts[entry] - 1)
            for pixel in (self._ends[entry] - self._counts[entry] + within).tolist():
                if pixel not in self._seen:
                    self._seen.add(pixel)
                    new.append(pixel)
        at = np.array(new, dtype=np.int64)
        entry = np.searchsorted(self._ends, at, "right")
        return np.stack([self._rows[entry], self._codes[entry], at - self._ends[entry] + self._counts[entry]], axis=1)


def intensities(n: int, counts: IntArray, sizes: FloatArray) -> FloatArray:
    """Return by what units are to be drawn one after the other, so that n have chances in proportion to their sizes."""
    if np.ptp(sizes) <= 1e-12 * sizes.max():
        return np.ones(len(sizes))
    chance = n * sizes / (counts * sizes).sum()
    return np.asarray(-np.log1p(-np.minimum(chance, 1 - 1e-12)))


def check_chances(n: int, counts: IntArray, sizes: FloatArray, what: str) -> None:
    """Refuse a sample that is too large for units of these sizes to be drawn without replacement."""
    whole, units = float((counts * sizes).sum()), int(counts.sum())
    most = min(units, int(whole / float(sizes.max()) * (1 + 1e-9)))
    if n > most:
        uneven = ", of unequal areas" if most < units else ""
        raise InputError(
            f"the plan has {n:,} for {what}, which has {units:,}{uneven}; at most {most:,} can be drawn.",
            "draw fewer; or label all of it.",
            "plan",
        )


def pixels_at(classes: PixelClasses, addresses: Array) -> DrawnPlaces:
    """Look up where the pixels are that were drawn, row by row."""
    raster, labels = classes.raster, classes.labels
    columns = np.empty(len(addresses), dtype=np.int64)
    order = np.lexsort((addresses[:, 1], addresses[:, 0]))
    cuts = np.flatnonzero(np.diff(addresses[order, 0])) + 1
    for some in np.split(order, cuts) if len(order) else ():
        row = int(addresses[some[0], 0])
        values, known = raster.labels(slice(row, row + 1), slice(None))
        for code in np.unique(addresses[some, 1]).tolist():
            mine = some[addresses[some, 1] == code]
            there = values[0] == labels[code]
            columns[mine] = np.flatnonzero(there if known is None else there & known[0])[addresses[mine, 2]]
    return centres(raster, addresses[:, 0], columns, addresses[:, 1])


def centres(raster: OpenRaster, rows: Array, columns: Array, codes: Array, unit: Array | None = None) -> DrawnPlaces:
    """Return centres of pixels."""
    a, b, c, d, e, f = raster.grid
    j, i = columns + 0.5, rows + 0.5
    return DrawnPlaces(codes, a * j + b * i + c, d * j + e * i + f, unit)


# ---- blocks of pixels ------------------------------------------------------------------------------------------


class BlockSizes(NamedTuple):
    """Known pixels of each block of a raster, and their area; blocks with too few are joined with the next."""

    pixels: IntArray
    areas: FloatArray
    members: list[list[int]]  # numbers of blocks, row by row, that are drawn as one
    across: int


def block_sizes(classes: PixelClasses, blocks: Blocks, least: int) -> BlockSizes:
    """Measure the blocks of a raster, window by window; each has at least so many pixels in the end."""
    raster, (tall, wide) = classes.raster, blocks.sides
    row_areas = _row_areas(classes)
    down, across = (-(-n // side) for n, side in zip(raster.shape, (tall, wide), strict=True))
    pixels, areas = np.zeros((down, across), dtype=np.int64), np.zeros((down, across))
    for rows, cols in Scene(raster, (), None, "", None, None).windows():
        values, known = raster.labels(rows, cols)
        known = np.ones(values.shape, dtype=bool) if known is None else known
        column = np.arange(cols.start, cols.stop) // wide
        starts = np.flatnonzero(np.diff(column, prepend=-1))
        n = np.add.reduceat(known.astype(np.int64), starts, axis=1)
        at = np.ix_(np.arange(rows.start, rows.stop) // tall, column[starts])
        np.add.at(pixels, at, n)
        np.add.at(areas, at, n * row_areas[rows][:, None])
    members: list[list[int]] = [[]]
    have = 0
    for k in np.flatnonzero(pixels).tolist():
        if have >= least:
            members.append([])
            have = 0
        members[-1].append(k)
        have += int(pixels.flat[k])
    if have < least and len(members) > 1:
        members[-2].extend(members.pop())
    sums = [np.array([own.flat[some].sum() for some in members]) for own in (pixels, areas)]
    return BlockSizes(sums[0], sums[1], members, across)


def _row_areas(classes: PixelClasses) -> FloatArray:
    """Return the area of a pixel in each row of the raster."""
    found = np.ones(classes.raster.shape[0])
    found[classes.rows] = classes.pixel
    return found


def in_blocks(
    classes: PixelClasses, sizes: BlockSizes, blocks: Blocks, m: int, each: int, rng: np.random.Generator
) -> DrawnPlaces:
    """Draw blocks by their area, and in each so many pixels by theirs."""
    ones = np.ones(len(sizes.members), dtype=np.int64)
    check_chances(m, ones, sizes.areas, "blocks")
    sums = np.cumsum(intensities(m, ones, sizes.areas))
    chosen: dict[int, None] = {}
    while len(chosen) < m:
        chosen[min(int(np.searchsorted(sums, rng.random() * sums[-1], "right")), len(sums) - 1)] = None
    row_areas, found = _row_areas(classes), []
    for unit in chosen:
        row, column, code = (
            np.concatenate(own)
            for own in zip(*(_block(classes, k, sizes.across, blocks) for k in sizes.members[unit]), strict=True)
        )
        area = row_areas[row]
        ones = np.ones(len(area), dtype=np.int64)
        check_chances(each, ones, area, "a block")
        key = rng.exponential(size=len(area)) / intensities(each, ones, area)
        mine = np.argsort(key)[:each]
        first = sizes.members[unit][0]
        found.append(centres(classes.raster, row[mine], column[mine], code[mine], np.full(each, first)))
    return joined(found)


def _block(classes: PixelClasses, k: int, across: int, blocks: Blocks) -> tuple[IntArray, IntArray, IntArray]:
    """Rows, columns and classes of the known pixels of a block."""
    tall, wide = blocks.sides
    top, left = k // across * tall, k % across * wide
    values, known = classes.raster.labels(slice(top, top + tall), slice(left, left + wide))
    row, column = np.nonzero(np.ones(values.shape, dtype=bool) if known is None else known)
    codes = np.searchsorted(np.array(classes.labels), values[row, column])
    return row + top, column + left, codes


# ---- an equal-area plane ------------------------------------------------------------------------------------------


class EqualArea:
    """The earth on a cylindrical equal-area projection, and what a CRS calls its places."""

    def __init__(self, crs: Any) -> None:
        transformer = module("pyproj").Transformer
        self._crs = crs
        self._there = transformer.from_crs(FLAT, crs, always_xy=True)
        self._flat = transformer.from_crs("EPSG:4326", FLAT, always_xy=True)
        self._degrees = transformer.from_crs(crs, "EPSG:4326", always_xy=True)
        self._x_of_degree = self._flat.transform(1.0, 0.0)[0]

    def lonlat(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Longitude and latitude of places of the CRS."""
        return self._degrees.transform(x, y)  # type: ignore[no-any-return]

    def box(self, bounds: Sequence[float]) -> tuple[float, float, float, float]:
        """West, south, east and north in the plane of what has these bounds in the CRS."""
        if in_degrees(self._crs):
            west, south, east, north = bounds
        else:
            west, south, east, north = self._degrees.transform_bounds(*bounds, densify_pts=21)
            pad = 0.01 * (north - south) + 1e-9  # edges of the box are curves
            west, east = west - pad, (east + 360 if east < west else east) + pad
            south, north = south - pad, north + pad
        _, (low, high) = self._flat.transform([0.0, 0.0], np.clip([south, north], -90, 90))
        return west * self._x_of_degree, low, east * self._x_of_degree, high

    def stretch(self, low: float, high: float) -> float:
        """How much wider than on the ground things are in the plane, in the middle of two heights."""
        _, lat = self._flat.transform(0.0, (low + high) / 2, direction="INVERSE")
        sine = np.sin(np.radians(lat))
        parallel = EQUATOR * np.cos(np.radians(lat)) / sqrt(1 - E2 * sine * sine)
        return float(self._x_of_degree * 180 / np.pi / max(parallel, 1.0))

    def places(self, x: FloatArray, y: FloatArray, near: float) -> tuple[FloatArray, FloatArray]:
        """Return coordinates in the CRS; longitudes are counted so that they are ``near`` this one."""
        turn = 360 * self._x_of_degree
        x, y = self._there.transform(x - turn * np.round(x / turn), y)
        if in_degrees(self._crs):
            x = x + 360 * np.round((near - x) / 360)
        return x, y


class AroundMap:
    """Lambert's azimuthal equal-area projection about the middle of a map, for maps that are not in degrees.

    Near its centre shapes are kept, at the poles, too. It has the methods of `EqualArea`.
    """

    def __init__(self, crs: Any, bounds: Sequence[float]) -> None:
        pyproj = module("pyproj")
        middle = (bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2
        lon, lat = pyproj.Transformer.from_crs(crs, "EPSG:4326", always_xy=True).transform(*middle)
        plane = pyproj.CRS.from_dict({"proj": "laea", "lat_0": lat, "lon_0": lon, "datum": "WGS84"})
        self._there = pyproj.Transformer.from_crs(plane, crs, always_xy=True)

    def box(self, bounds: Sequence[float]) -> tuple[float, float, float, float]:
        """West, south, east and north in the plane of what has these bounds in the CRS."""
        west, south, east, north = self._there.transform_bounds(*bounds, densify_pts=21, direction="INVERSE")
        pad = 0.01 * max(east - west, north - south)  # edges of the box are curves
        return west - pad, south - pad, east + pad, north + pad

    def stretch(self, _low: float, _high: float) -> float:
        """How much wider than on the ground things are."""
        return 1.0

    def places(self, x: FloatArray, y: FloatArray, _near: float) -> tuple[FloatArray, FloatArray]:
        """Return coordinates in the CRS."""
        return self._there.transform(x, y)  # type: ignore[no-any-return]


class PolygonSource:
    """Points that are drawn by area in polygons of some classes.

    Parameters
    ----------
    classes
        The polygons of the map.
    among
        Which of them belong to it.
    rng
        Where random numbers come from.
    """

    def __init__(self, classes: PolygonClasses, among: IntArray, rng: np.random.Generator) -> None:
        shapely = module("shapely")
        self._parts, owner = shapely.get_parts(classes.layer.geometry[among], return_index=True)
        self._codes, self._rng = classes.codes[among][owner], rng
        self._plane = EqualArea(classes.layer.crs)
        self._sums = np.cumsum(polygon_areas(self._parts, classes.layer.crs))
        shapely.prepare(self._parts)

    def draw(self, count: int) -> Array:
        """Return the class and the coordinates of so many points more."""
        part = np.searchsorted(self._sums, self._rng.random(count) * self._sums[-1], "right")
        part = np.minimum(part, len(self._parts) - 1)
        bounds = module("shapely").bounds(self._parts[part])
        boxes = np.array([self._plane.box(own) for own in bounds]).reshape(-1, 4)
        found = np.stack([self._codes[part].astype(float), np.full(count, np.nan), np.full(count, np.nan)], axis=1)
        tries = 1
        for _ in range(ROUNDS):
            left = np.flatnonzero(np.isnan(found[:, 1]))
            if not len(left):
                return found
            which = np.repeat(left, tries)
            west, south, east, north = boxes[which].T
            u, v = self._rng.random((2, len(which)))
            near = bounds[which][:, [0, 2]].mean(axis=1)
            x, y = self._plane.places(west + u * (east - west), south + v * (north - south), near)
            inside = np.flatnonzero(module("shapely").contains_xy(self._parts[part[which]], x, y))[::-1]
            found[which[inside], 1], found[which[inside], 2] = x[inside], y[inside]  # the first of each comes last
            tries = min(2 * tries, 1 + MOST_PLACES // (64 * len(left)))
        raise InputError(
            f"no place was found in {counted(len(left), 'polygon')} of the map, which are too thin to draw points in.",
            "leave out polygons without breadth.",
        )


def points_at(classes: PolygonClasses, addresses: Array) -> DrawnPlaces:
    """Return the points that were drawn; polygons that overlap there are refused."""
    codes, x, y = addresses.T
    at_points(_layer(x, y, classes.layer.crs), classes.layer)
    return DrawnPlaces(codes.astype(np.int64), x, y)


# ---- lattices ----------------------------------------------------------------------------------------------


def lattice(classes: MapClasses, n: int, rng: np.random.Generator) -> tuple[DrawnPlaces, float]:
    """Return the places of a lattice with a random start, about n of which are on the map, and their distance."""
    raster = classes.raster if isinstance(classes, PixelClasses) else None
    crs = raster.crs if raster is not None else classes.layer.crs  # type: ignore[union-attr]
    bounds = _bounds(classes)
    plane = EqualArea(crs) if in_degrees(crs) else AroundMap(crs, bounds)
    west, south, east, north = plane.box(bounds)
    apart = sqrt(sum(classes.areas.values()) * METRES["ha"] / n)
    across = apart * plane.stretch(south, north)
    up = apart * apart / across
    if (east - west) / across * (north - south) / up > MOST_PLACES:
        raise InputError(
            f"a lattice of points {number(apart)} m apart would have more than {MOST_PLACES:,} places in the bounds of "
            "the map, most of them off it.",
            "draw fewer points, or draw them at random.",
            "plan",
        )
    u, v = rng.random(2)
    x, y = np.meshgrid(np.arange(west + u * across, east, across), np.arange(south + v * up, north, up))
    x, y = plane.places(x.ravel(), y.ravel(), (bounds[0] + bounds[2]) / 2)
    shown = np.isfinite(x) & np.isfinite(y)
    points = _layer(x[shown], y[shown], crs)
    if raster is None:
        own = at_points(points, classes.layer)  # type: ignore[union-attr]
        there = own >= 0
        return DrawnPlaces(classes.codes[own[there]], x[shown][there], y[shown][there]), apart
    values, known = at_pixels(points, raster)
    a, _, c, _, e, f = raster.grid
    column, row = np.floor((x[shown][known] - c) / a), np.floor((y[shown][known] - f) / e)
    if len(np.unique(np.stack([row, column]), axis=1).T) < known.sum():
        raise InputError(
            f"the lattice has {n:,} points {number(apart)} m apart, and several are in one pixel.",
            "draw fewer points, or draw them at random.",
            "plan",
        )
    codes = np.searchsorted(np.array(classes.labels), values[known])
    return centres(raster, row, column, codes), apart


def _bounds(classes: MapClasses) -> tuple[float, float, float, float]:
    if isinstance(classes, PolygonClasses):
        return tuple(module("shapely").total_bounds(classes.layer.geometry).tolist())
    (a, _, c, _, e, f), (height, width) = classes.raster.grid, classes.raster.shape
    return min(c, c + a * width), min(f, f + e * height), max(c, c + a * width), max(f, f + e * height)


def _layer(x: FloatArray, y: FloatArray, crs: Any) -> OpenLayer:
    frame = module("pandas").DataFrame(index=range(len(x)))
    return OpenLayer(frame, module("shapely").points(x, y), crs, "the sample")


# ---- a distance ---------------------------------------------------------------------------------------------


class Apart:
    """DrawnPlaces that are at least so many metres from each other."""

    def __init__(self, metres: float) -> None:
        self._metres = metres
        self._cells: dict[tuple[int, int, int], list[tuple[float, float, float]]] = {}

    def accepts(self, place: tuple[float, float, float]) -> bool:
        """Take a place in space if it is far enough from those that were taken."""
        i, j, k = (int(x // self._metres) for x in place)
        for cell in ((i + a, j + b, k + c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)):
            for other in self._cells.get(cell, ()):
                if sum((x - y) ** 2 for x, y in zip(place, other, strict=True)) < self._metres**2:
                    return False
        self._cells.setdefault((i, j, k), []).append(place)
        return True


def in_space(lon: FloatArray, lat: FloatArray) -> FloatArray:
    """Return places on the ellipsoid in space, in metres."""
    lon, lat = np.radians(lon), np.radians(lat)
    radius = EQUATOR / np.sqrt(1 - E2 * np.sin(lat) ** 2)
    return np.stack(
        [
            radius * np.cos(lat) * np.cos(lon),
            radius * np.cos(lat) * np.sin(lon),
            radius * (1 - E2) * np.sin(lat),
        ],
        axis=1,
    )


class Taker:
    """Draws places from the strata of a map until each has enough."""

    def __init__(self, classes: MapClasses, metres: float | None) -> None:
        self._classes, self._apart = classes, None if metres is None else Apart(metres)

    @cached_property
    def _plane(self) -> EqualArea:
        own = self._classes
        return EqualArea(own.raster.crs if isinstance(own, PixelClasses) else own.layer.crs)

    def places(self, addresses: Array) -> DrawnPlaces:
        """Look addresses up."""
        own = self._classes
        return pixels_at(own, addresses) if isinstance(own, PixelClasses) else points_at(own, addresses)

    def take(
        self, sources: Sequence[PlaceSource], wanted: Sequence[int], name: Callable[[int], str]
    ) -> list[DrawnPlaces]:
        """Return so many places of each source; ``name`` says which one has too few."""
        found: list[list[DrawnPlaces]] = [[] for _ in sources]
        left = list(wanted)
        for _ in range(ROUNDS):
            open_ones = [h for h, n in enumerate(left) if n]
            if not open_ones:
                return [joined(own) for own in found]
            drawn = [sources[h].draw(left[h]) for h in open_ones]
            ends = np.cumsum([len(own) for own in drawn])
            if not ends[-1]:
                break
            places = self.places(np.concatenate(drawn))
            for h, some in zip(open_ones, np.split(np.arange(ends[-1]), ends[:-1]), strict=True):
                taken = places.take(some[self._far(places.take(some))])
                found[h].append(taken)
                left[h] -= len(taken.x)
        h = next(h for h, n in enumerate(left) if n)
        raise InputError(
            f"{wanted[h] - left[h]:,} of {counted(wanted[h], 'point')} for {name(h)} could be drawn at this distance "
            "from all others.",
            "ask for a smaller `min_distance`, or for fewer points.",
            "min_distance",
        )

    def _far(self, places: DrawnPlaces) -> Array:
        """Which places are far enough from all that were taken before."""
        if self._apart is None:
            return np.ones(len(places.x), dtype=bool)
        space: Iterable[Any] = map(tuple, in_space(*self._plane.lonlat(places.x, places.y)).tolist())
        return np.array([self._apart.accepts(one) for one in space], dtype=bool)

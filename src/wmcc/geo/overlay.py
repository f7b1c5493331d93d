"""A map laid over a reference: two layers of polygons as pieces, and the class of a map at points."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array
from ..errors import InputError, MapWarning
from ..optional import module
from ..present.text import counted, number, percent
from .areas import METRES, in_threads, plane_areas, polygon_areas, rings_of
from .layers import OpenLayer, no_crs
from .raster.crs import called

if TYPE_CHECKING:
    from .raster import OpenRaster

ROUNDING = 16 * np.finfo(float).eps
"""By how much the coordinates of an intersection may be off, as a share of the largest coordinate."""

POLYGONS = 1 << 14
"""How many polygons of the reference are cut at a time: pieces are in memory only until they are measured."""


LONG, EARTH = 1e4, 6.4e6
"""The longest edge that is measured as it is, and the radius of the earth, in metres."""

BENT = 1e-2
"""By how much an edge of a map may bend when it is brought to another plane, in metres, before it gets vertices."""

SAME = 1e-9
"""By which share of its area a polygon may differ from another that is the same."""

MOST_VERTICES = 2_000_000
"""Of a layer whose polygons are all held against their neighbours, which takes two seconds."""

SMALL = 1e-5
"""Gaps that are a smaller share of their polygon have this share of its area, though scale varies in it a little."""


class Pieces(NamedTuple):
    """Pieces of the polygons of a reference.

    Parameters
    ----------
    reference, map
        The row of the reference that a piece is of, and the row of the map that it lies in; −1 where the map has none.
    share
        The piece as a share of its polygon of the reference.
    area
        The same share of that polygon's area.
    """

    reference: Array
    map: Array
    share: Array
    area: Array


def pieces(
    reference: OpenLayer, overlay: OpenLayer, unit: str = "ha", sliver: float = 0.0, uncovered: str = "class"
) -> Pieces:
    """Cut the polygons of a reference along those of a map.

    Borders are cut in the plane of the reference's coordinate reference system; those of a map that is in another are
    brought there with vertices in between, so that they bend as they should. The area of each polygon of the
    reference is divided among its pieces, and the part that the map does not cover, in proportion to their areas on an
    equal-area projection. So areas of pieces add up to areas of polygons. What two polygons have in common is one
    piece, also where it is in several parts.

    Parameters
    ----------
    reference, overlay
        Layers of valid polygons, with coordinate reference systems.
    unit
        The unit of areas.
    sliver
        The smallest piece that counts, in square metres. Smaller ones are left out, with a warning.
    uncovered
        ``"class"``: parts that the map does not cover are pieces, too. ``"error"``: refuse them.

    Returns
    -------
    Pieces
        In the order of the rows of the reference, then of the map.

    Raises
    ------
    InputError
        The layers have no area in common, polygons of the map overlap, or the map does not cover the reference and
        ``uncovered`` is ``"error"``.

    Warns
    -----
    MapWarning
        Slivers were left out; polygons of the reference overlap.

    Examples
    --------
    >>> import pandas as pd
    >>> import pyproj
    >>> from shapely import box
    >>> from wmcc.geo.layers import OpenLayer
    >>> plane = pyproj.CRS("EPSG:3035")
    >>> shape = np.array([box(4e6, 3e6, 4e6 + 300, 3e6 + 100)])
    >>> field = OpenLayer(pd.DataFrame(index=range(1)), shape, plane, "fields")
    >>> halves = np.array([box(4e6, 3e6, 4e6 + 100, 3e6 + 100), box(4e6 + 100, 3e6, 4e6 + 200, 3e6 + 100)])
    >>> found = pieces(field, OpenLayer(pd.DataFrame(index=range(2)), halves, plane, "the map"))
    >>> found.map.tolist(), found.area.round(6).tolist()
    ([-1, 0, 1], [1.0, 1.0, 1.0])
    """
    shapely = module("shapely")
    overlay, bent = in_plane_of(overlay, reference)
    for layer in (reference, overlay):
        _refuse_jumps(layer)
    if not len(reference.geometry):
        none = np.zeros(0, dtype=np.int64)
        return Pieces(none, none, np.zeros(0), np.zeros(0))
    sizes = polygon_areas(reference.geometry, reference.crs, unit)
    (a, of_a), (b, of_b) = map(_parts, (reference, overlay))
    b, of_b = all_around(b, of_b, shapely.total_bounds(a), reference.crs)
    near = shapely.STRtree(a).query(shapely.box(*shapely.bounds(b).T))
    near = np.unique(near[0])  # others do not matter here: a map may be of a whole country
    b, of_b = b[near], of_b[near]
    noise = max(bent, ROUNDING * max(np.abs(shapely.bounds(x)).max(initial=0) for x in (a, b)))

    cut = _Cutting(shapely, noise, partial(plane_areas, crs=reference.crs, unit=unit))  # lines and points have none
    for own in (a, b):
        shapely.prepare(own)
    _report_overlaps(cut, reference, overlay, (a, of_a), (b, of_b), sliver, unit)
    rows, others, size = cut.pieces(a, b)
    row, other = of_a[rows], np.where(others < 0, -1, of_b[others] if len(of_b) else -1)
    if not (other >= 0).any():
        ends = shapely.total_bounds(reference.geometry), shapely.total_bounds(overlay.geometry)
        raise _no_overlap(reference.name, ends[0], overlay.name, ends[1], reference.crs)
    width = len(overlay.geometry) + 1
    key, of = np.unique(row * width + other + 1, return_inverse=True)
    row, other, size = key // width, key % width - 1, np.bincount(of, size)
    share = size / np.bincount(row, size, len(sizes))[row]
    found = Pieces(row, other, share, share * sizes[row])
    found = _without_slivers(found, sliver, sizes, unit)
    if uncovered == "error":
        _refuse_gaps(found, sizes, reference, overlay, unit)
    return found


class _Cutting(NamedTuple):
    """How polygons are cut: in threads, and how coarse coordinates are."""

    shapely: Any
    noise: float
    area: Callable[[Array], Array]

    def solid(self, geometry: Array) -> Array:
        """Whether areas in the plane are more than coordinates' rounding can make."""
        shapely = self.shapely
        return np.asarray(shapely.area(geometry) > self.noise * shapely.length(geometry))

    def larger_first(self, a: Array, b: Array) -> tuple[Array, Array]:
        """Pairs with the one of more vertices first, whose index is used if it is prepared; in one thread only."""
        swap = self.shapely.get_num_coordinates(a) < self.shapely.get_num_coordinates(b)
        return np.where(swap, b, a), np.where(swap, a, b)

    def common(self, a: Array, b: Array) -> Array:
        """Return what pairs have in common, some at a time, in threads: GEOS lets go of the interpreter."""
        blocks = np.array_split(np.arange(len(a)), -(-len(a) // 1024) or 1)
        return np.concatenate(in_threads(lambda some: self.shapely.intersection(a[some], b[some]), blocks))

    def overlaps(self, parts: Array, rows: Array) -> tuple[Array, Array, Array]:
        """Return pairs of rows whose polygons overlap by more than rounding, and what they have in common."""
        shapely = self.shapely
        i, j = shapely.STRtree(parts).query(parts)
        i, j = (x[(i < j) & (rows[i] != rows[j])] for x in (i, j))
        inner = shapely.relate_pattern(*self.larger_first(parts[i], parts[j]), "T********")
        i, j = i[inner], j[inner]
        common = self.common(parts[i], parts[j])
        solid = self.solid(common)
        return rows[i[solid]], rows[j[solid]], common[solid]

    def pieces(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Return the polygon of a, that of b (−1: none), and the area of each piece of a."""
        tree = self.shapely.STRtree(b)
        found = [self._pieces(a[k : k + POLYGONS], b, tree, k) for k in range(0, len(a), POLYGONS)]
        i, j, size = (np.concatenate(x) for x in zip(*found, strict=True))
        return i, j, size

    def _pieces(self, a: Array, b: Array, tree: Any, first: int) -> tuple[Array, Array, Array]:
        shapely = self.shapely
        i, j = tree.query(a)
        meet = shapely.intersects(*self.larger_first(a[i], b[j]))
        i, j = i[meet], j[meet]
        # Polygons that lie in another need no cutting, which is what takes long if the other has many vertices.
        piece = b[j]
        inside = shapely.contains_properly(a[i], piece)
        around = ~inside & shapely.contains_properly(piece, a[i])
        piece[around] = a[i[around]]
        across = ~(inside | around)
        piece[across] = self.common(a[i[across]], piece[across])
        solid = self.solid(piece)
        i, j, piece = i[solid], j[solid], piece[solid]
        plane, size = shapely.area(piece), self.area(piece)
        whole, inside = shapely.area(a), np.bincount(i, plane, len(a))
        border = shapely.length(a) + np.bincount(i, shapely.length(piece), len(a))
        bare = np.flatnonzero(whole - inside > self.noise * border)
        # What is left is known by difference, without its geometry. So are errors of the areas; of small gaps, those
        # of the scale of the plane are less.
        parent = self.area(a[bare])
        share = 1 - inside[bare] / whole[bare]
        rest = np.where(share < SMALL, share * parent, parent - np.bincount(i, size, len(a))[bare])
        ends = np.full(len(bare), -1)
        return first + np.concatenate([i, bare]), np.concatenate([j, ends]), np.concatenate([size, rest])


def _parts(layer: OpenLayer) -> tuple[Array, Array]:
    """Polygons of multipolygons, and their rows: so cutting one does not take the vertices of all.

    Long edges get vertices in between, on which they bend when areas are measured on a projection.
    """
    shapely = module("shapely")
    parts, row = shapely.get_parts(layer.geometry, return_index=True)
    there = ~shapely.is_empty(parts)
    parts, row = parts[there], row[there]
    edge = LONG / _metres(layer.crs)
    west, south, east, north = shapely.bounds(parts).T
    wide = np.maximum(east - west, north - south) > edge
    parts[wide] = shapely.segmentize(parts[wide], edge)
    return parts, row


# ---- layers that fit together ------------------------------------------------------------------------------


def _metres(crs: Any) -> float:
    """How long the unit of coordinates is; of degrees, along a meridian."""
    return float(crs.axis_info[0].unit_conversion_factor) * (EARTH if crs.is_geographic else 1.0)


def _turn_of(crs: Any) -> float | None:
    """How far it is once around the earth, in the unit of longitudes; None in a projection."""
    return 2 * np.pi / float(crs.axis_info[0].unit_conversion_factor) if crs.is_geographic else None


def in_crs_of(points: OpenLayer, other: OpenLayer | OpenRaster, what: str) -> OpenLayer:
    """Return points in the coordinate reference system of another layer; ``what`` that is."""
    change = _change(points, other, what)
    if change is None:
        return points
    moved = module("shapely").transform(points.geometry, change)
    _refuse_nowhere(moved, points, other, what)
    return points._replace(geometry=moved, crs=other.crs)


def in_plane_of(overlay: OpenLayer, reference: OpenLayer) -> tuple[OpenLayer, float]:
    """Return polygons of a map in the coordinate reference system of a reference, and by how much edges are still bent.

    Edges are straight in the plane of the map. So they get vertices in between, until they bend by less than `BENT`.
    Polygons far from the reference, which that system may not be able to show, are empty.
    """
    change = _change(overlay, reference, "the reference")
    if change is None or not len(reference.geometry):
        return overlay._replace(crs=reference.crs), 0.0
    shapely = module("shapely")
    geometry, bent = _with_bends(_nearby(overlay, reference), change, BENT / _metres(reference.crs), reference.crs)
    moved = shapely.transform(geometry, change)
    _refuse_nowhere(moved, overlay, reference, "the reference")
    for row in jumping_rows(moved, reference.crs):  # the plane of the map had no antimeridian
        moved[row] = shapely.transform(moved[row], lambda xy: _near_first(xy, reference.crs))
    _refuse_jumps(overlay._replace(geometry=moved, crs=reference.crs))
    broken = ~shapely.is_valid(moved)
    moved[broken] = shapely.make_valid(moved[broken])  # rounding only: they were valid before
    return overlay._replace(geometry=moved, crs=reference.crs), bent


def _change(layer: OpenLayer, other: OpenLayer | OpenRaster, what: str) -> Callable[[Array], Array] | None:
    """From coordinates of a layer to those of another; None if they are the same."""
    for each in (layer, other):
        if each.crs is None:
            raise no_crs(each.name)
    if layer.crs.equals(other.crs, ignore_axis_order=True):
        return None
    transformer = _transformer(layer, other, what)
    return lambda xy: np.stack(transformer.transform(*xy.T), axis=1)


def _refuse_nowhere(moved: Array, layer: OpenLayer, other: OpenLayer | OpenRaster, what: str) -> None:
    """Refuse geometries that another coordinate reference system cannot show."""
    shapely = module("shapely")
    nowhere = ~np.isfinite(shapely.bounds(moved)).all(axis=1) & ~shapely.is_empty(moved)
    if nowhere.any():
        raise InputError(
            f"row {np.argmax(nowhere)} of {layer.name} lies where {called(other.crs)}, the coordinate reference system "
            f"of {what}, is not defined.",
            "leave such rows out, or bring both layers to another coordinate reference system before.",
        )


def _nearby(overlay: OpenLayer, reference: OpenLayer) -> Array:
    """Polygons of a map, in its own plane: as much of them as is near a reference, and empty ones elsewhere."""
    shapely, pyproj = module("shapely"), module("pyproj")
    back = pyproj.Transformer.from_crs(reference.crs, overlay.crs, always_xy=True)
    try:
        west, south, east, north = back.transform_bounds(*shapely.total_bounds(reference.geometry))
    except pyproj.exceptions.ProjError:
        return overlay.geometry.copy()
    turn = _turn_of(overlay.crs)
    if not np.isfinite([west, south, east, north]).all() or (turn is None and west > east):
        return overlay.geometry.copy()
    east += turn if turn and west > east else 0.0
    margin = 0.02 * max(east - west, north - south)  # bounds are those of some points of the border
    west, south, east, north = west - margin, south - margin, east + margin, north + margin
    around = shapely.union_all(
        [shapely.box(west + x, south, east + x, north) for x in ((-turn, 0, turn) if turn else (0,))]
    )
    near = shapely.intersects(overlay.geometry, around)
    if not near.any():
        here, there = np.array([west, south, east, north]), shapely.total_bounds(overlay.geometry)
        raise _no_overlap(reference.name, here, overlay.name, there, overlay.crs)
    found = np.where(near, overlay.geometry, shapely.Polygon())
    ends = shapely.bounds(found)
    far = np.flatnonzero((ends[:, 2] - ends[:, 0] > east - west) | (ends[:, 3] - ends[:, 1] > north - south))
    found[far] = shapely.intersection(found[far], around)
    return found


def _with_bends(geometry: Array, change: Callable[[Array], Array], bend: float, crs: Any) -> tuple[Array, float]:
    """Give edges vertices where a change of the plane bends them, and return by how much they are still bent."""
    shapely, turn, most = module("shapely"), _turn_of(crs), 0.0

    def step(xy: Array) -> Array:
        if turn is not None:
            xy[:, 0] -= turn * np.round(xy[:, 0] / turn)
        return xy

    for pieces_ in (256, 16, 1):
        rings = rings_of(geometry)
        ends, middle = change(rings.xy), change((rings.xy[1:] + rings.xy[:-1]) / 2)
        with np.errstate(invalid="ignore"):
            off = np.hypot(*(step(middle - ends[:-1]) - step(np.diff(ends, axis=0)) / 2).T)
        off[rings.last[:-1]] = 0.0
        off[~np.isfinite(off)] = 0.0
        most = float(off.max(initial=0.0))
        if most <= bend or pieces_ == 1:
            break
        bent = np.flatnonzero(off > bend)
        length = np.hypot(*np.diff(rings.xy, axis=0).T)[bent]
        longest = np.full(len(geometry), np.inf)
        short = length / np.minimum(np.sqrt(off[bent] / bend), pieces_)
        np.minimum.at(longest, np.repeat(rings.owner, rings.size)[bent], short)
        some = np.flatnonzero(np.isfinite(longest))
        geometry[some] = shapely.segmentize(geometry[some], longest[some])
    return geometry, most


def all_around(parts: Array, rows: Array, bounds: Array, crs: Any) -> tuple[Array, Array]:
    """Return polygons and their rows, and once more those that are within bounds from around the earth: 181° is −179°.

    Examples
    --------
    >>> import pyproj
    >>> from shapely import box
    >>> parts, rows = np.array([box(179, 0, 180, 1), box(-180, 0, -179, 1)]), np.arange(2)
    >>> all_around(parts, rows, np.array([179, 0, 181, 1]), pyproj.CRS("EPSG:4326"))[1].tolist()
    [0, 1, 1]
    """
    shapely, turn = module("shapely"), _turn_of(crs)
    if turn is None or not len(parts):
        return parts, rows
    found = [(parts, rows)]
    for shift in (-turn, turn):
        west, _, east, _ = shapely.bounds(parts).T + shift
        near = (west <= bounds[2]) & (east >= bounds[0])
        found.append((shapely.transform(parts[near], lambda xy, by=shift: xy + np.array([by, 0.0])), rows[near]))
    parts, rows = (np.concatenate(x) for x in zip(*found, strict=True))
    return parts, rows


def _into(x: Array, low: float, high: float, crs: Any) -> Array:
    """Longitudes that are outside of a range, once around the earth if they are in it then."""
    turn = _turn_of(crs)
    if turn is None:
        return x
    around = low + np.mod(x - low, turn)
    return np.where(((x < low) | (x >= high)) & (around < high), around, x)


def _transformer(layer: OpenLayer, other: OpenLayer | OpenRaster, what: str) -> Any:
    """From one coordinate reference system to another; with a warning where no shift of the datum is known."""
    pyproj = module("pyproj")
    try:
        return pyproj.Transformer.from_crs(layer.crs, other.crs, always_xy=True, allow_ballpark=False)
    except pyproj.exceptions.ProjError:
        pass
    try:
        change = pyproj.Transformer.from_crs(layer.crs, other.crs, always_xy=True)
    except pyproj.exceptions.ProjError:
        raise InputError(
            f"there is no transformation from {called(layer.crs)}, the coordinate reference system of {layer.name}, to "
            f"{called(other.crs)}, that of {what}.",
            "bring both to the same coordinate reference system before.",
        ) from None
    warnings.warn(
        f"no shift of the datum is known from {called(layer.crs)}, the coordinate reference system of {layer.name}, to "
        f"{called(other.crs)}, that of {what}. The datums are taken to be the same, and the layers may be some hundred "
        "metres apart. If they should fit, bring both to the same coordinate reference system with a transformation "
        "that you know.",
        MapWarning,
        stacklevel=2,
    )
    return change


def _near_first(xy: Array, crs: Any) -> Array:
    """Coordinates with longitudes at most half around the earth from the first one."""
    turn = _turn_of(crs) or np.inf
    return np.stack([xy[:, 0] - turn * np.round((xy[:, 0] - xy[0, 0]) / turn), xy[:, 1]], axis=1)


def jumping_rows(geometry: Array, crs: Any) -> Array:
    """Rows of polygons with edges that jump from one side of the antimeridian to the other."""
    turn = _turn_of(crs)
    if turn is None:
        return np.zeros(0, dtype=np.int64)
    shapely = module("shapely")
    west, _, east, _ = shapely.bounds(geometry).T
    wide = np.flatnonzero(east - west > turn / 2)
    rings = rings_of(geometry[wide])
    jump = np.abs(np.diff(rings.xy[:, 0])) > turn / 2
    jump[rings.last[:-1]] = False
    return np.unique(wide[rings.row(np.flatnonzero(jump))])


def _refuse_jumps(layer: OpenLayer) -> None:
    """Refuse polygons with edges that jump from one side of the antimeridian to the other."""
    rows = jumping_rows(layer.geometry, layer.crs)
    if len(rows):
        raise InputError(
            f"{counted(len(rows), 'polygon')} of {layer.name} cross{'es' if len(rows) == 1 else ''} the antimeridian "
            f"with edges that span more than 180 degrees of longitude (row {rows[0]} first), and cannot be cut in this "
            "plane.",
            "bring both layers to a projection of the region, such as an equal-area one, with to_crs(); or split the "
            "polygons at 180 degrees.",
        )


def _report_overlaps(
    cut: _Cutting,
    reference: OpenLayer,
    overlay: OpenLayer,
    a: tuple[Array, Array],
    b: tuple[Array, Array],
    sliver: float,
    unit: str,
) -> None:
    """Refuse polygons of the map that overlap in the reference; warn of those of the reference that overlap."""
    first, second, common = cut.overlaps(*b)
    if len(common):  # only what lies in the reference matters
        of, parent = cut.shapely.STRtree(a[0]).query(common, predicate="intersects")
        inner = cut.common(common[of], a[0][parent])
        solid = cut.solid(inner)
        size = np.bincount(of[solid], cut.area(inner[solid]), len(common))
        large = np.flatnonzero(size > sliver / METRES[unit])
        if len(large):
            k = large[np.argmax(size[large])]
            more = f" {counted(len(large), 'pair')} overlap, by {number(size[large].sum(), 4)} {unit} together."
            raise InputError(
                f"rows {first[k]} and {second[k]} of {overlay.name} overlap by {number(size[k], 4)} {unit}; a map has "
                f"one class at each place.{more if len(large) > 1 else ''}",
                "cut the overlaps, so that each place is in one polygon. If they are small, give `sliver`, in square "
                "metres: overlaps of up to this size are tolerated, and smaller pieces are left out.",
                "overlay",
            )
        if size.any():
            warnings.warn(
                f"{counted(int(np.count_nonzero(size)), 'overlap')} of polygons of {overlay.name}, by "
                f"{number(size.sum(), 4)} {unit} together, none by more than {number(sliver)} m²: each of the two "
                "counts there in part.",
                MapWarning,
                stacklevel=2,
            )
    _warn_of_overlaps(cut, reference, a, sliver, unit)


def warn_of_overlaps(layer: OpenLayer, unit: str) -> None:
    """Warn of polygons that overlap or come twice: their area counts twice, too.

    In layers of more than `MOST_VERTICES` those are found that have a point well inside of another. Polygons whose
    edges jump over the antimeridian are passed over.
    """
    shapely = module("shapely")
    geometry = layer.geometry.copy()
    geometry[jumping_rows(geometry, layer.crs)] = shapely.Polygon()
    if shapely.get_num_coordinates(geometry).sum() > MOST_VERTICES:
        inner = shapely.point_on_surface(geometry)
        point, other = shapely.STRtree(geometry).query(inner, predicate="intersects")
        met = np.unique(np.concatenate([point[point != other], other[point != other]]))
        geometry[np.setdiff1d(np.arange(len(geometry)), met)] = shapely.Polygon()
    layer = layer._replace(geometry=geometry)
    parts = _parts(layer)
    noise = ROUNDING * np.abs(shapely.bounds(parts[0])).max(initial=0)
    cut = _Cutting(shapely, noise, partial(plane_areas, crs=layer.crs, unit=unit))
    _warn_of_overlaps(cut, layer, parts, 0.0, unit)


def _warn_of_overlaps(cut: _Cutting, layer: OpenLayer, parts: tuple[Array, Array], sliver: float, unit: str) -> None:
    """Warn of polygons of a reference that overlap by more than a sliver."""
    first, second, common = cut.overlaps(*parts)
    pairs, of = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
    of = of.reshape(-1)
    size = np.bincount(of, cut.area(common), pairs.shape[1])
    large = np.flatnonzero(size > sliver / METRES[unit])
    if not len(large):
        return
    plane = np.bincount(of, cut.shapely.area(common), pairs.shape[1])
    doubled = large[plane[large] >= (1 - SAME) * cut.shapely.area(layer.geometry[pairs[:, large]]).max(axis=0)]
    (one, other), twice = pairs[:, large[0]], ""
    if len(doubled):
        where = "rows {} and {}".format(*pairs[:, doubled[0]])
        twice = f" Polygons that come twice: {counted(len(doubled), 'pair')}, such as {where}."
    verb, size = "overlaps" if len(large) == 1 else "overlap", size[large]
    warnings.warn(
        f"{counted(len(large), 'pair')} of polygons of {layer.name} {verb}, by {number(size.sum(), 4)} {unit} "
        f"together, which count twice: rows {one} and {other} by {number(size[0], 4)} {unit}, for instance.{twice} If "
        "the reference should have one class at each place, cut the overlaps.",
        MapWarning,
        stacklevel=2,
    )


def _no_overlap(reference: str, here: Array, overlay: str, there: Array, crs: Any) -> InputError:
    """Say that a map covers nothing of a reference, and where both lie."""

    def lies(bounds: Array) -> str:
        x0, y0, x1, y1 = (f"{x:.7g}" for x in bounds)
        return f"from ({x0}, {y0}) to ({x1}, {y1})"

    x0, y0, x1, y1 = there
    exchanged = x0 <= here[3] and here[1] <= x1 and y0 <= here[2] and here[0] <= y1
    return InputError(
        f"{overlay} covers nothing of {reference}: in {called(crs)}, the reference lies {lies(here)} and the map "
        f"{lies(there)}.",
        "x and y of one of them seem to be exchanged: x, or longitude, comes first."
        if exchanged
        else "look whether both are of the same region, and whether their coordinate reference systems are the right "
        "ones.",
        "overlay",
    )


def _without_slivers(found: Pieces, sliver: float, sizes: Array, unit: str) -> Pieces:
    """Leave out what is smaller than a sliver, and say so."""
    small = found.area < sliver / METRES[unit]
    if not small.any():
        return found
    lost, total = found.area[small].sum(), sizes.sum()
    warnings.warn(
        f"{counted(int(small.sum()), 'piece')} smaller than {number(sliver)} m² "
        f"{'was' if small.sum() == 1 else 'were'} left out, {number(lost, 4)} {unit} together: "
        f"{percent(lost / total)} of the reference.",
        MapWarning,
        stacklevel=2,
    )
    return Pieces(*(x[~small] for x in found))


def _refuse_gaps(found: Pieces, sizes: Array, reference: OpenLayer, overlay: OpenLayer, unit: str) -> None:
    """Refuse parts of the reference that the map does not cover."""
    bare = np.flatnonzero(found.map < 0)
    if len(bare):
        lost = found.area[bare]
        k = bare[np.argmax(lost)]
        row = found.reference[k]
        raise InputError(
            f"{overlay.name} does not cover {number(lost.sum(), 4)} {unit} of {reference.name}, "
            f"{percent(lost.sum() / sizes.sum())}, in {counted(len(bare), 'polygon')}; the largest part is "
            f"{number(found.area[k], 4)} {unit} of the {number(sizes[row], 4)} {unit} of row {row}.",
            "`uncovered` 'class' counts such parts as errors of the map. Parts smaller than `sliver` are left out.",
            "uncovered",
        )


# ---- points --------------------------------------------------------------------------------------------------


def at_points(points: OpenLayer, overlay: OpenLayer) -> Array:
    """Return the row of the map's polygon that each point lies in; −1 for points outside.

    A point on a border belongs to the polygon that comes first in the map, with a warning that counts such points.

    Raises
    ------
    InputError
        A point lies inside two polygons.

    Examples
    --------
    >>> import pandas as pd
    >>> import pyproj
    >>> from shapely import box, points
    >>> from wmcc.geo.layers import OpenLayer
    >>> crs, rows = pyproj.CRS("EPSG:4326"), pd.DataFrame(index=range(2))
    >>> map = OpenLayer(rows, np.array([box(0, 0, 1, 1), box(1, 0, 2, 1)]), crs, "the map")
    >>> at_points(OpenLayer(rows, points([[1.5, 0.5], [3, 0.5]]), crs, "plots"), map)
    array([ 1, -1])
    """
    shapely = module("shapely")
    own = in_crs_of(points, overlay, "the map").geometry
    _refuse_jumps(overlay)
    if overlay.crs.is_geographic:
        west, _, east, _ = shapely.total_bounds(overlay.geometry)
        x, y = shapely.get_coordinates(own).T
        own = shapely.points(_into(x, west, east, overlay.crs), y)
    tree = shapely.STRtree(overlay.geometry)
    point, row = tree.query(own, predicate="intersects")
    order = np.lexsort((row, point))
    point, row = point[order], row[order]
    several = np.flatnonzero(np.bincount(point, minlength=len(own))[point] > 1)
    if len(several):
        inner = shapely.contains_properly(overlay.geometry[row[several]], own[point[several]])
        twice = np.flatnonzero(np.bincount(point[several[inner]], minlength=len(own)) > 1)
        if len(twice):
            first, second = row[several[inner & (point[several] == twice[0])]][:2]
            more = f", and so do {counted(len(twice) - 1, 'other point')}" if len(twice) > 1 else ""
            raise InputError(
                f"the point in row {twice[0]} of {points.name} lies in two polygons of {overlay.name}, rows {first} "
                f"and {second}{more}; a map has one class at each place.",
                "cut the polygons of the map, so that each place is in one of them.",
                "overlay",
            )
        # Inside one and on the border of another it belongs to the first of the two, which are then not neighbours.
        shared = np.unique(point[several])
        warnings.warn(
            f"{counted(len(shared), 'point')} of {points.name} {'lies' if len(shared) == 1 else 'lie'} on a border of "
            f"two polygons of {overlay.name}, row {shared[0]} first. Such a point has the class of the polygon that "
            "comes first in the map.",
            MapWarning,
            stacklevel=2,
        )
    if len(own) and not len(point):
        ends = shapely.total_bounds(own), shapely.total_bounds(overlay.geometry)
        raise _no_overlap(points.name, ends[0], overlay.name, ends[1], overlay.crs)
    found = np.full(len(own), -1)
    found[point[::-1]] = row[::-1]
    return found


def at_pixels(points: OpenLayer, raster: OpenRaster) -> tuple[Array, Array]:
    """Return the value of the pixel that each point lies in, and whether it is known.

    A point on the edge between two pixels belongs to the one with the higher number of row or column: in a raster with
    north at the top, the one to the south or east. Points outside of the raster, and on nodata, are not known.
    """
    shapely = module("shapely")
    if raster.transform is None:
        raise InputError(
            f"{raster.name} has no coordinates, so that points cannot be found on it.",
            "give a raster with a transform, such as a GeoTIFF.",
            "overlay",
        )
    x, y = shapely.get_coordinates(in_crs_of(points, raster, "the map").geometry).T
    height, width = raster.shape
    a, b, c, d, e, f = raster.transform
    if not b and not d:
        x = _into(x, min(c, c + a * width), max(c, c + a * width), raster.crs)
    column = np.floor((e * (x - c) - b * (y - f)) / (a * e - b * d))
    row = np.floor((a * (y - f) - d * (x - c)) / (a * e - b * d))
    inside = np.flatnonzero((row >= 0) & (row < height) & (column >= 0) & (column < width))
    if len(x) and not len(inside):
        j, i = np.array([0, 0, width, width]), np.array([0, height, 0, height])
        corners = np.stack([a * j + b * i + c, d * j + e * i + f])
        ends = np.concatenate([corners.min(axis=1), corners.max(axis=1)])
        raise _no_overlap(points.name, np.array([x.min(), y.min(), x.max(), y.max()]), raster.name, ends, raster.crs)
    row, column = (k[inside].astype(np.int64) for k in (row, column))
    values, known = np.zeros(len(x), dtype=np.int64), np.zeros(len(x), dtype=bool)
    h, w = raster.block_shape
    block = row // h * (width // w + 1) + column // w
    order = np.argsort(block, kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(block[order])) + 1):
        if not len(some):
            continue
        r, c = row[some], column[some]
        top, left = r.min(), c.min()
        read, there = raster.labels(slice(top, r.max() + 1), slice(left, c.max() + 1))
        values[inside[some]] = read[r - top, c - left]
        known[inside[some]] = True if there is None else there[r - top, c - left]
    return values, known

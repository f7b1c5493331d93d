"""Where layers differ: polygons on the cells of a picture, and points."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core.arraytypes import IntArray
from ..core.labels import Label
from ..core.table import Table
from ..errors import InputError, InputTypeError, MapWarning
from ..geo.canvas import Canvas, crs_title, ground
from ..geo.layers import Layer, known_crs, read_layer, repaired
from ..geo.overlay import all_around, at_pixels, at_points, in_plane_of, jumping_rows
from ..geo.raster import Raster, as_raster
from ..optional import module
from ..sources import tabulate
from ..sources.layers import from_text
from ..sources.options import AREA, is_raster
from ..sources.overlays import NOT_COVERED, are_points
from ..sources.places import is_name
from .error_map import ErrorMap, ErrorMapOptions, Places, checked_class, label_colours

MARGIN = 0.04
"""Of a picture of points, on each side, as a share of the longer one."""


def from_layers(
    data: Any,
    overlay: Any,
    true: Any,
    pred: Any,
    layer: str | None,
    over: str | None,
    xy: Any,
    crs: Any,
    wish: ErrorMapOptions,
) -> ErrorMap:
    """Look where the classes of polygons or points differ."""
    raster = overlay is not None and is_raster(overlay)
    for name, column in (("true", true), ("pred", pred)):
        if not is_name(column) and not (name == "pred" and column is None and raster):
            came = "is missing" if column is None else f"is a {type(column).__name__}"
            raise InputTypeError(f"{name}= {came}: expected the name of a column.", argument=name)
    columns = [true] if overlay is not None else [true, pred]
    reference = read_layer(data, layer=layer, crs=crs if xy is not None else None, columns=columns, xy=xy)
    other: Layer | Raster | None = None
    if raster:
        other = as_raster(overlay, "the map")
    elif overlay is not None:
        other = read_layer(overlay, layer=over, columns=[pred], keyword="overlay_layer")
        other = other._replace(frame=from_text(other.frame, overlay))
    if crs is not None:
        known = reference.crs is not None and (other is None or other.crs is not None)
        if reference.crs is None or (known and xy is None):
            reference = reference._replace(crs=known_crs(reference.crs, crs, reference.name))
        if isinstance(other, Raster):
            other = as_raster(other, "the map", crs=crs)
        elif other is not None and other.crs is None:
            other = other._replace(crs=known_crs(None, crs, other.name))
    reference = reference._replace(frame=from_text(reference.frame, data))
    points = xy is not None or are_points(reference)
    reference = repaired(reference, kinds=("point",) if points else ("polygon",))
    if isinstance(other, Layer):
        other = repaired(other)
    if points or reference.crs is None:
        wish = wish._replace(weight=None)  # there are no areas
    reading: dict[str, Any] = {"true": true, "pred": pred, **wish.reading}
    reading |= {"weight": AREA, "unit": wish.unit} if wish.weight == AREA else {}
    if other is not None:
        reading["overlay"] = _frame_of(other) if isinstance(other, Layer) else other
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*no geometry", MapWarning)  # it was said when they were repaired
        table: Table = tabulate(_frame_of(reference), **reading)
    place = Places(table, wish.named or (other.names if isinstance(other, Raster) else {}), NOT_COVERED)
    truth = _row_codes(reference, true, place, wish.ignore)
    if other is None:
        return _drawn(reference, truth, _row_codes(reference, pred, place), table, points, wish)
    if isinstance(other, Raster):
        values, seen = at_pixels(reference, other)
        return _drawn(reference, truth, place.codes(values, seen, place.lost), table, points, wish)
    mapped = _row_codes(other, pred, place)
    if points:
        mapped = np.append(mapped, place.lost)  # row −1 is where there is none
        return _drawn(reference, truth, mapped[at_points(reference, other)], table, points, wish)
    bounds = module("shapely").total_bounds(reference.geometry)
    own = in_plane_of(other, reference)[0].geometry
    drawn, rows = all_around(own, np.arange(len(own)), bounds, reference.crs)
    return _drawn(reference, truth, np.append(mapped[rows], place.lost), table, points, wish, drawn)


def _drawn(
    layer: Layer, truth: IntArray, pred: IntArray, table: Table, points: bool, wish: ErrorMapOptions, other: Any = None
) -> ErrorMap:
    """Draw polygons on cells, or put points where they are."""
    shapely = module("shapely")
    of = checked_class(table, wish.of, "point" if points else "polygon")
    layer = _around_the_antimeridian(layer)
    left, bottom, right, top = map(float, shapely.total_bounds(layer.geometry))
    if points:
        xy = shapely.get_coordinates(layer.geometry)
        margin = MARGIN * max(right - left, top - bottom) or 1.0
        extent = left - margin, right + margin, bottom - margin, top + margin
    else:
        canvas = Canvas.over((left, right, bottom, top), layer.crs, wish.size)
        xy, extent = None, canvas.extent
        row = canvas.polygons(layer.geometry)
        truth = np.where(row < 0, -1, truth[row])
        pred = pred[row if other is None else canvas.polygons(other)]
    known = (truth >= 0) & (pred >= 0)  # rows without a label are left out of the table, too
    truth, pred = (np.where(known, own, -1) for own in (truth, pred))
    k = -1 if of is None else table.labels.index(of)
    wrong = truth != pred if of is None else (truth == k) != (pred == k)
    shares = [np.where(known, x, np.nan).astype(np.float32) for x in (wrong, wrong & (truth == k))]
    on_earth = ground(layer.crs, (left + right) / 2, (bottom + top) / 2)
    return ErrorMap(
        table,
        shares[0],
        known.astype(np.int64),
        truth,
        pred,
        extent,
        "point" if points else "polygon",
        1,
        "points" if points else "polygons" if wish.weight is None else "area",
        label_colours(table, {}, {}),
        crs=None if layer.crs is None else crs_title(layer.crs),
        metres=on_earth.metres,
        north=on_earth.north,
        points=xy,
        of=of,
        missed=None if of is None else shares[1],
        unit=wish.unit if wish.weight == AREA else None,
    )


def _around_the_antimeridian(layer: Layer) -> Layer:
    """Return polygons whose edges jump over the antimeridian with longitudes from 0 to 360, so that they are whole."""
    if layer.crs is None or not len(jumping_rows(layer.geometry, layer.crs)):
        return layer
    around = module("shapely").transform(layer.geometry, lambda xy: np.where([True, False], xy % 360, xy))
    rows = jumping_rows(around, layer.crs)
    if len(rows):
        raise InputError(
            f"some polygons of {layer.name} have edges over the antimeridian, and others over the meridian 0 (row "
            f"{rows[0]} first); they cannot be drawn in one plane.",
            "draw a part of them; or split polygons at 180 degrees.",
        )
    return layer._replace(geometry=around)


def _frame_of(layer: Layer) -> Any:
    """Make a frame of a layer, as `wmcc.tabulate` takes it."""
    return module("geopandas").GeoDataFrame(layer.frame, geometry=layer.geometry, crs=layer.crs)


def _row_codes(layer: Layer, column: Any, place: Places, ignore: tuple[Label, ...] = ()) -> IntArray:
    """Return the class of each row."""
    codes = place.codes(np.asarray(layer.frame[column], dtype=object))
    skipped = [place.of(x) for x in ignore]
    return np.where(np.isin(codes, skipped), -1, codes) if skipped else codes

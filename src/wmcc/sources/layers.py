"""Layers of polygons and points as frames of rows, which are tabulated as any other frame."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import InputTypeError, MapWarning, warn
from ..geo.areas import polygon_areas
from ..geo.layers import TEXT, are_points, column_names, no_crs, of_polygons, read_layer, repaired
from ..geo.overlay import warn_of_overlaps
from ..optional import module
from ..present.text import number
from .codes import Rules
from .column_lookup import unused
from .recognised import LAYERS, as_area
from .request import AREA, Request
from .text_types import reader
from .values import Join, Layer, Overlay

if TYPE_CHECKING:
    from .map_cells import Cells


Keys = dict[str, Any]
"""What a call has as groups, strata and so on, by parameter."""

KEYS = ("stratum", "population", "fpc", "poststratum", "totals", "replicates")
"""What values of a design may name columns of a layer in."""


def keys_of(request: Request) -> Keys:
    """What a call has as groups, strata and so on, by parameter."""
    found = {"by": request.by, "cluster": request.cluster}
    for value in (request.strata, request.poststrata, request.replicates):
        found |= {name: getattr(value, name) for name in KEYS if hasattr(value, name)}
    return {name: own for name, own in found.items() if own is not None}


class LaidOut(NamedTuple):
    """Rows of a layer, or of two: the call of a frame of them, and what becomes of their labels.

    ``void`` has the labels that stand for no class, ``whole`` whether the rows are all of a map, wall to wall.
    """

    request: Request
    rules: Rules
    void: Mapping[Any, str]
    whole: bool = False


def laid_out(request: Request, rules: Rules, cells: Cells | None = None) -> LaidOut:
    """Return the rows of a layer, or of two, with a column of areas if they weigh.

    ``cells`` is told where the rows lie.
    """
    given = request.y_true
    if isinstance(given, Overlay):
        from .overlays import overlaid

        return overlaid(request, rules, cells)
    join = given if isinstance(given, Join) else None
    request = _of_one(request._replace(y_true=given if join is None else join.truth), join is not None, cells)
    if join is None:
        from .class_names import in_one_wording

        request, rules = in_one_wording(request, rules)
    else:
        both = replace(join, truth=request.y_true, prediction=joined_frame(join.prediction))
        request = request._replace(y_true=both)
    return LaidOut(request, rules, {})


def as_layer(data: Any) -> Layer:
    """Return what is given as a layer, with what is said of it."""
    return data if isinstance(data, Layer) else Layer(data)


def _of_one(request: Request, joined: bool, cells: Cells | None) -> Request:
    """Make a frame of the rows of one layer; ``joined`` says that columns may be those of another frame."""
    given, weight = as_layer(request.y_true), request.weight
    data = given.data
    is_file, of_points = isinstance(data, (str, os.PathLike)), given.xy is not None
    if not (is_file or hasattr(data, "columns") or of_points):
        raise InputTypeError(
            f"the data are a {type(data).__name__}, which has geometries only; expected a frame with classes."
        )
    if cells is None and of_points and not is_file and not hasattr(data, "geometry"):
        return request._replace(y_true=data)
    area = None if of_points else as_area(weight, lambda: column_names(data, given.layer))
    if cells is None and not is_file and area is None:
        note_area_column(given, data, weight)
        return request._replace(y_true=data)
    columns = named_columns(request.true, request.pred, None if area else weight, *keys_of(request).values())
    layer = read_layer(
        data,
        layer=given.layer,
        crs=given.crs,
        columns=None if joined else columns,
        geometry=area is not None or cells is not None,
        xy=given.xy,
    )
    note_area_column(given, layer.frame, weight)
    if area is not None and layer.crs is None:
        raise no_crs(layer.name, "area")
    if area is not None or cells is not None:
        layer = repaired(layer, points=area is None and are_points(layer))
    if cells is not None:
        layer = layer._replace(frame=from_text(layer.frame, data))
        cells.place_rows(layer, layer.frame, request.true, request.pred, area)
    if area is None:
        return request._replace(y_true=layer.frame if is_file else data)
    frame = layer.frame if is_file else module("pandas").DataFrame(data.drop(columns=data.geometry.name))
    own = unused(f"area ({area.unit})", list(frame.columns))
    areas = polygon_areas(layer.geometry, layer.crs, area.unit)
    warn_of_overlaps(layer, area.unit)
    return request._replace(y_true=frame.assign(**{own: areas}), weight=own)


def note_area_column(given: Layer, frame: Any, weight: Any) -> None:
    """Warn if the word for areas names a column of polygons: it is taken, and may be of another unit, or of old."""
    if not (isinstance(weight, str) and weight == AREA and given.xy is None and AREA in frame.columns):
        return
    if not of_polygons(given.data, given.layer):
        return
    values = module("pandas").to_numeric(frame[AREA], errors="coerce")
    where = f"of {os.fspath(given.data)}" if isinstance(given.data, (str, os.PathLike)) else "of the frame"
    warn(
        f"`weight` {AREA!r} is the column {AREA!r} {where}, with values from {number(values.min())} to "
        f"{number(values.max())}, {number(values.sum())} together. It is not computed from the polygons, as "
        "`wmcc.Area('ha')` is.",
        MapWarning,
    )


def joined_frame(data: Any) -> Any:
    """Return a layer in a file that is joined with another as a frame, without its geometry; other data as they are."""
    is_file = isinstance(data, (str, os.PathLike)) and os.fspath(data).lower().endswith(LAYERS)
    return read_layer(data, geometry=False).frame if is_file else data


def from_text(frame: Any, data: Any, numbers: tuple[Any, ...] = ()) -> Any:
    """Return a frame whose columns, if they were read from a file of text, are what they stand for.

    The rule is that of other files of text: integers if all values look like integers, and else text. ``numbers`` may
    name columns that hold numbers, such as weights.
    """
    if not isinstance(data, (str, os.PathLike)) or not os.fspath(data).lower().removesuffix(".gz").endswith((*TEXT,)):
        return frame
    pandas = module("pandas")
    typed = {}
    for name in frame.columns:
        own = frame[name]
        if name in numbers and not pandas.to_numeric(own, errors="coerce")[own.notna()].isna().any():
            typed[name] = pandas.to_numeric(own)
            continue
        read = reader(own.dropna())
        typed[name] = own if read is str else own.map(read, na_action="ignore").astype(object)
    return pandas.DataFrame(typed, index=frame.index)


def named_columns(*given: Any) -> list[str] | None:
    """Names of columns among what the caller gave; None if any column may be needed."""
    found: dict[str, None] = {}
    for one in _leaves(given):
        if one is None or isinstance(one, (bool, int, float)):
            continue
        if not isinstance(one, str) or any(x in one for x in "*?["):
            return None
        found[one] = None
    return list(found)


def _leaves(given: Any) -> Iterator[Any]:
    if isinstance(given, (list, tuple)):
        for one in given:
            yield from _leaves(one)
    elif isinstance(given, Mapping):
        yield from given.values()
    else:
        yield given

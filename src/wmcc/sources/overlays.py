"""A map laid over a reference, as a frame of rows: pieces of polygons, or points with the class of the map there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array
from ..errors import InputError, InputTypeError, LabelError, WeightError, missing_column
from ..geo.areas import polygon_areas
from ..geo.layers import OpenLayer, are_points, column_names, read_layer, repaired
from ..geo.overlay import Pieces, at_pixels, at_points, pieces
from ..geo.raster import OpenRaster, as_raster
from ..optional import module
from ..present.text import counted, listed, percent
from .class_names import Wording, is_text, words_of_sizes
from .codes import Rules
from .column_lookup import is_name, unused
from .layers import Keys, LaidOut, as_layer, from_text, keys_of, named_columns, note_area_column
from .map_cells import NOT_COVERED, Below, Cells
from .map_classes import strata_sizes
from .recognised import as_area, is_raster
from .request import AREA, CLASS, Request
from .values import Layer, Overlay, Unit

FAR = -(1 << 31)
"""Stands for what the map does not cover among labels that are integers; if it is one of them, a number below."""

WHOLE = 0.99
"""Share of a map that lies in a reference which is no sample: borders of layers need not agree to the metre."""
POINTS_ONLY = {
    "population": "it makes the weights of rows from their number, and the pieces of a polygon are several rows",
    "replicates": "replicate weights are of polygons, and rows are pieces of them",
}


def overlaid(request: Request, rules: Rules, cells: Cells | None) -> LaidOut:
    """Return the rows of the pieces of two layers, or of points and what a map says there.

    Missing classes are refused by the rows of their layers, unless rows without are to be skipped. ``cells`` is told
    where the rows lie.
    """
    given, true, weight, keys = request.y_true, request.true, request.weight, keys_of(request)
    maps = _maps(given, request.pred)
    sized = request.sized_by_map and keys.pop("population")  # which is no column
    side = as_layer(given.reference)
    reference = _reference(side, (true, weight, keys), maps)
    for word, column in (("true", true), ("weight", weight)):
        if is_name(column) and [*reference.frame.columns].count(column) > 1:
            raise InputError(f"{reference.name} has several columns {column!r}; expected one.", "rename them.", word)
    if are_points(reference):
        reference, true = _with_truth(repaired(reference, points=True), side.data, true)
        return _of_points(side.data, reference, maps, request._replace(true=true), keys, rules, cells)
    keys |= {"population": sized} if sized else {}
    return _of_polygons(repaired(reference), maps, request, keys, rules, cells)


# ---- what the caller gave ----------------------------------------------------------------------------------


class LaidMap(NamedTuple):
    """A map that is laid over the reference: its name, if it has one, its polygons or pixels, its column of classes."""

    key: str | None
    found: OpenLayer | OpenRaster
    column: Any


class Laid(NamedTuple):
    """The same, with the row of the layer that belongs to each row of the reference, −1 where there is none.

    ``names`` are those that a raster has for its classes.
    """

    key: str | None
    layer: OpenLayer
    column: Any
    rows: Array
    names: Mapping[int, str]


def _maps(given: Overlay, pred: Any) -> list[LaidMap]:
    """Open the map, or several by their names, and look which columns have their classes."""
    several = given.map if isinstance(given.map, Mapping) else None
    if several is None:
        columns = pred if isinstance(pred, Mapping) else {None: pred}
        found = _opened(given.map, "the map")
        return [_laid_map(None if key is None else str(key), found, own) for key, own in columns.items()]
    if isinstance(pred, Mapping) and (odd := {*pred} - {*several}):
        raise InputError(
            f"`pred` has a column for {listed([repr(x) for x in pred if x in odd])}, and there is no such map; there "
            f"are {listed([repr(x) for x in several])}.",
            argument="pred",
        )
    maps = []
    for key, own in several.items():
        found = _opened(own, f"the map {key!r}")
        named = pred.get(key) if isinstance(pred, Mapping) else None if isinstance(found, OpenRaster) else pred
        maps.append(_laid_map(str(key), found, named))
    return maps


def _laid_map(key: str | None, found: OpenLayer | OpenRaster, column: Any) -> LaidMap:
    if isinstance(found, OpenRaster) and column is not None:
        raise InputTypeError(
            f"`pred` names the column of a map's classes, and {found.name} is a raster, which has none.",
            "leave `pred` out.",
            "pred",
        )
    return LaidMap(key, found, CLASS if isinstance(found, OpenRaster) else column)


def _opened(data: Any, name: str) -> OpenLayer | OpenRaster:
    """Open a map; its columns are read when it is known which are needed."""
    given = as_layer(data)
    data = given.data
    if is_raster(data):
        return as_raster(data, name)
    is_path = isinstance(data, (str, os.PathLike))
    if not (is_path or hasattr(data, "geometry")):
        raise InputTypeError(
            f"{name} is a {type(data).__name__}{' without geometry' if hasattr(data, 'columns') else ''}; expected "
            "polygons (a GeoDataFrame, or a file), or a raster.",
            _instead_of(data),
            "overlay",
        )
    layer = read_layer(data, layer=given.layer, name=None if is_path else name, crs=given.crs)
    if not len(layer.geometry):
        raise InputError(f"{layer.name} has no polygons.", argument="overlay")
    return layer


def _instead_of(data: Any) -> str | None:
    """What to give as a map."""
    if isinstance(data, (list, tuple)):
        return (
            "sheets of one map: pandas.concat([geopandas.read_file(…), …]). Several maps of the same points: a mapping "
            "from names, wmcc.Overlay(points, {'A': …, 'B': …})."
        )
    from .kinds import NO_GEOMETRY

    return NO_GEOMETRY if hasattr(data, "columns") else None


def _reference(given: Layer, named: tuple[Any, ...], maps: list[LaidMap]) -> OpenLayer:
    """Read the reference, with those columns that are named."""
    data, (true, weight, keys) = given.data, named
    is_path = isinstance(data, (str, os.PathLike))
    name = None if is_path else "the reference"
    if true is None:
        raise InputTypeError(
            "`true` is missing: the column of the reference that has its classes.",
            "write tabulate(wmcc.Overlay(reference, map), true=…, pred=…).",
            "true",
        )
    if given.xy is not None:
        layer = read_layer(data, crs=given.crs, layer=given.layer, xy=given.xy, name=name)
        numbers = tuple(filter(is_name, (weight, *map(keys.get, ("population", "fpc", "totals")))))
        return layer._replace(frame=from_text(layer.frame, data, numbers))
    columns = named_columns(true, weight, *keys.values())
    if is_path and columns is not None:
        there = column_names(data, given.layer)
        elsewhere = [x for own in maps for x in (own.key, *_columns_of(own.found)) if x is not None]
        lost = next((x for x in columns if x not in [*there, *elsewhere] and str(x).lower() != AREA), None)
        if lost is not None:
            where = listed([os.fspath(data), *(own.found.name for own in maps)], "or")
            raise missing_column(lost, [*dict.fromkeys([*there, *elsewhere])], where)
        columns = [x for x in columns if x in there or not (x in elsewhere or x == AREA)]
    return read_layer(data, layer=given.layer, columns=columns if is_path else None, name=name, crs=given.crs)


def _columns_of(found: OpenLayer | OpenRaster) -> list[Any]:
    return [CLASS] if isinstance(found, OpenRaster) else [*found.frame.columns]


# ---- rows --------------------------------------------------------------------------------------------------


def _of_polygons(
    reference: OpenLayer, maps: list[LaidMap], request: Request, keys: Keys, rules: Rules, cells: Cells | None
) -> LaidOut:
    """Return the call of a frame of pieces; each has its share of the weight of its polygon."""
    given, true, weight, overlay = request.y_true, request.true, request.weight, maps[0].found
    if isinstance(given.map, Mapping):
        raise InputTypeError(
            "several maps are laid over points only; polygons are cut along one map.",
            "tabulate the maps one by one; or lay them over each other before, and name their columns in `pred`.",
            "overlay",
        )
    if isinstance(overlay, OpenRaster):
        raise InputTypeError(
            f"{overlay.name} is a raster, and {reference.name} holds polygons; a raster is laid over points.",
            "burn the polygons into a raster of the same pixels (rasterio.features.rasterize), and tabulate the two.",
            "overlay",
        )
    for name, why in POINTS_ONLY.items():
        if name in keys and (weight is None or name == "replicates"):
            hint = "leave it out, and give weight='area', or a column of weights." if name == "population" else None
            raise InputTypeError(f"`{name}` does not work with two layers of polygons: {why}.", hint, name)
    area = as_area(weight, lambda: reference.frame.columns)
    note_area_column(as_layer(given.reference), reference.frame, weight)
    _check_names(true=true, weight=AREA if area else weight, **keys)
    overlay = repaired(overlay)
    sizes = None if area else _weights(reference, weight)
    unit = area.unit if area else "ha"
    found = pieces(reference, overlay, unit, given.sliver, given.uncovered)
    rows = found.reference
    frame = reference.frame.iloc[rows].reset_index(drop=True)
    laid = [Laid(own.key, overlay, own.column, found.map, {}) for own in maps]
    if not rules.skip_missing:
        _refuse_missing(reference, true, rows, laid)
    frame, columns, wording, void = _with_classes(frame, reference.name, true, laid, keys, rules)
    if cells is not None:
        cells.place_polygons(reference, overlay, true, maps[0].column, area)
    own = unused(f"{AREA} ({unit})" if area else str(weight or "weight"), list(frame.columns))
    frame[own] = found.area if sizes is None else found.share * sizes[rows]
    cluster = keys.get("cluster")
    if cluster is None:
        cluster = unused("polygon", list(frame.columns))
        frame[cluster] = rows
    whole = sizes is None and _covered(overlay, found, unit) >= WHOLE
    request = request._replace(y_true=frame, pred=columns, weight=own, cluster=cluster)
    return LaidOut(request, wording.rules, void, whole)


def _covered(overlay: OpenLayer, found: Pieces, unit: Unit) -> float:
    """Return which share of the area of a map lies in the reference."""
    return float(found.area[found.map >= 0].sum() / polygon_areas(overlay.geometry, overlay.crs, unit).sum())


def _check_names(**given: Any) -> None:
    """Refuse expressions and series: they have a value for each polygon, and rows are pieces."""
    for word, own in given.items():
        several = own if isinstance(own, (list, tuple)) else [own]
        if word in ("population", "fpc", "totals") or all(x is None or is_name(x) for x in several):
            continue
        raise InputTypeError(
            f"`{word}` is a {type(own).__name__}; with two layers of polygons expected the name of a column.",
            "make it a column of the reference.",
            word,
        )


def _weights(reference: OpenLayer, weight: Any) -> Array:
    """Weights of the polygons of the reference, which are divided among their pieces."""
    if weight is None:
        found = np.ones(len(reference.geometry))
    else:
        if weight not in reference.frame.columns:
            near = f"weight={AREA!r} is the area of the polygons." if str(weight).lower() == AREA else None
            raise missing_column(weight, [*reference.frame.columns], reference.name, near, "weight")
        try:
            found = reference.frame[weight].to_numpy(dtype=np.float64, na_value=np.nan)
        except (ValueError, TypeError):
            raise InputTypeError(
                f"the column {weight!r} of {reference.name}, given as `weight`, does not hold numbers.", None, "weight"
            ) from None
    bad = ~(np.isfinite(found) & (found >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise WeightError(
            f"{counted(int(bad.sum()), 'row')} of {reference.name} {'has' if bad.sum() == 1 else 'have'} a weight in "
            f"{weight!r} that is missing, negative or not finite: {found[row]:g} in row {row} first.",
            "a weight of 0 leaves a row out.",
            "weight",
        )
    flat = ~(module("shapely").area(reference.geometry) > 0) & (found != 0)
    if flat.any():
        row = int(np.argmax(flat))
        raise InputError(
            f"{counted(int(flat.sum()), 'polygon')} of {reference.name} (row {row} first) "
            f"{'has' if flat.sum() == 1 else 'have'} no area, so that the weight cannot be divided among pieces.",
            "leave such rows out, or give weight='area'.",
        )
    return found


def _with_truth(points: OpenLayer, data: Any, true: Any) -> tuple[OpenLayer, Any]:
    """Points with a column of true classes, and its name, where they are given as an expression or a series."""
    if is_name(true):
        return points, true
    from .frames import with_expression

    frame = points.frame.set_axis(data.index) if hasattr(data, "iloc") else points.frame
    own = unused("true", list(frame.columns))
    frame = with_expression(module("narwhals").from_native(frame), own, true).to_native()
    return points._replace(frame=frame.reset_index(drop=True)), own


def _of_points(
    data: Any, points: OpenLayer, maps: list[LaidMap], request: Request, keys: Keys, rules: Rules, cells: Cells | None
) -> LaidOut:
    """Return the call of a frame of points, as they are, with the class that each map has there."""
    given, true, weight = request.y_true, request.true, request.weight
    if given.sliver:
        raise InputTypeError(f"`sliver` is for polygons; {points.name} holds points.", None, "sliver")
    if as_area(weight, lambda: points.frame.columns):
        raise InputTypeError(
            f"areas were given as `weight`; {points.name} holds points, which have no area.",
            "leave it out, or name a column of weights; `population` of `wmcc.Strata` has the areas of strata.",
            "weight",
        )
    several = {id(own.found): own.found for own in maps}  # several columns of one map are looked up once
    found = {k: _at(points, own, given.uncovered) for k, own in several.items()}
    laid = [
        Laid(own.key, found[id(own.found)][0], own.column, found[id(own.found)][1], _names_of(own.found))
        for own in maps
    ]
    frame = points.frame.copy()
    if not rules.skip_missing:
        _refuse_missing(points, true, np.arange(len(frame)), laid)
    frame, columns, wording, void = _with_classes(frame, points.name, true, laid, keys, rules)
    if request.sized_by_map:
        opened, names = [(own.key, own.found, own.column) for own in maps], wording.names if wording.in_names else {}
        request = request.with_population(strata_sizes(request, opened, names))
    if cells is not None:
        own = next(own for own in laid if cells.which in (None, own.key))
        raster = next(x.found for x in maps if x.key == own.key)
        below = raster if isinstance(raster, OpenRaster) else Below.of(own.layer, own.column)
        cells.place_rows(points, frame, true, columns, None, void, below)
    if hasattr(data, "iloc"):  # series of the same frame may be given as columns
        frame.index = data.index
    return LaidOut(request._replace(y_true=frame, pred=columns), wording.rules, void)


def _names_of(found: OpenLayer | OpenRaster) -> Mapping[int, str]:
    return found.names if isinstance(found, OpenRaster) else {}


def _at(points: OpenLayer, overlay: OpenLayer | OpenRaster, uncovered: str) -> tuple[OpenLayer, Array]:
    """Look a map up at points: a layer with its classes, and the row there of each point, −1 where it has none."""
    if isinstance(overlay, OpenRaster):
        values, known = at_pixels(points, overlay)
        rows = np.where(known, np.arange(len(known)), -1)
        classes = module("pandas").Series(values).to_frame(CLASS)
        layer = OpenLayer(classes, points.geometry, overlay.crs, overlay.name)
    else:
        layer = repaired(overlay)
        rows = at_points(points, layer)
    lost = np.flatnonzero(rows < 0)
    if len(lost) and uncovered == "error":
        raise InputError(
            f"{overlay.name} has no class at {counted(len(lost), 'point')} of {points.name}, "
            f"{percent(len(lost) / len(rows))}; row {lost[0]} is the first.",
            "`uncovered` 'class' counts such points as errors of the map.",
            "uncovered",
        )
    return layer, rows


def _with_classes(
    frame: Any, name: str, true: Any, laid: list[Laid], keys: Keys, rules: Rules
) -> tuple[Any, Any, Wording, dict[Any, str]]:
    """Add the classes of maps to rows, and columns of the map that has them, if keys name such.

    Where one side has names of classes and another numbers, all have names. Returns the frame, its columns of
    predictions, these words with the rules of the labels, and what stands for places that a map does not cover.
    """
    if true not in frame.columns:
        theirs = next((own.layer.name for own in laid if true in own.layer.frame.columns), None)
        hint = f"it is a column of {theirs}: `true` names one of the reference, and `pred` one of the map."
        raise missing_column(true, [*frame.columns], name, hint if theirs else None, "true")
    classes = [_classes(own) for own in laid]
    known = [values[own.rows >= 0] for own, values in zip(laid, classes, strict=True)]
    wording = Wording.of([frame[true], *known], [own.names for own in laid], rules)
    _add_keys(frame, name, laid, keys, wording)
    if wording.in_names:
        frame[true] = wording.named(frame[true], frame[true].notna().to_numpy(), name)
        classes = [
            wording.named(values, own.rows >= 0, own.layer.name) for own, values in zip(laid, classes, strict=True)
        ]
    void: dict[Any, str] = {}
    if any((own.rows < 0).any() for own in laid):
        mark = _mark([frame[true], *classes])
        void = {mark: NOT_COVERED}
        classes = [_marked(values, own.rows < 0, mark) for values, own in zip(classes, laid, strict=True)]
    columns: dict[str | None, str] = {}
    for own, values in zip(laid, classes, strict=True):
        here = own.column if own.column not in frame.columns else f"{own.column} of {own.layer.name}"
        columns[own.key] = unused(str(here), list(frame.columns))
        frame[columns[own.key]] = values
    rules = wording.rules._replace(ignore=(*wording.rules.ignore, *void))
    return frame, columns.get(None, columns), wording._replace(rules=rules), void


def _add_keys(frame: Any, name: str, laid: list[Laid], keys: Keys, wording: Wording) -> None:
    """Add the columns of maps that keys name: a column of one of them, or the name of a map, which are its classes."""
    for key in dict.fromkeys(named_columns(*keys.values()) or ()):
        if key in frame.columns:
            continue
        sides = {(id(own.layer), key): own for own in laid if key in own.layer.frame.columns}
        sides |= {(id(own.layer), own.column): own for own in laid if key is not None and key == own.key}
        word = next(word for word, own in keys.items() if key in (named_columns(own) or ()))
        if not sides:
            every = [*frame.columns, *(x for own in laid for x in own.layer.frame.columns), *(own.key for own in laid)]
            every = [x for x in dict.fromkeys(every) if x is not None]
            raise missing_column(key, every, listed([name, *(own.layer.name for own in laid)], "or"))
        if len(sides) > 1:
            raise _ambiguous(key, word, [*sides.values()], name)
        (((_, column), side),) = sides.items()
        values = side.layer.frame[column].iloc[np.maximum(side.rows, 0)].reset_index(drop=True)
        if column == side.column:
            values = wording.like_sizes(values, words_of_sizes(keys, key), side.rows >= 0, side.layer.name)
        frame[key] = values.astype(object).where(side.rows >= 0, None)


def _ambiguous(key: Any, word: str, sides: list[Laid], name: str) -> InputError:
    """Say that several maps have a column: the first of them would decide, and so would their order."""
    theirs = listed([repr(own.key) for own in sides])
    hint = f"make it a column of {name}, with the values of the map that is meant."
    if all(key == own.column for own in sides):
        hint = f"`{word}` {sides[0].key!r} are the classes of the map {sides[0].key!r}, and so on."
    return InputError(
        f"{key!r}, given as `{word}`, is a column of several maps: {theirs}; {name} has none of this name.", hint, word
    )


def _classes(laid: Laid) -> Any:
    """The class of the map for each row; any where it has none."""
    _, layer, column, rows, _ = laid
    if column is None:
        raise InputTypeError(
            f"`pred` is missing: the column of {layer.name} that has its classes; its columns are "
            f"{listed([repr(x) for x in layer.frame.columns])}.",
            argument="pred",
        )
    if not is_name(column):
        raise InputTypeError(
            f"`pred` is a {type(column).__name__}; expected the name of a column of {layer.name}.", argument="pred"
        )
    if column not in layer.frame.columns:
        raise missing_column(column, [*layer.frame.columns], layer.name, None, "pred")
    if [*layer.frame.columns].count(column) > 1:
        raise InputError(f"{layer.name} has several columns {column!r}; expected one.", "rename them.", "pred")
    return layer.frame[column].iloc[np.maximum(rows, 0)].reset_index(drop=True)


def _refuse_missing(reference: OpenLayer, true: Any, rows: Array, laid: list[Laid]) -> None:
    """Refuse rows without a class, of the layers that were laid over each other."""
    sides = [(reference, true, rows), *((own.layer, own.column, own.rows) for own in laid)]
    for place, (layer, column, used) in enumerate(sides):
        if not is_name(column) or [*layer.frame.columns].count(column) != 1:
            continue  # which is refused elsewhere, or is an expression
        lacking = layer.frame[column].isna().to_numpy()
        bad = np.unique(used[(used >= 0) & lacking[used]]) if lacking.any() else np.zeros(0, dtype=np.int64)
        if len(bad):
            leave_out = "leave such rows out"
            if place:
                leave_out = "leave such rows out, so that the map does not cover their places"
            raise LabelError(
                f"{counted(len(bad), 'row')} of {layer.name} {'has' if len(bad) == 1 else 'have'} no class in the "
                f"column {column!r} (row {bad[0]} first).",
                f"fill them in; {leave_out}; or give `missing` 'ignore' to leave out and count what lies there.",
                "pred" if place else "true",
            )


def _mark(columns: list[Any]) -> Any:
    """A label that no row has: text among text, and an integer among others."""
    if not any(map(is_text, columns)):
        mark = FAR
        while any((own == mark).any() for own in columns):
            mark -= 1
        return mark
    if any((own == NOT_COVERED).any() for own in columns):
        raise InputError(
            f"a class is called {NOT_COVERED!r}, which is the name of what a map does not cover.", "rename the class."
        )
    return NOT_COVERED


def _marked(values: Any, lost: Array, mark: Any) -> Any:
    """Labels with a mark in place of those that a map does not have."""
    if not lost.any():
        return values
    if isinstance(mark, str) or str(values.dtype) == "category":
        values = values.astype(object)
    elif values.dtype.kind in "iub":
        values = values.astype("Int64" if module("pandas").api.types.is_extension_array_dtype(values) else np.int64)
    return values.where(~lost, mark)

"""Layers of polygons and points: frames of geopandas, files, and tables with coordinates."""

from __future__ import annotations

import difflib
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError, MapWarning, MissingDependencyError, missing_column, missing_file
from ..optional import module
from .areas import in_degrees
from .raster.crs import agreed_crs, called, read_crs

PARQUET = (".parquet", ".pq", ".geoparquet")
TEXT = {".csv": ",", ".tsv": "\t", ".tab": "\t"}

POINT, POLYGON, MULTIPOINT, MULTIPOLYGON, COLLECTION = 0, 3, 4, 6, 7
"""What shapely calls kinds of geometry."""

KINDS = ("points", "lines", "lines", "polygons", "points", "lines", "polygons", "collections")
"""Their names, by these numbers."""


OF_POINTS = "points in a table are given as wmcc.Layer(data, xy=('lon', 'lat'), crs='EPSG:4326')."
"""What to do with points that are in no layer."""


class OpenLayer(NamedTuple):
    """Polygons or points, with what is known of each."""

    frame: Any
    """Attributes: a frame of pandas, with the index 0, 1, …, and without the geometry."""
    geometry: NDArray[np.object_]
    """Geometries of shapely; None where there is none."""
    crs: Any
    """The coordinate reference system, of pyproj; None if it is not known."""
    name: str
    """What to call the layer in a message."""


# ---- reading -------------------------------------------------------------------------------------------


def read_layer(
    data: Any,
    *,
    layer: str | None = None,
    crs: Any = None,
    columns: Sequence[str] | None = None,
    xy: tuple[str, str] | None = None,
    name: str | None = None,
    geometry: bool = True,
) -> OpenLayer:
    """Read polygons or points.

    Parameters
    ----------
    data
        A frame of geopandas; a GeoPackage, Shapefile, GeoJSON, FlatGeobuf or GeoParquet file; or, with ``xy``, a frame
        or file of points.
    layer
        The layer of a file that has several.
    crs
        The coordinate reference system of data that do not say theirs.
    columns
        The attributes that are needed; all, if it is None.
    xy
        The columns of coordinates: x or longitude, then y or latitude.
    name
        What to call the layer in messages; by default the path, or "the frame".
    geometry
        Whether the geometry is needed; reading without it is faster.

    Examples
    --------
    >>> import pandas as pd
    >>> points = pd.DataFrame({"lon": [9.0, 9.5], "lat": [45.0, 45.5], "class": ["oak", "elm"]})
    >>> layer = read_layer(points, xy=("lon", "lat"), crs="EPSG:4326", columns=["class"])
    >>> layer.geometry[0]
    <POINT (9 45)>
    >>> layer.frame
      class
    0   oak
    1   elm
    """
    is_file = isinstance(data, (str, os.PathLike))
    path = _existing(data) if is_file else ""
    name = name or path or "the frame"
    end = os.path.splitext(path.rstrip("/").lower().removesuffix(".gz"))[1]
    if layer is not None and (xy is not None or not is_file or end in PARQUET):
        raise InputTypeError(f"`layer` is for files of several layers; {name} is one layer.", None, "layer")
    if xy is not None:
        return _points(data, path, end, crs, columns, xy, name)
    if not is_file:
        return _of_frame(data, crs, columns, name, geometry)
    if end in TEXT or end in (".jsonl", ".ndjson", ".arrow", ".feather", ".ipc"):
        raise InputTypeError(
            f"{path} is a table without geometry.",
            OF_POINTS,
            "xy",
            "if it holds points, name the columns of their coordinates: --xy lon,lat, and give --crs.",
        )
    if end in PARQUET:
        return _of_frame(_of_parquet(path, columns, name), crs, None, name, geometry)
    return _of_file(path, one_layer(path, layer), crs, columns, name, geometry)


def _of_frame(data: Any, crs: Any, columns: Any, name: str, geometry: bool) -> OpenLayer:
    if type(data).__module__.startswith("dask"):
        raise InputTypeError(
            f"{name} is a {type(data).__name__} of Dask.", "read it into memory first: data.compute()."
        )
    if not (hasattr(data, "geometry") and hasattr(data, "crs")):
        raise InputTypeError(
            f"{name} is a {type(data).__name__} without geometry.", f"pass a GeoDataFrame; {OF_POINTS}"
        )
    if not hasattr(data, "columns"):  # a series of geometries
        data = data.to_frame("geometry")
    shapes = data.geometry
    frame = module("pandas").DataFrame(data.drop(columns=shapes.name))
    frame = frame[_names(columns, frame.columns, name)].reset_index(drop=True)
    return OpenLayer(
        frame, shapes.to_numpy() if geometry else np.empty(0, dtype=object), known_crs(shapes.crs, crs, name), name
    )


def _of_file(path: str, layer: str, crs: Any, columns: Any, name: str, geometry: bool) -> OpenLayer:
    pyogrio, _ = module("pyogrio"), module("geopandas")  # which the former needs, too
    described = _description(path, layer)
    columns = _names(columns, described["fields"].tolist(), name)
    if geometry and described["geometry_type"] is None:
        raise InputError(f"{name} has no geometry: it is a table.", OF_POINTS)
    by_arrow = find_spec("pyarrow") is not None and described["encoding"] == "UTF-8"  # which it takes all text to be in
    with _sentences(name):
        read = pyogrio.read_dataframe(path, layer=layer, columns=columns, read_geometry=geometry, use_arrow=by_arrow)
    if geometry:
        return _of_frame(read, crs, None, name, True)
    return OpenLayer(read, np.empty(0, dtype=object), known_crs(described["crs"], crs, name), name)


def _of_parquet(path: str, columns: Any, name: str) -> Any:
    """Read a file of GeoParquet as a frame of geopandas."""
    parquet, geopandas = module("pyarrow.parquet"), module("geopandas")
    with _sentences(name):
        schema = parquet.read_schema(path)
    about = (schema.metadata or {}).get(b"geo")
    if about is None:
        raise InputError(
            f"{name} has no geometry: it is a Parquet file, but no GeoParquet file.",
            f"write it with GeoDataFrame.to_parquet; {OF_POINTS}",
        )
    columns = None if columns is None else _names(columns, schema.names, name)
    with _sentences(name):
        return geopandas.read_parquet(
            path, columns=None if columns is None else [*columns, json.loads(about)["primary_column"]]
        )


def _points(data: Any, path: str, end: str, crs: Any, columns: Any, xy: tuple[str, str], name: str) -> OpenLayer:
    """Points of a table with coordinates."""
    if not (isinstance(xy, (tuple, list)) and len(xy) == 2):
        raise InputTypeError(f"`xy` is {xy!r}; expected the names of two columns, such as ('lon', 'lat').", None, "xy")
    if hasattr(data, "geometry") and hasattr(data, "crs"):
        raise InputTypeError(f"{name} has a geometry of its own.", "leave `xy` out.", "xy")
    frame = _table(data, path, end, name)
    columns = _names(columns, frame.columns, name)
    x, y = (_numbers(frame[column], column, name) for column in _names(xy, frame.columns, name))
    if crs is None:
        raise no_crs(name)
    frame = frame[columns].reset_index(drop=True)
    return OpenLayer(frame, module("shapely").points(x, y), known_crs(None, crs, name), name)


def _table(data: Any, path: str, end: str, name: str) -> Any:
    """Return a frame or file without geometry as a frame of pandas; what comes from text stays text."""
    pandas = module("pandas")
    if not path:
        if not hasattr(data, "iloc"):
            nw = module("narwhals")
            try:
                own = nw.from_native(data)
            except TypeError:
                raise InputTypeError(f"`xy` names columns of a frame or file; got a {type(data).__name__}.") from None
            data = (own.collect() if isinstance(own, nw.LazyFrame) else own).to_pandas()
        return data
    with _sentences(name):
        if end in TEXT:
            return pandas.read_csv(path, sep=TEXT[end], dtype=str, keep_default_na=False, na_values=[""])
        if end in PARQUET:
            return pandas.read_parquet(path)
    raise InputError(
        f"{path} is no table of points; expected an ending among {', '.join([*TEXT, *PARQUET])}.",
        "leave `xy` out if the file has a geometry." if end else None,
        "xy",
    )


def _numbers(column: Any, called_: str, name: str) -> NDArray[np.float64]:
    """Coordinates of points."""
    numbers: NDArray[np.float64] = (
        module("pandas").to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    )
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.argmax(bad))
        came = column.iloc[row]
        raise InputError(
            f"the column {called_!r} of {name} has the coordinate {repr(came) if isinstance(came, str) else came} in "
            f"row {row}; expected finite numbers ({int(bad.sum()):,} of {len(bad):,} rows have none).",
            "write numbers with a point: pandas.read_csv(…, decimal=',') reads them, and pass the frame."
            if isinstance(came, str) and "," in came
            else "leave these rows out, or give them coordinates.",
            "xy",
        )
    return numbers


def _names(columns: Any, names: Any, where: str) -> list[Any]:
    """Names of columns, each once, if they are there; all, if none are given."""
    names = list(names)
    chosen: list[Any] = names if columns is None else list(dict.fromkeys(columns))
    for column in chosen:
        if column not in names:
            hint = "`weight` 'area' takes the areas of the polygons." if str(column).lower() == "area" else None
            raise missing_column(column, names, where, hint)
    return chosen


def of_polygons(data: Any, layer: str | None = None) -> bool:
    """Return whether a frame of geopandas, or a file, says that it holds polygons."""
    if not isinstance(data, (str, os.PathLike)):
        if not hasattr(data, "geometry"):
            return False
        types = {*module("shapely").get_type_id(data.geometry.to_numpy()).tolist()}
        return bool(types & {POLYGON, MULTIPOLYGON})
    path = _existing(data)
    if path.lower().endswith(PARQUET):
        with _sentences(path):
            about = json.loads((module("pyarrow.parquet").read_schema(path).metadata or {}).get(b"geo", b"{}"))
        kinds = about.get("columns", {}).get(about.get("primary_column"), {}).get("geometry_types", [])
    else:
        kinds = [_description(path, one_layer(path, layer))["geometry_type"]]
    return any("Polygon" in str(kind) for kind in kinds)


def column_names(data: Any, layer: str | None = None) -> list[Any]:
    """Return the names of the columns of a frame of geopandas, or of a file of polygons or points."""
    if not isinstance(data, (str, os.PathLike)):
        return list(getattr(data, "columns", ()))
    path = _existing(data)
    if path.lower().endswith(PARQUET):
        with _sentences(path):
            return list(module("pyarrow.parquet").read_schema(path).names)
    return _description(path, one_layer(path, layer))["fields"].tolist()  # type: ignore[no-any-return]


def _existing(data: Any) -> str:
    """The path of a file, if there is one."""
    path: str = os.path.expanduser(os.fspath(data))
    if "://" not in path and not path.startswith("/vsi") and not os.path.exists(path):
        raise missing_file(path)
    return path


def _description(path: str, layer: str) -> Any:
    with _sentences(path):
        return module("pyogrio").read_info(path, layer=layer)


def one_layer(path: str, layer: str | None) -> str:
    """Return the layer of a file: the one that is named, or the only one."""
    pyogrio = module("pyogrio")
    with _sentences(path):
        found = [str(x) for x in pyogrio.list_layers(path)[:, 0]]
    shown = ", ".join(map(repr, found))
    if layer is None and len(found) == 1:
        return found[0]
    if layer is None:
        if not found:
            raise _unreadable(path, "it has no layers")
        shell = "name one with --layer, or a map's with --overlay-layer."
        raise InputError(
            f"{path} has {len(found)} layers: {shown}.", "name one with wmcc.Layer(path, layer).", "layer", shell
        )
    if layer not in found:
        near = difflib.get_close_matches(str(layer), found, 1)
        raise InputError(
            f"{path} has no layer {layer!r}; it has {shown or 'none'}.",
            f"did you mean {near[0]!r}?" if near else None,
            "layer",
        )
    return layer


@contextmanager
def _sentences(name: str) -> Iterator[None]:
    """What readers of files raise, as a sentence."""
    try:
        yield
    except (MissingDependencyError, InputError):
        raise
    except UnicodeDecodeError:
        raise InputError(
            f"{name} cannot be read: its text is not in UTF-8.",
            "read it with its own encoding, such as pandas.read_csv(…, encoding='latin-1'), and pass the frame.",
        ) from None
    except (RuntimeError, ValueError, KeyError, IndexError, OSError, module("shapely").errors.ShapelyError) as problem:
        raise _unreadable(name, problem) from None


def _unreadable(name: str, problem: Exception | str) -> InputError:
    said = (str(problem).strip() or type(problem).__name__).splitlines()[0].rstrip(".")
    return InputError(f"{name} cannot be read: {said}.", "it may be damaged, cut short or of another format.")


# ---- coordinate reference systems ----------------------------------------------------------------------


def known_crs(own: Any, given: Any, name: str) -> Any:
    """Return the CRS of data as pyproj has it: their own, or the one that the caller gave."""
    own = None if own is None else read_crs(own, name)
    if given is None:
        return own
    hint = "leave `crs` out. If the data say the wrong CRS, set it first: data.set_crs(…, allow_override=True)."
    return agreed_crs(own, given, name, hint)


def no_crs(name: str, what: Literal["area", "place"] = "place") -> InputError:
    """Say that a layer has no CRS."""
    if what == "area":
        return InputError(
            f"{name} has no coordinate reference system, so that areas cannot be computed from its coordinates.",
            "give `crs`, such as wmcc.Layer(…, crs='EPSG:25832'); or a column of areas as `weight`.",
            "crs",
        )
    return InputError(
        f"{name} has no coordinate reference system, so that nobody knows where its coordinates are.",
        "give it as wmcc.Layer(…, crs='EPSG:4326'), for longitude and latitude in degrees, or wmcc.Raster(…, crs=…).",
        "crs",
    )


# ---- repair --------------------------------------------------------------------------------------------


def are_points(layer: OpenLayer) -> bool:
    """Whether a layer holds points: there are some, and no polygons."""
    kinds = {*module("shapely").get_type_id(layer.geometry).tolist()}
    return bool(kinds & {POINT, MULTIPOINT}) and not kinds & {POLYGON, MULTIPOLYGON, COLLECTION}


def repaired(layer: OpenLayer, *, points: bool = False) -> OpenLayer:
    """Return the layer with valid polygons only, or points; one warning counts what was done to it.

    Invalid polygons are repaired with `shapely.make_valid`. What has no geometry, or one of another kind, has an empty
    polygon instead, so that it has no area. A point without coordinates is refused.
    """
    shapely = module("shapely")
    geometry = layer.geometry
    kind = shapely.get_type_id(geometry)
    if points:
        return _only_points(layer, kind, shapely)
    nothing = (kind < 0) | shapely.is_empty(geometry)
    polygons = ((kind == POLYGON) | (kind == MULTIPOLYGON)) & ~nothing
    collections = (kind == COLLECTION) & ~nothing
    other_kinds = ~(polygons | collections | nothing)
    what = KINDS[kind[other_kinds][0]] if other_kinds.any() else "no geometry"
    if len(kind) and not (polygons | collections).any():
        hint = "points and lines have no area." if other_kinds.any() else None
        raise InputError(f"{layer.name} holds {what}; expected polygons.", hint)
    geometry = geometry.copy()
    geometry[other_kinds | nothing] = shapely.Polygon()
    check_finite(geometry, layer.name)
    broken = collections & ~shapely.is_valid(geometry)
    geometry[collections] = [_polygons_of(one, shapely) for one in geometry[collections]]
    _check_place(layer, shapely)
    invalid = ~shapely.is_valid(geometry)  # not in threads: it sets filters of warnings, which all threads share
    notes = [
        _sentence(collections, "row is a collection", "rows are collections", "only their polygons count"),
        _sentence(broken, "of them has invalid polygons", "of them have invalid polygons", "repaired"),
        _sentence(other_kinds, f"row has {what}", f"rows have {what}", "no area"),
        _sentence(nothing, "row has no geometry", "rows have no geometry", "no area"),
        _mend(geometry, invalid, shapely),
    ]
    if any(notes):
        warnings.warn(f"{layer.name}: {' '.join(filter(None, notes))}", MapWarning, stacklevel=3)
    return layer._replace(geometry=geometry)


def check_finite(geometry: NDArray[np.object_], name: str) -> None:
    """Refuse coordinates that are not finite."""
    xy, row = module("shapely").get_coordinates(geometry, return_index=True)
    bad = ~np.isfinite(xy).all(axis=1)
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(
            f"the geometry of row {row[at]} of {name} has a coordinate that is not finite: ({xy[at][0]:.10g}, "
            f"{xy[at][1]:.10g}); {len(np.unique(row[bad])):,} of {len(geometry):,} rows have such.",
            "leave these rows out, or repair them.",
        )


def _check_place(layer: OpenLayer, shapely: Any) -> None:
    """Refuse degrees in a projected CRS, and anything else in one of degrees."""
    if layer.crs is None or not len(layer.geometry):
        return
    west, south, east, north = bounds = shapely.total_bounds(layer.geometry)
    if not np.isfinite(bounds).all():
        return  # which is refused elsewhere
    like_degrees = max(-west, east) <= 180 and max(-south, north) <= 90
    shown = f"its coordinates reach from ({west:.6g}, {south:.6g}) to ({east:.6g}, {north:.6g})"
    set_it = (
        "give the CRS that they are in: as `crs` if it was given, or data.set_crs(…, allow_override=True), of a file "
        "after geopandas.read_file"
    )
    if in_degrees(layer.crs):
        unit = np.degrees(layer.crs.axis_info[0].unit_conversion_factor)
        if max(-west, east) * unit > 360.001 or max(-south, north) * unit > 90.001:
            raise InputError(
                f"{layer.name} is in {called(layer.crs)}, and {shown}, which is no longitude and latitude.",
                f"if they are metres, {set_it}. If latitude comes first, exchange the two.",
                "crs",
            )
    elif like_degrees and layer.crs.is_projected and not _in_use(layer.crs, (west + east) / 2, (south + north) / 2):
        raise InputError(
            f"{layer.name} is in {called(layer.crs)}, and {shown}, which look like degrees.", f"{set_it}.", "crs"
        )


def _in_use(crs: Any, x: float, y: float) -> bool:
    """Whether a place is in the part of the earth that a projection is made for."""
    area = crs.area_of_use
    if area is None:
        return True
    transformer = module("pyproj").Transformer.from_crs(crs, "EPSG:4326", always_xy=True)
    lon, lat = transformer.transform(x, y)
    between = area.west <= lon <= area.east if area.west <= area.east else not area.east < lon < area.west
    return bool(between and area.south <= lat <= area.north)


def _only_points(layer: OpenLayer, kind: NDArray[np.intp], shapely: Any) -> OpenLayer:
    bad = (kind != POINT) | shapely.is_empty(layer.geometry)
    if bad.any():
        row = int(np.argmax(bad))
        single = bad & (kind == MULTIPOINT) & (shapely.get_num_geometries(layer.geometry) == 1)
        if (single == bad).all():  # points that a file stores as multipoints of one
            geometry = layer.geometry.copy()
            geometry[bad] = shapely.get_geometry(geometry[bad], 0)
            return _only_points(layer._replace(geometry=geometry), shapely.get_type_id(geometry), shapely)
        several = kind[row] == MULTIPOINT and not shapely.is_empty(layer.geometry[row])
        what = "several points" if several else "no geometry" if kind[row] in (-1, POINT) else KINDS[kind[row]]
        raise InputError(
            f"row {row} of {layer.name} has {what}; expected one point in each row ({bad.sum():,} of {len(bad):,} rows "
            f"do{'es' if bad.sum() == 1 else ''} not have it).",
            "make a row of each point: data.explode(ignore_index=True)."
            if several
            else "leave these rows out, or give them coordinates.",
        )
    check_finite(layer.geometry, layer.name)
    _check_place(layer, shapely)
    return layer


def _mend(geometry: NDArray[np.object_], invalid: NDArray[np.bool_], shapely: Any) -> str:
    """Repair geometries in place, and say how many, and how much their areas changed."""
    if not invalid.any():
        return ""
    before = shapely.area(geometry[invalid])
    mended = shapely.make_valid(geometry[invalid], method="structure", keep_collapsed=False)
    geometry[invalid] = [_polygons_of(one, shapely) for one in mended]
    after = shapely.area(geometry[invalid])
    change = np.abs(after - before) / np.maximum(np.maximum(before, after), np.finfo(float).tiny)
    text = _sentence(invalid, "polygon is invalid", "polygons are invalid", "repaired")
    most = int(np.argmax(change))
    if change[most] > 0.01:
        row = np.flatnonzero(invalid)[most]
        text += f" This changed the area of row {row} by {100 * change[most]:.0f} %: look at it."
    return text


def _polygons_of(one: Any, shapely: Any) -> Any:
    """The polygons of a geometry of any kind, as one."""
    kind = shapely.get_type_id(one)
    if kind in (POLYGON, MULTIPOLYGON):
        return one
    parts = [_polygons_of(part, shapely) for part in shapely.get_parts(one)] if kind == COLLECTION else []
    parts = [part for part in parts if not part.is_empty]
    if len(parts) < 2:
        return parts[0] if parts else shapely.Polygon()
    valid = shapely.make_valid(parts, method="structure", keep_collapsed=False)
    return shapely.union_all(valid)


def _sentence(rows: NDArray[np.bool_], one: str, several: str, then: str) -> str:
    """How many of the rows something holds for, the first of them, and what follows; nothing if it holds for none."""
    n = int(rows.sum())
    if not n:
        return ""
    first = int(np.argmax(rows))
    if n == 1:
        return f"1 {one} (row {first}): {then}."
    return f"{n:,} of {len(rows):,} {several} (the first in row {first}): {then}."

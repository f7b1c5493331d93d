"""What is a raster or a layer of polygons or points, and where labels are none: decided without opening anything."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..errors import InputError
from ..optional import module
from .request import AREA
from .values import Area, Join, Layer, Overlay

RASTERS = (".tif", ".tiff", ".vrt", ".nc", ".zarr", ".img", ".jp2", ".asc")
"""How names of raster files end."""

AXES = (("y", "x"), ("lat", "lon"), ("latitude", "longitude"), ("northing", "easting"), ("Y", "X"))
"""What rows and columns of maps are called in xarray."""

LAYERS = (".gpkg", ".shp", ".geojson", ".geojsonl", ".fgb", ".gdb", ".gml", ".kml", ".geoparquet")
"""How names of files of polygons or points end; .parquet, .csv, .json and .zip may hold such too."""


def as_area(weight: Any, columns: Callable[[], Collection[Any]] = tuple) -> Area | None:
    """Return the areas that weights are, if they are; the word is a column of its name where ``columns`` has one."""
    if isinstance(weight, Area):
        return weight
    return Area() if isinstance(weight, str) and weight == AREA and AREA not in columns() else None


def is_raster(data: Any) -> bool:
    """Whether this is a raster: a file, an open data set of rasterio, what `wmcc.Raster` made, or a map of xarray."""
    if isinstance(data, (str, os.PathLike)):
        name = os.fspath(data)
        return isinstance(name, str) and name.lower().rstrip("/").endswith(RASTERS) and "*" not in name
    if type(data).__module__.startswith(("rasterio.", "wmcc.geo.raster")):
        return True
    return is_dataset(data) or _in_space(data)


def is_dataset(data: Any) -> bool:
    """Whether this is a Dataset of xarray. It is a mapping, too, but its variables are no predictions."""
    return type(data).__module__.startswith("xarray.") and hasattr(data, "data_vars")


def _in_space(data: Any) -> bool:
    """Whether an array of xarray holds numbers in rows and columns of a map, and has bands at most beside these."""
    dims = getattr(data, "dims", None)
    if not (isinstance(dims, tuple) and type(data).__module__.startswith("xarray.")) or data.dtype.kind not in "biufc":
        return False
    long = {d for d in dims if d != "band" and data.sizes[d] != 1}
    return any({*pair} <= {*dims} and long <= {*pair} for pair in AXES)


def refuse_nodata(named: Mapping[str, Any]) -> None:
    """Refuse arrays of xarray that say which number is nodata, where they are taken for plain arrays of labels."""
    for name, data in named.items():
        if not (type(data).__module__.startswith("xarray.") and hasattr(data, "attrs")):
            continue
        key = next((k for k in ("_FillValue", "missing_value", "nodata") if k in data.attrs), None)
        if key is None or data.attrs[key] is None or data.attrs[key] != data.attrs[key]:  # NaN is missing anyway
            continue
        value, pair = data.attrs[key], next((pair for pair in AXES if {*pair} <= {*data.dims}), data.dims)
        long = next((d for d in data.dims if d not in pair), None)
        raise InputError(
            f"{name} says that {value} is nodata ({key}), "
            + ("and y_true is no raster." if long is None else f"and has {data.sizes[long]:,} maps along {long!r}."),
            "nodata is understood where both are rasters"
            + ("" if long is None else f", of one map each; give lists of maps, [array.isel({long}=k) for k in …]")
            + f". For plain arrays give {name}.values, and {value} as `ignore` if that is no class.",
            name.partition("[")[0],
        )


def are_rasters(y_true: Any, y_pred: Any) -> bool:
    """Whether labels are given as rasters: one, or a list of tiles."""
    first = y_true[0] if isinstance(y_true, (list, tuple)) and y_true else y_true
    return y_pred is not None and is_raster(first)


def is_layer(data: Any, weight: Any) -> bool:
    """Whether data are polygons or points with coordinates that matter here."""
    if isinstance(data, Join):
        data = data.truth
    if isinstance(data, (Layer, Overlay)):
        return True
    if isinstance(data, (str, os.PathLike)):
        name = os.fspath(data)
        if not isinstance(name, str):
            return False
        if as_area(weight) and name.lower().endswith((".parquet", ".pq")):
            return _has_geometry(name)
        if name.startswith(("/vsi", "zip://")) or name.lower().rstrip("/").endswith(LAYERS):
            return True
        return name.lower().endswith((".zip", ".json")) and _has_features(os.path.expanduser(name))
    return hasattr(data, "geometry") and hasattr(data, "crs")


def _has_features(path: str) -> bool:
    """Whether an archive has files of polygons or points in it, and whether a file of JSON is GeoJSON."""
    if not os.path.isfile(path):
        return False
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return any(name.lower().rstrip("/").endswith(LAYERS) for name in archive.namelist())
    with open(path, "rb") as file:
        return b"FeatureCollection" in file.read(4096)


def _has_geometry(name: str) -> bool:
    """Whether a Parquet file has geometry, so that areas are those of polygons, or a column beside them."""
    pa, parquet = module("pyarrow"), module("pyarrow.parquet")
    try:
        schema = parquet.read_schema(os.path.expanduser(name))
    except (OSError, pa.ArrowException):  # whoever reads the data says what is wrong
        return False
    return b"geo" in (schema.metadata or {})

"""Keywords of `wmcc.tabulate` that are for rasters and layers only, and what is a raster or a layer."""

from __future__ import annotations

import numbers
import os
import zipfile
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ..errors import InputError, InputTypeError

Unit = Literal["ha", "km2", "m2"]
AreaMethod = Literal["geodesic", "equal-area"]

AREA = "area"
"""What is given as weight for the areas of polygons or pixels."""

RASTERS = (".tif", ".tiff", ".vrt", ".nc", ".zarr", ".img", ".jp2", ".asc")
"""How names of raster files end."""

AXES = (("y", "x"), ("lat", "lon"), ("latitude", "longitude"), ("northing", "easting"), ("Y", "X"))
"""What rows and columns of maps are called in xarray."""

LAYERS = (".gpkg", ".shp", ".geojson", ".geojsonl", ".fgb", ".gdb", ".gml", ".kml", ".geoparquet")
"""How names of files of polygons or points end; .parquet, .csv, .json and .zip may hold such too."""

DEFAULTS = {"unmatched": "error", "fpc": False, "lonely": "error", "nested": True}
"""What keywords are if nobody gave them; the others are None."""


class RasterOptions(NamedTuple):
    """Keywords of `wmcc.tabulate` for rasters."""

    band: int | None = None
    align: str | None = None
    blocks: int | tuple[int, int] | None = None
    unit: Unit | None = None
    crs: Any = None


class LayerOptions(NamedTuple):
    """Keywords of `wmcc.tabulate` for polygons and points."""

    overlay: Any = None
    uncovered: str = "class"
    sliver: float = 0.0
    layer: str | None = None
    overlay_layer: str | None = None
    xy: tuple[str, str] | None = None
    crs: Any = None
    area: AreaMethod = "geodesic"
    unit: Unit | None = None


NO_GEOMETRY = (
    "make a frame of polygons first, such as geopandas.GeoDataFrame(data, crs=…), or with geometry="
    "geopandas.GeoSeries.from_wkb(data['geometry']) if it is binary."
)
"""What to do with frames that have geometries, but do not say so."""

NO_RASTER, NO_LAYER = RasterOptions(), LayerOptions()


def refuse_options(
    given: RasterOptions | LayerOptions, what: str, but: tuple[str, ...] = (), hint: str | None = None
) -> None:
    """Refuse keywords that do not work with what was given."""
    words = "rasters" if isinstance(given, RasterOptions) else "layers of polygons or points"
    for name, own in given._asdict().items():
        if name not in but and own is not given._field_defaults[name] and own != given._field_defaults[name]:
            raise InputTypeError(f"{name}= is for {words}; it does not work with {what}.", hint, name)


def refuse_others(what: str, hints: Mapping[str, str], **given: Any) -> None:
    """Refuse keywords of `wmcc.tabulate` that do not work with what was given."""
    for name, own in given.items():
        if own is None or own is DEFAULTS.get(name) or (isinstance(own, str) and own == DEFAULTS.get(name)):
            continue
        raise InputTypeError(f"{name}= does not work with {what}.", hints.get(name, hints[""]), name)


def block_sides(blocks: Any) -> tuple[int, int]:
    """Return rows and columns of the blocks that ``blocks`` asks for."""
    sides = blocks if isinstance(blocks, (tuple, list)) else (blocks, blocks)
    if len(sides) != 2 or any(isinstance(x, bool) or not isinstance(x, numbers.Integral) or x < 1 for x in sides):
        raise InputError(
            f"blocks is {blocks!r}; expected the side of a block in pixels, or its rows and columns.",
            "for instance blocks=64, or blocks=(64, 128).",
            "blocks",
        )
    return int(sides[0]), int(sides[1])


def is_raster(data: Any) -> bool:
    """Whether this is a raster: a file, an open data set of rasterio, what `wmcc.raster` made, or a map of xarray."""
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
            + f". For plain arrays give {name}.values, and ignore={value} if that is no class.",
            name.partition("[")[0],
        )


def are_rasters(y_true: Any, y_pred: Any) -> bool:
    """Whether labels are given as rasters: one, or a list of tiles."""
    first = y_true[0] if isinstance(y_true, (list, tuple)) and y_true else y_true
    return y_pred is not None and is_raster(first)


def is_layer(data: Any, weight: Any, options: LayerOptions) -> bool:
    """Whether data are polygons or points with coordinates that matter here."""
    if options.overlay is not None or options.xy is not None:
        return True
    if isinstance(data, (str, os.PathLike)):
        name = os.fspath(data)
        if not isinstance(name, str):
            return False
        by_area = isinstance(weight, str) and weight == AREA
        if by_area and name.lower().endswith((".parquet", ".pq")):
            return _has_polygons(name, options)
        if name.startswith(("/vsi", "zip://")) or name.lower().rstrip("/").endswith(LAYERS):
            return True
        return name.lower().endswith((".zip", ".json")) and _has_features(os.path.expanduser(name))
    return hasattr(data, "geometry") and hasattr(data, "crs")


def are_layers(data: Any, join: Any) -> bool:
    """Whether data are several files of polygons or points, or are joined with one."""
    several = [*(data if isinstance(data, (list, tuple)) else ()), join]
    return any(isinstance(one, (str, os.PathLike)) and str(one).lower().endswith(LAYERS) for one in several)


def _has_features(path: str) -> bool:
    """Whether an archive has files of polygons or points in it, and whether a file of JSON is GeoJSON."""
    if not os.path.isfile(path):
        return False
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return any(name.lower().rstrip("/").endswith(LAYERS) for name in archive.namelist())
    with open(path, "rb") as file:
        return b"FeatureCollection" in file.read(4096)


def _has_polygons(name: str, options: LayerOptions) -> bool:
    """Whether areas come from the geometry of a Parquet file, rather than from a column of any table."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(os.path.expanduser(name))
    except (OSError, pa.ArrowException):  # whoever reads the data says what is wrong
        return False
    return b"geo" in (schema.metadata or {}) and (options.unit is not None or AREA not in schema.names)

"""Arrays of xarray, in memory, of Dask or in netCDF files and Zarr stores."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import optional
from ...core.arraytypes import Array
from ...errors import InputError, missing_file
from ...present.text import brief
from .base import OpenRaster, Transform, check_dtype, plain_number, quiet
from .crs import read_crs
from .legends import flags

if TYPE_CHECKING:
    from pyproj import CRS

AXES = (("y", "x"), ("lat", "lon"), ("latitude", "longitude"), ("northing", "easting"), ("Y", "X"))
"""What rows and columns of maps are called."""

IRREGULAR = 0.01
"""By how much of a pixel a coordinate may be off the regular grid: those of single precision often are."""

STRIP = 1 << 20
"""Pixels of a block, where the data are in no blocks of their own."""


class _Array:
    """A DataArray of two dimensions, rows first; Dask computes the window that is read."""

    def __init__(
        self,
        name: str,
        array: Any,
        dtype: np.dtype[Any],
        missing: tuple[float | int, ...],
        close: Callable[[], None] | None = None,
    ) -> None:
        self.name, self.array, self.dtype, self.missing, self.opened = name, array, dtype, missing, close

    def read(self, rows: slice, cols: slice) -> tuple[Array, Array | None]:
        try:
            values = np.asarray(self.array[rows, cols].values).astype(self.dtype, copy=False)
            return values, ~np.isin(values, self.missing) if self.missing else None
        except Exception as problem:  # whatever the graph of Dask, or a file behind the array, raises
            raise InputError(f"{self.name} cannot be read: {type(problem).__name__}: {problem}") from problem

    def close(self) -> None:
        if self.opened is not None:
            self.opened()


def raster_of_array_file(path: str, band: int | None, variable: str | None, name: str) -> OpenRaster:
    """A variable of a netCDF file or a Zarr store."""
    xarray = optional.module("xarray")
    zarr = ".zarr/" in f"{path.lower()}/"  # a store, or a group in one
    if "://" not in path and not os.path.exists(path):
        raise missing_file(path, "store" if zarr else "file")
    if zarr:
        optional.module("zarr")
    elif importlib.util.find_spec("netCDF4") is None and not all(map(importlib.util.find_spec, ("h5netcdf", "h5py"))):
        optional.module("netCDF4")
    try:
        with quiet(Warning):  # of grid mappings that are not there, of stores that list nothing, …
            dataset = xarray.open_dataset(
                path, engine="zarr" if zarr else None, mask_and_scale=False, decode_times=False, decode_coords="all"
            )
    except Exception as problem:  # each backend has exceptions of its own
        said = str(problem).partition(". ")[0].strip().rstrip(".")
        raise InputError(
            f"{name} cannot be opened: {said or type(problem).__name__}.",
            "it may be damaged, cut off, or no netCDF or Zarr at all.",
        ) from None
    try:
        return _of_array(_variable_of(dataset, variable, name), band, name, dataset.close)
    except Exception:
        dataset.close()
        raise


def raster_of_xarray(data: Any, band: int | None, variable: str | None, name: str | None) -> OpenRaster:
    """A DataArray, or a variable of a Dataset."""
    if hasattr(data, "data_vars"):
        data = _variable_of(data, variable, name or "the Dataset")
    elif variable is not None:
        raise InputError(f"`variable` is {variable!r}, and a DataArray is one variable only.", argument="variable")
    return _of_array(data, band, name or str(data.name or "the DataArray"))


def _variable_of(dataset: Any, variable: str | None, name: str) -> Any:
    maps = {str(k): v for k, v in dataset.data_vars.items() if any({*pair} <= {*v.dims} for pair in AXES)}
    if variable is None and len(maps) == 1:
        return next(iter(maps.values()))
    if variable is not None and variable in maps:
        return maps[variable]
    listed = ", ".join(maps) or "none with the dimensions of a map"
    if variable is not None:
        raise InputError(f"{name} has no variable {variable!r}; it has {listed}.", argument="variable")
    raise InputError(
        f"{name} has {len(maps)} variables: {listed}; expected one.", "say which with wmcc.Raster(…, variable=…).",
        "variable",
    )  # fmt: skip


def _of_array(array: Any, band: int | None, name: str, close: Callable[[], None] | None = None) -> OpenRaster:
    array = _flat(array, band, name)
    dtype = np.dtype(array.dtype)
    check_dtype(dtype, name)
    attributes = dict(array.attrs)
    said = [x for k in ("_FillValue", "missing_value", "nodata") for x in _numbers(attributes.get(k))]
    said = said or _numbers(attributes.get("nodatavals"))[:1]
    if dtype.kind == "i" and attributes.get("_Unsigned") == "true":  # the classic netCDF has signed numbers only
        dtype = np.dtype(f"u{dtype.itemsize}")
        said = [x + (1 << 8 * dtype.itemsize) if x < 0 else x for x in said]
    nodata, *others = dict.fromkeys(said) or (None,)
    mapping = _grid_mapping(array)
    rows, cols = array.dims
    y, x = _axis(array, rows, name), _axis(array, cols, name)
    if (x is None) != (y is None):
        raise InputError(f"{name} has coordinates along one of its dimensions only.", "give it both, or none.")
    transform: Transform | None = None
    if x is not None and y is not None:
        transform = x.step, 0.0, x.first - x.step / 2, 0.0, y.step, y.first - y.step / 2
    height, width = array.shape
    chunks = array.chunks
    if chunks is not None:
        block = max(chunks[0]), max(chunks[1])
    else:
        preferred = array.encoding.get("preferred_chunks", {})
        block = preferred.get(rows, max(1, STRIP // max(width, 1))), preferred.get(cols, width)
    crs = _crs_of_array(array, mapping, name)
    return OpenRaster(
        name, (height, width), dtype, crs, transform, nodata,
        flags(attributes), {}, (max(1, min(block[0], height)), max(1, min(block[1], width))),
        _Array(name, array, dtype, tuple(x for x in others if x is not None), close),
        scale=_number(attributes, "scale_factor", 1.0, name), offset=_number(attributes, "add_offset", 0.0, name),
        precision=max(x.precision, y.precision) if x and y else 0.0,
    )  # fmt: skip


def _number(attributes: Mapping[str, Any], key: str, default: float, name: str) -> float:
    try:
        return float(attributes.get(key, default))
    except (TypeError, ValueError):
        raise InputError(f"{name}: its attribute {key} is {brief(attributes[key])}; expected a number.") from None


def _numbers(nodata: Any) -> list[float | int]:
    """What an attribute says of nodata: a number or several, which some programs write as text."""
    if isinstance(nodata, str):
        try:
            nodata = float(nodata)
        except ValueError:
            return []
    found = np.ravel([] if nodata is None else nodata)
    plain = [plain_number(x) for x in found] if found.dtype.kind in "iufb" else []
    return [x for x in plain if x is not None]


def _flat(array: Any, band: int | None, name: str) -> Any:
    """The array with the dimensions of rows and columns, in this order, and no other."""
    pair = next((pair for pair in AXES if {*pair} <= {*array.dims}), None)
    if pair is None:
        raise InputError(
            f"{name} has the dimensions {array.dims}; expected rows and columns that are called "
            + ", ".join(f"{a} and {b}" for a, b in AXES[:-1]) + ".",
            f"rename them: array.rename({{{array.dims[-2]!r}: 'y', {array.dims[-1]!r}: 'x'}})."
            if len(array.dims) > 1 else None,
        )  # fmt: skip
    others = [d for d in array.dims if d not in pair]
    layers = "band" if "band" in others else next((d for d in others if array.sizes[d] > 1), None)
    if band is not None and layers is not None:
        array = array.isel({layers: _place(array, layers, band, name)})
    elif band not in (None, 1):
        raise InputError(f"{name} has one map only, and `band` is {band}.", argument="band")
    long = next((d for d in array.dims if d not in pair and array.sizes[d] != 1), None)
    if long is not None:
        raise InputError(
            f"{name} has {array.sizes[long]} maps along the dimension {long!r}; expected one.",
            "choose one with wmcc.Raster(…, band), which counts from 1."
            if long == layers
            else f"choose one with array.isel({long}=0).",
        )
    array = array.squeeze([d for d in array.dims if d not in pair], drop=True)
    if array.dims != pair:
        raise InputError(
            f"{name} has the dimensions {array.dims}: its axes are transposed. Expected rows first, {pair}.",
            f"give array.transpose({pair[0]!r}, {pair[1]!r}).",
        )
    return array


def _place(array: Any, dim: str, band: int, name: str) -> int:
    """Where a band is: bands have the numbers that their coordinates say, and others count from 1."""
    numbers = [*range(1, array.sizes[dim] + 1)]
    if dim == "band" and "band" in array.coords and array["band"].dtype.kind in "iu":
        numbers = array["band"].values.tolist()
    if band not in numbers:
        listed = f"{numbers[0]} to {numbers[-1]}" if numbers == [*range(1, len(numbers) + 1)] else str(numbers)
        raise InputError(f"{name} has the bands {listed}, and `band` is {band}.", argument="band")
    return numbers.index(band)


class _Axis(NamedTuple):
    """Coordinates of centres: the first, the step, and how far rounding reaches, in steps."""

    first: float
    step: float
    precision: float


def _axis(array: Any, dim: str, name: str) -> _Axis | None:
    """The coordinates along a dimension; None without."""
    if dim not in array.coords or 0 in array.shape:  # no pixels lie nowhere
        return None
    stored = np.asarray(array[dim].values)
    if stored.dtype.kind not in "iuf":
        raise InputError(f"{name}: the coordinates along {dim!r} are of type {stored.dtype}; expected numbers.")
    places = stored.astype(np.float64)
    if not np.isfinite(places).all():
        raise InputError(f"{name}: a coordinate along {dim!r} is not a finite number.")
    if len(places) == 1:
        raise InputError(
            f"{name} has one coordinate only along {dim!r}, so the size of its pixels is not known.",
            "give a part of the map with more, or drop the coordinates of both dimensions.",
        )
    step = float(places[-1] - places[0]) / (len(places) - 1)
    off = np.abs(places - (places[0] + step * np.arange(len(places))))
    if step == 0 or off.max() > IRREGULAR * abs(step):
        at = int(off.argmax())
        raise InputError(
            f"{name}: the coordinates along {dim!r} are not regular: {places[at]:.9g} (number {at}) would have to be "
            f"{places[0] + step * at:.9g} in equal steps.",
            "sort them, fill gaps with reindex, or bring the map onto a regular grid with interp(method='nearest').",
        )
    single = stored.dtype.kind == "f" and stored.dtype != np.float64
    rounding = float(np.spacing(np.abs(stored).max())) if single else 0.0
    return _Axis(float(places[0]), step, rounding / abs(step))


def _grid_mapping(array: Any) -> dict[str, Any]:
    """Attributes of the variable that has the coordinate reference system: CF's grid mapping."""
    for called in (array.encoding.get("grid_mapping"), array.attrs.get("grid_mapping"), "spatial_ref", "crs"):
        if called in array.coords:
            return dict(array.coords[called].attrs)
    return {}


def _crs_of_array(array: Any, mapping: Mapping[str, Any], name: str) -> CRS | None:
    for known in (mapping, array.attrs):
        for key in ("crs_wkt", "spatial_ref", "crs"):
            if known.get(key) is not None and not (isinstance(known[key], str) and not known[key].strip()):
                return read_crs(known[key], name)
    if "grid_mapping_name" in mapping:
        pyproj = optional.module("pyproj", "raster")
        try:
            return pyproj.CRS.from_cf(dict(mapping))
        except (pyproj.exceptions.CRSError, KeyError) as problem:
            raise InputError(f"{name}: its grid mapping is none that pyproj knows: {problem}") from None
    return None

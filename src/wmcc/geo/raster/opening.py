"""`wmcc.Raster`: open a raster, whatever it comes in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ...errors import InputError, InputTypeError
from ...present.text import brief
from .base import OpenRaster, plain_number
from .crs import agreed_crs

ARRAY_FILES = (".nc", ".nc4", ".cdf", ".zarr")
"""Files that are read by xarray: GDAL takes the position of such files from attributes that may be out of date."""


class Raster:
    """A map of classes or of weights on a regular grid, opened.

    `wmcc.tabulate` takes files as they are; this is for those that need a word: which band, which number is nodata,
    which coordinate reference system.

    Parameters
    ----------
    data
        The path of a file that GDAL reads (GeoTIFF, COG, VRT, netCDF, Zarr and others), an open data set of rasterio,
        or a DataArray or Dataset of xarray, whose arrays may be those of Dask. Nothing is read yet.
    band
        The number of the band, from 1. A file with several needs it.
    nodata
        The number that stands for pixels that are not known. ``"file"``: what the file says. None: no number does, and
        what the file says is a class. Masks and transparency count in any case.
    crs
        The coordinate reference system, where the raster has none: ``"EPSG:32632"`` or anything that pyproj takes.
    variable
        The variable of a netCDF file, a Zarr store or a Dataset that has several.
    resample
        ``"nearest"`` brings a map, or zones, to the pixels of the true raster: each takes the label of the nearest.
        Rasters of weights, and all others without it, must have its coordinate reference system, pixels and size.
    names
        Names of classes by their numbers, in place of those that the file has.
    name
        What to call it in messages; by default the path.

    Raises
    ------
    InputError
        There is no such file, band or variable; the file is damaged; it is a picture in colours; its coordinates are
        not regular.
    InputTypeError
        The data are no raster, or hold complex numbers or text.
    MissingDependencyError
        rasterio or pyproj is not installed.

    Examples
    --------
    >>> import numpy as np, rasterio, wmcc
    >>> from rasterio.io import MemoryFile
    >>> memory = MemoryFile()
    >>> profile = {"driver": "GTiff", "height": 2, "width": 2, "count": 1, "dtype": "uint8", "nodata": 255}
    >>> grid = {"crs": "EPSG:32632", "transform": rasterio.Affine(10, 0, 500_000, 0, -10, 5_540_000)}
    >>> with memory.open(**profile, **grid) as file:
    ...     file.write(np.array([[[1, 2], [2, 255]]], dtype="uint8"))
    >>> cover = wmcc.Raster(memory, name="cover")
    >>> cover
    Raster 'cover': 2 x 2 pixels of uint8, EPSG:32632, nodata 255
    >>> cover.read(slice(0, 2), slice(0, 2))[0].tolist()
    [[1, 2], [2, 255]]
    """

    def __new__(  # type: ignore[misc]  # it is what is opened
        cls,
        data: Any,
        band: int | None = None,
        *,
        nodata: float | int | Literal["file"] | None = "file",
        crs: Any = None,
        variable: str | None = None,
        resample: Literal["nearest"] | None = None,
        names: Mapping[int, str] | None = None,
        name: str | None = None,
    ) -> OpenRaster:
        """Open it; nothing is read yet."""
        if isinstance(data, OpenRaster):
            raise InputTypeError(
                f"{data.name} is a raster already.", "give wmcc.Raster the file or array it was made from."
            )
        if not (nodata is None or nodata == "file" or isinstance(nodata, (int, float, np.integer, np.floating))):
            raise InputTypeError.of("nodata", nodata, "a number, None for none, or 'file' for what the file says")
        if band is not None and (not isinstance(band, (int, np.integer)) or isinstance(band, bool) or band < 1):
            raise InputError.of("band", band, "the number of a band, from 1")
        if resample not in (None, "nearest"):
            raise InputError.of("resample", resample, "'nearest', or None")
        if names is not None and not _are_names(names):
            raise InputTypeError.of("names", names, "a mapping from numbers of classes to text, such as {1: 'forest'}")
        opened = replace(_opened(data, band, variable, name), resample=resample)
        if names is not None:
            opened = replace(opened, names={int(number): text for number, text in names.items()})
        if nodata != "file":
            opened = replace(opened, nodata=plain_number(nodata))
        if crs is not None:
            hint = "`crs` is for rasters that have none; leave it out."
            opened = replace(opened, crs=agreed_crs(opened.crs, crs, opened.name, hint))
        return opened


def _are_names(names: Any) -> bool:
    """Whether this names classes by their numbers."""
    return isinstance(names, Mapping) and all(
        isinstance(number, (int, np.integer)) and not isinstance(number, bool) and isinstance(text, str)
        for number, text in names.items()
    )


def _opened(data: Any, band: int | None, variable: str | None, name: str | None) -> OpenRaster:
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        if not isinstance(path, str):
            raise InputTypeError(f"the path is {brief(path)}; expected text.", "decode it with os.fsdecode.")
        path = os.path.expanduser(path)
        if path.lower().rstrip("/").endswith(ARRAY_FILES) or ".zarr/" in path.lower():
            from .dataarrays import raster_of_array_file

            return raster_of_array_file(path, band, variable, name or path)
        from .bands import raster_of_file

        return raster_of_file(path, band, variable, name or path)
    if type(data).__module__.startswith("rasterio."):
        from .bands import raster_of_dataset

        return raster_of_dataset(data, band, variable, name)
    if hasattr(data, "dims") and hasattr(data, "coords"):
        from .dataarrays import raster_of_xarray

        return raster_of_xarray(data, band, variable, name)
    raise InputTypeError(
        f"{name or 'this'} is of type {type(data).__module__}.{type(data).__qualname__}; expected a raster: a path, a "
        "data set of rasterio or a DataArray of xarray.",
        "arrays without coordinates are given to wmcc.tabulate as they are.",
    )


def as_raster(data: Any, name: str) -> OpenRaster:
    """The same raster if it is one, else what `Raster` opens; ``name`` is for data that have none of their own."""
    return data if isinstance(data, OpenRaster) else Raster(data, name=None if _has_path(data) else name)


def _has_path(data: Any) -> bool:
    """Whether it is a file; arrays of xarray have names, too, but several often have the same."""
    if type(data).__module__.startswith("rasterio."):
        return not str(getattr(data, "name", "/vsimem/")).startswith("/vsimem/")
    return isinstance(data, (str, os.PathLike))

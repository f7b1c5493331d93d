"""Bands of files and of data sets that rasterio opens."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from ... import optional
from ...core.arraytypes import Array
from ...errors import InputError, InputTypeError, missing_file
from ...present.text import counted
from .base import OpenRaster, Source, Transform, check_dtype, plain_number, quiet
from .crs import read_crs
from .legends import exact_nodata, legend_of_band

UNREADABLE = "it may be damaged, cut off, or of a format that this build of GDAL does not read."
"""What to do with a file that GDAL does not open."""


def _quiet() -> AbstractContextManager[None]:
    """Keep rasterio from warning of files that do not say where they lie: `check_grid` speaks of them."""
    from rasterio.errors import NotGeoreferencedWarning

    return quiet(NotGeoreferencedWarning)


@contextmanager
def _failing(name: str, doing: str, hint: str | None = None) -> Iterator[None]:
    """Turn what rasterio or GDAL raise into a sentence."""
    from rasterio._err import CPLE_BaseError
    from rasterio.errors import CRSError, RasterioError

    try:
        yield
    except (RasterioError, CRSError, CPLE_BaseError, OSError) as problem:
        cause = problem.__cause__ or problem
        raise InputError(f"{name} cannot be {doing}: {str(cause).strip().rstrip('.')}.", hint) from None


class _Handles:
    """A band of a file, with a data set for each thread that reads at the same time."""

    def __init__(self, name: str, band: int, open_file: Callable[[], Any]) -> None:
        self.name, self.band, self.open_file = name, band, open_file
        self.idle: deque[Any] = deque()

    @contextmanager
    def dataset(self) -> Iterator[Any]:
        try:
            held = self.idle.pop()
        except IndexError:
            with _quiet():
                held = self.open_file()
        try:
            yield held
        finally:
            self.idle.append(held)

    def read(self, rows: slice, cols: slice) -> tuple[Array, Array | None]:
        damaged = "the file may be damaged or cut off, or refer to another one that is missing."
        with _failing(self.name, "read", damaged), self.dataset() as dataset:
            return _read_band(dataset, self.band, rows, cols)

    def close(self) -> None:
        while self.idle:
            self.idle.pop().close()


_IN_TURN = threading.Lock()  # several rasters may be of one data set, or be warped from one


class _OpenDataset:
    """A band of a data set that the caller has open, and closes; one thread reads such data sets at a time."""

    def __init__(self, name: str, band: int, dataset: Any) -> None:
        self.name, self.band, self.dataset = name, band, dataset

    def read(self, rows: slice, cols: slice) -> tuple[Array, Array | None]:
        if self.dataset.closed:
            raise InputError(f"{self.name} has been closed.", "keep the data set open until the table is made.")
        with _IN_TURN, _failing(self.name, "read"):
            return _read_band(self.dataset, self.band, rows, cols)

    def close(self) -> None:
        """Leave it open: it is the caller's."""


def _read_band(dataset: Any, band: int, rows: slice, cols: slice) -> tuple[Array, Array | None]:
    window = ((rows.start, rows.stop), (cols.start, cols.stop))
    values: Array = dataset.read(band, window=window)
    mask: Array
    flags = {flag.name for flag in dataset.mask_flag_enums[band - 1]}
    if not flags & {"all_valid", "nodata"}:  # a mask of the file or of the band, or an alpha band
        mask = dataset.read_masks(band, window=window)
    elif alpha := _alpha(dataset):  # which GDAL passes over where there is a nodata value, too
        mask = dataset.read(alpha, window=window)
    else:
        return values, None
    return values, mask != 0


def _alpha(dataset: Any) -> int | None:
    """The number of the band that says how transparent pixels are."""
    return next((k for k, kind in zip(dataset.indexes, dataset.colorinterp, strict=True) if kind.name == "alpha"), None)


def raster_of_file(path: str, band: int | None, variable: str | None, name: str) -> OpenRaster:
    """Open a band of a file."""
    rasterio = optional.module("rasterio")
    if "://" not in path and ":" not in path[2:] and not path.startswith("/vsi") and not os.path.exists(path):
        raise missing_file(path)

    def open_file() -> Any:
        return rasterio.open(path)

    with _failing(name, "opened", UNREADABLE), _quiet():
        dataset = open_file()
    with dataset:
        if variable is not None:
            raise InputError(
                f"`variable` is {variable!r}, and {name} has no variables; its bands have numbers.",
                "choose one with wmcc.Raster(path, band).",
                "variable",
            )
        parts = dataset.subdatasets
        if parts and (len(parts) > 1 if dataset.driver == "GTiff" else not dataset.count):
            raise InputError(
                f"{name} has {counted(len(parts), 'page' if dataset.driver == 'GTiff' else 'part')}; expected one.",
                f"give the name of one: {parts[0]!r} is the first.",
            )
        return _of_bands(dataset, band, name, lambda k: _Handles(name, k, open_file))


def raster_of_dataset(data: Any, band: int | None, variable: str | None, name: str | None) -> OpenRaster:
    """A band of a data set that the caller has open, or of a file in memory."""
    kind = type(data).__name__
    if variable is not None:
        raise InputError("`variable` is for files; an open data set is one variable only.", argument="variable")
    if kind in ("MemoryFile", "ZipMemoryFile"):
        called = name or "the MemoryFile"
        with _failing(called, "opened"), _quiet():
            dataset = data.open()
        with dataset:
            return _of_bands(dataset, band, called, lambda k: _Handles(called, k, data.open))
    if not hasattr(data, "read_masks"):
        raise InputTypeError(
            f"this is rasterio's {kind}, which is no raster to read; expected a data set that is open for reading."
        )
    called = name or data.name
    if data.closed:
        raise InputError(
            f"{called} has been closed.", "keep the data set open until the table is made, or give the path."
        )
    if data.mode == "w":
        raise InputError(
            f"{called} is open for writing.", "close it, and give the path; or open it with rasterio.open(path)."
        )
    return _of_bands(data, band, called, lambda k: _OpenDataset(called, k, data))


def _of_bands(dataset: Any, band: int | None, name: str, source: Callable[[int], Source]) -> OpenRaster:
    """The raster of one band of an open data set."""
    band = _one_band(dataset, band, name)
    dtype = np.dtype(str(dataset.dtypes[band - 1]).replace("complex_int16", "complex64"))
    check_dtype(dtype, name)
    if dataset.driver == "netCDF" and any(tag.endswith("#GeoTransform") for tag in dataset.tags()):
        raise InputError(
            f"rasterio takes the position of {name} from the attribute GeoTransform, which need not agree with the "
            "coordinates.",
            "give the path, or open it with xarray: then the coordinates count.",
        )
    a, b, c, d, e, f = (float(x) for x in tuple(dataset.transform)[:6])
    transform: Transform | None = (a, b, c, d, e, f)
    if transform == (1.0, 0.0, 0.0, 0.0, 1.0, 0.0):
        transform = None
        if dataset.gcps[0]:
            raise InputError(
                f"{name} is georeferenced by {len(dataset.gcps[0])} ground control points, not by a regular grid.",
                "rectify it first, for example with gdalwarp.",
            )
    with _failing(name, "opened"), _quiet():
        crs = read_crs(dataset.crs.to_wkt(version="WKT2_2019"), name) if dataset.crs else None
        legend = legend_of_band(dataset, band)
        nodata = exact_nodata(dataset, band, plain_number(dataset.nodatavals[band - 1]))
    height, width = dataset.shape
    h, w = dataset.block_shapes[band - 1]
    return OpenRaster(
        name, (height, width), dtype, crs, transform, nodata, legend.names, legend.colours,
        (min(h, height), min(w, width)), source(band),
        scale=float(dataset.scales[band - 1]), offset=float(dataset.offsets[band - 1]),
    )  # fmt: skip


def _one_band(dataset: Any, band: int | None, name: str) -> int:
    kinds = [kind.name for kind in dataset.colorinterp]
    plain = [k for k, kind in zip(dataset.indexes, kinds, strict=True) if kind != "alpha"]
    if band is not None:
        if band not in dataset.indexes:
            raise InputError(f"{name} has {counted(dataset.count, 'band')}, and `band` is {band}.", None, "band")
        return band
    if len(plain) == 1:
        return int(plain[0])
    if not plain:
        raise InputError(f"{name} has no band of numbers.")
    path = repr(name) if os.path.exists(name) else "…"
    if {"red", "green", "blue"} <= {*kinds}:
        raise InputError(
            f"{name} has {len(plain)} bands, red, green and blue: it is a picture; expected one number per pixel.",
            "give the raster of class numbers that the picture was made from. If each band is a map of classes of its "
            f"own, choose one with wmcc.Raster({path}, band={plain[0]}).",
            "band",
        )
    titles = [
        f"{k} ({text})" if text else str(k) for k, text in zip(dataset.indexes, dataset.descriptions, strict=True)
    ]
    listed = ", ".join(titles[:8]) + (" …" if len(titles) > 8 else "")
    raise InputError(
        f"{name} has {len(plain)} bands: {listed}; expected one.",
        f"choose one with wmcc.Raster({path}, band={plain[0]}).",
        "band",
    )

"""What every raster is, whatever it comes from: its grid, its legend, and windows of its pixels."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from ...core.arraytypes import Array
from ...errors import InputError, InputTypeError, LabelError
from .crs import crs_name
from .legends import Colour

if TYPE_CHECKING:
    from pyproj import CRS

Transform = tuple[float, float, float, float, float, float]
"""a, b, c, d, e, f: the corner of row i and column j lies at x = a j + b i + c, y = d j + e i + f."""

Window = tuple[slice, slice]


class Source(Protocol):
    """What a `Raster` reads its pixels from."""

    def read(self, rows: slice, cols: slice) -> tuple[Array, Array | None]:
        """Values as they are stored, and which are known by masks."""

    def close(self) -> None:
        """Close what was opened for reading."""


@dataclass(frozen=True, eq=False, repr=False)
class OpenRaster(AbstractContextManager["OpenRaster"]):
    """A map of numbers on a regular grid, which is read window by window. `wmcc.Raster` makes it.

    Attributes
    ----------
    name
        What it is called in messages: its file, in most cases.
    shape
        Numbers of rows and columns.
    dtype
        Type of the numbers that are stored.
    crs
        Its coordinate reference system, or None.
    transform
        The numbers a, b, c, d, e, f: the upper left corner of row i and column j lies at x = a j + b i + c and
        y = d j + e i + f. None for a raster that does not say where it lies.
    nodata
        The number that stands for pixels that are not known, or None.
    names, colours
        Names of classes, and their colours (red, green, blue), by their numbers.
    block_shape
        Rows and columns of the blocks in which it is stored, and best read.
    scale, offset
        What stored numbers are multiplied by, and what is added then.
    precision
        How far its coordinates may be off by rounding, in pixels.
    resample
        How it is brought to the pixels of the true raster: ``"nearest"``, or None if it must lie on them.

    Examples
    --------
    >>> import numpy as np, xarray as xr, wmcc
    >>> cover = xr.DataArray([[1, 1, 2], [2, 2, 0]], {"y": [49.95, 49.85], "x": [10.05, 10.15, 10.25]}, ("y", "x"))
    >>> cover = wmcc.Raster(cover, nodata=0, crs="EPSG:4326", name="cover")
    >>> cover
    Raster 'cover': 2 x 3 pixels of int64, EPSG:4326, nodata 0
    >>> values, known = cover.read(slice(1, 2), slice(0, 3))
    >>> values, known
    (array([[2, 2, 0]]), array([[ True,  True, False]]))
    """

    name: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    crs: CRS | None
    transform: Transform | None
    nodata: float | int | None
    names: Mapping[int, str]
    colours: Mapping[int, Colour]
    block_shape: tuple[int, int]
    source: Source = field(compare=False)
    scale: float = 1.0
    offset: float = 0.0
    precision: float = 0.0
    resample: Literal["nearest"] | None = None

    @property
    def grid(self) -> Transform:
        """The transform of a raster that says where it lies."""
        assert self.transform is not None
        return self.transform

    def read(self, rows: slice, cols: slice) -> tuple[Array, Array | None]:
        """Read a window. Several threads may do so at once.

        Parameters
        ----------
        rows, cols
            The window: slices without a step.

        Returns
        -------
        values
            The numbers, with scale and offset applied.
        known
            Which pixels are known: those that are neither nodata, nor masked, nor transparent, nor NaN. None if all
            are.
        """
        height, width = self.shape
        rows, cols = slice(*rows.indices(height)[:2]), slice(*cols.indices(width)[:2])
        values, known = self.source.read(rows, cols)
        for mine in (_not_nodata(values, self.nodata), _not_nan(values)):
            if mine is not None:
                known = mine if known is None else known & mine
        if known is not None and known.all():
            known = None
        if (self.scale, self.offset) != (1.0, 0.0):
            values = values * self.scale + self.offset
        return values, known

    def labels(self, rows: slice, cols: slice) -> tuple[Array, Array | None]:
        """Read a window of classes: as `read`, and numbers that are not whole are refused.

        Returns
        -------
        values
            Integers, or booleans; 0 in place of floats that are not known.
        known
            Which pixels are known; None if all are.
        """
        values, known = self.read(rows, cols)
        if values.dtype.kind != "f":
            return values, known
        if known is not None:
            values = np.where(known, values, 0)
        values = values.astype(np.result_type(values, np.float32), copy=False)  # half precision ends at 65,504
        wrong = (np.trunc(values) != values) | (np.abs(values) >= 2.0**63)
        if wrong.any():
            row, column = (int(k[0]) for k in np.nonzero(wrong))
            scaled = (self.scale, self.offset) != (1.0, 0.0)
            raise LabelError(
                f"{self.name}: the pixel in row {(rows.start or 0) + row}, column {(cols.start or 0) + column} is "
                f"{values[row, column]:.9g}; expected the number of a class, which is whole"
                + (f". The file scales its numbers: {self.scale:g} × stored + {self.offset:g}." if scaled else "."),
                "give a raster of classes, not of probabilities or measurements; a number that stands for missing "
                "pixels is given as wmcc.Raster(..., nodata=…).",
                shell="give a raster of classes, not of probabilities or measurements; a number that stands for "
                "missing pixels is declared by `rio edit-info --nodata N FILE`.",
            )
        return values.astype(np.int64), known

    def pixel_area(self, unit: Literal["ha", "km2", "m2"] = "ha") -> Array:
        """Areas of the pixels, as an array that broadcasts over the raster.

        Parameters
        ----------
        unit
            ``"ha"``, ``"km2"`` or ``"m2"``.

        Returns
        -------
        numpy.ndarray
            float64, of one row per row of the raster and one column, or of one row if all pixels are equal.
        """
        if self.crs is None or self.transform is None:
            placed = self.transform is not None
            raise InputError(
                f"{self.name} {'has no coordinate reference system' if placed else 'is not georeferenced'}, so the "
                "areas of its pixels are not known.",
                "say which it is: wmcc.Raster(…, crs=…)." if placed else "give weights of your own.",
                "crs" if placed else None,
                "say which it is, as --crs EPSG:32632." if placed else None,
            )
        from ..areas import pixel_row_areas

        return pixel_row_areas(self.crs, self.transform, self.shape, unit)

    def close(self) -> None:
        """Close what was opened for reading; a later read opens it again."""
        self.source.close()

    def __exit__(self, *problem: object) -> None:
        self.close()

    def __repr__(self) -> str:
        known = [f"{self.shape[0]:,} x {self.shape[1]:,} pixels of {self.dtype}", crs_name(self.crs)]
        if self.nodata is not None:
            known.append(f"nodata {self.nodata!r}")
        if self.names:
            known.append(f"{len(self.names)} class name{'' if len(self.names) == 1 else 's'}")
        return f"Raster {self.name!r}: {', '.join(known)}"


def _not_nodata(values: Array, nodata: float | int | None) -> Array | None:
    """Which values are not the number that stands for unknown pixels; None if that number cannot occur."""
    if nodata is None or nodata != nodata:  # NaN is never a class
        return None
    if values.dtype.kind in "iu":
        limits = np.iinfo(values.dtype)
        if not isinstance(nodata, int) or not limits.min <= nodata <= limits.max:
            return None
    elif values.dtype.kind == "b" and nodata not in (0, 1):
        return None
    with np.errstate(over="ignore"):  # nodata of double precision, in a file of single precision
        different: Array = values != values.dtype.type(nodata)
    return different


def _not_nan(values: Array) -> Array | None:
    return ~np.isnan(values) if values.dtype.kind == "f" else None


def check_dtype(dtype: np.dtype[Any], name: str) -> None:
    """Refuse numbers that are neither classes nor weights."""
    if dtype.kind not in "biuf":
        what = "complex numbers" if dtype.kind == "c" else f"data of type {dtype}"
        raise InputTypeError(f"{name} holds {what}; expected whole numbers for classes, or weights.")


_FILTERS = threading.Lock()  # the filters of warnings belong to all threads


@contextmanager
def quiet(category: type[Warning]) -> Iterator[None]:
    """Keep a package from warnings of what is said, or decided, here."""
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield


def plain_number(nodata: Any) -> float | int | None:
    """A number as Python's own: an integer if it is whole."""
    value = nodata.item() if isinstance(nodata, np.generic) else nodata
    if isinstance(value, float) and not (-(2.0**63) <= value < 2.0**64 and value.is_integer()):
        return value
    return None if value is None else int(value)

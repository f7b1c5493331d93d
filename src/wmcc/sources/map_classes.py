"""The classes of one map and their sizes: pixels of a raster, or polygons of a layer, with areas on the ellipsoid."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.keys import plain_key
from ..core.labels import Label, as_label
from ..core.threads import MOST_THREADS, in_order, processors
from ..errors import InputError, InputTypeError, missing_column
from ..geo.areas import polygon_areas
from ..geo.layers import OpenLayer, are_points, no_crs, read_layer, repaired
from ..geo.raster import OpenRaster, as_raster
from ..present.text import brief, counted, listed
from .files import FileSet
from .layers import as_layer
from .progress import reading
from .raster_inputs import Scene, zone_codes
from .rasters import bounded_cache
from .recognised import is_layer, is_raster
from .request import CLASS, Request
from .values import Layer, Unit


class PixelClasses(NamedTuple):
    """The classes of a raster: how many pixels of each there are in each row.

    Parameters
    ----------
    raster
        The raster.
    labels
        Numbers of the classes that occur, in their order.
    rows, codes, counts
        For each pair of a row and a class that occurs there: the row, the place of the class in ``labels``, and the
        number of pixels. They are sorted by row.
    pixel
        The area of a pixel in each row that ``rows`` names.
    """

    raster: OpenRaster
    labels: tuple[Label, ...]
    rows: IntArray
    codes: IntArray
    counts: IntArray
    pixel: FloatArray

    @property
    def areas(self) -> dict[Label, float]:
        """Area of each class."""
        return _sums(self.labels, self.codes, self.counts * self.pixel)

    @property
    def units(self) -> dict[Label, int]:
        """Pixels of each class."""
        return {label: int(n) for label, n in _sums(self.labels, self.codes, self.counts).items()}

    @property
    def names(self) -> Mapping[Label, Label]:
        """What the classes are called: by the names that the raster has, if each class has one of its own."""
        own = {label: str(self.raster.names.get(int(label), "")).strip() for label in self.labels}
        named = bool(own) and all(own.values()) and len({*own.values()}) == len(own)
        return own if named else {label: label for label in self.labels}


class PolygonClasses(NamedTuple):
    """The classes of a layer of polygons.

    Parameters
    ----------
    layer
        Its polygons, repaired.
    labels
        The classes, in their order.
    codes
        The place in ``labels`` of the class of each polygon.
    sizes
        The area of each polygon.
    """

    layer: OpenLayer
    labels: tuple[Label, ...]
    codes: IntArray
    sizes: FloatArray

    @property
    def areas(self) -> dict[Label, float]:
        """Area of each class."""
        return _sums(self.labels, self.codes, self.sizes)

    @property
    def units(self) -> dict[Label, int]:
        """Polygons of each class."""
        return {label: int(n) for label, n in _sums(self.labels, self.codes, np.ones(len(self.codes))).items()}

    @property
    def names(self) -> Mapping[Label, Label]:
        """What the classes are called: as they are in the layer."""
        return {label: label for label in self.labels}


MapClasses = PixelClasses | PolygonClasses


def _sums(labels: tuple[Label, ...], codes: IntArray, sizes: Array) -> dict[Label, float]:
    return dict(zip(labels, np.bincount(codes, sizes, len(labels)).tolist(), strict=True))


def is_map(data: Any) -> bool:
    """Whether this is a raster or a layer of polygons, or names one."""
    return isinstance(data, (Layer, str, os.PathLike)) or is_raster(data) or is_layer(data, None)


def map_classes(
    data: Any, column: Any = None, unit: Unit = "ha", threads: int | None = None, progress: bool | None = None
) -> MapClasses:
    """Return the classes of a map with their areas, in bounded memory, and with the number of pixels or polygons.

    Parameters
    ----------
    data
        A raster or a layer of polygons: a path, what `wmcc.Raster` or `wmcc.Layer` made, a DataArray, a GeoDataFrame.
    column
        The column of a layer that has the classes.
    unit
        Of the areas: ``"ha"``, ``"km2"`` or ``"m2"``.

    Examples
    --------
    >>> import numpy as np, xarray as xr, wmcc
    >>> cover = xr.DataArray([[1, 1, 2], [2, 2, 0]], {"y": [49.95, 49.85], "x": [10.05, 10.15, 10.25]}, ("y", "x"))
    >>> found = map_classes(wmcc.Raster(cover, nodata=0, crs="EPSG:4326"), unit="km2")
    >>> {label: round(area, 2) for label, area in found.areas.items()}, found.units
    ({1: 159.66, 2: 239.81}, {1: 2, 2: 3})
    """
    given = as_layer(data)
    if is_raster(given.data):
        if column is not None:
            raise InputTypeError(
                f"`pred` names the column of a map's classes, and {brief(given.data)} is a raster, which has none.",
                "leave `pred` out.",
                "pred",
            )
        return pixel_classes(as_raster(given.data, "the map"), unit, threads, progress)
    if not is_map(given.data):
        raise InputTypeError(
            f"the map is {brief(data)}; expected a raster or a layer of polygons.",
            "give a path, wmcc.Raster(…), wmcc.Layer(…), a DataArray or a GeoDataFrame.",
        )
    is_path = isinstance(given.data, (str, os.PathLike))
    return polygon_classes(
        read_layer(given.data, layer=given.layer, name=None if is_path else "the map", crs=given.crs), column, unit
    )


def strata_sizes(
    request: Request, maps: Sequence[tuple[str | None, Any, Any]], names: Mapping[Any, Any]
) -> dict[Label, float]:
    """Return the areas of the strata of points, which are classes of one of the maps that are laid over them.

    Parameters
    ----------
    request
        The call, whose ``stratum`` names the map, or a column of it.
    maps
        Of each map its name, what was opened, and the column of its classes.
    names
        What classes of rasters are called, if they are not called by their numbers.
    """
    stratum = request.strata.stratum if request.strata is not None else None
    stratum = stratum[0] if isinstance(stratum, (list, tuple)) and len(stratum) == 1 else stratum
    found = {id(own): (own, column) for key, own, column in maps if stratum is not None and stratum == key}
    if not found:
        columns = {id(own): [CLASS] if isinstance(own, OpenRaster) else own.frame.columns for _, own, _ in maps}
        mine = [own for _, own, _ in maps if isinstance(stratum, str) and stratum in columns[id(own)]]
        found = {id(own): (own, stratum) for own in mine}
    if len(found) != 1:
        of = "several maps have" if found else "no map has"
        raise InputError(
            f"`population` is 'map', and `stratum` is {brief(stratum)}, which {of}; expected the classes of one map.",
            "name the column of the map's classes, which is 'class' for a raster"
            + ("; or that map, of several." if len(maps) > 1 else "; or give a mapping from strata to sizes."),
            "stratum",
        )
    ((own, column),) = found.values()
    if isinstance(own, OpenLayer):
        return polygon_classes(own, column).areas
    sizes: dict[Label, float] = {}
    for label, area in pixel_classes(own, threads=request.threads, progress=request.progress).areas.items():
        name = names.get(label, label)
        sizes[name] = sizes.get(name, 0.0) + area
    return sizes


# ---- rasters -----------------------------------------------------------------------------------------------


def pixel_classes(
    raster: OpenRaster, unit: Unit = "ha", threads: int | None = None, progress: bool | None = None
) -> PixelClasses:
    """Count the pixels of each class in each row of a raster, window by window."""
    areas = raster.pixel_area(unit)[:, 0]
    scene = Scene(raster, (), None, "", None, None)
    labels: dict[Any, int] = {}
    found: list[tuple[IntArray, IntArray, IntArray]] = []
    files = [FileSet((raster.name,), "raster")] if os.path.exists(raster.name) else []
    with bounded_cache(), reading(files, progress) as bar:
        bar.total(raster.shape[0] * raster.shape[1])
        workers = min(threads or processors(), MOST_THREADS)
        for row, column, n, keys, pixels in in_order(partial(_of_window, raster), scene.windows(), workers):
            places = np.array([labels.setdefault(plain_key(x), len(labels)) for x in keys], dtype=np.int64)
            found.append((row, places[column], n))
            bar.advance(pixels)
    if not labels:
        raise InputError(f"{raster.name} has no pixel that is known: all are nodata, or there is none.")
    order = sorted(labels)
    rank = np.empty(len(order), dtype=np.int64)
    rank[[labels[x] for x in order]] = np.arange(len(order))
    row, code, n = (np.concatenate(own) for own in zip(*found, strict=True))
    key, back = np.unique(row * len(order) + rank[code], return_inverse=True)  # windows may be parts of rows
    counts = np.bincount(back, n, len(key)).astype(np.int64)
    rows, codes = np.divmod(key, len(order))
    pixel = areas[rows if len(areas) > 1 else np.zeros(len(rows), dtype=np.int64)]
    return PixelClasses(raster, tuple(as_label(x, raster.name) for x in order), rows, codes, counts, pixel)


def _of_window(raster: OpenRaster, window: tuple[slice, slice]) -> tuple[IntArray, IntArray, IntArray, list[Any], int]:
    """Rows of a window, places of their classes in a list, the pixels of each; the list, and the size of the window."""
    rows, cols = window
    codes, keys = zone_codes(*raster.labels(rows, cols), "map")
    met = [k for k in np.flatnonzero(np.bincount(codes.ravel(), minlength=len(keys))).tolist() if keys[k] is not None]
    place = np.full(len(keys), len(met))
    place[met] = np.arange(len(met))
    height, width = codes.shape[0], len(met) + 1  # the last column has what is not known
    flat = place[codes] + width * np.arange(height)[:, None]
    n = np.bincount(flat.ravel(), minlength=height * width).reshape(height, width)[:, :-1]
    row, column = np.nonzero(n)
    return rows.start + row, column, n[row, column], [keys[k] for k in met], codes.size


# ---- polygons ----------------------------------------------------------------------------------------------


def polygon_classes(layer: OpenLayer, column: Any, unit: Unit = "ha") -> PolygonClasses:
    """Measure the polygons of a layer whose classes are in a column."""
    columns = [*layer.frame.columns]
    if are_points(layer):
        raise InputError(f"{layer.name} holds points; a map has polygons, or is a raster.")
    if column is None:
        raise InputTypeError(
            f"`pred` is missing: the column of {layer.name} that has its classes; its columns are "
            f"{listed([repr(x) for x in columns])}.",
            argument="pred",
        )
    if column not in columns:
        raise missing_column(column, columns, layer.name, None, "pred")
    if layer.crs is None:
        raise no_crs(layer.name, "area")
    lost = layer.frame[column].isna().to_numpy()
    if lost.any():
        raise InputError(
            f"{counted(int(lost.sum()), 'polygon')} of {layer.name} {'has' if lost.sum() == 1 else 'have'} no class in "
            f"the column {column!r} (row {int(np.argmax(lost))} first).",
            "fill them in, or leave these polygons out.",
            "pred",
        )
    layer = repaired(layer)
    own = [as_label(x, f"{layer.name}, column {column!r}") for x in layer.frame[column].tolist()]
    labels = tuple(sorted(dict.fromkeys(own)))
    if len({*map(type, labels)}) > 1:
        raise InputError(f"the column {column!r} of {layer.name} has both text and numbers.", argument="pred")
    at = {label: k for k, label in enumerate(labels)}
    codes = np.array([at[label] for label in own], dtype=np.int64)
    return PolygonClasses(layer, labels, codes, polygon_areas(layer.geometry, layer.crs, unit))

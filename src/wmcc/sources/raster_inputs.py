"""The scenes of a call: rasters whose pixels lie on each other, what weighs pixels, and what gives them keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np

from ..core.arraytypes import Array
from ..core.keys import Key, plain_key
from ..errors import InputError, InputTypeError, MapWarning, warn
from ..geo.raster import OpenRaster, aligned, as_raster, check_grid, ties
from ..present.text import brief, counted
from .arrays import of_one_item
from .columns import along_dims, check_aligned, fitted, label_column, weight_array
from .groups import NO_CODES, Keyed, Parts, block_codes, integer_codes, key_codes, keyed, keys_by_name, keys_of_rows
from .pixels import read_header, read_image, weights_of
from .recognised import as_area, is_raster
from .request import AREA
from .values import Blocks

WINDOW, MOST = 1 << 21, 1 << 24
"""Pixels that are read at a time; and the most, where blocks of the files are large."""

Role = Literal["labels", "weights", "zones"]


class Window(NamedTuple):
    """A part of a scene that is read at once."""

    place: int
    scene: Scene
    rows: slice
    cols: slice

    @property
    def first(self) -> tuple[int, int]:
        """The place of the first pixel."""
        return self.rows.start, self.cols.start

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows.stop - self.rows.start, self.cols.stop - self.cols.start


class Scene(NamedTuple):
    """A true raster and what belongs to it, all with the same pixels.

    Parameters
    ----------
    truth, maps
        Labels.
    weight
        A raster; or an array that broadcasts to the pixels, of length 1 along an axis for what is the same along it.
    by, cluster
        What gives a key to each pixel, if anything does.
    """

    truth: OpenRaster
    maps: tuple[OpenRaster, ...]
    weight: OpenRaster | Array | None
    weight_name: str
    by: Zones | BlockKeys | None
    cluster: Zones | BlockKeys | None

    @property
    def labelled(self) -> tuple[OpenRaster, ...]:
        """The rasters of labels."""
        return self.truth, *self.maps

    @property
    def rasters(self) -> tuple[OpenRaster, ...]:
        """All rasters."""
        zones = [x for own in (self.by, self.cluster) if isinstance(own, Zones) for x in own.sources.values()]
        return (*self.labelled, *(x for x in (self.weight, *zones) if isinstance(x, OpenRaster)))

    def windows(self) -> Iterator[tuple[slice, slice]]:
        """Parts to be read at once: whole blocks of the files, so that none is decompressed twice."""
        height, width = self.truth.shape
        tall, wide = (max(raster.block_shape[k] for raster in self.rasters) for k in (0, 1))
        wide = min(width, max(1, WINDOW // (tall * wide)) * wide)
        tall = min(height, max(1, WINDOW // max(tall * wide, 1)) * tall, max(1, MOST // max(wide, 1)))
        for top in range(0, height, max(tall, 1)):
            for left in range(0, width, max(wide, 1)):
                yield slice(top, min(top + tall, height)), slice(left, min(left + wide, width))


class Scenes:
    """The scenes of a call: one of a raster, and one of each tile of lists. They are opened when they are asked for."""

    def __init__(
        self, y_true: Any, y_pred: Any, sample_weight: Any, by: Any, cluster: Any, names: Sequence[str] | None
    ) -> None:
        self.tiled: bool = isinstance(y_true, (list, tuple))
        self._truths = list(y_true) if self.tiled else [y_true]
        preds = y_pred if isinstance(y_pred, Mapping) else {"": y_pred}
        called = {f"y_pred[{name!r}]" if isinstance(y_pred, Mapping) else "y_pred": own for name, own in preds.items()}
        self._preds = {
            name: self._per_tile(own, name, "as many tiles in the same order") for name, own in called.items()
        }
        of_all = sample_weight is None or callable(sample_weight) or as_area(sample_weight) is not None
        rasters = 'as many rasters of weights, "area", or None'
        self._weights = self._per_tile(sample_weight, "sample_weight", rasters, of_all)
        self.names: tuple[Key, ...] = _tile_names(self._truths, names) if self.tiled else ("",)
        self._by_tile = self._cluster_by_tile = None
        self._noted: set[str] = set()
        self._by: list[Any] = [by] * len(self)
        self._cluster: list[Any] = [cluster] * len(self)
        if self.tiled:
            self._by, self._by_tile = self._keys_of(by, "by", None)
        if isinstance(cluster, Blocks):
            tiles = [(plain_key(name),) if self.tiled else () for name in self.names]
            self._cluster = [BlockKeys(*cluster.sides, tile) for tile in tiles]
        elif self.tiled:
            self._cluster, self._cluster_by_tile = self._keys_of(cluster, "cluster", self.names)

    def __len__(self) -> int:
        return len(self._truths)

    @property
    def parts(self) -> Parts:
        """Groups and clusters of no pixels."""
        none = Keyed("by", (), NO_CODES)
        grouped = self._by_tile is not None or any(x is not None for x in self._by)
        clustered = self._cluster_by_tile is not None or any(x is not None for x in self._cluster)
        return Parts(none if grouped else None, none if clustered else None)

    def _per_tile(self, given: Any, name: str, expected: str, of_all: bool = False) -> list[Any]:
        """What belongs to each tile; ``of_all`` if it is the same for all."""
        if of_all or not self.tiled:
            return [given] * len(self)
        listed = isinstance(given, (list, tuple))
        if listed and len(given) == len(self):
            return list(given)
        raise (InputError if listed else InputTypeError)(
            f"`y_true` is a list of {counted(len(self), 'raster')}, and `{name}` is "
            f"{f'a list of {len(given):,}' if listed else brief(given)}; expected {expected}.",
            "several predictions are a mapping from names to lists." if name == "y_pred" else None,
            name.partition("[")[0],
        )

    def _keys_of(self, given: Any, argument: str, default: Sequence[str] | None) -> tuple[list[Any], Keyed | None]:
        """Zones of each tile, or a key for each."""
        count = len(self)
        none: list[Any] = [None] * count
        if isinstance(given, Keyed):
            return none, given
        if given is None:
            return none, None if default is None else keys_of_rows(list(default), argument, (count,))
        listed = isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim == 1)
        if listed and len(given) == count and not any(_is_zones(x) for x in given):
            return none, keys_of_rows(given, argument, (count,))
        if listed and len(given) == count:
            return list(given), None
        if callable(given) or (isinstance(given, Mapping) and not any(_is_zones(x) for x in given.values())):
            hint = "tiles are named by their files, without folder and ending."
            return none, keys_by_name(given, argument, self.names, "tile", hint)
        raise InputTypeError(
            f"`{argument}` is {brief(given)}; with {counted(count, 'tile')} expected a key for each, a mapping from "
            "their names to keys, a function of the name, or a list of as many zone rasters.",
            argument=argument,
        )

    def __getitem__(self, k: int) -> Scene:
        """Open the rasters of a scene, and look whether their pixels lie on each other."""
        where = f"[{k}]" if self.tiled else ""
        given = self._truths[k]
        truth = _of_image(given) if isinstance(given, ImageFile) else as_raster(given, f"y_true{where}")
        maps = tuple(
            self._fitted(own[k], f"{name}{where}", truth, self._truths[k]) for name, own in self._preds.items()
        )
        weight, weight_name = self._weight(self._weights[k], f"sample_weight{where}", truth, self._truths[k])
        by, cluster = (
            own if isinstance(own, BlockKeys) else self._zones(own, argument, where, truth, self._truths[k])
            for argument, own in (("by", self._by[k]), ("cluster", self._cluster[k]))
        )
        return Scene(truth, maps, weight, weight_name, by, cluster)

    def _fitted(self, given: Any, name: str, truth: OpenRaster, beside: Any, role: Role = "labels") -> OpenRaster:
        """Open a raster that belongs to the true one. Labels and zones may be brought to its pixels."""
        if isinstance(given, np.ndarray):
            return _placed(given, name, truth)
        if isinstance(given, ImageFile):
            return _made(given.path, truth, lambda: _labels(read_image(given.path, "labels"), given.path))
        if not is_raster(given):
            raise InputTypeError(
                f"{name} is {brief(given)}; expected a raster: a file, an open data set of rasterio, a DataArray of "
                "xarray, or an array of the same shape.",
                "names of rasters end with .tif, .vrt, .nc or .zarr; wmcc.Raster(path) opens files of other names."
                if isinstance(given, (str, os.PathLike))
                else 'several maps of one place are a mapping from names, {"A": …, "B": …}.'
                if type(given) in (list, tuple) and any(map(is_raster, given))
                else None,
                name.partition("[")[0],
            )
        other = as_raster(given, name)
        if isinstance(beside, ImageFile):  # which belongs to the image by its name, wherever it lies
            other = replace(other, crs=None, transform=None)
        if role != "weights" and other.resample == "nearest":
            found = aligned(other, truth)
            self._note("ties", ties(found, truth))
            return found
        try:
            _check_xarray(beside, given, name)
            self._note("grids", check_grid(truth, other))
        except InputError as problem:
            _check_xarray(beside, given, name, grids_differ=True)
            if role != "weights":
                raise
            hint = f"bring {other.name} to the pixels of {truth.name} first: `resample` is for labels, not for weights."
            raise type(problem)(problem.message, hint, "sample_weight") from None
        return other

    def _note(self, about: str, sentence: str | None) -> None:
        """Warn, once for all tiles."""
        if sentence is not None and about not in self._noted:
            self._noted.add(about)
            warn(sentence + " It is the first tile of which this is to be said." * self.tiled, MapWarning)

    def _weight(self, given: Any, name: str, truth: OpenRaster, beside: Any) -> tuple[OpenRaster | Array | None, str]:
        area = as_area(given)
        if given is None or (area and 0 in truth.shape):
            return None, name
        if area:
            return truth.pixel_area(area.unit), "the area of pixels"
        if is_raster(given):
            raster = self._fitted(given, name, truth, beside, "weights")
            return raster, raster.name
        if isinstance(given, ImageFile):
            return _made(given.path, truth, lambda: read_image(given.path, "weights")), given.path
        if callable(given) and self.tiled:
            own, whole = f"the weight map made of {truth.name}", tuple(slice(0, n) for n in truth.shape)
            return _made(own, truth, lambda: weights_of(given, truth.labels(*whole)[0], truth.name)), own
        if callable(given) or isinstance(given, (str, os.PathLike)):
            raise InputTypeError(
                f'{name} is {brief(given)}; with rasters expected "area", a raster of weights, an array, or None.',
                "weights that a function makes of a whole label map need all of it: read the rasters into arrays, "
                "tabulate(y_true, y_pred, function(y_true))."
                if callable(given)
                else f'for areas write "{AREA}"; names of rasters end with .tif, .vrt, .nc or .zarr.',
                "sample_weight",
            )
        check_aligned({"y_true": beside, name: given})
        weights = along_dims(given, beside, weight_array(given, name))
        fitted(weights, truth.shape, False)
        return weights.reshape((1,) * (2 - weights.ndim) + weights.shape), name

    def _zones(self, given: Any, argument: str, where: str, truth: OpenRaster, beside: Any) -> Zones | None:
        if given is None:
            return None
        several = given if isinstance(given, Mapping) else {"": given}
        sources: dict[str, OpenRaster | Array] = {}
        for word, own in several.items():
            name = f"{argument}[{word!r}]" if isinstance(given, Mapping) else f"{argument}{where}"
            if is_raster(own):
                sources[str(word)] = self._fitted(own, name, truth, beside, "zones")
                continue
            if isinstance(own, (str, os.PathLike)):
                raise InputTypeError(
                    f"{name} is {brief(own)}; with rasters expected a raster of zones, or a key per pixel.",
                    "names of rasters end with .tif, .vrt, .nc or .zarr.",
                    argument,
                )
            keys = own if isinstance(own, np.ndarray) else label_column(own, name).values
            if keys.shape not in (truth.shape, truth.shape[:1]):
                raise InputError(
                    f"{name} has shape {keys.shape}, and {truth.name} {truth.shape}.",
                    "give a raster of zones, a key per pixel, or one per row of pixels.",
                    argument,
                )
            sources[str(word)] = keys
        return Zones(argument, sources, isinstance(given, Mapping))

    def windows(self) -> Iterator[Window]:
        """All windows, scene by scene."""
        for k in range(len(self)):
            scene = self[k]
            for rows, cols in scene.windows():
                yield Window(k, scene, rows, cols)

    def keyed(self, table: Any, k: int) -> Any:
        """Return the table of a tile with its keys, where all pixels of a tile have the same."""
        return of_one_item(table, k, self._by_tile, self._cluster_by_tile)


def _tile_names(truths: Sequence[Any], names: Sequence[str] | None) -> tuple[Key, ...]:
    """Names of tiles: of files without folder and ending, if that tells them apart; else whole; else their numbers."""
    if names is not None:
        return tuple(names)
    paths = [os.fspath(x) if isinstance(x, (str, os.PathLike)) else getattr(x, "name", None) for x in truths]
    if all(isinstance(x, str) and x for x in paths):
        for several in ([Path(str(x)).stem for x in paths], [str(x) for x in paths]):
            if len(set(several)) == len(several):
                return tuple(several)
    return tuple(range(len(truths)))


def _is_zones(given: Any) -> bool:
    """Whether this gives a key to each pixel, rather than being one."""
    return is_raster(given) or (isinstance(given, np.ndarray) and given.ndim > 0)


class ImageFile(NamedTuple):
    """An image that does not say where it lies: it belongs to a tile by its name."""

    path: str


class _InMemory:
    """Pixels that are in memory, or that are made when the first of them is read."""

    def __init__(self, make: Callable[[], Array], known: Array | None = None) -> None:
        self._make, self._lock, self._known = make, Lock(), known
        self._values: Array | None = None

    def read(self, rows: slice, cols: slice) -> tuple[Array, Array | None]:
        with self._lock:
            if self._values is None:
                self._values = self._make()
        return self._values[rows, cols], None if self._known is None else self._known[rows, cols]

    def close(self) -> None:
        self._values = None


def _of_image(file: ImageFile) -> OpenRaster:
    """Return the true labels of an image that does not say where it lies."""
    height, width = read_header(file.path, "labels").shape
    source = _InMemory(lambda: _labels(read_image(file.path, "labels"), file.path))
    kind = np.dtype(np.int64)
    return OpenRaster(file.path, (height, width), kind, None, None, None, {}, {}, _strips(height, width), source)


def _strips(height: int, width: int) -> tuple[int, int]:
    """Rows and columns that are best read at once of pixels in memory."""
    return max(1, min(height, WINDOW // max(width, 1))), max(1, width)


def _made(name: str, truth: OpenRaster, make: Callable[[], Array], known: Array | None = None) -> OpenRaster:
    """Return a raster in the place of the true one, whose pixels are made when they are read; ``known`` is its mask."""

    def checked() -> Array:
        values = make()
        if values.shape != truth.shape:
            raise InputError(
                f"{name} has shape {values.shape}, and {truth.name} has {truth.shape[0]:,} x {truth.shape[1]:,} "
                "pixels; expected the same."
            )
        return values

    own, source = (truth.crs, truth.transform), _InMemory(checked, known)
    return OpenRaster(name, truth.shape, np.dtype(np.int64), *own, None, {}, {}, _strips(*truth.shape), source)


def _placed(given: Array, name: str, truth: OpenRaster) -> OpenRaster:
    """Return labels in memory, which say nothing of where they lie, in the place of the true raster.

    What is masked or NaN is not known, as in files.
    """
    values = np.ma.getdata(given) if given.dtype.kind in "biuf" else _labels(given, name)
    raster = _made(name, truth, lambda: values, ~np.ma.getmaskarray(given) if np.ma.is_masked(given) else None)
    raster.read(slice(0, 0), slice(0, 0))  # looks at their shape
    return raster


def _labels(given: Array, name: str) -> Array:
    values = label_column(given, name).values
    if values.dtype.kind not in "biu":
        objects = given.dtype == object
        raise InputTypeError(
            f"{name} holds {'Python objects' if objects else 'text'}; rasters hold whole numbers.",
            "give the numbers of the classes"
            + (", as array.astype(int)." if objects else ", and `names` for their names."),
        )
    return values


def _check_xarray(truth: Any, other: Any, name: str, grids_differ: bool = False) -> None:
    """Refuse arrays of xarray whose dimensions have other names; or, of other grids, some coordinates in common.

    Then xarray knows what to do.
    """
    arrays = [x for x in (truth, other) if hasattr(x, "indexes") and isinstance(getattr(x, "dims", None), tuple)]
    if len(arrays) > 1:
        marks = [[x.indexes[d] for x in arrays if d in x.indexes] for d in truth.dims[-2:]]
        some = grids_differ and all(len(own) > 1 and len(own[0].intersection(own[1])) for own in marks)
        if some or arrays[0].dims[-2:] != arrays[1].dims[-2:]:
            check_aligned({"y_true": truth, name: other})


# ---- keys of pixels -----------------------------------------------------------------------------------------


class BlockKeys(NamedTuple):
    """Blocks of pixels as clusters. Keys are the row and the column of the block, after that of the tile."""

    tall: int
    wide: int
    tile: tuple[Key, ...] = ()

    def read(self, window: Window) -> Keyed:
        """Return the block of each pixel of a window."""
        (row, down), (col, right) = divmod(window.first[0], self.tall), divmod(window.first[1], self.wide)
        codes, (rows, cols) = _block_codes((down, right), window.shape, (self.tall, self.wide))
        keys = tuple((*self.tile, row + i, col + j) for i in range(rows) for j in range(cols))
        return Keyed("cluster", keys, codes)


_block_codes = lru_cache(maxsize=8)(block_codes)
"""Most windows begin at the same place of a block, and are of one shape."""


class Zones(NamedTuple):
    """Keys of pixels: of rasters, or of arrays of a key per pixel or per row of pixels."""

    argument: str
    sources: Mapping[str, OpenRaster | Array]
    several: bool

    def read(self, window: Window) -> Keyed:
        """Return the key of each pixel of a window."""
        found = [self._codes(own, window) for own in self.sources.values()]
        if self.several:
            return keyed(tuple(self.sources), found)
        codes, keys = found[0]
        return Keyed(self.argument, tuple(keys), codes)

    def _codes(self, source: OpenRaster | Array, window: Window) -> tuple[Array, Sequence[Key]]:
        if isinstance(source, OpenRaster):
            return zone_codes(*source.read(window.rows, window.cols), self.argument)
        own = source[window.rows, window.cols] if source.ndim == 2 else source[window.rows]
        return key_codes(own, self.argument, window.shape)


def zone_codes(values: Array, known: Array | None, argument: str) -> tuple[Array, Sequence[Key]]:
    """Return the zone of each pixel as a code, and what it stands for: None where it is not known.

    There may be keys of no pixel among the keys.
    """
    if known is not None:
        values = np.where(known, values, values[known][0] if known.any() else values.dtype.type(0))
    codes, keys = integer_codes(values) or key_codes(values, argument, values.shape)
    if known is not None:
        codes = np.where(known, codes, len(keys)).astype(np.min_scalar_type(len(keys)))
        keys = (*keys, None)
    return codes, keys

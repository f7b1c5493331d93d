"""The kinds of data that `wmcc.tabulate` reads, in the order in which they are tried.

A kind says which calls are its own, and makes a table of one. What reads is imported when it is needed: recognising
data brings no package. A new kind is a class here, a line in `KINDS`, and the file that reads.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.design import PIXELS, ROWS
from ..core.doubts import look_like_outputs, warn_of_outputs
from ..errors import InputError, InputTypeError
from ..present.text import brief
from .arrays import tabulate_arrays
from .codes import Rules
from .columns import (
    along_dims,
    check_aligned,
    check_shapes,
    fitted,
    is_matrix,
    label_column,
    no_array,
    weight_array,
)
from .groups import WHOLE, Parts, keys_of_blocks, keys_of_rows
from .recognised import are_rasters, as_area, is_dataset, is_layer, is_raster, refuse_nodata
from .request import Request, by_keyword, check_named, layer_by_position, names_columns, refuse
from .values import Area, Blocks, Files, Join, Layer, Overlay, Replicates, Strata

if TYPE_CHECKING:
    from .designs import KeyColumns
    from .map_cells import Cells


class Kind(Protocol):
    """A kind of data."""

    def recognises(self, request: Request) -> bool:
        """Whether the data of a call are of this kind."""

    def tabulate(self, request: Request, rules: Rules) -> Any:
        """Return the table, the joint table, or the tables of groups of the call."""


A_SAMPLE = (
    "tabulate a sample of pixels instead: a frame with a row per pixel, tabulate(data, true=…, pred=…, design=…)."
)
IN_ARRAYS = "read the images into arrays to say how they were drawn: tabulate(y_true, y_pred, sample_weight, design=…)."


class RasterKind:
    """A true raster and maps of the same pixels; or lists of tiles."""

    def recognises(self, request: Request) -> bool:
        """Rasters say so: by the ends of their names, or by their types."""
        return not request.in_columns and are_rasters(request.y_true, request.y_pred)

    def tabulate(self, request: Request, rules: Rules, cells: Cells | None = None) -> Any:
        """Read windows of all rasters at once; ``cells`` is told of them, too."""
        from .rasters import tabulate_rasters

        refuse(request, "rasters", ("blocks", "area"), {"design": A_SAMPLE})
        _refuse_to_keep(rules, "rasters")
        request = _with_maps(request)
        return tabulate_rasters(
            request.y_true, request.y_pred, request.sample_weight, rules, request.predictions(rules),
            by=request.by, cluster=request.cluster, threads=request.threads, progress=request.progress, cells=cells,
        )  # fmt: skip


def _refuse_to_keep(rules: Rules, what: str) -> None:
    """Refuse to keep labels that are missing in maps, which have codes of their own for what is not known."""
    if rules.missing == "keep":
        hint = "give 'ignore'; or save points as CSV, or give them as a frame without geometry, which are taken."
        raise InputError(
            f"`missing` is 'keep', which is for arrays, frames and files; these are {what}.", hint, "missing"
        )


def _with_maps(request: Request) -> Request:
    """Return the call with rasters in place of the Datasets of xarray, which are mappings, too, that have one map."""
    from ..geo.raster import Raster

    def opened(name: str) -> Any:
        given = getattr(request, name)
        return Raster(given, name=name) if is_dataset(given) else given

    return request._replace(y_pred=opened("y_pred"), by=opened("by"), cluster=opened("cluster"))


class ImageKind:
    """Folders of label maps, paired by name."""

    def recognises(self, request: Request) -> bool:
        """Folders, patterns and files of images are names of what holds images."""
        if request.in_columns or not isinstance(request.first, (str, os.PathLike)):
            return False
        from .images import are_folders

        return are_folders(request.y_true, request.y_pred)

    def tabulate(self, request: Request, rules: Rules) -> Any:
        """Read image by image; each is a cluster."""
        from .images import ImageFolders, tabulate_images

        refuse(request, "folders of images", ("blocks", "area"), {"design": IN_ARRAYS})
        request.predictions(rules)
        area = as_area(request.sample_weight)
        folders = ImageFolders(request.y_true, request.y_pred, None if area else request.sample_weight)
        return tabulate_images(folders, rules, request.threads, request.progress, request.by, request.cluster, area)


class LayerKind:
    """Polygons and points with their classes; or a map that is laid over them."""

    def recognises(self, request: Request) -> bool:
        """Layers have geometry: files of such, frames that say so, and what is given as a layer."""
        data = request.y_true
        if isinstance(data, (Layer, Overlay)):
            return True
        return request.in_columns and is_layer(data, request.weight)

    def tabulate(self, request: Request, rules: Rules, cells: Cells | None = None) -> Any:
        """Make a frame of rows, and tabulate that; ``cells`` is told of places of rows."""
        from .layers import laid_out

        refuse(request, "layers of polygons or points", ("design", "area"), {"blocks": "give a column of clusters."})
        _refuse_to_keep(rules, "layers of polygons or points")
        frame, rules, void, whole = laid_out(request, rules, cells)
        table = with_names(COLUMNS.tabulate(frame, rules), rules.names)
        table = table._of_whole_map() if whole else table
        return table.rename({x: name for x, name in void.items() if x in table.void}) if void else table


def with_names(table: Any, names: Mapping[Any, Any] | None) -> Any:
    """Give the classes of a table, or of tables, their names, if they have any."""
    if names is None:
        return table
    from .text_types import written  # which arrays do without

    named = {label: names[label] for label in table.labels if label in names}
    for label in table.labels:  # which a file of text may hold as text
        if label not in named and written(label) in names:
            named[label] = names[written(label)]
    nameless = next((label for label in table.classes if label not in named), None)
    if nameless is not None:
        raise InputError(
            f"`names` has no name for the class {nameless!r}.",
            "add it to `names`; if it is not a class, list it in `ignore`.",
        )
    return table.rename(named)


NO_GEOMETRY = (
    "make a frame of polygons first, such as geopandas.GeoDataFrame(data, crs=…), or with geometry="
    "geopandas.GeoSeries.from_wkb(data['geometry']) if it is binary."
)
"""What to do with frames that have geometries, but do not say so."""


class ColumnKind:
    """Frames and files with named columns, one or two of them."""

    def recognises(self, request: Request) -> bool:
        """Columns are named by keyword."""
        return request.in_columns

    def tabulate(self, request: Request, rules: Rules) -> Any:
        """Read the columns that are named."""
        from .frames import NamedColumns  # brings narwhals, which arrays do without
        from .tabular import tabulate_columns

        hint = "for areas as weights" if request.by_area else "blocks are made of pixels: give a column of clusters."
        refuse(request, "frames and files without geometry", ("design",), {"area": NO_GEOMETRY, "blocks": hint})
        check_named(request)
        key, predictions = _key_of(request), request.predictions(rules)
        several = tuple(request.pred.values()) if predictions else (request.pred,)
        cluster: Any = request.cluster if key is None else key.columns or None
        columns = NamedColumns(
            request.true, several, request.weight, request.by, cluster, predictions,
            counted=key is not None, resampled=request.replicates,
        )  # fmt: skip
        table = tabulate_columns(request.y_true, columns, rules, request.threads, request.progress)
        return table if key is None else key.with_design(table, request)


class ArrayKind:
    """Labels in memory: arrays, lists, series, tensors; with weights, or a weight matrix."""

    def recognises(self, request: Request) -> bool:
        """All else holds labels."""
        return True

    def tabulate(self, request: Request, rules: Rules, cells: Cells | None = None) -> Any:
        """Count the rows; ``cells`` is told of them, too."""
        y_true, y_pred, by, cluster = request.y_true, request.y_pred, request.by, request.cluster
        _check_arrays(request)
        if cells is not None:
            cells.place_arrays(y_true, y_pred)
        key, resampled = (None, None) if request.design is None else (_key_of(request), request.replicates)
        names = request.predictions(rules)
        preds = {f"y_pred[{name!r}]": own for name, own in zip(names, y_pred.values(), strict=True)} if names else None
        sides = {"y_true": y_true, **(preds or {"y_pred": y_pred})}
        plain = by is cluster is request.design is None
        if not (plain and type(y_true) is type(y_pred) is np.ndarray):
            refuse_nodata({**sides, "sample_weight": request.sample_weight})
            own = {"cluster": cluster} if key is None else dict(zip(key.names, key.columns, strict=True))
            more = {} if resampled is None else {"replicates": resampled.replicates}
            check_aligned({**sides, "sample_weight": request.sample_weight, "by": by, **own, **more})
        columns = [label_column(own, name, 0, rules.skip_missing) for name, own in sides.items()]
        truth = columns[0].values
        check_shapes(columns, list(getattr(y_pred, "columns", ())))
        blocks = keys_of_blocks(cluster, truth.shape) if isinstance(cluster, Blocks) else None
        weights = request.sample_weight
        if not (weights is None or no_array(weights)):
            weights = weight_array(weights)
            if weights.shape != truth.shape:
                weights = along_dims(request.sample_weight, y_true, weights)
        if is_matrix(weights, truth):
            return _of_matrix(request, columns, weights, rules, names)
        weights = None if weights is None else fitted(weights, truth.shape, not names)
        parts = WHOLE
        if not plain:
            clusters = blocks or (
                keys_of_rows(cluster, "cluster", truth.shape) if key is None else key.read(truth.shape)
            )
            parts = Parts(keys_of_rows(by, "by", truth.shape), clusters, key is not None)
        drawn = PIXELS if math.prod(truth.shape) > truth.shape[0] else ROWS  # items of more than one label are images
        tabulated = partial(tabulate_arrays, columns, weights, rules, request.threads, None, parts, drawn, names)
        if resampled is not None:
            from .replicates import replicates_in_arrays, with_replicates

            several = replicates_in_arrays(resampled.replicates, truth.shape)
            return with_replicates(tabulated(several), resampled, len(several))
        found = tabulated() if blocks is None else tabulated()._of_whole_map()
        if truth.ndim == 2 and cluster is None and look_like_outputs(*truth.shape) and set(found.classes) == {0, 1}:
            warn_of_outputs(truth.shape[1], "y_true", "y_pred", ".ravel()", "[None]")
        return found if key is None else key.with_design(found, request)


def _of_matrix(request: Request, columns: Any, weights: Any, rules: Rules, names: tuple[str, ...]) -> Any:
    from .matrix import tabulate_matrix

    given = {
        "several predictions": bool(names),
        "`by`": request.by is not None,
        "`cluster`": request.cluster is not None,
        f"a `{type(request.design).__name__}`": request.design is not None,
    }
    word = next((word for word, is_given in given.items() if is_given), None)
    if word is not None:
        raise InputTypeError(
            f"a weight matrix works for one prediction without groups or clusters; with {word} give one weight per row."
        )
    return tabulate_matrix(columns, weights, rules, request.threads)[0]


def _check_arrays(request: Request) -> None:
    """Refuse labels that are no arrays, and values that are for other data."""
    y_true, y_pred = request.y_true, request.y_pred
    if type(y_true) is not np.ndarray and y_pred is None and is_raster(y_true):
        raise InputTypeError(
            f"y_true is a raster, {brief(y_true)}, and there is no y_pred.", "write tabulate(y_true, y_pred).", "y_pred"
        )
    several = tuple(y_pred.values()) if isinstance(y_pred, Mapping) else (y_pred,)
    several = tuple(x for x in several if type(x) is not np.ndarray)
    layer = next((x for x in several if is_layer(x, None)), None)
    if layer is not None:
        raise layer_by_position(layer)
    placed = next((x for x in several if not hasattr(x, "dims") and is_raster(x)), None)
    if placed is not None:
        text = isinstance(y_true, (str, os.PathLike))
        raise InputTypeError(
            f"y_pred is a raster, {brief(placed)}, and y_true is {brief(y_true)}; expected a raster too.",
            "names of rasters end with .tif, .vrt, .nc or .zarr; wmcc.Raster(path) opens files of other names."
            if text
            else "an array does not say where it lies: give the raster that it is from, or arrays of both.",
            "y_true",
        )
    if y_pred is None or names_columns(y_true, y_pred) or isinstance(y_pred, Files):
        raise by_keyword(y_true, y_pred, request.sample_weight, request.weight)
    if isinstance(request.weights, Area):
        refuse(request, "arrays", ("design", "blocks"), {"area": "give rasters, which say where their pixels lie."})


# ---- how the rows were drawn ---------------------------------------------------------------------------------


def _key_of(request: Request) -> KeyColumns | None:
    """Return the columns of strata, clusters and post-strata as one key; None where no design says more than rows."""
    design = request.design
    if design is None or isinstance(design, Replicates) or (isinstance(design, Strata) and design.says_nothing):
        return None
    from .designs import key_columns

    return key_columns(request)


COLUMNS, ARRAYS = ColumnKind(), ArrayKind()
KINDS: tuple[Kind, ...] = (RasterKind(), ImageKind(), LayerKind(), COLUMNS, ARRAYS)


def placed_kind_of(request: Request) -> tuple[Request, Any]:
    """Return a call whose rows lie somewhere, for a picture, and its kind."""
    data = request.y_true
    if request.in_columns and not isinstance(data, (Files, Join, Layer, Overlay)):
        request = request._replace(y_true=Layer(data))  # which says what it lacks
    kind = kind_of(request)
    if isinstance(kind, (ImageKind, ColumnKind)) or isinstance(data, Join):
        raise InputTypeError(
            f"the data are {'images in folders' if isinstance(kind, ImageKind) else f'a `{type(data).__name__}`'}; a "
            "picture needs rasters, label maps in arrays, polygons or points.",
            "points in a table are given as wmcc.Layer(data, xy=('lon', 'lat'), crs='EPSG:4326').",
            "y_true",
        )
    return request, kind


def kind_of(request: Request) -> Kind:
    """Return the first kind that recognises the data of a call."""
    if type(request.y_true) is type(request.y_pred) is np.ndarray:  # as in most calls
        return ARRAYS
    return next(kind for kind in KINDS if kind.recognises(request))

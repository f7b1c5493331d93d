"""Everything that makes a Table: `tabulate` is the door that data come in through."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack, overload

import numpy as np

from ..core.arraytypes import Labels
from ..core.doubts import look_like_outputs, warn_of_outputs, warn_of_void
from ..core.drawn import PIXELS, ROWS, Lonely, Method, check_sampled
from ..core.joint import JointTable
from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputError, InputTypeError, unknown_keyword, warn
from ..present.text import brief
from .arrays import tabulate_arrays
from .codes import Rules, make_rules
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
from .options import (
    AREA,
    NO_GEOMETRY,
    NO_LAYER,
    NO_RASTER,
    AreaMethod,
    LayerOptions,
    RasterOptions,
    Unit,
    are_layers,
    are_rasters,
    is_dataset,
    is_layer,
    is_raster,
    refuse_nodata,
    refuse_options,
    refuse_others,
)
from .stream import Accumulator, DrawnBy

if TYPE_CHECKING:
    from .designs import KeyColumns, SampleDesign
    from .replicates import ReplicateWeights

Several = Mapping[str, Any]
"""Predictions by their names."""

Choice = Literal["error", "ignore"]

Given = Labels | os.PathLike[str]
"""Labels, or a folder of images; a text is among what NumPy takes for labels."""

Tabled = Table | JointTable | Tables[Any]


class Reading(DrawnBy, total=False):
    """Keywords of `tabulate` that go with data of any kind."""

    population: Any
    fpc: Any
    lonely: Lonely
    nested: bool
    totals: Any
    labels: Any
    names: Mapping[Any, Any] | None
    ignore: Any
    missing: Choice
    positive: Any
    threads: int | None


class Labelled(Reading, total=False):
    """Keywords of `tabulate` that go with arrays, rasters and folders of images."""

    band: int | None
    align: Literal["nearest"] | None
    blocks: int | tuple[int, int] | None
    unit: Unit | None
    crs: Any
    progress: bool | None


class Columned(Reading, total=False):
    """Keywords of `tabulate` that go with frames and files."""

    weight: Any
    join: Any
    on: Any
    unmatched: Choice
    overlay: Any
    uncovered: Literal["class", "error"]
    sliver: float
    layer: str | None
    overlay_layer: str | None
    xy: tuple[str, str] | None
    crs: Any
    area: AreaMethod
    unit: Unit | None
    engine: str | None
    progress: bool | None


@overload
def tabulate(
    y_true: Given, y_pred: Several, sample_weight: Any = ..., *, by: None = ..., **options: Unpack[Labelled]
) -> JointTable: ...
@overload
def tabulate(
    y_true: Given, y_pred: Several, sample_weight: Any = ..., *, by: Any, **options: Unpack[Labelled]
) -> Tables[JointTable]: ...
@overload
def tabulate(
    y_true: Given, y_pred: Given, sample_weight: Any = ..., *, by: None = ..., **options: Unpack[Labelled]
) -> Table: ...
@overload
def tabulate(
    y_true: Given, y_pred: Given, sample_weight: Any = ..., *, by: Any, **options: Unpack[Labelled]
) -> Tables[Table]: ...
@overload
def tabulate(data: Any, /, *, true: Any, pred: Several, by: None = ..., **options: Unpack[Columned]) -> JointTable: ...
@overload
def tabulate(data: Any, /, *, true: Any, pred: Several, by: Any, **options: Unpack[Columned]) -> Tables[JointTable]: ...
@overload
def tabulate(data: Any, /, *, true: Any, pred: Any, by: None = ..., **options: Unpack[Columned]) -> Table: ...
@overload
def tabulate(data: Any, /, *, true: Any, pred: Any, by: Any, **options: Unpack[Columned]) -> Tables[Table]: ...
def tabulate(*given: Any, **named: Any) -> Table | JointTable | Tables[Any]:
    r"""Tabulate true and predicted labels, with a weight per observation.

    Labels come in arrays, or as columns of a frame or file, which are always named by keyword::

        tabulate(y_true, y_pred, sample_weight)                              arrays, series, tensors, images
        tabulate(data, true="label", pred="pred", weight="area")             frames of any engine; files
        tabulate(truth, join=predictions, on="id", true="label", pred="p")   two frames or files with a common key
        tabulate("truth/", "pred/", "maps/", ignore=255)                     folders of images, paired by name
        tabulate("truth.tif", "map.tif", "area", blocks=64)                  rasters
        tabulate("parcels.gpkg", true="ref", pred="map", weight="area")      polygons
        tabulate(reference, overlay=map, true="ref", pred="class", weight="area")   two layers, or points and a map

    Several predictions of the same rows are a mapping from names, and make a `JointTable`::

        tabulate(y_true, {"A": a, "B": b}, sample_weight)
        tabulate(data, true="label", pred={"A": "model_a", "B": "model_b"}, weight="area")

    Parameters
    ----------
    y_true, y_pred
        Labels: integers, booleans or strings, in arrays of any shape (such as two label maps of one image),
        lists, series of pandas, polars or PyArrow, CPU tensors, or anything that speaks NumPy's array protocols
        or DLPack. Categorical series are read as their codes. Series must have the same index, and arrays of xarray the
        same dimensions and coordinates.

        They may also be folders of label maps: PNG (grey of any depth; of palettes the indices), TIFF or NPY. Files
        belong together if their paths in the folders are the same but for the ending. In place of a folder a pattern
        may be given whose one star stands for that name, and for folders in it:
        ``"gtFine/val/*_gtFine_labelIds.png"``. All files that do not match are named at once. Each image is a cluster,
        and its name the key. Label maps are read one by one, so that memory does not grow with their number.

        Or they are rasters: files of GDAL (GeoTIFF, COG, VRT, netCDF, Zarr), open data sets of rasterio, DataArrays of
        xarray with rows and columns, or what `wmcc.raster` made; a map may also be an array of the same shape. They are
        read in windows, in bounded memory. Their pixels must lie on each other. Pixels that are nodata, masked or NaN
        in the true raster are left out and counted in `Table.ignored`. Those of a map where the truth is known are
        errors: they have a column of their own that is no class, ``"(nodata)"`` in `Table.void`. A number that is
        nodata in one raster and occurs in another is refused. Names of classes that files have become labels, unless
        ``names`` or ``labels`` are given. Lists of as many rasters are tiles or scenes; each is a cluster, named by its
        file. Folders of GeoTIFFs are read in the same way.
    sample_weight
        One finite number of at least 0 per observation, in the shape of the labels; None counts each once.
        float32 and float64 are read as they are; other numbers are converted to float64. A weight for each row of an
        image has the shape (H, 1), one for each image of a stack (B, 1, 1), and one for each pixel, the same in all
        images, (H, W).

        With rasters it is ``"area"``, the area of each pixel on the ellipsoid; a raster of weights, which must be known
        where the truth is; or an array as above. Of tiles a list of these.

        With folders of images it is a folder of weight maps, in the same formats, whose numbers are taken as they are;
        or a function that makes the weights of a true label map, such as ``functools.partial(wmcc.weightmaps.border,
        ignore=255)``.

        With labels in vectors of N it may also be the matrix S of the paper, N x N: the table is then C_ab = Σ S_ij
        [t_i = a][c_j = b]. S is a dense array, a sparse matrix of SciPy, or an iterator over blocks of its rows (each
        dense or sparse, N wide, N rows in all), so that S need not be in memory at once. Each non-zero entry is an
        observation: `Table.n` counts those, not rows of labels, and sampling errors of rows do not apply. Labels whose
        entries are all zero are still classes of the table. A diagonal S gives the table of its diagonal as a vector.
        `wmcc.matrices` makes and checks such matrices.
    data
        A frame of pandas, polars, PyArrow, DuckDB, Dask, PySpark or ibis; or files: a name, a pattern, a folder, or a
        list of these. Frames in memory are read by the exact kernel. Lazy frames compute one group-by in their own
        engine, and only its cells are read; their sums are as exact as the engine's.
    true, pred, weight
        Columns of the frame or file: names (integers too, if a pandas frame has such), expressions of narwhals or of
        the frame's own engine, or series of the same frame.
    join, on
        A second frame or file, which holds the predictions, and the column, or columns, that identify a row in both.
        Keys that are missing or come twice are refused. The weight, replicate weights and groups are columns of either.
    unmatched
        What to do with keys without a partner: ``"error"`` refuses them, ``"ignore"`` counts them as ignored.
    overlay, overlay_layer
        A map that is laid over the data, which then are the reference: polygons, or points with a true label. ``true``
        is a column of the data and ``pred`` one of the map. Polygons are cut where they intersect; each piece is a row,
        and all pieces of a polygon of the reference are a cluster. The weight of a polygon, its area or another, is
        divided among its pieces in proportion to their areas. A point has the class of the polygon that it lies in; or
        of the pixel, if the map is a raster, which needs no ``pred``. On a border it is that of the polygon that comes
        first, and of the pixel to the right or below. Points may have several maps, in a mapping from names. Columns
        for ``by`` and the like are of the data, or else of the one map that has them. If the map is a file of several
        layers, ``overlay_layer`` names one.
    uncovered
        What to do with parts of the reference that the map does not cover. ``"class"`` counts them as errors, in a
        column of their own that is no class (`Table.void`); ``"error"`` refuses them.
    sliver
        The smallest piece of two layers that counts, in ``unit``. Smaller ones are left out; a warning says how many
        they are, and how large together.
    layer
        The layer of a file that has several.
    xy
        The columns of coordinates of points that are in a table, such as ``("lon", "lat")``. They need ``crs``.
    crs
        The coordinate reference system of data that do not say theirs, such as ``"EPSG:25832"``.
    area, unit
        With ``weight="area"``, or ``sample_weight="area"`` of rasters: how areas are computed, and their unit: ``"ha"``
        (the default), ``"km2"`` or ``"m2"``. ``"geodesic"``: on the ellipsoid, with geodesics between the vertices.
        ``"equal-area"``: on an equal-area projection of it. Areas of pixels are those of the ellipsoid. If the data
        have a column ``area``, it is taken unless ``unit`` is given.
    band
        The band of raster files that have several; `wmcc.raster` opens files with different ones.
    align
        ``"nearest"`` brings maps and zones to the pixels of the true raster, each taking the label of the nearest.
        Rasters of weights, and all others without it, must have the same coordinate reference system, pixels and size.
    blocks
        The side of square blocks of a raster or label map, in pixels, which are clusters then; or rows and columns. Of
        a stack of label maps, (B, H, W), blocks of each. Blocks should be larger than the patches in which a map is
        wrong. Without clusters pixels count as independent rows, and results warn that their intervals are too short.
        Give several rasters in one call, as lists: if their tables are merged later, blocks at the same row and column
        are one cluster.
    by
        Groups: one table for each, in the same pass. A column, or a list of columns, of a frame or file. With arrays a
        key per observation, or per item of their first axis (an image of a stack); or a mapping from names to such.
        With folders of images a mapping from names of images to keys, a function of the name, or ``"folder"``, the
        folder that the image is in. With rasters a raster of zones, or an array of a key per pixel; pixels that are
        nodata there have the key None. Of tiles a list of such, or a key for each, by list, mapping or function.
    cluster
        Clusters: rows that belong together (image, scene, patient) and may depend on each other, given in the same way
        as ``by``. The table keeps the cells of each cluster, and intervals and comparisons use them. Rows of the same
        key are one cluster, also when tables are merged. For images in scenes give both: ``cluster=["scene",
        "image"]``; keys are tuples then. With ``stratum`` the clusters are those that were drawn in each stratum.
        With folders of images each is a cluster, unless this says otherwise in the way of ``by``: frames of one video
        are a cluster together.
    stratum
        Strata: parts of the population that were sampled separately (map classes, regions), given in the same way as
        ``by``. Standard errors are then those of the design. Groups of ``by`` are domains: the table of each keeps the
        design of the whole sample.
    population
        The size of each stratum, an area or a number of units: a mapping from strata, a frame whose last column has the
        sizes and whose others have the strata, or a column of the data (with arrays, a number per row). Without
        ``stratum`` it is one number. If there are no weights, each row weighs the size of its stratum divided by the
        number of its sampled rows.
    fpc
        Finite populations: the number of units that each stratum has, of which some were sampled (rows, or clusters),
        given as ``population`` is; True if ``population`` has these numbers. A stratum of which all units were sampled
        has no sampling error. Leave it out if few of many were sampled, and if the sizes are areas.
    lonely
        What to do with a stratum of which a single unit was sampled, and others were not, so that its variance is
        unknown. ``"error"``: give no standard error. ``"adjust"``: take its distance from the mean of all units.
        ``"average"``: take the average of the other strata's variances. ``"certainty"``: count it as 0.
        ``"collapse"``: join it with the next stratum in the order of the keys. Two such strata make a pair, which is
        joined no further. The last one, if it is in no pair, joins the stratum before it.
    nested
        Whether the same key of a cluster in two strata means two clusters. False refuses such keys.
    poststratum, totals
        Post-strata: groups of rows whose totals in the population are known, given as ``stratum`` and ``population``
        are. The weights are scaled to these totals, and standard errors take account of it. The weights of rows that
        ``ignore`` leaves out are not read, so the totals are those of all others.
    replicates
        Replicate weights, which many surveys ship in place of their strata and clusters: R columns, each with a weight
        for every row. Of a frame or file it is a list of columns, or a pattern that their names match, such as
        ``"rw*"``; with arrays an array of N x R, a list of R arrays, or a mapping from names. Weights are finite
        numbers of at least 0, and many may be 0. All columns are tabulated in the same pass over the rows, exactly, and
        standard errors rest on them: the variance of a score θ is Σ a_r (θ_r − θ)², with θ_r the score by the r-th
        replicate weights and θ that by the weights themselves, which must be given too. Negative replicate weights,
        which some agencies publish, are not supported. It cannot be combined with ``stratum``, ``cluster``,
        ``population`` or ``poststratum``.
    method
        How the replicate weights were made, which gives a_r. ``"jk1"``: jackknife without strata, (R − 1) / R.
        ``"jkn"``: jackknife in strata, for which ``scales`` has the factors. ``"brr"``: balanced repeated replication,
        1 / R. ``"fay"``: Fay's variant of it, 1 / (R (1 − k)²) with the coefficient k given as ``fay``.
        ``"bootstrap"``: 1 / (R − 1). ``"sdr"``: successive differences, 4 / R.
    scales
        The factors a_r themselves: one for each replicate, or one number for all. With ``"jkn"`` they are (m − 1) / m,
        m the number of clusters in the stratum of which the replicate leaves one out. Without ``method`` they are for
        replicate weights of any other kind.
    fay
        The coefficient k of ``"fay"``, of at least 0 and below 1.
    df
        Degrees of freedom of replicate weights: the number of the survey's clusters less that of its strata, which its
        documentation names. Without it they are R − 1, which is too many if there are more replicates than that.
    labels
        The classes and their order. A label that is not among them is an error, unless ``ignore`` names it. Without it
        the classes are the labels that occur, sorted. A mapping has the classes' names too: ``{0: "road", 1: "car"}``.
    names
        A mapping from labels to names: the table's labels are the names. Each class that occurs needs one.
    ignore
        A label, or several (255 in segmentation), that are not classes. Rows with such a *true* label are left out and
        counted in `Table.ignored`; their weights are not read. All other rows count: if an ignored label is predicted
        for one, the prediction is wrong, and has its own column, which is not a class (`Table.void`). Of a weight
        matrix, the entries S_ij are left out if the i-th true label is ignored.
    missing
        What to do with rows whose true or predicted label is missing (None, NaN, NA, masked): ``"error"``
        refuses them, ``"ignore"`` leaves them out and counts them in `Table.ignored`. Of rasters ``"ignore"`` leaves
        out what is nodata in a map, too.
    positive
        The positive class of a two-class problem, for reports. The measures do not depend on it.
    engine
        What reads files: ``"arrow"`` (the default: batches through the exact kernel, in bounded memory), ``"polars"``,
        ``"duckdb"``, ``"pyspark"`` or ``"dask"``. A frame uses its own engine. All engines read the named columns of
        CSV files as text; labels that all look like integers become integers.
    threads
        Number of threads, 256 at most; by default one per processor, and one for short inputs. The table is
        the same to the last bit for any number, and for any order of the rows. Of folders of images each thread holds
        one image in memory.
    progress
        Whether to show a progress bar while files or images are read; by default when standard error is a terminal.

    Returns
    -------
    Table
        A `JointTable` of several predictions. With ``by`` a `Tables`, a mapping from each group to its table, in sorted
        order; for several columns the keys are tuples. Without rows the table is empty.

    Raises
    ------
    InputError
        Lengths or shapes that differ, missing or unknown labels, weights that are negative or not finite, more classes
        than there is memory for, no such column, no such file. The message names the first bad row and its value, or
        the number of bad rows.
    InputTypeError
        Containers, labels or weights of a kind that cannot be scored, labels of mixed kinds, or an unknown keyword.

    Warns
    -----
    LabelWarning
        A class has a name that often stands for missing labels (``"NA"``, ``"nan"``, ``"None"``, ``"null"``, or the
        empty text). No true label is ever predicted, as with ``"Oak"`` and ``"oak"``. Truth and prediction may be
        swapped: ``y_pred`` has an ignored label that ``y_true`` never has, or the strata are the true classes. Or
        arrays of two axes hold 0 and 1 in at most 100 columns, with more than twice as many rows (with up to 8 columns,
        more rows than columns): they look like several outputs, which are counted together in one table.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.tabulate(["oak", "elm", "elm"], ["oak", "elm", "oak"], [300, 2, 7.5])
    Table of 2 classes: 3 rows, total weight 309.5
    true \ predicted  elm  oak
    elm                 2  7.5
    oak                 0  300
    >>> wmcc.tabulate([[0, 1], [255, 1]], [[0, 1], [0, 255]], ignore=255, names={0: "road", 1: "car"})
    Table of 2 classes and void 255: 3 rows, 1 ignored, total weight 3
    true \ predicted  road  car  255
    road                 1    0    0
    car                  0    1    1
    >>> wmcc.tabulate([0, 1, 1], {"old": [0, 0, 1], "new": [0, 1, 1]}).names
    ('old', 'new')
    >>> wmcc.tabulate([[0, 0, 1, 1]] * 4, [[0, 1, 1, 1]] * 4, blocks=2).drawn.clusters
    ((0, 0), (0, 1), (1, 0), (1, 1))
    >>> import polars as pl
    >>> frame = pl.DataFrame({"label": [0, 1, 1], "pred": [0, 1, 0], "ha": [2.5, 1.0, 4.0], "tile": ["a", "a", "b"]})
    >>> tables = wmcc.tabulate(frame, true="label", pred="pred", weight=pl.col("ha") * 10_000, by="tile")
    >>> tables["b"].total
    40000.0
    >>> survey = pl.DataFrame({"y": [0, 1, 1], "pred": [0, 1, 0], "w": [3, 2, 2], "rw1": [6, 0, 4], "rw2": [0, 4, 0]})
    >>> wmcc.tabulate(survey, true="y", pred="pred", weight="w", replicates="rw*", method="brr")
    Table of 2 classes: 3 rows with 2 replicate weights, total weight 7
    true \ predicted  0  1
    0                 3  0
    1                 2  2
    """
    table = tabulate_part(*given, **named)
    if table.drawn.design is not None and len(table.parts):
        check_sampled(table.drawn, "for a sample that comes in parts use wmcc.Accumulator")
    if table.void and named.get("ignore") is not None and _are_in_memory(**_bound(given, named)):
        warn_of_void(table, "y_true", "y_pred", "y_true comes first, and y_pred second")
    for sentence in _doubts(table, named):
        warn(sentence)
    return table


def tabulate_part(*given: Any, **named: Any) -> Table | JointTable | Tables[Any]:
    """Tabulate a part of a sample, in which some strata may have no row."""
    table = _tabulate(Request(**_bound(given, named)))
    if table.classes and isinstance(table.classes[0], str) and (odd := LIKE_MISSING.intersection(table.classes)):
        name = min(odd)
        warn(
            f"a class is called {name!r}, a common code for missing labels. If it means missing, give "
            f"ignore={name!r}, or make such labels missing values and give missing='ignore'. If it is a real class, "
            "rename it."
        )
    return table


LIKE_MISSING = frozenset({"", "NA", "N/A", "<NA>", "NaN", "nan", "None", "NULL", "null", "NaT"})
"""Names of classes that look like missing labels."""


def _are_in_memory(y_true: Any = None, y_pred: Any = None, **_: Any) -> bool:
    """Whether labels are arrays: those of frames and files have names, and maps of rasters have gaps."""
    return y_pred is not None and not are_rasters(y_true, y_pred)


def _doubts(table: Table | JointTable | Tables[Any], named: Mapping[str, Any]) -> Iterable[str]:
    """Say what is odd about the labels of a whole sample."""
    first = int(isinstance(table, Tables))  # the axis of groups comes before those of labels
    truth, *preds = table.parts.codes[first : first + table.axes]
    if table.drawn.design is None and all((truth == pred).any() for pred in preds):
        return ()
    from .doubts import doubtful  # which most calls do without

    return doubtful(table, truth, preds, named.get("labels"), named.get("names"))


# ---- a call as a value ----------------------------------------------------------------------------------


class Request(NamedTuple):
    """What one call of `wmcc.tabulate` was given; the parameters are described there, and declared here."""

    y_true: Any = None
    y_pred: Any = None
    sample_weight: Any = None
    true: Any = None
    pred: Any = None
    weight: Any = None
    join: Any = None
    on: Any = None
    unmatched: Literal["error", "ignore"] = "error"
    overlay: Any = None
    uncovered: Literal["class", "error"] = "class"
    sliver: float = 0.0
    layer: str | None = None
    overlay_layer: str | None = None
    xy: tuple[str, str] | None = None
    crs: Any = None
    area: AreaMethod = "geodesic"
    unit: Unit | None = None
    band: int | None = None
    align: Literal["nearest"] | None = None
    blocks: int | tuple[int, int] | None = None
    by: Any = None
    cluster: Any = None
    stratum: Any = None
    population: Any = None
    fpc: Any = False
    lonely: Lonely = "error"
    nested: bool = True
    poststratum: Any = None
    totals: Any = None
    replicates: Any = None
    method: Method | None = None
    scales: Any = None
    fay: float | None = None
    df: float | None = None
    labels: Any = None
    names: Mapping[Any, Any] | None = None
    ignore: Any = None
    missing: Literal["error", "ignore"] = "error"
    positive: Any = None
    engine: str | None = None
    threads: int | None = None
    progress: bool | None = None

    @property
    def in_arrays(self) -> bool:
        """Whether each side holds labels; else a frame or file has named columns, or places."""
        return self.true is self.pred is self.join is self.on is self.overlay is self.xy is None

    @property
    def weighted(self) -> bool:
        """Whether there are weights."""
        return self.sample_weight is not None or self.weight is not None

    @property
    def first(self) -> Any:
        """The truth, or its first part where it is a list."""
        return self.y_true[0] if isinstance(self.y_true, (list, tuple)) and self.y_true else self.y_true

    @property
    def of_rasters(self) -> RasterOptions:
        """What was said of rasters."""
        return RasterOptions(self.band, self.align, self.blocks, self.unit, self.crs)

    @property
    def of_layers(self) -> LayerOptions:
        """What was said of layers."""
        laid = self.overlay, self.uncovered, self.sliver, self.layer, self.overlay_layer
        return LayerOptions(*laid, self.xy, self.crs, self.area, self.unit)

    def of_columns(self) -> dict[str, Any]:
        """Return what is for columns and for the design of a sample, by name."""
        return {
            name: getattr(self, name)
            for name in (
                "weight", "unmatched", "stratum", "population", "fpc", "lonely", "nested", "poststratum", "totals",
                "replicates", "method", "scales", "fay", "df", "engine",
            )
        }  # fmt: skip

    def resampled(self) -> ReplicateWeights | None:
        """Return the replicate weights that the design is told by, if any."""
        if self.replicates is self.method is self.scales is self.fay is self.df is None:
            return None
        from .replicates import read_replicates  # which most calls do without

        own = {name: getattr(self, name) for name in ("stratum", "cluster", "population", "poststratum", "totals")}
        own |= {"fpc": None if self.fpc is False else self.fpc}
        own |= {"lonely": None if self.lonely == "error" else self.lonely}
        lacking = None if self.weighted else "sample_weight" if self.in_arrays else "weight"
        return read_replicates(self.replicates, self.method, self.scales, self.fay, self.df, own, lacking)

    def sample_design(self) -> SampleDesign | None:
        """Return the strata, clusters and post-strata that the sample was drawn by, if any."""
        plain = self.stratum is self.population is self.poststratum is self.totals is None
        if plain and (self.fpc is None or self.fpc is False) and self.nested is True and self.lonely == "error":
            return None
        from .designs import SampleDesign  # which most calls do without

        drawn = self.stratum, self.cluster, self.population, self.fpc, self.lonely, self.nested
        design = SampleDesign(*drawn, self.poststratum, self.totals)
        design.check(self.weighted)
        return design


KEYWORDS = Request._fields
POSITIONS = 3
"""How many arguments may be given without a keyword: y_true, y_pred and sample_weight."""


def _signature() -> inspect.Signature:
    """Return the signature of `wmcc.tabulate`."""
    declared = inspect.signature(Request)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    own = [x.replace(kind=kinds[at >= POSITIONS]) for at, x in enumerate(declared.parameters.values())]
    return declared.replace(parameters=own, return_annotation="Table | JointTable | Tables[Any]")


tabulate.__signature__ = _signature()  # type: ignore[attr-defined]


def _tabulate(given: Request) -> Table | JointTable | Tables[Any]:
    rules = make_rules(given.labels, given.names, given.ignore, given.missing, given.positive)
    threads, in_arrays = given.threads, given.in_arrays
    if not (threads is None or (isinstance(threads, (int, np.integer)) and threads >= 1)) or threads is True:
        raise InputError(f"threads is {threads!r}; expected a whole number of at least 1, or None.")
    if in_arrays and type(given.y_pred) is not np.ndarray:
        given = _with_maps(given)
    if given.y_pred is not None and type(given.y_pred) is not np.ndarray and is_layer(given.y_pred, None, NO_LAYER):
        raise _layer_by_position(given.y_pred)
    if in_arrays and type(given.first) is not np.ndarray:
        found = _of_files(given, rules)
        if found is not None:
            return _with_names(found, rules.names)
    if given.of_rasters != NO_RASTER:
        but = ("unit", "crs", "blocks") if in_arrays else ("unit", "crs")
        refuse_options(given.of_rasters, "arrays" if in_arrays else "frames and files", but=but)
    void: Mapping[Any, str] = {}
    if not in_arrays and is_layer(given.y_true, given.weight, given.of_layers):
        given, void = _laid_out(given, rules.skip_missing)
        rules = rules._replace(ignore=(*rules.ignore, *void))
    elif given.of_layers != NO_LAYER and not are_layers(given.y_true, given.join):  # which is a sentence of its own
        what, hint = ("arrays", None) if in_arrays else ("frames and files without geometry", NO_GEOMETRY)
        refuse_options(given.of_layers, what, hint=hint)
    resampled, design, key = given.resampled(), given.sample_design(), None
    if design is not None:
        from .designs import key_columns

        key = key_columns(design, given.y_true, in_arrays)
    table = (_of_arrays if in_arrays else _of_columns)(given, key, resampled, rules)
    if design is not None:
        table = _in_design(table, given, design, key, rules, void)
    table = _with_names(table, rules.names)
    return table.rename({x: name for x, name in void.items() if x in table.void}) if void else table


def _with_maps(given: Request) -> Request:
    """Return the request with rasters in place of the Datasets of xarray that have one."""
    sides = {"y_pred": (given.y_pred, given.band), "by": (given.by, None), "cluster": (given.cluster, None)}
    maps = {name: _map_of(own, name, band) for name, (own, band) in sides.items() if is_dataset(own)}
    return given._replace(**maps) if maps else given


def _layer_by_position(given: Any) -> InputTypeError:
    shown = repr(os.fspath(given)) if isinstance(given, (str, os.PathLike)) else "map"
    return InputTypeError(
        "a layer of polygons is laid over another by keyword.",
        f"write tabulate(reference, overlay={shown}, true=…, pred=…, weight='area').",
        "overlay",
    )


def _laid_out(given: Request, skip_missing: bool) -> tuple[Request, Mapping[Any, str]]:
    """Make a frame of rows of the layers, which the rest reads; and the labels of what is not covered."""
    from .layers import joined_frame, laid_out

    join, engine = given.join, given.engine
    if join is not None and given.overlay is not None:
        raise InputTypeError("join= and overlay= do not go together: rows are matched by a key, or by their place.")
    own = given.by, given.cluster, given.stratum, given.population, given.fpc, given.poststratum, given.totals
    columns = given.true, given.pred, given.weight, given.cluster, (*own, given.replicates)
    data, pred, weight, cluster, void = laid_out(
        given.y_true, given.of_layers, *columns, joined=join is not None, skip_missing=skip_missing
    )
    if data is not given.y_true:
        if engine is not None:
            raise InputTypeError(f"engine={engine!r} does not work with layers of polygons or points.", None, "engine")
        join = joined_frame(join)
    return given._replace(y_true=data, pred=pred, weight=weight, cluster=cluster, join=join), void


def _in_design(
    table: Any, given: Request, design: SampleDesign, key: KeyColumns | None, rules: Rules, void: Mapping[Any, str]
) -> Any:
    """Return the table that knows its strata."""
    from .designs import with_design

    assert key is not None
    left_out: bool | None = len(rules.ignore) > len(void)
    if left_out and (rules.skip_missing or given.unmatched == "ignore"):
        left_out = None
    return with_design(table, design, key, given.weighted, left_out)


def _check_arrays(given: Request) -> None:
    """Refuse labels that are no arrays, and keywords that are for columns."""
    y_true, y_pred = given.y_true, given.y_pred
    if type(y_true) is not np.ndarray and y_pred is None and is_raster(y_true):
        raise InputTypeError(
            f"y_true is a raster, {brief(y_true)}, and there is no y_pred.", "write tabulate(y_true, y_pred).", "y_pred"
        )
    several = tuple(y_pred.values()) if isinstance(y_pred, Mapping) else (y_pred,)
    several = tuple(x for x in several if type(x) is not np.ndarray and not hasattr(x, "dims"))
    if placed := next((x for x in several if is_raster(x)), None):
        text = isinstance(y_true, (str, os.PathLike))
        raise InputTypeError(
            f"y_pred is a raster, {brief(placed)}, and y_true is {brief(y_true)}; expected a raster too.",
            "names of rasters end with .tif, .vrt, .nc or .zarr; wmcc.raster(path) opens files of other names."
            if text
            else "an array does not say where it lies: give the raster that it is from, or arrays of both.",
            "y_true",
        )
    if y_pred is None or _names_columns(y_true, y_pred):
        raise _by_keyword(y_true, y_pred, given.sample_weight, given.weight)
    others = {"weight": given.weight, "engine": given.engine, "progress": given.progress}
    others["unmatched"] = None if given.unmatched == "error" else given.unmatched
    for name in (name for name, own in others.items() if own is not None):
        raise InputTypeError(
            f"{name}= is for a frame or a file, with true= and pred= naming its columns.",
            "with arrays, give the weights as sample_weight=." if name == "weight" else None,
        )


def _check_columns(given: Request) -> None:
    """Refuse what is not named by keyword, and keywords that are for arrays."""
    if given.y_pred is not None and given.on is not None:
        raise InputTypeError(
            "the frame or file of the predictions is given by keyword.",
            "write tabulate(truth, join=predictions, on=…, true=…, pred=…).",
        )
    if given.y_pred is not None:
        raise _by_keyword(given.y_true, given.y_pred, given.sample_weight, given.weight)
    if given.true is None or given.pred is None:
        word, labels = ("true", "true") if given.true is None else ("pred", "predicted")
        raise InputTypeError(
            f"{word}= is missing: the column of the {labels} labels.", "write tabulate(data, true=…, pred=…)."
        )
    if given.sample_weight is not None:
        raise InputTypeError("sample_weight= is for arrays.", "give the column of weights as weight=.")


def _of_files(given: Request, rules: Rules) -> Any:
    """Tabulate rasters, or folders of images; None if labels are in neither."""
    y_true, y_pred, sample_weight, first = given.y_true, given.y_pred, given.sample_weight, given.first
    if are_rasters(y_true, y_pred):
        from .rasters import HINTS, tabulate_rasters

        refuse_options(given.of_layers, "rasters", but=("crs", "unit"))
        refuse_others("rasters", HINTS, **given.of_columns())
        named = _predictions(y_pred, "y_pred", rules)
        how: dict[str, Any] = {name: getattr(given, name) for name in ("by", "cluster", "threads", "progress")}
        return tabulate_rasters(y_true, y_pred, sample_weight, given.of_rasters, rules, named, **how)
    if not isinstance(first, (str, os.PathLike)):
        return None
    from .images import GIVEN_ELSEWHERE, ImageFolders, are_folders, tabulate_images

    if not are_folders(y_true, y_pred):
        return None
    refuse_options(given.of_layers, "folders of images", but=("crs", "unit"))
    refuse_others("folders of images", GIVEN_ELSEWHERE, **given.of_columns())
    _predictions(y_pred, "y_pred", rules)
    by_area = isinstance(sample_weight, str) and sample_weight == AREA
    folders = ImageFolders(y_true, y_pred, None if by_area else sample_weight)
    return tabulate_images(
        folders, rules, given.threads, given.progress, given.by, given.cluster, given.of_rasters, by_area
    )


def _of_columns(given: Request, key: KeyColumns | None, resampled: ReplicateWeights | None, rules: Rules) -> Any:
    """Tabulate a frame or a file."""
    _check_columns(given)
    from .frames import Columns  # brings narwhals, which arrays do without
    from .tabular import tabulate_columns

    pred, cluster = given.pred, given.cluster
    if key is not None:
        cluster = key.columns or None
    predictions = _predictions(pred, "pred", rules)
    several = tuple(pred.values()) if predictions else (pred,)
    columns = Columns(
        given.true, several, given.weight, given.by, cluster, predictions, counted=key is not None, resampled=resampled
    )
    how = {name: getattr(given, name) for name in ("join", "on", "unmatched", "engine", "threads", "progress")}
    return tabulate_columns(given.y_true, columns, rules, **how)


def _of_arrays(given: Request, key: KeyColumns | None, resampled: ReplicateWeights | None, rules: Rules) -> Any:
    """Tabulate labels in memory."""
    _check_arrays(given)
    y_true, y_pred, sample_weight, by, cluster = (
        given.y_true,
        given.y_pred,
        given.sample_weight,
        given.by,
        given.cluster,
    )
    if given.blocks is not None:
        _refuse_with_blocks(cluster, key, resampled)
    names = _predictions(y_pred, "y_pred", rules)
    preds = {f"y_pred[{name!r}]": own for name, own in zip(names, y_pred.values(), strict=True)} if names else None
    sides = {"y_true": y_true, **(preds or {"y_pred": y_pred})}
    plain = by is cluster is None and key is None and resampled is None
    if not (plain and type(y_true) is type(y_pred) is np.ndarray):
        refuse_nodata({**sides, "sample_weight": sample_weight})
        own = {"cluster": cluster} if key is None else dict(zip(key.names, key.columns, strict=True))
        more = {} if resampled is None else {"replicates": resampled.columns}
        check_aligned({**sides, "sample_weight": sample_weight, "by": by, **own, **more})
    columns = [label_column(own, name, 0, rules.skip_missing) for name, own in sides.items()]
    truth = columns[0].values
    check_shapes(columns, list(getattr(y_pred, "columns", ())))
    clusters = None if given.blocks is None else keys_of_blocks(given.blocks, truth.shape)
    weights = sample_weight
    if not (weights is None or no_array(weights)):
        weights = weight_array(sample_weight)
        if weights.shape != truth.shape:
            weights = along_dims(sample_weight, y_true, weights)
    if is_matrix(weights, truth):
        from .matrix import tabulate_matrix

        if by is not None or cluster is not None or key is not None or resampled is not None or names:
            word = "several predictions" if names else "by=" if by is not None else "cluster="
            word = "strata" if key is not None else "replicates=" if resampled is not None else word
            raise InputTypeError(
                "a weight matrix works for one prediction without groups or clusters; "
                f"with {word} give one weight per row."
            )
        return tabulate_matrix(columns, weights, rules, given.threads)[0]
    weights = None if weights is None else fitted(weights, truth.shape, not names)
    parts = WHOLE
    if key is not None:
        from .designs import keys_in_arrays

        parts = Parts(keys_of_rows(by, "by", truth.shape), keys_in_arrays(key, truth.shape))
    elif by is not None or cluster is not None or clusters is not None:
        clusters = clusters or keys_of_rows(cluster, "cluster", truth.shape)
        parts = Parts(keys_of_rows(by, "by", truth.shape), clusters)
    if resampled is None:
        drawn = PIXELS if math.prod(truth.shape) > truth.shape[0] else ROWS  # items of more than one label are images
        found = tabulate_arrays(columns, weights, rules, given.threads, parts=parts, drawn=drawn, names=names)
        if (
            truth.ndim == 2
            and clusters is None
            and look_like_outputs(*truth.shape)
            and {0, 1}.issuperset(found.classes)
        ):
            warn_of_outputs(truth.shape[1], "y_true", "y_pred", ".ravel()", "[None]")
        return found
    from .replicates import replicates_in_arrays, with_replicates

    several = replicates_in_arrays(resampled.columns, truth.shape)
    found = tabulate_arrays(columns, weights, rules, given.threads, parts=parts, names=names, replicates=several)
    return with_replicates(found, resampled.drawn(len(several)))


def _refuse_with_blocks(cluster: Any, key: KeyColumns | None, resampled: ReplicateWeights | None) -> None:
    """Refuse keywords that say how rows were drawn, where blocks say it."""
    word = "replicates=" if resampled is not None else "stratum=, population= and the like" if key is not None else None
    word = "cluster=" if cluster is not None else word
    if word is not None:
        raise InputTypeError(
            f"blocks= makes clusters of the pixels; it does not work with {word}.", "give one of them.", "blocks"
        )


def _with_names(table: Tabled, names: Mapping[Any, Any] | None) -> Tabled:
    """Give the classes of a table, or of tables, their names, if they have any."""
    if names is None:
        return table
    nameless = next((label for label in table.classes if label not in names), None)
    if nameless is not None:
        raise InputError(
            f"names= has no name for the class {nameless!r}.",
            "add it to names=; if it is not a class, list it in ignore=.",
        )
    return table.rename({label: names[label] for label in table.labels if label in names})


# ---- what the caller gave -------------------------------------------------------------------------------


def _bound(given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Arguments by their names; positions are those of y_true, y_pred and sample_weight."""
    if not named and len(given) <= POSITIONS:
        return dict(zip(KEYWORDS, given, strict=False))
    for name in named:
        if name not in KEYWORDS:
            if name == "data":
                how = "the frame or file comes first, without a keyword: tabulate(data, true=…, pred=…)."
                raise InputTypeError("tabulate() has no keyword 'data'.", how)
            if name == "nodata":
                how = f"say it of each raster: wmcc.raster(path, nodata={named[name]!r})."
                raise InputTypeError("tabulate() has no keyword 'nodata'.", how)
            raise unknown_keyword("tabulate()", name, KEYWORDS)
    placed = dict(zip(KEYWORDS, given[:POSITIONS], strict=False))
    twice = placed.keys() & named.keys()
    if twice or len(given) > POSITIONS:
        if len(given) > 1 and _names_columns(given[0], given[1]):
            raise _by_keyword(*given[:3], *given[3:4] or [named.get("sample_weight", named.get("weight"))])
        if len(given) == 1 and isinstance(named["y_true"], str):
            raise _by_keyword(given[0], *map(named.get, ("y_true", "y_pred", "sample_weight")))
        raise InputTypeError(
            f"{min(twice)} is given by position and by keyword."
            if twice
            else f"{len(given)} arguments are given by position; they are y_true, y_pred and sample_weight.",
            "give all others by keyword; several predictions are a mapping from names.",
        )
    return placed | named


def _names_columns(data: Any, name: Any) -> bool:
    """Whether this is a frame or a file, and the next argument names a column, or is an expression."""
    if isinstance(name, str) or (hasattr(name, "alias") and not hasattr(name, "__len__")):
        return True
    return isinstance(name, (int, np.integer)) and (
        isinstance(data, (str, os.PathLike)) or hasattr(type(data), "columns")
    )


def _by_keyword(data: Any, *columns: Any) -> InputTypeError:
    """Say how labels, or the columns of a frame or file, are given."""
    if not (isinstance(data, (str, os.PathLike)) or hasattr(type(data), "columns")) and not isinstance(columns[0], str):
        came = "nothing" if data is None else f"a {type(data).__name__}"
        return InputTypeError(
            f"expected true and predicted labels; got {came} alone.",
            "write tabulate(y_true, y_pred), or tabulate(data, true=…, pred=…) of a frame or file.",
        )
    names = [repr(x) if isinstance(x, (str, int)) else "…" for x in columns if x is not None]
    roles = zip(("true", "pred", "weight"), [*names, *["…"] * (2 - len(names))], strict=False)
    shown = ", ".join(f"{role}={name}" for role, name in roles)
    return InputTypeError("the columns of a frame or file are named by keyword.", f"write tabulate(data, {shown}).")


def _map_of(given: Any, name: str, band: int | None = None) -> Any:
    """Return the raster of a Dataset of xarray, which has one map; all else as it is."""
    if not is_dataset(given):
        return given
    from ..geo.raster import raster

    return raster(given, band, name=name)


def _predictions(given: Any, name: str, rules: Rules) -> tuple[str, ...]:
    """Return the names of predictions that are given as a mapping; none for a single one without a name."""
    if not isinstance(given, Mapping):
        if name == "pred" and isinstance(given, (list, tuple)):
            raise InputTypeError(
                f"pred is a {type(given).__name__} of columns; several predictions are given as a mapping from names.",
                "for instance pred={'A': 'model_a', 'B': 'model_b'}.",
            )
        return ()
    names = tuple(map(str, given))
    if not names or len(set(names)) < len(names) or {type(x) for x in given} - {str, int}:
        raise InputError(
            f"{name} is a mapping with the names {list(given)!r}; expected different strings, at least one."
        )
    if rules.positive is not None:
        raise InputTypeError("positive= works with one prediction; several were given.")
    return names


__all__ = ["Accumulator", "tabulate"]

"""What a call of `wmcc.tabulate` is told of its data, its rows and their design, beside labels and weights.

Each value checks itself when it is made, and declares its parameters once: the command line's options are these.
"""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import wraps
from typing import Any, Literal, TypeGuard, TypeVar, get_args

from ..core.design import Freedom, Lonely, Method
from ..errors import InputError, InputTypeError, unknown_keyword
from ..present.text import brief

Unit = Literal["ha", "km2", "m2"]
Engine = Literal["arrow", "polars", "duckdb"]
Unmatched = Literal["error", "ignore"]
Uncovered = Literal["class", "error"]


def check_choice(name: str, given: object, choices: Any) -> None:
    """Refuse what is not among the values of a `Literal`."""
    if given not in get_args(choices):
        *others, last = map(repr, get_args(choices))
        expected = f"one of {', '.join(others)} or {last}" if len(others) > 1 else f"{others[0]} or {last}"
        raise InputError(f"`{name}` is {brief(given)}; expected {expected}.", argument=name)


# ---- how rows were drawn ----------------------------------------------------------------------------------

V = TypeVar("V")


def with_synonyms(value: type[V]) -> type[V]:
    """Decorate a value so that it says which keyword is meant by one that it does not have."""
    made: Any = value.__init__
    known = [field.name for field in fields(value)]  # type: ignore[arg-type]

    @wraps(made)
    def checked(self: Any, *args: Any, **given: Any) -> None:
        for name in given:
            if name not in known:
                raise unknown_keyword(f"wmcc.{value.__name__}", name, known)
        made(self, *args, **given)

    value.__init__ = checked  # type: ignore[method-assign]
    return value


@with_synonyms
@dataclass(frozen=True, eq=False)
class Strata:
    """The strata that a sample was drawn in: the ``design`` of `wmcc.tabulate`.

    Standard errors are then those of the design. Clusters, if there are any, were drawn in the strata. Groups of ``by``
    are domains: the table of each keeps the design of the whole sample.

    Parameters
    ----------
    stratum
        The stratum of each row (a map class, a region), given in the same way as ``by``. None: the sample is one
        stratum.
    population
        The size of each stratum, an area or a number of units: a mapping from strata, a frame whose last column has the
        sizes and whose others have the strata, or a column of the data (with arrays, a number per row). ``"map"``: the
        areas, in hectares, of the classes of the map that an `Overlay` lays over points; ``stratum`` is the column of
        its classes, ``"class"`` of a raster. Without strata it is one number. If there are no weights, each row weighs
        the size of its stratum divided by the number of its sampled rows.
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
    df
        ``"design"``: standard errors have as many degrees of freedom as there are sampled units less strata, as
        textbooks and other programs have it, for those who must report it. None: fewer where clusters or strata are
        uneven; intervals by the textbook's number are then too short (docs/understand/coverage.md).

    Examples
    --------
    >>> import wmcc
    >>> design = wmcc.Strata(["west", "west", "east", "east"], population={"west": 5200, "east": 800})
    >>> table = wmcc.tabulate(["oak", "elm", "elm", "elm"], ["oak", "oak", "elm", "elm"], design=design)
    >>> wmcc.accuracy(table)
    0.5666666666666667
    """

    stratum: Any = None
    _: KW_ONLY
    population: Any = None
    fpc: Any = False
    lonely: Lonely = "error"
    nested: bool = True
    df: Freedom | None = None

    def __post_init__(self) -> None:
        """Refuse what does not go together."""
        check_choice("lonely", self.lonely, Lonely)
        if not (self.df is None or self.df == "design"):
            raise InputError.of("df", self.df, "'design' or None", "a number is for `wmcc.Replicates`.")
        if not isinstance(self.nested, bool):
            raise InputError(f"`nested` is {brief(self.nested)}; expected True or False.", argument="nested")
        if self.fpc is True and self.population is None:
            raise InputTypeError(
                "`fpc` is True, which needs `population`: the number of units that each stratum has.",
                "give `population`, or give these numbers as `fpc` itself.",
                "fpc",
            )

    def of(self, stratum: Any) -> Strata:
        """Return the same design with these strata of rows: ``update(…, design=strata.of(keys))`` of a stream."""
        return replace(self, stratum=stratum)

    @property
    def says_nothing(self) -> bool:
        """Whether rows are as independent rows are."""
        nothing_given = self.stratum is None and self.population is None and self.df is None
        return nothing_given and (self.fpc is None or self.fpc is False)


@with_synonyms
@dataclass(frozen=True, eq=False)
class PostStrata:
    """Groups of rows whose totals in the population are known: the ``design`` of `wmcc.tabulate`.

    The weights are scaled to these totals, and standard errors take account of it. The weights of rows that ``ignore``
    leaves out are not read, so the totals are those of all others.

    Parameters
    ----------
    poststratum
        The post-stratum of each row, given in the same way as ``by``.
    totals
        The total of each post-stratum, given as the ``population`` of `wmcc.Strata`.
    design
        The strata that the sample was drawn in, if it was: a `wmcc.Strata`.

    Examples
    --------
    >>> import wmcc
    >>> design = wmcc.PostStrata(["young", "old", "old"], {"young": 60, "old": 40})
    >>> wmcc.tabulate([1, 1, 0], [1, 0, 0], design=design).total
    100.0
    """

    poststratum: Any
    totals: Any
    _: KW_ONLY
    design: Strata | None = None

    def __post_init__(self) -> None:
        """Refuse what is no design, and what lacks one of the two."""
        for name in ("poststratum", "totals"):
            if getattr(self, name) is None:
                raise InputTypeError(
                    f"`{name}` of `PostStrata` is None; expected "
                    + ("the key of each row." if name == "poststratum" else "the known total of each post-stratum."),
                    argument=name,
                )
        if not (self.design is None or isinstance(self.design, Strata)):
            raise InputTypeError(
                f"the `design` of `PostStrata` is {brief(self.design)}; expected a `wmcc.Strata`.", argument="design"
            )

    def of(self, poststratum: Any, stratum: Any = None) -> PostStrata:
        """Return the same design with these post-strata, and these strata, of rows."""
        design = self.design if stratum is None else (self.design or Strata()).of(stratum)
        return replace(self, poststratum=poststratum, design=design)


@with_synonyms
@dataclass(frozen=True, eq=False)
class Replicates:
    r"""Replicate weights, which many surveys ship in place of their strata and clusters.

    They are R columns, each with a weight for every row: finite numbers of at least 0, of which many may be 0. All are
    tabulated in the same pass over the rows, exactly. The variance of a score θ is Σ a_r (θ_r − θ)², with θ_r the score
    by the r-th replicate weights, and θ that by the weights themselves, which must be given too. Negative replicate
    weights, which some agencies publish, are not supported.

    Parameters
    ----------
    replicates
        Of a frame or file a list of columns, or a pattern that their names match, such as ``"rw*"``; with arrays an
        array of N x R, a list of R arrays, or a mapping from names.
    method
        How they were made, which gives a_r. ``"jk1"``: jackknife without strata, (R − 1) / R. ``"jkn"``: jackknife in
        strata, for which ``scales`` has the factors. ``"brr"``: balanced repeated replication, 1 / R. ``"fay"``: Fay's
        variant of it, 1 / (R (1 − k)²) with the coefficient k given as ``fay``. ``"bootstrap"``: 1 / (R − 1).
        ``"sdr"``: successive differences, 4 / R.
    scales
        The factors a_r themselves: one for each replicate, or one number for all. With ``"jkn"`` they are (m − 1) / m,
        m the number of clusters in the stratum of which the replicate leaves one out. Without ``method`` they are for
        replicate weights of any other kind.
    fay
        The coefficient k of ``"fay"``, of at least 0 and below 1.
    df
        Degrees of freedom: the number of the survey's clusters less that of its strata, which its documentation names.
        Without it they are R − 1, which is too many if there are more replicates than that.

    Examples
    --------
    >>> import polars as pl, wmcc
    >>> survey = pl.DataFrame({"y": [0, 1, 1], "pred": [0, 1, 0], "w": [3, 2, 2], "rw1": [6, 0, 4], "rw2": [0, 4, 0]})
    >>> wmcc.tabulate(survey, true="y", pred="pred", weight="w", design=wmcc.Replicates("rw*", "brr"))
    Table of 2 classes: 3 rows with 2 replicate weights, total weight 7
    true \ predicted  0  1
    0                 3  0
    1                 2  2
    """

    replicates: Any
    method: Method | None = None
    _: KW_ONLY
    scales: Any = None
    fay: float | None = None
    df: float | None = None

    def __post_init__(self) -> None:
        """Refuse what does not go together."""
        method = self.method
        if self.replicates is None:
            raise InputTypeError("`replicates` is None; expected columns of replicate weights.", argument="replicates")
        if method is None and self.scales is None:
            raise InputTypeError(
                "`Replicates` needs `method`, which says how the replicate weights were made.",
                f"give `method` one of {', '.join(map(repr, get_args(Method)))}; or `scales`, the factor of each "
                "squared deviation. The documentation of the survey names the method.",
                "method",
            )
        if method is not None and method not in get_args(Method):
            raise InputError(
                f"`method` is {str(method)[:40]!r}; expected one of {', '.join(map(repr, get_args(Method)))}.",
                meant_method(method)
                or "for weights of another method give the factor of each squared deviation as `scales`.",
                "method",
            )
        if method == "jkn" and self.scales is None:
            raise InputTypeError(
                "`method` is 'jkn', which needs `scales`: the factor (m - 1) / m of each replicate, m the number of "
                "clusters in the stratum that lost one.",
                argument="scales",
            )
        if self.scales is not None and method not in (None, "jkn"):
            raise InputTypeError(
                f"`method` is {method!r}, which has a factor of its own; `scales` was given as well.",
                "leave one of them out.",
                "scales",
            )
        if (method == "fay") != (self.fay is not None):
            raise InputTypeError(
                "`method` is 'fay', which needs `fay`, its coefficient: often 0.3 or 0.5."
                if self.fay is None
                else f"`fay` is for `method` 'fay'; `method` is {method!r}.",
                argument="fay",
            )
        if self.fay is not None and not (is_number(self.fay) and 0 <= self.fay < 1):
            raise InputError(f"`fay` is {self.fay!r}; expected a number of at least 0 and below 1.", argument="fay")
        if self.df is not None and not (is_number(self.df) and 1 <= self.df < math.inf):
            raise InputError(
                f"`df` is {self.df!r}; expected a number of at least 1: the clusters of the survey less its strata.",
                argument="df",
            )


def meant_method(given: object) -> str | None:
    """Say which method of replicate weights was probably meant, by the names of other programs."""
    name = "".join(x for x in str(given).casefold() if x.isalnum())
    names = {"jackknife": "jkn", "jk": "jkn", "boot": "bootstrap", "fays": "fay", "faysbrr": "fay", "acs": "sdr"}
    found = names.get(name, name)
    return f"did you mean {found!r}?" if found in get_args(Method) else None


def is_number(value: object) -> TypeGuard[float]:
    """Whether this is a real number, and no boolean."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether this is a whole number, and no boolean."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


Design = Strata | PostStrata | Replicates


@dataclass(frozen=True)
class Blocks:
    """Square blocks of pixels as clusters: the ``cluster`` of `wmcc.tabulate` for rasters and label maps.

    Blocks should be larger than the patches in which a map is wrong. Of a stack of label maps, (B, H, W), they are
    blocks of each. Give several rasters in one call, as lists: if their tables are merged later, blocks at the same row
    and column are one cluster.

    Parameters
    ----------
    rows
        The side of a block in pixels, or its rows.
    columns
        Its columns; as many as rows if this is None.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.tabulate([[0, 0, 1, 1]] * 4, [[0, 1, 1, 1]] * 4, cluster=wmcc.Blocks(2)).drawn.clusters
    ((0, 0), (0, 1), (1, 0), (1, 1))
    """

    rows: int
    columns: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no number of pixels."""
        for name, side in (("rows", self.rows), ("columns", self.sides[1])):
            if not is_whole(side) or side < 1:
                raise InputError(
                    f"`{name}` of `Blocks` is {brief(side)}; expected the side of a block in pixels.",
                    "for instance `Blocks(64)`, or `Blocks(64, 128)`.",
                    "blocks",
                )

    @property
    def sides(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.rows if self.columns is None else self.columns


@dataclass(frozen=True)
class Area:
    r"""Areas as weights: the ``weight`` of polygons, or the ``sample_weight`` of rasters.

    They are areas on the ellipsoid of the coordinate reference system. The word ``"area"`` is short for ``Area("ha")``,
    but takes a column of this name if the data have one.

    Parameters
    ----------
    unit
        ``"ha"``, ``"km2"`` or ``"m2"``.

    Examples
    --------
    >>> import geopandas, shapely, wmcc
    >>> squares = [shapely.box(10, 50, 10.01, 50.01), shapely.box(10.01, 50, 10.02, 50.01)]
    >>> classes = {"ref": ["oak", "elm"], "map": ["oak", "oak"]}
    >>> parcels = geopandas.GeoDataFrame(classes, geometry=squares, crs="EPSG:4326")
    >>> wmcc.tabulate(parcels, true="ref", pred="map", weight=wmcc.Area("km2"))
    Table of 2 classes: 2 rows, total weight 1.59477
    true \ predicted  elm      oak
    elm                 0  0.79738
    oak                 0  0.79738
    """

    unit: Unit = "ha"

    def __post_init__(self) -> None:
        """Refuse an unknown unit."""
        check_choice("unit", self.unit, Unit)


# ---- what the data are --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Files:
    """Files of tables, and what reads them: the first argument of `wmcc.tabulate`.

    A plain path is short for ``Files(path)``.

    Parameters
    ----------
    paths
        A name, a pattern, a folder, or a list of these.
    engine
        ``"arrow"``: batches through the exact kernel, in bounded memory. ``"polars"`` or ``"duckdb"``: one group-by in
        this engine, whose sums are as exact as the engine's. All read the named columns of CSV files as text; labels
        that all look like integers become integers.

    Examples
    --------
    >>> import os, tempfile, polars as pl, wmcc
    >>> path = os.path.join(tempfile.mkdtemp(), "parcels.csv")
    >>> pl.DataFrame({"label": [0, 1, 1], "pred": [0, 1, 0], "ha": [2.5, 1.0, 4.0]}).write_csv(path)
    >>> wmcc.tabulate(wmcc.Files(path, engine="polars"), true="label", pred="pred", weight="ha").total
    7.5
    """

    paths: Any
    _: KW_ONLY
    engine: Engine = "arrow"

    def __post_init__(self) -> None:
        """Refuse what names no files, and an unknown engine."""
        several = self.paths if isinstance(self.paths, (list, tuple)) else [self.paths]
        if not several or not all(isinstance(x, (str, os.PathLike)) for x in several):
            raise InputTypeError(
                f"`paths` of `Files` is of type {type(self.paths).__name__}; expected the name of a file, a pattern, a "
                "folder, or a list of these.",
                "a frame is given to `wmcc.tabulate` as it is." if hasattr(self.paths, "columns") else None,
                "paths",
            )
        if self.engine in ("dask", "pyspark", "spark", "pandas", "pyarrow"):
            raise InputError(
                f"`engine` is {self.engine!r}; expected one of {', '.join(map(repr, get_args(Engine)))}.",
                "read the files with it, and give the frame to `wmcc.tabulate` as it is.",
                "engine",
            )
        check_choice("engine", self.engine, Engine)


@dataclass(frozen=True, eq=False)
class Join:
    """Truth and predictions in two frames or files with a common key: the first argument of `wmcc.tabulate`.

    Keys that are missing or come twice are refused. The weight, replicate weights and groups are columns of either.

    Parameters
    ----------
    truth, prediction
        Two frames, or two paths or `wmcc.Files`.
    on
        The column, or columns, that identify a row in both.
    unmatched
        What to do with keys without a partner: ``"error"`` refuses them, ``"ignore"`` counts them as ignored.

    Examples
    --------
    >>> import pandas as pd, wmcc
    >>> truth = pd.DataFrame({"id": [1, 2], "label": ["oak", "elm"]})
    >>> answers = pd.DataFrame({"id": [2, 1], "pred": ["elm", "elm"]})
    >>> wmcc.accuracy(wmcc.tabulate(wmcc.Join(truth, answers, on="id"), true="label", pred="pred"))
    0.5
    """

    truth: Any
    prediction: Any
    on: Any
    _: KW_ONLY
    unmatched: Unmatched = "error"

    def __post_init__(self) -> None:
        """Refuse an unknown choice."""
        check_choice("unmatched", self.unmatched, Unmatched)
        odd = next((x for x in (self.truth, self.prediction) if isinstance(x, (Join, Overlay))), None)
        if odd is not None:
            raise InputTypeError(
                f"a side of `Join` is of type `{type(odd).__name__}`; expected a frame, or files.",
                "rows are matched by a key, or by their place.",
            )
        if self.on is None:
            raise InputTypeError("`on` is None; expected the column that identifies a row in both.", argument="on")


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer of polygons or points that needs a word: the first argument of `wmcc.tabulate`, or a side of `Overlay`.

    A plain path or GeoDataFrame is short for ``Layer(data)``.

    Parameters
    ----------
    data
        A file of polygons or points, a GeoDataFrame, or a frame or file with columns of coordinates.
    layer
        The layer of a file that has several.
    xy
        The columns of coordinates of points that are in a table, such as ``("lon", "lat")``. They need ``crs``.
    crs
        The coordinate reference system of data that do not say theirs, such as ``"EPSG:25832"``.

    Examples
    --------
    >>> import geopandas, pandas as pd, shapely, wmcc
    >>> land = geopandas.GeoDataFrame({"map": ["oak"]}, geometry=[shapely.box(10, 50, 11, 51)], crs="EPSG:4326")
    >>> points = pd.DataFrame({"ref": ["oak", "elm"], "lon": [10.2, 10.8], "lat": [50.5, 50.5]})
    >>> layer = wmcc.Layer(points, xy=("lon", "lat"), crs="EPSG:4326")
    >>> wmcc.accuracy(wmcc.tabulate(wmcc.Overlay(layer, land), true="ref", pred="map"))
    0.5
    """

    data: Any
    layer: str | None = None
    _: KW_ONLY
    xy: tuple[str, str] | None = None
    crs: Any = None


@dataclass(frozen=True, eq=False)
class Overlay:
    r"""A map that is laid over a reference: the first argument of `wmcc.tabulate`.

    The reference has polygons, or points with a true label; ``true`` is a column of it, and ``pred`` one of the map.
    Polygons are cut where they intersect; each piece is a row, and all pieces of a polygon of the reference are a
    cluster. The weight of a polygon, its area or another, is divided among its pieces in proportion to their areas. A
    point has the class of the polygon that it lies in; or of the pixel, if the map is a raster, which needs no
    ``pred``. On a border it is that of the polygon that comes first, and of the pixel to the right or below. Columns
    for ``by``, strata and the like are of the reference, or else of the one map that has them. The classes of a raster
    are called ``"class"``, and those of one of several maps have the name of the map. If one side has names of classes
    and another numbers, ``names`` of `wmcc.tabulate` says what the numbers stand for, or the raster itself.

    Parameters
    ----------
    reference
        A layer: a path, a GeoDataFrame, or a `wmcc.Layer`.
    map
        A layer, or over points also a raster; several maps over points are a mapping from names.
    uncovered
        What to do with parts of the reference that the map does not cover. ``"class"`` counts them as errors, in a
        column of their own that is no class (`Table.void`); ``"error"`` refuses them.
    sliver
        The smallest piece of two layers that counts, in square metres. Smaller ones are left out; a warning says how
        many they are, and how large together.

    Examples
    --------
    >>> import geopandas, shapely, wmcc
    >>> squares = [shapely.box(10, 50, 10.01, 50.01), shapely.box(10.01, 50, 10.02, 50.01)]
    >>> reference = geopandas.GeoDataFrame({"ref": ["oak", "elm"]}, geometry=squares, crs="EPSG:4326")
    >>> land = geopandas.GeoDataFrame({"map": ["oak"]}, geometry=[shapely.box(10, 50, 10.02, 50.01)], crs="EPSG:4326")
    >>> wmcc.tabulate(wmcc.Overlay(reference, land), true="ref", pred="map", weight="area")
    Table of 2 classes: 2 rows in 2 clusters, total weight 159.477
    true \ predicted  elm      oak
    elm                 0  79.7383
    oak                 0  79.7383
    """

    reference: Any
    map: Any
    _: KW_ONLY
    uncovered: Uncovered = "class"
    sliver: float = 0.0

    def __post_init__(self) -> None:
        """Refuse an unknown choice, and a sliver that is no area."""
        check_choice("uncovered", self.uncovered, Uncovered)
        if not (is_number(self.sliver) and 0 <= self.sliver < math.inf):
            raise InputError(
                f"`sliver` is {brief(self.sliver)}; expected an area in square metres of at least 0.", argument="sliver"
            )
        if isinstance(self.map, Mapping) and not self.map:
            raise InputError("`map` is an empty mapping; expected maps by their names.", argument="overlay")

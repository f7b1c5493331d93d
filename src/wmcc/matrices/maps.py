"""Neighbours on maps: polygons that touch and pixels side by side, and the score under their weight matrix."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.sparse import csr_array

from ..core.arraytypes import Array, FloatArray
from ..core.labels import SKIP_MISSING
from ..core.memory import available
from ..core.sums import bad_weight
from ..errors import InputError, InputTypeError, LabelError, MapWarning
from ..measures.base import ZeroDivision
from ..optional import module
from ..present.text import brief
from ..sources.codes import make_rules
from ..sources.columns import fitted, place, weight_array
from ..sources.layers import as_layer
from ..sources.map_cells import NODATA, Plain
from ..sources.matrix import pair_tables
from ..sources.recognised import as_area, is_raster
from .correlation import MatrixScore, score, score_of_pairs
from .neighbours import from_adjacency, grid

if TYPE_CHECKING:
    from ..geo.layers import OpenLayer

PAIRS = 1 << 13
"""Pairs of polygons whose common borders a thread finds at a time."""

STRIP = 1 << 18
"""Pixels whose rows of the matrix are made at a time."""

BYTES = 64
"""Memory that it takes to score a pixel."""

ROUNDING, EARTH = 1e-12, 6.4e6
"""Length of a border that may be the rounding of a corner, by the size of coordinates; of those in degrees, metres."""


def touching(
    polygons: Any,
    *,
    corner: bool = False,
    border: bool = False,
    gap: float = 0.0,
    credit: float = 0.5,
    weight: Any = None,
) -> csr_array:
    """Weight matrix in which each polygon shares with those it has a common border with.

    The common border of two polygons is where they are at most ``gap`` apart; its length is the mean of what each of
    them has there. Polygons that overlap are neighbours, too: what each has of its outline within the other counts as
    border. Polygons without neighbours count by themselves. In degrees, polygons on the two sides of the antimeridian
    are not seen to touch.

    Parameters
    ----------
    polygons
        A GeoDataFrame, a GeoSeries, an array or list of shapely polygons, a file of polygons, or a `wmcc.Layer`.
    corner
        Whether polygons that meet in a corner are neighbours too.
    border
        Whether the credit is divided among neighbours in proportion to the length of the common border, rather than
        equally. Of polygons in degrees these are lengths on the ellipsoid.
    gap
        How far apart two polygons may be and still touch, in the unit of their coordinate reference system. A common
        border must then be longer than 10 times the gap, which tells it from a corner.
    credit
        What the neighbours of a polygon count together, if it counts 1 itself: 0 ≤ credit < 1.
    weight
        ``"area"`` or `wmcc.Area`, the name of a column, or one positive, finite number per polygon; None is ones. It is
        the diagonal of S.

    Returns
    -------
    scipy.sparse.csr_array
        N x N, symmetric to the bit, non-negative and positive definite: see `wmcc.matrices`.

    Warns
    -----
    MapWarning
        No two polygons touch, or some were invalid and had to be repaired.

    Examples
    --------
    >>> import shapely
    >>> from wmcc import matrices
    >>> parcels = [shapely.box(0, 0, 3, 4), shapely.box(3, 0, 5, 1), shapely.box(3, 1, 5, 4)]
    >>> matrices.touching(parcels).toarray()
    array([[1.  , 0.25, 0.25],
           [0.25, 1.  , 0.25],
           [0.25, 0.25, 1.  ]])
    >>> matrices.touching(parcels, border=True).toarray().round(2)
    array([[1.  , 0.14, 0.34],
           [0.14, 1.  , 0.26],
           [0.34, 0.26, 1.  ]])
    """
    found, w = _polygons(polygons, weight, ())
    return _touching(found, corner, border, gap, credit, w)


def score_polygons(
    data: Any,
    *,
    true: str,
    pred: str,
    weight: Any = None,
    corner: bool = False,
    border: bool = False,
    gap: float = 0.0,
    credit: float = 0.5,
    missing: Literal["error", "ignore"] = "error",
    ignore: Any = None,
    zero_division: ZeroDivision = 0.0,
) -> MatrixScore:
    """Score a map of polygons, with part of the credit for classes that touching polygons have.

    It is `score` under the matrix that `touching` makes of the polygons.

    Parameters
    ----------
    data
        A GeoDataFrame, a file of polygons, or a `wmcc.Layer`.
    true, pred
        The columns of true and predicted labels.
    weight, corner, border, gap, credit
        As for `touching`.
    missing
        What to do with polygons whose true or predicted label is missing: ``"error"`` refuses them, ``"ignore"`` leaves
        them out.
    ignore
        A true label, or several, whose polygons are left out; as are polygons of weight 0. What is left out is no
        neighbour of others.
    zero_division
        What an undefined value is: as for the measures.

    Returns
    -------
    MatrixScore

    Examples
    --------
    >>> import geopandas, shapely
    >>> from wmcc import matrices
    >>> parcels = geopandas.GeoDataFrame(
    ...     {"ref": ["field", "field", "wood", "wood"], "map": ["field", "wood", "wood", "wood"]},
    ...     geometry=[shapely.box(x, 5e6, x + 100, 5e6 + 200) for x in (5e5, 500100, 500200, 500300)],
    ...     crs="EPSG:25832",
    ... )
    >>> matrices.score_polygons(parcels, true="ref", pred="map", weight="area")
    2 classes, 10 entries of a weight matrix, total weight 11.8379
    Measure  Normalised  Literal
    MCC          0.7349   0.5448
    """
    found, w = _polygons(data, weight, (true, pred))
    labels = [found.frame[name] for name in (true, pred)]
    rules = make_rules(ignore=ignore, missing=missing)
    out = np.array(labels[0].isin(rules.ignore))
    for name, own in zip((true, pred), labels, strict=True):
        lost = np.array(own.isna()) & ~out
        if lost.any() and not rules.skip_missing:
            row = int(np.argmax(lost))
            raise LabelError(
                f"`{name}` of {found.name} is missing in row {row}; every polygon needs a label.", SKIP_MISSING
            )
        out |= lost
    if w is not None and w.shape == out.shape:
        out |= w == 0
    if out.all():
        raise InputError(f"no polygon of {found.name} has a known true label and a weight above 0; expected one.")
    found = found._replace(geometry=found.geometry[~out])
    S = _touching(found, corner, border, gap, credit, None if w is None else w[~out])
    truth, guess = (own[~out] for own in labels)
    return replace(score(truth, guess, S, zero_division=zero_division), ignored=int(out.sum()))


def score_pixels(
    y_true: Any,
    y_pred: Any,
    sample_weight: Any = None,
    *,
    diagonal: bool = False,
    credit: float = 0.5,
    ignore: Any = None,
    zero_division: ZeroDivision = 0.0,
) -> MatrixScore:
    """Score a map of pixels, with part of the credit for classes that pixels beside them have.

    It is `score` under the matrix that `grid` makes of the pixels whose true label is known; the matrix is never in
    memory as a whole.

    Parameters
    ----------
    y_true, y_pred
        Label maps of the same pixels: rasters as for `wmcc.tabulate`, or arrays of two dimensions. Pixels of the truth
        that are nodata, masked or NaN are left out, and are no neighbours. Such pixels of the map are wrong: they have
        a label of their own.
    sample_weight
        ``"area"`` or `wmcc.Area` of rasters; a raster; an array that broadcasts to the pixels; None is ones. Pixels of
        weight 0 are left out.
    diagonal, credit
        As for `grid`.
    ignore
        A true label, or several, whose pixels are left out.
    zero_division
        What an undefined value is: as for the measures.

    Returns
    -------
    MatrixScore

    Examples
    --------
    >>> import numpy as np
    >>> from wmcc import matrices
    >>> truth = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 255, 255]])
    >>> near, far = truth.copy(), truth.copy()
    >>> near[0, 2], far[0, 0] = 1, 1
    >>> [round(matrices.score_pixels(truth, c, ignore=255).mcc, 3) for c in (truth, near, far)]
    [1.0, 0.867, 0.86]
    """
    truth, known, pred, weight, names, void = _read_pixels(y_true, y_pred, sample_weight)
    for label in make_rules(ignore=ignore).ignore:
        known &= truth != label
    if weight is not None:
        bad = known & ~((weight >= 0) & (weight < np.inf))
        if bad.any():
            row = int(np.argmax(bad))
            raise bad_weight(place("sample_weight", bad, row), float(weight.flat[row]))
        known &= weight > 0
    if not known.any():
        raise InputError("no pixel has a known true label and a weight above 0; expected one.")
    rows = _rows_of_grid(known, diagonal, credit, weight)
    tables = pair_tables(truth[known], pred[known], rows)
    table = tables[0]
    if void is not None and void in table.labels:  # it is the largest, and so the last
        table = replace(table, labels=(*table.labels[:-1], NODATA), void=(NODATA,))
    if names.keys() >= {*table.classes}:
        table = table.rename({x: names[x] for x in table.classes})
    found = score_of_pairs([table, *tables[1:]], zero_division)
    return replace(found, ignored=known.size - int(known.sum()))


# ---- polygons -------------------------------------------------------------------------------------------


def _polygons(data: Any, weight: Any, columns: tuple[str, ...]) -> tuple[OpenLayer, FloatArray | None]:
    """Read polygons with some columns, repair them, and return their weights, too."""
    from ..geo.areas import polygon_areas
    from ..geo.layers import column_names, no_crs, read_layer, repaired

    given = as_layer(data)
    data = given.data
    if not (isinstance(data, (str, os.PathLike)) or hasattr(data, "crs")):
        shapes = list(data) if isinstance(data, Iterable) else [data]
        if not all(x is None or isinstance(x, module("shapely").Geometry) for x in shapes):
            raise InputTypeError(
                f"`polygons` is a {type(data).__name__}; expected polygons of shapely or geopandas, or a file.",
                argument="polygons",
            )
        data = module("geopandas").GeoSeries(shapes)
    area = as_area(weight, lambda: column_names(data, given.layer))
    named = (weight,) if isinstance(weight, str) and area is None else ()
    layer = repaired(read_layer(data, layer=given.layer, crs=given.crs, columns=(*columns, *named)))
    if area is None:
        w = layer.frame[weight] if named else weight
        return layer, None if w is None else weight_array(w, "weight").astype(np.float64)
    if layer.crs is None:
        raise no_crs(layer.name, "area")
    return layer, polygon_areas(layer.geometry, layer.crs, area.unit)


def _touching(
    found: OpenLayer, corner: bool, border: bool, gap: float, credit: float, weight: FloatArray | None
) -> csr_array:
    """Weight matrix of polygons that touch."""
    from ..geo.areas import in_threads

    shapely = module("shapely")
    if corner and border:
        raise InputError(
            "`corner` and `border` are both given; a corner has no length that the credit could be divided by.",
            "leave one of them out.",
            "corner",
        )
    degrees = getattr(found.crs, "is_geographic", False)
    if not (isinstance(gap, (int, float)) and 0 <= gap < np.inf):
        raise InputError(f"`gap` is {gap!r}; expected a distance of at least 0.", argument="gap")
    if gap and degrees:
        raise InputError(
            f"`gap` is a distance, and the polygons are in degrees ({found.crs.name}).",
            "project them first: polygons.to_crs(polygons.estimate_utm_crs()).",
            "gap",
        )
    shapes, N = found.geometry, len(found.geometry)
    if not N:
        raise InputError("there are no polygons; expected at least one.", argument="polygons")
    reach = shapely.buffer(shapes, gap) if gap else shapes
    i, j = shapely.STRtree(shapes).query(reach)
    i, j = i[i < j], j[i < j]
    if corner:
        meet = shapely.dwithin(shapes[i], shapes[j], gap) if gap else shapely.intersects(shapes[i], shapes[j])
        length = np.ones(len(i))
    else:
        border_of = partial(_common_border, shapes, reach, found.crs if degrees else None)
        parts = [(i[k : k + PAIRS], j[k : k + PAIRS]) for k in range(0, len(i), PAIRS)]
        length = np.concatenate([np.zeros(0), *in_threads(border_of, parts)])
        size = EARTH if degrees else np.abs(shapely.total_bounds(shapes)).max()
        meet = length > max(10 * gap, ROUNDING * size)
    i, j, length = i[meet], j[meet], length[meet]
    if N > 1 and not len(i):
        warnings.warn(
            f"no two of {N:,} polygons touch, so none gives credit to another. If they are neighbours with gaps "
            "between them, give `gap`, the widest of these gaps.",
            MapWarning,
            stacklevel=3,
        )
    one_way = csr_array((length if border else np.ones(len(i)), (i, j)), shape=(N, N))
    return from_adjacency(one_way + one_way.T, credit=credit, weight=weight)


def _common_border(shapes: Array, reach: Array, degrees: Any, pairs: tuple[Array, Array]) -> FloatArray:
    """Length of the common border of each pair: the mean of what each has of its outline within reach of the other."""
    shapely, (i, j) = module("shapely"), pairs
    if reach is shapes:
        common = shapely.intersection(shapes[i], shapes[j])
        length = _lengths(common, degrees)
        some = np.flatnonzero(shapely.area(common) > 0)  # they overlap
    else:
        length, some = np.zeros(len(i)), np.arange(len(i))
    for a, b in ((i[some], j[some]), (j[some], i[some])):
        length[some] += _lengths(shapely.intersection(shapely.boundary(shapes[a]), reach[b]), degrees) / 2
    return length


def _lengths(lines: Array, degrees: Any) -> FloatArray:
    """Lengths of the lines in each geometry, in the plane or, of those in degrees, in metres on the ellipsoid."""
    shapely = module("shapely")
    parts, of = shapely.get_parts(lines, return_index=True)
    is_line = shapely.get_dimensions(parts) == 1
    parts, of = parts[is_line], of[is_line]
    xy, line = shapely.get_coordinates(parts, return_index=True)
    start = np.flatnonzero(line[1:] == line[:-1])
    a, b = xy[start], xy[start + 1]
    distances = np.hypot(*(a - b).T) if degrees is None else degrees.get_geod().inv(*a.T, *b.T)[2]
    return np.asarray(np.bincount(of[line[start]], distances, len(lines)), dtype=np.float64)


# ---- pixels ---------------------------------------------------------------------------------------------


def _read_pixels(y_true: Any, y_pred: Any, sample_weight: Any) -> tuple[Any, ...]:
    """Return true labels and which are known, those of the map, the weights, names of classes, and what is no class."""
    for name, own in (("y_true", y_true), ("y_pred", y_pred)):
        several = isinstance(own, Mapping) or (isinstance(own, (list, tuple)) and len(own) and is_raster(own[0]))
        if several or (isinstance(own, (str, os.PathLike)) and not (is_raster(own) and is_raster(y_true))):
            raise InputTypeError(
                f"`{name}` is {brief(own)}; expected one raster, or one array of rows and columns.",
                "score several maps one by one; polygons are scored by matrices.score_polygons.",
                name,
            )
    weight, names = sample_weight, dict[Any, str]()
    if is_raster(y_true):
        from ..geo.raster import OpenRaster
        from ..sources.scenes import Scenes

        scene = Scenes(y_true, y_pred, sample_weight, None, None, None)[0]
        _check_pixels(*scene.truth.shape)
        window = tuple(slice(0, n) for n in scene.truth.shape)
        sides: Any = scene.labelled
        names, weight = dict(scene.truth.names or scene.maps[0].names), scene.weight
        if isinstance(weight, OpenRaster):
            weight, weighed = weight.read(*window)
            weight = weight if weighed is None else np.where(weighed, weight, 0)
    else:
        _check_pixels(*np.shape(y_true))
        sides = Plain(y_true, "y_true"), Plain(y_pred, "y_pred")
        if sides[0].shape != sides[1].shape:
            raise InputError(f"`y_true` has shape {sides[0].shape}, and `y_pred` {sides[1].shape}; expected the same.")
        if as_area(weight):
            raise InputTypeError(
                "areas were given as `sample_weight`, and arrays have none.",
                "give rasters, or the areas of pixels: wmcc.Raster(path).pixel_area().",
                "sample_weight",
            )
        window = tuple(slice(0, n) for n in sides[0].shape)
    (truth, known), (pred, in_map) = (own.labels(*window) for own in sides)
    if weight is not None:
        weight = fitted(np.asarray(weight_array(weight), dtype=np.float64), truth.shape, False)
    known = np.ones(truth.shape, dtype=bool) if known is None else known.copy()
    void = None
    if in_map is not None and not in_map[known].all():
        void = 1 + max(int(truth[known].max()), int(pred[in_map].max(initial=0)))
        pred = np.where(in_map, pred, 0).astype(np.int64)
        pred[~in_map] = void
    return truth, known, pred, weight, names, void


def _check_pixels(*shape: int) -> None:
    """Refuse more pixels than there is memory for, before they are read."""
    pixels, free = math.prod(shape), available()
    if BYTES * pixels > free:
        raise InputError(
            f"{pixels:,} pixels with their neighbours need about {BYTES * pixels / 1e9:,.0f} GB of memory, and "
            f"{free / 1e9:,.1f} GB are free.",
            "score a part of the map, or a map of larger pixels.",
            "y_true",
        )


def _rows_of_grid(known: Array, diagonal: bool, credit: float, weight: FloatArray | None) -> Iterator[csr_array]:
    """Rows of the matrix of an image, strip by strip: what a row needs lies at most two rows of pixels away."""
    before = np.concatenate([[0], known.sum(axis=1).cumsum()])
    step = max(1, STRIP // known.shape[1])
    for top in range(0, len(known), step):
        end = min(top + step, len(known))
        if before[top] == before[end]:
            continue
        low, high = max(0, top - 2), min(end + 2, len(known))
        part, own = known[low:high], None if weight is None else weight[low:high]
        S = grid(part.shape, known=part, diagonal=diagonal, credit=credit, weight=own)
        S = S[before[top] - before[low] : before[end] - before[low]]
        yield csr_array((S.data, S.indices + before[low], S.indptr), shape=(S.shape[0], before[-1]))

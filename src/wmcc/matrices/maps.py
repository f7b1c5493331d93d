"""Neighbours on maps: polygons that touch and pixels side by side, and the score under their weight matrix."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ..core.arraytypes import Array, FloatArray
from ..core.labels import SKIP_MISSING
from ..core.memory import available
from ..core.sums import bad_weight
from ..errors import InputError, InputTypeError, LabelError, MapWarning
from ..measures.base import ZeroDivision
from ..optional import module
from ..present.text import counted
from ..sources.codes import make_rules
from ..sources.columns import fitted, place, weight_array
from ..sources.matrix import pair_tables
from ..sources.options import AREA, LAYERS, RASTERS, AreaMethod, RasterOptions, Unit, is_raster, refuse_options
from .correlation import MatrixScore, score, score_of_pairs
from .neighbours import from_adjacency, grid

if TYPE_CHECKING:
    from ..geo.layers import Layer

PAIRS = 1 << 13
"""Pairs of polygons whose common borders a thread finds at a time."""

STRIP = 1 << 18
"""Pixels whose rows of the matrix are made at a time."""

BYTES = 64
"""Memory that it takes to score a pixel."""

ROUNDING, EARTH = 1e-12, 6.4e6
"""Length of a border that may be the rounding of a corner, by the size of coordinates; of those in degrees, metres."""

NODATA = "(nodata)"
"""What the label is called of pixels that the map does not have."""


def touching(
    polygons: Any,
    *,
    corner: bool = False,
    border: bool = False,
    gap: float = 0.0,
    credit: float = 0.5,
    weight: Any = None,
    area: AreaMethod = "geodesic",
    unit: Unit | None = None,
    layer: str | None = None,
    crs: Any = None,
) -> csr_array:
    """Weight matrix in which each polygon shares with those it has a common border with.

    The common border of two polygons is where they are at most ``gap`` apart; its length is the mean of what each of
    them has there. Polygons that overlap are neighbours, too: what each has of its outline within the other counts as
    border. Polygons without neighbours count by themselves. In degrees, polygons on the two sides of the antimeridian
    are not seen to touch.

    Parameters
    ----------
    polygons
        A GeoDataFrame, a GeoSeries, an array or list of shapely polygons, or a file of polygons.
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
        ``"area"``, the name of a column, or one positive, finite number per polygon; None is ones. It is the diagonal
        of S. If there is a column ``area``, it is taken unless ``unit`` is given.
    area, unit
        How areas are computed, and their unit, as for `wmcc.tabulate`.
    layer
        The layer of a file that has several.
    crs
        The coordinate reference system of polygons that do not say theirs.

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
    found = _polygons(polygons, layer, crs, weight, unit, ())
    return _touching(found, corner, border, gap, credit, _weight(found, weight, area, unit))


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
    area: AreaMethod = "geodesic",
    unit: Unit | None = None,
    layer: str | None = None,
    crs: Any = None,
    zero_division: ZeroDivision = 0.0,
) -> MatrixScore:
    """Score a map of polygons, with part of the credit for classes that touching polygons have.

    It is `score` under the matrix that `touching` makes of the polygons.

    Parameters
    ----------
    data
        A GeoDataFrame, or a file of polygons.
    true, pred
        The columns of true and predicted labels.
    weight, corner, border, gap, credit, area, unit, layer, crs
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
    found = _polygons(data, layer, crs, weight, unit, (true, pred))
    labels = [found.frame[name] for name in (true, pred)]
    rules = make_rules(ignore=ignore, missing=missing)
    out = np.array(labels[0].isin(rules.ignore))
    for name, own in zip((true, pred), labels, strict=True):
        lost = np.array(own.isna()) & ~out
        if lost.any() and not rules.skip_missing:
            row = int(np.argmax(lost))
            raise LabelError(f"{name}[{row}] of {found.name} is missing; every polygon needs a label.", SKIP_MISSING)
        out |= lost
    w = _weight(found, weight, area, unit)
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
    band: int | None = None,
    align: Literal["nearest"] | None = None,
    unit: Unit | None = None,
    crs: Any = None,
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
        ``"area"`` (of rasters); a raster; an array that broadcasts to the pixels; None is ones. Pixels of weight 0 are
        left out.
    diagonal, credit
        As for `grid`.
    ignore
        A true label, or several, whose pixels are left out.
    band, align, unit, crs
        Of rasters, as for `wmcc.tabulate`.
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
    options = RasterOptions(band, align, None, unit, crs)
    pixels = _read_pixels(y_true, y_pred, sample_weight, options)
    known = pixels.known
    for label in make_rules(ignore=ignore).ignore:
        known &= pixels.truth != label
    if pixels.weight is not None:
        bad = known & ~((pixels.weight >= 0) & (pixels.weight < np.inf))
        if bad.any():
            row = int(np.argmax(bad))
            raise bad_weight(place("sample_weight", bad, row), float(pixels.weight.flat[row]))
        known &= pixels.weight > 0
    if not known.any():
        raise InputError("no pixel has a known true label and a weight above 0; expected one.")
    rows = _rows_of_grid(known, diagonal, credit, pixels.weight)
    tables = pair_tables(pixels.truth[known], pixels.pred[known], rows)
    table = tables[0]
    if pixels.void in table.labels:  # it is the largest, and so the last
        table = replace(table, labels=(*table.labels[:-1], NODATA), void=(NODATA,))
    if pixels.names.keys() >= {*table.classes}:
        table = table.rename({x: pixels.names[x] for x in table.classes})
    found = score_of_pairs([table, *tables[1:]], zero_division)
    return replace(found, ignored=known.size - int(known.sum()))


# ---- polygons -------------------------------------------------------------------------------------------


def _polygons(
    data: Any, layer: str | None, crs: Any, weight: Any, unit: Unit | None, columns: tuple[str, ...]
) -> Layer:
    """Read polygons, with a column of weights if one is named, and repair them."""
    from ..geo.layers import TEXT, Layer, column_names, known_crs, read_layer, repaired

    is_file = isinstance(data, (str, os.PathLike))
    if is_file and os.fspath(data).lower().removesuffix(".gz").endswith((*TEXT, *RASTERS)):
        raise InputTypeError(
            f"{os.fspath(data)} is no file of polygons.",
            "matrices.nearest and matrices.within take coordinates of points, and matrices.score_pixels rasters.",
            "polygons",
        )
    if is_file or hasattr(data, "crs"):
        if isinstance(weight, str) and (is_file or hasattr(data, "columns")):
            by_column = weight != AREA or (unit is None and AREA in column_names(data, layer))
            columns = (*columns, weight) if by_column else columns
        return repaired(read_layer(data, layer=layer, crs=crs, columns=columns))
    if layer is not None:
        raise InputTypeError("layer= is for files of several layers.", argument="layer")
    shapely, pandas = module("shapely"), module("pandas")
    shapes = np.array(list(data) if isinstance(data, Iterable) else [data], dtype=object)
    if shapes.ndim != 1 or not all(x is None or isinstance(x, shapely.Geometry) for x in shapes):
        raise InputTypeError(
            f"polygons is a {type(data).__name__}; expected polygons of shapely or geopandas, or a file.",
            argument="polygons",
        )
    frame = pandas.DataFrame(index=range(len(shapes)))
    return repaired(Layer(frame, shapes, known_crs(None, crs, "polygons"), "polygons"))


def _weight(found: Layer, weight: Any, area: AreaMethod, unit: Unit | None) -> FloatArray | None:
    """Weights of polygons."""
    if not (isinstance(weight, str) and weight == AREA):
        for name, own, usual in (("area", area, "geodesic"), ("unit", unit, None)):
            if own != usual:
                raise InputTypeError(f"{name}= is for areas as weights: give weight='area'.", argument=name)
    if isinstance(weight, str) and weight in found.frame:
        weight = found.frame[weight]
    if not isinstance(weight, str):
        return None if weight is None else weight_array(weight, "weight").astype(np.float64)
    if weight != AREA:
        raise InputError(f"weight is {weight!r}; expected the word area, or numbers.", argument="weight")
    from ..geo.areas import polygon_areas
    from ..geo.layers import no_crs

    if found.crs is None:
        raise no_crs(found.name, "area")
    return polygon_areas(found.geometry, found.crs, area, unit or "ha")


def _touching(
    found: Layer, corner: bool, border: bool, gap: float, credit: float, weight: FloatArray | None
) -> csr_array:
    """Weight matrix of polygons that touch."""
    shapely = module("shapely")
    if corner and border:
        raise InputError(
            "corner= and border= are both given; a corner has no length that the credit could be divided by.",
            "leave one of them out.",
            "corner",
        )
    degrees = getattr(found.crs, "is_geographic", False)
    if not (isinstance(gap, (int, float)) and 0 <= gap < np.inf):
        raise InputError(f"gap is {gap!r}; expected a distance of at least 0.", argument="gap")
    if gap and degrees:
        raise InputError(
            f"gap= is a distance, and the polygons are in degrees ({found.crs.name}).",
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
        i, j, length = i[meet], j[meet], np.ones(int(meet.sum()))
    else:
        crs = found.crs if degrees else None
        fits = shapely.is_empty(shapely.coverage_invalid_edges(shapes)) if not gap else np.zeros(N, dtype=bool)
        sides = _common_sides(shapes, fits, crs)  # all that polygons have in common that fit together
        rest = ~(fits[i] & fits[j])
        i, j = i[rest], j[rest]
        parts = [slice(k, k + PAIRS) for k in range(0, len(i), PAIRS)]
        border_of = partial(_common_border, shapes, reach, crs)
        with ThreadPoolExecutor() as pool:  # shapely lets others work meanwhile
            lengths = list(pool.map(border_of, (i[k] for k in parts), (j[k] for k in parts)))
        length = np.concatenate([np.zeros(0), *lengths])
        size = EARTH if degrees else np.abs(shapely.total_bounds(shapes)).max()
        meet = length > max(10 * gap, ROUNDING * size)
        i, j, length = map(np.concatenate, zip((i[meet], j[meet], length[meet]), sides, strict=True))
    if N > 1 and not len(i):
        warnings.warn(
            f"no two of {N:,} polygons touch, so none gives credit to another. If they are neighbours with gaps "
            "between them, give gap=, the widest of these gaps.",
            MapWarning,
            stacklevel=3,
        )
    one_way = csr_array((length, (i, j)), shape=(N, N))  # the sum of the sides of a pair
    if not border:
        one_way.data[:] = 1.0
    return from_adjacency(one_way + one_way.T, credit=credit, weight=weight)


def _common_sides(shapes: Array, fits: Array, degrees: Any) -> tuple[Array, Array, FloatArray]:
    """Pairs of polygons that fit together, vertex on vertex, and the length of each side that they have in common."""
    shapely = module("shapely")
    own = np.flatnonzero(fits)
    parts, of = shapely.get_parts(shapes[own], return_index=True)
    rings, part = shapely.get_rings(parts, return_index=True)
    xy, ring = shapely.get_coordinates(rings, return_index=True)
    start = np.flatnonzero(ring[1:] == ring[:-1])
    middle = (xy[start] + xy[start + 1]) @ [1, 1j]  # the same number from both sides
    order = np.argsort(middle)
    twice = np.flatnonzero(middle[order[1:]] == middle[order[:-1]])
    one, other = order[twice], order[twice + 1]
    owner = own[of[part[ring[start]]]]
    i, j = np.sort([owner[one], owner[other]], axis=0)
    different = i != j
    return i[different], j[different], _distances(xy[start[one]], xy[start[one] + 1], degrees)[different]


def _common_border(shapes: Array, reach: Array, degrees: Any, i: Array, j: Array) -> FloatArray:
    """Length of the common border of each pair: the mean of what each has of its outline within reach of the other."""
    shapely = module("shapely")
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
    distances = _distances(xy[start], xy[start + 1], degrees)
    return np.asarray(np.bincount(of[line[start]], distances, len(lines)), dtype=np.float64)


def _distances(a: FloatArray, b: FloatArray, degrees: Any) -> FloatArray:
    """Distances in the plane; of points in degrees, in metres on the ellipsoid."""
    return np.asarray(np.hypot(*(a - b).T) if degrees is None else degrees.get_geod().inv(*a.T, *b.T)[2])


# ---- pixels ---------------------------------------------------------------------------------------------


class _Pixels(NamedTuple):
    """Label maps and weights in memory, which true labels are known, the label of no data, and names of classes."""

    truth: Array
    pred: Array
    known: Array
    weight: FloatArray | None
    void: int | None
    names: Mapping[Any, str]


def _read_pixels(y_true: Any, y_pred: Any, sample_weight: Any, options: RasterOptions) -> _Pixels:
    weight: Any = None
    names: Mapping[int, str] = {}
    _check_single(y_true, y_pred)
    if is_raster(y_true):
        from ..geo.raster import Raster
        from ..sources.scenes import Scenes

        scene = Scenes(y_true, y_pred, sample_weight, options, None, None, None)[0]
        height, width = scene.truth.shape
        _check_pixels(height, width)
        (truth, known), (pred, in_map) = (own.labels(slice(0, height), slice(0, width)) for own in scene.labelled)
        names = scene.truth.names or scene.maps[0].names
        weight = scene.weight
        if isinstance(weight, Raster):
            weight, weighed = weight.read(slice(0, height), slice(0, width))
            weight = weight if weighed is None else np.where(weighed, weight, 0)
    else:
        refuse_options(options, "arrays")
        _check_pixels(*np.shape(y_true))
        (truth, known), (pred, in_map) = _labels(y_true), _labels(y_pred)
        if truth.ndim != 2 or truth.shape != pred.shape:
            raise InputError(
                f"y_true has shape {truth.shape}, and y_pred {pred.shape}; expected two label maps of the same pixels."
            )
        if isinstance(sample_weight, str) and sample_weight == AREA:
            raise InputTypeError(
                "sample_weight is 'area', and arrays have no areas.",
                "give rasters, or the areas of pixels: wmcc.raster(path).pixel_area().",
                "sample_weight",
            )
        weight = None if sample_weight is None else weight_array(sample_weight)
    if weight is not None:
        weight = fitted(np.asarray(weight, dtype=np.float64), truth.shape, False)
    known = np.ones(truth.shape, dtype=bool) if known is None else known.copy()
    void = None
    if in_map is not None and not in_map[known].all():
        void = 1 + max(int(truth.max()), int(pred.max()))
        pred = np.where(in_map, pred.astype(np.int64), void)
    return _Pixels(truth, pred, known, weight, void, names)


def _check_single(y_true: Any, y_pred: Any) -> None:
    """Refuse several maps, and files that are no rasters."""
    sides = (("y_true", y_true), ("y_pred", y_pred))
    for word, own in sides:
        if isinstance(own, Mapping) or (isinstance(own, (list, tuple)) and len(own) and is_raster(own[0])):
            raise InputTypeError(
                f"{word} is a {type(own).__name__} of {counted(len(own), 'map')}; expected a map itself.",
                "score several maps one by one.",
                word,
            )
    for word, own in sides:
        if isinstance(own, (str, os.PathLike)) and not (is_raster(own) and is_raster(y_true)):
            of_polygons = os.fspath(own).lower().endswith(LAYERS)
            raise InputTypeError(
                f"{word} is the file {os.fspath(own)!r}; expected two rasters, or two arrays.",
                "polygons are scored by matrices.score_polygons." if of_polygons else None,
                word,
            )


def _labels(data: Any) -> tuple[Array, Array | None]:
    """Labels of an array, and where there are any."""
    known = ~np.ma.getmaskarray(data) if np.ma.is_masked(data) else None
    values = np.asarray(np.ma.getdata(data))
    if values.dtype.kind == "f" and np.isnan(values).any():
        known = ~np.isnan(values) & (True if known is None else known)
    return values if known is None else np.where(known, values, 0), known


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

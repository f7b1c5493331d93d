"""`wmcc.error_map`: where a map is wrong, on the cells of a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import starmap
from math import floor, log10
from typing import Any, Literal, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.joint import JointTable
from ..core.labels import Label, as_label, is_missing, listed
from ..core.table import Table
from ..errors import InputError, InputTypeError
from ..geo.canvas import NO_GROUND, Canvas, Extent, Ground, crs_title, ground
from ..geo.layers import OpenLayer, are_points
from ..geo.overlay import all_around, in_plane_of, jumping_rows
from ..geo.raster import OpenRaster, aligned
from ..optional import module
from ..present.blocks import Block
from ..present.colours import VOID, Colour, as_colour, class_colour
from ..present.json_csv import Record, plain
from ..present.result import Result
from ..present.text import brief, counted, heaviest, left_out, number, percent
from ..sources import tabulated
from ..sources.map_cells import NODATA, NOT_COVERED, Cells, Grid, PixelCells, RowCells
from ..sources.request import Request
from ..sources.values import Design

SIZE = 1200
"""Cells along the longer side of a picture."""

SHOWN = 50
"""Classes that are listed."""

BELOW = 900
"""Cells along the longer side of the map that points are drawn on."""

MARGIN = 0.04
"""Of a picture of points, on each side, as a share of the longer one."""

TURNED = 2.0
"""Degrees between up and north from which on a picture says so."""


class ClassErrors(NamedTuple):
    """One class of an `ErrorMap`.

    Parameters
    ----------
    label
        The class.
    reference, map
        What it has in the reference, and in the map: an area, or a number of pixels or points.
    omission, commission
        The share of the first that is mapped as another class; the share of the second that is another. NaN of nothing.
    """

    label: Label
    reference: float
    map: float
    omission: float
    commission: float


@dataclass(frozen=True, eq=False, repr=False)
class ErrorMap(Result):
    """What `wmcc.error_map` returns: true and predicted classes on the cells of a picture, and where they differ.

    `wmcc.plot.map` draws it, and ``wmcc.write_report(..., map=…)`` shows it.

    Parameters
    ----------
    table
        The table of the whole data: what legends say of classes is exact, whatever the size of the picture.
    wrong
        The share of each cell that is wrong, of that part of it whose true class is known; NaN where none is. An array
        of rows and columns, the first row on top; of points one number for each.
    known
        How much of each cell is known: a number of pixels; 1 of a polygon or point.
    truth, pred
        Classes of the pixel, or polygon, in the middle of each cell: places in ``table.labels``, −1 where the true
        class is not known there.
    extent
        Left, right, bottom and top, in the units of the coordinate reference system; in pixels without one.
    grain, step
        What is drawn: ``"pixel"``, ``"polygon"`` or ``"point"``; and how many of them, or of places where polygons were
        looked up, are along the side of a cell.
    measured
        What the table counts: ``"area"``, ``"weight"``, ``"pixels"``, ``"polygons"`` or ``"points"``.
    colours
        Red, green and blue of each label.
    crs
        The name of the coordinate reference system; None without one.
    metres
        Metres per unit of x and of y in the middle of the picture; None if that is not known.
    north
        Degrees from up to north in the middle of the picture, clockwise.
    points
        Coordinates, if the data are points; None otherwise.
    of
        The class whose errors are drawn; None for all.
    missed
        The share of each cell that is of this class and mapped as another; the rest of what is wrong is mapped as this
        class and is another.
    unit
        The unit of the table's weights, if they are areas.
    below
        Of points on a map, its classes on the cells of a picture: places in ``table.labels``, −1 where there is none.
    parcels
        Of polygons, the number of the one in the middle of each cell; −1 where there is none.
    """

    table: Table
    wrong: Array
    known: Array
    truth: IntArray
    pred: IntArray
    extent: Extent
    grain: Literal["pixel", "polygon", "point"]
    step: int
    measured: Literal["area", "weight", "pixels", "polygons", "points"]
    colours: tuple[Colour, ...]
    crs: str | None = None
    metres: tuple[float, float] | None = None
    north: float = 0.0
    points: FloatArray | None = None
    of: Label | None = None
    missed: Array | None = None
    unit: str | None = None
    below: IntArray | None = None
    parcels: IntArray | None = None

    _kind = "error map"
    _stored = (
        "shape", "extent", "crs", "metres", "north", "grain", "step", "measured", "unit", "of", "errors", "classes",
    )  # fmt: skip

    @property
    def labels(self) -> tuple[Label, ...]:
        """Classes, and after them labels that are no classes: what the map does not cover, and the like."""
        return self.table.labels

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns of the picture; the number of points."""
        return tuple(self.wrong.shape)

    @cached_property
    def single(self) -> bool:
        """Whether each cell is right or wrong as a whole."""
        return bool(np.isin(self.wrong[~np.isnan(self.wrong)], (0, 1)).all())

    @cached_property
    def errors(self) -> dict[str, float]:
        """What is wrong, in words, and its share of all: of one class what is missed, and what is wrongly mapped."""
        off, total = self._off, self.table.total
        if self.of is None:
            return {"wrong": float(off.sum()) / total}
        k = self.labels.index(self.of)
        missed, added = float(off[k].sum()) / total, float(off[:, k].sum()) / total
        return {f"{self.of}, but mapped as another": missed, f"mapped as {self.of}, but another": added}

    @cached_property
    def _off(self) -> FloatArray:
        """The table without what is right: sums of it are 0 only where nothing is wrong."""
        return self.table.w * ~np.eye(len(self.labels), dtype=bool)

    @property
    def estimated(self) -> bool:
        """Whether shares are those of strata of known size, from a sample of them, rather than of what was counted."""
        drawing = self.table.drawn.design
        return drawing is not None and drawing.weighting

    def share_said(self, share: float, what: str) -> str:
        """Say which share of all is so.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.error_map([[0, 1], [1, 1]], [[0, 1], [0, 1]]).share_said(0.25, "wrong")
        '25.0 % of the pixels are wrong'
        """
        if self.estimated:
            return f"an estimated {percent(share)} of the map is {what}"
        return (
            f"{percent(share)} of the {self.measured} {'is' if self.measured in ('area', 'weight') else 'are'} {what}"
        )

    def with_weights_of(self, table: Table) -> ErrorMap:
        """Return the same with the weights of another table of the same rows."""
        same = self.table.labels == table.labels and np.array_equal(self.table.n, table.n)
        if not same or np.array_equal(self.table.w, table.w):
            return self
        return replace(self, table=table, measured="weight", unit=None)

    def in_unit(self, unit: str | None) -> ErrorMap:
        """Return the same, whose weights have a unit, if they have none yet."""
        return replace(self, unit=unit) if self.measured == "weight" and unit is not None else self

    def renamed(self, names: Mapping[Label, Label]) -> ErrorMap:
        """Return the same with other names of some classes."""
        own = {x: name for x, name in names.items() if x in self.labels}
        return replace(self, table=self.table.rename(own), of=None if self.of is None else own.get(self.of, self.of))

    # ---- words ------------------------------------------------------------------------------------------------

    @property
    def aspect(self) -> float:
        """How long a unit of y is drawn, in units of x, so that shapes look right in the middle."""
        return 1.0 if self.metres is None else self.metres[1] / self.metres[0]

    def scale_bar(self, share: float = 0.28) -> tuple[float, str] | None:
        """Return a round length of at most this share of the width: in units of x, and in words; None without a scale.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.error_map([[0, 1], [1, 1]], [[0, 1], [0, 1]]).scale_bar() is None
        True
        """
        if self.metres is None:
            return None
        most = share * (self.extent[1] - self.extent[0]) * self.metres[0]
        power = 10.0 ** floor(log10(most))
        length = power * max(x for x in (1, 2, 5) if x * power <= most)
        said = f"{number(length / 1000)} km" if length >= 1000 else f"{number(length)} m"
        return length / self.metres[0], said

    @property
    def notes(self) -> list[str]:
        """What to know when looking at the picture, a sentence each."""
        each = f"{self.step} x {self.step}"
        what = {
            "pixel": f"shows {each} pixels" if self.step > 1 else "is a pixel",
            "polygon": f"shows the polygons at {each} places" if self.step > 1 else "shows the polygon at its centre",
            "point": "is where it was sampled",
        }[self.grain]
        more = ": the share that is wrong, and the classes in the middle" if self.step > 1 else ""
        said = [f"Each {'point' if self.grain == 'point' else 'cell'} {what}{more}."]
        if self.below is not None:
            said[0] = "Each point is where it was sampled, on the classes of the map."
        if self.grain == "point":
            said.append(self._of_which_shares)
        if self.crs is not None:
            said.append(f"Coordinates: {self.crs}.")
        if self.metres is None:
            why = (
                "the coordinate reference system is not known"
                if self.crs is None
                else "its projection does not reach here"
            )
            said.append(f"There is no scale, since {why}.")
        elif abs(self.extent[3] - self.extent[2]) * self.metres[1] > 1e6:
            said.append("The scale is that in the middle of the picture.")
        if abs(self.north) > TURNED:
            side = "right" if self.north > 0 else "left"
            said.append(f"North is {abs(self.north):.0f}° to the {side} of up in the middle of the picture.")
        return said

    @property
    def _of_which_shares(self) -> str:
        """What the shares of points are shares of."""
        if self.estimated:
            return "Shares are estimates: each point stands for the size of its stratum / the points drawn there."
        if self.measured == "points":
            return (
                "Shares are those of the sampled points: no estimates for the map, if some classes were sampled more "
                "than others."
            )
        return "Points have their weights in all shares."

    @cached_property
    def classes(self) -> tuple[ClassErrors, ...]:
        """Sizes and errors of the classes, in the order of the table."""
        K = len(self.table.classes)
        true, pred = self.table.true_sums[:K], self.table.pred_sums[:K]
        with np.errstate(invalid="ignore", divide="ignore"):
            numbers = true, pred, self._off.sum(axis=1)[:K] / true, self._off.sum(axis=0)[:K] / pred
        return tuple(starmap(ClassErrors, zip(self.table.classes, *(x.tolist() for x in numbers), strict=True)))

    def class_block(self) -> Block:
        """Return a row for each class; of many, the largest."""
        shown = [self.classes[k] for k in heaviest([c.reference + c.map for c in self.classes], SHOWN)]
        rows = [
            [str(c.label), number(c.reference), number(c.map), percent(c.omission), percent(c.commission)]
            for c in shown
        ]
        unit = self.unit or self.measured
        head = ["Class", f"Reference, {unit}", f"Map, {unit}", "Omission", "Commission"]
        notes = [
            "Omission: the share of the class in the reference that is mapped as another. "
            "Commission: the share of what is mapped as the class that is another.",
            *left_out(SHOWN, len(self.classes), "classes"),
        ]
        void = zip(self.table.void, self.table.pred_sums[len(self.classes) :].tolist(), strict=True)
        notes += [f"{label}: {number(x)} {unit} of the map, counted as wrong." for label, x in void if x]
        return Block("Error by class", head, rows, notes)

    def blocks(self) -> list[Block]:
        """Return what is wrong in a line, and the errors of the classes."""
        cells = (
            counted(len(self.wrong), "point") if self.points is not None else "{:,} x {:,} cells".format(*self.shape)
        )
        said = "; ".join(self.share_said(x, what) for what, x in self.errors.items())
        found = self.class_block()
        return [replace(found, title=f"Error map of {cells}: {said}", notes=[*found.notes, " ".join(self.notes)])]

    def records(self) -> list[Record]:
        """Return a row for each class."""
        rows: list[Record] = []
        for c in self.classes:
            known = {"class" if name == "label" else name: plain(x) for name, x in c._asdict().items()}
            rows.append({**known, "unit": self.unit or self.measured})
        return rows


# ---- the door ---------------------------------------------------------------------------------------------------


def error_map(
    y_true: Any,
    y_pred: Any = None,
    sample_weight: Any = None,
    *,
    true: Any = None,
    pred: Any = None,
    weight: Any = None,
    of: Any = None,
    size: int = SIZE,
    colours: Mapping[Any, Any] | None = None,
    cluster: Any = None,
    design: Design | None = None,
    labels: Any = None,
    names: Mapping[Any, Any] | None = None,
    ignore: Any = None,
    missing: Literal["error", "ignore", "wrong"] = "error",
    positive: Any = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> ErrorMap:
    """Find out where a map is wrong, for a picture of it.

    The call is that of `wmcc.tabulate`, and its table is part of the result: the data are read once::

        error_map("truth.tif", "map.tif", "area")                          rasters; also two arrays of rows and columns
        error_map("parcels.gpkg", true="ref", pred="map", weight="area")   polygons
        error_map(wmcc.Overlay(reference, map), true="ref", pred="class")  two layers of polygons
        error_map(wmcc.Overlay(points, "map.tif"), true="ref", design=…)   points of a sample

    Rasters are read block by block, in bounded memory. Each cell of the picture stands for a square of pixels, and has
    the exact share of its known pixels that are wrong. Polygons are drawn by the centres of cells: each has the classes
    of the polygon that its centre lies in. Points are kept as they are.

    Parameters
    ----------
    y_true, y_pred, sample_weight, true, pred, weight, cluster, design, labels, names, ignore, missing, positive
        As in `wmcc.tabulate`; of one prediction. Weights are what legends and tables say of classes.
    of
        A class: only its errors are drawn, what is missed of it and what is mapped as it, in different colours.
    size
        Cells along the longer side of the picture, at most.
    colours
        Colours of classes: a mapping from labels to red, green and blue, 0 to 255, or to ``"#rrggbb"``. Others have
        those of the raster's colour table, if it has one.
    threads, progress
        As in `wmcc.tabulate`.

    Returns
    -------
    ErrorMap
        For `wmcc.plot.map` and `wmcc.write_report`.

    Examples
    --------
    >>> import wmcc
    >>> truth, prediction = [[0, 0, 1], [0, 1, 1], [255, 1, 1]], [[0, 1, 1], [0, 1, 1], [0, 0, 1]]
    >>> found = wmcc.error_map(truth, prediction, ignore=255, names={0: "field", 1: "forest"})
    >>> print(found.blocks()[0].title)
    Error map of 3 x 3 cells: 25.0 % of the pixels are wrong
    >>> found.wrong
    array([[ 0.,  1.,  0.],
           [ 0.,  0.,  0.],
           [nan,  1.,  0.]], dtype=float32)
    >>> wmcc.error_map(truth, prediction, ignore=255, names={0: "field", 1: "forest"}, of="forest").errors
    {'forest, but mapped as another': 0.125, 'mapped as forest, but another': 0.125}
    """
    if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or not 1 <= size <= 10_000:
        raise InputError.of("size", size, "a whole number of cells, 1 to 10,000")
    request = Request(
        y_true, y_pred, sample_weight, true, pred, weight, None, cluster, design, labels, names, ignore, missing,
        positive, threads, progress,
    )  # fmt: skip
    for name, own in (("y_pred", y_pred), ("pred", pred), ("map", getattr(y_true, "map", None))):
        if isinstance(own, Mapping):
            raise InputTypeError(
                f"`{name}` has {counted(len(own), 'prediction')} by name; a picture shows one.",
                "call wmcc.error_map for each; wmcc.write_report takes several maps by their names.",
                name,
            )
    return _drawn(request, Cells(request.rules(), of, int(size)), checked_colours(colours))


def error_maps(request: Request, names: Sequence[str]) -> dict[str, ErrorMap]:
    """Return an error map of each of several maps of the same points, whose strata may be the classes of one."""
    return {name: _drawn(request, Cells(request.rules(), None, SIZE, name), {}) for name in names}


def _drawn(request: Request, cells: Cells, colours: Mapping[Label, Colour]) -> ErrorMap:
    """Tabulate the data, and draw what the pass tells of places."""
    table, of = tabulated(request, cells), cells.of
    if cells.which is not None:
        table = table[cells.which]
    found, unit = cells.found, None if cells.area is None else cells.area.unit
    assert found is not None
    if not table.rows:
        raise InputError("there is nothing to draw: no pixel, polygon or point has a known true class.")
    if of is not None and of not in table.classes:
        raise InputError(f"`of` is {brief(of)}; the classes are {listed(table.classes)}.", argument="of")
    drawn = _of_pixels(found, table, of) if isinstance(found, PixelCells) else _of_rows(found, table, cells)
    drawing = table.drawn.design
    weighs = request.weights is not None or (drawing is not None and drawing.weighting)
    drawn["measured"] = "area" if unit else "weight" if weighs else f"{drawn['grain']}s"
    drawn["colours"] = _given_colours(drawn["colours"], table, colours, request.rules().names or {})
    return ErrorMap(table, **drawn, of=of, unit=unit)


def _of_pixels(cells: PixelCells, table: Table, of: Label | None) -> dict[str, Any]:
    """Return the fields of a picture of pixels."""
    truth = cells.truth
    names = cells.given_names or _class_names(cells.names, table)
    place = Places(table, names, NODATA)
    true, pred = (
        place.codes(values, seen, lost)
        for values, seen, lost in zip(cells.labels, cells.seen, (-1, place.lost), strict=True)
    )
    pred = np.where(true < 0, -1, pred)
    known, *wrong = cells.counts
    with np.errstate(invalid="ignore"):
        shares = [(x / known).astype(np.float32) for x in wrong]
    extent, on_earth, flips = _frame(truth, (cells.shape[0] * cells.step, cells.shape[1] * cells.step))
    known, true, pred = (np.flip(x, flips) for x in (known, true, pred))
    shares = [np.flip(x, flips) for x in shares]
    return {
        "wrong": shares[0], "known": known, "truth": true, "pred": pred, "extent": extent, "grain": "pixel",
        "step": cells.step, "colours": label_colours(table, names, truth.colours or cells.pred.colours),
        "crs": None if truth.crs is None else crs_title(truth.crs), "metres": on_earth.metres, "north": on_earth.north,
        "missed": None if of is None else shares[1],
    }  # fmt: skip


def _class_names(own: Mapping[int, str], table: Table) -> dict[int, str]:
    """Return what the table calls numbers of classes: by names of files, with the number if two are the same."""
    numbered = {value: f"{name.strip()} ({value})" for value, name in own.items()}
    names = {v: numbered[v] if numbered[v] in table.labels else name.strip() for v, name in own.items()}
    rest = {*table.classes}.difference(names.values())
    return names | {int(x): x for x in rest if isinstance(x, str) and x.removeprefix("-").isdecimal()}


def _frame(raster: Grid, covered: tuple[int, int]) -> tuple[Extent, Ground, tuple[int, ...]]:
    """Return the extent of so many rows and columns, how it lies on the earth, and which axes are to be turned over."""
    (height, width), crs, transform = covered, raster.crs, raster.transform
    if transform is None:
        return (0.0, float(width), float(height), 0.0), NO_GROUND, ()
    a, b, c, d, e, f = transform
    x, y = (u * raster.shape[1] / 2 + v * raster.shape[0] / 2 + w for u, v, w in ((a, b, c), (d, e, f)))
    if b or d:
        return (0.0, float(width), float(height), 0.0), ground(crs, x, y, (a, d), (-b, -e)), ()
    (left, right), (top, bottom) = (
        sorted((start, start + step * count)) for start, step, count in ((c, a, width), (f, e, height))
    )
    return (left, right, top, bottom), ground(crs, x, y), (*[0] * (e > 0), *[1] * (a < 0))


# ---- polygons and points ----------------------------------------------------------------------------------------


def _of_rows(cells: RowCells, table: Table, wish: Cells) -> dict[str, Any]:
    """Return the fields of a picture of polygons on cells, or of points where they are."""
    shapely, of = module("shapely"), wish.of
    of_raster = cells.below.names if isinstance(cells.below, OpenRaster) else {}
    place = Places(table, {**of_raster, **(wish.rules.names or {}), **cells.void}, NOT_COVERED)
    truth, pred = place.codes(cells.truth), place.codes(cells.pred)
    truth = np.where(np.isin(truth, [place.of(x) for x in wish.rules.ignore]), -1, truth)
    points, other = are_points(cells.layer), None
    if cells.overlay is not None:
        bounds = shapely.total_bounds(cells.layer.geometry)
        own = in_plane_of(cells.overlay, cells.layer)[0].geometry
        other, rows = all_around(own, np.arange(len(own)), bounds, cells.layer.crs)
        pred = np.append(pred[rows], place.lost)  # row −1 is where there is none
    layer = _around_the_antimeridian(cells.layer)
    left, bottom, right, top = map(float, shapely.total_bounds(layer.geometry))
    if points:
        xy = shapely.get_coordinates(layer.geometry)
        margin = MARGIN * max(right - left, top - bottom) or 1.0
        canvas = Canvas.over((left - margin, right + margin, bottom - margin, top + margin), layer.crs, BELOW)
        row, below = None, _below(cells, canvas, place)
    else:
        canvas = Canvas.over((left, right, bottom, top), layer.crs, wish.size)
        xy, below, row = None, None, canvas.polygons(layer.geometry)
        truth = np.where(row < 0, -1, truth[row])
        pred = pred[row if other is None else canvas.polygons(other)]
    known = (truth >= 0) & (pred >= 0)  # rows without a label are left out of the table, too
    truth, pred = (np.where(known, own, -1) for own in (truth, pred))
    k = -1 if of is None else table.labels.index(of)
    wrong = truth != pred if of is None else (truth == k) != (pred == k)
    shares = [np.where(known, x, np.nan).astype(np.float32) for x in (wrong, wrong & (truth == k))]
    on_earth = ground(layer.crs, (left + right) / 2, (bottom + top) / 2)
    palette = cells.below.colours if isinstance(cells.below, OpenRaster) else {}
    return {
        "wrong": shares[0], "known": known.astype(np.int64), "truth": truth, "pred": pred, "extent": canvas.extent,
        "grain": "point" if points else "polygon", "step": 1, "colours": label_colours(table, place.names, palette),
        "below": below, "parcels": row,
        "crs": None if layer.crs is None else crs_title(layer.crs), "metres": on_earth.metres, "north": on_earth.north,
        "points": xy, "missed": None if of is None else shares[1],
    }  # fmt: skip


def _below(cells: RowCells, canvas: Canvas, place: Places) -> IntArray | None:
    """Return the classes of the map that points lie on, on the cells of a canvas; None if they lie on none."""
    map_, points = cells.below, cells.layer
    if map_ is None:
        return None
    if isinstance(map_, OpenRaster):
        (high, wide), (left, right, bottom, top) = canvas.shape, canvas.extent
        grid = (right - left) / wide, 0.0, left, 0.0, (bottom - top) / high, top
        cells_of = replace(map_, shape=canvas.shape, crs=points.crs, transform=grid, block_shape=canvas.shape)
        values, known = aligned(map_, cells_of).labels(slice(0, high), slice(0, wide))
        return place.codes(values, np.ones(values.shape, dtype=bool) if known is None else known)
    own = in_plane_of(map_.layer, points)[0].geometry
    left, right, bottom, top = canvas.extent
    shapes, rows = all_around(own, np.arange(len(own)), np.array([left, bottom, right, top]), points.crs)
    classes: IntArray = np.append(place.codes(map_.classes)[rows], -1)[canvas.polygons(shapes)]
    return classes


def _around_the_antimeridian(layer: OpenLayer) -> OpenLayer:
    """Return polygons whose edges jump over the antimeridian with longitudes from 0 to 360, so that they are whole."""
    if layer.crs is None or not len(jumping_rows(layer.geometry, layer.crs)):
        return layer
    around = module("shapely").transform(layer.geometry, lambda xy: np.where([True, False], xy % 360, xy))
    rows = jumping_rows(around, layer.crs)
    if len(rows):
        raise InputError(
            f"some polygons of {layer.name} have edges over the antimeridian, and others over the meridian 0 (row "
            f"{rows[0]} first); they cannot be drawn in one plane.",
            "draw a part of them; or split polygons at 180 degrees.",
        )
    return layer._replace(geometry=around)


# ---- what pixels and polygons have in common --------------------------------------------------------------------


class Places:
    """Places of labels among those of a table, by what they are in the data."""

    def __init__(self, table: Table | JointTable, names: Mapping[Any, Any], lost: str = "") -> None:
        self.of_label: dict[Label, int] = {label: k for k, label in enumerate(table.labels)}
        self.names = names
        self.lost: int = self.of_label.get(lost, -1)
        self.known: dict[Any, int] = {}

    def of(self, value: Any) -> int:
        """Return the place of a value; −1 if it is no label."""
        if value not in self.known:
            if is_missing(value):
                return -1
            label = as_label(value, "a label")
            self.known[value] = self.of_label.get(self.names.get(label, label), self.of_label.get(label, -1))
        return self.known[value]

    def codes(self, values: Array, known: Array | None = None, otherwise: int = -1) -> IntArray:
        """Return the places of many; ``otherwise`` of those that are not known, whatever is stored for them."""
        if known is not None:
            found = np.full(values.shape, otherwise, dtype=np.int64)
            found[known] = self.codes(values[known])
            return found
        if values.dtype == object:
            return np.array([self.of(x) for x in values.flat], dtype=np.int64).reshape(values.shape)
        own, at = np.unique(values, return_inverse=True)
        return np.array([self.of(x) for x in own.tolist()], dtype=np.int64)[at].reshape(values.shape)


def checked_colours(given: Any) -> dict[Label, Colour]:
    """Return colours of classes, as red, green and blue."""
    if given is None:
        return {}
    such = "a mapping from classes to colours, such as {'forest': '#228833'}"
    if not isinstance(given, Mapping):
        raise InputTypeError.of("colours", given, such)
    found = {as_label(label, "a key of `colours`"): as_colour(own) for label, own in given.items()}
    odd = next((label for label, own in found.items() if own is None), None)
    if odd is not None:
        raise InputError(
            f"`colours` has {brief(given[odd])} for {odd!r}; expected '#rrggbb', or red, green and blue, 0 to 255.",
            argument="colours",
        )
    return {label: own for label, own in found.items() if own is not None}


def _given_colours(
    own: tuple[Colour, ...], table: Table, given: Mapping[Label, Colour], names: Mapping[Any, Any]
) -> tuple[Colour, ...]:
    """Colours of labels, with those that the caller gave in their place."""
    named = {names.get(label, label): colour for label, colour in given.items()}
    odd = next((label for label in given if names.get(label, label) not in table.labels), None)
    if odd is not None:
        raise InputError(f"`colours` has {odd!r}; the classes are {listed(table.classes)}.", "leave it out.", "colours")
    return tuple(named.get(label, colour) for label, colour in zip(table.labels, own, strict=True))


def label_colours(table: Table, names: Mapping[Any, Any], palette: Mapping[int, Colour]) -> tuple[Colour, ...]:
    """Colours of labels: those of the palette if it has all classes; what is no class is grey."""
    of_label = {**palette, **{names[x]: colour for x, colour in palette.items() if x in names}}
    own = [of_label.get(x) for x in table.classes]
    classes = [class_colour(k) for k in range(len(own))] if None in own else own
    return *(x for x in classes if x is not None), *[VOID] * len(table.void)

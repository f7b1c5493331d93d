"""`wmcc.error_map`: where a map is wrong, on the cells of a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import starmap
from math import floor, log10
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.labels import Label, as_label, given, is_missing, listed
from ..core.table import Table
from ..errors import InputError, InputTypeError
from ..geo.canvas import Extent
from ..present.blocks import Block
from ..present.colours import VOID, Colour, class_colour
from ..present.result import Result
from ..present.text import brief, counted, heaviest, left_out, number, percent
from ..present.written import Record, plain
from ..sources.options import AREA, Unit, are_rasters, is_raster

if TYPE_CHECKING:
    pass

SIZE = 1200
"""Cells along the longer side of a picture."""

SHOWN = 50
"""Classes that are listed."""

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
        What the table counts: ``"area"``, ``"pixels"``, ``"polygons"`` or ``"points"``.
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
    """

    table: Table
    wrong: Array
    known: Array
    truth: IntArray
    pred: IntArray
    extent: Extent
    grain: Literal["pixel", "polygon", "point"]
    step: int
    measured: Literal["area", "pixels", "polygons", "points"]
    colours: tuple[Colour, ...]
    crs: str | None = None
    metres: tuple[float, float] | None = None
    north: float = 0.0
    points: FloatArray | None = None
    of: Label | None = None
    missed: Array | None = None
    unit: str | None = None

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
        shape: tuple[int, ...] = self.wrong.shape
        return shape

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
        is_ = "is" if self.measured == "area" else "are"
        said = "; ".join(f"{percent(x)} of the {self.measured} {is_} {what}" for what, x in self.errors.items())
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


class ErrorMapOptions(NamedTuple):
    """What is asked of a picture, beside the data."""

    size: int
    of: Any
    weight: Literal["area"] | None
    unit: Unit
    labels: Any
    names: Mapping[Any, Any] | None
    ignore: tuple[Label, ...]
    missing: Literal["error", "ignore"]
    threads: int | None
    progress: bool | None

    @property
    def named(self) -> Mapping[Any, Any]:
        """Names of classes that were given."""
        return self.names or (self.labels if isinstance(self.labels, Mapping) else {})

    @property
    def reading(self) -> dict[str, Any]:
        """Keywords of `wmcc.tabulate`."""
        own = {"labels": self.labels, "names": self.names, "ignore": self.ignore or None}
        return {**own, "missing": self.missing, "threads": self.threads}


def error_map(
    y_true: Any,
    y_pred: Any = None,
    *,
    true: Any = None,
    pred: Any = None,
    overlay: Any = None,
    of: Any = None,
    size: int = SIZE,
    band: int | None = None,
    align: Literal["nearest"] | None = None,
    layer: str | None = None,
    overlay_layer: str | None = None,
    xy: tuple[str, str] | None = None,
    crs: Any = None,
    weight: Literal["area"] | None = "area",
    unit: Unit = "ha",
    labels: Any = None,
    names: Mapping[Any, Any] | None = None,
    ignore: Any = None,
    missing: Literal["error", "ignore"] = "error",
    threads: int | None = None,
    progress: bool | None = None,
) -> ErrorMap:
    """Find out where a map is wrong, for a picture of it.

    The data are given as to `wmcc.tabulate`, and read by the same rules::

        error_map("truth.tif", "map.tif")                                  rasters; also two arrays of rows and columns
        error_map("parcels.gpkg", true="ref", pred="map")                  polygons
        error_map(reference, overlay=map, true="ref", pred="class")        two layers of polygons
        error_map("points.csv", xy=("lon", "lat"), crs="EPSG:4326", overlay="map.tif", true="ref")   points of a sample

    Rasters are read block by block, in bounded memory. Each cell of the picture stands for a square of pixels, and has
    the exact share of its known pixels that are wrong. Polygons are drawn by the centres of cells: each has the classes
    of the polygon that its centre lies in. Points are kept as they are.

    Parameters
    ----------
    y_true, y_pred
        True and predicted rasters, or arrays of rows and columns. Polygons or points are given in place of ``y_true``.
    true, pred, overlay, band, align, layer, overlay_layer, xy, crs, unit, labels, names, ignore, missing
        As in `wmcc.tabulate`.
    of
        A class: only its errors are drawn, what is missed of it and what is mapped as it, in different colours.
    weight
        What legends and tables say of classes: their areas, if there is a coordinate reference system. None counts
        pixels or polygons.
    size
        Cells along the longer side of the picture, at most.
    threads
        Number of threads that read rasters; by default one per processor.
    progress
        Whether to show a bar; by default on a terminal.

    Returns
    -------
    ErrorMap
        For `wmcc.plot.map` and `wmcc.write_report`. Its table has the areas of the classes, in ``unit``; of rasters
        without a coordinate reference system the number of pixels, and of points the number of points.

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
        raise InputError(f"size is {brief(size)}; expected a whole number of cells, 1 to 10,000.", argument="size")
    if weight not in (AREA, None):
        raise InputError(f"weight is {brief(weight)}; expected 'area', or None.", argument="weight")
    for name, own in (("y_pred", y_pred), ("pred", pred), ("overlay", overlay)):
        if isinstance(own, Mapping):
            raise InputTypeError(
                f"{name} has {counted(len(own), 'prediction')} by name; a picture shows one.",
                "call wmcc.error_map for each; wmcc.write_report takes several maps by their names.",
                name,
            )
    wish = ErrorMapOptions(
        int(size),
        of,
        weight,
        unit,
        labels,
        names,
        () if ignore is None else given(ignore, "ignore"),
        missing,
        threads,
        progress,
    )
    in_arrays = true is pred is overlay is xy is None
    if not in_arrays:
        if y_pred is not None:
            raise InputTypeError(
                "the predictions of a layer are a column, or a map that is laid over it.",
                "write wmcc.error_map(data, true=…, pred=…), or give overlay= as well.",
                "y_pred",
            )
        if band is not None or align is not None:
            raise InputTypeError(
                f"{'align' if band is None else 'band'}= is for rasters.", "open the map with wmcc.raster."
            )
        from .layer_errors import from_layers

        return from_layers(y_true, overlay, true, pred, layer, overlay_layer, xy, crs, wish)
    if layer is not None or overlay_layer is not None:
        raise InputTypeError(f"{'layer' if layer else 'overlay_layer'}= is for polygons, with true= and pred=.")
    return _of_pixels(y_true, y_pred, band, align, crs, wish)


def _of_pixels(y_true: Any, y_pred: Any, band: int | None, align: Any, crs: Any, wish: ErrorMapOptions) -> ErrorMap:
    """Find out where a raster or an array is wrong."""
    if y_pred is None:
        raise InputTypeError(
            "the predictions are missing.",
            "write wmcc.error_map(y_true, y_pred) of rasters, or wmcc.error_map(data, true=…, pred=…) of polygons.",
            "y_pred",
        )
    if isinstance(y_true, (list, tuple)) and y_true and is_raster(y_true[0]):
        raise InputTypeError(
            f"y_true is a list of {counted(len(y_true), 'raster')}; a picture shows one.",
            "call wmcc.error_map for one of them; or make one raster of all tiles, such as a .vrt file.",
            "y_true",
        )
    if are_rasters(y_true, y_pred):
        from .pixel_errors import from_rasters

        return from_rasters(y_true, y_pred, band, align, crs, wish)
    if isinstance(y_true, (str, os.PathLike)):
        raise InputError(
            f"{os.fspath(y_true)!r} is no raster.",
            "polygons need true= and pred=, the columns of their classes; pictures are given as arrays.",
            "y_true",
        )
    if isinstance(y_pred, (str, os.PathLike)):
        raise InputTypeError(
            f"y_pred is the file {os.fspath(y_pred)!r}, and y_true a {type(y_true).__name__}; expected two rasters, or "
            "two arrays.",
            f"rasterio.open({os.fspath(y_pred)!r}).read(1) is the array of a raster.",
            "y_pred",
        )
    if band is not None or align is not None or crs is not None:
        word = "align" if align else "crs" if crs else "band"
        raise InputTypeError(f"{word}= is for rasters; it does not work with arrays.", argument=word)
    from .pixel_errors import from_arrays

    return from_arrays(y_true, y_pred, wish)


# ---- what pixels and polygons have in common ----


class Places:
    """Places of labels among those of a table, by what they are in the data."""

    def __init__(self, table: Table, names: Mapping[Any, Any], lost: str) -> None:
        self.of_label = {label: k for k, label in enumerate(table.labels)}
        self.names = names
        self.lost = self.of_label.get(lost, -1)
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


def checked_class(table: Table, of: Any, what: str) -> Label | None:
    """Return the class whose errors are asked for, if there is something to draw, and such a class."""
    if not table.rows:
        raise InputError(f"there is nothing to draw: no {what} has a known true class.")
    if of is not None and of not in table.classes:
        raise InputError(f"of is {brief(of)}; the classes are {listed(table.classes)}.", argument="of")
    found: Label | None = of
    return found


def label_colours(table: Table, names: Mapping[Any, Any], palette: Mapping[int, Colour]) -> tuple[Colour, ...]:
    """Colours of labels: those of the palette if it has all classes; what is no class is grey."""
    of_label = {names.get(x, x): colour for x, colour in palette.items()}
    own = [of_label.get(x) for x in table.classes]
    classes = [class_colour(k) for k in range(len(own))] if None in own else own
    return *(x for x in classes if x is not None), *[VOID] * len(table.void)

"""Where the rows of a call lie, for a picture: what a source tells of the same pass over the data that makes the table.

A source gives it windows of pixels, or layers of polygons and points. What it keeps of pixels has a bounded size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from ..core.arraytypes import Array, IntArray
from ..core.labels import Label, is_missing
from ..errors import InputError, InputTypeError
from ..present.text import counted
from .codes import Rules
from .column_lookup import is_name
from .recognised import as_area
from .values import Area

if TYPE_CHECKING:
    from ..geo.layers import OpenLayer
    from ..geo.raster import OpenRaster


NODATA = "(nodata)"
"""The column of pixels that a map does not know, where the reference does."""

NOT_COVERED = "(not covered)"
"""What the column of a table is called that has what the map does not cover."""


class Cells:
    """What is told of places, whatever the data are.

    Parameters
    ----------
    rules
        What becomes of labels.
    of
        The class whose errors are counted; None for all.
    size
        Cells of pixels along the longer side.
    which
        The one of several maps that is drawn.
    """

    def __init__(self, rules: Rules, of: Any, size: int, which: str | None = None) -> None:
        self.rules: Rules = rules
        self.of: Any = of
        self.size: int = size
        self.which: str | None = which
        self.area: Area | None = None
        self.found: PixelCells | RowCells | None = None

    def place_pixels(self, scenes: Any, weights: Any) -> PixelCells:
        """Start with a raster and a map of it, which windows are then told of."""
        if len(scenes) != 1 or scenes.tiled:
            raise InputTypeError(
                f"`y_true` is a list of {counted(len(scenes), 'raster')}; a picture shows one.",
                "call wmcc.error_map for one of them; or make one raster of all tiles, such as a .vrt file.",
                "y_true",
            )
        self.area = as_area(weights)
        truth, pred = scenes[0].labelled
        self.found = PixelCells(truth, pred, self, not self.rules.skip_missing)
        return self.found

    def place_arrays(self, y_true: Any, y_pred: Any) -> None:
        """Take two arrays of rows and columns."""
        sides = Plain(y_true, "y_true"), Plain(y_pred, "y_pred")
        if sides[0].shape == sides[1].shape:  # or else they are refused where they are counted
            self.found = PixelCells(*sides, self, lost_is_wrong=False)
            window = tuple(slice(0, n) for n in sides[0].shape)
            self.found.add(self.found.read(window, [own.labels(*window) for own in sides]))

    def place_rows(
        self,
        layer: OpenLayer,
        frame: Any,
        true: Any,
        pred: Any,
        area: Area | None,
        void: Mapping[Any, str] = MappingProxyType({}),
        below: OpenRaster | Below | None = None,
    ) -> None:
        """Take polygons, or points, and both classes of each; ``void`` names labels that are no classes.

        ``below`` is the map that the points lie on.
        """
        if isinstance(pred, Mapping):
            pred = pred[self.which]
        classes = _column(frame, true, "true"), _column(frame, pred, "pred")
        self.area, self.found = area, RowCells(layer, *classes, void, below=below)

    def place_polygons(self, reference: OpenLayer, overlay: OpenLayer, true: Any, pred: Any, area: Area | None) -> None:
        """Take polygons and those of a map that is laid over them."""
        truth, classes = _column(reference.frame, true, "true"), _column(overlay.frame, pred, "pred")
        self.area, self.found = area, RowCells(reference, truth, classes, {}, overlay)


class RowCells(NamedTuple):
    """Polygons or points with their classes; those of a map may be of polygons of its own."""

    layer: OpenLayer
    truth: Array
    pred: Array
    void: Mapping[Any, str]
    overlay: OpenLayer | None = None
    below: OpenRaster | Below | None = None


class Below(NamedTuple):
    """Polygons that points lie on, with their classes."""

    layer: OpenLayer
    classes: Array

    @classmethod
    def of(cls, layer: OpenLayer, column: Any) -> Below:
        """Take the classes of a column."""
        return cls(layer, _column(layer.frame, column, "pred"))


def _column(frame: Any, column: Any, argument: str) -> Array:
    if not is_name(column):
        raise InputTypeError(
            f"`{argument}` is a {type(column).__name__}; a picture takes the name of a column.", argument=argument
        )
    return np.asarray(frame[column], dtype=object)


class Plain:
    """An array of rows and columns, read as rasters are."""

    names: Mapping[int, str] = MappingProxyType({})
    colours: Mapping[int, Any] = MappingProxyType({})
    crs = transform = None

    def __init__(self, array: Any, name: str) -> None:
        self.values = array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
        if self.values.ndim != 2 or not self.values.size:
            raise InputError(
                f"`{name}` has the shape {self.values.shape}; expected rows and columns of one map.",
                f"give one image of a stack, as {name}[0]." if self.values.ndim == 3 else None,
                name,
            )
        self.shape: tuple[int, int] = self.values.shape

    def labels(self, rows: slice, cols: slice) -> tuple[Array, Array | None]:
        """Return a part of the array, and where it has labels."""
        part = self.values[rows, cols]
        known = ~np.ma.getmaskarray(part) if isinstance(part, np.ma.MaskedArray) else None
        part = np.asarray(part)
        if part.dtype.kind == "f":
            known = _both(known, ~np.isnan(part))
        elif part.dtype == object:
            known = _both(known, np.array([not is_missing(x) for x in part.flat], dtype=bool).reshape(part.shape))
        return part, known


Grid = Union["OpenRaster", Plain]
"""What pixels are read from."""


class WindowCells(NamedTuple):
    """What the pixels of a window say of the cells that it reaches."""

    place: tuple[slice, slice]  # cells that it reaches
    counts: tuple[IntArray, ...]  # of each: known pixels, wrong ones, those that missed the class
    middle: tuple[IntArray, ...]  # cells whose middle is in the window
    labels: tuple[tuple[Array, Array], ...]  # what is there, in the truth and the map, and whether it is known


class PixelCells:
    """Counts of the pixels of each cell, and the labels of the pixel in its middle; added up window by window."""

    def __init__(self, truth: Grid, pred: Grid, wish: Cells, lost_is_wrong: bool) -> None:
        self.truth: Grid = truth
        self.pred: Grid = pred
        self.ignore: tuple[Label, ...] = wish.rules.ignore
        self.lost_is_wrong: bool = lost_is_wrong
        self.given_names: Mapping[Any, Any] | None = wish.rules.names
        self.names: Mapping[Any, Any] = self.given_names or dict(truth.names) | dict(pred.names)
        self.of: tuple[Any, ...] = () if wish.of is None else _numbers_of(wish.of, self.names)
        self.step: int = max(1, -(-max(truth.shape) // wish.size))  # pixels along the side of a cell
        self.shape: tuple[int, int] = -(-truth.shape[0] // self.step), -(-truth.shape[1] // self.step)
        self.counts: list[IntArray] = [np.zeros(self.shape, dtype=np.int64) for _ in range(3 if self.of else 2)]
        self.labels: list[Array] = []
        self.seen: list[Array] = [np.zeros(self.shape, dtype=bool) for _ in range(2)]

    def read(self, window: tuple[slice, ...], read: Sequence[tuple[Array, Array | None]]) -> WindowCells:
        """Count what is wrong per cell; ``read`` has the labels of the truth and the map, and which are known."""
        (t, known), (p, p_known) = read
        if not self.lost_is_wrong:
            known, p_known = _both(known, p_known), None
        if self.ignore:
            known = _both(known, ~_any(t, self.ignore))
        if self.of:
            there = _any(t, self.of)
            wrong = there != _both(p_known, _any(p, self.of))
        else:
            wrong = t != p if p_known is None else (t != p) | ~p_known
        wrong = wrong if known is None else wrong & known
        every = np.broadcast_to(np.True_, t.shape) if known is None else known
        marked = (every, wrong, wrong & there) if self.of else (every, wrong)
        sides = [_middles(x, self.step, n) for x, n in zip(window, self.truth.shape, strict=True)]
        middle, at = zip(*sides, strict=True)
        at = np.ix_(*at)
        known_there = every[at]
        labels = (t[at], known_there), (p[at], known_there if p_known is None else known_there & p_known[at])
        where = slice(window[0].start // self.step, None), slice(window[1].start // self.step, None)
        return WindowCells(where, tuple(_per_cell(x, window, self.step) for x in marked), middle, labels)

    def add(self, part: WindowCells) -> None:
        """Add up what a window says."""
        for whole, own in zip(self.counts, part.counts, strict=True):
            whole[part.place][: own.shape[0], : own.shape[1]] += own
        if not self.labels:
            self.labels = [np.zeros(self.shape, dtype=values.dtype) for values, _ in part.labels]
        at = np.ix_(*part.middle)
        for whole, seen, (values, known) in zip(self.labels, self.seen, part.labels, strict=True):
            whole[at], seen[at] = values, known


def _numbers_of(label: Any, names: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return what may stand for a class: its number, by whatever name the table will have for it."""
    if not isinstance(label, str):
        return (label, *(value for value, name in names.items() if name == label))
    numbers = {*names, *map(int, re.findall(r"-?\d+", label))}
    called = {value: str(names.get(value, value)).strip() for value in numbers}
    return (label, *(value for value, name in called.items() if label in (name, f"{name} ({value})")))


def _both(known: Array | None, other: Array | None) -> Array | None:
    """Where both hold; None stands for everywhere."""
    return other if known is None else known if other is None else known & other


def _any(values: Array, among: tuple[Any, ...]) -> Array:
    """Where there is one of some values."""
    found = np.zeros(values.shape, dtype=bool)
    for x in among:
        if isinstance(x, str) is (values.dtype.kind in "OUST"):
            found |= values == x
    return found


def _per_cell(marked: Array, window: tuple[slice, ...], step: int) -> IntArray:
    """Count marked pixels in the cells that a window reaches."""
    if step == 1:
        return marked.astype(np.int64)
    down, right = (np.maximum(np.arange(x.start // step, -(-x.stop // step)) * step, x.start) - x.start for x in window)
    sums = np.empty((len(down), marked.shape[1]), dtype=np.int64)
    for row, (start, stop) in enumerate(zip(down, [*down[1:], len(marked)], strict=True)):
        sums[row] = np.sum(marked[start:stop], axis=0, dtype=np.uint32)
    return np.add.reduceat(sums, right, axis=1)


def _middles(window: slice, step: int, length: int) -> tuple[IntArray, IntArray]:
    """Cells whose middle is in a window, along one side, and where it is there."""
    cells = np.arange(window.start // step, -(-window.stop // step))
    middle = (cells * step + np.minimum((cells + 1) * step, length)) // 2
    inside = (middle >= window.start) & (middle < window.stop)
    return cells[inside], middle[inside] - window.start

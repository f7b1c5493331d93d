"""Where rasters differ: what is wrong of the pixels of each cell of a picture, block by block."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.arraytypes import Array, IntArray
from ..core.labels import is_missing
from ..core.table import Table
from ..errors import InputError, MapWarning
from ..geo.canvas import NO_GROUND, Extent, Ground, crs_title, ground
from ..present.colours import Colour
from ..sources import tabulate
from ..sources.arrays import MOST_THREADS, in_order, processors
from ..sources.options import AREA
from ..sources.progress import bar
from ..sources.rasters import NODATA, bounded_cache
from ..sources.scenes import Scene
from .error_map import ErrorMap, ErrorMapOptions, Places, checked_class, label_colours

if TYPE_CHECKING:
    from ..geo.raster import Raster


class Plain:
    """An array of rows and columns, read as rasters are."""

    names: Mapping[int, str] = MappingProxyType({})
    colours: Mapping[int, Colour] = MappingProxyType({})
    crs = transform = None

    def __init__(self, array: Any, name: str) -> None:
        self.values = array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
        if self.values.ndim != 2 or not self.values.size:
            raise InputError(
                f"{name} has the shape {self.values.shape}; expected rows and columns of one map.",
                f"give one image of a stack, as {name}[0]." if self.values.ndim == 3 else None,
                name,
            )
        self.shape: tuple[int, int] = self.values.shape
        self.block_shape = (1, self.shape[1])

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


def from_arrays(y_true: Any, y_pred: Any, wish: ErrorMapOptions) -> ErrorMap:
    """Look where two arrays of rows and columns differ."""
    truth, pred = Plain(y_true, "y_true"), Plain(y_pred, "y_pred")
    table = tabulate(y_true, y_pred, **wish.reading)
    return _from_pixels(truth, pred, table, "pixels", wish)


def from_rasters(y_true: Any, y_pred: Any, band: int | None, align: Any, crs: Any, wish: ErrorMapOptions) -> ErrorMap:
    """Look where two rasters differ."""
    from ..geo.raster import aligned, as_raster

    truth = as_raster(y_true, "y_true", band, crs)
    by_area = wish.weight == AREA and truth.crs is not None and truth.transform is not None and not _turned(truth)
    own: dict[str, Any] = {"sample_weight": AREA, "unit": wish.unit} if by_area else {}
    own |= {"band": band, "align": align, "crs": crs, **wish.reading, "progress": wish.progress}
    if by_area:
        _check_areas(truth, wish)
    table: Table = tabulate(y_true, y_pred, **own)  # which looks whether the pixels lie on each other
    pred: Raster | Plain
    if isinstance(y_pred, np.ndarray):
        pred = Plain(y_pred, "y_pred")
    else:
        pred = as_raster(y_pred, "y_pred", band, crs)
        pred = pred if align is None else aligned(pred, truth)
    return _from_pixels(truth, pred, table, "area" if by_area else "pixels", wish)


def _check_areas(truth: Raster, wish: ErrorMapOptions) -> None:
    """Refuse pixels whose areas are not known, and say how to do without."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MapWarning)  # which is given when areas are weights
            truth.pixel_area(wish.unit)
    except InputError as problem:
        hint = (problem.hint or "").replace("weights of your own", "weight=None, which counts pixels")
        raise InputError(problem.message, hint or None, "weight") from None


def _turned(raster: Raster) -> bool:
    """Whether rows of pixels do not run along the x axis."""
    return raster.transform is not None and (raster.transform[1] != 0 or raster.transform[3] != 0)


class WindowCells(NamedTuple):
    """What a window has of the cells of a picture: its part of their counts, and classes of some."""

    place: tuple[slice, slice]
    counts: tuple[IntArray, ...]  # pixels that are known, wrong, and of one class missed
    middle: tuple[IntArray, IntArray]  # rows and columns of cells whose middle is in the window
    codes: tuple[IntArray, IntArray]  # true and predicted classes there


@dataclass(frozen=True)
class Reader:
    """Two rasters on the same pixels, and how they are looked at."""

    truth: Raster | Plain
    pred: Raster | Plain
    step: int  # pixels along the side of a cell
    place: Places
    ignore: tuple[Any, ...]
    of: tuple[Any, ...]  # values of the class whose errors are counted; none for all
    lost_is_wrong: bool  # whether pixels without a prediction are wrong, or not known

    def cells(self, window: tuple[slice, slice]) -> WindowCells:
        """Read a window, and count what is wrong per cell."""
        (t, known), (p, p_known) = self.truth.labels(*window), self.pred.labels(*window)
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
        counted = (wrong, wrong & there) if self.of else (wrong,)
        counts = tuple(_per_cell(x, window, self.step) for x in counted)
        every = np.broadcast_to(np.True_, t.shape) if known is None else known
        middle, at = zip(
            *(_middles(x, self.step, n) for x, n in zip(window, self.truth.shape, strict=True)), strict=True
        )
        at = np.ix_(*at)
        true = self.place.codes(t[at], every[at])
        seen = (every if p_known is None else every & p_known)[at]
        pred = self.place.codes(p[at], seen, self.place.lost)
        where = slice(window[0].start // self.step, None), slice(window[1].start // self.step, None)
        return WindowCells(
            where, (_per_cell(every, window, self.step), *counts), middle, (true, np.where(true < 0, -1, pred))
        )


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


def _per_cell(marked: Array, window: tuple[slice, slice], step: int) -> IntArray:
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


def _from_pixels(
    truth: Raster | Plain,
    pred: Raster | Plain,
    table: Table,
    measured: Literal["area", "pixels"],
    wish: ErrorMapOptions,
) -> ErrorMap:
    of = checked_class(table, wish.of, "pixel")
    rasters = not isinstance(truth, Plain)
    names = wish.named or (_class_names({**truth.names, **pred.names}, table) if rasters else {})
    height, width = truth.shape
    step = -(-max(height, width) // wish.size)
    shape = -(-height // step), -(-width // step)
    own = () if of is None else tuple(x for x, name in names.items() if name == of) or (of,)
    lost_is_wrong = rasters and wish.missing == "error"
    reader = Reader(truth, pred, step, Places(table, names, NODATA), wish.ignore, own, lost_is_wrong)
    counts = [np.zeros(shape, dtype=np.int64) for _ in range(2 if of is None else 3)]
    codes = [np.full(shape, -1, dtype=np.int64) for _ in range(2)]
    both: Any = truth, pred
    windows = list(Scene(both[0], both[1:], None, "", None, None).windows())
    workers = min(wish.threads or processors(), MOST_THREADS, len(windows))
    with bounded_cache(), bar(wish.progress, "drawing", len(windows)) as shown:
        for found in in_order(reader.cells, windows, workers):
            for whole, part in zip(counts, found.counts, strict=True):
                whole[found.place][: part.shape[0], : part.shape[1]] += part
            for whole, part in zip(codes, found.codes, strict=True):
                whole[np.ix_(*found.middle)] = part
            shown.advance(1)
    known, *wrong = counts
    with np.errstate(invalid="ignore"):
        shares = [(x / known).astype(np.float32) for x in wrong]
    extent, on_earth, flips = _frame(truth, (shape[0] * step, shape[1] * step))
    known, true, predicted = (np.flip(x, flips) for x in (known, *codes))
    shares = [np.flip(x, flips) for x in shares]
    return ErrorMap(
        table,
        shares[0],
        known,
        true,
        predicted,
        extent,
        "pixel",
        step,
        measured,
        label_colours(table, names, truth.colours or pred.colours),
        crs=None if truth.crs is None else crs_title(truth.crs),
        metres=on_earth.metres,
        north=on_earth.north,
        of=of,
        missed=shares[1] if of is not None else None,
        unit=wish.unit if measured == "area" else None,
    )


def _class_names(own: Mapping[int, str], table: Table) -> dict[int, str]:
    """Return what the table calls numbers of classes: by names of files, with the number if two are the same."""
    numbered = {value: f"{name.strip()} ({value})" for value, name in own.items()}
    names = {v: numbered[v] if numbered[v] in table.labels else name.strip() for v, name in own.items()}
    rest = {*table.classes}.difference(names.values())
    return names | {int(x): x for x in rest if isinstance(x, str) and x.removeprefix("-").isdecimal()}


def _frame(raster: Raster | Plain, covered: tuple[int, int]) -> tuple[Extent, Ground, tuple[int, ...]]:
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

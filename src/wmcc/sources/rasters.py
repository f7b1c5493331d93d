"""Tables from rasters, in bounded memory: windows of all rasters at once, a table of each, and the sum of these.

What is not known of a reference (nodata, masks, NaN) is left out and counted. What is not known of a map where the
reference is known is an error of the map; it has a column of its own that is no class, `NODATA`.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from ..core import kernel as tally
from ..core.arraytypes import Array
from ..core.design import PIXELS
from ..core.keys import missing
from ..core.labels import Label
from ..core.tables import Tables, merge
from ..core.threads import MOST_THREADS, in_order, processors
from ..errors import InputError, InputTypeError, WeightError
from ..geo.raster import OpenRaster
from ..present.progress import Progress
from ..present.text import counted
from .arrays import OfParts, folded, nothing
from .codes import LOOKUP_RANGE, Codebook, Rules, all_codes, native
from .columns import Column
from .files import FileSet
from .finished_blocks import FinishedBlocks
from .groups import Parts
from .map_cells import NODATA, Cells, PixelCells, WindowCells
from .progress import reading
from .raster_inputs import BlockKeys, Scene, Scenes, Window, Zones

FEW = 1 << 22
"""Cells of windows that are kept before they are added up."""

CACHE = 128 << 20
"""Bytes of blocks that GDAL keeps. By default it keeps a twentieth of the machine's memory."""


def tabulate_rasters(
    y_true: Any,
    y_pred: Any,
    sample_weight: Any,
    rules: Rules,
    predictions: tuple[str, ...],
    *,
    by: Any = None,
    cluster: Any = None,
    threads: int | None = None,
    progress: bool | None = None,
    names: Sequence[str] | None = None,
    cells: Cells | None = None,
) -> Any:
    """Tabulate a true raster and one or several maps of it; or lists of tiles, which are clusters then.

    Parameters
    ----------
    y_true, y_pred
        A raster each; or lists of as many. Several predictions are a mapping from names.
    sample_weight
        None; ``"area"``; a raster; or an array that broadcasts to the pixels. Of lists a list of these, or one for all.
    by, cluster
        Zones: a raster, or an array of a key per pixel or per row of pixels; or a mapping from names to such. Of lists
        a list of these; or a key per tile, a mapping from the tiles' names to keys, or a function of the name.
    names
        Names of the tiles; by default those of the files.
    cells
        What is told of the pixels, beside the table.

    Returns
    -------
    Table
        A `JointTable` of several predictions, and `Tables` of either with ``by``. It is the table of the whole arrays
        with what is not known left out, to the last bit, whatever the windows and the threads.
    """
    scenes = Scenes(y_true, y_pred, sample_weight, by, cluster, names)
    paths: dict[str, None] = {}
    called: dict[int, dict[str, str]] = {}  # names of a class, and the raster that has each
    pixels = 0
    for k in range(len(scenes)):  # all sentences about files come before any pixel is read
        scene = scenes[k]
        pixels += scene.truth.shape[0] * scene.truth.shape[1]
        paths |= dict.fromkeys(x.name for x in scene.rasters if os.path.exists(x.name))
        for raster in scene.labelled:
            _check_nodata(raster, rules)
            for value, name in raster.names.items():
                called.setdefault(value, {}).setdefault(name, raster.name)
    _check_numbers(rules, called)
    picture = None if cells is None else cells.place_pixels(scenes, sample_weight)
    tables: list[Any] = []
    of_window = partial(_tabulate_window, OfParts(rules, predictions), picture)
    with bounded_cache(), reading([FileSet((path,), "raster") for path in paths], progress) as bar:
        bar.total(pixels)
        windows = in_order(of_window, scenes.windows(), min(threads or processors(), MOST_THREADS))
        for place, of_scene in groupby(windows, key=lambda found: found[0].place):
            tables.append(scenes.keyed(_sum_of_windows(of_scene, picture, bar), place))
    if not tables:
        return nothing(rules, scenes.parts, predictions)
    table = folded(tables, rules)._of_whole_map()
    return table if rules.labels is not None or rules.names is not None else _renamed(table, called)


def _sum_of_windows(
    windows: Iterator[tuple[Window, Any, WindowCells | None]], picture: PixelCells | None, progress: Progress
) -> Any:
    """Add up the tables of the windows of a scene, some at a time."""
    tables: list[Any] = []
    finished = FinishedBlocks()
    count, limit = 0, FEW
    for window, table, part in windows:
        if picture is not None and part is not None:
            picture.add(part)
        tables.append(table)
        count += len(table.raw_cells)
        tall = _rows_of_blocks(window, table)
        if tall and window.cols.stop == window.scene.truth.shape[1]:
            tables = [finished.taken_from(merge(tables), window.rows.stop // tall)]
            count = len(tables[0].raw_cells)
        elif count > limit:
            tables = [merge(tables)]
            count = len(tables[0].raw_cells)
            limit = max(FEW, 4 * count)  # where windows have few cells in common, sums save nothing
        progress.advance(window.shape[0] * window.shape[1])
    if not finished:
        return merge(tables)
    finished.taken_from(merge(tables))
    return finished.table()


def _rows_of_blocks(window: Window, table: Any) -> int:
    """Return how many rows of pixels a block has, which is a cluster; 0 if clusters are something else."""
    blocks = window.scene.cluster
    return blocks.tall if isinstance(blocks, BlockKeys) and not isinstance(table, Tables) else 0


@contextmanager
def bounded_cache() -> Iterator[None]:
    """Keep GDAL from filling memory with blocks that nobody reads again."""
    rasterio = sys.modules.get("rasterio")
    if rasterio is None:  # all rasters are in memory
        yield
        return
    with rasterio.Env(GDAL_CACHEMAX=CACHE):
        yield


# ---- names and nodata -------------------------------------------------------------------------------------


def _number(raster: OpenRaster) -> int | None:
    """Nodata as a label, if it can be one. It is a number that is stored; where numbers are scaled, labels are not."""
    as_stored = (raster.scale, raster.offset) == (1.0, 0.0)
    return raster.nodata if as_stored and isinstance(raster.nodata, int) else None


def _check_numbers(rules: Rules, called: Mapping[int, Mapping[str, str]]) -> None:
    """Refuse names of classes where their numbers are expected."""
    for word, given in (("ignore", rules.ignore), ("labels", rules.labels or ()), ("names", rules.names or ())):
        text = next((x for x in given if isinstance(x, str)), None)
        if text is not None:
            number, files = next(((v, own) for v, own in called.items() if text in own), (None, {}))
            raise InputTypeError(
                f"`{word}` has {text!r}; rasters hold numbers of classes.",
                "give the number of the class" + (f"; {files[text]} calls {number} so." if files else "."),
                word,
            )


def _check_nodata(raster: OpenRaster, rules: Rules) -> None:
    """Refuse a class that a file declares as nodata, where the caller named it as a class."""
    value = _number(raster)
    for word, named in (("labels", rules.labels), ("names", rules.names)):
        if value is not None and named is not None and value in named and value not in rules.ignore:
            raise InputError(
                f"{value} is nodata in {raster.name}, and `{word}` names it as a class.",
                argument=word,
                **_ask(raster, value),
            )


def _ask(raster: OpenRaster, value: int) -> dict[str, Any]:
    """Say what to do about a number that is nodata, or a class: in Python, and in a shell."""
    there = os.path.exists(raster.name)
    known = (
        f"If it means that nothing is known, give {value} as `ignore`: such pixels are left out where the reference "
        "has them, and are errors where a map has them."
    )
    opened = f"open the raster with wmcc.Raster({repr(raster.name) if there else '…'}, nodata=None)"
    taken = f"take the nodata value off the file: `rio edit-info --unset-nodata {raster.name if there else 'FILE'}`"
    return {"hint": f"if {value} is a class, {opened}. {known}", "shell": f"if {value} is a class, {taken}. {known}"}


def _renamed(table: Any, called: Mapping[int, Mapping[str, str]]) -> Any:
    """Give classes the names that the files have for them."""
    names: dict[Label, str] = {}
    for label in table.classes:
        own = called.get(int(label), {}) if not isinstance(label, str) else {}
        if len(own) > 1:
            (one, first), (other, second), *_ = own.items()
            raise InputError(
                f"{first} calls the class {label!r} {one!r}, and {second} calls it {other!r}.",
                f"if they mean the same, name the classes in `names`, {{{label!r}: …}}; if not, bring the maps to the "
                "same classes first.",
                "names",
            )
        names[label] = next(iter(own), "").strip() or str(label)
    if all(name == str(label) for label, name in names.items()):
        return table
    twice = {name for name, count in Counter(names.values()).items() if count > 1}
    return table.rename({x: f"{name} ({x})" if name in twice else name for x, name in names.items()})


# ---- the pass -----------------------------------------------------------------------------------------------


def _tabulate_window(
    windows: OfParts, picture: PixelCells | None, window: Window
) -> tuple[Window, Any, WindowCells | None]:
    """Make the table of a window."""
    scene, rules = window.scene, windows.rules
    read = [raster.labels(window.rows, window.cols) for raster in scene.labelled]
    columns = _columns(read, scene.labelled, window.first, rules.skip_missing)
    if columns[0].categories is not None:
        rules = rules._replace(ignore=(*rules.ignore, NODATA), missing="error")
    parts = Parts(
        None if scene.by is None else scene.by.read(window),
        None if scene.cluster is None else scene.cluster.read(window),
    )
    weights, weighed = _weights(scene, window)
    try:
        table = windows.table(columns, weights, scene.weight_name, rules, parts, PIXELS)
    except WeightError:
        if weighed is not None:
            _refuse_weights(scene, window, columns, weighed, rules)
        raise
    for raster in scene.labelled:
        value = _number(raster)
        if value is not None and value in table.classes:
            _refuse_class(raster, value, scene, window, read)
    if isinstance(table, Tables):
        table = _with_pixels(table)
    if isinstance(scene.cluster, Zones):
        _check_clusters(table, scene.cluster)
    return window, table, None if picture is None else picture.read((window.rows, window.cols), read)


def _with_pixels(tables: Tables[Any]) -> Tables[Any]:
    """Leave out groups of no pixel."""
    met = tables.ignored > 0
    met[tables.raw_cells.codes[0]] = True
    place = np.where(met, np.cumsum(met) - 1, -1)
    groups = tuple(key for key, there in zip(tables.groups, met.tolist(), strict=True) if there)
    return replace(tables, groups=groups, raw_cells=tables.raw_cells.recoded({0: place}), ignored=tables.ignored[met])


class _Coded:
    """What integers stand for: themselves, or booleans; one of them for a pixel that is not known."""

    def __init__(self, nothing: int | None, boolean: bool = False) -> None:
        self._nothing, self._boolean = nothing, boolean

    def __getitem__(self, value: int) -> Label:
        return NODATA if value == self._nothing else bool(value) if self._boolean else value


def _columns(
    read: Sequence[tuple[Array, Array | None]], rasters: Sequence[OpenRaster], first: tuple[int, int], leave_out: bool
) -> list[Column]:
    """Columns of labels. What is not known is a label of its own; with ``leave_out`` it is so in the truth, too."""
    masks = [known for _, known in read if known is not None]
    if not masks:
        return [Column(raster.name, values, None, first) for raster, (values, _) in zip(rasters, read, strict=True)]
    if leave_out:
        together = np.logical_and.reduce(masks)
        read = [(values, together) for values, _ in read]
    return [
        Column(raster.name, *_coded(values, known, _number(raster)), first)
        for raster, (values, known) in zip(rasters, read, strict=True)
    ]


def _coded(values: Array, known: Array | None, nodata: int | None) -> tuple[Array, Any]:
    """Integers and what each stands for, `NODATA` for pixels that are not known; the values themselves if possible."""
    kind = values.dtype
    if kind.kind == "b":
        coded = values.view(np.uint8)
        return coded if known is None else np.where(known, coded, np.uint8(2)), _Coded(2, True)
    if kind.itemsize <= 2:
        if known is None or _stands_for(nodata, values, known):
            return values, _Coded(nodata if known is not None else None)
        nothing = int(np.iinfo(kind).min) - 1
        return np.where(known, values, (np.int16 if kind.itemsize == 1 else np.int32)(nothing)), _Coded(nothing)
    own = native(values if known is None else values[known])
    low, high = tally.active.extent(own) if len(own) else (0, 0)
    if high - low < LOOKUP_RANGE - 1 and low > -(1 << 63) and high < 1 << 63:
        return values if known is None else np.where(known, values.astype(np.int64), low - 1), _Coded(low - 1)
    labels, places = np.unique(own, return_inverse=True)
    coded = np.full(values.shape, len(labels))
    coded[slice(None) if known is None else known] = places.reshape(values.shape if known is None else -1)
    return coded, [*labels.tolist(), NODATA]


def _stands_for(nodata: int | None, values: Array, known: Array) -> bool:
    """Whether the pixels that are not known all have this number; others have not."""
    return nodata is not None and np.count_nonzero(known) + np.count_nonzero(values == nodata) == values.size


def _weights(scene: Scene, window: Window) -> tuple[Array | None, Array | None]:
    """Return the weights of a window, and which are known, if not all are."""
    weight = scene.weight
    if weight is None:
        return None, None
    if isinstance(weight, OpenRaster):
        values, known = weight.read(window.rows, window.cols)
        if known is None:
            return values, None
        if values.dtype.kind != "f":
            values = values.astype(np.float64)
        return np.where(known, values, values.dtype.type(np.nan)), known
    own = weight[window.rows if len(weight) > 1 else slice(None), window.cols if weight.shape[1] > 1 else slice(None)]
    return np.broadcast_to(own, window.shape), None


# ---- what is wrong -------------------------------------------------------------------------------------------


def _refuse_weights(scene: Scene, window: Window, columns: list[Column], known: Array, rules: Rules) -> None:
    """Refuse weights that are not known, where pixels count."""
    truth = columns[0]
    (codes,) = all_codes([truth], Codebook(rules))
    lost = ~known & (codes.reshape(known.shape) != tally.IGNORED)
    if lost.any():
        at = truth._replace(name=scene.weight_name).place(int(np.argmax(lost)))
        raise WeightError(
            f"{at} is nodata, and {scene.truth.name} has a class there; each pixel of the reference needs a weight.",
            "fill the weights in; 0 leaves a pixel out of the sums.",
            "sample_weight",
        )


def _refuse_class(
    raster: OpenRaster, value: int, scene: Scene, window: Window, read: Sequence[tuple[Array, Array | None]]
) -> None:
    """Refuse a number that is nodata in one raster, and a class in another."""
    truth_known = read[0][1]
    for other, (values, known) in zip(scene.labelled, read, strict=True):
        there = values == value
        for mask in (known, truth_known):
            if mask is not None:
                there &= mask
        if there.any():
            at = Column(other.name, values, None, window.first).place(int(np.argmax(there)))
            raise InputError(
                f"{value} is nodata in {raster.name}, and a class in {other.name}: {at} is {value}, and is not "
                "declared as nodata there.",
                argument="ignore",
                **_ask(raster, value),
            )


def _check_clusters(table: Any, zones: Zones) -> None:
    """Refuse pixels that belong to no cluster."""
    lost = missing(table.drawn.units)
    if lost:
        rows = int(table.raw_cells.sums.n[np.isin(table.raw_cells.codes[-1], lost)].sum())
        names = " and ".join(x.name for x in zones.sources.values() if isinstance(x, OpenRaster))
        raise InputError(
            f"{counted(rows, 'pixel')} of the reference, or more, {'is' if rows == 1 else 'are'} nodata in {names}; "
            "every pixel needs a cluster.",
            "wmcc.Raster(path, nodata=None) makes one cluster of them; `ignore` leaves out pixels of the reference.",
            "cluster",
        )

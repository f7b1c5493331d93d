"""Everything that makes a Table: `tabulate` is the door that data come in through."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from ..core.arraytypes import Labels
from ..core.design import check_sampled
from ..core.doubts import warn_of_void
from ..core.joint import JointTable
from ..core.labels import LIKE_MISSING
from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputTypeError, warn
from .codes import Missing
from .drawn_design import with_drawn_design
from .kinds import LayerKind, kind_of, placed_kind_of, with_names
from .recognised import are_rasters
from .request import Request, check, misplaced, no_keyword
from .stream import Accumulator
from .values import Design

if TYPE_CHECKING:
    from ..core.score_table import ClassScores, ScoreTable
    from .map_cells import Cells

Several = Mapping[str, Any]
"""Predictions by their names."""

Given = Labels | os.PathLike[str]
"""Labels, or a folder of images; a text is among what NumPy takes for labels."""

Names = Mapping[Any, Any]


# fmt: off
@overload
def tabulate(
    y_true: Given, y_pred: Several, sample_weight: Any = ..., *, by: None = ..., cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    threads: int | None = ..., progress: bool | None = ...,
) -> JointTable: ...
@overload
def tabulate(
    y_true: Given, y_pred: Several, sample_weight: Any = ..., *, by: Any, cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    threads: int | None = ..., progress: bool | None = ...,
) -> Tables[JointTable]: ...
@overload
def tabulate(
    y_true: Given, y_pred: Given, sample_weight: Any = ..., *, by: None = ..., cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    positive: Any = ..., threads: int | None = ..., progress: bool | None = ...,
) -> Table: ...
@overload
def tabulate(
    y_true: Given, y_pred: Given, sample_weight: Any = ..., *, by: Any, cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    positive: Any = ..., threads: int | None = ..., progress: bool | None = ...,
) -> Tables[Table]: ...
@overload
def tabulate(
    data: Any, /, *, true: Any, pred: Several, weight: Any = ..., by: None = ..., cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    threads: int | None = ..., progress: bool | None = ...,
) -> JointTable: ...
@overload
def tabulate(
    data: Any, /, *, true: Any, pred: Several, weight: Any = ..., by: Any, cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    threads: int | None = ..., progress: bool | None = ...,
) -> Tables[JointTable]: ...
@overload
def tabulate(
    data: Any, /, *, true: Any, pred: Any = ..., weight: Any = ..., by: None = ..., cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    positive: Any = ..., threads: int | None = ..., progress: bool | None = ...,
) -> Table: ...
@overload
def tabulate(
    data: Any, /, *, true: Any, pred: Any = ..., weight: Any = ..., by: Any, cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    positive: Any = ..., threads: int | None = ..., progress: bool | None = ...,
) -> Tables[Table]: ...
@overload
def tabulate(
    y_true: Given, *, score: Sequence[Sequence[float]], sample_weight: Any = ..., by: None = ..., cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    positive: Any = ..., threads: int | None = ..., progress: bool | None = ..., thresholds: Any = ...,
) -> ClassScores: ...
@overload
def tabulate(
    y_true: Given, *, score: Any, sample_weight: Any = ..., by: None = ..., cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    positive: Any = ..., threads: int | None = ..., progress: bool | None = ..., thresholds: Any = ...,
) -> ScoreTable: ...
@overload
def tabulate(
    y_true: Given, *, score: Any, sample_weight: Any = ..., by: Any, cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    positive: Any = ..., threads: int | None = ..., progress: bool | None = ..., thresholds: Any = ...,
) -> dict[Any, ScoreTable]: ...
@overload
def tabulate(
    data: Any, /, *, true: Any, score: Any, weight: Any = ..., by: None = ..., cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    positive: Any = ..., threads: int | None = ..., progress: bool | None = ..., thresholds: Any = ...,
) -> ScoreTable: ...
@overload
def tabulate(
    data: Any, /, *, true: Any, score: Any, weight: Any = ..., by: Any, cluster: Any = ...,
    design: Design | None = ..., labels: Any = ..., names: Any = ..., ignore: Any = ..., missing: Missing = ...,
    positive: Any = ..., threads: int | None = ..., progress: bool | None = ..., thresholds: Any = ...,
) -> dict[Any, ScoreTable]: ...
# fmt: on
def tabulate(
    y_true: Any = None,
    y_pred: Any = None,
    sample_weight: Any = None,
    *more: Any,
    true: Any = None,
    pred: Any = None,
    weight: Any = None,
    by: Any = None,
    cluster: Any = None,
    design: Design | None = None,
    labels: Any = None,
    names: Names | None = None,
    ignore: Any = None,
    missing: Missing = "error",
    positive: Any = None,
    threads: int | None = None,
    progress: bool | None = None,
    score: Any = None,
    thresholds: Any = None,
    **unknown: Any,
) -> Any:
    r"""Tabulate true and predicted labels, with a weight per observation.

    Two positions: each side holds labels. One position: a table, whose columns are named::

        tabulate(y_true, y_pred, sample_weight)                       arrays, series, tensors, label maps
        tabulate("truth.tif", "map.tif", "area")                      rasters
        tabulate("truth/", "pred/", "maps/", ignore=255)              folders of images, paired by name
        tabulate(data, true="label", pred="pred", weight="w")         frames and files; Files, Join
        tabulate("parcels.gpkg", true="ref", pred="map", weight="area")    polygons; Layer
        tabulate(Overlay(points, "map.tif"), true="ref")              points, or polygons, and a map
        tabulate(y_true, score=probability, sample_weight=w)          scores in the place of predicted labels

    Parameters
    ----------
    y_true, y_pred, sample_weight
        Labels (integers, booleans or text) of any shape, and a finite weight of at least 0 for each; or two rasters, or
        two folders, and the same of weights. Several predictions are a mapping from names. docs/howto/data.md has all
        that arrays may be, docs/understand/maps.md rasters (`Raster`), docs/understand/segmentation.md folders, and
        docs/understand/matrices.md weight matrices.
    true, pred, weight
        Columns of a frame or file, which comes first: names, expressions of its engine, or series of it. A mapping from
        names has several predictions.
    by
        Groups, each with a table of its own: a column or a list of columns; with arrays a key for each observation, or
        for each item of the first axis; with folders a mapping or function of the name, or "folder"; with rasters a
        raster of zones.
    cluster
        Rows that belong together and may depend on each other, given like ``by``: intervals take account of it. Of
        pixels also `Blocks`. Images are clusters by themselves.
    design
        How the sample was drawn: `Strata`, `PostStrata` or `Replicates`. Clusters are those drawn in the strata.
    labels
        The classes and their order; others are refused. By default those that occur, sorted.
    names
        A mapping from labels to names, which become the labels of the table.
    ignore
        Labels that are no classes, such as 255. Rows with such a *true* label are left out and counted; predicted for
        another row it is wrong, and has a column of its own (`Table.void`).
    missing
        Rows without a label (None, NaN, masked): "error" refuses them, "ignore" leaves them out and counts them.
        "wrong" leaves out rows without a true label, and counts a missing prediction as wrong: it is "(missing)", in a
        column of its own that is no class. "keep" keeps all rows, for `wmcc.certify` with ``model="missing"``: what is
        missing is "(missing)", and such a table has no score.
    positive
        The positive class of two, for reports and scores; by default the larger label.
    threads
        Number of threads; the table is the same for any. By default one for each processor.
    progress
        Whether to show a bar while files are read; by default on a terminal.
    score
        Scores or probabilities of the positive class in the place of predicted labels, or their column; of several
        scores a mapping from names, or a list of columns. An N × K array has a column of scores for each class.
    thresholds
        With ``score``: thresholds between which scores are put together. By default every score that occurs is kept,
        up to 131,072 of them; of more, some that divide the weight evenly.

    Returns
    -------
    Table
        A `JointTable` of several predictions; with ``by`` `Tables`, a mapping from groups. With ``score`` a
        `wmcc.results.ScoreTable`, which knows the table of every threshold; with ``by`` a dict of these, and of a
        column for each class `wmcc.results.ClassScores`.

    Raises
    ------
    InputError, InputTypeError
        The data do not fit together or cannot be scored; the message says what was expected, what came and where.

    Warns
    -----
    LabelWarning
        Labels look like missing ones, are never both true and predicted, or look swapped.

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
    >>> wmcc.tabulate([0, 0, 1, 1], score=[0.1, 0.6, 0.4, 0.9])
    Scores of 4 rows in 4 steps, 0.1 to 0.9, positive class 1, total weight 4
    >>> import polars as pl
    >>> frame = pl.DataFrame({"label": [0, 1, 1], "pred": [0, 1, 0], "ha": [2.5, 1.0, 4.0], "tile": ["a", "a", "b"]})
    >>> tables = wmcc.tabulate(frame, true="label", pred="pred", weight=pl.col("ha") * 10_000, by="tile")
    >>> tables["b"].total
    40000.0
    """
    if more:
        raise misplaced((y_true, y_pred, sample_weight, *more))
    if unknown:
        raise no_keyword("tabulate()", next(iter(unknown)), Request._fields)
    request = Request(
        y_true, y_pred, sample_weight, true, pred, weight, by, cluster, design, labels, names, ignore, missing,
        positive, threads, progress, score, thresholds,
    )  # fmt: skip
    if score is not None:
        from .scores import tabulate_scores

        return tabulate_scores(request, partial(tabulated, doubts=False))  # the truth stands for the prediction
    if thresholds is not None:
        raise InputTypeError("`thresholds` go with `score`.", "write tabulate(y_true, score=…, thresholds=…).")
    return tabulated(request)


def tabulated(request: Request, cells: Cells | None = None, doubts: bool = True) -> Any:
    """Tabulate a whole sample; ``cells`` is told where its rows lie, too; ``doubts`` are said of labels, if any."""
    table = tabulate_part(request, cells)
    if table.drawn.design is not None and len(table.raw_cells):
        check_sampled(
            table.drawn,
            "for a sample that comes in parts use `wmcc.Accumulator`; "
            "or `wmcc tabulate -o` of each part, and `wmcc merge`",
        )
    if not doubts:
        return table
    if table.void and request.ignore is not None and _are_in_memory(request):
        warn_of_void(table, "y_true", "y_pred", "y_true comes first, and y_pred second")
    for sentence in _doubts(table, request):
        warn(sentence)
    return table


def tabulate_part(request: Request, cells: Cells | None = None) -> Any:
    """Tabulate a part of a sample, in which some strata may have no row."""
    if request.score is not None:
        from .scores import tabulate_scores

        return tabulate_scores(request, tabulate_part)
    rules = request.rules()
    check(request)
    if request.in_columns:
        request = with_drawn_design(request)
    if cells is None:
        kind: Any = kind_of(request)
        table = kind.tabulate(request, rules)
    else:
        request, kind = placed_kind_of(request)
        table = kind.tabulate(request, rules, cells)
    if not isinstance(kind, LayerKind):  # whose labels may have had their names before they were compared
        table = with_names(table, rules.names)
    classes = table.classes
    if classes and isinstance(classes[0], str) and (odd := LIKE_MISSING.intersection(classes)):
        name = min(odd)
        warn(
            f"a class is called {name!r}, a common code for missing labels. If it means missing, list it in "
            "`ignore`, or make such labels missing values, with `missing` 'ignore'. If it is a real class, rename it."
        )
    return table


def _are_in_memory(request: Request) -> bool:
    """Whether labels are arrays: those of frames and files have names, and maps of rasters have gaps."""
    return request.y_pred is not None and not are_rasters(request.y_true, request.y_pred)


def _doubts(table: Any, request: Request) -> Iterable[str]:
    """Say what is odd about the labels of a whole sample."""
    first = int(isinstance(table, Tables))  # the axis of groups comes before those of labels
    truth, *preds = table.raw_cells.codes[first : first + table.axes]
    if table.drawn.design is None and all((truth == pred).any() for pred in preds):
        return ()
    from .doubts import doubtful  # which most calls do without

    return doubtful(table, truth, preds, request.labels, request.names)


__all__ = ["Accumulator", "tabulate"]

"""Everything that makes a Table. `tabulate` is the front door; `joint_table` is its twin for two predictions."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack, overload

from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputTypeError
from .arrays import tabulate_arrays
from .codes import Rules
from .columns import label_column, weight_array
from .groups import Parts, keys_of_rows
from .joint import joint_table
from .matrix import is_matrix, no_array, tabulate_matrix
from .options import make_rules, names_a_column, refuse_without_columns, whole_number
from .shapes import check_shapes
from .stream import Accumulator


class Options(TypedDict, total=False):
    """Keywords of `tabulate`."""

    true: Any
    pred: Any
    cluster: Any
    on: Any
    allow_unmatched: bool
    engine: str | None
    progress: bool | None
    labels: Any
    ignore: Any
    positive: Any
    threads: int | None


@overload
def tabulate(
    y_true: Any,
    y_pred: Any = ...,
    sample_weight: Any = ...,
    weight: Any = ...,
    *,
    by: None = ...,
    **options: Unpack[Options],
) -> Table: ...
@overload
def tabulate(
    y_true: Any,
    y_pred: Any = ...,
    sample_weight: Any = ...,
    weight: Any = ...,
    *,
    by: Any,
    **options: Unpack[Options],
) -> Tables[Table]: ...
def tabulate(
    y_true: Any,
    y_pred: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    true: Any = None,
    pred: Any = None,
    by: Any = None,
    cluster: Any = None,
    on: Any = None,
    allow_unmatched: bool = False,
    engine: str | None = None,
    progress: bool | None = None,
    labels: Any = None,
    ignore: Any = None,
    positive: Any = None,
    threads: int | None = None,
) -> Table | Tables[Table]:
    r"""Tabulate true and predicted labels, with a weight per observation or per pair of them.

    It takes labels, a frame or file that has them as columns, or two frames or files with a common key::

        tabulate(y_true, y_pred, sample_weight)
        tabulate(frame, "label", "pred", "area")            pandas, polars, PyArrow, DuckDB, Dask, PySpark, ibis
        tabulate("preds/*.parquet", "label", "pred", "area")
        tabulate(truth, prediction, on="id")                frames or files

    Parameters
    ----------
    y_true, y_pred
        Labels: integers, booleans or strings, in arrays of any shape (two label maps of one image will do),
        lists, series of pandas, polars or PyArrow, CPU tensors, or anything that speaks NumPy's array protocols
        or DLPack. Categorical series are read as their codes.
    sample_weight
        One finite number of at least 0 per observation, in the shape of the labels; None counts each once.
        float32 and float64 are read as they are; other numbers are converted to float64.

        With labels in vectors of N it may also be the matrix S of the paper, N x N: the table is then
        C_ab = Σ S_ij [t_i = a][c_j = b]. S is a dense array, a sparse matrix of SciPy, or an iterator over
        blocks of its rows (each dense or sparse, N wide, N rows in all), so that S need not be in memory at
        once. Each non-zero entry is an observation: `Table.n` counts those, not rows of labels, and sampling
        errors of rows do not apply. Entries that are zero leave their labels known. A diagonal S gives the
        table of its diagonal as a vector. `wmcc.matrices` makes and checks such matrices.
    true, pred, weight
        Columns of a frame or file, by keyword or by position after it: names (integers too, if a pandas frame has
        such), or expressions of narwhals or of the frame's own engine. Frames in memory are read by the exact kernel.
        Lazy frames are asked for one group-by, and only its cells travel; their sums are as exact as the engine's.
    by
        Column, or columns, of a frame or file: one table per group, in the same pass. With labels in arrays: a key per
        observation, or per item of their first axis (an image of a stack).
    cluster
        What rows belong together (image, scene, patient), given as ``by`` is: rows of one cluster need not be
        independent of each other. The table keeps the cells of each cluster, so that intervals and comparisons know of
        them. Rows of the same key are one cluster, also when tables are merged.
    on
        Column, or columns, that identify a row in both of two frames or files. Keys that are missing or come twice
        are refused, and so are keys without a partner unless ``allow_unmatched``; then they count as ignored. Without
        ``true`` and ``pred`` each side must have just one column beside the key, the weight and the groups.
    engine
        What reads files: ``"arrow"`` (the default: batches through the exact kernel, in bounded memory), ``"polars"``,
        ``"duckdb"``, ``"pyspark"`` or ``"dask"``. Frames know their own. Of CSV files the named columns are read as
        text by all of them, and labels that all look like integers are integers.
    progress
        Whether to show a progress bar while files are read; by default when standard error is a terminal.
    labels
        The classes and their order. A label that is not among them is an error, unless ``ignore`` names it.
        Without it the classes are the labels that occur, sorted.
    ignore
        A label, or several (255 in segmentation): rows whose true or predicted label is one of them are left
        out, and their number is kept in `Table.ignored`. Their weights are not looked at. Of a weight matrix
        entries S_ij are left out, where the i-th true or the j-th predicted label is one of them.
    positive
        The positive class of a two-class problem, for reports. The measures do not depend on it.
    threads
        Number of threads, 256 at most; by default one per processor, and one for short inputs. The table is
        the same to the last bit for any number, and for any order of the rows.

    Returns
    -------
    Table
        With ``by`` a `wmcc.Tables`, a mapping from each group to its table, in sorted order; for several columns the
        keys are tuples.

    Raises
    ------
    InputError
        Lengths or shapes that differ, no rows, missing or unknown labels, weights that are negative or not
        finite, more classes than there is memory for, no such column, no such file. The message names the first bad row
        and its value, or the number of bad rows.
    InputTypeError
        Containers, labels or weights of a kind that cannot be scored, or labels of mixed kinds.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.tabulate(["oak", "elm", "elm"], ["oak", "elm", "oak"], [300, 2, 7.5])
    Table of 2 classes: 3 rows, total weight 309.5
    true \ predicted  elm  oak
    elm                 2  7.5
    oak                 0  300
    >>> wmcc.tabulate([[0, 1], [255, 1]], [[0, 1], [0, 0]], ignore=255).ignored
    1
    >>> wmcc.tabulate(["oak", "elm"], ["oak", "oak"], [[300, 0.5], [0.5, 2]])
    Table of 2 classes: 4 rows, total weight 303
    true \ predicted  elm    oak
    elm                 0    2.5
    oak                 0  300.5
    >>> import polars as pl
    >>> frame = pl.DataFrame({"label": [0, 1, 1], "pred": [0, 1, 0], "ha": [2.5, 1.0, 4.0], "tile": ["a", "a", "b"]})
    >>> tables = wmcc.tabulate(frame, "label", "pred", pl.col("ha") * 10_000, by="tile")
    >>> tables["b"].total
    40000.0
    """
    rules, threads = make_rules(labels, ignore, positive), whole_number(threads, "threads")
    if on is None and true is None and pred is None and not names_a_column(y_true, y_pred):
        if y_pred is None:
            raise InputTypeError(f"expected y_true and y_pred; got only {type(y_true).__name__}.")
        refuse_without_columns(by=by, cluster=cluster, engine=engine, weight=weight)
        return _tabulate_labels(y_true, y_pred, sample_weight, by, cluster, rules, threads)
    from .tabular import tabulate_columns  # brings narwhals, which arrays do without

    names = [x for x in ((y_pred, sample_weight, weight) if on is None else (sample_weight, weight)) if x is not None]
    tables: Table | Tables[Table] = tabulate_columns(
        (y_true,) if on is None else (y_true, y_pred),
        names,
        {"true": true, "pred": pred, "weight": None},
        by=by,
        cluster=cluster,
        on=on,
        allow_unmatched=allow_unmatched,
        engine=engine,
        progress=progress,
        rules=rules,
        threads=threads,
    )
    return tables


def _tabulate_labels(
    y_true: Any, y_pred: Any, sample_weight: Any, by: Any, cluster: Any, rules: Rules, threads: int | None
) -> Table | Tables[Table]:
    columns = [label_column(y_true, "y_true"), label_column(y_pred, "y_pred")]
    weights = sample_weight if sample_weight is None or no_array(sample_weight) else weight_array(sample_weight)
    shape = columns[0].values.shape
    if is_matrix(weights, columns[0].values):
        check_shapes(columns, None)
        if by is not None or cluster is not None:
            word = "by" if by is not None else "cluster"
            raise InputTypeError(
                f"a weight matrix pairs rows, so they have no groups or clusters: {word}= goes with a weight per row."
            )
        return tabulate_matrix(columns[0], columns[1], weights, rules, threads)
    check_shapes(columns, weights)
    parts = Parts(keys_of_rows(by, "by", shape), keys_of_rows(cluster, "cluster", shape))
    table: Table | Tables[Table] = tabulate_arrays(columns, weights, rules, threads, parts=parts)
    return table


__all__ = ["Accumulator", "joint_table", "tabulate"]

"""The joint table of two predictions of the same rows, from whatever a table is made of."""

from __future__ import annotations

from typing import Any

from ..errors import InputTypeError
from .arrays import tabulate_arrays
from .columns import label_column, weight_array
from .groups import Parts, keys_of_rows
from .options import make_rules, names_a_column, refuse_without_columns, whole_number
from .shapes import check_shapes


def joint_table(
    y_true: Any,
    pred_a: Any = None,
    pred_b: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    true: Any = None,
    by: Any = None,
    cluster: Any = None,
    engine: str | None = None,
    progress: bool | None = None,
    labels: Any = None,
    ignore: Any = None,
    threads: int | None = None,
) -> Any:
    """Tabulate the true label and two predicted ones together, with a weight per observation.

    It takes what `wmcc.tabulate` takes, and one more prediction of the same rows::

        joint_table(y_true, pred_a, pred_b, sample_weight)
        joint_table(frame, "label", "model_a", "model_b", "area")
        joint_table("preds/*.parquet", true="label", pred_a="model_a", pred_b="model_b", weight="area")

    Parameters
    ----------
    y_true, pred_a, pred_b
        Labels, as for `wmcc.tabulate`. Beside a frame or file: columns, by position after it or by keyword.
    sample_weight
        One finite number of at least 0 per observation, in the shape of the labels; None counts each once.
    true, weight
        Columns of a frame or file: names, or expressions of narwhals or of the frame's own engine. Frames in memory
        are read by the exact kernel; lazy ones are asked for one group-by, and only the cells that occur travel.
    by
        Groups of rows, as for `wmcc.tabulate`: one joint table for each.
    cluster
        Clusters of rows that belong together, as for `wmcc.tabulate`.
    engine, progress
        What reads files, and whether to show it, as for `wmcc.tabulate`.
    labels
        The classes of all three columns and their order. Without it they are the labels that occur in any, sorted.
    ignore
        A label, or several: rows of which any of the three labels is one of them are left out, and counted in
        `JointTable.ignored`. Their weights are not looked at.
    threads
        Number of threads; the table is the same to the last bit for any.

    Returns
    -------
    JointTable
        Its margins `first` and `second` are the tables of each prediction. With ``by`` a dict by group.

    Raises
    ------
    InputError
        As `wmcc.tabulate`; also for more than 2**23 different combinations of labels.
    InputTypeError
        As `wmcc.tabulate`.

    Examples
    --------
    >>> import wmcc
    >>> joint = wmcc.joint_table([0, 1, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1], [2.0, 9.0, 1.0, 4.0])
    >>> joint
    JointTable of 2 classes: 4 rows, total weight 16
    true  first  second  n  w
    0         0       0  1  2
    1         0       1  1  1
    1         1       0  1  9
    1         1       1  1  4
    >>> round(wmcc.mcc(joint.first) - wmcc.mcc(joint.second), 3)
    0.532
    >>> import polars as pl
    >>> frame = pl.LazyFrame({"label": ["oak", "elm"], "old": ["elm", "elm"], "new": ["oak", "elm"], "ha": [2.5, 1.0]})
    >>> wmcc.joint_table(frame, "label", "old", "new", "ha").total
    3.5
    """
    rules, threads = make_rules(labels, ignore), whole_number(threads, "threads")
    if true is None and not names_a_column(y_true, pred_a):
        if pred_a is None or pred_b is None:
            raise InputTypeError("expected y_true, pred_a and pred_b: the truth and two predictions of the same rows.")
        refuse_without_columns(by=by, cluster=cluster, engine=engine, weight=weight)
        given = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
        columns = [label_column(data, name) for name, data in given.items()]
        weights = None if sample_weight is None else weight_array(sample_weight)
        check_shapes(columns, weights)
        shape = columns[0].values.shape
        parts = Parts(keys_of_rows(by, "by", shape), keys_of_rows(cluster, "cluster", shape))
        return tabulate_arrays(columns, weights, rules, threads, parts=parts)
    from .tabular import tabulate_columns  # brings narwhals, which arrays do without

    return tabulate_columns(
        (y_true,),
        [x for x in (pred_a, pred_b, sample_weight, weight) if x is not None],
        {"true": true, "pred_a": None, "pred_b": None, "weight": None},
        by=by,
        cluster=cluster,
        engine=engine,
        progress=progress,
        rules=rules,
        threads=threads,
    )

"""Scores in a column of a frame: the step of each row becomes one more column, which rows are grouped by.

Without it rows would be grouped by their scores, of which there may be as many as rows, and each would become a key in
Python. In memory steps are found as those of arrays. A lazy frame computes them, if thresholds are given; without, it
has to be asked for all scores that occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from ..core.arraytypes import FloatArray
from .column_lookup import Data, as_data, is_name, own_names, place, unused
from .recognised import is_layer
from .request import Request
from .score_steps import refuse_rounded, steps_of

MOST_COMPARED = 1024
"""Thresholds up to which a lazy frame compares each score with some of them: the expression has a branch for each."""

UNKNOWN = -1
"""The code of rows without a score."""


class StepColumns(NamedTuple):
    """A frame with a column of steps for each score.

    Parameters
    ----------
    data
        The frame.
    names
        What the columns are called.
    lower
        For each of them the smallest score of each step; NaN of the last, if it is that of rows without a score.
    edges
        Thresholds between which scores were put together, if they were: those given, or chosen.
    """

    data: Any
    names: list[str]
    lower: list[list[float]]
    edges: list[tuple[float, ...] | None]


def with_steps(request: Request, columns: Sequence[Any], edges: tuple[float, ...] | None) -> StepColumns | None:
    """Return the data of a call with steps of some columns; None where rows are to be grouped by their scores."""
    if is_layer(request.y_true, request.weight) or not all(map(is_name, columns)):
        return None
    data = as_data(request.y_true)
    if data is None or data.names is not None or not _plain(own_names(data.frame)):
        return None
    lazy = isinstance(data.frame, nw.LazyFrame)
    if lazy and (edges is None or len(edges) > MOST_COMPARED):
        return None
    schema = list(data.frame.collect_schema().items())
    places = [place(name, data.known(), data.frame) for name in columns]
    if not all(schema[k][1].is_numeric() and schema[k][1] != nw.Decimal for k in places):
        return None
    add = _lazily if lazy else _in_memory
    return add(data, request, [(schema[k][0], k) for k in places], edges)


def _plain(names: list[Any]) -> bool:
    """Whether no engine reads a name of a column as something else."""
    return all(isinstance(x, str) and x.isidentifier() for x in names) and len({x.lower() for x in names}) == len(names)


def _in_memory(
    data: Data, request: Request, columns: list[tuple[str, int]], edges: tuple[float, ...] | None
) -> StepColumns:
    frame, weights = data.frame, _weights(data.frame, request.weight)
    found = [steps_of(_scores(frame[name]), edges, weights, request.threads) for name, _ in columns]
    made = _unused(len(columns), data)
    several = [
        nw.new_series(name, steps.codes.astype(np.int64), nw.Int64, backend=frame.implementation)
        for name, steps in zip(made, found, strict=True)
    ]
    native = frame.with_columns(*several).to_native()
    return StepColumns(native, made, [steps.lower for steps in found], [steps.edges for steps in found])


def _unused(count: int, data: Data) -> list[str]:
    """Names of new columns."""
    return [unused(f"wmcc step {k}", own_names(data.frame)) for k in range(count)]


def _floats(column: Any) -> FloatArray:
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _scores(column: Any) -> FloatArray:
    floats = _floats(column)
    if column.dtype.is_integer():
        refuse_rounded(floats, column.name, lambda rows: column[rows.tolist()].to_list())
    return floats


def _weights(frame: Any, weight: Any) -> FloatArray | None:
    """Weights of the rows, if they are in a column of numbers: steps may be chosen by them."""
    if not isinstance(weight, str) or weight not in frame.columns or not frame[weight].dtype.is_numeric():
        return None
    return np.nan_to_num(_floats(frame[weight]))


def _lazily(
    data: Data, request: Request, columns: list[tuple[str, int]], edges: tuple[float, ...] | None
) -> StepColumns:
    assert edges is not None
    made = _unused(len(columns), data)
    codes = [_code(nw.nth(k).cast(nw.Float64), edges).alias(name) for name, (_, k) in zip(made, columns, strict=True)]
    lower = [-np.inf, *edges, np.nan]
    return StepColumns(data.frame.with_columns(*codes).to_native(), made, [lower] * len(made), [edges] * len(made))


def _code(score: Any, edges: tuple[float, ...]) -> Any:
    """Return an expression for how many of the edges a score has reached, as a tree of comparisons."""

    def between(low: int, high: int) -> Any:
        if low == high:
            return nw.lit(low)
        middle = (low + high) // 2
        return nw.when(score < edges[middle]).then(between(low, middle)).otherwise(between(middle + 1, high))

    lost = score.is_null() | score.is_nan()
    return nw.when(lost).then(nw.lit(UNKNOWN)).otherwise(between(0, len(edges))).cast(nw.Int64)

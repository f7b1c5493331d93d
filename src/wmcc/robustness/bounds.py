"""The box of weights that each have bounds of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.labels import listed
from ..core.table import Table
from ..errors import InputError, InputTypeError, WeightError
from ..measures.base import as_table
from ..sources.columns import place, weight_array
from ..sources.options import names_a_column
from .box import Box


def bounded_box(table: Table, rows: tuple[Any, ...], lower: Any, upper: Any, options: dict[str, Any]) -> Box:
    """Tabulate the bounds as the weights were, and return the box between them."""
    y_true, y_pred, sample_weight, weight = rows
    tables = [table, table]
    for i, (name, given) in enumerate((("lower", lower), ("upper", upper))):
        if given is None:
            continue
        if isinstance(y_true, Table) != isinstance(given, Table):
            raise InputTypeError(
                f"{name} is a {type(given).__name__}; it must be given as the weights are: "
                "a Table with a Table, weights with rows, a column with a frame or file."
            )
        if isinstance(given, Table):
            tables[i] = given
        elif names_a_column(None, given):
            third = options.get("on") is not None and sample_weight is not None  # where the weights' column was named
            columns = (given, weight) if third else (sample_weight, given)
            tables[i] = as_table(y_true, y_pred, *columns, **options)
        else:
            _check_rows(sample_weight, given, name)
            tables[i] = as_table(y_true, y_pred, given, **options)
        its, own = tables[i].stack, table.stack
        same = np.array_equal(its.codes, own.codes) and np.array_equal(its.sums.n, own.sums.n)
        if tables[i].labels != table.labels or not same:
            raise InputError(
                f"the table of {name} is of other rows: its labels are {listed(tables[i].labels)} "
                f"and it has {tables[i].rows:,} rows; expected {listed(table.labels)} and {table.rows:,}."
            )
    least, most, w = (x.stack.sums.w_exact for x in (*tables, table))
    box, nominal = Box.between(least, most), (Box.between(least, w), Box.between(w, most))
    for name, part in zip(("lower", "upper"), nominal, strict=True):
        wrong = next((i for i, (a, b) in enumerate(zip(part.low, part.high, strict=True)) if a > b), None)
        if wrong is not None:
            a, b = table.stack.codes[:, wrong]
            side = "above" if name == "lower" else "below"
            raise WeightError(
                f"{name} is {side} the weights in the cell of true {table.labels[a]!r}, predicted {table.labels[b]!r}.",
                "bounds must be such that lower <= weight <= upper.",
            )
    return box


def _check_rows(weights: Any, given: Any, name: str) -> None:
    bound = weight_array(given, name)
    own = np.ones(bound.shape) if weights is None else weight_array(weights)
    if own.shape != bound.shape:
        raise InputError(f"{name} must have the shape of the weights, {own.shape}; it has {bound.shape}.")
    negative = np.flatnonzero(~(bound >= 0))
    if negative.size:
        row = int(negative[0])
        raise WeightError(f"{place(name, bound, row)} is {bound.flat[row].item()!r}; a weight must be at least 0.")
    bad = np.flatnonzero((bound > own) if name == "lower" else (bound < own))
    if bad.size:
        row = int(bad[0])
        raise WeightError(
            f"{place(name, bound, row)} is {bound.flat[row].item()!r}, and the weight there is "
            f"{own.flat[row].item()!r}; expected lower <= weight <= upper."
        )

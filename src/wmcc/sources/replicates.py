"""Replicate weights: what the caller says of them, and the columns they are in.

A survey that ships replicate weights gives each row one weight more for each of R resamples of its design. All R
columns are tabulated in the same pass over the rows; the variance of a score follows from the R tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ..core.arraytypes import Array
from ..core.base_table import no_cells
from ..core.design import ReplicateFactors, SampleDesign
from ..core.kernel import MOST_REPLICATES
from ..errors import InputError, InputTypeError
from ..present.text import counted
from .columns import Column, weight_array
from .values import Replicates, is_number

FACTORS: dict[str, Callable[[int, float], float]] = {
    "jk1": lambda R, k: (R - 1) / R,
    "brr": lambda R, k: 1 / R,
    "fay": lambda R, k: 1 / (R * (1 - k) ** 2),
    "bootstrap": lambda R, k: 1 / (R - 1),
    "sdr": lambda R, k: 4 / R,
}
"""The factor of each squared deviation, from the number of replicates and the coefficient of Fay's method."""


def drawn_by(design: Replicates, count: int) -> SampleDesign:
    """Return how the rows were drawn, of so many replicates."""
    if not 2 <= count <= MOST_REPLICATES:
        came = f"`replicates` has {counted(count, 'column')}"
        raise InputError(f"{came}; expected between 2 and {MOST_REPLICATES:,}.", argument="replicates")
    if design.scales is None:
        assert design.method is not None
        scales = (FACTORS[design.method](count, design.fay or 0.0),) * count
    else:
        scales = _scales(design.scales, count)
    df = float(count - 1) if design.df is None else min(float(design.df), count - 1.0)
    return SampleDesign("replicates", replicates=ReplicateFactors(design.method or "scales", scales, df))


def with_replicates(table: Any, design: Replicates, count: int) -> Any:
    """Return a table, or tables of groups, that knows its replicate weights, of which there are so many."""
    parts = table.raw_cells if len(table.raw_cells) else no_cells(len(table.raw_cells.codes), count)
    return replace(table, raw_cells=parts, drawn=drawn_by(design, count))


def _scales(given: Any, count: int) -> tuple[float, ...]:
    """Read the factor of each squared deviation; one number is that of all."""
    if is_number(given):
        values = [float(given)] * count
    else:
        if isinstance(given, (str, bytes, Mapping)) or not hasattr(given, "__len__"):
            raise InputTypeError(
                f"`scales` is {given!r:.60}; expected a number for each replicate, or one for all.", argument="scales"
            )
        values = np.asarray(weight_array(given, "scales"), dtype=np.float64).reshape(-1).tolist()
    if len(values) != count:
        raise InputError(
            f"`scales` has {len(values):,} numbers, and there are {count:,} replicate weights; expected one for each.",
            argument="scales",
        )
    for place, value in enumerate(values):
        if not 0 <= value < math.inf:
            raise InputError(
                f"scales[{place}] is {value!r}; expected a finite number of at least 0.", argument="scales"
            )
    if not any(values):
        raise InputError("`scales` are all 0, and would make every variance 0.", argument="scales")
    return tuple(values)


# ---- columns of arrays -------------------------------------------------------------------------------------


def replicates_in_arrays(given: Any, shape: tuple[int, ...]) -> list[Column]:
    """Return the columns of replicate weights of labels in memory, each in the shape of the labels."""
    if isinstance(given, str):
        raise InputTypeError(
            f"`replicates` is {given!r}; a column name or a pattern works only with a frame or a file.",
            "give an array of one column for each replicate, a list of arrays, or a mapping from names.",
            argument="replicates",
        )
    if hasattr(type(given), "columns") and not isinstance(given, Mapping):
        import narwhals as nw  # which arrays and lists do without

        frame = nw.from_native(given, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            given = {name: own.to_native() for name, own in zip(frame.columns, frame.iter_columns(), strict=True)}
    if isinstance(given, Mapping):
        named = {f"replicates[{name!r}]": own for name, own in given.items()}
    elif isinstance(given, (list, tuple)):
        named = {f"replicates[{k}]": own for k, own in enumerate(given)}
    else:
        return _of_array(weight_array(given, "replicates"), shape)
    return [_fitting(Column(name, weight_array(own, name)), shape) for name, own in named.items()]


def _of_array(values: Array, shape: tuple[int, ...]) -> list[Column]:
    """Columns of one array, whose last axis has the replicates."""
    if values.shape[:-1] != shape or values.ndim != len(shape) + 1:
        turned = values.ndim == 2 and values.shape[1:] == shape
        expected = f"({', '.join(map(str, shape))}, R)"
        raise InputError(
            f"`replicates` has shape {values.shape}; labels of shape {shape} need {expected}, "
            "a column for each of R replicates.",
            "pass replicates.T." if turned else None,
            argument="replicates",
        )
    inner = ", ".join([":"] * len(shape))
    return [Column(f"replicates[{inner}, {k}]", values[..., k]) for k in range(values.shape[-1])]


def _fitting(column: Column, shape: tuple[int, ...]) -> Column:
    own = column.values.shape
    if own != shape:
        said = f"{own[0]:,} rows, and the labels {shape[0]:,}" if len(own) == len(shape) == 1 else ""
        raise InputError(
            f"{column.name} has {said or f'shape {own}, and the labels {shape}'}; expected a weight for each row.",
            "each item is one replicate, with a weight for each row; an array of N x R has a column for each.",
            argument="replicates",
        )
    return column


# ---- columns of frames and files ------------------------------------------------------------------------------


def replicate_columns(given: Any, names: Sequence[Any], used: Mapping[Any, str]) -> tuple[Any, ...]:
    """Return the columns that a pattern matches, in their order; or those that were listed.

    ``names`` are those of all columns; ``used`` are the keywords that name columns, by these.
    """
    if isinstance(given, str):
        found = tuple(name for name in names if isinstance(name, str) and fnmatchcase(name, given))
        if not found:
            shown = ", ".join(map(repr, names[:20])) + (f", … ({len(names)} in all)" if len(names) > 20 else "")
            raise InputError(
                f"no column matches `replicates` {given!r}; the columns are {shown}.",
                "give a pattern such as 'rw*', in which * stands for any text, or a list of names.",
                argument="replicates",
            )
        for name, word in used.items():
            if name in found:
                raise InputError(
                    f"`replicates` {given!r} also matches {name!r}, the column of `{word}`.",
                    "give a pattern that does not, such as 'rw[0-9]*', or a list of names.",
                    argument="replicates",
                )
        return found
    if isinstance(given, Mapping) or not isinstance(given, (list, tuple)):
        raise InputTypeError(
            f"`replicates` is a {type(given).__name__}; expected a list of columns, or a pattern such as 'rw*'.",
            "name the columns of the data." if hasattr(given, "__len__") else None,
            argument="replicates",
        )
    plain = [name for name in given if isinstance(name, (str, int))]
    twice = next((name for k, name in enumerate(plain) if name in plain[:k]), None)
    if twice is not None:
        raise InputError(f"`replicates` names the column {twice!r} twice.", argument="replicates")
    return tuple(given)

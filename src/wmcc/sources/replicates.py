"""Replicate weights: what the caller says of them, and the columns they are in.

A survey that ships replicate weights gives each row one weight more for each of R resamples of its design. All R
columns are tabulated in the same pass over the rows; the variance of a score follows from the R tables.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, get_args

import numpy as np

from ..core.arraytypes import Array
from ..core.drawn import Drawn, Method, Replicates
from ..core.kernel import MOST_REPLICATES
from ..core.summed import no_cells
from ..errors import InputError, InputTypeError
from ..present.text import counted
from .columns import Column, weight_array

METHODS: tuple[Method, ...] = get_args(Method)

FACTORS: dict[str, Callable[[int, float], float]] = {
    "jk1": lambda R, k: (R - 1) / R,
    "brr": lambda R, k: 1 / R,
    "fay": lambda R, k: 1 / (R * (1 - k) ** 2),
    "bootstrap": lambda R, k: 1 / (R - 1),
    "sdr": lambda R, k: 4 / R,
}
"""The factor of each squared deviation, from the number of replicates and the coefficient of Fay's method."""


class ReplicateWeights(NamedTuple):
    """What the caller said of replicate weights, by the keywords of `tabulate`."""

    columns: Any
    method: Method | None = None
    scales: Any = None
    fay: float | None = None
    df: float | None = None

    def check(self) -> None:
        """Refuse what does not go together, before any data are read."""
        method = self.method
        if method is not None and method not in METHODS:
            raise InputError(
                f"method is {str(method)[:40]!r}; expected one of {', '.join(map(repr, METHODS))}.",
                "for weights of another method give the factor of each squared deviation as scales=.",
                argument="method",
            )
        if method is None and self.scales is None:
            raise InputTypeError(
                "replicates= needs method=, which says how the replicate weights were made.",
                f"give method= one of {', '.join(map(repr, METHODS))}; or scales=, the factor of each squared "
                "deviation. The documentation of the survey names the method.",
                argument="method",
            )
        if method == "jkn" and self.scales is None:
            raise InputTypeError(
                "method='jkn' needs scales=: the factor (m - 1) / m of each replicate, m the number of clusters in the "
                "stratum that lost one.",
                argument="scales",
            )
        if self.scales is not None and method not in (None, "jkn"):
            raise InputTypeError(
                f"method={method!r} has a factor of its own; scales= was given as well.",
                "leave one of them out.",
                argument="scales",
            )
        if method == "fay" and self.fay is None:
            raise InputTypeError("method='fay' needs fay=, its coefficient: often 0.3 or 0.5.", argument="fay")
        if self.fay is not None and method != "fay":
            raise InputTypeError(f"fay= is for method='fay'; method is {method!r}.", argument="fay")
        if self.fay is not None and not (_is_number(self.fay) and 0 <= self.fay < 1):
            raise InputError(f"fay is {self.fay!r}; expected a number of at least 0 and below 1.", argument="fay")
        if self.df is not None and not (_is_number(self.df) and 1 <= self.df < math.inf):
            raise InputError(
                f"df is {self.df!r}; expected a number of at least 1: the clusters of the survey less its strata.",
                argument="df",
            )

    def drawn(self, count: int) -> Drawn:
        """How the rows were drawn, of so many replicates."""
        if not 2 <= count <= MOST_REPLICATES:
            came = f"replicates has {counted(count, 'column')}"
            raise InputError(f"{came}; expected between 2 and {MOST_REPLICATES:,}.", argument="replicates")
        if self.scales is None:
            assert self.method is not None
            scales = (FACTORS[self.method](count, self.fay or 0.0),) * count
        else:
            scales = _scales(self.scales, count)
        df = float(count - 1) if self.df is None else min(float(self.df), count - 1.0)
        return Drawn("replicates", replicates=Replicates(self.method or "scales", scales, df))


def read_replicates(
    replicates: Any, method: Any, scales: Any, fay: Any, df: Any, others: Mapping[str, Any], lacking: str | None
) -> ReplicateWeights | None:
    """Return what the caller said of replicate weights; None if there are none.

    ``others`` are keywords, by name, that say in another way how rows were drawn. ``lacking`` is the keyword of the
    weights themselves if these were not given.
    """
    if replicates is None:
        for name, given in (("method", method), ("scales", scales), ("fay", fay), ("df", df)):
            if given is not None:
                raise InputTypeError(f"{name}= is for replicate weights; there is no replicates=.", argument=name)
        return None
    for name, given in others.items():
        if given is not None:
            raise InputTypeError(
                f"replicates= and {name}= were given; replicate weights already describe how rows were drawn.",
                f"leave {name}= out.",
                argument=name,
            )
    found = ReplicateWeights(replicates, method, scales, fay, df)
    found.check()
    if lacking is not None:
        raise InputTypeError(
            f"replicates= needs {lacking}=, the full-sample weight of each row: replicate weights give the error of a "
            "score, and these give the score.",
            f"give {lacking}= the weights that the survey ships beside its replicate weights; for a sample of equal "
            "weights give ones.",
            argument=lacking,
        )
    return found


def with_replicates(table: Any, drawn: Drawn) -> Any:
    """Return a table, or tables of groups, that knows its replicate weights."""
    assert drawn.replicates is not None
    parts = table.parts if len(table.parts) else no_cells(len(table.parts.codes), len(drawn.replicates.scales))
    return replace(table, parts=parts, drawn=drawn)


def _scales(given: Any, count: int) -> tuple[float, ...]:
    """Read the factor of each squared deviation; one number is that of all."""
    if _is_number(given):
        values = [float(given)] * count
    else:
        if isinstance(given, (str, bytes, Mapping)) or not hasattr(given, "__len__"):
            raise InputTypeError(
                f"scales is {given!r:.60}; expected a number for each replicate, or one for all.", argument="scales"
            )
        values = np.asarray(weight_array(given, "scales"), dtype=np.float64).reshape(-1).tolist()
    if len(values) != count:
        raise InputError(
            f"scales has {len(values):,} numbers, and there are {count:,} replicate weights; expected one for each.",
            argument="scales",
        )
    for place, value in enumerate(values):
        if not 0 <= value < math.inf:
            raise InputError(
                f"scales[{place}] is {value!r}; expected a finite number of at least 0.", argument="scales"
            )
    if not any(values):
        raise InputError("scales are all 0, and would make every variance 0.", argument="scales")
    return tuple(values)


def _is_number(x: Any) -> bool:
    return isinstance(x, numbers.Real) and not isinstance(x, (bool, np.bool_))


# ---- columns of arrays -------------------------------------------------------------------------------------


def replicates_in_arrays(given: Any, shape: tuple[int, ...]) -> list[Column]:
    """Return the columns of replicate weights of labels in memory, each in the shape of the labels."""
    if isinstance(given, str):
        raise InputTypeError(
            f"replicates is {given!r}; a column name or a pattern works only with a frame or a file.",
            "give an array of one column for each replicate, a list of arrays, or a mapping from names.",
            argument="replicates",
        )
    if hasattr(type(given), "columns") and not isinstance(given, Mapping):
        import narwhals as nw  # which arrays and lists do without

        frame = nw.from_native(given, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise InputTypeError(
                f"replicates is a {type(given).__name__}, whose rows are not in memory, while the labels are.",
                "collect it; or name its columns: tabulate(data, true=…, pred=…, replicates='rw*', method=…).",
                argument="replicates",
            )
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
            f"replicates has shape {values.shape}; labels of shape {shape} need {expected}, "
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
                f"no column matches replicates={given!r}; the columns are {shown}.",
                "give a pattern such as 'rw*', in which * stands for any text, or a list of names.",
                argument="replicates",
            )
        for name, word in used.items():
            if name in found:
                raise InputError(
                    f"replicates={given!r} also matches {name!r}, the column of {word}=.",
                    "give a pattern that does not, such as 'rw[0-9]*', or a list of names.",
                    argument="replicates",
                )
        return found
    if isinstance(given, Mapping) or not isinstance(given, (list, tuple)):
        raise InputTypeError(
            f"replicates is a {type(given).__name__}; expected a list of columns, or a pattern such as 'rw*'.",
            "name the columns of the data." if hasattr(given, "__len__") else None,
            argument="replicates",
        )
    plain = [name for name in given if isinstance(name, (str, int))]
    twice = next((name for k, name in enumerate(plain) if name in plain[:k]), None)
    if twice is not None:
        raise InputError(f"replicates names the column {twice!r} twice.", argument="replicates")
    return tuple(given)

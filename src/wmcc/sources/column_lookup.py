"""Columns by their place in a frame: an engine is never told a name, which it might read as something else.

To polars ``^l.*$`` is every column that matches, to DuckDB ``*`` is all of them, and to Spark a dot means a field. So a
name is looked up here, in the list of names, and the engine gets its place there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from narwhals import dependencies

from ..errors import InputError
from .files import one_column


class Data(NamedTuple):
    """A narwhals frame with what is known about its columns.

    Parameters
    ----------
    frame
        The frame, eager or lazy.
    text
        Names of columns that were read as text because their file holds nothing else.
    names
        What its columns are called, in their order, where the frame itself calls them otherwise.
    """

    frame: Any
    text: Collection[Any] = ()
    names: Sequence[Any] | None = None

    def known(self) -> list[Any]:
        """Names of the columns, in their order."""
        return own_names(self.frame) if self.names is None else list(self.names)


class TrueAgain(str):
    """In the place of a predicted label of a join: the true one, since it is a threshold that makes predictions."""

    __slots__ = ()


def is_name(what: Any) -> bool:
    """Whether this names a column: text, or an integer, which pandas has for names too."""
    return isinstance(what, (str, int, np.integer)) and not isinstance(what, bool)


def as_data(data: Any) -> Data | None:
    """Return a native frame, eager or lazy, as one of narwhals; None for what is no frame."""
    names = None
    if dependencies.is_pandas_like_dataframe(data) or dependencies.is_pyarrow_table(data):
        given = list(data.columns if hasattr(data, "iloc") else data.column_names)
        unique = different(given)
        if unique != given:
            data, names = data.set_axis(unique, axis=1) if hasattr(data, "iloc") else data.rename_columns(unique), given
    frame = nw.from_native(data, pass_through=True)
    return Data(frame, (), names) if isinstance(frame, (nw.DataFrame, nw.LazyFrame)) else None


def different(names: list[Any]) -> list[Any]:
    """The names, and something else for those that come more than once: narwhals takes no frame with such."""
    count: dict[Any, int] = {}
    for name in names:
        count[name] = count.get(name, 0) + 1
    return [name if count[name] == 1 else unused(f"wmcc {place}", names) for place, name in enumerate(names)]


def unused(name: str, names: Collection[Any]) -> str:
    """A name that is none of these."""
    while name in names:
        name += "_"
    return name


def own_names(frame: Any) -> list[Any]:
    """What a frame of narwhals calls its columns, in their order."""
    native, engine = frame.to_native(), frame.implementation
    if engine.is_duckdb() or engine.is_spark_like() or engine.is_dask():  # where a name may come twice
        return list(native.columns)
    return list(frame.collect_schema().names())


def place(name: Any, names: Sequence[Any], frame: Any) -> int:
    """Return the place of a column, or say that there is none of the name, or more than one."""
    found = one_column(name, names)
    if frame.implementation.is_ibis():
        alike = [x for x in names if x != name and x.casefold() == name.casefold()]
        if alike:
            raise InputError(
                f"the columns {name!r} and {alike[0]!r} differ only in upper and lower case, and a "
                "database behind ibis may confuse them.",
                "rename one of them.",
            )
    return found


def picked(frame: Any, places: dict[str, int]) -> Any:
    """The columns at some places, by new names."""
    native, engine = frame.to_native(), frame.implementation
    number = {at: f"c{at}" for at in places.values()}
    if engine.is_duckdb():
        native = native.project(", ".join(f"#{at + 1} as {name}" for at, name in number.items()))
    elif engine.is_spark_like():
        native = native.toDF(*(f"c{at}" for at in range(len(native.columns))))
    elif engine.is_dask():
        own = {native.columns[at]: name for at, name in number.items()}
        native = native[list(own)].rename(columns=own)
    else:
        return frame.select(**{role: nw.nth(at) for role, at in places.items()})
    return nw.from_native(native).select(**{role: nw.col(number[at]) for role, at in places.items()})

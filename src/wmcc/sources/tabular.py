"""Frames and files with named columns, one or two of them: from what the caller named to tables."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import narwhals as nw

from ..errors import InputTypeError
from .codes import Rules
from .columns import what
from .engines import check_engine, joining_engine, open_lazy
from .files import Files, find, is_path
from .frames import Columns, as_tuple, tabulate_frame
from .groups import By, check_clusters
from .joins import tabulate_joined
from .options import is_name
from .places import Data, as_data
from .problems import said_by_engines
from .progress import reading
from .scan import scan


def tabulate_columns(
    data: tuple[Any, ...],
    given: list[Any],
    named: dict[str, Any],
    *,
    rules: Rules,
    threads: int | None,
    engine: str | None,
    progress: bool | None,
    by: Any = None,
    cluster: Any = None,
    on: Any = None,
    allow_unmatched: bool = False,
) -> Any:
    """Tabulate columns of one frame or file, or of two with a common key.

    ``named`` are the columns that make up a table, one prediction or two among them; ``given`` come by position and
    are those that have no name there.
    """
    check_engine(engine)
    roles = [role for role, what in named.items() if what is None]
    if on is not None:  # the labels' columns are named, or found
        roles = ["weight"]
    elif allow_unmatched:
        raise InputTypeError("allow_unmatched= goes with on=, the key of two frames or files.")
    if len(given) > len(roles):
        raise InputTypeError(f"{given[-1]!r} is a column too many; the columns are {', '.join(named)}.")
    named = {**named, **dict(zip(roles, given, strict=False))}
    weight = named.pop("weight")
    if on is None and any(what is None for what in named.values()):
        two, three = "two columns of labels, as in tabulate", "three columns of labels, as in joint_table"
        example = f"{two}(data, 'label', 'pred')" if len(named) == 2 else f"{three}(data, 'label', 'old', 'new')"
        raise InputTypeError(f"expected {example}.")
    true, pred, *second = named.values()
    columns = Columns(true, pred, weight, _names(by, "by", data), _names(cluster, "cluster", data), *second)
    found = [find(side) for side in data if is_path(side)]
    if engine is not None and not found:
        raise InputTypeError(f"engine={engine!r} is for files; a frame is tabulated by its own.")
    with reading(found, progress) as bar, _sentences(found), _one_at_a_time(data, engine):
        if on is not None:
            keys, session = as_tuple(_names(on, "on", data)), dict[str, Any]()
            truth, prediction = (_data(side, engine or joining_engine(), columns, session) for side in data)
            tables = tabulate_joined(truth, prediction, columns, keys, rules, threads, allow_unmatched)
        elif found and engine in (None, "arrow"):
            tables = scan(found[0], columns, rules, threads, bar)
        else:
            tables = tabulate_frame(_data(data[0], engine, columns), columns, rules, threads)
    check_clusters(tables, columns.cluster)
    return tables.total() if by is None else tables


def _names(given: Any, word: str, data: tuple[Any, ...]) -> By:
    """Names of columns, given as one or several; integers are names in frames that have such."""
    frames = [native for side in data if hasattr(native := nw.to_native(side, pass_through=True), "iloc")]
    numbers = any(is_name(name) and not isinstance(name, str) for frame in frames for name in frame.columns)
    names = (given,) if is_name(given) else () if given is None else given
    allowed = isinstance(names, (list, tuple)) and all(is_name(x) and (numbers or isinstance(x, str)) for x in names)
    if not allowed or (given is not None and not is_name(given) and not len(names)):
        raise InputTypeError(
            f"{word} is {what(given)}; expected the name of a column, or a list of names.",
            "make it a column of the frame." if hasattr(given, "__len__") else None,
        )
    return given if is_name(given) else tuple(names)


_DASK = threading.Lock()


def _one_at_a_time(data: tuple[Any, ...], engine: str | None) -> AbstractContextManager[Any]:
    """Threads that build queries of Dask at the same time wait for each other in there, for ever."""
    dask = engine == "dask" or any(type(side).__module__.startswith("dask") for side in data)
    return _DASK if dask else nullcontext()


def _sentences(found: list[Files]) -> AbstractContextManager[None]:
    """What an engine raises, as a sentence of ours."""
    if not found:
        return said_by_engines("the engine could not compute the table")
    names = " and ".join(files.name for files in found)
    return said_by_engines(f"{names} cannot be read", "it may be damaged, cut short or of another format.")


def _data(data: Any, engine: str | None, columns: Columns, session: dict[str, Any] | None = None) -> Data:
    """Return a frame, or open a file as one; ``session`` is what two that are to be joined have in common."""
    if is_path(data):  # which columns of two files are wanted is found out later
        wanted = columns.plain() if session is None else []
        return open_lazy(find(data), str(engine), wanted, guess=columns.computed(), session=session)
    frame = as_data(data)
    if frame is None:
        raise InputTypeError(
            f"expected a data frame or a file, to go with columns named in it; got a {type(data).__name__}.",
            "labels themselves are given as tabulate(y_true, y_pred, sample_weight).",
        )
    return frame

"""Frames and files with named columns, one or two of them: from what the caller named to tables."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any

import narwhals as nw

from ..errors import InputTypeError, WeightError
from .arrow_batches import scan
from .codes import Rules
from .column_lookup import Data, as_data, is_name
from .columns import what
from .datasets import column_names
from .engines import joining_engine, open_lazy
from .files import FileSet, find, is_path
from .frames import NamedColumns, as_tuple, is_series, tabulate_frame
from .groups import By, check_clusters
from .joins import tabulate_joined
from .problems import said_by_engines
from .progress import reading
from .replicates import drawn_by, replicate_columns, with_replicates
from .values import Files, Join, Replicates


def tabulate_columns(data: Any, columns: NamedColumns, rules: Rules, threads: int | None, progress: bool | None) -> Any:
    """Tabulate columns of a frame or file, or of two with a common key; tables of the groups, if there are any."""
    join = data if isinstance(data, Join) else None
    given = (data,) if join is None else (join.truth, join.prediction)
    sides = tuple(x.paths if isinstance(x, Files) else x for x in given)
    engine = _engine_of(given)
    series: dict[str, Any] = {}
    by, cluster = (
        _names(_without_series(given, word, series), word, sides)
        for given, word in ((columns.by, "by"), (columns.cluster, "cluster"))
    )
    columns = replace(columns, by=by, cluster=cluster, series=series)
    found = [find(side) for side in sides if is_path(side)]
    if series and (found or join is not None):
        raise InputTypeError("a series of keys goes with the one frame that it is of.", "name a column of the data.")
    if columns.resampled is not None:
        with _sentences(found, {}), _one_at_a_time(sides):
            columns = _with_replicates(columns, columns.resampled, sides, engine)
    with reading(found, progress) as bar, _sentences(found, columns.weights), _one_at_a_time(sides):
        if join is not None:
            keys, session = as_tuple(_names(join.on, "on", sides)), dict[str, Any]()
            own = joining_engine() if engine == "arrow" else engine
            truth, prediction = (_data(side, own, columns, session) for side in sides)
            if len(found) == 1 and engine == "arrow":
                truth, prediction = _in_memory(truth, prediction)
            tables = tabulate_joined(truth, prediction, columns, keys, rules, threads, join.unmatched)
        elif found and engine == "arrow":
            tables = scan(found[0], columns, rules, threads, bar)
        else:
            tables = tabulate_frame(_data(sides[0], engine, columns), columns, rules, threads)
    if not columns.counted:  # strata are checked where it is known which of the columns have them
        check_clusters(tables, columns.cluster)
    if columns.resampled is not None:
        tables = with_replicates(tables, columns.resampled, len(columns.resampled.replicates))
    return tables if by != () else tables.total()


def _engine_of(sides: tuple[Any, ...]) -> str:
    """The engine that was named, which is that of both sides of a join; a plain path names none."""
    engines = {x.engine for x in sides if isinstance(x, Files)}
    if len(engines) > 1:
        raise InputTypeError(
            f"the two sides of a join have the engines {' and '.join(map(repr, sorted(engines)))}; expected one.",
            argument="engine",
        )
    return next(iter(engines), "arrow")


def _with_replicates(columns: NamedColumns, resampled: Replicates, sides: tuple[Any, ...], engine: str) -> NamedColumns:
    """Put the columns of replicate weights in the place of a pattern."""
    names, plain = dict[Any, None](), replace(columns, resampled=None)
    if isinstance(resampled.replicates, str):
        for side in sides:
            if is_path(side) and len(sides) == 1 and engine == "arrow":
                names |= dict.fromkeys(column_names(find(side)))
            else:
                names |= dict.fromkeys(
                    _data(side, joining_engine() if engine == "arrow" else engine, plain, {}).known()
                )
    words = {"t": "true", "p": "pred", "w": "weight", "b": "by", "c": "cluster"}
    used = {name: words[role[0]] for role, name in plain.named.items()}
    several = replicate_columns(resampled.replicates, list(names), used)
    drawn_by(resampled, len(several))  # what is wrong is said before rows are read
    return replace(columns, resampled=replace(resampled, replicates=several))


def _without_series(given: Any, word: str, series: dict[str, Any]) -> Any:
    """Put the names of series of the frame in their place, and note the series by their roles."""
    several = list(given) if isinstance(given, (list, tuple)) else [given]
    for i, one in enumerate(several):
        if is_series(one):
            series[f"{word[0]}{i}"], several[i] = one, str(getattr(one, "name", None) or word)
    return several if isinstance(given, (list, tuple)) else several[0]


def _names(given: Any, word: str, data: tuple[Any, ...]) -> By:
    """Names of columns, given as one or several; integers are names in frames that have such."""
    frames = [native for side in data if hasattr(native := nw.to_native(side, pass_through=True), "iloc")]
    numbers = any(is_name(name) and not isinstance(name, str) for frame in frames for name in frame.columns)
    single = is_name(given)
    names = (given,) if single else () if given is None else given
    allowed = isinstance(names, (list, tuple)) and all(is_name(x) and (numbers or isinstance(x, str)) for x in names)
    if not allowed or (given is not None and not single and not len(names)):
        raise InputTypeError(
            f"{word} is {what(given)}; expected the name of a column, or a list of names.",
            "make it a column of the frame." if hasattr(given, "__len__") else None,
        )
    return given if single else tuple(names)


_DASK = threading.Lock()


def _one_at_a_time(data: tuple[Any, ...]) -> AbstractContextManager[Any]:
    """Threads that build queries of Dask at the same time wait for each other in there, for ever."""
    return _DASK if any(type(side).__module__.startswith("dask") for side in data) else nullcontext()


def _sentences(found: list[FileSet], weights: dict[str, Any]) -> AbstractContextManager[None]:
    """What an engine raises, as a sentence of ours."""
    if not found:
        return said_by_engines("the engine could not compute the table")
    names = " and ".join(files.name for files in found)

    def bad_weight() -> WeightError | None:
        """Look for the first value of a file of text that is no number where a weight is expected."""
        for files in found:
            first = None
            with suppress(Exception):  # a damaged file: what the engine says is said
                first = files.first_not_a_number(weights.values())
            if first is not None:
                column, line, value = first
                words = ["`weight`" if role == "w" else "`replicates`" for role in weights if weights[role] == column]
                return WeightError(
                    f"{names} cannot be read: the column {column!r} holds a value that is not a number, in line "
                    f"{line}: {value!r}.",
                    f"a weight must be a number; name another column in {words[0]}, or correct the file.",
                )
        return None

    return said_by_engines(f"{names} cannot be read", "it may be damaged, cut short or of another format.", bad_weight)


def _in_memory(*sides: Data) -> tuple[Data, ...]:
    """A file is read, and both sides are Arrow's, if the other is a frame in memory; a lazy one is left as it is."""
    if all(isinstance(side.frame, nw.LazyFrame) for side in sides):
        return sides
    found = (side.frame.collect("pyarrow") if isinstance(side.frame, nw.LazyFrame) else side.frame for side in sides)
    frames = [nw.from_native(frame.to_arrow()) for frame in found]
    return tuple(side._replace(frame=frame) for side, frame in zip(sides, frames, strict=True))


def _data(data: Any, engine: str | None, columns: NamedColumns, session: dict[str, Any] | None = None) -> Data:
    """Return a frame, or open a file as one; ``session`` is what two that are to be joined have in common."""
    if is_path(data):  # which columns of two files are wanted is found out later
        wanted = columns.plain if session is None else []
        return open_lazy(find(data), str(engine), wanted, guess=columns.computed, session=session)
    frame = as_data(data)
    if frame is None:
        raise InputTypeError(
            f"`true` and `pred` name columns of a frame or a file; got a {type(data).__name__}.",
            "pass labels as tabulate(y_true, y_pred, sample_weight), without `true` and `pred`.",
        )
    return frame

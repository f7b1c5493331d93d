"""Tables from data frames of any engine that narwhals knows.

A frame in memory is read column by column by the exact kernel; a lazy one is asked for one group-by.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import narwhals as nw
import numpy as np

from ..arraytypes import Array, IntArray
from ..errors import InputError, InputTypeError, LabelError, WeightError
from . import series
from .arrays import tabulate_arrays
from .codebook import Rules
from .columns import Column, label_column, weight_array
from .groups import Key, Tables, add, plain_key
from .problems import Problems
from .pushdown import Cells


class Columns(NamedTuple):
    """Which columns of a frame hold what: names, or expressions of narwhals or of the frame's own engine."""

    true: Any
    pred: Any
    weight: Any = None
    by: tuple[str, ...] = ()

    def roles(self) -> dict[str, Any]:
        """The same by the names used inside: t, p, w, and b0, b1, … for groups."""
        by = {f"b{i}": name for i, name in enumerate(self.by)}
        return {"t": self.true, "p": self.pred, **({} if self.weight is None else {"w": self.weight}), **by}

    def names(self) -> dict[str, str]:
        """What to call each in a message."""
        words = {"t": "true", "p": "pred", "w": "weight"}
        return {role: x if isinstance(x, str) else words[role] for role, x in self.roles().items()}


def as_frame(data: Any) -> Any:
    """Return a narwhals frame of a native one, eager or lazy; None for what is no frame."""
    frame = nw.from_native(data, pass_through=True)
    return frame if isinstance(frame, (nw.DataFrame, nw.LazyFrame)) else None


def tabulate_frame(frame: Any, columns: Columns, rules: Rules, threads: int | None) -> Tables:
    """One table per group of a narwhals frame; without groups, the one of the empty tuple."""
    frame = selected(frame, columns.roles())
    return tabulate_selected(frame, columns.names(), rules, threads)


def tabulate_selected(frame: Any, names: dict[str, str], rules: Rules, threads: int | None) -> Tables:
    """The same for a frame that has the columns t, p, w, b0, … and nothing else."""
    frame = checked(frame, names)
    if isinstance(frame, nw.DataFrame):
        return tabulate_in_memory(frame, names, rules, threads)
    cells = Cells(frame, names)
    cells.problems(rules).refuse(names)
    return cells.tables(rules) or _no_rows()


# ---- choosing columns ------------------------------------------------------------------------------


def selected(frame: Any, roles: dict[str, Any]) -> Any:
    """The frame with the chosen columns only, renamed to their roles."""
    made = {}
    for role, what in roles.items():
        if not isinstance(what, str):
            made[role] = f"wmcc {role}"
            frame = _with_expression(frame, made[role], what)
    names = frame.collect_schema().names()
    chosen = {role: made.get(role, what) for role, what in roles.items()}
    for name in chosen.values():
        if name not in names:
            raise no_column(name, names)
    if frame.implementation.is_spark_like():  # where a dot in a name means a field, and a backtick ends it
        place = {name: f"c{i}" for i, name in enumerate(names)}
        frame = nw.from_native(frame.to_native().toDF(*place.values()))
        chosen = {role: place[name] for role, name in chosen.items()}
    return frame.select(**{role: nw.col(name) for role, name in chosen.items()})


def no_column(name: str, names: list[str]) -> InputError:
    """Say that a column is not there, and which may be meant."""
    near = difflib.get_close_matches(name, names, 1) or [x for x in names if x.lower() == name.lower()]
    shown = ", ".join(map(repr, names[:20])) + (f", … ({len(names)} in all)" if len(names) > 20 else "")
    return InputError(
        f"there is no column {name!r}; the columns are {shown}.", f"did you mean {near[0]!r}?" if near else None
    )


def _with_expression(frame: Any, name: str, expression: Any) -> Any:
    """Add a column computed by an expression of narwhals, or of the engine that holds the frame."""
    if isinstance(expression, nw.Expr):
        return frame.with_columns(expression.alias(name))
    native, engine = frame.to_native(), frame.implementation
    try:
        if engine.is_polars():
            native = native.with_columns(expression.alias(name))
        elif engine.is_spark_like():
            native = native.withColumn(name, expression)
        elif engine.is_duckdb():
            import duckdb

            native = native.select(duckdb.StarExpression(), expression.alias(name))
        elif engine.is_ibis():
            native = native.mutate(**{name: expression})
        else:
            raise TypeError("no such expressions")
    except Exception as problem:
        raise InputTypeError(
            f"{expression!r} is neither a column's name nor an expression that {str(engine).lower()} takes: {problem}",
            "give a name, or an expression such as narwhals.col('area') / 10_000.",
        ) from problem
    return nw.from_native(native)


LABELS = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Decimal, nw.Binary, nw.Object, nw.Unknown)


def checked(frame: Any, names: dict[str, str]) -> Any:
    """Refuse columns that are neither labels nor weights; make text of categories, which not all engines group."""
    schema, lazy, casts = frame.collect_schema(), isinstance(frame, nw.LazyFrame), []
    for role in ("t", "p"):
        kind = schema[role]
        if not (kind.is_numeric() or kind in LABELS):
            raise InputTypeError(
                f"column {names[role]!r} holds {kind}; labels must be integers, booleans or strings.",
                "cast it to text if it names classes.",
            )
        if lazy and kind in (nw.Categorical, nw.Enum):
            casts.append(nw.col(role).cast(nw.String))
    if "w" in names:
        kind = schema["w"]
        if not (kind.is_numeric() or kind == nw.Boolean or (not lazy and kind in (nw.Object, nw.Unknown))):
            raise InputTypeError(
                f"column {names['w']!r} holds {kind}; a weight must be a real number.", "cast it to a number first."
            )
    return frame.with_columns(*casts) if casts else frame


# ---- frames in memory ------------------------------------------------------------------------------


def tabulate_in_memory(frame: Any, names: dict[str, str], rules: Rules, threads: int | None) -> Tables:
    """Tables of an eager frame, with exact sums."""
    if not len(frame):
        _no_rows()
    try:
        return read_in_memory(frame, names, rules, threads)
    except (LabelError, WeightError) as problem:  # how many rows are bad is worth knowing, and the engine can count
        count_problems(frame, names, rules).refuse(names, problem)
        raise


def count_problems(frame: Any, names: dict[str, str], rules: Rules) -> Problems:
    """Let an eager frame's engine count the rows that cannot be tabulated."""
    return Cells(frame.lazy(), {role: name for role, name in names.items() if role in "tpw"}).problems(rules)


def _no_rows() -> NoReturn:
    raise InputError("there are no rows: the frame is empty.")


def read_in_memory(frame: Any, names: dict[str, str], rules: Rules, threads: int | None, first: int = 0) -> Tables:
    """Tables of an eager frame that is not empty; ``first`` is the number of its first row, for messages."""
    columns = [label_column(frame[role].to_native(), names[role], first) for role in ("t", "p")]
    weights = weight_array(frame["w"].to_native(), names["w"], first) if "w" in names else None
    by = [frame[name] for name in names if name.startswith("b")]
    if not by:
        return {(): tabulate_arrays(columns[0], columns[1], weights, rules, threads, names.get("w"))}
    return _tabulate_groups(by, columns, weights, rules, threads, names.get("w"))


def _tabulate_groups(
    by: list[Any], columns: list[Column], weights: Array | None, rules: Rules, threads: int | None, name: str | None
) -> Tables:
    tables: Tables = {}
    try:
        for key, rows in _groups(by):
            truth, pred = (column._replace(values=column.values[rows]) for column in columns)
            part = None if weights is None else weights[rows]
            table = tabulate_arrays(truth, pred, part, rules, threads, name)
            add(tables, key, table)  # null and NaN are one key
    except (LabelError, WeightError):
        tabulate_arrays(
            columns[0], columns[1], weights, rules, threads, name
        )  # raises the same, with the row in the frame
        raise
    return tables


def _groups(by: list[Any]) -> Iterator[tuple[Key, IntArray]]:
    """Keys, and the rows that have them."""
    codes = np.zeros(len(by[0]), dtype=np.int64)
    tuples: list[Key] = [()]
    for column in by:
        own, keys = series.group_codes(column.to_native())
        used, codes = np.unique(codes * len(keys) + own, return_inverse=True)
        tuples = [(*tuples[k // len(keys)], plain_key(keys[k % len(keys)])) for k in used.tolist()]
    rows, ends = np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))
    yield from zip(tuples, np.split(rows, ends[:-1]), strict=True)

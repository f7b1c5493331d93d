"""Tables from data frames of any engine that narwhals knows.

A frame in memory is read column by column by the exact kernel; a lazy one is asked for one group-by.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

import narwhals as nw

from ..core.tables import Tables
from ..errors import InputError, InputTypeError, LabelError, WeightError
from . import series
from .arrays import tabulate_arrays
from .codes import Rules
from .columns import label_column, weight_array
from .groups import By, Keyed, Parts, keyed
from .options import is_name
from .places import Data, own_names, picked, place, unused
from .problems import LABEL_ROLES, Problems
from .pushdown import Cells


class Columns(NamedTuple):
    """Which columns of a frame hold what: names, or expressions of narwhals or of the frame's own engine."""

    true: Any
    pred: Any
    weight: Any = None
    by: By = ()
    cluster: By = ()
    second: Any = None

    def roles(self) -> dict[str, Any]:
        """By the names used inside: t, p, q for another prediction, w; b0, … for groups and c0, … for clusters."""
        keys = {f"{letter}{i}": name for letter, own in self.keys().items() for i, name in enumerate(own)}
        maybe = {role: what for role, what in (("q", self.second), ("w", self.weight)) if what is not None}
        return {"t": self.true, "p": self.pred, **maybe, **keys}

    def keys(self) -> dict[str, tuple[Any, ...]]:
        """Columns of keys: b for groups, c for clusters."""
        return {"b": as_tuple(self.by), "c": as_tuple(self.cluster)}

    def plain(self) -> list[Any] | None:
        """Names of the columns that are needed; None if expressions may need any."""
        return None if self.computed() else list(dict.fromkeys(self.roles().values()))

    def computed(self) -> bool:
        """Whether there are expressions, which may need any column."""
        return any(what is not None and not is_name(what) for what in self.roles().values())

    def names(self) -> dict[str, Any]:
        """What to call each in a message."""
        words = {"t": "true", "p": "pred" if self.second is None else "pred_a", "q": "pred_b", "w": "weight"}
        return {role: x if is_name(x) else words[role] for role, x in self.roles().items()}


def as_tuple(by: By) -> tuple[Any, ...]:
    """Names of columns, of one or of several."""
    return by if isinstance(by, tuple) else (by,)


def tabulate_frame(data: Data, columns: Columns, rules: Rules, threads: int | None) -> Tables[Any]:
    """One table per group; without groups, the one of the empty tuple."""
    frame, text = selected(data, columns.roles())
    names = columns.names()
    frame = checked(frame, names)
    if isinstance(frame, nw.DataFrame):
        return tabulate_in_memory(frame, columns, rules, threads)
    cells = Cells(frame, names, rules, text, columns.by, columns.cluster)
    cells.problems().refuse(names)
    return cells.tables() if cells.rows else no_rows()


def no_rows(where: str = "the frame") -> NoReturn:
    """Say that there is nothing to tabulate."""
    raise InputError(f"there are no rows: {where} is empty.")


# ---- choosing columns ------------------------------------------------------------------------------


def selected(data: Data, roles: dict[str, Any]) -> tuple[Any, set[str]]:
    """The frame with the chosen columns only, renamed to their roles; and which of those are text to be read."""
    frame, names = data.frame, data.known()
    places = {role: place(what, names, frame) for role, what in roles.items() if is_name(what)}
    for role, what in roles.items():
        if role not in places:
            own = own_names(frame)
            frame, places[role] = _with_expression(frame, unused(f"wmcc {role}", own), what), len(own)
    frame = picked(frame, {role: places[role] for role in roles})
    text = {role for role, what in roles.items() if is_name(what) and what in data.text}
    casts = [nw.col("w").cast(nw.Float64)] if "w" in text else []
    if text & set(LABEL_ROLES):  # labels are compared with each other: all are text then
        casts += [nw.col(role).cast(nw.String) for role in LABEL_ROLES if role in roles and role not in text]
        text |= {"t", "p"}
    return (frame.with_columns(*casts) if casts else frame), text - {"w"}


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
            raise TypeError("it has none of its own")
    except Exception as problem:
        raise InputTypeError(
            f"a {type(expression).__name__} is neither a column's name nor an expression that "
            f"{str(engine).lower()} takes: {problem}",
            "give a name, or an expression such as narwhals.col('area') / 10_000.",
        ) from problem
    return nw.from_native(native)


LABELS = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Decimal, nw.Binary, nw.Object, nw.Unknown)


def checked(frame: Any, names: dict[str, Any]) -> Any:
    """Refuse columns that are neither labels nor weights; make text of categories, which not all engines group."""
    schema, lazy, casts = frame.collect_schema(), isinstance(frame, nw.LazyFrame), []
    for role in (role for role in LABEL_ROLES if role in names):
        kind = schema[role]
        if not (kind.is_numeric() or kind in LABELS):
            raise InputTypeError(
                f"column {names[role]!r} holds {kind}; labels must be integers, booleans or strings.",
                "cast it to text if it names classes.",
            )
        if lazy and kind in (nw.Categorical, nw.Enum):
            casts.append(nw.col(role).cast(category_type(frame, role)))
    if "w" in names:
        kind = schema["w"]
        if not (kind.is_numeric() or kind == nw.Boolean or (not lazy and kind in (nw.Object, nw.Unknown))):
            raise InputTypeError(
                f"column {names['w']!r} holds {kind}; a weight must be a real number.", "cast it to a number first."
            )
    for role in (role for role in names if role[0] in "bc"):
        kind, pandas = schema[role], frame.implementation.is_pandas_like() or frame.implementation.is_dask()
        if kind.is_nested() or (kind == nw.Datetime and kind.time_unit == "ns" and not pandas):
            raise InputTypeError(
                f"column {names[role]!r} holds {kind}; rows cannot be grouped by it.",
                "group by text or numbers made of it.",
            )
    return frame.with_columns(*casts) if casts else frame


def category_type(frame: Any, role: str) -> Any:
    """What the categories of a column are: text, but pandas and Dask may have integers."""
    if frame.implementation.is_pandas_like() or frame.implementation.is_dask():
        categories = getattr(frame.to_native()[role].dtype, "categories", None)
        if categories is not None and getattr(categories.dtype, "kind", "") in ("i", "u"):
            return nw.Int64
    return nw.String


# ---- frames in memory ------------------------------------------------------------------------------


def tabulate_in_memory(
    frame: Any, columns: Columns, rules: Rules, threads: int | None, numbered: bool = True
) -> Tables[Any]:
    """Tables of an eager frame, with exact sums; ``numbered`` if its rows are the caller's, for messages."""
    if not len(frame):
        no_rows()
    names = columns.names()
    try:
        return read_in_memory(frame, columns, rules, threads)
    except (LabelError, WeightError) as problem:  # how many rows are bad is worth knowing, and the engine can count
        problems = Problems()
        with suppress(InputTypeError, LabelError):  # what is no label cannot be counted either
            problems = count_problems(frame, names, rules)
        problems.refuse(names, problem if numbered else None)
        raise


def count_problems(frame: Any, names: dict[str, Any], rules: Rules) -> Problems:
    """Let an eager frame's engine count the rows that cannot be tabulated."""
    ungrouped = {role: name for role, name in names.items() if role in (*LABEL_ROLES, "w")}
    return Cells(frame.lazy(), ungrouped, rules).problems()


def read_in_memory(frame: Any, columns: Columns, rules: Rules, threads: int | None, first: int = 0) -> Tables[Any]:
    """Tables of an eager frame that is not empty; ``first`` is the number of its first row, for messages."""
    names = columns.names()
    called = {role: name if isinstance(name, str) else f"column {name}" for role, name in names.items()}
    labels = [label_column(frame[role].to_native(), called[role], first) for role in LABEL_ROLES if role in names]
    weights = weight_array(frame["w"].to_native(), called["w"], first) if "w" in names else None
    groups, clusters = (_keyed(frame, letter, by) for letter, by in (("b", columns.by), ("c", columns.cluster)))
    found = tabulate_arrays(labels, weights, rules, threads, called.get("w"), Parts(groups, clusters))
    return found if isinstance(found, Tables) else Tables.of({(): found}, ())


def _keyed(frame: Any, letter: str, by: By) -> Keyed | None:
    """Keys of the rows of an eager frame, if there are any."""
    roles = [f"{letter}{i}" for i in range(len(as_tuple(by)))]
    return keyed(by, [series.group_codes(frame[role].to_native()) for role in roles]) if roles else None

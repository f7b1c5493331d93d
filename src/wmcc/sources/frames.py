"""Tables from data frames of any engine that narwhals knows.

A frame in memory is read column by column by the exact kernel; a lazy one is asked for one group-by.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals as nw
from narwhals import dependencies

from ..core.tables import Tables
from ..errors import InputError, InputTypeError, LabelError, WeightError
from . import series
from .arrays import nothing, tabulate_arrays
from .codes import Rules
from .column_lookup import Data, is_name, own_names, picked, place, unused
from .columns import Column, label_column, weight_array
from .groups import By, Keyed, Parts, integer_codes, keyed, one_key
from .problems import Problems, label_roles, replicate_roles
from .pushdown import GroupedCells
from .values import Replicates


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """Which columns of a frame hold what: names, or expressions of narwhals or of the frame's own engine."""

    true: Any
    preds: tuple[Any, ...]
    weight: Any = None
    by: By = ()
    cluster: By = ()
    predictions: tuple[str, ...] = ()
    """Names of the predictions, if the caller named them."""
    series: dict[str, Any] = field(default_factory=dict)
    """Groups and clusters, by role, that are given as series of the frame."""
    resampled: Replicates | None = None
    """Replicate weights; their columns, when it is known which those are."""
    counted: bool = False
    """Whether tables are to know how many rows each cluster has, those included that `ignore` leaves out."""

    @cached_property
    def roles(self) -> dict[str, Any]:
        """By the names used inside: t, w; p0 … for predictions, r0 … replicates, b0 … groups and c0 … clusters."""
        replicates = () if self.resampled is None else self.resampled.replicates
        several = {"p": self.preds, "r": replicates, "b": as_tuple(self.by), "c": as_tuple(self.cluster)}
        numbered = {f"{letter}{i}": x for letter, own in several.items() for i, x in enumerate(own)}
        weight = {} if self.weight is None else {"w": self.weight}
        return {"t": self.true, **weight, **numbered, **self.series}

    @cached_property
    def named(self) -> dict[str, Any]:
        """Those of them that are names of columns, and no expressions."""
        return {role: what for role, what in self.roles.items() if is_name(what)}

    @property
    def weights(self) -> dict[str, Any]:
        """Names of the columns of weights, and of replicate weights, by role."""
        return {role: name for role, name in self.named.items() if role[0] in "wr"}

    @property
    def plain(self) -> list[Any] | None:
        """Names of the columns that are needed; None if expressions may need any."""
        return None if self.computed else list(dict.fromkeys(self.named.values()))

    @property
    def computed(self) -> bool:
        """Whether there are expressions, which may need any column."""
        return len(self.named) < len(self.roles)

    @cached_property
    def names(self) -> dict[str, Any]:
        """What to call each in a message."""
        keys = replace(self, series={}).roles if self.series else self.roles
        words = {"t": "true", "w": "weight", "p0": "pred"}
        words |= {f"p{i}": f"pred[{name!r}]" for i, name in enumerate(self.predictions)}
        words |= {role: f"replicates[{role[1:]}]" for role in replicate_roles(self.roles)}
        return {role: self.named.get(role, words.get(role, keys[role])) for role in self.roles}


def as_tuple(by: By) -> tuple[Any, ...]:
    """Names of columns, of one or of several."""
    return by if isinstance(by, tuple) else (by,)


def tabulate_frame(data: Data, columns: NamedColumns, rules: Rules, threads: int | None) -> Tables[Any]:
    """One table per group; without groups, the one of the empty tuple."""
    frame, text = selected(data, columns.roles)
    names = columns.names
    frame = checked(frame, names)
    if isinstance(frame, nw.DataFrame):
        return tabulate_in_memory(frame, columns, rules, threads)
    cells = GroupedCells(frame, names, rules, text)
    cells.problems().refuse(names)
    return cells.tables(columns)


def no_rows(columns: NamedColumns, rules: Rules) -> Tables[Any]:
    """Tables of a frame without rows: of no groups, or of the one group of all rows."""
    groups, clusters = (
        keyed(by, [((), ())] * len(as_tuple(by))) if by != () else None for by in (columns.by, columns.cluster)
    )
    if clusters is None and columns.counted:
        clusters = one_key((0,))
    found = nothing(rules, Parts(groups, clusters), columns.predictions)
    return found if isinstance(found, Tables) else Tables.of({(): found}, ())


# ---- choosing columns ------------------------------------------------------------------------------


def selected(data: Data, roles: dict[str, Any]) -> tuple[Any, set[str]]:
    """The frame with the chosen columns only, renamed to their roles; and which of those are text to be read."""
    frame, names = data.frame, data.known()
    named = {role: what for role, what in roles.items() if is_name(what)}
    places = {role: place(name, names, frame) for role, name in named.items()}
    for role, what in roles.items():
        if role not in places:
            own = own_names(frame)
            frame, places[role] = with_expression(frame, unused(f"wmcc {role}", own), what), len(own)
    frame = picked(frame, {role: places[role] for role in roles})
    text = {role for role, name in named.items() if name in data.text}
    numbers = [role for role in ("w", *replicate_roles(roles)) if role in text]
    casts = [nw.col(role).cast(nw.Float64) for role in numbers]
    labels = label_roles(roles)
    if text & set(labels):  # labels are compared with each other: all are text then
        casts += [nw.col(role).cast(nw.String) for role in labels if role not in text]
        text |= set(labels)
    return (frame.with_columns(*casts) if casts else frame), text.difference(numbers)


def with_expression(frame: Any, name: str, expression: Any) -> Any:
    """Add a column computed by an expression of narwhals, or of the engine that holds the frame."""
    if isinstance(expression, nw.Expr):
        return frame.with_columns(expression.alias(name))
    native, engine = frame.to_native(), frame.implementation
    if is_series(expression):
        _check_series(native, expression, engine)
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
        elif engine.is_pyarrow():
            native = native.append_column(name, expression)
        elif hasattr(expression, "dtype") and hasattr(expression, "index"):  # of pandas, or of Dask
            native = native.assign(**{name: expression})
        else:
            raise TypeError(f"{str(engine).lower()} has no expressions")
    except Exception as problem:
        raise InputTypeError(
            f"a {type(expression).__name__} cannot be used as a column: {problem}",
            "give a column name, a series of the same frame, or an expression such as narwhals.col('area') / 10_000.",
        ) from problem
    return nw.from_native(native)


def is_series(given: Any) -> bool:
    """Whether this is a column that is computed already: of pandas, polars or PyArrow."""
    return dependencies.is_into_series(given) or type(given).__module__.startswith("pyarrow")


def _check_series(native: Any, series: Any, engine: Any) -> None:
    """Refuse a series that is not one of the same frame."""
    if not hasattr(native, "__len__"):
        raise InputTypeError(
            "a series cannot be used with a lazy frame, whose rows are not known yet.",
            "add it to the frame as a column, or give an expression.",
        )
    if len(series) != len(native):
        raise InputError(
            f"the series has {len(series):,} rows, but the frame has {len(native):,}.",
            "give a series of the same frame.",
        )
    if engine.is_pandas_like() and hasattr(series, "index") and not series.index.equals(native.index):
        raise InputError(
            "the index of a series differs from that of the frame, so pairing the rows by position could be wrong.",
            "give a series of the same frame, or add it as a column: frame.assign(w=series).",
        )


LABELS = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Decimal, nw.Binary, nw.Object, nw.Unknown)


def checked(frame: Any, names: dict[str, Any]) -> Any:
    """Refuse columns that are neither labels nor weights; make text of categories, which not all engines group."""
    schema, lazy, casts = frame.collect_schema(), isinstance(frame, nw.LazyFrame), []
    for role in label_roles(names):
        kind = schema[role]
        if not (kind.is_numeric() or kind in LABELS):
            raise InputTypeError(
                f"column {names[role]!r} holds {kind}; labels must be integers, booleans or strings.",
                "cast it to text if it names classes.",
            )
        if lazy and kind in (nw.Categorical, nw.Enum):
            casts.append(nw.col(role).cast(category_type(frame, role)))
    for role in ["w"] * ("w" in names) + replicate_roles(names):
        kind = schema[role]
        if not (kind.is_numeric() or kind == nw.Boolean or (not lazy and kind in (nw.Object, nw.Unknown))):
            raise InputTypeError(
                f"column {names[role]!r} holds {kind}; a {'weight' if role == 'w' else 'replicate weight'} must be a "
                "real number.",
                "cast it to a number first.",
            )
    for role in (role for role in names if role[0] in "bc"):
        kind, pandas = schema[role], frame.implementation.is_pandas_like() or frame.implementation.is_dask()
        if kind.is_nested() or (kind == nw.Datetime and kind.time_unit == "ns" and not pandas):
            raise InputTypeError(
                f"column {names[role]!r} holds {kind}; rows cannot be grouped by it.",
                "convert it to text or integers first.",
            )
        if kind.is_float() and frame.implementation.is_dask():
            casts.append(nw.col(role) + 0.0)  # −0 is 0: its group-by puts rows into wrong groups where both are
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
    frame: Any, columns: NamedColumns, rules: Rules, threads: int | None, numbered: bool = True
) -> Tables[Any]:
    """Tables of an eager frame, with exact sums; ``numbered`` if its rows are the caller's, for messages."""
    if not len(frame):
        return no_rows(columns, rules)
    names = columns.names
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
    ungrouped = {role: name for role, name in names.items() if role[0] in "tpw"}
    return GroupedCells(frame.lazy(), ungrouped, rules).problems()


def read_in_memory(frame: Any, columns: NamedColumns, rules: Rules, threads: int | None, first: int = 0) -> Tables[Any]:
    """Tables of an eager frame that is not empty; ``first`` is the number of its first row, for messages."""
    names = columns.names
    called = {role: name if isinstance(name, str) else f"column {name}" for role, name in names.items()}
    labels = [
        label_column(frame[role].to_native(), called[role], first, rules.skip_missing) for role in label_roles(names)
    ]
    weights = weight_array(frame["w"].to_native(), called["w"], first) if "w" in names else None
    groups = _keyed(frame, "b", columns.by)
    clusters = _keyed(frame, "c", columns.cluster)
    if clusters is None and columns.counted:
        clusters = one_key((len(frame),))
    replicates = [
        Column(called[role], weight_array(frame[role].to_native(), called[role], first), None, first)
        for role in replicate_roles(names)
    ]
    parts = Parts(groups, clusters, columns.counted)
    found = tabulate_arrays(
        labels, weights, rules, threads, called.get("w"), parts, names=columns.predictions, replicates=replicates
    )
    return found if isinstance(found, Tables) else Tables.of({(): found}, ())


def _keyed(frame: Any, letter: str, by: By) -> Keyed | None:
    """Keys of the rows of an eager frame, if there are any."""
    roles = [f"{letter}{i}" for i in range(len(as_tuple(by)))]
    return keyed(by, [_group_codes(frame[role]) for role in roles]) if roles else None


def _group_codes(column: Any) -> tuple[Any, Sequence[Any]]:
    """Codes of the values of a column, and these values; integers that are close together need no look-up."""
    found = integer_codes(column.to_numpy()) if column.dtype.is_integer() and not column.null_count() else None
    return found or series.group_codes(column.to_native())

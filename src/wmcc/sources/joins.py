"""Truth and prediction in two frames, brought together by a key; a key without a partner is never dropped silently."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from ..core.tables import Tables
from ..errors import InputError, InputTypeError
from ..present.text import counted
from .codes import Rules
from .column_lookup import Data, TrueAgain, is_name
from .files import no_column, one_column
from .frames import NamedColumns, category_type, checked, read_in_memory, selected, tabulate_in_memory
from .problems import label_roles
from .pushdown import GroupedCells, collect
from .text_types import text_rules, typed

MATCHED, ONLY_TRUTH, ONLY_PRED, TWICE_TRUTH, TWICE_PRED, NO_KEY = range(6)


def tabulate_joined(
    truth: Data,
    pred: Data,
    columns: NamedColumns,
    on: tuple[Any, ...],
    rules: Rules,
    threads: int | None,
    unmatched: str,
) -> Tables[Any]:
    """Tables of the rows that two narwhals frames of one engine have in common."""
    engines = [_engine(side.frame) for side in (truth, pred)]
    if engines[0] != engines[1]:
        raise InputTypeError(
            f"truth is a frame of {engines[0]} and prediction one of {engines[1]}; they cannot be joined.",
            "convert one to the other's engine.",
        )
    _check_columns(truth, pred, columns, on)
    names = columns.names
    joined, text = _joined(truth, pred, columns, on)
    frame = checked(joined, names)
    if isinstance(frame, nw.LazyFrame):
        cells = GroupedCells(frame, {**names, "status": "status"}, rules, text)
        left_out = _sift(cells.columns, on, unmatched)
        cells.problems(left_out).refuse(names)
        return cells.tables(columns)
    left_out = _sift(collect(frame.lazy().group_by("status").agg(n=nw.len())).to_dict(as_series=False), on, unmatched)
    own, status = text_rules(rules, text), nw.col("status")
    tables = tabulate_in_memory(frame.filter(status == MATCHED).drop("status"), columns, own, threads, numbered=False)
    if left_out:  # which lack a label, and count as ignored in their groups
        others = frame.filter(status != MATCHED).drop("status")
        tables = tables + read_in_memory(others, columns, own._replace(missing="ignore"), threads)
    return typed(tables, rules, text, names) if text else tables


def _arrow(frame: Any) -> Any:
    """Pandas makes floats of integers where a join leaves gaps, so that large ones become one; Arrow does not."""
    eager = isinstance(frame, nw.DataFrame) and frame.implementation.is_pandas_like()
    return nw.from_native(frame.to_arrow()) if eager else frame


def _engine(frame: Any) -> str:
    kind = "lazy " if isinstance(frame, nw.LazyFrame) else ""
    return f"{kind}{str(frame.implementation).lower()}"


def _check_columns(truth: Data, pred: Data, columns: NamedColumns, on: tuple[Any, ...]) -> None:
    """Refuse columns that neither side has, and keys that one of them has not."""
    known = [side.known() for side in (truth, pred)]
    for role, name in columns.named.items():
        if role[0] in "wrbc" and not any(name in names for names in known):
            raise no_column(name, [*known[0], *known[1]], "either")
    for names, where in zip(known, ("the truth", "the prediction"), strict=True):
        for key in on:
            one_column(key, names, where, several=True)


def _joined(truth: Data, pred: Data, columns: NamedColumns, on: tuple[Any, ...]) -> tuple[Any, set[str]]:
    """One row per key, with what happened to it in ``status``; and which columns are text to be read.

    Rows of a key are first made one, with their number: a key that comes twice would otherwise multiply rows.
    """
    keys = {f"k{i}": name for i, name in enumerate(on)}
    roles = dict(columns.roles)
    mine = {"t": roles.pop("t")}
    preds = {role: roles.pop(role) for role in label_roles(roles)}
    theirs = {role: what for role, what in preds.items() if not isinstance(what, TrueAgain)}
    known = truth.known()
    for role, what in roles.items():  # weights and groups come from the truth, or else from the prediction
        (theirs if is_name(what) and what not in known else mine)[role] = what
    (left, text), (right, more) = selected(truth, {**keys, **mine}), selected(pred, {**keys, **theirs})
    left, right = _arrow(left), _arrow(right)
    left, right, text = _labels_alike(left, right, text | more)
    left, right = _keys_alike(left, right, keys)
    left, right = _one_per_key(left, [*keys], [*mine], "left"), _one_per_key(right, [*keys], [*theirs], "right")
    other = {key: f"{key}_right" for key in keys}
    both = left.join(right.rename(other), how="full", left_on=list(keys), right_on=list(other.values()))
    a, b = nw.col("left"), nw.col("right")
    gaps = [
        ~n.is_null() & nw.any_horizontal(*(nw.col(x).is_null() for x in names), ignore_nulls=False)
        for n, names in ((a, keys.keys()), (b, other.values()))
    ]
    status = nw.lit(MATCHED)
    for case, code in (
        (b.is_null(), ONLY_TRUTH),
        (a.is_null(), ONLY_PRED),
        (b > 1, TWICE_PRED),
        (a > 1, TWICE_TRUTH),
        (gaps[0], NO_KEY),
        (gaps[1], NO_KEY),
    ):
        status = nw.when(case).then(nw.lit(code)).otherwise(status)
    both, again = both.with_columns(status=status), [role for role in preds if role not in theirs]
    both = both.with_columns(nw.when(nw.col("status") == MATCHED).then(nw.col("t")).alias(role) for role in again)
    if "t" in text:
        text = text.union(again)
    return both.select(*mine, *theirs, *again, "status"), text - set(keys)


def _labels_alike(left: Any, right: Any, text: set[str]) -> tuple[Any, Any, set[str]]:
    """Make text of all labels where one side's are, and of Dask's integers, which a join with gaps makes floats of."""
    schemas = left.collect_schema(), right.collect_schema()
    kinds = {role: schema[role] for schema in schemas for role in schema.names() if role[0] in "tp"}
    gaps = left.implementation.is_dask() and all(kind.is_integer() or kind == nw.Boolean for kind in kinds.values())
    if text & kinds.keys() or gaps:
        cast = [role for role, kind in kinds.items() if kind not in (nw.String, nw.Categorical, nw.Enum)]
        left = left.with_columns(nw.col("t").cast(nw.String)) if "t" in cast else left
        preds = [nw.col(role).cast(nw.String) for role in cast if role != "t"]
        right = right.with_columns(*preds) if preds else right
        text = text | kinds.keys()
    return left, right, text


def _keys_alike(left: Any, right: Any, keys: dict[str, str]) -> tuple[Any, Any]:
    """Give keys one type on both sides, or refuse: an engine would make them alike by losing digits."""
    for key, name in keys.items():
        a, b = (frame.collect_schema()[key] for frame in (left, right))
        kinds = {_key_kind(kind) for kind in (a, b)}
        if kinds == {"integer"} or (kinds <= {"integer", "text"} and "text" in kinds):
            if a != b or kinds != {"integer"}:
                to = nw.Int64 if kinds == {"integer"} else nw.String
                left, right = (frame.with_columns(nw.col(key).cast(to)) for frame in (left, right))
        elif a != b or a.is_float():
            raise InputTypeError(
                f"the key {name!r} holds {a} in the truth and {b} in the prediction; "
                "expected integers, text or dates, the same in both.",
                "cast one of them. In pandas, one missing value turns a column of integers into floats.",
            )
    return left, right


def _key_kind(kind: Any) -> str:
    if kind in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    return "integer" if kind.is_integer() else "other"


def _one_per_key(frame: Any, keys: list[str], values: list[str], count: str) -> Any:
    schema = frame.collect_schema()
    categories = [x for x in schema.names() if schema[x] in (nw.Categorical, nw.Enum)]
    frame = frame.with_columns(*(nw.col(x).cast(category_type(frame, x)) for x in categories)) if categories else frame
    return frame.group_by(*keys).agg(nw.len().alias(count), *(nw.col(x).min() for x in values))


def _sift(cells: dict[str, list[Any]], on: tuple[Any, ...], unmatched: str) -> set[int]:
    """Refuse what cannot be joined; return the entries that were left out, as the caller allowed."""
    counts = [0] * 6
    for status, n in zip(cells["status"], cells["n"], strict=True):
        counts[int(status)] += int(n)
    key = ", ".join(map(repr, on)) or "none"
    if counts[NO_KEY]:
        raise InputError(
            f"there are rows without a key: {key} is missing.",
            "leave out such rows, or give them keys, before joining.",
        )
    for code, word in ((TWICE_TRUTH, "truth"), (TWICE_PRED, "prediction")):
        if counts[code]:
            raise InputError(
                f"the {word} has {counted(counts[code], 'key')} of {key} more than once, so the join is ambiguous.",
                "make the key unique, or join on more columns.",
            )
    if (counts[ONLY_TRUTH] or counts[ONLY_PRED]) and unmatched == "error":
        raise InputError(
            f"{counts[ONLY_TRUTH]:,} keys of {key} are in the truth only and {counts[ONLY_PRED]:,} in the prediction "
            f"only; {counts[MATCHED]:,} are in both.",
            "`unmatched` 'ignore' tabulates the rows found in both and counts the others as ignored.",
            "unmatched",
        )
    return {row for row, status in enumerate(cells["status"]) if int(status) != MATCHED}

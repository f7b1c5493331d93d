"""Truth and prediction in two frames, brought together by a key; a key without a partner is never dropped silently."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw

from ..errors import InputError, InputTypeError
from .codebook import Rules
from .frames import Columns, checked, no_column, selected, tabulate_in_memory
from .groups import Tables, plain_key
from .pushdown import Cells, collect

MATCHED, ONLY_TRUTH, ONLY_PRED, TWICE_TRUTH, TWICE_PRED, NO_KEY = range(6)


def tabulate_joined(
    truth: Any,
    pred: Any,
    columns: Columns,
    on: tuple[str, ...],
    rules: Rules,
    threads: int | None,
    allow_unmatched: bool,
) -> Tables:
    """Tables of the rows that two narwhals frames of one engine have in common."""
    if isinstance(truth, nw.DataFrame) != isinstance(pred, nw.DataFrame) or truth.implementation != pred.implementation:
        raise InputTypeError(
            f"truth is a frame of {_engine(truth)} and prediction one of {_engine(pred)}; they cannot be joined.",
            "convert one to the other's engine.",
        )
    columns = _defaults(truth, pred, columns, on)
    names = columns.names()
    frame = checked(_joined(truth, pred, columns, on), names)
    by = [role for role in names if role.startswith("b")]
    if isinstance(frame, nw.LazyFrame):
        cells = Cells(frame, {**names, "status": "status"})
        left_out = _sift(cells.columns, on, allow_unmatched)
        cells.problems(rules, left_out).refuse(names)
        tables = cells.tables(rules, left_out)
    else:
        counts = collect(frame.lazy().group_by("status", *by).agg(n=nw.len()))
        left_out = _sift(counts, on, allow_unmatched)
        tables = tabulate_in_memory(frame.filter(nw.col("status") == MATCHED).drop("status"), names, rules, threads)
        for row in left_out:
            key = tuple(plain_key(counts[role][row]) for role in by)
            if key in tables:
                tables[key] = replace(tables[key], ignored=tables[key].ignored + int(counts["n"][row]))
    if not tables:
        raise InputError(f"there are no rows: no key of {_listed(on)} is in both.")
    return tables


def _engine(frame: Any) -> str:
    kind = "lazy " if isinstance(frame, nw.LazyFrame) else ""
    return f"{kind}{str(frame.implementation).lower()}"


def _defaults(truth: Any, pred: Any, columns: Columns, on: tuple[str, ...]) -> Columns:
    """Fill in the columns of labels where a frame has only one that can be meant."""
    taken = {*on, *columns.by, columns.weight if isinstance(columns.weight, str) else None}
    found = []
    for frame, given, word in ((truth, columns.true, "true"), (pred, columns.pred, "pred")):
        names = frame.collect_schema().names()
        for key in on:
            if key not in names:
                raise no_column(key, names)
        others = [name for name in names if name not in taken]
        if given is None and len(others) != 1:
            raise InputError(
                f"which column holds the {'truth' if word == 'true' else 'prediction'}? There are {_listed(others)}.",
                f"name it with {word}=.",
            )
        found.append(others[0] if given is None else given)
    return columns._replace(true=found[0], pred=found[1])


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names)) or "none"


def _joined(truth: Any, pred: Any, columns: Columns, on: tuple[str, ...]) -> Any:
    """One row per key, with what happened to it in ``status``.

    Rows of a key are first made one, with their number: a key that comes twice would otherwise multiply rows.
    """
    keys = {f"k{i}": name for i, name in enumerate(on)}
    roles = columns.roles()
    mine, theirs = {"t": roles.pop("t")}, {"p": roles.pop("p")}
    known = truth.collect_schema().names()
    for role, what in roles.items():  # weights and groups come from the truth, or else from the prediction
        (theirs if isinstance(what, str) and what not in known else mine)[role] = what
    left = _one_per_key(selected(truth, {**keys, **mine}), list(keys), list(mine), "left")
    right = _one_per_key(selected(pred, {**keys, **theirs}), list(keys), list(theirs), "right")
    other = {key: f"{key}_right" for key in keys}
    both = left.join(right.rename(other), how="full", left_on=list(keys), right_on=list(other.values()))
    a, b = nw.col("left"), nw.col("right")
    no_key = nw.all_horizontal(*(nw.col(x).is_null() for x in (*keys, *other.values())), ignore_nulls=False)
    status = nw.lit(MATCHED)
    for case, code in ((b.is_null(), ONLY_TRUTH), (a.is_null(), ONLY_PRED), (b > 1, TWICE_PRED), (a > 1, TWICE_TRUTH)):
        status = nw.when(case).then(nw.lit(code)).otherwise(status)
    status = nw.when(no_key).then(nw.lit(NO_KEY)).otherwise(status)
    return both.with_columns(status=status).select(*mine, *theirs, "status")


def _one_per_key(frame: Any, keys: list[str], values: list[str], count: str) -> Any:
    schema = frame.collect_schema()
    text = [nw.col(x).cast(nw.String) for x in schema.names() if schema[x] in (nw.Categorical, nw.Enum)]
    frame = frame.with_columns(*text) if text else frame
    return frame.group_by(*keys).agg(nw.len().alias(count), *(nw.col(x).min() for x in values))


def _sift(cells: dict[str, list[Any]], on: tuple[str, ...], allow_unmatched: bool) -> set[int]:
    """Refuse what cannot be joined; return the entries that were left out, as the caller allowed."""
    counts = [0] * 6
    for status, n in zip(cells["status"], cells["n"], strict=True):
        counts[int(status)] += int(n)
    key = _listed(on)
    if counts[NO_KEY]:
        raise InputError(f"there are rows without a key: {key} is missing.", "drop or mend such rows first.")
    for code, word in ((TWICE_TRUTH, "truth"), (TWICE_PRED, "prediction")):
        if counts[code]:
            raise InputError(
                f"{counts[code]:,} keys of {key} come more than once in the {word}; which row is meant is not known.",
                "make the key unique, or join on more columns.",
            )
    if (counts[ONLY_TRUTH] or counts[ONLY_PRED]) and not allow_unmatched:
        raise InputError(
            f"{counts[ONLY_TRUTH]:,} keys of {key} are in the truth only and {counts[ONLY_PRED]:,} in the prediction "
            f"only; {counts[MATCHED]:,} are in both.",
            "allow_unmatched=True scores what is in both and counts the others as ignored.",
        )
    return {row for row, status in enumerate(cells["status"]) if int(status) != MATCHED}

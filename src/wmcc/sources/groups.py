"""Tables of groups of rows: the keys they have, and their order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..arraytypes import Array, IntArray
from ..errors import InputError, InputTypeError, LabelError, WeightError
from ..labels import plain
from .arrays import tabulate_arrays
from .codebook import Rules
from .columns import Column, label_column

Key = tuple[Any, ...]
Tables = dict[Key, Any]
"""One table per group, a `Table` or a `JointTable`; without groups, the one of the empty tuple."""


def plain_key(value: Any) -> Any:
    """A value that rows were grouped by, as Python's own; None where it is missing."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if type(value).__name__ in ("NAType", "NaTType") or value != value else value


def in_order(tables: Tables) -> Tables:
    """Sort by key, what is missing last."""

    def place(key: Key) -> list[tuple[bool, Any]]:
        return [(x is None, 0 if x is None else x) for x in key]

    try:
        return {key: tables[key] for key in sorted(tables, key=place)}
    except TypeError:  # keys of different types have no order of their own
        return {key: tables[key] for key in sorted(tables, key=repr)}


def add(tables: Tables, key: Key, table: Any) -> None:
    """Add a table to that of its group."""
    tables[key] = tables[key] + table if key in tables else table


def grouped(columns: Iterable[tuple[Any, list[Any]]]) -> tuple[list[Key], IntArray]:
    """Return the keys that occur, and the place there of each row's.

    A column that rows are grouped by is given as a code per row, and the values that the codes stand for.
    """
    codes: Any = 0
    tuples: list[Key] = [()]
    for own, values in columns:
        used, codes = np.unique(codes * len(values) + np.asarray(own, dtype=np.int64), return_inverse=True)
        tuples = [(*tuples[k // len(values)], plain_key(values[k % len(values)])) for k in used.tolist()]
    return tuples, codes


def tabulate_groups(
    keys: list[Key],
    codes: IntArray,
    columns: list[Column],
    weights: Array | None,
    rules: Rules,
    threads: int | None,
    name: str | None = None,
) -> Tables:
    """Tabulate rows held in memory, a table per key."""
    tables: Tables = {}
    rows, ends = np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))
    try:
        for key, own in zip(keys, np.split(rows, ends[:-1]), strict=True):
            group = [column._replace(values=column.values[own]) for column in columns]
            table = tabulate_arrays(group, None if weights is None else weights[own], rules, threads, name)
            add(tables, key, table)  # null and NaN are one key
    except (LabelError, WeightError):
        # All rows at once raise the same, with the number that the row has.
        tabulate_arrays(columns, weights, rules, threads, name)
        raise
    return tables


def tabulate_by(
    by: Any, columns: list[Column], weights: Array | None, rules: Rules, threads: int | None
) -> dict[Any, Any]:
    """Tabulate labels held in memory by a key per row, or per item of their first axis (an image of a stack)."""
    with _about_keys():
        given, shape = label_column(by, "by"), columns[0].values.shape
    own = given.values.shape
    if not own or own != shape[: len(own)]:
        raise InputError(
            f"by has shape {own}, and the labels {shape}.",
            "give a key per observation, or one per item of the labels' first axis.",
        )
    with _about_keys():
        keys, codes = _distinct(given)
    flat = [column._replace(values=column.values.reshape(-1)) for column in columns]
    rows = np.repeat(codes, math.prod(shape[len(own) :]))
    tables = tabulate_groups(keys, rows, flat, None if weights is None else weights.reshape(-1), rules, threads)
    return {key[0]: table for key, table in in_order(tables).items()}


@contextmanager
def _about_keys() -> Iterator[None]:
    """Keys are read as labels are, and what is said of labels that are none does not help with keys."""
    try:
        yield
    except LabelError as problem:
        what = str(problem).partition(";")[0]
        raise LabelError(
            f"{what}; every row needs a key, an integer, a boolean or a string.",
            "leave rows without a key out, or give each one of its own.",
        ) from None


def _distinct(by: Column) -> tuple[list[Key], IntArray]:
    """Return the keys that occur, and the place there of each row's."""
    raw = by.values.reshape(-1)
    if raw.dtype.kind != "O":
        known, first, codes = np.unique(raw, return_index=True, return_inverse=True)
        return [(by.label(x, row),) for x, row in zip(by.plain(known), first.tolist(), strict=True)], codes
    names = [x if type(x) is str else by.label(x, row) for row, x in enumerate(raw.tolist())]
    keys = dict.fromkeys(names)
    if len({isinstance(key, str) for key in keys}) > 1:
        text, number = (next(key for key in keys if isinstance(key, str) is kind) for kind in (True, False))
        raise InputTypeError(
            f"by holds keys of mixed types: {number!r} is a number and {text!r} is a string.", "use one kind."
        )
    names = list(plain(names))  # of True and 1 in one column, both are 1
    keys = dict.fromkeys(names)
    place = {key: i for i, key in enumerate(keys)}
    return [(key,) for key in keys], np.array([place[name] for name in names], dtype=np.int64)

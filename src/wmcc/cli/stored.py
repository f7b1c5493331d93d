"""Tables in files: one, or one per group. Reading, writing, merging.

A table alone is stored as `wmcc.Table.to_json` writes it. Tables of groups are stored as::

    {"schema": 1, "by": ["region"], "groups": [{"key": ["coast"], "table": {…}}, …]}

with as many values in a key as there are names in ``by``, and each table as it would be alone. A value is text, a
number, a boolean, null where there is none, or ``{"float": "inf"}``.
"""

from __future__ import annotations

import json
import math
import os
from typing import Any, NamedTuple

from .. import storage
from ..errors import InputError, SchemaError, WmccError
from ..sources.files import no_file
from ..sources.groups import in_order
from ..table import Table
from . import standard_input

SCHEMA = 1
"""Version of the form of groups; the tables in it have one of their own."""

INFINITE = "float"
"""The name of the field that stands for a number that JSON does not have."""

Key = tuple[Any, ...]


class Tables(NamedTuple):
    """One table per group, in sorted order; one of the empty key where nothing was grouped.

    Parameters
    ----------
    by
        Columns that rows were grouped by; none for a table alone.
    groups
        Tables by key: a string, number, boolean or None for each column.
    clusters
        Of each group the tables of its clusters, where rows belong together; None where they do not.
    """

    by: tuple[str, ...]
    groups: dict[Key, Table]
    clusters: dict[Key, dict[Any, Table]] | None = None

    def title(self, key: Key) -> str:
        """Name a group."""
        values = ("missing" if x is None else x for x in key)
        return ", ".join(f"{name} = {value}" for name, value in zip(self.by, values, strict=True))


def plain(value: Any) -> Any:
    """A value of a column of groups as text, a number, a boolean or None: dates become text, and NaN is None."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


def key_to_json(key: Key) -> list[Any]:
    """A key as JSON can hold it, which has no infinity: ``{"float": "inf"}`` is one."""
    return [{INFINITE: str(x)} if isinstance(x, float) and math.isinf(x) else x for x in map(plain, key)]


def _key_from_json(values: list[Any]) -> Key:
    """The same, back again. NaN, which Python's JSON and others write, is no value."""
    return tuple(
        float(x[INFINITE]) if isinstance(x, dict) and x in ({INFINITE: "inf"}, {INFINITE: "-inf"}) else plain(x)
        for x in values
    )


def to_json(tables: Tables) -> str:
    """What is stored."""
    if not tables.by:
        return tables.groups[()].to_json() + "\n"
    groups = [{"key": key_to_json(key), "table": table.to_dict()} for key, table in tables.groups.items()]
    return json.dumps({"schema": SCHEMA, "by": list(tables.by), "groups": groups}, allow_nan=False) + "\n"


def read(name: str) -> Tables:
    """Tables of a file that was stored; ``-`` is standard input."""
    text = _bytes(standard_input.table(name) if standard_input.is_stream(name) else name)
    try:
        data = storage.parse(text)
        if isinstance(data, dict) and "groups" in data:
            return _groups(data)
        return Tables((), {(): Table.from_dict(data)})
    except WmccError as problem:
        raise SchemaError(
            f"{standard_input.said(name)}: {problem.message}",
            problem.hint or "expected a table that `wmcc tabulate -o` wrote; data need --true and --pred.",
        ) from None


def _bytes(name: str) -> bytes:
    try:
        with open(os.path.expanduser(name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise no_file(name) from None
    except OSError as problem:
        raise InputError(f"{name!r} cannot be read: {problem.strerror}.") from None


def _groups(data: dict[str, Any]) -> Tables:
    if data.get("schema") != SCHEMA:
        raise SchemaError(
            f"the groups have schema {data.get('schema')!r}; this version of wmcc reads schema {SCHEMA}.",
            "update wmcc.",
        )
    by, entries = data.get("by"), data["groups"]
    if not isinstance(by, list) or not by or {type(x) for x in by} != {str} or not isinstance(entries, list):
        raise SchemaError("'by' must be a list of names and 'groups' a list.")
    groups: dict[Key, Table] = {}
    for place, entry in enumerate(entries):
        key = entry.get("key") if isinstance(entry, dict) else None
        values = _key_from_json(key) if isinstance(key, list) else ()
        if len(values) != len(by) or any(isinstance(x, (list, dict)) for x in values):
            raise SchemaError(f"groups[{place}] has key {key!r}; expected one value for each of {', '.join(by)}.")
        if values in groups:
            raise SchemaError(f"groups[{place}] has key {key!r}, which is there twice.")
        groups[values] = Table.from_dict(entry.get("table"))
    return Tables(tuple(by), groups)


def merge(names: list[str]) -> Tables:
    """Add up what is stored in files, group by group. The sums are exact: the order does not matter."""
    standard_input.check_once(names)
    first, *others = names
    total = read(first)
    kinds = _kinds(total, first, {})
    for name in others:
        more = read(name)
        if more.by != total.by:
            a, b = (", ".join(x.by) or "nothing" for x in (total, more))
            raise InputError(
                f"{first} is grouped by {a} and {name} by {b}; they cannot be merged.",
                "merge tables that were made with the same --by.",
            )
        kinds = _kinds(more, name, kinds)
        for key, table in more.groups.items():
            try:
                total.groups[key] = total.groups[key] + table if key in total.groups else table
            except WmccError as problem:
                raise type(problem)(f"{name}: {problem}") from None
    return Tables(total.by, in_order(total.groups))


def _kinds(tables: Tables, name: str, known: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Note what kind of values each column of groups has, and refuse another: 7 and "7" would never meet."""
    known = dict(known)
    for key in tables.groups:
        for column, value in zip(tables.by, key, strict=True):
            if value is None:
                continue
            kind = {bool: "booleans", str: "text"}.get(type(value), "numbers")
            before, where = known.setdefault(column, (kind, name))
            if before != kind:
                raise InputError(
                    f"the groups by {column!r} are {before} in {where} and {kind} in {name}; they cannot be matched.",
                    "make the column of one kind in all files, and tabulate again.",
                )
    return known

"""The stored form of tables: plain lists, numbers and strings, with a schema number.

Schema 2 is one form for all kinds of tables::

    {"schema": 2, "kind": "table", "labels": […], "positive": null, "ignored": 0, "drawn": "rows",
     "cells": {"true": […], "pred": […], "n": […], "w": […], …}}

Cells are listed one by one, empty ones left out. A joint table has ``first`` and ``second`` in place of ``pred``. Where
rows come in clusters, ``drawn`` is ``"clusters"``, ``clusters`` lists their keys, and cells have a ``cluster``, by position.
Tables of groups have ``by``, ``groups`` (the keys), ``same_classes`` (whether all have the classes of ``labels``), an ``ignored`` per group, and
a ``group`` of each cell. Schema 1 had tables of independent rows only, and for groups a list of them; it is still read.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import labels as _labels
from . import possible
from .errors import SchemaError, WmccError
from .exact import Exact
from .keys import key_from_json, key_to_json
from .stack import Stack, numbered
from .summed import Drawn
from .sums import Sums

SCHEMA = 2
"""Version of the stored form. Raise it when `pack` changes, keep reading the old ones, keep their golden files."""

COLUMNS = ("n", "w", "w2", "w_min", "w_max", "w_exact", "w2_exact")


def pack(table: Any) -> dict[str, Any]:
    """From a table of any kind to what is stored."""
    from .tables import Tables

    grouped = isinstance(table, Tables)
    kind = table.kind if grouped else type(table)
    axes = [*["group"] * grouped, *kind._axes, *["cluster"] * (table.drawn.kind == "clusters")]
    codes, sums = table.parts.codes, table.parts.sums
    cells: dict[str, list[Any]] = dict(zip(axes, codes.tolist(), strict=True))
    cells["n"] = sums.n.tolist()
    for name, exact in (("w", sums.w_exact), ("w2", sums.w2_exact)):
        cells[name], cells[f"{name}_exact"] = _finite(exact.floats()), exact.hex()
    cells["w_min"], cells["w_max"] = sums.w_min.tolist(), sums.w_max.tolist()
    out: dict[str, Any] = {"schema": SCHEMA, "kind": _kind(table), "labels": list(table.labels)}
    if "pred" in axes:
        out["positive"] = table.positive
    out |= {"ignored": table.ignored.tolist() if grouped else table.ignored, "drawn": table.drawn.kind}
    if table.drawn.kind == "clusters":
        out["clusters"] = [key_to_json(key) for key in table.drawn.clusters]
    if grouped:
        out["by"] = list(table.by) if isinstance(table.by, tuple) else table.by
        out |= {"groups": [key_to_json(key) for key in table.groups], "same_classes": table.same_classes}
    return {**out, "cells": {name: cells[name] for name in (*axes, *COLUMNS)}}


def _kind(table: Any) -> str:
    from .tables import Tables

    names = {"pred": ("table", "tables"), "second": ("joint table", "joint tables")}
    grouped = isinstance(table, Tables)
    return names[(table.kind if grouped else table)._axes[-1]][grouped]


def _finite(values: Any) -> list[float | None]:
    """JSON has no infinity: a rounded sum that overflows is written as null, the exact one as it is."""
    return [x if np.isfinite(x) else None for x in values.tolist()]


def parse(text: str | bytes) -> dict[str, Any]:
    """JSON text to what `unpack` takes."""
    try:
        data: dict[str, Any] = json.loads(text)
    except (ValueError, TypeError, RecursionError) as problem:
        raise SchemaError(f"this is not JSON: {problem}") from None
    return data


def unpack(data: Any, wanted: Any = None) -> Any:
    """From what is stored to a table, of the kind that is wanted if one is; anything else is refused with a sentence."""
    if not isinstance(data, dict) or "schema" not in data:
        raise SchemaError("this is not a stored wmcc table: it has no 'schema' entry.")
    if type(data["schema"]) is not int or data["schema"] not in (1, SCHEMA):
        raise SchemaError(
            f"the stored table has schema {data['schema']!r}; this version of wmcc reads schemas 1 and {SCHEMA}.",
            "update wmcc.",
        )
    try:
        table = _unpack_1(data) if data["schema"] == 1 else _unpack_2(data)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as problem:
        if isinstance(problem, SchemaError):
            raise
        said = problem.message if isinstance(problem, WmccError) else problem
        raise SchemaError(f"the stored table cannot be read: {type(problem).__name__}: {said}") from None
    if wanted is not None and not isinstance(table, wanted):
        raise SchemaError(
            f"this is a stored {type(table).__name__}; expected a {wanted.__name__}.",
            f"read it with wmcc.{type(table).__name__}.from_json.",
        )
    return table


def _unpack_1(data: dict[str, Any]) -> Any:
    """Tables of independent rows: one, or one per group."""
    from .tables import Tables

    if "groups" not in data:
        return _unpack_2({**data, "kind": "table", "drawn": "rows"})
    by, entries = data.get("by"), data["groups"]
    if not isinstance(by, list) or not by or {type(x) for x in by} != {str} or not isinstance(entries, list):
        raise SchemaError("'by' must be a list of names and 'groups' a list.")
    groups: dict[Any, Any] = {}
    for place, entry in enumerate(entries):
        key = entry.get("key") if isinstance(entry, dict) else None
        values = _keys([key], f"groups[{place}]", tuple(by))[0]
        if values in groups:
            raise SchemaError(f"groups[{place}] has key {key!r}, which is there twice.")
        groups[values] = unpack(entry.get("table"))
    return Tables.of(groups, tuple(by))


def _unpack_2(data: dict[str, Any]) -> Any:
    from .joint import JointTable
    from .table import Table
    from .tables import Tables

    kinds: dict[str, tuple[Any, bool]] = {
        "table": (Table, False),
        "joint table": (JointTable, False),
        "tables": (Table, True),
        "joint tables": (JointTable, True),
    }
    if data["kind"] not in kinds or data["drawn"] not in ("rows", "clusters", "pairs"):
        raise ValueError(f"'kind' is {data['kind']!r} and 'drawn' is {data['drawn']!r}; one of them is not known")
    kind, grouped = kinds[data["kind"]]
    labels = _labels.given(data["labels"])
    clusters = tuple(_keys(data["clusters"], "clusters")) if data["drawn"] == "clusters" else ()
    by = data["by"] if grouped else None
    by = tuple(by) if isinstance(by, list) else by
    if grouped and ({type(x) for x in (by if isinstance(by, tuple) else (by,))} - {str, int} or by == ()):
        raise ValueError("'by' must be a name or a list of names")
    groups = tuple(_keys(data["groups"], "groups", by)) if grouped else ()
    sizes = {name: len(labels) for name in kind._axes}
    sizes = {"group": len(groups), **sizes} if grouped else sizes
    sizes = {**sizes, "cluster": len(clusters)} if data["drawn"] == "clusters" else sizes
    parts = _cells(data["cells"], sizes, labels)
    ignored = data["ignored"] if grouped else [data["ignored"]]
    if len(ignored) != (len(groups) if grouped else 1) or any(type(x) is not int or x < 0 for x in ignored):
        raise ValueError("'ignored' must be a number of rows, at least 0, for each table")
    options: dict[str, Any] = {"drawn": Drawn(data["drawn"], clusters)}
    if kind is Table:
        positive = None if data["positive"] is None else _labels.as_label(data["positive"], "positive")
        if positive is not None and (positive not in labels or len(labels) > 2):
            raise ValueError("'positive' is not a class of two")
        options["positive"] = positive
    if not grouped:
        return kind(labels, parts, ignored[0], **options)
    if type(data["same_classes"]) is not bool:
        raise ValueError("'same_classes' must be true or false")
    return Tables(kind, by, groups, labels, parts, np.array(ignored, dtype=np.int64), data["same_classes"], **options)


def _keys(values: Any, name: str, by: Any = None) -> list[Any]:
    """Keys of groups or clusters, each once."""
    count = len(by) if isinstance(by, tuple) else None
    keys = []
    for value in values:
        try:
            key = key_from_json(value)
            if by is not None and (len(key) if isinstance(key, tuple) else None) != count:
                raise ValueError
        except (ValueError, TypeError):
            expected = f"one value for each of {', '.join(map(str, by))}" if count else "a value"
            raise SchemaError(f"{name} has key {value!r}; expected {expected}.") from None
        keys.append(key)
    if len(set(keys)) < len(keys):
        raise SchemaError(f"{name} has a key that is there twice.")
    return keys


def _cells(cells: dict[str, list[Any]], sizes: dict[str, int], labels: Any) -> Stack:
    """Cells as they are listed, in any order, each once."""
    if len({len(cells[name]) for name in (*sizes, *COLUMNS)}) != 1:
        raise ValueError("the columns of 'cells' differ in length")
    if {type(x) for name in (*sizes, "n") for x in cells[name]} - {int}:
        raise ValueError("counts and positions must be integers")
    codes = np.array([cells[name] for name in sizes], dtype=np.int64).reshape(len(sizes), -1)
    n = np.array(cells["n"], dtype=np.int64)
    most = np.array(list(sizes.values()))[:, np.newaxis]
    if (len(n) and not ((codes >= 0) & (codes < most)).all()) or n.min(initial=1) < 1:
        raise ValueError("a cell lies outside the table or has n < 1")
    if len(n) and numbered(codes)[0].shape[1] < len(n):
        raise ValueError("a cell is listed twice")
    exact = {}
    for name in ("w", "w2"):
        exact[name] = Exact.from_hex(cells[f"{name}_exact"])
        if _finite(exact[name].floats()) != cells[name]:
            raise ValueError(f"'{name}' and '{name}_exact' disagree; the file was edited")
    low, high = (np.array(cells[name], dtype=np.float64) for name in ("w_min", "w_max"))
    shown = codes[[list(sizes).index("true"), list(sizes).index("true") + 1]]
    possible.check_cells(n, exact["w"], exact["w2"], low, high, possible.by_codes(labels, shown))
    return Stack.gathered(codes, Sums(n, exact["w"], exact["w2"], low, high))

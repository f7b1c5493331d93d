"""The stored form of tables: plain lists, numbers and strings, with a schema number.

Schema 3 is one form for all kinds of tables::

    {"schema": 3, "kind": "table", "labels": […], "void": […], "positive": null, "ignored": 0, "drawn": "rows",
     "cells": {"true": […], "pred": […], "n": […], "w": […], …}}

Cells are listed one by one, empty ones left out. A joint table has ``names``, those of its predictions, and
``pred_0``, ``pred_1`` … in place of ``pred``. Where rows come in clusters, ``drawn`` is ``"clusters"``, ``clusters``
lists their keys, and cells have a ``cluster``, a place among these. Tables of groups have ``by``, ``groups`` (the
keys), ``same_classes`` (whether each has all of ``labels``), ``declared`` (classes that a group has beside those that
occur in it), an ``ignored`` for each, and a ``group`` of each cell.

Older schemas are still read. Schema 2 had no void labels, and joint tables of two predictions without names. Schema 1
had tables of independent rows only, and for groups a list of them.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from ..errors import SchemaError, WmccError
from . import labels as _labels
from . import possible
from .exact import Exact
from .keys import Key, key_from_json, key_to_json, merged_keys, missing
from .labels import Label
from .stack import Stack, numbered
from .sums import MOST_ROWS, Sums

SCHEMA = 3
"""Version of the stored form. Raise it when `pack` changes, keep reading the old ones, keep their golden files."""

COLUMNS = ("n", "w", "w2", "w_min", "w_max", "w_exact", "w2_exact")


class Stored(NamedTuple):
    """What is stored of a table, or of tables of groups.

    Parameters
    ----------
    kind
        ``"table"`` or ``"joint table"``.
    labels, void, parts, positive, names
        As in `wmcc.Table` and `wmcc.JointTable`.
    ignored
        Rows left out; of each group, if there are any.
    drawn, clusters
        How rows were drawn, and the keys of clusters.
    by, groups, same_classes, declared
        As in `wmcc.Tables`; None, and no groups, of one table.
    """

    kind: str
    labels: tuple[Label, ...]
    void: tuple[Label, ...]
    parts: Stack
    ignored: list[int]
    positive: Label | None
    names: tuple[str, ...]
    drawn: Any
    clusters: tuple[Key, ...]
    by: Any = None
    groups: tuple[Key, ...] = ()
    same_classes: bool = True
    declared: Any = ((), ())


def pack(stored: Stored) -> dict[str, Any]:
    """From what is known of a table to plain lists, numbers and strings."""
    grouped, sums = stored.by is not None, stored.parts.sums
    axes = _axes(len(stored.names), grouped, stored.drawn)
    cells: dict[str, list[Any]] = dict(zip(axes, stored.parts.codes.tolist(), strict=True))
    cells["n"] = sums.n.tolist()
    for name, exact in (("w", sums.w_exact), ("w2", sums.w2_exact)):
        cells[name], cells[f"{name}_exact"] = _finite(exact.floats()), exact.hex()
    cells["w_min"], cells["w_max"] = sums.w_min.tolist(), sums.w_max.tolist()
    kind, ignored = (f"{stored.kind}s", stored.ignored) if grouped else (stored.kind, stored.ignored[0])
    out: dict[str, Any] = {"schema": SCHEMA, "kind": kind, "labels": list(stored.labels), "void": list(stored.void)}
    out |= {"positive": stored.positive} if stored.kind == "table" else {"names": list(stored.names)}
    out |= {"ignored": ignored, "drawn": stored.drawn}
    if stored.drawn == "clusters":
        out["clusters"] = [key_to_json(key) for key in stored.clusters]
    if grouped:
        out["by"] = list(stored.by) if isinstance(stored.by, tuple) else stored.by
        out |= {"groups": [key_to_json(key) for key in stored.groups], "same_classes": stored.same_classes}
        out["declared"] = {"group": list(stored.declared[0]), "class": list(stored.declared[1])}
    return {**out, "cells": {name: cells[name] for name in (*axes, *COLUMNS)}}


def _axes(predictions: int, grouped: bool, drawn: str) -> list[str]:
    """Names of the axes of the cells; the one prediction of a plain table has no name, and counts as none."""
    labels = ["true", *([f"pred_{k}" for k in range(predictions)] or ["pred"])]
    return [*["group"] * grouped, *labels, *["cluster"] * (drawn == "clusters")]


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


def is_grouped(data: Any) -> bool:
    """Whether tables of groups are stored, rather than one table."""
    return isinstance(data, dict) and "groups" in data


def unpack(data: Any, kind: str, grouped: bool = False) -> Stored:
    """From what is stored to what is known of a table of this kind; anything else is refused with a sentence."""
    _check_schema(data)
    wanted = f"{kind}s" if grouped else kind
    other = "table" if data["schema"] == 1 else data.get("kind")
    if other != wanted:
        names = {"table": "Table", "joint table": "JointTable", "tables": "Tables", "joint tables": "Tables"}
        if not isinstance(other, str) or other not in names:
            raise SchemaError(f"the stored table cannot be read: its 'kind' is {other!r}, which is not known.")
        raise SchemaError(
            f"this is a stored {names[other]}; expected a {names[wanted]}.",
            f"read it with wmcc.{names[other]}.from_json.",
        )
    try:
        return _unpack(_updated(data, kind), kind, grouped)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as problem:
        if isinstance(problem, SchemaError):
            raise
        said = problem.message if isinstance(problem, WmccError) else problem
        what = f"it has no entry {said}" if type(problem) is KeyError else f"{type(problem).__name__}: {said}"
        raise SchemaError(f"the stored table cannot be read: {what}") from None


def _updated(data: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return what an older schema holds, in the form of this one."""
    if data["schema"] == 1:
        data = {**data, "schema": 2, "drawn": "rows"}
    if data["schema"] == 2:
        data = {**data, "void": []}
        if kind == "joint table":
            new = {"first": "pred_0", "second": "pred_1"}
            data |= {"names": ["a", "b"], "cells": {new.get(name, name): x for name, x in data["cells"].items()}}
    return data


def _check_schema(data: Any) -> None:
    if not isinstance(data, dict) or "schema" not in data:
        raise SchemaError("this is not a stored wmcc table: it has no 'schema' entry.")
    if type(data["schema"]) is not int or data["schema"] not in (1, 2, SCHEMA):
        raise SchemaError(
            f"the stored table has schema {data['schema']!r}; this version of wmcc reads schemas 1 to {SCHEMA}.",
            "update wmcc.",
        )


def old_groups(data: Any) -> tuple[tuple[str, ...], dict[Key, Any]] | None:
    """What schema 1 stored of groups: names of columns, and a stored table by key; None if this is something else."""
    if not (isinstance(data, dict) and data.get("schema") == 1 and "groups" in data):
        return None
    by, entries = data.get("by"), data["groups"]
    if not isinstance(by, list) or not by or {type(x) for x in by} != {str} or not isinstance(entries, list):
        raise SchemaError("'by' must be a list of names and 'groups' a list.")
    groups: dict[Key, Any] = {}
    for place, entry in enumerate(entries):
        key = entry.get("key") if isinstance(entry, dict) else None
        (values,) = _keys([key], f"groups[{place}]", tuple(by))
        if values in groups:
            raise SchemaError(f"groups[{place}] has key {key!r}, which occurs twice.")
        groups[values] = entry.get("table")
    return tuple(by), groups


def _unpack(data: dict[str, Any], kind: str, grouped: bool) -> Stored:
    if data["drawn"] not in ("rows", "clusters", "pairs"):
        raise ValueError(f"'drawn' is {data['drawn']!r}; expected 'rows', 'clusters' or 'pairs'")
    labels, void = _names(data["labels"], data["void"])
    names = tuple(data["names"]) if kind == "joint table" else ()
    if {type(name) for name in names} - {str} or len(set(names)) < len(names) or (kind == "joint table" and not names):
        raise ValueError("'names' must be different texts, one for each prediction")
    clusters = tuple(_keys(data["clusters"], "clusters")) if data["drawn"] == "clusters" else ()
    if missing(clusters):
        raise ValueError("a key in 'clusters' is null, and every row has a cluster")
    by: Any = data["by"] if grouped else None
    by = tuple(by) if isinstance(by, list) else by
    if grouped and ({type(x) for x in (by if isinstance(by, tuple) else (by,))} - {str, int} or by == ()):
        raise ValueError("'by' must be a name or a list of names")
    groups = tuple(_keys(data["groups"], "groups", by)) if grouped else ()
    counts = {"group": len(groups), "cluster": len(clusters)}
    sizes = {name: counts.get(name, len(labels)) for name in _axes(len(names), grouped, data["drawn"])}
    parts = _cells(data["cells"], sizes, labels)
    if void and parts.codes[int(grouped)].max(initial=0) >= len(labels) - len(void):
        raise ValueError("a label in 'void' is the true label of a cell")
    ignored = data["ignored"] if grouped else [data["ignored"]]
    if len(ignored) != (len(groups) if grouped else 1) or any(
        type(x) is not int or not 0 <= x < MOST_ROWS for x in ignored
    ):
        raise ValueError("'ignored' must be a number of rows, at least 0, for each table")
    given = data["positive"] if kind == "table" else None
    positive = None if given is None else _labels.as_label(given, "positive")
    if positive is not None and (positive not in labels or len(labels) - len(void) > 2):
        raise ValueError("'positive' is not one of two classes")
    same = data["same_classes"] if grouped else True
    if type(same) is not bool:
        raise ValueError("'same_classes' must be true or false")
    declared = [data["declared"][name] for name in ("group", "class")] if grouped else [[], []]
    for places, size in zip(declared, (len(groups), len(labels)), strict=True):
        if len(places) != len(declared[0]) or any(type(x) is not int or not 0 <= x < size for x in places):
            raise ValueError("'declared' must be places of groups and of classes")
    if clusters:
        clusters, parts, _ = _in_order(clusters, len(sizes) - 1, parts)
    if groups:
        groups, parts, order = _in_order(groups, 0, parts)
        ignored, declared[0] = [ignored[k] for k in order], [order.index(k) for k in declared[0]]
    own = (kind, labels, void, parts, ignored, positive, names, data["drawn"], clusters)
    return Stored(*own, by, groups, same, declared)


def _names(labels: Any, void: Any) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
    """Labels, and those of them that are void, which come last."""
    if not isinstance(labels, list) or not isinstance(void, list) or labels[len(labels) - len(void) :] != void:
        raise ValueError("'void' must list the last of 'labels'")
    last = tuple(_labels.as_label(x, f"void[{i}]") for i, x in enumerate(void))
    names = (*_classes(labels[: len(labels) - len(void)]), *last)
    if len(set(names)) < len(names):
        raise ValueError("a label occurs twice")
    return names, last


def _classes(labels: list[Any]) -> tuple[Label, ...]:
    """Classes: of one kind, but for the one that stands for all others in a table of two."""
    if len(labels) == 2 and str(labels[1]).startswith(_labels.REST):
        return tuple(_labels.as_label(x, f"labels[{i}]") for i, x in enumerate(labels))
    return _labels.given(labels)


def _in_order(keys: tuple[Key, ...], axis: int, parts: Stack) -> tuple[tuple[Key, ...], Stack, list[int]]:
    """Sort the keys of an axis; the order in which they were comes last."""
    names, (place,) = merged_keys([keys])
    order: list[int] = np.argsort(place).tolist()
    return (keys, parts, order) if names == keys else (names, parts.recoded({axis: place}), order)


def _keys(values: Any, name: str, by: Any = None) -> list[Any]:
    """Keys of groups or clusters, each once."""
    if not isinstance(values, list):
        raise SchemaError(f"{name} must be a list of keys; it is {type(values).__name__}.")
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
        raise SchemaError(f"{name} has a key that occurs twice.")
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
    if {type(x) for name in ("w_min", "w_max") for x in cells[name]} - {int, float}:
        raise ValueError("'w_min' and 'w_max' must be numbers")
    low, high = (np.array(cells[name], dtype=np.float64) for name in ("w_min", "w_max"))
    shown = codes[[list(sizes).index("true"), list(sizes).index("true") + 1]]
    possible.check_cells(n, exact["w"], exact["w2"], low, high, possible.by_codes(labels, shown))
    return Stack.gathered(codes, Sums(n, exact["w"], exact["w2"], low, high))

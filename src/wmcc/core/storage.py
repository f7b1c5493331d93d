"""The stored form of tables: plain lists, numbers and strings, with a schema number.

Schema 5 is one form for all kinds of tables::

    {"schema": 5, "kind": "table", "labels": […], "void": […], "positive": null, "ignored": 0, "drawn": "rows",
     "cells": {"true": […], "pred": […], "n": […], "w": […], …}}

Cells are listed one by one, empty ones left out. A joint table has ``names``, those of its predictions, and
``pred_0``, ``pred_1`` … in place of ``pred``. Where rows come in clusters, ``drawn`` is ``"clusters"``, ``clusters``
lists their keys, and cells have a ``cluster``, a place among these. Where rows or clusters were drawn in strata,
``drawn`` is ``"strata"``, ``design`` has the fields of `wmcc.core.drawn.Design` and its units, and cells have a
``stratum`` or a ``cluster``, a place among the units. With replicate weights ``drawn`` is ``"replicates"``,
``replicates`` has their method, scales and degrees of freedom, and cells have ``replicates``, a list of exact sums for
each. Where rows are pixels without clusters, ``drawn`` is ``"pixels"``. Tables of groups have ``by``, ``groups`` (the
keys), ``same_classes`` (whether each has all of ``labels``), ``declared`` (classes that a group has beside those that
occur in it), an ``ignored`` for each, and a ``group`` of each cell.

Older schemas are still read. Schema 4 did not tell pixels from other rows. Schema 3 had neither strata nor replicate
weights. Schema 2 had no void labels, and joint tables of two predictions without names. Schema 1 had tables of
independent rows only, and for groups a list of them.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any, NamedTuple, get_args

import numpy as np

from ..errors import SchemaError, WmccError
from . import labels as _labels
from . import possible
from .drawn import LONELY, PIXELS, Design, Drawn, Kind, Poststrata, Replicates, check_sizes
from .exact import Exact, fraction_hex, hex_fraction
from .keys import Key, key_from_json, key_to_json, merged_keys, missing
from .labels import Label
from .stack import Stack, numbered
from .sums import MOST_ROWS, Sums

SCHEMA = 5
"""Version of the stored form. Raise it when `pack` changes, keep reading the old ones, keep their golden files."""

STORED_PIXELS = "pixels"
"""What ``drawn`` is where rows are pixels without clusters."""

LARGEST = sys.float_info.max

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
    drawn
        How rows were drawn.
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
    drawn: Drawn
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
    more = ["replicates"] * (stored.drawn.replicates is not None)
    cells["replicates"] = [exact.hex() for exact in sums.replicates]
    kind, ignored = (f"{stored.kind}s", stored.ignored) if grouped else (stored.kind, stored.ignored[0])
    out: dict[str, Any] = {"schema": SCHEMA, "kind": kind, "labels": list(stored.labels), "void": list(stored.void)}
    out |= {"positive": stored.positive} if stored.kind == "table" else {"names": list(stored.names)}
    out |= {"ignored": ignored, **_pack_drawn(stored.drawn)}
    if grouped:
        out["by"] = list(stored.by) if isinstance(stored.by, tuple) else stored.by
        out |= {"groups": [key_to_json(key) for key in stored.groups], "same_classes": stored.same_classes}
        out["declared"] = {"group": list(stored.declared[0]), "class": list(stored.declared[1])}
    return {**out, "cells": {name: cells[name] for name in (*axes, *COLUMNS, *more)}}


def _axes(predictions: int, grouped: bool, drawn: Drawn) -> list[str]:
    """Names of the axes of the cells; the one prediction of a plain table has no name, and counts as none."""
    labels = ["true", *([f"pred_{k}" for k in range(predictions)] or ["pred"])]
    return [*["group"] * grouped, *labels, *drawn.axes]


def _pack_drawn(drawn: Drawn) -> dict[str, Any]:
    out: dict[str, Any] = {"drawn": STORED_PIXELS if drawn.pixels else drawn.kind}
    if drawn.kind == "clusters":
        out["clusters"] = [key_to_json(key) for key in drawn.units]
    if drawn.replicates is not None:
        out["replicates"] = {**drawn.replicates._asdict(), "scales": list(drawn.replicates.scales)}
    design = drawn.design
    if design is not None:
        post = design.poststrata
        out["design"] = {
            "units": [key_to_json(key) for key in drawn.units],
            "rows": list(drawn.rows),
            "strata": [key_to_json(key) for key in design.strata],
            "of": list(design.of),
            "nested": design.nested,
            "population": None if design.population is None else list(design.population),
            "weighting": design.weighting,
            "fpc": None if design.fpc is None else list(design.fpc),
            "lonely": design.lonely,
            "domain": design.domain,
            "poststrata": None
            if post is None
            else {
                "keys": [key_to_json(key) for key in post.keys],
                "totals": list(post.totals),
                "weights": list(map(fraction_hex, post.weights)),
            },
        }
    return out


def _unpack_drawn(data: dict[str, Any]) -> Drawn:
    kind = data["drawn"]
    if kind == STORED_PIXELS:
        return PIXELS
    if kind not in get_args(Kind):
        raise ValueError(f"'drawn' is {kind!r}; expected one of {', '.join((*get_args(Kind), STORED_PIXELS))}")
    if kind == "clusters":
        clusters = tuple(_keys(data["clusters"], "clusters"))
        if missing(clusters):
            raise ValueError("a key in 'clusters' is null, and every row has a cluster")
        return Drawn(kind, clusters)
    if kind == "replicates":
        own = data["replicates"]
        scales = _sizes(own["scales"], "scales")
        (df,) = _sizes([own["df"]], "df")
        if len(scales) < 2 or type(own["method"]) is not str:
            raise ValueError("'replicates' must have a method and at least two scales")
        return Drawn(kind, replicates=Replicates(own["method"], scales, df))
    return Drawn(kind, *_unpack_design(data["design"])) if kind == "strata" else Drawn(kind)


def _unpack_design(x: dict[str, Any]) -> tuple[tuple[Key, ...], tuple[int, ...], Design]:
    units, strata = (tuple(_keys(x[name], name)) for name in ("units", "strata"))
    rows, of = tuple(x["rows"]), tuple(x["of"])
    for name, keys in (("units", units), ("strata", strata)):
        if merged_keys([keys])[0] != keys:
            raise ValueError(f"'{name}' must be sorted")
    if len(rows) != len(units) or any(type(n) is not int or not 0 <= n < MOST_ROWS for n in rows):
        raise ValueError("'rows' must be a number of rows for each of 'units'")
    if len(of) != len(units) or any(type(k) is not int or not 0 <= k < len(strata) for k in of):
        raise ValueError("'of' must be a place in 'strata' for each of 'units'")
    flags = [x[name] for name in ("nested", "weighting", "domain")]
    if {type(flag) for flag in flags} != {bool} or x["lonely"] not in LONELY:
        raise ValueError("'nested', 'weighting' and 'domain' must be true or false, and 'lonely' one of its options")
    if any(not _is_unit_of(unit, strata[k], flags[0]) for unit, k in zip(units, of, strict=True)):
        raise ValueError("a key in 'units' is not one of its stratum")
    population, fpc = (None if x[name] is None else _sizes(x[name], name) for name in ("population", "fpc"))
    if any(sizes is not None and len(sizes) != len(strata) for sizes in (population, fpc)):
        raise ValueError("'population' and 'fpc' must have a size for each of 'strata'")
    if flags[1] and population is None:
        raise ValueError("'weighting' needs 'population'")
    post = None
    if x["poststrata"] is not None:
        own = x["poststrata"]
        keys, totals = tuple(_keys(own["keys"], "poststrata")), _sizes(own["totals"], "totals")
        weights = tuple(map(hex_fraction, own["weights"]))
        if not len(keys) == len(totals) == len(weights) or merged_keys([keys])[0] != keys:
            raise ValueError("'poststrata' must have sorted keys, and a total and a weight for each")
        post = Poststrata(keys, totals, weights)
    return units, rows, Design(strata, of, flags[0], population, flags[1], fpc, x["lonely"], flags[2], post)


def _is_unit_of(unit: Key, stratum: Key, nested: bool) -> bool:
    """Whether a unit can be in a stratum: it is the stratum, or its key begins with the stratum's."""
    if not nested:
        return bool(unit == stratum)
    values = stratum if isinstance(stratum, tuple) else (stratum,)
    return isinstance(unit, tuple) and len(unit) > len(values) and unit[: len(values)] == values


def _sizes(values: Any, name: str) -> tuple[float, ...]:
    if not isinstance(values, list) or any(type(x) not in (int, float) or not 0 <= x <= LARGEST for x in values):
        raise ValueError(f"'{name}' must be finite numbers of at least 0")
    return tuple(map(float, values))


def _finite(values: Any) -> list[float | None]:
    """JSON has no infinity: a rounded sum that overflows is written as null, the exact one as it is."""
    return [x if math.isfinite(x) else None for x in values.tolist()]


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
    if type(data["schema"]) is not int or data["schema"] not in range(1, SCHEMA + 1):
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
    drawn = _unpack_drawn(data)
    labels, void = _names(data["labels"], data["void"])
    names = tuple(data["names"]) if kind == "joint table" else ()
    if {type(name) for name in names} - {str} or len(set(names)) < len(names) or (kind == "joint table" and not names):
        raise ValueError("'names' must be different texts, one for each prediction")
    by: Any = data["by"] if grouped else None
    by = tuple(by) if isinstance(by, list) else by
    if grouped and ({type(x) for x in (by if isinstance(by, tuple) else (by,))} - {str, int} or by == ()):
        raise ValueError("'by' must be a name or a list of names")
    groups = tuple(_keys(data["groups"], "groups", by)) if grouped else ()
    counts = {"group": len(groups), **{axis: len(keys) for axis, keys in drawn.keys}}
    sizes = {name: counts.get(name, len(labels)) for name in _axes(len(names), grouped, drawn)}
    parts = _cells(data["cells"], sizes, labels, 0 if drawn.replicates is None else len(drawn.replicates.scales))
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
    if drawn.kind == "clusters":
        clusters, parts, _ = _in_order(drawn.units, len(sizes) - 1, parts)
        drawn = Drawn("clusters", clusters)
    if drawn.design is not None:
        rows = np.zeros(len(drawn.units), dtype=np.int64)
        np.add.at(rows, parts.codes[-1], parts.sums.n)
        if (rows > np.array(drawn.rows, dtype=np.int64)).any():
            raise ValueError("a unit has more rows in 'cells' than in 'rows'")
        check_sizes(drawn)
    if groups:
        groups, parts, order = _in_order(groups, 0, parts)
        ignored, declared[0] = [ignored[k] for k in order], [order.index(k) for k in declared[0]]
    own = (kind, labels, void, parts, ignored, positive, names, drawn)
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


def _cells(cells: dict[str, list[Any]], sizes: dict[str, int], labels: Any, replicates: int) -> Stack:
    """Cells as they are listed, in any order, each once; with so many replicate weights."""
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
    more = cells["replicates"] if replicates else []
    if len(more) != replicates or any(len(own) != len(n) for own in more):
        raise ValueError("'replicates' of 'cells' must have a list for each of 'scales', and in it a sum for each cell")
    return Stack.gathered(codes, Sums(n, exact["w"], exact["w2"], low, high, tuple(map(Exact.from_hex, more))))

"""The stored form of tables: plain lists, numbers and strings, with a schema number.

There is one form for all kinds of tables::

    {"schema": 1, "kind": "table", "labels": […], "void": […], "positive": null, "ignored": 0, "drawn": "rows",
     "cells": {"true": […], "pred": […], "n": […], "w": […], …}}

Cells are listed one by one, empty ones left out. A joint table has ``names``, those of its predictions, and
``pred_0``, ``pred_1`` … in place of ``pred``. Where rows come in clusters, ``drawn`` is ``"clusters"``, ``clusters``
lists their keys, and cells have a ``cluster``, a place among these. Where rows or clusters were drawn in strata,
``drawn`` is ``"strata"``, ``design`` has the fields of `StratifiedDesign` and its units, and cells have a
``stratum`` or a ``cluster``, a place among the units. With replicate weights ``drawn`` is ``"replicates"``,
``replicates`` has their method, scales and degrees of freedom, and cells have ``replicates``, a list of exact sums for
each. Where rows are pixels without clusters, ``drawn`` is ``"pixels"``; where clusters are of a map that was compared
with its reference wall to wall, ``whole`` is true. Tables of groups have ``by``, ``groups`` (the
keys), ``same_classes`` (whether each has all of ``labels``), ``declared`` (classes that a group has beside those that
occur in it), an ``ignored`` for each, and a ``group`` of each cell.
"""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from ..errors import SchemaError, WmccError
from . import consistency
from . import labels as _labels
from .design import (
    LONELY,
    PIXELS,
    Kind,
    PoststratumTotals,
    ReplicateFactors,
    SampleDesign,
    StratifiedDesign,
    check_sizes,
)
from .exact import Exact, fraction_hex, hex_fraction
from .keys import Key, key_from_json, key_to_json, merged_keys, missing
from .labels import Label
from .stack import Stack, numbered
from .sums import MOST_ROWS, Sums, added_by_code

SCHEMA = 1
"""Version of the stored form. Raise it when `pack` changes what people have stored, and keep golden files of each."""

STORED_PIXELS = "pixels"
"""What ``drawn`` is where rows are pixels without clusters."""

DRAWN = (*get_args(Kind), STORED_PIXELS)

LARGEST = sys.float_info.max

COLUMNS = ("n", "w", "w2", "w_min", "w_max", "w_exact", "w2_exact")


def pack(table: Any) -> dict[str, Any]:
    """From a table, or tables of groups, to plain lists, numbers and strings."""
    grouped, names, drawn = hasattr(table, "groups"), getattr(table, "names", ()), table.drawn
    kind = ("joint table" if names else "table") + "s" * grouped
    out: dict[str, Any] = {"schema": SCHEMA, "kind": kind, "labels": list(table.labels), "void": list(table.void)}
    out |= {"names": list(names)} if names else {"positive": table.positive}
    out["ignored"] = table.ignored.tolist() if grouped else table.ignored
    out["drawn"] = STORED_PIXELS if drawn.pixels else drawn.kind
    if drawn.kind == "clusters":
        out["clusters"] = _plain(drawn.units)
        out |= {"whole": True} if drawn.whole else {}
    if drawn.replicates is not None:
        out["replicates"] = _plain(drawn.replicates)
    if drawn.design is not None:
        out["design"] = {"units": _plain(drawn.units), "rows": list(drawn.rows), **_plain(drawn.design)}
    if grouped:
        of_groups, classes = table.declared.tolist()
        out |= {"by": _plain(table.by), "groups": _plain(table.groups), "same_classes": table.same_classes}
        out["declared"] = {"group": of_groups, "class": classes}
    axes, sums = _axes(len(names), grouped, drawn), table.raw_cells.sums
    w, w2 = sums.w_exact, sums.w2_exact
    columns = (sums.n.tolist(), _finite(w.floats()), _finite(w2.floats()), sums.w_min.tolist(), sums.w_max.tolist())
    cells = dict(zip([*axes, *COLUMNS], [*table.raw_cells.codes.tolist(), *columns, w.hex(), w2.hex()], strict=True))
    if drawn.replicates is not None:
        cells["replicates"] = [exact.hex() for exact in sums.replicates]
    return {**out, "cells": cells}


def _plain(x: Any) -> Any:
    """Return a key, an exact number, or a tuple of these, with or without names, as JSON can hold it."""
    if isinstance(x, tuple):
        return (
            {name: _plain(own) for name, own in x._asdict().items()} if hasattr(x, "_asdict") else list(map(_plain, x))
        )
    return fraction_hex(x) if isinstance(x, Fraction) else key_to_json(x)


def _axes(predictions: int, grouped: bool, drawn: SampleDesign) -> list[str]:
    """Names of the axes of the cells; the one prediction of a plain table has no name, and counts as none."""
    labels = ["true", *([f"pred_{k}" for k in range(predictions)] or ["pred"])]
    return [*["group"] * grouped, *labels, *drawn.axes]


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


KINDS = {"table": "Table", "joint table": "JointTable", "tables": "Tables", "joint tables": "Tables"}


def unpack(data: Any, kind: str) -> dict[str, Any]:
    """From what is stored to the fields of a `Table`, `JointTable` or `Tables`; else refused with a sentence."""
    _check_head(data, kind)
    try:
        return _unpack(data)
    except SchemaError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as problem:
        reason = problem.message if isinstance(problem, WmccError) else problem
        what = f"it has no entry {reason}" if type(problem) is KeyError else f"{type(problem).__name__}: {reason}"
        raise SchemaError(f"the stored table cannot be read: {what}") from None


def check_version(data: Any) -> None:
    """Refuse what is no stored table, or one of another version."""
    if not isinstance(data, dict) or "schema" not in data:
        raise SchemaError("this is not a stored wmcc table: it has no 'schema' entry.")
    if type(data["schema"]) is not int or data["schema"] != SCHEMA:
        raise SchemaError(
            f"the stored table has schema {data['schema']!r}; this version of wmcc reads schema {SCHEMA}.",
            "update wmcc, or tabulate the data again.",
        )


def _check_head(data: Any, expected: str) -> None:
    """Refuse what is no stored table, or one of another version or kind."""
    check_version(data)
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise SchemaError(f"the stored table cannot be read: its 'kind' is {kind!r}, which is not known.")
    if KINDS[kind] != expected:
        raise SchemaError(
            f"this is a stored {KINDS[kind]}; expected a {expected}.", f"read it with wmcc.{KINDS[kind]}.from_json."
        )


def _unpack(data: dict[str, Any]) -> dict[str, Any]:
    joint, grouped = data["kind"].startswith("joint"), data["kind"].endswith("s")
    drawn = _unpack_drawn(data)
    labels, void = _unpack_labels(data["labels"], data["void"])
    known = len(labels) - len(void)
    fields = _unpack_names(data["names"]) if joint else _unpack_positive(data["positive"], labels, known)
    fields |= {"labels": labels, "void": void, "ignored": data["ignored"]}
    if grouped:
        fields |= _unpack_groups(data, len(labels))
    counts = {"group": len(fields.get("groups", ())), **{axis: len(keys) for axis, keys in drawn.keys}}
    sizes = {name: counts.get(name, len(labels)) for name in _axes(len(fields.get("names", ())), grouped, drawn)}
    cells = _unpack_cells(data["cells"], sizes, labels, 0 if drawn.replicates is None else len(drawn.replicates.scales))
    _need(not void or cells.codes[int(grouped)].max(initial=0) < known, "a label in 'void' is the true label of a cell")
    ignored = data["ignored"] if grouped else [data["ignored"]]
    _need(
        _are_whole(ignored, counts["group"] if grouped else 1, MOST_ROWS),
        "'ignored' must be a number of rows, at least 0, for each table",
    )
    if drawn.kind == "clusters":
        units, cells, _ = _sorted(drawn.units, len(sizes) - 1, cells)
        drawn = drawn._replace(units=units)
    if grouped:
        fields["groups"], cells, order = _sorted(fields["groups"], 0, cells)
        fields["ignored"] = np.array([ignored[k] for k in order], dtype=np.int64)
        of_groups, classes = fields["declared"]
        declared = [[order.index(k) for k in of_groups], classes]
        fields["declared"] = np.array(declared, dtype=np.int64).reshape(2, -1)
    if drawn.design is not None:
        rows = added_by_code(cells.codes[-1], cells.sums.n, len(drawn.units))
        _need(bool((rows <= np.array(drawn.rows)).all()), "a unit has more rows in 'cells' than in 'rows'")
        check_sizes(drawn)
    return {**fields, "raw_cells": cells, "drawn": drawn}


def _need(fine: bool, otherwise: str) -> None:
    """Refuse what is stored, and say what is wrong with it, unless it is fine."""
    if not fine:
        raise ValueError(otherwise)


def _are_whole(values: Any, count: int, below: int) -> bool:
    """Whether these are so many integers of at least 0, each below a limit."""
    return len(values) == count and all(type(x) is int and 0 <= x < below for x in values)


def _are_sorted(keys: tuple[Key, ...]) -> bool:
    return merged_keys([keys])[0] == keys


def _sorted(keys: tuple[Key, ...], axis: int, cells: Stack) -> tuple[tuple[Key, ...], Stack, list[int]]:
    """Sort the keys of an axis; the order in which they were comes last."""
    names, (place,) = merged_keys([keys])
    return names, cells if names == keys else cells.recoded({axis: place}), np.argsort(place).tolist()


# ---- labels, groups, and what is known of each -----------------------------------------------------------


def _unpack_labels(labels: Any, void: Any) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
    """Labels, and those of them that are void, which come last."""
    if not isinstance(labels, list) or not isinstance(void, list) or labels[len(labels) - len(void) :] != void:
        raise ValueError("'void' must list the last of 'labels'")
    last = tuple(_labels.as_label(x, f"void[{i}]") for i, x in enumerate(void))
    names = (*_classes(labels[: len(labels) - len(void)]), *last)
    _need(len(set(names)) == len(names), "a label occurs twice")
    return names, last


def _classes(labels: list[Any]) -> tuple[Label, ...]:
    """Classes: of one kind, but for the one that stands for all others in a table of two."""
    if len(labels) == 2 and str(labels[1]).startswith(_labels.REST):
        return tuple(_labels.as_label(x, f"labels[{i}]") for i, x in enumerate(labels))
    return _labels.given(labels)


def _unpack_names(values: Any) -> dict[str, Any]:
    names = tuple(values)
    _need(
        {type(name) for name in names} == {str} and len(set(names)) == len(names),
        "'names' must be different texts, one for each prediction",
    )
    return {"names": names}


def _unpack_positive(value: Any, labels: tuple[Label, ...], known: int) -> dict[str, Any]:
    positive = None if value is None else _labels.as_label(value, "positive")
    _need(positive is None or (positive in labels and known <= 2), "'positive' is not one of two classes")
    return {"positive": positive}


def _unpack_groups(data: dict[str, Any], labels: int) -> dict[str, Any]:
    """What rows are grouped by, the keys of the groups, and what is known of their classes."""
    by = tuple(data["by"]) if isinstance(data["by"], list) else data["by"]
    columns = by if isinstance(by, tuple) else (by,)
    _need(bool(columns) and {type(x) for x in columns} <= {str, int}, "'by' must be a name or a list of names")
    groups, same = _keys(data["groups"], "groups", by), data["same_classes"]
    _need(type(same) is bool, "'same_classes' must be true or false")
    declared = of_groups, classes = data["declared"]["group"], data["declared"]["class"]
    _need(
        _are_whole(of_groups, len(of_groups), len(groups)) and _are_whole(classes, len(of_groups), labels),
        "'declared' must be places of groups and of classes",
    )
    return {"by": by, "groups": groups, "same_classes": same, "declared": declared}


def _keys(values: Any, name: str, by: Any = None) -> tuple[Key, ...]:
    """Keys of groups, clusters or strata, each once; those of groups have a value for each column."""
    if not isinstance(values, list):
        raise SchemaError(f"{name} must be a list of keys; it is {type(values).__name__}.")
    keys = tuple(_key(value, name, by) for value in values)
    if len(set(keys)) < len(keys):
        raise SchemaError(f"{name} has a key that occurs twice.")
    return keys


def _key(value: Any, name: str, by: Any) -> Key:
    count = len(by) if isinstance(by, tuple) else None
    try:
        key = key_from_json(value)
        _need(by is None or (len(key) if isinstance(key, tuple) else None) == count, "another number of values")
    except (ValueError, TypeError):
        expected = f"one value for each of {', '.join(map(str, by))}" if count else "a value"
        raise SchemaError(f"{name} has key {value!r}; expected {expected}.") from None
    return key


# ---- how rows were drawn ---------------------------------------------------------------------------------


def _unpack_drawn(data: dict[str, Any]) -> SampleDesign:
    kind = data["drawn"]
    _need(kind in DRAWN, f"'drawn' is {kind!r}; expected one of {', '.join(DRAWN)}")
    if kind == "clusters":
        clusters = _keys(data["clusters"], "clusters")
        _need(not missing(clusters), "a key in 'clusters' is null, and every row has a cluster")
        whole = data.get("whole", False)
        _need(type(whole) is bool, "'whole' must be true or false")
        return SampleDesign(kind, clusters, whole=whole)
    if kind == "replicates":
        x = data["replicates"]
        scales, (df,) = _sizes(x["scales"], "scales"), _sizes([x["df"]], "df")
        _need(len(scales) >= 2 and type(x["method"]) is str, "'replicates' must have a method and at least two scales")
        return SampleDesign(kind, replicates=ReplicateFactors(x["method"], scales, df))
    if kind == "strata":
        return _unpack_design(data["design"])
    return PIXELS if kind == STORED_PIXELS else SampleDesign(kind)


def _unpack_design(x: dict[str, Any]) -> SampleDesign:
    units, strata = (_keys(x[name], name) for name in ("units", "strata"))
    rows, of = tuple(x["rows"]), tuple(x["of"])
    for name, keys in (("units", units), ("strata", strata)):
        _need(_are_sorted(keys), f"'{name}' must be sorted")
    _need(_are_whole(rows, len(units), MOST_ROWS), "'rows' must be a number of rows for each of 'units'")
    _need(_are_whole(of, len(units), len(strata)), "'of' must be a place in 'strata' for each of 'units'")
    nested, weighting, domain = flags = [x[name] for name in ("nested", "weighting", "domain")]
    _need(
        {type(flag) for flag in flags} == {bool} and x["lonely"] in LONELY,
        "'nested', 'weighting' and 'domain' must be true or false, and 'lonely' one of its options",
    )
    fit = all(_is_unit_of(unit, strata[k], nested) for unit, k in zip(units, of, strict=True))
    _need(fit, "a key in 'units' is not one of its stratum")
    population, fpc = (None if x[name] is None else _sizes(x[name], name) for name in ("population", "fpc"))
    _need(
        all(sizes is None or len(sizes) == len(strata) for sizes in (population, fpc)),
        "'population' and 'fpc' must have a size for each of 'strata'",
    )
    _need(not weighting or population is not None, "'weighting' needs 'population'")
    post = None if x["poststrata"] is None else _unpack_poststrata(x["poststrata"])
    design = StratifiedDesign(strata, of, nested, population, weighting, fpc, x["lonely"], domain, post)
    return SampleDesign("strata", units, rows, design)


def _unpack_poststrata(x: dict[str, Any]) -> PoststratumTotals:
    keys, totals = _keys(x["keys"], "poststrata"), _sizes(x["totals"], "totals")
    weights = tuple(map(hex_fraction, x["weights"]))
    _need(
        len(keys) == len(totals) == len(weights) and _are_sorted(keys),
        "'poststrata' must have sorted keys, and a total and a weight for each",
    )
    return PoststratumTotals(keys, totals, weights)


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


# ---- cells -----------------------------------------------------------------------------------------------


def _unpack_cells(cells: dict[str, list[Any]], sizes: dict[str, int], labels: Any, replicates: int) -> Stack:
    """Cells as they are listed, in any order, each once; with so many replicate weights."""
    _need(len({len(cells[name]) for name in (*sizes, *COLUMNS)}) == 1, "the columns of 'cells' differ in length")
    counted = {type(x) for name in (*sizes, "n") for x in cells[name]} <= {int}
    _need(counted, "counts and positions must be integers")
    codes = np.array([cells[name] for name in sizes], dtype=np.int64).reshape(len(sizes), -1)
    n = np.array(cells["n"], dtype=np.int64)
    within = (codes >= 0) & (codes < np.array(list(sizes.values()))[:, np.newaxis])
    _need(bool(within.all()) and n.min(initial=1) >= 1, "a cell lies outside the table or has n < 1")
    _need(not len(n) or numbered(codes)[0].shape[1] == len(n), "a cell is listed twice")
    w, w2 = (_unpack_sums(cells, name) for name in ("w", "w2"))
    numbers = {type(x) for name in ("w_min", "w_max") for x in cells[name]} <= {int, float}
    _need(numbers, "'w_min' and 'w_max' must be numbers")
    low, high = (np.array(cells[name], dtype=np.float64) for name in ("w_min", "w_max"))
    first = list(sizes).index("true")
    consistency.check_cells(n, w, w2, low, high, consistency.by_codes(labels, codes[[first, first + 1]]))
    more = cells["replicates"] if replicates else []
    _need(
        len(more) == replicates and all(len(sums) == len(n) for sums in more),
        "'replicates' of 'cells' must have a list for each of 'scales', and in it a sum for each cell",
    )
    return Stack.gathered(codes, Sums(n, w, w2, low, high, tuple(map(Exact.from_hex, more))))


def _unpack_sums(cells: dict[str, list[Any]], name: str) -> Exact:
    exact = Exact.from_hex(cells[f"{name}_exact"])
    edited = f"'{name}' and '{name}_exact' disagree; the file was edited"
    _need(_finite(exact.floats()) == cells[name], edited)
    return exact

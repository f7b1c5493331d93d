"""The stored form of a table: plain lists, numbers and strings, with a schema number."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import labels as _labels
from . import possible
from .errors import SchemaError
from .exact import Exact

SCHEMA = 1
"""Version of the stored form. Raise it when `pack` changes, keep reading the old ones, keep their golden files."""

COLUMNS = ("true", "pred", "n", "w", "w2", "w_min", "w_max", "w_exact", "w2_exact")


def pack(table: dict[str, Any]) -> dict[str, Any]:
    """From the fields of a `wmcc.Table` to what is stored."""
    i, j = np.nonzero(table["n"])
    cells: dict[str, list[Any]] = {"true": i.tolist(), "pred": j.tolist(), "n": table["n"][i, j].tolist()}
    for name in ("w", "w2"):
        cells[name] = _finite(table[f"{name}_exact"].floats()[i, j])
        cells[f"{name}_exact"] = table[f"{name}_exact"].take((i, j)).hex()
    for name in ("w_min", "w_max"):
        cells[name] = table[name][i, j].tolist()
    return {
        "schema": SCHEMA,
        "labels": list(table["labels"]),
        "positive": table["positive"],
        "ignored": table["ignored"],
        "cells": {name: cells[name] for name in COLUMNS},
    }


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


def unpack(data: dict[str, Any]) -> dict[str, Any]:
    """From what is stored to the fields of a `wmcc.Table`; anything else is refused with a sentence."""
    if not isinstance(data, dict) or "schema" not in data:
        raise SchemaError("this is not a stored wmcc table: it has no 'schema' entry.")
    if type(data["schema"]) is not int or data["schema"] != SCHEMA:
        raise SchemaError(
            f"the stored table has schema {data['schema']!r}; this version of wmcc reads schema {SCHEMA}.",
            "update wmcc.",
        )
    try:
        return _unpack_1(data)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as problem:
        raise SchemaError(f"the stored table cannot be read: {type(problem).__name__}: {problem}") from None


def _unpack_1(data: dict[str, Any]) -> dict[str, Any]:
    names, cells = _labels.given(data["labels"]), data["cells"]
    if len({len(cells[name]) for name in COLUMNS}) != 1:
        raise ValueError("the columns of 'cells' differ in length")
    K = len(names)
    if {type(x) for name in ("true", "pred", "n") for x in cells[name]} - {int} or type(data["ignored"]) is not int:
        raise ValueError("counts and positions must be integers")
    i, j, counts = (np.array(cells[name], dtype=np.int64) for name in ("true", "pred", "n"))
    if len(i) and not (min(i.min(), j.min()) >= 0 and max(i.max(), j.max()) < K and counts.min() > 0):
        raise ValueError("a cell lies outside the table or has n < 1")
    if len(set(zip(i.tolist(), j.tolist(), strict=True))) < len(i):
        raise ValueError("a cell is listed twice")
    n, low, high = np.zeros((K, K), dtype=np.int64), np.full((K, K), np.nan), np.full((K, K), np.nan)
    n[i, j], low[i, j], high[i, j] = counts, cells["w_min"], cells["w_max"]
    sums = {}
    for name in ("w", "w2"):
        vector = Exact.from_hex(cells[f"{name}_exact"])
        if _finite(vector.floats()) != cells[name]:
            raise ValueError(f"'{name}' and '{name}_exact' disagree; the file was edited")
        sums[f"{name}_exact"] = vector.scatter((K, K), (i, j))
    possible.check_cells(n, sums["w_exact"], sums["w2_exact"], low, high, possible.by_labels(names))
    positive = None if data["positive"] is None else _labels.as_label(data["positive"], "positive")
    if data["ignored"] < 0 or (positive is not None and (positive not in names or K > 2)):
        raise ValueError("'ignored' is negative or 'positive' is not a class of two")
    return {
        "labels": names,
        "n": n,
        "w_min": low,
        "w_max": high,
        "ignored": int(data["ignored"]),
        "positive": positive,
        **sums,
    }

"""Completion of names of columns and layers, from the files named so far on the command line."""

from __future__ import annotations

import csv
import gzip
import json
from typing import Any

from click import Context, Parameter


def columns(ctx: Context, param: Parameter, incomplete: str) -> list[str]:
    """Columns of the first file, and of those that are joined or laid over it; nothing where that would take long."""
    given = ctx.params
    sides: list[tuple[Any, Any]] = [(name, given.get("layer")) for name in _files(ctx)[:1]]
    sides += [(given.get("join"), None), *((x, given.get("overlay_layer")) for x in given.get("overlay") or ())]
    found = dict.fromkeys(x for name, layer in sides if name for x in _names(str(name), layer))
    return [x for x in found if x.startswith(incomplete)]


def layers(ctx: Context, param: Parameter, incomplete: str) -> list[str]:
    """Layers of the file, or of the map that is laid over it."""
    files = list(ctx.params.get("overlay") or ()) if param.name == "overlay_layer" else _files(ctx)
    try:
        from ..optional import module

        found = [str(name) for name, _ in module("pyogrio").list_layers(files[0])]
    except Exception:  # a shell that waits for a completion is no place for an error
        return []
    return [x for x in found if x.startswith(incomplete)]


def _files(ctx: Context) -> list[str]:
    # While the option to be completed has no value yet, what was typed before it is not parsed to its end.
    return [str(x) for x in ctx.params.get("files") or ctx.args]


def engines(ctx: Context, param: Parameter, incomplete: str) -> list[str]:
    """The engines that read files."""
    return [x for x in ("arrow", "polars", "duckdb", "pyspark", "dask") if x.startswith(incomplete)]


def measures(ctx: Context, param: Parameter, incomplete: str) -> list[str]:
    """The measures that have a range."""
    from ..measures import MEASURES

    return [x for x in MEASURES if x.startswith(incomplete)]


def _names(name: str, layer: str | None = None) -> list[str]:
    """Columns of a file: the first line of a text, the schema of anything else."""
    try:
        from ..sources.files import find
        from ..sources.options import LAYERS

        if name.lower().endswith(LAYERS):
            from ..geo.layers import column_names

            return [str(x) for x in column_names(name, layer)]
        files = find(name)
        if files.is_csv:
            return next(csv.reader([_line(files.paths[0])], delimiter="\t" if files.format == "tsv" else ","))
        if files.format == "jsonl":
            return list(json.loads(_line(files.paths[0])))
        from ..sources.datasets import dataset

        names: list[str] = dataset(files).schema.names
        return names
    except Exception:  # a shell that waits for a completion is no place for an error
        return []


def _line(path: str) -> str:
    opened: Any = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        return str(file.readline()).rstrip("\r\n")

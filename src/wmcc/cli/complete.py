"""Completion of column names, from the files named so far on the command line."""

from __future__ import annotations

import csv
import gzip
import json
from typing import Any

from click import Context, Parameter


def columns(ctx: Context, param: Parameter, incomplete: str) -> list[str]:
    """Columns of the first file, and of the one that is joined; nothing where they cannot be told quickly."""
    # While the option to be completed has no value yet, what was typed before it is not parsed to its end.
    files = ctx.params.get("files") or ctx.args
    found: list[str] = []
    for name in [*files[:1], ctx.params.get("join")]:
        if name:
            found += [x for x in _names(str(name)) if x not in found]
    return [x for x in found if x.startswith(incomplete)]


def engines(ctx: Context, param: Parameter, incomplete: str) -> list[str]:
    """The engines that read files."""
    return [x for x in ("arrow", "polars", "duckdb", "pyspark", "dask") if x.startswith(incomplete)]


def measures(ctx: Context, param: Parameter, incomplete: str) -> list[str]:
    """The measures that have a range."""
    from ..measures import MEASURES

    return [x for x in MEASURES if x.startswith(incomplete)]


def _names(name: str) -> list[str]:
    """Columns of a file: the first line of a text, the schema of anything else."""
    try:
        from ..sources.files import find

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

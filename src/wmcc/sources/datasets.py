"""Files as PyArrow data sets: columns by name in each file, with types that are said."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from ..optional import module
from .column_lookup import different
from .files import FORMATS, FileSet, is_address, one_column


def dataset(files: FileSet, columns: Collection[Any] | None = None, numbers: Collection[Any] = ()) -> Any:
    """Open files as a PyArrow data set.

    Of CSV files the columns are text, but for those of ``numbers``, which are float64. Of files of other formats each
    column has a type that holds the values of all; text columns of Parquet are decoded no further than to codes.
    Without ``columns`` all may be needed.
    """
    pa, ds = module("pyarrow"), module("pyarrow.dataset")
    folders = pa.schema([(name, pa.string()) for name in files.partitions])
    options = {"partitioning": ds.partitioning(folders, flavor="hive")} if len(folders) else {}
    if files.is_csv:
        parts = [_csv(part, names, columns or (), numbers, options) for part, names in files.alike()]
        return parts[0] if len(parts) == 1 else ds.dataset(parts)
    kind = "ipc"
    if files.format == "parquet":
        coded = ds.ParquetReadOptions(dictionary_columns=set(columns or ()))
        kind = ds.ParquetFileFormat(read_options=coded, default_fragment_scan_options=scan_options())
    one = is_address(files.paths[0])
    if one or files.format == "jsonl":
        kind = "json" if files.format == "jsonl" else kind
        return ds.dataset(files.paths[0] if one else list(files.paths), format=kind, **options)
    data = ds.dataset(list(files.paths), schema=pa.schema([]), format=kind, **options)
    return data.replace_schema(_common_schema(files, data, columns, pa))


def column_names(files: FileSet) -> list[str]:
    """Names of the columns of files, those that are names of folders included; of several files, of the first."""
    if files.is_csv and not is_address(files.paths[0]):
        return [*files.header(files.paths[0]), *files.partitions]
    return list(dataset(files).schema.names)


def stored_names(path: str) -> list[str]:
    """Names of the columns of a Parquet or Arrow IPC file, as they are written there."""
    ds = module("pyarrow.dataset")
    kind = "parquet" if FORMATS[os.path.splitext(path.lower())[1]] == "parquet" else "ipc"
    data = ds.dataset([path], schema=module("pyarrow").schema([]), format=kind)
    return list(next(data.get_fragments()).physical_schema.names)


def scan_options(**options: Any) -> Any:
    """Return how Parquet is read: pages that have a checksum are held to it."""
    return module("pyarrow.dataset").ParquetFragmentScanOptions(page_checksum_verification=True, **options)


def _csv(
    files: FileSet, names: list[str] | None, columns: Collection[Any], numbers: Collection[Any], options: Any
) -> Any:
    """CSV files with the same header: its names, if they are known."""
    pa, ds, csv = (module(name) for name in ("pyarrow", "pyarrow.dataset", "pyarrow.csv"))
    coded = pa.dictionary(pa.int32(), pa.string())
    types = {name: pa.float64() if name in numbers else coded for name in columns}
    read = {}
    if names is not None:  # Arrow takes no header that has a name twice, so the header is read here and skipped there
        read = {"read_options": csv.ReadOptions(column_names=different(names), skip_rows_after_names=1)}
    kind = ds.CsvFileFormat(
        parse_options=csv.ParseOptions(delimiter=files.separator, newlines_in_values=True),
        convert_options=csv.ConvertOptions(null_values=[""], strings_can_be_null=True, column_types=types or None),
        **read,
    )
    if names is not None and types:
        folders = dict.fromkeys(files.partitions, pa.string())
        options = {**options, "schema": pa.schema(list({**types, **folders}.items()))}
    return ds.dataset(files.paths[0] if names is None else list(files.paths), format=kind, **options)


def _common_schema(files: FileSet, data: Any, columns: Collection[Any] | None, pa: Any) -> Any:
    """Types that hold the values of every file: the first one's may be too narrow for the others."""
    schemas = []
    for fragment in data.get_fragments():
        schema, names, several = fragment.physical_schema, fragment.physical_schema.names, len(files.paths) > 1
        wanted = [name for name in names if names.count(name) == 1] if columns is None else columns
        places = [one_column(x, names, fragment.path, several) for x in wanted if x not in files.partitions]
        schemas.append(pa.schema([schema.field(place) for place in places]))
        if columns is None:
            break  # an expression sees the columns of the first file
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    for name in files.partitions:
        schema = schema.append(pa.field(name, pa.string()))
    return schema

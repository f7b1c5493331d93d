"""The engines that read files: each opens them as a lazy frame of its own, and reads nothing yet.

A missing field of a CSV file is an empty one, whatever the engine: ``NA`` is a label like any other. Weights are read
as float64, since a column that begins with whole numbers need not go on with them.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from ..errors import InputError, MissingDependencyError
from .files import Files

DASK_BLOCK = "64MiB"  # of a Parquet file in a partition, so that a few of them fit a worker
SNIFFED = 10_000  # rows that the types of a text file's columns are guessed from


def open_lazy(files: Files, engine: str, weight: str | None) -> Any:
    """Open files with an engine; a native lazy frame."""
    if engine not in ENGINES:
        raise InputError(f"engine is {engine!r}; expected one of {', '.join(('arrow', *ENGINES))}.")
    return ENGINES[engine](files, weight)


def module(name: str, extra: str) -> Any:
    """Import an optional package, or say how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise MissingDependencyError(
            f"this needs {package}, which is not installed.", f"pip install 'wmcc[{extra}]'"
        ) from None


def joining_engine() -> str:
    """An engine that joins files: the first that is installed."""
    for name in ("polars", "duckdb"):
        if importlib.util.find_spec(name):
            return name
    module("polars", "polars")
    raise AssertionError


def _polars(files: Files, weight: str | None) -> Any:
    pl, paths = module("polars", "polars"), list(files.paths)
    if files.format == "parquet":
        return pl.scan_parquet(paths, hive_partitioning=files.root is not None)
    if files.format == "ipc":
        return pl.scan_ipc(paths, hive_partitioning=files.root is not None)
    if files.format == "jsonl":
        return pl.scan_ndjson(paths, infer_schema_length=SNIFFED)
    separator = "\t" if files.format == "tsv" else ","
    return pl.scan_csv(
        paths, separator=separator, infer_schema_length=SNIFFED, schema_overrides=_only(paths, pl, separator, weight)
    )


def _only(paths: list[str], pl: Any, separator: str, weight: str | None) -> dict[str, Any]:
    """The weight's type, if there is such a column: another name is an error of its own."""
    names = pl.scan_csv(paths[:1], separator=separator, infer_schema=False).collect_schema().names()
    return {weight: pl.Float64} if weight is not None and weight in names else {}


def _duckdb(files: Files, weight: str | None) -> Any:
    duckdb, paths = module("duckdb", "duckdb"), list(files.paths)
    hive = files.root is not None
    if files.format == "parquet":
        return duckdb.read_parquet(paths, hive_partitioning=hive)
    if files.format == "jsonl":
        return duckdb.read_json(paths, format="newline_delimited", hive_partitioning=hive)
    if files.format == "ipc":
        return duckdb.from_arrow(dataset(files, weight))
    return duckdb.read_csv(
        paths, sep="\t" if files.format == "tsv" else ",", header=True, hive_partitioning=hive, sample_size=SNIFFED
    )


def _dask(files: Files, weight: str | None) -> Any:
    dd, paths = module("dask.dataframe", "dask"), list(files.paths)
    if files.format == "parquet":
        return dd.read_parquet(paths if files.root is None else files.root, blocksize=DASK_BLOCK)
    if files.format == "ipc":
        feather = module("pyarrow.feather", "dask")
        return dd.from_map(feather.read_feather, paths)
    blocks = {"blocksize": None, "compression": "gzip"} if files.zipped else {}
    if files.format == "jsonl":
        return dd.read_json(paths, lines=True, precise_float=True, **blocks)
    return dd.read_csv(
        paths, sep="\t" if files.format == "tsv" else ",", keep_default_na=False, na_values=[""], **blocks
    )


def _pyspark(files: Files, weight: str | None) -> Any:
    session = module("pyspark.sql", "pyspark").SparkSession.builder.getOrCreate()
    reader, paths = session.read, list(files.paths)
    if files.root is not None:
        reader = reader.option("basePath", files.root)
    if files.format == "parquet":
        return reader.parquet(*paths)
    if files.format == "jsonl":
        return reader.json(paths)
    if files.format == "ipc":
        raise InputError("Spark reads no Arrow IPC files.", "use another engine, or write Parquet.")
    options = {"header": True, "inferSchema": True, "sep": "\t" if files.format == "tsv" else ",", "escape": '"'}
    return reader.csv(paths, **options)


ENGINES: dict[str, Callable[[Files, str | None], Any]] = {
    "polars": _polars,
    "duckdb": _duckdb,
    "pyspark": _pyspark,
    "dask": _dask,
}


def dataset(files: Files, weight: str | None = None, text: tuple[str, ...] = ()) -> Any:
    """Open files as a PyArrow data set; columns ``text`` of Parquet are decoded no further than to codes."""
    pa, ds = module("pyarrow", "arrow"), module("pyarrow.dataset", "arrow")
    kind: Any = {"parquet": "parquet", "ipc": "ipc", "jsonl": "json"}.get(files.format)
    if files.format in ("csv", "tsv"):
        csv = module("pyarrow.csv", "arrow")
        kind = ds.CsvFileFormat(
            parse_options=csv.ParseOptions(delimiter="\t" if files.format == "tsv" else ",", newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                null_values=[""], strings_can_be_null=True, column_types={weight: pa.float64()} if weight else None
            ),
        )
    elif files.format == "parquet" and text:
        kind = ds.ParquetFileFormat(read_options=ds.ParquetReadOptions(dictionary_columns=set(text)))
    source: Any = list(files.paths) if len(files.paths) > 1 or "://" not in files.paths[0] else files.paths[0]
    hive = {} if files.root is None else {"partitioning": ds.partitioning(flavor="hive")}
    return ds.dataset(source, format=kind, **hive)

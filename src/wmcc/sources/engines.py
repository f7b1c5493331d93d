"""The engines that read files: each opens them as a lazy frame of its own, and reads nothing yet.

Nothing is left to an engine's guess that can be said. CSV columns that are named are read as text, and so are columns
that are names of folders (``year=2026``); `texts` says what becomes of them. An empty field is a missing one and
nothing else is: ``NA`` is a label. Columns are found by name in each file, and names of files are no patterns.
"""

from __future__ import annotations

import glob
import importlib.util
from collections.abc import Callable, Collection
from typing import Any

from ..errors import InputError, InputTypeError
from ..optional import module
from .files import Files, is_address, no_column

DASK_BLOCK = "64MiB"  # of a Parquet file in a partition, so that a few of them fit a worker

Opened = tuple[Any, set[str]]
"""A native lazy frame, and the names of the columns that were read as text."""


def open_lazy(
    files: Files, engine: str, columns: Collection[str] | None = None, session: dict[str, Any] | None = None
) -> Opened:
    """Open files with an engine.

    Without ``columns`` all may be needed, and the engine guesses their types. ``session`` is a dict that files to be
    joined share, for what an engine must have in common between them.
    """
    check_engine(engine)
    if engine == "arrow":
        raise InputError("Arrow reads files, but does not join them.", f"engine= can be {', '.join(ENGINES)}.")
    for path in files.paths:
        if glob.has_magic(path) and not is_address(path):
            raise InputError(
                f"the name {path!r} has characters that {engine} takes for a pattern.",
                "rename the file, or read it with engine='arrow'.",
            )
    if columns is not None:
        files.check_headers(columns)
    return ENGINES[engine](files, columns, {} if session is None else session)


def check_engine(engine: str | None) -> None:
    """Refuse an engine that is none."""
    if engine is not None and engine not in ("arrow", *ENGINES):
        raise InputError(f"engine is {engine!r}; expected one of {', '.join(('arrow', *ENGINES))}.")


def joining_engine() -> str:
    """An engine that joins files: the first that is installed."""
    return next((name for name in ("polars", "duckdb") if importlib.util.find_spec(name)), "polars")


def _polars(files: Files, columns: Collection[str] | None, session: dict[str, Any]) -> Opened:
    pl, paths = module("polars", "polars"), list(files.paths)
    if files.format in ("parquet", "ipc"):
        scan = pl.scan_parquet if files.format == "parquet" else pl.scan_ipc
        hive = {"hive_partitioning": True, "hive_schema": dict.fromkeys(files.partitions, pl.String)}
        return scan(paths, **(hive if files.partitions else {"hive_partitioning": False})), set(files.partitions)
    if files.format == "jsonl":
        return pl.scan_ndjson(paths, infer_schema_length=None), set()
    guess = {"infer_schema": False} if columns is not None else {"infer_schema_length": None}
    return pl.scan_csv(paths, separator=files.separator, null_values=[""], **guess), set(columns or ())


def _duckdb(files: Files, columns: Collection[str] | None, session: dict[str, Any]) -> Opened:
    duckdb, paths = module("duckdb", "duckdb"), list(files.paths)
    if "duckdb" not in session:
        session["duckdb"] = duckdb.connect()  # of its own: the one of the module is busy when another thread reads
    connection = session["duckdb"]
    if files.format == "ipc":
        return connection.from_arrow(dataset(files, columns)), set(files.partitions)
    if files.is_csv:
        options = {"sep": files.separator, "header": True, "quotechar": '"', "escapechar": '"'}
        guess = {"all_varchar": True} if columns is not None else {"sample_size": -1}
        relation = connection.read_csv(paths, union_by_name=True, hive_partitioning=False, **options, **guess)
        return relation, set(columns or ())
    if files.format == "parquet":
        query = (
            "from read_parquet(?, union_by_name=true, hive_partitioning=true, hive_types_autocast=false)"
            if files.partitions
            else "from read_parquet(?, union_by_name=true, hive_partitioning=false)"
        )
        return connection.sql(query, params=[paths]), set(files.partitions)
    relation = connection.read_json(paths, format="newline_delimited", sample_size=-1, union_by_name=True)
    for name, kind in zip(relation.columns, relation.types, strict=True):
        if str(kind) == "JSON" and name in (columns or ()):
            raise InputTypeError(f"column {name!r} of {files.name} holds values of different types.")
    return relation, set()


def _dask(files: Files, columns: Collection[str] | None, session: dict[str, Any]) -> Opened:
    dd, paths = module("dask.dataframe", "dask"), list(files.paths)
    if files.format == "parquet":
        pa = module("pyarrow", "dask")
        schema = pa.schema([(name, pa.string()) for name in files.partitions])
        hive = {"dataset": {"partitioning": {"flavor": "hive", "schema": schema}}} if files.partitions else {}
        return dd.read_parquet(paths, blocksize=DASK_BLOCK, **hive), set(files.partitions)
    if files.format == "ipc":
        return dd.from_map(module("pyarrow.feather", "dask").read_feather, paths), set()
    whole = {"blocksize": None, "compression": "gzip"} if files.zipped else {}
    if files.format == "jsonl":
        return dd.read_json(paths, lines=True, dtype=False, convert_dates=False, precise_float=True, **whole), set()
    kinds = {"dtype": str} if columns is not None else {}
    options = {"sep": files.separator, "keep_default_na": False, "na_values": [""], "index_col": False}
    return dd.read_csv(paths, **options, **kinds, **whole), set(columns or ())


def _pyspark(files: Files, columns: Collection[str] | None, session: dict[str, Any]) -> Opened:
    spark = module("pyspark.sql", "pyspark").SparkSession.builder.getOrCreate()
    reader, paths = spark.read, list(files.paths)
    if files.root is not None:
        reader = reader.option("basePath", files.root)  # Spark has its own rule for types of partitions
    if files.format == "parquet":
        return reader.parquet(*paths), set()
    if files.format == "jsonl":
        return reader.json(paths, mode="FAILFAST"), set()
    if files.format == "ipc":
        raise InputError("Spark reads no Arrow IPC files.", "use another engine, or write Parquet.")
    options = {"header": True, "sep": files.separator, "escape": '"', "multiLine": True, "mode": "FAILFAST"}
    frame = reader.csv(paths, enforceSchema=False, inferSchema=columns is None, **options)
    return frame, set(columns or ())


ENGINES: dict[str, Callable[[Files, Collection[str] | None, dict[str, Any]], Opened]] = {
    "polars": _polars,
    "duckdb": _duckdb,
    "pyspark": _pyspark,
    "dask": _dask,
}


def dataset(files: Files, columns: Collection[str] | None = None, weight: str | None = None) -> Any:
    """Open files as a PyArrow data set.

    Of CSV files the columns are text, and the weight a float64. Of several files of other formats each column has a
    type that holds the values of all; text columns of Parquet are decoded no further than to codes.
    """
    pa, ds = module("pyarrow", "arrow"), module("pyarrow.dataset", "arrow")
    kind: Any = {"ipc": "ipc", "jsonl": "json"}.get(files.format)
    if files.is_csv:
        csv = module("pyarrow.csv", "arrow")
        coded = pa.dictionary(pa.int32(), pa.string())
        types = {name: pa.float64() if name == weight else coded for name in columns or ()}
        kind = ds.CsvFileFormat(
            parse_options=csv.ParseOptions(delimiter=files.separator, newlines_in_values=True),
            convert_options=csv.ConvertOptions(null_values=[""], strings_can_be_null=True, column_types=types or None),
        )
    elif files.format == "parquet":
        kind = ds.ParquetFileFormat(read_options=ds.ParquetReadOptions(dictionary_columns=set(columns or ())))
    source: Any = files.paths[0] if is_address(files.paths[0]) else list(files.paths)
    folders = pa.schema([(name, pa.string()) for name in files.partitions])
    options = {"partitioning": ds.partitioning(folders, flavor="hive")} if files.partitions else {}
    data = ds.dataset(source, format=kind, **options)
    if files.format not in ("parquet", "ipc") or len(files.paths) == 1 or columns is None:
        return data
    return ds.dataset(source, schema=_common_schema(files, data, columns, pa), format=kind, **options)


def _common_schema(files: Files, data: Any, columns: Collection[str], pa: Any) -> Any:
    """Types that hold the values of every file: the first one's may be too narrow for the others."""
    parts = {fragment.path: fragment.physical_schema for fragment in data.get_fragments()}
    schemas = []
    for path, schema in parts.items():
        for name in columns:
            if name not in schema.names and name not in files.partitions:
                raise no_column(name, schema.names, path)
        schemas.append(pa.schema([schema.field(name) for name in columns if name in schema.names]))
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    for name in files.partitions:
        schema = schema.append(pa.field(name, pa.string()))
    return schema

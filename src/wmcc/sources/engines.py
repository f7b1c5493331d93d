"""The engines that read files: each opens them as a lazy frame of its own, and reads nothing yet.

Nothing is left to an engine's guess that can be said. CSV columns that are named are read as text, and so are columns
that are names of folders (``year=2026``); `text_types` says what becomes of them. An empty field is a missing one and
nothing else is: ``NA`` is a label. Columns are found by name in each file, and names of files are no patterns.
"""

from __future__ import annotations

import functools
import glob
import importlib.util
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import narwhals as nw

from ..errors import InputError
from ..optional import module
from .column_lookup import Data, own_names, picked
from .datasets import dataset, stored_names
from .files import FileSet, is_address, one_column
from .jsonlines import mixed


class Opened(NamedTuple):
    """A native lazy frame; columns that are names of folders, which are text; and all, if it calls them otherwise."""

    frame: Any
    folders: Collection[str] = ()
    names: Sequence[str] | None = None


def open_lazy(
    files: FileSet,
    engine: str,
    columns: Collection[Any] | None = None,
    guess: bool = False,
    session: dict[str, Any] | None = None,
) -> Data:
    """Open files with an engine.

    ``columns`` are those that must be there, if they are known. If the engine may ``guess``, columns of CSV files have
    the types it finds; else they are text. ``session`` is a dict that files to be joined share, for what an engine must
    have in common between them.
    """
    _check_names(files, engine)
    files.check_headers(columns or ())
    session = {} if session is None else session
    opened = []
    for part, names in files.alike(_names_of(files, engine)):
        for name in columns or () if names else ():
            if name not in files.partitions:
                one_column(name, names or (), part.name, len(files.paths) > 1)
        native, folders, changed = ENGINES[engine](part, columns or (), guess, session)
        frame = nw.from_native(native)
        own = own_names(frame)
        known = changed or own if names is None else [*names, *folders]
        if len(known) != len(own):
            raise InputError(f"{part.name} has {len(known)} columns, but {engine} finds {len(own)}.")
        opened.append(Data(frame, set(known) if files.is_csv and not guess else folders, known))
    return opened[0] if len(opened) == 1 else _together(opened, columns or opened[0].known())


def _names_of(files: FileSet, engine: str) -> Callable[[str], list[str]] | None:
    """What reads the names of columns in a file, where an engine changes them or wants the same in all files."""
    if (engine, files.format) == ("duckdb", "parquet"):  # capitals do not count there, and no name may be empty
        module("duckdb"), module("pyarrow")
        return stored_names
    if (engine, files.format) == ("polars", "ipc"):
        pl = module("polars")
        return stored_names if importlib.util.find_spec("pyarrow") else lambda path: list(pl.read_ipc_schema(path))
    return None


def _together(parts: list[Data], columns: Collection[Any]) -> Data:
    """Rows of all parts, in the columns that each has once."""
    known = [part.known() for part in parts]
    shared = [name for name in dict.fromkeys(columns) if all(names.count(name) == 1 for names in known)]
    frames = [
        picked(part.frame, {f"c{k}": names.index(name) for k, name in enumerate(shared)})
        for part, names in zip(parts, known, strict=True)
    ]
    if frames[0].implementation.is_duckdb():  # which finds a type for both; narwhals wants the same
        whole = functools.reduce(lambda a, b: a.union(b), (frame.to_native() for frame in frames))
        return Data(nw.from_native(whole), parts[0].text, shared)
    return Data(nw.concat(frames), parts[0].text, shared)


def _check_names(files: FileSet, engine: str) -> None:
    """Refuse names of files that mean something else to an engine."""
    for path in files.paths:
        if not is_address(path) and (glob.has_magic(path) or "\n" in path):
            raise InputError(
                f"the name {path!r} has characters that {engine} would read as a pattern or an address.",
                "rename the file, or read it with `engine` 'arrow'.",
            )


def joining_engine() -> str:
    """An engine that joins files: the first that is installed."""
    return next((name for name in ("polars", "duckdb") if importlib.util.find_spec(name)), "polars")


def _polars(files: FileSet, columns: Collection[Any], guess: bool, session: dict[str, Any]) -> Opened:
    pl, paths = module("polars"), list(files.paths)
    if files.format in ("parquet", "ipc"):
        scan = pl.scan_parquet if files.format == "parquet" else pl.scan_ipc
        options: dict[str, Any] = {"hive_partitioning": bool(files.partitions)}
        if files.partitions:
            options["hive_schema"] = dict.fromkeys(files.partitions, pl.String)
        if files.format == "parquet":
            options["extra_columns"] = "ignore"  # those that only some of the files have
        return Opened(scan(paths, **options), files.partitions)
    if files.format == "jsonl":
        return Opened(
            _same_kinds([pl.scan_ndjson(path, infer_schema_length=None) for path in paths], columns, files, pl)
        )
    types = {"infer_schema_length": None} if guess else {"infer_schema": False}
    return Opened(pl.scan_csv(paths, separator=files.separator, null_values=[""], **types))


def _same_kinds(frames: list[Any], columns: Collection[Any], files: FileSet, pl: Any) -> Any:
    """Frames of several files as one; numbers may be integers in one and fractions in another, and no more."""
    if len(frames) == 1:
        return frames[0]
    schemas = [frame.collect_schema() for frame in frames]
    for name in columns:
        kinds = {schema[name] for schema in schemas if name in schema} - {pl.Null}
        if len(kinds) > 1 and not all(kind.is_numeric() for kind in kinds):
            raise mixed(name, files.name)
    return pl.concat(frames, how="diagonal_relaxed")


def _duckdb(files: FileSet, columns: Collection[Any], guess: bool, session: dict[str, Any]) -> Opened:
    duckdb, paths = module("duckdb"), list(files.paths)
    if "duckdb" not in session:
        session["duckdb"] = duckdb.connect()  # of its own: the one of the module is busy when another thread reads
    connection = session["duckdb"]
    if files.format == "ipc":
        data = dataset(files, columns or None)
        return Opened(connection.from_arrow(data), files.partitions, data.schema.names)
    if files.is_csv:
        options: dict[str, Any] = {"sep": files.separator, "header": True, "quotechar": '"', "escapechar": '"'}
        if guess or is_address(paths[0]):
            types: dict[str, Any] = {"union_by_name": True, **({"sample_size": -1} if guess else {"all_varchar": True})}
        else:
            numbers = [f"c{place}" for place in range(len(files.header(paths[0])))]
            types = {"all_varchar": True, "names": numbers}
        return Opened(connection.read_csv(paths, hive_partitioning=False, **options, **types))
    if files.format == "parquet":
        folders = "hive_partitioning=true, hive_types_autocast=false" if files.partitions else "hive_partitioning=false"
        query = f"from read_parquet(?, union_by_name=true, {folders})"
        return Opened(connection.sql(query, params=[paths]), files.partitions)
    wide = {"sample_size": -1, "union_by_name": True}
    relation = connection.read_json(paths, format="newline_delimited", records="true", **wide)
    for name, kind in zip(relation.columns, relation.types, strict=True):
        if str(kind) == "JSON" and name in columns:
            raise mixed(name, files.name)
    return Opened(relation)


ENGINES: dict[str, Callable[[FileSet, Collection[Any], bool, dict[str, Any]], Opened]] = {
    "polars": _polars,
    "duckdb": _duckdb,
}

"""Files read in batches through the exact kernel, in bounded memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import narwhals as nw

from ..errors import InputError, LabelError, WeightError, WmccError
from .codebook import Rules
from .engines import dataset
from .files import Files
from .frames import Columns, checked, count_problems, no_column, read_in_memory, selected
from .groups import Tables, add
from .problems import Problems
from .progress import Progress

BATCH = 1 << 20
"""Most rows of a batch. The files' own row groups may be smaller."""


def scan(files: Files, columns: Columns, rules: Rules, threads: int | None, progress: Progress) -> Tables:
    """Tables of files, one batch after the other."""
    tables: Tables = {}
    names = columns.names()
    threads = threads or 1  # Arrow's own threads decode the next batches meanwhile
    batches = _batches(files, columns, progress)
    for path, first, frame in batches:
        try:
            part = read_in_memory(checked(selected(frame, columns.roles()), names), names, rules, threads, first)
        except (LabelError, WeightError) as problem:
            _count_all(itertools.chain([(path, first, frame)], batches), columns, rules, tables, _in(path, problem))
            raise _in(path, problem) from None
        except WmccError as problem:
            raise _in(path, problem) from None
        for key, table in part.items():
            add(tables, key, table)
    if not tables:
        raise InputError(f"there are no rows: {files.name} is empty.")
    return tables


def _batches(files: Files, columns: Columns, progress: Progress) -> Iterator[tuple[str, int, Any]]:
    """Batches that are not empty: the file each is of, the number of its first row there, and a frame."""
    import pyarrow as pa

    weight = columns.weight if isinstance(columns.weight, str) else None
    data = dataset(files, weight)
    wanted = [what for what in columns.roles().values() if isinstance(what, str)]
    if len(wanted) == len(columns.roles()):
        wanted = list(dict.fromkeys(wanted))
        for name in wanted:
            if name not in data.schema.names:
                raise no_column(name, data.schema.names)
    else:  # an expression may need any of them
        wanted = data.schema.names
    text = [name for name in wanted if pa.types.is_string(data.schema.field(name).type)]
    if files.format == "parquet" and text:
        data = dataset(files, weight, tuple(text))
    if files.format in ("parquet", "ipc"):
        progress.total(data.count_rows())
    scanner = data.scanner(columns=wanted, batch_size=BATCH, batch_readahead=4, fragment_readahead=2, **_lean(files))
    before, first = None, 0
    for tagged in scanner.scan_batches():
        batch, path = tagged.record_batch, getattr(tagged.fragment, "path", files.name)
        if path != before:
            before, first = path, 0
        if batch.num_rows:
            yield path, first, nw.from_native(pa.Table.from_batches([batch]))
        first += batch.num_rows
        progress.advance(batch.num_rows)


def _lean(files: Files) -> dict[str, Any]:
    """Keep Arrow from holding the bytes of a whole Parquet file before it decodes them."""
    if files.format != "parquet":
        return {}
    from pyarrow import dataset as ds

    return {"fragment_scan_options": ds.ParquetFragmentScanOptions(pre_buffer=False)}


def _in(path: str, problem: WmccError) -> WmccError:
    return type(problem)(f"{path}: {problem}")


def _count_all(
    batches: Iterator[tuple[str, int, Any]], columns: Columns, rules: Rules, before: Tables, first: WmccError
) -> None:
    """Raise an error that says how many rows of all files are bad, if they are of a kind that can be counted."""
    names = columns.names()
    problems = Problems(rows=sum(table.rows + table.ignored for table in before.values()))
    for _, _, frame in batches:
        problems += count_problems(checked(selected(frame, columns.roles()), names), names, rules)
    problems.refuse(names, first)

"""Files read in batches through the exact kernel, in bounded memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import narwhals as nw

from ..errors import InputTypeError, LabelError, WeightError, WmccError
from .codebook import Rules
from .engines import dataset
from .files import Files, no_column
from .frames import Columns, Data, checked, count_problems, no_rows, read_in_memory, selected
from .groups import Tables, add
from .problems import Problems
from .progress import Progress
from .texts import ignored_texts, typed

BATCH = 1 << 20
"""Most rows of a batch. The files' own row groups may be smaller."""


def scan(files: Files, columns: Columns, rules: Rules, threads: int | None, progress: Progress) -> Tables:
    """Tables of files, one batch after the other."""
    tables: Tables = {}
    names, roles, text = columns.names(), columns.roles(), set[str]()
    threads = threads or 1  # Arrow's own threads decode the next batches meanwhile
    batches = _batches(files, columns, progress)
    for path, first, data in batches:
        frame, text = selected(data, roles)
        batch_rules = Rules(ignore=ignored_texts(rules)) if "t" in text else rules
        try:
            part = read_in_memory(checked(frame, names), names, batch_rules, threads, first)
        except (LabelError, WeightError) as problem:
            rest = itertools.chain([(path, first, data)], batches)
            with suppress(InputTypeError):  # of another batch; this one came first
                _count_all(rest, columns, batch_rules, tables, _in(path, problem))
            raise _in(path, problem) from None
        except WmccError as problem:
            raise _in(path, problem) from None
        for key, table in part.items():
            add(tables, key, table)
    return typed(tables, rules, text) or no_rows(files.name)


def _batches(files: Files, columns: Columns, progress: Progress) -> Iterator[tuple[str, int, Data]]:
    """Batches that are not empty: the file each is of, the number of its first row there, and its columns."""
    import pyarrow as pa

    wanted = columns.plain()
    if wanted is not None:
        files.check_headers(wanted)
    weight = columns.weight if isinstance(columns.weight, str) else None
    data = dataset(files, wanted, weight)
    known = data.schema.names
    for name in wanted or ():
        if name not in known:
            raise no_column(name, known)
    text = set(wanted or ()) - {weight} if files.format in ("csv", "tsv") else set(files.partitions)
    if progress.shown and files.format in ("parquet", "ipc"):
        progress.total(data.count_rows())
    scanner = data.scanner(columns=wanted, batch_size=BATCH, batch_readahead=4, fragment_readahead=2, **_lean(files))
    before, first = None, 0
    for tagged in scanner.scan_batches():
        batch, path = tagged.record_batch, getattr(tagged.fragment, "path", files.name)
        if path != before:
            before, first = path, 0
        if batch.num_rows:
            yield path, first, Data(nw.from_native(pa.Table.from_batches([batch])), text)
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
    batches: Iterator[tuple[str, int, Data]], columns: Columns, rules: Rules, before: Tables, first: WmccError
) -> None:
    """Raise an error that says how many rows of all files are bad, if they are of a kind that can be counted."""
    names = columns.names()
    problems = Problems(rows=sum(table.rows + table.ignored for table in before.values()))
    for _, _, data in batches:
        frame, _ = selected(data, columns.roles())
        try:
            problems += count_problems(checked(frame, names), names, rules)
        except LabelError:  # no label at all: that is said first, where it comes first
            return
    problems.refuse(names, first)

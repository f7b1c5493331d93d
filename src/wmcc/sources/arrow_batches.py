"""Files read in batches through the exact kernel, in bounded memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from operator import itemgetter
from typing import Any

import narwhals as nw

from ..core.tables import Tables
from ..errors import InputError, InputTypeError, LabelError, WeightError, WmccError
from ..present.progress import Progress
from .codes import Rules
from .column_lookup import Data, as_data
from .datasets import dataset, scan_options
from .files import FileSet, find, is_path, no_column
from .frames import NamedColumns, checked, count_problems, no_rows, read_in_memory, selected
from .jsonlines import json_blocks
from .problems import Problems
from .text_types import text_rules, typed
from .values import Files

BATCH = 1 << 20
"""Most rows of a batch. The files' own row groups may be smaller."""

TOGETHER = 32
"""Tables of batches that wait to be merged: merging each would copy what there is each time."""

AHEAD = 8
"""Batches of Parquet that may be decoded and wait for the kernel."""


def scan(files: FileSet, columns: NamedColumns, rules: Rules, threads: int | None, progress: Progress) -> Tables[Any]:
    """Tables of files, one batch after the other."""
    parts: list[Tables[Any]] = []
    names, roles, text = columns.names, columns.roles, set[str]()
    threads = threads or 1  # Arrow's own threads decode the next batches meanwhile
    batches = _batches(files, columns, progress)
    for path, first, data in batches:
        frame, text = selected(data, roles)
        batch_rules = text_rules(rules, text)
        try:
            part = read_in_memory(checked(frame, names), columns, batch_rules, threads, first)
        except (LabelError, WeightError) as problem:
            rest = itertools.chain([(path, first, data)], batches)
            with suppress(InputTypeError):  # of another batch; this one came first
                _count_all(rest, columns, batch_rules, parts, problem.about(path))
            raise problem.about(path) from None
        except WmccError as problem:
            raise problem.about(path) from None
        parts.append(part)
        if len(parts) == TOGETHER:
            parts = [Tables._merged(parts)]
    return typed(Tables._merged(parts), rules, text, names) if parts else no_rows(columns, rules)


def numbered_parts(data: Any, column: str) -> Iterator[tuple[str, int, Data]]:
    """Parts of a frame in memory or of files, to look for a row: the file, the number of the first row, and the part.

    Rows of lazy frames, and of engines for files, have no numbers.
    """
    given = data.paths if isinstance(data, Files) and data.engine == "arrow" else data
    if is_path(given):
        yield from _batches(find(given), NamedColumns(column, ()), Progress())
    elif (frame := as_data(given)) is not None and isinstance(frame.frame, nw.DataFrame):
        yield "", 0, frame


def _batches(files: FileSet, columns: NamedColumns, progress: Progress) -> Iterator[tuple[str, int, Data]]:
    """Batches that are not empty: the file each is of, the number of its first row there, and its columns."""
    wanted = columns.plain
    files.check_headers(wanted or ())
    numbers = list(columns.weights.values())
    text = set(wanted or ()).difference(numbers) if files.is_csv else set(files.partitions)
    for path, tables in itertools.groupby(_tables(files.with_rows(), wanted, numbers, progress), key=itemgetter(0)):
        first = 0
        for _, table in tables:
            for start in range(0, table.num_rows, BATCH):
                part = table.slice(start, BATCH)
                yield path, first + start, Data(nw.from_native(part), text)
                progress.advance(part.num_rows)
            first += table.num_rows


def _tables(
    files: FileSet, wanted: list[Any] | None, numbers: list[Any], progress: Progress
) -> Iterator[tuple[str, Any]]:
    """Tables as Arrow reads them, and the file each is of."""
    if not files.paths:
        return iter(())
    if files.format == "jsonl":
        return json_blocks(files, wanted)
    data = dataset(files, wanted, numbers)
    for name in wanted or ():
        if name not in data.schema.names:
            raise no_column(name, data.schema.names)
    if progress.shown and not files.is_csv:
        progress.total(data.count_rows())
    return (_row_groups if files.format == "parquet" else _scanned)(data, wanted)


def _row_groups(data: Any, columns: list[str] | None) -> Iterator[tuple[str, Any]]:
    """Batches of Parquet files, some row groups after the others: a scan of all may run a gigabyte ahead of us."""
    lean = scan_options(pre_buffer=False)  # not the bytes of a whole file before it is decoded
    for whole in data.get_fragments():
        rows = sum(group.num_rows for group in whole.row_groups)
        if rows != whole.metadata.num_rows:  # which no checksum covers
            raise InputError(
                f"{whole.path} cannot be read: it claims {whole.metadata.num_rows:,} rows, its parts have {rows:,}.",
                "the file is damaged; write it again.",
            )
        for ids in _shares(whole.row_groups):
            part = whole.subset(row_group_ids=ids)
            yield from _scanned(part, columns, schema=data.schema, fragment_scan_options=lean)


def _shares(groups: list[Any]) -> Iterator[list[int]]:
    """Row groups, by their numbers, in shares of some million rows."""
    share: list[int] = []
    rows = 0
    for group in groups:
        if share and rows + group.num_rows > AHEAD * BATCH:
            yield share
            share, rows = [], 0
        share.append(group.id)
        rows += group.num_rows
    if share:
        yield share


def _scanned(data: Any, columns: list[str] | None, **options: Any) -> Iterator[tuple[str, Any]]:
    """Batches as Arrow scans them, and the file each is of."""
    import pyarrow as pa

    if hasattr(data, "get_fragments"):
        options["fragment_readahead"] = 2
    scanner = data.scanner(columns=columns, batch_size=BATCH, batch_readahead=4, **options)
    for tagged in scanner.scan_batches():
        path = str(getattr(data, "path", None) or getattr(tagged.fragment, "path", ""))
        yield path, pa.Table.from_batches([tagged.record_batch])


def _count_all(
    batches: Iterator[tuple[str, int, Data]],
    columns: NamedColumns,
    rules: Rules,
    before: list[Tables[Any]],
    first: WmccError,
) -> None:
    """Raise an error that says how many rows of all files are bad, if they are of a kind that can be counted."""
    names = columns.names
    problems = Problems(rows=int(sum(part.rows.sum() + part.ignored.sum() for part in before)))
    for _, _, data in batches:
        frame, _ = selected(data, columns.roles)
        try:
            problems += count_problems(checked(frame, names), names, rules)
        except LabelError:  # no label at all: that is said first, where it comes first
            return
    problems.refuse(names, first)

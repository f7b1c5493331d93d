"""JSON lines in blocks, each with types of its own: a number that is whole in one need not be so in the next."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from ..core.threads import in_order, processors
from ..errors import InputTypeError
from ..optional import module
from .files import FileSet, is_address, no_column

BLOCK = 1 << 22
"""Bytes of a block, more or less: as many as end with a line."""


def json_blocks(files: FileSet, columns: list[Any] | None) -> Iterator[tuple[str, Any]]:
    """Arrow tables of the lines of files, and the file each is of; without ``columns`` all may be needed."""
    pa, inside = module("pyarrow"), columns and [x for x in columns if x not in files.partitions]
    for path, stream in _streams(files):
        reader, folders = _Reader(path, inside), files.folders(path)
        with stream:
            blocks = _blocks(stream)
            first = list(islice(blocks, 1))
            if first and path == files.paths[0]:
                reader.check_names(first[0])
            for table in in_order(reader.read, chain(first, blocks), processors()):
                for name, value in folders.items():  # columns that the names of its folders make
                    table = table.append_column(name, pa.array([value] * len(table), pa.string()))
                yield path, table


def mixed(name: Any, where: str) -> InputTypeError:
    """Say that a column has no type."""
    return InputTypeError(
        f"column {name!r} of {where} holds values of different types.", "give all of them the same type."
    )


def _streams(files: FileSet) -> Iterator[tuple[str, Any]]:
    """Streams of the bytes of files, unpacked."""
    if not is_address(files.paths[0]):
        for path in files.paths:
            yield path, module("pyarrow").input_stream(path, compression="detect")
        return
    data = module("pyarrow.dataset").dataset(files.paths[0], format="json")
    for path in data.files:
        yield path, data.filesystem.open_input_stream(path)


def _blocks(stream: Any) -> Iterator[bytes]:
    """Whole lines, some megabytes of them."""
    rest = b""
    while data := stream.read(BLOCK):
        lines, end, begun = (rest + data).rpartition(b"\n")
        if lines.strip():
            yield lines + end
        rest = begun
    if rest.strip():
        yield rest


class _Reader:
    """What turns blocks of a file into tables.

    Arrow finds types by itself, but those of all columns, and of text that looks like dates as well. So it is told a
    type for each column that is needed: the one of the block before. Where that does not fit, Python reads the block.
    """

    def __init__(self, path: str, columns: list[Any] | None) -> None:
        self._path, self._columns = path, columns
        self._json, self._pa = module("pyarrow.json"), module("pyarrow")
        self._kinds = self._pa.schema(dict.fromkeys(columns or (), self._pa.int64()))

    def check_names(self, block: bytes) -> None:
        """Refuse a file that lacks a column, to go by its first block."""
        names, needed = dict[str, None](), {*(self._columns or ())}
        for line in block.split(b"\n"):
            if names.keys() >= needed:
                return
            row = _loaded(line)
            names |= dict.fromkeys(row if isinstance(row, dict) else ())
        for name in self._columns or ():
            if name not in names and names:
                raise no_column(name, list(names))

    def read(self, block: bytes) -> Any:
        """Return the columns of a block."""
        options = {"read_options": self._json.ReadOptions(use_threads=False, block_size=len(block) + 1)}
        if self._columns is not None:
            options["parse_options"] = self._json.ParseOptions(self._kinds, unexpected_field_behavior="ignore")
        try:
            return self._json.read_json(io.BytesIO(block), **options)
        except self._pa.ArrowInvalid:
            rows = [_loaded(line) for line in block.split(b"\n") if line.strip()]
            if self._columns is None or not all(isinstance(row, dict) for row in rows):
                raise
            table = self._pa.table(
                {name: self._column(name, [row.get(name) for row in rows]) for name in self._columns}
            )
            self._kinds = table.schema  # of the blocks that follow, whichever thread reads them
            return table

    def _column(self, name: Any, values: list[Any]) -> Any:
        if any(isinstance(x, (dict, list)) for x in values):
            raise InputTypeError(f"column {name!r} of {self._path} holds lists or records; expected text or numbers.")
        try:
            column = self._pa.array(values)
        except (self._pa.ArrowInvalid, self._pa.ArrowTypeError):
            raise mixed(name, self._path) from None
        return column.cast(self._pa.int64()) if self._pa.types.is_null(column.type) else column


def _loaded(line: bytes) -> Any:
    try:
        return json.loads(line, parse_int=_number)
    except ValueError:
        return None


def _number(text: str) -> float:
    """Return an integer, or a float beyond those that Arrow has."""
    return value if -(1 << 63) <= (value := int(text)) < 1 << 63 else float(value)

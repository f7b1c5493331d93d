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

    Arrow finds types by itself, but those of all columns, and of text that looks like dates as well. It is told a type
    for each column that is needed: the one that fitted last, or else the first that fits.
    """

    def __init__(self, path: str, columns: list[Any] | None) -> None:
        self._path, self._columns = path, columns
        self._json, pa = module("pyarrow.json"), module("pyarrow")
        self._invalid, self._schema = pa.ArrowInvalid, pa.schema
        self._kinds = (pa.int64(), pa.float64(), pa.bool_(), pa.string())
        self._known: dict[Any, Any] = dict.fromkeys(columns or (), pa.int64())

    def check_names(self, block: bytes) -> None:
        """Refuse a file that lacks a column, to go by its first block."""
        missing = set(self._columns or ())
        names: dict[str, None] = {}
        for line in block.split(b"\n") if missing else ():
            row = _loaded(line)
            if isinstance(row, dict):
                names |= dict.fromkeys(row)
                missing -= row.keys()
            if not missing:
                return
        for name in self._columns or ():
            if name in missing and names:
                raise no_column(name, list(names))

    def read(self, block: bytes) -> Any:
        """Return the columns of a block."""
        if self._columns is None:
            return self._json.read_json(io.BytesIO(block), self._options(block))
        known = dict(self._known)  # other threads may find others meanwhile
        try:
            return self._typed(block, known)
        except self._invalid:
            known = {name: self._kind(block, name) for name in known}
            self._known = known
            return self._typed(block, known)

    def _options(self, block: bytes) -> Any:
        return self._json.ReadOptions(use_threads=False, block_size=len(block) + 1)

    def _typed(self, block: bytes, kinds: dict[Any, Any]) -> Any:
        parse = self._json.ParseOptions(self._schema(list(kinds.items())), unexpected_field_behavior="ignore")
        return self._json.read_json(io.BytesIO(block), self._options(block), parse)

    def _kind(self, block: bytes, name: Any) -> Any:
        """The first type that holds a column of a block."""
        problem = None
        for kind in self._kinds:
            try:
                self._typed(block, {name: kind})
            except self._invalid as found:
                problem = found
            else:
                return kind
        rows = [_loaded(line) for line in block.split(b"\n") if line.strip()]
        if not all(isinstance(row, dict) for row in rows):
            raise problem or AssertionError  # the lines are no records, whatever the column
        if any(isinstance(row.get(name), (dict, list)) for row in rows):
            raise InputTypeError(f"column {name!r} of {self._path} holds lists or records; expected text or numbers.")
        raise mixed(name, self._path)


def _loaded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None

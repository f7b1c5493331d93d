"""Results of commands, in the format that was asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from os.path import splitext
from typing import TYPE_CHECKING, TypeVar

from . import options as o
from . import output

if TYPE_CHECKING:
    from ..core.table import Table
    from ..core.tables import Tables
    from .blocks import Block

T = TypeVar("T")
Text = Callable[[T], str]
Csv = Callable[[T, bool], str]
Blocks = Callable[[T], "list[Block]"]


def _format(given: o.Format | None, out: str | None, default: o.Format) -> o.Format:
    """The format that was asked for, or that the name of the output asks for."""
    return given or o.ENDINGS.get(splitext(out or "")[1].lower(), default)


def write(result: T, given: o.Format | None, out: str | None, json: Text[T], csv: Csv[T], blocks: Blocks[T]) -> None:
    """Write a result for programs or for people."""
    form = _format(given, out, o.Format.table)
    if form is o.Format.json:
        output.emit(json(result), out)
    elif form in (o.Format.csv, o.Format.csv_safe):
        output.emit(csv(result, form is o.Format.csv_safe), out)
    else:
        show(blocks(result), form, out)


def write_tables(tables: Tables[Table], given: o.Format | None, out: str | None) -> None:
    """Write tables: for people on standard output, to be read again in a file."""
    from . import blocks, records, stored

    default = o.Format.table if out is None else o.Format.json
    write(tables, _format(given, out, default), out, stored.to_json, records.tables_csv, blocks.of_tables)


def show(blocks: list[Block], form: o.Format, out: str | None) -> None:
    """Blocks for people: drawn on a terminal, aligned text anywhere else."""
    if form is o.Format.table and out is None and sys.stdout.isatty():
        from . import terminal

        terminal.show(blocks)
        return
    from . import plain

    output.emit(plain.markdown(blocks) if form is o.Format.markdown else plain.text(blocks), out)

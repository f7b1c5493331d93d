"""Blocks on a terminal, with rich: rules, colours, and nothing wider than the window."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .blocks import GAP, Block, fitted

STYLES = {"right": "green", "nothing": "dim"}


def show(blocks: Iterable[Block]) -> None:
    """Draw blocks on standard output."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=False)
    pieces = [piece for block in blocks for piece in fitted(block, console.width)]
    for place, piece in enumerate(pieces):
        if place:
            console.print()
        if piece.title:
            console.print(Text(piece.title, style="bold"))
        if piece.columns:
            console.print(_table(piece))
        for note in piece.notes:
            console.print(Text(note, style="yellow" if piece.columns else ""))


def _table(block: Block) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, GAP - 1, 0, 0), show_edge=False, header_style="bold")
    table.show_header = bool(block.head)
    for k in range(block.columns):
        head = Text(block.head[k]) if block.head else ""
        table.add_column(head, justify="left" if k < block.texts else "right", no_wrap=True)
    for i, row in enumerate(block.rows):
        table.add_row(*(Text(cell, style=STYLES.get(block.styles.get((i, k), ""), "")) for k, cell in enumerate(row)))
    return table

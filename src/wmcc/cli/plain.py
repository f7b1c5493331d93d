"""Blocks as aligned text and as Markdown."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from ..present.markdown import escaped, table
from ..present.text import visible
from .blocks import Block, listing

GAP = 2
"""Blanks between columns."""


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(x) in "WF" for x in text)
    return len(text) + wide - sum(unicodedata.category(x) in ("Mn", "Me", "Cf") for x in text)


def shortened(text: str, room: int) -> str:
    """The text, or its beginning and an ellipsis."""
    if width(text) <= room:
        return text
    while text and width(text) >= room:
        text = text[:-1]
    return text + "…"


def fitted(block: Block, room: int) -> list[Block]:
    """The block cut into blocks that fit a terminal: side by side they would be the whole.

    A square that would have to be cut more than twice is listed instead.
    """
    block = _clean(block)
    if not block.head:
        return [block]
    columns = range(block.texts, len(block.head))
    cells = {k: max((width(row[k]) for row in block.rows), default=0) for k in columns}
    # A head is as wide as what it stands over, or a quarter of the room.
    heads = block.head[: block.texts] + [shortened(block.head[k], max(12, room // 4, cells[k])) for k in columns]
    needs = {k: GAP + max(width(heads[k]), cells[k]) for k in columns}
    # Names may take half of the room, or all that the numbers leave of it.
    most = max(8, (max(room // 2, room - sum(needs.values())) - GAP * (block.texts - 1)) // block.texts)
    names = [[shortened(x, most) for x in row[: block.texts]] for row in [heads, *block.rows]]
    first = sum(max(map(width, column)) for column in zip(*names, strict=True)) + GAP * (block.texts - 1)
    pieces: list[list[int]] = [[]]
    used = first
    for k in columns:
        if used + needs[k] > room and pieces[-1]:
            pieces.append([])
            used = first
        pieces[-1].append(k)
        used += needs[k]
    if block.square is not None and len(pieces) > 3:
        listed = listing(block.square)
        listed.title = block.title
        return fitted(listed, room)
    blocks = []
    for number, piece in enumerate(pieces):
        rows = [[*name, *(row[c] for c in piece)] for name, row in zip(names[1:], block.rows, strict=True)]
        where = {c: block.texts + k for k, c in enumerate(piece)}
        styles = {(i, where[c]): style for (i, c), style in block.styles.items() if c in where}
        last = number == len(pieces) - 1
        head = [*names[0], *(heads[c] for c in piece)]
        blocks.append(Block(block.title * (number == 0), head, rows, block.notes * last, block.texts, styles))
    return blocks


def _clean(block: Block) -> Block:
    head = list(map(visible, block.head))
    rows = [list(map(visible, row)) for row in block.rows]
    notes = list(map(visible, block.notes))
    return Block(visible(block.title), head, rows, notes, block.texts, block.styles, block.square)


def text(blocks: list[Block]) -> str:
    """Columns two blanks apart, as wide as they are: for pipes and files."""
    return "\n".join("\n".join(_lines(_clean(block))) + "\n" for block in blocks)


def _lines(block: Block) -> Iterator[str]:
    if block.title:
        yield block.title
    if block.head:
        rows = [block.head, *block.rows]
        widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = []
            for k, (cell, most) in enumerate(zip(row, widths, strict=True)):
                blanks = " " * (most - width(cell))
                cells.append(cell + blanks if k < block.texts else blanks + cell)
            yield (" " * GAP).join(cells).rstrip()
    for note in block.notes:
        yield from ("", note) if block.head else (note,)


def markdown(blocks: list[Block]) -> str:
    """Tables of GitHub's Markdown; titles and notes are paragraphs."""
    parts = []
    for block in blocks:
        parts += [escaped(block.title)] if block.title else []
        parts += [table(block.head, block.rows, block.texts)] if block.head else []
        parts += list(map(escaped, block.notes))
    return "\n\n".join(parts) + "\n"

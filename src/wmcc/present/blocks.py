"""Blocks: what every result for people is made of, and how they are written as aligned text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .text import cut, visible, visible_rows, width, widths

GAP = 2
"""Blanks between columns."""

MOST_NOTES = 20
"""Sentences below a table of groups or pairs."""


class Mark(NamedTuple):
    """A small picture beside a number: its place, and what it may be, on a scale."""

    value: float
    low: float
    high: float
    least: float
    most: float


@dataclass(frozen=True)
class Block:
    """A table of texts and numbers, with a title before and sentences after; any of them may be missing.

    Parameters
    ----------
    title
        What it is, on a line of its own.
    head, rows
        Cells; those of the first ``texts`` columns are text and stand to the left, numbers to the right.
    notes
        Sentences below it.
    styles
        ``"right"`` and ``"nothing"`` for cells, by row and column, where colours are to be had.
    marks, scale
        A small picture for each row, where pictures are to be had, and what their scale is.
    narrow
        Makes the same table in fewer columns, for where there is no room.
    """

    title: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()
    texts: int = 1
    styles: dict[tuple[int, int], str] = field(default_factory=dict)
    marks: Sequence[Mark | None] = ()
    scale: str = ""
    narrow: Callable[[], Block] | None = None

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.head or next(iter(self.rows), ()))

    @property
    def visible(self) -> Block:
        """The same, with nothing in it that moves a terminal's cursor."""
        head, notes, *rows = visible_rows([self.head, self.notes, *self.rows])
        return replace(self, title=visible(self.title), head=head, rows=rows, notes=notes)


def text(blocks: Iterable[Block], room: int | None = None) -> str:
    """Write columns two blanks apart: as wide as they are, or cut to a room of so many columns."""
    pieces = (piece for block in blocks for piece in (fitted(block, room) if room else [block.visible]))
    return "\n".join("".join(f"{line}\n" for line in _lines(piece)) for piece in pieces)


def _lines(block: Block) -> Iterator[str]:
    if block.title:
        yield block.title
    rows = [*([block.head] if block.head else []), *block.rows]
    cells = widths(rows)
    most = list(map(max, zip(*cells, strict=True)))
    for row, own in zip(rows, cells, strict=True):
        sides = zip(row, (" " * (room - used) for room, used in zip(most, own, strict=True)), strict=True)
        yield (" " * GAP).join(x + y if k < block.texts else y + x for k, (x, y) in enumerate(sides)).rstrip()
    yield from ["", *block.notes] if rows and block.notes else block.notes


def fitted(block: Block, room: int) -> list[Block]:
    """Cut a block into blocks that fit a room of so many columns: side by side they would be the whole.

    One that would have to be cut more than once is written in fewer columns, if it can be.
    """
    block = block.visible
    if not block.columns:
        return [block]
    columns = range(block.texts, block.columns)
    head = block.head or [""] * block.columns
    cells = {k: max((width(row[k]) for row in block.rows), default=0) for k in columns}
    # A head is as wide as what it stands over, or a quarter of the room.
    heads = [*head[: block.texts], *(cut(head[k], max(12, room // 4, cells[k])) for k in columns)]
    needs = {k: GAP + max(width(heads[k]), cells[k]) for k in columns}
    # Names may take half of the room, or all that the numbers leave of it.
    most = max(8, (max(room // 2, room - sum(needs.values())) - GAP * (block.texts - 1)) // block.texts)
    names = [[cut(x, most) for x in row[: block.texts]] for row in [heads, *block.rows]]
    first = sum(max(map(width, column)) for column in zip(*names, strict=True)) + GAP * (block.texts - 1)
    pieces: list[list[int]] = [[]]
    used = first
    for k in columns:
        if used + needs[k] > room and pieces[-1]:
            pieces.append([])
            used = first
        pieces[-1].append(k)
        used += needs[k]
    if block.narrow is not None and len(pieces) > 2:
        return fitted(block.narrow(), room)
    blocks = []
    for number, piece in enumerate(pieces):
        rows = [[*name, *(row[c] for c in piece)] for name, row in zip(names[1:], block.rows, strict=True)]
        where = {c: block.texts + k for k, c in enumerate(piece)}
        styles = {(i, where[c]): style for (i, c), style in block.styles.items() if c in where}
        title, notes = block.title * (number == 0), block.notes if number == len(pieces) - 1 else ()
        shown = [*names[0], *(heads[c] for c in piece)] if block.head else ()
        blocks.append(Block(title, shown, rows, notes, block.texts, styles))
    return blocks


def stacked(parts: Iterable[tuple[Sequence[str], Sequence[Block]]], names: Sequence[str] = ()) -> list[Block]:
    """Put blocks under common heads: those of one title below each other.

    Parameters
    ----------
    parts
        Cells that come first in each row, and blocks with those that follow them; a column that a part lacks, or all
        of it, is shown as a dash.
    names
        Heads of the cells that come first.
    """
    found = list(parts)
    titles = dict.fromkeys(block.title for _, blocks in found for block in blocks)
    out = []
    for title in titles:
        of_title = [(key, next((block for block in blocks if block.title == title), None)) for key, blocks in found]
        known = [block for _, block in of_title if block is not None]
        heads = list(dict.fromkeys(name for block in known for name in block.head))
        rows = []
        for key, block in of_title:
            for row in [()] if block is None else block.rows:
                cells = dict(zip(block.head, row, strict=True)) if block is not None else {}
                rows.append([*key, *(cells.get(name, "—") for name in heads)])
        out.append(Block(title, [*names, *heads], rows, texts=len(names) + known[0].texts))
    return out


def few(notes: Sequence[str]) -> list[str]:
    """Return as many sentences as one reads."""
    more = len(notes) - MOST_NOTES
    return list(notes) if more <= 0 else [*notes[:MOST_NOTES], f"… and {more:,} more; JSON has all."]

"""Blocks as Markdown: nothing in a label is markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .blocks import Block
from .text import visible


def markdown(blocks: Iterable[Block]) -> str:
    """Write tables of GitHub's Markdown; titles and notes are paragraphs."""
    return "\n\n".join(part for block in blocks for part in paragraphs(block)) + "\n"


def paragraphs(block: Block) -> list[str]:
    """Write a block: its title, its table and its notes."""
    parts = [escaped(block.title)] if block.title else []
    parts += [table(block.head or [""] * block.columns, block.rows, block.texts)] if block.columns else []
    return parts + list(map(escaped, block.notes))


def items(pairs: Sequence[tuple[str, str]]) -> str:
    """Write a list of sentences; each may begin with a term."""
    return "\n".join(f"- {f'**{escaped(term)}** — ' * bool(term)}{escaped(text)}" for term, text in pairs)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Table of GitHub's Markdown: the first ``texts`` columns stand to the left, numbers to the right."""
    align = ["---" if k < texts else "---:" for k in range(len(head))]
    lines = [list(map(escaped, head)), align, *(list(map(escaped, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(cell: str) -> str:
    r"""A text in a cell of Markdown: nothing in it is markup, ends the cell or ends the line.

    Examples
    --------
    >>> print(escaped("a|b\nc*"))
    a\|b&#10;c\*
    """
    if cell and not cell.strip():
        return "".join(f"&#{ord(x)};" for x in cell)
    out = []
    for place, character in enumerate(cell):
        edge = place in (0, len(cell) - 1) and character.isspace()
        if edge or character in "\n\r\t&<>":
            out.append(f"&#{ord(character)};")
        elif character in "\\|*_`[]~$":
            out.append(f"\\{character}")
        else:
            out.append(visible(character))
    return "".join(out)

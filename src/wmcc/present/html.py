"""Blocks as HTML, for notebooks and plain pages: all text is escaped, and colours are the page's."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from .blocks import Block

CAPTION = "caption-side:top;text-align:left;font-weight:bold;white-space:nowrap;color:inherit"


def html(blocks: Iterable[Block]) -> str:
    """Write tables with captions, and sentences.

    Examples
    --------
    >>> html([Block(notes=["MCC < 0.5"])])
    '<p>MCC &lt; 0.5</p>'
    """
    return "".join(_table(block) + "".join(f"<p>{escape(note)}</p>" for note in block.notes) for block in blocks)


def page(blocks: Iterable[Block], title: str) -> str:
    """Write a page of its own."""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{html(blocks)}</body></html>\n'


def _table(block: Block) -> str:
    if not block.columns:
        return f"<p>{escape(block.title)}</p>" * bool(block.title)
    caption = f'<caption style="{CAPTION}">{escape(block.title)}</caption>' * bool(block.title)
    heads = "".join(_cell(x, "col", k < block.texts) if x else "<td></td>" for k, x in enumerate(block.head))
    top = f"<thead><tr>{heads}</tr></thead>" * bool(block.head)
    body = "".join(
        f"<tr>{_cell(first, 'row', True)}{''.join(map(_number, others))}</tr>" for first, *others in block.rows
    )
    style = "text-align:right;font-variant-numeric:tabular-nums"
    return f'<table style="{style}">{caption}{top}<tbody>{body}</tbody></table>'


def _cell(text: str, scope: str, left: bool) -> str:
    return f'<th scope="{scope}" style="text-align:{"left" if left else "right"}">{escape(text)}</th>'


def _number(text: str) -> str:
    return f"<td>{escape(text)}</td>"

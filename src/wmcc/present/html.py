"""HTML: elements whose text and attributes are escaped, whatever is in a label; and blocks that are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree.ElementTree import Element, tostring

from .blocks import Block
from .text import visible

Child = Element | str

CAPTION = "caption-side:top;text-align:left;font-weight:bold;white-space:nowrap;color:inherit"
NUMBERS = "text-align:right;font-variant-numeric:tabular-nums"


def element(tag: str, *children: Child | None, **attributes: Any) -> Element:
    """Make an element of children, which are elements or text; None stands for no child and no attribute.

    ``class_`` is the attribute class, and other underscores are hyphens.

    Examples
    --------
    >>> written(element("p", "a < b", element("b", "c"), class_="notes"))
    '<p class="notes">a &lt; b<b>c</b></p>'
    """
    own = {name.rstrip("_").replace("_", "-"): visible(str(x)) for name, x in attributes.items() if x is not None}
    made = Element(tag, own)
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif child is not None and len(made):
            made[-1].tail = (made[-1].tail or "") + visible(child)
        elif child is not None:
            made.text = (made.text or "") + visible(child)
    return made


def raw(tag: str, text: str, **attributes: str) -> Element:
    """Return an element whose text is no label but ours, and is written as it is."""
    made = element(tag, **attributes)
    made.text = text
    return made


def written(made: Element) -> str:
    """Write an element as HTML."""
    return tostring(made, encoding="unicode", method="html")


def html(blocks: Iterable[Block]) -> str:
    """Write tables with captions, and sentences, for notebooks and plain pages, whose colours they take.

    Examples
    --------
    >>> html([Block(notes=["MCC < 0.5"])])
    '<p>MCC &lt; 0.5</p>'
    """
    return "".join(written(part) for block in blocks for part in _parts(block))


def page(blocks: Iterable[Block], title: str) -> str:
    """Write a page of its own."""
    head = written(element("head", element("meta", charset="utf-8"), element("title", title)))
    return f'<!DOCTYPE html>\n<html lang="en">{head}<body>{html(blocks)}</body></html>\n'


def _parts(block: Block) -> list[Element]:
    titles = [block.title] if block.title and not block.columns else []
    tables = [table(block, plain=True)] if block.columns else []
    return [*(element("p", x) for x in titles), *tables, *(element("p", note) for note in block.notes)]


def table(block: Block, marks: Sequence[Element | None] = (), plain: bool = False) -> Element:
    """Make a table, with a last column of pictures; a plain one for pages that have no style for it."""

    def cell(tag: str, k: int, text: str, **scope: str) -> Element:
        left, told = k < block.texts, plain and (tag == "th" or k < block.texts)
        style = f"text-align:{'left' if left else 'right'}" if told else None
        kind = "text" if left and not plain else None
        return element(tag, text.replace(" *", "\u00a0*"), **scope, class_=kind, style=style)

    heads = [cell("th", k, x, scope="col") if x else element("td") for k, x in enumerate(block.head)]
    rows = []
    for first, *others in block.rows:
        rows.append([cell("th", 0, first, scope="row"), *(cell("td", k, x) for k, x in enumerate(others, 1))])
    if marks:
        heads.append(element("th", block.scale, scope="col", class_="wide"))
        for row, mark in zip(rows, marks, strict=True):
            row.append(element("td", mark, class_="wide"))
    caption = element("caption", block.title, style=CAPTION if plain else None) if block.title else None
    head = element("thead", element("tr", *heads)) if heads else None
    body = element("tbody", *(element("tr", *row) for row in rows))
    return element("table", caption, head, body, style=NUMBERS if plain else None)


def items(pairs: Sequence[tuple[str, str]]) -> Element:
    """Make a list of sentences; each may begin with a term."""
    if not any(term for term, _ in pairs):
        return element("ul", *(element("li", text) for _, text in pairs))
    return element("dl", *(x for term, text in pairs for x in (element("dt", term), element("dd", text))))

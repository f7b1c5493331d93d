"""HTML and SVG elements: text and attributes are escaped, whatever is in a label."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, tostring

from ..present.text import visible

Child = Element | str


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
    last: Element | None = None
    for child in children:
        if child is None:
            continue
        if isinstance(child, Element):
            made.append(child)
            last = child
        elif last is None:
            made.text = (made.text or "") + visible(child)
        else:
            last.tail = (last.tail or "") + visible(child)
    return made


def written(made: Element) -> str:
    """Write an element as HTML."""
    return tostring(made, encoding="unicode", method="html")

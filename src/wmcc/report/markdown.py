"""A report as Markdown: the same sections, with tables where a page has pictures."""

from __future__ import annotations

from ..present.markdown import escaped, items, paragraphs
from .document import SQUARE, AreaFigure, Document, Funnel, Heat, Items, Part, confusions
from .maps import Figure, MapPictures
from .pictures import Gallery
from .thresholds import Thresholds


def markdown(document: Document) -> str:
    """Write the report."""
    parts = [f"# {escaped(document.title)}", escaped(document.summary)]
    parts += [f"**{escaped(document.verdict[0])}**", *map(escaped, document.verdict[1:])]
    for section in document.sections:
        parts.append(f"{'#' * section.level} {escaped(section.title)}")
        parts += [text for part in section.parts for text in _part(part)]
    return "\n\n".join(parts) + "\n"


def _part(part: Part) -> list[str]:
    match part:
        case str():
            return [escaped(part)]
        case Items():
            return [items(part.items)]
        case Gallery():
            return [items([(image.name, image.said) for image in part.images])]
        case AreaFigure():
            return []  # the table of areas has its numbers
        case Figure():
            return [items([(part.title, "the figure is in the report as HTML.")])]
        case MapPictures():
            return [items([("", x.said) for x in part.pictures]), escaped("The pictures are in the report as HTML.")]
        case Heat() if len(part.table.labels) > SQUARE:
            return paragraphs(confusions(part))
        case Funnel() | Heat() | Thresholds():
            return paragraphs(part.block())
    return paragraphs(part)

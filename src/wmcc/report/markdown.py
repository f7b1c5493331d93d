"""A report as Markdown: the same sections, with tables where a page has pictures."""

from __future__ import annotations

from math import nan

import numpy as np

from ..present.blocks import Block
from ..present.markdown import escaped, paragraphs
from ..present.text import decimal, number, share
from .document import SQUARE, Document, Funnel, Heat, Items, Part, Section, Strips, confusions, starred
from .findings import EPS_DIGITS
from .maps import Figure, MapPictures
from .pictures import Gallery

SHOWN = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Those of the grid that are in the table of certified ranges, beside the one that was asked for."""


def markdown(document: Document) -> str:
    """Write the report."""
    parts = [f"# {escaped(document.title)}", escaped(document.summary)]
    parts += [f"**{escaped(document.verdict[0])}**", *map(escaped, document.verdict[1:])]
    for section in document.sections:
        parts += _section(section)
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    return [f"{'#' * section.level} {escaped(section.title)}", *(x for part in section.parts for x in _part(part))]


def _part(part: Part) -> list[str]:
    if isinstance(part, str):
        return [escaped(part)]
    if isinstance(part, Funnel):
        return paragraphs(_ranges(part))
    if isinstance(part, Heat):
        return paragraphs(_square(part) if len(part.table.labels) <= SQUARE else confusions(part))
    if isinstance(part, Strips):
        return paragraphs(_quartiles(part))
    if isinstance(part, Gallery):
        return ["\n".join(f"- {_term(image.name)}{escaped(image.said)}" for image in part.images)]
    if isinstance(part, MapPictures):
        said = [f"- {escaped(x.said)}" for x in part.pictures]
        return ["\n".join(said), escaped("The pictures are in the report as HTML.")]
    if isinstance(part, Figure):
        return [f"- {_term(part.title)}{escaped('the figure is in the report as HTML.')}"]
    if isinstance(part, Items):
        return ["\n".join(f"- {_term(term)}{escaped(text)}" for term, text in part.items)]
    return paragraphs(part)


def _term(term: str) -> str:
    return f"**{escaped(term)}** — " if term else ""


def _ranges(funnel: Funnel) -> Block:
    found = funnel.found
    sampled = {name: score.intervals[found.measure.name] for name, score in found.scores.items()}
    rows = [["sampling error", *(x.ends for x in sampled.values())]]
    for eps in (x for x in found.grid if x > 0 and x in (*SHOWN, found.eps)):
        row = [f"weights off by up to {share(eps, EPS_DIGITS)}"]
        for at in (found.range(name, eps) for name in found.names):
            row.append("undefined" if at.problem else " to ".join(at.ends))
        rows.append(row)
    return Block(f"{found.measure.title} and how far it may be off", ["", *found.names], rows, starred(rows))


def _quartiles(strips: Strips) -> Block:
    """How scores of images are distributed, in numbers."""
    rows = []
    for name, own in strips.found.predictions.items():
        values = own.values[~np.isnan(own.values)]
        ends = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist() if len(values) else [nan] * 5
        rows.append([name, *map(decimal, ends)])
    head = ["Prediction", "Lowest", "Quarter below", "Half below", "Three quarters below", "Highest"]
    return Block("Images by their score", head, rows)


def _square(heat: Heat) -> Block:
    names = [str(label) for label in heat.table.labels]
    true = names[: len(heat.table.classes)]  # void labels are never true
    cells = zip(true, heat.table.w.tolist(), heat.table.n.tolist(), strict=False)
    rows = [[name, *(f"{number(w)} ({n:,})" if n else "" for w, n in zip(*both, strict=True))] for name, *both in cells]
    return Block(f"{heat.caption}: weight{heat.in_unit} (rows)", ["true \\ predicted", *names], rows)

"""A report before it has a form: sections of sentences, tables and pictures, for HTML and for Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..core.table import Table
from ..inference.influence import Unit
from ..present.text import number, percent
from .findings import Findings

SQUARE = 25
"""Classes of the largest confusion table that is written in numbers."""

DRAWN = 500
"""Classes of the largest confusion table that is drawn in full, and classes that are listed."""

CONFUSIONS = 20
"""Cells in the list of confusions of a table that is too large to be read."""


class Mark(NamedTuple):
    """A small picture beside a number: its place, and what it may be, on a scale."""

    value: float
    low: float
    high: float
    least: float
    most: float


@dataclass(frozen=True)
class Grid:
    """A table of texts and numbers.

    Parameters
    ----------
    caption
        What it is.
    head, rows
        Cells; those of the first ``texts`` columns are text.
    marks, scale
        A small picture for each row, if there are any, and what their scale is.
    notes
        Sentences below it.
    """

    caption: str
    head: list[str]
    rows: list[list[str]]
    texts: int = 1
    marks: list[Mark | None] = field(default_factory=list)
    scale: str = ""
    notes: list[str] = field(default_factory=list)


class Heat(NamedTuple):
    """A confusion table, to be shown as one."""

    caption: str
    table: Table


class Funnel(NamedTuple):
    """Both uncertainties of all predictions: intervals, and certified ranges over ε."""

    found: Findings


class Items(NamedTuple):
    """A list of sentences; each may begin with a term."""

    items: list[tuple[str, str]]


Block = str | Grid | Heat | Funnel | Items


class Section(NamedTuple):
    """Blocks under a heading; ``level`` 2 is a section of the report, 3 a part of one."""

    title: str
    blocks: list[Block]
    level: int = 2


class Document(NamedTuple):
    """The report."""

    title: str
    summary: str
    verdict: list[str]
    sections: list[Section]
    found: Findings


def confusions(table: Table) -> Grid:
    """The heaviest cells off the diagonal."""
    (true, pred), sums = table.stack.codes, table.stack.sums
    wrong, w = (true != pred).nonzero()[0], sums.w_exact.floats()
    rows = []
    for i in wrong[(-w[wrong]).argsort(kind="stable")][:CONFUSIONS]:
        of_class = sums.w_exact.take(true == true[i])
        share = Unit.of(of_class).shares(of_class)[pred[true == true[i]] == pred[i]]
        names = str(table.labels[true[i]]), str(table.labels[pred[i]])
        rows.append([*names, f"{sums.n[i]:,}", number(w[i]), percent(float(share[0]))])
    more = len(wrong) - len(rows)
    notes = [f"… and {more:,} lighter ones."] if more > 0 else []
    return Grid(
        "The heaviest confusions", ["True", "Predicted", "Rows", "Weight", "Of the class"], rows, 2, notes=notes
    )

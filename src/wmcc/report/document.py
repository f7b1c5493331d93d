"""A report before it has a form: sections of sentences, tables and pictures, for HTML and for Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..core.table import Table
from ..inference.cells import Unit
from ..mapping.accuracy import MapAccuracy
from ..present.blocks import Block
from ..present.text import number, percent, share
from .findings import EPS_DIGITS, Findings
from .maps import Figure, MapPictures
from .pictures import Gallery
from .thresholds import Thresholds

SQUARE = 25
"""Classes of the largest confusion table that is written in numbers."""

DRAWN = 500
"""Classes of the largest confusion table that is drawn in full, and classes that are listed."""

SHOWN = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Values of ε that are in the table of certified ranges, beside the one that was asked for."""

CONFUSIONS = 20
"""Cells in the list of confusions of a table that is too large to be read."""


class Heat(NamedTuple):
    """A confusion table, to be shown as one."""

    caption: str
    table: Table
    unit: str | None = None

    @property
    def in_unit(self) -> str:
        """What weights are in, after the word."""
        return f" in {self.unit}" if self.unit else ""

    def block(self) -> Block:
        """Return it in numbers."""
        names, w, n = [str(label) for label in self.table.labels], self.table.w.tolist(), self.table.n.tolist()
        cells = zip(names[: len(self.table.classes)], w, n, strict=False)  # void labels are never true
        rows = [
            [name, *(f"{number(x)} ({k:,})" if k else "" for x, k in zip(*own, strict=True))] for name, *own in cells
        ]
        return Block(f"{self.caption}: weight{self.in_unit} (rows)", ["true \\ predicted", *names], rows)


class Funnel(NamedTuple):
    """Both uncertainties of all predictions: intervals, and certified ranges over ε."""

    found: Findings

    def block(self) -> Block:
        """Return the intervals, and the certified ranges for some of ε."""
        found, measure = self.found, self.found.measure
        rows = [["sampling error", *(score.intervals[measure.name].ends for score in found.scores.values())]]
        for eps in (x for x in found.grid if x > 0 and x in (*SHOWN, found.eps)):
            ranges = [found.range(name, eps) for name in found.names]
            ends = ["undefined" if x.problem else " to ".join(x.ends) for x in ranges]
            rows.append([f"weights off by up to {share(eps, EPS_DIGITS)}", *ends])
        return Block(f"{measure.title} and how far it may be off", ["", *found.names], rows, starred(rows))


class AreaFigure(NamedTuple):
    """Areas of the classes of a map: as they are mapped, and as they are by the reference."""

    caption: str
    map: MapAccuracy


class Items(NamedTuple):
    """A list of sentences; each may begin with a term."""

    items: list[tuple[str, str]]


Part = str | Block | Heat | Funnel | Items | AreaFigure | Gallery | MapPictures | Figure | Thresholds


class Section(NamedTuple):
    """Parts under a heading; ``level`` 2 is a section of the report, 3 a part of one."""

    title: str
    parts: list[Part]
    level: int = 2


class Document(NamedTuple):
    """The report."""

    title: str
    summary: str
    verdict: list[str]
    sections: list[Section]
    found: Findings


def starred(rows: Iterable[Sequence[str]]) -> list[str]:
    """Say what the asterisk in a table means, if there is one."""
    found = any(cell.endswith(" *") for row in rows for cell in row)
    return ["* Unreliable, or not estimable: the warnings at the end of the report say why."] if found else []


def confusions(heat: Heat) -> Block:
    """The heaviest cells off the diagonal."""
    table = heat.table
    (true, pred), sums = table.cells.codes, table.cells.sums
    wrong, w = (true != pred).nonzero()[0], sums.w_exact.floats()
    rows = []
    for i in wrong[(-w[wrong]).argsort(kind="stable")][:CONFUSIONS]:
        of_class = sums.w_exact.take(true == true[i])
        share = Unit.of(of_class).shares(of_class)[pred[true == true[i]] == pred[i]]
        names = str(table.labels[true[i]]), str(table.labels[pred[i]])
        rows.append([*names, f"{sums.n[i]:,}", number(w[i]), percent(float(share[0]))])
    more = len(wrong) - len(rows)
    notes = [f"… and {more:,} lighter ones."] if more > 0 else []
    head = ["True", "Predicted", "Rows", f"Weight{heat.in_unit}", "Of the class"]
    return Block("The heaviest confusions", head, rows, notes, texts=2)

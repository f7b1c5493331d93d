"""A report as Markdown: the same sections, with tables where a page has pictures."""

from __future__ import annotations

from ..present.markdown import escaped, table
from ..present.text import number, share
from .document import SQUARE, Block, Document, Funnel, Grid, Heat, Items, Section, confusions
from .findings import EPS_DIGITS

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
    return [f"{'#' * section.level} {escaped(section.title)}", *(x for block in section.blocks for x in _block(block))]


def _block(block: Block) -> list[str]:
    if isinstance(block, str):
        return [escaped(block)]
    if isinstance(block, Funnel):
        return _grid(_ranges(block))
    if isinstance(block, Heat):
        return _grid(_square(block) if len(block.table.labels) <= SQUARE else confusions(block.table))
    if isinstance(block, Items):
        return ["\n".join(f"- {_term(term)}{escaped(text)}" for term, text in block.items)]
    return _grid(block)


def _term(term: str) -> str:
    return f"**{escaped(term)}** — " if term else ""


def _grid(grid: Grid) -> list[str]:
    return [f"{escaped(grid.caption)}:", table(grid.head, grid.rows, grid.texts), *map(escaped, grid.notes)]


def _ranges(funnel: Funnel) -> Grid:
    found = funnel.found
    sampled = {name: score.intervals[found.measure.name] for name, score in found.scores.items()}
    rows = [["other rows", *(x.ends for x in sampled.values())]]
    for eps in (x for x in found.grid if x > 0 and x in (*SHOWN, found.eps)):
        row = [f"weights off by up to {share(eps, EPS_DIGITS)}"]
        for at in (found.range(name, eps) for name in found.names):
            row.append("undefined" if at is None else " to ".join(at.ends))
        rows.append(row)
    return Grid(f"{found.measure.title} and how far it may be off", ["", *found.names], rows)


def _square(heat: Heat) -> Grid:
    names = [str(label) for label in heat.table.labels]
    cells = zip(names, heat.table.w.tolist(), heat.table.n.tolist(), strict=True)
    rows = [[name, *(f"{number(w)} ({n:,})" if n else "" for w, n in zip(*both, strict=True))] for name, *both in cells]
    return Grid(f"{heat.caption}: weight (rows)", ["true \\ predicted", *names], rows)

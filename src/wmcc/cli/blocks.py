"""Tables for people, and what all results for people are made of: blocks of cells and sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.table import Table
from ..core.tables import Tables
from ..present.text import number

MOST_CLASSES = 50
"""Classes of the largest table that is drawn as a square; larger ones are listed cell by cell."""

MOST_CELLS = 100
"""Cells in such a list: the heaviest."""

MOST_NOTES = 20
"""Sentences about groups or pairs that are shown."""


@dataclass
class Block:
    """Cells under a head, with a title before and notes after; any of them may be missing.

    Parameters
    ----------
    title
        A line of its own.
    head, rows
        Cells; those of the first ``texts`` columns are text and stand to the left, numbers to the right.
    notes
        Sentences.
    styles
        ``"right"`` and ``"nothing"`` for cells, by row and column, where colours are to be had.
    square
        The table, where the block is a square of its cells; it can be listed instead where there is no room.
    """

    title: str = ""
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    texts: int = 1
    styles: dict[tuple[int, int], str] = field(default_factory=dict)
    square: Table | None = None


def of_tables(tables: Tables[Table]) -> list[Block]:
    """One block per table: the weight of each cell."""
    return [square(table, tables.title(key)) for key, table in tables.items()]


def square(table: Table, title: str = "") -> Block:
    """The table as a square; as a list if it is too large for one."""
    if len(table.labels) > MOST_CLASSES:
        return listing(table, title)
    names = list(map(name_of, table.labels))
    weights = table.w.tolist()
    styles = {(k, k + 1): "right" for k in range(len(names))}
    styles |= {(i, j + 1): "nothing" for i, row in enumerate(weights) for j, w in enumerate(row) if w == 0}
    rows = [[name, *map(number, row)] for name, row in zip(names, weights, strict=True)]
    head = ["true \\ predicted", *names] if names else []
    return Block(_summary(table, title), head, rows, styles=styles, square=table)


def listing(table: Table, title: str = "") -> Block:
    """The table cell by cell, the heaviest first."""
    w = table.stack.sums.w_exact.floats()
    order = np.argsort(-w, kind="stable")[:MOST_CELLS]
    rows: list[list[str]] = []
    styles: dict[tuple[int, int], str] = {}
    for t, p, n, weight in zip(*table.stack.codes[:, order].tolist(), table.stack.sums.n[order], w[order], strict=True):
        if t == p:
            styles[len(rows), 3] = "right"
        rows.append([name_of(table.labels[t]), name_of(table.labels[p]), f"{n:,}", number(weight)])
    more = len(w) - len(order)
    notes = [f"… and {more:,} lighter cells; --format csv lists all."] if more else []
    return Block(_summary(table, title), ["true", "predicted", "Rows", "Weight"], rows, notes, 2, styles)


def _summary(table: Table, title: str) -> str:
    K = len(table.labels)
    drawn = f" in {len(table.drawn.clusters):,} clusters" if table.drawn.kind == "clusters" else ""
    parts = ["1 class" if K == 1 else f"{K:,} classes", f"{table.rows:,} rows{drawn}"]
    parts += [f"{table.ignored:,} ignored"] if table.ignored else []
    parts += [f"total weight {number(table.total)}"]
    parts += [f"positive class {name_of(table.positive)}"] if table.positive is not None else []
    return f"{title}: {', '.join(parts)}" if title else ", ".join(parts)


def name_of(label: Any) -> str:
    """A label, or a value of a column of groups."""
    return "missing" if label is None else str(label)


def shown(notes: list[str]) -> list[str]:
    """As many sentences as one reads."""
    more = len(notes) - MOST_NOTES
    return notes if more <= 0 else [*notes[:MOST_NOTES], f"… and {more:,} more; --format json has all."]

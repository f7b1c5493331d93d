"""The table as one group-by, computed by the engine that holds the data: only cells travel, never rows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from .. import tally
from ..arraytypes import IntArray
from ..errors import InputError, LabelError, TooManyClassesError, WmccError
from ..labels import Label, as_label, listed
from ..table import Table
from .codebook import Codebook, Rules
from .problems import Problems

MOST_CELLS = 1 << 23
"""Rows that a group-by may return. More are no table of classes, and would not be small."""

Tables = dict[tuple[Any, ...], Table]
"""One table per group; without groups, the one of the empty tuple."""


def push_down(
    frame: Any, names: dict[str, str], rules: Rules, sift: Callable[[dict[str, list[Any]]], list[int]] | None = None
) -> tuple[Tables, Problems]:
    """Tabulate a lazy frame with columns ``t``, ``p``, maybe ``w``, and ``b0``, ``b1``, … to group by.

    ``names`` says what the caller calls them. ``sift`` looks at the cells and says which are to be left out, and
    counted as ignored.
    """
    by = [name for name in names if name.startswith("b")]
    keys = [name for name in names if name != "w"]
    cells = collect(_cells(frame, keys, "w" in names))
    left_out = set(sift(cells)) if sift else set()
    n = [int(x) for x in cells["n"]]
    labels = {role: _labels(cells[role], names[role]) for role in ("t", "p")}
    group = list(zip(*([plain_key(x) for x in cells[name]] for name in by), strict=True)) if by else [()] * len(n)
    ignore = set(rules.ignore)
    problems, groups, unmatched = Problems(), defaultdict(list), Counter[tuple[Any, ...]]()
    for row, (key, t, p, count) in enumerate(zip(group, labels["t"], labels["p"], n, strict=True)):
        bad = 0
        if row in left_out:
            unmatched[key] += count
            continue
        if t is not None and p is not None:
            groups[key].append(row)
            if "w" in names and not {t, p} & ignore:
                bad = count - int(cells["ok"][row] or 0)
        problems += Problems(count, count * (t is None), count * (p is None), bad)
    if any(problems[1:]):
        return {}, problems
    tables = {key: _table(cells, labels, n, rows, rules, names) for key, rows in groups.items()}
    return {key: replace(t, ignored=t.ignored + unmatched[key]) for key, t in tables.items()}, problems


def _cells(frame: Any, keys: list[str], weighted: bool) -> Any:
    """The query: elementary aggregations only, which is all that some engines have."""
    if not weighted:
        return frame.group_by(*keys).agg(n=nw.len())
    # Sums of narrow types wrap or lose digits on some engines. NaN is no number below infinity on any of them.
    frame = frame.with_columns(w=nw.col("w").cast(nw.Float64))
    w = nw.col("w")
    frame = frame.with_columns(w2=w * w, ok=((w >= 0) & (w < math.inf)).cast(nw.Int64))
    return frame.group_by(*keys).agg(
        n=nw.len(), ok=nw.col("ok").sum(), s=w.sum(), s2=nw.col("w2").sum(), low=w.min(), high=w.max()
    )


def collect(query: Any) -> dict[str, list[Any]]:
    """Run a query that gives few rows, and return its columns."""
    engine = query.implementation
    options = {"engine": "streaming"} if engine is nw.Implementation.POLARS else {}
    try:
        columns: dict[str, list[Any]] = query.head(MOST_CELLS + 1).collect(**options).to_dict(as_series=False)
    except WmccError:
        raise
    except Exception as problem:
        first = str(problem).strip().partition("\n")[0] or type(problem).__name__
        raise InputError(
            f"{str(engine).lower()} could not compute the table: {first}",
            "the data may be damaged; see the cause above.",
        ) from problem
    if len(next(iter(columns.values()))) > MOST_CELLS:
        raise TooManyClassesError(
            f"there are more than {MOST_CELLS:,} different pairs of labels.",
            "labels must be classes, not identifiers, dates or measurements.",
        )
    return columns


def _labels(values: list[Any], name: str) -> list[Label | None]:
    known = {value: _label(value, name) for value in set(values)}
    return [known[value] for value in values]


def _label(value: Any, name: str) -> Label | None:
    missing = value is None or value != value or type(value).__name__ in ("NAType", "NaTType")
    return None if missing else as_label(value, f"a value of {name}")


def plain_key(value: Any) -> Any:
    """A value that rows were grouped by, as Python's own; None where it is missing."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if type(value).__name__ in ("NAType", "NaTType") or value != value else value


def _table(
    cells: dict[str, list[Any]],
    labels: dict[str, list[Label | None]],
    n: list[int],
    rows: list[int],
    rules: Rules,
    names: dict[str, str],
) -> Table:
    """The table of some of the cells."""
    codebook = Codebook(rules)
    t, p = (_codes(codebook, [labels[role][row] for row in rows]) for role in ("t", "p"))
    count = np.array([n[row] for row in rows], dtype=np.int64)
    kept = (t != tally.IGNORED) & (p != tally.IGNORED)
    for role, codes in (("t", t), ("p", p)):
        unknown = kept & (codes == tally.UNKNOWN)
        if unknown.any():
            label = labels[role][rows[int(np.argmax(unknown))]]
            raise LabelError(
                f"{count[unknown].sum():,} rows have a label in {names[role]!r} that is not among "
                f"labels=({listed(rules.labels or ())}); one is {label!r}.",
                "add it to labels, or name it in ignore= to leave such rows out (they are counted).",
            )
    size, ignored = len(codebook.classes), int(count[~kept].sum())
    at, classes = (t[kept], p[kept]), tuple(range(size))
    total = np.zeros((size, size), dtype=np.int64)
    np.add.at(total, at, count[kept])
    if "w" not in names:
        return codebook.named(Table.from_counts(total, classes, ignored=ignored))
    # Two groups may be one cell: an engine tells 0.0 from -0.0, and text from categories.
    fields = {}
    for name, ufunc, start in (
        ("s", np.add, 0.0),
        ("s2", np.add, 0.0),
        ("low", np.fmin, np.nan),
        ("high", np.fmax, np.nan),
    ):
        fields[name] = np.full((size, size), start)
        values = np.array([cells[name][row] for row in rows], dtype=np.float64)
        ufunc.at(fields[name], at, values[kept])
    return codebook.named(Table.from_cells(classes, total, *fields.values(), ignored=ignored))


def _codes(codebook: Codebook, labels: list[Any]) -> IntArray:
    return np.array(codebook.codes(labels), dtype=np.int64)

"""The table as one group-by, computed by the engine that holds the data: only cells travel, never rows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from .. import tally
from ..arraytypes import IntArray
from ..errors import LabelError, TooManyClassesError
from ..labels import Label, as_label, listed
from ..table import Table
from .codebook import Codebook, Rules
from .groups import Key, Tables, plain_key
from .problems import Problems

MOST_CELLS = 1 << 23
"""Rows that a group-by may return. More are no table of classes, and would not be small."""


class Cells:
    """What the group-by of a lazy frame gives.

    Parameters
    ----------
    frame
        A lazy narwhals frame with columns ``t``, ``p``, maybe ``w``, and others to group by.
    names
        What the caller calls these columns. Those that begin with ``b`` make one table per group.
    """

    def __init__(self, frame: Any, names: dict[str, str]) -> None:
        self._names = names
        self.columns = collect(_query(frame, [name for name in names if name != "w"], "w" in names))
        self._n = np.array(self.columns["n"], dtype=np.int64)
        self._labels = {role: _labels(self.columns[role], names[role]) for role in ("t", "p")}

    def problems(self, rules: Rules, left_out: Collection[int] = ()) -> Problems:
        """Count rows without a label and rows with a bad weight; ``left_out`` are cells not to look at."""
        ignore, problems = set(rules.ignore), Problems()
        for row, (t, p, n) in enumerate(zip(self._labels["t"], self._labels["p"], self._n.tolist(), strict=True)):
            if row not in left_out:
                looked_at = "w" in self._names and t is not None and p is not None and not {t, p} & ignore
                bad = n - int(self.columns["good"][row]) if looked_at else 0
                problems += Problems(n, n * (t is None), n * (p is None), bad)
        return problems

    def tables(self, rules: Rules, left_out: Collection[int] = ()) -> Tables:
        """Return the table of each group; ``left_out`` are cells to be counted as ignored."""
        by = [[plain_key(x) for x in self.columns[name]] for name in self._names if name.startswith("b")]
        rows, unmatched = defaultdict(list), Counter[Key]()
        for row, key in enumerate(zip(*by, strict=True) if by else [()] * len(self._n)):
            if row in left_out:
                unmatched[key] += int(self._n[row])
            else:
                rows[key].append(row)
        tables = {key: self._table(np.array(cells), rules) for key, cells in rows.items()}
        return {key: replace(table, ignored=table.ignored + unmatched[key]) for key, table in tables.items()}

    def _table(self, rows: IntArray, rules: Rules) -> Table:
        """The table of some of the cells."""
        codebook = Codebook(rules)
        t, p = (_codes(codebook, [self._labels[role][row] for row in rows]) for role in ("t", "p"))
        n, kept = self._n[rows], (t != tally.IGNORED) & (p != tally.IGNORED)
        for role, codes in (("t", t), ("p", p)):
            unknown = kept & (codes == tally.UNKNOWN)
            if unknown.any():
                label = self._labels[role][rows[np.argmax(unknown)]]
                raise LabelError(
                    f"{n[unknown].sum():,} rows have a label in {self._names[role]!r} that is not among "
                    f"labels=({listed(rules.labels or ())}); one is {label!r}.",
                    "add it to labels, or name it in ignore= to leave such rows out (they are counted).",
                )
        size, ignored = len(codebook.classes), int(n[~kept].sum())
        at, classes = (t[kept], p[kept]), tuple(range(size))
        total = np.zeros((size, size), dtype=np.int64)
        np.add.at(total, at, n[kept])
        if "w" not in self._names:
            return codebook.named(Table.from_counts(total, classes, ignored=ignored))
        fields = []
        for name, ufunc, start in (
            ("s", np.add, 0),
            ("s2", np.add, 0),
            ("low", np.fmin, np.nan),
            ("high", np.fmax, np.nan),
        ):
            values = np.array([self.columns[name][row] for row in rows[kept]], dtype=np.float64)
            field = np.full((size, size), start, dtype=np.float64)
            ufunc.at(field, at, values)  # two groups may be one cell: an engine tells 0.0 from -0.0
            fields.append(field)
        return codebook.named(Table.from_cells(classes, total, *fields, ignored=ignored))


def _query(frame: Any, keys: list[str], weighted: bool) -> Any:
    """The query: elementary aggregations only, which is all that some engines have."""
    if not weighted:
        return frame.group_by(*keys).agg(n=nw.len())
    # Sums of narrow types wrap or lose digits on some engines. Bad weights become null, which nothing sums or counts:
    # what is lacking in `good` is their number. (NaN is not below infinity on any engine.)
    w = nw.col("w")
    good = (w >= 0) & (w < math.inf)
    if frame.implementation.is_dask():  # to which constants are columns of their own, and make it send rows about
        good = w.is_finite() & (w.abs() == w)
    frame = frame.with_columns(w=w.cast(nw.Float64))
    frame = frame.with_columns(w=nw.when(good).then(w)).with_columns(w2=w * w)
    return frame.group_by(*keys).agg(
        n=nw.len(), good=w.count(), s=w.sum(), s2=nw.col("w2").sum(), low=w.min(), high=w.max()
    )


def collect(query: Any) -> dict[str, list[Any]]:
    """Run a query that gives few rows, and return its columns."""
    polars = query.implementation is nw.Implementation.POLARS
    streaming = {"engine": "streaming"} if polars else {}  # or else it may hold all rows of a file at once
    columns: dict[str, list[Any]] = query.head(MOST_CELLS + 1).collect(**streaming).to_dict(as_series=False)
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


def _codes(codebook: Codebook, labels: list[Any]) -> IntArray:
    return np.array(codebook.codes(labels), dtype=np.int64)

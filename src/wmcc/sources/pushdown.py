"""The table as one group-by, computed by the engine that holds the data: only cells travel, never rows."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from ..core import consistency
from ..core import kernel as tally
from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.design import ROWS, SampleDesign
from ..core.exact import Exact
from ..core.labels import NOTHING, Label, as_label, is_missing
from ..core.stack import Stack
from ..core.sums import Sums
from ..core.tables import Tables
from . import text_types
from .arrays import Counted, named
from .codes import Codebook, Rules
from .groups import By, Parts, keyed, one_key
from .problems import MOST_CELLS, Problems, label_roles, replicate_roles, too_many_cells, unknown_labels

if TYPE_CHECKING:
    from .frames import NamedColumns


class GroupedCells:
    """What the group-by of a lazy frame gives.

    Parameters
    ----------
    frame
        A lazy narwhals frame with columns ``t``, ``p0`` and maybe ``p1`` …, ``w`` and replicate weights ``r0`` …, and
        others to group by.
    names
        What the caller calls these columns. Those that begin with ``b`` are keys of groups, with ``c`` of clusters.
    rules
        What the caller said about labels.
    text
        Columns that were read as text, to be made sense of.
    """

    def __init__(self, frame: Any, names: dict[str, Any], rules: Rules, text: Collection[str] = ()) -> None:
        self._names, self._rules, self._text = names, rules, set(text)
        self._of_cells = text_types.text_rules(rules, text)
        self._replicates = replicate_roles(names)
        keys = [name for name in names if name != "w" and name not in self._replicates]
        self.columns: Any = collect(_query(frame, keys, "w" in names, self._replicates)).to_dict(as_series=False)
        self._n = np.array(self.columns["n"], dtype=np.int64)
        self._labels = {role: _labels(self.columns[role], names[role]) for role in label_roles(names)}

    def problems(self, left_out: Collection[int] = ()) -> Problems:
        """Count rows without a label and rows with a bad weight; ``left_out`` are cells not to look at."""
        n, ignore = self._n.copy(), {NOTHING, *self._of_cells.ignore}
        n[list(left_out)] = 0
        lost = [np.array([label is None for label in labels], dtype=bool) for labels in self._labels.values()]
        passed = self._rules.lacks(lost) | np.array([label in ignore for label in self._labels["t"]], dtype=bool)

        def bad(role: str) -> int:
            good = np.array([int(x or 0) for x in self.columns[f"{role}_good"]], dtype=np.int64)
            return int(np.where(passed | (n == 0), 0, n - good).sum())

        replicates = {role: count for role in self._replicates if (count := bad(role))}
        lost = [] if self._rules.skip_missing else lost
        missing = tuple(int(n[out].sum()) for out in lost)
        return Problems(int(n.sum()), bad("w") if "w" in self._names else 0, missing, replicates)

    def tables(self, columns: NamedColumns) -> Tables[Any]:
        """Return the table of each group; rows without a label count as ignored."""
        rules, n = self._of_cells, self._n
        groups, clusters = self._keyed("b", columns.by), self._keyed("c", columns.cluster, columns.counted)
        codebook = Codebook(rules)
        codes = np.array(
            [
                codebook.codes([NOTHING if x is None else x for x in labels], role == "t")
                for role, labels in self._labels.items()
            ],
            dtype=np.int64,
        )
        kept = (codes != tally.IGNORED).all(axis=0)
        for (role, labels), column in zip(self._labels.items(), codes, strict=True):
            unknown = kept & (column == tally.UNKNOWN)
            if unknown.any():
                label = labels[int(np.argmax(unknown))]
                assert label is not None  # such rows are left out
                where = f" in {self._names[role]!r}"
                raise unknown_labels(int(n[unknown].sum()), where, label, rules.labels or ())
        keys = [groups.codes, *codes, *([] if clusters is None else [clusters.codes])]
        ignored = np.zeros(len(groups.keys), dtype=np.int64)
        np.add.at(ignored, groups.codes[~kept], n[~kept])
        # Two groups may be one cell: an engine tells 0.0 from -0.0.
        stack = Stack.gathered(np.stack(keys)[:, kept], self._sums(kept, codebook, codes[:, kept]))
        drawn = ROWS
        if columns.counted:
            lost = [np.array([label is None for label in own], dtype=bool) for own in self._labels.values()]
            with_labels = ~self._rules.lacks(lost)
            counts = np.zeros(len(clusters.keys), dtype=np.int64)
            np.add.at(counts, clusters.codes[with_labels], n[with_labels])
            drawn = SampleDesign("clusters", rows=tuple(counts.tolist()))
        parts = Parts(groups, clusters)
        found: Tables[Any] = named(Counted(stack, ignored), codebook, parts, columns.predictions, drawn)
        return text_types.typed(found, self._rules, self._text, self._names)

    def _keyed(self, letter: str, by: By, needed: bool = True) -> Any:
        """Keys of cells. Where there are none, all cells have the same, if one is ``needed``."""
        columns = [self.columns[name] for name in self._names if name[0] == letter and name[1:].isdigit()]
        if not columns:
            return one_key((len(self._n),)) if needed else None
        known = [list(dict.fromkeys(column)) for column in columns]
        places = [{value: k for k, value in enumerate(values)} for values in known]
        codes = [[place[x] for x in column] for place, column in zip(places, columns, strict=True)]
        return keyed(by, zip(codes, known, strict=True))

    def _sums(self, kept: Array, codebook: Codebook, codes: IntArray) -> Sums:
        n, rows = self._n[kept], np.flatnonzero(kept).tolist()
        name = consistency.by_codes(codebook.classes, codes)

        def column(of: str) -> FloatArray:
            values = self.columns[of]
            return np.array([values[row] for row in rows], dtype=np.float64) + 0.0

        sums = Sums.from_counts(n)
        if "w" in self._names:
            sums = Sums.from_floats(n, *map(column, ("w_sum", "w2", "low", "high")), name=name)
        replicates = [column(f"{role}_sum") for role in self._replicates]
        for role, found in zip(self._replicates, replicates, strict=True):
            consistency.check_sums(found, f"the sum of {self._names[role]!r}", name)
        return sums._replace(replicates=tuple(map(Exact.from_floats, replicates)))


def _query(frame: Any, keys: list[str], weighted: bool, replicates: list[str]) -> Any:
    """The query: elementary aggregations only, which is all that some engines have."""
    roles = ["w"] * weighted + replicates
    if not roles:
        return frame.group_by(*keys).agg(n=nw.len())
    # Sums of narrow types wrap or lose digits on some engines. What is lacking in the number of good weights is that of
    # bad ones: null is not counted, and NaN is not below infinity on any engine.
    dask, spark = frame.implementation.is_dask(), frame.implementation.is_spark_like()

    def good(w: Any) -> Any:
        # To Dask constants are columns of their own, and make it send rows about. Spark does not add up booleans.
        known = w.is_finite() & (w.abs() == w) if dask else (w >= 0) & (w < math.inf)
        return known.cast(nw.Int64) if spark else known

    more = {f"{role}_good": good(nw.col(role)) for role in roles}
    sums = {f"{role}_good": nw.col(f"{role}_good").sum() for role in roles}
    sums |= {f"{role}_sum": nw.col(role).sum() for role in roles}
    if weighted:
        w = nw.col("w")
        more["w2"] = w * w
        sums |= {"w2": nw.col("w2").sum(), "low": w.min(), "high": w.max()}
    frame = frame.with_columns(**{role: nw.col(role).cast(nw.Float64) for role in roles}).with_columns(**more)
    return frame.group_by(*keys).agg(n=nw.len(), **sums)


def collect(query: Any) -> Any:
    """Run a query that gives few rows; an eager frame."""
    polars = query.implementation.is_polars()
    streaming = {"engine": "streaming"} if polars else {}  # or else it may hold all rows of a file at once
    found = query.head(MOST_CELLS + 1).collect(**streaming)
    if len(found) > MOST_CELLS:
        raise too_many_cells(MOST_CELLS)
    return found


def _labels(values: list[Any], name: str) -> list[Label | None]:
    where = f"a value of {name}"
    known = {value: None if is_missing(value) else as_label(value, where) for value in set(values)}
    return [known[value] for value in values]

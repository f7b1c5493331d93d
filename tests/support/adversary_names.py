"""Names of columns that mean something to an engine, and an adversary who puts them on the columns of a table.

A name may be a pattern to one engine, a wildcard to another, a word of SQL, a name that wmcc uses itself, or the same
as another to all that do not look at capitals. Whatever it is: the column of that name is read, and no other.
"""

from __future__ import annotations

import json
import time
from typing import Any

import flat
import numpy as np
import pyarrow as pa
from engines import to_duckdb, to_polars

import wmcc

NAMES = [
    *(
        "^l.*$",
        "^.*$",
        "^$",
        ".*",
        "*",
        "**",
        "t.*",
        "l*",
        "COLUMNS(*)",
        "count(*)",
        "* exclude (label)",
        "#1",
        "$1",
        "?",
    ),
    *(
        "a.b",
        ".",
        "..",
        "a.",
        ".a",
        "a[0]",
        "[0]",
        "[]",
        "(x)",
        "{x}",
        "{0}",
        "%s",
        "a:b",
        "a->b",
        "a;b--",
        "/*x*/",
        "a,b",
    ),
    *(
        '"',
        '""',
        'a"b',
        "'",
        "it's",
        "`",
        "``",
        "a`b`",
        "\\",
        "\\d+",
        "a\\b",
        "/",
        "a/b",
        "=",
        "a=1",
        "!",
        "@x",
        "&",
        "~",
    ),
    *("", " ", "  ", " label", "label ", "two words", "tab\tbed", "new\nline", "\u200b", "\xa0"),
    *(
        "select",
        "SELECT",
        "from",
        "group",
        "order by",
        "null",
        "NULL",
        "None",
        "nan",
        "true",
        "rowid",
        "index",
        "level_0",
    ),
    *("label", "Label", "LABEL", "pred", "PRED", "a", "A", "ß", "ẞ", "SS", "ss", "é", "e\u0301", "日本", "🌲"),
    *("0", "1", "-1", "1.0", "c0", "c1", "C0", "t", "p", "q", "w", "w2", "b0", "b1", "n", "s", "good", "low", "high"),
    *("k0", "k0_right", "left", "right", "status", "wmcc t", "wmcc 0", "value", "code", "literal", "len", "x" * 300),
]
"""Names that engines might read as something else."""


def own_names(frame: Any) -> list[Any]:
    """What a frame calls its columns."""
    if hasattr(frame, "collect_schema"):
        return frame.collect_schema().names()
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


class Case:
    """Rows in columns of nasty names: a key, the truth, a prediction, weights and groups among others that mislead."""

    ROLES = ("key", "true", "pred", "weight", "by")

    def __init__(self, random: Any, rows: int = 12, others: int = 4) -> None:
        picked = random.choice(len(NAMES), len(self.ROLES) + others, replace=False)
        names = [NAMES[k] for k in picked]
        self.name = dict(zip(self.ROLES, names, strict=False))
        self.values: dict[str, list[Any]] = {
            "key": random.permutation(rows).tolist(),
            "true": random.integers(0, 3, rows).tolist(),
            "pred": random.integers(0, 3, rows).tolist(),
            "weight": random.integers(1, 9, rows)
            .astype(float)
            .tolist(),  # whole, so that every engine's sums are exact
            "by": random.choice(["north", "south"], rows).tolist(),
        }
        columns = {self.name[role]: values for role, values in self.values.items()}
        for name in names[len(self.ROLES) :]:  # labels, and weights, of their own
            columns[name] = (random.integers(0, 3, rows) * 1.0).tolist()
        self.names = [names[k] for k in random.permutation(len(names))]
        self.table = pa.table([pa.array(columns[name]) for name in self.names], names=self.names)

    def __repr__(self) -> str:
        return json.dumps({"roles": self.name, "columns": self.names})

    def expected(self) -> tuple[Any, dict[str, Any]]:
        """The table, and the tables of groups, made of arrays."""
        arrays = [np.array(self.values[role]) for role in ("true", "pred", "weight")]
        groups = np.array(self.values["by"])
        by = {str(g): wmcc.tabulate(*(x[groups == g] for x in arrays)) for g in sorted(set(self.values["by"]))}
        return wmcc.tabulate(*arrays), by

    def sides(self) -> tuple[pa.Table, pa.Table]:
        """Truth and prediction as two tables, the second in another order."""
        truth = self.table.select([name for name in self.names if name != self.name["pred"]])
        return truth, self.table.select([self.name["key"], self.name["pred"]])[::-1]

    def called(self, frame: Any, table: pa.Table) -> dict[str, str]:
        """What a frame made of a table calls the columns: some engines give other names to some."""
        own, place = own_names(frame), {name: k for k, name in enumerate(table.column_names)}
        return {role: own[place[name]] for role, name in self.name.items() if name in place}

    def wrong(self, make: Any) -> str | None:
        """What an engine makes of it that is not so; None if all is well."""
        table, by = self.expected()
        frame = make(self.table)
        name = self.called(frame, self.table)
        call = {"true": name["true"], "pred": name["pred"], "weight": name["weight"]}
        if flat.tabulate(frame, **call) != table:
            return "another table"
        if flat.tabulate(frame, **call, by=name["by"]) != by:
            return "other groups"
        if flat.tabulate(frame, **{**call, "pred": dict.fromkeys("ab", name["pred"])})["b"] != table:
            return "another joint table"
        left, right = self.sides()
        frames = make(left), make(right)
        mine, theirs = self.called(frames[0], left), self.called(frames[1], right)
        if mine["key"] == theirs["key"]:
            both = wmcc.Join(*frames, mine["key"])
            joined = wmcc.tabulate(both, true=mine["true"], pred=theirs["pred"], weight=mine["weight"])
            if joined != table:
                return "another table of two frames"
        return None


def to_numbered(table: pa.Table) -> Any:
    """A frame of pandas whose columns are called 0, 1, 2 …"""
    import pandas as pd

    return pd.DataFrame(dict(enumerate(table.to_pandas().to_dict("list").values())))


FRAMES = {
    "pandas": lambda table: table.to_pandas(),
    "polars": to_polars,
    "polars, lazy": lambda table: to_polars(table).lazy(),
    "pyarrow": lambda table: table,
    "duckdb": to_duckdb,
    "pandas, numbered": to_numbered,
}
"""Engines that answer at once; "numbered" has integers for names."""


def hunt_names(job: tuple[int, float]) -> tuple[int, list[str]]:
    """Put nasty names on columns for some seconds: how many tables, and what was wrong."""
    seed, seconds = job
    random, end = np.random.default_rng(seed), time.monotonic() + seconds
    tables, found = 0, []
    while time.monotonic() < end:
        case = Case(random)
        for engine, make in FRAMES.items():
            tables += 1
            try:
                wrong = case.wrong(make)
            except Exception as problem:  # of an engine, too
                wrong = f"{type(problem).__name__}: {problem}"
            if wrong:
                found.append(f"{engine}: {wrong}: {case}")
    return tables, found

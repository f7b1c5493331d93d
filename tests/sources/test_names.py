"""Columns of nasty names: whatever a name means to an engine, the column of that name is read."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from adversary_names import FRAMES, NAMES, Case, own_names
from engines import ALL, ENGINE_WARNINGS, FAST, READERS
from hypothesis import given, settings
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, InputTypeError, WeightError

pytestmark = [pytest.mark.slow, ENGINE_WARNINGS]


# ---- frames ------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_every_frame_reads_the_column_that_was_named(seed):
    case = Case(np.random.default_rng(seed))
    for engine, make in {**FRAMES, **FAST}.items():
        if engine not in ("ibis", "dask"):  # which take longer
            assert case.wrong(make) is None, (engine, case)


def said(call):
    """What a call returns, or the error it raises."""
    try:
        return call()
    except InputError as problem:
        return str(problem)


@pytest.mark.parametrize(
    ("engine", "cases"), [("ibis", 4), ("dask", 3), pytest.param("pyspark", 1, marks=pytest.mark.spark)]
)
def test_slow_engines_read_the_column_that_was_named(engine, cases):
    for seed in range(cases):
        case = Case(np.random.default_rng(seed), others=4 if engine == "ibis" else 50)
        wrong = said(lambda case=case: case.wrong(ALL[engine]))
        assert wrong is None or (
            engine == "ibis" and re.search("differ only in upper and lower case|zero-length", wrong)
        ), case


@pytest.mark.parametrize("engine", ["polars", "polars, lazy", "duckdb", "pandas", "pyarrow"])
def test_patterns_are_names(engine):
    """Every name beside a column that it would match as a pattern."""
    for name in NAMES:
        if name in ("pred", "PRED", "label", "Label", "LABEL"):
            continue
        frame = FAST[engine](pa.table({"label": [0, 1, 0, 0], name: [0, 1, 1, 0], "pred": [0, 1, 1, 0]}))
        own = own_names(frame)[1]
        assert wmcc.mcc(wmcc.tabulate(frame, true=own, pred="pred")) == 1.0, name
        assert list(wmcc.tabulate(frame, true="label", pred="pred", by=own)) == [0, 1], name
        assert wmcc.tabulate(frame, true="label", pred="pred", weight=own).total == 2, name


def test_clusters_by_nasty_names():
    columns = {"label": [0, 1] * 12, "*": [0, 1, 1] * 8, "^.*$": [k // 4 for k in range(24)]}
    expected = wmcc.tabulate(*list(columns.values())[:2], cluster=columns["^.*$"])
    for make in FRAMES.values():
        frame = make(pa.table(columns))
        names = own_names(frame)
        assert wmcc.tabulate(frame, true=names[0], pred=names[1], cluster=names[2]) == expected


def test_names_without_a_match_are_told():
    frame = pl.DataFrame({"label": [0, 1], "pred": [0, 1]})
    for data in (frame, frame.lazy(), FAST["duckdb"](frame.to_arrow())):
        for name in ("^x.*$", "^l.*$", "*"):
            with pytest.raises(InputError, match=r"there is no column .*; the columns are 'label', 'pred'"):
                wmcc.tabulate(data, true=name, pred="pred")


# ---- names that are numbers, and names that come twice ----------------------------------------------


def test_integers_are_names_in_pandas():
    import dask.dataframe as dd

    frame = pd.DataFrame([[0, 0, 2.0, "a", 7], [1, 1, 3.0, "b", 8], [1, 0, 4.0, "b", 9]])
    expected = wmcc.tabulate([0, 1, 1], [0, 1, 0], [2.0, 3.0, 4.0])
    for data in (frame, dd.from_pandas(frame, npartitions=2)):
        assert wmcc.tabulate(data, true=0, pred=1, weight=2) == expected
        assert wmcc.tabulate(data, true=0, pred=np.int64(1), weight=2) == expected
        assert list(wmcc.tabulate(data, true=0, pred=1, by=3)) == ["a", "b"]
        assert list(wmcc.tabulate(data, true=0, pred=1, by=[3, 0])) == [("a", 0), ("b", 1)]
        assert wmcc.tabulate(data, true=0, pred={"a": 1, "b": 1}, weight=2)["a"] == expected
        keyed = wmcc.tabulate(wmcc.Join(data[[4, 0, 2]], data[[4, 1]], 4), true=0, pred=1, weight=2)
        assert keyed.w.tolist() == expected.w.tolist()
    with pytest.raises(InputError, match=r"no column '0'; the columns are 0, 1, 2, 3, 4\.\s+Hint: did you mean 0\?"):
        wmcc.tabulate(frame, true="0", pred="1")
    with pytest.raises(InputError, match=r"no column 0; the columns are '0', '1'\.\s+Hint: did you mean '0'\?"):
        wmcc.tabulate(pl.DataFrame({"0": [0], "1": [0]}), true=0, pred=1)
    with pytest.raises(InputError, match="no column 9; the columns are 0, 1, 2, 3, 4"):
        wmcc.tabulate(frame, true=0, pred=9)
    frame[2] = [1.0, -1.0, 2.0]
    with pytest.raises(WeightError, match=r"a weight in 2 that is .*The first: column 2\[1\] is -1.0"):
        wmcc.tabulate(frame, true=0, pred=1, weight=2)
    with pytest.raises(InputTypeError, match=r"column 3 holds .*; a weight must be a real number"):
        wmcc.tabulate(frame, true=0, pred=1, weight=3)


def twice(names=("t", "x", "x", "p", "w")) -> pa.Table:
    columns = [["a", "b", "a"], [1, 2, 3], [4, 5, 6], ["a", "b", "b"], [1.0, 2.5, 4.0]]
    return pa.Table.from_arrays([pa.array(x) for x in columns], names=list(names))


def frames_with_a_name_twice(table):
    """Frames of the engines that allow it."""
    import dask.dataframe as dd
    import duckdb

    frame = pd.DataFrame({k: table.column(k).to_pylist() for k in range(5)})
    frame.columns = table.column_names
    relation = duckdb.from_arrow(table.rename_columns(list("abcde")))
    names = ", ".join(f'{a} as "{b}"' for a, b in zip("abcde", table.column_names, strict=True))
    return {
        "pyarrow": table,
        "pandas": frame,
        "dask": dd.from_pandas(frame, npartitions=2),
        "duckdb": relation.project(names),
    }


def test_a_name_that_comes_twice_matters_only_where_it_is_used():
    import narwhals as nw

    expected = wmcc.tabulate(["a", "b", "a"], ["a", "b", "b"], [1.0, 2.5, 4.0])
    for engine, frame in frames_with_a_name_twice(twice()).items():
        assert wmcc.tabulate(frame, true="t", pred="p", weight="w") == expected, engine
        for call in (
            lambda frame=frame: wmcc.tabulate(frame, true="x", pred="p"),
            lambda frame=frame: wmcc.tabulate(frame, true="t", pred="p", weight="x"),
            lambda frame=frame: wmcc.tabulate(frame, true="t", pred="p", by="x"),
            lambda frame=frame: wmcc.tabulate(wmcc.Join(frame, frame, "x"), true="t", pred="p"),
        ):
            with pytest.raises(InputError, match="has 2 columns 'x'; expected one"):
                call()
    for engine in ("pyarrow", "pandas"):
        frame = frames_with_a_name_twice(twice())[engine]
        assert wmcc.tabulate(frame, true="t", pred="p", weight=nw.col("w") * 2).total == 15


def test_a_name_that_comes_twice_in_frames_that_are_joined():
    truth = frames_with_a_name_twice(twice(("t", "id", "x", "x", "w")))
    pred = frames_with_a_name_twice(twice(("x", "id", "x", "p", "y")))
    expected = wmcc.tabulate(["a", "b", "a"], ["a", "b", "b"], [1.0, 2.5, 4.0])
    for engine in truth:
        both = wmcc.Join(truth[engine], pred[engine], "id")
        assert wmcc.tabulate(both, true="t", pred="p", weight="w") == expected, engine


# ---- files -------------------------------------------------------------------------------------------


def write(case: Case, folder) -> list:
    table = case.table
    pq.write_table(table, folder / "a.parquet")
    pyarrow.feather.write_feather(table, folder / "a.arrow")
    with open(folder / "a.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [table.column_names, *zip(*(x.to_pylist() for x in table), strict=True)]
        )
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return [folder / name for name in ("a.parquet", "a.arrow", "a.csv", "a.jsonl")]


CANNOT = (
    "cannot tell apart|differ only in case|line break in the name|cannot read Arrow IPC|sniffing file"
    "|already exists|expected records|no column ''"
)
"""What engines say of names that they do not take; none of it is a number."""


@pytest.mark.parametrize("engine", READERS)
def test_every_engine_reads_the_column_that_was_named_in_a_file(engine, tmp_path):
    read = 0
    for seed in range(8):
        case = Case(np.random.default_rng(seed), others=10)
        (tmp_path / str(seed)).mkdir()
        table, by = case.expected()
        for path in write(case, tmp_path / str(seed)):
            call = {role: case.name[role] for role in ("true", "pred", "weight")}
            file = wmcc.Files(path, engine=engine)
            found = said(lambda file=file, call=call: wmcc.tabulate(file, **call))
            if isinstance(found, str):
                assert engine not in ("arrow", "polars"), (path.name, case)
                assert re.search(CANNOT, found), (path.name, case)
                continue
            assert found == table, (path.name, case)
            assert wmcc.tabulate(file, **call, by=case.name["by"]) == by, (path.name, case)
            read += 1
    assert read > 2

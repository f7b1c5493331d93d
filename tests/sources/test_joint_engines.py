"""Joint tables of frames and files: every engine gives the same, in one pass, and refuses the same rows."""

from __future__ import annotations

import flat
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import ALL, ENGINE_WARNINGS, ENGINES, IN_MEMORY, READERS, same
from helpers import joint_table

import wmcc
from wmcc.errors import LabelError, WeightError
from wmcc.sources import pushdown

pytestmark = [pytest.mark.slow, ENGINE_WARNINGS]


# ---- frames --------------------------------------------------------------------------------------------


def alike(found: wmcc.JointTable, expected: wmcc.JointTable, exact: bool) -> None:
    """The same table; sums of engines that round are near."""
    assert np.array_equal(found.cells.codes, expected.cells.codes)
    assert found.names == expected.names
    for name in expected.names:
        same(found[name], expected[name], exact)
    if exact:
        assert found == expected
    np.testing.assert_allclose(found.w, expected.w, rtol=1e-12)


def of_columns(data, **options) -> wmcc.JointTable:
    return flat.tabulate(data, true="t", pred={"a": "a", "b": "b"}, **options)


def named(data, **options) -> wmcc.JointTable:
    return flat.tabulate(data, true="true label", pred={"a": "a.b", "b": "b"}, **options)


def columns(kind: str) -> dict[str, pa.Array]:
    rng = np.random.default_rng(5)
    t, a, b = rng.integers(0, 3, (3, 90))
    names = {
        "integer": np.array([3, 1, 255]),
        "text": np.array(["it's", "NA", ""]),
        "category": np.array(["oak", "elm", "ash"]),
        "boolean": np.array([True, False, True]),
    }[kind]
    made = {name: pa.array(names[x]) for name, x in (("true label", t), ("a.b", a), ("b", b))}
    if kind == "category":
        made = {name: x.dictionary_encode() for name, x in made.items()}
    return {**made, "w": pa.array(rng.lognormal(0, 2, 90))}


@pytest.mark.parametrize("kind", ["integer", "text", "category", "boolean"])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_agrees(engine, kind):
    table = pa.table(columns(kind))
    arrays = [column.to_pylist() for column in table.columns]
    frame, exact = ALL[engine](table), engine in IN_MEMORY
    alike(named(frame, weight="w"), joint_table(*arrays), exact)
    swapped = wmcc.tabulate(frame, true="true label", pred={"b": "b", "a": "a.b"})
    alike(swapped, joint_table(*arrays[:3]).pair("b", "a"), exact)
    first, *others = sorted(set(arrays[0]) | set(arrays[1]), reverse=True)
    options = {"ignore": first, "labels": others}
    alike(
        named(frame, weight="w", **options),
        joint_table(*arrays, **options),
        exact,
    )


def test_a_lazy_frame_is_asked_once_and_only_cells_come_back(monkeypatch):
    collected = []
    collect = pushdown.collect
    monkeypatch.setattr(pushdown, "collect", lambda query: collected.append(collect(query)) or collected[-1])
    frame = pl.LazyFrame({"t": [0, 1] * 500, "a": [0, 0, 1, 1] * 250, "b": [1] * 1000})
    assert of_columns(frame).n.tolist() == [250] * 4
    assert [len(found) for found in collected] == [4]


def test_expressions_are_columns():
    frame = pl.DataFrame({"y": [0, 1, 1], "old": [0.2, 0.9, 0.4], "new": [0.1, 0.2, 0.8], "m2": [1.0, 2.0, 3.0]})
    preds = {"a": pl.col("old") > 0.5, "b": pl.col("new") > 0.5}
    joint = wmcc.tabulate(frame.lazy(), true=pl.col("y") == 1, pred=preds, weight=pl.col("m2") * 2)
    assert joint == joint_table([False, True, True], [False, True, False], [False, False, True], [2.0, 4.0, 6.0])


# ---- files ---------------------------------------------------------------------------------------------


def read(path, engine: str, **options) -> wmcc.JointTable:
    return of_columns(str(path), weight="w", engine=engine, **options)


@pytest.mark.parametrize("engine", READERS)
def test_text_is_read_by_one_rule_for_all_three_columns(engine, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("t,a,b,w\n1,1,2,0.5\n2,1,2.0,0.25\n1,1,2,1\n255,1,2,\n1,2,255,9\n")
    found = read(path, engine, ignore=255)
    assert found == joint_table([1, 2, 1, 255, 1], [1, 1, 1, 1, 2], [2, 2, 2, 2, 255], [0.5, 0.25, 1, 0, 9], ignore=255)
    assert read(path, engine, ignore=255, labels=[2, 1]).labels == (2, 1, 255)
    with pytest.raises(LabelError, match=r"rows have a label.* that is not among `labels`, 1; one is 2"):
        read(path, engine, labels=[1], ignore=255)
    path.write_text("t,a,b,w\n1,1,x,0.5\n2,1,1,0.25\n")  # one label that is no number makes text of all
    assert read(path, engine).labels == ("1", "2", "x")
    path.write_text("t,a,b,w\n1,1,1,0.5\n2,1,,0.25\n")
    with pytest.raises(LabelError, match="1 of 2 rows has no label in 'b'"):
        read(path, engine)


@pytest.mark.parametrize("engine", READERS)
def test_parquet_files(engine, tmp_path):
    table = pa.table(columns("integer")).rename_columns(["t", "a", "b", "w"])
    for i in range(3):
        pq.write_table(table.slice(30 * i, 30), tmp_path / f"{i}.parquet", row_group_size=7)
    expected = joint_table(*(x.to_pylist() for x in table.columns))
    alike(read(tmp_path, engine), expected, exact=engine == "arrow")


@pytest.mark.parametrize("engine", READERS)
def test_labels_that_are_names_of_folders_are_compared_with_the_others(engine, tmp_path):
    table = pa.table(columns("integer")).rename_columns(["t", "a", "b", "w"])
    pq.write_to_dataset(table, tmp_path, partition_cols=["b"])
    expected = joint_table(*(x.to_pylist() for x in table.columns))
    alike(read(tmp_path, engine), expected, exact=engine == "arrow")


# ---- refusals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_bad_rows_of_frames_are_counted_and_named(engine):
    def frame(**other):
        made = {"t": [1, 2, 1], "a": [1, 1, 2], "b": [2, 1, 1], "w": [1.0, 2.0, 3.0], **other}
        return ALL[engine](pa.table({name: pa.array(x) for name, x in made.items()}))

    with pytest.raises(LabelError, match=r"2 of 3 rows have no label in 'b'"):
        of_columns(frame(b=[2, None, None]), weight="w")
    with pytest.raises(WeightError, match=r"1 of 3 rows has a weight in 'w'"):
        of_columns(frame(w=[1.0, -1.0, 2.0]), weight="w")
    assert of_columns(frame(w=[1.0, 2.0, -1.0]), weight="w", ignore=1).ignored == 2
    with pytest.raises(LabelError, match="b"):
        of_columns(frame(b=[2, 7, 1]), weight="w", labels=[1, 2])

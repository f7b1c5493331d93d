"""Where engines differ among themselves, the table does not: types, names and gaps that each would take another way."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import flat
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import ALL, ENGINE_WARNINGS, ENGINES, FAST, IN_MEMORY, LAZY, READERS

import wmcc
from wmcc.errors import InputError, InputTypeError, LabelError, TooManyClassesError, WeightError, WmccError

pytestmark = [pytest.mark.slow, ENGINE_WARNINGS]


@pytest.fixture(params=READERS)
def engine(request):
    return request.param


# ---- text files --------------------------------------------------------------------------------------


def test_types_are_not_guessed_from_the_beginning(tmp_path, engine):
    rows = ["1,1,1"] * 25_000 + ["1,x,1.5", "1,2.5,0.25"]
    (tmp_path / "a.csv").write_text("t,p,w\n" + "\n".join(rows) + "\n")
    table = wmcc.tabulate(wmcc.Files(tmp_path / "a.csv", engine=engine), true="t", pred="p", weight="w")
    assert table.labels == ("1", "2.5", "x")
    assert table.w[0].tolist() == [25_000, 0.25, 1.5]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["0", "1", "10"], (0, 1, 10)),
        (["-1", "0", "1.0"], (-1, 0, 1)),
        (["1", "1.0", "1."], (1,)),
        (["007", "7"], ("007", "7")),
        (["true", "False"], (False, True)),
        (["T", "F"], ("F", "T")),
        (["2026-01-01", "2026-01-02"], ("2026-01-01", "2026-01-02")),
        (["NA", "null", "NaN"], ("NA", "NaN", "null")),
        (["'a'", " b"], (" b", "'a'")),
        (["12345678901234567890123"], ("12345678901234567890123",)),
    ],
)
def test_what_text_stands_for(tmp_path, values, labels):
    (tmp_path / "a.csv").write_text("t,p\n" + "".join(f"{x},{x}\n" for x in values))
    for engine in READERS[:4]:
        found = wmcc.tabulate(wmcc.Files(tmp_path / "a.csv", engine=engine), true="t", pred="p")
        assert found.labels == labels, engine
        assert [type(x) for x in found.labels] == [type(x) for x in labels]
        assert found.rows == len(values)


def test_rules_speak_of_what_text_stands_for(tmp_path, engine):
    (tmp_path / "a.csv").write_text("t,p,w,g\n0,0,1,07\n1,0,2,7\n255,1,nan,7\n0,void,4,8\n")
    call = {"engine": engine, "ignore": [255, "void"]}
    with pytest.raises(InputTypeError, match="mixed types"):
        flat.tabulate(tmp_path / "a.csv", true="t", pred="p", weight="w", **call)
    call["ignore"] = ["255", "void"]
    table = flat.tabulate(tmp_path / "a.csv", true="t", pred="p", weight="w", labels=[1, 0], positive="1", **call)
    assert (table.labels, table.void, table.ignored, table.positive) == ((1, 0, "void"), ("void",), 1, 1)
    assert table.w.tolist() == [[0, 2, 0], [0, 1, 4], [0, 0, 0]]
    assert list(flat.tabulate(tmp_path / "a.csv", true="t", pred="p", weight="w", by="g", **call)) == ["07", "7", "8"]
    with pytest.raises(LabelError, match=r"rows have a label .*that is not among `labels`, 0; one is 1"):
        flat.tabulate(tmp_path / "a.csv", true="t", pred="p", weight="w", labels=[0], **call)


def test_columns_are_found_by_name_in_each_file(tmp_path, engine):
    (tmp_path / "1.csv").write_text("t,p,w\na,b,1\n")
    (tmp_path / "2.csv").write_text("p,t,w\na,b,2\n")
    assert wmcc.tabulate(wmcc.Files(tmp_path, engine=engine), true="t", pred="p", weight="w").w.tolist() == [
        [0, 1],
        [2, 0],
    ]
    (tmp_path / "2.csv").write_text("p,extra,t,w\na,7,b,2\n")
    assert wmcc.tabulate(wmcc.Files(tmp_path, engine=engine), true="t", pred="p", weight="w").w.tolist() == [
        [0, 1],
        [2, 0],
    ]
    (tmp_path / "2.csv").write_text("t,q,w\na,b,2\n")
    with pytest.raises(InputError, match=r"no column 'p' in .*2\.csv; the columns are 't', 'q', 'w'"):
        wmcc.tabulate(wmcc.Files(tmp_path, engine=engine), true="t", pred="p", weight="w")
    (tmp_path / "2.csv").write_text("t,p,p,w\na,b,b,2\n")
    with pytest.raises(InputError, match=r"2\.csv has 2 columns 'p'"):
        wmcc.tabulate(wmcc.Files(tmp_path, engine=engine), true="t", pred="p", weight="w")


def test_line_breaks_and_gaps_in_fields(tmp_path, engine):
    (tmp_path / "a.csv").write_bytes(b't,note,p,w\r\na,"two\nlines, ""x""",a,1\r\nb,,b,2\r\n')
    assert wmcc.tabulate(wmcc.Files(tmp_path / "a.csv", engine=engine), true="t", pred="p", weight="w").w.tolist() == [
        [1, 0],
        [0, 2],
    ]
    (tmp_path / "a.csv").write_text('t,p,w\na,a,1\n"",b,2\n,b,3\n')
    with pytest.raises(LabelError, match="2 of 3 rows have no label in 't'"):
        wmcc.tabulate(wmcc.Files(tmp_path / "a.csv", engine=engine), true="t", pred="p", weight="w")


def test_rows_with_a_field_too_many_are_refused(tmp_path, engine):
    (tmp_path / "a.csv").write_text("t,p,w\nx,a,a,1\ny,b,b,2\n")
    with pytest.raises(WmccError):
        wmcc.tabulate(wmcc.Files(tmp_path / "a.csv", engine=engine), true="t", pred="p", weight="w")


def test_json_text_is_text(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"t": "007", "p": "7", "w": 1}\n{"t": "7", "p": "7", "w": 2.5}\n')
    for engine in READERS[:4]:
        found = wmcc.tabulate(wmcc.Files(tmp_path / "a.jsonl", engine=engine), true="t", pred="p", weight="w")
        assert (found.labels, found.w.tolist()) == (("007", "7"), [[0, 1], [0, 2.5]]), engine


# ---- names of files ----------------------------------------------------------------------------------


def test_what_engines_leave_beside_data_is_not_read(tmp_path, engine):
    for k, name in enumerate(("x", "_temporary/0/x", "_delta_log/x", ".snap/x", "_x")):
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"t": [0], "p": [0], "w": [10.0**k]}), path)
    assert wmcc.tabulate(wmcc.Files(tmp_path, engine=engine), true="t", pred="p", weight="w").total == 1


def test_links_are_followed_and_files_read_once(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "else").mkdir()
    pq.write_table(pa.table({"t": [0], "p": [0]}), tmp_path / "data" / "a.parquet")
    pq.write_table(pa.table({"t": [0], "p": [0]}), tmp_path / "else" / "b.parquet")
    (tmp_path / "data" / "link").symlink_to(tmp_path / "else")
    (tmp_path / "data" / "loop").symlink_to(tmp_path / "data")
    assert wmcc.tabulate(tmp_path / "data", true="t", pred="p").rows == 2


def test_a_file_that_is_named_twice_is_refused(tmp_path, monkeypatch):
    """Another one was probably meant: its rows would be missing, and those of this one count once."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("t,p\n0,0\n")
    (tmp_path / "link.csv").symlink_to("a.csv")
    for names, said in (
        (["a.csv", "b.csv", "a.csv"], "'a.csv' is named twice; its rows would count once."),
        (["a.csv", "./b.csv", "link.csv"], "'a.csv' and 'link.csv' are the same file; its rows"),
        (["a.csv", "a*.csv"], r"'a.csv' is named twice, once by 'a\*.csv'; its rows"),
        ([tmp_path, tmp_path / "b.csv"], r"b.csv' is named twice; its rows"),
        (["s3://x/a.csv", "s3://x/a.csv"], "'s3://x/a.csv' is named twice"),
    ):
        with pytest.raises(InputError, match=said) as refused:
            wmcc.tabulate(names, true="t", pred="p")
        assert refused.value.hint == "name each file once."
    assert wmcc.tabulate(["a.csv", "b.csv"], true="t", pred="p").rows == 2
    assert wmcc.tabulate("*.csv", true="t", pred="p").rows == 2  # the link is among them


def test_names_that_look_like_patterns(tmp_path, engine):
    (tmp_path / "part[1].csv").write_text("t,p\na,a\n")
    (tmp_path / "part1.csv").write_text("t,p\nb,b\n")
    if engine == "arrow":
        assert wmcc.tabulate(tmp_path, true="t", pred="p").labels == ("a", "b")
        assert wmcc.tabulate(tmp_path / "part[1].csv", true="t", pred="p").labels == ("a",)
    else:
        with pytest.raises(InputError, match=r"would read as a pattern[\s\S]*`engine` 'arrow'"):
            wmcc.tabulate(wmcc.Files(tmp_path, engine=engine), true="t", pred="p")


def test_names_of_folders_are_columns(tmp_path):
    for g, w in (("01", 1.0), ("1", 2.0), ("x y", 4.0)):
        for m in (1, 2):
            (tmp_path / f"g={g}" / f"m={m}").mkdir(parents=True)
            pq.write_table(pa.table({"t": [0], "p": [0], "w": [w * m]}), tmp_path / f"g={g}" / f"m={m}" / "a.parquet")
    for engine in READERS[:4]:
        groups = wmcc.tabulate(wmcc.Files(tmp_path, engine=engine), true="t", pred="p", weight="w", by="g")
        assert {key: table.total for key, table in groups.items()} == {"01": 3, "1": 6, "x y": 12}, engine
        some = wmcc.tabulate(
            wmcc.Files(f"{tmp_path}/*/m=1/*.parquet", engine=engine), true="t", pred="p", weight="w", by="m"
        )
        assert {key: table.total for key, table in some.items()} == {1: 7}, engine


def test_types_that_differ_between_files(tmp_path, engine):
    pq.write_table(
        pa.table({"t": pa.array([1], pa.int8()), "p": [1], "w": pa.array([1.0], pa.float32())}), tmp_path / "1.parquet"
    )
    pq.write_table(pa.table({"t": pa.array([300], pa.int64()), "p": [1], "w": [0.1]}), tmp_path / "2.parquet")
    if engine == "polars":  # refused by engines that do not make them alike
        with pytest.raises(InputError, match="cannot be read"):
            wmcc.tabulate(wmcc.Files(tmp_path, engine=engine), true="t", pred="p", weight="w")
    else:
        assert wmcc.tabulate(wmcc.Files(tmp_path, engine=engine), true="t", pred="p", weight="w").w.tolist() == [
            [1, 0],
            [0.1, 0],
        ]


# ---- frames ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(FAST))
def test_weights_of_ignored_rows_are_not_looked_at(name):
    table = pa.table({"t": [255, 1, 0], "p": [1, 1, 1], "w": pa.array([None, 1.0, 2.0])})
    found = wmcc.tabulate(FAST[name](table), true="t", pred="p", weight="w", ignore=255)
    assert (found.ignored, found.total) == (1, 3)


def test_missing_weights_of_series_are_judged_by_the_kernel():
    for series in (
        pd.Series([np.nan, 1.0]),
        pd.Series([None, 1], dtype="Int64"),
        pl.Series([None, 1.0]),
        pa.array([None, 1.0]),
    ):
        assert wmcc.tabulate([255, 1], [1, 1], series, ignore=255).total == 1
        with pytest.raises(WeightError, match=r"sample_weight\[0\] is nan"):
            wmcc.tabulate([2, 1], [1, 1], series)


@pytest.mark.parametrize("name", ENGINES)
def test_booleans_beside_integers(name):
    table = pa.table({"t": [True, False, True], "p": [1, 0, 2]})
    found = wmcc.tabulate(ALL[name](table), true="t", pred="p")
    assert [(type(x), x) for x in found.labels] == [(int, 0), (int, 1), (int, 2)]


def test_categories_of_integers_stay_integers():
    column = pd.Categorical([10, 20, 10])
    frame = pd.DataFrame({"t": column, "p": column, "k": [1, 2, 3]})
    import dask.dataframe as dd

    for data in (frame, dd.from_pandas(frame, npartitions=2)):
        assert wmcc.tabulate(data, true="t", pred="p").labels == (10, 20)


def test_columns_named_like_ours():
    frame = pl.DataFrame({"wmcc t": [0, 1], "wmcc w": ["x", "y"], "w": [1.0, 2.0], "status": [0, 1]})
    for data in (frame, frame.lazy()):
        groups = wmcc.tabulate(data, true=nw.col("status"), pred=nw.col("wmcc t"), weight=nw.col("w") * 2, by="wmcc w")
        assert {key: table.total for key, table in groups.items()} == {"x": 2, "y": 4}


def test_what_rows_cannot_be_grouped_by():
    frame = pl.DataFrame({"t": [0, 0], "ns": pl.Series([1, 2]).cast(pl.Datetime("ns")), "list": [[1], [2]]})
    for data in (frame, frame.lazy()):
        for column in ("ns", "list"):
            with pytest.raises(InputTypeError, match=f"column '{column}' holds .*; rows cannot be grouped by it"):
                wmcc.tabulate(data, true="t", pred="t", by=column)
        for by in (3, nw.col("t"), [nw.col("t")]):
            with pytest.raises(InputTypeError, match=r"by is .*; expected the name of a column"):
                wmcc.tabulate(data, true="t", pred="t", by=by)
    mixed = pd.DataFrame({"t": [0, 0], "g": pd.Series([1, "a"], dtype=object)})
    with pytest.raises(InputTypeError, match="g holds keys of mixed types: 1 is a number and 'a' is a string"):
        wmcc.tabulate(mixed, true="t", pred="t", by="g")  # as arrays of such keys are


def test_many_identifiers_are_refused_soon(monkeypatch):
    """Before there is a table of them, if memory does not hold it."""
    monkeypatch.setattr("wmcc.core.labels.available", lambda: 1 << 26)
    frame = pl.LazyFrame({"t": range(200_000), "p": range(200_000)})
    with pytest.raises(TooManyClassesError, match="classes; their names and margins would take"):
        wmcc.tabulate(frame, true="t", pred="p")


def test_threads_may_share_an_engine(tmp_path):
    pq.write_table(pa.table({"t": [0, 1] * 50, "p": [0, 1] * 50, "w": [0.5] * 100}), tmp_path / "a.parquet")

    def total(engine):
        return wmcc.tabulate(wmcc.Files(tmp_path / "a.parquet", engine=engine), true="t", pred="p", weight="w").total

    with ThreadPoolExecutor(4) as pool:
        engines = [engine for engine in ("duckdb", "polars", "arrow") for _ in range(4)]
        assert set(pool.map(total, engines, timeout=100)) == {50}


# ---- joins -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*IN_MEMORY, *LAZY])
def test_large_integers_survive_a_join_with_gaps(name):
    big = 2**53
    truth = FAST[name](pa.table({"id": [1, 2, 3, 4], "y": [big, big + 1, big, big]}))
    pred = FAST[name](pa.table({"id": [1, 2, 3], "y": [big, big + 1, big + 1]}))
    found = wmcc.tabulate(wmcc.Join(truth, pred, "id", unmatched="ignore"), true="y", pred="y")
    assert (found.labels, found.n.tolist(), found.ignored) == ((big, big + 1), [[1, 1], [0, 1]], 1)


@pytest.mark.parametrize("name", [*IN_MEMORY, *LAZY])
def test_keys_of_different_types(name):
    make = FAST[name]
    ints, narrow = (make(pa.table({"id": pa.array([1, 2], kind), "y": [0, 1]})) for kind in (pa.int64(), pa.int16()))
    floats, text = make(pa.table({"id": [1.5, 2.0], "y": [0, 1]})), make(pa.table({"id": ["1", "02"], "y": [0, 1]}))
    assert wmcc.tabulate(wmcc.Join(ints, narrow, "id"), true="y", pred="y").rows == 2
    with pytest.raises(InputTypeError, match=r"the key 'id' holds Int64 in the truth and Float64 in the prediction"):
        wmcc.tabulate(wmcc.Join(ints, floats, "id"), true="y", pred="y")
    assert wmcc.tabulate(wmcc.Join(ints, text, "id", unmatched="ignore"), true="y", pred="y").rows == 1


@pytest.mark.parametrize("name", [*IN_MEMORY, *LAZY])
def test_nothing_is_lost_in_a_join(name):
    make = FAST[name]
    truth = make(pa.table({"id": [1, 2, 3], "y": [0, 1, 1], "g": ["a", "b", "c"]}))
    pred = make(pa.table({"id": [1, 2, 9], "z": [0, 1, 1]}))
    groups = wmcc.tabulate(wmcc.Join(truth, pred, "id", unmatched="ignore"), true="y", pred="z", by="g")
    assert {key: (t.rows, t.ignored) for key, t in groups.items()} == {
        "a": (1, 0),
        "b": (1, 0),
        "c": (0, 1),
        None: (0, 1),
    }
    half = make(pa.table({"id": [1, 2], "k": pa.array(["x", None]), "y": [0, 1]}))
    with pytest.raises(InputError, match="rows without a key"):
        wmcc.tabulate(wmcc.Join(half, half, ["id", "k"], unmatched="ignore"), true="y", pred="y")


def test_files_of_two_kinds_are_joined(tmp_path):
    pq.write_table(pa.table({"id": [1, 2], "label": [3, 4]}), tmp_path / "truth.parquet")
    (tmp_path / "pred.csv").write_text("id,pred,ha\n2,4,0.5\n1,4,2\n")
    truth = tmp_path / "truth.parquet"
    call = {"join": tmp_path / "pred.csv", "on": "id", "true": "label", "pred": "pred", "weight": "ha"}
    for engine in READERS:
        found = flat.tabulate(wmcc.Files(truth, engine=engine), **call)
        assert (found.labels, found.w.tolist()) == ((3, 4), [[0, 2], [0, 0.5]]), engine


# ---- streams -----------------------------------------------------------------------------------------


def test_options_of_a_stream_are_read_once():
    stream = wmcc.Accumulator(ignore=iter([255]), labels=(x for x in [0, 1]))
    for _ in range(2):
        stream.update([0, 255], [1, 1])
    assert (stream.table.labels, stream.table.ignored) == ((0, 1), 2)
    with pytest.raises(InputError, match="in labels and in ignore"):
        wmcc.Accumulator(labels=[0], ignore=0)


def test_a_stream_can_be_pickled_and_merged_with_itself():
    stream = wmcc.Accumulator(window=np.int64(3))
    stream.update([0, 1], [0, 1])
    copy = pickle.loads(pickle.dumps(stream))
    copy.update(copy)
    assert copy.table.rows == 4
    assert stream.table.rows == 2
    with pytest.raises(InputError, match="half_life"):
        wmcc.Accumulator(half_life=10**400)

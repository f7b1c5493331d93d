"""Files of every format with every engine that reads them."""

from __future__ import annotations

import gzip
import os
import shutil

import flat
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from engines import ENGINE_WARNINGS, READERS, same

import wmcc
from wmcc.errors import InputError, LabelError, MissingDependencyError, WeightError, WmccError
from wmcc.sources import arrow_batches, files

pytestmark = [pytest.mark.slow, ENGINE_WARNINGS]

ROWS = 700


def make_table() -> pa.Table:
    rng = np.random.default_rng(7)
    labels = np.array(["NA", "null", "c,d", 'say "x"', "it's"])
    t = rng.integers(0, 5, ROWS)
    p = np.where(rng.random(ROWS) < 0.7, t, rng.integers(0, 5, ROWS))
    area = np.round(rng.lognormal(0, 2, ROWS), 3)
    area[:500] = np.ceil(area[:500])  # a column that begins with whole numbers need not go on with them
    return pa.table(
        {
            "label": labels[t],
            "pred": labels[p],
            "area": area,
            "region": rng.choice(["north", "south"], ROWS),
            "code": t,
            "other": rng.random(ROWS),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same rows in every format."""
    path, table = tmp_path_factory.mktemp("files"), make_table()
    frame = pl.from_arrow(table)
    pq.write_table(table, path / "a.parquet", row_group_size=100)
    frame.write_csv(path / "a.csv")
    frame.write_csv(path / "a.tsv", separator="\t")
    frame.write_ndjson(path / "a.jsonl")
    pyarrow.feather.write_feather(table, path / "a.arrow")
    for name in ("a.csv", "a.tsv", "a.jsonl"):
        (path / f"{name}.gz").write_bytes(gzip.compress((path / name).read_bytes()))
    pq.write_to_dataset(table, path / "hive", partition_cols=["region"])
    (path / "parts").mkdir()
    for k in range(3):
        pq.write_table(table.slice(k * 250, 250), path / "parts" / f"part-{k}.parquet")
    (path / "parts" / "_SUCCESS").touch()
    (path / "parts" / ".hidden.parquet").touch()
    return path


FORMATS = [
    "a.parquet",
    "a.csv",
    "a.tsv",
    "a.jsonl",
    "a.arrow",
    "a.csv.gz",
    "a.tsv.gz",
    "a.jsonl.gz",
    "hive",
    "parts",
    "parts/*.parquet",
]


@pytest.mark.parametrize("engine", READERS)
@pytest.mark.parametrize("name", FORMATS)
def test_every_engine_reads_every_format(folder, engine, name):
    table = make_table()
    exact = engine == "arrow"
    same(
        wmcc.tabulate(wmcc.Files(folder / name, engine=engine), true="label", pred="pred", weight="area"),
        wmcc.tabulate(table, true="label", pred="pred", weight="area"),
        exact,
    )
    groups = wmcc.tabulate(wmcc.Files(str(folder / name), engine=engine), true="code", pred="code", by="region")
    assert list(groups) == ["north", "south"]
    for group, found in groups.items():
        rows = table.filter(pa.compute.equal(table["region"], group))
        same(found, wmcc.tabulate(rows, true="code", pred="code"), exact)


def test_lists_of_files_and_labels_as_numbers(folder):
    parts = [folder / "parts" / f"part-{k}.parquet" for k in range(3)]
    whole = wmcc.tabulate(make_table(), true="code", pred="code", weight="area")
    assert wmcc.tabulate(parts, true="code", pred="code", weight="area") == whole
    assert sum(wmcc.tabulate(part, true="code", pred="code", weight="area") for part in reversed(parts)) == whole
    call = {"true": nw.col("code") == 1, "pred": nw.col("code") < 2, "weight": nw.col("area") * 2}
    assert wmcc.mcc(flat.tabulate(parts[0], **call)) > 0


@pytest.mark.parametrize("batch", [1, 7, 64, 1000])
def test_batches_do_not_matter(folder, batch, monkeypatch):
    monkeypatch.setattr(arrow_batches, "BATCH", batch)
    for by in (None, "region"):
        assert wmcc.tabulate(folder / "a.parquet", true="label", pred="pred", weight="area", by=by) == wmcc.tabulate(
            make_table(), true="label", pred="pred", weight="area", by=by
        )


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
def test_rows_without_a_group_are_a_group(name, tmp_path, monkeypatch):
    """Whatever reads them: a column that is encoded already, and one of several chunks with gaps."""
    monkeypatch.setattr(arrow_batches, "BATCH", 2)
    frame = pl.DataFrame({"t": [0, 1, 1, 0, 1], "p": [0, 1, 0, 0, 1], "g": ["a", None, "b", None, "a"]})
    frame.write_csv(tmp_path / name) if name == "d.csv" else frame.write_parquet(tmp_path / name)
    expected = {"a": 2, "b": 1, None: 2}
    assert {
        key: table.rows for key, table in wmcc.tabulate(tmp_path / name, true="t", pred="p", by="g").items()
    } == expected
    chunks = pa.chunked_array([["a", None], ["b", None, "a"]])
    for column in (chunks, chunks.dictionary_encode()):
        found = wmcc.tabulate(
            pa.table({"t": frame["t"].to_arrow(), "p": frame["p"].to_arrow(), "g": column}), true="t", pred="p", by="g"
        )
        assert {key: table.rows for key, table in found.items()} == expected


def test_two_files_with_a_key(tmp_path):
    table = make_table().append_column("id", pa.array(range(ROWS)))
    pq.write_table(table.select(["id", "label", "area"]), tmp_path / "truth.parquet")
    pl.from_arrow(table.select(["pred", "id"])).reverse().write_csv(tmp_path / "pred.csv")
    truth = tmp_path / "truth.parquet"
    call = {"join": tmp_path / "pred.csv", "on": "id", "true": "label", "pred": "pred", "weight": "area"}
    expected = wmcc.tabulate(table, true="label", pred="pred", weight="area")
    for engine in READERS:
        same(
            flat.tabulate(wmcc.Files(truth, engine=engine), **call),
            expected,
            exact=False,
        )
    pl.from_arrow(table.select(["pred", "id"])).slice(3).write_csv(tmp_path / "pred.csv")
    with pytest.raises(InputError, match="3 keys of 'id' are in the truth only and 0 in the prediction only"):
        flat.tabulate(truth, **call)


# ---- bounded memory ----------------------------------------------------------------------------------


def test_only_needed_columns_are_read_in_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_batches, "BATCH", 1 << 16)
    rows = 6_000_000
    rng = np.random.default_rng(0)
    label = rng.integers(0, 9, rows).astype(np.uint8)
    wide = {"label": label, "pred": label, "area": rng.random(rows), **{f"x{k}": rng.random(rows) for k in range(2)}}
    pq.write_table(pa.table(wide), tmp_path / "wide.parquet", row_group_size=50_000)
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    before = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        found = wmcc.tabulate(tmp_path / "wide.parquet", true="label", pred="pred", weight="area")
    finally:
        pa.set_memory_pool(before)
    assert found == wmcc.tabulate(label, label, wide["area"])
    assert pool.max_memory() < 0.5 * 10 * rows  # half of the three columns, a tenth of the file


# ---- what goes wrong ---------------------------------------------------------------------------------


def test_bad_rows_are_counted_over_all_files(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_batches, "BATCH", 4)
    good = pa.table({"t": ["a", "b"] * 5, "p": ["a", "b"] * 5, "w": [1.0] * 10})
    pq.write_table(good, tmp_path / "1.parquet")
    pq.write_table(
        good.set_column(2, "w", pa.array([1.0] * 6 + [-2.0, None, 1.0, float("nan")])), tmp_path / "2.parquet"
    )
    pq.write_table(good.set_column(2, "w", pa.array([float("inf")] * 10)), tmp_path / "3.parquet")
    with pytest.raises(WeightError, match=r"13 of 30 rows have a weight in 'w'.*The first: .*2\.parquet: w\[[67]\] is"):
        wmcc.tabulate(tmp_path, true="t", pred="p", weight="w")
    pq.write_table(good.set_column(0, "t", pa.array([None] * 3 + ["a"] * 7)), tmp_path / "2.parquet")
    with pytest.raises(
        LabelError,
        match=r"3 of 30 rows have no label in 't'; 10 of 30 rows have a weight.*2\.parquet: t\[0\]",
    ):
        wmcc.tabulate(tmp_path, true="t", pred="p", weight="w")
    with pytest.raises(LabelError, match=r"1\.parquet: t\[1\] is 'b', which is not among `labels`"):
        wmcc.tabulate(tmp_path, true="t", pred="p", labels=["a"])


@pytest.mark.parametrize("engine", READERS)
def test_damaged_files(folder, tmp_path, engine):
    whole = (folder / "a.parquet").read_bytes()
    for name, content in (
        ("cut.parquet", whole[: len(whole) // 2]),
        ("empty.parquet", b""),
        ("text.parquet", b"this is no parquet"),
        ("holes.parquet", whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :]),
        ("cut.csv.gz", (folder / "a.csv.gz").read_bytes()[:200]),
        ("text.jsonl", b'{"label": "a", "pred": "b", "area": 1.0}\n{"label": '),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=rf"{name} cannot be read|no rows"):
            wmcc.tabulate(wmcc.Files(tmp_path / name, engine=engine), true="label", pred="pred", weight="area")


@pytest.mark.parametrize("engine", READERS)
def test_weights_that_are_text(tmp_path, engine):
    (tmp_path / "a.csv").write_text("t,p,w\na,a,1.5\nb,b,heavy\n")
    with pytest.raises(WmccError, match=r"heavy|holds String|must be a real number") as caught:
        wmcc.tabulate(wmcc.Files(tmp_path / "a.csv", engine=engine), true="t", pred="p", weight="w")
    assert isinstance(caught.value, ValueError | TypeError)


def test_files_that_are_not_there(folder, tmp_path):
    for name, said in (
        ("a.parqet", r"no file '.*a\.parqet'[\s\S]*did you mean '.*a\.parquet'"),
        ("b*.parquet", r"no file matches '.*b\*\.parquet'; the folder holds a\.arrow, a\.csv"),
        ("nowhere/*.csv", r"no file matches .*there is no folder '.*nowhere'"),
        (".", r"holds files of different formats: csv, ipc, jsonl, parquet, tsv"),
    ):
        with pytest.raises(InputError, match=said):
            wmcc.tabulate(folder / name, true="label", pred="pred")
    with pytest.raises(InputError, match=r"no data files in .*; the folder holds nothing"):
        wmcc.tabulate(tmp_path, true="label", pred="pred")
    (tmp_path / "notes.docx").touch()
    with pytest.raises(InputError, match=r"no data files in .*; the folder holds notes\.docx"):
        wmcc.tabulate(tmp_path, true="label", pred="pred")
    with pytest.raises(InputError, match=r"notes\.docx' has no known format; expected an ending among \.parquet"):
        wmcc.tabulate(tmp_path / "notes.docx", true="label", pred="pred")
    with pytest.raises(InputError, match="different formats: csv, parquet"):
        wmcc.tabulate([folder / "a.csv", folder / "a.parquet"], true="label", pred="pred")
    with pytest.raises(InputError, match="`engine` is 'pandas'; expected one of 'arrow', 'polars', 'duckdb'"):
        wmcc.tabulate(wmcc.Files(folder / "a.csv", engine="pandas"), true="label", pred="pred")


@pytest.mark.parametrize("engine", READERS)
def test_a_column_that_is_not_there(folder, engine):
    for name in ("a.parquet", "a.csv"):
        with pytest.raises(InputError, match=r"no column 'aera'; the columns are 'label'[\s\S]*did you mean 'area'"):
            wmcc.tabulate(wmcc.Files(folder / name, engine=engine), true="label", pred="pred", weight="aera")


@pytest.mark.parametrize("engine", ["arrow", "duckdb"])
@pytest.mark.parametrize(("mark", "ending"), [(";", "csv"), ("|", "csv"), ("\t", "csv"), (",", "tsv"), (";", "tsv")])
def test_fields_that_are_separated_by_another_mark(tmp_path, engine, mark, ending):
    path = tmp_path / f"a.{ending}"
    path.write_text(f"label{mark}pred{mark}ha\nelm{mark}oak{mark}2.5\noak{mark}oak{mark}1\n")
    words = {";": "semicolons", "|": "vertical bars", "\t": "tabs", ",": "commas"}
    for names in ({"true": "label", "pred": "pred"}, {"true": "lable", "pred": "pred"}):  # misspelled, too
        with pytest.raises(InputError, match=f"fields seem to be separated by {words[mark]}") as refused:
            flat.tabulate(wmcc.Files(path, engine=engine), **names)
        assert f"pandas.read_csv(…, sep={mark!r})" in refused.value.hint
    read = wmcc.tabulate(pd.read_csv(path, sep=mark), true="label", pred="pred", weight="ha")  # as the hint says
    assert read.n.tolist() == [[0, 1], [0, 1]]
    path.write_text(f"label{mark}pred{mark}ha,km\n")
    with pytest.raises(InputError, match=r"no column 'pred'[\s\S]*separated by"):
        wmcc.tabulate(wmcc.Files(path, engine=engine), true="pred", pred="pred")


def measured(folder, name="m.csv", rows=300):
    """A file with a column of measurements, some of them whole, and one of codes that look like numbers."""
    area = [f"{k / 8:g}" for k in range(rows)]
    frame = pl.DataFrame({"label": ["oak", "elm"] * (rows // 2), "area": area})
    frame.with_columns(code="0" + pl.col("area"), key=pl.int_range(rows)).write_csv(folder / name)
    return folder / name, area


@pytest.mark.parametrize("engine", READERS)
def test_measurements_are_no_classes(tmp_path, engine):
    """Of text; those of other files are refused by their type."""
    path, area = measured(tmp_path)
    said = r"the column 'area' holds 262 different decimal numbers, such as '0.125'; expected classes"
    for names, word in ((("area", "label"), "`true`"), (("label", "area"), "`pred`")):
        with pytest.raises(LabelError, match=said) as refused:
            wmcc.tabulate(wmcc.Files(path, engine=engine), true=names[0], pred=names[1])
        assert refused.value.hint.startswith(f"name the column of classes as {word}")
    with pytest.raises(LabelError, match=said):
        wmcc.tabulate(wmcc.Files(path, engine=engine), true="label", pred={"a": "label", "b": "area"})
    if engine != "arrow":
        with pytest.raises(LabelError, match=said):
            wmcc.tabulate(
                wmcc.Join(wmcc.Files(path, engine=engine), wmcc.Files(path, engine=engine), "key"),
                true="label",
                pred="area",
            )
    whole = wmcc.tabulate(wmcc.Files(path, engine=engine), true="area", pred="area", labels=area)  # as the hint says
    assert whole.labels == tuple(area)
    assert (
        wmcc.accuracy(wmcc.tabulate(wmcc.Files(path, engine=engine), true="code", pred="code")) == 1
    )  # a code is text
    assert wmcc.accuracy(wmcc.tabulate(pl.read_csv(path, infer_schema=False), true="area", pred="area")) == 1


def test_some_decimal_numbers_may_be_classes(tmp_path):
    path, _ = measured(tmp_path, rows=100)
    assert len(wmcc.tabulate(path, true="area", pred="area").labels) == 100
    path.write_text("stars\n" + "".join(f"{k / 2}\n" for k in range(400)))
    assert len(wmcc.tabulate(path, true="stars", pred="stars", labels=[f"{k / 2}" for k in range(400)]).labels) == 400


@pytest.mark.parametrize("engine", READERS)
@pytest.mark.parametrize("names", [("area", "label"), ("label", "area"), ("area", {"a": "label", "b": "label"})])
def test_few_decimal_numbers_on_one_side_only_are_measurements(tmp_path, engine, names):
    path, _ = measured(tmp_path, rows=6)
    with pytest.raises(LabelError, match=r"the column 'area' holds 5 different decimal numbers, such as '0.125'"):
        wmcc.tabulate(wmcc.Files(path, engine=engine), true=names[0], pred=names[1])


@pytest.mark.parametrize("engine", ["arrow", "polars"])
def test_a_file_that_changes_while_it_is_read(folder, tmp_path, engine, monkeypatch):
    path = tmp_path / "a.parquet"
    shutil.copy(folder / "a.parquet", path)
    stamps, calls = files.FileSet.stamps, []

    def touching(self):
        if calls:
            os.utime(path, ns=(0, calls[-1]))
        calls.append(len(calls) + 1)
        return stamps(self)

    monkeypatch.setattr(files.FileSet, "stamps", touching)
    with pytest.raises(InputError, match=r"a\.parquet changed while it was being read"):
        wmcc.tabulate(wmcc.Files(path, engine=engine), true="label", pred="pred", weight="area")


def test_a_file_without_rows(tmp_path):
    pq.write_table(make_table().slice(0, 0), tmp_path / "none.parquet")
    (tmp_path / "none.csv").write_text("label,pred,area\n")
    for name in ("none.parquet", "none.csv"):
        call = {"true": "label", "pred": "pred", "weight": "area"}
        assert flat.tabulate(tmp_path / name, **call) == wmcc.Table.empty()
        assert len(flat.tabulate(tmp_path / name, **call, by="label", cluster="pred")) == 0
    (tmp_path / "none.csv").write_text("")
    with pytest.raises(InputError, match=r"none\.csv is empty: it has no header line with column names"):
        wmcc.tabulate(tmp_path / "none.csv", true="label", pred="pred")


@pytest.mark.parametrize("engine", READERS)
def test_void_and_missing_labels_in_text(tmp_path, engine):
    """Rows are left out for their truth, in whatever way it is written; a void answer is of the kind of the classes."""
    (tmp_path / "a.csv").write_text("t,p,w,g\n0,0,1,a\n0,255.0,2,a\n1,1,4,b\n255,x,,b\n255.0,0,-1,b\n,1,,a\n1,,,b\n")
    (tmp_path / "b.csv").write_text("t,p,w,g\n1,0,8,a\n1,255,16,b\n")
    call = {"true": "t", "pred": "p", "weight": "w", "engine": engine, "ignore": 255}
    for labels in (None, [1, 0]):
        found = flat.tabulate(tmp_path, **call, missing="ignore", labels=labels)
        expected = wmcc.tabulate(
            [0, 0, 1, 1, 1, 255, 255, 255, 255],
            [0, 255, 1, 0, 255, 0, 0, 0, 0],
            [1, 2, 4, 8, 16, 0, 0, 0, 0],
            ignore=255,
            labels=labels,
        )
        assert found == expected
        assert (found.void, [type(x) for x in found.labels]) == ((255,), [int] * 3)
    groups = flat.tabulate(tmp_path, **call, missing="ignore", by="g")
    assert {key: (table.rows, table.ignored) for key, table in groups.items()} == {"a": (3, 1), "b": (2, 3)}
    with pytest.raises(LabelError, match=r"no label in 't'; 1 of 9 rows has no label in 'p'[\s\S]*`missing` 'ignore'"):
        flat.tabulate(tmp_path, **call)
    text = flat.tabulate(tmp_path, **{**call, "ignore": ["255", "nodata"]}, missing="ignore", names={0: "a", 1: "b"})
    assert (text.labels, text.void) == (("a", "b", 255), (255,))


@pytest.mark.parametrize("engine", READERS)
def test_a_weight_column_of_text_is_not_a_damaged_file(tmp_path, engine):
    (tmp_path / "a.csv").write_text("t,p,w\n0,0,1.5\n1,1,heavy\n")
    with pytest.raises(
        WeightError, match=r"the column 'w' holds a value that is not a number[\s\S]*`weight`"
    ) as caught:
        wmcc.tabulate(wmcc.Files(tmp_path / "a.csv", engine=engine), true="t", pred="p", weight="w")
    assert "damaged" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("map.gpkg", "geopandas.read_file"),
        ("map.SHP", "geopandas.read_file"),
        ("book.xlsx", "pandas.read_excel"),
        ("rows.json", "pandas.read_json"),
        ("rows.zip", "unpack"),
        ("map.geoparquet", "geopandas.read_parquet"),
        ("map.tif", "give rasters as"),
        ("map.nc", "give rasters as"),
        ("map.png", "give folders of label maps"),
        ("maps.npz", "read it into arrays"),
        ("notes.docx", "rename it with that ending; otherwise read it into a frame"),
    ],
)
def test_files_of_other_formats(tmp_path, name, advice):
    (tmp_path / name).write_text("x")
    with pytest.raises(InputError, match=rf"has no known format[\s\S]*{advice}"):
        wmcc.tabulate([tmp_path / name], true="t", pred="p")


def test_progress_only_when_watched(folder, capsys):
    wmcc.tabulate(folder / "a.parquet", true="label", pred="pred")
    assert capsys.readouterr() == ("", "")
    wmcc.tabulate(folder / "a.parquet", true="label", pred="pred", progress=True)
    shown = capsys.readouterr()
    assert "reading" in shown.err
    assert shown.out == ""


def test_a_missing_engine_is_named(folder, monkeypatch):
    import importlib

    def none(name, package=None):
        raise ImportError(name)

    assert wmcc.tabulate is not None  # names of wmcc itself are loaded when they are asked for
    assert MissingDependencyError is not None

    monkeypatch.setattr(importlib, "import_module", none)
    for engine in ("arrow", "polars", "duckdb"):
        said = rf"not installed\.[\s\S]*pip install 'wmcc\[{engine}\]'$"
        with pytest.raises(MissingDependencyError, match=said):
            wmcc.tabulate(wmcc.Files(folder / "a.parquet", engine=engine), true="label", pred="pred")


@pytest.mark.parametrize("engine", READERS)
@pytest.mark.parametrize("ignore", [255, "255", 255.0])
def test_void_labels_of_text_are_of_the_kind_of_the_classes(tmp_path, engine, ignore):
    path = tmp_path / "rows.csv"
    path.write_text("y,p\n1,1\n1,255\n0,0\n255,0\n")
    table = wmcc.tabulate(wmcc.Files(str(path), engine=engine), true="y", pred="p", ignore=ignore)
    assert table == wmcc.tabulate([1, 1, 0, 255], [1, 255, 0, 0], ignore=255)
    path.write_text("y,p\na,a\nb,255\n255,a\n")
    assert wmcc.tabulate(wmcc.Files(str(path), engine=engine), true="y", pred="p", ignore=ignore).void == ("255",)

"""Strata, clusters in them, sizes and post-strata from every source: one design, and the weights that it gives."""

from __future__ import annotations

import json
import pickle
from collections import Counter, defaultdict
from fractions import Fraction

import flat
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from design_rows import MAPPED, ROWS, SIZES, STRATA, TOTALS, TRUTHS
from engines import ENGINE_WARNINGS, FAST, LAZY, SPARK, spark
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, InputTypeError, LabelError, SchemaError

pytestmark = [pytest.mark.slow, ENGINE_WARNINGS]

CASES = {
    "sizes": {"stratum": "stratum", "population": SIZES},
    "sizes in a column": {"stratum": "stratum", "population": "size"},
    "areas in a column": {"stratum": "number", "population": "ha"},
    "finite": {"stratum": "stratum", "population": "size", "fpc": True},
    "weights": {"stratum": "number", "weight": "w"},
    "finite, with weights": {"stratum": "stratum", "weight": "w", "population": SIZES, "fpc": True, "lonely": "adjust"},
    "two columns": {"stratum": ["stratum", "zone"], "weight": "w"},
    "clusters": {"stratum": "stratum", "cluster": "psu", "weight": "w"},
    "clusters, finite": {"stratum": ["stratum"], "cluster": ["zone", "psu"], "population": SIZES, "fpc": "psus"},
    "the map": {"stratum": "map", "population": SIZES},
    "post-strata": {"poststratum": "age", "totals": TOTALS},
    "post-strata in strata": {"stratum": "stratum", "poststratum": "age", "totals": "aged", "weight": "w"},
    "post-strata, clusters": {"stratum": "zone", "cluster": "psu", "poststratum": "age", "totals": TOTALS},
    "post-strata, ignored": {"stratum": "zone", "poststratum": "age", "totals": TOTALS, "weight": "w", "ignore": "B"},
    "domains": {"stratum": "stratum", "population": SIZES, "by": "half"},
    "domains, post-strata": {"poststratum": ["age", "zone"], "totals": {(a, z): 9 for a in TOTALS for z in (0, 1)}}
    | {"by": ["half", "zone"], "weight": "w"},
    "two predictions": {"stratum": "stratum", "population": SIZES, "pred": {"old": "map", "new": "other"}},
    "ignored": {"stratum": "stratum", "population": SIZES, "ignore": "A"},
    "names": {"stratum": "stratum", "population": SIZES, "names": {x: x.lower() for x in SIZES}},
    "one size": {"population": 1000},
    "one finite size": {"fpc": 50, "weight": "w"},
}


def column(name, table=ROWS):
    return np.array(table[name].to_pylist(), dtype=object) if isinstance(name, str) else name


def of_arrays(table=ROWS, *, pred="map", weight=None, **more):
    """The same call with arrays in the place of names."""
    for word in ("stratum", "cluster", "poststratum", "by"):
        if isinstance(more.get(word), list):
            more[word] = {name: table[name].to_pylist() for name in more[word]}
        elif word in more:
            more[word] = table[more[word]].to_pylist()
    for word in ("population", "fpc", "totals"):
        if isinstance(more.get(word), str):
            more[word] = table[more[word]].to_pylist()
    preds = {name: table[own].to_pylist() for name, own in pred.items()} if isinstance(pred, dict) else None
    weights = None if weight is None else table[weight].to_pylist()
    return flat.tabulate(table["ref"].to_pylist(), preds or table[pred].to_pylist(), weights, **more)


def of_frame(frame, *, pred="map", **more):
    return flat.tabulate(frame, true="ref", pred=pred, **more)


# ---- the table itself, from fractions ------------------------------------------------------------------


def keys_of(rows, names):
    names = [names] if isinstance(names, str) else list(names or ())
    return [row[names[0]] if len(names) == 1 else tuple(row[x] for x in names) for row in rows]


def sizes_of(rows, given, keys):
    return dict(zip(keys, (row[given] for row in rows), strict=True)) if isinstance(given, str) else given


def oracle(rows, *, weight=None, stratum=None, cluster=None, population=None, poststratum=None, totals=None, ignore=()):
    """Weights of rows that have labels, the ignored ones too, and how many rows each unit has."""
    rows = [row for row in rows if row["ref"] is not None and row["map"] is not None]
    strata, posts = keys_of(rows, stratum), keys_of(rows, poststratum)
    own = [Fraction(row[weight]) if weight else Fraction(1) for row in rows]
    if population is not None and weight is None:
        sizes = sizes_of(rows, population, strata) if stratum else {(): population}
        n = Counter(strata)
        own = [w * Fraction(sizes[h]) / n[h] for w, h in zip(own, strata, strict=True)]
    if poststratum:
        sizes, known = sizes_of(rows, totals, posts), defaultdict(Fraction)
        for row, w, g in zip(rows, own, posts, strict=True):
            known[g] += 0 if row["ref"] in ignore else w
        own = [w * Fraction(sizes[g]) / known[g] for w, g in zip(own, posts, strict=True)]
    names = [x for word in (stratum, cluster) for x in ([word] if isinstance(word, str) else word or ())]
    return rows, own, Counter(keys_of(rows, names if cluster else stratum))


def check(table, expected, cells, names=lambda x: x):
    """The weights of a table are those of rows, each in its cell."""
    sums = defaultdict(Fraction)
    for key, w in cells:
        sums[key] += w
    found = {}
    for codes, w in zip(table.cells.codes.T.tolist(), table.cells.sums.w_exact.floats().tolist(), strict=True):
        found[tuple(table.labels[k] for k in codes)] = w
    assert found.keys() == {tuple(map(names, key)) for key in sums}
    for key, w in sums.items():
        assert found[tuple(map(names, key))] == pytest.approx(float(w), rel=1e-13)
    assert table.drawn.kind == "strata"
    assert dict(zip(table.drawn.units, table.drawn.rows, strict=True)) == dict(expected)


@pytest.mark.parametrize("case", CASES)
def test_weights_are_those_of_rows(case):
    call = dict(CASES[case])
    by, ignore, pred = call.get("by"), call.get("ignore", ()), call.get("pred", "map")
    asked = {name: x for name, x in call.items() if name not in ("by", "fpc", "lonely", "pred", "names")}
    rows, weights, units = oracle(ROWS.to_pylist(), **asked)
    table = of_arrays(**call)
    renamed = call.get("names", {})
    labels = ["ref", *(pred.values() if isinstance(pred, dict) else [pred])]
    cells = [
        (tuple(row[x] for x in labels), w) for row, w in zip(rows, weights, strict=True) if row["ref"] not in ignore
    ]
    whole = table.total() if by else table
    check(whole, units, cells, lambda x: renamed.get(x, x))
    assert not whole.drawn.design.domain
    for key, own in table.items() if by else ():
        met = [cell for cell, row_key in zip(cells, keys_of(rows, by), strict=True) if row_key == key]
        check(own, units, met)
        assert own.drawn == whole.drawn.as_domain() != whole.drawn


# ---- frames ---------------------------------------------------------------------------------------------


SOME = ("clusters, finite", "post-strata in strata", "domains", "two predictions", "ignored")
"""Cases for engines that take long to start."""


def assert_same(found, expected, case=""):
    """The same table, to the last bit, but for what arrays do not know: the name of the groups."""
    assert found.drawn == expected.drawn, case
    data, other = found.to_dict(), expected.to_dict()
    if "by" in data:
        assert list(found) == list(expected), case
        data["by"] = other["by"] = None
    assert data == other, case


@pytest.mark.parametrize("engine", FAST)
def test_every_engine_gives_the_same(engine):
    frame = FAST[engine](ROWS)
    for case in SOME if engine in ("dask", "ibis") else CASES:
        assert_same(of_frame(frame, **CASES[case]), of_arrays(**CASES[case]), case)


@pytest.mark.spark
def test_spark_gives_the_same():
    frame = SPARK["pyspark"](ROWS)
    for case in SOME[:2]:
        assert_same(of_frame(frame, **CASES[case]), of_arrays(**CASES[case]), case)


@pytest.mark.parametrize("engine", FAST)
def test_rows_without_a_label_are_not_sampled_and_ignored_ones_are(engine):
    """Void truths are part of the population; rows without a label are what a survey calls non-response."""
    rows = ROWS.to_pylist()
    for k, name in ((0, "ref"), (11, "map"), (12, "ref")):
        rows[k][name] = None
    rows[11]["stratum"] = rows[12]["psu"] = None  # which nobody asks of such a row
    rows[11]["size"] = 7.0
    table = pa.Table.from_pylist(rows, schema=ROWS.schema)
    call = {"stratum": "stratum", "cluster": "psu", "population": SIZES, "ignore": ["A"]}
    frame = FAST[engine](table)
    found = of_frame(frame, **call, missing="ignore")
    kept, weights, units = oracle(rows, **call)
    check(
        found, units, [((row["ref"], row["map"]), w) for row, w in zip(kept, weights, strict=True) if row["ref"] != "A"]
    )
    assert (found.ignored, found.drawn.rows_of_strata) == (3 + TRUTHS.count("A") - 1, (9, 8, 10, 10))
    one_stratum = of_frame(frame, population=370, ignore=["A"], missing="ignore")
    assert (one_stratum.ignored, one_stratum.drawn.rows) == (found.ignored, (37,))
    in_column = of_frame(frame, **call | {"population": "size"}, missing="ignore")
    assert in_column.drawn == found.drawn
    with pytest.raises(LabelError, match="missing"):
        of_frame(frame, **call)
    rows[0]["ref"], rows[0]["stratum"] = "B", None
    frame = FAST[engine](pa.Table.from_pylist(rows, schema=ROWS.schema))
    with pytest.raises(InputError, match=r"^1 row has no stratum in the column 'stratum'"):
        of_frame(frame, **call, missing="ignore")


@pytest.mark.parametrize("engine", FAST)
def test_a_stratum_whose_rows_have_no_labels(engine):
    rows = [row | {"map": None} if row["stratum"] == "C" else row for row in ROWS.to_pylist()]
    frame = FAST[engine](pa.Table.from_pylist(rows, schema=ROWS.schema))
    for sizes in ("size", SIZES):
        with pytest.raises(InputError, match=r"^1 stratum has a size but no sampled row: 'C' \(size 20,000\)"):
            of_frame(frame, stratum="stratum", population=sizes, missing="ignore")
    found = of_frame(frame, stratum="stratum", weight="w", missing="ignore")
    assert found.drawn.design.strata == ("A", "B", "D")
    assert found.drawn.sampled == (10, 10, 10)


def test_arrays_without_labels_are_not_sampled():
    truth = np.array([*TRUTHS[:38], None, None], dtype=object)
    found = wmcc.tabulate(
        truth, list(MAPPED), missing="ignore", ignore="D", design=wmcc.Strata(list(STRATA), population=SIZES)
    )
    assert found.drawn.rows == (10, 10, 10, 8)
    assert found.total == pytest.approx(100_000 - 2 * 20_000 / 10 - 7 * 10_000 / 8)


def test_images_have_strata():
    images = np.arange(24).reshape(4, 3, 2) % 3
    found = wmcc.tabulate(images, images, design=wmcc.Strata(["a", "b", "a", "b"], population={"a": 10, "b": 30}))
    assert (found.total, found.drawn.rows) == (40, (12, 12))
    assert wmcc.tabulate(images, images, design=wmcc.Strata(["a", "b", "a", "b"], population=[10, 30, 10, 30])) == found


# ---- joins and files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [x for x in FAST if x != "ibis"])
def test_strata_come_from_either_side_of_a_join(engine):
    make, left = FAST[engine], ["id", "ref", "stratum", "w"]
    right = ["id", "map", "psu", "psus", "zone"]
    frames = make(ROWS.select(left)), make(ROWS.select(right).take(list(range(39, -1, -1))))
    both = {"join": frames[1], "on": "id", "true": "ref", "pred": "map"}
    call = {"stratum": ["stratum", "zone"], "cluster": "psu", "weight": "w"}
    assert_same(flat.tabulate(frames[0], **both, **call), of_arrays(**call))
    if engine == "dask":  # which takes a second for each
        return
    call = {"stratum": "stratum", "cluster": "psu", "fpc": "psus"}
    assert_same(flat.tabulate(frames[0], **both, **call), of_arrays(**call))
    fewer = make(ROWS.select(right).slice(1))
    both["unmatched"] = "ignore"
    found = flat.tabulate(frames[0], stratum="stratum", population=SIZES, **{**both, "join": fewer})
    assert (found.drawn.rows, found.ignored, found.total) == ((9, 10, 10, 10), 1, 100_000)
    more = flat.tabulate(make(ROWS.select(left).slice(1)), stratum="stratum", fpc=SIZES, **both)
    assert (more.drawn.rows, more.ignored) == ((9, 10, 10, 10), 1)


def written(folder, form, table=ROWS):
    path = folder / f"rows.{form}"
    if form == "csv":
        pl.from_arrow(table).write_csv(path)
    elif form == "jsonl":
        pl.from_arrow(table).write_ndjson(path)
    else:
        pq.write_table(table, path, row_group_size=7)
    return path


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_files_give_the_same(engine, tmp_path):
    for form in ("csv", "parquet", "jsonl"):
        path = written(tmp_path, form)
        for case in CASES if engine == "arrow" else SOME[: 5 if form == "csv" else 2]:
            assert_same(of_frame(path, **CASES[case], engine=engine), of_arrays(**CASES[case]), (form, case))


@pytest.mark.spark
def test_files_give_the_same_with_spark(tmp_path):
    frame = spark().read.csv(str(written(tmp_path, "csv")), header=True, inferSchema=True)
    assert_same(of_frame(frame, **CASES["clusters, finite"]), of_arrays(**CASES["clusters, finite"]))


def test_files_of_many_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("wmcc.sources.arrow_batches.BATCH", 3)
    monkeypatch.setattr("wmcc.sources.arrow_batches.TOGETHER", 4)
    path = written(tmp_path, "csv")
    for case, call in CASES.items():
        assert_same(of_frame(path, **call), of_arrays(**call), case)
    rows = [row | {"map": None} if row["id"] in (4, 17) else row for row in ROWS.to_pylist()]
    call = {"stratum": "stratum", "population": SIZES, "missing": "ignore", "ignore": ["B"]}
    path = written(tmp_path, "csv", pa.Table.from_pylist(rows, schema=ROWS.schema))
    assert of_frame(path, **call).drawn.rows == (9, 9, 10, 10)
    for engine in ("polars", "duckdb"):
        assert_same(of_frame(path, **call, engine=engine), of_frame(path, **call))


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_strata_in_text_files_are_read_as_labels_are(engine, tmp_path):
    path = tmp_path / "rows.csv"
    for strata, sizes in (
        (["1", "2", "10"], {1: 5, 2: 6, 10: 7}),
        (["1", "2", "x"], {"1": 5, "2": 6, "x": 7}),
        (["007", "1", "2"], {"007": 5, "1": 6, "2": 7}),
        (["true", "false", "true"], {True: 5, False: 7}),
    ):
        path.write_text(
            "".join(
                ["t,p,s,size\n", *(f"a,b,{s},{sizes[k]}\n" for s, k in zip(strata, [*sizes, True][:3], strict=True))]
            )
        )
        found = wmcc.tabulate(
            wmcc.Files(path, engine=engine), true="t", pred="p", design=wmcc.Strata("s", population=sizes)
        )
        assert list(map(repr, found.drawn.units)) == list(map(repr, sorted(sizes)))
        assert found.drawn.design.population == tuple(float(sizes[k]) for k in sorted(sizes))
    path.write_text("t,p,s,size\na,b,1,12.5\na,b,2,1e3\n")
    found = wmcc.tabulate(
        wmcc.Files(path, engine=engine), true="t", pred="p", design=wmcc.Strata("s", population="size")
    )
    assert found.drawn.design.population == (12.5, 1000.0)
    for size, said in (
        ("12 ha", "is '12 ha' (str); expected a number"),
        ("", "is missing"),
        ("-1", "is -1; expected a"),
    ):
        path.write_text(f"t,p,s,size\na,b,1,{size}\na,b,2,1e3\n")
        with pytest.raises((InputError, InputTypeError)) as caught:
            wmcc.tabulate(
                wmcc.Files(path, engine=engine), true="t", pred="p", design=wmcc.Strata("s", population="size")
            )
        assert f"`population` of stratum 1 {said}" in str(caught.value)


# ---- sizes ------------------------------------------------------------------------------------------------


def test_sizes_are_given_in_many_ways():
    call = {"stratum": "stratum", "population": SIZES}
    expected, frame, lazy = of_arrays(**call), ROWS.to_pandas(), LAZY["polars, lazy"](ROWS)
    sized = pd.DataFrame({"stratum": list(SIZES), "size": list(SIZES.values())})
    for sizes in (
        {**SIZES, "E": 0},
        {x: np.float32(n) for x, n in SIZES.items()},
        sized,
        sized[["size", "stratum"]],
        pl.from_pandas(sized),
        pl.from_pandas(sized).lazy(),
        pa.Table.from_pandas(sized),
        sized.rename(columns={"stratum": "class"}),
        sized.set_index("stratum")["size"],
        "size",
    ):
        for data in (frame, lazy):
            found = of_frame(data, stratum="stratum", population=sizes)
            assert found.w.tolist() == expected.w.tolist()
            assert found == expected or (isinstance(sizes, dict) and "E" in sizes)
    assert of_frame(frame, stratum="stratum", population=frame["size"]) == expected
    assert of_frame(frame, stratum=frame["stratum"], population="size") == expected
    polars = pl.from_arrow(ROWS)
    assert of_frame(polars, stratum=polars["stratum"], population=polars["size"]) == expected
    arrays = [frame[name] for name in ("ref", "map")]
    for sizes in (frame["size"], frame["size"].tolist(), ROWS["size"], np.array(frame["size"], dtype=int), sized):
        assert wmcc.tabulate(*arrays, design=wmcc.Strata(frame["stratum"], population=sizes)) == expected


def test_sizes_of_several_columns():
    keys = {(a, z): 10 * "ABCD".index(a) + z + 20 for a in SIZES for z in (0, 1)}
    sized = pd.DataFrame([(z, a, n) for (a, z), n in keys.items()], columns=["zone", "stratum", "n"])
    call = {"stratum": ["stratum", "zone"], "population": keys}
    expected, frame = of_arrays(**call), ROWS.to_pandas()
    assert expected.drawn.design.population == tuple(map(float, keys.values()))
    assert of_frame(frame, stratum=["stratum", "zone"], population=sized) == expected
    other = sized[["stratum", "zone", "n"]].rename(columns={"stratum": "a", "zone": "b"})
    assert of_frame(frame, stratum=["stratum", "zone"], population=other) == expected
    assert (
        of_frame(frame, stratum=["stratum", "zone"], population=sized.set_index(["stratum", "zone"])["n"]) == expected
    )
    assert of_arrays(stratum=["stratum", "zone"], population=other) == expected


# ---- merging, storing, taking apart ------------------------------------------------------------------------


@st.composite
def samples(draw):
    """Rows, and a design; strata are few, so that parts have them in common."""
    n = draw(st.integers(0, 14))
    column = lambda values: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))  # noqa: E731
    data = {
        "ref": column("xyz"),
        "map": column("xy"),
        "s": column(["a", "b"]),
        "z": column([1, 2]),
        "c": column([1, 2]),
    }
    data |= {"g": column(["n", "s"]), "w": column([0.25, 0.0, 3.0])}
    call = {"stratum": draw(st.sampled_from(["s", ["s", "z"]])), "lonely": draw(st.sampled_from(["error", "adjust"]))}
    strata = ["a", "b"] if call["stratum"] == "s" else [(a, z) for a in "ab" for z in (1, 2)]
    if draw(st.booleans()):
        call["cluster"] = "c"
    weights = draw(st.sampled_from(["given", "sizes", "post-strata", "none"]))
    if weights in ("given", "post-strata"):
        call["weight"] = "w"
    if weights == "sizes":
        call["population"] = {key: 10.5 + k for k, key in enumerate(strata)}
    if weights == "post-strata":
        call |= {"poststratum": "g", "totals": {"n": 3.5, "s": 7}}
    if draw(st.booleans()):
        call["ignore"] = "z"
    if draw(st.booleans()):
        call["fpc"] = {key: 100 + k for k, key in enumerate(strata)}
    if draw(st.booleans()):
        call["by"] = "g"
    if draw(st.booleans()):
        call["pred"] = {"one": "map", "two": "ref"}
    return data, call


def part(data, rows, call):
    """The table of some rows, of which there may be none in a stratum."""
    own = {name: [x[k] for k in rows] for name, x in data.items()}
    more = {}
    for word, given_ in call.items():
        if word in ("stratum", "cluster", "poststratum", "by"):
            more[word] = {name: own[name] for name in given_} if isinstance(given_, list) else own[given_]
        elif word not in ("pred", "weight"):
            more[word] = given_
    pred = {name: own[x] for name, x in call["pred"].items()} if "pred" in call else own["map"]
    return flat.tabulate_part(own["ref"], pred, own["w"] if "weight" in call else None, **more)


@given(samples(), st.randoms(use_true_random=False))
def test_parts_merge_to_the_whole(sample, random):
    data, call = sample
    n = len(data["ref"])
    whole, where = part(data, range(n), call), [random.randrange(3) for _ in range(n)]
    parts = [part(data, [k for k in range(n) if where[k] == j], call) for j in range(3)]
    for several in (parts, parts[::-1]):
        assert wmcc.merge(several) == whole == several[0] + (several[1] + several[2])
        assert wmcc.merge(several).drawn == whole.drawn
    if "pred" not in call:
        accumulator = wmcc.Accumulator(ignore=call.get("ignore"))
        for own in parts:
            accumulator.update(own)
        assert (accumulator.tables if "by" in call else accumulator.table) == whole


def test_parts_know_the_sizes_of_their_own_strata():
    """Sizes that stand in a column are known where rows are."""
    frame = pl.from_arrow(ROWS)
    for by, call in (
        ("age", {"stratum": "zone", "weight": "w", "poststratum": "age", "totals": "aged"}),
        ("stratum", {"stratum": "stratum", "population": "size"}),
        ("stratum", {"stratum": "stratum", "cluster": "psu", "fpc": "psus", "weight": "w"}),
        ("stratum", {"stratum": "stratum", "cluster": "psu", "fpc": "psus", "population": SIZES}),
    ):
        parts = [
            flat.tabulate_part(own, true="ref", pred="map", **call)
            for own in frame.partition_by(by, maintain_order=False)
        ]
        whole = of_frame(frame, **call)
        for several in (parts, parts[::-1]):
            assert_same(wmcc.merge(several), whole)


@given(samples())
def test_stored_and_copied(sample):
    data, call = sample
    table = part(data, range(len(data["ref"])), call)
    again = type(table).from_json(table.to_json())
    assert again == table
    assert again.drawn == table.drawn
    assert list(map(type, again.drawn.units)) == list(map(type, table.drawn.units))
    assert again.to_json() == table.to_json()
    copy = pickle.loads(pickle.dumps(table))
    assert copy == table
    assert copy.drawn == table.drawn
    assert repr(again) == repr(table)


@given(samples())
def test_groups_and_predictions_keep_the_design(sample):
    data, call = sample
    table = part(data, range(len(data["ref"])), call)
    alone = part(data, range(len(data["ref"])), {name: x for name, x in call.items() if name not in ("by", "pred")})
    whole = table.total() if "by" in call else table
    if "pred" in call:
        assert all(own.drawn == whole.drawn for own in (*whole.tables.values(), whole.pair("two", "one")))
        whole = whole["one"]
    assert whole.drawn == alone.drawn
    assert whole.raw_cells == alone.raw_cells or "pred" in call
    for key in table if "by" in call else ():
        assert table[key].drawn == alone.drawn.as_domain()
        assert table.select([key]).total().drawn == alone.drawn.as_domain()
        assert table.select([key]).total().raw_cells == table[key].raw_cells or table[key].labels != table.labels


def test_views_of_a_table_keep_the_design():
    table = of_arrays(**CASES["finite"])
    for other in (table.rename({"A": "forest"}), table.against_rest("A"), table._aligned((*table.labels, "Z"))):
        assert other.drawn == table.drawn
        assert other.total == table.total
    assert table._take([0, 1]).drawn == table.drawn.as_domain()
    tables = of_arrays(**CASES["domains"])
    assert tables.rename({"A": "forest"}).drawn == tables.drawn
    assert tables.total() == of_arrays(**CASES["sizes"])
    assert np.array_equal(sum(table.n for table in tables.values()), tables.total().n)
    assert tables.select(["north", "south"]).total().drawn.design.domain
    assert (tables.weights.sum(), tables["north"].total) == (100_000, tables.weights[0])
    assert (tables + tables).total() == tables.total() + tables.total()


def test_what_cannot_be_merged():
    tables, table = of_arrays(**CASES["domains"]), of_arrays(**CASES["sizes"])
    few = {"y_true": ["A"], "y_pred": ["A"], "stratum": ["A"]}
    small = flat.tabulate(fpc={"A": 1}, **few)
    for a, b, said in (
        (tables["north"], tables["south"], "keeps the design of the whole sample; such tables cannot be merged"),
        (tables["north"], table, "keeps the design of the whole sample; such tables cannot be merged"),
        (table, wmcc.tabulate(["A"], ["A"]), "drawn in strata, those of another independent rows"),
        (table, flat.tabulate(**few), "different `population`"),
        (
            table,
            flat.tabulate(population={"A": 7}, **few),
            "stratum 'A' has size 40000.0 in one table and 7.0 in another",
        ),
        (
            table,
            flat.tabulate(population={"A": 40_000}, lonely="adjust", **few),
            "different `lonely`",
        ),
        (table, flat.tabulate(**few, cluster=[1]), "different `cluster`"),
        (
            flat.tabulate(**few),
            wmcc.tabulate(["A"], ["A"], design=wmcc.Strata([1])),
            "the strata are text in one and numbers in another",
        ),
        (
            flat.tabulate(**few),
            wmcc.tabulate(["A"], ["A"], design=wmcc.Strata({"a": ["A"], "b": [1]})),
            "have 1 value in one and 2 in another",
        ),
        (
            flat.tabulate(**few),
            flat.tabulate(poststratum=["a"], totals={"a": 1}, **few),
            "`wmcc.PostStrata`, another without",
        ),
        (flat.tabulate(**few), flat.tabulate(fpc={"A": 3}, **few), "with `fpc`, another without"),
        (table, wmcc.tabulate(["A"], ["A"]), "Hint: tabulate all with `wmcc.Strata`, or none."),
        (
            wmcc.tabulate(["A"], ["A"]),
            of_arrays(**CASES["one size"]),
            "Hint: tabulate all with `wmcc.Strata`, or none.",
        ),
        (
            wmcc.tabulate(["A"], ["A"]),
            of_arrays(**CASES["post-strata"]),
            "Hint: tabulate all with `wmcc.PostStrata`, or none.",
        ),
        (table, wmcc.tabulate(["A"], ["A"], cluster=["A"]), "Hint: tabulate all with the same `design` and `cluster`."),
        (small, small, "stratum 'A' has 2 sampled rows and a size of 1; a population cannot be smaller"),
    ):
        with pytest.raises(InputError) as caught:
            _ = a + b
        assert said in str(caught.value)
    with pytest.raises(InputError, match="are drawn in strata; their groups cannot become clusters"):
        tables.as_clusters()


def test_no_rows_have_a_design():
    for call in (
        {"stratum": []},
        {"stratum": [], "cluster": [], "population": SIZES},
        {"poststratum": [], "totals": TOTALS},
    ):
        table = flat.tabulate([], [], **call)
        assert (table.rows, table.total, table.drawn.kind) == (0, 0, "strata")
        assert wmcc.Table.from_json(table.to_json()) == table
        assert "0 rows" in repr(table)
        with pytest.raises(InputError, match="no observations"):
            wmcc.score(table)
    for frame in (ROWS.slice(0, 0).to_pandas(), pl.from_arrow(ROWS.slice(0, 0)).lazy()):
        for case in CASES:
            assert len(of_frame(frame, **CASES[case]).raw_cells) == 0
    empty = wmcc.tabulate([], [], design=wmcc.Strata([], population=SIZES))
    assert empty + of_arrays(**CASES["sizes"]) == of_arrays(**CASES["sizes"])
    assert wmcc.Table.empty() + of_arrays(**CASES["sizes"]) == of_arrays(**CASES["sizes"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"units": ["A", "B", "C", "E"]}, "a key in 'units' is not one of its stratum"),
        ({"units": ["B", "A", "C", "D"]}, "'units' must be sorted"),
        ({"rows": [10, 10, 10, 9]}, "a unit has more rows in 'cells' than in 'rows'"),
        ({"rows": [10, 10, 10]}, "'rows' must be a number of rows for each of 'units'"),
        ({"rows": [10, 10, 10, -1]}, "'rows' must be a number of rows"),
        ({"of": [0, 1, 2, 9]}, "'of' must be a place in 'strata'"),
        ({"nested": True}, "a key in 'units' is not one of its stratum"),
        ({"nested": 1}, "must be true or false"),
        ({"lonely": "no"}, "must be true or false"),
        ({"population": [1, 2, 3]}, "must have a size for each of 'strata'"),
        ({"population": [1, 2, 3, None]}, "must be finite numbers of at least 0"),
        ({"population": None}, "'weighting' needs 'population'"),
        ({"fpc": [1, 2, 3, 4]}, "a population cannot be smaller than its sample"),
        ({"poststrata": {"keys": ["a"], "totals": [1.0], "weights": ["1/0"]}}, "'1/0' is not an exact sum"),
        ({"poststrata": {"keys": ["a"], "totals": [], "weights": []}}, "a total and a weight for each"),
    ],
)
def test_stored_designs_that_cannot_be(change, said):
    data = of_arrays(**CASES["finite"]).to_dict()
    data["design"] |= change
    with pytest.raises(SchemaError) as caught:
        wmcc.Table.from_dict(json.loads(json.dumps(data)))
    assert said in str(caught.value)


# ---- a sample that comes in parts -----------------------------------------------------------------------------


def test_an_accumulator_holds_a_design():
    strata = wmcc.Strata(population=SIZES, fpc=True, lonely="average")
    rows, call = ROWS.to_pandas(), {"true": "ref", "pred": "map", "design": strata.of("stratum")}
    day = wmcc.Accumulator()
    for start in range(0, 35, 7):
        day.update(rows[start : start + 7], **call)
    assert "35 rows in 4 strata" in repr(day)
    assert "total weight" in repr(day)
    day.update(rows[35:], **call)
    assert day.table == of_arrays(**CASES["finite"] | {"population": SIZES, "lonely": "average"})
    day.reset()
    day.update("A", "B", design=strata.of("A"))
    said = r"3 strata have a size but no sampled row: 'B' \(size 30,000\), 'C' \(size 20,000\), 'D' \(size 10,000\)"
    assert "1 row in 4 strata; 3 strata have" in repr(day) == repr(pickle.loads(pickle.dumps(day)))
    assert wmcc.Table.from_json(day.table.to_json()) == day.table
    for read in (wmcc.score, wmcc.accuracy, lambda day: day.table.w, lambda day: day.table.to_frame()):
        with pytest.raises(InputError, match=said) as caught:
            read(day)
        assert "if parts of the sample are still to come, add them first" in str(caught.value)
    grouped, call["design"] = wmcc.Accumulator(), wmcc.Strata("stratum", population="size")
    for start in range(0, 40, 13):
        grouped.update(rows[start : start + 13], **call, by="half")
    assert grouped.tables == of_arrays(**CASES["domains"]) == of_frame(rows, **CASES["domains"])
    posts = wmcc.Accumulator()
    for start in range(0, 40, 13):
        own = rows[start : start + 13]
        posts.update(own["ref"], own["map"], design=wmcc.PostStrata(own["age"], TOTALS))
    assert posts.table == of_arrays(**CASES["post-strata"])


def test_a_window_slides_over_a_design():
    rows = ROWS.to_pandas().sample(frac=1, random_state=7)
    window, strata = wmcc.Accumulator(window=2), wmcc.Strata(population=SIZES)
    for start in range(0, 40, 10):
        own = rows[start : start + 10]
        window.update(own["ref"], own["map"], design=strata.of(own["stratum"]))
    last = rows[20:]
    assert window.table == wmcc.tabulate(
        last["ref"], last["map"], design=wmcc.Strata(last["stratum"], population=SIZES)
    )


def test_what_an_accumulator_of_a_design_refuses():
    fading = wmcc.Accumulator(half_life=3)
    for wrong in (
        lambda: fading.update("A", "A", design=wmcc.Strata("A")),
        lambda: fading.update(of_arrays(**CASES["weights"])),
    ):
        with pytest.raises(InputTypeError, match="`half_life` lets weights fade, and the weights of a design cannot"):
            wrong()
    assert fading.table.rows == 0
    with pytest.raises(InputTypeError, match=r"has no keyword 'populations'[\s\S]*update\(…, design=wmcc.Strata"):
        wmcc.Accumulator(populations=SIZES)
    with pytest.raises(InputTypeError, match=r"has no keyword 'strata'[\s\S]*update\(…, design=wmcc.Strata"):
        wmcc.Accumulator().update("A", "A", strata="A")
    survey, strata = wmcc.Accumulator(), wmcc.Strata(population=SIZES)
    survey.update("A", "A", design=strata.of("A"))
    with pytest.raises(InputTypeError, match="`population` has a size for each stratum, and there is no `stratum`"):
        survey.update("A", "A", design=strata)
    with pytest.raises(InputError, match="`population` has no size for 'Z'"):
        survey.update("A", "A", design=strata.of("Z"))
    assert survey.table.drawn.rows == (1,)

"""Frames of every engine: the same table from each, the same refusals, and only cells travel."""

from __future__ import annotations

import math
from decimal import Decimal

import flat
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from engines import ALL, ENGINE_WARNINGS, ENGINES, FAST, IN_MEMORY, LAZY, PYSPARK, SPARK, same
from hypothesis import given, settings
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, InputTypeError, LabelError, TooManyClassesError, WeightError

pytestmark = [pytest.mark.slow, ENGINE_WARNINGS]


# ---- any frame --------------------------------------------------------------------------------------

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()]
TEXT = ["oak", "elm", "", "it's", 'a "b"', "x;y--", "日本", "NA", "null", "SELECT * FROM t"]


@st.composite
def label_columns(draw, rows: int):
    """Two columns of labels of one kind, as Arrow arrays, and the labels as Python has them."""
    kind = draw(st.sampled_from(["integer", "text", "category", "boolean", "whole float", "decimal"]))
    if kind in ("text", "category"):
        values = draw(st.lists(st.sampled_from(TEXT), min_size=1, max_size=4, unique=True))
    elif kind == "boolean":
        values = [False, True]
    else:
        values = draw(st.lists(st.integers(0, 100), min_size=1, max_size=4, unique=True))
    skewed = draw(st.booleans())  # nearly all rows in one cell
    pick = st.integers(0, 60).map(lambda k: values[k % len(values) if k > 55 or not skewed else 0])
    columns = [draw(st.lists(pick, min_size=rows, max_size=rows)) for _ in range(2)]
    if kind == "integer":
        types = [draw(st.sampled_from(INTEGERS)) for _ in range(2)]
    elif kind == "category":
        types = [pa.dictionary(pa.int32(), pa.string())] * 2
    else:
        types = [
            {"text": pa.string(), "boolean": pa.bool_(), "whole float": pa.float32(), "decimal": pa.decimal128(9, 2)}[
                kind
            ]
        ] * 2
    return [_array(column, kind) for column, kind in zip(columns, types, strict=True)], columns


def _array(column, kind):
    if pa.types.is_dictionary(kind):
        return pa.array(column, pa.string()).dictionary_encode()
    return pa.array([Decimal(x) for x in column] if pa.types.is_decimal(kind) else column, kind)


@st.composite
def weight_columns(draw, rows: int):
    kind = draw(
        st.sampled_from(
            [
                None,
                pa.float64(),
                pa.float32(),
                pa.int8(),
                pa.int32(),
                pa.int64(),
                pa.uint8(),
                pa.decimal128(12, 2),
                pa.bool_(),
            ]
        )
    )
    if kind is None:
        return None, None
    if kind == pa.float64():
        value = st.floats(1e-60, 1e60) | st.just(0.0)
    elif kind == pa.float32():
        value = st.floats(0, 1e9, width=32, allow_subnormal=False)
    elif kind == pa.bool_():
        value = st.booleans()
    elif pa.types.is_decimal(kind):
        value = st.integers(0, 10**6).map(lambda k: Decimal(k) / 100)
    else:  # sums that wrap in the column's own type
        value = st.integers(0, 127 if kind in (pa.int8(), pa.uint8()) else 2**31 - 1)
    column = draw(st.lists(value, min_size=rows, max_size=rows))
    return pa.array(column, kind), [float(x) for x in column]


@st.composite
def frames(draw):
    """An Arrow table, the columns to name, and the table to expect."""
    rows = draw(st.sampled_from([1, 2, 3, 7, 20, 40]))
    (t, p), labels = draw(label_columns(rows))
    w, weights = draw(weight_columns(rows))
    groups = draw(st.lists(st.sampled_from(["n", "s", None]), min_size=rows, max_size=rows))
    table = pa.table({"t": t, "p": p, **({} if w is None else {"w": w}), "g": pa.array(groups, pa.string())})
    ignore = draw(st.none() | st.sampled_from(labels[0]))
    return table, labels, weights, groups, ignore


def check_frame(engines, frame) -> None:
    table, (t, p), w, groups, ignore = frame
    named = {"true": "t", "pred": "p", "weight": None if w is None else "w"}
    expected = wmcc.tabulate(t, p, w, ignore=ignore)
    by = {}
    for group in sorted(set(groups), key=lambda x: (x is None, x)):
        rows = [i for i, x in enumerate(groups) if x == group]
        by[group] = wmcc.tabulate(*([x[i] for i in rows] for x in (t, p)), w and [w[i] for i in rows], ignore=ignore)
    for name, make in engines.items():
        exact = name in IN_MEMORY
        native = make(table)
        same(flat.tabulate(native, **named, ignore=ignore), expected, exact)
        found = flat.tabulate(native, **named, ignore=ignore, by="g")
        assert list(found) == list(by)
        for group, want in by.items():
            same(found[group], want, exact)


@settings(max_examples=15)
@given(frames())
def test_every_engine_gives_the_same_table(frame):
    check_frame(FAST, frame)


@pytest.mark.spark
@settings(max_examples=6)
@given(frames())
def test_spark_gives_the_same_table(frame):
    check_frame(SPARK, frame)


# ---- what is refused --------------------------------------------------------------------------------


@st.composite
def bad_frames(draw):
    rows = draw(st.integers(1, 30))
    label = st.sampled_from(["a", "b", "c"])
    t, p = (draw(st.lists(label | st.none(), min_size=rows, max_size=rows)) for _ in range(2))
    weight = st.sampled_from([1.0, 0.0, 2.5]) | st.sampled_from([None, math.nan, -1.0, math.inf, -math.inf])
    w = draw(st.lists(weight, min_size=rows, max_size=rows))
    return pa.table({"t": pa.array(t, pa.string()), "p": pa.array(p, pa.string()), "w": pa.array(w, pa.float64())})


def counts(table, ignore):
    """How many rows have no label on either side, and how many others a bad weight."""
    rows = list(zip(*(table[name].to_pylist() for name in "tpw"), strict=True))
    good = [x for x in rows if None not in x[:2]]
    bad = [x for x in good if x[0] != ignore and not (x[2] is not None and 0 <= x[2] < math.inf)]
    return sum(x[0] is None for x in rows), sum(x[1] is None for x in rows), len(bad)


def check_bad(engines, table, ignore) -> None:
    no_true, no_pred, bad = counts(table, ignore)
    for make in engines.values():
        if not no_true + no_pred + bad:
            wmcc.tabulate(make(table), true="t", pred="p", weight="w", ignore=ignore)
            continue
        with pytest.raises(LabelError if no_true + no_pred else WeightError) as caught:
            wmcc.tabulate(make(table), true="t", pred="p", weight="w", ignore=ignore)
        said = str(caught.value)
        for count, what in ((no_true, "no label in 't'"), (no_pred, "no label in 'p'"), (bad, "a weight in 'w'")):
            part = f"{count:,} of {len(table):,} rows {'has' if count == 1 else 'have'} {what}"
            assert (part in said) if count else (what not in said)


@settings(max_examples=15)
@given(bad_frames(), st.sampled_from([None, "c"]))
def test_bad_rows_are_counted_and_refused(table, ignore):
    check_bad(FAST, table, ignore)


@pytest.mark.spark
@settings(max_examples=4)
@given(bad_frames(), st.sampled_from([None, "c"]))
def test_spark_counts_and_refuses_bad_rows(table, ignore):
    check_bad(SPARK, table, ignore)


def test_the_first_bad_row_of_a_frame_in_memory_is_named():
    frame = pl.DataFrame({"label": [0, 1, 0], "pred": [0, 1, 1], "g": [1, 1, 2], "ha": [1.0, 2.0, -0.5]})
    for by in (None, "g"):
        with pytest.raises(WeightError, match=r"1 of 3 rows has a weight in 'ha'.*The first: ha\[2\] is -0.5"):
            wmcc.tabulate(frame, true="label", pred="pred", weight="ha", by=by)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_wrong_with_columns(engine):
    table = pa.table({"label": ["a"], "pred": ["a"], "ha": [1.0], "text": ["1.5"], "day": pa.array([0], pa.date32())})
    frame = ALL[engine](table)
    with pytest.raises(InputError, match=r"no column 'lable'; the columns are 'label', 'pred'[\s\S]*mean 'label'"):
        wmcc.tabulate(frame, true="lable", pred="pred")
    with pytest.raises(InputTypeError, match=r"column 'text' holds .*; a weight must be a real number"):
        wmcc.tabulate(frame, true="label", pred="pred", weight="text")
    with pytest.raises(InputTypeError, match=r"column 'day' holds .*; labels must be|day.0. is .*a label must be"):
        wmcc.tabulate(frame, true="label", pred="day")
    with pytest.raises(LabelError, match="not among `labels`"):
        wmcc.tabulate(frame, true="label", pred="pred", labels=["b", "c"])
    with pytest.raises(InputTypeError, match="mixed types"):
        wmcc.tabulate(frame, true="label", pred="pred", ignore=[255])


@pytest.mark.parametrize("engine", ENGINES)
def test_no_rows_make_an_empty_table(engine):
    nothing = ALL[engine](pa.table({"t": ["a"], "p": ["a"], "w": [1.0], "g": [1], "c": ["x"]}).slice(0, 0))
    call = {"true": "t", "pred": "p", "weight": "w"}
    assert flat.tabulate(nothing, **call) == wmcc.Table.empty()
    assert flat.tabulate(nothing, **call, labels=["a", "b"]) == wmcc.Table.empty(["a", "b"])
    clustered = flat.tabulate(nothing, **call, cluster="c")
    assert (clustered.drawn.kind, clustered.rows) == ("clusters", 0)
    assert len(flat.tabulate(nothing, **call, by="g", cluster="c")) == 0
    joint = wmcc.tabulate(nothing, true="t", pred={"a": "p", "b": "p"})
    assert joint == wmcc.JointTable.empty(["a", "b"])


@pytest.mark.parametrize("engine", ENGINES)
def test_odd_names_and_labels(engine):
    odd = [
        "select",
        'quote " quote',
        "it's",
        "a.b",
        "`tick`",
        "semi;colon--",
        "ünïcode 日本",
        "new\nline",
        "%s {0} \\ /",
    ]
    for k, name in enumerate(odd):
        other, weight, group = (odd[(k + i) % len(odd)] for i in (1, 2, 3))
        table = pa.table({name: odd, other: odd[:3] + odd[2:-1], weight: range(9), group: ["x'x"] * 9})
        if engine == "pyspark" and k not in (0, 3, 7):  # each takes seconds there
            continue
        expected = wmcc.tabulate(odd, odd[:3] + odd[2:-1], list(range(9)))
        found = wmcc.tabulate(ALL[engine](table), true=name, pred=other, weight=weight, by=group)
        assert list(found) == ["x'x"]
        same(found["x'x"], expected, exact=True)  # whole numbers


# ---- what is void, and what is missing --------------------------------------------------------------

VOID = {
    "integer": (pa.int64(), [0, 1, 255]),
    "text": (pa.string(), ["elm", "oak", "void"]),
    "category": (pa.dictionary(pa.int32(), pa.string()), ["elm", "oak", "void"]),
    "whole float": (pa.float64(), [0.0, 1.0, 255.0]),
}


@pytest.mark.parametrize("kind", VOID)
@pytest.mark.parametrize("engine", ENGINES)
def test_void_answers_and_missing_labels(engine, kind):
    """One rule for all engines: only the truth is ignored, and what is missing is left out if the caller says so."""
    dtype, (a, b, void) = VOID[kind]
    t = [a, a, b, b, void, None, b, void]
    p = [a, void, b, a, void, a, None, a]
    q = [a, a, void, b, b, b, b, None]
    w = [1.0, 2.0, 4.0, 8.0, -1.0, math.nan, math.inf, -1.0]
    columns = {name: _array(x, dtype) for name, x in (("t", t), ("p", p), ("q", q))}
    table = pa.table({**columns, "w": w, "g": [1, 1, 2, 2, 1, 2, 2, 2], "c": list("xyxyxyxy")})
    plain = [[None if x is None else x if isinstance(x, str) else int(x) for x in column] for column in (t, p, q)]
    frame, exact, rules = ALL[engine](table), engine in IN_MEMORY, {"ignore": plain[0][4], "missing": "ignore"}
    call = {"true": "t", "pred": "p", "weight": "w"}
    expected = flat.tabulate(*plain[:2], w, **rules)
    assert (expected.void, expected.ignored, expected.rows) == ((plain[0][4],), 4, 4)
    same(flat.tabulate(frame, **call, **rules), expected, exact)
    same(flat.tabulate(frame, **call, **rules, labels=plain[0][2:0:-1]), expected._aligned(
        (*plain[0][2:0:-1], plain[0][4])), exact)  # fmt: skip
    found = flat.tabulate(frame, **call, **rules, by="g", cluster="c")
    wanted = flat.tabulate(*plain[:2], w, **rules, by=table["g"].to_pylist(), cluster=table["c"].to_pylist())
    assert (found.groups, found.void, found.ignored.tolist()) == ((1, 2), wanted.void, wanted.ignored.tolist())
    for key in wanted:
        same(found[key], wanted[key], exact)
        assert found[key].drawn == wanted[key].drawn
    joint = flat.tabulate(frame, true="t", pred={"A": "p", "B": "q"}, weight="w", **rules)
    both = flat.tabulate(plain[0], {"A": plain[1], "B": plain[2]}, w, **rules)
    assert (joint.labels, joint.void, joint.ignored) == (both.labels, both.void, both.ignored)
    assert np.array_equal(joint.cells.codes.T, both.cells.codes.T)
    with pytest.raises(LabelError, match=r"1 of 8 rows has no label in 't'[\s\S]*`missing` 'ignore'"):
        flat.tabulate(frame, **call, ignore=plain[0][4])
    with pytest.raises(LabelError, match=r"255|void"):
        wmcc.tabulate(frame, true="t", pred="p", missing="ignore", labels=plain[0][1:3])
    if exact:  # what comes first is said, and not what else is wrong
        with pytest.raises(LabelError, match=r"255|void"):
            flat.tabulate(frame, **call, missing="ignore", labels=plain[0][1:3])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_void_label_of_ignored_rows_only_does_not_appear(engine):
    frame = ALL[engine](pa.table({"t": [0, 1, 9], "p": [0, 0, 9], "q": [0, 1, 7]}))
    assert wmcc.tabulate(frame, true="t", pred="p", ignore=9).labels == (0, 1)
    assert wmcc.tabulate(frame, true="t", pred="q", ignore=[9, 7]).labels == (0, 1)
    names = wmcc.tabulate(frame, true="t", pred="p", ignore=9, names={0: "elm", 1: "oak"})
    assert (names.labels, names.ignored) == (("elm", "oak"), 1)


# ---- what travels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [*LAZY, PYSPARK])
def test_only_cells_travel_and_only_once(engine, monkeypatch):
    table = pa.table(
        {"t": [i % 3 for i in range(900)], "p": [i % 2 for i in range(900)], "w": [0.5] * 900, "g": [0, 1] * 450}
    )
    frame = ALL[engine](table)
    collected, collect = [], nw.LazyFrame.collect

    def counting(self, *args, **options):
        result = collect(self, *args, **options)
        collected.append(len(result))
        return result

    monkeypatch.setattr(nw.LazyFrame, "collect", counting)
    for forbidden in ("to_pandas", "to_arrow", "to_numpy", "rows", "iter_rows"):
        original = getattr(nw.DataFrame, forbidden)
        monkeypatch.setattr(
            nw.DataFrame,
            forbidden,
            lambda self, *a, f=original, **k: f(self, *a, **k) if len(self) < 20 else pytest.fail("rows travel"),
        )
    assert wmcc.tabulate(frame, true="t", pred="p", weight="w").total == 450.0
    assert collected == [6]
    wmcc.tabulate(frame, true="t", pred="p", weight="w", by="g")
    assert collected == [6, 6]  # parity ties the group to the prediction


def test_the_query_is_one_scan_of_the_needed_columns():
    frame = pl.LazyFrame({"t": [0, 1], "p": [0, 1], "w": [1.0, 2.0], "other": ["x", "y"]})
    plans, collect = [], pl.LazyFrame.collect

    def explaining(self, *args, **options):
        plans.append(self.explain())
        return collect(self, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pl.LazyFrame, "collect", explaining)
        wmcc.tabulate(frame, true="t", pred="p", weight="w")
    assert len(plans) == 1
    assert plans[0].count("DF [") == 1
    assert "3/4 COLUMNS" in plans[0].upper()


# ---- other ways to call ------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_expressions(engine):
    table = pa.table({"t": [0, 1, 1], "prob": [0.2, 0.9, 0.4], "m2": [10.0, 20.0, 30.0]})
    expected = wmcc.tabulate([False, True, True], [False, True, False], [1.0, 2.0, 3.0])
    found = wmcc.tabulate(
        ALL[engine](table), true=nw.col("t") == 1, pred=nw.col("prob") > 0.5, weight=nw.col("m2") / 10
    )
    same(found, expected, exact=False)


def test_expressions_of_the_engine():
    import duckdb
    import ibis
    from engines import has_java

    table = pa.table({"t": [0, 1, 1], "p": [0, 1, 0], "m2": [10.0, 20.0, 30.0]})
    expected = wmcc.tabulate([0, 1, 1], [0, 1, 0], [1.0, 2.0, 3.0])
    relation = duckdb.from_arrow(table)
    frames = [
        (pl.from_arrow(table), pl.col("m2") / 10),
        (pl.from_arrow(table).lazy(), pl.col("m2") / 10),
        (relation, duckdb.ColumnExpression("m2") / duckdb.ConstantExpression(10)),
        (ibis.memtable(table), ibis._.m2 / 10),
    ]
    if has_java():
        from pyspark.sql import functions

        frames.append((ALL["pyspark"](table), functions.col("m2") / 10))
    for frame, weight in frames:
        same(wmcc.tabulate(frame, true="t", pred="p", weight=weight), expected, exact=False)
    with pytest.raises(InputTypeError, match="cannot be used as a column"):
        wmcc.tabulate(table.to_pandas(), true="t", pred="p", weight=3.5)


def test_several_columns_to_group_by():
    frame = pl.DataFrame({"t": [0, 1, 1, 0], "p": [0, 1, 0, 0], "a": [2, 1, 1, 2], "b": ["x", "y", "x", "x"]})
    for data in (frame, frame.lazy()):
        tables = wmcc.tabulate(data, true="t", pred="p", by=["a", "b"])
        assert list(tables) == [(1, "x"), (1, "y"), (2, "x")]
        assert tables[2, "x"].n.tolist() == [[2]]


def test_calls_that_make_no_sense():
    frame = pl.DataFrame({"t": [0, 1], "p": [0, 1], "w": [1.0, 2.0]})
    named = {"true": "t", "pred": "p"}
    for call, said in (
        (lambda: wmcc.tabulate([0, 1], [0, 1], by="t"), "a column name works only with a frame"),
        (
            lambda: wmcc.tabulate([0, 1], [0, 1], engine="polars"),
            r"no keyword 'engine'[\s\S]*wmcc\.Files\(…, engine=…\)",
        ),
        (lambda: wmcc.tabulate([0, 1], [0, 1], weight=[1, 1]), r"`weight` is for a frame[\s\S]*`sample_weight`"),
        (lambda: wmcc.tabulate([0, 1], [0, 1], unmatched="ignore"), r"wmcc\.Join\(…, unmatched=…\)"),
        (lambda: flat.tabulate(3.5, **named), "`true` and `pred` name columns of a frame or a file"),
        (lambda: wmcc.tabulate(frame, "t"), r"by keyword[\s\S]*tabulate\(data, true='t', pred=…\)"),
        (lambda: wmcc.tabulate(frame, "t", "p"), r"by keyword[\s\S]*tabulate\(data, true='t', pred='p'\)"),
        (lambda: wmcc.tabulate(frame, "t", "p", "w"), r"data, true='t', pred='p', weight='w'\)"),
        (lambda: wmcc.tabulate(frame.to_pandas(), "t", "p", weight="w"), r"data, true='t', pred='p', weight='w'\)"),
        (lambda: wmcc.tabulate("a.csv", "t", "p", "w"), r"data, true='t', pred='p', weight='w'\)"),
        (lambda: flat.tabulate(frame, **named, sample_weight="w"), r"is for arrays[\s\S]*`weight`"),
        (lambda: wmcc.tabulate(frame, true="t"), "`pred` is missing: the column of the predicted labels"),
        (lambda: wmcc.tabulate(frame, pred="t"), "`true` is missing: the column of the true labels"),
        (lambda: wmcc.tabulate(frame, frame, on="t", **named), r"wmcc\.Join\(…\)"),
        (lambda: wmcc.tabulate(frame), r"by keyword[\s\S]*tabulate\(data, true=…, pred=…\)"),
        (lambda: wmcc.tabulate([0, 1]), "got a list alone"),
        (lambda: wmcc.tabulate(), "got nothing alone"),
        (lambda: wmcc.tabulate(frame, true="t", pred=["p", "t"]), "mapping from names"),
        (lambda: wmcc.tabulate([0, 1], [0, 1], [1, 1], [1, 1]), "4 arguments are given by position"),
        (lambda: wmcc.Files(frame, engine="duckdb"), r"is of type DataFrame[\s\S]*given to `wmcc.tabulate` as it is"),
        (lambda: wmcc.Join(frame, frame, None), "`on` is None; expected the column"),
        (lambda: flat.tabulate(frame, **named, wieght="w"), r"no keyword 'wieght'[\s\S]*did you mean `weight`"),
        (lambda: wmcc.tabulate([0], [0], sample_weights=[1]), r"did you mean `sample_weight`"),
        (lambda: wmcc.tabulate([0], [0], zzz=[1]), r"no keyword 'zzz'[\s\S]*its keywords are y_true"),
        (lambda: flat.tabulate(data=frame, **named), "without a keyword: tabulate"),
        (lambda: wmcc.tabulate(frame, true="t", pred={"a": "p"}, positive=1), "`positive` works with one prediction"),
    ):
        with pytest.raises(InputTypeError, match=said):
            call()
    for several in ([[0, 1], [1, 1]], [np.zeros(2), np.ones(2)]):
        with pytest.raises(InputError, match=r"same shape[\s\S]*if these are several predictions, give a mapping"):
            wmcc.tabulate([0, 1], several, [1, 1])
    with pytest.raises(InputError, match="`unmatched` is 'maybe'; expected 'error' or 'ignore'"):
        wmcc.Join(frame, frame, "t", unmatched="maybe")
    with pytest.raises(InputError, match=r"missing.? is 'drop'; expected one of 'error', 'ignore', 'wrong' or 'keep'"):
        flat.tabulate(frame, **named, missing="drop")


@pytest.mark.parametrize("engine", [*IN_MEMORY, "dask"])
def test_series_of_the_same_frame_are_columns(engine):
    frame = ALL[engine](pa.table({"t": [0, 1, 1], "p": [0, 1, 0], "m2": [10.0, 20.0, 30.0]}))
    expected = wmcc.tabulate([0, 1, 1], [0, 1, 0], [10.0, 20.0, 30.0])
    same(wmcc.tabulate(frame, true="t", pred="p", weight=frame["m2"]), expected, engine != "dask")
    same(wmcc.tabulate(frame, true=frame["t"], pred=frame["p"], weight="m2"), expected, engine != "dask")
    if engine != "dask":
        with pytest.raises(InputError, match="the series has 2 rows, but the frame has 3"):
            wmcc.tabulate(frame, true="t", pred="p", weight=frame["m2"][:2])


def test_series_of_another_frame_are_refused():
    frame = pd.DataFrame({"t": [0, 1, 1], "p": [0, 1, 0], "m2": [10.0, 20.0, 30.0]}, index=[3, 3, 4])
    computed = wmcc.tabulate(frame, true="t", pred="p", weight=frame["m2"] / 10)  # as in gdf.area
    assert computed == wmcc.tabulate([0, 1, 1], [0, 1, 0], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="index of a series differs from that of the frame"):
        wmcc.tabulate(frame, true="t", pred="p", weight=frame["m2"].reset_index(drop=True))
    with pytest.raises(InputTypeError, match="a series cannot be used with a lazy frame"):
        wmcc.tabulate(pl.from_pandas(frame).lazy(), true="t", pred="p", weight=pl.Series([1.0, 2.0, 3.0]))
    with pytest.raises(InputTypeError, match="cannot be used as a column"):
        wmcc.tabulate(frame, true="t", pred="p", weight=np.array([1.0, 2.0, 3.0]))


def test_too_many_groups_are_refused(monkeypatch):
    from wmcc.sources import pushdown

    monkeypatch.setattr(pushdown, "MOST_CELLS", 10)
    frame = pl.LazyFrame({"t": range(20), "p": range(20)})
    with pytest.raises(TooManyClassesError, match="more than 10 different combinations"):
        wmcc.tabulate(frame, true="t", pred="p")

"""Frames of every engine: the same table from each, the same refusals, and only cells travel."""

from __future__ import annotations

import math
from decimal import Decimal

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from engines import ALL, FAST, IN_MEMORY, LAZY, SPARK
from hypothesis import given, settings
from hypothesis import strategies as st

import wmcc

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)


def same(found: wmcc.Table, expected: wmcc.Table, exact: bool) -> None:
    """The same table; sums of engines that round are within what n roundings can do."""
    if exact:
        assert found == expected
        return
    assert found.labels == expected.labels
    assert [type(x) for x in found.labels] == [type(x) for x in expected.labels]
    assert (found.ignored, found.positive) == (expected.ignored, expected.positive)
    assert np.array_equal(found.n, expected.n)
    for name in ("w_min", "w_max"):  # engines may be one unit off where they make a float of a decimal
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=2.0**-52)
    near = (expected.n + 1) * 2.0**-52
    assert (np.abs(found.w - expected.w) <= near * expected.w).all()
    assert (np.abs(found.w2 - expected.w2) <= 2 * near * expected.w2).all()


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
    names = ["t", "p"] + (["w"] if w is not None else [])
    expected = wmcc.tabulate(t, p, w, ignore=ignore)
    by = {}
    for group in sorted(set(groups), key=lambda x: (x is None, x)):
        rows = [i for i, x in enumerate(groups) if x == group]
        by[group] = wmcc.tabulate(*([x[i] for i in rows] for x in (t, p)), w and [w[i] for i in rows], ignore=ignore)
    for name, make in engines.items():
        exact = name in IN_MEMORY
        native = make(table)
        same(wmcc.tabulate(native, *names, ignore=ignore), expected, exact)
        found = wmcc.tabulate(native, *names, ignore=ignore, by="g")
        assert list(found) == list(by)
        for group, want in by.items():
            same(found[group], want, exact)


@settings(max_examples=15)
@given(frames())
def test_every_engine_gives_the_same_table(frame):
    check_frame(FAST, frame)


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
    bad = [x for x in good if ignore not in x[:2] and not (x[2] is not None and 0 <= x[2] < math.inf)]
    return sum(x[0] is None for x in rows), sum(x[1] is None for x in rows), len(bad)


def check_bad(engines, table, ignore) -> None:
    no_true, no_pred, bad = counts(table, ignore)
    for make in engines.values():
        if not no_true + no_pred + bad:
            wmcc.tabulate(make(table), "t", "p", "w", ignore=ignore)
            continue
        with pytest.raises(wmcc.LabelError if no_true + no_pred else wmcc.WeightError) as caught:
            wmcc.tabulate(make(table), "t", "p", "w", ignore=ignore)
        said = str(caught.value)
        for count, what in ((no_true, "no label in 't'"), (no_pred, "no label in 'p'"), (bad, "a weight in 'w'")):
            part = f"{count:,} of {len(table):,} rows {'has' if count == 1 else 'have'} {what}"
            assert (part in said) if count else (what not in said)


@settings(max_examples=15)
@given(bad_frames(), st.sampled_from([None, "c"]))
def test_bad_rows_are_counted_and_refused(table, ignore):
    check_bad(FAST, table, ignore)


@settings(max_examples=4)
@given(bad_frames(), st.sampled_from([None, "c"]))
def test_spark_counts_and_refuses_bad_rows(table, ignore):
    check_bad(SPARK, table, ignore)


def test_the_first_bad_row_of_a_frame_in_memory_is_named():
    frame = pl.DataFrame({"label": [0, 1, 0], "pred": [0, 1, 1], "g": [1, 1, 2], "ha": [1.0, 2.0, -0.5]})
    for by in (None, "g"):
        with pytest.raises(wmcc.WeightError, match=r"1 of 3 rows has a weight in 'ha'.*The first: ha\[2\] is -0.5"):
            wmcc.tabulate(frame, "label", "pred", "ha", by=by)


@pytest.mark.parametrize("engine", list(ALL))
def test_what_is_wrong_with_columns(engine):
    table = pa.table({"label": ["a"], "pred": ["a"], "ha": [1.0], "text": ["1.5"], "day": pa.array([0], pa.date32())})
    frame = ALL[engine](table)
    with pytest.raises(wmcc.InputError, match=r"no column 'lable'; the columns are 'label', 'pred'[\s\S]*mean 'label'"):
        wmcc.tabulate(frame, "lable", "pred")
    with pytest.raises(wmcc.InputTypeError, match=r"column 'text' holds .*; a weight must be a real number"):
        wmcc.tabulate(frame, "label", "pred", "text")
    with pytest.raises(wmcc.InputTypeError, match=r"column 'day' holds .*; labels must be|day.0. is .*a label must be"):
        wmcc.tabulate(frame, "label", "day")
    with pytest.raises(wmcc.LabelError, match="not among labels"):
        wmcc.tabulate(frame, "label", "pred", labels=["b", "c"])
    with pytest.raises(wmcc.InputTypeError, match="mixed types"):
        wmcc.tabulate(frame, "label", "pred", ignore=[255])
    with pytest.raises(wmcc.InputError, match="no rows"):
        wmcc.tabulate(ALL[engine](table.slice(0, 0)), "label", "pred", "ha")


@pytest.mark.parametrize("engine", list(ALL))
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
        found = wmcc.tabulate(ALL[engine](table), name, other, weight, by=group)
        assert list(found) == ["x'x"]
        same(found["x'x"], expected, exact=True)  # whole numbers


# ---- what travels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [*LAZY, *SPARK])
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
    assert wmcc.tabulate(frame, "t", "p", "w").total == 450.0
    assert collected == [6]
    wmcc.tabulate(frame, "t", "p", "w", by="g")
    assert collected == [6, 6]  # parity ties the group to the prediction


def test_the_query_is_one_scan_of_the_needed_columns():
    frame = pl.LazyFrame({"t": [0, 1], "p": [0, 1], "w": [1.0, 2.0], "other": ["x", "y"]})
    plans, collect = [], pl.LazyFrame.collect

    def explaining(self, *args, **options):
        plans.append(self.explain())
        return collect(self, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pl.LazyFrame, "collect", explaining)
        wmcc.tabulate(frame, "t", "p", "w")
    assert len(plans) == 1
    assert plans[0].count("DF [") == 1
    assert "3/4 COLUMNS" in plans[0].upper()


# ---- other ways to call ------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", list(ALL))
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
        same(wmcc.tabulate(frame, "t", "p", weight), expected, exact=False)
    with pytest.raises(wmcc.InputTypeError, match="neither a column's name nor an expression"):
        wmcc.tabulate(table.to_pandas(), "t", "p", 3.5)


def test_measures_and_scores_take_frames():
    frame = pl.DataFrame({"t": [0, 1, 1, 0], "p": [0, 1, 0, 0], "w": [1.0, 2.0, 3.0, 4.0]})
    table = wmcc.tabulate(frame, "t", "p", "w")
    assert wmcc.mcc(frame, "t", "p", "w") == wmcc.mcc(table)
    assert wmcc.mcc(frame, true="t", pred="p", weight="w") == wmcc.mcc(table)
    assert wmcc.score(frame.lazy(), "t", "p", "w").ecc == pytest.approx(wmcc.ecc(table))
    assert np.array_equal(wmcc.mcc.gradient(frame, "t", "p", "w"), wmcc.mcc.gradient(table))
    with pytest.raises(wmcc.InputTypeError, match="one table per group"):
        wmcc.score(frame, "t", "p", "w", by="t")


def test_several_columns_to_group_by():
    frame = pl.DataFrame({"t": [0, 1, 1, 0], "p": [0, 1, 0, 0], "a": [2, 1, 1, 2], "b": ["x", "y", "x", "x"]})
    for data in (frame, frame.lazy()):
        tables = wmcc.tabulate(data, "t", "p", by=["a", "b"])
        assert list(tables) == [(1, "x"), (1, "y"), (2, "x")]
        assert tables[2, "x"].n.tolist() == [[2]]


def test_calls_that_make_no_sense():
    frame = pl.DataFrame({"t": [0, 1], "p": [0, 1]})
    for call, said in (
        (lambda: wmcc.tabulate([0, 1], [0, 1], by="t"), "by= goes with a frame"),
        (lambda: wmcc.tabulate([0, 1], [0, 1], engine="polars"), "engine= goes with a frame"),
        (lambda: wmcc.tabulate(3.5, "t", "p"), "expected a data frame or a file"),
        (lambda: wmcc.tabulate(frame, "t"), "expected two columns of labels"),
        (lambda: wmcc.tabulate(frame, "t", "p", true="t", pred="p"), "a column too many"),
        (lambda: wmcc.tabulate(frame), "got only"),
        (lambda: wmcc.tabulate(frame, "t", "p", engine="duckdb"), "is for files"),
        (lambda: wmcc.tabulate(frame, "t", "p", allow_unmatched=True), "goes with on="),
        (lambda: wmcc.tabulate(frame.to_pandas(), "t", "p", frame.to_pandas()["t"]), "a Series is neither a column"),
    ):
        with pytest.raises(wmcc.InputTypeError, match=said):
            call()


def test_too_many_groups_are_refused(monkeypatch):
    from wmcc.sources import pushdown

    monkeypatch.setattr(pushdown, "MOST_CELLS", 10)
    frame = pl.LazyFrame({"t": range(20), "p": range(20)})
    with pytest.raises(wmcc.TooManyClassesError, match="more than 10 different combinations"):
        wmcc.tabulate(frame, "t", "p")

"""by= of arrays: a table per key, the same as tabulating each group, and a sentence for keys that are none."""

import enum
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from engines import ALL, ENGINES
from helpers import KERNELS, few, joint_table, rows, using
from hypothesis import given
from hypothesis import strategies as st
from samples import sample

import wmcc
from wmcc.errors import InputError, InputTypeError, LabelError, WeightError

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kernel", KERNELS)
@few(40)
@given(data=rows(), kind=st.sampled_from([int, str, bool, float]), seed=st.integers(0, 99))
def test_each_group_is_tabulated(kernel, data, kind, seed):
    t, p, w = data.arrays
    keys = np.random.default_rng(seed).integers(0, 2 if kind is bool else 4, len(t)).astype(kind)
    with using(kernel):
        found, joint = wmcc.tabulate(t, p, w, by=keys), joint_table(t, p, t, w, by=keys)
    assert list(found) == list(joint) == sorted(set(keys.tolist()))
    for key, table in found.items():
        own = keys == key
        assert type(key) is (int if kind is float else kind)
        assert table == wmcc.tabulate(t[own], p[own], w[own])
        assert joint[key] == joint_table(t[own], p[own], t[own], w[own])
    assert sum(found.values(), wmcc.Table.empty()) == wmcc.tabulate(t, p, w)
    assert wmcc.tabulate(t, p, w, by=keys.tolist()) == found
    assert wmcc.tabulate(t, p, w, by=np.array(keys.tolist(), dtype=object)) == found


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("keys", [[0, 2, 2, 5], [7, 7, 9, 8], [-3, 4, -3, 0], [0, 90, 5000, 90], [70_000, 0, 3, 3]])
def test_integers_are_keys_whether_close_or_not(kernel, keys):
    t, p, w = np.resize([0, 1, 1], 20), np.resize([0, 1], 20), np.linspace(1, 2, 20)
    objects = np.array(keys * 5, dtype=object)
    holds = [
        x for x in ("i1", "u1", ">i4", "i8", "u8") if np.iinfo(x).min <= min(keys) and max(keys) <= np.iinfo(x).max
    ]
    assert len(holds) > 1
    with using(kernel):
        for call in (
            lambda x: {"by": x}, lambda x: {"cluster": x}, lambda x: {"design": wmcc.Strata(x)},
            lambda x: {"design": wmcc.Strata({"a": x, "b": x[::-1]}), "cluster": x},
        ):  # fmt: skip
            expected = wmcc.tabulate(t, p, w, **call(objects))
            assert all(wmcc.tabulate(t, p, w, **call(objects.astype(x))) == expected for x in holds)
        assert list(wmcc.tabulate(t, p, w, by=np.array(keys * 5))) == sorted(set(keys))


def test_keys_of_any_container():
    t, p, w = sample(0, 12)
    keys = ["a", "b", "c"] * 4
    found = wmcc.tabulate(t, p, w, by=keys)
    for other in (np.array(keys), np.array(keys, object), pd.Series(keys), pl.Series(keys), [x.encode() for x in keys]):
        assert wmcc.tabulate(t, p, w, by=other) == found
    coded = pd.Series(pd.Categorical(keys, ["unused", "c", "b", "a"]))
    assert list(wmcc.tabulate(t, p, w, by=coded)) == ["a", "b", "c"]
    frame = pl.DataFrame({"t": t, "p": p, "w": w, "k": keys})
    assert wmcc.tabulate(frame, true="t", pred="p", weight="w", by="k") == found
    whole = wmcc.tabulate(t, p, by=[Decimal(1), 2.0, np.int8(3)] * 4)
    assert list(whole) == [1, 2, 3]
    assert list(wmcc.tabulate(t, p, by=[True, 2, 1] * 4)) == [1, 2]
    colour = enum.StrEnum("colour", ["red", "blue"])
    assert list(wmcc.tabulate([0, 1], [0, 1], by=[colour.red, colour.blue])) == ["blue", "red"]


def test_a_key_may_be_of_an_image():
    t, p, w = (x.reshape(4, 3, 2) for x in sample(1, 24))
    found = wmcc.tabulate(t, p, w, by=["d", "c", "d", "a"])
    assert list(found) == ["a", "c", "d"]
    assert found["d"] == wmcc.tabulate(t[[0, 2]], p[[0, 2]], w[[0, 2]])
    lines = wmcc.tabulate(t, p, w, by=np.arange(12).reshape(4, 3))
    assert lines[7] == wmcc.tabulate(t[2:3, 1], p[2:3, 1], w[2:3, 1])
    pixels = wmcc.tabulate(t, p, w, by=t)
    assert list(pixels) == [0, 1, 2]
    assert all(table.rows == (t == k).sum() for k, table in pixels.items())


def test_rows_that_are_ignored_and_classes_that_are_given():
    found = wmcc.tabulate([0, 9, 1, 1], [0, 0, 1, 0], [1, np.nan, 2, 3], by=[1, 1, 2, 2], ignore=9, labels=[1, 0])
    assert (found[1].ignored, found[2].ignored) == (1, 0)
    assert found[1].labels == found[2].labels == (1, 0)


Y = [0, 1, 1]
BAD = {
    "missing": ([1, None, 2], r"by\[1\] is missing"),
    "missing text": (["a", "b", None], r"by\[2\] is missing"),
    "nan": ([1.0, 2.0, np.nan], r"by\[2\] is missing"),
    "null": (pl.Series([None, "a", "b"]), r"by\[0\] is missing"),
    "category": (pd.Series(["a", None, "b"], dtype="category"), r"by\[1\] is missing"),
    "mixed": (["a", 1, 2], "by holds keys of mixed types: 1 is a number and 'a' is a string"),
    "mixed objects": (np.array([1, "a", 2], dtype=object), "keys of mixed types"),
    "no date": (np.array(["2020-01-01", "2020-01-01", "NaT"], "M8[D]"), r"by\[2\] is missing"),
    "sets": ([{1}, {2}, {3}], r"by\[0\] is \{1\} \(set\); a key must be a number, a boolean, a text, a date or a time"),
    "short": ([1, 2], r"`by` has shape \(2,\), and the labels \(3,\)"),
    "wide": ([[1], [2], [3]], r"`by` has shape \(3, 1\)"),
    "scalar": (3, "by is 3"),
    "a column": ("tile", "a column name works only with a frame"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_keys_get_a_sentence(name):
    by, said = BAD[name]
    for call in (lambda: wmcc.tabulate(Y, Y, by=by), lambda: joint_table(Y, Y, Y, by=by)):
        with pytest.raises((InputError, InputTypeError), match=said):
            call()


def test_bad_rows_keep_their_numbers():
    with pytest.raises(LabelError, match=r"y_pred\[2\] is missing"):
        wmcc.tabulate(Y, [0, 1, None], by=[2, 2, 1])
    with pytest.raises(WeightError, match=r"sample_weight\[2\] is -1"):
        wmcc.tabulate(Y, Y, [1, 1, -1], by=[2, 2, 1])
    with pytest.raises(InputTypeError, match=r"a weight matrix works for one prediction .* with `by`"):
        wmcc.tabulate(Y, Y, np.ones((3, 3)), by=Y)


# ---- keys of every engine ------------------------------------------------------------------------------


KEYED = {
    "whole numbers": ([3, 1, None, 3], pa.int64(), [1, 3, None]),
    "whole floats": ([3.0, 1.0, None, 3.0], pa.float64(), [1, 3, None]),
    "fractions": ([1.5, 1.0, None, 1.5], pa.float64(), [1, 1.5, None]),
    "text": (["b", "a", None, "b"], pa.string(), ["a", "b", None]),
    "flags": ([True, False, None, True], pa.bool_(), [False, True, None]),
    "days": (
        [date(2026, 5, 2), date(2026, 5, 1), None, date(2026, 5, 2)],
        pa.date32(),
        ["2026-05-01", "2026-05-02", None],
    ),
    "times": (
        [datetime(2026, 5, 2, 12, 30), datetime(2026, 5, 1), None, datetime(2026, 5, 2, 12, 30)],
        pa.timestamp("us", "UTC"),  # Spark has no times without a zone
        ["2026-05-01T00:00:00+00:00", "2026-05-02T12:30:00+00:00", None],
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", KEYED)
def test_keys_have_one_type_whatever_the_engine(engine, name):
    values, kind, expected = KEYED[name]
    table = pa.table({"t": [0, 1, 1, 0], "p": [0, 1, 0, 1], "w": [1.0, 2.0, 3.0, 4.0], "key": pa.array(values, kind)})
    frame = ALL[engine](table)
    found = wmcc.tabulate(frame, true="t", pred="p", weight="w", by="key")
    assert list(found) == expected
    assert [type(key) for key in found] == [type(key) for key in expected]
    assert found[expected[-2]].total == 5.0
    assert list(wmcc.tabulate(frame, true="t", pred="p", by=["key", "t"])) == [
        (key, t) for key, t in zip([expected[0], expected[1], None], [1, 0, 1], strict=True)
    ]
    kept = table.filter(pa.array([value is not None for value in values]))
    clustered = wmcc.tabulate(ALL[engine](kept), true="t", pred="p", weight="w", cluster="key")
    assert clustered.drawn.clusters == tuple(expected[:-1])
    with pytest.raises(InputError, match=r"1 row has no cluster in the column 'key'\."):
        wmcc.tabulate(frame, true="t", pred="p", weight="w", cluster="key")
    ignored = table.set_column(0, "t", pa.array([0, 1, 9, 0]))  # the row without a cluster does not count
    assert (
        wmcc.tabulate(ALL[engine](ignored), true="t", pred="p", weight="w", cluster="key", ignore=9).drawn
        == clustered.drawn
    )


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
def test_a_group_has_only_the_void_labels_that_occur_in_it():
    t, p, keys = [0, 1, 0, 1], [0, 1, 255, 1], list("aabb")
    found = wmcc.tabulate(t, p, by=keys, labels=[0, 1], ignore=255)
    assert (found["a"].labels, found["b"].labels) == ((0, 1), (0, 1, 255))
    assert wmcc.mcc(found["a"]) == 1.0
    assert [row[1] for row in found.blocks()[0].rows] == ["2", "2"]  # void labels are no classes
    assert found.select(["a"]).total() == found["a"]
    merged = found + wmcc.tabulate([0, 2], [0, 2], by=["a", "c"])
    assert merged["a"].void == ()
    joint = wmcc.tabulate(t, {"x": p, "y": t}, by=keys, labels=[0, 1], ignore=255)
    assert (joint["a"].void, joint["b"].void) == ((), (255,))
    with pytest.raises(InputError, match=r"MCC is for two classes; void .* were predicted \(255\), which makes 3"):
        wmcc.mcc(found["b"])


def test_a_series_of_the_frame_is_a_key():
    frame = pd.DataFrame({"t": [0, 1, 1], "p": [0, 1, 0], "g": ["a", "a", "b"]}, index=[5, 3, 1])
    for own in (frame, pl.from_pandas(frame), pa.table(frame)):
        keys = {"by": own["g"], "cluster": [own["t"], "g"]}
        found = wmcc.tabulate(own, true="t", pred="p", **keys)
        assert found.columns == ("by" if own is not frame and hasattr(own, "column_names") else "g",)
        wanted = wmcc.tabulate(own, true="t", pred="p", by="g", cluster=["t", "g"])
        assert dict(found) == dict(wanted)
    changed = wmcc.tabulate(frame, true="t", pred="p", by=frame["t"] + 1)
    assert list(changed) == [1, 2]
    with pytest.raises(InputError, match="the series has 2 rows, but the frame has 3"):
        wmcc.tabulate(frame, true="t", pred="p", by=frame["g"][:2])
    with pytest.raises(InputTypeError, match="goes with the one frame that it is of"):
        wmcc.tabulate(wmcc.Join(frame, frame, "t"), true="t", pred="p", by=frame["g"])


@pytest.mark.parametrize("engine", ENGINES)
def test_both_zeros_are_one_group(engine):
    keys = pa.array([-0.0, 0.0, None, 3, 1, None, 2, 3, 1], pa.float64())
    data = ALL[engine](pa.table({"y": [0, 1, 0, 1, 0, 1, 0, 1, 0], "k": keys}))
    found = wmcc.tabulate(data, true="y", pred="y", by="k")
    assert dict(zip(found.groups, found.rows.tolist(), strict=True)) == {0: 2, 1: 2, 2: 1, 3: 2, None: 2}

"""Bad input gets a sentence: what was expected, what came and where, what to do."""

import datetime
import pathlib
import pickle
import re
import traceback
from decimal import Decimal
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import KERNELS, using
from hypothesis import given

import wmcc
from wmcc.errors import (
    InputError,
    InputTypeError,
    LabelError,
    MissingDependencyError,
    SchemaError,
    TooManyClassesError,
    UndefinedMeasureError,
    WeightError,
    WmccError,
)

NAN, INF = float("nan"), float("inf")
Y = [0, 1, 1]


class Unhashable:
    def __hash__(self):
        raise ValueError("no")


SHAPES = {
    "lengths differ": (([0, 1], [0, 1, 1]), "same shape; they have \\(2,\\) and \\(3,\\)"),
    "weights too short": ((Y, Y, [1.0, 2.0]), "shape of the labels, \\(3,\\); it has \\(2,\\)"),
    "weights too long": ((Y, Y, np.ones(4)), "\\(4,\\)"),
    "one-hot both": ((np.eye(3, dtype=int), np.eye(3, dtype=int)[[0, 2, 1]]), "one-hot[\\s\\S]*argmax\\(axis=1\\)"),
    "one-hot prediction": ((Y, np.eye(3)), "looks one-hot, a single 1 each; pass np.argmax\\(y_pred, axis=-1\\)"),
    "channels": (
        (np.zeros((2, 5, 6), int), np.moveaxis(np.eye(4)[np.ones((2, 5, 6), int)], -1, 1)),
        "looks one-hot, a single 1 each; pass np.argmax\\(y_pred, axis=1\\)",
    ),
    "column vector": ((Y, np.array(Y)[:, None]), "the axis of length 1 with np.squeeze\\(y_pred, 1\\)"),
    "single label": ((1, Y), "y_true is 1 \\(int\\)"),
    "0-d": ((np.array(1), Y), "single value \\(1\\)"),
    "one weight for all": ((Y, Y, 2.0), "sample_weight is 2.0 \\(float\\)"),
    "ragged": (([[1, 2], [3]], [[1, 2], [3]]), "y_true\\[0\\] is \\[1, 2\\]|ragged"),
    "masked": ((np.ma.array(Y, mask=[0, 1, 0]), Y), "y_true\\[1\\] is masked"),
}

LABELS = {
    "NaN": (([0.0, NAN, 1.0], Y), "y_true\\[1\\] is missing \\(nan\\)"),
    "NaN in an image": (([[0.0, 0.0], [0.0, NAN]], [[0, 1], [1, 0]]), "y_true\\[1, 1\\] is missing"),
    "None": ((["a", None, "b"], ["a", "b", "b"]), "y_true\\[1\\] is missing \\(None\\)"),
    "NaN among strings": ((["a", NAN, "b"], ["a", "b", "b"]), "y_true\\[1\\] is missing \\(nan\\)"),
    "NaT": ((np.array(["NaT"], dtype="M8[D]").astype(object), [0]), "y_true\\[0\\] is missing"),
    "pd.NA": ((pd.Series([1, None, 2], dtype="Int64"), Y), "y_true\\[1\\] is missing"),
    "pandas missing text": ((pd.Series(["a", None]), ["a", "b"]), "y_true\\[1\\] is missing"),
    "pandas missing category": ((Y, pd.Series([1, None, 2], dtype="category")), "y_pred\\[1\\] is missing"),
    "pandas object with NA": ((pd.Series([1, pd.NA, 2], dtype=object), Y), "y_true\\[1\\] is missing"),
    "polars null": ((pl.Series([1, None, 2]), Y), "y_true\\[1\\] is missing"),
    "polars null text": ((pl.Series(["a", None]), ["a", "b"]), "y_true\\[1\\] is missing"),
    "arrow null": ((pa.array(["a", None]), ["a", "b"]), "y_true\\[1\\] is missing"),
    "arrow null in a dictionary": ((pa.array(["a", None]).dictionary_encode(), ["a", "b"]), "y_true\\[1\\] is missing"),
    "fractional": (([0.0, 0.5, 1.0], Y), "y_true\\[1\\] is 0.5[\\s\\S]*argmax"),
    "infinite": (([0.0, INF, 1.0], Y), "y_true\\[1\\] is inf"),
    "too large a float": (([0.0, 1e30, 1.0], Y), "y_true\\[1\\] is .*1e\\+30.*too large"),
    "fraction among objects": ((np.array([1, 0.5], dtype=object), [1, 1]), "y_true\\[1\\] is 0.5"),
    "not UTF-8": ((np.array([b"\xff"], dtype=object), [1]), "UTF-8"),
    "bytes that are not UTF-8": ((np.array([b"\xff"]), ["a"]), "UTF-8"),
}

LABEL_TYPES = {
    "MultiIndex": ((pd.MultiIndex.from_tuples([(1, 2)]), [1]), "MultiIndex"),
    "arrow structs": ((pa.array([{"dictionary": 1}]), [1]), "y_true"),
    "arrow lists of strings": ((pa.array([["a"]]), ["a"]), "y_true"),
    "objects that cannot be hashed": ((np.array([Unhashable()], dtype=object), [1]), r"y_true\[0\] is .*Unhashable"),
    "mixed in a column": (([1, "a", 2], [1, 1, 2]), "mixed types: 1 is a number and 'a' is a string"),
    "mixed between columns": ((["0", "1", "1"], Y), "mixed types"),
    "mixed in pandas": ((pd.Series([1, "a"], dtype=object), [1, 1]), "mixed types"),
    "dates": ((np.array(["2020-01-01"], dtype="M8[D]"), ["a"]), "dates or times"),
    "date objects": (([datetime.date(2020, 1, 1)], ["a"]), "y_true\\[0\\] is datetime.date"),
    "decimals": (([Decimal("1.5")], [1]), "Decimal"),
    "complex": ((np.array([1j]), [1]), "complex128"),
    "records": ((np.zeros(2, dtype=[("a", int)]), [0, 0]), "dtype"),
    "lists inside": ((np.array([[1], [2, 3]], dtype=object), [1, 2]), "y_true\\[0\\] is \\[1\\] of type list"),
    "dict": (({"a": 1}, Y), "\\(dict\\)"),
    "set": (({1, 2}, Y), "\\(set\\)"),
    "text": (("abc", Y), "'abc' \\(str\\)"),
    "generator": ((Y, (x for x in Y)), "generator[\\s\\S]*list"),
    "None instead of labels": ((None, Y), "None"),
}

WEIGHTS = {
    "negative": ([1.0, -2.5, 1.0], "sample_weight\\[1\\] is -2.5"),
    "NaN": ([1.0, 1.0, NAN], "sample_weight\\[2\\] is nan"),
    "infinite": ([INF, 1.0, 1.0], "sample_weight\\[0\\] is inf"),
    "minus infinite": ([1.0, -INF, 1.0], "sample_weight\\[1\\] is -inf"),
    "negative float32": (np.array([1, -1, 1], dtype=np.float32), "sample_weight\\[1\\] is -1.0"),
    "negative integer": (np.array([1, 1, -7]), "sample_weight\\[2\\] is -7.0"),
    "NaN after a negative zero": ([-0.0, NAN, 1.0], "sample_weight\\[1\\] is nan"),
    "missing in pandas": (pd.Series([1.0, None, 2.0], dtype="Float64"), "sample_weight\\[1\\] is nan"),
    "NaN in pandas": (pd.Series([1.0, None, 2.0]), "sample_weight\\[1\\] is (nan|missing)"),
    "null in polars": (pl.Series([1.0, None, 2.0]), "sample_weight\\[1\\] is nan"),
    "null in arrow": (pa.array([1.0, None, 2.0]), "sample_weight\\[1\\] is nan"),
    "huge integer": ([10**400, 1, 1], "sample_weight\\[0\\] is 1000"),
}

WEIGHT_TYPES = {
    "None inside": ([1.0, None, 1.0], "sample_weight\\[1\\] is None"),
    "numeric text inside": (np.array([1.0, "2", 1.0], dtype=object), "sample_weight\\[1\\] is '2'"),
    "text": (["1", "2", "3"], "sample_weight\\[0\\] is '1'"),
    "text array": (np.array(["1", "2", "3"]), "text"),
    "complex": (np.array([1, 2, 1j]), "complex"),
    "complex inside": ([1, 2, 1j], "complex|1j"),
    "dates": (np.array(["2020-01-01"] * 3, dtype="M8[D]"), "dates"),
    "categories": (pd.Series([1.0, 2.0, 3.0], dtype="category"), "categorical"),
    "name of a column": ("area", "'area' \\(str\\)"),
}


def check(error, message, *arguments, **options):
    with pytest.raises(error, match=message) as caught:
        wmcc.tabulate(*arguments, **options)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert "wmcc" in frames[-1].filename, "a traceback from inside a dependency"
    assert isinstance(caught.value, WmccError)
    assert str(caught.value).lstrip("`")[0].isalnum()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("arguments", "message"), SHAPES.values(), ids=list(SHAPES))
def test_shapes(kernel, arguments, message):
    with using(kernel):
        check((InputError, InputTypeError), message, *arguments)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("arguments", "message"), LABELS.values(), ids=list(LABELS))
def test_labels(kernel, arguments, message):
    with using(kernel):
        check(LabelError, message, *arguments)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("arguments", "message"), LABEL_TYPES.values(), ids=list(LABEL_TYPES))
def test_label_types(kernel, arguments, message):
    with using(kernel):
        check(InputTypeError, message, *arguments)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("weights", "message"), WEIGHTS.values(), ids=list(WEIGHTS))
def test_weights(kernel, weights, message):
    with using(kernel):
        check(WeightError, message, Y, Y, weights)


@pytest.mark.parametrize(("weights", "message"), WEIGHT_TYPES.values(), ids=list(WEIGHT_TYPES))
def test_weight_types(weights, message):
    check(InputTypeError, message, Y, Y, weights)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_first_bad_row_of_many_is_named(kernel):
    n = 700_000
    t, w = np.zeros(n, dtype=np.int16), np.ones(n)
    w[654_321:] = -1.0
    with using(kernel):
        check(WeightError, r"sample_weight\[654321\] is -1.0", t, t, w, threads=2)
        w[654_321:] = 1.0
        t[600_001] = 9
        check(LabelError, r"y_true\[600001\] is 9, which is not among `labels`, 0, 1", t, t, w, labels=[0, 1])


@pytest.mark.parametrize("kernel", KERNELS)
def test_unknown_labels(kernel):
    with using(kernel):
        hint = r"y_pred\[2\] is 'c', which is not among `labels`, 'a', 'b'\.\n\nHint: [\s\S]*`ignore`"
        check(LabelError, hint, list("aab"), list("abc"), labels=["a", "b"])
        check(LabelError, hint, np.array(list("aab")), np.array(list("abc")), labels=["a", "b"])
        check(LabelError, hint, pd.Categorical(list("aab")), pd.Categorical(list("abc")), labels=["a", "b"])
        check(LabelError, r"y_true\[0, 1\] is 7", [[0, 7]], [[0, 1]], labels=[0, 1])
        check(LabelError, r"y_true\[0\] is 0, which is not among `labels`", [0], [0], labels=[])


def test_messages_about_bytes():
    check(LabelError, r"y_true\[1\] is 'b'", np.array([b"a", b"b"]), np.array([b"a", b"a"]), labels=["a"])
    w = [NAN, -1.0]
    check(
        WeightError,
        r"sample_weight\[1\] is -1.0",
        np.array([b"v", b"a"]),
        np.array([b"a", b"a"]),
        w,
        ignore="v",
    )


def test_many_unknown_labels_are_unknown_not_too_many():
    check(LabelError, r"y_true\[1\] is 1, which", np.arange(6000), np.zeros(6000, int), labels=[0, 2**21])


def test_a_category_that_cannot_be_a_label_is_named_with_its_row():
    check(LabelError, r"y_true\[2\] is 0.5", pd.Categorical([1.0, 2.0, 0.5]), [1, 2, 2])


@pytest.mark.slow
def test_too_many_classes(monkeypatch):
    """There are too many where memory does not hold them, or the cells that occur."""
    identifiers = np.arange(100_000)
    kinds = (identifiers, identifiers * 10**9, identifiers.astype(str), identifiers.astype(object))
    with monkeypatch.context() as little:
        little.setattr("wmcc.core.labels.available", lambda: 1 << 26)
        message = (
            r"200,000 classes; their names and margins would take about 0\.1 GB, and 0\.1 GB are free"
            r"[\s\S]*not identifiers, dates or measurements"
        )
        with pytest.raises(TooManyClassesError, match=message):
            wmcc.tabulate([0], [0], labels=range(200_000))
        for many in (*kinds, pd.Series(identifiers).astype(str)):
            check(TooManyClassesError, r"[\d,]+ classes; their names and margins", many, many)
    with monkeypatch.context() as little:
        little.setattr("wmcc.sources.arrays.SMALL_ROOM", 0)
        little.setattr("wmcc.sources.arrays.available", lambda: 1 << 20)
        for many in kinds:
            check(TooManyClassesError, r"more than 2,048 different combinations of labels", many, many)
    assert len(wmcc.tabulate(identifiers, identifiers).labels) == 100_000
    assert len(wmcc.Table.from_counts(np.zeros((3000, 3000), dtype=int)).labels) == 3000


def test_arguments():
    check(InputError, "255 is in labels and in ignore", Y, Y, labels=[0, 1, 255], ignore=255)
    check(InputError, "`labels` names 1 twice", Y, Y, labels=[1, 1])
    check(InputTypeError, "mixed types", Y, Y, labels=[1, "a"])
    check(LabelError, r"labels\[1\] is missing", Y, Y, labels=[1, None])
    check(InputError, "`threads` is 0", Y, Y, threads=0)
    check(InputError, "`threads` is 1.5", Y, Y, threads=1.5)
    check(InputError, "`threads` is True", Y, Y, threads=True)
    assert wmcc.tabulate(Y, Y, threads=np.int64(10**6)) == wmcc.tabulate(Y, Y)
    check(InputTypeError, "mixed types", Y, Y, ignore="255")
    check(LabelError, "y_true.0. is 0, which is not among", Y, Y, labels=np.array(1))
    check(LabelError, r"labels\[0\] is an integer beyond 64 bits", Y, Y, labels=[2**64])
    check(InputTypeError, "mixed types: 0 is a number and 'x'", Y, Y, positive="x")
    check(InputError, "`positive` is 2; expected one of the labels", Y, Y, positive=2)
    check(LabelError, "positive is missing", Y, Y, positive=NAN)


def test_nothing_to_score():
    with pytest.raises(InputError, match="total weight of 3 rows is zero"):
        wmcc.mcc(Y, Y, sample_weight=[0, 0, 0])
    with pytest.raises(InputError, match="no observations"):
        wmcc.score(wmcc.Table.empty())
    with pytest.raises(InputTypeError, match=r"expected a Table; got a ndarray[\s\S]*from_counts"):
        wmcc.mcc(np.eye(2))
    with pytest.raises(InputTypeError, match="expected a Table; got a list"):
        wmcc.diagnose([1])


def test_the_tree():
    for error, builtin in (
        (InputError, ValueError),
        (LabelError, InputError),
        (WeightError, InputError),
        (TooManyClassesError, InputError),
        (InputTypeError, TypeError),
        (UndefinedMeasureError, ValueError),
        (SchemaError, ValueError),
        (MissingDependencyError, ImportError),
    ):
        assert issubclass(error, WmccError)
        assert issubclass(error, builtin)
        assert error.__name__ in wmcc.errors.__doc__


# ---- what is printed --------------------------------------------------------------------------------


@given(st.text(st.characters() | st.sampled_from("\x1b\x9b\n\r\x07\u202e"), max_size=20), st.none() | st.text())
def test_messages_hold_nothing_that_moves_a_cursor(name, hint):
    """And they keep it through a copy, and with something put before them."""
    problem = LabelError(f"{name} is no label.", hint, "labels")
    again = problem.about("a.csv")
    for one in (problem, pickle.loads(pickle.dumps(problem)), again):
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e]", one.message + (one.hint or ""))
        assert str(one) == (one.message if one.hint is None else f"{one.message}\n\nHint: {one.hint}")
    assert pickle.loads(pickle.dumps(problem)).args == problem.args
    assert (again.hint, again.argument, type(again)) == (problem.hint, "labels", LabelError)
    assert again.message == f"a.csv: {problem.message}"
    assert pickle.loads(pickle.dumps(problem)).argument == "labels"


def test_the_name_of_a_file_cannot_move_the_cursor(tmp_path):
    (tmp_path / "\x1b[2Jgone.csv").write_text("")
    with pytest.raises(InputError, match="is empty") as caught:
        wmcc.tabulate(tmp_path / "\x1b[2Jgone.csv", true="label", pred="pred")
    assert "\\x1b[2Jgone.csv" in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("weights", "did you mean `sample_weight`, or `weight`?"),
        ("pos_label", "did you mean `positive`?"),
        ("num_classes", "did you mean `labels`?"),
        ("class_names", "did you mean `names`?"),
        ("ignore_index", "did you mean `ignore`?"),
        ("skipna", "did you mean `missing`?"),
        ("groupby", "did you mean `by`?"),
        ("wieght", "did you mean `weight`?"),
        ("average", "average is no option of reading data; its keywords are y_true, "),
        ("number", "its keywords are y_true, "),
    ],
)
def test_keywords_of_other_libraries(name, hint):
    with pytest.raises(InputTypeError, match=rf"tabulate\(\) has no keyword '{name}'") as caught:
        wmcc.tabulate(Y, Y, **{name: 1})
    assert caught.value.hint.startswith(hint)


def test_a_frame_is_told_to_be_tabulated():
    frame = pd.DataFrame({"y": Y, "p": Y})
    with pytest.raises(InputTypeError, match=r"Hint: tabulate first: wmcc\.tabulate\(data, true=…, pred=…\)"):
        wmcc.score(frame)
    with pytest.raises(TypeError, match="multiple values for argument 'y_true'"):
        wmcc.tabulate(frame, y_true="y", y_pred="p")


def test_the_positive_class_is_not_listed_where_it_is_unknown():
    with pytest.raises(InputError, match=r"`positive` is 7; expected one of .*; the labels are 0, 1\.$"):
        wmcc.tabulate([0, 1], [0, 1], positive=7)


FILE_FOR_TABLE = {
    "score": lambda: wmcc.score("map.tif"),
    "a measure": lambda: wmcc.ecc("map.tif"),
    "interval": lambda: wmcc.interval("map.tif", "ecc"),
    "a path": lambda: wmcc.interval(Path("maps") / "map", "ecc"),
    "certify": lambda: wmcc.certify("map.tif", "ecc"),
    "compare": lambda: wmcc.compare("map.tif", "ecc"),
    "ranking": lambda: wmcc.certify_ranking("map.tif"),
    "map_accuracy": lambda: wmcc.map_accuracy("map.tif"),
    "radius": lambda: wmcc.radius("map.tif", "ecc", at_least=0.5),
    "diagnose": lambda: wmcc.diagnose("map.tif"),
    "image_scores": lambda: wmcc.image_scores("map.tif"),
    "write_report": lambda: wmcc.write_report("page.html", "map.tif"),
}


@pytest.mark.parametrize("call", FILE_FOR_TABLE.values(), ids=FILE_FOR_TABLE)
def test_files_are_tabulated_first(call):
    with pytest.raises(InputTypeError, match=r"expected a (Joint)?Table.*; got 'maps?[/.][a-z]+'\.") as e:
        call()
    assert re.match(
        r'tabulate first: wmcc\.tabulate\(truth, .*, "area"\) of rasters, or wmcc\.tabulate\(data', e.value.hint
    )


def test_stored_tables_are_read_first(tmp_path):
    """What the sentence advises works."""
    table = wmcc.tabulate([0, 1, 1], [0, 1, 0])
    path = tmp_path / "table.json"
    path.write_text(table.to_json())
    with pytest.raises(InputTypeError) as e:
        wmcc.score(path)
    call = re.fullmatch(r"a stored table is read by (wmcc\.Table\.from_json\(.*\))\.", e.value.hint)[1]
    assert eval(call, {"wmcc": wmcc, "pathlib": pathlib}) == table


def test_readers_say_where_data_belong():
    for call, hint in (
        (
            lambda: wmcc.write_report("a.html", "t.tif", "m.tif"),
            "write_report(path, wmcc.tabulate(y_true, y_pred,",
        ),
        (lambda: wmcc.write_report("a.html", "t.tif", weight="area"), "write_report(path, wmcc.tabulate(…, weight=…))"),
        (lambda: wmcc.plan_sample("t.tif", "m.tif", "area"), "wmcc.plan_sample(wmcc.tabulate(y_true, y_pred,"),
        (lambda: wmcc.curve("a.csv", true="y", score="p"), "wmcc.curve(wmcc.tabulate(…, true=…))"),
        (lambda: wmcc.best_threshold("a.csv", "mcc", true="y"), "wmcc.best_threshold(wmcc.tabulate(…, true=…))"),
    ):
        with pytest.raises(InputTypeError) as e:
            call()
        assert hint in e.value.hint

"""The table: a frozen commutative monoid that can be stored and shown."""

import copy
import json
import pickle

import numpy as np
import pytest
from helpers import joint_table, rows
from hypothesis import given
from hypothesis import strategies as st
from paths import GOLDEN

import wmcc
from wmcc import Table
from wmcc.errors import InputError, InputTypeError, SchemaError


def golden_table():
    y_true = ["oak", "elm", "oak", "ash", "elm", "oak", "void"]
    y_pred = ["oak", "oak", "oak", "ash", "elm", "elm", "ash"]
    weights = [0.1, 0.2, 0.3, 1e300, 5e-324, 1e-200, 7.0]
    return wmcc.tabulate(y_true, y_pred, weights, ignore="void")


@st.composite
def tables(draw):
    data = draw(rows(classes=4, most=10))
    shift = draw(st.integers(0, 3))  # so that label sets differ
    labels = draw(st.sampled_from([None, [6, 5, 4, 3, 2, 1, 0]]))
    return wmcc.tabulate([x + shift for x in data.t], [x + shift for x in data.p], data.w, labels=labels)


@given(tables(), tables(), tables())
def test_tables_are_a_commutative_monoid(a, b, c):
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Table.empty() == a == Table.empty() + a
    assert sum([a, b, c]) == a + b + c


@given(tables(), tables())
def test_merging_adds_cells(a, b):
    merged = a + b
    assert merged.rows == a.rows + b.rows
    assert set(merged.labels) == {*a.labels, *b.labels}
    for i, t in enumerate(merged.labels):
        for j, p in enumerate(merged.labels):
            parts = [x for x in (a, b) if t in x.labels and p in x.labels]
            cells = [(x.labels.index(t), x.labels.index(p), x) for x in parts]
            assert merged.n[i, j] == sum(x.n[k, m] for k, m, x in cells)
            used = [x.w_min[k, m] for k, m, x in cells if x.n[k, m]]
            assert not used or merged.w_min[i, j] == min(used)


def test_merging_keeps_a_given_order_and_sorts_a_union():
    a = wmcc.tabulate([1, 0], [1, 1], labels=[1, 0])
    assert (a + a).labels == (1, 0)
    assert (a + wmcc.tabulate([2], [2])).labels == (0, 1, 2)
    with pytest.raises(InputTypeError, match="mixed types"):
        _ = a + wmcc.tabulate(["x"], ["x"])
    flags = wmcc.tabulate([True, False], [True, True])
    assert flags.labels == (False, True)
    assert (flags + a).labels == (0, 1)
    assert (flags + wmcc.tabulate([2], [2])).labels == (0, 1, 2)


def kinds(table):
    return [type(x) for x in table.labels]


def test_booleans_stay_booleans_unless_they_meet_integers():
    flags, numbers = wmcc.tabulate([True, False], [True, True]), wmcc.tabulate([1, 0], [1, 1])
    assert kinds(flags) == kinds(flags + flags) == kinds(Table.from_json(flags.to_json())) == [bool, bool]
    assert kinds(wmcc.tabulate([True, False], [True, True], labels=[False, True])) == [bool, bool]
    assert kinds(flags + numbers) == kinds(numbers + flags) == kinds(numbers) == [int, int]
    assert kinds(wmcc.tabulate([True, False], [1, 0])) == [int, int]


def test_copies_are_frozen_too():
    for again in (pickle.loads(pickle.dumps(golden_table())), copy.deepcopy(golden_table())):
        assert again == golden_table()
        assert not again.n.flags.writeable
        assert not again.w_exact.digits.flags.writeable


def test_counts_do_not_overflow():
    half = Table.from_counts([[2**61, 1], [1, 5]])
    with pytest.raises(InputError, match=r"2\*\*62"):
        _ = half + half
    for counts in ([[2**61, 2**61], [1, 5]], np.array([[2**63, 1], [1, 2**63]], dtype=np.uint64)):
        with pytest.raises(InputError, match=r"2\*\*62"):
            Table.from_counts(counts)


def test_positive_and_ignored_travel():
    a = wmcc.tabulate(["y", "n", "?"], ["y", "y", "n"], ignore="?", positive="y")
    b = wmcc.tabulate(["y", "?"], ["y", "?"], ignore=["?"])
    assert (a.positive, a.ignored, b.ignored) == ("y", 1, 1)
    assert ((a + b).positive, (a + b).ignored) == ("y", 2)
    with pytest.raises(InputError, match="positive class 'y', the other 'n'"):
        _ = a + wmcc.tabulate(["y", "n"], ["n", "n"], positive="n")
    assert wmcc.tabulate(["n", "n"], ["n", "n"], positive="y").labels == ("n", "y")
    with pytest.raises(InputError, match=r"the merged table has 3 classes; with `positive` 'y'"):
        _ = a + wmcc.tabulate(["z"], ["z"])
    with pytest.raises(InputError, match="two-class"):
        wmcc.tabulate([0, 1, 2], [0, 1, 2], positive=1)


def test_tables_are_frozen():
    table = golden_table()
    for array in (table.n, table.w, table.w2, table.w_min, table.w_max, table.true_sums, table.w_exact.digits):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        table.n = None
    with pytest.raises(TypeError, match="unhashable"):
        hash(table)


@given(tables())
def test_margins(table):
    assert table.true_sums.tolist() == [pytest.approx(x) for x in table.w.sum(axis=1)]
    assert table.pred_sums.tolist() == [pytest.approx(x) for x in table.w.sum(axis=0)]
    assert table.total == pytest.approx(table.w.sum())
    m = table.margins
    assert (m.s, sum(m.q)) == (sum(m.r), sum(m.r))


def test_equality_sees_everything():
    table = golden_table()
    other = json.loads(table.to_json())
    assert Table.from_dict(other) == table
    assert table != golden_table() + wmcc.tabulate(["oak"], ["oak"])
    assert table != "a table"
    for change in ({"ignored": 2}, {"labels": ["ash", "elm", "yew"]}):
        assert Table.from_dict(other | change) != table
    for name, factor in (("w_min", 0.5), ("w_max", 2)):
        cells = {**other["cells"], name: [x * factor for x in other["cells"][name]]}
        assert Table.from_dict({**other, "cells": cells}) != table
    two, three = (Table.from_cells([0], [[n]], [[6.0]], [[18.0]], [[1.0]], [[4.0]]) for n in (2, 3))
    assert two != three


# ---- storing ----------------------------------------------------------------------------------------


@given(tables())
def test_json_round_trip(table):
    again = Table.from_json(table.to_json())
    assert again == table
    assert wmcc.ecc(again) == wmcc.ecc(table)
    assert again.to_json() == table.to_json()


def golden_groups():
    y_true = ["oak", "elm", "oak", "ash", "elm", "oak", "void"]
    y_pred = ["oak", "oak", "oak", "ash", "elm", "elm", "ash"]
    weights = [0.1, 0.2, 0.3, 1e300, 5e-324, 1e-200, 7.0]
    return y_true, y_pred, weights, ["coast", "coast", "hills", "hills", "coast", "coast", "moor"]


def golden_tables():
    """Each kind of table that can be stored, by the name of its golden file."""
    y_true, y_pred, weights, places = golden_groups()
    return {
        "table": golden_table(),
        "clusters": wmcc.tabulate(y_true, y_pred, weights, ignore="void", cluster=places),
        "pairs": wmcc.tabulate([0, 1, 1], [0, 1, 0], np.eye(3) + 0.1),
        "joint": joint_table(y_true, y_pred, y_true[::-1], weights, ignore="void", cluster=range(7)),
        "tables": wmcc.tabulate(y_true, y_pred, weights, ignore="void", by=places),
        "joint-tables": joint_table(y_true, y_pred, y_pred, weights, by=places, labels=["void", "oak", "elm", "ash"]),
        "strata": wmcc.tabulate(
            y_true, y_pred, ignore="void", design=wmcc.Strata(places, population=PLACES, fpc=True, lonely="adjust")
        ),
        "strata-clusters": wmcc.tabulate(
            y_true,
            y_pred,
            weights,
            ignore="void",
            design=wmcc.Strata(places, fpc=PLACES),
            cluster=[1, 2, 1, 2, 1, 2, 1],
        ),
        "strata-tables": wmcc.tabulate(
            y_true,
            y_pred,
            design=wmcc.Strata({"a": places, "b": [0, 0, 1, 1, 0, 1, 1]}),
            by=places,
            labels=["void", "oak", "elm", "ash"],
        ),
        "poststrata": wmcc.tabulate(
            y_true[:6], y_pred[:6], weights[:6], design=wmcc.PostStrata(places[:6], {"coast": 0.1, "hills": 1e30})
        ),
        "replicates": wmcc.tabulate(
            y_true,
            y_pred,
            weights,
            ignore="void",
            design=wmcc.Replicates([weights, weights[::-1], [0] * 7], "fay", fay=0.3),
        ),
        "replicates-tables": joint_table(
            y_true,
            y_pred,
            y_pred,
            weights,
            by=places,
            design=wmcc.Replicates([weights, weights[::-1]], scales=[0.5, 2]),
        ),
        "pixels": wmcc.tabulate([y_true[:3], y_true[3:6]], [y_pred[:3], y_pred[3:6]], [weights[:3], weights[3:6]]),
        "scores": wmcc.tabulate(
            ["oak", "elm", "oak", "elm", "void"],
            score={"A": [0.1, 0.1, float("inf"), 1e-300, 2.0], "B": [0.5, 0.25, 0.1, 0.1, 2.0]},
            sample_weight=weights[1:6],
            ignore="void",
            positive="elm",
            cluster=places[:5],
        ),
        "scores-edges": wmcc.tabulate(
            [0, 1, 1, 0], score=[0.1, 0.2, 0.7, 0.4], design=wmcc.Strata(["b", "a", "b", "a"]), thresholds=[0.1, 0.3]
        ),
        "pixels-tables": joint_table([y_true[:3]], [y_pred[:3]], [y_pred[:3]], by=[places[:3]]),
    }


PLACES = {"coast": 40, "hills": 30.5, "moor": 12}


def test_golden_files():
    """The stored form does not change under people's feet: a file of today is read and written alike for ever."""
    tables = golden_tables()
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}-schema-1.json" for name in tables}
    for name, table in tables.items():
        text = (GOLDEN / f"{name}-schema-1.json").read_text()
        assert type(table).from_json(text) == table
        assert json.loads(table.to_json()) == json.loads(text)


def test_tables_are_merged():
    tables = [wmcc.tabulate([0, 1, k], [0, 1, 1], [0.1, 0.2, 0.3]) for k in range(4)]
    assert wmcc.merge(tables) == wmcc.merge(iter(tables)) == sum(tables)
    assert wmcc.merge(tables[:1]) == tables[0]
    groups = [wmcc.tabulate([0, 1], [0, 1], by=["a", key]) for key in "abc"]
    assert wmcc.merge(groups) == groups[0] + groups[1] + groups[2]
    for wrong in ([], tables[0], groups[0], {"a": tables[0]}, [tables[0], groups[0]], [1, 2]):
        with pytest.raises(InputTypeError, match="merge takes a list of tables of one type, at least one; got"):
            wmcc.merge(wrong)


def test_zero_weights_and_empty_tables_are_stored():
    for table in (Table.empty(), Table.empty(["a", "b"]), wmcc.tabulate([0, 1], [0, 1], [0, 0])):
        assert Table.from_json(table.to_json()) == table


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 0}, "schema 0; this version of wmcc reads schema 1."),
        ({"schema": 5}, "schema 5; this version of wmcc reads schema 1."),
        ({"schema": "1"}, "schema '1'; this version"),
        ({"void": ["ash"]}, "must list the last of 'labels'"),
        ({"void": ["oak"]}, "is the true label of a cell"),
        ({"labels": ["ash", "elm", "oak", "elm"], "void": ["elm"]}, "a label occurs twice"),
        ({"kind": "chair"}, "'kind' is 'chair'"),
        ({"drawn": "lots"}, "'drawn' is 'lots'"),
        ({"kind": "tables"}, "this is a stored Tables; expected a Table"),
        ({"labels": ["ash", "ash", "oak"]}, "'ash' twice"),
        ({"labels": ["ash"]}, "outside the table"),
        ({"cells": {}}, "it has no entry 'true'"),
        ({"cells": None}, "TypeError"),
        ({"schema": True}, "schema True"),
        ({"ignored": -5}, "at least 0"),
        ({"ignored": 5.5}, "number of rows"),
        ({"positive": 7}, "positive"),
    ],
)
def test_bad_files_are_refused(change, message):
    with pytest.raises(SchemaError, match=message):
        Table.from_dict(golden_table().to_dict() | change)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("n", [0, 1, 1, 1, 2], "n < 1"),
        ("n", [1.9, 1, 1, 1, 2], "integers"),
        ("n", [10**30, 1, 1, 1, 2], "OverflowError"),
        ("n", [1, 1, 1, 1, 9], "impossible sums"),
        ("w_max", [float("inf")] * 5, "finite"),
        ("w_exact", ["0x1p99999"] * 5, "not an exact sum"),
        ("true", [0, 0, 1, 2, 2], "listed twice|disagree"),
        ("w", [1.0] * 5, "disagree"),
        ("w_exact", ["0x1p0"] * 5, "disagree"),
        ("w_exact", ["-0x1p0"] * 5, "ValueError"),
        ("w_min", [1.0], "differ in length"),
    ],
)
def test_bad_cells_are_refused(column, values, message):
    data = golden_table().to_dict()
    data["cells"][column] = values
    if column == "true":
        data["cells"]["pred"] = [0, 0, 1, 2, 2]
    with pytest.raises(SchemaError, match=message):
        Table.from_dict(data)


def test_not_a_table_at_all():
    for text in ("[1, 2]", "{}", "not json", None, "[" * 200_000):
        with pytest.raises(SchemaError):
            Table.from_json(text)


# ---- making -----------------------------------------------------------------------------------------


def test_from_counts():
    table = Table.from_counts([[5, 1], [0, 3]], ["no", "yes"], positive="yes")
    y_true, y_pred = ["no"] * 6 + ["yes"] * 3, ["no"] * 5 + ["yes"] * 4
    assert table == wmcc.tabulate(y_true, y_pred, positive="yes")
    for bad in (
        [[1, 2]],
        [[1, -1], [0, 0]],
        [[0.5, 1], [1, 1]],
        [["a"]],
        [[1, 2], [3]],
        [1, 2],
        np.ma.array([[1]], mask=[[1]]),
    ):
        with pytest.raises(InputError):
            Table.from_counts(bad)
    with pytest.raises(InputError, match="3 labels need"):
        Table.from_counts([[1, 0], [0, 1]], [1, 2, 3])


def test_from_cells():
    rng = np.random.default_rng(0)
    table = wmcc.tabulate(rng.integers(0, 3, 50), rng.integers(0, 3, 50), rng.integers(1, 9, 50))
    cells = (table.labels, table.n, table.w, table.w2, table.w_min, table.w_max)
    assert Table.from_cells(*cells) == table
    for k, bad in (
        (1, table.n + 0.5),
        (1, table.n * 0),
        (2, table.w.astype(str)),
        (2, table.w * 1j),
        (3, table.w2 * 0),
        (2, -table.w),
        (3, table.w2 * np.nan),
        (4, table.w_max + 1),
        (5, table.w[:2]),
    ):
        wrong = [*cells[:k], bad, *cells[k + 1 :]]
        with pytest.raises(InputError):
            Table.from_cells(*wrong)


# ---- showing ----------------------------------------------------------------------------------------


def test_repr():
    table = golden_table()
    assert repr(table).splitlines()[0] == "Table of 3 classes: 6 rows, 1 ignored, total weight 1e+300"
    assert repr(Table.empty()) == "Table of 0 classes: 0 rows, total weight 0"
    many = repr(wmcc.tabulate(list(range(60)), list(range(60))))
    assert many.endswith("Shown are the 20 heaviest of 60 cells; CSV and JSON have all.")
    assert len(many.splitlines()) == 24


def test_html_is_escaped():
    html = wmcc.tabulate(["<script>", "b"], ["b", "b"])._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<tr>") == 3

"""The joint table of two predictions: its margins are the tables of each, in any order and any shards."""

from __future__ import annotations

import pickle
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import KERNELS, any_weight, joint_table, rows, using
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, InputTypeError, LabelError, TooManyClassesError, WeightError
from wmcc.sources import arrays, codes


@st.composite
def triples(draw, most: int = 25, **options):
    """Truth, two predictions and weights, as arrays."""
    data = draw(rows(most=most, **options))
    K, n = max(*data.t, *data.p) + 1, len(data.t)
    b = draw(st.lists(st.integers(0, K - 1), min_size=n, max_size=n))
    return np.array(data.t), np.array(data.p), np.array(b), np.array(data.w, dtype=np.float64)


def fractions(exact) -> list[Fraction]:
    return [x * Fraction(2) ** exact.exponent for x in exact.integers()]


# ---- what it is ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@given(data=triples())
def test_cells_are_exact_and_margins_are_tables(kernel, data):
    t, a, b, w = data
    with using(kernel):
        joint = joint_table(t, a, b, w)
    labels = tuple(sorted({*t.tolist(), *a.tolist(), *b.tolist()}))
    assert joint.labels == labels
    expected = defaultdict(list)
    for *cell, weight in zip(t.tolist(), a.tolist(), b.tolist(), w.tolist(), strict=True):
        expected[tuple(map(labels.index, cell))].append(weight)
    assert list(map(tuple, joint.cells.codes.T.tolist())) == sorted(expected)
    weights = [expected[cell] for cell in sorted(expected)]
    assert joint.n.tolist() == [len(x) for x in weights]
    assert fractions(joint.w_exact) == [sum(map(Fraction, x)) for x in weights]
    assert (joint.w_min.tolist(), joint.w_max.tolist()) == ([min(x) for x in weights], [max(x) for x in weights])
    assert joint.rows == len(t)
    with using("numpy"):
        for margin, pred in ((joint["a"], a), (joint["b"], b)):
            assert margin == wmcc.tabulate(t, pred, w, labels=labels)
            assert margin.total == joint.total


@given(data=triples())
def test_without_weights_each_row_weighs_one(data):
    t, a, b, _ = data
    joint = joint_table(t, a, b)
    assert joint == joint_table(t, a, b, np.ones(len(t)))
    assert joint["b"] == wmcc.tabulate(t, b, labels=joint.labels)


@given(triples(), st.integers(0, 4), st.integers(1, 5))
def test_order_shards_and_threads_do_not_matter(data, seed, threads):
    joint = joint_table(*data)
    order = np.random.default_rng(seed).permutation(len(data[0]))
    shuffled = [x[order] for x in data]
    assert joint_table(*shuffled, threads=threads) == joint
    shards = [[x[i::threads] for x in shuffled] for i in range(threads)]
    parts = [joint_table(*shard) for shard in shards if len(shard[0])]
    assert sum(parts) == joint  # the classes of a shard need not be all
    assert sum(reversed(parts)) == joint
    assert joint + wmcc.JointTable.empty("ab") == joint
    assert (joint + joint).n.tolist() == (2 * joint.n).tolist()
    assert (joint + joint)["a"] == joint["a"] + joint["a"]


@given(data=triples())
def test_swapping_changes_sides(data):
    t, a, b, w = data
    joint = joint_table(t, a, b, w)
    assert joint.pair("b", "a") == wmcc.tabulate(t, {"b": b, "a": a}, w)
    assert joint.pair("b", "a").pair("a", "b") == joint
    assert joint.pair("b", "a").tables == joint.tables == {"a": joint["a"], "b": joint["b"]}


@pytest.mark.parametrize("K", [2, 5, 30])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_many_rows(K, threads):
    rng = np.random.default_rng(K)
    t, a, b = rng.integers(0, K, (3, 200_000))
    w = np.where(rng.random(200_000) < 0.1, 10.0 ** rng.uniform(-200, 200, 200_000), rng.lognormal(0, 2, 200_000))
    joint = joint_table(t, a, b, w, threads=threads)
    assert (joint["a"], joint["b"]) == (wmcc.tabulate(t, a, w), wmcc.tabulate(t, b, w))
    with using("numpy"):
        assert joint_table(t, a, b, w) == joint


# ---- many classes ----------------------------------------------------------------------------------------


@pytest.fixture
def sparse(monkeypatch):
    """Give a place to cells that occur only, however few classes there are."""
    monkeypatch.setattr(arrays, "FEW_CELLS", 0)
    monkeypatch.setattr(arrays, "MOST_CELLS", 0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_only_cells_that_occur_have_a_place(kernel, sparse, monkeypatch):
    monkeypatch.setattr(codes, "BLOCK", 1000)
    rng = np.random.default_rng(1)
    t, a, b = rng.integers(0, 40, (3, 15_000))
    w = rng.lognormal(0, 3, 15_000)
    with using(kernel):
        joint = joint_table(t, a, b, w, ignore=[7, 8], labels=[*range(7), *range(9, 40)])
        text = joint_table(*(x.astype(str) for x in (t, a, b)), ignore=["7", "8"])
    monkeypatch.undo()
    assert joint == joint_table(t, a, b, w, ignore=[7, 8])
    assert len(joint.n) > 1 << 12  # it had to make room
    kept = ~np.isin(t, [7, 8])
    assert (joint.ignored, joint.void) == ((~kept).sum(), (7, 8))
    assert joint["a"].n.tolist() == wmcc.tabulate(t[kept], a[kept], w[kept], labels=joint.labels).n.tolist()
    assert sorted(text.n.tolist()) == sorted(joint.n.tolist())


def test_sparse_rows_are_refused_alike(sparse):
    with pytest.raises(LabelError, match=r"y_pred\['b'\]\[1\] is 5, which is not among `labels`, 0, 1"):
        joint_table([0, 1], [0, 1], [0, 5], labels=[0, 1])
    with pytest.raises(WeightError, match=r"sample_weight\[1\] is -1.0"):
        joint_table([0, 1], [0, 1], [0, 1], [1, -1])


@pytest.mark.parametrize("kind", [np.int64, str])
def test_hundreds_of_classes(kind):
    rng = np.random.default_rng(2)
    t, a, b = rng.integers(0, 900, (3, 5_000)).astype(kind)
    w = rng.random(5_000)
    joint = joint_table(t, a, b, w)
    assert joint["a"] == wmcc.tabulate(t, a, w, labels=joint.labels)
    assert joint["b"] == wmcc.tabulate(t, b, w, labels=joint.labels)


def test_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr(arrays, "SMALL_ROOM", 0)
    monkeypatch.setattr(arrays, "available", lambda: 100 * 2 * arrays.CELL_BYTES)
    with pytest.raises(TooManyClassesError, match="more than 100 different combinations"):
        joint_table(*np.arange(600).reshape(3, 200))


# ---- labels ---------------------------------------------------------------------------------------------


def test_a_row_is_ignored_for_its_true_label_only():
    joint = joint_table([0, 1, 9, 1], [0, 9, 0, 1], [0, 1, 0, 9], [1.0, 2.0, -1, 4.0], ignore=9)
    assert (joint.rows, joint.ignored, joint.labels, joint.void) == (3, 1, (0, 1, 9), (9,))
    assert joint.cells.codes.T.tolist() == [[0, 0, 0], [1, 1, 2], [1, 2, 1]]
    assert joint["a"] == wmcc.tabulate([0, 1, 9, 1], [0, 9, 0, 1], [1.0, 2.0, -1, 4.0], ignore=9)
    assert (joint["a"].ignored, joint["a"].void, joint.pair("b", "a").void) == (1, (9,), (9,))


def test_labels_are_those_of_all_columns():
    assert joint_table(["b"], ["b"], ["a"]).labels == ("a", "b")
    assert joint_table(["b"], ["b"], ["a"], labels=["c", "b", "a"]).cells.codes.T.tolist() == [[1, 1, 2]]
    assert joint_table([True], [True], [False]).labels == (False, True)
    assert [type(x) for x in joint_table([True], [True], [0]).labels] == [int, int]
    with pytest.raises(InputTypeError, match="mixed types"):
        joint_table([1], [1], ["a"])
    categories = pd.Series(["x", "y"], dtype="category")
    joint = joint_table(categories, pl.Series(["x", "x"]), pa.array(["z", "y"]))
    assert joint.labels == ("x", "y", "z")
    image = np.arange(6).reshape(2, 3) % 2
    assert joint_table(image, image.T.reshape(2, 3), image).rows == 6


def test_merging_aligns_classes():
    one, two = joint_table(["b"], ["c"], ["b"], [0.1]), joint_table(["a"], ["c"], ["b"], [0.2])
    both = joint_table(["b", "a"], ["c", "c"], ["b", "b"], [0.1, 0.2])
    assert one + two == two + one == both
    assert wmcc.JointTable.empty("ab", ["c", "a"]).labels == ("c", "a")
    assert wmcc.JointTable.empty("ab", ["c", "a"])["b"] == wmcc.Table.empty(["c", "a"])


# ---- an object to hold -----------------------------------------------------------------------------------


def test_it_is_frozen_copied_and_shown():
    joint = joint_table([0, 1, 1], [0, 1, 0], [0, 1, 1], [1.0, 2.5, 1e6], ignore=7)
    assert pickle.loads(pickle.dumps(joint)) == joint
    assert joint != joint.pair("b", "a")
    assert joint != joint["a"]
    assert joint.w.tolist() == [1.0, 1e6, 2.5]
    assert joint.w2.tolist() == [1.0, 1e12, 6.25]
    for array in (joint.cells.codes.T, joint.n, joint.w, joint.w_min, pickle.loads(pickle.dumps(joint)).cells.codes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        joint.n = joint.n
    assert "1,000,000" in repr(joint)
    assert "<td>1,000,000</td>" in joint._repr_html_()
    with pytest.raises(TypeError):
        joint + joint["a"]
    with pytest.raises(TypeError):
        hash(joint)
    many = joint_table(range(30), range(30), range(30))
    assert repr(many).endswith("Shown are the 20 heaviest of 30 cells; CSV and JSON have all.")
    assert repr(wmcc.JointTable.empty("ab")) == "Joint table of 0 classes: 0 rows, total weight 0"


# ---- refusals -------------------------------------------------------------------------------------------

Y = [0, 1, 1]
BAD = {
    "lengths": ((Y, Y, [0, 1]), r"y_true and y_pred\['b'\] must have the same shape; they have \(3,\) and \(2,\)"),
    "first length": ((Y, [0], Y), r"y_true and y_pred\['a'\] must have"),
    "weights": (
        (Y, Y, Y, np.eye(3)),
        "a weight matrix works for one prediction .* with several predictions",
    ),
    "one-hot": ((np.eye(3, dtype=int),) * 3, "one-hot"),
    "missing": ((Y, Y, [0, None, 1]), r"y_pred\['b'\]\[1\] is missing"),
    "missing text": ((["a"], pd.Series([None], dtype="str"), ["a"]), r"y_pred\['a'\]\[0\] is missing"),
    "fraction": ((Y, [0, 0.5, 1], Y), r"y_pred\['a'\]\[1\] is 0\.5"),
    "weight": ((Y, Y, Y, [1, 1, np.inf]), r"sample_weight\[2\] is inf"),
    "text weights": ((Y, Y, Y, ["1", "2", "3"]), "must be a real number"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_a_sentence(name):
    arguments, said = BAD[name]
    with pytest.raises(InputTypeError if "weights" in name else InputError, match=said):
        joint_table(*arguments)


def test_bad_calls_get_a_sentence():
    frame = pl.DataFrame({"t": [0], "a": [0], "b": [0]})
    for call, said in (
        (lambda: joint_table(Y, Y, Y, weight="w"), "`weight` is for a frame"),
        (lambda: joint_table(Y, Y, 5), r"y_pred\['b'\] is 5 .*a tensor of labels\.$"),
        (lambda: wmcc.tabulate(frame, true="t", pred={"a": "a", "b": None}), "a NoneType cannot be used as a column"),
    ):
        with pytest.raises(InputTypeError, match=said):
            call()
    with pytest.raises(InputError, match="no column 'c'"):
        wmcc.tabulate(frame, true="t", pred={"a": "a", "b": "c"})
    with pytest.raises(InputError, match="`threads` is 0"):
        joint_table(Y, Y, Y, threads=0)
    with pytest.raises(InputError, match="in labels and in ignore"):
        joint_table(Y, Y, Y, labels=Y[:2], ignore=1)
    with pytest.raises(InputError, match="at least one"):
        wmcc.tabulate(Y, {})
    with pytest.raises(InputError, match="expected different strings"):
        wmcc.tabulate(Y, {1: Y, "1": Y})
    with pytest.raises(InputError, match="there is no prediction 'c'; the predictions are 'a', 'b'"):
        joint_table(Y, Y, Y)["c"]
    with pytest.raises(InputError, match="2 different names of predictions"):
        joint_table(Y, Y, Y).pair("a", "a")
    with pytest.raises(InputError, match="predictions 'a', 'b', the other 'b', 'a'; they cannot be merged"):
        joint_table(Y, Y, Y) + joint_table(Y, Y, Y).pair("b", "a")


@given(triples(), st.integers(1, 6))
def test_any_number_of_predictions(data, count):
    t, a, b, w = data
    preds = {f"model {k}": np.roll(a if k % 2 else b, k) for k in range(count)}
    joint = wmcc.tabulate(t, preds, w)
    assert joint.names == tuple(preds)
    assert joint.tables == {name: wmcc.tabulate(t, own, w, labels=joint.labels) for name, own in preds.items()}
    assert wmcc.JointTable.from_json(joint.to_json()) == joint
    assert wmcc.merge([joint, joint]) == joint + joint
    if count > 1:
        one, *_, last = preds
        assert joint.pair(last, one) == wmcc.tabulate(t, {last: preds[last], one: preds[one]}, w, labels=joint.labels)


def test_too_many_predictions_are_compared_in_pairs():
    t = np.arange(2000)
    with pytest.raises(TooManyClassesError, match=r"cannot hold 9 predictions of 2,000 classes.*\n\n.*in pairs"):
        wmcc.tabulate(t, {str(k): t for k in range(9)})
    with pytest.raises(TooManyClassesError, match="in pairs"):
        wmcc.tabulate([0, 1], {str(k): [0, 1] for k in range(20)})
    assert wmcc.tabulate(["x", "y"], {str(k): ["y", "x"] for k in range(14)}).rows == 2


@given(st.lists(any_weight, min_size=1, max_size=6), st.data())
def test_weights_of_any_size_merge_exactly(weights, data):
    zeros = [0] * len(weights)
    cut = data.draw(st.integers(0, len(weights)))
    whole = joint_table(zeros, zeros, zeros, weights)
    parts = [joint_table(*[zeros[: len(x)]] * 3, x) for x in (weights[:cut], weights[cut:]) if x]
    assert sum(parts) == whole
    assert fractions(whole.w_exact) == [sum(map(Fraction, weights))]


def test_void_answers_of_a_rival_leave_two_classes_two():
    joint = wmcc.tabulate([0, 1, 1], {"a": [0, 1, 0], "b": [0, 9, 1]}, ignore=9)
    assert wmcc.mcc(joint["a"]) == wmcc.score(joint["a"]).mcc == wmcc.mcc([0, 1, 1], [0, 1, 0])
    assert wmcc.score(joint["b"]).mcc is None
    with pytest.raises(InputError, match="void labels were predicted"):
        wmcc.mcc(joint["b"])

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
from helpers import KERNELS, any_weight, rows, using
from hypothesis import given
from hypothesis import strategies as st

import wmcc
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
        joint = wmcc.joint_table(t, a, b, w)
    labels = tuple(sorted({*t.tolist(), *a.tolist(), *b.tolist()}))
    assert joint.labels == labels
    expected = defaultdict(list)
    for *cell, weight in zip(t.tolist(), a.tolist(), b.tolist(), w.tolist(), strict=True):
        expected[tuple(map(labels.index, cell))].append(weight)
    assert list(map(tuple, joint.cells.tolist())) == sorted(expected)
    weights = [expected[cell] for cell in sorted(expected)]
    assert joint.n.tolist() == [len(x) for x in weights]
    assert fractions(joint.w_exact) == [sum(map(Fraction, x)) for x in weights]
    assert (joint.w_min.tolist(), joint.w_max.tolist()) == ([min(x) for x in weights], [max(x) for x in weights])
    assert joint.rows == len(t)
    with using("numpy"):
        for margin, pred in ((joint.first, a), (joint.second, b)):
            assert margin == wmcc.tabulate(t, pred, w, labels=labels)
            assert margin.total == joint.total


@given(data=triples())
def test_without_weights_each_row_weighs_one(data):
    t, a, b, _ = data
    joint = wmcc.joint_table(t, a, b)
    assert joint == wmcc.joint_table(t, a, b, np.ones(len(t)))
    assert joint.second == wmcc.tabulate(t, b, labels=joint.labels)


@given(triples(), st.integers(0, 4), st.integers(1, 5))
def test_order_shards_and_threads_do_not_matter(data, seed, threads):
    joint = wmcc.joint_table(*data)
    order = np.random.default_rng(seed).permutation(len(data[0]))
    shuffled = [x[order] for x in data]
    assert wmcc.joint_table(*shuffled, threads=threads) == joint
    shards = [[x[i::threads] for x in shuffled] for i in range(threads)]
    parts = [wmcc.joint_table(*shard) for shard in shards if len(shard[0])]
    assert sum(parts) == joint  # the classes of a shard need not be all
    assert sum(reversed(parts)) == joint
    assert joint + wmcc.JointTable.empty() == joint
    assert (joint + joint).n.tolist() == (2 * joint.n).tolist()
    assert (joint + joint).first == joint.first + joint.first


@given(data=triples())
def test_swapping_changes_sides(data):
    t, a, b, w = data
    joint = wmcc.joint_table(t, a, b, w)
    assert joint.swapped() == wmcc.joint_table(t, b, a, w)
    assert joint.swapped().swapped() == joint
    assert (joint.swapped().first, joint.swapped().second) == (joint.second, joint.first)


@pytest.mark.parametrize("K", [2, 5, 30])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_many_rows(K, threads):
    rng = np.random.default_rng(K)
    t, a, b = rng.integers(0, K, (3, 200_000))
    w = np.where(rng.random(200_000) < 0.1, 10.0 ** rng.uniform(-200, 200, 200_000), rng.lognormal(0, 2, 200_000))
    joint = wmcc.joint_table(t, a, b, w, threads=threads)
    assert (joint.first, joint.second) == (wmcc.tabulate(t, a, w), wmcc.tabulate(t, b, w))
    with using("numpy"):
        assert wmcc.joint_table(t, a, b, w) == joint


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
        joint = wmcc.joint_table(t, a, b, w, ignore=[7, 8], labels=[*range(7), *range(9, 40)])
        text = wmcc.joint_table(*(x.astype(str) for x in (t, a, b)), ignore=["7", "8"])
    monkeypatch.undo()
    assert joint == wmcc.joint_table(t, a, b, w, ignore=[7, 8])
    assert len(joint.n) > 1 << 12  # it had to make room
    kept = ~np.isin([t, a, b], [7, 8]).any(axis=0)
    assert joint.ignored == (~kept).sum()
    assert joint.first.n.tolist() == wmcc.tabulate(t[kept], a[kept], w[kept]).n.tolist()
    assert sorted(text.n.tolist()) == sorted(joint.n.tolist())


def test_sparse_rows_are_refused_alike(sparse):
    with pytest.raises(wmcc.LabelError, match=r"pred_b\[1\] is 5, which is not among labels=\(0, 1\)"):
        wmcc.joint_table([0, 1], [0, 1], [0, 5], labels=[0, 1])
    with pytest.raises(wmcc.WeightError, match=r"sample_weight\[1\] is -1.0"):
        wmcc.joint_table([0, 1], [0, 1], [0, 1], [1, -1])


@pytest.mark.parametrize("kind", [np.int64, str])
def test_hundreds_of_classes(kind):
    rng = np.random.default_rng(2)
    t, a, b = rng.integers(0, 900, (3, 5_000)).astype(kind)
    w = rng.random(5_000)
    joint = wmcc.joint_table(t, a, b, w)
    assert joint.first == wmcc.tabulate(t, a, w, labels=joint.labels)
    assert joint.second == wmcc.tabulate(t, b, w, labels=joint.labels)


def test_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr(arrays, "SMALL_ROOM", 0)
    monkeypatch.setattr(arrays, "available", lambda: 100 * 2 * arrays.CELL_BYTES)
    with pytest.raises(wmcc.TooManyClassesError, match="more than 100 different combinations"):
        wmcc.joint_table(*np.arange(600).reshape(3, 200))


# ---- labels ---------------------------------------------------------------------------------------------


def test_a_row_is_ignored_for_any_of_its_labels():
    joint = wmcc.joint_table([0, 1, 9, 1], [0, 9, 0, 1], [0, 1, 0, 9], [1.0, np.nan, -1, np.inf], ignore=9)
    assert (joint.rows, joint.ignored, joint.labels) == (1, 3, (0,))
    assert joint.first.ignored == 3


def test_labels_are_those_of_all_columns():
    assert wmcc.joint_table(["b"], ["b"], ["a"]).labels == ("a", "b")
    assert wmcc.joint_table(["b"], ["b"], ["a"], labels=["c", "b", "a"]).cells.tolist() == [[1, 1, 2]]
    assert wmcc.joint_table([True], [True], [False]).labels == (False, True)
    assert [type(x) for x in wmcc.joint_table([True], [True], [0]).labels] == [int, int]
    with pytest.raises(wmcc.InputTypeError, match="mixed types"):
        wmcc.joint_table([1], [1], ["a"])
    categories = pd.Series(["x", "y"], dtype="category")
    joint = wmcc.joint_table(categories, pl.Series(["x", "x"]), pa.array(["z", "y"]))
    assert joint.labels == ("x", "y", "z")
    image = np.arange(6).reshape(2, 3) % 2
    assert wmcc.joint_table(image, image.T.reshape(2, 3), image).rows == 6


def test_merging_aligns_classes():
    one, two = wmcc.joint_table(["b"], ["c"], ["b"], [0.1]), wmcc.joint_table(["a"], ["c"], ["b"], [0.2])
    both = wmcc.joint_table(["b", "a"], ["c", "c"], ["b", "b"], [0.1, 0.2])
    assert one + two == two + one == both
    assert wmcc.JointTable.empty(["c", "a"]).labels == ("c", "a")
    assert wmcc.JointTable.empty(["c", "a"]).second == wmcc.Table.empty(["c", "a"])


# ---- an object to hold -----------------------------------------------------------------------------------


def test_it_is_frozen_copied_and_shown():
    joint = wmcc.joint_table([0, 1, 1], [0, 1, 0], [0, 1, 1], [1.0, 2.5, 1e6], ignore=7)
    assert pickle.loads(pickle.dumps(joint)) == joint
    assert joint != joint.swapped()
    assert joint != joint.first
    assert joint.w.tolist() == [1.0, 1e6, 2.5]
    assert joint.w2.tolist() == [1.0, 1e12, 6.25]
    for array in (joint.cells, joint.n, joint.w, joint.w_min, pickle.loads(pickle.dumps(joint)).cells):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        joint.n = joint.n
    assert "1,000,000" in repr(joint)
    assert "<td>1,000,000</td>" in joint._repr_html_()
    with pytest.raises(TypeError):
        joint + joint.first
    with pytest.raises(TypeError):
        hash(joint)
    many = wmcc.joint_table(range(12), range(12), range(12))
    assert repr(many).endswith("… the first 10 of 12 cells")
    assert repr(wmcc.JointTable.empty()) == "JointTable of 0 classes: 0 rows, total weight 0"


# ---- refusals -------------------------------------------------------------------------------------------

Y = [0, 1, 1]
BAD = {
    "lengths": ((Y, Y, [0, 1]), r"y_true and pred_b must have the same shape; they have \(3,\) and \(2,\)"),
    "first length": ((Y, [0], Y), "y_true and pred_a must have"),
    "weights": (
        (Y, Y, Y, np.eye(3)),
        r"shape of the labels, \(3,\); it has \(3, 3\)[\s\S]*one weight per observation\.$",
    ),
    "no rows": (([], [], []), "no rows: y_true and pred_a and pred_b are empty"),
    "one-hot": ((np.eye(3, dtype=int),) * 3, "one-hot"),
    "missing": ((Y, Y, [0, None, 1]), r"pred_b\[1\] is missing"),
    "missing text": ((["a"], pd.Series([None], dtype="str"), ["a"]), r"pred_a\[0\] is missing"),
    "fraction": ((Y, [0, 0.5, 1], Y), r"pred_a\[1\] is 0\.5"),
    "weight": ((Y, Y, Y, [1, 1, np.inf]), r"sample_weight\[2\] is inf"),
    "text weight": ((Y, Y, Y, ["1", "2", "3"]), "must be a real number"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_a_sentence(name):
    arguments, said = BAD[name]
    with pytest.raises(wmcc.InputError if name != "text weight" else wmcc.InputTypeError, match=said):
        wmcc.joint_table(*arguments)


def test_bad_calls_get_a_sentence():
    frame = pl.DataFrame({"t": [0], "a": [0], "b": [0]})
    for call, said in (
        (lambda: wmcc.joint_table(Y, Y), "expected y_true, pred_a and pred_b"),
        (lambda: wmcc.joint_table(Y, Y, Y, engine="duckdb"), "engine= goes with a frame"),
        (lambda: wmcc.joint_table(Y, Y, Y, weight="w"), "weight= goes with a frame"),
        (lambda: wmcc.joint_table(Y, Y, 5), "pred_b is 5 .*a tensor of labels\\.$"),
        (lambda: wmcc.joint_table(frame, "t", "a"), "expected three columns of labels, as in joint_table"),
        (lambda: wmcc.joint_table(frame, "t", "a", "b", "w", true="t"), "columns are true, pred_a, pred_b, weight"),
    ):
        with pytest.raises(wmcc.InputTypeError, match=said):
            call()
    with pytest.raises(wmcc.InputError, match="no column 'c'"):
        wmcc.joint_table(frame, "t", "a", "c")
    with pytest.raises(wmcc.InputError, match="threads is 0"):
        wmcc.joint_table(Y, Y, Y, threads=0)
    with pytest.raises(wmcc.InputError, match="in labels and in ignore"):
        wmcc.joint_table(Y, Y, Y, labels=Y[:2], ignore=1)


@given(st.lists(any_weight, min_size=1, max_size=6), st.data())
def test_weights_of_any_size_merge_exactly(weights, data):
    zeros = [0] * len(weights)
    cut = data.draw(st.integers(0, len(weights)))
    whole = wmcc.joint_table(zeros, zeros, zeros, weights)
    parts = [wmcc.joint_table(*[zeros[: len(x)]] * 3, x) for x in (weights[:cut], weights[cut:]) if x]
    assert sum(parts) == whole
    assert fractions(whole.w_exact) == [sum(map(Fraction, weights))]

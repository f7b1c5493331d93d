"""Weight matrices: any form of S gives the table of its non-zeros, to the bit."""

import tracemalloc
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from helpers import FORMATS, KERNELS, any_weight, pairs, using
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import _rounded_square

import wmcc
from wmcc.core.design import PIXELS
from wmcc.errors import InputError, InputTypeError, LabelError, WeightError
from wmcc.sources import matrix

NAN, INF = float("nan"), float("inf")


def oracle(t, c, S):
    """Every sum in fractions, by a double loop."""
    labels = sorted({*t, *c})
    n, w, w2, low, high = ({(a, b): None for a in labels for b in labels} for _ in range(5))
    for i, a in enumerate(t):
        for j, b in enumerate(c):
            x = float(S[i, j])
            if x:
                n[a, b] = (n[a, b] or 0) + 1
                w[a, b] = (w[a, b] or 0) + Fraction(x)
                w2[a, b] = (w2[a, b] or 0) + _rounded_square(x)
                low[a, b], high[a, b] = min(low[a, b] or x, x), max(high[a, b] or x, x)
    return labels, n, w, w2, low, high


def whole(exact):
    """An array of exact sums as fractions."""
    return [Fraction(x) * Fraction(2) ** exact.exponent for row in exact.integers() for x in row]


@pytest.mark.parametrize("kernel", KERNELS)
@given(data=pairs())
def test_the_table_is_that_of_the_double_loop(kernel, data):
    t, c, S = data
    labels, n, w, w2, low, high = oracle(t, c, S)
    with using(kernel):
        table = wmcc.tabulate(t, c, S)
    assert list(table.labels) == labels
    assert table.n.reshape(-1).tolist() == [x or 0 for x in n.values()]
    assert whole(table.w_exact) == [x or 0 for x in w.values()]
    assert whole(table.w2_exact) == [x or 0 for x in w2.values()]
    for got, expected in ((table.w_min, low), (table.w_max, high)):
        assert [None if np.isnan(x) else x for x in got.reshape(-1)] == list(expected.values())


@pytest.mark.parametrize("kernel", KERNELS)
@given(data=pairs())
@settings(max_examples=30)
def test_every_form_gives_the_same_bits(kernel, data):
    t, c, S = data
    with using(kernel):
        expected = wmcc.tabulate(t, c, S)
        for form in (np.asfortranarray, np.ndarray.tolist, pd.DataFrame, lambda x: np.repeat(x, 2, axis=1)[:, ::2]):
            assert wmcc.tabulate(t, c, form(S)) == expected
        for name in FORMATS:
            for kind in (sp.csr_array, sp.csr_matrix):
                assert wmcc.tabulate(t, c, kind(S).asformat(name)) == expected, name


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
@pytest.mark.parametrize("kernel", KERNELS)
@given(data=pairs(weight=any_weight.filter(bool)), ignore=st.lists(st.integers(0, 4), max_size=2, unique=True))
def test_a_diagonal_is_the_vector(kernel, data, ignore):
    t, c, S = data
    w = np.where(S.diagonal() > 0, S.diagonal(), 1.0)
    with using(kernel):
        expected = wmcc.tabulate(t, c, w, ignore=ignore)
        for form in (np.diag, sp.diags_array):
            found = wmcc.tabulate(t, c, form(w), ignore=ignore)
            assert found.drawn.kind == "pairs"
            assert replace(found, drawn=expected.drawn) == expected


@given(data=pairs())
def test_swapping_truth_and_prediction_transposes(data):
    t, c, S = data
    one, other = wmcc.tabulate(t, c, S), wmcc.tabulate(c, t, S.T)
    assert other.labels == one.labels
    assert np.array_equal(other.n, one.n.T)
    for name in ("w", "w2", "w_min", "w_max"):
        assert np.array_equal(getattr(other, name), getattr(one, name).T, equal_nan=True), name


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
@pytest.mark.parametrize("kernel", KERNELS)
@given(data=pairs(), ignore=st.integers(0, 4))
def test_ignored_entries_are_left_out_and_not_looked_at(kernel, data, ignore):
    t, c, S = data
    out = np.broadcast_to(np.array(t)[:, None] == ignore, S.shape)  # the truth decides
    with using(kernel):
        expected = wmcc.tabulate(t, c, np.where(out, 0.0, S))
        predicted = [label for label, w in zip(expected.labels, expected.pred_sums, strict=True) if w > 0]
        for value in (1.0, NAN, -INF):
            spoilt = np.where(out & (S != 0), value, S)
            for form in (np.array, sp.csc_array):
                table = wmcc.tabulate(t, c, form(spoilt), ignore=ignore)
                assert table.ignored == np.count_nonzero(out & (S != 0))
                assert table.rows == expected.rows
                kept = [expected.labels.index(label) for label in table.labels]
                assert np.array_equal(table.w, expected.w[np.ix_(kept, kept)])
                assert table.void == ((ignore,) if ignore in table.labels else ())
                assert (ignore in table.labels) >= (ignore in predicted)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pd.Categorical, lambda x: np.array(x, object)])
def test_labels_of_every_kind(kernel, make):
    t, c = [2, 0, 2, 1, 0], [2, 1, 0, 1, 0]
    S = np.arange(25.0).reshape(5, 5)
    with using(kernel):
        expected = wmcc.tabulate(t, c, S)
        assert wmcc.tabulate(make(t), make(c), S) == expected
        wide = {0: -(10**15), 1: 7, 2: 10**15}
        names = {0: "ash", 1: "elm", 2: "oak"}
        for other in (wide, names):
            table = wmcc.tabulate(make([other[k] for k in t]), make([other[k] for k in c]), S)
            assert table.labels == tuple(other.values())
            assert table.w_exact == expected.w_exact
        flags = wmcc.tabulate(make([k > 0 for k in t]), make([k > 0 for k in c]), S)
        assert flags.labels == (False, True)
        assert flags.total == expected.total


def test_labels_options_and_threads():
    t, c, S = ["b", "a", "c"], ["a", "a", "b"], np.array([[1, 0, 2], [0, 0, 0], [4, 8, 0]])
    table = wmcc.tabulate(t, c, S, labels=["c", "b", "a", "z"])
    assert table.labels == ("c", "b", "a", "z")
    assert table.w.tolist() == [[0, 0, 12, 0], [0, 2, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert wmcc.tabulate(t, c, S, threads=3) == wmcc.tabulate(t, c, S)
    two = wmcc.tabulate(["x", "y"], ["x", "x"], np.eye(2), positive="y")
    assert two.positive == "y"
    assert wmcc.tabulate(["x"], ["x"], [[1.0]], positive="y").labels == ("x", "y")


def test_labels_that_meet_zeros_stay_known():
    S = sp.coo_array(([2.0], ([0], [0])), shape=(3, 3))
    table = wmcc.tabulate([5, 6, 7], [5, 6, 8], S)
    assert table.labels == (5, 6, 7, 8)
    assert table.rows == 1
    nothing = wmcc.tabulate([5, 6], [5, 5], sp.csr_array((2, 2)))
    assert (nothing.labels, nothing.rows, nothing.total) == ((5, 6), 0, 0.0)


def test_a_label_known_only_through_another_rows_weight():
    t, c = [0, 1, 255], [0, 1, 7]
    S = np.eye(3)
    assert wmcc.tabulate(t, c, S, ignore=255).labels == (0, 1)  # as with a vector: its own row is ignored
    S[0, 2] = 3.0
    table = wmcc.tabulate(t, c, S, ignore=255)
    assert (table.labels, table.w[0, 2], table.ignored) == ((0, 1, 7), 3.0, 1)
    assert wmcc.tabulate(t, c, np.eye(3), ignore=255, labels=[0, 1]).rows == 2
    with pytest.raises(LabelError, match=r"y_pred\[2\] is 7, which is not among `labels`, 0, 1"):
        wmcc.tabulate(t, c, S, ignore=255, labels=[0, 1])


@pytest.mark.parametrize("kernel", KERNELS)
def test_everything_may_be_ignored(kernel):
    with using(kernel):
        for labels in ([255], ["void"], [True]):
            table = wmcc.tabulate(labels, labels, [[2.0]], ignore=labels[0])
            assert (table.labels, table.ignored, table.rows) == ((), 1, 0)


def test_matrices_of_labels_have_a_weight_each():
    labels, w = [[0, 1], [1, 1]], np.array([[1.0, 2], [4, 8]])
    flat = wmcc.tabulate([0, 1, 1, 1], [0, 1, 1, 1], w.ravel())
    assert wmcc.tabulate(labels, labels, w) == replace(flat, drawn=PIXELS)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "g", ">f4", object])
def test_weights_of_every_type(dtype):
    S = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]])
    expected = wmcc.tabulate([0, 1, 1], [0, 1, 0], S.astype(float))
    assert wmcc.tabulate([0, 1, 1], [0, 1, 0], S.astype(dtype)) == expected
    if dtype not in ("f2", ">f4", object):  # which SciPy has no sparse matrices of
        assert wmcc.tabulate([0, 1, 1], [0, 1, 0], sp.coo_array(S.astype(dtype))) == expected


def test_duplicates_are_summed_and_stored_zeros_are_none():
    value, row, column = [1.0, 2.0, 4.0, -1.0, 0.0], [0, 0, 1, 1, 1], [1, 1, 0, 0, 1]
    coo = sp.coo_array((value, (row, column)), shape=(2, 2))
    csr = sp.csr_array((value, column, [0, 2, 5]), shape=(2, 2))
    csc = sp.csc_array((value, column, [0, 2, 5]), shape=(2, 2)).T
    for S in (coo, csr, csc):
        table = wmcc.tabulate([0, 1], [0, 1], S)
        assert (table.w.tolist(), table.n.tolist()) == ([[0, 3], [3, 0]], [[0, 1], [1, 0]])
    assert (csr.nnz, coo.nnz) == (5, 5)  # the caller's matrices are as they were
    assert csr.data.tolist() == value


@pytest.mark.parametrize("chunk", [1, 2, 5])
@given(data=pairs())
@settings(max_examples=20)
def test_chunks_change_nothing(chunk, data):
    t, c, S = data
    expected, before = wmcc.tabulate(t, c, S), matrix.CHUNK
    matrix.CHUNK = chunk
    try:
        for form in (np.array, sp.csr_array, sp.csc_array):
            assert wmcc.tabulate(t, c, form(S), labels=expected.labels) == expected
    finally:
        matrix.CHUNK = before


def test_memory_is_bounded():
    N = 3000
    rng = np.random.default_rng(0)
    t, S = rng.integers(0, 5, N), rng.random((N, N))
    wmcc.tabulate(t[:100], t[:100], S[:100, :100])
    tracemalloc.start()
    wmcc.tabulate(t, t, S)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * matrix.CHUNK  # labels and places of all entries would take three times that


# ---- what is refused ---------------------------------------------------------------------------------

Y = [0, 1, 1]
ONES = np.ones((3, 3))


def spoilt(value, i=1, j=2):
    S = np.ones((3, 3))
    S[i, j] = value
    return S


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("value", [-2.5, NAN, INF, -INF])
@pytest.mark.parametrize("form", [np.array, np.asfortranarray, *(getattr(sp, f"{x}_array") for x in FORMATS[:3])])
def test_the_bad_entry_is_named(kernel, value, form):
    came = r"nan \(missing\)" if value != value else repr(value)
    said = rf"sample_weight\[1, 2\] is {came}; a weight must be"
    message = rf"{said}[\s\S]*Hint: a weight of 0 leaves a pair out"
    with using(kernel), pytest.raises(WeightError, match=message):
        wmcc.tabulate(Y, Y, form(spoilt(value)))


def test_the_bad_entry_of_a_late_chunk_is_named(monkeypatch):
    monkeypatch.setattr(matrix, "CHUNK", 2)
    for form in (np.array, sp.csr_array, sp.csc_array):
        with pytest.raises(WeightError, match=r"sample_weight\[2, 1\] is -1.0"):
            wmcc.tabulate(Y, Y, form(spoilt(-1.0, 2, 1)))


REFUSED = {
    "not square": (
        InputError,
        np.ones((3, 2)),
        r"shape of the labels, \(3,\); it has \(3, 2\)[\s\S]*N x N",
    ),
    "too small": (InputError, np.ones((2, 2)), r"it has \(2, 2\)"),
    "a cube": (InputError, np.ones((3, 3, 3)), r"it has \(3, 3, 3\)"),
    "sparse column": (
        InputError,
        sp.csr_array(np.ones((3, 1))),
        r"shape \(3, 1\).*need \(3, 3\)[\s\S]*ravel",
    ),
    "sparse row": (
        InputError,
        sp.coo_matrix(np.ones((1, 3))),
        r"shape \(1, 3\)[\s\S]*toarray\(\).ravel\(\)",
    ),
    "sparse vector": (InputError, sp.coo_array(np.ones(3)), r"shape \(3,\)[\s\S]*ravel"),
    "sparse, too wide": (
        InputError,
        sp.csr_array(np.ones((3, 4))),
        r"\(3, 4\); 3 labels[\s\S]*the i-th true",
    ),
    "complex": (InputTypeError, ONES * 1j, "complex numbers"),
    "sparse complex": (InputTypeError, sp.csr_array(ONES * 1j), "sample_weight holds complex numbers"),
    "text": (InputTypeError, ONES.astype(str), "text"),
    "an iterator": (InputTypeError, iter(ONES), r"sample_weight is .*expected an array[\s\S]*list\("),
}


@pytest.mark.parametrize(("error", "S", "message"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_no_weight_matrix(error, S, message):
    with pytest.raises(error, match=message):
        wmcc.tabulate(Y, Y, S)


def test_labels_must_be_vectors():
    for S in (sp.csr_array((2, 2)), np.ones((2, 2, 2, 2))):
        with pytest.raises(InputError, match=r"must be vectors; they have shape \(2, 2\)[\s\S]*ravel"):
            wmcc.tabulate([[0, 2], [3, 1]], [[0, 2], [3, 1]], S)


def test_labels_are_checked():
    with pytest.raises(LabelError, match=r"y_pred\[1\] is 7, which is not among"):
        wmcc.tabulate([0, 1], [0, 7], np.eye(2), labels=[0, 1])
    with pytest.raises(LabelError, match=r"y_true\[1\] is missing"):
        wmcc.tabulate(["a", None], ["a", "b"], np.eye(2))
    with pytest.raises(InputTypeError, match="mixed types"):
        wmcc.tabulate(["a", "b"], [0, 1], np.eye(2))
    with pytest.raises(InputTypeError, match="mixed types"):
        wmcc.tabulate([0, 1], [0, 1], np.eye(2), ignore="1")
    many = np.arange(3000)
    assert wmcc.tabulate(many, many, sp.eye_array(3000)).cells == wmcc.tabulate(many, many).cells


def test_measures_take_matrices():
    t, c = [0, 1, 1, 0], [0, 1, 0, 0]
    S = np.diag([4.0, 3, 2, 1]) + 0.25
    assert wmcc.mcc(t, c, sample_weight=S) == wmcc.mcc(wmcc.tabulate(t, c, S))
    assert wmcc.score(t, c, sample_weight=sp.csr_array(S)).mcc == wmcc.mcc(t, c, sample_weight=S)
    with pytest.raises(InputError, match="no observations"):
        wmcc.mcc(t, c, sample_weight=np.zeros((4, 4)))

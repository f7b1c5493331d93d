"""The same rows give the same table in every byte order, alignment and stride, and in any order of rows."""

import ctypes

import numpy as np
import pandas as pd
import pytest
from adversary_arrays import LABEL_TYPES, WEIGHT_TYPES, hunt_arrays, labels, laid_out, ways, weights
from helpers import KERNELS, few, using
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.errors import WmccError

pytestmark = pytest.mark.slow

both_kernels = pytest.mark.parametrize("kernel", KERNELS)


@both_kernels
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("dtype", LABEL_TYPES)
def test_labels_in_every_layout(kernel, dtype, constant):
    random = np.random.default_rng(0)
    t, p = np.split(labels(random, dtype, 24), 2)
    t = t[[0] * 12] if constant else t
    with using(kernel):
        expected, swapped = wmcc.tabulate(t, p), wmcc.tabulate(p, t)
        for way in ways(constant):
            x = laid_out(t, way)
            assert wmcc.tabulate(x, p) == expected, way
            assert wmcc.tabulate(p, x) == swapped, way
            assert wmcc.tabulate(x[:, None], p[:, None]) == expected, way


@both_kernels
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("dtype", WEIGHT_TYPES)
def test_weights_in_every_layout(kernel, dtype, constant):
    random = np.random.default_rng(0)
    w = weights(random, dtype, 12)
    w = w[[1] * 12] if constant else w
    t, p = (labels(random, "u1", 12) for _ in range(2))
    with using(kernel):
        expected = wmcc.tabulate(t, p, w)
        for way in ways(constant):
            assert wmcc.tabulate(t, p, laid_out(w, way)) == expected, way


def test_generated_layouts_are_what_they_say():
    x = np.arange(5, dtype="i4")
    kinds = {
        (y.dtype.byteorder, y.ctypes.data % 8, y.strides, y.flags.writeable)
        for y in (laid_out(x, way) for way in ways())
    }
    assert all(np.array_equal(laid_out(x, way), x) for way in ways())
    assert {k[0] for k in kinds} == {"=", "<", ">"}
    assert {k[1] % 4 for k in kinds} == {0, 1}
    assert {k[2] for k in kinds} == {(4,), (12,), (-4,), (8,)}
    assert {k[3] for k in kinds} == {True, False}


@both_kernels
def test_named_byte_orders_of_other_makers(kernel):
    """ctypes, records and pandas all hand over arrays whose dtype names this machine's own byte order."""
    codes = [0, 1, 1, 0, 2, 1]
    made = np.ctypeslib.as_array((ctypes.c_int * 6)(*codes))
    named = np.array(codes, "i4").byteswap().view(np.dtype("i4").newbyteorder("S")).byteswap()
    named = named.view(named.dtype.newbyteorder("S"))
    records = np.zeros(6, dtype=[("skip", "u1"), ("y", "<i8")])
    records["y"] = codes
    with using(kernel):
        expected = wmcc.tabulate(codes, codes)
        for y in (made, named, records["y"], pd.Series(named), pd.DataFrame({"y": named})["y"]):
            assert wmcc.tabulate(y, y) == expected
        assert wmcc.tabulate(pd.DataFrame({"t": named, "p": named}), true="t", pred="p") == expected


def test_a_short_hunt():
    tables, found = hunt_arrays((7, 1.0))
    assert tables > 0
    assert found == []


# ---- objects of many types ----------------------------------------------------------------------------

ordinary = st.sampled_from([0, 1, 2, True, False, 1.0, 2.0, np.int8(1), np.float32(2), np.True_, np.longdouble(1)])
odd = st.sampled_from([1 + 0j, np.complex64(1), 0j, 0.5, None, float("nan"), (1,), np.datetime64(1, "ns"), 2**70])
unhashable = st.builds(np.array, st.integers(0, 2))
objects = st.one_of(ordinary, ordinary, ordinary, unhashable, odd)


def column(items):
    values = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        values[i] = item
    return values


def attempt(*columns):
    try:
        table = wmcc.tabulate(*columns)
    except WmccError as problem:
        return type(problem), str(problem)
    return table, [type(x) for x in table.labels]


@both_kernels
@few(300)
@given(data=st.data())
def test_the_order_of_rows_never_matters(kernel, data):
    rows = data.draw(st.lists(st.tuples(ordinary, objects), min_size=1, max_size=8))
    again = data.draw(st.permutations(rows))
    with using(kernel):
        first, second = (attempt(*map(column, zip(*order, strict=True))) for order in (rows, again))
        alone = [isinstance(attempt(column([x]), column([x]))[0], wmcc.Table) for _, x in again]
    assert isinstance(first[0], wmcc.Table) == isinstance(second[0], wmcc.Table) == all(alone)
    if all(alone):
        assert first == second
    else:
        assert f"y_pred[{alone.index(False)}]" in second[1]  # the first bad row


@both_kernels
@given(data=st.data())
def test_booleans_beside_integers_are_integers(kernel, data):
    """In one column or in two, whatever they came in: as lists and typed arrays have it."""
    truth = data.draw(st.lists(st.sampled_from([True, False, 0, 1, 2]), min_size=1, max_size=6))
    pred = data.draw(st.lists(st.sampled_from([True, False]), min_size=len(truth), max_size=len(truth)))
    forms = [list, column, lambda x: pd.Series(x, dtype=object)]
    if all(isinstance(x, bool) for x in truth):
        kind, forms = bool, [*forms, np.array, pd.Categorical]
    else:
        kind, forms = int, [*forms, lambda x: np.array(x, dtype=int), lambda x: np.array(x, dtype=float)]
    with using(kernel):
        for make in forms:
            for other in (list, column, np.array, pd.Categorical):
                tables = [wmcc.tabulate(make(truth), other(pred)), wmcc.tabulate(other(pred), make(truth))]
                assert {type(x) for table in tables for x in table.labels} == {kind}
                assert tables[0].labels == tables[1].labels == tuple(sorted({*map(int, truth), *map(int, pred)}))


@both_kernels
def test_an_ignored_integer_beside_booleans(kernel):
    with using(kernel):
        for make in (list, column):
            table = wmcc.tabulate(make([True, False, 255]), make([True, True, 0]), ignore=255)
            assert [(type(x), x) for x in table.labels] == [(int, 0), (int, 1)]
        text = wmcc.tabulate(column(["a", -1]), column(["b", "a"]), ignore=-1)
        assert (text.labels, text.ignored) == (("a", "b"), 1)


def test_keys_of_groups_follow_the_same_rule():
    for keys in ([True, 1], [1, True]):
        (key,) = wmcc.tabulate([0, 1], [0, 1], by=column(keys))
        assert type(key) is int
    (key,) = wmcc.tabulate([0, 1], [0, 1], by=column([True, True]))
    assert key is True


# ---- text that is none ----------------------------------------------------------------------------------


@both_kernels
def test_lone_surrogates_are_text(kernel):
    y = ["\ud800", "\udfff", "a", "\ud800"]
    with using(kernel):
        table = wmcc.tabulate(np.array(y), np.array(y))
        assert table == wmcc.tabulate(y, y) == wmcc.tabulate(column(y), column(y))
    assert table.labels == ("a", "\ud800", "\udfff")
    assert wmcc.Table.from_json(table.to_json()) == table

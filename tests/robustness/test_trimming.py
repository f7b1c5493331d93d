"""Trimmed weights: the score of the rows lies in the range that their table gives, which is as tight as it can be."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracle
import pytest
from helpers import any_weight, few, ordinary, rows
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

import wmcc
import wmcc.measures
from wmcc.core.stack import Stack
from wmcc.errors import WmccError
from wmcc.robustness.trimming import trimmed_box, trimmed_sum

MANY = [name for name in wmcc.measures.MEASURES if name != "mcc"]
T = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
P = [0, 0, 0, 0, 1, 1, 0, 2, 2, 1]
W = [1, 2, 4, 7, 3, 9, 1, 2, 25, 2]
TABLE = wmcc.tabulate(T, P, W)


@st.composite
def trimmed(draw, weight=any_weight):
    """Rows, and a cap below, among or above their weights."""
    data = draw(rows(classes=3, most=25, weight=weight))
    weights = sorted(x for x in data.w if x > 0)
    i, j = (draw(st.integers(0, len(weights) - 1)) for _ in range(2))
    at = draw(st.sampled_from([0.0, 0.3, 0.5, 1.0, 1.5]))
    cap = weights[i] + at * (weights[j] - weights[i])
    assume(0 < cap < np.inf)
    return data, float(cap)


def cut(weights, cap):
    return [min(Fraction(w), Fraction(cap)) for w in weights]


# ---- the adversary: the rows themselves --------------------------------------------------------------------


@given(trimmed(), st.sampled_from(MANY), st.sampled_from([1, 20]))
@few(60)
def test_the_score_of_the_trimmed_rows_is_in_the_range(case, name, nodes):
    data, cap = case
    table = wmcc.tabulate(*data.arrays)
    curve = wmcc.certify_trimming(table, name, caps=[cap], nodes=nodes)
    assume(curve.problem is None)
    (point,) = curve.points
    weights = cut(data.w, cap)
    true = oracle.exact(name, oracle.matrix(data.t, data.p, weights, table.labels), _occurring(data, table)) or 0
    assert Decimal(point.low) <= true <= Decimal(point.high)
    total = sum(map(Fraction, data.w))
    assert point.cut_low <= (total - sum(weights)) / total <= point.cut_high
    if point.exact is not None:
        assert point.exact == pytest.approx(float(true), abs=1e-15)


def _occurring(data, table):
    """Classes with weight, by place: those that a mean runs over."""
    used = {x for t, p, w in zip(*data, strict=True) if w > 0 for x in (t, p)}
    return [k for k, label in enumerate(table.labels) if label in used]


def box_ends(table, cap):
    """Smallest and largest trimmed sum of each cell, as fractions."""
    box = trimmed_box(table, cap)
    return [[x * Fraction(2) ** box.exponent for x in side] for side in (box.low, box.high)]


def check_box(table, cap, true):
    for t, p, low, high in zip(*table.cells.codes.tolist(), *box_ends(table, cap), strict=True):
        assert low <= true[t][p] <= high
        assert low > 0 or true[t][p] == 0


@given(trimmed(), st.integers(1, 4))
def test_the_sums_of_the_trimmed_rows_are_in_the_box(case, clusters):
    data, cap = case
    whole = wmcc.tabulate(*data.arrays)
    by = wmcc.tabulate(*data.arrays, cluster=[i % clusters for i in range(len(data.t))])
    true = oracle.matrix(data.t, data.p, cut(data.w, cap), whole.labels)
    for table in (whole, by):
        check_box(table, cap, true)
    near = Fraction(1, 2**45)  # squares are rounded
    for low, high, lower, higher in zip(*box_ends(by, cap), *box_ends(whole, cap), strict=True):
        assert lower * (1 - near) <= low <= high <= higher * (1 + near)


@given(trimmed(ordinary), st.data())
@few(50)
def test_tables_whose_ends_lie_further_out(case, drawn):
    """No row need have the smallest or the largest weight that a table names."""
    data, cap = case
    keep = drawn.draw(st.lists(st.booleans(), min_size=len(data.t), max_size=len(data.t)))
    rest = data.only(keep)
    table = wmcc.tabulate(*rest.arrays, labels=range(3))
    cells = table.raw_cells
    ends = {"w_min": np.minimum(cells.sums.w_min, min(data.w)), "w_max": np.maximum(cells.sums.w_max, max(data.w))}
    table = replace(table, raw_cells=Stack(cells.codes, cells.sums._replace(**ends)))
    true = oracle.matrix(rest.t, rest.p, cut(rest.w, cap), table.labels)
    check_box(table, cap, true)


# ---- how tight it is ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MANY)
def test_cells_on_one_side_of_the_cap_are_known(name):
    """Weights are 1 and 2 in one half of the cells, 8 and 9 in the other; caps between, below and above are exact."""
    rng = np.random.default_rng(7)
    t, p = rng.integers(0, 3, 300), rng.integers(0, 3, 300)
    w = np.where((t + p) % 2, rng.integers(1, 3, 300), rng.integers(8, 10, 300)) * 0.7
    curve = wmcc.certify_trimming(wmcc.tabulate(t, p, w), name, caps=[0.5, 3.3, 5.6, 6.0, 1e9])
    for point in curve.points:
        least = np.minimum(w, point.cap)
        assert (point.exact is None) == (point.cap == 6.0)
        if point.cap != 6.0:
            assert point.exact == wmcc.measures.MEASURES[name](t, p, sample_weight=least)
            assert np.nextafter(point.exact, -2) <= point.low <= point.high <= np.nextafter(point.exact, 2)
            assert point.cut_low == pytest.approx(1 - least.sum() / w.sum(), abs=1e-12)


CASES = {
    "few heavy weights": ([1.0] * 18 + [3.0, 20.0], 5.0),
    "as many above as below": ([4.0, 5.0, 6.0, 7.0] * 5 + [0.0, 11.0], 5.5),
    "only the smallest and the largest": ([1.0, 9.0] * 6, 4.0),
    "nearly all alike": ([5.0] * 30 + [4.9, 5.1, 0.1, 12.0], 5.02),
    "most at the top": ([10.0] * 15 + [1.0, 7.0, 8.0], 9.0),
    "most at the bottom": ([0.0] * 15 + [1.0, 7.0, 8.0], 2.0),
    "spread": (np.linspace(0.5, 12.0, 24).tolist(), 6.0),
    "spread, low cap": (np.linspace(0.5, 12.0, 24).tolist(), 1.0),
    "spread, high cap": (np.linspace(0.5, 12.0, 24).tolist(), 11.0),
}


@pytest.mark.parametrize("kind", CASES)
def test_the_range_is_what_the_sums_allow(kind):
    """A linear program over all shares of rows at 2,001 weights, with the same mean and mean square, finds it too."""
    w, cap = CASES[kind]
    n, least, most, scale = len(w), min(w), max(w), 2**70
    whole = [int(Fraction(x) * scale) for x in (sum(w), least, most, cap)]
    square = int(sum(Fraction(x) ** 2 for x in w) * scale**2)
    found = [x / scale for x in trimmed_sum(n, whole[0], square, *whole[1:])]
    at = np.unique(np.concatenate([np.linspace(least, most, 2001), w, [cap]]))
    moments = np.stack([np.ones_like(at), at, at**2])
    equal = {"A_eq": moments, "b_eq": moments[:, np.searchsorted(at, w)].sum(1), "bounds": (0, None)}
    best = [side * linprog(side * np.minimum(at, cap), **equal, method="highs").fun for side in (1, -1)]
    assert found[0] <= sum(min(x, cap) for x in w) + 1e-9
    assert found == pytest.approx(best, abs=1e-4 * (most - least))


def test_each_form_of_the_bound_is_the_best_somewhere():
    kinds, scale = set(), 2**30
    for w, c in CASES.values():
        n, S, Q, a, b = len(w), sum(w), sum(x * x for x in w), min(w), max(w)
        A, B, C = (sum((x - y) ** 2 for x in w) for y in (a, b, c))
        u, v, r = S - n * a, n * b - S, (C / n) ** 0.5
        above = {"middle": (C + 2 * r * (S - n * c) + n * r * r) / (4 * r)}
        above |= {"left": u - (c - a) * u * u / A} if 2 * (c - a) * u <= A else {}
        above |= {"right": (b - c) * (n - v * v / B)} if 2 * (b - c) * v <= B else {}
        below = {"none": 0.0, "mean": S - n * c, "parabola": (Q - (a + c) * S + n * a * c) / (b - a)}
        whole = [round(x * scale) for x in (S, a, b, c)]
        low, high = trimmed_sum(n, whole[0], round(Q * scale * scale), *whole[1:])
        assert low / scale == pytest.approx(S - min(above.values()), rel=1e-7)
        assert high / scale == pytest.approx(S - max(below.values()), rel=1e-7)
        kinds |= {min(above, key=above.get), max(below, key=below.get)}
    assert kinds == {"left", "middle", "right", "none", "mean", "parabola"}


def test_clusters_and_strata_tell_more():
    rng = np.random.default_rng(3)
    t = rng.integers(0, 3, 2000)
    p, w = np.where(rng.random(2000) < 0.8, t, rng.integers(0, 3, 2000)), np.round(rng.lognormal(0, 1, 2000), 2)
    plain, by = (wmcc.tabulate(t, p, w, **more) for more in ({}, {"cluster": np.arange(2000) // 5}))
    wide, narrow = (wmcc.certify_trimming(x, caps=[2.0]).points[0] for x in (plain, by))
    assert wide.low < narrow.low < wmcc.ecc(t, p, sample_weight=np.minimum(w, 2.0)) < narrow.high < wide.high
    assert narrow.high - narrow.low < 0.1 * (wide.high - wide.low)
    assert narrow.exact is None
    alone = wmcc.certify_trimming(wmcc.tabulate(t, p, w, cluster=np.arange(2000)), caps=[2.0]).points[0]
    assert alone.exact == wmcc.ecc(t, p, sample_weight=np.minimum(w, 2.0))


def test_weights_of_strata_are_known():
    """Rows of a stratum weigh what its size divided by its rows is, one number: nothing is left open."""
    rng = np.random.default_rng(4)
    t, stratum = rng.integers(0, 3, 400), rng.integers(0, 3, 400)
    p = np.where(rng.random(400) < 0.7, t, rng.integers(0, 3, 400))
    sizes = {0: 1000.0, 1: 4000.0, 2: 90000.0}
    w = np.array([sizes[h] / np.sum(stratum == h) for h in range(3)])[stratum]
    table = wmcc.tabulate(t, p, design=wmcc.Strata(stratum, population=sizes))
    for point in wmcc.certify_trimming(table, caps=[5.0, 100.0, 1e6]).points:
        assert point.exact == pytest.approx(wmcc.ecc(t, p, sample_weight=np.minimum(w, point.cap)), abs=1e-12)


# ---- what it says ------------------------------------------------------------------------------------------


def test_a_curve():
    curve = wmcc.certify_trimming(TABLE, "ecc", caps=[20, 5, 1])
    assert curve.caps.tolist() == [20.0, 5.0, 1.0]
    assert (curve.measure, curve.value, curve.n, curve.total) == ("ecc", wmcc.ecc(TABLE), 10, 56.0)
    assert [point.exact is None for point in curve.points] == [True, True, False]
    assert curve.points[2].exact == wmcc.ecc(T, P)
    assert (curve.low <= curve.high).all()
    assert curve.points[1].cut_low < 25 / 56 < curve.points[1].cut_high
    assert "44.6 % to 47.2 %" in repr(curve)
    assert repr(curve).count("Where there is a range") == 1
    assert "A range stands" not in repr(wmcc.certify_trimming(TABLE, caps=np.array([1, 25, 1e300])))
    nothing = wmcc.certify_trimming(TABLE, caps=[25.0]).points[0]
    assert (nothing.exact, nothing.cut_low, nothing.cut_high) == (wmcc.ecc(TABLE), 0.0, 0.0)
    rows = curve.to_frame().to_dict("records")
    assert [row["cap"] for row in rows] == [20.0, 5.0, 1.0]
    assert rows[1]["low"] == curve.low[1]


def test_weights_of_zero_and_a_class_without_weight():
    t, p, w = [0, 0, 1, 1, 2], [0, 1, 1, 0, 2], [9.0, 0.0, 4.0, 1.0, 0.0]
    for name in MANY:
        curve = wmcc.certify_trimming(wmcc.tabulate(t, p, w), name, caps=[2.0])
        assert curve.points[0].exact == wmcc.measures.MEASURES[name](t, p, sample_weight=np.minimum(w, 2.0))


def test_an_undefined_measure_has_no_range():
    curve = wmcc.certify_trimming(wmcc.tabulate([0, 0], [0, 1], [1.0, 5.0]), caps=[2.0, 3.0])
    assert "undefined at these weights" in curve.problem
    assert np.isnan([*curve.low, *curve.high]).all()
    assert [point.exact for point in curve.points] == [None, None]
    assert repr(curve).count("There is no range: ECC (R_K) is undefined") == 1
    assert repr(curve).count("—") == 2


WRONG = {
    "one": ({"caps": 5}, "`caps` is 5; expected a list of numbers"),
    "nan": ({"caps": np.nan}, "`caps` is nan; expected a list of numbers"),
    "text": ({"caps": "5"}, "`caps` is '5'; expected a list of numbers"),
    "none": ({"caps": []}, "`caps` is empty; expected at least one number"),
    "zero": ({"caps": [5, 0]}, "`caps` is 0; expected a number above 0"),
    "negative": ({"caps": [-1]}, "`caps` is -1; expected a number above 0"),
    "infinite": ({"caps": [float("inf")]}, "`caps` is 'inf'; expected a finite number"),
    "missing": ({"caps": [float("nan")]}, "`caps` is 'nan'; expected a finite number"),
    "measure": ({"caps": [5], "measure": "recall"}, "'recall' is a number per class"),
    "nodes": ({"caps": [5], "nodes": 0}, "`nodes` is 0"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_requests_get_a_sentence(wrong):
    options, sentence = WRONG[wrong]
    with pytest.raises(WmccError) as caught:
        wmcc.certify_trimming(TABLE, **options)
    assert sentence in str(caught.value)
    assert caught.value.argument in ("caps", "measure", "nodes")

"""Comparisons: antisymmetric, their p-values agree with their intervals, and the same through every door."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import few
from hypothesis import given
from hypothesis import strategies as st
from samples import MULTICLASS, sample
from scipy import stats

import wmcc
from wmcc.inference.comparison import holm

pairs = st.builds(
    sample,
    st.integers(0, 10**6),
    st.sampled_from([40, 150]),
    st.integers(2, 4),
    st.sampled_from([0.4, 0.8]),
    st.sampled_from([0.0, 0.5, 1.5]),
    st.sampled_from([0.3, 0.9]),
)
names = st.sampled_from(MULTICLASS)
NUMBERS = ("difference", "low", "high", "se", "df", "p_value", "n_eff")


def numbers(found, fields=NUMBERS):
    return pytest.approx([getattr(found, name) for name in fields], rel=1e-9, abs=1e-12, nan_ok=True)


# ---- the test ----------------------------------------------------------------------------------------------


@few(40)
@given(data=pairs, name=names)
def test_it_is_the_delta_method_of_rows(data, name):
    t, a, b, w = data
    found = wmcc.compare(*data, measure=name)
    if found.problem:
        assert found.problem in repr(found)
        return
    measure = wmcc.MEASURES[name]
    tables = wmcc.tabulate(t, a, w), wmcc.tabulate(t, b, w)
    g = measure.gradient(tables[0])[t, a] - measure.gradient(tables[1])[t, b]
    assert found.se**2 == pytest.approx(((g * w) ** 2).sum(), rel=1e-9)
    assert found.values == tuple(map(measure, tables))
    assert found.difference == found.values[0] - found.values[1]
    assert found.n_eff == pytest.approx(w.sum() ** 2 / (w * w).sum(), rel=1e-12)
    assert found.df == pytest.approx(max(found.n_eff - 1, 1))
    law = stats.t(found.df)
    assert found.p_value == pytest.approx(2 * law.sf(abs(found.difference) / found.se), rel=1e-6, abs=1e-15)
    q, most = law.ppf(0.975) * found.se, measure.range[1] - measure.range[0]
    ends = np.clip([found.difference - q, found.difference + q], -most, most)
    assert [found.low, found.high] == pytest.approx(ends.tolist(), rel=1e-6)


def test_a_tiny_p_value_is_the_same_from_either_side():
    truth, good, bad = [0, 1] * 150, [0, 1] * 140 + [1, 0] * 10, [0, 1, 1, 0] * 75
    one, two = wmcc.compare(truth, good, bad), wmcc.compare(truth, bad, good)
    assert 0 < one.p_value < 1e-17
    assert one.p_value == pytest.approx(two.p_value, rel=1e-9, abs=0)


@few(40)
@given(data=pairs, name=names, clusters=st.sampled_from([None, 8]))
def test_swapping_changes_the_sign(data, name, clusters):
    t, a, b, w = data
    keys = None if clusters is None else np.arange(len(t)) % clusters
    one = wmcc.compare(t, a, b, w, measure=name, cluster=keys, names=["x", "y"])
    two = wmcc.compare(t, b, a, w, measure=name, cluster=keys, names=["y", "x"])
    assert one.difference == -two.difference
    assert [one.se, one.p_value, one.low, one.high] == pytest.approx(
        [two.se, two.p_value, -two.high, -two.low], rel=1e-9, abs=1e-12, nan_ok=True
    )
    assert (one.problem, one.warnings, one.winner) == (two.problem, two.warnings, two.winner)


@few(40)
@given(data=pairs, name=names, level=st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_a_p_value_agrees_with_the_interval(data, name, level):
    found = wmcc.compare(*data, measure=name, confidence_level=level)
    if found.problem or abs(found.p_value - (1 - level)) < 1e-9:
        return
    outside = not found.low <= 0 <= found.high
    assert (found.p_value < 1 - level) == outside == (found.winner is not None)
    if outside:
        assert found.winner == ("a" if found.difference > 0 else "b")
    assert ("scores higher" in found.verdict) == outside
    assert found.low <= found.difference <= found.high
    wider = wmcc.compare(*data, measure=name, confidence_level=0.999)
    assert wider.low <= found.low <= found.high <= wider.high


@few(30)
@given(data=pairs, name=names)
def test_non_inferiority(data, name):
    found = [wmcc.compare(*data, measure=name, margin=margin) for margin in (0, 0.05, 0.1, 0.5)]
    if found[0].problem:
        assert found[0].p_noninferior is None
        return
    ps = [x.p_noninferior for x in found]
    assert all(p >= q for p, q in itertools.pairwise(ps))
    sided = found[0].p_value / 2 if found[0].difference > 0 else 1 - found[0].p_value / 2
    assert ps[0] == pytest.approx(sided, rel=1e-9)
    for x in found:
        assert x.noninferior == (x.p_noninferior < 0.025)
        assert abs(x.low + x.margin) < 1e-9 or x.noninferior == (x.low > -x.margin)
        assert ("may be worse than" in repr(x)) is not x.noninferior
    assert wmcc.compare(*data, measure=name).noninferior is None


def test_units_and_order_do_not_matter():
    t, a, b, w = data = sample(1, keep=0.6)
    found = wmcc.compare(*data)
    order = np.random.default_rng(0).permutation(len(t))
    assert wmcc.compare(*(x[order] for x in data)) == found
    for scale in (5e-324 * 2**60, 1e-300, 1e-150, 1 / 3, 1e150, 1e300):
        assert list(map(wmcc.compare(t, a, b, w * scale).__getattribute__, NUMBERS)) == numbers(found)
    once, thrice = wmcc.compare(t, a, b), wmcc.compare(*(np.repeat(x, 3) for x in (t, a, b)))
    assert wmcc.compare(t, a, b, np.full(120, 3.0)).se == pytest.approx(once.se)
    assert thrice.se == pytest.approx(once.se / math.sqrt(3))


# ---- doors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cluster", [False, True])
def test_every_door_gives_the_same_comparison(cluster, tmp_path):
    t, a, b, w = data = sample(2, keep=0.5)
    keys = np.char.add("tile ", (np.arange(120) // 5).astype(str))
    frame = pl.DataFrame({"t": t, "a": a, "b": b, "w": w, "tile": keys})
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    named = {"measure": "mpc2", "margin": 0.1}
    rows, columns = ({"cluster": keys}, {"cluster": "tile"}) if cluster else ({}, {})
    found = wmcc.compare(*data, **named, **rows)
    assert (found.clusters, "24 clusters" in repr(found)) == ((24, True) if cluster else (None, False))
    joint = wmcc.joint_table(*data, by=keys if cluster else None)
    assert wmcc.compare(joint, "mpc2", margin=0.1) == found
    assert wmcc.compare(t, [a, b], sample_weight=w, **named, **rows) == found
    assert wmcc.compare(t, {"a": a, "b": b}, sample_weight=w, **named, **rows) == found
    for source in (frame, frame.to_pandas(), tmp_path / "rows.parquet", tmp_path / "rows.csv"):
        assert wmcc.compare(source, "t", "a", "b", "w", **named, **columns) == found
        assert wmcc.compare(source, "t", ["a", "b"], "w", **named, **columns) == found
        assert wmcc.compare(source, "t", {"a": "a", "b": "b"}, weight="w", **named, **columns) == found
    lazy = wmcc.compare(frame.lazy(), "t", "a", "b", "w", **named, **columns)
    assert list(map(lazy.__getattribute__, NUMBERS)) == numbers(found)


def test_clusters_of_one_row_are_rows():
    data = sample(3, keep=0.7)
    equal, found = wmcc.compare(*data[:3]), wmcc.compare(*data, cluster=np.arange(120))
    by_row = wmcc.compare(*data[:3], cluster=np.arange(120))
    assert by_row.se == pytest.approx(equal.se * math.sqrt(120 / 119), rel=1e-9)
    twice = [np.repeat(x, 2) for x in data]
    assert wmcc.compare(*twice, cluster=np.repeat(np.arange(120), 2)).se == pytest.approx(found.se, rel=1e-9)
    assert wmcc.compare(*data, cluster=np.arange(120) % 5).warnings[0].startswith("the clusters are worth fewer than 5")
    assert "at least two clusters" in wmcc.compare(*data, cluster=np.zeros(120, int)).problem


# ---- more than two -----------------------------------------------------------------------------------------


@given(ps=st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), min_size=1, max_size=7))
def test_holm(ps):
    """The corrected p-value is the smallest level at which Holm's procedure, step by step, rejects."""
    known = [p for p in ps if p == p]
    adjusted = holm(ps)
    for p, q in zip(ps, adjusted, strict=True):
        if p != p:
            assert q != q
            continue
        rejected_at = 0.0
        for step, other in enumerate(sorted(known)):
            rejected_at = max(rejected_at, other * (len(known) - step))
            if other >= p:
                break
        assert q == pytest.approx(min(1.0, rejected_at))
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_rankings_say_who_is_told_apart():
    rng = np.random.default_rng(6)
    t = rng.integers(0, 3, 900)
    w = rng.uniform(0.5, 2, 900)
    models = {f"<{r}>": np.where(rng.random(900) < r, t, rng.integers(0, 3, 900)) for r in (0.5, 0.9, 0.52, 0.91)}
    found = wmcc.compare(t, models, sample_weight=w, cluster=None)
    assert found.names == tuple(models)
    assert list(found.pairs) == [(a, b) for i, a in enumerate(models) for b in list(models)[i + 1 :]]
    for (a, b), pair in found.pairs.items():
        assert pair == found[a, b] == wmcc.compare(t, models[a], models[b], w, names=[a, b])
        assert found.told_apart(a, b) == found.told_apart(b, a) == (found.p_adjusted[a, b] < 0.05)
        assert found.p_adjusted[a, b] >= pair.p_value
    assert found.values == {name: wmcc.ecc(t, p, w) for name, p in models.items()}
    assert [row[0] for row in found.ranking] == sorted(models, key=lambda name: -found.values[name])
    for name, value, others in found.ranking:
        assert value == found.values[name]
        assert others == tuple(x for x in found.values if x != name and not found.told_apart(name, x))
    assert found.ranking[0][2] == (found.ranking[1][0],)
    assert found.ranking[2][2] == (found.ranking[3][0],)
    frame = pd.DataFrame({"t": t, "w": w, **models})
    assert wmcc.compare(frame, "t", list(models), "w").pairs == found.pairs
    assert wmcc.compare(t, list(models.values()), sample_weight=w).names == ("a", "b", "c", "d")
    assert wmcc.compare(t, dict(enumerate(models.values())), sample_weight=w).names == ("0", "1", "2", "3")
    assert "<0.9>" in repr(found)
    assert "<0.9>" not in found._repr_html_()
    assert "&lt;0.9&gt;" in found._repr_html_()
    with pytest.raises(wmcc.InputError, match="there is no pair"):
        found["<0.5>", "nobody"]
    with pytest.raises(wmcc.InputError, match="there is no pair"):
        found.told_apart("<0.5>", "nobody")


def test_pairs_are_told_apart_for_all_of_them_together():
    pair = wmcc.compare(*sample(5, keep=0.5))
    names = [("a", "b"), ("a", "c"), ("b", "c")]
    ps = zip(names, (0.03, 0.04, 0.001), strict=True)
    found = wmcc.Comparisons(("a", "b", "c"), {key: replace(pair, names=key, p_value=p) for key, p in ps})
    assert [found.told_apart(*key) for key in names] == [False, False, True]  # 0.06, 0.06 and 0.003
    assert [found[key].winner is not None for key in names] == [True] * 3


def test_a_pair_without_a_test_is_left_out_of_the_correction():
    t, a, b, _ = sample(5, 300, keep=0.5)
    found = wmcc.compare(t, {"a": a, "same": a, "b": b, "one": np.zeros(300, int)})
    assert found["a", "same"].problem.startswith("they predict the same")
    assert found["a", "same"].p_value == 1.0
    assert "undefined" in found["a", "one"].problem
    assert math.isnan(found.p_adjusted["a", "one"])
    assert not found.told_apart("a", "one")
    assert "not estimable" in repr(found)
    assert "not estimable" in found._repr_html_()


# ---- edges -------------------------------------------------------------------------------------------------

Y = np.array([0, 1] * 20)
X = Y ^ (np.arange(40) < 6)
EDGES = {
    "identical": ((Y, X, X), "they predict the same for every row"),
    "right and wrong": ((Y, Y, 1 - Y), "all rows moved the difference alike"),
    "one row": (([0], [0], [1]), "undefined"),
    "n_eff below two": ((Y, X, Y, [1e9] + [1] * 39), "1 effective rows of 40"),
    "one class": ((Y * 0, X, Y), "all the weight of y_true is in one class"),
    "one class predicted": ((Y, X, Y * 0), "all the weight of y_pred is in one class"),
    "light class": ((Y, X, Y, np.where(Y, 1.0, 1e-300)), "less than 1e-140"),
    "subnormal": ((Y, X, Y, np.full(40, 5e-324)), None),
    "huge": ((Y, X, Y, np.full(40, 1.7e308)), None),
}


@pytest.mark.parametrize("edge", EDGES)
def test_edges_get_a_sentence(edge):
    rows, problem = EDGES[edge]
    found = wmcc.compare(*rows, names=["<i>", "b"], margin=0.1)
    assert not found.reliable
    assert "&lt;i&gt;" in found._repr_html_()
    assert "<i>" not in found._repr_html_()
    if problem is None:
        assert found.low <= found.difference <= found.high
        assert "unreliable: the predictions differ on fewer than 10 effective rows" in repr(found)
        return
    assert problem in found.problem
    assert math.isnan(found.low)
    assert found.winner is None
    assert f"not estimable: {found.problem}" in repr(found)
    if edge != "identical":
        assert math.isnan(found.p_value)


def test_clusters_that_are_all_alike_have_no_test():
    found = wmcc.compare(
        [0, 1, 0, 1] * 10, [0, 1, 0, 0] * 10, [0, 1, 1, 1] * 10, cluster=np.arange(40) // 4, measure="kappa"
    )
    assert "all 10 clusters moved the difference alike" in found.problem


def test_enough_rows_have_nothing_to_say():
    t, a, b, w = sample(6, 3000, keep=0.5, spread=0.2)
    found = wmcc.compare(t, a, b, w)
    assert found.reliable
    assert found.warnings == ()


T, A, B, W = sample(7, 30, keep=0.5)
JOINT = wmcc.joint_table(T, A, B, W)
FRAME = pl.DataFrame({"t": T, "a": A, "b": B, "w": W, "tile": [None, *range(29)]})
REFUSED = {
    "one table": (lambda: wmcc.compare(wmcc.tabulate(T, A)), "their JointTable is needed"),
    "tables": (lambda: wmcc.compare({0: wmcc.tabulate(T, A)}), "expected a dict of joint tables"),
    "no tables": (lambda: wmcc.compare({}), "expected a dict of joint tables"),
    "table and cluster": (lambda: wmcc.compare(JOINT, cluster=T), "cluster= belongs to the making of the table"),
    "table and weights": (lambda: wmcc.compare(JOINT, "ecc", 0.9, W), "too many arguments"),
    "table and options": (lambda: wmcc.compare(JOINT, ignore=1), "ignore= belongs to the making of the table"),
    "one prediction": (lambda: wmcc.compare(T, A), "two predictions"),
    "list of one": (lambda: wmcc.compare(T, [A]), "at least two predictions to compare; got 1"),
    "weights after a dict": (lambda: wmcc.compare(T, {"a": A, "b": B}, W), "weights are sample_weight="),
    "weights after a list": (lambda: wmcc.compare(T, [A, B], W), "a list of predictions was given, and something"),
    "a frame of predictions": (lambda: wmcc.compare(T, FRAME, sample_weight=W), "a frame of predictions was given"),
    "two weights": (lambda: wmcc.compare(FRAME, "t", ["a", "b"], "w", weight="w"), "two columns of weights"),
    "weight of arrays": (lambda: wmcc.compare(T, A, B, weight="w"), "goes with a frame"),
    "by": (lambda: wmcc.compare(T, A, B, by=T), "by= makes one table per group"),
    "one name": (lambda: wmcc.compare(T, A, B, names=["x"]), "expected 2 different names"),
    "equal names": (lambda: wmcc.compare(T, A, B, names=["x", "x"]), "expected 2 different names"),
    "text for names": (lambda: wmcc.compare(T, A, B, names="ab"), "expected a list of 2 different names"),
    "numbers for names": (lambda: wmcc.compare(T, A, B, names=[1, 2]), "expected a list of 2 different names"),
    "a number for names": (lambda: wmcc.compare(T, A, B, names=2), "expected a list of 2 different names"),
    "margin": (lambda: wmcc.compare(T, A, B, margin=-0.1), "margin is -0.1; expected how much lower"),
    "margin text": (lambda: wmcc.compare(T, A, B, margin="5%"), "expected a finite number"),
    "level": (lambda: wmcc.compare(T, A, B, confidence_level=0), "between 0 and 1"),
    "measure": (lambda: wmcc.compare(T, A, B, measure="f1"), "number per class"),
    "mcc of three": (lambda: wmcc.compare(T, A, B, measure="mcc"), "two classes; this table has 3"),
    "no weight": (lambda: wmcc.compare(T, A, B, W * 0), "total weight of 30 rows is zero"),
    "no cluster": (
        lambda: wmcc.compare(FRAME, "t", "a", "b", cluster="tile"),
        "1 row has no cluster in the column 'tile'",
    ),
    "cluster shape": (lambda: wmcc.compare(T, A, B, cluster=[1]), r"^cluster has shape \(1,\)"),
    "mixed clusters": (lambda: wmcc.compare(T, A, B, cluster=["x", *range(29)]), "^cluster holds keys of mixed types"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_calls_get_a_sentence(name):
    call, said = REFUSED[name]
    with pytest.raises((wmcc.InputError, wmcc.InputTypeError), match=said):
        call()


def test_a_small_p_value_is_not_shown_as_none():
    truth = np.arange(400) % 2
    guesses = {name: np.where(np.arange(400) < n, truth, 1 - truth) for name, n in (("a", 390), ("b", 300), ("c", 210))}
    text = repr(wmcc.compare(truth, guesses))
    assert "< 0.0001" in text
    assert " 0.0000" not in text

"""Comparisons: antisymmetric, their p-values agree with their intervals, and the same through every door."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import few, joint_table
from hypothesis import given
from hypothesis import strategies as st
from samples import MULTICLASS, sample
from scipy import stats

import wmcc
import wmcc.measures
from wmcc.errors import InputError, InputTypeError
from wmcc.inference.comparison import holm, with_holm

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
NUMBERS = ("value", "low", "high", "se", "df", "p_value", "n_eff")


def figures(found):
    return [getattr(found, name) for name in NUMBERS]


def numbers(found, fields=NUMBERS):
    return pytest.approx([getattr(found, name) for name in fields], rel=1e-9, abs=1e-12, nan_ok=True)


# ---- the test ----------------------------------------------------------------------------------------------


@few(40)
@given(data=pairs, name=names)
def test_it_is_the_delta_method_of_rows(data, name):
    t, a, b, w = data
    found = wmcc.compare(joint_table(*data), name)
    if found.problem:
        assert found.problem in repr(found)
        return
    measure = wmcc.measures.MEASURES[name]
    tables = wmcc.tabulate(t, a, w), wmcc.tabulate(t, b, w)
    g = measure.gradient(tables[0])[t, a] - measure.gradient(tables[1])[t, b]
    assert found.se**2 == pytest.approx(((g * w) ** 2).sum(), rel=1e-9)
    joint = joint_table(*data)
    assert found.only.values == (measure(joint["a"]), measure(joint["b"]))
    assert found.values == dict(zip("ab", found.only.values, strict=True))
    assert found.value == found.only.value == found.values["a"] - found.values["b"]
    assert (found.n, found.ignored, found.sample, found.only.total) == (len(t), 0, "rows", joint.total)
    assert found.n_eff == pytest.approx(w.sum() ** 2 / (w * w).sum(), rel=1e-12)
    assert found.df == pytest.approx(max(found.n_eff - 1, 1))
    law = stats.t(found.df)
    assert found.p_value == pytest.approx(2 * law.sf(abs(found.value) / found.se), rel=1e-6, abs=1e-15)
    q, most = law.ppf(0.975) * found.se, measure.range[1] - measure.range[0]
    ends = np.clip([found.value - q, found.value + q], -most, most)
    assert [found.low, found.high] == pytest.approx(ends.tolist(), rel=1e-6)


def test_a_tiny_p_value_is_the_same_from_either_side():
    truth, good, bad = [0, 1] * 150, [0, 1] * 140 + [1, 0] * 10, [0, 1, 1, 0] * 75
    one, two = wmcc.compare(joint_table(truth, good, bad)), wmcc.compare(joint_table(truth, bad, good))
    assert 0 < one.p_value < 1e-17
    assert one.p_value == pytest.approx(two.p_value, rel=1e-9, abs=0)


@few(40)
@given(data=pairs, name=names, clusters=st.sampled_from([None, 8]))
def test_swapping_changes_the_sign(data, name, clusters):
    t, a, b, w = data
    keys = None if clusters is None else np.arange(len(t)) % clusters
    one = wmcc.compare(joint_table(t, a, b, w, cluster=keys, names=["x", "y"]), name)
    two = wmcc.compare(joint_table(t, b, a, w, cluster=keys, names=["y", "x"]), name)
    assert one.value == -two.value
    assert [one.se, one.p_value, one.low, one.high] == pytest.approx(
        [two.se, two.p_value, -two.high, -two.low], rel=1e-9, abs=1e-12, nan_ok=True
    )
    assert (one.problem, one.warnings, one.winner) == (two.problem, two.warnings, two.winner)


@few(40)
@given(data=pairs, name=names, level=st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_a_p_value_agrees_with_the_interval(data, name, level):
    found = wmcc.compare(joint_table(*data), name, confidence_level=level)
    if found.problem or abs(found.p_value - (1 - level)) < 1e-9:
        return
    outside = not found.low <= 0 <= found.high
    assert (found.p_value < 1 - level) == outside == (found.winner is not None)
    if outside:
        assert found.winner == ("a" if found.value > 0 else "b")
    assert ("scores higher" in found.verdict) == outside
    assert found.low <= found.value <= found.high
    wider = wmcc.compare(joint_table(*data), name, confidence_level=0.999)
    assert wider.low <= found.low <= found.high <= wider.high


@few(30)
@given(data=pairs, name=names)
def test_non_inferiority(data, name):
    found = [wmcc.compare(joint_table(*data), name, margin=margin) for margin in (0, 0.05, 0.1, 0.5)]
    if found[0].problem:
        assert found[0].p_noninferior is None
        return
    ps = [x.p_noninferior for x in found]
    assert all(p >= q for p, q in itertools.pairwise(ps))
    sided = found[0].p_value / 2 if found[0].value > 0 else 1 - found[0].p_value / 2
    assert ps[0] == pytest.approx(sided, rel=1e-9)
    for x in found:
        assert x.noninferior == (x.p_noninferior < 0.025)
        margin = x.only.margin
        assert abs(x.low + margin) < 1e-9 or x.noninferior == (x.low > -margin)
        assert ("may be worse than" in repr(x)) is not x.noninferior
    assert wmcc.compare(joint_table(*data), name).noninferior is None


def test_units_and_order_do_not_matter():
    t, a, b, w = data = sample(1, keep=0.6)
    found = wmcc.compare(joint_table(*data))
    order = np.random.default_rng(0).permutation(len(t))
    assert wmcc.compare(joint_table(*(x[order] for x in data))) == found
    for scale in (5e-324 * 2**60, 1e-300, 1e-150, 1 / 3, 1e150, 1e300):
        assert figures(wmcc.compare(joint_table(t, a, b, w * scale))) == numbers(found)
    once, thrice = wmcc.compare(joint_table(t, a, b)), wmcc.compare(joint_table(*(np.repeat(x, 3) for x in (t, a, b))))
    assert wmcc.compare(joint_table(t, a, b, np.full(120, 3.0))).se == pytest.approx(once.se)
    assert thrice.se == pytest.approx(once.se / math.sqrt(3))


# ---- clusters ----------------------------------------------------------------------------------------------


def test_clusters_of_one_row_are_rows():
    data = sample(3, keep=0.7)
    equal, found = wmcc.compare(joint_table(*data[:3])), wmcc.compare(joint_table(*data, cluster=np.arange(120)))
    by_row = wmcc.compare(joint_table(*data[:3], cluster=np.arange(120)))
    assert by_row.se == pytest.approx(equal.se * math.sqrt(120 / 119), rel=1e-9)
    twice = [np.repeat(x, 2) for x in data]
    assert wmcc.compare(joint_table(*twice, cluster=np.repeat(np.arange(120), 2))).se == pytest.approx(
        found.se, rel=1e-9
    )
    assert (
        wmcc.compare(joint_table(*data, cluster=np.arange(120) % 5))
        .warnings[0]
        .startswith("there are fewer than 5 effective clusters")
    )
    assert "at least two clusters" in wmcc.compare(joint_table(*data, cluster=np.zeros(120, int))).problem


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
    joint = wmcc.tabulate(t, models, w)
    found = wmcc.compare(joint)
    assert found.names == tuple(models)
    assert list(found.pairs) == [(a, b) for i, a in enumerate(models) for b in list(models)[i + 1 :]]
    for (a, b), pair in found.pairs.items():
        alone = wmcc.compare(joint.pair(a, b))
        assert replace(pair, p_adjusted=pair.p_value) == replace(found[a, b], p_adjusted=pair.p_value) == alone.only
        assert found.told_apart(a, b) == found.told_apart(b, a) == (found.p_adjusted[a, b] < 0.05)
        assert found.p_adjusted[a, b] == pair.p_adjusted >= pair.p_value
        assert (pair.winner is not None) == found.told_apart(a, b)
    assert found.values == {name: wmcc.ecc(t, p, sample_weight=w) for name, p in models.items()}
    assert [row[0] for row in found.ranking] == sorted(models, key=lambda name: -found.values[name])
    for name, value, others in found.ranking:
        assert value == found.values[name]
        assert others == tuple(x for x in found.values if x != name and not found.told_apart(name, x))
    assert found.ranking[0][2] == (found.ranking[1][0],)
    assert found.ranking[2][2] == (found.ranking[3][0],)
    assert "<0.9>" in repr(found)
    assert "900 rows" in repr(found)
    assert "<0.9>" not in found._repr_html_()
    assert "&lt;0.9&gt;" in found._repr_html_()
    with pytest.raises(InputError, match="there is no pair"):
        found["<0.5>", "nobody"]
    with pytest.raises(InputError, match="there is no pair"):
        found.told_apart("<0.5>", "nobody")
    for only in ("value", "low", "se", "p_value", "verdict", "winner", "n_eff"):
        with pytest.raises(InputError, match=r"4 predictions were compared, in pairs: \('<0.5>', '<0.9>'\)"):
            getattr(found, only)


def test_pairs_are_told_apart_for_all_of_them_together():
    pair = wmcc.compare(joint_table(*sample(5, keep=0.5))).only
    names = [("a", "b"), ("a", "c"), ("b", "c")]
    ps = zip(names, (0.03, 0.04, 0.001), strict=True)
    found = with_holm(replace(pair, names=key, p_value=p) for key, p in ps)
    assert [found[key].winner is not None for key in names] == [False, False, True]  # 0.06, 0.06 and 0.003


def test_a_pair_without_a_test_is_left_out_of_the_correction():
    t, a, b, _ = sample(5, 300, keep=0.5)
    found = wmcc.compare(wmcc.tabulate(t, {"a": a, "same": a, "b": b, "one": np.zeros(300, int)}))
    assert found["a", "same"].problem.startswith("they predict the same")
    assert math.isnan(found["a", "same"].p_value)
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
    "right and wrong": ((Y, Y, 1 - Y), "all 40 rows have the same influence on the difference"),
    "one row": (([0], [0], [1]), "undefined"),
    "n_eff below two": ((Y, X, Y, [1e9] + [1] * 39), "the effective number of rows is 1, of 40; at least 2 are needed"),
    "one class": ((Y * 0, X, Y), "all the weight of y_true is in one class"),
    "one class predicted": ((Y, X, Y * 0), "all the weight of y_pred is in one class"),
    "light class": ((Y, X, Y, np.where(Y, 1.0, 1e-300)), "less than 1e-140"),
    "subnormal": ((Y, X, Y, np.full(40, 5e-324)), None),
    "huge": ((Y, X, Y, np.full(40, 1.7e308)), None),
}


@pytest.mark.parametrize("edge", EDGES)
def test_edges_get_a_sentence(edge):
    rows, problem = EDGES[edge]
    found = wmcc.compare(joint_table(*rows, names=["<i>", "b"]), margin=0.1)
    assert not found.reliable
    assert "&lt;i&gt;" in found._repr_html_()
    assert "<i>" not in found._repr_html_()
    if problem is None:
        assert found.low <= found.value <= found.high
        assert "the predictions differ on fewer than 10 effective rows" in repr(found)
        return
    assert problem in found.problem
    assert math.isnan(found.low)
    assert found.winner is None
    assert found.problem in repr(found)
    assert math.isnan(found.p_value)


def test_clusters_that_are_all_alike_have_no_test():
    found = wmcc.compare(
        joint_table([0, 1, 0, 1] * 10, [0, 1, 0, 0] * 10, [0, 1, 1, 1] * 10, cluster=np.arange(40) // 4), "kappa"
    )
    assert "all 10 clusters have the same influence on the difference" in found.problem


def test_enough_rows_have_nothing_to_say():
    t, a, b, w = sample(6, 3000, keep=0.5, spread=0.2)
    found = wmcc.compare(joint_table(t, a, b, w))
    assert found.reliable
    assert found.warnings == ()


# ---- tables of the same clusters, without a joint table -------------------------------------------------------


@few(25)
@given(data=pairs, name=names, clusters=st.sampled_from([3, 12]))
def test_tables_of_the_same_clusters_are_compared_as_their_joint_table_is(data, name, clusters):
    t, a, b, w = data
    keys = np.random.default_rng(clusters).integers(0, clusters, len(t))
    apart = {key: wmcc.tabulate(t, p, w, cluster=keys) for key, p in (("a", a), ("b", b))}
    found, joint = wmcc.compare(apart, name, sample="clusters", margin=0.1), joint_table(t, a, b, w, cluster=keys)
    expected = wmcc.compare(joint, name, margin=0.1)
    assert figures(found) == numbers(expected)
    if expected.p_noninferior is None:  # where there is no test
        assert found.p_noninferior is None
    else:
        assert found.p_noninferior == pytest.approx(expected.p_noninferior, rel=1e-6)
    assert (found.clusters, found.n, found.sample) == (expected.clusters, expected.n, "clusters")
    assert (found.problem is None) == (expected.problem is None)
    assert found.names == ("a", "b")


def test_classes_that_one_table_lacks_count_for_both():
    """A mean over classes is over the same ones for each, as in a joint table."""
    t, a, b, w = sample(1, keep=0.5)
    b, keys = np.where(b == 1, 2, b), np.arange(120) // 5  # class 1 is never predicted, and class 3 only once
    a = np.where(np.arange(120) == 7, 3, a)
    apart = {key: wmcc.tabulate(t, p, w, cluster=keys) for key, p in (("a", a), ("b", b))}
    for name in ("mpc2", "mean_iou", "ecc"):
        joint = joint_table(t, a, b, w, cluster=keys)
        assert figures(wmcc.compare(apart, name, sample="clusters")) == numbers(wmcc.compare(joint, name))
        free = wmcc.compare(apart, name, sample="independent")
        assert free.values == wmcc.compare(joint, name).values


def test_sums_of_engines_are_the_same_rows():
    t, a, b, w = sample(2, keep=0.5)
    keys, order = np.arange(120) // 5, np.random.default_rng(0).permutation(120)
    rounded = pd.DataFrame({"t": t, "b": b, "w": w * (1 + 1e-15), "tile": keys}).iloc[order]
    other = wmcc.tabulate(
        rounded["t"].to_numpy(), rounded["b"].to_numpy(), rounded["w"].to_numpy(), cluster=keys[order]
    )
    both = {"a": wmcc.tabulate(t, a, w, cluster=keys), "b": other}
    assert wmcc.compare(both, sample="clusters").clusters == 24


def test_few_clusters_that_differ_are_flagged():
    t, a, _, w = sample(3, 600, keep=0.5)
    keys = np.arange(600) // 10
    b = np.where((keys < 3) & (a == 0), 1, a)
    both = {key: wmcc.tabulate(t, p, w, cluster=keys) for key, p in (("a", a), ("b", b))}
    assert "differ in fewer than 5 effective clusters" in wmcc.compare(both, sample="clusters").warnings[0]
    same = {"a": both["a"], "b": both["a"]}
    assert "their tables are the same in every cluster" in wmcc.compare(same, sample="clusters").problem


def test_classes_of_their_own_in_clusters():
    t, a, b, w = sample(4, 900, keep=0.4)
    keys = np.arange(900) // 9
    apart = {key: wmcc.tabulate(t, p, w, cluster=keys) for key, p in (("a", a), ("b", b))}
    joint = joint_table(t, a, b, w, cluster=keys)
    for name in wmcc.measures.CLASS_MEASURES:
        found, expected = wmcc.compare(apart, name, of=1, sample="clusters"), wmcc.compare(joint, name, of=1)
        assert found.value == expected.value
        assert found.se == pytest.approx(expected.se, rel=1e-9 if name in ("recall", "mcc") else 0.01)


# ---- independent samples ------------------------------------------------------------------------------------


@few(25)
@given(data=pairs, name=names, clusters=st.sampled_from([None, 12]))
def test_independent_samples_are_put_together_by_their_intervals(data, name, clusters):
    t, a, b, w = data
    half = len(t) // 3
    keys = None if clusters is None else np.arange(len(t)) % clusters
    parts = {"a": (t[:half], a[:half], w[:half]), "b": (t[half:], b[half:], w[half:])}
    own = {"a": keys[:half], "b": keys[half:]} if clusters else {"a": None, "b": None}
    tables = {key: wmcc.tabulate(*rows, cluster=own[key], labels=range(4)) for key, rows in parts.items()}
    found = wmcc.compare(tables, name, sample="independent", margin=0.05)
    intervals = {key: wmcc.interval(table, name) for key, table in found.tables.items()}
    assert found.values == {key: x.value for key, x in sorted(intervals.items(), key=lambda item: -item[1].value)}
    assert (found.n, found.sample) == (len(t), "independent")
    if any(x.problem for x in intervals.values()):
        assert found.problem in [f"{key}: {x.problem}" for key, x in intervals.items()]
        return
    x, y = intervals["a"], intervals["b"]
    assert found.se == pytest.approx(math.hypot(x.se, y.se), rel=1e-12)
    low = found.value - math.hypot(x.value - x.low, y.high - y.value)
    high = found.value + math.hypot(x.high - x.value, y.value - y.low)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9, abs=1e-12)
    assert found.warnings == tuple(f"{key}: {why}" for key, z in intervals.items() for why in z.warnings)
    assert abs(found.p_value - 0.05) < 1e-9 or (found.p_value < 0.05) == (not found.low <= 0 <= found.high)
    assert abs(found.p_noninferior - 0.025) < 1e-9 or found.noninferior == (found.low > -0.05)
    swapped = wmcc.compare(dict(reversed(tables.items())), name, sample="independent")
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low), rel=1e-12, abs=1e-15)
    assert swapped.p_value == pytest.approx(found.p_value, rel=1e-9, abs=1e-300)
    wider = wmcc.compare(tables, name, sample="independent", confidence_level=0.999)
    assert wider.low <= found.low <= found.value <= found.high <= wider.high
    for level in (0.5, 0.9, 1 - found.p_value):  # the interval at 1 − p ends at 0
        if 0 < level < 1 and found.value != 0 and 1e-6 < found.p_value < 1 - 1e-6:
            ends = wmcc.compare(tables, name, sample="independent", confidence_level=level)
            assert level != 1 - found.p_value or min(abs(ends.low), abs(ends.high)) < 1e-6


def test_a_perfect_sample_has_an_interval_too():
    perfect, good = (wmcc.Table.from_counts(counts) for counts in ([[40, 0], [0, 40]], [[380, 20], [30, 370]]))
    found = wmcc.compare({"now": perfect, "then": good}, "mcc", sample="independent")
    assert 0 < found.low < found.value < found.high
    assert found.warnings[0].startswith("now: no row of the sample lowers the score")
    both = wmcc.compare({"now": perfect, "then": perfect}, "mcc", sample="independent")
    assert both.low < 0 < both.high
    assert both.p_value == 1.0


@pytest.mark.parametrize("name", wmcc.measures.CLASS_MEASURES)
def test_classes_of_their_own_in_independent_samples(name):
    one, two = (sample(seed, 400).table for seed in (1, 2))
    found = wmcc.compare({"a": one, "b": two}, name, of=1, sample="independent")
    x, y = wmcc.interval(one, name, of=1), wmcc.interval(two, name, of=1)
    assert found.values == {key: own.value for key, own in sorted({"a": x, "b": y}.items(), key=lambda z: -z[1].value)}
    assert found.low == pytest.approx(found.value - math.hypot(x.value - x.low, y.high - y.value), rel=1e-9)
    assert (found.label, found.measure) == (1, name)


def test_rows_and_ignored_rows_are_told():
    t, a, b = [0, 1, 1, 9] * 30, [0, 1, 0, 0] * 30, [0, 0, 1, 1] * 30
    found = wmcc.compare(joint_table(t, a, b, ignore=9))
    assert (found.n, found.ignored, found.only.n, found.only.ignored) == (90, 30, 90, 30)
    assert "90 rows, 30 ignored" in repr(found)
    tables = {"a": wmcc.tabulate(t, a, ignore=9), "b": wmcc.tabulate(t[:60], b[:60], ignore=9)}
    drift = wmcc.compare(tables, sample="independent")
    assert (drift.n, drift.ignored) == (135, 45)
    assert "independent samples: a 90 rows, b 45 rows, 45 ignored" in repr(drift)


# ---- scores of one class ------------------------------------------------------------------------------------


@few(20)
@given(data=pairs, name=st.sampled_from(list(wmcc.measures.CLASS_MEASURES)))
def test_a_class_is_compared_by_the_delta_method_of_rows(data, name):
    t, a, b, w = data
    found = wmcc.compare(joint_table(*data), name, of=1)
    of_class = wmcc.measures.CLASS_MEASURES[name]
    values = [of_class(wmcc.tabulate(t, p, w))[1] for p in (a, b)]
    assert found.only.values == pytest.approx(values, rel=1e-12)
    if found.problem:
        return

    def moved(p, i, h):
        own = np.where(np.arange(len(w)) == i, w * (1 + h), w)
        return of_class(wmcc.tabulate(t, p, own))[1]

    h = 1e-5
    u = [(moved(a, i, h) - moved(a, i, -h) - moved(b, i, h) + moved(b, i, -h)) / (2 * h) for i in range(len(t))]
    assert found.se == pytest.approx(math.sqrt(sum(x * x for x in u)), rel=1e-5)
    assert f"{of_class.title} of 1" in repr(found)


# ---- refusals -----------------------------------------------------------------------------------------------

T, A, B, W = sample(7, 30, keep=0.5)
KEYS = np.arange(30) // 3
JOINT, TABLE = joint_table(T, A, B, W), wmcc.tabulate(T, A, W)
ONE, TWO = (wmcc.tabulate(T, p, W, cluster=KEYS) for p in (A, B))
GROUPS = wmcc.tabulate(T, A, W, by=KEYS)


def in_clusters(**tables):
    return lambda: wmcc.compare(tables, sample="clusters")


REFUSED = {
    "one table": (
        lambda: wmcc.compare(TABLE),
        'tabulate the predictions .* together: wmcc.tabulate\\(y_true, {"A": pred_a',
    ),
    "rows": (lambda: wmcc.compare(T), "expected a JointTable of two predictions or more; got a ndarray"),
    "one prediction": (lambda: wmcc.compare(wmcc.tabulate(T, {"a": A})), "has one prediction, 'a'; expected two"),
    "groups": (lambda: wmcc.compare(wmcc.tabulate(T, {"a": A, "b": B}, by=T)), "for each group: .*wmcc.compare"),
    "no sample": (
        lambda: wmcc.compare({"a": TABLE, "b": TABLE}),
        ".sample. .clusters. for .* .sample. .independent. for",
    ),
    "other sample": (lambda: wmcc.compare({"a": TABLE, "b": TABLE}, sample="rows"), "`sample` is 'rows'; expected"),
    "sample of a joint table": (lambda: wmcc.compare(JOINT, sample="clusters"), "`sample` is for a mapping"),
    "one in a mapping": (
        lambda: wmcc.compare({"a": TABLE}, sample="independent"),
        "two tables or more to compare; got 1",
    ),
    "no tables": (lambda: wmcc.compare({}, sample="independent"), "got 0"),
    "names": (
        lambda: wmcc.compare({1: TABLE, 2: TABLE}, sample="independent"),
        "name of a prediction is 1; expected text",
    ),
    "groups in a mapping": (in_clusters(a=GROUPS, b=GROUPS), "'a' is a Tables of groups; .*as_clusters"),
    "a joint table in a mapping": (in_clusters(a=JOINT, b=JOINT), "take one prediction by its name"),
    "no clusters": (in_clusters(a=ONE, b=TABLE), "the table of 'b' has no clusters.*`cluster`"),
    "other clusters": (
        in_clusters(a=ONE, b=wmcc.tabulate(T, B, W, cluster=KEYS % 8)),
        "8, 9 are clusters of 'a' only",
    ),
    "one cluster more": (
        in_clusters(a=wmcc.tabulate(T[3:], A[3:], W[3:], cluster=KEYS[3:]), b=TWO),
        "0 is a cluster of 'b' only",
    ),
    "other rows": (
        in_clusters(a=ONE, b=wmcc.tabulate(T[::-1], B, W, cluster=KEYS)),
        "the tables are not of the same rows: cluster 0 has",
    ),
    "other weights": (in_clusters(a=ONE, b=wmcc.tabulate(T, B, W + 1, cluster=KEYS)), "of weight .* for 'a', and"),
    "margin": (
        lambda: wmcc.compare(JOINT, margin=-0.1),
        "`margin` is -0.1; expected a number of at least 0: how much lower",
    ),
    "margin text": (lambda: wmcc.compare(JOINT, margin="5%"), "expected a finite number"),
    "level": (lambda: wmcc.compare(JOINT, confidence_level=0), "between 0 and 1"),
    "measure": (lambda: wmcc.compare(JOINT, "f1"), 'number per class.*of="road"'),
    "measure of a class": (lambda: wmcc.compare(JOINT, "ecc", of=1), "expected one of precision, recall, f1, iou, mcc"),
    "class": (lambda: wmcc.compare(JOINT, "f1", of=7), "there is no class 7; the labels are 0, 1, 2"),
    "mcc of three": (lambda: wmcc.compare(JOINT, "mcc"), "two classes; this table has 3"),
    "no weight": (lambda: wmcc.compare(joint_table(T, A, B, W * 0)), "total weight of 30 rows is zero"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_calls_get_a_sentence(name):
    call, said = REFUSED[name]
    with pytest.raises((InputError, InputTypeError), match=f"(?s){said}"):
        call()


def test_a_small_p_value_is_not_shown_as_none():
    truth = np.arange(400) % 2
    guesses = {name: np.where(np.arange(400) < n, truth, 1 - truth) for name, n in (("a", 390), ("b", 300), ("c", 210))}
    text = repr(wmcc.compare(wmcc.tabulate(truth, guesses)))
    assert "< 0.0001" in text
    assert " 0.0000" not in text


@pytest.mark.slow
def test_equal_classes_are_told_apart_one_time_in_twenty():
    """Two predictions that are as often right, and differ on other rows: 600 samples, so give or take 2.5 %."""
    rng, runs = np.random.default_rng(11), 600
    wrong = 0
    for _ in range(runs):
        t = rng.integers(0, 3, 300)
        a, b = (np.where(rng.random(300) < 0.8, t, rng.integers(0, 3, 300)) for _ in range(2))
        found = wmcc.compare(joint_table(t, a, b, rng.lognormal(0, 0.5, 300)), "iou", of=1)
        wrong += found.p_value < 0.05
    assert 100 * wrong / runs == pytest.approx(5, abs=2.5)


@pytest.mark.parametrize("name", wmcc.measures.CLASS_MEASURES)
def test_clusters_of_a_joint_table_are_those_of_its_tables(name):
    """With few clusters, in which the rows of a class are uneven, too."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        t = rng.choice(3, 120, p=[0.1, 0.5, 0.4])
        predictions = {
            key: np.where(rng.random(120) < hit, t, rng.integers(0, 3, 120)) for key, hit in (("a", 0.7), ("b", 0.6))
        }
        w, cluster = rng.random(120) ** 3, rng.integers(0, 8, 120)
        joint = wmcc.compare(wmcc.tabulate(t, predictions, w, cluster=cluster), name, of=0)
        tables = {key: wmcc.tabulate(t, p, w, cluster=cluster) for key, p in predictions.items()}
        apart = wmcc.compare(tables, name, of=0, sample="clusters")
        assert joint.value == apart.value
        assert [joint.se, joint.p_value] == pytest.approx([apart.se, apart.p_value], rel=1e-9, nan_ok=True)


# ---- groups of one sample ------------------------------------------------------------------------------


def some_survey(rows=600, clusters=40):
    """Rows in clusters that differ in how hard they are, in two age groups that each cluster has."""
    rng = np.random.default_rng(5)
    place = rng.integers(0, clusters, rows)
    truth, hard = rng.integers(0, 3, rows), rng.random(clusters) * 0.6
    pred = np.where(rng.random(rows) < hard[place], rng.integers(0, 3, rows), truth)
    return truth, pred, rng.uniform(1, 3, rows), place, np.where(rng.random(rows) < 0.4, "old", "young")


def test_groups_of_clusters_are_compared_with_their_covariance():
    truth, pred, w, place, age = some_survey()

    def difference(weights):
        tables = wmcc.tabulate(truth, pred, weights, by=age)
        return wmcc.ecc(tables["old"]) - wmcc.ecc(tables["young"])

    jackknife = np.array([difference(np.where(place == k, 0, w)) for k in range(40)])
    se = np.sqrt(39 / 40 * ((jackknife - difference(w)) ** 2).sum())
    found = wmcc.compare(wmcc.tabulate(truth, pred, w, by=age, cluster=place))
    assert found.se == pytest.approx(se, rel=0.02)
    assert found.value == difference(w)
    assert (found.sample, found.clusters, found.n) == ("groups", 40, 600)
    each = wmcc.tabulate(truth, pred, w, by=age, cluster=place)
    apart = wmcc.compare(dict(each), sample="independent")
    assert found.se < 0.9 * apart.se  # what is hard in a cluster is so for both
    assert "take account of the clusters" in str(found)


def test_groups_of_independent_rows_are_independent_samples():
    truth, pred, w, _, age = some_survey()
    tables = wmcc.tabulate(truth, pred, w, by=age)
    found, apart = wmcc.compare(tables, "mpc1"), wmcc.compare(dict(tables), "mpc1", sample="independent")
    assert found.pairs == apart.pairs
    assert "as independent samples" in str(found)
    assert (
        wmcc.compare(tables, "iou", of=1).pairs == wmcc.compare(dict(tables), "iou", of=1, sample="independent").pairs
    )


@pytest.mark.parametrize("kind", ["strata", "villages", "replicates"])
def test_groups_under_a_design_are_as_a_mapping_of_them_says(kind):
    truth, pred, w, place, age = some_survey()
    replicates = w[:, None] * np.random.default_rng(2).poisson(1, (600, 30))
    design = wmcc.Replicates(replicates, "bootstrap") if kind == "replicates" else wmcc.Strata(place % 4)
    cluster = place if kind == "villages" else None
    tables = wmcc.tabulate(truth, pred, w, by=age, design=design, cluster=cluster)
    assert wmcc.compare(tables).pairs == wmcc.compare(dict(tables), sample="clusters").pairs
    with pytest.raises(InputError, match="of groups of one sample"):
        wmcc.compare(dict(tables), sample="independent")


def test_groups_that_cannot_be_compared_get_a_sentence():
    truth, pred, w, _, age = some_survey()
    tables = wmcc.tabulate(truth, pred, w, by=age)
    with pytest.raises(InputError, match="two groups or more"):
        wmcc.compare(tables.select(["old"]))
    with pytest.raises(InputTypeError, match="parts of one sample"):
        wmcc.compare(tables, sample="independent")
    with pytest.raises(InputError, match="at most 100 groups"):
        wmcc.compare(wmcc.tabulate(truth, pred, by=np.arange(600)))
    with pytest.raises(InputError, match="age = old have no weight"):
        wmcc.compare(wmcc.tabulate(pl.DataFrame({"t": truth, "p": pred, "w": w * (age != "old"), "age": age}),
                                   true="t", pred="p", weight="w", by="age"))  # fmt: skip


def test_independent_samples_with_clusters_of_the_same_keys():
    """They may be the same clusters, as those of groups are; in two samples 1, 2, 3 are often others."""
    rng = np.random.default_rng(4)
    y, p, cluster, group = (
        rng.integers(0, 2, 300),
        rng.integers(0, 2, 300),
        rng.integers(0, 9, 300),
        rng.integers(0, 2, 300),
    )
    tables = wmcc.tabulate(y, p, by=group, cluster=cluster)
    said = "9 keys of clusters are in both samples, and taken for different clusters"
    assert said in str(wmcc.compare({"a": tables[0], "b": tables[1]}, "mcc", sample="independent"))
    assert "parts of one sample" in str(wmcc.compare(tables, "mcc"))  # as the sentence says
    other = wmcc.tabulate(y, p, cluster=cluster + 9)
    assert "keys of clusters" not in str(wmcc.compare({"a": tables[0], "b": other}, "mcc", sample="independent"))
    with pytest.raises(InputError, match=r"not of the same rows[\s\S]*wmcc\.compare\(tables, …\)"):
        wmcc.compare({"a": tables[0], "b": tables[1]}, "mcc", sample="clusters")

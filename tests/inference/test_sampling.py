"""Intervals through every door: rows, tables, files, clusters, resamples; and a sentence where there is none."""

import math
import os

import numpy as np
import polars as pl
import pytest
from helpers import few, joint_table
from hypothesis import given
from hypothesis import strategies as st
from samples import MULTICLASS, Sample, alike, sample, samples

import wmcc
import wmcc.measures
from wmcc.core.design import SampleDesign
from wmcc.core.exact import Exact
from wmcc.core.stack import Stack
from wmcc.core.sums import Sums
from wmcc.errors import InputError, InputTypeError
from wmcc.inference import influence
from wmcc.inference.influence import ENOUGH_FREE, Clusters, of_clusters
from wmcc.sources import resample

GROUPS = np.arange(120) // 6


# ---- what is read -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["fisher", "delta"])
def test_what_has_a_table_is_read_as_it(method):
    data = sample(3)
    asked = {"confidence_level": 0.9, "method": method}
    found = wmcc.interval(data.table, "mpc2", **asked)
    assert wmcc.interval(data.table, wmcc.mpc2, **asked) == found
    stream = wmcc.Accumulator()
    stream.update(*data.only(slice(50)))
    stream.update(*data.only(slice(50, None)))
    assert wmcc.interval(stream, "mpc2", **asked) == found
    assert wmcc.interval(wmcc.score(data.table), "mpc2", **asked) == found
    assert (found.n, found.total) == (120, data.table.total)


def test_a_table_knows_its_clusters():
    data = sample(4)
    table = wmcc.tabulate(*data, cluster=GROUPS)
    found = wmcc.interval(table)
    assert found.clusters == 20
    assert "20 clusters" in repr(found)
    assert wmcc.interval(wmcc.tabulate(*data, by=GROUPS).as_clusters()) == found
    order = np.random.default_rng(1).permutation(120)
    again = wmcc.tabulate(*data.only(order), cluster=GROUPS[order])
    assert wmcc.interval(again).se == pytest.approx(found.se, rel=1e-12)
    score = wmcc.score(table)
    assert score.intervals["ecc"] == found
    assert "120 rows in 20 clusters" in repr(score)


@pytest.mark.parametrize("name", wmcc.measures.CLASS_MEASURES)
def test_a_class_has_intervals_by_every_method(name):
    data = sample(5, 600, spread=0.0)
    for table in (data.table, wmcc.tabulate(*data, cluster=np.arange(600) // 3)):
        score = wmcc.score(table)
        found = {method: wmcc.interval(table, name, of=1, method=method) for method in ("fisher", "delta", "bootstrap")}
        assert alike(found["fisher"], score.class_intervals[name][1], 1e-12)
        for method, own in found.items():
            assert (own.method, own.label, own.measure) == (method, 1, name)
            assert own.value == found["fisher"].value
            assert own.se == pytest.approx(found["fisher"].se, rel=1e-9 if method == "delta" else 0.1)
            assert (own.low, own.high) == pytest.approx((found["fisher"].low, found["fisher"].high), abs=own.se)
            assert (own.n, own.total) == (found["fisher"].n, pytest.approx(found["fisher"].total))
    q = 1.959964 * found["delta"].se
    if name != "f1":  # whose ends are those of IoU
        assert found["delta"].low == pytest.approx(found["delta"].value - q, rel=1e-6)
    rows = {"recall": data.t == 1, "precision": data.p == 1, "mcc": data.t >= 0}
    either = (data.t == 1) | (data.p == 1)
    assert found["fisher"].n == rows.get(name, either).sum()


# ---- clusters --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MULTICLASS)
@few(5)
@given(data=samples)
def test_clusters_of_one_row_are_rows(name, data):
    single, found = (
        wmcc.interval(data.table, name),
        wmcc.interval(wmcc.tabulate(*data, cluster=np.arange(len(data.t))), name),
    )
    if single.problem or single.se < 1e-12:
        return
    u = wmcc.measures.MEASURES[name].gradient(data.table)[data.t, data.p] * data.w
    assert single.se**2 == pytest.approx((u * u).sum(), rel=1e-9)
    n, without = len(u), u / (1 - data.w / data.w.sum())
    assert found.se**2 == pytest.approx((without**2).sum() * (n - 1) / n, rel=1e-9)
    assert found.n_eff == pytest.approx(single.n_eff, rel=1e-9)
    assert found.clusters_eff == pytest.approx(single.n_eff, rel=1e-9)
    assert single.clusters_eff is None
    assert found.low <= found.value <= found.high


@few(20)
@given(data=samples, name=st.sampled_from(MULTICLASS), groups=st.integers(2, 9))
def test_the_variance_of_clusters_is_the_jackknifes(data, name, groups):
    table = data.table
    keys = np.random.default_rng(groups).integers(0, groups, len(data.t))
    found = wmcc.interval(wmcc.tabulate(*data, cluster=keys), name)
    gradient = wmcc.measures.MEASURES[name].gradient(table)[data.t, data.p] * data.w
    u, share = (np.array([x[keys == k].sum() for k in np.unique(keys)]) for x in (gradient, data.w / data.w.sum()))
    if found.problem is None:
        without, G = (u / (1 - share))[share > 0], (share > 0).sum()
        assert found.se**2 == pytest.approx((without**2).sum() * (G - 1) / G, rel=1e-9)


def test_the_variance_of_clusters_is_near_that_of_scores_without_each_of_them():
    data = sample(4, 600, spread=0.5)
    keys = np.random.default_rng(4).choice(20, 600, p=np.arange(1, 21) / 210)
    tables = wmcc.tabulate(*data, by=keys)
    whole = sum(tables.values())
    scores = np.array([wmcc.ecc(tables.select([k for k in tables if k != key]).total()) for key in tables])
    jackknife = ((scores - wmcc.ecc(whole)) ** 2).sum() * 19 / 20
    assert wmcc.interval(tables.as_clusters()).se == pytest.approx(math.sqrt(jackknife), rel=0.02)


def test_moments_of_clusters_are_those_of_their_influences():
    data = sample(5, right=0.85, spread=1.5)
    table, keys = data.table, np.repeat(np.arange(24), 5)
    slope = wmcc.ecc.gradient(table) * table.total
    u = np.bincount(keys, slope[data.t, data.p] * data.w / table.total)
    codes = tuple(table.cells.codes)
    clusters = Clusters.of(wmcc.tabulate(*data, cluster=keys))
    found = of_clusters(slope[codes], clusters)
    square, G = (u * u).sum(), len(u)
    estimated = 2 * square**2 / ((u**4).sum() - square**2 / G)
    share = np.bincount(keys, data.w) / data.w.sum()
    most = 1 / (share * share).sum() - 1
    assert found.df == pytest.approx(min(max(estimated, ENOUGH_FREE), most), rel=1e-9)
    assert estimated < found.df < G - 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(influence, "ENOUGH_FREE", 1.0)
        assert of_clusters(slope[codes], clusters).df == pytest.approx(min(estimated, most), rel=1e-9)


@few(20)
@given(seed=st.integers(0, 2**32 - 1))
def test_clusters_of_a_stack_are_those_of_tables(seed):
    rng = np.random.default_rng(seed)
    t, p, keys = rng.integers(0, 4, (3, 50))
    w = np.where(keys == 2, 0.0, rng.lognormal(0, 1, 50))  # a cluster without weight does not count
    table = wmcc.tabulate(t, p, w, labels=range(4))
    one, ones = Exact.from_floats(w), np.ones(50, dtype=np.int64)
    stack = Stack.gathered(np.stack([t, p, keys]), Sums(ones, one, Exact.from_floats(w * w), w, w.copy()))
    drawn = SampleDesign("clusters", tuple(range(4)))
    found = Clusters.of(wmcc.Table(table.labels, stack, drawn=drawn))
    expected = Clusters.of(wmcc.tabulate(t, p, w, by=keys).as_clusters())
    assert found.count == expected.count == len(set(keys.tolist()) - {2})
    slope = rng.normal(size=len(table.cells))
    for a, b in zip(of_clusters(slope, found), of_clusters(slope, expected), strict=True):
        assert a == pytest.approx(b, rel=1e-12)
    assert found.shares == pytest.approx([w[keys == k].sum() / w.sum() for k in sorted({*keys} - {2})], rel=1e-12)


def test_a_perfect_score_of_clusters_rests_on_their_number():
    keys = np.repeat(np.arange(30), 4)
    rows, found = (
        wmcc.interval(wmcc.tabulate(Y, Y), "mcc"),
        wmcc.interval(wmcc.tabulate(Y, Y, cluster=keys[: len(Y)]), "mcc"),
    )
    assert found.value == found.high == 1
    assert 0 < found.low < rows.low
    assert "allows for rows that the sample may have missed" in found.warnings[0]


def test_rows_given_twice_are_one_cluster():
    """Copies of a row tell nothing new: with copies in a cluster each, nothing changes."""
    data = sample(5)
    twice, keys = Sample(*(np.repeat(x, 2) for x in data)), np.repeat(np.arange(120), 2)
    rows = wmcc.interval(data.table)
    found = wmcc.interval(wmcc.tabulate(*twice, cluster=keys))
    assert found.se == pytest.approx(wmcc.interval(wmcc.tabulate(*data, cluster=np.arange(120))).se, rel=1e-9)
    assert found.clusters_eff == pytest.approx(rows.n_eff, rel=1e-9)
    assert found.n_eff == pytest.approx(2 * rows.n_eff, rel=1e-9)
    assert wmcc.interval(twice.table).se == pytest.approx(rows.se / math.sqrt(2), rel=1e-9)


def test_few_clusters_are_a_warning_and_none_a_problem():
    data = sample(6, 120)
    few = wmcc.interval(wmcc.tabulate(*data, cluster=GROUPS % 5)).warnings
    assert few == ("there are fewer than 5 effective clusters; the interval may be too short",)
    assert wmcc.interval(wmcc.tabulate(*data, cluster=GROUPS % 12)).reliable
    assert wmcc.interval(wmcc.tabulate(*data, cluster=np.zeros(120, int))).problem == (
        "a standard error needs at least two clusters with weight, and there is only 1"
    )
    heavy = Sample(data.t, data.p, np.where(GROUPS == 0, 1e6, 1.0))
    few = wmcc.interval(wmcc.tabulate(*heavy, cluster=GROUPS)).problem
    assert few == "the effective number of clusters is 1, of 20; at least 2 are needed"
    weightless = Sample(data.t, data.p, np.where(GROUPS > 9, 0.0, data.w))
    assert wmcc.interval(wmcc.tabulate(*weightless, cluster=GROUPS)).clusters == 10
    same = wmcc.interval(wmcc.tabulate([0, 1, 0, 1] * 10, [0, 1, 1, 1] * 10, cluster=np.arange(40) // 4))
    assert "all 10 clusters have the same influence on the score" in same.problem


# ---- the bootstrap -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MULTICLASS)
def test_resampled_rows_agree_with_the_table(name):
    data = sample(7, 600, spread=0.5)
    for cluster in (None, np.arange(600) // 3):
        one = wmcc.interval(wmcc.tabulate(*data, cluster=cluster), name)
        other = wmcc.bootstrap(*data, measure=name, cluster=cluster)
        assert other.se == pytest.approx(one.se, rel=0.12)
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.4 * one.se)
        assert (other.n, other.n_eff, other.clusters) == (one.n, pytest.approx(one.n_eff), one.clusters)
        assert other.clusters_eff == (None if cluster is None else pytest.approx(one.clusters_eff))
    counts = wmcc.tabulate(data.t, data.p, np.array([1.0, 2.0, 3.0])[data.t])  # equal weights in a cell
    one, other = (wmcc.interval(counts, name, method=method) for method in ("fisher", "bootstrap"))
    assert other.se == pytest.approx(one.se, rel=0.12)


def test_what_a_table_can_be_resampled_from_needs_no_rows():
    data, keys = sample(7, 300, spread=0.5), np.arange(300) // 3
    clusters = wmcc.interval(wmcc.tabulate(*data, cluster=keys), method="bootstrap", seed=3)
    assert clusters == wmcc.bootstrap(*data, cluster=keys, seed=3)
    assert wmcc.interval(wmcc.tabulate(data.t, data.p), method="bootstrap") == wmcc.bootstrap(data.t, data.p)


def test_resamples_depend_on_the_seed_alone(monkeypatch):
    data = sample(8, 3000)
    monkeypatch.setattr(resample, "AT_ONCE", 1 << 17)  # several parts
    found = [wmcc.bootstrap(*data, resamples=500, seed=seed) for seed in (0, 0, 1, np.int64(1))]
    assert found[0] == found[1] != found[2] == found[3]
    for processors in (1, 2):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=processors: set(range(n)), raising=False)
        assert wmcc.bootstrap(*data, resamples=500) == found[0]


def test_resampled_tables_are_of_the_data(monkeypatch):
    """Cells are drawn in proportion to their weight, with the variance of Σw², whatever it is made of."""
    data = sample(9, 400, spread=1.0)
    table = data.table
    for at_once in (1 << 20, 4000 * 7):  # at once, and in parts that are drawn independently of each other
        monkeypatch.setattr(resample, "AT_ONCE", at_once)
        stack = resample.resample_rows(table.labels, table.cells.codes, data, 4000, 1, False) * data.w.max()
        assert stack.mean(axis=0) == pytest.approx(table.w[tuple(table.cells.codes)], rel=0.1)
        assert stack.var(axis=0) == pytest.approx(table.w2[tuple(table.cells.codes)], rel=0.2)
    light = Sample(data.t, data.p, np.where(data.t == 2, 1e-60, 1.0) * data.w)
    stack = resample.resample_rows(table.labels, light.table.cells.codes, light, 200, 1, False)
    assert (stack[:, light.table.cells.codes[0] == 2].sum(axis=1) > 0).all()


def test_a_bootstrap_of_few_rows_may_draw_none():
    rows = [0, 1, 1, 0], [0, 1, 0, 0], [1, 2, 3, 1.5]
    found = wmcc.bootstrap(*rows)
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.warnings == wmcc.interval(wmcc.tabulate(*rows)).warnings != ()
    same = wmcc.interval(wmcc.tabulate([0, 1] * 30, [0, 1] * 30), method="bootstrap")
    assert (same.low, same.high, same.se) == pytest.approx((1, 1, 0), abs=1e-15)
    assert "all resamples have the same score" in same.warnings[0]


def interval_of(rows, method, measure="ecc", **asked):
    """Interval of rows: the bootstrap needs them themselves."""
    if method == "bootstrap":
        return wmcc.bootstrap(*rows, measure=measure, **asked)
    asked.pop("resamples", None)
    return wmcc.interval(wmcc.tabulate(*rows), measure, method=method, **asked)


@pytest.mark.parametrize("method", ["fisher", "delta", "bootstrap"])
def test_ends_of_any_level_hold_the_score(method):
    for seed in range(6):
        data = sample(seed, 30, right=0.9, spread=2.0)
        for level in (0.001, 0.1, 0.99):
            found = interval_of(data, method, confidence_level=level, resamples=100)
            assert found.problem or -1 <= found.low <= found.value <= found.high <= 1


# ---- a sentence where there is no interval, or a poor one ----------------------------------------------------

Y = np.array([0, 1] * 20)
EDGES = {
    "perfect": ((Y, Y), None, "no row of the sample lowers the score"),
    "all wrong": ((Y, 1 - Y), None, "no row of the sample moves the score"),
    "one row of a class": (([1, *[0] * 30], [1, *[0] * 28, 1, 1]), None, "fewer than about 5 influential rows"),
    "one row": (([0], [1]), "mcc is undefined at these weights", None),
    "n_eff below two": (
        ([0, 0, 1, 1], [0, 1, 1, 0], [1e9, 1, 1, 1]),
        "the effective number of rows is 1, of 4; at least 2 are needed",
        None,
    ),
    "n_eff of two": (([0, 1], [1, 0], [0.1, 0.1]), None, "no row of the sample"),
    "one class": (([1, 1, 1], [1, 0, 1]), "all the weight of y_true is in one class", None),
    "one label": (([1, 1, 1], [1, 1, 1]), "in one class", None),
    "no weight in a class": ((Y, np.roll(Y, 5), np.where(Y == 1, 0.0, 1.0)), "in one class", None),
    "light class": ((Y, Y ^ (np.arange(40) < 5), np.where(Y == 1, 1e-300, 1.0)), "less than 1e-140", None),
}


@pytest.mark.parametrize("method", ["fisher", "delta", "bootstrap"])
@pytest.mark.parametrize("edge", EDGES)
def test_edges_get_a_sentence(edge, method):
    rows, problem, warning = EDGES[edge]
    found = interval_of(rows, method, "mcc")
    assert not found.reliable
    assert found._repr_html_().startswith("<p>MCC")
    if problem is not None:
        assert problem.lower() in found.problem.lower()
        assert found.status == "not estimable"
        assert "not estimable" in repr(found)
        assert math.isnan(found.low)
        return
    assert found.problem is None
    assert -1 <= found.low <= found.value <= found.high <= 1
    if method == "fisher":
        assert any(warning in line for line in found.warnings)
        assert found.status == "unreliable"
        assert "unreliable: " in repr(found)
        assert found.ends.endswith(" *")


@pytest.mark.parametrize("weight", [5e-324, 1.7e308])
@pytest.mark.parametrize("method", ["fisher", "delta", "bootstrap"])
def test_weights_at_the_ends_of_float64_are_weights(method, weight):
    rows = Y, Y ^ (np.arange(40) < 5)
    found, plain = (interval_of((*rows, w), method, "mcc") for w in (np.full(40, weight), None))
    assert alike(found, plain, 1e-9)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy"])
def test_with_one_class_seen_chance_may_have_kept_another_from_sight(name):
    found = wmcc.interval(wmcc.tabulate([3] * 50, [3] * 50), name)
    assert (found.low, found.high) == (pytest.approx(0.025 ** (1 / 50)), 1.0)
    assert not found.reliable


def test_a_score_that_nothing_varied_has_what_chance_kept_from_sight():
    widths = [wmcc.interval(wmcc.tabulate(np.tile(Y, k), np.tile(Y, k)), "accuracy") for k in (1, 10)]
    for n, found in zip((40, 400), widths, strict=True):
        assert (found.high, found.se) == (1.0, 0.0)
        assert found.low == pytest.approx(0.025 ** (1 / n), abs=1e-12)  # Clopper and Pearson's
    wrong = wmcc.interval(wmcc.tabulate(Y, 1 - Y), "accuracy")
    assert (wrong.low, wrong.high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 40)))


def test_many_classes_and_odd_labels():
    t = np.arange(2000) % 200
    p = np.where(np.arange(2000) % 7, t, (t + 1) % 200)
    found = wmcc.interval(wmcc.tabulate(t, p), "mpc2")
    assert 0 < found.low < found.value < found.high < 1
    odd = wmcc.score(wmcc.tabulate(["<b>", "a"] * 9, ["<b>", "a", "a"] * 6))
    assert "<b>" in repr(odd)
    assert "<b>" not in odd._repr_html_()
    assert "&lt;b&gt;" in odd._repr_html_()


def test_reliable_intervals_have_nothing_to_say():
    found = wmcc.interval(sample(1, 3000, spread=0.2).table)
    assert (found.reliable, found.status, found.warnings, found.problem) == (True, "reliable", (), None)
    assert len(repr(found).splitlines()) == 1
    thin = wmcc.interval(wmcc.Table.from_counts([[500, 1], [1, 500]]))
    assert any("influential rows determine the standard error" in line for line in thin.warnings)


# ---- refusals ----------------------------------------------------------------------------------------------


def test_an_effective_number_is_shown_as_it_is():
    """ "2 effective clusters of 2, and at least 2 are needed" would be a riddle."""
    for second, shown in ((1.3, "1.97"), (1.001, "1.999999")):
        table = wmcc.tabulate([0, 1] * 40, [0, 1, 1, 0] * 20, [1.0, second] * 40, cluster=[0, 1] * 40)
        assert f"the effective number of clusters is {shown}" in wmcc.interval(table).problem


def test_a_weight_matrix_has_no_interval():
    table = wmcc.tabulate([0, 1, 1], [0, 1, 0], np.arange(9.0).reshape(3, 3))
    for found in (wmcc.interval(table), wmcc.interval(table, "recall", of=1), wmcc.interval(table, method="delta")):
        assert "matrix over pairs of rows" in found.problem
        assert math.isnan(found.low)
        assert math.isnan(found.n_eff)
    assert "matrix over pairs" in wmcc.bootstrap([0, 1, 1], [0, 1, 0], np.arange(9.0).reshape(3, 3)).problem


def test_a_class_without_rows_has_a_reason():
    table = wmcc.tabulate([0, 1, 1], [0, 1, 0], labels=[0, 1, 2])
    for method in ("fisher", "delta", "bootstrap"):
        found = wmcc.interval(table, "recall", of=2, method=method)
        assert found.problem == "Recall is undefined at these weights: class 2 lacks weight in y_true"
        assert (found.value, found.n, found.method) == (0.0, 0, method)


DATA = sample(0, 30)
TABLE = DATA.table
TABLES = wmcc.tabulate(*DATA, by=np.arange(30) % 3)
REFUSED = {
    "rows": (lambda: wmcc.interval(DATA.t), "expected a Table; got a ndarray.*wmcc.tabulate"),
    "a frame": (lambda: wmcc.interval(pl.DataFrame({"t": DATA.t})), "expected a Table; got a DataFrame"),
    "nothing": (lambda: wmcc.interval(None), "expected a Table; got a NoneType"),
    "no weight": (lambda: wmcc.interval(wmcc.tabulate([0, 1], [1, 1], [0, 0])), "total weight of 2 rows is zero"),
    "level": (lambda: wmcc.interval(TABLE, confidence_level=1.0), "between 0 and 1, such as 0.95"),
    "level text": (lambda: wmcc.interval(TABLE, confidence_level="95%"), "expected a finite number"),
    "method": (lambda: wmcc.interval(TABLE, method="wald"), "`method` is 'wald'; expected 'fisher'"),
    "measure": (lambda: wmcc.interval(TABLE, "f1"), "number per class.*of="),
    "a class of a whole": (lambda: wmcc.interval(TABLE, "ecc", of=1), "with `of`, a class, expected one of precision"),
    "no class": (lambda: wmcc.interval(TABLE, "f1", of="oak"), "there is no class 'oak'"),
    "mcc of three": (lambda: wmcc.interval(TABLE, "mcc"), "two classes; this table has 3"),
    "two predictions": (lambda: wmcc.interval(joint_table(*DATA[:2], DATA.t)), r"take one prediction .*joint\[name\]"),
    "groups": (lambda: wmcc.interval(TABLES), "wmcc.score.tables.*tables.key.*tables.total"),
    "a dict": (lambda: wmcc.interval({0: TABLE, 1: TABLE}), "expected a Table; got a dict"),
    "few resamples": (lambda: wmcc.bootstrap(*DATA, resamples=99), "`resamples` is 99; .*at least 100"),
    "no resamples": (lambda: wmcc.bootstrap(*DATA, resamples=None), "at least 100"),
    "half a resample": (lambda: wmcc.bootstrap(*DATA, resamples=100.5), "whole number"),
    "seed": (lambda: wmcc.bootstrap(*DATA, seed=-1), "`seed` is -1; expected a whole number"),
    "no seed": (lambda: wmcc.interval(TABLES.as_clusters(), method="bootstrap", seed=None), "`seed` is None"),
    "unequal weights": (
        lambda: wmcc.interval(TABLE, method="bootstrap"),
        "wmcc.bootstrap.y_true, y_pred, sample_weight",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_calls_get_a_sentence(name):
    call, said = REFUSED[name]
    with pytest.raises((InputError, InputTypeError), match=f"(?s){said}"):
        call()

"""Intervals through every door: rows, tables, files, clusters, resamples; and a sentence where there is none."""

import math
import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import few
from hypothesis import given
from hypothesis import strategies as st
from samples import MULTICLASS, Sample, alike, sample, samples

import wmcc
from wmcc.core.exact import Exact
from wmcc.core.stack import Stack
from wmcc.core.summed import Drawn
from wmcc.core.sums import Sums
from wmcc.inference import bootstrap
from wmcc.inference.influence import Clusters, of_clusters
from wmcc.sources import resample

GROUPS = np.arange(120) // 6


def frame_of(data, **more):
    return pl.DataFrame({"t": data[0], "p": data[1], "w": data[-1], **more})


# ---- the same through every door -------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["fisher", "delta"])
def test_every_door_gives_the_same_interval(method, tmp_path):
    data = sample(3)
    frame = frame_of(data)
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    found = wmcc.interval(data.table, "mpc2", 0.9, method)
    named = {"measure": "mpc2", "confidence_level": 0.9, "method": method}
    assert wmcc.interval(*data, **named) == found
    assert wmcc.interval(data.table, measure=wmcc.mpc2, confidence_level=0.9, method=method) == found
    for source in (frame, frame.to_pandas(), tmp_path / "rows.parquet", tmp_path / "rows.csv"):
        assert wmcc.interval(source, "t", "p", "w", **named) == found
    assert alike(wmcc.interval(frame.lazy(), "t", "p", "w", **named), found, 1e-12)
    assert wmcc.interval(frame, true="t", pred="p", weight="w", **named) == found
    ignoring = wmcc.interval(
        np.append(data.t, 255), np.append(data.p, 0), np.append(data.w, np.nan), ignore=255, **named
    )
    assert ignoring == found


def test_clusters_through_every_door(tmp_path):
    data = sample(4)
    keys = np.array([f"tile {k}" for k in GROUPS])
    frame = frame_of(data, tile=keys)
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    found = wmcc.interval(*data, cluster=keys)
    assert found.clusters == 20
    assert "20 clusters" in repr(found)
    assert wmcc.interval(wmcc.tabulate(*data, by=keys)) == found
    assert alike(wmcc.interval({k: data.only(k == GROUPS).table for k in range(20)}), found, 1e-12)
    for source in (frame, frame.to_pandas(), tmp_path / "rows.parquet", tmp_path / "rows.csv"):
        assert wmcc.interval(source, "t", "p", "w", cluster="tile") == found
    for other in (list(keys), pd.Series(keys), pl.Series(keys), pd.Series(keys, dtype="category")):
        assert wmcc.interval(*data, cluster=other) == found
    for other in (GROUPS, list(GROUPS), GROUPS.astype(float), GROUPS.astype(np.uint8)):
        assert alike(wmcc.interval(*data, cluster=other), found, 1e-12)
    assert wmcc.interval(*data, cluster=GROUPS < 10).clusters == 2
    maps = Sample(*(x.reshape(20, 2, 3) for x in data))
    assert wmcc.interval(*maps, cluster=keys[::6]) == found  # a key per image
    assert wmcc.interval(*maps, cluster=keys.reshape(20, 2, 3)) == found
    assert wmcc.interval(wmcc.tabulate(frame, "t", "p", "w", by=["tile"])) == found
    order = np.random.default_rng(1).permutation(120)
    assert wmcc.interval(*data.only(order), cluster=keys[order]).se == pytest.approx(found.se, rel=1e-12)
    score = wmcc.score(*data, cluster=keys)
    assert score.intervals["ecc"] == found
    assert "Clusters" in repr(score)


# ---- clusters --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MULTICLASS)
@few(5)
@given(data=samples)
def test_clusters_of_one_row_are_rows(name, data):
    single, found = wmcc.interval(data.table, name), wmcc.interval(*data, measure=name, cluster=np.arange(len(data.t)))
    if single.problem or single.se < 1e-12:
        return
    u = wmcc.MEASURES[name].gradient(data.table)[data.t, data.p] * data.w
    assert single.se**2 == pytest.approx((u * u).sum(), rel=1e-9)
    n, without = len(u), u / (1 - data.w / data.w.sum())
    assert found.se**2 == pytest.approx((without**2).sum() * (n - 1) / n, rel=1e-9)
    assert found.n_eff == pytest.approx(single.n_eff, rel=1e-9)
    assert found.low <= found.value <= found.high


@few(20)
@given(data=samples, name=st.sampled_from(MULTICLASS), groups=st.integers(2, 9))
def test_the_variance_of_clusters_is_the_jackknifes(data, name, groups):
    table = data.table
    keys = np.random.default_rng(groups).integers(0, groups, len(data.t))
    found = wmcc.interval(*data, measure=name, cluster=keys)
    gradient = wmcc.MEASURES[name].gradient(table)[data.t, data.p] * data.w
    u, share = (np.array([x[keys == k].sum() for k in np.unique(keys)]) for x in (gradient, data.w / data.w.sum()))
    if found.problem is None:
        without, G = (u / (1 - share))[share > 0], (share > 0).sum()
        assert found.se**2 == pytest.approx((without**2).sum() * (G - 1) / G, rel=1e-9)


def test_the_variance_of_clusters_is_near_that_of_scores_without_each_of_them():
    data = sample(4, 600, spread=0.5)
    keys = np.random.default_rng(4).choice(20, 600, p=np.arange(1, 21) / 210)
    tables = wmcc.tabulate(*data, by=keys)
    whole = sum(tables.values())
    scores = np.array([wmcc.ecc(whole - table) for table in tables.values()])
    jackknife = ((scores - wmcc.ecc(whole)) ** 2).sum() * 19 / 20
    assert wmcc.interval(tables).se == pytest.approx(math.sqrt(jackknife), rel=0.02)


def test_moments_of_clusters_are_those_of_their_influences():
    data = sample(5, right=0.85, spread=1.5)
    table, keys = data.table, np.repeat(np.arange(24), 5)
    slope = wmcc.ecc.gradient(table) * table.total
    u = np.bincount(keys, slope[data.t, data.p] * data.w / table.total)
    codes = tuple(table.stack.codes)
    found = of_clusters(slope[codes], Clusters.of(wmcc.tabulate(*data, cluster=keys)))
    square, G = (u * u).sum(), len(u)
    assert found.skewness == pytest.approx((u**3).sum() / square**1.5, rel=1e-9)
    assert abs(found.skewness) > 0.1
    assert found.df == pytest.approx(2 * square**2 / ((u**4).sum() - square**2 / G), rel=1e-9)
    assert found.df < G - 1
    moved = np.bincount(data.t * 3 + data.p, u[keys] * data.w / table.total, 9).reshape(3, 3)
    assert found.direction == pytest.approx(moved[codes], rel=1e-9, abs=1e-15)


@few(20)
@given(seed=st.integers(0, 2**32 - 1))
def test_clusters_of_a_stack_are_those_of_tables(seed):
    rng = np.random.default_rng(seed)
    t, p, keys = rng.integers(0, 4, (3, 50))
    w = np.where(keys == 2, 0.0, rng.lognormal(0, 1, 50))  # a cluster without weight does not count
    table = wmcc.tabulate(t, p, w, labels=range(4))
    one, ones = Exact.from_floats(w), np.ones(50, dtype=np.int64)
    stack = Stack.gathered(np.stack([t, p, keys]), Sums(ones, one, Exact.from_floats(w * w), w, w.copy()))
    drawn = Drawn("clusters", tuple(range(4)))
    found = Clusters.of(wmcc.Table(table.labels, stack, drawn=drawn))
    expected = Clusters.of(wmcc.tabulate(t, p, w, by=keys).as_clusters())
    assert found.count == expected.count == len(set(keys.tolist()) - {2})
    slope = rng.normal(size=len(table.stack))
    for a, b in zip(of_clusters(slope, found), of_clusters(slope, expected), strict=True):
        assert a == pytest.approx(b, rel=1e-12)
    assert found.shares == pytest.approx([w[keys == k].sum() / w.sum() for k in sorted({*keys} - {2})], rel=1e-12)


def test_a_perfect_score_of_clusters_rests_on_their_number():
    keys = np.repeat(np.arange(30), 4)
    rows, found = wmcc.interval(Y, Y, measure="mcc"), wmcc.interval(Y, Y, measure="mcc", cluster=keys[: len(Y)])
    assert found.value == found.high == 1
    assert 0 < found.low < rows.low
    assert "chance could have kept from sight" in found.warnings[0]


def test_rows_given_twice_are_one_cluster():
    """Copies of a row tell nothing new: with copies in a cluster each, nothing changes."""
    data = sample(5)
    twice, keys = Sample(*(np.repeat(x, 2) for x in data)), np.repeat(np.arange(120), 2)
    rows = wmcc.interval(data.table)
    found = wmcc.interval(*twice, cluster=keys)
    assert found.se == pytest.approx(wmcc.interval(*data, cluster=np.arange(120)).se, rel=1e-9)
    assert found.n_eff == pytest.approx(rows.n_eff, rel=1e-9)
    assert wmcc.interval(twice.table).se == pytest.approx(rows.se / math.sqrt(2), rel=1e-9)


def test_few_clusters_are_a_warning_and_none_a_problem():
    data = sample(6, 120)
    few = wmcc.interval(*data, cluster=GROUPS % 5).warnings
    assert few == ("the clusters are worth fewer than 5 of equal weight; the interval may be too short",)
    assert wmcc.interval(*data, cluster=GROUPS % 12).reliable
    assert wmcc.interval(*data, cluster=np.zeros(120, int)).problem.startswith("at least two clusters")
    heavy = Sample(data.t, data.p, np.where(GROUPS == 0, 1e6, 1.0))
    assert "effective clusters of 20" in wmcc.interval(*heavy, cluster=GROUPS).problem
    weightless = Sample(data.t, data.p, np.where(GROUPS > 9, 0.0, data.w))
    assert wmcc.interval(*weightless, cluster=GROUPS).clusters == 10
    same = wmcc.interval([0, 1, 0, 1] * 10, [0, 1, 1, 1] * 10, cluster=np.arange(40) // 4)
    assert "all 10 clusters moved it alike" in same.problem


# ---- the bootstrap -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MULTICLASS)
def test_resampled_rows_agree_with_the_table(name):
    data = sample(7, 600, spread=0.5)
    for options in ({}, {"cluster": np.arange(600) // 3}):
        one, other = (
            wmcc.interval(*data, measure=name, method=method, **options) for method in ("fisher", "bootstrap")
        )
        assert other.se == pytest.approx(one.se, rel=0.12)
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.4 * one.se)
    counts = wmcc.tabulate(data.t, data.p, np.array([1.0, 2.0, 3.0])[data.t])  # equal weights in a cell
    one, other = (wmcc.interval(counts, name, method=method) for method in ("fisher", "bootstrap"))
    assert other.se == pytest.approx(one.se, rel=0.12)


def test_resamples_depend_on_the_seed_alone(monkeypatch):
    data = sample(8, 3000)
    named = {"method": "bootstrap", "resamples": 500}
    monkeypatch.setattr(resample, "AT_ONCE", 1 << 17)  # several parts
    found = [wmcc.interval(*data, seed=seed, **named) for seed in (0, 0, 1, np.int64(1))]
    assert found[0] == found[1] != found[2] == found[3]
    for processors in (1, 2):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=processors: set(range(n)), raising=False)
        assert wmcc.interval(*data, **named) == found[0]


def test_resampled_tables_are_of_the_data(monkeypatch):
    """Cells are drawn in proportion to their weight, with the variance of Σw², whatever it is made of."""
    data = sample(9, 400, spread=1.0)
    table = data.table
    for at_once in (1 << 20, 4000 * 7):  # at once, and in parts that are drawn independently of each other
        monkeypatch.setattr(resample, "AT_ONCE", at_once)
        stack = bootstrap.resampled_tables(table, (*data, None, {}), 4000, 1, False) * data.w.max()
        assert stack.mean(axis=0) == pytest.approx(table.w[tuple(table.stack.codes)], rel=0.1)
        assert stack.var(axis=0) == pytest.approx(table.w2[tuple(table.stack.codes)], rel=0.2)
    light = Sample(data.t, data.p, np.where(data.t == 2, 1e-60, 1.0) * data.w)
    stack = bootstrap.resampled_tables(light.table, (*light, None, {}), 200, 1, False)
    assert (stack[:, light.table.stack.codes[0] == 2].sum(axis=1) > 0).all()


def test_a_bootstrap_of_few_rows_may_draw_none():
    found = wmcc.interval([0, 1, 1, 0], [0, 1, 0, 0], [1, 2, 3, 1.5], method="bootstrap")
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.warnings == wmcc.interval([0, 1, 1, 0], [0, 1, 0, 0], [1, 2, 3, 1.5]).warnings != ()
    same = wmcc.interval([0, 1] * 30, [0, 1] * 30, method="bootstrap")
    assert (same.low, same.high, same.se) == pytest.approx((1, 1, 0), abs=1e-15)
    assert "all resamples have the same score" in same.warnings[0]


@pytest.mark.parametrize("method", ["fisher", "delta", "bootstrap"])
def test_ends_of_any_level_hold_the_score(method):
    for seed in range(6):
        data = sample(seed, 30, right=0.9, spread=2.0)
        for level in (0.001, 0.1, 0.99):
            found = wmcc.interval(*data, confidence_level=level, method=method, resamples=100)
            assert found.problem or -1 <= found.low <= found.value <= found.high <= 1


# ---- a sentence where there is no interval, or a poor one ----------------------------------------------------

Y = np.array([0, 1] * 20)
EDGES = {
    "perfect": ((Y, Y), None, "no row that would lower it was seen"),
    "all wrong": ((Y, 1 - Y), None, "no row was seen that would move it"),
    "one row of a class": (([1, *[0] * 30], [1, *[0] * 28, 1, 1]), None, "fewer than about 5 influential rows"),
    "one row": (([0], [1]), "mcc is undefined at these weights", None),
    "n_eff below two": (([0, 0, 1, 1], [0, 1, 1, 0], [1e9, 1, 1, 1]), "1 effective rows of 4, and at least 2", None),
    "n_eff of two": (([0, 1], [1, 0], [0.1, 0.1]), None, "no row was seen"),
    "one class": (([1, 1, 1], [1, 0, 1]), "all the weight of y_true is in one class", None),
    "one label": (([1, 1, 1], [1, 1, 1]), "in one class", None),
    "no weight in a class": ((Y, np.roll(Y, 5), np.where(Y == 1, 0.0, 1.0)), "in one class", None),
    "light class": ((Y, Y ^ (np.arange(40) < 5), np.where(Y == 1, 1e-300, 1.0)), "less than 1e-140", None),
}


@pytest.mark.parametrize("method", ["fisher", "delta", "bootstrap"])
@pytest.mark.parametrize("edge", EDGES)
def test_edges_get_a_sentence(edge, method):
    rows, problem, warning = EDGES[edge]
    found = wmcc.interval(*rows, measure="mcc", method=method)
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
    found, plain = (wmcc.interval(*rows, w, measure="mcc", method=method) for w in (np.full(40, weight), None))
    assert alike(found, plain, 1e-9)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy"])
def test_with_one_class_seen_chance_may_have_kept_another_from_sight(name):
    found = wmcc.interval([3] * 50, [3] * 50, measure=name)
    assert (found.low, found.high) == (pytest.approx(0.025 ** (1 / 50)), 1.0)
    assert not found.reliable


def test_a_score_that_nothing_varied_has_what_chance_kept_from_sight():
    widths = [wmcc.interval(np.tile(Y, k), np.tile(Y, k), measure="accuracy") for k in (1, 10)]
    for n, found in zip((40, 400), widths, strict=True):
        assert (found.high, found.se) == (1.0, 0.0)
        assert found.low == pytest.approx(0.025 ** (1 / n), abs=1e-12)  # Clopper and Pearson's
    wrong = wmcc.interval(Y, 1 - Y, measure="accuracy")
    assert (wrong.low, wrong.high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 40)))


def test_many_classes_and_odd_labels():
    t = np.arange(2000) % 200
    p = np.where(np.arange(2000) % 7, t, (t + 1) % 200)
    found = wmcc.interval(t, p, measure="mpc2")
    assert 0 < found.low < found.value < found.high < 1
    odd = wmcc.score(["<b>", "a"] * 9, ["<b>", "a", "a"] * 6)
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

DATA = sample(0, 30)
TABLES = wmcc.tabulate(*DATA, by=np.arange(30) % 3)
FRAME = frame_of(DATA, tile=[None, *range(29)])
REFUSED = {
    "no weight": (lambda: wmcc.interval([0, 1], [1, 1], [0, 0]), "total weight of 2 rows is zero"),
    "level": (lambda: wmcc.interval(DATA.table, confidence_level=1.0), "between 0 and 1, such as 0.95"),
    "level text": (lambda: wmcc.interval(DATA.table, confidence_level="95%"), "expected a finite number"),
    "method": (lambda: wmcc.interval(DATA.table, "ecc", 0.9, "wald"), "method is 'wald'; expected 'fisher'"),
    "measure": (lambda: wmcc.interval(DATA.table, "f1"), "number per class"),
    "mcc of three": (lambda: wmcc.interval(DATA.table, "mcc"), "two classes; this table has 3"),
    "twice": (lambda: wmcc.interval(DATA.table, "mpc2", measure="kappa"), "measure was given twice"),
    "too many": (lambda: wmcc.interval(DATA.table, labels=[0]), "labels= belongs to the making of the table"),
    "two predictions": (lambda: wmcc.interval(wmcc.joint_table(*DATA[:2], DATA.t)), "use its .first"),
    "no tables": (lambda: wmcc.interval({}), "expected a dict of tables"),
    "other dict": (lambda: wmcc.interval({"a": [1, 2]}), "expected a dict of tables"),
    "joint tables": (lambda: wmcc.interval({0: wmcc.joint_table([0], [0], [0])}), "expected a dict of tables"),
    "table and cluster": (
        lambda: wmcc.interval(DATA.table, cluster=[1]),
        "cluster= belongs to the making of the table",
    ),
    "tables and cluster": (
        lambda: wmcc.interval(TABLES, cluster="tile"),
        "cluster= belongs to the making of the table",
    ),
    "cluster and by": (lambda: wmcc.interval(*DATA, cluster=DATA.t, by=DATA.t), "by= makes one table per group"),
    "score, cluster and by": (lambda: wmcc.score(*DATA, cluster=DATA.t, by=DATA.t), "by= makes one table per group"),
    "by": (lambda: wmcc.interval(*DATA, by=DATA.t), "by= makes one table per group"),
    "no cluster": (
        lambda: wmcc.interval(FRAME, "t", "p", "w", cluster="tile"),
        "1 row has no cluster in the column 'tile'",
    ),
    "part of a key": (
        lambda: wmcc.interval(FRAME, "t", "p", cluster=["t", "tile"]),
        "no cluster in the columns 't', 'tile'",
    ),
    "score, no cluster": (
        lambda: wmcc.score(FRAME, "t", "p", "w", cluster="tile"),
        "1 row has no cluster in the column 'tile'",
    ),
    "cluster of arrays": (
        lambda: wmcc.interval(*DATA, cluster=[None, *range(29)]),
        r"^cluster\[0\] is missing.*needs a key",
    ),
    "cluster shape": (lambda: wmcc.interval(*DATA, cluster=[1, 2]), r"^cluster has shape \(2,\), and the labels"),
    "cluster of a frame": (lambda: wmcc.interval(FRAME, "t", "p", cluster=FRAME["t"]), "^cluster is of type Series; "),
    "cluster name": (lambda: wmcc.interval(*DATA, cluster="tile"), "^cluster= goes with a frame"),
    "cluster column": (lambda: wmcc.interval(FRAME, "t", "p", cluster="site"), "no column 'site'"),
    "few resamples": (lambda: wmcc.interval(*DATA, method="bootstrap", resamples=99), "at least 100"),
    "no resamples": (lambda: wmcc.interval(*DATA, method="bootstrap", resamples=None), "at least 100"),
    "half a resample": (lambda: wmcc.interval(*DATA, method="bootstrap", resamples=100.5), "whole number"),
    "seed": (lambda: wmcc.interval(*DATA, method="bootstrap", seed=-1), "seed is -1; expected a whole number"),
    "no seed": (lambda: wmcc.interval(TABLES, method="bootstrap", seed=None), "seed is None"),
    "unequal weights": (lambda: wmcc.interval(DATA.table, method="bootstrap"), "give y_true, y_pred and sample_weight"),
    "frame": (lambda: wmcc.interval(FRAME, "t", "p", "w", method="bootstrap"), "needs them in memory"),
    "named": (lambda: wmcc.interval(FRAME, true="t", pred="p", weight="w", method="bootstrap"), "needs them in memory"),
    "matrix": (
        lambda: wmcc.interval([0, 1, 1], [0, 1, 0], np.arange(9.0).reshape(3, 3), method="bootstrap"),
        "a weight matrix pairs rows",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_calls_get_a_sentence(name):
    call, said = REFUSED[name]
    with pytest.raises((wmcc.InputError, wmcc.InputTypeError), match=said):
        call()

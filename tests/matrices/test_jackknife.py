"""Intervals under a weight matrix: the jackknife by definition, coverage of simulated maps, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import uniform_filter

import wmcc
from wmcc import matrices
from wmcc.errors import InputError, InputTypeError

SIDE, BLOCKS = 8, 4
PIXELS = SIDE * BLOCKS
Y, X = np.mgrid[:PIXELS, :PIXELS]
KEYS = {"row": (Y // SIDE).ravel(), "column": (X // SIDE).ravel()}
CODES = KEYS["row"] * BLOCKS + KEYS["column"]
S = matrices.grid((PIXELS, PIXELS), credit=0.5)


def land(rng):
    """A map of blocks that are independent of each other, and two predictions: errors lie together, or anywhere."""
    truth, near, far = (np.zeros((PIXELS, PIXELS), dtype=int) for _ in range(3))
    for k in range(BLOCKS**2):
        a, b = divmod(k, BLOCKS)
        block = np.s_[a * SIDE : (a + 1) * SIDE, b * SIDE : (b + 1) * SIDE]
        one, two = (uniform_filter(rng.normal(size=(SIDE, SIDE)), size, mode="wrap") for size in (5, 3))
        truth[block], wrong = np.digitize(one, [-0.1, 0.1]), rng.beta(2, 8)
        other = rng.integers(0, 3, (SIDE, SIDE))
        near[block] = np.where(two > np.quantile(two, 1 - wrong), other, truth[block])
        far[block] = np.where(rng.random((SIDE, SIDE)) < wrong, other, truth[block])
    return truth.ravel(), near.ravel(), far.ravel()


TRUTH, NEAR, FAR = land(np.random.default_rng(1))


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_the_jackknife_by_its_definition(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    n, K, G = data.draw(st.integers(6, 30)), data.draw(st.integers(2, 4)), data.draw(st.integers(3, 6))
    truth, pred = rng.integers(0, K, n), rng.integers(0, K, n)
    cluster = np.concatenate([np.arange(G), rng.integers(0, G, n)])[:n]
    A = np.triu(rng.random((n, n)) < 0.3, 1)
    W = matrices.from_adjacency(A + A.T, credit=0.7, weight=rng.lognormal(size=n))
    found = matrices.score(truth, pred, W, cluster=cluster)
    for name, own in found.intervals.items():
        without = []
        for g in np.unique(cluster):
            kept = cluster != g
            without.append(getattr(matrices.score(truth[kept], pred[kept], W[kept][:, kept]), name))
        apart = np.array(without) - np.mean(without)
        count = len(without)
        if own.problem is None:
            assert own.se == pytest.approx(np.sqrt((count - 1) / count * (apart**2).sum()), rel=1e-9)
            assert own.low < own.value < own.high
        assert (own.value, own.clusters, own.n) == (getattr(found, name), count, n)


def test_a_diagonal_matrix_gives_the_intervals_of_clusters():
    found = matrices.score(TRUTH, NEAR, np.diag(np.ones(PIXELS**2)), cluster=KEYS)
    table = wmcc.tabulate(TRUTH, NEAR, cluster=CODES)
    for name in ("ecc", "mpc1", "mpc2"):
        own, known = found.intervals[name], wmcc.interval(table, name)
        assert own.value == pytest.approx(known.value, rel=1e-12)
        assert own.se == pytest.approx(known.se, rel=0.02)
        assert (own.low, own.high) == pytest.approx((known.low, known.high), abs=2e-3)
    assert found.alone is None
    assert "Without neighbours" not in repr(found)


@pytest.mark.slow
def test_intervals_cover():
    rng = np.random.default_rng(2)
    scores, differences = [], []
    for _ in range(120):
        truth, near, far = land(rng)
        scores.append(matrices.score(truth, near, S, cluster=CODES).intervals["ecc"])
        differences.append(matrices.compare(truth, {"near": near, "far": far}, S, cluster=CODES))
    for found in (scores, differences):
        mean = np.mean([x.value for x in found])
        assert np.mean([x.low <= mean <= x.high for x in found]) >= 0.9
        assert np.mean([x.se for x in found]) == pytest.approx(np.std([x.value for x in found]), rel=0.25)


def test_a_comparison_of_maps():
    found = matrices.compare(TRUTH, {"near": NEAR, "far": FAR, "true": TRUTH}, S, cluster=KEYS)
    assert found.names == ("near", "far", "true")
    pair = found["near", "far"]
    assert pair.values == tuple(matrices.score(TRUTH, own, S).ecc for own in (NEAR, FAR))
    assert pair.value == pair.values[0] - pair.values[1]
    assert (pair.clusters, pair.n) == (BLOCKS**2, PIXELS**2)
    assert found.told_apart("near", "true")
    assert found.ranking[0].name == "true"
    same = matrices.compare(TRUTH, {"a": NEAR, "b": NEAR}, S, cluster=KEYS)
    assert "both score the same in every cluster" in same.problem
    assert found.to_dict()["sample"] == "clusters"
    two = matrices.compare(TRUTH > 0, {"a": NEAR > 0, "b": FAR > 0}, S, "mcc", cluster=KEYS)
    assert two.value == matrices.compare(TRUTH > 0, {"a": NEAR > 0, "b": FAR > 0}, S, cluster=KEYS).value


def test_what_is_shown():
    found = matrices.score(TRUTH, NEAR, S, cluster=KEYS)
    text = repr(found)
    assert "Without neighbours" in text
    assert "Literal: even the truth scores" in text
    assert re_interval(found) in text
    assert found.of_truth["ecc"] == matrices.score(TRUTH, TRUTH, S).literal["ecc"]
    assert found.alone["ecc"] == wmcc.ecc(TRUTH, NEAR)
    assert "se" in found.to_frame().columns


def re_interval(found):
    return f"{found.intervals['ecc'].se:.4f}  {found.intervals['ecc'].ends}"


def test_a_score_that_credit_lowers_says_why():
    truth = (X + Y) % 2  # as fine as can be
    patch = np.where((X > 8) & (X < 20) & (Y > 8) & (Y < 20), 0, truth)
    found = matrices.score(truth.ravel(), patch.ravel(), S)
    assert found.mcc < found.alone["mcc"]
    assert "MCC is lower with neighbours than without: S compares smoothed maps" in repr(found)
    coarse = ((X // 8) + (Y // 8)) % 2
    single = np.where(np.random.default_rng(1).random(coarse.shape) < 0.1, 1 - coarse, coarse)
    found = matrices.score(coarse.ravel(), single.ravel(), S)
    assert found.mcc > found.alone["mcc"]
    assert "is lower with neighbours" not in repr(found)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: matrices.score(TRUTH, NEAR, S, cluster=[1, 2]), "cluster"),
        (lambda: matrices.score(TRUTH, NEAR, S, cluster=[None] * PIXELS**2), "cluster"),
        (lambda: matrices.score(TRUTH, NEAR, S, cluster=CODES, confidence_level=2), "confidence_level"),
        (lambda: matrices.compare(TRUTH, NEAR, S, cluster=CODES), "`y_pred` is no mapping of at least two predictions"),
        (lambda: matrices.compare(TRUTH, {"a": NEAR}, S, cluster=CODES), "`y_pred` is no mapping of at least two"),
        (lambda: matrices.compare(TRUTH, {"a": NEAR, "b": FAR}, S, "f1", cluster=CODES), "`measure` is 'f1'; expected"),
        (lambda: matrices.compare(TRUTH, {"a": NEAR, "b": FAR}, S, "mcc", cluster=CODES), "MCC is for two classes"),
        (lambda: matrices.compare(TRUTH, {"a": NEAR, "b": FAR}, S, cluster=None), "there is no test without clusters"),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises((InputError, InputTypeError), match=said):
        call()


def test_few_clusters_and_those_that_are_smaller_than_neighbourhoods():
    one = matrices.score(TRUTH, NEAR, S, cluster=np.zeros(PIXELS**2)).intervals["ecc"]
    assert "at least two clusters" in one.problem
    few = matrices.score(TRUTH, NEAR, S, cluster=KEYS["row"]).intervals["ecc"]
    assert any("fewer than" in why for why in few.warnings)
    small = matrices.score(TRUTH, NEAR, S, cluster=np.arange(PIXELS**2) // 2).intervals["ecc"]
    assert any("between neighbours in different clusters" in why for why in small.warnings)
    assert not matrices.score(TRUTH, NEAR, S, cluster=CODES).intervals["ecc"].problem

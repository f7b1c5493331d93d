"""Intervals of each class's own scores: the same as of the rows that they are about, and as sure as they say."""

import numpy as np
import pytest
from helpers import few
from hypothesis import given
from hypothesis import strategies as st

import wmcc
import wmcc.measures
from wmcc.errors import InputError

K = 3
ROWS_OF = {
    "recall": lambda t, c, k: t == k,
    "precision": lambda t, c, k: c == k,
    "iou": lambda t, c, k: (t == k) | (c == k),
    "mcc": lambda t, c, k: np.ones(len(t), dtype=bool),
}


def draw(rng, n):
    t = rng.choice(K, n, p=[0.5, 0.3, 0.2])
    c = np.where(rng.random(n) < 0.75, t, rng.integers(0, K, n))
    return t, c, rng.lognormal(0, 1, n)


def ends(x):
    return x.low, x.high, x.se, x.df, x.n_eff


@few(30)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(20, 200), clusters=st.booleans())
def test_they_are_intervals_of_the_rows_they_are_about(seed, n, clusters):
    rng = np.random.default_rng(seed)
    t, c, w = draw(rng, n)
    groups = rng.integers(0, 12, n) if clusters else None
    score = wmcc.score(wmcc.tabulate(t, c, w, cluster=groups, labels=range(K)))
    for name, chosen in ROWS_OF.items():
        for k, found in enumerate(score.class_intervals[name]):
            rows = chosen(t, c, k)
            value = float(wmcc.measures.CLASS_MEASURES[name](score.table)[k])
            assert (found.measure, found.label, found.value) == (name, k, value)
            if not rows.any():
                assert found.problem
                continue
            own = (np.where(x[rows] == k, 0, 1) for x in (t, c))
            expected = wmcc.interval(
                wmcc.tabulate(*own, w[rows], cluster=groups[rows] if clusters else None, labels=[0, 1]),
                "mcc" if name == "mcc" else "accuracy",
            )
            assert (found.problem is None) == (expected.problem is None)
            if expected.problem is None:
                assert ends(found) == pytest.approx(ends(expected), rel=1e-9, abs=1e-12, nan_ok=True)


@few(30)
@given(seed=st.integers(0, 2**32 - 1))
def test_f1_follows_iou(seed):
    score = wmcc.score(wmcc.tabulate(*draw(np.random.default_rng(seed), 80), labels=range(K)))
    for iou, f1, own in zip(score.class_intervals["iou"], score.class_intervals["f1"], score.classes, strict=True):
        assert f1.value == own.f1
        assert (f1.low, f1.high) == pytest.approx([2 * x / (1 + x) for x in (iou.low, iou.high)], rel=1e-12)
        step = 1e-6
        slope = (2 * (iou.value + step) / (1 + iou.value + step) - own.f1) / step
        assert f1.se == pytest.approx(iou.se * slope, rel=1e-4)


@pytest.mark.slow
def test_they_hold_the_truth_as_often_as_they_say():
    rng, runs = np.random.default_rng(8), 400
    big = wmcc.score(wmcc.tabulate(*draw(rng, 2_000_000)))
    held = {name: np.zeros(K) for name in wmcc.measures.CLASS_MEASURES}
    for _ in range(runs):
        for name, found in wmcc.score(wmcc.tabulate(*draw(rng, 400))).class_intervals.items():
            held[name] += [x.low <= getattr(c, name) <= x.high for x, c in zip(found, big.classes, strict=True)]
    for name, count in held.items():
        # 95 % give or take three standard errors of 400 runs, and what the study of docs/understand/coverage.md allows.
        assert (np.abs(count / runs - 0.95) < 0.045).all(), (name, count / runs)


def test_a_class_with_few_errors_is_flagged_where_they_count():
    table = wmcc.Table.from_counts([[400, 3, 20], [1, 30, 1], [14, 140, 300]], ["ash", "elm", "oak"])
    found = {name: own[1] for name, own in wmcc.score(table).class_intervals.items()}
    assert "fewer than about 5 influential rows" in found["recall"].warnings[0]  # two errors of 32 rows
    assert found["precision"].reliable  # 143 of 173
    assert found["iou"].reliable
    assert repr(found["recall"]).startswith("Recall of elm 0.9375, 95 % interval ")


def test_what_is_undefined_says_why():
    table = wmcc.Table.from_counts([[40, 0, 3], [5, 0, 3], [0, 0, 0]], ["ash", "elm", "oak"])
    found = wmcc.score(table).class_intervals
    problems = {name: [x.problem for x in own] for name, own in found.items()}
    assert problems["precision"][1] == "Precision is undefined at these weights: class 'elm' lacks weight in y_pred"
    assert problems["recall"][2] == "Recall is undefined at these weights: class 'oak' lacks weight in y_true"
    assert "MCC is undefined" in problems["mcc"][1]
    assert problems["recall"][1] is None
    assert problems["f1"] == [None] * 3


def test_a_perfect_class_has_an_interval_too():
    found = wmcc.score(wmcc.Table.from_counts([[40, 0], [0, 60]])).class_intervals
    low = 1 - (1 - 0.025 ** (1 / 40))
    assert found["recall"][0].low == pytest.approx(low)
    assert found["recall"][0].high == 1
    assert not found["recall"][0].reliable


def test_a_weight_matrix_has_none():
    found = wmcc.score(wmcc.tabulate([0, 1, 1], [0, 1, 0], np.eye(3))).class_intervals
    assert all("matrix over pairs of rows" in x.problem for own in found.values() for x in own)


def test_the_rest_is_one_class():
    table = wmcc.tabulate([0, 1, 2, 2], [0, 2, 2, 1], [0.1, 0.2, 0.3, 0.4])
    names = ["all other classes", "all other classes", "oak"]
    as_one = wmcc.tabulate(*([names[k] for k in y] for y in ([0, 1, 2, 2], [0, 2, 2, 1])), [0.1, 0.2, 0.3, 0.4])
    assert np.array_equal(table.against_rest(2).w, as_one.w[::-1, ::-1])
    with pytest.raises(InputError, match="there is no class 7; the labels are 0, 1, 2"):
        table.against_rest(7)


def test_a_class_may_be_called_as_the_rest_is():
    counts = [[5, 1, 0], [2, 7, 1], [0, 3, 4]]
    for k in range(3):
        names = ["ash", "elm", "oak"]
        plain = wmcc.Table.from_counts(counts, names)
        names[k] = "all other classes"
        odd = wmcc.Table.from_counts(counts, names)
        for name, own in zip(plain.labels, names, strict=True):
            assert np.array_equal(odd.against_rest(own).n, plain.against_rest(name).n)
        for measure, found in wmcc.score(odd).class_intervals.items():
            assert [ends(x) for x in found] == [ends(x) for x in wmcc.score(plain).class_intervals[measure]]


@few(60)
@given(seed=st.integers(0, 2**32 - 1), classes=st.integers(1, 7))
def test_the_rest_adds_up_exactly(seed, classes):
    """Every class against the rest is the table of the rows with the other classes renamed, to the last bit."""
    rng = np.random.default_rng(seed)
    t, c = rng.integers(0, classes, (2, 30))
    w = rng.choice([0.0, 1e-300, 0.1, 3.0, 1e300], 30)
    table = wmcc.tabulate(t, c, w, labels=range(classes))
    for k in range(classes):
        expected = wmcc.tabulate(np.where(t == k, 0, 1), np.where(c == k, 0, 1), w, labels=[0, 1])
        assert np.array_equal(table.against_rest(k).n, expected.n)
        for name in ("w_exact", "w2_exact"):
            assert getattr(table.against_rest(k), name) == getattr(expected, name)
        for name in ("w_min", "w_max"):
            assert np.array_equal(getattr(table.against_rest(k), name), getattr(expected, name), equal_nan=True)


@pytest.mark.parametrize("w", [None, [1.0, 1.0, 1.0, 0.0] * 12])
def test_a_class_without_weight_has_no_interval_in_clusters_either(w):
    truth, guess = ["a", "b", "b", "c"] * 12, ["a", "b", "a", "a"] * 12
    rows, clusters = (
        wmcc.score(wmcc.tabulate(truth, guess, w, cluster=x)).class_intervals for x in (None, np.arange(48) // 4)
    )
    for name in rows:
        assert [x.problem for x in clusters[name] if x.label == "c"] == [
            x.problem for x in rows[name] if x.label == "c"
        ]
    assert "lacks weight in y_pred" in clusters["precision"][2].problem

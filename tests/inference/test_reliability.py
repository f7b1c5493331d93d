"""Intervals grow with their level, and say when few rows decide how long they are."""

import itertools

import numpy as np
import pytest
from helpers import Rows, few, ordinary, rows, small_counts
from hypothesis import example, given
from hypothesis import strategies as st
from samples import MULTICLASS, Sample, sample, samples

import wmcc
from wmcc.inference.fisher import Moves
from wmcc.inference.influence import CellSums
from wmcc.inference.reliability import heaviest_of_classes, heaviest_row, influential_rows
from wmcc.measures.base import Shares

pytestmark = pytest.mark.slow

# ---- levels ------------------------------------------------------------------------------------------------

LEVELS = 0.05, 0.5, 0.8, 0.9, 0.95, 0.99, 0.9999


def nested(intervals) -> bool:
    """Whether each interval holds the one before it, but for rounding."""
    ends = [(x.low, x.high) for x in intervals if x.problem is None]
    return all(a[0] >= b[0] - 1e-13 and a[1] <= b[1] + 1e-13 for a, b in itertools.pairwise(ends))


@pytest.mark.parametrize("name", wmcc.measures.MEASURES)
@few(40)
@given(
    data=rows(classes=6, weight=st.one_of(ordinary, small_counts)), perfect=st.sampled_from((None, "right", "wrong"))
)
@example(Rows([0, 2, 1, 2], [0, 2, 1, 2], [1.0, 480325.0, 131897.0, 851750.0]), "right")  # MPC1 turns round at the end
def test_a_higher_level_holds_the_interval_of_a_lower_one(name, data, perfect):
    t, p, w = data.arrays
    p = {None: p, "right": t, "wrong": (t + 1) % (t.max() + 1)}[perfect]
    t, p = (t % 2, p % 2) if name == "mcc" else (t, p)
    table = wmcc.tabulate(t, p, w)
    for method in ("fisher", "delta"):
        assert nested(wmcc.interval(table, name, confidence_level=level, method=method) for level in LEVELS)
    keys = np.arange(len(t)) % 4
    table = wmcc.tabulate(t, p, w, cluster=keys)
    assert nested(wmcc.interval(table, name, confidence_level=level) for level in LEVELS)


@pytest.mark.parametrize("name", MULTICLASS)
def test_the_interval_of_a_perfect_score_grows_with_the_level(name):
    table = wmcc.Table.from_counts(np.diag([4, 5, 2, 7, 5, 4, 8, 5]))
    found = [wmcc.interval(table, name, confidence_level=level) for level in LEVELS]
    assert nested(found)
    assert found[0].low > found[-1].low
    many = wmcc.Table.from_counts(np.diag(np.arange(1, 101)))  # more classes than are tried in pairs
    assert nested(wmcc.interval(many, name, confidence_level=level) for level in LEVELS)


@pytest.mark.parametrize("name", MULTICLASS)
def test_the_end_of_a_perfect_score_is_the_worst_of_all_moves(name):
    """Every pair of classes and every amount up to the limit, tried one by one."""
    counts = np.diag([30, 2, 9, 4])
    found = wmcc.interval(wmcc.Table.from_counts(counts), name)
    most = 45 * (1 - 0.025 ** (1 / 45))
    scores = []
    for a, b in itertools.permutations(range(4), 2):
        for amount in np.linspace(0, min(most, counts[a, a] * (1 - 1e-9)), 200):
            moved = counts.astype(float)
            moved[a, a] -= amount
            moved[a, b] += amount
            scores.append(wmcc.measures.MEASURES[name].near(Shares.of_cells(moved)))
    assert found.low == pytest.approx(min(scores), abs=1e-6)
    assert found.low <= min(scores) + 1e-12


@pytest.mark.parametrize("name", MULTICLASS)
def test_moves_of_weight_are_made_in_every_table(name):
    """Of the heaviest prediction of each class, right or wrong, to every other one: two columns, as if all were new."""
    counts = np.random.default_rng(4).integers(0, 9, (7, 7)).astype(float)
    counts[2] = [1, 0, 50, 0, 3, 2, 0]
    measure, moves = (
        wmcc.measures.MEASURES[name],
        Moves.between(CellSums.of(wmcc.Table.from_counts(counts.astype(int)))),
    )
    for part in (0.0, 0.3, 1 - 1e-9):
        scores = []
        for a in range(7):
            source = counts[a].argmax()
            for b in {*range(7)} - {source}:
                moved = counts.copy()
                moved[a, [source, b]] += np.array([-part, part]) * counts[a, source]
                scores.append(float(measure.near(Shares.of_cells(moved))))
        found = moves.scores(measure, part, moves.rest(measure))
        assert np.sort(found) == pytest.approx(np.sort(scores), abs=1e-12)


@pytest.mark.parametrize("name", MULTICLASS)
def test_classes_that_do_not_occur_do_not_widen_the_interval_of_a_perfect_score(name):
    truth = [0, 1, 2] * 20
    few, many = (wmcc.interval(wmcc.tabulate(truth, truth, labels=range(K)), name) for K in (3, 10))
    assert (many.low, many.high) == pytest.approx((few.low, few.high), rel=1e-12)


# ---- what the standard error rests on ------------------------------------------------------------------------


def heavy_tailed(n: int, alpha: float, classes: int = 3) -> Sample:
    rng = np.random.default_rng(12)
    t = rng.integers(0, classes, n)
    p = np.where(rng.random(n) < 0.9, t, rng.integers(0, classes, n))
    return Sample(t, p, rng.pareto(alpha, n) + 1)


def test_a_heavy_tail_is_flagged_and_an_even_one_is_not():
    assert any("with the largest weight" in why for why in wmcc.interval(heavy_tailed(5000, 1.2).table).warnings)
    assert wmcc.interval(heavy_tailed(5000, 4).table).reliable


def test_doubts_say_at_which_end():
    """Errors that were missed lower a high score, and hits that were missed raise a low one."""
    truth, row = np.tile([0, 1], 60), np.arange(120)
    few_errors, heavy = row < 2, np.where(row == 50, 40.0, 1.0)
    for rare, rest, end in ((1 - truth, truth, "lower"), (truth, 1 - truth, "upper")):
        pred = np.where(few_errors, rare, rest)
        for how in ({}, {"sample_weight": heavy}, {"cluster": row // 2}):
            table = wmcc.tabulate(truth, pred, **how)
            for found in (wmcc.interval(table, "accuracy"), wmcc.interval(table, "recall", of=1)):
                sided = [x for x in found.warnings if " row" in x]
                assert sided
                assert all(x.endswith(f"; the interval may be too short at its {end} end") for x in sided)


def test_small_classes_are_flagged_by_the_measures_that_they_move():
    """Of twenty uneven classes the small ones hardly move ECC or accuracy, and decide a mean over classes."""
    rng = np.random.default_rng(3)
    shares = 1 / np.arange(1, 21)
    t = rng.choice(20, 400, p=shares / shares.sum())
    p = np.where(rng.random(400) < 0.8, t, rng.choice(20, 400, p=shares / shares.sum()))
    table = wmcc.tabulate(t, p, rng.lognormal(0, 0.5, 400))
    assert wmcc.diagnose(table).warnings  # a class has few rows
    for name in ("ecc", "accuracy", "kappa", "mpc1"):
        assert wmcc.interval(table, name).reliable
    for name in ("mpc2", "balanced_accuracy"):
        assert not wmcc.interval(table, name).reliable


def test_heavy_rows_of_classes_are_flagged_in_means_over_classes():
    """Of fifty rows of each class the heaviest decide its score, and hardly that of all thousand."""
    rng = np.random.default_rng(5)
    t = np.arange(1000) % 20
    p = np.where(rng.random(1000) < 0.6, t, rng.integers(0, 20, 1000))
    table = wmcc.tabulate(t, p, rng.lognormal(0, 1, 1000))
    for name in ("mpc2", "balanced_accuracy"):
        (why,) = wmcc.interval(table, name).warnings
        assert why == (
            "on average a class's heaviest row makes up more than 30 % of the variance of the class; "
            "the interval may be too short"
        )
    for name in ("ecc", "accuracy", "kappa", "mpc1"):
        assert wmcc.interval(table, name).reliable


def test_uneven_clusters_leave_few_degrees_of_freedom():
    data = sample(8, 900)
    found = wmcc.interval(
        wmcc.tabulate(*data, cluster=np.minimum(np.arange(900) // 30, 6))
    )  # six of 30 rows, one of 720
    equal = wmcc.interval(wmcc.tabulate(*data, cluster=np.arange(900) // 30))
    assert found.clusters_eff < 2
    assert found.problem
    uneven = wmcc.interval(
        wmcc.tabulate(*data, cluster=np.minimum(np.arange(900) // 30, 20))
    )  # twenty of 30 rows, one of 300
    assert uneven.df <= uneven.clusters_eff - 1 < 9
    assert equal.df <= 29
    assert equal.df > uneven.df


@few(30)
@given(data=samples, name=st.sampled_from(MULTICLASS))
def test_shares_of_heavy_rows_are_those_of_the_rows(data, name):
    table, measure = data.table, wmcc.measures.MEASURES[name]
    cells, total = CellSums.of(table), table.total
    slope = measure.gradient(table) * total
    u = slope[data.t, data.p] * data.w / total
    variance = (u * u).sum()
    if variance < 1e-20:
        return
    w, g2 = data.w / total, slope[data.t, data.p] ** 2
    flat = slope[tuple(cells.codes)]
    assert heaviest_row(flat, cells, variance) == pytest.approx((g2 * w).sum() * w.max() ** 2 / variance, rel=1e-9)
    expected = 0.0
    for k in np.unique(data.t):
        own = data.t == k
        expected += (u[own] ** 2).sum() / variance * w[own].max() ** 2 / (w[own] ** 2).sum()
    assert heaviest_of_classes(flat, cells, variance) == pytest.approx(expected, rel=1e-9)
    usual = (w * w).mean()
    rows_like_it = variance / ((slope**2).max() * usual)
    extreme_slope = measure.slope(Shares.of(table), np.asarray(measure(table))).extreme_slope(len(table.labels))
    assert influential_rows(extreme_slope, cells, variance) == pytest.approx(rows_like_it, rel=1e-9)


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
def test_a_label_that_nothing_is_truly_of_is_no_row_that_was_missed():
    truth, pred = np.arange(3000) % 3, np.where(np.arange(3000) % 7 == 0, 1, np.arange(3000) % 3)
    table = wmcc.tabulate(truth, np.where(np.arange(3000) % 500 == 1, 9, pred), ignore=9)
    assert table.void == (9,)
    found = wmcc.interval(table, wmcc.measures.mean_f1)
    assert found.warnings == ()
    assert found.reliable

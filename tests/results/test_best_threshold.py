"""The best threshold: brute force, what to expect of it, certified choices that an adversary tries to break."""

from dataclasses import replace

import numpy as np
import pytest
from adversary import values
from hunt_thresholds import NASTY_SCORES, attack_best, draw_scores, steps_of, untrue
from hypothesis import given, settings
from hypothesis import strategies as st

import wmcc
from wmcc.errors import WmccError
from wmcc.inference.scores.grid import ThresholdGrid

pytestmark = pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")


def sample(seed, n, digits=1, sigma=1.0, apart=1.0):
    """Labels, scores that speak for them, and weights."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.4).astype(int)
    truth[:2] = 0, 1
    return truth, rng.normal(apart * truth, 1).round(digits), rng.lognormal(0, sigma, n)


@given(
    st.integers(0, 10_000),
    st.integers(8, 60),
    st.sampled_from([0, 1, 9]),
    st.sampled_from(["mcc", "accuracy", "mean_iou"]),
)
def test_it_is_the_best_of_all(seed, n, digits, measure):
    truth, score, weight = sample(seed, n, digits)
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)
    values = [
        getattr(wmcc.measures, measure)(truth, (score >= t).astype(int), sample_weight=weight) for t in scores.steps
    ]
    best = wmcc.best_threshold(scores, measure)
    assert best.value == max(values)
    assert best.threshold == scores.steps[int(np.argmax(values))]
    assert best.table == scores.at(best.threshold)


@given(st.integers(0, 10_000), st.floats(0.1, 0.95))
def test_constraints_are_met(seed, least):
    truth, score, weight = sample(seed, 50)
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)

    def recall(t):
        return weight[(score >= t) & (truth == 1)].sum() / weight[truth == 1].sum()

    met = [t for t in scores.steps if recall(t) >= least]
    values = [wmcc.accuracy(scores.at(t)) for t in met]
    best = wmcc.best_threshold(scores, "accuracy", at_least={"recall": least})
    assert recall(best.threshold) >= least - 1e-9
    assert best.value == max(values)


def test_what_is_shown_first_is_what_to_expect():
    truth, score, weight = sample(0, 400)
    best = wmcc.best_threshold(wmcc.tabulate(truth, score=score, sample_weight=weight))
    assert best.expected < best.value
    assert best.low <= best.expected <= best.high
    lines = str(best).splitlines()
    assert lines[1].startswith("expected on new data")
    assert any(line.startswith("apparent, on these data") for line in lines)
    low, high = best.plausible
    assert low <= best.threshold <= high


def test_what_to_expect_does_not_come_of_thresholds_that_were_chosen_on_all_rows(monkeypatch):
    truth, score, weight = sample(5, 400, digits=6)
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)
    best = wmcc.best_threshold(scores)
    of_band = ThresholdGrid.with_threshold
    monkeypatch.setattr(ThresholdGrid, "with_threshold", lambda scores, threshold: of_band(scores, threshold, 10))
    few = wmcc.best_threshold(scores)
    assert (few.threshold, few.expected) == (best.threshold, best.expected)
    assert few.high != best.high


def test_results_are_the_same_each_time():
    truth, score, weight = sample(3, 300)
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)
    assert wmcc.best_threshold(scores).to_dict() == wmcc.best_threshold(scores).to_dict()


def test_the_order_of_the_rows_does_not_matter():
    truth, score, weight = sample(4, 300)
    turned = np.random.default_rng(0).permutation(300)
    one, other = (wmcc.tabulate(truth[i], score=score[i], sample_weight=weight[i]) for i in (slice(None), turned))
    assert wmcc.best_threshold(one).to_dict() == wmcc.best_threshold(other).to_dict()


@pytest.mark.slow
@pytest.mark.parametrize(("n", "clusters"), [(200, 0), (600, 30)])
def test_expected_values_and_intervals_hold(n, clusters):
    """A small study; docs/understand/coverage.md has the whole one."""
    rng, grid = np.random.default_rng(1), np.linspace(-4, 5, 2001)
    from scipy.stats import norm

    tp, fp = 0.4 * norm.sf(grid - 1), 0.6 * norm.sf(grid)
    true = (tp * (0.6 - fp) - fp * (0.4 - tp)) / np.sqrt((tp + fp) * 0.24 * (1 - tp - fp))
    held, off = [], []
    for _ in range(150):
        truth = (rng.random(n) < 0.4).astype(int)
        options, noise = {}, rng.normal(size=n)
        if clusters:
            of = rng.integers(0, clusters, n)
            options, noise = {"cluster": of}, 0.5 * rng.normal(size=clusters)[of] + 0.75**0.5 * noise
        scores = wmcc.tabulate(truth, score=truth + noise, **options)
        best = wmcc.best_threshold(scores)
        value = np.interp(best.threshold, grid, true)
        held.append(best.low <= value <= best.high)
        off.append(best.expected - value)
    assert np.mean(held) >= 0.92
    assert abs(np.mean(off)) <= 0.03


# ---- certified --------------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.2, 0.5]))
def test_no_weights_break_what_is_certified(seed, eps):
    truth, score, weight = sample(seed, 40, 1)
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)
    best = wmcc.best_threshold(scores, "mcc", eps=eps)
    ranges = {t: wmcc.certify(scores.at(t), "mcc", eps=eps) for t in scores.steps.tolist()}
    lows = {t: 0.0 if own.problem else own.low for t, own in ranges.items()}
    assert best.certified == max(lows.values()) == lows[best.threshold]
    rng = np.random.default_rng(seed)
    for kind in range(30):
        factor = rng.uniform(1 - eps, 1 + eps, 40) if kind % 2 else rng.choice([1 - eps, 1 + eps], 40)
        if kind % 3 == 0:  # for one threshold, against the others
            right = (score >= rng.choice(scores.steps)) == truth
            factor = np.where(right, 1 + eps, 1 - eps)
        moved = wmcc.tabulate(truth, score=score, sample_weight=weight * factor)
        values = {t: wmcc.mcc(moved.at(t)) for t in scores.steps.tolist()}
        assert values[best.threshold] >= best.certified - 1e-12
        top = max(values.values())
        winners = {t for t, value in values.items() if value == top}
        assert winners & set(best.could_be_best)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.sampled_from([None, *NASTY_SCORES]), st.sampled_from(["mcc", "accuracy", "mean_iou"]))
def test_the_adversary_does_not_break_a_certified_choice(seed, kind, measure):
    case = draw_scores(np.random.default_rng(seed), kind, most=16)
    assert untrue(case, measure, case.best(measure)) == []
    broken = attack_best(case, measure, seed, tried=1)
    assert not broken.there, (broken, case)


MONOTONE = ["mcc", "mpc2", "accuracy", "balanced_accuracy", "mean_iou", "mean_f1", "mean_recall"]


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.sampled_from([None, *NASTY_SCORES]), st.sampled_from([*MONOTONE, "kappa"]))
def test_the_adversary_does_not_break_a_choice_among_thousands(seed, kind, measure):
    case = draw_scores(np.random.default_rng(seed), kind, most=1500 + seed % 1000, digits=15)
    assert untrue(case, measure, case.best(measure)) == []
    broken = attack_best(case, measure, seed, tried=1)
    assert not broken.there, (broken, case)


@pytest.mark.parametrize("measure", [*MONOTONE, "kappa"])
@pytest.mark.parametrize("eps", [0.01, 0.2])
def test_all_of_thousands_of_steps_are_looked_at(measure, eps):
    case = draw_scores(np.random.default_rng(3), most=4000, digits=15)._replace(eps=eps)
    best, (steps, tables) = case.best(measure), steps_of(case)
    assert untrue(case, measure, best) == []
    right = np.eye(2) > 0
    lowest, highest = (
        values(measure, tables * np.where(right, 1 + s * eps, 1 - s * eps)).clip(*clip)
        for s, clip in ((-1, (None, None)), (1, (0 if measure == "kappa" else None, None)))
    )
    assert best.certified == pytest.approx(lowest.max(), abs=1e-12)
    could = np.isin(steps, best.could_be_best)
    assert highest[~could].max() < best.certified + 1e-12
    assert highest[could].min() > best.certified - 1e-12


@given(
    st.integers(0, 10_000), st.sampled_from([0.05, 0.3]), st.sampled_from(["precision", "recall", "f1", "iou", "gain"])
)
def test_measures_of_the_positive_class_and_gains_are_certified(seed, eps, name):
    case = draw_scores(np.random.default_rng(seed))._replace(eps=eps)
    gain = wmcc.measures.ExpectedGain(*np.random.default_rng(seed).normal(size=4).tolist())
    best = wmcc.best_threshold(case.scores, gain if name == "gain" else name, eps=eps)
    steps, tables = steps_of(case)
    assert best.never_best + len(best.could_be_best) == len(steps)
    assert best.certified <= best.value
    factors = np.array([*np.ndindex(*[2] * 4)]) * 2 * eps + 1 - eps  # all corners: of all of these it is monotone
    (rejection, alarm), (miss, hit) = np.moveaxis(tables[:, np.newaxis] * factors.reshape(-1, 2, 2), (2, 3), (0, 1))
    total = {
        "precision": lambda: hit / (hit + alarm),
        "recall": lambda: hit / (hit + miss),
        "f1": lambda: 2 * hit / (2 * hit + miss + alarm),
        "iou": lambda: hit / (hit + miss + alarm),
        "gain": lambda: (
            (gain.hit * hit + gain.miss * miss + gain.alarm * alarm + gain.rejection * rejection)
            / (hit + miss + alarm + rejection)
        ),
    }[name]()
    assert best.certified == pytest.approx(total.min(axis=1).max(), abs=1e-9)
    assert total.max(axis=1)[~np.isin(steps, best.could_be_best)].max(initial=-np.inf) < best.certified + 1e-9


@given(st.integers(0, 10_000), st.floats(0.3, 0.95))
def test_constraints_are_proved_for_other_weights_too(seed, least):
    case = draw_scores(np.random.default_rng(seed))._replace(eps=0.1)
    best = wmcc.best_threshold(case.scores, "accuracy", at_least={"recall": least}, eps=0.1)
    steps, tables = steps_of(case)
    hit, miss = tables[:, 1, 1], tables[:, 1, 0]
    sure = 0.9 * hit / (0.9 * hit + 1.1 * miss) >= least
    possible = 1.1 * hit / (1.1 * hit + 0.9 * miss) >= least
    lowest = {t: wmcc.certify(case.scores.at(t), "accuracy", eps=0.1).low for t in steps[sure].tolist()}
    assert best.certified == max(lowest.values())
    assert best.threshold in steps[sure]
    assert set(best.could_be_best) <= set(steps[possible])
    assert "with Recall at least" in str(best)


def test_no_threshold_meets_a_constraint_for_all_weights():
    scores = wmcc.tabulate([0, 1, 0, 1] * 9, score=[0.1, 0.2, 0.3, 0.4] * 9)
    assert wmcc.best_threshold(scores, at_least={"precision": 0.95}).threshold == 0.4
    with pytest.raises(WmccError, match=r"precision of at least 0.6 for all weights that are off by up to 30 %"):
        wmcc.best_threshold(wmcc.tabulate([0, 1] * 9, score=[0.2, 0.2, 0.1] * 6), at_least={"precision": 0.6}, eps=0.3)


def test_the_adversary_would_see_a_choice_that_is_not_certified(monkeypatch):
    case = draw_scores(np.random.default_rng(2))._replace(eps=0.7)
    best = case.best("mcc")
    said_too_much = replace(best, certified=best.certified + 1e-9)
    monkeypatch.setattr(wmcc, "best_threshold", lambda *given, **options: said_too_much)
    assert 0 < attack_best(case, "mcc").below <= 1e-9
    worse = [t for t in best.could_be_best if t != best.threshold]
    left_out = replace(best, could_be_best=(best.threshold,), never_best=best.never_best + len(worse))
    monkeypatch.setattr(wmcc, "best_threshold", lambda *given, **options: left_out)
    assert attack_best(case, "mcc").as_good > 0
    other = replace(best, threshold=worse[0], never_best=best.never_best + 1)
    assert len(untrue(case, "mcc", other)) == 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: wmcc.best_threshold(s, at_least={"recall": 2}), r"recall of at least 2; recall is at most 1"),
        (lambda s: wmcc.best_threshold(s, at_least=0.9), r"`at_least` is 0.9; expected a mapping"),
        (lambda s: wmcc.best_threshold(s, eps=1.5), r"`eps` is 1.5"),
        (lambda s: wmcc.best_threshold(s.at(0.5)), r"reads a score table"),
        (lambda s: wmcc.best_threshold([0, 1]), r"write wmcc.tabulate\(y_true, score="),
        (lambda s: wmcc.best_threshold(s, "best"), r"`measure` is 'best'"),
    ],
)
def test_what_is_refused(call, sentence):
    truth, score, weight = sample(0, 50)
    with pytest.raises(WmccError, match=sentence):
        call(wmcc.tabulate(truth, score=score, sample_weight=weight))


def test_a_constant_score():
    with pytest.raises(WmccError, match="all scores are the same"):
        wmcc.best_threshold(wmcc.tabulate([0, 1, 1], score=[0.5, 0.5, 0.5]))


@pytest.mark.parametrize("weight", [None, "negatives", "positives"])
@pytest.mark.parametrize("eps", [None, 0.1])
def test_one_class_has_no_best_threshold(weight, eps):
    truth, score, _ = sample(1, 50)
    truth = np.ones(50, int) if weight is None else truth
    weights = None if weight is None else (truth == (weight == "positives")) * 1.0
    best = wmcc.best_threshold(wmcc.tabulate(truth, score=score, sample_weight=weights, labels=[0, 1]), eps=eps)
    assert best.problem == "MCC is undefined at these weights: all the weight of y_true is in one class"
    assert best.status == "not estimable"
    assert np.isnan([best.expected, best.low, best.high]).all()
    assert "interval not estimable: MCC is undefined" in str(best)
    assert "95 %" not in str(best)


def test_a_best_threshold_at_which_the_measure_is_undefined():
    best = wmcc.best_threshold(wmcc.tabulate([0, 1] * 20, score=[0.9, 0.1, 0.8, 0.2] * 10))
    assert (best.threshold, best.value) == (0.1, 0)
    assert best.expected == 0  # so it was chosen each time
    assert "undefined" in best.problem


# ---- gains ---------------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.tuples(*[st.integers(-9, 9)] * 4).filter(lambda gains: len({*gains}) > 1))
def test_an_expected_gain_is_the_mean_of_gains(seed, gains):
    truth, score, weight = sample(seed, 60)
    hit, miss, alarm, rejection = gains
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)
    gain = wmcc.measures.ExpectedGain(hit, miss, alarm, rejection)

    def mean(t):
        called = score >= t
        of_row = np.where(truth == 1, np.where(called, hit, miss), np.where(called, alarm, rejection))
        return np.average(of_row, weights=weight)

    curve = wmcc.curve(scores, gain)
    assert curve.values == pytest.approx([mean(t) for t in curve.thresholds], abs=1e-9)
    best = wmcc.best_threshold(scores, gain)
    assert best.value == pytest.approx(max(curve.values), abs=1e-9)
    assert str(best).startswith("Threshold")


def test_the_error_of_a_gain_is_that_of_a_mean():
    truth, score, _ = sample(1, 500)
    gain = wmcc.measures.ExpectedGain(5, -2, -1, 0)
    curve = wmcc.curve(wmcc.tabulate(truth, score=score), gain, thresholds=[0.5])
    called = score >= 0.5
    of_row = np.where(truth == 1, np.where(called, 5, -2), np.where(called, -1, 0))
    assert curve.se[0] == pytest.approx(of_row.std() / 500**0.5, rel=1e-6)


def test_gains_that_are_none():
    with pytest.raises(WmccError, match="all gains are the same"):
        wmcc.measures.ExpectedGain(1, 1, 1, 1)
    with pytest.raises(WmccError, match="`alarm` is 'x'"):
        wmcc.measures.ExpectedGain(1, 0, "x", 0)

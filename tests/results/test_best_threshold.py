"""The best threshold: brute force, what to expect of it, certified choices that an adversary tries to break."""

from dataclasses import replace

import numpy as np
import pytest
from hunt_thresholds import NASTY_SCORES, attack_best, draw_scores
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
    broken = attack_best(case, measure, seed, tried=1)
    assert not broken.there, (broken, case)


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


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: wmcc.best_threshold(s, at_least={"recall": 2}), r"no threshold has recall of at least 2"),
        (lambda s: wmcc.best_threshold(s, at_least=0.9), r"`at_least` is 0.9; expected a mapping"),
        (lambda s: wmcc.best_threshold(s, eps=1.5), r"`eps` is 1.5"),
        (lambda s: wmcc.best_threshold(s, eps=0.1, at_least={"recall": 0.5}), r"`eps` and `at_least` were given"),
        (lambda s: wmcc.best_threshold(s, "f1", eps=0.1), r"'f1' is a number per class"),
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

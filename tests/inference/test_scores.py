"""Curves over thresholds, measures of scores and their errors: against brute force, scikit-learn and resampling."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

import wmcc
from wmcc.errors import WmccError
from wmcc.inference.scores.draws import draws_above, fold_weights, moved_scores
from wmcc.inference.scores.grid import ThresholdGrid, asked_measure, errors

MEASURES = ("mcc", "ecc", "accuracy", "kappa", "balanced_accuracy", "mean_iou", "precision", "recall", "f1", "iou")

pytestmark = pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")


def sample(seed=0, n=300, digits=1, sigma=1.0):
    """Labels, scores that speak for them, and weights."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    truth[:2] = False, True
    return truth.astype(int), rng.normal(truth, 1).round(digits), rng.lognormal(0, sigma, n)


def drawn(kind, n, seed=1):
    """How rows were drawn, as keywords of tabulate."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 40, n)
    stratum = cluster % 3
    post = wmcc.PostStrata(rng.integers(0, 2, n), {0: 3.0, 1: 1.0})
    return {
        "rows": {},
        "clusters": {"cluster": cluster},
        "strata": {"design": wmcc.Strata(stratum)},
        "sizes": {"design": wmcc.Strata(stratum, population={0: 9000, 1: 3000, 2: 5000})},
        "finite": {"design": wmcc.Strata(stratum, population={0: 9000, 1: 3000, 2: 5000}, fpc=True)},
        "clusters in strata": {"cluster": cluster, "design": wmcc.Strata(stratum)},
        "post-strata": {"design": post},
        "replicates": {"design": wmcc.Replicates(rng.poisson(1, (n, 60)) + 0.01, "bootstrap")},
    }[kind]


KINDS = ("rows", "clusters", "strata", "sizes", "finite", "clusters in strata", "post-strata", "replicates")


def scores_of(kind, **options):
    truth, score, weight = sample(**options)
    if kind in ("sizes", "finite"):
        return wmcc.tabulate(truth, score=score, **drawn(kind, len(truth)))
    return wmcc.tabulate(truth, score=score, sample_weight=weight, **drawn(kind, len(truth)))


# ---- curves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_curve_has_the_score_and_the_interval_of_each_threshold(kind, measure):
    scores = scores_of(kind)
    curve = wmcc.curve(scores, measure, confidence_level=0.9)
    assert (curve.thresholds == scores.steps).all()
    whole = measure not in ("precision", "recall", "f1", "iou")
    for j in range(1, len(curve.thresholds), 7):
        table = scores.at(curve.thresholds[j])
        if whole:
            one = wmcc.interval(table, measure, confidence_level=0.9)
            assert (curve.se[j], curve.low[j], curve.high[j]) == pytest.approx((one.se, one.low, one.high), abs=1e-9)
        else:
            one = wmcc.interval(table, measure, of=1, confidence_level=0.9)
        assert curve.values[j] == pytest.approx(one.value, abs=1e-12)


@pytest.mark.parametrize("kind", ["rows", "clusters", "strata"])
@pytest.mark.parametrize("measure", ["mcc", "kappa", "accuracy", "mpc2", "mean_iou"])
def test_a_curve_has_an_interval_where_the_threshold_has_one(kind, measure):
    truth, score, weight = sample(n=60)
    for score_, weight_ in ((score, weight), (score, np.where(truth == 1, 0.0, weight)), (score * 0, weight)):
        scores = wmcc.tabulate(truth, score=score_, sample_weight=weight_, **drawn(kind, 60))
        curve = wmcc.curve(scores, measure)
        own = [wmcc.interval(scores.at(t), measure) for t in curve.thresholds]
        assert np.isnan(curve.low).tolist() == [one.problem is not None for one in own]
        problems = [one.problem for one in own if one.problem]
        assert curve.problem == (problems[0] if len(problems) == len(own) else None)
        if problems:
            assert problems[0] in str(curve)
            assert (f"at {len(problems)} threshold" in str(curve)) == (curve.problem is None)


def test_a_curve_is_undefined_where_a_class_is_too_light():
    scores = wmcc.tabulate([0, 1] * 9, score=[0.2, 0.3, 0.4] * 6, sample_weight=[1e200, 1e-200] * 9)
    assert "less than 1e-140 of the weight" in wmcc.curve(scores, "accuracy").problem


def test_a_curve_has_all_thresholds_that_were_asked_for():
    truth, score, weight = sample(n=60)
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)
    asked = [0.9, -np.inf, score.max(), 0.21, 0.22, 0.22, 0.23, -9.0, score.max() + 1e-9, 50.0, np.inf]
    with pytest.warns(wmcc.errors.LabelWarning, match=r"50.0, above all scores"):
        curve = wmcc.curve(scores, "accuracy", thresholds=asked)
    assert curve.thresholds.tolist() == sorted({*asked})
    with pytest.warns(wmcc.errors.LabelWarning, match=r"-9.0, below all scores"):
        own = [wmcc.interval(scores.at(t), "accuracy") for t in curve.thresholds]
    for name, found in (("value", curve.values), ("se", curve.se), ("low", curve.low), ("high", curve.high)):
        assert found == pytest.approx([getattr(one, name) for one in own], abs=1e-12)
    assert np.isnan(curve.band_low[[0, -1]]).all()
    binned = wmcc.tabulate(truth, score=score, sample_weight=weight, thresholds=[-8, 0.5, 40.0])
    assert wmcc.curve(binned, "accuracy", thresholds=[0.5, 40.0]).values[1] == wmcc.accuracy(scores.at(np.inf))


@pytest.mark.parametrize(
    ("thresholds", "sentence"),
    [
        ([0.2, 5, np.nan], r"`thresholds\[2\]` is nan; expected a number"),
        ([0.2, "x"], r"`thresholds\[1\]` is 'x'"),
        ([], "`thresholds` is empty"),
    ],
)
def test_thresholds_that_are_none(thresholds, sentence):
    with pytest.raises(WmccError, match=sentence):
        wmcc.curve(scores_of("rows"), thresholds=thresholds)


@pytest.mark.parametrize(
    "ask",
    [
        wmcc.best_threshold,
        lambda scores: wmcc.best_threshold(scores, eps=0.1),
        wmcc.curve,
        wmcc.plot.roc,
        wmcc.plot.precision_recall,
        wmcc.plot.mcc_f1,
        lambda scores: wmcc.interval(scores, "roc_auc"),
    ],
)
def test_rows_without_weight(ask):
    truth, score, _ = sample(n=50)
    scores = wmcc.tabulate(truth, score=score, sample_weight=np.zeros(50))
    with pytest.raises(WmccError, match=r"^the total weight of 50 rows is zero; there is nothing to score"):
        ask(scores)


@pytest.mark.parametrize("options", [{"threshold": "best"}, {"measure": "roc_auc"}])
def test_a_comparison_of_rows_without_weight(options):
    truth, score, _ = sample(n=50)
    scores = wmcc.tabulate(truth, score={"a": score, "b": -score}, sample_weight=np.zeros(50))
    with pytest.raises(WmccError, match=r"^the total weight of 50 rows is zero; there is nothing to score"):
        wmcc.compare(scores, **options)


def test_results_say_that_scores_were_put_together(monkeypatch):
    truth, score, weight = sample(n=300, digits=6)
    every = wmcc.tabulate(truth, score=score, sample_weight=weight)
    monkeypatch.setattr("wmcc.sources.score_steps.MOST_STEPS", 200)
    monkeypatch.setattr("wmcc.sources.score_steps.CHOSEN_STEPS", 20)
    chosen = wmcc.tabulate(truth, score=score, sample_weight=weight)
    given_ = wmcc.tabulate(truth, score=score, sample_weight=weight, thresholds=np.arange(-10, 10) / 5)
    for ask in (wmcc.curve, wmcc.best_threshold, lambda s: wmcc.interval(s, "roc_auc")):
        for scores in (chosen, given_):
            found = ask(scores)
            assert f"put together between {len(scores.edges)} edges" in " ".join(str(found).split())
            assert found.notes[-1].lower().startswith("scores were put together")
            assert "put together" in found.to_json()
        assert "put together" not in str(ask(every))
    rounded = wmcc.tabulate(truth, score=score.round(1), sample_weight=weight)  # which the note advises
    assert rounded.notes == ()


GAIN = wmcc.measures.ExpectedGain(5, -2, -1, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_gains_of_labels_have_intervals(kind):
    scores = scores_of(kind)
    curve = wmcc.curve(scores, GAIN, thresholds=[0.5])
    for one in (wmcc.interval(scores.at(0.5), GAIN), wmcc.interval(scores.at(0.5), GAIN, of=1)):
        assert (one.value, one.se, one.low, one.high) == pytest.approx(
            [x[0] for x in (curve.values, curve.se, curve.low, curve.high)], abs=1e-9
        )
        assert str(one).startswith("Expected gain")


@pytest.mark.parametrize("positive", [None, 0])
@pytest.mark.parametrize("kind", ["rows", "clusters", "strata"])
def test_gains_of_labels_are_compared(kind, positive):
    truth, score, weight = sample()
    other = score + np.random.default_rng(9).normal(size=len(score))
    sign = 1 if positive is None else -1
    models = wmcc.tabulate(
        truth, score={"A": sign * score, "B": sign * other}, sample_weight=weight, positive=positive, **drawn(kind, 300)
    )
    found = wmcc.compare(models, GAIN, threshold=0.5)
    own = [wmcc.interval(models[name].at(0.5), GAIN) for name in "AB"]
    assert [found.values[name] for name in "AB"] == pytest.approx([one.value for one in own])
    apart = wmcc.compare({name: models[name].at(0.5) for name in "AB"}, GAIN, sample="independent")
    assert apart.value == pytest.approx(found.value)
    assert apart.se == pytest.approx(np.hypot(own[0].se, own[1].se), rel=1e-6)
    with pytest.raises(WmccError, match="not known which class is positive"):
        wmcc.compare(models.at(0.5), GAIN)
    assert wmcc.compare(models.at(0.5), GAIN, of=models.positive).value == found.value
    assert "Expected gain" in str(wmcc.compare(models, GAIN, threshold="best"))


def test_gains_of_several_classes_need_the_positive_one():
    rng = np.random.default_rng(0)
    truth, guess = rng.integers(0, 3, (2, 99))
    with pytest.raises(WmccError, match="not known which class is positive"):
        wmcc.interval(wmcc.tabulate(truth, guess), GAIN)
    two = wmcc.interval(wmcc.tabulate((truth == 2) * 1, (guess == 2) * 1), GAIN)
    assert wmcc.interval(wmcc.tabulate(truth, guess), GAIN, of=2).value == two.value


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda s: wmcc.best_threshold(s, "mc"),
            r"`measure` is 'mc'; .*mean_recall, or .* precision, recall, f1 or iou.*mean 'mcc'",
        ),
        (lambda s: wmcc.curve(s, "precison"), r"did you mean 'precision'"),
        (lambda s: wmcc.best_threshold(s, at_least={"recal": 0.9}), r"`at_least` is 'recal'; .*did you mean 'recall'"),
        (lambda s: wmcc.best_threshold(s, at_least={"recall": 2}), r"recall of at least 2; recall is at most 1"),
        (lambda s: wmcc.best_threshold(s, "expected_gain"), r"wmcc.measures.ExpectedGain\(hit, miss"),
        (lambda s: wmcc.interval(s.at(0.5), "expected_gain"), r"wmcc.measures.ExpectedGain\(hit, miss"),
    ],
)
def test_names_of_measures(call, sentence):
    with pytest.raises(WmccError, match=f"(?s){sentence}"):
        call(scores_of("rows"))


def test_a_threshold_that_is_a_word():
    *_, both = two_scores()
    with pytest.raises(WmccError, match=r"`threshold` is 'bst'; expected a number, .* or 'best'"):
        wmcc.compare(both, threshold="bst")


def test_the_band_holds_the_interval():
    curve = wmcc.curve(scores_of("rows"))
    inside = ~np.isnan(curve.band_low)
    assert inside.sum() > 20
    assert (curve.band_low[inside] <= curve.low[inside]).all()
    assert (curve.band_high[inside] >= curve.high[inside]).all()


def test_many_thresholds_are_thinned_out():
    scores = scores_of("rows", n=5000, digits=6)
    curve = wmcc.curve(scores)
    assert curve.steps == len(scores.steps) > 4900
    assert 900 < len(curve.thresholds) <= 1001
    some = wmcc.curve(scores, thresholds=curve.thresholds[[100, 500]])
    assert some.values.tolist() == curve.values[[100, 500]].tolist()


def test_a_curve_is_a_frame():
    frame = wmcc.curve(scores_of("rows")).to_frame()
    assert list(frame.columns) == ["threshold", "value", "se", "low", "high", "band_low", "band_high"]


# ---- draws -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_draws_vary_as_the_standard_error_says(kind):
    grid = ThresholdGrid.of(scores_of(kind, n=1500), 40)
    measure = asked_measure("mcc")
    values = grid.values(measure)
    spread = moved_scores(grid.slopes(measure, values), draws_above(grid, 4000)).std(axis=0)
    se = errors(grid, measure, values, 0.95).se
    rel = 0.15 if kind == "replicates" else 0.1  # which move far enough that the score is no longer linear
    assert spread[grid.usable] == pytest.approx(se[grid.usable], rel=rel)


@pytest.mark.parametrize("kind", KINDS)
def test_folds_are_the_whole(kind):
    grid = ThresholdGrid.of(scores_of(kind))
    folds = fold_weights(grid, 10, np.random.default_rng(0))
    assert (folds >= 0).all()
    assert folds.sum(axis=0)[0].sum() == pytest.approx(1.0)
    expected = np.stack([grid.cells.w[:, 0], grid.cells.w[:, 2]], axis=1)
    assert folds.sum(axis=0) == pytest.approx(expected, abs=1e-12)


def test_clusters_stay_together_in_folds():
    truth, score, _ = sample(n=40)
    scores = wmcc.tabulate(truth, score=score, cluster=np.zeros(40, dtype=int))
    folds = fold_weights(ThresholdGrid.of(scores), 10, np.random.default_rng(0))
    assert ((folds[:, 0].sum(axis=1) > 0).sum()) == 1


# ---- areas under curves ------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(4, 60), st.sampled_from([0, 1, 9]), st.booleans())
def test_areas_are_those_of_scikit_learn(seed, n, digits, zeros):
    truth, score, weight = sample(seed, n, digits)
    if zeros:
        weight[2:] *= np.random.default_rng(seed).random(n - 2) < 0.7
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)
    expected = roc_auc_score(truth, score, sample_weight=weight)
    assert wmcc.interval(scores, "roc_auc").value == pytest.approx(expected, abs=1e-12)
    expected = average_precision_score(truth, score, sample_weight=weight)
    assert wmcc.interval(scores, "average_precision").value == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 10_000), st.integers(2, 12))
def test_the_area_is_the_exact_fraction_rounded_once(seed, n):
    truth, score, weight = sample(seed, n, 0, 30.0)
    won = total = Fraction(0)
    for i in np.flatnonzero(truth):
        for j in np.flatnonzero(1 - truth):
            pair = Fraction(float(weight[i])) * Fraction(float(weight[j]))
            total += pair
            won += pair * (Fraction(1) if score[i] > score[j] else Fraction(int(score[i] == score[j]), 2))
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)
    assert wmcc.interval(scores, "roc_auc").value == float(won / total)


@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_standard_errors_of_areas_are_those_of_the_bootstrap(name, clusters):
    truth, score, weight = sample(5, 1200, 2, 0.5)
    rng = np.random.default_rng(0)
    groups = np.arange(1200) // 20 if clusters else np.arange(1200)
    if clusters:
        score = score + rng.normal(0, 0.7, 60)[groups]
    of = {"roc_auc": roc_auc_score, "average_precision": average_precision_score}[name]
    rows = [np.flatnonzero(groups == g) for g in range(groups.max() + 1)]
    values = []
    for _ in range(600):
        drawn_rows = np.concatenate([rows[g] for g in rng.integers(0, len(rows), len(rows))])
        values.append(of(truth[drawn_rows], score[drawn_rows], sample_weight=weight[drawn_rows]))
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight, cluster=groups if clusters else None)
    assert wmcc.interval(scores, name).se == pytest.approx(np.std(values), rel=0.1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_slopes_of_areas_are_their_derivatives(kind, name):
    from wmcc.inference.scores.measures import SCORE_MEASURES, slope_of_cells

    scores = scores_of("rows", n=60, digits=0)
    measure = SCORE_MEASURES[name]
    rng = np.random.default_rng(2)
    p, q = rng.random(6), rng.random(6)

    def value(p, q):
        above = [[round(x * 2**80) for x in np.cumsum(side[::-1])[::-1].tolist()] for side in (p, q)]
        return measure.value(*above)

    whole = p.sum() + q.sum()
    slopes = measure.slope(p / whole, q / whole, value(p, q))
    for side, slope in zip((0, 1), slopes, strict=True):
        for k in range(6):
            step = np.zeros((2, 6))
            step[side, k] = 1e-6
            change = value(p + step[0], q + step[1]) - value(p - step[0], q - step[1])
            assert slope[k] / whole == pytest.approx(change / 2e-6, abs=1e-6)
    assert slope_of_cells(scores, measure, 0.7).shape == (2, len(scores.steps))


def test_a_perfect_area_has_a_reason_instead_of_an_interval():
    found = wmcc.interval(wmcc.tabulate([0, 0, 1, 1] * 9, score=[0.1, 0.2, 0.8, 0.9] * 9), "roc_auc")
    assert found.value == 1.0
    assert "wrong order" in found.problem


# ---- several scores ------------------------------------------------------------------------------------------


def two_scores(clusters=False):
    truth, score, weight = sample(7, 900, 1, 0.5)
    other = np.random.default_rng(8).normal(truth * 0.5, 1).round(1)
    cluster = {"cluster": np.arange(900) // 15} if clusters else {}
    return (
        truth,
        score,
        other,
        weight,
        wmcc.tabulate(truth, score={"A": score, "B": other}, sample_weight=weight, **cluster),
    )


def test_a_difference_of_areas_is_that_of_the_bootstrap():
    truth, score, other, weight, both = two_scores()
    rng = np.random.default_rng(0)
    values = []
    for _ in range(600):
        rows = rng.integers(0, 900, 900)
        of = [roc_auc_score(truth[rows], x[rows], sample_weight=weight[rows]) for x in (score, other)]
        values.append(of[0] - of[1])
    found = wmcc.compare(both, "roc_auc")
    assert found.se == pytest.approx(np.std(values), rel=0.1)
    assert found.value == wmcc.interval(both["A"], "roc_auc").value - wmcc.interval(both["B"], "roc_auc").value


def test_given_thresholds_are_compared_as_labels():
    *_, both = two_scores(clusters=True)
    assert wmcc.compare(both, "mcc", threshold=0.5).to_dict() == wmcc.compare(both.at(0.5), "mcc").to_dict()
    cuts = {"A": 0.5, "B": 0.2}
    assert wmcc.compare(both, "mcc", threshold=cuts).to_dict() == wmcc.compare(both.at(cuts), "mcc").to_dict()


@pytest.mark.parametrize("clusters", [False, True])
def test_best_thresholds_allow_for_the_choice(clusters):
    *_, both = two_scores(clusters)
    found = wmcc.compare(both, "mcc", threshold="best", margin=0.02)
    best = {name: wmcc.best_threshold(both[name], "mcc") for name in both.names}
    at_best = wmcc.compare(both, "mcc", threshold={name: x.threshold for name, x in best.items()})
    assert found.high - found.low > at_best.high - at_best.low
    assert found.p_value >= at_best.p_value
    assert found.low <= found.value <= found.high
    assert found.p_value < 0.1
    assert found.values == {name: x.expected for name, x in best.items()}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s, b: wmcc.interval(s, "mcc"), r"the table has scores; expected roc_auc or average_precision"),
        (lambda s, b: wmcc.compare(b, "mcc"), r"give `threshold`: a number, one for each score, or 'best'"),
        (lambda s, b: wmcc.compare(s, "roc_auc"), r"expected several scores of the same rows"),
        (lambda s, b: wmcc.curve(b), r"there are several scores, 'A', 'B'; choose one"),
        (lambda s, b: wmcc.curve(s.at(0.5)), r"wmcc.curve reads a score table"),
        (lambda s, b: wmcc.curve(s, "nonsense"), r"`measure` is 'nonsense'"),
        (lambda s, b: wmcc.curve(s, thresholds=[]), r"`thresholds` is empty"),
        (lambda s, b: wmcc.compare(b.at(0.5), "mcc", threshold=0.5), r"`threshold` is for scores"),
    ],
)
def test_what_is_refused(call, sentence):
    *_, both = two_scores()
    with pytest.raises(WmccError, match=sentence):
        call(both["A"], both)

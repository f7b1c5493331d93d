"""The scikit-learn adapter, judged by scikit-learn's own tests."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import matthews_corrcoef as theirs
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_validate,
)

import wmcc
import wmcc.measures
from wmcc.adapters.sklearn import matthews_corrcoef, scorer, scorers
from wmcc.errors import InputError, UndefinedMeasureWarning

pytestmark = pytest.mark.slow

PLUGIN = """
import sklearn.metrics, sklearn.metrics._classification, sklearn.metrics._scorer
from wmcc.adapters.sklearn import matthews_corrcoef
sklearn.metrics.matthews_corrcoef = sklearn.metrics._classification.matthews_corrcoef = matthews_corrcoef
sklearn.metrics._scorer._SCORERS["matthews_corrcoef"] = sklearn.metrics.make_scorer(matthews_corrcoef)
"""


def test_scikit_learns_own_tests_pass_with_ours_in_place(tmp_path: Path):
    (tmp_path / "ours_in_place.py").write_text(PLUGIN)
    modules = [f"sklearn.metrics.tests.test_{name}" for name in ("classification", "common", "score_objects")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "ours_in_place", "-p", "no:cacheprovider", "-W", "ignore"]
    done = subprocess.run(
        [*command, "--pyargs", *modules, "-k", "matthews"], cwd=tmp_path, capture_output=True, text=True,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
    assert int(done.stdout.rsplit(" passed", 1)[0].split()[-1]) >= 20


def test_a_plain_float_and_the_same_answers():
    rng = np.random.default_rng(0)
    for K in (2, 3, 10):
        t, p, w = rng.integers(0, K, 500), rng.integers(0, K, 500), rng.random(500)
        assert type(matthews_corrcoef(t, p)) is float
        assert matthews_corrcoef(t, p) == pytest.approx(theirs(t, p), abs=1e-13)
        assert matthews_corrcoef(t, p, sample_weight=w) == pytest.approx(theirs(t, p, sample_weight=w), abs=1e-13)
        assert matthews_corrcoef(t.astype(str), p.astype(str), sample_weight=w) == matthews_corrcoef(
            t, p, sample_weight=w
        )
    with pytest.raises(TypeError):
        matthews_corrcoef([0, 1], [0, 1], [1, 1])
    assert matthews_corrcoef([0, 1], [0, 1], sample_weight=[1e-200, 1e-200]) == 1.0
    with pytest.raises(ValueError, match=r"negative|at least 0"):
        matthews_corrcoef([0, 1], [0, 1], sample_weight=[1, -1])


@pytest.fixture
def data():
    X, y = make_classification(300, n_informative=4, n_classes=2, flip_y=0.3, random_state=0)
    return X, y, np.random.default_rng(0).lognormal(0, 2, 300)


@pytest.mark.parametrize("name", wmcc.measures.MEASURES)
def test_scorers_take_weights_through_metadata_routing(data, name):
    X, y, area = data
    model = LogisticRegression()
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = scorer(name).set_score_request(sample_weight=True)
        fits = cross_validate(
            model.set_fit_request(sample_weight=False), X, y, cv=3, scoring=weighted, params={"sample_weight": area},
            return_estimator=True, return_indices=True,
        )  # fmt: skip
    for fitted, test, score in zip(fits["estimator"], fits["indices"]["test"], fits["test_score"], strict=True):
        expected = wmcc.measures.MEASURES[name](y[test], fitted.predict(X[test]), sample_weight=area[test])
        assert score == expected
        assert score != wmcc.measures.MEASURES[name](y[test], fitted.predict(X[test]))


def test_scorers_in_a_grid_search_with_processes(data):
    X, y, area = data
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        fresh = scorers(["mcc", "ecc", "mpc1", "mpc2"])
        scoring = {name: one.set_score_request(sample_weight=True) for name, one in fresh.items()}
        search = GridSearchCV(model, {"C": [0.01, 1.0]}, scoring=scoring, refit="mpc2", cv=3, n_jobs=2)
        search.fit(X, y, sample_weight=area)
    assert search.best_params_["C"] in (0.01, 1.0)
    assert np.isfinite(search.cv_results_["mean_test_mcc"]).all()
    assert search.cv_results_["mean_test_mcc"] == pytest.approx(search.cv_results_["mean_test_mpc1"])


def test_scorers_can_be_pickled():
    for name in wmcc.measures.MEASURES:
        assert repr(pickle.loads(pickle.dumps(scorer(name)))) == repr(scorer(name))


def test_what_is_requested_of_one_scorer_changes_no_other(data):
    X, y, area = data
    with sklearn.config_context(enable_metadata_routing=True):
        mine = scorer("ecc").set_score_request(sample_weight=True)
        for other in (scorer("ecc"), scorers()["ecc"]):  # neither asks for weights, and cross_validate says so
            with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
                cross_validate(LogisticRegression(), X, y, scoring=other, params={"sample_weight": area})
        model = LogisticRegression().set_fit_request(sample_weight=False)
        fits = cross_validate(model, X, y, scoring=mine, params={"sample_weight": area})
    assert np.isfinite(fits["test_score"]).all()


def test_the_ready_set_is_for_any_number_of_classes():
    X, y = make_classification(300, n_informative=6, n_classes=4, random_state=0)
    fits = cross_validate(LogisticRegression(), X, y, cv=3, scoring=scorers(), error_score="raise")
    assert {name for name in fits if name.startswith("test_")} == {"test_ecc", "test_mpc1", "test_mpc2"}
    assert all(np.isfinite(fits[f"test_{name}"]).all() for name in scorers())
    with pytest.raises(InputError, match="`measure` is 'mmc'"):
        scorers(["mmc"])


class Constant(DummyClassifier):
    """Predicts what it was told."""

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)


def test_what_cannot_be_scored_is_nan_with_a_sentence_and_no_traceback():
    model = Constant().fit([[0], [1], [2]], [0, 1, 2])
    assert scorer("ecc")(model, [[0], [0]], [0, 0]) == 0.0  # undefined: all in one class
    with pytest.warns(UndefinedMeasureWarning, match=r"the score is NaN: MCC is for two classes.*has 3"):
        assert np.isnan(scorer("mcc")(model, [[0], [1], [2]], [0, 1, 2]))
    with pytest.warns(UndefinedMeasureWarning, match=r"the score is NaN: the total weight of 2 rows is zero"):
        assert np.isnan(scorer("ecc")(model, [[0], [1]], [0, 1], sample_weight=[0.0, 0.0]))
    with pytest.warns(UndefinedMeasureWarning, match="two classes") as said:
        fits = cross_validate(
            model, [[k % 3] for k in range(12)], [k % 3 for k in range(12)], cv=2, scoring=scorer("mcc")
        )
    assert np.isnan(fits["test_score"]).all()
    assert not [warning for warning in said if "Traceback" in str(warning.message)]
    with pytest.raises(ValueError, match=r"negative|at least 0"):  # a mistake is one
        scorer("ecc")(model, [[0], [1]], [0, 1], sample_weight=[1.0, -1.0])


# ---- thresholds -------------------------------------------------------------------------------------------------


def tuned_by(measure, data, labels=(0, 1), **options):
    X, y, area = data
    with sklearn.config_context(enable_metadata_routing=True):
        tuned = TunedThresholdClassifierCV(
            LogisticRegression().set_fit_request(sample_weight=True),
            scoring=scorer(measure).set_score_request(sample_weight=True), store_cv_results=True, **options,
        )  # fmt: skip
        return tuned.fit(X, np.array(labels)[y], sample_weight=area)


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("thresholds", [20, [-0.5, 0.2, 0.5, 0.8]])
def test_thresholds_are_tuned_with_weights(data, method, thresholds):
    """What scikit-learn finds is the mean of our scores over the folds, each at the thresholds of its own."""
    X, y, area = data
    folds = [*StratifiedKFold(3).split(X, y)]
    tuned = tuned_by("mcc", data, cv=3, response_method=method, thresholds=thresholds)
    ranges, curves = [], []
    for train, test in folds:
        model = LogisticRegression().fit(X[train], y[train], sample_weight=area[train])
        response = getattr(model, method)(X[test])
        score = response[:, 1] if method == "predict_proba" else response
        scores = wmcc.tabulate(y[test], score=score, sample_weight=area[test])
        cuts = thresholds if isinstance(thresholds, list) else np.linspace(score.min(), score.max(), thresholds)
        tables = [wmcc.tabulate(y[test], (score >= cut).astype(int), area[test], labels=[0, 1]) for cut in cuts]
        assert all(table == scores.at(cut) for table, cut in zip(tables, cuts, strict=True) if cut in scores.steps)
        ranges.append(cuts)
        curves.append([wmcc.mcc(table) for table in tables])
    grid = tuned.cv_results_["thresholds"]
    mean = np.mean([np.interp(grid, x, own) for x, own in zip(ranges, curves, strict=True)], axis=0)
    assert tuned.cv_results_["scores"] == pytest.approx(mean, abs=1e-12)
    assert tuned.best_score_ == pytest.approx(mean.max(), abs=1e-12)


@pytest.mark.parametrize("labels", [(-1, 1), (False, True), ("no", "yes")])
def test_labels_of_any_kind_are_tuned_alike(data, labels):
    plain = tuned_by("mcc", data, cv=3, thresholds=9)
    named = tuned_by("mcc", data, labels, cv=3, thresholds=9, n_jobs=2)  # in other processes
    assert (named.best_threshold_, named.best_score_) == (plain.best_threshold_, plain.best_score_)


def test_a_model_that_is_fitted_is_tuned_to_the_best_of_our_thresholds(data):
    X, y, area = data
    model = LogisticRegression().fit(X, y, sample_weight=area)
    scores = wmcc.tabulate(y, score=model.predict_proba(X)[:, 1], sample_weight=area)
    best = wmcc.best_threshold(scores, "mcc")
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = scorer("mcc").set_score_request(sample_weight=True)
        model.set_fit_request(sample_weight=True)
        tuned = TunedThresholdClassifierCV(model, scoring=weighted, cv="prefit", refit=False, thresholds=scores.steps)
        tuned.fit(X, y, sample_weight=area)
    assert (tuned.best_threshold_, tuned.best_score_) == (best.threshold, best.value)
    fewer = TunedThresholdClassifierCV(model, scoring=scorer("mcc"), cv="prefit", refit=False).fit(X, y)
    assert fewer.best_threshold_ != best.threshold  # among a hundred, without weights


def test_a_fixed_threshold_predicts_our_table(data):
    X, y, area = data
    model = LogisticRegression().fit(X, y, sample_weight=area)
    scores = wmcc.tabulate(y, score=model.predict_proba(X)[:, 1], sample_weight=area)
    best = wmcc.best_threshold(scores, "mcc")
    with sklearn.config_context(enable_metadata_routing=True):
        fixed = FixedThresholdClassifier(
            LogisticRegression().set_fit_request(sample_weight=True), threshold=best.threshold
        )
        fixed.fit(X, y, sample_weight=area)
    assert wmcc.tabulate(y, fixed.predict(X), area) == best.table


def test_weights_that_are_not_asked_for_are_refused_while_tuning(data):
    X, y, area = data
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            TunedThresholdClassifierCV(model, scoring=scorer("mcc"), cv=3).fit(X, y, sample_weight=area)


def test_thresholds_are_tuned_to_gains(data):
    """Of a mean gain by hand; the positive class is the larger label, whatever labels are called."""
    X, y, area = data
    gains = wmcc.measures.ExpectedGain(hit=20, miss=-3, alarm=-1, rejection=0.5)
    model = LogisticRegression().fit(X, y, sample_weight=area)
    scores = wmcc.tabulate(y, score=model.predict_proba(X)[:, 1], sample_weight=area)
    best = wmcc.best_threshold(scores, gains)
    called = (model.predict_proba(X)[:, 1] >= best.threshold).astype(int)
    by_hand = np.average(np.array([[0.5, -1], [-3, 20]])[y, called], weights=area)
    metric = pickle.loads(pickle.dumps(scorer(gains)))._score_func
    assert metric(y, called, sample_weight=area) == pytest.approx(by_hand, rel=1e-12)
    words = np.array(["no", "yes"])
    assert metric(words[y], words[called], sample_weight=area) == best.value
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = scorer(gains).set_score_request(sample_weight=True)
        model.set_fit_request(sample_weight=True)
        tuned = TunedThresholdClassifierCV(model, scoring=weighted, cv="prefit", refit=False, thresholds=scores.steps)
        tuned.fit(X, y, sample_weight=area)
    assert (tuned.best_threshold_, tuned.best_score_) == (best.threshold, best.value)


def test_gains_of_what_has_not_two_classes_are_nan():
    metric = scorer(wmcc.measures.ExpectedGain(1, 0, 0, 0))._score_func
    for labels, why in (([0, 0], "has 1, and it is not known"), ([0, 1, 2], "for two classes")):
        with pytest.warns(UndefinedMeasureWarning, match=f"the score is NaN: .*{why}"):
            assert np.isnan(metric(labels, labels))

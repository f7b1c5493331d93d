"""Pictures of scores show what was computed of them."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, matthews_corrcoef, precision_recall_curve, roc_curve

import wmcc
from wmcc import plot
from wmcc.errors import WmccError
from wmcc.inference.scores.mcc_f1 import mcc_f1


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    truth = (rng.random(300) < 0.4).astype(int)
    return truth, rng.normal(truth, 1).round(1), rng.lognormal(size=300)


@pytest.fixture
def scores(rows):
    truth, score, weight = rows
    return wmcc.tabulate(truth, score=score, sample_weight=weight)


def test_the_curve_is_drawn_with_its_best(scores):
    curve, best = wmcc.curve(scores), wmcc.best_threshold(scores)
    ax = plot.curve(curve, best=best)
    assert ax.lines[0].get_ydata().tolist() == curve.values.tolist()
    assert any(set(line.get_xdata()) == {best.threshold} for line in ax.lines)
    assert "to expect" in ax.get_title(loc="left")
    assert ax.get_xlabel() == "threshold"


def test_roc_is_that_of_scikit_learn(rows, scores):
    truth, score, weight = rows
    alarms, hits, _ = roc_curve(truth, score, sample_weight=weight, drop_intermediate=False)
    line = plot.roc(scores).lines[0]
    assert line.get_xdata()[::-1] == pytest.approx(alarms)
    assert line.get_ydata()[::-1] == pytest.approx(hits)


def test_precision_and_recall_are_those_of_scikit_learn(rows, scores):
    truth, score, weight = rows
    precision, recall, _ = precision_recall_curve(truth, score, sample_weight=weight)
    line = plot.precision_recall(scores).lines[0]
    assert line.get_xdata() == pytest.approx(recall[:-1])
    assert line.get_ydata() == pytest.approx(precision[:-1])


def test_mcc_and_f1(rows, scores):
    truth, score, weight = rows
    found = mcc_f1(scores)
    for j in range(1, len(found.thresholds), 9):
        called = (score >= found.thresholds[j]).astype(int)
        assert found.f1[j] == pytest.approx(f1_score(truth, called, sample_weight=weight))
        assert 2 * found.mcc[j] - 1 == pytest.approx(matthews_corrcoef(truth, called, sample_weight=weight))
    assert plot.mcc_f1(scores).lines[0].get_xdata().tolist() == found.f1.tolist()
    assert mcc_f1(wmcc.tabulate([0, 1] * 5, score=[0, 1] * 5)).metric > found.metric


def test_the_metric_of_points_worked_by_hand():
    """At 0.1 all are called positive; at 0.9 one of both. Distances over the ranges of MCC that have a threshold."""
    found = mcc_f1(wmcc.tabulate([0, 1, 1], score=[0.1, 0.1, 0.9]))
    mcc, f1 = np.array([0.5, 0.75]), np.array([0.8, 2 / 3])
    assert found.mcc == pytest.approx(mcc)
    assert found.f1 == pytest.approx(f1)
    far = np.hypot(1 - mcc, 1 - f1)
    assert found.metric == pytest.approx(1 - np.mean([far[0], far[1], far[1]]) / 2**0.5)


@pytest.mark.parametrize("draw", [plot.roc, plot.precision_recall, plot.mcc_f1])
def test_a_table_is_no_score_table(draw, scores):
    with pytest.raises(WmccError, match=r"wmcc.plot reads a score table; got Table"):
        draw(scores.at(0.5))


@pytest.mark.filterwarnings("error")
def test_one_class_is_said_to_be_undefined(rows):
    truth, score, _ = rows
    scores = wmcc.tabulate(truth, score=score, sample_weight=truth * 1.0)
    curve = wmcc.curve(scores)
    assert "not estimable: MCC is undefined" in plot.curve(curve).get_title(loc="left")
    assert "not estimable" in plot.curve(curve, best=wmcc.best_threshold(scores)).get_title(loc="left")
    for draw in (plot.roc, plot.precision_recall, plot.mcc_f1):
        assert "— the class 0 has no weight" in " ".join(draw(scores).get_title(loc="left").split("\n"))

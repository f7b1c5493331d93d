"""Reports on scores: what to expect comes first, and the curve is the library's."""

import json
import re

import numpy as np
import pytest
from report_helpers import as_json, made, quick
from schemas import check

import wmcc
from wmcc.errors import InputError
from wmcc.report.charts import BOTTOM, HEIGHT, LEFT, TICK, WIDTH, _round_ticks, threshold_chart
from wmcc.report.thresholds import at_thresholds


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    quick(monkeypatch)


def sample(n=200, **options):
    rng = np.random.default_rng(0)
    truth = np.array(["no", "yes"])[(rng.random(n) < 0.4).astype(int)]
    a, b = ((truth == "yes") * apart + rng.normal(size=n) for apart in (1.5, 1.0))
    return truth, a.round(1), b.round(1), rng.lognormal(size=n)


TRUTH, A, B, W = sample()
SCORES = wmcc.tabulate(TRUTH, score=A, sample_weight=W)
BOTH = wmcc.tabulate(TRUTH, score={"A": A, "B": B}, sample_weight=W)
BEST = wmcc.best_threshold(SCORES)


def test_what_to_expect_comes_first():
    data = as_json(SCORES)
    check(data)
    expected = f"On new data MCC is expected to be {BEST.expected:.4f} at the threshold {BEST.threshold:g}"
    assert data["verdict"][0].startswith(expected)
    assert f"95 % interval {BEST.low:.4f} to {BEST.high:.4f}" in data["verdict"][0]
    assert data["verdict"][1].startswith(f"On these rows MCC is {BEST.value:.4f}, and ")
    (one,) = data["predictions"]
    assert one["best_threshold"] == json.loads(json.dumps(BEST.fields()))
    assert one["threshold"] == BEST.threshold
    assert one["curve"] == wmcc.curve(SCORES).fields()
    assert [x["value"] for x in one["of_all_thresholds"]] == [
        wmcc.interval(SCORES, name).value for name in ("roc_auc", "average_precision")
    ]
    assert one["table"] == SCORES.at(BEST.threshold).to_dict()


def test_a_given_threshold_has_ordinary_intervals():
    data, plain = as_json(SCORES, threshold=0.5), as_json(SCORES.at(0.5), measure="mcc")
    check(data)
    assert data["verdict"] == plain["verdict"]
    text = made("markdown", SCORES, threshold=0.5)
    assert "The threshold of this report is 0.5, as given" in text
    assert "apparent" not in text.lower().replace("| apparent |", "")
    assert plain["predictions"][0]["best_threshold"] is None


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_pages_say_what_is_apparent(form):
    text = made(form, SCORES)
    assert "Scores of 200 rows at the threshold" in text
    assert (
        text.index("On new data") < text.index("Thresholds for the best MCC") < text.index("Values and intervals are")
    )
    assert "ROC AUC" in text


def test_differences_allow_for_the_choice():
    data = as_json(BOTH, measure="accuracy")
    check(data)
    (pair,) = data["pairs"]
    found = wmcc.compare(BOTH, "accuracy", threshold="best").only
    assert (pair["low"], pair["high"], pair["p_value"]) == (found.low, found.high, found.p_value)
    assert [x["threshold"] for x in data["predictions"]] == [
        wmcc.best_threshold(BOTH[name], "accuracy").threshold for name in "AB"
    ]
    assert [sentence[: len("On new data Accuracy of A")] for sentence in data["verdict"][:2]] == [
        "On new data Accuracy of A", "On new data Accuracy of B",
    ]  # fmt: skip
    given = as_json(BOTH, threshold={"A": 0.5, "B": 0.2})
    joint = as_json(BOTH.at({"A": 0.5, "B": 0.2}))
    assert given["pairs"] == joint["pairs"]


def test_the_line_has_the_values_of_the_curve():
    _, found = at_thresholds(SCORES, None, wmcc.mcc, 0.95)
    at = found[""]
    picture = threshold_chart(at)
    (line,) = picture.findall("polyline")
    points = np.array([[float(x) for x in point.split(",")] for point in line.get("points").split()])
    cuts, values = at.curve.thresholds, at.curve.values[1:]
    x = (cuts - cuts[0]) / (cuts[-1] - cuts[0])
    assert (points[1::2, 0] - LEFT) / (WIDTH - TICK - LEFT) == pytest.approx(x[1:], abs=1e-3)
    height = HEIGHT - BOTTOM - points[1::2, 1]
    slope, start = np.polyfit(values, height, 1)
    assert slope > 0
    assert height == pytest.approx(slope * values + start, abs=0.2)
    assert np.array_equal(points[::2, 1], points[1::2, 1])
    (dot,) = picture.findall("circle")
    assert HEIGHT - BOTTOM - float(dot.get("cy")) == pytest.approx(slope * at.best.expected + start, abs=0.2)
    assert [x.get("class") for x in picture.findall("polygon")] == ["all", "now"]


@pytest.mark.parametrize(("least", "most"), [(0, 1), (-3.2, 4.7), (0, 1e-7), (-1e6, 3e9), (0.49, 0.51)])
def test_ticks_are_round_and_few(least, most):
    ticks = _round_ticks(least, most)
    assert 3 <= len(ticks) <= 9
    assert min(ticks) >= least - 1e-9 * (most - least)
    assert max(ticks) <= most + 1e-9 * (most - least)


def test_infinite_scores():
    ends = np.array([-np.inf, np.inf])
    for score in (np.where(A > 1, np.inf, A), np.where(A < 0, -np.inf, A), ends[(A > 1).astype(int)]):
        scores = wmcc.tabulate(TRUTH, score=score, sample_weight=W)
        assert re.search("<polyline|MCC by threshold", made("html", scores))


def test_names_of_classes():
    text = made("markdown", SCORES, names={"yes": "ill", "no": "well"})
    assert "a score of at least it is ill" in text


def test_markup_in_names_is_text():
    text = made("html", wmcc.tabulate(TRUTH, score={"<b>A</b>": A, "B": B}))
    assert "<b>A</b>" not in text


def test_what_is_refused():
    with pytest.raises(InputError, match="`threshold` is for scores"):
        made("json", SCORES.at(0.5), threshold=0.5)
    with pytest.raises(InputError, match="expected one of each score"):
        made("json", BOTH, threshold={"A": 0.5})


def test_one_class_has_nothing_to_expect():
    scores = wmcc.tabulate(np.where(TRUTH == "yes", 1, 0), score=A, sample_weight=(TRUTH == "no") * 1.0)
    verdict = as_json(scores)["verdict"][0]
    assert verdict.startswith("What MCC to expect on new data is not known: MCC is undefined")
    assert "nan" not in made("html", scores).partition("</script>")[2]

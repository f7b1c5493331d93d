"""The pictures of a page: what stands where, by the scale that the ticks show."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.report import findings
from wmcc.report.charts import BOTTOM, HEIGHT, LEVELS, LINE, RIGHT, WIDTH, _apart, funnel, heat_map
from wmcc.report.page import page
from wmcc.report.write import ReportOptions, build

TRUTH = np.array([0, 1, 1, 0] * 20)
GUESS = np.array([0, 1, 0, 0] * 20)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(findings, "GRID", (0.0, 0.1, 0.4))
    monkeypatch.setattr(findings, "NODES", 1)
    monkeypatch.setattr("wmcc.robustness.ranking.TOLERANCE", 0.2)


def found(guesses, at_least=None):
    return build(wmcc.tabulate(TRUTH, guesses), ReportOptions("mcc", at_least=at_least, progress=False))[0].found


def parts(picture, tag, kind=None):
    return [x for x in picture.iter(tag) if kind is None or x.get("class") == kind]


def scale(picture, percent):
    """The line that takes places along an axis to the numbers of its ticks."""
    ticks = [x for x in parts(picture, "text", "tick") if ("%" in x.text) == percent]
    numbers = [float(x.text.removesuffix(" %")) / (100 if percent else 1) for x in ticks]
    places = [float(x.get("x")) if percent else float(x.get("y")) - 4 for x in ticks]
    return np.poly1d(np.polyfit(places, numbers, 1))


def test_the_slider_is_below_the_axis_and_on_its_scale():
    document = build(wmcc.tabulate(TRUTH, GUESS), ReportOptions("mcc", progress=False))[0]
    at, text = document.found.grid, page(document)
    slider = re.search(r'<input type="range" id="eps" min="([^"]*)" max="([^"]*)" step="any" value="([^"]*)"', text)
    assert [float(x) for x in slider.groups()] == [at[0], at[-1], document.found.eps]
    ends = [float(x) * WIDTH / 100 for x in re.search(r"--from:([\d.]+);--to:([\d.]+)", text).groups()]
    drawn = funnel(document.found)
    assert scale(drawn.picture, percent=True)(ends) == pytest.approx([at[0], at[-1]], abs=0.002)
    assert drawn.grid["at"] == at


def test_the_threshold_and_its_radii_are_where_the_axes_say():
    one = found({"a": GUESS, "b": np.roll(GUESS, 1)}, at_least=0.5)
    picture = funnel(one).picture
    score, eps = scale(picture, percent=False), scale(picture, percent=True)
    (line,) = parts(picture, "line", "threshold")
    assert score(float(line.get("y1"))) == pytest.approx(0.5, abs=0.002)
    marks = [x for x in parts(picture, "circle") if len(x)]
    kept = {name: radius.safe for name, radius in one.radii.items() if 0 < radius.safe <= 0.4}
    assert kept
    assert [x[0].text.partition(":")[0] for x in marks] == list(kept)
    for mark, safe in zip(marks, kept.values(), strict=True):
        assert eps(float(mark.get("cx"))) == pytest.approx(safe, abs=0.002)
        assert mark.get("cy") == line.get("y1")
    assert parts(funnel(found({"a": GUESS, "b": TRUTH})).picture, "line", "threshold") == []


def test_intervals_are_where_the_axis_says():
    one = found({"a": GUESS, "b": np.roll(GUESS, 1)})
    picture = funnel(one).picture
    score = scale(picture, percent=False)
    drawn = [(score(float(x.get("y1"))), score(float(x.get("y2")))) for x in parts(picture, "line", "whisker")]
    sampled = [one.scores[name].intervals["mcc"] for name in one.names]
    np.testing.assert_allclose(drawn, [(x.low, x.high) for x in sampled], atol=0.004)


def test_many_predictions_leave_room_for_the_band():
    rng = np.random.default_rng(0)
    names = [f"model {k}" for k in range(15)]
    few = found({name: np.where(rng.random(80) < 0.7, TRUTH, 1 - TRUTH) for name in names[:2]})
    alike = {"scores": dict.fromkeys(names, few.first), "curves": dict.fromkeys(names, few.curves["model 0"])}
    many = replace(few, **alike)
    picture = funnel(many).picture
    line = parts(picture, "line", "value")[0]
    assert float(line.get("x2")) - float(line.get("x1")) > WIDTH / 3
    assert float(parts(picture, "line", "whisker")[-1].get("x1")) < float(line.get("x1"))
    shown = [float(x.get("y")) for x in parts(picture, "text") if "model" in x.text]
    assert len(shown) == 15
    assert all(b - a >= LINE - 0.01 for a, b in pairwise(shown))
    assert max(shown) <= HEIGHT - BOTTOM + 4
    assert all(float(x.get("x")) > WIDTH - RIGHT for x in parts(picture, "text") if "model" in x.text)


@given(st.lists(st.floats(0, 300), min_size=1, max_size=15))
def test_names_stand_apart_and_no_further_than_they_must(places):
    places = sorted(places)
    moved = _apart(places, 300)
    assert all(b - a >= LINE - 1e-9 for a, b in pairwise(moved))
    assert moved[-1] <= 300
    if all(b - a >= LINE for a, b in pairwise(places)):
        assert moved == places


def test_what_is_said_of_each_eps():
    equal = funnel(found({"a": GUESS, "b": GUESS})).grid["said"]
    assert equal[0] == "With weights off by up to 0 %: a and b score the same at the weights as they are."
    one = found({"a": GUESS, "b": TRUTH, "c": [0] * 80})
    safe = one.lead("a", "b").safe
    for eps, sentence in zip(one.grid, funnel(one).grid["said"], strict=True):
        assert ("b beats a for all such weights" in sentence) == (eps <= safe)
        assert "b and c cannot be compared" in sentence
    numbers = np.arange(80)
    close = found({"a": TRUTH ^ (numbers < 10), "b": TRUTH ^ (numbers >= 69)})
    for eps, sentence in zip(close.grid, funnel(close).grid["said"], strict=True):
        assert ("b does at least as well as a for some such weights" in sentence) == (eps > 0)


def test_shades_of_a_map_are_shares_of_rows():
    rng = np.random.default_rng(4)
    table = wmcc.tabulate(rng.integers(0, 30, 900), rng.integers(0, 30, 900), rng.lognormal(0, 3, 900))
    share = table.w / table.w.sum(axis=1, keepdims=True)
    paths = parts(heat_map(table, "Map"), "path")
    shades = [float(x.get("fill-opacity")) for x in paths]
    assert shades == sorted(set(shades))
    drawn = np.zeros((30, 30), dtype=int)
    for k, path in enumerate(paths, 1):
        for cell in path.get("d").split("M")[1:]:
            column, row, long = map(int, re.fullmatch(r"(\d+) (\d+)h(\d+)v1h-\3z", cell).groups())
            drawn[row, column : column + long] = k
    assert (drawn == (share[..., np.newaxis] >= LEVELS).sum(axis=-1)).all()

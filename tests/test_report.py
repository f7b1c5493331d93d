"""The report: what it says is what the library says, in all three forms, and nothing in a label is markup."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from report_helpers import NODES, as_json, forms, made, quick

import wmcc
from wmcc.present.markdown import escaped
from wmcc.present.text import decimal, share
from wmcc.report import findings
from wmcc.report.charts import funnel
from wmcc.report.write import Asked, build

SAMPLE = Path(wmcc.__file__).parent / "data" / "parcels.csv"
_quick = pytest.fixture(autouse=True)(quick)

NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a & b | c",
    "</script>",
    "snow\u2603\x1b[31m\n",
]


class Page(HTMLParser):
    """Tags, attributes and texts, and whether tags are balanced."""

    VOID = ("meta", "input", "br", "img", "link", "hr")

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self._open = [], [], [], []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return "\n".join(self.texts)


# ---- the three forms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", wmcc.MEASURES)
def test_all_forms_say_what_the_library_says(measure):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 300)
    a, b = (np.where(rng.random(300) < p, truth, rng.integers(0, 2, 300)) for p in (0.8, 0.5))
    w = rng.lognormal(0, 1, 300)
    data = (truth, {"a": a, "b": b}, w)
    written = forms(*data, measure=measure)
    found = json.loads(written("json"))
    table = wmcc.tabulate(truth, a, w)
    certified = {x["eps"]: (x["low"], x["high"]) for x in found["predictions"][0]["certified"]}
    expected = {eps: wmcc.certify(table, measure, eps, nodes=NODES) for eps in (0.05, 0.5)}
    for eps, certificate in expected.items():
        assert certified[eps] == (certificate.low, certificate.high)
    assert found["predictions"][0]["measures"][measure] == wmcc.MEASURES[measure](table)
    comparison = wmcc.compare(truth, a, b, w, measure=measure)
    assert found["pairs"][0]["p_value"] == comparison.p_value
    assert found["predictions"][1]["classes"][1]["intervals"]["recall"]["low"] == (
        wmcc.score(truth, b, w).class_intervals["recall"][1].low
    )
    page, text = Page(written("html")).text, written("markdown")
    for form in (page, text):
        assert decimal(comparison.difference) in form
        assert " to ".join(expected[0.05].ends) in form
        assert found["verdict"][0].partition(",")[0] in form
        assert wmcc.MEASURES[measure].formula.split(" ")[0] in form.replace("\\", "")


def test_sections_are_the_same_in_html_and_markdown():
    written = forms(str(SAMPLE), "label", ["pred", "pred_b", "pred_c"], "area")
    heads = re.findall(r"^#{2,3} (.*)$", written("markdown"), re.M)
    shown = re.findall(r"<h[23] id=\"[^\"]*\">([^<]*)</h", written("html"))
    assert [x.replace("\\", "") for x in heads] == shown
    assert {"Scores", "Who leads", "Weights", "Warnings", "How to read this", "How it was made"} <= set(shown)


def test_notes_and_warnings_say_whose_they_are():
    truth = [1, *[2] * 8] * 5
    guesses = {"a": [1, *[0] * 8] * 5, "b": [1, 2, *[0] * 7] * 5, "c": [2] * 45}
    score = wmcc.score(truth, guesses["a"])
    text = made("markdown", truth, guesses)
    assert escaped(f"a: {score.disagreement}") in text
    for warning in score.warnings:
        assert f"- {escaped('a: ' + warning.removeprefix('* '))}\n" in text
    assert "- Differences: Intervals" in text
    assert "- c: ECC (R\\_K) is undefined, and counts as 0." in text
    alone = made("markdown", truth, guesses["a"])
    assert f"\n\n{escaped(score.disagreement)}\n" in alone
    assert f"- {escaped(score.warnings[0].removeprefix('* '))}\n" in alone


def test_clusters_are_those_of_the_library():
    found = as_json(str(SAMPLE), "label", "pred", "area", cluster="region")["predictions"][0]
    expected = wmcc.interval(str(SAMPLE), "label", "pred", "area", cluster="region")
    assert found["clusters"] == 3
    assert found["intervals"]["ecc"]["low"] == pytest.approx(expected.low, nan_ok=True)
    both = as_json(str(SAMPLE), "label", ["pred", "pred_b"], "area", cluster="region")
    assert both["pairs"][0]["clusters"] == 3
    tables = wmcc.tabulate(str(SAMPLE), "label", "pred", "area", by="region")
    assert as_json(tables)["predictions"][0]["intervals"] == found["intervals"]
    joints = wmcc.joint_table(str(SAMPLE), "label", "pred", "pred_b", "area", by="region")
    assert as_json(joints, names=["pred", "pred_b"])["pairs"] == both["pairs"]


def test_what_can_be_given():
    frame = np.array([[0, 1, 1, 0, 1, 0] * 10, [0, 1, 0, 0, 1, 0] * 10, [0, 1, 1, 0, 0, 0] * 10])
    truth, a, b = frame
    joint = wmcc.joint_table(truth, a, b)
    expected = as_json(truth, {"a": a, "b": b})
    for data, names in (((joint,), None), ((truth, [a, b]), None), ((truth, [list(a), list(b)]), ["a", "b"])):
        found = as_json(*data, names=names)
        assert (found["verdict"], found["pairs"]) == (expected["verdict"], expected["pairs"])
    alone = as_json(wmcc.tabulate(truth, a))
    assert alone["verdict"] == as_json(truth, {"mine": a})["verdict"] == as_json(truth, a.tolist())["verdict"]
    assert as_json(truth, {"mine": a})["names"] == ["mine"]


@pytest.mark.parametrize("cluster", [None, np.arange(60) // 6])
def test_all_predictions_are_scored_on_the_classes_of_all(cluster):
    truth, a, b = [0, 1, 1, 0] * 15, [0, 1, 0, 0] * 15, [0, 1, 1, 0, 1, 0] * 10
    found = as_json(truth, {"a": a, "b": b, "c": [0, 1, 2, 0] * 15}, measure="mpc2", cluster=cluster)
    expected = {name: wmcc.mpc2(truth, y, labels=[0, 1, 2]) for name, y in (("a", a), ("b", b))}
    for prediction in found["predictions"][:2]:
        assert prediction["measures"]["mpc2"] == expected[prediction["name"]]
        assert len(prediction["classes"]) == 3
    assert found["pairs"][0]["values"] == list(expected.values())


# ---- labels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [5, 26])
def test_nothing_in_a_label_is_markup(classes):
    names = np.array([*NASTY, *(f"class {k}" for k in range(classes - 5))], dtype=object)
    rng = np.random.default_rng(1)
    truth, guess = rng.integers(0, classes, (2, 120))
    labels = {name: names[np.where(rng.random(120) < 0.6, truth, guess)] for name in NASTY[:2]}
    written = forms(names[truth], labels, threshold=0.1)
    text = written("html")
    page = Page(text)
    assert page.tags.count("script") == 2  # ours, and the numbers for it
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    for name in NASTY[:4]:
        assert name in page.text
    assert "\x1b" not in text
    assert "\u2603\\x1b[31m\\n" in page.text
    grid = json.loads(re.search(r'<script type="application/json" id="grid">(.*?)</script>', text, re.S)[1])
    assert NASTY[0] in grid["said"][0]
    markdown = written("markdown")
    assert "<script>" not in markdown
    assert "<img" not in markdown


def test_names_move_nothing_and_break_nothing():
    """Not in text, not in attributes, and not in what the page's script writes."""
    truth, guess = [0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9
    for name in ("\x00", "\ud800", "\u202eabc", "\r\n"):
        written = forms(truth, {name: guess, "b": truth}, threshold=0.5)
        for form in ("html", "markdown"):
            text = written(form)
            text.encode()
            assert name not in text
        assert name.encode("unicode_escape").decode() in written("html")


def test_nothing_is_loaded():
    page = Page(made("html", str(SAMPLE), "label", ["pred", "pred_b"], "area"))
    links = [value for name, value in page.attributes if name in ("src", "href", "xlink:href", "action", "data")]
    assert all(value.startswith("#") for value in links)
    assert "url(" not in page.text


def test_many_classes_are_drawn_not_written_in_numbers():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 200, 3000)
    guess = np.where(rng.random(3000) < 0.9, truth, (truth + 1) % 200)
    text = made("html", truth, guess, rng.lognormal(0, 1, 3000))
    page = Page(text)
    assert len(text) < 2_000_000
    assert len(page.tags) < 10_000
    table = wmcc.tabulate(truth, guess)
    paths = "".join(value for name, value in page.attributes if name == "d")
    drawn = sum(map(int, re.findall(r"h(\d+)v", paths)))  # cells side by side are drawn as one
    assert drawn == np.count_nonzero(table.n)


def test_many_predictions_stay_within_the_picture():
    document, _ = build(([0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9, None, None), Asked(progress=False), {})
    found, names = document.found, [f"model {k}" for k in range(40)]
    (score,), (curve,) = found.scores.values(), found.curves.values()
    leads = {(names[0], other): None for other in names[1:]}
    many = replace(found, scores=dict.fromkeys(names, score), curves=dict.fromkeys(names, curve), leads=leads)
    drawn = funnel(many)
    _, _, width, height = map(float, drawn.picture.get("viewBox").split())
    assert drawn.grid["x"] == sorted(drawn.grid["x"])
    assert drawn.grid["x"][-1] - drawn.grid["x"][0] > width / 4
    shown = [x for x in drawn.picture.iter("text") if "model" in (x.text or "")]
    places = [float(x.get("y")) for x in shown]
    assert len(places) == 40
    assert all(b - a >= 12 for a, b in pairwise(places))
    assert min(places) > 0
    assert max(places) < height
    assert max(float(x.get("cx")) for x in drawn.picture.iter("circle")) < drawn.grid["x"][0]


@pytest.mark.parametrize("unit", [1e308, 5e-324])
def test_weights_that_add_up_beyond_float64_have_the_same_shares(unit):
    truth, guess = [0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9
    usual, extreme = (Page(made("html", truth, guess, [w] * 36)) for w in (1.0, unit))
    for name in ("style", "d"):
        assert [x for k, x in extreme.attributes if k == name] == [x for k, x in usual.attributes if k == name]
    shares = [re.findall(r"[+−-]?[\d.]+ %", page.text) for page in (usual, extreme)]
    assert shares[0] == shares[1]
    assert "nan" not in extreme.text.partition("Confusion table")[2].partition("How to read")[0]


# ---- refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eps": 1.5}, r"eps is 1.5; expected a share of the weights, at least 0 and below 1"),
        ({"eps": "much"}, "eps is 'much'"),
        ({"measure": "f1"}, "'f1' is a number per class"),
        ({"threshold": 7}, "threshold is 7.0; MCC lies between -1 and 1"),
        ({"confidence_level": 95}, "confidence_level is 95"),
        ({"title": 7}, "title is a int; expected a text"),
        ({"options": {"zero_division": 1.0}}, "a report counts what is undefined as 0, and says so"),
        ({"names": ["only"]}, "names= are those of several predictions, and there is one"),
    ],
)
def test_bad_requests_get_a_sentence(change, message):
    with pytest.raises((wmcc.InputError, wmcc.InputTypeError), match=message):
        made("html", [0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9, **change)


def test_bad_data_get_a_sentence():
    truth, joint = [0, 1, 2, 0] * 9, wmcc.joint_table([0, 1], [0, 1], [1, 1])
    for data, asked, message in (
        ((truth, truth), {"measure": "mcc"}, "MCC is for two classes; this table has 3"),
        ((truth, {}), {}, "the dict of predictions is empty"),
        (({"x": joint, "y": joint.first},), {}, "expected a dict of joint tables, one per cluster"),
    ):
        with pytest.raises((wmcc.InputError, wmcc.InputTypeError), match=message):
            made("html", *data, **asked)


def test_numbers_and_names_of_any_kind_are_written():
    written = forms([0, 1, 1, 0] * 9, {7: [0, 1, 0, 0] * 9}, threshold=np.float32(0.5))
    found = json.loads(written("json"))
    assert (found["names"], found["threshold"]) == (["7"], 0.5)
    assert "0.5" in written("html")


def test_labels_that_are_never_true_are_noticed():
    truth, misspelt, other = ["oak", "elm"] * 20, ["oak", "elmm"] * 20, ["1.5", "2.5"] * 20
    assert "- predicted, but never true: 'elmm'.\n" in made("markdown", truth, misspelt)
    assert "- no label that is predicted is ever true: is it the right column?\n" in made("markdown", truth, other)
    assert "never true" not in made("markdown", truth, truth[::-1])


def test_a_column_of_numbers_is_refused():
    numbers = list(range(10_001))
    with pytest.raises(wmcc.InputError, match=r"there are 10,001 classes; a report is about 10,000 at most"):
        made("html", numbers, numbers)


def test_equal_weights_are_called_so():
    truth, guess = [0, 1] * 30, [0, 1, 1] * 20
    assert "All rows weigh the same." in made("markdown", truth, guess)
    assert "All rows weigh the same." not in made("markdown", truth, guess, [1.0, 2.0] * 30)


def test_a_report_says_where_the_search_for_a_lead_stopped(monkeypatch):
    """With one box a lead by much is not decided."""
    monkeypatch.setattr("wmcc.robustness.ranking.TOLERANCE", 1e-3)
    monkeypatch.setattr(findings, "_nodes", lambda *size: 1)
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 5, 300)
    a, b = (np.where(rng.random(300) < right, truth, rng.integers(0, 5, 300)) for right in (0.9, 0.4))
    written = forms(truth, {"a": a, "b": b}, rng.lognormal(0, 1, 300))
    lead = json.loads(written("json"))["pairs"][0]["lead"]
    assert lead["stopped"]
    assert lead["safe"] < lead["broken"]
    for form in ("html", "markdown"):
        text = re.sub(r"\s+", " ", written(form))
        assert f"±{share(lead['safe'])} †" in text
        assert "†: the search for a proof stopped at its limit of boxes; the lead may hold for larger changes" in text


def test_the_boxes_of_all_leads_together_are_limited(monkeypatch):
    monkeypatch.undo()
    assert findings._nodes(10) == findings.NODES
    assert findings._nodes(10, 30) * 30 <= findings.LEADS
    assert findings._nodes(10**6, 30) == 5


def test_equals_have_no_lead():
    written = made("markdown", [0, 1, 1, 0] * 5, {"a": [0, 1, 1, 0] * 5, "b": [0, 1, 1, 0] * 5})
    assert "no lead" in written

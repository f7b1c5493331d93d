"""The report: what it says is what the library says, in all three forms, and nothing in a label is markup."""

import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from report_helpers import ASKED, NODES, as_json, forms, made, quick

import wmcc
from wmcc.report.charts import funnel
from wmcc.report.write import build
from wmcc.text import decimal, outward

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
        assert " to ".join(outward(expected[0.05].low, expected[0.05].high)) in form
        assert found["verdict"][0].partition(",")[0] in form
        assert wmcc.MEASURES[measure].formula.split(" ")[0] in form.replace("\\", "")


def test_sections_are_the_same_in_html_and_markdown():
    written = forms(str(SAMPLE), "label", ["pred", "pred_b", "pred_c"], "area")
    heads = re.findall(r"^#{2,3} (.*)$", written("markdown"), re.M)
    shown = re.findall(r"<h[23] id=\"[^\"]*\">([^<]*)</h", written("html"))
    assert [x.replace("\\", "") for x in heads] == shown
    assert {"Scores", "Who leads", "Weights", "Warnings", "How to read this", "How it was made"} <= set(shown)


def test_clusters_are_those_of_the_library():
    found = as_json(str(SAMPLE), "label", "pred", "area", cluster="region")["predictions"][0]
    expected = wmcc.interval(str(SAMPLE), "label", "pred", "area", cluster="region")
    assert found["clusters"] == 3
    assert found["intervals"]["ecc"]["low"] == pytest.approx(expected.low, nan_ok=True)
    both = as_json(str(SAMPLE), "label", ["pred", "pred_b"], "area", cluster="region")
    assert both["pairs"][0]["clusters"] == 3


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


# ---- how it was made ------------------------------------------------------------------------------------------


def test_it_says_how_it_was_made(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    path = wmcc.write_report(
        tmp_path / "r.json", SAMPLE, "label", "pred", "area", command="make report", title="Fields"
    )
    found = json.loads(Path(path).read_text())
    assert found["title"] == "Fields"
    how = found["made"]
    assert (how["command"], how["time"]) == ("make report", "1970-01-01 00:00 UTC")
    assert how["inputs"] == [
        {"name": str(SAMPLE), "size": SAMPLE.stat().st_size, "sha256": hashlib.sha256(SAMPLE.read_bytes()).hexdigest()}
    ]
    assert how["versions"]["NumPy"] == np.__version__
    stored = wmcc.tabulate(SAMPLE, "label", "pred", "area")
    assert how["tables"]["pred"] == hashlib.sha256(stored.to_json().encode()).hexdigest()
    again = wmcc.write_report(tmp_path / "s.html", SAMPLE, "label", "pred", "area")
    assert Path(again).read_text() == made("html", str(SAMPLE), "label", "pred", "area")


def test_many_files_have_one_hash(tmp_path):
    text = "label,pred\n" + "a,a\nb,b\na,b\n" * 20
    for k in range(25):
        (tmp_path / f"{k:02}.csv").write_text(text)
    (found,) = as_json(str(tmp_path), "label", "pred")["made"]["inputs"]
    assert found["name"] == "25 files, in the order of their names"
    assert found["sha256"] == hashlib.sha256(25 * text.encode()).hexdigest()


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
    drawn = sum(len(re.findall("M", value)) for name, value in page.attributes if name == "d")
    assert drawn == np.count_nonzero(table.n)


def test_many_predictions_stay_within_the_picture():
    document, _ = build(([0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9, None, None), ASKED, {})
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
        (({"x": joint, "y": joint.first},), {}, "expected a dict of tables or of joint tables"),
    ):
        with pytest.raises((wmcc.InputError, wmcc.InputTypeError), match=message):
            made("html", *data, **asked)


def test_numbers_and_names_of_any_kind_are_written():
    written = forms([0, 1, 1, 0] * 9, {7: [0, 1, 0, 0] * 9}, threshold=np.float32(0.5))
    found = json.loads(written("json"))
    assert (found["names"], found["threshold"]) == (["7"], 0.5)
    assert "0.5" in written("html")


def test_bad_places_get_a_sentence(tmp_path):
    with pytest.raises(wmcc.InputError, match=r"'report.pdf' has no ending that says its format; expected .html"):
        wmcc.write_report("report.pdf", [0, 1], [0, 1])
    with pytest.raises(wmcc.InputError, match=r"format is 'pdf'; expected 'html', 'markdown' or 'json'"):
        wmcc.write_report("report.html", [0, 1], [0, 1], format="pdf")
    with pytest.raises(wmcc.InputError, match="the output has no name"):
        wmcc.write_report("", [0, 1], [0, 1], format="html")
    with pytest.raises(wmcc.InputError, match="there is no folder"):
        wmcc.write_report(tmp_path / "none" / "r.html", [0, 1], [0, 1])
    with pytest.raises(wmcc.InputError, match="nothing to score"):
        wmcc.write_report(tmp_path / "r.html", [0, 1], [0, 1], [0.0, 0.0])
    assert not (tmp_path / "r.html").exists()
    data = tmp_path / "data.csv"
    data.write_text("label,pred\n" + "a,a\nb,b\n" * 20)
    for place in (data, tmp_path):
        with pytest.raises(wmcc.InputError, match="is the file that is read; it would be lost"):
            wmcc.write_report(data, place, "label", "pred", format="html")
    wmcc.write_report(tmp_path / "page", [0, 1] * 20, [0, 1] * 20, format="markdown")
    assert (tmp_path / "page").read_text().startswith("# Report on a classifier")

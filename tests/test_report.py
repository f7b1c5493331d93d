"""The report: what it says is what the library says, in all three forms, and nothing in a label is markup."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers import few
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.demo import make_map
from wmcc.markdown import escaped
from wmcc.report import findings
from wmcc.report.charts import funnel
from wmcc.report.write import Asked, build, render
from wmcc.text import decimal, share

SAMPLE = Path(wmcc.__file__).parent / "data" / "parcels.csv"
NODES = 5
NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a & b | c",
    "</script>",
    "snow\u2603\x1b[31m\n",
]


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Few values of ε, and little work for each: what is certified is true whenever the search stops."""
    monkeypatch.setattr(findings, "GRID", (0.0, 0.05, 0.1, 0.3, 0.5))
    monkeypatch.setattr(findings, "NODES", NODES)
    monkeypatch.setattr("wmcc.robustness.ranking.TOLERANCE", 0.2)


def made(form, *data, **asked):
    return forms(*data, **asked)(form)


def forms(*data, **asked):
    """What writes a report in any form, once it is built."""
    data = (*data, *[None] * (4 - len(data)))
    options, title = asked.pop("options", {}), asked.pop("title", None)
    built = build(data, Asked(**asked, progress=False), options, title)
    return lambda form: render(form, *built)


def as_json(*data, **asked):
    return json.loads(made("json", *data, **asked))


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


# ---- the answer -------------------------------------------------------------------------------------------


def test_the_answer_names_the_winner_how_far_weights_may_be_off_and_how_likely_chance_is():
    land = make_map()
    both = {"A": land.careless_with_small, "B": land.careless_with_large}
    found = as_json(land.truth, both, land.area)
    ranking = wmcc.certify_ranking(land.truth, *both.values(), land.area, measure="mcc", nodes=NODES)
    assert found["verdict"] == [
        f"A beats B, 0.9535 against 0.1484 in MCC; this holds for any reweighting up to ±{share(ranking.radius.safe)}, "
        "and p < 0.0001."
    ]
    assert found["pairs"][0]["lead"]["safe"] == ranking.radius.safe
    swapped = as_json(wmcc.joint_table(land.truth, *both.values(), land.area).swapped(), names=["B", "A"])
    assert swapped["verdict"] == found["verdict"]


def test_the_answer_says_where_chance_could_have_done_it():
    sentence = as_json(str(SAMPLE), "label", ["pred", "pred_c"], "area")["verdict"][0]
    assert sentence.startswith(
        "pred leads pred_c, 0.9017 against 0.8983 in ECC (R_K), but chance could have done it: p = "
    )
    assert "not to be relied on" in sentence


def test_the_answer_about_one_has_both_uncertainties():
    table = wmcc.Table.from_counts([[300, 30], [20, 250]])
    sentences = as_json(table, threshold=0.7)["verdict"]
    low, high = (decimal(x) for x in (wmcc.interval(table, "mcc").low, wmcc.interval(table, "mcc").high))
    certificate = wmcc.certify(table, "mcc", 0.1)
    assert sentences[0] == (
        f"MCC is {decimal(wmcc.mcc(table))}: {low} to {high} if other rows had been drawn (95 % interval), "
        f"and {decimal(certificate.low)} to {decimal(certificate.high)} for any reweighting up to ±10 %."
    )
    kept = share(wmcc.radius(table, "mcc", threshold=0.7, tolerance=1e-3, nodes=NODES).safe)
    assert sentences[1] == f"MCC is at least 0.7 for any reweighting up to ±{kept}."


def test_the_answer_for_equals_and_for_what_cannot_be_scored():
    truth, guess = [0, 1, 1, 0] * 20, [0, 1, 0, 0] * 20
    assert as_json(truth, {"a": guess, "b": guess})["verdict"][0] == "a and b score the same: 0.5774 in MCC."
    same = [0] * 80
    nothing = as_json(truth, {"a": guess, "b": same})["verdict"]
    assert nothing == ["a and b cannot be compared: MCC is undefined for b."]
    assert as_json(truth, {"a": same, "b": same})["verdict"] == [
        "a and b cannot be compared: MCC is undefined for a and b."
    ]
    assert as_json(truth, [0] * 80)["verdict"][0].startswith("MCC is undefined here, and counts as 0.0000: ")


def test_the_answer_about_several_names_the_leader_and_the_weakest_lead():
    found = as_json(str(SAMPLE), "label", ["pred", "pred_b", "pred_c"], "area")
    leads = {tuple(p["names"]): p["lead"]["safe"] for p in found["pairs"] if p["lead"]}
    assert set(leads) == {("pred", "pred_b"), ("pred", "pred_c")}
    assert found["verdict"][1].endswith(f"it leads all for any reweighting up to ±{share(min(leads.values()))}.")


def test_the_answer_about_several_claims_no_lead_that_is_not_there():
    truth, guess, worse = [0, 1, 1, 0] * 20, [0, 1, 0, 0] * 20, [0, 1, 0, 1] * 20
    assert as_json(truth, {"a": worse, "b": guess, "c": guess})["verdict"] == [
        "b and c score the same: 0.5774 in MCC.",
        "b is told apart from a; that it leads all is not certain for any reweighting.",
    ]
    assert as_json(truth, {"a": worse, "b": guess, "c": [0] * 80})["verdict"][1] == (
        "b is told apart from a; MCC is undefined for c."
    )


@pytest.mark.parametrize(
    ("guesses", "answer"),
    [
        # Two at the top are equal: neither leads all.
        ({"a": 0.8, "b": 0.8, "c": 0.4}, ["a and b score the same", "that it leads all is not certain"]),
        # What is undefined counts as 0, and yet nobody leads it, or is as good.
        ({"a": 0.9, "b": 0.6, "c": None}, ["a beats b", "MCC is undefined for c"]),
        ({"a": 0.2, "b": 0.1, "c": None}, ["a beats b", "MCC is undefined for c"]),
        ({"a": None, "b": None}, ["a and b cannot be compared: MCC is undefined for a and b."]),
        ({"a": 0.5, "b": None}, ["a and b cannot be compared: MCC is undefined for b."]),
    ],
)
def test_the_answer_claims_no_lead_over_equals_or_over_what_is_undefined(guesses, answer):
    """Of each guess: the share of rows that are right, or None for one class throughout."""
    truth = np.arange(200) % 2
    wrong = np.arange(200) // 2 / 100
    made = {name: 0 * truth if p is None else np.where(wrong < p, truth, 1 - truth) for name, p in guesses.items()}
    found = as_json(truth, made)["verdict"]
    assert len(found) == len(answer)
    for sentence, part in zip(found, answer, strict=True):
        assert part in sentence


def test_a_weight_matrix_is_not_why_a_score_is_undefined():
    (sentence,) = as_json([0, 1, 1], [0, 0, 0], np.ones((3, 3)))["verdict"]
    assert sentence == "MCC is undefined here, and counts as 0.0000: it divides by zero."


@few(50)
@given(st.floats(1e-6, 0.9999))
def test_a_share_is_never_rounded_up(x):
    said = float(share(x).removesuffix(" %").replace(",", "")) / 100
    assert said <= x * (1 + 1e-9)
    assert said > 0.9 * x


@pytest.mark.parametrize(("eps", "said"), [(0.29, "±29 %"), (0.123456789, "±12.3456 %"), (0.9999999999, "±99.9999 %")])
def test_an_eps_is_never_rounded_up(eps, said):
    written = forms([0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9, eps=eps)
    assert json.loads(written("json"))["verdict"][0].endswith(f"for any reweighting up to {said}.")
    assert f'class="eps-shown">{said}</span>' in written("html")
    assert f"| weights off by up to {said.removeprefix('±')} |" in written("markdown")


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
        assert f"{decimal(expected[0.05].low)} to {decimal(expected[0.05].high)}" in form
    for sentence in (*found["verdict"], wmcc.MEASURES[measure].formula):
        assert sentence in page
        assert escaped(sentence) in text


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

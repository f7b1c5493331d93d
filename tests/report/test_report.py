"""The report: what it says is what the library says, in all three forms, and nothing in a label is markup."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from paths import SAMPLE
from report_helpers import NODES, as_json, forms, made, quick

import wmcc
import wmcc.measures
from wmcc.errors import InputError, InputTypeError, LabelWarning
from wmcc.present.markdown import escaped
from wmcc.present.text import decimal, share
from wmcc.report import findings
from wmcc.report.charts import funnel
from wmcc.report.write import ReportOptions, build

_quick = pytest.fixture(autouse=True)(quick)


def sample(*preds, **options):
    pred = dict(zip(preds, preds, strict=True)) if len(preds) > 1 else preds[0]
    return wmcc.tabulate(SAMPLE, true="label", pred=pred, weight="area", progress=False, **options)


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


@pytest.mark.parametrize("measure", wmcc.measures.MEASURES)
def test_all_forms_say_what_the_library_says(measure):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 300)
    a, b = (np.where(rng.random(300) < p, truth, rng.integers(0, 2, 300)) for p in (0.8, 0.5))
    joint = wmcc.tabulate(truth, {"a": a, "b": b}, rng.lognormal(0, 1, 300))
    written = forms(joint, measure=measure)
    found = json.loads(written("json"))
    certified = {x["eps"]: (x["low"], x["high"]) for x in found["predictions"][0]["certified"]}
    expected = {eps: wmcc.certify(joint["a"], measure, eps=eps, nodes=NODES) for eps in (0.05, 0.5)}
    for eps, certificate in expected.items():
        assert certified[eps] == (certificate.low, certificate.high)
    scores = {name: wmcc.score(table).fields() for name, table in joint.tables.items()}
    for own in found["predictions"]:
        assert {name: own[name] for name in scores["a"]} == scores[own["name"]]
    comparison = wmcc.compare(joint, measure)
    assert {**found["pairs"][0], "lead": None} == {**comparison.only.fields(), "lead": None, "bounded": None}
    page, text = Page(written("html")).text, written("markdown")
    for form in (page, text):
        assert decimal(comparison.value) in form
        assert " to ".join(expected[0.05].ends) in form
        assert found["verdict"][0].partition(",")[0] in form
        assert wmcc.measures.MEASURES[measure].formula.split(" ")[0] in form.replace("\\", "")


def test_sections_are_the_same_in_html_and_markdown():
    written = forms(sample("pred", "pred_b", "pred_c"))
    heads = re.findall(r"^#{2,3} (.*)$", written("markdown"), re.M)
    shown = re.findall(r"<h[23] id=\"[^\"]*\">([^<]*)</h", written("html"))
    assert [x.replace("\\", "") for x in heads] == shown
    assert {"Scores", "Who leads", "Weights", "Warnings", "How to read this", "How it was made"} <= set(shown)


def test_scores_say_how_many_rows_they_are_of():
    text = made("markdown", sample("pred", ignore="water"))
    assert "Scores of 304 rows" in text
    assert "304 rows, 56 ignored" in text
    assert "all rows" not in text


def test_two_classes_have_one_row_for_equal_measures():
    text = made("markdown", wmcc.tabulate([0, 1, 1, 0] * 9, {"a": [0, 1, 0, 0] * 9, "b": [0, 1, 1, 0] * 9}))
    table = text.partition("## Scores")[2].partition("##")[0]
    assert re.findall(r"^\| (MCC|ECC|MPC1|MPC2)\b", table, re.M) == ["MCC"]
    assert table.count("With two classes ECC (R\\_K), MPC1 and MPC2 are equal to MCC.") == 1


def test_an_asterisk_is_explained_below_each_table():
    sentence = "* Unreliable, or not estimable: the warnings at the end of the report say why."
    written = forms(sample("pred", "pred_b"))
    page, text = written("html"), written("markdown")
    for title in ("Scores of 360 rows", "ECC (R_K) and how far it may be off"):
        after = page.partition(f"<caption>{title}</caption>")[2]
        table, _, rest = after.partition("</table></div>")
        assert "\u00a0*</td>" in table or " *</td>" in table
        assert sentence in re.match(r'(<p class="notes">.*?</p>)+', rest)[0]
    assert text.count(f"\n{escaped(sentence)}\n") == 2
    reliable = np.arange(3000) % 3
    calm = made("markdown", wmcc.tabulate(reliable, np.where(np.arange(3000) % 7, reliable, 0)))
    assert escaped(sentence) not in calm


def test_few_degrees_of_freedom_are_beside_their_intervals():
    one, two, three = (sample(*["pred", "pred_b", "pred_c"][:k]) for k in (1, 2, 3))
    for table, heads in ((one, ["Value", "95 % interval", "df"]), (two, ["pred", "95 % interval", "df"])):
        text = made("markdown", table)
        assert f"\n| Measure | {' | '.join(heads)} |" in text
        assert "**df** — Degrees of freedom" in text
    assert "Degrees of freedom (df) of the intervals" in made("markdown", three)
    rows = np.arange(3000) % 3
    assert not re.search(r"\bdf\b", made("markdown", wmcc.tabulate(rows, np.where(np.arange(3000) % 7, rows, 0))))


def test_ranges_that_overlap_are_no_contradiction():
    sentence = "One prediction can lead for certain though they overlap"
    assert sentence in made("markdown", sample("pred", "pred_b"))
    assert sentence not in made("markdown", sample("pred"))


def test_notes_and_warnings_say_whose_they_are():
    truth = [1, *[2] * 8] * 5
    guesses = {"a": [1, *[0] * 8] * 5, "b": [1, 2, *[0] * 7] * 5, "c": [2] * 45}
    joint = wmcc.tabulate(truth, guesses)
    score = wmcc.score(joint["a"])
    text = made("markdown", joint)
    assert escaped(f"a: {score.disagreement}") in text
    for warning in score.warnings:
        assert f"- {escaped('a: ' + warning.removeprefix('* '))}\n" in text
    assert "- Differences: Intervals" in text
    assert "- c: ECC (R\\_K) is undefined, and counts as 0." in text
    alone = made("markdown", joint["a"])
    assert f"\n\n{escaped(score.disagreement)}\n" in alone
    assert f"- {escaped(score.warnings[0].removeprefix('* '))}\n" in alone
    assert ".." not in alone + text


def test_clusters_are_those_of_the_library():
    found = as_json(sample("pred", cluster="region"))["predictions"][0]
    expected = wmcc.interval(sample("pred", cluster="region"))
    assert found["clusters"] == 3
    assert found["intervals"]["ecc"]["low"] == pytest.approx(expected.low, nan_ok=True)
    both = as_json(sample("pred", "pred_b", cluster="region"))
    assert both["pairs"][0]["clusters"] == 3


def test_what_has_a_table_can_be_given():
    table = wmcc.tabulate([0, 1, 1, 0, 1, 0] * 10, [0, 1, 0, 0, 1, 0] * 10)
    stream = wmcc.Accumulator()
    stream.update([0, 1, 1, 0, 1, 0] * 10, [0, 1, 0, 0, 1, 0] * 10)
    expected = as_json(table)["verdict"]
    assert as_json(wmcc.score(table))["verdict"] == as_json(stream)["verdict"] == expected
    for data in ([0, 1, 1], {"a": table}, wmcc.tabulate([0, 1], [0, 1], by=[0, 1])):
        with pytest.raises(InputTypeError, match="expected a Table"):
            as_json(data)


@pytest.mark.parametrize("cluster", [None, np.arange(60) // 6])
def test_all_predictions_are_scored_on_the_classes_of_all(cluster):
    truth, a, b = [0, 1, 1, 0] * 15, [0, 1, 0, 0] * 15, [0, 1, 1, 0, 1, 0] * 10
    joint = wmcc.tabulate(truth, {"a": a, "b": b, "c": [0, 1, 2, 0] * 15}, cluster=cluster)
    found = as_json(joint, measure="mpc2")
    for prediction in found["predictions"]:
        assert prediction["measures"]["mpc2"] == wmcc.mpc2(joint[prediction["name"]])
        assert len(prediction["classes"]) == 3
    assert found["pairs"][0]["values"] == [wmcc.mpc2(joint[name]) for name in "ab"]


# ---- labels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [5, 26])
def test_nothing_in_a_label_is_markup(classes):
    names = np.array([*NASTY, *(f"class {k}" for k in range(classes - 5))], dtype=object)
    rng = np.random.default_rng(1)
    truth, guess = rng.integers(0, classes, (2, 120))
    labels = {name: names[np.where(rng.random(120) < 0.6, truth, guess)] for name in NASTY[:2]}
    written = forms(wmcc.tabulate(names[truth], labels), at_least=0.1)
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
        written = forms(wmcc.tabulate(truth, {name: guess, "b": truth}), at_least=0.5)
        for form in ("html", "markdown"):
            text = written(form)
            text.encode()
            assert name not in text
        assert name.encode("unicode_escape").decode() in written("html")


def test_nothing_is_loaded():
    page = Page(made("html", sample("pred", "pred_b")))
    links = [value for name, value in page.attributes if name in ("src", "href", "xlink:href", "action", "data")]
    assert all(value.startswith("#") for value in links)
    assert "url(" not in page.text


def test_many_classes_are_drawn_not_written_in_numbers():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 200, 3000)
    guess = np.where(rng.random(3000) < 0.9, truth, (truth + 1) % 200)
    text = made("html", wmcc.tabulate(truth, guess, rng.lognormal(0, 1, 3000)))
    page = Page(text)
    assert len(text) < 2_000_000
    assert len(page.tags) < 10_000
    table = wmcc.tabulate(truth, guess)
    paths = "".join(value for name, value in page.attributes if name == "d")
    drawn = sum(map(int, re.findall(r"h(\d+)v", paths)))  # cells side by side are drawn as one
    assert drawn == np.count_nonzero(table.n)


def test_many_predictions_stay_within_the_picture():
    document, _ = build(wmcc.tabulate([0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9), ReportOptions(progress=False))
    found, names = document.found, [f"model {k}" for k in range(40)]
    (score,), (curve,) = found.scores.values(), found.curves.values()
    lead = wmcc.radius(score.table, "mcc", at_least=0.1)
    leads = {(names[0], other): lead for other in names[1:]}
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
    usual, extreme = (Page(made("html", wmcc.tabulate(truth, guess, [w] * 36))) for w in (1.0, unit))
    for name in ("style", "d"):
        assert [x for k, x in extreme.attributes if k == name] == [x for k, x in usual.attributes if k == name]
    shares = [re.findall(r"[+−-]?[\d.]+ %", page.text) for page in (usual, extreme)]
    assert shares[0] == shares[1]
    assert "nan" not in extreme.text.partition("Confusion table")[2].partition("How to read")[0]


# ---- bounds of each weight ---------------------------------------------------------------------------------------


def test_weights_within_their_bounds():
    rng = np.random.default_rng(5)
    truth, w = rng.integers(0, 3, 300), rng.lognormal(0, 1, 300)
    a, b = (np.where(rng.random(300) < right, truth, rng.integers(0, 3, 300)) for right in (0.9, 0.85))
    low, joint, high = (wmcc.tabulate(truth, {"<A>": a, "B": b}, w * k) for k in (0.7, 1.0, 1.1))
    written = forms(joint, lower=low, upper=high)
    data = json.loads(written("json"))
    lead = wmcc.certify_ranking(joint.pair("<A>", "B"), lower=low, upper=high, nodes=NODES).only
    for own, name in zip(data["predictions"], joint.names, strict=True):
        one = wmcc.certify(joint[name], lower=low[name], upper=high[name], nodes=NODES)
        assert (own["bounded"]["low"], own["bounded"]["high"], own["bounded"]["model"]) == (one.low, one.high, "bounds")
    assert data["pairs"][0]["bounded"]["low"] == lead.low
    assert data["pairs"][0]["bounded"]["names"] == ["<A>", "B"]
    assert data["verdict"][-1] == f"For weights within their bounds: {lead.verdict}."
    for form in ("html", "markdown"):
        text = re.sub(r"\s+", " ", Page(written(form)).text if form == "html" else written(form))
        for said in (
            "for weights that are off",
            "each weight within its bounds",
            *lead.columns,
            "Each weight also has bounds",
        ):
            assert said in text
        assert "nan" not in text
    one = forms(joint["B"], upper=high["B"])
    ends = " to ".join(wmcc.certify(joint["B"], upper=high["B"], nodes=NODES).ends)
    assert json.loads(one("json"))["verdict"][-1] == f"For all weights within their bounds ECC (R_K) is {ends}."
    assert "Within their bounds" in one("markdown")
    plain = json.loads(forms(joint)("json"))
    assert plain["predictions"][0]["bounded"] is plain["pairs"][0]["bounded"] is None
    assert "their bounds" not in forms(joint)("markdown")


def test_bounds_of_other_rows_are_refused(tmp_path):
    table = wmcc.tabulate([0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9)
    with pytest.raises(InputError, match="the table of `upper` is of other rows") as found:
        wmcc.write_report(tmp_path / "r.md", table, upper=table + table)
    assert found.value.argument == "upper"
    assert not (tmp_path / "r.md").exists()


# ---- refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message", "argument"),
    [
        ({"eps": 1.5}, r"`eps` is 1.5; expected a share of the weights, at least 0 and below 1", "eps"),
        ({"eps": "much"}, "`eps` is 'much'", "eps"),
        ({"measure": "f1"}, "'f1' is a number per class", "measure"),
        ({"at_least": 7}, "`at_least` is 7.0; MCC lies between -1 and 1", "at_least"),
        ({"confidence_level": 95}, "`confidence_level` is 95", "confidence_level"),
        ({"title": 7}, "`title` is 7; expected a text", "title"),
    ],
)
def test_bad_requests_get_a_sentence(change, message, argument):
    with pytest.raises((InputError, InputTypeError), match=message) as found:
        made("html", wmcc.tabulate([0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9), **change)
    assert found.value.argument == argument


def test_mcc_is_for_two_classes():
    with pytest.raises(InputError, match="MCC is for two classes; this table has 3"):
        made("html", wmcc.tabulate([0, 1, 2, 0] * 9, [0, 1, 2, 0] * 9), measure="mcc")


def test_numbers_of_any_kind_are_written():
    written = forms(wmcc.tabulate([0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9), at_least=np.float32(0.5))
    assert json.loads(written("json"))["at_least"] == 0.5
    assert "0.5" in written("html")


def test_labels_that_are_never_true_are_noticed():
    truth, misspelt, other = ["oak", "elm"] * 20, ["oak", "elmm"] * 20, ["1.5", "2.5"] * 20
    assert "- predicted, but never true: 'elmm'.\n" in made("markdown", wmcc.tabulate(truth, misspelt))
    with pytest.warns(LabelWarning, match="no true label is ever predicted"):
        apart = wmcc.tabulate(truth, other)
    assert "- no predicted label occurs among the true labels: check the columns of labels.\n" in made(
        "markdown", apart
    )
    assert "never true" not in made("markdown", wmcc.tabulate(truth, truth[::-1]))


def test_a_column_of_numbers_is_refused():
    numbers = list(range(10_001))
    with pytest.raises(InputError, match=r"there are 10,001 classes; a report takes 10,000 at most"):
        made("html", wmcc.tabulate(numbers, numbers))


def test_equal_weights_are_called_so():
    truth, guess = [0, 1] * 30, [0, 1, 1] * 20
    assert "All rows weigh the same." in made("markdown", wmcc.tabulate(truth, guess))
    assert "All rows weigh the same." not in made("markdown", wmcc.tabulate(truth, guess, [1.0, 2.0] * 30))


def test_a_report_says_where_the_search_for_a_lead_stopped(monkeypatch):
    """With one box a lead by much is not decided."""
    monkeypatch.setattr("wmcc.robustness.ranking.TOLERANCE", 1e-3)
    monkeypatch.setattr(findings, "_nodes", lambda *size: 1)
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 5, 300)
    a, b = (np.where(rng.random(300) < right, truth, rng.integers(0, 5, 300)) for right in (0.9, 0.4))
    written = forms(wmcc.tabulate(truth, {"a": a, "b": b}, rng.lognormal(0, 1, 300)))
    lead = json.loads(written("json"))["pairs"][0]["lead"]
    assert lead["stopped"]
    assert lead["safe"] < lead["broken"]
    for form in ("html", "markdown"):
        text = re.sub(r"\s+", " ", written(form))
        assert f"±{share(lead['safe'])} †" in text
        assert "†: the search for a proof stopped at its limit; the lead may also hold for larger changes" in text


def test_the_boxes_of_all_leads_together_are_limited(monkeypatch):
    monkeypatch.undo()
    assert findings._nodes(10) == findings.NODES
    assert findings._nodes(10, 30) * 30 <= findings.LEADS
    assert findings._nodes(10**6, 30) == 5


def test_equals_have_no_lead():
    written = made("markdown", wmcc.tabulate([0, 1, 1, 0] * 5, {"a": [0, 1, 1, 0] * 5, "b": [0, 1, 1, 0] * 5}))
    assert "no lead" in written

"""How results show in notebooks: HTML that says what the text says, whatever the labels are."""

import re
from functools import cache
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest

import wmcc
from wmcc.present.groups import Groups
from wmcc.published import PublishedBound

LABELS = ["<script>alert(1)</script>", 'a & b "c"', "oak"]
NAMES = ("<b>A</b>", "B&amp;", "C")


def rows(classes, n):
    """True classes, three guesses, and weights."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, classes, n)
    guesses = [np.where(rng.random(n) < share, truth, rng.integers(0, classes, n)) for share in (0.9, 0.6, 0.5)]
    return truth, guesses, np.round(rng.lognormal(1, 1, n), 2)


CODES, GUESSES, W = rows(3, 300)
T, A, B, C = (np.array(LABELS)[codes] for codes in (CODES, *GUESSES))
TABLE, JOINT = wmcc.tabulate(T, A, W), wmcc.tabulate(T, dict(zip(NAMES[:2], (A, B), strict=True)), W)
TWO = wmcc.Table.from_counts([[40, 3], [4, 30]], labels=LABELS[:2])
TWO_JOINT = wmcc.tabulate(CODES < 1, dict(zip(NAMES[:2], (x < 1 for x in GUESSES), strict=False)))
SEVERAL = wmcc.tabulate(T, dict(zip(NAMES, (A, B, C), strict=True)), W)
FEW = wmcc.tabulate(T[:40], {k: y[:40] for k, y in zip(NAMES, (A, B, C), strict=True)}, W[:40])
IMAGES = wmcc.tabulate(T, dict(zip(NAMES, (A, B, C), strict=True)), W, cluster=np.arange(len(T)) % 7)
NOTHING = wmcc.Table.from_counts([[3, 0], [0, 0]], labels=LABELS[:2])

RESULTS = {
    "Table": lambda: TABLE,
    "Table, empty": lambda: wmcc.Table.empty(),
    "Tables": lambda: wmcc.tabulate(T, A, W, by=T),
    "JointTable": lambda: wmcc.tabulate(T[:9], {"A": A[:9], NAMES[0]: B[:9]}, W[:9]),
    "Score": lambda: wmcc.score(TABLE),
    "Score, clusters": lambda: wmcc.score(wmcc.tabulate(T, A, W, cluster=np.arange(len(T)) % 4)),
    "Score, two classes": lambda: wmcc.score(TWO),
    "Score, ranges": lambda: wmcc.score(TWO).with_ranges(0.2),
    "Groups": lambda: wmcc.score(wmcc.tabulate(T, A, W, by=T)),
    "Score, undefined": lambda: wmcc.score(NOTHING, zero_division=float("nan")),
    "Score, images": lambda: wmcc.score(IMAGES["C"]).with_image_means(),
    "ImageScores": lambda: wmcc.image_scores(wmcc.tabulate(T, A, W, cluster=T)),
    "ImageScores, two": lambda: wmcc.image_scores(IMAGES, "mpc2", worst=2),
    "Interval": lambda: wmcc.interval(TABLE, "mpc2"),
    "Interval, unreliable": lambda: wmcc.interval(wmcc.tabulate(T[:9], A[:9], W[:9])),
    "Interval, none": lambda: wmcc.interval(NOTHING),
    "Comparison": lambda: wmcc.compare(JOINT, margin=0.1),
    "Comparison, three": lambda: wmcc.compare(FEW),
    "Comparison, samples": lambda: wmcc.compare({"before": TABLE, NAMES[0]: TABLE}, sample="independent"),
    "Diagnosis": lambda: wmcc.diagnose(TABLE, n_eff=1e6),
    "Certificate": lambda: wmcc.certify(TABLE, "ecc", eps=0.1, nodes=3),
    "Certificate, undefined": lambda: wmcc.certify(NOTHING, "mcc"),
    "Certificate, unmet": lambda: wmcc.certify(
        wmcc.Table.from_counts([[5, 1], [1, 1]]), "mcc", eps=3, model="absolute"
    ),
    "Curve": lambda: wmcc.certify_curve(TWO, "mcc", eps=[0.1, 0.2]),
    "TrimmingCurve": lambda: wmcc.certify_trimming(TABLE, caps=[20.0, 3.0], nodes=3),
    "TrimmingCurve, undefined": lambda: wmcc.certify_trimming(NOTHING, "mcc", caps=[0.5]),
    "Radius": lambda: wmcc.radius(TWO, "mcc", at_least=0.7),
    "Radius, none": lambda: wmcc.radius(TWO, "mcc", at_least=0.99),
    "Radius, ranking": lambda: wmcc.certify_ranking(TWO_JOINT, "mcc", nodes=3).radius,
    "Ranking": lambda: wmcc.certify_ranking(JOINT, nodes=3),
    "Ranking, three": lambda: wmcc.certify_ranking(SEVERAL, nodes=3),
    "Ranking, bounds": lambda: wmcc.certify_ranking(JOINT, nodes=3, lower=JOINT),
    "Ranking, radii": lambda: wmcc.certify_ranking(TWO_JOINT, "mcc", nodes=3).with_radii(),
    "Sensitivity": lambda: wmcc.sensitivity(TABLE),
    "Sensitivity, undefined": lambda: wmcc.sensitivity(NOTHING),
    "Uncertainty": lambda: wmcc.uncertainty(TWO, "mcc"),
    "Uncertainty, two": lambda: wmcc.uncertainty(TWO_JOINT, "mcc"),
    "MapAccuracy": lambda: wmcc.map_accuracy(
        wmcc.tabulate(T, A, stratum=A, population=dict.fromkeys(LABELS, 500)), unit="ha"
    ),
    "MapAccuracy, undefined": lambda: wmcc.map_accuracy(NOTHING),
    "Estimate": lambda: wmcc.map_accuracy(TABLE)[LABELS[0]].area,
    "SamplePlan": lambda: wmcc.plan_sample(dict.fromkeys(LABELS, 0.9), dict.fromkeys(LABELS, 500), se=0.02),
    "Uncertainty, bounds": lambda: wmcc.uncertainty(TWO_JOINT, "mcc", upper=TWO_JOINT),
    "PublishedBound": lambda: wmcc.published.binary(TWO, 0.01),
    "MatrixScore": lambda: wmcc.matrices.score([0, 0, 1, 1], [0, 0, 0, 1], wmcc.matrices.grid((1, 4))),
    "MatrixCheck": lambda: wmcc.matrices.check([[1, 2], [2, 1]]),
    "ErrorMap": lambda: wmcc.error_map(T[:90].reshape(9, 10), A[:90].reshape(9, 10), of=LABELS[0]),
    "Separation": lambda: wmcc.experiments.separation(3, n=12, repetitions=2),
}
"""One of every kind, with markup in labels and names, and with warnings."""


@cache
def made(name):
    return RESULTS[name]()


INSIDE = {
    "table": {""}, "caption": {"table"}, "thead": {"table"}, "tbody": {"table"}, "tr": {"thead", "tbody"},
    "th": {"tr"}, "td": {"tr"}, "p": {""},
}  # fmt: skip
"""What each tag may be in."""


class Page(HTMLParser):
    """Reads HTML strictly: each tag is known, closed in its turn, and holds nothing that runs, clashes or colours."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.path, self.tags, self.words = [], [], []
        self.feed(text)
        self.close()
        assert not self.path

    def handle_starttag(self, tag, attrs):
        assert (self.path[-1] if self.path else "") in INSIDE[tag]
        if tag == "th":
            assert dict(attrs)["scope"] == ("col" if "thead" in self.path else "row")
        assert {name for name, _ in attrs} <= {"scope", "style"}
        assert not re.search(r"background|(?<!-)color:(?!inherit)", dict(attrs).get("style", ""))
        self.path.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.path.pop() == tag
        assert tag not in ("th", "p", "caption") or self.words[-1].strip()

    def handle_data(self, data):
        assert self.path[-1] in ("caption", "th", "td", "p")
        self.words.append(data)


def words(text):
    return set(re.findall(r"-?\d[\d,]*\.?\d*(?:e[+-]?\d+)?|[^\W\d]+", text))


@pytest.mark.parametrize("name", RESULTS)
def test_html_says_what_the_text_says(name):
    found = made(name)
    html = found._repr_html_()
    page = Page(html)
    assert words(repr(found)) <= words("\n".join(page.words))
    assert page.tags.count("caption") == page.tags.count("table")
    assert page.tags[0] == "p" or page.tags[1] == "caption"  # what it is comes first
    for odd in (*LABELS, *NAMES):
        assert (escape(odd) in html) >= (odd in repr(found))
    for why in (*getattr(found, "warnings", ()), getattr(found, "problem", None) or ""):
        assert escape(why.rpartition(": ")[2]) in html  # where it holds is said once for all


def test_every_public_result_is_tested():
    public = {thing for name in wmcc.__all__ if isinstance(thing := getattr(wmcc, name), type)}
    text_is_enough = {wmcc.Accumulator, wmcc.Measure, wmcc.Raster, *(x for x in public if issubclass(x, Exception))}
    parts = {thing for thing in public if thing.__name__ in ("Difference", "Lead")}  # of a comparison, of a ranking
    others = {Groups, PublishedBound, wmcc.matrices.MatrixCheck, wmcc.matrices.MatrixScore, wmcc.experiments.Separation}
    assert {type(made(name)) for name in RESULTS} == (public - text_is_enough - parts) | others


def test_numbers_stand_to_the_right_and_headings_to_the_left():
    html = wmcc.certify(TWO, "mcc", eps=0.1)._repr_html_()
    assert html.startswith('<table style="text-align:right')
    assert re.findall('<th scope="row" style="text-align:(.*?)">lowest</th><td>', html) == ["left"]


@pytest.mark.parametrize(
    ("show", "left_out"),
    [
        (lambda t, a, b: wmcc.tabulate(t, a), r"Shown are the 20 heaviest of \d+ cells"),
        (lambda t, a, b: wmcc.tabulate(t, {"a": a, "b": b}), r"Shown are the 20 heaviest of \d,\d{3} cells"),
        (lambda t, a, b: wmcc.score(t, a), "Shown are the 50 heaviest of 200 classes"),
        (lambda t, a, b: wmcc.diagnose(wmcc.tabulate(t, a)), "Shown are the 50 heaviest of 200 classes"),
        (lambda t, a, b: wmcc.sensitivity(wmcc.tabulate(t, a)), r"… and \d+ more cells"),
    ],
    ids=["Table", "JointTable", "Score", "Diagnosis", "Sensitivity"],
)
def test_many_classes_make_no_long_page(show, left_out):
    truth, (a, b, _), _ = rows(200, 4000)
    html = show(truth, a, b)._repr_html_()
    assert len(html) < 60_000
    assert html.count("<tr>") < 65
    assert re.search(rf"<p>{left_out}; CSV and JSON have all\.</p>", html)

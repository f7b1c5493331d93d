"""How results show in notebooks: HTML that says what the text says, whatever the labels are."""

import re
from functools import cache
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest

import wmcc
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
TABLE, JOINT = wmcc.tabulate(T, A, W), wmcc.joint_table(T, A, B, W)
TWO = wmcc.Table.from_counts([[40, 3], [4, 30]], labels=LABELS[:2])
TWO_JOINT = wmcc.joint_table(*(codes < 1 for codes in (CODES, *GUESSES[:2])))
SEVERAL = dict(zip(NAMES, (A, B, C), strict=True))

RESULTS = {
    "Table": lambda: TABLE,
    "Table, empty": lambda: wmcc.Table.empty(),
    "Tables": lambda: wmcc.tabulate(T, A, W, by=T),
    "JointTable": lambda: wmcc.joint_table(T[:9], A[:9], B[:9], W[:9]),
    "Score": lambda: wmcc.score(TABLE),
    "Score, clusters": lambda: wmcc.score(T, A, W, cluster=np.arange(len(T)) % 4),
    "Interval": lambda: wmcc.interval(TABLE, "mpc2"),
    "Interval, unreliable": lambda: wmcc.interval(wmcc.tabulate(T[:9], A[:9], W[:9])),
    "Interval, none": lambda: wmcc.interval(wmcc.Table.from_counts([[3, 0], [0, 0]], labels=LABELS[:2])),
    "Comparison": lambda: wmcc.compare(JOINT, names=NAMES[:2], margin=0.1),
    "Comparisons": lambda: wmcc.compare(T[:40], {k: y[:40] for k, y in SEVERAL.items()}, sample_weight=W[:40]),
    "Diagnosis": lambda: wmcc.diagnose(TABLE, n_eff=1e6),
    "Diagnosis, weights": lambda: wmcc.diagnose([1, 1, 1, 96]),
    "Certificate": lambda: wmcc.certify(TABLE, "ecc", 0.1, nodes=3),
    "Certificate, undefined": lambda: wmcc.certify(wmcc.Table.from_counts([[5, 1], [1, 1]]), "mcc", 3, "absolute"),
    "Curve": lambda: wmcc.certify(TWO, "mcc", [0.1, 0.2]),
    "Radius": lambda: wmcc.radius(TWO, "mcc", threshold=0.7),
    "Radius, ranking": lambda: wmcc.certify_ranking(TWO_JOINT, "mcc", names=NAMES[:2], nodes=3).radius,
    "Ranking": lambda: wmcc.certify_ranking(JOINT, names=NAMES[:2], nodes=3),
    "Rankings": lambda: wmcc.certify_ranking(T, SEVERAL, sample_weight=W, nodes=3),
    "Sensitivity": lambda: wmcc.sensitivity(TABLE),
    "Uncertainty": lambda: wmcc.uncertainty(TWO, "mcc"),
    "Uncertainty, two": lambda: wmcc.uncertainty(TWO_JOINT, "mcc", names=NAMES[:2]),
    "PublishedBound": lambda: wmcc.published.binary(TWO, 0.01),
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
        assert escape(why) in html


def test_every_public_result_is_tested():
    public = {thing for name in wmcc.__all__ if isinstance(thing := getattr(wmcc, name), type)}
    text_is_enough = {wmcc.Accumulator, wmcc.Measure, *(x for x in public if issubclass(x, Exception))}
    assert {type(made(name)) for name in RESULTS} == (public - text_is_enough) | {PublishedBound}


def test_numbers_stand_to_the_right_and_headings_to_the_left():
    html = wmcc.certify(TWO, "mcc", 0.1)._repr_html_()
    assert html.startswith('<table style="text-align:right')
    assert re.findall('<th scope="row" style="text-align:(.*?)">lowest</th><td>', html) == ["left"]


@pytest.mark.parametrize(
    ("show", "left_out"),
    [
        (lambda t, a, b: wmcc.tabulate(t, a), "… the first 50 of 200 classes"),
        (lambda t, a, b: wmcc.joint_table(t, a, b), r"… the first 50 of \d,\d{3} cells"),
        (lambda t, a, b: wmcc.score(t, a), r"… and 170 more classes, in \.classes"),
        (lambda t, a, b: wmcc.diagnose(t, a), "… and 170 more classes"),
        (lambda t, a, b: wmcc.sensitivity(t, a), r"… and \d+ more cells"),
    ],
    ids=["Table", "JointTable", "Score", "Diagnosis", "Sensitivity"],
)
def test_many_classes_make_no_long_page(show, left_out):
    truth, (a, b, _), _ = rows(200, 4000)
    html = show(truth, a, b)._repr_html_()
    assert len(html) < 60_000
    assert html.count("<tr>") < 55
    assert re.search(f"<p>{left_out}</p>", html)

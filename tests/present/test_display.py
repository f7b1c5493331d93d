"""How results show in notebooks: HTML that says what the text says, whatever the labels are."""

import re
from html import escape
from html.parser import HTMLParser

import pytest
from every_result import LABELS, NAMES, RESULTS, TWO, made, rows

import wmcc
import wmcc.measures
from wmcc.present.groups import Groups
from wmcc.published import PublishedBound

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
        assert (escape(odd, quote=False) in html) >= (odd in repr(found))
    for why in (*getattr(found, "warnings", ()), getattr(found, "problem", None) or ""):
        assert escape(why.rpartition(": ")[2], quote=False) in html  # where it holds is said once for all


def test_every_public_result_is_tested():
    named = [getattr(module, name) for module in (wmcc, wmcc.results) for name in module.__all__]
    public = {thing for thing in named if isinstance(thing, type)}
    text_is_enough = {wmcc.Accumulator, wmcc.Raster}
    text_is_enough |= {x for x in public if x.__module__ == "wmcc.sources.values"}  # parts of a call
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

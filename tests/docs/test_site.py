"""The site as `scripts/docs` built it: each link and anchor leads somewhere, and a browser finds its way offline.

Where it was not built these tests are skipped, with a sentence; CI builds it before.
"""

import os
import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from paths import ROOT

SITE = ROOT / "build" / "site"
BUILT = (SITE / "index.html").exists()
if not BUILT and os.environ.get("WMCC_TEST_SITE"):
    raise RuntimeError("WMCC_TEST_SITE is set, but there is no build/site; scripts/docs builds it")
pytestmark = pytest.mark.skipif(not BUILT, reason="the site was not built (scripts/docs)")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FOUND = next((path for path in map(shutil.which, BROWSERS) if path), None)
GENERATED = {"genindex.html", "search.html", "py-modindex.html"}


class Page(HTMLParser):
    """What a page links to, loads and names."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.names, self.pictures, self.text = [], [], set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.names.update(given[key] for key in ("id", "name") if given.get(key))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.loads.append(given["src"])
            if tag == "img":
                self.pictures.append((given["src"], given.get("alt") or ""))
        elif tag == "link" and given.get("href"):
            self.loads.append(given["href"])


@pytest.fixture(scope="module")
def pages():
    return {
        path.relative_to(SITE).as_posix(): Page(path) for path in SITE.rglob("*.html") if "_static" not in path.parts
    }


def target(page, link):
    """The file that a link leads to, and the place in it."""
    parts = urlsplit(link)
    path = unquote(parts.path)
    where = page if not path else os.path.normpath(os.path.join(os.path.dirname(page), path))
    return where, unquote(parts.fragment)


def local(links):
    return [link for link in links if not urlsplit(link).scheme and not link.startswith("//")]


def test_links_and_anchors_lead_somewhere(pages):
    broken = []
    for page, content in pages.items():
        for link in local(content.links):
            where, anchor = target(page, link)
            known = pages[where].names if where in pages else None
            if not (SITE / where).exists() or (anchor and known is not None and anchor not in known):
                broken.append(f"{page}: {link}")
    assert not broken


def test_nothing_is_loaded_from_elsewhere(pages):
    for page, content in pages.items():
        assert local(content.loads) == content.loads, page
        for link in content.loads:
            assert (SITE / target(page, link)[0]).exists(), (page, link)
    for sheet in SITE.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_each_page_is_linked_from_the_text_or_the_contents_of_another(pages):
    linked = {
        where
        for page, content in pages.items()
        for where in (target(page, link)[0] for link in local(content.links))
        if where != page
    }
    assert not set(pages) - linked - GENERATED - {"index.html"}


def test_pictures_say_what_is_to_be_seen(pages):
    assert not [
        (page, src)
        for page, content in pages.items()
        for src, alt in content.pictures
        if "_images" in src and len(alt.split()) < 2
    ]


def test_tabulate_has_a_line_for_each_parameter_and_no_overloads():
    from inspect import signature

    import wmcc

    text = (ROOT / "docs" / "reference" / "tabulate.md").read_text()
    rows = "".join(re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE))
    names = {
        name
        for name, x in signature(wmcc.tabulate).parameters.items()
        if x.kind not in (x.VAR_POSITIONAL, x.VAR_KEYWORD)
    }
    assert names <= set(re.findall(r"`(\w+)`", rows))
    assert "Unpack" not in (SITE / "reference" / "tabulate.html").read_text(encoding="utf-8")


def test_what_examples_import_from_wmcc_has_a_page(pages):
    known = set().union(*(content.names for name, content in pages.items() if name.startswith("reference/")))
    imported = r"^(?:>>> |\.\.\. )? *from (wmcc[\w.]*) import ([\w, ]+)"
    texts = [ROOT / "README.md", *(x for x in (ROOT / "docs").rglob("*.md") if "contributing" not in x.parts)]
    used = {
        f"{module}.{name}"
        for path in texts
        for module, names in re.findall(imported, path.read_text(), re.M)
        for name in names.split(", ")
        if module != "wmcc"
    }
    assert len(used) >= 5
    assert used - known == {"wmcc.core.kernel.kernel"}  # by which one sees whether the kernel was compiled


def test_each_metric_of_torchmetrics_leads_to_an_example(pages):
    metrics = [name for name in pages if name.startswith("reference/api/wmcc.adapters.torchmetrics.")]
    assert len(metrics) >= 12
    for name in metrics:
        assert "tutorials/segmentation.html" in {target(name, link)[0] for link in local(pages[name].links)}, name


# ---- in a browser ------------------------------------------------------------------------------------------

in_a_browser = [pytest.mark.browser, pytest.mark.skipif(FOUND is None, reason="no Chromium was found on this machine")]


def browsing(test):
    for mark in in_a_browser:
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=FOUND, args=[*quiet, "--disable-sync", "--no-first-run"])
        yield opened
        opened.close()


@pytest.fixture
def opened(browser):
    """What opens a page from its file, and holds that nothing went wrong and nothing was asked of the network."""
    contexts, said, asked = [], [], []

    def open_page(name, scheme="light", width=1280):
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto((SITE / name).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not said
    assert all(url.startswith(("file:", "data:")) for url in asked)


def results_of(page, words):
    """Type words into the search, as a reader does, and return the links of what it finds."""
    page.keyboard.press("Control+k")
    page.locator("input[type=search]:visible").first.fill(words)
    page.keyboard.press("Enter")
    page.wait_for_function("!!document.querySelector('#search-results ul.search a')")
    page.wait_for_function("!/Searching/.test(document.querySelector('#search-results h2').textContent)")
    return page.locator("#search-results ul.search li > a")


@browsing
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_search_finds_a_function_and_its_link_leads_there(opened, scheme, width):
    page = opened("index.html", scheme, width)
    found = results_of(page, "map_accuracy")
    assert "map_accuracy" in found.first.text_content()
    found.first.click()
    page.wait_for_url("**/reference/api/wmcc.map_accuracy.html*")
    assert "wmcc.map_accuracy" in page.locator("h1").first.text_content()


@browsing
@pytest.mark.parametrize(
    ("words", "pages"),
    [
        ("a weight must be a finite number of at least 0", ("reference/errors", "reference/sentences")),
        ("area stratified sample", ("tutorials/map", "understand/designs", "reference/api/wmcc.map_accuracy")),
        ("Lightning", ("tutorials/segmentation", "understand/segmentation", "adapters.torchmetrics")),
        ("certificate", ("understand/certificates", "results.Certificate", "wmcc.certify")),
    ],
)
def test_one_search_answers_what_people_come_with(opened, words, pages):
    found = results_of(opened("index.html"), words)
    first = [found.nth(k).get_attribute("href") for k in range(min(6, found.count()))]
    assert any(name in link for link in first for name in pages), first


@browsing
@pytest.mark.parametrize(
    ("words", "pages", "among"),
    [
        ("best threshold", ("tutorials/probabilities", "understand/thresholds"), 1),
        ("area interval stratified sample", ("tutorials/map",), 3),
        ("weighted MCC in a Lightning loop", ("tutorials/segmentation",), 1),
        ("what is a certificate", ("understand/certificates",), 1),
    ],
)
def test_the_page_that_people_look_for_is_among_the_first(opened, words, pages, among):
    found = results_of(opened("index.html"), words)
    first = [found.nth(k).get_attribute("href") for k in range(min(among, found.count()))]
    assert any(name in link for link in first for name in pages), first


@browsing
def test_pages_for_developers_come_last(opened):
    found = results_of(opened("index.html"), "threshold")
    links = [found.nth(k).get_attribute("href") for k in range(found.count())]
    first = next(k for k, link in enumerate(links) if re.match("contributing/|changes|benchmarks", link))
    assert first > len(links) / 2


@browsing
@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("there is no file 'nofile.csv'.", "there is no file …."),
        ("tabulate() has no keyword 'foo'.", "… has no keyword …."),
        ("this needs rasterio, which is not installed.", "this needs …, which is not installed."),
        ("`measure` is 'mc'; expected one of mcc, ecc", "`measure` is …; expected one of …."),
        ("there is no column 'labl'; the columns are 'label', 'pred'.", "there is no column ……; …."),
        ("a score table is of two classes; there are 3.", "a score table is of two classes; …."),
        (
            "Error: No such option '--weigth'. (Did you mean '--weight'?)",
            "No such option '…'. (Did you mean one of: …?)",
        ),
        (
            "sample_weight[1] is -2.5; a weight must be a finite number of at least 0.",
            "… is …; a weight must be a finite",
        ),
    ],
)
def test_a_message_that_is_pasted_leads_to_its_sentence(opened, message, sentence):
    page = opened("index.html")
    found = results_of(page, message)
    first = [found.nth(k).get_attribute("href").partition("?")[0] for k in range(2)]
    assert first[0].startswith(("reference/errors.html", "reference/sentences.html"))
    found.nth([link.startswith("reference/sentences") for link in first].index(True)).click()
    page.wait_for_url("**/reference/sentences.html*")
    searched = page.locator(".searched")
    assert searched.text_content().startswith(sentence)
    assert searched.evaluate("x => x.getBoundingClientRect().top > 0 && x.getBoundingClientRect().bottom < innerHeight")


@browsing
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "reference/tabulate.html", "reference/api/wmcc.interval.html"])
def test_pages_fit_and_can_be_read(opened, name, scheme, width):
    page = opened(name, scheme, width)
    assert page.locator("h1").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    colour = (
        "([name, at]) => getComputedStyle(document.querySelector(at))[name].match(/[0-9]+/g).slice(0, 3).map(Number)"
    )
    behind, text = (page.evaluate(colour, place) for place in (["backgroundColor", "body"], ["color", "article p"]))
    light, dark = (behind, text) if scheme == "light" else (text, behind)
    assert min(light) > 150 > 100 > max(dark)


@browsing
def test_the_first_screen_has_the_table_of_questions(opened):
    page = opened("index.html")
    top = "x => x.getBoundingClientRect().top"
    assert page.locator("h2", has_text="Which function?").evaluate(top) < 700
    assert page.locator("article tbody tr").nth(1).evaluate("x => x.getBoundingClientRect().bottom") < 900
    rows = page.locator("article tbody tr").all_text_contents()
    for words in (
        "area of each class, with an interval",
        "certificate",
        "Which threshold is best",
        "Lightning",
        "error",
    ):
        assert any(words in row for row in rows), words


@browsing
@pytest.mark.parametrize("path", sorted((ROOT / "docs/tutorials").glob("*.md")), ids=lambda path: path.stem)
def test_a_tutorial_is_two_screens_and_a_half_at_most(opened, path):
    article = opened(f"tutorials/{path.stem}.html").locator("article")
    assert article.evaluate("x => x.getBoundingClientRect().height") <= 2.5 * 900


@browsing
@pytest.mark.parametrize("name", ["index.html", "reference/tabulate.html"])
def test_no_call_is_cut_on_a_telephone(opened, name):
    page = opened(name, width=390)
    cut = "cells => cells.filter(x => x.getBoundingClientRect().right > innerWidth || x.scrollWidth > x.clientWidth)"
    cells = page.locator("article td")
    assert cells.count() > 20
    assert cells.evaluate_all(f"cells => ({cut})(cells).map(x => x.textContent)") == []


@browsing
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "reference/index.html", "reference/tabulate.html", "gallery.html"])
def test_everybody_can_read_it(browser, name, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page.goto((SITE / name).as_uri())
    found = Axe().run(page).response["violations"]  # which asks for style sheets again, and is refused
    page.close()
    assert not [(x["id"], x["nodes"][0]["html"]) for x in found if x["impact"] in ("serious", "critical")]

"""The report in a real browser: it is quiet, it moves, it is dark, it prints, and everybody can use it.

A Chromium that is installed is used (Debian: ``apt-get install chromium``); where there is none they are skipped.
"""

import json
import os
import re
import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from report_helpers import quick

import wmcc
from wmcc.report import findings

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FOUND = next((path for path in map(shutil.which, BROWSERS) if path), None)
SENTENCE = "no Chromium was found on this machine, so the report was not tested in a browser (Debian: chromium)"
if FOUND is None and os.environ.get("WMCC_TEST_BROWSER"):
    raise RuntimeError(f"WMCC_TEST_BROWSER is set, but {SENTENCE}")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(FOUND is None, reason=SENTENCE)]

HACK = "<script>document.title = 'hacked'</script>"
CLASSES = [
    HACK,
    "<img src=x onerror=\"document.title='hacked'\">",
    "Temperate broadleaf and mixed forest, managed for timber",
]
EPS = (0.0, 0.05, 0.1, 0.2, 0.4)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=FOUND, args=[*quiet, "--disable-sync", "--no-first-run"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 150)
    guesses = [np.where(rng.random(150) < p, truth, rng.integers(0, 3, 150)) for p in (0.9, 0.5)]
    names = np.array(CLASSES, dtype=object)
    named = {"net <b>": names[guesses[0]], "forest & co": names[guesses[1]]}
    return wmcc.tabulate(names[truth], named, rng.lognormal(0, 1, 150))


@pytest.fixture(scope="module")
def report(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(findings, "GRID", EPS)
        patch.setattr(findings, "NODES", 5)
        patch.setattr("wmcc.robustness.ranking.TOLERANCE", 0.2)
        return wmcc.write_report(folder / "report.html", rows, title=f"Land cover {HACK}", at_least=0.5)


@pytest.fixture
def opened(browser, report):
    """What opens the report: with a colour scheme, of a width, for a medium."""
    pages = []

    def open_(path=report, **context):
        page = browser.new_page(**{"viewport": {"width": 1100, "height": 800}, **context})
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on(
            "request", lambda request: page.heard.append(request.url) if not request.url.startswith("file:") else None
        )
        page.goto(f"file://{path}")
        pages.append(page)
        return page

    yield open_
    for page in pages:
        assert page.heard == []  # no message, no error, and nothing asked of anybody
        page.close()


def grid(page):
    return json.loads(page.locator("#grid").text_content())


def test_labels_are_text(opened):
    page = opened()
    assert page.title() == f"Land cover {HACK}"
    assert page.locator("h1").inner_text() == f"Land cover {HACK}"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    for label in CLASSES:
        assert page.get_by_role("rowheader", name=label, exact=True).count() > 0


def test_the_slider_moves_the_band(opened, rows):
    page = opened()
    numbers, slider = grid(page), page.get_by_role("slider")
    assert numbers["eps"] == ["±0 %", "±5 %", "±10 %", "±20 %", "±40 %"]
    assert slider.input_value() == "0.1"
    before = page.locator("#band-0").get_attribute("points")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "±20 %"
    for k, table in enumerate(rows.tables.values()):
        certificate = wmcc.certify(table, eps=0.2, nodes=5)
        assert page.locator(f"#range-{k}").inner_text() == " to ".join(certificate.ends)
        band = numbers["bands"][k]
        outline = " ".join([*band["upper"][:4], *band["lower"][3::-1]])
        assert page.locator(f"#band-{k}").get_attribute("points") == outline
    assert page.locator("#band-0").get_attribute("points") != before
    assert page.locator("#cursor").get_attribute("x1") == f"{numbers['x'][3]:g}"
    assert page.locator("#eps-now").inner_text() == numbers["said"][3]
    assert page.locator(".eps-shown").all_inner_texts() == ["±20 %", "±20 %"]
    for key, place in (("PageDown", 0), ("ArrowLeft", 0), ("ArrowUp", 1), ("End", 4), ("PageUp", 4), ("Home", 0)):
        page.keyboard.press(key)
        assert slider.get_attribute("aria-valuetext") == numbers["eps"][place]


@pytest.mark.parametrize("width", [360, 1100])
def test_the_slider_stands_below_the_cursor(opened, width):
    page = opened(viewport={"width": width, "height": 800})
    numbers, slider, cursor = grid(page), page.get_by_role("slider"), page.locator("#cursor")
    rail = slider.bounding_box()
    for part in (0.0, 0.1, 0.4, 0.55, 0.9, 1.0):
        # A click goes to the value of the axis above it, and from there to the nearest that was certified.
        slider.click(position={"x": 8 + part * (rail["width"] - 16), "y": rail["height"] / 2})
        nearest = min(EPS, key=lambda eps: abs(eps - 0.4 * part))
        assert float(slider.input_value()) == nearest
        assert slider.get_attribute("aria-valuetext") == numbers["eps"][EPS.index(nearest)]
        line, box = cursor.bounding_box(), slider.bounding_box()
        thumb = box["x"] + 8 + nearest / 0.4 * (box["width"] - 16)
        assert line["x"] + line["width"] / 2 == pytest.approx(thumb, abs=1)


def test_the_page_says_what_the_slider_says_after_going_back(opened):
    page = opened()
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    page.goto("about:blank")
    page.go_back()
    place = EPS.index(float(page.get_by_role("slider").input_value()))
    assert page.locator(".eps-shown").first.inner_text() == grid(page)["eps"][place]
    assert page.locator("#eps-now").inner_text() == grid(page)["said"][place]


def test_the_band_is_drawn_where_the_axis_says(opened, rows):
    """Places of the lower end and of the score, read off the ticks of the axis."""
    page = opened()
    ticks = page.eval_on_selector_all("svg .tick", "all => all.map(x => [x.textContent, +x.getAttribute('y')])")
    (a, ya), *_, (b, yb) = [(float(text), y - 4) for text, y in ticks if "%" not in text]
    for k, table in enumerate(rows.tables.values()):
        low = wmcc.certify(table, eps=0.4, nodes=5).low
        place = float(grid(page)["bands"][k]["lower"][-1].split(" ")[0].split(",")[1])
        assert a + (place - ya) * (b - a) / (yb - ya) == pytest.approx(low, abs=0.002)


def test_dark_and_light(opened):
    ground = {}
    for scheme in ("light", "dark"):
        page = opened(color_scheme=scheme)
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        ground[scheme] = sum(map(int, re.findall(r"\d+", colour)[:3]))
    assert ground["light"] > 700
    assert ground["dark"] < 100


def test_print(opened):
    page = opened(color_scheme="dark", viewport={"width": 700, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.get_by_role("slider").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator("#eps-now").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page[^s]", pdf)) <= 10


@pytest.mark.parametrize("width", [360, 1100])
def test_nothing_runs_over_the_edge(opened, width):
    page = opened(viewport={"width": width, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(opened, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(color_scheme=scheme, bypass_csp=True)
    found = Axe().run(page).response["violations"]
    serious = [x for x in found if x["impact"] in ("serious", "critical")]
    assert not serious, [(x["id"], x["nodes"][0]["html"][:200]) for x in serious]


def test_the_keyboard_reaches_everything(opened):
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the report"
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert {"eps", "A"} <= reached
    heads = page.eval_on_selector_all("h1, h2, h3", "all => all.map(x => +x.tagName[1])")
    assert heads[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(heads))


def test_long_names_and_wide_tables_stay_on_the_page(opened, tmp_path, monkeypatch):
    quick(monkeypatch)
    labels = np.array([f"{k} of a kind that has a long name" for k in range(25)], dtype=object)
    truth = np.arange(250) % 25
    guess = np.where(np.arange(250) % 4 > 0, truth, (truth + 1) % 25)
    named = {"W" * 300: labels[guess], "b" * 300: labels[truth]}
    page = opened(wmcc.write_report(tmp_path / "long.html", wmcc.tabulate(labels[truth], named, 1000.5 + truth)))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 680, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ends = page.evaluate("[...document.querySelectorAll('table')].map(x => x.getBoundingClientRect().right)")
    assert max(ends) <= 680


def test_pictures_of_images_are_seen_and_said(opened, tmp_path, monkeypatch):
    from axe_playwright_python.sync_playwright import Axe

    monkeypatch.setattr(findings, "GRID", EPS)
    rng = np.random.default_rng(0)
    for name in ("truth", "pred"):
        (tmp_path / name).mkdir()
        for k in range(4):
            labels = rng.integers(0, 3, (8, 16)).repeat(20, axis=0).repeat(20, axis=1)
            np.save(tmp_path / name / f"{'a long name of a street ' * 3}{k}.npy", labels.astype(np.uint8))
    places = str(tmp_path / "truth"), str(tmp_path / "pred")
    path = wmcc.write_report(tmp_path / "report.html", wmcc.tabulate(*places), measure="accuracy", images=places)
    for scheme in ("light", "dark"):
        page = opened(path, color_scheme=scheme, viewport={"width": 360, "height": 800})
        drawn = page.locator("img")
        assert drawn.count() == 12
        assert drawn.evaluate_all("all => all.every(x => x.complete && x.naturalWidth === 256 && x.alt)")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        found = Axe().run(page).response["violations"]
        assert [x["id"] for x in found if x["impact"] in ("serious", "critical")] == []


def test_maps_are_seen_and_said_in_their_proportions(opened, tmp_path, monkeypatch):
    from axe_playwright_python.sync_playwright import Axe

    quick(monkeypatch)
    truth = np.random.default_rng(0).integers(0, 3, (30, 40))
    guess = np.where(np.arange(40) > 8, truth, 0)
    found = replace(wmcc.error_map(truth, guess, names=dict(enumerate(CLASSES))), metres=(10.0, 20.0), crs=HACK)
    table = wmcc.tabulate(truth.ravel(), guess.ravel(), names=dict(enumerate(CLASSES)))
    path = wmcc.write_report(tmp_path / "map.html", table, map=found, figures={HACK: wide_picture()})
    for scheme, width in (("light", 1100), ("dark", 360)):
        page = opened(path, color_scheme=scheme, viewport={"width": width, "height": 800})
        drawn = page.locator(".maps img")
        assert drawn.evaluate_all("all => all.every(x => x.complete && x.naturalWidth === 40 && x.alt)")
        for box in (x.bounding_box() for x in drawn.all()):
            assert box["width"] / box["height"] == pytest.approx(400 / 600, rel=0.01)
        bars = page.locator(".maps .bar")
        assert bars.all_inner_texts() == ["100 m"] * 3
        widths = [
            bar.bounding_box()["width"] / own.bounding_box()["width"]
            for bar, own in zip(bars.all(), drawn.all(), strict=True)
        ]
        assert widths == pytest.approx([0.25] * 3, rel=0.02)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert "hacked" not in page.title()
        assert page.heard == []
        problems = Axe().run(page).response["violations"]
        assert [x["id"] for x in problems if x["impact"] in ("serious", "critical")] == []


def test_curves_of_scores_are_seen_by_everybody(opened, tmp_path, monkeypatch):
    from axe_playwright_python.sync_playwright import Axe

    quick(monkeypatch)
    rng = np.random.default_rng(0)
    truth = np.array(CLASSES[:2], dtype=object)[rng.integers(0, 2, 300)]
    score = {name: (truth == CLASSES[0]) + rng.normal(size=300).round(1) for name in (HACK, "other")}
    path = wmcc.write_report(tmp_path / "scores.html", wmcc.tabulate(truth, score=score))
    for scheme, width in (("light", 1100), ("dark", 360)):
        page = opened(path, color_scheme=scheme, viewport={"width": width, "height": 800})
        pictures = page.locator("svg:has(polyline)")
        assert pictures.count() == 2
        for one in pictures.all():
            room, line = one.bounding_box(), one.locator("polyline").bounding_box()
            assert room["x"] <= line["x"] < line["x"] + line["width"] <= room["x"] + room["width"]
            assert line["width"] > 0.8 * room["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert "hacked" not in page.title()
        problems = Axe().run(page).response["violations"]
        assert [x["id"] for x in problems if x["impact"] in ("serious", "critical")] == []
    page.set_viewport_size({"width": 680, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def wide_picture():
    from wmcc.report.pictures import png

    return png(np.zeros((9, 2000), dtype=np.int64), [(0, 0, 0, 255)])


def test_it_says_all_without_scripts(opened):
    page = opened(java_script_enabled=False)
    assert page.locator("#eps-now").inner_text().startswith("With weights off by up to 10 %")
    assert page.locator("#range-0").inner_text()

"""Take the pictures of reports in docs/: ``python benchmarks/screenshot.py``.

It needs Chromium, torch and what reads maps. Names of pictures after it: only these.
"""

import doctest
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from wmcc.demo import story

PAGES = Path(__file__).parent.parent / "docs" / "understand"
STREETS = "../tutorials/segmentation.md", "segmentation.md"
WIDTH, HEIGHT, COLOURS = 960, 1390, 128
GALLERY, LAND = 590, 1200
"""Heights of the pictures of a gallery, which begins with its legend, and of a map."""


def opened(browser: Browser, page: str, scheme: str, height: int, at: str | None = None) -> Image.Image:
    """Return what a reader sees of a page, from an element on."""
    shown = browser.new_page(viewport={"width": WIDTH, "height": height}, color_scheme=scheme)
    shown.goto(f"file://{page}")
    if at is not None:
        shown.locator(at).first.evaluate("element => element.scrollIntoView()")
    return Image.open(io.BytesIO(shown.screenshot())).convert("RGB")


def demo(folder: str) -> str:
    """Write the report of the demo."""
    page = os.path.join(folder, "report.html")
    story(page)
    return page


def report_of(last: str, *pages: str) -> str:
    """Run the examples of pages, one after the other, up to the one that writes a report, and return its path."""
    names: dict[str, object] = {}
    for example in doctest.DocTestParser().get_examples("".join((PAGES / page).read_text() for page in pages)):
        if example.exc_msg is None:
            exec(example.source, names)
        if last in example.source:
            break
    return os.path.abspath(str(names["path"]))


def main() -> None:
    """Open reports as a reader would, once in light and once in dark, and put both side by side."""
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        os.chdir(folder)
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for make, name, height, at in (
            (lambda: demo(folder), "../howto/report.png", HEIGHT, None),
            (lambda: report_of("images=folders", *STREETS), "segmentation-report.png", GALLERY, "ul.legend"),
            (lambda: report_of("map=errors", "maps.md"), "maps/report.png", LAND, "h2:has-text('Where the map')"),
        ):
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            page, both = make(), Image.new("RGB", (2 * WIDTH, height))
            for k, scheme in enumerate(("light", "dark")):
                both.paste(opened(browser, page, scheme, height, at), (k * WIDTH, 0))
            small = both.resize((1400, round(height * 1400 / (2 * WIDTH))), Image.Resampling.LANCZOS)
            small.quantize(COLOURS).save(PAGES / name, optimize=True)
        browser.close()


if __name__ == "__main__":
    main()

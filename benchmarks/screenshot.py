"""Take docs/report.png and docs/segmentation-report.png: ``python benchmarks/screenshot.py``, with Chromium, torch."""

import doctest
import io
import os
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from wmcc.demo import story

DOCS = Path(__file__).parent.parent / "docs"
WIDTH, HEIGHT, COLOURS = 960, 1390, 128
GALLERY = 590
"""Height of the picture of a gallery, which begins with its legend."""


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


def streets() -> str:
    """Run the examples of docs/segmentation.md up to the report, and return its path."""
    names: dict[str, object] = {}
    for example in doctest.DocTestParser().get_examples((DOCS / "segmentation.md").read_text()):
        exec(example.source, names)
        if "images=folders" in example.source:
            break
    return str(names["path"])


def main() -> None:
    """Open reports as a reader would, once in light and once in dark, and put both side by side."""
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for page, name, height, at in (
            (demo(folder), "report.png", HEIGHT, None),
            (streets(), "segmentation-report.png", GALLERY, "ul.legend"),
        ):
            both = Image.new("RGB", (2 * WIDTH, height))
            for k, scheme in enumerate(("light", "dark")):
                both.paste(opened(browser, page, scheme, height, at), (k * WIDTH, 0))
            small = both.resize((1400, round(height * 1400 / (2 * WIDTH))), Image.Resampling.LANCZOS)
            small.quantize(COLOURS).save(DOCS / name, optimize=True)
        browser.close()


if __name__ == "__main__":
    main()

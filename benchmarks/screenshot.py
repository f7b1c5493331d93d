"""Take docs/report.png, the picture of docs/report.md: ``python benchmarks/screenshot.py``; with a Chromium."""

import io
import os
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from wmcc.demo import story

WIDTH, HEIGHT, COLOURS = 960, 1390, 128


def main() -> None:
    """Open the demo's report as a reader would, once in light and once in dark, and put both side by side."""
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        page = os.path.join(folder, "report.html")
        story(page)
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        shots = []
        for scheme in ("light", "dark"):
            opened = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
            opened.goto(f"file://{page}")
            shots.append(Image.open(io.BytesIO(opened.screenshot())).convert("RGB"))
        browser.close()
    both = Image.new("RGB", (2 * WIDTH, HEIGHT))
    for k, shot in enumerate(shots):
        both.paste(shot, (k * WIDTH, 0))
    small = both.resize((1400, round(HEIGHT * 1400 / (2 * WIDTH))), Image.Resampling.LANCZOS)
    small.quantize(COLOURS).save(Path(__file__).parent.parent / "docs" / "report.png", optimize=True)


if __name__ == "__main__":
    main()

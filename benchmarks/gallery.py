"""Draw the pictures of the pages below, in docs/: ``python benchmarks/gallery.py``.

The pages are the source. Their examples are run in order, and where a picture stands, the last axes are saved as it.
"""

import doctest
import os
import re
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("agg")

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ("howto/plots.md", "tutorials/probabilities.md", "understand/weightmaps.md", "understand/maps.md")
PICTURE = re.compile(r"!\[.*?\]\((.*?\.png)\)")
MOST_BYTES = 80_000


def draw(page: str) -> None:
    """Run a page and save what it draws."""
    names: dict = {}
    parts = PICTURE.split((DOCS / page).read_text())
    for text, picture in zip(parts[::2], [*parts[1::2], None], strict=True):
        for example in doctest.DocTestParser().get_examples(text):
            if example.exc_msg is None:
                exec(compile(example.source, f"docs/{page}", "single"), names)
        if picture and not picture.endswith("report.png"):  # which benchmarks/screenshot.py takes
            path = (DOCS / page).parent / picture
            names["ax"].figure.savefig(path, dpi=80, metadata={"Software": None})
            print(f"{path.relative_to(DOCS.parent)}  {path.stat().st_size:,} bytes")
            assert path.stat().st_size < MOST_BYTES, path


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where examples write their files
        for page in PAGES:
            draw(page)

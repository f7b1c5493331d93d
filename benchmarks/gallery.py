"""Draw the pictures of docs/plots.md: ``python benchmarks/gallery.py``, in the root of the repository.

The page is the source. Its examples are run in order, and where a picture stands, the last axes are saved as it.
"""

import doctest
import re
from pathlib import Path

import matplotlib

matplotlib.use("agg")

DOCS = Path(__file__).parent.parent / "docs"
PICTURE = re.compile(r"!\[.*?\]\((plots/.*?\.png)\)")
MOST_BYTES = 60_000


def main() -> None:
    """Run the page and save what it draws."""
    names: dict = {}
    parts = PICTURE.split((DOCS / "plots.md").read_text())
    for text, picture in zip(parts[::2], [*parts[1::2], None], strict=True):
        for example in doctest.DocTestParser().get_examples(text):
            exec(compile(example.source, "docs/plots.md", "single"), names)
        if picture:
            path = DOCS / picture
            names["ax"].figure.savefig(path, dpi=80, metadata={"Software": None})
            print(f"{path.relative_to(DOCS.parent)}  {path.stat().st_size:,} bytes")
            assert path.stat().st_size < MOST_BYTES, path


if __name__ == "__main__":
    main()

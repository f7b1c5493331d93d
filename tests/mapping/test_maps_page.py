"""What docs/understand/maps.md says of itself: lines of code, links, pictures. Its examples are run elsewhere."""

import re

from paths import DOCS

PAGE = DOCS / "understand" / "maps.md"


def test_the_way_by_hand_has_as_many_lines_as_the_page_says():
    pattern = r"\*\*By hand\.\*\*.*?: (\d+) lines .*?```python\n(.*?)\n\n```"
    said, block = re.search(pattern, PAGE.read_text(), re.S).groups()
    assert len(block.splitlines()) == int(said)


def test_its_links_lead_somewhere_and_its_pictures_are_small():
    links = re.findall(r"\]\((?!http)([^)]+)\)", PAGE.read_text())
    assert len(links) > 15
    for link in links:
        name, _, anchor = link.partition("#")
        path = PAGE.parent / name if name else PAGE
        assert path.exists(), link
        assert not anchor or anchor in anchors(path), link
        assert path.suffix != ".png" or path.stat().st_size < 150_000, link


def anchors(path):
    """Names by which links find the heads of a page."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}

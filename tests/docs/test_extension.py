"""What docs/_ext/wmcc_site.py refuses: such a page builds with a warning, which `scripts/docs` makes an error."""

import io
import os
import re
from importlib.util import find_spec

import pytest
from cli_helpers import run
from paths import DOCS

BUILDS = find_spec("sphinx") is not None
if not BUILDS and os.environ.get("WMCC_TEST_SITE"):
    raise RuntimeError("WMCC_TEST_SITE is set, but Sphinx is not installed; scripts/docs brings it")
pytestmark = [
    pytest.mark.skipif(not BUILDS, reason="Sphinx is not installed (scripts/docs)"),
    # what packages say to one another
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


@pytest.fixture(scope="module")
def site():
    """The extension, without the pages that it makes of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "_ext"))
        import wmcc_site

        patch.setattr(wmcc_site, "write_pages", lambda app: None)
        patch.setattr(wmcc_site, "public_names", dict)
        yield wmcc_site


@pytest.fixture
def warned(site, tmp_path):
    """What builds pages, the first of which is the index, and returns the warnings."""
    from sphinx.application import Sphinx

    def build(**pages):
        for name, text in pages.items():
            (tmp_path / f"{name}.md").write_text(text)
        said = io.StringIO()
        extensions = {"extensions": ["sphinx.ext.autodoc", "sphinx_click", "myst_parser", "wmcc_site"]}
        made = Sphinx(
            tmp_path, None, tmp_path / "out", tmp_path / "trees", "html", extensions, status=None, warning=said
        )
        made.build()
        return said.getvalue()

    return build


def test_a_page_in_the_contents_that_names_what_there_is_builds_without_a_word(warned):
    index = "# Index\n\n`wmcc.interval`, `wmcc.Table.to_json`, `wmcc.results.Interval.low`, `wmcc.adapters.torch`\n\n"
    assert not warned(index=f"{index}```{{toctree}}\nother\n```\n", other="# Other\n\nMore.\n")


def test_an_orphan_is_refused(warned):
    said = warned(index="# Index\n\n[](other.md)\n", other="---\norphan: true\n---\n# Other\n\nMore.\n")
    assert "other.md: WARNING: a page must not be an orphan" in said


@pytest.mark.parametrize("name", ["no_such_function", "Table.to_jsn", "no.such.module", "adapters.torch.Tallly"])
def test_code_that_names_nothing_is_refused(warned, name):
    assert f"there is no wmcc.{name} in the package" in warned(index=f"# Index\n\nTry `wmcc.{name}(table)`.\n")


def test_the_page_of_sentences_has_those_that_people_meet(site):
    text = site.sentences_page().replace("\\", "")
    for said in (
        "there is no file ….",
        "this needs …, which is not installed.",
        "… has no keyword ….",
        "`measure` is …; expected ….",
        "there is no column ….",
        "a score table is of two classes; ….",
        "No such option",
    ):
        assert said.rstrip(".…") in text, said


@pytest.mark.parametrize(
    "call",
    [
        "score --weigth x",
        "scor",
        "score",
        "score --true",
        "demo a b",
        "score x.csv --format y",
        "certify x.csv --eps y",
    ],
)
def test_the_page_of_sentences_has_what_click_says(site, call):
    printed = run(*call.split(), code=2).stderr
    patterns = [".+".join(map(re.escape, text.split("…"))) for text in site.OF_CLICK]
    assert any(re.search(f"Error: {pattern}", printed) for pattern in patterns), printed


def test_a_picture_without_text_is_refused(warned):
    assert "has no text (alt)" in warned(index="# Index\n\n![](a.png)\n")

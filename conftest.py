"""What is left out where a package is not installed, how pages are marked, and where they write."""

import doctest
import os
import re
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

collect_ignore_glob = ["docs/*.py", "docs/_ext/*"]
"""What makes the site; `scripts/docs` runs it."""

MODULES = {
    "axe-playwright-python": "axe_playwright_python",
    "ibis-framework": "ibis",
    "netcdf4": "netCDF4",
    "pillow": "PIL",
    "scikit-learn": "sklearn",
}
"""What the modules of packages are called, where packages are called otherwise."""


def _missing():
    """Sentences on packages of extras and groups that are not installed, by the small letters of package and module."""
    pyproject = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text())
    brought = [("extra", *item) for item in pyproject["project"]["optional-dependencies"].items()]
    brought += [("group", *item) for item in pyproject["dependency-groups"].items()]
    sentences = {}
    for kind, name, requirements in brought:
        for package in (re.match(r"[\w-]+", requirement)[0] for requirement in requirements):
            module = MODULES.get(package, package)
            if package not in sentences and find_spec(module) is None:
                sentences[package] = sentences[module.lower()] = (
                    f"{package} is not installed; the {kind} {name!r} brings it"
                )
    if os.environ.get("WMCC_TEST_TORCH"):  # insists on them
        for package in ("torch", "torchmetrics"):
            sentences.pop(package, None)
    return sentences


MISSING = _missing()


def _causes(problem):
    """What was raised, and all that it came from."""
    causes, ahead = {}, [problem]
    while ahead:
        cause = ahead.pop()
        if cause is not None and id(cause) not in causes:
            causes[id(cause)] = cause
            of_an_example = getattr(cause, "exc_info", (None, None))[1]
            ahead += [of_an_example, cause.__cause__, cause.__context__, *getattr(cause, "exceptions", ())]
    return causes.values()


def _skip_without_extra(report, problem, path):
    """Make a skip of a failure where an import, or what a program printed, says that a package is not installed."""
    lines = [(cause, line) for cause in _causes(problem) for line in str(cause).splitlines()]
    said = " ".join(line for cause, line in lines if isinstance(cause, ImportError) or "not installed" in line)
    sentence = next((MISSING[word] for word in re.findall(r"[\w-]+", said.lower()) if word in MISSING), None)
    if sentence:
        report.outcome, report.longrepr = "skipped", (str(path), 1, f"Skipped: {sentence}")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Skip a module that imports what is not installed."""
    report = yield
    if report.failed:
        _skip_without_extra(report, report.call.excinfo.value, collector.path)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Skip a test that needs what is not installed."""
    report = yield
    if report.failed:
        _skip_without_extra(report, call.excinfo.value, item.path)
    return report


def _needs_torch(item):
    """Whether a test takes the fixture ``torch``, or stands in a module or beside an example that imports it."""
    example = getattr(item, "dtest", None)
    return (
        "torch" in getattr(item, "fixturenames", ())
        or hasattr(getattr(item, "module", None), "torch")
        or (example is not None and ("torch" in example.globs or "import torch" in (example.docstring or "")))
    )


def pytest_collection_modifyitems(items):
    """Mark what needs PyTorch, so that CI can run it by itself, and pages and examples that draw, which take long."""
    for item in items:
        if _needs_torch(item):
            item.add_marker("torch")
        if item.path.suffix == ".md" or "plot" in item.path.parts:
            item.add_marker("slow")


def names_before(page):
    """What the examples name of the page from which this one goes on, if it says so in a comment."""
    names = {}
    if before := re.search(r"^<!-- goes on from (\S+) -->$", page.read_text(), re.MULTILINE):
        for example in doctest.DocTestParser().get_examples((page.parent / before[1]).read_text()):
            exec(example.source, names)
    return names


@pytest.fixture(autouse=True)
def _folder_of_a_page(request):
    """Run the examples of a page in a folder of its own, so that files have short names there; close its figures."""
    if request.path.suffix == ".md":
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
        request.node.dtest.globs.update(names_before(request.path))
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")

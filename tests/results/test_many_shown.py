"""Readers of 3,000 classes show a part of them, say so, and take seconds and little memory."""

import json
from functools import cache

import matplotlib
import numpy as np
import pytest
from cli_helpers import run

import wmcc
from wmcc.measures.base import Shares
from wmcc.report.write import render

matplotlib.use("agg")
import matplotlib.pyplot as plt

pytestmark = pytest.mark.slow

K = 3000


@cache
def rows():
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.arange(K), rng.integers(0, K, K)])
    guess = np.where(rng.random(2 * K) < 0.7, truth, rng.integers(0, K, 2 * K))
    return truth, guess, rng.lognormal(0, 1, 2 * K)


@cache
def table():
    return wmcc.tabulate(*rows())


@cache
def score():
    return wmcc.score(table())


@pytest.fixture(autouse=True)
def _no_matrix(monkeypatch):
    """A matrix of all pairs of 3,000 classes takes 72 MB, and several make a gigabyte; nobody needs one."""
    monkeypatch.setattr("wmcc.core.table.MOST_DENSE", 500**2)
    yield
    plt.close("all")


def test_a_score_shows_the_first_classes():
    assert "Shown are the 50 heaviest of 3,000 classes; CSV and JSON have all.\n" in repr(score())
    assert len(repr(score())) < 7_000
    assert len(score()._repr_html_()) < 14_000
    assert len(score().classes) == K


@pytest.mark.parametrize("share", [0.0, 1.0], ids=["wrong", "perfect"])
def test_a_score_that_no_row_varies_costs_what_others_cost(share, monkeypatch):
    """Moves of weight are tried in it: each in two classes, not in all of them anew."""
    made, sizes = Shares.made.__func__, []

    def counted(cls, r, *others):
        sizes.append(r.size)
        return made(cls, r, *others)

    monkeypatch.setattr(Shares, "made", classmethod(counted))
    totals = []
    for classes in (1000, 4000):
        truth = np.repeat(np.arange(classes), 3)
        guess = truth if share else (truth + 1) % classes
        sizes.clear()
        assert "Shown are the 50 heaviest of" in str(wmcc.score(truth, guess))
        totals.append(sum(sizes))
    assert totals[1] - totals[0] < 20 * 3000


@cache
def built():
    from wmcc.report.write import ReportOptions, build

    return build(table(), ReportOptions(progress=False))


def test_a_page_shows_the_heaviest_classes():
    page = render(".html", *built())
    assert len(page) < 500_000
    assert "Drawn are the 499 heaviest of 3,000 classes; the last stands for all others." in page
    assert page.count("These are the 500 heaviest of 3,000 classes; the report as JSON lists all.") == 1
    assert page.count("Shown are the 50 heaviest of 3,000 classes; CSV and JSON have all.") == 1  # of their weights
    assert page.count("<tr>") < 1_100


def test_markdown_shows_the_heaviest_classes():
    text = render(".md", *built())
    assert len(text) < 150_000
    assert text.count("These are the 500 heaviest of 3,000 classes; the report as JSON lists all.") == 1
    assert text.count("Shown are the 50 heaviest of 3,000 classes; CSV and JSON have all.") == 1  # of their weights
    weights = sorted((c.total for c in score().classes), reverse=True)
    listed = [
        line.split(" | ") for line in text.split("Each class against the rest\n\n")[1].split("\n\n")[0].split("\n")[2:]
    ]
    labels = [int(cells[0].strip("| ")) for cells in listed]
    assert labels == sorted(labels)
    assert min(score().classes[k].total for k in labels) == weights[499]


def test_a_report_for_programs_has_all_classes():
    found = json.loads(render(".json", *built()))["predictions"][0]
    assert [c["label"] for c in found["classes"]] == list(range(K))
    assert wmcc.Table.from_dict(found["table"]) == table()


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_the_command_line_lists_the_heaviest_classes(form, tmp_path):
    (tmp_path / "t.json").write_text(table().to_json())
    said = run("score", tmp_path / "t.json", "-f", form).stdout
    assert "Shown are the 50 heaviest of 3,000 classes; CSV and JSON have all.\n" in said
    assert len(said) < 10_000
    assert len(run("show", tmp_path / "t.json", "-f", form).stdout) < 10_000


def test_the_others_are_one_class():
    few = table()._folded(500)
    assert len(few.labels) == 500
    assert few.labels[-1] == "all other classes"
    assert (few.rows, few.total) == (table().rows, table().total)
    for k, label in enumerate(few.labels[:-1]):
        assert few.true_sums[k] == table().true_sums[label]
        assert few.pred_sums[k] == table().pred_sums[label]
    weight = table().true_sums + table().pred_sums
    assert np.sort(weight[list(few.labels[:-1])]) == pytest.approx(np.sort(weight)[-499:])
    assert few._folded(500) is few


@pytest.mark.parametrize("show", ["row", "column", "share", "weight", "count"])
def test_a_picture_of_the_table_is_of_the_heaviest_classes(show):
    from wmcc import plot

    ax = plot.confusion(table(), show)
    assert ax.get_title(loc="left").endswith("the 499 heaviest of 3,000 classes, and all others as one")
    assert ax.images[0].get_array().shape == (500, 500)


def test_pictures_of_classes_are_of_the_heaviest():
    from wmcc import plot

    for ax in (plot.classes(score()), plot.shares(table())):
        assert ax.get_title(loc="left").endswith("the 500 heaviest of 3,000 classes")
        assert ax.get_ylim() == (499.5, -0.5)

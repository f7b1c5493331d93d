"""The paper's figures: the numbers that are drawn, and the files that `wmcc reproduce` writes."""

import csv
import os
import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from cli_helpers import run

from wmcc import plot
from wmcc.cli.reproduction import NAMES, pictures
from wmcc.errors import InputError
from wmcc.experiments import separation, verdicts

pytestmark = pytest.mark.slow

mpl.use("agg")
SMALL = ("--n", 30, "--repetitions", 4, "--weights", "1,50", "--seed", 3)
ASKED = {"n": 30, "repetitions": 4, "weights": (1, 50), "seed": 3}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    plt.close("all")


# ---- the drawing -----------------------------------------------------------------------------------


def test_the_numbers_are_drawn():
    found = separation(3, **ASKED)
    axes = plot.separation(found)
    assert axes.shape == (3, 6)
    assert [x.get_title() for x in axes[0]] == ["ECC", "WECC", "MPC1", "WMPC1", "MPC2", "WMPC2"]
    assert [x.get_ylabel() for x in axes[:, 0]] == ["p = 0", "p = 0.5", "p = 1"]
    for row, p in zip(axes, (0.0, 0.5, 1.0), strict=True):
        for k, panel in enumerate(row):
            trace = found.trace(p, ("ecc", "mpc1", "mpc2")[k // 2], k % 2 == 1)
            line = panel.get_lines()[-1]
            assert (line.get_xdata() == found.starts).all()
            assert (line.get_ydata() == trace.mean).all()
            (band,) = panel.collections
            corners = {tuple(x) for x in band.get_paths()[0].vertices.tolist()}
            for ends in (trace.low, trace.high):
                assert corners >= set(zip(found.starts.tolist(), ends.tolist(), strict=True))
    low, high = axes[0, 0].get_ylim()
    assert (low < -1, high > 1) == (True, True)
    assert all(x.get_ylim() == (low, high) and x.get_xlim() == axes[0, 0].get_xlim() for x in axes.flat)


def test_marks_are_where_weights_change_and_half_of_the_section_is_heavy():
    axes = plot.separation(separation(repetitions=2, p=1))
    assert axes[0, 0].get_xticks().tolist() == [1, 51, 76, 101]
    shades = [(x.get_x(), x.get_x() + x.get_width()) for x in axes[0, 0].patches]
    assert shades == [(51.5, 101.5), (75.5, 101.5)]
    texts = [x.get_text() for x in axes[0, 0].figure.legends[0].get_texts()]
    assert texts[0] == "mean of 2 predictions"
    assert texts[2] == "section reaches observations 101–150 of weight 10,000"


def test_axes_may_be_given():
    found = separation(2, "accuracy", p=(0.2, 0.9), **ASKED)
    figure, given = plt.subplots(2, 2)
    assert (plot.separation(found, ax=given) == given).all()
    assert not figure.legends
    assert given[0, 0].get_ylim()[0] > -0.1  # accuracies are not below 0


def test_axes_that_are_too_few_are_refused():
    found, (_, axes) = separation(n=9, repetitions=2), plt.subplots(1, 2)
    with pytest.raises(InputError, match="there are 2 axes; expected 3 rows of 2"):
        plot.separation(found, ax=axes)


def test_any_weights_can_be_drawn():
    rng = np.random.default_rng(0)
    for weights in (rng.integers(0, 99, 30), [5], [1, 9, 1, 9]):
        axes = plot.separation(separation(n=30, repetitions=2, p=1, weights=weights))
        axes[0, 0].figure.canvas.draw()


# ---- the command -----------------------------------------------------------------------------------


def test_the_files(folder):
    said = run("reproduce", *SMALL, "--classes", 4, "--out", "out").stdout
    assert sorted(os.listdir("out")) == sorted(NAMES)
    found = separation(2, **ASKED), separation(4, **ASKED)
    for name, one in zip(("figure-1", "figure-2"), found, strict=True):
        one.save("one.csv")
        assert (folder / "out" / f"{name}.csv").read_text() == (folder / "one.csv").read_text()
        assert (folder / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "</svg>" in (folder / "out" / f"{name}.svg").read_text()
    judged = verdicts(*found)
    with open("out/verdicts.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(x["sentence"], x["verdict"], x["found"]) for x in rows] == [
        (x.sentence, x.verdict, x.found) for x in judged
    ]
    table = (folder / "out" / "verdicts.md").read_text()
    for x in judged:
        assert x.sentence in said
        assert f"| {x.verdict} |" in table
    assert "8 files are in out: figure-1.png" in said


def test_pictures_are_the_same_each_time():
    found = separation(n=9, repetitions=2, p=1)
    assert pictures(found, "figure-1") == pictures(found, "figure-1")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--out", ""), "Error: the output has no name; expected the name of a folder."),
        (("--out", "file"), "Error: the output 'file' is a file; expected a folder."),
        (("--out", "no/where"), "Error: the output 'no/where' cannot be written: there is no folder"),
        (("--out", "taken"), "figure-1.png' is a folder"),
        (("--classes", "2"), "Error: --classes is 2; expected at least 3."),
        (("--weights", "1,ten"), "Error: --weights is '1,ten'; expected whole numbers"),
        (("--weights", "7"), "Error: the section lies in the heaviest part from every start."),
        (("--matches", "all"), "expected proportion, chance or shared."),
        (("--seed", "-1"), "expected a whole number of at least 0."),
    ],
)
def test_what_cannot_be_done_is_said(args, said, folder):
    (folder / "file").write_text("")
    (folder / "taken" / "figure-1.png").mkdir(parents=True)
    result = run("reproduce", "--n", 9, "--repetitions", 2, *args, code=2)
    assert said in result.stderr
    assert result.stdout == ""
    assert sorted(os.listdir()) == ["file", "taken"]


def test_without_matplotlib_it_says_so_before_anything_is_computed():
    code = """
import sys
sys.modules["matplotlib"] = None
import wmcc.experiments.draws as draws
draws.raw = lambda *_: 1 / 0
sys.argv = ["wmcc", "reproduce"]
from wmcc.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    sentence = "Error: this needs matplotlib, which is not installed.\nHint: pip install 'wmcc[plot]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence)
    assert os.listdir() == []

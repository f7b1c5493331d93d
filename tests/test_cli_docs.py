"""Every example of every help text and of docs/cli.md works, and prints what it is said to print."""

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import examples, put_sample, run, shell
from PIL import Image

DOCS = Path(__file__).parent.parent / "docs" / "cli.md"
DESIGNS = DOCS.with_name("designs.md")
COMMANDS = [
    "score", "compare", "images", "drift", "certify", "radius", "rank", "map", "plan", "report", "tabulate", "merge",
    "show", "demo", "sample", "reproduce",
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_commands_are_tested():
    listed = run("--help").stdout.partition("Commands:\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in listed.splitlines()] == COMMANDS


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_the_examples_of_help_work(command, folder):
    text = run(*([command] if command else []), "--help").stdout
    found = examples(text)
    assert found
    assert command is None or any(line.split()[2] == command for line in found)
    if command not in (None, "demo", "sample", "reproduce"):
        assert "on the sample that `wmcc sample -o parcels.csv` writes" in text
        put_sample(folder)
    for line in found:
        printed = shell(line)
        assert bool(printed) != (" -o " in line)


def blocks(text):
    return re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def played(block):
    """A block with what its commands print now."""
    return "".join(f"{line}\n{shell(line)}" for line in re.findall(r"^\$ .*$", block, re.MULTILINE))


def without_last_digits(text):
    """Logarithms and the like are not the same to the last bit on every processor, and intervals are made of them."""
    return re.sub(r"\d+\.\d{9,}(e-?\d+)?", lambda m: f"{float(m[0]):.9g}", text)


def put_points():
    """Write the sample of points that docs/designs.md has, of Olofsson et al. (2014)."""
    classes = "deforestation", "forest gain", "forest", "non-forest"
    counts = [66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]
    rows = [f"{a},{b}\n" * n for a, own in zip(classes, counts, strict=True) for b, n in zip(classes, own, strict=True)]
    Path("points.csv").write_text("map,reference\n" + "".join(rows))


def put_streets():
    """Write the folders of images of docs/cli.md: twelve streets in two cities, two predictions, and weight maps."""
    y, x = np.mgrid[:24, :40]
    for k in range(12):
        city, at = ("aachen", "bochum")[k % 2], 3 + 5 * k % 31
        truth = np.where(y < 8 + k % 3, 2, 0)
        truth[(abs(x - at) < 4) & (abs(y - 15) < 3)] = 1
        truth[(abs(x - at - 9) < 2) & (abs(y - 12) < 2)] = 1
        old, new = (np.roll(truth, shift, axis) for shift, axis in ((1, 0), (1 + k % 2, 1)))
        truth[22:, 10:30] = 255
        near = np.maximum(1, 20 - 2 * abs(x - at))
        for folder, array in {"truth": truth, "old": old, "new": new, "maps": near}.items():
            os.makedirs(f"{folder}/{city}", exist_ok=True)
            Image.fromarray(array.astype(np.uint8)).save(f"{folder}/{city}/{k:02d}.png")


@pytest.mark.parametrize(("page", "least"), [(DOCS, 8), (DESIGNS, 1)], ids=["cli", "designs"])
def test_the_examples_of_the_docs_print_what_they_say(page, least):
    put_points()
    put_streets()
    found = blocks(page.read_text())
    assert len(found) >= least
    for block in found:
        assert without_last_digits(played(block)) == without_last_digits(block)


def test_the_gate_of_the_docs_says_what_it_says(folder):
    put_sample(folder)
    (line,) = re.findall(r"^\$ (wmcc .* --fail-under .*) >score.txt; echo \$\?$", DOCS.read_text(), re.MULTILINE)
    said = run(*line.split()[1:], code=3).stderr
    assert f"{line} >score.txt; echo $?\n{said}3\n" in DOCS.read_text()


def test_the_docs_show_every_command_and_name_every_option():
    text = DOCS.read_text()
    for command in COMMANDS:
        assert f"## wmcc {command}\n" in text
        options = re.findall(r"(--[a-z-]+)", run(command, "--help").stdout.partition("Examples")[0])
        for option in set(options) - {"--help", "--out"}:
            assert option in text, (command, option)


if __name__ == "__main__":  # python tests/test_cli_docs.py FOLDER writes what is printed now into the docs
    os.chdir(sys.argv[1])
    put_points()
    put_streets()
    for page in (DOCS, DESIGNS):
        page.write_text(
            re.sub(r"(?<=^```console\n).*?(?=^```$)", lambda m: played(m[0]), page.read_text(), flags=re.M | re.S)
        )

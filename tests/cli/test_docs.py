"""Every example of every help text and of the pages with commands works, and prints what it is said to print."""

import doctest
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_helpers import COMMANDS, examples, put_sample, run, shell
from click.testing import CliRunner
from paths import DOCS, ROOT
from PIL import Image

import wmcc
from wmcc.cli.commands import wmcc as group
from wmcc.core.storage import SCHEMA

pytestmark = pytest.mark.slow

CLI, CLI_MAPS, RESULTS = (
    DOCS / name for name in ("howto/command-line.md", "howto/command-line-maps.md", "reference/results.md")
)
DESIGNS, MAPS = DOCS / "understand/designs-maps.md", DOCS / "understand/maps.md"


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
    if command not in (None, "demo", "example", "reproduce"):
        assert "on the sample that `wmcc example -o parcels.csv` writes" in text
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


def put_the_sample():
    """Write the sample of parcels."""
    put_sample(Path.cwd())


def put_points():
    """Write the sample of points that docs/understand/designs-maps.md has, of Olofsson et al. (2014)."""
    classes = "deforestation", "forest gain", "forest", "non-forest"
    counts = [66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]
    rows = [f"{a},{b}\n" * n for a, own in zip(classes, counts, strict=True) for b, n in zip(classes, own, strict=True)]
    Path("points.csv").write_text("map,reference\n" + "".join(rows))


def put_streets():
    """Write the folders of images of the command line's pages: streets in two cities, predictions, weight maps."""
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


def put_map():
    """Write the maps of the command line's pages: fields, a map of others, rasters in degrees, and plots."""
    import geopandas
    import rasterio
    from shapely import box

    crops = np.array(["maize", "wheat", "grass"])[np.add.outer(np.arange(6) // 2, np.arange(4) // 2).ravel() % 3]
    mapped = np.where(np.arange(24) % 7 == 3, "grass", crops)
    squares = [
        box(5e5 + 200 * i, 56e5 + 200 * j, 500200 + 200 * i, 5600200 + 200 * j) for i in range(6) for j in range(4)
    ]
    fields = geopandas.GeoDataFrame({"crop": crops, "map": mapped}, geometry=squares, crs=25832)
    fields.to_file("fields.gpkg", layer="fields")
    shifted = fields.geometry.translate(-15, -10)
    geopandas.GeoDataFrame({"class": mapped}, geometry=shifted).to_file("map.gpkg", layer="map")
    y, x = np.mgrid[:40, :60]
    truth = np.where((x - 30) ** 2 + (y - 20) ** 2 < 200, 2, np.where(x > 40, 1, 0)).astype(np.uint8)
    maps = {"new": np.roll(truth, 1, 1), "old": np.roll(truth, 3, 0)}
    truth[:4, :6], maps["new"][30:32, :5] = 255, 255
    size = {"height": 40, "width": 60, "count": 1, "dtype": "uint8", "crs": "EPSG:4326", "nodata": 255}
    for name, own in {"reference": truth, **maps}.items():
        with rasterio.open(
            f"{name}.tif", "w", "GTiff", transform=rasterio.Affine(0.05, 0, 9, 0, -0.05, 60), **size
        ) as f:
            f.write(own, 1)
    places = [(i, j) for i in range(5, 40, 5) for j in range(7, 60, 6)]
    rows = [
        f"{9.025 + 0.05 * j:.3f},{59.975 - 0.05 * i:.3f},{truth[i, j]},{'north' if i < 15 else 'south'}\n"
        for i, j in places
    ]
    Path("plots.csv").write_text("lon,lat,class,part\n" + "".join(rows))


def made_by(page):
    """Run the first block of a page, which makes its data, and return what it names."""
    first = re.search(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)[1]
    names: dict = {}
    for example in doctest.DocTestParser().get_examples(first):
        exec(example.source, names)
    return names


def put_maps():
    """Write the files of docs/understand/maps.md."""
    made_by(MAPS)


def put_survey():
    """Write the survey of docs/tutorials/survey.md, and what it is with people who did not answer."""
    survey = made_by(DOCS / "tutorials/survey.md")["survey"]
    survey.to_parquet("survey.parquet")
    survey.assign(work=survey.work.where(survey.index % 40 > 0)).to_parquet("answers.parquet")


def put_tests():
    """Write the sample under the names that pages give to files like it, with the columns of two models."""
    head, *rows = put_sample(Path.cwd()).read_text().splitlines()
    at = [head.split(",").index(name) for name in ("pred", "pred_b")]
    new = [f"{head},new,old", *(",".join([row, *(row.split(",")[k] for k in at)]) for row in rows)]
    Path("test.csv").write_text("\n".join(new) + "\n")
    pd.read_csv("parcels.csv").to_parquet("shard-17.parquet")


def put_weeks():
    """Write the tables and the day of docs/tutorials/monitoring.md."""
    names = made_by(DOCS / "tutorials/monitoring.md")
    for name in ("before", "today"):
        wmcc.tabulate(*names["batch"](0.9)).save(f"{name}.json")
    truth, pred, amount = names["batch"](0.9)
    rows = (f"{a},{b},{w}\n" for a, b, w in zip(truth, pred, amount, strict=True))
    Path("today.csv").write_text("label,pred,amount\n" + "".join(rows))


def put_predictions():
    """Write the folders of images under the names that docs/understand has."""
    put_streets()
    for own, name in (("new", "pred"), ("old", "blurrier")):
        shutil.move(own, name)


def put_cars():
    """Write the folders with the labels of cars that Cityscapes has, and volumes."""
    put_predictions()
    for path in [*Path("truth").rglob("*.png"), *Path("pred").rglob("*.png")]:
        labels = np.asarray(Image.open(path))
        Image.fromarray(np.where(labels == 1, 26, labels).astype(np.uint8)).save(path)
    for shift, name in enumerate(("volumes", "segmented")):
        os.makedirs(name)
        np.save(f"{name}/0.npy", np.roll(np.arange(6 * 8 * 8).reshape(6, 8, 8) // 5 % 2, shift))


FILES = {
    CLI: (put_streets,),
    CLI_MAPS: (put_the_sample, put_points, put_streets, put_map),
    RESULTS: (put_the_sample,),
    DESIGNS: (put_points,),
    MAPS: (put_maps,),
}


@pytest.mark.parametrize(
    ("page", "least"),
    [(CLI, 8), (CLI_MAPS, 4), (RESULTS, 1), (DESIGNS, 1), (MAPS, 1)],
    ids=lambda x: getattr(x, "stem", None),
)
def test_the_examples_of_the_docs_print_what_they_say(page, least):
    for put in FILES[page]:
        put()
    found = blocks(page.read_text())
    assert len(found) >= least
    for block in found:
        assert without_last_digits(played(block)) == without_last_digits(block)


def test_the_gate_of_the_docs_says_what_it_says(folder):
    put_sample(folder)
    (line,) = re.findall(r"^\$ (wmcc .* --fail-under .*) >score.txt; echo \$\?$", CLI.read_text(), re.MULTILINE)
    said = run(*line.split()[1:], code=3).stderr
    assert f"{line} >score.txt; echo $?\n{said}3\n" in CLI.read_text()


def test_the_docs_say_which_schema_is_written():
    assert f"`schema` ({SCHEMA})" in RESULTS.read_text()


def test_the_docs_show_every_command_and_name_every_option():
    text = CLI.read_text() + CLI_MAPS.read_text()
    for command in COMMANDS:
        assert f"## wmcc {command}\n" in text
        options = re.findall(r"(--[a-z-]+)", run(command, "--help").stdout.partition("Examples")[0])
        for option in set(options) - {"--help", "--out"}:
            assert option in text, (command, option)


PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
WRITTEN = r"^(?: {4,}|\$ )?wmcc (\S.*)$|(?<!`)`wmcc ([^`]+)`(?!`)"


def commands_of(page):
    """Calls of a page as words, those in blocks whole; what stands beside and behind a call is left out."""
    for match in re.finditer(WRITTEN, page.read_text(), re.MULTILINE):
        line = match[1] or match[2]
        if line.split()[0] in COMMANDS:
            for call in re.split(r" \| | && ", re.split(r"  +|;| #| [<>]", f"wmcc {line}")[0]):
                yield shlex.split(call)[1:], match[1] is not None and "…" not in call


def test_every_command_of_every_page_has_options_that_there_are():
    seen = 0
    for page in PAGES:
        for (name, *words), whole in commands_of(page):
            command = group.get_command(None, name)
            known = {option for x in command.params for option in (*x.opts, *x.secondary_opts)} | {"--help"}
            assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, (page.name, words)
            if whole:
                command.make_context(name, list(words))
            seen += 1
    assert seen >= 150


RUN = {
    "start.md": (put_the_sample,),
    "tutorials/survey.md": (put_survey,),
    "tutorials/monitoring.md": (put_weeks,),
    "howto/data.md": (put_tests,),
    "howto/gates.md": (put_tests,),
    "howto/report.md": (put_the_sample,),
    "understand/weightmaps.md": (put_cars,),
    "understand/segmentation.md": (put_predictions,),
}


@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_other_pages_run(page, folder):
    for put in RUN[page]:
        put()
    calls = [words for words, whole in commands_of(DOCS / page) if whole]
    assert calls
    for words in calls:
        files = [name for word in words for name in (sorted(folder.glob(word)) if "*" in word else [word])]
        result = CliRunner().invoke(group, [str(x) for x in files], prog_name="wmcc")
        assert result.exit_code in (0, 3), (words, result.output)  # 3 is the gate's


if __name__ == "__main__":  # python tests/cli/test_docs.py FOLDER writes what is printed now into the docs
    os.chdir(sys.argv[1])
    for page, puts in FILES.items():
        for put in puts:
            put()
        page.write_text(
            re.sub(r"(?<=^```console\n).*?(?=^```$)", lambda m: played(m[0]), page.read_text(), flags=re.M | re.S)
        )

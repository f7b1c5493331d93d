"""`wmcc report`: what its options ask of the library, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import COLUMNS, WEIGHTED, put_sample, run

import wmcc
from wmcc.report import findings


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(findings, "GRID", (0.0, 0.1))
    monkeypatch.setattr(findings, "NODES", 1)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    put_sample(tmp_path)
    return tmp_path


def report(*options, data="parcels.csv"):
    return json.loads(run("report", data, *options, "--format", "json").stdout)


def table(**options):
    return wmcc.tabulate("parcels.csv", true="label", pred="pred", weight="area", progress=False, **options)


def test_options_are_those_of_the_library():
    asked = {"measure": "kappa", "eps": 0.25, "at_least": 0.8, "title": "Fields"}
    options = [x for name, value in asked.items() for x in (f"--{name.replace('_', '-')}", value)]
    found = report(*WEIGHTED, *options, "--confidence", 0.9, "--cluster", "region")
    wmcc.write_report("r.json", table(cluster="region"), **asked, confidence_level=0.9, inputs=["parcels.csv"])
    expected = json.loads(Path("r.json").read_text())
    assert found["made"]["inputs"] == expected["made"]["inputs"]
    assert {**found, "made": None} == {**expected, "made": None}
    assert found["predictions"][0]["clusters"] == 3
    assert found["predictions"][0]["intervals"]["kappa"]["confidence_level"] == 0.9
    assert [x["eps"] for x in found["predictions"][0]["certified"]] == [0.0, 0.1, 0.25]
    assert found["verdict"][1].startswith("Cohen's kappa is at least 0.8 for any change of the weights up to ±")


def test_labels_are_those_asked_for():
    order = "water,forest,field"
    assert report(*WEIGHTED, "--labels", order)["predictions"][0]["table"]["labels"] == order.split(",")
    (one,) = report(*WEIGHTED, "--ignore", "water")["predictions"]
    assert one["ignored"] == table(ignore="water").ignored > 0


def test_the_command_is_written_so_that_it_can_be_run_again(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/usr/bin/wmcc", "report", "my data.csv", "--true", "label"])
    assert report(*WEIGHTED)["made"]["command"] == "wmcc report 'my data.csv' --true label"


@pytest.mark.parametrize(("name", "start"), [("r.html", "<!DOCTYPE html>"), ("r.md", "# Report"), ("r.json", "{")])
def test_the_name_of_the_output_says_the_format(name, start):
    assert run("report", "parcels.csv", *WEIGHTED, "-o", name).stdout == ""
    assert Path(name).read_text().startswith(start)


def test_without_an_output_it_is_printed_as_markdown():
    text = run("report", "parcels.csv", *WEIGHTED).stdout
    assert text.startswith("# Report on a classifier\n")
    run("report", "parcels.csv", *WEIGHTED, "--format", "markdown", "-o", "plain")
    assert Path("plain").read_text().splitlines()[:5] == text.splitlines()[:5]


def test_a_stored_table_is_taken_in_the_place_of_data():
    run("tabulate", "parcels.csv", *WEIGHTED, "-o", "t.json")
    found, expected = report(data="t.json"), report(*WEIGHTED)
    assert found["verdict"] == expected["verdict"]
    assert found["predictions"][0]["table"] == expected["predictions"][0]["table"]
    assert list(found["made"]["tables"].values()) == list(expected["made"]["tables"].values())


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ("parcels.csv", *WEIGHTED, "-o", "r.pdf"),
            "'r.pdf' has no known ending; expected a name that ends with",
        ),
        (("parcels.csv", *WEIGHTED, "-o", "r.md", "-f", "html"), "'r.md' stands for another format"),
        (("data.json", *WEIGHTED, "-o", "data.json"), "'data.json' is also the input; it would be overwritten."),
        (("parcels.csv", *WEIGHTED, "-o", "no/r.html"), "there is no folder"),
        (("parcels.csv",), "expected --true and --pred, columns of labels in parcels.csv; or a stored table"),
        (("parcels.csv", "--true", "label"), "--true needs --pred"),
        (("parcels.csv", "--pred", "pred"), "--pred needs --true"),
        (("parcels.csv", *COLUMNS, "--pred", "pred"), "--pred names 'pred' more than once"),
        (("parcels.csv", *COLUMNS, "--eps", "1"), "`eps` is 1.0; expected a share of the weights"),
        (("parcels.csv", *COLUMNS, "--measure", "f1"), "'f1' is a number per class"),
        (("groups.json",), "there is a table for each region; a report takes one table."),
        (("t.json", "--cluster", "region"), "--cluster is for data files"),
    ],
)
def test_what_cannot_be_done_is_said(args, said, folder):
    table = wmcc.Table.from_counts(np.eye(2, dtype=int))
    (folder / "t.json").write_text(table.to_json())
    (folder / "data.json").write_text("")
    run("tabulate", "parcels.csv", *COLUMNS, "--by", "region", "-o", "groups.json")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run("report", *args, code=2)
    assert said in result.stderr
    assert result.stdout == ""
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

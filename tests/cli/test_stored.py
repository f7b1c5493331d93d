"""Stored tables on the command line: clusters travel with them, and Python reads and writes the same files."""

import json
import re
from pathlib import Path

import polars as pl
import pytest
from cli_helpers import WEIGHTED, put_sample, run
from paths import GOLDEN

import wmcc

CLUSTER = ("--cluster", "scene")
GROUPS = ((), ("--by", "region"), ("--by", "region", "--by", "half"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A sample whose scenes lie in all regions, and in both of the files that it is cut into."""
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    frame = pl.read_csv("parcels.csv").with_row_index("row")
    frame = frame.with_columns(scene=pl.col("row") % 24, half=pl.col("row") // 180).drop("row")
    frame.write_csv("parcels.csv")
    frame.head(100).write_csv("a.csv")
    frame.tail(260).write_csv("b.csv")
    return tmp_path


def stored(*args, name="t.json"):
    run("tabulate", *args, "-o", name)
    return Path(name).read_text()


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


@pytest.mark.parametrize("by", GROUPS)
@pytest.mark.parametrize("engine", ["arrow", "polars"])
def test_a_table_with_clusters_has_the_intervals_of_the_data(by, engine):
    data = ("parcels.csv", *WEIGHTED, *by, *CLUSTER, "--engine", engine)
    stored(*data)
    for form in ("table", "json", "csv", "markdown"):
        found, expected = (run("score", *given, "-f", form).stdout for given in (["t.json"], data))
        if engine == "arrow":
            assert found == expected
        else:  # polars adds up in threads, in any order: the last digits of two runs may differ
            assert NUMBER.split(found) == NUMBER.split(expected)
            numbers, others = (list(map(float, NUMBER.findall(text))) for text in (found, expected))
            assert numbers == pytest.approx(others, rel=1e-9, abs=1e-12)
    independent = run("score", *data[:-4], "--engine", engine, "-f", "json").stdout
    assert run("score", "t.json", "-f", "json").stdout != independent


def test_a_report_of_a_table_with_clusters_is_that_of_the_data():
    stored("parcels.csv", *WEIGHTED, *CLUSTER)
    a = json.loads(run("report", "t.json", "--format", "json").stdout)["predictions"][0]
    b = json.loads(run("report", "parcels.csv", *WEIGHTED, *CLUSTER, "--format", "json").stdout)["predictions"][0]
    assert a["clusters"] == 24
    assert a == b


@pytest.mark.parametrize("by", GROUPS)
def test_clusters_that_overlap_are_merged(by):
    for name in "ab":
        stored(f"{name}.csv", *WEIGHTED, *by, *CLUSTER, name=f"{name}.json")
    stored("parcels.csv", *WEIGHTED, *by, *CLUSTER, name="whole.json")
    run("merge", "b.json", "a.json", "-o", "merged.json")
    kind = wmcc.Tables if by else wmcc.Table
    merged, whole = (kind.from_json(Path(name).read_text()) for name in ("merged.json", "whole.json"))
    assert merged == whole
    assert merged.drawn.clusters == tuple(range(24))
    assert run("score", "merged.json", "-f", "json").stdout == run("score", "whole.json", "-f", "json").stdout


def test_a_table_says_that_it_has_clusters():
    stored("parcels.csv", *WEIGHTED, *CLUSTER)
    said = "Table of 3 classes: 360 rows in 24 clusters, total weight 2,895.5\n"
    assert run("show", "t.json").stdout.startswith(said)
    assert "--cluster is for data files" in run("score", "t.json", *CLUSTER, code=2).stderr


@pytest.mark.parametrize("by", [(), ("region",), ("region", "half")])
@pytest.mark.parametrize("cluster", [None, "scene"])
def test_python_reads_what_the_command_line_wrote(by, cluster):
    options = [x for name in by for x in ("--by", name)] + [*CLUSTER] * (cluster is not None)
    text = stored("parcels.csv", *WEIGHTED, *options)
    data, options = "parcels.csv", {"true": "label", "pred": "pred", "weight": "area", "cluster": cluster}
    if not by:
        assert wmcc.Table.from_json(text) == wmcc.tabulate(data, **options)
    else:
        assert wmcc.Tables.from_json(text) == wmcc.tabulate(data, by=by[0] if len(by) == 1 else list(by), **options)


@pytest.mark.parametrize("by", ["region", ["region", "half"]])
def test_the_command_line_reads_what_python_wrote(by, folder):
    """Keys that are values as well as keys that are tuples."""
    tables = wmcc.tabulate("parcels.csv", true="label", pred="pred", weight="area", by=by, cluster="scene")
    (folder / "python.json").write_text(tables.to_json())
    names = [by] if isinstance(by, str) else by
    stored("parcels.csv", *WEIGHTED, *(x for name in names for x in ("--by", name)), *CLUSTER)
    for command in ("show", "score", "certify"):
        for form in ("table", "json", "csv"):
            assert run(command, "python.json", "-f", form).stdout == run(command, "t.json", "-f", form).stdout
    run("merge", "python.json", "t.json", "-o", "twice.json")
    assert wmcc.Tables.from_json((folder / "twice.json").read_text()).rows.sum() == 720


@pytest.mark.parametrize("name", ["joint-schema-1.json", "joint-tables-schema-1.json"])
def test_a_joint_table_is_compared_and_not_scored(name):
    for command in ("compare", "show", "merge"):
        assert run(command, GOLDEN / name).stdout
    for command in ("score", "certify"):
        said = run(command, GOLDEN / name, code=2).stderr
        assert f"{name} holds a table of several predictions; expected a table of one prediction.\n" in said
        assert "Hint: `wmcc compare`, `wmcc rank` and `wmcc report` read it.\n" in said

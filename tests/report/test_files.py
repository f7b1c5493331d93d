"""Files of a report: those that it is made of, with their hashes, and the one that it is."""

import csv
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import run
from paths import SAMPLE

import wmcc
from wmcc.errors import InputError, InputTypeError
from wmcc.report import findings
from wmcc.report.provenance import LISTED, inputs, provenance


@pytest.fixture(autouse=True)
def _quick(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(findings, "GRID", (0.0, 0.1))
    monkeypatch.setattr(findings, "NODES", 1)


COLUMNS = {"true": "label", "pred": "pred"}


def table(**options):
    return wmcc.tabulate(SAMPLE, **COLUMNS, weight="area", **options)


def how(data=None, **options):
    path = wmcc.write_report("r.json", table() if data is None else data, **options)
    return json.loads(Path(path).read_text())["made"]


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


# ---- what it is made of -------------------------------------------------------------------------------------


def test_it_says_how_it_was_made(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    found = how(inputs=[SAMPLE], command="make report")
    assert (found["command"], found["time"]) == ("make report", "1970-01-01 00:00 UTC")
    assert found["inputs"] == [{"name": str(SAMPLE), "size": SAMPLE.stat().st_size, "sha256": digest(SAMPLE)}]
    assert found["versions"]["NumPy"] == np.__version__
    assert found["tables"] == {"prediction": hashlib.sha256(table().to_json().encode()).hexdigest()}
    assert how()["inputs"] == []


def test_pages_are_the_same_each_time(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    once, again = (wmcc.write_report(name, table()) for name in ("a.html", "b.html"))
    assert Path(once).read_text() == Path(again).read_text()


def test_both_files_of_a_join_are_hashed():
    with open(SAMPLE, newline="") as file:
        rows = list(csv.DictReader(file))
    for name, column in (("t.csv", "label"), ("p.csv", "pred")):
        lines = [f"{k},{row[column]}" for k, row in enumerate(rows)]
        Path(name).write_text("\n".join([f"id,{column}", *lines, ""]))
    run("report", "t.csv", "--join", "p.csv", "--on", "id", "--true", "label", "--pred", "pred", "-o", "r.json")
    found = json.loads(Path("r.json").read_text())["made"]["inputs"]
    assert [(x["name"], x["sha256"]) for x in found] == [(name, digest(name)) for name in ("t.csv", "p.csv")]


@pytest.mark.parametrize("name", ["data", "data/*.csv"])
def test_many_files_have_one_hash(name):
    text = "label,pred\n" + "a,a\nb,b\na,b\n" * 20
    Path("data").mkdir()
    for k in range(25):
        Path(f"data/{k:02}.csv").write_text(text)
    (found,) = how(wmcc.tabulate(name, **COLUMNS, progress=False), inputs=[name])["inputs"]
    assert found["name"] == "25 files, in the order of their names"
    assert found["sha256"] == hashlib.sha256(25 * text.encode()).hexdigest()


def test_what_is_elsewhere_is_named_and_not_hashed():
    address = "s3://bucket/parcels.parquet"
    assert inputs({address: address, str(SAMPLE): str(SAMPLE)}) == [
        (address, None, None),
        (str(SAMPLE), SAMPLE.stat().st_size, digest(SAMPLE)),
    ]
    assert inputs({f"{address}?{k}": address for k in range(LISTED + 1)}) == [("21 files", None, None)]
    items = dict(provenance(None, {address: address}, {}).items)
    assert items[f"Input {address}"] == "not hashed: it is not a file of this machine"
    assert items["Command"] == "wmcc.write_report, in Python"


# ---- the file that it is ------------------------------------------------------------------------------------


def test_data_are_not_written_over():
    Path("data.json").write_text(table().to_json())
    before = Path("data.json").read_bytes()
    with pytest.raises(InputError, match=r"'data.json' is also the input; it would be overwritten"):
        wmcc.write_report("data.json", table(), inputs=["data.json"])
    assert Path("data.json").read_bytes() == before


def test_bad_places_get_a_sentence():
    two = wmcc.tabulate([0, 1], [0, 1])
    for name in ("report.pdf", "report", "report.htm"):
        with pytest.raises(InputError, match=r"has no known ending; expected a name that ends with \.html"):
            wmcc.write_report(name, two)
    with pytest.raises(InputError, match="there is no folder"):
        wmcc.write_report("none/r.html", two)
    with pytest.raises(InputError, match="nothing to score"):
        wmcc.write_report("r.html", wmcc.tabulate([0, 1], [0, 1], [0.0, 0.0]))
    with pytest.raises(InputTypeError, match=r"`path` is 3; expected the name of a file, such as 'report.html'"):
        wmcc.write_report(3, two)
    with pytest.raises(InputTypeError, match="`title` is 7; expected a text"):
        wmcc.write_report("r.html", two, title=7)
    assert not Path("r.html").exists()

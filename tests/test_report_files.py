"""Files of a report: those that it is made of, with their hashes, and the one that it is."""

import csv
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import wmcc
from wmcc.report import findings
from wmcc.report.made import LISTED, inputs, made

SAMPLE = Path(wmcc.__file__).parent / "data" / "parcels.csv"
TEXTS = ["oak", "elm", "elm", "oak"] * 9


@pytest.fixture(autouse=True)
def _quick(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(findings, "GRID", (0.0, 0.1))
    monkeypatch.setattr(findings, "NODES", 1)


def how(*data, **options):
    path = wmcc.write_report("r.json", *data, **options)
    return json.loads(Path(path).read_text())["made"]


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


# ---- what it is made of -------------------------------------------------------------------------------------


def test_it_says_how_it_was_made(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    found = how(SAMPLE, "label", "pred", "area", command="make report")
    assert (found["command"], found["time"]) == ("make report", "1970-01-01 00:00 UTC")
    assert found["inputs"] == [{"name": str(SAMPLE), "size": SAMPLE.stat().st_size, "sha256": digest(SAMPLE)}]
    assert found["versions"]["NumPy"] == np.__version__
    stored = wmcc.tabulate(SAMPLE, "label", "pred", "area")
    assert found["tables"] == {"pred": hashlib.sha256(stored.to_json().encode()).hexdigest()}


def test_pages_are_the_same_each_time(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    once, again = (wmcc.write_report(name, SAMPLE, "label", "pred", "area") for name in ("a.html", "b.html"))
    assert Path(once).read_text() == Path(again).read_text()


def test_labels_are_no_files():
    for labels in (TEXTS, tuple(TEXTS), np.array(TEXTS)):
        assert how(labels, labels)["inputs"] == []
        assert how(labels, {"a": labels, "b": labels[::-1]})["inputs"] == []


def test_both_files_of_a_join_are_hashed():
    with open(SAMPLE, newline="") as file:
        rows = list(csv.DictReader(file))
    for name, column in (("t.csv", "label"), ("p.csv", "pred")):
        lines = [f"{k},{row[column]}" for k, row in enumerate(rows)]
        Path(name).write_text("\n".join([f"id,{column}", *lines, ""]))
    found = how("t.csv", "p.csv", on="id")["inputs"]
    assert [(x["name"], x["sha256"]) for x in found] == [(name, digest(name)) for name in ("p.csv", "t.csv")]


def test_many_files_have_one_hash():
    text = "label,pred\n" + "a,a\nb,b\na,b\n" * 20
    Path("data").mkdir()
    for k in range(25):
        Path(f"data/{k:02}.csv").write_text(text)
    (found,) = how("data", "label", "pred")["inputs"]
    assert found["name"] == "25 files, in the order of their names"
    assert found["sha256"] == hashlib.sha256(25 * text.encode()).hexdigest()


def test_what_is_elsewhere_is_named_and_not_hashed():
    address = "s3://bucket/parcels.parquet"
    assert inputs([address, str(SAMPLE)]) == [
        (address, None, None),
        (str(SAMPLE), SAMPLE.stat().st_size, digest(SAMPLE)),
    ]
    assert inputs([address] * (LISTED + 1)) == [("21 files", None, None)]
    items = dict(made(None, [address], {}).items)
    assert items[f"Input {address}"] == "not hashed: it is not a file of this machine"
    assert items["Command"] == "wmcc.write_report, in Python"


# ---- the file that it is ------------------------------------------------------------------------------------


def test_data_are_not_written_over():
    for name in ("data.csv", "other.csv"):
        Path(name).write_bytes(SAMPLE.read_bytes())
    before = Path("data.csv").read_bytes()
    for data in ("data.csv", ["data.csv", "other.csv"], "*.csv"):
        with pytest.raises(wmcc.InputError, match=r"'data.csv' is the file that is read; it would be lost"):
            wmcc.write_report("data.csv", data, "label", "pred", "area", format="html")
    assert Path("data.csv").read_bytes() == before


def test_bad_places_get_a_sentence():
    with pytest.raises(wmcc.InputError, match=r"'report.pdf' has no ending that says its format; expected .html"):
        wmcc.write_report("report.pdf", [0, 1], [0, 1])
    with pytest.raises(wmcc.InputError, match="there is no folder"):
        wmcc.write_report("none/r.html", [0, 1], [0, 1])
    with pytest.raises(wmcc.InputError, match="nothing to score"):
        wmcc.write_report("r.html", [0, 1], [0, 1], [0.0, 0.0])
    with pytest.raises(wmcc.InputTypeError, match=r"path is a int; expected the name of a file, such as 'report.html'"):
        wmcc.write_report(3, [0, 1], [0, 1])
    with pytest.raises(wmcc.InputTypeError, match="title is a int; expected a text"):
        wmcc.write_report("r.html", [0, 1], [0, 1], title=7)
    with pytest.raises(wmcc.InputError, match="format is 'pdf'; expected html, markdown or json"):
        wmcc.write_report("r.html", [0, 1], [0, 1], format="pdf")
    assert not Path("r.html").exists()
    wmcc.write_report("page", [0, 1] * 20, [0, 1] * 20, format="markdown")
    assert Path("page").read_text().startswith("# Report on a classifier")

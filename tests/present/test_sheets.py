"""Workbooks: what is a number is one, shown with its digits; units stand in the heads; no text is a formula."""

import io
from math import nan

import openpyxl
import pytest

import wmcc
from wmcc.errors import MissingDependencyError
from wmcc.present import sheets
from wmcc.present.sheets import COUNT, SCORE, TEXT, Grid, Sheet, workbook

SIZES = {"bog": 800.0, "fen": 4200.0, "lake": 60.0}
SAMPLE = wmcc.Table.from_counts([[60, 9, 0], [4, 91, 1], [0, 0, 20]], list(SIZES), population=SIZES)


@pytest.fixture(params=["openpyxl", "xlsxwriter"])
def _writer(request, monkeypatch):
    """Let one library write."""
    monkeypatch.setattr(sheets, "WRITERS", {request.param: sheets.WRITERS[request.param]})


def read(found, tmp_path):
    return openpyxl.load_workbook(found.save(tmp_path / "map.xlsx"))


@pytest.mark.usefixtures("_writer")
def test_accuracy_of_a_map_has_sheets(tmp_path):
    found = wmcc.map_accuracy(SAMPLE, pixel_area=0.09, unit="ha")
    book = read(found, tmp_path)
    assert book.sheetnames == ["Estimates", "Areas", "Error matrix", "Settings"]
    head, first, *_ = book["Estimates"].rows
    assert [x.value for x in head[:7]] == [
        "Measure", "Class", "Value", "SE", "95 % interval, low", "95 % interval, high", "Margin"
    ]  # fmt: skip
    x = found.overall_accuracy
    assert [cell.value for cell in first[:6]] == [
        "Overall accuracy", None, *(pytest.approx(own, rel=1e-14) for own in (x.value, x.se, x.low, x.high))
    ]  # fmt: skip
    assert {cell.number_format for cell in first[2:7]} == {"0.0000"}
    assert head[0].font.bold
    assert book["Estimates"].freeze_panes == "A2"
    rows = book["Estimates"].max_row - 1
    assert rows == len(found.overall) + len(found.disagreement) + 3 * len(found.classes)
    head, first, *_ = book["Areas"].rows
    assert all(cell.value.endswith("(ha)") for cell in head[1:8])
    assert [cell.value for cell in first[:4]] == [
        "bog", *(pytest.approx(own, rel=1e-14) for own in (found["bog"].mapped_area, 0, found["bog"].area.value))
    ]  # fmt: skip
    assert first[3].number_format == "#,##0.000"  # three digits of the smallest standard error
    assert first[8].number_format == "0.0%"
    matrix = [[cell.value for cell in row] for row in book["Error matrix"].rows]
    assert matrix[:3] == [
        ["Numbers of sampled rows", None, None, None, None],
        ["map \\ reference", "bog", "fen", "lake", "Total"],
        ["bog", 60, 4, 0, 64],
    ]
    settings = {row[0]: row[1] for row in book["Settings"].values}
    assert settings["Total area (ha)"] == pytest.approx(0.09 * sum(SIZES.values()))
    assert settings["Design"] == found.design
    assert settings["Confidence level"] == 0.95


def test_a_whole_map_has_no_errors_on_its_sheets(tmp_path):
    book = read(wmcc.map_accuracy(wmcc.tabulate([[1, 2], [2, 2]] * 9, [[1, 1], [2, 2]] * 9), unit="km2"), tmp_path)
    head, first, *_ = book["Areas"].values
    assert head == ("Class", "Mapped (km2)", "Reference (km2)", "Mapped less reference (km2)", "Share")
    assert first == ("1", 18, 9, 9, 0.25)
    assert [*book["Estimates"].values][1][3:7] == (None,) * 4
    many = wmcc.tabulate([k % 30 for k in range(900)], [k % 29 for k in range(900)])
    assert "Error matrix" not in read(wmcc.map_accuracy(many), tmp_path).sheetnames


@pytest.mark.usefixtures("_writer")
def test_cells_of_any_kind():
    rows = [["=1+1", nan, 3], ["@x", None, 10_000], ["long " * 40, 0.5, 1]]
    made = workbook([Sheet("a", [Grid(["=A1", "x", "n"], rows, [TEXT, SCORE, COUNT])])])
    sheet = openpyxl.load_workbook(io.BytesIO(made)).active
    assert all(cell.data_type != "f" for row in sheet for cell in row)
    assert [cell.value for cell in sheet["B"]] == ["x", None, None, 0.5]
    assert [cell.value for cell in sheet["A"]][:3] == ["'=A1", "'=1+1", "'@x"]
    assert sheet["A4"].alignment.wrap_text
    assert sheet["C3"].number_format == "#,##0"
    assert sheet.column_dimensions["A"].width >= sheets.WIDEST


def test_a_missing_writer_is_named(monkeypatch):
    monkeypatch.setattr(sheets, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="needs openpyxl; openpyxl is not installed"):
        wmcc.map_accuracy(SAMPLE).save("map.xlsx")

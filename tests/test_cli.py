"""The commands, in this process: results, formats, options, errors."""

import csv
import io
import json
import math
import subprocess
import sys
from datetime import date

import polars as pl
import pytest
from cli_helpers import COLUMNS, SAMPLE, WEIGHTED, process, put_sample, run

import wmcc


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    return tmp_path


def whole(**options):
    return wmcc.tabulate(str(SAMPLE), "label", "pred", "area", progress=False, **options)


def test_score_is_what_the_library_says():
    data = json.loads(run("score", "parcels.csv", *WEIGHTED, "--format", "json").stdout)
    score = wmcc.score(whole())
    assert data["schema"] == 1
    assert {name: data[name] for name in ("n", "weight", "n_eff", "ignored", "positive", "notes")} == {
        "n": 360, "weight": score.weight, "n_eff": score.n_eff, "ignored": 0, "positive": None, "notes": [],
    }  # fmt: skip
    assert data["measures"] == {name: getattr(score, name) for name in wmcc.MEASURES}
    assert data["measures"]["mcc"] is None  # three classes
    assert [c["label"] for c in data["classes"]] == ["field", "forest", "water"]
    for got, c in zip(data["classes"], score.classes, strict=True):
        assert got == {
            "label": c.label,
            "n": c.n,
            "weight": c.weight,
            "n_eff": wmcc.diagnose(whole()).classes[whole().labels.index(c.label)].n_eff,
            **{m: getattr(c, m) for m in wmcc.CLASS_MEASURES},
        }


def test_groups_are_scored_one_by_one():
    data = json.loads(run("score", "parcels.csv", *WEIGHTED, "--by", "region", "-f", "json").stdout)
    assert data["by"] == ["region"]
    tables = whole(by="region")
    assert [group["key"] for group in data["groups"]] == [[key] for key in tables]
    for group in data["groups"]:
        assert group["score"]["measures"]["ecc"] == wmcc.ecc(tables[group["key"][0]])


def test_score_as_csv():
    lines = list(
        csv.DictReader(io.StringIO(run("score", "parcels.csv", *WEIGHTED, "--by", "region", "-f", "csv").stdout))
    )
    assert [(x["region"], x["scope"], x["class"]) for x in lines[:4]] == [
        ("coast", "all", ""), ("coast", "class", "field"), ("coast", "class", "forest"), ("coast", "class", "water"),
    ]  # fmt: skip
    score = wmcc.score(whole(by="region")["coast"])
    assert float(lines[0]["ecc"]) == score.ecc
    assert lines[0]["precision"] == ""
    assert lines[0]["mcc"] == ""
    assert float(lines[1]["mcc"]) == score.classes[0].mcc
    assert float(lines[1]["iou"]) == score.classes[0].iou


def test_score_for_people():
    said = run("score", "parcels.csv", *WEIGHTED).stdout
    assert "ECC (R_K)               0.9017  0.8316 to 0.9398 *\n" in said
    assert "field    177  1,737.86     0.9731" in said
    assert "\x1b" not in said
    said = run("score", "parcels.csv", *WEIGHTED, "--format", "markdown").stdout
    assert "| ECC (R\\_K) | 0.9017 | 0.8316 to 0.9398 \\* |\n" in said
    assert "| Class | Rows | Weight |" in said


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_engines_agree(engine, folder):
    run("tabulate", "parcels.csv", *WEIGHTED, "--engine", engine, "-o", "t.json")
    table = wmcc.Table.from_json((folder / "t.json").read_text())
    assert table.labels == whole().labels
    assert table.w.ravel().tolist() == pytest.approx(whole().w.ravel().tolist())


def test_several_files_a_folder_and_a_pattern(folder):
    rows = SAMPLE.read_text().splitlines(keepends=True)
    (folder / "parts").mkdir()
    (folder / "parts" / "a.csv").write_text("".join(rows[:100]))
    (folder / "parts" / "b.csv").write_text("".join([rows[0], *rows[100:]]))
    for files in (["parts/a.csv", "parts/b.csv"], ["parts"], ["parts/*.csv"]):
        run("tabulate", *files, *WEIGHTED, "-o", "t.json")
        assert wmcc.Table.from_json((folder / "t.json").read_text()) == whole()


def test_a_stored_table_is_scored_like_the_data(folder):
    run("tabulate", "parcels.csv", *WEIGHTED, "-o", "t.json")
    assert wmcc.Table.from_json((folder / "t.json").read_text()) == whole()
    for form in ("table", "json", "csv", "markdown"):
        a = run("score", "t.json", "--format", form).stdout
        assert a == run("score", "parcels.csv", *WEIGHTED, "--format", form).stdout
    run("tabulate", "parcels.csv", *WEIGHTED, "--by", "region", "-o", "g.json")
    by = run("score", "parcels.csv", *WEIGHTED, "--by", "region", "-f", "json").stdout
    assert run("score", "g.json", "-f", "json").stdout == by
    stored = (folder / "g.json").read_text()
    assert run("score", "-", "-f", "json", text=stored).stdout == by


def test_show(folder):
    run("tabulate", "parcels.csv", *WEIGHTED, "--by", "region", "-o", "g.json")
    for form in ("table", "json", "csv", "markdown"):
        direct = run("tabulate", "parcels.csv", *WEIGHTED, "--by", "region", "-f", form).stdout
        assert run("show", "g.json", "-f", form).stdout == direct
    cells = list(csv.DictReader(io.StringIO(run("show", "g.json", "-f", "csv").stdout)))
    assert cells[0] == {
        "region": "coast", "true": "field", "pred": "field", "n": "50", "w": "721.0", **{
            name: repr(float(getattr(whole(by="region")["coast"], name)[0, 0])) for name in ("w2", "w_min", "w_max")
        },
    }  # fmt: skip


def test_the_stored_form_of_groups(folder):
    run("tabulate", "parcels.csv", *WEIGHTED, "--by", "region", "--by", "label", "-o", "g.json")
    data = json.loads((folder / "g.json").read_text())
    assert (data["schema"], data["kind"], data["by"]) == (2, "tables", ["region", "label"])
    assert data["groups"][0] == ["coast", "field"]
    tables = whole(by=["region", "label"])
    assert wmcc.Tables.from_dict(data) == tables
    assert list(tables) == list(map(tuple, data["groups"]))


@pytest.mark.parametrize("by", [(), ("--by", "region")])
def test_merging_is_exact(folder, by):
    rows = SAMPLE.read_text().splitlines(keepends=True)
    for name, part in (("a", rows[1:50]), ("b", rows[50:51]), ("c", rows[51:])):
        (folder / f"{name}.csv").write_text("".join([rows[0], *part]))
        run("tabulate", f"{name}.csv", *WEIGHTED, *by, "-o", f"{name}.json")
    run("merge", "c.json", "b.json", "a.json", "-o", "merged.json")
    run("tabulate", "parcels.csv", *WEIGHTED, *by, "-o", "whole.json")
    # A part has its own exponent of the exact sums, so the texts may differ where the tables do not.
    kind = wmcc.Tables if by else wmcc.Table
    merged, direct = (kind.from_json((folder / name).read_text()) for name in ("merged.json", "whole.json"))
    assert merged == direct
    if by:
        assert list(merged) == list(direct)


def test_what_cannot_be_merged(folder):
    run("tabulate", "parcels.csv", *WEIGHTED, "-o", "t.json")
    run("tabulate", "parcels.csv", *WEIGHTED, "--by", "region", "-o", "g.json")
    for first, second, by in (("g.json", "t.json", ("region", "nothing")), ("t.json", "g.json", ("nothing", "region"))):
        said = f"{first} and {second}: one is grouped by {by[0]}, the other by {by[1]}; they cannot be merged."
        assert said in run("merge", first, second, code=2).stderr
    pl.DataFrame({"label": [0], "pred": [0], "tile": [7]}).write_parquet("n.parquet")
    pl.DataFrame({"label": [0], "pred": [0], "tile": ["7"]}).write_parquet("s.parquet")
    for name in "ns":
        run("tabulate", f"{name}.parquet", *COLUMNS, "--by", "tile", "-o", f"{name}.json")
    said = run("merge", "n.json", "s.json", code=2).stderr
    assert "n.json and s.json: the groups by 'tile' are numbers in one and text in another" in said
    run("tabulate", "n.parquet", *COLUMNS, "-o", "int.json")
    assert "t.json and int.json: labels are of mixed types" in run("merge", "t.json", "int.json", code=2).stderr
    said = run("merge", "t.json", "t.json", "int.json", code=2).stderr
    assert "the 2 files before int.json and int.json: labels are of mixed types" in said
    run("tabulate", "parcels.csv", *WEIGHTED, "--cluster", "region", "-o", "c.json")
    said = run("merge", "t.json", "c.json", code=2).stderr
    assert "t.json and c.json: the rows of one table are independent rows, those of another clusters" in said
    assert "Hint: tabulate all with --cluster, or none.\n" in said


def test_groups_of_dates_and_missing_ones():
    days = [date(2026, 1, 2), None, date(2026, 1, 1)]
    pl.DataFrame({"label": [0, 1, 1], "pred": [0, 1, 1], "day": days}).write_parquet("d.parquet")
    data = json.loads(run("tabulate", "d.parquet", *COLUMNS, "--by", "day", "-f", "json").stdout)
    assert data["groups"] == [["2026-01-01"], ["2026-01-02"], [None]]
    assert "day = missing" in run("tabulate", "d.parquet", *COLUMNS, "--by", "day").stdout


# ---- undefined -------------------------------------------------------------------------------------


def test_zero_division():
    pl.DataFrame({"label": [1, 1], "pred": [1, 1]}).write_csv("d.csv")
    assert json.loads(run("score", "d.csv", *COLUMNS, "-f", "json").stdout)["measures"]["ecc"] == 0.0
    data = run("score", "d.csv", *COLUMNS, "-f", "json", "--zero-division", "nan").stdout
    assert "NaN" not in data
    assert json.loads(data)["measures"]["ecc"] is None
    assert "—" in run("score", "d.csv", *COLUMNS, "--zero-division", "nan").stdout
    assert (
        json.loads(run("score", "d.csv", *COLUMNS, "-f", "json", "--zero-division", "0.5").stdout)["measures"]["ecc"]
        == 0.5
    )
    assert "Warning: " in run("score", "d.csv", *COLUMNS, "--zero-division", "warn").stderr
    assert "Error: " in run("score", "d.csv", *COLUMNS, "--zero-division", "raise", code=2).stderr
    assert (
        "expected a number, nan, warn or raise"
        in run("score", "d.csv", *COLUMNS, "--zero-division", "x", code=2).stderr
    )


def test_a_group_without_weight_does_not_hide_the_others():
    frame = pl.DataFrame({"label": [1, 0, 1], "pred": [1, 0, 1], "w": [1.0, 2.0, 0.0], "g": ["a", "a", "b"]})
    frame.write_csv("d.csv")
    args = ("d.csv", *COLUMNS, "--weight", "w", "--by", "g")
    data = json.loads(run("score", *args, "-f", "json").stdout)
    assert data["groups"][0]["score"]["measures"]["mcc"] == 1.0
    assert set(data["groups"][1]["score"]["measures"].values()) == {None}
    assert data["groups"][1]["score"]["notes"][0].startswith("g = b: ")
    assert "g = b: " in run("score", *args).stdout
    frame.filter(pl.col("g") == "b").write_csv("d.csv")
    assert "weight" in run("score", *args, code=2).stderr


def test_sums_beyond_float64():
    pl.DataFrame({"label": [1, 1, 0], "pred": [1, 1, 0], "w": [1.7e308, 1.7e308, 1.0]}).write_csv("d.csv")
    args = ("d.csv", *COLUMNS, "--weight", "w")
    for form in ("json", "csv", "table", "markdown"):
        run("tabulate", *args, "-f", form)
        data = run("score", *args, "-f", form).stdout
        if form == "json":
            assert json.loads(data)["weight"] is None
    assert math.isinf(wmcc.tabulate("d.csv", "label", "pred", "w").total)


# ---- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["parcels.csv", "--true", "lable", "--pred", "pred"], "did you mean 'label'?"),
        (["parcels.cvs", *COLUMNS], "did you mean 'parcels.csv'?"),
        (["parcels.csv"], "expected --true and --pred, the columns of labels in parcels.csv"),
        (["parcels.csv", "--true", "label"], "--true needs --pred"),
        (["parcels.csv", "--weight", "area"], "--weight goes with data"),
        (["parcels.csv", *COLUMNS, "--on", "id"], "--on goes with --join"),
        (["parcels.csv", *COLUMNS, "--join", "parcels.csv"], "--join needs --on"),
        (["parcels.csv", *COLUMNS, "--engine", "sqlite"], "engine is 'sqlite'; expected one of arrow, polars"),
        (["parcels.csv", *COLUMNS, "--weight", "region"], "mountains"),
        (["parcels.csv", *COLUMNS, "--labels", "field,forest"], "add it to labels, or name it in --ignore"),
        (["parcels.csv", *COLUMNS, "-o", "parcels.csv"], "is the file that is read; it would be lost"),
        (["parcels.csv", *COLUMNS, "-o", "no/where.json"], "there is no folder"),
        (["parcels.csv", *COLUMNS, "-o", "."], "is a folder"),
        (["parcels.csv", *COLUMNS, "-o", ""], "the output has no name"),
        (["tabel.json"], "there is no file 'tabel.json'"),
        (["parcels.csv", *COLUMNS, "--format", "xml"], "xml"),
        (["parcels.csv", *COLUMNS, "--wieght", "area"], "--wieght"),
        ([], "FILE"),
    ],
)  # fmt: skip
def test_bad_input_is_told_in_a_sentence(args, said):
    result = run("score", *args, code=2)
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_a_report_is_not_written_under_an_ending_that_says_something_else():
    result = run("report", "parcels.csv", *COLUMNS, "-o", "report.pdf", code=2)
    assert "'report.pdf' has no ending that says its format; expected .html, .htm, .md, .json." in result.stderr


def test_bad_stored_tables(folder):
    good = {"schema": 1, "by": ["a"], "groups": []}
    for text, said in (
        ("{", "this is not JSON"),
        ("{}", "it has no 'schema' entry"),
        ('{"schema": 9, "groups": []}', "the stored table has schema 9"),
        (json.dumps({**good, "by": []}), "'by' must be a list of names"),
        (json.dumps({**good, "groups": [{"key": [1, 2], "table": {}}]}), "expected one value for each of a"),
        (json.dumps({**good, "groups": [{"key": [1], "table": {}}]}), "no 'schema' entry"),
    ):
        (folder / "t.json").write_text(text)
        for command in ("show", "score", "merge"):
            assert said in run(command, "t.json", code=2).stderr


def test_an_engine_that_is_not_installed():
    code = "import sys; sys.modules['polars'] = None; from wmcc.cli import main; main()"
    args = [sys.executable, "-c", code, "score", "parcels.csv", *COLUMNS, "--engine", "polars"]
    done = subprocess.run(args, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "Error: this needs polars, which is not installed.\nHint: pip install 'wmcc[polars]'\n"


def test_anything_else_is_told_in_a_sentence_too(monkeypatch):
    def fails(*args, **options):
        raise RuntimeError("the moon is full\nand more")

    monkeypatch.setattr("wmcc.cli.reading.tabulate", fails)
    said = run("score", "parcels.csv", *COLUMNS, code=1).stderr
    assert said == "Error: RuntimeError: the moon is full\nHint: --traceback shows where this comes from.\n"
    with pytest.raises(RuntimeError, match="moon"):
        raise run("score", "parcels.csv", *COLUMNS, "--traceback", code=1).exception


def test_version():
    assert process("--version").stdout.startswith("wmcc ")


def test_output_names_choose_formats(folder):
    run("score", "parcels.csv", *COLUMNS, "-o", "s.json")
    assert json.loads((folder / "s.json").read_text())["schema"] == 1
    run("score", "parcels.csv", *COLUMNS, "-o", "s.md")
    assert (folder / "s.md").read_text().startswith("| Measure")
    run("tabulate", "parcels.csv", *COLUMNS, "-o", "t")
    assert json.loads((folder / "t").read_text())["schema"] == 2
    run("tabulate", "parcels.csv", *COLUMNS, "-o", "t.json", "-f", "csv")
    assert (folder / "t.json").read_text().startswith("true,pred,n")


def test_sample(folder):
    assert run("sample").stdout == SAMPLE.read_text()
    run("sample", "-o", "again.csv")
    assert (folder / "again.csv").read_bytes() == SAMPLE.read_bytes()
    assert SAMPLE.stat().st_size < 20_000

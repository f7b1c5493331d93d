"""The commands, in this process: results, formats, options, errors."""

import csv
import io
import json
import math
import subprocess
import sys
from datetime import date
from typing import get_args

import polars as pl
import pytest
from cli_helpers import COLUMNS, SAMPLE, WEIGHTED, process, put_sample, run
from schemas import check

import wmcc
from wmcc.cli.options import TABLE
from wmcc.present.result import ENDINGS
from wmcc.sources import values


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    return tmp_path


def whole(**options):
    return wmcc.tabulate(str(SAMPLE), true="label", pred="pred", weight="area", progress=False, **options)


def test_score_is_what_the_library_says():
    data = json.loads(run("score", "parcels.csv", *WEIGHTED, "--format", "json").stdout)
    assert data == wmcc.score(whole()).to_dict()
    assert data["measures"]["mcc"] is None  # three classes
    ranged = json.loads(run("score", "parcels.csv", *WEIGHTED, "--eps", "0.2", "--absolute", "-f", "json").stdout)
    assert ranged == wmcc.score(whole()).with_ranges(0.2, "absolute").to_dict()


def test_groups_are_scored_one_by_one():
    data = json.loads(run("score", "parcels.csv", *WEIGHTED, "--by", "region", "-f", "json").stdout)
    check(data)
    assert (data["kind"], data["by"]) == ("groups", ["region"])
    tables = whole(by="region")
    assert [group["key"] for group in data["groups"]] == [[key] for key in tables]
    for group in data["groups"]:
        assert group["result"] == wmcc.score(tables[group["key"][0]]).to_dict()


def test_score_as_csv():
    said = run("score", "parcels.csv", *WEIGHTED, "--by", "region", "-f", "csv").stdout
    lines = list(csv.DictReader(io.StringIO(said)))
    assert list(lines[0])[:4] == ["region", "scope", "class", "measure"]
    score = wmcc.score(whole(by="region")["coast"])
    coast = {(x["scope"], x["class"], x["measure"]): x for x in lines if x["region"] == "coast"}
    assert float(coast["all", "", "ecc"]["value"]) == score.ecc
    assert float(coast["all", "", "ecc"]["low"]) == score.intervals["ecc"].low
    assert float(coast["class", "water", "iou"]["value"]) == score.classes[2].iou
    assert float(coast["class", "water", "iou"]["high"]) == score.class_intervals["iou"][2].high
    assert said.replace("\n", ",").split(",").count("") < 0.15 * said.count(",")


def test_score_for_people():
    said = run("score", "parcels.csv", *WEIGHTED).stdout
    assert said == f"{wmcc.score(whole())}\n"
    assert "ECC (R_K)          0.9017  0.0237  0.8387 to 0.9409 *  20\n" in said
    assert "\x1b" not in said
    said = run("score", "parcels.csv", *WEIGHTED, "--format", "markdown").stdout
    assert "| ECC (R\\_K) | 0.9017 | 0.0237 | 0.8387 to 0.9409 \\* | 20 |\n" in said
    assert "| Class | Rows | Weight |" in said
    assert (
        "ECC (R\\_K) & 0.9017 & 0.0237 & 0.8387 to 0.9409 * & 20 \\\\"
        in run("score", "parcels.csv", *WEIGHTED, "-f", "latex").stdout
    )


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
    assert (data["schema"], data["kind"], data["by"]) == (1, "tables", ["region", "label"])
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
    assert "Hint: tabulate all with `cluster`, or none.\n" in said


def test_groups_of_dates_and_missing_ones():
    days = [date(2026, 1, 2), None, date(2026, 1, 1)]
    pl.DataFrame({"label": [0, 1, 1], "pred": [0, 1, 1], "day": days}).write_parquet("d.parquet")
    data = json.loads(run("tabulate", "d.parquet", *COLUMNS, "--by", "day", "-f", "json").stdout)
    assert data["groups"] == ["2026-01-01", "2026-01-02", None]
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
    first, second = json.loads(run("score", *args, "-f", "json").stdout)["groups"]
    assert first["result"]["measures"]["mcc"] == 1.0
    assert second["result"] is None
    assert "weight" in second["problem"]
    assert f"g = b: {second['problem']}" in run("score", *args).stdout
    last = list(csv.DictReader(io.StringIO(run("score", *args, "-f", "csv").stdout)))[-1]
    assert (last["g"], last["problem"]) == ("b", second["problem"])
    frame.filter(pl.col("g") == "b").write_csv("d.csv")
    assert "g = b: " in run("score", *args, code=2).stderr


def test_sums_beyond_float64():
    pl.DataFrame({"label": [1, 1, 0], "pred": [1, 1, 0], "w": [1.7e308, 1.7e308, 1.0]}).write_csv("d.csv")
    args = ("d.csv", *COLUMNS, "--weight", "w")
    for form in ("json", "csv", "table", "markdown"):
        run("tabulate", *args, "-f", form)
        data = run("score", *args, "-f", form).stdout
        if form == "json":
            assert json.loads(data)["total"] is None
    assert math.isinf(wmcc.tabulate("d.csv", true="label", pred="pred", weight="w").total)


def test_choices_are_those_of_the_values():
    given = {"lonely": values.Lonely, "method": values.Method, "engine": values.Engine, "unmatched": values.Unmatched}
    for option, choices in {**given, "uncovered": values.Uncovered}.items():
        assert TABLE[option].metavar.split("|") == list(get_args(choices))


# ---- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["parcels.csv", "--true", "lable", "--pred", "pred"], "did you mean 'label'?"),
        (["parcels.cvs", *COLUMNS], "did you mean 'parcels.csv'?"),
        (["parcels.csv"], "expected --true and --pred, columns of labels in parcels.csv"),
        (["parcels.csv", "--true", "label"], "--true needs --pred"),
        (["parcels.csv", "--weight", "area"], "expected --true and --pred, columns of labels in parcels.csv"),
        (["parcels.csv", *COLUMNS, "--on", "id"], "--on needs --join"),
        (["parcels.csv", *COLUMNS, "--join", "parcels.csv"], "`on` is None; expected the column that identifies a row"),
        (["parcels.csv", *COLUMNS, "--engine", "sqlite"], "'sqlite' is not one of 'arrow', 'polars', 'duckdb'"),
        (["parcels.csv", *COLUMNS, "--weight", "region"], "mountains"),
        (["parcels.csv", *COLUMNS, "--labels", "field,forest"], "if it is not a class, list it in `ignore`."),
        (["parcels.csv", *COLUMNS, "-o", "parcels.csv"], "is also the input; it would be overwritten"),
        (["parcels.csv", *COLUMNS, "-o", "no/where.json"], "there is no folder"),
        (["parcels.csv", *COLUMNS, "-o", "."], "is a folder"),
        (["parcels.csv", *COLUMNS, "-o", ""], "the output has no name"),
        (["tabel.json"], "there is no file 'tabel.json'"),
        (["parcels.csv", *COLUMNS, "-o", "x.xls"], "'x.xls' has no known ending; expected a name that"),
        (["parcels.csv", *COLUMNS, "-o", "x.md", "-f", "csv"], "'x.md' stands for another format."),
        (["parcels.csv", *COLUMNS, "--true", "pred"], "--true is given 2 times; expected once."),
        (["parcels.csv", *COLUMNS, "--relative", "--eps", "0.1", "--absolute"], "is given 2 times"),
        (["parcels.csv", *COLUMNS, "--pred", "pred_b"], "--pred names 2 columns; expected one."),
        (["parcels.csv", *COLUMNS, "--confidence", "95"], "Error: `--confidence` is 95.0; expected a number between"),
        (["parcels.csv", *COLUMNS, "--absolute"], "--absolute needs --eps"),
        (["parcels.csv", *COLUMNS, "--names", "water"], "--names is 'water'; expected a label and its name"),
        (["parcels.csv", *COLUMNS, "--fail-under", "ecc"], "expected a measure and a number, as ecc=0.8"),
        (["parcels.csv", *COLUMNS, "--fail-under", "iou=0.5"], "the measures are mcc, ecc"),
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
    assert "'report.pdf' has no known ending; expected a name that ends with .html, .md or .json." in result.stderr


def test_bad_stored_tables(folder):
    good = wmcc.tabulate([0, 1], [0, 1], by={"a": [1, 2]}).to_dict()
    for text, said in (
        ("{", "this is not JSON"),
        ("{}", "it has no 'schema' entry"),
        ('{"schema": 9, "groups": []}', "the stored table has schema 9"),
        (json.dumps({**good, "by": []}), "'by' must be a name or a list of names"),
        (json.dumps({**good, "groups": [[1], [2, 3]]}), "expected one value for each of a"),
        (json.dumps({**good, "groups": [[1], [1]]}), "a key that occurs twice"),
    ):
        (folder / "t.json").write_text(text)
        for command in ("show", "score", "merge"):
            assert said in run(command, "t.json", code=2).stderr


@pytest.mark.slow
def test_an_engine_that_is_not_installed():
    code = "import sys; sys.modules['polars'] = None; from wmcc.cli import main; main()"
    args = [sys.executable, "-c", code, "score", "parcels.csv", *COLUMNS, "--engine", "polars"]
    done = subprocess.run(args, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "Error: this needs polars, which is not installed.\nHint: pip install 'wmcc[polars]'\n"


def test_anything_else_is_told_in_a_sentence_too(monkeypatch):
    def fails(*args, **options):
        raise RuntimeError("the moon is full\nand more")

    monkeypatch.setattr("wmcc.cli.request.tabulate", fails)
    said = run("score", "parcels.csv", *COLUMNS, code=1).stderr
    assert said == "Error: RuntimeError: the moon is full\nHint: --traceback shows where this comes from.\n"
    with pytest.raises(RuntimeError, match="moon"):
        raise run("score", "parcels.csv", *COLUMNS, "--traceback", code=1).exception


@pytest.mark.slow
def test_version():
    assert process("--version").stdout.startswith("wmcc ")


@pytest.mark.parametrize("ending", ENDINGS)
def test_output_names_choose_formats(ending, folder):
    run("score", "parcels.csv", *COLUMNS, "-o", f"s{ending}")
    wmcc.score(wmcc.tabulate(str(SAMPLE), true="label", pred="pred", progress=False)).save(f"lib{ending}")
    first, second = ((folder / f"{name}{ending}").read_bytes() for name in ("s", "lib"))
    assert first == second or ending == ".xlsx"  # which holds the time


def test_a_format_is_for_names_that_say_none(folder):
    run("tabulate", "parcels.csv", *COLUMNS, "-o", "t", "-f", "csv")
    assert (folder / "t").read_text().startswith("true,pred,n")
    run("tabulate", "parcels.csv", *COLUMNS, "-o", "t.csv", "-f", "csv-safe")
    assert (folder / "t.csv").read_text() == (folder / "t").read_text()
    assert "has no known ending" in run("tabulate", "parcels.csv", *COLUMNS, "-o", "u", code=2).stderr


def test_sample(folder):
    assert run("example").stdout == SAMPLE.read_text()
    run("example", "-o", "again.csv")
    assert (folder / "again.csv").read_bytes() == SAMPLE.read_bytes()
    assert SAMPLE.stat().st_size < 20_000
    assert (
        "'x.txt' has no known ending; expected a name that ends with .csv"
        in run("example", "-o", "x.txt", code=2).stderr
    )


# ---- the gate ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bars", "said"),
    [
        (["ecc=0.9"], None),
        (["ecc=0.9", "accuracy=0.94", "recall/water=0.88"], None),
        (["ecc=0.91"], "Failed: ECC (R_K) is 0.9017, below 0.91."),
        (["ecc=0.90169"], "Failed: ECC (R_K) is 0.90168, below 0.90169."),
        (["ecc=0.9", "iou/water=0.8"], "Failed: IoU of water is 0.7930, below 0.8."),
        (["ecc=0.9", "--on", "low"], "Failed: the lower end of the interval of ECC (R_K) is 0.8387, below 0.9."),
        (["ecc=0.8", "--on", "low"], None),
        (["mcc=-1"], "Failed: MCC is undefined; at least -1 was asked for."),
    ],
)
def test_a_gate_opens_for_scores_that_are_high_enough(bars, said):
    options = [x for bar in bars for x in ([bar] if bar in ("--on", "low") else ["--fail-under", bar])]
    result = run("score", "parcels.csv", *WEIGHTED, *options, code=0 if said is None else 3)
    assert result.stdout == run("score", "parcels.csv", *WEIGHTED).stdout
    assert result.stderr.startswith(said) if said else result.stderr == ""


def test_a_gate_is_shut_for_what_is_undefined():
    pl.DataFrame({"label": [0, 1, 0], "pred": [0, 0, 0]}).write_csv("d.csv")
    for bar in ("mcc=-1", "ecc=-1", "precision/1=0"):
        assert "is undefined" in run("score", "d.csv", *COLUMNS, "--fail-under", bar, code=3).stderr
    said = run("score", "d.csv", *COLUMNS, "--fail-under", "ecc=-1", "--zero-division", "1", code=3).stderr
    assert said == "Failed: ECC (R_K) is undefined; at least -1 was asked for.\n"


def test_a_gate_names_the_group():
    said = run("score", "parcels.csv", *WEIGHTED, "--by", "region", "--fail-under", "ecc=0.9", code=3).stderr
    assert said == "Failed: region = mountains: ECC (R_K) is 0.8275, below 0.9.\n"


def test_a_gate_and_a_join_both_have_a_word_for_on():
    frame = pl.read_csv("parcels.csv")
    frame.drop("pred").write_csv("truth.csv")
    frame.select("id", "pred").write_csv("preds.csv")
    args = ("score", "truth.csv", "--join", "preds.csv", "--on", "id", *WEIGHTED, "--fail-under", "ecc=0.9")
    assert run(*args).stderr == ""
    assert "the lower end" in run(*args, "--on", "low", code=3).stderr
    assert "--on needs --join" in run("score", "parcels.csv", *COLUMNS, "--on", "low", code=2).stderr


# ---- missing labels, names, nested clusters --------------------------------------------------------------


def test_missing_labels(folder):
    (folder / "d.csv").write_text("label,pred\n0,0\n,1\n1,1\n1,0\n")
    assert "`missing` 'ignore'" in run("score", "d.csv", *COLUMNS, code=2).stderr
    data = json.loads(run("score", "d.csv", *COLUMNS, "--missing", "ignore", "-f", "json").stdout)
    assert (data["n"], data["ignored"]) == (3, 1)


@pytest.mark.parametrize("how", ["options", "json", "lines"])
def test_names_of_classes(how, folder):
    pl.DataFrame({"label": [0, 1, 1], "pred": [0, 1, 0]}).write_parquet("d.parquet")
    (folder / "names.json").write_text('{"0": "road", "1": "lane = 1"}')
    (folder / "names.txt").write_text("0=road\n1 = lane = 1\n\n")
    named = {"options": ["0=road", "1=lane = 1"], "json": ["names.json"], "lines": ["names.txt"]}[how]
    args = [x for name in named for x in ("--names", name)]
    data = json.loads(run("tabulate", "d.parquet", *COLUMNS, *args, "-f", "json").stdout)
    assert data["labels"] == ["road", "lane = 1"]


def test_clusters_nest():
    pl.DataFrame(
        {"label": [0, 1] * 6, "pred": [0, 0, 1] * 4, "scene": [1, 2] * 6, "tile": ["a", "a", "b"] * 4}
    ).write_csv("d.csv")
    args = ("score", "d.csv", *COLUMNS, "-f", "json")
    assert json.loads(run(*args, "--cluster", "scene").stdout)["clusters"] == 2
    assert json.loads(run(*args, "--cluster", "tile", "--cluster", "scene").stdout)["clusters"] == 4


@pytest.mark.slow
def test_what_is_loaded_for_a_score():
    """Nothing of what it does not do: no certificates, no report, no engine but Arrow."""
    code = """
import sys
from wmcc.cli import main
try:
    main()
finally:
    print(*(name for name in sys.modules), file=sys.stderr)
"""
    args = [sys.executable, "-c", code, "score", "parcels.csv", *WEIGHTED]
    loaded = set(subprocess.run(args, capture_output=True, text=True, check=True).stderr.split())
    own = {name for name in loaded if name.startswith("wmcc.")}
    assert not [x for x in own if x.startswith(("wmcc.robustness", "wmcc.report", "wmcc.plot", "wmcc.demo"))]
    commands = {"compare", "certify", "radius", "rank", "report", "tabulate", "merge", "show", "reproduce", "drift"}
    assert not {f"wmcc.cli.{name}" for name in commands} & own
    assert not {"pandas", "polars", "rich", "scipy.linalg", "pydantic", "typer"} & loaded

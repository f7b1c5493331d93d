"""Labels given on the command line, and predictions in a file of their own."""

import json
import re
import subprocess

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest
from cli_helpers import COLUMNS, SAMPLE, WEIGHTED, put_sample, run

import wmcc


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    return tmp_path


KINDS = {
    "int": ([0, 1, 255, 1, 0], [0, 1, 1, 0, 0], "255", "1,0", "1", (1, 0)),
    "bool": (
        [True, False, True, True, False],
        [True, False, False, True, True],
        "",
        "true,FALSE",
        "true",
        (True, False),
    ),
    "text": (["0", "1", "255", "1", "0"], ["0", "1", "1", "0", "0"], "255", "1,0", "1", ("1", "0")),
}


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_of_the_columns_kind(kind, ending, engine):
    true, pred, ignore, labels, positive, expected = KINDS[kind]
    if kind == "text" and ending == "csv":
        true, pred = ([x + "x" for x in column] for column in (true, pred))
        ignore, labels, positive, expected = "255x", "1x,0x", "1x", ("1x", "0x")
    frame = pl.DataFrame({"label": true, "pred": pred})
    frame.write_csv("d.csv") if ending == "csv" else frame.write_parquet("d.parquet")
    args = ["--labels", labels, "--positive", positive, *(["--ignore", ignore] if ignore else [])]
    data = json.loads(run("tabulate", f"d.{ending}", *COLUMNS, *args, "--engine", engine, "-f", "json").stdout)
    table = wmcc.Table.from_dict(data)
    assert [(type(x), x) for x in table.labels] == [(type(x), x) for x in expected]
    assert table.positive == expected[0]
    assert table.ignored == (1 if ignore else 0)


def test_categories_of_integers():
    column = pa.array([3, 4, 255]).dictionary_encode()
    pyarrow.feather.write_feather(pa.table({"label": column, "pred": column}), "d.feather", compression="uncompressed")
    data = json.loads(run("tabulate", "d.feather", *COLUMNS, "--ignore", "255", "-f", "json").stdout)
    assert (data["labels"], data["ignored"]) == ([3, 4], 1)


def test_labels_with_commas():
    pl.DataFrame({"label": ["a, b", "c"], "pred": ["a, b", "c"]}).write_csv("d.csv")
    for args in (["--labels", '"a, b"', "--labels", "c"], ["--labels", '"a, b",c'], ["--labels", '"a, b", c']):
        assert json.loads(run("tabulate", "d.csv", *COLUMNS, *args, "-f", "json").stdout)["labels"] == ["a, b", "c"]
    one = run("tabulate", "d.csv", *COLUMNS, "--ignore", '"a, b"', "-f", "json").stdout
    assert json.loads(one)["labels"] == ["c"]
    assert "is not a list of labels" in run("tabulate", "d.csv", *COLUMNS, "--ignore", '"a', code=2).stderr


def test_lists_of_numbers_may_be_repeated():
    pl.DataFrame({"label": [1, 2, 254, 255], "pred": [1, 2, 2, 2]}).write_csv("d.csv")
    for args in (
        ["--ignore", "254,255"],
        ["--ignore", "254", "--ignore", "255"],
        ["--ignore", "254, 255", "--ignore", "7"],
    ):
        assert json.loads(run("score", "d.csv", *COLUMNS, *args, "-f", "json").stdout)["ignored"] == 2


def test_a_label_that_is_none():
    pl.DataFrame({"label": [1, 2], "pred": [1, 2]}).write_parquet("d.parquet")
    said = run("score", "d.parquet", *COLUMNS, "--ignore", "void", code=2).stderr
    assert "--ignore names the label 'void', but labels are numbers; expected a whole number" in said


# ---- two files -------------------------------------------------------------------------------------


def test_join(folder):
    frame = pl.read_csv("parcels.csv")
    frame.drop("pred").write_csv("truth.csv")
    frame.select("id", "pred").sample(fraction=1.0, shuffle=True, seed=1).write_csv("preds.csv")
    args = ["truth.csv", "--join", "preds.csv", "--on", "id"]
    run("tabulate", *args, *WEIGHTED, "-o", "t.json")
    table = wmcc.Table.from_json((folder / "t.json").read_text())
    assert table.n.tolist() == wmcc.tabulate(str(SAMPLE), true="label", pred="pred", progress=False).n.tolist()
    data = json.loads(run("tabulate", *args, *COLUMNS, "--ignore", "water", "-f", "json").stdout)
    assert (data["labels"], data["void"]) == (["field", "forest", "water"], ["water"])
    assert "--join needs --true" in run("score", *args, code=2).stderr
    frame.select("id", "pred").head(300).write_csv("preds.csv")
    said = run("score", *args, *COLUMNS, code=2).stderr
    assert "60 keys of 'id' are in the truth only" in said
    assert "`unmatched` 'ignore' tabulates the rows found in both" in said
    data = json.loads(run("score", *args, *COLUMNS, "--unmatched", "ignore", "-f", "json").stdout)
    assert (data["n"], data["ignored"]) == (300, 60)


def test_both_sides_of_a_join_say_what_labels_are(folder):
    (folder / "truth.csv").write_text("id,label\n1,1\n2,0\n3,1\n")
    (folder / "preds.csv").write_text("id,pred\n1,1\n2,0\n3,255\n")
    args = ("truth.csv", "--join", "preds.csv", "--on", "id", "--ignore", "255", *COLUMNS)
    data = json.loads(run("tabulate", *args, "-f", "json").stdout)
    assert (data["labels"], data["void"]) == ([0, 1, 255], [255])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(("labels", "keys"), [([1, 2], "12"), ([1.0, 2.0], "12"), (["1", "b"], "1b")])
def test_names_of_classes_of_any_kind(folder, ending, labels, keys):
    frame = pl.DataFrame({"label": [*labels, *labels], "pred": [*labels, labels[0], labels[0]]})
    getattr(frame, f"write_{ending}")(folder / f"named.{ending}")
    names = [word for key, name in zip(keys, ("field", "forest"), strict=True) for word in ("--names", f"{key}={name}")]
    data = json.loads(run("tabulate", f"named.{ending}", *COLUMNS, *names, "-f", "json").stdout)
    assert data["labels"] == ["field", "forest"]


def test_sentences_name_options(folder):
    (folder / "na.csv").write_text("label,pred\na,a\nb,b\nN/A,b\n")
    warned = run("score", "na.csv", *COLUMNS).stderr
    assert warned.startswith("Warning: a class is called 'N/A'")
    assert "list it in `ignore`, or make such labels missing values, with `missing` 'ignore'." in warned
    assert ".py" not in warned
    for options, said in (
        (
            ("--labels", "a"),
            "not among `labels`, 'a'; one is 'N/A'.\nHint: add it to `labels`; if it is not a class, list it",
        ),
        (("--names", "a=x"), "`names` has no name for the class 'N/A'.\nHint: add it to `names`; if it is"),
        (
            ("--positive", "z"),
            "`positive` is 'z'; expected one of the labels of a two-class table; the labels are 'N/A', 'a', ",
        ),
    ):
        assert said in run("score", "na.csv", *COLUMNS, *options, code=2).stderr
    said = run("certify", "na.csv", *COLUMNS, "--measure", "mcc", code=2).stderr
    assert "Hint: use `ecc` (" in said
    assert "wmcc.ecc" not in said


def test_labels_that_are_probably_not_meant(folder):
    (folder / "case.csv").write_text("label,pred\nOak,oak\nElm,elm\n")
    warned = run("score", "case.csv", *COLUMNS).stderr
    assert warned.startswith("Warning: no true label is ever predicted, so that every row counts as wrong.")
    assert warned.endswith("If they are different classes, name them all in `labels`.\n")
    assert run("tabulate", "case.csv", *COLUMNS, "--labels", "Oak,Elm,oak,elm").stderr == ""
    lines = [f"{'ab'[k % 2]},{k / 7:.3f}" for k in range(300)]
    (folder / "area.csv").write_text("\n".join(["pred,label", *lines]))
    refused = run("score", "area.csv", *COLUMNS, code=2).stderr
    assert (
        "Error: the column 'label' holds 257 different decimal numbers, such as '0.143'; expected classes." in refused
    )
    assert "Hint: name the column of classes as `true`; if these numbers are names of classes, list them" in refused
    names = ",".join(sorted({line.partition(",")[2] for line in lines}))
    run("score", "area.csv", "--true", "label", "--pred", "label", "--labels", names)
    gaps = ["NA" if k % 9 == 0 else line.partition(",")[2] for k, line in enumerate(lines)]
    for text in (gaps, [f'"{x.replace(".", ",")}"' for x in gaps]):  # a gap is no class, and some write a decimal comma
        (folder / "gaps.csv").write_text("\n".join(["label,pred", *(f"{x},a" for x in text)]))
        refused = run("score", "gaps.csv", *COLUMNS, code=2).stderr
        assert "different decimal numbers, such as '0" in refused
    assert "'area.csv' is named twice" in run("score", "area.csv", "area.csv", *COLUMNS, code=2).stderr


@pytest.mark.parametrize("mark", [";", "|"])
def test_fields_that_are_separated_by_another_mark(folder, mark):
    """The hint says what to type."""
    text = (folder / SAMPLE.name).read_text()
    expected = run("score", SAMPLE.name, *WEIGHTED).stdout
    for name, comma in (("plain.csv", "."), ("decimal commas.csv", ",")):
        (folder / name).write_text(text.replace(",", mark).replace(".", comma))
        said = run("score", name, *WEIGHTED, code=2).stderr
        word = {";": "semicolons", "|": "vertical bars"}[mark]
        assert f"Hint: fields seem to be separated by {word}: `tr " in said
        command = re.findall("`(.*?)`", said)[comma == ","].replace("FILE", f"'{name}'")
        subprocess.run(["bash", "-c", command], check=True)
        assert run("score", "NEW.tsv", *WEIGHTED).stdout == expected


def test_the_ending_of_a_file_with_tabs(folder):
    text = (folder / SAMPLE.name).read_text()
    (folder / "tabs.csv").write_text(text.replace(",", "\t"))
    said = run("score", "tabs.csv", *WEIGHTED, code=2).stderr
    assert said.endswith("Hint: fields seem to be separated by tabs: give it a name that ends with .tsv.\n")
    (folder / "tabs.csv").rename("commas.tsv")
    assert run("score", "commas.tsv", *WEIGHTED).stdout == run("score", SAMPLE.name, *WEIGHTED).stdout
    (folder / "commas.tsv").write_text(text)
    assert "by commas: give it a name that ends with .csv." in run("score", "commas.tsv", *WEIGHTED, code=2).stderr


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_a_weight_that_is_no_number_is_quoted(folder, engine):
    (folder / "d.csv").write_text("label,pred,area\na,a,1\nb,b,oops\n")
    said = run("score", "d.csv", *WEIGHTED, "--engine", engine, code=2).stderr
    assert "the column 'area' holds a value that is not a number, in line 3: 'oops'.\n" in said


def test_a_hint_does_not_repeat_the_message(folder):
    (folder / "d.csv").write_text("label,pred,area\na,a,1\nb,b,-2\n,b,1\n")
    error = json.loads(run("score", "d.csv", *WEIGHTED, "-f", "json", code=2).stdout)["error"]
    assert error["hint"].endswith("to leave out such rows and count them; a weight of 0 leaves a row out.")
    assert "Hint" not in error["message"]

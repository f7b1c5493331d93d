"""`wmcc compare` and `drift`, and what `wmcc score` says of uncertainty: what the library says, in every format."""

import csv
import io
import json
import re

import polars as pl
import pytest
from cli_helpers import COLUMNS, SAMPLE, WEIGHTED, assert_fits, assert_refused, process, put_sample, run

import wmcc
from wmcc.present.groups import Groups

SCORE = ("score", "parcels.csv", *WEIGHTED)
TWO = ("compare", "parcels.csv", *WEIGHTED, "--pred", "pred_c")
THREE = (*TWO, "--pred", "pred_b")
NAMES = ("pred", "pred_c", "pred_b")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.read_csv(put_sample(tmp_path))
    frame.with_columns(scene=pl.col("id") % 24, half=pl.col("id") % 2).write_csv("parcels.csv")
    return tmp_path


def whole(*preds, **options):
    """The table of one prediction, or of several."""
    pred = dict(zip(preds, preds, strict=True)) if preds else "pred"
    return wmcc.tabulate("parcels.csv", true="label", pred=pred, weight="area", progress=False, **options)


def data_of(*args):
    text = run(*args, "--format", "json").stdout
    assert "NaN" not in text
    assert "Infinity" not in text
    return json.loads(text)


def lines_of(*args):
    return list(csv.DictReader(io.StringIO(run(*args, "--format", "csv").stdout)))


# ---- score -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cluster", [None, "scene"])
def test_intervals_are_what_the_library_says(cluster):
    args = (*SCORE, "--confidence", "0.9", *(["--cluster", cluster] if cluster else []))
    score = wmcc.score(whole(cluster=cluster), confidence_level=0.9)
    assert data_of(*args) == score.to_dict()
    assert score.clusters == (24 if cluster else None)
    said = run(*args).stdout
    assert "90 % interval" in said
    for x in score.intervals.values():
        assert re.search(rf"  {re.escape(x.ends)}( +[\d.]+)?$", said, re.MULTILINE)  # and few degrees of freedom
    for warning in score.warnings:
        assert f"\n{warning}\n" in said
    assert (" in 24 clusters" in said) == (cluster is not None)


def test_groups_have_intervals_each():
    scores = {name: wmcc.score(table) for name, table in whole(by="region").items()}
    for group in data_of(*SCORE, "--by", "region")["groups"]:
        assert group["result"] == scores[group["key"][0]].to_dict()
    said = run(*SCORE, "--by", "region").stdout
    assert "\n\n95 % intervals\nregion  " in said
    assert f"\ncoast      {scores['coast'].intervals['ecc'].ends}  " in said
    assert "\nregion = coast: Weights: the effective sample size is 16.5, of 129 rows; true class" in said
    assert said.count("fewer than about 5 influential rows") == 1  # of all groups, and said once


def test_clusters_within_groups():
    args = (*SCORE, "--by", "region", "--cluster", "scene")
    tables = whole(by="region", cluster="scene")
    for group in data_of(*args)["groups"]:
        assert group["result"] == wmcc.score(tables[group["key"][0]]).to_dict()
        assert group["result"]["clusters"] == 24
    assert "Rows  Clusters   Weight" in run(*args).stdout


@pytest.mark.parametrize("options", [("--positive", "forest", "--ignore", "water"), ("--labels", "water,forest,field")])
@pytest.mark.parametrize("engine", ["arrow", "polars"])
def test_clusters_change_nothing_but_intervals(options, engine):
    args = (*SCORE, *options, "--engine", engine)
    a, b = data_of(*args), data_of(*args, "--cluster", "scene")
    for name in ("n", "ignored", "positive", "diagnosis"):
        assert a[name] == pytest.approx(b[name]) if name == "n" else a[name] == b[name] or engine != "arrow"
    assert [c["label"] for c in a["classes"]] == [c["label"] for c in b["classes"]]
    assert a["measures"] == pytest.approx(b["measures"])
    assert a["intervals"]["ecc"] != b["intervals"]["ecc"]


@pytest.mark.parametrize(("eps", "model"), [(0.1, "relative"), (0.5, "absolute")])
def test_ranges_beside_intervals(eps, model):
    args = (*SCORE, "--eps", eps, f"--{model}")
    score = wmcc.score(whole()).with_ranges(eps, model)
    assert data_of(*args) == score.to_dict()
    lines = {x["measure"]: x for x in lines_of(*args) if x["scope"] == "all"}
    assert {name: (lines[name]["range_low"], lines[name]["range_high"]) for name in score.ranges} == {
        name: (repr(x.low), repr(x.high)) for name, x in score.ranges.items()
    }
    said = run(*args).stdout
    assert ("Weights off by 10 %" if model == "relative" else "Weights off by 0.5") in said
    mark = "" if score.ranges["ecc"].exact else " †"
    assert f"  {' to '.join(score.ranges['ecc'].ends)}{mark}\n" in said
    assert ("† An end is a proved bound" in said) == any(not x.exact for x in score.ranges.values())
    assert ("in each cell all weights are above ε or all are below" in said) == (model == "absolute")
    assert "\n\nWeights off by" in run(*args, "--by", "region").stdout
    assert data_of(*SCORE)["ranges"] == {}


def test_what_is_undefined_has_no_interval_and_no_range():
    pl.DataFrame({"label": [1, 1, 1], "pred": [1, 1, 1]}).write_csv("d.csv")
    args = ("score", "d.csv", *COLUMNS, "--eps", "0.1")
    data = data_of(*args)
    assert data["intervals"]["ecc"]["status"] == "not estimable"
    assert data["intervals"]["ecc"]["low"] is None
    assert data["intervals"]["ecc"]["problem"].startswith("ECC (R_K) is undefined at these weights")
    assert (data["ranges"]["ecc"]["low"], data["ranges"]["ecc"]["problem"]) == (
        None,
        data["intervals"]["ecc"]["problem"],
    )
    said = run(*args).stdout
    assert "not estimable *" in said
    assert "undefined at these weights" in said
    assert lines_of(*args)[0]["low"] == ""


# ---- compare ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("cluster", [None, "scene"])
def test_two_are_compared_as_the_library_does(cluster):
    args = (*TWO, "--measure", "kappa", "--confidence", "0.9", "--margin", "0.05")
    args += ("--cluster", cluster) if cluster else ()
    found = wmcc.compare(whole(*NAMES[:2], cluster=cluster), "kappa", confidence_level=0.9, margin=0.05)
    assert data_of(*args) == found.to_dict()
    line = lines_of(*args)[0]
    assert (line["first"], line["second"], line["verdict"]) == ("pred", "pred_c", found.verdict)
    for name in ("value", "low", "high", "se", "df", "p_value", "n_eff", "p_noninferior", "margin"):
        assert float(line[name]) == getattr(found.only, name)
    said = run(*args).stdout
    assert said == f"{found}\n"
    rows = "360 rows in 24 clusters" if cluster else "360 rows"
    assert said.startswith(f"Differences of Cohen's kappa, {rows}\n")
    assert f"{found.low:.4f} to {found.high:.4f} *" in said
    assert "\n\npred and pred_c do not differ significantly.\n" in said
    assert f"\n{found.only.noninferiority}.\n" in said
    assert f"\n* Intervals: {found.warnings[0]}.\n" in said
    assert f"| {found.low:.4f} to {found.high:.4f} \\* |" in run(*args, "-f", "markdown").stdout


def test_three_are_ranked():
    found = wmcc.compare(whole(*NAMES))
    assert data_of(*THREE) == found.to_dict()
    assert [float(line["p_adjusted"]) for line in lines_of(*THREE)] == list(found.p_adjusted.values())
    said = run(*THREE).stdout.splitlines()
    assert said[1].split("  ")[:2] == ["Prediction", "No significant difference from"]
    assert [line.split()[0] for line in said[2:5]] == [name for name, *_ in found.ranking]
    assert "p (Holm)" in said[7]


def test_verdicts_are_those_that_all_pairs_leave():
    """At 93 % each of two pairs alone would be told apart; corrected for three they are not."""
    pairs = data_of(*THREE, "--confidence", "0.93")["pairs"]
    assert [pair["p_value"] < 0.07 for pair in pairs] == [False, True, True]
    assert [pair["winner"] for pair in pairs] == [None] * 3
    assert pairs[1]["verdict"] == "pred and pred_b do not differ significantly"


@pytest.mark.parametrize("cluster", [None, "scene"])
def test_ranges_of_differences(cluster):
    args = (*THREE, "--eps", "0.05", *(("--cluster", cluster) if cluster else ()))
    found = wmcc.results.uncertainty(whole(*NAMES, cluster=cluster), eps=0.05)
    assert data_of(*args) == found.to_dict()
    lines = lines_of(*args)
    assert [(x["range_low"], x["range_high"]) for x in lines] == [
        (repr(x.low), repr(x.high)) for x in found.weights.pairs.values()
    ]
    said = run(*args).stdout
    for x in found.weights.pairs.values():
        assert f"  {' to '.join(x.ends)}\n" in said
    two = run(*TWO, "--eps", "0.01").stdout
    assert "do not differ significantly in this sample; with weights off by up to 1 %, pred beats pred_c.\n" in two


def test_groups_are_compared_one_by_one():
    tables = whole(*NAMES, by="region")
    data = data_of(*THREE, "--by", "region")
    assert [group["result"] for group in data["groups"]] == [wmcc.compare(t).to_dict() for t in tables.values()]
    said = run(*TWO, "--by", "region").stdout
    assert [line.split()[0] for line in said.splitlines()[1:5]] == ["region", "coast", "mountains", "plain"]
    assert "region = coast; region = mountains; region = plain" not in said
    assert lines_of(*TWO, "--by", "region")[1]["region"] == "mountains"
    assert "Weights off by 5 %" in run(*TWO, "--by", "region", "--eps", "0.05").stdout


def test_the_same_predictions_have_no_test():
    pl.read_csv("parcels.csv").with_columns(again="pred").write_csv("d.csv")
    args = ("compare", "d.csv", *WEIGHTED, "--pred", "again", "--margin", "0.1")
    pair = data_of(*args)["pairs"][0]
    assert (pair["low"], pair["p_noninferior"], pair["noninferior"], pair["winner"]) == (None,) * 4
    assert pair["problem"].startswith("they predict the same for every row")
    assert lines_of(*args)[0]["low"] == ""
    said = run(*args).stdout
    assert "not estimable *" in said
    assert "they predict the same for every row" in said


def test_what_is_undefined_has_no_test_and_no_range():
    pl.DataFrame({"label": [1, 1], "pred": [1, 1], "pred_c": [1, 1]}).write_csv("d.csv")
    args = ("compare", "d.csv", *COLUMNS, "--pred", "pred_c", "--eps", "0.1")
    data = data_of(*args)
    assert (data["weights"]["pairs"][0]["low"], data["sampling"]["pairs"][0]["p_value"]) == (None, None)
    assert lines_of(*args)[0]["range_low"] == ""
    assert "ECC (R_K) is undefined at these weights" in run(*args).stdout


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_compare_reads_as_score_does(engine):
    pl.read_csv("parcels.csv").write_parquet("d.parquet")
    options = ("--ignore", "water", "--labels", "forest,field", "--cluster", "scene")
    pair = data_of("compare", "d.parquet", *TWO[2:], *options, "--engine", engine)["pairs"][0]
    found = wmcc.compare(whole(*NAMES[:2], ignore="water", labels=["forest", "field"], cluster="scene")).only
    assert pair["values"] == pytest.approx(found.values)
    assert pair["p_value"] == pytest.approx(found.p_value)


# ---- drift -----------------------------------------------------------------------------------------


def test_drift_compares_tables_of_different_rows(folder):
    frame = pl.read_csv("parcels.csv")
    frame.head(200).write_csv("before.csv")
    frame.tail(160).write_csv("after.csv")
    tables = {}
    for name in ("before", "after"):
        run("tabulate", f"{name}.csv", *WEIGHTED, "-o", f"{name}.json")
        tables[name] = wmcc.Table.from_json((folder / f"{name}.json").read_text())
    found = wmcc.compare(tables, "accuracy", sample="independent", confidence_level=0.9)
    asked = ("--measure", "accuracy", "--confidence", "0.9")
    assert data_of("drift", "before.json", "after.json", *asked) == found.to_dict()
    said = run("drift", "before.json", "after.json", *asked).stdout
    assert said == run("drift", "before.csv", "after.csv", *WEIGHTED, *asked).stdout
    assert said.startswith("Differences of Accuracy, independent samples: before 200 rows, after 160 rows\n")
    for files in (("before.json",), ("before.json", "after.json", "after.json")):
        assert f"expected two files, before and after; got {len(files)}" in run("drift", *files, code=2).stderr
    run("tabulate", "before.csv", *WEIGHTED, "--by", "region", "-o", "g.json")
    assert "g.json holds a table for each group" in run("drift", "g.json", "after.json", code=2).stderr


# ---- errors, and what both have in common ----------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ["score", *WEIGHTED, "--confidence", "95"],
            "Error: `--confidence` is 95.0; expected a number between 0 and 1",
        ),
        (["score", *WEIGHTED, "--cluster", "secne"], "did you mean 'scene'?"),
        (["score", "--cluster", "scene"], "expected --true and --pred, columns of labels in parcels.csv"),
        (["score", *WEIGHTED, "--absolute"], "--absolute needs --eps"),
        (["score", *WEIGHTED, "--eps", "2"], "with `model` 'relative' it must be below 1"),
        (["compare", *WEIGHTED], "--pred names 1 column; expected at least 2"),
        (["compare", "--pred", "pred", "--pred", "pred_b"], "--pred needs --true"),
        (["compare", *WEIGHTED, "--pred", "pred"], "--pred names 'pred' more than once"),
        (["compare", *WEIGHTED, "--pred", "perd_b"], "did you mean 'pred_b'?"),
        (["compare", *TWO[2:], "--cluster", "secne"], "did you mean 'scene'?"),
        (
            ["compare", *TWO[2:], "--margin", "-0.1"],
            "`margin` is -0.1; expected a number of at least 0: how much lower",
        ),
        (["compare", *TWO[2:], "--margin", "nan"], "`margin` is 'nan'; expected a finite number"),
        (["compare", *TWO[2:], "--confidence", "95"], "`--confidence` is 95.0; expected a number between 0 and 1"),
        (["compare", *TWO[2:], "--measure", "eec"], "`measure` is 'eec'; expected one of mcc, ecc"),
        (["compare", *TWO[2:], "--measure", "mcc"], "MCC"),
        (["compare", *TWO[2:], "--relative"], "--relative needs --eps"),
        (["compare", *TWO[2:], "-o", "parcels.csv"], "it would be overwritten"),
    ],
)
def test_bad_input_is_told_in_a_sentence(args, said):
    assert_refused(args, said)


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
def test_rows_without_a_cluster_are_refused(name):
    frame = pl.read_csv("parcels.csv").with_columns(scene=pl.when(pl.col("scene") > 0).then("scene"))
    frame.write_csv(name) if name == "d.csv" else frame.write_parquet(name)
    for args in (("score", name, *WEIGHTED), ("score", name, *WEIGHTED, "--by", "region"), ("compare", name, *TWO[2:])):
        said = run(*args, "--cluster", "scene", code=2).stderr
        assert said.startswith(("Error: 15 rows", f"Error: {name}: 15 rows"))
        assert "15 rows have no cluster in the column 'scene'.\n" in said
        assert "Hint: leave them out, or give each its own cluster.\n" in said


def test_no_rows_are_told_as_without_clusters():
    pl.read_csv("parcels.csv").head(0).write_csv("d.csv")
    for command, options in (("score", WEIGHTED), ("compare", TWO[2:])):
        cases = (("d.csv", (), "no observations"), ("parcels.csv", ("field,forest,water",), "ignored"))
        for file, ignored, why in cases:
            args = (command, file, *options, *(("--ignore", *ignored) if ignored else ()))
            said = run(*args, code=2).stderr
            assert why in said
            assert run(*args, "--cluster", "scene", code=2).stderr == said


@pytest.mark.parametrize("options", [("--confidence", "95"), ("--eps", "2"), ("--absolute",)])
def test_options_are_checked_before_data_are_read(options):
    for command in (SCORE, TWO):
        said = run(command[0], "nowhere.csv", *command[2:], *options, code=2).stderr
        assert "nowhere" not in said
    assert "margin" in run("compare", "nowhere.csv", *TWO[2:], "--margin", "-1", code=2).stderr


def test_results_are_written_to_files(folder):
    for name in ("found.json", "found.csv", "found.md", "found.txt", "found.tex"):
        run(*TWO, "-o", name)
        form = {"json": "json", "csv": "csv", "md": "markdown", "txt": "table", "tex": "latex"}[name.partition(".")[2]]
        assert (folder / name).read_text() == run(*TWO, "--format", form).stdout


def test_nothing_is_wider_than_the_terminal():
    found = [
        wmcc.score(whole(cluster="scene")).with_ranges(0.1),
        Groups(("region",), {(k,): wmcc.score(t).with_ranges(0.1) for k, t in whole(by="region").items()}),
        wmcc.results.uncertainty(whole(*NAMES)),
    ]
    assert_fits([block for one in found for block in one.blocks() if block.columns], (50, 80, 200), least=22)


@pytest.mark.slow
def test_notes_of_many_groups_are_cut_short():
    said = run(*SCORE, "--by", "region", "--by", "scene").stdout
    notes = said.rpartition("\n\n")[2].splitlines()
    assert len(notes) == 21
    assert notes[-1].startswith("… and ")
    assert notes[-1].endswith(" more; JSON has all.")


@pytest.mark.slow
def test_the_command_as_a_process():
    done = process("compare", SAMPLE, *TWO[2:])
    assert (done.returncode, done.stderr) == (0, "")
    done = process("compare", SAMPLE, *WEIGHTED)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: --pred names 1 column; expected at least 2")


def test_a_measure_of_a_class():
    data = json.loads(run(*TWO, "--measure", "iou", "--of", "water", "-f", "json").stdout)
    joint = wmcc.tabulate("parcels.csv", true="label", pred={x: x for x in ("pred", "pred_c")}, weight="area")
    assert data == wmcc.compare(joint, "iou", of="water").to_dict()
    run("tabulate", "parcels.csv", *WEIGHTED, "-o", "t.json")
    assert "IoU of water" in run("drift", "t.json", "t.json", "--measure", "iou", "--of", "water").stdout
    for command in (TWO, ("drift", "t.json", "t.json")):
        said = run(*command, "--measure", "iou", code=2).stderr
        assert said.startswith("Error: 'iou' is a number per class; a measure of a whole table is expected: mcc, ecc")
        assert said.endswith("Hint: `wmcc compare` and `wmcc drift` take it with a class: --of road.\n")
        assert "there is no class 'wood'" in run(*command, "--measure", "iou", "--of", "wood", code=2).stderr
    both = run(*TWO, "--measure", "iou", "--of", "water", "--eps", 0.1, code=2).stderr
    assert "--of cannot be given with --eps" in both


def test_groups_of_one_prediction_are_compared_with_each_other():
    args = ("compare", "parcels.csv", *WEIGHTED, "--by", "region", "--cluster", "scene")
    assert data_of(*args) == wmcc.compare(whole(by="region", cluster="scene")).to_dict()
    run("tabulate", "parcels.csv", *WEIGHTED, "--by", "region", "--cluster", "scene", "-o", "regions.json")
    assert data_of("compare", "regions.json") == data_of(*args)
    assert "certified ranges are for predictions of the same rows" in run(*args, "--eps", "0.1", code=2).stderr

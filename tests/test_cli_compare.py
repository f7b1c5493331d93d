"""`wmcc compare`, and what `wmcc score` says of uncertainty: they say what the library says, in every format."""

import csv
import io
import json

import polars as pl
import pytest
from cli_helpers import COLUMNS, SAMPLE, WEIGHTED, assert_fits, assert_refused, process, put_sample, run

import wmcc
from wmcc.cli import comparison_blocks, comparisons, robust, score_blocks, scores
from wmcc.cli.reading import Request

SCORE = ("score", "parcels.csv", *WEIGHTED)
TWO = ("compare", "parcels.csv", *WEIGHTED, "--pred", "pred_c")
THREE = (*TWO, "--pred", "pred_b")
NAMES = ("pred", "pred_c", "pred_b")
FORMATS = ("table", "json", "csv", "markdown")
SAMPLING = ("low", "high", "se", "df", "p_value", "n_eff")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.read_csv(put_sample(tmp_path))
    frame.with_columns(scene=pl.col("id") % 24, half=pl.col("id") % 2).write_csv("parcels.csv")
    return tmp_path


def whole(**options):
    return wmcc.tabulate("parcels.csv", "label", "pred", "area", progress=False, **options)


def data_of(*args):
    text = run(*args, "--format", "json").stdout
    assert "NaN" not in text
    assert "Infinity" not in text
    return json.loads(text)


def lines_of(*args):
    return list(csv.DictReader(io.StringIO(run(*args, "--format", "csv").stdout)))


def plain_interval(x):
    asked = {"method": "fisher", "confidence_level": x.confidence_level, "status": x.status}
    numbers = {name: getattr(x, name) for name in ("low", "high", "se", "df", "n_eff")}
    return {**numbers, **asked, "warnings": list(x.warnings), "problem": x.problem}


def plain_range(x):
    return {
        "model": x.model,
        "eps": x.eps,
        "low": x.low,
        "low_attained": x.lower.attained,
        "low_exact": x.lower.exact,
        "high": x.high,
        "high_attained": x.upper.attained,
        "high_exact": x.upper.exact,
        "conditions_met": all(c.met for c in x.conditions),
    }


# ---- score -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cluster", [None, "scene"])
def test_intervals_are_what_the_library_says(cluster):
    args = (*SCORE, "--confidence", "0.9", *(["--cluster", cluster] if cluster else []))
    data, score = data_of(*args), wmcc.score("parcels.csv", *WEIGHTED[1::2], confidence_level=0.9, cluster=cluster)
    assert data["clusters"] == (24 if cluster else None)
    assert data["intervals"]["mcc"] is None  # three classes
    assert {name: x for name, x in data["intervals"].items() if x} == {
        name: plain_interval(x) for name, x in score.intervals.items()
    }
    line = lines_of(*args)[0]
    for name, x in score.intervals.items():
        assert [float(line[f"{name}_{field}"]) for field in ("low", "high", "se")] == [x.low, x.high, x.se]
        assert line[f"{name}_status"] == x.status
    assert (line["confidence_level"], line["clusters"]) == ("0.9", "24" if cluster else "")
    assert (line["mcc_low"], lines_of(*args)[1]["ecc_low"]) == ("", "")
    said = run(*args).stdout
    assert "90 % interval" in said
    for x in score.intervals.values():
        assert f"  {x.ends}\n" in said
    for warning in score.warnings:
        assert f"\n\n{warning}\n" in said
    assert ("\nClusters  " in said) == (cluster is not None)


def test_the_weights_are_diagnosed(folder):
    diagnosis = wmcc.diagnose(whole(by="region")["coast"])
    (folder / "t.json").write_text(whole(by="region")["coast"].to_json())
    data = data_of("score", "t.json")
    assert data["diagnosis"] == {
        "design_effect": diagnosis.design_effect,
        "heaviest_row": diagnosis.heaviest_row,
        "heaviest_cell": diagnosis.heaviest_cell,
        "cell": list(diagnosis.cell),
        "warnings": list(diagnosis.warnings),
    }
    assert "\nWeights: 129 rows are worth 16.5 of equal weight.\n" in run("score", "t.json").stdout


def test_groups_have_intervals_each():
    scores = {name: wmcc.score(table) for name, table in whole(by="region").items()}
    for group in data_of(*SCORE, "--by", "region")["groups"]:
        assert group["score"]["intervals"]["ecc"] == plain_interval(scores[group["key"][0]].intervals["ecc"])
    said = run(*SCORE, "--by", "region").stdout
    assert "\n\n95 % intervals\nregion  " in said
    assert f"\ncoast      {scores['coast'].intervals['ecc'].ends}  " in said
    assert "\nregion = coast: Weights: 129 rows are worth 16.5 of equal weight; true class 'field' rests on" in said


def test_clusters_within_groups():
    args = (*SCORE, "--by", "region", "--cluster", "scene")
    frame = pl.read_csv("parcels.csv")
    for group in data_of(*args)["groups"]:
        rows = frame.filter(pl.col("region") == group["key"][0])
        score = wmcc.score(rows, "label", "pred", "area", cluster="scene")
        assert group["score"]["clusters"] == score.cluster_count == 24
        assert group["score"]["intervals"]["kappa"] == plain_interval(score.intervals["kappa"])
        assert group["score"]["measures"]["kappa"] == score.kappa
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
    found = {name: wmcc.certify(whole(), name, eps, model) for name in wmcc.MEASURES if name != "mcc"}
    data, line = data_of(*args), lines_of(*args)[0]
    assert data["ranges"] == {"mcc": None, **{name: plain_range(x) for name, x in found.items()}}
    assert (line["model"], line["eps"], line["mcc_range_low"]) == (model, str(eps), "")
    assert {name: (line[f"{name}_range_low"], line[f"{name}_range_high"]) for name in found} == {
        name: (repr(x.low), repr(x.high)) for name, x in found.items()
    }
    said = run(*args).stdout
    assert ("Weights off by 10 %" if model == "relative" else "Weights off by 0.5") in said
    mark = "" if found["ecc"].lower.exact and found["ecc"].upper.exact else " †"
    assert f"  {' to '.join(found['ecc'].ends)}{mark}\n" in said
    assert ("† An end is a bound" in said) == bool(mark)
    assert ("Not so here: no cell has weights both above and below ε" in said) == (model == "absolute")
    assert "Ranges with weights off by" in run(*args, "--by", "region").stdout
    assert "ranges" not in data_of(*SCORE)


def test_what_is_undefined_has_no_interval_and_no_range():
    pl.DataFrame({"label": [1, 1, 1], "pred": [1, 1, 1]}).write_csv("d.csv")
    args = ("score", "d.csv", *COLUMNS, "--eps", "0.1")
    data = data_of(*args)
    assert data["intervals"]["ecc"]["status"] == "not estimable"
    assert data["intervals"]["ecc"]["low"] is None
    assert data["intervals"]["ecc"]["problem"].startswith("ECC (R_K) is undefined at these weights")
    assert data["ranges"]["ecc"] is None
    said = run(*args).stdout
    assert "not estimable *" in said
    assert "undefined at these weights" in said
    assert lines_of(*args)[0]["ecc_low"] == ""


# ---- compare ---------------------------------------------------------------------------------------


def library(preds=NAMES, **options):
    return wmcc.compare("parcels.csv", "label", list(preds), weight="area", progress=False, **options)


@pytest.mark.parametrize("cluster", [None, "scene"])
def test_two_are_compared_as_the_library_does(cluster):
    args = (*TWO, "--measure", "kappa", "--confidence", "0.9", "--margin", "0.05")
    args += ("--cluster", cluster) if cluster else ()
    found = library(NAMES[:2], measure="kappa", confidence_level=0.9, margin=0.05, cluster=cluster)
    data = data_of(*args)
    pair = {
        "names": ["pred", "pred_c"],
        "values": list(found.values),
        "difference": found.difference,
        **{name: getattr(found, name) for name in SAMPLING},
        "p_adjusted": found.p_value,
        "p_noninferior": found.p_noninferior,
        "noninferior": found.noninferior,
        "clusters": 24 if cluster else None,
        "winner": found.winner,
        "verdict": found.verdict,
        "reliable": found.reliable,
        "warnings": list(found.warnings),
        "problem": None,
    }
    ranking = [
        {"name": "pred", "value": found.values[0], "not_told_apart_from": ["pred_c"]},
        {"name": "pred_c", "value": found.values[1], "not_told_apart_from": ["pred"]},
    ]
    assert data == {
        "schema": 1, "measure": "kappa", "confidence_level": 0.9, "margin": 0.05, "names": ["pred", "pred_c"],
        "ranking": ranking, "pairs": [pair],
    }  # fmt: skip
    line = lines_of(*args)[0]
    assert (line["first"], line["second"], line["verdict"]) == ("pred", "pred_c", found.verdict)
    for name in (*SAMPLING, "difference", "p_noninferior", "margin", "confidence_level"):
        assert float(line[name]) == getattr(found, name)
    said = run(*args).stdout
    assert said.startswith("Difference of Cohen's kappa" + (", rows in 24 clusters\n" if cluster else "\n"))
    assert f"{found.low:.4f} to {found.high:.4f} *" in said
    assert f"  {found.p_value:.4f}" in said
    assert "\n\npred and pred_c are not told apart.\n" in said
    assert f"\n\n{found.noninferiority}.\n" in said
    assert f"\n\n* Intervals: {found.warnings[0]}.\n" in said
    assert f"| {found.low:.4f} to {found.high:.4f} \\* |" in run(*args, "-f", "markdown").stdout


def test_three_are_ranked():
    found = library()
    data = data_of(*THREE)
    assert [(x["name"], x["value"], tuple(x["not_told_apart_from"])) for x in data["ranking"]] == found.ranking
    assert [tuple(pair["names"]) for pair in data["pairs"]] == list(found.pairs)
    for pair in data["pairs"]:
        names = tuple(pair["names"])
        assert pair["p_value"] == found[names].p_value
        assert pair["p_adjusted"] == found.p_adjusted[names]
        assert (pair["winner"] is not None) == found.told_apart(*names)
    assert [float(line["p_adjusted"]) for line in lines_of(*THREE)] == list(found.p_adjusted.values())
    said = run(*THREE).stdout.splitlines()
    assert said[0].split("  ")[:2] == ["Ranking", "Not told apart from"]
    assert [line.split()[0] for line in said[1:4]] == [name for name, *_ in found.ranking]
    assert "p (Holm)" in said[6]


def test_verdicts_are_those_that_all_pairs_leave():
    """At 93 % each of two pairs alone would be told apart; corrected for three they are not."""
    pairs = data_of(*THREE, "--confidence", "0.93")["pairs"]
    alone = [pair["p_value"] < 0.07 for pair in pairs]
    assert alone == [False, True, True]
    assert [pair["winner"] for pair in pairs] == [None] * 3
    assert pairs[1]["verdict"] == "pred and pred_b are not told apart"


@pytest.mark.parametrize("cluster", [(), ("--cluster", "scene")])
def test_ranges_of_differences(cluster):
    args = (*THREE, "--eps", "0.05", *cluster)
    joint = wmcc.certify_ranking("parcels.csv", "label", list(NAMES), weight="area", eps=0.05, progress=False)
    assert [pair["range"] for pair in data_of(*args)["pairs"]] == [plain_range(x) for x in joint.pairs.values()]
    lines = lines_of(*args)
    assert [(x["range_low"], x["range_high"]) for x in lines] == [
        (repr(x.low), repr(x.high)) for x in joint.pairs.values()
    ]
    assert (lines[0]["model"], lines[0]["eps"]) == ("relative", "0.05")
    said = run(*args).stdout
    for x in joint.pairs.values():
        assert f"  {' to '.join(x.ends)}\n" in said
    two = run(*TWO, "--eps", "0.01").stdout
    assert "are not told apart by this sample; with weights off by up to 1 %, pred beats pred_c.\n" in two
    assert "range" not in data_of(*TWO)["pairs"][0]


def test_the_same_predictions_have_no_test():
    pl.read_csv("parcels.csv").with_columns(again="pred").write_csv("d.csv")
    args = ("compare", "d.csv", *WEIGHTED, "--pred", "again", "--eps", "0.1", "--margin", "0.1")
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
    assert data_of(*args)["pairs"][0]["range"] is None
    assert data_of(*args)["pairs"][0]["p_value"] is None
    assert lines_of(*args)[0]["range_low"] == ""
    assert "ECC (R_K) is undefined at these weights" in run(*args).stdout


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_compare_reads_as_score_does(engine):
    pl.read_csv("parcels.csv").write_parquet("d.parquet")
    options = ("--ignore", "water", "--labels", "forest,field", "--cluster", "scene")
    pair = data_of("compare", "d.parquet", *TWO[2:], *options, "--engine", engine)["pairs"][0]
    found = library(NAMES[:2], ignore="water", cluster="scene")
    assert pair["values"] == pytest.approx(found.values)
    assert pair["p_value"] == pytest.approx(found.p_value)


# ---- errors, and what both have in common ----------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["score", *WEIGHTED, "--confidence", "95"], "Error: --confidence is 95.0; expected a number between 0 and 1"),
        (["score", *WEIGHTED, "--cluster", "secne"], "did you mean 'scene'?"),
        (["score", "--cluster", "scene"], "--cluster names a column of data"),
        (["score", *WEIGHTED, "--by", "half", "--cluster", "half"], "each group would be a single cluster"),
        (["score", *WEIGHTED, "--absolute"], "--absolute goes with --eps"),
        (["score", *WEIGHTED, "--eps", "2"], "with --relative it must be below 1"),
        (["compare", *WEIGHTED], "expected --true, and --pred at least twice"),
        (["compare", "--pred", "pred", "--pred", "pred_b"], "expected --true"),
        (["compare", *WEIGHTED, "--pred", "pred"], "--pred names 'pred' more than once"),
        (["compare", *WEIGHTED, "--pred", "perd_b"], "did you mean 'pred_b'?"),
        (["compare", *TWO[2:], "--cluster", "secne"], "did you mean 'scene'?"),
        (["compare", *TWO[2:], "--margin", "-0.1"], "margin is -0.1; expected how much lower a score may be"),
        (["compare", *TWO[2:], "--margin", "nan"], "margin is 'nan'; expected a finite number"),
        (["compare", *TWO[2:], "--confidence", "95"], "--confidence is 95.0; expected a number between 0 and 1"),
        (["compare", *TWO[2:], "--measure", "eec"], "measure is 'eec'; expected one with a gradient"),
        (["compare", *TWO[2:], "--measure", "mcc"], "MCC"),
        (["compare", *TWO[2:], "--relative"], "--relative goes with --eps"),
        (["compare", *TWO[2:], "-o", "parcels.csv"], "it would be lost"),
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
        assert "Hint: leave them out, or give each one of its own.\n" in said


def test_no_rows_are_told_as_without_clusters():
    pl.read_csv("parcels.csv").head(0).write_csv("d.csv")
    for command, options in (("score", WEIGHTED), ("compare", TWO[2:])):
        for file, ignored, why in (("d.csv", (), "is empty"), ("parcels.csv", ("field,forest,water",), "ignored")):
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
    for name in ("found.json", "found.csv", "found.md", "found.txt"):
        run(*TWO, "-o", name)
        form = {"json": "json", "csv": "csv", "md": "markdown", "txt": "table"}[name.partition(".")[2]]
        assert (folder / name).read_text() == run(*TWO, "--format", form).stdout


def test_nothing_is_wider_than_the_terminal():
    off = robust.Asked("ecc", None, [0.1])
    request = Request(["parcels.csv"], "label", "pred", "area").clustered("scene")
    grouped = Request(["parcels.csv"], "label", "pred", "area", ["region"])
    asked = comparisons.Asked("ecc", 0.95, 0.02, off)
    compared = comparisons.compared(Request(["parcels.csv"], "label"), list(NAMES), asked)
    found = [
        *score_blocks.of_scores(scores.score_all(request.read(), 0.0, 0.95, off)),
        *score_blocks.of_scores(scores.score_all(grouped.read(), 0.0, 0.95, off)),
        *comparison_blocks.of_comparisons(compared),
    ]
    assert_fits(found, (50, 80, 200), least=22)


def test_notes_of_many_groups_are_cut_short():
    many = scores.score_all(Request(["parcels.csv"], "label", "pred", "area", ["region", "scene"]).read(), 0.0)
    notes = score_blocks.of_scores(many)[-1].notes
    assert len(notes) == 21
    assert notes[-1].startswith("… and ")
    assert notes[-1].endswith(" more; --format json has all.")


def test_the_command_as_a_process():
    done = process("compare", SAMPLE, *TWO[2:])
    assert (done.returncode, done.stderr) == (0, "")
    done = process("compare", SAMPLE, *WEIGHTED)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: expected --true, and --pred at least twice")

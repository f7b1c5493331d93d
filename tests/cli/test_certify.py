"""`wmcc certify`, `radius` and `rank`: they say what the library says, in every format."""

import csv
import io
import json

import numpy as np
import polars as pl
import pytest
from cli_helpers import COLUMNS, SAMPLE, WEIGHTED, assert_fits, assert_refused, process, put_sample, run

import wmcc

RANK = ("rank", "parcels.csv", "--true", "label", "--weight", "area")
TWO = (*RANK, "--pred", "pred", "--pred", "pred_c")
THREE = (*TWO, "--pred", "pred_b", "--no-radius")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    return tmp_path


def whole(*preds, **options):
    """The table of one prediction, or of several."""
    pred = dict(zip(preds, preds, strict=True)) if preds else "pred"
    return wmcc.tabulate(str(SAMPLE), true="label", pred=pred, weight="area", progress=False, **options)


def data_of(*args, code=0):
    return json.loads(run(*args, "--format", "json", code=code).stdout)


def lines_of(*args):
    return list(csv.DictReader(io.StringIO(run(*args, "--format", "csv").stdout)))


# ---- certify ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["relative", "absolute"])
def test_certify_is_what_the_library_says(model):
    args = ("certify", "parcels.csv", *WEIGHTED, f"--{model}")
    assert data_of(*args) == wmcc.certify(whole(), eps=0.1, model=model).to_dict()
    curve = wmcc.certify(whole(), eps=[0.05, 0.3], model=model)
    assert data_of(*args, "--eps", "0.05", "--eps", "0.3") == curve.to_dict()
    assert run(*args, "--eps", "0.05", "--eps", "0.3").stdout == f"{curve}\n"


def test_measures_and_limits_are_passed_on():
    args = ("--measure", "mpc2", "--eps", "0.6", "--nodes", "2", "--gap", "0.001", "--seconds", "5")
    found = wmcc.certify(whole(), "mpc2", eps=0.6, nodes=2, gap=0.001, seconds=5)
    assert data_of("certify", "parcels.csv", *WEIGHTED, *args) == found.to_dict()


def test_a_stored_table_is_certified_like_the_data(folder):
    for by in ((), ("--by", "region")):
        run("tabulate", "parcels.csv", *WEIGHTED, *by, "-o", "t.json")
        for command in (("certify",), ("radius", "--change", "0.05", "--measure", "accuracy")):
            for form in ("table", "json", "csv", "markdown"):
                direct = run(*command, "parcels.csv", *WEIGHTED, *by, "-f", form).stdout
                assert run(*command, "t.json", "-f", form).stdout == direct
    assert run("certify", "-", text=(folder / "t.json").read_text()).stdout


def test_certify_for_people():
    said = run("certify", "parcels.csv", *WEIGHTED, "--eps", "0.1").stdout
    assert said.splitlines()[0] == "ECC (R_K), each weight off by up to 10 %"
    assert said.splitlines()[1].split() == ["lowest", "0.8817", "attained"]
    said = run("certify", "parcels.csv", *WEIGHTED, "--eps", "0.01", "--eps", "0.5", "--absolute").stdout
    assert "An end with a gap is a proved bound" in said
    assert "Condition not met for ε = 0.5: in each cell all weights are above ε or all are below" in said
    assert "whatever the weights" not in said
    said = run("certify", "parcels.csv", *WEIGHTED, "--eps", "0.1", "--eps", "0.2", "--format", "markdown").stdout
    assert "| 10 % | 0.9017 | 0.8817 attained | 0.9185 attained |" in said


def test_certify_by_group():
    data = data_of("certify", "parcels.csv", *WEIGHTED, "--by", "region", "--measure", "kappa")
    tables = whole(by="region")
    assert [group["result"] for group in data["groups"]] == [
        wmcc.certify(t, "kappa").to_dict() for t in tables.values()
    ]
    said = run("certify", "parcels.csv", *WEIGHTED, "--by", "region", "--measure", "kappa", "--absolute").stdout
    assert said.count("An end with a gap is a proved bound") == 1


def test_cells_with_weights_on_both_sides_of_eps_are_bounded():
    """Their smallest sum is not known, but the measure is defined all the same: its range does not reach to 0."""
    found = data_of("certify", "parcels.csv", *WEIGHTED, "--eps", "0.5", "--absolute")
    assert [c["met"] for c in found["conditions"]] == [False, True]
    assert 0 < found["lower"]["gap"] < 0.01


def test_certify_as_csv():
    first, second, *_ = lines_of("certify", "parcels.csv", *WEIGHTED, "--eps", "0.1", "--eps", "0.2", "--by", "region")
    certificate = wmcc.certify(whole(by="region")["coast"], eps=0.1)
    assert first == {
        "region": "coast", "measure": "ecc", "model": "relative", "fixed": "", "eps": "0.1",
        "value": repr(certificate.value), "low": repr(certificate.low), "high": repr(certificate.high), "n": "129",
        "total": repr(certificate.total),
        "problem": "", "low_attained": repr(certificate.lower.attained), "low_exact": "true",
        "high_attained": repr(certificate.upper.attained), "high_exact": "true", "conditions_met": "true",
    }  # fmt: skip
    assert (second["region"], second["eps"]) == ("coast", "0.2")


def test_bounds_of_each_weight():
    frame = pl.read_csv("parcels.csv").with_columns(low=pl.col("area") * 0.5, high=pl.col("area") + 1)
    frame.write_csv("d.csv")
    options = {"true": "label", "pred": "pred", "progress": False}
    table, low, high = (wmcc.tabulate("d.csv", weight=x, **options) for x in ("area", "low", "high"))
    for args, bounds in (
        (("--lower", "low", "--upper", "high"), {"lower": low, "upper": high}),
        (("--upper", "high"), {"upper": high}),
    ):
        data = data_of("certify", "d.csv", *WEIGHTED, *args)
        assert data == wmcc.certify(table, **bounds).to_dict()
        assert (data["model"], data["eps"]) == ("bounds", None)
    assert "each weight within its bounds" in run("certify", "d.csv", *WEIGHTED, "--lower", "low").stdout
    by = data_of("certify", "d.csv", *WEIGHTED, "--lower", "low", "--by", "region")
    assert [group["key"] for group in by["groups"]] == [["coast"], ["mountains"], ["plain"]]
    apart = wmcc.tabulate("d.csv", weight="area", by="region", **options)
    below = wmcc.tabulate("d.csv", weight="low", by="region", **options)
    assert by["groups"][1]["result"] == wmcc.certify(apart["mountains"], lower=below["mountains"]).to_dict()
    assert "`lower` is above the weights" in run("certify", "d.csv", *WEIGHTED, "--lower", "high", code=2).stderr


def with_bounds():
    """Write data with bounds of the weights, and return a function from predictions to their tables."""
    frame = pl.read_csv("parcels.csv").with_columns(low=pl.col("area") * 0.9, high=pl.col("area") * 1.05)
    frame.write_csv("d.csv")

    def tables(*preds, **options):
        pred = dict(zip(preds, preds, strict=True)) if len(preds) > 1 else preds[0]
        given = {"true": "label", "pred": pred, "progress": False, **options}
        return [wmcc.tabulate("d.csv", weight=x, **given) for x in ("area", "low", "high")]

    return tables


BOUNDS = ("--lower", "low", "--upper", "high")


def test_rankings_of_bounds():
    tables = with_bounds()
    joint, low, high = tables("pred", "pred_c")
    args = ("rank", "d.csv", *WEIGHTED, "--pred", "pred_c")
    found = wmcc.certify_ranking(joint, lower=low, upper=high)
    assert data_of(*args, *BOUNDS) == found.to_dict()
    assert run(*args, *BOUNDS, "--no-radius").stdout == f"{found}\n" == run(*args, *BOUNDS).stdout
    assert data_of(*args, "--upper", "high") == wmcc.certify_ranking(joint, upper=high).to_dict()
    by = data_of(*args, *BOUNDS, "--by", "region", "--measure", "kappa")
    apart = tables("pred", "pred_c", by="region")
    joint, low, high = (one["plain"] for one in apart)
    assert by["groups"][2]["result"] == wmcc.certify_ranking(joint, "kappa", lower=low, upper=high).to_dict()


def test_scores_comparisons_and_reports_of_bounds(monkeypatch):
    monkeypatch.setattr("wmcc.report.findings.GRID", (0.0, 0.1))
    tables = with_bounds()
    table, low, high = tables("pred")
    score = wmcc.score(table).with_ranges(lower=low, upper=high)
    assert run("score", "d.csv", *WEIGHTED, *BOUNDS).stdout == f"{score}\n"
    assert data_of("score", "d.csv", *WEIGHTED, *BOUNDS)["ranges"] == score.to_dict()["ranges"]
    assert "nan" not in run("score", "d.csv", *WEIGHTED, *BOUNDS, "--format", "csv").stdout
    joint, low, high = tables("pred", "pred_c")
    both = wmcc.results.uncertainty(joint, lower=low, upper=high)
    assert data_of("compare", "d.csv", *WEIGHTED, "--pred", "pred_c", *BOUNDS) == both.to_dict()
    report = data_of("report", "d.csv", *WEIGHTED, "--pred", "pred_c", *BOUNDS)
    assert report["eps"] == 0.1
    assert report["pairs"][0]["bounded"]["model"] == "bounds"
    assert report["predictions"][0]["bounded"]["low"] == wmcc.certify(table, lower=low["pred"], upper=high["pred"]).low


# ---- caps ----------------------------------------------------------------------------------------------------


def test_caps_are_what_the_library_says():
    args = ("certify", "parcels.csv", *WEIGHTED, "--cap", "100", "--cap", "5.5")
    curve = wmcc.certify_trimming(whole(), caps=[100, 5.5])
    assert data_of(*args) == curve.to_dict()
    assert run(*args).stdout == f"{curve}\n"
    assert [line["cap"] for line in lines_of(*args)] == ["100.0", "5.5"]
    mpc2 = wmcc.certify_trimming(whole(), "mpc2", caps=[20], nodes=2)
    assert data_of("certify", "parcels.csv", *WEIGHTED, "--cap", "20", "--measure", "mpc2", "--nodes", "2") == (
        mpc2.to_dict()
    )
    by = data_of(*args, "--by", "region")
    assert by["groups"][0]["result"] == wmcc.certify_trimming(whole(by="region")["coast"], caps=[100, 5.5]).to_dict()
    run("tabulate", "parcels.csv", *WEIGHTED, "-o", "t.json")
    assert run("certify", "t.json", "--cap", "100", "--cap", "5.5").stdout == f"{curve}\n"


def groups_of_one_class(path):
    pl.DataFrame({"label": [1, 0, 1, 1], "pred": [1, 0, 0, 1], "g": ["a", "a", "a", "b"]}).write_csv(path)


@pytest.mark.parametrize("command", [("certify",), ("radius", "--change", "0.1")])
def test_a_group_without_a_range_does_not_hide_the_others(command):
    groups_of_one_class("d.csv")
    args, shut = (*command, "d.csv", *COLUMNS, "--by", "g"), 3 if command[0] == "radius" else 0
    first, second = (group["result"] for group in data_of(*args, code=shut)["groups"])
    assert first["problem"] is None
    assert second["problem"].startswith("ECC (R_K) is undefined at these weights")
    assert "g = b: " in run(*args, code=shut).stdout
    pl.read_csv("d.csv").filter(pl.col("g") == "b").write_csv("d.csv")
    assert "is undefined at these weights" in run(*command, "d.csv", *COLUMNS, code=shut).stdout


def test_witnesses_beyond_float64():
    pl.DataFrame({"label": [1, 1, 0, 2], "pred": [1, 1, 0, 0], "w": [1.7e308, 1.7e308, 1.0, 2.0]}).write_csv("d.csv")
    end = data_of("certify", "d.csv", *COLUMNS, "--weight", "w")["lower"]
    assert end["witness"][1] == [0.0, None, 0.0]


@pytest.mark.parametrize("command", [("certify",), ("radius", "--at-least", 0.5)])
def test_witnesses_of_many_classes_list_their_cells(command, monkeypatch):
    table, args = whole(), (*command, "parcels.csv", *WEIGHTED)
    square = data_of(*args)
    monkeypatch.setattr("wmcc.robustness.certificate.MOST_SQUARE", 2)
    listed = data_of(*args)
    if command[0] == "certify":
        assert square.pop("cells") is None
        assert listed.pop("cells") == {"true": table.cells.codes[0].tolist(), "pred": table.cells.codes[1].tolist()}
    ends = (lambda data: [data]) if command[0] == "radius" else (lambda data: [data["lower"], data["upper"]])
    for matrix, sums in zip(ends(square), ends(listed), strict=True):
        assert np.array(matrix.pop("witness"))[tuple(table.cells.codes)].tolist() == sums.pop("witness")
    assert square == listed


# ---- radius ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", [("at_least", 0.9), ("at_most", 0.99), ("change", 0.02)])
def test_radius_is_what_the_library_says(goal):
    name, x = goal
    args = ("radius", "parcels.csv", *WEIGHTED, "--measure", "accuracy", f"--{name.replace('_', '-')}", x)
    found = wmcc.radius(whole(), "accuracy", **{name: x})
    assert data_of(*args) == found.to_dict()
    assert lines_of(*args)[0]["safe"] == repr(found.safe)
    assert run(*args).stdout == f"{found}\n"


@pytest.mark.parametrize("goal", [("--at-least", "0.95"), ("--at-most", "0.9")])
def test_a_statement_that_does_not_hold_shuts_the_gate(goal):
    """A score of 0.9457 is not at least 0.95, and nobody turns the question round."""
    result = run("radius", "parcels.csv", *WEIGHTED, "--measure", "accuracy", *goal, code=3)
    asked = f"Accuracy is at {goal[0][5:]} {goal[1]}"
    assert f"{asked}: this does not hold, so it has no radius; Accuracy is 0.9457" in result.stdout
    assert result.stderr == f"Failed: {asked} does not hold; Accuracy is 0.9457 at the weights as they are.\n"
    data = data_of("radius", "parcels.csv", *WEIGHTED, "--measure", "accuracy", *goal, code=3)
    assert (data["holds"], data["safe"]) == (False, 0.0)
    by = run(
        "radius", "parcels.csv", *WEIGHTED, "--by", "region", "--measure", "accuracy", "--at-least", "0.95", code=3
    )
    assert by.stderr == (
        "Failed: region = mountains: Accuracy is at least 0.95 does not hold; "
        "Accuracy is 0.9050 at the weights as they are.\n"
    )


def test_a_threshold_that_no_weights_reach():
    args = ("radius", "parcels.csv", *WEIGHTED, "--measure", "accuracy", "--at-least", "0")
    assert [data_of(*args)[name] for name in ("broken", "attained", "witness")] == [None] * 3
    assert run(*args).stdout.endswith("no weights were found that break it\n")


# ---- rank ------------------------------------------------------------------------------------------


def test_rank_is_what_the_library_says():
    found = wmcc.certify_ranking(whole("pred", "pred_c"), eps=0.01)
    assert data_of(*TWO, "--eps", "0.01") == found.with_radii().to_dict()
    assert data_of(*TWO, "--eps", "0.01", "--no-radius") == found.to_dict()
    said = run(*TWO, "--eps", "0.01", "--no-radius").stdout
    assert said.endswith("\n\npred beats pred_c.\n")
    assert "Certain up to" not in said
    assert lines_of(*TWO, "--eps", "0.01")[0]["safe"] == repr(found.radius.safe)


def test_a_search_that_stopped_is_said_to_have():
    stopped = "search for a proof stopped at its limit; a larger limit of nodes may prove more."
    assert f"The {stopped}" in run(*TWO[:-2], "--pred", "pred_b", "--nodes", 1).stdout
    assert f"In 3 of 3 lines the {stopped}" in run(*TWO, "--pred", "pred_b", "--nodes", 1).stdout
    assert "stopped" not in run(*TWO).stdout


def test_three_are_ranked_pair_by_pair():
    data = data_of(*THREE, "--absolute", "--eps", "0.02", "--measure", "kappa")
    found = wmcc.certify_ranking(whole("pred", "pred_c", "pred_b"), "kappa", eps=0.02, model="absolute")
    assert data == found.to_dict()
    said = run(*THREE, "--eps", "0.1").stdout.splitlines()
    assert said[0] == "ECC (R_K), each weight off by up to 10 %, 360 rows: certified ranking"
    assert [line.split() for line in said[1:5]] == [
        ["pred", "pred_c", "pred_b"], ["pred", "?", "beats"], ["pred_c", "?", "beats"],
        ["pred_b", "loses", "to", "loses", "to"],
    ]  # fmt: skip
    lines = lines_of(*THREE, "--eps", "0.1")
    assert [(x["first"], x["second"], x["winner"]) for x in lines] == [
        ("pred", "pred_c", ""), ("pred", "pred_b", "pred"), ("pred_c", "pred_b", "pred_c"),
    ]  # fmt: skip
    assert "safe" not in lines[0]


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_rank_reads_as_score_does(engine, folder):
    rows = SAMPLE.read_text().splitlines(keepends=True)
    (folder / "a.csv").write_text("".join(rows[:100]))
    (folder / "b.csv").write_text("".join([rows[0], *rows[100:]]))
    args = (*TWO[2:], "--no-radius", "--ignore", "water", "--labels", "forest,field")
    pair = data_of("rank", "a.csv", "b.csv", *args, "--engine", engine)["pairs"][0]
    joint = whole("pred", "pred_c", ignore="water", labels=["forest", "field"])
    assert pair["labels"] == list(joint.labels)
    assert pair["values"] == pytest.approx([wmcc.ecc(joint["pred"]), wmcc.ecc(joint["pred_c"])])


# ---- errors, and what all have in common -----------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["certify", *WEIGHTED, "--eps", "1.5"], "with `model` 'relative' it must be below 1"),
        (["certify", *WEIGHTED, "--eps", "1.5"], "(0.1 for 10 %), or use --absolute."),
        (["certify", *WEIGHTED, "--eps", "-1", "--absolute"], "`eps` is -1.0; expected a number of at least 0"),
        (["certify", *WEIGHTED, "--eps", "much"], "--eps"),
        (["certify", *WEIGHTED, "--measure", "f1"], "'f1' is a number per class"),
        (["certify", *WEIGHTED, "--measure", "eec"], "`measure` is 'eec'; expected one of mcc, ecc"),
        (["certify", *WEIGHTED, "--measure", "mcc"], "MCC"),
        (["certify", *WEIGHTED, "--nodes", "0"], "`nodes` is 0; expected a whole number of at least 1"),
        (["certify", *WEIGHTED, "--gap", "-1"], "`gap` is -1.0; expected a number of at least 0"),
        (["certify", *WEIGHTED, "--lower", "aera"], "did you mean 'area'?"),
        (["certify", *WEIGHTED, "--cap", "5", "--eps", "0.1"], "--cap cannot be given with --eps"),
        (["certify", *WEIGHTED, "--cap", "5", "--absolute"], "--cap cannot be given with --relative or --absolute"),
        (["certify", *WEIGHTED, "--cap", "5", "--upper", "area"], "--cap cannot be given with --upper"),
        (["certify", *WEIGHTED, "--cap", "0"], "`--cap` is 0.0; expected a number above 0"),
        (["rank", *WEIGHTED, "--pred", "pred_b", "--lower", "aera"], "did you mean 'area'?"),
        (
            ["rank", *WEIGHTED, "--pred", "pred_b", "--lower", "area", "--eps", "0.1"],
            "--eps cannot be given with --lower and --upper",
        ),
        (["score", *WEIGHTED, "--lower", "area", "--eps", "0.1"], "--eps cannot be given with --lower and --upper"),
        (
            ["compare", *WEIGHTED, "--pred", "pred_b", "--upper", "area", "--measure", "iou", "--of", "water"],
            "--of cannot be given with --upper",
        ),
        (["certify", *WEIGHTED, "--lower", "area", "--eps", "0.1"], "--eps cannot be given with --lower and --upper"),
        (
            ["certify", *WEIGHTED, "--upper", "area", "--absolute"],
            "--absolute cannot be given with --lower and --upper",
        ),
        (["certify"], "expected --true and --pred, columns of labels in parcels.csv"),
        (["radius", *WEIGHTED], "expected one of --at-least, --at-most and --change"),
        (["radius", *WEIGHTED, "--at-least", "0.5", "--change", "0.1"], "expected one of --at-least"),
        (["radius", *WEIGHTED, "--change", "0"], "`change` is 0.0; expected a number above 0"),
        (["radius", *WEIGHTED, "--at-least", "2"], "`at_least` is 2.0; ECC (R_K) lies between -1 and 1"),
        (["rank", *WEIGHTED], "--pred names 1 column; expected at least 2"),
        (["rank", "--pred", "pred", "--pred", "pred_b"], "--pred needs --true"),
        (["rank", *WEIGHTED, "--pred", "pred"], "--pred names 'pred' more than once"),
        (["rank", *WEIGHTED, "--pred", "perd_b"], "did you mean 'pred_b'?"),
        (["rank", *WEIGHTED, "--pred", "pred_b", "-o", "parcels.csv"], "it would be overwritten"),
    ],
)
def test_bad_input_is_told_in_a_sentence(args, said):
    assert_refused(args, said)


def test_bounds_go_with_data(folder):
    run("tabulate", "parcels.csv", *WEIGHTED, "-o", "t.json")
    for command in ("certify", "score", "report"):
        assert "--upper names a column of a data file" in run(command, "t.json", "--upper", "area", code=2).stderr


def test_a_table_of_one_prediction_is_not_compared(folder):
    run("tabulate", "parcels.csv", *WEIGHTED, "-o", "t.json")
    for command in ("rank", "compare"):
        said = run(command, "t.json", code=2).stderr
        assert "t.json holds a table of one prediction" in said
        assert "`wmcc drift` compares tables of different rows." in said
    run("tabulate", *TWO[1:], "-o", "both.json")
    assert (
        "one is a table of one prediction, the other of several" in run("merge", "t.json", "both.json", code=2).stderr
    )
    assert "both.json holds a table of several predictions" in run("score", "both.json", code=2).stderr
    for command in ("rank", "compare"):
        assert run(command, "both.json").stdout == run(command, *TWO[1:]).stdout


@pytest.mark.parametrize("args", [["certify", *WEIGHTED], ["radius", *WEIGHTED, "--change", "1"], TWO[:1] + TWO[2:]])
def test_options_are_checked_before_data_are_read(args):
    command, *options = args
    assert "`measure` is 'nothing'" in run(command, "nowhere.csv", *options, "--measure", "nothing", code=2).stderr


def test_results_are_written_to_files(folder):
    for command in (("certify", "parcels.csv", *WEIGHTED), TWO):
        run(*command, "-o", "found.json", *(["--no-radius"] if command is TWO else []))
        assert json.loads((folder / "found.json").read_text())["schema"] == 1


def test_nothing_is_wider_than_the_terminal():
    both = whole("pred", "pred_b")
    found = [
        wmcc.certify(whole(), eps=[0.1, 0.2]),
        wmcc.certify_trimming(whole(), caps=[10, 20]),
        wmcc.certify(whole()),
        wmcc.certify_ranking(both, nodes=1).with_radii(),
        wmcc.compare(both),
        wmcc.score(whole()),
    ]
    assert_fits([block for one in found for block in one.blocks()], (40, 80, 200), least=10)


@pytest.mark.slow
def test_the_commands_as_processes():
    done = process("certify", SAMPLE, *WEIGHTED)
    assert (done.returncode, done.stderr) == (0, "")
    done = process("rank", SAMPLE, *WEIGHTED)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: --pred names 1 column; expected at least 2")


def test_lists_of_plain_values_are_one_line_of_json():
    said = run("certify", "parcels.csv", *WEIGHTED, "-f", "json").stdout
    assert '"labels": ["field", "forest", "water"],\n' in said
    assert np.array(json.loads(said)["upper"]["witness"]).shape == (3, 3)


def test_known_totals_and_missing_labels(tmp_path):
    found = json.loads(
        run("certify", "parcels.csv", *WEIGHTED, "--eps", "0.2", "--fixed", "total", "--format", "json").stdout
    )
    table = wmcc.tabulate("parcels.csv", true="label", pred="pred", weight="area", progress=False)
    assert found == json.loads(json.dumps(wmcc.certify(table, eps=0.2, fixed="total").to_dict()))
    frame = pl.read_csv("parcels.csv").with_columns(
        label=pl.when(pl.col("id") % 9 == 0).then(None).otherwise(pl.col("label"))
    )
    frame.write_csv("gaps.csv")
    how = ("gaps.csv", *WEIGHTED, "--missing", "keep")
    kept = wmcc.tabulate(frame, true="label", pred="pred", weight="area", missing="keep")
    found = json.loads(run("certify", *how, "--format", "json").stdout)
    assert found["model"] == "missing"
    assert (found["low"], found["high"]) == (lambda x: (x.low, x.high))(wmcc.certify(kept, model="missing"))
    assert "whatever the missing labels are" in run("certify", *how).stdout
    assert "--eps cannot be given for missing labels" in run("certify", *how, "--eps", "0.1", code=2).stderr
    assert "--missing ignore or wrong" in run("score", *how, code=2).stderr
    wrong = json.loads(run("score", "gaps.csv", *WEIGHTED, "--missing", "wrong", "--format", "json").stdout)
    assert wrong["ignored"] == frame["label"].null_count()

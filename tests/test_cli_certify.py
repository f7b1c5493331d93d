"""`wmcc certify`, `radius` and `rank`: they say what the library says, in every format."""

import csv
import io
import json

import numpy as np
import polars as pl
import pytest
from cli_helpers import COLUMNS, SAMPLE, WEIGHTED, assert_fits, assert_refused, process, put_sample, run

import wmcc
from wmcc.cli import robust, robust_blocks, robust_records
from wmcc.cli.reading import Request

RANK = ("rank", "parcels.csv", "--true", "label", "--weight", "area")
TWO = (*RANK, "--pred", "pred", "--pred", "pred_c")
THREE = (*TWO, "--pred", "pred_b", "--no-radius")
SIDES = ("lower", "upper")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    return tmp_path


def whole(**options):
    return wmcc.tabulate(str(SAMPLE), "label", "pred", "area", progress=False, **options)


def data_of(*args):
    return json.loads(run(*args, "--format", "json").stdout)


def lines_of(*args):
    return list(csv.DictReader(io.StringIO(run(*args, "--format", "csv").stdout)))


def plain_end(end):
    fields = {name: getattr(end, name) for name in ("bound", "attained", "exact", "gap", "nodes")}
    return {**fields, "witness": end.cells.tolist()}


def plain_conditions(conditions):
    return [{"sentence": c.sentence, "met": c.met} for c in conditions]


# ---- certify ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["relative", "absolute"])
def test_certify_is_what_the_library_says(model):
    eps = [0.05, 0.3]
    data = data_of("certify", "parcels.csv", *WEIGHTED, "--eps", "0.05", "--eps", "0.3", f"--{model}")
    curve = wmcc.certify(whole(), "ecc", eps, model)
    assert data == {
        "schema": 1,
        "measure": "ecc",
        "model": model,
        "labels": ["field", "forest", "water"],
        "value": wmcc.ecc(whole()),
        "ranges": [
            {
                "eps": c.eps,
                "lower": plain_end(c.lower),
                "upper": plain_end(c.upper),
                "conditions": plain_conditions(c.conditions),
            }
            for c in curve
        ],
        "notes": [],
    }


def test_the_default_is_ten_percent():
    assert data_of("certify", "parcels.csv", *WEIGHTED)["ranges"][0]["eps"] == 0.1


def test_measures_and_limits_are_passed_on():
    args = ("--measure", "mpc2", "--eps", "0.6", "--nodes", "2", "--gap", "0.001", "--seconds", "5")
    end = data_of("certify", "parcels.csv", *WEIGHTED, *args)["ranges"][0]["lower"]
    assert end == plain_end(wmcc.certify(whole(), "mpc2", 0.6, nodes=2, gap=0.001, seconds=5).lower)


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
    assert said.splitlines()[2].split() == ["10", "%", "0.9017", "0.8817", "attained", "0.9185", "attained"]
    said = run("certify", "parcels.csv", *WEIGHTED, "--eps", "0.01", "--eps", "0.5", "--absolute").stdout
    assert "An end with a gap is a bound" in said
    assert "Not so for ε = 0.5: no cell has weights both above and below ε" in said
    said = run("certify", "parcels.csv", *WEIGHTED, "--format", "markdown").stdout
    assert "| 10 % | 0.9017 | 0.8817 attained | 0.9185 attained |" in said


def test_cells_with_weights_on_both_sides_of_eps_are_bounded():
    """Their smallest sum is not known, but the measure is defined all the same: its range does not reach to 0."""
    found = data_of("certify", "parcels.csv", *WEIGHTED, "--eps", "0.5", "--absolute")["ranges"][0]
    assert [c["met"] for c in found["conditions"]] == [False, True]
    assert 0 < found["lower"]["gap"] < 0.01


def test_certify_as_csv():
    first, second, *_ = lines_of("certify", "parcels.csv", *WEIGHTED, "--eps", "0.1", "--eps", "0.2", "--by", "region")
    certificate = wmcc.certify(whole(by="region")["coast"], "ecc", 0.1)
    assert first == {
        "region": "coast", "measure": "ecc", "model": "relative", "eps": "0.1", "value": repr(certificate.value),
        "low": repr(certificate.low), "low_attained": repr(certificate.lower.attained), "low_exact": "true",
        "high": repr(certificate.high), "high_attained": repr(certificate.upper.attained), "high_exact": "true",
        "conditions_met": "true",
    }  # fmt: skip
    assert (second["region"], second["eps"]) == ("coast", "0.2")


def test_bounds_of_each_weight():
    frame = pl.read_csv("parcels.csv").with_columns(low=pl.col("area") * 0.5, high=pl.col("area") + 1)
    frame.write_csv("d.csv")
    table, low, high = (wmcc.tabulate("d.csv", "label", "pred", x, progress=False) for x in ("area", "low", "high"))
    for args, bounds in (
        (("--lower", "low", "--upper", "high"), {"lower": low, "upper": high}),
        (("--upper", "high"), {"upper": high}),
    ):
        data = data_of("certify", "d.csv", *WEIGHTED, *args)
        certificate = wmcc.certify(table, "ecc", **bounds)
        assert (data["model"], data["ranges"][0]["eps"]) == ("bounds", None)
        assert data["ranges"][0]["lower"] == plain_end(certificate.lower)
        assert data["ranges"][0]["upper"] == plain_end(certificate.upper)
    assert "their bounds" in run("certify", "d.csv", *WEIGHTED, "--lower", "low").stdout
    by = data_of("certify", "d.csv", *WEIGHTED, "--lower", "low", "--by", "region")
    assert [group["key"] for group in by["groups"]] == [["coast"], ["mountains"], ["plain"]]
    assert "lower is above the weights" in run("certify", "d.csv", *WEIGHTED, "--lower", "high", code=2).stderr


def groups_of_one_class(path):
    pl.DataFrame({"label": [1, 0, 1, 1], "pred": [1, 0, 0, 1], "g": ["a", "a", "a", "b"]}).write_csv(path)


@pytest.mark.parametrize("command", [("certify",), ("radius", "--change", "0.1")])
def test_a_group_without_a_range_does_not_hide_the_others(command):
    groups_of_one_class("d.csv")
    args = (*command, "d.csv", *COLUMNS, "--by", "g")
    first, second = (group.get("certificate") or group.get("radius") for group in data_of(*args)["groups"])
    assert first["notes"] == []
    assert first["value"] is not None
    assert second["notes"][0].startswith("g = b: ECC (R_K) is undefined at these weights")
    assert second["value"] is None
    assert lines_of(*args)[-1]["value"] == ""
    assert "g = b: " in run(*args).stdout
    pl.read_csv("d.csv").filter(pl.col("g") == "b").write_csv("d.csv")
    assert "is undefined at these weights" in run(*args, code=2).stderr
    assert "is undefined at these weights" in run(*command, "d.csv", *COLUMNS, code=2).stderr


def test_witnesses_beyond_float64():
    pl.DataFrame({"label": [1, 1, 0, 2], "pred": [1, 1, 0, 0], "w": [1.7e308, 1.7e308, 1.0, 2.0]}).write_csv("d.csv")
    end = data_of("certify", "d.csv", *COLUMNS, "--weight", "w")["ranges"][0]["lower"]
    assert end["witness"][1] == [0.0, None, 0.0]


@pytest.mark.parametrize("command", [("certify",), ("radius", "--threshold", 0.5)])
def test_witnesses_of_many_classes_list_their_cells(command, monkeypatch):
    table, args = whole(), (*command, "parcels.csv", *WEIGHTED)
    square = data_of(*args)
    monkeypatch.setattr(robust_records, "MOST_SQUARE", 2)
    listed = data_of(*args)
    assert listed.pop("cells") == {"true": table.stack.codes[0].tolist(), "pred": table.stack.codes[1].tolist()}
    ends = (lambda data: [data]) if command[0] == "radius" else (lambda data: [*map(data["ranges"][0].get, SIDES)])
    for matrix, sums in zip(ends(square), ends(listed), strict=True):
        assert np.array(matrix.pop("witness"))[tuple(table.stack.codes)].tolist() == sums.pop("witness")
    assert square == listed


# ---- radius ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", [("threshold", 0.9), ("threshold", 0.99), ("change", 0.02)])
def test_radius_is_what_the_library_says(goal):
    name, x = goal
    args = ("radius", "parcels.csv", *WEIGHTED, "--measure", "accuracy", f"--{name}", x)
    found = wmcc.radius(whole(), "accuracy", **{name: x})
    assert data_of(*args) == {
        "schema": 1,
        "measure": "accuracy",
        "model": "relative",
        "labels": ["field", "forest", "water"],
        "value": found.value,
        "statement": found.statement,
        "safe": found.safe,
        "broken": found.broken,
        "stopped": found.stopped,
        "attained": found.witness.attained,
        "witness": found.witness.cells.tolist(),
        "notes": [],
    }
    line = {"measure": "accuracy", "model": "relative", "value": repr(found.value), "statement": found.statement}
    assert lines_of(*args) == [{**line, "safe": repr(found.safe), "broken": repr(found.broken)}]
    assert found.statement in run(*args).stdout


def test_a_threshold_that_no_weights_reach():
    args = ("radius", "parcels.csv", *WEIGHTED, "--measure", "accuracy", "--threshold", "0")
    assert [data_of(*args)[name] for name in ("broken", "attained", "witness")] == [None] * 3
    assert run(*args).stdout.endswith("99.9999 %          —\n")


# ---- rank ------------------------------------------------------------------------------------------


def plain_pair(pair, radius):
    cells = dict(zip(("true", "first", "second"), pair.joint.cells.T.tolist(), strict=True))
    return {
        "names": list(pair.names),
        "values": list(pair.values),
        "difference": pair.difference,
        "lower": plain_end(pair.lower),
        "upper": plain_end(pair.upper),
        "conditions": plain_conditions(pair.conditions),
        "winner": pair.winner,
        "verdict": pair.verdict,
        "radius": radius,
        "labels": list(pair.joint.labels),
        "cells": cells,
    }


def test_rank_is_what_the_library_says():
    data = data_of(*TWO, "--eps", "0.01")
    pair = wmcc.certify_ranking(str(SAMPLE), "label", "pred", "pred_c", "area", eps=0.01, progress=False)
    at = pair.radius
    radius = {"safe": at.safe, "broken": at.broken, "stopped": at.stopped, "attained": at.witness.attained}
    pairs = [plain_pair(pair, {**radius, "witness": at.witness.cells.tolist()})]
    asked = {"schema": 1, "measure": "ecc", "model": "relative", "eps": 0.01, "names": ["pred", "pred_c"]}
    assert data == {**asked, "pairs": pairs}
    assert data["pairs"][0]["winner"] == "pred"
    said = run(*TWO, "--eps", "0.01", "--no-radius").stdout
    assert said.endswith("\n\npred beats pred_c.\n")
    assert "Certain up to" not in said


def test_a_search_that_stopped_is_said_to_have():
    stopped = "search for a proof stopped at its limit of boxes; more --nodes may prove it further."
    assert f"The {stopped}" in run(*TWO[:-2], "--pred", "pred_b", "--nodes", 1).stdout
    assert f"In 3 of 3 lines the {stopped}" in run(*TWO, "--pred", "pred_b", "--nodes", 1).stdout
    assert "stopped" not in run(*TWO).stdout


def test_three_are_ranked_pair_by_pair():
    data = data_of(*THREE, "--absolute", "--eps", "0.02", "--measure", "kappa")
    options = {"weight": "area", "measure": "kappa", "eps": 0.02, "model": "absolute", "progress": False}
    found = wmcc.certify_ranking(str(SAMPLE), "label", ["pred", "pred_c", "pred_b"], **options)
    assert data["names"] == list(found.names)
    assert data["pairs"] == [plain_pair(pair, None) for pair in found.pairs.values()]
    said = run(*THREE, "--eps", "0.1").stdout.splitlines()
    assert said[0] == "ECC (R_K), each weight off by up to 10 %: what is certain"
    assert [line.split() for line in said[1:5]] == [
        ["pred", "pred_c", "pred_b"], ["pred", "?", "beats"], ["pred_c", "?", "beats"],
        ["pred_b", "loses", "to", "loses", "to"],
    ]  # fmt: skip
    assert len(said) == 10
    lines = lines_of(*THREE, "--eps", "0.1")
    assert [(x["first"], x["second"], x["winner"], x["safe"]) for x in lines] == [
        ("pred", "pred_c", "", ""), ("pred", "pred_b", "pred", ""), ("pred_c", "pred_b", "pred_c", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_rank_reads_as_score_does(engine, folder):
    rows = SAMPLE.read_text().splitlines(keepends=True)
    (folder / "a.csv").write_text("".join(rows[:100]))
    (folder / "b.csv").write_text("".join([rows[0], *rows[100:]]))
    args = (*TWO[2:], "--no-radius", "--ignore", "water", "--labels", "forest,field")
    pair = data_of("rank", "a.csv", "b.csv", *args, "--engine", engine)["pairs"][0]
    joint = wmcc.joint_table(str(SAMPLE), "label", "pred", "pred_c", "area", ignore="water", progress=False)
    assert pair["labels"] == ["forest", "field"]
    assert pair["values"] == pytest.approx([wmcc.ecc(joint.first), wmcc.ecc(joint.second)])


# ---- errors, and what all have in common -----------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["certify", *WEIGHTED, "--eps", "1.5"], "with --relative it must be below 1"),
        (["certify", *WEIGHTED, "--eps", "1.5"], "(0.1 for 10 %), or use --absolute."),
        (["certify", *WEIGHTED, "--eps", "-1", "--absolute"], "eps is -1.0; expected a number of at least 0"),
        (["certify", *WEIGHTED, "--eps", "much"], "--eps"),
        (["certify", *WEIGHTED, "--measure", "f1"], "'f1' is a number per class"),
        (["certify", *WEIGHTED, "--measure", "eec"], "measure is 'eec'; expected one with a gradient: mcc, ecc"),
        (["certify", *WEIGHTED, "--measure", "mcc"], "MCC"),
        (["certify", *WEIGHTED, "--nodes", "0"], "nodes is 0; expected a whole number of at least 1"),
        (["certify", *WEIGHTED, "--gap", "-1"], "gap is -1.0; expected a number of at least 0"),
        (["certify", *WEIGHTED, "--lower", "aera"], "did you mean 'area'?"),
        (["certify", *WEIGHTED, "--lower", "area", "--eps", "0.1"], "--eps does not go with --lower and --upper"),
        (["certify", *WEIGHTED, "--upper", "area", "--absolute"], "--absolute does not go with --lower and --upper"),
        (["certify", "--upper", "area"], "--upper names a column of data"),
        (["certify"], "expected --true and --pred, the columns of labels in parcels.csv"),
        (["radius", *WEIGHTED], "expected one of --threshold"),
        (["radius", *WEIGHTED, "--threshold", "0.5", "--change", "0.1"], "expected one of --threshold"),
        (["radius", *WEIGHTED, "--change", "0"], "change is 0.0; expected a number above 0"),
        (["rank", *WEIGHTED], "--pred at least twice"),
        (["rank", "--pred", "pred", "--pred", "pred_b"], "expected --true"),
        (["rank", *WEIGHTED, "--pred", "pred"], "--pred names 'pred' more than once"),
        (["rank", *WEIGHTED, "--pred", "perd_b"], "did you mean 'pred_b'?"),
        (["rank", *WEIGHTED, "--pred", "pred_b", "-o", "parcels.csv"], "it would be lost"),
    ],
)
def test_bad_input_is_told_in_a_sentence(args, said):
    assert_refused(args, said)


@pytest.mark.parametrize("args", [["certify", *WEIGHTED], ["radius", *WEIGHTED, "--change", "1"], TWO[:1] + TWO[2:]])
def test_options_are_checked_before_data_are_read(args):
    command, *options = args
    assert "measure is 'nothing'" in run(command, "nowhere.csv", *options, "--measure", "nothing", code=2).stderr


def test_results_are_written_to_files(folder):
    for command in (("certify", "parcels.csv", *WEIGHTED), TWO):
        run(*command, "-o", "found.json", *(["--no-radius"] if command is TWO else []))
        assert json.loads((folder / "found.json").read_text())["schema"] == 1


def test_nothing_is_wider_than_the_terminal():
    request = Request(["parcels.csv"], "label", "pred", "area", ["region"])
    asked = robust.Asked("accuracy", None, [0.1])
    pair = robust.rankings(Request(["parcels.csv"], "label"), ["pred", "pred_b"], asked, True)
    found = [
        *robust_blocks.of_certificates(robust.certificates(request, asked)),
        *robust_blocks.of_radii(robust.radii(request, asked, None, 0.1)),
        *robust_blocks.of_rankings(pair),
    ]
    assert_fits(found, (40, 80, 200), least=10)


def test_the_commands_as_processes():
    done = process("certify", SAMPLE, *WEIGHTED)
    assert (done.returncode, done.stderr) == (0, "")
    done = process("rank", SAMPLE, *WEIGHTED)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: expected --true, and --pred at least twice")


def test_lists_of_plain_values_are_one_line_of_json():
    said = run("certify", "parcels.csv", *WEIGHTED, "-f", "json").stdout
    assert '"labels": ["field", "forest", "water"],\n' in said
    rows = np.array(json.loads(said)["ranges"][0]["upper"]["witness"])
    assert rows.shape == (3, 3)

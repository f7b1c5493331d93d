"""Scores and thresholds on the command line: what it prints is what the library answers."""

import json
from pathlib import Path

import polars as pl
import pytest
from cli_helpers import put_sample, run

import wmcc
from wmcc.results import ScoreTable

COLUMNS = ("--true", "label", "--weight", "area", "--ignore", "water")
ONE, BOTH = (*COLUMNS, "--score", "prob"), (*COLUMNS, "--score", "prob", "--score", "prob_b")
NAMED = {"true": "label", "weight": "area", "ignore": "water"}
DATA = "parcels.csv"

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    return tmp_path


def scores(**options):
    """The score table of the sample."""
    return wmcc.tabulate(DATA, **{**NAMED, "score": "prob", **options})


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((), {}),
        (("--measure", "f1", "--confidence", "0.9"), {"measure": "f1", "confidence_level": 0.9}),
        (
            ("--at-least", "recall=0.9", "--at-least", "accuracy=0.8"),
            {"at_least": {"recall": 0.9, "accuracy": 0.8}},
        ),
        (("--eps", "0.2"), {"eps": 0.2}),
    ],
)
def test_a_threshold_is_that_of_the_library(args, options):
    best = wmcc.best_threshold(scores(), **options)
    assert run("threshold", DATA, *ONE, *args).stdout == f"{best}\n"
    assert json.loads(run("threshold", DATA, *ONE, *args, "-f", "json").stdout) == best.to_dict()
    run("tabulate", DATA, *ONE, "-o", "scores.json")
    run("threshold", "scores.json", *args, "-o", "best.json")
    assert json.loads(Path("best.json").read_text()) == best.to_dict()


def test_what_to_expect_comes_before_what_only_seems_to_be():
    alone = run("threshold", DATA, *ONE).stdout
    by_region = run("threshold", DATA, *ONE, "--by", "region").stdout
    assert alone.index("expected on new data") < alone.index("allowing for the choice") < alone.index("apparent")
    head = by_region.splitlines()[1]
    assert head.index("Expected") < head.index("95 % interval") < head.index("Apparent")


def test_a_threshold_for_each_group_and_each_score():
    found = json.loads(run("threshold", DATA, *BOTH, "--by", "region", "-f", "json").stdout)
    assert found["by"] == ["region", "score"]
    for group in found["groups"]:
        region, name = group["key"]
        own = wmcc.best_threshold(scores(by="region", score=name)[region])
        assert group["result"] == own.to_dict()
    assert [group["key"] for group in found["groups"]] == [
        [region, name] for region in ("coast", "mountains", "plain") for name in ("prob", "prob_b")
    ]
    shown = run("threshold", DATA, *BOTH, "--by", "region", "--eps", "0.1").stdout
    assert "Proved at least" in shown


def test_a_group_without_a_threshold_has_a_reason():
    shown = run("threshold", DATA, *BOTH, "--at-least", "recall=0.9", "--at-least", "precision=0.65").stdout
    assert "score = prob_b: no threshold has recall of at least 0.9 and precision of at least 0.65." in shown
    assert "score = prob: A score of at least the threshold is forest." in shown


@pytest.mark.parametrize(
    "design",
    [
        (("--cluster", "region"), {"cluster": "region"}),
        (("--stratum", "region"), {"design": wmcc.Strata("region")}),
        (("--engine", "polars"), {}),
    ],
    ids=["cluster", "stratum", "engine"],
)
def test_designs_and_engines_are_kept(design):
    args, options = design
    best = wmcc.best_threshold(scores(**options))
    assert run("threshold", DATA, *ONE, *args).stdout == f"{best}\n"
    run("tabulate", DATA, *ONE, *args, "-o", "scores.json")
    assert run("threshold", "scores.json").stdout == f"{best}\n"


def test_some_thresholds_are_kept():
    best = wmcc.best_threshold(scores(thresholds=[0.2, 0.4, 0.6]))
    Path("cuts.txt").write_text("0.2\n0.4\n0.6\n")
    for given in ("0.2,0.4,0.6", "cuts.txt"):
        run("tabulate", DATA, *ONE, "--thresholds", given, "-o", "scores.json")
        assert ScoreTable.from_json(Path("scores.json").read_text()).edges == (0.2, 0.4, 0.6)
        assert run("threshold", "scores.json").stdout == f"{best}\n"
    said = run("score", "scores.json", "--threshold", "0.5", code=2).stderr
    assert "`threshold` is 0.5; scores were put together between edges, and the nearest are 0.4 and 0.6" in said


def test_scores_in_another_file_and_standard_input():
    frame, best = pl.read_csv(DATA), wmcc.best_threshold(scores())
    frame.select("id", "label", "area").write_csv("truth.csv")
    frame.select("id", "prob").write_csv("scores.csv")
    columns = (*COLUMNS, "--score", "prob", "--join", "scores.csv", "--on", "id")
    assert run("threshold", "truth.csv", *columns).stdout == f"{best}\n"
    stored = run("tabulate", "-", *ONE, "-f", "json", text=Path(DATA).read_text()).stdout
    assert run("threshold", "-", text=stored).stdout == f"{best}\n"


def test_parts_of_a_stratified_sample_are_merged():
    frame = pl.read_csv(DATA)
    design = ("--stratum", "region", "--population", "sizes.csv")
    Path("sizes.csv").write_text("region,size\ncoast,2000\nmountains,900\nplain,1500\n")
    columns = [x for x in ONE if x not in ("--weight", "area")]
    frame.filter(pl.col("region") == "coast").write_csv("a.csv")
    frame.filter(pl.col("region") != "coast").write_csv("b.csv")
    for name in ("a", "b", "parcels"):
        run("tabulate", f"{name}.csv", *columns, *design, "-o", f"{name}.json")
    run("merge", "a.json", "b.json", "-o", "merged.json")
    merged, whole = (ScoreTable.from_json(Path(x).read_text()) for x in ("merged.json", "parcels.json"))
    assert merged == whole
    assert run("threshold", "merged.json").stdout == run("threshold", DATA, *columns, *design).stdout


# ---- labels of a threshold -------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["score", "certify", "radius", "images", "tabulate", "show"])
def test_every_command_reads_the_labels_of_a_threshold(command):
    """Given data, given a stored score table, or given the labels, it says the same."""
    pl.read_csv(DATA).with_columns(
        pred=pl.when(pl.col("prob") >= 0.42).then(pl.lit("forest")).otherwise(pl.lit("field"))
    ).write_csv("labels.csv")
    more = {"radius": ["--change", "0.1"], "images": ["--cluster", "region"]}.get(command, [])
    labels = ("labels.csv", *COLUMNS, "--pred", "pred", *more, "--labels", "field,forest")
    if command == "show":
        run("tabulate", DATA, *ONE, "--threshold", "0.42", "-o", "at.json")
        assert run("show", "at.json").stdout == run("tabulate", *labels).stdout
        return
    expected = run(command, *labels).stdout
    assert run(command, DATA, *ONE, "--threshold", "0.42", *more).stdout == expected
    run("tabulate", DATA, *ONE, *more[:2] * (command == "images"), "-o", "scores.json")
    if command != "tabulate":
        args = more if command == "radius" else []
        assert run(command, "scores.json", "--threshold", "0.42", *args).stdout == expected


def test_by_group():
    found = json.loads(run("score", DATA, *ONE, "--threshold", "0.5", "--by", "region", "-f", "json").stdout)
    tables = scores(by="region")
    assert {group["key"][0]: group["result"] for group in found["groups"]} == {
        region: json.loads(wmcc.score(own.at(0.5)).to_json()) for region, own in tables.items()
    }
    said = run("score", DATA, *ONE, "--threshold", "0.5", "--by", "region", "--fail-under", "recall/x=0.5", code=2)
    assert "names the class 'x'; the classes are 'field', 'forest'" in said.stderr


def test_bounds_of_weights_are_of_the_same_threshold():
    pl.read_csv(DATA).with_columns(least=0.9 * pl.col("area"), most=1.2 * pl.col("area")).write_csv(DATA)
    found = run("certify", DATA, *ONE, "--threshold", "0.5", "--lower", "least", "--upper", "most", "-f", "json").stdout
    sides = {side: scores(weight=name).at(0.5) for side, name in (("lower", "least"), ("upper", "most"))}
    assert json.loads(found) == wmcc.certify(scores().at(0.5), **sides).to_dict()


def test_scores_before_and_after():
    run("tabulate", DATA, *ONE, "-o", "a.json")
    run("tabulate", DATA, *COLUMNS, "--score", "prob_b", "-o", "b.json")
    found = json.loads(run("drift", "a.json", "b.json", "--threshold", "0.5", "-f", "json").stdout)
    tables = {"before": scores().at(0.5), "after": scores(score="prob_b").at(0.5)}
    assert found == wmcc.compare(tables, sample="independent").to_dict()


# ---- comparisons -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (("--threshold", "best", "--margin", "0.05"), {"threshold": "best", "margin": 0.05}),
        (("--threshold", "best", "--measure", "f1"), {"threshold": "best", "measure": "f1"}),
        (("--threshold", "0.5", "--measure", "kappa"), {"threshold": 0.5, "measure": "kappa"}),
        (("--threshold", "prob=0.5", "--threshold", "prob_b=0.25"), {"threshold": {"prob": 0.5, "prob_b": 0.25}}),
        (
            ("--threshold", "0.5", "--measure", "iou", "--of", "forest"),
            {"threshold": 0.5, "measure": "iou", "of": "forest"},
        ),
        (("--measure", "roc_auc"), {"measure": "roc_auc"}),
    ],
)  # fmt: skip
def test_scores_are_compared(args, options):
    both = scores(score=["prob", "prob_b"])
    expected = wmcc.compare(both, **options).to_dict()
    assert json.loads(run("compare", DATA, *BOTH, *args, "-f", "json").stdout) == expected
    run("tabulate", DATA, *BOTH, "-o", "both.json")
    assert json.loads(run("compare", "both.json", *args, "-f", "json").stdout) == expected


def test_scores_are_compared_in_each_group():
    found = json.loads(run("compare", DATA, *BOTH, "--threshold", "best", "--by", "region", "-f", "json").stdout)
    tables = scores(score=["prob", "prob_b"], by="region")
    for group in found["groups"]:
        assert group["result"] == wmcc.compare(tables[group["key"][0]], threshold="best").to_dict()


# ---- reports -------------------------------------------------------------------------------------------------------


def test_a_report_of_scores(monkeypatch):
    from report_helpers import quick

    quick(monkeypatch)

    def predictions(*args):
        return json.loads(run("report", *args, "--format", "json").stdout)["predictions"]

    run("tabulate", DATA, *BOTH, "-o", "both.json")
    chosen = predictions(DATA, *BOTH)
    assert chosen == predictions("both.json") == predictions(DATA, *BOTH, "--threshold", "best")
    for one in chosen:
        assert one["threshold"] == wmcc.best_threshold(scores(score=one["name"])).threshold
    given = predictions(DATA, *BOTH, "--threshold", "prob=0.5", "--threshold", "prob_b=0.25")
    assert given == predictions("both.json", "--threshold", "prob=0.5", "--threshold", "prob_b=0.25")
    assert [one["threshold"] for one in given] == [0.5, 0.25]


# ---- stored score tables -------------------------------------------------------------------------------------------


def test_stored_score_tables():
    run("tabulate", DATA, *BOTH, "-o", "both.json")
    both = scores(score=["prob", "prob_b"])
    assert ScoreTable.from_json(Path("both.json").read_text()) == both
    assert run("show", "both.json").stdout == f"{both}\n"
    lines = run("show", "both.json", "-f", "csv").stdout.splitlines()
    assert lines[0] == "prob,prob_b,positive,negative"
    assert len(lines) == 1 + len(both.tables)
    run("tabulate", DATA, *ONE, "-o", "one.json")
    run("merge", "one.json", "one.json", "-o", "twice.json")
    assert ScoreTable.from_json(Path("twice.json").read_text()) == scores() + scores()
    csv = run("show", "one.json", "-f", "csv").stdout.splitlines()
    assert csv[0] == "score,positive,negative"
    assert len(csv) == 1 + len(scores().steps)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("score", DATA, *ONE), "parcels.csv has scores; expected --threshold, which makes labels of them.\n"
         "Hint: `wmcc threshold` finds the best one"),
        (("score", "scores.json"), "scores.json has scores; expected --threshold"),
        (("score", DATA, *ONE, "--threshold", "best"), "chosen on the same data is too good"),
        (("score", DATA, *ONE, "--threshold", "high"), "--threshold is 'high'; expected a number"),
        (("score", DATA, *ONE, "--threshold", "0.4", "--threshold", "0.5"), "expected a number, or one for each"),
        (("score", DATA, *COLUMNS, "--pred", "pred", "--threshold", "0.5"), "--threshold is for scores, from --score"),
        (("score", "labels.json", "--threshold", "0.5"), "labels.json holds a table of labels"),
        (("score", DATA, *ONE, "--pred", "pred"), "--pred and --score are both given"),
        (("score", DATA, "--score", "prob", "--threshold", "0.5"), "--score needs --true"),
        (("score", DATA, *ONE, "--score", "prob_b", "--threshold", "0.5"), "--score names 2 columns; expected one"),
        (("score", "both.json", "--threshold", "0.5"), "holds a table of several predictions"),
        (("score", DATA, *ONE, "--score", "prob"), "--score names 'prob' more than once"),
        (("threshold", DATA, *COLUMNS, "--pred", "pred"), "--pred was given; expected --true and --score"),
        (("threshold", DATA, *COLUMNS), "--true without --score was given"),
        (("threshold", DATA, *ONE, "--threshold", "0.5"), "--threshold was given, which this command chooses"),
        (("threshold", DATA), "expected --true and --score, the columns of labels and of scores in parcels.csv; or a"),
        (("threshold", DATA, "--score", "prob"), "--score needs --true; name the columns of labels and of scores"),
        (("threshold", "labels.json"), "labels.json holds a table of labels; expected scores"),
        (("threshold", DATA, "--true", "label", "--score", "prob"), "there are 3.\nHint: --ignore leaves out"),
        (("threshold", DATA, *COLUMNS, "--score", "pred"), "the column 'pred' holds 'field'; a score must be a number"),
        (("threshold", DATA, *ONE, "--at-least", "recall"), "--at-least is 'recall'; expected a measure and a number"),
        (("threshold", DATA, *ONE, "--at-least", "recal=0.5"), "`at_least` is 'recal'; expected one of mcc"),
        (("threshold", DATA, *ONE, "--measure", "best"), "`measure` is 'best'"),
        (("tabulate", DATA, *ONE, "--thresholds", "0.1,high"), "--thresholds has 'high'; expected numbers"),
        (("tabulate", DATA, *COLUMNS, "--pred", "pred", "--thresholds", "0.1"), "--thresholds needs --score"),
        (("score", "scores.json", "--thresholds", "0.1"), "--thresholds is for data files"),
        (("tabulate", DATA, *ONE, "--by", "region"), "--score and --by are both given"),
        (("compare", DATA, *BOTH), "expected --threshold"),
        (("compare", DATA, *ONE, "--threshold", "best"), "--score names 1 column; expected at least 2"),
        (("compare", "scores.json", "--threshold", "best"), "expected several scores of the same rows"),
        (("compare", DATA, *BOTH, "--threshold", "prob=0.5"), "expected one of each score"),
        (("compare", DATA, *BOTH, "--threshold", "best", "--eps", "0.1"), "--eps cannot be given with --threshold"),
        (("compare", DATA, *BOTH, "--threshold", "best", "--of", "forest"), "--of cannot be given with --threshold"),
        (("compare", DATA, *BOTH, "--threshold", "0.5", "--measure", "roc_auc"), "which is of all thresholds"),
        (("compare", "labels.json", "--measure", "roc_auc"), "labels.json holds a table of labels; expected scores"),
        (("report", "labels.json", "--threshold", "0.5"), "labels.json holds a table of labels"),
        (("report", DATA, *ONE, "--by", "region"), "there is a table for each region; a report takes one table"),
        (("report", DATA, *BOTH, "--threshold", "x=0.5"), "expected one of each score"),
        (("merge", "scores.json", "labels.json"), "one is a table of scores, the other of labels"),
        (("merge", "scores.json", "both.json"), "scores.json and both.json"),
        (("map", DATA, *ONE, "--threshold", "0.5", "--images"), "--images has the file"),
        (("show", "broken.json"), "broken.json: the stored score table cannot be read: it has no entry 'edges'"),
        (("show", "newer.json"), "newer.json: the stored table has schema 9"),
    ],
)  # fmt: skip
def test_what_is_refused(args, said):
    run("tabulate", DATA, *ONE, "-o", "scores.json")
    run("tabulate", DATA, *BOTH, "-o", "both.json")
    run("tabulate", DATA, *COLUMNS, "--pred", "pred", "-o", "labels.json")
    stored = json.loads(Path("scores.json").read_text())
    Path("newer.json").write_text(json.dumps({**stored, "schema": 9}))
    del stored["edges"]
    Path("broken.json").write_text(json.dumps(stored))
    result = run(*args, code=2)
    assert said in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("args", [("--measure", "f1"), ("--at-least", "recall=0.5"), ("--measure", "kappa")])
def test_certified_choices_of_all_measures(args):
    text = run("threshold", DATA, *ONE, "--eps", "0.1", *args).stdout
    assert "proved at least, for all such weights" in text
    assert "thresholds that are never best" in text


def test_a_threshold_beyond_the_data_is_warned_of_in_a_sentence():
    result = run("score", DATA, *ONE, "--threshold", "99")
    assert result.stderr.startswith("Warning: `threshold` is 99.0, above all scores")
    assert ".py" not in result.stderr
    assert result.stderr.count("Warning") == 1


def test_groups_of_scores():
    assert "`wmcc threshold` chooses for each" in run("report", DATA, *ONE, "--by", "region", code=2).stderr
    assert "`wmcc threshold` takes both" in run("tabulate", DATA, *ONE, "--by", "region", code=2).stderr
    assert run("threshold", DATA, *ONE, "--by", "region").stdout  # which the hints advise


def test_scores_of_classes_are_for_python():
    scores = wmcc.tabulate(["a", "b", "c"], score=[[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]])
    Path("classes.json").write_text(scores.to_json())
    assert "wmcc.results.ClassScores.from_json" in run("show", "classes.json", code=2).stderr


@pytest.mark.parametrize(
    ("name", "said"), [("roc_auc", "`wmcc report --score` has it"), ("expected_gain", "gains are for Python")]
)
def test_measures_that_are_elsewhere(name, said):
    assert said in run("threshold", DATA, *ONE, "--measure", name, code=2).stderr


def test_rows_without_weight():
    frame = pl.read_csv(DATA).with_columns(pl.lit(0.0).alias("none"))
    frame.write_csv("odd.csv")
    result = run(
        "threshold", "odd.csv", "--true", "label", "--weight", "none", "--ignore", "water", "--score", "prob", code=2
    )
    assert "rows is zero" in result.stderr
    assert "there is nothing to score" in result.stderr

"""Strata, clusters in them, sizes, post-strata and replicate weights on the command line."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import polars as pl
import pytest
from cli_helpers import run
from design_rows import ROWS, SIZES, TOTALS
from flat import tabulate

import wmcc

DATA = ("rows.csv", "--true", "ref", "--pred", "map")
DESIGN = ("--stratum", "stratum", "--population", "sizes.csv")
CALL = {"true": "ref", "pred": "map"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    weights = {f"rw{k}": rng.choice([0.0, 2.0], 40) for k in range(8)}
    frame = pl.from_arrow(ROWS).with_columns(**{name: pl.Series(w) for name, w in weights.items()})
    frame.write_csv("rows.csv")
    frame.write_parquet("rows.parquet")
    pl.DataFrame({"stratum": list(SIZES), "size": list(SIZES.values())}).write_csv("sizes.csv")
    return tmp_path


def written(name, head, *rows):
    with open(name, "w") as file:
        file.write("\n".join([head, *rows]) + "\n")
    return name


def stored(*options, data=DATA):
    run("tabulate", *data, *options, "-o", "t.json")
    with open("t.json") as file:
        return wmcc.Table.from_json(file.read())


def tabulated(**more):
    return tabulate("rows.csv", **CALL, **more)


# ---- what options stand for --------------------------------------------------------------------------------


def test_options_are_keywords():
    pl.DataFrame({"age": list(TOTALS), "total": list(TOTALS.values())}).write_parquet("totals.parquet")
    of_strata = {"stratum": "stratum", "population": SIZES}
    psus = {"A": 50, "B": 40, "C": 30, "D": 10}
    replicated = {"replicates": [f"rw{k}" for k in range(8)], "weight": "w"}
    written("scales.txt", "0.5 0.25", "0.5,0.5", "0.75 1", "1", "1")
    scales = [0.5, 0.25, 0.5, 0.5, 0.75, 1, 1, 1]
    for options, call in (
        (DESIGN, of_strata),
        ((*DESIGN, "--lonely", "adjust"), of_strata | {"lonely": "adjust"}),
        (("--stratum", "stratum", "--population", "size"), of_strata),
        ((*DESIGN, "--fpc", "population"), of_strata | {"fpc": True}),
        (
            (*DESIGN, "--fpc", "psus", "--cluster", "psu", "--cluster", "zone"),
            of_strata | {"cluster": ["psu", "zone"], "fpc": psus},
        ),
        (
            ("--stratum", "stratum", "--stratum", "zone", "--weight", "w"),
            {"stratum": ["stratum", "zone"], "weight": "w"},
        ),
        (("--population", "1e3"), {"population": 1000}),
        (("--fpc", "50", "--weight", "w"), {"fpc": 50, "weight": "w"}),
        (("--poststratum", "age", "--totals", "totals.parquet"), {"poststratum": "age", "totals": TOTALS}),
        (("--poststratum", "age", "--totals", "aged"), {"poststratum": "age", "totals": TOTALS}),
        (("--replicates", "rw*", "--method", "brr", "--weight", "w"), replicated | {"method": "brr"}),
        (
            ("--replicates", "rw*", "--weight", "w", "--method", "fay", "--fay", "0.3"),
            replicated | {"method": "fay", "fay": 0.3},
        ),
        (
            ("--replicates", "rw1", "--replicates", "rw4", "--scales", "0.5,2", "--weight", "w"),
            {"replicates": ["rw1", "rw4"], "scales": [0.5, 2], "weight": "w"},
        ),
        (
            ("--replicates", "rw*", "--weight", "w", "--scales", "0.5", "--df", "5"),
            replicated | {"scales": 0.5, "df": 5},
        ),
        (
            ("--replicates", "rw*", "--weight", "w", "--method", "jkn", "--scales", "scales.txt"),
            replicated | {"method": "jkn", "scales": scales},
        ),
    ):
        assert stored(*options) == tabulated(**call), options


def test_files_of_sizes(folder):
    expected = tabulated(stratum="stratum", population=SIZES)
    frame = pl.read_csv("sizes.csv")
    frame.write_parquet("sizes.parquet")
    frame.write_ndjson("sizes.jsonl")
    frame.write_csv("sizes.tsv", separator="\t")
    frame.select("size", "stratum").write_csv("turned.csv")
    frame.rename({"stratum": "class"}).write_csv("class.csv")
    for name in ("sizes.parquet", "sizes.jsonl", "sizes.tsv", "turned.csv", "class.csv"):
        assert stored("--stratum", "stratum", "--population", name) == expected
    text = (folder / "sizes.csv").read_text()
    for form in ("json", "table"):
        a = run("score", *DATA, *DESIGN[:2], "--population", "-", "-f", form, text=text).stdout
        assert a == run("score", *DATA, *DESIGN, "-f", form).stdout
    many = [f"{z},{a},{10 + 'ABCD'.index(a) + z}" for z in (0, 1) for a in SIZES]
    written("both.csv", "zone,stratum,n", *many)
    sizes = {(a, z): 10 + "ABCD".index(a) + z for a in SIZES for z in (0, 1)}
    found = stored("--stratum", "stratum", "--stratum", "zone", "--population", "both.csv")
    assert found == tabulated(stratum=["stratum", "zone"], population=sizes)


def test_keys_in_text_are_those_of_the_data():
    """1 in a file of text is the number where the data have numbers, and the text where they have text."""
    written("numbers.csv", "number,size", *(f"{k},{n}" for k, n in enumerate(SIZES.values(), 1)))
    pl.read_parquet("rows.parquet").with_columns(pl.col("number").cast(pl.String)).write_parquet("text.parquet")
    options = ("--stratum", "number", "--population", "numbers.csv")
    for data, keys in (("rows.csv", (1, 2, 3, 4)), ("rows.parquet", (1, 2, 3, 4)), ("text.parquet", tuple("1234"))):
        table = stored(*options, data=(data, *DATA[1:]))
        assert table.drawn.design.strata == keys
        assert table.total == 100_000
    said = run("score", *DATA, "--stratum", "number", "--population", "sizes.csv", code=2).stderr
    assert "`population` has the stratum 'A' (text), and the sample has 1 (number)" in said


def test_engines_and_joins():
    expected = tabulated(stratum="stratum", population=SIZES, cluster="psu")
    frame = pl.read_csv("rows.csv")
    frame.select("id", "ref", "stratum").write_csv("truth.csv")
    frame.select("id", "map", "psu").write_csv("pred.csv")
    for engine in ("polars", "duckdb"):
        assert stored(*DESIGN, "--cluster", "psu", "--engine", engine) == expected
    joined = ("truth.csv", "--join", "pred.csv", "--on", "id", *DATA[1:])
    assert stored(*DESIGN, "--cluster", "psu", data=joined) == expected


# ---- every command ------------------------------------------------------------------------------------------


def test_scores_are_those_of_the_design():
    table = tabulated(stratum="stratum", population=SIZES, fpc=True)
    options = (*DATA, *DESIGN, "--fpc", "population")
    found = json.loads(run("score", *options, "-f", "json").stdout)
    assert found == wmcc.score(table).to_dict()
    assert found["intervals"]["ecc"]["strata"] == 4
    assert run("score", *options).stdout.startswith("40 rows in 4 strata, total weight 100,000")
    run("tabulate", *options, "-o", "t.json")
    for form in ("table", "json", "csv", "markdown"):
        assert run("score", "t.json", "-f", form).stdout == run("score", *options, "-f", form).stdout
        assert run("show", "t.json", "-f", form).stdout == run("tabulate", *options, "-f", form).stdout
    assert "40 rows in 4 strata" in run("show", "t.json").stdout
    groups = json.loads(run("score", *options, "--by", "half", "-f", "json").stdout)["groups"]
    domains = tabulated(stratum="stratum", population=SIZES, fpc=True, by="half")
    assert [one["result"] for one in groups] == [wmcc.score(own).to_dict() for own in domains.values()]
    run("tabulate", *options, "--by", "half", "-o", "g.json")
    assert json.loads(run("score", "g.json", "-f", "json").stdout)["groups"] == groups


def test_every_command_takes_a_design():
    table, both = (
        tabulated(stratum="stratum", population=SIZES),
        {"true": "ref", "pred": {"map": "map", "other": "other"}},
    )
    joint = tabulate("rows.csv", **both, stratum="stratum", population=SIZES)
    for command, result in (
        (("compare", *DATA, "--pred", "other"), wmcc.compare(joint, "ecc")),
        (("certify", *DATA), wmcc.certify(table, "ecc", eps=0.1)),
        (("radius", *DATA, "--at-least", "0.2"), wmcc.radius(table, "ecc", at_least=0.2)),
        (("rank", *DATA, "--pred", "other", "--no-radius"), wmcc.certify_ranking(joint, "ecc", eps=0.1)),
        (("map", *DATA, "--unit", "ha"), wmcc.map_accuracy(table, unit="ha")),
    ):
        assert json.loads(run(*command, *DESIGN, "-f", "json").stdout) == result.to_dict()
    drift = json.loads(run("drift", "rows.csv", *DATA, *DESIGN, "-f", "json").stdout)
    alone = wmcc.compare({"before": table, "after": table}, "ecc", sample="independent")
    assert drift == alone.to_dict()
    with open("sizes.csv") as file:
        sizes = file.read()
    for given, text, name in (("sizes.csv", None, "sizes.csv"), ("-", sizes, "standard input")):
        run("report", *DATA, *DESIGN[:3], given, "-o", "r.json", text=text)
        with open("r.json") as file:
            inputs = json.load(file)["made"]["inputs"]
        assert [one["name"] for one in inputs] == ["rows.csv", name]
    compared = run("compare", *DATA, "--pred", "other", *DESIGN, "--by", "half").stdout
    assert "north" in compared
    assert "95 % interval" in compared


def test_replicate_weights():
    options = ("--weight", "w", "--replicates", "rw*", "--method", "brr")
    table = tabulated(weight="w", replicates="rw*", method="brr")
    assert json.loads(run("score", *DATA, *options, "-f", "json").stdout) == wmcc.score(table).to_dict()
    run("tabulate", *DATA, *options, "-o", "t.json")
    assert json.loads(run("score", "t.json", "-f", "json").stdout) == wmcc.score(table).to_dict()
    assert run("score", *DATA, *options).stdout.startswith("40 rows with 8 replicate weights")


def test_parts_of_a_sample_are_stored_and_merged():
    frame = pl.read_csv("rows.csv")
    for name, rows in (("a", frame[:15]), ("b", frame[15:])):
        rows.write_csv(f"{name}.csv")
        run("tabulate", f"{name}.csv", *DATA[1:], *DESIGN, "-o", f"{name}.json")
    shown = run("show", "a.json").stdout
    assert (
        "15 rows in 4 strata; 2 strata have a size but no sampled row: 'C' (size 20,000), 'D' (size 10,000)." in shown
    )
    said = run("score", "a.json", code=2).stderr
    assert "2 strata have a size but no sampled row: 'C' (size 20,000), 'D' (size 10,000)." in said
    assert "if parts of the sample are still to come, add them first." in said
    said = run("score", "a.csv", *DATA[1:], *DESIGN, code=2).stderr
    assert "`wmcc tabulate -o` of each part, and `wmcc merge`." in said
    run("merge", "a.json", "b.json", "-o", "whole.json")
    assert run("score", "whole.json").stdout == run("score", *DATA, *DESIGN).stdout
    said = run("merge", "a.json", "t.json", code=2).stderr
    assert "no file" in said
    run("tabulate", *DATA, "--stratum", "stratum", "--fpc", "sizes.csv", "-o", "t.json")
    said = run("merge", "a.json", "t.json", code=2).stderr
    assert "a.json and t.json: the tables were tabulated with different `population`; they cannot be merged." in said


# ---- what is wrong -----------------------------------------------------------------------------------------


MISTAKES = """
--stratum stratum --population 7
    `population` is one number, 7; with `stratum` expected a size for each stratum.
    give a file whose last column has the numbers
--stratum stratum --fpc 1e3
    `fpc` is one number, 1,000; with `stratum` expected a size for each stratum.
    give a file whose last column has the numbers
--fpc 10
    the population has 40 sampled rows and a size of 10; a population cannot be smaller than its sample.
    give the number of rows that it has; for sizes that are areas leave out `fpc`.
--population sizes.csv
    `population` has a size for each stratum, and there is no `stratum`.
    give `stratum`.
--stratum stratum --population qqq.zip
    there is no file 'qqq.zip'.
--stratum stratum --population qqq
    there is no column 'qqq'
--stratum qqq
    there is no column 'qqq'
--stratum stratum --population sizes.csv --weight w
    `population` makes the weights of rows, size of the stratum / number of its rows; weights were given as well.
    leave one of them out; with design weights, --population is for --fpc population only.
--stratum stratum --fpc population
    `fpc` is True, which needs `population`: the number of units that each stratum has.
    give `population`, or give these numbers as `fpc` itself.
--stratum stratum --population sizes.csv --cluster psu --fpc population
    `fpc` is True, which takes `population` as numbers of rows; here clusters were drawn.
    give as --fpc the number of clusters that each stratum has.
--lonely adjust
    `lonely` is for samples with several strata; give `stratum`.
--poststratum age
    `totals` of `PostStrata` is None; expected the known total of each post-stratum.
--poststratum age --totals 7
    `totals` is 7.0 (float); expected a total for each post-stratum.
    give a file whose last column has the numbers and whose others have the keys, or the name of a column of the data.
--poststratum age --totals sizes.csv
    `totals` has no total for 'old', 'young', which the sample has.
    add them to `totals`; it also names 'A', 'B', 'C', 'D', of which the sample has no row: check
--replicates 'rw*'
    `Replicates` needs `method`, which says how the replicate weights were made.
    give `method` one of 'jk1', 'jkn', 'brr', 'fay', 'bootstrap', 'sdr'; or `scales`, the factor of
--replicates 'rw*' --method brr
    replicate weights need `weight`, the full-sample weight of each row
    give as `weight` the weights that the survey ships
--replicates 'q*' --method brr --weight w
    no column matches `replicates` 'q*'
    give a pattern such as 'rw*'
--replicates 'rw*' --method jkn
    `method` is 'jkn', which needs `scales`: the factor (m - 1) / m of each replicate
--replicates 'rw*' --method fay
    `method` is 'fay', which needs `fay`, its coefficient
--replicates 'rw*' --method brr --stratum zone
    --replicates and --stratum were given; replicate weights already describe how rows were drawn.
    leave --stratum out.
--replicates rw1 --replicates 'rw*' --method brr --weight w
    there is no column 'rw*'
    did you mean 'rw
--replicates 'rw*' --scales 0.5,x
    --scales has 'x'; expected numbers.
    write 0.5,0.5,0.75
--replicates 'rw*' --scales 0.5,2 --weight w
    `scales` has 2 numbers, and there are 8 replicate weights; expected one for each.
--df 5
    `replicates` is None; expected columns of replicate weights.
--method brr
    `replicates` is None; expected columns of replicate weights.
"""
"""Options; and what is said of them, and as a hint."""


@pytest.mark.parametrize("mistake", re.findall(r"^\S.*(?:\n .*)+", MISTAKES, re.MULTILINE))
def test_mistakes(mistake):
    options, said, *hint = (line.strip() for line in mistake.splitlines())
    result = run("score", *DATA, *shlex.split(options), code=2)
    assert result.stdout == ""
    assert f"Error: {said}" in result.stderr
    assert "".join(hint) in result.stderr.partition("\nHint: ")[2]
    assert bool(hint) == ("\nHint: " in result.stderr)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["stratum,size", "A,5", "B,6", "C,7"], "`population` has no size for 'D', which the sample has."),
        (["stratum,size", "A,5", "B,6", "C,7", "D,8", "E,9"], "1 stratum has a size but no sampled row: 'E' (size 9)."),
        (
            ["stratum,size", "A,5", "B,6 ha", "C,7", "D,8"],
            "`population` of stratum 'B' is '6 ha' (str); expected a number.",
        ),
        (["stratum,size", "A,5", "B,", "C,7", "D,8"], "`population` of stratum 'B' is missing; expected a number."),
        (["stratum,size", "A,5", "B,-6", "C,7", "D,8"], "`population` of stratum 'B' is -6; expected a finite number"),
        (["stratum,size", "A,5", "A,6"], "`population` has two rows for 'A'; expected one."),
        (["stratum,size", ",5", "A,6"], "`population` has a stratum without a key."),
        (["A,5", "B,6", "C,7", "D,8"], "s.csv has the first line 'A,5'; expected the names of its columns there."),
        (
            ["stratum;size", "A;5"],
            "there is no column 'stratum' in s.csv; the columns are 'stratum;size'.\n"
            "Hint: fields seem to be separated by semicolons",
        ),
        (["stratum,2026", "A,5"], "`population` has no size for 'B', 'C', 'D', which the sample has."),
        (["stratum,size"], "s.csv has no rows; expected one for each stratum."),
        (["size", "5"], "s.csv has the columns 'size'; expected a column of keys and one of numbers."),
        (
            ["stratum,n,size", "A,1,5"],
            "s.csv has the columns 'stratum', 'n', 'size'; expected those of 'stratum' and one of",
        ),
        (["a,b,size", "A,1,5"], "`population` has the key ('A', '1'); expected a single value."),
    ],
)
def test_wrong_files_of_sizes(lines, said):
    written("s.csv", *lines)
    assert f"Error: {said}" in run("score", *DATA, *DESIGN[:2], "--population", "s.csv", code=2).stderr


def test_a_population_smaller_than_its_sample():
    written("s.csv", "stratum,size", "A,5", "B,600", "C,700", "D,800")
    said = run("score", *DATA, *DESIGN[:2], "--population", "s.csv", "--fpc", "population", code=2).stderr
    assert "stratum 'A' has 10 sampled rows and a size of 5; a population cannot be smaller than its sample." in said
    assert "leave out `fpc`" in said
    assert "Error" not in run("score", *DATA, *DESIGN[:2], "--population", "s.csv").stderr


def test_stored_tables_take_no_design():
    run("tabulate", *DATA, *DESIGN, "-o", "t.json")
    for option, value in (
        ("--stratum", "x"),
        ("--population", "s.csv"),
        ("--lonely", "adjust"),
        ("--replicates", "r*"),
    ):
        said = run("score", "t.json", option, value, code=2).stderr
        assert f"{option} is for data files, read with --true and --pred; a stored table is already tabulated." in said


def test_bounds_of_weights_that_are_made_of_sizes():
    said = run("certify", *DATA, *DESIGN, "--lower", "w", "--upper", "w", code=2).stderr
    assert "--lower is a bound of --weight; with --population, weights follow from the sizes of strata." in said
    options = ("--stratum", "stratum", "--weight", "w", "--lower", "w", "--upper", "size")  # as the hint says
    assert "ECC" in run("certify", *DATA, *options).stdout


def test_clusters_may_be_groups_in_strata():
    """A domain that is a cluster keeps the clusters of the design."""
    assert "psu" in run("score", *DATA, *DESIGN, "--cluster", "psu", "--by", "psu").stdout


def test_degrees_of_freedom_are_a_number_or_those_of_the_design():
    found = json.loads(run("score", *DATA, *DESIGN, "--df", "design", "--format", "json").stdout)
    assert found["intervals"]["ecc"]["df"] == 40 - len(SIZES)
    design = wmcc.Strata("stratum", population=SIZES, df="design")
    assert stored(*DESIGN, "--df", "design") == wmcc.tabulate("rows.csv", true="ref", pred="map", design=design)
    replicated = ("--replicates", "rw*", "--method", "brr", "--weight", "w")
    assert (
        "--df is 'many'; with --replicates expected a number"
        in run("score", *DATA, *replicated, "--df", "many", code=2).stderr
    )
    assert "--df is 'design'" in run("score", *DATA, *replicated, "--df", "design", code=2).stderr

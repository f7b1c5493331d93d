"""Results for programs: JSON that fits its schema, tidy frames, files of any ending, flat metrics."""

import inspect
import io
import re
from itertools import takewhile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest
from every_result import JOINT, RESULTS, TABLE, made
from paths import GOLDEN
from schemas import check, classes, strict, validator

import wmcc
import wmcc.measures
from wmcc.cli.guard import ErrorRecord, Failure
from wmcc.core import storage
from wmcc.errors import InputError, MissingDependencyError
from wmcc.present.frames import frame
from wmcc.present.groups import Groups
from wmcc.present.result import ENDINGS
from wmcc.present.stored import Storable

OPEN = {"measures", "intervals", "image_means", "ranges", "overall", "disagreement", "errors", "literal", "at_least"}
OPEN |= {"alone", "of_truth"}
"""Fields that hold values by names that are not known beforehand."""

TABLES = (wmcc.Table, wmcc.JointTable, wmcc.Tables, wmcc.results.ScoreTable, wmcc.results.ClassScores)


def objects(value, name=""):
    """Each dict in plain data with the name of its field; of the items of a list, the first and the last.

    The result of a group is of any kind, and has a schema of its own.
    """
    if isinstance(value, dict):
        yield name, value
        for key, x in list(value.items()):
            if key != "result":
                yield from objects(x, key)
    elif isinstance(value, list):
        for x in (*value[:1], *value[1:][-1:]):
            yield from objects(x, name)


@pytest.mark.parametrize("name", RESULTS)
def test_json_fits_its_schema(name):
    data = strict(made(name).to_json())
    check(data)
    assert data == made(name).to_dict()


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("*.json")))
def test_stored_tables_fit_their_schema(name):
    check(strict((GOLDEN / name).read_text()))


@pytest.mark.parametrize("name", [*RESULTS, "groups", "report", "error"])
def test_schemas_are_closed_and_ask_for_every_field(name):
    cls = type(made(name)) if name in RESULTS else classes()[name]
    schema = cls.json_schema()
    for _, x in objects(schema):
        if x.get("type") == "object" and "properties" in x:
            assert x["additionalProperties"] is False
            if not issubclass(cls, TABLES):  # of which parts depend on the design
                assert x["required"] == list(x["properties"])
        assert "$ref" not in x or x["$ref"].removeprefix("#/$defs/") in schema["$defs"]


@pytest.mark.parametrize("name", RESULTS)
def test_a_schema_notices_what_is_wrong_at_any_depth(name):
    data, valid = made(name).to_dict(), validator(type(made(name))).is_valid
    for field, part in objects(data):
        known = dict(part)
        if field not in OPEN:
            part["extra"] = 1
            assert not valid(data), field
            del part["extra"]
        for key in known if field not in OPEN else ():
            del part[key]
            assert not valid(data) or key in ("positive", "names", "pred", "pred_0", "pred_1"), (field, key)
            part.update(known)
        for key in known:
            part[key] = "text" if (field, key) == ("groups", "result") else {"wrong": [["type"]]}  # any result is one
            assert not valid(data), (field, key)
            part[key] = known[key]
    assert valid(data)


def test_a_schema_says_what_the_class_says():
    score, table = (cls.json_schema() for cls in (wmcc.results.Score, wmcc.Table))
    assert score["title"] == "score"
    assert score["properties"]["ignored"] == {"type": "integer", "description": "How many rows were left out."}
    assert score["$defs"]["Interval"]["properties"]["se"]["description"] == "Standard error of the score."
    assert score["$defs"]["Interval"]["properties"]["status"]["enum"] == ["reliable", "unreliable", "not estimable"]
    assert table["properties"]["schema"] == {"const": storage.SCHEMA}
    assert set(table["required"]) < set(table["properties"])
    score["properties"]["n"].clear()
    assert wmcc.results.Score.json_schema()["properties"]["n"]["type"] == "integer"  # nobody else's is changed


def test_what_has_no_type_has_no_schema():
    class Untyped(Storable):
        _kind, _stored, n = "untyped", ("n",), 5

    with pytest.raises(TypeError, match="Untyped stores 'n', and nothing says what that is"):
        Untyped.json_schema()


def test_groups_and_errors_fit_their_schemas():
    found = Groups(("a", "b"), {("x", float("inf")): wmcc.score(TABLE), ("y", None): "no rows"}).to_dict()
    check(found)
    check(found["groups"][0]["result"])
    check(ErrorRecord(Failure("InputError", "no", None, "--eps", 2)).to_dict())


def test_a_report_fits_its_schema(tmp_path):
    for data in (TABLE, JOINT):
        for bounds in ({}, {"lower": data}):
            wmcc.write_report(tmp_path / "r.json", data, at_least=0.5, progress=False, **bounds)
            check(strict((tmp_path / "r.json").read_text()))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", RESULTS)
def test_frames_hold_the_records(name, backend):
    rows = made(name).records()
    native = made(name).to_frame(backend)
    if backend == "pyarrow":
        native = native.to_pandas()
    columns = list(dict.fromkeys(column for row in rows for column in row))
    assert list(native.columns) == columns or not rows
    assert len(native) == len(rows)
    for column in columns:
        found = native[column].to_list() if backend == "polars" else list(native[column])
        for x, row in zip(found, rows, strict=True):
            assert x == row.get(column) or (row.get(column) is None and pd.isna(x))


def test_a_score_is_tidy():
    score = wmcc.score(TABLE)
    found = score.to_frame("polars")
    whole, own = found.filter(pl.col("scope") == "all"), found.filter(pl.col("scope") == "class")
    assert whole["measure"].to_list() == [name for name, x in score.measures.items() if x is not None]
    assert whole["low"].to_list() == [x.low for x in score.intervals.values()]
    assert len(own) == len(score.classes) * len(wmcc.measures.CLASS_MEASURES)
    road = own.filter((pl.col("class") == score.classes[1].label) & (pl.col("measure") == "recall")).row(0, named=True)
    assert (road["value"], road["n_eff"]) == (score.classes[1].recall, score.classes[1].n_eff)
    assert (road["low"], road["high"]) == (
        score.class_intervals["recall"][1].low,
        score.class_intervals["recall"][1].high,
    )
    empty = sum(found[name].null_count() for name in found.columns) / (found.height * found.width)
    assert empty < 0.15
    ranged = score.with_ranges(0.1).to_frame("polars").filter(pl.col("scope") == "all")
    assert ranged["range_low"].to_list() == [wmcc.certify(TABLE, name).low for name in score.intervals]


def test_integers_with_gaps_stay_integers():
    found = frame([{"class": None, "n": 5, "value": 1}, {"class": 2**60 + 1, "n": 6, "value": 0.5}], "pandas")
    assert list(found["class"])[1] == 2**60 + 1
    assert str(found.dtypes["n"]) == "int64"
    assert str(found.dtypes["value"]) == "float64"


def test_a_column_without_values_has_a_type():
    for backend, kinds in (("polars", (pl.String, pl.Float64)), ("pyarrow", None)):
        found = frame([{"problem": None, "low": None}], backend)
        if kinds:
            assert found.dtypes == list(kinds)
        else:
            assert not any(str(x) == "null" for x in found.schema.types)


def test_an_unknown_backend_is_refused():
    with pytest.raises(InputError, match="`backend` is 'spark'; expected 'pandas', 'polars' or 'pyarrow'"):
        wmcc.score(TABLE).to_frame("spark")


# ---- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", ["Score", "Comparison", "Certificate", "Table", "Radius"])
def test_files_of_every_ending(name, ending, tmp_path):
    found, path = made(name), tmp_path / f"result{ending}"
    assert found.save(path) == str(path)
    rows = found.records()
    if ending == ".json":
        assert strict(path.read_text()) == found.to_dict()
    elif ending == ".parquet":
        assert pl.read_parquet(path).height == len(rows)
    elif ending == ".xlsx":
        head, *lines = openpyxl.load_workbook(path).active.values
        assert (list(head), len(lines)) == (list(rows[0]), len(rows))
    elif ending == ".csv":
        assert pl.read_csv(io.BytesIO(path.read_bytes()), infer_schema=False).columns == list(rows[0])
    else:
        text = path.read_text()
        assert re.search(r"\d\.\d{4}|\d,\d{3}|\d\.\d", text)
        assert text.endswith("\n")


@pytest.mark.parametrize("name", ["x.xls", "x", "x.json.gz"])
def test_an_unknown_ending_is_refused(name, tmp_path):
    with pytest.raises(InputError, match=r"has no known ending; expected a name that ends with \.json") as found:
        wmcc.score(TABLE).save(tmp_path / name)
    assert found.value.argument == "path"
    assert not (tmp_path / name).exists()


def test_no_label_is_a_formula_in_excel(tmp_path):
    table = wmcc.Table.from_counts([[5, 1], [2, 7]], labels=["=1+1", "@x"])
    for library in ("pandas", "polars"):
        with pytest.MonkeyPatch.context() as patch:
            writer = {"pandas": "openpyxl", "polars": "xlsxwriter"}[library]
            patch.setattr("wmcc.present.frames.EXCEL", {library: writer})
            sheet = openpyxl.load_workbook(table.save(tmp_path / f"{library}.xlsx")).active
        assert {cell.value for cell in sheet["A"][1:]} == {"'=1+1", "'@x"}
        assert all(cell.data_type != "f" for row in sheet for cell in row)


def test_a_missing_library_is_named(monkeypatch):
    from wmcc.present import frames

    monkeypatch.setattr(frames, "find_spec", lambda name: None if name in ("openpyxl", "xlsxwriter") else True)
    with pytest.raises(MissingDependencyError, match="needs pandas and openpyxl; openpyxl is not installed") as found:
        frames.excel([{"a": 1}])
    assert found.value.hint == "pip install 'wmcc[excel]'"
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="openpyxl are not installed"):
        frames.excel([{"a": 1}])
    with pytest.raises(MissingDependencyError) as found:
        wmcc.score(TABLE).to_frame()
    assert found.value.message == "a frame of pandas needs pandas; pandas is not installed."
    assert found.value.hint == "pip install 'wmcc[excel]'"
    monkeypatch.setattr(frames, "find_spec", lambda name: True if name == "pyarrow" else None)
    with pytest.raises(MissingDependencyError) as found:
        wmcc.score(TABLE).to_frame()
    assert found.value.hint == "pip install 'wmcc[excel]', or to_frame('pyarrow') for a frame of pyarrow"
    assert wmcc.score(TABLE).to_frame("pyarrow").num_rows


def test_latex_has_no_commands_of_labels(tmp_path):
    table = wmcc.Table.from_counts([[5, 1], [2, 7]], labels=[r"\input{x} & 50 % #1 $a_b$ ~^", "ok"])
    wmcc.score(table).save(tmp_path / "x.tex")
    text = (tmp_path / "x.tex").read_text()
    assert r"\textbackslash{}input\{x\} \& 50 \% \#1 \$a\_b\$ \textasciitilde{}\textasciicircum{}" in text
    for line in text.splitlines():
        if line.endswith(r" \\"):
            assert len(re.findall(r"(?<!\\)&", line)) in (4, 7)
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2


def test_effective_numbers_have_two_names():
    truth, guess, w = np.arange(240) % 3, np.arange(240) // 2 % 3, np.arange(1.0, 241.0)
    table = wmcc.tabulate(truth, guess, w, cluster=np.arange(240) // 10)
    score = wmcc.score(table)
    of_clusters = w.reshape(-1, 10).sum(axis=1)
    for x in score.intervals.values():
        assert x.n_eff == score.n_eff == table.n_eff
        assert x.clusters_eff == pytest.approx(w.sum() ** 2 / (of_clusters**2).sum())
    for k, c in enumerate(score.classes):
        own = score.class_intervals["recall"][k]
        assert own.n_eff == pytest.approx(c.n_eff)
        assert own.clusters_eff <= own.clusters == 24
    assert wmcc.score(wmcc.tabulate(truth, guess, w)).intervals["ecc"].clusters_eff is None


# ---- decimals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [1, 2, 6])
def test_decimals_of_scores(digits, tmp_path):
    score = wmcc.score(TABLE).with_ranges(0.1)
    four = score.to_text()
    assert four == repr(score)
    shown = {"txt": score.to_text(digits)}
    for ending in ("md", "tex", "html"):
        shown[ending] = Path(score.save(tmp_path / f"s.{ending}", digits=digits)).read_text()
    accuracy = score.intervals["accuracy"]
    for text in shown.values():
        for x in (accuracy.value, accuracy.se, accuracy.low, accuracy.high):
            assert f"{x:.{digits}f}" in text
    low, high = (float(x) for x in re.search(r"^Accuracy.*  (\S+) to (\S+)$", shown["txt"], re.MULTILINE).groups())
    assert low <= score.ranges["accuracy"].low
    assert high >= score.ranges["accuracy"].high
    assert repr(score) == four  # for this once only


@pytest.mark.parametrize(
    ("digits", "ending", "said"),
    [
        (0, "md", "`digits` is 0; expected a whole number from 1 to 15"),
        (True, "md", "`digits` is True; expected a whole number"),
        (2.5, "md", "`digits` is 2.5; expected a whole number"),
        (3, "json", r"`digits` is for \.txt, \.md, \.tex and \.html; \.json has all digits"),
        (3, "xlsx", r"\.xlsx has all digits of a number"),
    ],
)
def test_decimals_that_cannot_be(digits, ending, said, tmp_path):
    with pytest.raises(InputError, match=said) as found:
        wmcc.score(TABLE).save(tmp_path / f"s.{ending}", digits=digits)
    assert found.value.argument == "digits"
    assert not list(tmp_path.iterdir())


def test_scores_have_standard_errors(tmp_path):
    score = wmcc.score(TABLE)
    for text in (repr(score), Path(score.save(tmp_path / "s.md")).read_text()):
        assert re.search(r"Measure.*Value.*SE.*95 % interval", text)
        for name in score.shown:
            assert f"{score.intervals[name].se:.4f}" in text
    groups = wmcc.score(wmcc.Tables.of({"a": TABLE, "b": TABLE}))
    assert "SE" not in repr(groups)
    assert groups.to_frame()["se"].notna().any()


# ---- what trackers take ------------------------------------------------------------------------------------


def test_metrics_are_flat():
    score = wmcc.score(TABLE)
    flat = score.metrics()
    assert flat == {name: x for name, x in score.measures.items() if x is not None}
    assert all(type(x) is float for x in flat.values())
    own = score.metrics(classes=True)
    assert own["recall/oak"] == score.classes[score.table.labels.index("oak")].recall
    assert "mcc" in wmcc.score(wmcc.Table.from_counts([[5, 1], [2, 7]])).metrics()


# ---- groups ------------------------------------------------------------------------------------------------


def test_groups_name_what_they_have_in_common_once():
    tables = wmcc.tabulate([0, 1, 1, 0] * 20, [0, 1, 0, 0] * 20, by=np.repeat(["n", "s"], 40))
    scores = {(key,): wmcc.score(table) for key, table in tables.items()}
    found = Groups(("measure",), {("e",): "there is no weight", **scores})
    check(found.to_dict())
    assert list(found.to_frame())[:2] == ["by measure", "scope"]
    text = repr(found)
    assert "measure = e: there is no weight" in text
    assert re.search(r"^e  +—", text, re.MULTILINE)
    assert text.count("effective rows") <= 2


# ---- two classes -------------------------------------------------------------------------------------------


def test_two_classes_show_mcc_once():
    text = repr(wmcc.score(wmcc.Table.from_counts([[50, 3], [2, 45]])))
    assert re.findall(r"^(MCC|ECC|MPC1|MPC2)\b", text, re.MULTILINE) == ["MCC"]
    assert "With two classes ECC (R_K), MPC1 and MPC2 are equal to MCC." in text
    three = repr(wmcc.score(TABLE))
    assert "equal to MCC" not in three
    assert re.findall(r"^(MCC|ECC|MPC1|MPC2)\b", three, re.MULTILINE) == ["ECC", "MPC1", "MPC2"]


def test_one_class_has_no_correlation():
    for found in (wmcc.score([0, 0, 0], [0, 0, 0]), wmcc.map_accuracy(wmcc.tabulate([0, 0, 0], [0, 0, 0]))):
        assert "With two classes" not in repr(found)
    assert "With one class ECC (R_K), MPC1 and MPC2 are undefined, as MCC is." in repr(wmcc.score([0, 0, 0], [0, 0, 0]))


# ---- degrees of freedom ------------------------------------------------------------------------------------


def test_few_degrees_of_freedom_stand_beside_an_interval():
    truth, guess = [0, 1, 2, 1, 0] * 40, [0, 1, 1, 1, 2] * 40
    few = wmcc.tabulate(truth, guess, cluster=np.random.default_rng(1).integers(0, 9, 200))
    many = wmcc.tabulate(truth, guess)
    found = wmcc.interval(few)
    assert found.df < 9
    assert repr(found).endswith(f"se {found.se:.4f}, {found.df:.2g} df)")
    assert wmcc.interval(many).df > 30
    assert " df" not in repr(wmcc.interval(many))
    score = wmcc.score(few)
    lines = [line.split() for line in takewhile(str.strip, repr(score).splitlines()[1:])]
    assert lines[0] == ["Measure", "Value", "SE", "95", "%", "interval", "df"]
    shown = [wmcc.measures.MEASURES[name].title for name in score.shown]
    assert [line[-1] for line in lines[1:]] == [f"{score.intervals[name].df:.2g}" for name in score.shown]
    assert len(shown) == len(lines) - 1
    assert " df" not in repr(wmcc.score(many))
    both = repr(wmcc.score(wmcc.Tables.of({"few": few})))
    assert re.search(r"^df\nby +ECC \(R_K\)", both, re.MULTILINE)


def test_a_weight_matrix_has_no_effective_sample_size():
    score = wmcc.score(wmcc.tabulate([0, 1, 1], [0, 1, 0], np.ones((3, 3))))
    assert "effective" not in repr(score)
    assert "9 entries of a weight matrix" in repr(score)
    data = score.to_dict()
    check(data)
    assert (data["n_eff"], data["diagnosis"]) == (None, None)


# ---- sentences ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RESULTS)
def test_no_sentence_ends_twice(name):
    assert ".." not in repr(made(name)).replace("…", "")


def test_unit_weights_are_worth_what_they_are():
    for table in (wmcc.Table.from_counts([[2, 0], [1, 1]]), wmcc.Table.from_counts([[1, 0], [1, 0]])):
        said = " ".join(wmcc.diagnose(table).warnings)
        assert "worth" not in said
        assert "1 effective rows" not in said


def test_a_prediction_may_be_called_like_a_column():
    joint = wmcc.tabulate([0, 1, 1], {"true": [0, 1, 0], "n": [0, 0, 1], "pred n": [1, 1, 1]})
    found = joint.to_frame()
    assert list(found) == ["true", "pred true", "pred n", "pred pred n", "n", "w", "w2", "w_min", "w_max"]
    assert sorted(found.iloc[:, :3].itertuples(index=False, name=None)) == [
        (0, 0, 0),
        (1, 0, 1),
        (1, 1, 0),
    ]


@pytest.mark.parametrize(
    ("table", "heads"),
    [
        (wmcc.Table.empty(), ["true", "pred"]),
        (wmcc.JointTable.empty(["a", "n"]), ["true", "a", "pred n"]),
        (wmcc.tabulate([], [], by=[]), ["by", "true", "pred"]),
    ],
)
def test_a_frame_without_rows_has_columns(table, heads, tmp_path):
    heads = [*heads, "n", "w", "w2", "w_min", "w_max"]
    for backend in ("pandas", "polars", "pyarrow"):
        found = table.to_frame(backend)
        assert list(getattr(found, "column_names", found.columns)) == heads
    with open(table.save(tmp_path / "e.csv")) as file:
        assert file.read() == ",".join(heads) + "\n"


@pytest.mark.parametrize(
    "kind",
    [
        wmcc.results.Comparison,
        wmcc.results.Ranking,
        wmcc.results.Curve,
        wmcc.results.TrimmingCurve,
        wmcc.results.Certificate,
        wmcc.results.Score,
    ],
)
def test_every_property_is_documented(kind):
    """Those that are of a part of the result have docstrings of their own, as help() shows them."""
    properties = {name: x for name, x in inspect.getmembers(kind) if isinstance(x, property) and name[0] != "_"}
    assert properties
    assert not [name for name, x in properties.items() if x.__doc__ in (None, type(x).__doc__)]


def test_a_line_break_in_a_label_is_none_in_latex(tmp_path):
    with open(wmcc.tabulate(["a\nb", "c"], ["a\nb", "c"]).save(tmp_path / "t.tex")) as file:
        assert "    a b & 1 & 0 " in file.read()


def test_frames_tell_what_numbers_rest_on():
    keys = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    table = wmcc.tabulate([0, 1, 1, 9] * 3, [0, 1, 0, 1] * 3, [1, 1, 9, 1] * 3, cluster=keys, ignore=9)
    row = wmcc.score(table).to_frame().iloc[0]
    assert (row["ignored"], row["clusters"]) == (3, 6)
    own = wmcc.interval(table)
    assert own.warnings
    assert own.to_frame()["warnings"][0] == "; ".join(own.warnings)
    found = wmcc.score(table).to_frame()
    assert found.set_index("measure")["warnings"]["ecc"] == "; ".join(own.warnings)

"""Calls as a new user would type them: each works, or is refused with a sentence that can be followed.

docs/contributing/calls.md has the same list, a row for each test here.
"""

import inspect
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from paths import DOCS

import wmcc
import wmcc.measures
from wmcc.errors import InputError, InputTypeError, LabelError, WmccError
from wmcc.sources.request import Request, homes

Y = np.array([0, 0, 0, 1, 1, 1, 2, 2] * 10)
A = np.array([0, 0, 1, 1, 1, 0, 2, 1] * 10)
B = np.array([0, 1, 1, 1, 2, 0, 2, 2] * 10)
W = np.linspace(0.5, 4.0, len(Y))
FRAME = pd.DataFrame({"y": Y, "p": A, "q": B, "w": W, "tile": np.arange(len(Y)) // 10})

CALLS = {}


def call(function):
    """Note a test as a row of the table in docs/contributing/calls.md."""
    CALLS[function.__name__.removeprefix("test_")] = function
    return function


def refused(match, kind=InputTypeError):
    return pytest.raises(kind, match=match)


# ---- the calls that went wrong ------------------------------------------------------------------------------


@call
def test_columns_by_position():
    for given in ((FRAME, "y", "p"), (FRAME, "y", "p", "w")):
        with refused(r"true='y', pred='p'"):
            wmcc.tabulate(*given)
    assert wmcc.tabulate(FRAME, true="y", pred="p", weight="w") == wmcc.tabulate(Y, A, W)


@call
def test_a_second_prediction_is_no_weight():
    readers = (wmcc.results.uncertainty, wmcc.interval, wmcc.certify, wmcc.radius, wmcc.sensitivity, wmcc.diagnose)
    for reader in (*readers, wmcc.image_scores, wmcc.certify_trimming, wmcc.map_accuracy):
        with refused(
            rf"wmcc\.{reader.__name__} takes table .*3 arguments[\s\S]*tabulate\(y_true, y_pred, sample_weight"
        ):
            reader(Y, A, B)
    with refused(r"wmcc\.score takes y_true and y_pred by position; 3 arguments[\s\S]*sample_weight=weights"):
        wmcc.score(Y, A, W)
    for reader in (wmcc.compare, wmcc.certify_ranking):
        with refused(r'by position; 3 arguments[\s\S]*tabulate\(y_true, \{"A": a, "B": b\}, sample_weight'):
            reader(Y, A, B)
    with refused("expected a JointTable of two predictions or more; got a ndarray"):
        wmcc.compare(Y, A)
    with refused("expected a Table; got a ndarray"):
        wmcc.image_scores(Y, A)
    joint = wmcc.tabulate(Y, {"a": A, "b": B}, W)
    assert wmcc.results.uncertainty(joint).sampling.names == ("a", "b")


@call
def test_eps_is_given_once():
    with refused(r"wmcc\.certify takes table and measure by position[\s\S]*by keyword: `eps`, `model`"):
        wmcc.certify(wmcc.tabulate(Y, A), "ecc", 0.2, eps=0.1)
    assert wmcc.certify(wmcc.tabulate(Y, A), "ecc", eps=0.2).eps == 0.2


@call
def test_an_unknown_keyword_names_the_function_that_was_called():
    with refused(r"wmcc\.score has no keyword 'strata'"):
        wmcc.score(Y, A, strata=W)
    with refused(r"wmcc\.mcc has no keyword 'threshold'"):
        wmcc.mcc(Y, A, threshold=0.5)
    with refused(r"wmcc\.mcc has no keyword 'weights'[\s\S]*sample_weight"):
        wmcc.mcc(Y, A, weights=W)
    with refused(r"wmcc\.ecc has no keyword 'ignore'[\s\S]*wmcc\.ecc\(wmcc\.tabulate\(…, ignore=…\)\)"):
        wmcc.ecc(Y, A, ignore=255)
    for name in set(Request._fields) - {"y_true", "y_pred", "sample_weight"}:
        with refused(rf"wmcc\.mcc has no keyword '{name}'[\s\S]*wmcc\.mcc\(wmcc\.tabulate\(…, {name}=…\)\)"):
            wmcc.mcc(Y, A, **{name: 64})
    with refused(r"3 arguments were given[\s\S]*sample_weight=weights"):
        wmcc.ecc(Y, A, W)
    for name, home in homes().items():
        with refused(rf"wmcc\.mcc has no keyword '{name}'[\s\S]*wmcc\.mcc\(wmcc\.tabulate\({re.escape(home)}\)\)"):
            wmcc.mcc(Y, A, **{name: 64})
    with refused(r"tabulate\(\) has no keyword 'ignores'[\s\S]*ignore"):
        wmcc.tabulate(Y, A, ignores=255)


@call
def test_strata_are_named_where_data_are_read():
    with refused(r"tabulate\(\) has no keyword 'strata'[\s\S]*design=wmcc\.Strata"):
        wmcc.tabulate(Y, A, strata=Y)
    with refused(
        r"wmcc\.interval has no keyword 'stratum'[\s\S]*wmcc\.interval\(wmcc\.tabulate\(…, design=wmcc\.Strata\(…\)\)\)"
    ):
        wmcc.interval(wmcc.tabulate(Y, A), "ecc", stratum=Y)
    sizes = {0: 500.0, 1: 300.0, 2: 200.0}
    table = wmcc.tabulate(Y, A, design=wmcc.Strata(A, population=sizes))
    assert table == wmcc.tabulate(FRAME, true="y", pred="p", design=wmcc.Strata("p", population=sizes))
    assert wmcc.interval(table, "ecc").strata == 3
    assert wmcc.interval(table, "ecc").se < wmcc.interval(wmcc.tabulate(Y, A), "ecc").se


@call
def test_tables_of_models_are_not_pooled():
    tables = {"a": wmcc.tabulate(Y, A), "b": wmcc.tabulate(Y, B)}
    for reader in (wmcc.score, wmcc.interval, wmcc.certify, wmcc.ecc):
        with refused("expected a Table"):
            reader(tables)
    with refused(r"`sample` 'clusters'[\s\S]*`sample` 'independent'"):
        wmcc.compare(tables)


@call
def test_several_predictions_are_a_mapping_from_names():
    for several in ([A, B], [A.tolist(), B.tolist()]):
        with refused(r"\{'[^']+': ", InputError):
            wmcc.tabulate(Y, several, W)
    with refused(r"\{'[^']+': "):
        wmcc.tabulate(FRAME, true="y", pred=["p", "q"])
    joint = wmcc.tabulate(Y, {"a": A, "b": B}, W)
    assert joint == wmcc.tabulate(FRAME, true="y", pred={"a": "p", "b": "q"}, weight="w")
    assert wmcc.compare(joint).names == ("a", "b")


@call
def test_a_list_of_lists_is_read_as_an_array():
    with refused(r"np\.argmax\(y_pred, axis=-1\)", InputError):
        wmcc.tabulate(Y, np.eye(3, dtype=int)[A].tolist())
    assert wmcc.tabulate(Y, np.argmax(np.eye(3)[A].tolist(), axis=-1)) == wmcc.tabulate(Y, A)
    with refused(r"np\.squeeze\(y_pred, 1\)", InputError):
        wmcc.tabulate(Y, [[x] for x in A.tolist()])
    assert wmcc.tabulate(Y, np.squeeze([[x] for x in A.tolist()], 1)) == wmcc.tabulate(Y, A)
    for matrix in ([[80, 12], [9, 99]], np.array([[80, 12], [9, 99]])):
        with refused(r"wmcc\.Table\.from_counts"):
            wmcc.score(matrix)
        assert wmcc.score(wmcc.Table.from_counts(matrix)).n == 200


@call
def test_a_table_is_given_alone():
    table = wmcc.tabulate(Y > 0, A > 0)
    for measure in ("kappa", wmcc.measures.kappa):
        with refused(r"a Table is given alone[\s\S]*wmcc\.score\(table\)\.kappa and wmcc\.kappa\(table\)"):
            wmcc.score(table, measure)
    assert wmcc.score(table).kappa == wmcc.measures.kappa(table)
    for found in (table, wmcc.score(table), wmcc.tabulate(Y, A, by=Y)):
        for reader in (wmcc.score, wmcc.mcc):
            with refused("is given alone; `sample_weight` was given with it"):
                reader(found, sample_weight=W)


@call
def test_groups_are_scored_together():
    tiles = wmcc.tabulate(FRAME, true="y", pred="p", weight="w", by="tile")
    found = wmcc.score(tiles, confidence_level=0.9)
    frame = found.to_frame()
    assert list(frame["tile"].unique()) == list(tiles)
    for key, table in tiles.items():
        own = wmcc.score(table, confidence_level=0.9)
        assert found[key].to_dict() == own.to_dict()
        rows = frame[frame["tile"] == key].drop(columns="tile").reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, own.to_frame(), check_dtype=False)
    for key in tiles:
        assert re.search(rf"^{key} +0\.\d+ ", str(found), re.MULTILINE)
    with refused("there is no group 99; the first are 0, 1, 2", InputError):
        found[99]
    with refused(r"wmcc\.score\(tables\)[\s\S]*tables\[key\][\s\S]*tables\.total\(\)"):
        wmcc.interval(tiles)
    assert wmcc.ecc(tiles) == {key: wmcc.ecc(table) for key, table in tiles.items()}
    joint = wmcc.tabulate(FRAME, true="y", pred={"a": "p", "b": "q"}, by="tile")
    for reader in (wmcc.score, wmcc.ecc):
        with refused(r"tables\[key\]\[name\]"):
            reader(joint)
    assert reader(joint[0]["a"]) == wmcc.ecc(wmcc.tabulate(FRAME[:10], true="y", pred="p"))


def test_a_group_without_weight_is_noted():
    tables = wmcc.tabulate([0, 1, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0], by=["a", "a", "b", "b"])
    found = wmcc.score(tables)
    assert found["a"].accuracy == 1
    assert "by = b: the total weight of 2 rows is zero; there is nothing to score." in str(found)
    with refused("by = b: the total weight of 2 rows is zero", InputError):
        found["b"]
    with refused("by = b: the total weight of 2 rows is zero", InputError):
        wmcc.score(tables.select(["b"]))


@call
def test_a_series_of_the_frame_is_a_weight():
    assert wmcc.tabulate(FRAME, true="y", pred="p", weight=FRAME["w"] * 2) == wmcc.tabulate(Y, A, W * 2)
    with pytest.raises(WmccError, match=r"rows|length|index"):
        wmcc.tabulate(FRAME, true="y", pred="p", weight=FRAME["w"][:5])


@call
def test_tables_by_cluster_are_compared():
    a, b = (wmcc.tabulate(Y, x, W, cluster=FRAME["tile"]) for x in (A, B))
    found = wmcc.compare({"a": a, "b": b}, "ecc", sample="clusters")
    joint = wmcc.compare(wmcc.tabulate(Y, {"a": A, "b": B}, W, cluster=FRAME["tile"]), "ecc")
    assert found.value == pytest.approx(joint.value, rel=1e-12)
    assert found.se == pytest.approx(joint.se, rel=1e-9)


@call
def test_help_says_what_a_measure_is():
    assert "correlation" in wmcc.mcc.__doc__
    assert inspect.getdoc(wmcc.mcc).startswith("Weighted Matthews correlation")


# ---- the rules that were wrong ------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
@call
def test_ignore_looks_at_the_truth_only():
    y_true, y_pred = [1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 255, 1, 0, 255, 255, 0]
    table = wmcc.tabulate(y_true, y_pred, ignore=255)
    assert wmcc.accuracy(table) == 0.625
    assert (table.rows, table.ignored, table.void) == (8, 0, (255,))
    assert wmcc.tabulate([1, 255, 0], [1, 1, 0], ignore=255).ignored == 1
    # mmsegmentation: union of a class = its true and predicted pixels; a void answer is in no class's prediction
    assert wmcc.mean_iou(table) == pytest.approx((3 / 4 + 2 / 4) / 2)


@call
def test_missing_labels_are_refused_or_ignored():
    with pytest.raises(LabelError, match=r"missing[\s\S]*`missing` 'ignore'"):
        wmcc.tabulate(["a", None, "b"], ["a", "a", "b"])
    assert wmcc.tabulate(["a", None, "b"], ["a", "a", "b"], missing="ignore").ignored == 1
    masked = np.ma.masked_array([0, 1, 1], mask=[False, True, False])
    assert wmcc.tabulate(masked, [0, 1, 1], missing="ignore").rows == 2
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        wmcc.tabulate(["a", "NA"], ["a", "a"])
    assert any("NA" in str(w.message) for w in seen)


@call
def test_classes_that_do_not_occur_move_no_mean():
    few, many = wmcc.tabulate(Y, A, W), wmcc.tabulate(Y, A, W, labels=range(9))
    for name in ("mpc2", "mean_iou", "mean_f1", "mean_recall"):
        assert wmcc.measures.MEASURES[name](many) == wmcc.measures.MEASURES[name](few)
        assert wmcc.interval(many, name).low == pytest.approx(wmcc.interval(few, name).low, rel=1e-9)
        assert wmcc.certify(many, name, eps=0.1).low == pytest.approx(wmcc.certify(few, name, eps=0.1).low, rel=1e-9)
    assert "6 of 9 classes" in repr(wmcc.score(many))


@call
def test_classes_have_names():
    named = wmcc.tabulate(Y, A, names={0: "road", 1: "car", 2: "sky"})
    assert named.labels == ("road", "car", "sky")
    assert wmcc.tabulate(Y, A, labels={0: "road", 1: "car", 2: "sky"}) == named
    assert wmcc.tabulate(Y, A).rename({0: "road", 1: "car", 2: "sky"}) == named
    assert wmcc.ecc(named) == wmcc.ecc(Y, A)


@call
def test_hints_are_true():
    images, guess = np.zeros((2, 4, 5), int), np.zeros((2, 1, 4, 5), int)
    with pytest.raises(InputError, match="squeeze") as seen:
        wmcc.tabulate(images, guess)
    assert "argmax" not in str(seen.value)
    assert wmcc.tabulate(images, guess.squeeze(axis=1)).rows == 40


@call
def test_a_statement_that_does_not_hold_has_no_radius():
    found = wmcc.radius(wmcc.tabulate(Y, A), "ecc", at_least=0.95)
    assert not found.holds
    assert found.safe == 0.0
    assert "is at least 0.95: this does not hold" in repr(found)
    assert found.problem
    assert wmcc.radius(wmcc.tabulate(Y, A), "ecc", at_least=0.1).holds
    with refused("at_least"):
        wmcc.radius(wmcc.tabulate(Y, A), "ecc")


@call
def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.xyz[\s\S]*\.csv"):
        wmcc.score(wmcc.tabulate(Y, A)).save(tmp_path / "scores.xyz")
    assert not list(tmp_path.iterdir())


@call
def test_indexes_that_do_not_match_are_refused():
    shuffled = pd.Series(A).sample(frac=1, random_state=1)
    with pytest.raises(InputError, match=r"index[\s\S]*reindex|index[\s\S]*align"):
        wmcc.tabulate(pd.Series(Y), shuffled)
    assert wmcc.tabulate(pd.Series(Y), shuffled.reindex(pd.Series(Y).index)) == wmcc.tabulate(Y, A)


@call
def test_coordinates_that_do_not_match_are_refused():
    import xarray

    left = xarray.DataArray(Y.reshape(8, 10), dims=("y", "x"), coords={"y": range(8), "x": range(10)})
    right = xarray.DataArray(A.reshape(8, 10), dims=("y", "x"), coords={"y": range(1, 9), "x": range(10)})
    with pytest.raises(InputError, match=r"coordinate[\s\S]*align"):
        wmcc.tabulate(left, right)
    with pytest.raises(InputError, match=r"dimension[\s\S]*transpose"):
        wmcc.tabulate(left, right.T)


@call
def test_scorers_are_fresh():
    from wmcc.adapters.sklearn import scorer

    assert scorer("ecc") is not scorer("ecc")


# ---- small things -------------------------------------------------------------------------------------------


@call
def test_weights_broadcast():
    images = Y.reshape(2, 4, 10)
    rows = np.arange(1.0, 5.0).reshape(4, 1)
    assert wmcc.tabulate(images, images, rows) == wmcc.tabulate(images, images, np.broadcast_to(rows, images.shape))
    per_image = np.array([2.0, 3.0]).reshape(2, 1, 1)
    assert wmcc.tabulate(images, images, per_image).total == 200.0


@call
def test_no_rows_make_an_empty_table():
    empty = wmcc.tabulate([], [])
    assert empty.rows == 0
    assert empty + wmcc.tabulate(Y, A) == wmcc.tabulate(Y, A)
    assert wmcc.tabulate(FRAME[:0], true="y", pred="p").rows == 0
    with pytest.raises(InputError, match="no observations"):
        wmcc.ecc(empty)


@call
def test_tables_are_merged():
    parts = [wmcc.tabulate(Y[k::4], A[k::4], W[k::4]) for k in range(4)]
    assert wmcc.merge(parts) == wmcc.tabulate(Y, A, W)


@call
def test_a_stream_is_read_as_a_table():
    stream = wmcc.Accumulator()
    stream.update(Y, A, W)
    stream.update(Y[:0], A[:0], W[:0])
    assert wmcc.ecc(stream) == wmcc.ecc(wmcc.tabulate(Y, A, W))
    assert wmcc.interval(stream).value == wmcc.ecc(stream)
    words = wmcc.Accumulator()
    words.update("cat", "dog", 2.5)
    assert words.table.total == 2.5


@call
def test_undefined_is_a_value_with_a_reason():
    alone = wmcc.tabulate([1, 1, 1], [1, 0, 1])
    for found in (wmcc.interval(alone), wmcc.certify(alone), wmcc.sensitivity(alone), wmcc.radius(alone, change=0.1)):
        assert "undefined" in found.problem
    score = wmcc.score(alone, zero_division=float("nan"))
    assert np.isnan(score.ecc)
    assert np.isnan(score.intervals["ecc"].low)
    assert score.intervals["ecc"].problem


@call
def test_the_matrix_of_a_table():
    assert np.array_equal(np.asarray(wmcc.tabulate(Y, A, W)), wmcc.tabulate(Y, A, W).w)


def test_the_page_has_every_row():
    text = (DOCS / "contributing" / "calls.md").read_text()
    assert sorted(re.findall(r"\| `(\w+)` \|$", text, flags=re.M)) == sorted(CALLS)


def test_names_of_other_programs_are_answered_by_ours():
    with refused(r"no keyword 'psu'[\s\S]*`cluster`"):
        wmcc.tabulate(Y, A, psu=W)
    with refused(r"no keyword 'repweights'[\s\S]*design=wmcc.Replicates"):
        wmcc.tabulate(Y, A, repweights=W)
    for given, name in (("JKn", "jkn"), ("BRR", "brr"), ("Fay's BRR", "fay"), ("JK-1", "jk1"), ("ACS", "sdr")):
        with refused(f"did you mean '{name}'", InputError):
            wmcc.Replicates("rw*", given)
    with refused(r"expected one of[\s\S]*`scales`", InputError):
        wmcc.Replicates("rw*", "random groups")
    with refused(r"wmcc.Strata has no keyword 'strata'[\s\S]*`stratum`"):
        wmcc.Strata(strata=W)
    with refused(r"wmcc.Strata has no keyword 'psu'[\s\S]*given to tabulate itself"):
        wmcc.Strata(W, psu=W)
    with refused(r"wmcc.Replicates has no keyword 'rscales'[\s\S]*`scales`"):
        wmcc.Replicates("rw*", rscales=1)
    with refused(r"wmcc.PostStrata has no keyword 'margins'[\s\S]*`totals`"):
        wmcc.PostStrata(W, margins={})
    with refused(r"wmcc.plan_sample has no keyword 'margin'[\s\S]*`se`"):
        wmcc.plan_sample({"a": 0.9}, {"a": 10}, margin=0.1)
    table = wmcc.tabulate(Y, A)
    with refused(r'by position; 3 arguments[\s\S]*compare\(\{"A": a, "B": b\}, "ecc", sample="independent"\)'):
        wmcc.compare(table, table, "ecc")

"""Scores that cannot be tabulated, from arrays, a frame and a file: what is said, and that the hint helps."""

import numpy as np
import pandas as pd
import pytest

import wmcc
from wmcc.errors import InputError, InputTypeError, LabelError, LabelWarning, WmccError

TRUTH = [0, 1, 0, 1, 1, 0]
SCORE = [0.1, 0.6, 0.3, 0.8, 0.4, 0.5]
NAN = float("nan")
SOURCES = ("arrays", "frame", "file")


@pytest.fixture(params=SOURCES)
def source(request, tmp_path, monkeypatch):
    """A function that tabulates scores, or with ``as_label`` predictions, from a kind of source."""
    monkeypatch.chdir(tmp_path)

    def tabulated(truth=TRUTH, score=SCORE, *, as_label=False, **options):
        if request.param == "arrays":
            return wmcc.tabulate(truth, score, **options) if as_label else wmcc.tabulate(truth, score=score, **options)
        data = pd.DataFrame({"y": truth, "p": score})
        if request.param == "file":
            data.to_csv("a.csv", index=False)
            data = "a.csv"
        return wmcc.tabulate(data, true="y", **{"pred" if as_label else "score": "p"}, **options)

    tabulated.kind = request.param
    return tabulated


def test_integers_that_are_no_float64_are_refused(source):
    score = [2**53, 2**53 + 2, 2**53 + 4, 2**53 + 1, 2**53, 2**60]
    said = {"arrays": r"score\[3\] is", "frame": r"p\[3\] is", "file": "the column 'p' holds"}[source.kind]
    with pytest.raises(
        InputError, match=rf"{said} 9007199254740993; a score must be a float64, and the nearest one is"
    ):
        source(score=score)
    assert len(source(score=[x - 2**53 for x in score]).steps) == 5  # which the hint advises
    assert len(source(score=[2**60, 2**60 + 1024, *score[:3], 2**62]).steps) == 6


@pytest.mark.parametrize("kind", [np.int64, np.uint64, object, np.longdouble, list])
def test_numbers_of_all_kinds_that_would_become_equal_are_refused(kind):
    exact = [2**53 + k for k in range(6)]
    score = exact if kind is list else np.array(exact, dtype=object).astype(kind)
    if kind is np.longdouble:
        score = np.longdouble(2**53) + np.arange(6)
    with pytest.raises(InputError, match=r"score\[\d\] is 9007199254740993"):
        wmcc.tabulate(TRUTH, score=score)
    with pytest.raises(InputError, match=r"score\['A'\]\[1\] is 18446744073709551617"):
        wmcc.tabulate(TRUTH, score={"A": [2**64 + k for k in range(6)], "B": SCORE})


def test_long_doubles_that_remain_different_are_taken():
    assert wmcc.tabulate(TRUTH, score=np.array(SCORE, dtype=np.longdouble) / 3).thresholds[-2] == pytest.approx(0.8 / 3)
    close = np.longdouble(1) / 3 * (1 + np.array([0, 1, 2, 3, 4, 5]) * np.finfo(np.longdouble).eps)
    with pytest.raises(InputError, match=r"score\[\d\] is 0.33333333333333333"):
        wmcc.tabulate(TRUTH, score=close)


def test_missing_scores_are_refused_with_their_row(source):
    gap = [*SCORE[:3], NAN, *SCORE[4:]]
    first = {"arrays": r"score\[3\] is nan", "frame": r"'p' is missing, or NaN, for 1 row.* The first: p\[3\]\."}
    said = first.get(source.kind, r"'p' is missing, or NaN, for 1 row.* The first: a.csv: p\[3\]\.")
    with pytest.raises(InputError, match=said):
        source(score=gap)
    assert source(truth=TRUTH[:3] + TRUTH[4:], score=gap[:3] + gap[4:]).rows == 5  # which the hint advises


def test_a_missing_score_of_a_row_that_is_ignored_is_no_matter(source):
    truth, gap = [*TRUTH[:3], 9, *TRUTH[4:]], [*SCORE[:3], NAN, *SCORE[4:]]
    scores = source(truth=truth, score=gap, ignore=9)
    assert (scores.rows, scores.ignored) == (5, 1)
    assert scores.steps.tolist() == [0.1, 0.3, 0.4, 0.5, 0.6]
    part = source(truth=[9, 9, 1], score=[NAN, 0.05, 0.2], labels=[0, 1], ignore=9)
    assert (part.steps.tolist(), part.ignored) == ([0.2], 2)


def test_a_constant_score_has_no_best_threshold(source):
    scores = source(score=[0.5] * 6)
    with pytest.raises(InputError, match=r"all scores are the same, 0.5, so there is no threshold to choose"):
        wmcc.best_threshold(scores)
    area = wmcc.interval(scores, "roc_auc")
    assert (area.value, area.problem) == (0.5, "all scores are the same, 0.5, so its error is not known")


def test_one_class_is_refused_unless_both_are_named(source):
    with pytest.raises(InputError, match=r"is of two classes; all rows are of the class 1[\s\S]*`labels` names both"):
        source(truth=[1] * 6)
    part = source(truth=[1] * 6, labels=[0, 1])
    assert (part + source()).rows == 12
    with pytest.raises(InputError, match="there are no rows with a score"):
        source(truth=[], score=[])


def test_scores_in_the_place_of_predictions(source):
    said = {"file": r"holds 6 different decimal numbers, such as '0.1'; expected classes[\s\S]*of scores as `score`"}
    with pytest.raises(LabelError, match=said.get(source.kind, r"\[0\] is 0.1[\s\S]*scores, give them as `score`")):
        source(as_label=True)
    assert source().rows == 6
    with pytest.raises(InputTypeError, match=r"`thresholds` go with `score`"):
        source(as_label=True, thresholds=[0.5])


def test_text_of_a_file_that_is_named_as_classes(tmp_path):
    """Of names, codes that occur in the truth, or labels that are listed."""
    pd.DataFrame({"y": ["1.5", "2"], "p": ["2", "1.25"]}).to_csv(tmp_path / "codes.csv", index=False)
    assert wmcc.tabulate(tmp_path / "codes.csv", true="y", pred="p").rows == 2
    pd.DataFrame({"y": ["a", "b"], "p": ["a", "1.25"]}).to_csv(tmp_path / "words.csv", index=False)
    assert wmcc.tabulate(tmp_path / "words.csv", true="y", pred="p").rows == 2
    pd.DataFrame({"y": [1, 2], "p": ["1", "1.25"]}).to_csv(tmp_path / "listed.csv", index=False)
    with pytest.raises(LabelError, match=r"'p' holds the decimal number '1.25'; expected classes"):
        wmcc.tabulate(tmp_path / "listed.csv", true="y", pred="p")
    assert wmcc.tabulate(tmp_path / "listed.csv", true="y", pred="p", labels=["1", "1.25", "2"]).rows == 2


def test_a_threshold_beyond_all_scores(source):
    scores = source()
    with pytest.warns(LabelWarning, match=r"50.0, above all scores, which are 0.1 to 0.8: no row is predicted 1"):
        assert scores.at(50).pred_counts.tolist() == [6, 0]
    with pytest.warns(LabelWarning, match=r"-1.0, below all scores, .*: every row is predicted 1"):
        assert scores.at(-1).pred_counts.tolist() == [0, 6]
    for cut in (0.1, 0.8, np.inf, -np.inf, 0.45):
        assert scores.at(cut).rows == 6


@pytest.mark.parametrize("edges", [[0.1, NAN], [0.1, np.inf], [], 0.5, 100, "x", ["a"], [[0.1, 0.2]]])
def test_edges_that_are_no_finite_numbers(source, edges):
    with pytest.raises(InputError, match=r"`thresholds` is .*; expected a list of finite numbers"):
        source(thresholds=edges)
    assert len(source(thresholds=np.arange(101) / 100).edges) == 101  # which the hint advises


def test_edges_may_come_in_any_order_and_more_than_once(source):
    assert source(thresholds=[0.5, 0.2, 0.5]) == source(thresholds=[0.2, 0.5])
    with pytest.raises(InputError, match=r"`threshold` is 0.3; .* the nearest are 0.2 and 0.5[\s\S]*contain it"):
        source(thresholds=[0.2, 0.5]).at(0.3)
    assert source(thresholds=[0.2, 0.3, 0.5]).at(0.3) == source().at(0.3)


def test_text_is_no_score(source):
    said = r"score\[0\] is 'a'; a score must" if source.kind == "arrays" else "the column 'p' holds 'a'; a score must"
    with pytest.raises(WmccError, match=said):
        source(score=list("abacab"))


def test_a_score_and_a_prediction(source):
    other = {"y_pred": TRUTH} if source.kind == "arrays" else {"pred": "y"}
    with pytest.raises(InputTypeError, match=r"`score` and `\w+` were given; a row has a score or a predicted label"):
        source(**other)


def test_groups_without_both_classes_are_named(source):
    groups = ["a", "a", "b", "b", "b", "c"] if source.kind == "arrays" else "y"
    with pytest.raises(InputError, match=r"the group ('c'|0): a score table is of two classes; all rows are of"):
        source(by=groups)
    assert sum(source(by=groups, labels=[0, 1]).values()) == source(labels=[0, 1])  # which the hint advises


@pytest.mark.parametrize("data", ["frame", "file"])
def test_columns_of_scores_are_named(data, tmp_path):
    frame = pd.DataFrame({"y": TRUTH, "p": SCORE, "k": [0, 1, 2] * 2})
    frame.to_csv(tmp_path / "a.csv", index=False)
    given = frame if data == "frame" else tmp_path / "a.csv"
    for score, said in (
        ([], "`score` is an empty list"),
        ({}, "`score` is an empty mapping"),
        (np.array(SCORE), r"`score` is array\(.*expected the name of a column"),
        ([SCORE, SCORE], r"`score` is \[0.1.*expected the name of a column"),
        ("prob", "there is no column 'prob'"),
    ):
        with pytest.raises(WmccError, match=said):
            wmcc.tabulate(given, true="y", score=score)
    with pytest.raises(InputError, match=r"there are 3[\s\S]*tabulate\(y_true, score=P\)"):
        wmcc.tabulate(given, true="k", score="p")
    assert len(wmcc.tabulate(frame["k"], score=np.eye(3)[frame["k"]])) == 3  # which the hint advises


@pytest.mark.parametrize(
    ("shape", "options", "said"),
    [
        ((6, 2), {}, r"`score` has 2 columns, and 3 classes occur[\s\S]*give as `labels` the class of each column"),
        ((6, 3), {"labels": [0, 1, 2, 3]}, r"`labels` has 4 classes, and `score` 3 columns[\s\S]*for each class"),
        ((5, 3), {}, r"`score` has 5 rows, and y_true 6"),
    ],
)
def test_columns_for_classes_that_do_not_fit(shape, options, said):
    with pytest.raises(InputError, match=said):
        wmcc.tabulate([0, 1, 2] * 2, score=np.ones(shape), **options)


def test_several_classes_have_a_score_table_each():
    scores = wmcc.tabulate(TRUTH, score=np.c_[1 - np.array(SCORE), SCORE])  # what predict_proba returns
    for read in (wmcc.best_threshold, wmcc.curve, wmcc.plot.roc):
        with pytest.raises(InputTypeError, match=r"reads a score table; got Scores of 2 classes[\s\S]*scores\[1\]"):
            read(scores)
    with pytest.raises(InputError, match=r"it is of scores: [\s\S]*of several classes take one"):
        wmcc.interval(scores, "roc_auc")
    assert wmcc.interval(scores[1], "roc_auc").value == 8 / 9


def test_scores_of_two_frames_that_are_joined(tmp_path):
    """The scores' side need not have the true class, or may have another column of its name."""
    truth = pd.DataFrame({"id": [1, 2, 3, 4], "y": ["a", "b", "b", "a"], "w": [1.0, 2, 3, 4]})
    scores = pd.DataFrame({"id": [4, 3, 2, 1], "p": [0.2, 0.9, 0.4, 0.1], "y": "unknown"})
    expected = wmcc.tabulate(truth.y, score=[0.1, 0.4, 0.9, 0.2], sample_weight=truth.w)
    for name, own in (("truth", truth), ("with", scores), ("without", scores.drop(columns="y"))):
        own.to_csv(tmp_path / f"{name}.csv", index=False)
    pairs = [(truth, scores), (truth, scores.drop(columns="y"))]
    pairs += [(tmp_path / "truth.csv", tmp_path / f"{name}.csv") for name in ("with", "without")]
    for pair in pairs:
        found = wmcc.tabulate(wmcc.Join(*pair, "id"), true="y", score="p", weight="w")
        assert (found.at(0.3), found.steps.tolist()) == (expected.at(0.3), expected.steps.tolist())
    lost = wmcc.Join(truth, scores[1:], "id", unmatched="ignore")
    assert wmcc.tabulate(lost, true="y", score="p").ignored == 1

"""Tables of scores: every threshold makes the table of the thresholded labels, to the last bit."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, SchemaError, WmccError
from wmcc.results import ScoreTable


@st.composite
def rows(draw, least=2):
    """Labels of both classes, scores with ties and infinities, and weights, some of them zero."""
    n = draw(st.integers(least, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    truth = rng.integers(0, 2, n)
    truth[:2] = 0, 1
    score = rng.normal(truth, 1).round(draw(st.sampled_from([0, 1, 9])))
    if draw(st.booleans()):
        score[rng.random(n) < 0.2] = draw(st.sampled_from([np.inf, -np.inf, 0.0, -0.0]))
    weight = rng.lognormal(0, draw(st.sampled_from([0, 2, 60])), n) * (rng.random(n) < 0.9)
    return truth, score, weight


def unit_options(kind, n, seed=0):
    """How rows were drawn, as keywords of tabulate."""
    rng = np.random.default_rng(seed)
    clusters, strata = rng.integers(0, 5, n), np.arange(n) % 2
    return {
        "rows": {},
        "clusters": {"cluster": clusters},
        "strata": {"design": wmcc.Strata(strata)},
        "clusters in strata": {"cluster": clusters, "design": wmcc.Strata(strata)},
        "replicates": {"design": wmcc.Replicates(rng.random((n, 4)) + 0.1, "bootstrap")},
    }[kind]


pytestmark = pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")  # of labels that are drawn at random

KINDS = ("rows", "clusters", "strata", "clusters in strata", "replicates")


@given(rows(), st.sampled_from(KINDS), st.floats(-3, 3))
def test_a_threshold_makes_the_table_of_the_labels(data, kind, threshold):
    truth, score, weight = data
    options = unit_options(kind, len(truth))
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight, **options)
    for cut in (*scores.thresholds.tolist(), threshold, -np.inf):
        expected = wmcc.tabulate(truth, (score >= cut).astype(int), weight, labels=[0, 1], **options)
        assert scores.at(cut) == expected


@given(rows(4), st.sampled_from(KINDS))
def test_parts_add_up_to_the_whole(data, kind):
    truth, score, weight = data
    truth[:4] = 0, 0, 1, 1  # each part has both
    options = unit_options(kind, len(truth))

    def part(which):
        own = {name: x[which] if name == "cluster" else x for name, x in options.items()}
        if "design" in own and isinstance(own["design"], wmcc.Strata):
            own["design"] = wmcc.Strata(np.asarray(own["design"].stratum)[which])
        elif "design" in own:
            own["design"] = wmcc.Replicates(np.asarray(own["design"].replicates)[which], "bootstrap")
        return wmcc.tabulate(truth[which], score=score[which], sample_weight=weight[which], **own)

    whole = part(slice(None))
    parts = [part(slice(0, None, 2)), part(slice(1, None, 2))]
    assert sum(parts) == wmcc.merge(parts) == whole


@given(rows(), st.sampled_from(KINDS))
def test_it_is_stored(data, kind):
    truth, score, weight = data
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight, **unit_options(kind, len(truth)))
    assert ScoreTable.from_json(scores.to_json()) == scores
    assert pickle.loads(pickle.dumps(scores)) == scores


def test_what_is_stored_is_told_apart():
    scores = wmcc.tabulate([0, 1], score=[0.1, 0.9])
    with pytest.raises(SchemaError, match="no stored score table"):
        ScoreTable.from_json(scores.at(0.5).to_json())


@given(rows(), st.lists(st.floats(-3, 3), min_size=1, max_size=5))
def test_steps_between_edges(data, edges):
    truth, score, weight = data
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)
    binned = wmcc.tabulate(truth, score=score, sample_weight=weight, thresholds=edges)
    assert binned == scores.binned(edges)
    for edge in edges:
        assert binned.at(edge) == scores.at(edge)
    inside = max(edges) + 0.5
    with pytest.raises(InputError, match=r"put together between edges, and the nearest are"):
        binned.at(inside)


def test_tables_of_other_edges_are_not_added():
    one, other = (wmcc.tabulate([0, 1], score=[0.1, 0.9], thresholds=[x]) for x in (0.4, 0.5))
    with pytest.raises(InputError, match="different edges"):
        one + other


def test_float32_scores_keep_their_values():
    score = np.array([0.1, 0.3], dtype=np.float32)
    scores = wmcc.tabulate([0, 1], score=score)
    assert scores.steps.tolist() == score.astype(float).tolist()
    assert scores.at(0.1).pred_counts.tolist() == [0, 2]  # float32's 0.1 is above that of float64


@pytest.mark.parametrize("edges", [None, [0.5]])
def test_ignored_rows_may_lack_a_score(edges):
    truth, score = ["a", "b", "x", "a"], [0.1, 0.9, np.nan, 0.6]
    expected = wmcc.tabulate([*"aba"], score=[0.1, 0.9, 0.6], thresholds=edges)
    scores = wmcc.tabulate(truth, score=score, ignore="x", thresholds=edges)
    frame = {"truth": truth, "p": score}
    of_frame = wmcc.tabulate(pd.DataFrame(frame), true="truth", score="p", ignore="x", thresholds=edges)
    for found in (scores, of_frame):
        assert (found.ignored, found.steps.tolist()) == (1, expected.steps.tolist())
        assert found.at(0.5).w.tolist() == expected.at(0.5).w.tolist()


def test_the_positive_class():
    scores = wmcc.tabulate(["sick", "well", "sick"], score=[0.9, 0.2, 0.4], positive="sick")
    assert (scores.positive, scores.negative) == ("sick", "well")
    assert wmcc.accuracy(scores.at(0.3)) == 1.0
    assert (
        wmcc.accuracy(wmcc.tabulate(["sick", "well", "sick"], score=[0.1, 0.8, 0.6]).at(0.7)) == 1.0
    )  # "well" is larger


def test_many_different_scores_are_put_together():
    rng = np.random.default_rng(0)
    truth, score = rng.random(200_000) < 0.5, rng.normal(size=200_000)
    weight = rng.lognormal(size=200_000)
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)
    assert len(scores.steps) <= 10_000
    parts = np.diff(np.append(scores.tables.weights.cumsum(), scores.total)) / scores.total
    assert parts.max() < 20 / 10_000  # a heavy row may make a step heavier
    for edge in scores.edges[:: len(scores.edges) // 5]:
        assert scores.at(edge) == wmcc.tabulate(truth, score >= edge, weight)


# ---- several scores, several classes -------------------------------------------------------------------


@given(rows(), st.floats(-2, 2), st.floats(-2, 2))
def test_several_scores_of_the_same_rows(data, a, b):
    truth, score, weight = data
    other = np.random.default_rng(len(truth)).normal(truth, 2).round(1)
    both = wmcc.tabulate(truth, score={"A": score, "B": other}, sample_weight=weight)
    assert both["A"] == wmcc.tabulate(truth, score=score, sample_weight=weight)
    labels = {"A": (score >= a).astype(int), "B": (other >= b).astype(int)}
    assert both.at({"A": a, "B": b}) == wmcc.tabulate(truth, labels, weight, labels=[0, 1])
    with pytest.raises(InputError, match="there is no score 'C'"):
        both["C"]


@given(st.integers(0, 1000), st.integers(2, 5))
def test_a_column_of_scores_for_each_class(seed, K):
    rng = np.random.default_rng(seed)
    truth = np.append(np.arange(K), rng.integers(0, K, 20))
    score = rng.random((len(truth), K)).round(1)
    weight = rng.lognormal(size=len(truth))
    scores = wmcc.tabulate(truth, score=score, sample_weight=weight)
    assert scores.table == wmcc.tabulate(truth, score.argmax(axis=1), weight, labels=range(K))
    for k in range(K):
        whole = wmcc.tabulate(truth, np.where(score[:, k] >= 0.5, k, (k + 1) % K), weight, labels=range(K))
        assert np.array_equal(scores[k].at(0.5).w, whole.against_rest(k).w)
    assert scores + scores == wmcc.tabulate(
        np.tile(truth, 2), score=np.tile(score, (2, 1)), sample_weight=np.tile(weight, 2)
    )


# ---- bad input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: wmcc.tabulate([0, 1], score=[0.1, np.nan]), r"score\[1\] is nan; a score must be a number"),
        (lambda: wmcc.tabulate([0, 1], score={"A": [1, np.nan]}), r"score\['A'\]\[1\] is nan"),
        (lambda: wmcc.tabulate([1, 1], score=[0.1, 0.2]), r"all rows are of the class 1"),
        (lambda: wmcc.tabulate([0, 1, 2], score=[0.1, 0.2, 0.3]), r"is of two classes; there are 3[\s\S]*score=P"),
        (lambda: wmcc.tabulate([0, 1], score=[0.1]), r"`score` has shape \(1,\), and y_true \(2,\)"),
        (lambda: wmcc.tabulate([0, 1], [0, 1], score=[0.1, 0.2]), r"`score` and `y_pred` were given"),
        (lambda: wmcc.tabulate([0, 1], score="p"), r"the name of a column goes with a frame or a file"),
        (lambda: wmcc.tabulate([0, 1], score=["a", "b"]), r"a score must be a real number"),
        (
            lambda: wmcc.tabulate([0, 1], [0.2, 0.7]),
            r"if these are scores, give them as `score`: tabulate\(y_true, score=",
        ),
        (lambda: wmcc.tabulate([0, 1], [0, 1], thresholds=[0.5]), r"`thresholds` go with `score`"),
        (
            lambda: wmcc.tabulate([0, 1], score=[0, 1], thresholds=[]),
            r"`thresholds` is \[\]; expected a list of finite numbers",
        ),
        (lambda: wmcc.tabulate([0, 1], score=[0, 1]).at("x"), r"`threshold` is 'x'; expected a number"),
        (lambda: wmcc.tabulate([0, 1], score=[0, 1])["A"], r"there is no score 'A'"),
        (lambda: wmcc.tabulate([0, 1, 2], score=[[0, 1]] * 3), r"`score` has 2 columns, and 3 classes occur"),
        (lambda: wmcc.mcc(wmcc.tabulate([0, 1], score=[0, 1])), r"scores.at\(0.5\) is the table of a threshold"),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(WmccError, match=sentence):
        call()


def test_scores_of_classes_are_stored():
    rng = np.random.default_rng(0)
    scores = wmcc.tabulate(np.array(["a", "b", "c"])[rng.integers(0, 3, 60)], score=rng.random((60, 3)).round(1))
    again = wmcc.results.ClassScores.from_json(scores.to_json())
    assert again == scores
    assert again["b"] == scores["b"]
    assert again != scores + scores
    stored = scores.to_dict()
    for broken in (
        {},
        {**stored, "schema": 9},
        {**stored, "kind": "table"},
        {**stored, "scores": stored["scores"][1:]},
    ):
        with pytest.raises(SchemaError):
            wmcc.results.ClassScores.from_dict(broken)
    with pytest.raises(SchemaError):
        wmcc.results.ClassScores.from_dict({key: x for key, x in stored.items() if key != "table"})

"""Scores in columns: frames and lazy engines give the score tables of the same arrays."""

import numpy as np
import pyarrow as pa
import pytest
from engines import ALL, ENGINE_WARNINGS, ENGINES, IN_MEMORY, LAZY

import wmcc
from wmcc.errors import InputError
from wmcc.sources import score_columns, score_steps

pytestmark = ENGINE_WARNINGS

EDGES = [-0.5, 0.0, 0.25, 1.0]


def rows(n=120, seed=0):
    """Labels, scores with ties, whole weights, which every engine adds up exactly, and groups."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    score = rng.normal(truth, 1).round(1)
    score[:3] = -0.0, 0.0, 0.25
    return truth, score, rng.integers(1, 9, n), rng.integers(0, 3, n)


def frame_of(truth, score, weight, group, **columns):
    return pa.table({"y": truth, "p": score, "w": weight, "g": group, **columns})


COLUMNS = {"true": "y", "score": "p", "weight": "w"}


@pytest.mark.parametrize("edges", [None, EDGES, [0.25]])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_table_of_the_arrays(engine, edges):
    truth, score, weight, group = rows()
    data = ALL[engine](frame_of(truth, score, weight, group))
    expected = wmcc.tabulate(truth, score=score, sample_weight=weight, thresholds=edges)
    assert wmcc.tabulate(data, **COLUMNS, thresholds=edges) == expected
    by_group = wmcc.tabulate(data, **COLUMNS, thresholds=edges, by="g")
    assert by_group == wmcc.tabulate(truth, score=score, sample_weight=weight, thresholds=edges, by=group)
    clustered = wmcc.tabulate(data, **COLUMNS, thresholds=edges, cluster="g")
    assert clustered == wmcc.tabulate(truth, score=score, sample_weight=weight, thresholds=edges, cluster=group)


@pytest.mark.parametrize("edges", [None, EDGES])
@pytest.mark.parametrize("engine", ENGINES)
def test_rows_without_a_score_are_refused(engine, edges):
    truth, score, weight, group = rows(9)
    lacking = pa.array([None if k in (2, 5) else x for k, x in enumerate(score)], pa.float64())
    data = ALL[engine](frame_of(truth, lacking, weight, group))
    with pytest.raises(InputError, match=r"the column 'p' is missing, or NaN, for 2 rows"):
        wmcc.tabulate(data, **COLUMNS, thresholds=edges)
    if engine == "pandas with NA":  # which makes NaN missing, or not, as it likes
        return
    data = ALL[engine](frame_of(truth, np.where(np.arange(9) == 4, np.nan, score), weight, group))
    with pytest.raises(InputError, match=r"the column 'p' is missing, or NaN, for 1 row;"):
        wmcc.tabulate(data, **COLUMNS, thresholds=edges)


@pytest.mark.parametrize("kind", [pa.float32(), pa.int64(), pa.string(), pa.bool_()])
@pytest.mark.parametrize("engine", [*IN_MEMORY, *LAZY])
def test_scores_of_other_types(engine, kind):
    truth, score, weight, group = rows()
    score = {
        pa.float32(): score.astype(np.float32), pa.int64(): score.astype(np.int64), pa.bool_(): score > 0
    }.get(kind, score)  # fmt: skip
    given = pa.array([str(x) for x in score]) if kind == pa.string() else pa.array(score, kind)
    data = ALL[engine](frame_of(truth, given, weight, group))
    expected = wmcc.tabulate(truth, score=score.astype(float), sample_weight=weight, thresholds=EDGES)
    assert wmcc.tabulate(data, **COLUMNS, thresholds=EDGES) == expected


@pytest.mark.parametrize("engine", [*IN_MEMORY])
def test_several_scores_of_a_frame(engine):
    truth, score, weight, group = rows()
    _, other, _, _ = rows(seed=1)
    data = ALL[engine](frame_of(truth, score, weight, group, q=other))
    expected = wmcc.tabulate(truth, score={"A": score, "B": other}, sample_weight=weight)
    assert wmcc.tabulate(data, true="y", score={"A": "p", "B": "q"}, weight="w") == expected


@pytest.mark.parametrize("engine", [*IN_MEMORY, *LAZY, "file"])
def test_several_scores_with_thresholds(engine, tmp_path):
    truth, score, weight, group = rows()
    _, other, _, _ = rows(seed=1)
    frame = frame_of(truth, score, weight, group, q=other)
    if engine == "file":
        frame.to_pandas().to_csv(data := str(tmp_path / "a.csv"), index=False)
    else:
        data = ALL[engine](frame)
    found = wmcc.tabulate(data, true="y", score={"A": "p", "B": "q"}, weight="w", thresholds=EDGES)
    assert found == wmcc.tabulate(truth, score={"A": score, "B": other}, sample_weight=weight, thresholds=EDGES)
    for name, own in (("A", score), ("B", other)):
        assert found[name] == wmcc.tabulate(truth, score=own, sample_weight=weight, thresholds=EDGES)
    cuts = {"A": EDGES[0], "B": EDGES[-1]}
    assert found.at(cuts) == wmcc.tabulate(
        truth, {"A": (score >= cuts["A"]).astype(int), "B": (other >= cuts["B"]).astype(int)}, weight
    )
    assert wmcc.results.ScoreTable.from_json(found.to_json()) == found
    assert found + found == found + found
    assert wmcc.compare(found, threshold="best").problem is None
    assert wmcc.compare(found, "roc_auc").problem is None


@pytest.mark.parametrize("engine", ["pandas", "arrays"])
def test_several_scores_of_many_values_need_thresholds(engine, monkeypatch):
    for name, value in {"MOST_STEPS": 50, "CHOSEN_STEPS": 20, "FINE": 4}.items():
        monkeypatch.setattr(score_steps, name, value)
    truth, score = np.arange(200) % 2, np.random.default_rng(0).normal(size=(2, 200))
    data = frame_of(truth, score[0], truth, truth, q=score[1]).to_pandas()

    def tabulated(**options):
        if engine == "pandas":
            return wmcc.tabulate(data, true="y", score=["p", "q"], **options)
        return wmcc.tabulate(truth, score={"p": score[0], "q": score[1]}, **options)

    with pytest.raises(InputError, match=r"several scores cannot be tabulated together with more than"):
        tabulated()
    assert tabulated(thresholds=[0.1, 0.2]).edges == (0.1, 0.2)  # which the hint advises


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow"])
def test_of_many_scores_in_memory_steps_are_chosen(engine, monkeypatch):
    for name, value in {"MOST_STEPS": 50, "CHOSEN_STEPS": 20, "FINE": 4}.items():
        monkeypatch.setattr(score_steps, name, value)
    rng = np.random.default_rng(0)
    truth, score, weight, group = rng.integers(0, 2, 500), rng.normal(size=500), rng.lognormal(size=500), np.zeros(500)
    data = ALL[engine](frame_of(truth, score, weight, group))
    found = wmcc.tabulate(data, **COLUMNS)
    assert found == wmcc.tabulate(truth, score=score, sample_weight=weight)
    assert len(found.edges) < 20


@pytest.mark.parametrize("engine", ["polars, lazy", "duckdb", "dask"])
def test_of_many_scores_of_an_engine_thresholds_are_kept(engine, monkeypatch):
    """Between two of them is nearly the same weight, and each is exact."""
    for name, value in {"MOST_STEPS": 500, "CHOSEN_STEPS": 50}.items():
        monkeypatch.setattr(score_steps, name, value)
    rng = np.random.default_rng(0)
    truth, score, weight = rng.integers(0, 2, 4000), rng.normal(size=4000), rng.integers(1, 9, 4000)
    found = wmcc.tabulate(ALL[engine](frame_of(truth, score, weight, truth)), **COLUMNS)
    shares = np.diff([weight[score < edge].sum() for edge in found.edges]) / weight.sum()
    assert 45 <= len(found.edges) < 50
    assert np.abs(shares - 0.02).max() < 0.002
    for edge in found.edges[::7]:
        assert found.at(edge).w.tolist() == wmcc.tabulate(truth, (score >= edge).astype(int), weight).w.tolist()


def test_rows_of_pandas_keep_their_places_whatever_their_index():
    truth, score, weight, group = rows()
    data = frame_of(truth, score, weight, group).to_pandas()
    expected = wmcc.tabulate(truth, score=score, sample_weight=weight)
    turned = data.sort_values("p")
    assert wmcc.tabulate(turned, **COLUMNS) == expected
    assert wmcc.tabulate(turned, true="y", score="p", weight=turned["w"]) == expected
    assert wmcc.tabulate(data.set_axis(np.zeros(len(data)), axis=0), **COLUMNS) == expected
    assert list(data.columns) == ["y", "p", "w", "g"]


@pytest.mark.parametrize("name", ["^p.*$", "*", "p.q", "P", "select"])
@pytest.mark.parametrize("engine", ["pandas", "polars, lazy", "duckdb"])
def test_names_that_an_engine_reads_as_something_else(engine, name):
    truth, score, weight, _ = rows()
    data = ALL[engine](pa.table({"y": truth, "p": -score, "w": weight}).append_column(name, pa.array(score)))
    if engine == "duckdb" and name == "P":
        return  # it has no columns that differ in case only
    found = wmcc.tabulate(data, true="y", score=name, weight="w", thresholds=EDGES)
    assert found == wmcc.tabulate(truth, score=score, sample_weight=weight, thresholds=EDGES)


def test_thresholds_are_pushed_down():
    truth, score, weight, group = rows()
    edges = tuple(np.linspace(-1, 1, 100).tolist())
    request = wmcc.sources.request.Request(LAZY["duckdb"](frame_of(truth, score, weight, group)), true="y", score="p")
    stepped = score_columns.with_steps(request, ["p"], edges)
    codes = np.array(stepped.data.fetchall(), dtype=object)[:, -1].astype(int)
    assert codes.tolist() == np.searchsorted(edges, score, side="right").tolist()
    assert score_columns.with_steps(request, ["p"], tuple(range(2000))) is None
    assert score_columns.with_steps(request, ["p"], None) is None

"""Missing labels: left out, counted as wrong, or kept; by every engine alike, and with the clusters that were drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import wmcc
from wmcc.core.labels import MISSING
from wmcc.errors import InputError, WeightError

KINDS = {
    "integers": ([None, 1, 2, 2, 1, None], [1, None, 1, 2, 1, None]),
    "text": ([None, "a", "b", "b", "a", None], ["a", None, "a", "b", "a", None]),
    "booleans": ([None, True, False, False, True, None], [True, None, True, False, True, None]),
}
W = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", ["ignore", "wrong", "keep"])
def test_every_source_makes_the_same_table(kind, missing, tmp_path):
    truth, pred = KINDS[kind]
    table = wmcc.tabulate(truth, pred, W, missing=missing)
    frame = pl.DataFrame({"t": truth, "p": pred, "w": W})
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    files = [
        wmcc.Files(str(tmp_path / f"rows.{end}"), engine=e) for end in ("csv", "parquet") for e in ("arrow", "duckdb")
    ]
    for data in (frame, frame.lazy(), pd.DataFrame({"t": truth, "p": pred, "w": W}), frame.to_arrow(), *files):
        assert wmcc.tabulate(data, true="t", pred="p", weight="w", missing=missing) == table
    halves = [wmcc.tabulate(truth[k::2], pred[k::2], W[k::2], missing=missing) for k in (0, 1)]
    assert halves[0] + halves[1] == table
    assert wmcc.Table.from_json(table.to_json()) == table


def test_what_is_missing_is_where_it_should_be():
    truth, pred = KINDS["integers"]
    ignored, wrong, kept = (wmcc.tabulate(truth, pred, W, missing=m) for m in ("ignore", "wrong", "keep"))
    assert (ignored.ignored, ignored.total) == (3, 4 + 8 + 16)
    assert (wrong.ignored, wrong.total, wrong.void, wrong.classes) == (2, 30, (MISSING,), (1, 2))
    assert wmcc.accuracy(wrong) == (8 + 16) / 30
    assert wmcc.accuracy(ignored) == (8 + 16) / 28
    assert (kept.ignored, kept.total, kept.labels, kept.void) == (0, sum(W), (1, 2, MISSING), ())
    assert "2 classes and missing labels: 6 rows, 2 without a true label, 2 without a prediction" in str(kept)
    joint = wmcc.tabulate(truth, {"a": pred, "b": truth}, W, missing="keep")
    assert "6 rows, 2 without a true label, 3 without a prediction" in str(joint)
    assert kept.w.tolist() == [[16, 0, 2], [4, 8, 0], [1, 0, 32]]


@pytest.mark.parametrize("labels", [[2, 1, 3], None])
def test_classes_that_are_named_stay_as_they_are(labels):
    truth, pred = KINDS["integers"]
    wrong, kept = (wmcc.tabulate(truth, pred, W, missing=m, labels=labels) for m in ("wrong", "keep"))
    first = tuple(labels or (1, 2))
    assert wrong.labels == kept.labels == (*first, MISSING)
    assert wrong.classes == first
    assert wrong.rows == 4
    full = wmcc.tabulate([1, 2], [1, 2], missing="wrong", labels=labels)
    assert full.labels == first


def test_weights_of_rows_that_count_are_looked_at():
    with pytest.raises(WeightError, match=r"sample_weight\[1\] is nan"):
        wmcc.tabulate([1, 2, 1], [1, None, 2], [1, np.nan, 1], missing="wrong")
    assert wmcc.tabulate([1, None, 1], [1, 1, 2], [1, np.nan, 1], missing="wrong").ignored == 1
    lazy = pl.LazyFrame({"t": [1, 2, 1], "p": [1, None, 2], "w": [1.0, -1, 1]})
    with pytest.raises(WeightError, match="1 of 3 rows has a weight"):
        wmcc.tabulate(lazy, true="t", pred="p", weight="w", missing="wrong")


def test_a_table_that_keeps_them_has_no_score():
    kept = wmcc.tabulate(*KINDS["text"], missing="keep")
    for ask in (wmcc.ecc, wmcc.score, wmcc.interval, wmcc.map_accuracy, wmcc.diagnose, wmcc.measures.recall):
        with pytest.raises(InputError, match="keeps rows without a label"):
            ask(kept)
    two = wmcc.tabulate([0, 1, None, 1], [0, 1, 1, None], missing="keep")
    for ask in (wmcc.mcc, lambda x: wmcc.interval(x, "recall", of=0), lambda x: x.against_rest(0)):
        with pytest.raises(InputError, match="keeps rows without a label"):
            ask(two)
    with pytest.raises(InputError, match="rename it"):
        wmcc.tabulate([MISSING, None], ["a", "b"], missing="keep")
    with pytest.raises(InputError, match="scores were given"):
        wmcc.tabulate([0, 1], score=[0.1, 0.9], missing="wrong")
    with pytest.raises(InputError, match="'error', 'ignore', 'wrong' or 'keep'"):
        wmcc.tabulate([0, 1], [0, 1], missing="drop")


# ---- the design ------------------------------------------------------------------------------------------


def village_survey():
    """Villages in three strata; in two of them nobody answered."""
    rng = np.random.default_rng(4)
    village = np.repeat(np.arange(18), 12)
    truth = rng.integers(0, 2, len(village)).astype(object)
    pred = np.where(rng.random(len(village)) < 0.4 + 0.03 * village, truth, 1 - truth)
    truth[(village == 3) | (village == 7)] = None
    truth[::10] = None
    return pl.DataFrame(
        {
            "t": list(truth),
            "p": list(pred),
            "village": village,
            "region": village % 3,
            "w": rng.uniform(1, 2, len(village)),
        }
    )


def test_a_cluster_that_did_not_answer_was_drawn():
    survey = village_survey()
    how = {"true": "t", "pred": "p", "weight": "w", "cluster": "village", "missing": "ignore"}
    for data in (survey, survey.lazy()):
        table = wmcc.tabulate(data, design=wmcc.Strata("region"), **how)
        assert len(table.drawn.units) == 18
        assert dict(zip(table.drawn.units, table.drawn.rows, strict=True))[0, 3] == 0
        found = wmcc.interval(table, "accuracy")
        assert found.clusters == 18
    # the accuracy is that of a domain, of those who answered: z = 0 where nobody did
    known = survey.with_columns(t=pl.col("t").fill_null(0), answered=pl.col("t").is_not_null())
    domain = wmcc.tabulate(known, design=wmcc.Strata("region"), by="answered", **{**how, "missing": "error"})[True]
    assert found.se == pytest.approx(wmcc.interval(domain, "accuracy").se, rel=1e-12)
    assert wmcc.Table.from_json(table.to_json()) == table
    left = wmcc.tabulate(survey.drop_nulls(), design=wmcc.Strata("region"), **how)
    assert len(left.drawn.units) == 16


def test_notes_say_what_is_true():
    survey = village_survey()
    by_weight = wmcc.map_accuracy(wmcc.tabulate(survey, true="t", pred="p", weight="w", missing="ignore"))
    assert "Nothing stands for them: the total is that of the others" in repr(by_weight)
    sizes = wmcc.Strata("region", population={0: 100, 1: 100, 2: 100})
    sized = wmcc.map_accuracy(wmcc.tabulate(survey, true="t", pred="p", design=sizes, missing="ignore"))
    assert sized.total_area == 300
    assert "the other rows of the stratum stand for it" in repr(sized)

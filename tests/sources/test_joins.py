"""Truth and prediction in two frames or files with a common key."""

from __future__ import annotations

import flat
import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from engines import ALL, ENGINE_WARNINGS, ENGINES, FAST, IN_MEMORY, SPARK, same
from hypothesis import given, settings
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, InputTypeError, LabelError, WmccError

pytestmark = [pytest.mark.slow, ENGINE_WARNINGS]


@st.composite
def sides(draw):
    """Keys with labels on two sides, in any order, some on one side only."""
    keys = draw(st.lists(st.integers(-5, 40), min_size=1, max_size=25, unique=True))
    left = draw(st.lists(st.sampled_from(keys), min_size=1, unique=True))
    right = draw(st.lists(st.sampled_from(keys), min_size=1, unique=True))
    label, weight = st.sampled_from(["a", "b", "it's"]), st.integers(0, 9).map(float)
    truth = {key: (draw(label), draw(weight), draw(st.sampled_from([1, 2]))) for key in left}
    pred = {key: draw(label) for key in right}
    return truth, pred


def tables(truth, pred):
    columns = list(zip(*truth.values(), strict=True))
    return (
        pa.table({"id": list(truth), "label": columns[0], "ha": columns[1], "tile": columns[2]}),
        pa.table({"label": list(pred.values()), "id": list(pred)}),
    )


def check_join(engines, truth, pred):
    both = sorted(set(truth) & set(pred))
    lonely = len(set(truth) ^ set(pred))
    left, right = tables(truth, pred)
    for name, make in engines.items():
        call = {"true": "label", "pred": "label", "weight": "ha", "on": "id"}
        if lonely:
            with pytest.raises(InputError) as caught:
                flat.tabulate(make(left), join=make(right), **call)
            assert f"{len(set(truth) - set(pred)):,} keys of 'id' are in the truth only" in str(caught.value)
            assert f"{len(set(pred) - set(truth)):,} in the prediction only; {len(both):,} are in both" in str(
                caught.value
            )
        expected = wmcc.tabulate([truth[k][0] for k in both], [pred[k] for k in both], [truth[k][1] for k in both])
        found = flat.tabulate(make(left), join=make(right), unmatched="ignore" if lonely else "error", **call)
        assert found.ignored == lonely
        assert found.rows == len(both)
        assert found.w.tolist() == expected.w.tolist()
        if not both:
            continue
        groups = flat.tabulate(make(left), join=make(right), unmatched="ignore", by="tile", **call)
        assert sum(t.rows for t in groups.values()) == len(both)
        same(sum(groups.values()), expected + _ignored(groups, expected), exact=name in IN_MEMORY)


def _ignored(groups, whole):
    """A table without weight of the same classes that has what was ignored."""
    ignored = sum(t.ignored for t in groups.values())
    return wmcc.Table.from_counts(np.zeros_like(whole.n), whole.labels, ignored=ignored)


@settings(max_examples=4)
@given(sides())
def test_every_engine_joins(data):
    check_join(FAST, *data)


@pytest.mark.spark
@settings(max_examples=3)
@given(sides())
def test_spark_joins(data):
    check_join(SPARK, *data)


@pytest.mark.parametrize("engine", ENGINES)
def test_keys_that_cannot_be_joined(engine):
    make = ALL[engine]
    once = make(pa.table({"id": [1, 2], "y": ["a", "b"]}))
    twice = make(pa.table({"id": [1, 2, 2], "y": ["a", "b", "b"]}))
    missing = make(pa.table({"id": pa.array([1, None], pa.int64()), "y": ["a", "b"]}))
    with pytest.raises(InputError, match="the truth has 1 key of 'id' more than once"):
        wmcc.tabulate(wmcc.Join(twice, once, "id", unmatched="ignore"), true="y", pred="y")
    with pytest.raises(InputError, match="the prediction has 1 key of 'id' more than once"):
        wmcc.tabulate(wmcc.Join(once, twice, "id", unmatched="ignore"), true="y", pred="y")
    for sides in ((missing, once), (once, missing), (missing, missing)):
        with pytest.raises(WmccError, match=r"rows without a key: 'id' is missing|the key 'id' holds .*Float64"):
            wmcc.tabulate(wmcc.Join(sides[0], sides[1], "id", unmatched="ignore"), true="y", pred="y")
    with pytest.raises(InputError, match="no column 'idd'"):
        wmcc.tabulate(wmcc.Join(once, once, "idd"), true="y", pred="y")
    bad = make(pa.table({"id": [1, 2], "y": ["a", None]}))
    with pytest.raises(LabelError, match="1 of 2 rows has no label in 'y'"):
        wmcc.tabulate(wmcc.Join(once, bad, "id"), true="y", pred="y")


def test_a_joined_table_is_the_table_of_the_rows():
    truth = pa.table({"id": [3, 1, 2], "scene": ["x", "x", "y"], "label": [0, 1, 1]})
    pred = pa.table({"scene": ["x", "y", "x"], "id": [1, 2, 3], "class": [1, 0, 0], "ha": [2.0, 3.0, 0.5]})
    call = {"true": "label", "pred": "class", "on": ["scene", "id"]}
    found = flat.tabulate(truth, join=pred, weight="ha", **call)  # the weight may be on either side
    assert found == wmcc.tabulate([0, 1, 1], [0, 1, 0], [0.5, 2.0, 3.0])
    several = {"a": "class", "b": nw.col("class") * 0}
    joint = wmcc.tabulate(wmcc.Join(truth, pred, ["scene", "id"]), true="label", pred=several, weight="ha")
    assert joint == wmcc.tabulate([0, 1, 1], {"a": [0, 1, 0], "b": [0, 0, 0]}, [0.5, 2.0, 3.0])
    with pytest.raises(InputError, match="there is no column 'h' in either"):
        flat.tabulate(truth, join=pred, weight="h", **call)


@pytest.mark.parametrize("engine", ENGINES)
def test_void_and_missing_labels_of_two_frames(engine):
    truth = ALL[engine](pa.table({"id": [1, 2, 3, 4, 5], "y": ["a", "b", "void", None, "a"], "w": [1.0, 2, -1, -1, 4]}))
    pred = ALL[engine](pa.table({"id": [5, 4, 3, 2, 1], "p": ["void", "a", "b", "b", "a"]}))
    call = {"join": pred, "on": "id", "true": "y", "pred": "p", "weight": "w", "ignore": "void"}
    found = flat.tabulate(truth, **call, missing="ignore")
    assert (found.labels, found.void, found.ignored) == (("a", "b", "void"), ("void",), 2)
    assert found.w.tolist() == [[1, 0, 4], [0, 2, 0], [0, 0, 0]]
    with pytest.raises(LabelError, match="1 of 5 rows has no label in 'y'"):
        flat.tabulate(truth, **call)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_rows_to_join(engine):
    full, empty = pa.table({"id": [1, 2], "y": ["a", "b"], "g": [1, 2]}), pa.table({"id": [1], "y": ["a"], "g": [1]})
    call = {"on": "id", "true": "y", "pred": "y"}
    nothing = ALL[engine](empty.slice(0, 0))
    assert flat.tabulate(nothing, join=nothing, **call) == wmcc.Table.empty()
    found = flat.tabulate(ALL[engine](full), join=nothing, unmatched="ignore", **call)
    assert (found.rows, found.ignored) == (0, 2)
    with pytest.raises(InputError, match="2 keys of 'id' are in the truth only and 0 in the prediction only"):
        flat.tabulate(ALL[engine](full), join=nothing, **call)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("labels", [["no", "yes", "yes", "no", "no"], [0, 1, 1, 0, 0]], ids=["text", "integers"])
def test_scores_are_joined_with_their_labels(engine, labels):
    """The prediction has no column of labels, or other labels, which do not matter."""
    truth = ALL[engine](pa.table({"id": [1, 2, 3, 4, 5], "y": labels, "w": [1.0, 2, 4, 8, 16]}))
    score = pa.table({"id": [6, 5, 4, 3, 2], "p": [0.9, 0.5, 0.5, 0.25, 0.75]})
    expected = wmcc.tabulate(labels[1:], score=[0.75, 0.25, 0.5, 0.5], sample_weight=[2, 4, 8, 16])
    for pred in (score, score.append_column("y", pa.array(labels[::-1]))):
        found = wmcc.tabulate(
            wmcc.Join(truth, ALL[engine](pred), "id", unmatched="ignore"), true="y", score="p", weight="w"
        )
        assert (found.rows, found.ignored, found.steps.tolist()) == (4, 2, [0.25, 0.5, 0.75])
        for cut in (0.25, 0.5, 0.75, 1):
            assert found.at(cut).w.tolist() == expected.at(cut).w.tolist()
    with pytest.raises(InputError, match="1 keys of 'id' are in the truth only and 1 in the prediction only"):
        wmcc.tabulate(wmcc.Join(truth, ALL[engine](score), "id"), true="y", score="p")


def test_frames_of_two_engines_are_not_joined():
    table = pa.table({"id": [1], "y": [0]})
    with pytest.raises(InputTypeError, match=r"truth is a frame of pyarrow and prediction one of lazy polars"):
        wmcc.tabulate(wmcc.Join(table, ALL["polars, lazy"](table), "id"), true="y", pred="y")


def test_a_file_is_joined_with_a_frame_in_memory(tmp_path):
    """What is text in a file of text is read as it is without a join; whichever side the file is."""
    truth = pa.table({"id": [1, 2, 3, 4], "y": [1, 2, 2, 255], "w": [0.5, 1.0, 2.0, 4.0], "g": ["u", "u", "v", "v"]})
    preds = pa.table({"id": [4, 3, 2, 1, 5], "p": [1, 2, 1, 1, 2]})
    call = {"on": "id", "true": "y", "pred": "p", "weight": "w", "ignore": 255, "unmatched": "ignore"}
    expected, groups = (flat.tabulate(truth, join=preds, **call, **by) for by in ({}, {"by": "g"}))
    assert expected.ignored == 2
    for name, side in (("t", truth), ("p", preds)):
        pc.write_csv(side, tmp_path / f"{name}.csv")
        pq.write_table(side, tmp_path / f"{name}.parquet")
    for end in ("csv", "parquet"):
        for frame in (lambda x: x, lambda x: x.to_pandas()):
            for sides in ((frame(truth), tmp_path / f"p.{end}"), (tmp_path / f"t.{end}", frame(preds))):
                found = flat.tabulate(sides[0], join=sides[1], **call)
                assert (found.labels, found.to_dict()) == (expected.labels, expected.to_dict())
                by = flat.tabulate(sides[0], join=sides[1], by="g", **call)
                assert {k: t.to_dict() for k, t in by.items()} == {k: t.to_dict() for k, t in groups.items()}

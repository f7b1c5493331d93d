"""Diagnoses against exact sums, and reports that put them together with intervals and certificates."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from helpers import few, rows
from hypothesis import given
from oracle import _rounded_square
from samples import sample

import wmcc

# ---- what the weights leave ------------------------------------------------------------------------------------


@few(60)
@given(data=rows())
def test_sizes_are_exact(data):
    found = wmcc.diagnose(*data.arrays)
    w, total = [Fraction(x) for x in data.w], sum(map(Fraction, data.w))

    def worth(kept):
        top = sum(x for x, k in zip(w, kept, strict=True) if k)
        squares = sum(_rounded_square(x) for x, k in zip(data.w, kept, strict=True) if k)
        return float(top * top / squares) if squares else 0.0

    assert found.n == len(data.t)
    assert found.n_eff == pytest.approx(worth([True] * len(w)), rel=1e-15)
    assert found.n_eff == wmcc.effective_sample_size(wmcc.tabulate(*data.arrays))
    assert found.design_effect == pytest.approx(len(w) / found.n_eff, rel=1e-12)
    assert found.heaviest_row == pytest.approx(float(max(w) / total), rel=1e-12)
    for c in found.classes:
        own = [t == c.label for t in data.t]
        assert (c.n, c.n_eff) == (sum(own), pytest.approx(worth(own), rel=1e-15))
    cells = {}
    for *cell, x in zip(data.t, data.p, w, strict=True):
        cells[tuple(cell)] = cells.get(tuple(cell), 0) + x
    assert found.heaviest_cell == pytest.approx(float(max(cells.values()) / total), rel=1e-12)
    assert cells[found.cell] == pytest.approx(float(max(cells.values())), rel=1e-9)
    assert repr(found)
    assert found._repr_html_().startswith("<table")


@few(30)
@given(data=rows())
def test_weights_alone_are_diagnosed_alike(data):
    w = data.arrays[2]
    alone, found = wmcc.diagnose(w), wmcc.diagnose(*data.arrays)
    assert (alone.n, alone.weight, alone.n_eff, alone.heaviest_row) == (
        found.n,
        found.weight,
        found.n_eff,
        pytest.approx(found.heaviest_row, rel=1e-12),
    )
    assert (alone.classes, alone.cell) == ((), None)
    assert wmcc.diagnose(list(data.w)) == alone == wmcc.diagnose(pl.Series(data.w))
    assert wmcc.diagnose(w.reshape(1, -1)) == alone


def test_every_door_gives_the_same_diagnosis():
    data = sample(1)
    frame = pl.DataFrame({"t": data.t, "p": data.p, "w": data.w})
    found = wmcc.diagnose(data.table)
    assert wmcc.diagnose(*data) == wmcc.diagnose(frame, "t", "p", "w") == found
    assert wmcc.diagnose(frame, true="t", pred="p", weight="w") == found
    assert wmcc.score(data.table).diagnosis == found


def test_limits_are_the_callers():
    rng = np.random.default_rng(0)
    t, w = np.arange(200) % 2, rng.uniform(0.9, 1.1, 200)
    assert wmcc.diagnose(t, t, w).warnings == ()
    assert "are worth" in wmcc.diagnose(t, t, w, n_eff=201).warnings[0]
    assert wmcc.diagnose(t, t, w, design_effect=1.5).warnings == ()
    assert "200 rows are worth" in wmcc.diagnose(t, t, w, design_effect=1).warnings[0]
    assert "true class" in wmcc.diagnose(t, t, w, class_n_eff=150).warnings[0]
    assert "and 1 more true class on fewer than 150" in wmcc.diagnose(t, t, w, class_n_eff=150).warnings[0]
    assert "one row holds" in wmcc.diagnose(t, t, w, row_share=0.001).warnings[0]
    w[0] = 60.0
    assert len(wmcc.diagnose(t, t, w).warnings) == 3
    assert wmcc.diagnose(t, t, w, n_eff=0, class_n_eff=0, design_effect=1e9, row_share=1).warnings == ()


def test_labels_are_escaped():
    found = wmcc.diagnose(["<b>", "a"], ["<b>", "a"])
    assert "<b>" in repr(found)
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()


BAD = {
    "negative": (([1, -1],), {}, r"is -1\.0"),
    "none": (([],), {}, "no rows"),
    "no weight": (([0, 0],), {}, "total weight of 2 rows is zero"),
    "text": (("w",), {}, "expected an array"),
    "scalar": ((3,), {}, "expected an array"),
    "labels without predictions": (([0, 1],), {"sample_weight": [1, 2]}, "expected a table, or y_true and y_pred"),
    "options beside weights": (([0, 1],), {"ignore": 0}, "nothing beside them"),
    "a limit": (([1, 1],), {"n_eff": "many"}, "n_eff is 'many'; expected a finite number"),
    "a negative limit": (([1, 1],), {"row_share": -0.1}, "row_share is -0.1; expected a number of at least 0"),
    "two predictions": ((wmcc.joint_table([0], [0], [0]),), {}, "JointTable"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_calls_get_a_sentence(name):
    given, options, said = BAD[name]
    with pytest.raises((wmcc.InputError, wmcc.InputTypeError), match=said):
        wmcc.diagnose(*given, **options)


# ---- scores with intervals -------------------------------------------------------------------------------------


def test_scores_have_intervals_and_say_what_to_know():
    data = sample(2, right=0.8)
    score = wmcc.score(*data, confidence_level=0.9)
    assert list(score.intervals) == [name for name in wmcc.MEASURES if name != "mcc"]
    for name, found in score.intervals.items():
        assert found == wmcc.interval(data.table, name, 0.9)
        assert found.ends in repr(score)
        assert all(any(why in line for line in score.warnings) for why in found.warnings)
    assert "90 % interval" in repr(score)
    assert all(line in repr(score) for line in score.warnings)
    heavy = wmcc.score([0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 97])
    assert heavy.warnings[0] == "Weights: 4 rows are worth 1.06 of equal weight."
    assert any(line.startswith("* Intervals: the weights leave") for line in heavy.warnings)
    assert "not estimable *" in repr(heavy)
    assert "not estimable *" in heavy._repr_html_()
    assert wmcc.score(*sample(3, 3000, spread=0.1)).warnings == ()
    with pytest.raises(wmcc.InputError, match="between 0 and 1"):
        wmcc.score(*data, confidence_level=95)


def test_scores_show_what_zero_division_made_of_them():
    score = wmcc.score([1, 1, 1], [1, 0, 1], zero_division=0.25)
    assert score.mcc == 0.25
    assert "0.2500" in repr(score)
    assert "MCC                         —" in repr(wmcc.score([1, 1, 1], [1, 0, 1], zero_division=math.nan))
    assert "* Intervals of MCC: MCC is undefined" in repr(score)


# ---- both kinds of uncertainty -----------------------------------------------------------------------------------


def test_uncertainty_is_an_interval_and_a_certificate():
    data = sample(4)
    keys = np.arange(120) // 4
    both = wmcc.uncertainty(data.table, "mpc2", 0.05)
    assert both.sampling == wmcc.interval(data.table, "mpc2")
    certificate = wmcc.certify(data.table, "mpc2", 0.05)
    assert (both.weights.low, both.weights.high) == (certificate.low, certificate.high)
    assert both.verdict == "other rows could move it further than other weights"
    assert wmcc.uncertainty(*data, measure="mpc2", eps=0.9).verdict.startswith("other weights could")
    assert wmcc.uncertainty(*data, cluster=keys, confidence_level=0.8).sampling == wmcc.interval(
        *data, cluster=keys, confidence_level=0.8
    )
    for shown in (repr(both), both._repr_html_()):
        assert all(f"{x:.4f}" in shown for x in (both.sampling.low, both.weights.high))
        assert both.verdict in shown
        assert "off by up to 5 %" in shown
    absolute = wmcc.uncertainty(data.table, eps=0.01, model="absolute")
    assert "off by up to 0.01)" in repr(absolute)


def test_uncertainty_of_a_comparison():
    t, a, b, w = sample(5, 600, keep=0.3)
    joint = wmcc.joint_table(t, a, t, w)
    both = wmcc.uncertainty(joint, "kappa", 0.01, names=["<i>", "truth"])
    assert both.sampling == wmcc.compare(joint, "kappa", names=["<i>", "truth"])
    assert both.weights.low <= both.weights.high
    assert both.verdict.startswith("truth scores higher than <i> by this sample; with weights off by up to 1 %, truth")
    assert "<i>" not in both._repr_html_()
    level = wmcc.uncertainty(wmcc.joint_table(t, a, b, w), confidence_level=0.5).sampling
    assert level.confidence_level == 0.5


def test_a_dict_of_tables_is_as_good_as_cluster():
    t, a, b, w = sample(7, 600, keep=0.3)
    keys = np.arange(600) // 6
    tables = wmcc.tabulate(t, a, w, by=keys)
    assert wmcc.score(tables).intervals == wmcc.score(t, a, w, cluster=keys).intervals
    assert wmcc.score(tables).table == wmcc.tabulate(t, a, w, cluster=keys)
    assert repr(wmcc.uncertainty(tables, "mpc2")) == repr(wmcc.uncertainty(t, a, w, measure="mpc2", cluster=keys))
    joints = wmcc.joint_table(t, a, b, w, by=keys)
    both = wmcc.uncertainty(joints, "mpc2", 0.01, names=["x", "y"])
    assert both.sampling == wmcc.compare(joints, "mpc2", names=["x", "y"])
    assert both.weights.low == wmcc.certify_ranking(wmcc.joint_table(t, a, b, w), "mpc2", 0.01).low
    for call in (wmcc.score, wmcc.uncertainty):
        with pytest.raises(wmcc.InputTypeError, match="cluster= belongs to the making of the table"):
            call(tables, cluster=keys)
        with pytest.raises(wmcc.InputTypeError, match="ignore= belongs to the making of the table"):
            call(tables, ignore=1)


def test_clusters_without_weight_are_not_counted():
    score = wmcc.score([0, 1, 1, 255], [0, 1, 0, 0], ignore=255, cluster=[0, 0, 1, 2])
    assert score.cluster_count == score.intervals["ecc"].clusters == 2
    assert wmcc.score([0, 1], [0, 1]).cluster_count is None


def test_a_weight_matrix_has_no_sampling_error_here_either():
    with pytest.raises(wmcc.InputTypeError, match="a weight matrix pairs rows"):
        wmcc.uncertainty([0, 1, 1], [0, 1, 0], np.arange(9.0).reshape(3, 3))


def test_nothing_is_claimed_of_rows_that_say_nothing():
    both = wmcc.uncertainty([0, 1, 0, 1] * 10, [0, 1, 1, 1] * 10, cluster=np.arange(40) // 4)
    assert both.verdict == "how far other rows could move it is not known"
    assert "the interval is not estimable: all 10 clusters" in repr(both)


def test_bad_uncertainties_get_a_sentence():
    table, joint = sample(6).table, wmcc.joint_table([0, 1], [0, 1], [1, 0])
    for call, said in (
        (lambda: wmcc.uncertainty(joint, cluster=[1, 2]), "cluster= belongs to the making of the table"),
        (lambda: wmcc.uncertainty(table, names=["a", "b"]), "two predictions of a JointTable"),
        (lambda: wmcc.uncertainty(table, cluster=[1]), "cluster= belongs to the making of the table"),
        (lambda: wmcc.uncertainty(table, confidence_level=1), "between 0 and 1"),
        (lambda: wmcc.uncertainty(table, "ecc", -1), "eps"),
        (lambda: wmcc.uncertainty(table, "f1"), "number per class"),
        (lambda: wmcc.uncertainty([0, 1]), "expected a Table, or y_true and y_pred"),
    ):
        with pytest.raises((wmcc.InputError, wmcc.InputTypeError), match=said):
            call()

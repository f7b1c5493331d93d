"""Diagnoses against exact sums, and reports that put them together with intervals and certificates."""

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers import few, joint_table, rows
from hypothesis import given
from oracle import _rounded_square
from samples import sample

import wmcc
import wmcc.measures
from wmcc.errors import InputError, InputTypeError

# ---- what the weights leave ------------------------------------------------------------------------------------


@few(60)
@given(data=rows())
def test_sizes_are_exact(data):
    found = wmcc.diagnose(wmcc.tabulate(*data.arrays))
    w, total = [Fraction(x) for x in data.w], sum(map(Fraction, data.w))

    def worth(kept):
        top = sum(x for x, k in zip(w, kept, strict=True) if k)
        squares = sum(_rounded_square(x) for x, k in zip(data.w, kept, strict=True) if k)
        return float(top * top / squares) if squares else 0.0

    assert found.n == len(data.t)
    assert found.n_eff == pytest.approx(worth([True] * len(w)), rel=1e-15)
    assert found.n_eff == wmcc.tabulate(*data.arrays).n_eff
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


def test_a_score_has_its_diagnosis():
    table = sample(1).table
    score = wmcc.score(table)
    assert score.diagnosis == wmcc.diagnose(table) == wmcc.diagnose(score)
    assert (score.n, score.total, score.n_eff) == (score.diagnosis.n, score.diagnosis.total, score.diagnosis.n_eff)


def test_limits_are_the_callers():
    rng = np.random.default_rng(0)
    t, w = np.arange(200) % 2, rng.uniform(0.9, 1.1, 200)
    table = wmcc.tabulate(t, t, w)
    assert wmcc.diagnose(table).warnings == ()
    assert "the effective sample size is" in wmcc.diagnose(table, n_eff=201).warnings[0]
    assert wmcc.diagnose(table, design_effect=1.5).warnings == ()
    assert "of 200 rows" in wmcc.diagnose(table, design_effect=1).warnings[0]
    assert "true class" in wmcc.diagnose(table, class_n_eff=150).warnings[0]
    assert "and 1 more true class has fewer than 150" in wmcc.diagnose(table, class_n_eff=150).warnings[0]
    assert "one row holds" in wmcc.diagnose(table, row_share=0.001).warnings[0]
    w[0] = 60.0
    table = wmcc.tabulate(t, t, w)
    assert len(wmcc.diagnose(table).warnings) == 3
    assert wmcc.diagnose(table, n_eff=0, class_n_eff=0, design_effect=1e9, row_share=1).warnings == ()


def test_numbers_are_shown_with_the_digits_that_make_them_true():
    """And rows of equal weight are not said to be worth as many rows of equal weight."""
    few = wmcc.tabulate([0, 1] * 2, [0, 1] * 2)
    assert wmcc.diagnose(few, row_share=1).warnings[0] == "there are only 4 rows"
    assert wmcc.diagnose(wmcc.tabulate([0], [0]), row_share=1).warnings == (
        "there is only 1 row",
        "true class 0 has 1 effective row",
    )
    near = wmcc.tabulate([0, 1] * 15, [0, 1] * 15, [1.0] * 29 + [1.01])
    assert "the effective sample size is 29.9999, of 30 rows" in wmcc.diagnose(near).warnings[0]
    classes = wmcc.tabulate([0, 1] * 10, [0, 1] * 10, [1.0] * 19 + [1.01])
    assert "true class 1 has 9.9999" in wmcc.diagnose(classes, n_eff=0).warnings[0]


def test_labels_are_escaped():
    found = wmcc.diagnose(wmcc.tabulate(["<b>", "a"], ["<b>", "a"]))
    assert "<b>" in repr(found)
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()


TABLE = wmcc.tabulate([0, 1], [0, 1])
BAD = {
    "weights alone": (lambda: wmcc.diagnose([1, 1]), "expected a Table; got a list"),
    "no weight": (lambda: wmcc.diagnose(wmcc.tabulate([0, 1], [0, 1], [0, 0])), "total weight of 2 rows is zero"),
    "a limit": (lambda: wmcc.diagnose(TABLE, n_eff="many"), "`n_eff` is 'many'; expected a finite number"),
    "a negative limit": (
        lambda: wmcc.diagnose(TABLE, row_share=-0.1),
        "`row_share` is -0.1; expected a number of at least 0",
    ),
    "two predictions": (lambda: wmcc.diagnose(joint_table([0], [0], [0])), "JointTable"),
    "groups": (lambda: wmcc.diagnose(wmcc.tabulate([0], [0], by=[1])), "got a Tables"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_calls_get_a_sentence(name):
    call, said = BAD[name]
    with pytest.raises((InputError, InputTypeError), match=said):
        call()


# ---- scores with intervals -------------------------------------------------------------------------------------


def test_scores_have_intervals_and_say_what_to_know():
    data = sample(2, right=0.8)
    score = wmcc.score(wmcc.tabulate(*data), confidence_level=0.9)
    assert list(score.intervals) == [name for name in wmcc.measures.MEASURES if name != "mcc"]
    for name, found in score.intervals.items():
        assert found == wmcc.interval(data.table, name, confidence_level=0.9)
        assert found.ends in repr(score)
        assert all(any(why in line for line in score.warnings) for why in found.warnings)
    assert "90 % interval" in repr(score)
    assert all(line in repr(score) for line in score.warnings)
    heavy = wmcc.score(wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 97]))
    assert heavy.warnings[0] == "Weights: the effective sample size is 1.06, of 4 rows."
    assert any(line.startswith("* Intervals: the effective number of") for line in heavy.warnings)
    assert "not estimable *" in repr(heavy)
    assert "not estimable\xa0*" in heavy._repr_html_()
    assert wmcc.score(wmcc.tabulate(*sample(3, 3000, spread=0.1))).warnings == ()
    with pytest.raises(InputError, match="between 0 and 1"):
        wmcc.score(wmcc.tabulate(*data), confidence_level=95)


def test_scores_show_what_zero_division_made_of_them():
    score = wmcc.score(wmcc.tabulate([1, 1, 1], [1, 0, 1]), zero_division=0.25)
    assert score.mcc == 0.25
    assert "0.2500" in repr(score)
    undefined = wmcc.score(wmcc.tabulate([1, 1, 1], [1, 0, 1]), zero_division=math.nan)
    assert math.isnan(undefined.mcc)
    assert " — " in next(line for line in repr(undefined).splitlines() if line.startswith("MCC "))
    assert "* Intervals of MCC: MCC is undefined" in repr(score)


@pytest.mark.parametrize("instead", [math.nan, 0.5])
def test_no_interval_stands_beside_what_zero_division_made(instead):
    """MPC2 with a term that is undefined: the interval is for a term of 0, and the value another."""
    table = wmcc.tabulate([0, 0, 1, 1, 2] * 20, [0, 1, 1, 1, 0] * 20)
    usual, score = wmcc.score(table), wmcc.score(table, zero_division=instead)
    assert usual.intervals["mpc2"].problem is None
    found = score.intervals["mpc2"]
    assert "`zero_division` gave them another value" in found.problem
    assert math.isnan(found.low)
    assert found.value == score.mpc2 or math.isnan(score.mpc2)
    assert score.intervals["ecc"] == usual.intervals["ecc"]
    for name, own in score.class_intervals.items():
        for c, x in zip(score.classes, own, strict=True):
            assert x.value == getattr(c, name) or math.isnan(x.value)
            assert math.isnan(x.low) or x.low <= x.value <= x.high


# ---- both kinds of uncertainty -----------------------------------------------------------------------------------


def test_uncertainty_is_an_interval_and_a_certificate():
    table = sample(4).table
    both = wmcc.results.uncertainty(table, "mpc2", eps=0.05)
    assert both.sampling == wmcc.interval(table, "mpc2")
    certificate = wmcc.certify(table, "mpc2", eps=0.05)
    assert (both.weights.low, both.weights.high) == (certificate.low, certificate.high)
    assert both.verdict == "the sampling error is larger than the effect of the weights"
    assert wmcc.results.uncertainty(table, "mpc2", eps=0.9).verdict.startswith("the effect of the weights is larger")
    tiles = wmcc.tabulate(*sample(4), cluster=np.arange(120) // 4)
    assert wmcc.results.uncertainty(tiles, confidence_level=0.8).sampling == wmcc.interval(tiles, confidence_level=0.8)
    for shown in (repr(both), both._repr_html_()):
        assert all(f"{x:.4f}" in shown for x in (both.sampling.low, both.weights.high))
        assert both.verdict in shown
        assert "off by up to 5 %" in shown
    absolute = wmcc.results.uncertainty(table, eps=0.01, model="absolute")
    assert "weights off by up to 0.01 " in repr(absolute)


def test_uncertainty_of_a_comparison():
    t, a, b, w = sample(5, 600, keep=0.3)
    joint = wmcc.tabulate(t, {"<i>": a, "truth": t}, w)
    both = wmcc.results.uncertainty(joint, "kappa", eps=0.01)
    assert both.sampling == wmcc.compare(joint, "kappa")
    assert both.weights.low <= both.weights.high
    assert both.verdict.startswith("truth scores higher than <i> in this sample; with weights off by up to 1 %, truth")
    assert "<i>" not in both._repr_html_()
    assert wmcc.results.uncertainty(joint_table(t, a, b, w), confidence_level=0.5).sampling.confidence_level == 0.5


def test_uncertainty_of_three():
    t, a, b, w = sample(5, 600, keep=0.3)
    both = wmcc.results.uncertainty(wmcc.tabulate(t, {"a": a, "b": b, "truth": t}, w), eps=0.01)
    shown = repr(both)
    for pair, found in both.sampling.pairs.items():
        assert f"{found.value:.4f}" in shown
        assert f"{both.weights[pair].low:.4f}"[:-1] in shown


def test_clusters_without_weight_are_not_counted():
    score = wmcc.score(wmcc.tabulate([0, 1, 1, 255], [0, 1, 0, 0], ignore=255, cluster=[0, 0, 1, 2]))
    assert score.clusters == score.intervals["ecc"].clusters == 2
    assert wmcc.score([0, 1], [0, 1]).clusters is None


def test_a_weight_matrix_has_no_sampling_error_here_either():
    table = wmcc.tabulate([0, 1, 1], [0, 1, 0], np.arange(9.0).reshape(3, 3))
    both = wmcc.results.uncertainty(table)
    assert "matrix over pairs of rows" in both.sampling.problem
    assert both.weights.problem is None
    assert both.problem is None
    assert math.isnan(wmcc.score(table).n_eff)


def test_nothing_is_claimed_of_rows_that_say_nothing():
    both = wmcc.results.uncertainty(wmcc.tabulate([0, 1, 0, 1] * 10, [0, 1, 1, 1] * 10, cluster=np.arange(40) // 4))
    assert both.verdict == "the sampling error could not be estimated"
    assert "the interval is not estimable: all 10 clusters" in repr(both)


def test_undefined_scores_are_as_uncertain_as_can_be():
    both = wmcc.results.uncertainty(wmcc.tabulate([0, 0], [0, 1]))
    assert "ECC (R_K) is undefined at these weights" in both.problem
    assert (both.sampling.value, both.weights.value, both.measure) == (0.0, 0.0, "ecc")
    assert repr(both)
    assert both._repr_html_()


def test_bad_uncertainties_get_a_sentence():
    table = sample(6).table
    for call, said in (
        (lambda: wmcc.results.uncertainty(table, confidence_level=1), "between 0 and 1"),
        (lambda: wmcc.results.uncertainty(table, "ecc", eps=-1), "eps"),
        (lambda: wmcc.results.uncertainty(table, "f1"), "number per class"),
        (lambda: wmcc.results.uncertainty([0, 1]), "expected a Table; got a list"),
    ):
        with pytest.raises((InputError, InputTypeError), match=said):
            call()

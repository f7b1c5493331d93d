"""The bounds of the paper as printed: against the definitions on rows, and against another implementation."""

import math
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from helpers import rows
from hypothesis import assume, given
from hypothesis import strategies as st

import wmcc
import wmcc.measures
from wmcc import published
from wmcc.errors import InputError, InputTypeError

MULTICLASS = ["ecc", "mpc1", "mpc2"]


def nothing_known(*_, **__):
    end = SimpleNamespace(attained=math.nan)
    return SimpleNamespace(value=math.nan, low=math.nan, high=math.nan, lower=end, upper=end, problem=None)


printed_only = mock.patch("wmcc.robustness.certify.certify", nothing_known)
"""For tests of the printed side alone, which need no certificate."""


# ---- the definitions of the paper, on rows --------------------------------------------------------------


def theorem_3_4(t, c, w, eps):
    """MCC and the factor beside it on the right side, for 0/1 vectors."""
    A = [w @ (t * c), w @ t, w @ c, w @ (1 - t), w @ (1 - c)]
    M, m, N, trace = max(A), min(A), len(t), w.sum()
    mcc = (A[0] * trace - A[1] * A[2]) / math.sqrt(A[1] * A[2] * A[3] * A[4])
    kappa = 2**5 * trace**2 * N / m**2
    return mcc, kappa * (1 + M**2 * (1 + kappa * eps)) * eps


def theorem_4_5(t, c, w, eps):
    """The same for ECC, MPC1 and MPC2, from one-hot matrices with a column per observation."""
    N, s = len(w), w.sum()
    T, P = (x - (x @ w / s)[:, None] for x in (t, c))
    tc, tt, cc = ((a * w) @ b.T / s for a, b in ((T, P), (T, T), (P, P)))
    M_t, M_c = abs(T).max(), abs(P).max()
    k_tc, k_tt, k_cc = (x.diagonal() for x in (tc, tt, cc))
    C_k = k_tt * M_c**2 + k_cc * M_t**2 + 4 * N / s**2

    y = np.trace(tt) * np.trace(cc)
    C = M_t**2 * np.trace(cc) + M_c**2 * np.trace(tt) + 4 * N**2 / s**2
    first = 4 * 4 * N**2 * C / (y * math.sqrt(2) * s**2)
    second = 4 * N**2 * M_t * M_c / s**2
    third = 4 * 4 * N * C / (y * math.sqrt(2) * s**2) * eps**2
    ecc = abs(np.trace(tc) / math.sqrt(y)), (first + second * (1 + third)) * eps**2

    y = np.sqrt(k_tt * k_cc).sum()
    C = (C_k / np.sqrt(2 * k_tt * k_cc)).sum()
    first = 4 * 4 * N * C / (y * s**2)
    mpc1 = abs(k_tc.sum() / y), (first + second * (1 + first * eps**2)) * eps**2

    first, second = 4 * 4 * N * C_k.max() / s**2, 4 * N * C_k.max() / s**2
    lead = abs(k_tc / (len(k_tc) * np.sqrt(k_tt * k_cc))).sum()
    mpc2 = lead, (first + second * (1 + first * eps**2)) * eps**2
    return {"ecc": ecc, "mpc1": mpc1, "mpc2": mpc2}


SMALL = st.floats(1e-6, 0.5)
WEIGHT = st.floats(0.01, 100)


@printed_only
@given(rows(classes=2, least_classes=2, weight=WEIGHT), SMALL)
def test_theorem_3_4_is_evaluated_as_printed(data, eps):
    t, c, w = data.arrays
    assume(0 < t.sum() < len(t) and 0 < c.sum() < len(c) and (t * c).any())
    found = published.binary(wmcc.tabulate(t, c, w), eps)
    mcc, factor = theorem_3_4(t, c, w, eps)
    assert found.bound == pytest.approx(mcc * factor, rel=1e-9, abs=1e-9 * factor)
    assert found.value == wmcc.mcc(t, c, sample_weight=w)
    assert np.sign(found.bound) == np.sign(found.value)


@printed_only
@given(rows(classes=4, least_classes=3, most=40, weight=WEIGHT), SMALL)
def test_theorem_4_5_is_evaluated_as_printed(data, eps):
    t, c, w = data.arrays
    labels = sorted({*data.t, *data.p})
    hot_t, hot_c = (np.equal.outer(labels, x).astype(float) for x in (t, c))
    assume(all(0 < x.sum() < len(w) for x in (*hot_t, *hot_c)))
    expected = theorem_4_5(hot_t, hot_c, w, eps)
    table = wmcc.tabulate(t, c, w)
    for name in MULTICLASS:
        found = published.multiclass(table, name, eps)
        assert found.value == wmcc.measures.MEASURES[name](table)
        lead, factor = expected[name]
        assert found.bound == pytest.approx(lead * factor, rel=1e-9, abs=1e-9 * factor)


# ---- PyPI weighted-mcc 0.1.0, float weights; the numbers were computed with the package itself -------------------


def parcels():
    """The rows of docs/understand/errata.md: 150 observations of three classes with weights from 1 to 2."""
    i = np.arange(150)
    t = i % 3
    return t, np.where(i * 11 % 17 < 12, t, (t + 1 + i // 3 % 2) % 3), 1 + (i * 37 % 150) / 150


@printed_only
@pytest.mark.parametrize(
    ("name", "eps", "pypi"),
    [
        ("ecc", 1e-4, 1.550904073673421e-07),
        ("ecc", 0.3, 1.3964653525842439),
        ("mpc1", 1e-4, 5.255543745349556e-09),
        ("mpc1", 0.3, 0.0478197670106314),
        ("mpc2", 1e-4, 7.014371487655206e-11),
        ("mpc2", 0.3, 0.0006314081269756422),
    ],
)
def test_the_multiclass_bounds_of_the_package_on_pypi(name, eps, pypi):
    assert published.multiclass(wmcc.tabulate(*parcels()), name, eps).bound == pytest.approx(pypi, rel=1e-12)


@printed_only
@pytest.mark.parametrize(
    ("flipped", "positive", "unit", "eps", "pypi"),
    [
        (False, 1, 1, 1e-3, 25016040.849054556),
        (False, 0, 1, 1e-3, 104038618.10647082),
        (False, 1, 1, 1e-6, 574.6015414945706),
        (False, 1, 1000, 1e-3, 49.22381158810846),
        (False, 0, 1000, 1e-6, 0.050879410684989135),
        (True, 1, 1, 1e-6, 8994.806209262122),
        (True, 0, 1, 1e-3, 2592538523.5150156),
    ],
)
def test_the_binary_bound_of_the_package_on_pypi(flipped, positive, unit, eps, pypi):
    """It takes |MCC| where MCC is printed, so for predictions that are worse than chance the sign differs."""
    t, c, w = parcels()
    t, c = (t > 0).astype(int), (c > 0).astype(int)
    table = wmcc.tabulate(t, 1 - c if flipped else c, w / unit, positive=positive)
    assert published.binary(table, eps).bound == pytest.approx(-pypi if flipped else pypi, rel=1e-12)


# ---- whether they hold ----------------------------------------------------------------------------------

GOOD = [[3, 1], [1, 3]]  # MCC 0.5


def unmet(found):
    return [sentence for sentence, met in found.preconditions if not met]


def test_at_zero_the_binary_bound_is_zero_and_fails():
    found = published.binary(wmcc.Table.from_counts([[1, 1], [1, 1]]), 0.0099)
    assert (found.statement, found.measure, found.value, found.bound) == ("Theorem 3.4", "mcc", 0.0, 0.0)
    assert found.change == pytest.approx(0.0099)
    assert found.valid is False
    assert not unmet(found)
    assert "fails here" in repr(found)


@pytest.mark.parametrize("eps", [0.001, 1e-30])
def test_below_zero_the_binary_bound_is_negative_and_fails(eps):
    found = published.binary(wmcc.Table.from_counts([[1, 3], [3, 1]]), eps)
    assert found.bound < 0 <= found.change
    assert found.valid is False
    assert not unmet(found)


def scaled(counts, weight):
    n = np.array(counts)
    return wmcc.Table.from_cells((0, 1), n, n * weight, n * weight**2, np.full((2, 2), weight), np.full((2, 2), weight))


def test_the_binary_bound_depends_on_the_unit_of_the_weights():
    metres, kilometres = published.binary(scaled(GOOD, 1.0), 0.1), published.binary(scaled(GOOD, 1e-6), 1e-7)
    assert metres.value == kilometres.value == 0.5
    assert metres.change == pytest.approx(kilometres.change)
    assert metres.valid is True
    assert metres.bound > 1e5
    assert kilometres.valid is False
    assert not unmet(kilometres)
    assert kilometres.bound < 1e-4 < 0.07 < kilometres.change


@given(st.tuples(*[st.integers(0, 9)] * 4), st.floats(1e-6, 1, exclude_max=True))
def test_for_counts_with_a_positive_mcc_the_binary_bound_holds(counts, share):
    """The corrected reading in docs/understand/errata.md: it does when (TP TN − FP FN) tr(S) ≥ 1/8."""
    tn, fp, fn, tp = counts
    assume(tp * tn - fp * fn >= 1)
    found = published.binary(wmcc.Table.from_counts([[tn, fp], [fn, tp]]), share * min(tp / 2, 1 / sum(counts)))
    assert found.valid or unmet(found)
    assert found.change < found.bound


@pytest.mark.parametrize("name", MULTICLASS)
def test_the_multiclass_bounds_fail(name):
    none = published.multiclass(wmcc.Table.from_counts(np.ones((3, 3), int)), name, 0.01)
    assert (none.value, none.bound, none.valid) == (0.0, 0.0, False)
    assert none.change >= 2 * 0.01 / (3 - 0.01) - 1e-12
    some = published.multiclass(wmcc.tabulate(*parcels()), wmcc.measures.MEASURES[name], 1e-4)
    assert some.measure == name
    assert some.valid is False
    assert some.change > 200 * some.bound
    assert not unmet(none)
    assert not unmet(some)
    half = published.multiclass(wmcc.tabulate(*parcels()), name, 5e-5)
    assert half.change == pytest.approx(some.change / 2, rel=1e-3)  # of the order of ε,
    assert half.bound == pytest.approx(some.bound / 4, rel=1e-3)  # not of ε²


@pytest.mark.parametrize(("low", "attained", "valid"), [(0.49, 0.495, True), (0.4, 0.495, None), (0.4, 0.45, False)])
def test_what_the_certificate_leaves_open_stays_open(monkeypatch, low, attained, valid):
    def certify(table, measure, eps, model):
        assert (measure, eps, model) == ("mcc", 1e-6, "absolute")
        ends = {"lower": SimpleNamespace(attained=attained), "upper": SimpleNamespace(attained=0.5)}
        return SimpleNamespace(value=0.5, low=low, high=0.5, problem=None, **ends)

    monkeypatch.setattr("wmcc.robustness.certify.certify", certify)
    found = published.binary(wmcc.Table.from_counts(GOOD), 1e-6)
    assert found.bound == pytest.approx(0.0155, rel=0.01)
    assert found.valid is valid
    assert found.change == 0.5 - attained
    assert ("Not known" in repr(found)) == (valid is None)


# ---- preconditions --------------------------------------------------------------------------------------


@printed_only
@pytest.mark.parametrize(
    ("counts", "eps", "sentence"),
    [
        (GOOD, 0.0, "ε > 0"),
        (GOOD, 0.125, "ε < 1/N = 0.125"),
        ([[9, 1], [1, 0]], 0.01, "m = 0 is positive"),
    ],
)
def test_binary_preconditions(counts, eps, sentence):
    found = published.binary(wmcc.Table.from_counts(counts), eps)
    assert sentence in unmet(found)
    assert found.valid is False
    assert "a precondition is not met" in repr(found)
    assert math.isnan(found.bound) == ("m = 0" in sentence)


@printed_only
def test_epsilon_beyond_half_the_smallest_sum():
    assert unmet(published.binary(scaled(GOOD, 0.01), 0.015)) == ["ε < m/2 = 0.015"]


def test_the_positive_class_is_the_last_unless_named():
    t, c = [0, 0, 0, 1, 1], [0, 0, 1, 1, 0]
    last, first = (published.binary(wmcc.tabulate(t, c, positive=positive), 0.01) for positive in (None, 0))
    assert last == published.binary(wmcc.tabulate(t, c, positive=1), 0.01)
    assert "m = 1 is positive" in dict(last.preconditions)
    assert "m = 2 is positive" in dict(first.preconditions)
    assert last.value == first.value
    assert last.bound > first.bound


@printed_only
def test_a_weight_of_zero_is_no_weight_of_the_paper():
    assert unmet(published.binary(wmcc.tabulate([1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 1, 1, 1, 0]), 0.01)) == [
        "every weight is positive"
    ]


@printed_only
@pytest.mark.parametrize(
    ("counts", "eps", "sentence"),
    [
        (GOOD, 0.01, "there are three classes or more"),
        (np.eye(3, dtype=int) + 1, 0.0, "ε > 0"),
        (np.eye(3, dtype=int) + 1, 1.0, "ε < 1 (proof of Lemma 4.4)"),
        (np.eye(3, dtype=int) + 1, 6.0, "ε < s/2 = 6"),
    ],
)
@pytest.mark.parametrize("name", MULTICLASS)
def test_multiclass_preconditions(name, counts, eps, sentence):
    found = published.multiclass(wmcc.Table.from_counts(counts), name, eps)
    assert sentence in unmet(found)
    assert found.valid is False
    assert math.isfinite(found.bound)


@printed_only
@pytest.mark.parametrize(
    ("name", "pypi"), [("ecc", 0.007366146426195404), ("mpc1", math.nan), ("mpc2", 3.1987225134483034e-05)]
)
def test_a_class_that_is_never_predicted(name, pypi):
    """MPC1's constant divides by zero; MPC2 sets the term to 0 (Remark 1), which its proof does not cover."""
    found = published.multiclass(wmcc.Table.from_counts([[4, 1, 0], [1, 4, 0], [1, 1, 0]]), name, 0.01)
    assert unmet(found) == ([] if name == "ecc" else ["[R_tt]_kk [R_cc]_kk > 0 for every class"])
    assert found.bound == pytest.approx(pypi, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("counts", [[[3, 0], [2, 0]], [[3]]])
@pytest.mark.parametrize("name", ["mcc", *MULTICLASS])
def test_an_undefined_measure_has_no_bound(name, counts):
    table = wmcc.Table.from_counts(counts)
    found = published.binary(table, 0.01) if name == "mcc" else published.multiclass(table, name, 0.01)
    assert math.isnan(found.bound) or (name, found.bound) == ("mpc2", 0.0)
    assert math.isnan(found.change)
    assert found.valid is False
    assert "a precondition is not met" in repr(found)


@printed_only
@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_weights_of_any_size(unit):
    found = published.binary(scaled(GOOD, 1.0), 0.1)
    t, c = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 0]
    table = wmcc.tabulate(t, c, [unit] * 8)
    assert published.binary(table, 0.1).bound == (math.inf if unit > 1 else pytest.approx(0.5 * 1820.4444 * 0.1))
    assert math.isfinite(found.bound)
    for name in MULTICLASS:
        assert published.multiclass(table, name, 0.1).bound >= 0


# ---- bad input ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eps", [-0.1, math.nan, math.inf, "0.1", None, True, [0.1], 10**400, np.float64("nan"), 1j])
def test_a_bad_eps_gets_a_sentence(eps):
    for call in (
        lambda: published.binary(wmcc.Table.from_counts(GOOD), eps),
        lambda: published.multiclass(wmcc.Table.from_counts(GOOD), "ecc", eps),
    ):
        with pytest.raises(InputError, match=r"`eps` is .*; expected a (finite )?number"):
            call()


@printed_only
@pytest.mark.parametrize("eps", [0, 1, np.float32(0.5), np.int64(1)])
def test_numbers_of_any_type(eps):
    assert published.binary(wmcc.Table.from_counts(GOOD), eps).eps == float(eps)


def test_more_than_two_classes_get_a_sentence():
    with pytest.raises(InputError, match=r"two classes; this table has 3.[\s\S]*published.multiclass"):
        published.binary(wmcc.Table.from_counts(np.eye(3, dtype=int)), 0.1)


@pytest.mark.parametrize("measure", ["mcc", "kappa", wmcc.mcc, None, ["ecc"]])
def test_another_measure_gets_a_sentence(measure):
    with pytest.raises(InputError, match=r"about 'ecc', 'mpc1' and 'mpc2'[\s\S]*published.binary"):
        published.multiclass(wmcc.Table.from_counts(GOOD), measure, 0.1)


def test_what_is_no_table_gets_a_sentence():
    with pytest.raises(InputTypeError, match="expected a Table"):
        published.binary([[3, 1], [1, 3]], 0.1)
    with pytest.raises(InputError, match="no observations"):
        published.binary(wmcc.Table.empty([0, 1]), 0.1)

"""Ranges with known sums, and of missing labels: no weights with these sums, and no answers, lie outside of them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from adversary import attack
from helpers import few
from hunt import NASTY, draw
from hunt_totals import HeldAttack, HeldLimits
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.core.labels import MISSING
from wmcc.errors import InputError, InputTypeError
from wmcc.measures import MEASURES
from wmcc.measures.stacks import MANY
from wmcc.robustness.transfers import _adjusted, _shared

NAMES = [name for name in MEASURES if name != "mcc"]
TABLE = wmcc.Table.from_counts([[50, 3, 2], [4, 40, 1], [0, 2, 30]])


def held(weights, low, high, total):
    """Weights between ends, moved by what is the same part of the way to an end until they have this sum."""
    rest = total - weights.sum(-1, keepdims=True)
    room = np.where(rest > 0, high - weights, weights - low)
    return weights + np.sign(rest) * room * np.clip(
        np.abs(rest) / np.maximum(room.sum(-1, keepdims=True), 1e-300), 0, 1
    )


def values(name, cells):
    """A measure of many tables, by float64."""
    from wmcc.measures.base import Shares

    return MEASURES[name].near(Shares.of_cells(cells))


def adversary(name, table, eps, side, seed=0, tries=400, steps=60, groups=None):
    """The most extreme value that random and local search find, over weights whose totals stay as they are.

    ``groups`` are tables that add up to the table, whose own totals are held; None is one of all.
    """
    rng = np.random.default_rng(seed)
    parts = [table.w] if groups is None else groups
    low, high = ([x * (1 + s * eps) for x in parts] for s in (-1, 1))
    shape = (tries, *table.w.shape)

    def drawn(some):
        return [held(x.reshape(tries, -1), a.reshape(-1), b.reshape(-1), w.sum()).reshape(shape)
                for x, a, b, w in zip(some, low, high, parts, strict=True)]  # fmt: skip

    starts = [a + (b - a) * rng.choice([0.0, 1.0, rng.random()], shape) for a, b in zip(low, high, strict=True)]
    best = drawn(starts)
    found = side * values(name, sum(best))
    for step in range(steps):
        size = 0.5 ** (step / 10)
        moved = [
            np.clip(x + size * (b - a) * rng.normal(size=shape) * (rng.random(shape) < 0.4), a, b)
            for x, a, b in zip(best, low, high, strict=True)
        ]
        moved = drawn(moved)
        new = side * values(name, sum(moved))
        better = new > found
        best = [np.where(better[:, None, None], m, x) for m, x in zip(moved, best, strict=True)]
        found = np.where(better, new, found)
    return side * found.max()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("eps", [0.02, 0.2, 0.6])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_no_weights_of_the_same_total_lie_outside(name, eps, classes):
    rng = np.random.default_rng(classes)
    counts = rng.integers(0, 9, (classes, classes)) + np.diag(rng.integers(10, 60, classes))
    table = wmcc.Table.from_counts(counts)
    free, found = wmcc.certify(table, name, eps=eps), wmcc.certify(table, name, eps=eps, fixed="total")
    assert free.low - 1e-12 <= found.low <= found.value <= found.high <= free.high + 1e-12
    low, high = (adversary(name, table, eps, side) for side in (-1, 1))
    assert found.low <= low + 1e-12
    assert high - 1e-12 <= found.high
    if classes < 4:  # the ends are reached, and the search comes near
        assert found.lower.gap < 1e-9
        assert found.upper.gap < 1e-9
        assert low - found.low < 0.1 * (found.high - found.low)
        assert found.high - high < 0.1 * (found.high - found.low)


def exact_sums(end):
    return [Fraction(c) * Fraction(2) ** end.box.exponent for c in end.held]


@pytest.mark.parametrize("name", NAMES)
def test_witnesses_have_the_total_to_the_last_bit(name):
    rng = np.random.default_rng(3)
    table = wmcc.tabulate(rng.integers(0, 3, 99), rng.integers(0, 3, 99), rng.lognormal(size=99))
    found = wmcc.certify(table, name, eps=0.3, fixed="total")
    total = Fraction(table._weights and sum(table._weights)) * Fraction(2) ** table.cells.sums.w_exact.exponent
    for end in (found.lower, found.upper):
        sums = exact_sums(end)
        assert sum(sums) == total
        given_sums = [Fraction(x) for x in table.cells.sums.w_exact.floats().tolist()]
        eps = Fraction(0.3)
        for c, w in zip(sums, given_sums, strict=True):
            assert (1 - eps) * w * (1 - Fraction(1, 2**50)) <= c <= (1 + eps) * w * (1 + Fraction(1, 2**50))
        assert values(name, end.cells) == pytest.approx(end.attained, abs=1e-12)


@pytest.mark.parametrize("kind", NASTY)
@pytest.mark.parametrize("seed", range(2))
def test_tables_of_every_kind_of_trouble(kind, seed):
    case = draw(np.random.default_rng(seed), kind, most=4)
    for name in ("accuracy", "ecc", "mpc2"):
        try:
            found = case.certify(name, nodes=20, fixed="total")
        except InputError:
            assert case.model == "absolute"
            continue
        if found.problem is not None:
            continue
        verdict = attack(HeldLimits.of(case.limits, case.w.tolist()), name, seed=seed, kind=HeldAttack)
        assert verdict.beyond(found.low, found.high) <= 0
        for end in (found.lower, found.upper):
            assert sum(exact_sums(end)) == sum(map(Fraction, case.w.tolist()))
            assert found.low <= end.attained <= found.high


def test_an_accuracy_is_known_in_closed_form():
    found = wmcc.certify(TABLE, "accuracy", eps=0.2, fixed="total")  # 120 right, 12 wrong of 132
    assert found.exact
    assert found.low == pytest.approx((120 - 2.4) / 132, abs=1e-15)
    assert found.high == pytest.approx((120 + 2.4) / 132, abs=1e-15)


def test_an_accuracy_is_defined_while_the_total_is_held():
    table = wmcc.tabulate([0, 0, 1, 1, 2, 2] * 4, [0, 1, 1, 1, 2, 0] * 4)
    found = wmcc.certify(table, "accuracy", eps=1.0, model="absolute", fixed="total")  # 16 right, 8 wrong, up to twice
    assert (found.exact, found.low, found.high) == (True, pytest.approx(1 / 3, abs=1e-15), 1.0)
    assert all(condition.met for condition in found.conditions)


CHANGING = [
    ([1, 1, 3, 1, 0, 1, 2, 3, 2, 3, 0, 3], [1, 2, 2, 1, 3, 3, 3, 3, 1, 3, 3, 3], None, 2.0),
    ([0, 0, 1, 1, 2, 0, 1], [0, 0, 1, 1, 1, 1, 0], [3, 3, 3, 3, 0, 3, 3], 1.0),
    ([0, 2, 0, 1, 2, 2, 0, 1], [1, 2, 0, 1, 2, 2, 0, 1], None, 2.0),
]
"""Rows of which a class may lose all its weight, or get the first, while the total is held."""


@pytest.mark.parametrize(("truth", "pred", "w", "eps"), CHANGING)
@pytest.mark.parametrize("name", ["mean_recall", "mean_f1", "mean_iou", "mpc2"])
def test_a_mean_over_classes_that_may_change_has_no_range(truth, pred, w, eps, name):
    table = wmcc.tabulate(truth, pred, w)
    free = wmcc.certify(table, name, eps=eps, model="absolute")
    held = wmcc.certify(table, name, eps=eps, model="absolute", fixed="total")
    assert free.problem is not None
    assert held.problem == free.problem
    n = len(truth)
    lower, upper = (wmcc.tabulate(truth, pred, [x] * (n - 1) + [y]) for x, y in ((0.0, 1.0), (9.0, 9.0)))
    assert wmcc.certify(table, name, lower=lower, upper=upper, fixed="total").problem is not None


def test_weights_of_rows_reach_an_end():
    rng = np.random.default_rng(1)
    truth, pred, w = rng.integers(0, 2, 60), rng.integers(0, 2, 60), rng.uniform(1, 3, 60)
    found = wmcc.certify(wmcc.tabulate(truth, pred, w), "mcc", eps=0.25, fixed="total")
    for end, one in (("low", found.lower), ("high", found.upper)):
        weights = found.weights(end, truth, pred, w)
        assert (np.abs(weights - w) <= 0.25 * w * (1 + 1e-15)).all()
        assert weights.sum() == pytest.approx(w.sum(), rel=1e-14)
        assert wmcc.mcc(truth, pred, sample_weight=weights) == pytest.approx(one.attained, abs=1e-13)


@pytest.mark.parametrize("how", ["absolute", "bounds"])
def test_other_models_hold_the_total_too(how):
    rng = np.random.default_rng(2)
    truth, pred, w = rng.integers(0, 3, 90), rng.integers(0, 3, 90), rng.uniform(2, 3, 90)
    table, less, more = (wmcc.tabulate(truth, pred, x) for x in (w, w - 0.5, w + 0.5))
    options = {"eps": 0.5, "model": "absolute"} if how == "absolute" else {"lower": less, "upper": more}
    found = wmcc.certify(table, "ecc", fixed="total", **options)
    assert found.low > wmcc.certify(table, "ecc", **options).low
    x = w + rng.uniform(-0.5, 0.5, (500, 90))
    x = held(x, w - 0.5, w + 0.5, w.sum())
    scores = [wmcc.ecc(truth, pred, sample_weight=one) for one in x]
    assert found.low <= min(scores) <= max(scores) <= found.high
    mixed = wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], [1.0, 2.0, 3.0, 9.0])
    with pytest.raises(InputError, match="smallest sum of each cell"):
        wmcc.certify(mixed, eps=5.0, model="absolute", fixed="total")


# ---- post-strata -------------------------------------------------------------------------------------------


def by_age(seed=0, n=200):
    rng = np.random.default_rng(seed)
    truth, age = rng.integers(0, 3, n), rng.integers(0, 3, n)
    pred = np.where(rng.random(n) < 0.5 + 0.2 * age, truth, rng.integers(0, 3, n))
    return truth, pred, age, {0: 300, 1: 500, 2: 200}


@pytest.mark.parametrize("name", NAMES)
def test_no_weights_with_the_totals_of_post_strata_lie_outside(name):
    truth, pred, age, totals = by_age()
    table = wmcc.tabulate(truth, pred, design=wmcc.PostStrata(age, totals))
    free, of_all, found = (
        wmcc.certify(table, name, eps=0.3, fixed=x, nodes=400) for x in (None, "total", "poststrata")
    )
    assert free.low - 1e-9 <= of_all.low <= found.low + 1e-9
    assert found.high - 1e-9 <= of_all.high <= free.high + 1e-9
    parts = [wmcc.tabulate(truth[age == k], pred[age == k], labels=[0, 1, 2]) for k in totals]
    groups = [x.w * totals[k] / x.total for k, x in zip(totals, parts, strict=True)]
    low, high = (adversary(name, table, 0.3, side, groups=groups, tries=200) for side in (-1, 1))
    assert found.low <= low + 1e-9
    assert high - 1e-9 <= found.high
    group = found.lower.box, [int(c) for c in found.lower.held]
    assert sum(group[1]) * 2.0 ** group[0].exponent == pytest.approx(1000, rel=1e-12)


def test_fixed_sums_need_what_they_are_of():
    truth, pred, age, totals = by_age()
    table = wmcc.tabulate(truth, pred, design=wmcc.PostStrata(age, totals))
    with pytest.raises(InputError, match=r"has none[\s\S]*PostStrata"):
        wmcc.certify(TABLE, fixed="poststrata")
    with pytest.raises(InputTypeError, match="off by a share"):
        wmcc.certify(table, eps=0.1, model="absolute", fixed="poststrata")
    with pytest.raises(InputError, match="'total', 'poststrata' or None"):
        wmcc.certify(table, fixed="margins")
    found = wmcc.certify(table, fixed="poststrata")
    with pytest.raises(InputError, match="no weights for single rows"):
        found.weights("low", truth, pred)
    assert "totals of post-strata fixed" in str(found)
    curve = wmcc.certify(TABLE, eps=[0.1, 0.2], fixed="total")
    assert [c.fixed for c in curve] == ["total", "total"]
    assert curve[0].to_dict()["fixed"] == "total"


# ---- missing labels ----------------------------------------------------------------------------------------


def all_answers(truth, pred, w, classes, name):
    """Smallest and largest score over everything that missing labels could be: one by one."""
    places = [(side, k) for side, labels in enumerate((truth, pred)) for k, x in enumerate(labels) if x is None]
    scores = []
    for answer in itertools.product(classes, repeat=len(places)):
        filled = [list(truth), list(pred)]
        for (side, k), x in zip(places, answer, strict=True):
            filled[side][k] = x
        scores.append(MEASURES[name](*filled, sample_weight=w))
    return min(scores), max(scores)


@st.composite
def samples(draw):
    classes = draw(st.integers(2, 3))
    n = draw(st.integers(classes * 2, 14))
    label = st.integers(0, classes - 1)
    known = list(range(classes)) * 2
    truth = known[:n] + draw(st.lists(label, min_size=max(0, n - len(known)), max_size=max(0, n - len(known))))
    pred = draw(st.lists(label, min_size=n, max_size=n))
    pred[:classes] = range(classes)  # each class occurs with both labels
    w = [1.0] * n if draw(st.booleans()) else draw(st.lists(st.integers(1, 5).map(float), min_size=n, max_size=n))
    for k in range(classes, min(n, classes + draw(st.integers(1, 4)))):
        side = draw(st.sampled_from(["truth", "pred", "both"]) if k == classes else st.sampled_from(["truth", "pred"]))
        if side != "pred":
            truth[k] = None
        if side != "truth":
            pred[k] = None
    return truth, pred, w, classes


@few(40)
@given(samples(), st.sampled_from(NAMES))
def test_no_answers_lie_outside(rows, name):
    truth, pred, w, classes = rows
    low, high = all_answers(truth, pred, w, range(classes), name)
    found = wmcc.certify(wmcc.tabulate(truth, pred, w, missing="keep"), name, model="missing", nodes=60)
    assert found.problem is None
    assert found.low <= low + 1e-15
    assert high - 1e-15 <= found.high
    for end, reached in ((found.lower, low), (found.upper, high)):
        assert low - 1e-12 <= end.attained <= high + 1e-12  # some answers give it
        if end.exact:
            assert end.attained == pytest.approx(reached, abs=1e-12)


def test_the_ends_of_an_accuracy_are_all_wrong_and_all_right():
    truth, pred = [0, 1, 2, 0, 1, 2, None, None, 1, None], [0, 1, 2, 1, 1, 2, 0, 1, None, None]
    table = wmcc.tabulate(truth, pred, range(1, 11), missing="keep")
    found = wmcc.certify(table, "accuracy", model="missing")
    assert found.exact
    right = 1 + 2 + 3 + 5 + 6
    assert (found.low, found.high) == (
        pytest.approx(right / 55, abs=1e-15), pytest.approx((right + 7 + 8 + 9 + 10) / 55, abs=1e-15)
    )  # fmt: skip
    assert found.value == right / 21
    assert found.n == 10
    assert str(found).startswith("Accuracy, whatever the missing labels are")


@pytest.mark.parametrize("name", NAMES)
def test_many_missing_labels_take_moments(name):
    rng = np.random.default_rng(6)
    n = 3000
    truth = rng.integers(0, 4, n).astype(object)
    pred = np.where(rng.random(n) < 0.8, truth, rng.integers(0, 4, n))
    blank = rng.random(n)
    truth[blank < 0.03], pred[blank > 0.98] = None, None
    w = rng.uniform(1, 2, n)
    found = wmcc.certify(wmcc.tabulate(truth, pred, w, missing="keep"), name, model="missing")
    assert found.low < found.value < found.high
    assert max(found.lower.gap, found.upper.gap) < 0.2 * (found.high - found.low)
    for seed in range(20):
        draw = np.random.default_rng(seed)
        filled = [np.array([draw.integers(0, 4) if x is None else x for x in labels]) for labels in (truth, pred)]
        assert found.low <= MEASURES[name](*filled, sample_weight=w) <= found.high


def test_what_cannot_be_said_of_missing_labels_is_said():
    with pytest.raises(InputError, match="keeps no missing labels"):
        wmcc.certify(TABLE, model="missing")
    kept = wmcc.tabulate([0, 1, None, 0], [0, 1, 1, 0], missing="keep", labels=[0, 1, 2])
    with pytest.raises(InputTypeError, match="`eps` is of weights"):
        wmcc.certify(kept, model="missing", eps=0.1)
    found = wmcc.certify(kept, "mean_iou", model="missing")
    assert "a missing label could be; then Mean IoU" in found.problem
    assert np.isnan(found.low)
    assert wmcc.certify(kept, "ecc", model="missing").problem is None
    with pytest.raises(InputError, match="no weights for single rows where labels are missing"):
        wmcc.certify(kept, "ecc", model="missing").weights("low", [0], [0])
    with pytest.raises(
        InputError, match=f"keeps rows without a label, as {MISSING!r}".replace("(", r"\(").replace(")", r"\)")
    ):
        wmcc.certify(kept, "ecc", eps=0.1)


# ---- the parts ---------------------------------------------------------------------------------------------


@given(st.data())
def test_sums_are_shared_out_to_the_last_unit(data):
    parts = data.draw(st.integers(1, 9))
    one = data.draw(st.integers(1, MANY))
    total, size = parts * one, data.draw(st.integers(1, 5))
    own = data.draw(st.lists(st.integers(0, total), min_size=size, max_size=size))
    shares = _shared(list(own), total, parts)
    assert sum(shares) == total
    assert all(x >= 0 and x % one == 0 for x in shares)
    ends = [(min(a, b), max(a, b)) for a, b in zip(own, reversed(own), strict=True)]
    least, most = (sum(end[k] for end in ends) for k in (0, 1))
    between = data.draw(st.integers(least, most))
    moved = _adjusted([a for a, _ in ends], ends, between)
    assert sum(moved) == between
    assert all(a <= x <= b for x, (a, b) in zip(moved, ends, strict=True))

"""Certificates: no weighting within limits leaves the range, exact ends are reached, witnesses are what they say."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from html import escape

import numpy as np
import pandas as pd
import polars as pl
import pytest
from adversary import Attack, Limits, attack, limits
from helpers import any_weight, few, joint_table, ordinary, rows
from hunt import NASTY, Case, draw
from hypothesis import assume, given
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, WmccError
from wmcc.measures import CLASS_MEASURES
from wmcc.robustness.box import Box
from wmcc.robustness.cells import BoxedCells
from wmcc.robustness.certificate import definition
from wmcc.robustness.rows import amount_limits, share_limits

MANY = [name for name in wmcc.measures.MEASURES if name != "mcc"]
OF_TERMS = [name for name, measure in wmcc.measures.MEASURES.items() if measure.has_terms is not None]
TABLE = wmcc.Table.from_counts([[50, 3, 2], [4, 40, 1], [0, 2, 30]])
T = [0] * 55 + [1] * 45 + [2] * 32
P = [0] * 50 + [1] * 3 + [2] * 2 + [0] * 4 + [1] * 40 + [2] + [1] * 2 + [2] * 30
UNIT = [1.0] * len(T)

seeds = st.integers(0, 2**32 - 1)
models = st.sampled_from(["relative", "absolute"])


def certified(case: Case, name: str, **options):
    """Certificate of a case; cases at which the measure is undefined are passed over."""
    found = case.certify(name, **options)
    assume(found.problem is None)
    return found


def inside(certificate, found) -> None:
    assert found.beyond(certificate.low, certificate.high) <= 0, (
        f"{certificate!r} holds {certificate.low!r} … {certificate.high!r}; found {found.low:.20}, {found.high:.20}"
    )


def check_witnesses(certificate, region: Limits, name: str) -> None:
    """The witnesses are within the limits, have the attained value, and are the end where it is exact."""
    for side, end in ((-1, certificate.lower), (1, certificate.upper)):
        cells, exponent = end.box.cells(end.at.tolist())
        K = len(region.low)
        exact = [[Fraction(0)] * K for _ in range(K)]
        for t, p, c in zip(*end.codes.tolist(), cells, strict=True):
            exact[t][p] = Fraction(c) * Fraction(2) ** exponent
        assert region.contain(exact)
        value = Limits(exact, exact, region.classes).exact(name, np.zeros((K, K)))
        ulp = Decimal(float(np.spacing(abs(end.attained))))
        assert abs(Decimal(end.attained) - value) <= ulp
        assert side * Decimal(end.bound) >= side * value
        if end.exact:
            assert abs(Decimal(end.bound) - value) <= 2 * ulp
            assert end.gap == 0


# ---- the adversary -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [None, *NASTY])
@given(seeds, st.data())
@few(3)
def test_no_weighting_leaves_the_range(kind, seed, data):
    case = draw(np.random.default_rng(seed), kind, most=5)
    name = data.draw(st.sampled_from(MANY))
    certificate = certified(case, name, nodes=data.draw(st.sampled_from([1, 20])))
    region = case.limits
    inside(certificate, attack(region, name))
    assert certificate.low <= certificate.value <= certificate.high
    check_witnesses(certificate, region, name)


@given(rows(classes=3, most=10), models, st.floats(0, 3), st.sampled_from(MANY))
@few(15)
def test_no_corner_leaves_the_range(data, model, eps, name):
    case = Case(3, *data.arrays, model, min(eps, 0.9) if model == "relative" else eps)
    certificate = certified(case, name, nodes=10)
    region, count = case.limits, 0
    for side, end in ((-1, certificate.low), (1, certificate.high)):
        adversary = Attack(region, name, side)
        adversary.corners(1)
        for position in adversary.best:
            assert side * region.exact(name, position.reshape(3, 3)) <= side * Decimal(end)
        count += adversary.weightings
    assert count == 2 * 2 ** adversary.free.sum()


DELICATE = {
    "kappa is lowest between corners": ([0, 1], [1, 0], [1.6, 1.0], "kappa", 0.5, "relative"),
    "kappa is highest between corners": ([0, 0, 3, 3, 1], [0, 3, 0, 3, 2], [1, 1, 1, 1, 4.0], "kappa", 0.7, "relative"),
    "a class that may vanish is never predicted": (
        [0, 0, 1, 1, 2],
        [0, 1, 1, 0, 0],
        [10, 2, 8, 1, 0.5],
        "balanced_accuracy",
        0.5,
        "absolute",
    ),
    "no weight at all": ([0, 1, 2], [0, 1, 2], [1.0, 2.0, 1.0], "accuracy", 3.0, "absolute"),
    "no class need be right or wrong": ([0, 1, 1, 2, 2], [0, 1, 2, 2, 0], [1.0, 2, 3, 1, 1], "mpc1", 5.0, "absolute"),
    "no class in both": ([0, 1, 4, 4], [2, 3, 4, 0], [10.0, 10.0, 1.0, 1.0], "mpc1", 1.0, "absolute"),
    "a class of no size": ([0, 0, 1, 1, 2], [0, 2, 1, 2, 0], [1.0, 2, 3, 4, 1e-310], "mpc1", 0.3, "relative"),
}


@pytest.mark.parametrize("nodes", [1, 100])
@pytest.mark.parametrize("known", DELICATE)
def test_ranges_where_proofs_are_delicate(known, nodes):
    t, p, w, name, eps, model = DELICATE[known]
    case = Case(1 + max(*t, *p), np.array(t), np.array(p), np.array(w), model, eps)
    certificate = case.certify(name, nodes=nodes)
    inside(certificate, attack(case.limits, name))
    assert certificate.low <= certificate.value <= certificate.high


@pytest.mark.parametrize("eps", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("name", MANY)
def test_the_adversary_sees_a_billionth(name, eps):
    certificate = wmcc.certify(TABLE, name, eps=eps, nodes=60)
    found = attack(limits(T, P, UNIT, 3, "relative", eps), name)
    inside(certificate, found)
    if certificate.lower.exact:
        assert found.beyond(certificate.low + 1e-9, 1.0) > 0
    if certificate.upper.exact:
        assert found.beyond(-1.0, certificate.high - 1e-9) > 0
    if eps < 0.5:
        assert certificate.exact


@given(rows(classes=2, least_classes=2), models, st.sampled_from(["mcc", "ecc", "mpc1", "mpc2"]), st.floats(0, 20))
@few(50)
def test_two_classes_are_exact(data, model, name, eps):
    eps = min(eps, 0.999999) if model == "relative" else eps
    case = Case(2, *data.arrays, model, eps)
    certificate = certified(case, name)
    region = case.limits
    for side, end in ((-1, certificate.lower), (1, certificate.upper)):
        best = np.eye(2) if side > 0 else 1 - np.eye(2)
        true = region.exact(name, best)
        assert side * Decimal(end.bound) >= side * true
        if end.exact:
            assert abs(Decimal(end.bound) - true) <= 2 * Decimal(float(np.spacing(abs(float(true)))))
    if certificate.conditions and not certificate.conditions[0].met:
        return
    assert certificate.exact
    check_witnesses(certificate, region, name)


# ---- witnesses -----------------------------------------------------------------------------------------


wide = st.sampled_from(
    [
        "twelve orders",
        "three hundred orders",
        "all of float64",
        "weights of zero",
        "a thin class",
        "fewer rows than classes",
    ]
)


@given(seeds, st.one_of(st.none(), wide), st.sampled_from(MANY))
@few(40)
def test_weights_of_the_witnesses(seed, kind, name):
    """They are within their limits, to the last bit, and have the value that is attained."""
    case = draw(np.random.default_rng(seed), kind, most=4)
    certificate = certified(case, name, nodes=20)
    for which, end in (("low", certificate.lower), ("high", certificate.upper)) if not certificate.problem else ():
        weights = certificate.weights(which, case.t, case.p, case.w, lower=case.lower, upper=case.upper)
        for i, (found, w) in enumerate(zip(map(Fraction, weights), map(Fraction, case.w), strict=True)):
            step = Fraction(case.eps) * (w if case.model == "relative" else 1)
            bounds = (case.lower[i], case.upper[i]) if case.model == "bounds" else (max(w - step, 0), w + step)
            assert bounds[0] <= found <= bounds[1]
        if weights.any():
            assert wmcc.measures.MEASURES[name](case.table(weights)) == pytest.approx(end.attained, abs=1e-13)


@given(any_weight, models, st.floats(0, 1, exclude_max=True), st.integers(-1074, 1000))
def test_limits_of_weights_of_any_size(w, model, eps, power):
    """The limits that are used are on the inner side of the limits that are meant, and next to them."""
    eps = eps if model == "relative" else math.ldexp(eps, power)
    least, most = share_limits(np.array([w]), eps) if model == "relative" else amount_limits(np.array([w]), eps, eps)
    step = Fraction(eps) * (Fraction(w) if model == "relative" else 1)
    low, high = max(Fraction(w) - step, Fraction(0)), Fraction(w) + step
    assert low <= Fraction(least[0]) <= Fraction(w) <= Fraction(most[0]) <= high
    assert least[0] == 0 or Fraction(np.nextafter(least[0], 0)) <= low
    assert most[0] == np.finfo(float).max or Fraction(np.nextafter(most[0], np.inf)) >= high


@given(st.lists(st.tuples(any_weight, any_weight, st.floats(0, 1)), min_size=4, max_size=4))
def test_a_position_is_meant_exactly(cells):
    """A cell that may be 0 can matter at any small part of its largest sum: a position is not rounded."""
    low, high, at = ([min(a, b) for a, b, _ in cells], [max(a, b) for a, b, _ in cells], [t for _, _, t in cells])
    lower, upper = (wmcc.tabulate([0, 0, 1, 1], [0, 1, 0, 1], x).cells.sums.w_exact for x in (low, high))
    found, exponent = Box.between(lower, upper).cells(at)
    for c, a, b, t in zip(found, low, high, at, strict=True):
        assert c * Fraction(2) ** exponent == Fraction(a) + Fraction(t) * (Fraction(b) - Fraction(a))


@pytest.mark.parametrize("size", [1e19, 1e25])
def test_an_extreme_is_attained_at_any_small_part_of_a_weight(size):
    t, p, w, lower = [0, 1, 2], [1, 0, 2], [size, 1.0, 1.0], [0.0, 1.0, 1.0]
    table = wmcc.tabulate(t, p, w)
    certificate = wmcc.certify(table, "kappa", lower=wmcc.tabulate(t, p, lower), upper=table, nodes=400)
    worst = certificate.weights("low", t, p, w, lower=lower, upper=w)
    assert certificate.lower.attained == pytest.approx(
        wmcc.measures.kappa(t, p, sample_weight=[1 + 6**0.5, 1, 1]), abs=1e-6
    )
    assert wmcc.measures.kappa(t, p, sample_weight=worst) == pytest.approx(certificate.lower.attained, abs=1e-15)


def test_weights_of_bounds_and_unknown_rows():
    t, p, w = [0, 0, 1, 1, 9], [0, 1, 1, 0, 9], [5.0, 2.0, 4.0, 1.0, 7.0]
    lower, upper = [4.0, 2.0, 3.0, 0.0, 7.0], [5.0, 3.0, 4.0, 2.0, 7.0]
    least, table, most = (wmcc.tabulate(t, p, x, ignore=[9]) for x in (lower, w, upper))
    certificate = wmcc.certify(table, "mcc", lower=least, upper=most)
    assert certificate.model == "bounds"
    assert np.isnan(certificate.eps)
    worst = certificate.weights("low", t, p, w, lower=lower, upper=upper)
    assert worst.tolist() == [4.0, 3.0, 3.0, 2.0, 7.0]
    assert wmcc.mcc(wmcc.tabulate(t, p, worst, ignore=[9])) == certificate.lower.attained
    with pytest.raises(InputError, match="`end` is 'worst'; expected 'low' or 'high'"):
        certificate.weights("worst", t, p, w)


def noisy(count=200, classes=3, seed=0):
    r = np.random.default_rng(seed)
    y = r.choice(classes, count)
    return y, np.where(r.random(count) < 0.3, r.choice(classes, count), y), r.lognormal(0, 1, count)


def test_rows_that_were_not_certified_are_refused():
    y, p, w = noisy()
    certificate = wmcc.certify(wmcc.tabulate(y, p, w), "ecc", eps=0.2)

    def refused(*rows):
        with pytest.raises(InputError) as problem:
            certificate.weights("low", *rows)
        return problem.value

    n, weight = int(((y == 0) & (p == 0)).sum()), w[(y == 0) & (p == 0)].sum()
    alone = refused(y, p)
    assert f"true 0, predicted 0 has {n} rows of weight {weight:.6} there, and {n} of weight {n} in" in alone.message
    assert (alone.argument, alone.hint) == ("sample_weight", "give sample_weight= as it was for the table.")
    assert refused(y[::2], p[::2], w[::2]).hint == "give all rows that were tabulated, and no others."
    assert refused([*y, 0], [*p, 2], [*w, 0.0]).hint == "give all rows that were tabulated, and no others."
    assert refused(p, y, w).hint == "y_true and y_pred seem to be exchanged."
    assert refused(y, p, w[::-1]).hint == alone.hint
    nearly = refused(y, p, np.where(np.arange(200) == 7, w * (1 + 1e-9), w))
    assert len({*re.findall(r"of weight ([\d.]+)", nearly.message)}) == 2
    assert "200 rows (0 is the first) have a label that is no class" in refused(y + 3, p, w).message
    assert "1 row (200 is the first) has a label that is no class" in refused([*y, 9], [*p, 9], [*w, 1.0]).message
    certificate.weights("low", y, p, w)


def test_bounds_that_were_not_certified_are_refused():
    y, p, w = noisy()
    lower, upper = 0.9 * w, 1.3 * w
    least, table, most = (wmcc.tabulate(y, p, x) for x in (lower, w, upper))
    both = wmcc.certify(table, "ecc", lower=least, upper=most)
    worst = both.weights("low", y, p, w, lower=lower, upper=upper)
    assert wmcc.ecc(y, p, sample_weight=worst) == pytest.approx(both.lower.attained)
    for bounds, name in (({}, "lower"), ({"lower": lower}, "upper"), ({"lower": upper, "upper": lower}, "lower")):
        with pytest.raises(InputError, match="do not make the table") as problem:
            both.weights("low", y, p, w, **bounds)
        assert (problem.value.argument, problem.value.hint) == (name, f"give {name}= as it was for the table.")
    with pytest.raises(InputError, match=r"^upper: sample_weight must have the shape"):
        both.weights("low", y, p, w, lower=lower, upper=upper[1:])
    one = wmcc.certify(table, "ecc", upper=most)
    assert (one.weights("low", y, p, w, upper=upper) >= w).all()


def test_rows_make_the_certified_table_whatever_it_was_made_of():
    """Labels in any order, rows left out, groups, clusters, zeros of both signs, other containers and types."""
    y, p, w = noisy(300, 4)
    w[:20], w[20:30] = 0.0, -0.0
    keys = np.arange(300) % 7

    def reached(table, *rows, eps=0.2, model="relative", **options):
        certificate = wmcc.certify(table, "ecc", eps=eps, model=model)
        worst = certificate.weights("low", *rows)
        assert wmcc.ecc(wmcc.tabulate(rows[0], rows[1], worst, **options)) == pytest.approx(certificate.lower.attained)

    reached(wmcc.tabulate(y, p, w, labels=[3, 1, 0, 2]), y, p, w)
    reached(wmcc.tabulate(y, p, w, labels=[3, 1, 0, 2, 8]), y, p, w)
    reached(wmcc.tabulate(y, p, w, ignore=[1, 9]), y, p, w, ignore=[1, 9])
    reached(wmcc.tabulate(y, p, w, cluster=keys), y, p, w)
    reached(wmcc.tabulate(y, p, w, design=wmcc.Strata(keys)), y, p, w)
    tables = wmcc.tabulate(y, p, w, by=keys % 2)
    reached(tables[0], *(x[keys % 2 == 0] for x in (y, p, w)))
    reached(tables.total(), y, p, w)
    reached(wmcc.tabulate(y, {"a": p, "b": y}, w)["a"], y, p, w)
    reached(wmcc.tabulate(y, p), y, p)
    names = np.array(["elm", "oak", "ash", "fir"])
    reached(wmcc.tabulate(names[y], names[p], w), pd.Series(names[y]), list(names[p]), pl.Series(w))
    lost = [None if i % 9 == 0 else x for i, x in enumerate(names[p].tolist())]
    reached(wmcc.tabulate(names[y], lost, w, missing="ignore"), names[y], lost, w, missing="ignore")
    reached(wmcc.tabulate(y, p, w.astype(np.float32)), y, p, w.astype(np.float32))
    rows = pl.DataFrame({"y": y, "p": p, "w": w}).lazy()
    reached(wmcc.tabulate(rows, true="y", pred="p", weight="w"), y, p, w)  # sums are the engine's
    images, across = (x.reshape(3, 10, 10) for x in (y, p)), w[30:40, None]
    t, c = images
    reached(wmcc.tabulate(t, c, across), t, c, across)
    huge = np.where(np.arange(300) % 2, 1.5e308, w)
    certificate = wmcc.certify(wmcc.tabulate(y, p, huge), "ecc", eps=0.1)
    assert (certificate.weights("low", y, p, huge) <= np.finfo(float).max).all()


def test_rows_of_a_design_have_its_weights():
    y, p, _ = noisy()
    stratum, sizes = p, {0: 1000.0, 1: 70.0, 2: 333.0}
    table = wmcc.tabulate(y, p, design=wmcc.Strata(stratum, population=sizes))
    certificate = wmcc.certify(table, "ecc")
    w = np.array([sizes[k] / (stratum == k).sum() for k in stratum])
    worst = certificate.weights("low", y, p, w)
    assert wmcc.ecc(y, p, sample_weight=worst) == pytest.approx(certificate.lower.attained)
    with pytest.raises(InputError, match="Hint: give sample_weight= the weights that rows have by the design"):
        certificate.weights("low", y, p)


def test_no_weights_reach_an_end_that_is_not_there():
    y, p = [0, 0, 0], [0, 0, 0]
    certificate = wmcc.certify(wmcc.tabulate(y, p), "mcc")
    with pytest.raises(InputError, match="there is no range, so no weights reach an end of it: "):
        certificate.weights("low", y, p)


def test_rows_have_no_place_in_a_weight_matrix():
    certificate = wmcc.certify(wmcc.tabulate([0, 1, 1], [0, 1, 0], np.ones((3, 3))), "ecc")
    with pytest.raises(InputError, match="do not make the table that was certified"):
        certificate.weights("low", [0, 1, 1], [0, 1, 0])


# ---- how certificates relate -------------------------------------------------------------------------


@given(rows(classes=4, most=15, weight=ordinary), models, st.floats(0, 0.45), st.sampled_from(MANY))
@few(12)
def test_larger_boxes_hold_what_smaller_attain(data, model, eps, name):
    case = Case(4, *data.arrays, model, eps)
    small, large = certified(case, name, nodes=10), certified(case._replace(eps=2 * eps), name, nodes=10)
    for end in (small.lower, small.upper):
        assert large.low <= end.attained <= large.high
    assert large.low <= small.value <= large.high


@pytest.mark.parametrize("name", MANY)
def test_models_agree_where_they_should(name):
    eps = 0.25
    relative = wmcc.certify(TABLE, name, eps=eps)
    absolute = wmcc.certify(TABLE, name, eps=eps, model="absolute")
    least, most = (wmcc.tabulate(T, P, np.array(UNIT) * x) for x in (0.75, 1.25))
    bounds = wmcc.certify(TABLE, name, lower=least, upper=most)
    for other in (absolute, bounds):
        assert (other.low, other.high) == (relative.low, relative.high)
        assert (other.lower.attained, other.upper.attained) == (relative.lower.attained, relative.upper.attained)
        assert (other.lower.position == relative.lower.position).all()
    only_up = wmcc.certify(TABLE, name, upper=most)
    assert relative.low <= only_up.low <= only_up.high <= relative.high


@pytest.mark.parametrize("name", MANY)
def test_no_error_no_range(name):
    certificate = wmcc.certify(TABLE, name, eps=0.0)
    assert certificate.exact
    assert certificate.lower.attained == certificate.upper.attained == certificate.value
    assert np.nextafter(certificate.value, -2) <= certificate.low <= certificate.high
    assert certificate.high <= np.nextafter(certificate.value, 2)


@pytest.mark.parametrize("name", MANY)
def test_limits_of_the_search(name):
    full = wmcc.certify(TABLE, name, eps=0.7, nodes=40)
    for options in ({"nodes": 1}, {"seconds": 0}, {"gap": 0.3}, {"gap": 1e-3}):
        hasty = wmcc.certify(TABLE, name, eps=0.7, **options)
        assert hasty.low <= full.lower.attained
        assert hasty.high >= full.upper.attained
        assert hasty.lower.nodes <= full.lower.nodes
        for end in (hasty.lower, hasty.upper):
            assert full.low <= end.attained <= full.high
            if "gap" in options:
                assert end.gap <= options["gap"] + 1e-12


@pytest.mark.parametrize("eps", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("name", wmcc.measures.MEASURES)
def test_what_is_shown_is_not_narrower_than_what_is_certified(name, eps):
    rng = np.random.default_rng(int(1000 * eps))
    for _ in range(10):
        table = wmcc.Table.from_counts(rng.integers(0, 60, (2, 2)) + np.eye(2, dtype=int))
        found = wmcc.certify(table, name, eps=eps, nodes=3)
        low, high = map(float, found.ends)
        ends = [end.attained if end.exact else end.bound for end in (found.lower, found.upper)]
        assert low <= ends[0] < low + 1e-4
        assert high - 1e-4 < ends[1] <= high
        assert all(text in repr(found) for text in found.ends)


def test_several_eps():
    curve = wmcc.certify(TABLE, "ecc", eps=[0.0, 0.1, 0.2])
    assert len(curve) == 3
    assert curve.eps.tolist() == [0.0, 0.1, 0.2]
    assert (np.diff(curve.low) < 0).all()
    assert (np.diff(curve.high) > 0).all()
    assert [c.low for c in curve] == curve.low.tolist()
    assert curve[1] == wmcc.certify(TABLE, "ecc", eps=0.1)
    assert (curve.measure, curve.value, curve.problem) == ("ecc", curve[0].value, None)
    assert curve[1:].eps.tolist() == [0.1, 0.2]
    for wrong, said in (([0.1, -1.0], "`eps` is -1.0"), ([], "`eps` is empty")):
        with pytest.raises(WmccError, match=said):
            wmcc.certify(TABLE, eps=wrong)
    assert "10 %" in repr(curve)
    assert "<table" in curve._repr_html_()


# ---- sentences ---------------------------------------------------------------------------------------

WRONG = {
    "negative": ({"eps": -0.1}, "`eps` is -0.1; expected a number of at least 0"),
    "NaN": ({"eps": float("nan")}, "`eps` is 'nan'; expected a finite number"),
    "infinite": ({"eps": float("inf")}, "`eps` is 'inf'; expected a finite number"),
    "text": ({"eps": "0.1"}, "`eps` is '0.1'; expected a finite number"),
    "truth value": ({"eps": True}, "`eps` is 'True'; expected a finite number"),
    "all of a weight": ({"eps": 1.0}, "with `model` 'relative' it must be below 1"),
    "model": ({"model": "both"}, "`model` is 'both'; expected 'relative'"),
    "measure": ({"measure": "mse"}, "`measure` is 'mse'; expected one of mcc, ecc"),
    "class measure": ({"measure": "recall"}, "'recall' is a number per class"),
    "class measure itself": ({"measure": CLASS_MEASURES["recall"]}, "'recall' is a number per class"),
    "two classes": ({"measure": "mcc"}, "MCC is for two classes"),
    "gap": ({"gap": -1}, "`gap` is -1"),
    "nodes": ({"nodes": 0}, "`nodes` is 0; expected a whole number of at least 1"),
    "fraction of a node": ({"nodes": 1.5}, "`nodes` is 1.5"),
    "seconds": ({"seconds": -1}, "`seconds` is -1"),
    "bounds as rows": ({"lower": UNIT}, "lower: expected a Table; got a list"),
    "eps and bounds": ({"eps": 0.2, "lower": TABLE}, "`eps` and bounds of the weights were given"),
    "the usual eps and bounds": ({"eps": 0.1, "lower": TABLE}, "`eps` and bounds of the weights were given"),
    "model and bounds": ({"model": "absolute", "upper": TABLE}, "`model` and bounds of the weights were given"),
    "other labels": (
        {"upper": wmcc.Table.from_counts([[50, 3, 2], [4, 41, 0], [0, 2, 30]])},
        "the table of `upper` is of other rows: as many, but with other true or predicted labels",
    ),
    "other rows": ({"upper": wmcc.Table.from_counts(np.eye(3, dtype=int))}, "the table of `upper` is of other rows"),
    "above": ({"lower": wmcc.tabulate(T, P, [2.0] * len(T))}, "`lower` is above the weights in the cell of true 0"),
    "below": ({"upper": wmcc.tabulate(T, P, [0.5] * len(T))}, "`upper` is below the weights in the cell"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_requests_get_a_sentence(wrong):
    options, sentence = WRONG[wrong]
    with pytest.raises(WmccError) as caught:
        wmcc.certify(TABLE, **options)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("name", MANY)
@given(seeds)
@few(60)
def test_what_is_said_to_be_defined_is_defined(name, seed):
    """Throughout the box what is undefined, the measure or a term of it, is so at the largest table, too."""
    random, measure = np.random.default_rng(seed), wmcc.measures.MEASURES[name]
    K = int(random.integers(2, 4))
    low = np.where(random.random((K, K)) < 0.7, 0, random.integers(1, 4, (K, K)))
    high = low + np.where(random.random((K, K)) < 0.5, 0, random.integers(1, 4, (K, K)))
    assume(high.any())
    table = wmcc.Table.from_counts(high)
    cells, codes = BoxedCells.of(table), tuple(table.cells.codes)
    ends = low[codes].tolist(), high[codes].tolist()
    said = definition(Box(*ends, 0), cells, measure)
    what = "the measure is" if measure.has_terms is None else "every term of the measure is"
    assert said.sentence.startswith(f"{what} defined for all these weights")
    assume(said.met)

    def undefined(sums):
        reasons: list[str] = []
        measure.value(cells.margins(sums), lambda reason: reasons.append(reason) or 0.0)
        return reasons

    most = undefined(ends[1])
    assert measure.has_terms is not None or not most
    for share in (0, 0.1, 0.5):
        assert undefined([pair[random.random() < share] for pair in zip(*ends, strict=True)]) == most


@pytest.mark.parametrize("name", ["ecc", "mpc1", "mpc2", "kappa"])
def test_an_undefined_measure_has_no_range(name):
    table = wmcc.tabulate([0, 0, 0], [0, 0, 0], [1.0, 2.0, 3.0], labels=[0, 1, 2])
    found = wmcc.certify(table, name)
    assert "undefined at these weights" in found.problem
    assert (found.value, found.n, found.total) == (0.0, 3, 6.0)
    assert np.isnan([found.low, found.high, found.lower.gap]).all()
    assert found.problem in repr(found)
    assert escape(found.problem, quote=False) in found._repr_html_()
    assert found.lower.cells.tolist() == table.w.tolist()
    assert wmcc.certify(table, name, eps=[0.1]).problem == found.problem


def test_a_table_without_weight_is_refused():
    with pytest.raises(WmccError, match="nothing to score"):
        wmcc.certify(wmcc.tabulate([0, 1], [0, 1], [0.0, 0.0]), eps=1.0, model="absolute")


@given(any_weight)
def test_witness_cells_are_numbers(w):
    certificate = wmcc.certify(wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], [w, w, w, 1.0]), "accuracy", eps=0.5)
    assert np.isfinite(certificate.lower.cells).all()
    assert (certificate.lower.cells >= 0).all()


@pytest.mark.parametrize("name", OF_TERMS)
def test_a_class_that_would_join_a_mean_leaves_no_range(name):
    """With some weight it would be one class more that the mean is of, and the score would jump."""
    t, p, w = [0, 0, 1, 2], [0, 1, 1, 2], [1.0, 1.0, 2.0, 0.0]
    table, more = wmcc.tabulate(t, p, w), wmcc.tabulate(t, p, [1.0, 1.0, 2.0, 1.0])
    for found in (wmcc.certify(table, name, eps=0.5, model="absolute"), wmcc.certify(table, name, upper=more)):
        assert found.problem.startswith("class 2 has rows but no weight")
        assert found.value == wmcc.measures.MEASURES[name](table)
        assert np.isnan([found.low, found.high]).all()
    radius = wmcc.radius(table, name, at_least=0.1, model="absolute")
    assert (radius.holds, radius.safe, radius.broken) == (True, 0.0, None)
    assert "it has no radius; class 2 has rows but no weight" in repr(radius)
    assert wmcc.certify(table, name, eps=0.5).problem is None
    assert wmcc.certify(table, "ecc", eps=0.5, model="absolute").problem is None
    assert wmcc.certify_ranking(joint_table(t, p, t, w), name, eps=0.5, model="absolute").problem == found.problem


@pytest.mark.parametrize("name", OF_TERMS)
def test_a_mean_over_classes_has_no_range_where_a_class_may_vanish(name):
    """Without the class the mean is over others: it may be higher than with the class at any weight."""
    t, p, w = [0, 0, 1, 1, 2], [0, 0, 1, 1, 0], [5, 5, 5, 5, 0.5]
    table = wmcc.tabulate(t, p, w)
    assert wmcc.measures.MEASURES[name](t, p, sample_weight=[5, 5, 5, 5, 0]) == 1.0
    found = wmcc.certify(table, name, eps=0.5, model="absolute")
    assert "class 2 could lose all its weight" in found.problem
    assert np.isnan([found.low, found.high]).all()
    below = wmcc.certify(table, name, eps=0.49, model="absolute")
    assert below.problem is None
    assert below.high < 0.8
    radius = wmcc.radius(table, name, at_most=0.9, model="absolute")
    assert 0.49 < radius.safe < 0.5
    least = wmcc.tabulate(t, p, [5, 5, 5, 5, 0])
    assert "class 2" in wmcc.certify(table, name, lower=least).problem

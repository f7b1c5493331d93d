"""The oracle of designs is right: the literature's worked examples, the jackknife against the formula, exact cases."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from design_oracle import (
    CLASS_MEASURES,
    EXAMPLES,
    HECTARES_PER_PIXEL,
    MEASURES,
    LonelyError,
    Quantity,
    Rows,
    area,
    as_printed,
    balanced,
    bootstrapped,
    gap,
    gradient,
    jackknife,
    linearised,
    own,
    quantities,
    replicated,
    variance,
)


def estimate(quantity: Quantity):
    rows = EXAMPLES[quantity.example]
    unit = {"hectares": HECTARES_PER_PIXEL * rows.weight.sum(), "pixels": rows.weight.sum()}.get(quantity.name, 1.0)
    if quantity.name in ("hectares", "pixels", "share"):
        function = area(quantity.of)
    else:
        function = MEASURES[quantity.name] if quantity.of is None else own(quantity.name, quantity.of)
    found = (
        replicated(rows, function, jackknife(rows)) if "jackknife" in quantity.example else linearised(rows, function)
    )
    return found.value * unit, found.se * unit


@pytest.mark.parametrize("quantity", quantities(), ids=str)
def test_worked_examples(quantity):
    value, se = estimate(quantity)
    assert as_printed(value, quantity.value), (value, quantity.value)
    assert as_printed(se, quantity.se), (se, quantity.se)


def test_disagreement_of_maps_and_their_planning():
    C = EXAMPLES["Olofsson 2014"].table()
    p = C / C.sum()
    quantity = np.abs(p.sum(1) - p.sum(0)).sum() / 2
    exchange = sum(2 * min(p[i, j], p[j, i]) for i in range(4) for j in range(i))
    allocation = 1 - np.trace(p) - quantity
    printed = {".0044932": quantity, ".0489949": allocation, ".0444923": exchange, ".0045026": allocation - exchange}
    for text, number in printed.items():
        assert as_printed(number, text), (number, text)
    W, U = np.array([0.02, 0.015, 0.32, 0.645]), np.array([0.70, 0.60, 0.90, 0.95])
    assert round((W @ np.sqrt(U * (1 - U)) / 0.01) ** 2) == 641


def small(rng, n=60, classes=3, **design) -> Rows:
    labels = [rng.integers(0, classes, n) for _ in range(2)]
    return Rows(labels, classes, rng.lognormal(size=n), **design)


@pytest.mark.parametrize("name", MEASURES)
def test_values_are_those_of_exact_rationals(name):
    rng = np.random.default_rng(3)
    classes = 2 if name == "mcc" else 4
    rows = small(rng, classes=classes)
    labels = [x.tolist() for x in rows.labels]
    expected = float(oracle.exact(name, oracle.matrix(*labels, rows.weight, range(classes))))
    assert MEASURES[name](rows.table()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", CLASS_MEASURES)
def test_values_of_a_class_are_those_of_exact_rationals(name):
    rows = small(np.random.default_rng(4))
    C = oracle.matrix(*(x.tolist() for x in rows.labels), rows.weight, range(3))
    assert own(name, 1)(rows.table()) == pytest.approx(float(oracle.exact_class(name, C, 1)), rel=1e-12)


@pytest.mark.parametrize("name", [x for x in MEASURES if x != "mcc"])
def test_gradients_are_differences_in_the_limit(name):
    C = small(np.random.default_rng(5)).table()
    g, h = gradient(MEASURES[name], C), 1e-5
    for cell in np.ndindex(C.shape):
        up, down = (
            C + sign * h * (np.arange(9).reshape(3, 3) == np.ravel_multi_index(cell, (3, 3))) for sign in (1, -1)
        )
        assert g[cell] == pytest.approx((MEASURES[name](up) - MEASURES[name](down)) / (2 * h), abs=1e-8)


def test_stratified_mean_is_cochrans():
    rng = np.random.default_rng(6)
    sizes = np.array([300, 500, 900])
    stratum = np.repeat([0, 1, 2], [10, 20, 15])
    labels = [rng.integers(0, 2, 45) for _ in range(2)]
    n = np.bincount(stratum)
    rows = Rows(labels, 2, (sizes / n)[stratum], stratum=stratum, fpc=dict(enumerate(sizes)))
    W, right = sizes / sizes.sum(), labels[0] == labels[1]
    s2 = [right[stratum == h].var(ddof=1) for h in range(3)]
    expected = np.sqrt(sum(W[h] ** 2 * (1 - n[h] / sizes[h]) * s2[h] / n[h] for h in range(3)))
    found = linearised(rows, MEASURES["accuracy"])
    assert found.se == pytest.approx(expected, rel=1e-12)
    assert found.df == 42


def test_a_ratio_in_a_domain_is_cochrans_ratio():
    rng = np.random.default_rng(7)
    stratum = np.repeat([0, 1], 40)
    inside = rng.random(80) < 0.4
    rows = small(rng, 80, stratum=stratum, domain=inside)
    y, x = rows.weight * inside * (rows.labels[0] == rows.labels[1]), rows.weight * inside
    ratio = y.sum() / x.sum()
    d = (y - ratio * x) / x.sum()
    expected = np.sqrt(sum(40 * d[stratum == h].var(ddof=1) for h in (0, 1)))
    assert linearised(rows, MEASURES["accuracy"]).se == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["accuracy", "ecc", "mpc2"])
def test_post_stratified_errors_are_the_jackknifes_in_the_limit(name):
    rng = np.random.default_rng(8)
    n = 500
    group = rng.integers(0, 3, n)
    truth = np.where(rng.random(n) < 0.7, group, rng.integers(0, 3, n))
    guess = np.where(rng.random(n) < 0.6, truth, rng.integers(0, 3, n))
    totals = {0: 5000.0, 1: 9000.0, 2: 7000.0}
    rows = Rows((truth, guess), 3, np.ones(n), poststratum=group, totals=totals)
    plain = Rows((truth, guess), 3, rows.calibrated(rows.weight))
    expected = replicated(rows, MEASURES[name], jackknife(rows))
    assert linearised(rows, MEASURES[name]).se == pytest.approx(expected.se, rel=2e-2)
    assert linearised(plain, MEASURES[name]).value == pytest.approx(expected.value)
    # The shares of the classes follow the groups, so that knowing the groups' totals tells much about them.
    assert linearised(rows, area(0)).se < 0.8 * linearised(plain, area(0)).se


def test_replicates_of_a_mean_give_the_formulas_error():
    """Of a mean whose denominator is the same in all replicates, deleting, halving and linearising agree."""
    rng = np.random.default_rng(9)
    stratum, cluster = np.repeat(np.arange(5), 8), np.tile(np.repeat([0, 1], 4), 5)
    labels = [rng.integers(0, 2, 40) for _ in range(2)]
    rows = Rows(labels, 2, np.ones(40), stratum=stratum, cluster=cluster)
    expected = linearised(rows, MEASURES["accuracy"]).se
    for replicates in (jackknife(rows), balanced(rows), balanced(rows, fay=0.3)):
        assert replicated(rows, MEASURES["accuracy"], replicates).se == pytest.approx(expected, rel=1e-12)
    few = replicated(rows, MEASURES["accuracy"], bootstrapped(rows, rng, 4000)).se
    assert few == pytest.approx(expected, rel=0.05)


def test_a_difference_has_the_joint_cells_error():
    rng = np.random.default_rng(10)
    n = 100
    truth, a, b = (rng.integers(0, 3, n) for _ in range(3))
    cluster = np.arange(n) // 4
    joint = Rows((truth, a, b), 3, rng.lognormal(size=n), cluster=cluster)
    first, second = (Rows((truth, x), 3, joint.weight, cluster=cluster) for x in (a, b))
    u = first.influences(MEASURES["ecc"]) - second.influences(MEASURES["ecc"])
    z = np.bincount(cluster, u)
    found = linearised(joint, gap(MEASURES["ecc"]))
    assert found.se == pytest.approx(np.sqrt(25 / 24 * np.square(z - z.mean()).sum()), rel=1e-12)
    assert found.value == pytest.approx(
        linearised(first, MEASURES["ecc"]).value - linearised(second, MEASURES["ecc"]).value
    )


INFLUENCES = {"a": np.array([1.0]), "b": np.array([2.0, 4.0]), "c": np.array([0.0, -7.0])}


class TestLonely:
    def test_refused_by_default(self):
        with pytest.raises(LonelyError, match="a"):
            variance(INFLUENCES, None, "error")

    @pytest.mark.parametrize(
        ("lonely", "expected"),
        [
            ("certainty", 4 + 49),
            ("adjust", 4 + 49 + 1),  # the mean of all is 0
            ("average", 1.5 * 53),
            ("collapse", 1.5 * ((1 - 7 / 3) ** 2 + (2 - 7 / 3) ** 2 + (4 - 7 / 3) ** 2) + 49),
        ],
    )
    def test_each_option(self, lonely, expected):
        assert variance(INFLUENCES, None, lonely) == pytest.approx(expected)

    @pytest.mark.parametrize("lonely", ["error", "adjust", "average", "certainty", "collapse"])
    def test_a_stratum_drawn_wholly_has_no_error(self, lonely):
        sizes = {"a": 1, "b": 4, "c": 4}
        assert variance(INFLUENCES, sizes, lonely) == pytest.approx(53 / 2)

    def test_the_last_joins_the_one_before_and_sizes_add_up(self):
        z = {"a": np.array([2.0, 4.0]), "b": np.array([0.0])}
        assert variance(z, {"a": 6, "b": 4}, "collapse") == pytest.approx(0.7 * 1.5 * 8)

    def test_two_in_a_row(self):
        z = {"a": np.array([2.0]), "b": np.array([0.0]), "c": np.array([1.0, 1.0])}
        assert variance(z, None, "collapse") == pytest.approx(2 * 2)  # a pair, and c by itself
        z["d"] = np.array([4.0])
        assert variance(z, None, "collapse") == pytest.approx(2 * 2 + 1.5 * 6)  # the last joins c
        z = {h: np.array([float(x)]) for h, x in zip("abc", (1, 3, 5), strict=True)}
        assert variance(z, None, "collapse") == pytest.approx(1.5 * 8)  # the last joins the pair
        with pytest.raises(LonelyError):
            variance({"a": np.array([2.0])}, None, "collapse")

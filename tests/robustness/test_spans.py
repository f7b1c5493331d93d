"""Intervals hold what they should: every operation against fractions, every enclosure against tables of its box."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import adversary
import numpy as np
import oracle
import pytest
from helpers import aggregates, few
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.measures import MEASURES
from wmcc.measures.base import Shares
from wmcc.measures.stacks import sums_from_both_ends
from wmcc.robustness.aggregates import _quotient
from wmcc.robustness.enclosures import ENCLOSURES
from wmcc.robustness.interval_arithmetic import Span, dot, fraction_max, simplex_max, squares
from wmcc.robustness.relaxation import relaxed_bound

NAMES = [name for name in ENCLOSURES if name != "mcc"]
sizes = st.one_of(st.floats(-1e3, 1e3), st.floats(-1e-9, 1e-9), st.floats(-1e300, 1e300), st.just(0.0))
seeds = st.integers(0, 2**32 - 1)


@st.composite
def interval(draw, number=sizes, length=3):
    """Intervals, and a number in each."""
    ends = [sorted(draw(st.lists(number, min_size=3, max_size=3))) for _ in range(length)]
    lo, x, hi = np.array(ends).T
    return Span(lo.copy(), hi.copy()), [Fraction(v) for v in x.tolist()]


positive = st.one_of(st.floats(0, 1e3), st.floats(0, 1e-300), st.floats(1e-3, 1e300))


def holds(found: Span, true) -> None:
    for lo, x, hi in zip(np.ravel(found.lo).tolist(), true, np.ravel(found.hi).tolist(), strict=True):
        assert not math.isnan(lo)
        assert not math.isnan(hi)
        assert lo == -math.inf or Fraction(min(lo, 1.7e308)) <= x or Fraction(lo) <= x
        assert hi == math.inf or x <= Fraction(hi)


@given(interval(), interval())
def test_sums_differences_products(a, b):
    (x, xs), (y, ys) = a, b
    with np.errstate(all="ignore"):
        pairs = list(zip(xs, ys, strict=True))
        holds(x + y, [u + v for u, v in pairs])
        holds(x - y, [u - v for u, v in pairs])
        holds(x * y, [u * v for u, v in pairs])
        holds(-x, [-u for u in xs])
        holds(2.5 - x, [Fraction(2.5) - u for u in xs])
        holds(x.square(), [u * u for u in xs])
        holds(x.sum(), [sum(xs)])
        holds(x.others(), [sum(xs) - u for u in xs])
        pairs = [(i, j) for i in range(3) for j in range(3)]
        rest = x.without_two(*np.array(pairs).T)
        holds(rest, [sum(u for k, u in enumerate(xs) if k not in pair) for pair in pairs])


@given(interval(positive), interval(positive))
def test_quotients_and_roots(a, b):
    (x, xs), (y, ys) = a, b
    with np.errstate(all="ignore"):
        roots = x.sqrt()
        for lo, u, hi in zip(roots.lo.tolist(), xs, roots.hi.tolist(), strict=True):
            assert Fraction(lo) ** 2 <= u <= Fraction(hi) ** 2
        if all(ys):
            holds(x / y, [u / v for u, v in zip(xs, ys, strict=True)])
            holds(y.inverse(), [1 / v for v in ys])
            holds(y.with_inverse(), [v + 1 / v for v in ys])


def test_unbounded_factors():
    unbounded = Span(np.array([2.0]), np.array([np.inf]))
    for lo, hi, expected in (
        (0.0, 0.5, (0.0, np.inf)),
        (-1.0, 0.0, (-np.inf, 0.0)),
        (0.0, 0.0, (0.0, 0.0)),
        (-1.0, 1.0, (-np.inf, np.inf)),
    ):
        with np.errstate(all="ignore"):
            product = Span(np.array([lo]), np.array([hi])) * unbounded
        assert product.lo[0] == pytest.approx(expected[0])
        assert product.hi[0] == pytest.approx(expected[1])
    assert Span(np.array([0.0]), np.array([2.0])).inverse().hi[0] == np.inf
    assert Span(np.array([-3.0]), np.array([2.0])).square().lo[0] == 0.0
    assert sums_from_both_ends(np.array([1.0, 2.0, 4.0])).tolist() == [6.0, 5.0, 3.0]


@given(interval(st.floats(0, 10)), interval(st.floats(0, 10)), interval(st.floats(0, 10)))
def test_quotient_of_sums(common, over, under):
    with np.errstate(all="ignore"):
        found = _quotient(common[0], over[0], under[0])
    triples = list(zip(common[1], over[1], under[1], strict=True))
    if all(c + u for c, _, u in triples):
        holds(found, [(c + o) / (c + u) for c, o, u in triples])


# ---- shares and boxes ----------------------------------------------------------------------------------


def shares(random, K: int, width: float) -> tuple[Span, list[Fraction]]:
    """Shares that add up to 1, exactly, in intervals."""
    parts = [Fraction(int(x)) for x in random.integers(0, 1000, K)]
    parts[0] += 1
    exact = [x / sum(parts) for x in parts]
    mid = np.array([float(x) for x in exact])
    wide = width * random.random((2, K)) + 1e-16
    return Span(np.maximum(mid - wide[0], 0.0), np.minimum(mid + wide[1], 1.0)), exact


@given(seeds, st.integers(2, 6), st.sampled_from([0.0, 1e-6, 0.1, 1.0]))
def test_sums_of_shares(seed, K, width):
    random = np.random.default_rng(seed)
    (r, rs), (q, qs) = shares(random, K, width), shares(random, K, width)
    holds(dot(r, q), [sum(u * v for u, v in zip(rs, qs, strict=True))])
    holds(squares(r), [sum(u * u for u in rs)])
    c = random.normal(size=K)
    assert Fraction(float(simplex_max(c, r)[0])) >= sum(
        Fraction(v) * u for v, u in zip(c.tolist(), rs, strict=True)
    ) - Fraction(1, 10**300)


def boxes(seed: int, orders: int):
    """A box of tables with cells of many sizes, and tables in it."""
    random = np.random.default_rng(seed)
    K = int(random.integers(2, 6))
    base = 10.0 ** random.uniform(-orders, 0, (K, K)) * (random.random((K, K)) < random.choice([0.4, 0.8, 1.0]))
    base[0, 0] += 0.1
    eps = random.choice([0.0, 1e-15, 1e-3, 0.1, 0.5, 0.99, 1.0])
    low, high = base * (1 - eps), np.where(random.random((K, K)) < 0.8, base * (1 + eps), base)
    points = low + (high - low) * random.choice([0.0, 1.0, 0.3, 0.7, 1e-9], (4, K, K))
    return low, high, np.clip(points, low, high)


@given(seeds, st.sampled_from([1, 6, 100, 320]))
@few(60)
def test_fractions_of_boxes(seed, orders):
    low, high, points = boxes(seed, orders)
    c = np.random.default_rng(seed).normal(size=low.shape)
    most = Fraction(min(float(fraction_max(*(x.ravel() for x in (c, low, high)))[0]), 1e308))
    for x in points:
        cells = [Fraction(v) for v in x.ravel().tolist()]
        value = (
            sum(Fraction(w) * u for w, u in zip(c.ravel().tolist(), cells, strict=True)) / sum(cells)
            if any(cells)
            else most
        )
        assert value <= most


def slope(name: str, C: list[list[Fraction]], a: int, b: int) -> Decimal:
    """s · ∂M/∂C_ab, to a hundred digits: floats lose it where margins nearly vanish."""
    step = C[a][b] / 10**200
    moved = [[c + (step if (i, j) == (a, b) else 0) for j, c in enumerate(row)] for i, row in enumerate(C)]
    with oracle.precision():
        every = list(range(len(C)))
        rise = oracle.exact(name, moved, every) - oracle.exact(name, C, every)
        return rise * oracle.real(sum(map(sum, C)) / step)


@pytest.mark.parametrize("name", NAMES)
@given(seeds, st.sampled_from([1, 6, 100, 320]), st.booleans())
@few(20)
def test_enclosures_hold_values_and_slopes(name, seed, orders, empty):
    low, high, points = boxes(seed, orders)
    z = aggregates(low[None], high[None], empty)
    for x in points:
        cells = [[Fraction(v) for v in row] for row in x.tolist()]
        true = oracle.exact(name, cells, list(range(len(x)))) if x.any() else None  # all classes count, as in `z`
        if true is None:
            continue
        moves = np.argwhere((high > low) & (x > 0))
        a, b = moves[seed % len(moves)] if len(moves) else (0, 0)
        target = Span(np.full((1, 1), float(true) - 1e-4), np.full((1, 1), float(true) + 1e-4))
        for aim in (None, target):
            with np.errstate(all="ignore"):
                found = ENCLOSURES[name].slopes(z, aim)
            assert found.value.lo[0, 0] <= float(true) + 1e-15
            assert found.value.hi[0, 0] >= float(true) - 1e-15
            if len(moves):
                rise = slope(name, cells, a, b)
                slack = abs(rise) * Decimal(10) ** -100 + Decimal(10) ** -150
                cell = np.flatnonzero((z.cells.t == a) & (z.cells.p == b))[0]
                assert Decimal(float(found.cells.lo[0, cell])) <= rise + slack
                assert Decimal(float(found.cells.hi[0, cell])) >= rise - slack


@given(seeds, st.sampled_from([1, 6, 100, 320]), st.booleans())
@few(60)
def test_sums_of_classes_hold_and_are_close(seed, orders, empty):
    """TP, FN, FP and TN at both ends of a box; of TN little may be left when FP is taken from the other rows."""
    low, high, _ = boxes(seed, orders)
    z = aggregates(low, high, empty)
    for end, C in (("lo", low), ("hi", high)):
        cells = [[Fraction(v) for v in row] for row in C.tolist()]
        for k in range(len(C)):
            sums = [[Fraction(0)] * 2 for _ in range(2)]
            for a, row in enumerate(cells):
                for b, c in enumerate(row):
                    sums[a != k][b != k] += c
            (tp, fn), (fp, tn) = sums
            for name, true in {"TP": tp, "FN": fn, "FP": fp, "TN": tn}.items():
                found = Fraction(float(getattr(getattr(z, name), end)[k]))
                assert found <= true if end == "lo" else found >= true
                assert abs(found - true) <= true / 10**12


@pytest.mark.parametrize("name", NAMES)
@given(seeds, st.sampled_from([1, 6]))
@few(20)
def test_empty_cells_change_nothing(name, seed, orders):
    """Boxes with all cells of the table, and with those only that hold something."""
    low, high, _ = boxes(seed, orders)
    every, used = (aggregates(low[None], high[None], empty) for empty in (True, False))
    with np.errstate(all="ignore"):
        slopes, value = ENCLOSURES[name].slopes(every, None)
        found = ENCLOSURES[name].slopes(used, None)
    kept = used.cells.t * len(low) + used.cells.p
    for a, b in ((found.value, value), (found.cells, slopes[:, kept])):
        assert a.lo == pytest.approx(b.lo, rel=1e-9, abs=1e-12)
        assert a.hi == pytest.approx(b.hi, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["ecc", "mpc1"])
@given(seeds, st.sampled_from([1, -1]))
@few(25)
def test_relaxation_is_tight_for_one_table(name, seed, side):
    x = np.random.default_rng(seed).uniform(0.1, 1.0, (4, 4))
    true = side * float(adversary.values(name, x[np.newaxis])[0])
    bound = relaxed_bound(aggregates(x[None], x[None]), side, np.full((1, 1), true), by_class=name == "mpc1")
    assert true - 1e-15 <= bound[0, 0] <= true + 1e-9


@pytest.mark.parametrize("name", ["ecc", "mpc1"])
@given(seeds, st.sampled_from([1, 6, 100]), st.sampled_from([1, -1]), st.floats(-1, 1), st.booleans())
@few(25)
def test_relaxation_bounds_the_measure(name, seed, orders, side, level, empty):
    low, high, points = boxes(seed, orders)
    with np.errstate(all="ignore"):
        z = aggregates(low[None], high[None], empty)
        for x in points:
            true = oracle.exact(name, [[Fraction(v) for v in row] for row in x.tolist()]) if x.any() else None
            for guess in (level, side * float(true or 0) - 1e-3):
                bound = relaxed_bound(z, side, np.full((1, 1), guess), by_class=name == "mpc1")
                assert true is None or bound[0, 0] >= side * float(true) - 1e-15


@pytest.mark.parametrize("name", NAMES)
@given(seeds)
@few(20)
def test_slopes_are_gradients(name, seed):
    random = np.random.default_rng(seed)
    K = int(random.integers(2, 6))
    counts = random.integers(1, 50, (K, K))
    table = wmcc.Table.from_counts(counts)
    measure = MEASURES[name]
    gradient = measure.gradient(table)
    x = counts / counts.sum()
    assert adversary.slopes(name, counts[np.newaxis].astype(float))[0] == pytest.approx(gradient, abs=1e-12)
    assert adversary.values(name, x[np.newaxis])[0] == pytest.approx(measure(table), abs=1e-12)
    found = ENCLOSURES[name].slopes(aggregates((x * 0.97)[None], (x * 1.03)[None]), None)
    true = measure.slope(Shares.of(table), measure(table)).dense()
    assert (found.cells.lo[0] <= true.ravel()).all()
    assert (true.ravel() <= found.cells.hi[0]).all()
    tight = ENCLOSURES[name].slopes(aggregates(x[None], x[None]), None)
    assert tight.cells.lo[0] == pytest.approx(true.ravel(), abs=1e-9)
    assert tight.cells.hi[0] == pytest.approx(true.ravel(), abs=1e-9)

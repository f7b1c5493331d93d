"""MPC2 over boxes of tables: nowhere is it less than its planes say, or steeper than its slopes are said to be."""

import numpy as np
import pytest
from helpers import aggregates

import wmcc
from wmcc.robustness.classwise import classwise_bound
from wmcc.robustness.enclosures import ENCLOSURES

pytestmark = pytest.mark.slow


def boxes(rng):
    """Boxes of many kinds: dominated, with empty cells and classes, with cells that may vanish, points."""
    for _ in range(40):
        K = int(rng.integers(2, 9))
        cells = np.exp(rng.normal(0, rng.choice([0.1, 1.0, 4.0]), (K, K))) * (
            rng.random((K, K)) >= rng.choice([0, 0.3])
        )
        cells[np.diag_indices(K)] *= rng.choice([0.0, 1.0, 5.0, 100.0], K)
        if rng.random() < 0.3:
            cells[0] = 0.0
        eps = rng.choice([1e-12, 0.01, 0.3, 0.9], (K, K)) if rng.random() < 0.5 else rng.choice([0.0, 0.1, 0.5])
        low, high = cells * (1 - eps), cells * (1 + eps)
        if rng.random() < 0.3:
            low = low * (rng.random((K, K)) >= 0.3)
        if high.sum() > 0 and low.sum() > 0:
            yield low, high


def table_of(cells):
    return wmcc.Table.from_cells(range(len(cells)), (cells > 0).astype(int), cells, cells * cells, cells, cells)


def mpc2(cells):
    return wmcc.mpc2(table_of(cells))


def drawn(rng, low, high):
    """Tables of a box, most of them corners."""
    places = [rng.random(low.shape), np.eye(len(low)), 1 - np.eye(len(low))]
    for place in [*places, *(rng.integers(0, 2, low.shape) for _ in range(12))]:
        yield np.clip(low + place * (high - low), low, high)


@pytest.mark.parametrize("empty", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_no_table_of_a_box_is_below_the_bound(seed, empty):
    rng = np.random.default_rng(seed)
    for low, high in boxes(rng):
        with np.errstate(all="ignore"):
            bound = classwise_bound(aggregates(low[np.newaxis], high[np.newaxis], empty))
        assert bound.shape == (1, 1)
        for cells in drawn(rng, low, high):
            assert -mpc2(cells) <= bound[0, 0]


@pytest.mark.parametrize("seed", range(3))
def test_no_table_of_a_box_is_steeper_than_its_slopes(seed):
    rng = np.random.default_rng(seed)
    for low, high in boxes(rng):
        with np.errstate(all="ignore"):
            slopes, value = ENCLOSURES["mpc2"].slopes(aggregates(low, high), None)
        assert not np.isnan(slopes.lo).any()
        assert not np.isnan(slopes.hi).any()
        # where a class may vanish, its slopes are those of its limit at the tables that have it
        whole = (low.sum(0) > 0).all() and (low.sum(1) > 0).all()
        for cells in drawn(rng, low, high):
            table = table_of(cells)
            assert value.lo[0] <= wmcc.mpc2(table) <= value.hi[0]
            if whole:
                slope = wmcc.mpc2.gradient(table).ravel() * table.total
                slack = 1e-12 * np.abs(slope).max()
                assert (slopes.lo - slack <= slope).all()
                assert (slope <= slopes.hi + slack).all()


def test_the_bound_of_a_point_is_its_value():
    rng = np.random.default_rng(0)
    for K in (2, 3, 10, 30):
        cells = rng.lognormal(0, 1, (K, K)) + np.eye(K) * rng.choice([0, 10, 1000])
        bound = classwise_bound(aggregates(cells[np.newaxis], cells[np.newaxis]))
        assert bound[0, 0] == pytest.approx(-mpc2(cells), abs=1e-11)


def test_a_stack_is_bounded_box_by_box():
    rng = np.random.default_rng(1)
    low = rng.lognormal(0, 1, (3, 4, 4))
    high = low * 1.5
    alone = [classwise_bound(aggregates(low[i : i + 1], high[i : i + 1]))[0, 0] for i in range(3)]
    assert classwise_bound(aggregates(low, high))[:, 0] == pytest.approx(alone, abs=1e-6)

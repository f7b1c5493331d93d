"""Bounds for wide boxes hold for any level and table, and searches do not take corners for granted."""

import numpy as np
import pytest
from adversary import values
from helpers import aggregates, few
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.robustness.classwise import classwise_bound
from wmcc.robustness.interval_arithmetic import SMALL, down, up
from wmcc.robustness.relaxation import relaxed_bound


def box(seed, K, eps):
    rng = np.random.default_rng(seed)
    C = rng.lognormal(0, 1.5, (K, K)) * (1 + rng.choice([0, 3, 30]) * np.eye(K))
    if rng.random() < 0.3:
        C[rng.integers(K), rng.integers(K)] = 0
    C /= C.sum()
    return C * (1 - eps), C * (1 + eps), rng


def highest(name, sign, low, high, rng):
    """The largest value found: random corners and insides, then one cell at a time."""
    K = len(low)
    stack = np.concatenate([rng.random((400, K, K)) < 0.5, rng.random((200, K, K))])
    found = sign * values(name, low + (high - low) * stack)
    at = stack[int(np.argmax(found))].astype(float)
    for _ in range(6):
        tries = np.repeat(at[np.newaxis], 2 * K * K, 0).reshape(2, K * K, K * K)
        tries[0][np.diag_indices(K * K)], tries[1][np.diag_indices(K * K)] = 0.0, 1.0
        tries = tries.reshape(-1, K, K)
        found = sign * values(name, low + (high - low) * tries)
        at = tries[int(np.argmax(found))]
    return found.max()


@few(60)
@given(
    seed=st.integers(0, 10_000),
    K=st.integers(2, 6),
    eps=st.sampled_from([0.02, 0.3, 0.8]),
    name=st.sampled_from(["ecc", "mpc1"]),
    side=st.sampled_from([-1, 1]),
    off=st.sampled_from([-0.5, -0.02, 0.0, 0.02, 0.5]),
)
def test_the_relaxation_bounds_from_any_level(seed, K, eps, name, side, off):
    low, high, rng = box(seed, K, eps)
    best = highest(name, side, low, high, rng)
    with np.errstate(all="ignore"):
        z = aggregates(low[np.newaxis], high[np.newaxis])
        bound = relaxed_bound(z, side, np.array([[best + off]]), by_class=name == "mpc1")
    assert bound[0, 0] >= best - 1e-12


@few(40)
@given(seed=st.integers(0, 10_000), K=st.integers(2, 6), eps=st.sampled_from([0.02, 0.3, 0.8]))
def test_planes_bound_mpc2_from_below(seed, K, eps):
    low, high, rng = box(seed, K, eps)
    best = highest("mpc2", -1, low, high, rng)
    with np.errstate(all="ignore"):
        bound = classwise_bound(aggregates(low[np.newaxis], high[np.newaxis]))
    assert bound[0, 0] >= best - 1e-12


@pytest.mark.parametrize("unequal", [1.0, 30.0])
def test_the_relaxation_allows_for_unequal_margins(unequal):
    """With truth and prediction of different spreads √(AB) is well below the mean of A and B."""
    low, high = (np.array([[8.0, 0.1, 0.1], [0.2, x, 0.1], [unequal, 0.1, 1.0]]) for x in (0.5, 60.0))
    rng = np.random.default_rng(0)
    best = highest("mpc1", 1, low, high, rng)
    with np.errstate(all="ignore"):
        z = aggregates(low[np.newaxis], high[np.newaxis])
        bound = relaxed_bound(z, 1, np.array([[best]]), by_class=True)
    assert bound[0, 0] >= best


def test_the_smallest_ecc_may_be_inside():
    counts = [[2, 250, 15], [1, 60, 1], [1, 3, 35]]
    n = np.array(counts)

    def weighted(c):
        w = n.astype(float)
        w[1, 1] = c
        least = w / n
        return wmcc.Table.from_cells(range(3), n, w, w * w / n, least, least)

    certificate = wmcc.certify(weighted(60), "ecc", lower=weighted(20), upper=weighted(400))
    inside = min(wmcc.ecc(weighted(c)) for c in range(20, 400))
    assert certificate.low <= inside < wmcc.ecc(weighted(20)) < wmcc.ecc(weighted(400))
    assert certificate.lower.attained <= inside + 1e-6
    assert 0 < certificate.lower.position[1, 1] < 1


def test_a_table_at_which_ecc_is_undefined_counts_as_0():
    table = wmcc.tabulate([0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 2, 2], [9, 9, 9, 1, 1, 1.0])
    certificate = wmcc.certify(table, eps=1.0, model="absolute")
    assert certificate.low <= 0
    assert "Condition not met: the measure is defined" in repr(certificate)
    sure = wmcc.certify(table, eps=0.9, model="absolute")
    assert sure.low > 0
    assert all(condition.met for condition in sure.conditions)


def test_weights_of_a_witness_where_weights_are_on_both_sides_of_eps():
    t, p, w = [0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 0, 2, 0], [0.5, 5, 2, 4, 3, 6, 2]
    certificate = wmcc.certify(wmcc.tabulate(t, p, w), eps=1, model="absolute")
    for end, name in ((certificate.lower, "low"), (certificate.upper, "high")):
        assert not end.exact or name == "high"
        assert np.isclose(wmcc.ecc(t, p, sample_weight=certificate.weights(name, t, p, w)), end.attained, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 10 * SMALL])
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=5), st.integers(-1074, 1023))
def test_outward_is_past_the_next_number(size, drawn, power):
    """However many are rounded at once; and not much further."""
    x = np.resize(np.array([*drawn, 2.0**power, -(2.0**power), 0.0, np.inf]), max(size, len(drawn) + 4))
    with np.errstate(over="ignore"):
        above, below = up(x), down(x)
        assert (above >= np.nextafter(x, np.inf)).all()
        assert (below <= np.nextafter(x, -np.inf)).all()
        assert (above <= np.nextafter(np.nextafter(x, np.inf), np.inf)).all()
        assert (below >= np.nextafter(np.nextafter(x, -np.inf), -np.inf)).all()
    assert np.isnan(up(np.full(size, np.nan))).all()

"""Certificates of many classes: they hold, and cost what the occupied cells cost, not the square of the classes."""

from __future__ import annotations

import tracemalloc
from functools import cache

import numpy as np
import pytest
from adversary import attack, formula
from adversary_pairs import PairAttack
from helpers import few
from hunt import draw
from hunt_pairs import draw_pair
from hypothesis import given
from hypothesis import strategies as st

import wmcc
import wmcc.measures
from wmcc.core import table as table_module
from wmcc.errors import TooManyClassesError
from wmcc.robustness.box import Box
from wmcc.robustness.cells import BoxedCells
from wmcc.robustness.certify import limits_of, one_end, searched_end
from wmcc.robustness.objective import MeasureObjective
from wmcc.robustness.pair import PairObjective
from wmcc.robustness.paired_intervals import JointCells

pytestmark = pytest.mark.slow

MANY = [name for name in wmcc.measures.MEASURES if name != "mcc"]
SPARSE = "fewer rows than classes"
seeds = st.integers(0, 2**32 - 1)


# ---- few rows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MANY)
@given(seeds, st.sampled_from([1, 20]))
@few(4)
def test_the_adversary_does_not_leave_the_range_of_sparse_tables(name, seed, nodes):
    case = draw(np.random.default_rng(seed), SPARSE, most=20)
    certificate = case.certify(name, nodes=nodes)
    if certificate.problem:
        return
    assert attack(case.limits, name).beyond(certificate.low, certificate.high) <= 0
    assert certificate.low <= certificate.value <= certificate.high
    assert certificate.lower.at.shape == (certificate.lower.codes.shape[1],)


@pytest.mark.parametrize("name", MANY)
@given(seeds)
@few(3)
def test_the_adversary_does_not_leave_rankings_of_sparse_tables(name, seed):
    case = draw_pair(np.random.default_rng(seed), SPARSE, most=12)
    ranking = case.rank(name, nodes=10)
    if ranking.problem:
        return
    assert attack(case.limits, name, kind=PairAttack).beyond(ranking.low, ranking.high) <= 0


@pytest.mark.parametrize("name", MANY)
def test_classes_without_rows_change_nothing(name):
    rng = np.random.default_rng(0)
    t = rng.integers(0, 4, 60)
    p, w = np.where(rng.random(60) < 0.7, t, rng.integers(0, 4, 60)), rng.lognormal(0, 1, 60)
    t, p, every = 7 * t, 7 * p, range(280)
    few, many = (wmcc.certify(wmcc.tabulate(t, p, w, labels=names), name) for names in ([0, 7, 14, 21], every))
    for a, b in ((few.lower, many.lower), (few.upper, many.upper)):
        assert b.attained == pytest.approx(a.attained, rel=1e-12)
        assert b.bound == pytest.approx(a.bound, rel=1e-12)
        assert (b.sums == a.sums).all()
        assert (b.codes == 7 * a.codes).all()
        assert b.cells.shape == (280, 280)
        assert (b.cells[::7, ::7][:4, :4] == a.cells).all()
        assert b.cells.sum() == pytest.approx(b.sums.sum())
    worst = many.weights("low", t, p, w)
    assert (worst == few.weights("low", t, p, w)).all()
    assert wmcc.measures.MEASURES[name](wmcc.tabulate(t, p, worst, labels=every)) == pytest.approx(
        many.lower.attained, rel=1e-12
    )


# ---- what is known of cells -----------------------------------------------------------------------------


def test_a_row_of_an_empty_cell_has_an_influence():
    t, p = [0, 1, 1, 2], [0, 1, 2, 2]
    table = wmcc.tabulate(t, p)
    found = wmcc.sensitivity(table, "ecc")
    assert found.gradient == pytest.approx(wmcc.ecc.gradient(table), abs=1e-14)
    assert found.influence([0, 2, 7], [1, 0, 0])[:2] == pytest.approx(wmcc.ecc.gradient(table)[[0, 2], [1, 0]])
    assert np.isnan(found.influence([7], [0])).all()


def test_square_arrays_of_many_classes_are_refused(monkeypatch):
    monkeypatch.setattr(table_module, "MOST_DENSE", 4)
    t, p = [0, 1, 1, 2], [0, 1, 2, 2]
    end, known = wmcc.certify(wmcc.tabulate(t, p), eps=0.5).lower, wmcc.sensitivity(wmcc.tabulate(t, p))
    assert end.sums.shape == (4,)
    assert len(known.cells) == 4
    assert known.influence(t, p).shape == (4,)
    for wanted in (lambda: end.cells, lambda: end.position, lambda: known.gradient):
        with pytest.raises(
            TooManyClassesError,
            match=r"a matrix of 3 x 3 classes has 9 cells .*; matrices are made for up to 2 classes",
        ):
            wanted()


# ---- twenty thousand classes ------------------------------------------------------------------------------

K, SIZE = 20_000, 100_000


@cache
def occupied(seed: int, labels: int):
    """Distinct cells in order, about half of them correct, and their sums in units of 2**-40."""
    rng = np.random.default_rng(seed)
    t = rng.integers(0, K, 2 * SIZE)
    codes = [t, *(np.where(rng.random(2 * SIZE) < 0.5, t, rng.integers(0, K, 2 * SIZE)) for _ in range(labels - 1))]
    found = np.unique(np.ravel_multi_index(codes, (K,) * labels))
    codes = np.stack(np.unravel_index(np.sort(rng.permutation(found)[:SIZE]), (K,) * labels))
    return codes, [int(x * 2.0**40) for x in rng.lognormal(0, 1, codes.shape[1]).tolist()], rng


def value(name: str, codes, sums) -> float:
    t, p = codes
    r, q, d = np.bincount(t, sums, K), np.bincount(p, sums, K), np.bincount(t, sums * (t == p), K)
    return float(formula(name, r, q, d))


@pytest.mark.parametrize("name", MANY)
def test_a_hundred_thousand_cells(name):
    """The range holds at weights drawn from the box, and nothing of the size of the square is ever there."""
    codes, sums, rng = occupied(0, 2)
    box, cells = Box.relative(sums, -40, 0.1), BoxedCells(*codes, K)
    tracemalloc.start()
    low, high = (
        one_end(MeasureObjective(box, cells, wmcc.measures.MEASURES[name], side), "relative", limits_of(0.0, 1, None))
        for side in (-1, 1)
    )
    assert tracemalloc.get_traced_memory()[1] < 3e8
    tracemalloc.stop()
    assert -1 <= low.bound <= low.attained < high.attained <= high.bound <= 1
    assert high.bound - low.bound < 1.01 * (high.attained - low.attained)
    w, same = np.array(sums, dtype=float), codes[0] == codes[1]
    drawn = [rng.random(SIZE) < 0.5 for _ in range(3)] + [rng.random(SIZE), same, ~same]
    for at in drawn:
        assert low.bound - 1e-12 <= value(name, codes, w * (0.9 + 0.2 * at)) <= high.bound + 1e-12
    for end in (low, high):
        assert value(name, codes, end.sums) == pytest.approx(end.attained, abs=1e-12)


@pytest.mark.parametrize("name", ["ecc", "mpc2"])
def test_a_hundred_thousand_joint_cells(name):
    codes, sums, rng = occupied(1, 3)
    box, cells = Box.relative(sums, -40, 0.05), JointCells(codes, K)
    low, high = (
        searched_end(PairObjective(box, cells, wmcc.measures.MEASURES[name], side), limits_of(0.0, 1, None))
        for side in (-1, 1)
    )
    assert high.bound - low.bound < 1.01 * (high.attained - low.attained)
    w = np.array(sums, dtype=float)
    for at in (rng.random(w.size) < 0.5, rng.random(w.size), codes[0] == codes[1], codes[0] == codes[2]):
        first, second = (value(name, codes[[0, i]], w * (0.95 + 0.1 * at)) for i in (1, 2))
        assert low.bound - 1e-12 <= first - second <= high.bound + 1e-12


def test_matrices_of_many_classes_are_refused_before_they_take_memory():
    """Gradients as well: 100,000 classes would take 80 GB. The cells that occur have theirs, as the hint says."""
    table = wmcc.tabulate(range(100_000), [*range(99_999), 0])
    for attempt in (lambda: wmcc.ecc.gradient(table), lambda: wmcc.sensitivity(table).gradient):
        with pytest.raises(TooManyClassesError, match=r"10,000,000,000 cells and would take 80\.0 GB"):
            attempt()
    assert len(wmcc.sensitivity(table).cells) == 100_000

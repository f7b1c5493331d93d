"""Matrices of neighbours are what they promise, and `check` finds what matrices are."""

import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import wmcc
from wmcc import matrices
from wmcc.core.summed import ROWS

NAN, INF = float("nan"), float("inf")
weights = st.floats(1e-3, 1e3)
credits_ = st.floats(0, 0.99)
points = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=14)  # many coincide


def laplacian(S):
    """Graph Laplacian of the pattern of S: singular, and positive semidefinite."""
    A = (S - sp.diags_array(S.diagonal())).tocsr()
    A.eliminate_zeros()
    A.data[:] = 1
    return (sp.diags_array(A.sum(axis=1)) - A).tocsr()


def expected(adjacent, w, credit):
    """The definition, in dense matrices."""
    degree = np.maximum(adjacent.sum(axis=1), 1)
    M = adjacent / np.sqrt(np.outer(degree, degree))
    return np.sqrt(np.outer(w, w)) * (np.eye(len(w)) + credit * M)


def promises(S, w, credit, adjacent):
    dense = S.toarray()
    assert isinstance(S, sp.csr_array)
    assert np.array_equal(dense, dense.T)
    assert np.array_equal(dense.diagonal(), w)
    assert (dense >= 0).all()
    assert S.nnz == np.count_nonzero(dense)
    assert dense == pytest.approx(expected(adjacent, w, credit), rel=1e-14)
    scaled = dense / np.sqrt(np.outer(w, w))
    assert np.linalg.eigvalsh(scaled)[0] >= (1 - credit) * (1 - 1e-9) - 1e-12
    found = matrices.check(S)
    assert found.symmetric
    assert found.positive_definite
    assert found.non_negative


# ---- neighbours --------------------------------------------------------------------------------------


@given(points=points, k=st.integers(1, 20), credit=credits_, data=st.data())
def test_nearest(points, k, credit, data):
    N = len(points)
    w = np.array(data.draw(st.lists(weights, min_size=N, max_size=N)))
    S = matrices.nearest(points, k, credit=credit, weight=w)
    full = matrices.nearest(points, k)  # credit 0.5: the pattern
    adjacent = full.toarray() > 0
    np.fill_diagonal(adjacent, False)
    promises(full, np.ones(N), 0.5, adjacent)
    if credit > 0:
        promises(S, w, credit, adjacent)
    distance = np.linalg.norm(np.array(points)[:, None] - np.array(points), axis=2)
    np.fill_diagonal(distance, INF)
    few = min(k, N - 1)
    for i in range(N):
        reach = np.sort(distance[i])[few - 1] if few else -1
        assert adjacent[i].sum() >= few
        assert adjacent[i, distance[i] < reach].all()  # all that are nearer than the k-th
        for j in np.flatnonzero(adjacent[i]):
            assert distance[i, j] <= reach or distance[i, j] <= np.sort(distance[j])[few - 1]


def test_points_that_coincide_have_k_neighbours_too():
    S = matrices.nearest(np.zeros((9, 2)), 1)
    assert 9 < S.nnz <= 9 + 2 * 9


@given(points=points, radius=st.floats(0.1, 6), credit=credits_)
def test_within(points, radius, credit):
    S = matrices.within(points, radius, credit=credit)
    distance = np.linalg.norm(np.array(points)[:, None] - np.array(points), axis=2)
    adjacent = (distance <= radius) & ~np.eye(len(points), dtype=bool)
    if credit > 1e-300 or credit == 0:
        promises(S, np.ones(len(points)), credit, adjacent)


@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple), diagonal=st.booleans(), data=st.data()
)  # fmt: skip
@settings(max_examples=50)
def test_grid(shape, diagonal, data):
    N = int(np.prod(shape))
    w = np.array(data.draw(st.lists(weights, min_size=N, max_size=N)))
    place = np.array(list(np.ndindex(shape)))
    step = np.abs(place[:, None] - place)
    adjacent = (step.max(axis=2) == 1) if diagonal else (step.sum(axis=2) == 1)
    S = matrices.grid(shape, diagonal=diagonal, credit=0.75, weight=w.reshape(shape))
    promises(S, w, 0.75, adjacent)
    assert (matrices.grid(shape, diagonal=diagonal, credit=0.75, weight=w) != S).nnz == 0


@given(w=st.lists(st.floats(5e-324, 1e308, exclude_min=False), min_size=2, max_size=8))
def test_no_credit_is_the_vector(w):
    x = np.arange(len(w))[:, None]
    t, c = [k % 2 for k in range(len(w))], [k % 3 % 2 for k in range(len(w))]
    for S in (matrices.nearest(x, credit=0, weight=w), matrices.grid([len(w)], credit=0, weight=w)):
        assert S.nnz == len(w)
        found = wmcc.tabulate(t, c, S)
        assert found.drawn.kind == "pairs"
        assert replace(found, drawn=ROWS) == wmcc.tabulate(t, c, w)


def test_a_near_miss_scores_more_than_a_far_one():
    truth, near, far = np.repeat([0, 1], 6), np.repeat([0, 1], [7, 5]), np.repeat([0, 1], 6)
    far[-1] = 0
    S = matrices.grid(12)
    assert wmcc.mcc(truth, near) == wmcc.mcc(truth, far)
    assert wmcc.mcc(truth, near, S) > wmcc.mcc(truth, far, S)


@given(data=st.data(), credit=credits_)
def test_the_truth_against_itself_is_the_ceiling(data, credit):
    shape = (3, 4)
    labels = st.lists(st.integers(0, 1), min_size=12, max_size=12)
    t, c = data.draw(labels), data.draw(labels)
    S = matrices.grid(shape, credit=credit, weight=data.draw(st.lists(weights, min_size=12, max_size=12)))
    assert wmcc.mcc(t, c, S) ** 2 <= wmcc.mcc(t, t, S) * wmcc.mcc(c, c, S) * (1 + 1e-9) + 1e-12


LINE = [[0.0], [1.0], [3.0]]
REFUSED = {
    "k of 0": (lambda: matrices.nearest(LINE, 0), "k is 0; expected a number of neighbours"),
    "half a neighbour": (lambda: matrices.nearest(LINE, 1.5), "k is 1.5"),
    "k is True": (lambda: matrices.nearest(LINE, True), "k is True"),
    "no points": (lambda: matrices.nearest(np.zeros((0, 2))), r"points has shape \(0, 2\)"),
    "a vector of points": (lambda: matrices.nearest([1.0, 2.0]), r"shape \(2,\)[\s\S]*x\[:, None\]"),
    "text": (lambda: matrices.nearest([["a"]]), "points must be an array of N x d coordinates"),
    "ragged": (lambda: matrices.nearest([[1], [1, 2]]), "points must be an array"),
    "a NaN": (lambda: matrices.within([[0.0, 1.0], [NAN, 2.0]], 1), r"points\[1, 0\] is nan; coordinates must be"),
    "masked": (lambda: matrices.nearest(np.ma.array(LINE, mask=[[0], [1], [0]])), r"points\[1, 0\] is nan"),
    "radius 0": (lambda: matrices.within(LINE, 0), "radius is 0.0; expected a positive number"),
    "radius inf": (lambda: matrices.within(LINE, INF), "radius is inf"),
    "radius NaN": (lambda: matrices.within(LINE, NAN), "radius is nan"),
    "radius text": (lambda: matrices.within(LINE, "1"), "radius is '1'; expected a positive number"),
    "credit 1": (lambda: matrices.nearest(LINE, credit=1), r"credit is 1.0; expected 0 ≤ credit < 1[\s\S]*definite"),
    "credit below 0": (lambda: matrices.grid((2, 2), credit=-0.1), "credit is -0.1"),
    "credit NaN": (lambda: matrices.grid((2, 2), credit=NAN), "credit is nan"),
    "credit None": (lambda: matrices.grid((2, 2), credit=None), "credit is None; expected 0 ≤ credit < 1"),
    "weight 0": (lambda: matrices.nearest(LINE, weight=[1, 0, 2]), r"weight\[1\] is 0.0; a weight must be positive"),
    "weight inf": (lambda: matrices.grid((1, 2), weight=[[1, INF]]), r"weight\[0, 1\] is inf"),
    "weight text": (lambda: matrices.nearest(LINE, weight=["a", "b", "c"]), "a weight must be a real number"),
    "weights too few": (lambda: matrices.nearest(LINE, weight=[1, 2]), r"weight has shape \(2,\); expected \(3,\)\."),
    "weights of another image": (
        lambda: matrices.grid((2, 3), weight=np.ones((3, 2))),
        r"shape \(3, 2\); expected \(2, 3\) or \(6,\)",
    ),
    "no shape": (lambda: matrices.grid(()), r"shape is \(\); expected"),
    "side of 0": (lambda: matrices.grid((0, 2)), r"shape is \(0, 2\)"),
    "half a side": (lambda: matrices.grid((1.5, 2)), r"shape is \(1.5, 2\)"),
    "not square": (lambda: matrices.check(np.ones((2, 3))), r"S has shape \(2, 3\); expected a square matrix"),
    "no matrix": (lambda: matrices.check(np.ones(3)), r"S has shape \(3,\)"),
    "empty": (lambda: matrices.check(np.ones((0, 0))), r"S has shape \(0, 0\)"),
    "NaN inside": (lambda: matrices.check([[1, NAN], [NAN, 1]]), r"S\[0, 1\] is nan; expected finite"),
    "sparse inf": (lambda: matrices.check(sp.csr_array([[1, 0], [0, INF]])), r"S\[1, 1\] is inf; expected finite"),
    "complex": (lambda: matrices.check(sp.csr_array([[1j]])), "S holds complex numbers"),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_refused(call, message):
    with pytest.raises((wmcc.InputError, wmcc.InputTypeError), match=message):
        call()


# ---- check -------------------------------------------------------------------------------------------

TRIDIAGONAL = np.eye(4) + 0.8 * (np.eye(4, k=1) + np.eye(4, k=-1))  # smallest eigenvalue 1 - 1.6 cos 36° < 0
SCALES = np.outer([1e-150, 1, 1e150], [1e-150, 1, 1e150])
KNOWN = {
    "identity": (np.eye(3), (True, True, True), "dominated by its diagonal"),
    "one": ([[2.0]], (True, True, True), "positive definite"),
    "integers": ([[2, 1], [1, 2]], (True, True, True), "positive definite"),
    "negative but definite": ([[2, -1], [-1, 2]], (True, True, False), r"S\[0, 1\] is -1.0, below 0"),
    "not dominated": (0.1 * np.eye(5) + 0.9, (True, True, True), "Cholesky factor exists"),
    "badly scaled": (SCALES * (0.2 * np.eye(3) + 0.8), (True, True, True), "Cholesky factor exists"),
    "asymmetric": (
        [[1, 0.5], [0.25, 1]],
        (False, False, True),
        r"S\[0, 1\] is 0.5 and S\[1, 0\] is 0.25: they differ by 0.25",
    ),
    "asymmetric by a bit": ([[1, 0.5], [np.nextafter(0.5, 1), 1]], (False, False, True), "differ by 1.11e-16"),
    "indefinite pair": ([[1, 2], [2, 1]], (True, False, True), r"S\[0, 1\]² is larger than S\[0, 0\] · S\[1, 1\]"),
    "indefinite": (TRIDIAGONAL, (True, False, True), r"smallest eigenvalue is -0\.294"),
    "zero on the diagonal": ([[1, 0], [0, 0]], (True, False, True), r"S\[1, 1\] is 0.0, and must be positive"),
    "negative diagonal": ([[-1, 0], [0, 1]], (True, False, False), r"S\[0, 0\] is -1.0, and must[\s\S]*below 0"),
    "all zeros": (np.zeros((2, 2)), (True, False, True), r"S\[0, 0\] is 0.0"),
    "singular": (np.ones((3, 3)), (True, False, True), "not positive definite to rounding"),
    "singular by 1e-17": (np.ones((2, 2)) - np.eye(2) * 1e-17, (True, False, True), "to rounding"),
    "definite by 1e-12": (np.ones((2, 2)) + np.eye(2) * 1e-12, (True, True, True), "It is positive definite"),
    "huge": ([[1e300, 1e308], [1e308, 1e300]], (True, False, True), "is larger than"),
}


@pytest.mark.parametrize("form", [np.array, sp.csr_array, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize(("S", "answer", "reason"), KNOWN.values(), ids=list(KNOWN))
def test_known_matrices(form, S, answer, reason):
    found = matrices.check(form(S))
    assert (found.symmetric, found.positive_definite, found.non_negative) == answer
    assert re.search(reason, found.reason)


@pytest.mark.parametrize("small", [0, 500])
@given(n=st.integers(1, 12), rank=st.integers(1, 14), seed=st.integers(0, 1000), shift=st.floats(-0.5, 0.5))
@settings(max_examples=60)
def test_eigenvalues_agree(small, n, rank, seed, shift):
    """Dense and sparse, and sparse by its own pivots, say what the eigenvalues say."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n, rank)) * (rng.random((n, rank)) < 0.6)
    S = B @ B.T + shift * np.eye(n)
    S = (S + S.T) / 2
    root = np.sqrt(np.abs(S.diagonal()).clip(1e-9))
    least = np.linalg.eigvalsh(S / root[:, None] / root)[0]
    before = matrices.checks.SMALL
    matrices.checks.SMALL = small
    try:
        found = [matrices.check(S), matrices.check(sp.csr_array(S))]
    finally:
        matrices.checks.SMALL = before
    for answer in found:
        assert answer.symmetric
        if abs(least) > 1e-9:
            assert answer.positive_definite == (least > 0)
            assert "to rounding" not in answer.reason


@pytest.mark.parametrize("side", [12, 40])  # 144 rows, checked as dense, and 1,600, by their pivots
def test_close_to_singular(side):
    L, eye = laplacian(matrices.grid((side, side))), sp.eye_array(side * side)
    assert matrices.check(L + 1e-6 * eye).positive_definite
    for S, rounding in ((L, True), (L + 1e-15 * eye, True), (L - 1e-6 * eye, False)):
        found = matrices.check(S)
        assert found.symmetric
        assert not found.positive_definite
        assert ("to rounding" in found.reason) == rounding


def test_large_sparse_matrices():
    rng = np.random.default_rng(0)
    S = matrices.nearest(rng.random((3000, 2)), 6, credit=0.98, weight=rng.random(3000) + 0.1)
    found = matrices.check(S)
    assert found.positive_definite
    assert "pivots" in found.reason
    three = [[1, 0.9, 0.9], [0.9, 1, 0.1], [0.9, 0.1, 1]]  # every pair is fine, the three together are not
    found = matrices.check(sp.block_diag([sp.eye_array(700), three, sp.eye_array(700)], format="csr"))
    assert not found.positive_definite
    assert re.search(r"the pivot of row 70[012] is -", found.reason)
    crossed = S.copy()
    crossed.data[1] *= 1.5
    i, j = 0, int(crossed.indices[1])
    assert f"S[{min(i, j)}, {max(i, j)}] is" in matrices.check(crossed).reason


@pytest.mark.parametrize(("S", "bad"), [([[0, 1], [1, 0]], True), ([[1, 1], [1, 1]], True), ([[2, 1], [1, 2]], False)])
def test_pivots_of_exactly_zero(S, bad):
    assert matrices.checks._factorised(sp.csr_array(np.array(S, dtype=float)))[0] == "a pivot is 0" * bad


def test_the_answer_is_frozen():
    with pytest.raises(AttributeError):
        matrices.check([[1.0]]).symmetric = False

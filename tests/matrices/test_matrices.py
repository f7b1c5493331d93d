"""Matrices of neighbours are what they promise, `check` finds what matrices are, and the truth scores 1 under them."""

import re
import warnings
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import wmcc
import wmcc.measures
from wmcc import matrices
from wmcc.core.design import ROWS
from wmcc.errors import InputError, InputTypeError, MapWarning, UndefinedMeasureError, UndefinedMeasureWarning

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
    degree = adjacent.sum(axis=1)
    degree = np.where(degree > 0, degree, 1)
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
    assert wmcc.mcc(truth, near, sample_weight=S) > wmcc.mcc(truth, far, sample_weight=S)


@given(data=st.data(), credit=credits_)
def test_the_truth_against_itself_is_the_ceiling(data, credit):
    shape = (3, 4)
    labels = st.lists(st.integers(0, 1), min_size=12, max_size=12)
    t, c = data.draw(labels), data.draw(labels)
    S = matrices.grid(shape, credit=credit, weight=data.draw(st.lists(weights, min_size=12, max_size=12)))
    assert (
        wmcc.mcc(t, c, sample_weight=S) ** 2
        <= wmcc.mcc(t, t, sample_weight=S) * wmcc.mcc(c, c, sample_weight=S) * (1 + 1e-9) + 1e-12
    )


# ---- neighbours that the caller names ----------------------------------------------------------------


@given(
    N=st.integers(1, 9),
    edges=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20),
    credit=credits_,
    data=st.data(),
)
def test_a_list_of_pairs(N, edges, credit, data):
    w = np.array(data.draw(st.lists(weights, min_size=N, max_size=N)))
    edges = [(i, j) for i, j in edges if max(i, j) < N and i != j]
    adjacent = np.zeros((N, N), dtype=bool)
    for i, j in edges:
        adjacent[i, j] = adjacent[j, i] = True
    S = matrices.from_adjacency(edges, n=N, credit=credit, weight=w)
    if credit > 1e-300 or credit == 0:
        promises(S, w, credit, adjacent & (credit > 0))
    for A in (adjacent, adjacent.astype(int), adjacent.tolist(), sp.coo_array(adjacent), sp.csr_matrix(adjacent * 7.5)):
        again = matrices.from_adjacency(A, credit=credit, weight=w)
        assert (again != S).nnz == 0
    assert (matrices.from_adjacency(np.array(edges).reshape(-1, 2), n=N, credit=credit, weight=w) != S).nnz == 0


@given(N=st.integers(1, 8), seed=st.integers(0, 10**6), credit=st.floats(0.01, 0.99))
def test_lengths_of_borders_divide_the_credit(N, seed, credit):
    rng = np.random.default_rng(seed)
    A = rng.lognormal(0, 4, (N, N)) * (rng.random((N, N)) < 0.5)
    A = np.triu(A, 1) + np.triu(A, 1).T
    before, w = A.copy(), rng.lognormal(0, 2, N)
    for given_as in (A, sp.csr_array(A)):
        promises(matrices.from_adjacency(given_as, credit=credit, weight=w), w, credit, A)
    assert np.array_equal(A, before)
    # Of an observation with one neighbour, which has no other, the neighbour has all of the credit.
    pair = matrices.from_adjacency([[0, 30], [30, 0]], credit=credit).toarray()
    assert pair[0, 1] == pytest.approx(credit)


def test_borders_of_any_size():
    A = np.array([[0, 1e-300, 0], [1e-300, 0, 1e300], [0, 1e300, 0]])
    S = matrices.from_adjacency(A).toarray()
    assert np.isfinite(S).all()
    assert S[1, 2] == pytest.approx(0.5)
    small = matrices.from_adjacency(A[:2, :2]).toarray()
    assert small[0, 1] == pytest.approx(0.5)


def test_neighbours_named_as_those_of_a_grid():
    S = matrices.grid((3, 4), credit=0.7)
    A = (S - sp.diags_array(S.diagonal())) > 0
    assert (matrices.from_adjacency(A, credit=0.7) != S).nnz == 0


# ---- points of geopandas and shapely ------------------------------------------------------------------

XY = [(0.0, 0.0), (10.0, 0.0), (10.0, 30.0), (25.0, 5.0)]


def test_points_of_shapely():
    import shapely

    points = [shapely.Point(x, y) for x, y in XY]
    high = [shapely.Point(x, y, 1000.0 * x) for x, y in XY]  # heights do not count, as in shapely's own distances
    expected = matrices.nearest(XY, 2)
    for given_as in (points, tuple(points), np.array(points), high, shapely.MultiPoint(XY)):
        assert (matrices.nearest(given_as, 2) != expected).nnz == 0
        assert (matrices.within(given_as, 20) != matrices.within(XY, 20)).nnz == 0
    square = shapely.box(0, 0, 1, 1)
    for row, bad, word in ((1, square, "POLYGON"), (2, None, "missing"), (3, shapely.Point(), "EMPTY")):
        broken = list(points)
        broken[row] = bad
        with pytest.raises(InputError, match=rf"points\[{row}\] is .*{word}.*; expected a point"):
            matrices.nearest(broken)
    squares = [shapely.box(x, y, x + 2, y + 2) for x, y in XY]
    with pytest.raises(InputError, match=r"for polygons pass \.centroid"):
        matrices.nearest(squares)
    assert (matrices.nearest([x.centroid for x in squares], 2) != expected).nnz == 0  # the hint can be followed


def test_points_of_geopandas():
    import geopandas as gpd

    series = gpd.GeoSeries.from_xy(*zip(*XY, strict=True), crs=25832)
    frame = gpd.GeoDataFrame({"area": [1.0, 2.0, 3.0, 4.0]}, geometry=series)
    expected = matrices.nearest(XY, 2, weight=frame.area + 1)
    for given_as in (series, frame, frame.set_index("area"), frame.rename_geometry("centre")):
        assert (matrices.nearest(given_as, 2, weight=frame["area"] * 0 + 1) != expected).nnz == 0
    degrees = series.to_crs(4326)
    with pytest.raises(InputError, match=r"in degrees \(WGS 84\)[\s\S]*estimate_utm_crs") as refused:
        matrices.within(degrees, 20)
    hint = refused.value.hint.removeprefix("project them first: ").rstrip(".")
    projected = eval(hint, {"points": degrees})
    assert (matrices.within(projected, 20) != matrices.within(XY, 20)).nnz == 0
    with pytest.raises(InputError, match="in degrees"):
        matrices.nearest(gpd.GeoDataFrame(geometry=degrees))
    squares = gpd.GeoDataFrame(geometry=series.buffer(1, cap_style="square"))
    with pytest.raises(InputError, match=r"points\[0\] is POLYGON"):
        matrices.nearest(squares)
    assert (matrices.nearest(squares.centroid, 2) != matrices.nearest(XY, 2)).nnz == 0


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
    "pairs without n": (
        lambda: matrices.from_adjacency([(0, 1), (1, 2), (0, 2)]),
        r"A has shape \(3, 2\)[\s\S]*needs n=, the number of observations",
    ),
    "n of 0": (lambda: matrices.from_adjacency([(0, 1)], n=0), "n is 0; expected the number of observations"),
    "a pair beyond n": (lambda: matrices.from_adjacency([(0, 1), (1, 3)], n=3), r"pair 1 of A is \(1, 3\).* 0 to 2"),
    "a pair of one": (lambda: matrices.from_adjacency([(1, 1)], n=3), r"pair 0 of A is \(1, 1\); expected two diff"),
    "pairs of floats": (lambda: matrices.from_adjacency([(0.5, 1.0)], n=3), r"must be pairs \(i, j\) of integers"),
    "a matrix and n": (lambda: matrices.from_adjacency(np.eye(3), n=3), r"leave n= out for an N x N matrix"),
    "one way only": (
        lambda: matrices.from_adjacency([[0, 1], [0, 0]]),
        r"A\[0, 1\] is 1.0 and A\[1, 0\] is 0.0: .*; expected a symmetric",
    ),
    "its own neighbour": (lambda: matrices.from_adjacency(np.eye(3)), r"A\[0, 0\] is 1.0; expected zeros on the diag"),
    "no distance": (lambda: matrices.from_adjacency([[0, -1], [-1, 0]]), r"smallest entry of A is -1.0"),
    "NaN for a border": (lambda: matrices.from_adjacency([[0, NAN], [NAN, 0]]), r"A\[0, 1\] is nan; expected finite"),
    "a matrix of a cube": (lambda: matrices.from_adjacency(np.zeros((2, 2, 2))), r"A has shape \(2, 2, 2\)"),
    "weight of another number": (lambda: matrices.from_adjacency([(0, 1)], n=3, weight=[1, 2]), r"weight has shape"),
    "full credit": (lambda: matrices.from_adjacency([(0, 1)], n=3, credit=1), r"credit is 1.0"),
    "not square": (lambda: matrices.check(np.ones((2, 3))), r"S has shape \(2, 3\); expected a square matrix"),
    "no matrix": (lambda: matrices.check(np.ones(3)), r"S has shape \(3,\)"),
    "empty": (lambda: matrices.check(np.ones((0, 0))), r"S has shape \(0, 0\)"),
    "NaN inside": (lambda: matrices.check([[1, NAN], [NAN, 1]]), r"S\[0, 1\] is nan; expected finite"),
    "sparse inf": (lambda: matrices.check(sp.csr_array([[1, 0], [0, INF]])), r"S\[1, 1\] is inf; expected finite"),
    "complex": (lambda: matrices.check(sp.csr_array([[1j]])), "S holds complex numbers"),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_refused(call, message):
    with pytest.raises((InputError, InputTypeError), match=message):
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


# ---- scores that are 1 for the truth -------------------------------------------------------------------


def oracle(t, c, S):
    """ECC, MPC1 and MPC2 by their definition, in fractions; None where a denominator is zero."""
    labels = sorted({*t, *c})
    S = [[Fraction(x) for x in row] for row in S]
    one = [1] * len(t)

    def form(a, b):
        return sum(S[i][j] for i, x in enumerate(a) if x for j, y in enumerate(b) if y)

    def cov(a, b):
        return form(a, b) * form(one, one) - form(a, one) * form(one, b)

    occur = [
        k for k in labels if form([x == k for x in t], one) + form(one, [x == k for x in c]) > 0
    ]  # fmt: skip
    T, C = ([[x == k for x in own] for k in occur] for own in (t, c))
    N = [cov(a, b) for a, b in zip(T, C, strict=True)]
    P, Q = [cov(a, a) for a in T], [cov(b, b) for b in C]
    with localcontext() as context:
        context.prec = 60

        def root(x):
            return (Decimal(x.numerator) / Decimal(x.denominator)).sqrt()

        def number(x):
            return Decimal(x.numerator) / Decimal(x.denominator)

        roots = [root(p * q) for p, q in zip(P, Q, strict=True)]
        ecc = number(sum(N)) / root(sum(P) * sum(Q)) if sum(P) * sum(Q) else None
        mpc1 = number(sum(N)) / sum(roots) if any(roots) else None
        terms = [number(n) / r for n, r in zip(N, roots, strict=True) if r]
        mpc2 = sum(terms) / len(occur) if terms else None
    return {"ecc": ecc, "mpc1": mpc1, "mpc2": mpc2}


@st.composite
def semidefinite(draw, definite=False):
    """A symmetric positive semidefinite matrix of numbers of at least 0, exact in float64, and labels."""
    N, rank = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    B = np.array(draw(st.lists(st.lists(st.integers(0, 3), min_size=rank, max_size=rank), min_size=N, max_size=N)))
    S = (B @ B.T + definite * np.eye(N)) * draw(st.sampled_from([1.0, 2.0**-30, 2.0**40]))
    labels = st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=N, max_size=N)
    return draw(labels), draw(labels), S


@given(semidefinite())
def test_scores_under_a_matrix_are_those_of_the_definition(case):
    t, c, S = case
    if not S.any():
        with pytest.raises(InputError, match=r"no observations|nothing to score"):
            matrices.score(t, c, S)
        return
    blocks = (S[k : k + 2] for k in range(0, len(t), 2))
    found = matrices.score(t, c, S)
    for other in (matrices.score(t, c, sp.csr_array(S)), matrices.score(t, c, blocks)):
        assert other == found
    undefined = []
    for name, expected in oracle(t, c, S.tolist()).items():
        value = getattr(found, name)
        if expected is None:
            undefined.append(name)
            assert value == 0.0
            assert f"{wmcc.measures.MEASURES[name].title}" in found.problem
            with pytest.raises(UndefinedMeasureError):
                matrices.score(t, c, S, zero_division="raise")
        else:
            assert abs(Decimal(value) - expected) <= Decimal("1e-15")
            assert -1 <= value <= 1
    assert (found.problem is None) == (not undefined)
    assert found.table == wmcc.tabulate(t, c, S)
    for name, value in found.literal.items():
        assert value == wmcc.measures.MEASURES[name](found.table)
    assert (found.mcc is None) == (len({*t, *c}) > 2)
    assert found.mcc in (None, found.ecc)


@given(semidefinite(definite=True))
def test_the_truth_scores_one_and_nothing_else_does(case):
    """Exactly 1.0, for ECC, MPC1 and MPC2; under a positive definite matrix only the truth does."""
    t, c, S = case
    own = matrices.score(t, t, S)
    if len(set(t)) > 1:
        assert (own.ecc, own.mpc1, own.mpc2, own.problem) == (1.0, 1.0, 1.0, None)
        found, back = matrices.score(t, c, S), matrices.score(c, t, S)
        assert (found.ecc, found.mpc1, found.mpc2) == (back.ecc, back.mpc1, back.mpc2)
        if t != c:
            assert found.ecc < 1
    else:
        assert own.ecc == 0.0
        assert "the classes of y_true and of y_pred do not vary" in own.problem


@given(data=st.data(), N=st.integers(1, 9), K=st.integers(1, 4))
def test_of_a_diagonal_matrix_they_are_the_measures_themselves(data, N, K):
    labels = st.lists(st.integers(0, K - 1), min_size=N, max_size=N)
    t, c = data.draw(labels), data.draw(labels)
    w = np.array(data.draw(st.lists(st.floats(1e-300, 1e300), min_size=N, max_size=N)))
    found, plain = matrices.score(t, c, np.diag(w)), wmcc.tabulate(t, c, w)
    for name, value in found.literal.items():
        assert value == getattr(found, name) == wmcc.measures.MEASURES[name](plain)


def test_tolerance_does_not_lower_the_truth():
    truth = np.repeat([0, 1, 2], 8)
    for credit in (0.1, 0.5, 0.9):
        S = matrices.grid(24, credit=credit)
        own = matrices.score(truth, truth, S)
        assert own.ecc == own.mpc1 == own.mpc2 == 1.0
        assert max(own.literal.values()) < 1  # the paper's formula charges the truth for its own borders
        near, far = truth.copy(), truth.copy()
        near[8], far[12] = 0, 0
        assert own.ecc > matrices.score(truth, near, S).ecc > matrices.score(truth, far, S).ecc


def test_matrices_that_are_not_semidefinite_are_refused_where_it_shows():
    t, c = [0, 0, 1, 1], [0, 1, 0, 1]
    swap = np.array([[0, 1.0], [1, 0]])
    negative = np.kron(np.eye(2), swap)  # ⟨c, c⟩ is 0 for c = 0101, and its variance is below 0
    with pytest.raises(InputError, match="not positive semidefinite: the variance of class 0 in y_pred"):
        matrices.score(t, c, negative)
    leaves = np.array([[0, 0, 1, 2], [0, 2, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]])
    assert not matrices.check(leaves).positive_definite
    with pytest.raises(InputError, match=r"not positive semidefinite: class [01] would have a correlation outside"):
        matrices.score([1, 0, 1, 1], [1, 0, 1, 0], leaves)
    skew = np.array([[1, 0.5], [0.25, 1]])
    with pytest.raises(InputError, match=r"\[0, 1\] is 0.5 and .*\[1, 0\] is 0.25[\s\S]*\(S \+ S.T\) / 2"):
        matrices.score([0, 1], [0, 1], skew)
    with pytest.raises(InputError, match="S is not symmetric"):
        matrices.score([0, 1], [0, 1], iter([skew]))
    assert matrices.score([0, 1], [0, 1], (skew + skew.T) / 2).mcc == 1.0


def test_undefined_scores_under_a_matrix():
    ones = np.ones((4, 4))  # every pair counts alike: no class varies
    found = matrices.score([0, 0, 1, 1], [0, 1, 0, 1], ones)
    assert (found.mcc, found.mpc1, found.mpc2) == (0.0, 0.0, 0.0)
    assert found.problem.startswith("ECC (R_K), MPC1, MPC2: undefined, since under S the classes of y_true and of y_p")
    assert found.problem in repr(found)
    assert np.isnan(matrices.score([0, 1], [1, 1], np.eye(2), zero_division=NAN).ecc)
    apart = matrices.score([0, 1], [2, 3], np.eye(2))  # ECC has a value where MPC1 has none
    assert apart.ecc == 0.0
    assert apart.problem == "MPC1, MPC2: undefined, since no class varies both in y_true and in y_pred."
    with warnings.catch_warnings(record=True, action="always") as said:
        matrices.score([0, 1], [2, 3], np.eye(2), zero_division="warn")
    assert {warning.category for warning in said} == {UndefinedMeasureWarning}
    assert "MPC1 is undefined and set to 0: no class varies both in y_true and in y_pred." in map(
        str, [warning.message for warning in said]
    )


@pytest.mark.parametrize(
    ("S", "said"),
    [
        ([1.0, 2.0], r"sample_weight has shape \(2,\); expected a square matrix"),
        (np.eye(3), r"sample_weight has shape \(3, 3\); 2 labels need \(2, 2\)"),
        (sp.eye_array(3), r"shape \(3, 3\); 2 labels need \(2, 2\)"),
        ([[1, -1], [-1, 1]], r"\[0, 1\] is -1.0"),
        (np.zeros((2, 2)), "nothing to score"),
    ],
)
def test_matrices_that_cannot_be_scored(S, said):
    with pytest.raises(InputError, match=said):
        matrices.score([0, 1], [0, 1], S)


# ---- maps ----------------------------------------------------------------------------------------------


def quilt(n, m, seed=0, size=100.0, at=(500000.0, 5600000.0)):
    """Quadrilaterals that fill a plane without gaps; every third is cut in two."""
    import shapely

    rng = np.random.default_rng(seed)
    x, y = (at[k] + size * (v + rng.uniform(-0.2, 0.2, v.shape)) for k, v in enumerate(np.mgrid[: n + 1, : m + 1]))
    made = []
    for i, j in np.ndindex(n, m):
        ring = [(x[i + a, j + b], y[i + a, j + b]) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
        if (i + j) % 3:
            made.append(shapely.Polygon(ring))
        else:  # along a diagonal
            made += [shapely.Polygon(ring[:3]), shapely.Polygon([ring[0], *ring[2:]])]
    return np.array(made)


def segments(polygon):
    xy = list(polygon.exterior.coords)
    return {frozenset(pair) for pair in pairwise(xy)}


def by_sides(polygons):
    """Polygons with a common side, its length, and those with a common vertex: by comparing all with all."""
    N = len(polygons)
    sides, corners = [segments(x) for x in polygons], [set(x.exterior.coords) for x in polygons]
    length, corner = np.zeros((N, N)), np.zeros((N, N), dtype=bool)
    for i in range(N):
        for j in range(N):
            if i != j:
                length[i, j] = sum(np.hypot(*np.subtract(*map(list, tuple(s)))) for s in sides[i] & sides[j])
                corner[i, j] = bool(corners[i] & corners[j])
    return length, corner


@pytest.mark.parametrize("seed", range(3))
def test_polygons_that_touch(seed):
    polygons = quilt(4, 5, seed)
    length, corner = by_sides(polygons)
    w = np.random.default_rng(seed).uniform(0.5, 2, len(polygons))
    promises(matrices.touching(polygons, weight=w), w, 0.5, (length > 0).astype(float))
    promises(matrices.touching(polygons, border=True, credit=0.9, weight=w), w, 0.9, length)
    promises(matrices.touching(polygons, corner=True, weight=w), w, 0.5, corner.astype(float))
    assert (corner & (length == 0)).any()


def test_polygons_whose_vertices_do_not_meet():
    import shapely

    polygons = quilt(3, 4, at=(0.0, 0.0))
    _, low, right, high = shapely.total_bounds(polygons)
    beside = [shapely.box(right + 50, low + 100 * k, right + 150, low + 100 * (k + 1)) for k in range(4)]
    frame = shapely.box(right + 150, low, right + 250, high)  # its long side has none of their vertices
    both = np.array([*polygons, *beside, frame])
    N = len(both)
    A = np.zeros((N, N))
    for i, j in zip(*np.triu_indices(N, 1), strict=True):
        A[i, j] = A[j, i] = shapely.length(shapely.intersection(both[i], both[j]))
    assert (A[len(polygons) :].sum(axis=1) > 0).sum() == 5
    assert matrices.touching(both, border=True).toarray() == pytest.approx(matrices.from_adjacency(A).toarray())
    hole = shapely.difference(shapely.box(-500, -500, 1500, 1500), shapely.union_all(polygons))
    around = np.array([*polygons, shapely.MultiPolygon([hole, shapely.box(2000, 0, 2100, 100)])])  # around the others
    found = matrices.touching(around).toarray()
    outside = [bool(shapely.length(shapely.intersection(x, hole))) for x in polygons]
    assert (found[-1, :-1] > 0).tolist() == outside
    assert 0 < sum(outside) < len(polygons)


@pytest.mark.parametrize("gap", [0.5, 2.0])
def test_a_gap_between_polygons(gap):
    import shapely

    polygons = quilt(4, 5)
    length, corner = by_sides(polygons)
    apart = shapely.buffer(polygons, -0.4 * gap, join_style="mitre")  # 0.8 gap between them
    with pytest.warns(MapWarning, match=f"no two of {len(polygons)} polygons touch.*give `gap`"):
        assert matrices.touching(apart).nnz == len(polygons)
    found = matrices.touching(apart, gap=gap).toarray() > 0
    assert np.array_equal(found & ~np.eye(len(found), dtype=bool), length > 0)
    shares = matrices.from_adjacency(length, credit=0.9).toarray()
    assert matrices.touching(apart, border=True, gap=gap, credit=0.9).toarray() == pytest.approx(shares, abs=0.06 * gap)
    assert np.array_equal(
        matrices.touching(polygons, corner=True, gap=gap).toarray() > 0, corner | np.eye(len(corner), dtype=bool)
    )
    over = shapely.buffer(polygons, 0.1, join_style="mitre")  # they overlap
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = matrices.touching(over, gap=gap).toarray() > 0
    assert np.array_equal(found & ~np.eye(len(found), dtype=bool), length > 0)


def test_polygons_that_overlap_or_stand_alone():
    from shapely import box

    one, over, inside, alone = box(0, 0, 10, 10), box(9, 2, 20, 8), box(3, 3, 4, 4), box(30, 0, 40, 10)
    polygons = [one, over, inside, alone, one]
    S = matrices.touching(polygons).toarray()
    assert (S > 0).tolist() == [
        [k in own for k in range(5)] for own in ([0, 1, 2, 4], [0, 1, 4], [0, 2, 4], [3], [0, 1, 2, 4])
    ]
    A = np.zeros((5, 5))  # what each has of its outline within the other, on average
    A[0, 1] = A[1, 4] = (6 + 8) / 2
    A[0, 2] = A[2, 4] = 4 / 2
    A[0, 4] = 40
    lengths = matrices.from_adjacency(A + A.T).toarray()
    assert matrices.touching(polygons, border=True).toarray() == pytest.approx(lengths, rel=1e-12)
    assert matrices.touching([one]).toarray().tolist() == [[1.0]]


def test_borders_in_degrees_are_measured_in_metres():
    import geopandas as gpd
    import shapely

    boxes = [shapely.box(9, 60, 9.01, 60.01), shapely.box(9.01, 60, 9.02, 60.01), shapely.box(9, 60.01, 9.01, 60.02)]
    series = gpd.GeoSeries(boxes, crs=4326)
    geod = series.crs.get_geod()
    north, east = geod.line_length([9.01, 9.01], [60, 60.01]), geod.line_length([9, 9.01], [60.01, 60.01])
    assert north / east == pytest.approx(2, rel=0.01)
    A = [[0, north, east], [north, 0, 0], [east, 0, 0]]
    assert (matrices.touching(series, border=True) != matrices.from_adjacency(A)).nnz == 0
    with pytest.raises(InputError, match=r"`gap` is a distance.*in degrees \(WGS 84\)[\s\S]*estimate_utm_crs") as no:
        matrices.touching(series, gap=1.0)
    hint = no.value.hint.removeprefix("project them first: ").rstrip(".")
    assert matrices.touching(eval(hint, {"polygons": series}), gap=1.0).nnz == 7


def parcels():
    import geopandas as gpd

    polygons = quilt(4, 5)
    rng = np.random.default_rng(1)
    ref = rng.choice(["field", "wood", "lake"], len(polygons))
    made = np.where(rng.random(len(polygons)) < 0.7, ref, "wood")
    return gpd.GeoDataFrame({"ref": ref, "map": made, "ha": rng.uniform(1, 2, len(ref))}, geometry=polygons, crs=25832)


def test_a_map_of_polygons_in_one_call(tmp_path):
    frame = parcels()
    areas = wmcc.geo.areas.polygon_areas(frame.geometry.to_numpy(), frame.crs, "km2")
    found = matrices.score_polygons(frame, true="ref", pred="map", weight=wmcc.Area("km2"), credit=0.3, border=True)
    S = matrices.touching(frame.geometry, credit=0.3, border=True, weight=areas)
    assert found == matrices.score(frame["ref"], frame["map"], S)
    assert found.table.total == pytest.approx(S.sum(), rel=1e-12)
    frame.to_file(tmp_path / "p.gpkg", layer="a")
    assert matrices.score_polygons(
        wmcc.Layer(tmp_path / "p.gpkg", "a"), true="ref", pred="map", weight=wmcc.Area("km2"), credit=0.3, border=True
    ) == found  # fmt: skip
    by_column = matrices.score_polygons(frame, true="ref", pred="map", weight="ha")
    assert by_column == matrices.score(frame["ref"], frame["map"], matrices.touching(frame, weight=frame["ha"]))
    assert by_column == matrices.score_polygons(
        frame.rename(columns={"ha": "area"}), true="ref", pred="map", weight="area"
    )
    assert matrices.score_polygons(frame, true="ref", pred="ref").ecc == 1.0


def test_polygons_that_are_left_out_are_no_neighbours():
    frame = parcels()
    kept = frame["ref"] != "lake"
    found = matrices.score_polygons(frame, true="ref", pred="map", weight="area", ignore="lake")
    expected = matrices.score_polygons(frame[kept], true="ref", pred="map", weight="area")
    assert found == replace(expected, ignored=int((~kept).sum()))
    assert f"; {(~kept).sum()} observations left out" in str(found)
    holes = frame.assign(ref=frame["ref"].where(kept, None))
    assert matrices.score_polygons(holes, true="ref", pred="map", weight="area", missing="ignore") == found
    with pytest.raises(InputError, match=r"missing[\s\S]*`missing` 'ignore'"):
        matrices.score_polygons(holes, true="ref", pred="map")
    none = frame.copy()
    none.loc[[3], "geometry"] = None
    with pytest.warns(MapWarning, match="1 row has no geometry"):
        found = matrices.score_polygons(none, true="ref", pred="map", weight="area")
    assert found == replace(matrices.score_polygons(frame.drop(3), true="ref", pred="map", weight="area"), ignored=1)


POLYGONS_REFUSED = {
    "no polygons": (lambda x: matrices.touching(x.geometry.to_numpy()[:0]), "there are no polygons"),
    "points": (lambda x: matrices.touching(x.centroid), "holds points; expected polygons"),
    "numbers": (lambda x: matrices.touching([1, 2]), "`polygons` is a list; expected polygons of shapely"),
    "corner and border": (lambda x: matrices.touching(x, corner=True, border=True), "a corner has no length"),
    "gap below 0": (lambda x: matrices.touching(x, gap=-1), "`gap` is -1; expected a distance of at least 0"),
    "gap in words": (lambda x: matrices.touching(x, gap="1 m"), "`gap` is '1 m'"),
    "no CRS": (
        lambda x: matrices.touching(x.geometry.to_numpy(), weight="area"),
        r"the frame has no coordinate reference system[\s\S]*crs=",
    ),
    "no column": (lambda x: matrices.touching(x, weight="are"), "there is no column 'are'"),
    "no label": (lambda x: matrices.score_polygons(x, true="rf", pred="map"), r"no column 'rf'[\s\S]*'ref'"),
    "no column of arrays": (lambda x: matrices.touching(x.geometry, weight="ha"), "there is no column 'ha'"),
    "weights too few": (lambda x: matrices.touching(x, weight=[1.0]), r"weight has shape \(1,\)"),
    "a raster": (lambda x: matrices.touching("map.tif"), "there is no file 'map.tif'"),
    "a missing label": (
        lambda x: matrices.score_polygons(
            x.assign(map=["", *[None] * (len(x) - 1)], ref=["b", "b", *"a" * (len(x) - 2)]),
            true="ref",
            pred="map",
            ignore="b",
        ),
        r"`map` of the frame is missing in row 2; every polygon needs a label",
    ),
    "all left out": (
        lambda x: matrices.score_polygons(x, true="ref", pred="map", ignore=x.ref.unique().tolist()),
        "no polygon of the frame has a known true label",
    ),
    "layer of a frame": (lambda x: matrices.touching(wmcc.Layer(x, "a")), "`layer` is for files"),
}


def test_a_corner_is_no_border_by_rounding():
    """Where the corners of rectangles meet but for rounding, they have some 1e-16 of border."""
    import shapely

    at = 8 * 0.3 * 0.3 * 0.3
    parts = [shapely.box(0, 0, at, 1), shapely.box(at, 0, 2, 1), shapely.box(0, 1, np.nextafter(at, 9), 2)]
    parts.append(shapely.box(np.nextafter(at, 9), 1, 2, 2))
    assert (matrices.touching(parts).toarray() > 0).sum(axis=1).tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize(("call", "message"), POLYGONS_REFUSED.values(), ids=list(POLYGONS_REFUSED))
def test_polygons_that_are_refused(call, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        call(parcels())


@given(
    shape=st.tuples(st.integers(1, 7), st.integers(1, 7)), diagonal=st.booleans(), seed=st.integers(0, 10**6),
    strip=st.integers(1, 20),
)  # fmt: skip
@settings(max_examples=40)
def test_pixels_without_a_label_are_no_neighbours(shape, diagonal, seed, strip):
    rng = np.random.default_rng(seed)
    known = rng.random(shape) < 0.7
    known.flat[0] = True
    w = rng.uniform(0.5, 2, shape)
    place = np.argwhere(known)
    step = np.abs(place[:, None] - place)
    adjacent = (step.max(axis=2) == 1) if diagonal else (step.sum(axis=2) == 1)
    S = matrices.grid(shape, known=known, diagonal=diagonal, weight=w)
    promises(S, w[known], 0.5, adjacent)
    assert (matrices.grid(shape, known=known, diagonal=diagonal, weight=w[known]) != S).nnz == 0
    truth, pred = rng.integers(0, 3, (2, *shape))
    held = np.where(known, truth, 9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrices.maps, "STRIP", strip)
        found = matrices.score_pixels(held, pred, w, diagonal=diagonal, ignore=9)
    assert found == replace(matrices.score(truth[known], pred[known], S), ignored=int((~known).sum()))
    for other in (np.ma.array(truth, mask=~known), np.where(known, truth, NAN)):
        assert matrices.score_pixels(other, pred, w, diagonal=diagonal) == found
    assert matrices.score_pixels(truth, pred, np.where(known, w, 0), diagonal=diagonal) == found


def test_rasters_are_scored_as_arrays(tmp_path):
    import rasterio

    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, (12, 9)).astype(np.uint8)
    pred = np.where(rng.random(truth.shape) < 0.8, truth, 1).astype(np.uint8)
    truth[:2, :3], pred[5, :2] = 255, 255
    place = rasterio.Affine(0.1, 0, 10, 0, -0.1, 60)
    for name, own in {"truth": truth, "map": pred, "w": np.where(truth == 255, 1, truth + 1)}.items():
        nodata = None if name == "w" else 255
        with rasterio.open(
            tmp_path / f"{name}.tif", "w", driver="GTiff", height=12, width=9, count=1, dtype="uint8", crs="EPSG:4326",
            transform=place, nodata=nodata,
        ) as file:  # fmt: skip
            file.write(own.astype(np.uint8), 1)
    files = [tmp_path / f"{name}.tif" for name in ("truth", "map", "w")]
    found = matrices.score_pixels(*files[:2])
    known, void = truth != 255, np.where(pred == 255, 3, pred)
    S = matrices.grid(truth.shape, known=known)
    expected = matrices.score(truth[known], void[known], S)
    assert (found.ecc, found.mpc1, found.ignored) == (expected.ecc, expected.mpc1, 6)
    assert (found.table.classes, found.table.void) == ((0, 1, 2), ("(nodata)",))
    assert found.mpc2 == pytest.approx(expected.mpc2 * 4 / 3, rel=1e-12)  # a mean over three classes, not four
    area = wmcc.Raster(files[0]).pixel_area("km2")
    by_area = matrices.score_pixels(*files[:2], wmcc.Area("km2"))
    assert by_area == matrices.score_pixels(*files[:2], area)
    assert by_area != found
    assert matrices.score_pixels(*files) == matrices.score_pixels(*files[:2], np.where(truth == 255, 1, truth + 1.0))


def test_more_pixels_than_memory_are_refused_before_they_are_made(monkeypatch):
    with pytest.raises(InputError, match=r"1,000,000,000,000 pixels needs about 480,000 GB.*[\s\S]*score_pixels"):
        matrices.grid((10**6, 10**6))
    huge = np.broadcast_to(np.uint8(1), (10**6, 10**6))
    with pytest.raises(InputError, match=r"1,000,000,000,000 pixels with their neighbours need about 64,000 GB"):
        matrices.score_pixels(huge, huge)


PIXELS = np.array([[0, 1], [1, 1]])
PIXELS_REFUSED = {
    "shapes": (lambda: matrices.score_pixels(PIXELS, PIXELS[:1]), r"shape \(2, 2\), and `y_pred` \(1, 2\)"),
    "a vector": (lambda: matrices.score_pixels([0, 1], [0, 1]), "expected rows and columns of one map"),
    "nothing known": (lambda: matrices.score_pixels(PIXELS, PIXELS, ignore=[0, 1]), "no pixel has a known true label"),
    "weight below 0": (
        lambda: matrices.score_pixels(PIXELS, PIXELS, [[1, 1], [-1, 1]]),
        r"sample_weight\[1, 0\] is -1.0; a weight must be",
    ),
    "area of an array": (lambda: matrices.score_pixels(PIXELS, PIXELS, "area"), r"arrays have none[\s\S]*raster"),
    "an array and a file": (
        lambda: matrices.score_pixels(PIXELS, "map.tif"),
        "`y_pred` is 'map.tif'; expected one raster, or one array",
    ),
    "layers": (
        lambda: matrices.score_pixels("a.gpkg", "b.gpkg"),
        r"'a.gpkg'; expected one raster[\s\S]*score_polygons",
    ),
    "several maps": (
        lambda: matrices.score_pixels("t.tif", {"a": "a.tif", "b": "b.tif"}),
        "expected one raster, or one array",
    ),
    "tiles": (lambda: matrices.score_pixels(["t.tif"], ["a.tif"]), "expected one raster, or one array"),
    "weights of another shape": (
        lambda: matrices.score_pixels(PIXELS, PIXELS, [1.0, 2.0, 3.0]),
        "sample_weight must have",
    ),
    "known of another shape": (lambda: matrices.grid((2, 2), known=[True]), r"known has shape \(1,\)"),
    "known in numbers": (lambda: matrices.grid((2, 2), known=PIXELS), "dtype int64; expected True or False"),
    "known nowhere": (lambda: matrices.grid((2, 2), known=PIXELS > 1), "known is False everywhere"),
}


@pytest.mark.parametrize(("call", "message"), PIXELS_REFUSED.values(), ids=list(PIXELS_REFUSED))
def test_pixels_that_are_refused(call, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        call()

"""Matrices of neighbours are what they promise, `check` finds what matrices are, and the truth scores 1 under them."""

import re
import warnings
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import wmcc
import wmcc.measures
from wmcc import matrices
from wmcc.core.design import ROWS
from wmcc.errors import InputError, InputTypeError, UndefinedMeasureError, UndefinedMeasureWarning

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


# ---- points of geopandas ------------------------------------------------------------------

XY = [(0.0, 0.0), (10.0, 0.0), (10.0, 30.0), (25.0, 5.0)]


def test_points_of_geopandas():
    import geopandas as gpd

    series = gpd.GeoSeries.from_xy(*zip(*XY, strict=True), crs=25832)
    frame = gpd.GeoDataFrame({"area": [1.0, 2.0, 3.0, 4.0]}, geometry=series)
    expected = matrices.nearest(XY, 2, weight=frame.area + 1)
    high = gpd.GeoSeries.from_xy(*zip(*XY, strict=True), z=[0.0, 1e4, 1e4, 2e4])  # heights do not count
    for given_as in (series, high, frame, frame.set_index("area"), frame.rename_geometry("centre")):
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
    assert (matrices.nearest(squares.centroid, 2) != matrices.nearest(XY, 2)).nnz == 0  # the hint can be followed
    for row, bad, word in (
        (1, squares.geometry[1], "POLYGON"),
        (2, None, "None"),
        (3, gpd.GeoSeries.from_wkt(["POINT EMPTY"])[0], "EMPTY"),
    ):
        broken = series.copy()
        broken[row] = bad
        with pytest.raises(InputError, match=rf"points\[{row}\] is .*{word}.*; expected a point"):
            matrices.nearest(broken)


LINE = [[0.0], [1.0], [3.0]]
REFUSED = {
    "k of 0": (lambda: matrices.nearest(LINE, 0), "`k` is 0; expected a whole number of at least 1"),
    "half a neighbour": (lambda: matrices.nearest(LINE, 1.5), "`k` is 1.5"),
    "k is True": (lambda: matrices.nearest(LINE, True), "`k` is True"),
    "no points": (lambda: matrices.nearest(np.zeros((0, 2))), r"points has shape \(0, 2\)"),
    "a vector of points": (lambda: matrices.nearest([1.0, 2.0]), r"shape \(2,\)[\s\S]*x\[:, None\]"),
    "text": (lambda: matrices.nearest([["a"]]), "points must be an array of N x d coordinates"),
    "ragged": (lambda: matrices.nearest([[1], [1, 2]]), "points must be an array"),
    "a NaN": (lambda: matrices.within([[0.0, 1.0], [NAN, 2.0]], 1), r"points\[1, 0\] is nan; coordinates must be"),
    "masked": (lambda: matrices.nearest(np.ma.array(LINE, mask=[[0], [1], [0]])), r"points\[1, 0\] is nan"),
    "radius 0": (lambda: matrices.within(LINE, 0), "`radius` is 0; expected a positive number"),
    "radius inf": (lambda: matrices.within(LINE, INF), "`radius` is 'inf'"),
    "radius NaN": (lambda: matrices.within(LINE, NAN), "`radius` is 'nan'"),
    "radius text": (lambda: matrices.within(LINE, "1"), "`radius` is '1'; expected a finite number"),
    "credit 1": (
        lambda: matrices.nearest(LINE, credit=1),
        "`credit` is 1; expected a number from 0 to below 1.*definite",
    ),
    "credit below 0": (lambda: matrices.grid((2, 2), credit=-0.1), "`credit` is -0.1"),
    "credit NaN": (lambda: matrices.grid((2, 2), credit=NAN), "`credit` is 'nan'"),
    "credit None": (lambda: matrices.grid((2, 2), credit=None), "`credit` is 'None'; expected a finite number"),
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
    "n of 0": (lambda: matrices.from_adjacency([(0, 1)], n=0), "`n` is 0; expected a whole number of at least 1"),
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
    "full credit": (lambda: matrices.from_adjacency([(0, 1)], n=3, credit=1), "`credit` is 1;"),
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
    found = matrices.score(t, c, S)
    assert matrices.score(t, c, sp.csr_array(S)) == found
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


def test_more_pixels_than_memory_are_refused_before_they_are_made():
    with pytest.raises(InputError, match=r"1,000,000,000,000 pixels needs about 480,000 GB[\s\S]*a part of the image"):
        matrices.grid((10**6, 10**6))

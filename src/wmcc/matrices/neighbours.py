"""Weight matrices of points and of pixels that share credit with their neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.spatial import cKDTree

from ..core.arraytypes import FloatArray, IntArray
from ..errors import InputError, InputTypeError, WeightError
from ..sources.columns import place, weight_array


def nearest(points: Any, k: int = 4, *, credit: float = 0.5, weight: Any = None) -> csr_array:
    """Weight matrix in which each point shares with its ``k`` nearest, and with those it is among the nearest of.

    Parameters
    ----------
    points
        Coordinates, N x d: centroids of parcels, in units in which distances make sense.
    k
        Number of neighbours, at least 1; all others where there are no more. Which of several equally far is taken
        is left to the tree.
    credit
        Share of credit for neighbours, 0 ≤ credit < 1: eigenvalues of the unweighted S lie in 1 ± credit.
    weight
        One positive, finite number per point, such as its area; None is ones. It is the diagonal of S, to the bit.

    Returns
    -------
    scipy.sparse.csr_array
        N x N, symmetric to the bit, non-negative and positive definite: see `wmcc.matrices`.

    Examples
    --------
    >>> from wmcc import matrices
    >>> matrices.nearest([[0, 0], [1, 0], [5, 0]], k=1, weight=[4, 1, 9]).toarray().round(3)
    array([[4.   , 0.707, 0.   ],
           [0.707, 1.   , 1.061],
           [0.   , 1.061, 9.   ]])
    """
    points = _points(points)
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise InputError(f"k is {k!r}; expected a number of neighbours, at least 1.")
    N = len(points)
    k = min(int(k), N - 1)
    found = cKDTree(points).query(points, k=range(1, k + 2))[1]
    i = np.arange(N)[:, None]
    other = (found != i) & (found < N)  # beyond N: the distance is not finite
    other[other.sum(axis=1) > k, -1] = False  # more than k others lie where the point itself does
    return _matrix(np.broadcast_to(i, found.shape)[other], found[other], N, credit, weight, (N,))


def within(points: Any, radius: float, *, credit: float = 0.5, weight: Any = None) -> csr_array:
    """Weight matrix in which each point shares with all others at most ``radius`` away.

    Parameters
    ----------
    points, credit, weight
        As for `nearest`.
    radius
        A positive number, in the units of ``points``. The matrix has an entry per pair: keep it small.

    Returns
    -------
    scipy.sparse.csr_array

    Examples
    --------
    >>> from wmcc import matrices
    >>> matrices.within([[0, 0], [1, 0], [5, 0]], 1).toarray()
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """
    points = _points(points)
    radius = _number(radius, "radius", "a positive number")
    if not 0 < radius < np.inf:
        raise InputError(f"radius is {radius!r}; expected a positive number, in the units of the points.")
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray")
    return _matrix(pairs[:, 0], pairs[:, 1], len(points), credit, weight, (len(points),))


def grid(shape: Iterable[int], *, diagonal: bool = False, credit: float = 0.5, weight: Any = None) -> csr_array:
    """Weight matrix in which each pixel of an image, or voxel of a volume, shares with those beside it.

    Parameters
    ----------
    shape
        Shape of the image. Rows and columns of S follow ``image.ravel()``, and so must the labels.
    diagonal
        Whether pixels that touch in a corner or an edge are neighbours too: 8 instead of 4, 26 instead of 6.
    credit
        As for `nearest`.
    weight
        One positive number per pixel, in the image's shape or flat; None is ones.

    Returns
    -------
    scipy.sparse.csr_array

    Examples
    --------
    >>> from wmcc import matrices
    >>> S = matrices.grid((480, 640))
    >>> S.shape, S.nnz
    ((307200, 307200), 1533760)
    """
    sides = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    if not sides or any(not isinstance(n, (int, np.integer)) or n < 1 for n in sides):
        raise InputError(f"shape is {shape!r}; expected the numbers of rows and columns of an image, each at least 1.")
    index = np.arange(math.prod(sides)).reshape(sides)
    steps = [step for step in product((0, 1, -1), repeat=len(sides)) if step > (0,) * len(sides)]  # one way of each
    pairs = [
        (index[tuple(slice(max(0, -s), n - max(0, s)) for s, n in zip(step, sides, strict=True))].reshape(-1),
         index[tuple(slice(max(0, s), n - max(0, -s)) for s, n in zip(step, sides, strict=True))].reshape(-1))
        for step in steps if diagonal or sum(map(abs, step)) == 1
    ]  # fmt: skip
    i, j = (np.concatenate(x) for x in zip(*pairs, strict=True))
    return _matrix(i, j, index.size, credit, weight, sides)


def _matrix(i: IntArray, j: IntArray, N: int, credit: float, weight: Any, shape: tuple[int, ...]) -> csr_array:
    """D^½ (I + credit · M) D^½ for neighbours i and j, named in either order or both."""
    credit = _number(credit, "credit", "0 ≤ credit < 1")
    if not 0 <= credit < 1:
        raise InputError(
            f"credit is {credit!r}; expected 0 ≤ credit < 1.", "from 1 on the matrix need not be positive definite."
        )
    w = _weight(weight, N, shape)
    one_way = csr_array((np.ones(len(i)), (i, j)), shape=(N, N))
    shared = (one_way + one_way.T).tocsr()
    neighbours = np.diff(shared.indptr).astype(np.float64)
    i, j = np.repeat(np.arange(N), np.diff(shared.indptr)), shared.indices
    # Products do not depend on the order of their factors: S_ij and S_ji have the same bits.
    root = np.sqrt(w)
    shared.data = credit * (root[i] * root[j] / np.sqrt(neighbours[i] * neighbours[j]))
    return (shared + diags_array(w)).tocsr()


def _weight(weight: Any, N: int, shape: tuple[int, ...]) -> FloatArray:
    if weight is None:
        return np.ones(N)
    w = weight_array(weight, "weight").astype(np.float64)
    if w.shape not in (shape, (N,)):
        raise InputError(f"weight has shape {w.shape}; expected {' or '.join(map(str, dict.fromkeys((shape, (N,)))))}.")
    bad = ~((w > 0) & (w < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise WeightError(
            f"{place('weight', w, row)} is {w.flat[row].item()!r}; a weight must be positive and finite here.",
            "with a zero on its diagonal S is not positive definite; leave such observations out.",
        )
    return w.reshape(-1)


def _points(points: Any) -> FloatArray:
    try:
        array = np.asarray(np.ma.filled(np.ma.asarray(points, dtype=np.float64), np.nan))
    except (TypeError, ValueError) as problem:
        raise InputTypeError(f"points must be an array of N x d coordinates: {problem}.") from None
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(
            f"points has shape {array.shape}; expected N x d coordinates, one row per observation.",
            "for points on a line pass x[:, None]." if array.ndim == 1 and array.size else None,
        )
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array).reshape(-1)))
        raise InputError(f"{place('points', array, row)} is {array.flat[row].item()!r}; coordinates must be finite.")
    return array


def _number(value: Any, name: str, expected: str) -> float:
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__") or np.ndim(value):
        raise InputTypeError(f"{name} is {value!r}; expected {expected}.")
    return float(value)

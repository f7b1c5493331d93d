"""Weight matrices of points, of pixels and of any other observations that share credit with their neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.spatial import cKDTree

from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.memory import available
from ..errors import InputError, InputTypeError, WeightError
from ..measures.checks import checked_number, whole_number
from ..sources.columns import place, weight_array
from ..sources.sparse import is_sparse
from .checks import asymmetry, square

BYTES = 96
"""Memory that it takes to make a matrix, for each of its entries."""


def nearest(points: Any, k: int = 4, *, credit: float = 0.5, weight: Any = None) -> csr_array:
    """Weight matrix in which each point shares with its ``k`` nearest, and with those it is among the nearest of.

    Parameters
    ----------
    points
        Coordinates, N x d: centroids of parcels, in units in which distances make sense. Points of geopandas are taken
        too, by their x and y; those in degrees must be projected first.
    k
        Number of neighbours, at least 1; all others where there are no more. Which of several equally far is taken
        is left to the tree.
    credit
        What the neighbours of an observation count together, if it counts 1 itself: 0 ≤ credit < 1.
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
    N = len(points)
    k = min(whole_number(k, "k", 1), N - 1)
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
    radius = checked_number(radius, "radius", lambda x: x > 0, "a positive number, in the units of the points")
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray")
    return _matrix(pairs[:, 0], pairs[:, 1], len(points), credit, weight, (len(points),))


def grid(
    shape: Iterable[int], *, known: Any = None, diagonal: bool = False, credit: float = 0.5, weight: Any = None
) -> csr_array:
    """Weight matrix in which each pixel of an image, or voxel of a volume, shares with those beside it.

    Parameters
    ----------
    shape
        Shape of the image. Rows and columns of S follow ``image.ravel()``, and so must the labels.
    known
        Which pixels have a label: True and False in the image's shape. The others are left out, and are no neighbours:
        rows and columns of S follow ``image[known]`` then, and so must the labels and a flat ``weight``.
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
    >>> matrices.grid((1, 4), known=[[True, True, False, True]]).toarray()
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """
    sides = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    if not sides or any(not isinstance(n, (int, np.integer)) or n < 1 for n in sides):
        raise InputError(f"shape is {shape!r}; expected the numbers of rows and columns of an image, each at least 1.")
    steps = [step for step in product((0, 1, -1), repeat=len(sides)) if step > (0,) * len(sides)]  # one way of each
    steps = [step for step in steps if diagonal or sum(map(abs, step)) == 1]
    pixels = math.prod(sides)
    _check_memory(pixels, pixels * (1 + 2 * len(steps)))
    index = np.arange(pixels).reshape(sides)
    if known is not None:
        known = _mask(known, sides)
        pixels = int(known.sum())
        index = np.where(known, known.cumsum().reshape(sides) - 1, -1)
        if np.shape(weight) == sides:
            weight, sides = weight_array(weight, "weight")[known], (pixels,)
    pairs = [
        (index[tuple(slice(max(0, -s), n - max(0, s)) for s, n in zip(step, index.shape, strict=True))].reshape(-1),
         index[tuple(slice(max(0, s), n - max(0, -s)) for s, n in zip(step, index.shape, strict=True))].reshape(-1))
        for step in steps
    ]  # fmt: skip
    i, j = (np.concatenate(x) for x in zip(*pairs, strict=True))
    if known is not None:
        both = (i >= 0) & (j >= 0)
        i, j = i[both], j[both]
    return _matrix(i, j, pixels, credit, weight, sides)


def from_adjacency(A: Any, *, n: int | None = None, credit: float = 0.5, weight: Any = None) -> csr_array:
    """Weight matrix in which each observation shares with those that you say are its neighbours.

    Parameters
    ----------
    A
        A symmetric N x N matrix, dense or sparse, with zeros on its diagonal: A[i, j] is 1 where i and j are neighbours
        and 0 where they are not, or a number of at least 0 that says how close they are, such as the length of their
        common border. With ``n`` it is a list of pairs (i, j) of positions instead, in either order or both.
    n
        The number of observations, if ``A`` is a list of pairs.
    credit, weight
        As for `nearest`. The credit is divided among neighbours as A divides it.

    Returns
    -------
    scipy.sparse.csr_array
        N x N, symmetric to the bit, non-negative and positive definite: see `wmcc.matrices`.

    Examples
    --------
    >>> from wmcc import matrices
    >>> matrices.from_adjacency([(0, 1), (1, 2)], n=4, weight=[4, 1, 4, 9]).toarray().round(3)
    array([[4.   , 0.707, 0.   , 0.   ],
           [0.707, 1.   , 0.707, 0.   ],
           [0.   , 0.707, 4.   , 0.   ],
           [0.   , 0.   , 0.   , 9.   ]])
    >>> border = [[0, 30, 10], [30, 0, 0], [10, 0, 0]]
    >>> matrices.from_adjacency(border).toarray().round(3)
    array([[1.   , 0.433, 0.25 ],
           [0.433, 1.   , 0.   ],
           [0.25 , 0.   , 1.   ]])
    """
    if n is not None:
        i, j, N = _pairs(A, n)
        return _matrix(i, j, N, credit, weight, (N,))
    if not is_sparse(A) and np.ndim(A) == 2 and np.shape(A)[0] != 2 and np.shape(A)[1] == 2:
        raise InputError(
            f"A has shape {np.shape(A)}; expected a square matrix.",
            "a list of pairs needs n=, the number of observations.",
        )
    matrix = square(A, "A").copy()
    matrix.eliminate_zeros()
    why = asymmetry(matrix, "A")
    if why:
        raise InputError(f"{why}; expected a symmetric matrix.", "A + A.T is symmetric, and so is A.maximum(A.T).")
    own = matrix.diagonal()
    if own.any():
        k = int(np.argmax(own != 0))
        raise InputError(
            f"A[{k}, {k}] is {own[k].item()!r}; expected zeros on the diagonal: no observation is its own neighbour.",
            "A - scipy.sparse.diags_array(A.diagonal()) has zeros there; weight= is the diagonal of S.",
        )
    if matrix.nnz and matrix.data.min() < 0:
        raise WeightError(f"the smallest entry of A is {matrix.data.min().item()!r}; expected numbers of at least 0.")
    return _shared(matrix, credit, weight, matrix.shape[:1])


def _check_memory(pixels: int, entries: int) -> None:
    """Refuse a matrix that does not fit into memory before it is made."""
    needed, free = BYTES * entries, available()
    if needed > free:
        raise InputError(
            f"a weight matrix of {pixels:,} pixels needs about {needed / 1e9:,.0f} GB of memory to be made, and "
            f"{free / 1e9:,.1f} GB are free.",
            "take a part of the image, or larger pixels.",
            "shape",
        )


def _mask(known: Any, shape: tuple[int, ...]) -> Array:
    mask = np.asarray(known)
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise InputError(
            f"known has shape {mask.shape} and dtype {mask.dtype}; expected True or False for each pixel, in the shape "
            f"{shape}.",
            argument="known",
        )
    if not mask.any():
        raise InputError("known is False everywhere; expected a pixel that is known.", argument="known")
    return mask


def _pairs(pairs: Any, n: Any) -> tuple[IntArray, IntArray, int]:
    """Check a list of pairs of positions among ``n``."""
    n = whole_number(n, "n", 1)
    edges = np.asarray(list(pairs) if not hasattr(pairs, "__array__") and isinstance(pairs, Iterable) else pairs)
    edges = edges.reshape(0, 2).astype(np.int64) if edges.size == 0 else edges
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise InputTypeError(
            f"A has shape {edges.shape} and dtype {edges.dtype}; with n= it must be pairs (i, j) of integers.",
            "leave n= out for an N x N matrix.",
        )
    bad = (edges < 0) | (edges >= n) | (edges[:, :1] == edges[:, 1:])
    if bad.any():
        row = int(np.argmax(bad.any(axis=1)))
        raise InputError(
            f"pair {row} of A is {tuple(edges[row].tolist())}; expected two different positions from 0 to {n - 1}."
        )
    return edges[:, 0], edges[:, 1], n


def _matrix(i: IntArray, j: IntArray, N: int, credit: float, weight: Any, shape: tuple[int, ...]) -> csr_array:
    """Weight matrix for neighbours i and j, named in either order or both."""
    one_way = csr_array((np.ones(len(i)), (i, j)), shape=(N, N))
    shared = (one_way + one_way.T).tocsr()
    shared.data[:] = 1.0
    return _shared(shared, credit, weight, shape)


def _shared(A: csr_array, credit: float, weight: Any, shape: tuple[int, ...]) -> csr_array:
    """D^½ (I + credit · G^-½ A G^-½) D^½, with G the row sums of A."""
    below_1 = "a number from 0 to below 1, with which the matrix is positive definite"
    credit = checked_number(credit, "credit", lambda x: 0 <= x < 1, below_1)
    N = A.shape[0]
    w, shared = _weight(weight, N, shape), A.copy()
    if A.nnz:  # only ratios of its entries matter, and sums of scaled ones do not overflow
        shared.data = A.data / A.data.max()
        shared.eliminate_zeros()
    i, j = np.repeat(np.arange(N), np.diff(shared.indptr)), shared.indices
    # Products do not depend on the order of their factors: S_ij and S_ji have the same bits.
    root, by_row = np.sqrt(w), np.sqrt(shared.sum(axis=1))
    shared.data = credit * (root[i] * root[j]) * (shared.data / (by_row[i] * by_row[j]))
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
    points = _in_the_plane(points)
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


def _in_the_plane(points: Any) -> Any:
    """Return x and y of points of geopandas; anything else as it is."""
    points = getattr(points, "geometry", points)  # of a frame
    if not hasattr(points, "get_coordinates"):
        return points
    if getattr(points.crs, "is_geographic", False):
        raise InputError(
            f"the points are in degrees ({points.crs.name}), and differences of degrees are not distances.",
            "project them first: points.to_crs(points.estimate_utm_crs()).",
        )
    bad = ((points.geom_type != "Point") | points.is_empty).to_numpy()
    if bad.any():
        row = int(np.argmax(bad))
        came = str(points.iloc[row])[:40]
        raise InputError(f"points[{row}] is {came}; expected a point.", "for polygons pass .centroid.")
    return points.get_coordinates().to_numpy()

"""Whether a matrix is what the paper asks of weights: symmetric, positive definite, no entry below 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigvalsh
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import splu

from ..core.arraytypes import FloatArray
from ..errors import InputError, WeightError
from ..present.blocks import Block
from ..present.result import Result
from ..sources.columns import weight_array
from ..sources.sparse import is_sparse, sound, summed

EPS = float(np.finfo(np.float64).eps)
SMALL = 500  # rows up to which a matrix is checked as a dense one
FULL = 0.1  # share of entries that are not 0, beyond which it is, too


@dataclass(frozen=True, repr=False)
class MatrixCheck(Result):
    """What `check` found.

    Parameters
    ----------
    symmetric
        Whether S_ij and S_ji have the same value, for all i and j.
    positive_definite
        Whether S is symmetric and xᵀSx > 0 for all x but 0, beyond rounding.
    non_negative
        Whether no entry is below 0, as `wmcc.tabulate` demands.
    reason
        Why, in sentences.
    """

    symmetric: bool
    positive_definite: bool
    non_negative: bool
    reason: str

    _kind = "matrix check"
    _stored = ("symmetric", "positive_definite", "non_negative", "reason")

    def blocks(self) -> list[Block]:
        """Return the reason."""
        return [Block(notes=[self.reason])]


def check(S: Any) -> MatrixCheck:
    """Check a weight matrix for what the paper asks of it: symmetric, positive definite, no entry below 0.

    Positive definiteness is decided on H = G^-½ S G^-½ with G the diagonal of S, which is positive definite if and
    only if S is. H is when each row is dominated by its diagonal. Else H − εI is factorised, with ε a bound on the
    rounding errors of the factorisation: if all pivots are positive, H is positive definite for certain. If not, and
    neither are those of H + εI, it is certain that H is not. In between lie matrices that are singular or so close
    to it that float64 cannot tell: the answer is no, and the reason says "to rounding".

    Parameters
    ----------
    S
        A square matrix, dense or sparse. Sparse ones stay sparse; the time depends on how much their factors fill.

    Returns
    -------
    MatrixCheck

    Examples
    --------
    >>> from wmcc import matrices
    >>> print(matrices.check([[1, 2], [2, 1]]).reason)
    S is symmetric. It is not positive definite: S[0, 1]² is larger than S[0, 0] · S[1, 1]. No entry is negative.
    """
    S = square(S)
    low = int(np.argmin(S.data)) if S.nnz else 0
    non_negative = not S.nnz or bool(S.data[low] >= 0)
    signs = "No entry is negative." if non_negative else f"{_entry(S, low)} is {S.data[low].item()!r}, below 0."
    said = asymmetry(S)
    if said:
        return MatrixCheck(
            False, False, non_negative, f"{said}, so S is not symmetric (nor positive definite). {signs}"
        )
    definite, why = _definite(S)
    verdict = "positive definite" if definite else "not positive definite"
    return MatrixCheck(True, definite, non_negative, f"S is symmetric. It is {verdict}{why}. {signs}")


def asymmetry(S: Any, name: str = "S") -> str:
    """Say where S_ij and S_ji differ most; nothing if S, which `square` made, is symmetric."""
    with np.errstate(over="ignore"):
        gaps = abs(S - S.T).tocsr()
    if not gaps.nnz or not gaps.max():
        return ""
    k = int(np.argmax(gaps.data))
    i, j = _where(gaps, k)
    a, b = (float(S[pair]) for pair in ((i, j), (j, i)))
    return f"{name}[{i}, {j}] is {a!r} and {name}[{j}, {i}] is {b!r}: they differ by {gaps.data[k]:.3g}"


def square(S: Any, name: str = "S") -> csr_array:
    """Return a square matrix in float64, as CSR with entries for the same place summed."""
    matrix: Any = sound(S, name) if is_sparse(S) else weight_array(S, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise InputError(f"{name} has shape {matrix.shape}; expected a square matrix.")
    matrix = summed(matrix) if is_sparse(matrix) else matrix
    matrix = csr_array(matrix.astype(np.float64, copy=False))
    finite = np.isfinite(matrix.data)
    if not finite.all():
        k = int(np.argmin(finite))
        raise WeightError(f"{_entry(matrix, k, name)} is {matrix.data[k].item()!r}; expected finite numbers.")
    return matrix


def _where(matrix: csr_array, k: int) -> tuple[int, int]:
    """Row and column of the k-th stored value."""
    return int(np.searchsorted(matrix.indptr, k, "right")) - 1, int(matrix.indices[k])


def _entry(matrix: csr_array, k: int, name: str = "S") -> str:
    return "{}[{}, {}]".format(name, *_where(matrix, k))


def _definite(S: csr_array) -> tuple[bool, str]:
    """Whether a symmetric matrix is positive definite, and what to add to the verdict."""
    diagonal = S.diagonal()
    low = int(np.argmin(diagonal))
    if diagonal[low] <= 0:
        return False, f": S[{low}, {low}] is {diagonal[low].item()!r}, and must be positive"
    root, N, H = np.sqrt(diagonal), S.shape[0], S.copy()
    with np.errstate(over="ignore"):
        H.data = H.data / np.repeat(root, np.diff(H.indptr)) / root[H.indices]
    size = abs(H.data)
    most = int(np.argmax(size))
    if size[most] > 1 + 16 * EPS:
        i, j = _where(H, most)
        return False, f": S[{i}, {j}]² is larger than S[{i}, {i}] · S[{j}, {j}]"
    if abs(H).sum(axis=1).max() < 2 - 2 * EPS * (N + 16):
        return True, ": scaled to a unit diagonal, each row is dominated by its diagonal"
    return _by_cholesky(H.toarray()) if N <= SMALL or H.nnz > FULL * N * N else _by_pivots(H)


def _rounding(width: int) -> float:
    """Bound on what rounding does to a matrix of unit diagonal whose factors have rows of ``width`` entries."""
    return EPS * width * (width + 16)


def _by_cholesky(H: FloatArray) -> tuple[bool, str]:
    bound = _rounding(len(H))
    try:
        cholesky(H - bound * np.eye(len(H)), lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        least = float(eigvalsh(H, subset_by_index=[0, 0], check_finite=False)[0])
        if least < -bound:
            return False, f": scaled to a unit diagonal, its smallest eigenvalue is {least:.3g}"
        return False, f" to rounding: scaled to a unit diagonal, its smallest eigenvalue is 0 to within {bound:.1g}"
    return True, ": its Cholesky factor exists"


def _by_pivots(H: csr_array) -> tuple[bool, str]:
    bad, _ = _bad_pivot(H, -1)
    if not bad:
        return True, ": all pivots of its LDLᵀ factorisation are positive"
    bad, bound = _bad_pivot(H, +1)
    if not bad:
        return False, f" to rounding: scaled to a unit diagonal, it is singular to within {bound:.1g}"
    return False, f": scaled to a unit diagonal, {bad}, and must be positive"


def _bad_pivot(H: csr_array, sign: int) -> tuple[str, float]:
    """Factorise H + sign · ε · I: name a pivot that is not positive, if any, and ε, which covers rounding."""
    bound = _rounding(64)
    while True:
        bad, width = _factorised(H + sign * bound * diags_array(np.ones(H.shape[0])))
        if _rounding(width) <= bound:
            return bad, bound
        bound = _rounding(width)


def _factorised(H: Any) -> tuple[str, int]:
    """Factorise along the diagonal: a pivot that is not positive, if any, and how many entries rows of factors have."""
    N = H.shape[0]
    try:
        lu = splu(H.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # exactly singular
        return "a pivot is 0", N
    if (lu.perm_r != lu.perm_c).any():  # nothing but a pivot of 0 makes it leave the diagonal
        return "a pivot is 0", N
    lower, pivots = lu.L, lu.U.diagonal()
    width = int((np.bincount(lower.indices, minlength=N) + np.diff(lower.indptr)).max())
    bad = ~(pivots > 0)
    k = int(np.argmax(bad))
    return f"the pivot of row {np.argsort(lu.perm_c)[k]} is {pivots[k]:.3g}" if bad[k] else "", width

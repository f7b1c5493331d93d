"""SciPy's sparse matrices: whether their parts fit together, and their CSR form.

SciPy is not imported here: who holds a sparse matrix has loaded it.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np

from ..errors import InputError
from .columns import weight_array


def is_sparse(data: Any) -> bool:
    """Whether this is one of SciPy's sparse matrices or arrays."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(data))


def sound(matrix: Any, name: str) -> Any:
    """Return a matrix whose parts fit together, in a format that `summed` can be trusted with.

    SciPy does not look before it converts or multiplies: it would read memory that is not the matrix's own.
    """
    weight_array(np.empty(0, dtype=matrix.dtype), name)  # refuses what is not real, before it is made so
    try:
        return _checked(matrix)
    except (IndexError, TypeError, ValueError) as problem:
        raise InputError(
            f"{name} is a sparse matrix ({matrix.format}) whose parts do not fit together: {str(problem).rstrip('.')}.",
            "rebuild it with scipy.sparse.coo_array((values, (rows, columns)), shape=(N, N)), which checks them.",
        ) from None


def _checked(matrix: Any) -> Any:
    """The same matrix, which SciPy has looked at; what it overlooks is looked at here."""
    form = matrix.format
    if form == "lil" and [*map(len, matrix.rows)] != [*map(len, matrix.data)]:
        raise ValueError("a row has more columns than values, or fewer")
    if form == "dia":
        matrix = type(matrix)((matrix.data, matrix.offsets), shape=matrix.shape)
    if form in ("dia", "dok", "lil"):
        matrix = matrix.astype(np.float64).tocsr()
    places = matrix.coords if form == "coo" else (matrix.indices, matrix.indptr)
    if any(x.dtype.kind not in "iu" for x in places):
        raise ValueError(f"indices must be integers, and are {' and '.join(str(x.dtype) for x in places)}")
    if form == "coo":
        if any(len(x) != len(matrix.data) for x in places):
            raise ValueError(f"there are {len(matrix.data):,} values, and more or fewer places")
        return type(matrix)((matrix.data, places), shape=matrix.shape)
    if (np.diff(matrix.indptr) < 0).any():
        raise ValueError("index pointers must not fall")
    found = copy.copy(matrix)
    found.check_format()
    return found


def summed(matrix: Any) -> Any:
    """CSR form of a sparse matrix, with entries for the same place summed; the matrix itself is left as it is."""
    if matrix.format == "csr" and matrix.has_canonical_format and len(matrix.data) == matrix.nnz:
        return matrix
    csr = matrix.astype(np.float64, copy=True).tocsr()  # in its own type a sum may wrap
    csr.sum_duplicates()
    csr.prune()  # there may be room behind the last entry
    return csr

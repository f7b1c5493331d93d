"""SciPy's sparse matrices: whether their parts fit together, and their CSR form.

SciPy is not imported here: who holds a sparse matrix has loaded it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..core.arraytypes import Array
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
    wrong = _wrong(matrix)
    if not wrong and matrix.format in ("dia", "dok", "lil"):  # safe to convert, and then looked at
        try:
            csr = matrix.astype(np.float64).tocsr()
        except (IndexError, TypeError, ValueError) as problem:
            wrong = str(problem)
        else:
            return sound(csr, name)
    if wrong:
        raise InputError(
            f"{name} is a sparse matrix ({matrix.format}) whose parts do not fit together: {wrong}.",
            "rebuild it with scipy.sparse.coo_array((values, (rows, columns)), shape=(N, N)), which checks them.",
        )
    return matrix


def _wrong(matrix: Any) -> str:
    """What does not fit together, if anything."""
    if matrix.format == "coo":
        size = len(matrix.data)
        places = [(f"coords[{k}]", *pair) for k, pair in enumerate(zip(matrix.coords, matrix.shape, strict=True))]
    elif matrix.format in ("bsr", "csc", "csr"):
        lines, across = (1, *matrix.shape)[-2:]
        if matrix.format == "bsr":
            lines, across = lines // matrix.blocksize[0], across // matrix.blocksize[1]
        elif matrix.format == "csc":
            lines, across = across, lines
        starts = matrix.indptr
        if len(starts) != lines + 1:
            return f"indptr has {len(starts):,} entries instead of {lines + 1:,}"
        falls = np.concatenate([starts[:1] != 0, starts[1:] < starts[:-1]])
        if falls.any():
            k = int(np.argmax(falls))
            return f"indptr[{k}] is {starts[k]}" + (
                f", less than indptr[{k - 1}], {starts[k - 1]}" if k else " instead of 0"
            )
        size = int(starts[-1])
        if len(matrix.indices) != len(matrix.data) or len(matrix.data) < size:
            there = f"{len(matrix.indices):,} indices and {len(matrix.data):,} values"
            return f"indptr ends at {size:,}, and there are {there}"
        places = [("indices", matrix.indices[:size], across)]
    else:
        if matrix.format == "dia" and len(matrix.offsets) != len(matrix.data):
            return f"there are {len(matrix.offsets):,} offsets and {len(matrix.data):,} diagonals"
        if matrix.format == "lil":
            counts = [[len(line) for line in part] for part in (matrix.rows, matrix.data)]
            if counts[0] != counts[1]:
                k = next(k for k, pair in enumerate(zip(*counts, strict=True)) if pair[0] != pair[1])
                return f"rows[{k}] has {counts[0][k]:,} entries, and data[{k}] has {counts[1][k]:,}"
        return ""
    return next(filter(None, (_misplaced(*place, size) for place in places)), "")


def _misplaced(name: str, index: Array, most: int, size: int) -> str:
    """What is wrong with an array of positions, one for each value and all below ``most``."""
    if len(index) != size:
        return f"{name} has {len(index):,} entries, and there are {size:,} values"
    if index.dtype.kind not in "iu" or not index.dtype.isnative:
        return f"{name} has dtype {index.dtype.str}; expected integers of this machine's byte order"
    if size and not 0 <= index.min() <= index.max() < most:
        k = int(np.argmax((index < 0) | (index >= most)))
        return f"{name}[{k}] is {index[k]}; expected 0 to {most - 1}"
    return ""


def summed(matrix: Any) -> Any:
    """CSR form of a sparse matrix, with entries for the same place summed; the matrix itself is left as it is."""
    if matrix.format == "csr" and matrix.has_canonical_format and len(matrix.data) == matrix.nnz:
        return matrix
    csr = matrix.astype(np.float64, copy=True).tocsr()  # in its own type a sum may wrap
    csr.sum_duplicates()
    csr.prune()  # there may be room behind the last entry
    return csr

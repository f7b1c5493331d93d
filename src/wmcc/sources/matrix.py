"""Tables from weight matrices: C_ab = Σ S_ij [t_i = a][c_j = b], in one pass over the non-zeros of S.

Each non-zero S_ij is an observation with truth t_i, prediction c_j and weight S_ij, and goes through the same
kernel as any other. S may be dense, or SciPy's sparse in any format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core import kernel as tally
from ..core.arraytypes import Array, IntArray
from ..core.base_table import no_cells
from ..core.design import PAIRS
from ..core.stack import merged_stacks
from ..core.sums import bad_weight
from ..core.table import Table
from ..errors import InputError, LabelError, WeightError
from .arrays import Counted, named, tabulate_arrays, unknown_label
from .codes import Codebook, Rules, all_codes
from .columns import Column, check_shapes, label_column, weight_array
from .groups import WHOLE
from .sparse import is_sparse, sound, summed

CHUNK = 1 << 20  # entries of S handed to the kernel at a time
MERGED = 32  # tables of chunks that wait to be merged


def tabulate_matrix(
    columns: Sequence[Column],
    weights: Any,
    rules: Rules,
    threads: int | None,
    pairs: Sequence[tuple[int, int]] = ((0, 1),),
) -> list[Table]:
    """Tabulate pairs of columns of labels, all vectors of one length, by the weight of each pair of their rows.

    ``pairs`` says which columns are the true and the predicted labels of each table.
    """
    if columns[0].values.ndim != 1:
        shape = columns[0].values.shape
        raise InputError(
            f"sample_weight is a matrix, so y_true and y_pred must be vectors; they have shape {shape}.",
            "pass y.ravel() with a weight for each pair of pixels, or a dense array with a weight for each pixel.",
        )
    codebook = Codebook(rules)
    codes = all_codes(list(columns), codebook)
    K = len(codebook.classes)
    for own in codes:  # K where labels are ignored, K + 1 where they are unknown
        own[own == tally.IGNORED] = K
        own[own == tally.UNKNOWN] = K + 1
    small = [own.astype(np.int32) for own in codes]  # they are looked up for each entry
    ignored, unknown = (np.any([own == K for own in codes], axis=0), np.any([own > K for own in codes], axis=0))
    if (unknown & ~ignored).any():
        row = int(np.argmax(unknown & ~ignored))
        raise unknown_label(next(x for x, own in zip(columns, codes, strict=True) if own[row] > K), row, rules)
    by_code, some = Rules(labels=tuple(range(K))), bool(ignored.any())
    stacks, ignored_entries = [[no_cells(2)] for _ in pairs], [0 for _ in pairs]
    for entries in entries_of(weights, len(codes[0])) if len(codes[0]) else ():
        for k, (true, pred) in enumerate(pairs):
            i, j, w = entries
            a, b = small[true].take(i), small[pred].take(j)
            if some:
                kept = (a != K) & (b != K)
                ignored_entries[k] += int((~kept).sum())
                i, j, w, a, b = (x[kept] for x in (i, j, w, a, b))
            try:
                part: Table = tabulate_arrays([Column("y_true", a), Column("y_pred", b)], w, by_code, threads)
            except (LabelError, WeightError):  # which speak of places in the chunk
                bad = (a > K) | (b > K)
                at = int(np.argmax(bad if bad.any() else ~((w >= 0) & (w < np.inf))))
                if bad.any():  # it had been overlooked, since its own row is ignored
                    found = (columns[true], int(i[at])) if a[at] > K else (columns[pred], int(j[at]))
                    raise unknown_label(*found, rules) from None
                raise bad_weight(
                    f"sample_weight[{i[at]}, {j[at]}]", float(w[at]), "a weight of 0 leaves a pair out."
                ) from None
            held = [*stacks[k], part.raw_cells]
            stacks[k] = [merged_stacks(held)] if len(held) > MERGED else held
    tables = []
    for (true, pred), held, out in zip(pairs, stacks, ignored_entries, strict=True):
        # As with a vector of weights, a zero leaves a label known, unless its own row is ignored.
        known = sum(np.bincount(codes[axis][~ignored], minlength=K) for axis in (true, pred))
        table: Table = named(Counted(merged_stacks(held), np.array([out])), codebook, WHOLE, (), PAIRS, known)
        tables.append(table)
    return tables


def pair_tables(y_true: Any, y_pred: Any, weights: Any) -> list[Table]:
    """Tables of truth and prediction, of the truth and itself, and of the prediction and itself, in one pass over S.

    All have the same classes.
    """
    columns = [label_column(y_true, "y_true"), label_column(y_pred, "y_pred")]
    check_shapes(columns)
    tables = tabulate_matrix(columns, weights, Rules(), None, [(0, 1), (0, 0), (1, 1)])
    return [table._aligned(tables[0].labels) for table in tables]


def label_codes(y_true: Any, y_pred: Any) -> tuple[IntArray, IntArray, int]:
    """Return codes of labels in the truth and in the prediction, and how many classes there are."""
    columns = [label_column(y_true, "y_true"), label_column(y_pred, "y_pred")]
    codebook = Codebook(Rules())
    truth, pred = all_codes(columns, codebook)
    return truth, pred, len(codebook.classes)


Entries = tuple[Array, Array, Array]
"""Some non-zeros of S: their rows, their columns, and their values."""


def entries_of(weights: Any, N: int) -> Iterator[Entries]:
    """All non-zeros of an N x N matrix."""
    sparse = is_sparse(weights)
    if weights.shape != (N, N):
        one_each = sparse and N in weights.shape and np.prod(weights.shape) == N
        raise InputError(
            f"sample_weight {'is a sparse matrix of' if sparse else 'has'} shape {weights.shape}; {N} labels need "
            f"{(N, N)}.",
            "one weight per observation is a vector: pass S.toarray().ravel()."
            if one_each
            else "S[i, j] is the weight of the i-th true label with the j-th predicted one.",
        )
    if sparse:
        return _of_sparse(sound(weights, "sample_weight"))
    if weights.flags.f_contiguous and not weights.flags.c_contiguous:  # along its columns, as it lies in memory
        return ((i, j, w) for j, i, w in _of_dense(weights.T))
    return _of_dense(weights)


def _of_sparse(matrix: Any) -> Iterator[Entries]:
    """Non-zeros of a sparse matrix, in chunks."""
    csr = summed(matrix)
    data, rows = weight_array(csr.data), np.repeat(np.arange(len(csr.indptr) - 1, dtype=np.int32), np.diff(csr.indptr))
    for start in range(0, len(data), CHUNK):
        part = slice(start, start + CHUNK)
        w = _floats(data[part])
        keep = w != 0  # zeros may be stored
        yield (rows[part][keep], csr.indices[part][keep], w[keep])


def _of_dense(block: Array) -> Iterator[Entries]:
    """Non-zeros of a dense matrix, in chunks."""
    rows, columns = block.shape
    step = -(-CHUNK // columns)
    for start in range(0, rows, step):
        part = _floats(block[start : start + step])
        keep = part != 0  # by masks: much faster than the indices that np.nonzero makes
        i = np.repeat(np.arange(start, start + len(part)), keep.sum(axis=1))
        yield (i, np.broadcast_to(np.arange(columns), part.shape)[keep], part[keep])


def _floats(w: Array) -> Array:
    return w if w.dtype.char in "fd" else w.astype(np.float64)

"""Rows in blocks that the kernel can read: contiguous, aligned, native vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arraytypes import Array

BLOCK = 1 << 16  # rows converted at a time where the kernel cannot read the caller's memory as it is
SHARE = 1 << 16  # rows worth handing to a thread


def flattened(arrays: list[Array]) -> list[Array]:
    """The same arrays as vectors, where that needs no copy; else as they are."""
    if all(a.ndim == 1 for a in arrays):
        return arrays
    if all(a.flags.c_contiguous for a in arrays):
        return [a.reshape(-1) for a in arrays]
    if all(a.flags.f_contiguous and a.dtype.kind in "biuf" for a in arrays):
        return [a.T.reshape(-1) for a in arrays]
    return arrays


def readable(values: Array) -> bool:
    """Whether the kernel can read the memory as it is."""
    flags = values.flags
    return flags.c_contiguous and flags.aligned and values.dtype.isnative


def native(values: Array, dtype: Any = None) -> Array:
    """Return the values as a vector that the kernel can read, of another type if one is given."""
    if dtype is None and readable(values):
        return values if values.ndim == 1 else values.reshape(-1)
    return np.require(values, dtype or values.dtype.newbyteorder("="), ["C", "A"]).reshape(-1)


def blocks(arrays: list[Array], workers: int) -> list[Any]:
    """Indices that cut the rows into blocks: a few per worker, or many small ones where blocks must be converted."""
    shape, size = arrays[0].shape, arrays[0].size
    most = BLOCK
    if len(shape) == 1:
        if size > most and all(readable(a) and (a.dtype.kind in "biu" or a.dtype.char in "fd") for a in arrays):
            most = size if workers == 1 else max(SHARE, size // (6 * workers))
        return [slice(start, start + most) for start in range(0, size, most)]
    axis = 0
    while axis < len(shape) - 1 and math.prod(shape[axis + 1 :]) > most:
        axis += 1
    step = max(1, most // math.prod(shape[axis + 1 :]))
    starts = range(0, shape[axis], step)
    return [(*outer, slice(start, start + step)) for outer in np.ndindex(shape[:axis]) for start in starts]

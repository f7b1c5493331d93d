"""The NumPy twin of the compiled kernel: the same names, the same results to the bit, no compiler.

It is several times slower and needs temporaries, but only of the size of a block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arraytypes import Array, IntArray
from ..exact import RADIX_BITS, Exact, no_digits, split

Column = tuple[Array, int, int, int, Array | None]

IGNORED = 1 << 30
UNKNOWN = 1 << 31
_BLOCK = 1 << 16  # a digit's block sum stays below 2**48: exact in the float64 that bincount adds in


def extent(labels: Array) -> tuple[int, int]:
    """Smallest and largest label."""
    labels = np.asarray(labels)
    return int(labels.min()), int(labels.max())


def mark(labels: Array, low: int, flags: Array) -> int:
    """Set ``flags[label - low]``; return how many labels lie outside."""
    outside = 0
    for start in range(0, len(labels), _BLOCK):
        position, known = _positions(labels[start : start + _BLOCK], low, len(flags))
        np.asarray(flags)[position[known]] = 1
        outside += int((~known).sum())
    return outside


class Dictionary:
    """First-seen codes for keys of ``width`` bytes."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._codes: dict[bytes, int] = {}

    def encode(self, keys: Array, codes: Array, limit: int) -> int:
        """Write a code per key; return how many were written before ``limit`` keys were exceeded."""
        known = self._codes
        data = np.ascontiguousarray(keys).view(f"V{self._width}").tolist()
        for i, key in enumerate(data):
            code = known.setdefault(bytes(key), len(known))
            if code >= limit:
                del known[bytes(key)]
                return i
            codes[i] = code
        return len(data)

    def keys(self) -> bytes:
        """Return the keys in the order of their codes."""
        return b"".join(self._codes)


def find_codes(objects: Array, known: dict[type, dict[Any, int]], codes: Array, start: int) -> int:
    """Write codes by type and value; return the first row from ``start`` on whose object is not known."""
    for row, item in enumerate(objects[start:].tolist(), start):
        try:
            codes[row] = known[type(item)][item]
        except Exception:  # not known, or not hashable: the caller says so better
            return row
    return len(objects)


class Tally:
    """Exact sums per cell of a table of ``classes ** axes``: two axes for a confusion table."""

    def __init__(self, classes: int, weighted: bool, axes: int = 2) -> None:
        self._weighted, self._cells = weighted, classes**axes
        self._scales = [classes**k for k in reversed(range(axes))]
        cells = self._cells
        self._n = np.zeros(cells + 2, dtype=np.int64)
        self._least, self._most = np.full(cells, np.inf), np.full(cells, -np.inf)
        self._sums = [Exact(np.zeros((0, cells), dtype=np.int64), 0) for _ in range(2)]
        self._bad = 0

    def add(self, *columns_and_weights: Any) -> None:
        """Count rows; a column is ``(labels, low, length, first, table)``."""
        *columns, weights = columns_and_weights
        rows = {len(column[0]) for column in columns}
        if (weights is not None) != self._weighted or len(rows) != 1:
            raise ValueError("columns do not belong together")
        cells = self._cells
        for start in range(0, rows.pop(), _BLOCK):
            block = slice(start, start + _BLOCK)
            parts = [codes(column, block, scale) for column, scale in zip(columns, self._scales, strict=True)]
            flags = np.bitwise_or.reduce(parts)
            cell = np.where(flags & IGNORED, cells, np.where(flags & UNKNOWN, cells + 1, sum(parts)))
            if weights is None:
                self._n += np.bincount(cell, minlength=cells + 2)
            else:
                self._add_weights(cell, np.asarray(weights[block], dtype=np.float64))

    def _add_weights(self, cell: IntArray, w: Array) -> None:
        cells = self._cells
        real = cell < cells
        bad = real & ~((w >= 0) & np.isfinite(w))
        self._bad += int(bad.sum())
        self._n += np.bincount(cell[~bad], minlength=cells + 2)
        cell, w = cell[real & ~bad], w[real & ~bad] + 0.0
        np.minimum.at(self._least, cell, w)
        np.maximum.at(self._most, cell, w)
        for k, square in enumerate((False, True)):
            plane, parts, exponent = split(w, square)
            count = int(plane.max(initial=0)) + len(parts)
            total = no_digits(count, (cells,))
            for d, part in enumerate(parts):
                if (
                    total.size > 64 * _BLOCK
                ):  # mostly empty, and large: arrays of its size would take longer, and memory
                    np.add.at(total, (plane + d, cell), part)
                else:
                    index = (plane + d) * cells + cell
                    total += np.bincount(index, part, count * cells).astype(np.int64).reshape(count, cells)
            self._sums[k] = self._sums[k] + Exact(total, exponent)

    def result(self) -> tuple[bytes, bytes, bytes, tuple[int, bytes], tuple[int, bytes], int, int, int]:
        """Return (n, least, most, w, w2, ignored, unknown, bad weights)."""
        seen = self._least <= self._most
        least, most = (np.where(seen, x, np.nan) for x in (self._least, self._most))
        w, w2 = ((x.exponent, x.digits.tobytes()) for x in self._sums)
        n, ignored, unknown = self._n[:-2], int(self._n[-2]), int(self._n[-1])
        return n.tobytes(), least.tobytes(), most.tobytes(), w, w2, ignored, unknown, self._bad


def _positions(labels: Array, low: int, length: int) -> tuple[Array, Array]:
    """``labels - low`` modulo 2**64, and which of them lie below ``length``."""
    labels = np.asarray(labels)
    wide = labels.astype(np.uint64 if labels.dtype.kind in "ub" else np.int64).view(np.uint64)
    position = wide - np.uint64(low % (1 << 64))
    return position.astype(np.int64), position < np.uint64(length)


def codes(column: Column, block: slice = slice(None), scale: int = 1) -> IntArray:
    """Code of each label times ``scale``, or a sentinel."""
    labels, low, length, first, table = column
    position, known = _positions(labels[block], low, length)
    result = np.full(len(position), UNKNOWN, dtype=np.int64)
    here = position[known]
    result[known] = (here + first) * scale if table is None else np.asarray(table)[here]
    return result


assert RADIX_BITS + 16 < 53  # see _BLOCK

"""The NumPy twin of the compiled kernel: the same names, the same results to the bit, no compiler.

It is several times slower and needs temporaries, but only of the size of a block.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from ..arraytypes import Array, FloatArray, IntArray
from ..exact import MOST_DIGITS, RADIX_BITS, Exact, no_digits, split

Column = tuple[Array, int, int, int, Array | None]

IGNORED = 1 << 30
UNKNOWN = 1 << 31
MOST_AXES = 16
MOST_REPLICATES = 1 << 16
_NOTHING = Exact(np.zeros((0, 0), dtype=np.int64), 0)
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


def margins(y_true: Array, y_pred: Array, weights: Array | None) -> None:
    """Answer no short call: only the compiled kernel is faster than the long way."""


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


class NumpyTally:
    """Exact sums of the cells that occur; a key has a code of each axis, the first the most significant.

    ``part`` is the axis whose code says whose row it is: ignored rows are counted for each. A ``dense`` tally has a
    place for each key in the compiled kernel; here it only bounds the number of keys. ``large`` is a large weight of
    those to come, by which the compiled kernel chooses what is fast; the sums do not depend on it. ``replicates`` is
    the number of columns of replicate weights, of which there are sums too. The compiled kernel refuses what does not
    fit together, since it would read beyond it; here nothing is checked.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        weighted: bool,
        dense: bool,
        part: int = -1,
        room: int = (1 << 31) - 1,
        large: float = 0.0,
        replicates: int = 0,
    ) -> None:
        self._kind = (sizes, weighted, dense, part, replicates)
        self._room = math.prod(sizes) if dense else room
        self._keys = np.zeros(0, dtype=np.int64)
        self._n = np.zeros(0, dtype=np.int64)
        self._least, self._most = np.zeros(0), np.zeros(0)
        self._sums = [_NOTHING] * (2 + replicates)
        self._ignored = np.zeros(1 if part < 0 else sizes[part], dtype=np.int64)
        self._unknown = self._bad = self._bad_replicates = 0
        self._failure: OverflowError | None = None

    def add(self, *columns_and_weights: Any) -> None:
        """Count rows; a column is ``(labels, low, length, first, table)``, and replicates are a tuple of weights."""
        sizes, _, _, _, count = self._kind
        columns, weights = columns_and_weights[: len(sizes)], columns_and_weights[len(sizes)]
        replicates = columns_and_weights[-1] if count else ()
        for start in range(0, len(columns[0][0]), _BLOCK):
            block = slice(start, start + _BLOCK)
            row_codes = [codes(column, block) for column in columns]
            w = None if weights is None else np.asarray(weights[block], dtype=np.float64)
            self._add_block(row_codes, w, [x[block].astype(np.float64) for x in replicates])

    def _add_block(self, row_codes: list[IntArray], w: Array | None, replicates: list[FloatArray]) -> None:
        sizes, _, _, part, _ = self._kind
        flags = np.bitwise_or.reduce([x for k, x in enumerate(row_codes) if k != part] or [np.zeros_like(row_codes[0])])
        whose = row_codes[part] if part >= 0 else np.zeros_like(flags)
        placed = whose < IGNORED
        ignored = (flags & IGNORED != 0) & placed
        good = (flags < IGNORED) & placed
        np.add.at(self._ignored, whose[ignored], 1)
        self._unknown += int((~ignored & ~good).sum())
        if w is not None:
            bad = good & ~((w >= 0) & np.isfinite(w))
            self._bad += int(bad.sum())
            good &= ~bad
            w = w[good] + 0.0  # -0.0 counts as 0.0
        key = np.zeros(int(good.sum()), dtype=np.int64)
        for size, x in zip(sizes, row_codes, strict=True):
            key = key * size + x[good]
        keys, cell = _distinct(key, math.prod(sizes))
        n = np.bincount(cell, minlength=len(keys))
        least, most = np.full(len(keys), np.inf), np.zeros(len(keys))
        sums = [_NOTHING] * 2
        if w is not None:
            np.minimum.at(least, cell, w)
            np.maximum.at(most, cell, w)
            sums = [_add_up(cell, len(keys), *split(w, square)) for square in (False, True)]
        for weights in (x[good] for x in replicates):
            bad = ~((weights >= 0) & np.isfinite(weights))
            self._bad_replicates += int(bad.sum())
            weights[bad] = 0
            sums.append(_add_up(cell, len(keys), *split(weights)))
        self._take(keys, n, least, most, sums)

    def _take(self, keys: IntArray, n: IntArray, least: FloatArray, most: FloatArray, sums: list[Exact]) -> None:
        """Add sums of cells, in the order of their keys."""
        if self._failure is not None:
            raise self._failure
        union = np.union1d(self._keys, keys)
        if len(union) > self._room:
            self._fail("cells", self._room)
        old, new = np.searchsorted(union, self._keys), np.searchsorted(union, keys)
        counts = np.zeros(len(union), dtype=np.int64)
        lowest, highest = np.full(len(union), np.inf), np.zeros(len(union))
        counts[old], lowest[old], highest[old] = self._n, self._least, self._most
        counts[new] += n
        lowest[new], highest[new] = np.minimum(lowest[new], least), np.maximum(highest[new], most)
        self._sums = [self._sum(a, old, b, new, len(union)) for a, b in zip(self._sums, sums, strict=True)]
        self._keys, self._n, self._least, self._most = union, counts, lowest, highest

    def _sum(self, a: Exact, old: IntArray, b: Exact, new: IntArray, cells: int) -> Exact:
        ends = [(x.exponent, x.exponent + RADIX_BITS * len(x.digits)) for x in (a, b) if len(x.digits)]
        planes = (max(high for _, high in ends) - min(low for low, _ in ends)) // RADIX_BITS if ends else 0
        if planes * cells > MOST_DIGITS:
            self._fail("digits", planes, cells)
        return a.placed((cells,), old) + b.placed((cells,), new)

    def _fail(self, *reason: Any) -> NoReturn:
        self._failure = OverflowError(reason)
        raise self._failure

    def merge(self, other: NumpyTally) -> None:
        """Add all that another Tally of the same kind holds."""
        if other._failure is not None:
            raise other._failure
        self._ignored += other._ignored
        self._unknown += other._unknown
        self._bad += other._bad
        self._bad_replicates += other._bad_replicates
        self._take(other._keys, other._n, other._least, other._most, other._sums)

    def result(self) -> tuple[Any, ...]:
        """Return the occupied cells: (keys, n, least, most, w, w2, ignored, unknown, bad weights)."""
        if self._failure is not None:
            raise self._failure
        head, counts = (self._keys.tobytes(), self._n.tobytes()), (self._ignored.tobytes(), self._unknown, self._bad)
        if not self._kind[1]:
            return *head, None, None, None, None, *counts
        w, w2 = map(_as_bytes, self._sums[:2])
        return *head, self._least.tobytes(), self._most.tobytes(), w, w2, *counts

    def replicates(self) -> tuple[tuple[tuple[int, bytes], ...], int]:
        """Return the sums of each column of replicate weights, of the same cells, and the number of bad weights."""
        if self._failure is not None:
            raise self._failure
        return tuple(map(_as_bytes, self._sums[2:])), self._bad_replicates


Tally = NumpyTally  # as the compiled kernel calls its own: the two have one interface


def _as_bytes(exact: Exact) -> tuple[int, bytes]:
    return exact.exponent, exact.digits.tobytes()


def _distinct(keys: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """Return the keys that occur, ascending, and the place among them of each."""
    if most > _BLOCK:
        return np.unique(keys, return_inverse=True)
    there = np.bincount(keys, minlength=most) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[keys]


def _add_up(
    cell: IntArray, cells: int, plane: IntArray, parts: tuple[IntArray, IntArray, IntArray], exponent: int
) -> Exact:
    """Sum of the numbers in each cell, from their digits."""
    total = no_digits(int(plane.max(initial=0)) + len(parts), (cells,))
    for d, part in enumerate(parts):
        if total.size > 64 * _BLOCK:  # mostly empty, and large: arrays of its size would take longer, and memory
            np.add.at(total, (plane + d, cell), part)
        else:
            total += np.bincount((plane + d) * cells + cell, part, total.size).astype(np.int64).reshape(total.shape)
    return Exact(total, exponent)


def _positions(labels: Array, low: int, length: int) -> tuple[Array, Array]:
    """``labels - low`` modulo 2**64, and which of them lie below ``length``."""
    labels = np.asarray(labels)
    wide = labels.astype(np.uint64 if labels.dtype.kind in "ub" else np.int64).view(np.uint64)
    position = wide - np.uint64(low % (1 << 64))
    return position.astype(np.int64), position < np.uint64(length)


def codes(column: Column, block: slice = slice(None)) -> IntArray:
    """Code of each label, or a sentinel."""
    labels, low, length, first, table = column
    position, known = _positions(labels[block], low, length)
    result = np.full(len(position), UNKNOWN, dtype=np.int64)
    here = position[known]
    result[known] = here + first if table is None else np.asarray(table)[here]
    return result


assert RADIX_BITS + 16 < 53  # see _BLOCK

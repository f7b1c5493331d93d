"""The one structure beneath all tables: a sorted list of occupied cells, each with a key of codes and its sums.

A key has two codes or more: of the true class and of a prediction; of a second prediction; of the group of a row and of
its cluster. What each axis means, and what its codes stand for, is known to the table that has the stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .arraytypes import Array, FloatArray, IndexArray, IntArray
from .sums import Sums, beside

LARGEST_KEY = 1 << 63
"""Keys of several codes are sorted as one integer where they fit one."""


class Stack:
    """Occupied cells in the order of their keys, each key once.

    Parameters
    ----------
    codes
        The keys: a row per axis, a column per cell, sorted by the first axis, then by the second, and so on.
    sums
        What is known of each cell, as vectors.
    """

    __slots__ = ("codes", "sums")

    def __init__(self, codes: IntArray, sums: Sums) -> None:
        self.codes: IntArray = np.ascontiguousarray(codes)
        self.sums: Sums = sums
        for array in (self.codes, sums.n, sums.w_min, sums.w_max):
            array.flags.writeable = False

    @classmethod
    def gathered(cls, codes: IntArray, sums: Sums) -> Stack:
        """Stack of cells in any order; those that have the same key become one."""
        if codes.shape[1] < 2:
            return cls(codes, sums)
        order: IndexArray | None
        key = _as_one(codes)
        if key is None:  # too many combinations for 64 bits
            order = np.lexsort(codes[::-1])
            new = (np.diff(codes[:, order], axis=1) != 0).any(axis=0)
        else:
            step = np.diff(key)
            if (step > 0).all():
                return cls(codes, sums)
            order = None if (step >= 0).all() else np.argsort(key, kind="stable")
            new = (step if order is None else np.diff(key[order])) != 0
        starts = np.concatenate([[0], np.flatnonzero(new) + 1])
        if order is not None:
            codes, sums = codes[:, order], sums.take(order)
        return cls(codes[:, starts], sums.runs(starts)) if len(starts) < codes.shape[1] else cls(codes, sums)

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stack):
            return NotImplemented
        return np.array_equal(self.codes, other.codes) and self.sums.same(other.sums)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Stack, (self.codes, self.sums)

    def __add__(self, other: Stack) -> Stack:
        return merged_stacks([self, other])

    def take(self, which: Any) -> Stack:
        """Return some of the cells: a mask, a slice, or places in ascending order."""
        return Stack(self.codes[:, which], self.sums.take(which))

    def along(self, axes: Sequence[int]) -> Stack:
        """Return the cells of some axes only, in this order: those that differ in the others are added up."""
        return Stack.gathered(self.codes[list(axes)], self.sums)

    def recoded(self, places: Mapping[int, Array]) -> Stack:
        """Return the cells under other codes: ``places[axis][code]`` is the new code of an axis, −1 leaves it out."""
        codes = np.array(self.codes)
        for axis, new in places.items():
            codes[axis] = new[codes[axis]]
        kept = (codes >= 0).all(axis=0)
        if kept.all():
            return Stack.gathered(codes, self.sums)
        return Stack.gathered(codes[:, kept], self.sums.take(kept))


class Beside(NamedTuple):
    """Cells of two lists, those of either: their keys, and the rows and the weight that each list has there."""

    codes: IntArray
    n: IntArray
    w: FloatArray

    @classmethod
    def of(cls, a: Stack, b: Stack) -> Beside:
        """Look all cells of two stacks up in both."""
        codes, place = numbered(np.concatenate([a.codes, b.codes], axis=1))
        n, w = np.zeros((2, codes.shape[1]), dtype=np.int64), np.zeros((2, codes.shape[1]))
        for k, (stack, at) in enumerate(zip((a, b), np.split(place, [len(a)]), strict=True)):
            n[k, at], w[k, at] = stack.sums.n, stack.sums.w_exact.floats()
        return cls(codes, n, w)

    def differ(self, share: Any) -> Array:
        """Where the two are not the same, but for a share by which sums of the same weights may differ."""
        (n, m), (w, v) = self.n, self.w
        return np.asarray((n != m) | ~np.isclose(w, v, rtol=share, atol=0.0))


def merged_stacks(stacks: Sequence[Stack]) -> Stack:
    """Sum of stacks whose axes have the same codes: cells of one key are added up."""
    used = [stack for stack in stacks if len(stack)]
    if len(used) < 2:
        return used[0] if used else stacks[0]
    first, *others = used
    if all(np.array_equal(first.codes, other.codes) for other in others):
        return Stack(first.codes, reduce(add, (stack.sums for stack in used)))
    return Stack.gathered(
        np.concatenate([stack.codes for stack in used], axis=1), beside([stack.sums for stack in used])
    )


def _as_one(codes: IntArray) -> IntArray | None:
    """Each key as one integer, of the same order; None if they do not fit."""
    key: IntArray = codes[0]
    size = int(key.max()) + 1
    for axis in codes[1:]:
        more = int(axis.max()) + 1
        size *= more
        if size >= LARGEST_KEY:
            return None
        key = key * more + axis
    return key


def numbered(codes: IntArray) -> tuple[IntArray, IndexArray]:
    """Distinct columns of codes, in order, and the place of each column among them."""
    if not codes.shape[1]:
        return codes, np.zeros(0, dtype=np.intp)
    key = _as_one(codes)
    if key is None:
        distinct, where = np.unique(codes, axis=1, return_inverse=True)
        return distinct, where.reshape(-1)
    _, first, where = np.unique(key, return_index=True, return_inverse=True)
    return codes[:, first], where.reshape(-1)

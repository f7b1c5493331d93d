"""Labels to codes: how the kernel is told which class a raw label stands for.

An encoder is *static* when every class is known before the pass: small integers and the categories of a
data frame. Then the kernel reads the caller's memory. Strings, objects and integers of a wide range are
coded block by block on the way, and their classes turn up as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from .. import tally
from ..arraytypes import Array
from ..errors import WmccError
from ..labels import MAX_CLASSES, Label
from .blocks import BLOCK, blocks, native
from .codebook import Codebook
from .columns import Column

DIRECT_RANGE = 22  # integers this close together are taken as the classes: their table is small, seen or not
LOOKUP_RANGE = 1 << 20  # up to this far apart it is cheap to mark those that occur
SAMPLE = 1 << 13  # rows of each of the two samples that a guess rests on
LONGEST_KEY = 4096  # bytes of a fixed-width string beyond which it is coded as an object

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class Encoder(Protocol):
    """One column's way from raw labels to codes."""

    static: bool

    def prepare(self, block: Array) -> Array:
        """Return integers for one block of raw labels; may add classes to the codebook."""

    def argument(self, block: Array, scale: int) -> tuple[Any, ...]:
        """Return what the kernel takes: (integers, low, length, first, lookup table or None)."""


def encoders(
    columns: list[Column], arrays: list[Array], codebook: Codebook, workers: int, run: Map, guess: bool
) -> list[Encoder]:
    """Choose an encoder for each column.

    ``arrays`` are the labels as they will be read in blocks; ``run`` maps a function over pieces of them. With
    ``guess`` the smallest and largest integer are taken from a sample; the kernel counts labels outside as
    unknown, so a wrong guess is noticed.
    """
    kinds = {"coded" if c.categories is not None else a.dtype.kind for c, a in zip(columns, arrays, strict=True)}
    if kinds <= {"b", "i", "u"} and kinds != {"b"}:
        raw = codebook.given_integers
        if raw is None:
            raw = _guess(arrays) if guess else None
            raw = raw or _occurring(arrays, workers, run, DIRECT_RANGE)
        if raw is not None and (not raw or raw[-1] - raw[0] < LOOKUP_RANGE):
            return [_Lookup(raw, raw, codebook)] * len(columns)  # one for all: the same classes, the same codes
    return [_encoder(c, a, codebook, workers, run) for c, a in zip(columns, arrays, strict=True)]


def _encoder(column: Column, array: Array, codebook: Codebook, workers: int, run: Map) -> Encoder:
    if column.categories is not None:
        raw = _occurring([array], workers, run, 0)
        if raw is None:
            raw = np.unique(array).tolist()
        return _Lookup(raw, [_category(column, k) for k in raw], codebook)
    kind = array.dtype.kind
    if kind == "b":
        return _Lookup([0, 1], [False, True], codebook)
    long_text = kind == "U" and array.dtype.itemsize > LONGEST_KEY
    return _Objects(column, codebook) if kind == "O" or long_text else _Keys(column, codebook)


def _category(column: Column, code: int) -> Label:
    try:
        return column.label(code, 0)
    except WmccError:  # once more, with the row where it occurs
        return column.label(code, int(np.argmax(column.values == code)))


def _guess(arrays: list[Array]) -> list[int] | None:
    """The range of a sample, if it is short."""
    size = len(arrays[0])
    if arrays[0].ndim > 1 or size < 8 * SAMPLE:
        return None
    samples = [native(x) for a in arrays for x in (a[:SAMPLE], a[:: size // SAMPLE])]
    low, high = _extent(map(tally.active.extent, samples))
    return list(range(low, high + 1)) if high - low < DIRECT_RANGE else None


def _occurring(arrays: list[Array], workers: int, run: Map, direct: int) -> list[int] | None:
    """Integers that occur, or their whole range if it is shorter than ``direct``; None if they lie too far apart."""
    low, high = _extent(_each(tally.active.extent, arrays, workers, run))
    if high - low < direct:
        return list(range(low, high + 1))
    if high - low >= LOOKUP_RANGE:
        return None
    flags = np.zeros(high - low + 1, dtype=np.uint8)
    list(_each(lambda piece: tally.active.mark(piece, low, flags), arrays, workers, run))
    return [low + int(k) for k in np.flatnonzero(flags)]


def _each(function: Callable[[Array], Any], arrays: list[Array], workers: int, run: Map) -> Iterable[Any]:
    """Apply a function to all labels, in pieces that the kernel can read."""
    if arrays[0].size <= BLOCK:
        return [function(native(array)) for array in arrays]
    pieces = [(array, index) for array in arrays for index in blocks([array], workers)]
    return run(lambda piece: function(native(piece[0][piece[1]])), pieces)


def _extent(extents: Iterable[tuple[int, int]]) -> tuple[int, int]:
    lows, highs = zip(*extents, strict=True)
    return min(lows), max(highs)


class _Lookup:
    """Integers whose classes are known: ``raw[i]`` stands for ``labels[i]``."""

    static = True

    def __init__(self, raw: Sequence[int], labels: Sequence[Label], codebook: Codebook) -> None:
        self._low = raw[0] if raw else 0
        self._length = raw[-1] - self._low + 1 if raw else 0
        codes = codebook.codes(labels)
        # Consecutive classes need no table: the kernel adds instead of looking up.
        self._first = codes[0] if codes else 0
        self._table: Array | None = None
        dense = len(codes) == self._length and self._first < tally.IGNORED
        if not dense or codes != list(range(self._first, self._first + self._length)):
            self._table = np.full(self._length, tally.UNKNOWN, dtype=np.uint32)
            self._table[[k - self._low for k in raw]] = codes

    def prepare(self, block: Array) -> Array:
        return block

    def argument(self, block: Array, scale: int) -> tuple[Any, ...]:
        # The kernel subtracts modulo 2**64: labels beyond the sign of the column's type must not reach it.
        skip, stop = 0, self._length
        if block.dtype.kind in "bu":
            skip = min(max(0, -self._low), stop)
        else:
            stop = max(0, min(stop, (1 << 63) - self._low))
        if self._table is None:
            return (block, self._low + skip, max(0, stop - skip), self._first + skip, None)
        return (block, self._low + skip, max(0, stop - skip), 0, _scaled(self._table[skip:stop], scale))


def _scaled(codes: Array, scale: int) -> Array:
    return np.where(codes < tally.IGNORED, codes * np.uint32(scale), codes).astype(np.uint32)


class _Growing:
    """Codes in the order of first appearance, and the class each stands for."""

    static = False

    def __init__(self, column: Column, codebook: Codebook) -> None:
        self._column, self._codebook = column, codebook
        self._table: list[int] = []

    def argument(self, block: Array, scale: int) -> tuple[Any, ...]:
        codes = np.array(self._table, dtype=np.uint32)
        return (block, 0, len(codes), 0, _scaled(codes, scale))


class _Keys(_Growing):
    """Fixed-width strings and integers of a wide range, coded by their bytes."""

    def __init__(self, column: Column, codebook: Codebook) -> None:
        super().__init__(column, codebook)
        self._dtype = column.values.dtype.newbyteorder("=")
        self._width = max(1, self._dtype.itemsize)
        self._known = tally.active.Dictionary(self._width)

    def prepare(self, block: Array) -> Array:
        codes = np.empty(len(block), dtype=np.int32)
        if self._dtype.itemsize == 0:
            block = np.zeros(len(block), dtype="U1")  # every string is empty
        keys = block.view(np.dtype((np.void, self._width))) if len(block) else np.empty(0, f"V{self._width}")
        done = self._known.encode(keys, codes, 2 * MAX_CLASSES + 1)
        found = self._known.keys()
        labels = np.frombuffer(found, self._dtype if self._dtype.itemsize else "U1")[len(self._table) :]
        self._table += self._codebook.codes(self._column.plain(labels))
        if done < len(block):  # with more labels than classes can be, one at least is unknown; the rest are as one
            codes[done:] = self._table.index(tally.UNKNOWN)
        return codes


class _Objects(_Growing):
    """Python objects, coded by type and equality in dicts: True, 1 and 1+0j are equal, and each is looked at."""

    def __init__(self, column: Column, codebook: Codebook) -> None:
        super().__init__(column, codebook)
        self._known: dict[type, dict[Any, int]] = {}
        self._row = 0

    def prepare(self, block: Array) -> Array:
        if block.dtype.kind != "O":
            objects = np.empty(len(block), dtype=object)
            objects[:] = self._column.plain(block)
            block = objects
        codes = np.empty(len(block), dtype=np.int32)
        row = 0
        while (row := tally.active.find_codes(block, self._known, codes, row)) < len(block):
            item = block[row]
            label = self._column.label(item, self._row + row)
            same = self._known.setdefault(type(label), {})
            if label not in same:
                same[label] = len(self._table)
                self._table += self._codebook.codes([label])
            codes[row] = same[label]
            with suppress(TypeError):  # what has no hash, such as an array of one number, is looked at in each row
                self._known.setdefault(type(item), {})[item] = same[label]
            row += 1
        self._row += len(block)
        return codes

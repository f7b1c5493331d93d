"""Labels to codes: how the kernel is told which class a raw label stands for.

An encoder is *static* when every class is known before the pass: small integers and the categories of a
data frame. Then the kernel reads the caller's memory. Strings, objects and integers of a wide range are
coded block by block on the way, and their classes turn up as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from .. import tally
from ..arraytypes import Array
from ..labels import MAX_CLASSES, Label, as_label, check_count
from .codebook import Codebook
from .columns import Column, place

DIRECT_RANGE = 22  # integers this close together are taken as the classes: their table is small, seen or not
LOOKUP_RANGE = 1 << 20  # up to this far apart it is cheap to mark those that occur
SAMPLE = 1 << 13  # rows of each of the two samples that a guess rests on
PIECE = 1 << 18  # rows looked at at a time where the kernel cannot read the caller's memory as it is

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class Encoder(Protocol):
    """One column's way from raw labels to codes."""

    static: bool

    def prepare(self, block: Array) -> Array:
        """Return integers for one block of raw labels; may add classes to the codebook."""

    def argument(self, block: Array, scale: int) -> tuple[Any, ...]:
        """Return what the kernel takes: (integers, low, length, first, lookup table or None)."""


def encoders(columns: list[Column], arrays: list[Array], codebook: Codebook, run: Map, guess: bool) -> list[Encoder]:
    """Choose an encoder for each column.

    ``arrays`` are the labels as they will be read in blocks; ``run`` maps a function over pieces of them. With
    ``guess`` the smallest and largest integer are taken from a sample; the kernel counts labels outside as
    unknown, so a wrong guess is noticed.
    """
    kinds = {"coded" if c.categories is not None else a.dtype.kind for c, a in zip(columns, arrays, strict=True)}
    if kinds <= {"b", "i", "u"} and kinds != {"b"}:
        raw = codebook.given_integers
        if raw is None:
            raw = _integers(arrays, run, guess)
        if raw is not None and (not raw or raw[-1] - raw[0] < LOOKUP_RANGE):
            return [_Lookup(raw, raw, codebook)] * len(columns)  # one for all: the same classes, the same codes
    return [_encoder(column, array.dtype.kind, codebook) for column, array in zip(columns, arrays, strict=True)]


def _encoder(column: Column, kind: str, codebook: Codebook) -> Encoder:
    if column.categories is not None:
        raw = sorted(column.categories)
        return _Lookup(raw, [column.categories[k] for k in raw], codebook)
    if kind == "b":
        return _Lookup([0, 1], [False, True], codebook)
    return _Objects(column, codebook) if kind == "O" else _Keys(column, codebook)


def _integers(arrays: list[Array], run: Map, guess: bool) -> list[int] | None:
    """Integers to take as classes: those that occur, or a short range; None if they lie too far apart."""
    size = arrays[0].size
    if guess and size > 8 * SAMPLE:
        samples = [x for a in arrays for x in (a[: SAMPLE * len(a) // size + 1], a[:: size // SAMPLE + 1])]
        low, high = _extent(map(tally.active.extent, map(native, samples)))
        if high - low < DIRECT_RANGE:
            return list(range(low, high + 1))
    pieces = [piece for array in arrays for piece in _pieces(array)]
    low, high = _extent(run(tally.active.extent, pieces))
    if high - low < DIRECT_RANGE:
        return list(range(low, high + 1))
    if high - low >= LOOKUP_RANGE:
        return None
    flags = np.zeros(high - low + 1, dtype=np.uint8)
    list(run(lambda piece: tally.active.mark(piece, low, flags), pieces))
    return [low + int(k) for k in np.flatnonzero(flags)]


def _extent(extents: Iterable[tuple[int, int]]) -> tuple[int, int]:
    lows, highs = zip(*extents, strict=True)
    return min(lows), max(highs)


def readable(values: Array) -> bool:
    """Whether the kernel can read the memory as it is."""
    flags = values.flags
    return flags.c_contiguous and flags.aligned and values.dtype.isnative


def native(values: Array, dtype: Any = None) -> Array:
    """Return the values as a vector that the kernel can read, of another type if one is given."""
    if dtype is None and readable(values):
        return values if values.ndim == 1 else values.reshape(-1)
    return np.require(values, dtype or values.dtype.newbyteorder("="), ["C", "A"]).reshape(-1)


def _pieces(values: Array) -> list[Array]:
    """Vectors that the kernel can read, many enough to share out among threads."""
    if readable(values):
        values = values.reshape(-1)
        return [values] if len(values) < PIECE else np.array_split(values, 16)
    step = max(1, PIECE * len(values) // values.size)
    return [native(values[start : start + step]) for start in range(0, len(values), step)]


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
        if len(codes) != self._length or codes != list(range(self._first, self._first + self._length)):
            self._table = np.full(self._length, tally.UNKNOWN, dtype=np.uint32)
            self._table[np.array(raw) - self._low] = codes

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
        self._row = 0

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
        done = self._known.encode(keys, codes, 2 * MAX_CLASSES)
        if done < len(block):
            check_count(2 * MAX_CLASSES + 1)
        found = self._known.keys()
        labels = np.frombuffer(found, self._dtype if self._dtype.itemsize else "U1")[len(self._table) :]
        self._table += self._codebook.codes(labels.tolist())
        return codes


class _Objects(_Growing):
    """Python objects, coded by equality in a dict."""

    def __init__(self, column: Column, codebook: Codebook) -> None:
        super().__init__(column, codebook)
        self._known: dict[Any, int] = {}

    def prepare(self, block: Array) -> Array:
        codes = np.empty(len(block), dtype=np.int32)
        row = 0
        while (row := tally.active.find_codes(block, self._known, codes, row)) < len(block):
            label = as_label(block[row], place(self._column.name, self._column.values, self._row + row))
            self._known[block[row]] = len(self._table)
            self._table += self._codebook.codes([label])
        self._row += len(block)
        return codes

"""Labels to codes: which labels are classes, the code of each, and how the kernel is told.

An encoder is *static* when every class is known before the pass: integers that lie close together, and the categories
of a data frame. Then the kernel reads the caller's memory. Strings, objects and integers of a wide range are coded
block by block on the way, and their classes turn up as they come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np

from ..core import kernel as tally
from ..core.arraytypes import Array, IntArray
from ..core.kernel._numpy import codes as kernel_codes
from ..core.labels import MISSING, NOTHING, Label, as_label, check_count, given, ordered, plain, void_order
from ..errors import InputError, InputTypeError, WmccError
from .columns import BLOCK, Column

SHARE = 1 << 16  # rows worth handing to a thread
DIRECT_RANGE = 22  # integers this close together are taken as the classes: their table is small, seen or not
LOOKUP_RANGE = 1 << 20  # up to this far apart it is cheap to mark those that occur
SAMPLE = 1 << 13  # rows of each of the two samples that a guess rests on
LONGEST_KEY = 4096  # bytes of a fixed-width string beyond which it is coded as an object
MOST_CODES = tally.IGNORED - 1
MANY = 1 << 16  # classes that may take more memory than there is

Missing = Literal["error", "ignore", "wrong", "keep"]

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


# ---- which labels are classes --------------------------------------------------------------------------


class Rules(NamedTuple):
    """What the caller said about labels, by the keywords of `tabulate`."""

    labels: tuple[Label, ...] | None = None
    names: dict[Label, Label] | None = None
    ignore: tuple[Label, ...] = ()
    missing: str = "error"
    positive: Label | None = None

    @property
    def skip_missing(self) -> bool:
        """Whether labels may be missing."""
        return self.missing != "error"

    @property
    def keep_missing(self) -> tuple[bool, bool]:
        """Whether a row is counted whose true label is missing, and one whose prediction is."""
        return self.missing == "keep", self.missing in ("keep", "wrong")

    def lacks(self, missing: Sequence[Any]) -> Any:
        """Whether rows are left out, from whether the truth, and each prediction, is missing."""
        truth, pred = self.keep_missing
        lost = [own for k, own in enumerate(missing) if not (pred if k else truth)]
        return np.logical_or.reduce(lost) if lost else np.zeros_like(missing[0])


def make_rules(
    labels: Any = None, names: Any = None, ignore: Any = None, missing: Any = "error", positive: Any = None
) -> Rules:
    """Check what the caller says about labels."""
    if labels is not None and isinstance(labels, Mapping):
        if names is not None:
            raise InputError("labels is a mapping from labels to names, and names is given too; expected one of them.")
        labels, names = list(labels), labels
    if names is not None and not isinstance(names, Mapping):
        raise InputTypeError(f"names is {names!r}; expected a mapping from labels to names, such as {{0: 'road'}}.")
    if missing not in get_args(Missing):
        raise InputError.of("missing", missing, "one of 'error', 'ignore', 'wrong' or 'keep'")
    rules = Rules(
        None if labels is None else given(labels),
        None if names is None else {as_label(x, "a key of names"): as_label(y, "a name") for x, y in names.items()},
        () if ignore is None else given(ignore, "ignore"),
        missing,
        None if positive is None else as_label(positive, "positive"),
    )
    both = set(rules.labels or ()) & set(rules.ignore)
    if both:
        raise InputError(f"{next(iter(both))!r} is in labels and in ignore; it cannot be both.")
    return rules


class Integers(NamedTuple):
    """Distinct integers that lie close together, ascending: ``low`` and how far each is from it."""

    low: int
    offsets: IntArray

    @classmethod
    def between(cls, low: int, high: int) -> Integers:
        """All from ``low`` to ``high``."""
        return cls(low, np.arange(high - low + 1))

    @classmethod
    def near(cls, labels: Collection[Label]) -> Integers | None:
        """Those among labels; None if they lie far apart."""
        found = sorted({int(x) for x in labels if not isinstance(x, str) and -(1 << 63) <= x < 1 << 64})
        low, high = (found[0], found[-1]) if found else (0, 0)
        return cls(low, np.array([k - low for k in found], dtype=np.int64)) if high - low < LOOKUP_RANGE else None

    def values(self) -> list[int]:
        """The integers themselves."""
        low, values = self.low, self.offsets.tolist()
        return [low + k for k in values] if low else values


class Codebook:
    """The classes of all columns, in the order they were met, and the code of each.

    Labels that are to be ignored leave rows out where they are the truth, and are void where they are predicted: they
    have a code, but are no classes.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.classes: list[Label] = list(rules.labels or ())
        self._code: dict[Label, int] = {label: i for i, label in enumerate(self.classes)}
        self._ignore = frozenset(rules.ignore) | ({MISSING} if rules.missing == "wrong" else set())
        self._keep = rules.keep_missing
        self._may_keep = frozenset({MISSING} if rules.missing == "keep" else ())
        self._closed = rules.labels is not None
        self._integers = False  # whether an integer was met: False and 0 are one class, and this decides its name
        self.ascending = False  # whether the classes are known to be sorted

    def codes(self, labels: Sequence[Label], truth: bool = False) -> list[int]:
        """Code of each label: its class, a new class, or a sentinel for ignored and unknown ones."""
        if self._keep[not truth]:
            if MISSING in labels:
                raise InputError(f"there is a class {MISSING!r}, which stands for missing labels.", "rename it.")
            labels = [MISSING if label == NOTHING else label for label in labels]
        self._integers = self._integers or int in map(type, labels)
        known, ignore = self._code, self._ignore
        if not (self._closed or known or ignore or self.rules.skip_missing):  # all are new, unless one comes twice
            known.update(zip(labels, range(len(labels)), strict=True))
            if len(known) == len(labels) and NOTHING not in known:
                self.classes = list(labels)
                self._check_count()
                return list(range(len(labels)))
            known.clear()
        left_out = {NOTHING, *ignore} if truth else {NOTHING}
        open_to = ignore | self._may_keep
        for label in labels:
            if label not in known and label not in left_out and (label in open_to or not self._closed):
                known[label] = len(self.classes)
                self.classes.append(label)
        self._check_count()
        return [tally.IGNORED if label in left_out else known.get(label, tally.UNKNOWN) for label in labels]

    def _check_count(self) -> None:
        if len(self.classes) > MANY:
            check_count(len(self.classes))

    def named(self, met: Array, ignored: int) -> tuple[tuple[Label, ...], tuple[Label, ...], IntArray | None]:
        """Return the labels of a table, those of them that are void, and the place of each code among them.

        ``met`` says of each code whether it occurs; ``ignored`` is the number of rows left out. Classes are those
        given, or those met, sorted; void labels that are met come last. The places are None if each code is its own.
        """
        rules = self.rules
        void: tuple[Label, ...] = ()
        if self._ignore:
            there = {x: self._code[x] for x in self._ignore if x in self._code}
            void = void_order(x for x, code in there.items() if met[code])
            met = np.array(met)
            met[list(there.values())] = False
            if not ignored and not void:
                plain((*self.classes, *rules.ignore))  # ignore="255" beside integers ignores nothing
        if rules.labels is not None:
            names, order = rules.labels, list(range(len(rules.labels)))
            if MISSING in self._may_keep and MISSING in self._code:
                names, order = (*names, MISSING), [*order, self._code[MISSING]]
        elif self.ascending:
            if met.all():
                return tuple(self.classes), (), None
            order = np.flatnonzero(met).tolist()
            names = tuple([self.classes[k] for k in order])
        else:
            kept = {name: k for k, (name, there) in enumerate(zip(self.classes, met.tolist(), strict=False)) if there}
            names = ordered(kept)
            order = [kept[name] for name in names]
            if self._integers and bool in map(type, names):
                names = tuple(map(int, names))
        order += [self._code[x] for x in void]
        names += void
        if order == list(range(len(self.classes))):
            return names, void, None
        place = np.full(len(self.classes), -1, dtype=np.int64)
        place[order] = np.arange(len(order))
        return names, void, place


# ---- blocks of rows that the kernel can read -------------------------------------------------------------


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


# ---- encoders ----------------------------------------------------------------------------------------


class Encoder(Protocol):
    """One column's way from raw labels to codes."""

    static: bool

    def prepare(self, block: Array) -> Array:
        """Return integers for one block of raw labels; may add classes to the codebook."""

    def argument(self, block: Array) -> tuple[Any, ...]:
        """Return what the kernel takes: (integers, low, length, first, lookup table or None)."""


def encoders(
    columns: list[Column],
    arrays: list[Array],
    codebook: Codebook,
    workers: int,
    run: Map,
    guess: bool,
    expected: Integers | None = None,
) -> list[Encoder]:
    """Choose an encoder for each column.

    ``arrays`` are the labels as they will be read in blocks; ``run`` maps a function over pieces of them. With
    ``guess`` the integers are those ``expected``, or the smallest and largest are taken from a sample; the kernel
    counts others as unknown, so a wrong guess is noticed.
    """
    kinds = {"coded" if c.categories is not None else a.dtype.kind for c, a in zip(columns, arrays, strict=True)}
    if kinds <= {"b", "i", "u"} and kinds != {"b"}:
        rules = codebook.rules
        if rules.labels is None:
            guessed = (expected or _guess(arrays)) if guess else None
            found = guessed or _occurring(arrays, workers, run, DIRECT_RANGE)
        else:
            found = Integers.near((*rules.labels, *rules.ignore))
        if found is not None:
            one = _Lookup(found, found.values(), codebook)  # the same codes for all, but for ignored ones
            codebook.ascending = rules.labels is None
            truth = _Lookup(found, found.values(), codebook, True) if rules.ignore else one
            return [truth, *[one] * (len(columns) - 1)]
    return [
        _encoder(c, a, codebook, k == 0, workers, run) for k, (c, a) in enumerate(zip(columns, arrays, strict=True))
    ]


def _encoder(column: Column, array: Array, codebook: Codebook, truth: bool, workers: int, run: Map) -> Encoder:
    if column.categories is not None:
        found = _occurring([array], workers, run, 0)
        if found is None:
            known = np.unique(array)
            found = Integers(int(known[0]), known.astype(np.int64) - int(known[0]))
        return _Lookup(found, [_category(column, k) for k in found.values()], codebook, truth)
    kind = array.dtype.kind
    if kind == "b":
        return _Lookup(Integers.between(0, 1), [False, True], codebook, truth)
    long_text = kind == "U" and array.dtype.itemsize > LONGEST_KEY
    return (_Objects if kind == "O" or long_text else _Keys)(column, codebook, truth)


def _category(column: Column, code: int) -> Label:
    try:
        return column.label(code, 0)
    except WmccError:  # once more, with the row where it occurs
        return column.label(code, int(np.argmax(column.values == code)))


def _guess(arrays: list[Array]) -> Integers | None:
    """The range of a sample, if it is short."""
    samples = _samples(arrays)
    if not samples:
        return None
    low, high = _extent(map(tally.active.extent, samples))
    return Integers.between(low, high) if high - low < DIRECT_RANGE else None


def _samples(arrays: list[Array]) -> list[Array]:
    """Some labels from the beginning, and from all over, of each of some long vectors; none of short ones."""
    size = len(arrays[0])
    if arrays[0].ndim > 1 or size < 8 * SAMPLE:
        return []
    return [native(x) for a in arrays for x in (a[:SAMPLE], a[:: size // SAMPLE])]


def _occurring(arrays: list[Array], workers: int, run: Map, direct: int) -> Integers | None:
    """Integers that occur; None if they lie too far apart.

    It is their whole range if that is shorter than ``direct``, or if it is clear soon that most of it occurs.
    """
    low, high = _extent(_each(tally.active.extent, arrays, workers, run))
    if high - low < direct:
        return Integers.between(low, high)
    if high - low >= LOOKUP_RANGE:
        return None
    flags = np.zeros(high - low + 1, dtype=np.uint8)
    for sample in _samples(arrays):
        tally.active.mark(sample, low, flags)
    if direct and 2 * np.count_nonzero(flags) > len(flags):  # most occur: those that do not will be left out
        return Integers.between(low, high)
    list(_each(lambda piece: tally.active.mark(piece, low, flags), arrays, workers, run))
    return Integers(low, np.flatnonzero(flags))


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
    """Integers whose classes are known: the i-th of ``raw`` stands for ``labels[i]``."""

    static = True

    def __init__(self, raw: Integers, labels: Sequence[Label], codebook: Codebook, truth: bool = False) -> None:
        self._low = raw.low
        self._length = int(raw.offsets[-1]) + 1 if len(raw.offsets) else 0
        codes = codebook.codes(labels, truth)
        # Consecutive classes need no table: the kernel adds instead of looking up.
        self._first = codes[0] if codes else 0
        self._table: Array | None = None
        dense = len(codes) == self._length and self._first < tally.IGNORED
        if not dense or codes != list(range(self._first, self._first + self._length)):
            self._table = np.full(self._length, tally.UNKNOWN, dtype=np.uint32)
            self._table[raw.offsets] = codes

    def prepare(self, block: Array) -> Array:
        return block

    def argument(self, block: Array) -> tuple[Any, ...]:
        # The kernel subtracts modulo 2**64: labels beyond the sign of the column's type must not reach it.
        skip, stop = 0, self._length
        if block.dtype.kind in "bu":
            skip = min(max(0, -self._low), stop)
        else:
            stop = max(0, min(stop, (1 << 63) - self._low))
        if self._table is None:
            return (block, self._low + skip, max(0, stop - skip), self._first + skip, None)
        return (block, self._low + skip, max(0, stop - skip), 0, self._table[skip:stop])


class _Growing:
    """Codes in the order of first appearance, and the class each stands for."""

    static = False

    def __init__(self, column: Column, codebook: Codebook, truth: bool) -> None:
        self._column, self._codebook, self._truth = column, codebook, truth
        self._table = np.zeros(0, dtype=np.uint32)

    def _learn(self, labels: Sequence[Label]) -> None:
        if len(labels):
            self._table = np.append(self._table, np.array(self._codebook.codes(labels, self._truth), dtype=np.uint32))

    def argument(self, block: Array) -> tuple[Any, ...]:
        return (block, 0, len(self._table), 0, self._table)


class _Keys(_Growing):
    """Fixed-width strings and integers of a wide range, coded by their bytes."""

    def __init__(self, column: Column, codebook: Codebook, truth: bool) -> None:
        super().__init__(column, codebook, truth)
        self._dtype = column.values.dtype.newbyteorder("=")
        self._width = max(1, self._dtype.itemsize)
        self._known = tally.active.Dictionary(self._width)

    def prepare(self, block: Array) -> Array:
        codes = np.empty(len(block), dtype=np.int32)
        if self._dtype.itemsize == 0:
            block = np.zeros(len(block), dtype="U1")  # every string is empty
        keys = block.view(np.dtype((np.void, self._width))) if len(block) else np.empty(0, f"V{self._width}")
        if self._known.encode(keys, codes, MOST_CODES) < len(block):
            check_count(1 << 62)
        found = self._known.keys()
        labels = np.frombuffer(found, self._dtype if self._dtype.itemsize else "U1")[len(self._table) :]
        self._learn(labels.tolist())
        return codes


class _Objects(_Growing):
    """Python objects, coded by type and equality in dicts: True, 1 and 1+0j are equal, and each is looked at."""

    def __init__(self, column: Column, codebook: Codebook, truth: bool) -> None:
        super().__init__(column, codebook, truth)
        self._known: dict[type, dict[Any, int]] = {}
        self._row = 0

    def prepare(self, block: Array) -> Array:
        if block.dtype.kind != "O":
            objects = np.empty(len(block), dtype=object)
            objects[:] = block.tolist()
            block = objects
        codes = np.empty(len(block), dtype=np.int32)
        row, new = 0, list[Label]()
        while (row := tally.active.find_codes(block, self._known, codes, row)) < len(block):
            item = block[row]
            label = self._column.label(item, self._row + row)
            same = self._known.setdefault(type(label), {})
            if label not in same:
                same[label] = len(self._table) + len(new)
                new.append(label)
            codes[row] = same[label]
            with suppress(TypeError):  # what has no hash, such as an array of one number, is looked at in each row
                self._known.setdefault(type(item), {})[item] = same[label]
            row += 1
        self._row += len(block)
        self._learn(new)
        return codes


def all_codes(columns: list[Column], codebook: Codebook) -> list[IntArray]:
    """Codes of all rows of some columns, the first of which is the truth, as vectors.

    `core.kernel` has the codes of labels that are ignored or unknown.
    """
    arrays = [column.values.reshape(-1) for column in columns]
    out: list[IntArray] = [np.empty(array.size, dtype=np.int64) for array in arrays]
    if not arrays[0].size:
        return out
    for coder, array, codes in zip(encoders(columns, arrays, codebook, 1, map, False), arrays, out, strict=True):
        for start in range(0, len(codes), BLOCK):
            rows = slice(start, start + BLOCK)
            codes[rows] = kernel_codes(coder.argument(coder.prepare(native(array[rows]))))
    return out

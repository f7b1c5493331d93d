"""What rows are grouped by, and which clusters they belong to: a key for each row."""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from ..core import kernel as tally
from ..core.arraytypes import Array, IntArray
from ..core.keys import Key, distinct_keys, missing, no_cluster, of_one_kind, plain_key
from ..core.labels import is_missing
from ..core.stack import numbered
from ..core.tables import Tables
from ..errors import InputError, InputTypeError, LabelError, WeightError, WmccError
from ..present.text import counted
from .codes import Codebook, Rules, all_codes, native
from .columns import Column, as_array, label_column, place, weight_array, what
from .values import Blocks

FEW, CLOSE = 1 << 16, 1 << 12
"""Combinations of keys that are always counted, and how close integers are that are codes of themselves."""

By = str | int | tuple[str | int, ...]
"""The name of a column, or several."""


class Keyed(NamedTuple):
    """A key for each row.

    Parameters
    ----------
    by
        What the keys are values of.
    keys
        Those that occur, sorted.
    codes
        The place of each row's among them.
    """

    by: By
    keys: tuple[Key, ...]
    codes: Array


NO_CODES: IntArray = np.zeros(0, dtype=np.int64)


class Parts(NamedTuple):
    """What divides the rows: groups, each with a table of its own, and clusters of rows that belong together."""

    groups: Keyed | None = None
    clusters: Keyed | None = None
    counted: bool = False
    """Whether the table is to know how many rows each cluster has, those included that `ignore` leaves out."""


WHOLE = Parts()


def keyed(by: By, columns: Iterable[tuple[Any, Sequence[Any]]]) -> Keyed:
    """Keys of rows, or of pixels, each of one value or of several.

    A column is given as a code per row, and the values that the codes stand for.
    """
    several, values = zip(*columns, strict=True)
    shape = np.shape(several[0])
    arrays = [np.asarray(own).reshape(-1) for own in several]
    codes = [own if own.dtype.kind in "iu" else own.astype(np.int64) for own in arrays]  # of no rows they are floats
    sizes = [len(own) for own in values]
    if math.prod(sizes) <= max(len(codes[0]), FEW):  # marking them is faster than sorting rows
        where = _as_one(codes, sizes)
        met = _occurring(where, math.prod(sizes))
        combinations = np.stack(np.unravel_index(met, sizes))
    else:
        combinations, where = numbered(np.stack(codes).astype(np.int64))
        met = np.arange(combinations.shape[1])
    names = by if isinstance(by, tuple) else (by,)
    known = [of_one_kind([plain_key(x) for x in own], name) for own, name in zip(values, names, strict=True)]
    plain = [[named[k] for k in own] for own, named in zip(combinations.tolist(), known, strict=True)]
    found = list(zip(*plain, strict=True)) if isinstance(by, tuple) else plain[0]
    keys, places = distinct_keys(found)  # null and NaN are one key
    if np.array_equal(places, met):  # mostly, the codes are in the order of the keys
        return Keyed(by, keys, where.reshape(shape))
    place_of = np.zeros(int(met[-1]) + 1 if len(met) else 0, dtype=np.min_scalar_type(len(keys)))
    place_of[met] = places
    return Keyed(by, keys, place_of.take(where).reshape(shape))


def _as_one(codes: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Codes of several columns as one, in an integer as small as it may be: many rows are memory above all."""
    if len(codes) == 1:
        return codes[0]
    kind = np.min_scalar_type(math.prod(sizes))
    one = codes[0].astype(kind)
    for own, size in zip(codes[1:], sizes[1:], strict=True):
        one *= kind.type(size)
        one += own.astype(kind)
    return one


def _occurring(codes: Array, size: int) -> IntArray:
    """Return the codes that occur, of so many."""
    flags = np.zeros(size, dtype=np.uint8)
    tally.active.mark(native(codes), 0, flags)
    return np.flatnonzero(flags)


def integer_codes(values: Array) -> tuple[IntArray, Sequence[int]] | None:
    """Return integers that are close together as codes of themselves, which needs no look-up; None for others."""
    if values.dtype.kind not in "iu" or not values.size:
        return None
    low, high = tally.active.extent(native(values))
    if low >= 0 and high < CLOSE:
        return values, range(high + 1)
    if high - low >= CLOSE or high >= 1 << 63:
        return None
    return values.astype(np.int64) - low, range(low, high + 1)


def one_key(shape: tuple[int, ...]) -> Keyed:
    """Return the key of rows that all have the same, of no value."""
    return Keyed((), ((),), np.zeros(shape, dtype=np.uint8))


def check_clusters(tables: Tables[Any], cluster: By) -> None:
    """Refuse rows that belong to no cluster; ``cluster`` is what their clusters are called."""
    lost = missing(tables.drawn.units)
    if lost:
        rows = int(tables.raw_cells.sums.n[np.isin(tables.raw_cells.codes[-1], lost)].sum())
        several = cluster if isinstance(cluster, tuple) else (cluster,)
        raise no_cluster(rows, f" in the column{'s' * (len(several) > 1)} {', '.join(map(repr, several))}")


def keys_of_rows(given: Any, name: str, shape: tuple[int, ...]) -> Keyed | None:
    """Read a key per row of labels in memory, or per item of their first axis (an image of a stack).

    A mapping from names has several, and keys are tuples.
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        if not given:
            raise InputError(f"`{name}` is an empty mapping; expected keys by name.")
        several = [key_codes(own, f"{name}[{word!r}]", shape) for word, own in given.items()]
        return keyed(tuple(map(str, given)), several)
    return _of_rows(given, name, shape)


def keys_by_name(given: Any, argument: str, names: Sequence[Any], what_is: str, hint: str) -> Keyed | None:
    """Keys of images or tiles: of a mapping from their names, or of a function of the name."""
    if isinstance(given, Mapping):
        lost = [str(name) for name in names if name not in given]
        if lost:
            said = ", ".join(lost[:5]) + (f" and {len(lost) - 5:,} more" if len(lost) > 5 else "")
            raise InputError(f"`{argument}` has no key for {counted(len(lost), what_is)}: {said}.", hint, argument)
        given = given.__getitem__
    return keys_of_rows([given(name) for name in names], argument, (len(names),))


def keys_of_blocks(blocks: Blocks, shape: tuple[int, ...]) -> Keyed:
    """Keys of pixels: the row and the column of the block that each is in; of a stack also the number of the image."""
    if len(shape) not in (2, 3):
        raise InputError(
            f"`Blocks` is for label maps, (H, W), and stacks of them, (B, H, W); the labels have shape {shape}.",
            "give as `cluster` a key per observation.",
            "blocks",
        )
    codes, counts = block_codes((0, 0), (shape[-2], shape[-1]), blocks.sides)
    sizes = (*shape[:-2], *counts)
    if len(shape) == 3:
        small = np.min_scalar_type(max(math.prod(sizes) - 1, 0))  # a code for each pixel
        first = (np.arange(shape[0]) * math.prod(counts)).astype(small)
        codes = codes.astype(small) + first[:, np.newaxis, np.newaxis]
    names = ("image", "row", "column")[-len(shape) :]
    return Keyed(names, tuple(itertools.product(*map(range, sizes))), codes)


def block_codes(within: tuple[int, int], shape: tuple[int, int], sides: tuple[int, int]) -> tuple[Array, list[int]]:
    """Return the number of the block of each pixel, and how many rows and columns of blocks there are.

    The first pixel lies so far ``within`` its block.
    """
    rows, columns = ((start + np.arange(n)) // side for start, n, side in zip(within, shape, sides, strict=True))
    counts = [int(own[-1]) + 1 if len(own) else 0 for own in (rows, columns)]
    small = np.min_scalar_type(max(math.prod(counts) - 1, 0))
    codes = np.add.outer((rows * counts[1]).astype(small), columns.astype(small))
    codes.flags.writeable = False  # they may be kept for other windows
    return codes, counts


def key_codes(given: Any, name: str, shape: tuple[int, ...]) -> tuple[IntArray, Sequence[Key]]:
    """Read one of several values of the key of each row of labels in memory: codes, and what they stand for."""
    found = _of_rows(given, name, shape)
    return found.codes, found.keys


def number_codes(given: Any, name: str, shape: tuple[int, ...]) -> tuple[IntArray, Sequence[Key]]:
    """Read a number per row, such as the size of its stratum, in the same way: there are few different ones."""
    try:
        values = np.asarray(weight_array(given, name), dtype=np.float64)
    except (InputTypeError, WeightError) as problem:  # which speaks of weights
        raise InputTypeError(f"{problem.message.partition(';')[0]}; expected a number per observation.") from None
    _fitting(values.shape, name, shape, "give a number per observation.")
    numbers, codes = np.unique(values, return_inverse=True)
    return _spread(codes, values.shape, shape), numbers.tolist()


def _of_rows(given: Any, name: str, shape: tuple[int, ...]) -> Keyed:
    if isinstance(given, str):
        raise InputTypeError(
            f"`{name}` is {given!r}; a column name works only with a frame or a file.", "give a key per observation."
        )
    try:
        column = label_column(given, name)
        own = _fitting(column.values.shape, name, shape)
        keys, codes = _distinct(column)
    except (LabelError, InputTypeError) as problem:  # keys may be what labels are not: fractions, dates
        keys, codes, own = _other_keys(given, name, shape, problem)
    return Keyed(name, keys, _spread(codes, own, shape))


PER_ROW = "give a key per observation, or one per item of the labels' first axis."


def _fitting(own: tuple[int, ...], name: str, shape: tuple[int, ...], hint: str = PER_ROW) -> tuple[int, ...]:
    """Return the shape of keys, which must be that of the labels, or of their first axes."""
    if not own or own != shape[: len(own)]:
        raise InputError(f"`{name}` has shape {own}, and the labels {shape}.", hint)
    return own


def _spread(codes: IntArray, own: tuple[int, ...], shape: tuple[int, ...]) -> IntArray:
    """Codes of the first axes, as those of all observations."""
    return np.broadcast_to(codes.reshape(own + (1,) * (len(shape) - len(own))), shape)


SINGLE = (str, bytes, numbers.Real, Decimal, date, time, timedelta, np.datetime64, np.timedelta64)
"""What a key may be, in memory."""


def _other_keys(
    given: Any, name: str, shape: tuple[int, ...], problem: WmccError
) -> tuple[tuple[Key, ...], IntArray, tuple[int, ...]]:
    """Return keys that are not such as labels are, the place there of each row's, and the shape of the rows.

    ``problem`` says why they are no labels.
    """
    if np.ma.is_masked(given):
        raise _no_key(f"{place(name, given, int(np.argmax(np.ma.getmaskarray(given))))} is masked", name)
    values = as_array(given, name, "keys")
    if values.dtype.kind not in "fmMO" or "mixed types" in problem.message:
        hint = None if problem.hint is None else problem.hint.replace("label", "key")
        raise type(problem)(problem.message.replace("label", "key"), hint) from None
    own = _fitting(values.shape, name, shape)
    several: Any = values.reshape(-1)
    inverse: IntArray | None = None
    if values.dtype.kind != "O":
        several, inverse = np.unique(several, return_inverse=True)
    for k, value in enumerate(several):
        lost = is_missing(value)
        if lost or not isinstance(value, SINGLE):
            where = place(name, values, k if inverse is None else int(np.argmax(inverse == k)))
            if lost:
                raise _no_key(f"{where} is missing ({value})", name)
            raise InputTypeError(
                f"{where} is {what(value)}; a key must be a number, a boolean, a text, a date or a time.",
                "convert the keys with str().",
            )
    keys, codes = distinct_keys(of_one_kind([plain_key(x) for x in several], name))
    return keys, codes if inverse is None else codes[inverse], own


def _no_key(what_is: str, name: str) -> InputError:
    """Say that a row has no key, and what to do about it."""
    word = name.partition("[")[0]
    called = {"stratum": "stratum", "poststratum": "post-stratum", "cluster": "cluster"}.get(word, "key")
    hint = "give each its own cluster" if word == "cluster" else f"assign them to a {called}"
    if word == "by":
        hint = "give them a key"
    return InputError(f"{what_is}; every row needs a {called}.", f"leave such rows out, or {hint}.", word)


def _distinct(column: Column) -> tuple[tuple[Key, ...], IntArray]:
    """Return the keys that occur, sorted, and the place there of each row's."""
    integers = integer_codes(column.values.reshape(-1)) if column.categories is None else None
    if integers is not None:
        codes, values = integers
        there = _occurring(codes, len(values))
        if len(there) < len(values):
            place_of = np.zeros(len(values), dtype=np.min_scalar_type(len(there)))
            place_of[there] = np.arange(len(there))
            codes = place_of.take(codes)
        return tuple(values[k] for k in there.tolist()), codes
    codebook = Codebook(Rules())
    (codes,) = all_codes([column], codebook)
    of_one_kind(codebook.classes, column.name)
    met: Array = np.bincount(codes, minlength=len(codebook.classes)) > 0
    keys, _, place = codebook.named(met, 0)
    return keys, codes if place is None else place[codes]

"""Dense exact sums of a fixed number of classes: what a device adds to, and how a table is made of it.

A table of K classes has K (K + 1) cells: cell ``t (K + 1) + p`` is of rows of true class t that were predicted as p;
column K is of void predictions. All is kept in 64-bit integers, so that a device adds without rounding and processes
add up their arrays. The numbers are those of `Exact`, so the table has no rounding either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, LabelError, TooManyClassesError
from . import kernel
from . import labels as _labels
from .arraytypes import Array, IntArray
from .base_table import no_cells, occupied
from .design import ROWS, SampleDesign
from .exact import MOST_DIGITS, RADIX_BITS, Exact
from .keys import Key, distinct_keys
from .stack import Stack
from .sums import Sums, bad_weight, beside
from .table import Table

NO_LEAST: int = np.array(np.inf).view(np.int64).item()
"""Bits of the smallest weight of no rows."""
NO_MOST = -1
"""Bits of the largest weight of no rows."""
NAN_LOGIT = -(1 << 63)
"""Stands for the predicted class where a logit is NaN."""
FAR = 1 << 16
"""An ignored label further than this from the classes is looked for row by row."""
MANY_CELLS = 1 << 10
"""A kernel that has a place for each of more cells than this needs as many rows to be worth it."""


class Layout(NamedTuple):
    """Which powers of two the planes of digits stand for: n, then Σw, then Σw², each with one plane for carries.

    Parameters
    ----------
    weights, weights_low
        Number of planes of Σw, and the power of two of the lowest.
    squares, squares_low
        The same of Σw².
    """

    weights: int
    weights_low: int
    squares: int
    squares_low: int

    @property
    def planes(self) -> int:
        """Number of planes in all."""
        return 1 + self.weights + self.squares


NARROW = Layout(10, -160, 19, -320)
"""Holds sums of weights of float32, bfloat16 and float16, and of rows without weights."""
WIDE = Layout(67, -1088, 133, -2176)
"""Holds sums of weights of float64."""


def layout_of(planes: int) -> Layout:
    """Return the layout that has so many planes."""
    return NARROW if planes == NARROW.planes else WIDE


class Planes(NamedTuple):
    """The state of a tally: integer arrays, of NumPy or of another library.

    Parameters
    ----------
    digits
        Planes of digits of n, Σw and Σw² by cell, as `Layout` has them, of radix 2**32; carries need not be settled.
    least, most
        Bits of the smallest and of the largest weight of each cell, as float64.
    counts
        Rows that were ignored, that have a bad target, a bad prediction, and a bad weight.
    first
        For a bad target, prediction and weight: the update and the row where the first one came, and its value (bits,
        of a weight); −1 in place of the update where there is none.
    """

    digits: Any
    least: Any
    most: Any
    counts: Any
    first: Any


def check_classes(classes: int, layout: Layout) -> None:
    """Refuse so many classes that the planes would take too much memory."""
    cells = classes * (classes + 1)
    if layout.planes * cells > MOST_DIGITS:
        most = max(k for k in range(2, 4096) if layout.planes * k * (k + 1) <= MOST_DIGITS)
        kind = "float64 weights" if layout is WIDE else "weights of float32 or less"
        raise TooManyClassesError(
            f"`num_classes` is {classes:,}; exact sums of {cells:,} cells would take "
            f"{layout.planes * cells * 8 / 1e9:.1f} GB. With {kind} at most {most:,} classes fit.",
            "use wmcc.Accumulator on the CPU: it keeps only the cells that occur."
            + (" Or give float32 weights." if layout is WIDE else ""),
            "num_classes",
        )


def classes_of(cells: int) -> int:
    """Return the number of classes that have so many cells, K (K + 1)."""
    return math.isqrt(cells)


def no_rows(classes: int, layout: Layout = NARROW) -> Planes:
    """Return the planes of no rows."""
    check_classes(classes, layout)
    cells = classes * (classes + 1)
    digits, counts, first = (np.zeros(shape, dtype=np.int64) for shape in ((layout.planes, cells), 4, (3, 3)))
    first[:, 0] = -1
    least, most = (np.full(cells, bits, dtype=np.int64) for bits in (NO_LEAST, NO_MOST))
    return Planes(digits, least, most, counts, first)


# ---- adding ---------------------------------------------------------------------------------------------


def widen(digits: Any, zeros: Any) -> Any:
    """Copy digits of the narrow layout into ``zeros`` of the wide one, of the same library; returns these."""
    zeros[0] = digits[0]
    for (start, low, count), (begin, lowest, _) in zip(_sections(NARROW), _sections(WIDE), strict=True):
        at = begin + (low - lowest) // RADIX_BITS
        zeros[at : at + count] = digits[start : start + count]
    return zeros


def _sections(layout: Layout) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Of Σw and Σw²: the first plane and its power of two, and the number of planes."""
    weights, low, squares, squares_low = layout
    return (1, low, weights), (1 + weights, squares_low, squares)


def settle(digits: Any) -> None:
    """Carry digits into [0, 2**32), in place, so that many arrays can be added up before a digit overflows."""
    for start, _, count in _sections(layout_of(digits.shape[-2])):
        for d in range(start, start + count - 1):
            plane = digits[..., d, :]
            digits[..., d + 1, :] += plane >> RADIX_BITS
            plane &= (1 << RADIX_BITS) - 1


class TalliedCells(NamedTuple):
    """The cells that occur, ascending, and what is known of each."""

    cells: IntArray
    sums: Sums


def occurring(state: Planes) -> TalliedCells:
    """Return the cells of planes that hold rows."""
    cells, sections = np.flatnonzero(state.digits[0]), _sections(layout_of(len(state.digits)))
    w, w2 = (Exact(state.digits[start : start + count, cells], low) for start, low, count in sections)
    least, most = (bits[cells].view(np.float64) for bits in (state.least, state.most))
    return TalliedCells(cells, Sums(state.digits[0, cells], w, w2, least, most))


def add_cells(state: Planes, tallied: TalliedCells) -> None:
    """Add cells to planes, in place; their layout must hold them."""
    sections, (cells, sums) = _sections(layout_of(len(state.digits))), tallied
    state.digits[0, cells] += sums.n
    for (start, low, _), exact in zip(sections, (sums.w_exact, sums.w2_exact), strict=True):
        for d, plane in enumerate(exact.digits, start + (exact.exponent - low) // RADIX_BITS):
            state.digits[d, cells] += plane
    state.least[cells] = np.minimum(state.least[cells], sums.w_min.view(np.int64))
    state.most[cells] = np.maximum(state.most[cells], sums.w_max.view(np.int64))


def cells_of_rows(
    target: Array, pred: Array, weight: Array | None, classes: int, ignore: int | None, counts: IntArray
) -> tuple[TalliedCells, bool]:
    """Tally rows, given as arrays of (items, rows); weights may have a single item, which then all items share.

    Returns
    -------
    cells
        Those that occur.
    bad
        Whether rows are bad. They are in no cell, and not counted in ``counts``, to whose first entry the ignored rows
        are added.
    """
    size = classes * (classes + 1)
    dense = size <= max(MANY_CELLS, target.size // 2) and size <= 1 << 22
    tally = kernel.active.Tally((classes, classes + 1), weight is not None, dense)
    if weight is not None and len(weight) < len(target):
        blocks = [(t, p, weight[0]) for t, p in zip(target, pred, strict=True)]
    else:
        blocks = [(target.reshape(-1), pred.reshape(-1), None if weight is None else weight.reshape(-1))]
    for t, p, w in blocks:
        tally.add(_column(t, classes, ignore, kernel.IGNORED), _column(p, classes, ignore, classes), w)
    keys, n, least, most, w, w2, ignored, unknown, bad = tally.result()
    cells, counted = np.frombuffer(keys, np.int64), np.frombuffer(n, np.int64)
    if weight is None:
        sums = Sums.from_counts(counted)
    else:
        exact, squares = (Exact.from_kernel(len(cells), *x) for x in (w, w2))
        sums = Sums(counted, exact, squares, np.frombuffer(least), np.frombuffer(most))
    counts[0] += int.from_bytes(ignored, "little")
    return TalliedCells(cells, sums), bool(unknown or bad)


def _column(labels: Array, classes: int, ignore: int | None, code: int) -> tuple[Any, ...]:
    """What the kernel takes of labels: those that are to be ignored have a code of their own."""
    if ignore is None:
        return labels, 0, classes, 0, None
    low, high = min(0, ignore), max(classes - 1, ignore)
    if high - low >= FAR:
        known, left_out = (labels >= 0) & (labels < classes), labels == ignore
        labels = np.where(left_out, classes, np.where(known, labels, classes + 1).astype(np.int64))
        low, high, ignore = 0, classes, classes
    table = np.full(high - low + 1, kernel.UNKNOWN, dtype=np.uint32)
    table[-low : classes - low] = np.arange(classes)
    table[ignore - low] = code
    skip = -low if labels.dtype.kind == "u" else 0  # the kernel subtracts modulo 2**64
    return labels, low + skip, len(table) - skip, 0, table[skip:]


def add_rows(
    state: Planes, target: Array, pred: Array, weight: Array | None, classes: int, ignore: int | None, update: int
) -> None:
    """Add rows to planes, in place, as a device does; the arrays are those of `cells_of_rows`."""
    tallied, bad = cells_of_rows(target, pred, weight, classes, ignore, state.counts)
    add_cells(state, tallied)
    if bad:
        note_bad(state.counts, state.first, target, pred, weight, classes, ignore, update)


def note_bad(
    counts: IntArray, first: IntArray, target: Array, pred: Array, weight: Array | None,
    classes: int, ignore: int | None, update: int,
) -> None:  # fmt: skip
    """Count bad rows, and note where the first of each kind is. Slow, and only where there are such."""
    t, p = (x.reshape(-1).astype(np.int64) for x in (target, pred))
    left = np.ones(len(t), dtype=bool) if ignore is None else t != ignore
    void = np.zeros(len(t), dtype=bool) if ignore is None else p == ignore
    bad = [(t < 0) | (t >= classes), ((p < 0) | (p >= classes)) & ~void]
    values = [t, p]
    if weight is not None:
        w = np.broadcast_to(weight, target.shape).reshape(-1).astype(np.float64)
        bad.append(~((w >= 0) & np.isfinite(w)))
        values.append(w.view(np.int64))
    for kind, (own, value) in enumerate(zip(bad, values, strict=True)):
        here = np.flatnonzero(left & own)
        left &= ~own
        counts[1 + kind] += len(here)
        if len(here) and first[kind, 0] < 0:
            first[kind] = update, here[0], value[here[0]]


# ---- reading --------------------------------------------------------------------------------------------


def table_of(
    state: Planes, ignore: int | None = None, item: tuple[int, ...] | None = None, drawn: SampleDesign = ROWS
) -> Table:
    """Return the table that planes of NumPy hold; bad rows are refused.

    ``item`` is the shape of an item of the batches, if all have the same, by which the place of a bad row is told;
    ``drawn`` says whether rows are pixels.

    Examples
    --------
    >>> import numpy as np
    >>> import wmcc
    >>> state = no_rows(2)
    >>> target, pred = np.array([[0, 1, 1, 255]]), np.array([[0, 1, 255, 0]])
    >>> add_rows(state, target, pred, None, 2, 255, 0)
    >>> table_of(state, 255) == wmcc.tabulate(target[0], pred[0], labels=range(2), ignore=255)
    True
    """
    classes = classes_of(state.digits.shape[1])
    refuse_bad(state.counts, state.first, classes, ignore, item)
    cells, sums = occurring(state)
    return _table(np.stack(np.divmod(cells, classes + 1)), sums, classes, ignore, int(state.counts[0]), drawn)


def table_of_images(several: Sequence[TalliedCells], keys: Sequence[Key], classes: int, ignore: int | None) -> Table:
    """Return the table of the cells of images, which are clusters; images of one key are one.

    It does not know of ignored rows.
    """
    names, place = distinct_keys(keys)
    if not several:
        return _table(no_cells(3).codes, no_cells(3).sums, classes, ignore, 0, SampleDesign("clusters"))
    true, pred = np.divmod(np.concatenate([image_cells.cells for image_cells in several]), classes + 1)
    image = np.repeat(place, [len(image_cells.cells) for image_cells in several])
    sums = beside([image_cells.sums for image_cells in several])
    return _table(np.stack([true, pred, image]), sums, classes, ignore, 0, SampleDesign("clusters", names))


def _table(
    codes: IntArray, sums: Sums, classes: int, ignore: int | None, ignored: int, drawn: SampleDesign = ROWS
) -> Table:
    """Return the table of codes of true classes, of predictions, and maybe of clusters."""
    labels = tuple(k for k in range(classes) if k != ignore)
    place = np.zeros(classes + 1, dtype=np.int64)
    place[list(labels)] = np.arange(len(labels))
    place[classes] = len(labels)
    void = (ignore,) if ignore is not None and (codes[1] == classes).any() else ()
    codes = np.stack([place[codes[0]], place[codes[1]], *codes[2:]])
    stack = Stack.gathered(codes, sums)
    if drawn.kind == "clusters":
        stack, drawn = occupied(stack, drawn)
    return Table(labels + void, stack, ignored, None, drawn, void)


# ---- bad rows -------------------------------------------------------------------------------------------


def refuse_bad(
    counts: IntArray,
    first: IntArray,
    classes: int,
    ignore: int | None,
    item: tuple[int, ...] | None,
    within: tuple[float, float] | None = None,
    scores: bool = False,
) -> None:
    """Raise the error that says which row is bad, if there are any: the first label, or else the first weight.

    If predictions are ``scores``, values of bad ones are bits of float64, and the others are ``within`` two numbers.
    """
    labels = [(*first[k, :2].tolist(), k) for k in (0, 1) if counts[1 + k]]
    if labels:
        update, row, kind = min(labels)
        where, value = _place(("target", "pred")[kind], update, row, item), int(first[kind, 2])
        if scores and kind:
            raise _bad_score(where, np.array(value).view(np.float64).item(), int(counts[2]), within)
        raise _unknown(where, value, int(counts[1 + kind]), classes, ignore, scores)
    if counts[3]:
        update, row, bits = first[2].tolist()
        weight = np.array(bits).view(np.float64).item()
        raise bad_weight(_place("weight", update, row, item), weight, more=f" {_rows(int(counts[3]))} such a weight.")


def _bad_score(where: str, score: float, rows: int, within: tuple[float, float] | None) -> InputError:
    if score != score:
        return InputError(
            f"{where} is nan; a score must be a number. {_rows(rows)} such a score.",
            "check the model for overflow: float16 holds no number above 65,504.",
            "pred",
        )
    low, high = within or (-math.inf, math.inf)
    return InputError(
        f"{where} is {score!r}; with these `bins` a score must be from {low:g} to {high:g}. "
        f"{_rows(rows)} such a score.",
        "give probabilities; or as `bins` thresholds for the scores as they are, of logits for instance "
        "numpy.linspace(-8, 8, 161).",
        "pred",
    )


def _unknown(where: str, value: int, rows: int, classes: int, ignore: int | None, scores: bool = False) -> LabelError:
    if value == NAN_LOGIT:
        return LabelError(
            f"the logits of {where} hold NaN, so no class is predicted. {_rows(rows)} a prediction that is no class.",
            "check the model for overflow: float16 holds no number above 65,504.",
            "pred",
        )
    among = f"the classes 0 to {classes - 1}" + ("" if ignore is None else f" and is not `ignore_index` {ignore}")
    todo = [f"`num_classes` {value + 1} or more if it is a class"] if value >= classes and not scores else []
    todo += [f"`ignore_index` {value} if it marks pixels that do not count"] if ignore is None else []
    hint = f"use {', or '.join(todo)}." if todo else "check how the labels were made."
    error = _labels.unknown(where, value, among, hint)
    return LabelError(f"{error.message} {_rows(rows)} such a label.", error.hint, where.partition("[")[0])


def _rows(count: int) -> str:
    return "1 row has" if count == 1 else f"{count:,} rows have"


def _place(name: str, update: int, row: int, item: tuple[int, ...] | None) -> str:
    """``target[1, 20, 33] of update 4``; without the shape of an item, the row of the flattened batch."""
    if item is None:
        return f"{name}.flatten()[{row}] of update {update}"
    each = int(np.prod(item, dtype=np.int64))
    index = [row // each, *(int(i) for i in np.unravel_index(row % each, item))] if item else [row]
    return f"{name}[{', '.join(map(str, index))}] of update {update}"


def check_ignore(ignore: Any) -> int | None:
    """Return the label that is ignored in the truth, as an integer."""
    if ignore is None:
        return None
    value = _labels.as_label(ignore, "`ignore_index`")
    if isinstance(value, (bool, str)) or not -(1 << 62) <= value < 1 << 62:
        raise InputError(f"`ignore_index` is {ignore!r}; expected an integer, such as 255.", None, "ignore_index")
    return value

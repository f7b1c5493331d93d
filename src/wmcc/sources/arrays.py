"""Tables from arrays held in memory: which labels occur, blocks of rows, threads, and the kernel."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..core import kernel as tally
from ..core import labels as _labels
from ..core.arraytypes import Array, IntArray
from ..core.base_table import no_cells, occupied
from ..core.design import ROWS, SampleDesign
from ..core.exact import Exact, check_digits
from ..core.joint import JointTable
from ..core.labels import NOTHING, Label
from ..core.memory import available
from ..core.stack import LARGEST_KEY, Stack, merged_stacks
from ..core.sums import Sums, added_by_code, bad_weight
from ..core.table import Table, no_positive
from ..core.tables import NONE_DECLARED, Tables, merge
from ..core.threads import MOST_THREADS, in_order, processors
from ..errors import InputError, LabelError
from .codes import SHARE, Codebook, Encoder, Integers, Map, Rules, all_codes, blocks, encoders, flattened, native
from .columns import BLOCK, Column
from .groups import WHOLE, Keyed, Parts
from .problems import NO_NEGATIVE, too_many_cells, too_many_predictions

THREAD_ROWS = 1 << 19  # rows a thread must have to be worth starting
ROWS_OF_CELL, HASHED_ROWS = 16, 1 << 23
"""Rows that a thread must have for each cell of a table with a place for each; and where there are more of them."""
FEW_CELLS, MOST_CELLS = 1 << 10, 1 << 22
"""Tables of few cells have a place for each, and those of many have not; between, it depends on the rows."""
SMALL_ROOM, MOST_ROOM = 1 << 18, (1 << 31) - 1
"""Cells that always find room, and those that a kernel can have."""
CELL_BYTES, REPLICATE_BYTES = 256, 64
"""Memory that a cell takes at most while it is found and sorted, with weights of ordinary range; and for each column of
replicate weights."""


def tabulate_arrays(
    columns: list[Column],
    weights: Array | None,
    rules: Rules,
    threads: int | None,
    weight_name: str | None = None,
    parts: Parts = WHOLE,
    drawn: SampleDesign = ROWS,
    names: tuple[str, ...] = (),
    replicates: Sequence[Column] = (),
    expected: Integers | None = None,
) -> Any:
    """Tabulate columns of labels and, maybe, weights and replicate weights, all of one shape.

    ``expected`` are labels that are likely to be all that occur, as in images before. They save a look for those that
    do; if another occurs, it is found.

    Returns a `Table`; a `JointTable` if the predictions have ``names``; or `Tables` of either if there are groups.
    """
    if not columns[0].values.size:
        return nothing(rules, parts, names, drawn)
    rows = _rows(columns, weights, replicates, parts, rules)
    workers = _workers(threads, rows.labels[0].size, len(replicates))
    run = map if workers == 1 else partial(in_order, workers=workers)
    found, codebook = _pass(rows, workers, run, expected, chosen=threads is not None)
    if found.unknown:
        _raise_unknown(columns, rules)
    if found.bad_weights and weights is not None:
        of_rows = Column(weight_name or "sample_weight", weights, None, columns[0].first)
        _raise_bad_weight(columns, [of_rows], rules, "weight", "a weight of 0 leaves a row out.")
    if found.bad_replicates:
        hint = "every row needs all its replicate weights; check how they were read."
        _raise_bad_weight(columns, replicates, rules, "replicate weight", hint)
    if parts.counted:
        drawn = SampleDesign("clusters", rows=_rows_of_clusters(parts, columns, found, rules))
    return named(found, codebook, parts, names, drawn)


def _rows_of_clusters(parts: Parts, columns: list[Column], found: Counted, rules: Rules) -> tuple[int, ...]:
    """Count the rows of each cluster that have labels, those included that `ignore` leaves out."""
    assert parts.clusters is not None
    count = len(parts.clusters.keys)
    if not found.ignored.any():
        return tuple(added_by_code(found.stack.codes[-1], found.stack.sums.n, count).tolist())
    of_rows = parts.clusters.codes.reshape(-1)
    if rules.skip_missing:
        codes = all_codes(columns, Codebook(Rules(missing=rules.missing)))
        of_rows = of_rows[np.all([own != tally.IGNORED for own in codes], axis=0)]
    return tuple(np.bincount(of_rows, minlength=count).tolist())


def nothing(rules: Rules, parts: Parts = WHOLE, names: tuple[str, ...] = (), drawn: SampleDesign = ROWS) -> Any:
    """Return the table of no rows, or the tables of no groups."""
    axes = 1 + max(1, len(names)) + sum(keys is not None for keys in parts[:2])
    groups = 1 if parts.groups is None else len(parts.groups.keys)
    found = Counted(no_cells(axes), np.zeros(groups, dtype=np.int64))
    return named(found, Codebook(rules._replace(ignore=())), parts, names, drawn)


class Counted(NamedTuple):
    """What a kernel found: a stack over codes, and how many rows it could not place there."""

    stack: Stack
    ignored: IntArray
    """Rows left out, per group."""
    unknown: int = 0
    bad_weights: int = 0
    bad_replicates: int = 0


def named(
    found: Counted,
    codebook: Codebook,
    parts: Parts,
    predictions: tuple[str, ...],
    drawn: SampleDesign = ROWS,
    known: Any = None,
) -> Any:
    """From a stack over codes to a table over classes, or to tables of groups.

    ``predictions`` are their names, if they have any; ``known`` is not zero for classes that count though no cell has
    them.
    """
    rules, stack, first = codebook.rules, found.stack, int(parts.groups is not None)
    labels = 1 + max(1, len(predictions))
    axes = range(first, first + labels)
    met = np.zeros(len(codebook.classes), dtype=bool) if known is None else known > 0
    if rules.labels is None or rules.ignore or rules.missing == "wrong":
        met[stack.codes[first : first + labels]] = True
    names, void, place = codebook.named(met, int(found.ignored.sum()))
    if place is not None:
        stack = stack.recoded(dict.fromkeys(axes, place))
    if parts.clusters is not None:
        stack, drawn = occupied(stack, SampleDesign("clusters", parts.clusters.keys, drawn.rows))
    if parts.groups is not None:
        own = (parts.groups.by, parts.groups.keys, names, stack, found.ignored, rules.labels is not None)
        return with_positive(Tables(*own, drawn=drawn, names=predictions, void=void), rules)
    ignored = int(found.ignored[0])
    if predictions:
        return JointTable(names, predictions, stack, ignored, drawn, void)
    return with_positive(Table(names, stack, ignored, None, drawn, void), rules)


class OfParts:
    """Makes the tables of images or windows, and expects in each the labels of those before: most have the same."""

    def __init__(self, rules: Rules, names: tuple[str, ...]) -> None:
        self.rules: Rules = rules._replace(positive=None, names=None)
        self._names = names
        self._met: frozenset[Label] = frozenset()

    def table(
        self, columns: list[Column], weights: Array | None, name: str, rules: Rules,
        parts: Parts = WHOLE, drawn: SampleDesign = ROWS,
    ) -> Any:  # fmt: skip
        """Tabulate a part; ``name`` is what its weights are called."""
        expected = Integers.near(self._met.union(rules.ignore)) if self._met else None
        found = tabulate_arrays(columns, weights, rules, 1, name, parts, drawn, self._names, expected=expected)
        self._met = self._met.union(found.classes)  # a new one, since other threads read it
        return found


def of_one_item(table: Any, k: int, groups: Keyed | None, clusters: Keyed | None) -> Any:
    """Return the table of the k-th image, or tile, as a part of all: with its keys of groups and of clusters."""
    if clusters is not None:
        key, cells = clusters.keys[int(clusters.codes[k])], table.raw_cells
        codes = np.concatenate([cells.codes, np.zeros((1, len(cells)), dtype=np.int64)])
        own = Stack(codes, cells.sums) if len(cells) else no_cells(len(codes))
        table = replace(table, raw_cells=own, drawn=SampleDesign("clusters", (key,) if len(cells) else ()))
    if groups is not None:
        table = replace(Tables.of({groups.keys[int(groups.codes[k])]: table}, groups.by), same_classes=False)
    return table


def folded(tables: list[Any], rules: Rules) -> Any:
    """Add up the tables of images, of tiles, or of windows."""
    table = merge(tables)
    if isinstance(table, Tables) and rules.labels is not None:  # void labels need not be in all parts
        table = replace(table, same_classes=True, declared=NONE_DECLARED)
    return with_positive(table, rules)


def with_positive(table: Any, rules: Rules) -> Any:
    """Return a table, or tables, with the positive class, if there is one: it is known even if it does not occur."""
    if rules.positive is None:
        return table
    if rules.labels is None and rules.positive not in table.labels:
        classes = _labels.ordered((*table.classes, rules.positive))
        if len(classes) > 2:  # said here, where it is not listed among them
            raise no_positive(rules.positive, table.classes)
        table = table._aligned((*classes, *table.void))
    if rules.positive not in table.classes:
        raise no_positive(rules.positive, table.classes)
    return replace(table, positive=rules.positive)


# ---- the pass ---------------------------------------------------------------------------------------


class RowArrays(NamedTuple):
    """What is tabulated: labels, keys and weights, as vectors where that needs no copy."""

    columns: list[Column]
    rules: Rules
    parts: Parts
    keys: list[Keyed]
    """Those of groups, and then those of clusters."""
    labels: list[Array]
    codes: list[Array]
    """The values of these keys."""
    weights: list[Array]
    """One array of them, or none."""
    replicates: list[Array]


def _rows(
    columns: list[Column], weights: Array | None, replicates: Sequence[Column], parts: Parts, rules: Rules
) -> RowArrays:
    keys = [own for own in (parts.groups, parts.clusters) if own is not None]
    arrays = [
        [column.values for column in columns],
        [own.codes for own in keys],
        [] if weights is None else [weights],
        [column.values for column in replicates],
    ]
    flat = iter(flattened([array for some in arrays for array in some]))
    return RowArrays(columns, rules, parts, keys, *([next(flat) for _ in some] for some in arrays))


def _pass(
    rows: RowArrays, workers: int, run: Map, expected: Integers | None = None, guess: bool = True, chosen: bool = False
) -> tuple[Counted, Codebook]:
    """Find the classes and tally all rows; once more if the classes were expected or guessed, and wrongly.

    ``chosen`` if there are to be so many workers, whether or not the rows are worth it.
    """
    codebook = Codebook(rows.rules)
    coders = encoders(rows.columns, rows.labels, codebook, workers, run, guess, expected)
    if not all(coder.static for coder in coders):
        workers, run = 1, map
    elif not chosen:
        cells = len(codebook.classes) ** len(coders) * math.prod(len(own.keys) for own in rows.keys)
        workers = min(workers, _worth_of_cells(rows.labels[0].size * (1 + len(rows.replicates)), cells))
    converted = [array for array in rows.replicates if not _is_column(array)]
    # Each takes the next block, so that a slow one holds up nobody.
    queue = deque(blocks([*rows.labels, *rows.codes, *rows.weights, *converted], workers))

    def filled(_: Any) -> list[Filling]:
        filling = Filling(rows, coders, codebook)
        for index in _taken(queue):
            filling.add(index)
        return [filling]

    first, *others = chain.from_iterable(run(filled, range(workers)))
    while others:
        first.merge(others.pop())  # which is gone then, before the cells are read
    found = first.found()
    if found.unknown and rows.rules.labels is None and guess:
        return _pass(rows, workers, run, guess=False, chosen=chosen)
    return found, codebook


class Filling:
    """A tally that rows are added to. Where more classes turn up than it has room for, another is begun."""

    def __init__(self, rows: RowArrays, coders: list[Encoder], codebook: Codebook) -> None:
        self._rows, self._coders, self._codebook = rows, coders, codebook
        self._before = int(rows.parts.groups is not None)  # axes that come before the labels
        self._done: list[Counted] = []
        self._begin(len(codebook.classes))

    def _sizes_of(self, classes: int) -> tuple[int, ...]:
        """Sizes of the axes of a key, for so many classes."""
        sizes = [len(own.keys) for own in self._rows.keys]
        return (*sizes[: self._before], *(classes,) * len(self._coders), *sizes[self._before :])

    def _begin(self, classes: int) -> None:
        sizes, labels = self._sizes_of(classes), len(self._coders)
        cells = math.prod(sizes)
        if cells >= LARGEST_KEY or len(sizes) > tally.MOST_AXES:
            raise too_many_cells(LARGEST_KEY) if labels < 4 else too_many_predictions(labels - 1, classes)
        self._classes, self._sizes = classes, sizes
        rows, replicates = self._rows.labels[0].size, len(self._rows.replicates)
        dense = cells <= min(max(FEW_CELLS, rows // 2), MOST_CELLS) and cells * replicates <= MOST_CELLS
        room, each = min(rows, MOST_ROOM), CELL_BYTES + REPLICATE_BYTES * replicates  # no row has two cells
        if rows * each > SMALL_ROOM * CELL_BYTES and not dense:
            room = min(room, available() // 2 // each)
        part, weighted = -1 if self._rows.parts.groups is None else 0, bool(self._rows.weights)
        self._tally = tally.active.Tally(sizes, weighted, dense, part, room, replicates=replicates)

    def add(self, index: Any) -> None:
        """Add a block of rows."""
        rows = self._rows
        prepared = [coder.prepare(native(x[index])) for coder, x in zip(self._coders, rows.labels, strict=True)]
        if len(self._codebook.classes) > self._classes:
            self._done.append(self._read())
            known = len(self._codebook.classes)
            room = max(2 * self._classes, known, 16)  # for those to come, if there can be so many
            self._begin(room if math.prod(self._sizes_of(room)) < LARGEST_KEY else known)
        columns = [coder.argument(x) for coder, x in zip(self._coders, prepared, strict=True)]
        keys = [(native(x[index]), 0, len(own.keys), 0, None) for x, own in zip(rows.codes, rows.keys, strict=True)]
        weights: list[Any] = [_weights(rows.weights[0][index]) if rows.weights else None]
        if rows.replicates:
            taken = (array[index] for array in rows.replicates)
            weights.append(tuple(x if _is_column(x) else _weights(x) for x in taken))
        with _bounded():
            self._tally.add(*keys[: self._before], *columns, *keys[self._before :], *weights)

    def merge(self, other: Filling) -> None:
        """Add what another holds, of the same classes."""
        with _bounded():
            self._tally.merge(other._tally)

    def found(self) -> Counted:
        """Return what was found."""
        last = self._read()
        if not self._done:
            return last
        stacks, ignored, unknown, bad, bad_replicates = zip(*self._done, last, strict=True)
        return Counted(merged_stacks(stacks), np.sum(ignored, axis=0), sum(unknown), sum(bad), sum(bad_replicates))

    def _read(self) -> Counted:
        with _bounded():
            keys, n, least, most, w, w2, ignored, unknown, bad = self._tally.result()
            replicates, bad_replicates = self._tally.replicates() if self._rows.replicates else ((), 0)
        counts = np.frombuffer(n, np.int64)
        codes = np.zeros((len(self._sizes), 0), dtype=np.int64)
        if len(counts):
            codes = np.array(np.unravel_index(np.frombuffer(keys, np.int64), self._sizes))
        if self._rows.weights:
            w, w2 = (Exact.from_kernel(len(counts), *found) for found in (w, w2))
            sums = Sums(counts, w, w2, np.frombuffer(least), np.frombuffer(most))
        else:
            sums = Sums.from_counts(counts)
        if replicates:
            sums = sums._replace(replicates=tuple(Exact.from_kernel(len(counts), *found) for found in replicates))
        return Counted(Stack(codes, sums), np.frombuffer(ignored, np.int64), unknown, bad, bad_replicates)


def _is_column(values: Array) -> bool:
    """Whether the kernel reads replicate weights as they are: it takes any stride."""
    return values.ndim == 1 and values.dtype.char in "fd" and values.dtype.isnative


def _weights(block: Array) -> Array:
    return native(block, None if block.dtype.char in "fd" else np.float64)


@contextmanager
def _bounded() -> Iterator[None]:
    """Say what it means that there are too many cells, or too many digits of their sums, which the kernel counts."""
    try:
        yield
    except OverflowError as problem:
        what, *counts = problem.args[0]
        if what == "digits":
            check_digits(*counts)
        raise too_many_cells(counts[0]) from None


# ---- threads ---------------------------------------------------------------------------------------


def _workers(threads: int | None, rows: int, replicates: int = 0) -> int:
    if threads is not None:
        return min(threads, rows, MOST_THREADS)
    work = rows * (1 + replicates // 4)  # four columns take about as long as a row without any
    if work < 2 * THREAD_ROWS:
        return 1
    return min(processors(), work // THREAD_ROWS, -(-rows // SHARE))


def _worth_of_cells(rows: int, cells: int) -> int:
    """Return how many threads are worth it: each has cells of its own, which are touched, and added up at last."""
    if cells <= min(rows // 2, MOST_CELLS):
        return max(1, rows // (ROWS_OF_CELL * max(cells, 1)))
    return max(1, rows // HASHED_ROWS)


def _taken(queue: deque[Any]) -> Iterator[Any]:
    """Items of a queue that several threads empty."""
    while True:
        try:
            yield queue.popleft()
        except IndexError:
            return


# ---- what went wrong --------------------------------------------------------------------------------


def _looked_at(columns: list[Column], rules: Rules) -> Iterator[tuple[slice, list[tuple[Label, ...]], Array]]:
    """Blocks of rows, their labels, and which were not left out. Slow, and only for messages."""
    for start in range(0, columns[0].values.size, BLOCK):
        rows = slice(start, start + BLOCK)
        labels = list(zip(*(column.labels(rows) for column in columns), strict=True))
        lost = rules.lacks([np.array([x == NOTHING for x in own], dtype=bool) for own in zip(*labels, strict=True)])
        yield rows, labels, np.array([own[0] not in rules.ignore for own in labels]) & ~lost


def _raise_unknown(columns: list[Column], rules: Rules) -> None:
    known = {*(rules.labels or ()), *rules.ignore}  # which may be predicted
    for rows, labels, kept in _looked_at(columns, rules):
        for row in np.flatnonzero(kept).tolist():
            for column, label in zip(columns, labels[row], strict=True):
                if label not in known and label != NOTHING:
                    raise unknown_label(column, rows.start + row, rules)
    raise InputError("a label changed while it was being read.")


def _raise_bad_weight(columns: list[Column], weights: Sequence[Column], rules: Rules, word: str, hint: str) -> None:
    for rows, _, kept in _looked_at(columns, rules):
        blocks = np.array([column.values.flat[rows].astype(np.float64) for column in weights])
        bad = kept & ~((blocks >= 0) & (blocks < np.inf))
        if bad.any():
            row = int(np.argmax(bad.any(axis=0)))
            which = int(np.argmax(bad[:, row]))
            weight = float(blocks[which, row])
            if weight < 0 and word == "replicate weight":
                hint = NO_NEGATIVE
            raise bad_weight(weights[which].place(rows.start + row), weight, hint, word)
    raise InputError(f"a {word} changed while it was being read.")


def unknown_label(column: Column, row: int, rules: Rules) -> LabelError:
    """Say that the label of a row is not among those the caller named."""
    (label,) = column.labels(slice(row, row + 1))
    among = f"`labels`, {_labels.listed(rules.labels or ())}"
    return _labels.unknown(
        column.place(row), label, among, "add it to `labels`; if it is not a class, list it in `ignore`."
    )

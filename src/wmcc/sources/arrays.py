"""Tables from arrays held in memory: which labels occur, blocks of rows, threads, and the kernel."""

from __future__ import annotations

import operator
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from itertools import chain
from typing import Any

import numpy as np

from .. import labels as _labels
from ..arraytypes import Array
from ..errors import InputError, LabelError, WeightError
from .blocks import BLOCK, blocks, flattened, native
from .cells import Part, begun
from .codebook import Codebook, Rules
from .columns import Column, place
from .encoders import Encoder, Map, encoders

THREAD_ROWS = 1 << 19  # rows a thread must have to be worth starting
MOST_THREADS = 256
THREAD_CELLS = 1 << 18  # cells of a table beyond which threads do not each fill one of their own


def tabulate_arrays(
    columns: list[Column], weights: Array | None, rules: Rules, threads: int | None, weight_name: str | None = None
) -> Any:
    """Tabulate columns of labels and, maybe, weights, all of one shape: a Table of two, a JointTable of three."""
    arrays = flattened([column.values for column in columns] + ([] if weights is None else [weights]))
    workers = _workers(threads, arrays[0].size)
    if workers == 1:
        total, codebook = _pass(columns, arrays, rules, 1, map)
    else:
        from concurrent.futures import ThreadPoolExecutor  # not before it is needed: it is slow to import

        with ThreadPoolExecutor(workers - 1) as pool:
            total, codebook = _pass(columns, arrays, rules, workers, partial(_share_out, pool, workers))
    if total.unknown:
        _raise_unknown(columns, rules)
    if total.bad_weights and weights is not None:
        _raise_bad_weight(columns, weights, rules, weight_name or "sample_weight")
    return codebook.named(total.table)


def _pass(
    columns: list[Column], arrays: list[Array], rules: Rules, workers: int, run: Map, guess: bool = True
) -> tuple[Part, Codebook]:
    """Find the classes and tally all rows; once more if the classes were guessed from a sample, and wrongly."""
    codebook = Codebook(rules)
    coders = encoders(columns, arrays[: len(columns)], codebook, workers, run, guess)
    if len(codebook.classes) ** len(columns) > THREAD_CELLS or not all(coder.static for coder in coders):
        workers, run = 1, map
    queue = deque(blocks(arrays, workers))  # each worker takes the next, so that a slow one holds up nobody
    parts = run(lambda _: _tally(coders, arrays, queue, codebook), range(workers))
    total = reduce(operator.add, chain.from_iterable(parts))
    if total.unknown and rules.labels is None and guess:
        return _pass(columns, arrays, rules, workers, run, guess=False)
    return total, codebook


# ---- threads ---------------------------------------------------------------------------------------


def _workers(threads: int | None, rows: int) -> int:
    if threads is not None:
        return min(threads, rows, MOST_THREADS)
    if rows < 2 * THREAD_ROWS:
        return 1
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, rows // THREAD_ROWS)


def _share_out(pool: Any, workers: int, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """Map in any order: this thread and those of the pool each take the next item when they are free."""
    queue = deque(items)

    def work() -> list[Any]:
        return [function(item) for item in _taken(queue)]

    others = [pool.submit(work) for _ in range(workers - 1)]
    return work() + [result for other in others for result in other.result()]


def _taken(queue: deque[Any]) -> Iterator[Any]:
    """Items of a queue that several threads empty."""
    while True:
        try:
            yield queue.popleft()
        except IndexError:
            return


# ---- the pass ---------------------------------------------------------------------------------------


def _tally(coders: list[Encoder], arrays: list[Array], queue: deque[Any], codebook: Codebook) -> list[Part]:
    """Tally blocks of rows. Where classes turn up on the way, the table is put aside and a larger one begun."""
    axes, weighted = len(coders), len(arrays) > len(coders)
    done: list[Part] = []
    cells = begun(len(codebook.classes), weighted, axes, arrays[0].size)
    for index in _taken(queue):
        prepared = [e.prepare(native(array[index])) for e, array in zip(coders, arrays, strict=False)]
        if len(codebook.classes) > cells.classes:
            done += cells.parts()
            size = min(max(2 * cells.classes, len(codebook.classes), 16), _labels.MAX_CLASSES)
            cells = begun(size, weighted, axes, arrays[0].size)
        cells.add(coders, prepared, _weights(arrays[axes][index]) if weighted else None)
    return done + cells.parts()


def _weights(block: Array) -> Array:
    return native(block, None if block.dtype.char in "fd" else np.float64)


# ---- what went wrong --------------------------------------------------------------------------------


def _looked_at(columns: list[Column], weights: Array | None, rules: Rules) -> Iterator[tuple[int, list[Any], float]]:
    """Rows that were not ignored, one by one: number, labels, weight. Slow, and only for messages."""
    ignore = set(rules.ignore)
    for start in range(0, columns[0].values.size, BLOCK):
        rows = slice(start, start + BLOCK)
        named = [column.labels(rows) for column in columns]
        w = [1.0] * len(named[0]) if weights is None else weights.flat[rows].astype(np.float64).tolist()
        for i, (*pair, weight) in enumerate(zip(*named, w, strict=True), start):
            if not ignore.intersection(pair):
                yield i, pair, weight


def _raise_unknown(columns: list[Column], rules: Rules) -> None:
    known = set(rules.labels or ())
    for row, pair, _ in _looked_at(columns, None, rules):
        for column, label in zip(columns, pair, strict=True):
            if label not in known:
                raise unknown_label(column, row, rules)
    raise InputError("a label changed while it was being read.")


def _raise_bad_weight(columns: list[Column], weights: Array, rules: Rules, name: str) -> None:
    for row, _, weight in _looked_at(columns, weights, rules):
        if not 0 <= weight < np.inf:
            raise bad_weight(place(name, weights, row, columns[0].first), weight)
    raise InputError("a weight changed while it was being read.")


def unknown_label(column: Column, row: int, rules: Rules) -> LabelError:
    """Say that the label of a row is not among those the caller named."""
    (label,) = column.labels(slice(row, row + 1))
    return LabelError(
        f"{column.place(row)} is {label!r}, which is not among labels=({_labels.listed(rules.labels or ())}).",
        "add it to labels, or name it in ignore= to leave such rows out (they are counted).",
    )


def bad_weight(where: str, weight: float, left_out: str = "row") -> WeightError:
    """Say that a weight cannot be one."""
    return WeightError(
        f"{where} is {weight!r}; a weight must be a finite number of at least 0.",
        f"a weight of 0 leaves a {left_out} out.",
    )

"""Tables of resampled rows: what a bootstrap reads instead of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..core.labels import Label
from ..core.threads import in_order, processors
from ..present.progress import bar
from .codes import Codebook, Rules, all_codes
from .columns import fitted, label_column, weight_array

DRAWS = np.repeat(np.arange(6, dtype=np.float32), [94, 94, 49, 13, 5, 1])
"""How often a row is drawn, by a random byte: mean 1, variance 1 and third moment 5.008, where Poisson's is 5."""

AT_ONCE = 1 << 20  # draws that a thread works on
LONG = 1 << 26  # draws that take long enough for a progress bar


def resample_rows(
    labels: tuple[Label, ...],
    occupied: IntArray,
    rows: tuple[Any, Any, Any],
    resamples: int,
    seed: int,
    progress: bool | None,
) -> FloatArray:
    """Return Σw of the cells of so many resampled tables, over the classes ``labels``; in units of the largest weight.

    ``rows`` are y_true, y_pred and weights, one per row, which were tabulated before and found good; ``occupied`` are
    the cells of their table, positions of the true and of the predicted class. Each row is drawn 0, 1, 2 … times,
    independently of the others (the Poisson bootstrap). A seed gives the same tables on any number of threads.
    """
    y_true, y_pred, sample_weight = rows
    columns = [label_column(y_true, "y_true"), label_column(y_pred, "y_pred")]
    weights = fitted(weight_array(sample_weight), columns[0].values.shape).reshape(-1)
    t, p = all_codes(columns, Codebook(Rules(labels)))
    cells = np.asarray(t * len(labels) + p)
    weights = weights.astype(np.float64)
    order = np.argsort(cells, kind="stable")
    cells, weights = cells[order], weights[order] / weights.max()
    step = max(1, AT_ONCE // resamples)
    starts = range(0, len(cells), step)
    seeds = np.random.SeedSequence(seed).spawn(len(starts))

    def part(at: int) -> tuple[IntArray, FloatArray]:
        rows = slice(starts[at], starts[at] + step)
        own, w = cells[rows], weights[rows]
        source = np.random.Generator(np.random.SFC64(seeds[at]))
        drawn = DRAWS.take(np.frombuffer(source.bytes(resamples * len(w)), np.uint8)).reshape(resamples, len(w))
        begins = np.flatnonzero(np.diff(own, prepend=-1))
        ends = [*begins[1:], len(own)]
        # float32 has the digits, but not the range, and a class of little weight may count as much as another.
        most = np.maximum.reduceat(w, begins)
        units = np.where(most > 0, most, 1.0)
        sums = [
            (drawn[:, a:b] @ (w[a:b] / unit).astype(np.float32)) * unit
            for a, b, unit in zip(begins, ends, units, strict=True)
        ]
        return own[begins], np.array(sums, dtype=np.float64)

    known = occupied[0] * len(labels) + occupied[1]
    total = np.zeros((len(known), resamples))
    workers = min(len(starts), processors())
    with bar(progress if len(cells) * resamples >= LONG else False, "resampling", len(starts)) as shown:
        for places, sums in in_order(part, range(len(starts)), workers):
            total[np.searchsorted(known, places)] += sums  # in the order of the rows, whichever thread was first
            shown.advance(1)
    return total.T

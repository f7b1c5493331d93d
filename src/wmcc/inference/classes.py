"""Intervals of each class's own scores, from the table of the class and the rest.

Recall is the accuracy among rows of the class, precision among rows that were called it, IoU among rows that are
either; F1 is a function of IoU alone. So each is an interval that `interval` could make, of a part of the table; here
those of all classes are made at once.
"""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from typing import NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..core.exact import Exact
from ..core.table import Table
from ..measures import CLASS_MEASURES, MEASURES
from ..measures.base import Measure, Shares
from ..measures.stacks import total
from .diagnostics import worth
from .fisher import Moves, Scale, fisher, unvaried
from .influence import Cells, Clusters, Influence, balanced, of_clusters, of_rows
from .interval import FAR_APART, LIGHTEST, NOTHING, TOO_LIGHT, Interval, alike, contained, quietly, too_few, unseen
from .reliability import interval_doubts, that_hold

FOUR = np.indices((2, 2)).reshape(2, 4)
"""Cells of a class and the rest: hits, misses, alarms and others."""


class Part(NamedTuple):
    """What a class's score is computed from: the measure that it is, of which of the `FOUR` cells."""

    measure: Measure
    cells: list[int]


PARTS = {
    "precision": Part(MEASURES["accuracy"], [0, 2]),
    "recall": Part(MEASURES["accuracy"], [0, 1]),
    "iou": Part(MEASURES["accuracy"], [0, 1, 2]),
    "mcc": Part(MEASURES["mcc"], [0, 1, 2, 3]),
}


def class_intervals(data: Table | Clusters, level: float) -> dict[str, tuple[Interval, ...]]:
    """Intervals of each measure of `CLASS_MEASURES`, a tuple of one per class in the order of the labels."""
    table = data.whole if isinstance(data, Clusters) else data
    four = Four.of(table)
    found = {name: _intervals(data, table, four, name, level) for name in PARTS}
    found["f1"] = [_f1(iou, value or 0.0) for iou, value in zip(found["iou"], four.values("f1"), strict=True)]
    return {name: tuple(found[name]) for name in CLASS_MEASURES}


class Four(NamedTuple):
    """Sums of the four cells of each class against the rest.

    Parameters
    ----------
    n, w_max
        Number of rows and largest weight: class × cell.
    w, w2
        Σw and Σw² as integers: a list of classes for each cell.
    exponent, shift
        Power of two that is the unit of w; and how many bits larger the unit of w² is than that of w2.
    """

    n: IntArray
    w_max: FloatArray
    w: list[list[int]]
    w2: list[list[int]]
    exponent: int
    shift: int

    @classmethod
    def of(cls, table: Table) -> Four:
        """Add up the table's occupied cells; the others are what is left of the total, exactly."""
        stack, K = table.stack, len(table.labels)
        (true, pred), sums = stack.codes, stack.sums
        wrong = stack.take(true != pred)
        parts = stack.take(true == pred), wrong.along([0]), wrong.along([1])
        n, w_max = np.zeros((K, 4), dtype=np.int64), np.zeros((K, 4))
        for cell, part in enumerate(parts):
            n[part.codes[0], cell], w_max[part.codes[0], cell] = part.sums.n, part.sums.w_max
        n[:, 3] = sums.n.sum() - n[:, :3].sum(axis=1)
        w, w2 = (
            [_per_class(getattr(part.sums, name), part.codes[0], K, whole.exponent) for part in parts]
            for name, whole in (("w_exact", sums.w_exact), ("w2_exact", sums.w2_exact))
        )
        for lists, whole in ((w, sums.w_exact.total()), (w2, sums.w2_exact.total())):
            lists.append([whole - a - b - c for a, b, c in zip(*lists, strict=True)])
        heaviest = int(np.argmax(sums.w_max))
        w_max[:, 3] = sums.w_max[heaviest]
        for k in {int(true[heaviest]), int(pred[heaviest])}:
            w_max[k, 3] = sums.w_max[(true != k) & (pred != k)].max(initial=0.0)
        return cls(n, w_max, w, w2, sums.w_exact.exponent, 2 * sums.w_exact.exponent - sums.w2_exact.exponent)

    def values(self, name: str) -> list[float | None]:
        """Return a measure of each class, None where it is undefined."""
        value = CLASS_MEASURES[name].value
        return [value(a + b + c + d, a + b, a + c, a) for a, b, c, d in zip(*self.w, strict=True)]

    def part(self, cells: list[int]) -> tuple[Cells, FloatArray]:
        """Return some of the four cells in units of their total weight, the others empty, and effective sizes."""
        shift, n = self.shift, np.zeros_like(self.n)
        w, w2, w_max = (np.zeros(self.n.shape) for _ in range(3))
        totals = [sum(own) for own in zip(*(self.w[cell] for cell in cells), strict=True)]
        squares = [s * s << max(shift, 0) or 1 for s in totals]
        for cell in cells:
            n[:, cell] = self.n[:, cell]
            w[:, cell] = [x / (s or 1) for x, s in zip(self.w[cell], totals, strict=True)]
            w2[:, cell] = [(x << max(-shift, 0)) / s for x, s in zip(self.w2[cell], squares, strict=True)]
        bits = np.array([s.bit_length() for s in totals])[:, np.newaxis]
        unit = np.array([s / (1 << s.bit_length()) or 1.0 for s in totals])[:, np.newaxis]
        w_max[:, cells] = np.ldexp(self.w_max[:, cells], -bits - self.exponent) / unit
        of_part = [sum(own) for own in zip(*(self.w2[cell] for cell in cells), strict=True)]
        n_eff = np.array([worth(s, x, shift) for s, x in zip(totals, of_part, strict=True)])
        return Cells(n, w, w2, w_max, FOUR, 2), n_eff


def _per_class(x: Exact, classes: IntArray, count: int, exponent: int) -> list[int]:
    """Return numbers of some classes as integers in units of ``2**exponent``, 0 for the others."""
    out = [0] * count
    for k, own in zip(classes.tolist(), x.integers(), strict=True):
        out[k] = own << (x.exponent - exponent) if own else 0
    return out


@quietly
def _intervals(data: Table | Clusters, table: Table, four: Four, name: str, level: float) -> list[Interval]:
    """Intervals of one measure, of each class."""
    measure, kept = PARTS[name]
    known = four.values(name)
    value = np.array([0.0 if x is None else x for x in known])
    cells, n_eff = four.part(kept)
    shares = Shares.of_cells(cells.w.reshape(-1, 2, 2))
    of_all = measure.slope(shares, value)
    slope = balanced(of_all.of_table(FOUR), cells)
    found, count, what, effective = of_rows(slope, cells), total(cells.n), "rows", None
    if isinstance(data, Clusters):
        found, count, n_eff = _of_clusters(data, slope, kept)
        what, effective = "clusters", n_eff
    inside = Scale(measure).inside(value)
    varied = (found.variance > NOTHING) & inside

    def problem(k: int) -> str | None:
        if known[k] is None:
            return f"{CLASS_MEASURES[name].title} is undefined at these weights: {_why(four, table, name, k)}"
        if any(0 < x < 1 / LIGHTEST for own in (shares.r, shares.not_r, shares.q, shares.not_q) for x in own[k]):
            return TOO_LIGHT
        few = too_few(int(count[k]), what, float(n_eff[k]))
        if few is not None or np.isfinite(found.variance[k]):
            return few or (alike(int(count[k])) if what == "clusters" and not varied[k] and inside[k] else None)
        return FAR_APART

    problems = [problem(k) for k in range(len(known))]
    fine = np.array([why is None for why in problems])
    low, high, se, df = (np.full(len(known), nan) for _ in range(4))
    warnings: list[tuple[str, ...]] = [()] * len(known)
    still, plain = np.flatnonzero(fine & ~varied), np.flatnonzero(fine & varied)
    moves = Moves.of_two_classes(cells.some(still))
    low[still], high[still] = unvaried(measure, value[still], moves, level, n_eff[still])
    se[still] = 0.0
    some, moved = cells.some(plain), Influence(*(x[plain] for x in found))
    low[plain], high[plain] = fisher(measure, value[plain], some, moved, level)
    se[plain], df[plain] = np.sqrt(moved.variance), moved.df
    steepest, worth_of = of_all.largest_square()[plain], None if effective is None else effective[plain]
    doubts = interval_doubts(measure, slope[plain], steepest, some, moved.variance, worth_of)
    for k in still.tolist():
        warnings[k] = (unseen(measure, value[k]),)
    for at, k in enumerate(plain.tolist()):
        warnings[k] = that_hold({why: holds[at] for why, holds in doubts.items()})
        if isnan(low[k]) or isnan(high[k]):
            problems[k], warnings[k], low[k], high[k], df[k] = FAR_APART, (), nan, nan, nan
    out = []
    for k, label in enumerate(table.labels):
        x, many = float(value[k]), int(count[k])
        a, b = (nan, nan) if problems[k] else contained(measure, x, low[k], high[k])
        clusters = many if what == "clusters" and many else None
        errors = float(se[k]), float(df[k]), float(n_eff[k])
        out.append(Interval(name, level, "fisher", x, a, b, *errors, clusters, warnings[k], problems[k], label))
    return out


def _why(four: Four, table: Table, name: str, k: int) -> str:
    """Say why the measure of a class is undefined."""
    if name != "mcc":
        return f"class {table.labels[k]!r} lacks weight in {'y_pred' if name == 'precision' else 'y_true'}"
    hits, misses, alarms, others = (own[k] for own in four.w)
    side = "y_pred" if hits + misses and alarms + others else "y_true"
    return f"all the weight of {side} is in one class"


def _of_clusters(data: Clusters, slope: FloatArray, kept: list[int]) -> tuple[Influence, IntArray, FloatArray]:
    """Influence of the clusters of each class's part of the rows; their number, and how many they are worth."""
    places, (true, pred) = np.full(4, -1), data.whole.stack.codes
    places[kept] = kept
    none, found = Influence(nan, nan, nan, np.zeros(4)), []
    for k, own in enumerate(slope):  # each is as large as the data, so they are not kept
        part = data.within(places[2 * (true != k) + (pred != k)], 4)
        found.append((*(of_clusters(own, part) if part.count else none), part.count, part.n_eff))
    *influence, count, n_eff = (np.array(x) for x in zip(*found, strict=True))
    return Influence(*influence), count, n_eff


def _f1(iou: Interval, value: float) -> Interval:
    """Interval of F1 = 2 IoU / (1 + IoU), which grows with IoU."""
    low, high = (2 * x / (1 + x) for x in (iou.low, iou.high))
    problem = None if iou.problem is None else iou.problem.replace("IoU", "F1")
    se = 2 * iou.se / (1 + iou.value) ** 2
    return replace(iou, measure="f1", value=value, low=min(low, value), high=max(high, value), se=se, problem=problem)

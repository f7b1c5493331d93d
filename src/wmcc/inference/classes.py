"""Intervals of each class's own scores, from the table of the class and the rest.

Recall is the accuracy among rows of the class, precision among rows that were called it, IoU among rows that are
either; F1 is a function of IoU alone. So each is an interval that `interval` could make, of a part of the table; here
those of all classes are made at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..core.base_table import occupied
from ..core.exact import effective_size
from ..core.labels import Label
from ..core.table import Margins, Table
from ..errors import InputError
from ..measures import CLASS_MEASURES, MEASURES, ExpectedGain
from ..measures.base import Measure, OnZero, Shares
from ..measures.checks import named_class_measure, named_measure
from ..measures.stacks import PerCell, over, per_table, quotient, total
from . import reliability
from .cells import CellSums, Precision, balance
from .estimate import Interval, Spread, estimate, quietly, spread, that_hold, within_range
from .fisher import Moves, Scale, unseen_ends
from .influence import Clusters, Sample, T, of_clusters, of_rows
from .reliability import FAR_APART, NOTHING

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


def _own(name: str, c: float, a: float, b: float, e: float) -> Measure:
    """Return the score of the first of two classes, c·d / (a·r + b·q − e·d), as a measure of their table."""
    of_class, side = CLASS_MEASURES[name], "y_pred" if name == "precision" else "y_true"

    def size(x: Shares) -> FloatArray:
        return np.asarray(a * x.r[..., :1] + b * x.q[..., :1] - e * x.d[..., :1])

    def value(m: Margins, zero: OnZero) -> float:
        score = of_class.value(m.s, m.r[0], m.q[0], m.d[0])
        return zero(f"the class has no weight in {side}") if score is None else score

    def terms(x: Shares) -> tuple[FloatArray, ...]:
        return c * x.d[..., :1], size(x)

    def slope(x: Shares, value: float | FloatArray) -> PerCell:
        each, unit = per_table(value), over(1.0, size(x)) * np.array([1.0, 0.0])
        lost = each * unit
        return PerCell(-a * lost, -b * lost, (c + e * each) * unit)

    return Measure(name, of_class.title, of_class.formula, (0.0, 1.0), value, terms, quotient, slope, of_class.formula)


OWN: dict[str, Measure] = {
    "precision": _own("precision", 1.0, 0.0, 1.0, 0.0),
    "recall": _own("recall", 1.0, 1.0, 0.0, 0.0),
    "f1": _own("f1", 2.0, 1.0, 1.0, 0.0),
    "iou": _own("iou", 1.0, 1.0, 1.0, 1.0),
    "mcc": MEASURES["mcc"],
}
"""The scores of the first of two classes, as measures of a table of the class and the rest."""


def measure_and_class(measure: Any, of: Label | None, table: Any) -> tuple[Measure, Label | None]:
    """Return a measure of a whole table; or one of a class and the rest, and the class.

    An expected gain is one of the positive class, which of two classes need not be named.
    """
    if not isinstance(measure, ExpectedGain):
        return (named_measure(measure), None) if of is None else (OWN[named_class_measure(measure).name], of)
    if of is not None:
        return measure.measure, of
    if not isinstance(table, Table) or len(table.classes) != 2:
        raise InputError(
            "`measure` is an ExpectedGain, and it is not known which class is positive.",
            "name it as `of`; all others are taken together.",
            "of",
        )
    return measure.measure, table.classes[1] if table.positive is None else table.positive


def two_classes(table: T, label: Label) -> T:
    """Return the table of a class and the rest."""
    if isinstance(table, Table):
        return table.against_rest(label)
    place = np.array([0 if other == label else 1 for other in table.labels])
    return table._recoded(table[table.names[0]].against_rest(label).labels, place)


def class_part(table: T, name: str, label: Label) -> T:
    """Return the rows that a class's score is about, in two classes: it, and the rest.

    These are the rows of the class for recall, those that a prediction calls so for precision, and both for F1 and IoU.
    """
    two = two_classes(table, label)
    is_class = two.raw_cells.codes[: two.axes] == 0
    everything = np.ones(len(two.raw_cells), dtype=bool)
    precision = is_class[1:].any(axis=0)
    kept = {"recall": is_class[0], "precision": precision, "mcc": everything, "expected_gain": everything}
    cells, drawn = occupied(two.raw_cells.take(kept.get(name, is_class.any(axis=0))), two.drawn)
    return replace(two, raw_cells=cells, drawn=drawn)


def class_intervals(sample: Sample[Table], level: float) -> dict[str, tuple[Interval, ...]]:
    """Intervals of each measure of `CLASS_MEASURES`, a tuple of one per class in the order of the labels."""
    if sample.by_design:
        table = sample.table
        of_each = [domain_intervals(Sample.of(table.against_rest(label)), label, level) for label in table.labels]
        return {name: tuple(intervals[name] for intervals in of_each) for name in CLASS_MEASURES}
    four = Four.of(sample.table)
    intervals = {name: _intervals(sample, four, name, level) for name in PARTS}
    intervals["f1"] = [_f1(iou, value or 0.0) for iou, value in zip(intervals["iou"], four.values("f1"), strict=True)]
    return {name: tuple(intervals[name]) for name in CLASS_MEASURES}


def class_interval(
    table: Table, name: str, label: Label, level: float, method: str, made: Callable[[Sample[Table], Measure], Interval]
) -> Interval:
    """Interval of one class's own score; ``made`` makes that of a part of the table by another method than fisher's."""
    two = table.against_rest(label)
    if table.drawn.by_design:
        return _of_domain(Sample.of(two), name, label, made)
    fisher = replace(class_intervals(Sample.of(two), level)[name][0], label=label, method=method)
    if method == "fisher" or fisher.problem is not None:
        return fisher
    part = "iou" if name == "f1" else name
    interval = made(Sample.of(class_part(table, name, label)), PARTS[part].measure)
    interval = replace(interval, measure=part, label=label)
    return _f1(interval, fisher.value) if name == "f1" else interval


def domain_intervals(
    two: Sample[Table], label: Label, level: float, names: Iterable[str] = CLASS_MEASURES
) -> dict[str, Interval]:
    """Intervals of some measures of a class under a design, from the table of the class and the rest."""

    def made(part: Sample[Table], measure: Measure) -> Interval:
        return estimate(part, measure, level)

    return {name: _of_domain(two, name, label, made) for name in names}


def _of_domain(
    two: Sample[Table], name: str, label: Label, made: Callable[[Sample[Table], Measure], Interval]
) -> Interval:
    """Interval of a class's own score under a design, from the table of the class and the rest.

    The class is a domain of the sample: all units that were drawn count, with or without rows of the class.
    """
    cells = two.cells
    about = np.zeros(4, dtype=bool)
    about[PARTS["iou" if name == "f1" else name].cells] = True
    about = about[2 * cells.codes[0] + cells.codes[1]]
    w, w2 = (float(x[about].sum()) for x in (cells.w, cells.w2))
    n, n_eff, weight = int(cells.n[about].sum()), over(w * w, w2), w * two.table.total
    return replace(made(two, OWN[name]), label=label, n=n, n_eff=n_eff, total=weight)


def class_spread(part: Sample[Table], name: str, value: float) -> Spread:
    """Return how far a class's own score may be off, from the rows that it is about."""
    if name != "f1":
        return spread(part, PARTS[name].measure)
    iou = spread(part, PARTS["iou"].measure)

    def ends(tail: float) -> tuple[float, float]:
        low, high = iou.ends(tail)
        return min(_f1_of(low), value), max(_f1_of(high), value)

    return iou._replace(value=value, se=2 * iou.se / (1 + iou.value) ** 2, ends=ends)


def _f1_of(iou: float) -> float:
    return 2 * iou / (1 + iou)


class Four(NamedTuple):
    """Sums of the four cells of each class against the rest."""

    n: IntArray  # number of rows: class × cell
    w_max: FloatArray  # largest weight: class × cell
    w: list[list[int]]  # Σw as integers: a list of classes for each cell
    w2: list[list[int]]  # Σw², likewise
    exponent: int  # power of two that is the unit of w
    shift: int  # how many bits larger the unit of w² is than that of w2

    @classmethod
    def of(cls, table: Table) -> Four:
        """Add up the table's occupied cells; the others are what is left of the total, exactly."""
        stack, K = table.cells, len(table.labels)
        (true, pred), sums = stack.codes, stack.sums
        wrong = stack.take(true != pred)
        parts = stack.take(true == pred), wrong.along([0]), wrong.along([1])
        n, w_max = np.zeros((K, 4), dtype=np.int64), np.zeros((K, 4))
        for cell, part in enumerate(parts):
            n[part.codes[0], cell], w_max[part.codes[0], cell] = part.sums.n, part.sums.w_max
        n[:, 3] = sums.n.sum() - n[:, :3].sum(axis=1)
        w, w2 = (
            [getattr(part.sums, name).by_code(part.codes[0], K).integers(whole.exponent) for part in parts]
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

    def part(self, cells: list[int]) -> tuple[CellSums, FloatArray, FloatArray]:
        """Return some of the four cells in units of their total weight, the others empty; effective sizes; totals."""
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
        n_eff = np.array([effective_size(s, x, shift) for s, x in zip(totals, of_part, strict=True)])
        weight = np.ldexp(np.where(np.array(totals) == 0, 0.0, unit[:, 0]), bits[:, 0] + self.exponent)
        return CellSums(n, w, w2, w_max, FOUR, 2, 2), n_eff, weight


@quietly
def _intervals(sample: Sample[Table], four: Four, name: str, level: float) -> list[Interval]:
    """Intervals of one measure, of each class."""
    measure, kept = PARTS[name]
    table, tail, least = sample.table, (1 - level) / 2, 1 / reliability.LIGHTEST
    known = four.values(name)
    value = np.array([0.0 if x is None else x for x in known])
    cells, n_eff, weight = four.part(kept)
    shares = Shares.of_cells(cells.w.reshape(-1, 2, 2))
    of_all = measure.slope(shares, value)
    slope = balance(of_all.of_table(FOUR), cells)
    rows, rows_eff = total(cells.n), n_eff
    precision, count, what, effective = of_rows(slope, cells), rows, "rows", None
    if sample.clusters is not None:
        precision, count, n_eff = _of_clusters(sample.clusters, table, slope, kept)
        what, effective = "clusters", n_eff
    scale = Scale(*measure.range)
    inside = scale.inside(value)
    varied = (precision.variance > NOTHING) & inside

    def problem(k: int) -> str | None:
        if table.drawn.kind == "pairs":
            return reliability.PAIRED
        if known[k] is None:
            return f"{CLASS_MEASURES[name].title} is undefined at these weights: {_why(four, table, name, k)}"
        if any(0 < x < least for margin in (shares.r, shares.not_r, shares.q, shares.not_q) for x in margin[k]):
            return reliability.TOO_LIGHT
        few = reliability.too_few(int(count[k]), what, float(n_eff[k]))
        if few is None and not np.isfinite(precision.variance[k]):
            return FAR_APART
        alike = what == "clusters" and inside[k] and not varied[k]
        return reliability.same_influence(int(count[k])) if few is None and alike else few

    problems = [problem(k) for k in range(len(known))]
    estimable = np.array([why is None for why in problems])
    low, high, se, df = (np.full(len(known), nan) for _ in range(4))
    warnings: list[tuple[str, ...]] = [()] * len(known)
    constant, varying = np.flatnonzero(estimable & ~varied), np.flatnonzero(estimable & varied)
    moves = Moves.of_two_classes(cells.some(constant))
    low[constant], high[constant] = unseen_ends(measure, value[constant], moves, tail, n_eff[constant])
    se[constant] = 0.0
    theirs = Precision(precision.variance[varying], precision.df[varying])
    low[varying], high[varying] = scale.ends(value[varying], theirs, tail)
    se[varying], df[varying] = np.sqrt(theirs.variance), theirs.df
    slopes = slope[varying], of_all.extreme_slope(2)[varying]
    n_clusters = None if effective is None else effective[varying]
    doubts = reliability.interval_doubts(measure, *slopes, cells.some(varying), theirs.variance, n_clusters)
    for k in constant.tolist():
        warnings[k] = (reliability.nothing_varied(measure, value[k]),)
    for place, k in enumerate(varying.tolist()):
        warnings[k] = that_hold({why: holds[place] for why, holds in doubts.items()})
        if isnan(low[k]) or isnan(high[k]):
            problems[k], warnings[k], se[k], df[k] = FAR_APART, (), nan, nan
    intervals = []
    for k, label in enumerate(table.labels):
        score, drawn = float(value[k]), int(count[k])
        a, b = (nan, nan) if problems[k] else within_range(measure, score, low[k], high[k])
        n_eff_k = nan if table.drawn.kind == "pairs" else float(rows_eff[k])
        of_clusters = None if effective is None or not drawn else float(effective[k])
        sizes = float(se[k]), float(df[k]), int(rows[k]), n_eff_k, float(weight[k])
        units = (drawn if what == "clusters" and drawn else None), None, None
        reasons = () if problems[k] else (*sample.doubts, *warnings[k])
        own = Interval(name, level, "fisher", score, a, b, *sizes, *units, reasons, problems[k], label, of_clusters)
        intervals.append(own)
    return intervals


def _why(four: Four, table: Table, name: str, k: int) -> str:
    """Say why the measure of a class is undefined."""
    if name != "mcc":
        return f"class {table.labels[k]!r} lacks weight in {'y_pred' if name == 'precision' else 'y_true'}"
    hits, misses, alarms, others = (own[k] for own in four.w)
    side = "y_pred" if hits + misses and alarms + others else "y_true"
    return f"all the weight of {side} is in one class"


def _of_clusters(
    clusters: Clusters, table: Table, slope: FloatArray, kept: list[int]
) -> tuple[Precision, IntArray, FloatArray]:
    """Precision by the clusters of each class's part of the rows; their number, and their effective number."""
    places, (true, pred) = np.full(4, -1), table.cells.codes
    places[kept] = kept
    none, precisions = Precision(nan, nan), []
    for k, of_class in enumerate(slope):  # each is as large as the data, so they are not kept
        part = clusters.within(places[2 * (true != k) + (pred != k)], 4)
        precisions.append((*(of_clusters(of_class, part) if part.count else none), part.count, part.n_eff))
    *precision, count, n_eff = (np.array(x) for x in zip(*precisions, strict=True))
    return Precision(*precision), count, n_eff


def _f1(iou: Interval, value: float) -> Interval:
    """Interval of F1 = 2 IoU / (1 + IoU), which grows with IoU."""
    low, high = map(_f1_of, (iou.low, iou.high))
    problem = None if iou.problem is None else iou.problem.replace("IoU", "F1")
    se = 2 * iou.se / (1 + iou.value) ** 2
    return replace(iou, measure="f1", value=value, low=min(low, value), high=max(high, value), se=se, problem=problem)

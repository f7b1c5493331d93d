"""Quantity and allocation disagreement of a map and its reference; exchange and shift, the parts of the latter.

All four are piecewise linear in the shares of the cells (Pontius and Millones 2011; Pontius and Santacruz 2014):

    quantity     ½ Σ_g |r_g − q_g|                     areas of classes that differ
    allocation   1 − accuracy − quantity               places that differ though areas agree
    exchange     Σ_{a<b} 2 min(p_ab, p_ba)             pairs of classes that are confused in both directions
    shift        allocation − exchange                 what is left: circles of three classes or more

Quantity is the largest of the linear functions ½ Σ s_g (r_g − q_g) over all signs s, and exchange the smallest of
Σ 2 p_o over all choices o of one cell of each pair. The true signs and choices are not known where a difference is not
clear. An end of an interval therefore is either that of the function with 0 in place of unclear signs, which bounds
the true value on that side whatever the signs are, or the outermost end over all signs that are possible.
"""

from __future__ import annotations

from functools import cached_property, partial
from itertools import product
from math import hypot, nan, sqrt
from typing import NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.table import Table
from ..inference import reliability
from ..inference.cells import Precision, balance
from ..inference.estimate import Interval, quietly, that_hold, value_or_problem, within_range
from ..inference.fisher import Scale
from ..inference.influence import Sample
from ..inference.pivot import Pivot
from ..inference.reliability import FAR_APART, FEW_FREE, FREEDOM_IS_LITTLE, MISSED, NOTHING
from ..inference.zero_error_strata import reach_of_missed
from ..measures import MEASURES
from ..measures.stacks import furthest
from ..present.text import counted

MOST_PATTERNS = 64
"""Combinations of unclear signs that are looked at; beyond them an end is one that holds for any signs."""

MOST_CLASSES = 64
"""Beyond so many classes there is no interval: sums of so many absolute differences are biased too much."""

ROUNDED = 1e-14
"""Shares that may be but rounding."""

SHARE = Scale(0.0, 1.0)

AWAY = 2.0
"""Standard errors from 0 and from 1 beyond which an interval is made on the scale of artanh."""

PARTS = {"quantity": (0, 1, 0), "allocation": (1, -1, 0), "exchange": (0, 0, 1), "shift": (1, -1, -1)}
"""Of which multiples of 1 − accuracy, of quantity and of exchange each is the sum."""


class Linear(NamedTuple):
    """A linear function of the shares of cells."""

    slope: FloatArray  # how much the share of each occupied cell counts
    unseen: FloatArray  # true × predicted: how much it may count in cells without a row, at most


class Signs(NamedTuple):
    """Signs of differences: between areas of a class, or between the two confusions of a pair of classes."""

    estimated: IntArray  # exactly those of the estimates
    unclear: list[int]  # which of them may as well be the other

    @property
    def clear(self) -> IntArray:
        """The signs, with 0 for those that are not clear."""
        signs = self.estimated.copy()
        signs[self.unclear] = 0
        return signs

    @property
    def possible(self) -> IntArray | None:
        """All combinations of signs that are possible, a row for each; None if there are too many."""
        count = 2 ** len(self.unclear)
        if count > MOST_PATTERNS:
            return None
        patterns = np.tile(self.estimated, (1 + count, 1))  # exact ties included
        patterns[1:, self.unclear] = list(product((1, -1), repeat=len(self.unclear)))
        return patterns


@quietly
def disagreements(sample: Sample[Table], level: float) -> dict[str, Interval]:
    """Quantity, allocation, exchange and shift, with their intervals."""
    problem = value_or_problem(MEASURES["accuracy"], sample)[1]
    found = Differences(sample, (1 - level) / 2)
    return {name: _interval(found, name, problem, level) for name in PARTS}


def standard_error(sample: Sample[Table], slope: FloatArray) -> float:
    """Standard error of Σ slope · share over the occupied cells; 0 where the design fixes it."""
    return _spread(sample.precision(_centred(slope, sample)))[0]


def _centred(slope: FloatArray, sample: Sample[Table]) -> FloatArray:
    return balance(slope - float(slope @ sample.cells.w), sample.cells)


class Differences:
    """The differences between a map and its reference, and how clear they are.

    ``tail`` is the chance beyond each end of the intervals.
    """

    def __init__(self, sample: Sample[Table], tail: float) -> None:
        self.sample: Sample[Table] = sample
        self.tail: float = tail
        self.labels: int = len(sample.table.labels)
        true, pred = self._codes = sample.cells.codes
        self._wrong = true != pred
        low, high = np.minimum(true, pred)[self._wrong], np.maximum(true, pred)[self._wrong]
        self._confused = np.isin(np.arange(self.labels), np.append(low, high))
        pairs, self._pair = np.unique(low * self.labels + high, return_inverse=True)  # of classes, of wrong cells
        self._low, self._high = pairs // self.labels, pairs % self.labels
        self._way = np.sign(true - pred)[self._wrong]

    @cached_property
    def _errors(self) -> FloatArray:
        """Slopes of the share of all errors."""
        return 1.0 - np.eye(self.labels)

    # ---- signs ------------------------------------------------------------------------------------------------

    @cached_property
    def areas(self) -> Signs:
        """Of the differences between the areas of classes by the reference and by the map."""
        confused = np.flatnonzero(self._confused).tolist()
        tail = self.tail / max(len(confused), 1) if len(confused) > 2 else self.tail  # of two, one is minus the other
        of_class = np.eye(self.labels)
        unclear = [k for k in confused if not self._clear(of_class[k][:, np.newaxis] - of_class[k], tail)]
        return Signs(self._area_signs, unclear)

    @cached_property
    def confusions(self) -> Signs:
        """Of the differences between the two confusions of each pair of classes."""
        unclear = []
        for k, (a, b) in enumerate(zip(self._low, self._high, strict=True)):
            difference = np.zeros((self.labels, self.labels))
            difference[a, b], difference[b, a] = 1, -1
            if not self._clear(difference, self.tail / len(self._low)):
                unclear.append(k)
        return Signs(self._pair_signs, unclear)

    @cached_property
    def _area_signs(self) -> IntArray:
        m = self.sample.table.margins
        return np.array([(r > q) - (r < q) for r, q in zip(m.r, m.q, strict=True)], dtype=np.int64)

    @cached_property
    def _pair_signs(self) -> IntArray:
        weights = np.array(self.sample.table._weights, dtype=object)  # integers of any size
        differences = np.zeros(len(self._low), dtype=object)
        np.subtract.at(differences, self._pair, self._way * weights[self._wrong])
        return np.sign(differences).astype(np.int64)

    def _clear(self, function: FloatArray, tail: float) -> bool:
        """Whether an interval, which is symmetric but for what was missed, has no 0 in it, or nothing else."""
        ends = (self.end(Linear(x[tuple(self._codes)], x), tail, scaled=False) for x in (-function, function))
        low, high = -next(ends), next(ends)
        return low > 0 or high < 0 or low == high

    # ---- linear functions -------------------------------------------------------------------------------------

    def slope(self, name: str) -> FloatArray:
        """Slopes of a part at the estimate, of the occupied cells; where two are equal each counts half."""
        of_wrong, of_quantity, of_exchange = PARTS[name]
        quantity, exchange = self._quantity_slope(self._area_signs), self._exchange_slope(self._pair_signs)
        return np.asarray(of_wrong * self._wrong + of_quantity * quantity + of_exchange * exchange)

    def _quantity_slope(self, signs: IntArray) -> FloatArray:
        true, pred = self._codes
        return np.asarray((signs[true] - signs[pred]) / 2.0)

    def _exchange_slope(self, signs: IntArray) -> FloatArray:
        slope = np.zeros(len(self._wrong))
        slope[self._wrong] = 1.0 + self._way * signs[self._pair]
        return slope

    def _quantity(self, signs: IntArray, free: int) -> Linear:
        """½ Σ s (r − q); classes that were confused with none have the sign that matters most, if ``free``."""
        true, pred = (np.where(self._confused, signs, sign * free) for sign in (1, -1))
        return Linear(
            self._quantity_slope(np.where(self._confused, signs, 0)),
            self._errors * (true[:, np.newaxis] - pred) / 2.0,
        )

    def _exchange(self, signs: IntArray, unseen: float) -> Linear:
        """Σ 2 p over one cell of each pair, or Σ p over both where the sign is 0; ``unseen`` for pairs without rows."""
        other = unseen * self._errors
        other[self._low, self._high], other[self._high, self._low] = 1.0 - signs, 1.0 + signs
        return Linear(self._exchange_slope(signs), other)

    def bounds(self, name: str, side: int) -> list[Linear]:
        """Return functions whose largest end is the upper end of a part (side 1), or of minus the part (−1).

        None if there are too many; then nothing is known but the range of the part.
        """
        of_wrong, of_quantity, of_exchange = (side * x for x in PARTS[name])
        errors = Linear(self._wrong.astype(float), self._errors)
        quantities = exchanges = [Linear(0 * errors.slope, 0 * errors.unseen)]
        if of_quantity:
            signs = self.areas.possible if of_quantity > 0 else [self.areas.clear]
            if signs is None:  # quantity is no more than all errors
                return [errors] if name == "quantity" else []
            quantities = [self._quantity(x, int(of_quantity > 0)) for x in signs]
        if of_exchange:
            signs = self.confusions.possible if of_exchange < 0 else [self.confusions.clear]
            if signs is None and name == "exchange":
                return []
            if signs is not None:  # else the shift is at most the allocation
                exchanges = [self._exchange(x, float(of_exchange > 0)) for x in signs]
        return [
            Linear(*(of_wrong * w + of_quantity * x + of_exchange * y for w, x, y in zip(errors, q, e, strict=True)))
            for q, e in product(quantities, exchanges)
        ]

    def upper_end(self, name: str, side: int) -> float:
        """Return the upper end of a part, or of minus the part."""
        return max((self.end(f, self.tail) for f in self.bounds(name, side)), default=0.0 if side < 0 else 1.0)

    def widest(self, name: str) -> Precision:
        """Precision with the largest variance, of the functions that bound a part."""
        functions = [*self.bounds(name, 1), *self.bounds(name, -1)]
        precisions = [self.sample.precision(_centred(f.slope, self.sample)) for f in functions]
        return max(precisions, key=lambda x: float(x.variance))

    # ---- their ends -------------------------------------------------------------------------------------------

    def end(self, f: Linear, tail: float, scaled: bool = True) -> float:
        """Return the upper end of a linear function, for a chance beyond it."""
        precision = self.sample.precision(_centred(f.slope, self.sample))
        value = float(f.slope @ self.sample.cells.w)
        missed = self._missed(f.unseen, f.slope, value, float(precision.variance), tail)
        return value + hypot(_seen(value, precision, tail, scaled), missed)

    def _missed(self, unseen: FloatArray, slope: FloatArray, value: float, variance: float, tail: float) -> float:
        """By how much it may be larger for rows that the sample may have missed, where nothing varied it."""
        possible = unseen[: len(self.sample.table.classes)]
        if self.sample.strata is None:
            most = float(possible[:, np.unique(self._codes[1])].max())
            share = 1 - tail ** (1 / self.sample.draws)
            return 0.0 if variance > NOTHING else max(most - value, 0.0) * share
        constant, above, _ = self._in_strata(slope, possible)
        return reach_of_missed(self.sample.strata, constant, above, tail) if constant.any() else 0.0

    def _in_strata(self, slope: FloatArray, possible: FloatArray) -> tuple[Array, FloatArray, FloatArray]:
        """Return which strata have nothing that varies a function.

        Beside it, of each, is how far above the mean of the function a row may be, and how far a row may move the
        function at most, with the sign of the way.
        """
        strata = self.sample.strata
        assert strata is not None
        met = strata.occurring(self._codes[1], self.labels)  # predictions in each stratum
        mean = strata.means(slope)
        above = np.where(met, possible.max(axis=0), -np.inf).max(axis=1) - mean
        below = mean - np.where(met, possible.min(axis=0), np.inf).min(axis=1)
        influence = np.where(met.any(axis=1), np.where(above > below, above, -below), 0.0) * strata.usual
        moments = strata.moments(_centred(slope, self.sample))
        constant = strata.constant(moments, strata.row_variance(influence), NOTHING)
        return constant, np.maximum(above, 0.0), influence

    # ---- doubts -----------------------------------------------------------------------------------------------

    def doubts(self, name: str, precision: Precision) -> tuple[str, ...]:
        """Say why the interval of a part may be off."""
        sample, slope, variance = self.sample, self.slope(name), float(precision.variance)
        centred, value = _centred(slope, sample), float(slope @ sample.cells.w)
        unseen = next((f.unseen for f in self.bounds(name, 1)), self._errors)
        possible = unseen[: len(sample.table.classes)]
        if sample.strata is not None:
            constant, _, influence = self._in_strata(slope, possible)
            constant = constant & sample.strata.without_error
            reasons = reliability.strata_doubts(centred, influence, sample.strata, variance, float(precision.df))
            seen = _seen(value, precision, self.tail)
            longer = hypot(seen, self._missed(unseen, slope, value, variance, self.tail)) > (1 + MISSED) * seen
            if not (longer and constant.any()):
                return that_hold(reasons)
            return *that_hold(reasons), reliability.constant_strata_note(sample.strata, constant, "score")
        clusters = None if sample.drawn_clusters is None else sample.n_eff
        extreme_slope = np.float64(furthest((possible - value).reshape(-1)))  # it may be 0
        reasons = reliability.interval_doubts(
            MEASURES["accuracy"], centred, extreme_slope, sample.cells, variance, clusters
        )
        few = sample.replication is not None and precision.df < FEW_FREE
        return that_hold({**reasons, FREEDOM_IS_LITTLE: few})

    def unclear(self, name: str) -> tuple[str, ...]:
        """Say which signs are not clear, and what follows."""
        _, of_quantity, of_exchange = PARTS[name]
        said = []
        if of_quantity and self.areas.unclear:
            of = f"{len(self.areas.unclear):,} of {counted(int(self._confused.sum()), 'class', 'classes')}"
            said.append((f"for {of} it is not clear whether the mapped area is too large or too small", of_quantity))
        if of_exchange and self.confusions.unclear:
            of = f"{len(self.confusions.unclear):,} of {counted(len(self._low), 'pair')} of classes"
            said.append((f"for {of} it is not clear which of the two confusions is the larger", -of_exchange))
        return tuple(
            f"{why}; the value tends to be too {'large' if bias > 0 else 'small'}, and the interval allows for it"
            for why, bias in said
        )


def _seen(value: float, found: Precision, tail: float, scaled: bool = True) -> float:
    """How far the upper end is from the value, by what varied: on the scale of artanh if it is a share far from 0.

    Where the value is negative it is minus a share, of which this is the lower end.
    """
    if not found.variance > NOTHING:
        return 0.0
    se, share = sqrt(found.variance), abs(value)
    if not (scaled and AWAY * se < share < 1 - AWAY * se):
        return float(Pivot(0.0, se * found.stretch, found.df).ends(tail)[1])
    low, high = SHARE.ends(share, found, tail)
    return float(high - share if value > 0 else share - low)


def _interval(own: Differences, name: str, problem: str | None, level: float) -> Interval:
    sample, slope = own.sample, own.slope(name)
    value = max(float(slope @ sample.cells.w), 0.0)
    value = value if value > ROUNDED else 0.0
    answer = partial(Interval, name, level, "fisher", value)
    if problem is not None:
        return answer(nan, nan, nan, nan, *sample.sizes, problem=problem)
    if name == "shift" and own.labels == 2:  # it takes three classes, always
        return answer(0.0, 0.0, 0.0, nan, *sample.sizes)
    found = sample.precision(_centred(slope, sample))
    se, df = _spread(found)
    if not np.isfinite(found.variance) or own.labels > MOST_CLASSES:
        many = (
            f"there are more than {MOST_CLASSES} classes; sums of so many differences, each in absolute value, are "
            "biased too much for an interval"
        )
        return answer(nan, nan, se, df, *sample.sizes, problem=many if np.isfinite(found.variance) else FAR_APART)
    low, high = max(0.0, min(-own.upper_end(name, -1), value)), min(1.0, max(own.upper_end(name, 1), value))
    warnings = own.unclear(name)
    if not se and warnings:  # where a difference is 0 the slope is that on neither side
        found = own.widest(name)
        se, df = _spread(found)
    if se:
        warnings += own.doubts(name, found)
    elif low < high:
        warnings += (reliability.nothing_varied(MEASURES["accuracy"], value),)
    return answer(low, high, se, df, *sample.sizes, (*sample.doubts, *warnings))


def _spread(found: Precision) -> tuple[float, float]:
    """Standard error and degrees of freedom: 0 and NaN where nothing varied, and NaN where neither is known."""
    if not np.isfinite(found.variance):
        return nan, nan
    return (sqrt(found.variance), float(found.df)) if found.variance > NOTHING else (0.0, nan)


def linear_interval(sample: Sample[Table], name: str, slope: FloatArray, value: float, level: float) -> Interval:
    """Interval of a share that is linear in the weights of cells, with these slopes: on the scale of artanh."""
    low, high, problem = nan, nan, None
    found = sample.precision(slope)
    se, df = _spread(found)
    if not np.isfinite(found.variance):
        problem = FAR_APART
    elif not (se and SHARE.inside(value)):
        se, df, problem = nan, nan, "the sampled rows do not vary in it, so it has no standard error"
    else:
        low, high = within_range(MEASURES["accuracy"], value, *SHARE.ends(value, found, (1 - level) / 2))
    heard = () if problem else sample.doubts
    sizes = *sample.sizes, heard, problem, None, sample.clusters_eff
    return Interval(name, level, "fisher", value, low, high, se, df, *sizes)

"""The sampling error of rows or clusters that were drawn in strata.

u = w·g is what a row moved a score by, z the sum of u over a sampled unit: a row, or a cluster of rows. Of m sampled
units of a stratum, a share f of all that it has, (1 − f)·m/(m − 1)·Σ(z − z̄)² is its part of the variance. Derived in
docs/understand/inference.md. Everything is in units of the total weight.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.design import name_strata
from ..core.joint import JointTable
from ..core.keys import Key
from ..core.stack import numbered
from ..core.table import Table
from ..measures.stacks import PerCell, over
from .cells import TINY, Precision, Unit

ROUNDED = 1e-9
"""Share by which the weight of a post-stratum may be less than its total before rows are missing: it is rounded."""

LOOKED_AT = 64
"""Strata that are looked at where all would take long: those whose units stand for the largest weight."""

LARGEST = 0.9
"""Largest leverage of a cluster in the jackknife, which divides by one less it: how much heavier than others it is."""

SAME = 1e-24
"""Squared deviations, in units of the squares themselves, that may be but rounding."""


class Moments(NamedTuple):
    """What the units of each stratum add up to."""

    mean: FloatArray  # of z
    squares: FloatArray  # Σ(z − z̄)²
    without: FloatArray  # the same of what each unit moves the score by if it is left out
    excess: FloatArray  # variance of Σ(z − z̄)², as far as uneven clusters or weights make it vary

    def less(self, other: Moments, m: Array) -> Moments:
        """Return those of z less another z of the same m rows, where one of the two is 0 for every row."""
        both = 2 * m * self.mean * other.mean
        squares, without = (np.maximum(x + y + both, 0.0) for x, y in zip(self[1:3], other[1:3], strict=True))
        return Moments(self.mean - other.mean, squares, without, self.excess + other.excess)


class StratifiedSample:
    """The strata of a table's design, and what was drawn in each.

    Strata that are joined, by ``lonely`` "collapse", are one.
    """

    def __init__(self, table: Table | JointTable) -> None:
        drawn, design, stack = table.drawn, table.drawn.design, table.design_cells
        assert design is not None
        codes, sums, axes = stack.codes, stack.sums, table.axes
        unit = Unit.of(sums.w_exact)
        self.nested: bool = design.nested
        self.lonely_option, self._cells = design.lonely, len(table.cells)
        _, self._cell = numbered(codes[:axes])
        self._unit, self._w, self._n = codes[-1], unit.shares(sums.w_exact), sums.n.astype(np.float64)
        self._w2 = unit.shares(sums.w2_exact, 2)
        self._w_min, self._w_max = unit.largest(sums.w_min), unit.largest(sums.w_max)

        sampled = np.array(drawn.sampled, dtype=np.float64)
        sizes = np.full(len(sampled), np.inf) if design.fpc is None else np.array(design.fpc, dtype=np.float64)
        place = np.arange(len(sampled))
        if design.lonely == "collapse":
            place = _joined(sampled, (sampled < sizes).tolist())
        self._design, self._place = design, place
        self.m: FloatArray = self.joined(sampled)
        # that was drawn of each
        self.fraction: FloatArray = np.minimum(self.m / np.maximum(self.joined(sizes), 1.0), 1.0)
        self.fpc: bool = design.fpc is not None
        of_units = place[np.array(design.of, dtype=np.int64)]
        self._of_units, self._of = of_units, of_units[self._unit]
        self.weights: FloatArray = self._per_stratum(self._w)
        self.rows: FloatArray = self._per_stratum(self._n)
        differ = codes[axes - 2] != codes[axes - 1]  # an error; of two predictions, that they are not the same
        self._wrong = np.bincount(self._unit, self._w * differ, len(of_units))
        self._errors = np.bincount(of_units, self._wrong, len(self.m))  # weight of what is wrong, in each
        self._drawn_rows = np.bincount(of_units, drawn.rows, len(self.m)).astype(np.float64)
        self.lonely: Array = (self.m == 1) & (self.fraction < 1) & (self.weights > 0)
        self._post = codes[-2] if design.poststrata is not None else None
        self._short = () if design.poststrata is None else _incomplete(table, self._post)

    @property
    def stratum_of_units(self) -> IntArray:
        """The stratum of each unit of the design."""
        return self._of_units

    @cached_property
    def keys(self) -> list[tuple[Key, ...]]:
        """Keys of the design's strata in each."""
        out: list[tuple[Key, ...]] = [() for _ in self.m]
        for key, h in zip(self._design.strata, self._place.tolist(), strict=True):
            out[h] += (key,)
        return out

    # ---- sizes ------------------------------------------------------------------------------------------

    def joined(self, numbers: Any) -> FloatArray:
        """Sum of numbers of the design's strata in each."""
        return np.asarray(np.bincount(self._place, numbers), dtype=np.float64)

    def _per_stratum(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(self._of, x, len(self.m)), dtype=np.float64)

    @property
    def count(self) -> int:
        """How many units were drawn, whether or not the table has rows of them."""
        return int(self.m.sum())

    @cached_property
    def _unit_weights(self) -> FloatArray:
        return np.asarray(np.bincount(self._unit, self._w, len(self._of_units)), dtype=np.float64)

    @property
    def n_eff(self) -> float:
        """Effective number of clusters, or of rows."""
        w2 = float((self._unit_weights**2).sum() if self.nested else self._w2.sum())
        return float(self._w.sum()) ** 2 / w2 if w2 else 0.0

    @cached_property
    def effective_units(self) -> FloatArray:
        """Effective number of units of each stratum that have weight in the table."""
        of, w2 = (self._of_units, self._unit_weights**2) if self.nested else (self._of, self._w2)
        return np.asarray(over(self.weights**2, np.bincount(of, w2, len(self.m)).astype(np.float64)))

    @property
    def size_in_sample(self) -> FloatArray:
        """Weight of all rows that were drawn in each stratum: those that the table lacks are as heavy as the others."""
        return np.asarray(self.weights * over(self._drawn_rows, self.rows))

    @cached_property
    def draws(self) -> FloatArray:
        """Number of units that were drawn in each stratum, as far as they are of equal weight; at least 1."""
        there = self._unit_weights > 0
        met = np.bincount(self._of_units, there, len(self.m)) if self.nested else self.rows
        return np.asarray(np.maximum(self.m * np.minimum(over(self.effective_units, met.astype(np.float64)), 1.0), 1.0))

    @cached_property
    def wrong_part(self) -> float:
        """How much of a unit with an error is wrong, on average: all of a row, a part of a cluster; 1 if none has.

        Of a joint table, an error is a row that is predicted differently.
        """
        met = self._wrong > 0
        return float(self._wrong.sum() / self._unit_weights[met].sum()) if self.nested and met.any() else 1.0

    def by_class(self, strata: IntArray, codes: IntArray, classes: int) -> FloatArray:
        """As `stacks.by_class`, of the table's weight in each of some strata; ``codes`` are those of its cells."""
        number = np.full(len(self.m), -1)
        number[strata] = np.arange(len(strata))
        number = number[self._of]
        inside = number >= 0
        (true, pred), w = codes[:, self._cell[inside]], self._w[inside]
        right = true == pred
        out = np.empty((3, len(strata), classes))
        for sums, code, which in zip(out, (true, true, pred), (right, ~right, ~right), strict=True):
            place = number[inside][which] * classes + code[which]
            sums[:] = np.bincount(place, w[which], len(strata) * classes).reshape(len(strata), classes)
        return out

    @property
    def problem(self) -> str | None:
        """Why there is no standard error, whatever the measure; None if there is one."""
        what = "cluster" if self.nested else "row"
        if self._short:
            return (
                "the weights are scaled to known totals of post-strata, and the table lacks rows of "
                f"{name_strata(self._short)}; their part of the variance is not known. Score the whole sample, or "
                "tabulate without `wmcc.PostStrata`"
            )
        if not self.lonely.any():
            return None
        if (np.count_nonzero(self._unit_weights) if self.nested else self.rows.sum()) == 1:
            there = "" if self.count == 1 else " with rows in the table"
            return f"a standard error needs at least two sampled {what}s{there}, and there is one"
        if self.lonely_option == "average" and self.lonely.all():
            return f"a single {what} was sampled in each stratum, so there is no variance to take the average of"
        if self.lonely_option not in ("error", "collapse"):
            return None
        alone = [self.keys[h][0] for h in np.flatnonzero(self.lonely)]
        if self.lonely_option == "collapse":
            single = f"stratum {name_strata(alone)} has a single sampled {what}"
            return f"{single}, and there is no other stratum that it can be joined with"
        are = f"a single {what} was sampled in {'stratum' if len(alone) == 1 else 'each of the strata'}"
        known = f"{are} {name_strata(alone)}, so the variance there cannot be estimated"
        if np.sum((self.fraction < 1) & (self.m > 0)) == 1:  # the others were sampled completely
            return f"{known}. Tabulate with another `lonely` of `wmcc.Strata`: 'adjust' or 'certainty'"
        average = ", 'average'" * (not self.lonely.all())
        return (
            f"{known}. Merge {'it' if len(alone) == 1 else 'them'} with similar strata, or tabulate with "
            f"another `lonely` of `wmcc.Strata`: 'collapse', 'adjust'{average} or 'certainty'"
        )

    # ---- influences ---------------------------------------------------------------------------------------

    def _residuals(self, slope: FloatArray) -> FloatArray:
        """Slopes of the cells of each unit; less their mean in the post-stratum, where totals are known."""
        g = slope[self._cell]
        if self._post is None:
            return g
        mean = over(np.bincount(self._post, g * self._w), np.bincount(self._post, self._w))
        return np.asarray(g - mean[self._post])

    def influences(self, slope: FloatArray) -> FloatArray:
        """Z of each unit of the design: of clusters in strata."""
        z = np.bincount(self._unit, self._residuals(slope) * self._w, len(self._of_units))
        return np.asarray(z, dtype=np.float64)

    def moments(self, slope: FloatArray) -> Moments:
        """What the influences of the units add up to in each stratum."""
        return self.of_units(self.influences(slope)) if self.nested else self._of_rows(self._residuals(slope))

    def of_units(self, z: FloatArray) -> Moments:
        """Moments of clusters, from their z; those without a row in the table have z = 0.

        A cluster pulls the score towards itself: without it, its stratum's mean would be other by z − z̄ over 1 less
        the share by which the cluster is larger than others there, to first order of the jackknife.
        """
        of, strata, w, m = self._of_units, len(self.m), self._unit_weights, np.maximum(self.m, 1)
        mean = np.bincount(of, z, strata) / m
        apart = z - mean[of]
        larger = (w - (np.bincount(of, w, strata) / m)[of]) * (m / np.maximum(m - 1, 1))[of]
        larger = np.minimum(larger, LARGEST)
        squares, without, fourths = (
            np.bincount(of, x, strata).astype(np.float64) for x in (apart**2, (apart / (1 - larger)) ** 2, apart**4)
        )
        same = squares <= SAME * np.bincount(of, z * z, strata)
        squares, without = (np.where(same, 0.0, x) for x in (squares, without))
        return Moments(mean, squares, without, np.maximum(fourths - squares**2 / m, 0.0))

    def _of_rows(self, g: FloatArray) -> Moments:
        """Moments of rows, from the sums of their cells; rows that the table does not have count with z = 0.

        Within a cell z varies with the weights alone. Deviations are taken from the mean of the cell, and those means
        from that of the stratum: nothing is lost where all rows of a stratum are alike.
        """
        mean_w, w_2, w_3, w_4 = self._central
        mean = self._per_stratum(g * self._w) / np.maximum(self.m, 1)  # a stratum of size 0 has no unit
        apart, n = g * mean_w - mean[self._of], self._n
        g2, apart2 = g * g, apart * apart
        within, between = g2 * w_2, n * apart2
        squares = within + between
        excess = 0.0 * squares
        if self._uneven:  # else the fourth moments are what the squares make of them
            fourths = g2 * (g2 * w_4 + 4 * g * w_3 * apart) + (6 * within + between) * apart2
            excess = np.maximum(fourths - squares * squares / n, 0.0)
        sums = self._per_stratum(squares) + (self.m - self.rows) * mean**2
        sums = np.where(sums > SAME * self._per_stratum(g2 * self._w2), sums, 0.0)
        return Moments(mean, sums, sums, self._per_stratum(excess))

    @cached_property
    def _uneven(self) -> bool:
        """Whether rows of a cell differ in weight, in some stratum."""
        return bool((self._w_min < self._w_max).any())

    @cached_property
    def _central(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean weight of each cell of each stratum, and Σ(w − w̄)^k for k = 2, 3, 4.

        A table has no Σw³ and no Σw⁴: they are taken to be those of log-normal weights, as in `influence.of_rows`.
        """
        n, most = self._n, np.maximum(self._w_max, TINY)
        if not self._uneven:
            none = np.zeros(len(n))
            return self._w / n, none, none, none
        mean = np.minimum(self._w / most / n, 1.0)  # in units of the largest
        uneven = np.maximum(over(self._w2, self._w**2) * n, 1.0)
        second = np.minimum(mean**2 * uneven, mean)
        third = second * np.minimum(mean * uneven**2, 1.0)
        fourth = second * np.minimum(second * uneven**4, 1.0)
        centred = (
            second - mean**2,
            third - 3 * mean * second + 2 * mean**3,
            fourth - 4 * mean * third + 6 * mean**2 * second - 3 * mean**4,
        )
        equal = self._w_min == self._w_max
        w_2, w_3, w_4 = (np.where(equal, 0.0, n * x * most**k) for k, x in enumerate(centred, 2))
        return self._w / n, w_2, w_3, w_4

    def means(self, slope: FloatArray) -> FloatArray:
        """Mean of the slopes of cells in each stratum, by weight."""
        return np.asarray(over(self._per_stratum(slope[self._cell] * self._w), self.weights))

    def occurring(self, codes: IntArray, count: int) -> Array:
        """Which of so many labels occur in each stratum, if these are the labels of the table's cells."""
        out = np.zeros((len(self.m), count), dtype=bool)
        out[self._of, codes[self._cell]] = True
        return out

    @property
    def varying(self) -> Array:
        """Strata that have weight in the table, and of which more units could have been drawn."""
        return np.asarray((self.fraction < 1) & (self.weights > 0))

    def of_some(self, units: IntArray) -> Array:
        """Strata that have one of these units."""
        out = np.zeros(len(self.m), dtype=bool)
        out[self._of_units[units]] = True
        return out

    @property
    def without_error(self) -> Array:
        """Strata in which no row is wrong."""
        return np.asarray(self._errors == 0)

    def constant(self, moments: Moments, row_variance: FloatArray, nothing: float) -> Array:
        """Varying strata of which nothing was drawn that matters: their units add next to nothing to the variance.

        Or there is no error, and a single row could add more than all that were drawn do.
        """
        by_option = self.lonely & (self.lonely_option in ("certainty", "average"))
        variance = self.variances(moments)
        still = (variance <= nothing) | (self.without_error & (variance < row_variance))
        return np.asarray(self.varying & still & ~by_option)

    @cached_property
    def usual(self) -> FloatArray:
        """Weight of a row in each stratum that is neither light nor heavy: Σw²/Σw."""
        return np.asarray(over(self._per_stratum(self._w2), self.weights))

    def row_influence(self, slope: FloatArray, of_all: PerCell, codes: IntArray) -> FloatArray:
        """Return how far a single row of usual weight may move the score in each stratum, with the sign of the way.

        Its true class is any that occurs in the table, its prediction any that occurs in the stratum. No row need have
        been drawn there: one that matters so much may well have been missed.
        """
        true, pred = (np.unique(codes_of) for codes_of in codes[:2])
        ends = np.array([_furthest(of_all, true, pred, sign) for sign in (1, -1)])
        place = np.searchsorted(pred, codes[1])[self._cell]
        raised, lowered = (ends[:, place] - self.means(slope)[self._of]) * self.usual[self._of]
        most, least = np.zeros((2, len(self.m)))
        np.maximum.at(most, self._of, raised)
        np.minimum.at(least, self._of, lowered)
        return np.where(most > -least, most, least)

    def row_variance(self, influence: FloatArray) -> FloatArray:
        """Return what a single row may add to the variance at most, from its influence in each stratum."""
        return np.asarray(influence**2 * (1 - self.fraction))

    def row_variance_of_two(self, slope: FloatArray, codes: IntArray) -> FloatArray:
        """Return the same of a difference: of cells that occur, with one of the two predictions of the stratum."""
        mean = self.means(slope)[self._of]
        out = np.zeros(len(self.m))
        for predicted in codes[1:]:
            ends = np.full((2, int(predicted.max(initial=0)) + 1), -np.inf)
            for side, sign in zip(ends, (1, -1), strict=True):
                np.maximum.at(side, predicted, sign * slope)
            most, least = ends[:, predicted[self._cell]]
            far = np.maximum(most - mean, least + mean) * self.usual[self._of]
            np.maximum.at(out, self._of, far**2)
        return np.asarray(out * (1 - self.fraction))

    def heaviest(self, slope: FloatArray) -> float:
        """Variance that a row as heavy as the heaviest of its stratum adds on average, where weights there differ.

        The strata count by their weight, and those in which all rows weigh the same not at all.
        """
        mean = self.means(slope)
        far = self._per_stratum((slope[self._cell] - mean[self._of]) ** 2 * self._w)
        most, least = np.zeros(len(self.m)), np.full(len(self.m), np.inf)
        np.maximum.at(most, self._of, self._w_max)
        np.minimum.at(least, self._of, self._w_min)
        return float((over(far, self.weights) * most**2 * (1 - self.fraction) * (least < most)).max(initial=0.0))

    def name(self, h: int) -> Key:
        """Return the key of a stratum, or of several that were joined."""
        return self.keys[h][0] if len(self.keys[h]) == 1 else " + ".join(map(str, self.keys[h]))

    # ---- the variance -------------------------------------------------------------------------------------

    @cached_property
    def factor(self) -> FloatArray:
        """(1 − f)·m/(m − 1), by which Σ(z − z̄)² is multiplied; 0 in a stratum with a single unit."""
        return np.where(self.m > 1, (1 - self.fraction) * self.m / np.maximum(self.m - 1, 1), 0.0)

    def variances(self, moments: Moments, jackknife: bool = False) -> FloatArray:
        """What each stratum adds to the variance of a score; a lonely one by the design's option."""
        out = self.factor * (moments.without if jackknife else moments.squares)
        if self.lonely.any() and self.lonely_option == "adjust":  # Σz = 0: the mean of all units is 0
            out = np.where(self.lonely, (1 - self.fraction) * moments.mean**2, out)
        if self.lonely.any() and self.lonely_option == "average":
            out = np.where(self.lonely, over(out.sum(), np.float64((~self.lonely).sum())), out)
        return np.asarray(out)

    @cached_property
    def design_df(self) -> float:
        """Number of units less that of strata, of those that have weight in the table and were not drawn completely."""
        return max(float((self.m[self.varying] - 1).sum()), 1.0)

    def precision(self, moments: Moments) -> Precision:
        """Variance, and how many degrees of freedom it has.

        Welch's number for a sum of variances, of as many units in each stratum as are effective; less where few
        clusters or rows determine it, and at most the number of units less that of the strata.
        """
        each = self.variances(moments)
        variance = float(each.sum())
        stretch = float(over(self.variances(moments, jackknife=True).sum(), np.float64(variance))) ** 0.5 or 1.0
        used = self.varying & ~(self.lonely & (self.lonely_option == "average"))
        square = float(each[used].sum()) ** 2
        if self._design.df == "design":
            return Precision(variance, self.design_df, stretch)
        units = np.minimum(self.m, self.effective_units)
        df = float(over(square, (each[used] ** 2 / (units[used] + 1)).sum())) - 2
        noise = float((self.factor**2 * moments.excess).sum())
        df = min(df, self.design_df, 2 * square / (noise + TINY) if noise else df)
        return Precision(variance, max(df, 1.0), stretch)


def _furthest(of_all: PerCell, true: IntArray, pred: IntArray, sign: int) -> FloatArray:
    """Largest number, times a sign, of the cells of some true classes in the column of each of some predictions."""
    row, column = of_all.row[true], of_all.column[pred]
    diagonal = np.broadcast_to(of_all.diagonal, of_all.row.shape)[pred]
    order = np.argsort(-sign * row, kind="stable")
    best, second = order[0], order[min(1, len(order) - 1)]
    wrong = np.where(true[best] == pred, row[second], row[best])
    wrong = np.where((true[second] == pred) & (len(true) == 1), np.nan, wrong)
    occurs = np.zeros(len(of_all.row), dtype=bool)
    occurs[true] = True
    right = np.where(occurs[pred], of_all.row[pred] + diagonal, np.nan)
    return np.asarray(sign * np.fmax(sign * wrong, sign * right) + column)


def _joined(sampled: FloatArray, varying: list[bool]) -> IntArray:
    """Return in which group each stratum is, if one with a single unit joins the next one, the last the group before.

    A group of two units or more is complete: of many strata with a single unit each, pairs are joined. Strata that were
    sampled completely have no variance, and nothing is joined with them.
    """
    place, groups, units = np.zeros(len(sampled), dtype=np.int64), 0, 2.0
    order, complete = np.flatnonzero(varying), np.flatnonzero(~np.array(varying, dtype=bool))
    for h in order.tolist():
        if units > 1:  # of the last group
            groups, units = groups + 1, 0.0
        place[h], units = groups, units + sampled[h]
    if units <= 1 and groups > 1:
        place[order[-1]] = groups - 1
    place[complete] = groups + 1 + np.arange(len(complete))
    _, first, number = np.unique(place, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number], dtype=np.int64)  # in the order of the strata


def _incomplete(table: Table | JointTable, post: IntArray | None) -> tuple[Key, ...]:
    """Post-strata of which the table does not have all weight: the others' influence is not known."""
    design = table.drawn.design
    assert design is not None
    assert design.poststrata is not None
    assert post is not None
    weights = table.design_cells.sums.w_exact.by_code(post, len(design.poststrata.keys)).floats()
    lacking = weights < np.array(design.poststrata.totals) * (1 - ROUNDED)
    return tuple(key for key, lacks in zip(design.poststrata.keys, lacking.tolist(), strict=True) if lacks)

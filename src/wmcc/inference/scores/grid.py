"""A score table at many thresholds at once: their tables as a stack, values of a measure, and standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any, NamedTuple

import numpy as np

from ...core.arraytypes import Array, FloatArray, IntArray
from ...core.exact import Exact
from ...core.score_table import ScoreTable
from ...core.table import Margins, Table
from ...errors import InputError
from ...measures import MEASURES, ExpectedGain
from ...measures.base import Measure, Shares, nothing_to_score
from ...measures.checks import meant
from ...present.text import brief, listed
from ..cells import CellSums, Unit, balance
from ..classes import FOUR, OWN
from ..estimate import quietly, spread, value_or_problem
from ..fisher import Moves, Scale, unseen_ends
from ..influence import Sample, of_rows
from ..reliability import LIGHTEST, NOTHING

MOST_OF_ROWS, MOST_OF_UNITS = 1000, 200
"""Thresholds that are looked at: of independent rows, and of designs, where each takes longer."""

ENOUGH = 5.0
"""Effective rows on each side of a threshold that a normal approximation needs."""


ELSEWHERE = {
    **dict.fromkeys(("roc_auc", "average_precision"), "`wmcc report --score` has it; it needs no threshold."),
    "expected_gain": "gains are for Python: wmcc.measures.ExpectedGain.",
}
"""Where there are measures that are none of a threshold, or none by name, to somebody at the command line."""


def asked_measure(measure: Any, argument: str = "measure") -> Measure:
    """Return a measure of a table of two classes, the positive one first, by itself or by its name.

    Precision, recall, F1 and IoU are those of the positive class. ``argument`` is the parameter that names it.
    """
    if isinstance(measure, ExpectedGain):
        return measure.measure
    if isinstance(measure, Measure):
        return measure
    name = getattr(measure, "name", measure)
    known = {**MEASURES, **OWN}
    if isinstance(name, str) and name in known:
        return known[name]
    own = [name for name in OWN if name not in MEASURES]
    raise InputError(
        f"`{argument}` is {brief(name)}; expected one of {', '.join(MEASURES)}, or of the positive class "
        f"{listed(own, 'or')}.",
        meant(name, own),
        argument,
        ELSEWHERE.get(name) if isinstance(name, str) else None,
    )


def check_weight(scores: ScoreTable) -> None:
    """Refuse scores of rows without weight."""
    if not scores.total:
        raise nothing_to_score(scores.rows, scores.ignored)


def exact_value(measure: Measure, margins: Margins) -> float:
    """Return the value at exact margins, 0 where it is undefined."""
    return measure.value(margins, lambda reason: 0.0) + 0.0


@dataclass(frozen=True, eq=False)
class ThresholdGrid:
    """Some thresholds of a score table, and the tables that they make.

    Parameters
    ----------
    scores
        The table; scores between two of the thresholds are one step of it.
    thresholds
        In ascending order; the first may be −∞ or the smallest score, at which all rows are positive.
    """

    scores: ScoreTable
    thresholds: FloatArray

    @classmethod
    def of(cls, scores: ScoreTable, most: int | None = None, thresholds: Any = None) -> ThresholdGrid:
        """Return a grid of all thresholds; if they are many, of some that are spread evenly over the weight."""
        if thresholds is None:
            if most is None:
                most = MOST_OF_ROWS if scores.drawn.kind == "rows" else MOST_OF_UNITS
            steps = scores.steps
            if len(steps) <= most:
                return cls(scores, scores.steps)
            above = scores.above.sum(axis=0)
            share = Unit.of(above.take([0])).shares(above)
            places = np.searchsorted(-share, -np.linspace(1, share[-1], most), side="left").clip(0, len(steps) - 1)
            thresholds = steps[np.unique(np.append(places, 0))]
        inner = thresholds[np.isfinite(thresholds)]
        made = scores.binned(inner) if len(inner) else scores.binned(scores.steps[-1:])
        return cls(made, made.steps)

    @classmethod
    def with_threshold(cls, scores: ScoreTable, threshold: float, most: int = MOST_OF_UNITS) -> ThresholdGrid:
        """Return a grid of about so many thresholds, of which one is the given one."""
        if len(scores.steps) <= most:
            return cls(scores, scores.steps)
        return cls.of(scores, thresholds=np.union1d(cls.of(scores, most).thresholds, [threshold]))

    def __len__(self) -> int:
        return len(self.thresholds)

    # ---- the tables of all thresholds ---------------------------------------------------------------------

    def margins(self, j: int) -> Margins:
        """Exact margins of the table of a threshold, the positive class first."""
        (P, tp), (N, fp) = self.scores.above.take((slice(None), [0, j])).integers()
        return Margins.of([P, N], [tp + fp, P + N - tp - fp], [tp, N - fp], 2)

    @cached_property
    def cells(self) -> CellSums:
        """Sums of the four cells of each threshold: hits, misses, alarms, others; in units of the total weight."""
        above = self.scores.above
        below = Exact(above.digits[..., :1] - above.digits, above.exponent)
        unit = Unit.of(above.take((slice(None), [0])))
        w = np.stack([unit.rounded(side) for side in (above, below)], axis=-1).swapaxes(0, 1).reshape(-1, 4)
        stack = self.scores.cells
        sums, J = stack.sums, len(self)
        place = np.zeros((J, 2), dtype=np.int64)
        place[:] = -1
        side = (stack.codes[1] != self.scores._place(self.scores.positive)).astype(int)
        place[stack.codes[0], side] = np.arange(len(stack))
        there = place >= 0
        unit = Unit.of(sums.w_exact)
        n = _both_sides(np.where(there, sums.n[place], 0), np.cumsum)
        w2 = _both_sides(np.where(there, unit.shares(sums.w2_exact, 2)[place], 0.0), np.cumsum)
        w_max = _both_sides(np.where(there, unit.largest(sums.w_max)[place], 0.0), np.maximum.accumulate)
        return CellSums(n, w, w2, w_max, FOUR, 2, 2)

    @cached_property
    def usable(self) -> Array:
        """Thresholds with enough effective rows or clusters on both sides of them."""
        return np.asarray((self._effective_sides >= ENOUGH).all(axis=1))

    @cached_property
    def _effective_sides(self) -> FloatArray:
        """Effective numbers of rows or clusters that are called positive and negative."""
        kind, design = self.scores.drawn.kind, self.scores.drawn.design
        if kind == "clusters" or (design is not None and design.nested):
            stack = self.scores.tables.design_cells
            units, unit = np.unique(stack.codes[-1], return_inverse=True)
            dense = np.zeros((len(self), len(units)))
            np.add.at(dense, (stack.codes[0], unit), Unit.of(stack.sums.w_exact).shares(stack.sums.w_exact))
            above = np.cumsum(dense[::-1], axis=0)[::-1]
            sides = (above, dense.sum(axis=0) - above)
            with np.errstate(invalid="ignore"):
                both = [x.sum(axis=1) ** 2 / (x * x).sum(axis=1) for x in sides]
            return np.asarray(np.nan_to_num(np.stack(both, axis=1)))
        w, w2 = self.cells.w, self.cells.w2
        with np.errstate(invalid="ignore"):
            both = [(w[:, k].sum(axis=1)) ** 2 / w2[:, k].sum(axis=1) for k in ([0, 2], [1, 3])]
        return np.asarray(np.nan_to_num(np.stack(both, axis=1)))

    # ---- a measure at all thresholds ------------------------------------------------------------------------

    def values(self, measure: Measure) -> FloatArray:
        """Return the measure at each threshold, rounded once or twice; 0 where it is undefined."""
        return np.asarray(measure.near(self.shares), dtype=np.float64)

    @cached_property
    def shares(self) -> Shares:
        """Shares of both classes at each threshold."""
        return Shares.of_cells(self.cells.w.reshape(-1, 2, 2))

    def problems(self, measure: Measure) -> list[str | None]:
        """Return why a measure has no standard error at each threshold, if rows were drawn independently.

        That it is undefined, or a class too light, is only asked where a margin is next to nothing.
        """
        w = self.cells.w
        least = np.min([w[:, 0] + w[:, 1], w[:, 2] + w[:, 3], w[:, 0] + w[:, 2], w[:, 1] + w[:, 3]], axis=0)
        found: list[str | None] = [sample_at(self.scores, -np.inf).problem] * len(self)
        for j in np.flatnonzero(least < 1 / LIGHTEST).tolist():
            found[j] = value_or_problem(measure, sample_at(self.scores, float(self.thresholds[j])))[1]
        return found

    def slopes(self, measure: Measure, values: FloatArray) -> FloatArray:
        """Return the slopes of the measure in the four cells of each threshold."""
        return balance(measure.slope(self.shares, values).of_table(FOUR), self.cells)

    def best(self, measure: Measure, values: FloatArray, allowed: Array) -> int:
        """Return the place of the first of the largest values; -1 if no threshold is allowed.

        Values that could be the largest but for rounding are compared exactly rounded.
        """
        if not allowed.any():
            return -1
        most = values[allowed].max()
        near = np.flatnonzero(allowed & (values >= most - 1e-9))
        exact = [exact_value(measure, self.margins(j)) for j in near.tolist()]
        return int(near[int(np.argmax(exact))])


def _both_sides(steps: Array, accumulate: Any) -> Any:
    """From numbers per step and class, what is above each threshold and below: hits, misses, alarms, others."""
    above = accumulate(steps[::-1], axis=0)[::-1]
    below = np.zeros_like(above)
    below[1:] = accumulate(steps, axis=0)[:-1]
    return np.stack([above[:, 0], below[:, 0], above[:, 1], below[:, 1]], axis=1)


class Errors(NamedTuple):
    """Standard errors at each threshold, their degrees of freedom, and ends of ordinary intervals; NaN for none."""

    se: FloatArray
    df: FloatArray
    low: FloatArray
    high: FloatArray
    problems: list[str | None]


@quietly
def errors(
    grid: ThresholdGrid, measure: Measure, values: FloatArray, level: float, places: IntArray | None = None
) -> Errors:
    """Find the standard error and the ordinary interval at each threshold, or at those of some places."""
    places = np.arange(len(grid)) if places is None else places
    if grid.scores.drawn.kind != "rows":
        return _errors_of_units(grid, measure, level, places)
    slope, cells, values = grid.slopes(measure, values)[places], grid.cells.some(places), values[places]
    precision, scale, tail = of_rows(slope, cells), Scale(*measure.range), (1 - level) / 2
    varied = (precision.variance > NOTHING) & scale.inside(values)
    se = np.where(varied, np.sqrt(precision.variance), 0.0)
    low, high = scale.ends(values, precision, tail)
    constant = np.flatnonzero(~varied)
    if len(constant):
        moves = Moves.of_two_classes(cells.some(constant))
        n_eff = np.full(len(constant), float(grid.cells.n_eff[0]))
        low[constant], high[constant] = unseen_ends(measure, values[constant], moves, tail, n_eff)
    least, most = measure.range
    low, high = np.maximum(np.minimum(low, values), least), np.minimum(np.maximum(high, values), most)
    every = grid.problems(measure)
    problems = [every[j] for j in places.tolist()]
    none = np.array([problem is not None for problem in problems])
    se, df, low, high = (np.where(none, nan, x) for x in (se, np.where(varied, precision.df, nan), low, high))
    return Errors(se, df, low, high, problems)


def _errors_of_units(grid: ThresholdGrid, measure: Measure, level: float, places: IntArray) -> Errors:
    """Find the same where clusters, strata or replicate weights say how rows were drawn: threshold by threshold."""
    out, tail = np.full((4, len(places)), nan), (1 - level) / 2
    problems = []
    for k, threshold in enumerate(grid.thresholds[places].tolist()):
        found = spread(sample_at(grid.scores, threshold), measure)
        problems.append(found.problem)
        if found.problem is None:
            out[:, k] = found.se, found.df, *found.ends(tail)
    se, df, low, high = out
    return Errors(se, df, low, high, problems)


def sample_at(scores: ScoreTable, threshold: float) -> Sample[Table]:
    """Return the sample of the table of a threshold, the positive class first."""
    return Sample.of(scores.at(threshold).against_rest(scores.positive))

"""`wmcc.best_threshold`: the threshold at which a measure is largest, and what it will be on new data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.labels import Label
from ..core.score_table import ScoreTable
from ..core.table import Table
from ..errors import InputError
from ..inference.answer import Answer, said_units, why_unsure
from ..inference.estimate import quietly
from ..inference.scores.band import Simulated, band_ends
from ..inference.scores.crossfit import ROUNDED, Constraints, cross_fitted
from ..inference.scores.curve import checked_scores, title_of
from ..inference.scores.grid import (
    Errors,
    ThresholdGrid,
    asked_measure,
    errors,
    exact_value,
    sample_at,
)
from ..measures import CLASS_MEASURES, MEASURES, ExpectedGain
from ..measures.base import Measure, for_tabulated
from ..measures.checks import checked_eps, checked_level
from ..present.blocks import Block
from ..present.text import counted, decimal, listed, number, share
from ..robustness.certify import certify
from ..robustness.thresholds import ProvedRange, proved_ranges

FEW_ROWS = (
    "there are fewer than 5 effective rows or clusters on one side of the threshold; the interval may be too short"
)


@dataclass(frozen=True, eq=False, repr=False)
class BestThreshold(Answer):
    """What `wmcc.best_threshold` returns.

    Parameters
    ----------
    measure, positive, at_least, confidence_level
        What was asked, and the class that high scores speak for.
    threshold
        The chosen threshold: a score of at least it is positive.
    expected
        The value to expect on new data: that of cross-fitting, in which each tenth of the sample is scored with a
        threshold that the other nine chose.
    low, high
        Ends of the interval of the true score at this threshold; it allows for the choice, and holds what to expect.
    value
        The apparent value: that of the data on which the threshold was chosen. It is too large on average.
    se
        Standard error of the apparent value, as if the threshold had been fixed in advance.
    plausible
        The lowest and the highest of the thresholds that are not significantly worse than the chosen one.
    n, ignored, n_eff, total, clusters, strata, replicates
        Sizes of the sample, as in `Interval`.
    eps, certified
        With ``eps``: how far weights may be off, and the proved lowest value at this threshold for all such weights.
    could_be_best
        With ``eps``: the thresholds that were not proved never to be best, for weights within ε.
    never_best
        With ``eps``: the number of thresholds that are never best, whatever the weights within ε. With those that could
        be best these are all steps of the scores.
    notes
        What to know of the choice, a sentence each: such as that scores were put together.
    warnings, problem
        What is wrong with the interval, or why there is none.
    table
        The table of the labels that the threshold makes.
    """

    measure: str
    positive: Label
    at_least: dict[str, float]
    confidence_level: float
    threshold: float
    expected: float
    low: float
    high: float
    value: float
    se: float
    plausible: tuple[float, float]
    n: int
    ignored: int
    n_eff: float
    total: float
    clusters: int | None = None
    strata: int | None = None
    replicates: int | None = None
    eps: float | None = None
    certified: float | None = None
    could_be_best: tuple[float, ...] = ()
    never_best: int = 0
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    problem: str | None = None
    table: Table | None = field(default=None, compare=False)

    _kind = "best threshold"
    _stored = (
        "measure", "positive", "at_least", "threshold", "expected", "low", "high", "value", "se", "plausible", "n",
        "ignored", "n_eff", "total", "clusters", "strata", "replicates", "eps", "certified", "could_be_best",
        "never_best", "notes", "confidence_level", "status", "warnings", "problem",
    )  # fmt: skip

    @property
    def title(self) -> str:
        """The measure, for people."""
        return title_of(self.measure, self.positive)

    def blocks(self) -> list[Block]:
        """Return the threshold, what to expect of it, and what it only seems to have."""
        level = f"{number(100 * self.confidence_level)} %"
        what = f"Threshold {number(self.threshold)} for {self._asked}"
        rows = [["expected on new data", decimal(self.expected)]]
        if self.problem is None:
            rows.append([f"{level} interval, allowing for the choice", f"{decimal(self.low)} to {decimal(self.high)}"])
        rows.append(["apparent, on these data", decimal(self.value)])
        if self.problem is None:
            low, high = self.plausible
            rows.append(["thresholds that may be as good", f"{number(low)} to {number(high)}"])
        if self.certified is not None:
            rows.append(["proved at least, for all such weights", decimal(self.certified)])
            every = self.never_best + len(self.could_be_best)
            rows.append(["thresholds that are never best", f"{self.never_best:,} of {every:,}"])
        units = said_units(self.clusters, self.strata, self.replicates)
        sizes = ", ".join([counted(self.n, "row"), *units])
        notes = [f"{self._rule} {sizes}.", *(f"note: {note}" for note in self.notes)]
        notes += [f"interval not estimable: {self.problem}"] if self.problem else []
        return [Block(what, (), rows, [*notes, *(f"unreliable: {why}" for why in self.warnings)])]

    def lines(self) -> list[Block]:
        """Return the same in a row, what to expect before what only seems to be."""
        level, reach = f"{number(100 * self.confidence_level)} %", " to ".join(map(number, self.plausible))
        head = ["Threshold", "Expected", f"{level} interval", "Apparent", "May be as good"]
        row = [number(self.threshold), decimal(self.expected), self.ends, decimal(self.value), reach]
        if self.certified is not None:
            head, row = [*head, "Proved at least"], [*row, decimal(self.certified)]
        if self.problem:
            row[-1 if self.certified is None else -2] = "—"
        notes = [
            f"{self._rule} Intervals allow for the choice.",
            *why_unsure({"": self}),
            *(f"Note: {note}." for note in self.notes),
        ]
        return [Block(f"Thresholds for {self._asked}", head, [row], notes, texts=0)]

    @property
    def _asked(self) -> str:
        """What the threshold was chosen for."""
        what = f"the best {self.title}"
        if self.at_least:
            least = [
                f"{CLASS_MEASURES[name].title if name in CLASS_MEASURES else title_of(name, '')} at least {number(x)}"
                for name, x in self.at_least.items()
            ]
            what += f" with {listed(least)}"
        if self.eps is not None:
            what += f" that is certain if each weight is off by up to {share(self.eps)}"
        return what

    @property
    def _rule(self) -> str:
        """Who is positive."""
        return f"A score of at least the threshold is {self.positive}."


@for_tabulated()
def best_threshold(
    scores: ScoreTable,
    measure: str | Measure | ExpectedGain = "mcc",
    *,
    at_least: Mapping[str, float] | None = None,
    eps: float | None = None,
    confidence_level: float = 0.95,
) -> BestThreshold:
    """Find the threshold at which a measure is largest, and say what it will be on new data.

    A threshold that is chosen on the data has the score that looks best there, and new data are less kind. So the
    result has the value to expect, by cross-fitting, and an interval that allows for the choice.

    Parameters
    ----------
    scores
        What `wmcc.tabulate` makes with ``score``.
    measure
        A measure of two classes, or its name; ``"precision"``, ``"recall"``, ``"f1"`` and ``"iou"`` are those of the
        positive class. `wmcc.measures.ExpectedGain` gives each kind of right and wrong a gain.
    at_least
        Only thresholds at which other measures are at least this: ``{"recall": 0.9}``.
    eps
        How far each weight may be off, as a share of itself. The threshold is then the one whose proved lowest value
        is largest, of all thresholds; and what ``at_least`` asks is met for all such weights.
    confidence_level
        Of the interval.

    Returns
    -------
    BestThreshold

    Notes
    -----
    The interval is that of a band over all thresholds that could have been chosen, on the scale of artanh, from draws
    of the sampling errors of all thresholds together under the design of the table. docs/understand/thresholds.md
    derives it and measures how often it holds the truth.

    Examples
    --------
    >>> import numpy as np, wmcc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(500) < 0.4
    >>> probability = (truth + rng.normal(size=500)).round(1)
    >>> scores = wmcc.tabulate(truth, score=probability, sample_weight=rng.lognormal(size=500))
    >>> wmcc.best_threshold(scores, "mcc")
    Threshold 0.8 for the best MCC
    expected on new data                              0.4230
    95 % interval, allowing for the choice  0.2508 to 0.5966
    apparent, on these data                           0.4399
    thresholds that may be as good               -0.7 to 1.7
    <BLANKLINE>
    A score of at least the threshold is True. 500 rows.
    """
    given, level = checked_scores(scores, "wmcc.best_threshold"), checked_level(confidence_level)
    chosen, constraints = asked_measure(measure), Constraints.of(at_least)
    if len(given.steps) == 1:
        raise InputError(
            f"all scores are the same, {number(float(given.steps[0]))}, so there is no threshold to choose.",
            "look at what the model returns.",
            "scores",
        )
    every, certain = ThresholdGrid(given, given.steps), None
    if eps is None:
        values = every.values(chosen)
        best = every.best(chosen, values, constraints.met(every.shares))
    else:
        certain = _certain(every, chosen, constraints, checked_eps(eps, "relative"))
        best = certain.best
    if best < 0:
        raise constraints.unmet(eps)
    threshold = float(every.thresholds[best])
    grid = ThresholdGrid.with_threshold(given, threshold)
    place = int(np.searchsorted(grid.thresholds, threshold))
    of_grid = grid.values(chosen)
    found = errors(grid, chosen, of_grid, level, np.array([place]))
    low, high, plausible = _band_at(grid, chosen, of_grid, place, found, level, constraints)
    sample = sample_at(given, threshold)
    nowhere = all("undefined" in (problem or "") for problem in grid.problems(chosen))
    expected = nan if nowhere else cross_fitted(given, chosen, constraints)
    problem = None if np.isfinite(low) else _why_not(sample, chosen)
    warnings = () if problem else (*sample.doubts, *(() if grid.usable[place] else (FEW_ROWS,)))
    rows, n_eff, total, clusters, strata, replicates = sample.sizes
    found_best = BestThreshold(
        chosen.name, given.positive, constraints.least, level, threshold, expected, min(low, expected),
        max(high, expected), exact_value(chosen, every.margins(best)), float(found.se[0]), plausible, rows,
        given.ignored, n_eff, total, clusters, strata, replicates,
        notes=given.notes, warnings=warnings, problem=problem, table=given.at(threshold),
    )  # fmt: skip
    if certain is None:
        return found_best
    return replace(found_best, eps=eps, certified=certain.low, could_be_best=certain.possible, never_best=certain.never)


def _why_not(sample: Any, measure: Measure) -> str:
    from ..inference.estimate import spread

    return spread(sample, measure).problem or "the score does not vary at this threshold"


@quietly
def _band_at(
    grid: ThresholdGrid, measure: Measure, values: FloatArray, place: int, found: Errors, level: float,
    constraints: Constraints,
) -> tuple[float, float, tuple[float, float]]:  # fmt: skip
    """Return the ends of the band at the chosen threshold, and the range of plausible thresholds.

    The band is over the thresholds that could have been chosen: those that are not worse than the chosen one with a
    fifth of the chance that the interval has to miss.
    """
    simulated, behind = Simulated.of(grid, measure, values), values[place] - values
    se, critical = simulated.critical_difference(place, level)
    plausible = (behind <= critical * se) & simulated.usable
    plausible[place] = True
    _, critical = simulated.critical_difference(place, 1 - (1 - level) / 5)
    rivals = (behind <= critical * se) & simulated.usable
    low, high = band_ends(measure, values[[place]], found, simulated.critical(rivals, level), level)
    near = grid.thresholds[plausible & constraints.met(grid.shares)]
    reach = (float(near[0]), float(near[-1])) if len(near) else (nan, nan)
    return float(low[0]), float(high[0]), reach


class Certain(NamedTuple):
    """The threshold with the largest proved lowest value; -1 if none meets all constraints for certain."""

    best: int
    low: float
    possible: tuple[float, ...]
    never: int


def _certain(every: ThresholdGrid, measure: Measure, constraints: Constraints, eps: float) -> Certain:
    """Look for the threshold with the largest proved lowest value among all, and see which others could be best.

    A constraint must be met for all weights within ε. A threshold is never best if it meets a constraint for none of
    them, or if its proved highest value is below the proved lowest one of the chosen threshold, which may always be
    taken.
    """
    ranges, sure, possible = proved_ranges(every.scores, measure, eps), set(range(len(every))), set(range(len(every)))
    for name, least in constraints.least.items():
        met = proved_ranges(every.scores, asked_measure(name), eps)
        sure &= {j for j, own in enumerate(met) if own.low >= least - ROUNDED}
        possible &= {j for j, own in enumerate(met) if own.high >= least - ROUNDED}
    best, most = -1, -np.inf
    for j in sorted(sure, key=lambda j: (-ranges[j].attained, j)):
        if not ranges[j].attained > most:  # some weights attain it, so its lowest value is not larger
            break
        low = _proved_low(every, measure, j, ranges[j], eps)
        if low > most:
            best, most = j, low
    could = sorted(j for j in possible if not ranges[j].high < most)
    return Certain(best, most, tuple(every.thresholds[could].tolist()), len(every) - len(could))


def _proved_low(every: ThresholdGrid, measure: Measure, j: int, found: ProvedRange, eps: float) -> float:
    """Return the proved lowest value at a threshold: that of its certificate, if there can be one."""
    if measure.name not in MEASURES or MEASURES[measure.name] is not measure:
        return found.low
    certificate = certify(every.scores.at(float(every.thresholds[j])), measure, eps=eps)
    return 0.0 if certificate.problem else certificate.low

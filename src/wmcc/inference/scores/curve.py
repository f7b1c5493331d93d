"""`wmcc.curve`: a measure at every threshold, with its standard error, its interval and a band for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np

from ...core.arraytypes import FloatArray
from ...core.labels import Label
from ...core.score_table import ScoreTable, as_scores
from ...errors import InputError, InputTypeError
from ...measures import CLASS_MEASURES, MEASURES, ExpectedGain
from ...measures.base import Measure, for_tabulated
from ...measures.checks import checked_level
from ...present.blocks import Block
from ...present.json_csv import Record, finite
from ...present.result import Result
from ...present.text import brief, counted, decimal, number
from ..estimate import spread
from .band import Simulated, band_ends
from .grid import ThresholdGrid, asked_measure, check_weight, errors, sample_at

SHOWN = 11
"""Thresholds that the text of a curve shows."""


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCurve(Result):
    """What `wmcc.curve` returns: arrays with an entry for each threshold, in ascending order.

    Parameters
    ----------
    measure, positive, confidence_level
        What was asked, and the class that high scores speak for.
    thresholds
        A score of at least the threshold is positive.
    values, se
        The measure, and its standard error; NaN where there is none.
    low, high
        Ends of the ordinary interval at each threshold, if the threshold is fixed in advance.
    band_low, band_high
        Ends of the band, which allows for choosing among these thresholds; NaN where it is not defined.
    n, total
        Number of rows, and their weight.
    steps
        How many thresholds make different predictions; the curve may have fewer.
    notes
        What to know of the curve, a sentence each.
    problem
        Why there is no interval at any threshold; None if there is one.
    """

    measure: str
    positive: Label
    confidence_level: float
    thresholds: FloatArray
    values: FloatArray
    se: FloatArray
    low: FloatArray
    high: FloatArray
    band_low: FloatArray
    band_high: FloatArray
    n: int
    total: float
    steps: int
    notes: tuple[str, ...] = ()
    problem: str | None = None

    _kind = "threshold curve"
    _stored = (
        "measure", "positive", "confidence_level", "n", "total", "steps", "thresholds", "values", "se", "low", "high",
        "band_low", "band_high", "notes", "problem",
    )  # fmt: skip

    @property
    def title(self) -> str:
        """The measure, for people."""
        return title_of(self.measure, self.positive)

    def blocks(self) -> list[Block]:
        """Return some of the thresholds, the best among them."""
        best = int(np.argmax(np.where(np.isnan(self.low), -np.inf, self.values)))
        some = np.unique(np.append(np.linspace(0, len(self.values) - 1, SHOWN).astype(int), best))
        rows = [
            [
                number(float(self.thresholds[j])), decimal(self.values[j]), decimal(self.se[j]),
                _ends(self.low[j], self.high[j]), _ends(self.band_low[j], self.band_high[j]),
                "largest" if j == best and self.problem is None else "",
            ]
            for j in some.tolist()
        ]  # fmt: skip
        level = f"{number(100 * self.confidence_level)} %"
        notes = [
            "An interval is for a threshold that was fixed in advance. The band is wider: it allows for choosing among "
            "these thresholds."
        ] * (self.problem is None)
        notes += [*self.notes, *([f"interval not estimable: {self.problem}"] if self.problem else [])]
        if len(some) < len(self.values):
            notes.append(f"Shown are {len(some):,} of {counted(len(self.values), 'threshold')}.")
        title = f"{self.title} by threshold, {counted(self.n, 'row')}"
        return [Block(title, ["Threshold", "Value", "SE", f"{level} interval", f"{level} band", ""], rows, notes)]

    def records(self) -> list[Record]:
        """Return a row for each threshold."""
        names = ("threshold", "value", "se", "low", "high", "band_low", "band_high")
        columns = (self.thresholds, self.values, self.se, self.low, self.high, self.band_low, self.band_high)
        return [
            dict(zip(names, map(finite, row), strict=True)) for row in zip(*(x.tolist() for x in columns), strict=True)
        ]


def _ends(low: float, high: float) -> str:
    """Write an interval; a dash where there is none."""
    return "—" if np.isnan(low) else f"{decimal(low)} to {decimal(high)}"


def title_of(measure: str, positive: Label) -> str:
    """Name a measure for people, with the class if it is one of a class."""
    if measure == "expected_gain":
        return "Expected gain"
    return MEASURES[measure].title if measure in MEASURES else f"{CLASS_MEASURES[measure].title} of {positive}"


def checked_scores(scores: Any, function: str) -> ScoreTable:
    """Return a score table, if it is one of a single score."""
    given = as_scores(scores)
    if not isinstance(given, ScoreTable):
        hint = "write wmcc.tabulate(y_true, score=probabilities), or tabulate(data, true=…, score=…)."
        if isinstance(scores, Mapping) and scores and all(isinstance(own, ScoreTable) for own in scores.values()):
            hint = f"take one of them, for instance scores[{list(scores)[-1]!r}]."
        raise InputTypeError(f"{function} reads a score table; got {brief(scores)}.", hint, "scores")
    given._check_single()
    check_weight(given)
    return given


@for_tabulated()
def curve(
    scores: ScoreTable,
    measure: str | Measure | ExpectedGain = "mcc",
    *,
    thresholds: Sequence[float] | FloatArray | None = None,
    confidence_level: float = 0.95,
) -> ThresholdCurve:
    """Compute a measure at every threshold, with intervals and a band.

    Parameters
    ----------
    scores
        What `wmcc.tabulate` makes with ``score``.
    measure
        A measure of two classes, or its name; ``"precision"``, ``"recall"``, ``"f1"`` and ``"iou"`` are those of the
        positive class. `wmcc.measures.ExpectedGain` gives each kind of right and wrong a gain.
    thresholds
        Where to compute it; by default at all scores that occur or, if there are more than a thousand (with clusters,
        strata or replicate weights: two hundred), at some that are spread evenly over the weight.
    confidence_level
        Of the intervals and of the band.

    Returns
    -------
    ThresholdCurve

    Examples
    --------
    >>> import numpy as np, wmcc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(500) < 0.4
    >>> probability = (truth + rng.normal(size=500)).round(1)
    >>> scores = wmcc.tabulate(truth, score=probability, sample_weight=rng.lognormal(size=500))
    >>> wmcc.curve(scores, "mcc", thresholds=[0.0, 0.5, 1.0])
    MCC by threshold, 500 rows
    Threshold   Value      SE     95 % interval         95 % band
    0          0.3392  0.0583  0.2152 to 0.4524  0.1902 to 0.4729
    0.5        0.4141  0.0611  0.2809 to 0.5315  0.2537 to 0.5523  largest
    1          0.3945  0.0582  0.2712 to 0.5051  0.2461 to 0.5249
    <BLANKLINE>
    An interval is for a threshold that was fixed in advance. The band is wider: it allows for choosing among these thresholds.
    """  # noqa: E501
    given, chosen, level = checked_scores(scores, "wmcc.curve"), asked_measure(measure), checked_level(confidence_level)
    asked = None if thresholds is None else _asked(given, thresholds)
    grid = ThresholdGrid.of(given, thresholds=asked)
    values = grid.values(chosen)
    found, simulated = errors(grid, chosen, values, level), Simulated.of(grid, chosen, values)
    ends = band_ends(chosen, values, found, simulated.critical(simulated.usable, level), level)
    band = [np.where(simulated.usable, end, np.nan) for end in ends]
    columns, problems = np.stack([grid.thresholds, values, found.se, found.low, found.high, *band]), found.problems
    if asked is not None:
        places = np.searchsorted(grid.thresholds, asked)  # the step above, where no score lies between the two
        above = asked[places == len(grid)]
        beyond, problem = _beyond(given, chosen, level) if len(above) else (np.empty((len(columns), 0)), None)
        columns = np.concatenate([columns, beyond], axis=1)[:, places]
        columns[0], problems = asked, [[*problems, problem][j] for j in places.tolist()]
    lacking = [problem for problem in problems if problem]
    problem = lacking[0] if len(lacking) == len(problems) else None
    notes = (
        [f"There is no interval at {counted(len(lacking), 'threshold')}: {lacking[0]}."]
        if lacking and not problem
        else []
    )
    notes += [f"{note[0].upper()}{note[1:]}." for note in given.notes]
    cuts, values, se, low, high, band_low, band_high = columns
    found_ends = low, high, band_low, band_high
    sizes = given.rows, given.total, len(given.steps)
    said = tuple(notes), problem
    return ThresholdCurve(chosen.name, given.positive, level, cuts, values, se, *found_ends, *sizes, *said)


def _asked(scores: ScoreTable, thresholds: Any) -> FloatArray:
    """Return the thresholds that were asked for, ascending and each once."""
    try:
        given = [*thresholds]
    except TypeError:
        given = [thresholds]
    if not given:
        raise InputError("`thresholds` is empty; expected at least one number.", argument="thresholds")
    asked = np.unique([scores._checked(x, f"`thresholds[{k}]`") for k, x in enumerate(given)])
    for cut in asked.tolist():
        scores._warn_of_beyond(cut)
    return asked


def _beyond(scores: ScoreTable, measure: Measure, level: float) -> tuple[FloatArray, str | None]:
    """Return the same of a threshold above all scores, and why there is no interval."""
    found = spread(sample_at(scores, inf), measure)
    low, high = (nan, nan) if found.problem else found.ends((1 - level) / 2)
    return np.array([[x] for x in (inf, found.value, found.se, low, high, nan, nan)]), found.problem

"""Scores in a report: the curve over all thresholds, and the choice of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from ..core.joint import JointTable
from ..core.score_table import ScoreTable
from ..core.table import Table
from ..inference.estimate import Interval
from ..inference.interval import interval
from ..inference.scores.curve import ThresholdCurve, curve
from ..measures.base import Measure
from ..present.blocks import Block
from ..results.best_threshold import BestThreshold, best_threshold

Given = float | Mapping[str, float] | None


class Thresholds(NamedTuple):
    """What a report says of the scores of a prediction.

    Parameters
    ----------
    name
        Of the prediction; none if there is only one.
    threshold
        What makes labels of the scores.
    chosen
        Whether it was chosen on these rows, and not given.
    best, curve
        The best threshold of these rows, and the measure at every threshold.
    whole
        Measures of all thresholds together: the area under the ROC curve, and average precision.
    """

    name: str
    threshold: float
    chosen: bool
    best: BestThreshold
    curve: ThresholdCurve
    whole: tuple[Interval, ...]

    @property
    def caption(self) -> str:
        """What the picture shows."""
        return f"{self.curve.title} by threshold" + (f", {self.name}" if self.name else "")

    def block(self) -> Block:
        """Return some of the thresholds, with their intervals and the band."""
        (made,) = self.curve.blocks()
        return replace(made, title=self.caption)


def at_thresholds(
    scores: ScoreTable, given: Given, measure: Measure, level: float
) -> tuple[Table | JointTable, dict[str, Thresholds]]:
    """Return the table of the labels, at the thresholds that were given or are best, and what is said of each score."""
    own = {name: scores[name] for name in scores.names} if scores.names else {"": scores}
    best = {name: best_threshold(x, measure, confidence_level=level) for name, x in own.items()}
    if given is not None:
        table = scores.at(given)
        cuts = {name: float(given[name] if isinstance(given, Mapping) else given) for name in own}
    else:
        cuts = {name: x.threshold for name, x in best.items()}
        table = scores.at(cuts if scores.names else cuts[""])
    found = {}
    for name, x in own.items():
        whole = tuple(interval(x, of, confidence_level=level) for of in ("roc_auc", "average_precision"))
        of_all = curve(x, measure, confidence_level=level)
        found[name] = Thresholds(name, cuts[name], given is None, best[name], of_all, whole)
    return table, found

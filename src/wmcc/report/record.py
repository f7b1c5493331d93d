"""A report as JSON; docs/howto/command-line.md describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

from ..inference.comparison import Difference
from ..inference.estimate import Interval
from ..inference.scores.curve import ThresholdCurve
from ..mapping.accuracy import MapAccuracy
from ..mapping.error_map import ErrorMap
from ..present.result import Delegate
from ..present.stored import Fields, Storable
from ..results.best_threshold import BestThreshold
from ..results.images import ImageScores
from ..results.scores import Score
from ..robustness.certificate import Certificate
from ..robustness.radii import Radius
from ..robustness.ranking import Lead
from ..robustness.sensitivities import CellInfluence
from .document import Document
from .findings import Findings, Pair
from .provenance import Provenance

INFLUENCES = 100
"""Cells whose weights matter most, of each prediction."""


class OfPrediction(NamedTuple):
    """What is stored of a prediction beside its score.

    Parameters
    ----------
    certified
        Ranges of the measure for several ε; None where it is undefined.
    bounded
        The range for weights within their bounds; None if none were given.
    radius
        How far weights may be off while the score is as high as was asked; None if that was not asked.
    map, error_map
        Accuracy and areas of a map, and where it is wrong, if the report has them; the HTML has the pictures.
    threshold, best_threshold, curve, of_all_thresholds
        Of scores: the threshold of the report, the best one of these rows, the measure at every threshold, and measures
        of all thresholds together.
    influences
        The cells whose weights matter most.
    table
        As `wmcc.Table.to_dict` makes it.
    """

    certified: list[Annotated[Fields, (Certificate, Certificate._row)]] | None
    bounded: Annotated[Fields, (Certificate, Certificate._row)] | None
    radius: Annotated[Fields, (Radius, Radius._row)] | None
    map: MapAccuracy | None
    error_map: ErrorMap | None
    threshold: float | None
    best_threshold: BestThreshold | None
    curve: ThresholdCurve | None
    of_all_thresholds: list[Interval]
    influences: list[Annotated[Fields, ("measure", str), CellInfluence]]
    table: dict[str, Any]


class OfComparison(NamedTuple):
    """What is stored of two predictions beside their difference.

    Parameters
    ----------
    lead
        How far weights may be off before the leader may be overtaken; None if that was not looked for.
    bounded
        The range of the difference for weights within their bounds; None if that was not looked for.
    """

    lead: Annotated[Fields, (Radius, Radius._row)] | None
    bounded: Annotated[Fields, (Lead, ("names", *Lead._row))] | None


@dataclass(frozen=True)
class Report(Storable):
    """What a report says, for programs."""

    document: Document
    made: Provenance

    _kind = "report"
    _stored = (
        "title", "verdict", "measure", "eps", "at_least", "unit", "names", "predictions", "pairs", "images", "figures",
        "made",
    )  # fmt: skip

    title: ClassVar[Delegate[str]] = Delegate("document.title", "Title of the report.")
    verdict: ClassVar[Delegate[list[str]]] = Delegate("document.verdict", "What was found, in sentences.")
    found: ClassVar[Delegate[Findings]] = Delegate("document.found", "What everything was taken from.")
    measure: ClassVar[Delegate[str]] = Delegate(
        "found.measure.name", "Name of the measure that predictions are compared by."
    )
    eps: ClassVar[Delegate[float]] = Delegate("found.eps", "How far weights may be off.")
    at_least: ClassVar[Delegate[float | None]] = Delegate(
        "found.at_least", "How high a score is wanted, if that was asked."
    )
    unit: ClassVar[Delegate[str | None]] = Delegate("found.unit", "Unit of the weights, if it is known.")
    names: ClassVar[Delegate[list[str]]] = Delegate("found.names", "Names of the predictions.")
    images: ClassVar[Delegate[ImageScores | None]] = Delegate(
        "found.images", "Scores of images, if clusters are images."
    )

    @property
    def predictions(self) -> list[Annotated[Fields, ("name", str), Score, OfPrediction]]:
        """What was found of each prediction."""
        return [self._prediction(name) for name in self.names]

    @property
    def pairs(self) -> list[Annotated[Fields, Difference, OfComparison]]:
        """What was found of each pair of predictions."""
        compared = self.found.comparisons
        return [] if compared is None else [self._pair(pair, own) for pair, own in compared.pairs.items()]

    @property
    def figures(self) -> list[str]:
        """Titles of figures that were added; the HTML has the figures."""
        return [x.title for x in self.found.drawings]

    def _prediction(self, name: str) -> Fields:
        found = self.found
        at = found.thresholds.get(name)
        curve, radius, bounded = found.curves[name], found.radii.get(name), found.bounded.get(name)
        more = OfPrediction(
            None if curve.problem else curve.records(),
            None if bounded is None else bounded.picked(bounded._row),
            None if radius is None else radius.picked(radius._row),
            found.maps[name] if found.maps else None,
            found.error_maps.get(name),
            None if at is None else at.threshold,
            None if at is None else at.best,
            None if at is None else at.curve,
            [] if at is None else list(at.whole),
            found.sensitivities[name].records()[:INFLUENCES],
            found.scores[name].table.to_dict(),
        )
        return {"name": name, **found.scores[name].picked(), **more._asdict()}

    def _pair(self, names: Pair, own: Difference) -> Fields:
        lead, bounded = self.found.lead(*names), self.found.bounded_lead(*names)
        more = OfComparison(
            None if lead is None else lead.picked(lead._row),
            None if bounded is None else bounded.picked(("names", *bounded._row)),
        )
        return {**own.picked(), **more._asdict()}

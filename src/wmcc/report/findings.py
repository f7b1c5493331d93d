"""What a report is made of: everything that is computed of one prediction or of several, once."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.joint import JointTable
from ..core.table import Table
from ..inference.comparison import Comparison
from ..inference.contrasts import compare
from ..mapping.accuracy import MapAccuracy
from ..mapping.error_map import ErrorMap
from ..measures.base import Measure
from ..measures.checks import named_measure
from ..present.progress import bar
from ..present.text import number
from ..results.images import ALONE, ImageScores
from ..results.scores import Score, score
from ..robustness.box import WeightBounds
from ..robustness.certificate import Certificate, Curve
from ..robustness.certify import certify
from ..robustness.radii import Radius, radius
from ..robustness.ranking import Lead, Ranking, certify_ranking
from ..robustness.sensitivities import Sensitivity, sensitivity
from .maps import Figure, MapPictures
from .pictures import Gallery
from .thresholds import Thresholds

Pair = tuple[str, str]

GRID = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
"""Values of ε that are certified for the slider of a page, beside the one that was asked for."""

NODES = 200
"""Boxes per end of a range in a small table."""

WORK = 200_000
"""Boxes times cells in a large one: people wait for a report, and see three digits."""

LEADS = 300
"""Boxes per value of ε for the leads over all the others together."""

TOLERANCE = 1e-3
"""How narrow the bracket of a radius is to be, as a share of it: three digits are shown."""

EPS_DIGITS = 6
"""Of an ε that was asked for; rounded down like a radius, since nothing was proved beyond it."""


@dataclass(frozen=True)
class Findings:
    """What was found, by the names of the predictions.

    Parameters
    ----------
    measure
        The one that predictions are compared by.
    scores
        Of each prediction, in the order given.
    best_first
        Names of the predictions, the highest score first; those that have none come last.
    curves, sensitivities
        Certified ranges over ε, and whose weights matter; each says so where the measure is undefined.
    comparisons
        All pairs against chance; None for one prediction.
    leads
        How far weights may be off before the leader may be overtaken, by each other.
    radii
        How far weights may be off while a score is at least as high as was asked, if that was asked.
    bounded, bounded_rankings
        Certified ranges for weights within bounds of their own, if these were given: of each score, and of the
        differences between the leader and each other.
    grid
        Values of ε that ranges were certified for, the smallest first.
    eps, at_least
        What was asked.
    maps
        Accuracy and areas of maps, if predictions are maps.
    images, galleries
        Scores of images, and pictures of those with the lowest, by prediction; if clusters are images.
    error_maps, map_pictures
        Where maps are wrong, by prediction, and pictures of it; if they were given.
    drawings
        Figures that were given.
    unit
        Of the weights, if it is known.
    thresholds
        Of scores, by prediction: the curve, and the choice of the threshold that makes labels of them.
    """

    measure: Measure
    scores: dict[str, Score]
    best_first: list[str]
    curves: dict[str, Curve]
    sensitivities: dict[str, Sensitivity]
    comparisons: Comparison | None
    leads: dict[Pair, Radius]
    radii: dict[str, Radius]
    bounded: dict[str, Certificate]
    bounded_rankings: dict[Pair, Ranking]
    grid: list[float]
    eps: float
    at_least: float | None
    maps: dict[str, MapAccuracy] = field(default_factory=dict)
    images: ImageScores | None = None
    galleries: dict[str, Gallery] = field(default_factory=dict)
    error_maps: dict[str, ErrorMap] = field(default_factory=dict)
    map_pictures: dict[str, MapPictures] = field(default_factory=dict)
    drawings: tuple[Figure, ...] = ()
    unit: str | None = None
    thresholds: dict[str, Thresholds] = field(default_factory=dict)

    @property
    def chosen(self) -> bool:
        """Whether thresholds of scores were chosen on these rows."""
        return any(x.chosen for x in self.thresholds.values())

    @property
    def names(self) -> list[str]:
        """Of the predictions, in the order given."""
        return list(self.scores)

    @property
    def first(self) -> Score:
        """One of the scores, for what all have in common: rows, weights, clusters, level."""
        return next(iter(self.scores.values()))

    @property
    def level(self) -> str:
        """What intervals are called."""
        return f"{number(100 * self.first.confidence_level)} % interval"

    def value(self, name: str) -> float:
        """Score of a prediction."""
        return float(getattr(self.scores[name], self.measure.name))

    def undefined(self, name: str) -> bool:
        """Whether the measure has no value for a prediction, and counts as 0."""
        return self.curves[name].problem is not None

    def range(self, name: str, eps: float) -> Certificate:
        """Certified range of a score at an ε of the grid."""
        return self.curves[name][self.grid.index(eps)]

    def lead(self, name: str, other: str) -> Radius | None:
        """How far weights may be off while the better of two leads, if that was looked for."""
        return self.leads.get((name, other)) or self.leads.get((other, name))

    def bounded_lead(self, name: str, other: str) -> Lead | None:
        """Range of the difference of two for weights within their bounds, if that was looked for."""
        ranking = self.bounded_rankings.get((name, other)) or self.bounded_rankings.get((other, name))
        return None if ranking is None else ranking.only


def findings(
    data: Table | JointTable,
    measure: str | Measure | None,
    eps: float,
    at_least: float | None,
    confidence_level: float,
    progress: bool | None,
    reach: WeightBounds,
) -> Findings:
    """Compute what a report says of predictions; the arguments are those of `wmcc.write_report`."""
    tables, bounds = data.tables if isinstance(data, JointTable) else {ALONE: data}, reach.model == "bounds"
    scores = {name: score(table, confidence_level=confidence_level) for name, table in tables.items()}
    chosen = named_measure(measure or ("mcc" if len(data.labels) == 2 else "ecc"))
    curves, sensitivities, radii, leads, bounded, bounded_rankings = {}, {}, {}, {}, {}, {}
    grid, comparisons = sorted({*GRID, eps}), None
    with bar(progress, "certifying", 2 * len(tables) - 1) as shown:
        for name, table in tables.items():
            nodes = _nodes(len(table.labels) ** 2)
            curves[name] = certify(table, chosen, eps=grid, nodes=nodes)
            sensitivities[name] = sensitivity(table, chosen)
            if at_least is not None:
                radii[name] = radius(table, chosen, at_least=at_least, tolerance=TOLERANCE, nodes=nodes)
            if bounds:
                least, most = (_of_one(bound, name) for bound in (reach.lower, reach.upper))
                bounded[name] = certify(table, chosen, lower=least, upper=most, nodes=nodes)
            shown.advance(1)
        values = {name: getattr(own, chosen.name) for name, own in scores.items()}
        order = sorted(scores, key=lambda name: (curves[name].problem is not None, -values[name]))
        if isinstance(data, JointTable) and len(order) > 1:
            comparisons = compare(data, chosen, confidence_level=confidence_level)
            leader, *others = order
            for other in others:
                pair = data.pair(leader, other)
                nodes = _nodes(len(pair.cells) + len(pair.labels) ** 2, len(others))
                leads[leader, other] = certify_ranking(pair, chosen, eps=eps, nodes=nodes).radius
                if bounds:
                    low, high = (_of_two(bound, leader, other) for bound in (reach.lower, reach.upper))
                    bounded_rankings[leader, other] = certify_ranking(pair, chosen, lower=low, upper=high, nodes=nodes)
                shown.advance(1)
    of_weights = curves, sensitivities, comparisons, leads, radii, bounded, bounded_rankings
    return Findings(chosen, scores, order, *of_weights, grid, eps, at_least)


def _of_one(bound: Table | JointTable | None, name: str) -> Table | None:
    return bound[name] if isinstance(bound, JointTable) else bound


def _of_two(bound: Table | JointTable | None, first: str, second: str) -> JointTable | None:
    return bound.pair(first, second) if isinstance(bound, JointTable) else None


def _nodes(size: int, leads: int = 1) -> int:
    return max(5, min(NODES, LEADS // leads, WORK // max(size, 1)))

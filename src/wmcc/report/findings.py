"""What a report is made of: everything that is computed of one prediction or of several, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.table import Table
from ..errors import UndefinedMeasureError
from ..inference.compare import compare
from ..inference.comparison import Comparisons
from ..measures import MEASURES
from ..measures.base import Measure
from ..measures.checks import check_defined, named_measure
from ..present.text import number
from ..results.score import Score
from ..robustness.certificate import Certificate, Curve
from ..robustness.certify import certify
from ..robustness.radius import Radius, radius
from ..robustness.ranking import certify_ranking
from ..robustness.sensitivity import Sensitivity, sensitivity
from ..sources.progress import bar
from .reading import Joints, Pair

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
        Certified ranges over ε and whose weights matter; None where the measure is undefined.
    comparisons
        All pairs against chance; None for one prediction.
    leads
        How far weights may be off before the leader may be overtaken, by each other; None where it is undefined.
    radii
        How far weights may be off before a score crosses the threshold, if there is one.
    grid
        Values of ε that ranges were certified for, the smallest first.
    eps, threshold
        What was asked.
    """

    measure: Measure
    scores: dict[str, Score]
    best_first: list[str]
    curves: dict[str, Curve | None]
    sensitivities: dict[str, Sensitivity | None]
    comparisons: Comparisons | None
    leads: dict[Pair, Radius | None]
    radii: dict[str, Radius | None]
    grid: list[float]
    eps: float
    threshold: float | None

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

    def range(self, name: str, eps: float) -> Certificate | None:
        """Certified range of a score at an ε of the grid; None where the measure is undefined."""
        curve = self.curves[name]
        return None if curve is None else curve[self.grid.index(eps)]

    def lead(self, name: str, other: str) -> Radius | None:
        """How far weights may be off while the better of two leads, if that was looked for."""
        return self.leads.get((name, other)) or self.leads.get((other, name))


def findings(
    joints: Joints, scores: dict[str, Score], measure: Any, eps: float, threshold: float | None, progress: bool | None
) -> Findings:
    """Compute what a report says of predictions, beyond their scores; the rest is as in `wmcc.write_report`."""
    first = next(iter(scores.values()))
    chosen = _measure(measure, first.table)
    defined = {name: _defined(chosen, found.table) for name, found in scores.items()}
    order = sorted(scores, key=lambda name: (not defined[name], -getattr(scores[name], chosen.name)))
    chances = {pair: compare(joint, chosen, first.confidence_level, names=pair) for pair, joint in joints.items()}
    grid, (leader, *others) = sorted({*GRID, eps}), order
    curves: dict[str, Curve | None] = {}
    sensitivities: dict[str, Sensitivity | None] = {}
    radii: dict[str, Radius | None] = {}
    leads: dict[Pair, Radius | None] = {}
    with bar(progress, "certifying", len(scores) + len(others)) as shown:
        for name, found in scores.items():
            table, nodes = found.table, _nodes(len(found.table.labels) ** 2)
            curves[name] = certify(table, chosen, grid, nodes=nodes) if defined[name] else None
            sensitivities[name] = sensitivity(table, chosen) if defined[name] else None
            if threshold is not None:
                limits: dict[str, Any] = {"tolerance": TOLERANCE, "nodes": nodes}
                radii[name] = radius(table, chosen, threshold=threshold, **limits) if defined[name] else None
            shown.advance(1)
        for other in others:
            leads[leader, other] = _lead(joints, (leader, other), chosen, eps, len(others))
            shown.advance(1)
    comparisons = Comparisons(tuple(scores), chances) if chances else None
    return Findings(chosen, scores, order, curves, sensitivities, comparisons, leads, radii, grid, eps, threshold)


def _nodes(size: int, leads: int = 1) -> int:
    return max(5, min(NODES, LEADS // leads, WORK // max(size, 1)))


def _measure(asked: Any, table: Table) -> Measure:
    if asked is not None:
        return named_measure(asked)
    return MEASURES["mcc" if len(table.labels) == 2 else "ecc"]


def _defined(measure: Measure, table: Table) -> bool:
    try:
        check_defined(measure, table)
    except UndefinedMeasureError:
        return False
    return True


def _lead(joints: Joints, pair: Pair, measure: Measure, eps: float, leads: int) -> Radius | None:
    """How far weights may be off while the first beats the second; ``leads`` are to be found in all."""
    joint = joints[pair] if pair in joints else joints[pair[1], pair[0]]
    if pair not in joints:
        joint = joint.swapped()
    try:
        nodes = _nodes(len(joint.stack) + len(joint.labels) ** 2, leads)
        found: Radius = certify_ranking(joint, measure, eps, names=pair, nodes=nodes).radius
    except UndefinedMeasureError:
        return None
    return found

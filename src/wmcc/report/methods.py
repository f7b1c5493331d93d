"""How to read a report: formulas, and what is meant by the words."""

from __future__ import annotations

from ..measures import CLASS_MEASURES, MEASURES
from .findings import Findings

LETTERS = (
    "C is the table of weights, row = true class, column = predicted class; s its total, r its row sums, q its column "
    "sums, T the sum of its diagonal. d is the diagonal cell of a class. A quotient with denominator 0 counts as 0."
)
INTERVAL = (
    "{error}, with g the slope of the measure; the interval is computed on the artanh (Fisher z) scale and corrected "
    "for skewness and for uneven weights. {drawn} are taken to be drawn independently, with their weights."
)
OF_ROWS = {"error": "The standard error is √(Σ g²·Σw²) over the cells of the table", "drawn": "Rows"}
OF_CLUSTERS = {
    "error": "The standard error is √(Σ u²/(1 − p)) over the clusters, u = Σ w·g over the rows of one, p its share",
    "drawn": "Clusters, with any dependence between their rows,",
}
CERTIFIED = (
    "The smallest and the largest value of the measure over all weights within ±ε of the given ones, each on its own, "
    "by branch and bound with outward rounding. No such weights give a value outside it."
)
COMPARED = [
    ("p", "Two-sided, and paired: all predictions are of the same rows. Holm's correction for several pairs."),
    ("Leads up to", "The largest ε for which it was proved that the leader scores higher for all weights within ±ε."),
]


def methods(found: Findings) -> list[tuple[str, str]]:
    """Terms and what they mean, formulas included."""
    shown = [m for m in MEASURES.values() if getattr(found.first, m.name) is not None]
    formulas = [(m.title, m.formula) for m in shown]
    of_classes = [(f"{m.title} of a class", m.formula) for m in CLASS_MEASURES.values()]
    rest = [
        (found.level.capitalize(), INTERVAL.format(**(OF_ROWS if found.first.clusters is None else OF_CLUSTERS))),
        ("Certified range", CERTIFIED),
        ("Effective rows", "(Σw)² / Σw²: how many rows of equal weight would estimate a mean as precisely."),
        (
            "*",
            "Unreliable: the interval may contain the true value less often than its level says; or there is none.",
        ),
    ]
    if found.comparisons is not None:
        rest += COMPARED
    return [("Letters", LETTERS), *formulas, *of_classes, *rest]

"""How to read a report: formulas, and what is meant by the words."""

from __future__ import annotations

from ..core.design import SampleDesign
from ..measures import CLASS_MEASURES, MEASURES
from ..present.text import counted
from .findings import Findings

LETTERS = (
    "C is the table of weights, row = true class, column = predicted class; s its total, r its row sums, q its column "
    "sums, T the sum of its diagonal. d is the diagonal cell of a class. A quotient with denominator 0 counts as 0."
)
INTERVAL = (
    "{error}, with g the slope of the measure; the interval is computed on the artanh (Fisher z) scale, with Student's "
    "distribution, whose degrees of freedom are fewer for uneven weights. {drawn} are taken to be drawn independently, "
    "with their weights."
)
OF_ROWS = {"error": "The standard error is √(Σ g²·Σw²) over the cells of the table", "drawn": "Rows"}
OF_CLUSTERS = {
    "error": "The standard error is √(Σ u²/(1 − p)) over the clusters, u = Σ w·g over the rows of one, p its share",
    "drawn": "Clusters, with any dependence between their rows,",
}
OF_DESIGN = (
    "{error}. g is the slope of the measure; the interval is computed on the artanh (Fisher z) scale, with Student's "
    "distribution. It allows for what strata without an error may have missed."
)
OF_STRATA = (
    "The standard error is √(Σ (1 − f)·m/(m − 1)·Σ (z − z̄)²) over the strata, z = Σ w·g over each of the m sampled "
    "{units} of a stratum, f the share that was sampled of a finite population, 0 without one"
)
OF_ONE_STRATUM = (
    "The standard error is √((1 − f)·m/(m − 1)·Σ (z − z̄)²), z = Σ w·g over each of the m sampled {units}, f the share "
    "that was sampled of a finite population, 0 without one"
)
OF_POSTSTRATA = (
    ". Weights are scaled to the known totals of {count}; for each row the mean of g in its post-stratum is subtracted "
    "from g, here written as g as well"
)
OF_REPLICATES = (
    "The standard error is √(Σ a·(M_r − M)²), M_r the score with the weights of replicate r and a its factor; the "
    "interval is computed on the artanh (Fisher z) scale, with Student's distribution."
)
CERTIFIED = (
    "The smallest and the largest value of the measure over all weights within ±ε of the given ones, each on its own, "
    "by branch and bound with outward rounding. No such weights give a value outside it."
)
FREEDOM = (
    "Degrees of freedom of the standard error, as far as few clusters or uneven weights limit them. With few, the "
    "standard error itself is not known well, and the interval is longer for it. Shown where some are below 30."
)
BOUNDED = "The same over all weights between the smallest and the largest weight that each row may have."
COMPARED = [
    ("p", "Two-sided, and paired: all predictions are of the same rows. Holm's correction for several pairs."),
    ("Leads up to", "The largest ε for which it was proved that the leader scores higher for all weights within ±ε."),
]
MAPPED = [
    ("User's accuracy", "Precision: the share of what is mapped as a class that is this class."),
    ("Producer's accuracy", "Recall: the share of a class that is mapped as it."),
    (
        "Area",
        "The area of the map times the share of a class in the reference labels. It is not the mapped area, which has "
        "the errors of the map in it.",
    ),
    ("Quantity disagreement", "½ Σ |r_k − q_k| / s: how much the areas of classes differ between map and reference."),
    ("Allocation disagreement", "1 − T / s − quantity: places that differ though the areas agree."),
    ("Exchange, shift", "Parts of the allocation: Σ 2 min(C_ab, C_ba) / s over pairs of classes, and the rest."),
    (
        "Intervals of disagreement",
        "Where it is not clear which of two areas or confusions is the larger, an end is the outermost over both "
        "cases, or one that holds in both.",
    ),
]


def interval_text(drawn: SampleDesign) -> str:
    """Say how intervals are computed."""
    if drawn.kind == "replicates":
        return OF_REPLICATES
    if drawn.kind == "strata":
        assert drawn.design is not None
        post, one = drawn.design.poststrata, drawn.design.strata == ((),)
        error = (OF_ONE_STRATUM if one else OF_STRATA).format(units="clusters" if drawn.clusters else "rows")
        if post is not None:
            error += OF_POSTSTRATA.format(count=counted(len(post.keys), "post-stratum", "post-strata"))
        return OF_DESIGN.format(error=error)
    return INTERVAL.format(**(OF_CLUSTERS if drawn.kind == "clusters" else OF_ROWS))


def methods(found: Findings) -> list[tuple[str, str]]:
    """Terms and what they mean, formulas included."""
    shown = [m for m in MEASURES.values() if getattr(found.first, m.name) is not None]
    formulas = [(m.title, m.formula) for m in shown]
    of_classes = [(f"{m.title} of a class", m.formula) for m in CLASS_MEASURES.values()]
    rest = [
        (found.level.capitalize(), interval_text(found.first.table.drawn)),
        ("Certified range", CERTIFIED),
        ("Effective rows", "(Σw)² / Σw²: how many rows of equal weight would estimate a mean as precisely."),
        ("*", "Unreliable: the interval may contain the true value less often than its level says; or there is none."),
    ]
    if any(score.freedom for score in found.scores.values()):
        rest.append(("df", FREEDOM))
    if found.bounded:
        rest.insert(2, ("Within their bounds", BOUNDED))
    if found.comparisons is not None:
        rest += COMPARED
    if found.maps:
        rest += MAPPED
    return [("Letters", LETTERS), *formulas, *of_classes, *rest]

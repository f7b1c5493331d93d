"""Whether one classifier scores higher than another, or chance may have decided: paired tests from one joint table."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, nan
from typing import Any

import numpy as np

from ..core.joint import JointTable
from ..errors import InputError, InputTypeError
from ..measures.base import Measure, Shares
from ..measures.checks import after_joint_table, checked_number, named_measure
from ..measures.stacks import root, total
from ..sources.predictions import checked_names, predictions
from .comparison import Comparison, Comparisons
from .influence import Cells, Clusters, balanced, of_data, sampled
from .interval import FAR_APART, NOTHING, checked_level, clustered, counted, quietly, scored, too_few, with_cluster
from .pivot import Pivot
from .reliability import comparison_doubts, that_hold


def compare(
    y_true: Any,
    pred_a: Any = None,
    pred_b: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    measure: Any = "ecc",
    confidence_level: float = 0.95,
    cluster: Any = None,
    margin: float | None = None,
    names: Any = None,
    **options: Any,
) -> Any:
    """Compare classifiers on the same rows: the difference of their scores, its interval and a p-value.

    It takes a joint table, and then the measure; rows with two predictions; or several predictions::

        compare(joint, "mcc")
        compare(y_true, pred_a, pred_b, sample_weight, measure="mcc")
        compare(y_true, {"forest": pred_a, "net": pred_b, "old": pred_c}, sample_weight=w)
        compare(frame, "label", ["forest", "net", "old"], weight="area", cluster="scene")

    Parameters
    ----------
    y_true, pred_a, pred_b, sample_weight, weight, **options
        A `wmcc.JointTable`, or a dict of them, one per cluster; or what `wmcc.joint_table` takes, where a list or dict
        of predictions may stand for two.
    measure, confidence_level
        As in `wmcc.interval`.
    cluster
        What rows belong together, a key per row or a column: they need not be independent of each other.
    margin
        How much lower a score may be and still be good enough: asks as well whether the first is worse than the second
        by less than that (`Comparison.p_noninferior`).
    names
        What to call the classifiers; by default the keys of the dict, the columns, or a, b, c …

    Returns
    -------
    Comparison
        Of two. For more, `Comparisons`: one for each pair, p-values corrected by Holm's method, and a ranking that says
        who is told apart from whom.

    Examples
    --------
    >>> import wmcc
    >>> truth = [0, 0, 1, 1, 2, 2] * 30
    >>> good, fair = [0, 0, 1, 1, 2, 0] * 30, [0, 0, 1, 2, 0, 0] * 30
    >>> wmcc.compare(truth, good, fair, names=["good", "fair"])
    ECC (R_K) of good − fair: 0.4947, 95 % interval 0.4030 to 0.5863 (se 0.0464)
    p < 0.0001: good scores higher than fair (good 0.7833, fair 0.2887)
    """
    asked: dict[str, Any] = {"measure": measure, "confidence_level": confidence_level}
    given = (pred_a, pred_b, sample_weight)
    joint = clustered(y_true, JointTable)
    if isinstance(joint, JointTable):
        asked = after_joint_table(asked, given, weight, with_cluster(options, cluster))
    found, level = named_measure(asked["measure"]), checked_level(asked["confidence_level"])
    least = checked_margin(margin)
    if isinstance(joint, JointTable):
        data, chosen = {(0, 1): joint}, checked_names(names, None, 2)
    else:
        if options.get("by") is not None:
            raise InputTypeError(
                "by= makes one table per group, and here one is compared.",
                "rows that belong together are named with cluster=; groups are compared one by one.",
            )
        several = predictions(y_true, *given, weight, with_cluster(options, cluster), names)
        data, chosen = several.joints(), several.names
    pairs = {
        (chosen[i], chosen[j]): _compared(sampled(one), found, level, least, (chosen[i], chosen[j]))
        for (i, j), one in data.items()
    }
    return next(iter(pairs.values())) if len(chosen) == 2 else Comparisons(chosen, pairs)


def checked_margin(margin: Any) -> float | None:
    """Return a margin, if it is one; None if nothing was asked."""
    if margin is None:
        return None
    found = checked_number(margin, "margin")
    if found < 0:
        raise InputError(f"margin is {margin!r}; expected how much lower a score may be, a number of at least 0.")
    return found


@quietly
def _compared(
    data: JointTable | Clusters, measure: Measure, level: float, margin: float | None, names: tuple[str, str]
) -> Comparison:
    """Compare the two predictions of a joint table."""
    joint = data.whole if isinstance(data, Clusters) else data
    clusters = data.count if isinstance(data, Clusters) else None
    tables = joint.first, joint.second
    (a, no_a), (b, no_b) = (scored(measure, table) for table in tables)
    cells = Cells.of(joint)
    n_eff = data.n_eff if isinstance(data, Clusters) else float(1 / total(cells.w2))

    none = Comparison(names, measure.name, level, (a, b), a - b, nan, nan, nan, nan, nan, n_eff, clusters, margin)
    problem = no_a or no_b or too_few(*counted(data), n_eff)
    if problem is not None:
        return replace(none, problem=problem)
    slopes = [measure.slope(Shares.of(table), x) for table, x in zip(tables, (a, b), strict=True)]
    t, first, second = cells.codes
    slope = balanced(slopes[0].at(t, first) - slopes[1].at(t, second), cells)
    found = of_data(slope, cells, data)
    if not isfinite(found.variance):
        return replace(none, problem=FAR_APART)
    if not found.variance > NOTHING:
        if (first == second).all():
            why = "they predict the same for every row, so there is no sampling error to go by"
            return replace(none, se=0.0, p_value=1.0, problem=why)
        moved = "rows" if clusters is None else f"{clusters:,} clusters"
        why = f"all {moved} moved the difference alike, so how it varies cannot be seen"
        return replace(none, problem=why)
    se = float(root(found.variance))
    # Heavy rows move difference and standard error alike, which makes their quotient less extreme, not more: so neither
    # the variance's own degrees of freedom nor its skewness, which is mostly noise here, come in.
    df = max(n_eff - 1, 1.0)
    pivot = Pivot(a - b, se, 0.0, 0.0, df)
    low, high = (float(np.clip(x, -span(measure), span(measure))) for x in pivot.ends(level))
    worse = None if margin is None else float(pivot.upper_tail(-margin))
    effective = n_eff if isinstance(data, Clusters) else None
    doubts = comparison_doubts(measure, slope, cells, found.variance, effective)
    warnings, p = that_hold(doubts), float(pivot.p_value())
    return replace(none, low=low, high=high, se=se, df=df, p_value=p, p_noninferior=worse, warnings=warnings)


def span(measure: Measure) -> float:
    """Largest possible difference of two scores."""
    return measure.range[1] - measure.range[0]

"""`wmcc.interval`: how far a score may be off because the rows are a sample."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ..core.labels import Label
from ..core.score_table import ScoreTable, as_scores
from ..core.table import Table, Tabulated, one_table
from ..errors import InputError
from ..measures import ExpectedGain
from ..measures.base import ClassMeasureName, Measure, MeasureName, ScoreMeasureName, for_tabulated
from ..measures.checks import checked_level, named_class_measure, named_measure
from ..measures.companions import ClassMeasure
from .answer import TITLES_OF_SCORES
from .bootstrap import bootstrap_interval, resample_table
from .classes import class_interval, measure_and_class
from .estimate import Interval, estimate
from .influence import Sample

Method = Literal["fisher", "delta", "bootstrap"]


@for_tabulated()
def interval(
    table: Tabulated | ScoreTable,
    measure: MeasureName | ClassMeasureName | Measure | ClassMeasure | ScoreMeasureName | ExpectedGain = "ecc",
    *,
    of: Label | None = None,
    confidence_level: float = 0.95,
    method: Method = "fisher",
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Compute the confidence interval of a score.

    Parameters
    ----------
    table
        A `wmcc.Table`, which knows how its rows were drawn: independently, in clusters of possibly dependent rows, in
        strata, or as replicate weights say. Or a `ScoreTable`, for ``"roc_auc"`` and ``"average_precision"``.
    measure
        A measure of the whole table, or its name; with ``of``, a measure of one class: ``"precision"``, ``"recall"``,
        ``"f1"``, ``"iou"`` or ``"mcc"``. Or a `wmcc.measures.ExpectedGain`.
    of
        The class whose own score is meant; of an expected gain the positive class, by default that of the table.
    confidence_level
        Probability with which such intervals contain the true score.
    method
        ``"fisher"``: ± a quantile of Student's distribution times the standard error, on the artanh (Fisher z) scale,
        where scores are nearly normal; uneven weights leave fewer degrees of freedom. ``"delta"``: the score ± a normal
        quantile of standard errors, within the measure's range. ``"bootstrap"``: percentiles of resampled clusters, or
        of resampled rows where all rows of a cell have the same weight; `wmcc.bootstrap` resamples rows of any
        weights. It is not for strata and replicate weights.
    resamples, seed
        Of the bootstrap: how many, and from which random numbers.

    Returns
    -------
    Interval
        Its `warnings` say why it may be unreliable, and its `problem` why it cannot be estimated.

    Notes
    -----
    The standard error is √(Σ g²·Σw²), with g the gradient over the cells of the table: no row is needed. Rows, with
    their weights, are taken to be drawn independently. Under a ``design`` of `wmcc.tabulate` it is that of the design.
    See docs/understand/inference.md: derivation, measured coverage.

    Examples
    --------
    >>> import wmcc
    >>> truth, guess = [0, 0, 0, 1, 1, 1] * 20, [0, 0, 1, 1, 1, 0] * 20
    >>> wmcc.interval(wmcc.tabulate(truth, guess), "mcc")
    MCC 0.3333, 95 % interval 0.1536 to 0.4917 (fisher, se 0.0861)
    >>> wmcc.interval(wmcc.tabulate(truth, guess), "recall", of=1)
    Recall of 1 0.6667, 95 % interval 0.5362 to 0.7758 (fisher, se 0.0609)
    >>> tiles = wmcc.tabulate(truth, guess, cluster=[k // 7 for k in range(120)])
    >>> wmcc.interval(tiles, "mcc").clusters
    18
    >>> design = wmcc.Strata(["hill"] * 40 + ["plain"] * 80, population={"hill": 9, "plain": 1})
    >>> wmcc.interval(wmcc.tabulate(truth, guess, design=design), "mcc")
    MCC 0.3478, 95 % interval 0.0517 to 0.5877 (fisher, 2 strata, se 0.1353)
    """
    level = checked_level(confidence_level)
    if getattr(measure, "name", measure) in TITLES_OF_SCORES:
        table = as_scores(table)
    if isinstance(table, ScoreTable):
        from .scores.measures import named_score_measure, score_interval  # which tables of labels do without

        return score_interval(table, named_score_measure(measure), level)
    given = one_table(table)
    if method not in ("fisher", "delta", "bootstrap"):
        raise InputError.of("method", method, "'fisher', 'delta' or 'bootstrap'")

    def made(sample: Sample[Table], chosen: Measure) -> Interval:
        if method == "bootstrap":
            return bootstrap_interval(sample, chosen, level, lambda: resample_table(sample, resamples, seed))
        return estimate(sample, chosen, level, method)

    if isinstance(measure, ExpectedGain):
        gain, label = measure_and_class(measure, of, given)
        assert label is not None  # it is the positive class
        return replace(made(Sample.of(given.against_rest(label)), gain), label=label)
    if of is None:
        return made(Sample.of(given), named_measure(measure))
    return class_interval(given, named_class_measure(measure).name, of, level, method, made)

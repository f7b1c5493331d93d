"""`wmcc.compare`: whether one classifier scores higher than another, or chance may have decided.

Predictions of the same rows are compared by their joint table; of the same clusters, by a table of each that knows its
clusters; of different rows, by a table of each. Derived in docs/understand/inference.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations
from math import exp, hypot, isfinite, log, nan, sqrt
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.base_table import positions
from ..core.design import SampleDesign
from ..core.joint import JointTable, several_predictions
from ..core.keys import Key
from ..core.labels import Label, listed, merged
from ..core.score_table import ScoreTable
from ..core.stack import Beside
from ..core.table import Table, Tabulated, one_table
from ..core.tables import Tables
from ..errors import InputError, InputTypeError
from ..measures import ExpectedGain
from ..measures.base import ClassMeasureName, Measure, MeasureName, ScoreMeasureName, Shares, for_tabulated
from ..measures.checks import checked_level, checked_margin
from ..measures.companions import ClassMeasure
from ..measures.stacks import over
from ..present.pairs import Pair
from ..present.text import number
from . import reliability
from .cells import Precision, balance
from .classes import class_part, class_spread, measure_and_class, two_classes
from .comparison import Comparison, Difference, with_holm
from .estimate import TAIL, Spread, quietly, spread, that_hold, value_or_problem, widened
from .influence import Sample
from .pivot import Pivot
from .reliability import FAR_APART, FEW_CLUSTERS, NOTHING, SHORT
from .strata import StratifiedSample
from .zero_error_strata import Predicted, missed_ends

Samples = Literal["clusters", "independent"]
Kind = Literal["rows", "clusters", "independent", "groups"]

MOST_GROUPS = 100
"""Groups that are compared with each other at most: 4,950 pairs."""

SMALLEST, BISECTIONS = 1e-300, 60
"""The smallest chance that is looked for, and how often the place of one is halved: to 15 digits of its logarithm."""

ROUNDED = 1e-9
"""Share by which sums of the same weights may differ: engines add them up in any order, and round."""

SAME_PREDICTIONS = "they predict the same for every row, so the difference has no sampling error"
FEW_CLUSTERS_DIFFER = f"the predictions differ in fewer than {FEW_CLUSTERS:.0f} effective clusters; {SHORT}"


# fmt: off
@overload
def compare(
    predictions: JointTable,
    measure: MeasureName | ClassMeasureName | Measure | ClassMeasure | ExpectedGain = ..., *,
    of: Label | None = ..., confidence_level: float = ..., margin: float | None = ...,
) -> Comparison: ...
@overload
def compare(
    predictions: ScoreTable,
    measure: MeasureName | ClassMeasureName | ScoreMeasureName | Measure | ClassMeasure | ExpectedGain = ..., *,
    threshold: float | Mapping[str, float] | Literal["best"] | None = ..., of: Label | None = ...,
    confidence_level: float = ..., margin: float | None = ...,
) -> Comparison: ...
@overload
def compare(
    predictions: Mapping[str, Tabulated],
    measure: MeasureName | ClassMeasureName | Measure | ClassMeasure | ExpectedGain = ..., *, sample: Samples,
    of: Label | None = ..., confidence_level: float = ..., margin: float | None = ...,
) -> Comparison: ...
@overload
def compare(
    predictions: Tables[Table],
    measure: MeasureName | ClassMeasureName | Measure | ClassMeasure = ..., *,
    of: Label | None = ..., confidence_level: float = ..., margin: float | None = ...,
) -> Comparison: ...
# fmt: on
@for_tabulated()
def compare(
    predictions: JointTable | ScoreTable | Mapping[str, Tabulated] | Tables[Table],
    measure: MeasureName | ClassMeasureName | Measure | ClassMeasure | ScoreMeasureName | ExpectedGain = "ecc",
    *,
    sample: Samples | None = None,
    of: Label | None = None,
    threshold: float | Mapping[str, float] | Literal["best"] | None = None,
    confidence_level: float = 0.95,
    margin: float | None = None,
) -> Comparison:
    """Compare classifiers: the difference of their scores, its interval and a p-value.

    Parameters
    ----------
    predictions
        A `wmcc.JointTable` of two predictions or more of the same rows: ``wmcc.tabulate(y_true, {"A": a, "B": b})``. Or
        a mapping from names to tables, and then ``sample`` says how they belong together.
        Of several scores a `ScoreTable`, and ``threshold``. Or a `Tables`, whose groups are compared with each other:
        they are parts of one sample, and what their scores have in common through its clusters, strata or replicate
        weights is taken into account.
    measure, of, confidence_level
        As in `wmcc.interval`: ``compare(joint, "iou", of="road")`` compares the scores of one class.
    sample
        With a mapping of tables. ``"clusters"``: the tables are of the same clusters of the same rows, and were
        tabulated with ``cluster``, maybe at different times. ``"independent"``: they are of different rows, such as
        those of this week and of last week. Clusters in strata are paired by stratum and cluster. For groups of one
        sample under a design (``by`` with `wmcc.Strata` or `wmcc.Replicates`) give ``"clusters"``, even if rows were
        drawn: the units of the sample are in all of its groups.
    threshold
        Of scores: a number, or a mapping from names. ``"best"`` takes the best threshold of each, and the interval
        allows for the choice. ``"roc_auc"`` and ``"average_precision"`` need none.
    margin
        Margin of non-inferiority: also test whether the first scores lower than the second by less than this
        (`Comparison.p_noninferior`).

    Returns
    -------
    Comparison
        For more than two predictions p-values are corrected by Holm's method, and a ranking says which differ
        significantly.

    Examples
    --------
    >>> import wmcc
    >>> truth = [0, 0, 1, 1, 2, 2] * 30
    >>> good, fair = [0, 0, 1, 1, 2, 0] * 30, [0, 0, 1, 2, 0, 0] * 30
    >>> wmcc.compare(wmcc.tabulate(truth, {"good": good, "fair": fair}))
    Differences of ECC (R_K), 180 rows
    First        Second       First − second     95 % interval         p
    good 0.7833  fair 0.2887          0.4947  0.4030 to 0.5863  < 0.0001
    <BLANKLINE>
    good scores higher than fair.
    >>> last, this = wmcc.tabulate(truth, good), wmcc.tabulate(truth[:90], fair[:90])
    >>> wmcc.compare({"this week": this, "last week": last}, sample="independent").verdict
    'last week scores higher than this week'
    >>> homes = [k // 9 for k in range(180)]
    >>> ages = ["old" if k * k % 5 < 2 else "young" for k in range(180)]
    >>> wmcc.compare(wmcc.tabulate(truth, fair, by=ages, cluster=homes), "accuracy")
    Differences of Accuracy, 180 rows in 20 clusters
    First       Second        First − second      95 % interval       p
    old 0.5000  young 0.5000          0.0000  -0.2110 to 0.2110  1.0000
    <BLANKLINE>
    old and young do not differ significantly.
    The groups are parts of one sample: standard errors take account of the clusters that they have in common.
    """
    if isinstance(predictions, ScoreTable):
        if threshold is None or threshold == "best":
            from .scores.comparison import compare_scores  # which tables of labels do without

            return compare_scores(
                predictions, measure, checked_level(confidence_level), checked_margin(margin), threshold
            )
        if isinstance(measure, ExpectedGain) and of is None:
            of = predictions.positive
        word: Any = threshold  # which types do not allow
        if isinstance(word, str):
            expected = "a number, a mapping from names to numbers, or 'best'"
            raise InputError(f"`threshold` is {threshold!r}; expected {expected}.", argument="threshold")
        predictions = predictions.at(threshold)
    elif threshold is not None:
        raise InputTypeError("`threshold` is for scores.", "write wmcc.tabulate(y_true, score={'A': a, 'B': b}).")
    joint: JointTable | None = None
    if not isinstance(predictions, Mapping) or (isinstance(predictions, Tables) and predictions.names):
        joint = several_predictions(predictions)  # type: ignore[arg-type]
    first = joint or next(iter(predictions.values()), None)  # type: ignore[union-attr]
    chosen, of = measure_and_class(measure, of, getattr(first, "table", first))
    contrast = Contrast(chosen, of, checked_level(confidence_level), checked_margin(margin))
    kind: Kind
    if isinstance(predictions, Tables) and joint is None:
        tables, kind, of_other_rows = _groups(predictions, sample), "groups", True
        differences = contrast.of_groups(tables)
    elif joint is None:
        kind, tables = _named_tables(predictions, sample)  # type: ignore[arg-type]
        differences, of_other_rows = contrast.of_tables(tables, kind)
    else:
        if sample is not None:
            raise InputTypeError("`sample` is for a mapping of tables; a joint table is always of the same rows.")
        tables, kind, of_other_rows = joint.tables, "clusters" if joint.drawn.clusters else "rows", False
        differences = [contrast.same_rows(joint, pair) for pair in combinations(joint.names, 2)]
    counted = list(tables.values())[: None if of_other_rows else 1]
    sizes = sum(table.rows for table in counted), sum(table.ignored for table in counted)
    doubts = reliability.doubts_of(*(table.drawn for table in tables.values()))
    pairs = with_holm(x if x.problem else replace(x, warnings=(*doubts, *x.warnings)) for x in differences)
    return Comparison(tuple(tables), contrast.measure.name, contrast.level, kind, pairs, *sizes, tables, of)


class Seen(NamedTuple):
    """What a difference needs of one table."""

    table: Table  # of all rows; where the score is that of a class, of the class and the rest
    value: float
    problem: str | None  # why the score has no standard error
    sample: Sample[Table]  # the rows that the score is about


Both = tuple[Seen, Seen]


def _first_problem(names: Pair, both: Iterable[Seen | Spread]) -> str | None:
    """Say which of the two has no standard error, and why."""
    return next((f"{name}: {x.problem}" for name, x in zip(names, both, strict=True) if x.problem), None)


@dataclass(frozen=True)
class Contrast:
    """What is compared, at which level and by which margin."""

    measure: Measure  # of whole tables; or of tables of a class and the rest, where there is a label
    label: Label | None  # the class whose own scores are compared
    level: float
    margin: float | None

    def seen(self, table: Table) -> Seen:
        """Score a table, and take the rows that the score is about."""
        sample = Sample.of(table if self.label is None else table.against_rest(self.label))
        value, problem = value_or_problem(self.measure, sample)
        if self.label is None or problem is not None or table.drawn.by_design:
            return Seen(sample.table, value, problem, sample)
        part = Sample.of(class_part(table, self.measure.name, self.label))
        return Seen(sample.table, value, part.few, part)

    # ---- ways to belong together --------------------------------------------------------------------------

    def of_tables(self, tables: dict[str, Table], kind: Kind) -> tuple[list[Difference], bool]:
        """Compare tables of the same clusters or of different rows; and say whether the rows are different."""
        groups = _are_groups(tables)
        if groups and kind == "clusters":
            return self.of_groups(tables), True
        if kind == "independent":
            _check_apart(tables)
        else:
            _check_same_rows(tables)
        test = self.same_clusters if kind == "clusters" else self.independent
        parts = {name: self.seen(table) for name, table in tables.items()}
        return [test((a, b), parts[a], parts[b]) for a, b in combinations(tables, 2)], kind == "independent"

    def of_groups(self, tables: dict[str, Table]) -> list[Difference]:
        """Compare groups of one sample."""
        parts = {name: self.seen(table) for name, table in tables.items()}
        test = partial(self.independent, shared=next(iter(tables.values())).drawn.kind not in ("rows", "pairs"))
        return [test((a, b), parts[a], parts[b]) for a, b in combinations(tables, 2)]

    @quietly
    def same_rows(self, several: JointTable, names: Pair) -> Difference:
        """Compare two predictions of a joint table."""
        a, b = (self.seen(several[name]) for name in names)
        problem = a.problem or b.problem
        if problem is not None:
            return self._difference(names, (a, b), a.sample.n_eff, problem)
        if self.label is not None and a.sample.clusters is not None:  # each score rests on rows of its own in a cluster
            return self.same_clusters(names, a, b)
        if a.sample.replication is not None:
            return self._same_replicates(names, a, b)
        joint = several if several.names == names else several.pair(*names)
        if self.label is not None:  # rows that the scores of the class are about; under a design, all rows
            of_class = partial(class_part, name=self.measure.name)
            joint = (two_classes if joint.drawn.by_design else of_class)(joint, label=self.label)
        sample = Sample.of(joint)
        cells = sample.cells
        few = sample.few
        none = self._difference(names, (a, b), sample.n_eff, few)
        if few is not None:
            return none
        tables = [several[name] for name in names] if self.label is None else sample.table.tables.values()
        scored = zip(tables, (a.value, b.value), strict=True)
        slopes = [self.measure.slope(Shares.of(table), value) for table, value in scored]
        slope = balance(slopes[0].at(*cells.codes[[0, 1]]) - slopes[1].at(*cells.codes[[0, 2]]), cells)
        if sample.strata is not None:
            return self._joint_in_strata(none, (a, b), sample, sample.strata, slope)
        precision = sample.precision_of_difference(slope)
        if not precision.variance > NOTHING and (cells.codes[1] == cells.codes[2]).all():
            return replace(none, problem=SAME_PREDICTIONS)
        effective = None if sample.drawn_clusters is None else sample.n_eff
        doubts = reliability.comparison_doubts(self.measure, slope, cells, precision.variance, effective)
        return self._test(none, precision, that_hold(doubts))

    def _joint_in_strata(
        self, none: Difference, both: Both, sample: Sample[JointTable], strata: StratifiedSample, slope: FloatArray
    ) -> Difference:
        """Compare two predictions of rows that were drawn in strata: by what varied, and by what may be missed."""
        moments, codes = strata.moments(slope), sample.cells.codes
        precision, row_variance = strata.precision(moments), strata.row_variance_of_two(slope, codes)
        if strata.varying.any() and not precision.variance > NOTHING and (codes[1] == codes[2]).all():
            return replace(none, problem=SAME_PREDICTIONS)
        constant = strata.constant(moments, row_variance, NOTHING)
        warnings = that_hold(reliability.strata_comparison_doubts(row_variance, sample.cells, strata, *precision[:2]))
        return self._test_in_strata(none, both, precision, warnings, strata, constant, strata.wrong_part)

    def _test_in_strata(
        self, none: Difference, both: Both, precision: Precision, warnings: tuple[str, ...],
        strata: StratifiedSample, constant: Array, part: float,
    ) -> Difference:  # fmt: skip
        """Test a difference under a design; constant strata are those in which nothing was seen that varies it."""
        if not strata.varying.any():  # all there is was drawn
            worse = None if none.margin is None else float(none.value <= -none.margin)
            p = float(none.value == 0)
            return replace(none, low=none.value, high=none.value, se=0.0, p_value=p, p_noninferior=worse)
        tested = self._test(none, precision, warnings)
        if tested.problem is not None or not constant.any():
            return tested
        value, seen = none.value, self._pivot(none, precision)
        predicted = [Predicted(x.sample.cells, x.sample.strata) for x in both if x.sample.strata is not None]
        missed = missed_ends(self.measure, value, predicted, constant, part)

        @cache
        def ends(tail: float) -> tuple[float, float]:
            return widened(value, seen.ends(tail), missed(tail))

        if reliability.matters(seen.ends(TAIL), ends(TAIL), value):
            note = reliability.constant_strata_note(strata, constant, "difference")
            tested = replace(tested, warnings=(*warnings, note))
        return self._inverted(tested, ends)

    def _same_replicates(self, names: Pair, a: Seen, b: Seen) -> Difference:
        """Compare two predictions of the same rows: replicate weights move both scores, and their difference."""
        assert a.sample.replication is not None
        assert b.sample.replication is not None
        moved, problem_of_a = a.sample.replication.moved(self.measure, a.sample, a.value)
        less, problem_of_b = b.sample.replication.moved(self.measure, b.sample, b.value)
        none = self._difference(names, (a, b), a.sample.n_eff, problem_of_a or problem_of_b)
        if none.problem is not None:
            return none
        precision = a.sample.replication.precision(moved - less)
        warnings = that_hold({reliability.FREEDOM_IS_LITTLE: precision.df < reliability.FEW_FREE})
        return self._test(none, precision, warnings)

    @quietly
    def same_clusters(self, names: Pair, a: Seen, b: Seen) -> Difference:
        """Compare two tables of the same clusters of the same rows."""
        n_eff = min(a.sample.n_eff, b.sample.n_eff)
        problem, strata = a.problem or b.problem, a.sample.strata
        census = strata is not None and not strata.varying.any()
        if problem is None and a.table.raw_cells == b.table.raw_cells and not census:
            problem = "their tables are the same in every cluster, so the difference has no sampling error"
        none = self._difference(names, (a, b), n_eff, problem)
        if problem is not None:
            return none
        differing, part, effective = _differing(a, b)
        warnings = {reliability.CLUSTERS_ARE_FEW: n_eff < FEW_CLUSTERS, FEW_CLUSTERS_DIFFER: effective < FEW_CLUSTERS}
        if strata is not None and b.sample.strata is not None:
            z = strata.influences(self._slope(a)) - b.sample.strata.influences(self._slope(b))
            precision = strata.precision(strata.of_units(z))
            constant = strata.varying & ~strata.of_some(differing)
            return self._test_in_strata(none, (a, b), precision, that_hold(warnings), strata, constant, part)
        return self._test(none, self._of_clusters(a, b), that_hold(warnings))

    @quietly
    def independent(self, names: Pair, a: Seen, b: Seen, shared: bool = False) -> Difference:
        """Compare two tables of different rows: their intervals are put together, by squares of their lengths.

        Groups of one sample have ``shared`` units: they are compared as independent ones, less what their scores have
        in common.
        """
        units = 1 if shared else 2
        none = self._difference(names, (a, b), a.sample.n_eff + b.sample.n_eff, _first_problem(names, (a, b)), 2, units)
        if shared and a.sample.clusters is not None:
            there = {*a.sample.table.drawn.clusters, *b.sample.table.drawn.clusters}
            none = replace(none, clusters=len(there))
        if none.problem is not None:
            return none
        first, second = spreads = [self._spread(x) for x in (a, b)]
        problem = _first_problem(names, spreads)
        if problem is not None:
            return replace(none, problem=problem)
        joined = Joined(first, second)
        se, df = joined.se, joined.df
        if shared:
            variance, df, _ = self._of_groups(a, b)
            se = sqrt(variance)
            common = over(first.se**2 + second.se**2 - variance, 2 * first.se * second.se)
            joined = Joined(first, second, float(np.clip(common, -1.0, 1.0)))
        warnings = tuple(f"{name}: {why}" for name, x in zip(names, spreads, strict=True) for why in x.warnings)
        return self._inverted(replace(none, se=se, df=df, warnings=warnings), joined.ends)

    def _of_groups(self, a: Seen, b: Seen) -> Precision:
        """Return how precise the difference of two groups of one sample is."""
        if a.sample.replication is not None and b.sample.replication is not None:
            one, other = a.sample.replication, b.sample.replication
            moved = one.values(self.measure, a.sample.cells) - other.values(self.measure, b.sample.cells)
            return one.precision(moved - (a.value - b.value))
        first, second = a.sample.strata, b.sample.strata
        if first is None:
            return self._of_clusters(a, b)
        assert second is not None
        slopes = [self._slope(x) for x in (a, b)]
        if first.nested:
            return first.precision(first.of_units(first.influences(slopes[0]) - second.influences(slopes[1])))
        return first.precision(first.moments(slopes[0]).less(second.moments(slopes[1]), first.m))

    def _of_clusters(self, a: Seen, b: Seen) -> Precision:
        """Return how precise the difference of two scores is, of clusters that are paired by their keys.

        A cluster without a row in one of the two moves the other alone.
        """
        moved: dict[Key, float] = {}
        for side, x in ((1, a), (-1, b)):
            for key, own in x.sample.without_each(self._slope(x)).items():
                moved[key] = moved.get(key, 0.0) + side * own
        u, G = np.array(list(moved.values())), len(moved)
        return Precision((u * u).sum() * (G - 1) / G, max(min(a.sample.n_eff, b.sample.n_eff) - 1, 1.0), 1.0)

    def _slope(self, x: Seen) -> FloatArray:
        """Slopes of the occupied cells of a table."""
        of_all = self.measure.slope(Shares.of(x.sample.table), x.value)
        return balance(of_all.of_table(x.sample.cells.codes), x.sample.cells)

    def _spread(self, x: Seen) -> Spread:
        if self.label is None or x.sample.by_design or self.measure.name == "expected_gain":
            return spread(x.sample, self.measure)
        return class_spread(x.sample, self.measure.name, x.value)

    # ---- the difference -----------------------------------------------------------------------------------

    def _difference(
        self, names: Pair, both: Both, n_eff: float, problem: str | None, samples: int = 1, units: int = 1
    ) -> Difference:
        """Return a difference without a test, of the rows of so many samples and of the units of so many."""
        a, b = both[0].value, both[1].value
        parts = [x.sample for x in both[:samples]]

        def drawn(numbers: list[int | None]) -> int | None:
            known = [x for x in numbers if x is not None]
            return sum(known[:units]) if len(known) == len(numbers) else None

        replicates = {x.drawn_replicates for x in parts}
        rows, total, ignored = (
            sum(getattr(x.table, name) for x in both[:samples]) for name in ("rows", "total", "ignored")
        )
        return Difference(
            *(names, self.measure.name, self.level, (a, b), a - b, nan, nan, nan, nan, nan),
            n=rows, n_eff=n_eff, total=total, ignored=ignored, margin=self.margin, problem=problem, label=self.label,
            clusters=drawn([x.drawn_clusters for x in parts]), strata=drawn([x.drawn_strata for x in parts]),
            replicates=replicates.pop() if len(replicates) == 1 else None,
        )  # fmt: skip

    def _test(self, none: Difference, precision: Precision, warnings: tuple[str, ...]) -> Difference:
        """Return the difference with its interval and its test."""
        variance, df, _ = precision
        if not isfinite(variance):
            return replace(none, problem=FAR_APART)
        if not variance > NOTHING:
            drawn = f"{none.n:,} rows" if none.clusters is None else f"{none.clusters:,} clusters"
            why = f"all {drawn} have the same influence on the difference, so its variance cannot be estimated"
            return replace(none, problem=why)
        se = sqrt(variance)
        pivot = self._pivot(none, precision)
        low, high = self._within(pivot.ends((1 - self.level) / 2))
        worse = None if self.margin is None else float(pivot.upper_tail(-self.margin))
        p = float(pivot.p_value())
        return replace(none, low=low, high=high, se=se, df=df, p_value=p, p_noninferior=worse, warnings=warnings)

    def _inverted(self, none: Difference, ends: Ends) -> Difference:
        """Return the difference with its interval, and with the test that rejects what no interval of a level holds."""
        low, high = self._within(ends((1 - self.level) / 2))
        worse = None
        if self.margin is not None:  # the chance of so large a difference, or a larger one, if −margin were the truth
            tail = tail_at(ends, none.value, -self.margin)
            worse = tail if none.value > -self.margin else 1 - tail
        p = min(1.0, 2 * tail_at(ends, none.value, 0.0))
        return replace(none, low=low, high=high, p_value=p, p_noninferior=worse)

    def _pivot(self, none: Difference, precision: Precision) -> Pivot:
        """Return the difference in units of its standard error, which has Student's distribution."""
        variance, df, stretch = precision
        return Pivot(none.value, sqrt(variance) * stretch, df)

    def _within(self, ends: tuple[float, float]) -> tuple[float, float]:
        """Return ends that a difference can have."""
        most = self.measure.range[1] - self.measure.range[0]
        low, high = (float(np.clip(x, -most, most)) for x in ends)
        return low, high


Ends = Callable[[float], tuple[float, float]]
"""The ends of intervals, by the chance beyond each."""


def tail_at(ends: Ends, estimate: float, value: float) -> float:
    """Return the chance beyond the end of the interval that ends at ``value``; at most a half."""
    side = 0 if estimate > value else 1

    def holds(log: float) -> bool:
        end = ends(exp(log))[side]
        return not (end > value if side == 0 else end < value)  # NaN is far away

    low, high = log(SMALLEST), log(0.5)  # of the chance; the smaller it is, the longer the interval
    if holds(high) or not holds(low):
        return 0.5 if holds(high) else SMALLEST
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return exp(high)


class Joined(NamedTuple):
    """The difference of two scores of independent samples, or of groups of one sample: first − second."""

    first: Spread
    second: Spread
    correlation: float = 0.0  # of the scores, where samples are not independent

    @property
    def se(self) -> float:
        """Standard error: variances add up, less twice the covariance."""
        return self._apart(self.first.se, self.second.se)

    @property
    def df(self) -> float:
        """Degrees of freedom of the standard error, by Welch and Satterthwaite."""
        rest = sum(x.se**4 / x.df for x in (self.first, self.second) if x.se > 0)
        return self.se**4 / rest if rest else nan

    def ends(self, tail: float) -> tuple[float, float]:
        """Ends of the interval, by the chance beyond each: squares of the distances to both intervals' ends add up."""
        (low_a, high_a), (low_b, high_b) = self.first.ends(tail), self.second.ends(tail)
        a, b = self.first.value, self.second.value
        return a - b - self._apart(a - low_a, high_b - b), a - b + self._apart(high_a - a, b - low_b)

    def _apart(self, x: float, y: float) -> float:
        """√(x² + y² − 2rxy), the difference of two deviations whose correlation is r."""
        r = self.correlation
        return hypot(x - r * y, y * sqrt(1 - r * r))


class Differing(NamedTuple):
    """Clusters in which the tables of two predictions are not the same."""

    clusters: IntArray  # their places
    part: float  # how much of them differs, at least; 1 if there are none
    effective: float  # how many of equal weight are as informative


def _differing(a: Seen, b: Seen) -> Differing:
    both = Beside.of(*(x.table.design_cells.along([0, 1, len(x.table.raw_cells.codes) - 1]) for x in (a, b)))
    clusters = np.unique(both.codes[-1][both.differ(ROUNDED)])
    apart = np.bincount(both.codes[-1], np.abs(both.w[0] - both.w[1]) / 2)[clusters]
    weight = np.bincount(both.codes[-1], both.w[0])
    most = weight.max() or 1.0  # in units of which squares are not too large
    weight, apart = weight[clusters] / most, apart / most
    if not weight.any():
        return Differing(clusters, 1.0, 0.0)
    return Differing(clusters, float(apart.sum() / weight.sum()), float(weight.sum() ** 2 / (weight @ weight)))


# ---- a mapping of tables ----------------------------------------------------------------------------------

WAYS = (
    "give `sample` 'clusters' for tables of the same clusters of rows, tabulated with `cluster`; give "
    "`sample` 'independent' for tables of different rows. Tabulate predictions of the same rows together: "
    'wmcc.tabulate(y_true, {"A": a, "B": b}, sample_weight).'
)


def _named_tables(given: Mapping[str, Tabulated], sample: Samples | None) -> tuple[Samples, dict[str, Table]]:
    """Return how tables belong together, and the tables over the same classes, if names and ``sample`` are good."""
    if len(given) < 2:
        raise InputError(f"expected two tables or more to compare; got {len(given)}.")
    for name, table in given.items():
        if not isinstance(name, str):
            raise InputTypeError(f"the name of a prediction is {name!r}; expected text.")
        if isinstance(table, Tables):
            raise InputTypeError(
                f"{name!r} is a Tables of groups; expected one table.",
                "give tables.as_clusters(), one table with the groups as clusters, or tables.total().",
            )
    tables = {name: one_table(table) for name, table in given.items()}
    if sample is None:
        raise InputTypeError("`sample` is missing; tables do not say whether they are of the same rows.", WAYS)
    if sample not in ("clusters", "independent"):
        raise InputError.of("sample", sample, "'clusters' or 'independent'", WAYS)
    return sample, _of_the_same_classes(tables)


def _groups(tables: Tables[Table], sample: Samples | None) -> dict[str, Table]:
    """Return the tables of groups by their names, over the same classes."""
    if sample is not None:
        raise InputTypeError(
            "`sample` is for a mapping of tables; the groups of a Tables are always parts of one sample.",
            "leave it out.",
            "sample",
        )
    if not 2 <= len(tables) <= MOST_GROUPS:
        few = len(tables) < 2
        raise InputError(
            f"expected {'two groups or more' if few else f'at most {MOST_GROUPS} groups'} to compare; "
            f"got {len(tables):,}.",
            None if few else "choose some of them: compare(tables.select(keys)).",
        )
    for key, table in tables.items():
        if not table.total > 0:
            raise InputError(
                f"the rows of {tables.title(key)} have no weight, so it has no score.",
                "leave the group out: compare(tables.select(keys)).",
            )
    named = {tables.name(key): tables[key] for key in tables}
    if len(named) < len(tables):
        raise InputError("two groups have the same name as text.", "name the values of `by` differently.", "by")
    return _of_the_same_classes(named)


def _of_the_same_classes(tables: dict[str, Table]) -> dict[str, Table]:
    labels, void = merged((table.labels, table.void) for table in tables.values())
    return {name: table._recoded(labels, positions(labels, table.labels), void) for name, table in tables.items()}


def _are_groups(tables: dict[str, Table]) -> bool:
    """Whether tables are of groups of rows of one sample under a design; groups that share rows are refused.

    Tables with the same replicate weights may be, and that they are of the same sample is for the caller to say.
    """
    first, *others = (table.drawn for table in tables.values())
    if first.kind == "replicates":
        return all(drawn == first for drawn in others)
    if first.design is None or not first.design.domain or any(drawn != first for drawn in others):
        return False
    if not first.design.nested:
        cells = [table.raw_cells for table in tables.values()]
        rows = sum(np.bincount(x.codes[-1], x.sums.n, len(first.units)) for x in cells)
        if (rows > np.array(first.rows)).any():
            raise InputError(
                "the tables are of groups of one sample that share rows; expected groups without a row in common.",
                "tabulate with one `by`, and compare groups of it.",
            )
    return True


def _check_apart(tables: dict[str, Table]) -> None:
    """Refuse groups of one sample under a design as independent samples.

    The design says so of strata. Of replicate weights, tables that were tabulated together have them from one object.
    """
    for (a, one), (b, other) in combinations(tables.items(), 2):
        together = one.drawn.replicates is other.drawn.replicates
        if together and _are_groups({a: one, b: other}):
            raise InputError(
                f"the tables of {a!r} and {b!r} are of groups of one sample: its units are in both, so they are not "
                "independent.",
                "give `sample` 'clusters', which takes account of the units that they share; tables of two samples are "
                "tabulated one by one.",
                "sample",
            )


def _check_same_rows(tables: dict[str, Table]) -> None:
    """Refuse tables that cannot be of the same rows, as clusters are paired by their keys."""
    first, *others = tables
    for name, table in tables.items():
        if not table.drawn.clusters:
            hint = "tabulate with `cluster`, a key per row; or tabulate predictions together, as a mapping from names."
            raise InputTypeError(f"the table of {name!r} has no clusters.", hint)
    one = tables[first]
    for other in others:
        other_table = tables[other]
        _check_same_design(first, one.drawn, other, other_table.drawn)
        for a, b, there in ((one, other_table, first), (other_table, one, other)):
            lacking = sorted(set(a.drawn.clusters) - set(b.drawn.clusters), key=a.drawn.clusters.index)
            if lacking:
                are = "is a cluster" if len(lacking) == 1 else "are clusters"
                raise InputError(
                    f"{listed(lacking)} {are} of {there!r} only; clusters are compared one by one.",
                    "tabulate both on the same clusters, or compare them as independent samples.",
                )
        both = Beside.of(*(x.design_cells.along([0, len(x.raw_cells.codes) - 1]) for x in (one, other_table)))
        differ = both.differ(ROUNDED)
        if differ.any():
            at = int(np.argmax(differ))
            (k, c), (n, m), (w, v) = both.codes[:, at], both.n[:, at], both.w[:, at]
            raise InputError(
                f"the tables are not of the same rows: cluster {one.drawn.clusters[c]!r} has {n:,} of true class "
                f"{one.labels[k]!r}, of weight {number(w)}, for {first!r}, "
                f"and {m:,}, of weight {number(v)}, for {other!r}.",
                "tabulate the same rows with the same weights. Compare groups of one sample, which share clusters, by "
                "wmcc.compare(tables, …) of all that `by` gives, and tables of two samples as independent samples.",
            )


def _check_same_design(first: str, own: SampleDesign, other: str, its: SampleDesign) -> None:
    """Refuse tables of the same clusters whose designs differ."""
    a, b = own.design, its.design
    if (a is None) != (b is None):
        with_strata = first if b is None else other
        raise InputError(
            f"only the table of {with_strata!r} has a design: strata, or the number of clusters that there are.",
            "tabulate both with the same `wmcc.Strata`.",
        )
    for word in ("strata", "of", "fpc", "lonely", "df", "poststrata"):
        if a is not None and b is not None and own.units == its.units and getattr(a, word) != getattr(b, word):
            keyword = {"strata": "stratum", "of": "stratum", "poststrata": "poststratum"}.get(word, word)
            value = "wmcc.PostStrata" if word == "poststrata" else "wmcc.Strata"
            raise InputError(
                f"the tables of {first!r} and {other!r} were tabulated with different `{keyword}`.",
                f"tabulate both with the same `{value}`; or compare them as independent samples.",
            )

"""`wmcc.compare`: whether one classifier scores higher than another, or chance may have decided.

Predictions of the same rows are compared by their joint table; of the same clusters, by a table of each that knows its
clusters; of different rows, by a table of each. Derived in docs/inference.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp, hypot, isfinite, log, nan
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.joint import JointTable, several_predictions
from ..core.keys import Key
from ..core.labels import Label, listed, merged
from ..core.stack import Stack, numbered
from ..core.summed import positions
from ..core.table import Table, Tabulated, one_table
from ..core.tables import Tables
from ..errors import InputError, InputTypeError
from ..measures.base import Measure, Shares
from ..measures.checks import checked_level, checked_margin, named_class_measure, named_measure
from ..measures.companions import ClassMeasure
from ..measures.stacks import root
from ..present.pairs import Pair
from ..present.text import number
from .classes import OWN, class_part, class_spread
from .comparison import Comparison, Difference, with_holm
from .influence import Sample, balance
from .interval import FAR_APART, NOTHING, Spread, quietly, spread, too_few, value_or_problem
from .pivot import Pivot
from .reliability import CLUSTERS_ARE_FEW, FEW_CLUSTERS, SHORT, comparison_doubts, that_hold

Samples = Literal["clusters", "independent"]

SMALLEST, BISECTIONS = 1e-300, 60
"""The smallest chance that is looked for, and how often the place of one is halved: to 15 digits of its logarithm."""

ROUNDED = 1e-9
"""Share by which sums of the same weights may differ: engines add them up in any order, and round."""

FEW_CLUSTERS_DIFFER = f"the predictions differ in fewer than {FEW_CLUSTERS:.0f} effective clusters; {SHORT}"


@overload
def compare(
    predictions: JointTable,
    measure: str | Measure | ClassMeasure = ...,
    *,
    of: Label | None = ...,
    confidence_level: float = ...,
    margin: float | None = ...,
) -> Comparison: ...
@overload
def compare(
    predictions: Mapping[str, Tabulated],
    measure: str | Measure | ClassMeasure = ...,
    *,
    sample: Samples,
    of: Label | None = ...,
    confidence_level: float = ...,
    margin: float | None = ...,
) -> Comparison: ...
def compare(
    predictions: JointTable | Mapping[str, Tabulated],
    measure: str | Measure | ClassMeasure = "ecc",
    *,
    sample: Samples | None = None,
    of: Label | None = None,
    confidence_level: float = 0.95,
    margin: float | None = None,
) -> Comparison:
    """Compare classifiers: the difference of their scores, its interval and a p-value.

    Parameters
    ----------
    predictions
        A `wmcc.JointTable` of two predictions or more of the same rows: ``wmcc.tabulate(y_true, {"A": a, "B": b})``. Or
        a mapping from names to tables, and then ``sample`` says how they belong together.
    measure, of, confidence_level
        As in `wmcc.interval`: ``compare(joint, "iou", of="road")`` compares the scores of one class.
    sample
        With a mapping of tables. ``"clusters"``: the tables are of the same clusters of the same rows, and were
        tabulated with ``cluster=``, maybe at different times. ``"independent"``: they are of different rows, such as
        those of this week and of last week.
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
    """
    chosen = named_measure(measure) if of is None else OWN[named_class_measure(measure).name]
    contrast = Contrast(chosen, of, checked_level(confidence_level), checked_margin(margin))
    if isinstance(predictions, Mapping) and not isinstance(predictions, Tables):  # which are of groups of rows
        tables = _named_tables(predictions, sample)
        if sample == "clusters":
            _check_same_rows(tables)
        test = contrast.same_clusters if sample == "clusters" else contrast.independent
        parts = {name: contrast.seen(table) for name, table in tables.items()}
        found = [test((a, b), parts[a], parts[b]) for a, b in combinations(tables, 2)]
        kind: Literal["rows", "clusters", "independent"] = "clusters" if sample == "clusters" else "independent"
    else:
        joint = several_predictions(predictions)  # type: ignore[arg-type]
        if sample is not None:
            raise InputTypeError("sample= is for a mapping of tables; a joint table is always of the same rows.")
        tables, kind = joint.tables, "clusters" if joint.drawn.kind == "clusters" else "rows"
        found = [contrast.same_rows(joint, pair) for pair in combinations(joint.names, 2)]
    count, ignored = (
        sum(sizes) if kind == "independent" else sizes[0]
        for sizes in ([table.rows for table in tables.values()], [table.ignored for table in tables.values()])
    )
    pairs = with_holm(found)
    asked = contrast.measure.name, contrast.level, kind
    return Comparison(tuple(tables), *asked, pairs, count, ignored, tables, of)


class Seen(NamedTuple):
    """What a difference needs of one table."""

    table: Table  # of all rows; where the score is that of a class, of the class and the rest
    value: float
    problem: str | None  # why the score has no standard error
    sample: Sample[Table]  # the rows that the score is about


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
        if self.label is None or problem is not None:
            return Seen(sample.table, value, problem, sample)
        part = Sample.of(class_part(table, self.measure.name, self.label))
        return Seen(sample.table, value, too_few(part.count, part.what, part.n_eff), part)

    # ---- three ways to belong together --------------------------------------------------------------------

    @quietly
    def same_rows(self, several: JointTable, names: Pair) -> Difference:
        """Compare two predictions of a joint table."""
        a, b = (self.seen(several[name]) for name in names)
        if a.problem or b.problem:
            return self._difference(names, (a, b), a.sample.n_eff, a.problem or b.problem)
        if self.label is not None and a.sample.clusters is not None:  # each score rests on rows of its own in a cluster
            return self.same_clusters(names, a, b)
        joint = several if several.names == names else several.pair(*names)
        sample = Sample.of(joint if self.label is None else class_part(joint, self.measure.name, self.label))
        cells, few = sample.cells, too_few(sample.count, sample.what, sample.n_eff)
        if few is not None:
            return self._difference(names, (a, b), sample.n_eff, few)
        tables = [several[name] for name in names] if self.label is None else sample.table.tables.values()
        scored = zip(tables, (a.value, b.value), strict=True)
        slopes = [self.measure.slope(Shares.of(table), value) for table, value in scored]
        slope = balance(slopes[0].at(*cells.codes[[0, 1]]) - slopes[1].at(*cells.codes[[0, 2]]), cells)
        variance = sample.influence(slope).variance
        problem: str | None = None
        warnings: tuple[str, ...] = ()
        if variance > NOTHING:
            effective = None if sample.clusters is None else sample.n_eff
            warnings = that_hold(comparison_doubts(self.measure, slope, cells, variance, effective))
        elif (cells.codes[1] == cells.codes[2]).all():
            problem = "they predict the same for every row, so the difference has no sampling error"
        none = self._difference(names, (a, b), sample.n_eff, problem)
        return self._test(none, variance, max(sample.n_eff - 1, 1.0), warnings)

    @quietly
    def same_clusters(self, names: Pair, a: Seen, b: Seen) -> Difference:
        """Compare two tables of the same clusters of the same rows."""
        n_eff = min(a.sample.n_eff, b.sample.n_eff)
        problem = a.problem or b.problem
        if problem is None and a.table.parts == b.table.parts:
            problem = "their tables are the same in every cluster, so the difference has no sampling error"
        none = self._difference(names, (a, b), n_eff, problem)
        if problem is not None:
            return none
        moved: dict[Key, float] = {}
        for side, x in ((1, a), (-1, b)):
            of_all = self.measure.slope(Shares.of(x.sample.table), x.value)
            slope = balance(of_all.of_table(x.sample.cells.codes), x.sample.cells)
            for key, own in x.sample.without_each(slope).items():
                moved[key] = moved.get(key, 0.0) + side * own
        u, G = np.array(list(moved.values())), len(moved)
        warnings = {CLUSTERS_ARE_FEW: n_eff < FEW_CLUSTERS, FEW_CLUSTERS_DIFFER: _differing(a, b) < FEW_CLUSTERS}
        return self._test(none, (u * u).sum() * (G - 1) / G, max(n_eff - 1, 1.0), that_hold(warnings))

    @quietly
    def independent(self, names: Pair, a: Seen, b: Seen) -> Difference:
        """Compare two tables of different rows: their intervals are put together, by squares of their lengths."""
        problem = next((f"{name}: {x.problem}" for name, x in zip(names, (a, b), strict=True) if x.problem), None)
        none = self._difference(names, (a, b), a.sample.n_eff + b.sample.n_eff, problem, together=True)
        if problem is not None:
            return none
        both = [self._spread(x) for x in (a, b)]
        problem = next((f"{name}: {x.problem}" for name, x in zip(names, both, strict=True) if x.problem), None)
        if problem is not None:
            return replace(none, problem=problem)
        joined = Joined(*both)
        low, high = joined.ends((1 - self.level) / 2)
        p = min(1.0, 2 * joined.tail(0.0))
        worse = None if self.margin is None else joined.chance(-self.margin)
        warnings = tuple(f"{name}: {why}" for name, x in zip(names, both, strict=True) for why in x.warnings)
        return replace(
            none, low=low, high=high, se=joined.se, df=joined.df, p_value=p, p_noninferior=worse, warnings=warnings
        )

    def _spread(self, x: Seen) -> Spread:
        if self.label is None:
            return spread(x.sample, self.measure)
        return class_spread(x.sample, self.measure.name, x.value)

    # ---- the difference -----------------------------------------------------------------------------------

    def _difference(
        self, names: Pair, both: tuple[Seen, Seen], n_eff: float, problem: str | None, together: bool = False
    ) -> Difference:
        """Return a difference without a test."""
        values = both[0].value, both[1].value
        counted = both if together else both[:1]
        drawn = [x.sample.clusters.count for x in counted if x.sample.clusters is not None]
        return Difference(
            names,
            self.measure.name,
            self.level,
            values,
            values[0] - values[1],
            *(nan,) * 5,
            n=sum(x.table.rows for x in counted),
            n_eff=n_eff,
            total=sum(x.table.total for x in counted),
            ignored=sum(x.table.ignored for x in counted),
            clusters=sum(drawn) if len(drawn) == len(counted) else None,
            margin=self.margin,
            problem=problem,
            label=self.label,
        )

    def _test(self, none: Difference, variance: Any, df: float, warnings: tuple[str, ...]) -> Difference:
        """Return the difference with its interval and its test."""
        if none.problem is not None:
            return none
        if not isfinite(variance):
            return replace(none, problem=FAR_APART)
        if not variance > NOTHING:
            drawn = f"{none.n:,} rows" if none.clusters is None else f"{none.clusters:,} clusters"
            why = f"all {drawn} have the same influence on the difference, so its variance cannot be estimated"
            return replace(none, problem=why)
        se = float(root(variance))
        # Heavy rows move the difference and its standard error alike, which makes their quotient less extreme, not
        # more: so neither the variance's own degrees of freedom nor its skewness, which is mostly noise, come in.
        pivot, most = Pivot(none.value, se, 0.0, 0.0, df), self.measure.range[1] - self.measure.range[0]
        low, high = (float(np.clip(x, -most, most)) for x in pivot.ends((1 - self.level) / 2))
        worse = None if self.margin is None else float(pivot.upper_tail(-self.margin))
        p = float(pivot.p_value())
        return replace(none, low=low, high=high, se=se, df=df, p_value=p, p_noninferior=worse, warnings=warnings)


class Joined(NamedTuple):
    """The difference of two scores of independent samples, first − second."""

    first: Spread
    second: Spread

    @property
    def se(self) -> float:
        """Standard error: variances add up."""
        return hypot(self.first.se, self.second.se)

    @property
    def df(self) -> float:
        """Degrees of freedom of the standard error, by Welch and Satterthwaite."""
        rest = sum(x.se**4 / x.df for x in self if x.se > 0)
        return self.se**4 / rest if rest else nan

    def ends(self, tail: float) -> tuple[float, float]:
        """Ends of the interval, by the chance beyond each: squares of the distances to both intervals' ends add up."""
        (a, b), ((low_a, high_a), (low_b, high_b)) = (x.value for x in self), (x.ends(tail) for x in self)
        return a - b - hypot(a - low_a, high_b - b), a - b + hypot(high_a - a, b - low_b)

    def tail(self, value: float) -> float:
        """Return the chance beyond the end of the interval that ends at ``value``; at most a half."""
        side = 0 if self.first.value - self.second.value > value else 1

        def holds(log: float) -> bool:
            end = self.ends(exp(log))[side]
            return not (end > value if side == 0 else end < value)  # NaN is far away

        low, high = log(SMALLEST), log(0.5)  # of the chance; the smaller it is, the longer the interval
        if holds(high) or not holds(low):
            return 0.5 if holds(high) else SMALLEST
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return exp(high)

    def chance(self, value: float) -> float:
        """Return the chance of so large a difference, or a larger one, if ``value`` were the truth."""
        tail = self.tail(value)
        return tail if self.first.value - self.second.value > value else 1 - tail


class Beside(NamedTuple):
    """Cells of two stacks, those of either: their keys, and the rows and the weight that each stack has there."""

    codes: IntArray
    n: IntArray
    w: FloatArray

    @classmethod
    def of(cls, a: Stack, b: Stack) -> Beside:
        """Look all cells up in both."""
        codes, place = numbered(np.concatenate([a.codes, b.codes], axis=1))
        n, w = np.zeros((2, codes.shape[1]), dtype=np.int64), np.zeros((2, codes.shape[1]))
        for k, (stack, at) in enumerate(zip((a, b), np.split(place, [len(a)]), strict=True)):
            n[k, at], w[k, at] = stack.sums.n, stack.sums.w_exact.floats()
        return cls(codes, n, w)

    @property
    def differ(self) -> Array:
        """Where the two are not the same, but for rounding."""
        far = np.abs(self.w[0] - self.w[1]) > ROUNDED * self.w.max(axis=0)
        return np.asarray((self.n[0] != self.n[1]) | far)


def _differing(a: Seen, b: Seen) -> float:
    """Effective number of clusters in which the tables of two predictions are not the same."""
    both = Beside.of(a.table.parts, b.table.parts)
    weight = np.bincount(both.codes[-1], both.w[0])
    weight = weight[np.unique(both.codes[-1][both.differ])] / (weight.max() or 1.0)
    return float(weight.sum() ** 2 / (weight @ weight)) if weight.any() else 0.0


# ---- a mapping of tables ----------------------------------------------------------------------------------

WAYS = (
    'give sample="clusters" for tables of the same clusters of rows, tabulated with cluster=; give '
    'sample="independent" for tables of different rows. Tabulate predictions of the same rows together: '
    'wmcc.tabulate(y_true, {"A": a, "B": b}, sample_weight).'
)


def _named_tables(given: Mapping[str, Tabulated], sample: Samples | None) -> dict[str, Table]:
    """Return the tables over the same classes, if names and ``sample`` are good."""
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
        raise InputTypeError("sample= is missing; tables do not say whether they are of the same rows.", WAYS)
    if sample not in ("clusters", "independent"):
        raise InputError(f"sample is {str(sample)[:40]!r}; expected 'clusters' or 'independent'.", WAYS, "sample")
    labels, void = merged((table.labels, table.void) for table in tables.values())
    return {name: table._recoded(labels, positions(labels, table.labels), void) for name, table in tables.items()}


def _check_same_rows(tables: dict[str, Table]) -> None:
    """Refuse tables that cannot be of the same rows, as clusters are paired by their keys."""
    first, *others = tables
    for name, table in tables.items():
        if table.drawn.kind != "clusters":
            raise InputTypeError(f"the table of {name!r} has no clusters.", "tabulate with cluster=, a key per row.")
    own = tables[first]
    for other in others:
        its = tables[other]
        for a, b, there in ((own, its, first), (its, own, other)):
            lacking = sorted(set(a.drawn.clusters) - set(b.drawn.clusters), key=a.drawn.clusters.index)
            if lacking:
                are = "is a cluster" if len(lacking) == 1 else "are clusters"
                raise InputError(
                    f"{listed(lacking)} {are} of {there!r} only; clusters are compared one by one.",
                    "tabulate both on the same clusters, or compare them as independent samples.",
                )
        both = Beside.of(own.parts.along([0, 2]), its.parts.along([0, 2]))
        if both.differ.any():
            at = int(np.argmax(both.differ))
            (k, c), (n, m), (w, v) = both.codes[:, at], both.n[:, at], both.w[:, at]
            raise InputError(
                f"the tables are not of the same rows: cluster {own.drawn.clusters[c]!r} has {n:,} of true class "
                f"{own.labels[k]!r}, of weight {number(w)}, for {first!r}, "
                f"and {m:,}, of weight {number(v)}, for {other!r}.",
                "tabulate the same rows with the same weights; or compare them as independent samples.",
            )

"""Effect of the weights: effective sample sizes, and who carries the weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.design import name_strata
from ..core.keys import Key
from ..core.labels import Label
from ..core.table import Table, Tabulated, one_table
from ..measures import MEASURES
from ..measures.base import Measure, MeasureName, Shares, check_scorable, for_tabulated
from ..measures.checks import at_least_zero, named_measure
from ..measures.stacks import total
from ..present.blocks import Block
from ..present.json_csv import Record, finite, plain
from ..present.result import Result
from ..present.text import counted, heaviest, left_out, number
from .cells import CellSums, balance
from .estimate import quietly, value_or_problem
from .influence import Sample
from .reliability import FEW_PIXELS_COUNT, below


class ClassSize(NamedTuple):
    """What the weights leave of one true class."""

    label: Label
    n: int
    total: float
    n_eff: float


SHOWN_CLASSES = 50
"""Classes that are listed: the heaviest. As many strata are: those with the largest part of the variance."""

FEW_UNITS, MUCH = 10, 0.5
"""A stratum of fewer units than this should have no more of the variance than this."""


class StratumSize(NamedTuple):
    """What was drawn in one stratum, or in several that were joined."""

    stratum: Key
    n: int  # rows that were drawn
    units: int  # rows, or clusters
    share: float  # of the weight
    variance: float  # share of the variance
    population: float | None  # its size, if it is known
    fraction: float | None  # how many of its units were drawn, if a finite population is meant

    @property
    def name(self) -> str:
        """Its key, as text."""
        return ", ".join(map(str, self.stratum)) if isinstance(self.stratum, tuple) else str(self.stratum)


class DesignDiagnosis(NamedTuple):
    """What the design makes of the sampling error of one measure."""

    measure: str
    design_effect: float  # variance under the design, over that of as many independent rows of equal weight
    n_eff: float  # how many such rows would be as precise
    df: float  # degrees of freedom of the variance
    design_df: float  # units less strata; or what was given with replicate weights
    strata: tuple[StratumSize, ...]
    problem: str | None  # why it is not known

    def blocks(self) -> list[Block]:
        """Return the effect on the measure, and what each stratum adds to its variance."""
        title = f"Effect of the design on {MEASURES[self.measure].title}"
        if self.problem is not None:
            return [Block(title, notes=[f"not known: {self.problem}."]), *self.stratum_blocks()]
        effect, n_eff, df = number(self.design_effect), number(self.n_eff), number(self.df, 4)
        rows = [["Design effect", effect], ["Effective sample size", n_eff], ["Degrees of freedom", df]]
        rows.append(["Units less strata" if self.strata else "Of the replicates", number(self.design_df, 4)])
        return [Block(title, (), rows), *self.stratum_blocks()]

    def stratum_blocks(self) -> list[Block]:
        """Return what was drawn in each stratum, and what it adds to the variance; nothing if there is one or none."""
        if len(self.strata) < 2:
            return []
        shown = [self.strata[k] for k in heaviest([x.share for x in self.strata], SHOWN_CLASSES)]
        columns: dict[str, list[str]] = {
            "Stratum": [x.name for x in shown],
            "Rows drawn": [f"{x.n:,}" for x in shown],
            "Clusters": [f"{x.units:,}" for x in shown] if any(x.units != x.n for x in self.strata) else [],
            "Weight": [percent(x.share) for x in shown],
            "Variance": [percent(x.variance) for x in shown],
            "Population": [number(x.population) for x in shown if x.population is not None],
            "Share drawn": [percent(x.fraction) for x in shown if x.fraction is not None],
        }
        columns = {title: texts for title, texts in columns.items() if texts}
        lines = [list(line) for line in zip(*columns.values(), strict=True)]
        caption = f"Strata, and their parts of the variance of {MEASURES[self.measure].title}"
        return [Block(caption, [*columns], lines, left_out(len(shown), len(self.strata), "strata"))]


def percent(share: float) -> str:
    """Write a share in a column."""
    return "—" if isnan(share) else f"{number(100 * share, 3)} %"


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """What `wmcc.diagnose` returns.

    Parameters
    ----------
    n, total, n_eff
        Rows, their total weight, and the effective sample size (Σw)² / Σw².
    design_effect
        n / n_eff: by what factor uneven weights multiply the variance of a mean.
    classes
        The same per true class.
    heaviest_row
        Share of the total weight that one row holds, the heaviest.
    heaviest_cell, cell
        Share of the total weight in one cell of the table, and which: (true class, predicted class).
    warnings
        What is beyond the limits, a sentence each.
    design
        Under a design, strata or replicate weights, its effect on one measure: see `DesignDiagnosis`; None without.
    """

    n: int
    total: float
    n_eff: float
    design_effect: float
    classes: tuple[ClassSize, ...]
    heaviest_row: float
    heaviest_cell: float
    cell: tuple[Label, Label]
    warnings: tuple[str, ...]
    design: DesignDiagnosis | None = None

    _kind = "diagnosis"
    _stored = (
        "n", "total", "n_eff", "design_effect", "heaviest_row", "heaviest_cell", "cell", "classes", "design",
        "warnings",
    )  # fmt: skip

    def blocks(self) -> list[Block]:
        """Return what the weights leave of all rows and of each true class, and warnings."""
        rows = [
            ["Rows", f"{self.n:,}"],
            ["Total weight", number(self.total)],
            ["Effective sample size", number(self.n_eff)],
            ["Design effect of the weights" if self.design else "Design effect", number(self.design_effect)],
            ["Heaviest row", f"{number(100 * self.heaviest_row, 4)} %"],
            [f"Heaviest cell ({self.cell[0]}, {self.cell[1]})", f"{number(100 * self.heaviest_cell, 4)} %"],
        ]
        overall = Block("Effect of the weights", (), rows)
        shown = [self.classes[k] for k in heaviest([c.total for c in self.classes], SHOWN_CLASSES)]
        lines = [[str(c.label), f"{c.n:,}", number(c.total), number(c.n_eff)] for c in shown]
        notes = [*left_out(len(shown), len(self.classes), "classes"), *self.warnings]
        classes = Block("True classes", ["Class", "Rows", "Weight", "Effective"], lines, notes)
        return [overall, *(self.design.blocks() if self.design else []), classes]

    def records(self) -> list[Record]:
        """Return a row for all rows, one for each true class, and under a design one for each stratum."""
        whole = {"scope": "all", "class": None, "n": self.n, "total": finite(self.total), "n_eff": finite(self.n_eff)}
        rows: list[Record] = [whole]
        for c in self.classes:
            sizes = {"n": c.n, "total": finite(c.total), "n_eff": finite(c.n_eff)}
            rows.append({"scope": "class", "class": c.label, **sizes})
        if self.design is None:
            return rows
        effect = {"measure": self.design.measure, "design_effect": finite(self.design.design_effect)}
        of_strata = [x for x in StratumSize._fields if x != "n"]
        empty = dict.fromkeys([*whole, *of_strata, *effect])
        rows = [{**empty, **rows[0], **effect}, *({**empty, **row} for row in rows[1:])]
        strata = [{**plain(x._asdict()), "scope": "stratum", "stratum": x.name} for x in self.design.strata]
        return [*rows, *({**empty, **row} for row in strata)]


@for_tabulated()
def diagnose(
    table: Tabulated,
    *,
    measure: MeasureName | Measure = "ecc",
    n_eff: float = 30.0,
    class_n_eff: float = 10.0,
    design_effect: float = 10.0,
    row_share: float = 0.1,
) -> Diagnosis:
    """Give the effective sample size and the influence of single rows, and warn of problems.

    Parameters
    ----------
    table
        A `wmcc.Table`.
    measure
        Under a design, strata or replicate weights: the measure whose design effect is computed, V / V₀. V is its
        variance under the design, V₀ that of as many independent rows of equal weight.
    n_eff, class_n_eff
        Warn if the effective number of all rows, or of the rows of a class, is below this. Under a design, the number
        of all rows is n divided by the design effect of the measure.
    design_effect
        Warn if the design effect, n / n_eff, is at least this.
    row_share
        Warn if one row holds more of the total weight.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.diagnose(wmcc.tabulate([0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 96]))
    Effect of the weights
    Rows                        5
    Total weight              100
    Effective sample size  1.0846
    Design effect            4.61
    Heaviest row             96 %
    Heaviest cell (1, 1)     98 %
    <BLANKLINE>
    True classes
    Class  Rows  Weight  Effective
    0         2       2          2
    1         3      98    1.04187
    <BLANKLINE>
    the effective sample size is 1.08, of 5 rows
    true class 1 has 1.04 effective rows, and 1 more true class has fewer than 10
    one row holds 96 % of the weight
    """
    given, chosen = one_table(table), named_measure(measure)
    limits = {"n_eff": n_eff, "class_n_eff": class_n_eff, "design_effect": design_effect, "row_share": row_share}
    for name, limit in limits.items():
        at_least_zero(limit, name)
    check_scorable(given)
    size, of_classes, cells = given.n_eff, given.class_n_eff, CellSums.of(given)
    effect, row, cell = given.rows / size, float(cells.w_max.max()), int(np.argmax(cells.w))
    warnings, design = [FEW_PIXELS_COUNT] * given.drawn.pixels, diagnose_design(given, chosen)
    if design is not None:
        warnings += _of_design(design, given.rows, n_eff, design_effect)
    elif size < n_eff or effect >= design_effect:
        warnings.append(_few_rows(given.rows, size, n_eff))
    warnings += _few_of_class(given.labels, of_classes, class_n_eff)
    if row > row_share:
        warnings.append(f"one row holds {number(100 * row, 3)} % of the weight")
    sizes = zip(given.classes, given.true_counts.tolist(), given.true_sums.tolist(), of_classes, strict=False)
    a, b = (given.labels[k] for k in cells.codes[:, cell])
    shares = row, float(cells.w[cell]), (a, b)
    classes = tuple(ClassSize(*of_class) for of_class in sizes)
    return Diagnosis(given.rows, given.total, size, effect, classes, *shares, tuple(warnings), design)


@quietly
def diagnose_design(table: Table, measure: Measure) -> DesignDiagnosis | None:
    """Compute the effect of a table's design on a measure; None if its rows were drawn without one."""
    if not table.drawn.by_design:
        return None
    sample, n = Sample.of(table), table.rows
    value, problem = value_or_problem(measure, sample)
    slope = balance(measure.slope(Shares.of(table), value).of_table(sample.cells.codes), sample.cells)
    if sample.replication is not None and problem is None:
        moved, problem = sample.replication.moved(measure, sample, value)
        variance, df, _ = sample.replication.precision(moved)
    else:
        variance, df, _ = sample.precision(slope)
    alone = float(total(slope * slope * sample.cells.w)) / max(n - 1, 1)
    if problem is None and not alone > 0:
        problem = "no row of the sample varies the score"
    strata = _strata(sample, slope, nan if problem else variance)
    if problem is not None:
        return DesignDiagnosis(measure.name, nan, nan, nan, nan, strata, problem)
    effect = variance / alone
    of_design = nan if sample.replication is None else sample.replication.df
    if sample.strata is not None:
        of_design = sample.strata.design_df
    return DesignDiagnosis(measure.name, effect, n / effect if effect > 0 else inf, df, of_design, strata, None)


def _strata(sample: Sample[Table], slope: FloatArray, variance: float) -> tuple[StratumSize, ...]:
    strata, drawn = sample.strata, sample.table.drawn
    if strata is None or drawn.design is None:
        return ()
    shares, none = strata.variances(strata.moments(slope)) / (variance or nan), [None] * len(strata.m)
    rows, units = (x.astype(np.int64).tolist() for x in (strata.joined(drawn.rows_of_strata), strata.m))
    known = drawn.design.population
    population = none if known is None else strata.joined(known).tolist()
    fraction = strata.fraction.tolist() if strata.fpc else none
    columns = rows, units, strata.weights.tolist(), shares.tolist(), population, fraction
    return tuple(map(StratumSize, map(strata.name, range(len(strata.m))), *columns))


def _of_design(design: DesignDiagnosis, rows: int, n_eff: float, design_effect: float) -> list[str]:
    """Say so if the design leaves few effective rows, or if a stratum of few units has much of the variance."""
    title, warnings = MEASURES[design.measure].title, []
    if design.n_eff < n_eff or design.design_effect >= design_effect:
        shown = below(design.n_eff, n_eff) if design.n_eff < n_eff else number(design.n_eff, 3)
        warnings.append(
            f"for {title} the sample is as precise as {shown} independent rows of equal weight, of {rows:,}"
        )
    for x in design.strata:
        if x.variance > MUCH and x.units < FEW_UNITS and len(design.strata) > 1:
            what = "row" if x.units == x.n else "cluster"
            warnings.append(
                f"stratum {name_strata([x.stratum])} has {counted(x.units, f'sampled {what}')} and "
                f"{percent(x.variance)} of the variance of {title}; more of them would help most"
            )
    return warnings


def _few_rows(rows: int, size: float, least: float) -> str:
    if rows - size < 1e-9 * rows:  # the weights are equal
        return "there is only 1 row" if rows == 1 else f"there are only {rows:,} rows"
    shown = below(size, least) if size < least else number(size, 3)
    return f"the effective sample size is {shown}, of {rows:,} rows"


def _few_of_class(labels: tuple[Label, ...], sizes: Sequence[float], least: float) -> list[str]:
    """Name the class with the fewest effective rows, if these are fewer than so many; absent ones are not meant."""
    small = [(size, label) for label, size in zip(labels, sizes, strict=True) if 0 < size < least]
    if not small:
        return []
    size, label = min(small, key=lambda x: x[0])
    shown, count = below(size, least), len(small) - 1
    what = "true class has" if count == 1 else "true classes have"
    others = f", and {count} more {what} fewer than {number(least)}" if count else ""
    return [f"true class {label!r} has {shown} effective row{'s' * (shown != '1')}{others}"]

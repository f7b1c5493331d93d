"""All measures of one table in one object that prints as a readable table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

from ..core.labels import Label
from ..core.table import Table
from ..inference.classes import class_intervals
from ..inference.diagnostics import Diagnosis, diagnosed, effective_sample_size
from ..inference.influence import Clusters, sampled
from ..inference.interval import PAIRED, Interval, checked_level, clustered, estimated, why_unsure, with_cluster
from ..measures import CLASS_MEASURES, MEASURES
from ..measures.base import ZeroDivision, as_table
from ..present.text import decimal, grid, html, number

DISAGREEMENT = 0.1
"""ECC, MPC1 and MPC2 further apart than this are worth a sentence."""

SHOWN_CLASSES = 30


@dataclass(frozen=True)
class ClassScore:
    """One class against the rest."""

    label: Label
    n: int
    weight: float
    precision: float
    recall: float
    f1: float
    iou: float
    mcc: float


@dataclass(frozen=True, repr=False)
class Score:
    """What `wmcc.score` returns.

    Parameters
    ----------
    table
        The table that everything else was computed from.
    n, weight, n_eff
        Observations, their total weight, and the effective sample size (Σw)²/Σw².
    mcc
        For two classes; None for more.
    ecc, mpc1, mpc2, accuracy, balanced_accuracy, kappa
        The measures of the same names in `wmcc.MEASURES`.
    classes
        Precision, recall, F1, IoU and MCC of each class against the rest; ``n`` and ``weight`` are of its true rows.
    confidence_level
        Of `intervals`.
    """

    table: Table
    n: int
    weight: float
    n_eff: float
    mcc: float | None
    ecc: float
    mpc1: float
    mpc2: float
    accuracy: float
    balanced_accuracy: float
    kappa: float
    classes: tuple[ClassScore, ...]
    confidence_level: float = 0.95

    @property
    def paired(self) -> bool:
        """Whether the weights are a matrix over pairs of rows: then there are no intervals."""
        return self.table.drawn.kind == "pairs"

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        """How far each measure may be off because the rows are a sample: see `wmcc.interval`."""
        names = [name for name in MEASURES if getattr(self, name) is not None]
        if self.paired:
            return {name: self._none(name, getattr(self, name)) for name in names}
        data = self._sampled
        return {name: estimated(data, MEASURES[name], self.confidence_level, "fisher") for name in names}

    @cached_property
    def class_intervals(self) -> dict[str, tuple[Interval, ...]]:
        """How far each class's own measures may be off: by name, and in the order of `classes`."""
        if self.paired:
            return {
                name: tuple(self._none(name, getattr(c, name), c.label) for c in self.classes)
                for name in CLASS_MEASURES
            }
        return class_intervals(self._sampled, self.confidence_level)

    def _none(self, name: str, value: float, label: Label | None = None) -> Interval:
        """No interval, since a weight matrix pairs rows."""
        level, n_eff = self.confidence_level, self.n_eff
        return Interval(name, level, "fisher", value, nan, nan, nan, nan, n_eff, problem=PAIRED, label=label)

    @cached_property
    def _sampled(self) -> Table | Clusters:
        """What was drawn: rows, or clusters."""
        drawn: Table | Clusters = sampled(self.table)
        return drawn

    @property
    def cluster_count(self) -> int | None:
        """How many clusters hold weight, which are those that intervals rest on; None if rows are independent."""
        return self._sampled.count if isinstance(self._sampled, Clusters) else None

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """What the weights leave of the data: see `wmcc.diagnose`."""
        return diagnosed(self.table)

    @property
    def disagreement(self) -> str | None:
        """Say so where ECC, MPC1 and MPC2 tell different stories; None where they do not."""
        values = (self.ecc, self.mpc1, self.mpc2)
        spread = max(values) - min(values)
        if not spread > DISAGREEMENT:
            return None
        return (
            f"ECC ({decimal(self.ecc)}), MPC1 ({decimal(self.mpc1)}) and MPC2 ({decimal(self.mpc2)}) "
            f"differ by {decimal(spread)}: look at the classes. MPC1 leaves out classes that lack weight in "
            "y_true or y_pred, MPC2 counts every class alike, ECC counts them by their weight."
        )

    def _overall(self) -> list[list[str]]:
        rows = [["", "", f"{number(100 * self.confidence_level)} % interval"]]
        rows += [[MEASURES[name].title, decimal(getattr(self, name)), x.ends] for name, x in self.intervals.items()]
        rows += [["Rows", f"{self.n:,}", ""]]
        if self.table.ignored:
            rows += [["Rows ignored", f"{self.table.ignored:,}", ""]]
        if self.cluster_count is not None:
            rows += [["Clusters", f"{self.cluster_count:,}", ""]]
        return [*rows, ["Total weight", number(self.weight), ""], ["Effective sample size", number(self.n_eff), ""]]

    def _classes(self) -> list[list[str]]:
        head = ["Class", "Rows", "Weight", *(m.title for m in CLASS_MEASURES.values())]
        rows = []
        for c in self.classes[:SHOWN_CLASSES]:
            positive = " (positive)" if c.label == self.table.positive and self.table.positive is not None else ""
            values = (decimal(getattr(c, name)) for name in CLASS_MEASURES)
            rows.append([f"{c.label}{positive}", f"{c.n:,}", number(c.weight), *values])
        return [head, *rows]

    def _notes(self) -> list[str]:
        more = len(self.classes) - SHOWN_CLASSES
        notes = [f"… and {more:,} more classes, in .classes"] if more > 0 else []
        notes += [self.disagreement] if self.disagreement else []
        return notes + list(self.warnings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before relying on the numbers, a sentence each: of the weights, and of the intervals."""
        of_weights = [f"Weights: {sentence}." for sentence in self.diagnosis.warnings]
        return (*of_weights, *why_unsure({MEASURES[name].title: x for name, x in self.intervals.items()}))

    def __repr__(self) -> str:
        parts = [grid(self._overall()), grid(self._classes()), *self._notes()]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        return html({"Scores": self._overall(), "Classes against the rest": self._classes()}, self._notes())


def score(
    y_true: Any,
    y_pred: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    zero_division: ZeroDivision = 0.0,
    confidence_level: float = 0.95,
    cluster: Any = None,
    **options: Any,
) -> Score:
    """Compute all measures at once, from a `Table` or from labels and weights.

    Parameters
    ----------
    y_true, y_pred, sample_weight, weight, **options
        A table, or what `wmcc.tabulate` takes; or a dict of tables, one per cluster.
    zero_division
        As in `wmcc.Measure`.
    confidence_level, cluster
        Of the intervals: as in `wmcc.interval`.

    Examples
    --------
    >>> import wmcc
    >>> truth, guess = ["oak", "elm", "elm", "oak"] * 50, ["oak", "elm", "oak", "elm"] * 50
    >>> wmcc.score(truth, guess, [300, 140, 35, 40] * 50, positive="oak")
                                       95 % interval
    MCC                     0.6778  0.5956 to 0.7462
    ECC (R_K)               0.6778  0.5956 to 0.7462
    MPC1                    0.6778  0.5956 to 0.7462
    MPC2                    0.6778  0.5956 to 0.7462
    Accuracy                0.8544  0.8148 to 0.8867
    Balanced accuracy       0.8412  0.8000 to 0.8753
    Cohen's kappa           0.6777  0.5953 to 0.7462
    Rows                       200
    Total weight            25,750
    Effective sample size  117.956
    <BLANKLINE>
    Class           Rows  Weight  Precision  Recall      F1     IoU     MCC
    elm              100   8,750     0.7778  0.8000  0.7887  0.6512  0.6778
    oak (positive)   100  17,000     0.8955  0.8824  0.8889  0.8000  0.6778
    """
    level = checked_level(confidence_level)
    table = as_table(clustered(y_true), y_pred, sample_weight, weight, **with_cluster(options, cluster))
    two = len(table.labels) <= 2
    overall = {
        name: None if measure.two_classes and not two else measure(table, zero_division=zero_division)
        for name, measure in MEASURES.items()
    }
    by_class = {name: measure(table, zero_division=zero_division) for name, measure in CLASS_MEASURES.items()}
    rows = zip(table.labels, table.true_counts.tolist(), table.true_sums.tolist(), strict=True)
    classes = tuple(
        ClassScore(label, n, weight, **{name: float(values[k]) for name, values in by_class.items()})
        for k, (label, n, weight) in enumerate(rows)
    )
    sizes = table.rows, table.total, effective_sample_size(table)
    return Score(table, *sizes, **overall, classes=classes, confidence_level=level)  # type: ignore[arg-type]

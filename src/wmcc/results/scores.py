"""All measures of one table in one object that prints as a readable table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, overload

from ..core.labels import Label
from ..core.table import Table, Tabulated
from ..core.tables import Tables
from ..inference.answer import why_unsure
from ..inference.classes import class_intervals
from ..inference.diagnostics import SHOWN_CLASSES, Diagnosis, diagnose
from ..inference.estimate import FEW_DF, Interval, estimate
from ..inference.influence import Sample
from ..inference.reliability import FEW_PIXELS_COUNT
from ..measures import CLASS_MEASURES, MEASURES
from ..measures.base import Measure, ZeroDivision, for_tabulated, table_of
from ..measures.checks import checked_level
from ..present.blocks import Block
from ..present.groups import Groups
from ..present.json_csv import Record, plain
from ..present.result import Delegate, Result
from ..present.stored import Fields
from ..present.text import decimal, decimals, heaviest, left_out, listed, number, weights_head

if TYPE_CHECKING:
    from ..measures.checks import Model
    from ..robustness.certificate import Certificate

DISAGREEMENT = 0.1
"""ECC, MPC1 and MPC2 further apart than this are worth a sentence."""

LIKE_MCC = ("ecc", "mpc1", "mpc2")
"""Measures that are equal to MCC for two classes."""

OF_WEIGHTS = ("design_effect", "heaviest_row", "heaviest_cell", "cell", "warnings")
"""What is stored of a diagnosis."""


class ClassScore(NamedTuple):
    """One class against the rest."""

    label: Label
    n: int
    total: float
    n_eff: float
    precision: float
    recall: float
    f1: float
    iou: float
    mcc: float


@dataclass(frozen=True, repr=False)
class Score(Result):
    """What `wmcc.score` returns.

    Parameters
    ----------
    table
        The table that everything else was computed from.
    n, total, n_eff
        Rows, their total weight, and their effective number (Σw)²/Σw²; NaN where the weights are a matrix over pairs of
        rows. The effective number of clusters is ``clusters_eff`` of intervals.
    mcc
        For two classes; None for more.
    ecc, mpc1, mpc2, accuracy, balanced_accuracy, kappa, mean_iou, mean_f1, mean_recall
        The measures of the same names in `wmcc.measures.MEASURES`.
    classes
        Precision, recall, F1, IoU and MCC of each class against the rest; ``n``, ``total`` and ``n_eff`` are of its
        true rows.
    confidence_level
        Of `intervals`.
    ranges
        The certified range of each measure; empty unless `with_ranges` was asked for them.
    image_means
        The mean over images of each measure; empty unless `with_image_means` was asked for them.
    """

    table: Table
    n: int
    total: float
    n_eff: float
    mcc: float | None
    ecc: float
    mpc1: float
    mpc2: float
    accuracy: float
    balanced_accuracy: float
    kappa: float
    mean_iou: float
    mean_f1: float
    mean_recall: float
    classes: tuple[ClassScore, ...]
    confidence_level: float = 0.95
    ranges: dict[str, Certificate] = field(default_factory=dict)
    image_means: dict[str, Interval] = field(default_factory=dict)

    _kind = "score"
    _stored = (
        "n", "total", "n_eff", "ignored", "positive", "clusters", "strata", "replicates",
        "confidence_level", "measures", "intervals", "image_means", "ranges", "classes", "diagnosis", "warnings",
        "problem",
    )  # fmt: skip

    @property
    def paired(self) -> bool:
        """Whether the weights are a matrix over pairs of rows: then there are no intervals."""
        return self.table.drawn.kind == "pairs"

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        """How far each measure may be off because the rows are a sample: see `wmcc.interval`."""
        return {
            name: _beside(value, estimate(self._sample, MEASURES[name], self.confidence_level))
            for name, value in self.metrics().items()
        }

    @cached_property
    def class_intervals(self) -> dict[str, tuple[Interval, ...]]:
        """How far each class's own measures may be off: by name, and in the order of `classes`."""
        return {
            name: tuple(
                _beside(getattr(c, name), x) for c, x in zip(self.classes, intervals, strict=False)
            )  # void last
            for name, intervals in class_intervals(self._sample, self.confidence_level).items()
        }

    @cached_property
    def _sample(self) -> Sample[Table]:
        """What was drawn: rows, or clusters."""
        return Sample.of(self.table)

    ignored: ClassVar[Delegate[int]] = Delegate("table.ignored", "How many rows were left out.")
    positive: ClassVar[Delegate[Label | None]] = Delegate("table.positive", "The positive class, if there is one.")
    clusters: ClassVar[Delegate[int | None]] = Delegate(
        "_sample.drawn_clusters", "How many clusters intervals rest on; None without any."
    )
    strata: ClassVar[Delegate[int | None]] = Delegate(
        "_sample.drawn_strata", "How many strata were drawn from; None without strata."
    )
    replicates: ClassVar[Delegate[int | None]] = Delegate(
        "_sample.drawn_replicates", "How many replicate weights there are, or None."
    )

    @property
    def measures(self) -> dict[str, float | None]:
        """The measures of the whole table by name; MCC is None for more than two classes."""
        return {name: getattr(self, name) for name in MEASURES}

    def metrics(self, classes: bool = False) -> dict[str, float]:
        """Return the measures as a flat dict, as experiment trackers take it.

        Parameters
        ----------
        classes
            Whether to add those of each class, under names such as ``"recall/road"``.

        Examples
        --------
        >>> import wmcc
        >>> score = wmcc.score([0, 1, 2, 0] * 9, [0, 1, 1, 0] * 9)
        >>> {name: round(x, 3) for name, x in score.metrics().items()}["accuracy"]
        0.75
        >>> score.metrics(classes=True)["recall/2"]
        0.0
        """
        metrics = {name: x for name, x in self.measures.items() if x is not None}
        for c in self.classes if classes else ():
            metrics |= {f"{name}/{c.label}": getattr(c, name) for name in CLASS_MEASURES}
        return metrics

    def with_ranges(
        self,
        eps: float | None = None,
        model: Model = "relative",
        *,
        lower: Tabulated | None = None,
        upper: Tabulated | None = None,
    ) -> Score:
        """Return the same score with the certified range of each measure, for weights off by ε or within their bounds.

        The parameters are those of `wmcc.certify`.

        Examples
        --------
        >>> import wmcc
        >>> score = wmcc.score(wmcc.Table.from_counts([[80, 12], [9, 99]])).with_ranges(0.1)
        >>> score.ranges["accuracy"].ends
        ('0.8745', '0.9125')
        """
        from ..robustness.certify import certify

        off: Any = {"eps": eps, "model": model, "lower": lower, "upper": upper}
        ranges = {name: certify(self.table, MEASURES[name], **off) for name in self.intervals}
        return replace(self, ranges=ranges)

    def with_image_means(self) -> Score:
        """Return the same score with the mean over images of each measure: see `wmcc.image_scores`.

        Examples
        --------
        >>> import wmcc
        >>> images = wmcc.tabulate([0, 0, 1, 1] * 9, [0, 0, 1, 0] * 9, cluster=[k // 5 for k in range(36)])
        >>> score = wmcc.score(images).with_image_means()
        >>> round(score.accuracy, 4), round(score.image_means["accuracy"].value, 4)
        (0.75, 0.675)
        """
        from .images import image_means

        measures = [MEASURES[name] for name in self.intervals]
        return replace(self, image_means=image_means(self.table, measures, self.confidence_level))

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Effect of the weights: see `wmcc.diagnose`."""
        return diagnose(self.table)

    @property
    def disagreement(self) -> str | None:
        """A sentence if ECC, MPC1 and MPC2 differ much; None otherwise."""
        values = (self.ecc, self.mpc1, self.mpc2)
        spread = max(values) - min(values)
        if not spread > DISAGREEMENT:
            return None
        return (
            f"ECC ({decimal(self.ecc)}), MPC1 ({decimal(self.mpc1)}) and MPC2 ({decimal(self.mpc2)}) "
            f"differ by {decimal(spread)}: look at the classes. MPC1 leaves out classes that lack weight in "
            "y_true or y_pred, MPC2 counts every class alike, ECC counts them by their weight."
        )

    @property
    def shown(self) -> list[str]:
        """Names of the measures that are shown: of those that must be equal, one stands for all."""
        equal = self.mcc is not None and len({repr(getattr(self, name)) for name in ("mcc", *LIKE_MCC)}) == 1
        left = {*(LIKE_MCC if equal else ())}
        left |= {"mean_recall"} if repr(self.mean_recall) == repr(self.balanced_accuracy) else set()
        return [name for name, x in self.measures.items() if x is not None and name not in left]

    @property
    def counts(self) -> str:
        """How many rows there are, and what they weigh."""
        effective = "" if self.paired else f", effective sample size {number(self.n_eff)}"
        return f"{self.table.counts}{effective}"

    @property
    def freedom(self) -> dict[str, dict[str, str]]:
        """Degrees of freedom of the intervals, by measure, as a column: where some that are shown are few."""
        few = any(self.intervals[name].df < FEW_DF for name in self.shown)
        return {"df": {name: number(x.df, 2) for name, x in self.intervals.items()}} if few else {}

    def _beside(self) -> dict[str, dict[str, str]]:
        """What stands beside the values: columns of texts by measure."""
        level = f"{number(100 * self.confidence_level)} % interval"
        errors = decimals([x.se for x in self.intervals.values()])
        columns = {"SE": dict(zip(self.intervals, errors, strict=True))}
        columns |= {level: {name: x.ends for name, x in self.intervals.items()}, **self.freedom}
        if self.image_means:
            columns["Mean over images"] = {name: decimal(x.value) for name, x in self.image_means.items()}
            columns[f"Its {level}"] = {name: x.ends for name, x in self.image_means.items()}
        if self.ranges:
            first = next(iter(self.ranges.values()))
            columns[weights_head(first.eps, first.model)] = {name: x.span for name, x in self.ranges.items()}
        return columns

    def blocks(self) -> list[Block]:
        """Return the measures, the classes, and what to know before relying on them."""
        beside = self._beside()
        rows = [
            [MEASURES[name].title, value, *(own.get(name, "—") for own in beside.values())]
            for name, value in zip(self.shown, decimals([getattr(self, name) for name in self.shown]), strict=True)
        ]
        alike = self.alike
        overall = Block(self.counts, ["Measure", "Value", *beside], rows, [alike] if alike else [])
        return [overall, replace(class_block(self, SHOWN_CLASSES), notes=self.notes)]

    def lines(self) -> list[Block]:
        """Return the values in a line, and intervals in one; and the first of the warnings."""
        titles = [MEASURES[name].title for name in self.shown]
        units = {"Clusters": self.clusters, "Strata": self.strata, "Replicates": self.replicates}
        drawn = {title: f"{count:,}" for title, count in units.items() if count is not None}
        ignored = {"Ignored": f"{self.ignored:,}"} if self.ignored else {}
        counts = {"Rows": f"{self.n:,}", **ignored, **drawn, "Weight": number(self.total)}
        counts |= {} if self.paired else {"Eff. size": number(self.n_eff)}
        values = [*decimals([getattr(self, name) for name in self.shown]), *counts.values()]
        weights = [f"{self._about}: {'; '.join(self._of_weights)}."] if self._of_weights else []
        made = [Block("Scores", [*titles, *counts], [values], weights + self._of_intervals, 0)]
        for title, own in self._beside().items():
            if title == "SE":  # which would be a line more for each group
                continue
            cells = [own.get(name, "—") for name in self.shown]
            made.append(Block(f"{title}s" if title.endswith("interval") else title, titles, [cells], texts=0))
        return made

    @property
    def alike(self) -> str | None:
        """Say which measures are not shown, since they are equal to others; None where all are shown."""
        left = listed([MEASURES[name].title for name in LIKE_MCC if name not in self.shown])
        sentences = [f"With two classes {left} are equal to MCC."] if left else []
        if left and len(self.table.labels) == 1:
            sentences = [f"With one class {left} are undefined, as MCC is."]
        sentences += [] if "mean_recall" in self.shown else ["Mean recall is equal to balanced accuracy."]
        return " ".join(sentences) or None

    @property
    def notes(self) -> list[str]:
        """What to know before relying on the numbers, and on which classes to look."""
        notes = left_out(SHOWN_CLASSES, len(self.classes), "classes")
        absent = len(self.classes) - self.table.margins.classes
        if absent:
            neither = "occur neither in the truth nor in the prediction, and do not count in means over classes"
            notes.append(f"{absent:,} of {len(self.classes):,} classes {neither}.")
        notes += [self.disagreement] if self.disagreement else []
        notes += self._of_images
        if self.ranges:
            from ..robustness.certificate import notes_of_ranges

            notes += notes_of_ranges({MEASURES[name].title: x for name, x in self.ranges.items()})
        return [*notes, *self.warnings]

    @property
    def _stored_ranges(self) -> dict[str, Annotated[Fields, (Certificate, Certificate._row)]]:
        """The certified range of each measure, without witnesses."""
        return {name: x.picked(x._row) for name, x in self.ranges.items()}

    @property
    def _stored_diagnosis(self) -> Annotated[Fields, (Diagnosis, OF_WEIGHTS)] | None:
        """What is known of the weights; None where they are a matrix over pairs of rows."""
        return None if self.paired else self.diagnosis.picked(OF_WEIGHTS)

    @property
    def _stored_classes(self) -> list[Annotated[Fields, ClassScore, ("intervals", dict[str, Interval])]]:
        """The scores of each class against the rest, with intervals of their own."""
        return [
            {**c._asdict(), "intervals": {name: own[k] for name, own in self.class_intervals.items()}}
            for k, c in enumerate(self.classes)
        ]

    def records(self) -> list[Record]:
        """Return a row for each measure of the whole table, and for each measure of each class."""
        units = {"clusters": self.clusters, "strata": self.strata, "replicates": self.replicates}
        common = {"ignored": self.ignored, **{name: count for name, count in units.items() if count is not None}}
        scopes: list[tuple[str, Label | None, Any, dict[str, Interval]]] = [("all", None, self, self.intervals)]
        for k, c in enumerate(self.classes):
            scopes.append(("class", c.label, c, {name: xs[k] for name, xs in self.class_intervals.items()}))
        rows = []
        for scope, label, of, intervals in scopes:
            means, ranges = (self.image_means, self.ranges) if of is self else ({}, {})
            for name, x in intervals.items():
                row = {"scope": scope, "class": label, "measure": name, **_columns(of, value=name)}
                row |= _columns(x, low="low", high="high", se="se", df="df")
                row |= _columns(of, n="n", total="total", n_eff="n_eff") | common
                row |= {"confidence_level": self.confidence_level}
                if self.image_means:
                    of_mean = {"image_mean": "value", "image_mean_low": "low", "image_mean_high": "high"}
                    row |= _columns(means.get(name), **of_mean)
                row |= {"status": x.status, "warnings": "; ".join(x.warnings) or None, "problem": x.problem}
                if self.ranges:
                    row |= _columns(ranges.get(name), eps="eps", range_low="low", range_high="high")
                rows.append(row)
        return rows

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before relying on the numbers, a sentence each: of the weights, and of the intervals."""
        return (*(f"{self._about}: {sentence}." for sentence in self._of_weights), *self._of_intervals)

    @property
    def _about(self) -> str:
        """What the warnings of the diagnosis are about."""
        return "Sample" if self.table.drawn.by_design else "Weights"

    @property
    def _of_weights(self) -> tuple[str, ...]:
        """What the diagnosis warns of; that pixels are alike is said of the intervals."""
        return () if self.paired else tuple(why for why in self.diagnosis.warnings if why != FEW_PIXELS_COUNT)

    @property
    def _of_intervals(self) -> list[str]:
        return why_unsure({MEASURES[name].title: self.intervals[name] for name in self.shown})

    @property
    def _of_images(self) -> list[str]:
        """What the means over images are, of how many images they are, and why they may not be relied on."""
        if not self.image_means:
            return []
        shown = {MEASURES[name].title: self.image_means[name] for name in self.shown}
        images = len(self.table.drawn.clusters)
        said = [
            "Value: of all rows together. Mean over images: of each image's own score; every image counts the same."
        ]
        for count in sorted({x.clusters or 0 for x in shown.values()} - {images}):
            titles = listed([title for title, x in shown.items() if (x.clusters or 0) == count])
            said.append(f"{titles}: the mean is over {count:,} of {images:,} images; it is undefined in the others.")
        unsure = why_unsure({f"the mean over images of {title}": x for title, x in shown.items()})
        return said + [x.replace("* Intervals: ", "* Intervals of means over images: ") for x in unsure]

    @property
    def problem(self) -> str | None:
        """Why no measure has an interval; None if one has."""
        known = [x.problem for x in self.intervals.values()]
        return known[0] if all(known) else None


def _columns(of: Any, **attributes: str) -> Record:
    """Return attributes of a result by the names of their columns; None where there is no result."""
    return plain({column: getattr(of, name, None) for column, name in attributes.items()})  # type: ignore[no-any-return]


def class_block(score: Score, most: int) -> Block:
    """Return a row for each class, at most so many."""
    rows = []
    for c in (score.classes[k] for k in heaviest([c.total for c in score.classes], most)):
        positive = " (positive)" * (score.positive is not None and c.label == score.positive)
        values = decimals([getattr(c, name) for name in CLASS_MEASURES])
        rows.append([f"{c.label}{positive}", f"{c.n:,}", number(c.total), *values])
    head = ["Class", "Rows", "Weight", *(m.title for m in CLASS_MEASURES.values())]
    return Block("Each class against the rest", head, rows)


def _beside(value: float, interval: Interval) -> Interval:
    """Return the interval to stand beside a value: none, if terms are undefined and were replaced by other than 0."""
    if value == interval.value or interval.problem is not None:
        return replace(interval, value=value)
    why = "undefined terms count as 0 in an interval, and `zero_division` gave them another value"
    return replace(interval, value=value, low=nan, high=nan, se=nan, df=nan, warnings=(), problem=why)


# fmt: off
@overload
def score(table: Tabulated, /, *, zero_division: ZeroDivision = ..., confidence_level: float = ...) -> Score: ...
@overload
def score(tables: Tables[Table], /, *, zero_division: ZeroDivision = ..., confidence_level: float = ...) -> Groups: ...
@overload
def score(
    y_true: Any, y_pred: Any, *, sample_weight: Any = ...,
    zero_division: ZeroDivision = ..., confidence_level: float = ...,
) -> Score: ...
# fmt: on
@for_tabulated()
def score(
    y_true: Any,
    y_pred: Any = None,
    *,
    sample_weight: Any = None,
    zero_division: ZeroDivision = 0.0,
    confidence_level: float = 0.95,
) -> Score | Groups:
    """Compute all measures of a table at once, with their intervals.

    Parameters
    ----------
    y_true
        A `wmcc.Table`, or a `wmcc.Tables`, and nothing after it; or true labels.
    y_pred, sample_weight
        Predicted labels, and a weight per row.
    zero_division
        As in `wmcc.measures.Measure`.
    confidence_level
        Of the intervals, as in `wmcc.interval`.

    Returns
    -------
    Score
        Of `wmcc.Tables` the scores of all groups, which show and store themselves together: ``found[key]`` is the
        `Score` of one, and ``found.to_frame()`` has the rows of all.

    Examples
    --------
    >>> import wmcc
    >>> truth, guess = ["oak", "elm", "elm", "oak"] * 50, ["oak", "elm", "oak", "elm"] * 50
    >>> wmcc.score(wmcc.tabulate(truth, guess, [300, 140, 35, 40] * 50, positive="oak"))
    200 rows, total weight 25,750, effective sample size 117.956
    Measure             Value      SE     95 % interval
    MCC                0.6778  0.0381  0.5950 to 0.7464
    Accuracy           0.8544  0.0182  0.8145 to 0.8868
    Balanced accuracy  0.8412  0.0191  0.7997 to 0.8754
    Cohen's kappa      0.6777  0.0382  0.5948 to 0.7463
    Mean IoU           0.7256  0.0276  0.6677 to 0.7768
    Mean F1            0.8388  0.0191  0.7973 to 0.8731
    <BLANKLINE>
    With two classes ECC (R_K), MPC1 and MPC2 are equal to MCC. Mean recall is equal to balanced accuracy.
    <BLANKLINE>
    Each class against the rest
    Class           Rows  Weight  Precision  Recall      F1     IoU     MCC
    elm              100   8,750     0.7778  0.8000  0.7887  0.6512  0.6778
    oak (positive)   100  17,000     0.8955  0.8824  0.8889  0.8000  0.6778
    >>> found = wmcc.score(wmcc.tabulate(truth, guess, by=["hill", "hill", "plain", "plain"] * 50))
    >>> found["hill"].accuracy, found["plain"].accuracy
    (1.0, 0.0)
    >>> found.to_frame().query("scope == 'all' and measure == 'accuracy'")[["by", "value", "low", "high"]].round(4)
           by  value     low    high
    4    hill    1.0  0.9638  1.0000
    24  plain    0.0  0.0000  0.0362
    """
    level = checked_level(confidence_level)
    if isinstance(y_true, Tables) and not y_true.names and y_pred is None and sample_weight is None:
        tables: Tables[Table] = y_true
        return Groups.of(tables, lambda key: score(tables[key], zero_division=zero_division, confidence_level=level))
    table = table_of(y_true, y_pred, sample_weight)
    usual = zero_division == 0.0  # values that intervals need again

    def value(measure: Measure) -> float:
        return measure.value_or_reason(table)[0] if usual else measure(table, zero_division=zero_division)

    overall = {
        name: value(measure) if not measure.two_classes or measure.fits(table) else None
        for name, measure in MEASURES.items()
    }
    by_class = {name: measure(table, zero_division=zero_division) for name, measure in CLASS_MEASURES.items()}
    paired = table.drawn.kind == "pairs"  # entries of a matrix are no rows, and have no effective number
    sizes = (nan,) * len(table.labels) if paired else table.class_n_eff
    rows = zip(table.classes, table.true_counts.tolist(), table.true_sums.tolist(), sizes, strict=False)  # void last
    classes = tuple(ClassScore(*own, *(float(x[k]) for x in by_class.values())) for k, own in enumerate(rows))
    n_eff = nan if paired else table.n_eff
    return Score(table, table.rows, table.total, n_eff, **overall, classes=classes, confidence_level=level)  # type: ignore[arg-type]

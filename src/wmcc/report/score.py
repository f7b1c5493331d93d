"""All measures of one table in one object that prints as a readable table."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from ..inference import effective_sample_size
from ..labels import Label
from ..measures import CLASS_MEASURES, MEASURES
from ..measures.base import ZeroDivision, as_table
from ..table import Table
from ..text import decimal, grid, html_table, number

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
        names = [m for m in MEASURES.values() if getattr(self, m.name) is not None]
        rows = [[m.title, decimal(getattr(self, m.name))] for m in names]
        rows += [["Rows", f"{self.n:,}"]]
        if self.table.ignored:
            rows += [["Rows ignored", f"{self.table.ignored:,}"]]
        return [*rows, ["Total weight", number(self.weight)], ["Effective sample size", number(self.n_eff)]]

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
        notes = [f"… and {more} more classes"] if more > 0 else []
        return notes + ([self.disagreement] if self.disagreement else [])

    def __repr__(self) -> str:
        parts = [grid(self._overall()), grid(self._classes()), *self._notes()]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        classes = self._classes()
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return html_table([], self._overall()) + html_table(classes[0], classes[1:]) + notes


def score(
    y_true: Any,
    y_pred: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    zero_division: ZeroDivision = 0.0,
    **options: Any,
) -> Score:
    """Compute all measures at once, from a `Table` or from labels and weights.

    Parameters
    ----------
    y_true, y_pred, sample_weight, weight, **options
        A table, or what `wmcc.tabulate` takes.
    zero_division
        As in `wmcc.Measure`.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.score(["oak", "elm", "oak", "elm"], ["oak", "elm", "elm", "elm"], [300, 40, 25, 10], positive="oak")
    MCC                     0.7845
    ECC (R_K)               0.7845
    MPC1                    0.7845
    MPC2                    0.7845
    Accuracy                0.9333
    Balanced accuracy       0.9615
    Cohen's kappa           0.7619
    Rows                         4
    Total weight               375
    Effective sample size  1.52315
    <BLANKLINE>
    Class           Rows  Weight  Precision  Recall      F1     IoU     MCC
    elm                2      50     0.6667  1.0000  0.8000  0.6667  0.7845
    oak (positive)     2     325     1.0000  0.9231  0.9600  0.9231  0.7845
    """
    table = as_table(y_true, y_pred, sample_weight, weight, **options)
    two = len(table.labels) <= 2
    overall = {
        name: None if measure.two_classes and not two else measure(table, zero_division=zero_division)
        for name, measure in MEASURES.items()
    }
    by_class = {name: measure(table, zero_division=zero_division) for name, measure in CLASS_MEASURES.items()}
    rows = zip(table.labels, table.n.sum(axis=1).tolist(), table.true_sums.tolist(), strict=True)
    classes = tuple(
        ClassScore(label, n, weight, **{name: float(values[k]) for name, values in by_class.items()})
        for k, (label, n, weight) in enumerate(rows)
    )
    return Score(table, table.rows, table.total, effective_sample_size(table), **overall, classes=classes)  # type: ignore[arg-type]

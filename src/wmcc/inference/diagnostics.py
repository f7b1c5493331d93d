"""Effect of the weights: effective sample sizes, and who carries the weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.labels import Label
from ..core.table import Table, Tabulated, one_table
from ..errors import InputError
from ..measures.base import check_scorable
from ..measures.checks import checked_number
from ..present.blocks import Block
from ..present.result import Result
from ..present.text import heaviest, left_out, number
from ..present.written import Record, finite, plain
from .influence import CellSums
from .reliability import below


def effective_sample_size(table: Tabulated) -> float:
    """(Σw)² / Σw²: how many equally weighted observations would be as informative about a mean.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.effective_sample_size(wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 97]))
    1.062473438164046
    """
    found = one_table(table)
    check_scorable(found)
    sums = found.stack.sums
    return worth(sums.w_exact.total(), sums.w2_exact.total(), 2 * sums.w_exact.exponent - sums.w2_exact.exponent)


def worth(w: int, w2: int, shift: int) -> float:
    """Return (Σw)² / Σw², where the unit of the first is so many bits larger; 0 if there is no weight."""
    n, d = w * w << max(shift, 0), w2 << max(-shift, 0)
    return n / d if d else 0.0


def class_sizes(table: Table) -> list[float]:
    """Effective sample sizes of the true classes; 0 for one without weight."""
    seen = table.stack.along([0])
    shift = 2 * seen.sums.w_exact.exponent - seen.sums.w2_exact.exponent
    out = [0.0] * len(table.labels)
    sums = seen.sums.w_exact.integers(), seen.sums.w2_exact.integers()
    for k, w, w2 in zip(seen.codes[0].tolist(), *sums, strict=True):
        out[k] = worth(w, w2, shift)
    return out


class ClassSize(NamedTuple):
    """What the weights leave of one true class."""

    label: Label
    n: int
    total: float
    n_eff: float


SHOWN_CLASSES = 50
"""Classes that are listed: the heaviest."""


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

    _kind = "diagnosis"
    _stored = (
        "n", "total", "n_eff", "design_effect", "heaviest_row", "heaviest_cell", "cell", "classes", "warnings",
    )  # fmt: skip

    def blocks(self) -> list[Block]:
        """Return what the weights leave of all rows and of each true class, and warnings."""
        rows = [
            ["Rows", f"{self.n:,}"],
            ["Total weight", number(self.total)],
            ["Effective sample size", number(self.n_eff)],
            ["Design effect", number(self.design_effect)],
            ["Heaviest row", f"{number(100 * self.heaviest_row, 4)} %"],
            [f"Heaviest cell ({self.cell[0]}, {self.cell[1]})", f"{number(100 * self.heaviest_cell, 4)} %"],
        ]
        overall = Block("Effect of the weights", (), rows)
        shown = [self.classes[k] for k in heaviest([c.total for c in self.classes], SHOWN_CLASSES)]
        lines = [[str(c.label), f"{c.n:,}", number(c.total), number(c.n_eff)] for c in shown]
        notes = [*left_out(len(shown), len(self.classes), "classes"), *self.warnings]
        return [overall, Block("True classes", ["Class", "Rows", "Weight", "Effective"], lines, notes)]

    def records(self) -> list[Record]:
        """Return a row for all rows, and one for each true class."""
        whole = {"scope": "all", "class": None, "n": self.n, "total": finite(self.total), "n_eff": finite(self.n_eff)}
        own = ({"scope": "class", "class": c.label, **plain(c._asdict())} for c in self.classes)
        return [whole, *({name: row[name] for name in whole} for row in own)]


def diagnose(
    table: Tabulated,
    *,
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
    n_eff, class_n_eff
        Warn if the effective number of all rows, or of the rows of a class, is below this.
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
    found = one_table(table)
    limits = {"n_eff": n_eff, "class_n_eff": class_n_eff, "design_effect": design_effect, "row_share": row_share}
    for name, limit in limits.items():
        if checked_number(limit, name) < 0:
            raise InputError(f"{name} is {limit!r}; expected a number of at least 0.", argument=name)
    size, of_classes, cells = effective_sample_size(found), class_sizes(found), CellSums.of(found)
    effect = found.rows / size
    classes = zip(found.classes, found.true_counts.tolist(), found.true_sums.tolist(), of_classes, strict=False)
    row, cell = float(cells.w_max.max()), int(np.argmax(cells.w))
    a, b = cells.codes[:, cell]
    warnings = []
    if size < n_eff or effect >= design_effect:
        warnings.append(_few_rows(found.rows, size, n_eff))
    warnings += _few_of_class(found.labels, of_classes, class_n_eff)
    if row > row_share:
        warnings.append(f"one row holds {number(100 * row, 3)} % of the weight")
    return Diagnosis(
        found.rows,
        found.total,
        size,
        effect,
        tuple(ClassSize(*c) for c in classes),
        row,
        float(cells.w[cell]),
        (found.labels[a], found.labels[b]),
        tuple(warnings),
    )


def _few_rows(rows: int, size: float, least: float) -> str:
    if rows - size < 1e-9 * rows:  # the weights are equal
        return "there is only 1 row" if rows == 1 else f"there are only {rows:,} rows"
    shown = below(size, least) if size < least else number(size, 3)
    return f"the effective sample size is {shown}, of {rows:,} rows"


def _few_of_class(labels: tuple[Label, ...], sizes: list[float], least: float) -> list[str]:
    """Name the class with the fewest effective rows, if these are fewer than so many; absent ones are not meant."""
    small = [(size, label) for label, size in zip(labels, sizes, strict=True) if 0 < size < least]
    if not small:
        return []
    size, label = min(small, key=lambda x: x[0])
    shown, count = below(size, least), len(small) - 1
    what = "true class has" if count == 1 else "true classes have"
    others = f", and {count} more {what} fewer than {number(least)}" if count else ""
    return [f"true class {label!r} has {shown} effective row{'s' * (shown != '1')}{others}"]

"""What the weights leave of the data: effective sample sizes, and who carries the weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.labels import Label
from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputError, InputTypeError
from ..measures.base import as_table, check_scorable
from ..measures.checks import checked_number
from ..present.text import grid, html, number
from ..sources.columns import weight_array
from .influence import Cells


def effective_sample_size(table: Table) -> float:
    """(Σw)² / Σw²: how many equally weighted observations would be as informative about a mean.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.effective_sample_size(wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 97]))
    1.062473438164046
    """
    check_scorable(as_table(table))
    sums = table.stack.sums
    return worth(sums.w_exact.total(), sums.w2_exact.total(), 2 * sums.w_exact.exponent - sums.w2_exact.exponent)


def worth(w: int, w2: int, shift: int) -> float:
    """Return (Σw)² / Σw², where the unit of the first is so many bits larger; 0 if there is no weight."""
    n, d = w * w << max(shift, 0), w2 << max(-shift, 0)
    return n / d if d else 0.0


class Sizes(NamedTuple):
    """Effective sample sizes of a table: of all rows, and of each true class."""

    labels: tuple[Label, ...]
    all: float
    true: list[float]

    @classmethod
    def of(cls, table: Table) -> Sizes:
        """Sizes of a table that has weight; 0 for a class without."""
        seen = table.stack.along([0])
        shift = 2 * seen.sums.w_exact.exponent - seen.sums.w2_exact.exponent
        true = [0.0] * len(table.labels)
        sums = seen.sums.w_exact.integers(), seen.sums.w2_exact.integers()
        for k, w, w2 in zip(seen.codes[0].tolist(), *sums, strict=True):
            true[k] = worth(w, w2, shift)
        return cls(table.labels, effective_sample_size(table), true)

    def warnings(self, least: float) -> tuple[str, ...]:
        """Name classes that rest on fewer than ``least`` effective observations; absent ones are not meant."""
        small = [
            (size, f"true class {label!r}")
            for label, size in zip(self.labels, self.true, strict=True)
            if 0 < size < least
        ]
        if not small:
            return ()
        size, name = min(small)
        count = len(small) - 1
        what = "true class" if count == 1 else "true classes"
        others = f", and {count} more {what} on fewer than {number(least)}" if count else ""
        return (f"{name} rests on {number(size, 3)} effective rows{others}",)


class ClassSize(NamedTuple):
    """What the weights leave of one true class."""

    label: Label
    n: int
    weight: float
    n_eff: float


SHOWN_CLASSES = 30


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What `wmcc.diagnose` returns.

    Parameters
    ----------
    n, weight, n_eff
        Rows, their total weight, and the effective sample size (Σw)² / Σw².
    design_effect
        n / n_eff: by what factor uneven weights multiply the variance of a mean.
    classes
        The same per true class; empty if only weights were given.
    heaviest_row
        Share of the total weight that one row holds, the heaviest.
    heaviest_cell, cell
        Share of the total weight in one cell of the table, and which: (true class, predicted class).
    warnings
        What is beyond the limits, a sentence each.
    """

    n: int
    weight: float
    n_eff: float
    design_effect: float
    classes: tuple[ClassSize, ...]
    heaviest_row: float
    heaviest_cell: float
    cell: tuple[Label, Label] | None
    warnings: tuple[str, ...]

    def _overall(self) -> list[list[str]]:
        rows = [
            ["Rows", f"{self.n:,}"],
            ["Total weight", number(self.weight)],
            ["Effective sample size", number(self.n_eff)],
            ["Design effect", number(self.design_effect)],
            ["Heaviest row", f"{number(100 * self.heaviest_row, 4)} %"],
        ]
        if self.cell is not None:
            rows.append([f"Heaviest cell ({self.cell[0]}, {self.cell[1]})", f"{number(100 * self.heaviest_cell, 4)} %"])
        return rows

    def _classes(self) -> list[list[str]]:
        head = ["Class", "Rows", "Weight", "Effective"]
        shown = self.classes[:SHOWN_CLASSES]
        return [head, *([str(c.label), f"{c.n:,}", number(c.weight), number(c.n_eff)] for c in shown)]

    def _notes(self) -> list[str]:
        more = len(self.classes) - SHOWN_CLASSES
        return [*([f"… and {more} more classes"] if more > 0 else []), *self.warnings]

    def __repr__(self) -> str:
        parts = [grid(self._overall()), *([grid(self._classes())] if self.classes else []), *self._notes()]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        tables = {"What the weights leave of the data": [[], *self._overall()]}
        return html(tables | ({"True classes": self._classes()} if self.classes else {}), self._notes())


LIMITS = {"n_eff": 30.0, "class_n_eff": 10.0, "design_effect": 10.0, "row_share": 0.1}
"""Where warnings begin, by the arguments of `diagnose`."""


def diagnose(
    y_true: Any,
    y_pred: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    n_eff: float = LIMITS["n_eff"],
    class_n_eff: float = LIMITS["class_n_eff"],
    design_effect: float = LIMITS["design_effect"],
    row_share: float = LIMITS["row_share"],
    **options: Any,
) -> Diagnosis:
    """Say what the weights leave of the data, and warn where that is little.

    Parameters
    ----------
    y_true, y_pred, sample_weight, weight, **options
        A table, or what `wmcc.tabulate` takes; or weights alone.
    n_eff, class_n_eff
        Warn if all rows, or those of a class, are worth fewer rows of equal weight.
    design_effect
        Warn if so many rows or more are worth one of equal weight.
    row_share
        Warn if one row holds more of the total weight.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.diagnose([1, 1, 1, 1, 96])
    Rows                        5
    Total weight              100
    Effective sample size  1.0846
    Design effect            4.61
    Heaviest row             96 %
    <BLANKLINE>
    5 rows are worth 1.08 of equal weight
    <BLANKLINE>
    one row holds 96 % of the weight
    """
    limits = {"n_eff": n_eff, "class_n_eff": class_n_eff, "design_effect": design_effect, "row_share": row_share}
    for name, limit in limits.items():
        if checked_number(limit, name) < 0:
            raise InputError(f"{name} is {limit!r}; expected a number of at least 0.")
    alone = y_pred is None and not isinstance(y_true, (Table, Tables)) and options.get("true") is None
    if alone and (sample_weight is not None or weight is not None or options):
        raise InputTypeError("expected a table, or y_true and y_pred; or weights, and nothing beside them.")
    if alone:
        w = weight_array(y_true, "weights").reshape(-1)
        none = np.zeros(len(w), dtype=np.int8)
        y_true, y_pred, sample_weight = none, none, w
    table = as_table(y_true, y_pred, sample_weight, weight, **options)
    return diagnosed(table, limits, by_class=not alone)


def diagnosed(table: Table, limits: dict[str, float] = LIMITS, by_class: bool = True) -> Diagnosis:
    """Diagnosis of a table, by limits that are named as the arguments of `diagnose`."""
    check_scorable(table)
    cells = Cells.of(table)
    sizes = Sizes.of(table)
    effect = table.rows / sizes.all
    classes = zip(table.labels, table.true_counts.tolist(), table.true_sums.tolist(), sizes.true, strict=True)
    row, cell = float(cells.w_max.max()), int(np.argmax(cells.w))
    a, b = cells.codes[:, cell]
    warnings = []
    if sizes.all < limits["n_eff"] or effect >= limits["design_effect"]:
        warnings.append(f"{table.rows:,} rows are worth {number(sizes.all, 3)} of equal weight")
    if by_class:
        warnings += sizes.warnings(limits["class_n_eff"])
    if row > limits["row_share"]:
        warnings.append(f"one row holds {number(100 * row, 3)} % of the weight")
    return Diagnosis(
        table.rows,
        table.total,
        sizes.all,
        effect,
        tuple(ClassSize(*c) for c in classes) if by_class else (),
        row,
        float(cells.w[cell]),
        (table.labels[a], table.labels[b]) if by_class else None,
        tuple(warnings),
    )

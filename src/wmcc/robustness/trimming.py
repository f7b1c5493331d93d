"""What a score would be with trimmed weights: every weight above a cap cut to the cap.

A table does not have the weights one by one, so the trimmed sum of a cell is known only between two ends. They follow
from the number of rows, Σw, Σw², and the smallest and largest weight: docs/understand/theory.md, section 13, has the
proofs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isqrt, nan
from typing import NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.stack import numbered
from ..core.table import Table, Tabulated, one_table
from ..errors import InputError, InputTypeError
from ..measures import MEASURES
from ..measures.base import Measure, MeasureName, for_tabulated
from ..measures.checks import checked_number, named_measure
from ..present.blocks import Block
from ..present.json_csv import Record, plain
from ..present.result import Result
from ..present.text import at_least, at_most, counted, decimal, number, outward
from .box import Box, whole
from .certify import certified_ends, limits_of
from .interval_arithmetic import down, up

GUARD = 64
"""Bits below the last one of a table's sums, to which quotients are rounded outward."""


class Trimming(NamedTuple):
    """What is known of a score with the weights cut to one cap.

    Parameters
    ----------
    cap
        Weights above it are cut to it.
    low, high
        The score is at least and at most this.
    exact
        The score, if the table determines it: in no cell are there weights on both sides of the cap. Else None.
    cut_low, cut_high
        The share of the total weight that is cut is at least and at most this.
    """

    cap: float
    low: float
    high: float
    exact: float | None
    cut_low: float
    cut_high: float


@dataclass(frozen=True, repr=False)
class TrimmingCurve(Result):
    """What `wmcc.certify_trimming` returns: the range of a score for each cap.

    Parameters
    ----------
    measure
        Name of the measure.
    value
        The measure at the weights as they are.
    points
        A `Trimming` for each cap, in the order of the caps: `cap`, `low`, `high`, `exact`, `cut_low` and `cut_high`.
    n, total
        Number of rows, and their weight before it is cut.
    problem
        Why there are no ranges, and their ends are NaN: the measure is undefined. None if there are.
    """

    measure: str
    value: float
    points: tuple[Trimming, ...]
    n: int
    total: float
    problem: str | None = None

    _kind = "trimming curve"
    _stored = ("measure", "value", "points", "n", "total", "problem")

    @property
    def caps(self) -> FloatArray:
        """The caps."""
        return np.array([point.cap for point in self.points])

    @property
    def low(self) -> FloatArray:
        """Certified lower ends of the score, for each cap."""
        return np.array([point.low for point in self.points])

    @property
    def high(self) -> FloatArray:
        """Certified upper ends of the score, for each cap."""
        return np.array([point.high for point in self.points])

    def blocks(self) -> list[Block]:
        """Return a row for each cap, below what it is of."""
        (made,) = self.lines()
        return [replace(made, title=f"{made.title}, {counted(self.n, 'row')}")]

    def lines(self) -> list[Block]:
        """Return a row for each cap."""
        rows = [[number(x.cap), _cut(x), decimal(self.value), _score(x)] for x in self.points]
        notes = [] if all(map(_is_told, self.points)) else list(OPEN)
        notes = [f"There is no range: {self.problem}."] if self.problem else notes
        title = f"{MEASURES[self.measure].title} with weights cut to a cap"
        return [Block(title, ["Cap", "Weight cut", "As weighted", "Trimmed"], rows, notes)]

    def records(self) -> list[Record]:
        """Return a row for each cap."""
        common = plain({"measure": self.measure, "value": self.value, "n": self.n, "total": self.total})
        return [{**common, **plain(point._asdict()), "problem": self.problem} for point in self.points]


OPEN = (
    "Where there is a range, the table does not determine the score, since it does not store each weight.",
    "For the score itself, tabulate the rows with the smaller of weight and cap as their weights.",
)


def _is_told(x: Trimming) -> bool:
    """Whether the score is known to as many digits as are shown."""
    return x.exact is not None or decimal(x.low) == decimal(x.high)


def _score(x: Trimming) -> str:
    told = x.low if x.exact is None else x.exact
    return decimal(told) if _is_told(x) else " to ".join(outward(x.low, x.high))


def _cut(x: Trimming) -> str:
    low, high = at_most(100 * x.cut_low), at_least(100 * x.cut_high)
    told = {number(100 * end, 3) for end in (x.cut_low, x.cut_high)}
    return f"{told.pop()} %" if len(told) == 1 else f"{low} % to {high} %"


@for_tabulated()
def certify_trimming(
    table: Tabulated,
    measure: MeasureName | Measure = "ecc",
    *,
    caps: Sequence[float] | FloatArray,
    gap: float = 0.0,
    nodes: int | None = None,
    seconds: float | None = None,
) -> TrimmingCurve:
    """Certify the range of a measure for weights that are cut to each of several caps.

    Surveys trim large weights, since a few of them can dominate an estimate. The curve shows how much a score depends
    on the choice of the cap.

    Parameters
    ----------
    table
        A `wmcc.Table`.
    measure
        As in `wmcc.certify`.
    caps
        Numbers above 0, in the unit of the weights. Each weight above a cap is cut to the cap.
    gap, nodes, seconds
        Limits of the search for each end of a range, as in `wmcc.certify`.

    Returns
    -------
    TrimmingCurve
        For each cap the range of the score, and of the share of weight that is cut. Where the measure is undefined, its
        `problem` says why there is no range.

    Notes
    -----
    A table has the number of rows, Σw, Σw², and the smallest and largest weight of each cell; with clusters or strata,
    of each cell of each of them. A cell whose weights are all below the cap, or all above it, has a known trimmed sum.
    For others the sum is bounded, tightly as far as these numbers tell; see docs/understand/theory.md for the proofs.
    With the rows at hand the score itself is ``wmcc.ecc(y_true, y_pred, sample_weight=numpy.minimum(w, cap))``.

    Measures do not change if all weights are multiplied by one number. So it makes no difference whether the weight
    that was cut is given back to all rows in proportion to their trimmed weights.

    Examples
    --------
    >>> import wmcc
    >>> truth, pred = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 0, 0, 0, 1, 1, 0, 2, 2, 1]
    >>> w = [1, 2, 4, 7, 3, 9, 1, 2, 25, 2]
    >>> wmcc.certify_trimming(wmcc.tabulate(truth, pred, w), "ecc", caps=[20, 5, 1])
    ECC (R_K) with weights cut to a cap, 10 rows
    Cap        Weight cut  As weighted           Trimmed
    20             8.93 %       0.9158            0.9107
    5    44.6 % to 47.2 %       0.9158  0.8505 to 0.8556
    1              82.1 %       0.9158            0.7035
    <BLANKLINE>
    Where there is a range, the table does not determine the score, since it does not store each weight.
    For the score itself, tabulate the rows with the smaller of weight and cap as their weights.
    """
    given, chosen, limits = one_table(table), named_measure(measure), limits_of(gap, nodes, seconds)
    if isinstance(caps, (str, bytes)) or not np.iterable(caps):
        raise InputTypeError(
            f"`caps` is {caps!r:.40}; expected a list of numbers.", "put one into a list: [50].", argument="caps"
        )
    above = "a number above 0, in the unit of the weights"
    amounts = [checked_number(x, "caps", lambda x: x > 0, above) for x in caps]
    if not amounts:
        raise InputError("`caps` is empty; expected at least one number.", argument="caps")
    points, problem, value = [], None, nan
    for cap in amounts:
        box = trimmed_box(given, cap)
        value, lower, upper, _, problem = certified_ends(given, chosen, box, limits, vanishing=False)
        exact = lower.attained if problem is None and bool(box.fixed.all()) else None
        points.append(Trimming(cap, lower.bound, upper.bound, exact, *_cut_shares(given, box)))
    return TrimmingCurve(chosen.name, value, tuple(points), given.rows, given.total, problem)


def _cut_shares(table: Table, box: Box) -> tuple[float, float]:
    """Smallest and largest share of the weight that is cut, rounded outward."""
    total = sum(table._weights) << (table.cells.sums.w_exact.exponent - box.exponent)
    least, most = (max(total - sum(side), 0) for side in (box.high, box.low))
    low, high = (part / total if part else 0.0 for part in (least, most))
    return max(float(down(low)), 0.0), min(float(up(high)), 1.0) if most else 0.0


def trimmed_box(table: Table, cap: float) -> Box:
    """Return the box of the trimmed sums of a table's cells: the true sums lie in it."""
    parts, cells = table.design_cells, table.cells
    _, of = numbered(parts.codes[: len(cells.codes)])  # where each part belongs, of clusters or strata
    sums = parts.sums
    mixed = (sums.w_min < cap) & (sums.w_max > cap)
    used = [cap, *sums.w_min[mixed].tolist(), *sums.w_max[mixed].tolist()]
    unit = min(sums.w_exact.exponent, *(1 - x.as_integer_ratio()[1].bit_length() for x in used)) - GUARD
    powers = ((1, sums.w_exact), (2, sums.w2_exact))  # Σw and Σw², in this power of the unit
    weights, squares = ([_shifted(x, e.exponent - k * unit) for x in e.integers()] for k, e in powers)
    c, low, high = whole(cap, unit), [0] * len(cells), [0] * len(cells)
    for k, (place, n) in enumerate(zip(of.tolist(), sums.n.tolist(), strict=True)):
        if mixed[k]:
            a, b = whole(float(sums.w_min[k]), unit), whole(float(sums.w_max[k]), unit)
            least, most = trimmed_sum(n, weights[k], squares[k], a, b, c)
        else:
            least = most = weights[k] if sums.w_max[k] <= cap else n * c
        low[place] += least
        high[place] += most
    return Box(low, high, unit)


def trimmed_sum(n: int, S: int, Q: int, a: int, b: int, c: int) -> tuple[int, int]:
    """Return the smallest and the largest Σ min(w, c) that n weights from a to b may have, rounded outward.

    They have the sum S, and the sum of squares Q, which is rounded; a < c < b. What is bounded is X = Σ max(w − c, 0),
    the weight that is cut: by the sums of parabolas and lines that lie below max(w − c, 0), or above it, from a to b.
    """
    off = (Q * (n + 3) >> 52) + 1  # squares are rounded to 53 bits, and engines round each of their sums
    a, b = min(a, S // n), max(b, -(-S // n))  # so that rounded sums are sums of some weights
    Q_most, Q_least = max(Q + off, -(-S * S // n)), min(Q - off, (a + b) * S - n * a * b)
    # Below: 0, w − c, and (w − a)(w − c)/(b − a), which meets it at a, c and b.
    X_least = max(0, S - n * c, (Q_least - (a + c) * S + n * a * c) // (b - a))
    # Above: the chord from a to b; a parabola that touches 0 at c − r and w − c at c + r; and where one of these is not
    # between a and b, one that meets it at that end and touches it on the other side.
    A, B, C = (Q_most - 2 * x * S + n * x * x for x in (a, b, c))  # Σ(w − a)², Σ(w − b)², Σ(w − c)²
    u, v, r = S - n * a, n * b - S, max(isqrt(C // n), 1)
    above = [-(-u * (b - c) // (b - a)), -(-(C + 2 * r * (S - n * c) + n * r * r) // (4 * r))]
    if 0 < 2 * (c - a) * u <= A:
        above.append(u - (c - a) * u * u // A)
    if 0 < 2 * (b - c) * v <= B:
        above.append(n * (b - c) - (b - c) * v * v // B)
    return S - min(above), S - X_least


def _shifted(x: int, by: int) -> int:
    return x << by if by >= 0 else x >> -by

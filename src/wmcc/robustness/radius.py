"""How far weights may be off before a statement about a score stops being certain."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, nextafter
from sys import float_info
from typing import Any

import numpy as np

from ..core.joint import JointTable
from ..core.table import Table
from ..errors import InputError, InputTypeError
from ..measures.base import Measure
from ..measures.checks import checked_number
from ..present.text import at_least, at_most, decimal, html, number
from .box import boxes_of
from .bracket import Question, Tried, bracket
from .cells import Cells
from .certificate import End
from .certify import glanced, limits_of, one_end
from .objective import MeasureObjective
from .request import Model, checked_model, request
from .search import Limits

DIGITS = 6
"""Of a radius that is shown."""

TOP = float(np.nextafter(1.0, 0.0))
"""The largest ε of the relative model."""

MOST = 200
"""Boxes per value of ε that is tried, of a small table: fewer than for a certificate, as there are several."""

COARSE = 1e-3
"""How well the lower end of a bracket is found where the search does not close it."""


UNPROVED = "we could not prove that this survives even a small change of the weights"
STOPPED = "the search for a proof stopped at its limit of boxes"


@dataclass(frozen=True, repr=False)
class Radius:
    """What `wmcc.radius` returns: a bracket of the ε up to which a statement holds.

    Parameters
    ----------
    statement
        What holds, in words.
    model
        ``"relative"`` or ``"absolute"``.
    value
        The score at the weights as they are.
    safe
        The statement holds for all weights that are off by no more than this, certainly.
    broken
        Some weights that are off by no more than this break it; None if none were found for any ε.
    witness
        Where it is broken, with the value there; None if it is not.
    stopped
        Whether the search for a proof met its limits above ``safe``. The statement may hold beyond ``safe`` then, and
        more ``nodes`` may prove it.
    """

    statement: str
    model: str
    value: float
    safe: float
    broken: float | None
    witness: End | None
    stopped: bool = False

    @property
    def ends(self) -> tuple[str, str | None]:
        """Both ε for people: the one that is safe is rounded down, the other up."""
        scale, unit = (100, " %") if self.model == "relative" else (1, "")
        broken = None if self.broken is None else f"{at_least(scale * self.broken, DIGITS)}{unit}"
        return f"{at_most(scale * self.safe, DIGITS)}{unit}", broken

    def __repr__(self) -> str:
        safe, broken = self.ends
        now = f"{self.statement} (now {decimal(self.value)})"
        lines = [f"{now} for any weights off by up to {safe}" if self.safe > 0 else f"{now}; {UNPROVED}"]
        lines.append(
            f"at {broken} there are weights that break it" if broken else "no weights were found that break it"
        )
        return "\n".join([*lines, *[f"{STOPPED}; more nodes= may prove it further"] * self.stopped])

    def _repr_html_(self) -> str:
        return html({}, repr(self).splitlines())


def radius(
    y_true: Any,
    y_pred: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    measure: str | Measure = "ecc",
    threshold: float | None = None,
    change: float | None = None,
    model: Model = "relative",
    tolerance: float = 1e-6,
    gap: float = 0.0,
    nodes: int | None = None,
    seconds: float | None = None,
    **options: Any,
) -> Radius:
    """Find how far weights may be off before a score crosses a threshold, or changes by more than an amount.

    Parameters
    ----------
    y_true, y_pred, sample_weight, weight, **options
        A table, and then maybe the measure; or what `wmcc.tabulate` takes.
    measure
        As in `wmcc.certify`.
    threshold
        A score that is at least this is asked to stay so; one that is below, to stay at or below it.
    change
        Instead: the score is asked to stay within this of its value.
    model
        As in `wmcc.certify`.
    tolerance
        How narrow the bracket is to be, as a share of the radius. It stays wider where the search for an end of the
        range is stopped by its limits: then what can be proved is found to within a thousandth.
    gap, nodes, seconds
        Limits of the search for each ε that is tried, as in `wmcc.certify`; usually one to three are. By default there
        are at most 200 boxes for each, and fewer for large tables, so that it takes about as long as a certificate or
        two. `Radius.stopped` says whether a limit was met.

    Examples
    --------
    >>> import wmcc
    >>> table = wmcc.Table.from_counts([[50, 3, 2], [4, 40, 1], [0, 2, 30]])
    >>> wmcc.radius(table, "ecc", threshold=0.8)
    ECC (R_K) is at least 0.8 (now 0.8608) for any weights off by up to 20.0819 %
    at 20.082 % there are weights that break it
    >>> round(wmcc.radius(table, "ecc", change=0.01).safe, 4)
    0.0383
    """
    table, named = request(y_true, y_pred, sample_weight, weight, options, {"measure": measure})
    chosen: Measure = named["measure"]
    model = checked_model(model)
    limits = limits_of(gap, nodes, seconds, MOST)
    if not 0 < checked_number(tolerance, "tolerance") < 1:
        raise InputError(f"tolerance is {tolerance!r}; expected a number between 0 and 1.")
    if (threshold is None) == (change is None):
        raise InputTypeError("expected one of threshold= (a score to stay above) and change= (how much it may move).")
    value, title = chosen(table), chosen.title
    if change is not None:
        if not (amount := checked_number(change, "change")) > 0:
            raise InputError(f"change is {change!r}; expected a number above 0.")
        goals = {-1: value - amount, 1: value + amount}
        statement = f"{title} stays within {number(amount)} of its value"
    else:
        goal = checked_number(threshold, "threshold")
        if not chosen.range[0] <= goal <= chosen.range[1]:
            least, most = chosen.range
            raise InputError(f"threshold is {threshold!r}; {title} lies between {number(least)} and {number(most)}.")
        side = -1 if value >= goal else 1
        goals, statement = {side: goal}, f"{title} is at {'least' if side < 0 else 'most'} {number(goal)}"
    found = [
        bracket(_question(table, chosen, model, side, goal, limits), tolerance, max(tolerance, COARSE))
        for side, goal in goals.items()
    ]
    safe = min(found, key=lambda x: x.safe)
    broken = min((x for x in found if x.broken is not None), key=lambda x: x.broken or 0.0, default=safe)
    return Radius(statement, model, value, safe.safe, broken.broken, broken.witness, safe.stopped)


def _question(table: Table, measure: Measure, model: Model, side: int, goal: float, limits: Limits) -> Question:
    limits, box_of, cells = limits._replace(goal=side * goal), boxes_of(table, model), Cells.of(table)

    def look(eps: float) -> Tried:
        return tried(glanced(MeasureObjective(box_of(eps), cells, measure, side)))

    def prove(eps: float) -> Tried:
        return tried(one_end(MeasureObjective(box_of(eps), cells, measure, side), model, limits))

    def tried(end: End) -> Tried:
        beyond = side * end.attained > nextafter(side * goal, inf)  # the value is rounded
        margin = side * (goal - (end.attained if beyond or not isfinite(end.bound) else end.bound))
        return Tried(margin, side * end.bound <= side * goal, end if beyond else None, end.stopped)

    return Question(side * (goal - measure(table)), look, prove, top_eps(table, model))


def top_eps(table: Table | JointTable, model: Model) -> float:
    """The largest ε worth a look: for the absolute model one that drowns all weights, or the largest float64."""
    if model == "relative":
        return TOP
    return min(1e6 * table.total, float_info.max)

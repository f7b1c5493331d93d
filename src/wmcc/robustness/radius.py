"""How far weights may be off before a statement about a score stops being certain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nextafter
from typing import Any

import numpy as np

from ..errors import InputError, InputTypeError
from ..measures.base import Measure
from ..measures.request import checked_number
from ..table import Table
from ..text import at_least, at_most, decimal, html, number
from .box import box_of
from .certificate import End
from .certify import limits_of, one_end
from .request import Model, checked_model, request
from .search import Limits

DIGITS = 6
"""Of a radius that is shown."""

TOP = float(np.nextafter(1.0, 0.0))
"""The largest ε of the relative model."""

NODES = 200
"""Boxes per value of ε, unless the caller says otherwise; a dozen values or two are tried."""


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
    """

    statement: str
    model: str
    value: float
    safe: float
    broken: float | None
    witness: End | None

    @property
    def ends(self) -> tuple[str, str | None]:
        """Both ε for people: the one that is safe is rounded down, the other up."""
        scale, unit = (100, " %") if self.model == "relative" else (1, "")
        broken = None if self.broken is None else f"{at_least(scale * self.broken, DIGITS)}{unit}"
        return f"{at_most(scale * self.safe, DIGITS)}{unit}", broken

    def __repr__(self) -> str:
        safe, broken = self.ends
        first = f"{self.statement} (now {decimal(self.value)}) for any weights off by up to {safe}"
        if self.broken is None or self.witness is None:
            return f"{first}\nno weights were found that break it"
        return f"{first}\nat {broken} there are weights that break it"

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
    nodes: int | None = NODES,
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
        range is stopped by its limits.
    gap, nodes, seconds
        Limits of the search for each ε that is tried, as in `wmcc.certify`.

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
    limits = limits_of(gap, nodes, seconds)
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
        bracket(_test(table, chosen, model, side, goal, limits), top_eps(table, model), tolerance)
        for side, goal in goals.items()
    ]
    safe = min(x[0] for x in found)
    broken, witness = min(((x[1], x[2]) for x in found if x[1] is not None), key=lambda x: x[0], default=(None, None))
    return Radius(statement, model, value, safe, broken, witness)


Test = Callable[[float, bool], tuple[bool, End | None]]
"""From ε to whether the statement certainly holds, and a witness if it certainly does not; True for a quick look."""

SMALLEST = 1e-15
"""Share of the largest ε below which a radius is taken to be 0: weights are not known better than to their rounding."""

QUICK = 1
"""Boxes looked at for a witness alone."""


def _test(table: Table, measure: Measure, model: Model, side: int, goal: float, limits: Limits) -> Test:
    def test(eps: float, quick: bool) -> tuple[bool, End | None]:
        most = limits._replace(goal=side * goal, nodes=QUICK if quick else limits.nodes)
        end = one_end(table, measure, box_of(table, eps, model), model, side, most)
        beyond = side * end.attained > nextafter(side * goal, inf)  # the value is rounded
        return side * end.bound <= side * goal, end if beyond else None

    return test


def top_eps(table: Any, model: Model) -> float:
    """The largest ε worth a look: for the absolute model one that drowns all weights."""
    return TOP if model == "relative" else max(1e6 * float(table.w_exact.sum().floats()), 1e-300)


def bracket(
    test: Test, top: float, tolerance: float, coarse: float | None = None
) -> tuple[float, float | None, End | None]:
    """Find the largest ε that is certainly safe, and the smallest that certainly is not, with its witness.

    A witness is found quickly, a proof takes longer. So the smallest ε with a witness is searched for first, and then,
    from there downwards, the largest one that is proved to be safe: often it is next to it. If it is not, the bracket
    is not narrow anyway, and its lower end need only be found to within ``coarse``.
    """
    broken, witness = None, test(top, True)[1]
    if witness is not None:
        broken, unbroken = top, 0.0
        while broken - unbroken > tolerance / 2 * broken and broken > SMALLEST * top:
            middle = _between(unbroken, broken)
            found = test(middle, True)[1]
            if found is not None:
                broken, witness = middle, found
            else:
                unbroken = middle
    safe, unsafe, back = 0.0, broken, tolerance
    if broken is None:
        if test(top, False)[0]:
            return top, None, None
        unsafe = top
    while unsafe - safe > tolerance * unsafe and unsafe > SMALLEST * top:  # type: ignore[operator]
        middle = unsafe * (1 - back) if safe == 0.0 and back < 1 else _between(safe, unsafe)  # type: ignore[arg-type, operator]
        ok, found = test(middle, False)
        if ok:
            safe = middle
        else:
            unsafe, back = middle, 4 * max(back, coarse or 0.0)
            tolerance = max(tolerance, coarse or 0.0)
            if found is not None:
                broken, witness = middle, found
    return safe, broken, witness


def _between(low: float, high: float) -> float:
    """A number between two: the geometric mean where they are orders apart."""
    if low == 0.0:
        return high / 16
    return float(np.sqrt(low) * np.sqrt(high)) if high > 4 * low else low + (high - low) / 2

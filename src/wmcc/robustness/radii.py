"""How far weights may be off before a statement about a score stops being certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite, nextafter
from sys import float_info

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.joint import JointTable
from ..core.table import Table, Tabulated, one_table
from ..errors import InputError, InputTypeError
from ..measures.base import Measure, MeasureName, for_tabulated
from ..measures.checks import Model, checked_model, checked_number, named_measure
from ..present.blocks import Block
from ..present.result import Result
from ..present.text import at_least, at_most, decimal, number
from .box import boxes_of, changing_classes, steady_eps
from .bracket import Question, Tried, bracket
from .cells import BoxedCells
from .certificate import End
from .certify import glance, limits_of, one_end
from .objective import MeasureObjective
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
STOPPED = "the search for a proof stopped at its limit"


@dataclass(frozen=True, repr=False)
class Radius(Result):
    """What `wmcc.radius` returns: a bracket of the ε up to which a statement holds.

    Parameters
    ----------
    statement
        What is asked to hold, in words.
    measure, model
        Name of the measure; ``"relative"`` or ``"absolute"``.
    value
        The score at the weights as they are; of a lead, the difference of two scores.
    holds
        Whether the statement holds at the weights as they are. One that does not has no radius: `safe` and `broken` are
        0, and `problem` says so.
    safe
        It is proved that the statement holds for all weights that are off by no more than this.
    broken
        Some weights that are off by no more than this break it; None if none were found for any ε.
    witness
        Where it is broken, with the value there; None if it is not.
    stopped
        Whether the search for a proof met its limits above ``safe``. The statement may hold beyond ``safe`` then, and
        more ``nodes`` may prove it.
    problem
        Why there is no radius; None if there is one.
    """

    statement: str
    measure: str
    model: str
    value: float
    holds: bool
    safe: float
    broken: float | None
    witness: End | None
    stopped: bool = False
    problem: str | None = None

    @property
    def ends(self) -> tuple[str, str | None]:
        """Both ε for people: the one that is safe is rounded down, the other up."""
        scale, unit = (100, " %") if self.model == "relative" else (1, "")
        broken = None if self.broken is None else f"{at_least(scale * self.broken, DIGITS)}{unit}"
        return f"{at_most(scale * self.safe, DIGITS)}{unit}", broken

    _kind = "radius"
    _stored = (
        "statement", "measure", "model", "value", "holds", "safe", "broken", "stopped", "attained", "witness",
        "problem",
    )  # fmt: skip
    _row = tuple(name for name in _stored if name != "witness")

    @property
    def attained(self) -> float | None:
        """The value at the weights that break the statement; None if none were found."""
        return None if self.witness is None else self.witness.attained

    @property
    def _stored_witness(self) -> FloatArray | None:
        """Sums of the weights per cell where it is broken; None if it is not."""
        return None if self.witness is None else self.witness.witness

    @property
    def cells(self) -> list[str]:
        """Both ε in columns of a table."""
        safe, broken = ("—", None) if self.problem else self.ends
        return [safe, broken or "—"]

    def _not_now(self) -> str:
        held = "" if self.holds else "this does not hold, so "
        return f"{self.statement}: {held}it has no radius; {self.problem}"

    def blocks(self) -> list[Block]:
        """Return what holds, and up to which ε."""
        if self.problem:
            return [Block(notes=[self._not_now()])]
        safe, broken = self.ends
        now = f"{self.statement} (now {decimal(self.value)})"
        proved = f"{now} for any weights off by up to {safe}" if self.safe > 0 else f"{now}; {UNPROVED}"
        breaks = f"at {broken} there are weights that break it" if broken else "no weights were found that break it"
        return [Block(notes=[proved, breaks, *[f"{STOPPED}; searching more nodes may prove more"] * self.stopped])]

    def lines(self) -> list[Block]:
        """Return the statement and both ε in a row."""
        notes = [f"{self._not_now()}."] if self.problem else unsettled([self])
        head = ["Statement", "As weighted", "Certain up to", "Broken at"]
        row = [self.statement, decimal(self.value), *self.cells]
        return [Block("How far each weight may be off", head, [row], notes)]


def unsettled(radii: Sequence[Radius]) -> list[str]:
    """Say where a search stopped before it had narrowed a radius, and where nothing could be proved."""
    known = [one for one in radii if not one.problem]
    counts = (
        (sum(one.stopped for one in known), f"{STOPPED}; a larger limit of nodes may prove more."),
        (sum(not one.safe > 0 for one in known), f"{UNPROVED}."),
    )
    where = "In {:,} of " + f"{len(radii):,} lines "
    return [said.capitalize() if len(radii) == 1 else where.format(count) + said for count, said in counts if count]


@for_tabulated()
def radius(
    table: Tabulated,
    measure: MeasureName | Measure = "ecc",
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    change: float | None = None,
    model: Model = "relative",
    tolerance: float = 1e-6,
    gap: float = 0.0,
    nodes: int | None = None,
    seconds: float | None = None,
) -> Radius:
    """Find how far weights may be off before a statement about a score stops being true.

    Parameters
    ----------
    table
        A `wmcc.Table`.
    measure
        As in `wmcc.certify`.
    at_least, at_most, change
        The statement, one of three: the score is at least this; it is at most this; it stays within this of its value.
    model
        As in `wmcc.certify`.
    tolerance
        How narrow the bracket is to be, as a share of the radius. It stays wider if the search is stopped by its
        limits; then its lower end is found to within a thousandth.
    gap, nodes, seconds
        Limits of the search for each ε that is tried, as in `wmcc.certify`; usually one to three are. By default there
        are at most 200 boxes for each, and fewer for large tables, so that it takes about as long as a certificate or
        two. `Radius.stopped` says whether a limit was met.

    Returns
    -------
    Radius
        A statement that does not hold now has no radius: `Radius.holds` is False and `Radius.safe` is 0.

    Examples
    --------
    >>> import wmcc
    >>> table = wmcc.Table.from_counts([[50, 3, 2], [4, 40, 1], [0, 2, 30]])
    >>> wmcc.radius(table, "ecc", at_least=0.8)
    ECC (R_K) is at least 0.8 (now 0.8608) for any weights off by up to 20.0819 %
    at 20.082 % there are weights that break it
    >>> round(wmcc.radius(table, "ecc", change=0.01).safe, 4)
    0.0383
    >>> wmcc.radius(table, "ecc", at_least=0.9)
    ECC (R_K) is at least 0.9: this does not hold, so it has no radius; ECC (R_K) is 0.8608 at the weights as they are
    """
    given, chosen, kind = one_table(table), named_measure(measure), checked_model(model)
    limits = limits_of(gap, nodes, seconds, MOST)
    checked_number(tolerance, "tolerance", lambda x: 0 < x < 1, "a number between 0 and 1")
    value, problem = chosen.value_or_reason(given)
    sentence, goals = _statement(chosen, value, {"at_least": at_least, "at_most": at_most, "change": change})
    broken = any(side * value > side * goal for side, goal in goals.items())
    if problem is None and broken:
        problem = f"{chosen.title} is {_exactly(value, goals)} at the weights as they are"
    if problem is not None:
        return Radius(sentence, chosen.name, kind, value, False, 0.0, 0.0, None, problem=problem)
    problem = changing_classes(given, boxes_of(given, kind)(top_eps(given, kind, chosen)), chosen)
    if problem is not None:
        return Radius(sentence, chosen.name, kind, value, True, 0.0, None, None, problem=problem)
    brackets = [
        bracket(_question(given, chosen, kind, side, goal, limits), tolerance, max(tolerance, COARSE))
        for side, goal in goals.items()
    ]
    safe = min(brackets, key=lambda x: x.safe)
    first = min((x for x in brackets if x.broken is not None), key=lambda x: x.broken or 0.0, default=safe)
    ends = safe.safe, first.broken, first.witness, safe.stopped
    return Radius(sentence, chosen.name, kind, value, True, *ends)


def _statement(measure: Measure, value: float, given: Mapping[str, float | None]) -> tuple[str, dict[int, float]]:
    """Read the statement that was given: in words, and what the score may not be beyond, below (−1) or above (1)."""
    names = [name for name, x in given.items() if x is not None]
    if len(names) != 1:
        came = "none of them" if not names else " and ".join(f"`{name}`" for name in names)
        raise InputTypeError(
            f"expected one of `at_least`, `at_most` and `change`; got {came}.",
            "`radius(table, at_least=0.8)` asks how far weights may be off while the score is at least 0.8.",
        )
    (name,) = names
    goal, title = checked_number(given[name], name), measure.title
    if name == "change":
        checked_number(goal, "change", lambda x: x > 0, "a number above 0")
        return f"{title} stays within {number(goal)} of its value", {-1: value - goal, 1: value + goal}
    least, most = measure.range
    if not least <= goal <= most:
        raise InputError(
            f"`{name}` is {given[name]!r}; {title} lies between {number(least)} and {number(most)}.", argument=name
        )
    side = -1 if name == "at_least" else 1
    return f"{title} is at {'least' if side < 0 else 'most'} {number(goal)}", {side: goal}


def _exactly(value: float, goals: Mapping[int, float]) -> str:
    """Write a value with as many digits as tell it from what it is beyond."""
    texts = (decimal(value), *(number(value, digits) for digits in range(6, 17)), repr(value))
    return next(text for text in texts if all(side * float(text) > side * goal for side, goal in goals.items()))


def _question(table: Table, measure: Measure, model: Model, side: int, goal: float, limits: Limits) -> Question:
    limits, box_of, cells = limits._replace(goal=side * goal), boxes_of(table, model), BoxedCells.of(table)

    def tried(search: Callable[[MeasureObjective], End], eps: float) -> Tried:
        end = search(MeasureObjective(box_of(eps), cells, measure, side))
        beyond = side * end.attained > nextafter(side * goal, inf)  # the value is rounded
        margin = side * (goal - (end.attained if beyond or not isfinite(end.bound) else end.bound))
        return Tried(margin, side * end.bound <= side * goal, end if beyond else None, end.stopped)

    look, prove = partial(tried, glance), partial(tried, partial(one_end, model=model, limits=limits))
    return Question(side * (goal - measure(table)), look, prove, top_eps(table, model, measure))


def top_eps(table: Table | JointTable, model: Model, measure: Measure) -> float:
    """Return the largest ε that is tried: for the absolute model one that drowns all weights, or the largest float64.

    A mean over classes is looked at as long as no class may lose all its weight.
    """
    if model == "relative":
        return TOP
    return min(1e6 * table.total, float_info.max, nextafter(steady_eps(table, measure), 0.0))

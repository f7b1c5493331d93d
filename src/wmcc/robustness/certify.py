"""`wmcc.certify`: from a table and a box of weights to a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, nan, nextafter
from typing import Any, Literal, NamedTuple, get_args, overload

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.table import Table, Tabulated, one_table
from ..errors import InputError, InputTypeError
from ..measures.base import Measure, MeasureName, for_tabulated
from ..measures.checks import Model, at_least_zero, named_measure, whole_number
from .box import Box, Condition, WeightBounds, box_of, changing_classes
from .cells import BoxedCells
from .certificate import Certificate, Curve, End, definition
from .enclosures import AS_MCC, ENCLOSURES, MONOTONE, Slopes, has_weight
from .objective import MeasureObjective
from .search import MOST, Limits, Objective, Optimum, Search
from .transfers import FAR, Fixed, Held, coming_classes, held_answers, held_end, held_sums, labelled


# fmt: off
@overload
def certify(
    table: Tabulated, measure: MeasureName | Measure = ..., *, eps: float | None = ..., model: Model = ...,
    lower: Tabulated | None = ..., upper: Tabulated | None = ..., fixed: Fixed | None = ...,
    gap: float = ..., nodes: int | None = ..., seconds: float | None = ...,
) -> Certificate: ...
@overload
def certify(
    table: Tabulated, measure: MeasureName | Measure = ..., *, model: Literal["missing"],
    gap: float = ..., nodes: int | None = ..., seconds: float | None = ...,
) -> Certificate: ...
@overload
def certify(
    table: Tabulated, measure: MeasureName | Measure = ..., *, eps: Sequence[float] | FloatArray, model: Model = ...,
    fixed: Fixed | None = ..., gap: float = ..., nodes: int | None = ..., seconds: float | None = ...,
) -> Curve: ...
# fmt: on
@for_tabulated()
def certify(
    table: Tabulated,
    measure: MeasureName | Measure = "ecc",
    *,
    eps: float | Sequence[float] | FloatArray | None = None,
    model: Model | Literal["missing"] = "relative",
    lower: Tabulated | None = None,
    upper: Tabulated | None = None,
    fixed: Fixed | None = None,
    gap: float = 0.0,
    nodes: int | None = None,
    seconds: float | None = None,
) -> Certificate | Curve:
    """Certify the range of a measure if every weight may be off.

    Parameters
    ----------
    table
        A `wmcc.Table`.
    measure
        A measure of the whole table, or its name: see `wmcc.measures.MEASURES`.
    eps
        How far each weight may be off, on its own: by a share of itself (below 1), or by an amount; 0.1 by default.
        Several make a curve.
    model
        ``"relative"``: weights between (1 − ε) and (1 + ε) times themselves. ``"absolute"``: weights within ε of
        themselves, and not below 0. ``"missing"``: weights are as they are, and missing labels may be any class; the
        table was tabulated with ``missing="keep"``.
    lower, upper
        Instead of ``eps``: tables of the same rows with the smallest and with the largest weight that each may have.
        If one is missing, the table itself is used.
    fixed
        What is known although weights may be off: ``"total"``, the total weight, or ``"poststrata"``, that of each
        post-stratum (`wmcc.PostStrata`). The range is smaller then.
    gap
        Stop when the bound is this close to a value that some weights attain.
    nodes, seconds
        Stop after this many boxes, or this long, per end. By default there are at most 2,000 boxes, and fewer for large
        tables, since each takes longer: a number that depends on the table alone, not on the machine. The certificate
        is valid whenever the search stops, and gives the gap that was left.

    Returns
    -------
    Certificate or Curve
        Where the measure is undefined, its `problem` says why there is no range.

    Notes
    -----
    Two classes: a closed form, exact. More: cells whose slope has one sign are put at their ends, the others are
    searched by branch and bound with outward rounding. See docs/understand/theory.md for proofs.

    Examples
    --------
    >>> import wmcc
    >>> table = wmcc.Table.from_counts([[50, 3, 2], [4, 40, 1], [0, 2, 30]])
    >>> certificate = wmcc.certify(table, "ecc", eps=0.2)
    >>> certificate
    ECC (R_K), each weight off by up to 20 %
    lowest       0.8002  attained
    as weighted  0.8608
    highest      0.9043  attained
    >>> certificate.low <= wmcc.ecc(wmcc.Table.from_counts([[40, 3, 2], [4, 40, 1], [0, 2, 30]])) <= certificate.high
    True
    >>> wmcc.certify(table, "ecc", eps=[0.01, 0.1])
    Range of ECC (R_K) for weights that are off
    Weights off by  As weighted           Lowest          Highest
    1 %                  0.8608  0.8582 attained  0.8634 attained
    10 %                 0.8608  0.8332 attained  0.8842 attained
    >>> wmcc.certify(table, "ecc", eps=0.2, fixed="total")
    ECC (R_K), each weight off by up to 20 %, total fixed
    lowest       0.8249                                         attained
    as weighted  0.8608
    highest      0.8905  bound, within 6e-15 of a value that is attained
    >>> y, p = ["a", "b", None, "b", "a", "b"] * 9, ["a", "b", "b", None, "a", "a"] * 9
    >>> wmcc.certify(wmcc.tabulate(y, p, missing="keep"), "mcc", model="missing")
    MCC, whatever the missing labels are
    lowest              0.0000  attained
    without their rows  0.5774
    highest             0.7072  attained
    """
    given, chosen, limits = one_table(table), named_measure(measure), limits_of(gap, nodes, seconds)
    if model == "missing":
        odd = next(
            (k for k, x in (("eps", eps), ("lower", lower), ("upper", upper), ("fixed", fixed)) if x is not None), None
        )
        if odd is not None:
            raise InputTypeError(f"`{odd}` is of weights that are off; `model` is 'missing'.", "leave it out.", odd)
        return _of_missing(given, chosen, limits)
    if fixed not in (None, *get_args(Fixed)):
        raise InputError.of("fixed", fixed, "'total', 'poststrata' or None")
    several = np.iterable(eps) and not isinstance(eps, (str, bytes))
    amounts: list[Any] = list(eps) if several else [eps]  # type: ignore[arg-type]
    bounds = [WeightBounds.of(given, x, model, lower, upper) for x in amounts]
    if not bounds:
        raise InputError("`eps` is empty; expected at least one number.", argument="eps")
    made, sizes = [], (given.labels, given.rows, given.total, given)
    for x in bounds:
        if fixed is None:
            ends = certified_ends(given, chosen, x.box(given), limits, x.model != "relative")
        else:
            ends = _with_sums(given, chosen, x, fixed, limits)
        made.append(Certificate(chosen.name, x.model, x.eps, *ends[:4], *sizes, ends.problem, fixed))
    return Curve(made) if several else made[0]


class Ends(NamedTuple):
    """A measure at a table, and the ends of its range over a box."""

    value: float
    lower: End
    upper: End
    conditions: tuple[Condition, ...]
    problem: str | None


def certified_ends(table: Table, measure: Measure, box: Box, limits: Limits, vanishing: bool) -> Ends:
    """Certify both ends of a measure over a box; ``vanishing`` says whether weights may become 0 that are not."""
    cells = BoxedCells.of(table)
    value, problem = measure.value_or_reason(table)
    problem = problem or changing_classes(table, box, measure)
    if problem is not None:
        unknown = End.unknown(box_of(table, 0.0, "relative"), cells)
        return Ends(value, unknown, unknown, (), problem)
    conditions, always_defined = _conditions(box, cells, measure, vanishing)
    sides = [MeasureObjective(box, cells, measure, side) for side in (-1, 1)]
    if _is_monotone(sides[0]):
        lower, upper = map(_corner, sides)
    else:
        whole = sides[1].whole()
        lower, upper = (_search(objective, limits, always_defined, whole) for objective in sides)
    return Ends(value, lower, upper, conditions, None)


def _with_sums(table: Table, measure: Measure, bounds: WeightBounds, fixed: Fixed, limits: Limits) -> Ends:
    """Certify both ends of a measure while the total is known, or that of each post-stratum."""
    held = held_sums(table, bounds, fixed)
    problem = changing_classes(table, bounds.box(table), measure)
    ends = held_ends(table, measure, held, limits, bounds.model != "relative", problem)
    if fixed == "total" or ends.problem is not None or max(ends.lower.gap, ends.upper.gap) <= FAR:
        return ends
    wider = _with_sums(table, measure, bounds, "total", limits)  # of fewer cells, so it may be nearer
    lower = replace(ends.lower, bound=max(ends.lower.bound, wider.lower.bound))
    return ends._replace(lower=lower, upper=replace(ends.upper, bound=min(ends.upper.bound, wider.upper.bound)))


def held_ends(table: Table, measure: Measure, held: Held, limits: Limits, vanishing: bool, problem: str | None) -> Ends:
    """Certify both ends of a measure while sums of groups are known, unless there is a ``problem``."""
    value, undefined = measure.value_or_reason(table)
    problem = undefined or problem
    if problem is not None:
        unknown = End.unknown(held.box, held.cells)
        return Ends(value, unknown, unknown, (), problem)
    vanishing = vanishing and ENCLOSURES[measure.name].defined is not has_weight  # the total is held
    conditions, always_defined = _conditions(held.box, held.cells, measure, vanishing)
    sides = [(held_end(held, measure, side, limits), side) for side in (-1, 1)]
    lower, upper = (end if always_defined else _with_zero(end, side) for end, side in sides)
    return Ends(value, lower, upper, conditions, None)


def _of_missing(table: Table, measure: Measure, limits: Limits) -> Certificate:
    """Certify the range over all classes that missing labels may be."""
    known = labelled(table)
    held = held_answers(table, known)
    ends = held_ends(known, measure, held, limits, True, coming_classes(known, measure))
    sizes = (known.labels, table.rows, table.total, table)
    return Certificate(measure.name, "missing", nan, *ends[:4], *sizes, ends.problem)


def one_end(objective: MeasureObjective, model: str, limits: Limits) -> End:
    """Certify one end only."""
    if _is_monotone(objective):
        return _corner(objective)
    conditions = _conditions(objective.box, objective.cells, objective.measure, model != "relative")
    return _search(objective, limits, conditions[1], None)


def glance(objective: Objective) -> End:
    """Return a value near the end that is attained, without a bound."""
    if _is_monotone(objective):
        return _corner(objective)
    optimum = Search(objective, Limits()).glance()
    attained = attained_value(objective, optimum)
    return End(objective.side * inf, attained, False, optimum.position, objective.box, objective.cells)


def _is_monotone(objective: Objective) -> bool:
    """Whether right cells never lower it and wrong ones never raise it, as with MCC; a difference is not so."""
    name = objective.measure.name
    alone = isinstance(objective, MeasureObjective)
    return alone and (name in MONOTONE or (objective.cells.K == 2 and name in AS_MCC))


def _conditions(box: Box, cells: BoxedCells, measure: Measure, vanishing: bool) -> tuple[tuple[Condition, ...], bool]:
    """What a certificate rests on, and whether the measure is defined throughout the box."""
    if not vanishing:  # a margin vanishes only if it is zero already
        return box.conditions, True
    always = definition(box, cells, measure)
    met = always.met or measure.has_terms is not None  # terms that count as 0 are in its enclosures
    return (*box.conditions, always), met


def _corner(objective: Objective) -> End:
    """End of the range of a measure that is monotone."""
    box, side = objective.box, objective.side
    corner = (objective.cells.same == (side > 0)) * 1.0
    attained = bound = objective.value(corner)
    if box.reached is not None:
        bound = objective.value(corner, reached=False)
    outward = objective.outer(nextafter(bound, side * inf))
    return End(outward, attained, attained == bound, corner, box, objective.cells)


def attained_value(objective: Objective, optimum: Optimum) -> float:
    """Return the value at the best position: the one that the search has, if all of its box can be reached."""
    return objective.side * optimum.value + 0.0 if objective.box.reached is None else objective.value(optimum.position)


def searched_end(objective: Objective, limits: Limits, whole: Slopes | None = None) -> End:
    """End of the range of a measure or a difference, by branch and bound; ``whole`` are the slopes of M, if known."""
    side = objective.side
    optimum = Search(objective, limits).run(whole if side > 0 or whole is None else -whole)
    attained = attained_value(objective, optimum)
    exact, bound = optimum.closed and attained == side * optimum.value, objective.outer(side * optimum.bound)
    return End(bound, attained, exact, optimum.position, objective.box, objective.cells, optimum.nodes, optimum.stopped)


def _search(objective: MeasureObjective, limits: Limits, always_defined: bool, whole: Slopes | None) -> End:
    """End of the range of a measure; tables at which it is undefined count as 0."""
    end = searched_end(objective, limits, whole)
    return end if always_defined else _with_zero(end, objective.side)


def _with_zero(end: End, side: int) -> End:
    """Return an end that includes 0, which an undefined measure counts as."""
    return replace(end, exact=end.exact and side * end.bound >= 0, bound=side * max(side * end.bound, 0.0) + 0.0)


def limits_of(gap: Any, nodes: Any, seconds: Any, most: int = MOST) -> Limits:
    """Return the limits of a search, checked."""
    boxes = None if nodes is None else whole_number(nodes, "nodes", 1)
    time = None if seconds is None else at_least_zero(seconds, "seconds", ", or None")
    return Limits(at_least_zero(gap, "gap"), boxes, time, most=most)

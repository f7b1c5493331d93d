"""`certify`: from a table and a box of weights to a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nextafter
from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.table import Table
from ..errors import InputError, InputTypeError
from ..measures.base import Measure
from ..measures.checks import DEFAULTS, checked_number
from .bounds import bounded_box
from .box import Box, Condition, boxes_of
from .cells import Cells
from .certificate import Certificate, Curve, End, defined
from .enclosures import AS_MCC, Slopes
from .objective import MeasureObjective
from .request import Model, checked_eps, checked_model, is_sequence, request
from .search import MOST, Found, Limits, Search


def certify(
    y_true: Any,
    y_pred: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    measure: str | Measure = "ecc",
    eps: float | Sequence[float] | FloatArray = 0.1,
    model: Model = "relative",
    lower: Any = None,
    upper: Any = None,
    gap: float = 0.0,
    nodes: int | None = None,
    seconds: float | None = None,
    **options: Any,
) -> Any:
    """Certify between which values a measure lies when every weight may be off.

    It takes a table, and then measure, ε and model in this order or by name; or rows, as `wmcc.tabulate` does::

        certify(table, "ecc", 0.1)
        certify(y_true, y_pred, sample_weight, measure="ecc", eps=0.1)

    Parameters
    ----------
    y_true, y_pred, sample_weight, weight, **options
        A table; or what `wmcc.tabulate` takes.
    measure
        A measure, or its name: ``"mcc"``, ``"ecc"``, ``"mpc1"``, ``"mpc2"``, ``"accuracy"``, ``"balanced_accuracy"``
        or ``"kappa"``.
    eps
        How far each weight may be off, on its own: by a share of itself (below 1), or by an amount. A sequence gives
        a `Curve` of certificates.
    model
        ``"relative"``: weights between (1 − ε) and (1 + ε) times themselves. ``"absolute"``: weights within ε of
        themselves, and not below 0.
    lower, upper
        Instead of ``eps``: the smallest and the largest weight that each observation may have, given as the weights are
        (arrays with rows, columns with a frame or file, tables with a table). One that is missing is the weight itself.
    gap
        Stop when the bound is this near to a value that is attained.
    nodes, seconds
        Stop after this many boxes, or this long, per end. By default there are at most 2,000 boxes, and fewer for large
        tables, since each takes longer: a number that depends on the table alone, not on the machine. What is certified
        is true whenever it stops; the certificate says how near it came.

    Returns
    -------
    Certificate
        Or a `Curve`, for several ε.

    Notes
    -----
    Two classes: a closed form, exact. More: cells whose slope has one sign are put at their ends, the others are
    searched by branch and bound with outward rounding. See docs/theory.md for proofs.

    Examples
    --------
    >>> import wmcc
    >>> table = wmcc.Table.from_counts([[50, 3, 2], [4, 40, 1], [0, 2, 30]])
    >>> certificate = wmcc.certify(table, "ecc", 0.2)
    >>> certificate
    ECC (R_K), each weight off by up to 20 %
    lowest       0.8002  attained
    as weighted  0.8608
    highest      0.9043  attained
    >>> certificate.low <= wmcc.ecc(wmcc.Table.from_counts([[40, 3, 2], [4, 40, 1], [0, 2, 30]])) <= certificate.high
    True
    >>> wmcc.certify(table, "ecc", [0.01, 0.1]).low.round(4)
    array([0.8582, 0.8332])
    """
    named: dict[str, Any] = {"measure": measure, "eps": eps, "model": model}
    limits = limits_of(gap, nodes, seconds)
    if lower is not None or upper is not None:
        rows = y_true, y_pred, sample_weight, weight
        table, named = request(*rows, options, named)
        if named["eps"] != DEFAULTS["eps"]:
            raise InputTypeError("eps= and bounds of the weights were given; expected one of them.")
        box = bounded_box(table, rows, lower, upper, options)
        return certified(table, Cells.of(table), named["measure"], box, "bounds", np.nan, limits)
    table, named = request(y_true, y_pred, sample_weight, weight, options, named)
    model, several = checked_model(named["model"]), is_sequence(named["eps"])
    steps = [checked_eps(x, model) for x in (named["eps"] if several else [named["eps"]])]
    if not steps:
        raise InputError("eps is empty; expected at least one number.")
    box_of, cells = boxes_of(table, model), Cells.of(table)
    certificates = [certified(table, cells, named["measure"], box_of(x), model, x, limits) for x in steps]
    return Curve(certificates) if several else certificates[0]


def certified(
    table: Table, cells: Cells, measure: Measure, box: Box, model: str, eps: float, limits: Limits
) -> Certificate:
    """Certify a measure over a box of the occupied cells of a table."""
    conditions, always_defined = _conditions(box, cells, measure, model)
    sides = [MeasureObjective(box, cells, measure, side) for side in (-1, 1)]
    if _is_mcc(sides[0]):
        lower, upper = map(_corner, sides)
    else:
        whole = sides[1].whole()
        lower, upper = (_searched(objective, limits, always_defined, whole) for objective in sides)
    return Certificate(measure.name, model, eps, measure(table), lower, upper, conditions, table.labels)


def one_end(objective: MeasureObjective, model: str, limits: Limits) -> End:
    """Certify one end only."""
    if _is_mcc(objective):
        return _corner(objective)
    conditions = _conditions(objective.box, objective.cells, objective.measure, model)
    return _searched(objective, limits, conditions[1], None)


def glanced(objective: MeasureObjective) -> End:
    """Return a value near the end that is attained, without a bound."""
    if _is_mcc(objective):
        return _corner(objective)
    box = objective.box
    found = Search(objective, box.floor, box.ceiling, box.fixed, Limits()).glance()
    return End(objective.side * inf, _attained(objective, found), False, found.position, box, objective.cells)


def _is_mcc(objective: MeasureObjective) -> bool:
    return objective.cells.K == 2 and objective.measure.name in AS_MCC


def _conditions(box: Box, cells: Cells, measure: Measure, model: str) -> tuple[tuple[Condition, ...], bool]:
    """What a certificate rests on, and whether the measure is defined throughout the box."""
    if model == "relative":  # there a margin vanishes only if it is zero already
        return box.conditions, True
    always = defined(box, cells, measure.name)
    return (*box.conditions, always), always.met or measure.termwise  # terms that count as 0 are in its enclosures


def _corner(objective: MeasureObjective) -> End:
    """End of the range of MCC: it never falls in TP or TN, and never rises in FP or FN."""
    box, side = objective.box, objective.side
    corner = (objective.cells.same == (side > 0)) * 1.0
    attained = bound = objective.value(corner)
    if box.reached is not None:
        bound = objective.value(corner, reached=False)
    return End(_outward(bound, side, objective.measure), attained, attained == bound, corner, box, objective.cells)


def _attained(objective: MeasureObjective, found: Found) -> float:
    """Return the value at the best position: the one that the search has, if all of its box can be reached."""
    return objective.side * found.value + 0.0 if objective.box.reached is None else objective.value(found.position)


def _outward(x: float, side: int, measure: Measure) -> float:
    outward = nextafter(x, side * inf)
    return min(outward, measure.range[1]) if side > 0 else max(outward, measure.range[0])


def _searched(objective: MeasureObjective, limits: Limits, always_defined: bool, whole: Slopes | None) -> End:
    """End of the range of a measure, found by branch and bound; ``whole`` are the slopes of M, if known."""
    box, side = objective.box, objective.side
    search = Search(objective, box.floor, box.ceiling, box.fixed, limits)
    found = search.run(whole if side > 0 or whole is None else Slopes(-whole.cells, -whole.value))
    attained = _attained(objective, found)
    exact = found.closed and attained == side * found.value
    bound = float(np.clip(side * found.bound, *objective.measure.range))
    if not always_defined:  # tables at which the measure is undefined count as 0
        exact = exact and side * bound >= 0
        bound = side * max(side * bound, 0.0) + 0.0
    return End(bound, attained, exact, found.position, box, objective.cells, found.nodes, found.stopped)


def limits_of(gap: Any, nodes: Any, seconds: Any, most: int = MOST) -> Limits:
    """Return the limits of a search, checked."""
    if checked_number(gap, "gap") < 0:
        raise InputError(f"gap is {gap!r}; expected a number of at least 0.")
    if nodes is not None and (isinstance(nodes, bool) or not isinstance(nodes, (int, np.integer)) or nodes < 1):
        raise InputError(f"nodes is {nodes!r}; expected a whole number of at least 1, or None.")
    if seconds is not None and checked_number(seconds, "seconds") < 0:
        raise InputError(f"seconds is {seconds!r}; expected a number of at least 0, or None.")
    boxes, time = None if nodes is None else int(nodes), None if seconds is None else float(seconds)
    return Limits(float(gap), boxes, time, most=most)

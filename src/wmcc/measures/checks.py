"""What callers of the readers of a table give, checked: a table or rows, and a measure of it."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ..core.joint import JointTable
from ..core.table import Table
from ..errors import InputError, InputTypeError, UndefinedMeasureError
from . import CLASS_MEASURES, MEASURES
from .base import Measure, as_table, refuse_after_table

DEFAULTS: dict[str, Any] = {
    "measure": "ecc",
    "eps": 0.1,
    "model": "relative",
    "confidence_level": 0.95,
    "method": "fisher",
}
"""Defaults of arguments that may follow a table by position."""


def requested(
    y_true: Any, y_pred: Any, sample_weight: Any, weight: Any, options: dict[str, Any], named: dict[str, Any]
) -> tuple[Table, dict[str, Any]]:
    """Return a table, and what is asked of it.

    ``named`` holds the arguments that follow a table, in their order: after a table they may be given by position,
    as in ``certify(table, "ecc", 0.1)``, where rows have their prediction and weights.
    """
    if isinstance(y_true, JointTable):
        raise InputTypeError(
            "a JointTable of two predictions was given; one is expected here.", "use its .first or .second."
        )
    if isinstance(y_true, Table):
        named = with_positional(named, (y_pred, sample_weight, weight))
        refuse_after_table(options)
        table = y_true
    else:
        table = as_table(y_true, y_pred, sample_weight, weight, **options)
    named["measure"] = named_measure(named["measure"])
    return table, named


def with_positional(named: dict[str, Any], positional: tuple[Any, ...]) -> dict[str, Any]:
    """Return arguments given by name, with those that were given by position after a table."""
    if any(given is not None for given in positional[len(named) :]):
        raise InputTypeError("too many arguments after a table.")
    out = dict(named)
    for name, given in zip(named, positional, strict=False):
        if given is not None:
            if named[name] != DEFAULTS[name]:
                raise InputTypeError(f"{name} was given twice, as {given!r} and as {named[name]!r}.")
            out[name] = given
    return out


def after_joint_table(
    named: dict[str, Any], positional: tuple[Any, ...], weight: Any, options: dict[str, Any]
) -> dict[str, Any]:
    """Return arguments that follow a joint table, by name or by position; what belongs to its making is refused."""
    refuse_after_table([*["weight"] * (weight is not None), *options])
    return with_positional(named, positional)


def named_measure(measure: Any) -> Measure:
    """Return a measure of a whole table, given by itself or by name."""
    name = getattr(measure, "name", measure)
    if name in CLASS_MEASURES and name not in MEASURES:
        raise InputError(
            f"{name!r} is a number per class, without a gradient over the table.",
            f"the measures are {', '.join(MEASURES)}.",
        )
    if not isinstance(name, str) or name not in MEASURES:
        raise InputError(f"measure is {str(measure)[:40]!r}; expected one with a gradient: {', '.join(MEASURES)}.")
    return MEASURES[name]


def value_or_reason(measure: Measure, table: Table) -> tuple[float, str | None]:
    """Return the measure's value at a table that can be scored, 0 where it is undefined, and why it is so or None."""
    measure._check(table)
    m, reasons = table.margins, list[str]()

    def note(reason: str) -> float:
        reasons.append(reason)
        return 0.0

    value = measure.value(m, note) + 0.0
    if measure.termwise:  # a term that is undefined leaves the others
        defined = any(0 < a < m.s and 0 < b < m.s for a, b in zip(m.r, m.q, strict=True))
        reasons = [] if defined else ["no class has a correlation of its own"]
    return value, f"{measure.title} is undefined at these weights: {reasons[0]}" if reasons else None


def check_defined(measure: Measure, table: Table) -> None:
    """Raise an `UndefinedMeasureError` with the reason if the measure has no value, or no gradient, at the table."""
    _, reason = value_or_reason(measure, table)
    if reason is not None:
        raise UndefinedMeasureError(f"{reason}.")


def checked_number(x: Any, name: str) -> float:
    """Return a finite float."""
    try:
        if isinstance(x, (str, bytes, bool, np.bool)) or not isfinite(number := float(x)):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {str(x)[:40]!r}; expected a finite number.") from None
    return number

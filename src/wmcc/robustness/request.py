"""What callers of this package give, checked: a table or rows, a measure, an ε, a model."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any, Literal

import numpy as np

from ..errors import InputError, InputTypeError, UndefinedMeasureError
from ..joint import JointTable
from ..measures import CLASS_MEASURES, MEASURES
from ..measures.base import Measure, as_table, check_scorable
from ..table import Table
from .enclosures import ENCLOSURES

Model = Literal["relative", "absolute"]

DEFAULTS: dict[str, Any] = {"measure": "ecc", "eps": 0.1, "model": "relative"}


def request(
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
        if options:
            raise InputTypeError(f"a Table was given; {', '.join(options)} belong to its making.")
        table = y_true
    else:
        table = as_table(y_true, y_pred, sample_weight, weight, **options)
    named["measure"] = checked_measure(named["measure"], table)
    return table, named


def with_positional(named: dict[str, Any], positional: tuple[Any, ...]) -> dict[str, Any]:
    """Return arguments given by name, with those that were given by position after a table."""
    if any(given is not None for given in positional[len(named) :]):
        raise InputTypeError("too many arguments after a table.")
    for name, given in zip(named, positional, strict=False):
        if given is not None and named[name] != DEFAULTS[name]:
            raise InputTypeError(f"{name} was given twice, as {given!r} and as {named[name]!r}.")
    return named | {name: given for name, given in zip(named, positional, strict=False) if given is not None}


def named_measure(measure: Any) -> Measure:
    """Return a measure that can be certified, by itself or by name."""
    name = getattr(measure, "name", measure)
    if name in CLASS_MEASURES and name not in MEASURES:
        raise InputError(
            f"{name!r} is a number per class, without a gradient over the table; it has no certificate.",
            f"the measures are {', '.join(ENCLOSURES)}.",
        )
    if not isinstance(name, str) or name not in ENCLOSURES:
        raise InputError(
            f"measure is {str(measure)[:40]!r}; expected one with a gradient: {', '.join(ENCLOSURES)}.",
        )
    return MEASURES[name]


def checked_measure(measure: Any, table: Table) -> Measure:
    """Return a measure that can be certified, and is defined for the table."""
    found = named_measure(measure)
    check_scorable(table)
    found._check(table)
    m = table.margins

    def refuse(reason: str) -> float:
        raise UndefinedMeasureError(f"{found.title} is undefined at these weights ({reason}): it has no range.")

    if not found.termwise:
        found.value(m, refuse)
    elif not any(0 < a < m.s and 0 < b < m.s for a, b in zip(m.r, m.q, strict=True)):
        refuse("no class has a correlation of its own")
    return found


def checked_model(model: Any) -> Model:
    """Return the model, if it is one."""
    if model == "relative" or model == "absolute":
        return model  # type: ignore[no-any-return]
    raise InputError(
        f"model is {str(model)[:40]!r}; expected 'relative' (each weight off by a share ε of itself) "
        "or 'absolute' (each weight off by at most ε)."
    )


def checked_eps(eps: Any, model: Model) -> float:
    """Return ε as a float, if it makes sense for the model."""
    number = checked_number(eps, "eps")
    if number < 0:
        raise InputError(f"eps is {number!r}; expected a number of at least 0: how far a weight may be off.")
    if model == "relative" and number >= 1:
        raise InputError(
            f"eps is {number!r}; with model='relative' it must be below 1, as weights are not negative.",
            "give a share (0.1 for 10 %), or use model='absolute'.",
        )
    return number


def checked_number(x: Any, name: str) -> float:
    """Return a finite float."""
    try:
        if isinstance(x, (str, bytes, bool, np.bool)) or not isfinite(number := float(x)):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {str(x)[:40]!r}; expected a finite number.") from None
    return number


def is_sequence(eps: Any) -> bool:
    """Whether several values of ε were given."""
    return isinstance(eps, Iterable) and not isinstance(eps, (str, bytes)) and getattr(eps, "ndim", 1) > 0

"""What callers of this package give beside a table, checked: an ε, and a model of how weights may be off."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from ..core.table import Table
from ..errors import InputError
from ..measures.checks import check_defined, checked_number, requested

Model = Literal["relative", "absolute"]


def request(*given: Any) -> tuple[Table, dict[str, Any]]:
    """Return a table at which the measure is defined, and what is asked of it: see `requested`."""
    table, named = requested(*given)
    check_defined(named["measure"], table)
    return table, named


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


def is_sequence(eps: Any) -> bool:
    """Whether several values of ε were given."""
    return isinstance(eps, Iterable) and not isinstance(eps, (str, bytes)) and getattr(eps, "ndim", 1) > 0

"""What callers of the readers give beside a table, checked once: a measure, a level, an ε, a model, a margin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from math import isfinite
from typing import Any, Literal

import numpy as np

from ..errors import InputError
from . import CLASS_MEASURES, MEASURES
from .base import Measure
from .companions import ClassMeasure

Model = Literal["relative", "absolute"]


def named_measure(measure: str | Measure | ClassMeasure) -> Measure:
    """Return a measure of a whole table, given by itself or by name."""
    name = getattr(measure, "name", measure)
    if isinstance(name, str) and name in CLASS_MEASURES and name not in MEASURES:
        raise InputError(
            f"{name!r} is a number per class; a measure of a whole table is expected: {', '.join(MEASURES)}.",
            f'wmcc.interval and wmcc.compare take it with a class: wmcc.interval(table, "{name}", of="road").',
            "measure",
            "`wmcc compare` and `wmcc drift` take it with a class: --of road.",
        )
    if not isinstance(name, str) or name not in MEASURES:
        raise InputError(
            f"`measure` is {repr(measure)[:60]}; expected one of {', '.join(MEASURES)}.", meant(name), "measure"
        )
    return MEASURES[name]


SYNONYMS = {
    "miou": "mean_iou", "jaccard": "mean_iou", "dice": "mean_f1", "macro_f1": "mean_f1",
    "macro_recall": "mean_recall", "rk": "ecc", "r_k": "ecc", "cohen_kappa": "kappa",
    "matthews_corrcoef": "ecc", "overall_accuracy": "accuracy",
}  # fmt: skip
"""Other names of measures, as people know them."""


def meant(name: Any, others: Iterable[str] = ()) -> str | None:
    """Say which measure was probably meant, of those of a table and others."""
    if not isinstance(name, str):
        return "ask for one measure at a time; wmcc.score has all of them."
    plain = name.lower().replace(" ", "_").replace("-", "_")
    if plain in ("roc_auc", "average_precision"):
        return (
            f'it is of scores: wmcc.interval(wmcc.tabulate(y_true, score=…), "{plain}"); of several classes take one.'
        )
    if plain == "expected_gain":
        return "make one of your gains: wmcc.measures.ExpectedGain(hit, miss, alarm, rejection)."
    known = [*MEASURES, *SYNONYMS, *others]
    found = plain if plain in known else next(iter(get_close_matches(plain, known, 1)), None)
    return None if found is None else f"did you mean {SYNONYMS.get(found, found)!r}?"


def named_class_measure(measure: str | Measure | ClassMeasure) -> ClassMeasure:
    """Return a measure of one class, given by itself or by name."""
    name = getattr(measure, "name", measure)
    if not isinstance(name, str) or name not in CLASS_MEASURES:
        raise InputError(
            f"`measure` is {str(measure)[:40]!r}; with `of`, a class, expected one of {', '.join(CLASS_MEASURES)}.",
            argument="measure",
        )
    return CLASS_MEASURES[name]


def checked_number(
    x: Any, name: str, fits: Callable[[float], bool] = isfinite, expected: str = "a finite number"
) -> float:
    """Return a finite float, which fits what is expected."""
    try:
        if isinstance(x, (str, bytes, bool, np.bool)) or not isfinite(number := float(x)):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"`{name}` is {str(x)[:40]!r}; expected a finite number.", argument=name) from None
    if not fits(number):
        raise InputError.of(name, x, expected)
    return number


def at_least_zero(x: Any, name: str, what: str = "") -> float:
    """Return a number of at least 0; ``what`` says what it is."""
    return checked_number(x, name, lambda x: x >= 0, "a number of at least 0" + what)


def checked_level(level: Any) -> float:
    """Return a confidence level, if it is one."""
    return checked_number(level, "confidence_level", lambda x: 0 < x < 1, "a number between 0 and 1, such as 0.95")


def checked_margin(margin: Any) -> float | None:
    """Return a margin, if it is one; None if nothing was asked."""
    return None if margin is None else at_least_zero(margin, "margin", ": how much lower the first score may be")


def checked_model(model: Any) -> Model:
    """Return the model, if it is one."""
    if model == "relative" or model == "absolute":
        return model  # type: ignore[no-any-return]
    kinds = "'relative' (each weight off by a share ε of itself) or 'absolute' (each weight off by at most ε)"
    raise InputError.of("model", model, kinds)


def checked_eps(eps: Any, model: Model) -> float:
    """Return ε as a float, if it makes sense for the model."""
    number = at_least_zero(eps, "eps", ": how far a weight may be off")
    if model == "relative" and number >= 1:
        raise InputError(
            f"`eps` is {eps!r}; with `model` 'relative' it must be below 1, as weights are not negative.",
            "give a share (0.1 for 10 %), or use `model` 'absolute'.",
            "eps",
            "give a share (0.1 for 10 %), or use --absolute.",
        )
    return number


def whole_number(x: Any, name: str, least: int, most: int | None = None) -> int:
    """Return an integer of at least so much, and at most so much."""
    is_whole = isinstance(x, (int, np.integer)) and not isinstance(x, bool)
    if is_whole and x >= least and (most is None or x <= most):
        return int(x)
    raise InputError.of(
        name, x, f"a whole number of {f'at least {least:,}' if most is None else f'{least:,} to {most:,}'}"
    )

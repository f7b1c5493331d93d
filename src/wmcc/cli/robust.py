"""What `certify`, `radius` and `rank` ask of the library: table by table, or of pairs of predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputError, UndefinedMeasureError
from ..measures.checks import named_measure
from ..robustness.certificate import Certificate
from ..robustness.certify import certify, limits_of
from ..robustness.radius import Radius, radius
from ..robustness.ranking import Rankings, certify_ranking
from ..robustness.request import checked_eps, checked_model
from .reading import Request
from .stored import Key

EPS = 0.1
"""How far weights are off unless somebody says otherwise, as in the library."""

T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """A measure, how weights may be off, and when to stop; checked, since data may take long to read.

    Parameters
    ----------
    measure
        Name of the measure.
    relative
        Whether weights are off by shares of themselves; None if it was not said, which means that they are.
    eps
        How far.
    limits
        ``gap``, ``nodes`` and ``seconds``; those that are None are left to the library.
    lower, upper
        Columns of bounds, instead of ε.
    """

    measure: str
    relative: bool | None
    eps: list[float] = field(default_factory=list)
    limits: dict[str, Any] = field(default_factory=dict)
    lower: str | None = None
    upper: str | None = None

    def __post_init__(self) -> None:
        named_measure(self.measure)
        if self.model != "bounds":
            for eps in self.eps:
                checked_eps(eps, checked_model(self.model))
        elif self.eps or self.relative is not None:
            name = "--eps" if self.eps else "--relative" if self.relative else "--absolute"
            raise InputError(f"{name} does not go with --lower and --upper, which say how far weights may be off.")
        limits_of(**{"gap": 0.0, "nodes": None, "seconds": None} | self.given_limits)

    @property
    def model(self) -> str:
        """How weights may be off: ``"relative"``, ``"absolute"`` or ``"bounds"``."""
        if self.lower is not None or self.upper is not None:
            return "bounds"
        return "absolute" if self.relative is False else "relative"

    @property
    def given_limits(self) -> dict[str, Any]:
        """Limits that somebody set."""
        return {name: x for name, x in self.limits.items() if x is not None}


def beside(measure: str, eps: float | None, relative: bool | None) -> Asked | None:
    """How weights may be off, where that is asked beside sampling errors; None if it is not."""
    if eps is not None:
        return Asked(measure, relative, [eps])
    if relative is not None:
        raise InputError(f"--{'relative' if relative else 'absolute'} goes with --eps, how far each weight may be off.")
    named_measure(measure)
    return None


class Found(NamedTuple, Generic[T]):
    """One answer per table. It is None, and the notes say why, where there is none."""

    asked: Asked
    tables: Tables[Table]
    groups: dict[Key, T | None]
    notes: dict[Key, list[str]]


def certificates(request: Request, asked: Asked) -> Found[list[Certificate]]:
    """Certify each table, for each ε or between bounds."""
    columns = {"lower": asked.lower, "upper": asked.upper}
    if asked.model == "bounds" and request.is_stored:
        name = next(name for name, column in columns.items() if column is not None)
        raise InputError(f"--{name} names a column of data, whose columns of labels --true and --pred name.")
    tables = request.read()
    bounds = {side: replace(request, weight=column).tables() for side, column in columns.items() if column is not None}

    def ask(key: Key) -> list[Certificate]:
        options: dict[str, Any] = {"measure": asked.measure, **asked.given_limits}
        if bounds:
            options |= {side: x[key] for side, x in bounds.items()}
            return [certify(tables[key], **options)]
        return list(certify(tables[key], eps=asked.eps or [EPS], model=checked_model(asked.model), **options))

    return _per_group(asked, tables, ask)


def radii(request: Request, asked: Asked, threshold: float | None, change: float | None) -> Found[Radius]:
    """Find for each table how far weights may be off before its score crosses a threshold, or changes too much."""
    if (threshold is None) == (change is None):
        raise InputError(
            "expected one of --threshold, a value that the measure is not to cross, and --change, how much it may move."
        )
    tables = request.read()
    goal: dict[str, Any] = {"threshold": threshold, "change": change, "model": asked.model}

    def ask(key: Key) -> Radius:
        return radius(tables[key], measure=asked.measure, **goal, **asked.given_limits)

    return _per_group(asked, tables, ask)


def _per_group(asked: Asked, tables: Tables[Table], ask: Callable[[Key], T]) -> Found[T]:
    """Ask about each table. A group without an answer is noted, not an end to all others; alone it is an error."""
    groups: dict[Key, T | None] = {}
    notes: dict[Key, list[str]] = {key: [] for key in tables.groups}
    for key in tables.groups:
        try:
            groups[key] = ask(key)
        except (InputError, UndefinedMeasureError) as problem:
            if not tables.by:
                raise
            groups[key] = None
            notes[key].append(f"{tables.title(key)}: {str(problem).partition(chr(10))[0]}")
    if groups and all(one is None for one in groups.values()):
        raise InputError(next(iter(notes.values()))[0])
    return Found(asked, tables, groups, notes)


class Ranked(NamedTuple):
    """Pairs of predictions, and whether their radii are asked for, which are searched for when they are looked at."""

    found: Rankings
    with_radius: bool


def rankings(request: Request, preds: list[str], asked: Asked, with_radius: bool) -> Ranked:
    """Certify for each pair of predictions which is the better one."""
    data, options = request.opened(preds)
    options |= {"measure": asked.measure, "eps": asked.eps[0], "model": asked.model, **asked.given_limits}
    found = certify_ranking(data, request.true, preds, weight=request.weight, **options)
    return Ranked(found if isinstance(found, Rankings) else Rankings(found.names, {found.names: found}), with_radius)

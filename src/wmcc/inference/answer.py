"""What intervals and comparisons have in common: an answer, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..core.labels import Label
from ..measures import CLASS_MEASURES, MEASURES
from ..present.blocks import Block
from ..present.result import Result
from ..present.text import counted, decimals

TITLES_OF_SCORES = {"roc_auc": "ROC AUC", "average_precision": "Average precision"}
"""Measures of score tables as a whole, for people."""

OTHER_TITLES = {**TITLES_OF_SCORES, "expected_gain": "Expected gain"}
"""These, and a measure that is made of what the caller gives."""


class Answer(Result):
    """An answer that knows how far it can be relied on."""

    low: float
    high: float
    warnings: tuple[str, ...]
    problem: str | None

    @property
    def reliable(self) -> bool:
        """Whether there is an answer, and no warning."""
        return self.problem is None and not self.warnings

    @property
    def status(self) -> Literal["reliable", "unreliable", "not estimable"]:
        """``"reliable"``, ``"unreliable"`` or ``"not estimable"``."""
        return "not estimable" if self.problem else "unreliable" if self.warnings else "reliable"

    @property
    def ends(self) -> str:
        """The ends for a table of numbers, with an asterisk where there is a warning or a problem."""
        if self.problem:
            return "not estimable *"
        return " to ".join(decimals([self.low, self.high])) + " *" * bool(self.warnings)

    def sentences(self) -> list[str]:
        """Return what was found, in lines."""
        raise NotImplementedError

    def blocks(self) -> list[Block]:
        """Return what was found, and why it may not be relied on."""
        return [Block(notes=[*self.sentences(), *(f"unreliable: {why}" for why in self.warnings)])]


def measure_title(measure: str, label: Label | None) -> str:
    """Name a measure for people, and the class whose own it is."""
    if measure in OTHER_TITLES:
        return OTHER_TITLES[measure]
    return MEASURES[measure].title if label is None else f"{CLASS_MEASURES[measure].title} of {label}"


def said_units(clusters: int | None, strata: int | None, replicates: int | None) -> list[str]:
    """Say how many clusters, strata and replicate weights there are, if any."""
    numbers = {("cluster",): clusters, ("stratum", "strata"): strata, ("replicate weight",): replicates}
    return [counted(number, *words) for words, number in numbers.items() if number is not None]


def why_unsure(intervals: Mapping[str, Any]) -> list[str]:
    """What to know of intervals or comparisons by title: each sentence once, with the titles unless it is of all.

    A warning is of all if it is of all that could be estimated.
    """
    titles: dict[str, list[str]] = {}
    for title, x in intervals.items():
        for why in (*x.warnings, *((x.problem,) if x.problem else ())):
            titles.setdefault(why, []).append(title)
    all_of_them = [*intervals], [title for title, x in intervals.items() if not x.problem]
    return [
        f"* Intervals{'' if these in all_of_them else ' of ' + ', '.join(these)}: {why}."
        for why, these in titles.items()
    ]

"""Scores of tables, group by group, and what is to be said about them."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputError, UndefinedMeasureError, UndefinedMeasureWarning, WmccError
from ..results.score import Score, score
from ..robustness.certificate import Certificate
from ..robustness.certify import certify
from ..robustness.request import checked_model
from .guard import warn
from .robust import Asked
from .stored import Key


class Scored(NamedTuple):
    """A group's table and its score; the score is None, and the notes say why, where it cannot be scored.

    ``ranges`` are those of the measures when weights may be off; none where nobody asked, or a measure is undefined.
    """

    table: Table
    score: Score | None
    notes: tuple[str, ...]
    ranges: dict[str, Certificate]


class Scores(NamedTuple):
    """One score per group, one of the empty key where nothing was grouped; and how weights may be off."""

    tables: Tables[Table]
    groups: dict[Key, Scored]
    level: float
    off: Asked | None

    @property
    def by(self) -> tuple[str, ...]:
        """Columns that rows were grouped by."""
        return self.tables.columns


def zero_division(text: str) -> Any:
    """What ``--zero-division`` stands for: a number, ``nan``, or a word that the library knows."""
    try:
        return float(text)
    except ValueError:
        if text in ("warn", "raise"):
            return text
        raise InputError(f"--zero-division is {text!r}; expected a number, nan, warn or raise.") from None


def score_all(tables: Tables[Table], division: Any, level: float = 0.95, off: Asked | None = None) -> Scores:
    """Score each table. A group of weight zero is noted, not an end to all others; alone it is an error."""
    groups = {key: _scored(tables, key, division, level, off) for key in tables.groups}
    if groups and all(one.score is None for one in groups.values()):
        raise InputError(next(iter(groups.values())).notes[0])
    return Scores(tables, groups, level, off)


def _scored(tables: Tables[Table], key: Key, division: Any, level: float, off: Asked | None) -> Scored:
    table, name = tables[key], tables.title(key)
    where = f"{name}: " if name else ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        try:
            result = score(table, zero_division=division, confidence_level=level)
        except InputError as problem:
            if not tables.by:
                raise
            return Scored(table, None, (f"{where}{str(problem).partition(chr(10))[0]}",), {})
        except WmccError as problem:
            raise type(problem)(f"{where}{problem}") from None
    for sentence in dict.fromkeys(str(w.message) for w in caught):
        warn(f"{where}{sentence}")
    notes = (f"{where}{result.disagreement}",) if result.disagreement else ()
    return Scored(table, result, notes, {} if off is None else _ranges(result, off))


def _ranges(result: Score, off: Asked) -> dict[str, Certificate]:
    found = {}
    for name in result.intervals:
        try:
            found[name] = certify(result.table, name, off.eps[0], checked_model(off.model))
        except UndefinedMeasureError:
            continue  # its interval says so
    return found

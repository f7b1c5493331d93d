"""Scores on the command line: by group, and what ``--threshold`` makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from ..core.labels import Label
from ..core.score_table import ScoreTable
from ..errors import InputError
from ..present.text import name_of
from .sizes import as_number

BEST: Literal["best"] = "best"

Threshold = float | dict[str, float] | Literal["best"]


class ByGroup(Mapping[Any, Any]):
    """Score tables by group or by name, or tables that are made of them: what has keys as `wmcc.Tables` has.

    Parameters
    ----------
    tables
        By key, which is a tuple with a value for each of ``by``.
    by
        What the keys are values of.
    """

    _kind = "score tables by group"

    def __init__(self, tables: Mapping[Any, Any], by: tuple[str, ...]) -> None:
        self._tables = tables
        self.by = self.columns = by

    @classmethod
    def of(cls, tables: Mapping[Any, ScoreTable], by: tuple[str, ...]) -> ByGroup:
        """Take what `wmcc.tabulate` makes with ``by``, where the key of one column is its value."""
        return cls({key if len(by) > 1 else (key,): own for key, own in tables.items()}, by)

    def __len__(self) -> int:
        return len(self._tables)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._tables)

    def __getitem__(self, key: Any) -> Any:
        return self._tables[key]

    @property
    def classes(self) -> list[Label]:
        """The classes that there are."""
        return list(dict.fromkeys(label for table in self.values() for label in table.classes))

    def title(self, key: Any) -> str:
        """Name a group: ``region = coast``."""
        return ", ".join(f"{name} = {name_of(x)}" for name, x in zip(self.by, key, strict=True))

    def each(self, make: Callable[[Any], Any]) -> ByGroup:
        """Return what is made of each."""
        return ByGroup({key: make(own) for key, own in self.items()}, self.by)


def one_by_one(scores: ScoreTable | ByGroup) -> ScoreTable | ByGroup:
    """Return score tables of a single score each: by their names, if there are several."""
    groups = scores if isinstance(scores, ByGroup) else ByGroup({(): scores}, ())
    if not any(own.names for own in groups.values()):
        return scores
    return ByGroup(
        {(*key, name): own[name] for key, own in groups.items() for name in own.names}, (*groups.by, "score")
    )


def threshold(given: tuple[str, ...]) -> Threshold:
    """Return what ``--threshold`` says: a number, the word best, or a number for each of several scores by name."""
    if given == (BEST,):
        return BEST
    parts = [text.rpartition("=") for text in given]
    numbers = {name: as_number(x) for name, _, x in parts}
    if len(numbers) < len(given) or None in numbers.values() or (len(given) > 1 and "" in numbers):
        raise InputError(
            f"--threshold is {' and '.join(map(repr, given))}; expected a number, or one for each of several scores.",
            "for instance --threshold 0.5; or --threshold a=0.3 --threshold b=0.5.",
            "threshold",
        )
    known = {name: x for name, x in numbers.items() if x is not None}
    found: Threshold = known.get("", known)
    return found


def cut(given: tuple[str, ...], said: str) -> float | dict[str, float]:
    """Return the threshold that makes labels of scores; ``said`` is what to call the data."""
    if not given:
        raise InputError(
            f"{said} has scores; expected --threshold, which makes labels of them.",
            "`wmcc threshold` finds the best one, and says what to expect there.",
            "threshold",
        )
    found = threshold(given)
    if found == BEST:
        raise InputError(
            "--threshold is best; the score at a threshold that was chosen on the same data is too good.",
            "`wmcc threshold` says what to expect there; `wmcc compare --threshold best` allows for the choice.",
            "threshold",
        )
    return found


def labelled(found: Any, given: tuple[str, ...], said: str) -> Any:
    """Return the table of the labels that ``--threshold`` makes of scores."""
    if not is_scores(found):
        said = f"--threshold is for scores; {said} holds a table of labels."
        raise InputError(said, "leave it out, or tabulate the scores with --score.", "threshold")
    at = cut(given, said)
    return found.each(lambda own: own.at(at)) if isinstance(found, ByGroup) else found.at(at)


def is_scores(found: Any) -> bool:
    """Whether these are scores, and no table of labels."""
    return isinstance(found, (ScoreTable, ByGroup))

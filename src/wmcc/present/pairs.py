"""Results of several predictions, pair by pair."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Generic, TypeVar

from ..errors import InputError
from .json_csv import Record, plain
from .result import Result
from .text import decimal

Pair = tuple[str, str]


class PairResult(Result):
    """What was found of two predictions, the first and the second."""

    names: Pair
    values: tuple[float, float]
    problem: str | None

    @property
    def scores(self) -> list[str]:
        """Both predictions with their scores."""
        return [f"{name} {decimal(value)}" for name, value in zip(self.names, self.values, strict=True)]


F = TypeVar("F", bound=PairResult)


class NoSinglePairError(InputError, AttributeError):
    """There are several pairs, and none of them was named; for Python, the attribute is missing."""


class Pairs(Result, Generic[F]):
    """What was found of each pair of predictions; for two predictions, of the only pair."""

    names: tuple[str, ...]
    pairs: dict[Pair, F]

    _done: ClassVar[str]
    """What was done with the predictions."""

    def __getitem__(self, pair: Pair) -> F:
        if pair in self.pairs:
            return self.pairs[pair]
        raise InputError(f"there is no pair {pair!r}; the pairs are {', '.join(map(repr, self.pairs))}.")

    @cached_property
    def values(self) -> dict[str, float]:
        """The score of each, best first."""
        known = {name: x for pair, found in self.pairs.items() for name, x in zip(pair, found.values, strict=True)}
        return dict(sorted(known.items(), key=lambda item: -item[1]))

    @property
    def only(self) -> F:
        """What was found of the only two predictions; of more, the pair has to be named."""
        if len(self.pairs) == 1:
            return next(iter(self.pairs.values()))
        said = f"{len(self.names)} predictions were {self._done}, in pairs: {', '.join(map(repr, self.pairs))}."
        raise NoSinglePairError(said, f"name the pair: {self._kind}[{self.names[0]!r}, {self.names[1]!r}].")

    def records(self) -> list[Record]:
        """Return a row for each pair."""
        rows = []
        for found in self.pairs.values():
            (row,) = found.records()
            names = dict(zip(("first", "second"), found.names, strict=True))
            values = dict(zip(("first_value", "second_value"), plain(found.values), strict=True))
            rows.append({**names, **row, **values})
        return rows

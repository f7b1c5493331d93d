"""From the options of a command to tables."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError
from ..sources import tabulate
from ..sources.files import find, is_address
from . import labels
from .startup import load
from .stored import Tables, plain

SMALL = 1 << 26
"""Bytes that are read before a progress bar could be looked at."""


@dataclass(frozen=True)
class Request:
    """What a command was asked to tabulate: its options by their names."""

    files: list[str]
    true: str | None = None
    pred: str | None = None
    weight: str | None = None
    by: list[str] = field(default_factory=list)
    engine: str | None = None
    labels: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    positive: str | None = None
    join: str | None = None
    on: list[str] = field(default_factory=list)
    allow_unmatched: bool = False

    @property
    def is_stored(self) -> bool:
        """Whether a stored table is meant, rather than data: no columns are named, and nothing is joined."""
        return self.true is None and self.pred is None and self.join is None

    def check(self) -> None:
        """Refuse options that do not go together."""
        if self.join is None:
            self._refuse("{} goes with --join, the file that holds the predictions.", "on", "allow_unmatched")
        elif not self.on:
            raise InputError("--join needs --on, the column that identifies a row in both files.")
        if self.is_stored:
            names = ("weight", "by", "engine", "labels", "ignore", "positive")
            self._refuse("{} goes with data, whose columns of labels --true and --pred name.", *names)
        elif self.join is None and (self.true is None or self.pred is None):
            given, other = ("--true", "--pred") if self.pred is None else ("--pred", "--true")
            raise InputError(f"{given} needs {other}: both columns of labels are to be named.")

    def _refuse(self, sentence: str, *names: str) -> None:
        for name in names:
            if getattr(self, name) not in (None, [], False):
                raise InputError(sentence.format(f"--{name.replace('_', '-')}"))

    def tables(self) -> Tables:
        """Read the data and tabulate them."""
        data: Any = self.files[0] if len(self.files) == 1 else self.files
        load(arrow=not self.by and self.join is None and self.engine in (None, "arrow"))
        sides = [(data, self.true), (self.join or data, self.pred)]
        options: dict[str, Any] = {
            "weight": self.weight,
            "engine": self.engine,
            "progress": None if self._is_large() else False,
            "true": self.true,
            "pred": self.pred,
            **self._labels(sides),
        }
        if self.join is not None:
            options |= {"y_pred": self.join, "on": self.on, "allow_unmatched": self.allow_unmatched}
        if not self.by:
            return Tables((), {(): tabulate(data, **options)})
        groups = tabulate(data, by=self.by, **options)
        return Tables(tuple(self.by), {tuple(map(plain, key)): table for key, table in groups.items()})

    def _labels(self, sides: list[tuple[Any, str | None]]) -> dict[str, Any]:
        """Labels of the kind that the columns hold; the columns are looked at only where a label is given."""
        if not (self.labels or self.ignore or self.positive is not None):
            return {}
        taken = {*self.on, *self.by, *([self.weight] if self.weight else [])}
        kind = labels.kind_of(sides, taken, self.engine, self.join is not None)
        return {
            "labels": labels.several(self.labels, kind, "--labels") if self.labels else None,
            "ignore": labels.several(self.ignore, kind, "--ignore") if self.ignore else None,
            "positive": None if self.positive is None else labels.one(self.positive, kind, "--positive"),
        }

    def _is_large(self) -> bool:
        names = [*self.files, *([self.join] if self.join else [])]
        if any(map(is_address, names)):
            return True
        return sum(os.path.getsize(path) for name in names for path in find(name).paths) > SMALL

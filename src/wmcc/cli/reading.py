"""From the options of a command to tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputError
from ..sources import tabulate
from ..sources.files import find, is_address
from . import labels, standard_input
from .startup import load
from .stored import alone, read, with_tuples

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
    input_format: str | None = None
    labels: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    positive: str | None = None
    join: str | None = None
    on: list[str] = field(default_factory=list)
    allow_unmatched: bool = False
    cluster: str | None = None

    @property
    def is_stored(self) -> bool:
        """Whether a stored table is meant, rather than data: no columns are named, and nothing is joined."""
        return self.true is None and self.pred is None and self.join is None

    @property
    def paths(self) -> list[str]:
        """The files, and copies of standard input and pipes."""
        if self.is_stored:
            return [standard_input.table(x) if standard_input.is_stream(x) else x for x in self.files]
        return list(map(self._path, self.files))

    def _path(self, name: str) -> str:
        return standard_input.data(name, self.input_format) if standard_input.is_stream(name) else name

    def check(self) -> None:
        """Refuse options that do not go together."""
        self._check_streams()
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

    def _check_streams(self) -> None:
        names = [*self.files, *([self.join] if self.join is not None else [])]
        standard_input.check_once(names)
        if self.input_format is not None and (self.is_stored or not any(map(standard_input.is_stream, names))):
            raise InputError(
                f"--input-format goes with -, data from standard input; {names[0]!r} is known by the end of its name.",
                "name a file by what it holds (.csv), or give it as standard input: `wmcc … - <FILE`.",
            )

    def _refuse(self, sentence: str, *names: str) -> None:
        for name in names:
            if getattr(self, name) not in (None, [], False):
                raise InputError(sentence.format(f"--{name.replace('_', '-')}"))

    def clustered(self, cluster: str | None) -> Request:
        """Ask for the tables of clusters as well, which a column names."""
        if cluster is None:
            return self
        if self.is_stored:
            raise InputError(
                "--cluster names a column of data, whose columns of labels --true and --pred name; "
                "a stored table knows its clusters if `wmcc tabulate` was given --cluster."
            )
        if cluster in self.by:
            raise InputError(
                f"--cluster and --by both name {cluster!r}: each group would be a single cluster.",
                "name a column that has several values in each group, or leave one of them out.",
            )
        return replace(self, cluster=cluster)

    def check_predictions(self, preds: list[str], least: int) -> None:
        """Refuse what is no request about the predictions in these columns, of which there are to be enough."""
        self._check_streams()
        if least == 1 and (self.true is None or not preds):
            given, other = ("--pred", "--true") if preds else ("--true", "--pred")
            raise InputError(f"{given} needs {other}: the columns of the truth and of each prediction are to be named.")
        if self.true is None or len(preds) < least:
            raise InputError(
                "expected --true, and --pred at least twice: the columns of the truth and of what is to be compared.",
                "a stored table has one prediction; to compare needs the rows.",
            )
        twice = next((name for name in preds if preds.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"--pred names {twice!r} more than once; expected different columns.")

    def read(self) -> Tables[Table]:
        """Return tables: stored ones, or of data."""
        if not self.is_stored:
            return self.tables()
        first, *others = self.files
        if others or not (standard_input.is_stream(first) or first.endswith(".json")):
            raise InputError(
                f"expected --true and --pred, the columns of labels in {first}, or one stored table (.json).",
                "data are given as FILE --true label --pred pred; `wmcc merge` adds up stored tables.",
            )
        return read(first)

    def tables(self) -> Tables[Table]:
        """Read the data and tabulate them."""
        data, options = self.opened([self.pred])
        options |= {"weight": self.weight, "true": self.true, "pred": self.pred}
        if self.join is not None:
            options |= {"y_pred": self._path(self.join), "on": self.on, "allow_unmatched": self.allow_unmatched}
        if self.cluster is not None:
            options["cluster"] = self.cluster
        return with_tuples(tabulate(data, by=self.by, **options)) if self.by else alone(tabulate(data, **options))

    def opened(self, preds: Sequence[str | None]) -> tuple[Any, dict[str, Any]]:
        """Return the data, as the library takes them, and how to read them and their labels."""
        paths = self.paths
        data: Any = paths[0] if len(paths) == 1 else paths
        join = self._path(self.join) if self.join is not None else None
        load(arrow=not self.by and self.cluster is None and self.join is None and self.engine in (None, "arrow"))
        sides = [(data, self.true), *((join or data, pred) for pred in preds)]
        options = {
            "engine": self.engine,
            "progress": None if _are_large([*paths, *([join] if join else [])]) else False,
        }
        return data, options | self._labels(sides)

    def _labels(self, sides: list[tuple[Any, str | None]]) -> dict[str, Any]:
        """Labels of the kind that the columns hold; the columns are looked at only where a label is given."""
        if not (self.labels or self.ignore or self.positive is not None):
            return {}
        taken = {*self.on, *self.by, *(name for name in (self.weight, self.cluster) if name is not None)}
        kind = labels.kind_of(sides, taken, self.engine, self.join is not None)
        found: dict[str, Any] = {}
        if self.labels:
            found["labels"] = labels.several(self.labels, kind, "--labels")
        if self.ignore:
            found["ignore"] = labels.several(self.ignore, kind, "--ignore")
        if self.positive is not None:
            found["positive"] = labels.one(self.positive, kind, "--positive")
        return found


def _are_large(names: list[str]) -> bool:
    if any(map(is_address, names)):
        return True
    return sum(os.path.getsize(path) for name in names for path in find(name).paths) > SMALL

"""Tables over scores: each row has its true class and a score, and a threshold makes the prediction.

A score table is the tables of groups that there are, `Tables`, with the scores as groups. A row's "prediction" there is
its true class, since it is the threshold that says what is predicted. So every source makes score tables, however the
rows were drawn, and they merge and are stored as tables of groups are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, InputTypeError, SchemaError, warn
from ..present.blocks import Block
from ..present.json_csv import Record
from ..present.result import Result
from ..present.text import brief, counted, number
from . import storage
from .arraytypes import FloatArray, IntArray
from .base_table import frozen
from .design import SampleDesign
from .exact import Exact
from .form import StoredClassScores, StoredScoreTable
from .joint import JointTable
from .keys import Key
from .labels import Label, listed
from .stack import Stack
from .table import Table
from .tables import Tables

STEP = "score of the row"
"""What the tables of steps are grouped by."""


class Counts(NamedTuple):
    """Rows of both classes with a score of a step or above: exact sums, an integer for each step.

    Weights are in units of ``2**exponent``. The first entry is of all rows.
    """

    positive: list[int]
    negative: list[int]
    exponent: int


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(Result):
    r"""Weighted table of scores: what `wmcc.tabulate` makes with ``score``.

    The rows of each class are added up step by step: a step is a score that occurs, or all scores between two edges.
    `at` gives the `wmcc.Table` of a threshold, to the last bit that of the thresholded labels. Score tables are merged
    with ``+``.

    Parameters
    ----------
    tables
        The rows of each step. Keys are scores; of several scores they are tuples, one for each of ``names``.
    edges
        Thresholds between which scores were put together, ascending; None if every score is a step of its own.
    names
        What the scores are called, if there are several; each is ``scores[name]``.

    Examples
    --------
    >>> import wmcc
    >>> scores = wmcc.tabulate([0, 0, 1, 1], score=[0.1, 0.6, 0.4, 0.9], sample_weight=[1, 2, 3, 4])
    >>> scores
    Scores of 4 rows in 4 steps, 0.1 to 0.9, positive class 1, total weight 10
    >>> scores.at(0.4)
    Table of 2 classes: 4 rows, total weight 10
    true \ predicted  0  1
    0                 1  2
    1                 0  7
    >>> scores.at(0.4) == wmcc.tabulate([0, 0, 1, 1], [0, 1, 1, 1], [1, 2, 3, 4])
    True
    """

    tables: Tables[Table]
    edges: tuple[float, ...] | None = None
    names: tuple[str, ...] = ()

    _kind = "score table"
    _version = storage.SCHEMA
    _form = StoredScoreTable

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", occupied_steps(self.tables))
        classes = self.tables.classes
        if not len(self.tables.groups) or not classes:
            left = f"; {counted(self.ignored, 'row')} were ignored" if self.ignored else ""
            raise InputError(f"there are no rows with a score{left}.", "give rows of both classes.", "score")
        if len(classes) != 2:
            came = f"there are {len(classes)}" if len(classes) != 1 else f"all rows are of the class {classes[0]!r}"
            raise InputError(
                f"a score table is of two classes; {came}.",
                "for more classes give arrays, with a column of scores for each class: tabulate(y_true, score=P)."
                if len(classes) > 2
                else "give rows of both classes; a part of a sample may have one, if `labels` names both.",
                shell="--ignore leaves out the rows of other classes." if len(classes) > 2 else None,
            )

    # ---- what it has ------------------------------------------------------------------------------------

    @property
    def positive(self) -> Label:
        """The class that high scores speak for: as given, or the larger label."""
        named = self.tables.positive
        return self.tables.classes[1] if named is None else named

    @property
    def negative(self) -> Label:
        """The other class."""
        first, second = self.tables.classes
        return first if second == self.positive else second

    @property
    def drawn(self) -> SampleDesign:
        """How the rows were drawn."""
        return self.tables.drawn

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.tables.raw_cells.sums.n.sum())

    @property
    def ignored(self) -> int:
        """Rows that were left out."""
        return int(self.tables.ignored.sum())

    @cached_property
    def total(self) -> float:
        """Total weight."""
        return float(self.tables.weights.sum())

    @cached_property
    def steps(self) -> FloatArray:
        """The scores that occur, ascending; of scores that were put together the smallest that each step may hold."""
        self._check_single()
        return frozen(np.array([float(key) for key in self.tables.groups], dtype=np.float64))

    @cached_property
    def thresholds(self) -> FloatArray:
        """Thresholds that make different predictions, ascending: the steps, and infinity, at which none is positive."""
        return frozen(np.append(self.steps, inf))

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of results over all thresholds, a sentence each: that scores were put together, if so."""
        if self.edges is None:
            return ()
        kept = counted(len(self.edges), "edge")
        return (
            f"scores were put together between {kept}: those of a step count as equal, and thresholds within a step "
            "are not looked at; `thresholds` sets the edges, and rounded scores have fewer values, which are "
            "all kept",
        )

    def _check_single(self) -> None:
        if self.names:
            raise InputTypeError(
                f"there are several scores, {', '.join(map(repr, self.names))}; choose one.",
                f"for instance scores[{self.names[0]!r}].",
            )

    def __getitem__(self, name: str) -> ScoreTable:
        if name not in self.names:
            known = ", ".join(map(repr, self.names)) or "a single one without a name"
            raise InputError(f"there is no score {name!r}; the scores are {known}.")
        place = self.names.index(name)
        keys: list[Key] = [key[place] for key in self.tables.groups]
        return ScoreTable(replace(self.tables, by=STEP)._rekeyed(keys), self.edges)

    __iter__ = None  # or else Python would try scores[0], scores[1] …

    @cached_property
    def counts(self) -> Counts:
        """Weight of both classes at and above each step, as integers."""
        positive, negative = self.above.integers()
        return Counts(positive, negative, self.above.exponent)

    @cached_property
    def above(self) -> Exact:
        """Weight of the positive and the negative class at and above each step, exactly: 2 × steps."""
        (step, label), weights = self.cells.codes, self.cells.sums.w_exact
        digits = np.zeros((len(weights.digits), 2, len(self.steps)), dtype=np.int64)
        digits[:, (label != self._place(self.positive)).astype(int), step] = weights.digits
        return Exact(digits[..., ::-1].cumsum(axis=-1)[..., ::-1], weights.exponent)

    @cached_property
    def cells(self) -> Stack:
        """The cells of steps and true classes, with the weights of the design, all units together."""
        return self.tables.design_cells.along((0, 1))

    def _place(self, label: Label) -> int:
        return self.tables.labels.index(label)

    # ---- thresholds -------------------------------------------------------------------------------------

    def at(self, threshold: float | Mapping[str, float]) -> Any:
        """Return the table of the labels that a threshold makes: a score of at least it is positive.

        Of several scores it is their joint table, with one threshold for all or a mapping from names. A threshold
        beyond all scores is warned of, because it may be of another scale.

        Examples
        --------
        >>> import wmcc
        >>> models = wmcc.tabulate([0, 1, 1], score={"A": [0.1, 0.3, 0.8], "B": [0.4, 0.6, 0.2]})
        >>> wmcc.mcc(models["A"].at(0.2)), wmcc.mcc(models["B"].at(0.2))
        (1.0, 0.0)
        >>> models.at({"A": 0.2, "B": 0.5}).names
        ('A', 'B')
        """
        names = self.names or ("score",)
        if isinstance(threshold, Mapping):
            if set(threshold) != set(names) or not self.names:
                raise InputError(
                    f"`threshold` is of {', '.join(map(repr, threshold))}; expected one of each score: "
                    f"{', '.join(map(repr, names))}."
                )
            several = [threshold[name] for name in names]
        else:
            several = [threshold] * len(names)
        cuts = [self._checked(x) for x in several]
        raw, place = self.tables.raw_cells, np.array([self._place(self.negative), self._place(self.positive)])
        keys = self.tables.groups
        scores = [[key[k] for key in keys] for k in range(len(names))] if self.names else [keys]
        preds = [
            place[(np.array(own, dtype=np.float64) >= cut).astype(int)][raw.codes[0]]
            for own, cut in zip(scores, cuts, strict=True)
        ]
        for own, cut in zip(scores, cuts, strict=True):
            self._warn_of_beyond(cut, own)
        codes: IntArray = np.concatenate([raw.codes[1:2], np.array(preds, dtype=np.int64), raw.codes[3:]])
        cells = Stack.gathered(codes, raw.sums)
        if self.names:
            return JointTable(self.tables.labels, self.names, cells, self.ignored, self.drawn)
        return Table(self.tables.labels, cells, self.ignored, self.tables.positive, self.drawn)

    def _warn_of_beyond(self, cut: float, scores: Any = None) -> None:
        """Say so if a threshold lies beyond all scores."""
        given = self.steps if scores is None else scores
        low, high = min(given), max(given)
        if self.edges is not None or not isfinite(cut) or low <= cut <= high:
            return
        side, every = ("above", f"no row is predicted {self.positive!r}") if cut > high else (
            "below", f"every row is predicted {self.positive!r}"
        )  # fmt: skip
        warn(f"`threshold` is {cut!r}, {side} all scores, which are {number(low)} to {number(high)}: {every}.")

    def _checked(self, threshold: Any, said: str = "`threshold`") -> float:
        """Return a threshold, if the table can say what it predicts; ``said`` is what the caller knows it as."""
        try:
            if isinstance(threshold, (str, bytes, bool)):
                raise ValueError
            cut = float(threshold)
        except (TypeError, ValueError):
            cut = np.nan
        if cut != cut:
            raise InputError(f"{said} is {brief(threshold)}; expected a number.", argument="threshold")
        if self.edges is None or not isfinite(cut) or cut in self.edges:
            return cut
        near = sorted(self.edges, key=lambda edge: abs(edge - cut))[:2]
        raise InputError(
            f"{said} is {cut!r}; scores were put together between edges, and the nearest are "
            f"{' and '.join(map(repr, sorted(near)))}.",
            "take one of these, or tabulate with `thresholds` that contain it.",
            "threshold",
        )

    def binned(self, edges: Sequence[float] | FloatArray) -> ScoreTable:
        """Return the same with all scores between two thresholds as one step.

        Examples
        --------
        >>> import wmcc
        >>> scores = wmcc.tabulate([0, 0, 1, 1], score=[0.1, 0.6, 0.4, 0.9])
        >>> scores.binned([0.5]).thresholds
        array([-inf, 0.5,  inf])
        """
        self._check_single()
        cuts = checked_edges(edges)
        for cut in cuts:
            self._checked(cut)
        return ScoreTable(binned_tables(self.tables, cuts), cuts)

    # ---- merging, storing, showing ----------------------------------------------------------------------

    def __add__(self, other: ScoreTable) -> ScoreTable:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        return self._merged([self, other])

    def __radd__(self, other: object) -> ScoreTable:
        return self if other == 0 else NotImplemented  # so that sum(tables) works

    @classmethod
    def _merged(cls, several: Sequence[ScoreTable]) -> ScoreTable:
        """Return the sum of score tables."""
        if any(own.edges != several[0].edges for own in several):
            raise InputError(
                "the score tables put scores together between different edges.",
                "tabulate all with the same `thresholds`.",
            )
        return replace(several[0], tables=Tables._merged([own.tables for own in several]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        return (self.edges, self.names) == (other.edges, other.names) and self.tables == other.tables

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists, numbers and texts."""
        edges = None if self.edges is None else [edge.hex() for edge in self.edges]
        stored = {"edges": edges, "names": list(self.names), "tables": self.tables.to_dict()}
        return {"schema": self._version, "kind": self._kind, **stored}

    @classmethod
    def from_dict(cls, data: Any) -> ScoreTable:
        """Read what `to_dict` made; anything else is refused with a `SchemaError`."""
        if not isinstance(data, dict) or data.get("kind") != cls._kind:
            raise SchemaError("this is no stored score table.", "wmcc.Table.from_json reads tables.")
        storage.check_version(data)
        try:
            edges = None if data["edges"] is None else tuple(map(float.fromhex, data["edges"]))
            tables, names = Tables.from_dict(data["tables"]), tuple(map(str, data["names"]))
            keys = tables.groups if names else [(key,) for key in tables.groups]
            if any(type(x) not in (int, float) for key in keys for x in key):
                raise ValueError("a score is no number")
            if len(set(names)) < len(names) or any(len(key) != max(1, len(names)) for key in keys):
                raise ValueError("'names' must have a name of its own for each score")
            return cls(tables, edges, names)
        except SchemaError:
            raise
        except (KeyError, TypeError, ValueError) as problem:
            what = f"it has no entry {problem}" if type(problem) is KeyError else getattr(problem, "message", problem)
            raise SchemaError(f"the stored score table cannot be read: {what}") from None

    @classmethod
    def from_json(cls, text: str | bytes) -> ScoreTable:
        """Read what `to_json`, or ``wmcc tabulate --score -o``, wrote.

        Examples
        --------
        >>> import wmcc
        >>> scores = wmcc.tabulate([0, 0, 1, 1], score=[0.1, 0.6, 0.4, 0.9])
        >>> wmcc.results.ScoreTable.from_json(scores.to_json()) == scores
        True
        """
        return cls.from_dict(storage.parse(text))

    def blocks(self) -> list[Block]:
        """Return what it is, in a line."""
        what = f"{counted(len(self.tables.groups), 'step')}"
        if not self.names:
            low, high = self.steps[0], self.steps[-1]
            what += f", {number(low)} to {number(high)}"
        else:
            what += f" of {', '.join(self.names)}"
        left = f", {self.ignored:,} ignored" if self.ignored else ""
        title = (
            f"Scores of {counted(self.rows, 'row')}{left} in {what}, positive class {self.positive}, "
            f"total weight {number(self.total)}"
        )
        return [Block("", (), [], [title])]

    def records(self) -> list[Record]:
        """Return a row for each step, or for each that several scores have together: the weight of each class."""
        cells, keys = self.cells, self.tables.groups
        weights = np.zeros((len(keys), 2))
        weights[cells.codes[0], cells.codes[1]] = cells.sums.w_exact.floats()
        sides = weights[:, self._place(self.positive)].tolist(), weights[:, self._place(self.negative)].tolist()
        scores = [dict(zip(self.names, key, strict=True)) if self.names else {"score": key} for key in keys]
        return [{**own, "positive": p, "negative": q} for own, p, q in zip(scores, *sides, strict=True)]


@dataclass(frozen=True, eq=False, repr=False)
class ClassScores(Result, Mapping[Label, ScoreTable]):
    """Scores of several classes, a column for each: what `wmcc.tabulate` makes of a matrix of scores.

    A mapping from each class to the score table of it against all others.

    Parameters
    ----------
    scores
        The score table of each class.
    table
        The table of the classes with the largest scores; of equal ones it is the first.

    Examples
    --------
    >>> import wmcc
    >>> scores = wmcc.tabulate(["a", "b", "c"], score=[[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]])
    >>> wmcc.accuracy(scores)
    0.6666666666666666
    >>> scores["c"].thresholds
    array([0.1, 0.3, 0.4, inf])
    """

    scores: dict[Label, ScoreTable]
    table: Table

    _kind = "class scores"
    _version = storage.SCHEMA
    _form = StoredClassScores

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Label]:
        return iter(self.scores)

    def __getitem__(self, label: Label) -> ScoreTable:
        if label not in self.scores:
            raise InputError(f"there is no class {label!r}; the classes are {listed([*self])}.")
        return self.scores[label]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassScores):
            return NotImplemented
        return self.table == other.table and self.scores == other.scores

    def __add__(self, other: ClassScores) -> ClassScores:
        if not isinstance(other, ClassScores):
            return NotImplemented
        if [*self] != [*other]:
            raise InputError(f"the classes differ: {listed([*self])}, and {listed([*other])}.")
        return ClassScores({label: self[label] + other[label] for label in self}, self.table + other.table)

    __hash__ = None  # type: ignore[assignment]

    def blocks(self) -> list[Block]:
        """Return each class in a line."""
        rows = [[str(label), f"{len(own.steps):,}", number(own.total)] for label, own in self.scores.items()]
        return [Block(f"Scores of {counted(len(self), 'class', 'classes')}", ["Class", "Steps", "Weight"], rows)]

    def records(self) -> list[Record]:
        """Return a row for each step of each class: the weight of it, and of all others."""
        return [{"class": label, **row} for label, own in self.scores.items() for row in own.records()]

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists, numbers and texts."""
        scores = [[label, own.to_dict()] for label, own in self.scores.items()]
        return {"schema": self._version, "kind": self._kind, "table": self.table.to_dict(), "scores": scores}

    @classmethod
    def from_dict(cls, data: Any) -> ClassScores:
        """Read what `to_dict` made; anything else is refused with a `SchemaError`."""
        if not isinstance(data, dict) or data.get("kind") != cls._kind:
            raise SchemaError(
                "these are no stored scores of classes.", "wmcc.results.ScoreTable.from_json reads others."
            )
        storage.check_version(data)
        try:
            table, pairs = Table.from_dict(data["table"]), [(label, own) for label, own in data["scores"]]
        except (KeyError, TypeError, ValueError) as problem:
            raise SchemaError(f"the stored scores of classes cannot be read: {problem!r}") from None
        scores = {label: ScoreTable.from_dict(own) for label, own in pairs}
        if tuple(scores) != table.classes:
            raise SchemaError("the stored scores are of other classes than their table.")
        return cls(scores, table)

    @classmethod
    def from_json(cls, text: str | bytes) -> ClassScores:
        """Read what `to_json` wrote.

        Examples
        --------
        >>> import wmcc
        >>> scores = wmcc.tabulate(["a", "b", "c"], score=[[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]])
        >>> wmcc.results.ClassScores.from_json(scores.to_json()) == scores
        True
        """
        return cls.from_dict(storage.parse(text))


def as_scores(given: Any) -> Any:
    """Return the score table of what has one, such as an accumulator; other things as they are."""
    try:
        its = given if isinstance(given, ScoreTable) else getattr(given, "scores", None)
    except InputTypeError:  # it holds labels
        return given
    return its if isinstance(its, ScoreTable) else given


def occupied_steps(tables: Tables[Table]) -> Tables[Table]:
    """Return tables by score without steps that only ignored rows have; all ignored rows count at the first."""
    rows = tables.rows
    if not rows.any() or (rows.all() and not tables.ignored[1:].any()):
        return tables
    first = tables.groups[int(np.argmax(rows > 0))]
    found = tables._rekeyed([key if n else first for key, n in zip(tables.groups, rows.tolist(), strict=True)])
    ignored = np.zeros_like(found.ignored)
    ignored[0] = found.ignored.sum()
    return replace(found, ignored=ignored)


def binned_tables(tables: Tables[Table], edges: tuple[float, ...]) -> Tables[Table]:
    """Return tables by score with all scores between two edges together; keys are the smallest scores of each."""
    lower = [-inf, *edges]
    scores = np.array(tables.groups, dtype=np.float64)
    keys: list[Key] = [lower[k] for k in np.searchsorted(edges, scores, side="right").tolist()]
    return tables._rekeyed(keys)


def checked_edges(edges: Any) -> tuple[float, ...]:
    """Return thresholds, ascending and each once."""
    try:
        cuts = tuple(sorted({float(edge) for edge in edges}))
    except (TypeError, ValueError):
        cuts = ()
    if not cuts or not all(map(isfinite, cuts)):
        raise InputError(
            f"`thresholds` is {brief(edges)}; expected a list of finite numbers.",
            "for instance numpy.arange(101) / 100.",
            "thresholds",
        )
    return cuts

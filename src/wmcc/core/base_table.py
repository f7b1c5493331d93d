"""What all tables have in common: classes, a stack of cells, how the rows were drawn; merging, aligning, showing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from ..errors import InputError, InputTypeError
from ..present.blocks import Block
from ..present.json_csv import Record, apart, finite
from ..present.result import Delegate, Result
from ..present.text import counted, left_out, number
from . import labels as _labels
from . import storage
from .arraytypes import Array, FloatArray, IndexArray, IntArray
from .design import SampleDesign, check_sampled, merged_drawn, unsampled
from .exact import Exact, effective_size, nearest_float
from .labels import Label
from .stack import Stack, merged_stacks
from .sums import Sums

A = TypeVar("A", bound=Array)

NUMBERS = ("n", "w", "w2", "w_min", "w_max")
"""What a cell has, as columns of a frame."""

SHOWN_CELLS = 20
"""Cells that are listed: the heaviest."""


class StackedCells(Result):
    """Classes, a stack of cells, and how the rows were drawn: what one table and tables of groups have in common."""

    labels: tuple[Label, ...]
    raw_cells: Stack
    drawn: SampleDesign
    void: tuple[Label, ...]
    positive: Label | None = None

    _version = storage.SCHEMA

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels that are classes: all but the void ones, which come last."""
        return self.labels[: len(self.labels) - len(self.void)]

    def _of_whole_map(self) -> Self:
        """Return the same, of a map that was compared with its reference wall to wall, if its rows are in clusters."""
        whole = self.drawn.kind == "clusters"
        return replace(self, drawn=self.drawn._replace(whole=True)) if whole else self  # type: ignore[type-var]

    @property
    def unsampled(self) -> InputError | None:
        """What is wrong if strata of known size have no row yet, so that rows have no weights; None if all have."""
        return unsampled(self.drawn) if len(self.raw_cells) else None

    @cached_property
    def design_cells(self) -> Stack:
        """The cells of each unit of the design, with the weights that the design gives them."""
        cells, design = self.raw_cells, self.drawn.design
        if design is None or not len(cells):
            return cells
        check_sampled(self.drawn)
        factors = self.drawn.factors
        if factors is not None:
            cells = Stack(cells.codes, cells.sums.scaled(factors[cells.codes[-1]]))
        if design.poststrata is not None:
            totals = zip(*design.poststrata, strict=True)
            factors = np.array([float(Fraction(total) / w) if w else 0.0 for _, total, w in totals])
            cells = Stack(cells.codes, cells.sums.scaled(factors[cells.codes[-2]]))
        return cells

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that a copy is as frozen as the original.
        return type(self), self._values()

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    # ---- merging, and other labels --------------------------------------------------------------------

    def __add__(self, other: Self) -> Self:
        return self._merged([self, other]) if isinstance(other, type(self)) else NotImplemented

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented  # so that sum(tables) works

    @classmethod
    def _merged(cls, tables: Sequence[Self]) -> Self:
        """Sum of tables: their classes are aligned, and clusters of the same key are one cluster."""
        raise NotImplementedError

    def _recoded(self, names: tuple[Label, ...], place: Array, void: tuple[Label, ...] = ()) -> Self:
        """Return the same over other labels; ``place`` says where each of its own is among them, −1 if nowhere."""
        raise NotImplementedError

    def _aligned(self, names: tuple[Label, ...]) -> Self:
        """Return the same over the labels ``names``, which include its own."""
        return self if names == self.labels else self._recoded(names, positions(names, self.labels), self.void)

    def _relabelled(self, names: Sequence[Label]) -> Self:
        """Return the same with other names for its labels, sorted; classes of one name become one."""
        void = _labels.void_order(names[len(self.classes) :])
        labels = _labels.ordered(names[: len(self.classes)]) + void
        return self._recoded(labels, positions(labels, names), void)

    def rename(self, names: Mapping[Label, Label]) -> Self:
        """Return the same with other names for some of its labels, in the same order.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.tabulate([0, 1, 1], [0, 1, 0]).rename({0: "road", 1: "grass"}).labels
        ('road', 'grass')
        """
        new = {old: _labels.as_label(name, f"the name of {old!r}") for old, name in names.items()}
        for old in new:
            if old not in self.labels:
                raise InputError(f"there is no class {old!r} to rename; the labels are {_labels.listed(self.labels)}.")
        labels = tuple(new.get(label, label) for label in self.labels)
        if len(set(labels)) < len(labels):
            twice, _ = Counter(labels).most_common(1)[0]
            raise InputError(f"two classes would be called {twice!r}; each class needs a different name.")
        classes, void = labels[: len(self.classes)], labels[len(self.classes) :]
        fields = {"labels": _labels.plain(classes) + void, "void": void, **self._positive(new)}
        return replace(self, **fields)  # type: ignore[type-var]  # all that inherit are dataclasses

    def _positive(self, names: Mapping[Label, Label]) -> dict[str, Any]:
        """Return the positive class by its new name, as a field, if there is such a class."""
        return {} if self.positive is None else {"positive": names.get(self.positive, self.positive)}

    def merge_classes(self, unions: Mapping[Label, Sequence[Label]]) -> Self:
        r"""Return the same with some classes taken together: a mapping from each new class to the classes it unites.

        The new class stands where the first of them stood. Do this before estimating: areas of classes add up, but the
        standard error of a union does not follow from those of its parts, and neither does its accuracy, since a
        confusion within a union is no error.

        Examples
        --------
        >>> import wmcc
        >>> table = wmcc.Table.from_counts([[5, 1, 0], [2, 7, 1], [0, 3, 4]], ["ash", "elm", "sea"])
        >>> table.merge_classes({"forest": ["ash", "elm"]})
        Table of 2 classes: 23 rows, total weight 23
        true \ predicted  forest  sea
        forest                15    1
        sea                    3    4
        """
        if not isinstance(unions, Mapping):
            raise InputTypeError(
                f"`unions` is a {type(unions).__name__}; expected a mapping from each new class to those it unites.",
                "for instance {'forest': ['oak', 'elm']}.",
                "unions",
            )
        into: dict[Label, Label] = {}
        for given, members in unions.items():
            name = _labels.as_label(given, "the name of a union")
            for old in _labels.given(members, f"unions[{given!r}]"):
                if old not in self.classes:
                    void = f"; {old!r} is void" if old in self.void else ""
                    raise InputError(
                        f"there is no class {old!r} to merge into {name!r}; the classes are "
                        f"{_labels.listed(self.classes)}{void}.",
                        argument="unions",
                    )
                if old in into:
                    raise InputError(
                        f"class {old!r} is in two unions, {into[old]!r} and {name!r}; expected one.", argument="unions"
                    )
                into[old] = name
        taken = next((x for x in self.labels if x not in into and x in into.values()), None)
        if taken is not None:
            raise InputError(
                f"the union {taken!r} has the name of a class that is not part of it.",
                f"give it another name, or list {taken!r} among the classes that it unites.",
                "unions",
            )
        new = [into.get(label, label) for label in self.labels]
        classes = _labels.plain(dict.fromkeys(new[: len(self.classes)]))
        merged = self._recoded((*classes, *self.void), positions((*classes, *self.void), new), self.void)
        return replace(merged, **self._positive(into))  # type: ignore[type-var]

    # ---- storing ------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings: what `to_json` writes.

        Cells are listed one by one, empty ones left out. ``w_exact`` and ``w2_exact`` hold the unrounded sums
        as ``0x<integer>p<exponent>``; ``w`` and ``w2`` are the same rounded, for readers in other languages.
        """
        return storage.pack(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what `to_dict` made; anything else is refused with a `SchemaError`."""
        return cls(**storage.unpack(data, cls.__name__))

    def to_json(self) -> str:
        """JSON text of `to_dict`."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json`, or ``wmcc tabulate -o``, wrote.

        Examples
        --------
        >>> import wmcc
        >>> table = wmcc.tabulate([0, 1, 1], [0, 1, 0], [0.1, 0.2, 0.3])
        >>> wmcc.Table.from_json(table.to_json()) == table
        True
        """
        return cls.from_dict(storage.parse(text))

    @property
    def kinds(self) -> str:
        """How many classes there are, and what labels are void."""
        void = f" and void {_labels.listed(self.void)}" if self.void else ""
        kept = _labels.MISSING in self.classes
        return counted(len(self.classes) - kept, "class", "classes") + " and missing labels" * kept + void


class BaseTable(StackedCells):
    """One table: classes, and a stack of cells.

    ``raw_cells`` has the cells as they were tabulated, of each unit of the design: a table whose rows come in clusters
    has one axis more, the cluster. All that does not concern sampling errors reads `cells`, in which the cells of all
    units are added up, with the weights that the design gives them.
    """

    ignored: int

    _kind: ClassVar[str]
    """What it is called where it is stored, which says what axes it has."""
    _title: ClassVar[str]
    """What it is called where it is shown."""

    def __post_init__(self) -> None:
        if type(self.ignored) is not int or self.ignored < 0:
            raise InputError(f"`ignored` is {self.ignored!r}; expected a number of rows.")
        if self.void and self.labels[-len(self.void) :] != self.void:
            raise InputError(f"the void labels {_labels.listed(self.void)} must be the last of the labels.")

    @property
    def axes(self) -> int:
        """Number of labels of a row."""
        codes = len(self.raw_cells.codes)
        return codes if self.drawn.kind == "rows" else codes - len(self.drawn.axes)

    # ---- reading ------------------------------------------------------------------------------------

    @cached_property
    def computed(self) -> dict[Any, Any]:
        """What readers computed of this table and will need again, of another measure say, each by a key of its own."""
        return {}

    @cached_property
    def cells(self) -> Stack:
        """The occupied cells: positions in ``labels`` of the labels of their rows, and their sums."""
        axes = self.axes
        return self.raw_cells if len(self.raw_cells.codes) == axes else self.design_cells.along(range(axes))

    @cached_property
    def _weights(self) -> list[int]:
        """Σw of the occupied cells, as integers in units of ``2**cells.sums.w_exact.exponent``."""
        weights: list[int] = self.cells.sums.w_exact.integers()
        return weights

    @property
    def rows(self) -> int:
        """Number of observations."""
        return int(np.add.reduce(self.raw_cells.sums.n))

    @cached_property
    def total(self) -> float:
        """Weight of all rows."""
        w = self.cells.sums.w_exact
        return nearest_float(w.total(), w.exponent)

    @cached_property
    def n_eff(self) -> float:
        """Effective sample size (Σw)² / Σw²: how many rows of equal weight would say as much about a mean.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 97]).n_eff
        1.062473438164046
        """
        w, w2 = self.cells.sums.w_exact, self.cells.sums.w2_exact
        return effective_size(w.total(), w2.total(), 2 * w.exponent - w2.exponent)

    @property
    def _sums(self) -> Sums:
        """The sums of cells as this table shows them."""
        raise NotImplementedError

    n: ClassVar[Delegate[IntArray]] = Delegate(
        "_sums.n", "Number of observations per cell: K x K of a `Table`, of a `JointTable` a vector."
    )
    w_exact: ClassVar[Delegate[Exact]] = Delegate("_sums.w_exact", "Σw per cell, not rounded.")
    w2_exact: ClassVar[Delegate[Exact]] = Delegate("_sums.w2_exact", "Σw² per cell, not rounded.")
    w_min: ClassVar[Delegate[FloatArray]] = Delegate(
        "_sums.w_min", "Smallest weight per cell; NaN where there is no observation."
    )
    w_max: ClassVar[Delegate[FloatArray]] = Delegate(
        "_sums.w_max", "Largest weight per cell; NaN where there is no observation."
    )

    @cached_property
    def w(self) -> FloatArray:
        """Σw per cell: the float64 nearest to the exact sum."""
        return frozen(self.w_exact.floats())

    @cached_property
    def w2(self) -> FloatArray:
        """Σw² per cell: the float64 nearest to the exact sum of the rounded squares."""
        return frozen(self.w2_exact.floats())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._values() == other._values()

    # ---- merging ------------------------------------------------------------------------------------

    @classmethod
    def _merged(cls, tables: Sequence[Self]) -> Self:
        """Sum of tables: their classes are aligned, and clusters of the same key are one cluster."""
        labels, void, cells, drawn = merged_parts(tables, range(tables[0].axes))
        return tables[0]._over(labels, cells, void, drawn=drawn, ignored=sum(table.ignored for table in tables))

    def _over(self, labels: tuple[Label, ...], cells: Stack, void: tuple[Label, ...], **fields: Any) -> Self:
        """Return a table of the same predictions over other cells, without a positive class."""
        if self.positive is not None:
            fields["positive"] = None
        return replace(self, labels=labels, raw_cells=cells, void=void, **fields)  # type: ignore[type-var]

    def _take(self, classes: Sequence[int]) -> Self:
        """Return the table of some of the classes, by position: of rows with no other label."""
        place = np.full(len(self.labels), -1, dtype=np.int64)
        place[list(classes)] = np.arange(len(classes))
        cells, drawn = occupied(self.raw_cells.recoded(dict.fromkeys(range(self.axes), place)), self.drawn)
        names = tuple(self.labels[k] for k in classes)
        return self._over(names, cells, tuple(x for x in names if x in self.void), drawn=drawn)

    def _recoded(self, names: tuple[Label, ...], place: Array, void: tuple[Label, ...] = ()) -> Self:
        """Return the table over other labels; ``place`` says where each of its own is among them, −1 if nowhere."""
        places = dict.fromkeys(range(self.axes), place)
        made = self._over(names, self.raw_cells.recoded(places), void)
        if self.drawn.design is not None and "design_cells" in vars(self):  # the same, and sooner than by weighing anew
            vars(made)["design_cells"] = self.design_cells.recoded(places)
        return made

    # ---- showing ------------------------------------------------------------------------------------

    @property
    def counts(self) -> str:
        """How many rows there are, how they were drawn, and what they weigh."""
        rows = counted(self.rows, "row") + self.drawn.said
        if self.drawn.kind == "pairs":
            rows = f"{counted(self.rows, 'entry', 'entries')} of a weight matrix"
        out = self._without_labels + (f", {self.ignored:,} ignored" if self.ignored else "")
        problem = self.unsampled
        return f"{rows}{out}" + (f", total weight {number(self.total)}" if problem is None else "; " + problem.message)

    @property
    def _without_labels(self) -> str:
        """How many rows lack the true label, and how many a prediction, where these were kept."""
        if _labels.MISSING not in self.classes:
            return ""
        truth, *preds = self.cells.codes == self.classes.index(_labels.MISSING)
        n = self.cells.sums.n
        return f", {n[truth].sum():,} without a true label, {n[np.any(preds, axis=0)].sum():,} without a prediction"

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        return f"{self._title} of {self.kinds}: {self.counts}"

    def _listing(self) -> Block:
        """The cells one by one, the heaviest first."""
        w = self.cells.sums.w_exact.floats()
        order = np.argsort(-w, kind="stable")[:SHOWN_CELLS]
        top, rows = self.cells.take(order), []
        for codes, n, weight in zip(top.codes.T.tolist(), top.sums.n.tolist(), w[order].tolist(), strict=True):
            rows.append([*(str(self.labels[k]) for k in codes), f"{n:,}", number(weight)])
        right = {(i, self.axes + 1): "right" for i, codes in enumerate(top.codes.T) if len(set(codes.tolist())) == 1}
        head = [*self._axis_names(), "rows", "weight"]
        notes = left_out(len(order), len(w), "cells")
        return Block(self.summary, head, rows, notes, self.axes, right)

    def _axis_names(self) -> list[str]:
        return ["true", "pred"]

    def blocks(self) -> list[Block]:
        """Return the cells that occur, the heaviest first."""
        return [self._listing()] if len(self.raw_cells) and self.unsampled is None else [Block(self.summary)]

    def records(self) -> list[Record]:
        """Return a row for each cell that occurs."""
        sums, labels, names = self.cells.sums, self.labels, self._heads()
        columns = sums.n, sums.w_exact.floats(), sums.w2_exact.floats(), sums.w_min, sums.w_max
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        return [
            dict(zip(names, [*(labels[k] for k in codes), *map(finite, of_cell)], strict=True))
            for codes, of_cell in zip(self.cells.codes.T.tolist(), numbers, strict=True)
        ]

    def _heads(self) -> list[str]:
        true, *preds = self._axis_names()
        return [true, *apart(preds, (true, *NUMBERS), "pred"), *NUMBERS]


def merged_parts(
    tables: Sequence[Any], labelled: Sequence[int], places: dict[int, list[IndexArray]] | None = None
) -> tuple[tuple[Label, ...], tuple[Label, ...], Stack, SampleDesign]:
    """Labels, those of them that are void, cells and design of tables together.

    Parameters
    ----------
    tables
        All of one type, and at least one.
    labelled
        Axes whose codes are positions of classes.
    places
        By axis, where the codes of each table's other axes are to be.
    """
    names, void = _labels.merged((table.labels, table.void) for table in tables)
    _labels.check_count(len(names))
    drawn, units = merged_drawn([table.drawn for table in tables if len(table.raw_cells) or table.drawn.kind != "rows"])
    stacks = []
    for k, table in enumerate(tables):
        if not len(table.raw_cells):
            continue
        moved: dict[int, Array] = {axis: own[k] for axis, own in (places or {}).items()}
        if table.labels != names:
            moved |= dict.fromkeys(labelled, positions(names, table.labels))
        for axis, (name, keys) in enumerate(table.drawn.keys, len(table.raw_cells.codes) - len(table.drawn.axes)):
            if (name, keys) in units:
                moved[axis] = units[name, keys]
        stacks.append(table.raw_cells.recoded(moved) if moved else table.raw_cells)
    axes = max(len(table.raw_cells.codes) for table in tables)
    replicates = 0 if drawn.replicates is None else len(drawn.replicates.scales)
    return names, void, merged_stacks(stacks) if stacks else no_cells(axes, replicates), drawn


def no_cells(axes: int, replicates: int = 0) -> Stack:
    """Return a stack without cells, of rows with so many replicate weights."""
    sums = Sums.from_counts(np.zeros(0, dtype=np.int64))
    return Stack(np.zeros((axes, 0), dtype=np.int64), sums._replace(replicates=(sums.w_exact,) * replicates))


def positions(names: tuple[Label, ...], mine: Sequence[Label]) -> IndexArray:
    """Where each of some classes is among ``names``."""
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[name] for name in mine], dtype=np.intp)


def frozen(array: A) -> A:
    """Return the array, not to be written to."""
    array.flags.writeable = False
    return array


def occupied(parts: Stack, drawn: SampleDesign) -> tuple[Stack, SampleDesign]:
    """Return cells, and how their rows were drawn, for a part of the rows.

    Clusters of which no row is left do not count. In strata they do: the design is that of the whole sample.
    """
    if drawn.kind != "clusters" or drawn.rows:
        return parts, drawn.as_domain()
    met = np.zeros(len(drawn.units), dtype=bool)
    met[parts.codes[-1]] = True
    if met.all():
        return parts, drawn
    place = np.cumsum(met) - 1
    kept = tuple(key for key, there in zip(drawn.units, met.tolist(), strict=True) if there)
    return parts.recoded({len(parts.codes) - 1: place}), drawn._replace(units=kept)

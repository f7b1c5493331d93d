"""What all tables have in common: classes, a stack of cells, how the rows were drawn; merging, aligning, showing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np

from ..errors import InputError
from ..present.blocks import Block
from ..present.result import Result
from ..present.text import counted, left_out, number
from ..present.written import Record, apart, finite
from . import labels as _labels
from . import storage
from .arraytypes import Array, FloatArray, IndexArray, IntArray
from .exact import Exact
from .keys import Key, check_kinds, merged_keys
from .labels import Label
from .stack import Stack, merged_stacks
from .sums import Sums


class Drawn(NamedTuple):
    """How the rows of a table were drawn: what its sampling errors rest on.

    Parameters
    ----------
    kind
        ``"rows"``: independently of each other. ``"clusters"``: in clusters, which are independent. ``"pairs"``: they
        are entries of a weight matrix, and no sample.
    clusters
        The keys of the clusters, sorted.
    """

    kind: Literal["rows", "clusters", "pairs"] = "rows"
    clusters: tuple[Key, ...] = ()


A = TypeVar("A", bound=Array)

ROWS, PAIRS = Drawn("rows"), Drawn("pairs")

NUMBERS = ("n", "w", "w2", "w_min", "w_max")
"""What a cell has, as columns of a frame."""

SHOWN_CELLS = 20
"""Cells that are listed: the heaviest."""

WORDS = {"rows": "independent rows", "clusters": "clusters", "pairs": "the entries of a weight matrix"}


class Summed(Result):
    """Classes, and a stack of cells.

    The stack of a table whose rows come in clusters has one axis more, the last: the cluster. All that does not concern
    sampling errors reads `stack`, in which clusters are added up.
    """

    labels: tuple[Label, ...]
    parts: Stack
    ignored: int
    drawn: Drawn
    void: tuple[Label, ...]

    _kind: ClassVar[str]
    """What it is called where it is stored, which says what axes it has."""
    _title: ClassVar[str]
    """What it is called where it is shown."""

    def __post_init__(self) -> None:
        if type(self.ignored) is not int or self.ignored < 0:
            raise InputError(f"ignored is {self.ignored!r}; expected a number of rows.")
        if self.void and self.labels[-len(self.void) :] != self.void:
            raise InputError(f"the void labels {_labels.listed(self.void)} must be the last of the labels.")

    @property
    def axes(self) -> int:
        """Number of labels of a row."""
        return len(self.parts.codes) - (self.drawn.kind == "clusters")

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels that are classes: all but the void ones, which come last."""
        return self.labels[: len(self.labels) - len(self.void)]

    # ---- reading ------------------------------------------------------------------------------------

    @cached_property
    def stack(self) -> Stack:
        """The occupied cells: positions in ``labels`` of the labels of their rows, and their sums."""
        axes = self.axes
        return self.parts if len(self.parts.codes) == axes else self.parts.along(range(axes))

    @cached_property
    def _weights(self) -> list[int]:
        """Σw of the occupied cells, as integers in units of ``2**stack.sums.w_exact.exponent``."""
        found: list[int] = self.stack.sums.w_exact.integers()
        return found

    @property
    def rows(self) -> int:
        """Number of observations."""
        return int(np.add.reduce(self.parts.sums.n))

    @cached_property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.stack.sums.w_exact.sum().floats())

    @property
    def _sums(self) -> Sums:
        """The sums of cells as this table shows them."""
        raise NotImplementedError

    @property
    def n(self) -> IntArray:
        """Number of observations per cell: K x K of a `Table`, a vector of a `JointTable`, as are the following."""
        return self._sums.n

    @property
    def w_exact(self) -> Exact:
        """Σw per cell, not rounded."""
        return self._sums.w_exact

    @property
    def w2_exact(self) -> Exact:
        """Σw² per cell, not rounded."""
        return self._sums.w2_exact

    @property
    def w_min(self) -> FloatArray:
        """Smallest weight per cell; NaN where there is no observation."""
        return self._sums.w_min

    @property
    def w_max(self) -> FloatArray:
        """Largest weight per cell; NaN where there is no observation."""
        return self._sums.w_max

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

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that a copy is as frozen as the original.
        return type(self), self._values()

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    # ---- merging ------------------------------------------------------------------------------------

    def __add__(self, other: Self) -> Self:
        return self._merged([self, other]) if isinstance(other, type(self)) else NotImplemented

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented  # so that sum(tables) works

    @classmethod
    def _merged(cls, tables: Sequence[Self]) -> Self:
        """Sum of tables: their classes are aligned, and clusters of the same key are one cluster."""
        labels, void, parts, drawn = merged_parts(tables, range(tables[0].axes))
        return tables[0]._made(labels, parts, drawn, void, sum(table.ignored for table in tables))

    def _made(
        self, labels: tuple[Label, ...], parts: Stack, drawn: Drawn, void: tuple[Label, ...], ignored: int | None = None
    ) -> Self:
        """Return a table of the same predictions over other cells."""
        rows = self.ignored if ignored is None else ignored
        return type(self)(labels=labels, parts=parts, ignored=rows, drawn=drawn, void=void)  # type: ignore[call-arg]

    def _take(self, classes: Sequence[int]) -> Self:
        """Return the table of some of the classes, by position: of rows with no other label."""
        place = np.full(len(self.labels), -1, dtype=np.int64)
        place[list(classes)] = np.arange(len(classes))
        parts, drawn = occupied(self.parts.recoded(dict.fromkeys(range(self.axes), place)), self.drawn)
        names = tuple(self.labels[k] for k in classes)
        return self._made(names, parts, drawn, tuple(x for x in names if x in self.void))

    def _aligned(self, names: tuple[Label, ...]) -> Self:
        """Return the table over the labels ``names``, which include its own."""
        return self if names == self.labels else self._recoded(names, positions(names, self.labels), self.void)

    def _relabelled(self, names: Sequence[Label]) -> Self:
        """Return the table with other names for its labels, sorted; classes of one name become one."""
        return self._recoded(*arranged(names, len(self.void)))

    def _recoded(self, names: tuple[Label, ...], place: Array, void: tuple[Label, ...] = ()) -> Self:
        """Return the table over other labels; ``place`` says where each of its own is among them, −1 if nowhere."""
        parts = self.parts.recoded(dict.fromkeys(range(self.axes), place))
        return self._made(names, parts, self.drawn, void)

    def rename(self, names: Mapping[Label, Label]) -> Self:
        """Return the table with other names for some of its labels, in the same order.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.tabulate([0, 1, 1], [0, 1, 0]).rename({0: "road", 1: "grass"}).labels
        ('road', 'grass')
        """
        found: Self = renamed(self, names)
        return found

    # ---- storing ------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings: what `to_json` writes.

        Cells are listed one by one, empty ones left out. ``w_exact`` and ``w2_exact`` hold the unrounded sums
        as ``0x<integer>p<exponent>``; ``w`` and ``w2`` are the same rounded, for readers in other languages.
        """
        of_kind = getattr(self, "positive", None), getattr(self, "names", ())
        return storage.pack(
            storage.Stored(self._kind, self.labels, self.void, self.parts, [self.ignored], *of_kind, *self.drawn)
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what `to_dict` made; anything else is refused with a `SchemaError`."""
        x = storage.unpack(data, cls._kind)
        more = {"positive": x.positive} if x.kind == "table" else {"names": x.names}
        drawn = Drawn(x.drawn, x.clusters)
        return cls(labels=x.labels, parts=x.parts, ignored=x.ignored[0], drawn=drawn, void=x.void, **more)  # type: ignore[call-arg]

    def to_json(self) -> str:
        """JSON text of `to_dict`."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote.

        Examples
        --------
        >>> import wmcc
        >>> table = wmcc.tabulate([0, 1, 1], [0, 1, 0], [0.1, 0.2, 0.3])
        >>> wmcc.Table.from_json(table.to_json()) == table
        True
        """
        return cls.from_dict(storage.parse(text))

    # ---- showing ------------------------------------------------------------------------------------

    @property
    def counts(self) -> str:
        """How many rows there are, how they were drawn, and what they weigh."""
        rows = counted(self.rows, "row")
        if self.drawn.kind == "clusters":
            rows += f" in {counted(len(self.drawn.clusters), 'cluster')}"
        if self.drawn.kind == "pairs":
            rows = f"{counted(self.rows, 'entry', 'entries')} of a weight matrix"
        out = f", {self.ignored:,} ignored" if self.ignored else ""
        return f"{rows}{out}, total weight {number(self.total)}"

    @property
    def kinds(self) -> str:
        """How many classes there are, and what labels are void."""
        return counted(len(self.classes), "class", "classes") + said_void(self.void)

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        return f"{self._title} of {self.kinds}: {self.counts}"

    def _listing(self) -> Block:
        """The cells one by one, the heaviest first."""
        w = self.stack.sums.w_exact.floats()
        order = np.argsort(-w, kind="stable")[:SHOWN_CELLS]
        top, rows = self.stack.take(order), []
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
        return [self._listing()] if len(self.stack) else [Block(self.summary)]

    def records(self) -> list[Record]:
        """Return a row for each cell that occurs."""
        sums = self.stack.sums
        numbers = zip(
            sums.n.tolist(),
            *(x.floats().tolist() for x in (sums.w_exact, sums.w2_exact)),
            sums.w_min.tolist(),
            sums.w_max.tolist(),
            strict=True,
        )
        names, labels = self._heads(), self.labels
        return [
            dict(zip(names, [*(labels[k] for k in codes), *map(finite, own)], strict=True))
            for codes, own in zip(self.stack.codes.T.tolist(), numbers, strict=True)
        ]

    def _heads(self) -> list[str]:
        true, *preds = self._axis_names()
        return [true, *apart(preds, (true, *NUMBERS), "pred"), *NUMBERS]


def merged_parts(
    tables: Sequence[Any], labelled: Sequence[int], places: dict[int, list[IndexArray]] | None = None
) -> tuple[tuple[Label, ...], tuple[Label, ...], Stack, Drawn]:
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
    drawn, clusters = _merged_drawn([table.drawn for table in tables if len(table.parts) or table.drawn != ROWS])
    stacks = []
    for k, table in enumerate(tables):
        if not len(table.parts):
            continue
        moved: dict[int, Array] = {axis: own[k] for axis, own in (places or {}).items()}
        if table.labels != names:
            moved |= dict.fromkeys(labelled, positions(names, table.labels))
        if clusters:
            moved[len(table.parts.codes) - 1] = clusters[table.drawn.clusters]
        stacks.append(table.parts.recoded(moved) if moved else table.parts)
    axes = max(len(table.parts.codes) for table in tables)
    return names, void, merged_stacks(stacks) if stacks else no_cells(axes), drawn


def _merged_drawn(several: Sequence[Drawn]) -> tuple[Drawn, dict[tuple[Key, ...], IndexArray]]:
    """How the rows of tables together were drawn, and where the clusters of each are."""
    if all(drawn == ROWS for drawn in several):
        return ROWS, {}
    kinds = list(dict.fromkeys(drawn.kind for drawn in several))
    if len(kinds) > 1:
        a, b = (WORDS[kind] for kind in kinds[:2])
        raise InputError(
            f"the rows of one table are {a}, those of another {b}; they cannot be merged.",
            "score them separately." if "pairs" in kinds else "tabulate all with cluster=, or none.",
        )
    if kinds[0] != "clusters":
        return several[0], {}
    check_kinds([drawn.clusters for drawn in several], (), "clusters")
    keys = list(dict.fromkeys(drawn.clusters for drawn in several))
    names, places = merged_keys(keys)
    if len(keys) == 1:
        return several[0], {}
    return Drawn("clusters", names), dict(zip(keys, places, strict=True))


def no_cells(axes: int) -> Stack:
    """Return a stack without cells."""
    return Stack(np.zeros((axes, 0), dtype=np.int64), Sums.from_counts(np.zeros(0, dtype=np.int64)))


def positions(names: tuple[Label, ...], mine: Sequence[Label]) -> IndexArray:
    """Where each of some classes is among ``names``."""
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[name] for name in mine], dtype=np.intp)


def arranged(names: Sequence[Label], void: int) -> tuple[tuple[Label, ...], IndexArray, tuple[Label, ...]]:
    """Put labels in order, the last so many of which are void: classes sorted, and void ones after them.

    Returns the distinct labels, the place of each of those given, and the void ones among them.
    """
    last = _labels.void_order(names[len(names) - void :])
    ordered = _labels.ordered(names[: len(names) - void]) + last
    return ordered, positions(ordered, names), last


def renamed(table: Any, names: Mapping[Label, Label]) -> Any:
    """Return a table, or tables, with other names for some labels."""
    new = {old: _labels.as_label(name, f"the name of {old!r}") for old, name in names.items()}
    for old in new:
        if old not in table.labels:
            raise InputError(f"there is no class {old!r} to rename; the labels are {_labels.listed(table.labels)}.")
    labels = tuple(new.get(label, label) for label in table.labels)
    if len(set(labels)) < len(labels):
        twice, _ = Counter(labels).most_common(1)[0]
        raise InputError(f"two classes would be called {twice!r}; each class needs a different name.")
    classes = len(labels) - len(table.void)
    changed = {"labels": _labels.plain(labels[:classes]) + labels[classes:], "void": labels[classes:]}
    if getattr(table, "positive", None) is not None:
        changed["positive"] = new.get(table.positive, table.positive)
    return replace(table, **changed)


def said_void(void: tuple[Label, ...]) -> str:
    """Name void labels, as the rest of a sentence."""
    return f" and void {_labels.listed(void)}" if void else ""


def frozen(array: A) -> A:
    """Return the array, not to be written to."""
    array.flags.writeable = False
    return array


def occupied(parts: Stack, drawn: Drawn) -> tuple[Stack, Drawn]:
    """Return cells, and how their rows were drawn: clusters of which no row is left do not count."""
    if drawn.kind != "clusters":
        return parts, drawn
    met = np.zeros(len(drawn.clusters), dtype=bool)
    met[parts.codes[-1]] = True
    if met.all():
        return parts, drawn
    place = np.cumsum(met) - 1
    kept = tuple(key for key, there in zip(drawn.clusters, met.tolist(), strict=True) if there)
    return parts.recoded({len(parts.codes) - 1: place}), Drawn("clusters", kept)

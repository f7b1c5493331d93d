"""What all tables have in common: classes, a stack of cells, how the rows were drawn; merging, aligning, showing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property, reduce
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np

from ..errors import InputError
from ..present.text import grid, html, number
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

WORDS = {"rows": "independent rows", "clusters": "clusters", "pairs": "the entries of a weight matrix"}


class Summed:
    """Classes, and a stack of cells.

    The stack of a table whose rows come in clusters has one axis more, the last: the cluster. All that does not concern
    sampling errors reads `stack`, in which clusters are added up.
    """

    labels: tuple[Label, ...]
    parts: Stack
    ignored: int
    drawn: Drawn

    _kind: ClassVar[str]
    """What it is called where it is stored, which says what axes it has."""
    _listed_by: ClassVar[str] = "classes"
    """What is counted where a table is too long to be shown."""

    def __post_init__(self) -> None:
        if type(self.ignored) is not int or self.ignored < 0:
            raise InputError(f"ignored is {self.ignored!r}; expected a number of rows.")

    @classmethod
    def axes(cls) -> int:
        """Number of labels of a row."""
        return len(storage.AXES[cls._kind])

    # ---- reading ------------------------------------------------------------------------------------

    @cached_property
    def stack(self) -> Stack:
        """The occupied cells: positions in ``labels`` of the labels of their rows, and their sums."""
        axes = self.axes()
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
        names, parts, drawn = merged_parts(tables, range(cls.axes()))
        return cls(names, parts, sum(table.ignored for table in tables), drawn=drawn)  # type: ignore[call-arg]

    def _take(self, classes: Sequence[int]) -> Self:
        """Return the table of some of the classes, by position: of rows with no other label."""
        place = np.full(len(self.labels), -1, dtype=np.int64)
        place[list(classes)] = np.arange(len(classes))
        parts, drawn = occupied(self.parts.recoded(dict.fromkeys(range(self.axes()), place)), self.drawn)
        names = tuple(self.labels[k] for k in classes)
        return type(self)(names, parts, self.ignored, drawn=drawn)  # type: ignore[call-arg]

    def _aligned(self, names: tuple[Label, ...]) -> Self:
        """Return the table over the classes ``names``, which include its own."""
        return self if names == self.labels else self._recoded(names, positions(names, self.labels))

    def _relabelled(self, names: Sequence[Label]) -> Self:
        """Return the table with other names for its classes, sorted; classes of one name become one."""
        ordered = _labels.ordered(names)
        return self._recoded(ordered, positions(ordered, names))

    def _recoded(self, names: tuple[Label, ...], place: Array) -> Self:
        """Return the table over other classes; ``place`` says where each of its own is among them, −1 if nowhere."""
        parts = self.parts.recoded(dict.fromkeys(range(self.axes()), place))
        return type(self)(names, parts, self.ignored, drawn=self.drawn)  # type: ignore[call-arg]

    # ---- storing ------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings: what `to_json` writes.

        Cells are listed one by one, empty ones left out. ``w_exact`` and ``w2_exact`` hold the unrounded sums
        as ``0x<integer>p<exponent>``; ``w`` and ``w2`` are the same rounded, for readers in other languages.
        """
        drawn, positive = self.drawn, getattr(self, "positive", None)
        known = (self._kind, self.labels, self.parts, [self.ignored], positive)
        return storage.pack(storage.Stored(*known, drawn.kind, drawn.clusters))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what `to_dict` made; anything else is refused with a `SchemaError`."""
        found = storage.unpack(data, cls._kind)
        positive = {} if found.positive is None else {"positive": found.positive}
        drawn = Drawn(found.drawn, found.clusters)
        return cls(found.labels, found.parts, found.ignored[0], drawn=drawn, **positive)  # type: ignore[call-arg]

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

    def _summary(self) -> str:
        out = f", {self.ignored:,} ignored" if self.ignored else ""
        K, clusters = len(self.labels), len(self.drawn.clusters)
        classes = "1 class" if K == 1 else f"{K:,} classes"
        drawn = f" in {clusters:,} clusters" if self.drawn.kind == "clusters" else ""
        return f"{type(self).__name__} of {classes}: {self.rows:,} rows{drawn}{out}, total weight {number(self.total)}"

    def _shown(self, most: int) -> tuple[list[list[str]], int]:
        """Return a heading and as many rows to show, and how many there are."""
        raise NotImplementedError

    def _left_out(self, most: int, there: int) -> list[str]:
        return [f"… the first {most} of {there:,} {self._listed_by}"] if there > most else []

    def __repr__(self) -> str:
        rows, there = self._shown(10)
        return "\n".join([self._summary(), *([] if len(rows) == 1 else [grid(rows)]), *self._left_out(10, there)])

    def _repr_html_(self) -> str:
        rows, there = self._shown(50)
        if len(rows) == 1:
            return html({}, [self._summary()])
        return html({self._summary(): rows}, self._left_out(50, there))


def merged_parts(
    tables: Sequence[Any], labelled: Sequence[int], places: dict[int, list[IndexArray]] | None = None
) -> tuple[tuple[Label, ...], Stack, Drawn]:
    """Classes, cells and design of tables together.

    Parameters
    ----------
    tables
        All of one type, and at least one.
    labelled
        Axes whose codes are positions of classes.
    places
        By axis, where the codes of each table's other axes are to be.
    """
    names = reduce(_labels.merged, (table.labels for table in tables))
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
    return names, merged_stacks(stacks) if stacks else no_cells(axes), drawn


def _merged_drawn(several: Sequence[Drawn]) -> tuple[Drawn, dict[tuple[Key, ...], IndexArray]]:
    """How the rows of tables together were drawn, and where the clusters of each are."""
    if all(drawn == ROWS for drawn in several):
        return ROWS, {}
    kinds = list(dict.fromkeys(drawn.kind for drawn in several))
    if len(kinds) > 1:
        a, b = (WORDS[kind] for kind in kinds[:2])
        raise InputError(
            f"the rows of one table are {a}, those of another {b}; they cannot be merged.",
            "score them apart." if "pairs" in kinds else "tabulate all with cluster=, or none.",
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

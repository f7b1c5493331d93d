"""Tables of groups of rows: one stack of cells for all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from ..errors import InputError, InputTypeError
from ..present.blocks import Block
from ..present.json_csv import Record, apart, beside
from ..present.text import counted, name_of, number
from .arraytypes import Array, FloatArray, IndexArray, IntArray
from .base_table import BaseTable, StackedCells, frozen, merged_parts, no_cells, occupied, positions
from .design import ROWS, WORDS, SampleDesign
from .form import StoredTables
from .joint import JointTable, check_names
from .keys import Key, check_kinds, distinct_keys, merged_keys, missing, no_cluster, plain_key
from .labels import Label, listed
from .stack import Stack, numbered
from .sums import added_by_code, cannot_merge
from .table import Table, merged_positive, rest_beside

if TYPE_CHECKING:  # whose stub every type checker has; a default is a matter of Python 3.13 at run time
    from typing_extensions import TypeVar as TypeVarWithDefault

    from .score_table import ScoreTable

    T = TypeVarWithDefault("T", bound=BaseTable, default=Table)
else:
    T = TypeVar("T", bound=BaseTable)
M = TypeVar("M", bound="BaseTable | Tables[Any] | ScoreTable")

SHOWN_GROUPS, SHOWN_TABLES = 20, 5
"""Groups that are listed, and groups up to which each table is shown."""

NONE_DECLARED: IntArray = np.zeros((2, 0), dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Tables(StackedCells, Mapping[Key, T], Generic[T]):
    r"""One table per group of rows, by key: what `wmcc.tabulate` makes with ``by``.

    It is a mapping. All groups share one list of cells, and the table of a group is made when it is asked for, so
    100,000 groups cost little. Two are merged with ``+``, key by key.

    Parameters
    ----------
    by
        What rows are grouped by: the name of a column, and keys are its values; or several, and keys are tuples.
    groups
        The keys, sorted, what is missing last. A key is an integer, float, boolean, text, or None where it is missing;
        dates are text.
    labels
        The classes of all groups together.
    raw_cells
        Cells: positions of the group in ``groups`` and of the classes in ``labels``, the cluster if rows come in
        clusters, and the sums of each.
    ignored
        Rows left out, per group.
    same_classes
        Whether each table has all classes, as the caller named them, or those that occur in its group.
    declared
        Pairs of a group and a class, by their places, a column each: classes that a group has though they need not
        occur in it, where groups were merged whose classes were named in different ways.
    positive, drawn, void
        As in `wmcc.Table`.
    names
        As in `wmcc.JointTable`; none if the groups are of type `wmcc.Table`.

    Examples
    --------
    >>> import wmcc
    >>> truth, guess, hectares = [0, 1, 1, 0], [0, 1, 0, 0], [2.5, 1.0, 4.0, 3.0]
    >>> tables = wmcc.tabulate(truth, guess, hectares, by=["north", "south", "south", "north"])
    >>> tables
    Tables of 2 groups: 2 classes, 4 rows, total weight 10.5
    by     classes  rows  weight
    north        1     2     5.5
    south        2     2       5
    <BLANKLINE>
    by = north
    true \ predicted    0
    0                 5.5
    <BLANKLINE>
    by = south
    true \ predicted  0  1
    0                 0  0
    1                 4  1
    >>> wmcc.accuracy(tables["south"])
    0.2
    >>> tables.total() == wmcc.tabulate(truth, guess, hectares)
    True
    """

    by: str | int | tuple[str | int, ...]
    groups: tuple[Key, ...]
    labels: tuple[Label, ...]
    raw_cells: Stack
    ignored: IntArray
    same_classes: bool = False
    positive: Label | None = None
    drawn: SampleDesign = ROWS
    declared: IntArray = field(default_factory=lambda: NONE_DECLARED)
    names: tuple[str, ...] = ()
    void: tuple[Label, ...] = ()

    _kind = "tables"
    _form = StoredTables

    def __post_init__(self) -> None:
        self.ignored.flags.writeable = False
        self.declared.flags.writeable = False

    @classmethod
    def of(cls, tables: Mapping[Any, T], by: Any = None) -> Tables[T]:
        """Make one of tables by key, such as those that were stored one by one; equal keys are merged.

        ``by`` names what the keys are values of: one name, or one for each value of keys that are tuples.

        Examples
        --------
        >>> import wmcc
        >>> one, two = wmcc.Table.from_counts([[5, 1], [2, 7]]), wmcc.Table.from_counts([[9, 1], [0, 3]])
        >>> wmcc.Tables.of({"monday": one, "tuesday": two}, by="day").total().n
        array([[14,  2],
               [ 2, 10]])
        """
        kinds = {type(table) for table in tables.values()}
        if len(kinds) != 1 or not kinds <= {Table, JointTable}:
            came = "there are none" if not kinds else f"these are {', '.join(sorted(kind.__name__ for kind in kinds))}"
            raise InputTypeError(f"expected tables by key, all of type Table or all of type JointTable; {came}.")
        keys = [tuple(map(plain_key, key)) if isinstance(key, tuple) else plain_key(key) for key in tables]
        named = _names_of(keys, by)
        several = [_of_one(named, key, table) for key, table in zip(keys, tables.values(), strict=True)]
        return several[0] if len(several) == 1 else cls._merged(several)

    @property
    def kind(self) -> type[T]:
        """The type of the tables: `wmcc.Table`, or `wmcc.JointTable` for named predictions of the same rows."""
        kind: Any = JointTable if self.names else Table
        return kind  # type: ignore[no-any-return]

    @property
    def axes(self) -> int:
        """Number of labels of a row."""
        return 1 + max(1, len(self.names))

    @property
    def columns(self) -> tuple[Any, ...]:
        """Names of the columns that rows are grouped by."""
        return self.by if isinstance(self.by, tuple) else (self.by,)

    # ---- a mapping ------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.groups)

    @cached_property
    def _place(self) -> dict[Key, int]:
        return {key: k for k, key in enumerate(self.groups)}

    @cached_property
    def _ends(self) -> IndexArray:
        """Where the cells of each group begin, and where the last ends."""
        return np.searchsorted(self.raw_cells.codes[0], np.arange(len(self.groups) + 1))

    def __getitem__(self, key: Key) -> T:
        k = self._place[key]
        cells = slice(self._ends[k], self._ends[k + 1])
        codes, sums = self.raw_cells.codes[1:, cells], self.raw_cells.sums.take(cells)
        axes = self.axes
        names, drawn = self.labels, self.drawn
        codes = np.array(codes)
        if self.void or not self.same_classes:
            more = self.declared[1, self.declared[0] == k]
            if self.same_classes:
                more = np.arange(len(self.classes))
            if self.positive is not None:
                more = np.append(more, self.labels.index(self.positive))
            used, own = np.unique(np.concatenate([codes[:axes].reshape(-1), more]), return_inverse=True)
            codes[:axes] = own[: codes[:axes].size].reshape(axes, -1)
            names = tuple(self.labels[j] for j in used.tolist())
        if drawn.kind == "clusters":
            used, codes[axes] = np.unique(codes[axes], return_inverse=True)
            drawn = drawn._replace(units=tuple(drawn.units[j] for j in used.tolist()), rows=())
        return self._made(names, Stack(codes, sums), int(self.ignored[k]), drawn.as_domain())

    def _made(self, labels: tuple[Label, ...], parts: Stack, ignored: int, drawn: SampleDesign) -> T:
        """Return one table."""
        kind: Any = self.kind
        own = {"names": self.names} if self.names else {"positive": self.positive}
        void = tuple(x for x in labels if x in self.void)
        table: T = kind(labels=labels, raw_cells=parts, ignored=ignored, drawn=drawn, void=void, **own)
        return table

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Tables) and all(map(_same, self._values(), other._values())):
            return True
        return Mapping.__eq__(self, other)  # of other fields, the same tables may come

    __hash__ = None  # type: ignore[assignment]

    # ---- all groups at once -----------------------------------------------------------------------------

    @cached_property
    def rows(self) -> IntArray:
        """Number of observations per group."""
        return frozen(added_by_code(self.raw_cells.codes[0], self.raw_cells.sums.n, len(self)))

    @cached_property
    def weights(self) -> FloatArray:
        """Weight per group: the float64 nearest to the exact sum."""
        return frozen(self.design_cells.sums.w_exact.by_code(self.raw_cells.codes[0], len(self)).floats())

    def total(self) -> T:
        """Return the table of all groups together."""
        axes = range(1, len(self.raw_cells.codes))
        return self._made(self.labels, self.raw_cells.along(axes), int(self.ignored.sum()), self.drawn)

    def select(self, keys: Iterable[Key] | Callable[[Key], Any]) -> Tables[T]:
        """Return some of the groups: those of these keys, or those whose key a function says yes to.

        Examples
        --------
        >>> import wmcc
        >>> tables = wmcc.tabulate([0, 1, 1], [0, 1, 0], by=[2021, 2022, 2023])
        >>> list(tables.select(lambda year: year > 2021))
        [2022, 2023]
        >>> list(tables.select([2021]))
        [2021]
        """
        if callable(keys):
            kept = [k for k, key in enumerate(self.groups) if keys(key)]
        else:
            wanted = keys if isinstance(keys, Collection) and not isinstance(keys, str) else list(keys)
            unknown = next((key for key in wanted if key not in self._place), None)
            if unknown is not None or (None in wanted and None not in self._place):
                first = ", ".join(map(repr, self.groups[:5])) or "none"
                raise InputError(f"there is no group {unknown!r}; the first are {first}.")
            kept = sorted({self._place[key] for key in wanted})
        place = np.full(len(self), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        parts, drawn = occupied(self.raw_cells.recoded({0: place}), self.drawn)
        declared = np.stack([place[self.declared[0]], self.declared[1]])
        declared, groups = declared[:, declared[0] >= 0], tuple(self.groups[k] for k in kept)
        some = replace(self, groups=groups, ignored=self.ignored[kept], declared=declared)
        return replace(some, raw_cells=parts, drawn=drawn)._of_labels_that_occur()

    def _of_labels_that_occur(self) -> Tables[T]:
        """Return the same over the labels that occur in some group, and over all classes that the caller named."""
        met = np.zeros(len(self.labels), dtype=bool)
        met[: len(self.classes)] = self.same_classes
        for codes in self.raw_cells.codes[1 : 1 + self.axes]:
            met[codes] = True
        met[self.declared[1]] = True
        if self.positive is not None:
            met[self.labels.index(self.positive)] = True
        names = tuple(name for name, there in zip(self.labels, met.tolist(), strict=True) if there)
        return self._recoded(names, np.cumsum(met) - 1, tuple(x for x in names if x in self.void))

    def _recoded(self, names: tuple[Label, ...], place: Array, void: tuple[Label, ...] = ()) -> Tables[T]:
        declared = np.stack([self.declared[0], place[self.declared[1]]])
        cells = self.raw_cells.recoded(dict.fromkeys(range(1, 1 + self.axes), place))
        return replace(self, labels=names, raw_cells=cells, declared=declared, void=void)

    def against_rest(self, label: Label) -> Tables[T]:
        """Return the same with two classes: this one, which is the positive one, and all others as one."""
        if label not in self.classes:
            raise InputError(f"there is no class {label!r}; the classes are {listed(self.classes)}.")
        place = np.array([0 if other == label else 1 for other in self.labels])
        return replace(self._recoded((label, rest_beside([label])), place), positive=label)

    def _rekeyed(self, keys: Sequence[Key]) -> Tables[T]:
        """Return the same with other keys; groups of one key become one."""
        groups, where = distinct_keys(keys)
        ignored = added_by_code(where, self.ignored, len(groups))
        declared = np.stack([where[self.declared[0]], self.declared[1]])
        cells = self.raw_cells.recoded({0: where})
        return replace(self, groups=groups, raw_cells=cells, ignored=ignored, declared=declared)

    def _reclustered(self, keys: Sequence[Key]) -> Tables[T]:
        """Return the same with other keys of clusters; clusters of one key become one."""
        clusters, where = distinct_keys(keys)
        cells = self.raw_cells.recoded({len(self.raw_cells.codes) - 1: where})
        rows = added_by_code(where, self.drawn.rows, len(clusters)).tolist() if self.drawn.rows else ()
        return replace(self, raw_cells=cells, drawn=self.drawn._replace(units=clusters, rows=tuple(rows)))

    def as_clusters(self) -> T:
        """Return one table whose clusters are these groups: what intervals and comparisons of clusters read.

        Examples
        --------
        >>> import wmcc
        >>> images = wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], by=["a", "a", "b", "b"])
        >>> images.as_clusters() == wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], cluster=["a", "a", "b", "b"])
        True
        """
        if self.drawn.kind != "rows":
            raise InputError(
                f"the rows of these tables are {WORDS[self.drawn.kind]}; their groups cannot become clusters.",
                "use tables.total(), one table of all groups.",
            )
        rows = int(self.rows[missing(self.groups)].sum())
        if rows:
            raise no_cluster(rows)
        cells = self.raw_cells.along([*range(1, 1 + self.axes), 0])
        cells, drawn = occupied(cells, SampleDesign("clusters", self.groups))
        return self._made(self.labels, cells, int(self.ignored.sum()), drawn)

    # ---- merging ------------------------------------------------------------------------------------

    @classmethod
    def _merged(cls, several: Sequence[Tables[T]]) -> Tables[T]:
        """Sum of tables of groups, key by key."""
        first = several[0]
        check_names([tables.names for tables in several])
        for other in several[1:]:
            if other.by != first.by:
                a, b = (", ".join(map(str, tables.columns)) or "nothing" for tables in (first, other))
                raise cannot_merge(f"one is grouped by {a}, the other by {b}", "the same groups")
        check_kinds([tables.groups for tables in several], first.columns, "groups")
        groups, places = merged_keys([tables.groups for tables in several])
        labels, void, cells, drawn = merged_parts(several, range(1, 1 + first.axes), {0: places})
        all_ignored = np.concatenate([tables.ignored for tables in several])
        ignored = added_by_code(np.concatenate(places), all_ignored, len(groups))
        same_classes = all(tables.same_classes and tables.labels == labels for tables in several)
        declared = NONE_DECLARED if same_classes else _all_declared(several, places, labels)
        positive = merged_positive(several, len(labels) - len(void), ("tables have", "they"))
        fields = (labels, cells, ignored, same_classes, positive, drawn, declared)
        return cls(first.by, groups, *fields, first.names, void)

    # ---- showing ------------------------------------------------------------------------------------

    def title(self, key: Key) -> str:
        """Name a group: ``region = coast``."""
        shown = map(name_of, self._as_tuple(key))
        return ", ".join(f"{name} = {value}" for name, value in zip(self.columns, shown, strict=True))

    def _as_tuple(self, key: Key) -> tuple[Any, ...]:
        return key if isinstance(self.by, tuple) else (key,)

    @property
    def summary(self) -> str:
        """What they are, in a line."""
        ignored, problem = int(self.ignored.sum()), self.unsampled
        rows = counted(int(self.raw_cells.sums.n.sum()), "row") + (f", {ignored:,} ignored" if ignored else "")
        what = f"{'Joint tables' if self.names else 'Tables'} of {counted(len(self), 'group')}: {self.kinds}, {rows}"
        if problem is not None:
            return f"{what}; {problem.message}"
        return f"{what}, total weight {number(float(self.design_cells.sums.w_exact.sum().floats()))}"

    def blocks(self) -> list[Block]:
        """Return a line for each group, and the tables of a few."""
        if not len(self) or self.unsampled is not None:
            return [Block(self.summary)]
        rows = []
        for key in self.groups[:SHOWN_GROUPS]:
            table = self[key]
            shown = map(name_of, self._as_tuple(key))
            rows.append([*shown, f"{len(table.classes):,}", f"{table.rows:,}", number(table.total)])
        more = len(self) - SHOWN_GROUPS
        notes = [f"… and {counted(more, 'more group')}; CSV and JSON have all."] if more > 0 else []
        head = [*map(str, self.columns), "classes", "rows", "weight"]
        overview = Block(self.summary, head, rows, notes, len(self.columns))
        if len(self) > SHOWN_TABLES:
            return [overview]
        return [overview, *(replace(b, title=self.title(key)) for key, table in self.items() for b in table.blocks())]

    def records(self) -> list[Record]:
        """Return a row for each cell that occurs, of each group."""
        keys = {key: dict(zip(map(str, self.columns), self._as_tuple(key), strict=True)) for key in self.groups}
        return [row for key, table in self.items() for row in beside(keys[key], table.records())]

    def _heads(self) -> list[str]:
        cells = self.total()._heads()
        return [*apart(list(map(str, self.columns)), cells, "by"), *cells]


def _same(a: Any, b: Any) -> bool:
    """Whether two values of a field are the same."""
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)


def merge(tables: Iterable[M]) -> M:
    """Return the sum of tables: `Table`, `JointTable`, `Tables` or `ScoreTable`, all of one type and at least one.

    It is what ``+`` makes of them, in any order and to the last bit, and faster where there are many.

    Examples
    --------
    >>> import wmcc
    >>> days = [wmcc.tabulate([0, 1], [0, 1]), wmcc.tabulate([1, 1], [0, 1])]
    >>> wmcc.merge(days).n
    array([[1, 0],
           [1, 2]])
    """
    single = hasattr(tables, "_merged") or isinstance(tables, Mapping)
    several: list[Any] = [tables] if single else list(tables)
    kinds = list(dict.fromkeys(type(table).__name__ for table in several))
    if single or len(kinds) != 1 or not hasattr(several[0], "_merged"):
        raise InputTypeError(
            f"merge takes a list of tables of one type, at least one; got {' and '.join(kinds) or 'none'}.",
            "a mapping of groups to tables is added up with tables.total(), or with merge(tables.values()).",
        )
    kind: Any = type(several[0])
    merged: M = kind._merged(several)
    return merged


def _of_one(by: Any, key: Key, table: Any) -> Tables[Any]:
    """Tables of a single group."""
    m = len(table.raw_cells)
    codes = np.concatenate([np.zeros((1, m), dtype=np.int64), table.raw_cells.codes])
    cells, ignored = Stack(codes, table.raw_cells.sums) if m else no_cells(len(codes)), np.array([table.ignored])
    fields = (table.labels, cells, ignored, True, table.positive, table.drawn, NONE_DECLARED)
    return Tables(by, (key,), *fields, getattr(table, "names", ()), table.void)


def _names_of(keys: Sequence[Key], by: Any) -> Any:
    """Return what keys are called: as the caller says, if that fits them."""
    lengths = {len(key) if isinstance(key, tuple) else None for key in keys}
    count = next(iter(lengths))
    if by is None:
        by = "by" if count is None else tuple(f"by {k + 1}" for k in range(count))
    by = tuple(by) if isinstance(by, (list, tuple)) else by
    if lengths != {len(by) if isinstance(by, tuple) else None}:
        raise InputError(
            f"`by` is {by!r}, and the keys do not fit it: the first is {keys[0]!r}.",
            "give one name for keys that are single values, and for tuples as many as they have values.",
        )
    return by


def _all_declared(several: Sequence[Tables[Any]], places: Sequence[IndexArray], labels: tuple[Label, ...]) -> IntArray:
    """Classes that groups have though they need not occur there, of tables together."""
    pairs = []
    for tables, place in zip(several, places, strict=True):
        G, K = len(tables.groups), len(tables.classes)  # void labels are there only if they occur
        pair = np.indices((G, K)).reshape(2, -1) if tables.same_classes else tables.declared
        pairs.append(np.stack([place[pair[0]], positions(labels, tables.labels)[pair[1]]]))
    return numbered(np.concatenate(pairs, axis=1).astype(np.int64))[0]

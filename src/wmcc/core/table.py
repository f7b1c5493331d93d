"""The waist of the library: the weighted confusion table that every source makes and every reader reads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from operator import or_
from typing import Any, NamedTuple, Protocol, TypeGuard

import numpy as np

from ..errors import InputError, InputTypeError, TooManyClassesError
from ..present.blocks import Block
from ..present.text import brief, heaviest, number
from . import consistency
from . import labels as _labels
from .arraytypes import Array, ArrayLike, FloatArray, IntArray
from .base_table import BaseTable, frozen, no_cells
from .design import ROWS, SampleDesign, StratifiedDesign, check_sizes
from .exact import effective_sizes
from .form import StoredTable
from .labels import MISSING, REST, Label
from .stack import Stack
from .sums import MOST_ROWS, Sums, added_by_code, cannot_merge

MOST_DENSE = 1 << 24
"""Cells that are shown as a matrix of all pairs of classes: those of 4,096 classes, 128 MiB for each matrix."""

SHOWN_CLASSES = 50
"""Classes of the largest table that is shown as a square; of larger ones the cells are listed."""

FEW_CELLS = 64
"""Cells that Python's own integers add up faster than arrays do."""


def incomplete() -> InputError:
    """Return the error of a table in which missing labels were kept."""
    return InputError(
        f"the table keeps rows without a label, as {MISSING!r}, so it has no score.",
        'wmcc.certify(table, model="missing") has the range of all that they could be; for a score tabulate with '
        "`missing` 'ignore' or 'wrong'.",
        "missing",
        "`wmcc certify` has the range of all that they could be; for a score give --missing ignore or wrong.",
    )


class Margins(NamedTuple):
    """What the measures need of a table, as exact integers in one common unit.

    The measures do not change when all weights are scaled, so the unit does not matter.
    """

    s: int
    """Total weight."""
    r: list[int]
    """Weight per true class: the row sums."""
    q: list[int]
    """Weight per predicted class: the column sums."""
    d: list[int]
    """Weight of the correct rows per class: the diagonal."""
    classes: int
    """Number of classes that a mean over classes runs over: those that have weight in truth or prediction."""
    known: int
    """Number of labels that are classes; the labels after them are void."""

    @classmethod
    def of(cls, r: list[int], q: list[int], d: list[int], known: int) -> Margins:
        """Return the margins of these row sums, column sums and diagonal, of which so many labels are classes."""
        return cls(sum(r), r, q, d, occurring(r[:known], q[:known]), known)


def rest_beside(names: Sequence[Label]) -> str:
    """Return what all other classes are called together, beside some of these names; a class may be called so."""
    return REST if REST not in names else f"{REST} but it"


def occurring(r: list[int], q: list[int]) -> int:
    """Number of classes that have weight in truth or prediction."""
    return sum(1 for either in map(or_, r, q) if either)


def class_totals(
    weights: Sequence[int], true: Sequence[int], pred: Sequence[int], classes: int
) -> tuple[list[int], list[int], list[int]]:
    """Add up weights of cells by true class, by predicted class, and where the two are the same."""
    r, q, d = [0] * classes, [0] * classes, [0] * classes
    for weight, t, p in zip(weights, true, pred, strict=True):
        r[t] += weight
        q[p] += weight
        if t == p:
            d[t] += weight
    return r, q, d


@dataclass(frozen=True, eq=False, repr=False)
class Table(BaseTable):
    r"""Weighted confusion table: row = true class, column = predicted class.

    Tables are made by `wmcc.tabulate`, merged with ``+`` (label sets are aligned; the sums stay exact, so
    the order of merging does not matter) and read by everything else. A table computes no measure.

    It keeps a list of the cells that occur, so its memory goes by those and not by the square of the number of classes.
    `n`, `w`, `w2`, `w_min` and `w_max` show them as K x K matrices, for up to 4,096 classes; `cells` is the list.

    Parameters
    ----------
    labels
        The K classes, in the order of rows and columns.
    raw_cells
        The cells that occur: positions in ``labels`` of the true and of the predicted class, the cluster if rows come
        in clusters, and the sums of each.
    ignored
        Rows left out because the caller named their label in ``ignore``.
    positive
        The positive class of a two-class table, if the caller named one.
    drawn
        How the rows were drawn: independently, in clusters, or as entries of a weight matrix.
    void
        The last of ``labels``, if they are no classes: labels that the caller ignores in the truth, and that were
        predicted for rows whose truth is known. Such predictions are wrong. No row has them for its truth.

    Examples
    --------
    >>> import wmcc
    >>> a = wmcc.tabulate(["oak", "elm", "oak"], ["oak", "oak", "oak"], [300.0, 2.0, 5.5])
    >>> a
    Table of 2 classes: 3 rows, total weight 307.5
    true \ predicted  elm    oak
    elm                 0      2
    oak                 0  305.5
    >>> a.n
    array([[0, 1],
           [0, 2]])
    >>> (a + a).w
    array([[  0.,   4.],
           [  0., 611.]])
    >>> a.cells.codes
    array([[0, 1],
           [1, 1]])
    """

    labels: tuple[Label, ...]
    raw_cells: Stack
    ignored: int = 0
    positive: Label | None = None
    drawn: SampleDesign = ROWS
    void: tuple[Label, ...] = ()

    _kind = "table"
    _form = StoredTable
    _title = "Table"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.positive is not None and (len(self.classes) > 2 or self.positive not in self.classes):
            raise no_positive(self.positive, self.classes)

    # ---- making ------------------------------------------------------------------------------------

    @classmethod
    def empty(cls, labels: Sequence[Label] = ()) -> Table:
        """Return a table without observations; with no labels it is the unit of ``+``."""
        return cls(_labels.given(labels), no_cells(2))

    @classmethod
    def from_counts(
        cls,
        n: ArrayLike,
        labels: Sequence[Label] | None = None,
        *,
        ignored: int = 0,
        positive: Label | None = None,
        population: Mapping[Label, float] | None = None,
        fpc: bool = False,
    ) -> Table:
        """Table of observations that all weigh one, from a plain confusion matrix, whose rows are true classes.

        With ``population``, sizes of the predicted classes, it is that of a sample which was drawn in strata that are
        these classes: the usual error matrix of a map, to be transposed if it has the map in rows. Each row then stands
        for its share of the stratum, as in `wmcc.tabulate`. With ``fpc`` the sizes count units, and rows were drawn
        from them without replacement.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.mcc(wmcc.Table.from_counts([[50, 3], [2, 45]]))
        0.8999402959126063
        >>> wmcc.Table.from_counts([[50, 3], [2, 45]], population={0: 9000, 1: 100}).total
        9100.0
        """
        counts = _counts(n)
        names = tuple(range(len(counts))) if labels is None else _labels.given(labels)
        if counts.shape != (len(names), len(names)):
            raise InputError(f"the matrix has shape {counts.shape}; {len(names)} labels need {(len(names),) * 2}.")
        parts, drawn = _listed(Sums.from_counts(counts)), ROWS
        if fpc and population is None:
            raise InputTypeError(
                "`fpc` is True, which needs `population`: the number of units that each predicted class has.",
                "for instance {'forest': 3200000, 'water': 150000}.",
                "fpc",
            )
        if population is not None:
            parts, drawn = _in_predicted_strata(names, parts, counts.sum(axis=0).tolist(), population, bool(fpc))
        return cls(names, parts, ignored, positive, drawn)

    @classmethod
    def from_cells(
        cls,
        labels: Sequence[Label],
        n: ArrayLike,
        w: ArrayLike,
        w2: ArrayLike,
        w_min: ArrayLike,
        w_max: ArrayLike,
        *,
        ignored: int = 0,
        positive: Label | None = None,
    ) -> Table:
        """Table from K x K arrays of per-cell sums that something else computed."""
        names, counts = _labels.given(labels), _counts(n)
        given = {"w": w, "w2": w2, "w_min": w_min, "w_max": w_max}
        floats = {name: _floats(x, name) for name, x in given.items()}
        for name, array in (("n", counts), *floats.items()):
            if array.shape != (len(names), len(names)):
                raise InputError(f"`{name}` has shape {array.shape}; {len(names)} labels need {(len(names),) * 2}.")
        sums = Sums.from_floats(counts, **floats, name=consistency.by_labels(names))
        return cls(names, _listed(sums), ignored, positive)

    # ---- reading ------------------------------------------------------------------------------------

    @cached_property
    def _sums(self) -> Sums:
        """The sums of all cells, as K x K matrices."""
        K, m = len(self.labels), len(self.cells)
        check_matrix(
            K, f"read the {m:,} cells that occur from table.cells; scores, intervals and certificates need no matrix."
        )
        sums = self.cells.sums.placed((K, K), tuple(self.cells.codes))
        for array in (sums.n, sums.w_min, sums.w_max):
            frozen(array)
        return sums

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the K x K sums of weights, for np.asarray(table)."""
        return np.array(self.w, dtype=dtype) if copy or dtype is not None else self.w

    @cached_property
    def true_sums(self) -> FloatArray:
        """Weight per true class: row sums."""
        return frozen(self.cells.sums.w_exact.by_code(self.cells.codes[0], len(self.labels)).floats())

    @cached_property
    def pred_sums(self) -> FloatArray:
        """Weight per predicted class: column sums."""
        return frozen(self.cells.sums.w_exact.by_code(self.cells.codes[1], len(self.labels)).floats())

    @cached_property
    def true_counts(self) -> IntArray:
        """Number of observations per true class."""
        return frozen(added_by_code(self.cells.codes[0], self.cells.sums.n, len(self.labels)))

    @cached_property
    def pred_counts(self) -> IntArray:
        """Number of observations per predicted class."""
        return frozen(added_by_code(self.cells.codes[1], self.cells.sums.n, len(self.labels)))

    @cached_property
    def class_n_eff(self) -> tuple[float, ...]:
        """Effective sample size of each true class, as `n_eff` of all rows; 0 for one without weight."""
        cells, K = self.cells, len(self.labels)
        w, w2 = (x.by_code(cells.codes[0], K) for x in (cells.sums.w_exact, cells.sums.w2_exact))
        return tuple(effective_sizes(w, w2))

    @cached_property
    def margins(self) -> Margins:
        """Exact margins in a common unit; see `Margins`."""
        (true, pred), K = self.cells.codes, len(self.labels)
        if len(self.cells) <= FEW_CELLS:
            r, q, d = class_totals(self._weights, true.tolist(), pred.tolist(), K)
        else:
            w = self.cells.sums.w_exact
            right = np.flatnonzero(true == pred)
            cells = np.concatenate([np.arange(len(true)), np.arange(len(true)), right])
            sums = w.take(cells).by_code(np.concatenate([true, pred + K, true[right] + 2 * K]), 3 * K)
            all_sums = sums.integers(w.exponent)
            r, q, d = all_sums[:K], all_sums[K : 2 * K], all_sums[2 * K :]
        return Margins.of(r, q, d, len(self.classes))

    def against_rest(self, label: Label) -> Table:
        r"""Return the table of two classes: this one, and all others as one.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.Table.from_counts([[5, 1, 0], [2, 7, 1], [0, 3, 4]], ["ash", "elm", "oak"]).against_rest("elm")
        Table of 2 classes: 23 rows, total weight 23
        true \ predicted   elm  all other classes
        elm                  7                  3
        all other classes    4                  9
        """
        if MISSING in self.classes:
            raise incomplete()
        if label not in self.labels:
            raise InputError(f"there is no class {label!r}; the labels are {_labels.listed(self.labels)}.")
        return self._with_rest([self.labels.index(label)])

    def _with_rest(self, classes: Sequence[int]) -> Table:
        """Return the table of some classes, by position, and all others as one, which comes last."""
        names = [self.labels[k] for k in classes]
        place = np.full(len(self.labels), len(names), dtype=np.int64)
        place[list(classes)] = np.arange(len(names))
        return self._recoded((*names, rest_beside(names)), place)

    def _folded(self, most: int) -> Table:
        """Return a table of at most so many classes: the heaviest, true and predicted, and all others as one."""
        if len(self.labels) <= most:
            return self
        return self._with_rest(heaviest((self.true_sums / 2 + self.pred_sums / 2).tolist(), most - 1))

    # ---- merging ------------------------------------------------------------------------------------

    @classmethod
    def _merged(cls, tables: Sequence[Table]) -> Table:
        merged = super()._merged(tables)
        return replace(merged, positive=merged_positive(tables, len(merged.classes), ("table has", "it")))

    # ---- showing ------------------------------------------------------------------------------------

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        return super().summary + (f", positive class {self.positive!r}" if self.positive is not None else "")

    def blocks(self) -> list[Block]:
        """Return the weight of each cell; of many classes the heaviest cells, in a list."""
        if not self.labels or len(self.labels) > SHOWN_CLASSES or self.unsampled is not None:
            return super().blocks()
        names, weights = list(map(str, self.labels)), self.w.tolist()
        styles = {(k, k + 1): "right" for k in range(len(self.classes))}  # void labels are never true
        styles |= {(i, j + 1): "nothing" for i, row in enumerate(weights) for j, w in enumerate(row) if w == 0}
        rows = [[name, *map(number, row)] for name, row in zip(names[: len(self.classes)], weights, strict=False)]
        return [Block(self.summary, ["true \\ predicted", *names], rows, styles=styles, narrow=self._listing)]


class HasTable(Protocol):
    """Something that has a table: an accumulator, a score."""

    @property
    def table(self) -> Table:
        """The table of all that it was given."""


Tabulated = Table | HasTable
"""What readers of one table take."""


def one_table(given: Tabulated) -> Table:
    """Return the table that was given, by itself or by what has one; refuse anything else with what to do instead."""
    if isinstance(given, Table):
        return given
    its = getattr(given, "table", None)
    if isinstance(its, Table):
        return its
    kind, hint = type(given).__name__, "tabulate first: wmcc.tabulate(y_true, y_pred, sample_weight)."
    if kind == "Tables":
        hint = "wmcc.score(tables) scores each group; tables[key] is the table of one, and tables.total() that of all."
        if given.names:  # type: ignore[attr-defined]
            hint = "take the table of a group, tables[key], and in it one prediction by its name: tables[key][name]."
    elif kind == "ScoreTable":
        hint = "scores.at(0.5) is the table of a threshold; wmcc.best_threshold(scores) finds a threshold."
    elif kind == "JointTable":
        hint = "take one prediction by its name: joint[name]."
    elif isinstance(given, Mapping) and any(type(own).__name__ == "ScoreTable" for own in given.values()):
        hint = "for each: {key: wmcc.best_threshold(scores) for key, scores in given.items()}."
    elif isinstance(given, Mapping):
        hint = (
            "for each: {key: wmcc.score(table) for key, table in given.items()}; for all: wmcc.merge(given.values())."
        )
    elif hasattr(given, "columns"):
        hint = "tabulate first: wmcc.tabulate(data, true=…, pred=…), with the names of the columns of labels."
    elif names_file(given):
        raise InputTypeError(f"expected a Table; got {brief(os.fspath(given))}.", of_file(given))
    elif len(getattr(given, "shape", ())) == 2 or (
        isinstance(given, (list, tuple)) and given and isinstance(given[0], (list, tuple))
    ):
        hint = "for a confusion matrix use wmcc.Table.from_counts."
    raise InputTypeError(f"expected a Table; got a {kind}.", hint)


def names_file(given: Any) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this may be the name of a file, or of a folder, where a table is expected."""
    return isinstance(given, os.PathLike) or (isinstance(given, str) and any(x in given for x in (".", "/", os.sep)))


def of_file(given: str | os.PathLike[str], several: bool = False) -> str:
    """Say how the file that was given in place of a table, or of one of several predictions, is tabulated."""
    path = os.fspath(given)
    if path.lower().endswith(".json"):
        return f"a stored table is read by wmcc.Table.from_json(pathlib.Path({path!r}).read_text())."
    map_, pred = ('{"A": map_a, "B": map_b}', '{"A": …, "B": …}') if several else ("map", "…")
    return (
        f'tabulate first: wmcc.tabulate(truth, {map_}, "area") of rasters, or wmcc.tabulate(data, true=…, pred={pred}) '
        "of a file with columns."
    )


def check_matrix(classes: int, instead: str) -> None:
    """Refuse to make a matrix of all pairs of so many classes; ``instead`` says what to do."""
    cells = classes * classes
    if cells > MOST_DENSE:
        raise TooManyClassesError(
            f"a matrix of {classes:,} x {classes:,} classes has {cells:,} cells and would take "
            f"{cells * 8 / 1e9:,.1f} GB; matrices are made for up to {int(MOST_DENSE**0.5):,} classes.",
            instead,
        )


def no_positive(positive: Label, classes: tuple[Label, ...]) -> InputError:
    """Say that a label cannot be the positive class."""
    return InputError(
        f"`positive` is {positive!r}; expected one of the labels of a two-class table; "
        f"the labels are {_labels.listed(classes)}."
    )


def merged_positive(tables: Sequence[Any], classes: int, words: tuple[str, str]) -> Label | None:
    """The positive class of tables together, which have so many classes, if one of them has one."""
    known = list(dict.fromkeys(table.positive for table in tables if table.positive is not None))
    if len(known) > 1:
        raise cannot_merge(f"one table has positive class {known[0]!r}, the other {known[1]!r}", "the same `positive`")
    if known and classes > 2:
        has, it = words
        raise InputError(
            f"the merged {has} {classes} classes; with `positive` {known[0]!r} {it} can have two.",
            "tabulate without `positive`.",
        )
    return known[0] if known else None


def _listed(sums: Sums) -> Stack:
    """Cells that occur, of sums given as a matrix."""
    codes = np.stack(np.nonzero(sums.n)).astype(np.int64)
    return Stack(codes, sums.take(tuple(codes)))


def _in_predicted_strata(
    names: tuple[Label, ...], parts: Stack, rows: Sequence[int], population: Mapping[Label, float], fpc: bool
) -> tuple[Stack, SampleDesign]:
    """Cells of rows that were drawn in strata, the predicted classes, and their design."""
    if not isinstance(population, Mapping):
        raise InputTypeError(
            f"`population` is a {type(population).__name__}; expected the size of each predicted class.",
            "for instance {'forest': 3200000, 'water': 150000}.",
            "population",
        )
    unknown = next((x for x in population if x not in names), None)
    lacking = next((x for x, count in zip(names, rows, strict=True) if count and x not in population), None)
    if unknown is not None or lacking is not None:
        why = f"has no size for {lacking!r}" if unknown is None else f"names {unknown!r}, which is no class"
        raise InputError(f"`population` {why}; the classes are {_labels.listed(names)}.", argument="population")
    kept = sorted(x for x in names if x in population)
    for label in kept:
        size: Any = population[label]
        if not isinstance(size, (int, float, np.integer, np.floating)) or size is True or not 0 < size < inf:
            raise InputError(
                f"`population` of {label!r} is {size!r}; expected a finite number above 0.", argument="population"
            )
    sizes = tuple(float(population[x]) for x in kept)
    place = np.array([kept.index(x) if x in population else -1 for x in names])
    codes = np.concatenate([parts.codes, place[parts.codes[1:2]]])
    drawn_rows = tuple(rows[names.index(x)] for x in kept)
    design = StratifiedDesign(tuple(kept), tuple(range(len(kept))), False, sizes, True, sizes if fpc else None)
    drawn = SampleDesign("strata", tuple(kept), drawn_rows, design)
    check_sizes(drawn)
    return Stack.gathered(codes, parts.sums), drawn


def _counts(n: ArrayLike) -> IntArray:
    """Numbers of observations, as a new array."""
    array = _array(n, "n")
    if array.size and (array.dtype.kind not in "iu" or array.min() < 0 or array.sum(dtype=np.float64) >= MOST_ROWS):
        raise InputError(
            f"`n` must hold counts: integers of at least 0, fewer than 2**62 together; its dtype is {array.dtype}.",
            "sums of weights need the number of rows as well: see Table.from_cells.",
        )
    return array.astype(np.int64)


def _floats(x: ArrayLike, name: str) -> FloatArray:
    array = _array(x, name)
    if array.dtype.kind not in "iuf":
        raise InputError(f"`{name}` must hold real numbers; its dtype is {array.dtype}.")
    return array.astype(np.float64) + 0.0


def _array(x: ArrayLike, name: str) -> Array:
    if np.ma.is_masked(x):
        raise InputError(f"`{name}` has masked entries.")
    try:
        return np.array(x)
    except ValueError as problem:
        raise InputError(f"`{name}` is not a matrix: {problem}") from None

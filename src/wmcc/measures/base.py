"""What a measure is, and what it does where its denominator is zero."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from inspect import signature
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np

from ..core import kernel as tally
from ..core.arraytypes import FloatArray, IntArray, Labels, Weights
from ..core.keys import Key
from ..core.labels import MISSING, listed
from ..core.table import Margins, Table, Tabulated, check_matrix, incomplete, occurring, one_table
from ..core.tables import Tables
from ..errors import InputError, InputTypeError, UndefinedMeasureError, UndefinedMeasureWarning, unknown_keyword
from ..present.result import Result
from ..present.text import brief
from .stacks import SMALL, PerCell, by_class, others, product, sums_of, total, totals

ZeroDivision = float | Literal["warn", "raise"]

MeasureName = Literal[
    "mcc", "ecc", "mpc1", "mpc2", "accuracy", "balanced_accuracy", "kappa", "mean_iou", "mean_f1", "mean_recall"
]  # fmt: skip
"""Names of measures that are one number per table, for type checkers and editors: those of `wmcc.measures.MEASURES`."""

ClassMeasureName = Literal["precision", "recall", "f1", "iou", "mcc"]
"""Names of those that are a number per class: those of `wmcc.measures.CLASS_MEASURES`."""

ScoreMeasureName = Literal["roc_auc", "average_precision"]
"""Names of measures of scores over all thresholds."""

OnZero = Callable[[str], float]
"""Called by a measure with the reason why it (or one of its terms) is undefined; returns the value to use."""


class Shares(NamedTuple):
    """Margins divided by the total, as float64: what the gradients are written in.

    Each is a vector over the classes, or a stack of them for a stack of tables.
    """

    r: FloatArray
    q: FloatArray
    d: FloatArray
    not_r: FloatArray
    """1 − r, from the exact difference."""
    not_q: FloatArray
    covariance: FloatArray
    """d − r q, from the exact difference."""
    A: FloatArray
    """r (1 − r)."""
    B: FloatArray
    """q (1 − q)."""
    classes: int
    """Number of classes that a mean over classes runs over."""

    @classmethod
    def of(cls, table: Table) -> Shares:
        """Shares of a table's margins."""
        if cls not in table.computed:
            table.computed[cls] = cls._of_margins(table.margins)
        return table.computed[cls]  # type: ignore[no-any-return]

    @classmethod
    def _of_margins(cls, margins: Margins) -> Shares:
        s, r, q, d, *_ = margins
        square, sides = s * s, r + q
        parts = [x / s for x in sides + d] + [(s - x) / s for x in sides]
        parts += [(s * c - a * b) / square for a, b, c in zip(r, q, d, strict=True)]
        r_, q_, d_, not_r, not_q, covariance = np.array(parts).reshape(6, len(r))
        return cls.made(r_, q_, d_, not_r, not_q, covariance, margins.classes)

    @classmethod
    def made(
        cls, r: FloatArray, q: FloatArray, d: FloatArray, not_r: FloatArray, not_q: FloatArray, covariance: FloatArray,
        classes: int | None = None,
    ) -> Shares:  # fmt: skip
        """Shares of which A and B are not known; without their number, all classes count in a mean over classes."""
        counted = r.shape[-1] if classes is None else classes
        return cls(r, q, d, not_r, not_q, covariance, r * not_r, q * not_q, counted)

    @classmethod
    def of_margins(cls, s: float, r: FloatArray, q: FloatArray, d: FloatArray) -> Shares:
        """Shares of a stack of tables of one total weight, given by their margins, which may be broadcast.

        Margins of whole numbers lose nothing before the shares are rounded, if s² is at most 2⁵³.
        """
        return cls.made(r / s, q / s, d / s, (s - r) / s, (s - q) / s, (s * d - r * q) / (s * s))

    @classmethod
    def of_cells(cls, cells: FloatArray) -> Shares:
        """Shares of a stack of tables, or of one, given by all K x K cells; rounded at every step."""
        K = cells.shape[-1]
        return cls.of_some_cells(cells.reshape(*cells.shape[:-2], K * K), np.indices((K, K)).reshape(2, -1), K, K)

    @classmethod
    def of_some_cells(cls, cells: FloatArray, codes: IntArray, classes: int, counted: int) -> Shares:
        """Shares of a stack of tables, or of one, given by some of their cells as `by_class` takes them.

        ``counted`` is the number of classes that a mean over classes runs over.
        """
        if classes <= SMALL:
            sums = sums_of(classes)
            chosen = sums if cells.shape[-1] == len(sums) else sums[codes[0] * classes + codes[1]]
            return cls._of_sums(product(cells, chosen), classes, counted)
        return cls.of_classes(by_class(cells, codes, classes), counted)

    @classmethod
    def _of_sums(cls, sums: FloatArray, K: int, counted: int) -> Shares:
        """Shares from the sums that `sums_of` makes."""
        sums /= sums[..., -1:]
        r, q, d = sums[..., :K], sums[..., K : 2 * K], sums[..., 2 * K : 3 * K]
        not_r, not_q = sums[..., 4 * K : 5 * K], sums[..., 5 * K : 6 * K]
        products = sums[..., : 4 * K] * sums[..., 4 * K : 8 * K]
        A, B, right, wrong = (products[..., k * K : (k + 1) * K] for k in range(4))
        return cls(r, q, d, not_r, not_q, right - wrong, A, B, counted)

    @classmethod
    def of_classes(cls, sums: FloatArray, counted: int | None = None) -> Shares:
        """Shares of a stack of tables, or of one, given by the sums that `by_class` makes; rounded at every step.

        A class may hold nearly all of the weight, so 1 − r is the sum of the others.
        """
        d, fn, fp = sums / totals(sums[0] + sums[1])
        return cls.of_each(d, fn, fp, others(d + fn), others(d + fp), counted=counted)

    @classmethod
    def of_each(
        cls, d: FloatArray, fn: FloatArray, fp: FloatArray, not_r: FloatArray, not_q: FloatArray,
        *, counted: int | None = None,
    ) -> Shares:  # fmt: skip
        """Shares of classes that are given by their hits, misses and alarms, and by 1 − r and 1 − q.

        A class may hold nearly all of the weight, so d − r q is d·TN − FN·FP.
        """
        tn = np.where(fp < fn, not_r - fp, not_q - fn)  # less is lost where less is taken away
        return cls.made(d + fn, d + fp, d, not_r, not_q, d * tn - fn * fp, counted)


class TotalWeight(NamedTuple):
    """The total weight, as a float times a power of two, since it may be beyond the largest float64."""

    size: float
    power: int

    @classmethod
    def of(cls, table: Table) -> TotalWeight:
        """Return that of a table."""
        s, bits = table.margins.s, table.margins.s.bit_length()
        return cls(s / (1 << bits), bits + table.cells.sums.w_exact.exponent)

    def per_unit(self, slopes: FloatArray) -> FloatArray:
        """Divide slopes by it, in two steps."""
        return np.asarray(np.ldexp(slopes / self.size, -self.power))


_CALLS = """Call it with a table, or with labels as a metric of scikit-learn::

    wmcc.{name}(table)
    wmcc.{name}(y_true, y_pred, sample_weight=weights)

``zero_division`` is the value of an undefined measure or term: a number (0.0 unless given), "warn" or "raise"."""


@dataclass(frozen=True)
class Measure:
    """A number computed from a table; call it with a `wmcc.Table`, or with labels and weights.

    Parameters
    ----------
    name, title
        Name in code, and for people.
    formula
        In the letters of the paper: C the table, s its total, r row sums, q column sums, T = Σ C_kk.
    range
        Smallest and largest possible value.
    value
        From exact margins and the rule for zero denominators to a float64.
    terms, of_totals
        From shares to numbers per class; and from the number of classes that count and the totals of those numbers to
        the value: see `near`. A change to a few classes changes a few of the terms.
    slope
        ∂M/∂C per cell times the total weight, from shares and the measure's value, or stacks of them.
    about
        What it is, in a few sentences: its documentation.
    symmetric
        Whether swapping truth and prediction leaves it unchanged.
    two_classes
        Whether it is defined for two classes only.
    has_terms
        Of a sum of terms that may be undefined one by one: whether one of them is defined. None for other measures,
        which are undefined as a whole.
    over_classes
        Whether it is a mean over classes, in which each counts alike, however little weight it has.

    Examples
    --------
    >>> import wmcc
    >>> wmcc.mcc([1, 1, 0, 0], [1, 0, 0, 0])
    0.5773502691896257
    >>> wmcc.mcc([1, 1, 0, 0], [1, 0, 0, 0], sample_weight=[100, 1, 1, 1])
    0.8124444637023875
    >>> wmcc.ecc.formula
    '(s·T − Σ r_k q_k) / √((s² − Σ r_k²)(s² − Σ q_k²))'
    """

    name: str
    title: str
    formula: str
    range: tuple[float, float]
    value: Callable[[Margins, OnZero], float]
    terms: Callable[[Shares], tuple[FloatArray, ...]]
    of_totals: Callable[..., Any]
    slope: Callable[[Shares, Any], PerCell]
    about: str
    symmetric: bool = True
    two_classes: bool = False
    has_terms: Callable[[Margins], bool] | None = None
    over_classes: bool = False

    def __post_init__(self) -> None:
        doc = f"{self.about}\n\n{self.title} = {self.formula}\n\n{_CALLS.format(name=self.name)}"
        object.__setattr__(self, "__doc__", doc)  # so that help(wmcc.mcc) says what MCC is

    @overload
    def __call__(self, tables: Tables[Table], /, *, zero_division: ZeroDivision = ...) -> dict[Key, float]: ...
    @overload
    def __call__(self, table: Tabulated, /, *, zero_division: ZeroDivision = ...) -> float: ...
    @overload
    def __call__(
        self, y_true: Labels, y_pred: Labels, *, sample_weight: Weights = ..., zero_division: ZeroDivision = ...
    ) -> float: ...
    def __call__(
        self,
        y_true: Any,
        y_pred: Any = None,
        *more: Any,
        sample_weight: Any = None,
        zero_division: ZeroDivision = 0.0,
        **unknown: Any,
    ) -> float | dict[Key, float]:
        """Score a table, each of several, or labels and weights.

        Parameters
        ----------
        y_true
            A `wmcc.Table`, and nothing after it; or true labels. Of a `wmcc.Tables` there is a score for each group, by
            its key.
        y_pred, sample_weight
            Predicted labels, and a weight per observation.
        zero_division
            What an undefined value or term is: a number (0.0 by the paper's convention; NaN is a number),
            ``"warn"`` for 0.0 with an `UndefinedMeasureWarning`, ``"raise"`` for an `UndefinedMeasureError`.
        """
        function = f"wmcc.{self.name}"
        if more:
            raise _too_many(function, ["y_true", "y_pred"], (y_true, y_pred, *more), ["sample_weight", "zero_division"])
        if unknown:
            raise _no_keyword(function, next(iter(unknown)), ["sample_weight", "zero_division"])
        if type(y_true) is Tables and not y_true.names and y_pred is None and sample_weight is None:
            return self._of_groups(y_true, zero_division)
        margins = short_margins(y_true, y_pred, sample_weight)
        if margins is None or (self.two_classes and len(margins.r) > 2):
            table = table_of(y_true, y_pred, sample_weight)
            self._check(table)
            margins = table.margins
        return self.value(margins, on_zero(zero_division, self.title)) + 0.0  # no negative zero

    def _of_groups(self, tables: Tables[Table], zero_division: ZeroDivision) -> dict[Key, float]:
        found = {}
        for key, table in tables.items():
            try:
                found[key] = self(table, zero_division=zero_division)
            except InputError as problem:
                hint = "tables.select(keys) has some of the groups."
                raise problem.about(tables.title(key), hint) from None
        return found

    def value_or_reason(self, table: Table) -> tuple[float, str | None]:
        """Return the value at a table that can be scored, 0 where it is undefined, and why it is so or None."""
        if self not in table.computed:
            self._check(table)
            table.computed[self] = self.of_margins(table.margins)
        return table.computed[self]  # type: ignore[no-any-return]

    def of_margins(self, margins: Margins) -> tuple[float, str | None]:
        """Return the same from the margins of a table that has weight."""
        reasons = list[str]()

        def note(reason: str) -> float:
            reasons.append(reason)
            return 0.0

        value = self.value(margins, note) + 0.0
        if self.has_terms is not None:  # a term that is undefined leaves the others
            reasons = [] if self.has_terms(margins) else ["no class has a correlation of its own"]
        return value, f"{self.title} is undefined at these weights: {reasons[0]}" if reasons else None

    def near(self, x: Shares) -> FloatArray:
        """Return the value, or a stack of values: for many tables at once, where the last digits do not matter.

        What is undefined is 0.
        """
        return np.asarray(self.of_totals(x.classes, *map(total, self.terms(x))))

    def gradient(self, table: Tabulated) -> FloatArray:
        """Return ∂M/∂C_ab for every cell: how the value moves per unit of weight added there.

        The measure does not change when all weights are scaled, so Σ C_ab g_ab = 0. Terms that are undefined
        (an absent class) count as constant. An undefined measure has no gradient: `UndefinedMeasureError`.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.mcc.gradient(wmcc.tabulate([1, 1, 0, 0], [1, 0, 0, 0])).round(3)
        array([[ 0.048, -0.722],
               [-0.241,  0.144]])
        """
        table = one_table(table)
        self._check(table)
        check_matrix(len(table.labels), "wmcc.sensitivity(table).cells has the gradient of the cells that occur.")
        value = self.value(table.margins, on_zero(0.0 if self.has_terms else "raise", self.title))
        return TotalWeight.of(table).per_unit(self.slope(Shares.of(table), value).dense())

    def fits(self, table: Table) -> bool:
        """Whether it is defined for so many classes; void answers are one more column."""
        if not self.two_classes or len(table.labels) <= 2:
            return True
        return len(table.classes) <= 2 and not any(table.margins.q[table.margins.known :])

    def _check(self, table: Table) -> None:
        if not self.fits(table):
            if MISSING in table.classes:
                raise incomplete()
            why = f"this table has {len(table.labels)}."
            if len(table.classes) < 3:  # the others are void
                why = f"void labels were predicted ({listed(table.void)}), which makes {len(table.labels)} columns."
            raise InputError(
                f"{self.title} is for two classes; {why}",
                "use `ecc` (the multiclass MCC of scikit-learn), `mpc1` or `mpc2`.",
            )
        check_scorable(table)

    @property
    def __name__(self) -> str:  # what scikit-learn and others call a function by
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return registered, ("MEASURES", self.name)

    def __repr__(self) -> str:
        return f"<measure {self.name}: {self.formula}>"


P = ParamSpec("P")
R = TypeVar("R")


def for_tabulated(instead: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function of the library so that it says of labels and of keywords of `tabulate` where these belong.

    ``instead`` is the function that takes a table, if it is not the function itself.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = list(signature(function).parameters)
        by_name = [x.name for x in signature(function).parameters.values() if x.kind is x.KEYWORD_ONLY]
        takes = known[: len(known) - len(by_name)]

        @wraps(function)
        def call(*args: P.args, **named: P.kwargs) -> R:
            for name in named:
                if name not in known:
                    raise _no_keyword(f"wmcc.{function.__name__}", name, known, instead)
            if len(args) > len(takes):
                raise _too_many(f"wmcc.{function.__name__}", takes, args, by_name)
            return function(*args, **named)

        return call

    return decorate


def _too_many(function: str, takes: Sequence[str], given: tuple[Any, ...], by_name: Sequence[str]) -> InputTypeError:
    """Return the error of more arguments by position than a function takes."""
    preds = '{"A": a, "B": b}' if takes[0] in ("predictions", "joint") else "y_pred"
    call = f"{function}({'path, ' * (takes[0] == 'path')}wmcc.tabulate(y_true, {preds}, sample_weight))"
    hint = f"tabulate labels and weights first: {call}."
    if takes[0] == "predictions" and all(map(is_read, given[:2])):
        as_mapping = "tables are given as a mapping from names, and `sample` says how they belong together: "
        return InputTypeError(
            f"{function} takes predictions and measure by position; {len(given)} arguments were given.",
            f'{as_mapping}{function}({{"A": a, "B": b}}, "ecc", sample="independent").',
        )
    if "sample_weight" in by_name:
        hint = f"give the weights by keyword: {function}(y_true, y_pred, sample_weight=weights)."
    elif is_read(given[takes[0] == "path"]) or isinstance(given[0], Mapping) or takes[0] == "y_true":
        hint = f"give the others by keyword: {', '.join(f'`{name}`' for name in by_name)}." if by_name else ""
    named = " and ".join(filter(None, [", ".join(takes[:-1]), takes[-1]]))
    return InputTypeError(f"{function} takes {named} by position; {len(given)} arguments were given.", hint or None)


def is_read(given: Any) -> bool:
    """Whether something is a table, or has one, so that no labels and weights go with it."""
    return isinstance(given, Result) or isinstance(getattr(given, "table", None), Result)


def _stands_alone(table: Any, y_pred: Any) -> InputTypeError:
    """Return the error of a table that something else was given with."""
    name, registry = getattr(y_pred, "name", y_pred), import_module(__package__).MEASURES
    came = "`sample_weight`" if y_pred is None else brief(y_pred)
    hint = "tabulate has read its labels and weights already; give the table alone."
    if isinstance(name, str) and name in registry:
        hint = f"wmcc.score(table).{name} and wmcc.{name}(table) are this measure; wmcc.score(table) has all."
    return InputTypeError(f"a {type(table).__name__} is given alone; {came} was given with it.", hint)


def _no_keyword(function: str, name: str, known: Sequence[str], instead: str | None = None) -> InputTypeError:
    from ..sources.request import place_of

    place = place_of(name)
    if place is None:
        return unknown_keyword(function, name, known)
    path = "path, " * (known[0] == "path")
    hint = f"give it to tabulate: {instead or function}({path}wmcc.tabulate({place}))."
    return InputTypeError(f"{function} has no keyword {name!r}.", hint)


def _call(self: Any, y_true: Any, y_pred: Any = None, *, sample_weight: Any = None, zero_division: Any = 0.0) -> Any:
    """Stand for how a measure is called: what else it is given is refused with a hint."""


Measure.__call__.__signature__ = signature(_call)  # type: ignore[attr-defined]


def registered(registry: str, name: str) -> Any:
    """Return a measure by its name: what pickles of measures hold."""
    return getattr(import_module(__package__), registry)[name]


def short_margins(y_true: Any, y_pred: Any, sample_weight: Any) -> Margins | None:
    """Margins of a short table that is not made: a few thousand rows take a tenth of the time.

    The kernel answers for vectors of integers or booleans and float weights, as they usually are. For anything else,
    for mistakes, for a total of zero and where no class is both true and predicted it is None, and `tabulate` must be
    asked.
    """
    if type(y_true) is not np.ndarray or type(y_pred) is not np.ndarray:  # subclasses may mean something else
        return None
    if sample_weight is not None and type(sample_weight) is not np.ndarray:
        return None
    margins = tally.active.margins(y_true, y_pred, sample_weight)
    if margins is None or not any(map(min, margins[1], margins[2])):  # of which there may be something to say
        return None
    s, r, q, d = margins
    return Margins(s, r, q, d, occurring(r, q), len(r))


def table_of(y_true: Any, y_pred: Any, sample_weight: Any) -> Table:
    """Return the table that was given, or the table of labels and weights."""
    if y_pred is None and sample_weight is None:
        return y_true if isinstance(y_true, Table) else one_table(y_true)
    if is_read(y_true):
        raise _stands_alone(y_true, y_pred)
    from ..sources import tabulate  # labels are read above the waist; who gives tables does not load that

    return one_table(tabulate(y_true, y_pred, sample_weight))


def scorable_table(y_true: Any, y_pred: Any, sample_weight: Any) -> Table:
    """Return the same, if it has weight."""
    table = table_of(y_true, y_pred, sample_weight)
    check_scorable(table)
    return table


def check_scorable(table: Table) -> None:
    """Refuse a table without weight, and one in which missing labels were kept."""
    if MISSING in table.classes:
        raise incomplete()
    if table.margins.s == 0:
        raise nothing_to_score(table.rows, table.ignored)


def nothing_to_score(rows: int, ignored: int) -> InputError:
    """Return the error of so many rows without weight."""
    left = f" ({ignored:,} were ignored)" if ignored else ""
    if rows == 0:
        return InputError(f"the table has no observations{left}; there is nothing to score.")
    return InputError(f"the total weight of {rows:,} rows is zero{left}; there is nothing to score.")


def on_zero(rule: Any, title: str) -> OnZero:
    """Turn a ``zero_division`` argument into the function that measures call."""
    rule = rule.item() if isinstance(rule, np.generic) else rule
    if isinstance(rule, str) and rule == "raise":

        def value_for(reason: str) -> float:
            raise UndefinedMeasureError(f"{title} is undefined: {reason}.", "`zero_division` 0.0 scores it as 0.")

    elif isinstance(rule, str) and rule == "warn":

        def value_for(reason: str) -> float:
            message = f"{title} is undefined and set to 0: {reason}."
            warnings.warn(message, UndefinedMeasureWarning, stacklevel=4)
            return 0.0

    elif isinstance(rule, (int, float)) and not isinstance(rule, bool) and (rule != rule or abs(rule) <= 1e300):

        def value_for(reason: str) -> float:
            return float(rule)

    else:
        raise InputError.of("zero_division", rule, "a number, 'warn' or 'raise'")
    return value_for

"""What a measure is, and what it does where its denominator is zero."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np

from ..core import kernel as tally
from ..core.arraytypes import FloatArray, IntArray
from ..core.table import Margins, Table, check_matrix
from ..core.tables import Tables
from ..errors import InputError, InputTypeError, UndefinedMeasureError, UndefinedMeasureWarning
from ..sources import tabulate
from .stacks import SMALL, PerCell, by_class, by_class_of_all, others, per_table, product, sums_of, total

ZeroDivision = float | Literal["warn", "raise"]
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

    @classmethod
    def of(cls, table: Table) -> Shares:
        """Shares of a table's margins."""
        s, r, q, d = table.margins
        square, margins = s * s, r + q
        parts = [x / s for x in margins + d] + [(s - x) / s for x in margins]
        parts += [(s * c - a * b) / square for a, b, c in zip(r, q, d, strict=True)]
        return cls.made(*np.array(parts).reshape(6, len(r)))

    @classmethod
    def made(
        cls, r: FloatArray, q: FloatArray, d: FloatArray, not_r: FloatArray, not_q: FloatArray, covariance: FloatArray
    ) -> Shares:
        """Shares of which A and B are not known."""
        return cls(r, q, d, not_r, not_q, covariance, r * not_r, q * not_q)

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
        if K <= SMALL:
            return cls._of_sums(product(cells.reshape(*cells.shape[:-2], K * K), sums_of(K)), K)
        return cls.of_classes(by_class_of_all(cells))

    @classmethod
    def of_some_cells(cls, cells: FloatArray, codes: IntArray, classes: int) -> Shares:
        """Shares of a stack of tables, or of one, given by some of their cells as `by_class` takes them."""
        if classes <= SMALL:
            sums = sums_of(classes)
            chosen = sums if cells.shape[-1] == len(sums) else sums[codes[0] * classes + codes[1]]
            return cls._of_sums(product(cells, chosen), classes)
        return cls.of_classes(by_class(cells, codes, classes))

    @classmethod
    def _of_sums(cls, sums: FloatArray, K: int) -> Shares:
        """Shares from the sums that `sums_of` makes."""
        sums /= sums[..., -1:]
        r, q, d = sums[..., :K], sums[..., K : 2 * K], sums[..., 2 * K : 3 * K]
        not_r, not_q = sums[..., 4 * K : 5 * K], sums[..., 5 * K : 6 * K]
        products = sums[..., : 4 * K] * sums[..., 4 * K : 8 * K]
        A, B, right, wrong = (products[..., k * K : (k + 1) * K] for k in range(4))
        return cls(r, q, d, not_r, not_q, right - wrong, A, B)

    @classmethod
    def of_classes(cls, sums: FloatArray) -> Shares:
        """Shares of a stack of tables, or of one, given by the sums that `by_class` makes; rounded at every step.

        A class may hold nearly all of the weight, so 1 − r is the sum of the others, and d − r q is d·TN − FN·FP.
        """
        d, fn, fp = sums / per_table(total(sums[0] + sums[1]))
        r, q = d + fn, d + fp
        not_r, not_q = others(r), others(q)
        tn = np.where(fp < fn, not_r - fp, not_q - fn)  # less is lost where less is taken away
        return cls.made(r, q, d, not_r, not_q, d * tn - fn * fp)


@dataclass(frozen=True)
class Measure:
    """A number computed from a `Table`; call it with a table, or with what `tabulate` takes.

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
    near
        From shares to the value, or to a stack of values: for many tables at once, where the last digits do not
        matter. What is undefined is 0.
    slope
        ∂M/∂C per cell times the total weight, from shares and the measure's value, or stacks of them.
    symmetric
        Whether swapping truth and prediction leaves it unchanged.
    two_classes
        Whether it is defined for two classes only.
    termwise
        Whether a zero denominator concerns a term of it rather than the whole.
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
    near: Callable[[Shares], FloatArray]
    slope: Callable[[Shares, Any], PerCell]
    symmetric: bool = True
    two_classes: bool = False
    termwise: bool = False
    over_classes: bool = False

    def __call__(
        self,
        y_true: Any,
        y_pred: Any = None,
        sample_weight: Any = None,
        weight: Any = None,
        *,
        zero_division: ZeroDivision = 0.0,
        **options: Any,
    ) -> float:
        """Score a table, labels and weights, or columns of a frame or file.

        Parameters
        ----------
        y_true
            A `Table`, true labels, or a frame or file.
        y_pred, sample_weight
            Predicted labels and weights, with true labels; or columns, with a frame or file.
        weight
            The column of weights, the fourth argument with a frame or file.
        zero_division
            What an undefined value or term is: a number (0.0 by the paper's convention; NaN is a number),
            ``"warn"`` for 0.0 with an `UndefinedMeasureWarning`, ``"raise"`` for an `UndefinedMeasureError`.
        **options
            Passed on to `wmcc.tabulate`: ``labels``, ``ignore``, ``positive``, ``threads``, ``engine``, and so on.
        """
        margins = None if weight is not None or options else short_margins(y_true, y_pred, sample_weight)
        if margins is None or (self.two_classes and len(margins.r) > 2):
            table = as_table(y_true, y_pred, sample_weight, weight, **options)
            self._check(table)
            margins = table.margins
        return self.value(margins, on_zero(zero_division, self.title)) + 0.0  # no negative zero

    def gradient(
        self, y_true: Any, y_pred: Any = None, sample_weight: Any = None, weight: Any = None, **options: Any
    ) -> FloatArray:
        """Return ∂M/∂C_ab for every cell: how the value moves per unit of weight added there.

        The measure does not change when all weights are scaled, so Σ C_ab g_ab = 0. Terms that are undefined
        (an absent class) count as constant. An undefined measure has no gradient: `UndefinedMeasureError`.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.mcc.gradient([1, 1, 0, 0], [1, 0, 0, 0]).round(3)
        array([[ 0.048, -0.722],
               [-0.241,  0.144]])
        """
        table = as_table(y_true, y_pred, sample_weight, weight, **options)
        self._check(table)
        check_matrix(len(table.labels), "wmcc.sensitivity(table).cells has the gradient of the cells that occur.")
        value = self.value(table.margins, on_zero(0.0 if self.termwise else "raise", self.title))
        slope = self.slope(Shares.of(table), value).dense()
        # Divided by the total in two steps, since the total itself may be beyond the largest float64.
        s, bits = table.margins.s, table.margins.s.bit_length()
        return np.asarray(np.ldexp(slope / (s / (1 << bits)), -bits - table.stack.sums.w_exact.exponent))

    def _check(self, table: Table) -> None:
        if self.two_classes and len(table.labels) > 2:
            raise InputError(
                f"{self.title} is for two classes; this table has {len(table.labels)}.",
                "use wmcc.ecc (the multiclass MCC of scikit-learn), wmcc.mpc1 or wmcc.mpc2.",
            )
        check_scorable(table)

    @property
    def __name__(self) -> str:  # what scikit-learn and others call a function by
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return registered, ("MEASURES", self.name)

    def __repr__(self) -> str:
        return f"<measure {self.name}: {self.formula}>"


def registered(registry: str, name: str) -> Any:
    """Return a measure by its name: what pickles of measures hold."""
    return getattr(import_module(__package__), registry)[name]


def short_margins(y_true: Any, y_pred: Any, sample_weight: Any) -> Margins | None:
    """Margins of a short table that is not made: a few thousand rows take a tenth of the time.

    The kernel answers for vectors of integers or booleans and float weights, as they usually are. For anything else,
    for mistakes and for a total of zero it is None, and `tabulate` must be asked.
    """
    if type(y_true) is not np.ndarray or type(y_pred) is not np.ndarray:  # subclasses may mean something else
        return None
    if sample_weight is not None and type(sample_weight) is not np.ndarray:
        return None
    found = tally.active.margins(y_true, y_pred, sample_weight)
    return None if found is None else Margins(*found)


def as_table(y_true: Any, y_pred: Any = None, sample_weight: Any = None, weight: Any = None, **options: Any) -> Table:
    """Return the table itself, or the table of labels and weights, or of columns of a frame or file."""
    if isinstance(y_true, Table):
        given = {"y_pred": y_pred, "sample_weight": sample_weight, "weight": weight}
        refuse_after_table({name: x for name, x in given.items() if x is not None} | options)
        return y_true
    if isinstance(y_true, Tables) or options.get("by") is not None:
        came = "tables of groups were given" if isinstance(y_true, Tables) else "by= makes one table per group"
        raise InputTypeError(
            f"{came}, and here one is read.",
            "take each, {key: wmcc.score(table) for key, table in tables.items()}; or all together, tables.total().",
        )
    if y_pred is None and options.get("true") is None:
        raise InputTypeError(
            f"expected a Table, or y_true and y_pred; got only a {type(y_true).__name__}.",
            "for a confusion matrix use wmcc.Table.from_counts.",
        )
    table: Table = tabulate(y_true, y_pred, sample_weight, weight, **options)
    return table


def refuse_after_table(given: Iterable[str]) -> None:
    """Refuse arguments that belong to the making of a table, where one is given."""
    names = [f"{name}=" for name in given]
    if names:
        belong = "belongs" if len(names) == 1 else "belong"
        raise InputTypeError(
            f"the rows are tabulated already; {', '.join(names)} {belong} to the making of the table.",
            "tabulate with cluster=: the table knows its clusters." if "cluster=" in names else None,
        )


def check_scorable(table: Table) -> None:
    """Refuse a table without weight."""
    if table.margins.s == 0:
        ignored = f" ({table.ignored:,} were ignored)" if table.ignored else ""
        if table.rows == 0:
            raise InputError(f"the table has no observations{ignored}; there is nothing to score.")
        raise InputError(f"the total weight of {table.rows:,} rows is zero{ignored}; there is nothing to score.")


def on_zero(rule: Any, title: str) -> OnZero:
    """Turn a ``zero_division`` argument into the function that measures call."""
    rule = rule.item() if isinstance(rule, np.generic) else rule
    if isinstance(rule, str) and rule == "raise":

        def handle(reason: str) -> float:
            raise UndefinedMeasureError(f"{title} is undefined: {reason}.", "zero_division=0.0 scores it as 0.")

    elif isinstance(rule, str) and rule == "warn":

        def handle(reason: str) -> float:
            message = f"{title} is undefined and set to 0: {reason}."
            warnings.warn(message, UndefinedMeasureWarning, stacklevel=4)
            return 0.0

    elif isinstance(rule, (int, float)) and not isinstance(rule, bool) and (rule != rule or abs(rule) <= 1e300):

        def handle(reason: str) -> float:
            return float(rule)

    else:
        raise InputError(f"zero_division is {str(rule)[:40]!r}; expected a number, 'warn' or 'raise'.")
    return handle

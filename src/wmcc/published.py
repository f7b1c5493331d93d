"""The bounds that the paper prints, for comparison only: never a guarantee.

Cortez and Krishnamoorthy, *Weighted MCC*, bound how far a measure moves when every weight moves by at most ε:
Theorem 3.4 for two classes, Theorem 4.5 for more. Both fail; ``docs/understand/errata.md`` says where, why, and what
holds instead. This module evaluates them as printed, says whether their preconditions are met, and puts the true
largest change beside them. For a guarantee use `wmcc.certify`.

The paper's S is the diagonal matrix of the weights, so the tables are those of weights, not of weight matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isqrt, nan
from typing import NamedTuple, cast

from .core.table import Table, Tabulated, one_table
from .errors import InputError
from .measures import MEASURES, Measure, MeasureName
from .measures.arithmetic import GUARD
from .measures.checks import checked_eps
from .present.blocks import Block
from .present.result import Result
from .present.text import decimal, number

__all__ = ["binary", "multiclass", "PublishedBound"]

ROUNDING = 2.0**-52
"""A difference of two measures is known to this: both lie in [−1, 1] and are rounded to float64."""


@dataclass(frozen=True, repr=False)
class PublishedBound(Result):
    """A bound as printed, beside the truth; what `binary` and `multiclass` return.

    Parameters
    ----------
    statement
        The theorem, numbered as in the compiled paper.
    measure, value
        Name of the measure, and its value M(S) at the weights of the table.
    eps
        How far each weight may move.
    bound
        The right side of the statement; NaN where it divides by zero. It may be 0, negative or far above 2.
    preconditions
        Pairs of a sentence and whether it is true here.
    valid
        True when all preconditions are met and it is certain that |M(W) − M(S)| ≤ ``bound`` for all weights W ≥ 0
        with |W_i − S_i| ≤ ``eps``; False when a precondition is not met or some W breaks the bound; None when
        the certificate leaves it open. True says that the statement came out right here, not that it is right.
    change
        The largest |M(W) − M(S)| that `wmcc.certify` found to be attained; NaN where M(S) is undefined. Where M(W) is,
        it counts as 0.
    """

    statement: str
    measure: str
    value: float
    eps: float
    bound: float
    preconditions: tuple[tuple[str, bool], ...]
    valid: bool | None
    change: float

    @property
    def verdict(self) -> str:
        """What `valid` means, in a sentence."""
        if not all(met for _, met in self.preconditions):
            return "The statement says nothing here: a precondition is not met."
        if self.valid:
            return "It holds here."
        if self.valid is False:
            return "It fails here: the measure moves further than the printed bound."
        return "Not known whether it holds here: the bound is between the largest change found and what is excluded."

    _kind = "published bound"
    _stored = ("statement", "measure", "value", "eps", "bound", "change", "valid", "preconditions", "verdict")

    def blocks(self) -> list[Block]:
        """Return the bound, what was found, and the preconditions."""
        rows = [
            [MEASURES[self.measure].title, decimal(self.value)],
            ["ε", number(self.eps)],
            ["Printed bound", number(self.bound)],
            ["Largest change", number(self.change)],
            *([sentence, "met" if met else "not met"] for sentence, met in self.preconditions),
        ]
        title = f"{self.statement} as printed: for comparison only, never a guarantee"
        return [Block(title, (), rows, [self.verdict])]


def binary(table: Tabulated, eps: float) -> PublishedBound:
    """Evaluate the bound of Theorem 3.4 on MCC, as printed. For comparison only: it is false in general.

    With A = {⟨t,c⟩, ⟨t,1⟩, ⟨1,c⟩, ⟨1−t,1⟩, ⟨1,1−c⟩}, m = min A, M = max A and κ = 2⁵ tr(S)² N / m² it says

        |MCC_S − MCC_W| < MCC_S · κ · [1 + M² (1 + κ ε)] · ε

    with MCC_S on the right side and not its absolute value: at MCC_S = 0 the bound is 0, below it is negative.

    Parameters
    ----------
    table
        A `wmcc.Table` of two classes. The positive class, t = 1, is ``table.positive``, or the last label: A counts
        the true positives but not the true negatives, so the bound depends on it, though MCC does not.
    eps
        How far each weight may move, in the unit of the weights.

    Returns
    -------
    PublishedBound

    Examples
    --------
    Four observations of weight 1. Where the predictions are right move the weights up by ε, elsewhere down: MCC
    becomes ε.

    >>> from wmcc import published, tabulate
    >>> published.binary(tabulate([1, 1, 0, 0], [1, 0, 1, 0]), 0.01)
    Theorem 3.4 as printed: for comparison only, never a guarantee
    MCC                                            0.0000
    ε                                                0.01
    Printed bound                                       0
    Largest change                                   0.01
    every weight is positive                          met
    both classes occur in truth and in prediction     met
    m = 1 is positive                                 met
    ε > 0                                             met
    ε < m/2 = 0.5                                     met
    ε < 1/N = 0.25                                    met
    <BLANKLINE>
    It fails here: the measure moves further than the printed bound.
    """
    table, size = one_table(table), checked_eps(eps, "absolute")
    if len(table.labels) > 2:
        raise InputError(
            f"Theorem 3.4 is about two classes; this table has {len(table.labels)}.",
            'use published.multiclass(table, "ecc", eps), or "mpc1" or "mpc2".',
        )
    value = MEASURES["mcc"](table)
    x = _Sums.of(table)
    k = len(table.labels) - 1 if table.positive is None else table.labels.index(table.positive)
    A = (x.d[k], x.r[k], x.q[k], x.s - x.r[k], x.s - x.q[k])
    m, M, e = min(A), max(A), Fraction(size)
    bound = None
    if m > 0:
        kappa = 2**5 * x.s**2 * x.N / m**2
        bound = Fraction(value) * kappa * (1 + M**2 * (1 + kappa * e)) * e
    both = all(0 < n[k] < x.N for n in _rows_of_classes(table))
    preconditions = (
        _positive_weights(table),
        ("both classes occur in truth and in prediction", both),
        (f"m = {number(_float(m))} is positive", m > 0),
        ("ε > 0", e > 0),
        (f"ε < m/2 = {number(_float(m / 2))}", e < m / 2),
        (f"ε < 1/N = {number(1 / x.N)}", e * x.N < 1),
    )
    return _beside_truth("Theorem 3.4", "mcc", table, value, size, bound, preconditions)


def multiclass(table: Tabulated, measure: MeasureName | Measure, eps: float) -> PublishedBound:
    """Evaluate the bound of Theorem 4.5 on ECC, MPC1 or MPC2, as printed. For comparison only: it is false.

    With κ = 16NC/s², N the number of observations, s the total weight, M_t and M_c the largest entries of t − t̄ and
    c − c̄, and R the covariance matrices, all of S, it says that the change is at most

        ecc:   |ECC_S| · [κN/(√2 y) + 4N²M_tM_c/s² · (1 + κ/(√2 y) · ε²)] · ε²
        mpc1:  |MPC1_S| · [κ/y + 4N²M_tM_c/s² · (1 + κ/y · ε²)] · ε²
        mpc2:  Σ |[R_tc]_kk / (K √([R_tt]_kk [R_cc]_kk))| · [κ + κ/4 · (1 + κ ε²)] · ε²

    The theorem leaves C open; it is taken from the proofs of Lemma 4.4. With
    C_k = [R_tt]_kk M_c² + [R_cc]_kk M_t² + 4N/s² it is

    - for ECC, C = M_t² tr(R_cc) + M_c² tr(R_tt) + 4N²/s², and y = tr(R_tt) tr(R_cc);
    - for MPC1, C = Σ C_k / √(2 [R_tt]_kk [R_cc]_kk), and y = Σ √([R_tt]_kk [R_cc]_kk);
    - for MPC2, "an upper bound for the bounds needed": the largest C_k is taken here. No choice of C helps, since
      the change is of the order of ε and not of ε².

    Parameters
    ----------
    table
        A `wmcc.Table`.
    measure
        ``"ecc"``, ``"mpc1"`` or ``"mpc2"``, or the measure itself.
    eps
        How far each weight may move, in the unit of the weights.

    Returns
    -------
    PublishedBound

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import published
    >>> published.multiclass(wmcc.Table.from_counts([[9, 1, 2], [2, 8, 0], [1, 2, 7]]), "mpc2", 0.001)
    Theorem 4.5 (MPC2) as printed: for comparison only, never a guarantee
    MPC2                                         0.6252
    ε                                             0.001
    Printed bound                            1.3944e-07
    Largest change                              0.00056
    there are three classes or more                 met
    every weight is positive                        met
    ε > 0                                           met
    ε < s/2 = 16                                    met
    ε < 1 (proof of Lemma 4.4)                      met
    [R_tt]_kk [R_cc]_kk > 0 for every class         met
    <BLANKLINE>
    It fails here: the measure moves further than the printed bound.
    """
    table, size = one_table(table), checked_eps(eps, "absolute")
    name = measure.name if isinstance(measure, Measure) else measure
    if not isinstance(name, str) or name not in _PARTS:
        raise InputError(
            f"`measure` is {name!r}; Theorem 4.5 is about 'ecc', 'mpc1' and 'mpc2'.",
            "for the MCC of two classes use published.binary(table, eps).",
        )
    value = MEASURES[name](table)
    x = _Covariances.of(table)
    parts = _PARTS[name](x, abs(Fraction(value)))
    e2, bound = Fraction(size) ** 2, None
    if parts is not None:
        lead, a, b, c = parts
        bound = lead * (a + b * (1 + c * e2)) * e2
    if name == "ecc":
        spread = ("tr(R_tt) tr(R_cc) > 0", sum(x.tt) * sum(x.cc) > 0)
    else:
        spread = ("[R_tt]_kk [R_cc]_kk > 0 for every class", all(x.products))
    preconditions = (
        ("there are three classes or more", len(table.labels) > 2),
        _positive_weights(table),
        ("ε > 0", size > 0),
        (f"ε < s/2 = {number(_float(x.s / 2))}", Fraction(size) < x.s / 2),
        ("ε < 1 (proof of Lemma 4.4)", size < 1),
        spread,
    )
    return _beside_truth(f"Theorem 4.5 ({name.upper()})", name, table, value, size, bound, preconditions)


# ---- the quantities of the paper, from the table, as rationals: no weights are too large or too small ------------


class _Sums(NamedTuple):
    """Number of observations; total, row sums, column sums and diagonal in the unit of the weights."""

    N: int
    s: Fraction
    r: list[Fraction]
    q: list[Fraction]
    d: list[Fraction]

    @classmethod
    def of(cls, table: Table) -> _Sums:
        unit, m = Fraction(2) ** table.cells.sums.w_exact.exponent, table.margins
        return cls(table.rows, m.s * unit, *([x * unit for x in xs] for xs in (m.r, m.q, m.d)))


class _Covariances(NamedTuple):
    """N, s, the diagonals of R_tt, R_cc and R_tc, and the largest entries of t − t̄ and c − c̄."""

    N: int
    s: Fraction
    tt: list[Fraction]
    cc: list[Fraction]
    tc: list[Fraction]
    M_t: Fraction
    M_c: Fraction

    @classmethod
    def of(cls, table: Table) -> _Covariances:
        N, s, r, q, d = _Sums.of(table)
        tt, cc = ([x * (s - x) / s**2 for x in xs] for xs in (r, q))
        tc = [(s * z - x * y) / s**2 for x, y, z in zip(r, q, d, strict=True)]
        rows = zip((r, q), _rows_of_classes(table), strict=True)
        return cls(N, s, tt, cc, tc, *(_farthest([x / s for x in xs], n, N) for xs, n in rows))

    @property
    def products(self) -> list[Fraction]:
        """[R_tt]_kk [R_cc]_kk."""
        return [a * b for a, b in zip(self.tt, self.cc, strict=True)]

    def constant(self, k: int) -> Fraction:
        """C_k of Lemma 4.4(b)."""
        return self.tt[k] * self.M_c**2 + self.cc[k] * self.M_t**2 + 4 * self.N / self.s**2


def _rows_of_classes(table: Table) -> list[list[int]]:
    """Number of observations of each true class, and of each predicted one."""
    return [table.true_counts.tolist(), table.pred_counts.tolist()]


def _farthest(mean: list[Fraction], n: list[int], N: int) -> Fraction:
    """Largest |x_n(k) − x̄_k|: 1 − x̄_k where an observation is of class k, x̄_k where one is of another."""
    ones = [1 - x for x, count in zip(mean, n, strict=True) if count > 0]
    zeros = [x for x, count in zip(mean, n, strict=True) if count < N]
    return max(ones + zeros)


_Parts = tuple[Fraction, Fraction, Fraction, Fraction]  # lead, a, b, c


def _ecc(x: _Covariances, value: Fraction) -> _Parts | None:
    y = sum(x.tt) * sum(x.cc)
    if not y:
        return None
    C = x.M_t**2 * sum(x.cc) + x.M_c**2 * sum(x.tt) + 4 * x.N**2 / x.s**2
    under = y * _root(Fraction(2)) * x.s**2
    return value, 16 * x.N**2 * C / under, 4 * x.N**2 * x.M_t * x.M_c / x.s**2, 16 * x.N * C / under


def _mpc1(x: _Covariances, value: Fraction) -> _Parts | None:
    if not all(x.products):
        return None
    y = sum(_root(p) for p in x.products)
    C = sum((x.constant(k) / _root(2 * p) for k, p in enumerate(x.products)), Fraction(0))
    a = 16 * x.N * C / (y * x.s**2)
    return value, a, 4 * x.N**2 * x.M_t * x.M_c / x.s**2, a


def _mpc2(x: _Covariances, value: Fraction) -> _Parts:
    terms = [abs(c) / _root(p) for c, p in zip(x.tc, x.products, strict=True) if p]  # the others are 0: Remark 1
    C = max(x.constant(k) for k in range(len(x.tt)))
    a = 16 * x.N * C / x.s**2
    return sum(terms, Fraction(0)) / len(x.tt), a, a / 4, a


_PARTS = {"ecc": _ecc, "mpc1": _mpc1, "mpc2": _mpc2}


def _root(x: Fraction) -> Fraction:
    """Return √x, to more bits than a float64 has."""
    return Fraction(isqrt(x.numerator * x.denominator << 2 * GUARD), x.denominator << GUARD)


# ---- beside the truth --------------------------------------------------------------------------------------------


def _beside_truth(
    statement: str, measure: str, table: Table, value: float, eps: float,
    bound: Fraction | None, preconditions: tuple[tuple[str, bool], ...],
) -> PublishedBound:  # fmt: skip
    from .robustness.certify import certify

    printed = nan if bound is None else _float(bound)
    certified = certify(table, cast("MeasureName", measure), eps=eps, model="absolute")
    # Ends are NaN where M(S) is undefined, and so are both changes then.
    change = max(value - certified.lower.attained, certified.upper.attained - value)
    limit = max(value - certified.low, certified.high - value)
    valid: bool | None = None
    if not all(met for _, met in preconditions) or printed < 0 or change - ROUNDING > printed:
        valid = False
    elif limit + ROUNDING <= printed:
        valid = True
    return PublishedBound(statement, measure, value, eps, printed, preconditions, valid, change)


def _positive_weights(table: Table) -> tuple[str, bool]:
    return "every weight is positive", bool((table.cells.sums.w_min > 0).all())


def _float(x: float | Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return inf if x > 0 else -inf

"""Correlations under a weight matrix that are 1 for the truth."""

from __future__ import annotations

from dataclasses import dataclass
from operator import mul
from typing import Any, ClassVar

from ..core.table import Table
from ..errors import InputError
from ..measures import MEASURES
from ..measures.arithmetic import mean_with, over_root, over_roots, root_ratio
from ..measures.base import ZeroDivision, check_scorable, on_zero
from ..present.blocks import Block
from ..present.json_csv import Record, plain
from ..present.result import Delegate, Result
from ..present.text import counted, decimal
from ..sources.columns import weight_array
from ..sources.matrix import pair_tables
from ..sources.sparse import is_sparse
from .checks import asymmetry, square

NOWHERE = "no class varies both in y_true and in y_pred"
NAMES = ("mcc", "ecc", "mpc1", "mpc2")


@dataclass(frozen=True, repr=False)
class MatrixScore(Result):
    """Correlations of truth and prediction under a weight matrix: what `wmcc.matrices.score` makes.

    Parameters
    ----------
    ecc, mpc1, mpc2
        Normalised: between −1 and 1, and 1 for the truth itself.
    mcc
        The same for two classes, where all four are equal; None for more.
    literal
        The paper's formulas of the same table, by the names of the measures. The truth itself scores less than 1 there
        if neighbours have different classes.
    table
        The table of y_true and y_pred: each entry of S is a row of it.
    problem
        Why a measure is undefined; None if none is.

    Examples
    --------
    >>> from wmcc import matrices
    >>> S = matrices.grid((1, 4))
    >>> matrices.score([0, 0, 1, 1], [0, 0, 1, 1], S).ecc
    1.0
    >>> matrices.score([0, 0, 1, 1], [0, 0, 0, 1], S)
    2 classes, 10 entries of a weight matrix, total weight 5.91421
    Measure  Normalised  Literal
    MCC          0.7349   0.5448
    """

    ecc: float
    mpc1: float
    mpc2: float
    mcc: float | None
    literal: dict[str, float]
    table: Table
    problem: str | None = None

    _kind = "matrix score"
    _stored = ("mcc", "ecc", "mpc1", "mpc2", "literal", "n", "total", "problem")

    n: ClassVar[Delegate[int]] = Delegate("table.rows", "How many entries of the matrix are not zero.")
    total: ClassVar[Delegate[float]] = Delegate("table.total", "Sum of the entries of the matrix.")

    def blocks(self) -> list[Block]:
        """Return both scores of each measure."""
        names = ["mcc"] if self.mcc is not None else [name for name in NAMES if name in self.literal]
        rows = [[MEASURES[x].title, decimal(getattr(self, x)), decimal(self.literal[x])] for x in names]
        title = f"{counted(len(self.table.classes), 'class', 'classes')}, {self.table.counts}"
        return [Block(title, ["Measure", "Normalised", "Literal"], rows, [self.problem] if self.problem else [])]

    def records(self) -> list[Record]:
        """Return a row for each measure."""
        known = [name for name in NAMES if name in self.literal]
        return [plain({"measure": x, "value": getattr(self, x), "literal": self.literal[x]}) for x in known]


def score(y_true: Any, y_pred: Any, sample_weight: Any, *, zero_division: ZeroDivision = 0.0) -> MatrixScore:
    """Score a prediction under a weight matrix, so that the truth itself scores 1.

    With ⟨a, b⟩ = aᵀSb and the indicator vectors t_k and c_k of class k in truth and prediction,

        cov(a, b) = ⟨a, b⟩⟨1, 1⟩ − ⟨a, 1⟩⟨1, b⟩
        ECC  = Σ cov(t_k, c_k) / √(Σ cov(t_k, t_k) · Σ cov(c_k, c_k))
        MPC1 = Σ cov(t_k, c_k) / Σ √(cov(t_k, t_k) · cov(c_k, c_k))
        MPC2 = the mean over classes of cov(t_k, c_k) / √(cov(t_k, t_k) · cov(c_k, c_k))

    The paper's formulas have r_k (s − r_k) in place of cov(t_k, t_k), as for a diagonal S. For such S the two agree;
    for others `docs/understand/matrices.md` has the difference and the proofs.

    Parameters
    ----------
    y_true, y_pred
        Labels, vectors of N.
    sample_weight
        The weight matrix S, N x N, symmetric, positive semidefinite and without negative entries: a dense array, or a
        sparse matrix of SciPy. A matrix that is not symmetric is refused; one that is not positive semidefinite if that
        shows here, in a negative variance or a correlation beyond 1. `check` decides it for certain.
    zero_division
        What an undefined value is, or an undefined term of MPC2: as for the measures.

    Returns
    -------
    MatrixScore

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import matrices
    >>> truth, near, far = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [1, 0, 0, 1, 1, 1]
    >>> S = matrices.grid((1, 6))
    >>> [round(matrices.score(truth, c, S).mcc, 3) for c in (truth, near, far)]
    [1.0, 0.8, 0.777]
    """
    S = square(sample_weight, "sample_weight")
    why = asymmetry(S, "sample_weight")
    if why:
        raise InputError(f"{why}; expected a symmetric matrix S.", "(S + S.T) / 2 is symmetric.")
    tables = pair_tables(y_true, y_pred, S if is_sparse(sample_weight) else weight_array(sample_weight))
    table = tables[0]
    check_scorable(table)
    largest = max(x.margins.s for x in tables)
    N, P, Q = (_covariances(x, largest) for x in tables)
    for label, n, p, q in zip(table.labels, N, P, Q, strict=True):
        if min(p, q) < 0:
            wrong = f"the variance of class {label!r} in {'y_true' if p < 0 else 'y_pred'} would be negative"
        elif n * n > p * q:
            wrong = f"class {label!r} would have a correlation outside [−1, 1]"
        else:
            continue
        raise InputError(
            f"S is not positive semidefinite: {wrong}.",
            "wmcc.matrices.check(S) says more; wmcc.tabulate(y_true, y_pred, S) has the paper's literal scores.",
        )
    values, problem = _correlations(N, P, Q, table.margins.classes, zero_division)
    two = len(table.labels) <= 2
    literal = {name: MEASURES[name](table, zero_division=zero_division) for name in NAMES if two or name != "mcc"}
    mcc = values["ecc"] if two else None
    return MatrixScore(values["ecc"], values["mpc1"], values["mpc2"], mcc, literal, table, problem)


def _covariances(table: Table, largest: int) -> list[int]:
    """Return cov of the indicators of each class in rows and in columns.

    The total weight of all tables is the same number, each in a unit of its own: ``largest`` is it in the smallest.
    """
    s, r, q, d, *_ = table.margins
    scale = (largest // s) ** 2
    return [scale * (s * c - a * b) for a, b, c in zip(r, q, d, strict=True)]


def _correlations(
    N: list[int], P: list[int], Q: list[int], occur: int, zero_division: ZeroDivision
) -> tuple[dict[str, float], str | None]:
    """ECC, MPC1 and MPC2 of the covariances N and the variances P and Q of each class, and what is undefined.

    ``occur`` is the number of classes that occur.
    """
    still = [side for side, own in (("y_true", P), ("y_pred", Q)) if not any(own)]
    why = f"under S the classes of {' and of '.join(still)} do not vary" if still else NOWHERE
    products = list(map(mul, P, Q))
    terms = [(n, p) for n, p in zip(N, products, strict=True) if p]

    def zero(name: str, reason: str = why) -> float:
        return on_zero(zero_division, MEASURES[name].title)(reason)

    lacking = occur - len(terms)
    other = zero("mpc2", f"{lacking} of {occur} classes do not vary in y_true or in y_pred") if lacking else 0.0
    values = {
        "ecc": zero("ecc") if still else over_root(sum(N), sum(P) * sum(Q)),
        "mpc1": over_roots(sum(N), products) if terms else zero("mpc1"),
        "mpc2": mean_with(lambda bits: [root_ratio(*x, bits) for x in terms], lacking, other, occur),
    }
    undefined = [MEASURES[name].title for name in values if still or (not terms and name != "ecc")]
    return values, f"{', '.join(undefined)}: undefined, since {why}." if undefined else None

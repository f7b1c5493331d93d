"""Correlations under a weight matrix that are 1 for the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from operator import mul
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import diags_array

from ..core.keys import missing, no_cluster
from ..core.table import Table
from ..errors import InputError, InputTypeError
from ..inference.answer import why_unsure
from ..inference.comparison import Comparison, with_holm
from ..inference.estimate import Interval
from ..measures import MEASURES
from ..measures.arithmetic import mean_with, over_root, over_roots, root_ratio
from ..measures.base import ZeroDivision, check_scorable, on_zero
from ..measures.checks import checked_level
from ..present.blocks import Block
from ..present.json_csv import Record, plain
from ..present.result import Delegate, Result
from ..present.text import counted, decimal, listed, number
from ..sources.columns import weight_array
from ..sources.groups import keys_of_rows
from ..sources.matrix import label_codes, pair_tables
from ..sources.sparse import is_sparse
from .checks import asymmetry, square
from .jackknife import LeftOut, difference, interval

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
    alone
        The measures without neighbours, of the diagonal of S alone, by their names; None where S has nothing else, or
        no diagonal.
    of_truth
        The paper's formulas of the truth and itself, by the names of the measures.
    intervals
        How far each measure may be off, by its name, if clusters were given.

    Examples
    --------
    >>> from wmcc import matrices
    >>> S = matrices.grid((1, 4))
    >>> matrices.score([0, 0, 1, 1], [0, 0, 1, 1], S).ecc
    1.0
    >>> matrices.score([0, 0, 1, 1], [0, 0, 0, 1], S)
    2 classes, 10 entries of a weight matrix, total weight 5.91421
    Measure  Normalised  Literal  Without neighbours
    MCC          0.7349   0.5448              0.5774
    <BLANKLINE>
    Literal: even the truth scores 0.8309, since its neighbours across borders differ; it falls with more credit.
    """

    ecc: float
    mpc1: float
    mpc2: float
    mcc: float | None
    literal: dict[str, float]
    table: Table
    problem: str | None = None
    alone: dict[str, float] | None = None
    of_truth: dict[str, float] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)

    _kind = "matrix score"
    _stored = ("mcc", "ecc", "mpc1", "mpc2", "literal", "alone", "of_truth", "n", "total", "intervals", "problem")

    n: ClassVar[Delegate[int]] = Delegate("table.rows", "How many entries of the matrix are not zero.")
    total: ClassVar[Delegate[float]] = Delegate("table.total", "Sum of the entries of the matrix.")

    def blocks(self) -> list[Block]:
        """Return both scores of each measure."""
        columns = {"Normalised": {x: decimal(getattr(self, x)) for x in self.shown}}
        if self.intervals:
            level = f"{number(100 * next(iter(self.intervals.values())).confidence_level)} % interval"
            columns |= {"SE": {x: decimal(own.se) for x, own in self.intervals.items()}}
            columns |= {level: {x: own.ends for x, own in self.intervals.items()}}
        columns |= {"Literal": {x: decimal(self.literal[x]) for x in self.shown}}
        if self.alone is not None:
            columns |= {"Without neighbours": {x: decimal(own) for x, own in self.alone.items()}}
        rows = [[MEASURES[x].title, *(own[x] for own in columns.values())] for x in self.shown]
        title = f"{counted(len(self.table.classes), 'class', 'classes')}, {self.table.counts}"
        return [Block(title, ["Measure", *columns], rows, self.notes)]

    @property
    def shown(self) -> list[str]:
        """Names of the measures that are shown: of those that must be equal, one stands for all."""
        return ["mcc"] if self.mcc is not None else [name for name in NAMES if name in self.literal]

    @property
    def notes(self) -> list[str]:
        """Why scores are lower with neighbours than without, and why intervals may not be relied on."""
        notes = [self.problem] if self.problem else []
        first = self.shown[0]
        title, most = MEASURES[first].title, self.of_truth.get(first, 1.0)
        if most < 1:
            notes.append(
                f"Literal: even the truth scores {decimal(most)}, since its neighbours across borders differ; "
                "it falls with more credit."
            )
        if self.alone is not None and getattr(self, first) < self.alone[first]:
            notes.append(
                f"{title} is lower with neighbours than without: S compares smoothed maps, so errors over whole "
                "patches count more, and errors of single places or at borders less. Here the former prevail."
            )
        own = {MEASURES[x].title: x_ for x, x_ in self.intervals.items() if x in self.shown}
        return [*notes, *why_unsure(own)]

    def records(self) -> list[Record]:
        """Return a row for each measure."""
        known = [name for name in NAMES if name in self.literal]
        rows = []
        for x in known:
            row = {"measure": x, "value": getattr(self, x)}
            if x in self.intervals:
                own = self.intervals[x]
                row |= {"low": own.low, "high": own.high, "se": own.se, "df": own.df, "clusters": own.clusters}
                row |= {"status": own.status, "warnings": "; ".join(own.warnings) or None, "problem": own.problem}
            row |= {"literal": self.literal[x], "alone": None if self.alone is None else self.alone[x]}
            rows.append(plain(row))
        return rows


def score(
    y_true: Any,
    y_pred: Any,
    sample_weight: Any,
    *,
    cluster: Any = None,
    zero_division: ZeroDivision = 0.0,
    confidence_level: float = 0.95,
) -> MatrixScore:
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
    cluster
        A key for each observation: the block, the parcel or the scene that it is in. Clusters should be larger than
        neighbourhoods, and there should be some twenty. The scores then have intervals, by a jackknife that leaves out
        one cluster at a time; entries of S alone are no sample, and have none.
    zero_division
        What an undefined value is, or an undefined term of MPC2: as for the measures.
    confidence_level
        Of the intervals.

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
    level, S = checked_level(confidence_level), square(sample_weight, "sample_weight")
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
    names = [name for name in NAMES if two or name != "mcc"]
    literal = {name: MEASURES[name](table, zero_division=zero_division) for name in names}
    of_truth = {name: MEASURES[name](tables[1]) for name in names}
    mcc = values["ecc"] if two else None
    without = _alone(y_true, y_pred, S, names)
    found = MatrixScore(values["ecc"], values["mpc1"], values["mpc2"], mcc, literal, table, problem, without, of_truth)
    if cluster is None:
        return found
    left_out = _left_out(y_true, y_pred, S, cluster)
    return replace(found, intervals={x: interval(left_out, x, getattr(found, x), level, problem) for x in names})


def _alone(y_true: Any, y_pred: Any, S: Any, names: Sequence[str]) -> dict[str, float] | None:
    """Return the measures of the diagonal of S; None if it is all of S, or nothing."""
    own = S.diagonal()
    if not own.any() or S.count_nonzero() == np.count_nonzero(own):
        return None
    table = pair_tables(y_true, y_pred, diags_array(own).tocsr())[0]
    return {name: MEASURES[name](table) for name in names}


def _left_out(y_true: Any, y_pred: Any, S: Any, cluster: Any) -> LeftOut:
    """Compute scores without each cluster in turn."""
    truth, pred, classes = label_codes(y_true, y_pred)
    keyed = keys_of_rows(cluster, "cluster", (len(truth),))
    assert keyed is not None
    if lost := missing(keyed.keys):
        raise no_cluster(int(np.isin(keyed.codes, lost).sum()))
    return LeftOut.of(truth, pred, classes, S, np.asarray(keyed.codes, dtype=np.int64).reshape(-1))


def compare(
    y_true: Any,
    y_pred: Mapping[str, Any],
    sample_weight: Any,
    measure: str = "ecc",
    *,
    cluster: Any,
    zero_division: ZeroDivision = 0.0,
    confidence_level: float = 0.95,
) -> Comparison:
    """Compare predictions of the same observations under one weight matrix, by clusters of observations.

    Parameters
    ----------
    y_true
        Labels, a vector of N.
    y_pred
        Two predictions or more, by their names.
    sample_weight
        The weight matrix S, as in `score`.
    measure
        ``"ecc"``, ``"mpc1"``, ``"mpc2"``, or for two classes ``"mcc"``: the normalised score that is compared.
    cluster
        A key for each observation, as in `score`. There is no test without: entries of S are no sample.
    zero_division, confidence_level
        As in `score`.

    Returns
    -------
    Comparison
        As of `wmcc.compare`: the difference of each pair, its interval and p-value by the jackknife over clusters, and
        a verdict. Its tables are those of the entries of S.

    Examples
    --------
    >>> import numpy as np
    >>> from wmcc import matrices
    >>> y, x = np.mgrid[:32, :32]
    >>> truth = ((x // 5 + y // 7) % 2).ravel()
    >>> shifted, turned = (np.roll(truth.reshape(32, 32), k, 1).ravel() for k in (1, 2))
    >>> S, blocks = matrices.grid((32, 32)), {"row": (y // 8).ravel(), "column": (x // 8).ravel()}
    >>> found = matrices.compare(truth, {"one off": shifted, "two off": turned}, S, cluster=blocks)
    >>> found.verdict
    'one off scores higher than two off'
    """
    if not isinstance(y_pred, Mapping) or len(y_pred) < 2:
        hint = "for instance matrices.compare(truth, {'old': a, 'new': b}, S, cluster=blocks)."
        raise InputTypeError("`y_pred` is no mapping of at least two predictions from their names.", hint, "y_pred")
    if measure not in NAMES:
        raise InputError.of("measure", measure, f"{listed(list(map(repr, NAMES)), 'or')}: scores under a matrix")
    if cluster is None:
        said = "`cluster` is None; entries of a weight matrix are no sample, and there is no test without clusters."
        raise InputError(said, "give the block or the parcel of each observation.", "cluster")
    level, S = checked_level(confidence_level), square(sample_weight, "sample_weight")
    scores = {str(name): score(y_true, own, sample_weight, zero_division=zero_division) for name, own in y_pred.items()}
    undefined = next((f"of {name}, {x.problem}" for name, x in scores.items() if x.problem), None)
    if measure == "mcc" and any(x.mcc is None for x in scores.values()):
        raise InputError("MCC is for two classes, and there are more.", "compare 'ecc'.", "measure")
    left_out = {str(name): _left_out(y_true, own, S, cluster) for name, own in y_pred.items()}
    pairs = with_holm(
        difference(
            (a, b), measure, (getattr(scores[a], measure), getattr(scores[b], measure)), (left_out[a], left_out[b]),
            level, undefined,
        )
        for a, b in combinations(scores, 2)
    )  # fmt: skip
    n, tables = next(iter(left_out.values())).n, {name: x.table for name, x in scores.items()}
    return Comparison(tuple(scores), measure, level, "clusters", pairs, n, 0, tables)


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

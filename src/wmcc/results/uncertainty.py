"""Both kinds of uncertainty side by side: rows that were not sampled, and weights that are not known well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.joint import JointTable
from ..errors import InputTypeError
from ..inference.compare import compare
from ..inference.comparison import Comparison
from ..inference.interval import Interval, clustered, interval, is_of, with_cluster
from ..measures import MEASURES
from ..measures.checks import after_joint_table, requested
from ..present.text import decimal, grid, html, number
from ..robustness.certificate import Certificate
from ..robustness.certify import certify
from ..robustness.ranking import Ranking, certify_ranking


@dataclass(frozen=True, repr=False)
class Uncertainty:
    """What `wmcc.uncertainty` returns.

    Parameters
    ----------
    sampling
        Where the score would lie if other rows had been drawn: an `Interval`, or a `Comparison` of two classifiers.
    weights
        Where it would lie if the weights were others: a `Certificate`, or a `Ranking`.
    """

    sampling: Interval | Comparison
    weights: Certificate | Ranking

    @property
    def verdict(self) -> str:
        """What holds against chance and against other weights, in a sentence."""
        if not (isinstance(self.sampling, Comparison) and isinstance(self.weights, Ranking)):
            if self.sampling.problem:
                return "how far other rows could move it is not known"
            by_rows, by_weights = (side.high - side.low for side in (self.sampling, self.weights))
            more, less = ("rows", "weights") if by_rows > by_weights else ("weights", "rows")
            return f"other {more} could move it further than other {less}"
        chance = self.sampling.verdict
        return f"{chance} by this sample; with weights off by up to {self._moved()}, {self.weights.verdict}"

    def _moved(self) -> str:
        eps = self.weights.eps
        return f"{number(100 * eps)} %" if self.weights.model == "relative" else number(eps)

    def _title(self) -> str:
        title = MEASURES[self.sampling.measure].title
        if isinstance(self.sampling, Comparison):
            a, b = self.sampling.names
            return f"{title} of {a} − {b} {decimal(self.sampling.difference)}"
        return f"{title} {decimal(self.sampling.value)}"

    def _rows(self) -> list[list[str]]:
        level = number(100 * self.sampling.confidence_level)
        names = [f"other rows ({level} % interval)", f"other weights (off by up to {self._moved()})"]
        ends = ((decimal(self.sampling.low), decimal(self.sampling.high)), self.weights.ends)
        return [["", "low", "high"], *([name, *both] for name, both in zip(names, ends, strict=True))]

    def _notes(self) -> list[str]:
        problem = [f"the interval is not estimable: {self.sampling.problem}"] if self.sampling.problem else []
        return [*problem, *(f"unreliable: {why}" for why in self.sampling.warnings), self.verdict]

    def __repr__(self) -> str:
        return "\n".join([self._title(), grid(self._rows()), *self._notes()])

    def _repr_html_(self) -> str:
        return html({self._title(): self._rows()}, self._notes())


def uncertainty(
    y_true: Any,
    y_pred: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    measure: Any = "ecc",
    eps: float = 0.1,
    model: Any = "relative",
    confidence_level: float = 0.95,
    cluster: Any = None,
    names: Any = None,
    **options: Any,
) -> Uncertainty:
    """Say how far a score may be off because rows are a sample, and how far because weights are not exact.

    Parameters
    ----------
    y_true, y_pred, sample_weight, weight, **options
        A table, or what `wmcc.tabulate` takes; or a dict of tables, one per cluster. A `wmcc.JointTable`, or a dict of
        them, compares its two predictions.
    measure, eps, model
        As in `wmcc.certify`.
    confidence_level, cluster
        As in `wmcc.interval`.
    names
        What to call the two predictions of a joint table.

    Examples
    --------
    >>> import wmcc
    >>> table = wmcc.Table.from_counts([[80, 9, 3], [12, 60, 2], [1, 7, 50]])
    >>> wmcc.uncertainty(table, "mpc2")
    MPC2 0.7720
                                          low    high
    other rows (95 % interval)         0.6943  0.8362
    other weights (off by up to 10 %)  0.7306  0.8081
    other rows could move it further than other weights
    """
    asked: dict[str, Any] = {"measure": measure, "eps": eps, "model": model}
    options = with_cluster(options, cluster)
    joint = clustered(y_true, JointTable) if is_of(y_true, JointTable) else None
    if joint is not None:
        asked = after_joint_table(asked, (y_pred, sample_weight, weight), None, options)
        sampling = compare(joint, asked["measure"], confidence_level, names=names)
        return Uncertainty(sampling, certify_ranking(joint, names=names, **asked))
    if names is not None:
        raise InputTypeError("names= are those of the two predictions of a JointTable.")
    table, asked = requested(clustered(y_true), y_pred, sample_weight, weight, options, asked)
    return Uncertainty(interval(table, asked["measure"], confidence_level), certify(table, **asked))

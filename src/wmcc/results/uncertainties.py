"""Both kinds of uncertainty side by side: rows that were not sampled, and weights that are not known well."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

from ..core.joint import JointTable
from ..core.table import Tabulated
from ..inference.comparison import Comparison, Difference
from ..inference.contrasts import compare
from ..inference.estimate import Interval
from ..inference.interval import interval
from ..measures import MEASURES
from ..measures.base import Measure, MeasureName, for_tabulated
from ..measures.checks import Model
from ..present.blocks import Block, few
from ..present.json_csv import Record, plain
from ..present.result import Delegate, Result
from ..present.stored import Fields
from ..present.text import decimal, how_far_off, number, weights_head
from ..robustness.certificate import Certificate, notes_of_ranges
from ..robustness.certify import certify
from ..robustness.ranking import Lead, Ranking, certify_ranking

OfInterval = Annotated[Fields, ("kind", Literal["interval"]), Interval]
OfComparison = Annotated[Fields, ("kind", Literal["comparison"]), Comparison]
OfCertificate = Annotated[Fields, ("kind", Literal["certificate"]), Certificate]
OfRanking = Annotated[Fields, ("kind", Literal["ranking"]), Ranking]


@dataclass(frozen=True, repr=False)
class Uncertainty(Result):
    """What `wmcc.results.uncertainty` returns.

    Parameters
    ----------
    sampling
        The sampling error: an `Interval`, or a `Comparison` of predictions.
    weights
        The range of the score for weights off by ε, or within their bounds: a `Certificate`, or a `Ranking`.
    """

    sampling: Interval | Comparison
    weights: Certificate | Ranking

    measure: ClassVar[Delegate[str]] = Delegate("sampling.measure", "Name of the measure.")
    warnings: ClassVar[Delegate[tuple[str, ...]]] = Delegate(
        "sampling.warnings", "Why the interval may cover less often than it says, a sentence each."
    )

    @property
    def problem(self) -> str | None:
        """Why neither kind is known; None if one is."""
        return self.sampling.problem if self.weights.problem else None

    @property
    def _both(self) -> list[tuple[Interval | Difference, Certificate | Lead]]:
        """Each score or difference, with both kinds of its uncertainty."""
        if isinstance(self.sampling, Comparison) and isinstance(self.weights, Ranking):
            return [(found, self.weights[pair]) for pair, found in self.sampling.pairs.items()]
        assert isinstance(self.sampling, Interval)
        assert isinstance(self.weights, Certificate)
        return [(self.sampling, self.weights)]

    @property
    def verdict(self) -> str:
        """What holds against chance and against other weights, in a sentence for each pair of predictions."""
        return "; ".join(self._verdict(*both) for both in self._both)

    def _verdict(self, sampling: Interval | Difference, weights: Certificate | Lead) -> str:
        if isinstance(sampling, Difference) and isinstance(weights, Lead):
            return f"{sampling.verdict} in this sample; with weights {self._moved}, {weights.verdict}"
        if sampling.problem:
            return "the sampling error could not be estimated"
        by_rows, by_weights = (side.high - side.low for side in (sampling, weights))
        words = ["the sampling error", "the effect of the weights"]
        more, less = words if by_rows > by_weights else words[::-1]
        return f"{more} is larger than {less}"

    _kind = "uncertainty"
    _stored = ("measure", "sampling", "weights", "verdict", "warnings", "problem")

    @property
    def _moved(self) -> str:
        """How far weights may be off, in a sentence."""
        return how_far_off(self.weights.eps, self.weights.model)

    def blocks(self) -> list[Block]:
        """Return both ranges of the score or of each difference, and what holds against both."""
        if isinstance(self.sampling, Comparison):
            return [*self.sampling.ranking_blocks(), *self._differences(self.sampling.title)]
        ((sampling, weights),) = self._both
        level, title = number(100 * self.sampling.confidence_level), MEASURES[self.measure].title
        names = [f"sampling error ({level} % interval)", f"weights {self._moved}"]
        ends = (decimal(sampling.low), decimal(sampling.high)), weights.ends
        rows = [[name, *both] for name, both in zip(names, ends, strict=True)]
        problem = [f"the interval is not estimable: {sampling.problem}"] if sampling.problem else []
        notes = [*problem, *(f"unreliable: {why}" for why in self.warnings), self.verdict]
        return [Block(f"{title} {decimal(sampling.value)}", ["", "low", "high"], rows, notes)]

    def lines(self) -> list[Block]:
        """Return the differences of each pair; or the score and both ranges in a row."""
        if isinstance(self.sampling, Comparison):
            return self._differences(f"Differences of {MEASURES[self.measure].title}")
        ((sampling, weights),) = self._both
        level = number(100 * self.sampling.confidence_level)
        head = ["Value", f"{level} % interval", weights_head(self.weights.eps, self.weights.model)]
        return [Block(MEASURES[self.measure].title, head, [[decimal(sampling.value), sampling.ends, weights.span]])]

    def _differences(self, title: str) -> list[Block]:
        assert isinstance(self.sampling, Comparison)
        assert isinstance(self.weights, Ranking)
        leads = self.weights.pairs
        head = weights_head(self.weights.eps, self.weights.model)
        spans = {head: {pair: lead.span for pair, lead in leads.items()}}
        several = len(leads) > 1
        verdicts = [] if several else [f"{self.verdict}."]
        notes = [*verdicts, *self.sampling.notes()[1 - several :]]  # of two, the verdict is here that goes by both
        notes += notes_of_ranges({" and ".join(pair): lead for pair, lead in leads.items()})
        return [replace(self.sampling.pair_block(title, spans), notes=few(notes))]

    @property
    def _stored_sampling(self) -> OfInterval | OfComparison:
        """The sampling error, with its kind."""
        return {"kind": self.sampling._kind, **self.sampling.picked()}

    @property
    def _stored_weights(self) -> OfCertificate | OfRanking:
        """The range for other weights, with its kind."""
        return {"kind": self.weights._kind, **self.weights.picked()}

    def records(self) -> list[Record]:
        """Return a row for each score or difference, with both ranges."""
        rows = []
        for own, (_, weights) in zip(self.sampling.records(), self._both, strict=True):
            ends = {"model": weights.model, "eps": weights.eps, "range_low": weights.low, "range_high": weights.high}
            rows.append({**own, **plain(ends)})
        return rows


@for_tabulated()
def uncertainty(
    table: Tabulated | JointTable,
    measure: MeasureName | Measure = "ecc",
    *,
    eps: float | None = None,
    model: Model = "relative",
    lower: Tabulated | JointTable | None = None,
    upper: Tabulated | JointTable | None = None,
    confidence_level: float = 0.95,
) -> Uncertainty:
    """Compute how far a score may be off because rows are a sample, and because weights are not exact.

    Parameters
    ----------
    table
        A `wmcc.Table`; or a `wmcc.JointTable`, whose predictions are compared.
    measure, eps, model, lower, upper
        As in `wmcc.certify`, and for a joint table as in `wmcc.certify_ranking`.
    confidence_level
        As in `wmcc.interval`.

    Examples
    --------
    >>> import wmcc
    >>> table = wmcc.Table.from_counts([[80, 9, 3], [12, 60, 2], [1, 7, 50]])
    >>> wmcc.results.uncertainty(table, "mpc2")
    MPC2 0.7720
                                       low    high
    sampling error (95 % interval)  0.6910  0.8339
    weights off by up to 10 %       0.7306  0.8081
    <BLANKLINE>
    the sampling error is larger than the effect of the weights
    """
    bounds: Any = {"lower": lower, "upper": upper}  # of the kind of the table, or refused
    if isinstance(table, JointTable):
        sampling = compare(table, measure, confidence_level=confidence_level)
        return Uncertainty(sampling, certify_ranking(table, measure, eps=eps, model=model, **bounds))
    error = interval(table, measure, confidence_level=confidence_level)
    return Uncertainty(error, certify(table, measure, eps=eps, model=model, **bounds))

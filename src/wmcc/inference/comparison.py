"""What a comparison of classifiers found, for two and for more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import nan
from typing import ClassVar, Literal, NamedTuple

from ..core.labels import Label
from ..core.table import Table
from ..present.blocks import Block, few
from ..present.pairs import Pair, PairResult, Pairs
from ..present.result import Delegate
from ..present.text import counted, decimal, number
from .answer import Answer, measure_title, said_units, why_unsure


def probability(p: float) -> str:
    """Write a p-value in a sentence."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.4f}"


def p_cell(p: float | None) -> str:
    """Write a p-value in a column of them."""
    return "—" if p is None or p != p else probability(p).removeprefix("p ").removeprefix("= ")


@dataclass(frozen=True, repr=False)
class Difference(Answer, PairResult):
    """The difference of two scores, and how far it may be off because the rows are a sample.

    Parameters
    ----------
    names
        Of the first and the second prediction.
    measure, confidence_level
        What was asked.
    values
        The score of each.
    value, low, high
        First − second, and its interval; the ends are NaN where there is a `problem`.
    se, df
        Standard error of the difference, and its degrees of freedom as far as uneven weights or clusters limit them.
    p_value
        Two-sided: the probability of a difference at least this large if the true scores were equal.
    n, n_eff, total
        Rows, effective sample size and weight; of independent samples, both together.
    ignored
        Rows that were left out.
    clusters
        Number of clusters that were drawn; None where rows were.
    strata
        Number of strata; None without strata. Of independent samples, both together.
    replicates
        Number of replicate weights; None without any.
    margin, p_noninferior
        The margin of non-inferiority, and its one-sided p-value: the probability of a result at least this good if the
        first truly scored lower by the margin. None without a margin.
    warnings
        Why the test may be unreliable, a sentence each.
    problem
        Why there is no test; None if there is one.
    label
        The class whose own scores are compared; None for scores of whole tables.
    p_adjusted
        The p-value corrected for the number of pairs in the comparison by Holm's method; `winner` and `verdict` use it.
    """

    names: Pair
    measure: str
    confidence_level: float
    values: tuple[float, float]
    value: float
    low: float
    high: float
    se: float
    df: float
    p_value: float
    n: int
    n_eff: float
    total: float
    ignored: int = 0
    clusters: int | None = None
    strata: int | None = None
    replicates: int | None = None
    margin: float | None = None
    p_noninferior: float | None = None
    warnings: tuple[str, ...] = ()
    problem: str | None = None
    label: Label | None = None
    p_adjusted: float = nan

    @property
    def winner(self) -> str | None:
        """The one with the significantly higher score, at the confidence level; None if there is none."""
        if not self.p_adjusted < 1 - self.confidence_level:
            return None
        return self.names[0 if self.value > 0 else 1]

    @property
    def noninferior(self) -> bool | None:
        """Whether the first is shown not to be worse by the margin, at half of 1 − confidence level."""
        if self.p_noninferior is None:
            return None
        return self.p_noninferior < (1 - self.confidence_level) / 2

    @property
    def verdict(self) -> str:
        """What was found, in a sentence."""
        a, b = self.names
        if self.winner is not None:
            return f"{self.winner} scores higher than {b if self.winner == a else a}"
        if self.problem is not None:
            return f"whether {a} and {b} differ was not tested"
        if self.se == 0 and self.value == 0:
            return f"{a} and {b} score the same"
        return f"{a} and {b} do not differ significantly"

    @property
    def noninferiority(self) -> str | None:
        """What was found of the margin, in a sentence; None if nothing was asked."""
        if self.p_noninferior is None or self.margin is None:
            return None
        (a, b), least = self.names, number(self.margin)
        if self.noninferior:
            return f"{a} is not worse than {b} by {least} or more"
        return f"{a} may be worse than {b} by {least} or more"

    _kind = "difference"
    _stored = (
        "names", "measure", "label", "values", "value", "low", "high", "se", "df", "p_value", "p_adjusted", "margin",
        "p_noninferior", "noninferior", "n", "total", "n_eff", "ignored", "clusters", "strata", "replicates",
        "confidence_level",
        "winner", "verdict", "status", "warnings", "problem",
    )  # fmt: skip

    def sentences(self) -> list[str]:
        """Return the difference, its interval and the verdict in sentences."""
        a, b = self.names
        scores = f"({', '.join(self.scores)})"
        head = f"{measure_title(self.measure, self.label)}, {a} − {b}: {decimal(self.value)}"
        if self.problem:
            return [f"{head} {scores}", f"not estimable: {self.problem}"]
        level = f"{number(100 * self.confidence_level)} % interval"
        how = ", ".join([f"se {decimal(self.se)}", *said_units(self.clusters, self.strata, self.replicates)])
        lines = [f"{head}, {level} {decimal(self.low)} to {decimal(self.high)} ({how})"]
        lines.append(f"{probability(self.p_value)}: {self.verdict} {scores}")
        if self.p_noninferior is not None:
            lines.append(f"{probability(self.p_noninferior)}: {self.noninferiority}")
        return lines


class Ranked(NamedTuple):
    """One prediction of a comparison: its score, and those it does not differ from significantly."""

    name: str
    value: float
    not_told_apart_from: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Comparison(Pairs[Difference]):
    """What `wmcc.compare` returns, for two predictions and for more.

    For two, what was found of them is here by its own name: `value`, `low`, `high`, `se`, `p_value`, `verdict` and
    so on. For more, each pair has its own: ``comparison["A", "B"].p_value``.

    Parameters
    ----------
    names
        Of all predictions.
    measure, label, confidence_level
        What was asked; the label is that of the class whose own scores are compared, or None.
    sample
        ``"rows"``: predictions of the same rows, drawn independently; ``"clusters"``: of the same clusters of rows, or
        groups of rows of one sample; ``"independent"``: each of rows of its own; ``"groups"``: the groups of a
        `wmcc.Tables`, which are parts of one sample.
    pairs
        The `Difference` of each pair, by their names. Its p-value is as if the pair were the only one; ``p_adjusted``
        is corrected for the number of pairs, and ``winner`` and ``verdict`` use that one.
    n, ignored
        Rows that were compared, and rows that were left out; of independent samples, all together.
    tables
        The table of each prediction, by name.
    """

    names: tuple[str, ...]
    measure: str
    confidence_level: float
    sample: Literal["rows", "clusters", "independent", "groups"]
    pairs: dict[Pair, Difference]
    n: int
    ignored: int
    tables: dict[str, Table] = field(compare=False)
    label: Label | None = None

    # ---- all pairs ------------------------------------------------------------------------------------

    @property
    def p_adjusted(self) -> dict[Pair, float]:
        """P-values corrected for the number of pairs by Holm's method."""
        return {pair: x.p_adjusted for pair, x in self.pairs.items()}

    def told_apart(self, a: str, b: str) -> bool:
        """Whether two scores differ, at the confidence level for all pairs together."""
        return self[(b, a) if (b, a) in self.pairs else (a, b)].winner is not None

    @property
    def ranking(self) -> list[Ranked]:
        """Name, score and those it does not differ from significantly, best first."""
        return [
            Ranked(name, x, tuple(b for b in self.values if b != name and not self.told_apart(name, b)))
            for name, x in self.values.items()
        ]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why tests may be unreliable, a sentence each; with the names of the pair unless it is of all."""
        warnings = [(why, f"{self._before(x)}{why}") for x in self.pairs.values() for why in x.warnings]
        of_all = {why for why, _ in warnings if all(why in x.warnings for x in self.pairs.values())}
        return tuple(dict.fromkeys(why if why in of_all else named for why, named in warnings))

    @property
    def problem(self) -> str | None:
        """Why there is no test of any pair; None if there is one."""
        problems = [f"{self._before(x)}{x.problem}" for x in self.pairs.values() if x.problem]
        return "; ".join(problems) if len(problems) == len(self.pairs) else None

    def _before(self, x: Difference) -> str:
        return "" if len(self.pairs) == 1 else f"{x.names[0]} − {x.names[1]}: "

    # ---- the only pair --------------------------------------------------------------------------------

    value: ClassVar[Delegate[float]] = Delegate("only.value", "First − second.")
    low: ClassVar[Delegate[float]] = Delegate("only.low", "Lower end of the interval of the difference.")
    high: ClassVar[Delegate[float]] = Delegate("only.high", "Upper end of the interval of the difference.")
    se: ClassVar[Delegate[float]] = Delegate("only.se", "Standard error of the difference.")
    df: ClassVar[Delegate[float]] = Delegate("only.df", "Degrees of freedom of the standard error.")
    p_value: ClassVar[Delegate[float]] = Delegate(
        "only.p_value", "Two-sided: the chance of so large a difference if there were none."
    )
    n_eff: ClassVar[Delegate[float]] = Delegate("only.n_eff", "Effective sample size.")
    clusters: ClassVar[Delegate[int | None]] = Delegate(
        "only.clusters", "Number of clusters; None where rows are independent."
    )
    strata: ClassVar[Delegate[int | None]] = Delegate("only.strata", "Number of strata; None without strata.")
    replicates: ClassVar[Delegate[int | None]] = Delegate(
        "only.replicates", "Number of replicate weights; None without any."
    )
    p_noninferior: ClassVar[Delegate[float | None]] = Delegate(
        "only.p_noninferior", "The p-value of non-inferiority; None without margin."
    )
    noninferior: ClassVar[Delegate[bool | None]] = Delegate(
        "only.noninferior", "Whether the first is shown not to be worse by the margin."
    )
    winner: ClassVar[Delegate[str | None]] = Delegate(
        "only.winner", "The one with the significantly higher score; None if there is none."
    )
    verdict: ClassVar[Delegate[str]] = Delegate("only.verdict", "What was found, in a sentence.")

    @property
    def reliable(self) -> bool:
        """Whether there is a test of every pair, and no warning."""
        return all(x.reliable for x in self.pairs.values())

    # ---- showing ------------------------------------------------------------------------------------

    _kind = "comparison"
    _done = "compared"
    _stored = (
        "names", "measure", "label", "confidence_level", "margin", "sample", "n", "ignored", "ranking", "pairs",
        "warnings", "problem",
    )  # fmt: skip

    @property
    def margin(self) -> float | None:
        """How much lower the first of a pair may score; None if it was not asked."""
        return next(iter(self.pairs.values())).margin

    def _size(self) -> str:
        """Say how many rows were compared."""
        ignored = f", {self.ignored:,} ignored" if self.ignored else ""
        if self.sample == "independent":
            sizes = {name: counted(table.rows, "row") + table.drawn.said for name, table in self.tables.items()}
            each = ", ".join(f"{name} {size}" for name, size in sizes.items())
            return f"independent samples: {each}{ignored}"
        first = next(iter(self.pairs.values()))
        within = "".join(f" in {units}" for units in said_units(first.clusters, first.strata, None))
        within += "".join(f" with {weights}" for weights in said_units(None, None, first.replicates))
        return f"{counted(self.n, 'row')}{within}{ignored}"

    def pair_block(self, title: str, beside: dict[str, dict[Pair, str]] | None = None) -> Block:
        """Return a row for each pair; ``beside`` has columns of texts that stand beside the intervals."""
        several, beside = len(self.pairs) > 1, beside or {}
        head = ["First", "Second", "First − second", f"{number(100 * self.confidence_level)} % interval", "p"]
        head += ["p (Holm)"] * several
        head += [] if self.margin is None else [f"p (margin {number(self.margin)})"]
        rows = []
        for pair, x in self.pairs.items():
            row = [*x.scores, decimal(x.value), x.ends, p_cell(x.p_value)]
            row += [p_cell(x.p_adjusted)] * several + ([] if self.margin is None else [p_cell(x.p_noninferior)])
            rows.append([*row, *(own[pair] for own in beside.values())])
        return Block(title, [*head, *beside], rows, texts=2)

    def notes(self) -> list[str]:
        """Return verdicts, and what to know of the intervals."""
        said = [] if len(self.pairs) > 1 else [self.only.verdict, self.only.noninferiority]
        titled = {" − ".join(pair): x for pair, x in self.pairs.items()}
        how = [self._of_groups] if self.sample == "groups" else self._shared_keys
        return [*(f"{sentence}." for sentence in said if sentence), *how, *why_unsure(titled)]

    @property
    def _shared_keys(self) -> list[str]:
        """Say so if clusters of independent samples have the same keys: they may be the same clusters."""
        several = [set(table.drawn.clusters) for table in self.tables.values()] if self.sample == "independent" else []
        shared = max((len(a & b) for a, b in combinations(several, 2)), default=0)
        if not shared:
            return []
        return [
            f"{counted(shared, 'key')} of clusters {'is' if shared == 1 else 'are'} in both samples, and taken for "
            "different clusters. If they are the same, the samples are not independent: compare groups of one table."
        ]

    @property
    def _of_groups(self) -> str:
        """How groups of one sample are compared."""
        drawn = next(iter(self.tables.values())).drawn
        if drawn.kind == "rows":
            return "Rows are independent, and no two groups share one: they are compared as independent samples."
        shared = "clusters" if drawn.clusters else "replicate weights" if drawn.replicates else "strata"
        return (
            f"The groups are parts of one sample: standard errors take account of the {shared} that they have in "
            "common."
        )

    def ranking_blocks(self) -> list[Block]:
        """Return the ranking of more than two predictions."""
        rows = [[name, ", ".join(others) or "—", decimal(x)] for name, x, others in self.ranking]
        title = measure_title(self.measure, self.label)
        head = ["Group" if self.sample == "groups" else "Prediction", "No significant difference from", title]
        return [Block(f"Ranking by {title}", head, rows, texts=2)] if len(self.names) > 2 else []

    @property
    def title(self) -> str:
        """What was compared, and on how many rows."""
        return f"Differences of {measure_title(self.measure, self.label)}, {self._size()}"

    def blocks(self) -> list[Block]:
        """Return the ranking of more than two, the difference of each pair, and verdicts."""
        return [*self.ranking_blocks(), replace(self.pair_block(self.title), notes=few(self.notes()))]

    def lines(self) -> list[Block]:
        """Return the difference of each pair, and verdicts."""
        title = f"Differences of {measure_title(self.measure, self.label)}"
        return [replace(self.pair_block(title), notes=self.notes())]

    @property
    def _stored_pairs(self) -> list[Difference]:
        """The difference of each pair."""
        return list(self.pairs.values())


def with_holm(differences: Iterable[Difference]) -> dict[Pair, Difference]:
    """Return differences by their names, with p-values corrected for their number by Holm's method."""
    several = list(differences)
    ps = holm([x.p_value for x in several])
    return {x.names: replace(x, p_adjusted=p) for x, p in zip(several, ps, strict=True)}


def holm(p_values: list[float]) -> list[float]:
    """P-values corrected for their number by Holm's method; NaN stays NaN and does not count."""
    known = sorted((p, i) for i, p in enumerate(p_values) if p == p)
    out, most = [nan] * len(p_values), 0.0
    for rank, (p, i) in enumerate(known):
        most = max(most, min(1.0, p * (len(known) - rank)))
        out[i] = most
    return out

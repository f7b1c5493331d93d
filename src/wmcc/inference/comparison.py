"""What a comparison of classifiers found, for two and for more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import nan

from ..errors import InputError
from ..measures import MEASURES
from ..present.text import decimal, grid, html, number
from .answer import Answer


def probability(p: float) -> str:
    """Write a p-value in a sentence."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.4f}"


def p_cell(p: float | None) -> str:
    """Write a p-value in a column of them."""
    return "—" if p is None or p != p else probability(p).removeprefix("p ").removeprefix("= ")


@dataclass(frozen=True, repr=False)
class Comparison(Answer):
    """What `wmcc.compare` returns for two classifiers.

    Parameters
    ----------
    names
        Of the first and the second.
    measure, confidence_level
        What was asked.
    values
        The score of each.
    difference, low, high
        First − second, and its interval; the ends are NaN where there is a `problem`.
    se, df
        Standard error of the difference, and its degrees of freedom as far as uneven weights or clusters limit them.
    p_value
        Two-sided: the chance of so large a difference or a larger one if both truly scored the same.
    n_eff, clusters
        Effective sample size; number of clusters, or None.
    margin, p_noninferior
        How much lower the first may score, and the chance of such a result, or a better one, if it truly scored lower
        by that; None if it was not asked.
    warnings
        Why the test may be off, a sentence each.
    problem
        Why there is no test; None if there is one.
    """

    names: tuple[str, str]
    measure: str
    confidence_level: float
    values: tuple[float, float]
    difference: float
    low: float
    high: float
    se: float
    df: float
    p_value: float
    n_eff: float
    clusters: int | None = None
    margin: float | None = None
    p_noninferior: float | None = None
    warnings: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def winner(self) -> str | None:
        """The one with the higher score, if chance is an unlikely reason at the confidence level; else None."""
        if not self.p_value < 1 - self.confidence_level:
            return None
        return self.names[0 if self.difference > 0 else 1]

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
        return f"{a} and {b} are not told apart"

    @property
    def noninferiority(self) -> str | None:
        """What was found of the margin, in a sentence; None if nothing was asked."""
        if self.p_noninferior is None or self.margin is None:
            return None
        (a, b), least = self.names, number(self.margin)
        if self.noninferior:
            return f"{a} is not worse than {b} by {least} or more"
        return f"{a} may be worse than {b} by {least} or more"

    def _sentences(self) -> list[str]:
        a, b = self.names
        scores = f"({a} {decimal(self.values[0])}, {b} {decimal(self.values[1])})"
        head = f"{MEASURES[self.measure].title} of {a} − {b}: {decimal(self.difference)}"
        if self.problem:
            return [f"{head} {scores}", f"not estimable: {self.problem}"]
        level = f"{number(100 * self.confidence_level)} % interval"
        how = f"se {decimal(self.se)}" + ("" if self.clusters is None else f", {self.clusters:,} clusters")
        lines = [f"{head}, {level} {decimal(self.low)} to {decimal(self.high)} ({how})"]
        lines.append(f"{probability(self.p_value)}: {self.verdict} {scores}")
        if self.p_noninferior is not None:
            lines.append(f"{probability(self.p_noninferior)}: {self.noninferiority}")
        return lines


@dataclass(frozen=True, repr=False)
class Comparisons:
    """What `wmcc.compare` returns for more than two classifiers.

    Parameters
    ----------
    names
        Of all.
    pairs
        A `Comparison` by the names of each pair, as if it were the only one; `p_adjusted`, `told_apart` and
        `ranking` are corrected for the number of pairs.
    """

    names: tuple[str, ...]
    pairs: dict[tuple[str, str], Comparison]

    def __getitem__(self, pair: tuple[str, str]) -> Comparison:
        if pair in self.pairs:
            return self.pairs[pair]
        raise InputError(f"there is no pair {pair!r}; the pairs are {', '.join(map(repr, self.pairs))}.")

    @cached_property
    def p_adjusted(self) -> dict[tuple[str, str], float]:
        """P-values corrected for the number of pairs by Holm's method."""
        return dict(zip(self.pairs, holm([pair.p_value for pair in self.pairs.values()]), strict=True))

    @cached_property
    def values(self) -> dict[str, float]:
        """The score of each, best first."""
        known = {name: x for pair, found in self.pairs.items() for name, x in zip(pair, found.values, strict=True)}
        return dict(sorted(known.items(), key=lambda item: -item[1]))

    def corrected(self, pair: tuple[str, str]) -> Comparison:
        """Return a comparison whose p-value is corrected for the number of pairs, and with it winner and verdict."""
        return replace(self[pair], p_value=self.p_adjusted[pair])

    def told_apart(self, a: str, b: str) -> bool:
        """Whether two scores differ, at the confidence level for all pairs together."""
        pair = (b, a) if (b, a) in self.pairs else (a, b)
        level = self[pair].confidence_level  # says which pairs there are, if it is none
        return self.p_adjusted[pair] < 1 - level

    @property
    def ranking(self) -> list[tuple[str, float, tuple[str, ...]]]:
        """Name, score and those it is not told apart from, best first."""
        order = list(self.values)
        return [
            (name, x, tuple(other for other in order if other != name and not self.told_apart(name, other)))
            for name, x in self.values.items()
        ]

    def _rows(self) -> list[list[str]]:
        title = MEASURES[next(iter(self.pairs.values())).measure].title
        rows = [["", title, "not told apart from"]]
        rows += [[name, decimal(x), ", ".join(others) or "—"] for name, x, others in self.ranking]
        return rows

    def _pairs(self) -> list[list[str]]:
        rows = [["pair", "difference", "interval", "p", "Holm"]]
        for (a, b), found in self.pairs.items():
            p, adjusted = p_cell(found.p_value), p_cell(self.p_adjusted[a, b])
            rows.append([f"{a} − {b}", decimal(found.difference), found.ends, p, adjusted])
        return rows

    def _notes(self) -> list[str]:
        notes = []
        for (a, b), found in self.pairs.items():
            notes += [f"{a} − {b}: not estimable: {found.problem}"] if found.problem else []
            notes += [f"{a} − {b}: unreliable: {why}" for why in found.warnings]
        return notes

    def __repr__(self) -> str:
        return "\n\n".join(
            [grid(self._rows()), grid(self._pairs()), *(["\n".join(self._notes())] if self._notes() else [])]
        )

    def _repr_html_(self) -> str:
        return html({"Scores, best first": self._rows(), "Differences": self._pairs()}, self._notes())


def holm(p_values: list[float]) -> list[float]:
    """P-values corrected for their number by Holm's method; NaN stays NaN and does not count."""
    known = sorted((p, i) for i, p in enumerate(p_values) if p == p)
    out, most = [nan] * len(p_values), 0.0
    for rank, (p, i) in enumerate(known):
        most = max(most, min(1.0, p * (len(known) - rank)))
        out[i] = most
    return out

"""The answer of a report, in a sentence or two that hold."""

from __future__ import annotations

from typing import Any

from ..inference.comparison import probability
from ..present.text import decimal, share
from ..robustness.radius import UNPROVED, Radius
from .findings import EPS_DIGITS, Findings

UNSURE = " (not to be relied on: see the warnings)"


def verdict(found: Findings) -> list[str]:
    """What was found: a sentence to begin with, and more if there is more."""
    if found.comparisons is None:
        return _of_one(found)
    leader, second, *others = found.best_first
    sentences = [_of_two(found, leader, second)]
    if others and found.curves[leader] is not None:
        sentences.append(_of_others(found, leader, [second, *others]))
    return sentences + _thresholds(found)


def _of_one(found: Findings) -> list[str]:
    ((name, score),) = found.scores.items()
    title, value, at = found.measure.title, decimal(found.value(name)), found.range(name, found.eps)
    sampled = score.intervals[found.measure.name]
    rows = f"{decimal(sampled.low)} to {decimal(sampled.high)} if other rows had been drawn"
    rows += f" ({found.level}{', not to be relied on: see the warnings' * bool(sampled.warnings)})"
    rows = f"how far other rows could move it is not known, since {sampled.problem}" if sampled.problem else rows
    if at is None:
        why = "it divides by zero" if score.paired else sampled.problem
        return [f"{title} is undefined here, and counts as {value}: {why}."]
    weights = f"{' to '.join(at.ends)} for any reweighting up to ±{share(at.eps, EPS_DIGITS)}"
    return [f"{title} is {value}: {rows}, and {weights}.", *_thresholds(found)]


def _of_two(found: Findings, leader: str, other: str) -> str:
    high, low = decimal(found.value(leader)), decimal(found.value(other))
    scores = f"{high} against {low} in {found.measure.title}"
    lead = found.lead(leader, other)
    if lead is None:
        return f"{leader} and {other} cannot be compared: {_undefined(found, leader, other)}."
    if found.value(leader) == found.value(other):
        return f"{leader} and {other} score the same: {high} in {found.measure.title}."
    chance, p = _chance(found, leader, other)
    if chance.problem:
        return (
            f"{leader} leads {other}, {scores}; {_holds(lead)}. Whether chance did it is not known: {chance.problem}."
        )
    said = probability(p) + UNSURE * bool(chance.warnings)
    if p < 1 - chance.confidence_level:
        return f"{leader} beats {other}, {scores}; {_holds(lead)}, and {said}."
    ahead = _stays(lead, leader)
    return f"{leader} leads {other}, {scores}, but chance could have done it: {said}. On these rows {ahead}."


def _chance(found: Findings, leader: str, other: str) -> tuple[Any, float]:
    """Comparison of a pair, and its p-value corrected for the number of pairs."""
    assert found.comparisons is not None
    pairs = found.comparisons.pairs
    pair = (leader, other) if (leader, other) in pairs else (other, leader)
    return pairs[pair], found.comparisons.p_adjusted[pair]


def _holds(lead: Radius) -> str:
    if not lead.safe > 0:
        return "we could not prove that this lead survives even a small change of the weights"
    return f"this holds for any reweighting up to ±{share(lead.safe)}"


def _stays(lead: Radius, leader: str) -> str:
    if not lead.safe > 0:
        return _holds(lead)
    return f"{leader} stays ahead for any reweighting up to ±{share(lead.safe)}"


def _of_others(found: Findings, leader: str, others: list[str]) -> str:
    apart = [x for x in others if found.comparisons is not None and found.comparisons.told_apart(leader, x)]
    leads = [lead for x in others if (lead := found.lead(leader, x)) is not None]
    against = "all others" if len(apart) == len(others) else _listed(apart) if apart else "none of the others"
    unsure = any(_chance(found, leader, x)[0].warnings for x in apart)
    if len(leads) < len(others):
        rank = _undefined(found, leader, *others)
    elif (safe := min(lead.safe for lead in leads)) > 0:
        rank = f"it leads all for any reweighting up to ±{share(safe)}"
    else:
        rank = "we could not prove that it leads all of them after even a small change of the weights"
    return f"{leader} is told apart from {against}{UNSURE * unsure}; {rank}."


def _undefined(found: Findings, *names: str) -> str:
    return f"{found.measure.title} is undefined for {_listed([x for x in names if found.curves[x] is None])}"


def _thresholds(found: Findings) -> list[str]:
    said = []
    for name, lead in found.radii.items():
        if lead is not None:
            of = "" if found.comparisons is None else f"{name}: "
            holds = f" for any reweighting up to ±{share(lead.safe)}" if lead.safe > 0 else f", but {UNPROVED}"
            said.append(f"{of}{lead.statement}{holds}.")
    return said


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

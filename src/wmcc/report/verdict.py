"""The answer of a report, in a sentence or two that hold."""

from __future__ import annotations

from ..inference.comparison import Difference, probability
from ..mapping.accuracy import MapAccuracy
from ..mapping.estimates import Estimate
from ..present.text import decimal, heaviest, listed, number, percent, share
from ..robustness.certificate import Certificate
from ..robustness.radii import UNPROVED, Radius
from .findings import EPS_DIGITS, Findings

NAMED = 8
"""Classes whose areas are in the answer: of more, the largest."""

UNSURE = " (unreliable: see the warnings)"


def verdict(found: Findings) -> list[str]:
    """What was found: a sentence to begin with, and more if there is more."""
    if found.maps:
        return _of_maps(found)
    if found.comparisons is None:
        return [*_expected(found), *_of_one(found)]
    return _expected(found) + _of_several(found)


def _of_several(found: Findings) -> list[str]:
    """Say which prediction leads, and what holds for other weights."""
    leader, second, *others = found.best_first
    sentences = [_of_two(found, leader, second)]
    if others and not found.undefined(leader):
        sentences.append(_of_others(found, leader, [second, *others]))
    return sentences + _statements(found) + _within_bounds(found, leader, second)


def _of_maps(found: Findings) -> list[str]:
    """Say in the words of maps how accurate each is, and how large the classes are; then which map leads."""
    maps = {name: f"{percent(x.overall_accuracy.value)}{_ends(found, x)}" for name, x in found.maps.items()}
    first = next(iter(found.maps.values()))
    if found.comparisons is None:
        said = [f"Overall accuracy is {next(iter(maps.values()))}.", *_areas(first)]
        bounded = [_bounded(found.measure.title, x) for x in found.bounded.values() if not x.problem]
        return [*_expected(found), *said, *_statements(found), *bounded]
    each = listed([f"{name} {text}" for name, text in maps.items()])
    return [*_expected(found), f"Overall accuracy: {each}.", *_areas(first), *_of_several(found)]


def _ends(found: Findings, own: MapAccuracy) -> str:
    """Say how far overall accuracy may be off."""
    x = own.overall_accuracy
    if x.known:
        return ", counted on the whole map"
    if x.problem:
        return f"; its interval cannot be estimated, since {x.problem}"
    where = "on other land like this, " if own.counted else ""
    return f" ({where}{found.level} {percent(x.low)} to {percent(x.high)}{UNSURE * bool(x.warnings)})"


def _areas(own: MapAccuracy) -> list[str]:
    """Say how large the classes are, if their areas are known to be such."""
    if own.areas_are_counts and not own.counted:
        return []
    unit = f" {own.unit}" if own.unit else " pixels" * own.areas_are_counts
    shown = [own.classes[k] for k in heaviest([c.area.value for c in own.classes], NAMED)]
    sizes = "; ".join(f"{c.label}: {own.area_text(c.area.value)}{unit}{_ends_of_area(own, c.area)}" for c in shown)
    more = len(own.classes) - len(shown)
    rest = f" The other {more:,} classes are in the table." if more else ""
    how = "Areas, counted in the reference" if own.counted else f"Estimated areas, with {own.level}s"
    rest += " * Unreliable: see the warnings." if any(c.area.warnings for c in shown) else ""
    return [f"{how} — {sizes}.{rest}"]


def _ends_of_area(own: MapAccuracy, x: Estimate) -> str:
    if x.known:
        return ""
    return (
        " (not estimable)"
        if x.problem
        else f" ({own.area_text(x.low)} to {own.area_text(x.high)})" + " *" * bool(x.warnings)
    )


def _expected(found: Findings) -> list[str]:
    """Say what to expect on new data, where a threshold was chosen on these rows and looks better there."""
    if not found.chosen:
        return []
    said = []
    for x in found.thresholds.values():
        of, best = f" of {x.name}" if x.name else "", x.best
        what = f"On new data {found.measure.title}{of} is expected to be {decimal(best.expected)} at the threshold "
        ends = f"{found.level} {decimal(best.low)} to {decimal(best.high)}{UNSURE * bool(best.warnings)}"
        ends = f"its interval cannot be estimated, since {best.problem}" if best.problem else ends
        said.append(f"{what}{number(x.threshold)}, which was chosen on these rows: {ends}.")
    return said


def _within_bounds(found: Findings, leader: str, second: str) -> list[str]:
    """Say what holds for all weights within bounds of their own, if these were given."""
    lead = found.bounded_lead(leader, second)
    return [] if lead is None or lead.problem else [f"For weights within their bounds: {lead.verdict}."]


def _of_one(found: Findings) -> list[str]:
    ((name, score),) = found.scores.items()
    title, value, at = found.measure.title, decimal(found.value(name)), found.range(name, found.eps)
    sampled = score.intervals[found.measure.name]
    rows = f"{found.level} {decimal(sampled.low)} to {decimal(sampled.high)}{UNSURE * bool(sampled.warnings)}"
    rows = f"its interval cannot be estimated, since {sampled.problem}" if sampled.problem else rows
    if at.problem is not None:
        return [f"{title} is set to {value}: {at.problem}."]
    weights = f"{' to '.join(at.ends)} for any change of the weights up to ±{share(at.eps, EPS_DIGITS)}"
    bounded = found.bounded.get(name)
    within = [] if bounded is None or bounded.problem else [_bounded(title, bounded)]
    if found.chosen:  # an interval that ignores the choice would be too good to begin with
        return [f"On these rows {title} is {value}, and {weights}.", *_statements(found), *within]
    return [f"{title} is {value}: {rows}, and {weights}.", *_statements(found), *within]


def _bounded(title: str, found: Certificate) -> str:
    return f"For all weights within their bounds {title} is {' to '.join(found.ends)}."


def _of_two(found: Findings, leader: str, other: str) -> str:
    high, low = decimal(found.value(leader)), decimal(found.value(other))
    scores = f"{high} against {low} in {found.measure.title}"
    lead = found.lead(leader, other)
    if lead is None or found.undefined(leader) or found.undefined(other):
        return f"{leader} and {other} cannot be compared: {_undefined(found, leader, other)}."
    if lead.problem:
        return f"{leader} and {other} score the same: {high} in {found.measure.title}."
    chance, p = _chance(found, leader, other)
    if chance.problem:
        return f"{leader} leads {other}, {scores}; {_holds(lead)}. Its significance is not known: {chance.problem}."
    said = probability(p) + UNSURE * bool(chance.warnings)
    if p < 1 - chance.confidence_level:
        return f"{leader} beats {other}, {scores}; {_holds(lead)}, and {said}."
    ahead = _holds(lead, f"{leader} stays ahead")
    return f"{leader} leads {other}, {scores}, but the difference is not significant: {said}. On these rows {ahead}."


def _chance(found: Findings, leader: str, other: str) -> tuple[Difference, float]:
    """Comparison of a pair, and its p-value corrected for the number of pairs."""
    assert found.comparisons is not None
    pairs = found.comparisons.pairs
    chance = pairs[(leader, other) if (leader, other) in pairs else (other, leader)]
    return chance, chance.p_adjusted


def _holds(lead: Radius, what: str = "this holds") -> str:
    if not lead.safe > 0:
        return "we could not prove that this lead survives even a small change of the weights"
    return f"{what} for any change of the weights up to ±{share(lead.safe)}"


def _of_others(found: Findings, leader: str, others: list[str]) -> str:
    apart = [x for x in others if found.comparisons is not None and found.comparisons.told_apart(leader, x)]
    against = "all others" if len(apart) == len(others) else listed(apart) if apart else "none of the others"
    unsure = any(_chance(found, leader, x)[0].warnings for x in apart)
    safe = min(lead.safe for x in others if (lead := found.lead(leader, x)) is not None)
    if any(map(found.undefined, others)):
        rank = _undefined(found, leader, *others)
    elif safe > 0:
        rank = f"it leads all for any change of the weights up to ±{share(safe)}"
    else:
        rank = "we could not prove that it leads all of them after even a small change of the weights"
    return f"{leader} differs significantly from {against}{UNSURE * unsure}; {rank}."


def _undefined(found: Findings, *names: str) -> str:
    return f"{found.measure.title} is undefined for {listed([x for x in names if found.undefined(x)])}"


def _statements(found: Findings) -> list[str]:
    """Say of each prediction for which weights its score is at least as high as was asked."""
    said = []
    for name, lead in found.radii.items():
        of = "" if found.comparisons is None else f"{name}: "
        holds = f" for any change of the weights up to ±{share(lead.safe)}" if lead.safe > 0 else f", but {UNPROVED}"
        not_so = f"It does not hold that {lead.statement}: {lead.problem}"
        said.append(f"{of}{not_so if lead.problem else lead.statement + holds}.")
    return said

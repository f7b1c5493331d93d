"""Ranges, radii and rankings for people."""

from __future__ import annotations

from collections.abc import Iterable

from ..inference.comparison import Comparison
from ..measures import MEASURES
from ..present.text import decimal, number
from ..robustness.box import Condition
from ..robustness.certificate import Certificate, End
from ..robustness.radius import STOPPED, UNPROVED, Radius
from ..robustness.ranking import Ranking
from .blocks import Block, name_of
from .robust import Found, Ranked

GAPS = "An end with a gap is a bound: it is certain, and a value no further from it than the gap is attained."
BOUNDS = "An end is a bound: no weights cross it, and some come near;"


def of_certificates(found: Found[list[Certificate]]) -> list[Block]:
    """A line for each ε, of each group."""
    rows, ends, conditions = [], [], []
    for key, certificates in found.groups.items():
        names = list(map(name_of, key))
        if certificates is None:
            rows.append([*names, *["—"] * 4])
        for c in certificates or ():
            by = "their bounds" if c.model == "bounds" else off(c.eps, c.model)
            rows.append([*names, by, decimal(c.value), *_ends(c)])
            ends += [c.lower, c.upper]
            eps = "" if c.model == "bounds" else f"ε = {number(c.eps)}"
            conditions.append((", ".join(filter(None, [found.tables.title(key), eps])), c.conditions))
    title = f"Range of {MEASURES[found.asked.measure].title}, whatever the weights"
    head = [*found.tables.columns, "Weights off by", "As weighted", "Lowest", "Highest"]
    notes = [*_reasons(found), *_notes(ends, conditions)]
    return [Block(title, head, rows, notes, texts=len(found.tables.columns) + 1)]


def of_radii(found: Found[Radius]) -> list[Block]:
    """A line for each group."""
    rows = []
    for key, one in found.groups.items():
        cells = ["—"] * 4 if one is None else [one.statement, decimal(one.value), *_radius(one)]
        rows.append([*map(name_of, key), *cells])
    head = [*found.tables.columns, "Statement", "As weighted", "Certain up to", "Broken at"]
    title = "How far each weight may be off"
    notes = [*_reasons(found), *_unsettled([one for one in found.groups.values() if one is not None])]
    return [Block(title, head, rows, notes, texts=len(found.tables.columns) + 1)]


def of_rankings(ranked: Ranked) -> list[Block]:
    """The range of each difference; before it, for more than two, who beats whom."""
    pairs = list(ranked.found.pairs.values())
    first = pairs[0]
    title = f"{MEASURES[first.measure].title}, each weight off by up to {off(first.eps, first.model)}"
    head = ["First", "Second", "First − second", "Lowest", "Highest"]
    rows = [[*scores_of(pair), decimal(pair.difference), *_ends(pair)] for pair in pairs]
    if ranked.with_radius:
        head += ["Certain up to", "Broken at"]
        rows = [[*row, *_radius(pair.radius)] for row, pair in zip(rows, pairs, strict=True)]
    ends = [end for pair in pairs for end in (pair.lower, pair.upper)]
    notes = _notes(ends, ((" and ".join(pair.names) * (len(pairs) > 1), pair.conditions) for pair in pairs))
    notes += _unsettled([pair.radius for pair in pairs]) if ranked.with_radius else []
    if len(pairs) == 1:
        return [Block(title, head, rows, [f"{first.verdict}.", *notes], texts=2)]
    return [_matrix(ranked, f"{title}: what is certain"), Block("", head, rows, notes, texts=2)]


def _matrix(ranked: Ranked, title: str) -> Block:
    names, said = ranked.found.names, {1: "beats", -1: "loses to", 0: "?"}
    rows = [
        [name, *("" if i == j else said[round(x)] for j, x in enumerate(row))]
        for i, (name, row) in enumerate(zip(names, ranked.found.matrix.tolist(), strict=True))
    ]
    return Block(title, ["", *names], rows)


def scores_of(pair: Ranking | Comparison) -> list[str]:
    """Both classifiers with their scores."""
    return [f"{name} {decimal(value)}" for name, value in zip(pair.names, pair.values, strict=True)]


def off(eps: float, model: str) -> str:
    """How far weights are off."""
    return f"{number(100 * eps)} %" if model == "relative" else number(eps)


def _ends(found: Certificate | Ranking) -> list[str]:
    sides = zip(found.ends, (found.lower, found.upper), strict=True)
    return [f"{text} {'attained' if end.exact else f'gap {end.gap:.2g}'}" for text, end in sides]


def _radius(one: Radius) -> list[str]:
    safe, broken = one.ends
    return [safe, broken or "—"]


def _unsettled(radii: list[Radius]) -> list[str]:
    """Say where a search stopped before it had narrowed a radius, and where nothing could be proved."""
    counts = (
        (sum(one.stopped for one in radii), f"{STOPPED}; more --nodes may prove it further."),
        (sum(not one.safe > 0 for one in radii), f"{UNPROVED}."),
    )
    where = "In {:,} of " + f"{len(radii):,} lines "
    return [said.capitalize() if len(radii) == 1 else where.format(count) + said for count, said in counts if count]


def _reasons(found: Found[list[Certificate]] | Found[Radius]) -> list[str]:
    return [note for notes in found.notes.values() for note in notes]


def span(found: Certificate | Ranking | None) -> str:
    """A range beside an interval, in one cell: a dagger says that an end is a bound."""
    if found is None:
        return "—"
    return " to ".join(found.ends) + " †" * (not _exact(found))


def notes_of_spans(found: Iterable[tuple[str, Certificate | Ranking]], command: str) -> list[str]:
    """What to know of such ranges; ``command`` is the one that says more."""
    found = list(found)
    notes = [] if all(_exact(one) for _, one in found) else [f"† {BOUNDS} `wmcc {command}` says how near."]
    return notes + _unmet((where, one.conditions) for where, one in found)


def _exact(found: Certificate | Ranking) -> bool:
    return found.lower.exact and found.upper.exact


def _notes(ends: list[End], conditions: Iterable[tuple[str, tuple[Condition, ...]]]) -> list[str]:
    """What to know of bounds, and where something that a range rests on does not hold."""
    return [*([] if all(end.exact for end in ends) else [GAPS]), *_unmet(conditions)]


def _unmet(conditions: Iterable[tuple[str, tuple[Condition, ...]]]) -> list[str]:
    unmet: dict[str, list[str]] = {}
    for where, these in conditions:
        for condition in these:
            if not condition.met:
                unmet.setdefault(condition.sentence, []).append(where)
    notes = []
    for sentence, places in unmet.items():
        where = "; ".join(dict.fromkeys(filter(None, places)))
        notes.append(f"Not so {f'for {where}' if where else 'here'}: {sentence}.")
    return notes

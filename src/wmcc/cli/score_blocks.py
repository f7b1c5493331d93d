"""Scores for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..measures import CLASS_MEASURES, MEASURES
from ..present.text import decimal, heaviest, number
from ..results.score import Score
from .blocks import Block, name_of, shown
from .robust_blocks import notes_of_spans, off, span
from .scores import Scored, Scores

MOST_LISTED = 100
"""Classes that are listed: the heaviest."""


class Beside(NamedTuple):
    """What is shown beside the values of measures: in a column of one score, in a block of all groups."""

    head: str
    title: str
    cell: Callable[[Scored, str], str]


def of_scores(scores: Scores) -> list[Block]:
    """The measures and the classes of one score; or a line for each group."""
    blocks = _groups(scores) if scores.by else [_overall(scores), _classes(scores.groups[()])]
    blocks[-1].notes = shown(_notes(scores))
    return blocks


def interval_head(level: float) -> str:
    """What a column of intervals is called."""
    return f"{number(100 * level)} % interval"


def _beside(scores: Scores) -> list[Beside]:
    head = interval_head(scores.level)
    found = [Beside(head, f"{head}s", _interval)]
    if scores.off is not None:
        weights = f"eights off by {off(scores.off.eps[0], scores.off.model)}"
        found.append(Beside(f"W{weights}", f"Ranges with w{weights}", lambda one, name: span(one.ranges.get(name))))
    return found


def _interval(one: Scored, name: str) -> str:
    known = {} if one.score is None else one.score.intervals
    return known[name].ends if name in known else "—"


def _overall(scores: Scores) -> Block:
    one, beside = scores.groups[()], _beside(scores)
    clusters = None if one.score is None else one.score.cluster_count
    rows = []
    for measure in MEASURES.values():
        value = getattr(one.score, measure.name)
        if value is not None:
            rows.append([measure.title, decimal(value), *(x.cell(one, measure.name) for x in beside)])
    counts = [["Rows", f"{one.table.rows:,}"]]
    counts += [["Rows ignored", f"{one.table.ignored:,}"]] if one.table.ignored else []
    counts += [] if clusters is None else [["Clusters", f"{clusters:,}"]]
    counts += [["Total weight", number(one.table.total)]]
    counts += [] if one.score is None else [["Effective sample size", number(one.score.n_eff)]]
    rows += [[*row, *[""] * len(beside)] for row in counts]
    return Block(head=["Measure", "Value", *(x.head for x in beside)], rows=rows)


def _classes(one: Scored) -> Block:
    rows, known = [], one.score.classes if one.score else ()
    for c in (known[k] for k in heaviest([c.weight for c in known], MOST_LISTED)):
        positive = one.table.positive is not None and c.label == one.table.positive
        values = (decimal(getattr(c, name)) for name in CLASS_MEASURES)
        rows.append([name_of(c.label) + " (positive)" * positive, f"{c.n:,}", number(c.weight), *values])
    head = ["Class", "Rows", "Weight", *(m.title for m in CLASS_MEASURES.values())]
    many = len(known) > MOST_LISTED
    return Block(f"The {MOST_LISTED} heaviest of {len(known):,} classes; --format csv lists all." * many, head, rows)


def _groups(scores: Scores) -> list[Block]:
    """The values of each group, and a block alike for what stands beside them."""
    groups, texts = scores.groups.values(), len(scores.by)
    ways = [one.score for one in groups if one.score is not None]
    measures = [m for m in MEASURES.values() if any(getattr(score, m.name) is not None for score in ways)]
    head = [*scores.by, *(m.title for m in measures)]
    ignored, clusters = any(one.table.ignored for one in groups), scores.tables.drawn.kind == "clusters"
    counted = ["Rows", *["Ignored"] * ignored, *["Clusters"] * clusters, "Weight", "Eff. size"]
    rows = []
    for key, one in scores.groups.items():
        values = [None if one.score is None else getattr(one.score, m.name) for m in measures]
        counts = [f"{one.table.rows:,}", *[f"{one.table.ignored:,}"] * ignored]
        counts += [f"{(one.score and one.score.cluster_count) or 0:,}"] * clusters
        counts += [number(one.table.total), "—" if one.score is None else number(one.score.n_eff)]
        rows.append([*map(name_of, key), *("—" if x is None else decimal(x) for x in values), *counts])
    blocks = [Block(head=[*head, *counted], rows=rows, texts=texts)]
    for _, title, cell in _beside(scores):
        lines = [[*map(name_of, key), *(cell(one, m.name) for m in measures)] for key, one in scores.groups.items()]
        blocks.append(Block(title, head, lines, texts=texts))
    return blocks


def _notes(scores: Scores) -> list[str]:
    """What was found to be noted of each group, of its weights and its intervals; then of all ranges."""
    notes: list[str] = []
    ranges = []
    for key, one in scores.groups.items():
        title = scores.tables.title(key)
        notes += one.notes
        if one.score is not None:
            notes += _in_short(title, one.score) if title else one.score.warnings
        ranges += [(title, found) for found in one.ranges.values()]
    return [*notes, *notes_of_spans(ranges, "certify")]


def _in_short(title: str, score: Score) -> list[str]:
    """Warnings of a group among others, on a line: all of the weights, and the first of the intervals."""
    weights = score.diagnosis.warnings
    intervals = score.warnings[len(weights) :]
    more = len(intervals) - 1
    parts = [f"Weights: {'; '.join(weights)}."] if weights else []
    parts += [*intervals[:1], *([f"--format json has {more:,} more."] if more > 0 else [])]
    return [f"{title}: {' '.join(parts)}"] if parts else []

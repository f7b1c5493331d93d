"""Comparisons for people."""

from __future__ import annotations

from ..inference.comparison import p_cell
from ..inference.interval import why_unsure
from ..measures import MEASURES
from ..present.text import decimal, number
from ..results.uncertainty import Uncertainty
from .blocks import Block, shown
from .comparisons import Compared, Pair
from .robust_blocks import notes_of_spans, off, scores_of, span
from .score_blocks import interval_head


def of_comparisons(compared: Compared) -> list[Block]:
    """The difference of each pair; before it, for more than two, their ranking."""
    pairs, asked = compared.found.pairs, compared.asked
    several = len(pairs) > 1
    clusters = next(iter(pairs.values())).clusters
    title = f"Difference of {MEASURES[asked.measure].title}"
    title += "" if clusters is None else f", rows in {clusters:,} clusters"
    head = ["First", "Second", "First − second", interval_head(asked.level), "p"]
    head += ["p (Holm)"] if several else []
    head += [] if asked.margin is None else [f"p (margin {number(asked.margin)})"]
    head += [] if asked.off is None else [f"Weights off by {off(asked.off.eps[0], asked.off.model)}"]
    block = Block(title, head, [_row(compared, pair) for pair in pairs], texts=2)
    if not several:
        block.notes = [*_verdicts(compared, next(iter(pairs))), *_notes(compared)]
        return [block]
    block.notes = shown(_notes(compared))
    return [_ranking(compared), block]


def _ranking(compared: Compared) -> Block:
    rows = [[name, ", ".join(others) or "—", decimal(x)] for name, x, others in compared.found.ranking]
    return Block(head=["Ranking", "Not told apart from", MEASURES[compared.asked.measure].title], rows=rows, texts=2)


def _row(compared: Compared, pair: Pair) -> list[str]:
    found, several = compared.found.pairs[pair], len(compared.found.pairs) > 1
    row = [*scores_of(found), decimal(found.difference), found.ends, p_cell(found.p_value)]
    row += [p_cell(compared.found.p_adjusted[pair])] if several else []
    row += [] if compared.asked.margin is None else [p_cell(found.p_noninferior)]
    return row + ([] if compared.asked.off is None else [span(compared.ranges[pair])])


def _verdicts(compared: Compared, pair: Pair) -> list[str]:
    found, ranking = compared.found.pairs[pair], compared.ranges.get(pair)
    verdict = found.verdict if ranking is None else Uncertainty(found, ranking).verdict
    return [f"{sentence}." for sentence in (verdict, found.noninferiority) if sentence]


def _notes(compared: Compared) -> list[str]:
    several = len(compared.found.pairs) > 1
    ranges = ((" and ".join(pair) * several, x) for pair, x in compared.ranges.items() if x is not None)
    titled = {" − ".join(pair): found for pair, found in compared.found.pairs.items()}
    return [*why_unsure(titled), *notes_of_spans(ranges, "rank")]

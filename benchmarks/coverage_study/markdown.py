"""Tables in Markdown, and the words in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import wmcc
import wmcc.measures


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Table whose first column is words and whose others are numbers."""
    rule = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join([f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)])


def percent(part: float, whole: float) -> str:
    """Share in per cent, to a decimal."""
    return f"{100 * part / whole:.1f}" if whole else "—"


def against(figure: float, low: float, high: float = 100.0) -> str:
    """Percentage to a decimal, in bold where it misses its bar."""
    return f"{figure:.1f}" if low <= figure <= high else f"**{figure:.1f}**"


def title(measure: str) -> str:
    """Name of a measure, for people."""
    if measure in wmcc.measures.MEASURES:
        return wmcc.measures.MEASURES[measure].title.removesuffix(" (R_K)")
    return f"{wmcc.measures.CLASS_MEASURES[measure.removeprefix('class ')].title} of the smallest class"

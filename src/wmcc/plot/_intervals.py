"""How scores with intervals are drawn, a line each: those that can be relied on, and those that cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..inference.estimate import Interval
from ..present.text import number
from . import _style as style

RELIABLE, UNRELIABLE, NOT_ESTIMABLE, UNDEFINED = "reliable", "unreliable", "not estimable", "undefined"
KNOWN = "known"

MARKS: dict[str, dict[str, Any]] = {
    RELIABLE: {"marker": "o"},
    UNRELIABLE: {"marker": "o", "markerfacecolor": "white"},
    NOT_ESTIMABLE: {"marker": "x"},
    KNOWN: {"marker": "o"},
}
"""Full, open, or a cross: told apart in print too."""

LINES: dict[str, dict[str, Any]] = {RELIABLE: {}, UNRELIABLE: {"linestyle": (0, (3, 1.5))}}


def status(found: Interval) -> str:
    """Return how far an interval can be relied on; ``"undefined"`` where there is no score either.

    An undefined score counts as 0, so it is the problem that tells.
    """
    return UNDEFINED if np.isnan(found.value) or "is undefined" in (found.problem or "") else found.status


def lacking(found: Interval) -> str:
    """Say what there is no interval of, or no score."""
    how = status(found)
    return {NOT_ESTIMABLE: "interval not estimable", UNDEFINED: "undefined"}.get(how, "")


def draw(ax: Any, found: Sequence[Interval], height: float) -> None:
    """Draw scores with their intervals, on lines so many points high."""
    size = min(6.0, height)
    for line, one in enumerate(found):
        if (how := status(one)) == UNDEFINED:
            continue
        if how not in (NOT_ESTIMABLE, KNOWN):
            ends = {"color": style.BLUE, "linewidth": size / 4, "marker": "|", "markersize": size}
            ax.plot([one.low, one.high], [line, line], **ends, **LINES[how])
        ax.plot([one.value], [line], color=style.BLUE, markersize=size, linestyle="none", zorder=3, **MARKS[how])


def legend(found: Sequence[Interval]) -> str:
    """Say what is drawn."""
    kinds = {status(one) for one in found}
    level = f"{number(100 * found[0].confidence_level)} % intervals"
    return (
        level + "; open: unreliable" * (UNRELIABLE in kinds) + "; ×: interval not estimable" * (NOT_ESTIMABLE in kinds)
    )


def span(found: Sequence[Interval]) -> tuple[float, float]:
    """Return limits that hold all scores and intervals, and a little room."""
    ends = [x for one in found if status(one) != UNDEFINED for x in (one.low, one.value, one.high) if x == x]
    least, most = (min(ends), max(ends)) if ends else (0.0, 1.0)
    room = 0.05 * ((most - least) or 1.0)
    return least - room, most + room

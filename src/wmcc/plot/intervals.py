"""How scores with intervals are drawn, a line each: those that can be relied on, and those that cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..inference import Interval
from ..text import number
from . import style

RELIABLE, UNRELIABLE, NOT_ESTIMABLE, UNDEFINED = "reliable", "unreliable", "not estimable", "undefined"

MARKS: dict[str, dict[str, Any]] = {
    RELIABLE: {"marker": "o"},
    UNRELIABLE: {"marker": "o", "markerfacecolor": "white"},
    NOT_ESTIMABLE: {"marker": "x"},
}
"""Full, open, or a cross: told apart in print too."""

LINES: dict[str, dict[str, Any]] = {RELIABLE: {}, UNRELIABLE: {"linestyle": (0, (3, 1.5))}}


def status(found: Interval) -> str:
    """Return how far an interval can be relied on; ``"undefined"`` where there is no score either."""
    return UNDEFINED if np.isnan(found.value) else found.status


def lacking(found: Interval) -> str:
    """Say what there is no interval of, or no score."""
    how = status(found)
    return {NOT_ESTIMABLE: "interval not estimable", UNDEFINED: "undefined"}.get(how, "")


def draw(ax: Any, found: Sequence[Interval]) -> None:
    """Draw scores with their intervals, the first on line 0."""
    for line, one in enumerate(found):
        if (how := status(one)) == UNDEFINED:
            continue
        if how != NOT_ESTIMABLE:
            ax.plot([one.low, one.high], [line, line], color=style.BLUE, linewidth=1.6, **LINES[how])
        ax.plot([one.value], [line], color=style.BLUE, markersize=6, linestyle="none", zorder=3, **MARKS[how])


def legend(found: Sequence[Interval]) -> str:
    """Say what is drawn."""
    kinds = {status(one) for one in found}
    level = f"{number(100 * found[0].confidence_level)} % intervals"
    return (
        level + "; open: unreliable" * (UNRELIABLE in kinds) + "; ×: interval not estimable" * (NOT_ESTIMABLE in kinds)
    )


def span(found: Sequence[Interval]) -> tuple[float, float]:
    """Return limits that hold all scores and intervals, and a little room."""
    ends = np.array([[one.low, one.value, one.high] for one in found])
    least, most = (float(x) for x in (np.nanmin(ends), np.nanmax(ends))) if np.isfinite(ends).any() else (0.0, 1.0)
    room = 0.05 * ((most - least) or 1.0)
    return least - room, most + room

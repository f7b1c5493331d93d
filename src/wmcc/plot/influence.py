"""Which cells' weights a score depends on."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..measures import MEASURES
from ..robustness import Sensitivity
from . import style

HALF = 18
"""Characters of either class in the name of a cell."""


def influence(sensitivity: Sensitivity, most: int = 15, *, ax: Any = None) -> Any:
    """Draw how a score moves with the weights of each cell: right where more weight raises it, left where it lowers it.

    Parameters
    ----------
    sensitivity
        What `wmcc.sensitivity` returns.
    most
        How many cells to draw; those that matter most come first.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import plot
    >>> table = wmcc.Table.from_counts([[50, 3], [2, 45]], ["field", "forest"])
    >>> ax = plot.influence(wmcc.sensitivity(table, "mcc"))
    >>> ax.get_yticklabels()[0].get_text(), round(ax.patches[0].get_width(), 4)
    ('field → forest', -0.056)
    """
    style.expected(sensitivity, Sensitivity, "a Sensitivity", "wmcc.sensitivity(table, measure) returns one.")
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise InputError(f"most is {str(most)[:40]!r}; expected a number of cells, at least 1.")
    cells, rest = sensitivity.cells[:most], sensitivity.cells[most:]
    place = dict(zip(sensitivity.labels, style.names(sensitivity.labels, HALF), strict=True))
    ax, roomy = style.lines(ax, [f"{place[c.true]} → {place[c.pred]}" for c in cells])
    effects = [c.effect for c in cells]
    ax.barh(range(len(cells)), effects, height=0.7, color=[style.BLUE if x > 0 else style.RED for x in effects])
    for line, cell in enumerate(cells if roomy else ()):
        style.beside(ax, line, f"{style.compact(cell.n)} row{'s' * (cell.n != 1)}, {style.percent(cell.share)}")
    reach = 1.05 * max(map(abs, effects), default=0.0) or 1.0
    ax.set_xlim(-reach if min(effects) < 0 else 0, reach if max(effects) > 0 else 0)
    ax.axvline(0, color=style.GREY, linewidth=0.8)
    title = MEASURES[sensitivity.measure].title
    ax.set_xlabel(f"change of {title} if the weights of the cell grow by 100 %, to first order", fontsize=style.TEXT)
    left = style.percent(sum(c.share for c in rest))
    more = f"; {len(rest):,} more cells have {left}" if rest else ""
    style.titled(ax, f"Which weights {title} depends on", f"true → predicted; share of all influence{more}")
    return ax

"""Which cells' weights a score depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..measures import MEASURES
from ..measures.checks import whole_number
from ..present.text import percent
from ..robustness.sensitivities import Sensitivity
from . import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HALF = 18
"""Characters of either class in the name of a cell."""

ROUNDING = 1e-12
"""Effects below this are rounding errors."""


def influence(sensitivity: Sensitivity, most: int = 15, *, ax: Axes | None = None) -> Axes:
    """Draw how a score moves with the weights of each cell: right where more weight raises it, left where it lowers it.

    Effects are to first order: what doubling the weights of a cell would do if the score went on as it begins.

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
    >>> ax.get_yticklabels()[0].get_text(), f"{ax.patches[0].get_width():.4f}"
    ('field → forest', '-0.0560')
    """
    style.expected(sensitivity, Sensitivity, "a Sensitivity", "wmcc.sensitivity(table, measure) returns one.")
    most = whole_number(most, "most", 1)
    cells, rest = sensitivity.cells[:most], sensitivity.cells[most:]
    place = dict(zip(sensitivity.labels, style.names(sensitivity.labels, HALF), strict=True))
    labels = [f"{place[c.true]} → {place[c.pred]}" for c in cells]
    notes = [f"{style.rows(c.n)}, {percent(c.share)}" for c in cells]
    if rest:
        labels.append(f"{len(rest):,} more cells")
        notes.append(percent(sum(c.share for c in rest)))
    title, effects = MEASURES[sensitivity.measure].title, [c.effect for c in cells]
    reach = 1.05 * max(map(abs, effects))
    if flat := reach < ROUNDING:
        reach, notes = 1.0, []
    ax, _ = style.lines(ax, f"change of {title} per 100 % more weight", labels, notes)
    ax.barh(range(len(cells)), effects, height=0.7, color=[style.BLUE if x > 0 else style.RED for x in effects])
    ax.set_xlim(-reach if flat or min(effects) < 0 else 0, reach if flat or max(effects) > 0 else 0)
    ax.axvline(0, color=style.GREY, linewidth=0.8)
    what = "no cell's weights move it, to first order" if flat else "true → predicted; rows, share of all influence"
    style.titled(ax, f"Which weights {title} depends on", what)
    return ax

"""The classes of a score, each with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InputError
from ..measures import CLASS_MEASURES
from ..present.text import brief, heaviest
from ..results.scores import Score
from . import _intervals as intervals
from . import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def classes(score: Score, measure: str = "mcc", *, sort: bool = False, ax: Axes | None = None) -> Axes:
    """Draw a measure of each class against the rest, as bars with intervals; of more than 500, the heaviest.

    Parameters
    ----------
    score
        What `wmcc.score` returns.
    measure
        A name of `wmcc.measures.CLASS_MEASURES`.
    sort
        Whether the highest comes first; by default classes stand in the order of the table.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import plot
    >>> score = wmcc.score(wmcc.Table.from_counts([[80, 12, 3], [9, 99, 1], [4, 2, 60]], ["field", "forest", "water"]))
    >>> ax = plot.classes(score, "recall", sort=True)
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['water', 'forest', 'field']
    """
    style.expected(score, Score, "a Score", "wmcc.score(table) returns one.")
    if not isinstance(measure, str) or measure not in CLASS_MEASURES:
        raise InputError(f"`measure` is {brief(measure)}; a class has {', '.join(map(repr, CLASS_MEASURES))}.")
    shown = heaviest([c.total for c in score.classes], style.MOST)
    names = style.names([score.classes[k].label for k in shown])
    found = list(zip(names, (score.class_intervals[measure][k] for k in shown), strict=True))
    if sort:
        found.sort(key=lambda x: (x[1].value != x[1].value, -x[1].value))
    labels, own = [x[0] for x in found], [x[1] for x in found]
    title = CLASS_MEASURES[measure].title
    ax, height = style.lines(ax, title, labels, [intervals.lacking(x) for x in own])
    ax.barh(range(len(own)), [x.value for x in own], height=0.7, color=style.SKY, alpha=0.45)
    intervals.draw(ax, own, height)
    least, most = intervals.span(own)
    ax.set_xlim(min(0.0, least), max(1.0, most))
    ax.axvline(0, color=style.GREY, linewidth=0.8)
    style.titled(ax, f"{title} of each class", intervals.legend(own), style.part(len(own), len(score.classes)))
    return ax

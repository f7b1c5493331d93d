"""The areas of the classes of a map: as they are mapped, and as they are by the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..mapping.accuracy import MapAccuracy
from ..present.text import heaviest
from . import _intervals as intervals
from . import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def areas(accuracy: MapAccuracy, *, sort: bool = False, ax: Axes | None = None) -> Axes:
    """Draw the area of each class: a bar as large as it is mapped, and on it the estimate with its interval.

    Of a whole map the areas by the reference are counted, and have no interval. Of more than 500 classes the largest
    are drawn.

    Parameters
    ----------
    accuracy
        What `wmcc.map_accuracy` returns.
    sort
        Whether the largest comes first; by default classes stand in the order of the table.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import plot
    >>> sizes = {"bog": 800.0, "fen": 4200.0}
    >>> table = wmcc.Table.from_counts([[60, 9], [4, 91]], ["bog", "fen"], population=sizes)
    >>> ax = plot.areas(wmcc.map_accuracy(table, unit="ha"))
    >>> ax.get_xlabel(), [name.get_text() for name in ax.get_yticklabels()]
    ('area, ha', ['bog', 'fen'])
    """
    style.expected(accuracy, MapAccuracy, "a MapAccuracy", "wmcc.map_accuracy(table) returns one.")
    every = accuracy.classes
    shown = [every[k] for k in heaviest([c.area.value + c.mapped_area for c in every], style.MOST)]
    if sort:
        shown.sort(key=lambda c: -c.area.value)
    own = [c.area for c in shown]
    notes = [intervals.lacking(x) for x in own]
    unit = f"area, {accuracy.unit}" if accuracy.unit else "area"
    ax, height = style.lines(ax, unit, style.names([c.label for c in shown]), notes)
    ax.barh(range(len(shown)), [c.mapped_area for c in shown], height=0.7, color=style.SKY, alpha=0.45)
    intervals.draw(ax, own, height)
    most = max(*(c.mapped_area for c in shown), intervals.span(own)[1])
    ax.set_xlim(0, 1.02 * most)
    ax.xaxis.set_major_formatter(lambda x, _: style.compact(x))
    dots, level = ("reference, counted", "") if accuracy.counted else ("estimated", intervals.legend(own))
    what = "Area of each class", f"bars: mapped; dots: {dots}"
    style.titled(ax, *what, level, style.part(len(shown), len(every)))
    return ax

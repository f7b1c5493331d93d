"""Where a map is wrong."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arraytypes import Array
from ..mapping.error_map import ErrorMap
from ..optional import module
from ..present.colours import OUTLINE, css, on_white
from ..report.maps import Painting, Show, borders, checked_show, painted
from . import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGER, HEAD, NOTES, LETTER = 5.2, 0.6, 0.5, 0.08
"""Inches of a new figure: the longer side of the map, the room above and below it, and a letter of the legend."""

MOST_NAME = 30
"""Letters of a name in the legend."""

MARKS = {"right": ("o", 14), "wrong": ("X", 26), "added": ("P", 26)}
"""Marks of points, and their sizes: errors differ from what is right by more than their colour."""


def map(error_map: ErrorMap, *, show: Show = "errors", ax: Axes | None = None) -> Axes:  # noqa: A001
    """Draw a map: where it is wrong, its classes, or those of the reference; with a scale bar and a legend.

    Parameters
    ----------
    error_map
        What `wmcc.error_map` returns.
    show
        ``"errors"``: right and wrong, the stronger the colour the larger the share of a cell that is wrong; of one
        class (``wmcc.error_map(..., of="forest")``), what is missed and what is wrongly mapped as it. ``"true"`` or
        ``"pred"``: the classes of the reference, or of the map.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import plot
    >>> found = wmcc.error_map([["field", "sea"], ["field", "sea"]], [["field", "sea"], ["sea", "sea"]])
    >>> ax = plot.map(found)
    >>> [x.get_text() for x in ax.get_legend().get_texts()]
    ['right  75.0 %', 'wrong  25.0 %']
    """
    style.expected(error_map, ErrorMap, "an ErrorMap", "wmcc.error_map(y_true, y_pred) returns one.")
    painting = painted(error_map, checked_show(show))
    ax = style.axes(ax, _size(error_map, painting), "compressed")
    left, right, bottom, top = error_map.extent
    colours = np.array([on_white(x) for x in painting.palette], dtype=np.uint8)
    if error_map.points is None:
        ax.imshow(colours[painting.codes], extent=error_map.extent, interpolation="nearest", origin="upper")
        _outlines(ax, error_map)
        marks: list[str] = []
    else:
        if painting.below is not None:
            ax.imshow(colours[painting.below], extent=error_map.extent, interpolation="nearest", origin="upper")
        marks = _scatter(ax, error_map, painting, colours, show)
    ax.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[])
    ax.set_aspect(error_map.aspect)
    _legend(ax, painting, marks)
    _scale_bar(ax, error_map)
    style.titled(ax, style.name(painting.title, 60), painting.said if show == "errors" else "")
    wide = style.room(ax)[0] / (0.52 * style.SMALL)
    notes = fill(" ".join(error_map.notes), max(30, int(wide))).replace("$", r"\$")
    ax.set_xlabel(notes, fontsize=style.SMALL, color=style.NOTE, loc="left")
    return ax


def _size(found: ErrorMap, painting: Painting) -> tuple[float, float]:
    """Size of a new figure, in inches."""
    legend = 0.6 + LETTER * max(min(len(key.name), MOST_NAME) + len(key.said) + 2 for key in painting.legend)
    left, right, bottom, top = found.extent
    wide, high = right - left, abs(top - bottom) * found.aspect
    scale = LONGER / max(wide, high)
    return max(2.0, wide * scale) + legend, max(1.6, high * scale) + HEAD + NOTES


def _scatter(ax: Any, found: ErrorMap, painting: Painting, colours: Any, show: Show) -> list[str]:
    """Draw points, errors above the others; return the mark of each key of the legend."""
    known = ~np.isnan(found.wrong)
    kinds = np.where(found.wrong > 0, 1, 0)
    if show == "errors" and found.missed is not None:
        kinds = np.where((found.wrong > 0) & (found.missed == 0), 2, kinds)
    if show != "errors":
        kinds = np.zeros_like(kinds)
    assert found.points is not None
    for kind, (mark, size) in enumerate(MARKS.values()):
        own = known & (kinds == kind)
        xy, paint = found.points[own], colours[painting.codes[own]] / 255
        edge = {"linewidths": 0.4, "edgecolors": "white" if kind else style.GREY}
        if painting.below is not None:
            edge = {"linewidths": 0.7, "edgecolors": [colours[-2] / 255]}
        ax.scatter(xy[:, 0], xy[:, 1], s=size, c=paint, marker=mark, zorder=2 + kind, **edge)
    if show != "errors":
        return ["o"] * len(painting.legend)
    return ["X", "P", "o", "o", "o"] if found.of is not None else ["o", "X", "o"]


def _outlines(ax: Any, found: ErrorMap) -> None:
    """Draw the borders of parcels, between cells that show different ones."""
    if found.parcels is None or borders(found) is None:
        return
    left, right, bottom, top = found.extent
    across = _steps(found.parcels, (left, right), (top, bottom))
    along = _steps(found.parcels.T, (top, bottom), (left, right))[:, :, ::-1]
    lines = module("matplotlib.collections").LineCollection(
        np.concatenate([across, along]), colors=css(on_white(OUTLINE)), linewidths=0.5
    )
    ax.add_collection(lines)


def _steps(parcels: Array, x: tuple[float, float], y: tuple[float, float]) -> Array:
    """Return lines between rows of cells with different parcels: of each both ends, and of these both coordinates."""
    differ = np.pad(np.diff(parcels, axis=0) != 0, ((0, 0), (1, 1))).astype(np.int8)
    (row, start), (_, stop) = (np.nonzero(np.diff(differ, axis=1) == step) for step in (1, -1))
    high, wide = parcels.shape
    level = y[0] + (row + 1) * (y[1] - y[0]) / high
    return np.stack([np.column_stack([x[0] + k * (x[1] - x[0]) / wide, level]) for k in (start, stop)], axis=1)


def _legend(ax: Any, painting: Painting, marks: list[str]) -> None:
    """Say what the colours mean, at the right."""
    lines, patches = module("matplotlib.lines"), module("matplotlib.patches")
    handles = []
    for k, key in enumerate(painting.legend):
        said = f"{style.name(key.name, MOST_NAME)}  {key.said}".rstrip()
        shade = tuple(x / 255 for x in on_white(key.tint))
        if marks and not key.below:
            look = {"marker": marks[k], "markerfacecolor": shade, "markeredgecolor": style.GREY, "markeredgewidth": 0.4}
            handles.append(lines.Line2D([], [], linestyle="", label=said, markersize=7, **look))
        else:
            edge = "none" if key.rest else style.GREY
            handles.append(patches.Patch(facecolor=shade, edgecolor=edge, linewidth=0.5, label=said))
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    ax.legend(handles=handles, frameon=False, fontsize=style.TEXT, handlelength=1.2, **place)


def _scale_bar(ax: Any, found: ErrorMap) -> None:
    """Draw a bar of a round length."""
    bar = found.scale_bar()
    if bar is None:
        return
    length, said = bar
    high = abs(found.extent[3] - found.extent[2]) / 120
    artists, fonts = module("mpl_toolkits.axes_grid1.anchored_artists"), module("matplotlib.font_manager")
    drawn = artists.AnchoredSizeBar(
        ax.transData, length, said, "lower left", pad=0.35, borderpad=0.4, sep=3, size_vertical=high, fill_bar=True,
        fontproperties=fonts.FontProperties(size=style.TEXT),
    )  # fmt: skip
    drawn.patch.set(alpha=0.8, linewidth=0)
    ax.add_artist(drawn)

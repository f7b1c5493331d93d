"""The weighted confusion table as a map of colours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.table import Table, Tabulated, one_table
from ..errors import InputError
from ..inference.influence import class_shares, dense_shares
from ..measures.base import check_scorable
from ..optional import module
from ..present.text import percent
from . import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Show = Literal["row", "column", "share", "weight", "count"]


class Shown(NamedTuple):
    """What colours and large numbers stand for."""

    title: str
    values: Callable[[Table], FloatArray]
    write: Callable[[float], str]
    share: bool


SHOWN: dict[str, Shown] = {
    "row": Shown("share of the true class's weight", partial(class_shares, axis=1), percent, True),
    "column": Shown("share of the predicted class's weight", partial(class_shares, axis=0), percent, True),
    "share": Shown("share of the weight", dense_shares, percent, False),
    "weight": Shown("weight", lambda table: table.w, style.compact, False),
    "count": Shown("number of rows", lambda table: table.n.astype(float), style.compact, False),
}

GREYS = (0.299, 0.587, 0.114)
"""How bright red, green and blue are."""

NUMBERED = 25
"""Classes up to which cells of a new figure hold numbers, and beyond which it needs room for a scale."""

SMALLEST = 7.0
"""Points of text that can be read."""


def confusion(table: Tabulated, show: Show = "row", *, ax: Axes | None = None) -> Axes:
    """Draw a weighted confusion table: rows are true classes, columns predicted ones.

    A cell has two numbers: what its colour stands for, and below it the number of rows (or, beside ``"count"``, the
    share of the total weight). Cells without rows are blank. Where cells are too small for numbers there is a scale
    of colours instead. Colours follow the square root of a value, so that small errors show. Of more than 500 classes
    the heaviest are drawn, and all others as one.

    Parameters
    ----------
    table
        A table, or what has one: a score, an accumulator.
    show
        ``"row"``: shares of the true class's weight. ``"column"``: of the predicted class's. ``"share"``: of the total.
        ``"weight"``: sums of weights. ``"count"``: numbers of rows.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import plot
    >>> table = wmcc.tabulate(["oak", "elm", "oak"], ["oak", "oak", "oak"], [300.0, 2.0, 5.5])
    >>> ax = plot.confusion(table, show="share")
    >>> [text.get_text() for text in ax.texts]
    ['0.7 %', '1', '99.3 %', '2']
    """
    table = one_table(table)
    if not isinstance(show, str) or show not in SHOWN:
        raise InputError.of("show", show, f"one of {', '.join(map(repr, SHOWN))}")
    check_scorable(table)
    there, table = len(table.labels), table._folded(style.MOST)
    shown, labels, K = SHOWN[show], style.names(table.labels), len(table.labels)
    part = f"{style.part(K - 1, there)}, and all others as one" if there > K else ""
    with np.errstate(over="ignore"):
        values = np.where(table.n > 0, shown.values(table), np.nan)
    grid = min(max(0.62 * K, 1.9), 8.5)  # inches
    beside = 0.075 * max(map(len, labels))
    scale = 1.0 if K > NUMBERED else 0.0
    ax = style.axes(ax, (max(grid, 2.7) + beside + scale + 0.6, grid + beside + 1.2))
    image = ax.imshow(values, cmap=_colours(), norm=_norm(values, shown.share), aspect="equal")
    ax.set_anchor("W")  # where the title begins
    ax.set_xlabel("predicted class", fontsize=style.TEXT)
    ax.set_ylabel("true class", fontsize=style.TEXT)
    below = "share of the weight" if show == "count" else "number of rows"
    style.titled(ax, "Confusion table", f"{shown.title},", f"below it the {below}", part)
    ax.spines[:].set_color(style.GREY)
    ax.tick_params(length=0)
    each = _name_classes(ax, labels)
    if not _write_cells(image, table, values, shown, each):
        style.titled(ax, "Confusion table", shown.title, part)
        _add_scale(ax, image, shown)
    if K > 1 and each > 4:
        _draw_lines(ax, K)
    return ax


def _colours() -> Any:
    """Return a scale that begins with a colour: what has rows is not taken for blank."""
    colours = module("matplotlib.colors")
    blues = module("matplotlib").colormaps["Blues"]
    return colours.LinearSegmentedColormap.from_list("wmcc", blues(np.linspace(0.1, 1.0, 256)))


def _norm(values: FloatArray, share: bool) -> Any:
    known = values[np.isfinite(values)]
    top = 1.0 if share else float(known.max(initial=0.0)) or 1.0
    return module("matplotlib.colors").PowerNorm(0.5, vmin=0.0, vmax=top, clip=True)


def _name_classes(ax: Any, labels: list[str]) -> float:
    """Name rows and columns, and return the size of a cell in points once names have their place."""
    each = min(style.room(ax)) / len(labels)
    for _ in range(2):  # names take room from the cells
        flat = max(map(len, labels)) * 0.62 * style.TEXT < each
        turned = {} if flat else {"rotation": 90 if len(labels) > 12 else 45, "ha": "right", "rotation_mode": "anchor"}
        style.name_axis(ax.yaxis, labels, each)
        style.name_axis(ax.xaxis, labels, each, **turned)
        ax.figure.figure.draw_without_rendering()
        each = min(style.room(ax)) / len(labels)
    return each


def _write_cells(image: Any, table: Table, values: FloatArray, shown: Shown, each: float) -> bool:
    """Write both numbers into each cell that has rows, where they can be read; return whether they can."""
    cells = np.argwhere(table.n > 0).tolist()
    counted = shown is SHOWN["count"]
    second, write = (dense_shares(table), percent) if counted else (table.n, style.compact)
    texts = [(shown.write(values[a, b]), write(second[a, b])) for a, b in cells]
    size = min(0.9 * each / (0.62 * max(len(x) for pair in texts for x in pair)), each / 3, 10.0)
    if size < SMALLEST:
        return False
    bright = image.to_rgba(values)[..., :3] @ GREYS
    for (a, b), (large, little) in zip(cells, texts, strict=True):
        both = {"ha": "center", "color": "black" if bright[a, b] > 0.5 else "white"}
        image.axes.text(b, a, large, fontsize=size, va="bottom", **both)
        image.axes.text(b, a + 0.06, little, fontsize=max(SMALLEST, 0.8 * size), va="top", **both)
    return True


def _add_scale(ax: Any, image: Any, shown: Shown) -> None:
    """Say what the colours stand for."""
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.6, pad=0.02)
    ticks = np.linspace(0, 1, 5) ** 2 * image.norm.vmax
    bar.set_ticks(ticks, labels=[shown.write(x) for x in ticks])
    bar.ax.tick_params(labelsize=style.TEXT)
    bar.outline.set_visible(False)


def _draw_lines(ax: Any, K: int) -> None:
    ax.set_xticks(np.arange(K - 1) + 0.5, minor=True)
    ax.set_yticks(np.arange(K - 1) + 0.5, minor=True)
    ax.grid(which="minor", color=style.GREY, alpha=0.35, linewidth=0.5)
    ax.tick_params(which="minor", length=0)

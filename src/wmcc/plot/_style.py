"""What all pictures share: axes to draw into, colours that everybody can tell apart, names that fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import Any

from ..errors import InputTypeError
from ..optional import module
from ..present import colours
from ..present.colours import css
from ..present.text import at_most, number, share, shortened

BLUE, GREEN, SKY, RED = map(css, (colours.BLUE, colours.GREEN, colours.SKY, colours.RED))
GREY, NOTE = "#777777", "#555555"

TEXT, SMALL = 8.5, 7.5
"""Sizes of names and of notes, in points."""

LEADING = 1.2
"""Points from line to line, per point of the text."""

LONGEST = 28
"""Characters of a name that is drawn in full."""

MOST = 500
"""Classes that are drawn: of more, the heaviest."""

MARGIN = 0.08
"""Inches around a picture."""


def axes(ax: Any = None, size: tuple[float, float] | None = None, layout: str = "constrained") -> Any:
    """Return the axes to draw into: those given, or new ones of a figure of this size in inches.

    The layout is ``"compressed"`` for axes whose height and width are in a fixed proportion.
    """
    plt = module("matplotlib.pyplot")
    if ax is None:
        figure, ax = plt.subplots(figsize=size, layout=layout)
        figure.get_layout_engine().set(w_pad=MARGIN, h_pad=MARGIN)
        return ax
    kind = getattr(ax, "name", "")
    if not isinstance(ax, module("matplotlib.axes").Axes) or kind != "rectilinear":
        what = f"{kind} axes" if kind and kind != "rectilinear" else f"a {type(ax).__name__}"
        hint = "fig, ax = plt.subplots() makes one."
        raise InputTypeError(f"`ax` is {what}; expected one matplotlib Axes, flat and rectangular.", hint, "ax")
    return ax


def expected(given: Any, kind: type | tuple[type, ...], what: str, hint: str) -> None:
    """Refuse what a picture cannot be drawn from."""
    if not isinstance(given, kind):
        raise InputTypeError(f"expected {what}; got a {type(given).__name__}.", hint)


def room(ax: Any) -> tuple[float, float]:
    """Width and height of the axes, in points."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    return 72 * box.width / dpi, 72 * box.height / dpi


# ---- names and numbers -----------------------------------------------------------------------------------------


def name(label: Any, most: int = LONGEST) -> str:
    """Write a label so that it fits, its middle left out, and so that matplotlib sees no mathematics in it."""
    text = "".join(x if x.isprintable() else " " if x.isspace() else "\N{REPLACEMENT CHARACTER}" for x in str(label))
    text = " ".join(text.split()) or "(empty)"
    return shortened(text, most).replace("$", r"\$")


def names(labels: Sequence[Any], most: int = LONGEST) -> list[str]:
    """Write several; those that would look alike get their number in the list."""
    short = [name(label, most) for label in labels]
    often = Counter(short)
    return [text if often[text] == 1 else f"{text} [{i}]" for i, text in enumerate(short, 1)]


def figures(x: float, digits: int = 3) -> str:
    """Write a number by its first digits."""
    return number(float(f"{x:.{digits}g}"))


def compact(x: float) -> str:
    """Write a number in few characters: 12,345,678 is 12.3M."""
    if not 1e4 <= abs(x) < 1e15:
        return figures(x, 4 if 1e-4 < abs(x) < 1e4 else 3)
    power = (len(str(int(abs(x)))) - 1) // 3
    return f"{figures(x / 1000**power)}{' kMGT'[power]}"


def rows(n: int) -> str:
    """Write a number of rows."""
    return "1 row" if n == 1 else f"{compact(n)} rows"


def off(eps: float, model: str) -> str:
    """Write how far weights may be off, a share of each or an amount; rounded down, as more is not certain."""
    return f"±{share(eps)}" if model == "relative" else f"±{at_most(eps)}"


# ---- one line per name -----------------------------------------------------------------------------------------


def name_axis(axis: Any, labels: Sequence[str], each: float, **options: Any) -> None:
    """Put names along an axis where each has so many points of room: all, or every second or third."""
    step = max(1, ceil(TEXT * LEADING / each)) if each < SMALL * LEADING else 1
    places = range(0, len(labels), step)
    size = min(TEXT, max(SMALL, each / LEADING))
    axis.set_ticks(places, [labels[i] for i in places], fontsize=size, **options)


def lines(
    ax: Any, along: str, labels: Sequence[str], notes: Sequence[str] = (), height: float = 0.27
) -> tuple[Any, float]:
    """Return axes with a line for each name, the first on top, and the height of a line in points.

    Notes stand at the ends of lines, outside the frame, where there is room. A new figure is wide enough for both, and
    its lines are so many inches high.
    """
    longest = (max((len(x) for text in texts for x in text.split("\n")), default=0) for texts in (labels, notes))
    width = 4.3 + sum(inches * most for inches, most in zip((0.075, 0.06), longest, strict=True))
    ax = axes(ax, (min(max(width, 6.4), 11.0), min(1.4 + height * max(len(labels), 3), 12.0)))
    each = room(ax)[1] / len(labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    name_axis(ax.yaxis, labels, each)
    for line, text in enumerate(notes):
        if text and each >= SMALL * LEADING:
            place = {"transform": ax.get_yaxis_transform(), "va": "center", "ha": "left"}
            ax.text(1.02, line, text, fontsize=SMALL, color=NOTE, **place)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=TEXT)
    ax.set_xlabel(along, fontsize=TEXT)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.grid(axis="x", color=GREY, alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    return ax, each


def part(drawn: int, classes: int) -> str:
    """Say so where not all classes are drawn."""
    return f"the {drawn:,} heaviest of {classes:,} classes" if drawn < classes else ""


def label(ax: Any, x: str, y: str) -> None:
    """Say what is along the axes, which need no frame on the other sides."""
    ax.set_xlabel(x, fontsize=TEXT)
    ax.set_ylabel(y, fontsize=TEXT)
    ax.tick_params(labelsize=TEXT)
    ax.spines[["top", "right"]].set_visible(False)


def titled(ax: Any, *sentences: str) -> None:
    """Say what is drawn, and below it what to know."""
    ax.set_title("\n".join(filter(None, sentences)), fontsize=9, loc="left")

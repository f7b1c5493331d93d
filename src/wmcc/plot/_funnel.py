"""How far a score can move as weights are off by more and more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..errors import InputError
from ..measures import MEASURES
from ..measures.checks import checked_number
from ..present.text import decimal, number
from ..robustness.certificate import Certificate, Curve, End
from ..robustness.radii import Radius
from . import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def funnel(
    curve: Curve | Certificate, *, radius: Radius | None = None, threshold: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the certified range of a score against ε, and up to where a statement about it is certain.

    The band is what is proved: between two values of ε it is as wide as at the larger one. Full marks are ends that
    some weights reach, open ones are bounds.

    Parameters
    ----------
    curve
        What `wmcc.certify` returns of several ε, or a single certificate.
    radius
        What `wmcc.radius` returns for the same score: the ε up to which its statement holds is marked.
    threshold
        A score to draw a line at.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import plot
    >>> table = wmcc.Table.from_counts([[50, 3, 2], [4, 40, 1], [0, 2, 30]])
    >>> curve = wmcc.certify(table, "ecc", eps=[0.05, 0.1, 0.2, 0.3])
    >>> ax = plot.funnel(curve, radius=wmcc.radius(table, "ecc", at_least=0.8), threshold=0.8)
    >>> print(ax.get_title(loc="left"))
    ECC (R_K) 0.8608: certified for all weights within ε
    ECC (R_K) is at least 0.8: certain up to ±20 %
    each end is attained by some weights
    """
    style.expected(
        curve, (Curve, Certificate), "a Curve", "wmcc.certify(table, measure, eps=[0.05, 0.1, 0.2]) returns one."
    )
    points = sorted([curve] if isinstance(curve, Certificate) else curve, key=lambda c: c.eps)
    first = points[0]
    if first.model == "bounds":
        raise InputError("the certificate is of bounds for each weight, and has no ε to draw it against.")
    if first.problem:
        raise InputError(f"there is no range to draw: {first.problem}.")
    if radius is not None:
        _check_radius(radius, first)
    goal = None if threshold is None else checked_number(threshold, "threshold")
    ax = style.axes(ax, (6.4, 4.0))
    ax.margins(y=0.08)
    scale = 100.0 if first.model == "relative" else 1.0
    eps = scale * np.array([0.0, *(c.eps for c in points)])
    low, high = (np.array([first.value, *(getattr(c, end) for c in points)]) for end in ("low", "high"))
    ax.fill_between(eps, low, high, step="pre", color=style.SKY, alpha=0.35, linewidth=0)
    _draw_ends(ax, eps[1:], low, [c.lower for c in points], "v")
    _draw_ends(ax, eps[1:], high, [c.upper for c in points], "^")
    ax.axhline(first.value, color=style.GREY, linewidth=1)
    ax.set_xlim(0, 1.02 * max(eps[-1], 0.0 if radius is None else scale * radius.safe) or 1.0)
    above = goal is not None and goal > first.value
    if goal is not None:
        ax.axhline(goal, color=style.RED, linewidth=1.2, linestyle="--")
        _note(ax, f"threshold {number(goal)}", (1, goal), ("axes fraction", "data"), (-3, 2 if above else -2))
    statement = "" if radius is None else _draw_radius(ax, radius, scale, 0 if above else 1)
    title = MEASURES[first.measure].title
    style.label(ax, f"each weight off by up to ε{' (%)' * (first.model == 'relative')}", title)
    exact = all(c.exact for c in points)
    marks = "each end is attained by some weights" if exact else "open marks are bounds; – is a value that is attained"
    style.titled(ax, f"{title} {decimal(first.value)}: certified for all weights within ε", statement, marks)
    return ax


def _draw_ends(ax: Any, eps: FloatArray, bounds: FloatArray, ends: list[End], shape: str) -> None:
    """Draw one side of the range: its bounds, full where they are attained, and else what is."""
    ax.plot([0, *eps], bounds, color=style.BLUE, linewidth=1.4)
    exact = np.array([end.exact for end in ends])
    marks = {"color": style.BLUE, "linestyle": "none", "clip_on": False, "zorder": 3}
    attained = np.array([end.attained for end in ends])
    for own, y, mark in (
        (exact, bounds[1:], {"marker": shape, "markersize": 5}),
        (~exact, bounds[1:], {"marker": shape, "markersize": 5, "markerfacecolor": "white"}),
        (~exact, attained, {"marker": "_", "markersize": 7}),
    ):
        if own.any():  # an empty line that is not clipped would take room at the corner of the figure
            ax.plot(eps[own], y[own], **mark, **marks)


def _check_radius(radius: Any, first: Certificate) -> None:
    style.expected(radius, Radius, "a Radius", "wmcc.radius(table, measure, at_least=0.8) returns one.")
    if radius.model != first.model or radius.value != first.value:
        raise InputError(
            f"the radius is of a score of {decimal(radius.value)} with {radius.model} ε, the curve of one of "
            f"{decimal(first.value)} with {first.model} ε.",
            "make both from the same table, measure and model.",
        )


def _draw_radius(ax: Any, radius: Radius, scale: float, side: int) -> str:
    """Mark the radius, named at the lower end (0) or the upper (1) of its line; return what is certain."""
    safe, said = scale * radius.safe, style.off(radius.safe, radius.model)
    ax.axvline(safe, color=style.GREEN, linewidth=1.6)
    left = safe > ax.get_xlim()[1] / 2
    _note(ax, said, (safe, side), ("data", "axes fraction"), (-3 if left else 3, -3 if side else 3))
    certain = f"certain up to {said}" if radius.safe else "not proved for any ε" if radius.holds else "does not hold"
    return f"{radius.statement}: {certain}"


def _note(ax: Any, text: str, at: tuple[float, float], where: Any, away: tuple[float, float]) -> None:
    """Write beside a line: as many points away from it, on the side that the signs say."""
    sides = {"ha": "left" if away[0] > 0 else "right", "va": "bottom" if away[1] > 0 else "top"}
    note = ax.annotate(text, at, away, where, "offset points", fontsize=style.SMALL, color=style.NOTE, **sides)
    note.set_bbox({"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 1})

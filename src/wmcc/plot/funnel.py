"""How far a score can move as weights are off by more and more."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..measures import MEASURES
from ..measures.request import checked_number
from ..robustness import Certificate, Curve, Radius
from ..text import decimal, number
from . import style


def funnel(
    curve: Curve | Certificate, *, radius: Radius | None = None, threshold: float | None = None, ax: Any = None
) -> Any:
    """Draw the certified range of a score against ε, and up to where a statement about it is certain.

    The band is what is proved: between two values of ε it is as wide as at the larger one. Full marks are ends that
    some weights reach, open ones are bounds.

    Parameters
    ----------
    curve
        What `wmcc.certify` returns for several values of ε.
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
    >>> curve = wmcc.certify(table, "ecc", [0.05, 0.1, 0.2, 0.3])
    >>> ax = plot.funnel(curve, radius=wmcc.radius(table, "ecc", threshold=0.8), threshold=0.8)
    >>> print(ax.get_title(loc="left"))
    ECC (R_K) 0.8608: certified range, whatever the weights
    ECC (R_K) is at least 0.8: certain up to ±20 %
    each end is attained by some weights
    """
    style.expected(
        curve, (Curve, Certificate), "a Curve", "wmcc.certify(table, measure, [0.05, 0.1, 0.2]) returns one."
    )
    points = sorted([curve] if isinstance(curve, Certificate) else curve, key=lambda c: c.eps)
    first = points[0]
    if first.model == "bounds":
        raise InputError("the certificate is of bounds for each weight, and has no ε to draw it against.")
    scale = 100.0 if first.model == "relative" else 1.0
    if radius is not None:
        _check_radius(radius, first)
    ax = style.axes(ax, (6.4, 4.0))
    eps = scale * np.array([0.0, *(c.eps for c in points)])
    low, high = (np.array([first.value, *(getattr(c, end) for c in points)]) for end in ("low", "high"))
    ax.fill_between(eps, low, high, step="pre", color=style.SKY, alpha=0.35, linewidth=0)
    for ends, mark in (([c.lower for c in points], "v"), ([c.upper for c in points], "^")):
        _draw_ends(ax, eps, first.value, ends, mark)
    ax.axhline(first.value, color=style.GREY, linewidth=1)
    title, statement, right = MEASURES[first.measure].title, "", float(eps[-1])
    if threshold is not None:
        goal = checked_number(threshold, "threshold")
        ax.axhline(goal, color=style.RED, linewidth=1.2, linestyle="--")
        above = goal > first.value
        _note(
            ax, f"threshold {number(goal)}", (1, goal), ("axes fraction", "data"), (-3, 2 if above else -2), style.RED
        )
    if radius is not None:
        safe, said = scale * radius.safe, style.off(radius.safe, radius.model)
        right = max(right, safe)
        ax.axvline(safe, color=style.GREEN, linewidth=1.6)
        side = -3 if safe > right / 2 else 3
        _note(ax, said, (safe, 0 if above else 1), ("data", "axes fraction"), (side, 3 if above else -3))
        statement = f"{radius.statement}: {f'certain up to {said}' if radius.safe else 'not certain for any ε'}"
    ax.set_xlim(0, 1.02 * right or 1.0)
    ax.set_xlabel(f"each weight off by up to ε{' (%)' * (first.model == 'relative')}", fontsize=style.TEXT)
    ax.set_ylabel(title, fontsize=style.TEXT)
    ax.tick_params(labelsize=style.TEXT)
    ax.spines[["top", "right"]].set_visible(False)
    exact = all(end.exact for c in points for end in (c.lower, c.upper))
    marks = "each end is attained by some weights" if exact else "open marks are bounds; – is a value that is attained"
    style.titled(ax, f"{title} {decimal(first.value)}: certified range, whatever the weights", statement, marks)
    return ax


def _draw_ends(ax: Any, eps: Any, value: float, ends: list[Any], mark: str) -> None:
    bounds = [value, *(end.bound for end in ends)]
    ax.plot(eps, bounds, color=style.BLUE, linewidth=1.4)
    for exact, face in ((True, style.BLUE), (False, "white")):
        own = [i for i, end in enumerate(ends, 1) if end.exact == exact]
        place = {"color": style.BLUE, "markersize": 5, "linestyle": "none", "clip_on": False, "zorder": 3}
        ax.plot([eps[i] for i in own], [bounds[i] for i in own], marker=mark, markerfacecolor=face, **place)
    loose = [i for i, end in enumerate(ends, 1) if not end.exact]
    attained = [ends[i - 1].attained for i in loose]
    ax.plot([eps[i] for i in loose], attained, color=style.BLUE, marker="_", linestyle="none", markersize=7)


def _check_radius(radius: Any, first: Certificate) -> None:
    style.expected(radius, Radius, "a Radius", "wmcc.radius(table, measure, threshold=0.8) returns one.")
    if radius.model != first.model or radius.value != first.value:
        raise InputError(
            f"the radius is of a score of {decimal(radius.value)} with {radius.model} ε, the curve of one of "
            f"{decimal(first.value)} with {first.model} ε.",
            "make both from the same table, measure and model.",
        )


def _note(ax: Any, text: str, at: tuple[float, float], where: Any, away: tuple[float, float]) -> None:
    """Write beside a line: as many points away from it, on the side that the signs say."""
    sides = {"ha": "left" if away[0] > 0 else "right", "va": "bottom" if away[1] > 0 else "top"}
    note = ax.annotate(text, at, away, where, "offset points", fontsize=style.SMALL, color=style.NOTE, **sides)
    note.set_bbox({"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 1})

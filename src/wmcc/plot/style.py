"""What all pictures share: axes to draw into, colours that everybody can tell apart, names that fit."""

from __future__ import annotations

from typing import Any

from ..optional import module

BLUE, ORANGE, GREEN, PURPLE, SKY, YELLOW, RED = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442", "#d55e00",
)  # fmt: skip
"""Okabe and Ito's colours: distinct without colour vision, and in print."""

GREY = "#777777"


def axes(ax: Any = None, size: tuple[float, float] | None = None) -> Any:
    """Return the axes to draw into: those given, or new ones of a figure of this size in inches."""
    plt = module("matplotlib.pyplot", "plot")
    if ax is not None:
        return ax
    return plt.subplots(figsize=size, layout="constrained")[1]

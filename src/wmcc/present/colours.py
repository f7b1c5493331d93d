"""Colours of classes and of errors, for pages and for plots: people tell them apart who see few colours."""

from __future__ import annotations

from colorsys import hls_to_rgb
from math import sqrt

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

Tint = tuple[int, int, int, int]
"""The same and the opacity, so that it stands on a light ground and on a dark one."""

COLOURS = 254
"""Classes that have colours of their own; those beyond repeat them. A palette has 256."""

VOID: Colour = (128, 128, 128)
"""What is no class."""

NOTHING: Tint = (128, 128, 128, 0)
"""Where the true class is not known: the ground itself."""

RIGHT: Tint = (86, 180, 233, 80)
"""Where all is right."""

ELSEWHERE: Tint = (128, 128, 128, 38)
"""Where another class is, of pictures of the errors of one class."""

HIT: Tint = (128, 128, 128, 150)
"""Where the class is, and was predicted."""

WRONG, ADDED = (213, 94, 0), (0, 114, 178)
"""What is wrong, or missed of one class; and what was taken for this class."""

FAINTEST = 0.25
"""Strength of the smallest error, of 1."""


def class_colour(k: int) -> Colour:
    """Colour of a class by its place: hues far apart for neighbours, of three lightnesses in turn."""
    first = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (240, 228, 66))
    k = k % COLOURS
    if k < len(first):
        return first[k]
    found = hls_to_rgb(k * 0.618034 % 1, (0.36, 0.56, 0.74)[k % 3], (0.75, 0.55, 0.6)[k % 3])
    return round(255 * found[0]), round(255 * found[1]), round(255 * found[2])


def error_tint(share: float, colour: Colour, ground: Tint) -> Tint:
    """Tint of an error of this share, between a ground and the colour; by the root, so that small errors show.

    Examples
    --------
    >>> error_tint(0.0, WRONG, RIGHT) == RIGHT, error_tint(1.0, WRONG, RIGHT)
    (True, (213, 94, 0, 255))
    """
    if share <= 0:
        return ground
    at = FAINTEST + (1 - FAINTEST) * sqrt(share)
    opacity = (1 - at) * ground[3] + at * 255
    own = at * 255 / opacity  # what the colour is of the mixture
    red, green, blue = (round((1 - own) * a + own * b) for a, b in zip(ground, colour, strict=False))
    return red, green, blue, round(opacity)


def on_white(tint: Tint) -> Colour:
    """Colour that a tint has on white paper.

    Examples
    --------
    >>> on_white((0, 0, 0, 51))
    (204, 204, 204)
    """
    *own, opacity = tint
    red, green, blue = (round(255 + (x - 255) * opacity / 255) for x in own)
    return red, green, blue

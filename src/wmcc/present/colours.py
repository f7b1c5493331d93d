"""Colours of classes and of errors, for pages and for plots: people tell them apart who see few colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from colorsys import hls_to_rgb
from math import sqrt
from operator import index

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

Tint = tuple[int, int, int, int]
"""The same and the opacity, so that it stands on a light ground and on a dark one."""

BLUE, ORANGE, GREEN, PURPLE, SKY, RED, YELLOW = OKABE_ITO = (
    (0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (240, 228, 66),
)  # fmt: skip
"""Okabe and Ito's colours: distinct without colour vision, and in print."""

SERIES = {
    "light": ("#0b5cad", "#b84300", "#00734f", "#98396f", "#8a6100", "#3b6f94", "#555555"),
    "dark": ("#6cb6ff", "#ff9b5e", "#4cc99a", "#e69ac4", "#e6b84c", "#9cc3e0", "#b5b5b5"),
}
"""Colours of predictions on a page, by its ground: text in them can be read."""

MOST = 255
"""Of red, green and blue."""

COLOURS = 254
"""Classes that have colours of their own; those beyond repeat them. A palette has 256."""

VOID: Colour = (128, 128, 128)
"""What is no class."""

NOTHING: Tint = (128, 128, 128, 0)
"""Where the true class is not known: the ground itself."""

RIGHT: Tint = (*SKY, 80)
"""Where all is right."""

ELSEWHERE: Tint = (128, 128, 128, 38)
"""Where another class is, of pictures of the errors of one class."""

HIT: Tint = (128, 128, 128, 150)
"""Where the class is, and was predicted."""

OUTLINE: Tint = (128, 128, 128, 255)
"""Borders of parcels."""

WHITE: Tint = (255, 255, 255, 255)
RING: Tint = (48, 48, 48, 255)
"""Around points that lie on the classes of a map; white around those that have a class's colour."""

ON_CLASSES = {RIGHT: WHITE, ELSEWHERE: WHITE, HIT: (96, 96, 96, 255)}
"""What these tints are for points on the classes of a map: no colour of a class."""

FAINT = 110
"""Opacity of the classes of a map below points."""

WRONG, ADDED = RED, BLUE
"""What is wrong, or missed of one class; and what was taken for this class."""

WRONG_WEIGHT: Colour = (204, 32, 32)
"""Wrong weight of an image, over the page's own ground."""

FAINTEST = 0.25
"""Strength of the smallest error, of 1."""


def class_colour(k: int) -> Colour:
    """Colour of a class by its place: hues far apart for neighbours, of three lightnesses in turn."""
    k = k % COLOURS
    if k < len(OKABE_ITO):
        return OKABE_ITO[k]
    found = hls_to_rgb(k * 0.618034 % 1, (0.36, 0.56, 0.74)[k % 3], (0.75, 0.55, 0.6)[k % 3])
    return round(255 * found[0]), round(255 * found[1]), round(255 * found[2])


def as_colour(given: object) -> Colour | None:
    """Return a colour that is given as red, green and blue, 0 to 255, or as ``"#rrggbb"``; None of anything else.

    Examples
    --------
    >>> as_colour("#ff8000"), as_colour((1, 2, 3)), as_colour("reddish")
    ((255, 128, 0), (1, 2, 3), None)
    """
    if isinstance(given, str):
        return tuple(bytes.fromhex(given[1:])) if re.fullmatch("#[0-9a-fA-F]{6}", given) else None  # type: ignore[return-value]
    if not isinstance(given, Sequence) or len(given) != len("rgb"):
        return None
    try:
        found = tuple(map(index, given))
    except TypeError:
        return None
    return found if all(0 <= x <= MOST for x in found) else None  # type: ignore[return-value]


def css(colour: Colour) -> str:
    """Write a colour as pages and plots have it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


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

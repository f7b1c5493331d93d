"""Pictures of maps: which colour each cell has, and what the colours mean. Pages and plots show the same."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from ..core.arraytypes import Array, IntArray
from ..errors import InputError, InputTypeError
from ..mapping.error_map import ErrorMap
from ..present.colours import (
    ADDED,
    COLOURS,
    ELSEWHERE,
    FAINT,
    HIT,
    NOTHING,
    ON_CLASSES,
    OUTLINE,
    RIGHT,
    RING,
    WHITE,
    WRONG,
    Tint,
    error_tint,
)  # fmt: skip
from ..present.text import brief, heaviest, percent
from .pictures import LEVELS, PNG, png, ramp, strengths

Show = Literal["errors", "true", "pred"]
SHOWS: tuple[Show, ...] = ("errors", "true", "pred")

STEPS = (0.01, 0.1, 0.5)
"""Shares that a legend shows, between all right and all wrong."""

CLASSES = 20
"""Classes that a legend has; of more, the largest."""

SIDES = (900, 700, 540, 420, 320, 240, 160, 100)
"""Sides that pictures have at most: the first at which all together are small enough."""

MOST_BYTES = 1_300_000
"""Of all pictures of maps in a page; as text in the page they take a third more."""

FEW = 240
"""Cells along the longer side of a picture that is shown with cells as squares."""

DOT = 0.006
"""Radius of a point, as a share of the longer side."""

MOST_BORDER = 0.2
"""Share of cells at the border of a parcel beyond which parcels are too small to have outlines."""

MOST_TINTS = 256
"""Of a palette."""


MOST_FIGURES, MOST_FIGURE = 20, 400_000
"""Figures of a page, and bytes of each."""

DPI = (144, 110, 80, 60, 40)
"""Dots per inch of a figure: the first at which it is small enough."""

MOST_DOTS = 4000
"""Along the longer side of a figure."""


class Key(NamedTuple):
    """A colour of a picture and what it means, with a number that belongs to it."""

    name: str
    tint: Tint
    said: str = ""
    rest: bool = False  # whether it stands for classes that the legend has no room for
    below: bool = False  # whether it is of the map that points lie on


class MapPicture(NamedTuple):
    """A picture of a map, and its legend."""

    title: str
    png: bytes
    said: str
    legend: tuple[Key, ...]


class MapPictures(NamedTuple):
    """Where a map is wrong, the reference and the map; and what all three have in common."""

    pictures: tuple[MapPicture, ...]
    ratio: float  # width by height, on the ground
    bar: tuple[float, str] | None  # the scale bar: its share of the width, and its length in words
    notes: tuple[str, ...]
    few: bool  # whether cells are so few that they are to be seen as such


class Figure(NamedTuple):
    """A figure that somebody drew, as a PNG."""

    title: str
    png: bytes


class Painting(NamedTuple):
    """A picture before it has a form: the place in the palette of each cell, or point; and the legend."""

    codes: IntArray
    palette: tuple[Tint, ...]
    legend: tuple[Key, ...]
    title: str
    said: str
    below: IntArray | None = None  # of points on a map, the places of its cells


def painted(found: ErrorMap, show: Show) -> Painting:
    """Choose colours."""
    if show == "errors":
        painting = _all_errors(found) if found.of is None else _errors_of(found)
    else:
        painting = _classes(found, show)
    return painting if found.below is None else _on_classes(found, found.below, painting, show)


def _on_classes(found: ErrorMap, below: IntArray, painting: Painting, show: Show) -> Painting:
    """Lay points on the classes of the map, which are faint unless they are what is shown. Rings come last but one."""
    used, codes = np.unique(painting.codes, return_inverse=True)
    palette = [painting.palette[k] for k in used.tolist()]
    room = MOST_TINTS - len(palette) - 2
    classes = [(*colour, 255 if show == "pred" else FAINT) for colour in found.colours[:room]]
    nothing = len(palette) + len(classes) + 1
    cells = np.where(below < 0, nothing, len(palette) + below % len(classes))
    legend = painting.legend
    if show == "errors":
        there = np.bincount(below[below >= 0], minlength=len(found.labels))
        most = [k for k in heaviest(there.tolist(), CLASSES) if there[k]]
        legend += tuple(Key(str(found.labels[k]), classes[k % len(classes)], below=True) for k in most)
    tints = (*palette, *classes, RING if show == "errors" else WHITE, NOTHING)
    return painting._replace(codes=codes.reshape(painting.codes.shape), palette=tints, legend=legend, below=cells)


def borders(found: ErrorMap) -> Array | None:
    """Return which cells have another parcel above or to the left; None where that is too many, or there are none.

    Examples
    --------
    >>> import numpy as np, wmcc
    >>> found = wmcc.error_map([["a", "b"]], [["a", "b"]])
    >>> borders(found) is None
    True
    >>> borders(replace(found, parcels=np.kron([[0, 1], [0, 2]], np.ones((8, 8), int)))).sum().item()
    23
    """
    if found.parcels is None:
        return None
    border = np.zeros(found.parcels.shape, dtype=bool)
    border[1:] = found.parcels[1:] != found.parcels[:-1]
    border[:, 1:] |= found.parcels[:, 1:] != found.parcels[:, :-1]
    return border if border.mean() <= MOST_BORDER else None


def checked_show(show: str) -> Show:
    """Return what to show, if it is known."""
    if show not in SHOWS:
        raise InputError.of("show", show, "'errors', 'true' or 'pred'")
    return show


def _seen(tint: Tint, found: ErrorMap) -> Tint:
    """Return a faint tint of areas; of points, which are small, a stronger one; on classes one that none has."""
    if found.below is not None:
        return ON_CLASSES[tint]
    *colour, opacity = tint
    return tint if found.points is None else (*colour, (opacity + 255) // 2)  # type: ignore[return-value]


def _all_errors(found: ErrorMap) -> Painting:
    ((_, wrong),) = found.errors.items()
    unknown = np.isnan(found.wrong)
    codes = np.where(unknown, LEVELS + 1, strengths(found.wrong))
    right = _seen(RIGHT, found)
    palette = (right, *ramp(WRONG, right), NOTHING)
    if found.single:
        keys = [Key("right", right, percent(1 - wrong)), Key("wrong", palette[LEVELS], percent(wrong))]
    else:
        steps = [Key(f"{share:.0%} wrong".replace("%", " %"), error_tint(share, WRONG, right)) for share in STEPS]
        keys = [Key("all right", right), *steps, Key("all wrong", palette[LEVELS])]
    said = found.share_said(wrong, "wrong")
    return Painting(codes, palette, (*keys, *_unknown(unknown)), "Where the map is wrong", said)


def _unknown(unknown: Array) -> list[Key]:
    return [Key("not known", NOTHING)] if unknown.any() else []


def _errors_of(found: ErrorMap) -> Painting:
    """Draw errors of one class. The colour is that of the larger error of a cell, as strong as both together."""
    assert found.missed is not None
    assert found.of is not None
    unknown, k = np.isnan(found.wrong), found.labels.index(found.of)
    (_, missed), (_, added) = found.errors.items()
    strength, more_missed = strengths(found.wrong), 2 * found.missed >= found.wrong
    hit = (found.truth == k) & (found.pred == k)
    codes = np.where(strength > 0, np.where(more_missed, 1, LEVELS + 1) + strength, np.where(hit, 1, 0))
    codes = np.where(unknown, 2 * LEVELS + 2, codes)
    elsewhere, match = _seen(ELSEWHERE, found), _seen(HIT, found)
    palette = (elsewhere, match, *ramp(WRONG, elsewhere), *ramp(ADDED, elsewhere), NOTHING)
    name = str(found.of)
    right = float(found.table.w[k, k]) / found.table.total
    keys = [
        Key(f"{name}, mapped as another", palette[LEVELS + 1], percent(missed)),
        Key(f"mapped as {name}, but another", palette[2 * LEVELS + 1], percent(added)),
        Key(f"{name}, mapped as such", match, percent(right)),
        Key("other classes", elsewhere, percent(max(0.0, 1 - missed - added - right))),
    ]
    said = f"omission {percent(missed / (missed + right)) if missed + right else '—'}"
    said += f", commission {percent(added / (added + right)) if added + right else '—'}"
    return Painting(codes, palette, (*keys, *_unknown(unknown)), f"Where {name} is wrong", said)


def _classes(found: ErrorMap, show: Show) -> Painting:
    codes = found.truth if show == "true" else found.pred
    sums = found.table.true_sums if show == "true" else found.table.pred_sums
    own = [(*colour, 255) for colour in found.colours[:COLOURS]]
    palette: tuple[Tint, ...] = (*own, NOTHING)
    shown = [k for k in heaviest(sums.tolist(), CLASSES) if sums[k] > 0]
    keys = [Key(str(found.labels[k]), palette[k % len(own)], percent(sums[k] / found.table.total)) for k in shown]
    rest = int((sums > 0).sum()) - len(keys)
    if rest > 0:
        keys.append(Key(f"… and {rest:,} more", NOTHING, rest=True))
    title = "Reference classes" if show == "true" else "Classes of the map"
    unknown = codes < 0
    return Painting(
        np.where(unknown, len(own), codes % len(own)),
        palette,
        (*keys, *_unknown(unknown)),
        title,
        ", ".join(f"{key.name} {key.said}".strip() for key in keys[:3]),
    )


# ---- for a page -------------------------------------------------------------------------------------------------


def map_pictures(maps: Mapping[str, ErrorMap]) -> dict[str, MapPictures]:
    """Draw maps as small as all of them together must be."""
    found: dict[str, MapPictures] = {}
    for side in SIDES:
        found = {name: _pictures(own, side) for name, own in maps.items()}
        if sum(len(x.png) for own in found.values() for x in own.pictures) <= MOST_BYTES:
            break
    return found


def _pictures(found: ErrorMap, side: int) -> MapPictures:
    small = thinned(found, side)
    left, right, bottom, top = small.extent
    ratio, bar = (right - left) / (abs(top - bottom) * small.aspect), small.scale_bar()
    drawn = []
    for show in SHOWS:
        painting = painted(small, show)
        codes, palette = painting.codes, painting.palette
        if small.points is not None:
            codes = _dots(small, painting, side, ratio)
        elif (border := borders(small)) is not None:
            codes, palette = np.where(border, len(palette), codes), (*palette, OUTLINE)
        said = f"{painting.title}: {painting.said}"
        title = said if show == "errors" else painting.title
        drawn.append(MapPicture(title, png(codes, palette), said, painting.legend))
    shared = None if bar is None else (bar[0] / (right - left), bar[1])
    return MapPictures(
        tuple(drawn), ratio, shared, tuple(small.notes), small.points is None and max(small.shape) <= FEW
    )


def thinned(found: ErrorMap, most: int) -> ErrorMap:
    """Return a picture of fewer cells, at most so many along a side: means of shares, and classes in the middle.

    Examples
    --------
    >>> import numpy as np, wmcc
    >>> truth = np.zeros((6, 6), int)
    >>> thinned(wmcc.error_map(truth, np.eye(6, dtype=int)), 2).wrong.round(2)
    array([[0.33, 0.  ],
           [0.  , 0.33]], dtype=float32)
    """
    by = -(-max(found.shape) // most)
    if found.points is not None or by == 1:
        return found
    starts = [np.arange(0, n, by) for n in found.shape]
    middles = np.ix_(*(np.minimum(x + by // 2, n - 1) for x, n in zip(starts, found.shape, strict=True)))

    def added(x: Array) -> Array:
        return np.add.reduceat(np.add.reduceat(np.nan_to_num(x), starts[0], axis=0), starts[1], axis=1)

    known = added(found.known)
    with np.errstate(invalid="ignore"):
        wrong, *missed = (
            (added(x * found.known) / known).astype(np.float32) for x in (found.wrong, found.missed) if x is not None
        )
    left, right, bottom, top = found.extent
    high, wide = ((n * by) / old for n, old in zip(known.shape, found.shape, strict=True))  # the last may be cut
    return replace(
        found,
        wrong=wrong,
        missed=missed[0] if missed else None,
        known=known,
        truth=found.truth[middles],
        pred=found.pred[middles],
        parcels=None if found.parcels is None else found.parcels[middles],
        extent=(left, left + (right - left) * wide, top - (top - bottom) * high, top),
        step=found.step * by,
    )


def _dots(found: ErrorMap, painting: Painting, side: int, ratio: float) -> IntArray:
    """Draw points as dots, wrong ones last."""
    assert found.points is not None
    left, right, bottom, top = found.extent
    wide, high = (side, max(1, round(side / ratio))) if ratio >= 1 else (max(1, round(side * ratio)), side)
    canvas = np.full((high, wide), len(painting.palette) - 1, dtype=np.int64)
    size = max(1, round(DOT * side))
    rings: list[int] = []
    if painting.below is not None:
        at = (np.arange(n) * old // n for n, old in zip((high, wide), painting.below.shape, strict=True))
        canvas, rings = painting.below[np.ix_(*at)], [size + 1]
    for own in (found.wrong == 0, found.wrong > 0):
        x, y = found.points[own].T
        col, row = (x - left) / (right - left) * wide, (top - y) / (top - bottom) * high
        for radius in (*rings, size):
            codes = painting.codes[own] if radius == size else len(painting.palette) - 2
            for dy, dx in np.argwhere(np.hypot(*np.mgrid[-radius : radius + 1, -radius : radius + 1]) <= radius + 0.3):
                down, across = row.astype(int) + dy - radius, col.astype(int) + dx - radius
                canvas[np.clip(down, 0, high - 1), np.clip(across, 0, wide - 1)] = codes
    return canvas


# ---- figures of others ------------------------------------------------------------------------------------------


def drawings(figures: object) -> tuple[Figure, ...]:
    """Return figures as PNG, each small enough for a page."""
    if not isinstance(figures, Mapping):
        raise InputTypeError(
            f"figures is a {type(figures).__name__}; expected a mapping from titles to matplotlib figures.",
            'for instance figures={"Training": figure}.',
            "figures",
        )
    if len(figures) > MOST_FIGURES:
        raise InputError(
            f"there are {len(figures)} figures; a report takes {MOST_FIGURES} at most.", argument="figures"
        )
    return tuple(_drawing(title, own) for title, own in figures.items())


def _drawing(title: object, figure: object) -> Figure:
    if not isinstance(title, str):
        raise InputTypeError(f"figures has the title {brief(title)}; expected a text.", argument="figures")
    if isinstance(figure, (bytes, bytearray)):
        if not figure.startswith(PNG):
            raise InputError(f"the figure {title!r} is bytes that are no PNG.", "save it as PNG.", "figures")
        return _small_enough(title, bytes(figure))
    figure = getattr(figure, "figure", figure)  # axes know theirs
    if not (hasattr(figure, "savefig") and hasattr(figure, "get_size_inches")):
        raise InputTypeError(
            f"the figure {title!r} is a {type(figure).__name__}; expected a matplotlib figure, axes, or the bytes of a "
            "PNG.",
            "for instance the figure of fig, ax = plt.subplots().",
            "figures",
        )
    most = MOST_DOTS / max(figure.get_size_inches())
    for dpi in DPI:
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=min(dpi, most))
        if out.tell() <= MOST_FIGURE:
            break
    return _small_enough(title, out.getvalue())


def _small_enough(title: str, data: bytes) -> Figure:
    if len(data) > MOST_FIGURE:
        raise InputError(
            f"the figure {title!r} takes {len(data):,} bytes as PNG; a report takes {MOST_FIGURE:,} at most.",
            "draw it smaller.",
            "figures",
        )
    return Figure(title, data)

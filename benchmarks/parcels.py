"""Corners of the parcels of the demo's map: a square cut into convex polygons, as land is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import atan2, cos, hypot, pi, sin, sqrt
from typing import TypeVar

import numpy as np

from wmcc.core.arraytypes import FloatArray
from wmcc.demo import Map

T = TypeVar("T")
Point = tuple[float, float]
Polygon = list[Point]
"""Corners, counterclockwise."""

JITTER = 0.12
"""Boundaries meet at nearly right angles: how nearly, in radians."""

STAND, STRAYS = 25, 0.1
"""Parcels of one class that lie together, on average; and the share of those that lie anywhere."""


def parcels(land: Map) -> list[FloatArray]:
    """Corners of each parcel on a square map, counterclockwise, in units of 100 m; classes lie in stands."""
    rng = np.random.default_rng((land.seed, 1))  # not the numbers that made the classes
    place = rng.random(len(land.truth))
    for name in np.unique(land.truth):
        rows = np.flatnonzero((land.truth == name) & (rng.random(len(land.truth)) >= STRAYS))
        place[rows] = rng.choice(rng.random(len(rows) // STAND + 1), len(rows))
    order = np.argsort(place, kind="stable")
    tiles = tile(land.area[order].tolist(), rng)
    return [tiles[k] for k in np.argsort(order)]


def tile(areas: Sequence[float], rng: np.random.Generator, ratio: float = 1.0) -> list[FloatArray]:
    """Cut a rectangle by straight lines so that its parts have these areas, those next to each other near by.

    ``rng`` turns each cut a little; ``ratio`` is the width of the rectangle over its height. An area of 0 has no
    corners.
    """
    sizes = [float(x) for x in areas]
    found = [np.zeros((0, 2)) for _ in sizes]
    present = [i for i, size in enumerate(sizes) if size > 0]
    total = sum(sizes)
    width, height = sqrt(total * ratio), sqrt(total / ratio)
    waiting = [(present, [(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)])] if present else []
    while waiting:
        members, polygon = waiting.pop()
        if len(members) == 1:
            found[members[0]] = np.array(polygon)
            continue
        sums = list(accumulate(sizes[i] for i in members))
        middle = 1 + min(range(len(members) - 1), key=lambda k: abs(2 * sums[k] - sums[-1]))
        # A share of the polygon as it is, not an area: rounding is shared as well.
        parts = _cut(polygon, sums[middle - 1] / sums[-1], rng.normal(0.0, JITTER))
        waiting += zip((members[:middle], members[middle:]), parts, strict=True)
    return found


def area(polygon: Polygon | FloatArray) -> float:
    """Area of a polygon whose corners come counterclockwise."""
    if not len(polygon):
        return 0.0
    x, y = polygon[0]  # from a corner, as digits are lost from far away
    moved = [(a - x, b - y) for a, b in polygon]
    return float(sum(a * d - b * c for (a, b), (c, d) in _around(moved))) / 2


def _around(items: list[T]) -> Iterator[tuple[T, T]]:
    """Each with the one after it, the last with the first."""
    return zip(items, items[1:] + items[:1], strict=True)


def _cut(polygon: Polygon, share: float, turn: float) -> tuple[Polygon, Polygon]:
    """Cut off a share of a convex polygon: across a long edge or at a corner, whatever leaves the rounder parts."""
    edges = [(c - a, d - b) for (a, b), (c, d) in _around(polygon)]
    longest = sorted(edges, key=lambda edge: hypot(*edge))[-2:]
    x, y = (sum(values) / len(polygon) for values in zip(*polygon, strict=True))
    far = max(((a - x, b - y) for a, b in polygon), key=lambda corner: hypot(*corner))
    angles = [atan2(b, a) + turn + back for a, b in (*longest, far) for back in (0.0, pi)]
    return max((_parts(polygon, share, angle) for angle in angles), key=lambda parts: min(map(_roundness, parts)))


def _roundness(polygon: Polygon) -> float:
    """Area over the square of the perimeter."""
    return area(polygon) / sum(hypot(c - a, d - b) for (a, b), (c, d) in _around(polygon)) ** 2


def _parts(polygon: Polygon, share: float, angle: float) -> tuple[Polygon, Polygon]:
    """Cut a convex polygon across a direction, so that the part that comes first has this share of it."""
    corners = [(x * cos(angle) + y * sin(angle), (x, y)) for x, y in polygon]
    level = _level(corners, share)
    first, second = Polygon(), Polygon()
    for here, after in _around(corners):
        if here[0] <= level:
            first.append(here[1])
        if here[0] >= level:
            second.append(here[1])
        for crossing in _crossing(here, after, level):
            first.append(crossing)
            second.append(crossing)
    return first, second


def _level(corners: list[tuple[float, Point]], share: float) -> float:
    """How far along the direction a share of the polygon is passed.

    The line across is as long as its ends are apart. Between corners its length is linear, so the area is quadratic.
    """
    levels = sorted({at for at, _ in corners})
    lengths = []
    for level in levels:
        ends = [point for at, point in corners if at == level]
        ends += [point for here, after in _around(corners) for point in _crossing(here, after, level)]
        lengths.append(max(hypot(a - c, b - d) for a, b in ends for c, d in ends))
    strips = [
        (low, high - low, a, b) for low, high, a, b in zip(levels, levels[1:], lengths, lengths[1:], strict=False)
    ]
    left = share * sum(deep * (a + b) / 2 for _, deep, a, b in strips)
    for low, deep, a, b in strips:
        if left <= deep * (a + b) / 2:
            root = sqrt(max(a * a + 2 * left * (b - a) / deep, 0.0))
            return low + min(2 * left / (a + root), deep)
        left -= deep * (a + b) / 2
    return levels[-1]


def _crossing(here: tuple[float, Point], after: tuple[float, Point], level: float) -> list[Point]:
    """Where an edge crosses a level between its ends, if it does."""
    (start, (a, b)), (end, (c, d)) = here, after
    if not min(start, end) < level < max(start, end):
        return []
    t = (level - start) / (end - start)
    return [(a + t * (c - a), b + t * (d - b))]

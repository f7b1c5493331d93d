"""The pictures of a page, as SVG that takes the page's colours: the funnel and the map of a large confusion table."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, inf, log10, nan
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from ..core.arraytypes import Array
from ..core.table import Table
from ..inference.estimate import Interval
from ..inference.influence import class_shares
from ..mapping.accuracy import MapAccuracy
from ..mapping.estimates import Estimate
from ..measures import MEASURES
from ..present.colours import SERIES
from ..present.html import element
from ..present.text import decimal, number, share, shortened, visible
from ..robustness.certificate import Curve
from .findings import EPS_DIGITS, Findings
from .thresholds import Thresholds

WIDTH, HEIGHT = 800, 380
LEFT, RIGHT, TOP, BOTTOM = 58, 190, 16, 52
STRIP, LINE = 26, 16
"""Room for the interval of one prediction, to the left of the band, and for its name, to the right of it."""

TICK = 30
"""Room to the right of a picture for half of the name of its last tick."""

NAMES_OF_CLASSES, AREA_LINE, AREA_STEPS = 160, 30, 5
"""In the picture of areas: room for names, height of a line, and how many steps the axis has at most."""

LEVELS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75)
"""Shares of a row from which on a cell of a map is a shade darker."""


class Axis(NamedTuple):
    """From numbers to places in a picture."""

    least: float
    most: float
    start: float
    end: float

    def __call__(self, x: float) -> float:
        """Return the place of a number, in pixels."""
        part = (x - self.least) / (self.most - self.least)
        return round(self.start + part * (self.end - self.start), 1)


class DrawnFunnel(NamedTuple):
    """A funnel, and what the page needs to redraw it for each ε."""

    picture: Element
    grid: dict[str, Any]


def funnel(found: Findings) -> DrawnFunnel:
    """Draw the interval of each prediction, and the band that grows with ε."""
    names, curves = found.names, [found.curves[name] for name in found.names]
    sampled = [found.scores[name].intervals[found.measure.name] for name in names]
    eps = found.grid
    strip = min(STRIP, (WIDTH - RIGHT - LEFT) / 2.2 / len(names))  # half of the picture is the band's
    height = max(HEIGHT, TOP + LINE * len(names) + BOTTOM)
    x = Axis(0.0, max(eps), round(LEFT + strip * len(names) + 14, 1), WIDTH - RIGHT)
    y = _scores(found, curves, sampled, height - BOTTOM)
    now = eps.index(found.eps)
    bands = [None if c.problem else _band(c, x, y) for c in curves]
    parts = [*_axes(x, y), *_threshold(found, x, y)]
    for k, (name, band) in enumerate(zip(names, bands, strict=True)):
        parts += _interval(k, found.value(name), sampled[k], round(LEFT + strip * (k + 0.5) + 4, 1), y)
        parts += _value(k, found.value(name), band, now, x, y)
    at = {"x1": x(eps[now]), "x2": x(eps[now]), "y1": TOP, "y2": y.start}
    parts += [*_names(found, y), element("line", id="cursor", class_="cursor", **at)]
    label = f"{found.measure.title} with its interval, and its certified range as ε grows; the table has the numbers."
    picture = element("svg", *parts, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=label)
    grid = {
        "at": eps,
        "eps": [f"±{share(one, EPS_DIGITS)}" for one in eps],
        "x": [x(one) for one in eps],
        "said": [_said(found, one) for one in eps],
        "bands": bands,
        "now": now,
    }
    return DrawnFunnel(picture, grid)


def _scores(found: Findings, curves: list[Curve], sampled: list[Interval], bottom: float) -> Axis:
    """Scale of scores: all that is drawn, to whole tenths, within the range of the measure."""
    seen = [found.value(name) for name in found.names]
    seen += [end for c in curves if not c.problem for end in (c.low.min(), c.high.max())]
    seen += [end for one in sampled if one.problem is None for end in (one.low, one.high)]
    seen += [] if found.at_least is None else [found.at_least]
    return _tenths(seen, found.measure.range, bottom)


def _tenths(seen: Sequence[float], limits: tuple[float, float], bottom: float) -> Axis:
    """Scale of scores from whole tenths to whole tenths, within their range."""
    least = max(floor(10 * min(seen) - 0.01) / 10, limits[0])
    most = min(ceil(10 * max(seen) + 0.01) / 10, limits[1])
    return Axis(least, most if most > least else least + 0.1, bottom, TOP)


def _band(curve: Curve, x: Axis, y: Axis) -> dict[str, list[str]]:
    """Outline of the band, a step for each ε: between two of them only the wider range is proved."""
    at = [x(c.eps) for c in curve]
    before = [at[0], *at]
    return {
        "upper": [f"{before[k]},{y(c.high)} {at[k]},{y(c.high)}" for k, c in enumerate(curve)],
        "lower": [f"{at[k]},{y(c.low)} {before[k]},{y(c.low)}" for k, c in enumerate(curve)],
        "ranges": [" to ".join(c.ends) for c in curve],
    }


def _lines_of_scores(y: Axis, right: float) -> list[Element]:
    """Lines across a picture, with the scores that they stand for."""
    parts = []
    for tick in _ticks(y.least, y.most):
        parts.append(element("line", class_="axis", x1=LEFT, x2=right, y1=y(tick), y2=y(tick)))
        parts.append(element("text", f"{tick:.2f}", class_="tick", x=LEFT - 8, y=y(tick) + 4, text_anchor="end"))
    return parts


def _axes(x: Axis, y: Axis) -> list[Element]:
    parts = _lines_of_scores(y, WIDTH - RIGHT)
    for tick in _ticks(0.0, x.most):
        name = f"{number(100 * tick, 3)} %"
        parts.append(element("text", name, class_="tick", x=x(tick), y=y.start + 18, text_anchor="middle"))
    middle = (x.start + x.end) / 2
    parts.append(element("text", "weights off by up to ε", x=middle, y=y.start + 40, text_anchor="middle"))
    parts.append(element("text", "sampling", x=LEFT, y=y.start + 40))
    return parts


def _ticks(least: float, most: float) -> list[float]:
    step = next(s for s in (0.05, 0.1, 0.2, 0.25, 0.5, 1.0) if (most - least) / s <= 8)
    return [round(k * step, 10) for k in range(ceil(least / step - 1e-9), floor(most / step + 1e-9) + 1)]


def _threshold(found: Findings, x: Axis, y: Axis) -> list[Element]:
    """The threshold, and for each prediction up to which ε it is kept."""
    if found.at_least is None:
        return []
    at = y(found.at_least)
    parts = [element("line", class_="threshold", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at)]
    for k, name in enumerate(found.names):
        lead = found.radii.get(name)
        if lead is not None and 0 < lead.safe <= x.most:
            title = element("title", f"{name}: up to ±{share(lead.safe)}")
            parts.append(element("circle", title, cx=x(lead.safe), cy=at, r=5, fill=colour(k)))
    return parts


def _interval(k: int, value: float, sampled: Interval, place: float, y: Axis) -> list[Element]:
    """The score of a prediction, and what chance may do to it."""
    parts = []
    if sampled.problem is None:
        ends = {"y1": y(sampled.low), "y2": y(sampled.high)}
        parts.append(element("line", class_="whisker", x1=place, x2=place, stroke=colour(k), **ends))
    return [*parts, element("circle", cx=place, cy=y(value), r=5, fill=colour(k))]


def _value(k: int, value: float, band: dict[str, list[str]] | None, now: int, x: Axis, y: Axis) -> list[Element]:
    """The score of a prediction over all ε, and what other weights may do to it."""
    parts, own = [], colour(k)
    if band is not None:
        upper, lower = band["upper"], band["lower"]
        parts.append(element("polygon", class_="all", points=" ".join(upper + lower[::-1]), fill=own))
        shown = " ".join(upper[: now + 1] + lower[: now + 1][::-1])
        parts.append(element("polygon", id=f"band-{k}", class_="now", points=shown, fill=own))
    line = {"stroke": own, "stroke_dasharray": ("none", "7 4", "2 3", "9 3 2 3")[k % 4]}
    parts.append(element("line", class_="value", x1=x.start, x2=x.end, y1=y(value), y2=y(value), **line))
    return parts


def _names(found: Findings, y: Axis) -> list[Element]:
    """Names at the end of the lines, apart from each other and within the picture."""
    parts, names = [], sorted(found.names, key=lambda name: y(found.value(name)))
    places = _apart([y(found.value(name)) + 4 for name in names], y.start + 4)
    for name, place in zip(names, places, strict=True):
        text = decimal(found.value(name)) + f" {shortened(name, 16)}" * (len(names) > 1)  # a wide name may be cut
        parts.append(element("text", text, x=WIDTH - RIGHT + 8, y=round(place, 1)))
    return parts


def _apart(places: list[float], lowest: float) -> list[float]:
    """Move places that grow a line apart: down as far as need be, and up again where they would leave the picture."""
    last = -inf
    down = [last := max(place, last + LINE) for place in places]
    last = lowest + LINE
    return [last := min(place, last - LINE) for place in reversed(down)][::-1]


def colour(k: int) -> str:
    """Colour of a prediction, by its place: a variable of the page."""
    return f"var(--c{k % len(SERIES['light'])})"


def _said(found: Findings, eps: float) -> str:
    """What is certain for weights off by so much, in a sentence."""
    off = f"With weights off by up to {share(eps, EPS_DIGITS)}"
    if not found.leads:
        at = found.range(found.names[0], eps)
        if at.problem:
            return f"{found.measure.title} is undefined."
        return f"{off}, {found.measure.title} lies between {' and '.join(at.ends)}."
    said = []
    for (leader, other), lead in found.leads.items():
        if found.undefined(leader) or found.undefined(other):
            said.append(f"{leader} and {other} cannot be compared")
        elif lead.problem:
            said.append(f"{leader} and {other} score the same at the weights as they are")
        elif 0 < lead.safe >= eps:
            said.append(f"{leader} beats {other} for all such weights")
        elif lead.broken is not None and eps >= lead.broken:
            said.append(f"{other} does at least as well as {leader} for some such weights")
        else:
            said.append(f"it is not proved that {leader} beats {other}")
    return visible(f"{off}: {'; '.join(said)}.")  # the page's script writes it, not an element


# ---- scores by threshold ----------------------------------------------------------------------------------


def threshold_chart(at: Thresholds) -> Element:
    """Draw a measure by threshold: its value, intervals, the band for all thresholds together, and the choice."""
    found, best, right = at.curve, at.best, WIDTH - TICK
    there = np.isfinite(found.thresholds)
    columns = (found.values, found.low, found.high, found.band_low, found.band_high)
    cuts, (values, low, high, band_low, band_high) = found.thresholds[there], (x[there][1:] for x in columns)
    x = Axis(float(cuts[0]), float(cuts[-1]), LEFT, right)
    seen = np.concatenate([values, low, high, band_low, band_high, [best.expected, best.low, best.high]])
    y = _tenths(seen[np.isfinite(seen)].tolist(), MEASURES[best.measure].range, HEIGHT - BOTTOM)
    parts = _lines_of_scores(y, right)
    for tick in _round_ticks(x.least, x.most):
        parts.append(element("text", number(tick), class_="tick", x=x(tick), y=y.start + 18, text_anchor="middle"))
    parts.append(element("text", "threshold", x=(LEFT + right) / 2, y=y.start + 40, text_anchor="middle"))
    for name, lower, upper in (("all", band_low, band_high), ("now", low, high)):
        for outline in _outlines(cuts, lower, upper, x, y):
            parts.append(element("polygon", class_=name, points=outline, fill=colour(0)))
    line = " ".join(_steps(cuts, values, x, y))
    parts.append(element("polyline", class_="value", points=line, fill="none", stroke=colour(0)))
    if x.least <= at.threshold <= x.most:
        place = x(at.threshold)
        parts.append(element("line", class_="threshold", x1=place, x2=place, y1=TOP, y2=y.start))
        if at.chosen and np.isfinite(best.expected):
            if best.problem is None:
                ends = {"y1": y(best.low), "y2": y(best.high)}
                parts.append(element("line", class_="whisker", x1=place, x2=place, stroke=colour(1), **ends))
            parts.append(element("circle", cx=place, cy=y(best.expected), r=5, fill=colour(1)))
    return element("svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=at.caption)


def _round_ticks(least: float, most: float, steps_at_most: int = 8) -> list[float]:
    """Places of round numbers, so many steps apart at most."""
    digit = floor(log10((most - least) / steps_at_most))
    steps = (factor * 10.0**k for k in (digit, digit + 1) for factor in (1, 2, 5))
    step = next(s for s in steps if (most - least) / s <= steps_at_most)
    return [float(f"{k * step:.12g}") for k in range(ceil(least / step - 1e-9), floor(most / step + 1e-9) + 1)]


def _steps(cuts: Array, values: Array, x: Axis, y: Axis) -> list[str]:
    """Points of a line that is level from one threshold to the next, whose value it has: a table changes only there."""
    return [f"{x(a)},{y(v)} {x(b)},{y(v)}" for a, b, v in zip(cuts, cuts[1:], values, strict=False)]


def _outlines(cuts: Array, low: Array, high: Array, x: Axis, y: Axis) -> list[str]:
    """Outlines of what lies between two lines, wherever there are both."""
    there = np.isfinite(low) & np.isfinite(high)
    ends = np.flatnonzero(np.diff(there.astype(int), prepend=0, append=0)).reshape(-1, 2).tolist()
    out = []
    for a, b in ends:
        upper, lower = (" ".join(_steps(cuts[a : b + 1], own[a:b], x, y)).split() for own in (high, low))
        out.append(" ".join([*upper, *reversed(lower)]))
    return out


# ---- areas of maps ----------------------------------------------------------------------------------


def area_chart(found: MapAccuracy, caption: str) -> Element:
    """Draw a bar for each class, as large as it is mapped, and on it the area by the reference with its interval."""
    shown = found.shown
    top, bottom = TOP + LINE * 2, TOP + LINE * 2 + AREA_LINE * len(shown)
    ends = [x for c in shown for x in (c.mapped_area, c.area.value, c.area.high) if x == x]
    ticks = _round_ticks(0.0, max(ends) or 1.0, AREA_STEPS)
    ticks += [ticks[-1] + ticks[1]] if ticks[-1] < max(ends) else []
    x = Axis(0.0, ticks[-1], NAMES_OF_CLASSES, WIDTH - RIGHT)
    parts = []
    for tick in ticks:
        parts.append(element("line", class_="axis", x1=x(tick), x2=x(tick), y1=top, y2=bottom))
        parts.append(element("text", number(tick), class_="tick", x=x(tick), y=bottom + 18, text_anchor="middle"))
    said = f"area, {found.unit}" if found.unit else "area"
    parts.append(element("text", said, x=(x.start + x.end) / 2, y=bottom + 40, text_anchor="middle"))
    parts += [element("rect", class_="mapped", x=x.start, y=TOP + 1, width=26, height=12)]
    parts += [element("text", "mapped", x=x.start + 34, y=TOP + 12)]
    how = "reference" if found.counted else f"estimated, with its {found.level}"
    parts += _area(found.classes[0].area, (x.start + 110, x.start + 123, x.start + 136), TOP + 7, found.counted)
    parts += [element("text", how, x=x.start + 146, y=TOP + 12)]
    for k, c in enumerate(shown):
        middle = top + AREA_LINE * (k + 0.5)
        name = shortened(visible(str(c.label)), 20)
        parts.append(element("text", name, x=x.start - 10, y=middle + 4, text_anchor="end"))
        bar = {"x": x.start, "y": middle - 8, "width": x(c.mapped_area) - x.start, "height": 16}
        parts.append(element("rect", class_="mapped", **bar))
        places = [x(end) if end == end else nan for end in (c.area.low, c.area.value, c.area.high)]
        parts += _area(c.area, (places[0], places[1], places[2]), middle, found.counted)
        parts.append(element("text", _mapped_against(c.mapped_area, c.area.value), x=WIDTH - RIGHT + 10, y=middle + 4))
    return element("svg", *parts, viewBox=f"0 0 {WIDTH} {bottom + BOTTOM}", role="img", aria_label=caption)


def _area(area: Estimate, places: tuple[float, float, float], y: float, counted: bool) -> list[Element]:
    """The area of a class by the reference, and what chance may do to it."""
    low, at, high = places
    parts = []
    if not (counted or area.problem):
        parts.append(element("line", class_="whisker", x1=low, x2=high, y1=y, y2=y, stroke=colour(0)))
    return [*parts, element("circle", cx=at, cy=y, r=5, fill=colour(0))]


def _mapped_against(mapped: float, area: float) -> str:
    """Say by how much the mapped area is off."""
    if not area > 0:
        return "mapped, and none there" if mapped else ""
    off = 100 * (mapped / area - 1)
    off = round(off) if abs(off) >= 1 else round(off, 1)
    return f"mapped {abs(off):,} % {'more' if off > 0 else 'less'}" if off else "mapped the same"


def heat_map(table: Table, caption: str) -> Element:
    """Draw the shares of the rows of a large table: a shade per cell, a path per shade."""
    K = len(table.labels)
    level = np.searchsorted(LEVELS, np.nan_to_num(class_shares(table, axis=1)), side="right")
    paths = []
    for k in range(1, len(LEVELS) + 1):
        inside = np.pad(level == k, ((0, 0), (1, 1)))
        starts, ends = (np.argwhere(inside[:, a : K + 1 + a] < inside[:, b : K + 1 + b]) for a, b in ((0, 1), (1, 0)))
        runs = zip(starts.tolist(), (ends - starts)[:, 1].tolist(), strict=True)  # neighbours are one
        outline = "".join(f"M{b} {a}h{long}v1h-{long}z" for (a, b), long in runs)
        if outline:
            paths.append(element("path", d=outline, fill_opacity=round(0.12 + 0.88 * k / len(LEVELS), 2)))
    label = f"{caption}: shares of each true class, {K} rows and columns"
    return element("svg", *paths, viewBox=f"0 0 {K} {K}", class_="map", role="img", aria_label=label)

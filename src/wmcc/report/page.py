"""A report as one HTML file: nothing is loaded from anywhere."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.resources import files
from math import sqrt
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from ..inference.influence import class_shares
from ..present.blocks import Block, Mark
from ..present.colours import SERIES
from ..present.html import element, items, raw, table, written
from ..present.text import decimal, number
from .charts import WIDTH, area_chart, colour, funnel, heat_map, threshold_chart
from .document import DRAWN, SQUARE, AreaFigure, Document, Funnel, Heat, Items, Part, Section, confusions, starred
from .maps import Figure, Key, MapPictures
from .pictures import Gallery
from .thresholds import Thresholds


def page(document: Document) -> str:
    """Write the page."""
    script, style = (_resource(name) for name in ("page.js", "page.css"))
    for ground, series in SERIES.items():
        style = style.replace(f"--series: {ground};", " ".join(f"--c{k}: {x};" for k, x in enumerate(series)))
    # Only this script runs: were a label ever taken for markup, it could still do nothing.
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{_digest(script)}'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", document.title),
        raw("style", style),
    )
    sections, names = [], []
    for k, section in enumerate(document.sections):
        name = f"s{k}"
        sections.append(_section(section, name))
        names += [(name, section.title)] if section.level == 2 else []
    links = [element("li", element("a", title, href=f"#{name}")) for name, title in names]
    top = element("h1", document.title), element("p", document.summary, class_="summary")
    body = element(
        "body",
        element("a", "To the report", href="#report", class_="skip"),
        element("header", *top, element("nav", element("ul", *links), aria_label="Sections")),
        element("main", _verdict(document), *sections, id="report"),
        element("footer", element("p", "Made with wmcc; everything on this page was computed when it was made.")),
        raw("script", script),
    )
    return f"<!DOCTYPE html>\n{written(element('html', head, body, lang='en'))}\n"


def _resource(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _verdict(document: Document) -> Element:
    said = [element("p", x) for x in document.verdict]
    return element("section", *said, class_="verdict", aria_label="The answer")


def _section(section: Section, name: str) -> Element:
    head = element(f"h{section.level}", section.title, id=name)
    return element("section", head, *(x for part in section.parts for x in _part(part)), aria_labelledby=name)


def _part(part: Part) -> list[Element]:
    """Write a part of a section, each kind by its own function below."""
    writers: dict[type, Callable[[Any], list[Element]]] = {
        Block: _table, Heat: _heat, Funnel: _funnel, Gallery: _gallery, MapPictures: _maps,
        str: lambda text: [element("p", text)],
        Items: lambda own: [items(own.items)],
        Figure: _drawing,
        Thresholds: _thresholds,
        AreaFigure: _areas,
    }  # fmt: skip
    return writers[type(part)](part)


def _drawing(part: Figure) -> list[Element]:
    caption = element("figcaption", part.title)
    return [element("figure", _image(part.png, part.title), caption, class_="drawing")]


def _areas(part: AreaFigure) -> list[Element]:
    said = "Right of each bar: how the mapped area compares with the area by the reference."
    drawn = _scrolled(part.caption, area_chart(part.map, f"{part.caption}; the table has the numbers."))
    return [element("figure", drawn, element("figcaption", f"{part.caption}. {said}"))]


def _image(data: bytes, said: str, **attributes: str) -> Element:
    return element("img", src=f"data:image/png;base64,{b64encode(data).decode()}", alt=said, **attributes)


def _maps(maps: MapPictures) -> list[Element]:
    """Pictures of one extent: each with the scale bar and its legend."""
    figures = []
    for x in maps.pictures:
        bar = maps.bar and element("span", maps.bar[1], class_="bar", style=f"width:{100 * maps.bar[0]:.2f}%")
        drawn = _image(x.png, x.said, class_="few" if maps.few else "many")
        ground = element("div", drawn, bar, class_="ground", style=f"--ratio:{maps.ratio:.4f}")
        keys = [element("li", _key(key), f"{key.name}: {key.said}" if key.said else key.name) for key in x.legend]
        figures.append(element("figure", element("figcaption", x.title), ground, element("ul", *keys, class_="legend")))
    return [element("div", *figures, class_="maps"), *_notes([" ".join(maps.notes)])]


def _key(key: Key) -> Element | None:
    *own, opacity = key.tint
    return None if key.rest else _swatch("rgb({} {} {} / {:.3f})".format(*own, opacity / 255))


def _swatch(shade: str) -> Element:
    return element("span", class_="key", style=f"background:{shade}", aria_hidden="true")


def _gallery(gallery: Gallery) -> list[Element]:
    keys = [element("li", _swatch(shade), name) for name, shade in gallery.legend]
    figures = []
    for image in gallery.images:
        drawn = [element("span", _image(x.png, x.said), element("small", x.title)) for x in image.pictures]
        caption = element("figcaption", element("b", image.name), f" {image.said}")
        figures.append(element("figure", caption, element("div", *drawn, class_="pictures")))
    said = (
        "Truth and prediction have the same colours. The third picture shows wrong weight: the stronger the red, the "
        "more of it, compared with the rest of the image. Grey is void."
    )
    return [element("p", said), element("ul", *keys, class_="legend"), element("div", *figures, class_="gallery")]


def _scrolled(caption: str, *made: Element) -> Element:
    """What may be wider than the page, where the keyboard can reach it."""
    return element("div", *made, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _table(block: Block) -> list[Element]:
    made = [_scrolled(block.title, table(block, list(map(_mark, block.marks))))] if block.columns else []
    return [*made, *_notes(block.notes)]


def _notes(notes: Sequence[str]) -> list[Element]:
    return [element("p", note, class_="notes") for note in notes]


def _mark(mark: Mark | None) -> Element | None:
    if mark is None:
        return None
    span = mark.most - mark.least
    low, at, high = (f"{100 * (x - mark.least) / span:.1f}" for x in (mark.low, mark.value, mark.high))
    return element("span", class_="mark", style=f"--low:{low};--at:{at};--high:{high}", aria_hidden="true")


def _heat(heat: Heat) -> list[Element]:
    K = len(heat.table.labels)
    if K > SQUARE:
        said = f"{heat.caption}: darker is a larger share of the true class."
        said += f" Drawn are the {DRAWN - 1:,} heaviest of {K:,} classes; the last stands for all others." * (K > DRAWN)
        drawn = heat_map(heat.table._folded(DRAWN), heat.caption)
        return [element("figure", drawn, element("figcaption", said)), *_table(confusions(heat))]
    note = f"Weight{heat.in_unit}, and below it the number of rows."
    return [_scrolled(heat.caption, _square(heat)), *_notes([note])]


def _square(heat: Heat) -> Element:
    own, shares = heat.table, np.nan_to_num(class_shares(heat.table, axis=1))
    names = [str(label) for label in own.labels]
    rows = [[name, *("" for _ in names)] for name in names[: len(own.classes)]]  # void labels are never true
    made = table(Block(heat.caption, ["true \\ predicted", *names], rows))
    for a, (_, *cells) in enumerate(made[2]):
        for b, cell in enumerate(cells):
            if n := int(own.n[a, b]):
                cell.text = number(float(own.w[a, b]))
                cell.append(element("small", f"{n:,}"))
                cell.set("style", f"--s:{sqrt(shares[a, b]):.3f}")  # the root, so that small errors show
        cells[a].set("class", "right")
    made.attrib |= {"class": "heat", "style": f"--k:{len(names)}"}
    return made


def _funnel(part: Funnel) -> list[Element]:
    found, drawn = part.found, funnel(part.found)
    grid, now = drawn.grid, drawn.grid["now"]
    slider = element(
        "input", type="range", id="eps", min="0", max=grid["at"][-1], step="any", value=grid["at"][now],
        aria_valuetext=grid["eps"][now],
    )  # fmt: skip
    ends = (f"{100 * grid['x'][k] / WIDTH:.3f}" for k in (0, -1))  # below the axis, on its scale
    rail = element("div", slider, class_="rail", style="--from:{};--to:{}".format(*ends))
    panel = element(
        "div",
        element("label", "Weights off by up to ", element("span", grid["eps"][now], class_="eps-shown"), for_="eps"),
        element("output", grid["said"][now], id="eps-now", for_="eps", aria_live="polite"),
        class_="slider",
    )
    intervals = [score.intervals[found.measure.name].ends for score in found.scores.values()]
    bands = [band["ranges"][now] if band else "undefined" for band in grid["bands"]]
    values = [decimal(found.value(name)) for name in found.names]
    caption = f"{found.measure.title} and how far it may be off"
    rows = list(map(list, zip(found.names, values, intervals, bands, strict=True)))
    made = table(Block(caption, ["Prediction", found.measure.title, "Other rows", "Other weights, "], rows))
    made[1][0][-1].append(element("span", grid["eps"][now], class_="eps-shown"))
    for k, (first, *_, last) in enumerate(made[2]):
        first.insert(0, _swatch(colour(k)))
        first[0].tail, first.text = first.text, None
        last.set("id", f"range-{k}")
    data = json.dumps({name: x for name, x in grid.items() if name != "now"}, ensure_ascii=False)
    stored = raw("script", re.sub("[<>&]", lambda x: f"\\u{ord(x[0]):04x}", data), type="application/json", id="grid")
    chart = _scrolled(f"Picture: {caption}", drawn.picture, rail)
    figure = element("figure", chart, element("figcaption", _caption(found.at_least)))
    return [figure, panel, _scrolled(caption, made), *_notes(starred([intervals])), stored]


def _thresholds(at: Thresholds) -> list[Element]:
    """A measure by threshold, and some of it in numbers; a single finite score gives no picture."""
    if np.isfinite(at.curve.thresholds).sum() < 2:
        return _table(at.block())
    said = (
        f"Line: {at.curve.title} at each threshold. Strong: the interval of a threshold that was fixed in advance. "
        "Faint: the band for all thresholds together. Dotted: the threshold of this report"
    )
    said += "; on it, what to expect on new data, and its interval." if at.chosen else "."
    figure = element("figure", _scrolled(at.caption, threshold_chart(at)), element("figcaption", said))
    return [figure, *_table(at.block())]


def _caption(at_least: float | None) -> str:
    text = (
        "Left: the interval (sampling error). Right: the certified band (errors in the weights), darker up to "
        "ε. The band was computed at some values of ε; between two of them it is drawn as wide as at the larger one."
    )
    return text if at_least is None else f"{text} Dotted: the score that was asked for, {number(at_least)}."

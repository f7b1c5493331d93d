"""A report as one HTML file: nothing is loaded from anywhere."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from math import sqrt
from xml.etree.ElementTree import Element

import numpy as np

from ..inference.influence import class_shares
from ..present.blocks import Block, Mark
from ..present.text import decimal, number
from .charts import WIDTH, colour, funnel, heat_map, strips
from .document import DRAWN, SQUARE, Document, Funnel, Heat, Items, Part, Section, Strips, confusions, starred
from .elements import Child, element, written
from .maps import Figure, Key, MapPictures
from .pictures import Gallery


def page(document: Document) -> str:
    """Write the page."""
    script, style = (_resource(name) for name in ("page.js", "page.css"))
    # Only this script runs: were a label ever taken for markup, it could still do nothing.
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{_digest(script)}'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", document.title),
        _raw("style", style),
    )
    sections, names = [], []
    for k, section in enumerate(document.sections):
        name = f"s{k}"
        sections.append(_section(section, name))
        names += [(name, section.title)] if section.level == 2 else []
    links = [element("li", element("a", title, href=f"#{name}")) for name, title in names]
    body = element(
        "body",
        element("a", "To the report", href="#report", class_="skip"),
        element(
            "header",
            element("h1", document.title),
            element("p", document.summary, class_="summary"),
            element("nav", element("ul", *links), aria_label="Sections"),
        ),
        element("main", _verdict(document), *sections, id="report"),
        element("footer", element("p", "Made with wmcc; everything on this page was computed when it was made.")),
        _raw("script", script),
    )
    return f"<!DOCTYPE html>\n{written(element('html', head, body, lang='en'))}\n"


def _resource(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _raw(tag: str, text: str, **attributes: str) -> Element:
    """Return an element whose text is no label but ours, and is written as it is."""
    made = element(tag, **attributes)
    made.text = text
    return made


def _verdict(document: Document) -> Element:
    return element(
        "section", *(element("p", x) for x in document.verdict), class_="verdict", aria_label="The answer"
    )  # fmt: skip


def _section(section: Section, name: str) -> Element:
    head = element(f"h{section.level}", section.title, id=name)
    return element("section", head, *(x for part in section.parts for x in _part(part)), aria_labelledby=name)


def _part(part: Part) -> list[Element]:
    if isinstance(part, str):
        return [element("p", part)]
    if isinstance(part, Block):
        return _table(part)
    if isinstance(part, Heat):
        return _heat(part)
    if isinstance(part, Funnel):
        return _funnel(part)
    if isinstance(part, Strips):
        return _strips(part)
    if isinstance(part, Gallery):
        return _gallery(part)
    if isinstance(part, MapPictures):
        return _maps(part)
    if isinstance(part, Figure):
        return [element("figure", _image(part.png, part.title), element("figcaption", part.title), class_="drawing")]
    return [_items(part)]


def _image(data: bytes, said: str, **attributes: str) -> Element:
    return element("img", src=f"data:image/png;base64,{b64encode(data).decode()}", alt=said, **attributes)


def _maps(maps: MapPictures) -> list[Element]:
    """Pictures of one extent: each with the scale bar and its legend."""
    figures = []
    for x in maps.pictures:
        bar = maps.bar and element("span", maps.bar[1], class_="bar", style=f"width:{100 * maps.bar[0]:.2f}%")
        drawn = _image(x.png, x.said, class_="few" if maps.few else "many")
        keys = [element("li", _key(key), f"{key.name}: {key.said}" if key.said else key.name) for key in x.legend]
        figures.append(
            element(
                "figure",
                element("figcaption", x.title),
                element("div", drawn, bar, class_="ground", style=f"--ratio:{maps.ratio:.4f}"),
                element("ul", *keys, class_="legend"),
            )
        )
    return [element("div", *figures, class_="maps"), *_notes([" ".join(maps.notes)])]


def _key(key: Key) -> Element | None:
    *own, opacity = key.tint
    style = "background:rgb({} {} {} / {:.3f})".format(*own, opacity / 255)
    return None if key.rest else element("span", class_="key", style=style, aria_hidden="true")


def _strips(part: Strips) -> list[Element]:
    caption = "Images by their score"
    said = (
        "Bars: how many images have such a score. Above them, the mean over images with its interval (dot). "
        "Dotted: the score of the data set."
    )
    return [element("figure", _scrolled(f"Picture: {caption}", strips(part.found)), element("figcaption", said))]


def _gallery(gallery: Gallery) -> list[Element]:
    keys = [
        element("li", element("span", class_="key", style=f"background:{shade}", aria_hidden="true"), name)
        for name, shade in gallery.legend
    ]
    figures = []
    for image in gallery.images:
        drawn = [
            element(
                "span",
                _image(x.png, x.said),
                element("small", x.title),
            )
            for x in image.pictures
        ]
        caption = element("figcaption", element("b", image.name), f" {image.said}")
        figures.append(element("figure", caption, element("div", *drawn, class_="pictures")))
    said = (
        "Truth and prediction have the same colours. The third picture shows wrong weight: the stronger the red, the "
        "more of it, compared with the rest of the image. Grey is void."
    )
    return [element("p", said), element("ul", *keys, class_="legend"), element("div", *figures, class_="gallery")]


def _items(items: Items) -> Element:
    if all(not term for term, _ in items.items):
        return element("ul", *(element("li", text) for _, text in items.items))
    return element("dl", *(x for term, text in items.items for x in (element("dt", term), element("dd", text))))


def _scrolled(caption: str, *made: Element) -> Element:
    """What may be wider than the page, where the keyboard can reach it."""
    return element("div", *made, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _table(block: Block) -> list[Element]:
    kinds = ["text" if k < block.texts else None for k in range(block.columns)]
    head = [element("th", x, scope="col", class_=kind) for x, kind in zip(block.head, kinds, strict=True)]
    head += [element("th", block.scale, scope="col", class_="wide")] if block.marks else []
    rows = []
    for line, (first, *rest) in enumerate(block.rows):
        cells = [element("th", first, scope="row", class_="text")]
        cells += [
            element("td", x.replace(" *", "\u00a0*"), class_=kind) for x, kind in zip(rest, kinds[1:], strict=True)
        ]
        if block.marks:
            cells.append(element("td", _mark(block.marks[line]), class_="wide"))
        rows.append(element("tr", *cells))
    parts = element("caption", block.title), element("thead", element("tr", *head)), element("tbody", *rows)
    return [_scrolled(block.title, element("table", *parts)), *_notes(block.notes)]


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
    return [
        _scrolled(heat.caption, _square(heat)),
        *_notes([f"Weight{heat.in_unit}, and below it the number of rows."]),
    ]


def _square(heat: Heat) -> Element:
    table, shares = heat.table, np.nan_to_num(class_shares(heat.table, axis=1))
    names = [str(label) for label in table.labels]
    head = [element("td", "true \\ predicted"), *(element("th", x, scope="col") for x in names)]
    rows = []
    for a, name in enumerate(names[: len(table.classes)]):  # void labels are never true
        cells: list[Child] = [element("th", name, scope="row", class_="text")]
        for b in range(len(names)):
            n, w = int(table.n[a, b]), float(table.w[a, b])
            inside = (number(w), element("small", f"{n:,}")) if n else ()
            style = f"--s:{sqrt(shares[a, b]):.3f}" if n else None  # the root, so that small errors show
            cells.append(element("td", *inside, class_="right" if a == b else None, style=style))
        rows.append(element("tr", *cells))
    parts = element("caption", heat.caption), element("thead", element("tr", *head)), element("tbody", *rows)
    return element("table", *parts, class_="heat", style=f"--k:{len(names)}")


def _funnel(block: Funnel) -> list[Element]:
    found, drawn = block.found, funnel(block.found)
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
    rows = []
    for k, (name, band) in enumerate(zip(found.names, grid["bands"], strict=True)):
        key = element("span", class_="key", style=f"background:{colour(k)}", aria_hidden="true")
        ranges = band["ranges"][now] if band else "undefined"
        cells = [element("th", key, name, scope="row", class_="text"), element("td", decimal(found.value(name)))]
        cells += [element("td", found.scores[name].intervals[found.measure.name].ends)]
        rows.append(element("tr", *cells, element("td", ranges, id=f"range-{k}")))
    heads = ["Prediction", found.measure.title, "Other rows"]
    cells = [element("th", x, scope="col", class_="text" if x == "Prediction" else None) for x in heads]
    weights = element("th", "Other weights, ", element("span", grid["eps"][now], class_="eps-shown"), scope="col")
    caption = f"{found.measure.title} and how far it may be off"
    table = element(
        "table", element("caption", caption), element("thead", element("tr", *cells, weights)), element("tbody", *rows)
    )
    data = json.dumps({name: x for name, x in grid.items() if name != "now"}, ensure_ascii=False)
    stored = _raw("script", re.sub("[<>&]", lambda x: f"\\u{ord(x[0]):04x}", data), type="application/json", id="grid")
    chart = _scrolled(f"Picture: {caption}", drawn.picture, rail)
    figure = element("figure", chart, element("figcaption", _caption(found.at_least)))
    intervals = [score.intervals[found.measure.name].ends for score in found.scores.values()]
    return [figure, panel, _scrolled(caption, table), *_notes(starred([intervals])), stored]


def _caption(at_least: float | None) -> str:
    text = (
        "Left: the interval (sampling error). Right: the certified band (errors in the weights), darker up to "
        "ε. The band was computed at some values of ε; between two of them it is drawn as wide as at the larger one."
    )
    return text if at_least is None else f"{text} Dotted: the score that was asked for, {number(at_least)}."

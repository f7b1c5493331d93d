"""What the numbers of a raster stand for: names and colours of classes, from wherever a file keeps them."""

from __future__ import annotations

import re
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Colour = tuple[int, int, int]

VALUE, NAME, RED, GREEN, BLUE = "value", "name", "red", "green", "blue"
"""What the columns of an attribute table are used for."""

USAGES = {2: NAME, 5: VALUE, 6: RED, 7: GREEN, 8: BLUE}
"""The same, as GDAL numbers them."""

TITLES = {
    VALUE: ("value", "val"),
    NAME: ("class_name", "classname", "class_names", "class", "name", "label", "category", "landcover", "land_cover"),
    RED: ("red", "r"), GREEN: ("green", "g"), BLUE: ("blue", "b"),
}  # fmt: skip
"""What such columns are called where nothing else says what they are for."""


class Legend(NamedTuple):
    """Names and colours by the numbers of the classes."""

    names: dict[int, str]
    colours: dict[int, Colour]


def legend_of_band(dataset: Any, band: int) -> Legend:
    """Read the legend of a band: CF flags, an attribute table (inside, or in .aux.xml), or category names."""
    described = _described(dataset, band)
    palette = described.find("ColorTable")
    colours = {}
    if palette is not None:
        colours = {i: _rgb(entry.attrib) for i, entry in enumerate(palette.iter("Entry"))}
    names = flags({**dataset.tags(), **dataset.tags(band)})
    table = described.find("GDALRasterAttributeTable")
    attributes = Legend({}, {})
    if table is not None:
        attributes = _of_columns(*_attribute_table(table))
    categories = [category.text or "" for category in described.iterfind("CategoryNames/Category")]
    if not names:
        names = attributes.names or {i: text for i, text in enumerate(categories) if text.strip()}
    return Legend(names, colours or attributes.colours)


def exact_nodata(dataset: Any, band: int, given: float | int | None) -> float | int | None:
    """The nodata of a band of 64-bit integers, which rasterio rounds to a float or drops; of others what is given."""
    if dataset.dtypes[band - 1] not in ("int64", "uint64"):
        return given
    text = _described(dataset, band).findtext("NoDataValue", "")
    return int(text) if re.fullmatch(r"-?\d+", text) else given


def flags(attributes: Mapping[str, Any]) -> dict[int, str]:
    """Names of classes from CF's ``flag_values`` and ``flag_meanings``.

    Examples
    --------
    >>> flags({"flag_values": [1, 2], "flag_meanings": "water bare_soil"})
    {1: 'water', 2: 'bare_soil'}
    """
    values, meanings = attributes.get("flag_values"), attributes.get("flag_meanings")
    if values is None or not isinstance(meanings, str):
        return {}
    numbers = re.findall(r"-?\d+", values) if isinstance(values, str) else list(values)
    return dict(zip(map(int, numbers), meanings.split(), strict=False)) if len(numbers) == len(meanings.split()) else {}


def _described(dataset: Any, band: int) -> ET.Element:
    """A band as GDAL writes it into a virtual raster, which has all that rasterio does not hand out."""
    import rasterio
    import rasterio.shutil

    virtual = f"/vsimem/{uuid.uuid4()}.vrt"
    try:
        rasterio.shutil.copy(dataset, virtual, driver="VRT")
        try:
            with rasterio.open(virtual) as copy:
                text = copy.tags(ns="xml:VRT")["xml:VRT"]
        finally:
            rasterio.shutil.delete(virtual)
    except (rasterio.errors.RasterioError, KeyError):  # what cannot be copied, such as a warped raster, has no legend
        return ET.Element("VRTRasterBand")
    found = ET.fromstring(text).findall("VRTRasterBand")
    return found[band - 1]


def _rgb(entry: Mapping[str, str]) -> Colour:
    return int(entry["c1"]), int(entry["c2"]), int(entry["c3"])


def _attribute_table(table: ET.Element) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Columns of GDAL's attribute table, and what they are used for."""
    fields = table.findall("FieldDefn")
    titles = [field.findtext("Name", "") for field in fields]
    rows = [[cell.text or "" for cell in row.iter("F")] for row in table.iter("Row")]
    columns: dict[str, list[Any]] = {title: [row[i] for row in rows] for i, title in enumerate(titles)}
    usages = {title: USAGES.get(int(f.findtext("Usage", "0")), "") for title, f in zip(titles, fields, strict=True)}
    if VALUE not in usages.values() and not any(title.lower() in TITLES[VALUE] for title in titles):
        first, size = float(table.get("Row0Min", 0)), float(table.get("BinSize", 1))
        columns["value"] = [first + size * i for i in range(len(rows))]
    return columns, usages


def _of_columns(columns: Mapping[str, Sequence[Any]], usages: Mapping[str, str]) -> Legend:
    """The legend in the columns of an attribute table; none where it is not clear which they are."""
    found: dict[str, Sequence[Any]] = {}
    for use, titles in TITLES.items():
        mine = [c for c in columns if usages.get(c) == use]
        mine += [c for known in titles for c in columns if c.lower() == known and c not in mine]
        if mine:
            found[use] = columns[mine[0]]
    if VALUE not in found:
        return Legend({}, {})
    numbers = [_number(x) for x in found[VALUE]]
    if any(x is None or x != int(x) for x in numbers):
        return Legend({}, {})
    values = [int(x) for x in numbers if x is not None]
    names = {v: str(x).strip() for v, x in zip(values, found.get(NAME, ()), strict=False) if str(x).strip()}
    if all(_number(name) is not None for name in names.values()):
        names = {}  # numbers are no names
    channels = [[_number(x) for x in found.get(use, ())] for use in (RED, GREEN, BLUE)]
    colours: dict[int, Colour] = {}
    if all(channels) and all(x is not None for channel in channels for x in channel):
        whole = [[float(x or 0) for x in channel] for channel in channels]
        factor = 255 if max(map(max, whole)) <= 1 else 1
        triples = zip(*([round(x * factor) for x in channel] for channel in whole), strict=True)
        colours = dict(zip(values, triples, strict=True))
    return Legend(names, colours)


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

"""What the numbers of a raster stand for: names and colours of classes, from wherever a file keeps them."""

from __future__ import annotations

import re
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any, NamedTuple

Colour = tuple[int, int, int]


class Legend(NamedTuple):
    """Names and colours by the numbers of the classes."""

    names: dict[int, str]
    colours: dict[int, Colour]


def legend_of_band(dataset: Any, band: int) -> Legend:
    """Read the legend of a band: CF flags or category names, and the colours of its palette."""
    described = _described(dataset, band)
    names = flags({**dataset.tags(), **dataset.tags(band)})
    if not names:
        categories = [category.text or "" for category in described.iterfind("CategoryNames/Category")]
        names = {i: text for i, text in enumerate(categories) if text.strip()}
    palette = enumerate(described.iterfind("ColorTable/Entry"))
    return Legend(names, {i: (int(x.get("c1", 0)), int(x.get("c2", 0)), int(x.get("c3", 0))) for i, x in palette})


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

"""Calls of `wmcc.tabulate` from flat keywords, so that tests can vary one of them over all sources."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import wmcc
from wmcc.sources import tabulate_part as _tabulate_part
from wmcc.sources.request import Request

STRATA = ("stratum", "population", "fpc", "lonely", "nested")
REPLICATES = ("replicates", "method", "scales", "fay", "df")
DESIGN = (*STRATA, *REPLICATES, "poststratum", "totals")


def _taken(given: dict[str, Any], *names: str) -> dict[str, Any]:
    taken = {name: given.pop(name) for name in names if name in given}
    return {name: x for name, x in taken.items() if x is not None or name not in DESIGN}


def design_of(given: dict[str, Any]) -> Any:
    """Take what is said of a design out of keywords, and make its value; None without."""
    strata = _taken(given, *STRATA)
    post = _taken(given, "poststratum", "totals")
    replicates = _taken(given, *REPLICATES)
    if replicates:
        return wmcc.Replicates(replicates.pop("replicates", None), replicates.pop("method", None), **replicates)
    if not (strata or post):
        return None
    design = wmcc.Strata(strata.pop("stratum", None), **strata) if strata else None
    return wmcc.PostStrata(post.get("poststratum"), post.get("totals"), design=design) if post else design


def _is_raster(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike)) or hasattr(data, "dims") or type(data).__module__.startswith("rasterio")


def _raster(data: Any, options: Mapping[str, Any]) -> Any:
    if isinstance(data, (list, tuple)):
        return [_raster(own, options) for own in data]
    if isinstance(data, dict):
        return {name: _raster(own, options) for name, own in data.items()}
    return wmcc.Raster(data, **options) if options and _is_raster(data) else data


def values_of(*data: Any, **given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of `wmcc.tabulate` for flat keywords."""
    design = design_of(given)
    if design is not None:
        given["design"] = design
    if "blocks" in given:
        sides = given.pop("blocks")
        given["cluster"] = wmcc.Blocks(*sides) if isinstance(sides, tuple) else wmcc.Blocks(sides)
    if given.get("area") == "geodesic":
        del given["area"]
    if "sliver" in given and isinstance(given["sliver"], (int, float)):  # in the unit of areas; now in square metres
        given["sliver"] *= {"ha": 1e4, "km2": 1e6, "m2": 1}[given.get("unit", "ha")]
    if "unit" in given:
        own = wmcc.Area(given.pop("unit"))
        if given.keys() & {"weight", "true", "pred"}:
            given["weight"] = own
        elif len(data) > 2:
            data = (*data[:2], own)
        else:
            given["sample_weight"] = own
    if (data or "y_true" in given) and (
        "band" in given or "align" in given or ("crs" in given and "true" not in given)
    ):
        band, crs = _taken(given, "band"), _taken(given, "crs")
        align = {"resample": given.pop("align")} if "align" in given else {}
        truth, *others = data or (given["y_true"], given["y_pred"])
        zones = {name: given[name] for name in ("by", "cluster") if name in given}
        given |= {name: _raster(own, crs | align) for name, own in zones.items()}
        sides = [_raster(truth, band | crs), _raster(others[0], band | crs | align), *others[1:]]
        if data:
            data = tuple(sides)
        else:
            given["y_true"], given["y_pred"] = sides
    layer = _taken(given, "layer", "xy", "crs")
    if (
        not data
        and "y_true" in given
        and (layer or given.keys() & {"overlay", "uncovered", "sliver", "engine", "join", "on"})
    ):
        data = (given.pop("y_true"),)
    overlay = _taken(given, "overlay", "overlay_layer", "uncovered", "sliver")
    if layer and data:
        data = (wmcc.Layer(data[0], **layer), *data[1:])
    if overlay and data:
        other, name = overlay.pop("overlay", None), overlay.pop("overlay_layer", None)
        other = wmcc.Layer(other, name) if name is not None else other
        data = (wmcc.Overlay(data[0], other, **overlay), *data[1:])
    engine, join = _taken(given, "engine"), _taken(given, "join", "on", "unmatched")
    if data and engine and engine["engine"] is not None:
        data = (wmcc.Files(data[0], **engine), *data[1:])
        if join and isinstance(join.get("join"), (str, os.PathLike)):
            join["join"] = wmcc.Files(join["join"], **engine)
    if join and data:
        data = (wmcc.Join(data[0], join.pop("join", None), join.pop("on", None), **join), *data[1:])
    return data, given


def tabulate(*data: Any, **given: Any) -> Any:
    """`wmcc.tabulate` with flat keywords."""
    positions, named = values_of(*data, **given)
    return wmcc.tabulate(*positions, **named)


def tabulate_part(*data: Any, **given: Any) -> Any:
    """Tabulate a part of a sample, in which some strata may have no row."""
    positions, named = values_of(*data, **given)
    return _tabulate_part(Request(*positions, **named))

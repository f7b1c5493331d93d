"""Layers of polygons and points as frames of rows, which are tabulated as any other frame."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import InputTypeError
from ..geo.areas import METRES, check_choice, polygon_areas
from ..geo.layers import TEXT, Layer, column_names, no_crs, read_layer, repaired
from ..optional import module
from .options import AREA, LAYERS, LayerOptions
from .places import unused
from .texts import reader

Rows = tuple[Any, Any, Any, Any, Mapping[Any, str]]
"""A frame, and what its columns are: predictions, weight, cluster; and the labels that stand for no class."""

WITH_OVERLAY = ("uncovered", "sliver", "overlay_layer", "xy")


def laid_out(
    data: Any,
    options: LayerOptions,
    true: Any,
    pred: Any,
    weight: Any,
    cluster: Any,
    keys: tuple[Any, ...],
    joined: bool = False,
    skip_missing: bool = False,
) -> Rows:
    """Make a frame of rows of one layer, or of two, with a column of areas if they are the weight.

    ``keys`` is what the caller gave as groups, strata and so on, which may name columns too; ``joined`` says that
    columns may be those of another frame, and ``skip_missing`` that classes may be missing.
    """
    check_choice("area", options.area, ("geodesic", "equal-area"))
    if options.unit is not None:
        check_choice("unit", options.unit, tuple(METRES))
    by_area = isinstance(weight, str) and weight == AREA
    if options.overlay is not None:
        from .overlays import overlaid

        return overlaid(data, options, true, pred, weight, keys, skip_missing)
    for name in WITH_OVERLAY:
        if getattr(options, name) != options._field_defaults[name]:
            raise InputTypeError(
                f"{name}= is for data with a map laid over them: give the map as overlay=.", None, name
            )
    if not by_area:
        for name in ("area", "unit"):
            if getattr(options, name) != options._field_defaults[name]:
                raise InputTypeError(f"{name}= is for areas as weights: give weight='area'.", None, name)
    is_file = isinstance(data, (str, os.PathLike))
    if not is_file and not hasattr(data, "columns"):
        raise InputTypeError(
            f"the data are a {type(data).__name__}, which has geometries only; expected a frame with classes."
        )
    by_area = by_area and (options.unit is not None or AREA not in column_names(data, options.layer))
    if not is_file and not by_area:
        return data, pred, weight, cluster, {}
    columns = None if joined else named_columns(true, pred, None if by_area else weight, keys)
    layer = read_layer(data, layer=options.layer, crs=options.crs, columns=columns, geometry=by_area)
    if not by_area:
        return layer.frame, pred, weight, cluster, {}
    areas = areas_of(layer, options)
    frame = layer.frame if is_file else module("pandas").DataFrame(data.drop(columns=data.geometry.name))
    own = unused(f"area ({options.unit or 'ha'})", list(frame.columns))
    return frame.assign(**{own: areas}), pred, own, cluster, {}


def areas_of(layer: Layer, options: LayerOptions) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Areas of the polygons of a layer, in the unit that was asked for."""
    if layer.crs is None:
        raise no_crs(layer.name, "area")
    return polygon_areas(repaired(layer).geometry, layer.crs, options.area, options.unit or "ha")


def joined_frame(data: Any) -> Any:
    """Return a layer in a file that is joined with another as a frame, without its geometry; other data as they are."""
    is_file = isinstance(data, (str, os.PathLike)) and os.fspath(data).lower().endswith(LAYERS)
    return read_layer(data, geometry=False).frame if is_file else data


def from_text(frame: Any, data: Any, numbers: tuple[Any, ...] = ()) -> Any:
    """Return a frame whose columns, if they were read from a file of text, are what they stand for.

    The rule is that of other files of text: integers if all values look like integers, and else text. ``numbers`` may
    name columns that hold numbers, such as weights.
    """
    if not isinstance(data, (str, os.PathLike)) or not os.fspath(data).lower().removesuffix(".gz").endswith((*TEXT,)):
        return frame
    pandas = module("pandas")
    typed = {}
    for name in frame.columns:
        own = frame[name]
        if name in numbers and not pandas.to_numeric(own, errors="coerce")[own.notna()].isna().any():
            typed[name] = pandas.to_numeric(own)
            continue
        read = reader(own.dropna())
        typed[name] = own if read is str else own.map(read, na_action="ignore").astype(object)
    return pandas.DataFrame(typed, index=frame.index)


def named_columns(*given: Any) -> list[str] | None:
    """Names of columns among what the caller gave; None if any column may be needed."""
    found: dict[str, None] = {}
    for one in _leaves(given):
        if one is None or isinstance(one, (bool, int, float)):
            continue
        if not isinstance(one, str) or any(x in one for x in "*?["):
            return None
        found[one] = None
    return list(found)


def _leaves(given: Any) -> Iterator[Any]:
    if isinstance(given, (list, tuple)):
        for one in given:
            yield from _leaves(one)
    elif isinstance(given, Mapping):
        yield from given.values()
    else:
        yield given

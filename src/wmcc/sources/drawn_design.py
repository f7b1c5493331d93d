"""How a sample was drawn, as its points say: columns that `wmcc.draw_sample` writes, and `wmcc.tabulate` reads."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from ..errors import InputError, MapWarning, WmccError, warn
from .request import Request
from .values import Files, Join, Layer, Overlay, Strata

STRATUM, SIZE, UNIT = "drawn_from", "drawn_size", "drawn_unit"
"""Columns of the stratum that a point was drawn from, of the size of that stratum, and of the block it was drawn in.

Names have at most ten letters, which is what a Shapefile keeps.
"""


def with_drawn_design(request: Request) -> Request:
    """Return a call of columns with the design that the data say, if it has no weights, strata and clusters."""
    if any(x is not None for x in (request.design, request.weight, request.cluster)):
        _note_other_strata(request)
        return request
    there = columns_of(request.y_true)
    if SIZE not in there:
        if STRATUM in there and UNIT not in there:
            raise InputError(
                f"the data have the column {STRATUM!r} of a drawn sample, and no {SIZE!r}, the sizes of its strata.",
                f"keep {SIZE!r}; or say how rows were drawn: design=wmcc.Strata({STRATUM!r}, population=…).",
                "design",
                f"keep {SIZE!r}; or say how rows were drawn: --stratum {STRATUM} --population FILE.",
            )
        return request
    design = Strata(STRATUM if STRATUM in there else None, population=SIZE)
    return request._replace(design=design, cluster=UNIT if UNIT in there else None)


def _note_other_strata(request: Request) -> None:
    """Say so if strata that are given are not those that points were drawn in."""
    stratum = None if request.strata is None else request.strata.stratum
    if not isinstance(stratum, str) or stratum == STRATUM:
        return
    if {STRATUM, SIZE} <= {*columns_of(request.y_true)}:
        warn(
            f"the points were drawn in the strata of {STRATUM!r}, and the strata of the call, {stratum!r}, are taken "
            "instead; standard errors are right only if points were drawn in these. Leave `design` out for the strata "
            "that the file names.",
            MapWarning,
        )


def columns_of(data: Any) -> Collection[Any]:
    """Return names of the columns of a frame, a file or a layer; none where only reading tells them."""
    if isinstance(data, (Overlay, Join)):
        data = data.reference if isinstance(data, Overlay) else data.truth
    layer = None
    if isinstance(data, Layer):
        data, layer = data.data, data.layer
    if isinstance(data, Files):
        data = data.paths
    if isinstance(data, (str, os.PathLike, list, tuple)):
        return _of_files(data, layer)
    if hasattr(data, "collect_schema"):  # a lazy frame, which warns of being asked otherwise
        return list(data.collect_schema().names())
    columns = data.column_names if hasattr(data, "column_names") else getattr(data, "columns", ())
    return columns if isinstance(columns, Collection) else ()


def _of_files(data: Any, layer: str | None) -> Collection[Any]:
    from ..geo.layers import column_names
    from .datasets import stored_names
    from .files import find, is_address
    from .recognised import is_layer

    try:
        if isinstance(data, (str, os.PathLike)) and is_layer(data, None):
            return column_names(data, layer)
        files = find(data)
        first = files.paths[0]
        if is_address(first) or files.format == "jsonl":
            return ()
        return files.header(first) if files.is_csv else stored_names(first)
    except (WmccError, OSError, ValueError):  # whoever reads the data says what is wrong
        return ()

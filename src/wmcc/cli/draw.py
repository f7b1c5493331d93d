"""`wmcc draw`."""

from __future__ import annotations

from typing import Any

import click

from ..present.result import ENDINGS
from . import options as o

ENDS = (".gpkg", ".geojson", ".fgb", *ENDINGS)


@o.command()
@click.argument("file", metavar="MAP")
@o.options("plan")
@o.option("n", "Number of points of the whole map, instead of a plan.", default=None)
@o.option(
    "method",
    "Draw in each class, at random in the whole map, or on a lattice with a random start. By default stratified with a "
    "plan of classes, and else simple.",
    type=click.Choice(["stratified", "simple", "systematic"], case_sensitive=False),
)
@o.option("blocks", "Draw square blocks of this side, in pixels, and points in them; or rows and columns, as 64,128.")
@o.options("per_block", "min_distance", "seed")
@o.option("pred", "Column of the classes, if the map has polygons.", multiple=False)
@o.option("layer", "Layer of a file of polygons that has several.")
@o.options("crs", "band")
@o.output(ends=ENDS, how="How to print the result; with csv, json and csv-safe the points, and else what was drawn.")
def command(asked: o.CommandOptions, output: o.Output) -> None:
    """Draw the points of a map that are to be labelled, by their area.

    MAP is a raster or a layer of polygons. --plan has the points of each class: what `wmcc plan -o plan.json` wrote, or
    a file of two columns, the class and its number of points. Without -o it shows what was drawn; a file has the points
    with an empty column reference. When that is filled in, the commands that read the file know how the points were
    drawn: they need --true reference, and --pred map_class or --overlay.

    Examples::

        wmcc example -o map.asc
        wmcc draw map.asc --crs EPSG:32632 --n 200 --method stratified
        wmcc draw map.asc --crs EPSG:32632 --n 200 --min-distance 100 -o points.csv
        wmcc draw map.asc --crs EPSG:32632 --n 200 --blocks 20 --per-block 5 --seed 7 -o points.geojson
    """
    from ..errors import InputError
    from ..mapping.drawing import draw_sample
    from .request import as_blocks, as_map

    output.check([asked.file, *([asked.plan] if asked.plan else [])])
    if (asked.plan is None) == (asked.n is None):
        came = "neither --plan nor --n was given" if asked.plan is None else "--plan and --n were both given"
        raise InputError(f"{came}; expected the points of each class, or of the whole map.", argument="plan")
    data = as_map(asked.file, asked.crs, asked.band, asked.layer)
    output.write(
        draw_sample(
            data,
            asked.n if asked.plan is None else _plan(asked.plan),
            method=asked.method,
            pred=asked.pred,
            cluster=None if asked.blocks is None else as_blocks(asked.blocks),
            per_cluster=asked.per_block,
            min_distance=asked.min_distance,
            seed=asked.seed,
        )
    )


def _plan(name: str) -> dict[Any, int]:
    """Return the points of each class from a stored plan, or from a small table."""
    import json

    from ..errors import InputError, missing_file
    from ..sources.text_types import reader
    from .sizes import as_read, read_columns

    columns: dict[str, list[Any]]
    is_text = False
    if name.endswith(".json"):
        try:
            with open(name, encoding="utf-8") as file:
                stored = json.load(file)
        except FileNotFoundError:
            raise missing_file(name) from None
        except (OSError, ValueError):
            stored = None
        if not isinstance(stored, dict) or stored.get("kind") != "sample plan":
            raise InputError(f"{name} is no stored plan.", "`wmcc plan … -o plan.json` writes one.", "plan")
        columns = {word: [own[word] for own in stored["strata"]] for word in ("stratum", "n")}
    else:
        columns, is_text = read_columns(name)
    if {"stratum", "n"} <= {*columns}:
        columns = {word: columns[word] for word in ("stratum", "n")}
    if len(columns) != 2:
        raise InputError(
            f"{name} has {len(columns)} columns; expected two, the class and its number of points.",
            "call them stratum and n, or select them.",
            "plan",
        )
    keys, numbers = columns.values()
    if is_text:
        keys = list(map(reader(keys), keys))
        numbers = [int(x) if isinstance(x, float) and x.is_integer() else x for x in map(as_read, numbers)]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise InputError(f"{name} has two rows for {twice!r}; expected one.", argument="plan")
    return dict(zip(keys, numbers, strict=True))

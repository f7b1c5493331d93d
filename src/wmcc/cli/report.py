"""`wmcc report`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from . import options as o

if TYPE_CHECKING:
    from .request import DataOptions

FORMATS = {"markdown": ".md", "html": ".html", "json": ".json"}


@o.command("""
    wmcc report parcels.csv --true label --pred pred --pred pred_b --weight area -o report.html
    wmcc report parcels.csv --true label --pred pred --weight area --at-least 0.85 -o report.md
    wmcc report parcels.csv --true label --pred pred --weight area --terms map --unit ha -o map.html
""")
@o.data(1, None, units=True)
@o.best_measure
@o.eps
@o.bounds
@o.at_least
@o.confidence
@click.option(
    "--terms",
    type=click.Choice(["classifier", "map"]),
    default="classifier",
    show_default=True,
    help="In whose words: with map, the report has user's and producer's accuracy, areas, and the map in rows.",
)
@o.pixel_area
@click.option("--title", metavar="TEXT", help="Title of the page.")
@click.option("--format", "-f", type=click.Choice(list(FORMATS), case_sensitive=False), help="How to print the report.")
@click.option(
    "--out",
    "-o",
    metavar="FILE",
    callback=lambda ctx, param, name: None if name == "-" else name,
    help="Write to this file instead of printing: .html .md .json",
)
@o.traceback
def command(
    request: DataOptions,
    measure: str | None,
    eps: float | None,
    bounds: dict[str, str],
    at_least: float | None,
    confidence: float,
    terms: Any,
    pixel_area: float,
    title: str | None,
    format: str | None,  # noqa: A002
    out: str | None,
    traceback: bool,
) -> None:
    """Write a page about one classifier or several.

    The page is one file that loads nothing from elsewhere. It has the answer in a sentence, scores, intervals and
    certified ranges, comparisons, confusion tables, classes, weights, warnings and formulas. With --images it also has
    the scores of images, and pictures of those with the lowest; of rasters, polygons and points with coordinates, a map
    of where the prediction is wrong. Without -o it is printed as Markdown.
    """
    from ..core.tables import Tables
    from ..errors import InputError
    from ..report.write import ENDINGS, ReportOptions, build, render
    from ..robustness.box import EPS
    from . import standard_input
    from .output import Output
    from .startup import load_student

    output = Output.of(format, out, FORMATS, ENDINGS)
    output.check(request.files)
    request.check_bounds(bounds, None, None)
    load_student()
    shown = shlex.join(["wmcc", *sys.argv[1:]])
    unit = request.shown_unit
    asked = measure, EPS if eps is None else eps, at_least, confidence, title, shown, None, terms, pixel_area, unit
    wish = ReportOptions(*asked, **request.pictures())
    found = request.read()
    if isinstance(found, Tables):
        raise InputError(
            f"there is a table for each {' and '.join(map(str, found.columns))}; a report takes one table.",
            "tabulate without --by, or score the groups with `wmcc score`.",
        )
    sides: Any = request.bounds(bounds)
    wish = replace(wish, map=request.error_maps())
    built = build(found, wish, [*request.paths, *request.other_paths], standard_input.originals(), **sides)
    output.emit(render(output.form, *built))

"""`wmcc report`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from . import options as o

FORMATS = {"markdown": ".md", "html": ".html", "json": ".json"}


@o.command()
@o.data(1, None, units=True)
@o.option("measure", "By which classifiers are compared.  [default: mcc for two classes, ecc for more]", default=None)
@o.options("eps", "lower", "upper", "at_least", "confidence", "terms", "pixel_area", "title")
@o.output(FORMATS, (".html", ".md", ".json"), "How to print the report.")
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
    """Write a page about one classifier or several.

    The page is one file that loads nothing from elsewhere. It has the answer in a sentence, scores, intervals and
    certified ranges, comparisons, confusion tables, classes, weights, warnings and formulas. With --images it also has
    the scores of images, and pictures of those with the lowest; of rasters, polygons and points with coordinates, a map
    of where the prediction is wrong. With --score it has the curve over all thresholds, and the labels are those of
    --threshold, or else of the best one; it then begins with what to expect on new data. Without -o it is printed as
    Markdown.

    Examples::

        wmcc report parcels.csv --true label --pred pred --pred pred_b --weight area -o report.html
        wmcc report parcels.csv --true label --pred pred --weight area --at-least 0.85 -o report.md
        wmcc report parcels.csv --true label --pred pred --weight area --terms map --unit ha -o map.html
        wmcc report parcels.csv --true label --score prob --weight area --ignore water -o scores.html
    """
    from ..errors import InputError
    from ..report.write import ReportOptions, build, render
    from ..robustness.box import EPS
    from . import standard_input

    request.check_bounds(asked.bounds)
    wish = ReportOptions(
        confidence_level=asked.confidence,
        command=shlex.join(["wmcc", *sys.argv[1:]]),
        unit=request.shown_unit,
        eps=EPS if asked.eps is None else asked.eps,
        **{name: getattr(asked, name) for name in ("measure", "at_least", "terms", "pixel_area", "title")},
        **request.pictures(),
    )
    found: Any = request.given_table()
    if isinstance(found, Mapping):
        groups: Any = found
        said = f"there is a table for each {' and '.join(map(str, groups.columns))}; a report takes one table."
        reader = "`wmcc threshold` chooses for each" if groups._kind.startswith("score") else "`wmcc score` scores each"
        raise InputError(said, f"leave --by out; {reader}.", "by")
    if request.threshold:
        wish = replace(wish, threshold=request.given_threshold(found))
    sides: Any = request.bounds(asked.bounds)
    wish = replace(wish, map=request.error_maps())
    paths = [*request.paths, *request.other_paths]
    files = {path: standard_input.named(path) for path in paths}
    built = build(found, wish, files, **sides)
    output.emit(render(output.form, *built))

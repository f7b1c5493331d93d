"""`write_report`: from a table to a page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.joint import JointTable
from ..core.labels import Label, listed
from ..core.score_table import ScoreTable, as_scores
from ..core.table import Table, Tabulated, one_table
from ..errors import InputError, InputTypeError
from ..inference.contrasts import compare
from ..mapping.accuracy import checked_area, map_accuracy
from ..mapping.error_map import ErrorMap
from ..measures.base import Measure, MeasureName, for_tabulated
from ..measures.checks import checked_level, checked_number, named_measure
from ..present.files import check, write
from ..present.result import ending
from ..present.text import brief, counted
from ..results.images import ALONE, image_scores
from ..robustness.box import WeightBounds
from .document import Document
from .findings import Findings, findings
from .maps import drawings, map_pictures
from .markdown import markdown
from .page import page
from .pictures import Pictured, checked_folders, pictured
from .provenance import Provenance, provenance
from .record import Report
from .sections import document
from .thresholds import Thresholds, at_thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CLASSES = 10_000
"""A page shows some of them; a report as JSON has all, some 3 kB each."""

ENDINGS = (".html", ".md", ".json")

Terms = Literal["classifier", "map"]
TERMS: tuple[Terms, ...] = ("classifier", "map")
"""Whose words a report has."""


@dataclass(frozen=True)
class ReportOptions:
    """What is asked of a report, checked before data are read; `write_report` says what each is."""

    measure: MeasureName | Measure | None = None
    eps: float = 0.1
    at_least: float | None = None
    confidence_level: float = 0.95
    title: str | None = None
    command: str | None = None
    progress: bool | None = None
    terms: Terms = "classifier"
    pixel_area: float = 1.0
    unit: str | None = None
    images: Pictured = None
    names: Mapping[Label, Label] | None = None
    map: ErrorMap | Mapping[str, ErrorMap] | None = None
    figures: Mapping[str, Figure | Axes | bytes] | None = None
    threshold: float | Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if not 0 <= checked_number(self.eps, "eps") < 1:
            raise InputError.of("eps", self.eps, "a share of the weights, at least 0 and below 1, such as 0.1")
        if self.at_least is not None:
            checked_number(self.at_least, "at_least")
        if self.measure is not None:
            named_measure(self.measure)
        checked_level(self.confidence_level)
        if self.terms not in TERMS:
            raise InputError.of("terms", self.terms, " or ".join(map(repr, TERMS)))
        if self.terms != "map" and self.pixel_area != 1:
            raise InputError("`pixel_area` is for areas of maps.", "give `terms` 'map' as well.", "terms")
        checked_area(self.pixel_area, self.unit)
        if not isinstance(self.names, Mapping | None):
            raise InputTypeError.of("names", self.names, "a mapping from labels to names, as {0: 'road', 1: 'grass'}")
        if not isinstance(self.title, str | None):
            raise InputTypeError.of("title", self.title, "a text")


@for_tabulated()
def write_report(
    path: str | os.PathLike[str],
    table: Tabulated | JointTable | ErrorMap | ScoreTable,
    *,
    measure: MeasureName | Measure | None = None,
    eps: float = 0.1,
    lower: Tabulated | JointTable | None = None,
    upper: Tabulated | JointTable | None = None,
    at_least: float | None = None,
    confidence_level: float = 0.95,
    title: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
    command: str | None = None,
    progress: bool | None = None,
    terms: Terms = "classifier",
    pixel_area: float = 1.0,
    unit: str | None = None,
    images: Pictured = None,
    names: Mapping[Label, Label] | None = None,
    map: ErrorMap | Mapping[str, ErrorMap] | None = None,  # noqa: A002
    figures: Mapping[str, Figure | Axes | bytes] | None = None,
    threshold: float | Mapping[str, float] | None = None,
) -> str:
    """Write a page about one prediction or several, in one file that loads nothing from elsewhere.

    The answer in a sentence; then scores, both uncertainties with a slider for ε, comparisons, confusion tables,
    classes, weights, warnings, formulas, and how it was made.

    Parameters
    ----------
    path
        Where to write: ``.html``, ``.md`` or ``.json``. The file is replaced only when it is complete.
    table
        A `wmcc.Table`; or a `wmcc.JointTable` of several predictions, which are compared. A `wmcc.results.ErrorMap` is
        its table, and its picture as ``map``. Of a `wmcc.results.ScoreTable` the report is of the labels that a
        ``threshold`` makes, and has the curve over all thresholds.
    measure
        The measure by which predictions are compared, or its name; by default MCC for two classes and ECC for more.
    eps
        How far weights may be off, as a share of themselves: the first position of the slider.
    lower, upper
        Tables of the same rows, with the smallest and with the largest weight that each may have, as in `wmcc.certify`
        and `wmcc.certify_ranking`: the report then also has the ranges for all weights within these bounds.
    at_least
        A required score: the report says up to which change of the weights it is reached.
    confidence_level
        As in `wmcc.interval`.
    title
        Of the page.
    inputs
        Files that the data came from, to be listed with their hashes; a folder or a pattern stands for those in it.
    command
        What to show as the command that made the report.
    progress
        Whether to show a bar; by default on a terminal.
    terms
        ``"map"`` for maps: the report then has what `wmcc.map_accuracy` gives, with user's and producer's accuracy and
        areas in place of precision and recall, and error matrices with the map in rows.
    pixel_area
        As in `wmcc.map_accuracy`, with ``terms="map"``.
    unit
        The unit of the weights, such as ``"ha"``, to be written beside them; with ``pixel_area`` that of areas.
    images
        The folders of images that were tabulated, ``("truth/", "pred/")`` or ``("truth/", "pred/", "maps/")`` with
        weights: the report then has what `wmcc.image_scores` gives, and pictures of the images with the lowest scores,
        1 MB at most. True if the clusters of the table are images whose files are not at hand.
    names
        Names of classes: a mapping from labels of the table. For pictures of images give the ``names`` that were given
        to `wmcc.tabulate`, from pixel values to classes.
    map
        What `wmcc.error_map` returns: the report then shows where the map is wrong, the reference and the map, and the
        errors of the classes. Of several predictions a mapping from their names; some may be left out. The pictures
        take 1.8 MB at most: they get smaller until they do.
    figures
        Figures of your own: a mapping from titles to figures or axes of matplotlib, or to the bytes of a PNG; 20 at
        most, each of at most 0.5 MB.
    threshold
        Of a score table: what makes labels of scores, or a mapping from the names of several. By default it is the best
        by ``measure``; the report then begins with what to expect of it on new data.

        Pages have the pictures. Markdown and JSON have their numbers, and the titles of figures.

    Returns
    -------
    str
        The path.

    Examples
    --------
    >>> import os, tempfile, wmcc
    >>> from wmcc.demo import make_map
    >>> land, folder = make_map(200), tempfile.mkdtemp()
    >>> both = wmcc.tabulate(land.truth, {"A": land.careless_with_small, "B": land.careless_with_large}, land.area)
    >>> os.path.basename(wmcc.write_report(os.path.join(folder, "report.html"), both))
    'report.html'
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError.of("path", path, "the name of a file, such as 'report.html'")
    out, files = os.fsdecode(path), [os.fsdecode(x) for x in inputs]
    form = ending(out, ENDINGS)
    check(out, files)
    asked = measure, eps, at_least, confidence_level, title, command, progress, terms, pixel_area, unit
    options = ReportOptions(*asked, images, names, map, figures, threshold)
    write(out, render(form, *build(table, options, dict(zip(files, files, strict=True)), lower=lower, upper=upper)))
    return out


def build(
    table: Tabulated | JointTable | ErrorMap | ScoreTable,
    options: ReportOptions,
    files: Mapping[str, str] | None = None,
    *,
    lower: Tabulated | JointTable | None = None,
    upper: Tabulated | JointTable | None = None,
) -> tuple[Document, Provenance]:
    """Make a report that has no form yet; ``files`` are those of the data, by what to call them."""
    if isinstance(table, ErrorMap):
        options = replace(options, map=table)
        table = table.table
    thresholds: dict[str, Thresholds] = {}
    scores: Any = None
    table = as_scores(table)
    if isinstance(table, ScoreTable):
        chosen = named_measure(options.measure or "mcc")
        scores = replace(table, tables=_named(table.tables, options.names))
        table, thresholds = at_thresholds(scores, options.threshold, chosen, options.confidence_level)
    elif options.threshold is not None:
        raise InputError("`threshold` is for scores; this is a table of labels.", "leave it out.", "threshold")
    data: Table | JointTable = table if isinstance(table, JointTable) else one_table(table)
    data, lower, upper = (_named(x, options.names) for x in (data, lower, upper))
    drawn = () if options.figures is None else drawings(options.figures)
    maps = {} if options.map is None else _maps(options.map, data, options)
    if len(data.labels) > MOST_CLASSES:  # it takes long to certify, and is a column of numbers more often
        hint = "check the column of labels; wmcc.score takes any number of classes."
        raise InputError(f"there are {len(data.labels):,} classes; a report takes {MOST_CLASSES:,} at most.", hint)
    folders = None if options.images is None else checked_folders(options.images, data, options.names)
    at_least, level = None if options.at_least is None else float(options.at_least), options.confidence_level
    reach = WeightBounds.of(data, None, "relative", lower, upper)
    found = findings(data, options.measure, float(options.eps), at_least, level, options.progress, reach)
    if options.terms == "map":
        area: Any = {"pixel_area": options.pixel_area, "unit": options.unit, "confidence_level": level}
        found = replace(found, maps={name: map_accuracy(own.table, **area) for name, own in found.scores.items()})
    if options.images is not None:
        of_images = image_scores(data, found.measure, confidence_level=level)
        pictures = {} if folders is None else pictured(of_images, folders, data, options.names)
        found = replace(found, images=of_images, galleries=pictures)
    weighs = options.unit if options.pixel_area == 1 else None
    found = replace(found, error_maps=maps, map_pictures=map_pictures(maps), drawings=drawn, unit=weighs)
    found = replace(found, thresholds=dict(zip(found.names, thresholds.values(), strict=False)))
    if found.chosen and found.comparisons is not None:
        best = compare(scores, found.measure, threshold="best", confidence_level=level)
        found = replace(found, comparisons=best)
    how = provenance(options.command, files or {}, {name: own.table for name, own in found.scores.items()})
    return document(found, how, options.title or _title(found)), how


def _named(table: Any, names: Mapping[Label, Label] | None) -> Any:
    """Give classes their names, unless they were tabulated with them."""
    if not names or table is None:
        return table
    known = {x: name for x, name in names.items() if x in table.labels}
    if not known and not set(names.values()) & set(table.labels):
        there = listed(table.labels)
        raise InputError(f"`names` has none of the labels of the table, which are {there}.", argument="names")
    nameless = [x for x in table.classes if x not in names] if known else []
    if nameless:
        raise InputError(f"`names` has no name for the class {nameless[0]!r}.", "add it.", "names")
    return table.rename(known)


def _maps(given: object, table: Table | JointTable, options: ReportOptions) -> dict[str, ErrorMap]:
    """Return maps by the names of the predictions, with the weights of the table."""
    tables: dict[str, Table] = table.tables if isinstance(table, JointTable) else {ALONE: table}
    known = ", ".join(map(repr, tables))
    if isinstance(given, ErrorMap) and len(tables) > 1:
        said = f"`map` is one ErrorMap; the table has {counted(len(tables), 'prediction')}."
        raise InputTypeError(said, f"give a mapping from {known}.", "map")
    given = {next(iter(tables)): given} if isinstance(given, ErrorMap) else given
    if not isinstance(given, Mapping) or not all(isinstance(x, ErrorMap) for x in given.values()):
        hint = "for instance wmcc.error_map(y_true, y_pred)."
        raise InputTypeError.of(
            "map", given, "what wmcc.error_map returns, or a mapping from predictions to such", hint
        )
    for name in given:
        if name not in tables:
            raise InputError(f"`map` has {brief(name)}; the predictions of the table are {known}.", argument="map")
        right = [int(np.trace(x.n)) for x in (given[name].table, tables[name])]
        if given[name].table.rows == tables[name].rows and right[0] != right[1]:
            said = f"{right[0]:,} of {tables[name].rows:,} rows are right on it, and {right[1]:,} in the table."
            hint = "give wmcc.error_map the labels that were tabulated."
            raise InputError(f"the `map` of {name} is not of the data of the table: {said}", hint, "map")
    ordered = {name: given[name].renamed(options.names or {}) for name in tables if name in given}
    unit = options.unit if options.pixel_area == 1 else None
    return {name: own.with_weights_of(tables[name]).in_unit(unit) for name, own in ordered.items()}


def render(form: str, built: Document, how: Provenance) -> str:
    """Write a report in the form of a file with this ending."""
    if form == ".json":
        return Report(built, how).to_json()
    return page(built) if form == ".html" else markdown(built)


def _title(found: Findings) -> str:
    one, several = ("a map", "maps") if found.maps else ("a classifier", "classifiers")
    return f"Report on {one}" if len(found.names) == 1 else f"Comparison of {len(found.names)} {several}"

"""`write_report`: from a table to a page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..core.joint import JointTable
from ..core.labels import Label
from ..core.table import Table, Tabulated, one_table
from ..errors import InputError, InputTypeError
from ..mapping.accuracy import checked_area, map_accuracy
from ..measures.base import Measure
from ..measures.checks import checked_level, checked_number, named_measure
from ..present.files import check, write
from ..present.result import ending
from ..present.text import brief
from ..results.images import image_scores
from ..robustness.box import Reach
from ..sources.images import ImageFolders
from .document import Document
from .findings import Findings, findings
from .made import BY_THEIR_PATHS, Made, made
from .markdown import markdown
from .page import page
from .pictures import checked_folders, pictured
from .record import report_json
from .sections import document

MOST_CLASSES = 10_000
"""A page shows some of them; a report as JSON has all, some 3 kB each."""

ENDINGS = (".html", ".md", ".json")

Terms = Literal["classifier", "map"]
Pictured = ImageFolders | Sequence[Any] | Literal[True] | None
"""Images of a report: their folders, or that clusters are images."""

TERMS: tuple[Terms, ...] = ("classifier", "map")
"""Whose words a report has."""


@dataclass(frozen=True)
class Wish:
    """What is asked of a report, checked before data are read; `write_report` says what each is."""

    measure: str | Measure | None = None
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
    names: Mapping[int, Label] | None = None

    def __post_init__(self) -> None:
        if not 0 <= checked_number(self.eps, "eps") < 1:
            raise InputError(
                f"eps is {self.eps!r}; expected a share of the weights, at least 0 and below 1, such as 0.1.",
                argument="eps",
            )
        if self.at_least is not None:
            checked_number(self.at_least, "at_least")
        if self.measure is not None:
            named_measure(self.measure)
        checked_level(self.confidence_level)
        if self.terms not in TERMS:
            raise InputError(
                f"terms is {brief(self.terms)}; expected {' or '.join(map(repr, TERMS))}.",
                argument="terms",
            )
        if self.terms != "map" and (self.unit is not None or self.pixel_area != 1):
            raise InputError("unit and pixel_area are for areas of maps.", "give terms='map' as well.", "terms")
        checked_area(self.pixel_area, self.unit)
        if self.names is not None and self.images in (None, True):
            raise InputError(
                "names is for pictures of images.", 'give the folders as well: images=("truth/", "pred/").', "names"
            )
        if not isinstance(self.title, str | None):
            raise InputTypeError(f"title is a {type(self.title).__name__}; expected a text.", argument="title")


def write_report(
    path: str | os.PathLike[str],
    table: Tabulated | JointTable,
    *,
    measure: str | Measure | None = None,
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
    names: Mapping[int, Label] | None = None,
) -> str:
    """Write a page about one prediction or several, in one file that loads nothing from elsewhere.

    The answer in a sentence; then scores, both uncertainties with a slider for ε, comparisons, confusion tables,
    classes, weights, warnings, formulas, and how it was made.

    Parameters
    ----------
    path
        Where to write: ``.html``, ``.md`` or ``.json``. The file is replaced only when it is complete.
    table
        A `wmcc.Table`; or a `wmcc.JointTable` of several predictions, which are compared.
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
    pixel_area, unit
        As in `wmcc.map_accuracy`.
    images
        The folders of images that were tabulated, ``("truth/", "pred/")`` or ``("truth/", "pred/", "maps/")`` with
        weights: the report then has what `wmcc.image_scores` gives, and pictures of the images with the lowest scores,
        1 MB at most. True if the clusters of the table are images whose files are not at hand.
    names
        For pictures of images: the ``names`` that were given to `wmcc.tabulate`, from pixel values to classes.

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
        raise InputTypeError(f"path is a {type(path).__name__}; expected the name of a file, such as 'report.html'.")
    out, files = os.fsdecode(path), list(map(os.fsdecode, inputs))
    form = ending(out, ENDINGS)
    check(out, files)
    asked = measure, eps, at_least, confidence_level, title, command, progress, terms, pixel_area, unit
    wish = Wish(*asked, images, names)
    write(out, render(form, *build(table, wish, files, lower=lower, upper=upper)))
    return out


def build(
    table: Tabulated | JointTable,
    wish: Wish,
    paths: Sequence[str] = (),
    names: Mapping[str, str] = BY_THEIR_PATHS,
    *,
    lower: Tabulated | JointTable | None = None,
    upper: Tabulated | JointTable | None = None,
) -> tuple[Document, Made]:
    """Make a report that has no form yet; ``names`` say what to call a file otherwise than by its path."""
    data: Table | JointTable = table if isinstance(table, JointTable) else one_table(table)
    if len(data.labels) > MOST_CLASSES:  # it takes long to certify, and is a column of numbers more often
        raise InputError(
            f"there are {len(data.labels):,} classes; a report takes {MOST_CLASSES:,} at most.",
            "check the column of labels; wmcc.score takes any number of classes.",
        )
    folders = None if wish.images is None else checked_folders(wish.images, data, wish.names)
    at_least = None if wish.at_least is None else float(wish.at_least)
    reach = Reach.of(data, None, "relative", lower, upper)
    found = findings(data, wish.measure, float(wish.eps), at_least, wish.confidence_level, wish.progress, reach)
    if wish.terms == "map":
        maps = {
            name: map_accuracy(
                own.table, pixel_area=wish.pixel_area, unit=wish.unit, confidence_level=wish.confidence_level
            )
            for name, own in found.scores.items()
        }
        found = replace(found, maps=maps)
    if wish.images is not None:
        of_images = image_scores(data, found.measure, confidence_level=wish.confidence_level)
        pictures = {} if folders is None else pictured(of_images, folders, data, wish.names)
        found = replace(found, images=of_images, galleries=pictures)
    how = made(wish.command, paths, {name: own.table for name, own in found.scores.items()}, names)
    return document(found, how, wish.title or _title(found)), how


def render(form: str, built: Document, how: Made) -> str:
    """Write a report in the form of a file with this ending."""
    if form == ".json":
        return report_json(built, how)
    return page(built) if form == ".html" else markdown(built)


def _title(found: Findings) -> str:
    one, several = ("a map", "maps") if found.maps else ("a classifier", "classifiers")
    return f"Report on {one}" if len(found.names) == 1 else f"Comparison of {len(found.names)} {several}"

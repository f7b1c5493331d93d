"""`write_report`: from predictions to a page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import InputError, InputTypeError
from ..measures.checks import checked_number, named_measure
from ..present.files import check, write
from ..results.score import Score
from .document import Document
from .findings import findings
from .made import BY_THEIR_PATHS, Made, made
from .markdown import markdown
from .page import page
from .reading import files, read
from .record import report_json
from .sections import document

Format = Literal["html", "markdown", "json"]
MOST_CLASSES = 10_000
"""A page shows some of them; a report as JSON has all, some 3 kB each."""

ENDINGS: Mapping[str, Format] = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}


@dataclass(frozen=True)
class Asked:
    """What is asked of a report, checked before data are read; `write_report` says what each is."""

    measure: Any = None
    eps: float = 0.1
    threshold: float | None = None
    confidence_level: float = 0.95
    cluster: Any = None
    names: Any = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        if not 0 <= checked_number(self.eps, "eps") < 1:
            raise InputError(
                f"eps is {self.eps!r}; expected a share of the weights, at least 0 and below 1, such as 0.1."
            )
        if self.threshold is not None:
            checked_number(self.threshold, "threshold")
        if self.measure is not None:
            named_measure(self.measure)


def write_report(
    path: Any,
    y_true: Any,
    y_pred: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    measure: Any = None,
    eps: float = 0.1,
    threshold: float | None = None,
    confidence_level: float = 0.95,
    cluster: Any = None,
    names: Any = None,
    title: str | None = None,
    format: Format | None = None,  # noqa: A002
    command: str | None = None,
    progress: bool | None = None,
    **options: Any,
) -> str:
    """Write a page about one prediction or several, to be looked at and sent on: one file that loads nothing.

    The answer in a sentence; then scores, both uncertainties with a slider for ε, comparisons, confusion tables,
    classes, weights, warnings, formulas, and how it was made::

        write_report("report.html", y_true, y_pred, area)
        write_report("report.html", y_true, {"forest": a, "net": b}, area)
        write_report("report.html", frame, "label", ["forest", "net"], "area", cluster="scene")
        write_report("report.html", "parcels.csv", "label", "net", "area")

    Parameters
    ----------
    path
        Where to write: ``.html``, ``.md`` or ``.json``. The file is there as a whole, or as it was before.
    y_true, y_pred, sample_weight, weight, **options
        What `wmcc.score` takes, for one prediction; for several a dict or list stands in its place. Or a
        `wmcc.JointTable`, or a dict of tables or joint tables, one per cluster.
    measure
        What predictions are compared by: a measure, or its name; by default MCC for two classes and ECC for more.
    eps
        How far weights may be off, as a share of themselves, where the slider stands at first.
    threshold
        A score that is asked to be kept: the report says for which weights it is.
    confidence_level, cluster
        As in `wmcc.interval`.
    names
        What to call several predictions.
    title
        Of the page.
    format
        ``"html"``, ``"markdown"`` or ``"json"``, where the name of the file does not say so.
    command
        What to show as the command that made the report.
    progress
        Whether to show a bar; by default on a terminal.

    Returns
    -------
    str
        The path.

    Examples
    --------
    >>> import os, tempfile, wmcc
    >>> from wmcc.demo import make_map
    >>> land, folder = make_map(200), tempfile.mkdtemp()
    >>> path = os.path.join(folder, "report.html")
    >>> predictions = {"A": land.careless_with_small, "B": land.careless_with_large}
    >>> os.path.basename(wmcc.write_report(path, land.truth, predictions, land.area))
    'report.html'
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"path is a {type(path).__name__}; expected the name of a file, such as 'report.html'.")
    out = os.fsdecode(path)
    form = form_of(out, format)
    check(out, files(y_true, y_pred, options))
    asked = Asked(measure, eps, threshold, confidence_level, cluster, names, progress)
    write(out, render(form, *build((y_true, y_pred, sample_weight, weight), asked, options, title, command)))
    return out


def form_of(out: str | None, given: str | None) -> str:
    """Return the form that was asked for, or that the name of the file asks for; Markdown where there is no file."""
    if given is None and out is None:
        return "markdown"
    form = given or ENDINGS.get(os.path.splitext(str(out))[1].lower())
    if form is None:
        raise InputError(
            f"the report {out!r} has no ending that says its format; expected {', '.join(ENDINGS)}.",
            "name it report.html, or ask for a format: html, markdown or json.",
        )
    if form not in ENDINGS.values():
        raise InputError(f"format is {str(form)[:40]!r}; expected html, markdown or json.")
    return form


def build(
    data: tuple[Any, Any, Any, Any],
    asked: Asked,
    options: dict[str, Any],
    title: str | None = None,
    command: str | None = None,
    paths: list[str] | None = None,
    names: Mapping[str, str] = BY_THEIR_PATHS,
) -> tuple[Document, Made]:
    """Make a report that has no form yet.

    ``data`` are the first arguments of `write_report`, ``paths`` the files that they come from, if they do not say so,
    and ``names`` what to call a file otherwise than by its path.
    """
    if not isinstance(title, str | None):
        raise InputTypeError(f"title is a {type(title).__name__}; expected a text.")
    if "zero_division" in options:
        raise InputTypeError("a report counts what is undefined as 0, and says so; it takes no zero_division.")
    joints, scores = read(*data, asked.confidence_level, asked.cluster, asked.names, options)
    _check_classes(scores)
    threshold = None if asked.threshold is None else float(asked.threshold)
    found = findings(joints, scores, asked.measure, float(asked.eps), threshold, asked.progress)
    tables = {name: score.table for name, score in scores.items()}
    how = made(command, files(*data[:2], options) if paths is None else paths, tables, names)
    return document(found, how, title or _title(found.names)), how


def _check_classes(scores: dict[str, Score]) -> None:
    """Refuse what takes long to certify, and is a column of numbers more often than of classes."""
    K = len(next(iter(scores.values())).table.labels)
    if K > MOST_CLASSES:
        raise InputError(
            f"there are {K:,} classes; a report is about {MOST_CLASSES:,} at most.",
            "is it the right column of labels? wmcc.score takes any number of classes.",
        )


def render(form: str, built: Document, how: Made) -> str:
    """Write a report in a form."""
    if form == "json":
        return report_json(built, how)
    return page(built) if form == "html" else markdown(built)


def _title(names: list[str]) -> str:
    return "Report on a classifier" if len(names) == 1 else f"Comparison of {len(names)} classifiers"

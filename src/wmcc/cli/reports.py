"""What `report` asks of the library."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from ..errors import InputError
from ..report.write import build, form_of, render
from .options import ReportFormat
from .request import Request


def form(given: ReportFormat | None, out: str | None) -> str:
    """The format that was asked for, or that the name of the output asks for."""
    if given is not None:
        return given.value
    return "markdown" if out is None else form_of(out)


def report(request: Request, preds: list[str], asked: dict[str, Any], title: str | None, form: str) -> str:
    """Return the text of a report."""
    asked = {"names": None, "progress": None, "cluster": request.cluster, **asked}
    command = shlex.join(["wmcc", *sys.argv[1:]])
    if request.is_stored and not preds:
        tables = request.read()
        if tables.by:
            raise InputError(
                f"{request.files[0]} holds a table for each {' and '.join(tables.by)}; a report is about one.",
                "tabulate without --by, or score the groups with `wmcc score`.",
            )
        (table,) = tables.groups.values()
        return render(form, *build((table, None, None, None), asked, {}, title, command))
    data, options = request.opened(preds)
    several = preds if len(preds) > 1 else preds[0]
    return render(form, *build((data, request.true, several, request.weight), asked, options, title, command))

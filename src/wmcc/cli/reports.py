"""What `report` asks of the library."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from ..errors import InputError
from ..report.write import Asked, build, render
from .reading import Request
from .standard_input import originals, said


def report(request: Request, preds: list[str], asked: dict[str, Any], title: str | None, form: str) -> str:
    """Return the text of a report."""
    wanted = Asked(cluster=request.cluster, **asked)
    command = shlex.join(["wmcc", *sys.argv[1:]])
    if request.is_stored and not preds:
        tables = request.read()
        if tables.by:
            raise InputError(
                f"{said(request.files[0])} holds a table for each {' and '.join(map(str, tables.columns))}; "
                "a report is about one.",
                "tabulate without --by, or score the groups with `wmcc score`.",
            )
        (table,) = tables.values()
        return render(form, *build((table, None, None, None), wanted, {}, title, command, request.paths, originals()))
    data, options = request.opened(preds)
    several = preds if len(preds) > 1 else preds[0]
    return render(
        form, *build((data, request.true, several, request.weight), wanted, options, title, command, None, originals())
    )

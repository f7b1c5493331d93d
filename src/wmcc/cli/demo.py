"""`wmcc demo`."""

from __future__ import annotations

from . import options as o


@o.command(sample=False)
@o.place("FILE", "File for the report: .html, .md or .json.", default="wmcc-demo.html")
@o.options("traceback")
def command(out: str) -> None:
    """Show what weights do, on an artificial map.

    Scores, compares and certifies two classifiers of 2,000 parcels that have the same unweighted MCC, and writes a
    report on both.

    Examples::

        wmcc demo
    """
    from ..demo import story
    from .output import show

    show(story(out))

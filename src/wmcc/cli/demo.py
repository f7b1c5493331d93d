"""`wmcc demo`."""

from __future__ import annotations

import click

from . import options as o


@o.command(sample=False)
@click.option(
    "--out",
    "-o",
    metavar="FILE",
    default="wmcc-demo.html",
    show_default=True,
    help="File for the report: .html, .md or .json.",
)
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

"""`wmcc sample`."""

from __future__ import annotations

import click

from . import options as o


@o.command(
    """
    wmcc sample
    wmcc sample -o parcels.csv
    """,
    sample=False,
)
@click.option("--out", "-o", metavar="FILE.csv", help="Write to this file instead of printing.")
@o.traceback
def command(out: str | None, traceback: bool) -> None:
    """Write the sample data of the examples.

    360 parcels of a map with their true class, the predictions of three classifiers, their area in hectares and region.
    """
    from importlib.resources import files

    from .output import Output

    output = Output.of(None, None if out == "-" else out, {"csv": ".csv"}, [".csv"])
    output.check()
    output.emit((files("wmcc") / "data" / "parcels.csv").read_text(encoding="utf-8"))
